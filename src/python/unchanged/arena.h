/* arena.h - memory of the program's arrays, whose pages tell when somebody touches them.
 *
 * One large range of addresses is reserved.  NumPy's allocator takes the memory of big arrays from it, so whether an array
 * is ours follows from its address.  A *block* is the memory of one array and of its views.  Its pages are
 *   PX_OPEN   readable and writable: the memory is the value, and nobody else knows it;
 *   PX_CLEAN  readable: the memory and `whole` have the same value.  A write faults, and opens the block;
 *   PX_AHEAD  not accessible: only `whole` has the value.  A touch faults, and the value is fetched.
 * block.c moves a block from one state to another, with the GIL; fault.c asks for it.
 */
#ifndef TD_PYTHON_ARENA_H
#define TD_PYTHON_ARENA_H
#include "python/common/py.h"

typedef enum px_access { PX_OPEN, PX_CLEAN, PX_AHEAD } px_access;

struct px_lent;

typedef struct px_block {
    char  *at;     /* its first byte */
    size_t nbytes; /* as asked */
    size_t room;   /* reserved: whole pages */
    uint8_t state; /* px_access */
    bool exported; /* somebody writes to the memory who may not fault: it stays open, and operations take copies */
    uint16_t writers; /* threads in which treadle writes to `whole`: until they are done its value is not fetched */
    uint32_t worn; /* elements that were read of it one by one, while it is on a GPU */
    td_array whole; /* unless PX_OPEN: a view of the whole storage */
    /* of a choice (choice.c), PX_AHEAD and without `whole` until its size is known: */
    struct _object *chosen; /* what was chosen; NULL: it is known */
    struct _object *array;  /* borrowed: the array whose memory this is */
    struct px_block *page;  /* which holds the array's extents; its own `of` is this block */
    struct px_block *of;
    Py_ssize_t *dim;        /* where NumPy has put the extents */
    struct px_lent *lent; /* the buffer of `whole` that is this memory (block.c); or NULL */
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

/* Is the block's value recorded, and not computed yet? */
static inline bool
px_is_pending(const px_block *b)
{
    return b && b->state == PX_AHEAD && (b->chosen || td_node_pending(b->whole.store->node));
}

bool px_arena_init(void); /* reserves the range; false: the system gives none */

/* A block of nbytes in the state PX_OPEN (with pages) or PX_AHEAD (without).  NULL: out of memory or addresses, or there are
 * too many blocks for the system.  Zeroed: its memory is zero. */
px_block *px_block_new(size_t nbytes, px_access state, bool zeroed);
void      px_block_free(px_block *b); /* without `whole` */
void      px_block_leave(px_block *b); /* the record alone goes: its pages are somebody else's now (px_pages_free) */

bool      px_blocks_each(bool (*f)(px_block *b)); /* until it returns false */

/* Pages apart from blocks, readable and writable. */
char *px_pages_new(size_t room);
void  px_pages_free(char *at, size_t room, bool there); /* there: the addresses have pages */

void      px_pages_drop(char *at, size_t room); /* the addresses stay, not accessible */

bool px_protect(char *at, size_t room, px_access state);
/* The pages at `from`, which may be read and written, come to `to` in one step, protected as the state says; `from` is left
 * without pages.  false: the system does not, and nothing has changed. */
bool px_pages_move(char *from, char *to, size_t room, px_access state);
#endif
