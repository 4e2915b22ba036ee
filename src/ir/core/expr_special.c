/* expr_special.c - composite operations that NumPy's arithmetic lacks: activation functions, the parts of a float,
 * divisors.
 *
 * Where a composition has a choice at 0, it is made so that its derivative is right there too, and so that no branch
 * that is not taken gives a NaN.
 */
#include "ir/core/expr.h"

td_val
expr_rsqrt(td_fn *f, const td_val *x)
{
    return E2(divide, K(1), E1(sqrt, x[0]));
}

/* NaN stays NaN; the derivative at 0 is 0. */
td_val
expr_relu(td_fn *f, const td_val *x)
{
    return E3(select, E2(less_equal, x[0], K(0)), K(0), x[0]);
}

/* exp(-|x|), which cannot overflow. */
static td_val
decay(td_fn *f, const td_val *x)
{
    return E1(exp, E3(select, E2(less, x[0], K(0)), x[0], E1(negative, x[0])));
}

td_val
expr_sigmoid(td_fn *f, const td_val *x)
{
    td_val e = decay(f, x);

    return E2(divide, E3(select, E2(less, x[0], K(0)), e, K(1)), E2(add, K(1), e));
}

td_val
expr_softplus(td_fn *f, const td_val *x)
{
    return E2(add, E3(select, E2(less, x[0], K(0)), K(0), x[0]), E1(log1p, decay(f, x)));
}

/* log(1 - exp(-|x|)).  Near 0 the difference keeps its digits in expm1, elsewhere the exponential keeps them in log1p. */
td_val
expr_log1mexp(td_fn *f, const td_val *x)
{
    td_val a = E1(negative, E1(fabs, x[0]));

    return E3(select, E2(greater, a, K(-0.693147180559945309417232)),
              E1(log, E1(negative, E1(expm1, a))), E1(log1p, E1(negative, E1(exp, a))));
}

td_val
expr_silu(td_fn *f, const td_val *x)
{
    return E2(multiply, x[0], E1(sigmoid, x[0]));
}

/* Uses erfc, which keeps its digits where 1 + erf would cancel. */
td_val
expr_gelu(td_fn *f, const td_val *x)
{
    td_val tail = E1(erfc, E2(multiply, x[0], K(-0.707106781186547524400844)));

    return E2(multiply, E2(multiply, x[0], K(0.5)), tail);
}

/* Around 1/2 the quotient is near 1 and its logarithm loses digits; 2 x - 1 is exact there. */
td_val
expr_logit(td_fn *f, const td_val *x)
{
    td_val middle = E2(less, E1(fabs, E2(subtract, x[0], K(0.5))), K(0.2));
    td_val twice = E2(subtract, E2(add, x[0], x[0]), K(1));
    td_val near = E1(arctanh, E3(select, middle, twice, K(0)));

    return E3(select, middle, E2(add, near, near),
              E1(log, E2(divide, x[0], E2(subtract, K(1), x[0]))));
}

td_val
expr_xlogy(td_fn *f, const td_val *x)
{
    td_val none = E2(logical_and, E2(equal, x[0], K(0)), E2(equal, x[1], x[1]));

    return E3(select, none, K(0), E2(multiply, x[0], E1(log, E3(select, none, K(1), x[1]))));
}

/* ---- the parts of a float ---- */

/* The layout of a float: fraction bits, exponent's offset, the largest exponent field. */
typedef struct layout {
    td_dtype bits;
    int fraction, offset, field;
} layout;

static layout
layout_of(const td_fn *f, const td_val *x)
{
    if (td_at(f, x[0])->dt == TD_F32)
        return (layout){TD_I32, 23, 127, 0xff};
    return (layout){TD_I64, 52, 1023, 0x7ff};
}

/* 2 to the power e, an integer from -offset + 1 to offset. */
static td_val
power_of_two(td_fn *f, layout l, td_val e)
{
    td_dtype dt = (td_dtype)td_at(f, e)->dt;
    td_val n = E2(add, td_cast(f, e, l.bits), td_const_int(f, l.bits, l.offset));

    return td_bitcast(f, E2(left_shift, n, td_const_int(f, l.bits, l.fraction)), dt);
}

/* Scales in steps of which only the last one rounds: a step down is taken only if at least fraction + 2 places remain,
 * so whatever it rounds becomes 0 anyway. */
td_val
expr_scale(td_fn *f, const td_val *x)
{
    layout l = layout_of(f, x);
    double up = l.offset, down = l.fraction + 1 - l.offset + 1;
    td_val v = x[0], e = x[1];

    for (int k = 0; k < 2; k++) {
        td_val low = E2(less, e, K(1 - l.offset)), high = E2(greater, e, K(up));
        td_val by = E3(select, low, K(down), E3(select, high, K(up), K(0)));

        v = E2(multiply, v, power_of_two(f, l, by));
        e = E2(subtract, e, by);
    }
    e = E2(minimum, E2(maximum, e, K(1 - l.offset)), K(up));
    return E2(multiply, v, power_of_two(f, l, e));
}

/* Is x finite and not 0, so that it has an exponent? */
static td_val
is_scaled(td_fn *f, const td_val *x)
{
    return E2(logical_and, E1(isfinite, x[0]), E2(not_equal, x[0], K(0)));
}

/* x's bits; for a subnormal x, those of x times 2 to the power `fraction`.  *tiny: is x subnormal? */
static td_val
normal_bits(td_fn *f, const td_val *x, layout l, td_val *tiny)
{
    double least = l.bits == TD_I32 ? 0x1p-126 : 0x1p-1022, scale = 1LL << l.fraction;

    *tiny = E2(less, E1(fabs, x[0]), K(least));
    return td_bitcast(f, E3(select, *tiny, E2(multiply, x[0], K(scale)), x[0]), l.bits);
}

td_val
expr_exponent(td_fn *f, const td_val *x)
{
    layout l = layout_of(f, x);
    td_val tiny, e = normal_bits(f, x, l, &tiny);

    e = E2(right_shift, e, td_const_int(f, l.bits, l.fraction));
    e = E2(bitwise_and, e, td_const_int(f, l.bits, l.field));
    e = E2(subtract, td_cast(f, e, (td_dtype)td_at(f, x[0])->dt), K(l.offset - 1));
    e = E3(select, tiny, E2(subtract, e, K(l.fraction)), e);
    return E3(select, is_scaled(f, x), e, K(0));
}

td_val
expr_mantissa(td_fn *f, const td_val *x)
{
    layout l = layout_of(f, x);
    td_val tiny, m = normal_bits(f, x, l, &tiny);

    m = E2(bitwise_and, m, td_const_int(f, l.bits, ~((int64_t)l.field << l.fraction)));
    m = E2(bitwise_or, m, td_const_int(f, l.bits, (int64_t)(l.offset - 1) << l.fraction));
    m = td_bitcast(f, m, (td_dtype)td_at(f, x[0])->dt);
    return E3(select, is_scaled(f, x), m, x[0]);
}

/* ---- divisors ---- */

/* Is v true in any lane? */
static td_val
any_lane(td_fn *f, td_val v)
{
    int n = td_at(f, v)->lanes;

    for (int k = 1; k < n; k *= 2)
        v = E2(logical_or, v, td_rotate(f, v, k));
    return n == 1 ? v : td_extract(f, v, 0);
}

static td_dtype
unsigned_of(td_dtype dt)
{
    switch (dt) {
    case TD_I8:  return TD_U8;
    case TD_I16: return TD_U16;
    case TD_I32: return TD_U32;
    case TD_I64: return TD_U64;
    default:     return dt;
    }
}

/* Euclid's algorithm on the absolute values as unsigned integers, until all lanes are done. */
td_val
expr_gcd(td_fn *f, const td_val *x)
{
    td_dtype own = (td_dtype)td_at(f, x[0])->dt, dt = unsigned_of(own);
    td_val a, b, rest, zero = td_const_int(f, dt, 0);
    int n = td_at(f, x[0])->lanes;

    a = td_slot(f, dt, n);
    b = td_slot(f, dt, n);
    td_set(f, a, td_cast(f, E1(absolute, x[0]), dt));
    td_set(f, b, td_cast(f, E1(absolute, x[1]), dt));
    td_loop(f);
    td_break_if(f, E1(logical_not, any_lane(f, E2(not_equal, td_get(f, b), zero))));
    rest = E2(fmod, td_get(f, a), td_get(f, b)); /* 0 where b is 0 */
    td_set(f, a, E3(select, E2(equal, td_get(f, b), zero), td_get(f, a), td_get(f, b)));
    td_set(f, b, rest);
    td_end(f);
    return td_cast(f, td_get(f, a), own);
}

td_val
expr_lcm(td_fn *f, const td_val *x)
{
    td_dtype own = (td_dtype)td_at(f, x[0])->dt, dt = unsigned_of(own);
    td_val a = td_cast(f, E1(absolute, x[0]), dt), b = td_cast(f, E1(absolute, x[1]), dt);
    td_val q = E2(truncate_divide, a, td_cast(f, E2(gcd, x[0], x[1]), dt)); /* 0 / 0 is 0 */

    return td_cast(f, E2(multiply, q, b), own);
}
