/* waits.c - finds loops that end only when another thread writes.  As lanes, which run in step,
 * their threads would wait for ever.
 *
 * Each iteration of such a loop does the same to memory, and what it reads there decides whether
 * to continue: `while atomic_cas(lock, 0, 1) != 0`, `while flag == 0`.  A loop ends by itself if
 * the address or the written value changes between iterations (probing, a sum by
 * compare-and-swap), or if a counter runs up to a bound.  In doubt the loop counts as waiting.
 */

#include "ir/core/ir.h"

#include <string.h>

typedef struct look {
    const td_fn *f;
    uint32_t first, end; /* the loop */
    uint8_t *varies;     /* for each instruction: its value may differ between iterations */
    uint8_t *wanted;     /* it decides whether the loop continues */
    uint8_t *seen;
    bool changed;
} look;

static void
waits_mark(look *k, uint32_t i)
{
    k->changed |= !k->wanted[i];
    k->wanted[i] = 1;
}

static bool
inside_loop(const look *k, uint32_t i)
{
    return i > k->first && i < k->end;
}

static bool
reads(unsigned op)
{
    return op == OP_load || td_op_is_atomic(op);
}

/* ---- what differs between iterations ---- */

/* Marks slots that an iteration sets to what it has computed. */
static void
vary_slots(look *k)
{
    for (uint32_t i = k->first + 1; i < k->end; i++) {
        const td_inst *s = &k->f->ins[i];

        if (s->op == OP_set && inside_loop(k, s->arg[1].i) &&
            td_at(k->f, s->arg[1])->op != OP_const)
            k->varies[s->arg[0].i] = 1;
    }
}

static void
vary(look *k)
{
    vary_slots(k);
    for (uint32_t i = k->first + 1; i < k->end; i++) {
        const td_inst *s = &k->f->ins[i];
        bool v = reads(s->op) || s->op == OP_for || s->op == OP_clock;

        for (int a = 0; a < TD_MAXARG && !v; a++)
            v = s->arg[a].i != UINT32_MAX && k->varies[s->arg[a].i];
        k->varies[i] |= v;
    }
}

/* ---- what decides whether the loop continues ---- */

static void
want_args(look *k, const td_inst *s)
{
    for (int a = 0; a < TD_MAXARG; a++)
        if (s->arg[a].i != UINT32_MAX)
            waits_mark(k, s->arg[a].i);
}

/* Marks the conditions under which i runs within the loop. */
static void
want_conditions(look *k, uint32_t i)
{
    for (uint32_t o = k->first + 1; o < i; o++) {
        const td_inst *s = &k->f->ins[o];
        uint32_t end = s->jump;

        if (s->op != OP_if)
            continue;
        if (k->f->ins[end].op == OP_else)
            end = k->f->ins[end].jump;
        if (end > i)
            waits_mark(k, s->arg[0].i);
    }
}

/* Does the break_if at i leave the loop? */
static bool
leaves(const look *k, uint32_t i)
{
    uint64_t inner = 0;

    for (uint32_t o = k->first + 1; o < i; o++)
        inner += td_op_is_breakable(k->f->ins[o].op) && k->f->ins[o].jump > i;
    return k->f->ins[i].imm >= inner;
}

static void
want(look *k)
{
    for (uint32_t i = k->end - 1; i > k->first; i--) {
        const td_inst *s = &k->f->ins[i];
        bool decides = s->op == OP_exit_if || (s->op == OP_break_if && leaves(k, i)) ||
                       (s->op == OP_set && k->wanted[s->arg[0].i]);

        if (decides)
            want_conditions(k, i);
        if (decides || k->wanted[i])
            want_args(k, s);
    }
}

/* ---- does the loop wait? ---- */

static uint32_t
pointer_root(const td_fn *f, td_val p)
{
    while (f->ins[p.i].op == OP_at)
        p = f->ins[p.i].arg[0];
    return p.i;
}

/* How many instructions of the loop write through the pointer that p was made from. */
static int
writers(const look *k, td_val p)
{
    int n = 0;

    for (uint32_t i = k->first + 1; i < k->end; i++) {
        const td_inst *s = &k->f->ins[i];

        n += (s->op == OP_store || td_op_is_atomic(s->op)) &&
             pointer_root(k->f, s->arg[0]) == pointer_root(k->f, p);
    }
    return n;
}

/* Is s a counter: an atomic_add of a constant whose results the loop compares by less and greater
 * only?  Then it passes its bound some time, and the loop ends by itself. */
static bool
counts_up(const look *k, const td_inst *s)
{
    const td_inst *by = td_at(k->f, s->arg[2]);

    if (s->op != OP_atomic_add || by->op != OP_const || !by->imm || writers(k, s->arg[0]) != 1)
        return false;
    for (uint32_t i = k->first + 1; i < k->end; i++) {
        const td_inst *c = &k->f->ins[i];

        if (k->wanted[i] &&
            (c->op == OP_equal || c->op == OP_not_equal || (c->op == OP_cast && c->dt == TD_BOOL)))
            return false;
    }
    return true;
}

static bool
same_again(const look *k, const td_inst *s)
{
    for (int a = 0; a < TD_MAXARG; a++)
        if (s->arg[a].i != UINT32_MAX && k->varies[s->arg[a].i])
            return false;
    return true;
}

/* Is value i of one iteration computed from what `slot` held in the one before? */
static bool
made_of(look *k, uint32_t i, uint32_t slot)
{
    const td_inst *s = &k->f->ins[i];

    if (!inside_loop(k, i) || k->seen[i])
        return false;
    k->seen[i] = 1;
    if (s->op == OP_get && s->arg[0].i == slot)
        return true;
    for (int a = 0; a < TD_MAXARG; a++)
        if (s->op != OP_get && s->arg[a].i != UINT32_MAX && made_of(k, s->arg[a].i, slot))
            return true;
    for (uint32_t j = k->first + 1; s->op == OP_get && j < k->end; j++)
        if (k->f->ins[j].op == OP_set && k->f->ins[j].arg[0].i == s->arg[0].i &&
            made_of(k, k->f->ins[j].arg[1].i, slot))
            return true;
    return false;
}

/* Do only values at fixed addresses that the loop does not write decide? */
static bool
only_reads(look *k)
{
    for (uint32_t i = k->first + 1; i < k->end; i++) {
        const td_inst *s = &k->f->ins[i];
        bool set = s->op == OP_set && k->wanted[s->arg[0].i];

        memset(k->seen, 0, k->f->n);
        if ((set && made_of(k, s->arg[1].i, s->arg[0].i)) ||
            (k->wanted[i] && (s->op == OP_for || s->op == OP_clock || td_op_is_atomic(s->op))) ||
            (k->wanted[i] && s->op == OP_load && (!same_again(k, s) || writers(k, s->arg[0]))))
            return false;
    }
    return true;
}

static bool
waits(look *k)
{
    bool polls = false;

    vary(k);
    do {
        k->changed = false;
        want(k);
    } while (k->changed);
    for (uint32_t i = k->first + 1; i < k->end; i++) {
        const td_inst *s = &k->f->ins[i];

        if (!k->wanted[i])
            continue;
        if (td_op_is_atomic(s->op) && same_again(k, s) && !counts_up(k, s))
            return true;
        polls |= s->op == OP_load;
    }
    return polls && only_reads(k);
}

td_status
td_fn_waits(const td_fn *f, td_arena *mem, bool *out)
{
    look k = {.f = f};

    *out = false;
    for (uint32_t i = 0; i < f->n && !*out; i++) {
        bool any = false;

        for (uint32_t j = i + 1; f->ins[i].op == OP_loop && j < f->ins[i].jump; j++)
            any |= reads(f->ins[j].op);
        if (!any)
            continue;
        if (!k.varies && (k.varies = td_alloc_big(mem, 3 * (size_t)f->n))) {
            k.wanted = k.varies + f->n;
            k.seen = k.wanted + f->n;
        }
        if (!k.varies)
            return td_fail(TD_ERR_NOMEM, "kernel %s: widening %u instructions", f->name, f->n);
        memset(k.varies, 0, f->n);
        memset(k.wanted, 0, f->n);
        k.first = i;
        k.end = f->ins[i].jump;
        *out = waits(&k);
    }
    return TD_OK;
}
