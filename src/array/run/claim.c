/* claim.c - which values threads are evaluating now.
 *
 * A thread gives up the graph's lock while it compiles, launches or waits.  So it marks the node that it evaluates as
 * busy, and a thread that needs the same node waits until the mark is gone.  All calls are made under the graph's lock.
 */
#include "array/run/claim.h"

#include "array/graph/memwait.h"
#include "array/graph/values.h"

#include <pthread.h>

/* The mark of busy nodes.  The threads of a parent process do not exist in its forked child, so the child starts a new
 * era, in which the nodes that they were evaluating are not busy. */
static uint8_t era = 1;

static void
begin_era(void)
{
    era = era == UINT8_MAX ? 1 : era + 1;
}

static void
begin_eras_at_forks(void)
{
    pthread_atfork(NULL, NULL, begin_era);
}

bool
td_eval_is_taken(const td_node *n)
{
    return n->busy == era;
}

void
td_eval_mark(td_node *n, bool busy)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    if (busy)
        pthread_once(&once, begin_eras_at_forks);
    n->busy = busy ? era : 0;
    n->claimed = false; /* a forked child may find the claim of a thread that it does not have */
}

bool
td_eval_claim(td_node *n)
{
    if (td_eval_is_taken(n))
        return false;
    td_eval_mark(n, true);
    n->claimed = true;
    return true;
}

void
td_eval_release(td_node *n)
{
    td_eval_mark(n, false);
}

bool
td_eval_running(const td_node *n)
{
    return td_eval_is_taken(n) && !n->claimed;
}

bool
td_eval_has_value(const td_node *n)
{
    return td_eval_is_taken(n) || n->buf || td_node_spilled(n);
}

void
td_eval_await(const td_node *n)
{
    if (!td_eval_is_taken(n))
        return;
    td_need_met(
        true); /* this evaluation looks for its inputs again afterwards, so none must stay in memory meanwhile */
    td_memwait_idle(true);
    while (td_eval_is_taken(n))
        td_graph_yield();
    td_memwait_idle(false);
    td_need_met(false);
}
