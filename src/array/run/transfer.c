/* transfer.c - values that leave while work goes on: snapshots, and copies on a stream.
 *
 * A stream made by td_stream_new runs after the work that the default stream was given before, and the default stream after
 * its work.  So a copy on such a stream needs no events around it.  On another library's stream td_stream_enter and
 * td_stream_leave put them there.
 */
#include "array/graph/array.h"

#include "array/graph/internal.h"
#include "array/run/eval.h"
#include "array/run/spill.h"
#include "dev/core/tape.h"

#include <stdlib.h>

td_status
td_array_snapshot(const td_array *a, td_array *out)
{
    td_node *n, *copy;
    td_status st;

    TD_TRY(td_tape_refuse("reading a value on the host"));
    TD_TRY(td_array_node(a, &n));
    st = td_eval_node(n);
    if (!st && td_node_shared(n)) { /* others may write to that memory at any time */
        st = td_node_copy(n, (td_dtype)n->dt, NULL, &copy);
        if (!st) {
            td_node_unref(n);
            n = copy;
            st = td_eval_node(n);
        }
    }
    if (!st)
        return td_array_of_node(n, out);
    td_node_unref(n);
    return st;
}

/* A copy between host memory and an array's, on s. */
static td_status
copy_host(td_stream *s, bool out, void *host, td_buf *b, uintptr_t at, size_t nbytes, bool *later)
{
    void *token;
    td_status st;

    *later = false;
    TD_TRY(td_stream_enter(s));
    (void)td_buf_ref(b);
    token = td_graph_unlock();
    st = td_copy_later(s, out, host, at, nbytes, later);
    td_graph_lock(token);
    td_buf_use(b, s);
    td_buf_unref(b);
    return st ? st : td_stream_leave(s);
}

/* a's memory for a copy of nbytes on s: evaluated and contiguous; with `write` no other array shares it. */
static td_status
memory_for(const td_array *a, td_stream *s, bool write, size_t nbytes, td_buf **buf, uintptr_t *at)
{
    size_t item = td_dtype_size(td_array_dtype(a));
    td_view v;

    if (td_array_dev(a) != td_stream_dev(s))
        return td_fail(TD_ERR_VALUE, "copyto: the array lives on %s, the stream on %s",
                       td_dev_info(td_array_dev(a))->name, td_dev_info(td_stream_dev(s))->name);
    if ((size_t)td_array_size(a) * item != nbytes)
        return td_fail(TD_ERR_VALUE, "copyto: %zu bytes into an array of %zu", nbytes,
                       (size_t)td_array_size(a) * item);
    if (write)
        TD_TRY(td_storage_own(a->store, NULL));
    TD_TRY(td_array_memory(a, false, buf, &v));
    if (!td_view_is_contiguous(&v))
        return td_fail(TD_ERR_VALUE, "copyto: a copy on a stream takes C-contiguous arrays");
    *at = (*buf)->ptr + (uintptr_t)v.offset * item;
    return TD_OK;
}

td_status
td_array_store(const td_array *src, td_stream *s, void *out, size_t nbytes, bool *later)
{
    td_buf *b;
    uintptr_t at;

    TD_TRY(memory_for(src, s, false, nbytes, &b, &at));
    return copy_host(s, true, out, b, at, nbytes, later);
}

td_status
td_array_load(const td_array *dst, td_stream *s, const void *in, size_t nbytes, bool *later)
{
    td_buf *b;
    uintptr_t at;

    TD_TRY(memory_for(dst, s, true, nbytes, &b, &at));
    return copy_host(s, false, (void *)(uintptr_t)in, b, at, nbytes, later); /* only read */
}

td_status
td_array_move(const td_array *dst, const td_array *src, td_stream *s)
{
    size_t nbytes = (size_t)td_array_size(src) * td_dtype_size(td_array_dtype(src));
    td_buf *to = NULL, *from;
    uintptr_t at, of;
    td_status st;

    if (dst->store == src->store)
        return td_fail(TD_ERR_VALUE, "copyto: on a stream the arrays must not share memory");
    TD_TRY(memory_for(dst, s, true, nbytes, &to, &at));
    (void)td_buf_ref(to); /* while the source is computed */
    st = memory_for(src, s, false, nbytes, &from, &of);
    if (!st)
        st = td_stream_enter(s);
    if (!st)
        st = td_copy(s, at, of, nbytes);
    if (!st) {
        td_buf_use(to, s);
        td_buf_use(from, s);
        st = td_stream_leave(s);
    }
    td_buf_unref(to);
    return st;
}

/* ---- other devices ---- */

/* a's memory, or a copy's, without gaps between its elements in some order of axes. */
static td_status
dense_memory(const td_array *a, td_array *copy, td_buf **buf, td_view *v, int64_t *first)
{
    int64_t lo, hi;

    TD_TRY(td_array_memory(a, false, buf, v));
    td_view_extent(v, &lo, &hi);
    *first = lo;
    if (hi - lo == td_array_size(a))
        return TD_OK;
    TD_TRY(td_array_copy(a, copy));
    TD_TRY(td_array_memory(copy, false, buf, v));
    td_view_extent(v, first, &hi);
    return TD_OK;
}

/* A leaf on d that a copy of v's elements, which lie in `from` from `first` on, will fill, and that copy. */
static td_status
target_of(td_dev *d, td_dtype dt, td_buf *from, const td_view *v, int64_t first, td_array *out,
          td_peercopy *c)
{
    size_t item = td_dtype_size(dt), nbytes = (size_t)td_shape_size(&v->shape) * item;
    td_view moved = *v;
    td_node *n;
    td_buf *b;
    td_status st;

    moved.offset -= first;
    TD_TRY(td_buf_new(d, NULL, nbytes, &b));
    *c = (td_peercopy){.to = d,
                       .from = from->dev,
                       .dst = b->ptr,
                       .src = from->ptr + (size_t)first * item,
                       .nbytes = nbytes};
    st = td_node_leaf(b, dt, &moved, &n);
    td_buf_unref(b);
    return st ? st : td_array_of_node(n, out);
}

/* sent - an array on its way: its memory, and a dense copy of it where there is one. */
typedef struct sent {
    td_array copy;
    td_buf *from;
} sent;

static td_status
send(const td_array *a, td_dev *d, sent *s, td_array *out, td_peercopy *c)
{
    td_view v;
    int64_t first;

    TD_TRY(dense_memory(a, &s->copy, &s->from, &v, &first));
    (void)td_buf_ref(s->from); /* until its copy has been given to the device */
    return target_of(d, td_array_dtype(a), s->from, &v, first, out, c);
}

td_status
td_arrays_to_devices(const td_array *const *a, td_dev *const *d, int n, td_array *out)
{
    sent *s = calloc((size_t)n, sizeof *s);
    td_peercopy *c = calloc((size_t)n, sizeof *c);
    td_status st = s && c ? TD_OK : td_fail(TD_ERR_NOMEM, "to_device: out of host memory");
    int made = 0;

    for (int i = 0; i < n && !st; i++)
        if (!td_dev_peers(d[i], td_array_dev(a[i])) || !td_array_size(a[i]))
            st = TD_SKIP;
    while (!st && made < n) {
        out[made] = (td_array){0};
        st = send(a[made], d[made], &s[made], &out[made], &c[made]);
        made++;
    }
    if (!st)
        st = td_copy_peers(c, n);
    for (int i = 0; i < made; i++) {
        if (s[i].from) {
            td_buf_use(s[i].from, td_dev_stream(s[i].from->dev));
            td_buf_unref(s[i].from);
        }
        if (s[i].copy.store)
            td_array_unref(&s[i].copy);
        if (st)
            td_array_unref(&out[i]);
    }
    free(s);
    free(c);
    return st;
}

td_status
td_array_to_device(const td_array *a, td_dev *d, td_array *out)
{
    return td_arrays_to_devices(&a, &d, 1, out);
}

/* ---- other processes ---- */

/* A leaf over a copy of n's memory that can be shared. */
static td_status
shareable(const td_node *n, td_node **out)
{
    td_buf *b, *from = td_buf_ref(n->buf);
    td_status st = td_share_new(n->dev, from->nbytes, &b);

    if (st) {
        td_buf_unref(from);
        return st;
    }
    st = td_copy(td_dev_stream(n->dev), b->ptr, from->ptr, from->nbytes);
    if (!st)
        st = td_node_leaf(b, (td_dtype)n->dt, &n->view, out);
    td_buf_unref(b);
    td_buf_unref(from);
    return st;
}

td_status
td_array_send(const td_array *a, td_handle *handle, td_view *view)
{
    td_storage *s = a->store;
    td_node *n;
    td_status st;

    TD_TRY(td_storage_eval(s));
    if (td_share_can(s->node->buf) && !td_node_shared(s->node))
        TD_TRY(td_storage_own(s, NULL)); /* which may copy */
    *view = a->view;
    if (!td_share_can(s->node->buf)) {
        bool keep = td_node_shared(s->node) || s->readonly;

        TD_TRY(shareable(s->node, &n));
        if (keep) {
            st = td_share_send(n->buf, handle);
            td_node_unref(n);
            return st;
        }
        td_storage_set(s, n);
    }
    atomic_fetch_or(&s->node->buf->flags, TD_BUF_SHARED);
    return td_share_send(s->node->buf, handle);
}
