/* mathfn.c - Python's math: functions of floats and of integers.
 *
 * Where CPython raises a ValueError for an argument, the result is NaN, as everywhere in compiled code; integers are
 * int64 and wrap.  float32 and half types keep their type; everything else gives Python's float.
 */
#include "front/expr/calc.h"

#include <math.h>
#include <string.h>

/* ---- arguments ---- */

td_status
as_float(walk *w, thing *x)
{
    TD_TRY(loaded(w, x));
    if (!is_num(x))
        return bad(
            w, w->node, TD_ERR_TYPE,
            "a number is needed here, not %s: NumPy's function of the same name takes arrays",
            x->type->name);
    if (is_int(x))
        *x = num_convert(w, x,
                         x->type->weak || x->type->dt == TD_BOOL ? td_type_weak('f')
                                                                 : td_type_num(TD_F64));
    return TD_OK;
}

td_status
calc_begin(walk *w, const call *c, const char *what, uint32_t n, calc *k)
{
    thing x[4], so_far = {0};

    *k = (calc){.w = w, .f = w->f};
    if (c->n < n)
        return bad(w, c->node, TD_ERR_TYPE, "%s takes %u arguments, not %u", what, n, c->n);
    for (uint32_t i = 0; i < n; i++) {
        x[i] = c->arg[i];
        TD_TRY(as_float(w, &x[i]));
        if (td_dtype_is_complex(x[i].type->dt))
            return bad(w, c->node, TD_ERR_TYPE, "%s is not defined for %s: use cmath or numpy",
                       what, x[i].type->name);
        k->t = i ? num_common(w, &so_far, &x[i]) : x[i].type;
        so_far = (thing){.type = k->t};
    }
    k->dt = td_dtype_is_half(k->t->dt) ? TD_F32 : k->t->dt;
    for (uint32_t i = 0; i < n; i++)
        k->x[i] = val_as(w, &x[i], k->dt);
    return built(w, c->node);
}

thing
calc_end(calc *k, td_val v)
{
    return num_of(k->t, td_num_of(td_cast(k->f, v, k->t->dt)));
}

/* ---- functions of floats ---- */

/* A row of ops.def over floats. */
td_status
fn_math(walk *w, const call *c, int number, thing *out)
{
    td_op op = (td_op)td_intrinsics[number].row;
    thing x[TD_MAXARG];

    TD_TRY(want_args(w, c, td_optab[op].name, td_optab[op].arity, td_optab[op].arity));
    for (uint32_t i = 0; i < c->n; i++) {
        x[i] = c->arg[i];
        TD_TRY(as_float(w, &x[i]));
        if (td_dtype_is_complex(x[i].type->dt))
            return bad(w, c->node, TD_ERR_TYPE, "math's functions take no %s: use cmath or numpy",
                       x[i].type->name);
    }
    return num_op(w, op, x, (int)c->n, out);
}

td_status
fn_math_pow(walk *w, const call *c, int number, thing *out)
{
    thing x, y;

    (void)number;
    TD_TRY(want_args(w, c, "pow", 2, 2));
    x = c->arg[0];
    y = c->arg[1];
    TD_TRY(as_float(w, &x));
    TD_TRY(as_float(w, &y));
    if (w->f->libm) /* products of known powers round otherwise */
        return num_op(w, OP_power, (thing[]){x, y}, 2, out);
    return num_binary(w, TD_SYN_Pow, &x, &y, out);
}

td_status
log_to_base(walk *w, const call *c, int number, intrinsic_fn *log, thing *out)
{
    call one = {.node = c->node, .n = 1, .arg = c->arg};
    thing base;

    TD_TRY(want_args(w, c, "log", 1, 2));
    TD_TRY(log(w, &one, number, out));
    if (c->n == 1)
        return TD_OK;
    one.arg = &c->arg[1];
    TD_TRY(log(w, &one, number, &base));
    return num_op(w, OP_divide, (thing[]){*out, base}, 2, out);
}

td_status
fn_log(walk *w, const call *c, int number, thing *out)
{
    return log_to_base(w, c, number, fn_math, out);
}

/* floor, ceil, trunc: an int. */
td_status
fn_to_int(walk *w, const call *c, int number, thing *out)
{
    td_op op = (td_op)td_intrinsics[number].row;
    thing x;

    TD_TRY(want_args(w, c, td_optab[op].name, 1, 1));
    x = c->arg[0];
    TD_TRY(loaded(w, &x));
    if (!is_num(&x) || td_dtype_is_complex(x.type->dt))
        return bad(w, c->node, TD_ERR_TYPE, "%s takes a real number, not %s", td_optab[op].name,
                   x.type->name);
    if (!is_int(&x))
        TD_TRY(num_op(w, op, &x, 1, &x));
    *out = is_int(&x) && !x.type->weak && x.type->dt != TD_BOOL
               ? x
               : num_convert(w, &x, td_type_weak('i'));
    return built(w, c->node);
}

/* The length of a vector of n coordinates.  Applies hypot to two numbers at a time, so that no square overflows. */
static td_status
length_of(walk *w, const thing *x, uint32_t n, thing *out)
{
    *out = num_float(0);
    for (uint32_t i = 0; i < n; i++) {
        thing y = x[i];

        TD_TRY(as_float(w, &y));
        if (i == 0)
            TD_TRY(num_op(w, OP_fabs, &y, 1, out));
        else
            TD_TRY(num_op(w, OP_hypot, (thing[]){*out, y}, 2, out));
    }
    return TD_OK;
}

td_status
fn_hypot(walk *w, const call *c, int number, thing *out)
{
    (void)number;
    return length_of(w, c->arg, c->n, out);
}

td_status
fn_dist(walk *w, const call *c, int number, thing *out)
{
    const thing *p, *q;
    thing *d;

    (void)number;
    TD_TRY(want_args(w, c, "dist", 2, 2));
    p = &c->arg[0];
    q = &c->arg[1];
    if (p->type->kind != TD_T_TUPLE || q->type->kind != TD_T_TUPLE || p->type->n != q->type->n)
        return bad(w, c->node, TD_ERR_TYPE, "dist takes two tuples of one length, not %s and %s",
                   p->type->name, q->type->name);
    d = td_alloc(w->mem, (p->type->n + 1) * sizeof *d);
    for (uint32_t i = 0; i < p->type->n; i++)
        TD_TRY(num_binary(w, TD_SYN_Sub, &p->item[i], &q->item[i], &d[i]));
    return length_of(w, d, p->type->n, out);
}

td_status
fn_frexp(walk *w, const call *c, int number, thing *out)
{
    thing part[2];
    calc k;

    (void)number;
    TD_TRY(want_args(w, c, "frexp", 1, 1));
    TD_TRY(calc_begin(w, c, "frexp", 1, &k));
    part[0] = calc_end(&k, calc1(&k, OP_mantissa, k.x[0]));
    part[1] = num_index(td_cast(w->f, calc1(&k, OP_exponent, k.x[0]), TD_I64), false);
    *out = tuple_of(w, part, 2);
    return built(w, c->node);
}

td_status
fn_ldexp(walk *w, const call *c, int number, thing *out)
{
    enum { FAR = 5000 }; /* larger than any exponent */
    td_val by;
    calc k;

    (void)number;
    TD_TRY(want_args(w, c, "ldexp", 2, 2));
    TD_TRY(calc_begin(w, c, "ldexp", 1, &k));
    if (!is_int(&c->arg[1]))
        return bad(w, c->node, TD_ERR_TYPE, "ldexp's exponent is an integer, not %s",
                   c->arg[1].type->name);
    by = val_as(w, &c->arg[1], TD_I64);
    by = TD_E2(w->f, maximum, by, td_const_int(w->f, TD_I64, -FAR));
    by = TD_E2(w->f, minimum, by, td_const_int(w->f, TD_I64, FAR));
    *out = calc_end(&k, calc2(&k, OP_scale, k.x[0], td_cast(w->f, by, k.dt)));
    return built(w, c->node);
}

td_status
fn_modf(walk *w, const call *c, int number, thing *out)
{
    thing part[2];
    td_val whole, rest;
    calc k;

    (void)number;
    TD_TRY(want_args(w, c, "modf", 1, 1));
    TD_TRY(calc_begin(w, c, "modf", 1, &k));
    whole = calc1(&k, OP_round_zero, k.x[0]);
    rest = calc_if(&k, calc1(&k, OP_isinf, k.x[0]), calc_k(&k, 0),
                   calc2(&k, OP_subtract, k.x[0], whole));
    part[0] = calc_end(&k, calc2(&k, OP_copysign, rest, k.x[0]));
    part[1] = calc_end(&k, whole);
    *out = tuple_of(w, part, 2);
    return built(w, c->node);
}

/* IEEE 754's: x - y * n for the integer n that is nearest to x / y, the even one on a tie.  Computed exactly, by fmod. */
td_status
fn_remainder(walk *w, const call *c, int number, thing *out)
{
    td_val x, y, m, other, r, half;
    calc k;

    (void)number;
    TD_TRY(want_args(w, c, "remainder", 2, 2));
    TD_TRY(calc_begin(w, c, "remainder", 2, &k));
    x = calc1(&k, OP_fabs, k.x[0]);
    y = calc1(&k, OP_fabs, k.x[1]);
    m = calc2(&k, OP_fmod, x, y);
    other = calc2(&k, OP_subtract, y, m);
    half = calc2(&k, OP_fmod, calc2(&k, OP_multiply, calc_k(&k, 0.5), calc2(&k, OP_subtract, x, m)),
                 y);
    r = calc2(&k, OP_subtract, m, calc2(&k, OP_multiply, calc_k(&k, 2), half));
    r = calc_if(&k, calc2(&k, OP_greater, m, other), calc1(&k, OP_negative, other), r);
    r = calc_if(&k, calc2(&k, OP_less, m, other), m, r);
    r = calc2(&k, OP_multiply, calc2(&k, OP_copysign, calc_k(&k, 1), k.x[0]), r);
    *out = calc_end(&k, r);
    return built(w, c->node);
}

/* row 0: math.ulp, of |x|; 1: numpy.spacing, with x's sign. */
td_status
fn_ulp(walk *w, const call *c, int number, thing *out)
{
    td_val x, up, down, inf, r;
    calc k;

    TD_TRY(want_args(w, c, "ulp", 1, 1));
    TD_TRY(calc_begin(w, c, "ulp", 1, &k));
    if (td_dtype_is_half(k.t->dt))
        return bad(w, c->node, TD_ERR_TYPE, "ulp is not defined for %s: convert it to float32",
                   k.t->name);
    inf = calc_k(&k, INFINITY);
    x = calc1(&k, OP_fabs, k.x[0]);
    up = calc2(&k, OP_nextafter, x, inf);
    down = calc2(&k, OP_nextafter, x, calc1(&k, OP_negative, inf));
    r = calc_if(&k, calc1(&k, OP_isinf, up), calc2(&k, OP_subtract, x, down),
                calc2(&k, OP_subtract, up, x));
    if (td_intrinsics[number].row) /* spacing of an infinity is NaN */
        r = calc2(&k, OP_copysign, calc_if(&k, calc1(&k, OP_isinf, x), calc_k(&k, NAN), r), k.x[0]);
    else
        r = calc_if(&k, calc1(&k, OP_isinf, x), inf, r);
    *out = calc_end(&k, r);
    return built(w, c->node);
}

/* ---- are they close? ---- */

static td_status
magnitude(walk *w, const thing *x, thing *out)
{
    return num_op(w, OP_absolute, x, 1, out);
}

/* a == b, or both finite and |a - b| <= limit. */
static td_status
is_within(walk *w, const thing *a, const thing *b, const thing *limit, thing *out)
{
    thing same, d, near, fa, fb;

    TD_TRY(num_compare(w, TD_SYN_Eq, a, b, &same));
    TD_TRY(num_binary(w, TD_SYN_Sub, a, b, &d));
    TD_TRY(magnitude(w, &d, &d));
    TD_TRY(num_compare(w, TD_SYN_LtE, &d, limit, &near));
    TD_TRY(num_op(w, OP_isfinite, a, 1, &fa));
    TD_TRY(num_op(w, OP_isfinite, b, 1, &fb));
    TD_TRY(num_op(w, OP_logical_and, (thing[]){near, fa}, 2, &near));
    TD_TRY(num_op(w, OP_logical_and, (thing[]){near, fb}, 2, &near));
    return num_op(w, OP_logical_or, (thing[]){same, near}, 2, out);
}

static thing
option(const call *c, uint32_t i, const char *name, double usual)
{
    const thing *x = arg_or_kw(c, i, name);

    return x ? *x : num_float(usual);
}

td_status
fn_isclose(walk *w, const call *c, int number, thing *out)
{
    thing rel = option(c, 2, "rel_tol", 1e-9), abs = option(c, 3, "abs_tol", 0), a, b;

    (void)number;
    TD_TRY(want_args(w, c, "isclose", 2, 2));
    TD_TRY(magnitude(w, &c->arg[0], &a));
    TD_TRY(magnitude(w, &c->arg[1], &b));
    TD_TRY(num_op(w, OP_maximum, (thing[]){a, b}, 2, &a));
    TD_TRY(num_binary(w, TD_SYN_Mult, &rel, &a, &a));
    TD_TRY(num_op(w, OP_maximum, (thing[]){a, abs}, 2, &a));
    return is_within(w, &c->arg[0], &c->arg[1], &a, out);
}

/* NumPy's, whose tolerance is relative to the second argument. */
td_status
fn_np_isclose(walk *w, const call *c, int number, thing *out)
{
    thing rel = option(c, 2, "rtol", 1e-5), abs = option(c, 3, "atol", 1e-8), b, nan[2];
    const thing *equal = arg_or_kw(c, 4, "equal_nan");

    (void)number;
    TD_TRY(want_args(w, c, "isclose", 2, 5));
    TD_TRY(magnitude(w, &c->arg[1], &b));
    TD_TRY(num_binary(w, TD_SYN_Mult, &rel, &b, &b));
    TD_TRY(num_binary(w, TD_SYN_Add, &abs, &b, &b));
    TD_TRY(is_within(w, &c->arg[0], &c->arg[1], &b, out));
    if (!equal)
        return TD_OK;
    for (int i = 0; i < 2; i++)
        TD_TRY(num_op(w, OP_isnan, &c->arg[i], 1, &nan[i]));
    TD_TRY(num_op(w, OP_logical_and, nan, 2, nan));
    TD_TRY(num_op(w, OP_logical_and, (thing[]){nan[0], *equal}, 2, nan));
    return num_op(w, OP_logical_or, (thing[]){*out, nan[0]}, 2, out);
}
