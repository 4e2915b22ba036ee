/* steps.c - rows of ops.def as lists of the interpreter's functions. */
#include "array/now/steps.h"

#include "base/arena.h"
#include "ir/core/complex.h"
#include "ir/interp/interp_code.h"

#include <stdlib.h>

/* The steps made so far; `none` marks rows without steps. */
static td_steps *ops[TD_OPS][TD_DTYPE_COUNT], *casts[TD_DTYPE_COUNT][TD_DTYPE_COUNT];
static td_steps none;

static struct {
    td_ufunc_loop *loop;
    void *data;
} loops[TD_OPS][TD_DTYPE_COUNT];

/* ---- from IR ---- */

/* making - f's instructions being turned into steps; place[i]: the register of value i. */
typedef struct making {
    const td_fn *f;
    td_steps *p;
    uint8_t place[TD_STEPS_REGS];
    bool ok;
} making;

static uint8_t
new_register(making *m)
{
    return m->p->nreg++;
}

static void
add_constant(making *m, uint32_t i)
{
    td_steps_const *c = &m->p->constant[m->p->nconst];

    m->ok = m->ok && m->p->nconst < TD_STEPS_CONSTS;
    if (!m->ok)
        return;
    m->p->nconst++;
    c->reg = m->place[i] = new_register(m);
    c->word = td_interp_constant(&m->f->ins[i]);
}

static void
add_step(making *m, uint32_t i)
{
    const td_inst *s = &m->f->ins[i];
    int arity = td_optab[s->op].arity;
    td_dtype dt = (td_dtype)td_at(m->f, s->arg[arity - 1])->dt;
    td_step_of *t = &m->p->step[m->p->nstep];

    m->ok = m->ok && m->p->nstep < TD_STEPS_MAX;
    if (!m->ok)
        return;
    m->p->nstep++;
    for (int k = 0; k < 3; k++) /* missing operands are read but not used */
        t->arg[k] = m->place[s->arg[k < arity ? k : 0].i];
    t->out = m->place[i] = new_register(m);
    t->bits = TD_DTYPE_COUNT;
    if (s->op == OP_bitcast)
        t->bits = (uint8_t)s->dt;
    else
        t->fn = s->op == OP_cast ? td_interp_cast(dt, (td_dtype)s->dt)
                                 : td_interp_elt((td_op)s->op, dt);
    m->ok = t->fn || s->op == OP_bitcast;
}

static td_steps *
make(const td_fn *f, const td_val *out, int n)
{
    making m = {.f = f, .p = calloc(1, sizeof *m.p), .ok = !f->st && f->n <= TD_STEPS_REGS};

    for (uint32_t i = 0; m.p && m.ok && i < f->n; i++) {
        const td_inst *s = &f->ins[i];

        if (s->op == OP_param)
            m.place[i] = new_register(&m);
        else if (s->op == OP_const)
            add_constant(&m, i);
        else if (s->op < TD_OPS || s->op == OP_cast || s->op == OP_bitcast)
            add_step(&m, i);
        else
            m.ok = false;
    }
    if (!m.p || !m.ok) {
        free(m.p);
        return NULL;
    }
    m.p->nparam = (uint8_t)f->nparam;
    m.p->nout = (uint8_t)n;
    for (int k = 0; k < n; k++)
        m.p->out[k] = m.place[out[k].i];
    return m.p;
}

const td_steps *
td_steps_make(const td_fn *f, const td_val *out, int n)
{
    return make(f, out, n);
}

static td_steps *
of_number(const td_fn *f, td_num r)
{
    return make(f, (td_val[]){r.re, r.im}, td_num_is_pair(r) ? 2 : 1);
}

/* Half types compute in float32, and every result is rounded, as in kernels. */
static td_num
widened(td_fn *f, td_num x)
{
    td_dtype dt = f->st ? TD_F32 : (td_dtype)td_at(f, x.re)->dt;

    return td_dtype_is_half(dt) ? td_num_cast(f, x, TD_F32) : x;
}

static td_steps *
make_op(td_op op, td_dtype dt)
{
    td_arena mem = {0};
    td_fn f = td_fn_new(&mem, "now");
    td_num x[3], r;
    td_steps *p;

    /* operands come first, since they have the first registers */
    for (int i = 0; i < td_optab[op].arity; i++)
        x[i] = td_num_param(&f, op == OP_select && i == 0 ? TD_BOOL : dt);
    for (int i = 0; i < td_optab[op].arity; i++)
        x[i] = widened(&f, x[i]);
    r = td_num_emit(&f, op, x);
    r = td_num_cast(&f, r, td_op_result(op, dt));
    p = of_number(&f, r);
    td_arena_free(&mem);
    if (!p)
        return &none;
    p->loop = loops[op][dt].loop;
    p->data = loops[op][dt].data;
    return p;
}

void
td_steps_loop(td_op op, td_dtype dt, td_ufunc_loop *loop, void *data)
{
    td_steps *made = ops[op][dt];

    loops[op][dt].loop = loop;
    loops[op][dt].data = data;
    if (made && made != &none) {
        made->data = data;
        made->loop = loop;
    }
}

static td_steps *
make_cast(td_dtype from, td_dtype to)
{
    td_arena mem = {0};
    td_fn f = td_fn_new(&mem, "now");
    td_num r = td_num_cast(&f, td_num_param(&f, from), to);
    td_steps *p = of_number(&f, r);

    td_arena_free(&mem);
    return p ? p : &none;
}

const td_steps *
td_steps_op(td_op op, td_dtype dt)
{
    if (!ops[op][dt])
        ops[op][dt] = make_op(op, dt);
    return ops[op][dt] == &none ? NULL : ops[op][dt];
}

const td_steps *
td_steps_cast(td_dtype from, td_dtype to)
{
    if (!casts[from][to])
        casts[from][to] = make_cast(from, to);
    return casts[from][to] == &none ? NULL : casts[from][to];
}

int
td_steps_count(const td_steps *p)
{
    return p->nstep && !p->loop ? p->nstep : 1;
}
