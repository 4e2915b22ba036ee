/* exactcall.c - calls in exact functions: which of the known functions give CPython's results, and where.
 *
 * A row of intrinsic.def that no rule names is refused: NumPy's functions make NumPy's numbers, and some of
 * Python's (gamma) compute in a way of their own.  Those that the host has in Python (td_host.spelled: hypot, sum,
 * comb) do not come here.
 */
#include "front/infer/exact.h"
#include "front/infer/intrin.h"

#include <math.h>

typedef td_status rule(walk *w, const call *c, int number, thing *out);

static td_status
as_it_is(walk *w, const call *c, int number, thing *out)
{
    return td_intrinsics[number].fn(w, c, number, out);
}

/* ---- functions of floats ---- */

/* Converts the arguments to floats.  A result that is not finite although the arguments are is
 * left to Python. */
static td_status
by_domain(walk *w, const call *c, int number, thing *out)
{
    td_val x[TD_MAXARG];
    uint32_t n = 0;

    for (uint32_t i = 0; i < c->n; i++) {
        if (!is_num(&c->arg[i]) || td_dtype_is_complex((td_dtype)c->arg[i].type->dt))
            return bad(w, c->node, TD_ERR_TYPE, "math's functions take real numbers, not %s",
                       c->arg[i].type->name);
        if (i == 0 || td_intrinsics[number].fn != fn_ldexp) /* whose exponent is an int */
            exact_float(w, &c->arg[i]);
        if (c->arg[i].type->dt == TD_F64 && n < TD_MAXARG)
            x[n++] = val_as(w, &c->arg[i], TD_F64);
    }
    TD_TRY(as_it_is(w, c, number, out));
    if (is_num(out) && out->type->dt == TD_F64)
        exact_domain(w, val_as(w, out, TD_F64), x, n);
    return built(w, c->node);
}

static td_status
by_row(walk *w, const call *c, int number, thing *out)
{
    td_op op = (td_op)td_intrinsics[number].row;

    if (op == OP_gamma || op == OP_lgamma)
        return bad(w, c->node, TD_ERR_TYPE, "CPython computes %s in a way of its own",
                   td_optab[op].name);
    return by_domain(w, c, number, out);
}

/* log(x, base) is a quotient of two. */
static td_status
by_log(walk *w, const call *c, int number, thing *out)
{
    call one = {.node = c->node, .n = 1, .arg = c->arg};
    thing x, base;

    TD_TRY(want_args(w, c, "log", 1, 2));
    if (c->n == 1)
        return by_domain(w, &one, number, out);
    TD_TRY(by_domain(w, &one, number, &x));
    one.arg = &c->arg[1];
    TD_TRY(by_domain(w, &one, number, &base));
    return exact_binary(w, TD_SYN_Div, &x, &base, out);
}

/* Whole numbers of floats that int64 holds. */
static void
flag_far(walk *w, const thing *x)
{
    td_val size = TD_E1(w->f, fabs, val_as(w, x, TD_F64));

    exact_flag(w,
               TD_E1(w->f, logical_not, TD_E2(w->f, less, size, td_const(w->f, TD_F64, 0x1p63))));
}

static td_status
to_int(walk *w, const call *c, int number, thing *out)
{
    TD_TRY(want_args(w, c, "floor, ceil, trunc", 1, 1));
    exact_pure(w, &c->arg[0], EXACT_BOOL);
    if (c->arg[0].type->dt == TD_F64)
        flag_far(w, &c->arg[0]);
    return as_it_is(w, c, number, out);
}

/* ---- round ---- */

/* round(x, n): x * 10**n, rounded, over 10**n, where it is not near the middle between two: then the decimal digits
 * that Python looks at say the same.  Both of them are floats that hold what they should, so the quotient is the
 * float nearest to those digits. */
static td_status
round_digits(walk *w, const thing *x, int64_t n, thing *out)
{
    td_val ten, y, near, off, close;

    if (n < 0 || n > 22)
        return bad(w, w->node, TD_ERR_TYPE, "round to %lld digits", (long long)n);
    if (is_int(x)) {
        *out = num_convert(w, x, td_type_weak('i'));
        return TD_OK;
    }
    ten = td_const(w->f, TD_F64, pow(10, (double)n));
    y = TD_E2(w->f, multiply, val_as(w, x, TD_F64), ten);
    near = TD_E1(w->f, rint, y);
    off = TD_E1(w->f, fabs, TD_E2(w->f, subtract, y, near)); /* exact; the middle is 0.5 */
    close = TD_E2(w->f, multiply, TD_E1(w->f, fabs, y), td_const(w->f, TD_F64, 0x1p-51));
    exact_flag(
        w, TD_E2(w->f, greater_equal, TD_E2(w->f, add, off, close), td_const(w->f, TD_F64, 0.5)));
    exact_flag(w, TD_E1(w->f, logical_not, TD_E2(w->f, less, close, td_const(w->f, TD_F64, 0.5))));
    *out = num_of(td_type_weak('f'), td_num_of(TD_E2(w->f, divide, near, ten)));
    return built(w, w->node);
}

static td_status
exact_round(walk *w, const call *c, int number, thing *out)
{
    const thing *digits = arg_or_kw(c, 1, "ndigits");
    int64_t n;

    TD_TRY(want_args(w, c, "round", 1, 2));
    exact_pure(w, &c->arg[0], EXACT_BOOL);
    if (!is_num(&c->arg[0]) || c->arg[0].type->dt == TD_C128)
        return bad(w, c->node, TD_ERR_TYPE, "round takes a real number, not %s",
                   c->arg[0].type->name);
    if (digits && !is_none(digits))
        return known_int(digits, &n)
                   ? round_digits(w, &c->arg[0], n, out)
                   : bad(w, c->node, TD_ERR_TYPE, "round to digits that are not a constant");
    if (is_int(&c->arg[0])) {
        *out = num_convert(w, &c->arg[0], td_type_weak('i'));
        return TD_OK;
    }
    flag_far(w, &c->arg[0]);
    return as_it_is(w, &(call){.node = c->node, .n = 1, .arg = c->arg}, number, out);
}

/* ---- abs, min, max ---- */

static td_status
absolute(walk *w, const call *c, int number, thing *out)
{
    thing x = c->arg[0], minus, zero = num_int(0), less;

    TD_TRY(want_args(w, c, "abs", 1, 1));
    if (!is_num(&x))
        return bad(w, c->node, TD_ERR_TYPE, "abs takes a number, not %s", x.type->name);
    if (is_numpy(&x)) {
        const thing *from[] = {&c->arg[0]};

        if (x.type->dt == TD_BOOL)
            return bad(w, c->node, TD_ERR_TYPE, "abs of a bool is left to NumPy");
        x = numpy_plain(w, &x);
        TD_TRY(absolute(w, &(call){.node = c->node, .n = 1, .arg = &x}, number, &minus));
        *out = numpy_like(w, &minus, from, 1);
        return built(w, c->node);
    }
    if (is_complex(&x))
        return complex_absolute(w, &x, out);
    if (x.type->dt == TD_F64 && !is_mixed(&x))
        return as_it_is(w, c, number, out);
    if (x.type->dt == TD_BOOL && !is_mixed(&x)) {
        *out = num_convert(w, &x, td_type_weak('i'));
        return TD_OK;
    }
    if (x.type->dt == TD_I64)
        exact_pure(w, &x, EXACT_BOOL);
    TD_TRY(exact_unary(w, TD_SYN_USub, &x, &minus));
    TD_TRY(exact_compare(w, TD_SYN_Lt, &x, &zero, &less));
    TD_TRY(exact_binary(w, TD_SYN_Add, &x, &zero, &x)); /* a bool becomes an int, and -0.0 0.0 */
    return exact_select(w, &less, &minus, &x, out);
}

/* The first of equals, as it is. */
static td_status
exact_extreme(walk *w, const call *c, int number, thing *out)
{
    bool is_min = td_intrinsics[number].row == OP_minimum;
    const thing *x = c->arg;
    uint32_t n = c->n;
    thing less;

    if (n == 1 && x->type->kind == TD_T_TUPLE) {
        n = x->type->n;
        x = x->item;
    } else if (n == 1) {
        return bad(w, c->node, TD_ERR_TYPE, "min and max take numbers or a tuple, not %s",
                   x->type->name);
    }
    if (!n)
        return bad(w, c->node, TD_ERR_VALUE, "%s of nothing", is_min ? "min" : "max");
    *out = x[0];
    for (uint32_t i = 1; i < n; i++) {
        thing first = *out;

        if (!is_num(&first) || !is_num(&x[i]))
            return bad(w, c->node, TD_ERR_TYPE, "min and max take numbers, not %s",
                       x[i].type->name);
        TD_TRY(num_compare(w, is_min ? TD_SYN_Lt : TD_SYN_Gt, &x[i], &first, &less));
        TD_TRY(exact_select(w, &less, &x[i], &first, out));
    }
    return TD_OK;
}

/* ---- whole numbers, loops ---- */

static td_status
ints(walk *w, const call *c, int number, thing *out)
{
    for (uint32_t i = 0; i < c->n; i++) {
        exact_pure(w, &c->arg[i], EXACT_BOOL);
        if (!is_int(&c->arg[i]))
            return bad(w, c->node, TD_ERR_TYPE, "an int is needed here, not %s",
                       c->arg[i].type->name);
        c->arg[i] = num_convert(w, &c->arg[i], td_type_weak('i'));
    }
    return as_it_is(w, c, number, out);
}

/* Iterations are counted in int64, whatever the step; a step of 0 raises. */
static td_status
exact_range(walk *w, const call *c, int number, thing *out)
{
    td_val far = td_const_int(w->f, TD_I64, INT64_C(1) << 61);

    TD_TRY(ints(w, c, number, out));
    for (uint32_t i = 0; i < c->n; i++) {
        td_val v;

        if (c->arg[i].small)
            continue;
        v = val_as(w, &c->arg[i], TD_I64);
        exact_flag(w, TD_E2(w->f, greater, v, far));
        exact_flag(w, TD_E2(w->f, less, v, TD_E1(w->f, negative, far)));
    }
    if (c->n == 3 && !c->arg[2].known)
        exact_flag(
            w, TD_E2(w->f, equal, val_as(w, &c->arg[2], TD_I64), td_const_int(w->f, TD_I64, 0)));
    return built(w, c->node);
}

static td_status
exact_sqrt(walk *w, const call *c, int number, thing *out)
{
    TD_TRY(ints(w, c, number, out));
    for (uint32_t i = 0; i < c->n; i++)
        exact_flag(w,
                   TD_E2(w->f, less, val_as(w, &c->arg[i], TD_I64), td_const_int(w->f, TD_I64, 0)));
    return built(w, c->node);
}

/* isinstance(x, classes): of Python's numbers of several kinds the tag tells when running. */
static td_status
exact_isinstance(walk *w, const call *c, int number, thing *out)
{
    const thing *x = c->arg;
    thing *arg = td_alloc(w->mem, (c->n + 1) * sizeof *arg);
    uint32_t yes = 0, kinds;
    call one = *c;

    if (!c->n || !is_mixed(x))
        return as_it_is(w, c, number, out);
    kinds = x->type->object;
    if (kinds & EXACT_ALL_NUMPY)
        return bad(w, c->node, TD_ERR_TYPE, "isinstance of what is %s as it comes", x->type->name);
    one.arg = arg;
    for (uint32_t k = 1; k < c->n; k++)
        arg[k] = c->arg[k];
    for (uint32_t kind = 1; kind <= kinds; kind <<= 1) {
        if (!(kinds & kind))
            continue;
        arg[0] = (thing){.type = td_type_mixed(kind)};
        TD_TRY(as_it_is(w, &one, number, out));
        yes |= out->lit.i ? kind : 0;
    }
    *out = num_of(td_type_num(TD_BOOL),
                  td_num_of(TD_E2(w->f, not_equal,
                                  TD_E2(w->f, bitwise_and, x->tag, td_const_int(w->f, TD_U8, yes)),
                                  td_const_int(w->f, TD_U8, 0))));
    return built(w, c->node);
}

static td_status
is_whole(walk *w, const call *c, int number, thing *out)
{
    if (c->n && (is_mixed(&c->arg[0]) || c->arg[0].type->dt != TD_F64))
        return bad(w, c->node, TD_ERR_TYPE, "is_integer is a float's method");
    return as_it_is(w, c, number, out);
}

/* ---- the rules ---- */

static const struct {
    intrinsic_fn *fn;
    rule *how;
    bool keywords;
} rules[] = {
    {fn_math, by_row, false},         {fn_math_pow, by_domain, false},
    {fn_log, by_log, false},          {fn_remainder, by_domain, false},
    {fn_ldexp, by_domain, false},     {fn_frexp, by_domain, false},
    {fn_modf, by_domain, false},      {fn_ulp, by_domain, false},
    {fn_to_int, to_int, false},       {fn_round, exact_round, true},
    {fn_abs, absolute, false},        {fn_minmax, exact_extreme, false},
    {fn_pow, as_it_is, false},        {fn_divmod, as_it_is, false},
    {fn_range, exact_range, false},   {fn_len, as_it_is, false},
    {fn_enumerate, as_it_is, false},  {fn_zip, as_it_is, false},
    {fn_reversed, as_it_is, false},   {fn_isinstance, exact_isinstance, false},
    {fn_binary, as_it_is, false},     {fn_in_place, as_it_is, false},
    {fn_ufunc, as_it_is, false},      {fn_compare, as_it_is, false},
    {fn_unary, as_it_is, false},      {fn_truth, as_it_is, false},
    {fn_index_of, ints, false},       {fn_isqrt, exact_sqrt, false},
    {fn_is_integer, is_whole, false}, {fn_bit_length, ints, false},
};

/* min and max have a rule, but of a list: there Python's text goes through it. */
bool
exact_has_rule(int number, const call *c)
{
    return td_intrinsics[number].fn == fn_minmax && !(c->n == 1 && is_list(c->arg));
}

/* What Python's functions make of NumPy scalars: of most the same as of its own numbers. */
static td_status
without_scalars(walk *w, int number, const call *c)
{
    intrinsic_fn *fn = td_intrinsics[number].fn;

    for (uint32_t i = 0; i < c->n; i++) {
        const thing *x = &c->arg[i];

        if (!is_num(x) || !is_numpy(x) || fn == fn_minmax || fn == fn_binary || fn == fn_in_place ||
            fn == fn_unary || fn == fn_compare || fn == fn_truth)
            continue;
        if ((fn == fn_abs && !exact_kinds(x->type)) || fn == fn_pow || fn == fn_divmod ||
            fn == fn_isinstance || fn == fn_is_integer || fn == fn_bit_length ||
            (fn == fn_round && (c->n > 1 || c->nkw)))
            return bad(w, c->node, TD_ERR_TYPE, "this function of %s is left to NumPy",
                       x->type->name);
        if (fn != fn_abs)
            c->arg[i] = numpy_number(w, x);
    }
    return TD_OK;
}

td_status
exact_call(walk *w, int number, const call *c, thing *out)
{
    TD_TRY(without_scalars(w, number, c));
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (rules[i].fn == td_intrinsics[number].fn) {
            if (c->nkw && !rules[i].keywords)
                return bad(w, c->node, TD_ERR_TYPE,
                           "keyword arguments of this function are Python's alone");
            return rules[i].how(w, c, number, out);
        }
    return bad(w, c->node, TD_ERR_TYPE, "this function's results are Python's alone");
}

td_status
exact_convert(walk *w, const td_type *t, const call *c, thing *out)
{
    thing x, zero = num_int(0);

    if (t->kind != TD_T_NUM || !(t->weak || t->dt == TD_BOOL) || c->nkw)
        return bad(w, c->node, TD_ERR_TYPE, "%s makes NumPy's numbers", t->name);
    if (t->dt == TD_C128 && c->n == 2) {
        for (int i = 0; i < 2; i++) {
            if (!is_num(&c->arg[i]) || td_dtype_is_complex((td_dtype)c->arg[i].type->dt))
                return bad(w, c->node, TD_ERR_TYPE, "complex takes two real numbers");
            exact_float(w, &c->arg[i]);
        }
        return complex_parts(w, t, c, out);
    }
    TD_TRY(want_args(w, c, t->name, 0, 1));
    x = c->n ? c->arg[0] : zero;
    if (t->dt == TD_BOOL) {
        TD_TRY(truth(w, &x, &x));
        *out = numpy_plain(w, &x);
        return TD_OK;
    }
    if (is_numpy(&x))
        x = numpy_number(w, &x);
    if (!is_num(&x) || (is_complex(&x) && !is_mixed(&x) && t->dt != TD_C128))
        return bad(w, c->node, TD_ERR_TYPE, "%s cannot convert %s", t->name, x.type->name);
    if (t->dt == TD_C128) {
        exact_none(w, &x);
        *out = num_of(t, exact_pair(w, &x, false));
        return built(w, c->node);
    }
    if (t->dt == TD_F64) {
        exact_float(w, &x);
        *out = num_convert(w, &x, t);
        return TD_OK;
    }
    exact_pure(w, &x, EXACT_REAL); /* a mixed one's value is an int's already, or a float's */
    if (x.type->dt == TD_F64)
        flag_far(w, &x);
    *out = num_convert(w, &x, t);
    return built(w, c->node);
}
