/* recent.c - a ring of recent launches, and the text of the first failure (recent.h). */
#include "dev/core/recent.h"

#include "dev/core/site.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    RING = 256, /* launches; a loop repeats the same few, so more would tell little more */
    TOLD = 4,
};

typedef struct entry {
    td_launched l;
    bool done;
} entry;

struct td_recent {
    pthread_mutex_t mu;
    uint64_t last;  /* the number of the newest launch; its place is the number modulo RING */
    uint64_t below; /* all launches up to this one have ended or left the ring */
    bool more;      /* a launch that left the ring may still be running */
    char told[TD_RECENT_TEXT];
    entry at[RING];
};

td_recent *
td_recent_new(void)
{
    td_recent *r = calloc(1, sizeof *r);

    if (r)
        pthread_mutex_init(&r->mu, NULL);
    return r;
}

/* Needs the lock.  Moves `below` past launches that have ended. */
static void
recent_advance(td_recent *r)
{
    while (r->below < r->last && r->at[(r->below + 1) % RING].done)
        r->below++;
}

uint64_t
td_recent_add(td_recent *r, const td_launched *l)
{
    uint64_t n;

    pthread_mutex_lock(&r->mu);
    n = ++r->last;
    if (n - r->below > RING) {
        r->more = true;
        r->below++;
    }
    r->at[n % RING] = (entry){.l = *l};
    pthread_mutex_unlock(&r->mu);
    return n;
}

uint64_t
td_recent_last(td_recent *r)
{
    uint64_t n;

    pthread_mutex_lock(&r->mu);
    n = r->last;
    pthread_mutex_unlock(&r->mu);
    return n;
}

void
td_recent_drop(td_recent *r, uint64_t number)
{
    pthread_mutex_lock(&r->mu);
    if (number > r->below) {
        r->at[number % RING].done = true;
        recent_advance(r);
    }
    pthread_mutex_unlock(&r->mu);
}

/* Marks the stream's launches up to `number` as ended, and those that they waited for:
 * launches of the default stream before them, and all launches before one of those. */
void
td_recent_done(td_recent *r, const void *stream, uint64_t number)
{
    /* found so far: a launch of this stream; a later launch of the default one */
    bool own = false, before = false;

    pthread_mutex_lock(&r->mu);
    for (uint64_t n = number; n > r->below; n--) {
        entry *e = &r->at[n % RING];
        bool waits = !e->l.apart && (before || (own && e->l.legacy));

        if (stream && e->l.stream != stream && !waits)
            continue;
        e->done = true;
        own |= !e->l.apart;
        before |= e->l.legacy;
    }
    r->more &= stream && !before;
    r->told[0] = 0;
    recent_advance(r);
    pthread_mutex_unlock(&r->mu);
}

void
td_recent_gone(td_recent *r, const void *stream, bool never)
{
    pthread_mutex_lock(&r->mu);
    for (uint64_t n = r->last; n > r->below; n--) {
        entry *e = &r->at[n % RING];

        if (e->l.stream != stream)
            continue;
        e->l.stream = NULL;
        e->l.legacy = true;
        e->done |= never;
    }
    recent_advance(r);
    pthread_mutex_unlock(&r->mu);
}

/* ---- the failure ---- */

static bool
same_launch(const td_launched *a, const td_launched *b)
{
    return a->site == b->site && a->what == b->what && strcmp(a->name, b->name) == 0;
}

/* Needs the lock.  The launches that may still be running, oldest first, each kind and line
 * once. */
static int
suspects(const td_recent *r, const td_launched *out[TOLD], bool *more)
{
    int kinds = 0;

    *more = r->more;
    for (uint64_t n = r->below + 1; n <= r->last; n++) {
        const entry *e = &r->at[n % RING];
        int i = 0;

        if (e->done)
            continue;
        while (i < kinds && !same_launch(out[i], &e->l))
            i++;
        if (i == TOLD)
            *more = true;
        else if (i == kinds)
            out[kinds++] = &e->l;
    }
    return kinds;
}

static void
append_told(char *text, const char *more)
{
    size_t n = strlen(text);

    snprintf(text + n, TD_RECENT_TEXT - n, "%s", more);
}

static void
append_launch(char *text, const td_launched *l)
{
    char one[200];

    snprintf(one, sizeof one, l->what ? "%s (%s)" : "%s%s", l->what ? l->what : l->name,
             l->what ? l->name : "");
    append_told(text, one);
    if (l->site) {
        append_told(text, " launched at ");
        append_told(text, td_name_text(l->site));
    }
}

void
td_recent_fail(td_recent *r, const char *name, const char *call)
{
    const td_launched *by[TOLD];
    bool more;
    int n;

    pthread_mutex_lock(&r->mu);
    n = r->told[0] ? 0 : suspects(r, by, &more);
    if (!r->told[0]) {
        snprintf(r->told, sizeof r->told, "; first error: %s, told by %s, of %s", name, call,
                 n == 0          ? "no kernel launched here"
                 : n > 1 || more ? "one of the kernels "
                                 : "the kernel ");
        for (int i = 0; i < n; i++) {
            append_told(r->told, i ? ", " : "");
            append_launch(r->told, by[i]);
        }
        append_told(r->told, n && more ? " and others" : "");
    }
    pthread_mutex_unlock(&r->mu);
}

const char *
td_recent_told(td_recent *r, char text[TD_RECENT_TEXT])
{
    pthread_mutex_lock(&r->mu);
    memcpy(text, r->told, TD_RECENT_TEXT);
    pthread_mutex_unlock(&r->mu);
    return text;
}
