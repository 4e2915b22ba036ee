/* raw.c - the driver's interface on any device: looks ranges up, checks sizes, then calls the
 * device's table.
 */
#include "dev/core/rawops.h"
#include "dev/foreign/driver.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- refusals ---- */

static const struct name {
    int code;
    const char *name;
} names[] = {
    {CU_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE"},
    {CU_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY"},
    {CU_INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE"},
    {CU_INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT"},
    {CU_INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE"},
    {CU_NOT_SUPPORTED, "CUDA_ERROR_NOT_SUPPORTED"},
};

td_status
td_raw_refuse(int code, const char *call, const char *why)
{
    const char *name = "CUDA_ERROR_UNKNOWN";

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].code == code)
            name = names[i].name;
    return td_fail_code(TD_ERR_DEVICE, code, "%s failed: %s: %s", call, name, why);
}

td_status
td_raw_said(td_status st, const char *fmt, ...)
{
    char text[256];
    va_list ap;

    if (!st)
        return TD_OK;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    return td_fail(st, "%s failed: %s", text, td_error());
}

static td_status
no_such(const td_dev *d, const char *call)
{
    char why[64];

    snprintf(why, sizeof why, "%s has no such thing", d->info.name);
    return td_raw_refuse(CU_NOT_SUPPORTED, call, why);
}

/* ---- addresses ---- */

/* A GPU allocates memory that other processes can open, which costs nothing there. */
td_status
td_raw_new(td_dev *d, size_t nbytes, td_buf **out)
{
    td_status st;

    if (!nbytes)
        return td_raw_refuse(CU_INVALID_VALUE, "cuMemAlloc(0)",
                             "an allocation has at least one byte");
    if (atomic_load(
            /* work on other streams does not wait for the default stream, which the pool's
             * memory is ordered by */
            &d->apart))
        TD_TRY(td_stream_sync(&d->def));
    st = d->ops->share_new == td_pool_plain ? td_pool_plain(d, nbytes, out)
                                            : td_buf_new(d, NULL, nbytes, out);
    TD_TRY(td_raw_said(st, "cuMemAlloc(%zu)", nbytes));
    atomic_fetch_or(&(*out)->flags, TD_BUF_SHARED);
    return TD_OK;
}

td_status
td_raw_check(td_dev *d, uintptr_t ptr, size_t nbytes, const char *call)
{
    size_t have = 0;
    char why[160];

    if (nbytes <= (size_t)PTRDIFF_MAX) {
        switch (td_pool_find(d, ptr, &have, NULL)) {
        case TD_FOUND_LIVE:
            if (nbytes <= have)
                return TD_OK;
            break;
        case TD_FOUND_FREE: break;
        case TD_FOUND_NOT:
            have = td_module_extent(ptr);
            if (have ? nbytes <= have : ptr && d->ops->raw->holds(d, ptr, nbytes))
                return TD_OK;
            break;
        }
    }
    if (have)
        snprintf(why, sizeof why, "%zu bytes at %#" PRIxPTR ", whose allocation ends after %zu",
                 nbytes, ptr, have);
    else
        snprintf(why, sizeof why, "%zu bytes at %#" PRIxPTR ", which %s", nbytes, ptr,
                 ptr ? "no live allocation has" : "is no address");
    return td_raw_refuse(CU_INVALID_VALUE, call, why);
}

/* ---- fills and copies ---- */

size_t
td_brick_span(size_t pitch, size_t slice, size_t width, size_t height, size_t depth)
{
    size_t rows, layers, n;

    if (!width || !height || !depth)
        return 0;
    if (__builtin_mul_overflow(height - 1, pitch, &rows) ||
        __builtin_mul_overflow(depth - 1, slice, &layers) ||
        __builtin_add_overflow(rows, layers, &n) || __builtin_add_overflow(n, width, &n))
        return SIZE_MAX;
    return n;
}

td_status
td_raw_fill(td_stream *s, uintptr_t dst, size_t pitch, int size, uint32_t value, size_t width,
            size_t height)
{
    size_t row, span;
    char call[128];

    snprintf(call, sizeof call, "%s%d(%#" PRIxPTR ", %" PRIu32 ", %zu x %zu)",
             height == 1 ? "cuMemsetD" : "cuMemsetD2D", 8 * size, dst, value, width, height);
    if (__builtin_mul_overflow(width, (size_t)size, &row) || (height > 1 && pitch < row))
        return td_raw_refuse(CU_INVALID_VALUE, call, "rows are longer than the pitch");
    if (dst % (size_t)size || (height > 1 && pitch % (size_t)size))
        return td_raw_refuse(CU_INVALID_VALUE, call,
                             "address or pitch is not aligned to the element");
    span = td_brick_span(pitch, 0, row, height, 1);
    if (!span)
        return TD_OK;
    TD_TRY(td_raw_check(s->dev, dst, span, call));
    return td_raw_said(s->dev->ops->raw->fill(s, dst, pitch, size, value, width, height), "%s",
                       call);
}

static size_t
extent_of(const td_texarray *a, int axis)
{
    size_t n = axis == 1 ? a->desc.height : a->desc.depth;

    return n ? n : 1;
}

/* Fills in pitch and height of one side of a copy.  Fails if the side reaches beyond its
 * memory. */
static td_status
check_side(td_dev *d, td_side *p, const td_brick *b, const char *call)
{
    size_t slice, span, first = 0, rows;

    if (p->place == TD_PLACE_NONE)
        return td_raw_refuse(CU_INVALID_VALUE, call, "the source or the destination was not set");
    if (p->place == TD_PLACE_ARRAY) {
        const td_texdesc *t = &p->array->desc;
        size_t row = t->width * td_tex_item(t->format, t->channels);

        if (p->array->dev != d)
            return td_raw_refuse(CU_INVALID_VALUE, call, "the array belongs to another device");
        if (p->x > row || b->width > row - p->x || p->y > extent_of(p->array, 1) ||
            b->height > extent_of(p->array, 1) - p->y || p->z > extent_of(p->array, 2) ||
            b->depth > extent_of(p->array, 2) - p->z)
            return td_raw_refuse(CU_INVALID_VALUE, call, "the block reaches beyond the array");
        return TD_OK;
    }
    p->pitch = p->pitch ? p->pitch : p->x + b->width;
    p->height = p->height ? p->height : p->y + b->height;
    if (p->pitch < p->x + b->width && (b->height > 1 || b->depth > 1))
        return td_raw_refuse(CU_INVALID_VALUE, call, "a row is longer than the pitch");
    if (b->depth > 1 && p->height < p->y + b->height)
        return td_raw_refuse(CU_INVALID_VALUE, call, "a layer has more rows than the height");
    if (__builtin_mul_overflow(p->pitch, p->height, &slice) ||
        __builtin_mul_overflow(p->z, slice, &first) ||
        __builtin_mul_overflow(p->y, p->pitch, &rows) ||
        __builtin_add_overflow(first, rows, &first) || __builtin_add_overflow(first, p->x, &first))
        first = SIZE_MAX;
    span = td_brick_span(p->pitch, slice, b->width, b->height, b->depth);
    if (first == SIZE_MAX || span == SIZE_MAX || __builtin_add_overflow(first, span, &span))
        return td_raw_refuse(CU_INVALID_VALUE, call, "the block is larger than memory can be");
    if (p->place == TD_PLACE_DEVICE)
        return td_raw_check(d, p->at, span, call);
    return span <= p->extent
               ? TD_OK
               : td_raw_refuse(CU_INVALID_VALUE, call, "the block reaches beyond the host's array");
}

td_status
td_raw_copy(td_stream *s, const td_brick *b, bool wait)
{
    static const char *const places[] = {"?", "host", "device", "array"};
    td_brick c = *b;
    char call[160];
    td_status st;

    snprintf(call, sizeof call, "cuMemcpy3D(%s to %s, %zu bytes x %zu rows x %zu layers)",
             places[b->src.place], places[b->dst.place], b->width, b->height, b->depth);
    TD_TRY(check_side(s->dev, &c.dst, b, call));
    TD_TRY(check_side(s->dev, &c.src, b, call));
    if (!b->width || !b->height || !b->depth)
        return TD_OK;
    st = s->dev->ops->raw->copy(s, &c);
    if (!st && wait)
        st = td_stream_sync(s);
    return td_raw_said(st, "%s", call);
}

td_status
td_raw_peer(td_stream *s, td_dev *dst_dev, uintptr_t dst, td_dev *src_dev, uintptr_t src,
            size_t nbytes)
{
    char call[160];

    snprintf(call, sizeof call, "cuMemcpyPeer(%#" PRIxPTR " on %s, %#" PRIxPTR " on %s, %zu bytes)",
             dst, dst_dev->info.name, src, src_dev->info.name, nbytes);
    TD_TRY(td_raw_check(dst_dev, dst, nbytes, call));
    TD_TRY(td_raw_check(src_dev, src, nbytes, call));
    if (!nbytes)
        return TD_OK;
    if (dst_dev == src_dev)
        return td_raw_said(td_copy(s, dst, src, nbytes), "%s", call);
    if (dst_dev->ops->raw != src_dev->ops->raw || dst_dev->info.kind != src_dev->info.kind ||
        !dst_dev->ops->raw->peer)
        return td_raw_refuse(CU_NOT_SUPPORTED, call, "no driver has both devices");
    return td_raw_said(dst_dev->ops->raw->peer(s, dst_dev, dst, src_dev, src, nbytes), "%s", call);
}

/* ---- arrays and textures ---- */

size_t
td_tex_item(int format, int channels)
{
    size_t size = 0;

    switch (format) {
    case TD_TEX_U8:
    case TD_TEX_I8:  size = 1; break;
    case TD_TEX_U16:
    case TD_TEX_I16:
    case TD_TEX_F16: size = 2; break;
    case TD_TEX_U32:
    case TD_TEX_I32:
    case TD_TEX_F32: size = 4; break;
    default:         break;
    }
    return channels == 1 || channels == 2 || channels == 4 ? size * (size_t)channels : 0;
}

/* Checks an array's description and fails with the reason if there can be no such array. */
static td_status
check_desc(const td_texdesc *t, const char *call)
{
    size_t n = td_tex_item(t->format, t->channels), h = t->height ? t->height : 1,
           z = t->depth ? t->depth : 1;

    if (!n)
        return td_raw_refuse(CU_INVALID_VALUE, call,
                             "there is no such format, or not 1, 2 or 4 "
                             "channels");
    if (!t->width || __builtin_mul_overflow(n, t->width, &n) || __builtin_mul_overflow(n, h, &n) ||
        __builtin_mul_overflow(n, z, &n) || n > (size_t)PTRDIFF_MAX)
        return td_raw_refuse(CU_INVALID_VALUE, call, "an array has a width, and fits into memory");
    return TD_OK;
}

static void
desc_text(const td_texdesc *t, const char *call, char *out, size_t n)
{
    snprintf(out, n, "%s(%zu x %zu x %zu, format %#x, %d channels, flags %#x)", call, t->width,
             t->height, t->depth, (unsigned)t->format, t->channels, t->flags);
}

td_status
td_texarray_new(td_dev *d, const td_texdesc *t, td_texarray **out)
{
    td_texarray *a;
    char call[160];
    td_status st;

    desc_text(t, "cuArray3DCreate", call, sizeof call);
    TD_TRY(check_desc(t, call));
    if (t->flags & TD_TEX_CUBE)
        return td_raw_refuse(CU_NOT_SUPPORTED, call, "cube maps");
    a = calloc(1, sizeof *a);
    if (!a)
        return td_fail(TD_ERR_NOMEM, "%s: no host memory for its record", call);
    atomic_init(&a->refs, 1);
    a->dev = d;
    a->desc = *t;
    st = d->ops->raw->array_new(a);
    if (st) {
        free(a);
        return td_raw_said(st, "%s", call);
    }
    *out = a;
    return TD_OK;
}

td_texarray *
td_texarray_ref(td_texarray *a)
{
    atomic_fetch_add_explicit(&a->refs, 1, memory_order_relaxed);
    return a;
}

void
td_texarray_unref(td_texarray *a)
{
    if (!a || atomic_fetch_sub_explicit(&a->refs, 1, memory_order_acq_rel) != 1)
        return;
    a->dev->ops->raw->array_free(a);
    free(a);
}

td_status
td_texture_new(td_dev *d, const td_texview *v, bool surface, uint64_t *out)
{
    const td_texdesc *t = v->array ? &v->array->desc : &v->desc;
    char call[160];

    desc_text(t, surface ? "cuSurfObjectCreate" : "cuTexObjectCreate", call, sizeof call);
    TD_TRY(check_desc(t, call));
    if (surface && (!v->array || !(t->flags & TD_TEX_SURFACE)))
        return td_raw_refuse(CU_INVALID_VALUE, call,
                             "a surface shows an array that was made with SURFACE_LDST");
    if (!v->array)
        TD_TRY(
            td_raw_check(d, v->at,
                         td_brick_span(v->pitch, 0, t->width * td_tex_item(t->format, t->channels),
                                       t->height ? t->height : 1, 1),
                         call));
    return td_raw_said(d->ops->raw->texture_new(d, v, surface, out), "%s", call);
}

td_status
td_texture_free(td_dev *d, uint64_t handle, bool surface)
{
    return handle ? d->ops->raw->texture_free(d, handle, surface) : TD_OK;
}

/* ---- streams and events ---- */

static td_status
raw_no_memory(const td_dev *d, const char *what)
{
    return td_fail(TD_ERR_NOMEM, "%s: no host memory for %s", d->info.name, what);
}

td_status
td_stream_make(td_dev *d, bool apart, int priority, td_stream **out)
{
    td_stream *s;
    td_status st;

    if (!d->ops->raw->stream_new)
        return td_stream_new(d, out);
    s = calloc(1, sizeof *s);
    if (!s)
        return raw_no_memory(d, "a stream");
    s->dev = d;
    s->apart = apart;
    if (apart)
        atomic_store(&d->apart, true);
    st = d->ops->raw->stream_new(s, priority);
    if (st) {
        free(s);
        return st;
    }
    td_pool_stream(s);
    *out = s;
    return TD_OK;
}

td_status
td_stream_done(td_stream *s, bool *out)
{
    *out = true;
    return s->dev->ops->raw->stream_done ? s->dev->ops->raw->stream_done(s, out) : TD_OK;
}

td_status
td_stream_priorities(td_dev *d, int *least, int *greatest)
{
    *least = *greatest = 0;
    return d->ops->raw->priorities ? d->ops->raw->priorities(d, least, greatest) : TD_OK;
}

td_status
td_event_make(td_dev *d, unsigned flags, td_event **out)
{
    bool timing = !(flags & TD_EVENT_NO_TIMING);
    td_event *e;
    td_status st;

    if (flags & ~(unsigned)(TD_EVENT_BLOCKING | TD_EVENT_NO_TIMING | TD_EVENT_SHARED) ||
        (flags & TD_EVENT_SHARED && timing))
        return td_raw_refuse(CU_INVALID_VALUE, "cuEventCreate",
                             "flags are BLOCKING_SYNC, DISABLE_TIMING and INTERPROCESS, the last "
                             "only beside DISABLE_TIMING");
    if (!d->ops->raw->event_new)
        return td_event_new(d, timing, out);
    e = calloc(1, sizeof *e);
    if (!e)
        return raw_no_memory(d, "an event");
    e->dev = d;
    e->timing = timing;
    st = d->ops->raw->event_new(e, flags);
    if (st)
        free(e);
    else
        *out = e;
    return st;
}

td_status
td_event_send(td_event *e, unsigned char out[64])
{
    return e->dev->ops->raw->event_send ? e->dev->ops->raw->event_send(e, out)
                                        : no_such(e->dev, "cuIpcGetEventHandle");
}

td_status
td_event_receive(td_dev *d, const unsigned char in[64], td_event **out)
{
    td_event *e;
    td_status st;

    if (!d->ops->raw->event_receive)
        return no_such(d, "cuIpcOpenEventHandle");
    e = calloc(1, sizeof *e);
    if (!e)
        return raw_no_memory(d, "an event");
    e->dev = d;
    st = d->ops->raw->event_receive(e, in);
    if (st)
        free(e);
    else
        *out = e;
    return st;
}

/* ---- settings and facts ---- */

td_status
td_dev_limit(td_dev *d, int limit, bool set, size_t *value)
{
    return td_raw_said(d->ops->raw->limit(d, limit, set, value), "%s(%d)",
                       set ? "cuCtxSetLimit" : "cuCtxGetLimit", limit);
}

td_status
td_dev_config(td_dev *d, int which, bool set, int *value)
{
    return td_raw_said(d->ops->raw->config(d, which, set, value), "cuCtx%s%sConfig(%d)",
                       set ? "Set" : "Get", which == TD_CONFIG_CACHE ? "Cache" : "SharedMem",
                       set ? *value : 0);
}

td_status
td_func_set(td_func *f, int attribute, int value)
{
    return f->dev->ops->raw->func_set
               ? td_raw_said(f->dev->ops->raw->func_set(f, attribute, value),
                             "cuFuncSetAttribute(%s, %d, %d)", f->name, attribute, value)
               : TD_OK;
}

td_status
td_func_config(td_func *f, int which, int value)
{
    return f->dev->ops->raw->func_config
               ? td_raw_said(f->dev->ops->raw->func_config(f, which, value),
                             "cuFuncSet%sConfig(%s, %d)",
                             which == TD_CONFIG_CACHE ? "Cache" : "SharedMem", f->name, value)
               : TD_OK;
}

td_status
td_dev_peer(td_dev *d, td_dev *peer, td_peerdo what, bool *can)
{
    bool drivers = d->info.kind == peer->info.kind && d->ops->raw->peer_do && d != peer;

    *can = false;
    if (drivers)
        return td_raw_said(d->ops->raw->peer_do(d, peer, what, can), "peer access of %s to %s",
                           d->info.name, peer->info.name);
    return what == TD_PEER_CAN ? TD_OK
                               : td_raw_refuse(CU_INVALID_DEVICE, "cuCtxEnablePeerAccess",
                                               "the devices are not two of one driver's");
}

td_status
td_dev_bus(td_dev *d, char *out, size_t n)
{
    return d->ops->raw->bus ? d->ops->raw->bus(d, out, n) : TD_SKIP;
}

td_status
td_dev_driver_version(int *out)
{
    const char *why;
    const td_driver *v = td_driver_open(&why);

    *out = 0;
    return v && v->cuDriverGetVersion(out) ? td_fail(TD_ERR_DEVICE, "cuDriverGetVersion failed")
                                           : TD_OK;
}

td_status
td_host_attach(td_stream *s, uintptr_t ptr, unsigned flags)
{
    return s->dev->ops->raw->attach
               ? td_raw_said(s->dev->ops->raw->attach(s, ptr, flags),
                             "cuStreamAttachMemAsync(%#" PRIxPTR ", %#x)", ptr, flags)
               : TD_OK;
}
