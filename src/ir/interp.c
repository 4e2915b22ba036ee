/* interp.c - runs a decoded kernel, thread after thread.
 *
 * Without barriers and shuffles one array of values serves every thread in turn.  With them each
 * thread of a block has its own; a thread that comes to one stops there, and goes on when all of
 * its block (a shuffle: its warp) stand at the same one.  Blocks run one after another.
 */
#include "ir/interp.h"

#include "ir/interp_code.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { WARP = 32, POISON = 0xa5 };

typedef struct thread {
    const td_code *at; /* where it goes on; at a CODE_WAIT: it waits there */
    td_word *val;
    uint32_t tid[3];
} thread;

typedef struct engine {
    const td_prog *p;
    const uint32_t *grid, *block;
    uint32_t bid[3];
    td_extent *extent;
    uint64_t nthread; /* of a block */
    thread *th;       /* nthread of them, or one when nothing waits */
} engine;

/* "kernel k: block (0,0,0), thread (1,0,0), line 7, %5 (load)", cut to 256 bytes. */
typedef struct where {
    char text[256];
} where;

static where
locate(const engine *e, const thread *t, uint32_t at)
{
    const td_inst *s = &e->p->fn->ins[at];
    char line[24] = "";
    where w;

    if (s->line)
        snprintf(line, sizeof line, ", line %u", s->line);
    snprintf(w.text, sizeof w.text,
             "kernel %.80s: block (%u,%u,%u), thread (%u,%u,%u)%s, %%%u (%s)", e->p->fn->name,
             e->bid[0], e->bid[1], e->bid[2], t->tid[0], t->tid[1], t->tid[2], line, at,
             td_optab[s->op].name);
    return w;
}

static td_status
outside(const engine *e, const thread *t, const td_code *c, int64_t index)
{
    const td_code_ptr *p = &e->p->ptr[c->a];
    const td_inst *s = &e->p->fn->ins[p->at];
    where w = locate(e, t, c->at);

    if (p->shared)
        return td_fail(TD_ERR_INDEX,
                       "%s: index %" PRId64 " is outside the shared array of %" PRIu64 " elements",
                       w.text, index, s->imm);
    return td_fail(TD_ERR_INDEX,
                   "%s: index %" PRId64 " is outside the memory of parameter %" PRIu64, w.text,
                   index, s->imm);
}

/* A negative index may be right: a view can start at its last element.  It must then lie in the
 * allocation that the pointer points into. */
static bool
within(const engine *e, const td_code_ptr *p, int64_t index, size_t size)
{
    uintptr_t at;
    size_t left;

    if (index >= 0 && (uint64_t)index < p->nbytes / size)
        return true;
    if (p->shared)
        return false;
    if (!e->extent)
        return true;
    if (index > INT64_MAX / 16 || index < INT64_MIN / 16)
        return false;
    at = p->base + (uintptr_t)(index * (int64_t)size);
    left = e->extent(at);
    return left >= size && (!p->nbytes || at + left == p->base + p->nbytes);
}

/* The address of lane l of a load or store, NULL when its mask is off.  The instruction's alignment
 * is that of its first lane. */
static td_status
address(const engine *e, const thread *t, const td_code *c, uint32_t l, char **out)
{
    const td_code_ptr *p = &e->p->ptr[c->a];
    size_t size = td_dtype_size(c->dt),
           align = c->imm && !c->step && l == 0 ? (size_t)c->imm : size;
    int64_t index = t->val[c->b + l * c->step].i;
    uintptr_t at;

    *out = NULL;
    if (c->d != UINT32_MAX && !t->val[c->d + l].u)
        return TD_OK;
    if (!c->step)
        index = (int64_t)((uint64_t)index + l);
    if (!within(e, p, index, size))
        return outside(e, t, c, index);
    at = p->base + (uintptr_t)index * size;
    if ((e->extent || p->shared) && at % align)
        return td_fail(TD_ERR_INDEX, "%s: index %" PRId64 " is not aligned to %zu bytes",
                       locate(e, t, c->at).text, index, align);
    *out = (char *)at;
    return TD_OK;
}

static td_status
load(const engine *e, const thread *t, const td_code *c)
{
    char *p;

    for (uint32_t l = 0; l < c->lanes; l++) {
        TD_TRY(address(e, t, c, l, &p));
        t->val[c->out + l] = p ? td_interp_word(c->dt, p) : (td_word){0};
    }
    return TD_OK;
}

static td_status
store(const engine *e, const thread *t, const td_code *c)
{
    char *p;

    for (uint32_t l = 0; l < c->lanes; l++) {
        TD_TRY(address(e, t, c, l, &p));
        if (p)
            memcpy(p, &t->val[c->c + l], td_dtype_size(c->dt));
    }
    return TD_OK;
}

/* Threads run one after another: nobody comes between. */
static td_status
atomic(const engine *e, const thread *t, const td_code *c)
{
    td_word sum;
    char *p;

    for (uint32_t l = 0; l < c->lanes; l++) {
        TD_TRY(address(e, t, c, l, &p));
        if (!p)
            continue;
        sum = td_interp_word(c->dt, p);
        c->run(&sum, &sum, &t->val[c->c + l], NULL, 1);
        memcpy(p, &sum, td_dtype_size(c->dt));
    }
    return TD_OK;
}

static td_status
for_start(const engine *e, const thread *t, const td_code *c, bool *more)
{
    if (t->val[c->c].i <= 0)
        return td_fail(TD_ERR_VALUE, "%s: step %" PRId64 " is not positive",
                       locate(e, t, c->at).text, t->val[c->c].i);
    t->val[c->out] = t->val[c->a];
    *more = t->val[c->a].i < t->val[c->b].i;
    return TD_OK;
}

/* The next counter; a counter that would leave its dtype is past every bound. */
static bool
for_next(const thread *t, const td_code *c)
{
    int64_t next;

    if (__builtin_add_overflow(t->val[c->out].i, t->val[c->c].i, &next) || next >= t->val[c->b].i)
        return false;
    t->val[c->out].i = next;
    return true;
}

static int64_t
thread_index(const engine *e, const thread *t, int64_t which)
{
    const uint32_t *const from[] = {t->tid, e->bid, e->block, e->grid};

    return (int32_t)from[which / 3][which % 3];
}

/* Instructions that move lanes without computing. */
static void
move(const engine *e, const thread *t, const td_code *c)
{
    td_word *out = t->val + c->out, *a = t->val + c->a;

    switch (c->kind) {
    case CODE_COPY: memcpy(out, a, c->lanes * sizeof *out); break;
    case CODE_SPLAT:
        for (uint32_t l = 0; l < c->lanes; l++)
            out[l] = *a;
        break;
    case CODE_ROTATE:
        for (uint32_t l = 0; l < c->lanes; l++)
            out[l] = a[(l + (uint32_t)c->imm) % c->lanes];
        break;
    case CODE_ZIP:
        for (uint32_t l = 0; l < c->lanes; l++)
            out[l] = t->val[(l & 1 ? c->b : c->a) + l / 2];
        break;
    case CODE_UNZIP:
        for (uint32_t l = 0; l < c->lanes; l++)
            out[l] = a[2 * l + (uint32_t)c->imm];
        break;
    case CODE_BITCAST:
        for (uint32_t l = 0; l < c->lanes; l++)
            out[l] = td_interp_word(c->dt, &a[l]);
        break;
    default:
        for (uint32_t l = 0; l < c->lanes; l++)
            out[l].i = thread_index(e, t, c->imm);
    }
}

/* Runs t from t->at until it waits or is done. */
static td_status
run(const engine *e, thread *t)
{
    const td_code *c = t->at, *code = e->p->code;
    td_word *v = t->val;
    bool more = true;

    for (;; c++) {
        switch (c->kind) {
        case CODE_RUN:     c->run(v + c->out, v + c->a, v + c->b, v + c->c, (int)c->lanes); continue;
        case CODE_COPY:
        case CODE_SPLAT:
        case CODE_ROTATE:
        case CODE_ZIP:
        case CODE_UNZIP:
        case CODE_BITCAST:
        case CODE_INDEX:   move(e, t, c); continue;
        case CODE_LOAD:    TD_TRY(load(e, t, c)); continue;
        case CODE_STORE:   TD_TRY(store(e, t, c)); continue;
        case CODE_ATOMIC:  TD_TRY(atomic(e, t, c)); continue;
        case CODE_JUMP:    more = false; break;
        case CODE_UNLESS:  more = v[c->a].u != 0; break;
        case CODE_BREAK:   more = v[c->a].u == 0; break;
        case CODE_FOR:     TD_TRY(for_start(e, t, c, &more)); break;
        case CODE_NEXT:    more = !for_next(t, c); break;
        case CODE_WAIT:
        case CODE_DONE:    t->at = c; return TD_OK;
        }
        if (!more)
            c = code + c->jump - 1;
    }
}

static void
start(const engine *e, thread *t, uint64_t linear)
{
    t->tid[0] = (uint32_t)(linear % e->block[0]);
    t->tid[1] = (uint32_t)(linear / e->block[0] % e->block[1]);
    t->tid[2] = (uint32_t)(linear / e->block[0] / e->block[1]);
    t->at = e->p->code;
    memcpy(t->val, e->p->init, e->p->nwords * sizeof *t->val);
}

/* t waits where other, of the same block or warp, is not. */
static td_status
divergent(const engine *e, const thread *t, const thread *other)
{
    const thread *w = t->at->kind == CODE_WAIT ? t : other, *o = w == t ? other : t;

    return td_fail(TD_ERR_VALUE, "%s: divergent %s: thread (%u,%u,%u) does not reach it",
                   locate(e, w, w->at->at).text, td_optab[e->p->fn->ins[w->at->at].op].name,
                   o->tid[0], o->tid[1], o->tid[2]);
}

static bool
shuffles(const engine *e, const thread *t)
{
    return t->at->kind == CODE_WAIT && e->p->fn->ins[t->at->at].op == OP_shuffle_xor;
}

/* All n threads stand at one shuffle: exchanges their values.  A lane that the block lacks gives
 * the thread its own value. */
static void
exchange(thread *th, uint32_t n)
{
    const td_code *c = th->at;
    td_word old[WARP];

    for (uint32_t l = 0; l < n; l++)
        old[l] = th[l].val[c->a];
    for (uint32_t l = 0; l < n; l++) {
        uint32_t from = l ^ (uint32_t)c->imm;

        th[l].val[c->out] = old[from < n ? from : l];
        th[l].at++;
    }
}

/* Runs a warp until none of its threads waits at a shuffle. */
static td_status
run_warp(const engine *e, thread *th, uint32_t n)
{
    for (;;) {
        for (uint32_t l = 0; l < n; l++)
            TD_TRY(run(e, &th[l]));
        for (uint32_t l = 1; l < n; l++)
            if ((shuffles(e, &th[0]) || shuffles(e, &th[l])) && th[0].at != th[l].at)
                return divergent(e, shuffles(e, &th[0]) ? &th[0] : &th[l],
                                 shuffles(e, &th[0]) ? &th[l] : &th[0]);
        if (!shuffles(e, &th[0]))
            return TD_OK;
        exchange(th, n);
    }
}

/* All threads from barrier to barrier. */
static td_status
run_together(const engine *e)
{
    for (uint64_t t = 0; t < e->nthread; t++)
        start(e, &e->th[t], t);
    for (;;) {
        for (uint64_t t = 0; t < e->nthread; t += WARP)
            TD_TRY(
                run_warp(e, &e->th[t], (uint32_t)(e->nthread - t < WARP ? e->nthread - t : WARP)));
        for (uint64_t t = 1; t < e->nthread; t++)
            if (e->th[t].at != e->th[0].at)
                return divergent(e, &e->th[0], &e->th[t]);
        if (e->th[0].at->kind == CODE_DONE)
            return TD_OK;
        for (uint64_t t = 0; t < e->nthread; t++)
            e->th[t].at++;
    }
}

static td_status
run_block(const engine *e)
{
    for (uint32_t k = 0; k < e->p->nptr; k++)
        if (e->p->ptr[k].shared)
            memset((void *)e->p->ptr[k].base, POISON, e->p->ptr[k].nbytes);
    if (e->p->waits)
        return run_together(e);
    for (uint64_t t = 0; t < e->nthread; t++) {
        start(e, e->th, t);
        TD_TRY(run(e, e->th));
    }
    return TD_OK;
}

static td_status
new_threads(engine *e, td_arena *mem)
{
    uint64_t n, nwords = e->p->nwords + 1, bytes;
    td_word *val;

    if (__builtin_mul_overflow((uint64_t)e->block[0] * e->block[1], e->block[2], &e->nthread))
        return td_fail(TD_ERR_VALUE, "kernel %s: a block of %u x %u x %u threads", e->p->fn->name,
                       e->block[0], e->block[1], e->block[2]);
    n = e->p->waits ? e->nthread : 1;
    if (__builtin_mul_overflow(n, nwords * sizeof *val + sizeof *e->th, &bytes) ||
        bytes > SIZE_MAX / 2)
        return td_fail(TD_ERR_NOMEM, "kernel %s: values of %" PRIu64 " threads", e->p->fn->name, n);
    e->th = td_alloc_big(mem, n * sizeof *e->th);
    val = td_alloc_big(mem, n * nwords * sizeof *val);
    if (!e->th || !val)
        return td_fail(TD_ERR_NOMEM, "kernel %s: values of %" PRIu64 " threads", e->p->fn->name, n);
    for (uint64_t t = 0; t < n; t++)
        e->th[t].val = val + t * nwords;
    return TD_OK;
}

static td_status
run_grid(engine *e, td_arena *mem)
{
    TD_TRY(new_threads(e, mem));
    for (e->bid[2] = 0; e->bid[2] < e->grid[2]; e->bid[2]++)
        for (e->bid[1] = 0; e->bid[1] < e->grid[1]; e->bid[1]++)
            for (e->bid[0] = 0; e->bid[0] < e->grid[0]; e->bid[0]++)
                TD_TRY(run_block(e));
    return TD_OK;
}

td_status
td_interp(const td_fn *f, const uint32_t grid[3], const uint32_t block[3], const uint64_t *args,
          td_extent *extent)
{
    td_arena mem = {0};
    td_prog p;
    engine e = {.p = &p, .grid = grid, .block = block, .extent = extent};
    td_status st = td_prog_new(f, args, &mem, &p);

    for (uint32_t k = 0; !st && extent && k < p.nptr; k++)
        if (!p.ptr[k].shared)
            p.ptr[k].nbytes = extent(p.ptr[k].base);
    if (!st && block[0] && block[1] && block[2])
        st = run_grid(&e, &mem);
    td_arena_free(&mem);
    return st;
}
