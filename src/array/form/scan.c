/* scan.c - the code of accumulating kernels.
 *
 * Within a tile the lanes of a vector are accumulated first, then the threads of a warp by exchanging
 * totals, then the warps of a block through shared memory.  Floats are accumulated in float64.
 */
#include "array/form/scan.h"

#include "array/graph/reduce.h"

enum { UNROLL_MAX = 4, PLACES = 8 };

typedef struct gen {
    td_fn *f;
    const td_scan *d;
    td_val in, values, carry, out,
        num[TD_SCAN_INTS]; /* pointers to parts where elements are complex */
    td_val base;           /* of the row: element number of its first element */
    td_val lane, warp;     /* int32: of the thread in its warp, of the warp in its team */
    td_val totals, starts; /* shared: a warp's totals; what comes before each, and after all */
} gen;

#define G2(g, op, a, b) TD_E2((g)->f, op, a, b)

static td_val
big(gen *g, int64_t v)
{
    return td_const_int(g->f, TD_I64, v);
}

static td_val
little(gen *g, int v)
{
    return td_const_int(g->f, TD_I32, v);
}

static bool
several_warps(const td_scan *d)
{
    return d->nest.team > d->nest.warp;
}

static td_op
operation(const td_scan *d)
{
    switch (d->red) {
    case TD_RED_max: return OP_maximum;
    case TD_RED_min: return OP_minimum;
    case TD_RED_sum: return d->logical ? OP_bitwise_or : OP_add;
    default:         return d->logical ? OP_bitwise_and : OP_multiply;
    }
}

static td_num
merge(gen *g, td_num a, td_num b)
{
    return td_num_emit(g->f, operation(g->d), (td_num[]){a, b});
}

/* The neutral element; for sums of floats -0, so that a first -0 stays -0. */
static td_num
identity(gen *g)
{
    td_dtype part = td_dtype_real_of(g->d->acc), acc[TD_MAXACC] = {part, part, TD_I64};
    bool pair = td_dtype_is_complex(g->d->acc);
    td_val v[TD_MAXACC];

    td_red_init(g->f, g->d->red, pair, acc, v);
    if (g->d->red == TD_RED_sum && td_dtype_is_float(part))
        v[0] = v[1] = td_const(g->f, part, -0.0);
    return (td_num){v[0], pair ? v[1] : TD_NONE};
}

static td_num
variable(gen *g, int lanes)
{
    td_num s = td_num_slot(g->f, g->d->acc, lanes);

    td_num_set(g->f, s, identity(g));
    return s;
}

static int
align_of(const gen *g, td_dtype dt)
{
    int size = (int)td_dtype_size(dt), n = g->d->lanes * size;

    if (!g->d->nest.simt)
        return 0;
    if (g->d->lanes == 1 || g->d->masked)
        return td_dtype_is_complex(dt) ? size : 0;
    return n < 16 ? n : 16;
}

/* Loads elements from `at` on as accumulators, neutral ones where the mask is off. */
static td_num
scan_load(gen *g, td_val at, td_val mask, td_val *raw)
{
    td_num v = td_num_load(g->f, g->in, g->d->in, at, mask, g->d->lanes, align_of(g, g->d->in));

    if (raw)
        *raw = v.re;
    if (td_dtype_is_half(g->d->in))
        v = td_num_cast(g->f, v, TD_F32);
    if (g->d->logical)
        v = td_num_cast(g->f, v, TD_BOOL);
    v = td_num_cast(g->f, v, g->d->acc);
    return mask.i == UINT32_MAX ? v : td_num_select(g->f, mask, v, identity(g));
}

/* One accumulator in memory: shared, or a segment's total. */
static td_num
load_one(gen *g, td_val from, td_val at)
{
    return td_num_load(g->f, from, g->d->acc, at, TD_NONE, 1, 0);
}

static void
store_one(gen *g, td_val to, td_val at, td_num x)
{
    td_num_store(g->f, to, g->d->acc, at, x, TD_NONE, 0);
}

static void
declare(gen *g)
{
    const td_scan *d = g->d;

    g->in = td_num_param_ptr(g->f, d->in);
    if (d->put == TD_SCAN_SELECT)
        g->values = td_num_param_ptr(g->f, d->out);
    if (d->carried)
        g->carry = td_num_param_ptr(g->f, d->acc);
    g->out = td_num_param_ptr(g->f, d->put == TD_SCAN_TOTALS ? d->acc : d->out);
    for (int i = 0; i < TD_SCAN_INTS; i++)
        g->num[i] = td_param(g->f, TD_I64);
    if (several_warps(d)) {
        uint64_t n = (uint64_t)(d->unroll * d->nest.team / d->nest.warp);

        g->totals = td_num_shared(g->f, d->acc, n);
        g->starts = td_num_shared(g->f, d->acc, n + 1);
    }
}

/* ---- pieces of a tile ---- */

static td_num
scan_lanes(gen *g, td_num x)
{
    int lanes = g->d->lanes;

    for (int k = 1; k < lanes; k *= 2) {
        td_num before = td_num_rotate(g->f, x, lanes - k);
        td_val has = G2(g, greater_equal, td_iota(g->f, TD_I32, lanes), little(g, k));

        x = td_num_select(g->f, has, merge(g, before, x), x);
    }
    return x;
}

/* Exclusive scan over the warp: returns what the threads before have together; *total: what all threads have. */
static td_num
scan_warp(gen *g, td_num *total)
{
    td_num before = identity(g);
    td_val zero = little(g, 0);

    for (int k = 1; k < g->d->nest.warp; k *= 2) {
        td_num other = td_num_shuffle_xor(g->f, *total, k);
        td_val upper = G2(g, not_equal, G2(g, bitwise_and, g->lane, little(g, k)), zero);

        before = td_num_select(g->f, upper, merge(g, other, before), before);
        *total = merge(g, *total, other);
    }
    return before;
}

/* The element of the lane's number; the identity in lanes from count on. */
static td_num
load_below(gen *g, td_val mem, int count)
{
    td_num slot = variable(g, 1);

    td_if(g->f, G2(g, less, g->lane, little(g, count)));
    td_num_set(g->f, slot, load_one(g, mem, g->lane));
    td_end(g->f);
    return td_num_get(g->f, slot);
}

/* Sets before[k] to the total of all that comes before this warp's vector k, the carry of earlier tiles included. */
static void
scan_block(gen *g, const td_num total[], td_num carry, td_num before[])
{
    int warps = g->d->nest.team / g->d->nest.warp, count = warps * g->d->unroll;
    td_fn *f = g->f;
    bool all = count == g->d->nest.warp; /* else only the warp's first lanes have a vector each */
    td_num mine, start, old;

    TD_ASSERT(count <= g->d->nest.warp);
    td_if(f, G2(g, equal, g->lane, little(g, 0)));
    for (int k = 0; k < g->d->unroll; k++)
        store_one(g, g->totals, G2(g, add, g->warp, little(g, k * warps)), total[k]);
    td_end(f);
    td_barrier(f);
    td_if(f, G2(g, equal, g->warp, little(g, 0)));
    mine = all ? load_one(g, g->totals, g->lane) : load_below(g, g->totals, count);
    start = scan_warp(g, &mine);
    old = td_num_get(f, carry);
    if (!all)
        td_if(f, G2(g, less, g->lane, little(g, count)));
    store_one(g, g->starts, g->lane, merge(g, old, start));
    if (!all)
        td_end(f);
    td_num_set(f, carry, merge(g, old, mine));
    td_end(f);
    td_barrier(f);
    for (int k = 0; k < g->d->unroll; k++)
        before[k] = load_one(g, g->starts, G2(g, add, g->warp, little(g, k * warps)));
}

/* The thread's first element, of a tile that begins at `at`. */
static td_val
of_thread(gen *g, td_val at)
{
    td_val thread = G2(g, add, G2(g, multiply, g->warp, little(g, g->d->nest.warp)), g->lane);

    return G2(g, add, at, G2(g, multiply, td_cast(g->f, thread, TD_I64), big(g, g->d->lanes)));
}

/* A vector of a tile: its place, the lanes that exist, what was read. */
typedef struct piece {
    td_val at, mask, raw;
    td_num value; /* what a selection writes */
} piece;

/* A tile issues all its loads before its first store: the compiler cannot know that they do not overlap, and would wait for
 * each vector in turn. */
static td_num
fetch(gen *g, piece *p)
{
    const td_scan *d = g->d;
    td_num x = scan_load(g, p->at, p->mask, &p->raw);

    if (d->put == TD_SCAN_SELECT)
        p->value =
            td_num_load(g->f, g->values, d->out, p->at, p->mask, d->lanes, align_of(g, d->out));
    else if (d->put == TD_SCAN_POSITIONS)
        p->value = td_num_of(G2(g, add, p->at, td_iota(g->f, TD_I64, d->lanes)));
    return x;
}

static void
put(gen *g, const piece *p, td_num x)
{
    const td_scan *d = g->d;
    td_fn *f = g->f;
    td_val to;

    if (d->put == TD_SCAN_ALL) {
        x = td_num_cast(f, x, d->out);
        td_num_store(f, g->out, d->out, p->at, x, p->mask, align_of(g, d->out));
        return;
    }
    to = G2(g, subtract, td_cast(f, x.re, TD_I64), big(g, 1));
    td_num_store(f, g->out, d->out, to, p->value,
                 p->mask.i == UINT32_MAX ? p->raw : G2(g, logical_and, p->raw, p->mask), 0);
}

/* The tile whose first element is `at` of the row, up to hi when it is the last. */
static void
tile(gen *g, td_val at, td_val hi, bool last, td_num carry)
{
    const td_scan *d = g->d;
    td_fn *f = g->f;
    piece p[UNROLL_MAX];
    td_num x[UNROLL_MAX], total[UNROLL_MAX], before[UNROLL_MAX];

    at = of_thread(g, at);
    for (int k = 0; k < d->unroll; k++) {
        td_val j = G2(g, add, at, big(g, (int64_t)k * d->nest.team * d->lanes));

        p[k].mask = last ? td_nest_mask(f, d->lanes, j, hi) : TD_NONE;
        p[k].at = G2(g, add, g->base, j);
        x[k] = fetch(g, &p[k]);
    }
    for (int k = 0; k < d->unroll; k++) {
        x[k] = scan_lanes(g, x[k]);
        total[k] = td_num_extract(f, x[k], d->lanes - 1);
        if (d->nest.team > 1)
            before[k] = scan_warp(g, &total[k]);
    }
    if (several_warps(d)) {
        td_num start[UNROLL_MAX];

        scan_block(g, total, carry, start);
        for (int k = 0; k < d->unroll; k++)
            before[k] = merge(g, start[k], before[k]);
    } else {
        for (int k = 0; k < d->unroll; k++) {
            td_num old = td_num_get(f, carry);

            before[k] = d->nest.team > 1 ? merge(g, old, before[k]) : old;
            td_num_set(f, carry, merge(g, old, total[k]));
        }
    }
    for (int k = 0; k < d->unroll; k++)
        put(g, &p[k], merge(g, before[k], x[k]));
}

/* ---- along ---- */

static void
bounds(gen *g, td_val seg, td_val *lo, td_val *hi)
{
    *lo = G2(g, multiply, seg, g->num[TD_SCAN_SEGLEN]);
    *hi = G2(g, minimum, G2(g, add, *lo, g->num[TD_SCAN_SEGLEN]), g->num[TD_SCAN_N]);
}

/* The total over all lanes of all threads of the team; right in the unit's first thread. */
static td_num
total_of(gen *g, td_num slot)
{
    td_fn *f = g->f;
    td_num acc = td_num_get(f, slot);
    int warps = g->d->nest.team / g->d->nest.warp;

    for (int k = g->d->lanes / 2; k > 0; k /= 2)
        acc = merge(g, acc, td_num_rotate(f, acc, k));
    acc = td_num_extract(f, acc, 0);
    if (g->d->nest.team > 1)
        scan_warp(g, &acc);
    if (warps > 1) {
        td_num all = variable(g, 1);

        td_if(f, G2(g, equal, g->lane, little(g, 0)));
        store_one(g, g->totals, g->warp, acc);
        td_end(f);
        td_barrier(f);
        td_if(f, G2(g, less, g->lane, little(g, warps)));
        td_num_set(f, all, load_one(g, g->totals, g->lane));
        td_end(f);
        acc = td_num_get(f, all);
        scan_warp(g, &acc);
    }
    return acc;
}

static void
totals_step(gen *g, td_val at, td_val hi, bool last, td_num slot)
{
    const td_scan *d = g->d;
    td_fn *f = g->f;
    td_num x[UNROLL_MAX], sum = td_num_get(f, slot);
    td_val mask = TD_NONE;

    at = of_thread(g, at);
    for (int k = 0; k < d->unroll; k++) {
        td_val j = G2(g, add, at, big(g, (int64_t)k * d->nest.team * d->lanes));

        if (last)
            mask = td_nest_mask(f, d->lanes, j, hi);
        x[k] = scan_load(g, G2(g, add, g->base, j), mask, NULL);
    }
    for (int k = 0; k < d->unroll; k++)
        sum = merge(g, sum, x[k]);
    td_num_set(f, slot, sum);
}

/* ---- a CPU's selection ---- */

/* Writes element j at `to` and returns where the next one goes: behind it if the mask marks j, else on top of it.  There is
 * no branch, so all masks take the same time. */
static td_val
scan_place(gen *g, td_val j, td_val to)
{
    td_fn *f = g->f;
    td_val at = G2(g, add, g->base, j), raw = td_load(f, g->in, at, TD_NONE, 1, 0);
    td_num v = td_num_of(at);

    if (g->d->put == TD_SCAN_SELECT)
        v = td_num_load(f, g->values, g->d->out, at, TD_NONE, 1, 0);
    td_num_store(f, g->out, g->d->out, to, v, TD_NONE, 0);
    return G2(g, add, to, td_cast(f, raw, TD_I64));
}

/* Selects from the segment [lo, hi).  `to` (a slot): where its first selected element goes; end: where the next segment's
 * goes, which another thread writes. */
static void
place_all(gen *g, td_val lo, td_val hi, td_val end, td_val to)
{
    td_fn *f = g->f;
    td_val i = td_slot(f, TD_I64, 1), j, at;

    td_set(f, i, lo);
    td_loop(f);
    j = td_get(f, i);
    at = td_get(f, to);
    td_break_if(f, G2(g, greater, G2(g, add, j, big(g, PLACES)), hi));
    td_break_if(f, G2(g, greater, G2(g, add, at, big(g, PLACES)), end));
    for (int k = 0; k < PLACES; k++)
        at = scan_place(g, G2(g, add, j, big(g, k)), at);
    td_set(f, to, at);
    td_set(f, i, G2(g, add, j, big(g, PLACES)));
    td_end(f);
    j = td_for(f, td_get(f, i), hi, big(g, 1));
    at = td_get(f, to);
    td_break_if(f, G2(g, greater_equal, at, end));
    td_set(f, to, scan_place(g, j, at));
    td_end(f);
}

/* A segment that ends at hi, and what has been accumulated of it. */
typedef struct segment {
    gen *g;
    td_val hi;
    td_num slot;
} segment;

static void
segment_tile(void *ctx, td_val at, bool last)
{
    const segment *s = ctx;

    if (s->g->d->put == TD_SCAN_TOTALS)
        totals_step(s->g, at, s->hi, last, s->slot);
    else
        tile(s->g, at, s->hi, last, s->slot);
}

static void
along_unit(gen *g, td_val unit)
{
    const td_scan *d = g->d;
    bool totals = d->put == TD_SCAN_TOTALS;
    int64_t step = (int64_t)d->nest.team * d->lanes * d->unroll;
    td_fn *f = g->f;
    td_val row = G2(g, truncate_divide, unit, g->num[TD_SCAN_SEGS]), lo, hi;
    td_num slot;
    td_val seg = G2(g, subtract, unit, G2(g, multiply, row, g->num[TD_SCAN_SEGS]));

    bounds(g, seg, &lo, &hi);
    g->base = G2(g, multiply, row, g->num[TD_SCAN_N]);
    slot = variable(g, totals ? d->lanes : 1);
    if (d->carried) {
        td_if(f, G2(g, greater, seg, big(g, 0)));
        td_num_set(f, slot, load_one(g, g->carry, G2(g, subtract, unit, big(g, 1))));
        td_end(f);
    }
    if (!d->nest.simt && (d->put == TD_SCAN_SELECT || d->put == TD_SCAN_POSITIONS)) {
        place_all(g, lo, hi, load_one(g, g->carry, unit).re, slot.re);
        return;
    }
    td_nest_steps(f, lo, hi, step, segment_tile, &(segment){.g = g, .hi = hi, .slot = slot});
    if (totals) {
        td_num all = total_of(g, slot);
        td_val first = G2(g, bitwise_or, g->lane, g->warp);

        td_if(f, G2(g, equal, first, little(g, 0)));
        store_one(g, g->out, unit, all);
        td_end(f);
    }
}

/* ---- across ---- */

/* Accumulates `count` rows of the strip from r on, after issuing all their loads. */
static void
across_step(gen *g, td_val r, int count, td_val mask, td_num slot)
{
    const td_scan *d = g->d;
    td_fn *f = g->f;
    td_num x[UNROLL_MAX], acc = td_num_get(f, slot);
    td_val at[UNROLL_MAX];

    for (int k = 0; k < count; k++) {
        td_val row = G2(g, add, r, big(g, k));

        at[k] = G2(g, add, g->base, G2(g, multiply, row, g->num[TD_SCAN_INNER]));
        x[k] = scan_load(g, at[k], mask, NULL);
    }
    for (int k = 0; k < count; k++) {
        acc = merge(g, acc, x[k]);
        if (d->put == TD_SCAN_ALL)
            td_num_store(f, g->out, d->out, at[k], td_num_cast(f, acc, d->out), mask,
                         align_of(g, d->out));
    }
    td_num_set(f, slot, acc);
}

static void
across_unit(gen *g, td_val unit)
{
    const td_scan *d = g->d;
    td_fn *f = g->f;
    td_val q = G2(g, truncate_divide, unit, g->num[TD_SCAN_STRIPS]), mask = TD_NONE, lo, hi, r;
    td_val j = G2(g, subtract, unit, G2(g, multiply, q, g->num[TD_SCAN_STRIPS]));
    td_val row = G2(g, truncate_divide, q, g->num[TD_SCAN_SEGS]);
    td_val seg = G2(g, subtract, q, G2(g, multiply, row, g->num[TD_SCAN_SEGS]));
    td_num slot;

    bounds(g, seg, &lo, &hi);
    j = G2(g, multiply, j, big(g, d->lanes));
    if (d->masked)
        mask = td_nest_mask(f, d->lanes, j, g->num[TD_SCAN_INNER]);
    g->base = G2(g, multiply, row, G2(g, multiply, g->num[TD_SCAN_N], g->num[TD_SCAN_INNER]));
    g->base = G2(g, add, g->base, j);
    slot = variable(g, d->lanes);
    if (d->carried) {
        td_val at = G2(g, multiply, G2(g, subtract, q, big(g, 1)), g->num[TD_SCAN_INNER]);

        td_if(f, G2(g, greater, seg, big(g, 0)));
        td_num_set(f, slot, td_num_load(f, g->carry, d->acc, G2(g, add, at, j), mask, d->lanes, 0));
        td_end(f);
    }
    r = td_for(f, lo, G2(g, subtract, hi, big(g, d->unroll - 1)), big(g, d->unroll));
    across_step(g, r, d->unroll, mask, slot);
    td_end(f);
    if (d->unroll > 1) {
        lo = G2(g, add, lo, G2(g, bitwise_and, G2(g, subtract, hi, lo), big(g, -d->unroll)));
        r = td_for(f, lo, hi, big(g, 1));
        across_step(g, r, 1, mask, slot);
        td_end(f);
    }
    if (d->put == TD_SCAN_TOTALS)
        td_num_store(f, g->out, d->acc, G2(g, add, G2(g, multiply, q, g->num[TD_SCAN_INNER]), j),
                     td_num_get(f, slot), mask, 0);
}

/* ---- which thread takes which unit ---- */

static void
one_unit(gen *g, td_val unit)
{
    if (g->d->across)
        across_unit(g, unit);
    else
        along_unit(g, unit);
}

td_status
td_scan_build(void *ctx, td_fn *f)
{
    gen g = {.f = f, .d = ctx};
    const td_nest *n = &g.d->nest;
    td_place at;
    td_val unit, tid;

    declare(&g);
    g.lane = g.warp = little(&g, 0);
    at = td_nest_open(f, n, g.num[TD_SCAN_UNITS], g.num[TD_SCAN_PER]);
    if (!n->simt) {
        one_unit(&g, at.unit);
        td_nest_close(f, n);
        return f->st;
    }
    f->threads = (uint32_t)n->block;
    f->resident = (uint32_t)g.d->resident;
    tid = td_cast(f, at.tid, TD_I32);
    if (n->team > 1)
        g.lane = G2(&g, bitwise_and, tid, little(&g, n->warp - 1));
    if (several_warps(g.d))
        g.warp = G2(&g, right_shift, tid, little(&g, __builtin_ctz((unsigned)n->warp)));
    unit = at.unit;
    td_if(f, G2(&g, less, unit, g.num[TD_SCAN_UNITS]));
    if (g.d->carried) /* backwards: what the totals' kernel read last is still in the cache */
        unit = G2(&g, subtract, G2(&g, subtract, g.num[TD_SCAN_UNITS], big(&g, 1)), unit);
    one_unit(&g, unit);
    td_end(f);
    return f->st;
}
