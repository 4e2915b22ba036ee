/* boxpart.h - what box.c and boxmap.c share. */
#ifndef TD_BASE_BOXPART_H
#define TD_BASE_BOXPART_H
#include "base/box.h"

static inline void *
box_memory(uint64_t address)
{
    return (void *)(uintptr_t)address; /* NOLINT(performance-no-int-to-ptr) */
}

static inline uint64_t
box_address(const void *p)
{
    return (uint64_t)(uintptr_t)p;
}

static inline size_t
item_bytes(const td_box *b)
{
    return b->kind == TD_BOX_STR ? 4 : 8 * (size_t)b->width;
}

static inline unsigned
word_kind(uint64_t desc, uint32_t i)
{
    return i < TD_WORD_MAX ? desc >> (TD_WORD_BITS * i) & 7 : TD_WORD_OTHER;
}

bool     td_box_same_words(uint64_t desc, const uint64_t *a, const uint64_t *b, uint32_t n);
/* builds a table for at least n elements, without the entries of removed ones */
bool     td_box_rebuild(td_box *b, int64_t n);
uint64_t td_box_clear(td_box *b);
uint64_t td_box_ask_map(td_box *b, uint64_t *w, int64_t which);

#endif
