/* spill.c - chooses values that move to the host, moves them, and brings them back. */
#include "array/run/spill.h"

#include "array/graph/array.h"
#include "dev/core/tape.h"
#include "dev/pool/spilled.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    LEAST = 32 << 10, /* bytes of a value that is worth a copy */
    DEVICES = 80,
    AHEAD = 8,
};

uint64_t td_use_clock = 1;

/* What is known of a device.  The table fills in the order in which devices are asked about. */
typedef struct state {
    _Atomic(td_dev *) dev;
    _Atomic bool on;
    _Atomic uint64_t spilled, returned;
    _Atomic size_t on_host;
    uint64_t seen; /* how many values had returned when memory ran out last */
    td_node
        *ahead[AHEAD]; /* values that are being copied to the host before their memory is needed */
    int nahead;
} state;

static state all[DEVICES];

/* Why the thread's last td_spill moved nothing more; "": there was no failure. */
static _Thread_local char why[256];

static state *
state_of(td_dev *d)
{
    static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
    state *s = all;

    while (atomic_load(&s->dev) && atomic_load(&s->dev) != d)
        s++;
    if (atomic_load(&s->dev))
        return s;
    pthread_mutex_lock(&mu);
    while (atomic_load(&s->dev) && atomic_load(&s->dev) != d)
        s++;
    if (!atomic_load(&s->dev)) {
        TD_ASSERT(s + 1 < all + DEVICES); /* dev.c has fewer */
        atomic_store(&s->on, !td_dev_info(d)->host);
        atomic_store(&s->dev, d);
    }
    pthread_mutex_unlock(&mu);
    return s;
}

bool
td_spill_on(td_dev *d)
{
    return atomic_load(&state_of(d)->on);
}

void
td_spill_set(td_dev *d, bool on)
{
    atomic_store(&state_of(d)->on, on);
}

td_spillstat
td_spill_stats(td_dev *d)
{
    const state *s = state_of(d);

    return (td_spillstat){.spilled = atomic_load(&s->spilled),
                          .returned = atomic_load(&s->returned),
                          .on_host = atomic_load(&s->on_host)};
}

void
td_spill_note(td_dev *d, char *text, size_t n)
{
    state *s = state_of(d);

    if (!atomic_load(&s->on)) {
        if (!td_dev_info(d)->host)
            snprintf(text, n,
                     "; memory.spill(True) would move arrays that are not in use to the host");
    } else if (why[0]) {
        snprintf(text, n, "; %zu bytes of arrays were moved to the host, no more since: %s",
                 atomic_load(&s->on_host), why);
    } else {
        snprintf(text, n,
                 "; %zu bytes of arrays were moved to the host, and those left are in use, shared "
                 "or would not be enough",
                 atomic_load(&s->on_host));
    }
}

/* ---- values that must stay ---- */

static td_need *needs;
static _Thread_local td_need *innermost;
static _Thread_local td_hold *hold;

/* The threads that were evaluating do not exist in the child. */
static void
spill_in_child(void)
{
    needs = innermost = NULL;
}

static void
watch_forks(void)
{
    pthread_atfork(NULL, NULL, spill_in_child);
}

void
td_need_look(td_need *x)
{
    x->since = ++td_use_clock;
    x->met = false;
}

void
td_need_met(bool met)
{
    if (innermost)
        innermost->met = met;
}

void
td_need_begin(td_need *x)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, watch_forks);
    td_need_look(x);
    x->outer = innermost;
    td_need_met(true);
    innermost = x;
    x->next = needs;
    x->at = &needs;
    if (needs)
        needs->at = &x->next;
    needs = x;
}

void
td_need_end(td_need *x)
{
    *x->at = x->next;
    if (x->next)
        x->next->at = x->at;
    innermost = x->outer;
    td_need_met(false);
}

static uint64_t
oldest_need(void)
{
    uint64_t t = UINT64_MAX;

    for (const td_need *x = needs; x; x = x->next)
        if (!x->met && x->since < t)
            t = x->since;
    return t;
}

void
td_hold_begin(td_hold *h)
{
    h->outer = hold;
    h->node = h->few;
    h->n = 0;
    h->cap = sizeof h->few / sizeof *h->few;
    hold = h;
}

static bool
grow(td_hold *h)
{
    size_t size = 2 * (size_t)h->cap * sizeof *h->node;
    td_node **at = h->node == h->few ? malloc(size) : realloc(h->node, size);

    if (!at)
        return false;
    for (int i = 0; i < h->n && h->node == h->few; i++)
        at[i] = h->few[i];
    h->node = at;
    h->cap *= 2;
    return true;
}

void
td_hold_add(td_node *n)
{
    if (!hold || (hold->n == hold->cap && !grow(hold))) {
        n->buf->used = 0;
        return;
    }
    n->held++; /* held references are no readers, and are not counted as such */
    hold->node[hold->n++] = td_node_ref(n);
}

void
td_hold_end(td_hold *h)
{
    TD_ASSERT(hold == h);
    hold = h->outer;
    for (int i = 0; i < h->n; i++) {
        h->node[i]->held--;
        td_node_unref(h->node[i]);
    }
    if (h->node != h->few)
        free(h->node);
}

void
td_array_offer(const td_array *a)
{
    const td_node *n = a->store->node;

    td_use_clock++;
    if (n->buf)
        td_use(n);
}

/* ---- to the host ---- */

static bool
may_go(const td_buf *b)
{
    const td_node *n = b->holder;

    return n->buf == b && n->refs == n->named + n->uses && !n->held && !n->busy &&
           atomic_load(&b->refs) == 1 && !atomic_load(&b->flags) && atomic_load(&b->lent) == 0;
}

static int
by_use(const void *x, const void *y)
{
    const td_held *a = x, *b = y;

    if (a->used != b->used)
        return a->used < b->used ? -1 : 1;
    return (a->buf->nbytes < b->buf->nbytes) - (a->buf->nbytes > b->buf->nbytes);
}

/* Would there be room for nbytes if all values of the list went, `sum` bytes? */
static bool
would_do(td_dev *d, size_t nbytes, size_t sum)
{
    td_memstat m = td_mem_stats(d);
    size_t bound = td_mem_bound(d), left = 0, total = 0, most;

    most = bound > m.used ? bound - m.used : 0;
    if (!td_dev_memory(d, &left, &total) && m.cached + left < most) /* others use the device too */
        most = m.cached + left;
    return nbytes <= bound && sum >= nbytes - (most < nbytes ? most : nbytes);
}

/* Moves n to the host.  beside: a stream that copies while kernels run; n keeps its memory until it is needed.  NULL: at once. */
static td_status
go(td_node *n, state *s, td_stream *beside)
{
    td_buf *b = n->buf;
    td_spilled *a;

    if (beside) {
        TD_TRY(td_spilled_put_beside(b, beside, &a));
        s->ahead[s->nahead++] = n;
    } else {
        TD_TRY(td_spilled_put(b, &a));
    }
    n->kind = TD_N_SPILLED;
    n->spilled = a;
    n->buf = NULL;
    atomic_fetch_add(&s->on_host, b->nbytes);
    atomic_fetch_add(&s->spilled, 1);
    b->holder = NULL;
    td_buf_unref(b);
    return TD_OK;
}

/* Keeps those of the list that may go, least recently used first; returns how many. */
static size_t
spill_choose(td_held *list, size_t n, size_t *sum, bool *apart)
{
    size_t m = 0;

    *sum = 0;
    *apart = false;
    for (size_t i = 0; i < n; i++)
        if (may_go(list[i].buf)) {
            *sum += list[i].buf->capacity;
            *apart |= list[i].apart;
            list[m++] = list[i];
        }
    qsort(list, m, sizeof *list, by_use);
    return m;
}

static void
not_ahead(state *s, const td_node *n)
{
    for (int i = 0; i < s->nahead; i++)
        if (s->ahead[i] == n) {
            s->ahead[i] = s->ahead[--s->nahead];
            return;
        }
}

/* Releases the memory of values whose copies have ended; returns how many bytes. */
static size_t
let_go(state *s)
{
    size_t n = 0;

    while (s->nahead > 0) {
        td_spilled *a = s->ahead[s->nahead - 1]->spilled;

        if (td_spilled_let_go(a))
            break;
        n += td_spilled_size(a);
        s->nahead--;
    }
    return n;
}

void
td_spill_settle(td_dev *d)
{
    (void)let_go(state_of(d));
}

/* A program that walks over more than fits will need as much memory again at its next step.  So the next values of the list
 * are copied to the host already, while the ones that it needs come back. */
static void
go_ahead(td_dev *d, state *s, const td_held *list, size_t n, size_t nbytes)
{
    bool walks = atomic_load(&s->returned) != s->seen;
    td_stream *beside;
    size_t gone = 0;

    s->seen = atomic_load(&s->returned);
    if (!walks || td_dev_info(d)->host || td_feed_stream(d, true, &beside))
        return;
    for (size_t i = 0; i < n && gone < nbytes && s->nahead < AHEAD; i++) {
        size_t size = list[i].buf->capacity;

        if (gone + size > nbytes + nbytes / 4 || go(list[i].buf->holder, s, beside))
            return;
        gone += size;
    }
}

bool
td_spill(td_dev *d, size_t nbytes)
{
    state *s = state_of(d);
    size_t n, sum, gone = 0, i = 0;
    td_held *list = NULL;
    bool apart, went = false;
    td_status st;

    why[0] = 0;
    gone = let_go(s);
    went = gone > 0;
    if (!atomic_load(&s->on) || td_tape_now())
        return went;
    if (td_held_list(d, LEAST, oldest_need(), &list, &n))
        return went;
    n = spill_choose(list, n, &sum, &apart);
    st = n && would_do(d, nbytes, sum) ? TD_OK : TD_SKIP;
    if (!st && apart)
        st = td_dev_sync(d);
    for (; i < n && !st && gone < nbytes; i++) {
        size_t size = list[i].buf->capacity;

        st = go(list[i].buf->holder, s, NULL);
        gone += st ? 0 : size;
        went |= !st;
    }
    if (!st)
        go_ahead(d, s, list + i, n - i, nbytes);
    if (st && st != TD_SKIP)
        snprintf(why, sizeof why, "%s", td_error());
    free(list);
    return went;
}

/* ---- back to the device ---- */

td_status
td_spill_return(td_node *n)
{
    state *s = state_of(n->dev);
    td_view v = n->view;
    td_buf *b = td_spilled_again(n->spilled);
    td_status st;

    if (b) { /* its memory had not been released yet */
        td_spill_drop(n);
        td_node_settle(n, b, &v);
        atomic_fetch_add(&s->returned, 1);
        return TD_OK;
    }
    TD_TRY(td_buf_new(n->dev, td_dev_stream(n->dev), td_spilled_size(n->spilled), &b));
    st = td_spilled_get(n->spilled, b);
    if (st) {
        td_buf_unref(b);
        return st;
    }
    td_spill_drop(n);
    td_node_settle(n, b, &v);
    atomic_fetch_add(&s->returned, 1);
    return TD_OK;
}

size_t
td_spill_size(const td_node *n)
{
    return td_spilled_size(n->spilled);
}

void
td_spill_drop(td_node *n)
{
    atomic_fetch_sub(&state_of(n->dev)->on_host, td_spilled_size(n->spilled));
    not_ahead(state_of(n->dev), n);
    td_spilled_free(n->spilled);
    n->spilled = NULL;
}
