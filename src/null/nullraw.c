/* nullraw.c - the played driver's fills, blocks, arrays, textures and settings. */
#include "cuhost/abi.h"
#include "null/nulldrv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- fills ---- */

static int
nullraw_fill(int r, cu_ptr dst, size_t pitch, int size, uint32_t value, size_t width, size_t height,
             cu_stream stream)
{
    size_t span = td_brick_span(pitch, 0, width * (size_t)size, height, 1);

    r = r ? r : td_null_stream_ok(stream);
    r = r ? r : td_null_mem_check(dst, span);
    if (!r && (dst % (cu_ptr)size || pitch % (size_t)size))
        r = CU_INVALID_VALUE;
    return r ? r
             : td_null_submit(stream, (null_work){.kind = NULL_FILL,
                                                  .dst = (void *)(uintptr_t)dst,
                                                  .dst_dev = true,
                                                  .nbytes = span,
                                                  .value = value,
                                                  .size = size,
                                                  .pitch = pitch,
                                                  .width = width,
                                                  .height = height});
}

int
td_null_cuMemsetD8Async(cu_ptr dst, unsigned char byte, size_t nbytes, cu_stream stream)
{
    return nullraw_fill(td_null_due_ctx(NULL_cuMemsetD8Async), dst, 0, 1, byte, nbytes, 1, stream);
}

int
td_null_cuMemsetD16Async(cu_ptr dst, unsigned short word, size_t n, cu_stream stream)
{
    return nullraw_fill(td_null_due_ctx(NULL_cuMemsetD16Async), dst, 0, 2, word, n, 1, stream);
}

int
td_null_cuMemsetD32Async(cu_ptr dst, unsigned word, size_t n, cu_stream stream)
{
    return nullraw_fill(td_null_due_ctx(NULL_cuMemsetD32Async), dst, 0, 4, word, n, 1, stream);
}

int
td_null_cuMemsetD2D8Async(cu_ptr dst, size_t pitch, unsigned char byte, size_t width, size_t height,
                          cu_stream stream)
{
    return nullraw_fill(td_null_due_ctx(NULL_cuMemsetD2D8Async), dst, pitch, 1, byte, width, height,
                        stream);
}

int
td_null_cuMemsetD2D16Async(cu_ptr dst, size_t pitch, unsigned short word, size_t width,
                           size_t height, cu_stream stream)
{
    return nullraw_fill(td_null_due_ctx(NULL_cuMemsetD2D16Async), dst, pitch, 2, word, width,
                        height, stream);
}

int
td_null_cuMemsetD2D32Async(cu_ptr dst, size_t pitch, unsigned word, size_t width, size_t height,
                           cu_stream stream)
{
    return nullraw_fill(td_null_due_ctx(NULL_cuMemsetD2D32Async), dst, pitch, 4, word, width,
                        height, stream);
}

/* ---- blocks ---- */

static td_texarray *
null_array(cu_array h)
{
    return td_null_object_is(h, NULL_ARRAY) ? ((null_object *)h)->data : NULL;
}

/* One side of a copy: its first byte, its strides, and the bytes it covers from there.
 * Returns the driver's code. */
static int
side(const cu_side *p, const cu_copy3 *c, char **at, size_t step[2], size_t *span, bool *dev)
{
    td_texarray *a = p->type == CU_MEMORY_ARRAY ? null_array(p->array) : NULL;
    uintptr_t base = p->type == CU_MEMORY_HOST ? (uintptr_t)p->host : (uintptr_t)p->dev;

    *dev = p->type == CU_MEMORY_DEVICE;
    if (p->type == CU_MEMORY_ARRAY) {
        if (!a || p->x + c->width > a->pitch || (p->y + c->height) * a->pitch > a->slice ||
            p->z + c->depth > (a->desc.depth ? a->desc.depth : 1))
            return CU_INVALID_VALUE;
        base = a->at;
        step[0] = a->pitch;
        step[1] = a->slice;
    } else {
        if (p->pitch < p->x + c->width || p->height < p->y + c->height)
            return CU_INVALID_VALUE;
        step[0] = p->pitch;
        step[1] = p->pitch * p->height;
    }
    base += p->x + p->y * step[0] + p->z * step[1];
    *at = (char *)base; // NOLINT(performance-no-int-to-ptr)
    *span = td_brick_span(step[0], step[1], c->width, c->height, c->depth);
    return *dev ? td_null_mem_check(base, *span) : 0;
}

int
td_null_cuMemcpy3DAsync(const cu_copy3 *c, cu_stream stream)
{
    int r = td_null_due_ctx(NULL_cuMemcpy3DAsync);
    null_work w = {.kind = NULL_BRICK};
    size_t dst[2], src[2];
    char *to = NULL, *from = NULL;

    r = r ? r : td_null_stream_ok(stream);
    r = r ? r : side(&c->dst, c, &to, dst, &w.nbytes, &w.dst_dev);
    r = r ? r : side(&c->src, c, &from, src, &w.src_nbytes, &w.src_dev);
    if (r)
        return r;
    w.dst = to;
    w.src = from;
    w.brick = (td_hostbrick){.dst = to,
                             .src = from,
                             .dst_pitch = dst[0],
                             .dst_slice = dst[1],
                             .src_pitch = src[0],
                             .src_slice = src[1],
                             .width = c->width,
                             .height = c->height,
                             .depth = c->depth};
    return td_null_submit(stream, w);
}

int
td_null_cuMemcpyPeerAsync(cu_ptr dst, cu_ctx to, cu_ptr src, cu_ctx from, size_t nbytes,
                          cu_stream stream)
{
    int r = td_null_due_ctx(NULL_cuMemcpyPeerAsync);

    if (r || td_null_device_of(to) < 0 || td_null_device_of(from) < 0)
        return r ? r : CU_INVALID_CONTEXT;
    return td_null_cuMemcpyDtoDAsync(dst, src, nbytes, stream);
}

int
td_null_cuStreamAttachMemAsync(cu_stream stream, cu_ptr ptr, size_t nbytes, unsigned flags)
{
    int r = td_null_due_ctx(NULL_cuStreamAttachMemAsync);

    r = r ? r : td_null_stream_ok(stream);
    r = r ? r : td_null_mem_check(ptr, nbytes ? nbytes : 1);
    return r || flags == 1 || flags == 2 || flags == 4 ? r : CU_INVALID_VALUE;
}

/* ---- arrays and textures ---- */

/* Makes an object that owns `data`. */
static int
nullraw_keep(null_kind kind, void *data, null_object **out)
{
    *out = data ? td_null_object_new(kind) : NULL;
    if (*out)
        (*out)->data = data;
    else
        free(data);
    return *out ? 0 : CU_OUT_OF_MEMORY;
}

int
td_null_cuArray3DCreate(cu_array *array, const cu_arraydesc *d)
{
    int r = td_null_due_ctx(NULL_cuArray3DCreate);
    size_t pitch = d->width * td_tex_item(d->format, (int)d->channels),
           slice = pitch * (d->height ? d->height : 1), nbytes = slice * (d->depth ? d->depth : 1);
    td_texarray *a;
    null_object *o;

    if (r || !nbytes)
        return r ? r : CU_INVALID_VALUE;
    if (nbytes > NULL_MEMORY)
        return CU_OUT_OF_MEMORY;
    a = calloc(1, sizeof *a + nbytes);
    r = nullraw_keep(NULL_ARRAY, a, &o);
    if (r)
        return r;
    a->desc = (td_texdesc){.width = d->width,
                           .height = d->height,
                           .depth = d->depth,
                           .format = d->format,
                           .channels = (int)d->channels,
                           .flags = d->flags};
    a->at = (uintptr_t)(a + 1);
    a->pitch = pitch;
    a->slice = slice;
    *array = (cu_array)o;
    return 0;
}

int
td_null_cuArrayDestroy(cu_array array)
{
    int r = td_null_due_ctx(NULL_cuArrayDestroy);

    return r || td_null_object_free(array, NULL_ARRAY) ? r : CU_INVALID_HANDLE;
}

/* What a resource shows, as td_texview. */
static int
resource_view(const cu_resource *r, td_texview *v)
{
    if (r->type == CU_RESOURCE_ARRAY) {
        v->array = null_array(r->of.array);
        return v->array ? 0 : CU_INVALID_HANDLE;
    }
    v->at = (uintptr_t)r->of.mem.ptr;
    v->desc.format = r->of.mem.format;
    v->desc.channels = (int)r->of.mem.channels;
    if (r->type == CU_RESOURCE_LINEAR) {
        v->desc.width = r->of.mem.width / td_tex_item(v->desc.format, v->desc.channels);
        return td_null_mem_check(v->at, r->of.mem.width);
    }
    v->desc.width = r->of.mem.width;
    v->desc.height = r->of.mem.height;
    v->pitch = r->of.mem.pitch;
    return td_null_mem_check(v->at, (v->desc.height - 1) * v->pitch);
}

static int
object(int r, const td_texview *v, uint64_t *out)
{
    td_cu_texture *x = NULL;
    null_object *o;

    if (!r && td_hosttexture_new(v, &x))
        r = CU_OUT_OF_MEMORY;
    r = r ? r : nullraw_keep(NULL_TEXTURE, x, &o);
    *out = r ? 0 : (uintptr_t)x;
    return r;
}

static int
object_free(int r, uint64_t handle)
{
    null_object *o = td_null_object_with((const void *)(uintptr_t)handle, NULL_TEXTURE); // NOLINT

    return r || (o && td_null_object_free(o, NULL_TEXTURE)) ? r : CU_INVALID_HANDLE;
}

int
td_null_cuTexObjectCreate(uint64_t *out, const cu_resource *resource, const cu_texdesc *texture,
                          const void *view)
{
    int r = td_null_due_ctx(NULL_cuTexObjectCreate);
    td_texview v = {.filter = texture->filter, .flags = texture->flags};

    memcpy(v.address, texture->address, sizeof v.address);
    r = r || !view ? r : CU_INVALID_VALUE;
    return object(r ? r : resource_view(resource, &v), &v, out);
}

int
td_null_cuTexObjectDestroy(uint64_t handle)
{
    return object_free(td_null_due_ctx(NULL_cuTexObjectDestroy), handle);
}

int
td_null_cuSurfObjectCreate(uint64_t *out, const cu_resource *resource)
{
    int r = td_null_due_ctx(NULL_cuSurfObjectCreate);
    td_texview v = {.flags = TD_TEX_INTEGER};

    r = r ? r : resource_view(resource, &v);
    if (!r && !(v.array && v.array->desc.flags & TD_TEX_SURFACE))
        r = CU_INVALID_VALUE;
    return object(r, &v, out);
}

int
td_null_cuSurfObjectDestroy(uint64_t handle)
{
    return object_free(td_null_due_ctx(NULL_cuSurfObjectDestroy), handle);
}

/* ---- settings ---- */

static td_hostsettings settings = TD_HOSTSETTINGS;

int
td_null_cuCtxGetLimit(size_t *value, int limit)
{
    int r = td_null_due_ctx(NULL_cuCtxGetLimit);

    return r ? r : td_hostsettings_limit(&settings, limit, false, value);
}

int
td_null_cuCtxSetLimit(int limit, size_t value)
{
    int r = td_null_due_ctx(NULL_cuCtxSetLimit);

    return r ? r : td_hostsettings_limit(&settings, limit, true, &value);
}

int
td_null_cuCtxGetCacheConfig(int *config)
{
    int r = td_null_due_ctx(NULL_cuCtxGetCacheConfig);

    return r ? r : td_hostsettings_config(&settings, TD_CONFIG_CACHE, false, config);
}

int
td_null_cuCtxSetCacheConfig(int config)
{
    int r = td_null_due_ctx(NULL_cuCtxSetCacheConfig);

    return r ? r : td_hostsettings_config(&settings, TD_CONFIG_CACHE, true, &config);
}

int
td_null_cuCtxGetSharedMemConfig(int *config)
{
    int r = td_null_due_ctx(NULL_cuCtxGetSharedMemConfig);

    return r ? r : td_hostsettings_config(&settings, TD_CONFIG_SHARED, false, config);
}

int
td_null_cuCtxSetSharedMemConfig(int config)
{
    int r = td_null_due_ctx(NULL_cuCtxSetSharedMemConfig);

    return r ? r : td_hostsettings_config(&settings, TD_CONFIG_SHARED, true, &config);
}

int
td_null_cuFuncSetCacheConfig(cu_func func, int config)
{
    int r = td_null_due_ctx(NULL_cuFuncSetCacheConfig);

    return r || (func && config >= 0 && config <= 3) ? r : CU_INVALID_VALUE;
}

int
td_null_cuFuncSetSharedMemConfig(cu_func func, int config)
{
    int r = td_null_due_ctx(NULL_cuFuncSetSharedMemConfig);

    return r || (func && config >= 0 && config <= 2) ? r : CU_INVALID_VALUE;
}

/* ---- one device, with nobody beside it ---- */

static atomic_bool allowed[TD_NULL_MAX]
                          /* does the first device's context have access to the second's
                           * memory? */
                          [TD_NULL_MAX];

/* Allows or forbids access from the current context to the peer's memory. */
static int
allow(cu_ctx peer, bool yes)
{
    enum { NOT_ENABLED = 705 };
    int from = td_null_device(), to = td_null_device_of(peer);

    if (from < 0 || to < 0 || from == to)
        return CU_INVALID_DEVICE;
    if (atomic_exchange(&allowed[from][to], yes) == yes)
        return yes ? CU_PEER_ALREADY : NOT_ENABLED;
    return 0;
}

int
td_null_cuDeviceCanAccessPeer(int *can, int device, int peer)
{
    *can = device != peer;
    return td_null_due(NULL_cuDeviceCanAccessPeer);
}

int
td_null_cuCtxEnablePeerAccess(cu_ctx peer, unsigned flags)
{
    int r = td_null_due_ctx(NULL_cuCtxEnablePeerAccess);

    (void)flags;
    return r ? r : allow(peer, true);
}

int
td_null_cuCtxDisablePeerAccess(cu_ctx peer)
{
    int r = td_null_due_ctx(NULL_cuCtxDisablePeerAccess);

    return r ? r : allow(peer, false);
}

int
td_null_cuDeviceGetPCIBusId(char *id, int n, int device)
{
    (void)device;
    snprintf(id, (size_t)n, "0000:00:00.0");
    return td_null_due(NULL_cuDeviceGetPCIBusId);
}

/* ---- streams and events ---- */

int
td_null_cuStreamCreateWithPriority(cu_stream *stream, unsigned flags, int priority)
{
    int r = td_null_due_ctx(NULL_cuStreamCreateWithPriority);

    (void)priority; /* a priority out of range is clamped */
    return r ? r : td_null_cuStreamCreate(stream, flags);
}

int
td_null_cuStreamQuery(cu_stream stream)
{
    int r = td_null_due_ctx(NULL_cuStreamQuery);

    r = r ? r : td_null_stream_ok(stream);
    return r || td_null_idle(stream) ? r : CU_NOT_READY;
}

int
td_null_cuCtxGetStreamPriorityRange(int *least, int *greatest)
{
    *least = 0;
    *greatest = -5;
    return td_null_due_ctx(NULL_cuCtxGetStreamPriorityRange);
}

int
td_null_cuIpcGetEventHandle(cu_ipcmem *handle, cu_event event)
{
    int r = td_null_due_ctx(NULL_cuIpcGetEventHandle);

    memset(handle, 0, sizeof *handle);
    memcpy(handle, &event, sizeof event);
    return r || td_null_object_is(event, NULL_EVENT) ? r : CU_INVALID_HANDLE;
}

/* No other process has this driver's events. */
int
td_null_cuIpcOpenEventHandle(cu_event *event, cu_ipcmem handle)
{
    int r = td_null_due_ctx(NULL_cuIpcOpenEventHandle);

    (void)handle;
    *event = NULL;
    return r ? r : CU_INVALID_CONTEXT;
}
