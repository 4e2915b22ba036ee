/* wholefn.c - functions of integers: divisors, roots, combinations, bits. */
#include "front/expr/calc.h"

#include <string.h>

static td_status
want_ints(walk *w, const call *c, const char *what)
{
    for (uint32_t i = 0; i < c->n; i++) {
        TD_TRY(loaded(w, &c->arg[i]));
        if (!is_int(&c->arg[i]))
            return bad(w, c->node, TD_ERR_TYPE, "%s takes integers, not %s", what,
                       c->arg[i].type->name);
    }
    return TD_OK;
}

/* gcd(), lcm() of any number of arguments. */
td_status
fn_gcd(walk *w, const call *c, int number, thing *out)
{
    td_op op = (td_op)td_intrinsics[number].row;
    thing unit = num_int(op == OP_lcm);

    TD_TRY(want_ints(w, c, td_optab[op].name));
    *out = unit;
    for (uint32_t i = 0; i < c->n; i++)
        TD_TRY(num_op(w, op, (thing[]){c->arg[i], i ? *out : unit}, 2, out));
    out->nonneg = true;
    return TD_OK;
}

/* The float64 root is at most one off; its square fits uint64. */
td_status
fn_isqrt(walk *w, const call *c, int number, thing *out)
{
    td_val n, r, one, big;

    (void)number;
    TD_TRY(want_args(w, c, "isqrt", 1, 1));
    TD_TRY(want_ints(w, c, "isqrt"));
    n = td_cast(w->f,
                TD_E2(w->f, maximum, val_as(w, &c->arg[0], TD_I64), td_const_int(w->f, TD_I64, 0)),
                TD_U64);
    one = td_const_int(w->f, TD_U64, 1);
    r = td_cast(w->f, TD_E1(w->f, sqrt, td_cast(w->f, n, TD_F64)), TD_U64);
    big = TD_E2(w->f, greater, TD_E2(w->f, multiply, r, r), n);
    r = TD_E3(w->f, select, big, TD_E2(w->f, subtract, r, one), r);
    big = TD_E2(w->f, add, r, one);
    r = TD_E3(w->f, select, TD_E2(w->f, less_equal, TD_E2(w->f, multiply, big, big), n), big, r);
    *out = num_index(td_cast(w->f, r, TD_I64), true);
    return built(w, c->node);
}

/* The product of f(i) = from + up * i for i in [lo, hi).  divided: divides by i + 1 after each factor. */
static thing
wholefn_product(walk *w, td_val lo, td_val hi, td_val from, int up, bool divided)
{
    td_val one = td_const_int(w->f, TD_I64, 1), r = td_slot(w->f, TD_I64, 1), i, v;

    td_set(w->f, r, one);
    i = td_for(w->f, lo, hi, one);
    v = up > 0 ? TD_E2(w->f, add, from, i) : TD_E2(w->f, subtract, from, i);
    v = TD_E2(w->f, multiply, td_get(w->f, r), v);
    if (divided)
        v = TD_E2(w->f, truncate_divide, v, TD_E2(w->f, add, i, one));
    td_set(w->f, r, v);
    td_end(w->f);
    return num_index(td_get(w->f, r), true);
}

td_status
fn_factorial(walk *w, const call *c, int number, thing *out)
{
    td_val one = td_const_int(w->f, TD_I64, 1);

    (void)number;
    TD_TRY(want_args(w, c, "factorial", 1, 1));
    TD_TRY(want_ints(w, c, "factorial"));
    *out = wholefn_product(w, td_const_int(w->f, TD_I64, 0), val_as(w, &c->arg[0], TD_I64), one, 1,
                           false);
    return built(w, c->node);
}

/* row 0: comb(n, k); 1: perm(n, k=n).  0 where k > n. */
td_status
fn_comb(walk *w, const call *c, int number, thing *out)
{
    bool perm = td_intrinsics[number].row;
    td_val zero = td_const_int(w->f, TD_I64, 0), n, k, many, none;
    call nums = *c;
    thing r;

    TD_TRY(want_args(w, c, perm ? "perm" : "comb", perm ? 1 : 2, 2));
    if (c->n == 2 && is_none(&c->arg[1]))
        nums.n = 1;
    TD_TRY(want_ints(w, &nums, perm ? "perm" : "comb"));
    n = val_as(w, &c->arg[0], TD_I64);
    k = nums.n == 2 ? val_as(w, &c->arg[1], TD_I64) : n;
    none = TD_E2(w->f, greater, k, n);
    /* comb(n, k) is comb(n, n - k) */
    many = perm ? k : TD_E2(w->f, minimum, k, TD_E2(w->f, subtract, n, k));
    r = wholefn_product(w, zero, many, n, -1, !perm);
    *out = num_index(TD_E3(w->f, select, none, zero, r.num.re), true);
    return built(w, c->node);
}

/* int.bit_count: how many bits of |x| are 1; NumPy's gives a uint8. */
td_status
fn_bit_count(walk *w, const call *c, int number, thing *out)
{
    td_dtype dt;
    td_val x;

    TD_TRY(want_args(w, c, "bit_count", 1, 1));
    TD_TRY(want_ints(w, c, "bit_count"));
    dt = (td_dtype)c->arg[0].type->dt;
    x = val_as(w, &c->arg[0], td_dtab[dt].kind == 'u' ? TD_U64 : TD_I64);
    if (td_dtab[dt].kind != 'u')
        x = td_cast(w->f, TD_E1(w->f, absolute, x), TD_U64);
    x = td_cast(w->f, TD_E1(w->f, popcount, x), TD_I64);
    *out = num_index(x, true);
    if (td_intrinsics[number].row || !c->arg[0].type->weak)
        *out = num_convert(w, out, td_type_num(TD_U8));
    return built(w, c->node);
}

/* int.bit_length: the bits of |x|. */
td_status
fn_bit_length(walk *w, const call *c, int number, thing *out)
{
    td_val x, r, bit, shift;

    (void)number;
    TD_TRY(want_args(w, c, "bit_length", 1, 1));
    TD_TRY(want_ints(w, c, "bit_length"));
    x = td_cast(w->f, TD_E1(w->f, absolute, val_as(w, &c->arg[0], TD_I64)), TD_U64);
    r = td_const_int(w->f, TD_I64, 0);
    for (int half = 32; half; half /= 2) { /* is there a bit in the upper half? */
        shift = td_const_int(w->f, TD_U64, half);
        bit = TD_E2(w->f, not_equal, TD_E2(w->f, right_shift, x, shift),
                    td_const_int(w->f, TD_U64, 0));
        r = TD_E2(w->f, add, r,
                  TD_E3(w->f, select, bit, td_const_int(w->f, TD_I64, half),
                        td_const_int(w->f, TD_I64, 0)));
        x = TD_E3(w->f, select, bit, TD_E2(w->f, right_shift, x, shift), x);
    }
    *out = num_index(TD_E2(w->f, add, r, td_cast(w->f, x, TD_I64)), true);
    return built(w, c->node);
}

/* operator.index */
td_status
fn_index_of(walk *w, const call *c, int number, thing *out)
{
    (void)number;
    TD_TRY(want_args(w, c, "index", 1, 1));
    TD_TRY(want_ints(w, c, "index"));
    *out = c->arg[0];
    return TD_OK;
}
