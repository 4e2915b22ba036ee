/* blas.c - matrix products through cuBLAS; those of the CPU go to hostblas.c and hostbf16.c.
 *
 * cuBLAS is column-major: to it, a row-major matrix is its transpose.  So c = a b becomes c' = b'
 * a': the operands swap places and nothing is moved.  Float32 is computed in float32 (the
 * default; TF32 would have to be requested), half types accumulate in float32.
 */
#include "dev/core/blas.h"

#include "dev/core/site.h"
#include "dev/core/tape.h"
#include "dev/core/work.h"
#include "dev/cuda/cuda.h"
#include "dev/foreign/library.h"
#include "dev/lib/hostbf16.h"
#include "dev/lib/hostblas.h"

#include <string.h>

typedef struct blas_handle_ *blas_handle;

/* cuBLAS's functions.  Filled once. */
typedef struct blas_table {
    int (*create)(blas_handle *h);
    int (*set_stream)(blas_handle h, cu_stream s);
    int (*property)(int which, int *value); /* 0 major, 1 minor, 2 patch; needs no handle */
    const char *(*status_name)(int code);
    int (*gemm)(blas_handle h, int ta, int tb, int64_t m, int64_t n, int64_t k, const void *alpha,
                const void *a, int at, int64_t lda, const void *b, int bt, int64_t ldb,
                const void *beta, void *c, int ct, int64_t ldc, int compute, int algo);
    int (*gemm_batched)(blas_handle h, int ta, int tb, int64_t m, int64_t n, int64_t k,
                        const void *alpha, const void *a, int at, int64_t lda, long long stride_a,
                        const void *b, int bt, int64_t ldb, long long stride_b, const void *beta,
                        void *c, int ct, int64_t ldc, long long stride_c, int64_t batch,
                        int compute, int algo);
} blas_table;

static const td_lib_entry symbols[] = {
    {"cublasCreate_v2", offsetof(blas_table, create)},
    {"cublasSetStream_v2", offsetof(blas_table, set_stream)},
    {"cublasGetProperty", offsetof(blas_table, property)},
    {"cublasGetStatusName", offsetof(blas_table, status_name)},
    {"cublasGemmEx_64", offsetof(blas_table, gemm)},
    {"cublasGemmStridedBatchedEx_64", offsetof(blas_table, gemm_batched)},
};

/* What cuBLAS calls an element of each dtype; library_types.h and cublas_api.h give the numbers. */
static const struct element {
    int type, compute; /* compute 0: no product */
} elements[TD_DTYPE_COUNT] = {
    [TD_F16] = {2 /* CUDA_R_16F */, 68 /* CUBLAS_COMPUTE_32F */},
    [TD_BF16] = {14 /* CUDA_R_16BF */, 68},
    [TD_F32] = {0 /* CUDA_R_32F */, 68},
    [TD_F64] = {1 /* CUDA_R_64F */, 70 /* CUBLAS_COMPUTE_64F */},
    [TD_C64] = {4 /* CUDA_C_32F */, 68},
    [TD_C128] = {5 /* CUDA_C_64F */, 70},
};

enum { ALGO_DEFAULT = -1 };

static struct {
    td_lib_state state;
    blas_table call;
    char path[512];
} blas = {.state = TD_LIB_STATE};

/* ---- the library ---- */

static td_status
blas_load(void)
{
    void *lib;

    return td_lib_table(td_cublas_names, symbols, sizeof symbols / sizeof *symbols, &blas.call,
                        blas.path, sizeof blas.path, &lib);
}

static td_status
cublas_status(const td_cuda *c, int code, const char *call)
{
    enum { ALLOC_FAILED = 3 };

    if (!code)
        return TD_OK;
    return td_cuda_fail(c, code == ALLOC_FAILED ? TD_ERR_OOM : TD_ERR_DEVICE, 0, call,
                        blas.call.status_name(code));
}

/* Needs blas_mu and the context.  The device's handle. */
static td_status
handle_of(td_cuda *c, blas_handle *out)
{
    blas_handle h = c->blas;

    if (!h)
        TD_TRY(cublas_status(c, blas.call.create(&h), "cublasCreate"));
    c->blas = h;
    *out = h;
    return TD_OK;
}

/* ---- the product ---- */

static td_status
check_gemm(const td_gemm *g)
{
    int64_t wa = g->ta ? g->m : g->k, wb = g->tb ? g->k : g->n;

    if (!elements[g->dt].compute)
        return td_fail(TD_ERR_TYPE, "matmul: no library multiplies matrices of %s",
                       td_dtype_name(g->dt));
    if (g->m < 0 || g->n < 0 || g->k < 0 || g->batch < 0 || g->lda < wa || g->ldb < wb ||
        g->ldc < g->n)
        return td_fail(TD_ERR_VALUE,
                       "matmul: %lld products of (%lld, %lld) by (%lld, %lld) with row strides "
                       "%lld, %lld, %lld",
                       (long long)g->batch, (long long)g->m, (long long)g->k, (long long)g->k,
                       (long long)g->n, (long long)g->lda, (long long)g->ldb, (long long)g->ldc);
    return TD_OK;
}

/* A sum over no elements is zero. */
static td_status
fill_zero(td_stream *s, const td_gemm *g)
{
    int64_t size = (int64_t)td_dtype_size(g->dt);

    for (int64_t b = 0; b < g->batch; b++)
        for (int64_t i = 0; i < g->m; i++)
            TD_TRY(td_fill(s, g->c + (size_t)((b * g->stride_c + i * g->ldc) * size), 0,
                           (size_t)(g->n * size)));
    return TD_OK;
}

static int
call_gemm(blas_handle h, const td_gemm *g)
{
    static const float one32[2] = {1}, zero32[2]; /* a complex number's real part comes first */
    static const double one64[2] = {1}, zero64[2];
    const struct element *e = &elements[g->dt];
    bool wide = td_dtype_real_of(g->dt) == TD_F64;
    const void *one = wide ? (const void *)one64 : one32,
               *zero = wide ? (const void *)zero64 : zero32;
    const void *a = (const void *)g->a, *b = (const void *)g->b;
    void *c = (void *)g->c;

    if (g->batch == 1)
        return blas.call.gemm(h, g->tb, g->ta, g->n, g->m, g->k, one, b, e->type, g->ldb, a,
                              e->type, g->lda, zero, c, e->type, g->ldc, e->compute, ALGO_DEFAULT);
    return blas.call.gemm_batched(h, g->tb, g->ta, g->n, g->m, g->k, one, b, e->type, g->ldb,
                                  g->stride_b, a, e->type, g->lda, g->stride_a, zero, c, e->type,
                                  g->ldc, g->stride_c, g->batch, e->compute, ALGO_DEFAULT);
}

td_status
td_cuda_blas(td_cuda *c, td_stream *s, void **handle)
{
    blas_handle h = NULL;
    td_status st;

    TD_TRY(td_lib_once(&blas.state, blas_load));
    pthread_mutex_lock(&c->blas_mu);
    st = handle_of(c, &h);
    if (!st)
        st = cublas_status(c, blas.call.set_stream(h, s->handle), "cublasSetStream");
    *handle = h;
    if (st)
        pthread_mutex_unlock(&c->blas_mu);
    return st;
}

void
td_cuda_blas_done(td_cuda *c)
{
    pthread_mutex_unlock(&c->blas_mu);
}

/* One thread at a time, since a handle works on one stream. */
static td_status
blas_run(td_cuda *c, td_stream *s, const td_gemm *g)
{
    void *h;
    td_status st;

    TD_TRY(td_cuda_blas(c, s, &h));
    (void)td_cuda_launched(c, s, "cuBLAS", "matmul");
    st = cublas_status(c, call_gemm(h, g),
                       g->batch == 1 ? "cublasGemmEx" : "cublasGemmStridedBatchedEx");
    td_cuda_blas_done(c);
    return st;
}

static td_status
on_gpu(td_stream *s, const td_gemm *g)
{
    td_cuda *c = td_cuda_of(s->dev);
    bool pushed;
    td_status st;

    TD_TRY(td_cuda_enter(c, &pushed));
    st = blas_run(c, s, g);
    if (!st && c->dev.sync)
        st = td_cuda_sync(c, s);
    td_cuda_leave(c, pushed);
    return st;
}

td_status
td_blas_gemm(td_stream *s, const td_gemm *g)
{
    if (s->dev->info.kind == TD_DEV_NULL)
        return TD_SKIP;
    TD_TRY(check_gemm(g));
    if (!g->m || !g->n || !g->batch)
        return TD_OK;
    if (!g->k)
        return fill_zero(s, g);
    return td_work_do(s, &(td_work){.kind = TD_TRACE_gemm, .gemm = g});
}

td_status
td_blas_run(td_stream *s, const td_gemm *g)
{
    if (s->dev->info.kind != TD_DEV_CPU)
        return on_gpu(s, g);
    return g->dt == TD_BF16 ? td_hostbf16_gemm(s, g) : td_hostblas_gemm(g);
}

size_t
td_gemm_bytes(const td_gemm *g)
{
    return (size_t)(g->batch * (g->m * g->k + g->k * g->n + g->m * g->n)) * td_dtype_size(g->dt);
}

const char *
td_blas_info(td_dev *d)
{
    int v[3] = {0};

    if (d->info.kind != TD_DEV_CUDA)
        return "none: products are computed on the host";
    if (td_lib_once(&blas.state, blas_load))
        return td_name_format("%s", td_error());
    for (int i = 0; i < 3; i++)
        (void)blas.call.property(i, &v[i]);
    return td_name_format("cuBLAS %d.%d.%d, %s", v[0], v[1], v[2], blas.path);
}
