/* nccllib.h - NCCL's functions as a table: the library's, or those that the host plays. */
#ifndef TD_DEV_NCCLLIB_H
#define TD_DEV_NCCLLIB_H
#include <stddef.h>

/* ncclUniqueId: passed by value. */
typedef struct td_nccl_id {
    char bytes[128];
} td_nccl_id;

/* ncclConfig_t of NCCL 2.14; later versions read it as far as it goes. */
typedef struct td_nccl_config {
    size_t   size;
    unsigned magic, version;
    int      blocking;
} td_nccl_config;

#define NCCL_CONFIG_MAGIC   0xcafebeefu
#define NCCL_CONFIG_VERSION 21400u

/* FN(slot, symbol, parameters): all return an ncclResult_t, 0 for success; nccl.h gives the parameters, handles are void *. */
#define TD_NCCL_FUNCTIONS(FN)                                                                      \
    FN(version, ncclGetVersion, (int *version))                                                    \
    FN(new_id, ncclGetUniqueId, (td_nccl_id *id))                                                  \
    FN(init, ncclCommInitRankConfig,                                                               \
       (void **comm, int size, td_nccl_id id, int rank, td_nccl_config *config))                   \
    FN(destroy, ncclCommDestroy, (void *comm))                                                     \
    FN(abort, ncclCommAbort, (void *comm))                                                         \
    FN(async_error, ncclCommGetAsyncError, (void *comm, int *code))                                \
    FN(group_start, ncclGroupStart, (void))                                                        \
    FN(group_end, ncclGroupEnd, (void))                                                            \
    FN(all_reduce, ncclAllReduce,                                                                  \
       (const void *src, void *dst, size_t count, int type, int op, void *comm, void *stream))     \
    FN(reduce, ncclReduce,                                                                         \
       (const void *src, void *dst, size_t count, int type, int op, int root, void *comm,          \
        void *stream))                                                                             \
    FN(broadcast, ncclBroadcast,                                                                   \
       (const void *src, void *dst, size_t count, int type, int root, void *comm, void *stream))   \
    FN(all_gather, ncclAllGather,                                                                  \
       (const void *src, void *dst, size_t count, int type, void *comm, void *stream))             \
    FN(reduce_scatter, ncclReduceScatter,                                                          \
       (const void *src, void *dst, size_t count, int type, int op, void *comm, void *stream))     \
    FN(send, ncclSend, (const void *src, size_t count, int type, int peer, void *comm, void *stream)) \
    FN(recv, ncclRecv, (void *dst, size_t count, int type, int peer, void *comm, void *stream))

typedef struct td_nccllib {
#define FN(slot, symbol, params) int(*slot) params;
    TD_NCCL_FUNCTIONS(FN)
#undef FN
} td_nccllib;

/* ncclDataType_t, ncclRedOp_t and ncclResult_t, from nccl.h. */
enum {
    NCCL_INT8,
    NCCL_UINT8,
    NCCL_INT32,
    NCCL_UINT32,
    NCCL_INT64,
    NCCL_UINT64,
    NCCL_FLOAT16,
    NCCL_FLOAT32,
    NCCL_FLOAT64,
    NCCL_BFLOAT16,
    NCCL_TYPES
};
enum { NCCL_SUM, NCCL_PROD, NCCL_MAX, NCCL_MIN, NCCL_AVG };
enum { NCCL_SYSTEM_ERROR = 2, NCCL_INVALID_ARGUMENT = 4, NCCL_INVALID_USAGE = 5, NCCL_REMOTE_ERROR = 6, NCCL_IN_PROGRESS = 7 };

#endif
