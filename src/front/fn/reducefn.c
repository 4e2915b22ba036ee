/* reducefn.c - NumPy's and Python's functions that reduce: sums, means, deviations, products, any and all. */
#include "front/infer/lazy.h"

#include <math.h>
#include <string.h>

/* ---- NumPy's functions ---- */

/* x op y, of numbers or arrays. */
static td_status
binary_things(walk *w, td_syn op, const thing *x, const thing *y, thing *out)
{
    if (is_array(x) || is_array(y))
        return array_operator(w, fn_binary, op, (thing[]){*x, *y}, 2, out);
    return num_binary(w, op, x, y, out);
}

/* An element of the mean, broadcast along the axis that was reduced.  operand: the mean, which lacks that axis. */
static td_status
broadcast_back_element(walk *w, const thing *self, const nest *at, thing *out)
{
    nest s = {.n = at->n - 1};

    for (uint32_t i = 0, m = 0; i < at->n; i++)
        if (i != self->lazy->axis) {
            s.at[m] = at->at[i];
            s.shape[m++] = at->shape[i];
        }
    return element_at(w, &self->lazy->c.arg[0], &s, out);
}

static td_status
broadcast_back(walk *w, const thing *mean, const thing *a, const thing *axis, thing *out)
{
    call c = {.node = w->node, .n = 1, .arg = td_alloc(w->mem, sizeof *c.arg)};
    int64_t k;

    if (!is_array(mean))
        return *out = *mean, TD_OK;
    known_int(axis, &k);
    c.arg[0] = *mean;
    if (w->how->mode != TD_MODE_KERNEL)
        TD_TRY(settle(w, &c.arg[0])); /* else each element would compute it again */
    TD_TRY(lazy_new(w, broadcast_back_element, &c, mean->type->item[0], a->type->ndim,
                    a->view->shape, out));
    out->lazy->own = true;
    out->lazy->axis = (uint32_t)(k < 0 ? k + a->type->ndim : k);
    return TD_OK;
}

/* sum / n by NumPy's rules: 0 / 0 is NaN and raises nothing. */
static td_status
mean_of_sum(walk *w, const thing *sum, const thing *n, thing *out)
{
    bool ufunc = w->ufunc;
    td_status st;

    w->ufunc = true;
    st = binary_things(w, TD_SYN_Div, sum, n, out);
    w->ufunc = ufunc;
    return st;
}

/* The sum of |x - mean|**2, divided by the number of elements less ddof. */
static td_status
variance(walk *w, const thing *a, const thing *axis, const thing *ddof, uint32_t node, thing *out)
{
    thing mean, d, n, sum, x = *a;
    int64_t k = 0;

    if (x.type->item[0]->kind == TD_T_NUM && !td_dtype_is_complex(x.type->item[0]->dt) &&
        !td_dtype_is_float(x.type->item[0]->dt)) {
        thing zero = num_float(0);

        TD_TRY(binary_things(w, TD_SYN_Add, &x, &zero, &x));
    }
    TD_TRY(reduce(w, RED_mean, &x, axis, node, &mean));
    TD_TRY(broadcast_back(w, &mean, &x, axis, &mean));
    TD_TRY(binary_things(w, TD_SYN_Sub, &x, &mean, &d));
    TD_TRY(call_row(w, fn_abs, 0, &d, 1, &d));
    TD_TRY(call_row(w, fn_row, OP_square, &d, 1, &d));
    TD_TRY(reduce(w, RED_sum, &d, axis, node, &sum));
    if (axis && !is_none(axis)) {
        known_int(axis, &k);
        n = dim_thing(&a->view->shape[k < 0 ? k + a->type->ndim : k]);
    } else {
        n = num_index(dims_product(w, a->view->shape, a->type->ndim), true);
    }
    if (ddof)
        TD_TRY(num_binary(w, TD_SYN_Sub, &n, ddof, &n));
    n = num_convert(w, &n, td_type_weak('f'));
    return mean_of_sum(w, &sum, &n, out);
}

static td_status
only_these(walk *w, const call *c, const char *what, const char *const *kw, uint32_t n)
{
    for (uint32_t i = 0; i < c->nkw; i++) {
        bool known = false;

        for (uint32_t j = 0; j < n; j++)
            known = known || strcmp(c->kw[i], kw[j]) == 0;
        if (!known)
            return bad(w, c->node, TD_ERR_TYPE, "%s takes no %s= in a kernel", what, c->kw[i]);
    }
    if (c->asked)
        *c->asked = UINT64_MAX;
    return TD_OK;
}

/* The array to reduce: with NaN replaced by *instead unless that is NULL, and converted to `dtype` if that is given. */
static td_status
reduced_operand(walk *w, const call *c, const thing *dtype, const double *instead, const char *what,
                thing *out)
{
    TD_TRY(want_args(w, c, what, 1, 5));
    *out = c->arg[0];
    if (out->type->kind == TD_T_TUPLE || (is_num(out) && !w->exact))
        TD_TRY(tuple_array(w, out, NULL, c->node, out));
    if (out->type->kind != TD_T_ARRAY)
        return bad(w, c->node, TD_ERR_TYPE, "%s takes an array, not %s", what, out->type->name);
    if (!out->type->ndim) /* as an array of one element */
        TD_TRY(call_row(w, fn_ravel, 0, (thing[]){*out}, 1, out));
    if (dtype && !is_none(dtype))
        TD_TRY(call_row(w, fn_astype, 0, (thing[]){*out, *dtype}, 2, out));
    if (instead && out->type->item[0]->kind == TD_T_NUM &&
        !td_dtype_is_int(out->type->item[0]->dt) && out->type->item[0]->dt != TD_BOOL) {
        thing nan, x = num_float(*instead);

        TD_TRY(call_row(w, fn_row, OP_isnan, out, 1, &nan));
        TD_TRY(call_row(w, fn_where, 0, (thing[]){nan, x, *out}, 3, out));
    }
    return TD_OK;
}

td_status
fn_reduce(walk *w, const call *c, int number, thing *out)
{
    static const char *const kw[] = {"axis", "dtype"};
    int how = td_intrinsics[number].row;
    bool typed = reduction_is_sum(how) || how == RED_prod;
    const thing *dtype = typed ? arg_or_kw(c, 2, "dtype") : NULL;
    const td_type *t;
    thing a;

    TD_TRY(only_these(w, c, reduction_name(how), kw, typed ? 2 : 1));
    TD_TRY(reduced_operand(w, c, dtype, NULL, reduction_name(how), &a));
    TD_TRY(reduce(w, how, &a, arg_or_kw(c, 1, "axis"), c->node, out));
    if (!dtype || is_none(dtype))
        return TD_OK;
    if (is_array(out)) /* the sum of small integers is a larger one */
        return call_row(w, fn_astype, 0, (thing[]){*out, *dtype}, 2, out);
    TD_TRY(as_dtype(w, dtype, c->node, &t));
    *out = num_convert(w, out, t);
    return TD_OK;
}

/* nansum, nanprod, nanmin, nanmax */
td_status
fn_nan_reduce(walk *w, const call *c, int number, thing *out)
{
    static const char *const kw[] = {"axis"};
    int how = td_intrinsics[number].row;
    double instead = how == RED_sum    ? 0
                     : how == RED_prod ? 1
                     : how == RED_min  ? (double)INFINITY
                                       : -(double)INFINITY;
    const thing *axis = arg_or_kw(c, 1, "axis");
    thing a, plain, nan = num_float((double)NAN), none;

    TD_TRY(only_these(w, c, reduction_name(how), kw, 1));
    TD_TRY(reduced_operand(w, c, NULL, &instead, reduction_name(how), &a));
    TD_TRY(reduce(w, how, &a, axis, c->node, out));
    if (how == RED_sum || how == RED_prod || !td_dtype_is_float(a.type->item[0]->dt))
        return TD_OK;
    /* NaN if all elements are */
    TD_TRY(reduced_operand(w, c, NULL, NULL, reduction_name(how), &plain));
    TD_TRY(call_row(w, fn_row, OP_isnan, &plain, 1, &none));
    TD_TRY(reduce(w, RED_all, &none, axis, c->node, &none));
    return call_row(w, fn_where, 0, (thing[]){none, nan, *out}, 3, out);
}

td_status
fn_nanmean(walk *w, const call *c, int number, thing *out)
{
    static const char *const kw[] = {"axis"};
    const thing *axis = arg_or_kw(c, 1, "axis");
    double zero = 0;
    thing a, kept, n;

    (void)number;
    TD_TRY(only_these(w, c, "nanmean", kw, 1));
    TD_TRY(reduced_operand(w, c, NULL, &zero, "nanmean", &a));
    TD_TRY(call_row(w, fn_row, OP_isnan, &c->arg[0], 1, &kept));
    TD_TRY(call_row(w, fn_logical, OP_logical_not, &kept, 1, &kept));
    TD_TRY(reduce(w, RED_sum, &a, axis, c->node, out));
    TD_TRY(reduce(w, RED_sum, &kept, axis, c->node, &n));
    if (!is_array(out))
        n = num_convert(w, &n, td_type_weak('f'));
    return mean_of_sum(w, out, &n, out);
}

/* row 0: var; 1: std */
td_status
fn_var(walk *w, const call *c, int number, thing *out)
{
    static const char *const kw[] = {"axis", "dtype", "ddof"};
    bool root = td_intrinsics[number].row;
    thing a;

    TD_TRY(only_these(w, c, root ? "std" : "var", kw, 3));
    TD_TRY(reduced_operand(w, c, arg_or_kw(c, 2, "dtype"), NULL, root ? "std" : "var", &a));
    TD_TRY(variance(w, &a, arg_or_kw(c, 1, "axis"), arg_or_kw(c, 4, "ddof"), c->node, out));
    return root ? call_row(w, fn_row, OP_sqrt, out, 1, out) : TD_OK;
}

td_status
fn_ptp(walk *w, const call *c, int number, thing *out)
{
    static const char *const kw[] = {"axis"};
    const thing *axis = arg_or_kw(c, 1, "axis");
    thing a, least;

    (void)number;
    TD_TRY(only_these(w, c, "ptp", kw, 1));
    TD_TRY(reduced_operand(w, c, NULL, NULL, "ptp", &a));
    TD_TRY(reduce(w, RED_max, &a, axis, c->node, out));
    TD_TRY(reduce(w, RED_min, &a, axis, c->node, &least));
    return binary_things(w, TD_SYN_Sub, out, &least, out);
}

/* row 0: dot, of vectors and matrices; 1: vdot, which conjugates the first vector; 2: inner. */
td_status
fn_dot(walk *w, const call *c, int number, thing *out)
{
    int row = td_intrinsics[number].row;
    thing x[2];

    TD_TRY(want_args(w, c, "dot", 2, 2));
    for (int i = 0; i < 2; i++) {
        x[i] = c->arg[i];
        if (x[i].type->kind == TD_T_TUPLE)
            TD_TRY(tuple_array(w, &x[i], NULL, c->node, &x[i]));
        if (x[i].type->kind != TD_T_ARRAY || x[i].type->ndim < 1 || x[i].type->ndim > (row ? 1 : 2))
            return bad(w, c->node, TD_ERR_TYPE, "%s, not %s and %s",
                       row ? "vdot and inner take two vectors here"
                           : "dot and @ take vectors and matrices",
                       c->arg[0].type->name, c->arg[1].type->name);
    }
    if (x[0].type->ndim == 2 || x[1].type->ndim == 2)
        return matrix_product(w, &x[0], &x[1], out);
    TD_TRY(must_meet(w, x[0].view->shape, x[1].view->shape, "product of vectors"));
    if (row == 1)
        TD_TRY(call_row(w, fn_row, OP_conjugate, &x[0], 1, &x[0]));
    TD_TRY(binary_things(w, TD_SYN_Mult, &x[0], &x[1], &x[0]));
    if (x[0].type->item[0]->dt == TD_BOOL)
        return reduce(w, RED_any, &x[0], NULL, c->node, out);
    TD_TRY(reduce(w, RED_sum, &x[0], NULL, c->node, out));
    *out = num_convert(w, out, x[0].type->item[0]); /* int32 vectors have an int32 product */
    return TD_OK;
}

td_status
array_product(walk *w, const thing *a, const thing *b, thing *out)
{
    return call_row(w, fn_dot, 0, (thing[]){*a, *b}, 2, out);
}

/* ---- Python's sums: of a tuple or an array ---- */

/* Is x what a loop goes through, and neither a tuple nor an array? */
static bool
is_other_iterable(const thing *x)
{
    td_tkind kind = x->type->kind;

    return kind == TD_T_BOX || kind == TD_T_RANGE || kind == TD_T_ITER || kind == TD_T_OBJECT;
}

/* Python's sum, and math.prod: combines the elements by op, beginning with `start`; how: the same reduction of arrays. */
static td_status
combine_items(walk *w, const call *c, const char *what, td_syn op, int how, const thing *start,
              thing *out)
{
    const thing *x = c->arg;

    if (c->n < 1)
        return want_args(w, c, what, 1, 2);
    if (x->type->kind == TD_T_ARRAY && x->type->ndim == 1) {
        thing r;

        TD_TRY(reduce(w, how, x, NULL, c->node, &r));
        if (how == RED_sum && td_dtype_is_int(r.type->dt) && x->type->item[0]->dt != TD_BOOL)
            r = num_convert(w, &r, x->type->item[0]->dt == TD_U64 ? r.type : td_type_num(TD_I64));
        if (start->known && is_int(start) && start->lit.i == (how == RED_prod))
            return *out = r, TD_OK;
        return num_binary(w, op, start, &r, out);
    }
    if (how == RED_sum && is_other_iterable(x))
        return call_stand_in(w, "sum.items", x,
                             &(call){.node = c->node, .n = 1, .arg = (thing[]){*start}}, out);
    if (x->type->kind != TD_T_TUPLE)
        return bad(w, c->node, TD_ERR_TYPE, "%s takes a tuple or a 1-d array, not %s", what,
                   x->type->name);
    *out = *start;
    for (uint32_t i = 0; i < x->type->n; i++)
        TD_TRY(num_binary(w, op, out, &x->item[i], out));
    return TD_OK;
}

td_status
fn_sum(walk *w, const call *c, int number, thing *out)
{
    const thing *start = arg_or_kw(c, 1, "start");
    thing zero = num_int(0);

    (void)number;
    return combine_items(w, c, "sum", TD_SYN_Add, RED_sum, start ? start : &zero, out);
}

td_status
fn_prod(walk *w, const call *c, int number, thing *out)
{
    const thing *start = arg_or_kw(c, 1, "start");
    thing one = num_int(1);

    (void)number;
    return combine_items(w, c, "prod", TD_SYN_Mult, RED_prod, start ? start : &one, out);
}

/* The compensated sum as a float. */
td_status
fn_fsum(walk *w, const call *c, int number, thing *out)
{
    thing a;

    (void)number;
    TD_TRY(reduced_operand(w, c, NULL, NULL, "fsum", &a));
    if (td_dtype_is_complex(a.type->item[0]->dt))
        return bad(w, c->node, TD_ERR_TYPE, "fsum takes real numbers, not %s", a.type->name);
    TD_TRY(call_row(w, fn_to_double, 0, &a, 1, &a));
    TD_TRY(reduce(w, RED_sum, &a, NULL, c->node, out));
    *out = num_convert(w, out, td_type_weak('f'));
    return TD_OK;
}

td_status
fn_to_double(walk *w, const call *c, int number, thing *out)
{
    (void)number;
    TD_TRY(want_args(w, c, "float64", 1, 1));
    *out = num_convert(w, &c->arg[0], td_type_num(TD_F64));
    return TD_OK;
}

td_status
fn_sumprod(walk *w, const call *c, int number, thing *out)
{
    (void)number;
    TD_TRY(want_args(w, c, "sumprod", 2, 2));
    if (c->arg[0].type->kind != TD_T_TUPLE || c->arg[1].type->kind != TD_T_TUPLE)
        return call_row(w, fn_dot, 0, c->arg, 2, out);
    if (c->arg[0].type->n != c->arg[1].type->n)
        return bad(w, c->node, TD_ERR_VALUE, "sumprod takes two tuples of one length");
    *out = num_int(0);
    for (uint32_t i = 0; i < c->arg[0].type->n; i++) {
        thing p;

        TD_TRY(num_binary(w, TD_SYN_Mult, &c->arg[0].item[i], &c->arg[1].item[i], &p));
        TD_TRY(num_binary(w, TD_SYN_Add, out, &p, out));
    }
    return TD_OK;
}

/* any, all of a tuple or an array; row: the operation that combines the elements. */
td_status
fn_anyall(walk *w, const call *c, int number, thing *out)
{
    td_op op = (td_op)td_intrinsics[number].row;
    bool any = op == OP_logical_or;
    const thing *x = c->arg;

    TD_TRY(want_args(w, c, any ? "any" : "all", 1, 1));
    if (x->type->kind == TD_T_ARRAY && x->type->ndim == 1)
        return reduce(w, any ? RED_any : RED_all, x, NULL, c->node, out);
    if (is_other_iterable(x))
        return call_stand_in(w, any ? "any.items" : "all.items", x, &(call){.node = c->node}, out);
    if (x->type->kind != TD_T_TUPLE)
        return bad(w, c->node, TD_ERR_TYPE, "%s takes a tuple or a 1-d array, not %s",
                   any ? "any" : "all", x->type->name);
    *out = num_bool(!any);
    for (uint32_t i = 0; i < x->type->n; i++) {
        thing yes;

        TD_TRY(truth(w, &x->item[i], &yes));
        if (yes.known && (bool)yes.lit.i == any)
            return *out = yes, TD_OK;
        if (yes.known)
            continue;
        if (out->known)
            *out = yes;
        else
            TD_TRY(num_op(w, op, (thing[]){*out, yes}, 2, out));
    }
    return TD_OK;
}
