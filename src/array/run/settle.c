/* settle.c - which inputs of a kernel are computed before it.
 *
 * A kernel computes the whole expression of a node, down to values in memory, but for four kinds of values, which are
 * evaluated first: reductions (unless over the kernel's own rows), sources of gathers and searches, small values that a
 * large kernel would compute again and again, and values that another thread is evaluating, perhaps into the very memory
 * that it reads.
 */
#include "array/run/settle.h"

#include "array/graph/internal.h"
#include "array/run/claim.h"

/* The nodes that a kernel computes, and its inputs that are evaluated first (with references). */
typedef struct survey {
    const td_extent *e;
    td_walk inside, inputs;
} survey;

static void
survey_begin(survey *s, const td_extent *e)
{
    s->e = e;
    td_walk_begin(&s->inside);
    td_walk_begin(&s->inputs);
}

static void
add_input(survey *s, td_node *n)
{
    s->inputs.node[s->inputs.n++] = td_node_ref(n);
}

static void
drop_inputs(survey *s)
{
    for (int i = 0; i < s->inputs.n; i++)
        td_node_unref(s->inputs.node[i]);
    s->inputs.n = 0;
}

enum { CHEAP = 4, CHEAP_INDEX = 8 }; /* operations */

/* A kernel over a space four times larger would compute n four times.  Memory for n is cheaper if n takes more than a few
 * operations; more of integers on a GPU, where a kernel for some indices costs more than their arithmetic. */
static bool
is_worth_memory(const td_node *n, int64_t total)
{
    bool cheap = td_dtype_is_int((td_dtype)n->dt) && td_dev_info(n->dev)->simt;

    return n->weight > (cheap ? CHEAP_INDEX : CHEAP) && td_shape_size(&n->view.shape) * 4 <= total;
}

/* The program holds n, and looks for the second time at a reduction of n or of what n was made of.  Without memory of its
 * own each further look would compute all of n again, by a longer kernel each time in a loop. */
static bool
is_looked_at_again(const td_node *n, const td_extent *e)
{
    return e->reduces && n->named && (n->computed || n->again) &&
           td_shape_size(&n->view.shape) == e->total &&
           (n->kind == TD_N_OP || n->kind == TD_N_CAST);
}

/* Should n be in memory first?  `lack`: the axes of the rows' space that are missing from the shape of n's reader. */
static bool
stays_outside(const td_node *n, const td_extent *e, uint32_t lack)
{
    if (n->kind == TD_N_REDUCE)
        return !e->rows || !td_row_inside(e->rows, n, lack);
    return is_worth_memory(n, e->total) && !(e->rows && td_row_level(e->rows, n, lack));
}

/* Walks from n to what the kernel reads.  td_walk_end takes the marks (`slot`) off again. */
static void
look_below(survey *s, td_node *n, uint32_t lack, bool root)
{
    if (n->buf)
        td_use(n);
    if (!td_node_pending(n) || n->slot)
        return;
    n->slot = 1;
    s->inside.node[s->inside.n++] = n;
    if (s->inside.n > TD_WALK_MAX || td_eval_is_taken(n) || td_node_spilled(n) ||
        n->kind == TD_N_HOST || is_looked_at_again(n, s->e) ||
        (!root && stays_outside(n, s->e, lack))) {
        add_input(s, n);
        return;
    }
    lack = n->kind == TD_N_REDUCE ? 0 : lack;
    for (int i = 0; i < n->nsrc; i++)
        if (td_node_looks_up(n) && i == 0 && td_node_pending(n->src[0]))
            add_input(s, n->src[0]);
        else
            look_below(s, n->src[i], lack, false);
}

/* n itself is wanted in memory. */
static void
want_whole(survey *s, td_node *n)
{
    if (n->buf)
        td_use(n);
    else if (td_node_pending(n))
        add_input(s, n);
}

td_status
td_settle_return(td_node *n)
{
    td_status st = TD_OK;

    td_eval_await(n);
    if (!td_node_spilled(n))
        return TD_OK;
    td_node_ref(n);
    td_eval_mark(n, true);
    st = td_spill_return(n);
    td_eval_mark(n, false);
    td_node_unref(n);
    return st;
}

/* Evaluates the inputs and gives their references back.  Those that were moved to the host come last, because computing
 * the others may need the memory that they return to; what is in memory stays there until then (not td_eval_node, whose
 * own evaluation lets this one's inputs go). */
static td_status
eval_inputs(survey *s)
{
    td_status st = TD_OK;

    for (int spilled = 0; spilled < 2; spilled++)
        for (int i = 0; i < s->inputs.n; i++)
            if (!st && td_node_spilled(s->inputs.node[i]) == spilled)
                st =
                    spilled ? td_settle_return(s->inputs.node[i]) : td_eval_node(s->inputs.node[i]);
    for (int i = 0; i < s->inputs.n; i++)
        td_node_unref(s->inputs.node[i]);
    return st;
}

/* ---- kernels that would read more than the device holds ---- */

/* Bytes that the kernel reads, each value counted once. */
static size_t
bytes_read(const td_walk *inside)
{
    const td_node *seen[3 * TD_WALK_MAX];
    int n = 0;
    size_t sum = 0;

    for (int i = 0; i < inside->n; i++)
        for (int k = 0; k < inside->node[i]->nsrc; k++) {
            const td_node *s = inside->node[i]->src[k];
            int at = 0;

            if (!s->buf && !td_node_spilled(s))
                continue;
            while (at < n && seen[at] != s)
                at++;
            if (at < n || n == 3 * TD_WALK_MAX)
                continue;
            seen[n++] = s;
            sum += s->buf ? s->buf->nbytes : td_spill_size(s);
        }
    return sum;
}

/* Are some inputs on the host now, and would all of them with n's result exceed the device's memory? */
static bool
is_too_large(const survey *s, const td_node *n)
{
    for (int i = 0; i < s->inputs.n; i++)
        if (td_node_spilled(s->inputs.node[i]))
            return bytes_read(&s->inside) +
                       (size_t)td_shape_size(&n->view.shape) * td_dtype_size((td_dtype)n->dt) >
                   td_mem_bound(n->dev);
    return false;
}

bool
td_settle_splits(const td_node *n)
{
    bool inside = false;

    for (int i = 0; i < n->nsrc; i++)
        inside |= td_node_pending(n->src[i]) && !td_node_spilled(n->src[i]);
    return inside && td_spill_on(n->dev);
}

/* ---- the three users: a node's kernel, a node's sources, a write ---- */

/* While one input is evaluated, other threads may begin to evaluate further ones.  So each function below looks again
 * until it finds no input that is not in memory. */

td_status
td_settle_inputs(td_need *need, td_node *n, const td_extent *e)
{
    survey s;
    td_status st = TD_OK;

    td_node_ref(
        n); /* its reader may be computed by another thread meanwhile, which then releases n */
    do {
        td_need_look(need);
        survey_begin(&s, e);
        look_below(&s, n, e->rows ? e->rows->lack : 0, true);
        td_walk_end(&s.inside);
        if (is_too_large(&s, n) && td_settle_splits(n)) {
            drop_inputs(&s);
            st = TD_ERR_OOM;
        } else {
            st = eval_inputs(&s);
        }
    } while (!st && s.inputs.n);
    td_node_unref(n);
    return st;
}

td_status
td_settle_sources(td_need *need, td_node *n)
{
    survey s;
    td_status st;

    do {
        td_need_look(need);
        survey_begin(&s, NULL);
        for (int i = 0; i < n->nsrc; i++)
            want_whole(&s, n->src[i]);
        st = eval_inputs(&s);
    } while (!st && s.inputs.n);
    return st;
}

td_status
td_settle_putting(td_need *need, const td_putting *w, int64_t total, bool all)
{
    td_node *part[] = {w->value, w->at, w->guard};
    td_extent e = {.total = total};
    survey s;
    td_status st;

    do {
        td_need_look(need);
        survey_begin(&s, &e);
        for (size_t i = 0; i < sizeof part / sizeof *part; i++)
            if (part[i] && (all || part[i]->hosted))
                want_whole(&s, part[i]);
            else if (part[i])
                look_below(&s, part[i], 0, part[i]->kind != TD_N_REDUCE);
        td_walk_end(&s.inside);
        st = eval_inputs(&s);
    } while (!st && s.inputs.n);
    return st;
}

void
td_settle_beside(const td_plan *p, const td_node *n, bool busy)
{
    for (uint16_t i = 0; i < p->nopnd; i++)
        if (p->opnd[i].role == TD_ROLE_STORE && p->opnd[i].node && p->opnd[i].node != n)
            td_eval_mark(p->opnd[i].node, busy);
}
