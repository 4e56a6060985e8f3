/* Special functions of one double, or of integers: scalar code for what C's library lacks.

   Tables are polynomials that meet a function at Chebyshev's nodes, in a variable that runs through
   [-1, 1]; benchmarks/maths_coefficients.py computes them. Floats are computed in double. */
#ifndef STAGRAD_SPECIAL_H
#define STAGRAD_SPECIAL_H

/* fmod: with a product rounded once, the rest is exact while the quotient is below 2^52; a quotient
   that was rounded up to an integer leaves a rest of the wrong sign. */
static inline double sg_fmod(double x, double y)
{
#if defined(__FP_FAST_FMA)
    const double ratio = x / y;
    if ((fabs)(ratio) < 4503599627370496.0 && (fabs)(y) > 1e-290 &&
        (fabs)(y) < INFINITY) {
        const double rest = __builtin_fma(-(trunc)(ratio), y, x);
        const bool over = rest != 0.0 && (rest < 0.0) != (x < 0.0);
        return (copysign)(over ? rest + (copysign)(y, x) : rest, x);
    }
#endif
    return (fmod)(x, y);
}

static inline float sg_fmodf(float x, float y)
{
#if defined(__FP_FAST_FMAF)
    const float ratio = x / y;
    if ((fabsf)(ratio) < 8388608.0f && (fabsf)(y) > 1e-30f &&
        (fabsf)(y) < INFINITY) {
        const float rest = __builtin_fmaf(-(truncf)(ratio), y, x);
        const bool over = rest != 0.0f && (rest < 0.0f) != (x < 0.0f);
        return (copysignf)(over ? rest + (copysignf)(y, x) : rest, x);
    }
#endif
    return (fmodf)(x, y);
}

/* Python's remainder has the sign of the divisor. */
static inline double sg_remainder(double x, double y)
{
    const double rest = sg_fmod(x, y);
    if (rest == 0.0)
        return (copysign)(rest, y);
    return (y < 0.0) != (rest < 0.0) ? rest + y : rest;
}

static inline double sg_floor_divide(double x, double y)
{
    const double rest = sg_fmod(x, y), ratio = x / y;
    const bool below = rest != 0.0 && (y < 0.0) != (rest < 0.0);
    const double whole = (x - rest) / y - below, down = (floor)(whole);
    return y == 0.0 ? ratio : (copysign)(down + (whole - down > 0.5), ratio);
}

static inline float sg_remainderf(float x, float y)
{
    const float rest = sg_fmodf(x, y);
    if (rest == 0.0f)
        return (copysignf)(rest, y);
    return (y < 0.0f) != (rest < 0.0f) ? rest + y : rest;
}

static inline float sg_floor_dividef(float x, float y)
{
    const float rest = sg_fmodf(x, y), ratio = x / y;
    const bool below = rest != 0.0f && (y < 0.0f) != (rest < 0.0f);
    const float whole = (x - rest) / y - below, down = (floorf)(whole);
    return y == 0.0f ? ratio : (copysignf)(down + (whole - down > 0.5f), ratio);
}

#define SG_FMOD(x, y) _Generic((x) + (y), float: sg_fmodf, default: sg_fmod)(x, y)

#define SG_REMAINDER(x, y) _Generic((x) + (y), float: sg_remainderf, default: sg_remainder)(x, y)

#define SG_FLOOR_DIVIDE(x, y) \
    _Generic((x) + (y), float: sg_floor_dividef, default: sg_floor_divide)(x, y)

/* (1 + 2x) erfcx(x) for t = (x - 3.75) / (x + 3.75). */
static inline double sg_erfcx_table(double t)
{
    static const double c[] = {
        1.2375126308378275, -0.14024059858554702, 0.00358541548546365, 0.08227673849015112,
        -0.10880393014170486, 0.09230432116019513, -0.058693398590614, 0.028362277421569364,
        -0.009746579546733069, 0.0017556258319139934, 0.00029371358771431225,
        -0.0002901539762990061, 5.164944451696205e-05, 2.238390038090339e-05,
        -1.1445178311518049e-05, -9.728185029677076e-07, 1.7537598965322038e-06,
        -5.832039466992171e-08, -2.616930395796968e-07, 2.4363842659574258e-08,
        4.163213221156018e-08, -4.454188309154417e-09, -7.094843440843675e-09,
        5.826552475656065e-10, 1.2007166392684951e-09, -4.9844152844245993e-11,
        -1.689091555613108e-10, 1.8240025042773818e-12, 1.3644024033145443e-11};
    return sg_polynomial(t, c, 29);
}

/* exp(x^2), also where x^2 rounds. */
static inline double sg_exp_square(double x)
{
    const double square = x * x, high = (double)(float)x, low = x - high;
    const double lost = ((high * high - square) + 2.0 * high * low) + low * low;
    return square > 800.0 ? INFINITY : (exp)(square) * (1.0 + lost);
}

static inline double sg_erfcx(double x)
{
    const double y = (fabs)(x);
    const double far = y > 1e9 ? 0.56418958354775628 / y
                               : sg_erfcx_table((y - 3.75) / (y + 3.75)) / (1.0 + 2.0 * y);
    return x < 0.0 ? (x < -27.0 ? INFINITY : 2.0 * sg_exp_square(x) - far) : far;
}

static inline double sg_log_ndtr(double x)
{
    const double t = x * 0.70710678118654752;
    if (x < -1.0)
        return x < -1e160 ? -INFINITY : (log)(0.5 * sg_erfcx(-t)) - 0.5 * x * x;
    return (log1p)(-0.5 * (erfc)(t));
}

/* Quantile of 1/2 + q over q, t running with q^2 up to 0.425^2. */
static inline double sg_quantile_middle(double t)
{
    static const double c[] = {
        2.806736249905641, 0.3853904235201061, 0.11648711641770138, 0.04407212080212983,
        0.018552375744052944, 0.00831126154615002, 0.0038780801659314894, 0.0018621867228725997,
        0.000913425519672333, 0.0004554617421117136, 0.00023008774008030826,
        0.00011747090880914804, 6.0505834484071536e-05, 3.141287728383983e-05,
        1.6404104243848038e-05, 8.55184294493182e-06, 4.510437735592228e-06,
        2.5552844245515355e-06, 1.3614203305830253e-06, 4.0084062292966484e-07,
        2.1050637542626025e-07, 5.778395132739763e-07, 3.151514707769361e-07,
        -3.0772744061460604e-07, -1.6951560243655457e-07, 2.520570528453621e-07,
        1.3829293541441654e-07, -8.942064124191023e-08, -4.911644273600818e-08,
        2.0246743242081672e-08, 1.1105073935264451e-08};
    return sg_polynomial(t, c, 31);
}

/* sqrt(2) r^2 less r times the quantile of p, in log r, for r^2 = -log p. */
static inline double sg_quantile_tail(double t)
{
    static const double c[] = {
        1.6684315621239985, 0.3806437085920758, 0.012040588677515647, -0.0017334515086121674,
        0.00015338460798674865, -1.4384251843665681e-05, -2.164127333140828e-06,
        2.1193944946190046e-06, -3.0150434198877567e-07, -9.78401645747901e-08,
        3.249562370200345e-08, 2.617254837623876e-09, -2.333352310507304e-09,
        4.343803293821174e-11, 1.4630769628294447e-10, -1.3773288217584042e-11,
        -8.571886831669034e-12, 1.435591622719862e-12, 4.694591513011678e-13,
        -1.14772802071965e-13, -1.9850902781534464e-14, 6.278695841824248e-15};
    return sg_polynomial(t, c, 22);
}

static inline double sg_quantile_far(double t)
{
    static const double c[] = {
        2.6730001919467714, 0.6928537385837938, 0.008962057008538148, -0.0032580846385644262,
        0.0006708126551884978, -3.916048328681229e-05, -1.6292808727736088e-05,
        2.0183055800804437e-06, 1.8160218886084338e-06, -8.745838817644892e-07,
        1.2870019536170067e-07, 4.362098662476675e-08, -3.2865365293485995e-08,
        9.969325338471614e-09, -9.40848197906779e-10, -6.951828812312428e-10,
        4.476894340447553e-10, -1.389287046719624e-10, 9.713063785494053e-12,
        1.7729521695517132e-11, -8.692217073515814e-12, 6.066043152889907e-14,
        6.362643617613666e-13};
    return sg_polynomial(t, c, 23);
}

/* x > 0 with the probability p <= 0.075 above it. */
static inline double sg_quantile_above(double p)
{
    const double square = -(log)(p), r = (sqrt)(square), u = 0.5 * (log)(square);
    if (p == 0.0)
        return INFINITY;
    return 1.4142135623730951 * r -
           (u < 1.5 ? sg_quantile_tail((u - 1.0) / 0.6) : sg_quantile_far(u - 2.5)) / r;
}

static inline double sg_ndtri(double p)
{
    const double q = p - 0.5;
    if (!(p >= 0.0 && p <= 1.0))
        return NAN;
    if ((fabs)(q) <= 0.425)
        return q * sg_quantile_middle(q * q / 0.0903125 - 1.0);
    return q < 0.0 ? -sg_quantile_above(p) : sg_quantile_above(1.0 - p);
}

static inline double sg_erfinv(double y)
{
    const double q = 0.5 * y, size = (fabs)(y);
    if (!(size <= 1.0))
        return NAN;
    if (size <= 0.85)
        return y == 0.0 ? 0.0
                        : q * (0.70710678118654752 * sg_quantile_middle(q * q / 0.0903125 - 1.0));
    return (copysign)(0.70710678118654752 * sg_quantile_above(0.5 * (1.0 - size)), y);
}

static inline double sg_erfcinv(double y)
{
    if (!(y >= 0.0 && y <= 2.0))
        return NAN;
    if (y >= 0.15)
        return y <= 1.85 ? -sg_erfinv(y - 1.0)
                         : -0.70710678118654752 * sg_quantile_above(0.5 * (2.0 - y));
    return 0.70710678118654752 * sg_quantile_above(0.5 * y);
}

/* psi(x) / (x - root) about its positive root. */
static inline double sg_psi_root(double t)
{
    static const double c[] = {
        0.9676722454476212, -0.4427631689835921, 0.258499760955651, -0.16394270544240652,
        0.10782405069126237, -0.07219956125645471, 0.04880428816414311, -0.03316112647484736,
        0.022597648232218104, -0.01542476590494896, 0.010538791616612175, -0.007204534386356869,
        0.004926781395729853, -0.003369801655439328, 0.002305126326734928,
        -0.0015769367714301972, 0.0010788252019162967, -0.0007380709389960052,
        0.000504953265834602};
    return sg_polynomial(t, c, 19);
}

/* The same about its first negative root. */
static inline double sg_psi_below(double t)
{
    static const double c[] = {
        8.939798558792134, -0.8093454625306507, 32.258572064915505, -2.761011648790828,
        128.27342343090902, -14.70672173553036, 513.2704629562862, -75.37700066344631,
        2055.5357119463315, -368.5783503832191, 8234.667099203069, -1743.364608867363,
        32997.785655255044, -8051.818155363498, 132262.95480834588, -36529.94596948565,
        530280.3912420176};
    return sg_polynomial(t, c, 17);
}

static inline double sg_psi(double x)
{
    const double apart = (x - 1.4616321449683622) - 9.549995429965697e-17;
    if (x == 0.0)
        return (copysign)(INFINITY, -x);
    if (x == -INFINITY || (x < 0.0 && x == (floor)(x)))
        return NAN;
    if ((fabs)(apart) < 0.25)
        return apart * sg_psi_root(apart);
    const double below = (x + 0.5040830082644554) + 8.15428206243813e-18;
    if ((fabs)(below) < 0.05)
        return below * sg_psi_below(below);
    double y = 0.0;
    if (x < 0.0) {
        const double f = x - (rint)(x); /* psi(1 - x) - pi / tan(pi x) */
        y = -3.1415926535897932 / (tan)(3.1415926535897932 * f);
        x = 1.0 - x;
    }
    for (; x < 10.0; x += 1.0)
        y -= 1.0 / x;
    if (x > 1e17)
        return (log)(x) + y;
    const double z = 1.0 / (x * x);
    const double tail = ((((((1.0 / 12.0 * z - 691.0 / 32760.0) * z + 1.0 / 132.0) * z -
        1.0 / 240.0) * z + 1.0 / 252.0) * z - 1.0 / 120.0) * z + 1.0 / 12.0) * z;
    return y + ((log)(x) - 0.5 / x - tail);
}

static inline double sg_gammasgn(double x)
{
    if (x > 0.0 || x != x)
        return x != x ? x : 1.0;
    if (x == 0.0)
        return (copysign)(1.0, x);
    const double below = (floor)(x);
    return below == x ? NAN : (fmod)(below, 2.0) == 0.0 ? 1.0 : -1.0;
}

static inline double sg_exprel(double x)
{
    return (fabs)(x) < 1e-16 ? 1.0 : x > 717.0 ? INFINITY : (expm1)(x) / x;
}

/* (e^(exponent y) - 1) / exponent, also where the power alone overflows. */
static inline double sg_power_over(double y, double exponent)
{
    if (!(exponent * y >= 709.78))
        return (expm1)(exponent * y) / exponent;
    const double power = (exp)(exponent * y - (log)((fabs)(exponent)));
    return (copysign)(power, exponent) - 1.0 / exponent;
}

static inline double sg_boxcox(double x, double exponent)
{
    return (fabs)(exponent) < 1e-19 ? (log)(x) : sg_power_over((log)(x), exponent);
}

static inline double sg_boxcox1p(double x, double exponent)
{
    const double y = (log1p)(x);
    const bool near = (fabs)(exponent) < 1e-19 || ((fabs)(y) < 1e-289 && (fabs)(exponent) < 1e273);
    return near ? y : sg_power_over(y, exponent);
}

/* NumPy's mantissa and exponent; an infinity and a NaN are their own mantissa. */
static inline double sg_mantissa(double x)
{
    int exponent;
    return isfinite(x) ? (frexp)(x, &exponent) : x;
}

static inline int32_t sg_exponent(double x)
{
    int exponent = 0;
    if (isfinite(x))
        (void)(frexp)(x, &exponent);
    return exponent;
}

static inline uint64_t sg_size(int64_t x)
{
    return x < 0 ? 0 - (uint64_t)x : (uint64_t)x;
}

static inline uint64_t sg_gcd(uint64_t a, uint64_t b)
{
    while (b != 0) {
        const uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static inline uint64_t sg_lcm(uint64_t a, uint64_t b)
{
    const uint64_t common = sg_gcd(a, b);
    return common == 0 ? 0 : a / common * b;
}

static inline uint8_t sg_bit_count(uint64_t x)
{
    x -= x >> 1 & 0x5555555555555555;
    x = (x & 0x3333333333333333) + (x >> 2 & 0x3333333333333333);
    return (uint8_t)(((x + (x >> 4)) & 0x0f0f0f0f0f0f0f0f) * 0x0101010101010101 >> 56);
}

static inline double sg_rgamma(double x)
{
    if ((fabs)(x) < 1e-300)
        return x;
    if (x <= 0.0 && x == (floor)(x))
        return 0.0;
    return x > -170.0 ? 1.0 / (tgamma)(x) : sg_gammasgn(x) * (exp)(-(lgamma)(x));
}

#endif
