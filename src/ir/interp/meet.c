/* meet.c - where threads that take turns wait for each other, and what they exchange there.
 *
 * Who goes on first, the others standing still, does the work of all: counts a barrier, gives all
 * members of an exchange their values.
 */
#include "base/fiber.h"
#include "ir/interp/kfiber.h"

#include <sched.h>
#include <string.h>

enum {
    WARP = 32,
    PATIENCE = 4,
    POLITE = 4096 /* turns of a loop until others go on; until other threads of the CPU do */
};

/* ---- barriers ---- */

/* All n threads from th on have come, or have returned.  A GPU counts a grid's blocks by their first threads. */
static void
open_gate(td_kfiber *self, td_kfiber_gate *g, td_kfiber *th, uint64_t n)
{
    uint64_t block = (uint64_t)self->block->run->n;

    for (uint64_t i = 0; i < n; i++)
        if (td_kfiber_missed(&th[i]) ||
            (th[i].gone && g->site->op == OP_grid_barrier && i % block == 0)) {
            (void)td_kfiber_divergent(self, &th[i]);
            return;
        }
    for (uint64_t i = 0; i < n; i++)
        th[i].site = NULL;
    g->answer = g->count;
    g->site = NULL;
    g->count = 0;
}

static uint64_t
barrier(td_kfiber *self, const td_kfiber_site *site, td_kfiber_gate *g, td_kfiber *th, uint64_t n,
        uint64_t cond)
{
    int first = (int)td_kfiber_place(th);

    self->site = site;
    if (g->site && g->site != site) { /* not where the others wait: nobody goes on */
        td_fiber_barrier(&self->state, first, (int)n);
        return td_kfiber_divergent(self, th == self ? th + 1 : th);
    }
    g->site = site;
    g->count += cond;
    td_fiber_barrier(&g->state, first, (int)n);
    if (self->site && !self->stop)
        open_gate(self, g, th, n);
    return g->answer;
}

/* ---- exchanges ---- */

/* What thread k gets from the threads m of its warp. */
static uint64_t
received(const td_kfiber *w, int k, uint32_t m)
{
    const td_kfiber_site *s = w[k].site;
    uint32_t from = s->op == OP_shuffle ? (uint32_t)w[k].which % WARP
                                        : (uint32_t)k ^ (uint32_t)w[k].which % WARP;
    uint64_t out = 0;

    if (s->op == OP_shuffle || s->op == OP_shuffle_xor)
        return w[m >> from & 1 ? from : (uint32_t)k].value;
    if (s->op == OP_activemask)
        return m;
    for (uint32_t left = m; left; left &= left - 1) {
        int l = __builtin_ctz(left);

        if (s->op == OP_match_any ? memcmp(&w[l].value, &w[k].value, s->nbytes) == 0
                                  : w[l].value != 0)
            out |= (uint64_t)1 << l;
    }
    return out;
}

/* The threads m of a warp stand at one place. */
static void
serve(td_kfiber *w, uint32_t m)
{
    uint64_t got[WARP] = {0};

    for (uint32_t left = m; left; left &= left - 1)
        got[__builtin_ctz(left)] = received(w, __builtin_ctz(left), m);
    for (uint32_t left = m; left; left &= left - 1) {
        int k = __builtin_ctz(left);

        w[k].value = got[k];
        w[k].site = NULL;
    }
    w->moves++;
}

/* Waits with the first of the members who has come to the same place. */
static void
wait_for_members(td_kfiber *w, td_kfiber *self)
{
    self->gate = &self->state;
    for (uint32_t left = self->members; left; left &= left - 1) {
        td_kfiber *o = &w[__builtin_ctz(left)];

        if (o != self && o->site == self->site && o->members == self->members) {
            self->gate = o->gate;
            break;
        }
    }
    w->moves++;
    td_fiber_meet(self->gate, (int)td_kfiber_place(w), self->members);
}

static uint64_t
exchange(td_kfiber *w, td_kfiber *self, uint32_t here)
{
    uint32_t m = 0;

    if (!(self->members >> self->lane & 1))
        return td_kfiber_fail(self, self->site,
                              "thread %d of the warp is not among the members 0x%x", self->lane,
                              self->members);
    self->members &= here;
    wait_for_members(w, self);
    if (!self->site || self->stop)
        return self->value;
    for (uint32_t left = self->members; left; left &= left - 1) {
        int k = __builtin_ctz(left);

        if (td_kfiber_missed(&w[k]))
            return td_kfiber_divergent(self, &w[k]);
        m |= w[k].gone ? 0 : (uint32_t)1 << k;
    }
    serve(w, m);
    return self->value;
}

static const td_kfiber *
stands_active(const td_kfiber *t)
{
    return t->site && t->site->op == OP_activemask ? t : NULL;
}

/* Those who stand here when none of the warp's threads does anything more without them. */
static uint64_t
active(td_kfiber *w, td_kfiber *self, uint32_t here)
{
    w->moves++;
    while (self->site && !self->stop) {
        uint32_t seen = w->moves, m = 0;
        const td_kfiber *first;

        td_fiber_yield();
        if (!self->site || w->moves != seen)
            continue;
        first = NULL; /* goes on first, with those who stand where it does */
        for (uint32_t left = here; left && !first; left &= left - 1)
            first = stands_active(&w[__builtin_ctz(left)]);
        if (!first || first->site != self->site)
            continue;
        for (uint32_t left = here; left; left &= left - 1)
            if (w[__builtin_ctz(left)].site == self->site)
                m |= left & -left;
        serve(w, m);
    }
    return self->value;
}

uint64_t
td_kfiber_meet(td_kfiber *self, const td_kfiber_site *site, uint64_t value, uint64_t which,
               uint64_t members)
{
    td_kfiber_block *b = self->block;
    td_kfiber_run *r = b->run;
    td_kfiber *w = self - self->lane, *th = r->th + (uint64_t)(b - r->block) * (uint64_t)r->n;
    int left = r->n - (int)(w - th);
    uint32_t here = left < WARP ? ((uint32_t)1 << left) - 1 : UINT32_MAX;

    if (site->op == OP_barrier || site->op == OP_barrier_count)
        return barrier(self, site, &b->gate, th, (uint64_t)r->n, value);
    if (site->op == OP_grid_barrier)
        return barrier(self, site, &r->grid, r->th, r->nblock * (uint64_t)r->n, 0);
    self->site = site;
    self->value = value;
    self->which = which;
    self->members = (uint32_t)members;
    return site->op == OP_activemask ? active(w, self, here) : exchange(w, self, here);
}

void
td_kfiber_pass(td_kfiber *self)
{
    if (++self->turns % PATIENCE)
        return;
    if (self->turns % POLITE == 0)
        sched_yield();
    td_fiber_yield();
}
