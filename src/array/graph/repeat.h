/* repeat.h - finds the loop of a program in what it has recorded.
 *
 * A loop of a program records the same operations each time round: `z = z * z + c` fifty times is fifty multiplications and
 * fifty additions.  Ordered as they were recorded, operation i equals operation i - period, with sources as far back or the
 * same, or numbers and windows on one buffer of which each round has its own.  A kernel can then have the operations of one round in a loop of its own (plan/roll.h).
 */
#ifndef TD_ARRAY_REPEAT_H
#define TD_ARRAY_REPEAT_H
#include "array/graph/node.h"

enum {
    TD_REPEAT_NODES = 2048,  /* most pending nodes of a graph that repeats */
    TD_REPEAT_PERIOD = 64,   /* most operations of a round */
    TD_REPEAT_ROUNDS = 3,    /* least rounds that are worth a loop */
    TD_REPEAT_CARRIED = 24,
    TD_REPEAT_LAG = 4,
};

/* What a round reads of an earlier one: the value of its operation `at`, `lag` rounds ago. */
typedef struct td_carried {
    uint16_t at, lag;
} td_carried;

/* td_repeat - the pending elementwise nodes of a graph, as they were recorded.  Nodes [from, from + period * rounds) are
 * `rounds` equal rounds; nothing but later rounds, and what follows, reads them.  The nodes are borrowed. */
typedef struct td_repeat {
    td_node  **node;
    bool      *held; /* has a node readers outside of the list? */
    int        n, from, period, rounds;
    int        ncarried; /* with a lag of 2 also the lag of 1, and so on */
    td_carried carried[TD_REPEAT_CARRIED];
} td_repeat;

/* Looks at the pending nodes of root[0, nroot), which are of one shape, and at pending values of the program that are mostly
 * made of the same nodes.  Marks nodes by `slot` meanwhile.  False: they do not repeat, or are not all elementwise.  After
 * true td_repeat_end releases. */
bool td_repeat_find(td_repeat *r, td_node *const *root, int nroot);
void td_repeat_end(td_repeat *r);

/* How old, in ticks, may a graph of w nodes over these sources become?  0: nothing says that it repeats, or it is that old. */
uint32_t td_repeat_room(td_node *const *root, int nroot, uint32_t w);

/* The place of n in the list, or -1. */
int  td_repeat_place(const td_repeat *r, const td_node *n);

/* The carried value that node number i reads as its source `k`, or -1: it reads something else.  Nodes behind the rounds read
 * as a further round would. */
int  td_repeat_carried(const td_repeat *r, int i, int k);

/* Does source k of node number i, of the first round, lie elsewhere in its buffer in the next round? */
bool td_repeat_moves(const td_repeat *r, int i, int k);

#endif
