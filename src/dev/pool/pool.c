/* pool.c - buffers: device memory, recycled when its holder drops it.
 *
 * td_buf_unref does not call the driver; the next request for memory records the events.  The one
 * exception is a device whose pool is bounded (the CPU), where unref returns memory beyond the
 * bound.
 */
#include "dev/pool/pool.h"
#include "dev/core/work.h"

#include <stdlib.h>

void
td_pool_init(td_dev *d)
{
    pthread_mutex_init(&d->pool.mu, NULL);
    pthread_mutex_init(&d->pool.marks, NULL);
    d->pool.full = d->pool.keep = d->pool.most = d->pool.limit = SIZE_MAX;
    td_pool_stream(&d->def);
}

void
td_pool_lock(td_dev *d, bool lock)
{
    if (lock) {
        pthread_mutex_lock(&d->pool.marks);
        pthread_mutex_lock(&d->pool.mu);
    } else {
        pthread_mutex_unlock(&d->pool.mu);
        pthread_mutex_unlock(&d->pool.marks);
    }
}

/* ---- getting memory ---- */

/* Notes the program's line, for the text of errors. */
static void
set_site(td_block *b)
{
    td_pool *p = &b->buf.dev->pool;
    char *text = td_pool_site();

    pthread_mutex_lock(&p->mu);
    b->site = text;
    pthread_mutex_unlock(&p->mu);
}

static td_status
buf_new(td_dev *d, td_stream *s, bool plain, size_t nbytes, td_buf **out)
{
    td_block *b;
    td_status st = TD_ERR_OOM;
    bool foreign;

    s = s ? s : &d->def;
    if (s->dev != d)
        return td_fail(TD_ERR_VALUE, "buffer: the stream belongs to %s, not to %s",
                       s->dev->info.name, d->info.name);
    foreign = s->foreign;
    s = foreign ? &d->def : s; /* the pool asks nothing of a stream that its owner may destroy */
    if (nbytes <= (size_t)PTRDIFF_MAX)
        st = td_pool_get(d, s, plain, nbytes, &b);
    while (st == TD_ERR_OOM && nbytes <= (size_t)PTRDIFF_MAX &&
           (td_pool_pressed(d, nbytes) || td_pool_waited(d, nbytes)))
        st = td_pool_get(d, s, plain, nbytes, &b);
    if (st)
        return st == TD_ERR_OOM ? td_pool_oom(d, nbytes) : st;
    if (foreign)
        atomic_fetch_or(&b->buf.flags, TD_BUF_SHARED);
    if (nbytes >= TD_MEM_LARGE)
        set_site(b);
    if (d->live)
        d->live(b->buf.ptr, nbytes, true);
    *out = &b->buf;
    return TD_OK;
}

/* ---- buffers ---- */

static td_block *
block_of(td_buf *b)
{
    return (td_block *)b;
}

static _Atomic(td_buf_source *) source; /* set by td_buf_on_new */

void
td_buf_on_new(td_buf_source *fn)
{
    atomic_store(&source, fn);
}

td_status
td_pool_new(td_dev *d, td_stream *s, size_t nbytes, td_buf **out)
{
    td_buf_source *fn = atomic_load_explicit(&source, memory_order_relaxed);
    td_status st;

    if (fn && d->info.host && d->pool.limit == SIZE_MAX && (st = fn(d, nbytes, out)) != TD_SKIP)
        return st;
    return buf_new(d, s, false, nbytes, out);
}

td_status
td_pool_plain(td_dev *d, size_t nbytes, td_buf **out)
{
    return buf_new(d, NULL, true, nbytes, out);
}

const td_piece *
td_pool_piece(const td_buf *b)
{
    const td_region *r = ((const td_block *)b)->region;

    return r ? &r->mem : NULL;
}

/* Is somebody holding the block?  A block that waits for work is in no bin either, but nobody
 * holds it. */
static bool
is_live(td_block *b)
{
    return !b->free && !b->gone && atomic_load(&b->buf.refs) > 0;
}

td_found
td_pool_find(td_dev *d, uintptr_t ptr, size_t *nbytes, size_t *before)
{
    td_found r = TD_FOUND_NOT;

    pthread_mutex_lock(&d->pool.mu);
    for (const td_region *g = d->pool.regions; g && r == TD_FOUND_NOT; g = g->next) {
        if (ptr < g->mem.ptr || ptr - g->mem.ptr >= g->mem.nbytes)
            continue;
        r = TD_FOUND_FREE;
        for (td_block *b = g->first; b; b = b->right) {
            if (ptr < b->buf.ptr || ptr - b->buf.ptr >= b->buf.capacity)
                continue;
            if (is_live(b) && ptr - b->buf.ptr < b->buf.nbytes) {
                *nbytes = b->buf.nbytes - (ptr - b->buf.ptr);
                if (before)
                    *before = ptr - b->buf.ptr;
                r = TD_FOUND_LIVE;
            }
            break;
        }
    }
    pthread_mutex_unlock(&d->pool.mu);
    return r;
}

td_status
td_buf_wrap(td_dev *d, void *ptr, size_t nbytes, void (*release)(void *), void *owner, td_buf **out)
{
    td_block *b = calloc(1, sizeof *b);

    if (!b)
        return td_fail(TD_ERR_NOMEM, "buffer: no host memory for its record");
    atomic_init(&b->buf.refs, 1);
    b->buf.dev = d;
    b->buf.stream = &d->def;
    b->buf.ptr = (uintptr_t)ptr;
    b->buf.nbytes = nbytes;
    b->buf.release = release;
    b->buf.owner = owner;
    if (d->live)
        d->live(b->buf.ptr, nbytes, true);
    *out = &b->buf;
    return TD_OK;
}

td_buf *
td_buf_ref(td_buf *b)
{
    atomic_fetch_add_explicit(&b->refs, 1, memory_order_relaxed);
    return b;
}

void
td_buf_use(td_buf *b, td_stream *s)
{
    td_pool *p = &b->dev->pool;

    if (s->foreign) /* td_stream_leave has put its work before the default stream's */
        s = &s->dev->def;
    if (!block_of(b)->region || !b->dev->ops->stream_new || s == b->stream || s->dev != b->dev)
        return;
    pthread_mutex_lock(&p->mu);
    td_pool_note_use(block_of(b), s);
    pthread_mutex_unlock(&p->mu);
}

static void
free_wrapped(td_buf *b)
{
    if (b->release)
        b->release(b->owner);
    free(block_of(b));
}

void
td_buf_unref(td_buf *b)
{
    td_region *idle = NULL;
    td_dev *d;
    td_pool *p;

    if (!b || atomic_fetch_sub_explicit(&b->refs, 1, memory_order_acq_rel) != 1)
        return;
    d = b->dev;
    p = &d->pool;
    if (td_watched() && block_of(b)->region)
        td_trace_instant(TD_TRACE_free, d, "free", b->nbytes);
    if (d->live)
        d->live(b->ptr, b->nbytes, false);
    if (!block_of(b)->region) {
        free_wrapped(b);
        return;
    }
    pthread_mutex_lock(&p->mu);
    free(block_of(b)->site);
    block_of(b)->site = NULL;
    td_pool_retire(block_of(b));
    if (p->idle && p->held - p->used > p->keep)
        idle = td_heap_idle(p);
    pthread_mutex_unlock(&p->mu);
    (void)td_pool_give_back(d, idle); /* only where the pool is bounded: returns it to the system */
}
