/* solvercall.c - how each row of solver.def calls cuSOLVER or cuBLAS. */
#include "dev/lib/solvercall.h"

static int
of_uplo(char c)
{
    return c == 'U'; /* CUBLAS_FILL_MODE_LOWER 0, UPPER 1 */
}

static int
of_trans(char c)
{
    return c == 'N' ? 0 : c == 'T' ? 1 : 2; /* CUBLAS_OP_N, T, C */
}

/* Older functions count their workspace in elements. */
static int
in_elements(td_solvercall *c, int code, int count)
{
    c->nwork = (size_t)count * td_dtype_size(c->j->dt);
    return code;
}

static int
elements(const td_solvercall *c)
{
    return (int)(c->nwork / td_dtype_size(c->j->dt));
}

/* Each row has a function that makes its call.  Rows with a workspace have a second one that
 * tells its size, in nwork and nhost. */
#define AT(i) c->at[i]

static int
size_getrf(td_solvercall *c)
{
    return c->lib->getrf_size(c->h, c->params, c->m, c->n, c->type, AT(0), c->ldm, c->type,
                              &c->nwork, &c->nhost);
}

static int
call_getrf(td_solvercall *c)
{
    return c->lib->getrf(c->h, c->params, c->m, c->n, c->type, AT(0), c->ldm, AT(1), c->type,
                         c->work, c->nwork, c->host, c->nhost, AT(2));
}

static int
call_getrs(td_solvercall *c)
{
    return c->lib->getrs(c->h, c->params, of_trans(c->j->flag[0]), c->n, c->k, c->type, AT(0),
                         c->ldn, AT(1), c->type, AT(2), c->ldn, AT(3));
}

static int
size_potrf(td_solvercall *c)
{
    return c->lib->potrf_size(c->h, c->params, of_uplo(c->j->flag[0]), c->n, c->type, AT(0), c->ldn,
                              c->type, &c->nwork, &c->nhost);
}

static int
call_potrf(td_solvercall *c)
{
    return c->lib->potrf(c->h, c->params, of_uplo(c->j->flag[0]), c->n, c->type, AT(0), c->ldn,
                         c->type, c->work, c->nwork, c->host, c->nhost, AT(1));
}

static int
call_potrs(td_solvercall *c)
{
    return c->lib->potrs(c->h, c->params, of_uplo(c->j->flag[0]), c->n, c->k, c->type, AT(0),
                         c->ldn, c->type, AT(1), c->ldn, AT(2));
}

static int
size_geqrf(td_solvercall *c)
{
    return c->lib->geqrf_size(c->h, c->params, c->m, c->n, c->type, AT(0), c->ldm, c->type, AT(1),
                              c->type, &c->nwork, &c->nhost);
}

static int
call_geqrf(td_solvercall *c)
{
    return c->lib->geqrf(c->h, c->params, c->m, c->n, c->type, AT(0), c->ldm, c->type, AT(1),
                         c->type, c->work, c->nwork, c->host, c->nhost, AT(2));
}

static int
size_orgqr(td_solvercall *c)
{
    int count = 0,
        r = c->lib->orgqr_size[c->t](c->h, c->m, c->n, c->k, AT(0), c->ldm, AT(1), &count);

    return in_elements(c, r, count);
}

static int
call_orgqr(td_solvercall *c)
{
    return c->lib->orgqr[c->t](c->h, c->m, c->n, c->k, AT(0), c->ldm, AT(1), c->work, elements(c),
                               AT(2));
}

/* U is m by m or by n, V's adjoint n by n: m >= n. */
static int
size_gesvd(td_solvercall *c)
{
    signed char job = (signed char)c->j->flag[0];

    return c->lib->gesvd_size(c->h, c->params, job, job, c->m, c->n, c->type, AT(0), c->ldm,
                              c->real, AT(1), c->type, AT(2), c->ldm, c->type, AT(3), c->ldn,
                              c->type, &c->nwork, &c->nhost);
}

static int
call_gesvd(td_solvercall *c)
{
    signed char job = (signed char)c->j->flag[0];

    return c->lib->gesvd(c->h, c->params, job, job, c->m, c->n, c->type, AT(0), c->ldm, c->real,
                         AT(1), c->type, AT(2), c->ldm, c->type, AT(3), c->ldn, c->type, c->work,
                         c->nwork, c->host, c->nhost, AT(4));
}

static int
size_gesvdp(td_solvercall *c)
{
    return c->lib->gesvdp_size(c->h, c->params, c->j->flag[0] != 'N', c->j->flag[0] == 'S', c->m,
                               c->n, c->type, AT(0), c->ldm, c->real, AT(1), c->type, AT(2), c->ldm,
                               c->type, AT(3), c->ldn, c->type, &c->nwork, &c->nhost);
}

static int
call_gesvdp(td_solvercall *c)
{
    return c->lib->gesvdp(c->h, c->params, c->j->flag[0] != 'N', c->j->flag[0] == 'S', c->m, c->n,
                          c->type, AT(0), c->ldm, c->real, AT(1), c->type, AT(2), c->ldm, c->type,
                          AT(3), c->ldn, c->type, c->work, c->nwork, c->host, c->nhost, AT(4),
                          &c->perturbed);
}

static int
size_gesvdj(td_solvercall *c)
{
    int count = 0, vectors = c->j->flag[0] != 'N', econ = c->j->flag[0] == 'S';
    int r = c->lib->gesvdj_size[c->t](c->h, vectors, econ, c->m, c->n, AT(0), c->ldm, AT(1), AT(2),
                                      c->ldm, AT(3), c->ldn, &count, c->jacobi);

    return in_elements(c, r, count);
}

static int
call_gesvdj(td_solvercall *c)
{
    int vectors = c->j->flag[0] != 'N', econ = c->j->flag[0] == 'S';

    return c->lib->gesvdj[c->t](c->h, vectors, econ, c->m, c->n, AT(0), c->ldm, AT(1), AT(2),
                                c->ldm, AT(3), c->ldn, c->work, elements(c), AT(4), c->jacobi);
}

static int
size_gesvdj_batched(td_solvercall *c)
{
    int count = 0;
    int r = c->lib->gesvdj_batched_size[c->t](c->h, c->j->flag[0] != 'N', c->m, c->n, AT(0), c->ldm,
                                              AT(1), AT(2), c->ldm, AT(3), c->ldn, &count,
                                              c->jacobi, c->batch);

    return in_elements(c, r, count);
}

static int
call_gesvdj_batched(td_solvercall *c)
{
    return c->lib->gesvdj_batched[c->t](c->h, c->j->flag[0] != 'N', c->m, c->n, AT(0), c->ldm,
                                        AT(1), AT(2), c->ldm, AT(3), c->ldn, c->work, elements(c),
                                        AT(4), c->jacobi, c->batch);
}

static int
size_syevd(td_solvercall *c)
{
    return c->lib->syevd_size(c->h, c->params, c->j->flag[0] == 'V', of_uplo(c->j->flag[1]), c->n,
                              c->type, AT(0), c->ldn, c->real, AT(1), c->type, &c->nwork,
                              &c->nhost);
}

static int
call_syevd(td_solvercall *c)
{
    return c->lib->syevd(c->h, c->params, c->j->flag[0] == 'V', of_uplo(c->j->flag[1]), c->n,
                         c->type, AT(0), c->ldn, c->real, AT(1), c->type, c->work, c->nwork,
                         c->host, c->nhost, AT(2));
}

static int
size_syev_batched(td_solvercall *c)
{
    return c->lib->syev_batched_size(c->h, c->params, c->j->flag[0] == 'V', of_uplo(c->j->flag[1]),
                                     c->n, c->type, AT(0), c->ldn, c->real, AT(1), c->type,
                                     &c->nwork, &c->nhost, c->batch);
}

static int
call_syev_batched(td_solvercall *c)
{
    return c->lib->syev_batched(c->h, c->params, c->j->flag[0] == 'V', of_uplo(c->j->flag[1]), c->n,
                                c->type, AT(0), c->ldn, c->real, AT(1), c->type, c->work, c->nwork,
                                c->host, c->nhost, AT(2), c->batch);
}

static int
size_syevj_batched(td_solvercall *c)
{
    int count = 0;
    int r =
        c->lib->syevj_batched_size[c->t](c->h, c->j->flag[0] == 'V', of_uplo(c->j->flag[1]), c->n,
                                         AT(0), c->ldn, AT(1), &count, c->eigen, c->batch);

    return in_elements(c, r, count);
}

static int
call_syevj_batched(td_solvercall *c)
{
    return c->lib->syevj_batched[c->t](c->h, c->j->flag[0] == 'V', of_uplo(c->j->flag[1]), c->n,
                                       AT(0), c->ldn, AT(1), c->work, elements(c), AT(2), c->eigen,
                                       c->batch);
}

static int
size_geev(td_solvercall *c)
{
    return c->lib->geev_size(c->h, c->params, 0, c->j->flag[0] == 'V', c->n, c->type, AT(0), c->ldn,
                             c->complex, AT(1), c->type, NULL, c->ldn, c->type, AT(2), c->ldn,
                             c->type, &c->nwork, &c->nhost);
}

static int
call_geev(td_solvercall *c)
{
    return c->lib->geev(c->h, c->params, 0, c->j->flag[0] == 'V', c->n, c->type, AT(0), c->ldn,
                        c->complex, AT(1), c->type, NULL, c->ldn, c->type, AT(2), c->ldn, c->type,
                        c->work, c->nwork, c->host, c->nhost, AT(3));
}

static int
call_potrf_batched(td_solvercall *c)
{
    return c->lib->potrf_batched[c->t](c->h, of_uplo(c->j->flag[0]), c->n, c->addresses[0], c->ldn,
                                       AT(1), c->batch);
}

static int
call_getrf_batched(td_solvercall *c)
{
    return c->lib->getrf_batched[c->t](c->blas, c->n, c->addresses[0], c->ldn, AT(1), AT(2),
                                       c->batch);
}

static int
call_getrs_batched(td_solvercall *c)
{
    int info = 0;

    return c->lib->getrs_batched[c->t](c->blas, of_trans(c->j->flag[0]), c->n, c->k,
                                       c->addresses[0], c->ldn, AT(1), c->addresses[2], c->ldn,
                                       &info, c->batch);
}

static int
call_getri_batched(td_solvercall *c)
{
    return c->lib->getri_batched[c->t](c->blas, c->n, c->addresses[0], c->ldn, AT(1),
                                       c->addresses[2], c->ldn, AT(3), c->batch);
}

static int
call_geqrf_batched(td_solvercall *c)
{
    int info = 0;

    return c->lib->geqrf_batched[c->t](c->blas, c->m, c->n, c->addresses[0], c->ldm,
                                       c->addresses[1], &info, c->batch);
}

/* 1 in each dtype: a complex number's real part comes first. */
static const void *
one(const td_solvercall *c)
{
    static const float one32[2] = {1};
    static const double one64[2] = {1};

    return c->real == CUDA_R_64F ? (const void *)one64 : one32;
}

static int
call_trsm(td_solvercall *c)
{
    const char *f = c->j->flag;

    return c->lib->trsm[c->t](c->blas, 0, of_uplo(f[0]), of_trans(f[1]), f[2] == 'U', c->n, c->k,
                              one(c), AT(0), c->ldn, AT(1), c->ldn);
}

static int
call_trsm_batched(td_solvercall *c)
{
    const char *f = c->j->flag;

    return c->lib->trsm_batched[c->t](c->blas, 0, of_uplo(f[0]), of_trans(f[1]), f[2] == 'U', c->n,
                                      c->k, one(c), c->addresses[0], c->ldn, c->addresses[1],
                                      c->ldn, c->batch);
}
#undef AT

const td_solverfn td_solver_functions[TD_SOLVER_OPS] = {
    [TD_SOLVE_getrf] = {size_getrf, call_getrf, false},
    [TD_SOLVE_getrs] = {NULL, call_getrs, false},
    [TD_SOLVE_potrf] = {size_potrf, call_potrf, false},
    [TD_SOLVE_potrs] = {NULL, call_potrs, false},
    [TD_SOLVE_geqrf] = {size_geqrf, call_geqrf, false},
    [TD_SOLVE_orgqr] = {size_orgqr, call_orgqr, false},
    [TD_SOLVE_gesvd] = {size_gesvd, call_gesvd, false},
    [TD_SOLVE_gesvdp] = {size_gesvdp, call_gesvdp, false},
    [TD_SOLVE_gesvdj] = {size_gesvdj, call_gesvdj, false},
    [TD_SOLVE_gesvdj_batched] = {size_gesvdj_batched, call_gesvdj_batched, false},
    [TD_SOLVE_syevd] = {size_syevd, call_syevd, false},
    [TD_SOLVE_syev_batched] = {size_syev_batched, call_syev_batched, false},
    [TD_SOLVE_syevj_batched] = {size_syevj_batched, call_syevj_batched, false},
    [TD_SOLVE_geev] = {size_geev, call_geev, false},
    [TD_SOLVE_potrf_batched] = {NULL, call_potrf_batched, false},
    [TD_SOLVE_getrf_batched] = {NULL, call_getrf_batched, true},
    [TD_SOLVE_getrs_batched] = {NULL, call_getrs_batched, true},
    [TD_SOLVE_getri_batched] = {NULL, call_getri_batched, true},
    [TD_SOLVE_geqrf_batched] = {NULL, call_geqrf_batched, true},
    [TD_SOLVE_trsm] = {NULL, call_trsm, true},
    [TD_SOLVE_trsm_batched] = {NULL, call_trsm_batched, true},
};
