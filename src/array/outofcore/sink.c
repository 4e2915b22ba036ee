/* sink.c - rows of results on their way to the host.
 *
 * A mapped file has no room on the disk until it is written, and touching memory without room
 * ends the process.  So room is reserved first.
 */
#include "array/outofcore/feed.h"
#include "array/run/eval.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include <string.h>

static void
keep_memory(void *owner)
{
    (void)owner;
}

/* On the CPU the kernel writes into the sink itself. */
static td_status
put_in_place(const td_job *j, td_node *part, const td_view *to)
{
    size_t size = td_dtype_size(j->dt);
    td_view v = *to;
    int64_t lo, hi;
    td_status st;
    td_buf *b;

    td_view_extent(to, &lo, &hi);
    v.offset -= lo;
    TD_TRY(td_buf_wrap(part->dev, j->sink->mem + lo * (int64_t)size, (size_t)(hi - lo) * size,
                       keep_memory, NULL, &b));
    st = td_eval_into(part, j->dt, b, &v);
    td_buf_unref(b);
    return st;
}

/* A leaf whose elements lie as in `to`, or in C order if `to` is not dense. */
static td_status
lay_out_part(td_node *part, const td_view *to, bool *fits, td_node **out)
{
    td_view c = td_view_contiguous(&to->shape), *layout;
    td_host seen = {.view = *to};
    td_view dense;
    td_status st;

    td_host_layout(&seen, &dense);
    *fits = true;
    for (int i = 0; i < to->shape.ndim; i++)
        *fits &= to->shape.dim[i] <= 1 || to->stride[i] == dense.stride[i];
    layout = *fits ? &dense : &c;
    if (!td_node_pending(part) && part->view.offset == 0 && td_view_eq(&part->view, layout)) {
        *out = td_node_ref(part);
        return TD_OK;
    }
    TD_TRY(td_node_copy(part, (td_dtype)part->dt, layout, out));
    st = td_eval_node(*out);
    if (st)
        td_node_unref(*out);
    return st;
}

static void
sink_scatter(const td_drained *x, const char *from)
{
    const td_view *to = &x->to;
    size_t size = td_dtype_size(x->sink->dt);
    int64_t n = td_shape_size(&to->shape);
    int last = to->shape.ndim - 1;
    int64_t row = to->shape.dim[last];

    for (int64_t r = 0; r * row < n; r++) {
        int64_t rest = r, offset = to->offset;
        char *at;

        for (int i = last - 1; i >= 0; i--) {
            offset += rest % to->shape.dim[i] * to->stride[i];
            rest /= to->shape.dim[i];
        }
        at = x->sink->mem + offset * (int64_t)size;
        for (int64_t i = 0; i < row; i++, from += size)
            memcpy(at + i * to->stride[last] * (int64_t)size, from, size);
    }
}

static td_status
hand_over(const td_drained *x, const void *from)
{
    td_box box = {.ndim = x->to.shape.ndim};

    if (!x->sink->write) {
        sink_scatter(x, from);
        return TD_OK;
    }
    for (int i = 0; i < box.ndim; i++) {
        box.start[i] = i == x->axis ? x->at : 0;
        box.step[i] = 1;
        box.count[i] = x->to.shape.dim[i];
    }
    return x->sink->write(x->sink->owner, &box, from);
}

td_status
td_sink_copy(const td_drained *x, td_stream *s)
{
    size_t size = td_dtype_size(x->sink->dt), nbytes = (size_t)td_shape_size(&x->to.shape) * size;
    void *tmp;
    td_status st;

    if (x->fits)
        return td_copy_out(s, x->sink->mem + x->to.offset * (int64_t)size, x->n->buf->ptr, nbytes);
    tmp = td_host_alloc(nbytes);
    if (!tmp)
        return td_fail(TD_ERR_NOMEM, "stream: %zu bytes of host memory", nbytes);
    st = td_copy_out(s, tmp, x->n->buf->ptr, nbytes);
    if (!st)
        st = hand_over(x, tmp);
    td_host_free(tmp, nbytes);
    return st;
}

td_status
td_sink_put(td_job *j, td_node *part)
{
    td_drained x = {.sink = j->sink,
                    .to = td_view_slice(&j->sink->view, j->to, j->at, 1, j->count),
                    .axis = j->to,
                    .at = j->at};
    void *token;
    bool fits;
    td_status st;

    if (td_dev_info(part->dev)->host && !j->sink->write)
        return put_in_place(j, part, &x.to);
    TD_TRY(lay_out_part(part, &x.to, &fits, &x.n));
    x.fits = fits && !j->sink->write;
    if (j->drain) {
        st = td_drain_give(j->drain, &x);
    } else {
        token = td_graph_unlock();
        st = td_sink_copy(&x, td_dev_stream(x.n->dev));
        td_graph_lock(token);
    }
    td_node_unref(x.n);
    return st;
}

/* ---- memory for results ---- */

typedef struct hostbytes {
    void *mem;
    size_t nbytes;
} hostbytes;

static void
free_bytes(void *owner)
{
    hostbytes *b = owner;

    td_host_free(b->mem, b->nbytes);
    free(b);
}

td_status
td_source_of_bytes(td_dtype dt, const td_view *view, td_source **out)
{
    size_t nbytes = (size_t)td_shape_size(&view->shape) * td_dtype_size(dt), left = 0, total = 0;
    td_source like = {.dt = dt, .view = *view, .release = free_bytes};
    hostbytes *b;
    td_dev *cpu;
    td_status st;

    TD_TRY(td_dev_get("cpu", &cpu));
    TD_TRY(td_dev_memory(cpu, &left, &total));
    like.owner = b = nbytes < left ? malloc(sizeof *b) : NULL;
    if (b)
        *b = (hostbytes){like.mem = td_host_alloc(nbytes), nbytes};
    if (!b || !b->mem) {
        free(b);
        return td_fail(TD_ERR_NOMEM,
                       "a result of %zu bytes fits neither the device nor the host's memory (%zu "
                       "bytes are free): give td.stream a file for it, out=numpy.memmap(…)",
                       nbytes, left);
    }
    st = td_source_new(&like, out);
    if (st)
        free_bytes(b);
    return st;
}

/* ---- results that nobody keeps ---- */

/* Reserves room on the disk if the memory shows a file. */
static td_status
reserve_disk(const td_sink *to)
{
    size_t size = td_dtype_size(to->dt);
    td_hostfile f;
    int64_t lo, hi;
    int r = 0;

    td_view_extent(&to->view, &lo, &hi);
    if (!to->mem || lo == hi)
        return TD_OK;
    td_hostfile_find(&f, to->mem + lo * (int64_t)size, to->mem + hi * (int64_t)size, true);
    if (f.fd >= 0)
        r = posix_fallocate(f.fd, (int64_t)(uintptr_t)to->mem + lo * (int64_t)size - f.lo + f.at,
                            (hi - lo) * (int64_t)size);
    td_hostfile_close(&f);
    if (r && r != EINVAL && r != EOPNOTSUPP && r != ENODEV)
        return td_fail(TD_ERR_IO, "stream: no room for the %zu bytes of out= in its file: %s",
                       (size_t)(hi - lo) * size, strerror(r));
    return TD_OK;
}

/* Writes all elements of a leaf. */
static td_status
store_leaf(const td_node *n, td_sink *to)
{
    td_job j = {.sink = to, .dt = to->dt, .count = n->view.shape.ndim ? n->view.shape.dim[0] : 1};
    td_shape one = {.ndim = 1, .dim = {1}};
    td_node *flat = NULL;
    td_view v = n->view;
    td_sink own = *to;
    td_status st;

    if (!v.shape.ndim) { /* a number has no axes, and so is its own row */
        TD_TRY(td_view_reshape(&n->view, &one, &v));
        TD_TRY(td_view_reshape(&to->view, &one, &own.view));
        j.sink = &own;
    }
    TD_TRY(td_node_leaf(n->buf, (td_dtype)n->dt, &v, &flat));
    st = td_sink_put(&j, flat);
    td_node_unref(flat);
    return st;
}

static td_status
store_node(td_node *n, td_sink *to, int64_t rows)
{
    td_status st = TD_SKIP;

    if (n->hosted && n->kind != TD_N_HOST && td_node_pending(n))
        st = td_chunk_eval(n, &(td_chunkopts){.sink = to, .rows = rows});
    if (st != TD_SKIP && (st || !n->buf))
        return st;
    TD_TRY(td_eval_node(n));
    return td_shape_size(&n->view.shape) ? store_leaf(n, to) : TD_OK;
}

td_status
td_chunk_store(const td_array *a, td_sink *to, int64_t rows)
{
    char text[2][256];
    td_node *n, *cast;
    td_status st;

    if (!td_shape_eq(&a->view.shape, &to->view.shape))
        return td_fail(TD_ERR_VALUE, "stream: a result of shape %s does not fit out=, of shape %s",
                       td_shape_text(&a->view.shape, text[0], sizeof text[0]),
                       td_shape_text(&to->view.shape, text[1], sizeof text[1]));
    TD_TRY(reserve_disk(to));
    TD_TRY(td_array_node(a, &n));
    if (n->dt != to->dt || n->kind == TD_N_HOST) {
        st = td_node_copy(n, to->dt, NULL, &cast);
        td_node_unref(n);
        TD_TRY(st);
        td_node_follow(cast);
        n = cast;
    }
    st = store_node(n, to, rows);
    td_node_unref(n);
    return st;
}

td_status
td_chunk_memory(td_node *n, td_node **out)
{
    td_status st;

    if (n->host->src->mem && !n->host->list) {
        *out = td_node_ref(n);
        return TD_OK;
    }
    if (td_chunk_fits(n))
        return TD_SKIP;
    TD_TRY(td_node_copy(n, (td_dtype)n->dt, NULL, out));
    st = td_eval_value(*out);
    if (!st && (*out)->kind != TD_N_HOST)
        st = TD_SKIP;
    if (st)
        td_node_unref(*out);
    return st;
}

td_status
td_chunk_host(const td_array *a, td_source **out, td_view *view)
{
    td_node *n, *m;
    td_status st;

    if (!td_array_hosted(a))
        return TD_SKIP;
    TD_TRY(td_array_node(a, &n));
    st = td_eval_value(n);
    if (!st)
        st = n->kind == TD_N_HOST ? td_chunk_memory(n, &m) : TD_SKIP;
    td_node_unref(n);
    TD_TRY(st);
    *out = td_source_ref(m->host->src);
    *view = m->host->view;
    td_node_unref(m);
    return TD_OK;
}

td_status
td_chunk_stream(const td_array *a, int64_t rows)
{
    td_node *n = td_node_ref(a->store->node);
    td_status st = TD_SKIP;

    if (n->hosted && n->kind != TD_N_HOST && td_node_pending(n))
        st = td_chunk_eval(n, &(td_chunkopts){.host = true, .rows = rows});
    td_node_unref(n);
    return st == TD_SKIP ? td_array_eval(&a, 1) : st;
}
