/* eval.c - how a pending value gets its elements: start reading here.
 *
 * The graph only records.  td_eval_node computes: it asks the forms below in their order, and the first that is meant for
 * the value
 *
 *   settles    what a kernel cannot or should not compute inside is evaluated before (run/settle.c);
 *   plans      copies the expression out of the graph: steps, operands, numbers (plan/plan.c);
 *   schedules  fixes the order of dims, lanes, teams, blocks and segments for the device (form/);
 *   compiles   takes the kernel from memory or disk, or has its code generated (plan/gen.c, form/, jit/);
 *   launches   it, and the node becomes a leaf.
 *
 * All of it holds the graph's lock but for compiling and launching.  Memory is a policy around it: values that a thread's
 * evaluation needs stay on the device (td_need, run/spill.c), others may be moved to the host for it, and a thread that
 * cannot get memory while other threads use some waits and begins again (graph/memwait.h).
 */
#include "array/run/eval.h"

#include "array/form/fold.h"
#include "array/form/map.h"
#include "array/graph/memwait.h"
#include "array/plan/roll.h"
#include "array/plan/unroll.h"
#include "array/run/claim.h"
#include "array/run/fperror.h"
#include "array/run/settle.h"
#include "array/source/host.h"

static td_evalstat stats;

td_evalstat
td_eval_stats(void)
{
    return stats;
}

void
td_eval_count_recorded(void)
{
    stats.recorded++;
}

void
td_eval_count_kernel(void)
{
    stats.evals++;
}

/* ---- kernels that write each element of their space ---- */

/* The memory of an input whose last reader is this kernel, which reads it element by element as the result will lie. */
static td_buf *
find_donor(const td_plan *p, const td_node *n, const td_view *out)
{
    if (td_plan_escapes(p, n))
        return NULL;
    for (uint16_t i = 0; i < p->nstep; i++) {
        const td_node *s = p->seen[i];
        const td_opnd *o = &p->opnd[p->step[i].opnd];

        /* two references each: the plan's and the reader's on the node, the node's and the operand's on the buffer */
        if (s->kind == TD_N_LEAF && s->refs == 2 && s->uses == 1 && !s->named &&
            atomic_load(&s->buf->refs) == 2 &&
            td_dtype_size((td_dtype)s->dt) == td_dtype_size((td_dtype)n->dt) &&
            atomic_load(&s->buf->flags) == (s->buf->release ? TD_BUF_GIVEN : 0) &&
            td_view_eq(&o->view, out) &&
            s->buf->nbytes == (size_t)p->total * td_dtype_size((td_dtype)s->dt))
            return td_buf_ref(s->buf);
    }
    return NULL;
}

/* Adds n to an empty plan, finds memory for it and for what is kept beside it, and launches.  TD_SKIP: one kernel cannot
 * hold it. */
static td_status
launch_plan(td_node *n, td_plan *p)
{
    td_view v = n->view;
    td_status st = TD_OK;
    td_buf *out;
    uint16_t step;

    TD_TRY(td_plan_add(p, n, &step));
    if (p->axes && td_plan_across(p, p->axes))
        return TD_SKIP;
    out = find_donor(p, n, &v);
    if (!out)
        TD_TRY(td_buf_new(n->dev, p->stream,
                          (size_t)td_shape_size(&v.shape) * td_dtype_size((td_dtype)n->dt), &out));
    st = td_plan_store(p, step, (td_dtype)n->dt, out, &v, n);
    td_buf_unref(out);
    TD_TRY(st);
    TD_TRY(td_plan_keep(p, n));
    td_settle_beside(p, n, true);
    st = p->axes ? td_row_eval(p) : td_eval_map(p);
    if (!st)
        td_plan_settle(p);
    td_settle_beside(p, n, false);
    return st;
}

static td_status
launch_map(td_node *n)
{
    td_plan p;
    td_status st;

    td_plan_begin(&p, n->dev, &n->view.shape);
    st = launch_plan(n, &p);
    td_plan_end(&p);
    return st;
}

/* ---- forms ----
 *
 * Each computes n, which is pending and which no thread evaluates, or returns TD_SKIP and leaves n as it was. */

/* The value was moved to the host: it comes back. */
static td_status
by_return(td_need *need, td_node *n)
{
    (void)need;
    return td_node_spilled(n) ? td_settle_return(n) : TD_SKIP;
}

/* The value is a window on the host's memory or on a reader: its elements are copied to the device. */
static td_status
by_upload(td_need *need, td_node *n)
{
    td_status st;

    (void)need;
    if (n->kind != TD_N_HOST)
        return TD_SKIP;
    td_node_ref(n);
    td_eval_mark(n, true);
    st = td_host_load(n);
    td_eval_mark(n, false);
    td_node_unref(n);
    return st;
}

/* Some inputs are on the host and exceed the device's memory: chunk by chunk. */
static td_status
by_chunks(td_need *need, td_node *n)
{
    td_status st;

    (void)need;
    if (!n->hosted)
        return TD_SKIP;
    st = td_chunk_eval(n, &(td_chunkopts){.host = false});
    if (st == TD_SKIP)
        st = td_fp_check(n);
    if (st)
        return st;
    return td_eval_has_value(n) ? td_eval_node(n) : TD_SKIP;
}

/* Adds stores for the values of a rolled plan that something outside of it reads: n's own, and others of the program. */
static td_status
store_held(td_plan *p, const td_repeat *r, const uint16_t step[])
{
    int end = r->from + r->rounds * r->period;

    for (int i = 0; i < r->n; i = i + 1 == r->from ? end : i + 1) {
        td_node *m = r->node[i];
        td_buf *b;
        td_status st;

        if (!r->held[i])
            continue;
        TD_TRY(
            td_buf_new(p->dev, p->stream, (size_t)p->total * td_dtype_size((td_dtype)m->dt), &b));
        st = td_plan_store(p, step[i], (td_dtype)m->dt, b, &m->view, m);
        td_buf_unref(b);
        TD_TRY(st);
    }
    return TD_OK;
}

static td_status
launch_rolled(td_node *n, const td_repeat *r)
{
    uint16_t step[TD_REPEAT_NODES];
    td_status st;
    td_plan p;

    td_plan_begin(&p, n->dev, &n->view.shape);
    st = td_plan_roll(&p, r, step);
    for (uint16_t i = 0; i < p.nstep; i++)
        if (p.seen[i]->buf)
            td_use(p.seen[i]);
    if (!st)
        st = store_held(&p, r, step);
    if (!st) {
        td_settle_beside(&p, n, true);
        st = td_eval_map(&p);
        if (!st)
            td_plan_settle(&p);
        td_settle_beside(&p, n, false);
    }
    td_plan_end(&p);
    return st;
}

/* The heavy sources of a reduction, or of another value that cannot belong to the loop that they are. */
static td_status
settle_heavy(td_node *n)
{
    bool own = n->kind != TD_N_OP && n->kind != TD_N_CAST;

    for (int i = 0; i < n->nsrc; i++)
        own |= !td_shape_eq(&n->src[i]->view.shape, &n->view.shape);
    for (int i = 0; i < n->nsrc && own; i++) {
        td_node *s = n->src[i];
        td_status st;

        if (!td_node_pending(s) || s->weight <= TD_WEIGHT_MAX || td_node_spilled(s))
            continue;
        td_node_ref(s);
        st = td_eval_node(s);
        td_node_unref(s);
        TD_TRY(st);
        if (td_eval_has_value(n)) /* another thread took it meanwhile */
            return td_eval_node(n);
    }
    return TD_SKIP;
}

/* The rounds of a program's loop: one kernel with a loop of its own. */
static td_status
by_rounds(td_need *need, td_node *n)
{
    td_repeat r;
    td_status st;

    if (n->weight <= TD_WEIGHT_MAX || n->hosted)
        return TD_SKIP;
    td_need_look(need);
    if (!td_repeat_find(&r, &n, 1))
        return settle_heavy(n);
    if (r.n <= TD_WEIGHT_MAX) { /* one kernel holds it as it is */
        td_repeat_end(&r);
        return TD_SKIP;
    }
    td_node_ref(n);
    td_eval_mark(n, true);
    st = launch_rolled(n, &r);
    td_eval_mark(n, false);
    td_node_unref(n);
    td_repeat_end(&r);
    stats.evals += st == TD_OK;
    return st;
}

/* A variance of float64: the mean in one pass, the deviations from it in another. */
static td_status
by_two_passes(td_need *need, td_node *n)
{
    (void)need;
    return td_eval_variance(n);
}

/* Reductions over short axes become operations on slices, which a form below computes with what reads them. */
static td_status
by_slices(td_need *need, td_node *n)
{
    (void)need;
    TD_TRY(td_unroll_below(n));
    return TD_SKIP;
}

/* Reductions over the rows of a space, and what is computed from them and the rows again: one kernel that owns rows. */
static td_status
by_rows(td_need *need, td_node *n)
{
    td_rowspace r;
    td_status st;
    td_plan p;

    if (!td_row_find(n, &r))
        return TD_SKIP;
    TD_TRY(td_settle_inputs(need, n, &(td_extent){.total = td_shape_size(&r.shape), .rows = &r}));
    if (td_eval_has_value(n)) /* another thread took it meanwhile */
        return td_eval_node(n);
    td_node_ref(n);
    td_eval_mark(n, true);
    td_plan_begin(&p, n->dev, &r.shape);
    td_plan_rows(&p, r.axes, r.lack);
    st = launch_plan(n, &p);
    td_plan_end(&p);
    td_eval_mark(n, false);
    stats.evals += st == TD_OK;
    td_node_unref(n);
    return st;
}

/* One kernel for n, whose inputs have been settled with status st; if it holds too much, a kernel for n alone. */
static td_status
launch_settled(td_need *need, td_node *n, td_status st, td_status (*launch)(td_node *n))
{
    if (td_eval_has_value(n)) /* another thread took it meanwhile */
        return td_eval_node(n);
    td_node_ref(n);
    td_eval_mark(n, true);
    st = st ? st : launch(n);
    if ((st == TD_SKIP || (st == TD_ERR_OOM && td_settle_splits(n))) &&
        !(st = td_settle_sources(need, n)))
        st = launch(n);
    TD_ASSERT(st != TD_SKIP); /* one operation on values in memory always fits a kernel */
    stats.evals++;
    td_eval_mark(n, false);
    td_node_unref(n);
    return st;
}

/* A reduction by itself, fused with the elementwise work below it. */
static td_status
by_reduction(td_need *need, td_node *n)
{
    td_extent e = {.reduces = true};
    td_status st;

    if (n->kind != TD_N_REDUCE)
        return TD_SKIP;
    e.total = td_shape_size(&n->src[0]->view.shape);
    st = td_settle_inputs(need, n->src[0], &e);
    if (!st && !td_eval_has_value(n) && n->src[0]->kind == TD_N_REDUCE) {
        td_node *source = td_node_ref(n->src[0]);

        st = td_eval_node(source);
        td_node_unref(source);
    }
    return launch_settled(need, n, st, td_eval_reduce);
}

/* Each element by itself.  Where inputs lie across the result, map.c takes a tile at a time (form/tile.c). */
static td_status
by_map(td_need *need, td_node *n)
{
    td_extent e = {.total = td_shape_size(&n->view.shape)};

    return launch_settled(need, n, td_settle_inputs(need, n, &e), launch_map);
}

/* The ways to compute a value, first come, first served. */
static struct form {
    const char *name;
    td_status (*run)(td_need *need, td_node *n);
    bool splits;    /* out of memory: the forms after it use less, if td_settle_splits */
    uint64_t count; /* values that it has computed */
} forms[] = {
    {"return", by_return, false, 0}, /* was moved to the host */
    {"upload", by_upload, false, 0}, /* is on the host */
    {"chunks", by_chunks, false, 0}, /* is computed of what is on the host */
    {"slices", by_slices, false, 0}, /* no value: reductions of few elements become operations */
    {"rounds", by_rounds, true, 0},  /* is what a loop of the program has made */
    {"two passes", by_two_passes, false, 0}, /* is a variance of float64 */
    {"rows", by_rows, true, 0},              /* reduces rows and uses them again */
    {"reduction", by_reduction, false, 0},   /* reduces */
    {"map", by_map, false, 0},               /* anything else */
};

const char *
td_eval_form(size_t i, uint64_t *count)
{
    if (i >= sizeof forms / sizeof *forms)
        return NULL;
    *count = forms[i].count;
    return forms[i].name;
}

static td_status
eval_pending(td_node *n)
{
    td_need need;
    td_status st = TD_SKIP;

    td_need_begin(&need);
    for (size_t i = 0; i < sizeof forms / sizeof *forms && st == TD_SKIP; i++) {
        st = forms[i].run(&need, n);
        forms[i].count += st == TD_OK;
        if (st == TD_ERR_OOM && forms[i].splits && !td_eval_has_value(n) && td_settle_splits(n))
            st = TD_SKIP;
    }
    td_need_end(&need);
    return st;
}

td_status
td_eval_node(td_node *n)
{
    td_status st;

    if (n->buf) {
        td_use_again(n);
        return TD_OK;
    }
    td_node_ref(n); /* its array may get another value while the lock is given up */
    td_eval_await(n);
    td_memwait_begin();
    do
        st = n->buf ? td_eval_node(n) : eval_pending(n);
    while (st == TD_ERR_OOM && td_memwait_others());
    td_memwait_end();
    td_node_unref(n);
    return st;
}

td_status
td_eval_value(td_node *n)
{
    td_status st = TD_SKIP;

    if (n->kind == TD_N_HOST)
        return TD_OK;
    td_node_ref(n);
    if (n->hosted && td_node_pending(n))
        st = td_chunk_eval(n, &(td_chunkopts){.host = true});
    if (st == TD_SKIP)
        st = n->kind == TD_N_HOST ? TD_OK : td_eval_node(n);
    td_node_unref(n);
    return st;
}
