/* roundfn.c - round and numpy.round: to a multiple of a power of ten, ties to even. */
#include "front/infer/intrin.h"

#include <math.h>

/* The number of digits after the decimal point; negative: before it. */
typedef struct digits {
    thing n;       /* an integer */
    thing size;    /* |n| */
    td_val before; /* bool: n is below 0 */
} digits;

static td_status
digits_of(walk *w, const thing *n, digits *d)
{
    td_val v;

    d->n = *n;
    TD_TRY(loaded(w, &d->n));
    if (!is_int(&d->n))
        return bad(w, w->node, TD_ERR_TYPE, "round to %s digits: their number is an integer",
                   n->type->name);
    v = val_as(w, &d->n, TD_I64);
    d->before = TD_E2(w->f, less, v, td_const_int(w->f, TD_I64, 0));
    d->size = d->n.known ? num_int(d->n.lit.i < 0 ? -d->n.lit.i : d->n.lit.i)
                         : num_index(TD_E1(w->f, absolute, v), true);
    return TD_OK;
}

/* ---- integers ---- */

/* 10**19 is the largest power of ten in 64 bits.  Rounding any integer to more digits before the point gives 0. */
enum { MOST_DIGITS = 19 };

static td_val
power_of_ten(walk *w, const digits *d)
{
    td_val most = td_const_int(w->f, TD_I64, MOST_DIGITS), m = val_as(w, &d->size, TD_I64);

    m = td_cast(w->f, TD_E2(w->f, minimum, m, most), TD_U64);
    return TD_E2(w->f, power, td_const_int(w->f, TD_U64, 10), m);
}

/* Rounds the integer x by its magnitude as uint64, which fits even for the dtype's least number.  A result that the
 * dtype cannot hold wraps. */
static td_status
round_int(walk *w, const thing *x, const digits *d, thing *out)
{
    td_dtype dt = x->type->dt;
    td_val v = num_as(w, x, dt).re, zero = td_const_int(w->f, dt, 0), below, size, unit, count,
           rest, other, up, r, all, gone;

    below = td_dtype_kind(dt) == 'i' ? TD_E2(w->f, less, v, zero) : td_const_int(w->f, TD_BOOL, 0);
    size = td_cast(w->f, v, TD_U64);
    size = TD_E3(w->f, select, below, TD_E1(w->f, negative, size), size);
    unit = power_of_ten(w, d);
    count = TD_E2(w->f, floor_divide, size, unit);
    rest = TD_E2(w->f, subtract, size, TD_E2(w->f, multiply, count, unit));
    other = TD_E2(w->f, subtract, unit, rest);
    up = TD_E2(w->f, equal, TD_E2(w->f, bitwise_and, count, td_const_int(w->f, TD_U64, 1)),
               td_const_int(w->f, TD_U64, 1));
    up = TD_E2(w->f, logical_or, TD_E2(w->f, greater, rest, other),
               TD_E2(w->f, logical_and, TD_E2(w->f, equal, rest, other), up));
    count = TD_E2(w->f, add, count, td_cast(w->f, up, TD_U64));
    r = TD_E2(w->f, multiply, count, unit);
    r = td_cast(w->f, TD_E3(w->f, select, below, TD_E1(w->f, negative, r), r), dt);
    all = TD_E1(w->f, logical_not, d->before);
    gone =
        TD_E2(w->f, greater, val_as(w, &d->size, TD_I64), td_const_int(w->f, TD_I64, MOST_DIGITS));
    r = TD_E3(w->f, select, all, v, TD_E3(w->f, select, gone, zero, r));
    *out = num_of(x->type, (td_num){r, TD_NONE});
    out->nonneg = x->nonneg && dt != TD_I64;
    return built(w, w->node);
}

/* ---- floats ---- */

/* Python rounds the exact value of a float.  Here x times the scale is rounded first, which can give a tie where the
 * exact product is none: the sign of the rounding error says on which side of the tie it is. */
static td_status
off_the_tie(walk *w, const thing *x, const thing *scale, const digits *d, const thing *y, thing *z)
{
    td_val xv = val_as(w, x, TD_F64), s = val_as(w, scale, TD_F64), yv = val_as(w, y, TD_F64),
           zv = val_as(w, z, TD_F64), zero = td_const(w->f, TD_F64, 0),
           half = td_const(w->f, TD_F64, 0.5), low, high, rest, tie;

    low = TD_E3(w->f, fma, xv, s, TD_E1(w->f, negative, yv));
    high = TD_E3(w->f, fma, TD_E1(w->f, negative, yv), s, xv);
    rest = TD_E3(w->f, select, d->before, high, low);
    tie = TD_E2(w->f, equal, TD_E1(w->f, absolute, TD_E2(w->f, subtract, yv, zv)), half);
    tie = TD_E2(w->f, logical_and, tie, TD_E2(w->f, not_equal, rest, zero));
    half = TD_E2(w->f, add, yv, TD_E2(w->f, copysign, half, rest));
    *z = num_of(z->type, (td_num){TD_E3(w->f, select, tie, half, zv), TD_NONE});
    return built(w, w->node);
}

/* cond ? a : b, for a bool cond; both have out's type. */
static td_status
pick_where(walk *w, td_val cond, const thing *a, const thing *b, thing *out)
{
    thing c = num_val(TD_BOOL, cond);

    return num_op(w, OP_select, (thing[]){c, *a, *b}, 3, out);
}

/* Multiplies x by 10**|n|, or divides by it if n is negative; rounds; and scales back. */
static td_status
round_float(walk *w, const thing *x, const digits *d, bool exact, thing *out)
{
    thing ten = num_float(10), scale, up, down, y, z;

    TD_TRY(num_binary(w, TD_SYN_Pow, &ten, &d->size, &scale));
    scale = num_convert(w, &scale, x->type); /* under Numba's types it is no Python number */
    TD_TRY(num_op(w, OP_multiply, (thing[]){*x, scale}, 2, &up));
    /* Python's division would raise for 0 */
    TD_TRY(num_op(w, OP_divide, (thing[]){*x, scale}, 2, &down));
    TD_TRY(pick_where(w, d->before, &down, &up, &y));
    TD_TRY(num_op(w, OP_rint, &y, 1, &z));
    if (exact)
        TD_TRY(off_the_tie(w, x, &scale, d, &y, &z));
    TD_TRY(num_op(w, OP_multiply, (thing[]){z, scale}, 2, &up));
    TD_TRY(num_op(w, OP_divide, (thing[]){z, scale}, 2, &down));
    TD_TRY(pick_where(w, d->before, &up, &down, out));
    return built(w, w->node);
}

/* round_float for Python's round.  Gives x where the product is too large to have digits to round, and 0 where x was
 * divided by an infinite 10**|n|. */
static td_status
round_to(walk *w, const thing *x, const digits *d, thing *out)
{
    bool exact = x->type->weak && x->type->dt == TD_F64;
    thing ten = num_float(10), scale, y, whole;
    td_val large, none;
    td_dtype dt;

    TD_TRY(round_float(w, x, d, exact, out));
    dt = (td_dtype)out->type->dt;
    TD_TRY(num_binary(w, TD_SYN_Pow, &ten, &d->size, &scale));
    scale = num_convert(w, &scale, x->type); /* under Numba's types it is no Python number */
    TD_TRY(num_op(w, OP_multiply, (thing[]){*x, scale}, 2, &y));
    /* from 2**53 on, y is an integer: x has no digits to round */
    whole = num_float(exact ? 9007199254740992.0 : (double)INFINITY);
    TD_TRY(num_op(w, OP_absolute, &y, 1, &y));
    TD_TRY(num_op(w, OP_less, (thing[]){y, whole}, 2, &y));
    large = TD_E2(w->f, logical_and, TD_E1(w->f, logical_not, d->before),
                  TD_E1(w->f, logical_not, val_as(w, &y, TD_BOOL)));
    large = TD_E2(w->f, logical_or, large,
                  TD_E1(w->f, logical_not, TD_E1(w->f, isfinite, val_as(w, x, dt))));
    none = TD_E2(w->f, logical_and, d->before,
                 TD_E1(w->f, logical_not, TD_E1(w->f, isfinite, val_as(w, &scale, dt))));
    *out =
        num_of(out->type,
               td_num_of(TD_E3(w->f, select, large, val_as(w, x, dt),
                               TD_E3(w->f, select, none,
                                     TD_E2(w->f, copysign, td_const(w->f, dt, 0), val_as(w, x, dt)),
                                     val_as(w, out, dt)))));
    return built(w, w->node);
}

/* round(x), an int, ties to even; round(x, n). */
td_status
fn_round(walk *w, const call *c, int number, thing *out)
{
    const thing *n = arg_or_kw(c, 1, "ndigits");
    thing x = c->arg[0];
    digits d;

    (void)number;
    TD_TRY(want_args(w, c, "round", 1, 2));
    TD_TRY(loaded(w, &x));
    if (!is_num(&x) || td_dtype_is_complex(x.type->dt))
        return bad(w, c->node, TD_ERR_TYPE, "round takes a real number, not %s", x.type->name);
    if (x.type->dt == TD_BOOL)
        x = num_convert(w, &x, td_type_weak('i'));
    if (!n || is_none(n)) {
        *out = x;
        if (is_int(&x))
            return TD_OK;
        TD_TRY(num_op(w, OP_rint, &x, 1, out));
        *out = num_convert(w, out, td_type_weak('i'));
        return TD_OK;
    }
    TD_TRY(digits_of(w, n, &d));
    return is_int(&x) ? round_int(w, &x, &d, out) : round_to(w, &x, &d, out);
}

/* numpy.round(x, decimals=0): ties to even; the result has x's dtype. */
td_status
fn_np_round(walk *w, const call *c, int number, thing *out)
{
    const thing *decimals = arg_or_kw(c, 1, "decimals");
    thing x = c->arg[0];
    digits d;

    (void)number;
    TD_TRY(want_args(w, c, "round", 1, 2));
    if (!decimals || (decimals->known && is_int(decimals) && decimals->lit.i == 0))
        return is_int(&x) ? (*out = x, TD_OK) : num_op(w, OP_rint, &x, 1, out);
    TD_TRY(digits_of(w, decimals, &d));
    if (x.type->dt == TD_BOOL)
        return *out = x, TD_OK;
    return is_int(&x) ? round_int(w, &x, &d, out) : round_float(w, &x, &d, false, out);
}
