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
#include "dev/devops.h"

enum { TD_HEAP_SITE = 160 }; /* bytes of a holder's place in the program, its NUL too */

/* td_region - memory from the driver.  The pool's; lives until it is given back. */
struct td_region {
    td_region *next, *prev; /* the pool's others */
    td_stream *stream;      /* whose heap its free blocks stand in */
    td_block  *first;       /* by address */
    uintptr_t  ptr;
    size_t     size;
    size_t     live; /* blocks handed out */
    int        kind; /* which of the stream's heaps */
};

/* td_block - a buffer's record and its place in the pool.  Its holder's while live, else the pool's;
 * a wrapped one has no region and goes when its last reference does. */
struct td_block {
    td_buf     buf; /* first: a td_buf * is a td_block * */
    td_region *region;
    td_block  *left, *right; /* neighbours by address */
    td_block  *next, *prev;  /* in a bin; `next` also in the pool's lists of freed blocks */
    bool       free;         /* stands in a bin */
    int        nuse;         /* streams besides its own that used it; -1: too many to tell */
    td_stream *use[TD_USES]; /* each counts the block in `live` */
    td_event  *done[TD_USES]; /* recorded on them after it was freed */
    char      *site;          /* where the program asked for it; NULL: not known */
};

size_t td_heap_size(size_t nbytes, int *kind); /* what a block for nbytes holds at least */
size_t td_heap_growth(const td_stream *s, int kind, size_t size); /* of the next region, for a block of `size` */

/* The best free block of s, split where it is much larger.  NULL: there is none. */
td_block *td_heap_take(td_stream *s, int kind, size_t size);
void      td_heap_put(td_block *b); /* b, handed out before, is free */

/* A region's record and its one block, free but in no bin; NULL without memory for them. */
td_region *td_region_new(td_stream *s, int kind, uintptr_t ptr, size_t size);
void       td_heap_add(td_pool *p, td_region *r);   /* its block can be taken from now on */
td_region *td_heap_idle(td_pool *p);                /* unlinks the regions without live blocks; a list by `next` */
void       td_heap_move(td_pool *p, td_stream *from, td_stream *to); /* from's regions are to's */
size_t     td_heap_largest(const td_pool *p);       /* bytes of the largest free block */

#endif
