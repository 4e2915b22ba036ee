/* cuda.h - a CUDA device's insides, shared by cuda.c, code.c, copy.c, blas.c and null.c.
 *
 * Other libraries change a thread's current context at any time, so every entry asks the driver
 * which one is current (20 ns), and only where it is not ours pushes it and pops it again.
 */
#ifndef TD_DEV_CUDA_H
#define TD_DEV_CUDA_H
#include "dev/core/devops.h"
#include "dev/foreign/driver.h"
#include "dev/core/recent.h"

typedef struct td_stage td_stage;

/* td_cuda - a device reached through a driver's table.  Lives as long as the process. */
typedef struct td_cuda {
    td_dev           dev; /* first: a td_dev * is a td_cuda * */
    const td_driver *drv;
    int              ordinal;
    cu_ctx           ctx; /* the primary one; never released */
    /* Of copies in, and out, which go on at once. */
    pthread_mutex_t  stage_mu[2];
    td_stage        *stage[2];  /* pinned buffers (copy.c); NULL until they are needed */
    size_t           copied[2]; /* bytes, before there was a stage */
    td_recent       *recent; /* launches that may be running; the failure after which the device is lost */
    const atomic_bool *forked; /* this process is a child of one that had the driver running */
    void            *blas;  /* cuBLAS's handle (blas.c), under blas_mu */
    pthread_mutex_t  blas_mu;
    struct td_solverstate *solver; /* cuSOLVER's handle (solver.c), under solver_mu; NULL until it is needed */
    pthread_mutex_t  solver_mu;
    struct td_plans *plans;  /* cuFFT's (fourier.c), under plans_mu; NULL until they are needed */
    pthread_mutex_t  plans_mu;
    pthread_mutex_t parts_mu;
    void            *pieces; /* cudamem.c's list of memory in grains, under parts_mu */
    uint64_t         reach;  /* ordinals of the devices that may use it besides, under parts_mu */
    _Atomic uint64_t asked;  /* those that td_cuda_let_in was asked for */
    atomic_int       unsorted; /* sort.c: why the device cannot run libtreadle_cub.so; 0: it can, or was not tried */
} td_cuda;

/* A failure of the driver or a library over it: "device: call: why", with the device's first failure
 * behind it once the device is lost.  code: the driver's, 0: another's. */
td_status td_cuda_fail(const td_cuda *c, td_status st, int code, const char *call, const char *why);
bool      td_cuda_lost(int code); /* does the device answer nothing more after that? */
td_status td_cuda_status(const td_cuda *c, int code, const char *call); /* 0: TD_OK */
#define CU_TRY(c, call, ...) td_cuda_status((c), (c)->drv->call(__VA_ARGS__), #call)

td_status td_cuda_was_forked(const char *name); /* TD_ERR_DEVICE: the process was forked after the driver was initialised */
td_status td_cuda_enter_slow(td_cuda *c, bool *pushed);
void      td_cuda_leave_slow(td_cuda *c);

static inline td_cuda *
td_cuda_of(td_dev *d)
{
    return (td_cuda *)d;
}

/* Makes the device's context current; each success is paired with a td_cuda_leave. */
static inline td_status
td_cuda_enter(td_cuda *c, bool *pushed)
{
    cu_ctx now = NULL;

    *pushed = false;
    if (!atomic_load_explicit(c->forked, memory_order_relaxed) && c->drv->cuCtxGetCurrent(&now) == 0 &&
        now == c->ctx)
        return TD_OK;
    return td_cuda_enter_slow(c, pushed);
}

static inline void
td_cuda_leave(td_cuda *c, bool pushed)
{
    if (pushed)
        td_cuda_leave_slow(c);
}

/* One call in the device's context, as a status: CU_TRY between enter and leave. */
bool      td_cuda_begin(td_cuda *c); /* false: it cannot be entered, and td_cuda_end says why */
td_status td_cuda_end(td_cuda *c, int code, const char *call);
enum { CU_NOT_CALLED = -1 };
#define CU_CALL(c, call, ...)                                                                      \
    td_cuda_end((c), td_cuda_begin(c) ? (c)->drv->call(__VA_ARGS__) : CU_NOT_CALLED, #call)

/* In the context: waits for what s was given. */
/* Waiting gave st: what was launched up to that number has ended if it could; s NULL: everywhere. */
td_status td_cuda_waited(const td_cuda *c, td_status st, const td_stream *s, uint64_t number);
td_status td_cuda_sync(const td_cuda *c, const td_stream *s);
/* What s is about to be given, for a failure that is told late; the number for td_recent_drop. */
uint64_t  td_cuda_launched(const td_cuda *c, const td_stream *s, const char *name, const char *what);

/* ---- cudamem.c ---- */
size_t    td_cuda_grain(td_cuda *c); /* of memory that goes back in parts; 0: the driver has none such */
td_status td_cuda_mem_get(td_dev *d, td_piece *m);
td_status td_cuda_mem_put(td_dev *d, td_piece *m);
td_status td_cuda_mem_cut(td_dev *d, td_piece *m, size_t at, size_t nbytes);
td_status td_cuda_mem_join(td_dev *d, td_piece *m, const td_part a[2]);
td_status td_cuda_share(td_dev *d, const td_buf *b, td_shared *out);
td_status td_cuda_share_open(td_dev *d, td_shared *m);
td_status td_cuda_share_close(td_dev *d, const td_shared *m);

/* Work of peer may use memory of c from now on, where the two can reach each other: once. */
td_status td_cuda_let_in(td_cuda *c, td_cuda *peer);

/* ---- copy.c ---- */
td_status td_cuda_copy_in(td_stream *s, uintptr_t dst, const void *src, size_t nbytes);
td_status td_cuda_copy_fill(td_stream *s, uintptr_t dst, size_t nbytes, td_filler *fill, void *ctx);
td_status td_cuda_copy_out(td_stream *s, void *dst, uintptr_t src, size_t nbytes);
td_status td_cuda_copy_later(td_stream *s, bool out, void *host, uintptr_t dev, size_t nbytes);

/* ---- cudahost.c ---- */
td_status td_cuda_host_get(td_dev *d, td_hostmem *m);
td_status td_cuda_host_put(td_dev *d, const td_hostmem *m);
td_status td_cuda_attribute(td_dev *d, int number, int *out);
td_status td_cuda_uuid(td_dev *d, unsigned char out[16]);
td_status td_cuda_profiler(td_dev *d, bool on);

/* ---- code.c ---- */
td_status td_cuda_module_load(td_module *m, const void *image);
void      td_cuda_module_free(td_module *m);
td_status td_cuda_module_func(td_func *f);
td_status td_cuda_module_global(td_module *m, const char *name, uintptr_t *ptr, size_t *nbytes);
td_status td_cuda_func_param(const td_func *f, int i, td_cu_param *out, size_t *offset);
td_status td_cuda_assemble(td_dev *d, const char *ptx, void **out, size_t *nbytes);
td_status td_cuda_func_attribute(td_func *f, int number, int *out);
td_status td_cuda_func_resident(td_func *f, int threads, size_t shared, int *nblock);
td_status td_cuda_launch(td_func *f, td_stream *s, const td_dims *dims, const uint64_t *args, int narg);

/* ---- cugraph.c ---- */
td_status td_cuda_graph_begin(td_stream *tmp);
td_status td_cuda_graph_end(td_stream *tmp, void **exec);
td_status td_cuda_graph_launch(td_stream *s, void *exec);
void      td_cuda_graph_free(td_dev *d, void *exec);

/* ---- blas.c ---- */
/* cuBLAS's handle, of this thread until td_cuda_blas_done, set to work on s; in the context. */
td_status td_cuda_blas(td_cuda *c, td_stream *s, void **handle);
void      td_cuda_blas_done(td_cuda *c);

/* ---- cuda.c, for null.c ---- */
td_status td_cuda_make(const td_driver *drv, int ordinal, td_devkind kind, const char *name, td_cuda **out);

#endif
