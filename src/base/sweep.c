/* sweep.c - frees the boxes and blocks that iterations of a loop made and that nothing reaches any more.
 *
 * What a loop makes can be reached through the variables that it assigns and through boxes.  Words have no types
 * here: one that is a young box's address, or an address in a young block, counts as a reference to it.
 */
#include "base/boxpart.h"

#include <stdlib.h>
#include <string.h>

/* The call's memory has to grow by this before a sweep looks at anything: what it looks at fits into a cache then. */
enum { LEAST_GROWTH = 1 << 18 };

typedef struct youngblock {
    uint64_t first, last;
    bool reached;
} youngblock;

typedef struct sweep {
    td_box **box; /* hash table of the young boxes: mask + 1 places */
    uint64_t mask;
    td_box **todo;     /* boxes that are reached, and whose words have not been followed */
    youngblock *block; /* in the order of their addresses */
    size_t ntodo, nblock, followed; /* followed: bytes */
} sweep;

/* Python objects may refer to a box that is shared or that holds arrays, and the table of constants to its str. */
static bool
may_go(const td_box *b)
{
    return !b->held && !b->shared && !b->constant;
}

static td_box **
place_of(const sweep *s, uint64_t address)
{
    uint64_t i = (address >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 32;

    for (;; i++) {
        td_box **p = &s->box[i & s->mask];

        if (!*p || box_address(*p) == address)
            return p;
    }
}

static int
by_address(const void *a, const void *b)
{
    uint64_t x = ((const youngblock *)a)->first, y = ((const youngblock *)b)->first;

    return (x > y) - (x < y);
}

static bool
find_young(sweep *s, const td_callmem *h, uint64_t mark)
{
    uint64_t nbox = 0, nblock = 0;

    for (const td_box *b = h->boxes; b && b->serial > mark; b = b->next)
        nbox++;
    for (const td_callblock *b = h->first; b && b->serial > mark; b = b->next)
        nblock++;
    for (s->mask = 1; s->mask < 2 * nbox; s->mask = 2 * s->mask + 1)
        ;
    s->box = (td_box **)calloc(s->mask + 1, sizeof *s->box);
    s->todo = (td_box **)malloc((nbox + 1) * sizeof *s->todo);
    s->block = malloc((nblock + 1) * sizeof *s->block);
    if (!s->box || !s->todo || !s->block)
        return false;
    for (td_box *b = h->boxes; b && b->serial > mark; b = b->next) {
        *place_of(s, box_address(b)) = b;
        b->reached = !may_go(b);
    }
    for (const td_callblock *b = h->first; b && b->serial > mark; b = b->next)
        s->block[s->nblock++] = (youngblock){td_callblock_begin(b),
                                             td_callblock_begin(b) + b->nbytes, b->owner != NULL};
    qsort(s->block, s->nblock, sizeof *s->block, by_address);
    return true;
}

static void
reach_box(sweep *s, td_box *b)
{
    if (b->reached)
        return;
    b->reached = true;
    s->todo[s->ntodo++] = b;
}

static void
reach(sweep *s, uint64_t address)
{
    td_box *b = *place_of(s, address);
    size_t low = 0, high = s->nblock;

    if (b) {
        reach_box(s, b);
        return;
    }
    while (low < high) {
        size_t middle = (low + high) / 2;

        if (s->block[middle].first <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low && address <= s->block[low - 1].last)
        s->block[low - 1].reached = true;
}

/* A variable may be an array of a list's memory, too. */
static void
reach_from_variable(sweep *s, const td_callmem *h, uint64_t mark, uint64_t address)
{
    reach(s, address);
    for (td_box *b = h->boxes; b && b->serial > mark; b = b->next)
        if (b->data && address - b->data <= (uint64_t)b->room * item_bytes(b))
            reach_box(s, b);
}

static void
follow(sweep *s, const td_box *b)
{
    bool map = b->kind == TD_BOX_DICT || b->kind == TD_BOX_SET;
    int64_t n = map ? b->fill : b->n;

    if (b->kind == TD_BOX_STR)
        return;
    for (uint32_t i = map; i < b->width; i++) {
        unsigned what = word_kind(b->desc, i - map);

        if (what != TD_WORD_OTHER && what != TD_WORD_STR)
            continue;
        s->followed += 8 * (size_t)n;
        for (int64_t k = 0; k < n; k++)
            reach(s, td_box_at(b, k)[i]);
    }
}

static void
follow_all(sweep *s)
{
    while (s->ntodo)
        follow(s, s->todo[--s->ntodo]);
}

static size_t
free_rest(const sweep *s, td_callmem *h, uint64_t mark)
{
    size_t kept = 0;

    for (td_box *b = h->boxes, *next; b && b->serial > mark; b = next) {
        next = b->next;
        if (!b->reached)
            td_box_drop(b);
        else
            kept += sizeof *b + (size_t)b->room * item_bytes(b);
    }
    for (td_callblock **p = &h->first; *p && (*p)->serial > mark;) {
        td_callblock *b = *p;
        const youngblock key = {.first = td_callblock_begin(b)},
                         *y = bsearch(&key, s->block, s->nblock, sizeof *y, by_address);

        if (!y || y->reached) {
            kept += b->nbytes;
            p = &b->next;
            continue;
        }
        *p = b->next;
        td_callmem_spare(h, b);
    }
    return kept;
}

/* Loops within each other have marks of their own.  What a sweep from one mark on left is looked at again from that
 * mark or later ones on only when as much has been added; sweeps of an outer loop do not wait for that. */
static bool
is_early(const td_callmem *h, uint64_t mark)
{
    uint32_t i = h->nswept;

    while (i && h->swept[i - 1].mark > mark)
        i--;
    return td_call_grown < (i ? h->swept[i - 1].next : LEAST_GROWTH);
}

static void
note_sweep(td_callmem *h, uint64_t mark, uint64_t patience)
{
    while (h->nswept && h->swept[h->nswept - 1].mark >= mark)
        h->nswept--;
    if (h->nswept == TD_CALLMEM_SWEPT) {
        h->nswept--;
        memmove(h->swept, h->swept + 1, h->nswept * sizeof *h->swept);
    }
    h->swept[h->nswept].mark = mark;
    h->swept[h->nswept++].next = td_call_grown + patience + LEAST_GROWTH;
}

void
td_box_sweep(td_callmem *h, uint64_t mark, const uint64_t *word, int64_t n)
{
    size_t kept = 0;
    sweep s = {0};

    if (is_early(h, mark))
        return;
    if (find_young(&s, h, mark)) {
        for (int64_t i = 0; i < n; i++)
            reach_from_variable(&s, h, mark, word[i]);
        follow_all(&s);
        for (const td_box *b = h->boxes; b; b = b->next)
            if (b->serial <= mark || !may_go(b)) {
                follow(&s, b);
                follow_all(&s);
            }
        kept = free_rest(&s, h, mark);
    }
    note_sweep(h, mark, kept + s.followed);
    free((void *)s.box);
    free((void *)s.todo);
    free(s.block);
}
