/* exp and its kin, for one number without branches, so that loops over them become vector code.

   Method: x = n ln 2 + r with |r| <= ln(2)/2 and e^r = 1 + r + r^2 q(r), where q is the polynomial
   that meets (e^r - 1 - r) / r^2 in Chebyshev's nodes. n comes from adding a number so large that
   the sum has no fraction; its last bits are then the exponent of 2^n. Powers at the ends of the
   range are a product of two, so that denormal numbers are rounded once. */
#ifndef STAGRAD_EXP_H
#define STAGRAD_EXP_H

#if defined(__GNUC__)
#define SG_INLINE static inline __attribute__((always_inline))
#else
#define SG_INLINE static inline
#endif

/* a b + c, rounded once where the processor can do that. */
#if defined(__FP_FAST_FMA) && defined(__FP_FAST_FMAF)
#define SG_FMA(a, b, c) __builtin_fma(a, b, c)
#define SG_FMAF(a, b, c) __builtin_fmaf(a, b, c)
#else
#define SG_FMA(a, b, c) ((a) * (b) + (c))
#define SG_FMAF(a, b, c) ((a) * (b) + (c))
#endif

/* A constant in the precision of x, so that loops over floats stay in single precision. */
#define SG_LIKE(x, c) ((__typeof__((x) + 0.0f))(c))

static inline double sg_polynomial(double x, const double *c, int count)
{
    double y = c[count - 1];
    for (int k = count - 2; k >= 0; k--)
        y = SG_FMA(y, x, c[k]);
    return y;
}

SG_INLINE uint64_t sg_bits(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

SG_INLINE double sg_of_bits(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

SG_INLINE uint32_t sg_bitsf(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

SG_INLINE float sg_of_bitsf(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* 1.5 * 2^52 + 2046: what is added to it is rounded to an integer n, and the sum ends in the bits
   of n + 2046, which is positive for every n that occurs. The same in single precision. */
#define SG_ROUND 6755399441057790.0
#define SG_ROUNDF 12583166.0f

/* e^r - 1 for |r| <= ln(2)/2. */
SG_INLINE double sg_expm1_near(double r)
{
    const double r2 = r * r, r4 = r2 * r2;
    const double q0 = SG_FMA(0.16666666666666669, r, 0.5000000000000001);
    const double q2 = SG_FMA(0.008333333333330051, r, 0.04166666666662399);
    const double q4 = SG_FMA(0.00019841269863105968, r, 0.0013888888917281794);
    const double q6 = SG_FMA(2.7557268378684192e-06, r, 2.480152119021773e-05);
    const double q8 = SG_FMA(2.5100424157005067e-08, r, 2.7620138719733994e-07);
    const double q = SG_FMA(SG_FMA(q8, r4, SG_FMA(q6, r2, q4)), r4, SG_FMA(q2, r2, q0));
    return SG_FMA(q, r2, r);
}

SG_INLINE float sg_expm1_nearf(float r)
{
    const float r2 = r * r;
    const float even = SG_FMAF(SG_FMAF(0.0013933731243014336f, r2, 0.041666463017463684f), r2,
        0.5f);
    const float odd = SG_FMAF(SG_FMAF(0.000198910798644647f, r2, 0.00833331048488617f), r2,
        0.1666666716337204f);
    return SG_FMAF(r2, SG_FMAF(odd, r, even), r);
}

/* y 2^n, n being what was rounded into t. */
SG_INLINE double sg_scale(double y, double t)
{
    const uint64_t bits = sg_bits(t), half = (bits & 0xffe) << 51;
    return y * sg_of_bits(half) * sg_of_bits((bits << 52) - half);
}

SG_INLINE float sg_scalef(float y, float t)
{
    const uint32_t bits = sg_bitsf(t), half = (bits & 0x1fe) << 22;
    return y * sg_of_bitsf(half) * sg_of_bitsf((bits << 23) - half);
}

/* What is left of x after n ln 2. */
SG_INLINE double sg_rest(double x, double n)
{
    return SG_FMA(n, 1.7239444525614835e-13, SG_FMA(n, -0.6931471805601177, x));
}

SG_INLINE float sg_restf(float x, float n)
{
    return SG_FMAF(n, -1.4286068203094173e-06f, SG_FMAF(n, -0.693145751953125f, x));
}

SG_INLINE double sg_exp(double x)
{
    x = x > 710.0 ? 710.0 : x;
    x = x < -746.0 ? -746.0 : x;
    const double t = SG_FMA(x, 1.4426950408889634, SG_ROUND);
    return sg_scale(1.0 + sg_expm1_near(sg_rest(x, t - SG_ROUND)), t);
}

SG_INLINE float sg_expf(float x)
{
    x = x > 89.0f ? 89.0f : x;
    x = x < -104.5f ? -104.5f : x;
    const float t = SG_FMAF(x, 1.442695f, SG_ROUNDF);
    return sg_scalef(1.0f + sg_expm1_nearf(sg_restf(x, t - SG_ROUNDF)), t);
}

SG_INLINE double sg_exp2(double x)
{
    x = x > 1025.0 ? 1025.0 : x;
    x = x < -1076.0 ? -1076.0 : x;
    const double t = x + SG_ROUND, r = (x - (t - SG_ROUND)) * 0.6931471805599453;
    return sg_scale(1.0 + sg_expm1_near(r), t);
}

SG_INLINE float sg_exp2f(float x)
{
    x = x > 129.0f ? 129.0f : x;
    x = x < -151.0f ? -151.0f : x;
    const float t = x + SG_ROUNDF, r = (x - (t - SG_ROUNDF)) * 0.6931472f;
    return sg_scalef(1.0f + sg_expm1_nearf(r), t);
}

SG_INLINE double sg_exp10(double x)
{
    x = x > 309.0 ? 309.0 : x;
    x = x < -324.0 ? -324.0 : x;
    const double t = SG_FMA(x, 3.321928094887362, SG_ROUND), n = t - SG_ROUND;
    const double r = SG_FMA(n, 8.532344317057107e-14, SG_FMA(n, -0.3010299956640665, x));
    return sg_scale(1.0 + sg_expm1_near(r * 2.302585092994046), t);
}

SG_INLINE float sg_exp10f(float x)
{
    x = x > 39.0f ? 39.0f : x;
    x = x < -46.0f ? -46.0f : x;
    const float t = SG_FMAF(x, 3.321928f, SG_ROUNDF), n = t - SG_ROUNDF;
    const float r = SG_FMAF(n, -4.605038981195214e-06f, SG_FMAF(n, -0.301025390625f, x));
    return sg_scalef(1.0f + sg_expm1_nearf(r * 2.3025851f), t);
}

/* (e^x - 1) / 4, which is finite wherever sinh is; for -746 <= x <= 710.6. */
SG_INLINE double sg_quarter_expm1(double x)
{
    const double t = SG_FMA(x, 1.4426950408889634, SG_ROUND);
    const double s = sg_of_bits((sg_bits(t) - 1025) << 52);
    return SG_FMA(s, sg_expm1_near(sg_rest(x, t - SG_ROUND)), s - 0.25);
}

SG_INLINE float sg_quarter_expm1f(float x)
{
    const float t = SG_FMAF(x, 1.442695f, SG_ROUNDF);
    const float s = sg_of_bitsf((sg_bitsf(t) - 129) << 23);
    return SG_FMAF(s, sg_expm1_nearf(sg_restf(x, t - SG_ROUNDF)), s - 0.25f);
}

SG_INLINE double sg_expm1(double x)
{
    double y = x > 710.6 ? 710.6 : x;
    y = sg_quarter_expm1(y < -40.0 ? -40.0 : y);
    return fabs(x) < 1e-300 ? x : y * 4.0;
}

SG_INLINE float sg_expm1f(float x)
{
    float y = x > 89.5f ? 89.5f : x;
    y = sg_quarter_expm1f(y < -20.0f ? -20.0f : y);
    return fabsf(x) < 1e-30f ? x : y * 4.0f;
}

SG_INLINE double sg_sinh(double x)
{
    double y = fabs(x);
    y = 2.0 * sg_quarter_expm1(y > 710.6 ? 710.6 : y);
    return fabs(x) < 1e-300 ? x : copysign(y * (1.0 + 1.0 / (y + y + 1.0)), x);
}

SG_INLINE float sg_sinhf(float x)
{
    float y = fabsf(x);
    y = 2.0f * sg_quarter_expm1f(y > 89.5f ? 89.5f : y);
    return fabsf(x) < 1e-30f ? x : copysignf(y * (1.0f + 1.0f / (y + y + 1.0f)), x);
}

/* e/2 + 1/(2e) for e = exp(|x|) */
SG_INLINE double sg_cosh(double x)
{
    double y = fabs(x);
    y = y > 710.6 ? 710.6 : y;
    const double t = SG_FMA(y, 1.4426950408889634, SG_ROUND);
    const double s = sg_of_bits((sg_bits(t) - 1025) << 52);
    y = 2.0 * SG_FMA(s, sg_expm1_near(sg_rest(y, t - SG_ROUND)), s);
    return y + 0.25 / y;
}

SG_INLINE float sg_coshf(float x)
{
    float y = fabsf(x);
    y = y > 89.5f ? 89.5f : y;
    const float t = SG_FMAF(y, 1.442695f, SG_ROUNDF);
    const float s = sg_of_bitsf((sg_bitsf(t) - 129) << 23);
    y = 2.0f * SG_FMAF(s, sg_expm1_nearf(sg_restf(y, t - SG_ROUNDF)), s);
    return y + 0.25f / y;
}

/* (e - 1) / (e + 1) for e = exp(2|x|). */
SG_INLINE double sg_tanh(double x)
{
    double y = fabs(x);
    y = y > 20.0 ? 40.0 : y + y;
    const double t = SG_FMA(y, 1.4426950408889634, SG_ROUND);
    const double s = sg_of_bits((sg_bits(t) - 1023) << 52);
    const double e = SG_FMA(s, sg_expm1_near(sg_rest(y, t - SG_ROUND)), s - 1.0);
    return copysign(e / (e + 2.0), x);
}

SG_INLINE float sg_tanhf(float x)
{
    float y = fabsf(x);
    y = y > 10.0f ? 20.0f : y + y;
    const float t = SG_FMAF(y, 1.442695f, SG_ROUNDF);
    const float s = sg_of_bitsf((sg_bitsf(t) - 127) << 23);
    const float e = SG_FMAF(s, sg_expm1_nearf(sg_restf(y, t - SG_ROUNDF)), s - 1.0f);
    return copysignf(e / (e + 2.0f), x);
}

/* 1 - exp(-x Q(x)) for x = |x|: Q(x) = -log(erfc(x)) / x is smooth, and how near Q has to be falls
   off with erfc; its coefficients are those of the least weighted error (Lawson's iteration). */
SG_INLINE double sg_erf(double x)
{
    double y = fabs(x);
    y = y > 5.95 ? 5.95 : y;
    const double y2 = y * y;
    const double even = SG_FMA(SG_FMA(SG_FMA(SG_FMA(SG_FMA(SG_FMA(SG_FMA(SG_FMA(SG_FMA(SG_FMA(
        1.1772933407125328e-14, y2, 8.701741565626141e-12), y2, 6.794609844285474e-10), y2,
        7.744694701248442e-09), y2, -1.7439487814034153e-07), y2, -2.430690689789672e-06), y2,
        2.7948722337666848e-06), y2, 6.428961902728926e-05), y2, -0.0005901468621454438), y2,
        -0.00020919523185470998), y2, 0.10277260330005057);
    const double odd = SG_FMA(SG_FMA(SG_FMA(SG_FMA(SG_FMA(SG_FMA(SG_FMA(SG_FMA(SG_FMA(SG_FMA(
        -4.744211220217619e-13, y2, -9.526777458387852e-11), y2, -3.1440707556685167e-09), y2,
        8.492257808256198e-09), y2, 8.543010126869195e-07), y2, 3.565751276614436e-06), y2,
        -2.9322825734891496e-05), y2, 2.59553689156044e-05), y2, 0.0016962105405102775), y2,
        -0.01912844696291374), y2, 0.6366197723676119);
    y = SG_FMA(-y, 1.1283791670955126, -y2 * SG_FMA(even, y, odd));
    const double t = SG_FMA(y, 1.4426950408889634, SG_ROUND);
    const double s = sg_of_bits((sg_bits(t) - 1023) << 52);
    const double e = SG_FMA(-s, sg_expm1_near(sg_rest(y, t - SG_ROUND)), 1.0 - s);
    return copysign(e, x);
}

SG_INLINE float sg_erff(float x)
{
    float y = fabsf(x);
    y = y > 3.95f ? 3.95f : y;
    const float y2 = y * y;
    const float even = SG_FMAF(SG_FMAF(SG_FMAF(-2.1355333e-05f, y2, -0.0007406917f), y2,
        -0.00025306577f), y2, 0.10277128f);
    const float odd = SG_FMAF(SG_FMAF(SG_FMAF(SG_FMAF(1.1933765e-06f, y2, 0.00016748381f), y2,
        0.0017993607f), y2, -0.019117693f), y2, 0.63661983f);
    y = SG_FMAF(-y, 1.1283792f, -y2 * SG_FMAF(even, y, odd));
    const float t = SG_FMAF(y, 1.442695f, SG_ROUNDF);
    const float s = sg_of_bitsf((sg_bitsf(t) - 127) << 23);
    const float e = SG_FMAF(-s, sg_expm1_nearf(sg_restf(y, t - SG_ROUNDF)), 1.0f - s);
    return copysignf(e, x);
}

#endif
