/* pool.c - device memory, recycled by size class; the buffers that stand for it.
 *
 * Sizes are multiples of 512 bytes in eight classes an octave; above LARGE they are multiples of
 * 2 MB, and a kept block serves a request that fills at least four fifths of it.  Small blocks are
 * cut from slabs.  A freed block may still be in use by work given to its stream before; it is
 * handed out again on that stream only, where it is reached after that work.  A block that others
 * could write or read (TD_BUF_SHARED) may be in use on streams that we do not know: it waits in
 * `shared` until the device has been synchronised.
 *
 * td_buf_unref never calls the driver, unless a kept block is given back on a device whose pool
 * may keep only so much (the CPU).
 */
#include "dev/devops.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNIT      ((size_t)512)
#define SLAB      ((size_t)2 << 20)
#define SLAB_ITEM ((size_t)64 << 10) /* larger blocks are taken from the driver one by one */
#define LARGE     ((size_t)1 << 20)

/* td_slab - memory that small blocks are cut from.  The pool's; lives until it is trimmed. */
struct td_slab {
    td_slab *next;
    uintptr_t ptr;
    size_t cut;  /* bytes given to blocks */
    size_t live; /* blocks handed out */
};

/* td_block - a buffer's record and its place in the pool.  Its holder's while live, else the pool's;
 * a wrapped one has capacity 0 and goes when its last reference does. */
struct td_block {
    td_buf buf; /* first: a td_buf * is a td_block * */
    td_block *next;
    td_slab *slab; /* NULL: its memory is its own */
};

static td_block *
block_of(td_buf *b)
{
    return (td_block *)b;
}

/* ---- size classes ---- */

static int
log2_of(size_t x)
{
    return 63 - __builtin_clzll(x);
}

/* The bin of a block of q units, and the class's own size.  Up to 8 units each has its bin. */
static int
bin_of(size_t q, size_t *class_units)
{
    int e;
    size_t step;

    if (q <= 8) {
        *class_units = q;
        return (int)q - 1;
    }
    e = log2_of(q - 1);
    step = (size_t)1 << (e - 3);
    *class_units = (q + step - 1) / step * step;
    return 8 * (e - 2) + (int)((*class_units - ((size_t)1 << e)) / step) - 1;
}

static size_t
round_up(size_t n, size_t to)
{
    return (n + to - 1) / to * to;
}

/* What a block for nbytes holds. */
static size_t
size_of(size_t nbytes)
{
    size_t q = round_up(nbytes ? nbytes : 1, UNIT) / UNIT, units;

    if (nbytes > LARGE)
        return round_up(nbytes, SLAB);
    bin_of(q, &units);
    return units * UNIT;
}

/* ---- under the pool's lock ---- */

static void
shelve(td_block *b)
{
    size_t units;
    td_block **bin = &b->buf.stream->bin[bin_of(b->buf.capacity / UNIT, &units)];

    b->next = *bin;
    *bin = b;
}

/* A kept block of s for `size` bytes, unlinked; NULL when there is none.  The bins above are looked
 * at as long as their blocks would not waste too much. */
static td_block *
unshelve(td_stream *s, size_t size)
{
    size_t most = size <= LARGE ? size : size + size / 4, units;
    int bin = bin_of(size / UNIT, &units), last = size <= LARGE ? bin : bin + 3;

    for (; bin <= last && bin < TD_BINS; bin++)
        for (td_block **p = &s->bin[bin], *b; (b = *p); p = &b->next)
            if (b->buf.capacity >= size && b->buf.capacity <= most) {
                *p = b->next;
                return b;
            }
    return NULL;
}

/* A new block from the stream's slab; NULL when the slab has no room or memory for records is out. */
static td_block *
cut(td_stream *s, size_t size)
{
    td_slab *slab = s->slab;
    td_block *b;

    if (!slab || slab->cut + size > SLAB)
        return NULL;
    b = calloc(1, sizeof *b);
    if (!b)
        return NULL;
    b->buf.dev = s->dev;
    b->buf.stream = s;
    b->buf.ptr = slab->ptr + slab->cut;
    b->buf.capacity = size;
    b->slab = slab;
    slab->cut += size;
    return b;
}

/* b is handed out for nbytes. */
static void
hand_out(td_block *b, size_t nbytes)
{
    td_pool *p = &b->buf.dev->pool;

    atomic_store_explicit(&b->buf.refs, 1, memory_order_relaxed);
    atomic_store_explicit(&b->buf.flags, 0, memory_order_relaxed);
    b->buf.nbytes = nbytes;
    b->buf.stream->live++;
    if (b->slab)
        b->slab->live++;
    p->allocs++;
    p->used += b->buf.capacity;
    if (p->used > p->peak)
        p->peak = p->used;
}

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

/* b is nobody's any more.  Its stream may be gone; the default one comes after all its work. */
static void
take_in(td_block *b)
{
    td_pool *p = &b->buf.dev->pool;
    td_stream *s = b->buf.stream;

    if (b->slab)
        b->slab->live--;
    if (s->dead)
        b->buf.stream = &b->buf.dev->def;
    shelve(b);
    s->live--;
    drop_stream(p, s);
}

/* Removes what no buffer needs from bins and slabs; the lists returned are the caller's. */
static void
take_kept(td_pool *p, td_block **blocks, td_slab **slabs)
{
    *blocks = NULL;
    *slabs = NULL;
    for (td_stream *s = p->streams; s; s = s->next)
        for (int i = 0; i < TD_BINS; i++)
            for (td_block **at = &s->bin[i], *b; (b = *at);) {
                if (b->slab && b->slab->live) {
                    at = &b->next;
                    continue;
                }
                *at = b->next;
                b->next = *blocks;
                *blocks = b;
                p->held -= b->slab ? 0 : b->buf.capacity;
            }
    for (td_slab **at = &p->slabs, *slab; (slab = *at);) {
        if (slab->live) {
            at = &slab->next;
            continue;
        }
        for (td_stream *s = p->streams; s; s = s->next)
            if (s->slab == slab)
                s->slab = NULL;
        *at = slab->next;
        slab->next = *slabs;
        *slabs = slab;
        p->held -= SLAB;
    }
}

/* ---- without the lock ---- */

static td_status
give_back(td_dev *d, td_block *blocks, td_slab *slabs)
{
    td_status st = TD_OK, r;

    for (td_block *b; (b = blocks); free(b)) {
        blocks = b->next;
        r = b->slab ? TD_OK : d->ops->mem_put(d, b->buf.ptr, b->buf.capacity);
        st = st ? st : r;
    }
    for (td_slab *slab; (slab = slabs); free(slab)) {
        slabs = slab->next;
        r = d->ops->mem_put(d, slab->ptr, SLAB);
        st = st ? st : r;
    }
    return st;
}

/* Makes the blocks in `shared` ordinary ones, after everybody's work on the device is done. */
static td_status
settle_shared(td_dev *d)
{
    td_pool *p = &d->pool;
    td_block *list;
    td_status st;

    pthread_mutex_lock(&p->mu);
    list = p->shared;
    p->shared = NULL;
    pthread_mutex_unlock(&p->mu);
    if (!list)
        return TD_OK;
    st = d->ops->sync(d);
    pthread_mutex_lock(&p->mu);
    for (td_block *b; (b = list);) {
        list = b->next;
        if (st) {
            b->next = p->shared;
            p->shared = b;
        } else {
            take_in(b);
        }
    }
    pthread_mutex_unlock(&p->mu);
    return st;
}

td_status
td_mem_trim(td_dev *d)
{
    td_block *blocks;
    td_slab *slabs;
    td_status st = settle_shared(d), r;

    pthread_mutex_lock(&d->pool.mu);
    take_kept(&d->pool, &blocks, &slabs);
    pthread_mutex_unlock(&d->pool.mu);
    r = give_back(d, blocks, slabs);
    if (d->ops->trim)
        d->ops->trim();
    return st ? st : r;
}

static void
human(size_t n, char text[32])
{
    static const char *const unit[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    double x = (double)n;
    int u = 0;

    for (; x >= 1024 && u < 4; u++)
        x /= 1024;
    snprintf(text, 32, u ? "%.2f %s" : "%.0f %s", x, unit[u]);
}

static td_status
out_of_memory(td_dev *d, size_t nbytes)
{
    td_memstat m = td_mem_stats(d);
    size_t free_bytes = 0, total = 0;
    char ask[32], used[32], kept[32], left[32], all[32];

    (void)d->ops->memory(d, &free_bytes, &total); /* then the text says 0 */
    human(nbytes, ask);
    human(m.used, used);
    human(m.cached, kept);
    human(free_bytes, left);
    human(total, all);
    return td_fail(TD_ERR_OOM,
                   "out of memory on %s: asked for %s (%zu bytes); buffers hold %s, the pool keeps "
                   "%s, %s of %s are free",
                   d->info.name, ask, nbytes, used, kept, left, all);
}

/* Memory from the driver; once more after everything kept was given back. */
static td_status
driver_get(td_dev *d, size_t size, uintptr_t *ptr)
{
    td_pool *p = &d->pool;
    td_status st = d->ops->mem_get(d, size, ptr);

    if (st == TD_ERR_OOM) {
        TD_TRY(td_mem_trim(d));
        st = d->ops->mem_get(d, size, ptr);
    }
    if (st)
        return st;
    pthread_mutex_lock(&p->mu);
    p->held += size;
    p->driver_allocs++;
    pthread_mutex_unlock(&p->mu);
    return TD_OK;
}

static td_status
no_record(void)
{
    return td_fail(TD_ERR_NOMEM, "buffer: no host memory for its record");
}

/* Gives s a fresh slab and cuts one block from it. */
static td_status
new_slab(td_dev *d, td_stream *s, size_t size, td_block **out)
{
    td_pool *p = &d->pool;
    td_slab *slab = calloc(1, sizeof *slab);
    td_status st;

    if (!slab)
        return no_record();
    st = driver_get(d, SLAB, &slab->ptr);
    if (st) {
        free(slab);
        return st;
    }
    pthread_mutex_lock(&p->mu);
    slab->next = p->slabs;
    p->slabs = slab;
    s->slab = slab;
    *out = cut(s, size);
    if (*out)
        slab->live++; /* until it is handed out: nobody may trim it */
    pthread_mutex_unlock(&p->mu);
    return *out ? TD_OK : no_record();
}

static td_status
new_block(td_dev *d, td_stream *s, size_t size, td_block **out)
{
    td_block *b;
    td_status st;

    if (size <= SLAB_ITEM)
        return new_slab(d, s, size, out);
    b = calloc(1, sizeof *b);
    if (!b)
        return no_record();
    st = driver_get(d, size, &b->buf.ptr);
    if (st) {
        free(b);
        return st;
    }
    b->buf.dev = d;
    b->buf.stream = s;
    b->buf.capacity = size;
    *out = b;
    return TD_OK;
}

/* A kept block or one cut from the slab, handed out; NULL when neither is there. */
static td_block *
reuse(td_stream *s, size_t size, size_t nbytes)
{
    td_pool *p = &s->dev->pool;
    td_block *b;

    pthread_mutex_lock(&p->mu);
    b = unshelve(s, size);
    if (!b && size <= SLAB_ITEM)
        b = cut(s, size);
    if (b)
        hand_out(b, nbytes);
    pthread_mutex_unlock(&p->mu);
    return b;
}

static td_status
get(td_dev *d, td_stream *s, size_t nbytes, td_block **out)
{
    size_t size = size_of(nbytes);
    td_block *b = reuse(s, size, nbytes);

    if (!b) {
        TD_TRY(settle_shared(d));
        b = reuse(s, size, nbytes);
    }
    if (!b) {
        TD_TRY(new_block(d, s, size, &b));
        pthread_mutex_lock(&d->pool.mu);
        if (b->slab)
            b->slab->live--;
        hand_out(b, nbytes);
        pthread_mutex_unlock(&d->pool.mu);
    }
    *out = b;
    return TD_OK;
}

td_status
td_buf_new(td_dev *d, td_stream *s, size_t nbytes, td_buf **out)
{
    td_block *b;
    td_status st;

    s = s ? s : &d->def;
    if (s->dev != d)
        return td_fail(TD_ERR_VALUE, "buffer: the stream belongs to %s, not to %s",
                       s->dev->info.name, d->info.name);
    st = nbytes > (size_t)PTRDIFF_MAX ? TD_ERR_OOM : get(d, s, nbytes, &b);
    if (st)
        return st == TD_ERR_OOM ? out_of_memory(d, nbytes) : st;
    if (d->live)
        d->live(b->buf.ptr, nbytes, true);
    *out = &b->buf;
    return TD_OK;
}

td_status
td_buf_wrap(td_dev *d, void *ptr, size_t nbytes, void (*release)(void *), void *owner, td_buf **out)
{
    td_block *b = calloc(1, sizeof *b);

    if (!b)
        return no_record();
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
    td_block *blocks = NULL;
    td_slab *slabs = NULL;
    td_dev *d;
    td_pool *p;

    if (!b || atomic_fetch_sub_explicit(&b->refs, 1, memory_order_acq_rel) != 1)
        return;
    d = b->dev;
    p = &d->pool;
    if (d->live)
        d->live(b->ptr, b->nbytes, false);
    if (!b->capacity) {
        free_wrapped(b);
        return;
    }
    pthread_mutex_lock(&p->mu);
    p->used -= b->capacity;
    if ((atomic_load_explicit(&b->flags, memory_order_relaxed) & TD_BUF_SHARED) &&
        d->ops->stream_new) {
        block_of(b)->next = p->shared;
        p->shared = block_of(b);
    } else {
        take_in(block_of(b));
        if (p->held - p->used > p->keep)
            take_kept(p, &blocks, &slabs);
    }
    pthread_mutex_unlock(&p->mu);
    (void)give_back(d, blocks,
                    slabs); /* only where the pool has a limit: the system takes it back */
}

td_memstat
td_mem_stats(td_dev *d)
{
    td_pool *p = &d->pool;
    td_memstat m;

    pthread_mutex_lock(&p->mu);
    m = (td_memstat){
        .used = p->used,
        .cached = p->held - p->used,
        .peak = p->peak,
        .allocs = p->allocs,
        .driver_allocs = p->driver_allocs,
    };
    pthread_mutex_unlock(&p->mu);
    return m;
}

/* ---- streams ---- */

void
td_pool_init(td_dev *d)
{
    pthread_mutex_init(&d->pool.mu, NULL);
    d->pool.keep = SIZE_MAX;
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

    pthread_mutex_lock(&p->mu);
    for (int i = 0; i < TD_BINS; i++)
        for (td_block *b; (b = s->bin[i]);) {
            s->bin[i] = b->next;
            b->buf.stream = &s->dev->def;
            shelve(b);
        }
    s->slab = NULL;
    s->dead = true;
    drop_stream(p, s);
    pthread_mutex_unlock(&p->mu);
}

void
td_pool_lock(td_dev *d, bool lock)
{
    if (lock)
        pthread_mutex_lock(&d->pool.mu);
    else
        pthread_mutex_unlock(&d->pool.mu);
}
