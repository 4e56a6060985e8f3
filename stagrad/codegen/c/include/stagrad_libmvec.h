/* glibc's vector variants (libmvec), where it has all that are declared here: SG_VECTOR says so. */
#ifndef STAGRAD_LIBMVEC_H
#define STAGRAD_LIBMVEC_H

#if defined(SG_LIBMVEC) && SG_LIBMVEC
#if __GLIBC_PREREQ(2, 35)
#define SG_VECTOR 1
#define SG_VECTOR1(NAME)                                                  \
    __attribute__((simd("notinbranch"), const)) double(NAME)(double);     \
    __attribute__((simd("notinbranch"), const)) float(NAME##f)(float);
#define SG_VECTOR2(NAME)                                                          \
    __attribute__((simd("notinbranch"), const)) double(NAME)(double, double);     \
    __attribute__((simd("notinbranch"), const)) float(NAME##f)(float, float);
SG_VECTOR1(acos)
SG_VECTOR1(acosh)
SG_VECTOR1(asin)
SG_VECTOR1(asinh)
SG_VECTOR1(atan)
SG_VECTOR1(atanh)
SG_VECTOR1(cbrt)
SG_VECTOR1(cos)
SG_VECTOR1(cosh)
SG_VECTOR1(erf)
SG_VECTOR1(erfc)
SG_VECTOR1(exp)
SG_VECTOR1(exp2)
SG_VECTOR1(expm1)
SG_VECTOR1(log)
SG_VECTOR1(log10)
SG_VECTOR1(log1p)
SG_VECTOR1(log2)
SG_VECTOR1(sin)
SG_VECTOR1(tan)
SG_VECTOR2(atan2)
SG_VECTOR2(hypot)
SG_VECTOR2(pow)
#endif
#endif

#endif
