/* spellfloat.c - functions of typed.def: floats, and rounding in a given direction.
 *
 * A result that is not rounded to nearest is computed to nearest first, with the error's sign: error-free
 * transformations give it exactly, unless float64 intermediates underflow.
 */
#include "front/expr/typed.h"

#include <math.h>

static td_val
spell_both(walk *w, td_val a, td_val b)
{
    return TD_E2(w->f, logical_and, a, b);
}

static td_val
either(walk *w, td_val a, td_val b)
{
    return TD_E2(w->f, logical_or, a, b);
}

static td_val
negated(walk *w, td_val v)
{
    return TD_E1(w->f, negative, v);
}

/* ---- rows ---- */

static td_status
cut_result(walk *w, int how, thing *out)
{
    thing zero = num_float(0), one = num_float(1);

    if (how & SATURATED) { /* fmax gives 0 for NaN */
        TD_TRY(num_op(w, OP_fmax, (thing[]){*out, zero}, 2, out));
        TD_TRY(num_op(w, OP_fmin, (thing[]){*out, one}, 2, out));
    }
    return how & NOT_NEGATIVE ? num_op(w, OP_relu, out, 1, out) : TD_OK;
}

td_status
spell_row(walk *w, const thing *x, int n, int how, td_dtype to, thing *out)
{
    (void)to;
    TD_TRY(num_op(w, (td_op)(how & HOW_OP), x, n, out));
    return cut_result(w, how, out);
}

/* x != y, and neither is NaN */
td_status
spell_differ(walk *w, const thing *x, int n, int how, td_dtype to, thing *out)
{
    thing y;

    (void)how;
    (void)to;
    TD_TRY(num_op(w, OP_less, x, n, out));
    TD_TRY(num_op(w, OP_greater, x, n, &y));
    return num_op(w, OP_logical_or, (thing[]){*out, y}, 2, out);
}

/* Does the comparison hold, or is an operand NaN? */
td_status
spell_unordered(walk *w, const thing *x, int n, int how, td_dtype to, thing *out)
{
    thing y;

    (void)to;
    TD_TRY(num_op(w, (td_op)how, x, n, out));
    for (int i = 0; i < n; i++) {
        TD_TRY(num_op(w, OP_isnan, &x[i], 1, &y));
        TD_TRY(num_op(w, OP_logical_or, (thing[]){*out, y}, 2, out));
    }
    return TD_OK;
}

/* 1 for inf, -1 for -inf, else 0 */
td_status
spell_infinite(walk *w, const thing *x, int n, int how, td_dtype to, thing *out)
{
    td_val v = td_cast(w->f, val(x), TD_F32), inf = typed_real(w, TD_F32, INFINITY);
    td_val up = TD_E2(w->f, equal, v, inf), down = TD_E2(w->f, equal, v, negated(w, inf));

    (void)n;
    (void)how;
    (void)to;
    *out = num_val(TD_I32,
                   TD_E2(w->f, subtract, td_cast(w->f, up, TD_I32), td_cast(w->f, down, TD_I32)));
    return built(w, w->node);
}

td_status
spell_exp10(walk *w, const thing *x, int n, int how, td_dtype to, thing *out)
{
    thing ten = num_float(10);

    (void)n;
    (void)how;
    (void)to;
    return num_op(w, OP_pow, (thing[]){ten, *x}, 2, out);
}

/* ---- directions ---- */

static td_dtype
bits_of_dtype(td_dtype dt)
{
    static const td_dtype of[] = {[2] = TD_I16, [4] = TD_I32, [8] = TD_I64};

    return of[td_dtype_size(dt)];
}

/* The bits of the next float above or below.  Below +0 and -0 that is the smallest negative number. */
static td_val
neighbour(walk *w, td_val bits, td_dtype dt, bool up)
{
    td_val one = typed_whole(w, dt, 1), zero = typed_whole(w, dt, 0), moved, is_zero;
    td_val more = TD_E2(w->f, add, bits, one), less = TD_E2(w->f, subtract, bits, one);
    int width = 8 * (int)td_dtype_size(dt);
    int64_t sign = (int64_t)(~UINT64_C(0) << (width - 1));

    is_zero = TD_E2(w->f, equal, TD_E2(w->f, left_shift, bits, one), zero);
    moved = TD_E3(w->f, select, TD_E2(w->f, less, bits, zero), up ? less : more, up ? more : less);
    return TD_E3(w->f, select, is_zero, up ? one : typed_whole(w, dt, sign + 1), moved);
}

td_val
step(walk *w, td_val r, td_dtype dt, td_val below, td_val above, int how)
{
    td_dtype bits_dt = bits_of_dtype(dt);
    td_val bits = td_bitcast(w->f, r, bits_dt), zero = typed_whole(w, bits_dt, 0);
    td_val down = neighbour(w, bits, bits_dt, false), up = neighbour(w, bits, bits_dt, true);
    int to = how & HOW_ROUND;

    if (to == TO_ZERO) {
        below = spell_both(w, below, TD_E2(w->f, greater_equal, bits, zero));
        above = spell_both(w, above, TD_E2(w->f, less, bits, zero));
    }
    if (to == DOWN || to == TO_ZERO)
        bits = TD_E3(w->f, select, below, down, bits);
    if (to == UP || to == TO_ZERO)
        bits = TD_E3(w->f, select, above, up, bits);
    return td_bitcast(w->f, bits, dt);
}

/* ---- sums and products with their errors ---- */

static td_val
sum_error(walk *w, td_val a, td_val b, td_val *error)
{
    td_val s = TD_E2(w->f, add, a, b), bb = TD_E2(w->f, subtract, s, a);

    *error = TD_E2(w->f, add, TD_E2(w->f, subtract, a, TD_E2(w->f, subtract, s, bb)),
                   TD_E2(w->f, subtract, b, bb));
    return s;
}

static td_val
product_error(walk *w, td_val a, td_val b, td_val *error)
{
    /* an fma, which no later pass contracts */
    td_val zero = negated(w, typed_real(w, (td_dtype)td_at(w->f, a)->dt, 0));
    td_val p = TD_E3(w->f, fma, a, b, zero);

    *error = TD_E3(w->f, fma, a, b, negated(w, p));
    return p;
}

/* a * b + c to nearest, with an error of the right sign (Boldo and Muller). */
static td_val
fma_error(walk *w, td_val a, td_val b, td_val c, td_val *error)
{
    td_val r = TD_E3(w->f, fma, a, b, c), u2, z, beta, alpha, u1 = product_error(w, a, b, &u2), b2;

    alpha = sum_error(w, c, u2, &z);
    beta = sum_error(w, u1, alpha, &b2);
    *error = TD_E2(w->f, add, TD_E2(w->f, add, TD_E2(w->f, subtract, beta, r), b2), z);
    return r;
}

/* The same of float32, with the error in float64: there products are exact and nothing
 * underflows. */
static td_val
with_wide_error(walk *w, td_op op, const td_val *x, int n, td_val *error)
{
    td_val v[TD_MAXARG], r = td_emit(w->f, op, x), d, rest, one = typed_real(w, TD_F64, 1), y;

    for (int i = 0; i < n; i++)
        v[i] = td_cast(w->f, x[i], TD_F64);
    d = negated(w, td_cast(w->f, r, TD_F64));
    switch (op) {
    case OP_multiply: *error = TD_E3(w->f, fma, v[0], v[1], d); return r;
    case OP_sqrt:     *error = TD_E3(w->f, fma, d, negated(w, d), v[0]); return r;
    case OP_fma:
        y = sum_error(w, TD_E2(w->f, multiply, v[0], v[1]), v[2], &rest);
        *error = TD_E2(w->f, add, TD_E2(w->f, add, y, d), rest);
        return r;
    default: /* divide, reciprocal: the remainder, with the divisor's sign */
        y = v[n - 1];
        *error = TD_E3(w->f, fma, d, y, op == OP_divide ? v[0] : one);
        *error = TD_E2(w->f, multiply, *error, TD_E2(w->f, copysign, one, y));
        return r;
    }
}

/* The operation's result, rounded to nearest, and its error's sign. */
static td_val
with_error(walk *w, td_op op, const td_val *x, int n, td_dtype dt, td_val *error)
{
    td_val r, y, one = typed_real(w, dt, 1);

    if (dt == TD_F32 && op != OP_add && op != OP_subtract)
        return with_wide_error(w, op, x, n, error);
    switch (op) {
    case OP_add:      return sum_error(w, x[0], x[1], error);
    case OP_subtract: return sum_error(w, x[0], negated(w, x[1]), error);
    case OP_multiply: return product_error(w, x[0], x[1], error);
    case OP_fma:      return fma_error(w, x[0], x[1], x[2], error);
    case OP_sqrt:
        r = TD_E1(w->f, sqrt, x[0]);
        *error = TD_E3(w->f, fma, negated(w, r), r, x[0]);
        return r;
    default:
        y = x[n - 1];
        r = TD_E2(w->f, divide, op == OP_divide ? x[0] : one, y);
        *error = TD_E3(w->f, fma, negated(w, r), y, op == OP_divide ? x[0] : one);
        *error = TD_E2(w->f, multiply, *error, TD_E2(w->f, copysign, one, y));
        return r;
    }
}

/* Rounded to nearest.  Sums and products become an fma, which no later pass contracts. */
static td_val
to_nearest(walk *w, td_op op, const td_val *x, td_dtype dt)
{
    switch (op) {
    case OP_add:      return TD_E3(w->f, fma, x[0], typed_real(w, dt, 1), x[1]);
    case OP_subtract: return TD_E3(w->f, fma, x[1], typed_real(w, dt, -1), x[0]);
    case OP_multiply: return TD_E3(w->f, fma, x[0], x[1], negated(w, typed_real(w, dt, 0)));
    default:          return td_emit(w->f, op, x);
    }
}

/* how: an operation and the direction of rounding.  An exact sum of 0 is +0 in every direction. */
td_status
spell_directed(walk *w, const thing *x, int n, int how, td_dtype to, thing *out)
{
    td_op op = (td_op)(how & HOW_OP);
    td_val v[TD_MAXARG], r, error, zero, below, above, finite = typed_whole(w, TD_BOOL, 1);

    for (int i = 0; i < n; i++) {
        v[i] = val(&x[i]);
        finite = spell_both(w, finite, TD_E1(w->f, isfinite, v[i]));
    }
    if (!(how & HOW_ROUND)) {
        *out = num_val(to, to_nearest(w, op, v, to));
        return built(w, w->node);
    }
    if (op == OP_divide || op == OP_reciprocal)
        finite = spell_both(w, finite, TD_E2(w->f, not_equal, v[n - 1], typed_real(w, to, 0)));
    r = with_error(w, op, v, n, to, &error);
    zero = typed_real(w, (td_dtype)td_at(w->f, error)->dt, 0);
    /* if a finite result overflows, the exact value is below inf, and the error is NaN */
    below = either(w, TD_E2(w->f, less, error, zero),
                   TD_E2(w->f, equal, r, typed_real(w, to, INFINITY)));
    above = either(w, TD_E2(w->f, greater, error, zero),
                   TD_E2(w->f, equal, r, typed_real(w, to, -INFINITY)));
    *out = num_val(to,
                   step(w, r, to, spell_both(w, finite, below), spell_both(w, finite, above), how));
    return built(w, w->node);
}

/* ---- halves ---- */

/* a * b + c rounded once.  In float64 the product is exact; the sum is rounded to odd, so that
 * the second rounding sees on which side of a tie the exact value is. */
td_status
spell_fma_half(walk *w, const thing *x, int n, int how, td_dtype to, thing *out)
{
    td_val v[3], s, error, bits, odd, same, one = typed_whole(w, TD_I64, 1),
                                            zero = typed_real(w, TD_F64, 0);

    (void)n;
    for (int i = 0; i < 3; i++)
        v[i] = td_cast(w->f, val(&x[i]), TD_F64);
    s = sum_error(w, TD_E2(w->f, multiply, v[0], v[1]), v[2], &error);
    bits = td_bitcast(w->f, s, TD_I64);
    same = TD_E2(w->f, equal, TD_E2(w->f, greater, error, zero), TD_E2(w->f, greater, s, zero));
    odd = TD_E3(w->f, select, same, TD_E2(w->f, add, bits, one), TD_E2(w->f, subtract, bits, one));
    /* only an even inexact result changes: NaN and inf are exact */
    same = spell_both(
        w, TD_E2(w->f, equal, TD_E2(w->f, bitwise_and, bits, one), typed_whole(w, TD_I64, 0)),
        either(w, TD_E2(w->f, less, error, zero), TD_E2(w->f, greater, error, zero)));
    bits = TD_E3(w->f, select, same, odd, bits);
    *out = num_val(to, td_cast(w->f, td_bitcast(w->f, bits, TD_F64), to));
    return cut_result(w, how, out);
}

/* ---- conversions ---- */

/* The float64 nearest to an integer, and the remainder. */
static td_val
split_integer(walk *w, const thing *x, int how, td_val *rest)
{
    td_dtype dt = how & UNSIGNED ? unsigned_of(typed_dt(x)) : typed_dt(x);
    td_val v = td_cast(w->f, val(x), dt), by = typed_whole(w, dt, 32), high, low;

    *rest = typed_real(w, TD_F64, 0);
    if (td_dtype_size(dt) < 8)
        return td_cast(w->f, v, TD_F64);
    high = td_cast(w->f, TD_E2(w->f, right_shift, v, by), TD_F64);
    low =
        td_cast(w->f, TD_E2(w->f, bitwise_and, v, typed_whole(w, dt, INT64_C(0xffffffff))), TD_F64);
    return sum_error(w, TD_E2(w->f, multiply, high, typed_real(w, TD_F64, 0x1p32)), low, rest);
}

/* Converts an integer or a float to a float of no more digits. */
td_status
spell_to_float(walk *w, const thing *x, int n, int how, td_dtype to, thing *out)
{
    bool integer = td_dtype_is_int(typed_dt(x));
    td_dtype from = integer && how & UNSIGNED ? unsigned_of(typed_dt(x)) : typed_dt(x);
    td_val zero = typed_real(w, TD_F64, 0), rest = zero,
           r = td_cast(w->f, td_cast(w->f, val(x), from), to), s, d;

    (void)n;
    *out = num_val(to, r);
    if (!(how & HOW_ROUND))
        return built(w, w->node);
    s = integer ? split_integer(w, x, how, &rest) : td_cast(w->f, val(x), TD_F64);
    if (to == TD_F64) {
        d = rest;
        r = s;
    } else { /* both are close to each other, or r is inf: the difference has the right sign */
        d = TD_E2(w->f, add, TD_E2(w->f, subtract, s, td_cast(w->f, r, TD_F64)), rest);
    }
    *out =
        num_val(to, step(w, r, to, TD_E2(w->f, less, d, zero), TD_E2(w->f, greater, d, zero), how));
    return built(w, w->node);
}

/* Rounds to an integer, in v's own dtype. */
static td_val
spell_rounded(walk *w, td_val v, int how)
{
    td_dtype dt = (td_dtype)td_at(w->f, v)->dt;
    td_val t, d, away;

    switch (how & HOW_ROUND) {
    case TO_ZERO: return TD_E1(w->f, round_zero, v);
    case DOWN:    return TD_E1(w->f, round_down, v);
    case UP:      return TD_E1(w->f, round_up, v);
    case TO_AWAY:
        t = TD_E1(w->f, round_zero, v);
        d = TD_E1(w->f, fabs, TD_E2(w->f, subtract, v, t));
        away = TD_E2(w->f, add, t, TD_E2(w->f, copysign, typed_real(w, dt, 1), v));
        t = TD_E3(w->f, select, TD_E2(w->f, greater_equal, d, typed_real(w, dt, 0.5)), away, t);
        return TD_E2(w->f, copysign, t, v);
    default: return TD_E1(w->f, rint, v);
    }
}

td_status
spell_round(walk *w, const thing *x, int n, int how, td_dtype to, thing *out)
{
    (void)n;
    (void)how;
    *out = num_val(to, spell_rounded(w, val(x), TO_AWAY));
    return built(w, w->node);
}

/* Converts to an integer; values out of range saturate.  NaN gives 0, or only the topmost bit where float64 or 64 bits
 * are involved. */
td_status
spell_to_int(walk *w, const thing *x, int n, int how, td_dtype to, thing *out)
{
    td_dtype dt = how & UNSIGNED ? unsigned_of(to) : to,
             from = td_dtype_is_half(typed_dt(x)) ? TD_F32 : typed_dt(x);
    bool plain = td_dtype_kind(dt) == 'u';
    int width = 8 * (int)td_dtype_size(dt);
    td_val v = spell_rounded(w, td_cast(w->f, val(x), from), how), r, nan;
    double past =
        plain ? 2.0 * (double)(UINT64_C(1) << (width - 1)) /* the least number that is too large */
              : (double)(UINT64_C(1) << (width - 1));
    int64_t top = (int64_t)(UINT64_C(1) << (width - 1)), most = plain ? -1 : top - 1,
            least = plain ? 0 : top;

    (void)n;
    if (width < 64) {
        most = plain ? (INT64_C(1) << width) - 1 : top - 1;
        least = plain ? 0 : -top;
    } else if (!plain) {
        most = INT64_MAX;
        least = INT64_MIN;
    }
    r = td_cast(w->f, v, dt);
    r = TD_E3(w->f, select, TD_E2(w->f, greater_equal, v, typed_real(w, from, past)),
              typed_whole(w, dt, most), r);
    r = TD_E3(w->f, select, TD_E2(w->f, less_equal, v, typed_real(w, from, plain ? 0 : -past)),
              typed_whole(w, dt, least), r);
    nan =
        typed_whole(w, dt, width == 64 || from == TD_F64 ? (plain || width == 64 ? top : -top) : 0);
    *out = num_val(dt, TD_E3(w->f, select, TD_E1(w->f, isnan, v), nan, r));
    return built(w, w->node);
}
