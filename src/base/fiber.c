/* fiber.c - which of a thread's fibers runs next, and which fibers wait for which.
 *
 * One bitmap tells which fibers are alive, another which of those are ready.  A fiber gets a
 * stack when it starts.  One that returns starts the next on the same stack, so fibers that never
 * wait share one stack.  A barrier's state word counts the fibers that have arrived; the barrier
 * releases those whose `wait` points to that word.  A fiber that returns costs nothing: barriers
 * that its return completes are found once per round.
 */
#include "base/fiber.h"

#include "base/context.h"
#include "base/stacks.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    KEEP = 2048, /* stacks that a thread keeps for its next call */
    SKEW = 192,  /* bytes by which each stack's top is moved within a page */
};

typedef struct
    members { /* fibers first + k, k < n, whose bit k & 63 of mask is set; n > 64: mask is full */
    int first, n;
    uint64_t mask;
} members;

typedef struct fiber {
    td_context at;
    size_t stack;
    uint64_t *wait; /* the barrier it waits at; NULL: none */
    members with;
} fiber;

typedef struct run {
    int n, self, nalive;
    int nstarted;  /* fibers below this have started; they start in ascending order */
    bool returned; /* a fiber has returned since the barriers were last looked at */
    size_t nstack; /* stacks taken so far */
    size_t nfree;  /* of these, stacks of fibers that have returned */
    td_fiber_fn *fn;
    void *ctx;
    td_context home, *from; /* from: the context that switched last */
    uint64_t *ready, *alive;
    size_t *free;
    fiber *f;
} run;

static _Thread_local run *now;

static int
nwords(int n)
{
    return n / 64 + 1; /* one to spare: bits_from reads two */
}

/* The 64 bits from bit i on. */
static uint64_t
bits_from(const uint64_t *map, int i)
{
    const uint64_t *p = map + i / 64;
    int shift = i % 64;

    return shift ? p[0] >> shift | p[1] << (64 - shift) : p[0];
}

static uint64_t
chunk(const members *m, int k)
{
    int left = m->n - k;

    return left >= 64 ? m->mask : m->mask & (((uint64_t)1 << left) - 1);
}

static uint64_t
count_alive(const run *r, const members *m)
{
    uint64_t count = 0;

    if (m->n == r->n && m->n > 64)
        return (uint64_t)r->nalive;
    for (int k = 0; k < m->n; k += 64)
        count += (uint64_t)__builtin_popcountll(bits_from(r->alive, m->first + k) & chunk(m, k));
    return count;
}

static void
release_members(run *r, uint64_t *state, const members *m)
{
    *state = 0;
    for (int k = 0; k < m->n; k += 64) {
        int base = m->first + k;
        uint64_t set = bits_from(r->alive, base) & ~bits_from(r->ready, base) & chunk(m, k);

        for (; set; set &= set - 1) {
            int i = base + __builtin_ctzll(set);

            if (r->f[i].wait == state) {
                r->f[i].wait = NULL;
                r->ready[i / 64] |= (uint64_t)1 << i % 64;
            }
        }
    }
}

/* Releases the barriers that became complete because members have returned. */
static void
look_at_waiting(run *r)
{
    uint64_t *last = NULL;

    r->returned = false;
    for (int w = 0; w < nwords(r->n); w++)
        for (uint64_t set = r->alive[w] & ~r->ready[w]; set; set &= set - 1) {
            fiber *f = &r->f[64 * w + __builtin_ctzll(set)];
            members with = f->with;

            if (f->wait && f->wait != last && *(last = f->wait) >= count_alive(r, &with))
                release_members(r, f->wait, &with);
        }
}

static int
ready_from(const run *r, int i)
{
    int w = i / 64;
    uint64_t set = i < r->n ? r->ready[w] & ~(uint64_t)0 << i % 64 : 0;

    while (!set && ++w < nwords(r->n))
        set = r->ready[w];
    return set ? 64 * w + __builtin_ctzll(set) : -1;
}

static int
next_turn(run *r)
{
    int i = ready_from(r, r->self + 1);

    if (i >= 0)
        return i;
    if (r->returned)
        look_at_waiting(r);
    return ready_from(r, 0);
}

static void fiber_enter(void);

/* The context to continue at for fiber i, which gets a stack if it has not started; i < 0: the
 * caller's own. */
static td_context *
context_of(run *r, int i)
{
    fiber *f = i < 0 ? NULL : &r->f[i];

    if (!f)
        return &r->home;
    r->self = i;
    if (i == r->nstarted) {
        r->nstarted++;
        f->wait = NULL;
        f->stack = r->nfree ? r->free[--r->nfree] : r->nstack++;
        td_context_make(&f->at, td_stack(f->stack), TD_STACK_BYTES, f->stack * SKEW % 4096,
                        fiber_enter);
    }
    return &f->at;
}

static void
go(run *r)
{
    fiber *self = &r->f[r->self];
    int next = next_turn(r);

    if (next == r->self)
        return;
    r->from = &self->at;
    td_context_switch(&self->at, context_of(r, next), 0);
}

static void
returns(run *r, int i)
{
    r->ready[i / 64] &= ~((uint64_t)1 << i % 64);
    r->alive[i / 64] &= ~((uint64_t)1 << i % 64);
    r->nalive--;
    r->returned = true;
}

/* The first function on every stack.  It runs the stack's fiber, then fibers that have not
 * started yet, one after another; when there are none left it switches away for good. */
static void
fiber_enter(void)
{
    run *r = now;
    int i = r->self;

    td_context_entered(r->from);
    for (;;) {
        fiber *f = &r->f[i];
        int next;

        r->fn(r->ctx, i);
        returns(r, i);
        next = next_turn(r);
        if (next == r->nstarted) {
            fiber *heir = &r->f[next];

            r->nstarted++;
            heir->wait = NULL;
            heir->stack = f->stack;
            heir->at.stack = f->at.stack;
            heir->at.nbytes = f->at.nbytes;
            r->self = i = next;
            continue;
        }
        r->free[r->nfree++] = f->stack;
        r->from = &f->at;
        td_context_switch(&f->at, context_of(r, next), 1);
    }
}

static void
wait_for(uint64_t *state, members with)
{
    run *r = now;
    fiber *self = &r->f[r->self];

    if (*state + 1 >= count_alive(r, &with)) {
        release_members(r, state, &with);
        return;
    }
    ++*state;
    self->wait = state;
    self->with = with;
    r->ready[r->self / 64] &= ~((uint64_t)1 << r->self % 64);
    go(r);
}

/* Allocates the run's arrays in one piece.  A fiber's entry is initialised when it starts. */
static void *
lay(run *r, int n)
{
    size_t words = (size_t)nwords(n), count = (size_t)n;
    fiber *p = malloc(count * sizeof *p + 2 * words * sizeof(uint64_t) + count * sizeof(size_t));

    if (!p)
        return NULL;
    r->f = p;
    r->ready = (uint64_t *)(void *)(p + count);
    r->alive = r->ready + words;
    r->free = (size_t *)(void *)(r->alive + words);
    memset(r->ready, 0, 2 * words * sizeof(uint64_t));
    for (int i = 0; i < n; i++)
        r->alive[i / 64] = r->ready[i / 64] |= (uint64_t)1 << i % 64;
    return p;
}

static td_status
stuck(const run *r)
{
    int shown = 0, who[4] = {0};
    size_t used = 0;
    char text[64];

    for (int i = 0; i < r->n && shown < 4; i++)
        if (r->alive[i / 64] >> i % 64 & 1)
            who[shown++] = i;
    for (int k = 0; k < shown; k++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%d", k ? ", " : "", who[k]);
    return td_fail(
        TD_ERR_THREADS,
        "%d of %d threads of a block wait for others that never come (threads %s%s): all "
        "threads of a barrier or of a mask must come to the same one",
        r->nalive, r->n, text, r->nalive > shown ? ", …" : "");
}

td_status
td_fibers_run(int n, td_fiber_fn *fn, void *ctx)
{
    run r = {.n = n, .nalive = n, .self = -1, .fn = fn, .ctx = ctx};
    td_status st = TD_OK;
    void *memory;

    if (now)
        return td_fail(TD_ERR_VALUE, "fibers: %d of them started by one", n);
    if (n <= 0)
        return TD_OK;
    if (!(memory = lay(&r, n)) || !td_stacks_grow((size_t)n)) {
        free(memory);
        return td_fail(TD_ERR_NOMEM, "fibers: no memory for %d stacks of %d KB", n,
                       TD_STACK_BYTES >> 10);
    }
    now = &r;
    r.from = &r.home;
    td_context_switch(&r.home, context_of(&r, 0), 0);
    now = NULL;
    if (r.nalive) {
        st = stuck(&r);
        for (size_t i = 0; i < r.nstack; i++)
            td_context_clean(td_stack(i), TD_STACK_BYTES);
    }
    free(memory);
    td_stacks_shrink(KEEP);
    return st;
}

int
td_fiber_self(void)
{
    return now ? now->self : -1;
}

void
td_fiber_yield(void)
{
    if (now)
        go(now);
}

void
td_fiber_barrier(uint64_t *state, int first, int n)
{
    if (now)
        wait_for(state, (members){first, n, ~(uint64_t)0});
}

void
td_fiber_meet(uint64_t *state, int first, uint64_t mask)
{
    if (now)
        wait_for(state, (members){first, 64 - __builtin_clzll(mask | 1), mask});
}
