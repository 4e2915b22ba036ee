/* chunk.c - decides which rows of which sources a value needs, and which values one pass over the
 * rows computes.
 *
 * To evaluate a hosted value, an axis is chosen along which its sources are cut into chunks.
 * What it needs of sources as a whole, such as a mean that is subtracted from every row, is
 * computed first, in as few passes as possible.  One pass computes all values that are made of
 * the same rows of one source, and also the pending reductions of that source that somebody still
 * holds, since programs will ask for them.
 */
#include "array/outofcore/chunk.h"

#include "array/outofcore/feed.h"
#include "array/run/claim.h"
#include "array/run/eval.h"
#include "dev/core/tape.h"

#include <stdlib.h>
#include <string.h>

enum { WANTED_MAX = 128 };

/* ---- one value ---- */

/* plan - how a value is cut, and what it needs. */
typedef struct plan {
    td_node *n, *top;
    int axis;
    bool merges; /* it is a reduction over the rows */
    td_survey s;
} plan;

/* The output axis of n that corresponds to axis k of its source.  Axis k must not be reduced. */
static int
kept_axis(const td_node *n, int k)
{
    int at = 0;

    if (n->view.shape.ndim == n->src[0]->view.shape.ndim)
        return k;
    for (int i = 0; i < k; i++)
        at += !(n->axes >> i & 1);
    return at;
}

static void
look_along(td_node *n, int axis, plan *p)
{
    p->n = n;
    p->merges = n->kind == TD_N_REDUCE && (n->axes >> axis & 1);
    p->top = p->merges ? n->src[0] : n;
    p->axis = p->merges || n->kind != TD_N_REDUCE ? axis : kept_axis(n, axis);
    td_chunk_survey(p->top, p->axis, &p->s);
}

static int64_t
rows_of(const plan *p)
{
    return p->top->view.shape.dim[p->axis];
}

/* Is p better than q: less needed as a whole, rows that are not too long, more of the value cut, longer contiguous
 * pieces? */
static bool
is_better(const plan *p, const plan *q, size_t room)
{
    bool light = p->s.whole_bytes <= room / 4, heavy = q->s.whole_bytes > room / 4;
    bool fine = p->s.fed_bytes / (size_t)rows_of(p) <= room / 16,
         was = q->s.fed_bytes / (size_t)rows_of(q) <= room / 16;

    if (light == heavy)
        return light;
    if (fine != was)
        return fine;
    if (p->s.fed_bytes != q->s.fed_bytes)
        return p->s.fed_bytes > q->s.fed_bytes;
    return p->s.stride > q->s.stride;
}

/* Plans how to cut n.  False: no source has rows of n; all that it needs is needed as a whole. */
static bool
make_plan(td_node *n, size_t room, plan *best)
{
    const td_node *space = n->kind == TD_N_REDUCE ? n->src[0] : n;
    bool found = false;
    plan *p = malloc(sizeof *p);

    for (int k = 0; p && k < space->view.shape.ndim; k++) {
        if (space->view.shape.dim[k] <= 1)
            continue;
        look_along(n, k, p);
        if (p->s.nfed && (!found || is_better(p, best, room))) {
            *best = *p;
            found = true;
        }
    }
    free(p);
    return found;
}

int
td_chunk_best_axis(td_node *n)
{
    plan *p = malloc(2 * sizeof *p), *best = p + 1; /* without that memory no axis is preferred */
    size_t room = td_chunk_room(n->dev);
    int axis = -1;

    for (int k = 0; p && k < n->view.shape.ndim; k++) {
        if (n->view.shape.dim[k] <= 1)
            continue;
        p->n = p->top = n;
        p->axis = k;
        td_chunk_survey(n, k, &p->s);
        if (p->s.nfed && (axis < 0 || is_better(p, best, room))) {
            *best = *p;
            axis = k;
        }
    }
    free(p);
    return axis;
}

/* ---- a pass ---- */

static bool
same_feed(const td_feed *f, const td_node *n, int axis)
{
    return f->axis == axis && td_host_eq(f->host, n->host);
}

static void
add_feeds(td_pass *p, const td_survey *s)
{
    for (int i = 0; i < s->nfed; i++) {
        td_host *h = s->fed[i]->host;
        int k = 0;

        while (k < p->nfeed && !same_feed(&p->feed[k], s->fed[i], s->axis[i]))
            k++;
        if (k < p->nfeed)
            continue;
        atomic_fetch_add(&h->refs, 1);
        p->feed[p->nfeed++] = (td_feed){
            .host = h, .axis = s->axis[i], .in_place = td_feeder_in_place(s->fed[i]->dev, h)};
    }
}

/* Can the pass compute w too: does it use the same rows, and is there room for it? */
static bool
joins(const td_pass *p, const plan *w)
{
    int most = (int)(sizeof p->feed / sizeof *p->feed);

    return !p->njob ||
           (p->njob < TD_PASS_JOBS && p->n == rows_of(w) && p->nfeed + w->s.nfed <= most &&
            same_feed(&p->feed[0], w->s.fed[0], w->s.axis[0]));
}

/* Elements per row of a reduction's result. */
static int64_t
inner_size(const plan *w)
{
    int64_t size = 1;

    for (int k = 0; k < w->top->view.shape.ndim; k++)
        if ((w->n->axes >> k & 1) && k != w->axis)
            size *= w->top->view.shape.dim[k];
    return size;
}

/* Adds rows of n in its present graph, which nobody else may change; host nodes and evaluated
 * values stay. */
static td_status
add_top(td_job *j, td_node *n, int axis)
{
    td_cutter c = {.hi = -1};
    td_status st = td_chunk_cut(&c, n, axis, &j->top[j->ntop]);

    td_cutter_end(&c);
    TD_TRY(st);
    j->axis[j->ntop++] = axis;
    return TD_OK;
}

static void
go_over(td_pass *p, td_job *j, int64_t rows, const td_survey *s)
{
    j->rows = p->n = rows;
    if (s->multiple > p->multiple)
        p->multiple = s->multiple;
    p->calls |= s->calls;
    add_feeds(p, s);
}

static td_status
add_job(td_pass *p, const plan *w)
{
    td_job *j = &p->job[p->njob];
    td_node *n = w->n;

    *j = (td_job){.kind = w->merges ? &td_job_reduce : &td_job_map,
                  .to = w->axis,
                  .red = (td_red)n->op,
                  .axes = n->axes,
                  .keepdims = n->view.shape.ndim == w->top->view.shape.ndim,
                  .ddof = n->par[0].f[0],
                  .dt = (td_dtype)n->dt};
    TD_TRY(add_top(j, w->top, w->axis));
    j->node = td_node_ref(n);
    if (w->merges)
        j->inner = inner_size(w);
    p->njob++;
    go_over(p, j, rows_of(w), &w->s);
    return TD_OK;
}

static bool
has_job(const td_pass *p, const td_node *n)
{
    for (int i = 0; i < p->njob; i++)
        if (p->job[i].node == n)
            return true;
    return false;
}

/* Adds pending reductions under n that the pass can compute at no extra reading. */
static td_status
add_reductions(td_pass *p, td_node *n)
{
    td_walk w;
    plan *x = malloc(sizeof *x);
    td_status st = TD_OK;

    td_walk_under(&w, n);
    for (int i = 0; x && i < w.n && !st; i++) {
        td_node *r = w.node[i];

        if (r->kind == TD_N_REDUCE && r->hosted && !has_job(p, r) && make_plan(r, p->room, x) &&
            x->merges && !x->s.nwhole && joins(p, x) && td_node_bytes(r) <= p->room / 32 &&
            td_eval_claim(r))
            st = add_job(p, x);
    }
    free(x);
    return st;
}

static td_status
add_waiting(td_pass *p)
{
    td_status st = TD_OK;

    for (td_storage *s = td_pending_next(NULL); s && !st; s = td_pending_next(s))
        if (s->dev == p->dev && s->node->hosted && p->njob < TD_PASS_JOBS)
            st = add_reductions(p, s->node);
    return st;
}

static void
pass_end(td_pass *p)
{
    for (int i = 0; i < p->njob; i++) {
        td_job *j = &p->job[i];

        td_eval_release(j->node);
        td_source_unref(j->mem);
        td_array_unref(&j->result);
        td_buf_unref(j->out);
        for (int k = 0; k < j->ntop; k++)
            td_node_unref(j->top[k]);
        td_node_unref(j->node);
    }
    for (int i = 0; i < p->nfeed; i++)
        td_host_unref(p->feed[i].host);
    free(p);
}

/* ---- a set of values ---- */

/* set - the values that were asked for, with the options of the first, and which are still to
 * do. */
typedef struct set {
    td_node *node[WANTED_MAX];
    int n;
    const td_chunkopts *o; /* options of node[0]; NULL: the same as the others' */
    int64_t rows;          /* rows of a chunk, as requested; 0: as many as are good */
    size_t room;           /* what the device had free at the beginning */
} set;

static void
add_wanted(set *s, td_node *n)
{
    for (int i = 0; i < s->n; i++)
        if (s->node[i] == n)
            return;
    if (s->n < WANTED_MAX)
        s->node[s->n++] = td_node_ref(n);
}

static void
set_end(set *s)
{
    for (int i = 0; i < s->n; i++)
        td_node_unref(s->node[i]);
    s->n = 0;
}

static td_status eval_set(set *s);

/* Is value i done, or a host node where that counts as done? */
static bool
is_done(const set *s, int i)
{
    const td_node *n = s->node[i];

    return !n || n->buf || (i == 0 && s->o && s->o->host && n->kind == TD_N_HOST);
}

/* Evaluates what the set's values need as a whole.  *again: there was something, so graphs may
 * have changed. */
static td_status
settle_whole(const set *s, plan *w, bool *again)
{
    set need = {.n = 0, .rows = s->rows, .room = s->room};
    td_status st = TD_OK;

    for (int i = 0; i < s->n; i++) {
        /* eval_ready waits for those that another thread evaluates */
        if (is_done(s, i) || td_eval_running(s->node[i]))
            continue;
        if (!make_plan(s->node[i], s->room, w)) { /* it needs everything as a whole */
            for (int k = 0; k < s->node[i]->nsrc; k++)
                if (s->node[i]->src[k]->hosted)
                    add_wanted(&need, s->node[i]->src[k]);
            continue;
        }
        for (int k = 0; k < w->s.nwhole; k++)
            add_wanted(&need, w->s.whole[k]);
    }
    *again = need.n > 0;
    if (need.n)
        st = eval_set(&need);
    set_end(&need);
    return st;
}

static td_status
run_jobs(td_pass *p)
{
    td_status st = td_pass_run(p);

    for (int i = 0; i < p->njob && !st; i++)
        st = td_job_settle(&p->job[i]);
    return st;
}

/* Runs one pass for the set's first unfinished value and all values that go with it. */
static td_status
run_pass(const set *s, plan *w)
{
    td_pass *p = calloc(1, sizeof *p);
    td_status st = TD_OK;

    if (!p)
        return td_fail(TD_ERR_NOMEM, "array: out of host memory");
    p->multiple = 1;
    p->room = s->room;
    td_pending_hold(true);
    for (int i = 0; i < s->n && !st; i++)
        if (!is_done(s, i) && make_plan(s->node[i], s->room, w) && !w->s.nwhole && joins(p, w) &&
            td_eval_claim(s->node[i])) {
            p->dev = s->node[i]->dev;
            st = add_job(p, w);
            if (!st)
                st = td_job_open(&p->job[p->njob - 1], i ? NULL : s->o);
        }
    if (!st && p->njob) /* otherwise other threads have begun with all of them */
        st = add_waiting(p);
    if (!st && p->njob) {
        td_pass_size(p, s->rows);
        st = run_jobs(p);
    }
    td_pending_hold(false);
    pass_end(p);
    return st;
}

/* Evaluates values that no longer need rows, or waits for the thread that does. */
static td_status
eval_ready(const set *s, plan *w, bool *more)
{
    *more = false;
    for (int i = 0; i < s->n; i++) {
        td_node *n = s->node[i];

        if (is_done(s, i))
            continue;
        if (td_eval_claim(n)) {
            td_eval_release(n);
            if (n->hosted && n->kind != TD_N_HOST && make_plan(n, s->room, w)) {
                *more = true;
                continue;
            }
        }
        TD_TRY(td_eval_node(n));
    }
    return TD_OK;
}

static td_status
eval_set(set *s)
{
    plan *w = malloc(sizeof *w);
    bool again = true, sunk = false;
    td_status st = w ? TD_OK : td_fail(TD_ERR_NOMEM, "array: out of host memory");

    while (!st && again) {
        st = settle_whole(s, w, &again);
        if (st || again)
            continue;
        st = eval_ready(s, w, &again);
        if (!st && again) {
            sunk = !is_done(s, 0) && s->o && s->o->sink;
            st = run_pass(s, w);
        }
        if (sunk)
            break;
    }
    free(w);
    return st;
}

/* If everything fits the device, loads all sources that would be copied, for the next use too.
 * *left: sources not loaded. */
static td_status
load_all(td_node *n, const td_chunkopts *o, int *left)
{
    td_node *host[TD_CHUNK_HOSTS];
    size_t nbytes;
    int k = td_chunk_hosts(n, host, TD_CHUNK_HOSTS, &nbytes);
    bool fits = td_chunk_has_room(n->dev, nbytes + td_node_bytes(n)) && !o->rows;
    td_status st = TD_OK;

    *left = 0;
    for (int i = 0; i < k; i++) {
        bool there = host[i]->kind != TD_N_HOST; /* another thread may have loaded it by now */
        bool stays = !there && (!fits || td_feeder_in_place(n->dev, host[i]->host));

        if (!st && !stays && !there)
            st = td_eval_node(host[i]);
        *left += stays;
        td_node_unref(host[i]);
    }
    return st;
}

td_status
td_chunk_eval(td_node *n, const td_chunkopts *o)
{
    set s = {.o = o, .rows = o->rows, .room = td_chunk_room(n->dev)};
    td_status st;
    int left;

    TD_TRY(load_all(n, o, &left));
    if (!left)
        TD_TRY(td_rowfn_below(n));
    if (!left && !n->buf)
        n->hosted = false;
    if (!left || n->buf)
        return n->buf ? TD_OK : TD_SKIP;
    TD_TRY(td_tape_refuse("streaming from the host's memory"));
    add_wanted(&s, n);
    st = eval_set(&s);
    set_end(&s);
    return st;
}

/* ---- jobs of other kinds ---- */

/* Evaluates what the inputs need as a whole.  TD_SKIP: nothing of them is on the host any
 * more. */
static td_status
settle_inputs(const td_job *j, td_survey *s)
{
    bool again = true;
    int fed = 0;

    while (again) {
        set need = {.room = td_chunk_room(j->node->dev)};
        td_status st = TD_OK;

        fed = 0;
        for (int k = 0; k < j->ntop; k++) {
            td_chunk_survey(j->top[k], j->axis[k], s);
            fed += s->nfed;
            for (int i = 0; i < s->nwhole; i++)
                add_wanted(&need, s->whole[i]);
        }
        again = need.n > 0;
        if (again)
            st = eval_set(&need);
        set_end(&need);
        TD_TRY(st);
    }
    return fed ? TD_OK : TD_SKIP;
}

static td_status
fill_pass(td_pass *p, const td_job *like, td_survey *s)
{
    td_job *j = &p->job[0];

    *j = *like;
    j->ntop = 0;
    j->node = td_node_ref(like->node);
    p->njob = 1;
    p->multiple = 1;
    p->dev = like->node->dev;
    for (int k = 0; k < like->ntop; k++) {
        td_chunk_survey(like->top[k], like->axis[k], s);
        TD_TRY(add_top(j, like->top[k], like->axis[k]));
        go_over(p, j, like->top[k]->view.shape.dim[like->axis[k]], s);
    }
    TD_TRY(td_job_open(j, &(td_chunkopts){.host = true}));
    td_pass_size(p, like->chunk);
    return TD_OK;
}

static td_status
run_job(const td_job *j, td_survey *s)
{
    td_pass *p = calloc(1, sizeof *p);
    td_status st;

    if (!p)
        return td_fail(TD_ERR_NOMEM, "array: out of host memory");
    td_pending_hold(true);
    st = fill_pass(p, j, s);
    if (!st)
        st = run_jobs(p);
    td_pending_hold(false);
    pass_end(p);
    return st;
}

td_status
td_chunk_job(td_job *j)
{
    td_survey *s = malloc(sizeof *s);
    td_status st = s ? TD_OK : td_fail(TD_ERR_NOMEM, "array: out of host memory");

    if (!st)
        st = td_tape_refuse("streaming from the host's memory");
    if (!st)
        st = settle_inputs(j, s);
    if (!st)
        st = run_job(j, s);
    if (st == TD_ERR_OOM && !td_job_merges(j) &&
        !j->on_host) { /* there was no memory for the result on the device */
        j->on_host = true;
        st = run_job(j, s);
    }
    free(s);
    return st;
}
