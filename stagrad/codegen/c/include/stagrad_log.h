/* Logarithms of one number without branches, so that loops over them become vector code.

   Method: x = 2^e (1 + f) with sqrt(1/2) <= 1 + f < sqrt(2), taken apart by its bits, and
   log(1 + f) = f - f^2/2 + f^3 p(f), where p meets that quotient in Chebyshev's nodes. */
#ifndef STAGRAD_LOG_H
#define STAGRAD_LOG_H

/* log(1 + f) - f */
SG_INLINE double sg_log_near(double f)
{
    const double s = f / (2.0 + f), z = s * s, z2 = z * z, half = 0.5 * f * f;
    const double even = SG_FMA(SG_FMA(SG_FMA(0.14617807153417325, z2, 0.1818289243253687), z2,
        0.28571428626253836), z2, 0.666666666666667);
    const double odd = SG_FMA(SG_FMA(0.15331611722055008, z2, 0.22222211089379496), z2,
        0.3999999999989889);
    return SG_FMA(s, SG_FMA(z, SG_FMA(odd, z, even), half), -half);
}

SG_INLINE float sg_log_nearf(float f)
{
    const float s = f / (2.0f + f), z = s * s, half = 0.5f * f * f;
    const float r = SG_FMAF(SG_FMAF(0.29580986f, z, 0.3998876f), z, 0.66666687f);
    return SG_FMAF(s, SG_FMAF(z, r, half), -half);
}

/* The bits of x moved so that the exponent changes at sqrt(2): e + 1023 stands in front. */
#define SG_SPLIT(x) (sg_bits(x) + (0x3ff0000000000000 - 0x3fe6a09e667f3bcd))
#define SG_SPLITF(x) (sg_bitsf(x) + (0x3f800000 - 0x3f3504f3))

/* e and f of moved bits. */
SG_INLINE double sg_exponent_of(uint64_t moved)
{
    return sg_of_bits(moved >> 52 | 0x4330000000000000) - (4503599627370496.0 + 1023.0);
}

SG_INLINE double sg_rest_of(uint64_t moved)
{
    return sg_of_bits((moved & 0xfffffffffffff) + 0x3fe6a09e667f3bcd) - 1.0;
}

SG_INLINE float sg_exponent_off(uint32_t moved)
{
    return sg_of_bitsf(moved >> 23 | 0x4b000000) - (8388608.0f + 127.0f);
}

SG_INLINE float sg_rest_off(uint32_t moved)
{
    return sg_of_bitsf((moved & 0x7fffff) + 0x3f3504f3) - 1.0f;
}

/* The logarithm y where 0 < x < inf, and what it is elsewhere. */
SG_INLINE double sg_log_ends(double x, double y)
{
    y = x < INFINITY ? y : x;
    return x > 0.0 ? y : x == 0.0 ? -INFINITY : NAN;
}

SG_INLINE float sg_log_endsf(float x, float y)
{
    y = x < INFINITY ? y : x;
    return x > 0.0f ? y : x == 0.0f ? -INFINITY : NAN;
}

/* e ln 2 + log(1 + f) */
SG_INLINE double sg_log_sum(double e, double f)
{
    const double low = SG_FMA(e, -1.7239444525614835e-13, sg_log_near(f));
    return SG_FMA(e, 0.6931471805601177, f + low);
}

SG_INLINE float sg_log_sumf(float e, float f)
{
    const float low = SG_FMAF(e, 1.4286068203094173e-06f, sg_log_nearf(f));
    return SG_FMAF(e, 0.693145751953125f, f + low);
}

SG_INLINE double sg_log(double x)
{
    const bool small = x < 2.2250738585072014e-308;
    const uint64_t moved = SG_SPLIT(small ? x * 18014398509481984.0 : x);
    const double e = sg_exponent_of(moved) - (small ? 54.0 : 0.0);
    return sg_log_ends(x, sg_log_sum(e, sg_rest_of(moved)));
}

SG_INLINE float sg_logf(float x)
{
    const bool small = x < 1.1754943508222875e-38f;
    const uint32_t moved = SG_SPLITF(small ? x * 33554432.0f : x);
    const float e = sg_exponent_off(moved) - (small ? 25.0f : 0.0f);
    return sg_log_endsf(x, sg_log_sumf(e, sg_rest_off(moved)));
}

SG_INLINE double sg_log2(double x)
{
    const bool small = x < 2.2250738585072014e-308;
    const uint64_t moved = SG_SPLIT(small ? x * 18014398509481984.0 : x);
    const double e = sg_exponent_of(moved) - (small ? 54.0 : 0.0);
    const double f = sg_rest_of(moved), low = sg_log_near(f);
    return sg_log_ends(x, SG_FMA(f + low, 1.4426950408889634, e));
}

SG_INLINE float sg_log2f(float x)
{
    const bool small = x < 1.1754943508222875e-38f;
    const uint32_t moved = SG_SPLITF(small ? x * 33554432.0f : x);
    const float e = sg_exponent_off(moved) - (small ? 25.0f : 0.0f);
    const float f = sg_rest_off(moved), low = sg_log_nearf(f);
    return sg_log_endsf(x, SG_FMAF(f + low, 1.442695f, e));
}

SG_INLINE double sg_log10(double x)
{
    const bool small = x < 2.2250738585072014e-308;
    const uint64_t moved = SG_SPLIT(small ? x * 18014398509481984.0 : x);
    const double e = sg_exponent_of(moved) - (small ? 54.0 : 0.0);
    const double f = sg_rest_of(moved), low = sg_log_near(f);
    const double y = SG_FMA(f + low, 0.4342944819032518, e * -8.532344317057107e-14);
    return sg_log_ends(x, SG_FMA(e, 0.3010299956640665, y));
}

SG_INLINE float sg_log10f(float x)
{
    const bool small = x < 1.1754943508222875e-38f;
    const uint32_t moved = SG_SPLITF(small ? x * 33554432.0f : x);
    const float e = sg_exponent_off(moved) - (small ? 25.0f : 0.0f);
    const float f = sg_rest_off(moved), low = sg_log_nearf(f);
    const float y = SG_FMAF(f + low, 0.4342945f, e * 4.605038981195214e-06f);
    return sg_log_endsf(x, SG_FMAF(e, 0.301025390625f, y));
}

/* What 1 + x loses by rounding is added to f, where it counts. */
SG_INLINE double sg_log1p(double x)
{
    const double u = 1.0 + x, lost = x < 1.0 ? x - (u - 1.0) : 1.0 - (u - x);
    const uint64_t moved = SG_SPLIT(u);
    const double scale = sg_of_bits(0x7fe0000000000000 - (moved & 0x7ff0000000000000));
    const double f = sg_rest_of(moved);
    const double y = sg_log_sum(sg_exponent_of(moved), x < 1e18 ? SG_FMA(lost, scale, f) : f);
    const double z = x != 0.0 && x < INFINITY ? y : x;
    return x > -1.0 ? z : x == -1.0 ? -INFINITY : NAN;
}

SG_INLINE float sg_log1pf(float x)
{
    const float u = 1.0f + x, lost = x < 1.0f ? x - (u - 1.0f) : 1.0f - (u - x);
    const uint32_t moved = SG_SPLITF(u);
    const float scale = sg_of_bitsf(0x7f000000 - (moved & 0x7f800000));
    const float f = sg_rest_off(moved);
    const float y = sg_log_sumf(sg_exponent_off(moved), x < 1e9f ? SG_FMAF(lost, scale, f) : f);
    const float z = x != 0.0f && x < INFINITY ? y : x;
    return x > -1.0f ? z : x == -1.0f ? -INFINITY : NAN;
}

#endif
