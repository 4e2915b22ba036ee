/* hostblas.c - matrix products on the CPU through CBLAS: OpenBLAS, or what the system has as libblas.
 *
 * For C programs; the Python package goes to NumPy.  The library runs on threads of its own.
 */
#include "dev/hostblas.h"

#include "dev/library.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { ROW_MAJOR = 101, PLAIN = 111, TRANSPOSED = 112 }; /* cblas.h gives the numbers */

typedef void sgemm_fn(int order, int ta, int tb, int m, int n, int k, float alpha, const float *a,
                      int lda, const float *b, int ldb, float beta, float *c, int ldc);
typedef void dgemm_fn(int order, int ta, int tb, int m, int n, int k, double alpha, const double *a,
                      int lda, const double *b, int ldb, double beta, double *c, int ldc);

/* Complex numbers pass by their address. */
typedef void cgemm_fn(int order, int ta, int tb, int m, int n, int k, const void *alpha,
                      const void *a, int lda, const void *b, int ldb, const void *beta, void *c,
                      int ldc);

static struct {
    td_lib_state state;
    sgemm_fn *sgemm;
    dgemm_fn *dgemm;
    cgemm_fn *cgemm, *zgemm;
} blas = {.state = TD_LIB_STATE};

static td_status
load(void)
{
    static const char *const names[] = {"libopenblas.so.0", "libblas.so.3", NULL};
    void *lib, *s, *d, *c, *z;

    if (td_lib_open(names, "a BLAS", &lib))
        return td_fail(TD_ERR_LIBRARY, "matmul: neither %s nor %s was found (Debian: libopenblas0)",
                       names[0], names[1]);
    TD_TRY(td_lib_symbol(lib, "cblas_sgemm", &s));
    TD_TRY(td_lib_symbol(lib, "cblas_dgemm", &d));
    TD_TRY(td_lib_symbol(lib, "cblas_cgemm", &c));
    TD_TRY(td_lib_symbol(lib, "cblas_zgemm", &z));
    memcpy(&blas.sgemm, &s, sizeof s);
    memcpy(&blas.dgemm, &d, sizeof d);
    memcpy(&blas.cgemm, &c, sizeof c);
    memcpy(&blas.zgemm, &z, sizeof z);
    return TD_OK;
}

static void
one_product(const td_gemm *g, int64_t i)
{
    static const float one32[2] = {1}, zero32[2];
    static const double one64[2] = {1}, zero64[2];
    size_t size = td_dtype_size(g->dt);
    const void *a = (const void *)(g->a + (uintptr_t)(i * g->stride_a) * size);
    const void *b = (const void *)(g->b + (uintptr_t)(i * g->stride_b) * size);
    void *c = (void *)(g->c + (uintptr_t)(i * g->stride_c) * size);
    int ta = g->ta ? TRANSPOSED : PLAIN, tb = g->tb ? TRANSPOSED : PLAIN;
    int m = (int)g->m, n = (int)g->n, k = (int)g->k;

    int lda = (int)g->lda, ldb = (int)g->ldb, ldc = (int)g->ldc;

    switch (g->dt) {
    case TD_F32: blas.sgemm(ROW_MAJOR, ta, tb, m, n, k, 1, a, lda, b, ldb, 0, c, ldc); return;
    case TD_F64: blas.dgemm(ROW_MAJOR, ta, tb, m, n, k, 1, a, lda, b, ldb, 0, c, ldc); return;
    case TD_C64:
        blas.cgemm(ROW_MAJOR, ta, tb, m, n, k, one32, a, lda, b, ldb, zero32, c, ldc);
        return;
    default: blas.zgemm(ROW_MAJOR, ta, tb, m, n, k, one64, a, lda, b, ldb, zero64, c, ldc);
    }
}

td_status
td_hostblas_gemm(const td_gemm *g)
{
    if (td_dtype_is_half(g->dt) || g->m > INT_MAX || g->n > INT_MAX || g->k > INT_MAX ||
        g->lda > INT_MAX || g->ldb > INT_MAX || g->ldc > INT_MAX)
        return TD_SKIP;
    TD_TRY(td_lib_once(&blas.state, load));
    for (int64_t i = 0; i < g->batch; i++)
        one_product(g, i);
    return TD_OK;
}
