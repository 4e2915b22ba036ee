/* host.c - sources on the host, windows on them, and loading their elements onto the device. */
#include "array/source/host.h"

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
    td_hostlist_unref(h->list);
    free(h);
}

bool
td_host_eq(const td_host *a, const td_host *b)
{
    if (a->src != b->src || a->list != b->list || !td_view_eq(&a->view, &b->view))
        return false;
    return !a->list || (a->listed == b->listed && a->first == b->first && a->step == b->step);
}

td_host
td_host_part(const td_host *h, int axis, int64_t start, int64_t step, int64_t count)
{
    td_host part = *h;

    if (h->list && axis == h->listed) {
        part.first += count ? start * h->step : 0;
        part.step *= step;
        part.view.shape.dim[axis] = count;
    } else {
        part.view = td_view_slice(&h->view, axis, start, step, count);
    }
    return part;
}

/* ---- layouts ---- */

void
td_view_order(const td_view *v, int order[])
{
    bool repeats = false;

    for (int i = 0; i < v->shape.ndim; i++)
        repeats |= v->stride[i] == 0 && v->shape.dim[i] > 1;
    for (int i = 0; i < v->shape.ndim; i++) {
        int at = i;

        /* insertion sort; axes of extent 1 stay in place */
        for (; at > 0 && v->shape.dim[i] > 1 && !repeats; at--) {
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

    if (h->list) {
        *dense = td_view_contiguous(&h->view.shape);
        return;
    }
    td_view_order(&h->view, order);
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
                k = i; /* of axes with equal strides all but one have extent 1 */
        done[k] = true;
        w->start[k] = base->shape.dim[k] > 1 && base->stride[k] ? offset / base->stride[k] : 0;
        offset -= w->start[k] * base->stride[k];
    }
}

/* The axis of base along which stride s steps for `count` elements; -1: none. */
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

bool
td_host_box(const td_host *h, td_box *box)
{
    const td_view *base = &h->src->view;
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
        if (w.axis[i] < 0 || w.step[i] < 1)
            return false;
        box->step[w.axis[i]] = w.step[i];
        box->count[w.axis[i]] = h->view.shape.dim[i];
    }
    return true;
}

/* ---- nodes ---- */

static td_status
new_window(const td_host *like, td_host **out)
{
    td_host *h = malloc(sizeof *h);

    if (!h)
        return td_fail(TD_ERR_NOMEM, "from_host: no host memory for a window");
    *h = *like;
    atomic_init(&h->refs, 1);
    td_source_ref(h->src);
    if (h->list)
        atomic_fetch_add(&h->list->refs, 1);
    *out = h;
    return TD_OK;
}

td_status
td_host_new(td_source *s, const td_view *view, td_host **out)
{
    return new_window(&(td_host){.src = s, .view = *view}, out);
}

td_status
td_host_node_of(td_dev *d, const td_host *like, td_node **out)
{
    td_host *h;
    td_status st;

    TD_TRY(new_window(like, &h));
    st = td_node_new(TD_N_HOST, d, h->src->dt, &h->view.shape, out);
    if (st) {
        td_host_unref(h);
        return st;
    }
    (*out)->host = h;
    (*out)->hosted = true;
    td_host_layout(h, &(*out)->view);
    return TD_OK;
}

td_status
td_host_node(td_dev *d, td_source *s, const td_view *view, td_node **out)
{
    return td_host_node_of(d, &(td_host){.src = s, .view = *view}, out);
}

/* Does the window lie in memory as the node's view says, so that a view of one is a view of
 * the other? */
static bool
is_dense(const td_node *n)
{
    const td_view *v = &n->host->view;

    if (n->host->list)
        return false;
    for (int i = 0; i < v->shape.ndim; i++)
        if (v->shape.dim[i] > 1 && v->stride[i] != n->view.stride[i])
            return false;
    return true;
}

/* The part of n's window that v shows, by the steps in w along n's axes. */
static td_host
retraced(const td_node *n, const td_view *v, const td_retrace *w)
{
    const td_host *own = n->host;
    td_host h = *own;

    h.list = NULL;
    h.view = *v;
    h.view.offset = own->view.offset;
    for (int k = 0; k < own->view.shape.ndim; k++) {
        int64_t start = w->start[k];

        if (own->list && k == own->listed && td_shape_size(&v->shape))
            start = own->list->at[own->first + start * own->step];
        h.view.offset += start * own->view.stride[k];
    }
    for (int i = 0; i < v->shape.ndim; i++) {
        int k = w->axis[i];

        h.view.stride[i] = k < 0 ? 0 : w->step[i] * own->view.stride[k];
        if (!own->list || k != own->listed)
            continue;
        h.view.offset -= own->list->at[own->first + w->start[k] * own->step] * own->view.stride[k];
        h.view.stride[i] = own->view.stride[k];
        h.list = own->list;
        h.listed = i;
        h.first = own->first + w->start[k] * own->step;
        h.step = own->step * w->step[i];
    }
    return h;
}

int64_t
td_host_grain(const td_host *h, int axis)
{
    const td_view *all = &h->src->view;
    int64_t at = h->view.offset;

    if (h->src->mem || h->list)
        return 1;
    for (int k = 0; k < all->shape.ndim; k++) { /* a reader's elements count in C order */
        int64_t first = at / (all->stride[k] ? all->stride[k] : 1);

        at -= first * all->stride[k];
        if (all->stride[k] == h->view.stride[axis] && all->shape.dim[k] > 1 && h->src->grain[k] > 1)
            return first % h->src->grain[k] ? 1 : h->src->grain[k];
    }
    return 1;
}

td_status
td_host_window(const td_node *n, const td_view *v, td_node **out)
{
    td_host h = *n->host;
    td_retrace w;

    if (is_dense(n)) {
        h.view = *v;
        h.view.offset += n->host->view.offset;
        if (td_host_readable(&h))
            return td_host_node_of(n->dev, &h, out);
    }
    if (!td_view_retrace(&n->view, v, &w))
        return TD_SKIP;
    h = retraced(n, v, &w);
    return td_host_readable(&h) ? td_host_node_of(n->dev, &h, out) : TD_SKIP;
}

/* ---- loading ---- */

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
