/* poolwait.c - freed blocks that work may still use, and the streams they wait for.
 *
 * A freed block is reused on its own stream, after that stream's earlier work.  If other streams
 * used it, it also waits for events on those.  If others could write or read it (TD_BUF_SHARED),
 * unknown streams may use it: it waits in `shared` until the device has been synchronised.
 *
 * Another library's stream may be destroyed at any time, without a word to us.  So no block names
 * one: work on it lies between td_stream_enter and td_stream_leave, and the default stream, which
 * comes after that work, stands for it here (td_buf_use).
 */
#include "dev/pool/pool.h"

#include <stdlib.h>

static bool
has_streams(const td_dev *d)
{
    return d->ops->stream_new != NULL;
}

/* ---- under the pool's lock ---- */

/* Frees a dead stream that no buffer names any more. */
static void
drop_stream(td_pool *p, td_stream *s)
{
    td_stream **at = &p->streams;

    if (!s->dead || s->live)
        return;
    while (*at != s)
        at = &(*at)->next;
    *at = s->next;
    free(s);
}

static void
forget_use(td_pool *p, td_stream *s)
{
    s->live--;
    drop_stream(p, s);
}

/* Returns b to its heap: nobody holds it, and no work uses it. */
static void
take_in(td_block *b)
{
    td_pool *p = &b->buf.dev->pool;
    td_stream *s = b->buf.stream;

    for (int i = 0; i < b->nuse; i++)
        forget_use(p, b->use[i]);
    b->nuse = 0;
    td_heap_put(b);
    forget_use(p, s);
}

static void
push_block(td_block **list, td_block *b)
{
    b->next = *list;
    *list = b;
}

void
td_pool_note_use(td_block *b, td_stream *s)
{
    for (int i = 0; i < b->nuse; i++)
        if (b->use[i] == s)
            return;
    if (b->nuse < TD_USES) {
        b->use[b->nuse++] = s;
        s->live++;
    } else {
        atomic_fetch_or(&b->buf.flags, TD_BUF_SHARED);
    }
}

void
td_pool_retire(td_block *b)
{
    td_pool *p = &b->buf.dev->pool;
    td_stream *s = b->buf.stream, *home = b->region->stream;

    p->used -= b->buf.capacity;
    if (!has_streams(b->buf.dev)) {
        take_in(b);
        return;
    }
    /* unless b's own stream comes after all that s did */
    if (home != s && !(s->dead && home == &home->dev->def))
        td_pool_note_use(b, s);
    if (atomic_load_explicit(&b->buf.flags, memory_order_relaxed) & TD_BUF_SHARED) {
        push_block(&p->shared, b);
    } else if (b->nuse) {
        push_block(&p->unmarked, b);
        atomic_store_explicit(&p->mark, true, memory_order_relaxed);
    } else {
        take_in(b);
    }
}

/* ---- without the lock: blocks that wait ---- */

static void
drop_events(td_block *b)
{
    for (int i = 0; i < TD_USES; i++) {
        td_event_free(b->done[i]);
        b->done[i] = NULL;
    }
}

/* Records an event on each stream that used b.  Work of a dead stream precedes the default
 * stream's. */
static td_status
poolwait_mark(td_block *b)
{
    td_dev *d = b->buf.dev;

    for (int i = 0; i < b->nuse; i++) {
        TD_TRY(td_event_new(d, false, &b->done[i]));
        TD_TRY(td_event_record(b->done[i], b->use[i]->dead ? &d->def : b->use[i]));
    }
    return TD_OK;
}

void
td_pool_mark(td_dev *d)
{
    td_pool *p = &d->pool;
    td_block *list;

    pthread_mutex_lock(&p->marks);
    pthread_mutex_lock(&p->mu);
    list = p->unmarked;
    p->unmarked = NULL;
    atomic_store_explicit(&p->mark, false, memory_order_relaxed);
    pthread_mutex_unlock(&p->mu);
    for (td_block *b; (b = list);) {
        bool ok;

        list = b->next;
        ok = poolwait_mark(b) == TD_OK;
        if (!ok)
            drop_events(b);
        pthread_mutex_lock(&p->mu);
        push_block(ok ? &p->waiting : &p->shared, b);
        pthread_mutex_unlock(&p->mu);
    }
    pthread_mutex_unlock(&p->marks);
}

static bool
has_passed(const td_block *b)
{
    bool done = true;

    for (int i = 0; i < b->nuse && done; i++)
        if (td_event_done(b->done[i], &done)) /* a failure shows where the device is used next */
            done = false;
    return done;
}

void
td_pool_poll(td_dev *d)
{
    td_pool *p = &d->pool;
    td_block *list;

    pthread_mutex_lock(&p->mu);
    list = p->waiting;
    p->waiting = NULL;
    pthread_mutex_unlock(&p->mu);
    for (td_block *b; (b = list);) {
        bool passed = has_passed(b);

        list = b->next;
        if (passed)
            drop_events(b);
        pthread_mutex_lock(&p->mu);
        if (passed)
            take_in(b);
        else
            push_block(&p->waiting, b);
        pthread_mutex_unlock(&p->mu);
    }
}

static td_block *
concat_blocks(td_block *a, td_block *b)
{
    td_block **at = &a;

    while (*at)
        at = &(*at)->next;
    *at = b;
    return a;
}

td_status
td_pool_settle(td_dev *d, bool all)
{
    td_pool *p = &d->pool;
    td_block *list;
    td_status st;

    pthread_mutex_lock(&p->mu);
    list = p->shared;
    p->shared = NULL;
    if (all) {
        list = concat_blocks(concat_blocks(list, p->waiting), p->unmarked);
        p->waiting = p->unmarked = NULL;
    }
    pthread_mutex_unlock(&p->mu);
    if (!list)
        return TD_OK;
    st = d->ops->sync(d);
    for (td_block *b; (b = list);) {
        list = b->next;
        drop_events(b);
        pthread_mutex_lock(&p->mu);
        if (st)
            push_block(&p->shared, b);
        else
            take_in(b);
        pthread_mutex_unlock(&p->mu);
    }
    return st;
}

/* ---- streams ---- */

void
td_pool_stream(td_stream *s)
{
    td_pool *p = &s->dev->pool;

    pthread_mutex_lock(&p->mu);
    s->next = p->streams;
    p->streams = s;
    pthread_mutex_unlock(&p->mu);
}

td_stream *
td_pool_stream_find(td_dev *d, const void *handle)
{
    td_stream *s;

    pthread_mutex_lock(&d->pool.mu);
    for (s = d->pool.streams; s && (s->handle != handle || s->dead);)
        s = s->next;
    pthread_mutex_unlock(&d->pool.mu);
    return s;
}

void
td_pool_stream_gone(td_stream *s)
{
    td_pool *p = &s->dev->pool;

    pthread_mutex_lock(&p->marks);
    if (s->dev->ops->stream_free)
        s->dev->ops->stream_free(s);
    pthread_mutex_lock(&p->mu);
    td_heap_move(p, s, &s->dev->def);
    s->dead = true;
    drop_stream(p, s);
    pthread_mutex_unlock(&p->mu);
    pthread_mutex_unlock(&p->marks);
}
