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
        r = d->ops->mem_put(d, x->ptr, x->size);
        st = st ? st : r;
        free(x->first);
    }
    return st;
}

td_status
td_mem_trim(td_dev *d)
{
    td_region *idle;
    td_status st = settle(d, true), r;

    pthread_mutex_lock(&d->pool.mu);
    idle = td_heap_idle(&d->pool);
    pthread_mutex_unlock(&d->pool.mu);
    r = give_back(d, idle);
    if (d->ops->trim)
        d->ops->trim();
    return st ? st : r;
}

/* ---- getting a block ---- */

/* Memory from the driver.  TD_ERR_OOM has no text here. */
static td_status
driver_get(td_dev *d, size_t size, uintptr_t *ptr)
{
    td_pool *p = &d->pool;
    size_t most;
    td_status st = TD_ERR_OOM;
    bool fits;

    pthread_mutex_lock(&p->mu);
    most = p->limit < p->most ? p->limit : p->most;
    fits = p->held <= most && size <= most - p->held;
    p->held += fits ? size : 0;
    pthread_mutex_unlock(&p->mu);
    if (fits)
        st = d->ops->mem_get(d, size, ptr);
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
    size_t size = td_heap_size(nbytes, &kind);
    td_region *r;
    uintptr_t ptr;
    td_status st = driver_get(d, grow, &ptr);

    if (st)
        return st;
    r = td_region_new(s, kind, ptr, grow);
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
    (void)d->ops->mem_put(d, ptr, grow);
    return td_fail(TD_ERR_NOMEM, "buffer: no host memory for its record");
}

/* The same, of the size that suits the pool, else of the least that serves. */
static td_status
grow(td_stream *s, int kind, size_t nbytes, td_block **out)
{
    const size_t page = (size_t)2 << 20;
    size_t size = td_heap_size(nbytes, &kind), least = (size + page - 1) / page * page, want;
    td_status st;

    pthread_mutex_lock(&s->dev->pool.mu);
    want = td_heap_growth(s, kind, size);
    pthread_mutex_unlock(&s->dev->pool.mu);
    st = reuse_new(s, kind, want, nbytes, out);
    return st == TD_ERR_OOM && least < want ? reuse_new(s, kind, least, nbytes, out) : st;
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
get(td_dev *d, td_stream *s, size_t nbytes, td_block **out)
{
    int kind;
    size_t size = td_heap_size(nbytes, &kind);
    td_status st;

    if (atomic_load_explicit(&d->pool.mark, memory_order_relaxed))
        mark_all(d);
    *out = reuse(s, kind, size, nbytes);
    if (*out)
        return TD_OK;
    poll_waiting(d);
    TD_TRY(settle(d, false));
    *out = reuse(s, kind, size, nbytes);
    if (*out)
        return TD_OK;
    st = grow(s, kind, nbytes, out);
    if (st != TD_ERR_OOM)
        return st;
    TD_TRY(td_mem_trim(d));
    *out = reuse(s, kind, size, nbytes); /* what waited may be there now */
    st = *out ? TD_OK : grow(s, kind, nbytes, out);
    for (int other = TD_HEAPS - 1; st == TD_ERR_OOM && other >= 0; other--) {
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

td_status
td_pool_new(td_dev *d, td_stream *s, size_t nbytes, td_buf **out)
{
    td_block *b;
    td_status st = TD_ERR_OOM;

    s = s ? s : &d->def;
    if (s->dev != d)
        return td_fail(TD_ERR_VALUE, "buffer: the stream belongs to %s, not to %s",
                       s->dev->info.name, d->info.name);
    if (nbytes <= (size_t)PTRDIFF_MAX)
        st = get(d, s, nbytes, &b);
    if (st == TD_ERR_OOM && nbytes <= (size_t)PTRDIFF_MAX && td_pool_pressed(d))
        st = get(d, s, nbytes, &b);
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
