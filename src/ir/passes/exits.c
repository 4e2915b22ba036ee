/* exits.c - turns early returns into threads that end.
 *
 * The front spells `return` as a break, inside an `if`, out of a block around the whole kernel.
 * If an `if` contains only a break, the break takes over its condition.  A break out of a block
 * that ends with the kernel becomes exit_if, and the block is removed.  Removed instructions
 * become constants that nobody reads, so that value numbers stay.
 */
#include "ir/core/ir.h"

#include <string.h>

static bool
quiet(unsigned op)
{
    return op < TD_OPS || op == OP_const || op == OP_cast || op == OP_bitcast;
}

static void
drop_inst(td_fn *f, uint32_t i)
{
    uint32_t line = f->ins[i].line;

    f->ins[i] = td_inst_new(OP_const, TD_BOOL, 1);
    f->ins[i].line = line;
}

static bool
is_true(const td_fn *f, td_val v)
{
    return f->ins[v.i].op == OP_const && f->ins[v.i].imm;
}

/* if c { … break_if true } becomes break_if c. */
static void
lift_break(td_fn *f, uint32_t i)
{
    uint32_t mid = f->ins[i].jump, end = f->ins[mid].op == OP_else ? f->ins[mid].jump : mid, last;
    td_val c = f->ins[i].arg[0];

    if (end - mid > 1)
        return;
    for (last = i + 1; last < mid && quiet(f->ins[last].op); last++)
        continue;
    if (last + 1 != mid || f->ins[last].op != OP_break_if || !is_true(f, f->ins[last].arg[0]))
        return;
    f->ins[last].arg[0] = c;
    drop_inst(f, i);
    drop_inst(f, mid);
    if (mid != end)
        drop_inst(f, end);
}

/* Removes the block at i, which the kernel ends with. */
static void
drop_block(td_fn *f, uint32_t i)
{
    uint32_t end = f->ins[i].jump, depth = 0;
    td_op opener[TD_DEPTH];

    for (uint32_t k = end + 1; k < f->n; k++)
        if (!quiet(f->ins[k].op))
            return;
    for (uint32_t k = i + 1; k < end; k++) {
        td_inst *s = &f->ins[k];
        uint64_t inner = 0;

        if (td_op_opens(s->op))
            opener[depth++] = (td_op)s->op;
        else if (s->op == OP_end)
            depth--;
        for (uint32_t d = 0; s->op == OP_break_if && d < depth; d++)
            inner += td_op_is_breakable(opener[d]);
        if (s->op == OP_break_if && s->imm == inner) {
            s->op = OP_exit_if;
            s->imm = 0;
        }
    }
    drop_inst(f, i);
    drop_inst(f, end);
}

td_status
td_fn_exits(const td_fn *in, td_arena *mem, td_fn *out)
{
    *out = *in;
    out->ins = td_alloc_big(mem, (in->n + 1) * sizeof *in->ins);
    if (!out->ins)
        return td_fail(TD_ERR_NOMEM, "kernel %s: a copy of %u instructions", in->name, in->n);
    if (in->n)
        memcpy(out->ins, in->ins, in->n * sizeof *in->ins);
    for (uint32_t i = 0; i < out->n; i++)
        if (out->ins[i].op == OP_if)
            lift_break(out, i);
    for (uint32_t i = 0; i < out->n; i++) { /* blocks that are in no region */
        uint32_t mid = out->ins[i].jump;
        bool opens = td_op_opens(out->ins[i].op);

        if (out->ins[i].op == OP_block)
            drop_block(out, i);
        /* otherwise its inner regions are in no region now */
        if (opens && out->ins[i].op != OP_const)
            i = out->ins[mid].op == OP_else ? out->ins[mid].jump : mid;
    }
    return TD_OK;
}
