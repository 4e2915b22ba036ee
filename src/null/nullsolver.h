/* nullsolver.h - factorisations on the host for the null device: small, plain, of complex numbers of double precision.
 *
 * Matrices are column-major and dense.  Textbook methods: these are what tests compare the libraries' callers with.
 */
#ifndef TD_DEV_NULLSOLVER_H
#define TD_DEV_NULLSOLVER_H
#include <complex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef double complex null_number;

/* What the info says: 0, or the number of the column that made it fail, from 1. */
int td_null_lu(null_number *a, int64_t m, int64_t n, int64_t *pivot);
int td_null_cholesky(null_number *a, int64_t n, bool upper); /* the other triangle is left as it is */
/* LAPACK's reflectors: I - tau v v^H. */
void td_null_qr(null_number *a, int64_t m, int64_t n, null_number *tau);
void td_null_q(null_number *a, int64_t m, int64_t n, int64_t k, const null_number *tau);
/* m >= n.  a becomes the first n columns of U; v is n by n. */
void td_null_svd(null_number *a, int64_t m, int64_t n, double *s, null_number *v);
/* n orthogonal columns of u, the longest first, get length 1 (those of none are made anew), and further ones follow. */
void td_null_complete(null_number *u, int64_t m, int64_t n, int64_t wanted);
/* Values, ascending, and vectors of the Hermitian matrix that one of a's triangles gives; a is used up. */
void td_null_eigh(null_number *a, int64_t n, bool upper, double *w, null_number *v);
/* The same of any matrix, in no order, vectors of length 1.  0: it converged. */
int td_null_eig(null_number *a, int64_t n, null_number *w, null_number *v);
/* b becomes x of op(a) x = b, a triangle; trans 0, 1, 2 as cuBLAS has it. */
void td_null_triangle(const null_number *a, int64_t n, bool upper, int trans, bool unit, null_number *b, int64_t k);

/* ---- elements in the device's memory; type: a cudaDataType ---- */
bool         td_null_holds(const void *p, int type, int64_t count); /* are so many there? */
bool         td_null_holds_words(const void *p, size_t nbytes);
null_number  td_null_number(int type, const void *a, int64_t i);
void         td_null_put(int type, void *a, int64_t i, null_number x);
void         td_null_put_all(int type, void *a, const null_number *x, int64_t count);
null_number *td_null_take(int type, const void *a, int64_t count, int64_t more); /* owned: count numbers, room for more; NULL: no memory */
void         td_null_put_reals(int type, void *a, const double *x, int64_t count);
size_t       td_null_size_of(int type);
/* Workspaces: all functions want as much, and look whether they got it; what is on the host is written over. */
enum { TD_NULL_ROOM = 256 };
int  td_null_say_room(size_t *dev, size_t *host);
bool td_null_has_room(const void *work, size_t dev, const void *host_work, size_t host);
void td_null_solve_lu(const null_number *lu, int64_t n, const int64_t *pivot, int trans, null_number *b, int64_t k);

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
