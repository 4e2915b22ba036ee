/* solvercall.h - a row of solver.def as a call of a library's function. */
#ifndef TD_DEV_SOLVERCALL_H
#define TD_DEV_SOLVERCALL_H
#include "dev/core/solver.h"
#include "dev/lib/solverlib.h"

/* One call.  at: the row's arrays, of all matrices or of one. */
typedef struct td_solvercall {
    const td_solverlib *lib;
    const td_solver    *j;
    void  *h, *params, *jacobi, *eigen, *blas;
    int    type, real, complex, t; /* cudaDataType of x, r, c; the place of x's function among four */
    int    m, n, k, batch, ldm, ldn;
    void  *at[TD_SOLVER_ARRAYS], **addresses[TD_SOLVER_ARRAYS];
    void  *work, *host;
    size_t nwork, nhost;
    double perturbed; /* gesvdp: by how much singular values may be wrong */
} td_solvercall;

typedef struct td_solverfn {
    int (*size)(td_solvercall *c); /* nwork and nhost, the bytes that it wants; NULL: none */
    int (*run)(td_solvercall *c);
    bool blas; /* on cuBLAS's handle */
} td_solverfn;

extern const td_solverfn td_solver_functions[TD_SOLVER_OPS];

#endif
