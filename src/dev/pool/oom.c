/* oom.c - what the pool reports: counts, the limit, why memory is out, and who holds it. */
#include "dev/pool/pool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HOLDERS = 4 }; /* holders named in an error */

static _Atomic(td_mem_pressure *) pressure, wait_hook;
static _Atomic(td_mem_site *) site;
static _Atomic(td_mem_note *) note;
static _Thread_local bool pressing;

void
td_mem_on_pressure(td_mem_pressure *fn)
{
    atomic_store(&pressure, fn);
}

void
td_mem_on_pressure_first(td_mem_pressure *fn)
{
    td_mem_pressure *none = NULL;

    (void)atomic_compare_exchange_strong(&pressure, &none, fn);
}

void
td_mem_on_wait(td_mem_pressure *fn)
{
    atomic_store(&wait_hook, fn);
}

void
td_mem_on_oom(td_mem_note *fn)
{
    atomic_store(&note, fn);
}

void
td_mem_on_large(td_mem_site *fn)
{
    atomic_store(&site, fn);
}

static bool
call_pressure_hook(td_mem_pressure *fn, td_dev *d, size_t nbytes)
{
    bool freed;

    if (!fn || pressing)
        return false;
    pressing = true;
    freed = fn(d, nbytes);
    pressing = false;
    return freed;
}

bool
td_pool_pressed(td_dev *d, size_t nbytes)
{
    return call_pressure_hook(atomic_load(&pressure), d, nbytes);
}

bool
td_pool_waited(td_dev *d, size_t nbytes)
{
    return call_pressure_hook(atomic_load(&wait_hook), d, nbytes);
}

char *
td_pool_site(void)
{
    td_mem_site *fn = atomic_load(&site);
    char text[TD_HEAP_SITE] = "";

    if (fn)
        fn(text, sizeof text);
    return text[0] ? strdup(text) : NULL;
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
        .limit = p->limit,
        .largest = td_heap_largest(p),
        .allocs = p->allocs,
        .driver_allocs = p->driver_allocs,
    };
    pthread_mutex_unlock(&p->mu);
    return m;
}

td_status
td_mem_limit(td_dev *d, size_t nbytes)
{
    td_pool *p = &d->pool;

    pthread_mutex_lock(&p->mu);
    p->limit = nbytes;
    p->full = SIZE_MAX;
    pthread_mutex_unlock(&p->mu);
    return td_pool_shrink(d);
}

size_t
td_mem_bound(td_dev *d)
{
    td_pool *p = &d->pool;
    size_t n;

    pthread_mutex_lock(&p->mu);
    n = p->limit < d->info.memory ? p->limit : d->info.memory;
    pthread_mutex_unlock(&p->mu);
    return n;
}

/* ---- the text ---- */

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

typedef struct holder {
    size_t nbytes;
    char site[TD_HEAP_SITE];
} holder;

/* The largest live blocks whose line is known, largest first. */
static void
find_holders(td_pool *p, holder most[HOLDERS])
{
    pthread_mutex_lock(&p->mu);
    for (const td_region *r = p->regions; r; r = r->next)
        for (const td_block *b = r->first; b; b = b->right) {
            int at = HOLDERS;

            while (b->site && at > 0 && most[at - 1].nbytes < b->buf.capacity)
                at--;
            if (!b->site || at == HOLDERS)
                continue;
            memmove(&most[at + 1], &most[at], (size_t)(HOLDERS - 1 - at) * sizeof *most);
            most[at].nbytes = b->buf.capacity;
            snprintf(most[at].site, sizeof most[at].site, "%s", b->site);
        }
    pthread_mutex_unlock(&p->mu);
}

static void
holders_text(td_dev *d, char *text, size_t n)
{
    holder most[HOLDERS] = {{0, ""}};
    char size[32];
    size_t at = 0;

    find_holders(&d->pool, most);
    text[0] = 0;
    for (int i = 0; i < HOLDERS && most[i].nbytes && at < n; i++) {
        human(most[i].nbytes, size);
        at += (size_t)snprintf(text + at, n - at, "%s%s at %s",
                               i ? ", " : "; largest buffers: ", size, most[i].site);
    }
}

td_status
td_pool_oom(td_dev *d, size_t nbytes)
{
    td_memstat m = td_mem_stats(d);
    size_t free_bytes = 0, total = 0;
    char ask[32], used[32], kept[32], largest[32], left[32], all[32], limit[64] = "", size[32];
    char who[HOLDERS * (TD_HEAP_SITE + 40)], more[400] = "";
    td_mem_note *fn = atomic_load(&note);

    (void)d->ops->memory(d, &free_bytes, &total); /* on failure the text says 0 */
    human(nbytes, ask);
    human(m.used, used);
    human(m.cached, kept);
    human(m.largest, largest);
    human(free_bytes, left);
    human(total, all);
    if (m.limit != SIZE_MAX) {
        human(m.limit, size);
        snprintf(limit, sizeof limit, ", the limit is %s", size);
    }
    holders_text(d, who, sizeof who);
    if (fn)
        fn(d, more, sizeof more);
    return td_fail(TD_ERR_OOM,
                   "out of memory on %s: asked for %s (%zu bytes); buffers hold %s, the pool keeps "
                   "%s (largest block %s), %s of %s are free%s%s%s",
                   d->info.name, ask, nbytes, used, kept, largest, left, all, limit, more, who);
}
