/* widecanon.c - early returns as threads that end.
 *
 * The front spells `return` as a break out of a block round the kernel, behind an `if`.  A break that is
 * all that its `if` does becomes one with the condition; a break out of a block that ends with the kernel
 * becomes exit_if, and the block goes.  Variables are set before a barrier rather than behind it, and read behind
 * it rather than before: their values then cross it in one array, not in two.  What is not wanted becomes a constant that nobody reads, so that
 * values keep their numbers.
 */
#include "ir/wide.h"

#include <string.h>

enum { MOVES = 256 }; /* each costs a walk over the kernel */

static bool
quiet(unsigned op)
{
    return op < TD_OPS || op == OP_const || op == OP_cast || op == OP_bitcast;
}

static void
drop(td_fn *f, uint32_t i)
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

/* if c { … break_if true } */
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
    drop(f, i);
    drop(f, mid);
    if (mid != end)
        drop(f, end);
}

/* The block from i on, which the kernel ends with. */
static void
drop_block(td_fn *f, uint32_t i)
{
    uint32_t end = f->ins[i].jump, depth = 0;
    td_op opener[W_DEPTH];

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
    drop(f, i);
    drop(f, end);
}

/* ---- variables beside barriers ---- */

static uint32_t
moved(uint32_t x, uint32_t from, uint32_t to)
{
    if (x == from)
        return to;
    return x > from && x <= to ? x - 1 : x >= to && x < from ? x + 1 : x;
}

/* Takes the instruction at `from` to `to`; regions between are whole. */
static void
move(td_fn *f, uint32_t from, uint32_t to)
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
                k->arg[a].i = moved(k->arg[a].i, from, to);
        if (td_op_opens(k->op) || k->op == OP_else || k->op == OP_end)
            k->jump = moved(k->jump, from, to);
    }
}

/* The sets right behind the barrier at b go before it: values that they keep need not outlive their phase. */
static void
set_before(td_fn *f, uint32_t b)
{
    for (uint32_t i = b + 1; i < f->n && (f->ins[i].op == OP_const || f->ins[i].op == OP_set); i++)
        if (f->ins[i].op == OP_set) {
            if (f->ins[i].arg[0].i > b || f->ins[i].arg[1].i > b)
                return;
            move(f, i, b++);
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

/* The barrier behind the read at g, up to which nobody uses what was read or sets the variable; 0: none. */
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

/* Reads that only later phases use are done there. */
static void
get_behind(td_fn *f)
{
    int left = MOVES;

    for (uint32_t g = f->n; g-- > 0;) {
        uint32_t b;

        for (uint32_t at = g; f->ins[at].op == OP_get && left && (b = barrier_behind(f, at));
             at = b) {
            move(f, at, b);
            left--;
        }
    }
}

td_status
w_canon(const td_fn *in, td_arena *mem, td_fn *out)
{
    *out = *in;
    out->ins = td_alloc_big(mem, (in->n + 1) * sizeof *in->ins);
    if (!out->ins)
        return td_fail(TD_ERR_NOMEM, "kernel %s: widening %u instructions", in->name, in->n);
    memcpy(out->ins, in->ins, in->n * sizeof *in->ins);
    for (uint32_t i = 0; i < out->n; i++)
        if (out->ins[i].op == OP_if)
            lift_break(out, i);
    for (uint32_t i = 0; i < out->n; i++) { /* blocks that stand in no region */
        uint32_t mid = out->ins[i].jump;
        bool opens = td_op_opens(out->ins[i].op);

        if (out->ins[i].op == OP_block)
            drop_block(out, i);
        if (opens && out->ins[i].op != OP_const) /* else its regions stand in none now */
            i = out->ins[mid].op == OP_else ? out->ins[mid].jump : mid;
    }
    for (uint32_t i = out->n; i-- > 0;)
        if (out->ins[i].op == OP_barrier)
            set_before(out, i);
    get_behind(out);
    return TD_OK;
}
