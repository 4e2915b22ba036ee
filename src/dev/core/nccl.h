/* nccl.h - collectives between GPUs, of this process and of others: NCCL, opened at first use.  The host plays it for
 * null devices.
 *
 * A td_comm is one device's place in a group.  Its calls are asynchronous work on a stream; those of several comms of
 * this process, and sends with receives, go into one td_comm_run.  What a dead process leaves waiting ends when the comm is
 * aborted: the next wait for the device says so (TD_ERR_PEER), once.
 */
#ifndef TD_DEV_NCCL_H
#define TD_DEV_NCCL_H
#include "dev/core/dev.h"
#include "type/dtype.h"

typedef struct td_comm td_comm;

enum { TD_COMM_ID = 128 }; /* bytes by which the members of a group find each other */

/* Of a new group.  One process makes it and gives it to the others, and is there until all have joined.
 * TD_ERR_LIBRARY names what to install. */
td_status td_comm_id(td_dev *d, unsigned char out[TD_COMM_ID]);

/* Joins n devices of this process as rank[0 … n-1] of `size`; returns when all of size have joined.  out[i] is owned.
 * The devices are of one kind. */
td_status td_comm_new(td_dev *const *d, const int *rank, int n, int size, const unsigned char id[TD_COMM_ID], td_comm **out);
/* Its owner's end: waits for its work unless it was aborted.  Calls of who refers to it still fail from then on. */
void      td_comm_free(td_comm *c); /* ok on NULL */
td_comm  *td_comm_ref(td_comm *c);
void      td_comm_unref(td_comm *c);

td_dev    *td_comm_dev(const td_comm *c);    /* borrowed */
td_stream *td_comm_stream(const td_comm *c); /* borrowed: one of its own, which waits for no other and no other for it */

/* TD_ERR_PEER: the comm was aborted, or NCCL has found that it is broken. */
td_status td_comm_check(td_comm *c);
/* Ends what is under way, from any thread, and says why to whoever waits. */
void      td_comm_abort(td_comm *c, const char *why);

/* Collectives (not sends and receives) so far, alike in all members: those whose call has begun, and has come back. */
typedef struct td_commcount {
    uint64_t begun, back;
} td_commcount;

td_commcount td_comm_count(const td_comm *c);
/* A member of the group has left after so many collectives: TD_ERR_PEER from then on for those beyond. */
void         td_comm_left(td_comm *c, int rank, uint64_t count);

typedef enum td_comm_op {
    TD_COMM_all_reduce,
    TD_COMM_reduce,
    TD_COMM_broadcast,
    TD_COMM_all_gather,     /* dst: count elements of each rank */
    TD_COMM_reduce_scatter, /* src: count elements for each rank */
    TD_COMM_send,
    TD_COMM_recv,
    TD_COMM_OPS
} td_comm_op;

typedef enum td_comm_red { TD_COMM_sum, TD_COMM_prod, TD_COMM_max, TD_COMM_min, TD_COMM_mean } td_comm_red;

/* td_comm_call - one device's part of a collective.  Borrowed. */
typedef struct td_comm_call {
    td_comm    *comm;
    td_comm_op  op;
    td_comm_red red;
    td_dtype    dt;     /* reductions: what td_comm_reduces takes; else any */
    int         peer;   /* of send and recv; reduce and broadcast: the root */
    size_t      count;  /* elements */
    uintptr_t   src, dst;
    td_stream  *stream; /* of the comm's device */
} td_comm_call;

/* td_comm_set - calls that are made together.  Borrowed. */
typedef struct td_comm_set {
    const td_comm_call *call;
    int n;
} td_comm_set;

bool        td_comm_reduces(td_dtype dt); /* is it one of NCCL's numbers? */
int         td_comm_find(const char *op); /* -1: there is none of that name */
int         td_comm_find_red(const char *red);
/* All at once.  Of one comm they can be recorded (tape.h). */
td_status   td_comm_run(const td_comm_call *calls, int n);
td_status   td_comm_do(const td_comm_set *s); /* the calls themselves, which have been checked: for work.c */
const char *td_comm_name(const td_comm_set *s); /* borrowed: the first one's */

/* Text for `python -m treadle info`: path and version, or what is missing; borrowed. */
const char *td_comm_info(td_dev *d);

#endif
