/* t_cuda.c - cuda.c, code.c, copy.c and the pool over the driver that the host plays.
 *
 * Every driver call is made to fail once in every operation that makes it: the operation must say so,
 * leave its inputs intact and lose nothing.
 */
#include "dev/core/dev.h"
#include "null/null.h"

#include "check.h"
#include "copies.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N = 1000, FAILED = 719 };

static const char ptx[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry twice(\n\t.param .u64 .ptr .global .align 4 twice_param_0,\n"
    "\t.param .f32 twice_param_1,\n\t.param .u32 twice_param_2\n)\n{\n\tret;\n}\n"
    ".visible .entry idle()\n{\n\tret;\n}\n";

static td_dev *null;

/* twice(x, factor, n): x[i] *= factor, on the host. */
static td_status
play(const char *name, const td_dims *dims, const uint64_t *args, int narg)
{
    float *x = (float *)args[0], factor;

    if (strcmp(name, "idle") == 0)
        return narg == 0 ? TD_OK : td_fail(TD_ERR_VALUE, "idle: %d arguments", narg);
    memcpy(&factor, &args[1], sizeof factor);
    if (narg != 3 || args[2] > UINT32_MAX || dims->block[0] != 128)
        return td_fail(TD_ERR_VALUE, "twice: arguments are not as given");
    if (td_null_extent((uintptr_t)x) < args[2] * sizeof *x)
        return td_fail(TD_ERR_INDEX, "twice: x[%zu] lies beyond its buffer",
                       td_null_extent((uintptr_t)x) / sizeof *x);
    for (uint64_t i = 0; i < args[2]; i++)
        x[i] *= factor;
    return TD_OK;
}

static int
same_but_memory(td_null_counts a, td_null_counts b)
{
    return a.streams == b.streams && a.events == b.events && a.modules == b.modules &&
           a.links == b.links && a.contexts == b.contexts;
}

/* ---- plain use ---- */

static void
test_device(void)
{
    const td_devinfo *i = td_dev_info(null);
    size_t free_bytes = 0, total = 0;
    td_dev *d;

    CHECK(i->kind == TD_DEV_NULL && strcmp(i->name, "null") == 0 && strcmp(i->arch, "sm_80") == 0);
    CHECK(i->warp == 32 && i->max_threads == 1024 && i->max_shared == 48 << 10 &&
          i->driver == 13000 && i->memory);
    CHECK_OK(td_dev_memory(null, &free_bytes, &total));
    CHECK(total == i->memory && free_bytes <= total);
    CHECK_OK(td_dev_get("null", &d));
    CHECK(d == null);
    CHECK_OK(td_dev_sync(null));
}

static void
test_memory(void)
{
    td_buf *a, *b;
    td_stream *s, *t;
    uintptr_t p;
    uint64_t n;

    CHECK_OK(td_buf_new(null, NULL, 1000, &a));
    CHECK(a->ptr % 512 == 0);
    CHECK(td_null_extent(a->ptr) == 1000 && td_null_extent(a->ptr + 999) == 1 &&
          td_null_extent(a->ptr + 1000) == 0);
    p = a->ptr;
    td_buf_unref(a);
    CHECK(td_null_extent(p) == 0);
    CHECK_OK(td_stream_new(null, &s));
    CHECK_OK(td_stream_new(null, &t));
    CHECK_OK(td_buf_new(null, s, 20 << 20, &a));
    p = a->ptr;
    td_buf_unref(a);
    CHECK_OK(td_buf_new(null, t, 20 << 20, &b)); /* freed on s: not for t */
    CHECK(b->ptr != p);
    CHECK_OK(td_buf_new(null, s, 20 << 20, &a));
    CHECK(a->ptr == p);
    td_buf_unref(a);
    td_stream_free(s);
    CHECK_OK(
        td_buf_new(null, NULL, 20 << 20, &a)); /* s is gone: the default stream has its memory */
    CHECK(a->ptr == p);
    td_buf_unref(b);
    n = td_mem_stats(null).driver_allocs;
    atomic_fetch_or(&a->flags, TD_BUF_SHARED);
    td_buf_unref(a); /* others could use it: not before a synchronisation, which the miss makes */
    CHECK_OK(td_buf_new(null, NULL, 20 << 20, &a));
    CHECK(a->ptr == p && td_mem_stats(null).driver_allocs == n);
    td_buf_unref(a);
    td_stream_free(t);
    CHECK_OK(td_mem_trim(null));
    CHECK(td_null_live().memory == 0 && td_mem_stats(null).cached == 0);
}

static void
test_oom(void)
{
    td_buf *a, *b = NULL;
    td_memstat m;

    CHECK_OK(td_buf_new(null, NULL, (size_t)5 << 30, &a));
    CHECK_FAILS(td_buf_new(null, NULL, (size_t)5 << 30, &b), TD_ERR_OOM,
                "asked for 5.00 GiB (5368709120 bytes); buffers hold 5.00 GiB, the pool keeps 0 "
                "bytes (largest block 0 bytes), 3.00 GiB of 8.00 GiB are free");
    td_buf_unref(a);
    m = td_mem_stats(null);
    CHECK_OK(td_buf_new(null, NULL, (size_t)7 << 30, &a)); /* what is kept makes room */
    CHECK(td_mem_stats(null).cached == 0 && m.cached == (size_t)5 << 30);
    td_buf_unref(a);
    CHECK_OK(td_mem_trim(null));
}

static void
test_copies(void)
{
    static const size_t sizes[] = {
        1, 1000, 1 << 20, (3 << 20) + 5, (40 << 20) + 1, (5 << 20) + 77, 64 << 20};
    td_stream *s;
    td_buf *a;
    char c = 0;

    CHECK_OK(td_stream_new(null, &s));
    for (int i = 0; i < 7; i++) {
        (void)copies_return(null, s, sizes[i]);
        (void)copies_return(null, td_dev_stream(null), sizes[i]);
    }
    CHECK(td_null_live().pinned > 0); /* the large ones were staged */
    CHECK_OK(td_buf_new(null, s, 0, &a));
    CHECK_OK(td_copy_in(s, a->ptr, &c, 0));
    CHECK_FAILS(td_copy_in(s, 4096, &c, 1), TD_ERR_DEVICE,
                "null: cuMemcpyHtoDAsync: CUDA_ERROR_INVALID_VALUE");
    td_buf_unref(a);
    td_stream_free(s);
}

/* Lanes race for the last chunk; whoever loses must not write beyond the end. */
static void
test_lanes(void)
{
    enum { SIZE = 5 << 20, GUARD = 64 };
    td_stream *s = td_dev_stream(null);
    char *in = malloc(SIZE), *out = malloc(SIZE + GUARD), guard[GUARD];
    td_buf *b;
    int wrong = 0;

    memset(in, 5, SIZE);
    memset(guard, 7, GUARD);
    memset(out + SIZE, 7, GUARD);
    CHECK_OK(td_buf_new(null, s, SIZE, &b));
    for (int i = 0; i < 500; i++) {
        wrong += td_copy_in(s, b->ptr, in, SIZE) != TD_OK;
        memset(out, 0, SIZE);
        wrong += td_copy_out(s, out, b->ptr, SIZE) != TD_OK;
        wrong += memcmp(in, out, SIZE) != 0 || memcmp(guard, out + SIZE, GUARD) != 0;
    }
    CHECK(wrong == 0);
    td_buf_unref(b);
    free(in);
    free(out);
}

static void
test_streams(void)
{
    td_null_counts before = td_null_live();
    td_stream *s;
    td_event *e, *f;
    td_dev *cpu;
    bool done = false;
    double ms = -1;

    CHECK_OK(td_stream_new(null, &s));
    CHECK(td_stream_handle(s) && !td_stream_handle(td_dev_stream(null)));
    CHECK_OK(td_event_new(null, true, &e));
    CHECK_OK(td_event_new(null, true, &f));
    CHECK_OK(td_event_record(e, s));
    CHECK_OK(td_event_record(f, s));
    CHECK_OK(td_stream_wait(td_dev_stream(null), f));
    CHECK_OK(td_event_sync(f));
    CHECK_OK(td_event_done(f, &done));
    CHECK_OK(td_event_elapsed(e, f, &ms));
    CHECK(done && ms >= 0);
    td_null_fail("cuEventQuery", 1, 600);
    CHECK_OK(td_event_done(f, &done));
    CHECK(!done);
    CHECK_OK(td_stream_sync(s));
    CHECK_OK(td_dev_get("cpu", &cpu));
    CHECK_FAILS(td_event_record(e, td_dev_stream(cpu)), TD_ERR_VALUE, "cpu");
    CHECK_OK(td_stream_order(null, NULL, td_stream_handle(s)));
    CHECK_OK(td_stream_order(null, td_stream_handle(s), (void *)2)); /* the calling thread's */
    CHECK_FAILS(td_stream_order(null, NULL, e), TD_ERR_DEVICE, "INVALID_HANDLE");
    td_null_fail("cuEventCreate", 1, FAILED); /* one stream is in order with itself: no call */
    CHECK_OK(td_stream_order(null, NULL, (void *)1));
    CHECK_OK(td_stream_order(cpu, NULL, s));
    td_null_fail("cuEventCreate", 0, 0);
    td_event_free(e);
    td_event_free(f);
    td_stream_free(s);
    CHECK(same_but_memory(before, td_null_live()));
}

static void
test_launch(void)
{
    float x[N], factor = 3;
    td_dims dims = {.grid = {8, 1, 1}, .block = {128, 1, 1}};
    uint64_t args[3] = {0, 0xdeadbeef00000000u, 0xdeadbeef00000000u | N};
    td_module *m;
    td_func *f, *g;
    td_buf *b;

    for (int i = 0; i < N; i++)
        x[i] = (float)i;
    CHECK_OK(td_buf_new(null, NULL, sizeof x, &b));
    CHECK_OK(td_copy_in(td_dev_stream(null), b->ptr, x, sizeof x));
    CHECK_OK(td_module_load(null, ptx, &m));
    CHECK_OK(td_module_func(m, "twice", &f));
    CHECK_OK(td_module_func(m, "twice", &g));
    CHECK(f == g);
    CHECK_FAILS(td_module_func(m, "thrice", &g), TD_ERR_DEVICE, "no kernel \"thrice\"");
    CHECK_OK(td_module_func(m, "idle", &g));
    CHECK_OK(td_launch(g, NULL, &dims, NULL, 0));
    args[0] = b->ptr;
    memcpy(&args[1], &factor, sizeof factor);
    CHECK_OK(td_launch(f, NULL, &dims, args, 3));
    CHECK_OK(td_copy_out(td_dev_stream(null), x, b->ptr, sizeof x));
    for (int i = 0; i < N; i++)
        if (!CHECK(x[i] == 3 * (float)i))
            break;
    CHECK_FAILS(td_launch(f, NULL, &dims, args, 2), TD_ERR_VALUE, "2 arguments for 3 parameters");
    args[2] = N + 1;
    CHECK_FAILS(td_launch(f, NULL, &dims, args, 3), TD_ERR_DEVICE,
                "x[1000] lies beyond its buffer");
    CHECK(strstr(td_error(), "launch of twice: grid (8, 1, 1), block (128, 1, 1), 0 bytes"));
    dims.block[1] = 100;
    CHECK_FAILS(td_launch(f, NULL, &dims, args, 3), TD_ERR_DEVICE, "cuLaunchKernel");
    dims = (td_dims){.grid = {8, 1, 1}, .block = {128, 1, 1}, .shared = 100 << 10};
    args[2] = N;
    CHECK_OK(td_launch(f, NULL, &dims, args, 3));
    dims.shared = 1 << 20;
    CHECK_FAILS(td_launch(f, NULL, &dims, args, 3), TD_ERR_DEVICE,
                "1048576 bytes of shared memory");
    td_buf_unref(b);
    td_module_free(m);
    td_module_free(NULL);
}

static void
test_assemble(void)
{
    td_null_counts before = td_null_live();
    td_module *m = NULL;
    td_func *f;
    void *cubin = NULL;
    size_t n = 0;

    CHECK_OK(td_dev_assemble(null, ptx, &cubin, &n));
    CHECK(n == sizeof ptx && memcmp(cubin, ptx, n) == 0);
    CHECK_OK(td_module_load(null, cubin, &m));
    free(cubin);
    CHECK_OK(td_module_func(m, "twice", &f));
    td_module_free(m);
    CHECK_FAILS(td_dev_assemble(null, "nonsense", &cubin, &n), TD_ERR_DEVICE,
                "CUDA_ERROR_INVALID_PTX");
    CHECK_FAILS(td_module_load(null, "nonsense", &m), TD_ERR_DEVICE, "takes PTX");
    CHECK_FAILS(td_func_of_entry(null, "k", NULL, &f), TD_ERR_DEVICE, "null");
    CHECK(same_but_memory(before, td_null_live()));
}

/* ---- every call fails once ---- */

static unsigned char *big_in, *big_out;
static td_stream *strm;
static td_buf *buf, *big;
static td_event *ev[2];
static td_module *mod;
static td_func *func;
static size_t lost; /* allocations whose giving back was made to fail */

enum { BIG = 5 << 20 };

static td_status
do_alloc(void)
{
    td_buf *b = NULL;
    td_status st = td_buf_new(null, NULL, 200 << 20, &b); /* larger than what is kept */

    td_buf_unref(b);
    return st ? st : td_mem_trim(null);
}

/* Of grains that the driver maps. */
static td_status
do_alloc_middle(void)
{
    td_buf *b = NULL;
    td_status st = td_mem_trim(null);

    st = st ? st : td_buf_new(null, NULL, 3 << 20, &b);
    td_buf_unref(b);
    return st ? st : td_mem_trim(null);
}

static td_status
do_alloc_small(void)
{
    td_buf *b = NULL;
    td_status st = td_mem_trim(null);

    st = st ? st : td_buf_new(null, NULL, 100, &b);
    td_buf_unref(b);
    return st;
}

static td_status
do_alloc_shared(void)
{
    td_buf *b = NULL;
    td_status st = td_buf_new(null, strm, 20 << 20, &b);

    if (st)
        return st;
    atomic_fetch_or(&b->flags, TD_BUF_SHARED);
    td_buf_unref(b);
    b = NULL;
    st = td_buf_new(null, strm, 20 << 20, &b);
    td_buf_unref(b);
    return st;
}

static td_status
do_memory(void)
{
    size_t a, b;

    return td_dev_memory(null, &a, &b);
}

static td_status
do_copies(void)
{
    char c[100] = {0};

    TD_TRY(td_copy_in(strm, buf->ptr, c, sizeof c));
    TD_TRY(td_copy_out(strm, c, buf->ptr, sizeof c));
    TD_TRY(td_copy(strm, buf->ptr, big->ptr, sizeof c));
    return td_fill(strm, buf->ptr, 1, sizeof c);
}

static td_status
do_big_in(void)
{
    return td_copy_in(strm, big->ptr, big_in, BIG);
}
static td_status
do_big_out(void)
{
    return td_copy_out(strm, big_out, big->ptr, BIG);
}
static td_status
do_sync(void)
{
    return td_dev_sync(null);
}

static td_status
do_stream(void)
{
    td_stream *s = NULL;

    TD_TRY(td_stream_new(null, &s));
    td_stream_free(s);
    return td_stream_sync(strm);
}

static td_status
do_order(void)
{
    return td_stream_order(null, td_stream_handle(strm), NULL);
}

static td_status
do_event(void)
{
    td_event *e = NULL;
    bool done;
    double ms;

    TD_TRY(td_event_new(null, true, &e));
    td_event_free(e);
    TD_TRY(td_event_record(ev[0], strm));
    TD_TRY(td_event_record(ev[1], strm));
    TD_TRY(td_stream_wait(strm, ev[1]));
    TD_TRY(td_event_sync(ev[1]));
    TD_TRY(td_event_done(ev[1], &done));
    return td_event_elapsed(ev[0], ev[1], &ms);
}

static td_status
do_module(void)
{
    td_module *m = NULL;
    td_func *f;
    td_status st = td_module_load(null, ptx, &m);

    st = st ? st : td_module_func(m, "twice", &f);
    td_module_free(m);
    return st;
}

static td_status
do_assemble(void)
{
    void *cubin = NULL;
    size_t n;
    td_status st = td_dev_assemble(null, ptx, &cubin, &n);

    free(cubin);
    return st;
}

static td_status
do_launch(void)
{
    static const td_dims dims = {.grid = {1, 1, 1}, .block = {128, 1, 1}};
    static uint32_t shared = 49 << 10;
    td_dims more = {.grid = {1, 1, 1}, .block = {128, 1, 1}, .shared = shared};
    td_status st = td_launch(func, strm, &dims, NULL, 0);

    st = st ? st : td_launch(func, strm, &more, NULL, 0);
    shared += 512; /* must be asked for anew */
    return st;
}

/* harm: the call's failure makes the operation fail; else it finds another way, or has nobody to tell. */
static const struct trial {
    td_status (*run)(void);
    const char *what, *call;
    int harm;
} trials[] = {
    {do_alloc, "alloc", "cuCtxPushCurrent", 1},
    {do_alloc, "alloc", "cuCtxGetCurrent", 0},
    {do_alloc, "alloc", "cuMemAlloc", 1},
    {do_alloc, "alloc", "cuMemFree", 1},
    {do_alloc_small, "small alloc", "cuMemAlloc", 1},
    {do_alloc_middle, "middle alloc", "cuMemAddressReserve", 1},
    {do_alloc_middle, "middle alloc", "cuMemCreate", 1},
    {do_alloc_middle, "middle alloc", "cuMemMap", 1},
    {do_alloc_middle, "middle alloc", "cuMemSetAccess", 1},
    {do_alloc_shared, "shared alloc", "cuCtxSynchronize", 1},
    {do_memory, "memory", "cuMemGetInfo", 1},
    {do_copies, "copies", "cuCtxPushCurrent", 1},
    {do_copies, "copies", "cuMemcpyHtoDAsync", 1},
    {do_copies, "copies", "cuMemcpyDtoHAsync", 1},
    {do_copies, "copies", "cuMemcpyDtoDAsync", 1},
    {do_copies, "copies", "cuMemsetD8Async", 1},
    {do_copies, "copies", "cuStreamSynchronize", 1},
    {do_big_in, "staged in", "cuCtxPushCurrent", 1},
    {do_big_in, "staged in", "cuPointerGetAttribute", 0},
    {do_big_in, "staged in", "cuMemcpyHtoDAsync", 1},
    {do_big_in, "staged in", "cuEventRecord", 1},
    {do_big_in, "staged in", "cuStreamWaitEvent", 1},
    {do_big_in, "staged in", "cuEventSynchronize", 1},
    {do_big_out, "staged out", "cuCtxPushCurrent", 1},
    {do_big_out, "staged out", "cuMemcpyDtoHAsync", 1},
    {do_big_out, "staged out", "cuEventRecord", 1},
    {do_big_out, "staged out", "cuStreamWaitEvent", 1},
    {do_big_out, "staged out", "cuEventSynchronize", 1},
    {do_sync, "sync", "cuCtxPushCurrent", 1},
    {do_sync, "sync", "cuCtxSynchronize", 1},
    {do_stream, "stream", "cuStreamCreate", 1},
    {do_stream, "stream", "cuStreamSynchronize", 1},
    {do_stream, "stream", "cuEventCreate", 0},
    {do_stream, "stream", "cuEventRecord", 0},
    {do_stream, "stream", "cuStreamWaitEvent", 0},
    {do_event, "event", "cuEventCreate", 1},
    {do_event, "event", "cuEventRecord", 1},
    {do_event, "event", "cuStreamWaitEvent", 1},
    {do_event, "event", "cuEventSynchronize", 1},
    {do_event, "event", "cuEventQuery", 1},
    {do_event, "event", "cuEventElapsedTime", 1},
    {do_order, "order", "cuEventCreate", 1},
    {do_order, "order", "cuEventRecord", 1},
    {do_order, "order", "cuStreamWaitEvent", 1},
    {do_module, "module", "cuModuleLoadDataEx", 1},
    {do_module, "module", "cuModuleGetFunction", 1},
    {do_module, "module", "cuFuncGetParamInfo", 0},
    {do_module, "module", "cuCtxSynchronize", 0},
    {do_assemble, "assemble", "cuLinkCreate", 1},
    {do_assemble, "assemble", "cuLinkAddData", 1},
    {do_assemble, "assemble", "cuLinkComplete", 1},
    {do_launch, "launch", "cuCtxPushCurrent", 1},
    {do_launch, "launch", "cuLaunchKernel", 1},
    {do_launch, "launch", "cuFuncSetAttribute", 1},
};

static void
failing_setup(void)
{
    big_in = malloc(BIG);
    big_out = malloc(BIG);
    for (size_t i = 0; i < BIG; i++)
        big_in[i] = (unsigned char)(i * 11 + i / 257);
    CHECK_OK(td_stream_new(null, &strm));
    CHECK_OK(td_buf_new(null, strm, 100, &buf));
    CHECK_OK(td_buf_new(null, strm, BIG, &big));
    CHECK_OK(td_event_new(null, true, &ev[0]));
    CHECK_OK(td_event_new(null, true, &ev[1]));
    CHECK_OK(td_module_load(null, ptx, &mod));
    CHECK_OK(td_module_func(mod, "idle", &func));
    CHECK_OK(do_big_in());
}

static void
failing_end(void)
{
    td_buf_unref(buf);
    td_buf_unref(big);
    td_event_free(ev[0]);
    td_event_free(ev[1]);
    td_module_free(mod);
    td_stream_free(strm);
    free(big_in);
    free(big_out);
}

static void
try_one(const struct trial *t)
{
    td_null_counts before = td_null_live(), after;
    size_t memory = (CHECK_OK(td_mem_trim(null)), td_null_live().memory);
    size_t used = td_mem_stats(null).used;
    td_status st;
    int failed = 0, k;

    for (k = 1; k < 50; k++) { /* the first call of that name fails, then the second, … */
        td_null_fail(t->call, k, FAILED);
        st = t->run();
        td_null_fail(t->call, 0, 0);
        if (st && !(st == TD_ERR_DEVICE && strstr(td_error(), t->call) &&
                    strstr(td_error(), "CUDA_ERROR_LAUNCH_FAILED")))
            printf("%s with a failing %s: status %d, \"%s\"\n", t->what, t->call, st, td_error()),
                check_failures++;
        failed += st != TD_OK;
        after = td_null_live();
        if (!same_but_memory(before, after) || td_mem_stats(null).used != used)
            printf("%s with failing %s number %d: something leaked\n", t->what, t->call, k),
                check_failures++;
        before = after;
        if (!st && k > 8)
            break;
    }
    CHECK_OK(td_mem_trim(null));
    if (t->run == do_alloc)
        lost += td_null_live().memory - memory;
    else if (td_null_live().memory != memory)
        printf("%s with a failing %s: memory leaked\n", t->what, t->call), check_failures++;
    if (!failed != !t->harm)
        printf("%s with a failing %s: %d failures\n", t->what, t->call, failed), check_failures++;
    if (!CHECK_OK(t->run()) || !CHECK_OK(do_big_in()) || !CHECK_OK(do_big_out()) ||
        !CHECK(memcmp(big_in, big_out, BIG) == 0))
        printf("after %s with a failing %s\n", t->what, t->call);
}

/* A copy whose lanes get no stream or no pinned memory is made by the driver. */
static void
test_unstaged(void)
{
    static const char *const call[] = {"cuMemHostAlloc", "cuStreamCreate", "cuEventCreate"};
    unsigned char *p = malloc(48 << 20);
    td_buf *b;

    CHECK_OK(td_buf_new(null, NULL, 48 << 20, &b));
    memset(p, 3, 48 << 20);
    for (int i = 0; i < 3; i++) {
        td_null_fail(call[i], 1, 2);
        CHECK_OK(td_copy_in(td_dev_stream(null), b->ptr, p, 48 << 20));
        td_null_fail(call[i], 0, 0);
    }
    memset(p, 0, 48 << 20);
    CHECK_OK(td_copy_out(td_dev_stream(null), p, b->ptr, 48 << 20));
    CHECK(p[0] == 3 && p[(48 << 20) - 1] == 3 && memcmp(p, p + 1, (48 << 20) - 1) == 0);
    td_buf_unref(b);
    free(p);
}

static void
test_open_fails(void)
{
    static const char *const call[] = {"cuDeviceGet",          "cuDeviceGetName",
                                       "cuDeviceGetAttribute", "cuDeviceTotalMem",
                                       "cuDriverGetVersion",   "cuDevicePrimaryCtxRetain"};

    for (int i = 0; i < 6; i++) {
        td_null_fail(call[i], 1, FAILED);
        CHECK_FAILS(td_dev_get("null", &null), TD_ERR_DEVICE, call[i]);
    }
    td_null_fail("cuDevicePrimaryCtxRetain", 1, 2);
    CHECK_FAILS(td_dev_get("null", &null), TD_ERR_OOM, "CUDA_ERROR_OUT_OF_MEMORY");
}

/* In a child, since the environment is read once. */
static void
test_environment(void)
{
    pid_t p = fork();
    int st;

    if (p == 0) {
        td_dims dims = {.grid = {8, 1, 1}, .block = {128, 1, 1}};
        td_module *m;
        td_func *f;

        setenv("TREADLE_SYNC", "1", 1);
        setenv("TREADLE_DEVICE", "null", 1);
        CHECK_OK(td_dev_default(&null));
        CHECK(strcmp(td_dev_info(null)->name, "null") == 0);
        td_null_on_launch(play);
        CHECK_OK(td_module_load(null, ptx, &m));
        CHECK_OK(td_module_func(m, "idle", &f));
        CHECK_OK(td_launch(f, NULL, &dims, NULL, 0));
        td_null_fail("cuStreamSynchronize", 1, FAILED);
        CHECK_FAILS(td_launch(f, NULL, &dims, NULL, 0), TD_ERR_DEVICE,
                    "launch of idle: grid (8, 1, 1), block (128, 1, 1)");
        _exit(check_failures != 0);
    }
    CHECK(waitpid(p, &st, 0) == p && WIFEXITED(st) && WEXITSTATUS(st) == 0);
}

static void
test_fork(void)
{
    pid_t p = fork();
    int st;

    if (p == 0) {
        td_buf *b;
        td_dev *d;
        int ok = CHECK_FAILS(td_buf_new(null, NULL, 500 << 20, &b), TD_ERR_DEVICE, "spawn") &&
                 CHECK_FAILS(td_dev_sync(null), TD_ERR_DEVICE, "forked") &&
                 CHECK_OK(td_dev_get("cpu", &d)) && CHECK_OK(td_buf_new(d, NULL, 5 << 20, &b));

        _exit(ok ? 0 : 1);
    }
    CHECK(waitpid(p, &st, 0) == p && WIFEXITED(st) && WEXITSTATUS(st) == 0);
}

int
main(void)
{
    test_environment();
    test_open_fails();
    CHECK_OK(td_dev_get("null", &null));
    test_device();
    test_memory();
    test_oom();
    test_unstaged();
    test_copies();
    test_lanes();
    test_streams();
    td_null_on_launch(play);
    test_launch();
    test_assemble();
    failing_setup();
    for (size_t i = 0; i < sizeof trials / sizeof *trials; i++)
        try_one(&trials[i]);
    failing_end();
    test_fork();
    CHECK_OK(td_mem_trim(null));
    CHECK(td_null_live().memory == lost && td_null_live().modules == 0 &&
          td_null_live().links == 0 && td_null_live().contexts == 0);
    return check_failures != 0;
}
