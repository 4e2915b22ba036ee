/* tile.c - maps whose inputs lie across their results.
 *
 * On a GPU a block takes a square tile of 64 by 64 elements (32 by 32 where several large inputs are tiled), eight rows
 * at a time.  It reads the inputs that run along the tile's rows (dim `dim`) row by row into shared memory, and then computes
 * column by column, as the results lie.  A row in shared memory is one element longer than the tile, so that a column touches
 * every bank once.  All accesses to global memory are 32 or 64 consecutive elements, and a thread issues all its loads before
 * it uses the first.
 *
 * On a CPU a tile of such an input is transposed in registers, square by square, into memory that stays in the first-level
 * cache, and then read along the rows.  So every cache line is used whole when it is read.
 */
#include "array/form/tile.h"

#include "array/form/launch.h"
#include "array/plan/gen.h"

enum {
    ROWS = 8,
    SIDE_MAX = 64,
    THIN = 16,
    TILES_MAX = 4,
    SHARED_MAX = 48 << 10,
    SMALL_TILE = SIDE_MAX / 2 * (SIDE_MAX / 2 + 1), /* elements of a tile of half the side */
    SQUARE_MAX = 16,                                /* CPU: rows that are transposed in registers */
    CPU_PARALLEL = 50000, /* elements times steps below which one thread is quicker */
};

/* Words behind the plan's own. */
enum {
    TILE_ACROSS, /* tiles along the last dim */
    TILE_DOWN,   /* tiles along `dim` */
    TILE_UNITS,
    TILE_PER,
    TILE_WORDS
};

/* A collapsed map that is worth tiling. */
typedef struct tile {
    const td_plan *p;
    td_nest nest;  /* a unit is a tile */
    int dim;       /* the dim along which the tiled inputs' memory runs */
    int side;      /* elements of a tile's side */
    uint32_t mask; /* operands that are tiled; only the first 32 can be */
    int lanes;     /* CPU: elements that are computed together; GPU: 0 */
} tile;

typedef struct tiling {
    const tile *t;
    td_val i0, j0, ni, nj; /* first element of the tile; extents of the space */
    td_val x, y;           /* the thread's place: 32 by 8 */
} tiling;

static bool
gathered(const td_plan *p, uint16_t opnd)
{
    for (uint16_t i = 0; i < p->nstep; i++)
        if (p->step[i].kind == TD_N_GATHER && p->step[i].opnd == opnd)
            return true;
    return false;
}

/* TD_SKIP: nothing lies across, or the space is too thin. */
static td_status
find_tile(const td_plan *p, int lanes, tile *out)
{
    int last = p->nd - 1, tiles = 0;
    bool cpu;
    size_t bytes = 0;

    *out = (tile){.p = p, .nest = td_nest_on(p->dev, 1, 1), .dim = -1, .lanes = lanes};
    cpu = !out->nest.simt;
    if (p->nd < 2 || p->dim[last] < THIN || p->put)
        return TD_SKIP;
    for (uint16_t k = 0; k < p->nopnd && k < 32; k++) {
        const td_opnd *o = &p->opnd[k];

        if (o->role == TD_ROLE_STORE && o->inner != 1)
            return TD_SKIP;
        if (o->role != TD_ROLE_LOAD || o->inner != 2 || gathered(p, k) ||
            (cpu && td_dtype_is_complex((td_dtype)o->dt)))
            continue;
        if (!cpu && SMALL_TILE * (bytes + td_dtype_size((td_dtype)o->dt)) > SHARED_MAX)
            continue; /* read across */
        for (int d = 0; d < last && tiles < TILES_MAX; d++)
            if (o->stride[d] == 1 && p->dim[d] >= THIN && (out->dim < 0 || out->dim == d)) {
                out->dim = d;
                out->mask |= 1u << k;
                bytes += td_dtype_size((td_dtype)o->dt);
                tiles++;
                break;
            }
    }
    out->side = (size_t)SIDE_MAX * (SIDE_MAX + 1) * bytes <= SHARED_MAX ? SIDE_MAX : SIDE_MAX / 2;
    return out->mask ? TD_OK : TD_SKIP;
}

/* Tile number `at` and the bases of the dims that are neither the tile's rows nor its columns. */
static void
place_tile(td_gen *g, tiling *t, td_val at)
{
    const td_plan *p = g->p;
    td_val side = td_gen_int(g, t->t->side), q, coord;
    int last = p->nd - 1, outermost = t->t->dim == 0 ? 1 : 0;

    q = TD_G2(g, truncate_divide, at, g->extra[TILE_ACROSS]);
    t->j0 = TD_G2(g, multiply, TD_G2(g, subtract, at, TD_G2(g, multiply, q, g->extra[TILE_ACROSS])),
                  side);
    at = TD_G2(g, truncate_divide, q, g->extra[TILE_DOWN]);
    t->i0 = TD_G2(g, multiply, TD_G2(g, subtract, q, TD_G2(g, multiply, at, g->extra[TILE_DOWN])),
                  side);
    t->ni = g->dim[t->t->dim];
    t->nj = g->dim[last];
    for (int d = last - 1; d >= 0; d--) {
        if (d == t->t->dim)
            continue;
        coord = at;
        if (d > outermost)
            at = td_gen_divide(g, at, d, &coord);
        for (uint16_t k = 0; k < p->nopnd; k++)
            g->base[k] = TD_G2(g, add, g->base[k], TD_G2(g, multiply, coord, g->stride[k][d]));
    }
}

static td_val
inside(td_gen *g, td_val i, td_val ni, td_val j, td_val nj)
{
    return TD_G2(g, logical_and, TD_G2(g, less, i, ni), TD_G2(g, less, j, nj));
}

/* Row y + 8 r of operand k's tile: where it is read, and where in shared memory it goes. */
static void
row_places(td_gen *g, const tiling *t, int k, td_val r, td_val *j, td_val *from, td_val *to)
{
    td_val row = TD_G2(g, add, t->y, TD_G2(g, multiply, r, td_gen_int(g, ROWS)));

    *j = TD_G2(g, add, t->j0, row);
    *from = TD_G2(g, multiply, *j, g->stride[k][g->p->nd - 1]);
    *from = TD_G2(g, add, TD_G2(g, add, *from, g->base[k]), TD_G2(g, add, t->i0, t->x));
    *to = TD_G2(g, add, TD_G2(g, multiply, row, td_gen_int(g, t->t->side + 1)), t->x);
}

/* A complex element is one access. */
static int
align_of(td_dtype dt)
{
    return td_dtype_is_complex(dt) ? (int)td_dtype_size(dt) : 0;
}

/* Reads a whole tile; all loads are issued before the first value is kept. */
static void
read_whole(td_gen *g, const tiling *t, int k)
{
    td_dtype dt = (td_dtype)g->p->opnd[k].dt;
    td_val j, from, to[SIDE_MAX / ROWS];
    td_num v[SIDE_MAX / ROWS];

    for (int r = 0; r < t->t->side / ROWS; r++) {
        row_places(g, t, k, td_gen_int(g, r), &j, &from, &to[r]);
        v[r] = td_num_load(g->f, g->ptr[k], dt, from, TD_NONE, 1, align_of(dt));
    }
    for (int r = 0; r < t->t->side / ROWS; r++)
        td_num_store(g->f, g->tile[k], dt, to[r], v[r], TD_NONE, align_of(dt));
}

static void
read_part(td_gen *g, const tiling *t, int k)
{
    td_dtype dt = (td_dtype)g->p->opnd[k].dt;
    td_val j, from, to, r;
    td_num v;

    r = td_for(g->f, td_gen_int(g, 0), td_gen_int(g, t->t->side / ROWS), td_gen_int(g, 1));
    row_places(g, t, k, r, &j, &from, &to);
    td_if(g->f, inside(g, TD_G2(g, add, t->i0, t->x), t->ni, j, t->nj));
    v = td_num_load(g->f, g->ptr[k], dt, from, TD_NONE, 1, align_of(dt));
    td_num_store(g->f, g->tile[k], dt, to, v, TD_NONE, align_of(dt));
    td_end(g->f);
    td_end(g->f);
}

/* Computes the element in row x of what was read, column y + 8 r. */
static void
compute_one(td_gen *g, const tiling *t, td_val r)
{
    td_val column = TD_G2(g, add, t->y, TD_G2(g, multiply, r, td_gen_int(g, ROWS)));
    td_val i = TD_G2(g, add, t->i0, column);

    g->j = TD_G2(g, add, t->j0, t->x);
    g->tile_index = TD_G2(g, add, TD_G2(g, multiply, t->x, td_gen_int(g, t->t->side + 1)), column);
    for (uint16_t k = 0; k < g->p->nopnd; k++)
        g->base[k] = TD_G2(g, add, g->base[k], TD_G2(g, multiply, i, g->stride[k][t->t->dim]));
    td_gen_uniform(g);
    td_gen_body(g);
}

/* Computes a whole tile; a thread issues all its loads before it writes its first result. */
static void
compute_whole(const td_gen *g, const tiling *t)
{
    td_gen each[SIDE_MAX / ROWS];

    for (int r = 0; r < t->t->side / ROWS; r++) {
        each[r] = *g;
        compute_one(&each[r], t, td_gen_int(&each[r], r));
    }
    for (int r = 0; r < t->t->side / ROWS; r++)
        td_gen_stores(&each[r]);
}

static void
compute_part(td_gen *g, const tiling *t)
{
    td_gen kept;
    td_val r = td_for(g->f, td_gen_int(g, 0), td_gen_int(g, t->t->side / ROWS), td_gen_int(g, 1));
    td_val column = TD_G2(g, add, t->y, TD_G2(g, multiply, r, td_gen_int(g, ROWS)));

    td_if(g->f, inside(g, TD_G2(g, add, t->i0, column), t->ni, TD_G2(g, add, t->j0, t->x), t->nj));
    kept = *g;
    compute_one(g, t, r);
    td_gen_stores(g);
    *g = kept;
    td_end(g->f);
    td_end(g->f);
}

static td_status
build_gpu(void *ctx, td_fn *f)
{
    const tile *own = ctx;
    const td_plan *p = own->p;
    td_place at;
    td_gen g = {.f = f, .p = p};
    tiling t = {.t = own};
    td_val side, whole, tid;
    uint64_t count = (uint64_t)own->side * ((uint64_t)own->side + 1);

    td_gen_params(&g, TILE_WORDS);
    at = td_nest_open(f, &own->nest, g.extra[TILE_UNITS], g.extra[TILE_PER]);
    place_tile(&g, &t, at.unit);
    tid = at.tid;
    t.x = TD_G2(&g, bitwise_and, tid, td_gen_int(&g, own->side - 1));
    t.y = TD_G2(&g, right_shift, tid, td_gen_int(&g, __builtin_ctz((unsigned)own->side)));
    side = td_gen_int(&g, own->side);
    for (uint16_t k = 0; k < p->nopnd && k < 32; k++)
        if (own->mask >> k & 1)
            g.tile[k] = td_num_shared(f, (td_dtype)p->opnd[k].dt, count);
    whole = TD_G2(&g, logical_and, TD_G2(&g, less_equal, TD_G2(&g, add, t.i0, side), t.ni),
                  TD_G2(&g, less_equal, TD_G2(&g, add, t.j0, side), t.nj));
    td_if(f, whole);
    for (int k = 0; k < 32; k++)
        if (own->mask >> k & 1)
            read_whole(&g, &t, k);
    td_else(f);
    for (int k = 0; k < 32; k++)
        if (own->mask >> k & 1)
            read_part(&g, &t, k);
    td_end(f);
    td_barrier(f);
    td_if(f, whole);
    compute_whole(&g, &t);
    td_else(f);
    compute_part(&g, &t);
    td_end(f);
    return f->st;
}

/* ---- CPU ---- */

/* v[i] lane j becomes v[j] lane i: n vectors of n lanes exchange halves, quarters, … */
static void
transpose(td_fn *f, td_val v[], int n)
{
    td_val lane = td_iota(f, TD_I32, n), zero = td_const_int(f, TD_I32, 0);

    for (int k = n / 2; k > 0; k /= 2) {
        td_val low = TD_E2(f, equal, TD_E2(f, bitwise_and, lane, td_const_int(f, TD_I32, k)), zero);

        for (int i = 0; i < n; i++) {
            td_val a = v[i], b;

            if (i & k)
                continue;
            b = v[i + k];
            v[i] = TD_E3(f, select, low, a, td_rotate(f, b, n - k));
            v[i + k] = TD_E3(f, select, low, td_rotate(f, a, k), b);
        }
    }
}

/* Half types are moved as integers: the IR selects among what it computes with. */
static td_dtype
moved_as(td_dtype dt)
{
    return td_dtype_is_half(dt) ? TD_U16 : dt;
}

/* Operand k's tile, transposed, goes to g->tile[k].  Behind the edges nothing is read twice or used. */
static void
transpose_tile(td_gen *g, const tiling *t, int k)
{
    td_dtype dt = (td_dtype)g->p->opnd[k].dt;
    int n = td_jit_lanes(g->p->dev, (int)td_dtype_size(dt));
    td_val side = td_gen_int(g, t->t->side), step, zero = td_gen_int(g, 0), ib, jb, i, mask;
    td_val v[SQUARE_MAX], last = TD_G2(g, subtract, t->nj, td_gen_int(g, 1));

    n = n > SQUARE_MAX ? SQUARE_MAX : n;
    step = td_gen_int(g, n);
    jb = td_for(g->f, zero, side, step);
    ib = td_for(g->f, zero, side, step);
    i = TD_G2(g, add, t->i0, ib);
    mask = TD_G2(g, less, td_iota(g->f, TD_I64, n), TD_G2(g, subtract, t->ni, i));
    for (int r = 0; r < n; r++) {
        td_val j = TD_G2(g, add, TD_G2(g, add, t->j0, jb), td_gen_int(g, r)), at;

        j = TD_G2(g, minimum, j, last);
        at = TD_G2(g, multiply, j, g->stride[k][g->p->nd - 1]);
        at = TD_G2(g, add, TD_G2(g, add, at, g->base[k]), i);
        v[r] = td_bitcast(g->f, td_load(g->f, g->ptr[k], at, mask, n, 0), moved_as(dt));
    }
    transpose(g->f, v, n);
    for (int r = 0; r < n; r++) {
        td_val at = TD_G2(g, multiply, TD_G2(g, add, ib, td_gen_int(g, r)), side);

        td_store(g->f, g->tile[k], TD_G2(g, add, at, jb), td_bitcast(g->f, v[r], dt), TD_NONE, 0);
    }
    td_end(g->f);
    td_end(g->f);
}

/* A row of a tile. */
typedef struct tile_row {
    td_gen *g;
    const tiling *t;
    td_val row;
} tile_row;

static void
compute_vector(void *ctx, td_val at, td_val mask)
{
    const tile_row *r = ctx;
    td_gen *g = r->g;

    g->j = TD_G2(g, add, r->t->j0, at);
    g->mask = mask;
    g->tile_index = TD_G2(g, add, TD_G2(g, multiply, r->row, td_gen_int(g, r->t->t->side)), at);
    td_gen_body(g);
    td_gen_stores(g);
}

/* Row by row, lanes along the results. */
static void
compute_tile(td_gen *g, const tiling *t)
{
    td_gen kept = *g;
    td_fn *f = g->f;
    td_val side = td_gen_int(g, t->t->side), zero = td_gen_int(g, 0), row, i, n;

    n = TD_G2(g, minimum, side, TD_G2(g, subtract, t->nj, t->j0));
    row = td_for(f, zero, TD_G2(g, minimum, side, TD_G2(g, subtract, t->ni, t->i0)),
                 td_gen_int(g, 1));
    i = TD_G2(g, add, t->i0, row);
    for (uint16_t k = 0; k < g->p->nopnd; k++)
        g->base[k] = TD_G2(g, add, g->base[k], TD_G2(g, multiply, i, g->stride[k][t->t->dim]));
    g->lanes = t->t->lanes;
    td_gen_uniform(g);
    td_nest_lanes(f, zero, n, g->lanes, compute_vector, &(tile_row){.g = g, .t = t, .row = row});
    td_end(f);
    *g = kept;
}

static td_status
build_cpu(void *ctx, td_fn *f)
{
    const tile *own = ctx;
    const td_plan *p = own->p;
    td_gen g = {.f = f, .p = p}, kept;
    tiling t = {.t = own};
    td_val at;

    td_gen_params(&g, TILE_WORDS);
    for (int k = 0; k < 32; k++)
        if (own->mask >> k & 1)
            g.tile[k] =
                td_shared(f, (td_dtype)p->opnd[k].dt, (uint64_t)own->side * (uint64_t)own->side);
    at = td_nest_open(f, &own->nest, g.extra[TILE_UNITS], g.extra[TILE_PER]).unit;
    kept = g;
    place_tile(&g, &t, at);
    for (int k = 0; k < 32; k++)
        if (own->mask >> k & 1)
            transpose_tile(&g, &t, k);
    compute_tile(&g, &t);
    g = kept;
    td_nest_close(f, &own->nest);
    return f->st;
}

/* ---- both ---- */

td_status
td_tile_launch(const td_plan *p, int lanes)
{
    tile t;
    int64_t across, down, tiles;
    uint64_t words[TILE_WORDS];
    td_hash key;

    if (p->rounds.to > p->rounds.from) /* its work hides how memory is read */
        return TD_SKIP;
    TD_TRY(find_tile(p, lanes, &t));
    across = td_ceil_div(p->dim[p->nd - 1], t.side);
    down = td_ceil_div(p->dim[t.dim], t.side);
    tiles = across * down * (p->total / p->dim[p->nd - 1] / p->dim[t.dim]);
    if (tiles > INT32_MAX)
        return TD_SKIP;
    if (t.nest.simt)
        t.nest.block = t.nest.team = t.side * ROWS;
    td_nest_deal(&t.nest, tiles, td_nest_shares(p->dev, p->total * p->nstep, CPU_PARALLEL));
    words[TILE_ACROSS] = (uint64_t)across;
    words[TILE_DOWN] = (uint64_t)down;
    words[TILE_UNITS] = (uint64_t)tiles;
    words[TILE_PER] = (uint64_t)t.nest.per;
    key = td_nest_key(td_plan_key(p), &t.nest);
    key = td_hash_u64(key, (uint64_t)t.lanes << 56 | (uint64_t)t.mask << 16 |
                               (uint64_t)t.side << 8 | (uint64_t)t.dim << 1 | 1);
    return td_form_launch_plan(
        p, &(td_code){td_hash_u64(key, 0x711e), t.nest.simt ? build_gpu : build_cpu, &t}, &t.nest,
        &(td_more){.word = words, .n = TILE_WORDS});
}
