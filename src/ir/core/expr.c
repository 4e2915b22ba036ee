/* expr.c - operations that are composed of other operations.
 *
 * A composite costs what its parts cost, on every target, and is differentiated through them.  Floating-point
 * composites follow NumPy's own loops, special values included.
 */
#include "ir/core/expr.h"

static char
kind(const td_fn *f, const td_val *x)
{
    return td_dtype_kind((td_dtype)td_at(f, x[0])->dt);
}

static int
lanes(const td_fn *f, td_val x)
{
    return td_at(f, x)->lanes;
}

/* Is the remainder r not 0 and of the other sign than the divisor? */
static td_val
flips(td_fn *f, const td_val *x, td_val r)
{
    return E2(logical_and, E2(not_equal, r, K(0)),
              E2(not_equal, E2(less, x[1], K(0)), E2(less, r, K(0))));
}

/* Floats as in NumPy's npy_divmod: the quotient is (x - remainder) / y, rounded. */
static td_val
float_remainder(td_fn *f, const td_val *x)
{
    td_val m = E2(fmod, x[0], x[1]), zero = K(0), flip = flips(f, x, m);

    m = E3(select, flip, E2(add, m, x[1]), m);
    return E3(select, E2(equal, m, zero), E2(copysign, zero, x[1]), m);
}

static td_val
float_floor_divide(td_fn *f, const td_val *x)
{
    td_val r = E2(fmod, x[0], x[1]), zero = K(0), flip = flips(f, x, r);
    td_val plain = E2(divide, x[0], x[1]);
    td_val q = E2(divide, E2(subtract, x[0], r), x[1]), down, near;

    q = E3(select, flip, E2(subtract, q, K(1)), q);
    down = E1(round_down, q);
    down = E3(select, E2(greater, E2(subtract, q, down), K(0.5)), E2(add, down, K(1)), down);
    near = E3(select, E2(equal, q, zero), E2(copysign, zero, plain), down);
    return E3(select, E2(equal, x[1], zero), plain, near);
}

td_val
expr_floor_divide(td_fn *f, const td_val *x)
{
    td_val q, r, off;

    switch (kind(f, x)) {
    case 'f': return float_floor_divide(f, x);
    case 'u': return E2(truncate_divide, x[0], x[1]);
    }
    q = E2(truncate_divide, x[0], x[1]);
    r = E2(fmod, x[0], x[1]);
    off = E2(logical_and, E2(not_equal, r, K(0)), E2(less, E2(bitwise_xor, r, x[1]), K(0)));
    return E3(select, off, E2(subtract, q, K(1)), q);
}

td_val
expr_remainder(td_fn *f, const td_val *x)
{
    td_val r, off;

    switch (kind(f, x)) {
    case 'f': return float_remainder(f, x);
    case 'u': return E2(fmod, x[0], x[1]);
    }
    r = E2(fmod, x[0], x[1]);
    off = E2(logical_and, E2(not_equal, r, K(0)), E2(less, E2(bitwise_xor, r, x[1]), K(0)));
    return E3(select, E2(logical_and, off, E2(not_equal, x[1], K(0))), E2(add, r, x[1]), r);
}

/* Integers, by squaring over the exponent's bits.  Arrays refuse negative exponents; elsewhere they give what the
 * fraction truncates to: 0, or 1 and -1 to the power. */
td_val
expr_power(td_fn *f, const td_val *x)
{
    td_dtype dt = (td_dtype)td_at(f, x[0])->dt;
    td_val acc, base, left, bit, i32[3];
    int n = lanes(f, x[0]);

    if (kind(f, x) == 'f')
        return E2(pow, x[0], x[1]);
    acc = td_slot(f, dt, n);
    base = td_slot(f, dt, n);
    left = td_slot(f, dt, n);
    td_set(f, acc, td_splat(f, K(1), n));
    td_set(f, base, x[0]);
    td_set(f, left, x[1]);
    i32[0] = td_const_int(f, TD_I32, 0);
    i32[1] = td_const_int(f, TD_I32, 8 * (int)td_dtype_size(dt));
    i32[2] = td_const_int(f, TD_I32, 1);
    td_for(f, i32[0], i32[1], i32[2]);
    bit = E2(not_equal, E2(bitwise_and, td_get(f, left), K(1)), K(0));
    td_set(f, acc, E3(select, bit, E2(multiply, td_get(f, acc), td_get(f, base)), td_get(f, acc)));
    td_set(f, base, E2(multiply, td_get(f, base), td_get(f, base)));
    td_set(f, left, E2(right_shift, td_get(f, left), K(1)));
    td_end(f);
    if (kind(f, x) == 'u')
        return td_get(f, acc);
    left = E2(logical_and, E2(less, x[1], K(0)), E2(greater, E1(absolute, x[0]), K(1)));
    return E3(select, left, K(0), td_get(f, acc));
}

td_val
expr_negative(td_fn *f, const td_val *x)
{
    if (kind(f, x) == 'f')
        return E2(multiply, x[0], K(-1)); /* keeps the sign of zero; NaN stays NaN */
    return E2(subtract, K(0), x[0]);
}

td_val
expr_positive(td_fn *f, const td_val *x)
{
    (void)f;
    return x[0];
}

td_val
expr_absolute(td_fn *f, const td_val *x)
{
    switch (kind(f, x)) {
    case 'f': return E1(fabs, x[0]);
    case 'i': return E3(select, E2(less, x[0], K(0)), E1(negative, x[0]), x[0]);
    }
    return x[0];
}

td_val
expr_sign(td_fn *f, const td_val *x)
{
    td_val up = E3(select, E2(greater, x[0], K(0)), K(1), K(0)), s;

    if (kind(f, x) == 'u')
        return up;
    s = E3(select, E2(less, x[0], K(0)), K(-1), up);
    return kind(f, x) == 'i' ? s : E3(select, E2(not_equal, x[0], x[0]), x[0], s);
}

td_val
expr_imag(td_fn *f, const td_val *x)
{
    return td_const_int(f, (td_dtype)td_at(f, x[0])->dt, 0);
}

td_val
expr_angle(td_fn *f, const td_val *x)
{
    return E2(arctan2, K(0), x[0]);
}

td_val
expr_square(td_fn *f, const td_val *x)
{
    return E2(multiply, x[0], x[0]);
}

td_val
expr_reciprocal(td_fn *f, const td_val *x)
{
    return kind(f, x) == 'f' ? E2(divide, K(1), x[0]) : E2(truncate_divide, K(1), x[0]);
}

td_val
expr_degrees(td_fn *f, const td_val *x)
{
    return E2(multiply, x[0], K(180.0 / 3.14159265358979323846));
}

td_val
expr_radians(td_fn *f, const td_val *x)
{
    return E2(multiply, x[0], K(3.14159265358979323846 / 180.0));
}

/* max + log1p(exp(-|x - y|)); equal operands (infinities too) give x + log 2. */
td_val
expr_logaddexp(td_fn *f, const td_val *x)
{
    td_val d = E2(subtract, x[0], x[1]);
    td_val tail = E1(log1p, E1(exp, E1(negative, E1(fabs, d))));
    td_val sum = E2(add, E2(maximum, x[0], x[1]), tail);

    return E3(select, E2(equal, x[0], x[1]), E2(add, x[0], K(0.693147180559945309417232)), sum);
}

td_val
expr_logaddexp2(td_fn *f, const td_val *x)
{
    td_val d = E2(subtract, x[0], x[1]);
    td_val tail =
        E2(multiply, E1(log1p, E1(exp2, E1(negative, E1(fabs, d)))), K(1.44269504088896340736));
    td_val sum = E2(add, E2(maximum, x[0], x[1]), tail);

    return E3(select, E2(equal, x[0], x[1]), E2(add, x[0], K(1)), sum);
}

/* Integers and bools are returned unchanged. */
td_val
expr_floor(td_fn *f, const td_val *x)
{
    return kind(f, x) == 'f' ? E1(round_down, x[0]) : x[0];
}

td_val
expr_ceil(td_fn *f, const td_val *x)
{
    return kind(f, x) == 'f' ? E1(round_up, x[0]) : x[0];
}

td_val
expr_trunc(td_fn *f, const td_val *x)
{
    return kind(f, x) == 'f' ? E1(round_zero, x[0]) : x[0];
}

/* x[1] where it is `beyond` x[0], or NaN; else x[0].  A processor has one instruction for the inner choice, and a chain of
 * extremes with x[0] waits for that alone. */
static td_val
extreme(td_fn *f, const td_val *x, td_op beyond)
{
    td_val r = E3(select, td_emit(f, beyond, (td_val[]){x[1], x[0]}), x[1], x[0]);

    return kind(f, x) == 'f' ? E3(select, E2(not_equal, x[1], x[1]), x[1], r) : r;
}

/* A NaN in either operand is the result. */
td_val
expr_maximum(td_fn *f, const td_val *x)
{
    return extreme(f, x, OP_greater);
}

td_val
expr_minimum(td_fn *f, const td_val *x)
{
    return extreme(f, x, OP_less);
}

/* x[0] if `first` is true or x[1] is NaN; else x[1]. */
static td_val
first_of(td_fn *f, const td_val *x, td_val first)
{
    if (kind(f, x) == 'f')
        first = E2(logical_or, first, E2(not_equal, x[1], x[1]));
    return E3(select, first, x[0], x[1]);
}

/* NaN only if both operands are. */
td_val
expr_fmax(td_fn *f, const td_val *x)
{
    return first_of(f, x, E2(greater_equal, x[0], x[1]));
}

td_val
expr_fmin(td_fn *f, const td_val *x)
{
    return first_of(f, x, E2(less_equal, x[0], x[1]));
}

td_val
expr_heaviside(td_fn *f, const td_val *x)
{
    td_val step = E3(select, E2(less, x[0], K(0)), K(0), K(1));

    step = E3(select, E2(equal, x[0], K(0)), x[1], step);
    return E3(select, E2(not_equal, x[0], x[0]), x[0], step);
}

td_val
expr_isnan(td_fn *f, const td_val *x)
{
    return E2(not_equal, x[0], x[0]);
}

td_val
expr_isinf(td_fn *f, const td_val *x)
{
    return E2(equal, E1(fabs, x[0]), K(__builtin_inf()));
}

td_val
expr_isfinite(td_fn *f, const td_val *x)
{
    return E2(less, E1(fabs, x[0]), K(__builtin_inf()));
}

td_val
expr_invert(td_fn *f, const td_val *x)
{
    return E2(bitwise_xor, x[0], td_const_int(f, (td_dtype)td_at(f, x[0])->dt, -1));
}

#define BIN(s, u, fl) 0
#define CMP(s, u, fl) 0
#define INTRIN(name)  0
#define MATH(name)    0
#define SPECIAL(name) 0
#define EXPR(name)    expr_##name

td_expr *const td_exprtab[OP_COUNT] = {
#define OP(n, ar, k, r, fl, mean, low, ...) [OP_##n] = low,
#include "ir/core/ops.def"
};
