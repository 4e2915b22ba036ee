/* solver.c - jobs for cuSOLVER and cuBLAS: libraries, handles, workspaces, and loops over a
 * batch's matrices.
 *
 * A device has one cuSOLVER handle, used by one thread at a time.  Some of its functions compute
 * on the host too and need memory there.  The handle keeps that memory, since nothing tells when
 * such a function has finished with it.
 */
#include "dev/core/solver.h"
#include "dev/core/played.h"

#include "dev/core/work.h"
#include "dev/cuda/cuda.h"
#include "dev/foreign/library.h"
#include "dev/lib/hostsmall.h"
#include "dev/lib/solvercall.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static const struct row {
    const char *name, *arrays, *flags;
    bool all;
} rows[TD_SOLVER_OPS] = {
#define EACH                             false
#define ALL                              true
#define SOLVE(name, once, arrays, flags) [TD_SOLVE_##name] = {#name, arrays, flags, once},
#include "dev/core/solver.def"
#undef EACH
#undef ALL
};

/* ---- the libraries ---- */

enum { SOLVER, BLAS };
enum { MUST, MAY };

static const struct symbol {
    const char *name;
    size_t slot;
    int library, need;
} symbols[] = {
#define FN(slot, library, need, symbol, params)                                                    \
    {#symbol, offsetof(td_solverlib, slot), library, need},
#define FN4(slot, library, need, params, s, d, c, z)                                               \
    {#s, offsetof(td_solverlib, slot[0]), library, need},                                          \
        {#d, offsetof(td_solverlib, slot[1]), library, need},                                      \
        {#c, offsetof(td_solverlib, slot[2]), library, need},                                      \
        {#z, offsetof(td_solverlib, slot[3]), library, need},
#include "dev/core/site.h"
#include "dev/lib/solverlib.def"
};

static struct {
    td_lib_state state;
    td_solverlib call;
    char path[512];
} found = {.state = TD_LIB_STATE};

static td_status
solver_load(void)
{
    static const td_lib_name solver[] = {{"libcusolver.so.12", 13, "nvidia-cusolver"},
                                         {"libcusolver.so.11", 12, "nvidia-cusolver-cu12"},
                                         {0}};
    void *lib[2], *f;

    TD_TRY(td_lib_open(td_cublas_names, &lib[BLAS]));
    TD_TRY(td_lib_open(solver, &lib[SOLVER]));
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        const struct symbol *y = &symbols[i];
        td_status st = td_lib_symbol(lib[y->library], y->name, &f);

        if (st && y->need == MUST)
            return st;
        memcpy((char *)&found.call + y->slot, &f, sizeof f);
    }
    td_lib_path(lib[SOLVER], found.path, sizeof found.path);
    return TD_OK;
}

static td_status
cusolver_library(const td_dev *d, const td_solverlib **out)
{
    *out = d->info.kind == TD_DEV_NULL ? td_player_found()->solver : &found.call;
    return d->info.kind == TD_DEV_NULL ? TD_OK : td_lib_once(&found.state, solver_load);
}

/* numbers from cusolver_common.h and cublas_api.h; of cuBLAS only those that differ. */
static const struct refusal {
    int code;
    const char *name;
} refusals[] = {
    {1, "NOT_INITIALIZED"},
    {2, "ALLOC_FAILED"},
    {3, "INVALID_VALUE or ALLOC_FAILED"},
    {4, "ARCH_MISMATCH"},
    {5, "MAPPING_ERROR"},
    {6, "EXECUTION_FAILED"},
    {7, "INTERNAL_ERROR or INVALID_VALUE"},
    {8, "MATRIX_TYPE_NOT_SUPPORTED or ARCH_MISMATCH"},
    {9, "NOT_SUPPORTED"},
    {13, "EXECUTION_FAILED"},
    {14, "INTERNAL_ERROR"},
    {15, "NOT_SUPPORTED"},
    {31, "INVALID_WORKSPACE"},
};

static td_status
cusolver_status(const td_cuda *c, int code, const char *call)
{
    enum { ALLOC_FAILED = 2 };
    const char *why = "a status that is not known";

    if (!code)
        return TD_OK;
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++)
        if (refusals[i].code == code)
            why = refusals[i].name;
    return td_cuda_fail(c, code == ALLOC_FAILED ? TD_ERR_OOM : TD_ERR_DEVICE, 0, call, why);
}

/* td_solverstate - a device's handle and its memory.  Lives as long as the device; under
 * solver_mu. */
struct td_solverstate {
    void *handle, *params, *jacobi, *eigen;
    void *host; /* host memory for functions that also compute on the host */
    size_t nhost;
};

static td_status
state_of(td_cuda *c, const td_solverlib *lib, struct td_solverstate **out)
{
    struct td_solverstate *p = c->solver;
    td_status st = TD_OK;

    if (!p && !(p = calloc(1, sizeof *p)))
        return td_fail(TD_ERR_NOMEM, "solver: no memory for a handle");
    c->solver = *out = p;
    if (!p->handle)
        st = cusolver_status(c, lib->create(&p->handle), "cusolverDnCreate");
    if (!st && !p->params)
        st = cusolver_status(c, lib->create_params(&p->params), "cusolverDnCreateParams");
    if (!st && !p->jacobi)
        st = cusolver_status(c, lib->create_jacobi(&p->jacobi), "cusolverDnCreateGesvdjInfo");
    if (!st && !p->eigen)
        st = cusolver_status(c, lib->create_eigen(&p->eigen), "cusolverDnCreateSyevjInfo");
    return st;
}

/* ---- reading rows of solver.def ---- */

int
td_solver_find(const char *name)
{
    for (int i = 0; i < TD_SOLVER_OPS; i++)
        if (!strcmp(rows[i].name, name))
            return i;
    return -1;
}

static int64_t
size_of(const td_solver *j, char letter)
{
    int64_t least = j->m < j->n ? j->m : j->n;
    char job = j->flag[0];

    switch (letter) {
    case 'm': return j->m;
    case 'n': return j->n;
    case 'k': return j->k;
    case 'l': return least;
    case '1': return 1;
    case 'u': return job == 'N' ? 0 : job == 'A' ? j->m : least;
    case 'v': return job == 'N' ? 0 : job == 'A' ? j->n : least;
    }
    td_bug(__FILE__, __LINE__, "size in solver.def");
}

static td_dtype
letter_dtype(td_dtype dt, char letter)
{
    switch (letter) {
    case 'r': return td_dtype_real_of(dt);
    case 'c': return td_dtype_real_of(dt) == TD_F64 ? TD_C128 : TD_C64;
    case 'p': return TD_I64;
    case 'i': return TD_I32;
    }
    return dt;
}

int
td_solver_arrays(const td_solver *j, td_solver_array out[TD_SOLVER_ARRAYS])
{
    int n = 0;

    for (const char *p = rows[j->op].arrays; *p; n++) {
        td_solver_array *a = &out[n];

        *a = (td_solver_array){letter_dtype(j->dt, p[0]), 1, p[1] == '+', p[0] == 'X'};
        for (p += 2; *p && *p != ' '; p++)
            a->count *= size_of(j, *p);
        p += *p == ' ';
    }
    return n;
}

td_status
td_solver_check(const td_solver *j)
{
    const char *group = rows[j->op].flags;

    if (j->dt != TD_F32 && j->dt != TD_F64 && j->dt != TD_C64 && j->dt != TD_C128)
        return td_fail(TD_ERR_TYPE, "%s: no library factorises matrices of %s", rows[j->op].name,
                       td_dtype_name(j->dt));
    if (j->m < 0 || j->n < 0 || j->k < 0 || j->batch < 0 || j->m > INT_MAX || j->n > INT_MAX ||
        j->k > INT_MAX || j->batch > INT_MAX)
        return td_fail(TD_ERR_VALUE, "%s: %lld matrices of %lld by %lld, and %lld",
                       rows[j->op].name, (long long)j->batch, (long long)j->m, (long long)j->n,
                       (long long)j->k);
    for (int i = 0; *group; i++) {
        size_t n = strcspn(group, " ");

        if (!j->flag[i] || !memchr(group, j->flag[i], n))
            return td_fail(TD_ERR_VALUE, "%s: flag %d is '%c', not one of %.*s", rows[j->op].name,
                           i, j->flag[i], (int)n, group);
        group += n + (group[n] == ' ');
    }
    return TD_OK;
}

/* ---- one job ---- */

static td_solvercall
call_of(const td_solverlib *lib, const struct td_solverstate *p, const td_solver *j)
{
    bool wide = td_dtype_real_of(j->dt) == TD_F64, complex = td_dtype_is_complex(j->dt);
    td_solvercall c = {.lib = lib,
                       .j = j,
                       .h = p->handle,
                       .params = p->params,
                       .jacobi = p->jacobi,
                       .eigen = p->eigen};

    c.real = wide ? CUDA_R_64F : CUDA_R_32F;
    c.complex = wide ? CUDA_C_64F : CUDA_C_32F;
    c.type = complex ? c.complex : c.real;
    c.t = 2 * complex + wide;
    c.m = (int)j->m;
    c.n = (int)j->n;
    c.k = (int)j->k;
    c.batch = (int)j->batch;
    c.ldm = c.m ? c.m : 1;
    c.ldn = c.n ? c.n : 1;
    for (int i = 0; i < TD_SOLVER_ARRAYS; i++)
        c.at[i] = (void *)j->at[i];
    return c;
}

static td_status
host_room(td_cuda *c, td_stream *s, struct td_solverstate *p, size_t nbytes)
{
    void *host;

    if (nbytes <= p->nhost)
        return TD_OK;
    TD_TRY(td_cuda_sync(c, s)); /* an earlier call may still use it */
    host = realloc(p->host, nbytes);
    if (!host)
        return td_fail(TD_ERR_NOMEM, "solver: %zu bytes on the host", nbytes);
    p->host = host;
    p->nhost = nbytes;
    return TD_OK;
}

static td_status
call_all(td_cuda *c, td_solvercall *k, const td_solver_array *a, int n)
{
    const td_solverfn *f = &td_solver_functions[k->j->op];
    int64_t times = rows[k->j->op].all ? 1 : k->j->batch;
    td_status st = TD_OK;

    for (int64_t b = 0; !st && b < times; b++) {
        for (int i = 0; i < n; i++)
            k->at[i] = (char *)k->j->at[i] + (size_t)(b * a[i].count) * td_dtype_size(a[i].dt);
        st = cusolver_status(c, f->run(k), rows[k->j->op].name);
        if (k->j->disturbed && k->perturbed > *k->j->disturbed)
            *k->j->disturbed = k->perturbed;
    }
    return st;
}

static td_status
solver_in_context(td_cuda *c, td_stream *s, const td_solverlib *lib, const td_solver *j, void *blas)
{
    struct td_solverstate *p = NULL;
    td_solver_array a[TD_SOLVER_ARRAYS];
    int n = td_solver_arrays(j, a);
    td_buf *room = NULL;
    td_status st;
    td_solvercall k;

    TD_TRY(state_of(c, lib, &p));
    k = call_of(lib, p, j);
    TD_TRY(cusolver_status(c, lib->set_stream(p->handle, s->handle), "cusolverDnSetStream"));
    k.blas = blas;
    if (td_solver_functions[j->op].size)
        TD_TRY(cusolver_status(c, td_solver_functions[j->op].size(&k), rows[j->op].name));
    TD_TRY(host_room(c, s, p, k.nhost));
    TD_TRY(td_buf_new(s->dev, s, k.nwork + 1, &room));
    k.host = p->host;
    k.work = (void *)room->ptr;
    for (int i = 0; i < n; i++)
        k.addresses[i] = (void **)j->addresses[i];
    (void)td_cuda_launched(c, s, td_solver_functions[j->op].blas ? "cuBLAS" : "cuSOLVER",
                           rows[j->op].name);
    st = call_all(c, &k, a, n);
    if (!st && c->dev.sync)
        st = td_cuda_sync(c, s);
    td_buf_unref(room);
    return st;
}

td_status
td_solver_can(td_dev *d, td_solver_op op)
{
    const td_solverlib *lib;

    if (d->info.kind == TD_DEV_CPU)
        return td_hostsmall_can(op);
    if (!td_solver_functions[op].run)
        return TD_SKIP;
    TD_TRY(cusolver_library(d, &lib));
    if ((op == TD_SOLVE_syev_batched && !lib->syev_batched) || (op == TD_SOLVE_geev && !lib->geev))
        return TD_SKIP;
    return TD_OK;
}

td_status
td_solver_run(td_stream *s, const td_solver *j)
{
    td_solver_array a[TD_SOLVER_ARRAYS];
    int n = td_solver_arrays(j, a);
    size_t nbytes = 0;

    for (int i = 0; i < n; i++)
        nbytes += (size_t)(a[i].count * j->batch) * td_dtype_size(a[i].dt) * (a[i].written ? 2 : 1);
    return td_work_do(s, &(td_work){.kind = TD_TRACE_solve, .solver = j, .nbytes = nbytes});
}

td_status
td_solver_do(td_stream *s, const td_solver *j)
{
    bool pushed, with_blas = td_solver_functions[j->op].blas && s->dev->info.kind == TD_DEV_CUDA;
    const td_solverlib *lib;
    void *blas = NULL; /* the null device's functions need none */
    td_cuda *c;
    td_status st;

    if (s->dev->info.kind == TD_DEV_CPU)
        return td_hostsmall_run(j);
    c = td_cuda_of(s->dev);
    TD_TRY(cusolver_library(s->dev, &lib));
    TD_TRY(td_cuda_enter(c, &pushed));
    pthread_mutex_lock(&c->solver_mu);
    st = with_blas ? td_cuda_blas(c, s, &blas) : TD_OK;
    if (!st) {
        st = solver_in_context(c, s, lib, j, blas);
        if (with_blas)
            td_cuda_blas_done(c);
    }
    pthread_mutex_unlock(&c->solver_mu);
    td_cuda_leave(c, pushed);
    return st;
}

const char *
td_solver_name(const td_solver *j)
{
    return rows[j->op].name;
}

const char *
td_solver_info(td_dev *d)
{
    const td_solverlib *lib;
    int v[3] = {0};

    if (d->info.kind == TD_DEV_CPU)
        return "NumPy";
    if (cusolver_library(d, &lib))
        return td_name_format("NumPy, by way of the host: %s", td_error());
    if (lib != &found.call)
        return "played by the host";
    for (int i = 0; i < 3; i++)
        (void)lib->property(i, &v[i]);
    return td_name_format("cuSOLVER %d.%d.%d, %s", v[0], v[1], v[2], found.path);
}
