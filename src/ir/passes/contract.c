/* contract.c - turns a product into a fused multiply-add if only a sum or a difference uses it.
 *
 * The fused operation rounds once where the two round twice, in the same way on every engine.  Of
 * two products the left one is fused.
 */
#include "ir/core/ir.h"

enum { KEPT, TAKEN_IN };     /* states of a product */
enum { PLAIN, LEFT, RIGHT }; /* states of a sum: which operand is fused */

typedef struct plan {
    const td_fn *f;
    uint32_t *uses;
    uint8_t *how;
} plan;

static bool
only_product(const plan *p, td_val v)
{
    return p->f->ins[v.i].op == OP_multiply && p->uses[v.i] == 1;
}

static void
decide(plan *p, uint32_t i)
{
    const td_inst *s = &p->f->ins[i];

    if ((s->op != OP_add && s->op != OP_subtract) || !td_dtype_is_float((td_dtype)s->dt))
        return;
    p->how[i] = only_product(p, s->arg[0]) ? LEFT : only_product(p, s->arg[1]) ? RIGHT : PLAIN;
    if (p->how[i] != PLAIN)
        p->how[s->arg[p->how[i] == RIGHT].i] = TAKEN_IN;
}

/* a b + c; a b - c as a b + -c; c - a b as -a b + c. */
static td_val
fuse(const plan *p, td_fn *out, const td_val *at, const td_inst *s, bool right)
{
    const td_inst *product = &p->f->ins[s->arg[right].i];
    td_val x[3] = {at[product->arg[0].i], at[product->arg[1].i], at[s->arg[!right].i]};
    td_val *negated = &x[right ? 0 : 2];

    if (s->op == OP_subtract)
        *negated = TD_E1(out, negative, *negated);
    return td_emit(out, OP_fma, x);
}

td_status
td_fn_contract(td_fn *f)
{
    plan p = {.f = f};
    td_fn out = *f;
    td_val *at = td_alloc_big(f->mem, (f->n + 1) * sizeof *at);

    if (f->st)
        return f->st;
    p.uses = td_alloc_big(f->mem, (f->n + 1) * sizeof *p.uses);
    p.how = td_alloc_big(f->mem, f->n + 1);
    if (!at || !p.uses || !p.how)
        return f->st = td_fail(TD_ERR_NOMEM, "kernel %s: %u instructions", f->name, f->n);
    for (uint32_t i = 0; i < f->n; i++)
        for (int a = 0; a < TD_MAXARG; a++)
            if (f->ins[i].arg[a].i < i)
                p.uses[f->ins[i].arg[a].i]++;
    for (uint32_t i = 0; i < f->n; i++)
        decide(&p, i);
    out.ins = NULL;
    out.n = out.cap = 0;
    for (uint32_t i = 0; i < f->n; i++) {
        td_inst s = f->ins[i];

        out.line = s.line;
        out.from = s.from;
        if (s.op == OP_multiply && p.how[i] == TAKEN_IN)
            continue;
        if (s.op != OP_multiply && p.how[i] != PLAIN) {
            at[i] = fuse(&p, &out, at, &s, p.how[i] == RIGHT);
            continue;
        }
        for (int a = 0; a < TD_MAXARG; a++)
            s.arg[a] = s.arg[a].i < i ? at[s.arg[a].i] : s.arg[a];
        at[i] = td_push(&out, s);
    }
    out.line = f->line;
    out.from = f->from;
    out.note = NULL;
    for (const td_note *n = f->note; n; n = n->next)
        td_fn_note(&out, at[n->v.i], n->text, n->size);
    *f = out;
    return f->st;
}
