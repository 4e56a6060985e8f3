/* Mathematical functions by their plain names, for every type of number.

   Loops over them become vector code: where glibc brings vector variants (libmvec, by its own word
   at most 4 ulp), a declaration with `simd` tells the compiler so, and the functions of
   stagrad_exp.h and stagrad_log.h have no branches. All others are C's own. */
#ifndef STAGRAD_MATH_H
#define STAGRAD_MATH_H

#include <tgmath.h>

#include "stagrad_exp.h"
#include "stagrad_log.h"
#include "stagrad_libmvec.h"

/* A function of one number, by its type: single, double, and complex ones. */
#define SG_REAL(x, F, D) _Generic((x), float: F, default: D)(x)
#define SG_ANY(x, F, D, CF, CD) \
    _Generic((x), float: F, default: D, float complex: CF, double complex: CD)(x)

#undef exp10
#define exp10(x) SG_REAL(x, sg_exp10f, sg_exp10)

#undef sinh
#define sinh(x) SG_ANY(x, sg_sinhf, sg_sinh, csinhf, csinh)

#undef tanh
#define tanh(x) SG_ANY(x, sg_tanhf, sg_tanh, ctanhf, ctanh)

#undef erf
#ifdef SG_VECTOR
#define erf(x) SG_REAL(x, sg_erff, (erf))
#else
#define erf(x) SG_REAL(x, sg_erff, sg_erf)
#endif

#undef log
#ifdef SG_VECTOR
#define log(x) SG_ANY(x, sg_logf, (log), clogf, clog)
#else
#define log(x) SG_ANY(x, sg_logf, sg_log, clogf, clog)
#endif

#ifndef SG_VECTOR
#undef cosh
#define cosh(x) SG_ANY(x, sg_coshf, sg_cosh, ccoshf, ccosh)
#endif

#ifndef SG_VECTOR
#undef exp
#define exp(x) SG_ANY(x, sg_expf, sg_exp, cexpf, cexp)
#endif

#ifndef SG_VECTOR
#undef exp2
#define exp2(x) SG_REAL(x, sg_exp2f, sg_exp2)
#endif

#ifndef SG_VECTOR
#undef expm1
#define expm1(x) SG_REAL(x, sg_expm1f, sg_expm1)
#endif

#ifndef SG_VECTOR
#undef log10
#define log10(x) SG_REAL(x, sg_log10f, sg_log10)
#endif

#ifndef SG_VECTOR
#undef log1p
#define log1p(x) SG_REAL(x, sg_log1pf, sg_log1p)
#endif

#ifndef SG_VECTOR
#undef log2
#define log2(x) SG_REAL(x, sg_log2f, sg_log2)
#endif

#include "stagrad_bessel.h"
#include "stagrad_special.h"

#endif
