/* solvercall.h - a row of solver.def as a library call. */
#ifndef TD_DEV_SOLVERCALL_H
#define TD_DEV_SOLVERCALL_H
#include "dev/core/solver.h"
#include "dev/lib/solverlib.h"

/* td_solvercall - one call.  at: the row's arrays, for all matrices or for one. */
typedef struct td_solvercall {
    const td_solverlib *lib;
    const td_solver    *j;
    void  *h, *params, *jacobi, *eigen, *blas;
    int    type, real, complex, t; /* cudaDataType of x, r, c; the place of x's function among four */
    int    m, n, k, batch, ldm, ldn;
    void  *at[TD_SOLVER_ARRAYS], **addresses[TD_SOLVER_ARRAYS];
    void  *work, *host;
    size_t nwork, nhost;
    double perturbed; /* gesvdp: how far singular values may be off */
} td_solvercall;

typedef struct td_solverfn {
    int (*size)(td_solvercall *c); /* tells nwork and nhost, the bytes it needs; NULL: none */
    int (*run)(td_solvercall *c);
    bool blas; /* uses cuBLAS's handle */
} td_solverfn;

extern const td_solverfn td_solver_functions[TD_SOLVER_OPS];

#endif
