/* callmem.h - memory that a compiled function takes while it runs: blocks that live until its call is over.
 *
 * Threads of one call may take at once; everything else is the caller's, after them.
 */
#ifndef TD_BASE_CALLMEM_H
#define TD_BASE_CALLMEM_H
#include <stdbool.h>
#include <stdint.h>

struct td_box;

typedef struct td_callblock {
    struct td_callblock *next;
    uint64_t nbytes, serial;
    void    *owner; /* who calls td_callmem_drop; NULL: it goes with the heap */
} td_callblock;

typedef struct td_callmem {
    td_callblock *first;
    uint64_t taken; /* blocks so far: the last one's serial */
    struct td_box *boxes;  /* box.h */
    struct td_box **texts; /* str of which there is one for equal characters: a table by hash */
    int64_t ntext, captext;
} td_callmem; /* {0} is an empty one */

/* heap: the address of a td_callmem.  Address of nbytes, 64-byte aligned, not initialised; 0: there is no memory. */
uint64_t td_callmem_take(uint64_t heap, int64_t nbytes);

/* Frees the blocks taken after the word[0]-th that hold none of the addresses word[1], …, word[n - 1].  Only when no
 * other thread takes. */
void td_callmem_release(uint64_t heap, uint64_t words, int64_t n);

td_callblock *td_callmem_find(const td_callmem *h, uint64_t address); /* that holds the address; NULL: none; borrowed */
bool td_callblock_has(const td_callblock *b, uint64_t address);
void td_callmem_drop(td_callblock *b);
void td_callmem_free(td_callmem *h); /* all that have no owner; the others live on without it */

#endif
