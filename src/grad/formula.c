/* formula.c - see formula.h. */
#include "grad/formula.h"

#include "array/graph/reduce.h"

#include <complex.h>
#include <math.h>

enum { NUMBER = TD_FORMULA_NAMES, CALL, REDUCE, CONJ };

#include "op_formulas.h"

const td_formula *
td_formula_of(td_op op)
{
    return of_ops[op];
}

const td_formula *
td_formula_of_red(td_red red)
{
    return &of_reds[red];
}

/* ---- running ---- */

static void
drop_operands(td_varop *x, int n)
{
    for (int i = 0; i < n; i++)
        td_var_unref(x[i].v);
}

static double complex
operand_value(const td_varop *x)
{
    switch (td_dtype_kind(x->scalar.dt)) {
    case 'f': return x->scalar.f[0];
    case 'c': return x->scalar.f[0] + x->scalar.f[1] * I;
    case 'u': return (double)x->scalar.u;
    default:  return (double)x->scalar.i;
    }
}

static td_varop
formula_number(double complex z)
{
    td_varop r = {.scalar = {.dt = TD_F64, .f = {creal(z)}}, .weak = 'f'};

    if (cimag(z) != 0) {
        r.scalar = (td_scalar){.dt = TD_C128, .f = {creal(z), cimag(z)}};
        r.weak = 'c';
    }
    return r;
}

static double complex
arithmetic(td_op op, double complex a, double complex b)
{
    switch (op) {
    case OP_add:           return a + b;
    case OP_subtract:      return a - b;
    case OP_multiply:      return a * b;
    case OP_divide:        return cimag(a) == 0 && cimag(b) == 0 ? creal(a) / creal(b) : a / b;
    case OP_power:
    case OP_pow:           return cimag(a) == 0 && cimag(b) == 0 ? pow(creal(a), creal(b)) : cpow(a, b);
    case OP_negative:      return -a;
    case OP_log:           return clog(a);
    case OP_less:          return creal(a) < creal(b);
    case OP_less_equal:    return creal(a) <= creal(b);
    case OP_greater:       return creal(a) > creal(b);
    case OP_greater_equal: return creal(a) >= creal(b);
    case OP_equal:         return a == b;
    case OP_isnan:         return isnan(creal(a)) || isnan(cimag(a));
    default:               td_bug(__FILE__, __LINE__, td_optab[op].name);
    }
}

/* Computes numbers, and operations that a number makes trivial.  1: done. */
static bool
fold_numbers(td_op op, td_varop *x, int n)
{
    bool numbers = true;

    for (int i = 0; i < n; i++)
        numbers &= !x[i].v;
    if (op == OP_select && !x[0].v) {
        int keep = operand_value(&x[0]) != 0 ? 1 : 2;

        td_var_unref(x[3 - keep].v);
        x[0] = x[keep];
        return true;
    }
    if (numbers && op == OP_log && td_dtype_kind(x[0].scalar.dt) != 'c') {
        x[0] = formula_number(log(creal(operand_value(&x[0])))); /* NaN below 0, as elements' */
        return true;
    }
    if (numbers) {
        x[0] =
            formula_number(arithmetic(op, operand_value(&x[0]), n > 1 ? operand_value(&x[1]) : 0));
        return true;
    }
    if (n == 2 && !x[1].v && (op == OP_power || op == OP_multiply || op == OP_divide))
        return operand_value(&x[1]) == 1;
    return false;
}

static td_status
call_step(const struct td_formula_step *s, td_varop *x, int n, uint32_t axes, td_var **out)
{
    if (s->what == REDUCE)
        return td_var_reduce((td_red)s->op, x->v,
                             &(td_redargs){.axes = axes, .keepdims = true, .dtype = -1}, out);
    return td_var_apply(s->what == CONJ ? OP_conjugate : (td_op)s->op, x, n, out);
}

static td_status
run_step(const struct td_formula_step *s, const td_varop *env, uint32_t axes, td_varop *stack,
         int *depth)
{
    td_varop *x, r = {.v = NULL};
    int n;

    if (s->what <= NUMBER) {
        x = &stack[(*depth)++];
        *x = s->what == NUMBER ? formula_number(s->imaginary ? s->number * I : s->number)
                               : env[s->what];
        if (x->v)
            td_var_ref(x->v);
        return TD_OK;
    }
    n = s->what != CALL ? 1 : td_optab[s->op].arity;
    x = &stack[*depth - n];
    if (s->what == CONJ) {
        if (!x->v) {
            *x = formula_number(conj(operand_value(x)));
            return TD_OK;
        }
        if (!td_dtype_is_complex(td_array_dtype(&x->v->value)))
            return TD_OK;
    } else if (s->what == CALL && fold_numbers(s->op, x, n)) {
        *depth -= n - 1;
        return TD_OK;
    }
    TD_TRY(call_step(s, x, n, axes, &r.v));
    drop_operands(x, n);
    *depth -= n - 1;
    *x = r;
    return TD_OK;
}

td_status
td_formula_run(const td_formula *f, const td_varop env[TD_FORMULA_NAMES], uint32_t axes,
               td_varop *out)
{
    td_varop stack[TD_FORMULA_CODE] = {{.v = NULL}};
    int depth = 0;

    for (int i = 0; i < f->n; i++) {
        td_status st = run_step(&f->step[i], env, axes, stack, &depth);

        if (st) {
            drop_operands(stack, depth);
            return st;
        }
    }
    TD_ASSERT(depth == 1);
    *out = stack[0];
    return TD_OK;
}
