/* What every emitted program needs: types, and the services of the process it runs in. */
#ifndef STAGRAD_H
#define STAGRAD_H

#include <complex.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "stagrad_arrays.h"
#include "stagrad_indices.h"
#include "stagrad_math.h"

typedef struct sg_runtime sg_runtime;

struct sg_runtime {
    /* Run body(closure, index) for every index below count, on several threads. */
    void (*parallel)(void (*body)(void *closure, int64_t index), void *closure, int64_t count);
    /* Run a step in Python; the arrays are its operands, then its results. Nonzero: it raised. */
    int (*callback)(const sg_runtime *rt, int64_t number, char *const *arrays);
    /* BLAS and LAPACK functions, in the order the program asked for. */
    void *const *symbols;
};

/* What one kernel works on: the program's open numbers, and the arrays of the kernel. */
typedef struct {
    const int64_t *n;
    const double *c;
    char *const *arrays;
} sg_task;

/* Programs of many steps would take the compiler long: their kernels stay functions of their own,
   and what calls one after the other needs no optimisation. */
#define SG_APART __attribute__((noinline))
#if defined(__clang__)
#define SG_STRAIGHT __attribute__((optnone, noinline))
#else
#define SG_STRAIGHT __attribute__((optimize("O0")))
#endif

/* Run a kernel on each of its chunks. */
static inline void sg_run(const sg_runtime *rt, void (*kernel)(void *closure, int64_t chunk),
                          int64_t chunks, sg_task *task)
{
    if (chunks == 1)
        kernel(task, 0);
    else
        rt->parallel(kernel, task, chunks);
}

/* Run a step in Python, and stop where that raises. */
#define SG_PYTHON(number, ...)                               \
    if (rt->callback(rt, number, (char *[]){__VA_ARGS__}))   \
        return 1;

#include "stagrad_blas.h"

#endif
