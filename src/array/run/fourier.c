/* fourier.c - Fourier transforms of arrays: strides become the library's layouts on a GPU; the CPU's takes them as
 * they are. */
#include "array/run/factor.h"
#include "array/run/spill.h"
#include "dev/core/tape.h"
#include "dev/lib/hostfourier.h"

#include <string.h>

/* Expresses the strides of v, whose last `rank` axes are transformed, in the library's terms: one distance between
 * transforms, and for each transformed axis a multiple of the next one's stride.  False: they cannot be. */
static bool
layout(const td_view *v, int rank, td_fourier_side *out)
{
    int nd = v->shape.ndim, first = nd - rank;
    int64_t span = 0;

    out->stride = v->stride[nd - 1];
    for (int i = 0; i < rank; i++) {
        int64_t here = v->stride[first + i], inner = i + 1 < rank ? v->stride[first + i + 1] : 1;

        if (here <= 0 || inner <= 0 || (i + 1 < rank && here % inner))
            return false;
        if (i + 1 < rank && (out->embed[i + 1] = here / inner) < v->shape.dim[first + i + 1])
            return false;
    }
    out->embed[0] = v->shape.dim[first];
    out->dist = 0;
    for (int i = first - 1; i >= 0; i--) {
        if (v->shape.dim[i] == 1)
            continue;
        if (v->stride[i] <= 0 || (span && v->stride[i] != span))
            return false;
        if (!span)
            out->dist = v->stride[i];
        span = v->stride[i] * v->shape.dim[i];
    }
    if (!span)
        out->dist = 1;
    return true;
}

/* v with dense strides for its axes of extent 1, whose own strides mean nothing. */
static td_view
normal(const td_view *v)
{
    td_view r = *v;
    int64_t inner = 1;

    for (int i = v->shape.ndim - 1; i >= 0; i--) {
        if (r.shape.dim[i] == 1)
            r.stride[i] = inner;
        inner = r.stride[i] * r.shape.dim[i];
    }
    return r;
}

static bool
fourier_fits(const td_array *a, int rank, const td_fourier *j, td_fourier_side *side)
{
    td_view v = normal(&a->view);
    size_t size = td_dtype_size(td_array_dtype(a));

    return layout(&v, rank, side) && (size_t)a->view.offset * size % (j->wide ? 16 : 8) == 0;
}

static uintptr_t
address(const td_buf *b, const td_array *a)
{
    return b->ptr + (uintptr_t)a->view.offset * td_dtype_size(td_array_dtype(a));
}

static td_status
run_held(td_fourier *j, const td_array *in, const td_array *out)
{
    td_dev *dev = td_array_dev(out);
    td_stream *s = td_dev_stream(dev);
    td_buf *bin, *bout, *work = NULL;
    size_t nwork;
    void *token;
    td_status st;

    if (j->kind == TD_FOURIER_C2R)
        TD_TRY(td_array_use(in, true, &bin));
    TD_TRY(td_array_use(out, true, &bout));
    TD_TRY(td_array_use(in, j->kind == TD_FOURIER_C2R, &bin));
    j->in.at = address(bin, in);
    j->out.at = address(bout, out);
    (void)td_buf_ref(bin);
    (void)td_buf_ref(bout);
    token = td_graph_unlock();
    st = td_fourier_plan(s, j, false, &nwork);
    if (!st && nwork)
        st = td_buf_new(dev, s, nwork, &work);
    if (!st) {
        j->work = work ? work->ptr : 0;
        st = td_fourier_run(s, j);
    }
    td_graph_lock(token);
    td_buf_unref(work);
    td_buf_unref(bin);
    td_buf_unref(bout);
    return st;
}

static td_status
fourier_run(td_fourier *j, const td_array *in, const td_array *out)
{
    td_status st;
    td_hold h;

    td_hold_begin(&h);
    st = run_held(j, in, out);
    td_hold_end(&h);
    return st;
}

td_status
td_array_fourier(const td_array *in, const td_array *out, td_fourier_kind kind, bool inverse,
                 int rank)
{
    const td_shape *so = &out->view.shape, *si = &in->view.shape;
    const td_shape *n = kind == TD_FOURIER_R2C ? si : so;
    td_fourier j = {.kind = kind, .inverse = inverse, .rank = rank, .batch = 1};
    td_dtype wide = kind == TD_FOURIER_R2C ? TD_F64 : TD_C128;
    td_array dense = {0};
    td_status st;

    TD_ASSERT(rank > 0 && rank <= TD_FOURIER_RANK && si->ndim == so->ndim && si->ndim >= rank);
    TD_TRY(td_fourier_can(td_array_dev(in)));
    TD_TRY(td_one_device("fft", td_array_dev(in), td_array_dev(out)));
    j.wide = td_array_dtype(in) == wide;
    for (int i = 0; i < n->ndim; i++)
        *(i < n->ndim - rank ? &j.batch : &j.n[i - (n->ndim - rank)]) *= n->dim[i];
    memcpy(j.n, n->dim + (n->ndim - rank), (size_t)rank * sizeof *j.n);
    if (!td_array_size(out) || !td_array_size(in))
        return TD_OK;
    if (!fourier_fits(out, rank, &j, &j.out))
        return TD_SKIP;
    if (fourier_fits(in, rank, &j, &j.in))
        return fourier_run(&j, in, out);
    TD_TRY(td_array_copy(in, &dense));
    TD_ASSERT(fourier_fits(&dense, rank, &j, &j.in));
    st = fourier_run(&j, &dense, out);
    td_array_unref(&dense);
    return st;
}

static td_status
host_run(td_ducc_job *j, const td_array *in, const td_array *out)
{
    td_buf *bin, *bout;
    void *token;
    td_status st;

    TD_TRY(td_array_use(out, true, &bout));
    TD_TRY(td_array_use(in, false, &bin));
    j->in.at = (void *)address(bin, in);
    j->out.at = (void *)address(bout, out);
    (void)td_buf_ref(bin);
    (void)td_buf_ref(bout);
    token = td_graph_unlock();
    st = td_hostfourier_run(j);
    td_graph_lock(token);
    td_buf_unref(bin);
    td_buf_unref(bout);
    return st;
}

td_status
td_array_fourier_host(const td_array *in, const td_array *out, td_ducc_kind kind, bool inverse,
                      const int *axes, int naxes, double factor)
{
    td_dtype dt = td_array_dtype(in);
    td_ducc_job j = {.kind = kind,
                     .wide = dt == TD_F64 || dt == TD_C128,
                     .inverse = inverse,
                     .ndim = out->view.shape.ndim,
                     .naxes = naxes,
                     .axes = axes,
                     .factor = factor,
                     .in = {.shape = in->view.shape.dim, .stride = in->view.stride},
                     .out = {.shape = out->view.shape.dim, .stride = out->view.stride}};
    td_status st;
    td_hold h;

    TD_TRY(td_one_device("fft", td_array_dev(in), td_array_dev(out)));
    TD_TRY(td_tape_refuse("a Fourier transform on the CPU"));
    if (!td_array_size(out) || !td_array_size(in))
        return TD_OK;
    td_hold_begin(&h);
    st = host_run(&j, in, out);
    td_hold_end(&h);
    return st;
}
