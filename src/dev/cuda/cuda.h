/* cuda.h - the insides of a CUDA device, shared by cuda.c, code.c, copy.c, blas.c and null.c.
 *
 * Other libraries may change a thread's current context at any time.  So every entry asks the driver which context
 * is current (20 ns), and pushes and pops ours only if it is another one.
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
    cu_ctx           ctx; /* the primary context; never released */
    /* One lock and stage each for copies in and for copies out, which may overlap. */
    pthread_mutex_t  stage_mu[2];
    td_stage        *stage[2];  /* pinned buffers (copy.c); NULL until they are needed */
    size_t           copied[2]; /* bytes copied before there was a stage */
    td_recent       *recent; /* launches that may be running, and the failure that ended the device */
    const atomic_bool *forked; /* this process was forked from one in which the driver ran */
    void            *blas;  /* cuBLAS's handle (blas.c), under blas_mu */
    pthread_mutex_t  blas_mu;
    struct td_solverstate *solver; /* cuSOLVER's handle (solver.c), under solver_mu; NULL until it is needed */
    pthread_mutex_t  solver_mu;
    struct td_plans *plans;  /* cuFFT's (fourier.c), under plans_mu; NULL until they are needed */
    pthread_mutex_t  plans_mu;
    pthread_mutex_t parts_mu;
    void            *pieces; /* cudamem.c: memory mapped in grains, under parts_mu */
    uint64_t         reach;  /* ordinals of the other devices that may use it, under parts_mu */
    _Atomic uint64_t asked;  /* devices that td_cuda_let_in was called for */
    atomic_int       unsorted; /* sort.c: why the device cannot run libtreadle_cub.so; 0: it can, or nobody has tried */
} td_cuda;

/* Fails with "device: call: why" for the driver or a library over it, followed by the device's first failure if
 * the device is lost.  code: the driver's; 0: another library's. */
td_status td_cuda_fail(const td_cuda *c, td_status st, int code, const char *call, const char *why);
bool      td_cuda_lost(int code); /* is this a failure after which the device answers nothing more? */
td_status td_cuda_status(const td_cuda *c, int code, const char *call); /* TD_OK for 0 */
#define CU_TRY(c, call, ...) td_cuda_status((c), (c)->drv->call(__VA_ARGS__), #call)

/* TD_ERR_DEVICE: the process was forked after the driver had been initialised */
td_status td_cuda_was_forked(const char *name);
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

/* For a single call in the device's context: begin, CU_TRY, end, as one status. */
bool      td_cuda_begin(td_cuda *c); /* false: the context cannot be entered; td_cuda_end says why */
td_status td_cuda_end(td_cuda *c, int code, const char *call);
enum { CU_NOT_CALLED = -1 };
#define CU_CALL(c, call, ...)                                                                      \
    td_cuda_end((c), td_cuda_begin(c) ? (c)->drv->call(__VA_ARGS__) : CU_NOT_CALLED, #call)

/* Takes note of a wait that returned st: if it succeeded, launches on s up to that number have ended; s NULL: on all
 * streams. */
td_status td_cuda_waited(const td_cuda *c, td_status st, const td_stream *s, uint64_t number);
td_status td_cuda_sync(const td_cuda *c, const td_stream *s);
/* Remembers a launch that s is about to get, for failures that come late; the number is for td_recent_drop. */
uint64_t  td_cuda_launched(const td_cuda *c, const td_stream *s, const char *name, const char *what);

/* ---- cudamem.c ---- */
/* granularity of memory that can be returned in parts; 0: the driver cannot do that */
size_t    td_cuda_grain(td_cuda *c);
td_status td_cuda_mem_get(td_dev *d, td_piece *m);
td_status td_cuda_mem_put(td_dev *d, td_piece *m);
td_status td_cuda_mem_cut(td_dev *d, td_piece *m, size_t at, size_t nbytes);
td_status td_cuda_mem_join(td_dev *d, td_piece *m, const td_part a[2]);
td_status td_cuda_share(td_dev *d, const td_buf *b, td_shared *out);
td_status td_cuda_share_open(td_dev *d, td_shared *m);
td_status td_cuda_share_close(td_dev *d, const td_shared *m);

/* Lets work of `peer` use memory of c from now on, if the two can reach each other.  Does so once. */
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
/* Needs the context.  Locks cuBLAS's handle for this thread until td_cuda_blas_done, and sets it to work on s. */
td_status td_cuda_blas(td_cuda *c, td_stream *s, void **handle);
void      td_cuda_blas_done(td_cuda *c);

/* ---- cuda.c, for null.c ---- */
td_status td_cuda_make(const td_driver *drv, int ordinal, td_devkind kind, const char *name, td_cuda **out);

#endif
