/* foldrun.c - the schedule of a reduction's kernels, and their launch. */
#include "array/form/fold.h"
#include "array/form/launch.h"
#include "array/graph/values.h"
#include "array/plan/tune.h"

#include <string.h>

enum {
    BLOCK = 512,          /* GPU: threads of a block that takes one unit */
    WARP_ROWS = 256,      /* GPU: threads of a block whose warps or threads take units */
    CPU_PARALLEL = 50000, /* elements times steps below which one thread is quicker */
    SHARE = 1 << 18,      /* CPU: elements of a share that is cut further */
    SEG_MIN = 4096,       /* CPU: reduced elements a segment */
    IN_ORDER = 1024,      /* CPU: rows up to so many elements are multiplied in order, */
    IN_ORDER_ALL =
        1 << 14,      /* if all rows together have no more than this; more would miss the vectors */
    STREAM_MIN = 16,  /* CPU: so many reduced rows are worth streaming */
    WIDEST = 64,      /* CPU: numbers of a vector, the most that code may have */
    NEAR_MIN = 512,   /* CPU: a row of so many elements is worth adding up in blocks */
    MERGE_LONG = 256, /* GPU: so many accumulators of a result are merged in segments */
    NEAR_STEPS = 8,   /* CPU: an expression of so many steps is worth writing out NEAR times */
};

/* One reduction: its sizes and its schedule. */
typedef struct job {
    td_plan *p;
    td_fold d;
    int64_t rows, reduced; /* results; reduced elements behind each */
    int64_t extent;        /* positions that segments divide */
    int64_t segs, seglen, strips, units;
    int64_t shares; /* CPU: blocks at most */
    double ddof;
    int64_t count;
} job;

static int64_t
foldrun_product(const td_plan *p, int from, int to)
{
    int64_t n = 1;

    for (int i = from; i < to; i++)
        n *= p->dim[i];
    return n;
}

static void
cut(job *j, int64_t want_units, int64_t min_len, int64_t round)
{
    int64_t own = j->p->tail_kept ? j->rows / j->p->dim[j->p->nd - 1] * j->strips
                                  : j->rows; /* units a segment */

    j->segs = 1;
    if ((!j->d.merging || (j->d.nest.simt && j->extent >= MERGE_LONG)) && own < want_units)
        j->segs = want_units / own;
    if (j->segs > j->extent / min_len)
        j->segs = j->extent / min_len;
    if (j->segs < 1)
        j->segs = 1;
    j->seglen = td_ceil_div(j->extent, j->segs);
    j->seglen = td_ceil_div(j->seglen, round) * round;
    j->segs = td_ceil_div(j->extent, j->seglen);
    j->units = own * j->segs;
    j->d.cut = j->segs > 1;
}

/* Threads that share a unit: few long rows take large blocks, many take small ones. */
static int
team_of(const job *j)
{
    if (j->reduced >= 1024 || (j->rows < 64 && j->reduced >= 128))
        return j->rows >= 1024 ? BLOCK / 2 : BLOCK;
    return j->reduced > 16 ? j->d.nest.warp : 1;
}

/* Chooses teams (a thread, a warp or a block, by the length of a row) and segments so that threads fill the machine. */
static void
form_gpu(job *j)
{
    const td_devinfo *info = td_dev_info(j->p->dev);
    td_plan *p = j->p;
    td_nest *n = &j->d.nest;
    int64_t fill = (int64_t)info->units * 2048; /* along: threads */
    int lanes = 16 / td_plan_widest(p, false);

    while (lanes > 1 && !td_plan_aligned(p, lanes))
        lanes /= 2;
    if (p->tail_kept) {
        while (lanes > 1 && p->dim[p->nd - 1] % lanes)
            lanes /= 2;
        j->d.lanes = lanes;
        j->d.nest.block = td_tune[TD_TUNE_across_block];
        j->strips = td_ceil_div(p->dim[p->nd - 1], lanes);
        j->d.deep = p->nstep <= 4 ? td_tune[TD_TUNE_across_deep] : p->nstep <= 16 ? 2 : 1;
        while (j->d.deep > 1 && j->d.deep > j->extent)
            j->d.deep /= 2;
        cut(j, (int64_t)info->units * td_tune[TD_TUNE_across_threads], 32, j->d.deep);
        return;
    }
    j->d.lanes = p->nd - p->nk == 1 ? lanes : 1;
    n->team = team_of(j);
    n->block = n->team > n->warp ? n->team : WARP_ROWS;
    cut(j, fill / n->team, (int64_t)n->team * lanes * 4, (int64_t)n->team * lanes);
}

/* A sum of float32 that may be added up in float32 for a few terms. */
static bool
adds_near(const job *j)
{
    return !j->d.merging && !j->d.pair && (j->d.red == TD_RED_sum || j->d.red == TD_RED_mean) &&
           j->p->step[j->d.value[0]].dt == TD_F32 && j->d.acc[0] == TD_F64 &&
           j->p->nstep <= NEAR_STEPS;
}

/* Large shares of a CPU's work are cut further, so that no thread has much left when the others are done.  Across, where
 * each share has accumulators of its own for all results, they are not. */
static int64_t
shares_of(const td_plan *p)
{
    int64_t n = td_nest_shares(p->dev, p->total * p->nstep, CPU_PARALLEL), most = 4 * n;

    while (!p->tail_kept && n > 1 && n < most && p->total / n > SHARE)
        n *= 2;
    return n;
}

/* Does the kernel read, hold or write complex numbers?  (A merging kernel reads real parts and writes complex results.) */
static bool
has_complex(const job *j)
{
    return j->d.pair || td_dtype_is_complex(j->d.out) || td_plan_complex(j->p);
}

/* A product in another order may overflow where NumPy's, from the first element to the last, does not.  So short rows are
 * multiplied in NumPy's order. */
static bool
multiplies_in_order(const job *j)
{
    return j->d.red == TD_RED_prod && !j->p->tail_kept && j->extent <= IN_ORDER &&
           j->rows * j->extent <= IN_ORDER_ALL && td_dtype_is_float(j->d.acc[0]);
}

static void
form_cpu(job *j)
{
    td_plan *p = j->p;
    int64_t want = j->shares = shares_of(p);
    int lanes = td_jit_lanes(p->dev, 2);

    if (p->nd == p->nk + (p->tail_kept ? 1 : 0) || multiplies_in_order(j))
        lanes = 1;
    if (p->tail_kept && lanes > 1)
        lanes = has_complex(j) ? WIDEST / 2 : WIDEST; /* long runs of every row; a complex is two */
    while (lanes > 8 && lanes / 2 >= p->dim[p->nd - 1])
        lanes /= 2;
    j->d.lanes = lanes;
    if (p->tail_kept) {
        j->d.masked = lanes > 1 && p->dim[p->nd - 1] % lanes != 0;
        j->d.near = adds_near(j) && lanes > 1 && j->extent >= STREAM_MIN;
        j->strips = td_ceil_div(p->dim[p->nd - 1], lanes);
        j->d.streamed = !j->d.merging && j->strips > 1 && j->extent >= STREAM_MIN;
        if (j->d.streamed)
            j->strips = 1;
        cut(j, want, td_ceil_div(SEG_MIN, p->dim[p->nd - 1]) + 1, 1);
        return;
    }
    j->d.near = adds_near(j) && p->dim[p->nd - 1] >= NEAR_MIN && lanes > 1;
    if (p->nd - p->nk > 1) {
        j->extent = foldrun_product(p, p->nk, p->nd - 1);
        cut(j, want, td_ceil_div(SEG_MIN, p->dim[p->nd - 1]), 1);
    } else {
        cut(j, want, SEG_MIN, lanes);
    }
}

/* The arguments behind the plan's own; returns how many. */
static int
words_of(const job *j, td_buf *const *out, uint64_t *words)
{
    const int64_t extra[TD_FOLD_EXTRAS] = {
        [TD_FOLD_COUNT] = j->count,    [TD_FOLD_SEGS] = j->segs,
        [TD_FOLD_SEGLEN] = j->seglen,  [TD_FOLD_EXTENT] = j->extent,
        [TD_FOLD_UNITS] = j->units,    [TD_FOLD_OWN] = j->units / j->segs,
        [TD_FOLD_PER] = j->d.nest.per, [TD_FOLD_STRIPS] = j->strips,
        [TD_FOLD_ROWS] = j->rows,
    };
    int n = 0;

    while (n < TD_FOLD_EXTRAS) {
        words[n] = (uint64_t)extra[n];
        n++;
    }
    memcpy(&words[n++], &j->ddof, sizeof j->ddof);
    for (int i = 0; i < (j->d.final ? 1 : j->d.nacc); i++)
        words[n++] = out[i]->ptr;
    return n;
}

static td_hash
key_of(const job *j)
{
    const td_fold *d = &j->d;
    td_hash h = td_nest_key(td_plan_key(j->p), &d->nest);

    h = td_hash_u64(h, (uint64_t)d->red << 32 | (uint64_t)d->out << 24 | (uint64_t)d->lanes << 16 |
                           (uint64_t)d->near << 15 | (uint64_t)d->deep << 8 |
                           (uint64_t)d->cut << 7 | (uint64_t)d->streamed << 6 |
                           (uint64_t)d->merging << 5 | (uint64_t)d->final << 4 |
                           (uint64_t)d->masked << 3 | (uint64_t)d->pair << 2 | 1);
    for (int i = 0; i < d->nacc; i++)
        h = td_hash_u64(h, (uint64_t)d->value[i] << 8 | d->acc[i]);
    return td_hash_add(h, d->fixed, j->p->nstep * sizeof *d->fixed);
}

/* Launches the kernel, which writes results or the segments' accumulators to out. */
static td_status
foldrun_run(job *j, td_buf *const *out)
{
    td_code code = {key_of(j), j->d.nest.simt ? td_fold_build_gpu : td_fold_build_cpu, &j->d};
    uint64_t words[TD_FOLD_EXTRAS + 1 + TD_MAXACC];
    td_more more = {.word = words,
                    .tail = (uint16_t)(j->d.final ? 1 : j->d.nacc),
                    .red = td_redtab[j->d.red].name,
                    .merges = j->d.merging};

    for (int i = 0; i < more.tail; i++)
        more.nbytes +=
            (size_t)(j->rows * j->segs) * td_dtype_size(j->d.final ? j->d.out : j->d.acc[i]);
    td_nest_deal(&j->d.nest, j->units, j->shares);
    more.n = words_of(j, out, words);
    return td_form_launch_plan(j->p, &code, &j->d.nest, &more);
}

/* Across: which steps have one value for all rows that a lane walks over, as points that are compared with all others?  Their
 * strides are arguments, so that the compiler cannot tell. */
static void
find_fixed(job *j)
{
    const td_plan *p = j->p;

    for (uint16_t i = 0; i < p->nstep; i++) {
        const td_step *s = &p->step[i];
        bool fixed = p->tail_kept && !j->d.merging &&
                     (s->kind == TD_N_LEAF || s->kind == TD_N_SCALAR || s->kind == TD_N_OP ||
                      s->kind == TD_N_CAST);

        for (int k = p->nk; k < p->nd - 1 && s->kind == TD_N_LEAF; k++)
            fixed &= p->opnd[s->opnd].stride[k] == 0;
        for (int k = 0; k < s->nsrc; k++)
            fixed &= j->d.fixed[s->src[k]];
        j->d.fixed[i] = fixed;
    }
}

static void
size_up(job *j, uint32_t axes)
{
    td_plan *p = j->p;

    td_plan_collapse(p, axes, j->d.red == TD_RED_argmin || j->d.red == TD_RED_argmax);
    j->d.nest = td_nest_on(p->dev, 0, 1);
    j->rows = foldrun_product(p, 0, p->nk) * (p->tail_kept ? p->dim[p->nd - 1] : 1);
    j->reduced = j->extent = p->total / j->rows;
    j->strips = 0;
    find_fixed(j);
    if (j->d.nest.simt)
        form_gpu(j);
    else
        form_cpu(j);
}

static td_status reduce_plan(job *j, td_buf *out);

/* Merges the segments' accumulators, seen as [rows, segments], into the results; many in segments again. */
static td_status
merge_segments(const job *first, td_buf *const *part, td_buf *out)
{
    td_plan p;
    job j = {.p = &p, .d = first->d, .ddof = first->ddof, .count = first->count};
    td_view v = {.shape = {.ndim = 2, .dim = {first->rows, first->segs}}};
    td_status st = TD_OK;

    v.stride[0] = first->p->tail_kept ? 1 : first->segs;
    v.stride[1] = first->p->tail_kept ? first->rows : 1;
    if (first->p->tail_kept) { /* segments outermost: memory order */
        v.shape.dim[0] = first->segs;
        v.shape.dim[1] = first->rows;
        v.stride[0] = first->rows;
        v.stride[1] = 1;
    }
    td_plan_begin(&p, first->p->dev, &v.shape);
    p.site = first->p->site;
    for (int i = 0; i < first->d.nacc && !st; i++) {
        td_node *n = NULL;

        st = td_node_leaf(part[i], first->d.acc[i], &v, &n);
        if (!st)
            st = td_plan_add(&p, n, &j.d.value[i]);
        td_node_unref(n);
    }
    if (!st) {
        j.d.p = &p;
        j.d.merging = true;
        j.d.masked = j.d.streamed = j.d.near = false;
        j.d.deep = 0;
        size_up(&j, first->p->tail_kept ? 1 : 2);
        st = reduce_plan(&j, out);
    }
    td_plan_end(&p);
    return st;
}

static td_status
reduce_plan(job *j, td_buf *out)
{
    td_buf *part[TD_MAXACC] = {NULL};
    td_status st = TD_OK;

    j->d.final = j->segs == 1 && !j->d.streamed;
    if (j->d.final)
        return foldrun_run(j, &out);
    for (int i = 0; i < j->d.nacc && !st; i++)
        st = td_buf_new(j->p->dev, j->p->stream,
                        (size_t)(j->rows * j->segs) * td_dtype_size(j->d.acc[i]), &part[i]);
    if (!st)
        st = foldrun_run(j, part);
    if (!st)
        st = merge_segments(j, part, out);
    for (int i = 0; i < j->d.nacc; i++)
        td_buf_unref(part[i]);
    return st;
}

static td_status
reduce_into(td_node *n, td_plan *p, td_buf *out)
{
    job j = {.p = p,
             .ddof = n->par[0].f[0],
             .d = {.p = p, .red = (td_red)n->op, .out = (td_dtype)n->dt}};
    td_dtype in = (td_dtype)n->src[0]->dt;
    int64_t results = td_shape_size(&n->view.shape);

    j.d.pair = td_red_pair(j.d.red, in, j.d.out);
    j.d.nacc = td_red_nacc(j.d.red, j.d.pair);
    for (int i = 0; i < j.d.nacc; i++)
        j.d.acc[i] = td_red_acc(j.d.red, i, in, j.d.out);
    j.count = p->total / results;
    if ((j.d.red == TD_RED_argmin || j.d.red == TD_RED_argmax) && j.count <= INT32_MAX)
        j.d.acc[j.d.nacc - 1] = TD_I32; /* as wide as most elements */
    TD_TRY(td_plan_add(p, n->src[0], &j.d.value[0]));
    for (uint16_t i = 0; i < p->nstep; i++)
        p->seen[i]->computed = 1;
    size_up(&j, n->axes);
    return reduce_plan(&j, out);
}

td_status
td_eval_reduce(td_node *n)
{
    td_view v = td_view_contiguous(&n->view.shape);
    int64_t results = td_shape_size(&n->view.shape);
    td_plan p;
    td_buf *out;
    td_status st = TD_OK;

    TD_TRY(td_buf_new(n->dev, td_dev_stream(n->dev),
                      (size_t)results * td_dtype_size((td_dtype)n->dt), &out));
    td_plan_begin(&p, n->dev, &n->src[0]->view.shape);
    p.site = n->site;
    if (results && p.total)
        st = reduce_into(n, &p, out);
    else if (results)
        st = td_eval_fill(out, td_red_empty((td_red)n->op, (td_dtype)n->dt), results);
    td_plan_end(&p);
    if (st) {
        td_buf_unref(out);
        return st;
    }
    td_node_settle(n, out, &v);
    return TD_OK;
}
