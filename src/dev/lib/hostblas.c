/* hostblas.c - matrix products on the CPU through CBLAS: the OpenBLAS that the process has loaded
 * already (NumPy's wheel brings one), else OpenBLAS, else the system's libblas.
 *
 * After each product OpenBLAS's own threads spin for some 25 ms and take the processor from the
 * kernels that follow. So a product is cut into tiles (hostgemm.c), which the process's thread
 * pool computes, while the library is told to use one thread.
 */
#include "dev/lib/hostblas.h"

#include "dev/foreign/library.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { ROW_MAJOR = 101, PLAIN = 111, TRANSPOSED = 112 }; /* cblas.h gives the numbers */

/* spelling - how a build of the library spells its functions: what precedes and follows the
 * letter and "gemm", or "num_threads". */
static const struct spelling {
    const char *before, *own, *behind;
    bool wide;
} spellings[] = {
    {"scipy_cblas_", "scipy_openblas_", "64_", true},
    {"scipy_cblas_", "scipy_openblas_", "", false},
    {"cblas_", "openblas_", "64_", true},
    {"cblas_", "openblas_", "", false},
};

static struct {
    td_lib_state state;
    bool wide;
    void *gemm[4], *gemv[4]; /* for s, d, c and z */
    /* number of threads it uses; NULL: not an OpenBLAS with threads of its own */
    int (*threads)(void);
    void (*set_threads)(int n);
} blas = {.state = TD_LIB_STATE};

/* ---- the library's threads ---- */

static struct {
    pthread_mutex_t mu;
    int users, before; /* products under way; the library's thread count before the first of them */
} quiet = {.mu = PTHREAD_MUTEX_INITIALIZER};

static void
quiet_before_fork(void)
{
    pthread_mutex_lock(&quiet.mu);
}

static void
quiet_in_parent(void)
{
    pthread_mutex_unlock(&quiet.mu);
}

/* A forked child has none of the other threads' products. */
static void
quiet_in_child(void)
{
    if (quiet.users && blas.threads)
        blas.set_threads(quiet.before);
    quiet.users = 0;
    pthread_mutex_unlock(&quiet.mu);
}

static void
find_threads(void *lib, const struct spelling *p)
{
    int (*kind)(void) = NULL;
    char name[64];
    void *at[3];
    static const char *const what[3] = {"get_parallel", "get_num_threads", "set_num_threads"};

    for (int i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "%s%s%s", p->own, what[i], p->behind);
        at[i] = dlsym(lib, name);
        if (!at[i])
            return;
    }
    memcpy(&kind, &at[0], sizeof kind);
    if (kind() != 1) /* with OpenMP the count is per thread, so it could not be set for all */
        return;
    memcpy(&blas.threads, &at[1], sizeof blas.threads);
    memcpy(&blas.set_threads, &at[2], sizeof blas.set_threads);
    pthread_atfork(quiet_before_fork, quiet_in_parent, quiet_in_child);
}

/* ---- finding the library ---- */

/* Finds the functions of lib by the first spelling that fits. */
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
            snprintf(name, sizeof name, "%s%cgemv%s", p->before, letters[k], p->behind);
            blas.gemv[k] = dlsym(lib, name);
            n += blas.gemm[k] && blas.gemv[k];
        }
        blas.wide = p->wide;
        if (n == 4) {
            find_threads(lib, p);
            return true;
        }
    }
    return false;
}

typedef struct loaded {
    char path[4][1024];
    int n;
} loaded;

/* Only notes the name: to open a library here would take the loader's locks in the wrong
 * order. */
static int
note_library(struct dl_phdr_info *info, size_t size, void *list)
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
    static const td_lib_name names[] = {{.so = "libopenblas.so.0"}, {.so = "libblas.so.3"}, {0}};
    loaded all = {.n = 0};
    void *lib;

    dl_iterate_phdr(note_library, &all);
    for (int i = 0; i < all.n; i++) {
        lib = dlopen(all.path[i], RTLD_LAZY | RTLD_NOLOAD);
        if (lib && hostblas_take(lib))
            return TD_OK;
    }
    if (td_lib_open(names, &lib))
        return td_fail(TD_ERR_LIBRARY, "matmul: neither %s nor %s was found (Debian: libopenblas0)",
                       names[0].so, names[1].so);
    return hostblas_take(lib)
               ? TD_OK
               : td_fail(TD_ERR_LIBRARY, "matmul: the BLAS that was found has no CBLAS");
}

/* ---- one thread at a time ---- */

void
td_hostblas_find(void)
{
    (void)td_lib_once(&blas.state, hostblas_load);
}

bool
td_hostblas_begin(void)
{
    if (!blas.threads)
        return false;
    pthread_mutex_lock(&quiet.mu);
    if (!quiet.users++) {
        quiet.before = blas.threads();
        if (quiet.before > 1)
            blas.set_threads(1);
    }
    pthread_mutex_unlock(&quiet.mu);
    return true;
}

void
td_hostblas_end(void)
{
    pthread_mutex_lock(&quiet.mu);
    if (!--quiet.users && quiet.before > 1)
        blas.set_threads(quiet.before);
    pthread_mutex_unlock(&quiet.mu);
}

/* ---- calls ---- */

static const float one32[2] = {1}, zero32[2];
static const double one64[2] = {1}, zero64[2];

static int
cblas_trans(bool t)
{
    return t ? TRANSPOSED : PLAIN;
}

/* vector - y = a matrix times x; m and n are the extents of the matrix stored at `a`. */
typedef struct vector {
    bool transposed;
    int64_t m, n, ld, step_x, step_y;
    uintptr_t a, x, y;
} vector;

/* g as a matrix times a vector, if its result has one row or one column. */
static vector
as_vector(const td_gemm *g)
{
    if (g->n == 1)
        return (vector){.transposed = g->ta,
                        .m = g->ta ? g->k : g->m,
                        .n = g->ta ? g->m : g->k,
                        .ld = g->lda,
                        .step_x = g->tb ? 1 : g->ldb,
                        .step_y = g->ldc,
                        .a = g->a,
                        .x = g->b,
                        .y = g->c};
    return (vector){.transposed = !g->tb,
                    .m = g->tb ? g->n : g->k,
                    .n = g->tb ? g->k : g->n,
                    .ld = g->ldb,
                    .step_x = g->ta ? g->lda : 1,
                    .step_y = 1,
                    .a = g->b,
                    .x = g->a,
                    .y = g->c};
}

/* Extents are int, or 64-bit integers in builds for large arrays.  Real scalars are passed by
 * value, complex ones by address. */
#define GEMM(I, from, alpha, beta, number)                                                         \
    {                                                                                              \
        void (*f)(int, int, int, I, I, I, number, const void *, I, const void *, I, number,        \
                  void *, I);                                                                      \
                                                                                                   \
        memcpy(&f, &from, sizeof f);                                                               \
        f(ROW_MAJOR, cblas_trans(g->ta), cblas_trans(g->tb), (I)g->m, (I)g->n, (I)g->k, alpha,     \
          (const void *)g->a, (I)g->lda, (const void *)g->b, (I)g->ldb, beta, (void *)g->c,        \
          (I)g->ldc);                                                                              \
        return;                                                                                    \
    }

#define GEMV(I, from, alpha, beta, number)                                                         \
    {                                                                                              \
        void (*f)(int, int, I, I, number, const void *, I, const void *, I, number, void *, I);    \
                                                                                                   \
        memcpy(&f, &from, sizeof f);                                                               \
        f(ROW_MAJOR, cblas_trans(v->transposed), (I)v->m, (I)v->n, alpha, (const void *)v->a,      \
          (I)v->ld, (const void *)v->x, (I)v->step_x, beta, (void *)v->y, (I)v->step_y);           \
        return;                                                                                    \
    }

#define BY_DTYPE(CALL, I, from)                                                                    \
    switch (dt) {                                                                                  \
    case TD_F32: CALL(I, from[0], 1, 0, float)                                                     \
    case TD_F64: CALL(I, from[1], 1, 0, double)                                                    \
    case TD_C64: CALL(I, from[2], one32, zero32, const void *)                                     \
    default:     CALL(I, from[3], one64, zero64, const void *)                                         \
    }

static void
call_cblas_gemm(const td_gemm *g, td_dtype dt)
{
    if (blas.wide)
        BY_DTYPE(GEMM, int64_t, blas.gemm)
    else
        BY_DTYPE(GEMM, int, blas.gemm)
}

static void
by_vector(const vector *v, td_dtype dt)
{
    if (blas.wide)
        BY_DTYPE(GEMV, int64_t, blas.gemv)
    else
        BY_DTYPE(GEMV, int, blas.gemv)
}

void
td_hostblas_product(const td_gemm *g)
{
    vector v;

    if (g->m != 1 && g->n != 1) {
        call_cblas_gemm(g, g->dt);
        return;
    }
    v = as_vector(g);
    by_vector(&v, g->dt);
}

td_status
td_hostblas_open(const td_gemm *g)
{
    if (td_dtype_is_half(g->dt) || g->m > INT_MAX || g->n > INT_MAX || g->k > INT_MAX ||
        g->lda > INT_MAX || g->ldb > INT_MAX || g->ldc > INT_MAX)
        return TD_SKIP;
    return td_lib_once(&blas.state, hostblas_load);
}
