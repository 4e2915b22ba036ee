/* arena.c - a chain of chunks, newest first.  Only the newest one serves requests. */
#include "base/arena.h"

#include "base/err.h"

#include <stdlib.h>

enum { CHUNK = 1 << 14 };

struct td_chunk {
    struct td_chunk *next;
    size_t used, size;
    max_align_t data[];
};

static max_align_t sink[4 * CHUNK / sizeof(max_align_t)];

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

    TD_ASSERT(p || size <= sizeof sink);
    return p ? p : sink;
}

void
td_arena_free(td_arena *a)
{
    struct td_chunk *c, *next;

    for (c = a->head; c; c = next) {
        next = c->next;
        free(c);
    }
    *a = (td_arena){0};
}
