/* count.c - kernels that count how often each bin occurs.
 *
 * GPU: a block counts in shared memory, in as many copies of the counters as fit.  Neighbouring lanes use different copies, so
 * lanes that count the same bin do not wait for each other: with 32 copies each lane has a memory bank to itself.  A thread
 * issues four 16-byte loads at once.  More counters than shared memory holds are counted in global memory.
 * CPU: a block has counters of its own, in several copies so that an element does not wait for the one before it.
 *
 * A float's bin is found by multiplying; only near an edge, where that may be wrong by one, it is compared with the
 * edges themselves.
 */
#include "array/form/count.h"

#include "array/graph/array.h"

typedef struct counting {
    td_fn *f;
    const td_count *d;
    td_val in, edges, out, num[TD_COUNT_INTS], par[TD_COUNT_FLOATS];
    td_val mine; /* GPU: where this thread counts */
    td_val own;  /* GPU, shared: the thread's copy */
    int lanes;   /* of the elements at hand */
} counting;

static td_val
whole(const counting *c, int64_t v)
{
    return td_const_int(c->f, TD_I32, v);
}

static td_val
any_lane(td_fn *f, td_val v, int lanes)
{
    td_val r = td_extract(f, v, 0);

    for (int k = 1; k < lanes; k++)
        r = TD_E2(f, logical_or, r, td_extract(f, v, k));
    return r;
}

/* Counts lanes of the int32 bins at `bin` where ok holds. */
static void
add(const counting *c, td_val bin, td_val ok)
{
    const td_count *d = c->d;
    td_fn *f = c->f;

    if (d->nest.simt) {
        if (d->bins)
            bin = TD_E2(f, add, TD_E2(f, multiply, bin, whole(c, d->copies)), c->own);
        td_atomic(f, OP_atomic_add, c->mine, bin,
                  td_splat(f, td_const_int(f, d->bins ? TD_U32 : d->counter, 1), c->lanes), ok);
        return;
    }
    bin = TD_E3(f, select, ok, bin, whole(c, 0));
    for (int k = 0; k < c->lanes; k++) { /* an element that does not count adds 0 */
        td_val at = td_cast(f, td_extract(f, bin, k), TD_I64), n;

        at = TD_E2(f, add, TD_E2(f, multiply, at, td_const_int(f, TD_I64, d->copies)),
                   TD_E2(f, add, c->own, td_const_int(f, TD_I64, k % d->copies)));
        n = TD_E2(f, add, td_load(f, c->mine, at, TD_NONE, 1, 0),
                  td_cast(f, td_extract(f, ok, k), d->counter));
        td_store(f, c->mine, at, n, TD_NONE, 0);
    }
}

static void
count_numbers(const counting *c, td_val v, td_val mask)
{
    td_fn *f = c->f;
    td_dtype dt = c->d->in;
    td_val ok, limit = c->num[TD_COUNT_BINS];

    if (td_dtype_size(dt) < 4)
        v = td_cast(f, v, dt = TD_I32);
    if (td_dtype_size(dt) == 4)
        ok = TD_E2(f, less, td_bitcast(f, v, TD_U32),
                   td_cast(f, limit, TD_U32)); /* below 2^31 of them */
    else
        ok = TD_E2(f, less, td_bitcast(f, v, TD_U64), td_cast(f, limit, TD_U64));
    if (mask.i != TD_NONE.i)
        ok = TD_E2(f, logical_and, ok, mask);
    add(c, td_cast(f, v, TD_I32), ok);
}

/* NumPy's bin: the guess, corrected by comparing x with the edges. */
static td_val
exact_bin(const counting *c, td_val x, td_val guess, td_val inside)
{
    td_fn *f = c->f;
    td_val one = whole(c, 1),
           top = TD_E2(f, subtract, td_cast(f, c->num[TD_COUNT_BINS], TD_I32), one), i, up;

    i = TD_E2(f, maximum, TD_E2(f, minimum, guess, top), whole(c, 0));
    i = td_splat(f, i, c->lanes);
    up = TD_E2(f, less, x, td_load(f, c->edges, i, inside, c->lanes, 0));
    i = TD_E3(f, select, TD_E2(f, logical_and, up, TD_E2(f, greater, i, whole(c, 0))),
              TD_E2(f, subtract, i, one), i);
    up = TD_E2(f, greater_equal, x,
               td_load(f, c->edges, TD_E2(f, add, i, one), inside, c->lanes, 0));
    return TD_E3(f, select, TD_E2(f, logical_and, up, TD_E2(f, less, i, top)),
                 TD_E2(f, add, i, one), i);
}

/* Adding 1.5 * 2^23 (2^52) rounds (x - first) * scale - 0.5 to an integer, which then stands in the sum's low bits: the bin,
 * unless x lies near an edge. */
static void
count_floats(const counting *c, td_val x, td_val mask)
{
    td_fn *f = c->f;
    td_dtype dt = c->d->in, bits = dt == TD_F32 ? TD_U32 : TD_U64;
    double shift = dt == TD_F32 ? 0x1.8p23 : 0x1.8p52;
    td_val big = td_const(f, dt, shift), place, sum, guess, off, sure, slow;

    place =
        TD_E2(f, multiply, TD_E2(f, subtract, x, c->par[TD_COUNT_FIRST]), c->par[TD_COUNT_SCALE]);
    place = TD_E2(f, subtract, place, td_const(f, dt, 0.5));
    sum = TD_E2(f, add, place, big);
    guess = TD_E2(f, subtract, td_bitcast(f, sum, bits), td_bitcast(f, big, bits));
    off = TD_E1(f, fabs, TD_E2(f, subtract, place, TD_E2(f, subtract, sum, big)));
    sure = TD_E2(f, logical_and, TD_E2(f, less, guess, td_cast(f, c->num[TD_COUNT_BINS], bits)),
                 TD_E2(f, less, off, c->par[TD_COUNT_SURE]));
    guess = td_cast(f, guess, TD_I32);
    slow = TD_E1(f, logical_not, sure);
    if (mask.i != TD_NONE.i) {
        sure = TD_E2(f, logical_and, sure, mask);
        slow = TD_E2(f, logical_and, slow, mask);
    }
    add(c, guess, sure);
    td_if(f, any_lane(f, slow, c->lanes));
    slow = TD_E2(f, logical_and, slow,
                 TD_E2(f, logical_and, TD_E2(f, greater_equal, x, c->par[TD_COUNT_FIRST]),
                       TD_E2(f, less_equal, x, c->par[TD_COUNT_LAST])));
    td_if(f, any_lane(f, slow, c->lanes));
    add(c, exact_bin(c, x, guess, slow), slow);
    td_end(f);
    td_end(f);
}

static void
count_lanes(const counting *c, td_val v, td_val mask)
{
    if (c->d->binned)
        count_floats(c, v, mask);
    else
        count_numbers(c, v, mask);
}

static int
align_of(const counting *c)
{
    return c->lanes > 1 ? c->lanes * (int)td_dtype_size(c->d->in) : 0;
}

/* ---- GPU ---- */

static void
clear_shared(const counting *c, td_val tid)
{
    td_fn *f = c->f;
    td_val i =
        td_for(f, tid, whole(c, (int64_t)c->d->bins * c->d->copies), whole(c, c->d->nest.block));

    td_store(f, c->mine, i, td_const_int(f, TD_U32, 0), TD_NONE, 0);
    td_end(f);
    td_barrier(f);
}

/* Adds the copies of each bin up.  Each thread begins with another copy, so that a warp reads all banks at once. */
static void
merge_shared(const counting *c, td_val tid)
{
    const td_count *d = c->d;
    td_fn *f = c->f;
    td_val bins = td_cast(f, c->num[TD_COUNT_BINS], TD_I32), sum = td_slot(f, TD_U32, 1), i, k, at;

    td_barrier(f);
    i = td_for(f, tid, bins, whole(c, d->nest.block));
    td_set(f, sum, td_const_int(f, TD_U32, 0));
    k = td_for(f, whole(c, 0), whole(c, d->copies), whole(c, 1));
    at = TD_E2(f, bitwise_and, TD_E2(f, add, k, i), whole(c, d->copies - 1));
    at = TD_E2(f, add, TD_E2(f, multiply, i, whole(c, d->copies)), at);
    td_set(f, sum, TD_E2(f, add, td_get(f, sum), td_load(f, c->mine, at, TD_NONE, 1, 0)));
    td_end(f);
    td_atomic(f, OP_atomic_add, c->out, i, td_cast(f, td_get(f, sum), d->counter),
              TD_E2(f, not_equal, td_get(f, sum), td_const_int(f, TD_U32, 0)));
    td_end(f);
}

/* Loads all vectors of a round before it counts the first. */
static void
count_gpu(counting *c, td_val tid)
{
    const td_count *d = c->d;
    td_fn *f = c->f;
    td_val n = c->num[TD_COUNT_N], step = c->num[TD_COUNT_STEP],
           lanes = td_const_int(f, TD_I64, d->lanes);
    td_val block = td_const_int(f, TD_I64, d->nest.block), at = td_slot(f, TD_I64, 1),
           one = td_const_int(f, TD_I64, 1);
    td_val first, far, i, end, v[8];

    first = TD_E2(f, multiply, td_cast(f, td_index(f, OP_bid, 0), TD_I64), block);
    first = TD_E2(f, multiply, TD_E2(f, add, first, td_cast(f, tid, TD_I64)), lanes);
    far = TD_E2(f, add, TD_E2(f, multiply, step, td_const_int(f, TD_I64, d->unroll - 1)), lanes);
    td_set(f, at, first);
    c->lanes = d->lanes;
    i = td_for(f, first, TD_E2(f, add, TD_E2(f, subtract, n, far), one),
               TD_E2(f, multiply, step, td_const_int(f, TD_I64, d->unroll)));
    for (int u = 0; u < d->unroll; u++)
        v[u] = td_load(f, c->in,
                       TD_E2(f, add, i, TD_E2(f, multiply, step, td_const_int(f, TD_I64, u))),
                       TD_NONE, d->lanes, align_of(c));
    for (int u = 0; u < d->unroll; u++)
        count_lanes(c, v[u], TD_NONE);
    td_set(f, at, TD_E2(f, add, i, TD_E2(f, multiply, step, td_const_int(f, TD_I64, d->unroll))));
    td_end(f);
    c->lanes = 1;
    i = td_for(f, td_get(f, at), n, step);
    end = TD_E2(f, minimum, n, TD_E2(f, add, i, lanes));
    i = td_for(f, i, end, one);
    count_lanes(c, td_load(f, c->in, i, TD_NONE, 1, 0), TD_NONE);
    td_end(f);
    td_end(f);
}

/* ---- CPU ---- */

static void
count_vector(void *ctx, td_val at, td_val mask)
{
    const counting *c = ctx;

    count_lanes(c, td_load(c->f, c->in, at, mask, c->lanes, 0), mask);
}

/* Block b counts elements from b * step on, in counters from b * bins * copies on. */
static void
count_cpu(counting *c)
{
    const td_count *d = c->d;
    td_fn *f = c->f;
    td_val n = c->num[TD_COUNT_N], step = c->num[TD_COUNT_STEP];
    td_val bid = td_cast(f, td_index(f, OP_bid, 0), TD_I64), lo, hi;

    c->mine = c->out;
    c->lanes = d->lanes;
    c->own = TD_E2(f, multiply, TD_E2(f, multiply, bid, c->num[TD_COUNT_BINS]),
                   td_const_int(f, TD_I64, d->copies));
    lo = TD_E2(f, multiply, bid, step);
    hi = TD_E2(f, minimum, n, TD_E2(f, add, lo, step));
    td_nest_lanes(f, lo, hi, d->lanes, count_vector, c);
}

td_status
td_count_build(void *ctx, td_fn *f)
{
    const td_count *d = ctx;
    counting c = {.f = f, .d = d, .lanes = 1};
    td_val tid;

    c.in = td_param_ptr(f, d->in);
    if (d->binned)
        c.edges = td_param_ptr(f, d->in);
    c.out = td_param_ptr(f, d->counter);
    for (int i = 0; i < TD_COUNT_INTS; i++)
        c.num[i] = td_param(f, TD_I64);
    for (int i = 0; i < TD_COUNT_FLOATS && d->binned; i++)
        c.par[i] = td_param(f, d->in);
    if (!d->nest.simt) {
        count_cpu(&c);
        return f->st;
    }
    tid = td_index(f, OP_tid, 0);
    c.mine = c.out;
    if (d->bins) {
        c.mine = td_shared(f, TD_U32, (uint64_t)d->bins * (uint64_t)d->copies);
        c.own = TD_E2(f, bitwise_and, tid, whole(&c, d->copies - 1));
        clear_shared(&c, tid);
    }
    count_gpu(&c, tid);
    if (d->bins)
        merge_shared(&c, tid);
    return f->st;
}
