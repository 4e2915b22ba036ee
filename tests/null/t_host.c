/* t_host.c - host memory that a device reaches, copies that do not wait, streams by their handle, facts. */
#include "null/null.h"
#include "null/nulldrv.h"

#include "check.h"

#include <stdlib.h>
#include <string.h>

enum { N = 4096, FAILED = 999 };

static td_dev *null;

static const td_hostkind owned[] = {TD_HOST_PINNED, TD_HOST_MAPPED, TD_HOST_MANAGED};

/* Every kind can be had and given back; kernels see all but pinned memory. */
static void
test_kinds(td_dev *d)
{
    size_t before = td_null_live().pinned;
    bool cpu = td_dev_info(d)->kind == TD_DEV_CPU;
    char lent[N];

    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) {
        td_hostmem m = {.kind = owned[i], .nbytes = i ? N : 0};

        CHECK_OK(td_hostmem_get(d, &m));
        CHECK(m.host && m.nbytes >= 1);
        CHECK((m.dev == (uintptr_t)m.host) == (cpu || owned[i] != TD_HOST_PINNED));
        memset(m.host, 7, m.nbytes);
        CHECK_OK(td_hostmem_put(d, &m));
        CHECK(!m.host);
        CHECK_OK(td_hostmem_put(d, &m)); /* nothing is left to give back */
    }
    td_hostmem r = {.kind = TD_HOST_REGISTERED, .host = lent, .nbytes = N}, again = r;

    CHECK_OK(td_hostmem_get(d, &r));
    CHECK(r.dev == (uintptr_t)lent);
    if (!cpu)
        CHECK(td_hostmem_get(d, &again) == TD_ERR_DEVICE); /* pinned already */
    CHECK_OK(td_hostmem_put(d, &r));
    CHECK(td_null_live().pinned == before);
}

/* A call that fails leaves nothing pinned. */
static void
test_failures(void)
{
    static const struct {
        const char *call;
        td_hostkind kind;
        int code;
        td_status want;
    } rows[] = {
        {"cuMemHostAlloc", TD_HOST_PINNED, 2, TD_ERR_OOM},
        {"cuMemHostAlloc", TD_HOST_MAPPED, FAILED, TD_ERR_DEVICE},
        {"cuMemHostGetDevicePointer", TD_HOST_MAPPED, FAILED, TD_ERR_DEVICE},
        {"cuMemAllocManaged", TD_HOST_MANAGED, 2, TD_ERR_OOM},
        {"cuMemHostRegister", TD_HOST_REGISTERED, FAILED, TD_ERR_DEVICE},
        {"cuMemHostGetDevicePointer", TD_HOST_REGISTERED, FAILED, TD_ERR_DEVICE},
    };
    size_t before = td_null_live().pinned;
    char lent[64];

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        td_hostmem m = {.kind = rows[i].kind, .host = lent, .nbytes = sizeof lent};

        td_null_fail(rows[i].call, 1, rows[i].code);
        CHECK(td_hostmem_get(null, &m) == rows[i].want);
        CHECK(*td_error() != 0);
        CHECK(td_null_live().pinned == before);
        td_null_fail(rows[i].call, 0, 0);
    }
}

/* From pinned memory the copy is late, as the queue shows; from other memory it has been made on return. */
static void
test_later(void)
{
    td_hostmem m = {.kind = TD_HOST_PINNED, .nbytes = N};
    unsigned char plain[N], *pin;
    int late = 0;
    bool later;
    td_stream *s;
    td_buf *b;

    CHECK_OK(td_hostmem_get(null, &m));
    pin = m.host;
    CHECK_OK(td_stream_new(null, &s));
    CHECK_OK(td_buf_new(null, NULL, N, &b));
    CHECK_OK(td_fill(td_dev_stream(null), b->ptr, 5, N));
    CHECK_OK(td_dev_sync(null));
    for (uint64_t seed = 1; seed <= 20; seed++) {
        memset(pin, 1, N);
        memset(plain, 1, N);
        td_null_delay(seed);
        CHECK_OK(td_copy_later(s, true, pin, b->ptr, N, &later));
        CHECK(later);
        late += pin[0] == 1;
        CHECK_OK(td_copy_later(s, true, plain, b->ptr, N, &later));
        CHECK(!later && plain[0] == 5 && plain[N - 1] == 5);
        CHECK_OK(td_stream_sync(s));
        CHECK(pin[0] == 5 && pin[N - 1] == 5);
        memset(pin, 6, N);
        CHECK_OK(td_copy_later(s, false, pin, b->ptr, N, &later));
        CHECK(later);
        CHECK_OK(td_stream_sync(s));
        CHECK(((unsigned char *)b->ptr)[N - 1] == 6);
        CHECK_OK(td_fill(s, b->ptr, 5, N));
        CHECK_OK(td_stream_sync(s));
    }
    td_null_delay(0);
    CHECK(late > 0);
    td_null_fail("cuMemcpyDtoHAsync", 1, FAILED);
    CHECK(td_copy_later(s, true, pin, b->ptr, N, &later) == TD_ERR_DEVICE && !later);
    td_buf_unref(b);
    td_stream_free(s);
    CHECK_OK(td_hostmem_put(null, &m));
}

static void
test_streams(td_dev *cpu)
{
    td_stream *s, *t, *u;

    CHECK_OK(td_stream_new(null, &s));
    CHECK_OK(td_stream_of(null, td_stream_handle(s), &t));
    CHECK(t == s);
    td_stream_free(t); /* as its owner */
    CHECK_OK(td_stream_of(null, NULL, &t));
    CHECK_OK(td_stream_of(null, (void *)1, &u));
    CHECK(t == td_dev_stream(null) && u == t);
    CHECK_OK(td_stream_of(null, (void *)2, &t));
    CHECK_OK(td_stream_of(null, (void *)2, &u));
    CHECK(t == u && t != td_dev_stream(null) && td_stream_handle(t) == (void *)2);
    td_stream_free(t); /* another's: nothing happens */
    CHECK_OK(td_stream_sync(u));
    CHECK_OK(td_stream_of(cpu, (void *)77, &t));
    CHECK(t == td_dev_stream(cpu));
}

/* A stream that does not wait for the default one: only with enter and leave it stands between its work. */
static void
test_apart(bool ordered)
{
    td_stream *def = td_dev_stream(null), *s;
    cu_stream theirs = NULL;
    cu_ctx ctx, old;
    td_buf *a, *b;
    int wrong = 0;

    CHECK(td_null_cuDevicePrimaryCtxRetain(&ctx, 0) == 0 && td_null_cuCtxPushCurrent(ctx) == 0);
    CHECK(td_null_cuStreamCreate(&theirs, CU_STREAM_NON_BLOCKING) == 0);
    CHECK_OK(td_stream_of(null, theirs, &s));
    CHECK_OK(td_buf_new(null, NULL, 64, &a));
    CHECK_OK(td_buf_new(null, NULL, 64, &b));
    for (uint64_t seed = 1; seed <= 40; seed++) {
        td_null_delay(seed);
        CHECK_OK(td_fill(def, a->ptr, 1, 64));
        CHECK_OK(td_fill(def, b->ptr, 2, 64));
        if (ordered)
            CHECK_OK(td_stream_enter(s));
        CHECK_OK(td_copy(s, b->ptr, a->ptr, 64));
        if (ordered)
            CHECK_OK(td_stream_leave(s));
        CHECK_OK(td_fill(def, a->ptr, 3, 64));
        CHECK_OK(td_dev_sync(null));
        wrong += *(char *)b->ptr != 1;
    }
    td_null_delay(0);
    CHECK((wrong == 0) == ordered);
    td_buf_unref(a);
    td_buf_unref(b);
    CHECK(td_null_cuStreamDestroy(theirs) == 0 && td_null_cuCtxPopCurrent(&old) == 0);
}

static void
test_facts(td_dev *cpu)
{
    unsigned char uuid[16] = {0};
    int n = 0;

    CHECK_OK(td_dev_attribute(null, 10, &n));
    CHECK(n == 32);
    CHECK(td_dev_attribute(null, 9999, &n) == TD_SKIP);
    CHECK(td_dev_attribute(cpu, 10, &n) == TD_SKIP);
    CHECK_OK(td_dev_uuid(null, uuid));
    CHECK(uuid[0] != 0);
    CHECK(td_dev_uuid(cpu, uuid) == TD_SKIP);
    CHECK_OK(td_dev_profiler(null, true));
    CHECK_OK(td_dev_profiler(null, false));
    CHECK(td_dev_profiler(null, false) == TD_ERR_DEVICE); /* it was not on */
    CHECK_OK(td_dev_profiler(cpu, true));
}

int
main(void)
{
    td_dev *cpu;

    CHECK_OK(td_dev_get("null", &null));
    CHECK_OK(td_dev_get("cpu", &cpu));
    test_kinds(null);
    test_kinds(cpu);
    test_failures();
    test_later();
    test_streams(cpu);
    test_apart(true);
    test_apart(false);
    test_facts(cpu);
    return check_failures != 0;
}
