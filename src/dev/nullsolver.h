/* nullsolver.h - factorisations on the host for the null device: small, plain, of complex numbers of double precision.
 *
 * Matrices are column-major and dense.  Textbook methods: these are what tests compare the libraries' callers with.
 */
#ifndef TD_DEV_NULLSOLVER_H
#define TD_DEV_NULLSOLVER_H
#include <complex.h>
#include <stdbool.h>
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

#endif
