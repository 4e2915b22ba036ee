/* eval.c - from pending nodes to launched kernels. */
#include "array/eval.h"

#include "array/chunk.h"
#include "array/internal.h"
#include "array/row.h"

#include <pthread.h>
#include <sched.h>

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

/* Inside a bigger space a small node would be computed again and again: is that dearer than memory? */
static bool
worth_memory(const td_node *n, int64_t total)
{
    return n->weight > 4 && td_shape_size(&n->view.shape) * 4 <= total;
}

/* What a kernel to be is over: `total` elements; rows of them, or NULL. */
typedef struct extent {
    int64_t total;
    const td_rowspace *rows;
} extent;

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
    if (!td_node_pending(n) || n->slot || w->n == (int)(sizeof w->node / sizeof *w->node))
        return;
    n->slot = 1;
    w->node[w->n++] = n;
    if (is_busy(n) || (!root && stays_outside(n, e, lack))) {
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

static td_status
settle_inner(td_node *n, int64_t total, const td_rowspace *rows)
{
    extent e = {.total = total, .rows = rows};
    td_walk w, inner;
    td_status st = TD_OK;

    td_node_ref(
        n); /* a source of what another thread may evaluate meanwhile, which then lets go of it */
    do {    /* again: while one was evaluated, other threads may have begun with others */
        td_walk_begin(&w);
        td_walk_begin(&inner);
        find_inner(&w, &inner, n, &e, rows ? rows->lack : 0, true);
        td_walk_end(&w);
        for (int i = 0; i < inner.n; i++) {
            if (!st)
                st = td_eval_node(inner.node[i]);
            td_node_unref(inner.node[i]);
        }
    } while (!st && inner.n);
    td_node_unref(n);
    return st;
}

/* The kernel was too big: all that feeds n gets memory of its own. */
static td_status
settle_sources(td_node *n)
{
    for (int i = 0; i < n->nsrc; i++) {
        td_node *src = td_node_ref(n->src[i]);
        td_status st = td_eval_node(src);

        td_node_unref(src);
        TD_TRY(st);
    }
    return TD_OK;
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
    TD_TRY(p->axes ? td_row_eval(p) : td_eval_map(p));
    td_plan_settle(p);
    return TD_OK;
}

/* n and the reductions in it as one kernel that owns rows.  TD_SKIP: that is not possible, or not worth it. */
static td_status
eval_rows(td_node *n)
{
    td_rowspace r;
    td_status st;
    td_plan p;

    if (!td_row_find(n, &r))
        return TD_SKIP;
    TD_TRY(settle_inner(n, td_shape_size(&r.shape), &r));
    if (is_busy(n) || n->buf) /* meanwhile, by another thread */
        return td_eval_node(n);
    td_node_ref(n);
    n->busy = era;
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
    return true;
}

void
td_eval_release(td_node *n)
{
    n->busy = 0;
}

static td_status
load(td_node *n)
{
    td_status st;

    td_node_ref(n);
    n->busy = era;
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

td_status
td_eval_node(td_node *n)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    td_status st;

    pthread_once(&once, watch_forks);
    while (is_busy(n)) { /* by another thread, which cannot need what this one evaluates */
        void *token = td_graph_unlock();

        sched_yield();
        td_graph_lock(token);
    }
    if (n->buf)
        return TD_OK;
    if (n->kind == TD_N_HOST)
        return load(n);
    if (n->hosted && (st = td_chunk_eval(n, &(td_chunkopts){.host = false})) != TD_SKIP)
        return st;
    if ((st = td_eval_spread(n)) != TD_SKIP || (st = eval_rows(n)) != TD_SKIP)
        return st;
    if (n->kind == TD_N_REDUCE)
        TD_TRY(settle_inner(n->src[0], td_shape_size(&n->src[0]->view.shape), NULL));
    else if (n->kind != TD_N_SCALAR)
        TD_TRY(settle_inner(n, td_shape_size(&n->view.shape), NULL));
    if (n->kind == TD_N_REDUCE && !n->buf && n->src[0]->kind == TD_N_REDUCE) {
        td_node *source = td_node_ref(n->src[0]);

        st = td_eval_node(source);
        td_node_unref(source);
        TD_TRY(st);
    }
    if (is_busy(n) || n->buf) /* meanwhile, while something under it was waited for */
        return td_eval_node(n);
    td_node_ref(n);
    n->busy = era;
    st = eval_once(n);
    if (st == TD_SKIP && !(st = settle_sources(n)))
        st = eval_once(n);
    TD_ASSERT(st != TD_SKIP); /* one node over leaves always fits */
    stats.evals++;
    n->busy = 0;
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
settle_parts(const td_putting *w, int64_t total, bool all)
{
    td_node *part[3] = {w->value, w->at, w->guard};

    for (int i = 0; i < 3; i++)
        if (part[i] && td_node_pending(part[i]))
            TD_TRY(all || part[i]->kind == TD_N_REDUCE || part[i]->hosted ? td_eval_node(part[i])
                                                       : settle_inner(part[i], total, NULL));
    return TD_OK;
}

td_status
td_eval_put(const td_putting *w, td_dtype dt, td_buf *buf, const td_view *view)
{
    td_plan p;
    td_status st;
    uint16_t step;

    for (int again = 0;; again++) {
        TD_TRY(settle_parts(w, td_shape_size(&view->shape), again));
        td_plan_begin(&p, buf->dev, &view->shape);
        st = add_putting(&p, w, &step);
        if (!st)
            st = td_plan_store(&p, step, dt, buf, view, NULL);
        if (!st)
            st = td_eval_map(&p);
        td_plan_end(&p);
        if (st != TD_SKIP || again)
            break;
    }
    stats.evals++;
    return st;
}

td_status
td_eval_into(td_node *n, td_dtype dt, td_buf *buf, const td_view *view)
{
    return td_eval_put(&(td_putting){.value = n}, dt, buf, view);
}

bool
td_eval_reads(td_node *n, const td_buf *buf)
{
    bool r = n->buf == buf;
    td_walk w;

    td_walk_begin(&w);
    td_walk_add(&w, n);
    td_walk_end(&w);
    for (int i = 0; i < w.n; i++)
        for (int k = 0; k < w.node[i]->nsrc; k++)
            r |= w.node[i]->src[k]->buf == buf;
    return r;
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

static bool
reads_elsewhere(const td_node *n, td_dtype dt, const td_buf *buf, const td_view *view)
{
    int64_t lo, hi, from, to, size = (int64_t)td_dtype_size(dt),
                              own = (int64_t)td_dtype_size((td_dtype)n->dt);

    if (n->kind != TD_N_LEAF || n->buf != buf || (size == own && td_view_eq(&n->view, view)))
        return false;
    td_view_extent(view, &lo, &hi);
    td_view_extent(&n->view, &from, &to);
    return lo * size < to * own && from * own < hi * size;
}

bool
td_eval_conflicts(td_node *n, td_dtype dt, const td_buf *buf, const td_view *view)
{
    bool r = reads_elsewhere(n, dt, buf, view);
    td_walk w;

    td_walk_begin(&w);
    td_walk_add(&w, n);
    td_walk_end(&w);
    for (int i = 0; i < w.n; i++)
        for (int k = 0; k < w.node[i]->nsrc; k++) {
            const td_node *src = w.node[i]->src[k];

            r |= td_node_looks_up(w.node[i]) && k == 0 ? src->buf == buf || td_node_pending(src)
                                                       : reads_elsewhere(src, dt, buf, view);
        }
    return r;
}
