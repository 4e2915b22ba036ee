/* scanrun.c - the schedule and the launch of the kernels of cumulative operations and of selection. */
#include "array/form/launch.h"
#include "array/form/scan.h"
#include "array/graph/array.h"
#include "array/graph/internal.h"
#include "array/graph/reduce.h"
#include "array/plan/tune.h"
#include "array/run/eval.h"
#include "array/run/fperror.h"
#include "array/run/now.h"
#include "base/parallel.h"

enum {
    BLOCK = 256,     /* GPU: threads of a block */
    LONG_ROW = 1024, /* GPU: rows from this length on are cut, and a block may take a segment */
    UNROLL = 4, /* GPU: vectors of a thread in one tile; a warp has a lane for each of its block */
    FILL = 8,   /* GPU: segments for each multiprocessor if blocks take them */
    WARPS = 32, /* GPU: segments for each multiprocessor if warps take them, */
    WARPS_LEAST = 16,     /* and how many there must be at least */
    STRIP = 32,           /* CPU, across: columns that are accumulated side by side */
    CPU_PARALLEL = 50000, /* elements below which one thread is quicker */
    IN_ORDER = 4096,      /* CPU: elements up to which a row of floats is accumulated one by one */
    SEG_MIN = 8192,       /* elements a segment */
};

typedef struct job {
    td_dev *dev;
    td_scan d;
    int64_t rows, n, inner;
    int64_t segs, seglen, strips, units;
    uintptr_t in, values, carry, out;
} job;

/* Cuts the axis into segments so that there are about `want` units. */
static void
cut(job *j, int64_t want, int64_t step)
{
    int64_t own = j->rows * j->strips, least = td_ceil_div(SEG_MIN, j->d.across ? j->inner : 1);

    j->segs = own < want ? want / own : 1;
    if (j->segs > j->n / least)
        j->segs = j->n / least;
    if (j->segs < 1)
        j->segs = 1;
    j->seglen = td_ceil_div(td_ceil_div(j->n, j->segs), step) * step;
    j->segs = td_ceil_div(j->n, j->seglen);
}

/* Are vectors of `lanes` elements aligned in all operands? */
static bool
aligned(const job *j, int lanes)
{
    size_t in = td_dtype_size(j->d.in), out = td_dtype_size(j->d.out);
    int64_t width = j->d.across ? j->inner : j->n;

    if (lanes > 1 && width % lanes && (j->rows > 1 || j->d.across))
        return false;
    return j->in % (in * (uintptr_t)lanes) == 0 && j->values % (out * (uintptr_t)lanes) == 0;
}

static void
form_gpu(job *j)
{
    td_scan *d = &j->d;
    size_t in = td_dtype_size(d->in), out = td_dtype_size(d->out);
    int64_t sms = td_dev_info(j->dev)->units;

    d->nest.block = BLOCK;
    d->resident = td_tune[TD_TUNE_scan_blocks];
    d->lanes = (int)(16 / (in > out ? in : out));
    while (d->lanes > 1 && !aligned(j, d->lanes))
        d->lanes /= 2;
    if (d->across) {
        d->nest.team = 1;
        d->unroll = UNROLL;
        j->strips = td_ceil_div(j->inner, d->lanes);
        cut(j, sms * 2048, UNROLL);
        return;
    }
    /* A warp that has a segment waits for no other; the warps of a block wait for each other twice a tile. */
    d->nest.team = d->nest.warp;
    d->unroll = j->n >= LONG_ROW ? UNROLL : 1;
    cut(j, j->n >= LONG_ROW ? sms * WARPS : 1, (int64_t)d->nest.warp * 16 * UNROLL);
    if (j->n >= LONG_ROW && j->rows * j->segs < sms * WARPS_LEAST) {
        d->nest.team = BLOCK;
        cut(j, sms * FILL, (int64_t)BLOCK * 16 * UNROLL);
    }
}

/* Sums in another order may overflow where NumPy's, from the first element on, do not.  So short rows keep NumPy's order,
 * which costs little beside the call. */
static bool
in_order(const job *j)
{
    const td_scan *d = &j->d;

    return !d->across && !d->logical && j->n <= IN_ORDER &&
           (d->red == TD_RED_sum || d->red == TD_RED_prod) &&
           td_dtype_is_float(td_dtype_real_of(d->acc));
}

/* Segments cost a second pass over the elements, for which two threads do not make up.  A selection counts its mask first in
 * any case. */
static void
form_cpu(job *j)
{
    td_scan *d = &j->d;
    bool counted = d->put == TD_SCAN_SELECT || d->put == TD_SCAN_POSITIONS;
    bool parallel = td_parallel_cut() > (counted ? 1 : 2);

    d->unroll = 1;
    d->lanes = d->across ? STRIP : in_order(j) ? 1 : td_jit_lanes(j->dev, 8);
    while (d->across && d->lanes / 2 >= j->inner)
        d->lanes /= 2;
    d->masked = d->across && j->inner % d->lanes;
    j->strips = d->across ? td_ceil_div(j->inner, d->lanes) : 1;
    cut(j, parallel ? td_nest_shares(j->dev, j->rows * j->n * j->inner, CPU_PARALLEL) : 1, STRIP);
}

static td_hash
key_of(const td_scan *d)
{
    const uint64_t part[] = {
        (uint64_t)d->red << 32 | (uint64_t)d->in << 16 | (uint64_t)d->acc << 8 | (uint64_t)d->out,
        (uint64_t)d->put << 8 | (uint64_t)d->logical << 3 | (uint64_t)d->across << 2 |
            (uint64_t)d->carried << 1 | d->masked,
        (uint64_t)d->lanes << 32 | (uint64_t)d->unroll,
        (uint64_t)d->resident,
    };
    td_hash h = td_nest_key(td_hash_add(TD_HASH_INIT, "scan", 4), &d->nest);

    for (size_t i = 0; i < sizeof part / sizeof *part; i++)
        h = td_hash_u64(h, part[i]);
    return h;
}

static int
words_of(const job *j, const int64_t *num, uint64_t *words)
{
    int n = 0;

    words[n++] = j->in;
    if (j->d.put == TD_SCAN_SELECT)
        words[n++] = j->values;
    if (j->d.carried)
        words[n++] = j->carry;
    words[n++] = j->out;
    for (int i = 0; i < TD_SCAN_INTS; i++)
        words[n++] = (uint64_t)num[i];
    return n;
}

static td_status
scanrun_run(job *j)
{
    uint64_t words[4 + TD_SCAN_INTS];
    int64_t num[TD_SCAN_INTS], elements = j->rows * j->n * j->inner;
    td_code code = {key_of(&j->d), td_scan_build, &j->d};
    td_dims dims = {0};

    j->units = j->rows * j->segs * j->strips;
    td_nest_deal(&j->d.nest, j->units, td_nest_shares(j->dev, elements, CPU_PARALLEL));
    dims.what = j->d.put == TD_SCAN_SELECT      ? "select"
                : j->d.put == TD_SCAN_POSITIONS ? "nonzero"
                                                : "scan";
    dims.first = (uint16_t)(2 + (j->d.put == TD_SCAN_SELECT) + j->d.carried);
    dims.nbytes = (size_t)elements * td_dtype_size(j->d.in) +
                  (size_t)(j->rows * (j->d.put == TD_SCAN_TOTALS ? j->segs : j->n) * j->inner) *
                      td_dtype_size(j->d.out);
    num[TD_SCAN_N] = j->n;
    num[TD_SCAN_INNER] = j->inner;
    num[TD_SCAN_UNITS] = j->units;
    num[TD_SCAN_SEGS] = j->segs;
    num[TD_SCAN_SEGLEN] = j->seglen;
    num[TD_SCAN_STRIPS] = j->strips;
    num[TD_SCAN_PER] = j->d.nest.per;
    return td_form_launch(td_dev_stream(j->dev), &code, &j->d.nest, &dims, words,
                          words_of(j, num, words));
}

static void
form(job *j)
{
    j->d.across = j->inner > 1;
    j->strips = 1;
    j->d.nest = td_nest_on(j->dev, 1, 1);
    if (j->d.nest.simt)
        form_gpu(j);
    else
        form_cpu(j);
}

/* The totals of the first i + 1 segments of every row: [rows, segments, inner]. */
static td_status
totals(const job *whole, td_buf **out)
{
    job each = *whole,
        all = {.dev = whole->dev,
               .d = {.red = whole->d.red, .put = TD_SCAN_ALL, .logical = whole->d.logical}};
    size_t nbytes =
        (size_t)(whole->rows * whole->segs * whole->inner) * td_dtype_size(whole->d.acc);
    td_buf *sum = NULL, *part = NULL;
    td_status st;

    each.d.put = TD_SCAN_TOTALS;
    each.d.carried = false;
    each.d.out = whole->d.acc;
    if (!each.d.across && each.d.nest.simt) {
        each.values = 0;
        each.d.lanes = (int)(16 / td_dtype_size(each.d.in));
        each.d.out = each.d.in; /* `aligned` looks at it */
        while (each.d.lanes > 1 && !aligned(&each, each.d.lanes))
            each.d.lanes /= 2;
        each.d.out = whole->d.acc;
    }
    st = td_buf_new(whole->dev, td_dev_stream(whole->dev), nbytes, &part);
    if (!st)
        st = td_buf_new(whole->dev, td_dev_stream(whole->dev), nbytes, &sum);
    if (!st) {
        each.out = part->ptr;
        st = scanrun_run(&each);
    }
    if (!st) {
        all.d.in = all.d.acc = all.d.out = whole->d.acc;
        all.rows = whole->rows;
        all.n = whole->segs;
        all.inner = whole->inner;
        all.in = part->ptr;
        all.out = sum->ptr;
        form(&all);
        all.segs = 1;
        all.seglen = all.n;
        st = scanrun_run(&all);
    }
    td_buf_unref(part);
    if (st)
        td_buf_unref(sum);
    else
        *out = sum;
    return st;
}

/* Brings a's values into memory in C order; *n holds them. */
static td_status
dense(const td_array *a, td_node **n, uintptr_t *ptr)
{
    TD_TRY(td_node_dense(a, n));
    *ptr = (*n)->buf->ptr + (uintptr_t)(*n)->view.offset * td_dtype_size((td_dtype)(*n)->dt);
    return TD_OK;
}

/* ---- cumulative operations ---- */

static td_status
accumulate(job *j, uintptr_t out)
{
    td_buf *carry = NULL;
    td_status st = TD_OK;

    form(j);
    if (j->segs > 1) {
        st = totals(j, &carry);
        j->d.carried = true;
        j->carry = st ? 0 : carry->ptr;
    }
    j->out = out;
    if (!st)
        st = scanrun_run(j);
    td_buf_unref(carry);
    return st;
}

/* The accumulator's dtype, a word that a warp can exchange.  Integers wrap to a narrower result at the end. */
static td_dtype
accumulator(td_dtype out)
{
    switch (td_dtype_kind(out)) {
    case 'f': return TD_F64;
    case 'c': return TD_C128;
    case 'u': return TD_U64;
    case 'b': return TD_I32;
    }
    return TD_I64;
}

static td_status
looked_at(const td_array *a, td_array *out)
{
    td_status st = td_fp_check_result("accumulate", &a, 1, out);

    if (st)
        td_array_unref(out);
    return st;
}

td_status
td_array_cumulate(td_red red, const td_array *a, int axis, int dtype, td_array *out)
{
    const td_shape *s = &a->view.shape;
    job j = {.dev = td_array_dev(a), .rows = 1, .inner = 1, .d = {.red = red, .put = TD_SCAN_ALL}};
    td_node *n = NULL;
    td_status st;

    TD_ASSERT(axis >= 0 && axis < s->ndim);
    j.d.in = td_array_dtype(a);
    TD_TRY(td_red_result(red, j.d.in, dtype, &j.d.out));
    j.d.logical = j.d.out == TD_BOOL;
    if (j.d.logical && (red == TD_RED_max || red == TD_RED_min))
        j.d.red = red == TD_RED_max ? TD_RED_sum : TD_RED_prod;
    j.d.acc = accumulator(j.d.out);
    if ((st = td_chunk_cumulate(red, a, axis, j.d.out, out)) != TD_SKIP)
        return !st && td_fp_asked() ? looked_at(a, out) : st;
    TD_TRY(td_array_empty(j.dev, j.d.out, s, out));
    j.n = s->dim[axis];
    for (int i = 0; i < axis; i++)
        j.rows *= s->dim[i];
    for (int i = axis + 1; i < s->ndim; i++)
        j.inner *= s->dim[i];
    if (td_shape_size(s) == 0)
        return TD_OK;
    st = dense(a, &n, &j.in);
    if (!st)
        st = accumulate(&j, out->store->node->buf->ptr);
    td_node_unref(n);
    if (st)
        td_array_unref(out);
    return !st && td_fp_asked() ? looked_at(a, out) : st;
}

/* ---- selection ---- */

static td_status
scatter(job *j, td_buf *counts, td_array *out)
{
    td_shape s = {.ndim = 1}; /* little-endian: 4 bytes of a count fill the lower half */
    size_t size = td_dtype_size(j->d.acc);

    TD_TRY(td_copy_out(td_dev_stream(j->dev), &s.dim[0],
                       counts->ptr + (uintptr_t)(j->segs - 1) * size, size));
    TD_TRY(td_array_empty(j->dev, j->d.out, &s, out));
    if (s.dim[0] == 0)
        return TD_OK;
    j->d.carried = true;
    j->carry = counts->ptr;
    j->out = out->store->node->buf->ptr;
    return scanrun_run(j);
}

td_status
td_array_select(const td_array *a, const td_array *mask, td_array *out)
{
    job j = {.dev = td_array_dev(mask), .rows = 1, .inner = 1};
    td_node *values = NULL, *marks = NULL;
    td_buf *counts = NULL;
    td_status st = TD_SKIP;

    TD_ASSERT(td_array_dtype(mask) == TD_BOOL);
    TD_ASSERT(!a || td_shape_eq(&a->view.shape, &mask->view.shape));
    if (a)
        TD_TRY(td_one_device("mask", td_array_dev(a), td_array_dev(mask)));
    if ((st = td_now_select(a, mask, out)) != TD_SKIP)
        return st;
    if ((st = td_chunk_select(a, mask, out)) != TD_SKIP) {
        if (!st && !a)
            out->store->node->in_range = td_array_size(mask);
        return st;
    }
    j.n = td_array_size(mask);
    j.d = (td_scan){.red = TD_RED_sum,
                    .in = TD_BOOL,
                    .acc = td_dev_info(j.dev)->simt && j.n <= INT32_MAX ? TD_I32 : TD_I64,
                    .out = a ? td_array_dtype(a) : TD_I64,
                    .put = a ? TD_SCAN_SELECT : TD_SCAN_POSITIONS};
    *out = (td_array){0};
    if (j.n == 0)
        return td_array_empty(j.dev, j.d.out, &(td_shape){.ndim = 1}, out);
    st = dense(mask, &marks, &j.in);
    if (!st && a)
        st = dense(a, &values, &j.values);
    form(&j);
    if (!st)
        st = totals(&j, &counts);
    if (!st)
        st = scatter(&j, counts, out);
    if (!st && !a)
        out->store->node->in_range =
            j.n; /* indexing by these positions need not check their range */
    td_node_unref(values);
    td_node_unref(marks);
    td_buf_unref(counts);
    if (st && out->store)
        td_array_unref(out);
    return st;
}
