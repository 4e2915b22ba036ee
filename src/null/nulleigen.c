/* nulleigen.c - cuSOLVER's eigenvalue functions for the null device; LAPACK computes. */
#include "dev/lib/solverlib.h"
#include "null/nulldrv.h"
#include "null/nullsolver.h"

#include <lapacke.h>
#include <stdlib.h>

enum { ALLOC_FAILED = 2, INVALID_VALUE = 3, ROOM = TD_NULL_ROOM };

#define UNUSED(x) ((void)(x))

int
td_null_syevd_size(void *h, void *p, int vectors, int uplo, int64_t n, int at, const void *a,
                   int64_t lda, int wt, const void *w, int compute, size_t *dev, size_t *host)
{
    UNUSED(h), UNUSED(p), UNUSED(vectors), UNUSED(uplo), UNUSED(n), UNUSED(a), UNUSED(lda),
        UNUSED(w);
    return at == compute && td_null_size_of(at) >= td_null_size_of(wt) ? td_null_say_room(dev, host)
                                                                       : INVALID_VALUE;
}

/* Solves for one matrix; wt: dtype of its eigenvalues. */
static int
symmetric(int type, int vectors, int uplo, int64_t n, void *a, int wt, void *w, int *info)
{
    null_number *x;
    double *values;

    if (!td_null_holds(a, type, n * n) || !td_null_holds(w, wt, n) || !td_null_holds_words(info, 4))
        return INVALID_VALUE;
    (void)td_null_finish_all();
    if (!(x = td_null_take(type, a, n * n, n)))
        return ALLOC_FAILED;
    values = (double *)(x + n * n);
    *info = td_null_poison(x, n * n, n)
                ? 0
                : LAPACKE_zheev(LAPACK_COL_MAJOR, vectors ? 'V' : 'N', uplo == 1 ? 'U' : 'L',
                                (int)n, x, (int)n, values);
    td_null_put_reals(wt, w, values, n);
    td_null_put_all(type, a, x, n * n); /* without vectors the matrix is overwritten */
    free(x);
    return 0;
}

int
td_null_syevd(void *h, void *p, int vectors, int uplo, int64_t n, int at, void *a, int64_t lda,
              int wt, void *w, int compute, void *work, size_t dev, void *host_work, size_t host,
              int *info)
{
    UNUSED(h), UNUSED(p), UNUSED(compute);
    if (!td_null_has_room(work, dev, host_work, host) || lda != n)
        return INVALID_VALUE;
    return symmetric(at, vectors, uplo, n, a, wt, w, info);
}

int
td_null_syevj_batched_size(void *h, int vectors, int uplo, int n, const void *a, int lda,
                           const void *w, int *lwork, void *jacobi, int batch)
{
    UNUSED(h), UNUSED(vectors), UNUSED(uplo), UNUSED(n), UNUSED(a), UNUSED(lda), UNUSED(w),
        UNUSED(batch);
    *lwork = ROOM;
    return jacobi ? 0 : INVALID_VALUE;
}

int
td_null_syevj_batched(int type, int vectors, int uplo, int n, void *a, int lda, void *w, void *work,
                      int lwork, int *info, int batch)
{
    int real = type == CUDA_C_32F ? CUDA_R_32F : type == CUDA_C_64F ? CUDA_R_64F : type, code = 0;
    size_t count = (size_t)n;

    if (lwork != ROOM || !td_null_holds_words(work, ROOM * td_null_size_of(type)) || lda != n)
        return INVALID_VALUE;
    for (size_t b = 0; !code && b < (size_t)batch; b++)
        code =
            symmetric(type, vectors, uplo, n, (char *)a + b * count * count * td_null_size_of(type),
                      real, (char *)w + b * count * td_null_size_of(real), info + b);
    return code;
}

int
td_null_syev_batched_size(void *h, void *p, int vectors, int uplo, int64_t n, int at, const void *a,
                          int64_t lda, int wt, const void *w, int compute, size_t *dev,
                          size_t *host, int64_t batch)
{
    UNUSED(batch);
    return td_null_syevd_size(h, p, vectors, uplo, n, at, a, lda, wt, w, compute, dev, host);
}

int
td_null_syev_batched(void *h, void *p, int vectors, int uplo, int64_t n, int at, void *a,
                     int64_t lda, int wt, void *w, int compute, void *work, size_t dev,
                     void *host_work, size_t host, int *info, int64_t batch)
{
    size_t count = (size_t)n;
    int code = 0;

    for (size_t b = 0; !code && b < (size_t)batch; b++)
        code = td_null_syevd(h, p, vectors, uplo, n, at,
                             (char *)a + b * count * count * td_null_size_of(at), lda, wt,
                             (char *)w + b * count * td_null_size_of(wt), compute, work, dev,
                             host_work, host, info + b);
    return code;
}

int
td_null_geev_size(void *h, void *p, int left, int right, int64_t n, int at, const void *a,
                  int64_t lda, int wt, const void *w, int lt, const void *vl, int64_t ldvl, int rt,
                  const void *vr, int64_t ldvr, int compute, size_t *dev, size_t *host)
{
    UNUSED(h), UNUSED(p), UNUSED(right), UNUSED(n), UNUSED(a), UNUSED(lda), UNUSED(w), UNUSED(vl);
    UNUSED(ldvl), UNUSED(vr), UNUSED(ldvr);
    return !left && at == compute && at == lt && at == rt && wt >= CUDA_C_32F
               ? td_null_say_room(dev, host)
               : INVALID_VALUE;
}

/* Solves a real matrix.  A complex pair's vector has its real part in one column of v, its
 * imaginary part in the next. */
static int
eigen_real(int type, int n, const void *a, char job, null_number *w, null_number *v)
{
    size_t count = (size_t)n * (size_t)n;
    double *x = malloc((2 * count + 2 * (size_t)n + 1) * sizeof *x), *r, *re, *im;
    int info;

    if (!x)
        return LAPACK_WORK_MEMORY_ERROR;
    r = x + count;
    re = r + count;
    im = re + n;
    for (size_t i = 0; i < count; i++)
        x[i] = creal(td_null_number(type, a, (int64_t)i));
    info = LAPACKE_dgeev(LAPACK_COL_MAJOR, 'N', job, n, x, n, re, im, NULL, n, r, n);
    for (int i = 0; i < n; i++)
        w[i] = re[i] + I * im[i];
    for (size_t i = 0; job == 'V' && i < count; i++)
        v[i] = r[i];
    free(x);
    return info;
}

int
td_null_geev(void *h, void *p, int left, int right, int64_t n, int at, void *a, int64_t lda, int wt,
             void *w, int lt, void *vl, int64_t ldvl, int rt, void *vr, int64_t ldvr, int compute,
             void *work, size_t dev, void *host_work, size_t host, int *info)
{
    null_number *x, *values, *vectors;
    char job = right ? 'V' : 'N';
    int size = (int)n;

    UNUSED(h), UNUSED(p), UNUSED(left), UNUSED(lt), UNUSED(vl), UNUSED(ldvl), UNUSED(compute);
    if (!td_null_has_room(work, dev, host_work, host) || lda != n || ldvr != n ||
        !td_null_holds(a, at, n * n) || !td_null_holds(w, wt, n) || !td_null_holds_words(info, 4) ||
        (right && !td_null_holds(vr, rt, n * n)))
        return INVALID_VALUE;
    (void)td_null_finish_all();
    if (!(x = td_null_take(at, a, n * n, n + n * n)))
        return ALLOC_FAILED;
    values = x + n * n;
    vectors = values + n;
    if (td_null_poison(x, n * n, n + n * n))
        *info = 0;
    else if (at == CUDA_R_32F || at == CUDA_R_64F)
        *info = eigen_real(at, size, a, job, values, vectors);
    else
        *info = LAPACKE_zgeev(LAPACK_COL_MAJOR, 'N', job, size, x, size, values, NULL, size,
                              vectors, size);
    td_null_put_all(wt, w, values, n);
    if (right)
        td_null_put_all(rt, vr, vectors, n * n);
    free(x);
    return 0;
}
