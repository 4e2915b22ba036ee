/* nullblas.c - cuBLAS for the null device, and the table of its cuBLAS and cuSOLVER functions.
 *
 * BLAS and LAPACK compute; the functions check their arguments.
 */
#include "dev/lib/solverlib.h"
#include "null/nulldrv.h"
#include "null/nullsolver.h"

#include <cblas.h>
#include <stdlib.h>

/* cuSOLVER's number, as td_null_lu gives it, and CUBLAS_STATUS_INVALID_VALUE. */
enum { ALLOC_FAILED = 2, INVALID_VALUE = 7 };

static const int types[] = {CUDA_R_32F, CUDA_R_64F, CUDA_C_32F, CUDA_C_64F};

#define UNUSED(x) ((void)(x))

static int
getrf_batched(int type, int n, void **a, int lda, int *pivot, int *info, int batch)
{
    int code = 0;

    if (lda != n || !td_null_holds_words(a, (size_t)batch * sizeof *a) ||
        !td_null_holds_words(pivot, (size_t)batch * (size_t)n * sizeof *pivot) ||
        !td_null_holds_words(info, (size_t)batch * sizeof *info))
        return INVALID_VALUE;
    (void)td_null_finish_all();
    for (size_t b = 0; !code && b < (size_t)batch; b++)
        code = td_null_lu(type, n, n, a[b], pivot + b * (size_t)n, info + b);
    return code;
}

static int
getrs_batched(int type, int trans, int n, int nrhs, void **a, int lda, const int *pivot, void **b,
              int ldb, int *host_info, int batch)
{
    int code = 0;

    if (lda != n || ldb != n || !td_null_holds_words(a, (size_t)batch * sizeof *a) ||
        !td_null_holds_words(b, (size_t)batch * sizeof *b))
        return INVALID_VALUE;
    (void)td_null_finish_all();
    for (size_t c = 0; !code && c < (size_t)batch; c++)
        code = td_null_solve_lu(type, trans, n, nrhs, a[c], pivot + c * (size_t)n, b[c]);
    *host_info = 0;
    return code;
}

static int
getri_batched(int type, int n, void **a, int lda, const int *pivot, void **c, int ldc, int *info,
              int batch)
{
    int host_info;

    if (ldc != n || !td_null_holds_words(c, (size_t)batch * sizeof *c) ||
        !td_null_holds_words(info, (size_t)batch * sizeof *info))
        return INVALID_VALUE;
    (void)td_null_finish_all();
    for (int b = 0; b < batch; b++) {
        for (int i = 0; i < n * n; i++)
            td_null_put(type, c[b], i, i % (n + 1) == 0);
        info[b] = 0;
    }
    return getrs_batched(type, 0, n, n, a, lda, pivot, c, ldc, &host_info, batch);
}

static int
geqrf_batched(int type, int m, int n, void **a, int lda, void **tau, int *host_info, int batch)
{
    int code = 0;

    if (lda != m || !td_null_holds_words(a, (size_t)batch * sizeof *a) ||
        !td_null_holds_words(tau, (size_t)batch * sizeof *tau))
        return INVALID_VALUE;
    (void)td_null_finish_all();
    for (int b = 0; !code && b < batch; b++)
        code = td_null_qr(type, m, n, a[b], tau[b]);
    *host_info = 0;
    return code;
}

static int
triangle(int type, int uplo, int trans, int diag, int m, int n, const void *a, void *b)
{
    static const null_number one = 1;
    null_number *x, *y;

    if (!td_null_holds(a, type, (int64_t)m * m) || !td_null_holds(b, type, (int64_t)m * n))
        return INVALID_VALUE;
    x = td_null_take(type, a, (int64_t)m * m, 0);
    y = td_null_take(type, b, (int64_t)m * n, 0);
    if (x && y) {
        cblas_ztrsm(CblasColMajor, CblasLeft, uplo == 1 ? CblasUpper : CblasLower,
                    trans == 0   ? CblasNoTrans
                    : trans == 1 ? CblasTrans
                                 : CblasConjTrans,
                    diag == 1 ? CblasUnit : CblasNonUnit, m, n, &one, x, m, y, m);
        td_null_put_all(type, b, y, (int64_t)m * n);
    }
    free(x);
    free(y);
    return x && y ? 0 : ALLOC_FAILED;
}

static int
trsm(int type, int side, int uplo, int trans, int diag, int m, int n, const void *alpha,
     const void *a, int lda, void *b, int ldb)
{
    if (side || lda != m || ldb != m || td_null_number(type, alpha, 0) != 1)
        return INVALID_VALUE;
    (void)td_null_finish_all();
    return triangle(type, uplo, trans, diag, m, n, a, b);
}

static int
trsm_batched(int type, int side, int uplo, int trans, int diag, int m, int n, const void *alpha,
             void **a, int lda, void **b, int ldb, int batch)
{
    int code =
        !side && lda == m && ldb == m && td_null_number(type, alpha, 0) == 1 ? 0 : INVALID_VALUE;

    if (!td_null_holds_words(a, (size_t)batch * sizeof *a) ||
        !td_null_holds_words(b, (size_t)batch * sizeof *b))
        return INVALID_VALUE;
    (void)td_null_finish_all();
    for (int c = 0; !code && c < batch; c++)
        code = triangle(type, uplo, trans, diag, m, n, a[c], b[c]);
    return code;
}

/* ---- the table: functions for one dtype each hand it on as the first argument ---- */

#define EACH_TYPE(OF) OF(0) OF(1) OF(2) OF(3)

#define TYPED(t)                                                                                   \
    static int orgqr_##t(void *h, int m, int n, int k, void *a, int lda, const void *tau,          \
                         void *work, int lwork, int *info)                                         \
    {                                                                                              \
        UNUSED(h);                                                                                 \
        return td_null_orgqr(types[t], m, n, k, a, lda, tau, work, lwork, info);                   \
    }                                                                                              \
    static int gesvdj_##t(void *h, int vectors, int econ, int m, int n, void *a, int lda, void *s, \
                          void *u, int ldu, void *v, int ldv, void *work, int lwork, int *info,    \
                          void *jacobi)                                                            \
    {                                                                                              \
        UNUSED(h), UNUSED(jacobi);                                                                 \
        return td_null_gesvdj(types[t], vectors, econ, m, n, a, lda, s, u, ldu, v, ldv, work,      \
                              lwork, info);                                                        \
    }                                                                                              \
    static int gesvdj_batched_##t(void *h, int vectors, int m, int n, void *a, int lda, void *s,   \
                                  void *u, int ldu, void *v, int ldv, void *work, int lwork,       \
                                  int *info, void *jacobi, int batch)                              \
    {                                                                                              \
        UNUSED(h), UNUSED(jacobi);                                                                 \
        return td_null_gesvdj_batched(types[t], vectors, m, n, a, lda, s, u, ldu, v, ldv, work,    \
                                      lwork, info, batch);                                         \
    }                                                                                              \
    static int syevj_batched_##t(void *h, int vectors, int uplo, int n, void *a, int lda, void *w, \
                                 void *work, int lwork, int *info, void *jacobi, int batch)        \
    {                                                                                              \
        UNUSED(h), UNUSED(jacobi);                                                                 \
        return td_null_syevj_batched(types[t], vectors, uplo, n, a, lda, w, work, lwork, info,     \
                                     batch);                                                       \
    }                                                                                              \
    static int potrf_batched_##t(void *h, int uplo, int n, void **a, int lda, int *info,           \
                                 int batch)                                                        \
    {                                                                                              \
        UNUSED(h);                                                                                 \
        return td_null_potrf_batched(types[t], uplo, n, a, lda, info, batch);                      \
    }                                                                                              \
    static int getrf_batched_##t(void *h, int n, void **a, int lda, int *pivot, int *info,         \
                                 int batch)                                                        \
    {                                                                                              \
        UNUSED(h);                                                                                 \
        return getrf_batched(types[t], n, a, lda, pivot, info, batch);                             \
    }                                                                                              \
    static int getrs_batched_##t(void *h, int trans, int n, int nrhs, void **a, int lda,           \
                                 const int *pivot, void **b, int ldb, int *host_info, int batch)   \
    {                                                                                              \
        UNUSED(h);                                                                                 \
        return getrs_batched(types[t], trans, n, nrhs, a, lda, pivot, b, ldb, host_info, batch);   \
    }                                                                                              \
    static int getri_batched_##t(void *h, int n, void **a, int lda, const int *pivot, void **c,    \
                                 int ldc, int *info, int batch)                                    \
    {                                                                                              \
        UNUSED(h);                                                                                 \
        return getri_batched(types[t], n, a, lda, pivot, c, ldc, info, batch);                     \
    }                                                                                              \
    static int geqrf_batched_##t(void *h, int m, int n, void **a, int lda, void **tau,             \
                                 int *host_info, int batch)                                        \
    {                                                                                              \
        UNUSED(h);                                                                                 \
        return geqrf_batched(types[t], m, n, a, lda, tau, host_info, batch);                       \
    }                                                                                              \
    static int trsm_##t(void *h, int side, int uplo, int trans, int diag, int m, int n,            \
                        const void *alpha, const void *a, int lda, void *b, int ldb)               \
    {                                                                                              \
        UNUSED(h);                                                                                 \
        return trsm(types[t], side, uplo, trans, diag, m, n, alpha, a, lda, b, ldb);               \
    }                                                                                              \
    static int trsm_batched_##t(void *h, int side, int uplo, int trans, int diag, int m, int n,    \
                                const void *alpha, void **a, int lda, void **b, int ldb,           \
                                int batch)                                                         \
    {                                                                                              \
        UNUSED(h);                                                                                 \
        return trsm_batched(types[t], side, uplo, trans, diag, m, n, alpha, a, lda, b, ldb,        \
                            batch);                                                                \
    }

EACH_TYPE(TYPED)

#define SIZES(name) {name, name, name, name} /* a workspace's size is the same for all dtypes */
#define FOUR(name)  {name##_0, name##_1, name##_2, name##_3}

const td_solverlib td_null_solver = {
    .create = td_null_create,
    .set_stream = td_null_set_stream,
    .create_params = td_null_create,
    .create_jacobi = td_null_create,
    .property = td_null_property,
    .getrf_size = td_null_getrf_size,
    .getrf = td_null_getrf,
    .getrs = td_null_getrs,
    .potrf_size = td_null_potrf_size,
    .potrf = td_null_potrf,
    .potrs = td_null_potrs,
    .geqrf_size = td_null_geqrf_size,
    .geqrf = td_null_geqrf,
    .orgqr_size = SIZES(td_null_orgqr_size),
    .orgqr = FOUR(orgqr),
    .gesvd_size = td_null_gesvd_size,
    .gesvd = td_null_gesvd,
    .gesvdp_size = td_null_gesvdp_size,
    .gesvdp = td_null_gesvdp,
    .gesvdj_size = SIZES(td_null_gesvdj_size),
    .gesvdj = FOUR(gesvdj),
    .gesvdj_batched_size = SIZES(td_null_gesvdj_batched_size),
    .gesvdj_batched = FOUR(gesvdj_batched),
    .syevd_size = td_null_syevd_size,
    .syevd = td_null_syevd,
    .syev_batched_size = td_null_syev_batched_size,
    .syev_batched = td_null_syev_batched,
    .create_eigen = td_null_create,
    .syevj_batched_size = SIZES(td_null_syevj_batched_size),
    .syevj_batched = FOUR(syevj_batched),
    .geev_size = td_null_geev_size,
    .geev = td_null_geev,
    .potrf_batched = FOUR(potrf_batched),
    .getrf_batched = FOUR(getrf_batched),
    .getrs_batched = FOUR(getrs_batched),
    .getri_batched = FOUR(getri_batched),
    .geqrf_batched = FOUR(geqrf_batched),
    .trsm = FOUR(trsm),
    .trsm_batched = FOUR(trsm_batched),
};
