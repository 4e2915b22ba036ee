/* cudaraw.c - raw.h on an NVIDIA device: the driver's calls with its structures. */
#include "dev/core/rawops.h"
#include "dev/cuda/cuda.h"

#include <string.h>

/* Between begin and end, like CU_CALL, for calls that an old driver may lack. */
#define MAY_CALL(c, call, ...)                                                                     \
    ((c)->drv->call ? CU_CALL(c, call, __VA_ARGS__)                                                \
                    : td_raw_refuse(CU_NOT_SUPPORTED, #call, "this driver has no such call"))

static cu_stream
handle_of(const td_stream *s)
{
    return s->handle;
}

/* ---- memory ---- */

/* Does the driver know the memory?  If it does not tell the extent, it may know both ends. */
static bool
cuda_holds(td_dev *d, uintptr_t ptr, size_t nbytes)
{
    td_cuda *c = td_cuda_of(d);
    cu_ptr start = 0;
    size_t size = 0;
    bool pushed, ok;
    int type;

    if (td_cuda_enter(c, &pushed))
        return false;
    ok = c->drv->cuPointerGetAttribute(&start, CU_POINTER_RANGE_START, ptr) == 0 &&
         c->drv->cuPointerGetAttribute(&size, CU_POINTER_RANGE_SIZE, ptr) == 0 && size;
    if (ok)
        ok = ptr - start < size && nbytes <= size - (ptr - start);
    else
        ok = c->drv->cuPointerGetAttribute(&type, CU_POINTER_MEMORY_TYPE, ptr) == 0 &&
             c->drv->cuPointerGetAttribute(&type, CU_POINTER_MEMORY_TYPE,
                                           ptr + nbytes - (nbytes > 0)) == 0;
    td_cuda_leave(c, pushed);
    return ok;
}

static td_status
cudaraw_fill(td_stream *s, uintptr_t dst, size_t pitch, int size, uint32_t value, size_t width,
             size_t height)
{
    td_cuda *c = td_cuda_of(s->dev);
    cu_stream h = handle_of(s);

    if (height == 1)
        switch (size) {
        case 1:  return CU_CALL(c, cuMemsetD8Async, dst, (unsigned char)value, width, h);
        case 2:  return CU_CALL(c, cuMemsetD16Async, dst, (unsigned short)value, width, h);
        default: return CU_CALL(c, cuMemsetD32Async, dst, value, width, h);
        }
    switch (size) {
    case 1:
        return CU_CALL(c, cuMemsetD2D8Async, dst, pitch, (unsigned char)value, width, height, h);
    case 2:
        return CU_CALL(c, cuMemsetD2D16Async, dst, pitch, (unsigned short)value, width, height, h);
    default: return CU_CALL(c, cuMemsetD2D32Async, dst, pitch, value, width, height, h);
    }
}

static cu_side
side_of(const td_side *p)
{
    cu_side r = {.x = p->x, .y = p->y, .z = p->z, .pitch = p->pitch, .height = p->height};

    switch (p->place) {
    case TD_PLACE_HOST:
        r.type = CU_MEMORY_HOST;
        r.host = (const void *)p->at; // NOLINT(performance-no-int-to-ptr)
        break;
    case TD_PLACE_DEVICE:
        r.type = CU_MEMORY_DEVICE;
        r.dev = p->at;
        break;
    case TD_PLACE_ARRAY:
    case TD_PLACE_NONE:
        r.type = CU_MEMORY_ARRAY;
        r.array = p->array->handle;
        r.pitch = r.height = 0;
        break;
    }
    return r;
}

static td_status
cudaraw_copy(td_stream *s, const td_brick *b)
{
    td_cuda *c = td_cuda_of(s->dev);
    cu_copy3 d = {.src = side_of(&b->src),
                  .dst = side_of(&b->dst),
                  .width = b->width,
                  .height = b->height,
                  .depth = b->depth};

    return CU_CALL(c, cuMemcpy3DAsync, &d, handle_of(s));
}

static td_status
peer(td_stream *s, td_dev *dst_dev, uintptr_t dst, td_dev *src_dev, uintptr_t src, size_t nbytes)
{
    td_cuda *c = td_cuda_of(s->dev);

    TD_TRY(td_cuda_let_in(td_cuda_of(dst_dev), td_cuda_of(src_dev)));
    TD_TRY(td_cuda_let_in(td_cuda_of(src_dev), td_cuda_of(dst_dev)));
    return CU_CALL(c, cuMemcpyPeerAsync, dst, td_cuda_of(dst_dev)->ctx, src,
                   td_cuda_of(src_dev)->ctx, nbytes, handle_of(s));
}

static td_status
attach(td_stream *s, uintptr_t ptr, unsigned flags)
{
    td_cuda *c = td_cuda_of(s->dev);

    return CU_CALL(c, cuStreamAttachMemAsync, handle_of(s), ptr, 0, flags);
}

/* ---- arrays and textures ---- */

static td_status
array_new(td_texarray *a)
{
    td_cuda *c = td_cuda_of(a->dev);
    cu_arraydesc d = {.width = a->desc.width,
                      .height = a->desc.height,
                      .depth = a->desc.depth,
                      .format = a->desc.format,
                      .channels = (unsigned)a->desc.channels,
                      .flags = a->desc.flags};
    cu_array h = NULL;
    td_status st = CU_CALL(c, cuArray3DCreate, &h, &d);

    a->handle = h;
    return st;
}

/* Waits first: kernels may be reading it. */
static void
array_free(td_texarray *a)
{
    td_cuda *c = td_cuda_of(a->dev);
    bool pushed;

    if (atomic_load(c->forked) || td_cuda_enter(c, &pushed))
        return;
    (void)c->drv->cuCtxSynchronize();
    (void)c->drv->cuArrayDestroy(a->handle);
    td_cuda_leave(c, pushed);
}

static cu_resource
resource_of(const td_texview *v)
{
    cu_resource r = {.type = CU_RESOURCE_ARRAY};

    if (v->array) {
        r.of.array = v->array->handle;
        return r;
    }
    r.of.mem.ptr = v->at;
    r.of.mem.format = v->desc.format;
    r.of.mem.channels = (unsigned)v->desc.channels;
    if (v->desc.height) {
        r.type = CU_RESOURCE_PITCH2D;
        r.of.mem.width = v->desc.width;
        r.of.mem.height = v->desc.height;
        r.of.mem.pitch = v->pitch;
    } else {
        r.type = CU_RESOURCE_LINEAR;
        r.of.mem.width = v->desc.width * td_tex_item(v->desc.format, v->desc.channels);
    }
    return r;
}

static td_status
cuda_texture_new(td_dev *d, const td_texview *v, bool surface, uint64_t *out)
{
    td_cuda *c = td_cuda_of(d);
    cu_resource r = resource_of(v);
    cu_texdesc t = {.filter = v->filter, .flags = v->flags};

    *out = 0;
    memcpy(t.address, v->address, sizeof t.address);
    return surface ? CU_CALL(c, cuSurfObjectCreate, out, &r)
                   : CU_CALL(c, cuTexObjectCreate, out, &r, &t, NULL);
}

static td_status
texture_free(td_dev *d, uint64_t handle, bool surface)
{
    td_cuda *c = td_cuda_of(d);

    if (atomic_load(c->forked))
        return TD_OK;
    return surface ? CU_CALL(c, cuSurfObjectDestroy, handle)
                   : CU_CALL(c, cuTexObjectDestroy, handle);
}

/* ---- streams and events ---- */

static td_status
cudaraw_stream_new(td_stream *s, int priority)
{
    td_cuda *c = td_cuda_of(s->dev);
    cu_stream h = NULL;
    td_status st =
        CU_CALL(c, cuStreamCreateWithPriority, &h, s->apart ? CU_STREAM_NON_BLOCKING : 0, priority);

    s->handle = h;
    return st;
}

static td_status
stream_done(td_stream *s, bool *out)
{
    td_cuda *c = td_cuda_of(s->dev);
    bool pushed;
    int r;

    TD_TRY(td_cuda_enter(c, &pushed));
    r = c->drv->cuStreamQuery(s->handle);
    td_cuda_leave(c, pushed);
    *out = r == 0;
    return r == CU_NOT_READY ? TD_OK : td_cuda_status(c, r, "cuStreamQuery");
}

static td_status
priorities(td_dev *d, int *least, int *greatest)
{
    td_cuda *c = td_cuda_of(d);

    return CU_CALL(c, cuCtxGetStreamPriorityRange, least, greatest);
}

static td_status
cudaraw_event_new(td_event *e, unsigned flags)
{
    td_cuda *c = td_cuda_of(e->dev);
    cu_event h = NULL;
    td_status st = CU_CALL(c, cuEventCreate, &h, flags);

    e->handle = h;
    return st;
}

static td_status
event_send(td_event *e, unsigned char out[64])
{
    td_cuda *c = td_cuda_of(e->dev);
    cu_ipcmem h = {{0}};
    td_status st = MAY_CALL(c, cuIpcGetEventHandle, &h, e->handle);

    memcpy(out, h.bytes, sizeof h.bytes);
    return st;
}

static td_status
event_receive(td_event *e, const unsigned char in[64])
{
    td_cuda *c = td_cuda_of(e->dev);
    cu_event h = NULL;
    cu_ipcmem m;
    td_status st;

    memcpy(m.bytes, in, sizeof m.bytes);
    st = MAY_CALL(c, cuIpcOpenEventHandle, &h, m);
    e->handle = h;
    return st;
}

/* ---- settings and facts ---- */

static td_status
cuda_limit(td_dev *d, int number, bool set, size_t *value)
{
    td_cuda *c = td_cuda_of(d);

    return set ? CU_CALL(c, cuCtxSetLimit, number, *value)
               : CU_CALL(c, cuCtxGetLimit, value, number);
}

static td_status
cuda_config(td_dev *d, int which, bool set, int *value)
{
    td_cuda *c = td_cuda_of(d);

    if (which == TD_CONFIG_CACHE)
        return set ? CU_CALL(c, cuCtxSetCacheConfig, *value)
                   : CU_CALL(c, cuCtxGetCacheConfig, value);
    return set ? MAY_CALL(c, cuCtxSetSharedMemConfig, *value)
               : MAY_CALL(c, cuCtxGetSharedMemConfig, value);
}

static td_status
func_set(td_func *f, int attribute, int value)
{
    td_cuda *c = td_cuda_of(f->dev);

    return CU_CALL(c, cuFuncSetAttribute, f->handle, attribute, value);
}

static td_status
func_config(td_func *f, int which, int value)
{
    td_cuda *c = td_cuda_of(f->dev);

    return which == TD_CONFIG_CACHE ? CU_CALL(c, cuFuncSetCacheConfig, f->handle, value)
                                    : MAY_CALL(c, cuFuncSetSharedMemConfig, f->handle, value);
}

static td_status
peer_do(td_dev *d, td_dev *other, td_peerdo what, bool *can)
{
    td_cuda *c = td_cuda_of(d);
    int yes = 0, dev, to;
    td_status st = TD_OK;

    switch (what) {
    case TD_PEER_CAN:
        TD_TRY(CU_TRY(c, cuDeviceGet, &dev, c->ordinal));
        TD_TRY(CU_TRY(c, cuDeviceGet, &to, td_cuda_of(other)->ordinal));
        st = CU_TRY(c, cuDeviceCanAccessPeer, &yes, dev, to);
        break;
    case TD_PEER_ENABLE:  st = CU_CALL(c, cuCtxEnablePeerAccess, td_cuda_of(other)->ctx, 0); break;
    case TD_PEER_DISABLE: st = CU_CALL(c, cuCtxDisablePeerAccess, td_cuda_of(other)->ctx); break;
    }
    *can = yes;
    return st;
}

static td_status
bus(td_dev *d, char *out, size_t n)
{
    const td_cuda *c = td_cuda_of(d);
    int dev;

    TD_TRY(CU_TRY(c, cuDeviceGet, &dev, c->ordinal));
    return CU_TRY(c, cuDeviceGetPCIBusId, out, (int)n, dev);
}

const td_rawops td_cuda_raw = {
    .holds = cuda_holds,
    .fill = cudaraw_fill,
    .copy = cudaraw_copy,
    .peer = peer,
    .array_new = array_new,
    .array_free = array_free,
    .texture_new = cuda_texture_new,
    .texture_free = texture_free,
    .stream_new = cudaraw_stream_new,
    .stream_done = stream_done,
    .priorities = priorities,
    .event_new = cudaraw_event_new,
    .event_send = event_send,
    .event_receive = event_receive,
    .limit = cuda_limit,
    .config = cuda_config,
    .func_set = func_set,
    .func_config = func_config,
    .peer_do = peer_do,
    .bus = bus,
    .attach = attach,
};
