/* chunkjob.c - reductions over the rows of chunks: what a chunk contributes, how two
 * contributions merge, how they become the result.
 *
 * Sums of floats are kept in float64, as within one kernel.  A variance is kept as mean and sum
 * of squared deviations, which merge without loss (Chan, Golub, LeVeque: Updating formulae,
 * 1979).
 */
#include "array/graph/reduce.h"
#include "array/outofcore/chunk.h"

#include <math.h>

/* ---- a builder of expressions: the first failure stays, later calls do nothing ---- */

typedef struct expr {
    td_array tmp[24]; /* all temporaries; released at the end */
    int n;
    td_status st;
} expr;

static const td_array *
chunkjob_keep(expr *e, td_array *a, td_status st)
{
    e->st = st;
    if (st)
        return NULL;
    e->tmp[e->n++] = *a;
    return &e->tmp[e->n - 1];
}

static const td_array *
expr_apply(expr *e, td_op op, td_operand x, td_operand y)
{
    td_array r;

    if (e->st)
        return NULL;
    return chunkjob_keep(e, &r, td_array_apply(op, (td_operand[]){x, y}, 2, &r));
}

static td_operand
array_operand(const td_array *a)
{
    return (td_operand){.array = a};
}

/* A Python number of the expression's dtype. */
static td_operand
chunkjob_number(double v)
{
    return (td_operand){.scalar = {.dt = TD_F64, .f = {v}}, .weak = 'f'};
}

static td_operand
integer_operand(int64_t v)
{
    return (td_operand){.scalar = {.dt = TD_I64, .i = v}, .weak = 'i'};
}

static const td_array *
expr_cast(expr *e, const td_array *a, td_dtype dt)
{
    td_array r;

    if (e->st)
        return NULL;
    return chunkjob_keep(e, &r, td_array_cast(a, dt, &r));
}

/* Ends the expression: the caller owns the value of `a`, the rest is released. */
static td_status
expr_end(expr *e, int n, const td_array *const *a, td_array *out)
{
    for (int i = 0; i < n && !e->st; i++)
        out[i] = td_array_ref(a[i]);
    for (int i = 0; i < e->n; i++)
        td_array_unref(&e->tmp[i]);
    return e->st;
}

/* ---- what a chunk gives ---- */

static td_status
reduced(const td_job *j, td_red red, const td_array *x, td_dtype dt, td_array *out)
{
    td_redargs args = {.axes = j->axes, .keepdims = j->keepdims, .dtype = (int)dt};

    return td_array_reduce(red, x, &args, out);
}

static bool
is_arg(td_red red)
{
    return red == TD_RED_argmin || red == TD_RED_argmax;
}

static bool
is_variance(td_red red)
{
    return red == TD_RED_var || red == TD_RED_std;
}

/* The dtype that sums are kept in. */
static td_dtype
sum_dtype(const td_job *j, const td_array *x)
{
    td_dtype dt = is_variance(j->red) || j->red == TD_RED_mean
                      ? td_promote(td_array_dtype(x), TD_F64)
                      : j->dt;

    if (td_dtype_is_complex(j->dt) || td_dtype_is_complex(dt))
        return TD_C128;
    return td_dtype_is_float(dt) ? TD_F64 : dt;
}

/* The sums of the chunk's rows, computed once for all jobs. */
static td_status
summed(const td_job *j, const td_array *x, td_array *out)
{
    td_sums *s = j->sums;
    const td_node *of = x->store->node;
    td_dtype dt = sum_dtype(j, x);

    for (int i = 0; i < s->n; i++)
        if (s->at[i].of == of && s->at[i].axes == j->axes && s->at[i].keepdims == j->keepdims &&
            s->at[i].dt == dt) {
            *out = td_array_ref(&s->at[i].sum);
            return TD_OK;
        }
    TD_TRY(reduced(j, TD_RED_sum, x, dt, out));
    if (s->n < (int)(sizeof s->at / sizeof *s->at)) {
        s->at[s->n].of = of;
        s->at[s->n].axes = j->axes;
        s->at[s->n].keepdims = j->keepdims;
        s->at[s->n].dt = dt;
        s->at[s->n++].sum = td_array_ref(out);
    }
    return TD_OK;
}

static td_status
piece(const td_job *j, const td_array *x, td_array *out)
{
    td_red red = j->red;
    double rows = (double)(j->hi - j->lo) * (double)j->inner;
    expr e = {.n = 0};
    const td_array *r[2] = {NULL};

    switch (red) {
    case TD_RED_sum:
    case TD_RED_mean: return summed(j, x, &out[0]);
    case TD_RED_prod: return reduced(j, red, x, j->dt, &out[0]);
    case TD_RED_var:
    case TD_RED_std:
        r[0] = chunkjob_keep(&e, &out[0], summed(j, x, &out[0]));
        r[0] = expr_apply(&e, OP_divide, array_operand(r[0]), chunkjob_number(rows));
        if (!e.st)
            r[1] = chunkjob_keep(&e, &out[1], reduced(j, TD_RED_var, x, TD_F64, &out[1]));
        r[1] = expr_apply(&e, OP_multiply, array_operand(r[1]), chunkjob_number(rows));
        return expr_end(&e, 2, r, out);
    case TD_RED_argmin:
    case TD_RED_argmax:
        TD_TRY(reduced(j, red, x, TD_I64, &out[0]));
        return reduced(j, red == TD_RED_argmin ? TD_RED_min : TD_RED_max, x, td_array_dtype(x),
                       &out[1]);
    default:
        return td_array_reduce(
            red, x, &(td_redargs){.axes = j->axes, .keepdims = j->keepdims, .dtype = -1}, &out[0]);
    }
}

/* ---- two of them ---- */

/* An index in a chunk, where all axes are reduced, counts elements of the chunk; this turns it
 * into one of the whole. */
static const td_array *
chunkjob_place(expr *e, const td_job *j, const td_array *at)
{
    const td_shape *s = &j->top[0]->view.shape;
    int64_t behind = 1, own = j->hi - j->lo;
    const td_array *before, *rest;

    if (j->axes == 1u << j->axis[0])
        return expr_apply(e, OP_add, array_operand(at), integer_operand(j->lo));
    for (int k = j->axis[0] + 1; k < s->ndim; k++)
        behind *= s->dim[k];
    before = expr_apply(e, OP_floor_divide, array_operand(at), integer_operand(own * behind));
    rest = expr_apply(e, OP_remainder, array_operand(at), integer_operand(own * behind));
    before = expr_apply(e, OP_multiply, array_operand(before),
                        integer_operand(s->dim[j->axis[0]] * behind));
    rest = expr_apply(e, OP_add, array_operand(rest), integer_operand(j->lo * behind));
    return expr_apply(e, OP_add, array_operand(before), array_operand(rest));
}

/* NaN beats everything, then the value decides, then the smaller index. */
static td_status
merge_places(const td_job *j, const td_array *p, bool first, td_array *out)
{
    bool least = j->red == TD_RED_argmin;
    expr e = {.n = 0};
    const td_array *at = chunkjob_place(&e, j, &p[0]), *better, *tie, *nan[2], *take,
                   *r[2] = {at, &p[1]};
    td_array both;

    if (first || e.st)
        return expr_end(&e, 2, r, out);
    better = expr_apply(&e, least ? OP_less : OP_greater, array_operand(&p[1]),
                        array_operand(&j->acc[1]));
    tie = expr_apply(&e, OP_equal, array_operand(&p[1]), array_operand(&j->acc[1]));
    for (int i = 0; i < 2; i++) /* true for NaN */
        nan[i] = expr_apply(&e, OP_not_equal, array_operand(i ? &j->acc[1] : &p[1]),
                            array_operand(i ? &j->acc[1] : &p[1]));
    tie = expr_apply(&e, OP_logical_or, array_operand(tie),
                     array_operand(expr_apply(&e, OP_logical_and, array_operand(nan[0]),
                                              array_operand(nan[1]))));
    tie = expr_apply(
        &e, OP_logical_and, array_operand(tie),
        array_operand(expr_apply(&e, OP_less, array_operand(at), array_operand(&j->acc[0]))));
    better = expr_apply(
        &e, OP_logical_or, array_operand(better),
        array_operand(expr_apply(&e, OP_greater, array_operand(nan[0]), array_operand(nan[1]))));
    take = expr_apply(&e, OP_logical_or, array_operand(better), array_operand(tie));
    for (int i = 0; i < 2 && !e.st; i++)
        r[i] = chunkjob_keep(
            &e, &both,
            td_array_apply(OP_select,
                           (td_operand[]){array_operand(take), array_operand(i ? &p[1] : at),
                                          array_operand(&j->acc[i])},
                           3, &both));
    return expr_end(&e, 2, r, out);
}

/* |d|^2 */
static const td_array *
squared(expr *e, const td_array *d)
{
    td_array r;

    if (!e->st && td_dtype_is_complex(td_array_dtype(d))) {
        const td_array *a = chunkjob_keep(
            e, &r, td_array_apply(OP_absolute, (td_operand[]){array_operand(d)}, 1, &r));

        return expr_apply(e, OP_multiply, array_operand(a), array_operand(a));
    }
    return expr_apply(e, OP_multiply, array_operand(d), array_operand(d));
}

static td_status
merge_variance(const td_job *j, const td_array *p, td_array *out)
{
    double a = (double)j->lo * (double)j->inner, b = (double)(j->hi - j->lo) * (double)j->inner;
    expr e = {.n = 0};
    const td_array *d, *r[2];

    d = expr_apply(&e, OP_subtract, array_operand(&p[0]), array_operand(&j->acc[0]));
    r[0] = expr_apply(
        &e, OP_add, array_operand(&j->acc[0]),
        array_operand(expr_apply(&e, OP_multiply, array_operand(d), chunkjob_number(b / (a + b)))));
    d = expr_apply(&e, OP_multiply, array_operand(squared(&e, d)),
                   chunkjob_number(a * (b / (a + b))));
    r[1] = expr_apply(
        &e, OP_add,
        array_operand(expr_apply(&e, OP_add, array_operand(&j->acc[1]), array_operand(&p[1]))),
        array_operand(d));
    return expr_end(&e, 2, r, out);
}

/* min + 1j max */
static td_status
merge_ends(const td_job *j, const td_array *p, td_array *out)
{
    td_status st = td_array_copy(p, out);

    for (int i = 0; i < 2 && !st; i++) {
        td_array to = td_array_part(out, i), x = td_array_part(p, i),
                 y = td_array_part(&j->acc[0], i), r;

        st = td_array_apply(i ? OP_maximum : OP_minimum,
                            (td_operand[]){array_operand(&x), array_operand(&y)}, 2, &r);
        if (!st) {
            st = td_array_assign(&to, &(td_operand){.array = &r});
            td_array_unref(&r);
        }
        td_array_unref(&to);
        td_array_unref(&x);
        td_array_unref(&y);
    }
    return st;
}

static td_status
job_merge(const td_job *j, const td_array *p, td_array *out)
{
    static const td_op by[TD_RED_COUNT] = {
        [TD_RED_sum] = OP_add,         [TD_RED_mean] = OP_add,
        [TD_RED_prod] = OP_multiply,   [TD_RED_min] = OP_minimum,
        [TD_RED_max] = OP_maximum,     [TD_RED_any] = OP_logical_or,
        [TD_RED_all] = OP_logical_and, [TD_RED_count_nonzero] = OP_add,
    };

    if (is_variance(j->red))
        return merge_variance(j, p, out);
    if (j->red == TD_RED_ends)
        return merge_ends(j, p, out);
    return td_array_apply(by[j->red], (td_operand[]){array_operand(&j->acc[0]), array_operand(p)},
                          2, out);
}

static void
release_acc(td_array *a)
{
    for (int i = 0; i < TD_JOB_ACCS; i++)
        if (a[i].store)
            td_array_unref(&a[i]);
}

static td_status
reduction_step(const td_job *j, const td_array *x, bool first, td_array *next)
{
    td_array p[TD_JOB_ACCS] = {{0}};
    td_status st = piece(j, x, p);

    if (!st && is_arg(j->red))
        st = merge_places(j, p, first, next);
    else if (!st && !first)
        st = job_merge(j, p, next);
    else
        for (int i = 0; i < TD_JOB_ACCS && !st; i++)
            if (p[i].store)
                next[i] = td_array_ref(&p[i]);
    release_acc(p);
    return st;
}

static td_status
job_finish(const td_job *j, td_array *out)
{
    double n = (double)j->rows * (double)j->inner, free = n - j->ddof;
    expr e = {.n = 0};
    const td_array *r = &j->acc[0];
    td_array root = {0};

    if (j->red == TD_RED_mean)
        r = expr_apply(&e, OP_divide, array_operand(r), chunkjob_number(n));
    if (is_variance(j->red))
        r = expr_apply(&e, OP_divide, array_operand(&j->acc[1]),
                       chunkjob_number(free > 0 ? free : 0));
    if (j->red == TD_RED_std && !e.st)
        r = chunkjob_keep(&e, &root,
                          td_array_apply(OP_sqrt, (td_operand[]){array_operand(r)}, 1, &root));
    r = expr_cast(&e, r, j->dt);
    return expr_end(&e, 1, &r, out);
}

const td_jobkind td_job_reduce = {.step = reduction_step, .finish = job_finish},
                 td_job_map = {.rows = NULL};
