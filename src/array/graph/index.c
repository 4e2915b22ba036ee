/* index.c - views by shape, and reading by integer arrays. */
#include "array/graph/array.h"

#include "array/graph/capture.h"
#include "array/graph/internal.h"
#include "array/graph/values.h"

#include <inttypes.h>
#include <string.h>

static bool checks = true; /* guarded by the caller's lock, like the graph */

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

td_array
td_array_part(const td_array *a, bool imag)
{
    td_array r;
    td_view v = a->view;

    TD_ASSERT(td_dtype_is_complex(td_array_dtype(a)));
    v.offset = 2 * v.offset + imag;
    for (int i = 0; i < v.shape.ndim; i++)
        v.stride[i] *= 2;
    r = td_array_view(a, &v);
    r.dt = (uint8_t)td_dtype_real_of(td_array_dtype(a));
    r.whole = false;
    return r;
}

/* Makes elements `by` times smaller: the parts of one element become neighbours along the last
 * axis. */
static td_status
resize_elements(td_view *v, int64_t from, int64_t to)
{
    int last = v->shape.ndim - 1;
    bool fits = last >= 0 && (v->stride[last] == 1 || v->shape.dim[last] == 1);
    int64_t by = from > to ? from / to : to / from;

    if (from > to && fits) {
        v->offset *= by;
        for (int i = 0; i < last; i++)
            v->stride[i] *= by;
        v->stride[last] = 1;
        v->shape.dim[last] *= by;
        return TD_OK;
    }
    for (int i = 0; i < last; i++)
        fits &= v->stride[i] % by == 0 || v->shape.dim[i] == 1;
    if (!fits || v->offset % by || v->shape.dim[last] % by)
        return td_fail(TD_ERR_VALUE,
                       "view: elements of %" PRId64 " bytes do not lie side by side in elements of "
                       "%" PRId64 " along the last axis",
                       from, to);
    v->offset /= by;
    for (int i = 0; i < last; i++)
        v->stride[i] /= by;
    v->stride[last] = 1;
    v->shape.dim[last] /= by;
    return TD_OK;
}

td_status
td_array_retype(const td_array *a, td_dtype dt, td_array *out)
{
    int64_t from = (int64_t)td_dtype_size(td_array_dtype(a)), to = (int64_t)td_dtype_size(dt);
    td_view v = a->view;

    if (from != to)
        TD_TRY(resize_elements(&v, from, to));
    *out = td_array_view(a, &v);
    out->dt = (uint8_t)dt;
    out->whole = dt == (td_dtype)a->store->dt && td_view_eq(&v, &a->store->node->view);
    return TD_OK;
}

static td_status
index_extreme(td_red red, const td_array *index, int64_t *out)
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

    TD_TRY(index_extreme(TD_RED_min, index, &lo));
    TD_TRY(index_extreme(TD_RED_max, index, &hi));
    return td_fail(TD_ERR_INDEX,
                   "index %" PRId64 " is out of bounds for axis %d with size %" PRId64,
                   hi >= extent ? hi : lo, axis, extent);
}

/* Checks in one pass: index + extent, as an unsigned number, is below 2 * extent exactly for
 * indices in range. */
static td_status
check_range(const td_array *index, int axis, int64_t extent)
{
    td_redargs all = {.axes = (1u << index->view.shape.ndim) - 1, .dtype = -1};
    td_operand by = {.scalar = {.dt = TD_I64, .i = extent}};
    td_array moved, number, most;
    uint64_t top = 0;
    td_status st;

    if (td_array_size(index) == 0 || !checks ||
        (index->store->node->in_range && index->store->node->in_range <= extent))
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
    if (top >= 2 * (uint64_t)extent)
        return out_of_range(index, axis, extent);
    if (index->whole && !td_node_shared(index->store->node))
        index->store->node->in_range = extent;
    return TD_OK;
}

td_status
td_pick_check(const td_array *a, const td_pick *p)
{
    for (int k = 0; k < p->n; k++)
        TD_TRY(td_one_device("indices", td_array_dev(a), td_array_dev(p->index[k])));
    for (int k = 0; k < p->n && !p->trusted && !td_capture_now(); k++)
        TD_TRY(check_range(p->index[k], p->shown[k], a->view.shape.dim[p->axis[k]]));
    return TD_OK;
}

td_status
td_picked_begin(const td_pick *p, td_picked *out)
{
    td_status st = TD_OK;

    out->p = *p;
    out->p.n = 0;
    while (out->p.n < p->n && !st) {
        int k = out->p.n;
        td_node *n;

        st = td_array_node(p->index[k], &n);
        if (!st)
            st = td_array_of_node(n, &out->index[k]);
        if (!st) {
            out->p.index[k] = &out->index[k];
            out->p.n++;
        }
    }
    if (st)
        td_picked_end(out);
    return st;
}

void
td_picked_end(td_picked *k)
{
    while (k->p.n > 0)
        td_array_unref(&k->index[--k->p.n]);
}

/* Negative indices count from the end. */
static td_status
wrap_indices(const td_array *index, int64_t extent, td_array *out)
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

/* An index inside a graph cannot raise an error, so it is clipped into range. */
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

static bool
is_picked(const td_pick *p, int axis)
{
    for (int k = 0; k < p->n; k++)
        if (p->axis[k] == axis)
            return true;
    return false;
}

td_status
td_pick_shapes(const td_array *a, const td_pick *p, td_shape *result, td_shape *spread)
{
    td_shape own = {.ndim = 0};
    int64_t dim[3 * TD_MAXDIM];
    int n = 0, others = 0;

    for (int k = 0; k < p->n; k++)
        if (td_broadcast("index", &own, &p->index[k]->view.shape, &own))
            return td_fail(TD_ERR_INDEX,
                           "shape mismatch: indexing arrays could not be broadcast together");
    for (int i = 0; i < a->view.shape.ndim; i++) {
        if (is_picked(p, i))
            continue;
        if (others++ == p->place)
            for (int k = 0; k < own.ndim; k++)
                dim[n++] = own.dim[k];
        dim[n++] = a->view.shape.dim[i];
    }
    if (others == p->place)
        for (int k = 0; k < own.ndim; k++)
            dim[n++] = own.dim[k];
    TD_TRY(td_shape_make(n, dim, result));
    *spread = own;
    for (int i = p->place; i < others; i++)
        spread->dim[spread->ndim++] = 1;
    return TD_OK;
}

/* Appends `ones` axes of extent 1 to the index array. */
static td_status
spread_out(const td_array *index, int ones, td_array *out)
{
    td_view v = index->view;

    TD_ASSERT(v.shape.ndim + ones <= TD_MAXDIM);
    for (int i = 0; i < ones; i++) {
        v.stride[v.shape.ndim] = 0;
        v.shape.dim[v.shape.ndim++] = 1;
    }
    *out = ones ? td_array_view(index, &v) : td_array_ref(index);
    return TD_OK;
}

td_status
td_pick_sum(const td_array *a, const td_pick *p, const td_shape *spread, const int64_t *step,
            td_array *out)
{
    int rank = 0;
    td_status st = TD_OK;

    *out = (td_array){0};
    for (int k = 0; k < p->n; k++)
        rank = p->index[k]->view.shape.ndim > rank ? p->index[k]->view.shape.ndim : rank;
    for (int k = 0; k < p->n && !st; k++) {
        td_operand by = {.scalar = {.dt = TD_I64, .i = step[k]}};
        td_array wide = {0}, up = {0}, part = {0}, sum = {0};

        st = spread_out(p->index[k], spread->ndim - rank, &wide);
        if (!st)
            st = wrap_indices(&wide, a->view.shape.dim[p->axis[k]], &up);
        if (!st && td_capture_now())
            st = clipped(&up, a->view.shape.dim[p->axis[k]]);
        if (!st && step[k] == 1)
            part = td_array_ref(&up);
        else if (!st)
            st = td_array_apply(OP_multiply, (td_operand[]){{.array = &up}, by}, 2, &part);
        if (!st && k == 0)
            sum = td_array_ref(&part);
        else if (!st)
            st = td_array_apply(OP_add, (td_operand[]){{.array = out}, {.array = &part}}, 2, &sum);
        td_array_unref(&wide);
        td_array_unref(&up);
        td_array_unref(&part);
        td_array_unref(out);
        *out = sum;
    }
    if (st)
        td_array_unref(out);
    return st;
}

/* index is in range and has `rank` axes, followed by axes of extent 1. */
static td_status
record_gather(const td_array *a, const td_array *index, int rank, int axis, const td_shape *result,
              td_array *out)
{
    td_node *src = NULL, *at = NULL, *n = NULL;
    td_status st = td_array_node(a, &src);

    if (!st)
        st = td_array_node(index, &at);
    if (!st)
        st = td_cut((td_node *[]){src, at}, 2);
    if (!st)
        st = td_node_new(TD_N_GATHER, td_array_dev(a), td_array_dtype(a), result, &n);
    if (!st) {
        n->par[0] = (td_scalar){.dt = TD_I64, .i = axis};
        n->par[1] = (td_scalar){.dt = TD_I64, .i = rank};
        td_node_add_src(n, src);
        td_node_add_src(n, at);
    }
    td_node_unref(src);
    td_node_unref(at);
    return st ? st : td_record(n, out);
}

/* ---- rolling ---- */

/* Offsets along axis k, of n elements, of what comes to each index after a roll by `by`: a node of the axis and
 * `behind` axes of extent 1. */
static td_status
rolled_offsets(td_dev *d, int64_t n, int64_t stride, int64_t by, int behind, td_node **out)
{
    td_scalar whole = {.dt = TD_I64, .i = n * stride};
    td_shape s = {.ndim = behind + 1, .dim = {n}};
    td_node *at, *past, *before;
    td_status st;

    for (int i = 1; i <= behind; i++)
        s.dim[i] = 1;
    TD_TRY(td_node_new(TD_N_IOTA, d, TD_I64, &s, &at));
    at->par[0] = (td_scalar){.dt = TD_I64, .i = by ? whole.i - by * stride : 0};
    at->par[1] = (td_scalar){.dt = TD_I64, .i = stride};
    td_node_seal(at);
    *out = at;
    if (!by)
        return TD_OK;
    st = td_node_with(stride < 0 ? OP_less_equal : OP_greater_equal, TD_BOOL, td_node_ref(at),
                      whole, &past);
    if (st) {
        td_node_unref(at);
        return st;
    }
    st = td_node_with(OP_subtract, TD_I64, td_node_ref(at), whole, &before);
    if (st) {
        td_node_unref(at);
        td_node_unref(past);
        return st;
    }
    return td_node_over(TD_N_OP, OP_select, TD_I64, (td_node *[]){past, before, at}, 3, out);
}

/* Offsets in a's memory along the axes [first, last]. */
static td_status
rolled_places(const td_array *a, const int64_t *by, int first, int last, td_array *out)
{
    td_node *sum = NULL, *part;
    td_status st = TD_OK;

    for (int k = first; k <= last && !st; k++) {
        int64_t n = a->view.shape.dim[k];

        st = rolled_offsets(td_array_dev(a), n, a->view.stride[k], n ? (by[k] % n + n) % n : 0,
                            a->view.shape.ndim - 1 - k, &part);
        if (st)
            td_node_unref(sum);
        else if (sum)
            st = td_node_over(TD_N_OP, OP_add, TD_I64, (td_node *[]){sum, part}, 2, &sum);
        else
            sum = part;
    }
    return st ? st : td_array_of_node(sum, out);
}

td_status
td_array_roll(const td_array *a, const int64_t *by, td_array *out)
{
    td_pick p = {.n = 0};
    td_array from, at;
    td_status st;
    td_view v;
    int last = -1;

    for (int k = 0; k < a->view.shape.ndim; k++)
        last = by[k] ? k : last;
    TD_ASSERT(last >= 0);
    for (int k = 0; k <= last; k++)
        if (p.n || by[k])
            p.axis[p.n++] = k;
    p.place = p.axis[0];
    TD_TRY(rolled_places(a, by, p.place, last, &at));
    v = td_pick_merged(&a->view, &p);
    from = td_array_view(a, &v);
    st = record_gather(&from, &at, p.n, p.place, &a->view.shape, out);
    td_array_unref(&from);
    td_array_unref(&at);
    return st;
}

td_view
td_pick_merged(const td_view *own, const td_pick *p)
{
    td_view v = {.offset = own->offset};
    int others = 0;

    for (int i = 0; i <= own->shape.ndim; i++) {
        if (others == p->place && v.shape.ndim == others) {
            v.shape.dim[v.shape.ndim] = 1;
            v.stride[v.shape.ndim++] = 1;
        }
        if (i == own->shape.ndim || is_picked(p, i))
            continue;
        v.shape.dim[v.shape.ndim] = own->shape.dim[i];
        v.stride[v.shape.ndim++] = own->stride[i];
        others++;
    }
    return v;
}

/* a is read by sums of its strides, so by its own memory: a part of complex elements is an operation on them. */
static td_status
own_memory(const td_array *a, td_array *out)
{
    if (!td_dtype_is_complex((td_dtype)a->store->dt) || td_dtype_is_complex(td_array_dtype(a))) {
        *out = td_array_ref(a);
        return TD_OK;
    }
    return td_array_copy(a, out);
}

static td_status
pick_sums(const td_array *a, const td_pick *p, const td_shape *result, const td_shape *spread,
          td_array *out)
{
    bool one = p->n == 1 && p->axis[0] == p->place;
    int64_t step[TD_MAXDIM] = {1};
    td_array own, from, at;
    td_status st;
    td_view v;

    if (one)
        own = td_array_ref(a);
    else
        TD_TRY(own_memory(a, &own));
    for (int k = 0; k < p->n && !one; k++)
        step[k] = own.view.stride[p->axis[k]];
    st = td_pick_sum(&own, p, spread, step, &at);
    if (!st) {
        v = td_pick_merged(&own.view, p);
        from = one ? td_array_ref(&own) : td_array_view(&own, &v);
        st = record_gather(&from, &at, spread->ndim - (from.view.shape.ndim - p->place - 1),
                           p->place, result, out);
        td_array_unref(&from);
        td_array_unref(&at);
    }
    td_array_unref(&own);
    return st;
}

static td_status
pick_held(const td_array *a, const td_pick *p, td_array *out)
{
    td_shape result, spread;
    td_status st;

    TD_TRY(td_pick_shapes(a, p, &result, &spread));
    TD_TRY(td_pick_check(a, p));
    if (td_array_hosted(a) && (st = td_chunk_pick(a, p, &result, &spread, out)) != TD_SKIP)
        return st;
    return pick_sums(a, p, &result, &spread, out);
}

td_status
td_array_pick(const td_array *a, const td_pick *p, td_array *out)
{
    td_picked k;
    td_status st = td_now_pick(a, p, out);

    if (st != TD_SKIP)
        return st;
    TD_TRY(td_picked_begin(p, &k));
    st = pick_held(a, &k.p, out);
    td_picked_end(&k);
    return st;
}

td_status
td_array_take(const td_array *a, const td_array *index, int axis, td_array *out)
{
    td_pick p = {.n = 1, .axis = {axis}, .shown = {axis}, .index = {index}, .place = axis};

    TD_ASSERT(td_array_dtype(index) == TD_I64 && axis >= 0 && axis < a->view.shape.ndim);
    return td_array_pick(a, &p, out);
}
