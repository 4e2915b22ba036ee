/* early.c - moves loads before the arithmetic around them.
 *
 * A program computes sqrt(a[i]) before it asks for b[i].  On a GPU the code between may contain a
 * branch, across which the driver's compiler moves no load, so memory waits for arithmetic.  In
 * each run of instructions without effects this pass puts the loads first, with what their
 * addresses need; the rest follows in its order.
 */
#include "ir/core/ir.h"

enum { MOST = 16 }; /* most loads moved in a run, since they hold registers */

static bool
has_no_effect(const td_inst *s)
{
    if (s->op < TD_OPS)
        return true;
    switch ((td_op)s->op) {
    case OP_const:
    case OP_cast:
    case OP_bitcast:
    case OP_param:
    case OP_at:
    case OP_address:
    case OP_pointer:
    case OP_slot:
    case OP_get:
    case OP_tid:
    case OP_bid:
    case OP_bdim:
    case OP_gdim:
    case OP_lane:
    case OP_shared:
    case OP_local:
    case OP_dynamic:
    case OP_load:    return true;
    default:         return false;
    }
}

/* Marks instruction i and what it needs within [lo, i].  Operands precede their users, so one
 * pass down is enough. */
static void
early_mark(const td_fn *f, uint8_t *early, uint32_t lo, uint32_t hi)
{
    uint32_t loads = 0;

    for (uint32_t i = lo; i < hi && loads < MOST; i++)
        if (f->ins[i].op == OP_load) {
            early[i] = 1;
            loads++;
        }
    for (uint32_t i = hi; i-- > lo;)
        for (int a = 0; early[i] && a < TD_MAXARG; a++)
            if (f->ins[i].arg[a].i >= lo && f->ins[i].arg[a].i < i)
                early[f->ins[i].arg[a].i] = 1;
}

static void
early_copy(const td_fn *f, td_fn *out, td_val *at, uint32_t i)
{
    td_inst s = f->ins[i];

    for (int a = 0; a < TD_MAXARG; a++)
        s.arg[a] = s.arg[a].i < i ? at[s.arg[a].i] : s.arg[a];
    out->line = s.line;
    out->from = s.from;
    at[i] = td_push(out, s);
}

td_status
td_fn_loads_first(td_fn *f)
{
    td_fn out = *f;
    td_val *at = td_alloc_big(f->mem, (f->n + 1) * sizeof *at);
    uint8_t *early = td_alloc_big(f->mem, f->n + 1);

    if (f->st)
        return f->st;
    if (!at || !early)
        return f->st = td_fail(TD_ERR_NOMEM, "kernel %s: %u instructions", f->name, f->n);
    out.ins = NULL;
    out.n = out.cap = 0;
    for (uint32_t lo = 0, hi; lo < f->n; lo = hi + 1) {
        for (hi = lo; hi < f->n && has_no_effect(&f->ins[hi]);)
            hi++;
        early_mark(f, early, lo, hi);
        for (uint32_t i = lo; i < hi; i++)
            if (early[i])
                early_copy(f, &out, at, i);
        for (uint32_t i = lo; i < hi; i++)
            if (!early[i])
                early_copy(f, &out, at, i);
        if (hi < f->n)
            early_copy(f, &out, at, hi);
    }
    out.line = f->line;
    out.from = f->from;
    *f = out;
    return f->st;
}
