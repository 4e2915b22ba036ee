/* record.c - operations, reductions, views, writing. */
#include "api/api.h"

#include <string.h>

/* ---- elementwise ---- */

static td_status
operands(treadle_op op, int n, const treadle_operand *x, td_operand y[TD_MAXSRC])
{
    bool array = false;

    if ((int)op < 0 || (int)op >= TD_OPS)
        return td_fail(TD_ERR_VALUE, "apply: %d is no operation", (int)op);
    if (n != td_optab[op].arity)
        return td_fail(TD_ERR_VALUE, "%s: takes %d operands, not %d", td_optab[op].name,
                       td_optab[op].arity, n);
    if (!x)
        return td_api_null(td_optab[op].name);
    for (int i = 0; i < n; i++) {
        TD_TRY(td_api_operand(td_optab[op].name, &x[i], &y[i]));
        array |= x[i].array != NULL;
    }
    return array ? TD_OK : td_fail(TD_ERR_VALUE, "%s: no operand is an array", td_optab[op].name);
}

treadle_status
treadle_apply(treadle_op op, int n, const treadle_operand *x, treadle_array **out)
{
    bool held = td_api_enter();
    td_operand y[TD_MAXSRC];
    td_array r;
    td_status st = out ? operands(op, n, x, y) : td_api_null("apply");

    if (!st)
        st = td_array_ufunc((td_op)op, y, n, &r);
    return td_api_done(held, st, &r, NULL, out);
}

static td_status
writable(const char *fn, const treadle_array *a)
{
    if (!a)
        return td_api_null(fn);
    return a->fixed ? td_fail(TD_ERR_VALUE, "%s: the array is a broadcast view", fn) : TD_OK;
}

treadle_status
treadle_apply_into(treadle_op op, int n, const treadle_operand *x, treadle_array *a)
{
    bool held = td_api_enter();
    td_operand y[TD_MAXSRC];
    td_status st = writable("apply_into", a);

    if (!st)
        st = operands(op, n, x, y);
    if (!st)
        st = td_array_apply_into((td_op)op, y, n, &a->a);
    return td_api_leave(held, st);
}

treadle_status
treadle_cast(const treadle_array *a, treadle_dtype dt, treadle_array **out)
{
    bool held = td_api_enter();
    td_array r;
    td_dtype to;
    td_status st = a && out ? td_api_dtype("cast", dt, &to) : td_api_null("cast");

    if (!st)
        st = td_array_cast(&a->a, to, &r);
    return td_api_done(held, st, &r, NULL, out);
}

treadle_status
treadle_copy(const treadle_array *a, treadle_array **out)
{
    bool held = td_api_enter();
    td_array r;
    td_status st = a && out ? td_array_copy(&a->a, &r) : td_api_null("copy");

    return td_api_done(held, st, &r, NULL, out);
}

/* ---- reductions and products ---- */

static td_status
axes_of(const char *fn, const treadle_reduce_args *g, int ndim, uint32_t *out)
{
    int k;

    if (g->naxes < 0 || g->naxes > TREADLE_MAXDIM)
        return td_fail(TD_ERR_VALUE, "%s: %d axes", fn, g->naxes);
    *out = g->naxes ? 0 : (uint32_t)((1ull << ndim) - 1);
    for (int i = 0; i < g->naxes; i++) {
        TD_TRY(td_axis_normalize(fn, g->axes[i], ndim, &k));
        if (*out >> k & 1)
            return td_fail(TD_ERR_VALUE, "%s: axis %d is given twice", fn, k);
        *out |= 1u << k;
    }
    return TD_OK;
}

static td_status
api_reduce(treadle_red red, const td_array *a, const treadle_reduce_args *args, td_array *out)
{
    static const treadle_reduce_args plain;
    const treadle_reduce_args *g = args ? args : &plain;
    td_redargs core = {.keepdims = g->keepdims, .ddof = g->ddof, .dtype = -1};
    td_dtype dt;

    if ((int)red < 0 || (int)red >= TD_RED_COUNT)
        return td_fail(TD_ERR_VALUE, "reduce: %d is no reduction", (int)red);
    if (g->dtype != TREADLE_DTYPE_DEFAULT) {
        TD_TRY(td_api_dtype(treadle_red_name(red), g->dtype, &dt));
        core.dtype = (int)dt;
    }
    TD_TRY(axes_of(treadle_red_name(red), g, a->view.shape.ndim, &core.axes));
    return td_array_reduce((td_red)red, a, &core, out);
}

treadle_status
treadle_reduce(treadle_red red, const treadle_array *a, const treadle_reduce_args *args,
               treadle_array **out)
{
    bool held = td_api_enter();
    td_array r;
    td_status st = a && out ? api_reduce(red, &a->a, args, &r) : td_api_null("reduce");

    return td_api_done(held, st, &r, NULL, out);
}

static td_status
record_take(const td_array *a, const td_array *index, int axis, td_array *out)
{
    TD_TRY(td_axis_normalize("take", axis, a->view.shape.ndim, &axis));
    if (td_array_dtype(index) != TD_I64)
        return td_fail(TD_ERR_TYPE, "take: the indices are %s, not int64",
                       td_dtype_name(td_array_dtype(index)));
    return td_array_take(a, index, axis, out);
}

treadle_status
treadle_take(const treadle_array *a, const treadle_array *index, int axis, treadle_array **out)
{
    bool held = td_api_enter();
    td_array r;
    td_status st =
        a && index && out ? record_take(&a->a, &index->a, axis, &r) : td_api_null("take");

    return td_api_done(held, st, &r, NULL, out);
}

treadle_status
treadle_matmul(const treadle_array *a, const treadle_array *b, treadle_array **out)
{
    bool held = td_api_enter();
    td_array r;
    td_status st = a && b && out ? td_array_matmul(&a->a, &b->a, &r) : td_api_null("matmul");

    return td_api_done(held, st, &r, NULL, out);
}

/* ---- writing ---- */

treadle_status
treadle_assign(treadle_array *a, treadle_operand value)
{
    bool held = td_api_enter();
    td_operand x;
    td_status st = writable("assign", a);

    if (!st)
        st = td_api_operand("assign", &value, &x);
    if (!st)
        st = td_array_assign(&a->a, &x);
    return td_api_leave(held, st);
}

static td_status
assign_where(const td_array *a, const td_array *mask, const treadle_operand *value)
{
    td_operand x;

    if (td_array_dtype(mask) != TD_BOOL)
        return td_fail(TD_ERR_TYPE, "assign_where: the mask is %s, not bool",
                       td_dtype_name(td_array_dtype(mask)));
    if (!td_shape_eq(&mask->view.shape, &a->view.shape))
        return td_fail(TD_ERR_VALUE, "assign_where: the mask has another shape than the array");
    TD_TRY(td_api_operand("assign_where", value, &x));
    return td_array_assign_where(a, mask, &x);
}

treadle_status
treadle_assign_where(treadle_array *a, const treadle_array *mask, treadle_operand value)
{
    bool held = td_api_enter();
    td_status st = mask ? writable("assign_where", a) : td_api_null("assign_where");

    return td_api_leave(held, st ? st : assign_where(&a->a, &mask->a, &value));
}
