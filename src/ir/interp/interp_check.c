/* interp_check.c - a shadow of a kernel's memory: which thread read and wrote each byte last.
 *
 * A segment is what a thread does between two places where it synchronises.  Two accesses to one
 * byte are ordered if a barrier lies between their segments, or for threads of one warp a
 * syncwarp; or if after the first access its block released (a fence, then an atomic operation)
 * what the other's block acquired (an atomic operation) before the second.  The last rule treats
 * all atomic operations as if they were on one lock: it may miss a race, but never reports one
 * that is not there.
 */
#include "ir/interp/interp_check.h"

#include "base/map.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE = 1024, WORD = 4 };

typedef struct segment {
    uint32_t thread; /* linear number in the grid */
    /* barriers passed so far: of the block, of the warp, of the grid */
    uint32_t barriers, warps, grids;
    uint32_t born;
} segment;

typedef struct stamp {
    uint32_t segment, at; /* segment 0: no access; at: the instruction */
} stamp;

/* cell - the accesses of a byte, or of a word while every access has been a whole word.  It
 * keeps two readers of different threads: at least one of them is not the next writer. */
typedef struct cell {
    stamp writer, reader, other;
} cell;

/* tally - how the grid's threads wrote a vector. */
typedef struct tally {
    uint64_t own, other; /* elements with the thread's own number; others */
} tally;

typedef struct page {
    uint32_t unit; /* bytes of a cell: WORD, or 1 */
    cell *cell;
} page;

struct td_own {
    uint32_t thread, barriers, warps, grids; /* as a segment's */
    uint32_t segment;                        /* 0: its next access begins a segment */
    bool fenced;                             /* after a fence: an atomic operation will release */
    uint8_t *written;                        /* of each byte of local memory */
};

struct td_blockown {
    uint8_t *written; /* of each byte of shared memory */
    page *page;
};

struct td_shadow {
    const td_check *check;
    td_arena *mem;
    bool alone;   /* the grid has only one thread */
    td_map pages; /* global memory: address / PAGE -> page */
    page *last;
    uint64_t last_number;
    segment *segment;
    uint32_t nsegment, csegment;
    uint32_t clock;
    /* for each block: the time of its last release, of its last acquire; 0: never */
    uint32_t *released, *acquired;
    tally *tally; /* of each named array */
};

/* ---- making and freeing a shadow ---- */

static td_status
out_of_memory(const td_engine *e)
{
    return td_fail(TD_ERR_NOMEM, "kernel %s: memory for its checks is out", e->p->fn->name);
}

static bool
new_owns(td_engine *e, td_runner *th, uint64_t n, td_team *team, uint64_t nteam, td_arena *mem)
{
    size_t npage = e->p->nshared / PAGE + 1;

    for (uint64_t k = 0; k < nteam; k++) {
        td_blockown *b = team[k].own = td_alloc(mem, sizeof *b);

        b->written = td_alloc_big(mem, e->p->nshared + 1);
        b->page = td_alloc_big(mem, npage * sizeof *b->page);
        if (!b->written || !b->page)
            return false;
    }
    for (uint64_t t = 0; t < n; t++) {
        td_own *o = th[t].own = td_alloc(mem, sizeof *o);

        o->written = td_alloc_big(mem, e->p->nlocal + 1);
        th[t].over = td_alloc_big(mem, (e->p->nwords + 1) * sizeof *th[t].over);
        if (!o->written || !th[t].over)
            return false;
    }
    return !mem->failed;
}

td_status
td_shadow_new(td_engine *e, td_runner *th, uint64_t n, td_team *team, uint64_t nteam,
              const td_check *check, td_arena *mem)
{
    uint64_t nblock = (uint64_t)e->grid[0] * e->grid[1] * e->grid[2];
    td_shadow *s = calloc(1, sizeof *s);

    if (!s)
        return out_of_memory(e);
    e->shadow = s;
    s->check = check;
    s->mem = mem;
    s->alone = nblock * e->nthread == 1;
    s->nsegment = 1; /* number 0 means no segment */
    if (nblock < SIZE_MAX / 8)
        s->released = td_alloc_big(mem, nblock * sizeof *s->released);
    if (s->released)
        s->acquired = td_alloc_big(mem, nblock * sizeof *s->acquired);
    s->tally = td_alloc_big(mem, (check->nnamed + 1) * sizeof *s->tally);
    return s->acquired && s->tally && new_owns(e, th, n, team, nteam, mem) ? TD_OK
                                                                           : out_of_memory(e);
}

void
td_shadow_free(td_shadow *s)
{
    if (!s)
        return;
    td_map_free(&s->pages);
    free(s->segment);
    free(s);
}

void
td_shadow_block(const td_engine *e, td_team *team)
{
    td_blockown *b = team->own;

    for (size_t k = 0; k <= e->p->nshared / PAGE; k++)
        if (b->page[k].cell)
            memset(b->page[k].cell, 0, PAGE / b->page[k].unit * sizeof(cell));
    memset(b->written, 0, e->p->nshared);
}

static uint64_t
block_number(const td_engine *e, const td_runner *t)
{
    const uint32_t *b = t->team->bid;

    return b[0] + (uint64_t)e->grid[0] * (b[1] + (uint64_t)e->grid[1] * b[2]);
}

void
td_shadow_thread(const td_engine *e, td_runner *t, uint64_t linear)
{
    td_own *o = t->own;

    o->thread = (uint32_t)(block_number(e, t) * e->nthread + linear);
    o->barriers = o->warps = o->grids = 0;
    o->segment = 0;
    o->fenced = false;
    memset(o->written, 0, e->p->nlocal);
    memset(t->over, 0, e->p->nwords * sizeof *t->over);
}

/* ---- synchronisation ---- */

void
td_shadow_synced(td_runner *t, td_op where)
{
    td_own *o = t->own;

    o->warps += !td_op_is_barrier(where);
    o->barriers += td_op_is_barrier(where);
    o->grids += where == OP_grid_barrier;
    o->segment = 0;
}

void
td_shadow_fence(td_runner *t)
{
    t->own->fenced = true;
}

/* ---- segments ---- */

/* The segment that t is in; 0: out of memory. */
static uint32_t
segment_of(td_shadow *s, const td_runner *t)
{
    td_own *o = t->own;

    if (o->segment)
        return o->segment;
    if (s->nsegment >= s->csegment) {
        uint32_t cap = s->csegment ? 2 * s->csegment : 1024;
        segment *more = realloc(s->segment, cap * sizeof *more);

        if (!more)
            return 0;
        s->segment = more;
        s->csegment = cap;
    }
    s->segment[s->nsegment] = (segment){o->thread, o->barriers, o->warps, o->grids, ++s->clock};
    return o->segment = s->nsegment++;
}

static bool
segments_in_order(const td_engine *e, uint32_t before, uint32_t now)
{
    const td_shadow *s = e->shadow;
    const segment *a = &s->segment[before], *b = &s->segment[now];
    uint64_t n = e->nthread, p = a->thread / n, q = b->thread / n;

    if (a->thread == b->thread)
        return true;
    if (p == q && a->barriers != b->barriers)
        return true;
    if (p == q && a->thread % n / e->p->fn->warp == b->thread % n / e->p->fn->warp &&
        a->warps != b->warps)
        return true;
    if (p != q && a->grids != b->grids)
        return true;
    return s->released[p] > a->born && s->acquired[q] > s->released[p];
}

/* ---- names of memory ---- */

typedef struct spot { /* spot - an address's memory: where it begins, and its shadow. */
    const char *base;
    /* bytes known to be written; NULL: global memory, which others may have written */
    uint8_t *written;
    page *page; /* global and shared memory's cells; NULL: local memory has none */
    bool own;   /* it is the thread's own (local) memory */
} spot;

static spot
spot_of(const td_engine *e, const td_runner *t, const char *p)
{
    if ((uintptr_t)p - (uintptr_t)t->team->shared < e->p->nshared)
        return (spot){t->team->shared, t->team->own->written, t->team->own->page, false};
    if ((uintptr_t)p - (uintptr_t)t->local < e->p->nlocal)
        return (spot){t->local, t->own->written, NULL, true};
    return (spot){0};
}

/* The program's name for the memory at p: "element 3 of 'a'". */
static td_where
name_global(const td_check *check, uintptr_t p)
{
    td_where w = {"memory"};

    for (uint32_t k = 0; k < check->nnamed; k++) {
        const td_named *a = &check->named[k];
        int64_t at[TD_NAMED_DIMS] = {0}, left = (int64_t)(p - a->at);
        int n = 0;
        bool used[TD_NAMED_DIMS] = {false};

        for (int i = 0; i < a->ndim; i++) { /* axes from the largest stride to the smallest */
            int widest = -1;

            for (int k2 = 0; k2 < a->ndim; k2++)
                if (!used[k2] && (widest < 0 || llabs(a->stride[k2]) > llabs(a->stride[widest])))
                    widest = k2;
            used[widest] = true;
            if (a->stride[widest] && a->dim[widest] > 1)
                at[widest] = left / a->stride[widest];
            if (a->stride[widest] < 0 && left % a->stride[widest])
                at[widest]++;
            if (at[widest] < 0 || at[widest] >= a->dim[widest])
                break;
            left -= at[widest] * a->stride[widest];
            n++;
        }
        if (n < a->ndim || left < 0 || left >= (int64_t)a->size)
            continue;
        n = a->ndim ? snprintf(w.text, sizeof w.text, "element ") : 0;
        for (int i = 0; i < a->ndim; i++)
            n += snprintf(w.text + n, sizeof w.text - (size_t)n, "%s%" PRId64,
                          i             ? ", "
                          : a->ndim > 1 ? "("
                                        : "",
                          at[i]);
        snprintf(w.text + n, sizeof w.text - (size_t)n, "%s%s'%.60s'", a->ndim > 1 ? ")" : "",
                 a->ndim ? " of " : "", a->name);
        return w;
    }
    return w;
}

/* Shared and local arrays that the program has named; takes the nearest one below p. */
static td_where
name_own(const td_engine *e, const td_runner *t, const spot *s, const char *p)
{
    const td_fn *f = e->p->fn;
    uint64_t nearest = 0, first = (uint64_t)(uintptr_t)s->base;
    const char *name = NULL;
    size_t size = 1;
    td_where w;

    for (const td_note *n = f->note; n; n = n->next) {
        uint64_t at = t->val[e->p->word[n->v.i]].u;

        if (at >= first && at <= (uint64_t)(uintptr_t)p && (!name || at > nearest)) {
            nearest = at;
            name = n->text;
            size = n->size;
        }
    }
    if (!name)
        snprintf(w.text, sizeof w.text, "byte %zu of %s memory", (size_t)(p - s->base),
                 s->own ? "local" : "shared");
    else
        snprintf(w.text, sizeof w.text, "element %zu of '%.60s'",
                 (size_t)((uint64_t)(uintptr_t)p - nearest) / size, name);
    return w;
}

static td_where
memory_name(const td_engine *e, const td_runner *t, const char *p)
{
    spot s = spot_of(e, t, p);

    return s.base ? name_own(e, t, &s, p) : name_global(e->shadow->check, (uintptr_t)p);
}

/* ---- cells ---- */

static page *
page_of(td_shadow *s, const spot *at, const char *p, size_t *offset)
{
    uint64_t number = (uintptr_t)p / PAGE;
    td_hash key;
    page *g;

    if (at->page) {
        *offset = (size_t)(p - at->base) % PAGE;
        return &at->page[(size_t)(p - at->base) / PAGE];
    }
    *offset = (uintptr_t)p % PAGE;
    if (s->last && s->last_number == number)
        return s->last;
    key = td_hash_u64(TD_HASH_INIT, number);
    g = td_map_get(&s->pages, key);
    if (!g) {
        g = td_alloc(s->mem, sizeof *g);
        if (td_map_set(&s->pages, key, g))
            return NULL;
    }
    s->last = g;
    s->last_number = number;
    return g;
}

/* Makes the page's cells, one per byte if an access is that small. */
static bool
refine(td_shadow *s, page *g, uint32_t unit)
{
    cell *fine;

    if (g->cell && g->unit <= unit)
        return true;
    fine = td_alloc_big(s->mem, PAGE / unit * sizeof *fine);
    if (!fine)
        return false;
    for (uint32_t i = 0; g->cell && i < PAGE; i++)
        fine[i] = g->cell[i / g->unit];
    g->cell = fine;
    g->unit = unit;
    return true;
}

static td_status
race(const td_engine *e, const td_runner *t, const td_code *c, const char *p, stamp past,
     const char *now, const char *then)
{
    const segment *a = &e->shadow->segment[past.segment];
    uint64_t n = e->nthread, in = a->thread % n, b = a->thread / n;
    uint32_t x = e->block[0], y = e->block[1], gx = e->grid[0], gy = e->grid[1];
    bool same = b == t->own->thread / n;
    char block[64] = "";

    if (!same)
        snprintf(block, sizeof block, "block (%u, %u, %u), ", (uint32_t)(b % gx),
                 (uint32_t)(b / gx % gy), (uint32_t)(b / gx / gy));
    return td_engine_fail(
        e, t, c->at, TD_ERR_THREADS,
        "data race on %s: it is %s here, and %s by %sthread (%u, %u, %u) at %s, with no %s between",
        memory_name(e, t, p).text, now, then, block, (uint32_t)(in % x), (uint32_t)(in / x % y),
        (uint32_t)(in / x / y), td_engine_line(e, past.at, c->at).text,
        same ? "barrier" : "barrier of the grid");
}

static td_status
touch_cell(const td_engine *e, const td_runner *t, const td_code *c, const char *p, cell *k,
           bool write, bool silent)
{
    stamp now = {t->own->segment, c->at};
    uint32_t me = t->own->thread;
    const segment *all = e->shadow->segment;

    if (k->writer.segment && !silent && !segments_in_order(e, k->writer.segment, now.segment))
        return race(e, t, c, p, k->writer, write ? "written" : "read", "written");
    if (!write) {
        if (k->reader.segment && all[k->reader.segment].thread != me)
            k->other = k->reader;
        k->reader = now;
        return TD_OK;
    }
    if (k->reader.segment && !segments_in_order(e, k->reader.segment, now.segment))
        return race(e, t, c, p, k->reader, "written", "read");
    if (k->other.segment && !segments_in_order(e, k->other.segment, now.segment))
        return race(e, t, c, p, k->other, "written", "read");
    *k = (cell){.writer = now};
    return TD_OK;
}

static td_status
touch(const td_engine *e, const td_runner *t, const td_code *c, const char *p, const spot *at,
      bool write, bool silent)
{
    td_shadow *s = e->shadow;
    size_t size = td_dtype_size(c->dt), offset;

    if (s->alone)
        return TD_OK;
    if (!segment_of(s, t))
        return out_of_memory(e);
    for (size_t done = 0; done < size;) {
        page *g = page_of(s, at, p + done, &offset);
        uint32_t unit = offset % WORD || (size - done) % WORD ? 1 : WORD;

        if (!g || !refine(s, g, unit))
            return out_of_memory(e);
        TD_TRY(touch_cell(e, t, c, p + done, &g->cell[offset / g->unit], write, silent));
        done += g->unit;
    }
    return TD_OK;
}

/* ---- accesses ---- */

static td_status
must_be_written(const td_engine *e, const td_runner *t, const td_code *c, const char *p,
                const spot *at)
{
    const uint8_t *w = at->written + (p - at->base);

    for (size_t k = 0; k < td_dtype_size(c->dt); k++)
        if (!w[k])
            return td_engine_fail(e, t, c->at, TD_ERR_THREADS,
                                  "%s is read, and nobody has written it: %s",
                                  memory_name(e, t, p).text,
                                  at->own ? "local memory is not initialised"
                                          : "shared memory is not initialised, or a barrier is "
                                            "missing behind the write");
    return TD_OK;
}

/* Fails if the element at p, in global memory, is as new memory is. */
static td_status
must_not_be_fresh(const td_engine *e, const td_runner *t, const td_code *c, const char *p)
{
    size_t size = td_dtype_size(c->dt);

    if (size < WORD) /* as numbers these are frequent */
        return TD_OK;
    for (size_t k = 0; k < size; k++)
        if ((uint8_t)p[k] != TD_FRESH_BYTE)
            return TD_OK;
    return td_engine_fail(e, t, c->at, TD_ERR_THREADS,
                          "%s is read, and nobody has written it: an array that was made empty has "
                          "no values yet",
                          memory_name(e, t, p).text);
}

td_status
td_shadow_read(const td_engine *e, td_runner *t, const td_code *c, const char *p)
{
    spot at = spot_of(e, t, p);

    if (at.written)
        TD_TRY(must_be_written(e, t, c, p, &at));
    else
        TD_TRY(must_not_be_fresh(e, t, c, p));
    return at.own ? TD_OK : touch(e, t, c, p, &at, false, false);
}

/* Counts a write to a vector, for td_shadow_hint. */
static void
count_write(const td_engine *e, const td_runner *t, uintptr_t p)
{
    const td_check *check = e->shadow->check;

    for (uint32_t k = 0; k < check->nnamed; k++) {
        const td_named *a = &check->named[k];

        if (a->ndim != 1 || a->stride[0] <= 0 || p < a->at ||
            p - a->at >= (uint64_t)(a->dim[0] * a->stride[0]))
            continue;
        if ((p - a->at) / (uint64_t)a->stride[0] == t->own->thread)
            e->shadow->tally[k].own++;
        else
            e->shadow->tally[k].other++;
        return;
    }
}

void
td_shadow_hint(const td_engine *e)
{
    const td_check *check = e->shadow->check;
    uint64_t n = (uint64_t)e->grid[0] * e->block[0];
    bool flat = e->grid[1] == 1 && e->grid[2] == 1 && e->block[1] == 1 && e->block[2] == 1;
    char text[320];

    for (uint32_t k = 0; flat && n > 1 && k < check->nnamed; k++) {
        const tally *w = &e->shadow->tally[k];

        if (w->own != n || w->other || check->named[k].dim[0] <= (int64_t)n)
            continue;
        snprintf(text, sizeof text,
                 "kernel %.80s: its %" PRIu64 " threads wrote the first elements of '%.60s', which "
                 "has %" PRId64 ": the grid may be too small",
                 e->p->fn->name, n, check->named[k].name, check->named[k].dim[0]);
        check->hint(check->ctx, text);
    }
}

td_status
td_shadow_write(const td_engine *e, td_runner *t, const td_code *c, const char *p, const td_word *v,
                bool *done)
{
    const td_check *check = e->shadow->check;
    size_t size = td_dtype_size(c->dt);
    spot at;

    *done = check->port && (uintptr_t)p == check->port;
    if (*done)
        return check->halt(check->ctx, v->u, t->team->bid, t->tid);
    at = spot_of(e, t, p);
    if (at.written)
        memset(at.written + (p - at.base), 1, size);
    else
        count_write(e, t, (uintptr_t)p);
    return at.own ? TD_OK : touch(e, t, c, p, &at, true, memcmp(p, v, size) == 0);
}

td_status
td_shadow_atomic(const td_engine *e, td_runner *t, const td_code *c, const char *p)
{
    td_shadow *s = e->shadow;
    uint64_t b = t->own->thread / e->nthread;
    spot at = spot_of(e, t, p);

    if (e->p->fn->ins[c->at].op != OP_atomic_exch)
        TD_TRY(at.written ? must_be_written(e, t, c, p, &at) : must_not_be_fresh(e, t, c, p));
    if (at.written)
        memset(at.written + (p - at.base), 1, td_dtype_size(c->dt));
    s->acquired[b] = ++s->clock;
    if (t->own->fenced) {
        s->released[b] = ++s->clock;
        t->own->fenced = false;
        t->own->segment = 0;
    }
    return TD_OK;
}
