/* countrun.c - the schedule and the launch of counting kernels. */
#include "array/form/count.h"
#include "array/form/launch.h"
#include "array/graph/internal.h"
#include "array/run/eval.h"
#include "base/parallel.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum {
    BLOCK = 512,
    FILL = 2,            /* GPU: blocks a multiprocessor */
    SHARED_WORDS = 8192, /* counters of a block: 32 KB */
    BANKS = 32,
    UNROLL = 4,
    CPU_COPIES = 4,    /* copies of a block's counters, */
    CPU_COPIED = 4096, /* for at most so many counters */
    CPU_PARALLEL = 100000,
};

typedef struct job {
    td_count d;
    td_dev *dev;
    int64_t n, bins, blocks, step;
    const td_node *in, *edges;
    double first, last;
} job;

static uintptr_t
address(const td_node *n)
{
    return n->buf->ptr + (uintptr_t)n->view.offset * td_dtype_size((td_dtype)n->dt);
}

static void
form_gpu(job *j)
{
    td_count *d = &j->d;
    int64_t want, most = (int64_t)td_dev_info(j->dev)->units * FILL;
    int size = (int)td_dtype_size(d->in);

    d->nest.block = d->nest.team = BLOCK;
    d->unroll = UNROLL;
    d->lanes = 16 / size;
    while (d->lanes > 1 && address(j->in) % (uintptr_t)(d->lanes * size))
        d->lanes /= 2;
    if (j->bins <= SHARED_WORDS) {
        for (d->bins = 16; d->bins < j->bins;)
            d->bins *= 2;
        d->copies = SHARED_WORDS / d->bins < BANKS ? SHARED_WORDS / d->bins : BANKS;
    } else {
        most *= 4; /* there are no shared counters to clear and merge */
        d->copies = 1;
    }
    want = (j->n + (int64_t)BLOCK * d->lanes * d->unroll - 1) /
           ((int64_t)BLOCK * d->lanes * d->unroll);
    j->blocks = want < most ? want : most;
    j->step = j->blocks * BLOCK * d->lanes;
}

static void
form_cpu(job *j)
{
    td_count *d = &j->d;
    int64_t units = j->n >= CPU_PARALLEL && j->n >= 4 * j->bins ? td_parallel_cut() : 1;

    d->unroll = 1;
    d->copies = j->bins <= CPU_COPIED ? CPU_COPIES : 1;
    d->lanes = td_jit_lanes(j->dev, td_dtype_size(d->in) < 4 ? 4 : (int)td_dtype_size(d->in));
    j->step = (j->n + units - 1) / units;
    j->blocks = (j->n + j->step - 1) / j->step;
}

static uint64_t
bits_of(td_dtype dt, double v)
{
    uint64_t bits[2];

    td_scalar_bits((td_scalar){.dt = TD_F64, .f = {v}}, dt, bits);
    return bits[0];
}

/* The error of (x - first) * scale in bins: its own rounding and that of the edges. */
static double
doubt(const job *j)
{
    double eps = j->d.in == TD_F32 ? FLT_EPSILON : DBL_EPSILON;
    double width = (j->last - j->first) / (double)j->bins;

    return 8 * eps * ((double)j->bins + fmax(fabs(j->first), fabs(j->last)) / width);
}

static td_status
countrun_run(job *j, const td_node *counters)
{
    td_dims dims = {
        .first = 2 + j->d.binned, .what = "count", .nbytes = (size_t)j->n * td_dtype_size(j->d.in)};
    td_hash key = td_hash_add(TD_HASH_INIT, "count2", 6);
    uint64_t words[3 + TD_COUNT_INTS + TD_COUNT_FLOATS];
    int n = 0;

    words[n++] = address(j->in);
    if (j->d.binned)
        words[n++] = address(j->edges);
    words[n++] = address(counters);
    words[n++] = (uint64_t)j->n;
    words[n++] = (uint64_t)j->bins;
    words[n++] = (uint64_t)j->step;
    if (j->d.binned) {
        words[n++] = bits_of(j->d.in, j->first);
        words[n++] = bits_of(j->d.in, j->last);
        words[n++] = bits_of(j->d.in, (double)j->bins / (j->last - j->first));
        words[n++] = bits_of(j->d.in, 0.5 - doubt(j));
    }
    key = td_hash_u64(key, (uint64_t)j->d.in << 48 | (uint64_t)j->d.counter << 40 |
                               (uint64_t)j->d.bins << 8 | (uint64_t)j->d.binned);
    key = td_hash_u64(key, (uint64_t)j->d.copies << 32 | (uint64_t)j->d.lanes << 16 |
                               (uint64_t)j->d.unroll);
    td_nest_deal(&j->d.nest, j->blocks, j->blocks);
    return td_form_launch(td_dev_stream(j->dev),
                          &(td_code){td_nest_key(key, &j->d.nest), td_count_build, &j->d},
                          &j->d.nest, &dims, words, n);
}

/* Counts into counters of [blocks, bins, copies] (CPU) or [bins] (GPU), and adds them up to int64 [bins]. */
static td_status
count(job *j, td_array *out)
{
    bool simt;
    td_shape s = {.ndim = 1, .dim = {j->bins}};
    td_redargs sum = {.axes = 5, .dtype = TD_I64};
    td_array counters;
    td_status st;

    j->d.nest = td_nest_on(j->dev, 1, 1);
    simt = j->d.nest.simt;
    j->d.counter = j->n >> 32 ? TD_I64 : TD_U32;
    if (j->n == 0 || j->bins == 0)
        return td_array_full(j->dev, TD_I64, &s, (td_scalar){.dt = TD_I64}, out);
    if (simt)
        form_gpu(j);
    else
        form_cpu(j);
    if (!simt)
        s = (td_shape){.ndim = 3, .dim = {j->blocks, j->bins, j->d.copies}};
    TD_TRY(td_array_full(j->dev, j->d.counter, &s, (td_scalar){.dt = TD_I64}, &counters));
    st = td_storage_eval(counters.store);
    if (!st)
        st = countrun_run(j, counters.store->node);
    if (!st)
        st = simt ? td_array_cast(&counters, TD_I64, out)
                  : td_array_reduce(TD_RED_sum, &counters, &sum, out);
    td_array_unref(&counters);
    return st;
}

td_status
td_array_count(const td_array *a, int64_t bins, td_array *out)
{
    job j = {.dev = td_array_dev(a), .n = td_array_size(a), .bins = bins};
    td_node *in;
    td_status st;

    TD_ASSERT(td_dtype_is_int(td_array_dtype(a)));
    if (bins < 0 || bins >> 31)
        return td_fail(TD_ERR_VALUE, "bincount: %lld bins; at most 2147483647 are counted",
                       (long long)bins);
    if ((st = td_chunk_count(a, bins, NULL, 0, 0, out)) != TD_SKIP)
        return st;
    TD_TRY(td_node_dense(a, &in));
    j.in = in;
    j.d.in = td_array_dtype(a);
    st = count(&j, out);
    td_node_unref(in);
    return st;
}

td_status
td_array_histogram(const td_array *a, const td_array *edges, double first, double last,
                   td_array *out)
{
    job j = {.dev = td_array_dev(a),
             .n = td_array_size(a),
             .bins = td_array_size(edges) - 1,
             .first = first,
             .last = last};
    td_node *in = NULL, *at = NULL;
    td_status st;

    TD_ASSERT(td_array_dtype(a) == TD_F32 || td_array_dtype(a) == TD_F64);
    if (td_array_dtype(edges) != td_array_dtype(a) || edges->view.shape.ndim != 1 || j.bins < 1 ||
        j.bins > TD_COUNT_BINS_MAX || !(first < last) || td_array_dev(edges) != j.dev)
        return td_fail(
            TD_ERR_VALUE,
            "histogram: expected 2 to 2^20 rising edges of the array's dtype and device");
    if ((st = td_chunk_count(a, j.bins, edges, first, last, out)) != TD_SKIP)
        return st;
    st = td_node_dense(a, &in);
    if (!st)
        st = td_node_dense(edges, &at);
    j.in = in;
    j.edges = at;
    j.d.in = td_array_dtype(a);
    j.d.binned = true;
    if (!st)
        st = count(&j, out);
    td_node_unref(in);
    td_node_unref(at);
    return st;
}
