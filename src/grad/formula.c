/* formula.c - see formula.h. */
#include "grad/formula.h"

#include "array/graph/reduce.h"

#include <complex.h>
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER = TD_FORMULA_NAMES, CALL, REDUCE, CONJ };

/* ---- reading ---- */

typedef struct reader {
    const char *at;
    td_formula *f;
} reader;

static void expression(reader *r);

static void
space(reader *r)
{
    while (*r->at == ' ')
        r->at++;
}

/* Is `text` next?  Then it is passed. */
static bool
next(reader *r, const char *text)
{
    size_t n = strlen(text);

    space(r);
    if (strncmp(r->at, text, n) != 0)
        return false;
    r->at += n;
    return true;
}

static struct td_formula_step *
step(reader *r, int what)
{
    TD_ASSERT(r->f->n < TD_FORMULA_CODE);
    r->f->step[r->f->n] = (struct td_formula_step){.what = (uint8_t)what};
    return &r->f->step[r->f->n++];
}

static void
call(reader *r, td_op op)
{
    step(r, CALL)->op = (uint16_t)op;
}

static void
named(reader *r)
{
    static const char letters[] = "xyzrg";
    char name[24];
    size_t n = 0;
    td_op op;

    while (isalnum((unsigned char)r->at[n]) || r->at[n] == '_')
        n++;
    TD_ASSERT(n && n < sizeof name);
    memcpy(name, r->at, n);
    name[n] = 0;
    r->at += n;
    if (n == 1 && strchr(letters, name[0])) {
        int k = (int)(strchr(letters, name[0]) - letters);

        step(r, k);
        r->f->uses |= (uint8_t)(1u << k);
        return;
    }
    TD_ASSERT(next(r, "("));
    do
        expression(r);
    while (next(r, ","));
    TD_ASSERT(next(r, ")"));
    if (strcmp(name, "conj") == 0) {
        step(r, CONJ);
        return;
    }
    for (int i = 0; i < TD_RED_COUNT; i++)
        if (strcmp(td_redtab[i].name, name) == 0) {
            step(r, REDUCE)->op = (uint16_t)i;
            return;
        }
    TD_ASSERT(td_op_find(name, &op) == TD_OK && op < TD_OPS);
    call(r, op);
}

static void
atom(reader *r)
{
    space(r);
    if (isdigit((unsigned char)*r->at)) {
        struct td_formula_step *s = step(r, NUMBER);
        char *end;

        s->number = strtod(r->at, &end);
        s->imaginary = *end == 'j';
        r->at = end + s->imaginary;
    } else if (next(r, "(")) {
        expression(r);
        TD_ASSERT(next(r, ")"));
    } else {
        named(r);
    }
}

static void
factor(reader *r)
{
    if (next(r, "-")) {
        space(r);
        factor(r);
        if (r->f->step[r->f->n - 1].what == NUMBER)
            r->f->step[r->f->n - 1].number *= -1;
        else
            call(r, OP_negative);
        return;
    }
    atom(r);
    if (next(r, "**")) {
        factor(r);
        call(r, OP_power);
    }
}

static void
formula_product(reader *r)
{
    factor(r);
    for (;;) {
        bool times = next(r, "*");

        if (!times && !next(r, "/"))
            return;
        factor(r);
        call(r, times ? OP_multiply : OP_divide);
    }
}

static void
sum(reader *r)
{
    formula_product(r);
    for (;;) {
        bool plus = next(r, "+");

        if (!plus && !next(r, "-"))
            return;
        formula_product(r);
        call(r, plus ? OP_add : OP_subtract);
    }
}

static void
expression(reader *r)
{
    static const struct {
        const char *sign;
        td_op op;
    } compare[] = {{"<=", OP_less_equal},
                   {">=", OP_greater_equal},
                   {"==", OP_equal},
                   {"<", OP_less},
                   {">", OP_greater}};

    sum(r);
    for (size_t i = 0; i < sizeof compare / sizeof *compare; i++)
        if (next(r, compare[i].sign)) {
            sum(r);
            call(r, compare[i].op);
            return;
        }
}

/* A column's formulas: text is ours, so what cannot be read is a bug. */
static void
read_column(const char *text, td_formula *f, int n)
{
    reader r = {.at = text};

    for (int i = 0; i < n; i++) {
        r.f = &f[i];
        space(&r);
        if (*r.at && *r.at != '|')
            expression(&r);
        space(&r);
        f[i].kind = !f[i].n                                      ? TD_FORMULA_NONE
                    : f[i].n == 1 && f[i].step[0].what == NUMBER ? TD_FORMULA_ZERO
                                                                 : TD_FORMULA_CODED;
        if (*r.at == '|')
            r.at++;
    }
    TD_ASSERT(!*r.at);
}

const td_formula *
td_formula_of(td_op op)
{
    static td_formula table[TD_OPS][TD_MAXSRC];
    static bool known[TD_OPS];

    if (!known[op]) {
        read_column(td_optab[op].derivative, table[op], td_optab[op].arity);
        known[op] = true;
    }
    return table[op];
}

const td_formula *
td_formula_of_red(td_red red)
{
    static td_formula table[TD_RED_COUNT];
    static bool known[TD_RED_COUNT];

    if (!known[red]) {
        read_column(td_redtab[red].derivative, &table[red], 1);
        known[red] = true;
    }
    return &table[red];
}

/* ---- running ---- */

static void
drop(td_varop *x, int n)
{
    for (int i = 0; i < n; i++)
        td_var_unref(x[i].v);
}

static double complex
value_of(const td_varop *x)
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
    case OP_divide:        return a / b;
    case OP_power:
    case OP_pow:           return cimag(a) == 0 && cimag(b) == 0 ? pow(creal(a), creal(b)) : cpow(a, b);
    case OP_negative:      return -a;
    case OP_log:           return clog(a);
    case OP_less:          return creal(a) < creal(b);
    case OP_less_equal:    return creal(a) <= creal(b);
    case OP_greater:       return creal(a) > creal(b);
    case OP_greater_equal: return creal(a) >= creal(b);
    case OP_equal:         return a == b;
    default:               td_bug(__FILE__, __LINE__, td_optab[op].name);
    }
}

/* Numbers alone, and what a number makes trivial: 1 where it was done. */
static bool
folded(td_op op, td_varop *x, int n)
{
    bool numbers = true;

    for (int i = 0; i < n; i++)
        numbers &= !x[i].v;
    if (op == OP_select && !x[0].v) {
        int keep = value_of(&x[0]) != 0 ? 1 : 2;

        td_var_unref(x[3 - keep].v);
        x[0] = x[keep];
        return true;
    }
    if (numbers) {
        x[0] = formula_number(arithmetic(op, value_of(&x[0]), n > 1 ? value_of(&x[1]) : 0));
        return true;
    }
    if (n == 2 && !x[1].v && (op == OP_power || op == OP_multiply || op == OP_divide))
        return value_of(&x[1]) == 1;
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
            *x = formula_number(conj(value_of(x)));
            return TD_OK;
        }
        if (!td_dtype_is_complex(td_array_dtype(&x->v->value)))
            return TD_OK;
    } else if (s->what == CALL && folded(s->op, x, n)) {
        *depth -= n - 1;
        return TD_OK;
    }
    TD_TRY(call_step(s, x, n, axes, &r.v));
    drop(x, n);
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
            drop(stack, depth);
            return st;
        }
    }
    TD_ASSERT(depth == 1);
    *out = stack[0];
    return TD_OK;
}
