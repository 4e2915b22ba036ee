/* relay.h - a worker thread that exchanges slots with its owner.
 *
 * td_relay lies inside its owner's structure.  The owner holds the graph's lock; the thread does not.  A slot
 * belongs to one side at a time: the two agree whether the thread has it while it is full or while it is empty.
 */
#ifndef TD_ARRAY_RELAY_H
#define TD_ARRAY_RELAY_H
#include "base/failure.h"

enum { TD_RELAY_SLOTS = 3 };

typedef struct td_relay {
    pthread_t       thread;
    bool            running;
    pthread_mutex_t mu; /* guards the fields below */
    pthread_cond_t  bell;
    bool            full[TD_RELAY_SLOTS], stop, ended;
    td_failure      failure;
} td_relay;

void      td_relay_init(td_relay *r);
td_status td_relay_start(td_relay *r, void *(*run)(void *), void *ctx);
/* Tells the thread to stop, waits for it and frees the relay; ok if it was never started. */
void      td_relay_end(td_relay *r);
void      td_relay_set(td_relay *r, int k, bool full); /* for either side */

/* ---- the thread's side ---- */
/* waits until slot k is full (or empty); false: the thread shall stop */
bool td_relay_await(td_relay *r, int k, bool full);
/* keeps this thread's error record for the owner; does nothing for TD_OK */
void td_relay_fail(td_relay *r, td_status st);
void td_relay_leave(td_relay *r);                   /* the thread ends */

/* ---- the owner's side ---- */
/* Waits until slot k is full (or empty).  Returns the thread's failure if it ended before; TD_ERR_CALLER:
 * interrupted. */
td_status td_relay_wait(td_relay *r, int k, bool full);

#endif
