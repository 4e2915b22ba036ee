/* interp.c - runs a decoded kernel, one thread after another.
 *
 * Without barriers and exchanges all threads use one array of values in turn.  With them each
 * thread of a block has its own.  A thread that reaches a barrier or an exchange stops there, and
 * continues when all threads that it waits for have reached the same one.  Threads in a loop that
 * waits for other threads take turns.  Blocks run one after another, unless the kernel has
 * barriers of the grid.
 */
#include "ir/interp/interp.h"

#include "ir/interp/exchange.h"
#include "ir/interp/interp_check.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { POISON = 0xa5, ALIGN = 128 };

typedef struct engine {
    td_engine e;
    td_team *team; /* of one block; of all blocks if they meet at barriers of the grid */
    uint64_t nth;
    td_runner *th; /* nth of them: e.nthread for each team, or a single one if no thread waits */
    uint64_t nteam;
} engine;

/* The instruction at which t waits; OP_COUNT: t is done. */
static td_op
waits_at(const td_engine *e, const td_runner *t)
{
    return t->at->kind == CODE_WAIT ? (td_op)e->p->fn->ins[t->at->at].op : OP_COUNT;
}

static bool
goes_on(const td_runner *t)
{
    return t->at->kind != CODE_WAIT && t->at->kind != CODE_DONE;
}

/* Fails: w waits where o, of the same block or warp, does not. */
static td_status
divergent(const td_engine *e, const td_runner *w, const td_runner *o)
{
    char other[300] = "it has ended";

    if (o->ended && waits_at(e, w) == OP_grid_barrier)
        return td_engine_fail(e, w, w->at->at, TD_ERR_THREADS, TD_GRID_ENDED, o->team->bid[0],
                              o->team->bid[1], o->team->bid[2]);
    if (o->at->kind == CODE_WAIT)
        snprintf(other, sizeof other, "it waits at %s",
                 td_engine_line(e, o->at->at, w->at->at).text);
    return td_engine_fail(e, w, w->at->at, TD_ERR_THREADS,
                          "divergent %s: thread (%u, %u, %u) does not reach it: %s",
                          td_optab[waits_at(e, w)].name, o->tid[0], o->tid[1], o->tid[2], other);
}

/* ---- warps ---- */

/* Does t wait for other threads of its warp?  Not at an activemask, which waits for nobody. */
static bool
exchanges(const td_engine *e, const td_runner *t)
{
    return t->at->kind == CODE_WAIT &&
           td_optab[e->p->fn->ins[t->at->at].op].threads == TD_THREADS_WARP;
}

/* The threads of the warp that t's exchange names.  Threads that ended by exit_if count too. */
static uint64_t
named_threads(const td_runner *t)
{
    return t->at->d == UINT32_MAX ? UINT64_MAX : (uint32_t)t->val[t->at->d].u;
}

static uint64_t
members(const td_runner *th, uint32_t n, uint32_t l)
{
    uint64_t m = 0;

    for (uint32_t k = 0; k < n; k++)
        m |= th[k].ended ? 0 : (uint64_t)1 << k;
    return m & named_threads(&th[l]);
}

/* The first member that does not wait where th[l] does with the same members; n: all do. */
static uint32_t
missing(const td_runner *th, uint32_t n, uint32_t l)
{
    uint64_t m = members(th, n, l);

    for (uint32_t k = 0; k < n; k++)
        if ((m >> k & 1) &&
            (th[k].at != th[l].at || named_threads(&th[k]) != named_threads(&th[l])))
            return k;
    return n;
}

/* Where checks are made, fails if th[k] asks a lane that its shuffle does not name. */
static td_status
must_be_named(const td_engine *e, const td_runner *th, uint32_t k)
{
    const td_code *c = th[k].at;
    uint32_t from, named = (uint32_t)named_threads(&th[k]);

    if (!e->shadow || waits_at(e, &th[k]) != OP_shuffle)
        return TD_OK;
    from = (uint32_t)th[k].val[c->b].u % TD_WARP;
    return named >> from & 1
               ? TD_OK
               : td_engine_fail(e, &th[k], c->at, TD_ERR_THREADS,
                                "the shuffle reads lane %u, which is not among its members 0x%x: "
                                "what it gets is not defined",
                                from, named);
}

/* Completes an exchange: all members have reached the instruction. */
static td_status
complete_exchange(const td_engine *e, td_runner *th, uint32_t n, uint64_t m, const td_code *c)
{
    td_exchange x = {
        .op = (td_op)e->p->fn->ins[c->at].op, .warp = e->p->fn->warp, .members = m, .nbytes = c->e};

    for (uint32_t k = 0; k < n; k++) {
        x.value[k] = c->a == UINT32_MAX ? 0 : th[k].val[c->a].u;
        x.which[k] = td_optab[x.op].imm == TD_IMM_LANE ? (uint64_t)c->imm
                     : c->b == UINT32_MAX              ? 0
                                                       : th[k].val[c->b].u;
    }
    for (uint32_t k = 0; k < n; k++) {
        if (!(m >> k & 1))
            continue;
        TD_TRY(must_be_named(e, th, k));
        if (td_optab[x.op].value)
            th[k].val[c->out].u = td_exchanged(&x, k);
        else if (e->shadow)
            td_shadow_synced(&th[k], x.op);
        th[k].at++;
    }
    return TD_OK;
}

/* Nobody can continue otherwise: lets the threads at one activemask pass together. */
static bool
pass_activemask(const td_engine *e, td_runner *th, uint32_t n)
{
    const td_code *c = NULL;
    uint64_t m = 0;

    for (uint32_t k = 0; k < n; k++) {
        if (!c && th[k].at->kind == CODE_WAIT &&
            td_optab[waits_at(e, &th[k])].threads == TD_THREADS_HERE)
            c = th[k].at;
        m |= c && th[k].at == c ? (uint64_t)1 << k : 0;
    }
    if (m)
        complete_exchange(e, th, n, m, c);
    return m != 0;
}

/* No thread of the warp can continue: fails if any is still in an exchange. */
static td_status
stuck(const td_engine *e, const td_runner *th, uint32_t n)
{
    for (uint32_t l = 0; l < n; l++) {
        if (!exchanges(e, &th[l]))
            continue;
        if (!(named_threads(&th[l]) >> l & 1))
            return td_engine_fail(e, &th[l], th[l].at->at, TD_ERR_THREADS,
                                  "thread %u of the warp is not among the members 0x%x", l,
                                  (unsigned)named_threads(&th[l]));
        return divergent(e, &th[l], &th[missing(th, n, l)]);
    }
    return TD_OK;
}

/* Runs a warp until no thread can continue by itself.  *on: some threads are in loops in which
 * they take turns. */
static td_status
run_warp(const td_engine *e, td_runner *th, uint32_t n, bool *on)
{
    bool more = true, turns = false;

    while (more) {
        turns = false;
        for (uint32_t l = 0; l < n; l++) {
            TD_TRY(td_engine_run(e, &th[l]));
            turns |= goes_on(&th[l]);
        }
        more = false;
        for (uint32_t l = 0; l < n; l++)
            if (exchanges(e, &th[l]) && (named_threads(&th[l]) >> l & 1) &&
                missing(th, n, l) == n) {
                TD_TRY(complete_exchange(e, th, n, members(th, n, l), th[l].at));
                more = true;
            }
        more = more || pass_activemask(e, th, n);
    }
    *on |= turns;
    return turns ? TD_OK : stuck(e, th, n);
}

/* ---- blocks ---- */

/* Lets the n threads at a barrier continue; its result is how many of them have the condition. */
static void
pass(const td_engine *e, td_runner *th, uint64_t n, td_op op)
{
    int64_t count = 0;

    for (uint64_t t = 0; op == OP_barrier_count && t < n; t++)
        count += !th[t].ended && th[t].val[th[t].at->a].u;
    for (uint64_t t = 0; t < n; t++) {
        if (th[t].ended)
            continue;
        if (op == OP_barrier_count)
            th[t].val[th[t].at->out].i = count;
        th[t].at++;
        if (e->shadow)
            td_shadow_synced(&th[t], op);
    }
}

/* No thread can continue by itself: those that have not ended must all wait at the same
 * barrier.  *first: one of them; NULL: all have ended. */
static td_status
gathered(const td_engine *e, td_runner *th, uint64_t n, td_runner **first)
{
    *first = NULL;
    for (uint64_t t = 0; t < n; t++) {
        if (th[t].ended)
            continue;
        if (!*first)
            *first = &th[t];
        if (th[t].at != (*first)->at)
            return (*first)->at->kind == CODE_WAIT ? divergent(e, *first, &th[t])
                                                   : divergent(e, &th[t], *first);
    }
    return TD_OK;
}

/* Runs all threads of a block, barrier after barrier, until they are done or wait for the
 * grid. */
static td_status
run_together(const td_engine *e, td_runner *th)
{
    td_runner *first;
    bool on;

    for (;;) {
        on = false;
        for (uint64_t t = 0, warp = e->p->fn->warp; t < e->nthread; t += warp)
            TD_TRY(run_warp(e, &th[t], (uint32_t)(e->nthread - t < warp ? e->nthread - t : warp),
                            &on));
        if (on)
            continue;
        TD_TRY(gathered(e, th, e->nthread, &first));
        if (!first || first->at->kind == CODE_DONE || waits_at(e, first) == OP_grid_barrier)
            return TD_OK;
        pass(e, th, e->nthread, waits_at(e, first));
    }
}

static void
start_block(const engine *g, uint64_t k, const uint32_t bid[3])
{
    td_team *team = &g->team[k];

    memcpy(team->bid, bid, sizeof team->bid);
    memset(team->shared, POISON, g->e.p->nshared);
    if (g->e.shadow)
        td_shadow_block(&g->e, team);
    for (uint64_t t = 0; g->e.p->waits && t < g->e.nthread; t++)
        td_engine_start(&g->e, &g->th[k * g->e.nthread + t], t);
}

static td_status
interp_run_block(const engine *g, const uint32_t bid[3])
{
    const td_engine *e = &g->e;

    start_block(g, 0, bid);
    if (e->p->waits)
        return run_together(e, g->th);
    for (uint64_t t = 0; t < e->nthread; t++) {
        td_engine_start(e, g->th, t);
        TD_TRY(td_engine_run(e, g->th));
    }
    return TD_OK;
}

/* Runs all blocks of a grid from one of its barriers to the next. */
static td_status
run_meeting(const engine *g)
{
    uint64_t n = g->nteam * g->e.nthread;
    td_runner *first;

    for (;;) {
        for (uint64_t k = 0; k < g->nteam; k++)
            TD_TRY(run_together(&g->e, &g->th[k * g->e.nthread]));
        TD_TRY(gathered(&g->e, g->th, n, &first));
        if (!first || first->at->kind == CODE_DONE)
            return TD_OK;
        for (uint64_t t = 0; t < n;
             t += g->e.nthread) /* a GPU counts only the first thread of each block */
            if (g->th[t].ended)
                return divergent(&g->e, first, &g->th[t]);
        pass(&g->e, g->th, n, OP_grid_barrier);
    }
}

/* n pieces of at least nbytes, aligned to ALIGN. */
static char *
aligned_pieces(td_arena *mem, uint64_t n, size_t nbytes, size_t *step)
{
    size_t all;
    char *p;

    *step = (nbytes / ALIGN + 1) * ALIGN;
    if (__builtin_mul_overflow(n, *step, &all) || all > SIZE_MAX / 2)
        return NULL;
    p = td_alloc_big(mem, all + ALIGN);
    return p ? p + (ALIGN - (uintptr_t)p % ALIGN) % ALIGN : NULL;
}

static td_status
new_threads(engine *g, td_arena *mem)
{
    const td_prog *p = g->e.p;
    const uint32_t *grid = g->e.grid, *block = g->e.block;
    uint64_t n, nblock;
    size_t nval, nlocal = 0, nshared = 0;
    char *val, *local = NULL, *shared = NULL;

    if (__builtin_mul_overflow((uint64_t)block[0] * block[1], block[2], &g->e.nthread) ||
        __builtin_mul_overflow((uint64_t)grid[0] * grid[1], grid[2], &nblock))
        return td_fail(TD_ERR_VALUE,
                       "kernel %s: a grid of %u x %u x %u blocks of %u x %u x %u threads",
                       p->fn->name, grid[0], grid[1], grid[2], block[0], block[1], block[2]);
    g->nteam = p->meets ? nblock : 1;
    if (__builtin_mul_overflow(g->nteam, p->waits ? g->e.nthread : 1, &n) || n > SIZE_MAX / 256)
        return td_fail(TD_ERR_NOMEM, "kernel %s: %" PRIu64 " blocks at once", p->fn->name,
                       g->nteam);
    val = aligned_pieces(mem, n, p->nwords * sizeof(td_word), &nval);
    local = val ? aligned_pieces(mem, n, p->nlocal, &nlocal) : NULL;
    shared = local ? aligned_pieces(mem, g->nteam, p->nshared, &nshared) : NULL;
    g->th = td_alloc_big(mem, n * sizeof *g->th);
    g->team = td_alloc_big(mem, g->nteam * sizeof *g->team);
    g->nth = n;
    if (!shared || !g->th || !g->team)
        return td_fail(TD_ERR_NOMEM, "kernel %s: values of %" PRIu64 " threads", p->fn->name, n);
    for (uint64_t k = 0; k < g->nteam; k++)
        g->team[k].shared = shared + k * nshared;
    for (uint64_t t = 0; t < n; t++)
        g->th[t] = (td_runner){.val = (td_word *)(val + t * nval),
                               .local = local + t * nlocal,
                               .team = &g->team[t / (n / g->nteam)]};
    return g->e.check ? td_shadow_new(&g->e, g->th, n, g->team, g->nteam, g->e.check, mem) : TD_OK;
}

static td_status
run_grid(engine *g, td_arena *mem)
{
    const uint32_t *n = g->e.grid;
    uint32_t at[3];
    uint64_t k = 0;

    TD_TRY(new_threads(g, mem));
    for (at[2] = 0; at[2] < n[2]; at[2]++)
        for (at[1] = 0; at[1] < n[1]; at[1]++)
            for (at[0] = 0; at[0] < n[0]; at[0]++, k++) {
                if (g->e.p->meets)
                    start_block(g, k, at);
                else
                    TD_TRY(interp_run_block(g, at));
            }
    return g->e.p->meets ? run_meeting(g) : TD_OK;
}

td_status
td_interp_checked(const td_fn *f, const uint32_t grid[3], const uint32_t block[3],
                  const uint64_t *args, size_t shared, td_extent *extent, const td_check *check)
{
    td_arena mem = {0};
    td_fn own;
    td_prog p;
    engine g = {.e = {.p = &p, .grid = grid, .block = block, .extent = extent, .check = check}};
    td_status st = f->simt ? td_fn_exits(f, &mem, &own) : TD_OK;

    if (!st)
        st = td_prog_new(f->simt ? &own : f, args, shared, &mem, &p);
    for (uint32_t k = 0; !st && extent && k < p.nptr; k++)
        if (p.ptr[k].op == OP_param)
            p.ptr[k].nbytes = extent(p.ptr[k].base);
    if (!st && check)
        td_shadow_prepare(&p, &mem);
    if (!st && check && check->floats)
        td_shadow_float_prepare(&p);
    if (!st && grid[0] && grid[1] && grid[2] && block[0] && block[1] && block[2])
        st = run_grid(&g, &mem);
    if (!st && check && check->hint && g.e.shadow)
        td_shadow_hint(&g.e);
    for (uint64_t t = 0; g.th && t < g.nth; t++)
        td_engine_drop(&g.th[t]);
    td_shadow_free(g.e.shadow);
    td_arena_free(&mem);
    return st;
}

td_status
td_interp(const td_fn *f, const uint32_t grid[3], const uint32_t block[3], const uint64_t *args,
          size_t shared, td_extent *extent)
{
    return td_interp_checked(f, grid, block, args, shared, extent, NULL);
}
