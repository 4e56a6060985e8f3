/* The parts of Python's stable ABI and of NumPy's C API that the glue uses, declared by hand.

   Python's headers are often missing where a compiler is present. Everything of Python below is in
   the limited API of 3.11; NumPy's structure and the places in its table are what every extension
   module built for NumPy 2 has compiled into it. `sg_setup` hands over what cannot be linked to. */
#ifndef STAGRAD_HOST_H
#define STAGRAD_HOST_H

#include <stddef.h>
#include <stdint.h>

typedef struct object Object;
typedef intptr_t Length;
typedef Object *(*Fastcall)(Object *self, Object *const *arguments, Length count);

typedef struct {
    const char *name;
    Fastcall function;
    int flags;
    const char *doc;
} MethodDef;

enum { METH_FASTCALL = 0x0080 };

extern void Py_IncRef(Object *);
extern void Py_DecRef(Object *);
extern Object *PyCFunction_NewEx(MethodDef *, Object *self, Object *module);
extern Object *PyCapsule_New(void *, const char *name, void (*destructor)(Object *));
extern void *PyCapsule_GetPointer(Object *, const char *name);
extern Object *PyTuple_New(Length);
extern int PyTuple_SetItem(Object *, Length, Object *); /* takes the reference */
extern Object *PyObject_CallObject(Object *, Object *arguments);
extern Object *PyLong_FromSsize_t(Length);
extern long long PyLong_AsLongLong(Object *);
extern double PyFloat_AsDouble(Object *);
extern double PyComplex_RealAsDouble(Object *);
extern double PyComplex_ImagAsDouble(Object *);
extern Object *PyErr_Occurred(void);
extern Object *PyErr_NoMemory(void);
extern Object *PyErr_Format(Object *type, const char *format, ...);
extern void *PyEval_SaveThread(void);
extern void PyEval_RestoreThread(void *);

/* What follows an array object's header. */
typedef struct {
    char *data;
    int ndim;
    Length *shape;
    Length *strides;
    Object *base;
    Object *dtype;
    int flags;
} ArrayFields;

enum {
    ARRAY_C_CONTIGUOUS = 0x0001,
    ARRAY_ALIGNED = 0x0100,
    ARRAY_WRITEABLE = 0x0400,
    ARRAY_PLAIN = ARRAY_C_CONTIGUOUS | ARRAY_ALIGNED
};

/* Places in NumPy's table of functions. */
enum { ABI_VERSION = 0, SCALAR = 60, SCALAR_AS_C_TYPE = 62, NEW_FROM_DTYPE = 94 };

typedef unsigned (*AbiVersion)(void);
typedef Object *(*Scalar)(void *data, Object *dtype, Object *base);
typedef void (*ScalarAsCType)(Object *scalar, void *data);
typedef Object *(*NewFromDtype)(
    Object *type, Object *dtype, int ndim, const Length *shape, const Length *strides, void *data,
    int flags, Object *owner); /* takes the reference to dtype */

typedef struct {
    Length header; /* bytes of an object's header; its last word is the type */
    Object *ndarray, *int_type, *float_type, *complex_type, *type_error;
    void *const *numpy;
} Host;

static Host host;

static inline Object *type_of(Object *object) {
    return *(Object **)((char *)object + host.header - sizeof(Object *));
}

static inline ArrayFields *fields_of(Object *array) {
    return (ArrayFields *)((char *)array + host.header);
}

static inline Object *new_array(Object *dtype, int ndim, const Length *shape, void *data, int flags) {
    Py_IncRef(dtype);
    NewFromDtype make = (NewFromDtype)host.numpy[NEW_FROM_DTYPE];
    return make(host.ndarray, dtype, ndim, shape, NULL, data, flags, NULL);
}

static inline Object *new_scalar(void *data, Object *dtype) {
    return ((Scalar)host.numpy[SCALAR])(data, dtype, NULL);
}

#endif
