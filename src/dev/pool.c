/* pool.c - device memory, recycled; the buffers that stand for it.
 *
 * A freed block may still be in use by work given to its stream before; it is handed out again on
 * that stream only, where it is reached after that work.  A block that other streams used
 * (td_buf_use) waits besides for events on those.  A block that others could write or read
 * (TD_BUF_SHARED) may be in use on streams that we do not know: it waits in `shared` until the
 * device has been synchronised.
 *
 * td_buf_unref never calls the driver, unless kept memory is given back on a device whose pool may
 * keep only so much (the CPU): events are recorded by the next request for memory.
 */
#include "dev/heap.h"
#include "dev/share.h"
#include "dev/work.h"

#include <stdlib.h>

static bool
has_streams(const td_dev *d)
{
    return d->ops->stream_new != NULL;
}

/* ---- under the pool's lock ---- */

/* Removes a dead stream that no buffer names any more. */
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
forget(td_pool *p, td_stream *s)
{
    s->live--;
    drop_stream(p, s);
}

/* b is handed out on s for nbytes. */
static void
hand_out(td_block *b, td_stream *s, size_t nbytes)
{
    td_pool *p = &s->dev->pool;

    atomic_store_explicit(&b->buf.refs, 1, memory_order_relaxed);
    atomic_store_explicit(&b->buf.flags, 0, memory_order_relaxed);
    b->buf.nbytes = nbytes;
    b->buf.stream = s;
    s->live++;
    p->allocs++;
    p->used += b->buf.capacity;
    if (p->used > p->peak)
        p->peak = p->used;
}

/* b is nobody's any more, and nobody else's work uses it. */
static void
take_in(td_block *b)
{
    td_pool *p = &b->buf.dev->pool;
    td_stream *s = b->buf.stream;

    for (int i = 0; i < b->nuse; i++)
        forget(p, b->use[i]);
    b->nuse = 0;
    td_heap_put(b);
    forget(p, s);
}

static void
push(td_block **list, td_block *b)
{
    b->next = *list;
    *list = b;
}

/* Adds s to those that b waits for. */
static void
note_use(td_block *b, td_stream *s)
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

/* Puts b, just freed, where it waits for what may still use it. */
static void
retire(td_block *b)
{
    td_pool *p = &b->buf.dev->pool;
    td_stream *s = b->buf.stream, *home = b->region->stream;

    p->used -= b->buf.capacity;
    if (!has_streams(b->buf.dev)) {
        take_in(b);
        return;
    }
    if (home != s && !(s->dead && home == &home->dev->def)) /* that comes after all s did */
        note_use(b, s);
    if (atomic_load_explicit(&b->buf.flags, memory_order_relaxed) & TD_BUF_SHARED) {
        push(&p->shared, b);
    } else if (b->nuse) {
        push(&p->unmarked, b);
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

/* Records an event on each stream that used b.  A dead one's work is before the default's. */
static td_status
mark(td_block *b)
{
    td_dev *d = b->buf.dev;

    for (int i = 0; i < b->nuse; i++) {
        TD_TRY(td_event_new(d, false, &b->done[i]));
        TD_TRY(td_event_record(b->done[i], b->use[i]->dead ? &d->def : b->use[i]));
    }
    return TD_OK;
}

/* Records the events of the blocks freed since the last time.  Where that fails a block waits for the
 * whole device. */
static void
mark_all(td_dev *d)
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
        ok = mark(b) == TD_OK;
        if (!ok)
            drop_events(b);
        pthread_mutex_lock(&p->mu);
        push(ok ? &p->waiting : &p->shared, b);
        pthread_mutex_unlock(&p->mu);
    }
    pthread_mutex_unlock(&p->marks);
}

static bool
has_passed(const td_block *b)
{
    bool done = true;

    for (int i = 0; i < b->nuse && done; i++)
        if (td_event_done(b->done[i], &done)) /* says so where the device is used next */
            done = false;
    return done;
}

/* Takes in the blocks whose events have passed. */
static void
poll_waiting(td_dev *d)
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
            push(&p->waiting, b);
        pthread_mutex_unlock(&p->mu);
    }
}

static td_block *
join(td_block *a, td_block *b)
{
    td_block **at = &a;

    while (*at)
        at = &(*at)->next;
    *at = b;
    return a;
}

/* Waits for the device and takes in what waited for that: shared blocks, with `all` the others too. */
static td_status
settle(td_dev *d, bool all)
{
    td_pool *p = &d->pool;
    td_block *list;
    td_status st;

    pthread_mutex_lock(&p->mu);
    list = p->shared;
    p->shared = NULL;
    if (all) {
        list = join(join(list, p->waiting), p->unmarked);
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
            push(&p->shared, b);
        else
            take_in(b);
        pthread_mutex_unlock(&p->mu);
    }
    return st;
}

static td_status
give_back(td_dev *d, td_region *list)
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
    st = settle(d, true);

    do { /* what goes may let go of parts of others */
        pthread_mutex_lock(&d->pool.mu);
        idle = td_heap_idle(&d->pool);
        pthread_mutex_unlock(&d->pool.mu);
        r = give_back(d, idle);
        st = st ? st : r;
    } while (idle);
    if (d->ops->trim)
        d->ops->trim();
    return st;
}

/* Gives back the parts of regions that no live block touches, so that what is free in pieces can
 * become a region elsewhere.  The driver may not wait for work on what is taken away: we do. */
static td_status
cut(td_dev *d, size_t need)
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

/* ---- getting a block ---- */

/* May n bytes more be held?  Then they count as held.  Under the lock. */
static bool
may_hold(td_pool *p, size_t n)
{
    size_t most = p->limit < p->most ? p->limit : p->most;
    bool fits = p->held <= most && n <= most - p->held;

    p->held += fits ? n : 0;
    return fits;
}

/* Memory from the driver.  TD_ERR_OOM has no text here. */
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

/* A kept block, handed out; NULL when there is none. */
static td_block *
reuse(td_stream *s, int kind, size_t size, size_t nbytes)
{
    td_pool *p = &s->dev->pool;
    td_block *b;

    pthread_mutex_lock(&p->mu);
    b = td_heap_take(s, kind, size);
    if (b)
        hand_out(b, s, nbytes);
    pthread_mutex_unlock(&p->mu);
    return b;
}

/* A block from a new region of `grow` bytes, or of fewer where that is too much. */
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
        *out = td_heap_take(s, kind, size);
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

/* The same, of the size that suits the pool, else, with `small`, of the least that serves. */
static td_status
grow(td_stream *s, int kind, bool small, size_t nbytes, td_block **out)
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

/* A block joined of free ends and as little new memory as that takes. */
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
        *out = td_heap_take(s, TD_HEAP_JOINED, j.size);
        hand_out(*out, s, nbytes);
    } else {
        td_heap_unjoin(j.end);
        p->held -= j.nbytes;
    }
    p->driver_allocs += r != NULL;
    pthread_mutex_unlock(&p->mu);
    return st;
}

/* A block kept for another stream, once the whole device is done with it. */
static td_status
steal(td_stream *s, int kind, size_t size, size_t nbytes, td_block **out)
{
    td_pool *p = &s->dev->pool;
    td_block *b = NULL;
    td_status st;

    pthread_mutex_lock(&p->mu);
    for (td_stream *t = p->streams; t && !b; t = t->next)
        b = t == s ? NULL : td_heap_take(t, kind, size);
    if (b)
        hand_out(b, s, nbytes);
    pthread_mutex_unlock(&p->mu);
    if (!b)
        return TD_ERR_OOM;
    st = s->dev->ops->sync(s->dev);
    if (st)
        td_buf_unref(&b->buf);
    *out = b;
    return st;
}

static td_status
get(td_dev *d, td_stream *s, bool plain, size_t nbytes, td_block **out)
{
    int kind;
    size_t size = td_heap_size(nbytes, &kind);
    bool joins = kind == TD_HEAP_MIDDLE && !plain && d->pool.grain && d->ops->mem_join;
    td_status st;

    if (plain && td_heap_grain(&d->pool, kind))
        kind = TD_HEAP_PLAIN;

    if (atomic_load_explicit(&d->pool.mark, memory_order_relaxed))
        mark_all(d);
    *out = reuse(s, kind, size, nbytes);
    if (!*out && kind == TD_HEAP_MIDDLE)
        *out = reuse(s, TD_HEAP_JOINED, size, nbytes);
    if (*out)
        return TD_OK;
    td_share_poll();
    poll_waiting(d);
    TD_TRY(settle(d, false));
    *out = reuse(s, kind, size, nbytes);
    if (*out)
        return TD_OK;
    st = grow(s, kind, !joins, nbytes, out);
    if (st != TD_ERR_OOM)
        return st;
    TD_TRY(td_mem_trim(d));
    *out = reuse(s, kind, size, nbytes); /* what waited may be there now */
    st = *out ? TD_OK : joins ? TD_ERR_OOM : grow(s, kind, true, nbytes, out);
    if (st == TD_ERR_OOM && d->pool.grain && !(st = cut(d, size + d->pool.grain)))
        st = joins ? join_ends(s, nbytes, out) : grow(s, kind, true, nbytes, out);
    for (int other = plain ? -1 : TD_HEAP_LARGE; st == TD_ERR_OOM && other >= 0; other--) {
        *out = reuse(s, other, size, nbytes);
        st = *out ? TD_OK : st;
    }
    return st == TD_ERR_OOM ? steal(s, kind, size, nbytes, out) : st;
}

/* Notes who asked, for the text of errors. */
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

    s = s ? s : &d->def;
    if (s->dev != d)
        return td_fail(TD_ERR_VALUE, "buffer: the stream belongs to %s, not to %s",
                       s->dev->info.name, d->info.name);
    if (nbytes <= (size_t)PTRDIFF_MAX)
        st = get(d, s, plain, nbytes, &b);
    if (st == TD_ERR_OOM && nbytes <= (size_t)PTRDIFF_MAX && td_pool_pressed(d))
        st = get(d, s, plain, nbytes, &b);
    if (st)
        return st == TD_ERR_OOM ? td_pool_oom(d, nbytes) : st;
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

td_status
td_pool_new(td_dev *d, td_stream *s, size_t nbytes, td_buf **out)
{
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

    if (!block_of(b)->region || !has_streams(b->dev) || s == b->stream || s->dev != b->dev)
        return;
    pthread_mutex_lock(&p->mu);
    note_use(block_of(b), s);
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
    retire(block_of(b));
    if (p->idle && p->held - p->used > p->keep)
        idle = td_heap_idle(p);
    pthread_mutex_unlock(&p->mu);
    (void)give_back(d, idle); /* only where the pool has a bound: the system takes it back */
}

/* ---- streams ---- */

void
td_pool_init(td_dev *d)
{
    pthread_mutex_init(&d->pool.mu, NULL);
    pthread_mutex_init(&d->pool.marks, NULL);
    d->pool.keep = d->pool.most = d->pool.limit = SIZE_MAX;
    td_pool_stream(&d->def);
}

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
