/* The service of every compiled program: from a Python call to the emitted function and back. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "host.h"
#include "pool.h"
#include "stagrad.h"

typedef int (*Entry)(
    const sg_runtime *, char *const *arrays, char *workspace, const int64_t *sizes,
    const double *numbers);

/* How an input that is no array arrives: a Python number, for weak inputs. */
enum { ARRAY = 0, INT = 1, FLOAT = 2, COMPLEX = 3 };

typedef struct {
    Object *dtype, *scalar_type;
    const Length *shape;
    int64_t ndim, itemsize, kind;
} Array;

typedef struct {
    const Array *arrays; /* operands, then results */
    int64_t operands, results, in_place;
    Object *function;
} Callback;

/* Filled in by Python, field by field the same as in executable.py. */
typedef struct {
    const char *name;
    Entry entry;
    const Array *inputs, *outputs;
    char *const *constants;
    int64_t input_count, output_count, constant_count;
    int64_t workspace_bytes;
    const int64_t *sizes;
    const double *numbers;
    void *const *symbols; /* null where there are none */
    const Callback *callbacks;
    int64_t release; /* the call takes long: let other Python threads run */
    Object *convert; /* (position, value) -> an array as the program wants it, or `miss` */
    Object *miss;
    Object *keeper; /* owns all memory that this structure points to */
} Description;

typedef struct {
    Description made;
    MethodDef method;
    _Atomic(struct frame *) spare;
    int64_t pointer_bytes, slot_bytes, frame_bytes;
} Program;

/* What one call needs; kept by the program from one call to the next. */
typedef struct frame {
    sg_runtime runtime;
    Program *program;
    void *thread; /* Python's state of this thread while others may run */
    char **arrays;
    Object **held; /* conversions of inputs, to be released after the call */
    int64_t held_count;
    char *slots; /* numbers: inputs that are none in memory, 0-d outputs */
    char *workspace;
} Frame;

enum { SLOT_BYTES = 32, LINE_BYTES = 64, PAGE_BYTES = 1 << 21, PAGED_BYTES = 1 << 22 };

static const char CAPSULE[] = "stagrad program";

/* Frames kept beyond their call may take this much memory in all; small ones are not counted. */
static const int64_t KEPT_BYTES = (int64_t)1 << 30, SMALL_BYTES = (int64_t)1 << 16;
static atomic_int_fast64_t kept_bytes;

static int callback(const sg_runtime *runtime, int64_t number, char *const *arrays);

static int64_t whole_lines(int64_t bytes) {
    return (bytes + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES;
}

static int64_t address_count(const Description *made) {
    return made->input_count + made->constant_count + made->output_count;
}

static void measure_frame(Program *program) {
    const Description *made = &program->made;
    int64_t pointers = address_count(made) + made->input_count;
    program->pointer_bytes = whole_lines(pointers * (int64_t)sizeof(void *));
    program->slot_bytes = whole_lines((made->input_count + made->output_count) * SLOT_BYTES);
    program->frame_bytes = whole_lines(sizeof(Frame)) + program->pointer_bytes +
                           program->slot_bytes + whole_lines(made->workspace_bytes);
}

static void *new_memory(int64_t bytes) {
    void *memory;
    size_t alignment = bytes < PAGED_BYTES ? LINE_BYTES : PAGE_BYTES;
    if (posix_memalign(&memory, alignment, (size_t)bytes) != 0) return NULL;
#ifdef MADV_HUGEPAGE
    if (bytes >= PAGED_BYTES) madvise(memory, (size_t)bytes, MADV_HUGEPAGE);
#endif
    return memory;
}

static Frame *new_frame(Program *program) {
    const Description *made = &program->made;
    Frame *frame = new_memory(program->frame_bytes);
    if (frame == NULL) return NULL;
    frame->runtime = (sg_runtime){pool_run, callback, made->symbols};
    frame->program = program;
    frame->thread = NULL;
    frame->arrays = (char **)((char *)frame + whole_lines(sizeof(Frame)));
    frame->held = (Object **)(frame->arrays + address_count(made));
    frame->held_count = 0;
    frame->slots = (char *)frame->arrays + program->pointer_bytes;
    frame->workspace = frame->slots + program->slot_bytes;
    for (int64_t i = 0; i < made->constant_count; i++)
        frame->arrays[made->input_count + i] = made->constants[i];
    return frame;
}

/* Count memory that is kept; returns how much there is then. */
static int64_t count_kept(int64_t bytes) {
    return atomic_fetch_add(&kept_bytes, bytes) + bytes;
}

static Frame *take_spare(Program *program) {
    Frame *frame = atomic_exchange(&program->spare, NULL);
    if (frame != NULL && program->frame_bytes > SMALL_BYTES) count_kept(-program->frame_bytes);
    return frame;
}

static void put_frame(Frame *frame) {
    Program *program = frame->program;
    int64_t bytes = program->frame_bytes;
    while (frame->held_count > 0) Py_DecRef(frame->held[--frame->held_count]);
    if (bytes <= SMALL_BYTES) {
        free(atomic_exchange(&program->spare, frame));
    } else if (count_kept(bytes) > KEPT_BYTES) {
        count_kept(-bytes);
        free(frame);
    } else {
        frame = atomic_exchange(&program->spare, frame);
        if (frame != NULL) count_kept(-bytes);
        free(frame);
    }
}

/* SciPy's BLAS runs on one thread while programs call it: they divide products among the pool's
   threads, and its own would spin. Null where the library cannot be told. */
static struct {
    int (*get)(void);
    void (*set)(int);
    pthread_mutex_t lock;
    int64_t programs;
    int before;
} blas = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void enter_blas(void) {
    pthread_mutex_lock(&blas.lock);
    if (blas.programs++ == 0) {
        blas.before = blas.get();
        if (blas.before != 1) blas.set(1);
    }
    pthread_mutex_unlock(&blas.lock);
}

static void leave_blas(void) {
    pthread_mutex_lock(&blas.lock);
    /* In a process forked during a call there is none to leave; a number set meanwhile stays. */
    if (blas.programs > 0 && --blas.programs == 0 && blas.before != 1 && blas.get() == 1)
        blas.set(blas.before);
    pthread_mutex_unlock(&blas.lock);
}

static void reset_after_fork(void) {
    pool_reset();
    pthread_mutex_init(&blas.lock, NULL);
    blas.programs = 0;
}

static int is_plain(Object *value, const Array *wanted) {
    if (type_of(value) != host.ndarray) return 0;
    const ArrayFields *array = fields_of(value);
    return array->dtype == wanted->dtype && array->ndim == wanted->ndim &&
           (array->flags & ARRAY_PLAIN) == ARRAY_PLAIN &&
           (wanted->ndim == 0 || /* there need not be a shape then */
            memcmp(array->shape, wanted->shape, (size_t)wanted->ndim * sizeof(Length)) == 0);
}

/* Write a Python number into a slot. Returns 0 where it is not one of the wanted kind. */
static int read_number(Object *value, int64_t kind, void *slot) {
    Object *type = type_of(value);
    if (kind == FLOAT && type == host.float_type) {
        *(double *)slot = PyFloat_AsDouble(value);
    } else if (kind == INT && type == host.int_type) {
        *(int64_t *)slot = PyLong_AsLongLong(value);
        if (*(int64_t *)slot == -1 && PyErr_Occurred() != NULL) return -1;
    } else if (kind == COMPLEX && type == host.complex_type) {
        ((double *)slot)[0] = PyComplex_RealAsDouble(value);
        ((double *)slot)[1] = PyComplex_ImagAsDouble(value);
    } else {
        return 0;
    }
    return 1;
}

/* Let Python make of a value what the program wants: 1, 0 for a miss, or -1 with an error. */
static int convert(Frame *frame, int64_t position, Object *value) {
    const Description *made = &frame->program->made;
    Object *arguments = PyTuple_New(2);
    if (arguments == NULL) return -1;
    Object *number = PyLong_FromSsize_t((Length)position);
    Py_IncRef(value);
    PyTuple_SetItem(arguments, 0, number);
    PyTuple_SetItem(arguments, 1, value);
    Object *array = PyObject_CallObject(made->convert, arguments);
    Py_DecRef(arguments);
    if (array == NULL) return -1;
    frame->held[frame->held_count++] = array;
    if (array == made->miss) return 0;
    if (!is_plain(array, &made->inputs[position])) {
        PyErr_Format(host.type_error, "%s: input %zd is no array", made->name, (Length)position);
        return -1;
    }
    frame->arrays[position] = fields_of(array)->data;
    return 1;
}

/* Find the memory of an input: 1, 0 for a miss, or -1 with an error. */
static int read_input(Frame *frame, int64_t position, Object *value) {
    const Array *wanted = &frame->program->made.inputs[position];
    if (wanted->kind == ARRAY && is_plain(value, wanted)) {
        frame->arrays[position] = fields_of(value)->data;
        return 1;
    }
    if (wanted->ndim == 0) {
        char *slot = frame->slots + position * SLOT_BYTES;
        int found = 0;
        if (wanted->kind != ARRAY) {
            found = read_number(value, wanted->kind, slot);
        } else if (type_of(value) == wanted->scalar_type) {
            ((ScalarAsCType)host.numpy[SCALAR_AS_C_TYPE])(value, slot);
            found = 1;
        }
        frame->arrays[position] = slot;
        if (found != 0) return found;
    }
    return convert(frame, position, value);
}

/* Allocate the outputs; 0-d ones are computed in a slot and become scalars afterwards. */
static Object *new_outputs(Frame *frame) {
    const Description *made = &frame->program->made;
    char **addresses = frame->arrays + made->input_count + made->constant_count;
    Object *outputs = PyTuple_New((Length)made->output_count);
    if (outputs == NULL) return NULL;
    for (int64_t i = 0; i < made->output_count; i++) {
        const Array *wanted = &made->outputs[i];
        if (wanted->ndim == 0) {
            addresses[i] = frame->slots + (made->input_count + i) * SLOT_BYTES;
            continue;
        }
        Object *array = new_array(wanted->dtype, (int)wanted->ndim, wanted->shape, NULL, 0);
        if (array == NULL) {
            Py_DecRef(outputs);
            return NULL;
        }
        addresses[i] = fields_of(array)->data;
        PyTuple_SetItem(outputs, (Length)i, array);
    }
    return outputs;
}

static Object *finish_outputs(Frame *frame, Object *outputs) {
    const Description *made = &frame->program->made;
    for (int64_t i = 0; i < made->output_count; i++) {
        const Array *wanted = &made->outputs[i];
        if (wanted->ndim != 0) continue;
        char *slot = frame->slots + (made->input_count + i) * SLOT_BYTES;
        Object *scalar = new_scalar(slot, wanted->dtype);
        if (scalar == NULL) {
            Py_DecRef(outputs);
            return NULL;
        }
        PyTuple_SetItem(outputs, (Length)i, scalar);
    }
    return outputs;
}

static Object *run(Frame *frame) {
    const Description *made = &frame->program->made;
    Object *outputs = new_outputs(frame);
    if (outputs == NULL) return NULL;
    int calls_blas = made->symbols != NULL && blas.set != NULL;
    if (made->release) frame->thread = PyEval_SaveThread();
    if (calls_blas) enter_blas();
    int failed = made->entry(
        &frame->runtime, frame->arrays, frame->workspace, made->sizes, made->numbers);
    if (calls_blas) leave_blas();
    if (made->release) PyEval_RestoreThread(frame->thread);
    if (failed) {
        Py_DecRef(outputs);
        return NULL;
    }
    return finish_outputs(frame, outputs);
}

static Object *call(Object *self, Object *const *arguments, Length count) {
    Program *program = PyCapsule_GetPointer(self, CAPSULE);
    const Description *made = &program->made;
    if (count != made->input_count) {
        return PyErr_Format(
            host.type_error, "%s takes %zd arrays, %zd were given", made->name,
            (Length)made->input_count, count);
    }
    Frame *frame = take_spare(program);
    if (frame == NULL) frame = new_frame(program);
    if (frame == NULL) return PyErr_NoMemory();
    int found = 1;
    for (Length i = 0; i < count && found == 1; i++) found = read_input(frame, i, arguments[i]);
    Object *result = NULL;
    if (found == 1) {
        result = run(frame);
    } else if (found == 0) {
        result = made->miss;
        Py_IncRef(result);
    }
    put_frame(frame);
    return result;
}

/* Wrap addresses as arrays, and hand them to the Python function of a callback. */
static int call_back(const Callback *step, char *const *arrays) {
    int64_t count = step->operands + step->results;
    Object *arguments = PyTuple_New((Length)count);
    if (arguments == NULL) return -1;
    for (int64_t i = 0; i < count; i++) {
        const Array *like = &step->arrays[i];
        int writeable = i >= step->operands || (i == 0 && step->in_place);
        int flags = ARRAY_PLAIN | (writeable ? ARRAY_WRITEABLE : 0);
        Object *array = new_array(like->dtype, (int)like->ndim, like->shape, arrays[i], flags);
        if (array == NULL) {
            Py_DecRef(arguments);
            return -1;
        }
        PyTuple_SetItem(arguments, (Length)i, array);
    }
    Object *nothing = PyObject_CallObject(step->function, arguments);
    Py_DecRef(arguments);
    if (nothing == NULL) return -1;
    Py_DecRef(nothing);
    return 0;
}

static int callback(const sg_runtime *runtime, int64_t number, char *const *arrays) {
    Frame *frame = (Frame *)runtime;
    const Description *made = &frame->program->made;
    if (made->release) PyEval_RestoreThread(frame->thread);
    int failed = call_back(&made->callbacks[number], arrays);
    if (made->release) frame->thread = PyEval_SaveThread();
    return failed;
}

static void release_program(Object *capsule) {
    Program *program = PyCapsule_GetPointer(capsule, CAPSULE);
    free(take_spare(program));
    Py_DecRef(program->made.keeper);
    free(program);
}

/* Return the Python function that calls an emitted program. */
Object *sg_new_program(const Description *description) {
    Program *program = calloc(1, sizeof *program);
    if (program == NULL) return PyErr_NoMemory();
    program->made = *description;
    measure_frame(program);
    program->method = (MethodDef){description->name, call, METH_FASTCALL, NULL};
    Object *capsule = PyCapsule_New(program, CAPSULE, release_program);
    if (capsule == NULL) {
        free(program);
        return NULL;
    }
    Py_IncRef(description->keeper);
    Object *function = PyCFunction_NewEx(&program->method, capsule, NULL);
    Py_DecRef(capsule);
    return function;
}

/* Set how many threads may work on one region, the caller included. */
void sg_set_threads(int64_t threads) {
    atomic_store(&pool.threads, threads);
}

/* Tell how to read and set the number of threads of SciPy's BLAS. */
void sg_setup_blas(int (*get)(void), void (*set)(int)) {
    blas.get = get;
    blas.set = set;
}

/* Prepare the process; returns NumPy's ABI version, of which the high byte is the major one. */
unsigned sg_setup(const Host *given) {
    host = *given;
    pool_reset();
    pthread_atfork(NULL, NULL, reset_after_fork);
    return ((AbiVersion)host.numpy[ABI_VERSION])();
}
