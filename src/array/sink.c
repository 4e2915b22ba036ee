/* sink.c - rows of results on their way to the host. */
#include "array/eval.h"
#include "array/feed.h"

#include <string.h>

static void
keep_memory(void *owner)
{
    (void)owner;
}

/* The CPU writes into the sink itself. */
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

/* A leaf whose elements lie as `to` does, or in C order where that is not dense. */
static td_status
lay_out(td_node *part, const td_view *to, bool *fits, td_node **out)
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
scatter(const td_job *j, const td_view *to, const char *from)
{
    size_t size = td_dtype_size(j->dt);
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
        at = j->sink->mem + offset * (int64_t)size;
        for (int64_t i = 0; i < row; i++, from += size)
            memcpy(at + i * to->stride[last] * (int64_t)size, from, size);
    }
}

static td_status
hand_over(const td_job *j, const td_view *to, const void *from)
{
    td_box box = {.ndim = to->shape.ndim};

    if (!j->sink->write) {
        scatter(j, to, from);
        return TD_OK;
    }
    for (int i = 0; i < box.ndim; i++) {
        box.start[i] = i == j->axis ? j->lo : 0;
        box.step[i] = 1;
        box.count[i] = to->shape.dim[i];
    }
    return j->sink->write(j->sink->owner, &box, from);
}

static td_status
copy_out(const td_job *j, const td_node *n, const td_view *to, bool fits)
{
    size_t size = td_dtype_size(j->dt), nbytes = (size_t)td_shape_size(&to->shape) * size;
    td_stream *s = td_dev_stream(n->dev);
    void *tmp;
    td_status st;

    if (fits)
        return td_copy_out(s, j->sink->mem + to->offset * (int64_t)size, n->buf->ptr, nbytes);
    tmp = td_host_alloc(nbytes);
    if (!tmp)
        return td_fail(TD_ERR_NOMEM, "stream: %zu bytes of host memory", nbytes);
    st = td_copy_out(s, tmp, n->buf->ptr, nbytes);
    if (!st)
        st = hand_over(j, to, tmp);
    td_host_free(tmp, nbytes);
    return st;
}

td_status
td_sink_put(td_job *j, td_node *part)
{
    td_view to = td_view_slice(&j->sink->view, j->axis, j->lo, 1, j->hi - j->lo);
    td_node *n;
    void *token;
    bool fits;
    td_status st;

    if (td_dev_info(part->dev)->kind == TD_DEV_CPU && !j->sink->write)
        return put_in_place(j, part, &to);
    TD_TRY(lay_out(part, &to, &fits, &n));
    token = td_graph_unlock();
    st = copy_out(j, n, &to, fits && !j->sink->write);
    td_graph_lock(token);
    td_node_unref(n);
    return st;
}
