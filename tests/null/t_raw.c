/* t_raw.c - raw.h on the CPU and over the driver that the host plays: addresses, fills, blocks, arrays, textures.
 *
 * What is refused changes nothing; each driver call is made to fail once, says so, and nothing is lost.
 */
#include "cuhost/abi.h"
#include "dev/core/raw.h"
#include "null/null.h"

#include "check.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { W = 20, H = 6, D = 3, N = W * H * D, INVALID = 1, FAILED = 719 };

static td_dev *dev; /* the one that is tried */

static bool
is_null(void)
{
    return td_dev_info(dev)->kind == TD_DEV_NULL;
}

/* ---- errors ---- */

static void
test_codes(void)
{
    td_fail(TD_ERR_VALUE, "no number");
    CHECK(td_error_code() == 0);
    td_fail_code(TD_ERR_DEVICE, 700, "the first");
    CHECK(td_error_code() == 700);
    td_fail(TD_ERR_DEVICE, "more about %s", td_error());
    CHECK(td_error_code() == 700 && strcmp(td_error(), "more about the first") == 0);
    td_fail(TD_ERR_DEVICE, "another");
    CHECK(td_error_code() == 0);
    CHECK_FAILS(td_raw_refuse(INVALID, "cuX(3)", "it is odd"), TD_ERR_DEVICE,
                "cuX(3) failed: CUDA_ERROR_INVALID_VALUE: it is odd");
    CHECK(td_error_code() == INVALID);
    CHECK_OK(td_raw_said(TD_OK, "never"));
}

static void
test_contexts(void)
{
    td_dev *d, *before;

    CHECK_OK(td_dev_current(&before));
    td_dev_choose(dev);
    CHECK_OK(td_dev_current(&d));
    CHECK(d == dev);
    td_dev_choose(NULL);
    td_dev_leave();
    CHECK_FAILS(td_dev_current(&d), TD_ERR_DEVICE, "no context is current");
    CHECK(td_error_code() == 201);
    CHECK_OK(td_dev_default(&d)); /* arrays do not mind */
    CHECK(d == before);
    td_dev_use(dev);
    CHECK_OK(td_dev_current(&d));
    CHECK(d == dev);
    td_dev_use(NULL);
}

/* ---- memory ---- */

static void
test_addresses(void)
{
    td_buf *a, *b;
    uintptr_t was;

    CHECK_FAILS(td_raw_new(dev, 0, &a), TD_ERR_DEVICE, "cuMemAlloc(0)");
    CHECK_FAILS(td_raw_new(dev, (size_t)1 << 45, &a), TD_ERR_OOM, "cuMemAlloc(35184372088832)");
    CHECK_OK(td_raw_new(dev, 1000, &a));
    CHECK_OK(td_raw_new(dev, (size_t)3 << 20, &b));
    CHECK_OK(td_raw_check(dev, a->ptr, 1000, "f"));
    CHECK_OK(td_raw_check(dev, a->ptr + 999, 1, "f"));
    CHECK_OK(td_raw_check(dev, b->ptr + 5, ((size_t)3 << 20) - 5, "f"));
    CHECK_FAILS(td_raw_check(dev, a->ptr, 1001, "f(1)"), TD_ERR_DEVICE, "f(1) failed");
    CHECK_FAILS(td_raw_check(dev, a->ptr + 1, 1000, "f"), TD_ERR_DEVICE, "ends after 999");
    CHECK_FAILS(td_raw_check(dev, a->ptr, SIZE_MAX, "f"), TD_ERR_DEVICE,
                "CUDA_ERROR_INVALID_VALUE");
    CHECK_FAILS(td_raw_check(dev, 0, 1, "f"), TD_ERR_DEVICE, "no address");
    CHECK_FAILS(td_raw_check(dev, 4242, 1, "f"), TD_ERR_DEVICE, "no live allocation");
    was = a->ptr;
    td_buf_unref(a);
    CHECK_FAILS(td_raw_check(dev, was, 1, "f"), TD_ERR_DEVICE, "no live allocation");
    td_buf_unref(b);
    CHECK_OK(td_mem_trim(dev));
}

/* `expect` of n bytes is what lies at b. */
static int
holds(const td_buf *b, const unsigned char *expect, size_t n)
{
    unsigned char *out = malloc(n);
    int same =
        CHECK_OK(td_copy_out(td_dev_stream(dev), out, b->ptr, n)) && memcmp(out, expect, n) == 0;

    free(out);
    return same;
}

static void
test_fills(void)
{
    td_stream *s = td_dev_stream(dev);
    unsigned char expect[N];
    td_buf *b;

    CHECK_OK(td_raw_new(dev, N, &b));
    memset(expect, 0, N);
    CHECK_OK(td_raw_fill(s, b->ptr, 0, 1, 0, N, 1));
    for (int size = 1; size <= 4; size *= 2) {
        uint32_t value = 0x87654321;
        size_t pitch = 5 * (size_t)size;

        CHECK_OK(td_raw_fill(s, b->ptr + 8, pitch, size, value, 3, 4));
        for (size_t y = 0; y < 4; y++)
            for (size_t x = 0; x < 3; x++)
                memcpy(expect + 8 + y * pitch + x * (size_t)size, &value, (size_t)size);
        CHECK(holds(b, expect, N));
    }
    CHECK_OK(td_raw_fill(s, b->ptr, 0, 4, 1, 0, 1));
    CHECK_FAILS(td_raw_fill(s, b->ptr, 0, 1, 9, N + 1, 1), TD_ERR_DEVICE, "cuMemsetD8(");
    CHECK_FAILS(td_raw_fill(s, b->ptr + 1, 0, 2, 9, 1, 1), TD_ERR_DEVICE, "aligned");
    CHECK_FAILS(td_raw_fill(s, b->ptr, 7, 4, 9, 2, 2), TD_ERR_DEVICE, "pitch");
    CHECK_FAILS(td_raw_fill(s, b->ptr, 6, 4, 9, 1, 2), TD_ERR_DEVICE, "aligned");
    CHECK_FAILS(td_raw_fill(s, b->ptr, SIZE_MAX / 2, 1, 9, 2, 4), TD_ERR_DEVICE, "no");
    CHECK_FAILS(td_raw_fill(s, b->ptr, 0, 4, 9, SIZE_MAX / 2, 1), TD_ERR_DEVICE, "cuMemsetD32(");
    CHECK(holds(b, expect, N));
    td_buf_unref(b);
}

/* ---- blocks ---- */

static td_side
side(td_place place, uintptr_t at, td_texarray *array)
{
    return (td_side){
        .place = place, .at = at, .extent = N, .array = array, .pitch = W, .height = H};
}

/* Copies a block from each kind of place to each, by way of all: what comes back is what went. */
static void
test_blocks(void)
{
    td_texdesc t = {.width = W, .height = H, .depth = D, .format = TD_TEX_U8, .channels = 1};
    td_stream *s = td_dev_stream(dev);
    unsigned char in[N], out[N], expect[N];
    td_texarray *array;
    td_brick b = {.width = 7, .height = 3, .depth = 2};
    td_buf *m;

    for (int i = 0; i < N; i++)
        in[i] = (unsigned char)(i * 31 + i / 256);
    memset(out, 0, N);
    memset(expect, 0, N);
    CHECK_OK(td_raw_new(dev, N, &m));
    CHECK_OK(td_texarray_new(dev, &t, &array));
    CHECK_OK(td_raw_fill(s, m->ptr, 0, 1, 0, N, 1));
    b.src = side(TD_PLACE_HOST, (uintptr_t)in, NULL);
    b.src.x = 5, b.src.y = 2, b.src.z = 1;
    b.dst = side(TD_PLACE_DEVICE, m->ptr, NULL);
    b.dst.x = 1, b.dst.y = 1;
    CHECK_OK(td_raw_copy(s, &b, true));
    b.src = b.dst;
    b.dst = side(TD_PLACE_ARRAY, 0, array);
    b.dst.x = 13, b.dst.y = 3, b.dst.z = 1;
    CHECK_OK(td_raw_copy(s, &b, false));
    b.src = b.dst;
    b.dst = side(TD_PLACE_HOST, (uintptr_t)out, NULL);
    b.dst.x = 2;
    CHECK_OK(td_raw_copy(s, &b, true));
    for (size_t z = 0; z < b.depth; z++)
        for (size_t y = 0; y < b.height; y++)
            memcpy(expect + (z * H + y) * W + 2, in + ((z + 1) * H + y + 2) * W + 5, b.width);
    CHECK(memcmp(out, expect, N) == 0);
    b.dst.y = 4; /* beyond the host's array, in the last layer */
    b.depth = 3;
    CHECK_FAILS(td_raw_copy(s, &b, true), TD_ERR_DEVICE, "cuMemcpy3D(array to host");
    b.depth = 1;
    b.width = 8;
    CHECK_FAILS(td_raw_copy(s, &b, true), TD_ERR_DEVICE, "beyond the array");
    b.src.place = TD_PLACE_NONE;
    CHECK_FAILS(td_raw_copy(s, &b, true), TD_ERR_DEVICE, "not set");
    CHECK(memcmp(out, expect, N) == 0);
    td_texarray_unref(array);
    td_buf_unref(m);
}

/* ---- arrays and textures ---- */

static void
test_textures(void)
{
    td_texdesc t = {.width = 4, .height = 3, .format = TD_TEX_F32, .channels = 2};
    td_texview v = {.address = {0, 1, 3}, .filter = 1, .flags = TD_TEX_NORMALIZED};
    const td_cu_texture *x;
    uint64_t h = 0;
    td_buf *b;

    for (int channels = 0; channels < 6; channels++)
        CHECK(td_tex_item(TD_TEX_F16, channels) ==
              (size_t)(channels == 1 || channels == 2 || channels == 4 ? 2 * channels : 0));
    CHECK(td_tex_item(5, 1) == 0);
    CHECK_OK(td_texarray_new(dev, &t, &v.array));
    CHECK_OK(td_texture_new(dev, &v, false, &h));
    x = (const td_cu_texture *)(uintptr_t)h;
    CHECK(x->extent[0] == 4 && x->extent[1] == 3 && x->extent[2] == 0 && x->channels == 2 &&
          x->kind == 'f' && x->size == 4 && x->linear && x->normalized && x->as_float &&
          x->address[2] == 3 && x->pitch == 32);
    CHECK_FAILS(td_texture_new(dev, &v, true, &h), TD_ERR_DEVICE, "SURFACE_LDST");
    CHECK_OK(td_texture_free(dev, (uintptr_t)x, false));
    td_texarray_unref(v.array);
    t.flags = TD_TEX_SURFACE;
    CHECK_OK(td_texarray_new(dev, &t, &v.array));
    CHECK_OK(td_texture_new(dev, &v, true, &h));
    CHECK_OK(td_texture_free(dev, h, true));
    td_texarray_unref(td_texarray_ref(v.array));
    td_texarray_unref(v.array);
    t.channels = 3;
    CHECK_FAILS(td_texarray_new(dev, &t, &v.array), TD_ERR_DEVICE, "1, 2 or 4 channels");
    t.channels = 1;
    t.flags = TD_TEX_CUBE;
    CHECK_FAILS(td_texarray_new(dev, &t, &v.array), TD_ERR_DEVICE, "CUDA_ERROR_NOT_SUPPORTED");
    CHECK_OK(td_raw_new(dev, 64, &b));
    v = (td_texview){.at = b->ptr, .desc = {.width = 16, .format = TD_TEX_I32, .channels = 1}};
    CHECK_OK(td_texture_new(dev, &v, false, &h));
    CHECK_OK(td_texture_free(dev, h, false));
    v.desc.width = 17;
    CHECK_FAILS(td_texture_new(dev, &v, false, &h), TD_ERR_DEVICE, "cuTexObjectCreate(17");
    td_buf_unref(b);
    CHECK_OK(td_texture_free(dev, 0, false));
}

/* ---- streams, events, settings ---- */

static void
test_streams(void)
{
    unsigned char bytes[64];
    int least, greatest;
    td_event *e, *f;
    td_stream *s;
    bool done;

    CHECK_OK(td_stream_priorities(dev, &least, &greatest));
    CHECK(least >= greatest);
    CHECK_OK(td_stream_make(dev, true, greatest, &s));
    CHECK_OK(td_stream_done(s, &done));
    CHECK(done);
    td_stream_free(s);
    CHECK_FAILS(td_event_make(dev, TD_EVENT_SHARED, &e), TD_ERR_DEVICE, "INTERPROCESS");
    CHECK_FAILS(td_event_make(dev, 8, &e), TD_ERR_DEVICE, "flags are");
    CHECK_OK(td_event_make(dev, TD_EVENT_SHARED | TD_EVENT_NO_TIMING, &e));
    if (is_null())
        CHECK_OK(td_event_send(e, bytes));
    else
        CHECK_FAILS(td_event_send(e, bytes), TD_ERR_DEVICE, "CUDA_ERROR_NOT_SUPPORTED");
    CHECK_FAILS(td_event_receive(dev, bytes, &f), TD_ERR_DEVICE, "cuIpcOpenEventHandle");
    td_event_free(e);
}

static void
test_settings(void)
{
    size_t value = 4096;
    int config = 2;
    bool can = true;
    char bus[32];

    CHECK_OK(td_dev_limit(dev, 0, true, &value));
    value = 0;
    CHECK_OK(td_dev_limit(dev, 0, false, &value));
    CHECK(value == 4096);
    CHECK_FAILS(td_dev_limit(dev, 77, false, &value), TD_ERR_DEVICE, "cuCtxGetLimit(77)");
    CHECK(td_error_code() == INVALID);
    CHECK_OK(td_dev_config(dev, TD_CONFIG_CACHE, true, &config));
    config = 0;
    CHECK_OK(td_dev_config(dev, TD_CONFIG_CACHE, false, &config));
    CHECK(config == 2);
    config = 9;
    CHECK_FAILS(td_dev_config(dev, TD_CONFIG_SHARED, true, &config), TD_ERR_DEVICE, "SharedMem");
    CHECK_OK(td_dev_peer(dev, dev, TD_PEER_CAN, &can));
    CHECK(!can);
    CHECK_FAILS(td_dev_peer(dev, dev, TD_PEER_ENABLE, &can), TD_ERR_DEVICE, "INVALID_DEVICE");
    CHECK(td_dev_bus(dev, bus, sizeof bus) == (is_null() ? TD_OK : TD_SKIP));
}

/* ---- failures of the driver ---- */

static td_status
fill_once(const char *call)
{
    int size = strstr(call, "D32") ? 4 : strstr(call, "D16") ? 2 : 1;
    td_buf *b;
    td_status st = td_raw_new(dev, 64, &b);

    if (st)
        return st;
    st = td_raw_fill(td_dev_stream(dev), b->ptr, 16, size, 1, 2, strstr(call, "D2D") ? 3 : 1);
    td_buf_unref(b);
    return st;
}

static td_status
texture_once(const char *call)
{
    td_texdesc t = {.width = 4, .format = TD_TEX_U8, .channels = 1, .flags = TD_TEX_SURFACE};
    bool surface = strstr(call, "Surf") != NULL;
    td_texview v = {0};
    uint64_t h = 0;
    td_status st = td_texarray_new(dev, &t, &v.array);

    if (st)
        return st;
    st = td_texture_new(dev, &v, surface, &h);
    if (!st)
        st = td_texture_free(dev, h, surface);
    if (st && h)
        (void)td_texture_free(dev, h, surface);
    td_texarray_unref(v.array);
    return st;
}

static td_status
stream_once(const char *call)
{
    bool done;
    int least, greatest;
    td_stream *s;
    td_status st = td_stream_priorities(dev, &least, &greatest);

    (void)call;
    if (!st)
        st = td_stream_make(dev, true, 0, &s);
    if (st)
        return st;
    st = td_stream_done(s, &done);
    td_stream_free(s);
    return st;
}

static const struct once {
    const char *call;
    td_status (*run)(const char *call);
} once[] = {
    {"cuMemsetD8Async", fill_once},        {"cuMemsetD16Async", fill_once},
    {"cuMemsetD32Async", fill_once},       {"cuMemsetD2D8Async", fill_once},
    {"cuMemsetD2D16Async", fill_once},     {"cuMemsetD2D32Async", fill_once},
    {"cuArray3DCreate", texture_once},     {"cuTexObjectCreate", texture_once},
    {"cuTexObjectDestroy", texture_once},  {"cuSurfObjectCreate", texture_once},
    {"cuSurfObjectDestroy", texture_once}, {"cuStreamCreateWithPriority", stream_once},
    {"cuStreamQuery", stream_once},        {"cuCtxGetStreamPriorityRange", stream_once},
};

static void
test_failures(void)
{
    td_null_counts before, after;

    for (size_t i = 0; i < sizeof once / sizeof *once; i++) {
        CHECK_OK(once[i].run(once[i].call));
        before = td_null_live();
        td_null_fail(once[i].call, 1, 400);
        CHECK_FAILS(once[i].run(once[i].call), TD_ERR_DEVICE, once[i].call);
        CHECK(td_error_code() == 400);
        td_null_fail(once[i].call, 0, 0);
        CHECK_OK(once[i].run(once[i].call));
        after = td_null_live();
        CHECK(before.arrays == after.arrays && before.textures == after.textures &&
              before.streams == after.streams && before.contexts == after.contexts);
    }
}

int
main(void)
{
    static const char *const names[] = {"cpu", "null"};

    test_codes();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        CHECK_OK(td_dev_get(names[i], &dev));
        test_contexts();
        test_addresses();
        test_fills();
        test_blocks();
        test_textures();
        test_streams();
        test_settings();
    }
    test_failures();
    CHECK(td_null_live().arrays == 0 && td_null_live().textures == 0);
    return check_failures != 0;
}
