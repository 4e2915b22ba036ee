/* nexthalf.c - the neighbours of half types' numbers.
 *
 * The compiler computes half types as float32, whose neighbours are others. Here they are made by arithmetic on float32,
 * which is exact: a step of one unit in the last place of the half type.
 */
#include "array/graph/internal.h"

#include <string.h>

/* The values on the way, which end together. */
typedef struct steps {
    td_array made[32];
    int n;
    td_status st;
} steps;

static td_operand
number(double f)
{
    return (td_operand){.scalar = {.dt = TD_F64, .f = {f}}, .weak = 'f'};
}

static td_operand
kept(steps *s, td_status st)
{
    s->st = st;
    return (td_operand){.array = &s->made[st ? s->n : s->n++]};
}

static td_operand
three(steps *s, td_op op, td_operand x, td_operand y, td_operand z)
{
    td_operand o[3] = {x, y, z};

    return s->st ? x : kept(s, td_array_apply(op, o, td_optab[op].arity, &s->made[s->n]));
}

static td_operand
two(steps *s, td_op op, td_operand x, td_operand y)
{
    return three(s, op, x, y, x);
}

static td_operand
one(steps *s, td_op op, td_operand x)
{
    return three(s, op, x, x, x);
}

/* The operand as float32, on d. */
static td_operand
widened(steps *s, const td_operand *x, td_dev *d)
{
    static const td_shape none = {0};

    if (s->st)
        return *x;
    return kept(s, x->array ? td_array_cast(x->array, TD_F32, &s->made[s->n])
                            : td_array_full(d, TD_F32, &none, x->scalar, &s->made[s->n]));
}

/* v's unit in the last place, towards w where `up` says upwards. */
static td_operand
unit(steps *s, td_operand v, td_operand up, td_dtype dt)
{
    int digits = dt == TD_F16 ? 11 : 8, lowest = dt == TD_F16 ? -24 : -133;
    td_operand positive = two(s, OP_greater, v, number(0)), away = two(s, OP_equal, positive, up);
    td_operand power = two(s, OP_equal, one(s, OP_absolute, one(s, OP_mantissa, v)), number(0.5));
    td_operand e = one(s, OP_exponent, v), finer = two(s, OP_greater, power, away);

    e = three(s, OP_select, finer, two(s, OP_subtract, e, number(1)), e);
    e = two(s, OP_maximum, two(s, OP_subtract, e, number(digits)), number(lowest));
    e = three(s, OP_select, two(s, OP_equal, v, number(0)), number(lowest), e);
    return two(s, OP_scale, three(s, OP_select, up, number(1), number(-1)), e);
}

static td_status
next_half(const td_operand *x, td_dtype dt, td_dev *d, td_array *out)
{
    double most = dt == TD_F16 ? 65504 : 0x1.fep127;
    steps s = {.n = 0};
    td_operand v = widened(&s, &x[0], d), w = widened(&s, &x[1], d), r;
    td_operand up = two(&s, OP_greater, w, v);

    r = two(&s, OP_add, v, unit(&s, v, up, dt));
    r = three(&s, OP_select, one(&s, OP_isinf, v), number(most), r);
    r = three(&s, OP_select, two(&s, OP_equal, v, number(0)), r, two(&s, OP_copysign, r, v));
    r = three(&s, OP_select, two(&s, OP_equal, v, w), w, r);
    r = three(&s, OP_select, two(&s, OP_equal, w, w), r, w); /* not a number */
    if (!s.st)
        s.st = td_array_cast(r.array, dt, out);
    while (s.n)
        td_array_unref(&s.made[--s.n]);
    return s.st;
}

td_status
td_array_ufunc(td_op op, const td_operand *x, int n, td_array *out)
{
    td_dtype dt;

    if (op != OP_nextafter)
        return td_array_apply(op, x, n, out);
    TD_TRY(td_op_dtype(op, x, 0, n, &dt));
    return td_dtype_is_half(dt) ? next_half(x, dt, td_array_dev(x[x[0].array ? 0 : 1].array), out)
                                : td_array_apply(op, x, n, out);
}
