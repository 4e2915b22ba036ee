/* site.c - texts by number, and the program's line that a thread works for. */
#include "dev/core/site.h"

#include "base/hash.h"
#include "base/map.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
    pthread_mutex_t mu;
    td_map ids; /* text's hash to its number */
    char **text;
    uint32_t n, cap;
} names = {.mu = PTHREAD_MUTEX_INITIALIZER};

atomic_int td_site_wanters;

static _Atomic(td_site_fn *) ask;
static _Thread_local uint32_t held;

/* ---- texts ---- */

/* Needs the lock. */
static uint32_t
new_text(const char *text, td_hash key)
{
    char *copy;

    if (names.n == names.cap) {
        uint32_t cap = names.cap ? 2 * names.cap : 256;
        char **at = realloc(names.text, cap * sizeof *at);

        if (!at)
            return 0;
        names.text = at;
        names.cap = cap;
    }
    copy = strdup(text);
    if (!copy || td_map_set(&names.ids, key, (void *)(uintptr_t)(names.n + 1))) {
        free(copy);
        return 0;
    }
    names.text[names.n++] = copy;
    return names.n;
}

uint32_t
td_name_id(const char *text)
{
    td_hash key;
    uint32_t id;

    if (!text || !*text)
        return 0;
    key = td_hash_add(TD_HASH_INIT, text, strlen(text));
    pthread_mutex_lock(&names.mu);
    id = (uint32_t)(uintptr_t)td_map_get(&names.ids, key);
    if (!id)
        id = new_text(text, key);
    pthread_mutex_unlock(&names.mu);
    return id;
}

const char *
td_name_text(uint32_t id)
{
    const char *text = "";

    pthread_mutex_lock(&names.mu);
    if (id && id <= names.n)
        text = names.text[id - 1];
    pthread_mutex_unlock(&names.mu);
    return text;
}

const char *
td_name_format(const char *fmt, ...)
{
    char *text = NULL;
    va_list ap;
    uint32_t id;

    va_start(ap, fmt);
    if (vasprintf(&text, fmt, ap) < 0)
        text = NULL;
    va_end(ap);
    id = td_name_id(text);
    free(text);
    return td_name_text(id);
}

void
td_site_lock(bool lock)
{
    if (lock)
        pthread_mutex_lock(&names.mu);
    else
        pthread_mutex_unlock(&names.mu);
}

/* ---- lines of the program ---- */

void
td_site_on_ask(td_site_fn *fn)
{
    atomic_store(&ask, fn);
}

uint32_t
td_site_held(void)
{
    return held;
}

uint32_t
td_site_now(void)
{
    td_site_fn *fn = atomic_load(&ask);

    return held ? held : fn ? fn() : 0;
}

void
td_site_hold(void)
{
    held = 0; /* drop a line that was held when sites were last wanted */
    held = td_site_now();
}

void
td_site_release(void)
{
    held = 0;
}
