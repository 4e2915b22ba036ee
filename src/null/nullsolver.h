/* nullsolver.h - cuSOLVER and cuBLAS for the null device: LAPACK and BLAS compute, in double-precision complex
 * numbers.
 *
 * Matrices are column-major and dense.
 */
#ifndef TD_DEV_NULLSOLVER_H
#define TD_DEV_NULLSOLVER_H
#include <complex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef double complex null_number;

/* ---- elements in the device's memory; type: a cudaDataType ---- */
bool         td_null_holds(const void *p, int type, int64_t count); /* are so many there? */
bool         td_null_holds_words(const void *p, size_t nbytes);
null_number  td_null_number(int type, const void *a, int64_t i);
void         td_null_put(int type, void *a, int64_t i, null_number x);
void         td_null_put_all(int type, void *a, const null_number *x, int64_t count);
null_number *td_null_take(int type, const void *a, int64_t count, int64_t more); /* owned: count numbers, room for more; NULL: no memory */
void         td_null_put_reals(int type, void *a, const double *x, int64_t count);
size_t       td_null_size_of(int type);
bool         td_null_poison(null_number *x, int64_t count, int64_t more); /* true: a number was not finite, all are NaN now */
/* All functions ask for this much workspace, and check that they got it; the host part is overwritten. */
enum { TD_NULL_ROOM = 256 };
int  td_null_say_room(size_t *dev, size_t *host);
bool td_null_has_room(const void *work, size_t dev, const void *host_work, size_t host);

/* ---- what both libraries do, with one matrix in the device's memory: 0, or that there is no host memory ---- */
int td_null_lu(int type, int m, int n, void *a, int *pivot, int *info);
int td_null_solve_lu(int type, int trans, int n, int nrhs, const void *a, const int *pivot, void *b); /* trans 0, 1, 2: as it is, transposed, adjoint */
int td_null_qr(int type, int m, int n, void *a, void *tau);

/* ---- cuSOLVER's functions (nullsolver.c); those for one dtype each get the cudaDataType first ---- */
#define FN(slot, library, need, symbol, params) int td_null_##slot params;
#define FN4(slot, library, need, params, s, d, c, z)
#include "dev/lib/solverlib.def"
int td_null_orgqr_size(void *h, int m, int n, int k, const void *a, int lda, const void *tau, int *lwork);
int td_null_orgqr(int type, int m, int n, int k, void *a, int lda, const void *tau, void *work, int lwork, int *info);
int td_null_gesvdj_size(void *h, int vectors, int econ, int m, int n, const void *a, int lda, const void *s, const void *u,
                        int ldu, const void *v, int ldv, int *lwork, void *jacobi);
int td_null_gesvdj(int type, int vectors, int econ, int m, int n, void *a, int lda, void *s, void *u, int ldu, void *v,
                   int ldv, void *work, int lwork, int *info);
int td_null_gesvdj_batched_size(void *h, int vectors, int m, int n, const void *a, int lda, const void *s, const void *u,
                                int ldu, const void *v, int ldv, int *lwork, void *jacobi, int batch);
int td_null_gesvdj_batched(int type, int vectors, int m, int n, void *a, int lda, void *s, void *u, int ldu, void *v,
                           int ldv, void *work, int lwork, int *info, int batch);
int td_null_syevj_batched_size(void *h, int vectors, int uplo, int n, const void *a, int lda, const void *w, int *lwork,
                               void *jacobi, int batch);
int td_null_syevj_batched(int type, int vectors, int uplo, int n, void *a, int lda, void *w, void *work, int lwork,
                          int *info, int batch);
int td_null_potrf_batched(int type, int uplo, int n, void **a, int lda, int *info, int batch);

#endif
