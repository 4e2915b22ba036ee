/* map.c - kernels that compute every element of a space.
 *
 * Without threads in blocks (CPU) a unit is a piece of one row (the last dim); lanes run along it.  With threads a unit is
 * one 16-byte vector of a row, and a thread computes it.
 */
#include "array/form/map.h"
#include "array/form/launch.h"
#include "array/form/tile.h"
#include "array/plan/gen.h"
#include "array/plan/tune.h"
#include "base/limits.h"

enum {
    GPU_BLOCK = 256,
    CHUNK = 1 << 15,   /* elements of a row that one unit takes at least */
    PARALLEL = 100000, /* elements times steps below which one thread is quicker */
    NARROW = 4,        /* elements of a row that are worth lanes of their own */
    LANES_MAX = 64,    /* an instruction's */
    LIVE_MAX = 32,     /* vectors that a loop carries and reads */
};

typedef struct map {
    const td_plan *p;
    td_nest nest;
    int lanes;
    bool draws; /* CPU: lanes begin where random counters do */
    bool
        past; /* CPU: results leave the caches before they are read, so they are written past them */
    int64_t n, chunk; /* CPU: elements of a row, of a unit */
    int64_t chunks;   /* CPU: units of a row */
} map;

/* ---- CPU ---- */

/* CPU: words behind the plan's own. */
enum { MAP_UNITS, MAP_PER, MAP_CHUNK, MAP_CHUNKS, MAP_LENGTH, MAP_CPU_WORDS };

/* CPU: is a unit a piece of a row, of which there are several? */
static bool
splits_rows(const map *m)
{
    return m->p->nd > 1 && !m->p->flat && m->chunks > 1;
}

/* g->lanes elements of the row from `at` on. */
static void
compute(void *ctx, td_val at, td_val mask)
{
    td_gen *g = ctx;

    g->j = at;
    g->mask = mask;
    if (g->p->flat)
        td_gen_flat(g);
    td_gen_body(g);
    td_gen_stores(g);
}

/* Element numbers [at, at + a period) of a plan with one, or the rest of a unit. */
typedef struct periods {
    td_gen *g;
    td_val hi;
    int phases;
} periods;

static void
compute_period(void *ctx, td_val at, bool last)
{
    const periods *c = ctx;

    if (last) {
        td_nest_lanes(c->g->f, at, c->hi, c->g->lanes, compute, c->g);
        return;
    }
    c->g->mask = TD_NONE;
    for (int i = 0; i < c->phases; i++) {
        td_gen_phase(c->g, at, i);
        td_gen_body(c->g);
        td_gen_stores(c->g);
    }
}

static td_status
build_cpu(void *ctx, td_fn *f)
{
    const map *m = ctx;
    td_gen g = {.f = f, .p = m->p};
    td_val unit, row, lo, hi;

    td_gen_params(&g, MAP_CPU_WORDS);
    g.lanes = m->lanes;
    g.draws = m->draws;
    g.past = m->past;
    unit = td_nest_open(f, &m->nest, g.extra[MAP_UNITS], g.extra[MAP_PER]).unit;
    if (m->p->nd > 1 && !m->p->flat) {
        row = unit;
        if (splits_rows(m)) /* else a unit is a row: short ones would notice the division */
            row = TD_G2(&g, truncate_divide, unit, g.extra[MAP_CHUNKS]);
        unit = TD_G2(&g, subtract, unit, TD_G2(&g, multiply, row, g.extra[MAP_CHUNKS]));
        td_gen_row(&g, row, 0, m->p->nd - 1, false);
    }
    lo = TD_G2(&g, multiply, unit, g.extra[MAP_CHUNK]);
    hi = TD_G2(&g, minimum, TD_G2(&g, add, lo, g.extra[MAP_CHUNK]), g.extra[MAP_LENGTH]);
    td_gen_uniform(&g);
    if (m->p->period) {
        int phases = td_plan_phases(m->p, m->lanes);

        td_nest_steps(f, lo, hi, phases * m->lanes, compute_period, &(periods){&g, hi, phases});
    } else {
        td_nest_lanes(f, lo, hi, g.lanes, compute, &g);
    }
    td_nest_close(f, &m->nest);
    return f->st;
}

/* Is every vector of the operand aligned to its own size? */
static bool
starts_whole(const td_plan *p, const td_opnd *o, int lanes)
{
    if (o->inner != 1 || o->ptr % (td_dtype_size((td_dtype)o->dt) * (size_t)lanes))
        return false;
    for (int i = 0; i + 1 < p->nd; i++)
        if (o->stride[i] % lanes)
            return false;
    return true;
}

/* Does the kernel move so many bytes that its first results have left the last-level cache when it ends?  Then results are
 * written past the caches, so that lines need not be read before they are written: with four operands and one result a sixth
 * of the traffic.  Not for results in an operand's memory, which is in the cache already. */
static bool
writes_past(const td_plan *p, int lanes, size_t from)
{
    size_t nbytes = 0;

    if (!p->nd || p->flat || p->put || lanes < 2)
        return false;
    for (uint16_t k = 0; k < p->nopnd; k++) {
        const td_opnd *o = &p->opnd[k];

        if (o->role == TD_ROLE_INDEX)
            continue;
        if (o->inner == 1)
            nbytes += (size_t)p->total * td_dtype_size((td_dtype)o->dt);
        if (o->role != TD_ROLE_STORE)
            continue;
        if (!starts_whole(p, o, lanes))
            return false;
        for (uint16_t i = 0; i < p->nopnd; i++)
            if (i != k && (p->opnd[i].buf == o->buf || p->opnd[i].ptr == o->ptr))
                return false;
    }
    return from && nbytes >= from;
}

/* How rows are cut into units. */
static void
cut(map *m)
{
    const td_plan *p = m->p;
    int64_t n = p->flat ? p->total
                : p->nd ? p->dim[p->nd - 1]
                        : 1,
            rows = p->total / n, shares = 1,
            step = p->period ? (int64_t)td_plan_phases(p, m->lanes) * m->lanes : m->lanes;

    if (p->put != TD_PUT_ORDERED)
        shares = td_nest_shares(p->dev, p->total * td_plan_work(p), PARALLEL);
    m->n = m->chunk = n;
    if (rows < shares && n > CHUNK / 4) {
        m->chunk = td_ceil_div(n * rows, shares);
        m->chunk = td_ceil_div(m->chunk, step) * step;
    }
    m->chunks = td_ceil_div(n, m->chunk);
    td_nest_deal(&m->nest, rows * m->chunks, shares);
}

static td_status
launch_cpu(map *m, td_hash key)
{
    uint64_t words[MAP_CPU_WORDS] = {
        [MAP_UNITS] = (uint64_t)m->nest.units, [MAP_PER] = (uint64_t)m->nest.per,
        [MAP_CHUNK] = (uint64_t)m->chunk,      [MAP_CHUNKS] = (uint64_t)m->chunks,
        [MAP_LENGTH] = (uint64_t)m->n,
    };

    return td_form_launch_plan(m->p, &(td_code){key, build_cpu, m}, &m->nest,
                               &(td_more){.word = words, .n = MAP_CPU_WORDS});
}

/* ---- GPU ---- */

/* GPU: words behind the plan's own. */
enum { MAP_TOTAL, MAP_GPU_WORDS };

static td_status
build_gpu(void *ctx, td_fn *f)
{
    const map *m = ctx;
    const td_plan *p = m->p;
    td_gen g = {.f = f, .p = p, .aligned = true};
    td_val e, lanes;

    td_gen_params(&g, MAP_GPU_WORDS);
    lanes = td_gen_int(&g, m->lanes);
    e = TD_G2(&g, multiply, td_nest_open(f, &m->nest, TD_NONE, TD_NONE).unit, lanes);
    g.lanes = m->lanes;
    g.j = e;
    td_if(f, TD_G2(&g, less_equal, TD_G2(&g, add, e, lanes), g.extra[MAP_TOTAL]));
    if (p->nd > 1) {
        td_val row = td_gen_divide(&g, e, p->nd - 1, &g.j);

        td_gen_row(&g, row, 0, p->nd - 1, false);
    }
    td_gen_uniform(&g);
    td_gen_body(&g);
    td_gen_stores(&g);
    if (m->lanes > 1 && p->nd == 1) { /* the elements of the last, incomplete vector */
        td_else(f);
        g.lanes = 1;
        g.j = td_for(f, e, g.extra[MAP_TOTAL], td_gen_int(&g, 1));
        td_gen_uniform(&g);
        td_gen_body(&g);
        td_gen_stores(&g);
        td_end(f);
    }
    td_end(f);
    td_nest_close(f, &m->nest);
    return f->st;
}

/* Are there complex elements that do not lie side by side?  Then a thread takes one element, as one access: several would be
 * read part by part. */
static bool
scatters_complex(const td_plan *p)
{
    for (uint16_t k = 0; k < p->nopnd; k++)
        if (p->opnd[k].inner == 2 && td_dtype_is_complex((td_dtype)p->opnd[k].dt))
            return true;
    for (uint16_t i = 0; i < p->nstep; i++)
        if (p->step[i].kind == TD_N_GATHER && td_dtype_is_complex((td_dtype)p->step[i].dt))
            return true;
    return false;
}

/* Lanes of one 16-byte access, if every row starts aligned for every operand. */
static int
gpu_lanes(const td_plan *p)
{
    int widest = td_plan_widest(p, false), lanes = 16 / widest;

    if (p->nd == 0 || scatters_complex(p))
        return 1;
    for (uint16_t i = 0; i < p->nstep; i++) {
        const td_step *s = &p->step[i];

        if ((s->kind == TD_N_GATHER || s->kind == TD_N_SEARCH) &&
            lanes > td_tune[TD_TUNE_gather_lanes])
            lanes = td_tune[TD_TUNE_gather_lanes];
        if (s->kind == TD_N_RANDOM && widest == 4 && lanes < td_tune[TD_TUNE_random_lanes])
            lanes = td_tune[TD_TUNE_random_lanes];
    }
    if (p->nd > 1)
        while (lanes > 1 && p->dim[p->nd - 1] % lanes)
            lanes /= 2;
    for (int i = 0; i < p->rounds.nvary; i++)
        while (lanes > 1 && p->rounds.vary[i].by % lanes)
            lanes /= 2;
    for (uint16_t k = 0; k < p->nopnd; k++) {
        const td_opnd *o = &p->opnd[k];
        uintptr_t size = td_dtype_size((td_dtype)o->dt);

        if (o->inner != 1 || o->role == TD_ROLE_INDEX)
            continue;
        while (lanes > 1 && o->ptr % (size * (uintptr_t)lanes))
            lanes /= 2;
        for (int d = 0; d + 1 < p->nd; d++)
            while (lanes > 1 && o->stride[d] % lanes)
                lanes /= 2;
    }
    return lanes;
}

/* Blocks of few threads where there are few vectors; the code is the same. */
static td_status
launch_gpu(map *m, td_hash key)
{
    int64_t vectors = td_ceil_div(m->p->total, m->lanes);
    uint64_t words[MAP_GPU_WORDS] = {[MAP_TOTAL] = (uint64_t)m->p->total};
    td_nest launched = m->nest;

    launched.block = GPU_BLOCK;
    if (vectors < GPU_BLOCK)
        launched.block = (int)td_ceil_div(vectors, m->nest.warp) * m->nest.warp;
    td_nest_deal(&launched, vectors, 1);
    return td_form_launch_plan(m->p, &(td_code){key, build_gpu, m}, &launched,
                               &(td_more){.word = words, .n = MAP_GPU_WORDS});
}

/* ---- both ---- */

/* For a copy whose rows are shorter than a vector (windows of an image) takes as many lanes as a row has: working out each
 * element's place costs several times as much.  Only copies, because a function's last bit may depend on the lanes. */
static bool
narrow_rows(map *m)
{
    const td_plan *p = m->p;
    int64_t n = p->dim[p->nd - 1];

    if (p->nd < 2 || n >= m->lanes || n < NARROW)
        return false;
    for (uint16_t k = 0; k < p->nopnd; k++)
        if (p->opnd[k].inner == 2)
            return false;
    for (uint16_t i = 0; i < p->nstep; i++)
        if (p->step[i].kind != TD_N_LEAF && p->step[i].kind != TD_N_CAST)
            return false;
    while (m->lanes / 2 >= n)
        m->lanes /= 2;
    return true;
}

/* Where rows begin with a random counter's first element, takes so many lanes that each counter is computed once. */
static void
widen_draws(map *m)
{
    int share = td_gen_draws(m->p), wide = m->lanes * share;
    int most =
        td_plan_complex(m->p) ? LANES_MAX / 2 : LANES_MAX; /* a complex lane is stored as two */

    wide = wide < most ? wide : most;
    m->draws = share > 1 && m->lanes % share == 0;
    if (m->draws && (m->p->flat ? m->p->total : m->p->dim[m->p->nd - 1]) >= wide)
        m->lanes = wide;
}

/* A round waits for the one before it.  So that a core has other work meanwhile, a loop takes several vectors at once, as
 * many as leave the values that rounds carry and read in registers. */
static void
widen_rounds(map *m)
{
    const td_plan *p = m->p;
    int live = p->rounds.ncarry, most = td_plan_complex(p) ? LANES_MAX / 2 : LANES_MAX;
    int64_t n = p->flat ? p->total : p->dim[p->nd - 1];

    for (uint16_t k = 0; k < p->nopnd; k++)
        live += p->opnd[k].role == TD_ROLE_LOAD;
    for (int times = LIVE_MAX / live; times > 1 && m->lanes * 2 <= most && n >= m->lanes * 4;
         times /= 2)
        m->lanes *= 2;
}

/* Elements that a thread computes together. */
static int
lanes_of(const td_plan *p, bool simt)
{
    if (p->put && (simt || p->put_op != TD_OPS)) /* lanes might write to one place */
        return 1;
    if (simt)
        return gpu_lanes(p);
    return p->nd ? td_jit_lanes(p->dev, td_plan_widest(p, true)) : 1;
}

td_status
td_map_launch(td_plan *p)
{
    map m = {.p = p, .nest = td_nest_on(p->dev, 0, 1)};
    size_t past = td_limit_cache() / 256 * (size_t)td_tune[TD_TUNE_past_share];
    bool simt = m.nest.simt;
    td_status st;
    td_hash key;

    if (p->total == 0 || p->nstore == 0)
        return TD_OK;
    m.lanes = lanes_of(p, simt);
    st = td_tile_launch(p, simt ? 0 : m.lanes);
    if (st != TD_SKIP)
        return st;
    if (!simt && m.lanes > 1 && !td_plan_repeat(p, m.lanes) && !narrow_rows(&m)) {
        td_plan_flatten(p, m.lanes);
        widen_draws(&m);
    }
    if (!simt && p->nd && p->rounds.to > p->rounds.from)
        widen_rounds(&m);
    if (!simt)
        cut(&m);
    m.past = !simt && writes_past(p, m.lanes, past);
    key = td_nest_key(td_plan_key(p), &m.nest);
    key = td_hash_u64(key, (uint64_t)m.lanes << 8 | (uint64_t)splits_rows(&m) << 2 |
                               (uint64_t)m.past << 1 | m.draws);
    return simt ? launch_gpu(&m, key) : launch_cpu(&m, key);
}

td_status
td_eval_map(td_plan *p)
{
    if (p->total && p->nstore)
        td_plan_collapse(p, 0, p->put);
    return td_map_launch(p);
}
