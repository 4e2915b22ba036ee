/* index.c - views by shape, and reading by integer arrays. */
#include "array/array.h"

#include "array/capture.h"
#include "array/eval.h"
#include "array/internal.h"

#include <inttypes.h>
#include <string.h>

static bool checks = true; /* the caller's lock guards it, as it does the graph */

void
td_take_checks(bool on)
{
    checks = on;
}

td_status
td_array_reshape(const td_array *a, const td_shape *s, td_array *out)
{
    td_array flat;
    td_view v;
    td_status st = td_view_reshape(&a->view, s, &v);

    if (!st) {
        *out = td_array_view(a, &v);
        return TD_OK;
    }
    if (st != TD_SKIP)
        return st;
    TD_TRY(td_array_copy(a, &flat));
    st = td_view_reshape(&flat.view, s, &v);
    if (!st)
        *out = td_array_view(&flat, &v);
    td_array_unref(&flat);
    return st;
}

td_status
td_array_transpose(const td_array *a, const int *axes, td_array *out)
{
    td_view v;

    TD_TRY(td_view_transpose(&a->view, axes, &v));
    *out = td_array_view(a, &v);
    return TD_OK;
}

td_status
td_array_broadcast(const td_array *a, const td_shape *s, td_array *out)
{
    td_view v;

    TD_TRY(td_view_broadcast(&a->view, s, &v));
    *out = td_array_view(a, &v);
    return TD_OK;
}

static td_status
extreme(td_red red, const td_array *index, int64_t *out)
{
    td_redargs all = {.axes = (1u << index->view.shape.ndim) - 1, .dtype = -1};
    td_array r;
    td_status st;

    TD_TRY(td_array_reduce(red, index, &all, &r));
    st = td_array_get(&r, out);
    td_array_unref(&r);
    return st;
}

static td_status
out_of_range(const td_array *index, int axis, int64_t extent)
{
    int64_t lo, hi;

    TD_TRY(extreme(TD_RED_min, index, &lo));
    TD_TRY(extreme(TD_RED_max, index, &hi));
    return td_fail(TD_ERR_INDEX,
                   "index %" PRId64 " is out of bounds for axis %d with size %" PRId64,
                   hi >= extent ? hi : lo, axis, extent);
}

/* One pass: index + extent, as an unsigned number, is below 2 * extent for the indices in range only. */
static td_status
check_range(const td_array *index, int axis, int64_t extent)
{
    td_redargs all = {.axes = (1u << index->view.shape.ndim) - 1, .dtype = -1};
    td_operand by = {.scalar = {.dt = TD_I64, .i = extent}};
    td_array moved, number, most;
    uint64_t top = 0;
    td_status st;

    if (td_array_size(index) == 0 || !checks)
        return TD_OK;
    TD_TRY(td_array_apply(OP_add, (td_operand[]){{.array = index}, by}, 2, &moved));
    st = td_array_cast(&moved, TD_U64, &number);
    td_array_unref(&moved);
    TD_TRY(st);
    st = td_array_reduce(TD_RED_max, &number, &all, &most);
    td_array_unref(&number);
    TD_TRY(st);
    st = td_array_get(&most, &top);
    td_array_unref(&most);
    TD_TRY(st);
    return top < 2 * (uint64_t)extent ? TD_OK : out_of_range(index, axis, extent);
}

/* Negative indices count from the end. */
static td_status
wrapped(const td_array *index, int64_t extent, td_array *out)
{
    td_operand i = {.array = index}, n = {.scalar = {.dt = TD_I64, .i = extent}};
    td_operand zero = {.scalar = {.dt = TD_I64, .i = 0}};
    td_array below, up;
    td_status st;

    TD_TRY(td_array_apply(OP_less, (td_operand[]){i, zero}, 2, &below));
    st = td_array_apply(OP_add, (td_operand[]){i, n}, 2, &up);
    if (!st) {
        st =
            td_array_apply(OP_select, (td_operand[]){{.array = &below}, {.array = &up}, i}, 3, out);
        td_array_unref(&up);
    }
    td_array_unref(&below);
    return st;
}

/* A graph cannot tell of an index out of range: it takes the nearest in range. */
static td_status
clipped(td_array *index, int64_t extent)
{
    td_operand i = {.array = index}, most = {.scalar = {.dt = TD_I64, .i = extent - 1}},
               least = {.scalar = {.dt = TD_I64, .i = 0}};
    td_array low, both;
    td_status st = td_array_apply(OP_maximum, (td_operand[]){i, least}, 2, &low);

    if (!st) {
        st = td_array_apply(OP_minimum, (td_operand[]){{.array = &low}, most}, 2, &both);
        td_array_unref(&low);
    }
    td_array_unref(index);
    if (!st)
        *index = both;
    return st;
}

/* src's shape with `axis` replaced by the index's; the index's shape with the later axes as ones. */
static td_status
gather_shapes(const td_array *a, const td_array *index, int axis, td_shape *result,
              td_shape *spread)
{
    int rank = index->view.shape.ndim, after = a->view.shape.ndim - axis - 1;
    int64_t dim[2 * TD_MAXDIM];
    int n = 0;

    for (int i = 0; i < axis; i++)
        dim[n++] = a->view.shape.dim[i];
    for (int i = 0; i < rank; i++)
        dim[n++] = spread->dim[i] = index->view.shape.dim[i];
    for (int i = 0; i < after; i++)
        dim[n++] = a->view.shape.dim[axis + 1 + i];
    TD_TRY(td_shape_make(n, dim, result));
    for (int i = 0; i < after; i++)
        spread->dim[rank + i] = 1;
    spread->ndim = rank + after;
    return TD_OK;
}

static td_status
record_gather(const td_array *a, const td_array *index, int axis, td_array *out)
{
    td_node *src = NULL, *at = NULL, *n = NULL;
    td_shape result, spread;
    td_array shaped;
    td_status st;

    TD_TRY(gather_shapes(a, index, axis, &result, &spread));
    TD_TRY(td_array_reshape(index, &spread, &shaped));
    st = td_array_node(a, &src);
    if (!st)
        st = td_array_node(&shaped, &at);
    if (!st)
        st = td_cut((td_node *[]){src, at}, 2);
    if (!st)
        st = td_node_new(TD_N_GATHER, td_array_dev(a), td_array_dtype(a), &result, &n);
    if (!st) {
        n->par[0] = (td_scalar){.dt = TD_I64, .i = axis};
        n->par[1] = (td_scalar){.dt = TD_I64, .i = index->view.shape.ndim};
        td_node_add_src(n, src);
        td_node_add_src(n, at);
    }
    td_array_unref(&shaped);
    td_node_unref(src);
    td_node_unref(at);
    return st ? st : td_record(n, out);
}

td_status
td_array_take(const td_array *a, const td_array *index, int axis, td_array *out)
{
    td_array up;
    td_status st;

    TD_ASSERT(td_array_dtype(index) == TD_I64 && axis >= 0 && axis < a->view.shape.ndim);
    if (td_dtype_is_complex(td_array_dtype(a)))
        return td_fail(TD_ERR_TYPE, "take: complex kernels are not available yet");
    TD_TRY(td_one_device("indices", td_array_dev(a), td_array_dev(index)));
    if (!td_capture_now())
        TD_TRY(check_range(index, axis, a->view.shape.dim[axis]));
    TD_TRY(wrapped(index, a->view.shape.dim[axis], &up));
    if (td_capture_now())
        TD_TRY(clipped(&up, a->view.shape.dim[axis]));
    st = record_gather(a, &up, axis, out);
    td_array_unref(&up);
    return st;
}
