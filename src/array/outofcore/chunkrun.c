/* chunkrun.c - one pass over the rows of sources; chunks are uploaded on a stream of their own
 * while kernels run.
 *
 * A feeder, a thread of the pass, fills SLOTS sets of buffers in turn.  It waits until the
 * kernels that read a set have been launched; its stream waits until they have run.  The caller
 * takes the sets in order, makes the jobs' graphs over them and launches.  So three chunks are
 * filled, copied and computed at the same time.  Sources that the device reads in place need none
 * of this.
 */
#include "array/outofcore/chunk.h"
#include "array/outofcore/feed.h"
#include "array/run/eval.h"
#include "array/run/fperror.h"

/* ---- rows of one chunk ---- */

/* Puts leaves in place of the sources, for the current chunk. */
static td_status
open_feeds(td_pass *p, const td_feeder *f, int slot, int64_t lo, int64_t hi)
{
    for (int i = 0; i < p->nfeed; i++) {
        td_feed *x = &p->feed[i];
        td_host part = td_host_part(x->host, x->axis, lo, 1, hi - lo);
        td_view v;

        if (x->in_place) {
            v = part.view;
            v.offset -= td_feeder_origin(x->host);
        } else {
            td_host_layout(&part, &v);
        }
        TD_TRY(td_node_leaf(td_feeder_buf(f, slot, i), x->host->src->dt, &v, &x->leaf));
    }
    return TD_OK;
}

static void
close_feeds(td_pass *p)
{
    for (int i = 0; i < p->nfeed; i++) {
        td_node_unref(p->feed[i].leaf);
        p->feed[i].leaf = NULL;
    }
}

typedef td_node *parts[TD_PASS_JOBS][TD_JOB_TOPS];

/* Cuts every job's part of the graph together. */
static td_status
cut_all(td_pass *p, int64_t lo, int64_t hi, parts part)
{
    td_cutter c = {.feed = p->feed, .nfeed = p->nfeed, .lo = lo, .hi = hi};
    td_status st = TD_OK;

    for (int i = 0; i < p->njob; i++)
        for (int k = 0; k < p->job[i].ntop && !st; k++)
            st = td_chunk_cut(&c, p->job[i].top[k], p->job[i].axis[k], &part[i][k]);
    td_cutter_end(&c);
    return st;
}

static td_status
eval_next(td_job *j)
{
    const td_array *all[TD_JOB_ACCS];
    int n = 0;

    for (int i = 0; i < TD_JOB_ACCS; i++)
        if (j->next[i].store)
            all[n++] = &j->next[i];
    return td_array_eval(all, n);
}

static td_status
job_step(td_job *j, const td_array *x)
{
    TD_TRY(j->kind->step(j, x, !j->acc[0].store, j->next));
    return eval_next(j);
}

static td_status
put_rows(td_job *j, td_node *part)
{
    td_view to;

    if (j->sink)
        return td_sink_put(j, part);
    to = td_view_slice(&j->node->view, j->to, j->at, 1, j->count);
    return td_eval_into(part, j->dt, j->out, &to);
}

static td_status
rows(td_job *j, const td_array *x)
{
    td_array r;
    td_node *n;
    td_status st;

    TD_TRY(j->kind->rows(j, x, &r));
    st = td_array_node(&r, &n);
    td_array_unref(&r);
    TD_TRY(st);
    st = j->count ? put_rows(j, n) : TD_OK;
    td_node_unref(n);
    return st ? st : eval_next(j);
}

/* Runs one job's part of the chunk and drops the references on it. */
static td_status
run_job(td_job *j, td_node *part[])
{
    td_array x[TD_JOB_TOPS] = {{0}};
    td_status st = TD_OK;

    if (!td_job_merges(j) && !j->kind->rows)
        return put_rows(j, part[0]);
    for (int k = 0; k < j->ntop && !st; k++)
        st = td_array_of_node(td_node_ref(part[k]), &x[k]);
    if (!st)
        st = td_job_merges(j) ? job_step(j, x) : rows(j, x);
    for (int k = 0; k < j->ntop; k++)
        td_array_unref(&x[k]);
    return st;
}

/* The chunk has succeeded: keeps what the jobs have made. */
static void
commit(td_pass *p)
{
    for (int i = 0; i < p->njob; i++)
        for (int k = 0; k < TD_JOB_ACCS; k++)
            if (p->job[i].next[k].store) {
                td_array_unref(&p->job[i].acc[k]);
                p->job[i].acc[k] = p->job[i].next[k];
                p->job[i].next[k].store = NULL;
            }
}

static void
drop_acc(td_array *a)
{
    for (int k = 0; k < TD_JOB_ACCS; k++)
        td_array_unref(&a[k]);
}

static td_status
run_chunk(td_pass *p, const td_feeder *f, int slot, int64_t lo, int64_t hi)
{
    parts part = {{NULL}};
    td_status st = open_feeds(p, f, slot, lo, hi);

    if (!st)
        st = cut_all(p, lo, hi, part);
    close_feeds(p);
    for (int i = 0; i < p->njob; i++) {
        td_job *j = &p->job[i];

        j->lo = j->at = lo;
        j->hi = hi;
        j->count = hi - lo;
        j->drain = p->drain;
        j->sums = &p->sums;
        for (int k = 0; k < j->ntop && !st; k++)
            st = td_fp_check(part[i][k]);
        st = st ? st : run_job(j, part[i]);
        for (int k = 0; k < j->ntop; k++)
            td_node_unref(part[i][k]);
    }
    if (!st)
        commit(p);
    for (int i = 0; i < p->njob; i++)
        drop_acc(p->job[i].next);
    while (p->sums.n > 0)
        td_array_unref(&p->sums.at[--p->sums.n].sum);
    return st;
}

/* Runs chunks from *lo on; *lo becomes the first row that is not done. */
static td_status
run_span(td_pass *p, int64_t *lo)
{
    td_feeder *f;
    td_status st, r;

    TD_TRY(td_feeder_open(p, *lo, &f));
    for (st = TD_OK; !st && *lo < p->n;) {
        int64_t hi = *lo + p->rows < p->n ? *lo + p->rows : p->n;
        int slot;

        st = td_graph_poll();
        if (!st)
            st = td_feeder_take(f, &slot);
        if (!st) {
            st = run_chunk(p, f, slot, *lo, hi);
            r = td_feeder_give(f, slot);
            st = st ? st : r;
        }
        if (!st)
            *lo = hi;
    }
    td_feeder_close(f);
    return st;
}

/* If several chunks of rows go to the host, copies them while others are computed. */
static td_status
open_drain(td_pass *p)
{
    bool sinks = false;

    for (int i = 0; i < p->njob; i++)
        sinks |= p->job[i].sink != NULL;
    if (!sinks || p->rows == p->n || td_dev_info(p->dev)->host)
        return TD_OK;
    return td_drain_open(p->dev, &p->drain);
}

td_status
td_pass_run(td_pass *p)
{
    uint8_t watching = td_fp_watching;
    int64_t lo = 0, tried = -1;
    td_status st;

    /* chunks must not report errors of our own merging; the nodes know what to watch for */
    td_fp_watching = 0;
    st = open_drain(p);
    while (!st) {
        st = run_span(p, &lo);
        if (st != TD_ERR_OOM || (p->rows <= p->multiple && lo == tried))
            break;
        tried = lo;
        st = td_drain_flush(p->drain); /* what the drain holds may be the missing memory */
        p->rows = p->rows / 2 / p->multiple * p->multiple;
        if (p->rows < p->multiple)
            p->rows = p->multiple;
    }
    if (!st)
        st = td_drain_flush(p->drain);
    td_drain_close(p->drain);
    p->drain = NULL;
    for (int i = 0; i < p->njob && !st; i++)
        if (td_job_merges(&p->job[i]))
            st = p->job[i].kind->finish(&p->job[i], &p->job[i].result);
    for (int i = 0; i < p->njob; i++)
        drop_acc(p->job[i].acc);
    td_fp_watching = watching;
    return st;
}
