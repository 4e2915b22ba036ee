/* host.c - sources on the host: windows on them, and their elements on the way to the device. */
#include "array/host.h"

#include <stdlib.h>
#include <string.h>

/* ---- sources ---- */

td_status
td_source_new(const td_source *like, td_source **out)
{
    td_source *s = malloc(sizeof *s);
    int64_t lo, hi, size = (int64_t)td_dtype_size(like->dt);

    if (!s)
        return td_fail(TD_ERR_NOMEM, "from_host: no host memory for the source's record");
    *s = *like;
    atomic_init(&s->refs, 1);
    s->file.fd = -1;
    pthread_mutex_init(&s->reading, NULL);
    td_view_extent(&s->view, &lo, &hi);
    if (s->mem && lo < hi)
        td_hostfile_find(&s->file, s->mem + lo * size, s->mem + hi * size, false);
    *out = s;
    return TD_OK;
}

td_source *
td_source_ref(td_source *s)
{
    atomic_fetch_add_explicit(&s->refs, 1, memory_order_relaxed);
    return s;
}

void
td_source_unref(td_source *s)
{
    if (!s || atomic_fetch_sub_explicit(&s->refs, 1, memory_order_acq_rel) != 1)
        return;
    td_hostfile_close(&s->file);
    if (s->release)
        s->release(s->owner);
    pthread_mutex_destroy(&s->reading);
    free(s);
}

void
td_host_unref(td_host *h)
{
    if (!h || atomic_fetch_sub_explicit(&h->refs, 1, memory_order_acq_rel) != 1)
        return;
    td_source_unref(h->src);
    free(h);
}

/* ---- layouts ---- */

/* Axes from the longest stride to the shortest; where one repeats elements, C order. */
static void
axis_order(const td_view *v, int order[])
{
    bool repeats = false;

    for (int i = 0; i < v->shape.ndim; i++)
        repeats |= v->stride[i] == 0 && v->shape.dim[i] > 1;
    for (int i = 0; i < v->shape.ndim; i++) {
        int at = i;

        for (; at > 0 && v->shape.dim[i] > 1 && !repeats; at--) { /* insertion; extents of 1 stay */
            if (llabs(v->stride[order[at - 1]]) >= llabs(v->stride[i]))
                break;
            order[at] = order[at - 1];
        }
        order[at] = i;
    }
}

void
td_host_layout(const td_host *h, td_view *dense)
{
    int order[TD_MAXDIM];
    int64_t step = 1;

    axis_order(&h->view, order);
    dense->shape = h->view.shape;
    dense->offset = 0;
    for (int k = h->view.shape.ndim - 1; k >= 0; k--) {
        dense->stride[order[k]] = step;
        step *= h->view.shape.dim[order[k]];
    }
}

size_t
td_host_bytes(const td_host *h)
{
    return (size_t)td_shape_size(&h->view.shape) * td_dtype_size(h->src->dt);
}

static void
find_start(const td_view *base, int64_t offset, td_retrace *w)
{
    bool done[TD_MAXDIM] = {false};

    for (int n = 0; n < base->shape.ndim; n++) {
        int k = -1;

        for (int i = 0; i < base->shape.ndim; i++)
            if (!done[i] && (k < 0 || base->stride[i] > base->stride[k] ||
                             (base->stride[i] == base->stride[k] && base->shape.dim[k] == 1)))
                k = i; /* of equal strides all but one belong to extents of 1 */
        done[k] = true;
        w->start[k] = base->shape.dim[k] > 1 && base->stride[k] ? offset / base->stride[k] : 0;
        offset -= w->start[k] * base->stride[k];
    }
}

/* The axis of base that stride s steps along for `count` elements; -1: none. */
static int
stepped(const td_view *base, const td_retrace *w, int64_t s, int64_t count, const bool taken[])
{
    for (int k = 0; k < base->shape.ndim; k++) {
        int64_t step = base->stride[k] ? s / base->stride[k] : 0,
                last = w->start[k] + step * (count - 1);

        if (!taken[k] && step && s % base->stride[k] == 0 && last >= 0 && last < base->shape.dim[k])
            return k;
    }
    return -1;
}

bool
td_view_retrace(const td_view *base, const td_view *v, td_retrace *w)
{
    bool taken[TD_MAXDIM] = {false};

    find_start(base, v->offset, w);
    for (int i = 0; i < v->shape.ndim; i++) {
        w->axis[i] = -1;
        w->step[i] = 0;
        if (v->shape.dim[i] <= 1 || v->stride[i] == 0)
            continue;
        w->axis[i] = stepped(base, w, v->stride[i], v->shape.dim[i], taken);
        if (w->axis[i] < 0)
            return false;
        taken[w->axis[i]] = true;
        w->step[i] = v->stride[i] / base->stride[w->axis[i]];
    }
    return true;
}

/* A reader's window as a box of its elements, in the same order; false: it is none. */
static bool
box_of(const td_host *h, td_box *box)
{
    const td_view *base = &h->src->view;
    int last = -1;
    td_retrace w;

    if (td_shape_size(&h->view.shape) == 0 || !td_view_retrace(base, &h->view, &w))
        return false;
    box->ndim = base->shape.ndim;
    for (int k = 0; k < box->ndim; k++) {
        box->start[k] = w.start[k];
        box->step[k] = box->count[k] = 1;
    }
    for (int i = 0; i < h->view.shape.ndim; i++) {
        if (h->view.shape.dim[i] == 1)
            continue;
        if (w.axis[i] <= last || w.step[i] < 1)
            return false;
        last = w.axis[i];
        box->step[last] = w.step[i];
        box->count[last] = h->view.shape.dim[i];
    }
    return true;
}

/* ---- nodes ---- */

td_status
td_host_new(td_source *s, const td_view *view, td_host **out)
{
    td_host *h = malloc(sizeof *h);

    if (!h)
        return td_fail(TD_ERR_NOMEM, "from_host: no host memory for a window");
    atomic_init(&h->refs, 1);
    h->src = td_source_ref(s);
    h->view = *view;
    *out = h;
    return TD_OK;
}

td_status
td_host_node(td_dev *d, td_source *s, const td_view *view, td_node **out)
{
    td_host *h;
    td_status st;

    TD_TRY(td_host_new(s, view, &h));
    st = td_node_new(TD_N_HOST, d, s->dt, &view->shape, out);
    if (st) {
        td_host_unref(h);
        return st;
    }
    (*out)->host = h;
    (*out)->hosted = true;
    td_host_layout(h, &(*out)->view);
    return TD_OK;
}

/* Does the window lie in memory as the node says, so that views of the one are views of the other? */
static bool
is_dense(const td_node *n)
{
    const td_view *v = &n->host->view;

    for (int i = 0; i < v->shape.ndim; i++)
        if (v->shape.dim[i] > 1 && v->stride[i] != n->view.stride[i])
            return false;
    return true;
}

td_status
td_host_window(const td_node *n, const td_view *v, td_node **out)
{
    td_host h = {.src = n->host->src, .view = *v};
    const td_view *own = &n->host->view;
    td_box box;
    td_retrace w;

    h.view.offset = own->offset;
    if (h.src->mem && is_dense(n)) {
        h.view.offset += v->offset;
        return td_host_node(n->dev, h.src, &h.view, out);
    }
    if (!td_view_retrace(&n->view, v, &w))
        return TD_SKIP;
    for (int k = 0; k < own->shape.ndim; k++)
        h.view.offset += w.start[k] * own->stride[k];
    for (int i = 0; i < v->shape.ndim; i++)
        h.view.stride[i] = w.axis[i] < 0 ? 0 : w.step[i] * own->stride[w.axis[i]];
    if (!h.src->mem && td_shape_size(&v->shape) && !box_of(&h, &box))
        return TD_SKIP;
    return td_host_node(n->dev, h.src, &h.view, out);
}

/* ---- elements on their way ---- */

/* The dims of a window in the order in which they are copied, neighbours that lie as one joined. */
static int
copied_dims(const td_view *v, int64_t dim[], int64_t stride[])
{
    int order[TD_MAXDIM], n = 0;

    axis_order(v, order);
    for (int k = 0; k < v->shape.ndim; k++) {
        int64_t d = v->shape.dim[order[k]], s = v->stride[order[k]];

        if (d == 1)
            continue;
        if (n && stride[n - 1] == s * d) {
            dim[n - 1] *= d;
            stride[n - 1] = s;
            continue;
        }
        dim[n] = d;
        stride[n++] = s;
    }
    if (!n) {
        dim[n] = 1;
        stride[n++] = 1;
    }
    return n;
}

static void
copy_strided(char *to, const char *from, int64_t n, int64_t stride, size_t size)
{
    int64_t step = stride * (int64_t)size;

    switch (size) {
    case 1:
        for (int64_t i = 0; i < n; i++)
            to[i] = from[i * step];
        return;
    case 4:
        for (int64_t i = 0; i < n; i++)
            memcpy(to + 4 * i, from + i * step, 4);
        return;
    case 8:
        for (int64_t i = 0; i < n; i++)
            memcpy(to + 8 * i, from + i * step, 8);
        return;
    default:
        for (int64_t i = 0; i < n; i++)
            memcpy(to + (size_t)i * size, from + i * step, size);
    }
}

/* Elements [first, first + count) of a window with dims d, n of them, in that order. */
static td_status
copy_window(td_source *s, const td_view *v, const int64_t *dim, const int64_t *stride, int n,
            int64_t first, int64_t count, char *to)
{
    int64_t row = dim[n - 1], size = (int64_t)td_dtype_size(s->dt);

    while (count) {
        int64_t at = first % row, rest = first / row, run = row - at < count ? row - at : count,
                offset = v->offset + at * stride[n - 1];
        const char *from;

        for (int i = n - 2; i >= 0; i--) {
            offset += rest % dim[i] * stride[i];
            rest /= dim[i];
        }
        from = s->mem + offset * size;
        if (stride[n - 1] == 1 || run == 1)
            TD_TRY(td_hostfile_read(&s->file, from, (size_t)(run * size), to));
        else
            copy_strided(to, from, run, stride[n - 1], (size_t)size);
        to += run * size;
        first += run;
        count -= run;
    }
    return TD_OK;
}

td_status
td_host_fill(void *ctx, size_t at, size_t nbytes, void *to)
{
    const td_host *h = ctx;
    int64_t dim[TD_MAXDIM], stride[TD_MAXDIM];
    size_t size = td_dtype_size(h->src->dt);
    int n = copied_dims(&h->view, dim, stride);

    return copy_window(h->src, &h->view, dim, stride, n, (int64_t)(at / size),
                       (int64_t)(nbytes / size), to);
}

/* A reader's elements in C order. */
static td_status
read_box(const td_host *h, void *out)
{
    td_box box;
    td_status st;

    TD_ASSERT(box_of(h, &box)); /* td_host_window has seen to it */
    pthread_mutex_lock(&h->src->reading);
    st = h->src->read(h->src->owner, &box, out);
    pthread_mutex_unlock(&h->src->reading);
    return st;
}

td_status
td_host_copy(const td_host *h, td_stream *s, uintptr_t to)
{
    size_t nbytes = td_host_bytes(h);
    void *tmp;
    td_status st;

    if (!nbytes)
        return TD_OK;
    if (h->src->mem)
        return td_copy_fill(s, to, nbytes, td_host_fill, (void *)(uintptr_t)h);
    if (td_dev_info(td_stream_dev(s))->kind == TD_DEV_CPU)
        return read_box(h, (void *)to); // NOLINT(performance-no-int-to-ptr)
    tmp = td_host_alloc(nbytes);
    if (!tmp)
        return td_fail(TD_ERR_NOMEM, "from_host: %zu bytes of host memory", nbytes);
    st = read_box(h, tmp);
    if (!st)
        st = td_copy_in(s, to, tmp, nbytes);
    td_host_free(tmp, nbytes);
    return st;
}

td_status
td_host_get(const td_host *h, void *out)
{
    td_view c = td_view_contiguous(&h->view.shape), own;
    int64_t dim[TD_MAXDIM], stride[TD_MAXDIM];
    td_view flat = h->view;
    td_dev *cpu;
    int n;

    if (!td_host_bytes(h))
        return TD_OK;
    if (!h->src->mem)
        return read_box(h, out);
    td_host_layout(h, &own);
    TD_TRY(td_dev_get("cpu", &cpu));
    if (td_view_eq(&own, &c))
        return td_copy_fill(td_dev_stream(cpu), (uintptr_t)out, td_host_bytes(h), td_host_fill,
                            (void *)(uintptr_t)h);
    n = flat.shape.ndim;
    memcpy(dim, flat.shape.dim, sizeof dim);
    memcpy(stride, flat.stride, sizeof stride);
    return copy_window(h->src, &flat, dim, stride, n, 0, td_shape_size(&flat.shape), out);
}

td_status
td_host_load(td_node *n)
{
    td_host *h = n->host;
    td_view v = n->view;
    td_buf *b;
    void *token;
    td_status st;

    TD_TRY(td_buf_new(n->dev, td_dev_stream(n->dev), td_host_bytes(h), &b));
    atomic_fetch_add(&h->refs, 1);
    token = td_graph_unlock();
    st = td_host_copy(h, td_dev_stream(n->dev), b->ptr);
    td_graph_lock(token);
    td_host_unref(h);
    if (st) {
        td_buf_unref(b);
        return st;
    }
    td_node_settle(n, b, &v);
    return TD_OK;
}
