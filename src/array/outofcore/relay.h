/* relay.h - a thread that works beside its owner on slots which go to and fro between them.
 *
 * td_relay - inside what its owner has made; the owner holds the graph's lock, its thread does not.  A slot is one side's
 * at a time: the thread's while it is full or while it is empty, as the two agree.
 */
#ifndef TD_ARRAY_RELAY_H
#define TD_ARRAY_RELAY_H
#include "base/failure.h"

enum { TD_RELAY_SLOTS = 3 };

typedef struct td_relay {
    pthread_t       thread;
    bool            running;
    pthread_mutex_t mu; /* of what follows */
    pthread_cond_t  bell;
    bool            full[TD_RELAY_SLOTS], stop, ended;
    td_failure      failure;
} td_relay;

void      td_relay_init(td_relay *r);
td_status td_relay_start(td_relay *r, void *(*run)(void *), void *ctx);
/* Tells the thread to stop, waits for it and takes the relay apart; ok where it was never started. */
void      td_relay_end(td_relay *r);
void      td_relay_set(td_relay *r, int k, bool full); /* either side */

/* ---- the thread's side ---- */
bool td_relay_await(td_relay *r, int k, bool full); /* until slot k is so; false: it is to stop */
void td_relay_fail(td_relay *r, td_status st);      /* of this thread's error record; TD_OK: nothing happens */
void td_relay_leave(td_relay *r);                   /* it does no more */

/* ---- the owner's side ---- */
/* Until slot k is so.  The thread's failure, where it left before; TD_ERR_CALLER: interrupted. */
td_status td_relay_wait(td_relay *r, int k, bool full);

#endif
