/* elemfn.c - functions of numbers that take more than one row of ops.def: cmath's, NumPy's, operator's. */
#include "front/expr/calc.h"
#include "front/infer/box.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* ---- complex numbers ---- */

static td_status
as_complex(walk *w, thing *x)
{
    TD_TRY(loaded(w, x));
    if (!is_num(x))
        return bad(w, w->node, TD_ERR_TYPE, "cmath's functions take numbers, not %s",
                   x->type->name);
    if (!td_dtype_is_complex(x->type->dt))
        *x = num_convert(w, x,
                         x->type->weak || x->type->dt == TD_BOOL
                             ? td_type_weak('c')
                             : td_type_num(td_dtype_complex_of(x->type->dt)));
    return TD_OK;
}

/* exp(x) where x's real part is -inf and its imaginary part is not finite: in CPython the result's imaginary part is
 * 0, in NumPy it has the sign of x's.  Replaces NumPy's by CPython's. */
static void
unsigned_zero(walk *w, const thing *x, thing *out)
{
    td_dtype dt = td_dtype_real_of(x->type->dt);
    td_val inf = td_const(w->f, dt, -INFINITY), zero = td_const(w->f, dt, 0), gone;

    if (x->num.im.i == UINT32_MAX || out->num.im.i == UINT32_MAX)
        return;
    gone = TD_E2(w->f, bitwise_and, TD_E2(w->f, equal, x->num.re, inf),
                 TD_E1(w->f, logical_not, TD_E1(w->f, isfinite, x->num.im)));
    out->num.im = TD_E3(w->f, select, gone, zero, out->num.im);
}

td_status
fn_cmath(walk *w, const call *c, int number, thing *out)
{
    td_op op = (td_op)td_intrinsics[number].row;
    thing x;

    TD_TRY(want_args(w, c, td_optab[op].name, 1, 1));
    x = c->arg[0];
    TD_TRY(as_complex(w, &x));
    TD_TRY(num_op(w, op, &x, 1, out));
    if (op == OP_exp)
        unsigned_zero(w, &x, out);
    if (x.type->weak && out->type->dt == TD_F64)
        *out = num_convert(w, out, td_type_weak('f'));
    return TD_OK;
}

td_status
fn_clog(walk *w, const call *c, int number, thing *out)
{
    return log_to_base(w, c, number, fn_cmath, out);
}

td_status
fn_polar(walk *w, const call *c, int number, thing *out)
{
    thing x, part[2];

    (void)number;
    TD_TRY(want_args(w, c, "polar", 1, 1));
    x = c->arg[0];
    TD_TRY(as_complex(w, &x));
    TD_TRY(num_op(w, OP_absolute, &x, 1, &part[0]));
    TD_TRY(num_op(w, OP_angle, &x, 1, &part[1]));
    for (int i = 0; i < 2; i++)
        if (x.type->weak)
            part[i] = num_convert(w, &part[i], td_type_weak('f'));
    *out = tuple_of(w, part, 2);
    return TD_OK;
}

static thing
pair_of(calc *k, td_val re, td_val im)
{
    return num_of(k->t->weak ? td_type_weak('c') : td_type_num(td_dtype_complex_of(k->dt)),
                  (td_num){re, im});
}

td_status
fn_rect(walk *w, const call *c, int number, thing *out)
{
    td_val r, zero, odd, flat, gone, re, im;
    calc k;

    (void)number;
    TD_TRY(want_args(w, c, "rect", 2, 2));
    TD_TRY(calc_begin(w, c, "rect", 2, &k));
    r = k.x[0];
    zero = calc_k(&k, 0);
    odd = calc1(&k, OP_logical_not, calc1(&k, OP_isfinite, k.x[1]));
    flat = calc2(&k, OP_equal, k.x[1], zero);
    gone = calc2(&k, OP_bitwise_and, calc2(&k, OP_equal, r, zero), odd); /* 0, whatever the angle */
    im = calc2(&k, OP_multiply, k.x[1], calc2(&k, OP_copysign, calc_k(&k, 1), r));
    im = calc_if(&k, calc1(&k, OP_isnan, r), zero, im); /* where the angle is 0 */
    im = calc_if(&k, flat, im, calc2(&k, OP_multiply, r, calc1(&k, OP_sin, k.x[1])));
    re = calc_if(&k, flat, r, calc2(&k, OP_multiply, r, calc1(&k, OP_cos, k.x[1])));
    re = calc_if(&k, calc2(&k, OP_bitwise_and, calc1(&k, OP_isinf, r), odd), calc_k(&k, INFINITY),
                 re);
    *out = pair_of(&k, calc_if(&k, gone, zero, re), calc_if(&k, gone, zero, im));
    return built(w, c->node);
}

/* complex(re, im); t: the result's type. */
td_status
complex_parts(walk *w, const td_type *t, const call *c, thing *out)
{
    thing part[2];

    for (int i = 0; i < 2; i++) {
        part[i] = c->arg[i];
        TD_TRY(loaded(w, &part[i]));
        if (!is_num(&part[i]) || td_dtype_is_complex(part[i].type->dt))
            return bad(w, c->node, TD_ERR_TYPE, "complex takes two real numbers, not %s",
                       part[i].type->name);
    }
    *out = num_of(t, (td_num){val_as(w, &part[0], td_dtype_real_of(t->dt)),
                              val_as(w, &part[1], td_dtype_real_of(t->dt))});
    return built(w, c->node);
}

/* ---- NumPy's functions ---- */

td_status
fn_logical(walk *w, const call *c, int number, thing *out)
{
    td_op op = (td_op)td_intrinsics[number].row;
    thing x[2];

    TD_TRY(want_args(w, c, td_optab[op].name, td_optab[op].arity, td_optab[op].arity));
    for (uint32_t i = 0; i < c->n; i++)
        TD_TRY(truth(w, &c->arg[i], &x[i]));
    return num_op(w, op, x, (int)c->n, out);
}

td_status
fn_float_power(walk *w, const call *c, int number, thing *out)
{
    thing x[2];

    (void)number;
    TD_TRY(want_args(w, c, "float_power", 2, 2));
    for (int i = 0; i < 2; i++) {
        td_dtype dt = c->arg[i].type->dt;

        x[i] = c->arg[i];
        if (is_num(&x[i]) && !x[i].type->weak)
            x[i] = num_convert(w, &x[i], td_type_num(td_dtype_is_complex(dt) ? TD_C128 : TD_F64));
        else
            TD_TRY(as_float(w, &x[i]));
    }
    return num_ufunc(w, TD_SYN_Pow, &x[0], &x[1], out);
}

td_status
fn_where(walk *w, const call *c, int number, thing *out)
{
    thing x[3];

    (void)number;
    if (c->n == 1 && is_array(c->arg) && box_may(w)) /* where(x) is nonzero(x) */
        return call_stand_in(w, "nonzero", c->arg, &(call){.node = c->node}, out);
    if (c->n != 3)
        return bad(
            w, c->node, TD_ERR_TYPE,
            "where takes a condition and two values in a kernel: it does not list positions");
    TD_TRY(truth(w, &c->arg[0], &x[0]));
    x[1] = c->arg[1];
    x[2] = c->arg[2];
    if (x[0].known && x[1].type == x[2].type)
        return *out = x[0].lit.i ? x[1] : x[2], TD_OK;
    return num_op(w, OP_select, x, 3, out);
}

td_status
fn_clip(walk *w, const call *c, int number, thing *out)
{
    const thing *lo = arg_or_kw(c, 1, "a_min"), *hi = arg_or_kw(c, 2, "a_max");
    bool numba = w->numba;
    td_status st = TD_OK;

    (void)number;
    lo = lo ? lo : arg_or_kw(c, 1, "min");
    hi = hi ? hi : arg_or_kw(c, 2, "max");
    TD_TRY(want_args(w, c, "clip", 1, 3));
    *out = c->arg[0];
    w->numba = false; /* bounds are cast to the array's dtype there, too */
    if (lo && !is_none(lo))
        st = num_op(w, OP_maximum, (thing[]){*out, *lo}, 2, out);
    if (!st && hi && !is_none(hi))
        st = num_op(w, OP_minimum, (thing[]){*out, *hi}, 2, out);
    w->numba = numba;
    return st;
}

static double
largest_of_dtype(td_dtype dt)
{
    return dt == TD_F16 ? 65504 : dt == TD_BF16 ? 0x1.fep127 : dt == TD_F32 ? FLT_MAX : DBL_MAX;
}

td_status
fn_nan_to_num(walk *w, const call *c, int number, thing *out)
{
    static const char *const names[] = {"nan", "posinf", "neginf"};
    thing to[3], is, x = c->arg[0], zero = num_int(0);
    const thing *copy = arg_or_kw(c, 1, "copy");
    double most;

    (void)number;
    TD_TRY(want_args(w, c, "nan_to_num", 1, 5));
    if (copy && !(copy->known && copy->lit.i))
        return bad(w, c->node, TD_ERR_TYPE, "nan_to_num always copies here: copy= is True");
    *out = x;
    if (is_int(&x))
        return TD_OK;
    if (!is_num(&x) || td_dtype_is_complex(x.type->dt))
        return bad(w, c->node, TD_ERR_TYPE, "nan_to_num takes real numbers here, not %s",
                   x.type->name);
    most = largest_of_dtype(x.type->dt);
    for (uint32_t i = 0; i < 3; i++) {
        const thing *given = arg_or_kw(c, 2 + i, names[i]);

        to[i] = given && !is_none(given) ? *given : num_float(i == 0 ? 0 : i == 1 ? most : -most);
        if (i == 0)
            TD_TRY(num_op(w, OP_isnan, &x, 1, &is));
        else
            TD_TRY(num_compare(w, i == 1 ? TD_SYN_Gt : TD_SYN_Lt, &x, &zero, &is));
        if (i > 0) {
            thing inf;

            TD_TRY(num_op(w, OP_isinf, &x, 1, &inf));
            TD_TRY(num_op(w, OP_logical_and, (thing[]){is, inf}, 2, &is));
        }
        TD_TRY(num_op(w, OP_select, (thing[]){is, to[i], *out}, 3, out));
    }
    return TD_OK;
}

/* row 1: isposinf, -1: isneginf */
td_status
fn_infinite(walk *w, const call *c, int number, thing *out)
{
    thing inf = num_float(td_intrinsics[number].row * (double)INFINITY), x;

    TD_TRY(want_args(w, c, "isposinf and isneginf", 1, 1));
    x = c->arg[0];
    TD_TRY(as_float(w, &x));
    return num_compare(w, TD_SYN_Eq, &x, &inf, out);
}

/* row 1: isreal, 0: iscomplex */
td_status
fn_isreal(walk *w, const call *c, int number, thing *out)
{
    bool real = td_intrinsics[number].row;
    thing im, zero = num_int(0);

    TD_TRY(want_args(w, c, "isreal and iscomplex", 1, 1));
    if (!is_num(c->arg))
        return bad(w, c->node, TD_ERR_TYPE, "isreal and iscomplex take numbers and arrays, not %s",
                   c->arg->type->name);
    if (!td_dtype_is_complex(c->arg->type->dt))
        return *out = num_bool(real), TD_OK;
    TD_TRY(num_op(w, OP_imag, c->arg, 1, &im));
    return num_compare(w, real ? TD_SYN_Eq : TD_SYN_NotEq, &im, &zero, out);
}

/* sin(pi x) / (pi x) */
td_status
fn_sinc(walk *w, const call *c, int number, thing *out)
{
    td_val x, zero, r;
    calc k;

    (void)number;
    TD_TRY(want_args(w, c, "sinc", 1, 1));
    TD_TRY(calc_begin(w, c, "sinc", 1, &k));
    zero = calc2(&k, OP_equal, k.x[0], calc_k(&k, 0));
    x = calc2(&k, OP_multiply, calc_k(&k, M_PI), calc_if(&k, zero, calc_k(&k, 1), k.x[0]));
    r = calc2(&k, OP_divide, calc1(&k, OP_sin, x), x);
    *out = calc_end(&k, calc_if(&k, zero, calc_k(&k, 1), r));
    return built(w, c->node);
}

/* ---- methods of numbers ---- */

/* x.astype(dtype) */
td_status
fn_astype(walk *w, const call *c, int number, thing *out)
{
    const thing *dtype = arg_or_kw(c, 1, "dtype");
    const td_type *t;

    (void)number;
    TD_TRY(as_dtype(w, dtype, c->node, &t));
    if (!is_num(c->arg) || t->kind != TD_T_NUM)
        return bad(w, c->node, TD_ERR_TYPE, "%s cannot become %s", c->arg->type->name, t->name);
    if (t->dt == TD_BOOL)
        return truth(w, c->arg, out);
    *out = num_convert(w, c->arg, td_type_num(t->dt));
    return built(w, c->node);
}

td_status
fn_item(walk *w, const call *c, int number, thing *out)
{
    char k;

    (void)number;
    TD_TRY(want_args(w, c, "item", 1, 1));
    *out = c->arg[0];
    TD_TRY(loaded(w, out));
    if (!is_num(out))
        return bad(w, c->node, TD_ERR_TYPE, "item takes one number, not %s", out->type->name);
    k = td_dtype_kind(out->type->dt);
    if (k != 'b' && out->type->dt != TD_U64) /* no int64 holds every uint64 */
        *out = num_convert(w, out, td_type_weak(k == 'u' ? 'i' : k));
    return built(w, c->node);
}

/* x.view(dtype): the bits of x as a number of another dtype of the same size. */
td_status
fn_bits_as(walk *w, const call *c, int number, thing *out)
{
    const td_type *t;
    td_dtype from;

    (void)number;
    TD_TRY(want_args(w, c, "view", 2, 2));
    TD_TRY(as_dtype(w, &c->arg[1], c->node, &t));
    from = c->arg[0].type->dt;
    if (!is_num(c->arg) || t->kind != TD_T_NUM || td_dtype_is_complex(from) ||
        td_dtype_is_complex(t->dt) || td_dtype_size(from) != td_dtype_size(t->dt) ||
        from == TD_BOOL || t->dt == TD_BOOL)
        return bad(w, c->node, TD_ERR_TYPE, "the bits of %s cannot be seen as %s: the sizes differ",
                   c->arg[0].type->name, t->name);
    *out = num_val(t->dt, td_bitcast(w->f, val_as(w, c->arg, from), t->dt));
    return built(w, c->node);
}

td_status
fn_is_integer(walk *w, const call *c, int number, thing *out)
{
    td_val finite, whole;
    calc k;

    (void)number;
    TD_TRY(want_args(w, c, "is_integer", 1, 1));
    TD_TRY(calc_begin(w, c, "is_integer", 1, &k));
    finite = calc1(&k, OP_isfinite, k.x[0]);
    whole = calc2(&k, OP_equal, calc1(&k, OP_round_zero, k.x[0]), k.x[0]);
    *out = num_val(TD_BOOL, calc2(&k, OP_logical_and, finite, whole));
    return built(w, c->node);
}

/* ---- operators ---- */

td_status
fn_binary(walk *w, const call *c, int number, thing *out)
{
    TD_TRY(want_args(w, c, "an operator", 2, 2));
    return num_binary(w, (td_syn)td_intrinsics[number].row, &c->arg[0], &c->arg[1], out);
}

/* operator.iadd and its like: of numbers what `+` gives. */
td_status
fn_in_place(walk *w, const call *c, int number, thing *out)
{
    td_syn op = (td_syn)td_intrinsics[number].row;

    TD_TRY(want_args(w, c, "an operator", 2, 2));
    if (!is_num(&c->arg[0]))
        return bad(w, w->node, TD_ERR_TYPE,
                   "operator's functions that change %s are not compiled: write the statement, as "
                   "x += y",
                   c->arg[0].type->name);
    return num_binary(w, op, &c->arg[0], &c->arg[1], out);
}

td_status
fn_ufunc(walk *w, const call *c, int number, thing *out)
{
    TD_TRY(want_args(w, c, "an operator", 2, 2));
    return num_ufunc(w, (td_syn)td_intrinsics[number].row, &c->arg[0], &c->arg[1], out);
}

td_status
fn_compare(walk *w, const call *c, int number, thing *out)
{
    TD_TRY(want_args(w, c, "a comparison", 2, 2));
    return num_compare(w, (td_syn)td_intrinsics[number].row, &c->arg[0], &c->arg[1], out);
}

td_status
fn_unary(walk *w, const call *c, int number, thing *out)
{
    TD_TRY(want_args(w, c, "an operator", 1, 1));
    return num_unary(w, (td_syn)td_intrinsics[number].row, &c->arg[0], out);
}

td_status
fn_truth(walk *w, const call *c, int number, thing *out)
{
    (void)number;
    TD_TRY(want_args(w, c, "truth", 1, 1));
    return truth(w, &c->arg[0], out);
}

td_status
fn_getitem(walk *w, const call *c, int number, thing *out)
{
    (void)number;
    TD_TRY(want_args(w, c, "getitem", 2, 2));
    if (c->arg[0].type->kind == TD_T_TUPLE)
        return tuple_index(w, &c->arg[0], &c->arg[1], c->node, out);
    if (c->arg[0].type->kind == TD_T_ARRAY)
        return array_index(w, &c->arg[0], &c->arg[1], c->node, out);
    return bad(w, c->node, TD_ERR_TYPE, "%s cannot be indexed in a kernel", c->arg[0].type->name);
}
