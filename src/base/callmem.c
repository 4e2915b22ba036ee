/* callmem.c - the blocks of one call, in a lock-free list. */
#include "base/box.h"

#include <stddef.h>
#include <stdlib.h>

enum { ALIGN = 64 };

_Thread_local uint64_t td_call_grown;

uint64_t
td_callmem_serial(td_callmem *h)
{
    return h->alone ? ++h->taken : __atomic_add_fetch(&h->taken, 1, __ATOMIC_RELAXED);
}

uint64_t
td_callblock_begin(const td_callblock *b)
{
    return (uint64_t)(uintptr_t)b + ALIGN;
}

/* A thread that looks for a spare block has the whole list meanwhile: others find none, and do not wait. */
static td_callblock *
spare_block(td_callmem *h, size_t size)
{
    td_callblock *b, **list = size < TD_CALLMEM_SPARES ? &h->spare[size] : NULL;

    if (!list || !__atomic_load_n(list, __ATOMIC_RELAXED))
        return NULL;
    b = h->alone ? *list : __atomic_exchange_n(list, NULL, __ATOMIC_ACQUIRE);
    if (b)
        __atomic_store_n(list, b->next, __ATOMIC_RELEASE);
    return b;
}

void
td_callmem_spare(td_callmem *h, td_callblock *b)
{
    td_callblock **list =
        b->nbytes / ALIGN < TD_CALLMEM_SPARES ? &h->spare[b->nbytes / ALIGN] : NULL;

    if (!list) {
        free(b);
        return;
    }
    b->next = *list;
    *list = b;
}

uint64_t
td_callmem_take(uint64_t heap, int64_t nbytes)
{
    td_callmem *h = (td_callmem *)(uintptr_t)heap; /* NOLINT(performance-no-int-to-ptr) */
    td_callblock *b;

    if (nbytes < 0 || nbytes > INT64_MAX - 2 * ALIGN)
        return 0;
    b = spare_block(h, (size_t)nbytes / ALIGN);
    if (!b)
        b = aligned_alloc(ALIGN, ((size_t)nbytes / ALIGN + 2) * ALIGN);
    if (!b)
        return 0;
    b->nbytes = (uint64_t)nbytes;
    b->owner = NULL;
    b->serial = td_callmem_serial(h);
    td_call_grown += (uint64_t)nbytes;
    if (h->alone) {
        b->next = h->first;
        h->first = b;
        return td_callblock_begin(b);
    }
    b->next = __atomic_load_n(&h->first, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&h->first, &b->next, b, true, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED))
        ;
    return td_callblock_begin(b);
}

static void
free_list(td_callblock **list)
{
    for (td_callblock *b; (b = *list);) {
        *list = b->next;
        if (!b->owner)
            free(b);
    }
}

static void
free_blocks(td_callmem *h)
{
    free_list(&h->first);
    for (int i = 0; i < TD_CALLMEM_SPARES; i++)
        free_list(&h->spare[i]);
}

static bool
holds_any(const td_callblock *b, const uint64_t *word, int64_t n)
{
    for (int64_t i = 1; i < n; i++)
        if (word[i] - td_callblock_begin(b) <= b->nbytes)
            return true;
    return false;
}

void
td_callmem_release(uint64_t heap, uint64_t words, int64_t n)
{
    td_callmem *h = (td_callmem *)(uintptr_t)heap;             /* NOLINT */
    const uint64_t *word = (const uint64_t *)(uintptr_t)words; /* NOLINT */

    if (!n) {
        free_blocks(h);
        return;
    }
    for (td_callblock **p = &h->first; *p && (*p)->serial > word[0];) {
        td_callblock *b = *p;

        if (holds_any(b, word, n)) {
            p = &b->next;
            continue;
        }
        *p = b->next;
        td_callmem_spare(h, b);
    }
}

bool
td_callblock_has(const td_callblock *b, uint64_t address)
{
    return address - td_callblock_begin(b) <= b->nbytes;
}

td_callblock *
td_callmem_find(const td_callmem *h, uint64_t address)
{
    for (td_callblock *b = h->first; b; b = b->next)
        if (td_callblock_has(b, address))
            return b;
    return NULL;
}

void
td_callmem_drop(td_callblock *b)
{
    free(b);
}

void
td_callmem_free(td_callmem *h)
{
    free_blocks(h);
    td_box_free_all(h);
}
