/* claim.h - which values threads are evaluating now. */
#ifndef TD_ARRAY_CLAIM_H
#define TD_ARRAY_CLAIM_H
#include "array/graph/node.h"

/* The calling thread evaluates n from now on, or no longer does. */
void td_eval_mark(td_node *n, bool busy);

/* The same for a pass over rows (outofcore), which computes n without writing over what n reads.  False: another thread
 * evaluates n. */
bool td_eval_claim(td_node *n);
void td_eval_release(td_node *n);

/* Does a thread evaluate n, or has it claimed n? */
bool td_eval_is_taken(const td_node *n);

/* Does another thread run a kernel for n, which may write over n's sources?  Then nobody else may read them. */
bool td_eval_running(const td_node *n);

/* Need the caller not begin with n, because it is computed, on the host for now, or taken? */
bool td_eval_has_value(const td_node *n);

/* Waits until no other thread evaluates n.  That thread never waits for the caller: a node's sources are evaluated
 * before the node is marked. */
void td_eval_await(const td_node *n);

#endif
