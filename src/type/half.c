/* half.c - IEEE 754 binary16 and bfloat16, to and from float, round to nearest even. */
#include "type/dtype.h"

#include <string.h>

static uint32_t
bits_of_float(float f)
{
    uint32_t u;

    memcpy(&u, &f, sizeof u);
    return u;
}

static float
float_of(uint32_t u)
{
    float f;

    memcpy(&f, &u, sizeof f);
    return f;
}

float
td_half_to_float(uint16_t h)
{
    uint32_t sign = (uint32_t)(h & 0x8000u) << 16, e = h >> 10 & 31, m = h & 0x3ffu;

    if (e == 31)
        return float_of(sign | 0x7f800000u | m << 13);
    if (e)
        return float_of(sign | (e + 112) << 23 | m << 13);
    return float_of(sign | bits_of_float((float)m * 0x1p-24f)); /* zero and subnormals: exact */
}

/* Rounds d's bits once: cuts the significand to the digits that a half of this exponent has. */
uint16_t
td_double_to_half(double d)
{
    uint64_t u, m, half, rest;
    uint16_t sign;
    int e, cut;

    memcpy(&u, &d, sizeof u);
    sign = (uint16_t)(u >> 48 & 0x8000u);
    e = (int)(u >> 52 & 2047) - 1023;
    m = u & 0xfffffffffffffu;
    if (e == 1024)
        return (uint16_t)(sign | 0x7c00u | (m ? 0x200u | (uint16_t)(m >> 42) : 0));
    if (e > 15)
        return (uint16_t)(sign | 0x7c00u);
    if (e < -25)
        return sign;
    m |= (uint64_t)1 << 52;
    cut = e >= -14 ? 42 : 42 + (-14 - e); /* bits below the half's last place */
    half = m >> cut;
    rest = m & (((uint64_t)1 << cut) - 1);
    if (rest > (uint64_t)1 << (cut - 1) || (rest == (uint64_t)1 << (cut - 1) && (half & 1)))
        half++;
    if (e >= -14) /* the hidden bit carries into the exponent */
        half += (uint64_t)(e + 14) << 10;
    return (uint16_t)(sign | half);
}

uint16_t
td_float_to_half(float f)
{
    return td_double_to_half((double)f);
}

float
td_bfloat_to_float(uint16_t h)
{
    return float_of((uint32_t)h << 16);
}

static uint16_t
float_to_bfloat(float f)
{
    uint32_t u = bits_of_float(f);

    if (f != f)
        return (uint16_t)(u >> 16 | 0x40u);
    return (uint16_t)((u + 0x7fffu + (u >> 16 & 1)) >> 16);
}

/* Goes through a float that is rounded to odd: its last bit records what was cut off, so the
 * second rounding gives the same result as a single one. */
uint16_t
td_double_to_bfloat(double d)
{
    float f = (float)d;
    uint32_t u = bits_of_float(f);

    if (d == d && (double)f != d && !(u & 1))
        u += (double)float_of(u & 0x7fffffffu) > (d < 0 ? -d : d) ? UINT32_MAX : 1;
    return float_to_bfloat(float_of(u));
}
