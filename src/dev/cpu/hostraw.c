/* hostraw.c - raw.h on the host: the CPU's table, and functions that the host-played driver uses
 * too.
 */
#include "base/limits.h"
#include "dev/core/rawops.h"
#include "dev/cpu/cpucode.h"
#include "dev/foreign/driver.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- copies and fills ---- */

void
td_hostbrick_run(const td_hostbrick *b)
{
    for (size_t z = 0; z < b->depth; z++)
        for (size_t y = 0; y < b->height; y++)
            memmove(b->dst + z * b->dst_slice + y * b->dst_pitch,
                    b->src + z * b->src_slice + y * b->src_pitch, b->width);
}

static void
fill_row(char *at, int size, uint32_t value, size_t n)
{
    switch (size) {
    case 1: memset(at, (int)(value & 0xff), n); break;
    case 2:
        for (size_t i = 0; i < n; i++)
            ((uint16_t *)at)[i] = (uint16_t)value;
        break;
    default:
        for (size_t i = 0; i < n; i++)
            ((uint32_t *)at)[i] = value;
        break;
    }
}

void
td_hostfill(char *dst, size_t pitch, int size, uint32_t value, size_t width, size_t height)
{
    for (size_t y = 0; y < height; y++)
        fill_row(dst + y * pitch, size, value, width);
}

static td_status
hostraw_fill(td_stream *s, uintptr_t dst, size_t pitch, int size, uint32_t value, size_t width,
             size_t height)
{
    (void)s;
    td_hostfill((char *)dst, pitch, size, value, width,
                height); // NOLINT(performance-no-int-to-ptr)
    return TD_OK;
}

/* A side's first byte, and its strides. */
static char *
side_begin(const td_side *p, size_t *pitch, size_t *slice)
{
    bool array = p->place == TD_PLACE_ARRAY;

    *pitch = array ? p->array->pitch : p->pitch;
    *slice = array ? p->array->slice : p->pitch * p->height;
    return (char *)(array ? p->array->at : p->at) + p->x + p->y * *pitch + // NOLINT
           p->z * *slice;
}

static td_status
hostraw_copy(td_stream *s, const td_brick *b)
{
    td_hostbrick h = {.width = b->width, .height = b->height, .depth = b->depth};

    (void)s;
    h.dst = side_begin(&b->dst, &h.dst_pitch, &h.dst_slice);
    h.src = side_begin(&b->src, &h.src_pitch, &h.src_slice);
    td_hostbrick_run(&h);
    return TD_OK;
}

/* Does ptr lie in a module's variable, or are all its pages mapped?  Pages that the system
 * does not know cannot be memory. */
static bool
host_holds(td_dev *d, uintptr_t ptr, size_t nbytes)
{
    enum { PAGES = 4096 };
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uintptr_t at = ptr / page * page, end = ptr + nbytes;
    size_t before, variable = td_culib_find(ptr, &before);
    unsigned char there[PAGES];

    (void)d;
    if (variable || end < ptr)
        return variable >= nbytes;
    for (; at < end || at == ptr / page * page; at += PAGES * page) {
        size_t n = end > at ? end - at : 1;

        if (mincore((void *)at, n < PAGES * page ? n : PAGES * page, there)) // NOLINT
            return false;
        if (end <= at)
            break;
    }
    return true;
}

/* ---- arrays and textures ---- */

/* Fills in at, pitch and slice. */
static td_status
hostarray_new(td_texarray *a)
{
    const td_texdesc *t = &a->desc;
    size_t rows = t->height ? t->height : 1, layers = t->depth ? t->depth : 1;
    void *at;

    a->pitch = t->width * td_tex_item(t->format, t->channels);
    a->slice = a->pitch * rows;
    at = a->slice > td_limit_memory() / layers
             ? NULL
             /* too large to exist, though the system would promise it */
             : td_host_alloc(a->slice * layers);
    a->at = (uintptr_t)at;
    a->handle = at;
    return at ? TD_OK : td_fail(TD_ERR_OOM, "%zu bytes of host memory", a->slice * layers);
}

static void
hostarray_free(td_texarray *a)
{
    td_host_free((void *)a->at, a->slice * (a->desc.depth ? a->desc.depth : 1)); // NOLINT
}

static char
format_kind(int format)
{
    return format == TD_TEX_F16 || format == TD_TEX_F32 ? 'f' : format >= TD_TEX_I8 ? 'i' : 'u';
}

td_status
td_hosttexture_new(const td_texview *v, td_cu_texture **out)
{
    const td_texdesc *t = v->array ? &v->array->desc : &v->desc;
    td_cu_texture *x = calloc(1, sizeof *x);

    if (!x)
        return td_fail(TD_ERR_NOMEM, "no host memory for a texture");
    *x = (td_cu_texture){
        .data = (void *)(v->array ? v->array->at : v->at), // NOLINT(performance-no-int-to-ptr)
        .extent = {(uint32_t)t->width, (uint32_t)t->height, (uint32_t)t->depth},
        .layered = (t->flags & TD_TEX_LAYERED) != 0,
        .pitch = v->array ? v->array->pitch : v->pitch,
        .slice = v->array ? v->array->slice : 0,
        .channels = (uint8_t)t->channels,
        .kind = format_kind(t->format),
        .size = (uint8_t)td_tex_item(t->format, 1),
        .linear = v->filter == 1,
        .normalized = (v->flags & TD_TEX_NORMALIZED) != 0,
        .as_float = !(v->flags & TD_TEX_INTEGER),
    };
    for (int i = 0; i < 3; i++)
        x->address[i] = (uint8_t)v->address[i];
    *out = x;
    return TD_OK;
}

static td_status
host_texture_new(td_dev *d, const td_texview *v, bool surface, uint64_t *out)
{
    td_cu_texture *x;

    (void)d, (void)surface;
    TD_TRY(td_hosttexture_new(v, &x));
    *out = (uintptr_t)x;
    return TD_OK;
}

static td_status
texture_free(td_dev *d, uint64_t handle, bool surface)
{
    (void)d, (void)surface;
    free((void *)(uintptr_t)handle); // NOLINT(performance-no-int-to-ptr)
    return TD_OK;
}

/* ---- settings ---- */

int
td_hostsettings_limit(td_hostsettings *h, int limit, bool set, size_t *value)
{
    if (limit < 0 || limit >= TD_LIMITS)
        return CU_INVALID_VALUE;
    if (set)
        atomic_store(&h->limit[limit], *value);
    else
        *value = atomic_load(&h->limit[limit]);
    return 0;
}

int
td_hostsettings_config(td_hostsettings *h, int which, bool set, int *value)
{
    if (set && (*value < 0 || *value > (which == TD_CONFIG_CACHE ? 3 : 2)))
        return CU_INVALID_VALUE;
    if (set)
        atomic_store(&h->config[which], *value);
    else
        *value = atomic_load(&h->config[which]);
    return 0;
}

static td_hostsettings settings = TD_HOSTSETTINGS;

static td_status
hostraw_status(int code, const char *call)
{
    return code ? td_raw_refuse(code, call, "there is no such limit, or it cannot be that") : TD_OK;
}

static td_status
host_limit(td_dev *d, int number, bool set, size_t *value)
{
    (void)d;
    return hostraw_status(td_hostsettings_limit(&settings, number, set, value), "cuCtxSetLimit");
}

static td_status
host_config(td_dev *d, int which, bool set, int *value)
{
    (void)d;
    return hostraw_status(td_hostsettings_config(&settings, which, set, value),
                          "cuCtxSetCacheConfig");
}

const td_rawops td_cpu_raw = {
    .holds = host_holds,
    .fill = hostraw_fill,
    .copy = hostraw_copy,
    .array_new = hostarray_new,
    .array_free = hostarray_free,
    .texture_new = host_texture_new,
    .texture_free = texture_free,
    .limit = host_limit,
    .config = host_config,
};
