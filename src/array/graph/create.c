/* create.c - arrays of constants, of numbers, of host memory. */
#include "array/graph/array.h"

#include "array/graph/capture.h"
#include "array/graph/internal.h"
#include "array/graph/values.h"

td_status
td_array_full_as(td_dev *d, td_dtype dt, const td_view *layout, td_scalar value, td_array *out)
{
    td_node *scalar, *n;
    uint64_t bits[2];
    td_status st;

    td_scalar_bits(value, dt, bits);
    if ((st = td_now_full(d, dt, layout, bits, out)) != TD_SKIP)
        return st;
    TD_TRY(td_node_scalar(d, td_scalar_load(dt, bits), &scalar));
    st = td_node_copy(scalar, dt, layout, &n);
    td_node_unref(scalar);
    TD_TRY(st);
    return td_record(n, out);
}

td_status
td_array_full(td_dev *d, td_dtype dt, const td_shape *s, td_scalar value, td_array *out)
{
    td_view layout = td_view_contiguous(s);

    return td_array_full_as(d, dt, &layout, value, out);
}

td_status
td_array_number(td_dev *d, td_scalar value, td_array *out)
{
    td_node *n;

    TD_TRY(td_node_scalar(d, value, &n));
    return td_array_of_node(n, out);
}

static td_status
new_leaf(td_dev *d, td_dtype dt, const td_view *v, td_node **out)
{
    size_t nbytes = (size_t)td_shape_size(&v->shape) * td_dtype_size(dt);
    td_buf *b;
    td_status st;

    TD_TRY(td_buf_new(d, td_dev_stream(d), nbytes, &b));
    st = td_node_leaf(b, dt, v, out);
    td_buf_unref(b);
    return st;
}

td_status
td_array_empty_as(td_dev *d, td_dtype dt, const td_view *layout, td_array *out)
{
    td_node *n;

    TD_TRY(new_leaf(d, dt, layout, &n));
    return td_array_of_node(n, out);
}

td_status
td_array_empty(td_dev *d, td_dtype dt, const td_shape *s, td_array *out)
{
    td_view layout = td_view_contiguous(s);

    return td_array_empty_as(d, dt, &layout, out);
}

td_status
td_array_iota(td_dev *d, td_dtype dt, int64_t count, td_scalar start, td_scalar step, td_array *out)
{
    td_shape s = {.ndim = 1, .dim = {count}};
    td_node *n;
    td_status st;

    TD_ASSERT(start.dt == step.dt && (start.dt == TD_I64 || start.dt == TD_F64));
    TD_TRY(td_shape_make(1, &count, &s));
    st = td_now_iota(d, dt, count, start, step, out);
    if (st != TD_SKIP)
        return st;
    TD_TRY(td_node_new(TD_N_IOTA, d, dt, &s, &n));
    n->par[0] = start;
    n->par[1] = step;
    return td_record(n, out);
}

td_status
td_array_from_host(td_dev *d, td_dtype dt, const td_shape *s, const void *data, td_array *out)
{
    td_view layout = td_view_contiguous(s);

    return td_array_from_host_as(d, dt, &layout, data, out);
}

td_status
td_array_from_host_as(td_dev *d, td_dtype dt, const td_view *layout, const void *data,
                      td_array *out)
{
    size_t nbytes = (size_t)td_shape_size(&layout->shape) * td_dtype_size(dt);
    td_status st = TD_OK;
    td_node *n;
    void *token;

    TD_TRY(new_leaf(d, dt, layout, &n));
    token = td_graph_unlock();
    if (nbytes)
        st = td_copy_in(td_dev_stream(d), n->buf->ptr, data, nbytes);
    td_graph_lock(token);
    if (st) {
        td_node_unref(n);
        return st;
    }
    return td_array_of_node(n, out);
}

td_status
td_array_wrap(td_buf *b, td_dtype dt, const td_view *v, bool readonly, td_array *out)
{
    td_shape all = {.ndim = 1, .dim = {(int64_t)(b->nbytes / td_dtype_size(dt))}};
    td_view whole = td_view_contiguous(&all);
    td_node *n;

    if (td_dev_info(b->dev)->simt && b->ptr % td_dtype_size(dt))
        return td_fail(TD_ERR_VALUE,
                       "wrap: %s reads %s at multiples of %zu bytes, and %#llx is none",
                       td_dev_info(b->dev)->name, td_dtype_name(dt), td_dtype_size(dt),
                       (unsigned long long)b->ptr);
    atomic_fetch_or(&b->flags, TD_BUF_SHARED);
    TD_TRY(td_node_leaf(b, dt, &whole, &n));
    TD_TRY(td_array_of_node(n, out));
    out->store->readonly = readonly;
    out->view = *v;
    out->whole = v->offset == 0 && td_shape_eq(&v->shape, &all) && td_view_is_contiguous(v);
    return TD_OK;
}

/* Counters that n draws use up: one per four 4-byte uniforms or float32 normals, one per two
 * of anything else. */
static uint64_t
counters(td_dist dist, td_dtype dt, uint64_t n)
{
    return dist != TD_DIST_INTEGERS && dt == TD_F32 ? n / 4 + 1 : n / 2 + 1;
}

td_status
td_array_random(td_dev *d, td_rng *g, td_dist dist, td_dtype dt, const td_shape *s,
                const td_scalar par[2], td_array *out)
{
    td_node *n;
    bool ok = dist == TD_DIST_INTEGERS ? td_dtype_is_int(dt) || dt == TD_BOOL
                                       : dt == TD_F32 || dt == TD_F64;

    if (!ok)
        return td_fail(TD_ERR_TYPE, "random: unsupported dtype %s", td_dtype_name(dt));
    TD_TRY(td_capture_draw(g));
    TD_TRY(td_node_new(TD_N_RANDOM, d, dt, s, &n));
    n->op = (uint16_t)dist;
    n->par[0] = (td_scalar){.dt = TD_U64, .u = g->key};
    n->par[1] = (td_scalar){.dt = TD_U64, .u = g->offset};
    n->par[2] = n->par[3] = (td_scalar){.dt = TD_F64};
    for (int i = 0; i < 2 && par; i++)
        n->par[2 + i] = par[i];
    g->offset += counters(dist, dt, (uint64_t)td_shape_size(s));
    return td_record(n, out);
}
