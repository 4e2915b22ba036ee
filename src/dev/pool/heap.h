/* heap.h - memory of the driver, cut into blocks that are merged again; internal to dev/.
 *
 * A region is one piece of memory from the driver.  Its blocks cover it without gaps and know their
 * neighbours; a free block is merged with those beside it that are free too.  Small and middle-sized
 * requests share regions, each kind its own, so that a small buffer that lives long pins no large
 * memory.  A large request has a region to itself, which is reused whole: never being split, it can
 * always go back to the driver, where memory does not fragment.
 *
 * All but td_heap_size is called under the pool's lock; nothing here calls the driver.
 */
#ifndef TD_DEV_HEAP_H
#define TD_DEV_HEAP_H
#include "dev/core/devops.h"

enum td_heapkind {
    TD_HEAP_SMALL,
    TD_HEAP_MIDDLE,
    TD_HEAP_LARGE,
    TD_HEAP_JOINED, /* regions made for one request, and the free ends that it leaves: td_join */
    TD_HEAP_PLAIN,  /* as middle-sized, of pieces without a grain: what other processes can open */
};

enum { TD_HEAP_SITE = 160 }; /* bytes of a holder's place in the program, its NUL too */

/* td_region - memory from the driver.  The pool's; lives until it is given back. */
struct td_region {
    td_region *next, *prev; /* the pool's others */
    td_stream *stream;      /* whose heap its free blocks stand in */
    td_block  *first;       /* by address */
    td_piece   mem;
    size_t     held; /* bytes of it that have not been given back */
    size_t     live; /* blocks handed out */
    int        kind; /* which of the stream's heaps */
    td_block  *end[2]; /* joined: blocks of other regions that its memory is made of besides its own */
};

/* td_block - a buffer's record and its place in the pool.  Its holder's while live, else the pool's;
 * a wrapped one has no region and goes when its last reference does. */
struct td_block {
    td_buf     buf; /* first: a td_buf * is a td_block * */
    td_region *region;
    td_block  *left, *right; /* neighbours by address */
    td_block  *next, *prev;  /* in a bin; `next` also in the pool's lists of freed blocks */
    bool       free;         /* stands in a bin */
    bool       gone;         /* its memory was given back: addresses only */
    int        nuse;         /* streams besides its own that used it; -1: too many to tell */
    td_stream *use[TD_USES]; /* each counts the block in `live` */
    td_event  *done[TD_USES]; /* recorded on them after it was freed */
    char      *site;          /* where the program asked for it; NULL: not known */
};

size_t td_heap_size(size_t nbytes, int *kind); /* what a block for nbytes holds at least */
size_t td_heap_growth(const td_stream *s, int kind, size_t size); /* of the next region, for a block of `size` */
size_t td_heap_grain(const td_pool *p, int kind); /* of a region's piece */

/* The best free block of s, split where it is much larger.  NULL: there is none. */
td_block *td_heap_take(td_stream *s, int kind, size_t size);
td_block *td_block_take(td_block *b, td_stream *s, size_t size); /* b, free and large enough, is handed out; the rest is free */
void      td_heap_put(td_block *b); /* b, handed out before, is free */

/* A region's record and its one block, free but in no bin; NULL without memory for them. */
td_region *td_region_new(td_stream *s, int kind, const td_piece *mem);
void       td_heap_add(td_pool *p, td_region *r);   /* its block can be taken from now on */
td_region *td_heap_idle(td_pool *p);                /* unlinks the regions without live blocks; a list by `next` */
void       td_heap_move(td_pool *p, td_stream *from, td_stream *to); /* from's regions are to's */
size_t     td_heap_largest(const td_pool *p);       /* bytes of the largest free block */

/* ---- heapcut.c: regions whose memory goes and comes in parts ---- */

/* Takes `need` bytes of whole grains, or what there is, out of free blocks, for mem_cut: a list by `next`
 * of blocks that are gone.  Their regions stay until td_heap_cut_done. */
td_block *td_heap_cut(td_pool *p, size_t need);
void      td_heap_cut_done(td_block *list); /* those with `gone` taken back are free again */

/* td_join - a request made of free ends and new memory.  Filled by td_heap_join. */
typedef struct td_join {
    td_block *end[2]; /* the end of one grain, the beginning of another; handed out; NULL: none */
    td_part   part[2];
    size_t    nbytes; /* of new memory between them */
    size_t    before; /* bytes of end[0]'s grain before it */
    size_t    size;   /* of the request's block */
} td_join;

/* Takes the ends that leave least to be mapped.  Always succeeds; td_heap_unjoin takes it back. */
td_join    td_heap_join(td_stream *s, size_t size);
void       td_heap_unjoin(td_block *const end[2]);
td_region *td_region_joined(td_stream *s, const td_piece *mem, const td_join *j); /* as td_region_new */

/* ---- heap.c, for heapcut.c ---- */
void td_block_shelve(td_block *b);   /* into a bin */
void td_block_unshelve(td_block *b); /* out of it */
bool td_block_split(td_block *b, size_t size); /* b->right holds the rest; false: no memory for its record */
void td_block_merge(td_block *b);    /* b takes in its right neighbour, whose record goes */

#endif
