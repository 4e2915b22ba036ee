/* nullapi.c - the played driver's functions for devices, contexts, memory, streams and events. */
#include "null/nulldrv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the driver and its device ---- */

int
td_null_cuInit(unsigned flags)
{
    (void)flags;
    return td_null_due(NULL_cuInit);
}

int
td_null_cuDriverGetVersion(int *version)
{
    *version = 13000;
    return td_null_due(NULL_cuDriverGetVersion);
}

static const struct error {
    int code;
    const char *name, *text;
} errors[] = {
    {CU_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {CU_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {CU_INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {CU_INVALID_IMAGE, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    {CU_INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {CU_INVALID_PTX, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"},
    {CU_INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {CU_NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {CU_NOT_READY, "CUDA_ERROR_NOT_READY", "device not ready"},
    {CU_ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {CU_PEER_ALREADY, "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED", "peer access is already enabled"},
    {CU_LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED", NULL}, /* its text comes from the launch hook */
    {CU_NOT_SUPPORTED, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
};

static const struct error *
error_of(int code)
{
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i].code == code)
            return &errors[i];
    return NULL;
}

int
td_null_cuGetErrorName(int code, const char **name)
{
    const struct error *e = error_of(code);

    *name = e ? e->name : "unknown error";
    return td_null_due(NULL_cuGetErrorName);
}

int
td_null_cuGetErrorString(int code, const char **text)
{
    const struct error *e = error_of(code);

    *text = !e ? "" : e->text ? e->text : td_null_hook_error();
    return td_null_due(NULL_cuGetErrorString);
}

int
td_null_cuDeviceGetCount(int *count)
{
    *count = TD_NULL_MAX;
    return td_null_due(NULL_cuDeviceGetCount);
}

int
td_null_cuDeviceGet(int *device, int ordinal)
{
    *device = ordinal;
    return ordinal < 0 || ordinal >= TD_NULL_MAX ? CU_INVALID_DEVICE
                                                 : td_null_due(NULL_cuDeviceGet);
}

int
td_null_cuDeviceGetName(char *name, int len, int device)
{
    (void)device;
    snprintf(name, (size_t)len, "a GPU that the host plays");
    return td_null_due(NULL_cuDeviceGetName);
}

int
td_null_cuDeviceGetAttribute(int *value, int attribute, int device)
{
    static const int known[][2] = {
        {CU_ATTR_MAX_THREADS, 1024},
        {CU_ATTR_MAX_SHARED, 48 << 10},
        {CU_ATTR_UNITS, 4},
        {CU_ATTR_MAJOR, 8},
        {CU_ATTR_MINOR, 0},
        {CU_ATTR_MEMORY_KHZ, 1000000},
        {CU_ATTR_MEMORY_BITS, 256},
        {CU_ATTR_VIRTUAL_MEMORY, 1},
        {2, 1024}, /* MAX_BLOCK_DIM_X, _Y, _Z */
        {3, 1024},
        {4, 64},
        {5, INT32_MAX}, /* MAX_GRID_DIM_X, _Y, _Z */
        {6, 65535},
        {7, 65535},
        {9, 64 << 10},   /* TOTAL_CONSTANT_MEMORY */
        {11, INT32_MAX}, /* MAX_PITCH */
        {12, 65536},     /* MAX_REGISTERS_PER_BLOCK */
        {13, 1000000},   /* CLOCK_RATE */
        {14, 512},       /* TEXTURE_ALIGNMENT */
        {15, 1},         /* GPU_OVERLAP */
        {17, 0},         /* KERNEL_EXEC_TIMEOUT */
        {18, 1},         /* INTEGRATED */
        {19, 1},         /* CAN_MAP_HOST_MEMORY */
        {20, 0},         /* COMPUTE_MODE */
        {31, 1},         /* CONCURRENT_KERNELS */
        {33, 0},         /* PCI_BUS_ID, PCI_DEVICE_ID */
        {34, 0},
        {39, 2048},     /* MAX_THREADS_PER_MULTIPROCESSOR */
        {41, 1},        /* UNIFIED_ADDRESSING */
        {81, 48 << 10}, /* MAX_SHARED_MEMORY_PER_MULTIPROCESSOR */
        {82, 65536},    /* MAX_REGISTERS_PER_MULTIPROCESSOR */
        {83, 1},        /* MANAGED_MEMORY */
    };

    (void)device;
    if (attribute == CU_ATTR_WARP) {
        const char *asked = getenv("TREADLE_NULL_WARP");

        *value = asked ? atoi(asked) : 32;
        return td_null_due(NULL_cuDeviceGetAttribute);
    }
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i][0] == attribute) {
            *value = known[i][1];
            return td_null_due(NULL_cuDeviceGetAttribute);
        }
    return CU_INVALID_VALUE;
}

int
td_null_cuDeviceGetUuid(cu_uuid *uuid, int device)
{
    memcpy(uuid->bytes, "treadle null dev", sizeof uuid->bytes);
    uuid->bytes[15] = (unsigned char)(uuid->bytes[15] + device);
    return td_null_due(NULL_cuDeviceGetUuid);
}

int
td_null_cuDeviceTotalMem(size_t *nbytes, int device)
{
    (void)device;
    *nbytes = NULL_MEMORY;
    return td_null_due(NULL_cuDeviceTotalMem);
}

/* ---- contexts ---- */

int
td_null_cuDevicePrimaryCtxRetain(cu_ctx *ctx, int device)
{
    *ctx = td_null_context(device);
    return td_null_due(NULL_cuDevicePrimaryCtxRetain);
}

int
td_null_cuCtxGetCurrent(cu_ctx *ctx)
{
    *ctx = td_null_current();
    return td_null_due(NULL_cuCtxGetCurrent);
}

int
td_null_cuCtxPushCurrent(cu_ctx ctx)
{
    int r = td_null_due(NULL_cuCtxPushCurrent);

    return r ? r : td_null_push(ctx);
}

int
td_null_cuCtxPopCurrent(cu_ctx *ctx)
{
    int r = td_null_due(NULL_cuCtxPopCurrent);

    return r ? r : td_null_pop(ctx);
}

int
td_null_cuCtxSynchronize(void)
{
    int r = td_null_due_ctx(NULL_cuCtxSynchronize);

    return r ? r : td_null_finish_all();
}

/* ---- memory ---- */

int
td_null_cuPointerGetAttribute(void *value, int attribute, cu_ptr ptr)
{
    int r = td_null_due_ctx(NULL_cuPointerGetAttribute);

    bool host = td_null_pinned((uintptr_t)ptr, 1, NULL);
    cu_ptr start;
    size_t nbytes;

    if (!r && (attribute == CU_POINTER_RANGE_START || attribute == CU_POINTER_RANGE_SIZE)) {
        if (!td_null_mem_range(ptr, &start, &nbytes))
            return CU_INVALID_VALUE;
        if (attribute == CU_POINTER_RANGE_START)
            *(cu_ptr *)value = start;
        else
            *(size_t *)value = nbytes;
        return 0;
    }
    if (r || attribute != CU_POINTER_MEMORY_TYPE || (!host && td_null_mem_check(ptr, 1)))
        return r ? r : CU_INVALID_VALUE; /* as for pageable host memory */
    *(int *)value = host ? CU_MEMORY_HOST : CU_MEMORY_DEVICE;
    return 0;
}

int
td_null_stream_ok(cu_stream s)
{
    bool named =
        (uintptr_t)s <= CU_STREAM_PER_THREAD; /* NULL, the legacy and the thread's stream */

    return named || td_null_object_is(s, NULL_STREAM) ? 0 : CU_INVALID_HANDLE;
}

int
td_null_stream_device(cu_stream s)
{
    const null_object *o = td_null_object_is(s, NULL_STREAM) ? (const null_object *)s : NULL;

    return o ? o->device : td_null_device();
}

int
td_null_cuMemcpyHtoDAsync(cu_ptr dst, const void *src, size_t nbytes, cu_stream stream)
{
    int r = td_null_due_ctx(NULL_cuMemcpyHtoDAsync);

    r = r ? r : td_null_stream_ok(stream);
    r = r ? r : td_null_mem_check(dst, nbytes);
    return r ? r
             : td_null_submit(stream, (null_work){.kind = NULL_COPY,
                                                  .dst = (void *)(uintptr_t)dst,
                                                  .dst_dev = true,
                                                  .src = src,
                                                  .nbytes = nbytes});
}

int
td_null_cuMemcpyDtoHAsync(void *dst, cu_ptr src, size_t nbytes, cu_stream stream)
{
    int r = td_null_due_ctx(NULL_cuMemcpyDtoHAsync);

    r = r ? r : td_null_stream_ok(stream);
    r = r ? r : td_null_mem_check(src, nbytes);
    return r ? r
             : td_null_submit(stream, (null_work){.kind = NULL_COPY,
                                                  .dst = dst,
                                                  .src = (const void *)(uintptr_t)src,
                                                  .src_dev = true,
                                                  .nbytes = nbytes});
}

int
td_null_cuMemcpyDtoDAsync(cu_ptr dst, cu_ptr src, size_t nbytes, cu_stream stream)
{
    int r = td_null_due_ctx(NULL_cuMemcpyDtoDAsync);

    r = r ? r : td_null_stream_ok(stream);
    r = r ? r : td_null_mem_check(dst, nbytes);
    r = r ? r : td_null_mem_check(src, nbytes);
    return r ? r
             : td_null_submit(stream, (null_work){.kind = NULL_COPY,
                                                  .dst = (void *)(uintptr_t)dst,
                                                  .src = (const void *)(uintptr_t)src,
                                                  .dst_dev = true,
                                                  .src_dev = true,
                                                  .nbytes = nbytes});
}

/* ---- streams and events ---- */

static int
null_new_handle(int r, null_kind kind, void *out)
{
    null_object *o = r ? NULL : td_null_object_new(kind);

    if (o)
        memcpy(out, &o, sizeof o);
    return r ? r : o ? 0 : CU_OUT_OF_MEMORY;
}

static int
free_handle(int r, null_kind kind, void *handle)
{
    return r ? r : td_null_object_free(handle, kind) ? 0 : CU_INVALID_HANDLE;
}

static int
event_ok(cu_event e)
{
    return td_null_object_is(e, NULL_EVENT) ? 0 : CU_INVALID_HANDLE;
}

int
td_null_cuStreamCreate(cu_stream *stream, unsigned flags)
{
    int r = null_new_handle(td_null_due_ctx(NULL_cuStreamCreate), NULL_STREAM, stream);

    if (!r)
        ((null_object *)*stream)->flags = flags;
    return r;
}

int
td_null_cuStreamDestroy(cu_stream stream)
{
    return free_handle(td_null_due_ctx(NULL_cuStreamDestroy), NULL_STREAM, stream);
}

int
td_null_cuStreamSynchronize(cu_stream stream)
{
    int r = td_null_due_ctx(NULL_cuStreamSynchronize);

    r = r ? r : td_null_stream_ok(stream);
    return r ? r : td_null_finish(stream);
}

int
td_null_cuStreamWaitEvent(cu_stream stream, cu_event event, unsigned flags)
{
    int r = td_null_due_ctx(NULL_cuStreamWaitEvent);

    (void)flags;
    r = r ? r : td_null_stream_ok(stream);
    r = r ? r : event_ok(event);
    return r ? r
             : td_null_submit(stream,
                              (null_work){.kind = NULL_WAIT, .event = (null_object *)event});
}

int
td_null_cuEventCreate(cu_event *event, unsigned flags)
{
    (void)flags;
    return null_new_handle(td_null_due_ctx(NULL_cuEventCreate), NULL_EVENT, event);
}

int
td_null_cuEventDestroy(cu_event event)
{
    return free_handle(td_null_due_ctx(NULL_cuEventDestroy), NULL_EVENT, event);
}

int
td_null_cuEventRecord(cu_event event, cu_stream stream)
{
    int r = td_null_due_ctx(NULL_cuEventRecord);

    r = r ? r : event_ok(event);
    r = r ? r : td_null_stream_ok(stream);
    r = r || td_null_stream_device(stream) == ((null_object *)event)->device ? r
                                                                             : CU_INVALID_HANDLE;
    return r ? r
             : td_null_submit(stream,
                              (null_work){.kind = NULL_RECORD, .event = (null_object *)event});
}

int
td_null_cuEventSynchronize(cu_event event)
{
    int r = td_null_due_ctx(NULL_cuEventSynchronize);

    r = r ? r : event_ok(event);
    if (!r)
        (void)td_null_passed((const null_object *)event, true);
    return r;
}

int
td_null_cuEventQuery(cu_event event)
{
    int r = td_null_due_ctx(NULL_cuEventQuery);

    r = r ? r : event_ok(event);
    return r || td_null_passed((const null_object *)event, false) ? r : CU_NOT_READY;
}

int
td_null_cuEventElapsedTime(float *ms, cu_event from, cu_event to)
{
    int r = td_null_due_ctx(NULL_cuEventElapsedTime);

    r = r ? r : event_ok(from);
    r = r ? r : event_ok(to);
    if (!r)
        *ms = (float)((double)(((null_object *)to)->ns - ((null_object *)from)->ns) / 1e6);
    return r;
}
