/* map.c - kernels that compute every element of a space: loops, launch shapes.
 *
 * On a CPU a block runs a share of the items, an item being a piece of one row (the last dim); lanes
 * run along it, the tail under a mask.  On a GPU a thread computes one 16-byte vector of a row.
 */
#include "array/form/map.h"
#include "array/form/tile.h"
#include "array/plan/gen.h"
#include "array/plan/tune.h"
#include "base/limits.h"
#include "jit/jit.h"

enum {
    GPU_BLOCK = 256,
    CHUNK = 1 << 15,   /* elements of a row that one item takes at least */
    PARALLEL = 100000, /* elements times steps below which one thread is quicker */
    NARROW = 4,        /* elements of a row that are worth lanes of their own */
    LANES_MAX = 64,    /* an instruction's */
    OVERSPLIT = 4,     /* blocks a thread, so that uneven progress evens out */
};

typedef struct shape_of {
    const td_plan *p;
    int lanes;
    bool draws;       /* CPU: lanes begin where random counters do */
    bool past;        /* CPU: what is written will not be in the caches anyway when it is read */
    int64_t n, chunk; /* CPU: elements of a row, of an item */
    int64_t chunks, items, per, blocks; /* items of a row, in all, of a block; blocks */
} map_shape;

/* ---- CPU ---- */

/* CPU: is an item a piece of a row, of which there are several? */
static bool
split_rows(const map_shape *m)
{
    return m->p->nd > 1 && !m->p->flat && m->chunks > 1;
}

static void
group(td_gen *g)
{
    if (g->p->flat)
        td_gen_flat(g);
    td_gen_body(g);
    td_gen_stores(g);
}

static void
cpu_item(td_gen *g, td_val lo, td_val hi)
{
    td_val lanes = td_gen_int(g, g->lanes), last = td_gen_int(g, g->lanes - 1), full, tail;
    td_fn *f = g->f;

    td_gen_uniform(g);
    g->j = td_for(f, lo, TD_G2(g, subtract, hi, last), lanes);
    g->mask = TD_NONE;
    group(g);
    td_end(f);
    if (g->lanes == 1)
        return;
    full =
        TD_G2(g, bitwise_and, TD_G2(g, subtract, hi, lo), td_gen_int(g, ~(int64_t)(g->lanes - 1)));
    tail = TD_G2(g, add, lo, full);
    td_if(f, TD_G2(g, less, tail, hi));
    g->j = tail;
    g->mask = TD_G2(g, less, td_iota(f, TD_I64, g->lanes), TD_G2(g, subtract, hi, tail));
    group(g);
    td_end(f);
}

/* extra: chunk, chunks a row, items, items a block, elements a row */
static td_status
build_cpu(void *ctx, td_fn *f)
{
    const map_shape *m = ctx;
    td_gen g = {.f = f, .p = m->p};
    td_val bid, first, last, item, lo, hi, n, one;

    td_gen_params(&g, 5);
    g.lanes = m->lanes;
    g.draws = m->draws;
    g.past = m->past;
    one = td_gen_int(&g, 1);
    n = g.extra[4];
    bid = td_cast(f, td_index(f, OP_bid, 0), TD_I64);
    first = TD_G2(&g, multiply, bid, g.extra[3]);
    last = TD_G2(&g, minimum, TD_G2(&g, add, first, g.extra[3]), g.extra[2]);
    item = td_for(f, first, last, one);
    if (m->p->nd > 1 && !m->p->flat) {
        td_val row = item;

        if (split_rows(m)) /* else an item is a row: short ones would notice the division */
            row = TD_G2(&g, truncate_divide, item, g.extra[1]);
        item = TD_G2(&g, subtract, item, TD_G2(&g, multiply, row, g.extra[1]));
        td_gen_row(&g, row, 0, m->p->nd - 1, false);
    }
    lo = TD_G2(&g, multiply, item, g.extra[0]);
    hi = TD_G2(&g, minimum, TD_G2(&g, add, lo, g.extra[0]), n);
    cpu_item(&g, lo, hi);
    td_end(f);
    return f->st;
}

/* Is an operand's memory aligned to `lanes` elements wherever lanes begin? */
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

/* Are so many bytes read and written that the results' beginning has left the last-level cache at the end?  Then lines that
 * are written whole need not be read first, which saves a sixth of the traffic of four operands and one result.  Results in
 * the memory of an operand are in the cache already. */
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

/* How rows are cut into items, and items dealt out to blocks. */
static void
cut(map_shape *m)
{
    const td_plan *p = m->p;
    int64_t n = p->flat ? p->total : p->nd ? p->dim[p->nd - 1] : 1, rows = p->total / n, blocks = 1;

    if (p->total * p->nstep >= PARALLEL && td_dev_info(p->dev)->units > 1 &&
        p->put != TD_PUT_ORDERED)
        blocks = (int64_t)td_dev_info(p->dev)->units * OVERSPLIT;
    m->n = m->chunk = n;
    if (rows < blocks && n > CHUNK / OVERSPLIT) {
        m->chunk = (n * rows + blocks - 1) / blocks;
        m->chunk = (m->chunk + m->lanes - 1) / m->lanes * m->lanes;
    }
    m->chunks = (n + m->chunk - 1) / m->chunk;
    m->items = rows * m->chunks;
    blocks = m->items < blocks ? m->items : blocks;
    m->per = (m->items + blocks - 1) / blocks;
    m->blocks = (m->items + m->per - 1) / m->per;
}

static td_status
launch_cpu(const map_shape *m, td_kernel *k)
{
    const td_plan *p = m->p;
    uint64_t words[TD_PLAN_WORDS + TD_PLAN_EXTRAS];
    int nw = td_plan_words(p, words);
    td_dims dims = {.grid = {(uint32_t)m->blocks, 1, 1}, .block = {1, 1, 1}};

    words[nw++] = (uint64_t)m->chunk;
    words[nw++] = (uint64_t)m->chunks;
    words[nw++] = (uint64_t)m->items;
    words[nw++] = (uint64_t)m->per;
    words[nw++] = (uint64_t)m->n;
    td_plan_dims(p, k, "", &dims);
    return td_jit_launch(k, p->stream, &dims, words, nw);
}

/* ---- GPU ---- */

/* extra: elements in all */
static td_status
build_gpu(void *ctx, td_fn *f)
{
    const map_shape *m = ctx;
    const td_plan *p = m->p;
    td_gen g = {.f = f, .p = p, .aligned = true};
    td_val e, lanes;

    td_gen_params(&g, 1);
    lanes = td_gen_int(&g, m->lanes);
    e = TD_G2(&g, multiply, td_cast(f, td_index(f, OP_bid, 0), TD_I64),
              td_cast(f, td_index(f, OP_bdim, 0), TD_I64));
    e = TD_G2(&g, multiply, TD_G2(&g, add, e, td_cast(f, td_index(f, OP_tid, 0), TD_I64)), lanes);
    g.lanes = m->lanes;
    g.j = e;
    td_if(f, TD_G2(&g, less_equal, TD_G2(&g, add, e, lanes), g.extra[0]));
    if (p->nd > 1) {
        td_val row = td_gen_divide(&g, e, p->nd - 1, &g.j);

        td_gen_row(&g, row, 0, p->nd - 1, false);
    }
    td_gen_uniform(&g);
    td_gen_body(&g);
    td_gen_stores(&g);
    if (m->lanes > 1 && p->nd == 1) { /* the last thread's elements, one by one */
        td_else(f);
        g.lanes = 1;
        g.j = td_for(f, e, g.extra[0], td_gen_int(&g, 1));
        td_gen_uniform(&g);
        td_gen_body(&g);
        td_gen_stores(&g);
        td_end(f);
    }
    td_end(f);
    return f->st;
}

/* Complex elements that lie apart: a thread takes one, as one access, rather than several part by part. */
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

static td_status
launch_gpu(td_plan *p, td_kernel *k, int lanes)
{
    uint64_t words[TD_PLAN_WORDS + TD_PLAN_EXTRAS];
    int nw = td_plan_words(p, words);
    int64_t threads = (p->total + lanes - 1) / lanes;
    uint32_t block = threads < GPU_BLOCK ? (uint32_t)((threads + 31) / 32 * 32) : GPU_BLOCK;
    td_dims dims = {.grid = {(uint32_t)((threads + block - 1) / block), 1, 1},
                    .block = {block, 1, 1}};

    words[nw++] = (uint64_t)p->total;
    td_plan_dims(p, k, "", &dims);
    return td_jit_launch(k, p->stream, &dims, words, nw);
}

/* ---- both ---- */

/* Does the kernel's last operand limit hold?  Strides of many dims times many operands may not fit. */
static bool
map_fits(const td_plan *p)
{
    return p->nopnd * (p->nd + 1) + p->nscalar + 3 * p->nd <= TD_PLAN_WORDS;
}

/* A copy whose rows are shorter than a register, as of the windows of an image: as many lanes as a row has, since to
 * find each element's place for itself costs several times as much.  Only copies: a function's last bit may depend on
 * the lanes. */
static bool
narrow_rows(map_shape *m)
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

/* Where lanes begin as random counters do, each counter is computed once, for several registers at a time. */
static void
widen_draws(map_shape *m)
{
    int share = td_gen_draws(m->p), wide = m->lanes * share;

    wide = wide < LANES_MAX ? wide : LANES_MAX;
    m->draws = share > 1 && m->lanes % share == 0;
    if (m->draws && (m->p->flat ? m->p->total : m->p->dim[m->p->nd - 1]) >= wide)
        m->lanes = wide;
}

static td_status
launch_tiled(const td_plan *p, int lanes)
{
    td_tile t;

    TD_TRY(td_tile_find(p, &t));
    t.lanes = lanes;
    return td_tile_launch(&t);
}

td_status
td_map_launch(td_plan *p)
{
    bool gpu = td_dev_info(p->dev)->kind != TD_DEV_CPU;
    map_shape m = {.p = p};
    size_t past;
    td_kernel *k;
    td_status st;
    td_hash key;
    void *token;

    if (p->total == 0 || p->nstore == 0)
        return TD_OK;
    if (!map_fits(p))
        return TD_SKIP;
    m.lanes = gpu ? gpu_lanes(p) : p->nd ? td_jit_lanes(p->dev, td_plan_widest(p, true)) : 1;
    if (p->put &&
        (gpu ||
         p->put_op != TD_OPS)) /* neighbouring threads write neighbours; lanes might collide */
        m.lanes = 1;
    past = td_limit_cache() / 256 * (size_t)td_tune[TD_TUNE_past_share];
    token = td_graph_unlock();
    st = launch_tiled(p, gpu ? 0 : m.lanes);
    if (st != TD_SKIP) {
        td_graph_lock(token);
        return st;
    }
    if (!gpu && m.lanes > 1 && !narrow_rows(&m)) {
        td_plan_flatten(p, m.lanes);
        widen_draws(&m);
    }
    if (!gpu)
        cut(&m);
    m.past = !gpu && writes_past(p, m.lanes, past);
    key = td_hash_u64(td_plan_key(p), (uint64_t)m.lanes << 8 | (uint64_t)split_rows(&m) << 3 |
                                          (uint64_t)m.past << 2 | (uint64_t)m.draws << 1 | gpu);
    st = td_jit_get(p->dev, key, gpu ? build_gpu : build_cpu, &m, &k);
    if (!st)
        st = gpu ? launch_gpu(p, k, m.lanes) : launch_cpu(&m, k);
    td_graph_lock(token);
    return st;
}

td_status
td_eval_map(td_plan *p)
{
    if (p->total && p->nstore)
        td_plan_collapse(p, 0, p->put);
    return td_map_launch(p);
}
