/* trace.c - a profile's records, and the events that time a device's work. */
#include "dev/core/trace.h"

#include "base/clock.h"
#include "dev/core/work.h"

#include <stdlib.h>
#include <string.h>

enum {
    UNREAD_MAX = 8192, /* records with unread events; above that the older half is read */
    LANES = 256,       /* streams with a lane of their own; further ones share the last lane */
};

#define REBASE ((int64_t)100000000) /* ns: elapsed times are floats, good to 10 ns up to here */

/* td_mark - an event, and its time once it was read.  Refcounted under trace.mu: by the record
 * that it ends, the one that it begins, its lane, and its device's base. */
typedef struct td_mark {
    struct td_mark *next; /* in the list of idle marks */
    td_event *e;
    int32_t refs;
    bool known;
    int64_t ns;
} td_mark;

/* A device's clock: times are measured as distances from its base mark. */
typedef struct clock_of {
    struct clock_of *next;
    td_dev *dev;
    td_mark *base; /* its time is known; NULL: the device tells no times */
    td_mark *idle;
} clock_of;

typedef struct lane {
    const td_stream *s;
    td_mark *last; /* the end of its last work */
} lane;

/* unread - a record whose device times are still to be read. */
typedef struct unread {
    size_t rec;
    clock_of *clock;
    td_mark *from, *to;
} unread;

static struct {
    pthread_mutex_t mu;      /* guards everything here; no driver call is made under it */
    pthread_mutex_t reading; /* held by the thread that reads events; taken before mu */
    int open;                /* number of open profiles */
    td_tracerec *rec;
    size_t n, cap, dropped;
    unread unread[UNREAD_MAX];
    size_t nunread;
    clock_of *clocks;
    lane lane[LANES];
    int nlane;
} trace = {.mu = PTHREAD_MUTEX_INITIALIZER, .reading = PTHREAD_MUTEX_INITIALIZER};

static atomic_bool on; /* a profile is open */
static atomic_uint threads;
static _Thread_local uint32_t thread_no;

bool
td_tracing(void)
{
    return atomic_load_explicit(&on, memory_order_relaxed);
}

const char *
td_trace_kind_name(td_trace_kind k)
{
    static const char *const names[] = {
#define TD_KIND(name) #name,
        TD_TRACE_KINDS(TD_KIND)
#undef TD_KIND
    };

    return names[k];
}

/* ---- marks; all under the lock but for the driver's part ---- */

static td_mark *
mark_ref(td_mark *m)
{
    m->refs++;
    return m;
}

static void
mark_unref(clock_of *c, td_mark *m)
{
    if (!m || --m->refs)
        return;
    m->next = c->idle;
    c->idle = m;
}

/* A mark with one reference; NULL: no event could be made.  Call without the lock. */
static td_mark *
mark_new(clock_of *c)
{
    td_mark *m;

    pthread_mutex_lock(&trace.mu);
    m = c->idle;
    c->idle = m ? m->next : NULL;
    pthread_mutex_unlock(&trace.mu);
    if (!m) {
        m = calloc(1, sizeof *m);
        if (m && td_event_new(c->dev, true, &m->e)) {
            free(m);
            m = NULL;
        }
    }
    if (m) {
        m->refs = 1;
        m->known = false;
    }
    return m;
}

/* A mark recorded on s; NULL on failure.  Call without the lock. */
static td_mark *
mark_put(clock_of *c, td_stream *s)
{
    td_mark *m = mark_new(c);

    if (m) {
        m->e->ns = td_now_ns();
        if (s->dev->ops->event_record(m->e, s)) {
            pthread_mutex_lock(&trace.mu);
            mark_unref(c, m);
            pthread_mutex_unlock(&trace.mu);
            m = NULL;
        }
    }
    return m;
}

/* Sets the device's clock: the default stream passes an event, and the host notes when. */
static void
set_clock(clock_of *c)
{
    td_mark *m = mark_put(c, &c->dev->def);

    if (!m)
        return;
    if (c->dev->ops->event_sync(m->e) == TD_OK) {
        m->ns = td_now_ns();
        m->known = true;
        c->base = m;
    }
}

static clock_of *
clock_find(const td_dev *d)
{
    clock_of *c = trace.clocks;

    while (c && c->dev != d)
        c = c->next;
    return c;
}

/* The device's clock.  NULL: the device's work ends before its call returns, or it tells no
 * times. */
static clock_of *
clock_get(td_dev *d)
{
    clock_of *c;

    if (!d->ops->event_elapsed)
        return NULL;
    pthread_mutex_lock(&trace.mu);
    c = clock_find(d);
    pthread_mutex_unlock(&trace.mu);
    if (c)
        return c->base ? c : NULL;
    pthread_mutex_lock(&trace.reading);
    c = clock_find(d); /* nobody else adds one while `reading` is held */
    if (!c && (c = calloc(1, sizeof *c))) {
        c->dev = d;
        set_clock(c);
        pthread_mutex_lock(&trace.mu);
        c->next = trace.clocks;
        trace.clocks = c;
        pthread_mutex_unlock(&trace.mu);
    }
    pthread_mutex_unlock(&trace.reading);
    return c && c->base ? c : NULL;
}

/* Needs the lock. */
static lane *
lane_of(const td_stream *s)
{
    for (int i = 0; i < trace.nlane; i++)
        if (trace.lane[i].s == s)
            return &trace.lane[i];
    if (trace.nlane < LANES)
        trace.nlane++;
    trace.lane[trace.nlane - 1].s = s;
    return &trace.lane[trace.nlane - 1];
}

/* ---- reading times ---- */

/* Needs `reading`.  Waits for the mark and returns its time; 0: the device does not tell. */
static int64_t
mark_read(clock_of *c, td_mark *m)
{
    double ms = 0;

    if (!m || m->known)
        return m ? m->ns : 0;
    if (c->dev->ops->event_sync(m->e) || c->dev->ops->event_elapsed(c->base->e, m->e, &ms))
        return 0;
    m->ns = c->base->ns + (int64_t)(ms * 1e6);
    m->known = true;
    if (m->ns - c->base->ns > REBASE) {
        pthread_mutex_lock(&trace.mu);
        mark_unref(c, c->base);
        c->base = mark_ref(m);
        pthread_mutex_unlock(&trace.mu);
    }
    return m->ns;
}

/* Reads the events of the oldest `n` unread records. */
static void
read_times(size_t n)
{
    pthread_mutex_lock(&trace.reading);
    pthread_mutex_lock(&trace.mu);
    n = n < trace.nunread ? n : trace.nunread;
    pthread_mutex_unlock(&trace.mu);
    for (size_t i = 0; i < n; i++) {
        unread u;
        int64_t from, to;

        pthread_mutex_lock(&trace.mu);
        u = trace.unread[i];
        pthread_mutex_unlock(&trace.mu);
        from = mark_read(u.clock, u.from);
        to = mark_read(u.clock, u.to);
        pthread_mutex_lock(&trace.mu);
        if (from && to) {
            trace.rec[u.rec].on = from;
            trace.rec[u.rec].off = to > from ? to : from;
        }
        mark_unref(u.clock, u.from);
        mark_unref(u.clock, u.to);
        pthread_mutex_unlock(&trace.mu);
    }
    pthread_mutex_lock(&trace.mu);
    trace.nunread -= n;
    memmove(trace.unread, trace.unread + n, trace.nunread * sizeof *trace.unread);
    pthread_mutex_unlock(&trace.mu);
    pthread_mutex_unlock(&trace.reading);
}

/* ---- records ---- */

/* Needs the lock.  SIZE_MAX: there is no room. */
static size_t
add_record(const td_tracerec *r)
{
    if (trace.n == trace.cap && trace.cap < TD_TRACE_MAX) {
        size_t cap = trace.cap ? 2 * trace.cap : 1024;
        td_tracerec *at = realloc(trace.rec, cap * sizeof *at);

        if (at) {
            trace.rec = at;
            trace.cap = cap;
        }
    }
    if (trace.n == trace.cap) {
        trace.dropped++;
        return SIZE_MAX;
    }
    trace.rec[trace.n] = *r;
    return trace.n++;
}

static uint32_t
this_thread(void)
{
    if (!thread_no)
        thread_no = atomic_fetch_add(&threads, 1) + 1;
    return thread_no;
}

static bool
is_done(td_mark *m)
{
    bool done = true;

    return m->known || m->e->dev->ops->event_done(m->e, &done) || done;
}

/* The mark where work given to s now begins: the end of its last work, if that is still under
 * way. */
static td_mark *
begin_mark(clock_of *c, td_stream *s)
{
    td_mark *last;

    pthread_mutex_lock(&trace.mu);
    last = lane_of(s)->last;
    if (last)
        mark_ref(last);
    pthread_mutex_unlock(&trace.mu);
    if (last && !is_done(last))
        return last;
    if (last) {
        pthread_mutex_lock(&trace.mu);
        mark_unref(c, last);
        pthread_mutex_unlock(&trace.mu);
    }
    return mark_put(c, s);
}

void
td_span_open(td_span *p, td_trace_kind kind, td_dev *d, td_stream *s)
{
    clock_of *c;

    *p = (td_span){.open = td_tracing()};
    if (!p->open)
        return;
    p->kind = (uint8_t)kind;
    p->dev = d;
    p->stream = kind <= TD_TRACE_graph ? s : NULL;
    /* a finaliser must not ask for the line */
    p->site = kind == TD_TRACE_free ? td_site_held() : td_site_now();
    c = p->stream ? clock_get(d) : NULL;
    p->begin = td_now_ns(); /* taken before the mark: no work runs before it was asked for */
    p->from = c ? begin_mark(c, s) : NULL;
}

/* Needs the lock.  Adds the record; its times are the call's, or its events' once they are
 * read. */
static void
close_record(const td_span *p, td_tracerec *r, clock_of *c, td_mark *to)
{
    lane *l = p->stream ? lane_of(p->stream) : NULL;
    size_t at;

    if (l)
        r->lane = (uint16_t)(l - trace.lane);
    if (l && !c) {
        r->on = r->begin;
        r->off = r->end;
    }
    at = add_record(r);
    if (at != SIZE_MAX && p->from && to && trace.nunread < UNREAD_MAX) {
        trace.unread[trace.nunread++] = (unread){at, c, mark_ref(p->from), mark_ref(to)};
    }
    if (c && l) {
        mark_unref(c, l->last);
        l->last = to ? mark_ref(to) : NULL;
    }
    if (c) {
        mark_unref(c, p->from);
        mark_unref(c, to);
    }
}

void
td_span_close(td_span *p, td_status st, const char *name, size_t nbytes)
{
    td_tracerec r = {.kind = p->kind,
                     .failed = st != TD_OK,
                     .dev = p->dev,
                     .nbytes = nbytes,
                     .begin = p->begin,
                     .site = p->made ? p->made : p->site,
                     .asked = p->site};
    clock_of *c;
    td_mark *to;
    bool full;

    if (!p->open)
        return;
    c = p->stream ? clock_get(p->dev) : NULL;
    to = c && !st ? mark_put(c, p->stream) : NULL;
    r.end = td_now_ns();
    r.thread = this_thread();
    r.name = td_name_id(name);
    pthread_mutex_lock(&trace.mu);
    close_record(p, &r, c, to);
    full = trace.nunread == UNREAD_MAX;
    pthread_mutex_unlock(&trace.mu);
    if (full)
        read_times(UNREAD_MAX / 2);
}

void
td_trace_instant(td_trace_kind kind, td_dev *d, const char *name, size_t nbytes)
{
    td_span p;

    td_span_open(&p, kind, d, NULL);
    td_span_close(&p, TD_OK, name, nbytes);
}

void
td_trace_cut(const td_stream *s)
{
    clock_of *c;
    lane *l;

    pthread_mutex_lock(&trace.mu);
    c = clock_find(s->dev);
    l = lane_of(s);
    if (c)
        mark_unref(c, l->last);
    l->last = NULL;
    pthread_mutex_unlock(&trace.mu);
}

/* ---- profiles ---- */

void
td_trace_start(size_t *from)
{
    pthread_mutex_lock(&trace.reading); /* lets another thread finish its td_trace_stop first */
    pthread_mutex_lock(&trace.mu);
    if (trace.open++ == 0) {
        for (size_t i = 0; i < trace.nunread; i++) {
            mark_unref(trace.unread[i].clock, trace.unread[i].from);
            mark_unref(trace.unread[i].clock, trace.unread[i].to);
        }
        trace.n = trace.dropped = trace.nunread = 0;
        atomic_store(&on, true);
        atomic_fetch_add(&td_watchers, 1);
        atomic_fetch_add(&td_site_wanters, 1);
    }
    *from = trace.n;
    pthread_mutex_unlock(&trace.mu);
    pthread_mutex_unlock(&trace.reading);
}

/* Forgets the lanes: streams may be freed while no profile is open. */
static void
forget_lanes(void)
{
    for (int i = 0; i < trace.nlane; i++) {
        clock_of *c = trace.lane[i].last ? clock_find(trace.lane[i].last->e->dev) : NULL;

        if (c)
            mark_unref(c, trace.lane[i].last);
        trace.lane[i] = (lane){0};
    }
    trace.nlane = 0;
}

size_t
td_trace_stop(void)
{
    size_t n;
    bool last;

    pthread_mutex_lock(&trace.mu);
    last = trace.open > 0 && --trace.open == 0;
    pthread_mutex_unlock(&trace.mu);
    if (last) {
        atomic_store(&on, false);
        atomic_fetch_sub(&td_watchers, 1);
        atomic_fetch_sub(&td_site_wanters, 1);
    }
    read_times(SIZE_MAX);
    pthread_mutex_lock(&trace.mu);
    if (last)
        forget_lanes();
    n = trace.n;
    pthread_mutex_unlock(&trace.mu);
    return n;
}

bool
td_trace_get(size_t i, td_tracerec *out)
{
    bool there;

    pthread_mutex_lock(&trace.mu);
    there = i < trace.n;
    if (there)
        *out = trace.rec[i];
    pthread_mutex_unlock(&trace.mu);
    return there;
}

size_t
td_trace_dropped(void)
{
    size_t n;

    pthread_mutex_lock(&trace.mu);
    n = trace.dropped;
    pthread_mutex_unlock(&trace.mu);
    return n;
}

/* Another thread, which the child lacks, may have been anywhere in this file. */
void
td_trace_forked(void)
{
    memset(&trace, 0, sizeof trace);
    pthread_mutex_init(&trace.mu, NULL);
    pthread_mutex_init(&trace.reading, NULL);
    if (atomic_exchange(&on, false)) {
        atomic_fetch_sub(&td_watchers, 1);
        atomic_fetch_sub(&td_site_wanters, 1);
    }
}
