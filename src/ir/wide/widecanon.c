/* widecanon.c - moves sets of variables from after a barrier to before it, and reads from before
 * it to after it.
 *
 * A value then crosses the barrier in one array instead of two.
 */
#include "ir/wide/wide.h"

#include <string.h>

enum { MOVES = 256 }; /* most moves: each costs a walk over the kernel */

static uint32_t
moved_index(uint32_t x, uint32_t from, uint32_t to)
{
    if (x == from)
        return to;
    return x > from && x <= to ? x - 1 : x >= to && x < from ? x + 1 : x;
}

/* Moves the instruction at `from` to `to`; the regions between are complete. */
static void
move_inst(td_fn *f, uint32_t from, uint32_t to)
{
    td_inst s = f->ins[from];

    if (from < to)
        memmove(f->ins + from, f->ins + from + 1, (to - from) * sizeof s);
    else
        memmove(f->ins + to + 1, f->ins + to, (from - to) * sizeof s);
    f->ins[to] = s;
    for (uint32_t i = 0; i < f->n; i++) {
        td_inst *k = &f->ins[i];

        for (int a = 0; a < TD_MAXARG; a++)
            if (k->arg[a].i != UINT32_MAX)
                k->arg[a].i = moved_index(k->arg[a].i, from, to);
        if (td_op_opens(k->op) || k->op == OP_else || k->op == OP_end)
            k->jump = moved_index(k->jump, from, to);
    }
}

/* Moves sets right after the barrier at b to before it: the values that they store then need
 * not outlive their phase. */
static void
set_before(td_fn *f, uint32_t b)
{
    for (uint32_t i = b + 1; i < f->n && (f->ins[i].op == OP_const || f->ins[i].op == OP_set); i++)
        if (f->ins[i].op == OP_set) {
            if (f->ins[i].arg[0].i > b || f->ins[i].arg[1].i > b)
                return;
            move_inst(f, i, b++);
        }
}

static bool
takes(const td_inst *s, uint32_t v)
{
    for (int a = 0; a < TD_MAXARG; a++)
        if (s->arg[a].i == v)
            return true;
    return false;
}

/* The barrier after the read at g, if until then nobody uses the value or sets the variable;
 * 0: none. */
static uint32_t
barrier_behind(const td_fn *f, uint32_t g)
{
    uint32_t depth = 0;

    for (uint32_t i = g + 1; i < f->n; i++) {
        const td_inst *s = &f->ins[i];

        if (s->op == OP_barrier)
            return depth ? 0 : i;
        if (takes(s, g) || (s->op == OP_set && s->arg[0].i == f->ins[g].arg[0].i))
            return 0;
        if (s->op == OP_end && depth-- == 0)
            return 0;
        if (s->op == OP_else && !depth)
            return 0;
        depth += td_op_opens(s->op);
    }
    return 0;
}

/* Moves reads that only later phases use to those phases. */
static void
get_behind(td_fn *f)
{
    int left = MOVES;

    for (uint32_t g = f->n; g-- > 0;) {
        uint32_t b;

        for (uint32_t at = g; f->ins[at].op == OP_get && left && (b = barrier_behind(f, at));
             at = b) {
            move_inst(f, at, b);
            left--;
        }
    }
}

td_status
w_canon(const td_fn *in, td_arena *mem, td_fn *out)
{
    TD_TRY(td_fn_exits(in, mem, out));
    for (uint32_t i = out->n; i-- > 0;)
        if (out->ins[i].op == OP_barrier)
            set_before(out, i);
    get_behind(out);
    return TD_OK;
}
