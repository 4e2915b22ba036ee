/* spill.h - values that give up their device memory while nobody uses them, and get it back on use.
 *
 * When memory is out the values used longest ago are copied to the host and become nodes of kind TD_N_AWAY, which
 * are pending: td_eval_node brings them back.  Only a value whose node is referred to by storages and recorded
 * nodes alone, and whose buffer by that node alone, may go, and not one that others outside can reach.  Who
 * uses memory by its address holds the node's reference, or its buffer's, or a td_hold.
 *
 * All under the graph's lock, which td_spill does not give up.
 */
#ifndef TD_ARRAY_SPILL_H
#define TD_ARRAY_SPILL_H
#include "array/graph/values.h"

/* The same, unless its memory is being used by address still. */
static inline void
td_use_again(const td_node *leaf)
{
    if (leaf->buf->used)
        td_use(leaf);
}

/* td_need - an evaluation under way, on the stack.  What it has marked since its last look stays until it is met. */
typedef struct td_need {
    uint64_t since;
    bool     met; /* nothing of it must stay: its plan holds what it needs, or another evaluation is inside */
    struct td_need *outer;       /* of the thread */
    struct td_need *next, **at;  /* of all threads */
} td_need;

void td_need_begin(td_need *x);
void td_need_look(td_need *x);
void td_need_end(td_need *x);

/* Makes room for nbytes on d: what td_mem_on_pressure wants.  False: nothing went. */
bool td_spill(td_dev *d, size_t nbytes);
/* What td_mem_on_oom wants.  Needs no lock. */
void td_spill_note(td_dev *d, char *text, size_t n);

/* n, which is away, becomes a leaf again. */
td_status td_spill_return(td_node *n);

/* The memory of values that were sent ahead of their time goes back to the pool. */
void   td_spill_settle(td_dev *d);

size_t td_spill_size(const td_node *n); /* bytes of n, which is away */

bool td_spill_on(td_dev *d); /* at first: on a GPU */
void td_spill_set(td_dev *d, bool on);

typedef struct td_spillstat {
    uint64_t spilled, returned; /* values that went and came back */
    size_t   away;              /* bytes that are on the host now */
} td_spillstat;

td_spillstat td_spill_stats(td_dev *d);

#endif
