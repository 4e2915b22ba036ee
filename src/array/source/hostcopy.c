/* hostcopy.c - copies the elements of windows: in pieces that threads take, in the layout's
 * order.
 */
#include "array/source/host.h"

#include <stdlib.h>
#include <string.h>

/* A window's axes in the order of copying, with contiguous neighbours merged. */
static int
copied_dims(const td_view *v, int64_t dim[], int64_t stride[])
{
    int order[TD_MAXDIM], n = 0;

    td_view_order(v, order);
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

td_status
td_host_strided(td_source *s, int64_t offset, const int64_t *dim, const int64_t *stride, int n,
                int64_t first, int64_t count, char *to)
{
    int64_t row = dim[n - 1], size = (int64_t)td_dtype_size(s->dt);

    while (count) {
        int64_t at = first % row, rest = first / row, run = row - at < count ? row - at : count,
                here = offset + at * stride[n - 1];
        const char *from;

        for (int i = n - 2; i >= 0; i--) {
            here += rest % dim[i] * stride[i];
            rest /= dim[i];
        }
        from = s->mem + here * size;
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
    int n;

    if (h->list)
        return td_host_listed(h, (int64_t)(at / size), (int64_t)(nbytes / size), to);
    n = copied_dims(&h->view, dim, stride);
    return td_host_strided(h->src, h->view.offset, dim, stride, n, (int64_t)(at / size),
                           (int64_t)(nbytes / size), to);
}

td_status
td_host_read(td_source *s, const td_box *box, void *out)
{
    td_status st;

    pthread_mutex_lock(&s->reading);
    st = s->read(s->owner, box, out);
    pthread_mutex_unlock(&s->reading);
    return st;
}

/* The smallest box that contains elements [lo, hi) of the source's C order; also the index of
 * its first element. */
static int64_t
box_around(const td_view *src, int64_t lo, int64_t hi, td_box *box)
{
    int64_t row = td_shape_size(&src->shape), first = 0;
    bool apart = false;

    box->ndim = src->shape.ndim;
    for (int k = 0; k < box->ndim; k++) {
        row /= src->shape.dim[k];
        box->step[k] = 1;
        box->start[k] = apart ? 0 : (lo - first) / row;
        box->count[k] = apart ? src->shape.dim[k] : (hi - 1 - first) / row - box->start[k] + 1;
        first += box->start[k] * row;
        apart |= box->count[k] > 1;
    }
    return first;
}

bool
td_host_runs(const td_host *h)
{
    int64_t dim[TD_MAXDIM], stride[TD_MAXDIM];
    int n = copied_dims(&h->view, dim, stride);

    for (int i = 0; i + 1 < n; i++)
        if (stride[i] < stride[i + 1] * dim[i + 1])
            return false;
    return stride[n - 1] == 1;
}

/* Reads n elements that are contiguous in the source's C order, from lo on. */
static td_status
read_run(const td_host *h, int64_t lo, int64_t n, char *out)
{
    size_t item = td_dtype_size(h->src->dt);
    int64_t first, size = 1;
    td_box box;
    td_status st;
    char *tmp;

    first = box_around(&h->src->view, lo, lo + n, &box);
    for (int k = 0; k < box.ndim; k++)
        size *= box.count[k];
    if (size == n)
        return td_host_read(h->src, &box, out);
    tmp = td_host_alloc((size_t)size * item);
    if (!tmp)
        return td_fail(TD_ERR_NOMEM, "from_host: %zu bytes of host memory", (size_t)size * item);
    st = td_host_read(h->src, &box, tmp);
    if (!st)
        memcpy(out, tmp + (size_t)(lo - first) * item, (size_t)n * item);
    td_host_free(tmp, (size_t)size * item);
    return st;
}

static td_status
read_runs(const td_host *h, char *out)
{
    int64_t dim[TD_MAXDIM], stride[TD_MAXDIM], size = td_shape_size(&h->view.shape);
    int n = copied_dims(&h->view, dim, stride);
    td_status st = TD_OK;

    for (int64_t r = 0; r * dim[n - 1] < size && !st; r++) {
        int64_t rest = r, lo = h->view.offset;

        for (int i = n - 2; i >= 0; i--) {
            lo += rest % dim[i] * stride[i];
            rest /= dim[i];
        }
        st = read_run(h, lo, dim[n - 1], out);
        out += (size_t)dim[n - 1] * td_dtype_size(h->src->dt);
    }
    return st;
}

/* Reads a reader's elements in the layout's order; td_host_window has made sure that this
 * works. */
static td_status
read_window(const td_host *h, void *out)
{
    td_box box;

    if (h->list)
        return td_host_read_listed(h, out);
    return td_host_box(h, &box) ? td_host_read(h->src, &box, out) : read_runs(h, out);
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
    if (td_dev_info(td_stream_dev(s))->host)
        return read_window(h, (void *)to); // NOLINT(performance-no-int-to-ptr)
    tmp = td_host_alloc(nbytes);
    if (!tmp)
        return td_fail(TD_ERR_NOMEM, "from_host: %zu bytes of host memory", nbytes);
    st = read_window(h, tmp);
    if (!st)
        st = td_copy_in(s, to, tmp, nbytes);
    td_host_free(tmp, nbytes);
    return st;
}

/* Copies in C order, through memory in the layout. */
static td_status
read_permuted(const td_host *h, const td_view *layout, void *out)
{
    size_t nbytes = td_host_bytes(h);
    td_source tmp = {.dt = h->src->dt, .mem = td_host_alloc(nbytes), .file = {.fd = -1}};
    td_status st;

    if (!tmp.mem)
        return td_fail(TD_ERR_NOMEM, "from_host: %zu bytes of host memory", nbytes);
    st = read_window(h, tmp.mem);
    if (!st)
        st = td_host_strided(&tmp, 0, layout->shape.dim, layout->stride, layout->shape.ndim, 0,
                             td_shape_size(&layout->shape), out);
    td_host_free(tmp.mem, nbytes);
    return st;
}

td_status
td_host_get(const td_host *h, void *out)
{
    td_view c = td_view_contiguous(&h->view.shape), own;
    td_dev *cpu;

    if (!td_host_bytes(h))
        return TD_OK;
    td_host_layout(h, &own);
    if (!h->src->mem)
        return td_view_eq(&own, &c) ? read_window(h, out) : read_permuted(h, &own, out);
    TD_TRY(td_dev_get("cpu", &cpu));
    if (td_view_eq(&own, &c))
        return td_copy_fill(td_dev_stream(cpu), (uintptr_t)out, td_host_bytes(h), td_host_fill,
                            (void *)(uintptr_t)h);
    return td_host_strided(h->src, h->view.offset, h->view.shape.dim, h->view.stride,
                           h->view.shape.ndim, 0, td_shape_size(&h->view.shape), out);
}
