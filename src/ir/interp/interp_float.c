/* interp_float.c - finds where NaN and infinity arise from finite numbers.
 *
 * An instruction with finite operands and a result that is not is recorded in the thread's `over` for the result's
 * word, and passed on with the value.  It is reported when the value is stored: a function may compute a NaN on its
 * way and select another value in the end.
 */
#include "ir/interp/interp_check.h"

#include <math.h>
#include <stdio.h>

static bool
is_float(td_dtype dt)
{
    return dt == TD_F32 || dt == TD_F64;
}

static double
as_double(td_dtype dt, td_word w)
{
    return dt == TD_F32 ? (double)w.f : w.d;
}

/* Does the instruction have an infinite value at a pole, as a quotient has, and not by its size alone? */
static bool
has_pole(unsigned op)
{
    switch (op) {
    case OP_divide:
    case OP_floor_divide:
    case OP_reciprocal:
    case OP_power:
    case OP_log:
    case OP_log2:
    case OP_log10:
    case OP_log1p:
    case OP_arctanh:
    case OP_tan:
    case OP_lgamma:       return true;
    }
    return false;
}

static int
kind_of_value(unsigned op, double x)
{
    return isnan(x) ? TD_FLOAT_INVALID : has_pole(op) ? TD_FLOAT_DIVIDE : TD_FLOAT_OVER;
}

void
td_shadow_float_prepare(td_prog *p)
{
    for (uint32_t k = 0; k + 1 < p->ncode; k++) {
        td_code *c = &p->code[k];

        if ((c->kind == CODE_RUN || c->kind == CODE_COPY) &&
            is_float((td_dtype)p->fn->ins[c->at].dt))
            c->kind = CODE_FLOAT;
    }
}

/* The instruction that made the value of lane l NaN or infinite; 0: it was loaded so, or is finite. */
static uint32_t
origin(const td_engine *e, const td_runner *t, const td_code *c, const td_word *in, uint32_t l)
{
    const td_inst *s = &e->p->fn->ins[c->at];
    uint32_t from[3] = {c->a, c->b, c->c};

    for (int k = 0; k < 3; k++) {
        td_val arg = s->arg[k];

        if (arg.i >= e->p->fn->n || !is_float((td_dtype)e->p->fn->ins[arg.i].dt) ||
            from[k] == UINT32_MAX)
            continue;
        if (!isfinite(as_double((td_dtype)e->p->fn->ins[arg.i].dt, in[k])))
            return t->over[from[k] + l];
    }
    return c->kind == CODE_FLOAT && c->run ? c->at + 1 : 0;
}

void
td_shadow_float(const td_engine *e, td_runner *t, const td_code *c)
{
    td_dtype dt = (td_dtype)e->p->fn->ins[c->at].dt;
    td_word *v = t->val;

    for (uint32_t l = 0; l < c->lanes; l++) {
        td_word in[3] = {v[c->a + l], c->b == UINT32_MAX ? v[c->a + l] : v[c->b + l],
                         c->c == UINT32_MAX ? v[c->a + l] : v[c->c + l]},
                out = in[0];
        uint32_t from = 0;

        if (c->run)
            c->run(&out, &in[0], &in[1], &in[2], 1);
        if (!c->run)
            from = t->over[c->a + l];
        else if (!isfinite(as_double(dt, out)))
            from = origin(e, t, c, in, l);
        v[c->out + l] = out;
        t->over[c->out + l] = from;
    }
}

td_status
td_shadow_float_stored(const td_engine *e, const td_runner *t, const td_code *c, uint32_t lane)
{
    const td_check *check = e->check;
    uint32_t from = t->over[c->c + lane];
    double x = as_double(c->dt, t->val[c->c + lane]);
    const td_inst *s;
    char text[512];

    if (!is_float(c->dt) || !from || isfinite(x))
        return TD_OK;
    s = &e->p->fn->ins[from - 1];
    if (!(check->floats & kind_of_value(s->op, x)))
        return TD_OK;
    td_engine_place(e, t, from - 1, td_optab[s->op].name, text, sizeof text);
    return check->found(check->ctx, kind_of_value(s->op, x), text);
}
