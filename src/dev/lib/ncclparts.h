/* ncclparts.h - the parts of a communicator, for nccl.c, which makes and ends it, and ncclrun.c, which calls it. */
#ifndef TD_DEV_NCCLPARTS_H
#define TD_DEV_NCCLPARTS_H
#include "dev/cuda/cuda.h"
#include "dev/core/nccl.h"
#include "dev/lib/nccllib.h"

/* td_comm - refcounted by its owner and by tapes.  Another thread may abort it as long as the owner has it. */
struct td_comm {
    atomic_int refs;
    td_dev *dev;
    const td_nccllib *nccl;
    td_stream *stream;
    int rank, size;
    pthread_mutex_t mu;     /* held while NCCL is called, but to abort a call that does not end */
    _Atomic(void *) handle; /* ncclComm_t; NULL: it was ended */
    _Atomic uint64_t begun, back;
    _Atomic uint64_t limit; /* most collectives that may begin: a member left after so many */
    atomic_int gone;        /* the rank of that member */
    atomic_bool aborting, aborted; /* a thread has begun to abort it; why is written */
    char why[256];
};

/* The status of an NCCL call that returned `code`; comm: its ncclComm_t, or NULL. */
td_status td_comm_status(td_dev *d, void *comm, int code, const char *call);
/* Fails with the reason why c has ended, and marks it as reported, so that the next wait need not. */
td_status td_comm_ended(td_comm *c);

#endif
