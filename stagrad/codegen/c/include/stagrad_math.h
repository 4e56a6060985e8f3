/* Mathematical functions by their plain names, for every type of number.

   Where glibc brings vector variants of its functions (libmvec, at most 4 ulp), loops that call
   them are vectorised: a declaration with `simd` tells the compiler that the variants exist. */
#ifndef STAGRAD_MATH_H
#define STAGRAD_MATH_H

#include <tgmath.h>

#if defined(SG_LIBMVEC) && SG_LIBMVEC
#define SG_VECTOR1(NAME)                                            \
    __attribute__((simd("notinbranch"), const)) double(NAME)(double);      \
    __attribute__((simd("notinbranch"), const)) float(NAME##f)(float);
#define SG_VECTOR2(NAME)                                                    \
    __attribute__((simd("notinbranch"), const)) double(NAME)(double, double);      \
    __attribute__((simd("notinbranch"), const)) float(NAME##f)(float, float);

SG_VECTOR1(exp)
SG_VECTOR1(log)
SG_VECTOR1(sin)
SG_VECTOR1(cos)
SG_VECTOR2(pow)
#if __GLIBC_PREREQ(2, 35)
SG_VECTOR1(acos)
SG_VECTOR1(acosh)
SG_VECTOR1(asin)
SG_VECTOR1(asinh)
SG_VECTOR1(atan)
SG_VECTOR1(atanh)
SG_VECTOR1(cbrt)
SG_VECTOR1(cosh)
SG_VECTOR1(erf)
SG_VECTOR1(erfc)
SG_VECTOR1(exp2)
SG_VECTOR1(expm1)
SG_VECTOR1(log10)
SG_VECTOR1(log1p)
SG_VECTOR1(log2)
SG_VECTOR1(sinh)
SG_VECTOR1(tan)
SG_VECTOR1(tanh)
SG_VECTOR2(atan2)
SG_VECTOR2(hypot)
#endif
#endif

#endif
