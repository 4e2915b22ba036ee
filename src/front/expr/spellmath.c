/* spellmath.c - functions of typed.def: libdevice's functions that take several rows of ops.def. */
#include "front/expr/typed.h"

#include <math.h>

static td_status
give_number(walk *w, td_dtype dt, td_val v, thing *out)
{
    *out = num_val(dt, v);
    return built(w, w->node);
}

static td_status
give_two(walk *w, td_dtype a, td_val x, td_dtype b, td_val y, thing *out)
{
    *out = tuple_of(w, (thing[]){num_val(a, x), num_val(b, y)}, 2);
    return built(w, w->node);
}

td_status
spell_rsqrt(walk *w, const thing *x, int n, int how, td_dtype to, thing *out)
{
    td_val v = td_cast(w->f, val(x), TD_F64);

    (void)n;
    (void)how;
    v = TD_E2(w->f, divide, typed_real(w, TD_F64, 1), TD_E1(w->f, sqrt, v));
    return give_number(w, to, td_cast(w->f, v, to), out);
}

/* sin and cos of pi * x: removes quarter turns from x exactly, before the product with pi. */
static void
pi_times(walk *w, td_val x, td_dtype dt, td_val *sine, td_val *cosine)
{
    td_val quarters, rest, s, c, k, minus[2], swap, of_s, of_c;

    x = TD_E2(w->f, fmod, x, typed_real(w, dt, 2));
    quarters = TD_E1(w->f, rint, TD_E2(w->f, multiply, x, typed_real(w, dt, 2)));
    rest = TD_E3(w->f, fma, quarters, typed_real(w, dt, -0.5), x);
    rest = TD_E2(w->f, multiply, rest, typed_real(w, dt, 0x1.921fb54442d18p+1));
    s = TD_E1(w->f, sin, rest);
    c = TD_E1(w->f, cos, rest);
    k = td_cast(w->f, quarters, TD_I32); /* -4 … 4 */
    swap = TD_E2(w->f, not_equal, TD_E2(w->f, bitwise_and, k, typed_whole(w, TD_I32, 1)),
                 typed_whole(w, TD_I32, 0));
    of_s = TD_E3(w->f, select, swap, c, s);
    of_c = TD_E3(w->f, select, swap, s, c);
    for (int i = 0; i < 2; i++) {
        td_val q = TD_E2(w->f, add, k, typed_whole(w, TD_I32, i));

        minus[i] = TD_E2(w->f, not_equal, TD_E2(w->f, bitwise_and, q, typed_whole(w, TD_I32, 2)),
                         typed_whole(w, TD_I32, 0));
    }
    *sine = TD_E3(w->f, select, minus[0], TD_E1(w->f, negative, of_s), of_s);
    *cosine = TD_E3(w->f, select, minus[1], TD_E1(w->f, negative, of_c), of_c);
}

/* how: OP_sin or OP_cos */
td_status
spell_pi(walk *w, const thing *x, int n, int how, td_dtype to, thing *out)
{
    td_val s, c;

    (void)n;
    pi_times(w, val(x), to, &s, &c);
    return give_number(w, to, how == OP_sin ? s : c, out);
}

/* how 1: the argument is pi * x */
td_status
spell_sincos(walk *w, const thing *x, int n, int how, td_dtype to, thing *out)
{
    td_val s, c;

    (void)n;
    if (how) {
        pi_times(w, val(x), to, &s, &c);
    } else {
        s = TD_E1(w->f, sin, val(x));
        c = TD_E1(w->f, cos, val(x));
    }
    return give_two(w, to, s, to, c, out);
}

td_status
spell_rcbrt(walk *w, const thing *x, int n, int how, td_dtype to, thing *out)
{
    (void)n;
    (void)how;
    return give_number(w, to, TD_E2(w->f, divide, typed_real(w, to, 1), TD_E1(w->f, cbrt, val(x))),
                       out);
}

/* erfc(t) / 2 at t = -x * sqrt(1/2).  In erfc's tail t's rounding shows: erfc' is about -2t *
 * erfc there. */
td_status
spell_normcdf(walk *w, const thing *x, int n, int how, td_dtype to, thing *out)
{
    double exact = -0x1.6a09e667f3bcdp-1, high = to == TD_F32 ? (double)(float)exact : exact;
    double rest = to == TD_F32 ? exact - high : 0x1.bdd3413b26456p-55;
    td_val t = TD_E2(w->f, multiply, val(x), typed_real(w, to, high)), r = TD_E1(w->f, erfc, t),
           lost, fixed;

    (void)n;
    (void)how;
    lost = TD_E3(w->f, fma, val(x), typed_real(w, to, high), TD_E1(w->f, negative, t));
    lost = TD_E3(w->f, fma, val(x), typed_real(w, to, rest), lost);
    fixed = TD_E2(w->f, multiply, TD_E2(w->f, multiply, t, typed_real(w, to, -2)), r);
    fixed = TD_E3(w->f, fma, fixed, lost, r);
    r = TD_E3(w->f, select,
              TD_E2(w->f, logical_and, TD_E2(w->f, greater, t, typed_real(w, to, 1)),
                    TD_E2(w->f, greater, r, typed_real(w, to, 0))),
              fixed, r);
    return give_number(w, to, TD_E2(w->f, multiply, r, typed_real(w, to, 0.5)), out);
}

/* x - y, or 0 where that is negative */
td_status
spell_fdim(walk *w, const thing *x, int n, int how, td_dtype to, thing *out)
{
    td_val less = TD_E2(w->f, less_equal, val(&x[0]), val(&x[1]));

    (void)n;
    (void)how;
    return give_number(w, to,
                       TD_E3(w->f, select, less, typed_real(w, to, 0),
                             TD_E2(w->f, subtract, val(&x[0]), val(&x[1]))),
                       out);
}

/* The exponent e of x = m * 2**e with 1 <= |m| < 2.  As a float: -inf for 0, inf for inf; as an int32: the least and
 * the largest one. */
td_status
spell_logb(walk *w, const thing *x, int n, int how, td_dtype to, thing *out)
{
    bool integer = td_dtype_is_int(to);
    td_dtype dt = typed_dt(x);
    td_val v = val(x), e, zero = TD_E2(w->f, equal, v, typed_real(w, dt, 0)), inf, nan;

    (void)n;
    (void)how;
    e = TD_E2(w->f, subtract, TD_E1(w->f, exponent, v), typed_real(w, dt, 1));
    inf = TD_E1(w->f, isinf, v);
    nan = TD_E1(w->f, isnan, v);
    if (integer) {
        e = td_cast(w->f, e, TD_I32);
        e = TD_E3(w->f, select, inf, typed_whole(w, TD_I32, INT32_MAX), e);
        zero = TD_E2(w->f, logical_or, zero, nan);
        return give_number(w, to, TD_E3(w->f, select, zero, typed_whole(w, TD_I32, INT32_MIN), e),
                           out);
    }
    e = TD_E3(w->f, select, inf, typed_real(w, dt, INFINITY), e);
    e = TD_E3(w->f, select, nan, v, e);
    return give_number(w, to, TD_E3(w->f, select, zero, typed_real(w, dt, -INFINITY), e), out);
}

td_status
spell_scale(walk *w, const thing *x, int n, int how, td_dtype to, thing *out)
{
    (void)n;
    (void)how;
    return give_number(w, to, TD_E2(w->f, scale, val(&x[0]), td_cast(w->f, val(&x[1]), to)), out);
}

td_status
spell_powi(walk *w, const thing *x, int n, int how, td_dtype to, thing *out)
{
    (void)n;
    (void)how;
    return give_number(w, to, TD_E2(w->f, pow, val(&x[0]), td_cast(w->f, val(&x[1]), to)), out);
}

td_status
spell_frexp(walk *w, const thing *x, int n, int how, td_dtype to, thing *out)
{
    td_val e = td_cast(w->f, TD_E1(w->f, exponent, val(x)), TD_I32);

    (void)n;
    (void)how;
    return give_two(w, to, TD_E1(w->f, mantissa, val(x)), TD_I32, e, out);
}

td_status
spell_modf(walk *w, const thing *x, int n, int how, td_dtype to, thing *out)
{
    td_val t = TD_E1(w->f, round_zero, val(x)), rest = TD_E2(w->f, subtract, val(x), t);

    (void)n;
    (void)how;
    rest = TD_E3(w->f, select, TD_E1(w->f, isinf, t), typed_real(w, to, 0), rest);
    return give_two(w, to, TD_E2(w->f, copysign, rest, val(x)), to, t, out);
}

/* IEEE's remainder: x less the nearest multiple of y, the even one on a tie.  how 1: also the lower 3 bits of the
 * multiple, with the quotient's sign. */
td_status
spell_remquo(walk *w, const thing *x, int n, int how, td_dtype to, thing *out)
{
    td_val a = TD_E1(w->f, fabs, val(&x[0])), b = TD_E1(w->f, fabs, val(&x[1])),
           q = typed_whole(w, TD_I32, 0),
           r = TD_E2(w->f, fmod, a, TD_E2(w->f, multiply, b, typed_real(w, to, 8))), take, tie, odd,
           minus;

    (void)n;
    for (int k = 4; k; k /= 2) {
        td_val by = TD_E2(w->f, multiply, b, typed_real(w, to, k));

        take = TD_E2(w->f, greater_equal, r, by);
        r = TD_E3(w->f, select, take, TD_E2(w->f, subtract, r, by), r);
        q = TD_E3(w->f, select, take, TD_E2(w->f, add, q, typed_whole(w, TD_I32, k)), q);
    }
    /* r is below b; 2r may overflow where b - r does not */
    odd = TD_E2(w->f, equal, TD_E2(w->f, bitwise_and, q, typed_whole(w, TD_I32, 1)),
                typed_whole(w, TD_I32, 1));
    tie = TD_E2(w->f, subtract, b, r);
    take = TD_E2(w->f, logical_or, TD_E2(w->f, greater, r, tie),
                 TD_E2(w->f, logical_and, TD_E2(w->f, equal, r, tie), odd));
    r = TD_E3(w->f, select, take, TD_E2(w->f, subtract, r, b), r);
    q = TD_E3(w->f, select, take, TD_E2(w->f, add, q, typed_whole(w, TD_I32, 1)), q);
    q = TD_E2(w->f, bitwise_and, q, typed_whole(w, TD_I32, 7));
    minus = TD_E2(w->f, less, val(&x[0]), typed_real(w, to, 0));
    r = TD_E3(w->f, select, minus, TD_E1(w->f, negative, r), r);
    r = TD_E3(w->f, select, TD_E2(w->f, equal, val(&x[0]), typed_real(w, to, 0)),
              TD_E2(w->f, add, val(&x[0]), r), r); /* keeps -0 and NaN */
    if (!how)
        return give_number(w, to, r, out);
    minus = TD_E2(w->f, not_equal, minus, TD_E2(w->f, less, val(&x[1]), typed_real(w, to, 0)));
    q = TD_E3(w->f, select, minus, TD_E1(w->f, negative, q), q);
    return give_two(w, to, r, TD_I32, q, out);
}
