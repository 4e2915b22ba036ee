/* heap.h - cuts the driver's memory into blocks and merges them again; internal to dev/.
 *
 * A region is one piece of memory from the driver.  Its blocks cover it without gaps and know their neighbours; a
 * free block is merged with free neighbours.  Small and middle-sized requests have regions of their own kind, so
 * that a small long-lived buffer pins no large memory.  A large request has a region to itself, which is reused
 * whole: it is never split, so it can always go back to the driver, where memory does not fragment.
 *
 * All functions but td_heap_size need the pool's lock.  Nothing here calls the driver.
 */
#ifndef TD_DEV_HEAP_H
#define TD_DEV_HEAP_H
#include "dev/core/devops.h"

enum td_heapkind {
    TD_HEAP_SMALL,
    TD_HEAP_MIDDLE,
    TD_HEAP_LARGE,
    TD_HEAP_JOINED, /* regions made for one request, and the free ends it leaves: td_join */
    TD_HEAP_PLAIN,  /* as middle-sized, from pieces without a grain, which other processes can open */
};

enum { TD_HEAP_SITE = 160 }; /* bytes of the text "file:line" of a holder, with its NUL */

/* td_region - memory from the driver.  The pool's; lives until it is given back. */
struct td_region {
    td_region *next, *prev; /* the pool's others */
    td_stream *stream;      /* the stream whose heap its free blocks are in */
    td_block  *first;       /* by address */
    td_piece   mem;
    size_t     held; /* bytes that have not been returned */
    size_t     live; /* blocks handed out */
    int        kind; /* which of the stream's heaps */
    td_block  *end[2]; /* joined: blocks of other regions whose memory it also maps */
};

/* td_block - a buffer's record and its place in the pool.  A live one belongs to its holder, else to the pool.
 * A wrapped one has no region and is freed with its last reference. */
struct td_block {
    td_buf     buf; /* first: a td_buf * is a td_block * */
    td_region *region;
    td_block  *left, *right; /* neighbours by address */
    td_block  *next, *prev;  /* links in a bin; `next` also links the pool's lists of freed blocks */
    bool       free;         /* it is in a bin */
    bool       gone;         /* its memory was returned: only the addresses are left */
    int        nuse;         /* other streams that used it; -1: too many to list */
    td_stream *use[TD_USES]; /* each of them counts the block in `live` */
    td_event  *done[TD_USES]; /* recorded on them after it was freed */
    char      *site;          /* the program's line that asked for it; NULL: not known */
};

size_t td_heap_size(size_t nbytes, int *kind); /* the least size of a block for nbytes; *kind: its heap */
size_t td_heap_growth(const td_stream *s, int kind, size_t size); /* size of the next region, for a block of `size` */
size_t td_heap_grain(const td_pool *p, int kind); /* the grain of a region's piece */

/* Takes the best free block of s, and splits it if it is much larger.  NULL: there is none. */
td_block *td_heap_take(td_stream *s, int kind, size_t size);
/* hands out b, which is free and large enough; the rest stays free */
td_block *td_block_take(td_block *b, td_stream *s, size_t size);
void      td_heap_put(td_block *b); /* frees b, which was handed out */

/* Makes a region's record and its one block, free but in no bin.  NULL: no memory for the records. */
td_region *td_region_new(td_stream *s, int kind, const td_piece *mem);
void       td_heap_add(td_pool *p, td_region *r);   /* makes its block available */
td_region *td_heap_idle(td_pool *p);                /* unlinks the regions without live blocks: a list by `next` */
void       td_heap_move(td_pool *p, td_stream *from, td_stream *to); /* moves from's regions to `to` */
size_t     td_heap_largest(const td_pool *p);       /* bytes of the largest free block */

/* ---- heapcut.c: regions whose memory goes and comes in parts ---- */

/* Takes up to `need` bytes of whole grains out of free blocks, for mem_cut: a list by `next` of blocks marked
 * `gone`. Their regions stay until td_heap_cut_done. */
td_block *td_heap_cut(td_pool *p, size_t need);
void      td_heap_cut_done(td_block *list); /* blocks whose `gone` was cleared become free again */

/* td_join - a request made of free ends and new memory.  Filled by td_heap_join. */
typedef struct td_join {
    td_block *end[2]; /* the end of one grain, the beginning of another; both handed out; NULL: none */
    td_part   part[2];
    size_t    nbytes; /* bytes of new memory between them */
    size_t    before; /* bytes of end[0]'s grain before end[0] */
    size_t    size;   /* bytes of the request's block */
} td_join;

/* Chooses the ends that leave the least to map.  Always succeeds; td_heap_unjoin undoes it. */
td_join    td_heap_join(td_stream *s, size_t size);
void       td_heap_unjoin(td_block *const end[2]);
td_region *td_region_joined(td_stream *s, const td_piece *mem, const td_join *j); /* as td_region_new */

/* ---- heap.c, for heapcut.c ---- */
void td_block_shelve(td_block *b);   /* puts it into a bin */
void td_block_unshelve(td_block *b); /* takes it out of its bin */
bool td_block_split(td_block *b, size_t size); /* splits b; b->right holds the rest; false: no memory for its record */
void td_block_merge(td_block *b);    /* merges b with its right neighbour, whose record is freed */

#endif
