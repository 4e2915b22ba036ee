/* interp_trace.c - finds index arithmetic that exceeds the range of its dtype.
 *
 * Starting from the addresses of loads and stores, it goes back to what they are computed from.
 * Those additions become CODE_TRACE, which records in the thread's `over` what overflowed on the
 * way to a value.  Only values that addresses are computed from count, so wrapping arithmetic (a
 * hash, a generator) is fine if a mask, a shift or a remainder of a power of two comes before the
 * index: that is what it would be without wrapping.
 */
#include "ir/interp/interp_check.h"

/* Does an overflow in an operand affect the value? */
static bool
carries(unsigned op)
{
    switch (op) {
    case OP_add:
    case OP_subtract:
    case OP_multiply:
    case OP_floor_divide:
    case OP_remainder:
    case OP_fmod:
    case OP_minimum:
    case OP_maximum:
    case OP_select:
    case OP_cast:
    case OP_get:
    case OP_set:
    case OP_at:           return true;
    }
    return false;
}

static bool
is_signed(td_dtype dt)
{
    return dt == TD_I32 || dt == TD_I64;
}

static bool
wanted_one(const td_fn *f, bool *wanted, td_val v)
{
    if (v.i >= f->n || wanted[v.i] || f->ins[v.i].lanes != 1)
        return false;
    return wanted[v.i] = true;
}

/* One pass from the last instruction to the first; false: nothing new was found. */
static bool
mark_operands(const td_fn *f, bool *wanted)
{
    bool more = false;

    for (uint32_t i = f->n; i-- > 0;) {
        const td_inst *s = &f->ins[i];
        bool memory = s->op == OP_load || s->op == OP_store || td_op_is_atomic(s->op);

        if (memory || s->op == OP_at)
            more = wanted_one(f, wanted, s->arg[1]) || more;
        if (s->op == OP_set && wanted[s->arg[0].i])
            more = wanted_one(f, wanted, s->arg[1]) || more;
        if (!wanted[i] || !carries(s->op) || s->op == OP_at)
            continue;
        for (int k = s->op == OP_select; k < TD_MAXARG; k++)
            if (s->arg[k].i < i)
                more = wanted_one(f, wanted, s->arg[k]) || more;
    }
    return more;
}

void
td_shadow_prepare(td_prog *p, td_arena *mem)
{
    const td_fn *f = p->fn;
    bool *wanted = td_alloc_big(mem, f->n + 1);

    if (!wanted)
        return; /* out of memory: the arena records it */
    while (mark_operands(f, wanted))
        ;
    for (uint32_t k = 0; k + 1 < p->ncode; k++) {
        td_code *c = &p->code[k];
        const td_inst *s = &f->ins[c->at];
        bool is = s->op == OP_at || (s->op == OP_set ? wanted[s->arg[0].i] : wanted[c->at]);

        if (is && c->lanes == 1 && carries(s->op) &&
            (c->kind == CODE_RUN || c->kind == CODE_COPY || c->kind == CODE_AT))
            c->kind = CODE_TRACE;
    }
}

/* Does the instruction itself exceed its dtype's range? */
static bool
overflows(const td_inst *s, td_dtype dt, int64_t x, int64_t y)
{
    int64_t r;
    bool over;

    if (!is_signed(dt))
        return false;
    switch (s->op) {
    case OP_add:      over = __builtin_add_overflow(x, y, &r); break;
    case OP_subtract: over = __builtin_sub_overflow(x, y, &r); break;
    case OP_multiply: over = __builtin_mul_overflow(x, y, &r); break;
    default:          return false;
    }
    return over || (dt == TD_I32 && r != (int32_t)r);
}

void
td_shadow_trace(const td_engine *e, td_runner *t, const td_code *c)
{
    const td_inst *s = &e->p->fn->ins[c->at];
    td_word *v = t->val, x = v[c->a], y = c->b == UINT32_MAX ? x : v[c->b];
    uint32_t over = 0;

    switch (s->op) {
    case OP_at:  v[c->out].u = x.u + y.u; break;
    case OP_get:
    case OP_set: v[c->out] = x; break;
    default:     c->run(v + c->out, v + c->a, v + c->b, v + c->c, 1);
    }
    if (s->op == OP_select)
        over = t->over[x.u ? c->b : c->c];
    else if (s->op == OP_get || s->op == OP_set || s->op == OP_cast)
        over = t->over[c->a];
    else if (overflows(s, (td_dtype)s->dt, x.i, y.i))
        over = c->at + 1;
    else if ((s->op == OP_remainder || s->op == OP_fmod) && y.i > 0 && (y.i & (y.i - 1)) == 0)
        over = t->over[c->b];
    else
        over = t->over[c->a] ? t->over[c->a] : t->over[c->b];
    t->over[c->out] = over;
}

td_status
td_shadow_index(const td_engine *e, const td_runner *t, const td_code *c, uint32_t lane)
{
    uint32_t over = t->over[c->b + lane * c->step];
    const td_inst *s;

    if (!over)
        over = t->over[c->a];
    if (!over)
        return TD_OK;
    s = &e->p->fn->ins[over - 1];
    return td_engine_fail(e, t, c->at, TD_ERR_OVERFLOW,
                          "the index overflows: its %s at %s does not fit %s",
                          s->op == OP_add        ? "sum"
                          : s->op == OP_subtract ? "difference"
                                                 : "product",
                          td_engine_line(e, over - 1, c->at).text, td_dtype_name((td_dtype)s->dt));
}
