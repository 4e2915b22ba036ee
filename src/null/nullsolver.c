/* nullsolver.c - cuSOLVER for the null device: LAPACK computes, the functions check their
 * arguments.
 *
 * Every function expects the workspace that it asked for, in device memory, and host memory if
 * the library wants some. LAPACK gets numbers of all dtypes as double-precision complex ones.
 */
#include "null/nullsolver.h"

#include "dev/lib/solverlib.h"
#include "null/nulldrv.h"

#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ALLOC_FAILED = 2, INVALID_VALUE = 3, ROOM = TD_NULL_ROOM, HOST_ROOM = 16 };

size_t
td_null_size_of(int type)
{
    return type == CUDA_R_32F ? 4 : type == CUDA_C_64F ? 16 : 8;
}

/* Is there that much memory on the device? */
bool
td_null_holds(const void *p, int type, int64_t count)
{
    return !count || td_null_bytes((uintptr_t)p) >= (size_t)count * td_null_size_of(type);
}

bool
td_null_holds_words(const void *p, size_t nbytes)
{
    return td_null_bytes((uintptr_t)p) >= nbytes;
}

bool
td_null_has_room(const void *work, size_t dev, const void *host_work, size_t host)
{
    if (host_work)
        memset((void *)(uintptr_t)host_work, 0xff, host);
    return dev == ROOM && td_null_holds_words(work, ROOM) && host == HOST_ROOM && host_work;
}

null_number
td_null_number(int type, const void *a, int64_t i)
{
    switch (type) {
    case CUDA_R_32F: return (double)((const float *)a)[i];
    case CUDA_R_64F: return ((const double *)a)[i];
    case CUDA_C_32F: return (double complex)((const float complex *)a)[i];
    }
    return ((const double complex *)a)[i];
}

void
td_null_put(int type, void *a, int64_t i, null_number x)
{
    switch (type) {
    case CUDA_R_32F: ((float *)a)[i] = (float)creal(x); return;
    case CUDA_R_64F: ((double *)a)[i] = creal(x); return;
    case CUDA_C_32F: ((float complex *)a)[i] = (float complex)x; return;
    }
    ((double complex *)a)[i] = x;
}

void
td_null_put_all(int type, void *a, const null_number *x, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        td_null_put(type, a, i, x[i]);
}

void
td_null_put_reals(int type, void *a, const double *x, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        td_null_put(type, a, i, x[i]);
}

/* Owned: count numbers, and room for `more`; NULL: there is no memory. */
null_number *
td_null_take(int type, const void *a, int64_t count, int64_t more)
{
    null_number *x = calloc((size_t)(count + more + 1), sizeof *x);

    for (int64_t i = 0; x && i < count; i++)
        x[i] = td_null_number(type, a, i);
    return x;
}

/* LAPACK only iterates over finite numbers.  True: one of x's `count` was not finite; all of
 * them, and the `more` after them, are NaN now. */
bool
td_null_poison(null_number *x, int64_t count, int64_t more)
{
    double *parts = (double *)x;
    int64_t i = 0;

    while (i < count && isfinite(creal(x[i])) && isfinite(cimag(x[i])))
        i++;
    if (i == count)
        return false;
    for (i = 0; i < 2 * (count + more); i++)
        parts[i] = NAN;
    return true;
}

/* ---- handles ---- */

int
td_null_create(void **h)
{
    static int there;

    LAPACKE_set_nancheck(0); /* cuSOLVER factorises NaN too */
    *h = &there;
    return 0;
}

int
td_null_set_stream(void *h, void *stream)
{
    (void)h;
    return td_null_stream_ok(stream);
}

int
td_null_property(int which, int *value)
{
    (void)which;
    *value = 0;
    return 0;
}

int
td_null_say_room(size_t *dev, size_t *host)
{
    *dev = ROOM;
    *host = HOST_ROOM;
    return 0;
}

#define UNUSED(x) ((void)(x))

/* ---- LU, Cholesky ---- */

int
td_null_getrf_size(void *h, void *p, int64_t m, int64_t n, int at, const void *a, int64_t lda,
                   int compute, size_t *dev, size_t *host)
{
    UNUSED(h), UNUSED(p), UNUSED(m), UNUSED(n), UNUSED(a), UNUSED(lda);
    return at == compute ? td_null_say_room(dev, host) : INVALID_VALUE;
}

int
td_null_lu(int type, int m, int n, void *a, int *pivot, int *info)
{
    null_number *x = td_null_take(type, a, (int64_t)m * n, 0);

    if (!x)
        return ALLOC_FAILED;
    *info = LAPACKE_zgetrf(LAPACK_COL_MAJOR, m, n, x, m, pivot);
    td_null_put_all(type, a, x, (int64_t)m * n);
    free(x);
    return 0;
}

int
td_null_getrf(void *h, void *p, int64_t m, int64_t n, int at, void *a, int64_t lda, int64_t *pivot,
              int compute, void *work, size_t dev, void *host_work, size_t host, int *info)
{
    int64_t least = m < n ? m : n;
    int narrow[least + 1], code;

    UNUSED(h), UNUSED(p), UNUSED(compute);
    if (!td_null_has_room(work, dev, host_work, host) || lda != m || !td_null_holds(a, at, m * n) ||
        !td_null_holds_words(pivot, (size_t)least * 8) || !td_null_holds_words(info, 4))
        return INVALID_VALUE;
    (void)td_null_finish_all();
    code = td_null_lu(at, (int)m, (int)n, a, narrow, info);
    for (int64_t i = 0; !code && i < least; i++)
        pivot[i] = narrow[i];
    return code;
}

int
td_null_solve_lu(int type, int trans, int n, int nrhs, const void *a, const int *pivot, void *b)
{
    int64_t count = (int64_t)n * nrhs;
    null_number *x = td_null_take(type, a, (int64_t)n * n, 0);
    null_number *y = td_null_take(type, b, count, 0);

    if (x && y) {
        (void)LAPACKE_zgetrs(LAPACK_COL_MAJOR, "NTC"[trans], n, nrhs, x, n, pivot, y, n);
        td_null_put_all(type, b, y, count);
    }
    free(x);
    free(y);
    return x && y ? 0 : ALLOC_FAILED;
}

int
td_null_getrs(void *h, void *p, int trans, int64_t n, int64_t nrhs, int at, const void *a,
              int64_t lda, const int64_t *pivot, int bt, void *b, int64_t ldb, int *info)
{
    int narrow[n + 1];

    UNUSED(h), UNUSED(p);
    if (lda != n || ldb != n || at != bt || !td_null_holds(a, at, n * n) ||
        !td_null_holds(b, at, n * nrhs) || !td_null_holds_words(pivot, (size_t)n * 8) ||
        !td_null_holds_words(info, 4))
        return INVALID_VALUE;
    (void)td_null_finish_all();
    for (int64_t i = 0; i < n; i++)
        narrow[i] = (int)pivot[i];
    *info = 0;
    return td_null_solve_lu(at, trans, (int)n, (int)nrhs, a, narrow, b);
}

int
td_null_potrf_size(void *h, void *p, int uplo, int64_t n, int at, const void *a, int64_t lda,
                   int compute, size_t *dev, size_t *host)
{
    UNUSED(h), UNUSED(p), UNUSED(uplo), UNUSED(n), UNUSED(a), UNUSED(lda);
    return at == compute ? td_null_say_room(dev, host) : INVALID_VALUE;
}

static int
cholesky(int type, void *a, int64_t n, int uplo, int *info)
{
    null_number *x;

    if (!td_null_holds(a, type, n * n) || !td_null_holds_words(info, 4))
        return INVALID_VALUE;
    if (!(x = td_null_take(type, a, n * n, 0)))
        return ALLOC_FAILED;
    *info = LAPACKE_zpotrf(LAPACK_COL_MAJOR, uplo == 1 ? 'U' : 'L', (int)n, x, (int)n);
    td_null_put_all(type, a, x, n * n);
    free(x);
    return 0;
}

int
td_null_potrf(void *h, void *p, int uplo, int64_t n, int at, void *a, int64_t lda, int compute,
              void *work, size_t dev, void *host_work, size_t host, int *info)
{
    UNUSED(h), UNUSED(p), UNUSED(compute);
    if (!td_null_has_room(work, dev, host_work, host) || lda != n)
        return INVALID_VALUE;
    (void)td_null_finish_all();
    return cholesky(at, a, n, uplo, info);
}

int
td_null_potrs(void *h, void *p, int uplo, int64_t n, int64_t nrhs, int at, const void *a,
              int64_t lda, int bt, void *b, int64_t ldb, int *info)
{
    null_number *x, *y;

    UNUSED(h), UNUSED(p);
    if (lda != n || ldb != n || at != bt || !td_null_holds(a, at, n * n) ||
        !td_null_holds(b, at, n * nrhs) || !td_null_holds_words(info, 4))
        return INVALID_VALUE;
    (void)td_null_finish_all();
    x = td_null_take(at, a, n * n, 0);
    y = td_null_take(at, b, n * nrhs, 0);
    if (x && y) {
        *info = LAPACKE_zpotrs(LAPACK_COL_MAJOR, uplo == 1 ? 'U' : 'L', (int)n, (int)nrhs, x,
                               (int)n, y, (int)n);
        td_null_put_all(at, b, y, n * nrhs);
    }
    free(x);
    free(y);
    return x && y ? 0 : ALLOC_FAILED;
}

/* ---- QR ---- */

int
td_null_geqrf_size(void *h, void *p, int64_t m, int64_t n, int at, const void *a, int64_t lda,
                   int tt, const void *tau, int compute, size_t *dev, size_t *host)
{
    UNUSED(h), UNUSED(p), UNUSED(m), UNUSED(n), UNUSED(a), UNUSED(lda), UNUSED(tau);
    return at == compute && at == tt ? td_null_say_room(dev, host) : INVALID_VALUE;
}

int
td_null_qr(int type, int m, int n, void *a, void *tau)
{
    int64_t count = (int64_t)m * n, least = m < n ? m : n;
    null_number *x = td_null_take(type, a, count, least);

    if (!x)
        return ALLOC_FAILED;
    (void)LAPACKE_zgeqrf(LAPACK_COL_MAJOR, m, n, x, m, x + count);
    td_null_put_all(type, a, x, count);
    td_null_put_all(type, tau, x + count, least);
    free(x);
    return 0;
}

int
td_null_geqrf(void *h, void *p, int64_t m, int64_t n, int at, void *a, int64_t lda, int tt,
              void *tau, int compute, void *work, size_t dev, void *host_work, size_t host,
              int *info)
{
    int64_t least = m < n ? m : n;

    UNUSED(h), UNUSED(p), UNUSED(compute), UNUSED(tt);
    if (!td_null_has_room(work, dev, host_work, host) || lda != m || !td_null_holds(a, at, m * n) ||
        !td_null_holds(tau, at, least) || !td_null_holds_words(info, 4))
        return INVALID_VALUE;
    (void)td_null_finish_all();
    *info = 0;
    return td_null_qr(at, (int)m, (int)n, a, tau);
}

int
td_null_orgqr_size(void *h, int m, int n, int k, const void *a, int lda, const void *tau,
                   int *lwork)
{
    UNUSED(h), UNUSED(a), UNUSED(lda), UNUSED(tau);
    *lwork = ROOM;
    return m >= n && n >= k ? 0 : INVALID_VALUE;
}

int
td_null_orgqr(int type, int m, int n, int k, void *a, int lda, const void *tau, void *work,
              int lwork, int *info)
{
    int64_t count = (int64_t)m * n;
    null_number *x, *t;

    if (lwork != ROOM || !td_null_holds_words(work, ROOM * td_null_size_of(type)) || lda != m ||
        !td_null_holds(a, type, count) || !td_null_holds(tau, type, k) ||
        !td_null_holds_words(info, 4))
        return INVALID_VALUE;
    (void)td_null_finish_all();
    x = td_null_take(type, a, count, 0);
    t = td_null_take(type, tau, k, 0);
    if (x && t) {
        *info = LAPACKE_zungqr(LAPACK_COL_MAJOR, m, n, k, x, m, t);
        td_null_put_all(type, a, x, count);
    }
    free(x);
    free(t);
    return x && t ? 0 : ALLOC_FAILED;
}

/* ---- singular values ---- */

/* job: N, S or A.  v: V, or with `adjoint` its adjoint. */
static int
singular(int type, char job, int64_t m, int64_t n, void *a, void *s, void *u, void *v, bool adjoint,
         int *info)
{
    int real = type == CUDA_C_32F ? CUDA_R_32F : type == CUDA_C_64F ? CUDA_R_64F : type;
    int64_t columns = job == 'N' ? 0 : job == 'A' ? m : n, rows = job == 'N' ? 0 : n;
    int64_t room = m * columns + rows * n + n;
    null_number *x, *left, *right;
    double *values;

    if (m < n || !td_null_holds(a, type, m * n) || !td_null_holds(s, real, n) ||
        !td_null_holds_words(info, 4) || !td_null_holds(u, type, m * columns) ||
        !td_null_holds(v, type, rows * n))
        return INVALID_VALUE;
    if (!(x = td_null_take(type, a, m * n, room)))
        return ALLOC_FAILED;
    left = x + m * n;
    right = left + m * columns;
    values = (double *)(right + rows * n); /* and what does not converge */
    *info = td_null_poison(x, m * n, room)
                ? 0
                : LAPACKE_zgesvd(LAPACK_COL_MAJOR, job, job, (int)m, (int)n, x, (int)m, values,
                                 left, (int)m, right, (int)n, values + n);
    td_null_put_reals(real, s, values, n);
    td_null_put_all(type, a, x, m * n); /* the matrix is overwritten */
    td_null_put_all(type, u, left, m * columns);
    for (int64_t i = 0; i < rows * n; i++)
        td_null_put(type, v, i, adjoint ? right[i] : conj(right[i / n + i % n * n]));
    free(x);
    return 0;
}

int
td_null_gesvd_size(void *h, void *p, signed char ju, signed char jv, int64_t m, int64_t n, int at,
                   const void *a, int64_t lda, int st, const void *s, int ut, const void *u,
                   int64_t ldu, int vt, const void *v, int64_t ldv, int compute, size_t *dev,
                   size_t *host)
{
    UNUSED(h), UNUSED(p), UNUSED(m), UNUSED(n), UNUSED(a), UNUSED(lda), UNUSED(st), UNUSED(s);
    UNUSED(u), UNUSED(ldu), UNUSED(v), UNUSED(ldv);
    return ju == jv && at == compute && at == ut && at == vt ? td_null_say_room(dev, host)
                                                             : INVALID_VALUE;
}

int
td_null_gesvd(void *h, void *p, signed char ju, signed char jv, int64_t m, int64_t n, int at,
              void *a, int64_t lda, int st, void *s, int ut, void *u, int64_t ldu, int vt, void *v,
              int64_t ldv, int compute, void *work, size_t dev, void *host_work, size_t host,
              int *info)
{
    UNUSED(h), UNUSED(p), UNUSED(jv), UNUSED(st), UNUSED(ut), UNUSED(vt), UNUSED(compute);
    if (!td_null_has_room(work, dev, host_work, host) || lda != m || ldu != m || ldv != n)
        return INVALID_VALUE;
    (void)td_null_finish_all();
    return singular(at, (char)ju, m, n, a, s, u, v, true, info);
}

int
td_null_gesvdp_size(void *h, void *p, int vectors, int econ, int64_t m, int64_t n, int at,
                    const void *a, int64_t lda, int st, const void *s, int ut, const void *u,
                    int64_t ldu, int vt, const void *v, int64_t ldv, int compute, size_t *dev,
                    size_t *host)
{
    UNUSED(vectors), UNUSED(econ);
    return td_null_gesvd_size(h, p, 'N', 'N', m, n, at, a, lda, st, s, ut, u, ldu, vt, v, ldv,
                              compute, dev, host);
}

int
td_null_gesvdp(void *h, void *p, int vectors, int econ, int64_t m, int64_t n, int at, void *a,
               int64_t lda, int st, void *s, int ut, void *u, int64_t ldu, int vt, void *v,
               int64_t ldv, int compute, void *work, size_t dev, void *host_work, size_t host,
               int *info, double *perturbed)
{
    UNUSED(h), UNUSED(p), UNUSED(st), UNUSED(ut), UNUSED(vt), UNUSED(compute);
    if (!td_null_has_room(work, dev, host_work, host) || lda != m || ldu != m || ldv != n)
        return INVALID_VALUE;
    (void)td_null_finish_all();
    *perturbed = 0;
    return singular(at, !vectors ? 'N' : econ ? 'S' : 'A', m, n, a, s, u, v, false, info);
}

int
td_null_gesvdj_size(void *h, int vectors, int econ, int m, int n, const void *a, int lda,
                    const void *s, const void *u, int ldu, const void *v, int ldv, int *lwork,
                    void *jacobi)
{
    UNUSED(h), UNUSED(vectors), UNUSED(econ), UNUSED(m), UNUSED(n), UNUSED(a), UNUSED(lda);
    UNUSED(s), UNUSED(u), UNUSED(ldu), UNUSED(v), UNUSED(ldv);
    *lwork = ROOM;
    return jacobi ? 0 : INVALID_VALUE;
}

int
td_null_gesvdj(int type, int vectors, int econ, int m, int n, void *a, int lda, void *s, void *u,
               int ldu, void *v, int ldv, void *work, int lwork, int *info)
{
    if (lwork != ROOM || !td_null_holds_words(work, ROOM * td_null_size_of(type)) || lda != m ||
        ldu != m || ldv != n)
        return INVALID_VALUE;
    (void)td_null_finish_all();
    return singular(type, !vectors ? 'N' : econ ? 'S' : 'A', m, n, a, s, u, v, false, info);
}

int
td_null_gesvdj_batched_size(void *h, int vectors, int m, int n, const void *a, int lda,
                            const void *s, const void *u, int ldu, const void *v, int ldv,
                            int *lwork, void *jacobi, int batch)
{
    UNUSED(batch);
    if (m > 32 || n > 32)
        return INVALID_VALUE;
    return td_null_gesvdj_size(h, vectors, 0, m, n, a, lda, s, u, ldu, v, ldv, lwork, jacobi);
}

int
td_null_gesvdj_batched(int type, int vectors, int m, int n, void *a, int lda, void *s, void *u,
                       int ldu, void *v, int ldv, void *work, int lwork, int *info, int batch)
{
    size_t e = td_null_size_of(type), r = type == CUDA_C_32F || type == CUDA_R_32F ? 4 : 8;
    size_t mm = (size_t)m, nn = (size_t)n;
    int code = 0;

    for (size_t b = 0; !code && b < (size_t)batch; b++)
        code = td_null_gesvdj(type, vectors, 0, m, n, (char *)a + b * mm * nn * e, lda,
                              (char *)s + b * (mm < nn ? mm : nn) * r, (char *)u + b * mm * mm * e,
                              ldu, (char *)v + b * nn * nn * e, ldv, work, lwork, info + b);
    return code;
}

int
td_null_potrf_batched(int type, int uplo, int n, void **a, int lda, int *info, int batch)
{
    int code = lda == n && td_null_holds_words(a, (size_t)batch * sizeof *a) ? 0 : INVALID_VALUE;

    (void)td_null_finish_all();
    for (int b = 0; !code && b < batch; b++)
        code = cholesky(type, a[b], n, uplo, info + b);
    return code;
}
