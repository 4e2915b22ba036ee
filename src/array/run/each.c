/* each.c - one elementwise function over many rows of arrays. */
#include "array/run/each.h"

#include "array/form/map.h"
#include "array/graph/capture.h"
#include "array/graph/internal.h"
#include "array/run/eval.h"
#include "array/run/fperror.h"
#include "array/run/spill.h"

#include <stdlib.h>
#include <string.h>

/* Holds no nodes and no buffers: let_go takes them out of the plan. */
struct td_eachfn {
    int nin, nnum;
    uint8_t dt[TD_EACH_ARRAYS], num_dt[TD_EACH_NUMBERS];
    bool written[TD_EACH_ARRAYS],
        shared[TD_EACH_ARRAYS];   /* shared: an array of no axes, one value for all elements */
    uint8_t input[TD_PLAN_OPNDS]; /* for each operand the number of its array */
    int16_t
        number[TD_PLAN_SCALARS]; /* for each scalar the number of its argument; -1: a constant */
    td_plan plan;                /* collapsed, of one dim */
};

/* ---- making ---- */

/* Can one kernel compute all results? */
static bool
elementwise(const td_plan *p)
{
    for (uint16_t i = 0; i < p->nstep; i++)
        switch (p->step[i].kind) {
        case TD_N_LEAF:
        case TD_N_SCALAR:
        case TD_N_OP:
        case TD_N_CAST:   break;
        default:          return false;
        }
    return true;
}

static bool
name_operands(td_eachfn *e, const td_array *in)
{
    const td_plan *p = &e->plan;

    for (uint16_t k = 0; k < p->nopnd; k++) {
        int i = 0;

        while (i < e->nin && in[i].store->node->buf != p->opnd[k].buf)
            i++;
        if (i == e->nin)
            return false;
        e->input[k] = (uint8_t)i;
    }
    return true;
}

static void
name_numbers(td_eachfn *e, const td_array *num)
{
    const td_plan *p = &e->plan;

    for (uint16_t i = 0; i < p->nscalar; i++)
        e->number[i] = -1;
    for (uint16_t i = 0; i < p->nstep; i++)
        for (int k = 0; k < e->nnum && p->step[i].kind == TD_N_SCALAR; k++)
            if (p->seen[i] == num[k].store->node)
                e->number[p->step[i].scalar] = (int16_t)k;
}

static td_status
each_fill(td_eachfn *e, const td_array *in, const td_array *num, const td_array *out, const int *to,
          int nout)
{
    td_plan *p = &e->plan;

    for (int k = 0; k < nout; k++) {
        td_node *n = out[k].store->node;
        uint16_t step;
        td_status st = TD_SKIP;

        if (out[k].whole && td_array_dtype(&out[k]) == td_array_dtype(&in[to[k]]) &&
            td_shape_eq(&n->view.shape, &p->shape))
            st = td_plan_add(p, n, &step);
        if (!st)
            st =
                td_plan_store(p, step, (td_dtype)n->dt, in[to[k]].store->node->buf, &n->view, NULL);
        if (st)
            return st == TD_SKIP ? td_fail(TD_ERR_VALUE, "each: result %d does not fit", k) : st;
        e->written[to[k]] = true;
    }
    if (!elementwise(p) || !name_operands(e, in))
        return td_fail(TD_ERR_VALUE, "each: the function is not elementwise");
    name_numbers(e, num);
    td_plan_collapse(p, 0, false);
    return p->nd == 1 ? TD_OK : td_fail(TD_ERR_VALUE, "each: the placeholders have %d axes", p->nd);
}

/* Drops the plan's nodes and buffers.  Its steps and operands stay. */
static void
let_go(td_plan *p)
{
    uint16_t nstep = p->nstep, nopnd = p->nopnd;

    td_plan_end(p);
    memset(p->seen, 0, sizeof p->seen);
    for (uint16_t k = 0; k < nopnd; k++) {
        p->opnd[k].buf = NULL;
        p->opnd[k].node = NULL;
    }
    p->nstep = nstep;
    p->nopnd = nopnd;
}

td_status
td_each_new(const td_array *in, int nin, const td_array *num, int nnum, const td_array *out,
            const int *to, int nout, td_eachfn **result)
{
    td_need need;
    td_status st;
    td_eachfn *e;

    if (nin < 1 || nin > TD_EACH_ARRAYS || nnum > TD_EACH_NUMBERS)
        return td_fail(TD_ERR_VALUE, "each: %d arrays and %d numbers; at most %d and %d are taken",
                       nin, nnum, TD_EACH_ARRAYS, TD_EACH_NUMBERS);
    e = calloc(1, sizeof *e);
    if (!e)
        return td_fail(TD_ERR_NOMEM, "each: %zu bytes", sizeof *e);
    e->nin = nin;
    e->nnum = nnum;
    for (int i = 0; i < nin; i++) {
        e->dt[i] = in[i].dt;
        e->shared[i] = in[i].view.shape.ndim == 0;
    }
    for (int k = 0; k < nnum; k++)
        e->num_dt[k] = num[k].dt;
    td_need_begin(&need);
    td_plan_begin(&e->plan, td_array_dev(&in[0]), &in[0].view.shape);
    st = each_fill(e, in, num, out, to, nout);
    let_go(&e->plan);
    td_need_end(&need);
    if (st)
        td_each_free(e);
    else
        *result = e;
    return st;
}

void
td_each_free(td_eachfn *e)
{
    free(e);
}

int
td_each_inputs(const td_eachfn *e)
{
    return e->nin;
}

int
td_each_numbers(const td_eachfn *e)
{
    return e->nnum;
}

/* ---- running ---- */

/* Is n in memory, or computed by a kernel that could not take in the function's work anyway? */
static bool
settles(const td_node *n)
{
    return !td_node_pending(n) || n->kind == TD_N_REDUCE || td_node_spilled(n);
}

bool
td_each_fits(const td_eachfn *e, const td_array *const *row)
{
    if (td_fp_asked())
        return false;
    for (int i = 0; i < e->nin; i++) {
        const td_array *a = row[i];

        if (a->dt != e->dt[i] || !a->whole || td_array_dev(a) != e->plan.dev ||
            a->store->node->hosted || (e->written[i] && a->store->readonly))
            return false;
        if (e->shared[i] ? td_array_size(a) != 1
                         : !settles(a->store->node) || !td_view_eq(&a->view, &row[0]->view))
            return false;
        for (int k = 0; k < i; k++)
            if ((e->written[i] || e->written[k]) && row[k]->store == a->store)
                return false;
    }
    return true;
}

/* Enters the row's memory into the plan.  What will be written belongs to this row alone from here on. */
static td_status
each_take(const td_eachfn *e, const td_array *const *row, td_plan *p)
{
    td_buf *buf[TD_EACH_ARRAYS] = {NULL};

    for (int i = 0; i < e->nin; i++)
        TD_TRY(td_array_use(row[i], e->written[i], &buf[i]));
    for (uint16_t k = 0; k < p->nopnd; k++)
        p->opnd[k].ptr = buf[e->input[k]]->ptr;
    p->total = p->dim[0] = td_array_size(row[0]);
    return TD_OK;
}

/* Launches the kernel for one row.  Other threads that read what it writes wait. */
static td_status
run_row(const td_eachfn *e, const td_array *const *row, td_plan *p)
{
    td_writing w[TD_EACH_ARRAYS];
    int n = 0;
    td_status st;

    TD_TRY(each_take(e, row, p));
    for (int i = 0; i < e->nin; i++)
        if (e->written[i])
            td_writing_begin(&w[n++], row[i]->store);
    st = td_map_launch(p);
    while (n)
        td_writing_end(&w[--n]);
    return st;
}

td_status
td_each_run(const td_eachfn *e, const td_array *const *row, int nrow, const double *num)
{
    td_plan p = e->plan;
    td_status st = TD_OK;
    td_buf *buf;
    td_hold h;

    p.stream = td_dev_stream(p.dev);
    for (uint16_t i = 0; i < p.nscalar; i++) {
        uint64_t bits[2];

        if (e->number[i] < 0)
            continue;
        td_scalar_bits((td_scalar){.dt = TD_F64, .f = {num[e->number[i]]}},
                       (td_dtype)e->num_dt[e->number[i]], bits);
        p.scalar[i] = bits[0];
    }
    td_hold_begin(&h);
    for (int i = 0; i < nrow * e->nin && !st;
         i++) /* evaluates all rows first, so that launches follow each other without a wait */
        st = td_array_use(row[i], false, &buf);
    for (int i = 0; i < nrow && !st; i++)
        st = run_row(e, row + i * e->nin, &p);
    td_hold_end(&h);
    return st;
}
