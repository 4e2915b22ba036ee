/* meet.c - where fibers wait for each other, and what they exchange there.
 *
 * The thread that continues first does the work for all, while the others wait: it counts a
 * barrier, or computes the results of an exchange for all members.
 */
#include "base/fiber.h"
#include "ir/interp/exchange.h"
#include "ir/interp/kfiber.h"

#include <sched.h>
#include <string.h>

enum {
    PATIENCE = 4,
    /* iterations of a loop before other fibers run; before other threads of the CPU do */
    POLITE = 4096
};

/* ---- barriers ---- */

/* All n threads from th on have arrived or returned.  A GPU counts only the first thread of
 * each block of a grid. */
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
fiber_wait_barrier(td_kfiber *self, const td_kfiber_site *site, td_kfiber_gate *g, td_kfiber *th,
                   uint64_t n, uint64_t cond)
{
    int first = (int)td_kfiber_place(th);

    self->site = site;
    if (g->site && g->site != site) { /* the others wait elsewhere: nobody can continue */
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

/* Computes the results for the threads m of a warp, which wait at one place. */
static void
serve(td_kfiber *w, uint32_t m)
{
    const td_kfiber_site *site = w[__builtin_ctz(m)].site;
    td_exchange x = {.op = (td_op)site->op, .warp = TD_WARP, .members = m, .nbytes = site->nbytes};

    for (uint32_t left = m; left; left &= left - 1) {
        int k = __builtin_ctz(left);

        x.value[k] = w[k].value;
        x.which[k] = w[k].which;
    }
    for (uint32_t left = m; left; left &= left - 1) {
        int k = __builtin_ctz(left);

        w[k].value = td_exchanged(&x, (uint32_t)k);
        w[k].site = NULL;
    }
    w->moves++;
}

/* Waits until the members are at the same place; uses the state word of the first member that
 * came. */
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
fiber_exchange(td_kfiber *w, td_kfiber *self, uint32_t here)
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
    return t->site && td_optab[t->site->op].threads == TD_THREADS_HERE ? t : NULL;
}

/* The threads that wait at this activemask once no thread of the warp can do anything else. */
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
        first = NULL; /* the first thread to continue lets those at its place go with it */
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
    uint32_t here = left < TD_WARP ? ((uint32_t)1 << left) - 1 : UINT32_MAX;

    if (td_optab[site->op].threads == TD_THREADS_BLOCK)
        return fiber_wait_barrier(self, site, &b->gate, th, (uint64_t)r->n, value);
    if (site->op == OP_grid_barrier)
        return fiber_wait_barrier(self, site, &r->grid, r->th, r->nblock * (uint64_t)r->n, 0);
    self->site = site;
    self->value = value;
    self->which = which;
    self->members = (uint32_t)members;
    return td_optab[site->op].threads == TD_THREADS_HERE ? active(w, self, here)
                                                         : fiber_exchange(w, self, here);
}

void
td_kfiber_pass(td_kfiber *self)
{
    if (++self->passes % PATIENCE)
        return;
    if (self->passes % POLITE == 0)
        sched_yield();
    td_fiber_yield();
}
