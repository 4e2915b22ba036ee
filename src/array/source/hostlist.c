/* hostlist.c - windows with one axis that follows a list of indices: the result of indexing a
 * source by arrays.
 *
 * From memory, the threads that fill the device's staging gather elements straight into it.  A
 * reader is asked for boxes of indices that lie near each other, in the source's order, each box
 * once.
 */
#include "array/source/host.h"

#include <stdlib.h>
#include <string.h>

#define NEAR  ((size_t)1 << 20)  /* bytes between two indices up to which the gap is read as well */
#define BLOCK ((size_t)32 << 20) /* most bytes of a box */

td_status
td_hostlist_new(int64_t n, td_hostlist **out)
{
    size_t nbytes;

    if (__builtin_mul_overflow((size_t)n, sizeof(int64_t), &nbytes) ||
        !(*out = malloc(sizeof **out + nbytes)))
        return td_fail(TD_ERR_NOMEM, "index: no host memory for %lld places", (long long)n);
    atomic_init(&(*out)->refs, 1);
    (*out)->n = n;
    return TD_OK;
}

void
td_hostlist_unref(td_hostlist *l)
{
    if (l && atomic_fetch_sub_explicit(&l->refs, 1, memory_order_acq_rel) == 1)
        free(l);
}

/* ---- windows ---- */

static int64_t
hostlist_place(const td_host *h, int64_t i)
{
    return h->list->at[h->first + i * h->step];
}

/* All indices [lo, hi) of the axis. */
static td_host
span(const td_host *h, int64_t lo, int64_t hi)
{
    td_host r = *h;

    r.list = NULL;
    r.view.offset += lo * r.view.stride[h->listed];
    r.view.shape.dim[h->listed] = hi - lo;
    return r;
}

bool
td_host_readable(const td_host *h)
{
    int64_t lo = INT64_MAX, hi = INT64_MIN;
    td_view layout;
    td_host all;
    td_box box;

    if (h->src->mem || td_shape_size(&h->view.shape) == 0)
        return true;
    if (!h->list)
        return td_host_box(h, &box) || td_host_runs(h);
    for (int64_t i = 0; i < h->view.shape.dim[h->listed]; i++) {
        lo = hostlist_place(h, i) < lo ? hostlist_place(h, i) : lo;
        hi = hostlist_place(h, i) > hi ? hostlist_place(h, i) : hi;
    }
    all = span(h, lo, hi + 1);
    td_host_layout(&all, &layout);
    return td_host_box(&all, &box) && td_view_is_contiguous(&layout);
}

/* The indices of l in h's own list. */
static td_status
composed(const td_host *h, const td_hostlist *l, td_hostlist **out)
{
    TD_TRY(td_hostlist_new(l->n, out));
    for (int64_t i = 0; i < l->n; i++)
        (*out)->at[i] = hostlist_place(h, l->at[i]);
    return TD_OK;
}

static td_status
pick_listed(const td_node *n, const td_host *h, td_node **out)
{
    return td_host_readable(h) ? td_host_node_of(n->dev, h, out) : TD_SKIP;
}

td_status
td_host_pick(const td_node *n, int axis, td_hostlist *l, td_node **out)
{
    td_host h = *n->host;
    td_hostlist *both = NULL;
    td_status st;

    if (h.list && h.listed != axis)
        return TD_SKIP;
    if (h.list)
        TD_TRY(composed(&h, l, &both));
    h.list = both ? both : l;
    h.listed = axis;
    h.first = 0;
    h.step = 1;
    h.view.shape.dim[axis] = l->n;
    st = pick_listed(n, &h, out);
    td_hostlist_unref(both);
    return st;
}

td_status
td_host_pick_through(const td_node *n, const td_view *view, int axis, td_hostlist *l, td_node **out)
{
    td_host h = {
        .src = n->host->src, .view = *view, .list = l, .listed = axis, .first = 0, .step = 1};

    if (n->host->list || !h.src->mem)
        return TD_SKIP;
    h.view.shape.dim[axis] = l->n;
    return pick_listed(n, &h, out);
}

/* ---- memory ---- */

/* The axes after the listed one, in C order, with contiguous ones merged; returns how many. */
static int
inner_dims(const td_view *v, int listed, int64_t dim[], int64_t stride[], int64_t *size)
{
    int n = 0;

    *size = 1;
    for (int k = listed + 1; k < v->shape.ndim; k++) {
        int64_t d = v->shape.dim[k], s = v->stride[k];

        *size *= d;
        if (n && stride[n - 1] == s * d) {
            dim[n - 1] *= d;
            stride[n - 1] = s;
        } else if (d != 1) {
            dim[n] = d;
            stride[n++] = s;
        }
    }
    if (!n) {
        dim[n] = 1;
        stride[n++] = 1;
    }
    return n;
}

/* Copies single elements: count of them, from entry i of the list on. */
static void
hostlist_gather(const td_host *h, int64_t offset, int64_t i, int64_t count, char *to)
{
    size_t size = td_dtype_size(h->src->dt);
    int64_t step = h->view.stride[h->listed] * (int64_t)size;
    const char *from = h->src->mem + offset * (int64_t)size;

    switch (size) {
    case 4:
        for (int64_t k = 0; k < count; k++)
            memcpy(to + 4 * k, from + hostlist_place(h, i + k) * step, 4);
        return;
    case 8:
        for (int64_t k = 0; k < count; k++)
            memcpy(to + 8 * k, from + hostlist_place(h, i + k) * step, 8);
        return;
    default:
        for (int64_t k = 0; k < count; k++)
            memcpy(to + (size_t)k * size, from + hostlist_place(h, i + k) * step, size);
    }
}

/* Where the elements begin whose index along the axes before the listed one is `row`. */
static int64_t
outer_offset(const td_view *v, int listed, int64_t row)
{
    int64_t offset = v->offset;

    for (int k = listed - 1; k >= 0; k--) {
        offset += row % v->shape.dim[k] * v->stride[k];
        row /= v->shape.dim[k];
    }
    return offset;
}

td_status
td_host_listed(const td_host *h, int64_t first, int64_t count, char *to)
{
    int64_t dim[TD_MAXDIM], stride[TD_MAXDIM], inner, size = (int64_t)td_dtype_size(h->src->dt);
    int n = inner_dims(&h->view, h->listed, dim, stride, &inner);

    while (count) {
        int64_t at = first % inner, row = first / inner, i = row % h->view.shape.dim[h->listed],
                left = h->view.shape.dim[h->listed] - i, run = inner - at,
                offset = outer_offset(&h->view, h->listed, row / h->view.shape.dim[h->listed]);

        if (inner == 1) {
            run = left < count ? left : count;
            hostlist_gather(h, offset, i, run, to);
        } else {
            run = run < count ? run : count;
            offset += hostlist_place(h, i) * h->view.stride[h->listed];
            TD_TRY(td_host_strided(h->src, offset, dim, stride, n, at, run, to));
        }
        to += run * size;
        first += run;
        count -= run;
    }
    return TD_OK;
}

/* ---- readers ---- */

typedef struct entry {
    int64_t place, i; /* index along the axis, and its position in the list */
} entry;

static int
by_place(const void *a, const void *b)
{
    const entry *x = a, *y = b;

    return x->place < y->place ? -1 : x->place > y->place;
}

/* The end of the entries, from k on, that fit into one box. */
static int64_t
box_end(const entry *e, int64_t k, int64_t n, size_t row)
{
    int64_t last = k + 1;

    while (last < n && (size_t)(e[last].place - e[last - 1].place) <= NEAR / row + 1 &&
           (size_t)(e[last].place - e[k].place + 1) <= BLOCK / row + 1)
        last++;
    return last;
}

/* Copies the entries' elements out of a box that begins at index lo and has `wide` indices. */
static void
deal(const td_host *h, const entry *e, int64_t n, int64_t lo, int64_t wide, const char *box,
     char *to)
{
    int64_t places = h->view.shape.dim[h->listed], outer = 1;
    size_t inner = td_dtype_size(h->src->dt);

    for (int k = 0; k < h->view.shape.ndim; k++)
        if (k < h->listed)
            outer *= h->view.shape.dim[k];
        else if (k > h->listed)
            inner *= (size_t)h->view.shape.dim[k];
    for (int64_t o = 0; o < outer; o++)
        for (int64_t i = 0; i < n; i++)
            memcpy(to + (size_t)(o * places + e[i].i) * inner,
                   box + (size_t)(o * wide + e[i].place - lo) * inner, inner);
}

static td_status
read_boxes(const td_host *h, const entry *e, int64_t n, size_t row, char *to)
{
    td_status st = TD_OK;
    int64_t end;

    for (int64_t k = 0; k < n && !st; k = end) {
        int64_t lo = e[k].place, wide;
        td_host part;
        td_box box;
        char *tmp;

        end = box_end(e, k, n, row);
        wide = e[end - 1].place - lo + 1;
        part = span(h, lo, lo + wide);
        tmp = td_host_alloc((size_t)wide * row);
        if (!tmp)
            return td_fail(TD_ERR_NOMEM, "from_host: %zu bytes of host memory", (size_t)wide * row);
        TD_ASSERT(td_host_box(&part, &box)); /* td_host_readable has made sure of it */
        st = td_host_read(h->src, &box, tmp);
        if (!st)
            deal(h, e + k, end - k, lo, wide, tmp, to);
        td_host_free(tmp, (size_t)wide * row);
    }
    return st;
}

td_status
td_host_read_listed(const td_host *h, char *to)
{
    int64_t n = h->view.shape.dim[h->listed];
    size_t row = td_host_bytes(h) / (size_t)n;
    entry *e = malloc((size_t)n * sizeof *e);
    td_status st;

    if (!e)
        return td_fail(TD_ERR_NOMEM, "from_host: no host memory for %lld places", (long long)n);
    for (int64_t i = 0; i < n; i++)
        e[i] = (entry){hostlist_place(h, i), i};
    qsort(e, (size_t)n, sizeof *e, by_place);
    st = read_boxes(h, e, n, row, to);
    free(e);
    return st;
}
