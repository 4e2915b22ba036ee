/* cudahost.c - host memory that an NVIDIA device can access, and attributes of the device. */
#include "dev/cuda/cuda.h"

#include <string.h>

/* ---- memory ---- */

static td_status
address_of(td_cuda *c, td_hostmem *m)
{
    cu_ptr at = 0;
    td_status st = CU_TRY(c, cuMemHostGetDevicePointer, &at, m->host, 0);

    m->dev = (uintptr_t)at;
    return st;
}

static td_status
get_pinned(td_cuda *c, td_hostmem *m)
{
    unsigned flags = CU_HOST_PORTABLE | (m->kind == TD_HOST_MAPPED ? CU_HOST_MAPPED : 0) |
                     (m->combined ? CU_HOST_COMBINED : 0);
    td_status st = CU_TRY(c, cuMemHostAlloc, &m->host, m->nbytes, flags);

    if (st || m->kind != TD_HOST_MAPPED)
        return st;
    st = address_of(c, m);
    if (st)
        (void)c->drv->cuMemFreeHost(m->host);
    return st;
}

static td_status
get_managed(td_cuda *c, td_hostmem *m)
{
    cu_ptr at = 0;
    td_status st = CU_TRY(c, cuMemAllocManaged, &at, m->nbytes, CU_ATTACH_GLOBAL);

    m->dev = (uintptr_t)at;
    m->host = (void *)m->dev; // NOLINT(performance-no-int-to-ptr)
    return st;
}

static td_status
get_registered(td_cuda *c, td_hostmem *m)
{
    td_status st =
        CU_TRY(c, cuMemHostRegister, m->host, m->nbytes, CU_HOST_PORTABLE | CU_HOST_MAPPED);

    if (st)
        return st;
    st = address_of(c, m);
    if (st)
        (void)c->drv->cuMemHostUnregister(m->host);
    return st;
}

td_status
td_cuda_host_get(td_dev *d, td_hostmem *m)
{
    td_cuda *c = td_cuda_of(d);
    bool pushed;
    td_status st = TD_OK;

    TD_TRY(td_cuda_enter(c, &pushed));
    switch (m->kind) {
    case TD_HOST_PINNED:
    case TD_HOST_MAPPED:     st = get_pinned(c, m); break;
    case TD_HOST_MANAGED:    st = get_managed(c, m); break;
    case TD_HOST_REGISTERED: st = get_registered(c, m); break;
    }
    td_cuda_leave(c, pushed);
    if (st && m->kind != TD_HOST_REGISTERED)
        m->host = NULL;
    return st;
}

td_status
td_cuda_host_put(td_dev *d, const td_hostmem *m)
{
    td_cuda *c = td_cuda_of(d);
    bool pushed;
    td_status st = TD_OK;

    TD_TRY(td_cuda_enter(c, &pushed));
    switch (m->kind) {
    case TD_HOST_PINNED:
    case TD_HOST_MAPPED:     st = CU_TRY(c, cuMemFreeHost, m->host); break;
    case TD_HOST_MANAGED:    st = CU_TRY(c, cuMemFree, m->dev); break;
    case TD_HOST_REGISTERED: st = CU_TRY(c, cuMemHostUnregister, m->host); break;
    }
    td_cuda_leave(c, pushed);
    return st;
}

/* ---- facts ---- */

td_status
td_cuda_attribute(td_dev *d, int number, int *out)
{
    const td_cuda *c = td_cuda_of(d);
    int dev, r;

    TD_TRY(CU_TRY(c, cuDeviceGet, &dev, c->ordinal));
    r = c->drv->cuDeviceGetAttribute(out, number, dev);
    return r == CU_INVALID_VALUE ? TD_SKIP : td_cuda_status(c, r, "cuDeviceGetAttribute");
}

td_status
td_cuda_uuid(td_dev *d, unsigned char out[16])
{
    const td_cuda *c = td_cuda_of(d);
    cu_uuid u;
    int dev;

    if (!c->drv->cuDeviceGetUuid)
        return TD_SKIP;
    TD_TRY(CU_TRY(c, cuDeviceGet, &dev, c->ordinal));
    TD_TRY(CU_TRY(c, cuDeviceGetUuid, &u, dev));
    memcpy(out, u.bytes, sizeof u.bytes);
    return TD_OK;
}

td_status
td_cuda_profiler(td_dev *d, bool on)
{
    td_cuda *c = td_cuda_of(d);
    bool pushed;
    td_status st;

    if (!c->drv->cuProfilerStart || !c->drv->cuProfilerStop)
        return TD_OK;
    TD_TRY(td_cuda_enter(c, &pushed));
    st = on ? td_cuda_status(c, c->drv->cuProfilerStart(), "cuProfilerStart")
            : td_cuda_status(c, c->drv->cuProfilerStop(), "cuProfilerStop");
    td_cuda_leave(c, pushed);
    return st;
}
