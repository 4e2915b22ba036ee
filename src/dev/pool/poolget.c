/* poolget.c - finds a block for a request, and returns memory to the driver.
 *
 * Free blocks come first, then blocks whose wait is over, then new memory from the driver.  When
 * memory is short, unused regions and whole grains of free blocks go back, and a request is
 * joined of free ends (heapcut.c).
 */
#include "dev/pool/pool.h"
#include "dev/pool/share.h"

#include <stdlib.h>

/* ---- returning memory ---- */

td_status
td_pool_give_back(td_dev *d, td_region *list)
{
    td_status st = TD_OK, r;

    for (td_region *x; (x = list); free(x)) {
        list = x->next;
        r = d->ops->mem_put(d, &x->mem);
        st = st ? st : r;
        for (td_block *b = x->first, *right; b; b = right) {
            right = b->right;
            free(b);
        }
        if (x->end[0] || x->end[1]) {
            pthread_mutex_lock(&d->pool.mu);
            td_heap_unjoin(x->end);
            pthread_mutex_unlock(&d->pool.mu);
        }
    }
    return st;
}

td_status
td_mem_trim(td_dev *d)
{
    td_region *idle;
    td_status st, r;

    td_share_poll();
    st = td_pool_settle(d, true);

    do { /* freeing a region may free the ends that it joined */
        pthread_mutex_lock(&d->pool.mu);
        idle = td_heap_idle(&d->pool);
        pthread_mutex_unlock(&d->pool.mu);
        r = td_pool_give_back(d, idle);
        st = st ? st : r;
    } while (idle);
    if (d->ops->trim)
        d->ops->trim();
    return st;
}

/* Returns the parts of regions that no live block touches, so that scattered free memory can
 * become a region elsewhere. The driver may not wait for work on them, so this function does. */
static td_status
cut_regions(td_dev *d, size_t need)
{
    td_pool *p = &d->pool;
    td_block *list;
    size_t n = 0;
    td_status st, r;

    pthread_mutex_lock(&p->mu);
    list = td_heap_cut(p, need);
    pthread_mutex_unlock(&p->mu);
    if (!list)
        return TD_OK;
    st = d->ops->sync(d);
    for (td_block *b = list; b; b = b->next) {
        r = st ? st
               : d->ops->mem_cut(d, &b->region->mem, b->buf.ptr - b->region->mem.ptr,
                                 b->buf.capacity);
        n += r ? 0 : b->buf.capacity;
        b->gone = r == TD_OK;
        st = st ? st : r;
    }
    pthread_mutex_lock(&p->mu);
    p->held -= n;
    td_heap_cut_done(list);
    pthread_mutex_unlock(&p->mu);
    return st;
}

static size_t
beyond_limit(td_pool *p)
{
    size_t n;

    pthread_mutex_lock(&p->mu);
    n = p->held > p->limit ? p->held - p->limit : 0;
    pthread_mutex_unlock(&p->mu);
    return n;
}

td_status
td_pool_shrink(td_dev *d)
{
    td_pool *p = &d->pool;
    size_t n, used;

    for (;;) {
        if (beyond_limit(p))
            TD_TRY(td_mem_trim(d));
        if ((n = beyond_limit(p)) && p->grain)
            TD_TRY(cut_regions(d, n));
        used = td_mem_stats(d).used;
        if (used <= p->limit ||
            !td_pool_pressed(d, used - p->limit < p->limit ? used - p->limit : p->limit))
            return TD_OK;
    }
}

/* ---- getting a block ---- */

/* Marks b as handed out on s for nbytes. */
static void
hand_out(td_block *b, td_stream *s, size_t nbytes)
{
    td_pool *p = &s->dev->pool;

    atomic_store_explicit(&b->buf.refs, 1, memory_order_relaxed);
    atomic_store_explicit(&b->buf.flags, 0, memory_order_relaxed);
    b->buf.nbytes = nbytes;
    b->buf.holder = NULL;
    b->buf.used = 0;
    b->buf.stream = s;
    s->live++;
    p->allocs++;
    p->used += b->buf.capacity;
    if (p->used > p->peak)
        p->peak = p->used;
}

/* Needs the lock.  May n bytes more be held?  If so they count as held. */
static bool
may_hold(td_pool *p, size_t n)
{
    size_t most = p->limit < p->most ? p->limit : p->most;
    bool fits = p->held <= most && n <= most - p->held;

    p->held += fits ? n : 0;
    return fits;
}

/* Gets memory from the driver.  TD_ERR_OOM has no text here. */
static td_status
driver_get(td_dev *d, td_piece *m)
{
    td_pool *p = &d->pool;
    size_t size = m->nbytes;
    td_status st = TD_ERR_OOM;
    bool fits;

    pthread_mutex_lock(&p->mu);
    fits = may_hold(p, size);
    pthread_mutex_unlock(&p->mu);
    if (fits)
        st = d->ops->mem_get(d, m);
    pthread_mutex_lock(&p->mu);
    p->held -= fits && st ? size : 0;
    p->driver_allocs += !st;
    pthread_mutex_unlock(&p->mu);
    return st;
}

/* Needs the lock.  May a cached block of n bytes be handed out?  With a limit that was set
 * later, cached memory beyond it is stuck between blocks in use, or is returned as soon as
 * possible: *idle lists such regions. */
static bool
may_use(td_pool *p, size_t n, td_region **idle)
{
    if (p->held <= p->limit)
        return true;
    *idle = td_heap_idle(p);
    return p->used <= p->limit && n <= p->limit - p->used;
}

/* Hands out a cached block.  NULL: there is none. */
static td_block *
reuse(td_stream *s, int kind, size_t size, size_t nbytes)
{
    td_pool *p = &s->dev->pool;
    td_region *idle = NULL;
    td_block *b;

    pthread_mutex_lock(&p->mu);
    b = may_use(p, size, &idle) ? td_heap_take(s, kind, size) : NULL;
    if (b)
        hand_out(b, s, nbytes);
    pthread_mutex_unlock(&p->mu);
    (void)td_pool_give_back(s->dev, idle);
    return b;
}

/* A block from a new region of `grow` bytes, or of fewer if that is too much. */
static td_status
reuse_new(td_stream *s, int kind, size_t grow, size_t nbytes, td_block **out)
{
    td_dev *d = s->dev;
    int usual;
    size_t size = td_heap_size(nbytes, &usual);
    td_region *r;
    td_piece mem = {.nbytes = grow, .grain = td_heap_grain(&d->pool, kind)};
    td_status st = driver_get(d, &mem);

    if (st)
        return st;
    r = td_region_new(s, kind, &mem);
    pthread_mutex_lock(&d->pool.mu);
    if (r) {
        td_heap_add(&d->pool, r);
        *out = td_block_take(r->first, s, size);
        hand_out(*out, s, nbytes);
    } else {
        d->pool.held -= grow;
    }
    pthread_mutex_unlock(&d->pool.mu);
    if (r)
        return TD_OK;
    (void)d->ops->mem_put(d, &mem);
    return td_fail(TD_ERR_NOMEM, "buffer: no host memory for its record");
}

/* The same, in a region of the pool's usual size, or with `small` of the least size that
 * serves. */
static td_status
grow_pool(td_stream *s, int kind, bool small, size_t nbytes, td_block **out)
{
    const size_t page = (size_t)2 << 20;
    int usual;
    size_t size = td_heap_size(nbytes, &usual), least = (size + page - 1) / page * page, want;
    td_status st;

    pthread_mutex_lock(&s->dev->pool.mu);
    want = td_heap_growth(s, kind, size);
    pthread_mutex_unlock(&s->dev->pool.mu);
    st = reuse_new(s, kind, want, nbytes, out);
    return st == TD_ERR_OOM && small && least < want ? reuse_new(s, kind, least, nbytes, out) : st;
}

/* A block joined of free ends and as little new memory as possible. */
static td_status
join_ends(td_stream *s, size_t nbytes, td_block **out)
{
    td_dev *d = s->dev;
    td_pool *p = &d->pool;
    int kind;
    td_join j;
    td_piece mem;
    td_region *r = NULL;
    td_status st;

    pthread_mutex_lock(&p->mu);
    j = td_heap_join(s, td_heap_size(nbytes, &kind));
    st = may_hold(p, j.nbytes) ? TD_OK : TD_ERR_OOM;
    if (st)
        td_heap_unjoin(j.end);
    pthread_mutex_unlock(&p->mu);
    if (st)
        return st;
    mem = (td_piece){.nbytes = j.nbytes, .grain = p->grain};
    st = d->ops->mem_join(d, &mem, j.part);
    if (!st && !(r = td_region_joined(s, &mem, &j))) {
        (void)d->ops->mem_put(d, &mem);
        st = td_fail(TD_ERR_NOMEM, "buffer: no host memory for its record");
    }
    pthread_mutex_lock(&p->mu);
    if (r) {
        td_heap_add(p, r);
        *out = td_block_take(r->first, s, j.size);
        hand_out(*out, s, nbytes);
    } else {
        td_heap_unjoin(j.end);
        p->held -= j.nbytes;
    }
    p->driver_allocs += r != NULL;
    pthread_mutex_unlock(&p->mu);
    return st;
}

/* Takes a block cached for another stream, after the whole device is done with it. */
static td_status
steal(td_stream *s, int kind, size_t size, size_t nbytes, td_block **out)
{
    td_pool *p = &s->dev->pool;
    td_region *idle = NULL;
    td_block *b = NULL;
    bool may;
    td_status st;

    pthread_mutex_lock(&p->mu);
    may = may_use(p, size, &idle);
    for (td_stream *t = p->streams; may && t && !b; t = t->next)
        b = t == s ? NULL : td_heap_take(t, kind, size);
    if (b)
        hand_out(b, s, nbytes);
    pthread_mutex_unlock(&p->mu);
    (void)td_pool_give_back(s->dev, idle);
    if (!b)
        return TD_ERR_OOM;
    st = s->dev->ops->sync(s->dev);
    if (st)
        td_buf_unref(&b->buf);
    *out = b;
    return st;
}

static void
note_full(td_pool *p)
{
    pthread_mutex_lock(&p->mu);
    p->full = p->held;
    pthread_mutex_unlock(&p->mu);
}

/* Is it better to use what larger requests have left than to take new pages? */
static bool
is_near_full(td_pool *p)
{
    bool near;

    pthread_mutex_lock(&p->mu);
    near = p->grain && p->held >= p->full - p->full / 8;
    pthread_mutex_unlock(&p->mu);
    return near;
}

td_status
td_pool_get(td_dev *d, td_stream *s, bool plain, size_t nbytes, td_block **out)
{
    int kind;
    size_t size = td_heap_size(nbytes, &kind);
    bool joins = kind == TD_HEAP_MIDDLE && !plain && d->pool.grain && d->ops->mem_join;
    td_status st;

    if (plain && td_heap_grain(&d->pool, kind))
        kind = TD_HEAP_PLAIN;

    if (atomic_load_explicit(&d->pool.mark, memory_order_relaxed))
        td_pool_mark(d);
    *out = reuse(s, kind, size, nbytes);
    if (!*out && kind == TD_HEAP_MIDDLE)
        *out = reuse(s, TD_HEAP_JOINED, size, nbytes);
    if (*out)
        return TD_OK;
    td_share_poll();
    td_pool_poll(d);
    TD_TRY(td_pool_settle(d, false));
    *out = reuse(s, kind, size, nbytes);
    if (*out)
        return TD_OK;
    if (kind == TD_HEAP_SMALL && is_near_full(&d->pool) &&
        ((*out = reuse(s, TD_HEAP_JOINED, size, nbytes)) ||
         (*out = reuse(s, TD_HEAP_MIDDLE, size, nbytes))))
        return TD_OK;
    st = grow_pool(s, kind, !joins, nbytes, out);
    if (st != TD_ERR_OOM)
        return st;
    note_full(&d->pool);
    TD_TRY(td_mem_trim(d));
    *out = reuse(s, kind, size, nbytes); /* a block whose wait is over may be there now */
    st = *out ? TD_OK : joins ? TD_ERR_OOM : grow_pool(s, kind, true, nbytes, out);
    if (st == TD_ERR_OOM && d->pool.grain && !(st = cut_regions(d, size + d->pool.grain)))
        st = joins ? join_ends(s, nbytes, out) : grow_pool(s, kind, true, nbytes, out);
    for (int other = plain ? -1 : TD_HEAP_LARGE; st == TD_ERR_OOM && other >= 0; other--) {
        *out = reuse(s, other, size, nbytes);
        st = *out ? TD_OK : st;
    }
    return st == TD_ERR_OOM ? steal(s, kind, size, nbytes, out) : st;
}
