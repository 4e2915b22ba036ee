/* heap.c - blocks within regions: best fit by size class, split and merged (heap.h). */
#include "dev/pool/heap.h"

#include <stdlib.h>

#define UNIT   ((size_t)512)
#define STEP   ((size_t)4 << 10)   /* middle-sized blocks are multiples of this */
#define PAGE   ((size_t)2 << 20)   /* the driver's granularity, and a huge page */
#define SMALL  ((size_t)512 << 10) /* the largest small request */
#define MIDDLE ((size_t)16 << 20)  /* the largest middle-sized one */
#define FIRST  ((size_t)32 << 20)  /* first region for these; later ones grow up to MOST */
#define MOST   ((size_t)64 << 20)  /* larger ones cost room: measured by tests/null/t_pool.c */

enum { LOOKED_AT = 24 }; /* blocks of a bin that best_of looks at */

/* ---- sizes ---- */

static size_t
round_up(size_t n, size_t to)
{
    return (n + to - 1) / to * to;
}

size_t
td_heap_size(size_t nbytes, int *kind)
{
    *kind = nbytes <= SMALL ? TD_HEAP_SMALL : nbytes <= MIDDLE ? TD_HEAP_MIDDLE : TD_HEAP_LARGE;
    switch (*kind) {
    case TD_HEAP_SMALL:  return round_up(nbytes ? nbytes : 1, UNIT);
    case TD_HEAP_MIDDLE: return round_up(nbytes, STEP);
    default:             return round_up(nbytes, PAGE);
    }
}

size_t
td_heap_grain(const td_pool *p, int kind)
{
    return kind == TD_HEAP_MIDDLE ? p->grain : 0;
}

size_t
td_heap_growth(const td_stream *s, int kind, size_t size)
{
    size_t more = round_up(s->heap[TD_HEAP_MIDDLE].held / 4, PAGE);

    switch (kind) {
    case TD_HEAP_SMALL:  return PAGE;
    case TD_HEAP_PLAIN:  return round_up(size, PAGE);
    case TD_HEAP_MIDDLE: return more < FIRST ? FIRST : more < MOST ? more : MOST;
    default:             return size;
    }
}

/* The bin of a free block: eight per octave, and one for each size up to eight units. */
static int
bin_of(size_t size)
{
    size_t q = size / UNIT;
    int e;

    if (q < 8)
        return (int)q - 1;
    e = 63 - __builtin_clzll(q);
    return 7 + 8 * (e - 3) + (int)(q >> (e - 3) & 7);
}

/* ---- bins ---- */

void
td_block_shelve(td_block *b)
{
    td_heap *h = &b->region->stream->heap[b->region->kind];
    int i = bin_of(b->buf.capacity);

    b->free = true;
    b->prev = NULL;
    b->next = h->bin[i];
    if (b->next)
        b->next->prev = b;
    h->bin[i] = b;
    h->map[i / 64] |= (uint64_t)1 << i % 64;
}

void
td_block_unshelve(td_block *b)
{
    td_heap *h = &b->region->stream->heap[b->region->kind];
    int i = bin_of(b->buf.capacity);

    b->free = false;
    if (b->next)
        b->next->prev = b->prev;
    if (b->prev)
        b->prev->next = b->next;
    else
        h->bin[i] = b->next;
    if (!h->bin[i])
        h->map[i / 64] &= ~((uint64_t)1 << i % 64);
    b->next = b->prev = NULL;
}

/* The first non-empty bin from i on; TD_BINS: there is none. */
static int
next_bin(const td_heap *h, int i)
{
    uint64_t word;

    for (int w = i / 64; w < TD_BINS / 64; w++) {
        word = h->map[w];
        if (w == i / 64)
            word &= ~(uint64_t)0 << i % 64;
        if (word)
            return 64 * w + __builtin_ctzll(word);
    }
    return TD_BINS;
}

/* The smallest of the bin's first few blocks that holds `size`. */
static td_block *
best_of(td_block *list, size_t size)
{
    td_block *best = NULL;
    int n = 0;

    for (td_block *b = list; b && n < LOOKED_AT; b = b->next, n++)
        if (b->buf.capacity >= size && (!best || b->buf.capacity < best->buf.capacity)) {
            best = b;
            if (b->buf.capacity == size)
                break;
        }
    return best;
}

/* ---- blocks ---- */

static td_block *
block_new(td_region *r, uintptr_t ptr, size_t size)
{
    td_block *b = calloc(1, sizeof *b);

    if (!b)
        return NULL;
    b->buf.dev = r->stream->dev;
    b->buf.stream = r->stream;
    b->buf.ptr = ptr;
    b->buf.capacity = size;
    b->region = r;
    return b;
}

bool
td_block_split(td_block *b, size_t size)
{
    td_block *rest = block_new(b->region, b->buf.ptr + size, b->buf.capacity - size);

    if (!rest)
        return false;
    rest->left = b;
    rest->right = b->right;
    if (rest->right)
        rest->right->left = rest;
    b->right = rest;
    b->buf.capacity = size;
    return true;
}

void
td_block_merge(td_block *b)
{
    td_block *gone = b->right;

    b->buf.capacity += gone->buf.capacity;
    b->right = gone->right;
    if (b->right)
        b->right->left = b;
    free(gone);
}

/* How much larger than the request a block may be.  A block for a large request is not split. */
static size_t
spare(const td_pool *p, int kind, size_t size)
{
    switch (kind) {
    case TD_HEAP_LARGE: return size / 8;
    /* else join a new one */
    case TD_HEAP_JOINED: return size < p->grain ? p->grain - 1 : p->grain / 16;
    default:             return SIZE_MAX;
    }
}

td_block *
td_heap_take(td_stream *s, int kind, size_t size)
{
    const td_heap *h = &s->heap[kind];
    int i = bin_of(size);
    td_block *b = best_of(h->bin[i], size);

    if (!b) {
        i = next_bin(h, i + 1);
        b = i < TD_BINS ? best_of(h->bin[i], size) : NULL;
    }
    if (!b || b->buf.capacity - size > spare(&s->dev->pool, kind, size))
        return NULL;
    return td_block_take(b, s, size);
}

td_block *
td_block_take(td_block *b, td_stream *s, size_t size)
{
    td_block_unshelve(b);
    if (b->region->kind != TD_HEAP_LARGE && b->buf.capacity > size && td_block_split(b, size))
        td_block_shelve(b->right);
    b->buf.stream = s;
    if (b->region->live++ == 0)
        s->dev->pool.idle -= b->region->held;
    return b;
}

void
td_heap_put(td_block *b)
{
    td_region *r = b->region;

    if (--r->live == 0)
        r->stream->dev->pool.idle += r->held;
    if (b->right && b->right->free) {
        td_block_unshelve(b->right);
        td_block_merge(b);
    }
    if (b->left && b->left->free) {
        b = b->left;
        td_block_unshelve(b);
        td_block_merge(b);
    }
    td_block_shelve(b);
}

/* ---- regions ---- */

td_region *
td_region_new(td_stream *s, int kind, const td_piece *mem)
{
    td_region *r = calloc(1, sizeof *r);

    if (!r)
        return NULL;
    *r = (td_region){.stream = s, .mem = *mem, .held = mem->nbytes, .kind = kind};
    r->first = block_new(r, mem->ptr, mem->nbytes);
    if (r->first)
        return r;
    free(r);
    return NULL;
}

void
td_heap_add(td_pool *p, td_region *r)
{
    r->next = p->regions;
    if (r->next)
        r->next->prev = r;
    p->regions = r;
    p->idle += r->held;
    r->stream->heap[r->kind].held += r->held;
    td_block_shelve(r->first);
}

td_region *
td_heap_idle(td_pool *p)
{
    td_region *idle = NULL, *next;

    for (td_region *r = p->regions; r; r = next) {
        next = r->next;
        if (r->live)
            continue;
        for (td_block *b = r->first; b; b = b->right)
            if (b->free)
                td_block_unshelve(b);
        if (r->prev)
            r->prev->next = next;
        else
            p->regions = next;
        if (next)
            next->prev = r->prev;
        r->stream->heap[r->kind].held -= r->held;
        p->idle -= r->held;
        p->held -= r->held;
        r->next = idle;
        idle = r;
    }
    return idle;
}

void
td_heap_move(td_pool *p, td_stream *from, td_stream *to)
{
    for (td_region *r = p->regions; r; r = r->next) {
        if (r->stream != from)
            continue;
        from->heap[r->kind].held -= r->held;
        to->heap[r->kind].held += r->held;
        for (td_block *b = r->first; b; b = b->right)
            if (b->free) {
                td_block_unshelve(b);
                b->free = true; /* it stays free: put back into a bin below */
            }
        r->stream = to;
        for (td_block *b = r->first; b; b = b->right)
            if (b->free)
                td_block_shelve(b);
    }
}

size_t
td_heap_largest(const td_pool *p)
{
    size_t most = 0;

    for (const td_region *r = p->regions; r; r = r->next)
        for (const td_block *b = r->first; b; b = b->right)
            if (b->free && b->buf.capacity > most)
                most = b->buf.capacity;
    return most;
}
