/* code.c - modules, the driver's PTX compiler, and launches on NVIDIA devices. */
#include "dev/cuda/cuda.h"

#include <stdlib.h>
#include <string.h>

enum {
    LOG_MAX = 8192,          /* bytes of the compiler's log that are kept */
    ARGS_MAX = 4096 / 8,     /* cuLaunchKernel takes 4096 bytes before CUDA 12.1 */
    SHARED_PLAIN = 48 << 10, /* kernels must ask for more dynamic shared memory than this */
};

/* jit_log - the compiler's messages.  On the stack of one call. */
typedef struct jit_log {
    char text[LOG_MAX];
    int opt[2];
    void *value[2];
} jit_log;

static void
log_init(jit_log *l)
{
    l->text[0] = 0;
    l->opt[0] = CU_JIT_ERROR_LOG;
    l->value[0] = l->text;
    l->opt[1] = CU_JIT_ERROR_LOG_BYTES;
    l->value[1] = (void *)(uintptr_t)(LOG_MAX - 1);
}

/* The status of a call, followed by the compiler's log. */
static td_status
with_log(const td_cuda *c, int code, const char *call, jit_log *l)
{
    td_status st = td_cuda_status(c, code, call);

    l->text[LOG_MAX - 1] = 0;
    if (st && l->text[0])
        return td_fail(st, "%s\n%s", td_error(), l->text);
    return st;
}

td_status
td_cuda_module_load(td_module *m, const void *image)
{
    td_cuda *c = td_cuda_of(m->dev);
    cu_module h = NULL;
    jit_log log;
    bool pushed;
    td_status st;

    log_init(&log);
    TD_TRY(td_cuda_enter(c, &pushed));
    st = with_log(c, c->drv->cuModuleLoadDataEx(&h, image, 2, log.opt, log.value),
                  "cuModuleLoadDataEx", &log);
    td_cuda_leave(c, pushed);
    m->handle = h;
    return st;
}

void
td_cuda_module_free(td_module *m)
{
    td_cuda *c = td_cuda_of(m->dev);
    bool pushed;

    if (atomic_load(c->forked) || td_cuda_enter(c, &pushed))
        return;
    (void)c->drv->cuCtxSynchronize(); /* its kernels may still be running */
    (void)c->drv->cuModuleUnload(m->handle);
    td_cuda_leave(c, pushed);
}

/* Counts h's parameters: the driver describes them until it calls one invalid.  -1: it fails
 * otherwise. */
static int
count_params(td_cuda *c, cu_func h)
{
    size_t offset, nbytes;

    for (int n = 0;; n++) {
        int code = c->drv->cuFuncGetParamInfo(h, (size_t)n, &offset, &nbytes);

        if (code)
            return code == CU_INVALID_VALUE ? n : -1;
    }
}

td_status
td_cuda_module_func(td_func *f)
{
    td_cuda *c = td_cuda_of(f->dev);
    cu_func h = NULL;
    bool pushed;
    td_status st;

    TD_TRY(td_cuda_enter(c, &pushed));
    st = td_cuda_status(c, c->drv->cuModuleGetFunction(&h, f->module->handle, f->name),
                        "cuModuleGetFunction");
    f->nparam = st || !c->drv->cuFuncGetParamInfo ? -1 : count_params(c, h);
    td_cuda_leave(c, pushed);
    f->handle = h;
    return st ? td_fail(st, "%s: no kernel \"%s\" in the module", td_error(), f->name) : TD_OK;
}

td_status
td_cuda_module_global(td_module *m, const char *name, uintptr_t *ptr, size_t *nbytes)
{
    td_cuda *c = td_cuda_of(m->dev);
    cu_ptr at = 0;
    td_status st = CU_CALL(c, cuModuleGetGlobal, &at, nbytes, m->handle, name);

    *ptr = (uintptr_t)at;
    return st ? td_fail(st, "%s: no variable \"%s\" in the module", td_error(), name) : TD_OK;
}

td_status
td_cuda_func_param(const td_func *f, int i, td_cu_param *out, size_t *offset)
{
    td_cuda *c = td_cuda_of(f->dev);
    size_t nbytes = 0;

    if (f->nparam < 0)
        return TD_SKIP;
    if (i < 0 || i >= f->nparam)
        return td_fail(TD_ERR_INDEX, "%s has %d parameters", f->name, f->nparam);
    TD_TRY(CU_CALL(c, cuFuncGetParamInfo, f->handle, (size_t)i, offset, &nbytes));
    *out = (td_cu_param){.size = (uint32_t)nbytes, .kind = '?', .item = '?'};
    return TD_OK;
}

/* ---- PTX to a cubin ---- */

static td_status
link_ptx(td_cuda *c, const char *ptx, void **out, size_t *nbytes)
{
    cu_link link = NULL;
    void *cubin = NULL; /* owned by the link */
    jit_log log;
    td_status st;

    log_init(&log);
    TD_TRY(CU_TRY(c, cuLinkCreate, 2, log.opt, log.value, &link));
    st = with_log(c,
                  c->drv->cuLinkAddData(link, CU_INPUT_PTX, (void *)(uintptr_t)ptx, strlen(ptx) + 1,
                                        "kernel.ptx", 0, NULL, NULL),
                  "cuLinkAddData", &log);
    if (!st)
        st = with_log(c, c->drv->cuLinkComplete(link, &cubin, nbytes), "cuLinkComplete", &log);
    if (!st) {
        *out = malloc(*nbytes);
        if (*out)
            memcpy(*out, cubin, *nbytes);
        else
            st = td_fail(TD_ERR_NOMEM, "%s: no host memory for a cubin of %zu bytes",
                         c->dev.info.name, *nbytes);
    }
    (void)c->drv->cuLinkDestroy(link);
    return st;
}

td_status
td_cuda_assemble(td_dev *d, const char *ptx, void **out, size_t *nbytes)
{
    td_cuda *c = td_cuda_of(d);
    bool pushed;
    td_status st;

    TD_TRY(td_cuda_enter(c, &pushed));
    st = link_ptx(c, ptx, out, nbytes);
    td_cuda_leave(c, pushed);
    return st;
}

/* ---- launches ---- */

static td_status
launch_failed(const td_func *f, const td_dims *dims, td_status st)
{
    char text[256];

    return td_fail(st, "%s: %s", td_launch_text(f, dims, text, sizeof text), td_error());
}

/* Requests the dynamic shared memory from the driver, once for each larger amount. */
static td_status
allow_shared(td_cuda *c, td_func *f, const td_dims *dims)
{
    td_status st =
        CU_CALL(c, cuFuncSetAttribute, f->handle, CU_FUNC_MAX_DYNAMIC_SHARED, (int)dims->shared);

    if (st)
        return launch_failed(f, dims, st);
    f->shared = dims->shared;
    return TD_OK;
}

static td_status
check_args(const td_func *f, const td_dims *dims, int narg)
{
    char text[256];

    if (narg < 0 || narg > ARGS_MAX)
        return td_fail(TD_ERR_VALUE, "%s: %d arguments, at most %d are possible",
                       td_launch_text(f, dims, text, sizeof text), narg, ARGS_MAX);
    return td_fail(TD_ERR_VALUE, "%s: %d arguments for %d parameters",
                   td_launch_text(f, dims, text, sizeof text), narg, f->nparam);
}

td_status
td_cuda_func_attribute(td_func *f, int number, int *out)
{
    td_cuda *c = td_cuda_of(f->dev);
    bool pushed;
    td_status st;

    TD_TRY(td_cuda_enter(c, &pushed));
    st = CU_CALL(c, cuFuncGetAttribute, out, number, f->handle);
    td_cuda_leave(c, pushed);
    return st;
}

td_status
td_cuda_func_resident(td_func *f, int threads, size_t shared, int *nblock)
{
    td_cuda *c = td_cuda_of(f->dev);
    bool pushed;
    td_status st;

    TD_TRY(td_cuda_enter(c, &pushed));
    st =
        CU_CALL(c, cuOccupancyMaxActiveBlocksPerMultiprocessor, nblock, f->handle, threads, shared);
    td_cuda_leave(c, pushed);
    return st;
}

/* Calls the driver.  A cooperative launch runs all its blocks at the same time, or fails. */
static int
launch_now(const td_cuda *c, const td_func *f, const td_stream *s, const td_dims *d, void **param)
{
    if (d->cooperative)
        return c->drv->cuLaunchCooperativeKernel(f->handle, d->grid[0], d->grid[1], d->grid[2],
                                                 d->block[0], d->block[1], d->block[2], d->shared,
                                                 s->handle, param);
    return c->drv->cuLaunchKernel(f->handle, d->grid[0], d->grid[1], d->grid[2], d->block[0],
                                  d->block[1], d->block[2], d->shared, s->handle, param, NULL);
}

td_status
td_cuda_launch(td_func *f, td_stream *s, const td_dims *dims, const uint64_t *args, int narg)
{
    td_cuda *c = td_cuda_of(f->dev);
    void *param[ARGS_MAX];
    uint64_t number;
    bool pushed;
    td_status st;
    int r;

    if (narg != f->nparam && (f->nparam >= 0 || narg < 0 || narg > ARGS_MAX))
        return check_args(f, dims, narg);
    if (dims->shared > SHARED_PLAIN && dims->shared > f->shared)
        TD_TRY(allow_shared(c, f, dims));
    if (dims->offset)
        for (int i = 0; i < narg; i++)
            param[i] = (char *)(uintptr_t)args + dims->offset[i];
    else
        for (int i = 0; i < narg; i++)
            param[i] = (void *)(uintptr_t)&args[i];
    st = td_cuda_enter(c, &pushed);
    if (st)
        return launch_failed(f, dims, st);
    number = td_cuda_launched(c, s, f->name, dims->what);
    r = launch_now(c, f, s, dims, param);
    if (r)
        st = td_cuda_status(c, r, "cuLaunchKernel");
    else if (c->dev.sync)
        st = td_cuda_sync(c, s);
    if (r && !td_cuda_lost(r))
        td_recent_drop(c->recent, number);
    td_cuda_leave(c, pushed);
    return st ? launch_failed(f, dims, st) : TD_OK;
}
