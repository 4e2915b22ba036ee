/* interp.c - runs a decoded kernel, thread after thread.
 *
 * Without barriers and exchanges one array of values serves every thread in turn.  With them each
 * thread of a block has its own; a thread that comes to one stops there, and goes on when all that
 * it waits for stand at the same one.  Blocks run one after another.
 */
#include "ir/interp.h"

#include "ir/interp_run.h"

#include <inttypes.h>
#include <string.h>

enum { WARP = 32, POISON = 0xa5, ALIGN = 128 };

typedef struct engine {
    td_engine e;
    td_team *team;
    td_runner *th; /* e.nthread of them, or one when nothing waits */
} engine;

/* The instruction that t waits at; OP_COUNT: it is done. */
static td_op
waits_at(const td_engine *e, const td_runner *t)
{
    return t->at->kind == CODE_WAIT ? (td_op)e->p->fn->ins[t->at->at].op : OP_COUNT;
}

/* w waits where o, of the same block or warp, is not. */
static td_status
divergent(const td_engine *e, const td_runner *w, const td_runner *o)
{
    return td_fail(TD_ERR_VALUE, "%s: divergent %s: thread (%u,%u,%u) does not reach it",
                   td_engine_locate(e, w, w->at->at).text, td_optab[waits_at(e, w)].name, o->tid[0],
                   o->tid[1], o->tid[2]);
}

/* ---- warps ---- */

static bool
exchanges(const td_engine *e, const td_runner *t)
{
    return waits_at(e, t) == OP_shuffle_xor;
}

/* The threads of the warp that t's exchange is for, a bit each. */
static uint32_t
members(const td_runner *th, uint32_t n)
{
    uint32_t m = 0;

    for (uint32_t l = 0; l < n; l++)
        m |= th[l].ended ? 0 : (uint32_t)1 << l;
    return m;
}

/* The first member that does not stand where th[l] does; n: all do. */
static uint32_t
missing(const td_runner *th, uint32_t n, uint32_t l)
{
    uint32_t m = members(th, n);

    for (uint32_t k = 0; k < n; k++)
        if ((m >> k & 1) && th[k].at != th[l].at)
            return k;
    return n;
}

/* All members stand at one instruction: exchanges their values.  Who asks for a thread that is no
 * member has its own value. */
static void
exchange(td_runner *th, uint32_t n, uint32_t l)
{
    const td_code *c = th[l].at;
    uint32_t m = members(th, n);
    td_word old[WARP];

    for (uint32_t k = 0; k < n; k++)
        old[k] = th[k].val[c->a];
    for (uint32_t k = 0; k < n; k++) {
        uint32_t from = k ^ (uint32_t)c->imm;

        if (!(m >> k & 1))
            continue;
        th[k].val[c->out] = old[m >> from & 1 ? from : k];
        th[k].at++;
    }
}

/* Runs a warp until none of its threads can go on by itself. */
static td_status
run_warp(const td_engine *e, td_runner *th, uint32_t n)
{
    for (bool more = true; more;) {
        for (uint32_t l = 0; l < n; l++)
            TD_TRY(td_engine_run(e, &th[l]));
        more = false;
        for (uint32_t l = 0; l < n; l++)
            if (exchanges(e, &th[l]) && missing(th, n, l) == n) {
                exchange(th, n, l);
                more = true;
            }
    }
    for (uint32_t l = 0; l < n; l++)
        if (exchanges(e, &th[l]))
            return divergent(e, &th[l], &th[missing(th, n, l)]);
    return TD_OK;
}

/* ---- blocks ---- */

/* No thread can go on by itself: those that have not ended must stand at one barrier, or be done. */
static td_status
pass_barrier(const td_engine *e, td_runner *th, bool *more)
{
    td_runner *first = NULL;

    for (uint64_t t = 0; t < e->nthread; t++) {
        if (th[t].ended)
            continue;
        if (!first)
            first = &th[t];
        if (th[t].at != first->at)
            return first->at->kind == CODE_WAIT ? divergent(e, first, &th[t])
                                                : divergent(e, &th[t], first);
    }
    *more = first && first->at->kind == CODE_WAIT;
    for (uint64_t t = 0; *more && t < e->nthread; t++)
        th[t].at += !th[t].ended;
    return TD_OK;
}

/* All threads from barrier to barrier. */
static td_status
run_together(const td_engine *e, td_runner *th)
{
    bool more = true;

    for (uint64_t t = 0; t < e->nthread; t++)
        td_engine_start(e, &th[t], t);
    while (more) {
        for (uint64_t t = 0; t < e->nthread; t += WARP)
            TD_TRY(run_warp(e, &th[t], (uint32_t)(e->nthread - t < WARP ? e->nthread - t : WARP)));
        TD_TRY(pass_barrier(e, th, &more));
    }
    return TD_OK;
}

static td_status
run_block(const engine *g)
{
    const td_engine *e = &g->e;

    memset(g->team->shared, POISON, e->p->nshared);
    if (e->p->waits)
        return run_together(e, g->th);
    for (uint64_t t = 0; t < e->nthread; t++) {
        td_engine_start(e, g->th, t);
        TD_TRY(td_engine_run(e, g->th));
    }
    return TD_OK;
}

/* n pieces of at least nbytes, ALIGNed. */
static char *
pieces(td_arena *mem, uint64_t n, size_t nbytes, size_t *step)
{
    size_t all;
    char *p;

    *step = (nbytes / ALIGN + 1) * ALIGN;
    if (__builtin_mul_overflow(n, *step, &all) || all > SIZE_MAX / 2)
        return NULL;
    p = td_alloc_big(mem, all + ALIGN);
    return p ? p + (ALIGN - (uintptr_t)p % ALIGN) % ALIGN : NULL;
}

/* n threads, all of one block. */
static td_status
new_threads(engine *g, td_arena *mem)
{
    const td_prog *p = g->e.p;
    uint64_t n;
    size_t nval, nlocal = 0, nshared;
    char *val, *local = NULL;

    if (__builtin_mul_overflow((uint64_t)g->e.block[0] * g->e.block[1], g->e.block[2],
                               &g->e.nthread))
        return td_fail(TD_ERR_VALUE, "kernel %s: a block of %u x %u x %u threads", p->fn->name,
                       g->e.block[0], g->e.block[1], g->e.block[2]);
    n = p->waits ? g->e.nthread : 1;
    val = pieces(mem, n, p->nwords * sizeof(td_word), &nval);
    local = val ? pieces(mem, n, p->nlocal, &nlocal) : NULL;
    g->th = local ? td_alloc_big(mem, n * sizeof *g->th) : NULL;
    g->team = td_alloc_big(mem, sizeof *g->team);
    if (!g->th || !g->team || !(g->team->shared = pieces(mem, 1, p->nshared, &nshared)))
        return td_fail(TD_ERR_NOMEM, "kernel %s: values of %" PRIu64 " threads", p->fn->name, n);
    for (uint64_t t = 0; t < n; t++)
        g->th[t] = (td_runner){.val = (td_word *)(val + t * nval),
                               .local = local + t * nlocal,
                               .team = g->team};
    return TD_OK;
}

static td_status
run_grid(engine *g, td_arena *mem)
{
    const uint32_t *n = g->e.grid;
    uint32_t *at;

    TD_TRY(new_threads(g, mem));
    at = g->team->bid;
    for (at[2] = 0; at[2] < n[2]; at[2]++)
        for (at[1] = 0; at[1] < n[1]; at[1]++)
            for (at[0] = 0; at[0] < n[0]; at[0]++)
                TD_TRY(run_block(g));
    return TD_OK;
}

td_status
td_interp(const td_fn *f, const uint32_t grid[3], const uint32_t block[3], const uint64_t *args,
          size_t shared, td_extent *extent)
{
    td_arena mem = {0};
    td_prog p;
    engine g = {.e = {.p = &p, .grid = grid, .block = block, .extent = extent}};
    td_status st = td_prog_new(f, args, shared, &mem, &p);

    for (uint32_t k = 0; !st && extent && k < p.nptr; k++)
        if (p.ptr[k].op == OP_param)
            p.ptr[k].nbytes = extent(p.ptr[k].base);
    if (!st && block[0] && block[1] && block[2])
        st = run_grid(&g, &mem);
    td_arena_free(&mem);
    return st;
}
