/* cudaenter.c - a device's context: entering and leaving it, the meaning of the driver's answers,
 * waiting for launches.
 */
#include "dev/cuda/cuda.h"

#include "dev/core/site.h"

#include <stdio.h>

/* Failures after which the driver answers every call of the process with an error: cuda.h. */
static const int fatal[] = {
    226, /* CUDA_ERROR_CONTAINED */
    CU_ILLEGAL_ADDRESS,
    702, /* CUDA_ERROR_LAUNCH_TIMEOUT */
    710, /* CUDA_ERROR_ASSERT */
    714, /* CUDA_ERROR_HARDWARE_STACK_ERROR */
    715, /* CUDA_ERROR_ILLEGAL_INSTRUCTION */
    716, /* CUDA_ERROR_MISALIGNED_ADDRESS */
    717, /* CUDA_ERROR_INVALID_ADDRESS_SPACE */
    718, /* CUDA_ERROR_INVALID_PC */
    CU_LAUNCH_FAILED,
    721, /* CUDA_ERROR_TENSOR_MEMORY_LEAK */
    810, /* CUDA_ERROR_MPS_CLIENT_TERMINATED */
    911, /* CUDA_ERROR_EXTERNAL_DEVICE */
};

bool
td_cuda_lost(int code)
{
    for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++)
        if (fatal[i] == code)
            return true;
    return false;
}

td_status
td_cuda_fail(const td_cuda *c, td_status st, int code, const char *call, const char *why)
{
    char told[TD_RECENT_TEXT];

    if (td_cuda_lost(code))
        td_recent_fail(c->recent, why, call);
    return td_fail_code(st, code, "%s: %s: %s%s", c->dev.info.name, call, why,
                        td_recent_told(c->recent, told));
}

td_status
td_cuda_status(const td_cuda *c, int code, const char *call)
{
    const char *name = "unknown error", *text = "";
    char why[512];

    if (code == 0)
        return TD_OK;
    c->drv->cuGetErrorName(code, &name);
    c->drv->cuGetErrorString(code, &text);
    snprintf(why, sizeof why, "%s (%s)", name ? name : "unknown error", text ? text : "");
    return td_cuda_fail(c, code == CU_OUT_OF_MEMORY ? TD_ERR_OOM : TD_ERR_DEVICE, code, call, why);
}

td_status
td_cuda_was_forked(const char *name)
{
    return td_fail(TD_ERR_DEVICE,
                   "%s: this process was forked after CUDA was initialised, which CUDA cannot "
                   "follow; start workers with the \"spawn\" method",
                   name);
}

td_status
td_cuda_enter_slow(td_cuda *c, bool *pushed)
{
    if (atomic_load(c->forked))
        return td_cuda_was_forked(c->dev.info.name);
    TD_TRY(CU_TRY(c, cuCtxPushCurrent, c->ctx));
    *pushed = true;
    return TD_OK;
}

void
td_cuda_leave_slow(td_cuda *c)
{
    cu_ctx old;

    /* fails only if the context is broken, which its next use reports */
    (void)c->drv->cuCtxPopCurrent(&old);
}

/* The state between td_cuda_begin and td_cuda_end: one call of the driver. */
static _Thread_local struct {
    td_status st; /* why the context cannot be entered */
    bool pushed;
} inside;

bool
td_cuda_begin(td_cuda *c)
{
    inside.st = td_cuda_enter(c, &inside.pushed);
    return inside.st == TD_OK;
}

td_status
td_cuda_end(td_cuda *c, int code, const char *call)
{
    td_status st;

    if (code == CU_NOT_CALLED)
        return inside.st;
    st = td_cuda_status(c, code, call);
    td_cuda_leave(c, inside.pushed);
    return st;
}

uint64_t
td_cuda_launched(const td_cuda *c, const td_stream *s, const char *name, const char *what)
{
    return td_recent_add(c->recent, &(td_launched){.stream = s,
                                                   .legacy = s == &s->dev->def,
                                                   .apart = s->foreign || s->apart,
                                                   .name = name,
                                                   .what = what,
                                                   .site = td_site_held()});
}

/* A wait has returned st.  If it succeeded, the launches up to that number have ended: on s,
 * or with NULL everywhere. */
td_status
td_cuda_waited(const td_cuda *c, td_status st, const td_stream *s, uint64_t number)
{
    if (!st)
        td_recent_done(c->recent, s, number);
    return st;
}

td_status
td_cuda_sync(const td_cuda *c, const td_stream *s)
{
    uint64_t number = td_recent_last(c->recent);

    return td_cuda_waited(c, CU_TRY(c, cuStreamSynchronize, s->handle), s, number);
}
