/* ncclparts.h - what a communicator is, for nccl.c, which makes and ends it, and ncclrun.c, which calls it. */
#ifndef TD_DEV_NCCLPARTS_H
#define TD_DEV_NCCLPARTS_H
#include "dev/cuda/cuda.h"
#include "dev/core/nccl.h"
#include "dev/lib/nccllib.h"

/* td_comm - refcounted: its owner's and those of tapes.  Abort may come from another thread as long as the owner has it. */
struct td_comm {
    atomic_int refs;
    td_dev *dev;
    const td_nccllib *nccl;
    td_stream *stream;
    int rank, size;
    pthread_mutex_t mu; /* guards handle, while NCCL is called */
    void *handle;       /* ncclComm_t; NULL: it has been ended */
    _Atomic uint64_t begun, back;
    _Atomic uint64_t limit; /* collectives that all members were there for */
    atomic_int gone;        /* whose leaving set the limit */
    atomic_bool aborted;
    char why[256]; /* written before aborted is set */
};

/* What a call of NCCL's has returned; comm: its ncclComm_t, NULL for none. */
td_status td_comm_status(td_dev *d, void *comm, int code, const char *call);
/* The failure that says why c has ended.  The caller is told: then the next wait need not tell it once more. */
td_status td_comm_ended(td_comm *c);

#endif
