/* arena.h - memory of the program's arrays, whose pages fault when somebody accesses them.
 *
 * One large range of addresses is reserved.  NumPy's allocator takes the memory of big arrays from it, so an
 * address tells whether an array is ours.  A *block* is the memory of one array and its views.  The states of its
 * pages:
 *
 *     PX_OPEN    readable and writable: the memory is the value, which nobody else knows;
 *     PX_CLEAN   readable: the memory and `whole` have the same value.  A write faults and opens the block;
 *     PX_AHEAD   not accessible: only `whole` has the value.  An access faults and fetches the value.
 *
 * block.c changes a block's state, with the GIL; fault.c asks it to.
 */
#ifndef TD_PYTHON_ARENA_H
#define TD_PYTHON_ARENA_H
#include "python/common/py.h"

typedef enum px_access { PX_OPEN, PX_CLEAN, PX_AHEAD } px_access;

struct px_lent;

typedef struct px_block {
    char  *at;     /* first byte */
    size_t nbytes; /* as requested */
    size_t room;   /* reserved: whole pages */
    uint8_t state; /* px_access */
    bool exported; /* somebody who must not fault writes to the memory: it stays open, and operations take copies */
    uint16_t writers; /* threads in which treadle is writing to `whole`; until they are done nobody fetches its value */
    uint32_t worn; /* single elements read from it while it is on a GPU */
    td_array whole; /* a view of the whole storage; unset while PX_OPEN */
    /* a choice (choice.c): PX_AHEAD, and without `whole` until its size is known: */
    struct _object *chosen; /* what was chosen; NULL: it is known */
    struct _object *array;  /* borrowed: the array whose memory this is */
    struct px_block *page;  /* the page that holds the array's extents; its own `of` is this block */
    struct px_block *of;
    Py_ssize_t *dim;        /* where NumPy has allocated the extents */
    struct px_lent *lent; /* the buffer of `whole` that uses this memory (block.c); or NULL */
} px_block;

extern char  *px_arena; /* NULL: there is none */
extern size_t px_arena_size;

/* The block that an address belongs to, or NULL. */
px_block *px_block_find(const void *p);

static inline px_block *
px_block_of(const void *p)
{
    return (size_t)((const char *)p - px_arena) < px_arena_size ? px_block_find(p) : NULL;
}

/* Threads without the GIL watch the state (fault.c): what was written before is theirs to see from then on. */
static inline void
px_block_turn(px_block *b, px_access state)
{
    __atomic_store_n(&b->state, (uint8_t)state, __ATOMIC_RELEASE);
}

/* Is the block's value recorded, but not computed yet? */
static inline bool
px_is_pending(const px_block *b)
{
    return b && b->state == PX_AHEAD && (b->chosen || td_node_pending(b->whole.store->node));
}

bool px_arena_init(void); /* reserves the addresses; false: the system refuses */

/* A block of nbytes in state PX_OPEN (with pages) or PX_AHEAD (without).  zeroed: its memory is zero.  NULL: out
 * of memory or addresses, or too many blocks for the system. */
px_block *px_block_new(size_t nbytes, px_access state, bool zeroed);
void      px_block_free(px_block *b); /* `whole` must have been dropped */
void      px_block_leave(px_block *b); /* frees only the record: others use its pages now (px_pages_free) */

bool      px_blocks_each(bool (*f)(px_block *b)); /* calls f for each block until it returns false */

/* Readable and writable pages that belong to no block. */
size_t px_room(size_t nbytes); /* bytes of pages for nbytes */
char *px_pages_new(size_t room);
void  px_pages_free(char *at, size_t room, bool there); /* there: the addresses have pages */

void      px_pages_drop(char *at, size_t room); /* removes the pages; the addresses stay, not accessible */

bool px_protect(char *at, size_t room, px_access state);
/* Moves the pages at `from` (readable and writable) to `to` in one step, with the protection of the state;
 * `from` has no pages afterwards.  False: the system cannot, and nothing has changed. */
bool px_pages_move(char *from, char *to, size_t room, px_access state);
#endif
