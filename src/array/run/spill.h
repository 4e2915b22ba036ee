/* spill.h - values that give up their device memory while nobody uses them, and get it back on use.
 *
 * When memory runs out, the least recently used values are copied to the host and become nodes of kind TD_N_SPILLED.  Such
 * nodes are pending, and td_eval_node brings them back.  A value may go if only storages and recorded nodes refer to its
 * node, only the node refers to its buffer, and nothing outside of treadle can reach the memory.  Code that uses memory by
 * address therefore holds a reference on the node or the buffer, or a td_hold.
 *
 * All calls are made under the graph's lock, which td_spill does not give up.
 */
#ifndef TD_ARRAY_SPILL_H
#define TD_ARRAY_SPILL_H
#include "array/graph/values.h"

/* As td_use, unless code without a td_hold may still use the memory by address (used is 0). */
static inline void
td_use_again(const td_node *leaf)
{
    if (leaf->buf->used)
        td_use(leaf);
}

/* td_need - an evaluation under way, on the stack.  Values that it has marked since its last td_need_look stay on the device
 * while it is not met. */
typedef struct td_need {
    uint64_t since;
    bool     met; /* nothing has to stay for it: its plan holds its inputs, or an inner evaluation is under way */
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

/* Brings n, which is spilled, back: it becomes a leaf. */
td_status td_spill_return(td_node *n);

/* Returns to the pool the memory of values that were copied to the host ahead of need. */
void   td_spill_settle(td_dev *d);

size_t td_spill_size(const td_node *n); /* bytes of n, which is spilled */

bool td_spill_on(td_dev *d); /* at first: on a GPU */
void td_spill_set(td_dev *d, bool on);

typedef struct td_spillstat {
    uint64_t spilled, returned; /* values that went and came back */
    size_t   on_host;           /* bytes that are on the host now */
} td_spillstat;

td_spillstat td_spill_stats(td_dev *d);

#endif
