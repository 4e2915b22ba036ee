/* callmem.h - memory of one call of a compiled function: blocks that live until the call is over.
 *
 * Threads of one call may call td_callmem_take at once.  All other functions need those threads to have ended.
 */
#ifndef TD_BASE_CALLMEM_H
#define TD_BASE_CALLMEM_H
#include <stdbool.h>
#include <stdint.h>

struct td_box;

typedef struct td_callblock {
    struct td_callblock *next;
    uint64_t nbytes, serial;
    void    *owner; /* calls td_callmem_drop later; NULL: the block is freed with the heap */
} td_callblock;

enum { TD_CALLMEM_SPARES = 16, TD_CALLMEM_SWEPT = 8 };

typedef struct td_callmem {
    td_callblock *first;
    uint64_t taken; /* blocks and boxes made so far; also the newest one's serial */
    uint64_t alone; /* not 0: a single thread uses it */
    td_callblock *spare[TD_CALLMEM_SPARES]; /* released blocks of nbytes / 64, for the next ones of that size */
    struct td_box *boxes;  /* box.h */
    struct td_box **texts; /* hash table of interned str */
    int64_t ntext, captext;
    struct { uint64_t mark, next; } swept[TD_CALLMEM_SWEPT]; /* box.h's sweeps: td_call_grown that the next one from that mark on waits for */
    uint32_t nswept; /* their marks ascend */
} td_callmem; /* {0} is an empty one */

extern _Thread_local uint64_t td_call_grown; /* bytes that the thread's calls have taken, for blocks and for boxes */

/* Takes nbytes, 64-byte aligned, not initialised, from the td_callmem at address `heap`.  Returns the address;
 * 0: no memory. */
uint64_t td_callmem_take(uint64_t heap, int64_t nbytes);

/* Releases every block whose serial is above word[0], unless one of the addresses word[1], …, word[n - 1] lies in
 * it. n 0: all blocks, and the memory kept for new ones. No other thread may take a block meanwhile. */
void td_callmem_release(uint64_t heap, uint64_t words, int64_t n);

/* the block that holds the address; borrowed; NULL: none */
td_callblock *td_callmem_find(const td_callmem *h, uint64_t address);
bool td_callblock_has(const td_callblock *b, uint64_t address);
uint64_t td_callblock_begin(const td_callblock *b); /* the address that td_callmem_take gave */
uint64_t td_callmem_serial(td_callmem *h); /* the next one */
void td_callmem_spare(td_callmem *h, td_callblock *b); /* b, taken out of h's list, is garbage */
void td_callmem_drop(td_callblock *b);
void td_callmem_free(td_callmem *h); /* frees the blocks without an owner; the others live on by themselves */

#endif
