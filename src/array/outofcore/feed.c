/* feed.c - the feeder: a thread that copies rows to the device ahead of the kernels (feed.h). */
#include "array/outofcore/feed.h"

#include "array/outofcore/relay.h"
#include "dev/core/raw.h"

#include <stdlib.h>

enum { SLOTS = TD_RELAY_SLOTS, DEVICES = 32 };

typedef struct buffers {
    td_buf **buf;
    td_event *copied, *read; /* recorded when the rows are there, and when their readers have run */
    bool used;
} buffers;

struct td_feeder {
    const td_pass *p;
    td_dev *dev;
    td_stream *stream; /* NULL: nothing is copied */
    int nslot;
    buffers slot[SLOTS];
    td_buf *bufs[SLOTS][2 * TD_WEIGHT_MAX];
    int64_t lo, taken; /* the first row; chunks taken so far */
    td_relay relay;    /* a slot is full when its rows are there or on their way */
};

td_status
td_feed_stream(td_dev *d, bool out, td_stream **s)
{
    static struct {
        td_dev *dev;
        td_stream *stream[2];
    } known[DEVICES]; /* guarded by the graph's lock */
    int i = 0;

    while (i < DEVICES - 1 && known[i].dev && known[i].dev != d)
        i++;
    if (known[i].dev != d) {
        known[i].dev = d;
        known[i].stream[0] = known[i].stream[1] = NULL;
    }
    if (!known[i].stream[out])
        TD_TRY(td_stream_make(d, true, 0, &known[i].stream[out]));
    *s = known[i].stream[out];
    return TD_OK;
}

/* ---- in place ---- */

bool
td_feeder_in_place(const td_dev *d, const td_host *h)
{
    size_t size = td_dtype_size(h->src->dt),
           align = td_dtype_is_complex(h->src->dt) ? size / 2 : size;

    return td_dev_info(d)->host && h->src->mem && !h->list && (uintptr_t)h->src->mem % align == 0;
}

int64_t
td_feeder_origin(const td_host *h)
{
    int64_t lo, hi;

    td_view_extent(&h->view, &lo, &hi);
    return lo;
}

static void
release_source(void *s)
{
    td_source_unref(s);
}

/* The window's memory as a buffer.  It has a release function, so no result ever takes over
 * its memory. */
static td_status
wrap(td_dev *d, const td_host *h, td_buf **out)
{
    size_t size = td_dtype_size(h->src->dt);
    td_status st;
    int64_t lo, hi;

    td_view_extent(&h->view, &lo, &hi);
    st = td_buf_wrap(d, h->src->mem + lo * (int64_t)size, (size_t)(hi - lo) * size, release_source,
                     td_source_ref(h->src), out);
    if (st)
        td_source_unref(h->src);
    return st;
}

/* ---- one chunk ---- */

static int64_t
chunk_end(const td_feeder *f, int64_t lo)
{
    return lo + f->p->rows < f->p->n ? lo + f->p->rows : f->p->n;
}

/* Call without the graph's lock. */
static td_status
feed_fill(td_feeder *f, int k, int64_t lo, int64_t hi)
{
    buffers *s = &f->slot[k];

    if (s->used)
        TD_TRY(td_stream_wait(f->stream, s->read));
    for (int i = 0; i < f->p->nfeed; i++) {
        const td_feed *x = &f->p->feed[i];
        td_host part;

        if (x->in_place)
            continue;
        part = td_host_part(x->host, x->axis, lo, 1, hi - lo);
        TD_TRY(td_host_copy(&part, f->stream, s->buf[i]->ptr));
    }
    return td_event_record(s->copied, f->stream);
}

static void *
run_feeder(void *ctx)
{
    td_feeder *f = ctx;
    int64_t lo = f->lo, hi;
    td_status st = TD_OK;

    for (int k = 0; lo < f->p->n && !st; lo = hi, k = (k + 1) % f->nslot) {
        hi = chunk_end(f, lo);
        if (!td_relay_await(&f->relay, k, false))
            break;
        st = feed_fill(f, k, lo, hi);
        td_relay_fail(&f->relay, st);
        if (!st)
            td_relay_set(&f->relay, k, true);
    }
    td_relay_leave(&f->relay);
    return NULL;
}

/* ---- the caller's side ---- */

static td_status
make_buffers(td_feeder *f)
{
    const td_pass *p = f->p;
    bool copies = false;

    for (int i = 0; i < p->nfeed; i++) {
        const td_feed *x = &p->feed[i];
        size_t row = td_host_bytes(x->host) / (size_t)p->n;

        copies |= !x->in_place;
        for (int k = 0; k < f->nslot; k++) {
            if (x->in_place && k)
                f->bufs[k][i] = td_buf_ref(f->bufs[0][i]);
            else
                TD_TRY(x->in_place ? wrap(f->dev, x->host, &f->bufs[k][i])
                                   : td_buf_new(f->dev, td_dev_stream(f->dev),
                                                row * (size_t)p->rows, &f->bufs[k][i]));
        }
    }
    if (!copies)
        return TD_OK;
    TD_TRY(td_feed_stream(f->dev, false, &f->stream));
    for (int k = 0; k < f->nslot; k++) {
        TD_TRY(td_event_new(f->dev, false, &f->slot[k].copied));
        TD_TRY(td_event_new(f->dev, false, &f->slot[k].read));
    }
    return td_stream_enter(
        f->stream); /* the buffers may be used after the default stream's work so far */
}

td_status
td_feeder_open(const td_pass *p, int64_t lo, td_feeder **out)
{
    td_feeder *f = calloc(1, sizeof *f);
    td_status st;

    if (!f)
        return td_fail(TD_ERR_NOMEM, "from_host: out of host memory");
    f->p = p;
    f->dev = p->dev;
    f->lo = lo;
    f->nslot = p->n - lo > p->rows ? SLOTS : 1;
    for (int k = 0; k < SLOTS; k++)
        f->slot[k].buf = f->bufs[k];
    td_relay_init(&f->relay);
    st = make_buffers(f);
    if (!st && f->stream && f->nslot > 1)
        st = td_relay_start(&f->relay, run_feeder, f);
    if (st)
        td_feeder_close(f);
    else
        *out = f;
    return st;
}

td_status
td_feeder_take(td_feeder *f, int *slot)
{
    int k = (int)(f->taken % f->nslot);
    int64_t lo = f->lo + f->taken * f->p->rows;
    td_status st;
    void *token;

    *slot = k;
    f->taken++;
    if (!f->stream)
        return TD_OK;
    if (f->relay.running) {
        TD_TRY(td_relay_wait(&f->relay, k, true));
    } else {
        token = td_graph_unlock();
        st = feed_fill(f, k, lo, chunk_end(f, lo));
        td_graph_lock(token);
        TD_TRY(st);
    }
    return td_stream_wait(td_dev_stream(f->dev), f->slot[k].copied);
}

td_status
td_feeder_give(td_feeder *f, int slot)
{
    td_status st;

    if (!f->stream)
        return TD_OK;
    st = td_event_record(f->slot[slot].read, td_dev_stream(f->dev));
    f->slot[slot].used = true;
    td_relay_set(&f->relay, slot, false);
    return st;
}

td_buf *
td_feeder_buf(const td_feeder *f, int slot, int feed)
{
    return f->slot[slot].buf[feed];
}

void
td_feeder_close(td_feeder *f)
{
    if (!f)
        return;
    td_relay_end(&f->relay);
    /* chunks copied ahead that nobody wants: their copies come before the buffers' next use */
    if (f->stream)
        (void)td_stream_leave(f->stream);
    for (int k = 0; k < SLOTS; k++) {
        for (int i = 0; i < f->p->nfeed; i++)
            td_buf_unref(f->bufs[k][i]);
        td_event_free(f->slot[k].copied);
        td_event_free(f->slot[k].read);
    }
    free(f);
}
