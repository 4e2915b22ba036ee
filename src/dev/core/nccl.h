/* nccl.h - collectives between GPUs of this process and of others: NCCL, opened at first use.  For null devices the
 * host plays it.
 *
 * A td_comm is one device's place in a group.  Its calls are asynchronous work on a stream.  Calls of several comms
 * of this process, and sends with receives, go together into one td_comm_run.  If a process of the group dies, the
 * work that waits for it ends when the comm is aborted; the device's next wait reports that once (TD_ERR_PEER).
 */
#ifndef TD_DEV_NCCL_H
#define TD_DEV_NCCL_H
#include "dev/core/dev.h"
#include "type/dtype.h"

typedef struct td_comm td_comm;

enum { TD_COMM_ID = 128 }; /* bytes of the id by which members find each other */

/* Makes the id of a new group.  One process makes it, sends it to the others, and must live until all have
 * joined. TD_ERR_LIBRARY names what to install. */
td_status td_comm_id(td_dev *d, unsigned char out[TD_COMM_ID]);

/* Joins n devices of this process as rank[0 … n-1] of `size`; returns when all `size` members have joined.
 * out[i] is owned.  The devices are of one kind. */
td_status td_comm_new(td_dev *const *d, const int *rank, int n, int size, const unsigned char id[TD_COMM_ID], td_comm **out);
/* The owner's end: waits for the comm's work unless it was aborted.  Calls through other references fail from
 * then on. */
void      td_comm_free(td_comm *c); /* ok on NULL */
td_comm  *td_comm_ref(td_comm *c);
void      td_comm_unref(td_comm *c);

td_dev    *td_comm_dev(const td_comm *c);    /* borrowed */
/* borrowed; the comm's own stream, which does not wait for other streams, nor they for it */
td_stream *td_comm_stream(const td_comm *c);

/* TD_ERR_PEER: the comm was aborted, or NCCL reports that it is broken. */
td_status td_comm_check(td_comm *c);
/* Ends the work under way, from any thread; threads that wait for it get `why`. */
void      td_comm_abort(td_comm *c, const char *why);

/* Collectives (not sends and receives) so far, the same in all members: calls begun, and calls that have
 * returned. */
typedef struct td_commcount {
    uint64_t begun, back;
} td_commcount;

td_commcount td_comm_count(const td_comm *c);
/* A member has left after that many collectives: later ones fail with TD_ERR_PEER. */
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
    td_dtype    dt;     /* for a reduction, one that td_comm_reduces accepts; else any */
    int         peer;   /* send, recv: the other rank; reduce, broadcast: the root */
    size_t      count;  /* elements */
    uintptr_t   src, dst;
    td_stream  *stream; /* of the comm's device */
} td_comm_call;

/* td_comm_set - calls that are made together.  Borrowed. */
typedef struct td_comm_set {
    const td_comm_call *call;
    int n;
} td_comm_set;

bool        td_comm_reduces(td_dtype dt); /* does NCCL compute with it? */
int         td_comm_find(const char *op); /* -1: there is none of that name */
int         td_comm_find_red(const char *red);
/* Runs all calls together.  Calls of one comm can be recorded (tape.h). */
td_status   td_comm_run(const td_comm_call *calls, int n);
td_status   td_comm_do(const td_comm_set *s); /* the calls themselves, already checked; for work.c */
const char *td_comm_name(const td_comm_set *s); /* borrowed: the first one's */

/* Text for `python -m treadle info`: path and version, or what is missing.  Borrowed, for the process's life. */
const char *td_comm_info(td_dev *d);

#endif
