/* arena.c - a chain of chunks, newest first.  Only the newest one serves requests. */
#include "base/arena.h"

#include "base/err.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 1 << 14 };

struct td_chunk {
    struct td_chunk *next;
    size_t used, size;
    max_align_t data[];
};

/* What arenas take that have failed. It is used again once all of them are freed. */
static pthread_mutex_t reserve_mu = PTHREAD_MUTEX_INITIALIZER;
static struct {
    size_t used, arenas;
    _Alignas(max_align_t) char data[TD_ARENA_RESERVE];
} reserve;

static void *
from_reserve(td_arena *a, size_t size)
{
    void *p = NULL;

    size = (size + 15) & ~(size_t)15;
    pthread_mutex_lock(&reserve_mu);
    if (!a->reserved && !reserve.arenas++)
        reserve.used = 0;
    a->reserved = true;
    if (sizeof reserve.data - reserve.used >= size) {
        p = memset(reserve.data + reserve.used, 0, size);
        reserve.used += size;
    }
    pthread_mutex_unlock(&reserve_mu);
    TD_ASSERT(p); /* the reserve is used up */
    return p;
}

void *
td_alloc_big(td_arena *a, size_t size)
{
    struct td_chunk *c = a->head;
    void *p;

    size = (size + 15) & ~(size_t)15;
    if (!c || c->size - c->used < size) {
        size_t n = size > CHUNK ? size : CHUNK;

        c = calloc(1, sizeof *c + n);
        if (!c) {
            a->failed = true;
            return NULL;
        }
        c->size = n;
        c->next = a->head;
        a->head = c;
    }
    p = (char *)c->data + c->used;
    c->used += size;
    return p;
}

void *
td_alloc(td_arena *a, size_t size)
{
    void *p = td_alloc_big(a, size);

    return p ? p : from_reserve(a, size);
}

void
td_arena_free(td_arena *a)
{
    struct td_chunk *c, *next;

    for (c = a->head; c; c = next) {
        next = c->next;
        free(c);
    }
    if (a->reserved) {
        pthread_mutex_lock(&reserve_mu);
        reserve.arenas--;
        pthread_mutex_unlock(&reserve_mu);
    }
    *a = (td_arena){0};
}
