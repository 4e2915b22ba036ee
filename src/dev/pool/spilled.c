/* spilled.c - copies of buffers on the host, and the host memory that is kept for them. */
#include "dev/pool/spilled.h"

#include "dev/pool/pool.h"

#include <stdlib.h>

/* the most unused memory that is kept, as a part of what the device may hold */
enum { KEEP_PART = 8 };

struct td_spilled {
    td_spilled *next; /* among those kept */
    td_dev *dev;
    td_hostmem m;
    size_t nbytes;  /* in use, of m.nbytes */
    bool paged;     /* ordinary memory, since none could be pinned: copies wait */
    td_buf *still;  /* the buffer, referenced while it is copied concurrently; NULL: none */
    td_event *done; /* recorded after that copy; NULL: there never was one */
};

static struct {
    pthread_mutex_t mu;
    td_spilled *first;
} kept = {.mu = PTHREAD_MUTEX_INITIALIZER};

size_t
td_spilled_size(const td_spilled *a)
{
    return a->nbytes;
}

size_t
td_spilled_kept(td_dev *d)
{
    size_t n = 0;

    pthread_mutex_lock(&kept.mu);
    for (const td_spilled *a = kept.first; a; a = a->next)
        n += a->dev == d ? a->m.nbytes : 0;
    pthread_mutex_unlock(&kept.mu);
    return n;
}

void
td_spilled_free(td_spilled *a)
{
    if (!a)
        return;
    /* the next copy into its memory comes after this one, on the same stream */
    td_buf_unref(a->still);
    a->still = NULL;
    pthread_mutex_lock(&kept.mu);
    a->next = kept.first;
    kept.first = a;
    pthread_mutex_unlock(&kept.mu);
}

/* The smallest kept block that holds nbytes and is less than twice as large.  NULL: none. */
static td_spilled *
reuse(td_dev *d, size_t nbytes)
{
    td_spilled **best = NULL, *a;

    pthread_mutex_lock(&kept.mu);
    for (td_spilled **at = &kept.first; *at; at = &(*at)->next)
        if ((*at)->dev == d && (*at)->m.nbytes >= nbytes && (*at)->m.nbytes / 2 <= nbytes &&
            (!best || (*at)->m.nbytes < (*best)->m.nbytes))
            best = at;
    a = best ? *best : NULL;
    if (best)
        *best = a->next;
    pthread_mutex_unlock(&kept.mu);
    return a;
}

static td_status
give_back(td_spilled *a)
{
    td_status st = TD_OK;

    if (a->paged)
        td_host_free(a->m.host, a->m.nbytes);
    else
        st = td_hostmem_put(a->dev, &a->m);
    td_event_free(a->done);
    free(a);
    return st;
}

td_status
td_spilled_trim(td_dev *d)
{
    td_spilled *list = NULL;
    td_status st, r;

    pthread_mutex_lock(&kept.mu);
    for (td_spilled **at = &kept.first, *a; (a = *at);) {
        if (a->dev != d) {
            at = &a->next;
            continue;
        }
        *at = a->next;
        a->next = list;
        list = a;
    }
    pthread_mutex_unlock(&kept.mu);
    if (!list)
        return TD_OK;
    st = d->ops->sync(d); /* copies may be under way */
    for (td_spilled *a; (a = list);) {
        list = a->next;
        r = give_back(a);
        st = st ? st : r;
    }
    return st;
}

/* New memory: pinned; else pinned after kept memory was freed; else ordinary. */
static td_status
get_memory(td_dev *d, size_t nbytes, td_spilled **out)
{
    td_spilled *a = calloc(1, sizeof *a);
    td_status st;

    if (!a)
        return td_fail(TD_ERR_NOMEM, "no host memory for a record");
    a->dev = d;
    a->m = (td_hostmem){.kind = TD_HOST_PINNED, .nbytes = nbytes};
    st = td_hostmem_get(d, &a->m);
    if (st && td_spilled_kept(d) && !td_spilled_trim(d))
        st = td_hostmem_get(d, &a->m);
    if (st) {
        a->m.nbytes = nbytes;
        a->m.host = td_host_alloc(nbytes);
        a->paged = true;
    }
    if (a->m.host) {
        *out = a;
        return TD_OK;
    }
    free(a);
    return td_fail(TD_ERR_NOMEM, "no host memory for %zu bytes", nbytes);
}

/* Host memory for b's bytes. */
static td_status
spilled_take(const td_buf *b, td_spilled **out)
{
    td_dev *d = b->dev;

    *out = reuse(d, b->nbytes);
    if (!*out) {
        if (td_spilled_kept(d) > td_mem_bound(d) / KEEP_PART)
            TD_TRY(td_spilled_trim(d));
        TD_TRY(get_memory(d, b->nbytes, out));
    }
    (*out)->nbytes = b->nbytes;
    return TD_OK;
}

td_status
td_spilled_put(const td_buf *b, td_spilled **out)
{
    bool later;
    td_status st;

    TD_TRY(spilled_take(b, out));
    if ((*out)->done) /* another stream may have copied into it */
        TD_TRY(td_stream_wait(td_dev_stream(b->dev), (*out)->done));
    st = td_copy_later(td_dev_stream(b->dev), true, (*out)->m.host, b->ptr, b->nbytes, &later);
    if (st)
        td_spilled_free(*out);
    return st;
}

td_status
td_spilled_put_beside(td_buf *b, td_stream *s, td_spilled **out)
{
    td_spilled *a;
    bool later;
    td_status st;

    TD_TRY(spilled_take(b, &a));
    st = a->done ? TD_OK : td_event_new(b->dev, false, &a->done);
    if (!st)
        st = td_event_record(a->done, td_dev_stream(b->dev));
    if (!st)
        st = td_stream_wait(s, a->done);
    if (!st)
        st = td_copy_later(s, true, a->m.host, b->ptr, b->nbytes, &later);
    if (!st)
        st = td_event_record(a->done, s);
    if (st) {
        td_spilled_free(a);
        return st;
    }
    a->still = td_buf_ref(b);
    *out = a;
    return TD_OK;
}

td_status
td_spilled_let_go(td_spilled *a)
{
    if (!a->still)
        return TD_OK;
    TD_TRY(td_stream_wait(td_dev_stream(a->dev), a->done));
    td_buf_unref(a->still);
    a->still = NULL;
    return TD_OK;
}

td_buf *
td_spilled_again(td_spilled *a)
{
    td_buf *b = a->still;

    a->still = NULL;
    return b;
}

td_status
td_spilled_get(const td_spilled *a, const td_buf *b)
{
    bool later;

    TD_ASSERT(b->nbytes == a->nbytes);
    return td_copy_later(td_dev_stream(a->dev), false, a->m.host, b->ptr, a->nbytes, &later);
}

/* ---- buffers that hold a node's value ---- */

static bool
is_held(td_block *b, size_t least, uint64_t before)
{
    return !b->free && !b->gone && b->buf.holder && b->buf.nbytes >= least && b->buf.used &&
           b->buf.used < before && atomic_load(&b->buf.refs) > 0;
}

/* Needs the pool's lock.  Puts the matching buffers into list, unless that is NULL; returns
 * how many. */
static size_t
find_held(td_dev *d, size_t least, uint64_t before, td_held *list)
{
    size_t n = 0;

    for (const td_region *r = d->pool.regions; r; r = r->next)
        for (td_block *b = r->first; b; b = b->right)
            if (is_held(b, least, before)) {
                if (list)
                    list[n] = (td_held){.buf = &b->buf,
                                        .used = b->buf.used,
                                        .apart = b->nuse || b->buf.stream != &d->def};
                n++;
            }
    return n;
}

td_status
td_held_list(td_dev *d, size_t least, uint64_t before, td_held **out, size_t *n)
{
    pthread_mutex_lock(&d->pool.mu);
    *n = find_held(d, least, before, NULL);
    *out = malloc((*n + 1) * sizeof **out);
    if (*out)
        *n = find_held(d, least, before, *out);
    pthread_mutex_unlock(&d->pool.mu);
    return *out ? TD_OK : td_fail(TD_ERR_NOMEM, "no host memory for a list");
}
