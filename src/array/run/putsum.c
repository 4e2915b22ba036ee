/* putsum.c - adds values at places given by integer arrays (add.at), on every device. */
#include "array/graph/array.h"
#include "array/graph/internal.h"

/* The values as rows: one row for each index, with the elements of one place. */
static td_status
as_rows(const td_array *a, const td_pick *p, const td_shape *result, const td_shape *spread,
        const td_array *value, td_array *out)
{
    int axes[TD_MAXDIM], rank = result->ndim - (a->view.shape.ndim - p->n), n = 0;
    td_shape flat = {.ndim = 2, .dim = {td_shape_size(spread), 1}};
    td_array wide, front;
    td_status st;

    for (int i = 0; i < rank; i++)
        axes[n++] = p->place + i;
    for (int i = 0; i < result->ndim; i++)
        if (i < p->place || i >= p->place + rank) {
            axes[n++] = i;
            flat.dim[1] *= result->dim[i];
        }
    TD_TRY(td_array_broadcast(value, result, &wide));
    st = td_array_transpose(&wide, axes, &front);
    td_array_unref(&wide);
    TD_TRY(st);
    st = td_array_reshape(&front, &flat, out);
    td_array_unref(&front);
    return st;
}

/* Offsets of the elements inside a place, in C order. */
static td_status
inner_offsets(const td_array *a, const td_pick *p, td_array *out)
{
    td_shape whole = {.ndim = 0}, line = {.ndim = 1, .dim = {1}};
    td_scalar zero = {.dt = TD_I64};
    td_array sum;
    int k = 0;

    TD_TRY(td_array_full(td_array_dev(a), TD_I64, &whole, zero, &sum));
    for (int i = 0; i < a->view.shape.ndim; i++) {
        td_shape tall = {.ndim = 2, .dim = {line.dim[0], 1}};
        td_scalar step = {.dt = TD_I64, .i = a->view.stride[i]};
        td_array steps, column, next;
        td_status st;

        if (k < p->n && p->axis[k] == i) {
            k++;
            continue;
        }
        st = td_array_iota(td_array_dev(a), TD_I64, a->view.shape.dim[i], zero, step, &steps);
        if (!st)
            st = td_array_reshape(&sum, &tall, &column);
        td_array_unref(&sum);
        if (!st) {
            st = td_array_apply(OP_add, (td_operand[]){{.array = &column}, {.array = &steps}}, 2,
                                &next);
            td_array_unref(&column);
        }
        td_array_unref(&steps);
        TD_TRY(st);
        line.dim[0] *= a->view.shape.dim[i];
        st = td_array_reshape(&next, &line, &sum);
        td_array_unref(&next);
        TD_TRY(st);
    }
    *out = sum;
    return TD_OK;
}

/* The places in ascending order, and the permutation that sorts them. */
static td_status
sorted_places(const td_array *a, const td_pick *p, const td_shape *spread, td_array *at,
              td_array *order)
{
    td_shape line = {.ndim = 1, .dim = {td_shape_size(spread)}};
    int64_t step[TD_MAXDIM];
    td_array sum, flat;
    td_status st;

    for (int k = 0; k < p->n; k++)
        step[k] = a->view.stride[p->axis[k]];
    TD_TRY(td_pick_sum(a, p, spread, step, &sum));
    st = td_array_reshape(&sum, &line, &flat);
    td_array_unref(&sum);
    TD_TRY(st);
    st = td_array_sort(&flat, at, order);
    td_array_unref(&flat);
    return st;
}

static td_status
by_runs_held(const td_array *a, const td_pick *p, const td_array *value)
{
    td_array rows = {0}, at = {0}, order = {0}, inner = {0};
    td_shape result, spread;
    td_status st;

    TD_TRY(td_pick_shapes(a, p, &result, &spread));
    TD_TRY(td_pick_check(a, p));
    if (!td_shape_size(&result))
        return TD_OK;
    st = sorted_places(a, p, &spread, &at, &order);
    if (!st)
        st = as_rows(a, p, &result, &spread, value, &rows);
    if (!st)
        st = inner_offsets(a, p, &inner);
    if (!st)
        st = td_array_put_runs(a, OP_add, &at, &order, &inner, &rows);
    td_array_unref(&rows);
    td_array_unref(&at);
    td_array_unref(&order);
    td_array_unref(&inner);
    return st;
}

static td_status
by_runs(const td_array *a, const td_pick *p, const td_array *value)
{
    td_picked k;
    td_status st;

    TD_TRY(td_picked_begin(p, &k));
    st = by_runs_held(a, &k.p, value);
    td_picked_end(&k);
    return st;
}

static td_status
real_sum(const td_array *a, const td_pick *p, const td_array *value)
{
    td_status st = td_array_put_op(a, p, OP_add, &(td_operand){.array = value});

    return st == TD_SKIP ? by_runs(a, p, value) : st;
}

td_status
td_array_put_sum(const td_array *a, const td_pick *p, const td_array *value)
{
    td_status st = TD_OK;

    if (!td_dtype_is_complex(td_array_dtype(a)))
        return real_sum(a, p, value);
    for (int i = 0; i < 2 && !st; i++) {
        td_array to = td_array_part(a, i), from;

        st = td_array_apply(i ? OP_imag : OP_real, &(td_operand){.array = value}, 1, &from);
        if (!st) {
            st = real_sum(&to, p, &from);
            td_array_unref(&from);
        }
        td_array_unref(&to);
    }
    return st;
}
