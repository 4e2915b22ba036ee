/* hostblas.c - matrix products on the CPU through CBLAS: the OpenBLAS that is in the process already (NumPy's wheel
 * brings one), else OpenBLAS or what the system has as libblas.
 *
 * The library runs on threads of its own, which it had better share with NumPy.
 */
#include "dev/lib/hostblas.h"

#include "dev/foreign/library.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

enum { ROW_MAJOR = 101, PLAIN = 111, TRANSPOSED = 112 }; /* cblas.h gives the numbers */

/* Sizes are ints or, in builds for large arrays, 64-bit integers.  Complex numbers pass by their address. */
typedef void sgemm_fn(int order, int ta, int tb, int m, int n, int k, float alpha, const float *a,
                      int lda, const float *b, int ldb, float beta, float *c, int ldc);
typedef void dgemm_fn(int order, int ta, int tb, int m, int n, int k, double alpha, const double *a,
                      int lda, const double *b, int ldb, double beta, double *c, int ldc);
typedef void zgemm_fn(int order, int ta, int tb, int m, int n, int k, const void *alpha,
                      const void *a, int lda, const void *b, int ldb, const void *beta, void *c,
                      int ldc);
typedef void sgemm_wide(int order, int ta, int tb, int64_t m, int64_t n, int64_t k, float alpha,
                        const float *a, int64_t lda, const float *b, int64_t ldb, float beta,
                        float *c, int64_t ldc);
typedef void dgemm_wide(int order, int ta, int tb, int64_t m, int64_t n, int64_t k, double alpha,
                        const double *a, int64_t lda, const double *b, int64_t ldb, double beta,
                        double *c, int64_t ldc);
typedef void zgemm_wide(int order, int ta, int tb, int64_t m, int64_t n, int64_t k,
                        const void *alpha, const void *a, int64_t lda, const void *b, int64_t ldb,
                        const void *beta, void *c, int64_t ldc);

/* What builds of the library call a function: before and behind its letter and "gemm". */
static const struct spelling {
    const char *before, *behind;
    bool wide;
} spellings[] = {
    {"scipy_cblas_", "64_", true},
    {"scipy_cblas_", "", false},
    {"cblas_", "64_", true},
    {"cblas_", "", false},
};

static struct {
    td_lib_state state;
    bool wide;
    void *gemm[4]; /* of s, d, c and z */
} blas = {.state = TD_LIB_STATE};

/* The functions of lib, by the first spelling that it has. */
static bool
hostblas_take(void *lib)
{
    static const char letters[] = "sdcz";
    char name[64];

    for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++) {
        const struct spelling *p = &spellings[i];
        int n = 0;

        for (int k = 0; k < 4; k++) {
            snprintf(name, sizeof name, "%s%cgemm%s", p->before, letters[k], p->behind);
            blas.gemm[k] = dlsym(lib, name);
            n += blas.gemm[k] != NULL;
        }
        blas.wide = p->wide;
        if (n == 4)
            return true;
    }
    return false;
}

typedef struct loaded {
    char path[4][1024];
    int n;
} loaded;

/* Opening a library here would take the loader's locks the wrong way round. */
static int
note(struct dl_phdr_info *info, size_t size, void *list)
{
    const char *file = strrchr(info->dlpi_name, '/');
    loaded *all = list;

    (void)size;
    if (file && strstr(file, "openblas") && strlen(info->dlpi_name) < sizeof all->path[0] &&
        all->n < 4)
        strcpy(all->path[all->n++], info->dlpi_name);
    return 0;
}

static td_status
hostblas_load(void)
{
    static const char *const names[] = {"libopenblas.so.0", "libblas.so.3", NULL};
    loaded all = {.n = 0};
    void *lib;

    dl_iterate_phdr(note, &all);
    for (int i = 0; i < all.n; i++) {
        lib = dlopen(all.path[i], RTLD_LAZY | RTLD_NOLOAD);
        if (lib && hostblas_take(lib))
            return TD_OK;
    }
    if (td_lib_open(names, "a BLAS", &lib))
        return td_fail(TD_ERR_LIBRARY, "matmul: neither %s nor %s was found (Debian: libopenblas0)",
                       names[0], names[1]);
    return hostblas_take(lib)
               ? TD_OK
               : td_fail(TD_ERR_LIBRARY, "matmul: the BLAS that was found has no CBLAS");
}

typedef struct product {
    int ta, tb;
    const void *a, *b;
    void *c;
} product;

static const float one32[2] = {1}, zero32[2];
static const double one64[2] = {1}, zero64[2];

static void
narrow_product(const td_gemm *g, const product *p)
{
    int m = (int)g->m, n = (int)g->n, k = (int)g->k;
    int lda = (int)g->lda, ldb = (int)g->ldb, ldc = (int)g->ldc;
    sgemm_fn *s;
    dgemm_fn *d;
    zgemm_fn *z;

    switch (g->dt) {
    case TD_F32:
        memcpy(&s, &blas.gemm[0], sizeof s);
        s(ROW_MAJOR, p->ta, p->tb, m, n, k, 1, p->a, lda, p->b, ldb, 0, p->c, ldc);
        return;
    case TD_F64:
        memcpy(&d, &blas.gemm[1], sizeof d);
        d(ROW_MAJOR, p->ta, p->tb, m, n, k, 1, p->a, lda, p->b, ldb, 0, p->c, ldc);
        return;
    default:
        memcpy(&z, &blas.gemm[g->dt == TD_C64 ? 2 : 3], sizeof z);
        z(ROW_MAJOR, p->ta, p->tb, m, n, k, g->dt == TD_C64 ? (const void *)one32 : one64, p->a,
          lda, p->b, ldb, g->dt == TD_C64 ? (const void *)zero32 : zero64, p->c, ldc);
    }
}

static void
wide_product(const td_gemm *g, const product *p)
{
    sgemm_wide *s;
    dgemm_wide *d;
    zgemm_wide *z;

    switch (g->dt) {
    case TD_F32:
        memcpy(&s, &blas.gemm[0], sizeof s);
        s(ROW_MAJOR, p->ta, p->tb, g->m, g->n, g->k, 1, p->a, g->lda, p->b, g->ldb, 0, p->c,
          g->ldc);
        return;
    case TD_F64:
        memcpy(&d, &blas.gemm[1], sizeof d);
        d(ROW_MAJOR, p->ta, p->tb, g->m, g->n, g->k, 1, p->a, g->lda, p->b, g->ldb, 0, p->c,
          g->ldc);
        return;
    default:
        memcpy(&z, &blas.gemm[g->dt == TD_C64 ? 2 : 3], sizeof z);
        z(ROW_MAJOR, p->ta, p->tb, g->m, g->n, g->k, g->dt == TD_C64 ? (const void *)one32 : one64,
          p->a, g->lda, p->b, g->ldb, g->dt == TD_C64 ? (const void *)zero32 : zero64, p->c,
          g->ldc);
    }
}

static void
one_product(const td_gemm *g, int64_t i)
{
    size_t size = td_dtype_size(g->dt);
    product p = {.ta = g->ta ? TRANSPOSED : PLAIN,
                 .tb = g->tb ? TRANSPOSED : PLAIN,
                 .a = (const void *)(g->a + (uintptr_t)(i * g->stride_a) * size),
                 .b = (const void *)(g->b + (uintptr_t)(i * g->stride_b) * size),
                 .c = (void *)(g->c + (uintptr_t)(i * g->stride_c) * size)};

    if (blas.wide)
        wide_product(g, &p);
    else
        narrow_product(g, &p);
}

td_status
td_hostblas_gemm(const td_gemm *g)
{
    if (td_dtype_is_half(g->dt) || g->m > INT_MAX || g->n > INT_MAX || g->k > INT_MAX ||
        g->lda > INT_MAX || g->ldb > INT_MAX || g->ldc > INT_MAX)
        return TD_SKIP;
    TD_TRY(td_lib_once(&blas.state, hostblas_load));
    for (int64_t i = 0; i < g->batch; i++)
        one_product(g, i);
    return TD_OK;
}
