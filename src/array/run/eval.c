/* eval.c - from pending nodes to launched kernels. */
#include "array/run/eval.h"
#include "array/form/fold.h"
#include "array/form/map.h"

#include "array/form/row.h"
#include "array/graph/internal.h"
#include "array/graph/memwait.h"
#include "array/run/fperror.h"
#include "array/run/spill.h"
#include "array/source/host.h"

#include <pthread.h>

static td_evalstat stats;

/* A forked child has not the threads that were evaluating: its era is another than theirs. */
static uint8_t era = 1;

static void
next_era(void)
{
    era = era == UINT8_MAX ? 1 : era + 1;
}

static void
watch_forks(void)
{
    pthread_atfork(NULL, NULL, next_era);
}

static bool
is_busy(const td_node *n)
{
    return n->busy == era;
}

static void
set_busy(td_node *n)
{
    n->busy = era;
    n->claimed = false; /* in a forked child, by nobody that is left */
}

/* Until no other thread, which cannot need what this one evaluates, evaluates n. */
static void
await(const td_node *n)
{
    if (!is_busy(n))
        return;
    td_need_met(true); /* what is needed is looked for again */
    td_memwait_idle(true);
    while (is_busy(n))
        td_graph_yield();
    td_memwait_idle(false);
    td_need_met(false);
}

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

/* Others wait for n as for one that is computed. */
static td_status
bring_back(td_node *n)
{
    td_status st = TD_OK;

    await(n);
    if (!td_node_away(n))
        return TD_OK;
    td_node_ref(n);
    set_busy(n);
    st = td_spill_return(n);
    n->busy = 0;
    td_node_unref(n);
    return st;
}

/* Inside a bigger space a small node would be computed again and again: is that dearer than memory? */
static bool
worth_memory(const td_node *n, int64_t total)
{
    return n->weight > 4 && td_shape_size(&n->view.shape) * 4 <= total;
}

/* What a kernel to be is over: `total` elements; rows of them, or NULL; are they reduced, so that none is written? */
typedef struct extent {
    int64_t total;
    const td_rowspace *rows;
    bool fold;
} extent;

/* The program holds n and looks at a reduction of it, or of what it was made of, for the second time: without memory of
 * its own the next look computes all of it once more, by a longer kernel each time in a loop. */
static bool
is_looked_at_again(const td_node *n, const extent *e)
{
    return e->fold && n->named && (n->computed || n->again) &&
           td_shape_size(&n->view.shape) == e->total &&
           (n->kind == TD_N_OP || n->kind == TD_N_CAST);
}

/* Must n, met where shapes leave out the axes of `lack`, be in memory before? */
static bool
stays_outside(const td_node *n, const extent *e, uint32_t lack)
{
    if (n->kind == TD_N_REDUCE)
        return !e->rows || !td_row_inside(e->rows, n, lack);
    return worth_memory(n, e->total) && !(e->rows && td_row_level(e->rows, n, lack));
}

/* The nodes under n that a kernel cannot or should not hold inside: reductions but those over its rows,
 * the sources of gathers, small expressions that would be repeated; and what another thread is
 * evaluating, perhaps into the very memory that it reads.  Marked as td_walk marks. */
static void
find_inner(td_walk *w, td_walk *inner, td_node *n, const extent *e, uint32_t lack, bool root)
{
    if (n->buf)
        td_use(n);
    if (!td_node_pending(n) || n->slot || w->n == (int)(sizeof w->node / sizeof *w->node))
        return;
    n->slot = 1;
    w->node[w->n++] = n;
    if (is_busy(n) || td_node_away(n) || n->kind == TD_N_HOST || is_looked_at_again(n, e) ||
        (!root && stays_outside(n, e, lack))) {
        inner->node[inner->n++] = td_node_ref(n);
        return;
    }
    lack = n->kind == TD_N_REDUCE ? 0 : lack;
    for (int i = 0; i < n->nsrc; i++)
        if (td_node_looks_up(n) && i == 0 && td_node_pending(n->src[0]))
            inner->node[inner->n++] = td_node_ref(n->src[0]);
        else
            find_inner(w, inner, n->src[i], e, lack, false);
}

/* n is wanted in memory. */
static void
find_whole(td_walk *inner, td_node *n)
{
    if (n->buf)
        td_use(n);
    else if (td_node_pending(n))
        inner->node[inner->n++] = td_node_ref(n);
}

static void
drop_inner(td_walk *inner)
{
    for (int i = 0; i < inner->n; i++)
        td_node_unref(inner->node[i]);
    inner->n = 0;
}

/* Evaluates what find_inner found, and lets go of it: first what is computed, for which what is there may have to go. */
static td_status
eval_inner(td_walk *inner)
{
    td_status st = TD_OK;

    for (int away = 0; away < 2; away++)
        for (int i = 0; i < inner->n; i++)
            if (!st && td_node_away(inner->node[i]) == away)
                st = away ? bring_back(inner->node[i]) : td_eval_node(inner->node[i]);
    for (int i = 0; i < inner->n; i++)
        td_node_unref(inner->node[i]);
    return st;
}

/* Bytes of what the nodes of w read, each value once. */
static size_t
bytes_read(const td_walk *w)
{
    const td_node *seen[3 * TD_WEIGHT_MAX];
    int n = 0;
    size_t sum = 0;

    for (int i = 0; i < w->n; i++)
        for (int k = 0; k < w->node[i]->nsrc; k++) {
            const td_node *s = w->node[i]->src[k];
            int at = 0;

            if (!s->buf && !td_node_away(s))
                continue;
            while (at < n && seen[at] != s)
                at++;
            if (at < n || n == 3 * TD_WEIGHT_MAX)
                continue;
            seen[n++] = s;
            sum += s->buf ? s->buf->nbytes : td_spill_size(s);
        }
    return sum;
}

/* Some of what the kernel would read is on the host: is all of it more than the device holds? */
static bool
too_large(const td_walk *w, const td_walk *inner, const td_node *n)
{
    for (int i = 0; i < inner->n; i++)
        if (td_node_away(inner->node[i]))
            return bytes_read(w) +
                       (size_t)td_shape_size(&n->view.shape) * td_dtype_size((td_dtype)n->dt) >
                   td_mem_bound(n->dev);
    return false;
}

/* Can a kernel for n be made smaller, by computing what it reads first? */
static bool
can_split(const td_node *n)
{
    bool inside = false;

    for (int i = 0; i < n->nsrc; i++)
        inside |= td_node_pending(n->src[i]) && !td_node_away(n->src[i]);
    return inside && td_spill_on(n->dev);
}

/* `need`: the evaluation's that is under way.  TD_ERR_OOM without a text where the kernel would need more memory than
 * there is and can_split says yes. */
static td_status
settle_inner(td_need *need, td_node *n, int64_t total, const td_rowspace *rows, bool fold)
{
    extent e = {.total = total, .rows = rows, .fold = fold};
    td_walk w, inner;
    td_status st = TD_OK;

    td_node_ref(
        n); /* a source of what another thread may evaluate meanwhile, which then lets go of it */
    do {    /* again: while one was evaluated, other threads may have begun with others */
        td_need_look(need);
        td_walk_begin(&w);
        td_walk_begin(&inner);
        find_inner(&w, &inner, n, &e, rows ? rows->lack : 0, true);
        td_walk_end(&w);
        if (too_large(&w, &inner, n) && can_split(n)) {
            drop_inner(&inner);
            st = TD_ERR_OOM;
        } else {
            st = eval_inner(&inner);
        }
    } while (!st && inner.n);
    td_node_unref(n);
    return st;
}

/* The kernel was too big: all that feeds n gets memory of its own. */
static td_status
settle_sources(td_need *need, td_node *n)
{
    td_walk inner;
    td_status st;

    do {
        td_need_look(need);
        td_walk_begin(&inner);
        for (int i = 0; i < n->nsrc; i++)
            find_whole(&inner, n->src[i]);
        st = eval_inner(&inner);
    } while (!st && inner.n);
    return st;
}

/* An input that nobody else holds and that is read just where it would be written can be written. */
static td_buf *
donated(const td_plan *p, const td_node *n, const td_view *out)
{
    if (td_plan_escapes(p, n))
        return NULL;
    for (uint16_t i = 0; i < p->nstep; i++) {
        const td_node *s = p->seen[i];
        const td_opnd *o = &p->opnd[p->step[i].opnd];

        /* references: the plan's on the node, the consumer's; the node's and the operand's on the buffer */
        if (s->kind == TD_N_LEAF && s->refs == 2 && s->uses == 1 && !s->named &&
            atomic_load(&s->buf->refs) == 2 &&
            td_dtype_size((td_dtype)s->dt) == td_dtype_size((td_dtype)n->dt) && !s->buf->release &&
            !atomic_load(&s->buf->flags) && td_view_eq(&o->view, out) &&
            s->buf->nbytes == (size_t)p->total * td_dtype_size((td_dtype)s->dt))
            return td_buf_ref(s->buf);
    }
    return NULL;
}

/* What n's kernel computes beside n is being evaluated too: another thread that read its sources meanwhile could
 * read one that n is written over. */
static void
mark_kept(const td_plan *p, const td_node *n, uint8_t busy)
{
    for (uint16_t i = 0; i < p->nopnd; i++)
        if (p->opnd[i].role == TD_ROLE_STORE && p->opnd[i].node && p->opnd[i].node != n)
            p->opnd[i].node->busy = busy;
}

static td_status
map_new(td_node *n, td_plan *p)
{
    td_view v = n->view;
    td_status st = TD_OK;
    td_buf *out;
    uint16_t step;

    TD_TRY(td_plan_add(p, n, &step));
    if (p->axes && td_plan_across(p, p->axes))
        return TD_SKIP;
    out = donated(p, n, &v);
    if (!out)
        TD_TRY(td_buf_new(n->dev, p->stream,
                          (size_t)td_shape_size(&v.shape) * td_dtype_size((td_dtype)n->dt), &out));
    st = td_plan_store(p, step, (td_dtype)n->dt, out, &v, n);
    td_buf_unref(out);
    TD_TRY(st);
    TD_TRY(td_plan_keep(p, n));
    mark_kept(p, n, era);
    st = p->axes ? td_row_eval(p) : td_eval_map(p);
    if (!st)
        td_plan_settle(p);
    mark_kept(p, n, 0);
    return st;
}

/* Has n been evaluated, or is that being done? */
static bool
is_taken(const td_node *n)
{
    return is_busy(n) || n->buf || td_node_away(n);
}

/* n and the reductions in it as one kernel that owns rows.  TD_SKIP: that is not possible, or not worth it. */
static td_status
eval_rows(td_need *need, td_node *n)
{
    td_rowspace r;
    td_status st;
    td_plan p;

    if (!td_row_find(n, &r))
        return TD_SKIP;
    TD_TRY(settle_inner(need, n, td_shape_size(&r.shape), &r, false));
    if (is_taken(n)) /* meanwhile, by another thread */
        return td_eval_node(n);
    td_node_ref(n);
    set_busy(n);
    td_plan_begin(&p, n->dev, &r.shape);
    td_plan_rows(&p, r.axes, r.lack);
    st = map_new(n, &p);
    td_plan_end(&p);
    n->busy = 0;
    stats.evals += st == TD_OK;
    td_node_unref(n);
    return st;
}

static td_status
eval_once(td_node *n)
{
    td_plan p;
    td_status st;

    if (n->kind == TD_N_REDUCE)
        return td_eval_reduce(n);
    td_plan_begin(&p, n->dev, &n->view.shape);
    st = map_new(n, &p);
    td_plan_end(&p);
    return st;
}

bool
td_eval_claim(td_node *n)
{
    if (is_busy(n))
        return false;
    n->busy = era;
    n->claimed = true;
    return true;
}

void
td_eval_release(td_node *n)
{
    n->busy = 0;
    n->claimed = false;
}

bool
td_eval_is_taken(const td_node *n)
{
    return is_busy(n);
}

bool
td_eval_running(const td_node *n)
{
    return is_busy(n) && !n->claimed;
}

static td_status
eval_load(td_node *n)
{
    td_status st;

    td_node_ref(n);
    set_busy(n);
    st = td_host_load(n);
    n->busy = 0;
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

/* What a kernel for n cannot hold inside is evaluated. */
static td_status
settle_under(td_need *need, td_node *n)
{
    td_status st;

    if (n->kind == TD_N_SCALAR)
        return TD_OK;
    if (n->kind != TD_N_REDUCE)
        return settle_inner(need, n, td_shape_size(&n->view.shape), NULL, false);
    TD_TRY(settle_inner(need, n->src[0], td_shape_size(&n->src[0]->view.shape), NULL, true));
    if (!is_taken(n) && n->src[0]->kind == TD_N_REDUCE) {
        td_node *source = td_node_ref(n->src[0]);

        st = td_eval_node(source);
        td_node_unref(source);
        return st;
    }
    return TD_OK;
}

/* n is nobody's work, has no memory and is not away. */
static td_status
eval_pending(td_need *need, td_node *n)
{
    td_status st;

    if (n->hosted) {
        st = td_chunk_eval(n, &(td_chunkopts){.host = false});
        st = st == TD_SKIP ? td_fp_check(n) : st;
        if (st || is_taken(n))
            return st ? st : td_eval_node(n);
    }
    if ((st = td_eval_variance(n)) != TD_SKIP)
        return st;
    st = eval_rows(need, n);
    if (st != TD_SKIP && !(st == TD_ERR_OOM && !is_taken(n) && can_split(n)))
        return st;
    st = settle_under(need, n);
    if (is_taken(n)) /* meanwhile, while something under it was waited for */
        return td_eval_node(n);
    td_node_ref(n);
    set_busy(n);
    st = st ? st : eval_once(n);
    if ((st == TD_SKIP || (st == TD_ERR_OOM && can_split(n))) && !(st = settle_sources(need, n)))
        st = eval_once(n);
    TD_ASSERT(st != TD_SKIP); /* one node over leaves always fits */
    stats.evals++;
    n->busy = 0;
    td_node_unref(n);
    return st;
}

td_status
td_eval_node(td_node *n)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    td_need need;
    td_status st;

    if (n->buf) {
        td_use_again(n);
        return TD_OK;
    }
    pthread_once(&once, watch_forks);
    td_node_ref(n); /* its array may get another value whenever the lock is given up */
    await(n);
    td_memwait_begin();
    do {
        td_need_begin(&need);
        if (n->buf) /* meanwhile, by another thread */
            st = td_eval_node(n);
        else if (td_node_away(n))
            st = bring_back(n);
        else
            st = n->kind == TD_N_HOST ? eval_load(n) : eval_pending(&need, n);
        td_need_end(&need);
    } while (st == TD_ERR_OOM && td_memwait_others());
    td_memwait_end();
    td_node_unref(n);
    return st;
}

static td_status
add_putting(td_plan *p, const td_putting *w, uint16_t *step)
{
    TD_TRY(td_plan_add(p, w->value, step));
    if (!w->at)
        return TD_OK;
    p->put = (uint8_t)w->how;
    p->put_op = (uint16_t)w->op;
    p->put_guard = TD_PLAN_NOSTEP;
    TD_TRY(td_plan_add(p, w->at, &p->put_at));
    return w->guard ? td_plan_add(p, w->guard, &p->put_guard) : TD_OK;
}

/* What a kernel cannot hold inside is evaluated before; with `all` everything is. */
static td_status
settle_parts(td_need *need, const td_putting *w, int64_t total, bool all)
{
    td_node *part[3] = {w->value, w->at, w->guard};
    extent e = {.total = total};
    td_walk walk, inner;
    td_status st;

    do {
        td_need_look(need);
        td_walk_begin(&walk);
        td_walk_begin(&inner);
        for (int i = 0; i < 3; i++)
            if (part[i] && (all || part[i]->hosted))
                find_whole(&inner, part[i]);
            else if (part[i])
                find_inner(&walk, &inner, part[i], &e, 0, part[i]->kind != TD_N_REDUCE);
        td_walk_end(&walk);
        st = eval_inner(&inner);
    } while (!st && inner.n);
    return st;
}

/* TD_SKIP: not all of it fits one kernel. */
static td_status
put_once(td_need *need, const td_putting *w, td_dtype dt, td_buf *buf, const td_view *view,
         bool all)
{
    uint16_t step;
    td_status st;
    td_plan p;

    TD_TRY(settle_parts(need, w, td_shape_size(&view->shape), all));
    td_plan_begin(&p, buf->dev, &view->shape);
    st = add_putting(&p, w, &step);
    if (!st)
        st = td_plan_store(&p, step, dt, buf, view, NULL);
    if (!st)
        st = td_eval_map(&p);
    td_plan_end(&p);
    return st;
}

td_status
td_eval_put(const td_putting *w, td_dtype dt, td_buf *buf, const td_view *view)
{
    td_need need;
    td_status st;

    td_need_begin(&need);
    st = put_once(&need, w, dt, buf, view, false);
    if (st == TD_SKIP || (st == TD_ERR_OOM && td_spill_on(buf->dev)))
        st = put_once(&need, w, dt, buf, view, true);
    td_need_end(&need);
    stats.evals++;
    return st;
}

td_status
td_eval_into(td_node *n, td_dtype dt, td_buf *buf, const td_view *view)
{
    return td_eval_put(&(td_putting){.value = n}, dt, buf, view);
}

td_status
td_eval_fill(td_buf *out, td_scalar value, int64_t count)
{
    td_shape shape = {.ndim = 1, .dim = {count}};
    td_view v = td_view_contiguous(&shape);
    td_node *n;
    td_status st;

    TD_TRY(td_node_scalar(out->dev, value, &n));
    st = td_eval_into(n, value.dt, out, &v);
    td_node_unref(n);
    return st;
}
