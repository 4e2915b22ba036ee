/* heapcut.c - turns scattered free memory into whole memory, where the driver maps it grain by
 * grain.
 *
 * If a region's piece has a grain, the whole grains of its free blocks can be returned and used
 * elsewhere.  What is left of such a block is `gone`: addresses without memory.  Before and after
 * it stay free bytes, less than a grain each.
 *
 * A request is then joined: the end of one grain, new memory, and the beginning of another grain,
 * mapped a second time, side by side.  The two ends count as handed out where they lie; the
 * joined region returns them when it is freed.  What the request leaves of its last grain is an
 * end for other requests, and serves requests smaller than a grain.
 */
#include "dev/pool/heap.h"

/* ---- parts of blocks ---- */

static size_t
offset_of(const td_block *b)
{
    return b->buf.ptr - b->region->mem.ptr;
}

/* Makes [lo, hi) of b's region a block of its own.  b is in no bin; the parts on both sides
 * become free.  NULL: no memory for the records; b is unchanged. */
static td_block *
carve(td_block *b, size_t lo, size_t hi)
{
    bool before = lo > offset_of(b), behind = hi < offset_of(b) + b->buf.capacity;
    td_block *part = b;

    if (before) {
        if (!td_block_split(b, lo - offset_of(b)))
            return NULL;
        part = b->right;
    }
    if (behind && !td_block_split(part, hi - lo)) {
        if (before)
            td_block_merge(b);
        return NULL;
    }
    if (before)
        td_block_shelve(b);
    if (behind)
        td_block_shelve(part->right);
    return part;
}

/* A region without live blocks counts as idle with all its held bytes. */
static void
region_acquire(td_region *r)
{
    if (r->live++ == 0)
        r->stream->dev->pool.idle -= r->held;
}

static void
region_release(td_region *r)
{
    if (--r->live == 0)
        r->stream->dev->pool.idle += r->held;
}

static void
adjust_held(td_region *r, size_t more, size_t less)
{
    r->held += more - less;
    r->stream->heap[r->kind].held += more - less;
}

/* ---- returning grains ---- */

/* Marks the whole grains of b, a free block, as gone, in a block of their own.  NULL: there
 * are none. */
static td_block *
cut_grains(td_block *b)
{
    td_region *r = b->region;
    size_t g = r->mem.grain, end = offset_of(b) + b->buf.capacity;
    size_t lo = (offset_of(b) + g - 1) / g * g, hi = end == r->mem.nbytes ? end : end / g * g;
    td_block *part;

    if (lo >= hi)
        return NULL;
    td_block_unshelve(b);
    part = carve(b, lo, hi);
    if (!part) {
        td_block_shelve(b);
        return NULL;
    }
    part->gone = true;
    return part;
}

td_block *
td_heap_cut(td_pool *p, size_t need)
{
    td_block *list = NULL;
    size_t n = 0;

    for (td_region *r = p->regions; r && n < need; r = r->next)
        for (td_block *b = r->mem.grain ? r->first : NULL, *part; b && n < need; b = b->right) {
            part = b->free ? cut_grains(b) : NULL;
            if (!part)
                continue;
            part->next = list;
            list = b = part;
            n += part->buf.capacity;
            region_acquire(r);
            adjust_held(r, 0, part->buf.capacity);
        }
    return list;
}

void
td_heap_cut_done(td_block *list)
{
    for (td_block *b = list, *next; b; b = next) {
        next = b->next;
        b->next = NULL;
        if (b->gone) {
            region_release(b->region);
            if (b->right && b->right->gone)
                td_block_merge(b);
            if (b->left && b->left->gone)
                td_block_merge(b->left);
        } else {
            adjust_held(b->region, b->buf.capacity, 0);
            td_heap_put(b);
        }
    }
}

/* ---- joining ---- */

/* Bytes of the free block b up to the end of the grain in which it begins; 0: none. */
static size_t
end_of_grain(const td_block *b)
{
    size_t g = b->region->mem.grain, at = offset_of(b) % g;

    return at && b->buf.capacity >= g - at ? g - at : 0;
}

/* Bytes of the free block b from the beginning of the grain in which it ends. */
static size_t
begin_of_grain(const td_block *b)
{
    size_t at = (offset_of(b) + b->buf.capacity) % b->region->mem.grain;

    return b->buf.capacity >= at ? at : 0;
}

enum { ENDS_MAX = 256 }; /* most ends to consider: every pair is tried */

/* ends - free bytes at the ends, or at the beginnings, of grains.  On the stack of one join. */
typedef struct ends {
    int n;
    td_block *b[ENDS_MAX + 1]; /* the first entry stands for none, 0 bytes */
    size_t nbytes[ENDS_MAX + 1];
} ends;

static void
find_ends(td_stream *s, size_t (*bytes_of)(const td_block *), ends *e)
{
    e->n = 1;
    e->b[0] = NULL;
    e->nbytes[0] = 0;
    for (td_region *r = s->dev->pool.regions; r; r = r->next)
        for (td_block *b = r->mem.grain && r->stream == s ? r->first : NULL; b; b = b->right) {
            size_t n = b->free ? bytes_of(b) : 0;

            if (n && e->n <= ENDS_MAX) {
                e->b[e->n] = b;
                e->nbytes[e->n++] = n;
            }
        }
}

/* Hands out n bytes of the free block b, from offset `at` of its region.  NULL: no memory for
 * the records. */
static td_block *
take_part(td_block *b, size_t at, size_t n)
{
    td_block *part;

    td_block_unshelve(b);
    part = carve(b, at, at + n);
    if (part)
        region_acquire(part->region);
    else
        td_block_shelve(b);
    return part;
}

/* Chooses the two ends that need the least new memory; among those, the two that leave the
 * least of themselves.  The rest of a beginning is stuck between live blocks, but the rest of
 * new memory is an end again. */
static void
choose_ends(const ends *e, const ends *f, size_t size, size_t g, int *first, int *last)
{
    size_t least = SIZE_MAX;

    for (int i = 0; i < e->n; i++)
        for (int k = 0; k < f->n; k++) {
            size_t have = e->nbytes[i] + f->nbytes[k],
                   more = have < size ? (size - have + g - 1) / g * g : 0,
                   left = have + more - size;

            if ((i && e->b[i] == f->b[k]) || e->nbytes[i] >= size || (k && left >= f->nbytes[k]))
                continue;
            if (more + (k ? left : 0) < least) {
                least = more + (k ? left : 0);
                *first = i;
                *last = k;
            }
        }
}

td_join
td_heap_join(td_stream *s, size_t size)
{
    size_t g = s->dev->pool.grain, n, rest = size;
    td_join j = {.size = size};
    ends e, f;
    int i = 0, k = 0;

    find_ends(s, end_of_grain, &e);
    find_ends(s, begin_of_grain, &f);
    choose_ends(&e, &f, size, g, &i, &k);
    if (i) {
        n = e.nbytes[i];
        j.end[0] = take_part(e.b[i], offset_of(e.b[i]), n);
        if (j.end[0]) {
            rest -= n;
            j.before = g - n;
            j.part[0] = (td_part){&j.end[0]->region->mem, offset_of(j.end[0]) / g * g};
        }
    }
    j.nbytes = rest / g * g;
    rest -= j.nbytes;
    if (k && rest && rest <= f.nbytes[k]) {
        n = (offset_of(f.b[k]) + f.b[k]->buf.capacity) / g * g;
        j.end[1] = take_part(f.b[k], n, rest);
        if (j.end[1])
            j.part[1] = (td_part){&j.end[1]->region->mem, n};
    }
    if (rest && !j.end[1])
        j.nbytes += g;
    return j;
}

void
td_heap_unjoin(td_block *const end[2])
{
    for (int i = 0; i < 2; i++)
        if (end[i])
            td_heap_put(end[i]);
}

/* If nothing follows the new memory, the block gets all of it and what the request leaves is
 * free. */
td_region *
td_region_joined(td_stream *s, const td_piece *mem, const td_join *j)
{
    td_region *r = td_region_new(s, TD_HEAP_JOINED, mem);

    if (!r)
        return NULL;
    r->held = j->nbytes;
    r->first->buf.ptr += j->before;
    r->first->buf.capacity = j->end[1] ? j->size : mem->nbytes - j->before;
    r->end[0] = j->end[0];
    r->end[1] = j->end[1];
    return r;
}
