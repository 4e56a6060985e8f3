/* Threads that run the parallel regions of emitted programs, and sleep in between.

   The caller of a region takes indices like every worker does, so a worker that wakes late, or never
   gets a core, costs nothing. One region runs at a time: one that starts while another is running,
   inside it or in another Python thread, runs on its caller alone. */
#ifndef STAGRAD_POOL_H
#define STAGRAD_POOL_H

#include <pthread.h>
#ifdef __linux__
#include <sched.h>
#endif
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>

typedef void (*Body)(void *closure, int64_t index);

enum { MOST_WORKERS = 1023, SHORT_TURNS = 2000 };

static struct {
    pthread_mutex_t lock;
    pthread_cond_t work, done;
    int64_t workers; /* threads started */
    /* The region that runs. The lock guards all of this; atomics are read without it by waiters. */
    Body body;
    void *closure;
    int64_t count;
    atomic_int_fast64_t places; /* workers that may still join */
    atomic_int_fast64_t active; /* workers that have joined and not left */
    int caller_cpu; /* the processor that workers are kept from */
    pthread_t handles[MOST_WORKERS];
    _Alignas(64) atomic_int_fast64_t next;
    _Alignas(64) atomic_int_fast64_t threads; /* how many may work on a region, the caller included */
    atomic_flag busy;
} pool;

static void pool_reset(void) {
    pthread_mutex_init(&pool.lock, NULL);
    pthread_cond_init(&pool.work, NULL);
    pthread_cond_init(&pool.done, NULL);
    pool.workers = pool.places = pool.active = 0;
    pool.caller_cpu = -1;
    atomic_flag_clear(&pool.busy);
}

static void take_indices(Body body, void *closure, int64_t count) {
    for (;;) {
        int64_t index = atomic_fetch_add_explicit(&pool.next, 1, memory_order_relaxed);
        if (index >= count) return;
        body(closure, index);
    }
}

/* Wait a moment, some tens of microseconds at most, for a number to become or to cease to be zero. */
static void wait_a_moment(atomic_int_fast64_t *number, int until_zero) {
    for (int turn = 0; turn < SHORT_TURNS; turn++) {
        if ((atomic_load_explicit(number, memory_order_relaxed) == 0) == until_zero) return;
#if defined(__x86_64__)
        __builtin_ia32_pause();
#elif defined(__aarch64__)
        __asm__ volatile("isb");
#endif
    }
}

static void *worker(void *unused) {
    pthread_mutex_lock(&pool.lock);
    for (;;) {
        while (pool.places == 0) pthread_cond_wait(&pool.work, &pool.lock);
        pool.places--;
        pool.active++;
        Body body = pool.body;
        void *closure = pool.closure;
        int64_t count = pool.count;
        pthread_mutex_unlock(&pool.lock);
        take_indices(body, closure, count);
        pthread_mutex_lock(&pool.lock);
        if (--pool.active == 0) pthread_cond_signal(&pool.done);
        /* The next region often follows at once, and waking takes far longer than this. */
        pthread_mutex_unlock(&pool.lock);
        wait_a_moment(&pool.places, 0);
        pthread_mutex_lock(&pool.lock);
    }
    return unused;
}

/* Start workers until there are as many as wanted, or the system refuses. Holds the lock. */
static void start_workers(int64_t wanted) {
    enum { STACK_BYTES = 8 << 20 };
    pthread_attr_t attributes;
    sigset_t all, before;
    if (pthread_attr_init(&attributes) != 0) return;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    sigfillset(&all); /* signals are for the threads that Python knows */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (wanted > MOST_WORKERS) wanted = MOST_WORKERS;
    while (pool.workers < wanted &&
           pthread_create(&pool.handles[pool.workers], &attributes, worker, NULL) == 0)
        pool.workers++;
    pool.caller_cpu = -1;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
}

/* Keep workers off the processor of the caller, who is busy there.

   Linux tends to wake a thread beside the one that wakes it; in a virtual machine, where a halted
   processor does not look idle, it is left there, waiting, for milliseconds. Holds the lock. */
static void make_way(void) {
#ifdef __linux__
    int cpu = sched_getcpu();
    if (cpu == pool.caller_cpu || cpu < 0 || cpu >= CPU_SETSIZE) return;
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
    CPU_CLR(cpu, &allowed);
    if (CPU_COUNT(&allowed) == 0) return;
    for (int64_t i = 0; i < pool.workers; i++)
        pthread_setaffinity_np(pool.handles[i], sizeof allowed, &allowed);
    pool.caller_cpu = cpu;
#endif
}

static void pool_run(Body body, void *closure, int64_t count) {
    int64_t threads = atomic_load_explicit(&pool.threads, memory_order_relaxed);
    int64_t helpers = (threads < count ? threads : count) - 1;
    if (helpers < 1 || atomic_flag_test_and_set_explicit(&pool.busy, memory_order_acquire)) {
        for (int64_t index = 0; index < count; index++) body(closure, index);
        return;
    }
    pthread_mutex_lock(&pool.lock);
    if (pool.workers < helpers) start_workers(helpers);
    if (helpers > pool.workers) helpers = pool.workers;
    make_way();
    pool.body = body;
    pool.closure = closure;
    pool.count = count;
    pool.places = helpers;
    atomic_store_explicit(&pool.next, 0, memory_order_relaxed);
    pthread_mutex_unlock(&pool.lock);
    for (int64_t i = 0; i < helpers; i++) pthread_cond_signal(&pool.work);
    take_indices(body, closure, count);
    pthread_mutex_lock(&pool.lock);
    pool.places = 0;
    if (pool.active != 0) {
        pthread_mutex_unlock(&pool.lock);
        wait_a_moment(&pool.active, 1);
        pthread_mutex_lock(&pool.lock);
    }
    while (pool.active != 0) pthread_cond_wait(&pool.done, &pool.lock);
    pthread_mutex_unlock(&pool.lock);
    atomic_flag_clear_explicit(&pool.busy, memory_order_release);
}

#endif
