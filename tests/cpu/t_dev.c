/* t_dev.c - the CPU as a device: memory and its pool, copies, streams, events, launches. */
#include "base/scratch.h"
#include "dev/core/blas.h"
#include "dev/core/dev.h"
#include "dev/core/site.h"
#include "dev/foreign/library.h"

#include "check.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static td_dev *cpu;

static void
test_devices(void)
{
    td_dev *d = NULL;
    const td_devinfo *i;

    CHECK_OK(td_dev_get("cpu", &cpu));
    CHECK_OK(td_dev_get("cpu", &d));
    CHECK(d == cpu);
    i = td_dev_info(cpu);
    CHECK(i->kind == TD_DEV_CPU && strcmp(i->name, "cpu") == 0 && i->model[0] && i->arch[0] &&
          i->units >= 1);
    CHECK(i->warp == 1 && i->max_threads == 1024 && i->memory > 0 && i->driver == 0);
    CHECK(td_dev_count(TD_DEV_CPU) == 1 &&
          td_dev_count(TD_DEV_NULL) == 0); /* nobody has asked for it */
    CHECK_FAILS(td_dev_get("tpu", &d), TD_ERR_VALUE, "tpu");
    CHECK_FAILS(td_dev_get("cuda:", &d), TD_ERR_VALUE, "cuda:");
    CHECK_FAILS(td_dev_get("cuda:1x", &d), TD_ERR_VALUE, "cuda:1x");
    CHECK_FAILS(td_dev_get("cuda:63", &d), TD_ERR_DEVICE, "cuda:63");
    CHECK_FAILS(td_dev_get("cuda:99999999999999999999", &d), TD_ERR_DEVICE, "cuda:9999");
    td_dev_use(cpu);
    CHECK_OK(td_dev_default(&d));
    CHECK(d == cpu);
    td_dev_use(NULL);
    CHECK((td_dev_count(TD_DEV_CUDA) > 0) == (td_dev_cuda_missing()[0] == 0));
}

static void
test_reuse(void)
{
    static const size_t sizes[] = {0,    1,     511,     512,           513,     4096,
                                   5000, 70000, 1 << 20, (1 << 20) + 1, 3 << 20, 40 << 20};
    td_buf *b[12], *again;
    td_memstat before = td_mem_stats(cpu), after;

    for (int i = 0; i < 12; i++) {
        CHECK_OK(td_buf_new(cpu, NULL, sizes[i], &b[i]));
        CHECK(b[i]->nbytes == sizes[i] && b[i]->capacity >= sizes[i] && b[i]->ptr % 64 == 0 &&
              b[i]->refs == 1);
        memset((void *)b[i]->ptr, i, b[i]->capacity);
    }
    for (int i = 0; i < 12; i++)
        CHECK(((unsigned char *)b[i]->ptr)[b[i]->capacity - 1] == i &&
              ((unsigned char *)b[i]->ptr)[0] == i);
    after = td_mem_stats(cpu);
    CHECK(after.used >= before.used + (45 << 20) && after.peak >= after.used &&
          after.allocs == before.allocs + 12);
    for (int i = 0; i < 12; i++) {
        td_buf_unref(b[i]);
        CHECK_OK(td_buf_new(cpu, NULL, sizes[i], &b[i]));
    }
    for (int i = 0; i < 12; i++)
        td_buf_unref(b[i]);
    before = td_mem_stats(cpu);
    CHECK(before.used == 0 && before.cached >= (45 << 20) &&
          before.driver_allocs == after.driver_allocs);
    CHECK_OK(td_buf_new(cpu, NULL, 36 << 20, &again)); /* nine tenths of a kept block */
    CHECK(td_mem_stats(cpu).driver_allocs == before.driver_allocs);
    td_buf_unref(again);
    CHECK_OK(td_buf_new(cpu, NULL, 20 << 20, &again)); /* half of it would waste too much */
    CHECK(td_mem_stats(cpu).driver_allocs == before.driver_allocs + 1);
    td_buf_unref(again);
    CHECK_OK(td_mem_trim(cpu));
    CHECK(td_mem_stats(cpu).cached == 0 && td_mem_stats(cpu).used == 0);
}

/* A freed block is cut for smaller requests; its parts become one again, whatever the order. */
static void
test_split(void)
{
    static const int order[] = {2, 0, 3, 1, 5, 4, 7, 6};
    td_buf *whole, *part[8];
    uint64_t n;
    uintptr_t p;

    CHECK_OK(td_buf_new(cpu, NULL, 8 << 20, &whole));
    n = td_mem_stats(cpu).driver_allocs;
    p = whole->ptr;
    for (int round = 0; round < 3; round++) {
        td_buf_unref(whole);
        for (int i = 0; i < 8; i++) {
            CHECK_OK(td_buf_new(cpu, NULL, 1 << 20, &part[i]));
            CHECK(part[i]->ptr == p + ((uintptr_t)i << 20));
        }
        for (int i = 0; i < 8; i++)
            td_buf_unref(part[order[i]]);
        CHECK_OK(td_buf_new(cpu, NULL, 8 << 20, &whole));
        CHECK(whole->ptr == p && td_mem_stats(cpu).driver_allocs == n);
    }
    td_buf_unref(whole);
    CHECK(td_mem_stats(cpu).largest >= 8 << 20);
    CHECK_OK(td_mem_trim(cpu));
    CHECK(td_mem_stats(cpu).cached == 0 && td_mem_stats(cpu).largest == 0);
}

/* Trimming leaves the region of a live small buffer alone. */
static void
test_trim(void)
{
    td_buf *keep, *other[100];

    CHECK_OK(td_buf_new(cpu, NULL, 100, &keep));
    for (int i = 0; i < 100; i++)
        CHECK_OK(td_buf_new(cpu, NULL, 60000, &other[i])); /* several regions */
    memset((void *)keep->ptr, 7, 100);
    for (int i = 0; i < 100; i++)
        td_buf_unref(other[i]);
    CHECK_OK(td_mem_trim(cpu));
    CHECK(((char *)keep->ptr)[99] == 7);
    CHECK(td_mem_stats(cpu).cached < 2 << 20);
    for (int i = 0; i < 100; i++)
        CHECK_OK(td_buf_new(cpu, NULL, 60000, &other[i]));
    for (int i = 0; i < 100; i++)
        td_buf_unref(other[i]);
    td_buf_unref(keep);
    CHECK_OK(td_mem_trim(cpu));
    CHECK(td_mem_stats(cpu).cached == 0);
}

static void
test_oom(void)
{
    td_buf *b = NULL;

    CHECK_FAILS(td_buf_new(cpu, NULL, (size_t)1 << 48, &b), TD_ERR_OOM, "asked for 256.00 TiB");
    CHECK_FAILS(td_buf_new(cpu, NULL, SIZE_MAX, &b), TD_ERR_OOM, "18446744073709551615 bytes");
    CHECK_FAILS(td_buf_new(cpu, NULL, (size_t)1 << 62, &b), TD_ERR_OOM, "free");
}

static void
count(void *owner)
{
    ++*(int *)owner;
}

static void
test_wrap(void)
{
    char mine[64];
    int released = 0;
    td_memstat m = td_mem_stats(cpu);
    td_buf *b;

    CHECK_OK(td_buf_wrap(cpu, mine, sizeof mine, count, &released, &b));
    CHECK(b->ptr == (uintptr_t)mine && td_mem_stats(cpu).used == m.used);
    CHECK(td_buf_ref(b) == b);
    td_buf_unref(b);
    CHECK(released == 0);
    td_buf_unref(b);
    CHECK(released == 1);
    td_buf_unref(NULL);
    CHECK_OK(td_buf_wrap(cpu, mine, sizeof mine, NULL, NULL, &b));
    td_buf_unref(b);
}

static void
test_copies(void)
{
    static const size_t sizes[] = {0, 1, 1000, (4 << 20) - 1, (9 << 20) + 3};
    td_stream *s = td_dev_stream(cpu);

    for (int i = 0; i < 5; i++) {
        size_t n = sizes[i];
        char *in = malloc(n + 1), *out = calloc(n + 1, 1);
        td_buf *a, *b;

        for (size_t k = 0; k < n; k++)
            in[k] = (char)(k * 7 + k / 251);
        CHECK_OK(td_buf_new(cpu, s, n, &a));
        CHECK_OK(td_buf_new(cpu, s, n, &b));
        CHECK_OK(td_fill(s, b->ptr, 0x5a, n));
        CHECK(n == 0 || ((char *)b->ptr)[n - 1] == 0x5a);
        CHECK_OK(td_copy_in(s, a->ptr, in, n));
        CHECK_OK(td_copy(s, b->ptr, a->ptr, n));
        CHECK_OK(td_copy_out(s, out, b->ptr, n));
        CHECK(memcmp(in, out, n) == 0 && out[n] == 0);
        td_buf_unref(a);
        td_buf_unref(b);
        free(in);
        free(out);
    }
}

static void
test_host(void)
{
    static const size_t sizes[] = {0, 1, 5000, 200 << 10, 3 << 20};
    void *p, *q;

    for (int i = 0; i < 5; i++) {
        p = td_host_alloc(sizes[i]);
        CHECK(p && (uintptr_t)p % 64 == 0);
        memset(p, 1, sizes[i]);
        td_host_free(p, sizes[i]);
    }
    p = td_host_alloc(3 << 20);
    td_host_free(p, 3 << 20);
    q = td_host_alloc(3 << 20);
    CHECK(p == q);
    td_host_free(q, 3 << 20);
    for (size_t i = 0; i < 100; i++) /* more than are kept */
        td_host_free(td_host_alloc((200 + i) << 10), (200 + i) << 10);
    CHECK(!td_host_alloc(SIZE_MAX));
    td_host_free(NULL, 3 << 20);
    CHECK_OK(td_mem_trim(cpu));
}

static void
test_streams(void)
{
    td_stream *s;
    td_event *e, *f, *plain;
    td_buf *b, *c;
    bool done = false;
    double ms = -1, within;
    uintptr_t p;

    CHECK_OK(td_stream_new(cpu, &s));
    CHECK(td_stream_dev(s) == cpu && !td_stream_handle(s) && s != td_dev_stream(cpu));
    CHECK_OK(td_event_new(cpu, true, &e));
    CHECK_OK(td_event_new(cpu, true, &f));
    CHECK_OK(td_event_new(cpu, false, &plain));
    CHECK_FAILS(td_event_elapsed(e, f, &ms), TD_ERR_VALUE, "recorded");
    within = -now_us() / 1e3;
    CHECK_OK(td_event_record(e, s));
    usleep(2000);
    CHECK_OK(td_event_record(f, s));
    within += now_us() / 1e3;
    CHECK_OK(td_stream_wait(td_dev_stream(cpu), f));
    CHECK_OK(td_event_sync(f));
    CHECK_OK(td_event_done(f, &done));
    CHECK_OK(td_event_elapsed(e, f, &ms));
    CHECK(done && ms >= 2 && ms <= within);
    CHECK_FAILS(td_event_elapsed(e, plain, &ms), TD_ERR_VALUE, "timing");
    CHECK_OK(td_stream_sync(s));
    CHECK_OK(td_dev_sync(cpu));

    CHECK_OK(td_buf_new(cpu, s, 5 << 20,
                        &b)); /* a buffer outlives its stream; its memory does not get lost */
    CHECK_OK(td_buf_new(cpu, s, 100, &c));
    p = b->ptr;
    td_stream_free(s);
    td_buf_unref(b);
    td_buf_unref(c);
    CHECK_OK(td_buf_new(cpu, NULL, 5 << 20, &b));
    CHECK(b->ptr == p);
    td_buf_unref(b);
    td_stream_free(NULL);
    td_stream_free(td_dev_stream(cpu));
    td_event_free(e);
    td_event_free(f);
    td_event_free(plain);
    td_event_free(NULL);
}

/* out[i] = in[i] * scale, a block an eighth of the elements. */
static void
scale(const uint64_t *args, int64_t bid, int64_t nblock)
{
    double *out = (double *)args[0], factor;
    const double *in = (const double *)args[1];
    int64_t n = (int64_t)args[3] / nblock;

    memcpy(&factor, &args[2], sizeof factor);
    for (int64_t i = bid * n; i < (bid + 1) * n; i++)
        out[i] = in[i] * factor;
}

static void
test_launch(void)
{
    enum { N = 8000 };
    td_func *f;
    td_module *m;
    td_buf *in, *out;
    td_dims dims = {.grid = {2, 4, 1}, .block = {1, 1, 1}};
    uint64_t args[4] = {0, 0, 0, N};
    double factor = 2.5;
    void *cubin;
    size_t n;

    CHECK_OK(td_buf_new(cpu, NULL, N * sizeof(double), &in));
    CHECK_OK(td_buf_new(cpu, NULL, N * sizeof(double), &out));
    for (int i = 0; i < N; i++)
        ((double *)in->ptr)[i] = i;
    args[0] = out->ptr;
    args[1] = in->ptr;
    memcpy(&args[2], &factor, sizeof factor);
    CHECK_OK(td_func_of_entry(cpu, "scale", scale, &f));
    CHECK_OK(td_launch(f, td_dev_stream(cpu), &dims, args, 4));
    for (int i = 0; i < N; i++)
        if (!CHECK(((double *)out->ptr)[i] == i * 2.5))
            break;
    dims.block[0] = 2;
    CHECK_FAILS(td_launch(f, NULL, &dims, args, 4), TD_ERR_VALUE,
                "launch of scale: grid (2, 4, 1), block (2, 1, 1)");
    dims = (td_dims){.grid = {2, 0, 1}, .block = {1, 1, 1}};
    CHECK_FAILS(td_launch(f, NULL, &dims, args, 4), TD_ERR_VALUE, "grid (2, 0, 1)");
    CHECK_FAILS(td_module_load(cpu, ".version 8.0", &m), TD_ERR_DEVICE, "cpu");
    CHECK_FAILS(td_dev_assemble(cpu, ".version 8.0", &cubin, &n), TD_ERR_DEVICE, "cpu");
    td_func_free(f);
    td_func_free(NULL);
    td_buf_unref(in);
    td_buf_unref(out);
}

/* Each block fills its shared memory, and counts what stands there. */
static void
use_shared(const uint64_t *args, int64_t bid, int64_t nblock)
{
    int64_t *own = td_scratch(), n = (int64_t)args[1], sum = 0;

    (void)nblock;
    for (int64_t i = 0; i < n; i++)
        own[i] = bid + i;
    for (int64_t i = 0; i < n; i++)
        sum += own[i] - i;
    ((int64_t *)args[0])[bid] = sum;
}

static void
test_shared(void)
{
    enum { N = 1000 };
    static int64_t sums[N];
    td_func *f;

    CHECK_OK(td_func_of_entry(cpu, "use_shared", use_shared, &f));
    for (int64_t n = 10; n < 10000; n *= 10) {
        td_dims dims = {.grid = {N, 1, 1}, .block = {1, 1, 1}, .shared = (uint32_t)(8 * n)};
        uint64_t args[2] = {(uintptr_t)sums, (uint64_t)n};

        CHECK_OK(td_launch(f, td_dev_stream(cpu), &dims, args, 2));
        for (int k = 0; k < N; k++)
            if (!CHECK(sums[k] == k * n))
                break;
    }
    td_func_free(f);
}

static void *
churn(void *arg)
{
    td_buf *b[20] = {NULL};
    unsigned seed = (unsigned)(uintptr_t)arg;

    for (int i = 0; i < 4000; i++) {
        int k = rand_r(&seed) % 20;
        size_t n = (size_t)1 << rand_r(&seed) % 20;

        td_buf_unref(b[k]);
        b[k] = NULL;
        if (td_buf_new(cpu, NULL, n, &b[k]))
            return (void *)1;
        memset((void *)b[k]->ptr, k, n < 64 ? n : 64);
    }
    for (int k = 0; k < 20; k++)
        td_buf_unref(b[k]);
    return NULL;
}

static void
test_threads(void)
{
    pthread_t t[4];
    void *bad;
    pid_t p;
    int st;

    for (uintptr_t i = 0; i < 4; i++)
        pthread_create(&t[i], NULL, churn, (void *)(i + 1));
    p = fork(); /* no lock is left behind in the child */
    if (p == 0)
        _exit(churn((void *)9) ? 1 : 0);
    for (int i = 0; i < 4; i++) {
        pthread_join(t[i], &bad);
        CHECK(!bad);
    }
    CHECK(waitpid(p, &st, 0) == p && WIFEXITED(st) && WEXITSTATUS(st) == 0);
    CHECK(td_mem_stats(cpu).used == 0);
}

static void
test_libraries(void)
{
    static const td_lib_name math[] = {{.so = "libnothing.so.9"}, {.so = "libm.so.6"}, {0}};
    static const td_lib_name none[] = {
        {"libnothing.so.9", 0, "nothing-at-all"}, {"libnothing.so.8", 0, "nothing"}, {0}};
    unsigned n = td_lib_changes();
    char path[512];
    void *lib = NULL, *f = NULL;

    td_lib_search("/nowhere::/usr/lib:");
    CHECK(td_lib_changes() == n + 1);
    CHECK_OK(td_lib_open(math, &lib));
    CHECK_OK(td_lib_symbol(lib, "cos", &f));
    CHECK(strstr(td_lib_path(lib, path, sizeof path), "libm.so.6"));
    CHECK_FAILS(td_lib_symbol(lib, "cosinus", &f), TD_ERR_LIBRARY, "has no cosinus");
    CHECK_FAILS(td_lib_open(none, &lib), TD_ERR_LIBRARY,
                "libnothing.so.9 was not found: pip install nothing-at-all");
    td_lib_search(NULL);
    CHECK(td_blas_info(cpu)[0]);
}

/* A text about a library stays when another one is asked for. */
static void
test_formatted_names(void)
{
    const char *first = td_name_format("%s %d", "cuX", 1),
               *second = td_name_format("%s %d", "cuX", 2);

    CHECK(strcmp(first, "cuX 1") == 0);
    CHECK(strcmp(second, "cuX 2") == 0);
    CHECK(td_name_format("cuX %d", 1) == first);
}

/* c = a b' for two products, b stored transposed, against sums; without a BLAS it says so. */
static void
test_blas(void)
{
    static const double a[12] = {1, 2, 3, 4, 5, 6, -1, -2, -3, 1, 0, 1}, b[6] = {1, 0, 2, 3, 1, -1};
    double c[8] = {0};
    td_gemm g = {.dt = TD_F64, .tb = true, .m = 2, .n = 2, .k = 3, .lda = 3, .ldb = 3, .ldc = 2};
    td_status st;

    g.a = (uintptr_t)a, g.b = (uintptr_t)b, g.c = (uintptr_t)c;
    g.batch = 2, g.stride_a = 6, g.stride_c = 4;
    st = td_blas_gemm(td_dev_stream(cpu), &g);
    CHECK(st == TD_OK || (st == TD_ERR_LIBRARY && strstr(td_error(), "libopenblas.so.0")));
    for (int i = 0; st == TD_OK && i < 8; i++) {
        const double *row = a + i / 2 * 3, *column = b + i % 2 * 3;

        CHECK(c[i] == row[0] * column[0] + row[1] * column[1] + row[2] * column[2]);
    }
    g.dt = TD_F16;
    CHECK(td_blas_gemm(td_dev_stream(cpu), &g) == TD_SKIP);
    g.dt = TD_F64, g.k = 0;
    CHECK_OK(td_blas_gemm(td_dev_stream(cpu), &g));
    CHECK(c[0] == 0 && c[7] == 0);
    g.dt = TD_I8;
    CHECK_FAILS(td_blas_gemm(td_dev_stream(cpu), &g), TD_ERR_TYPE, "int8");
}

static void
show_speed(void)
{
    double from = now_us();
    td_buf *x;

    for (int i = 0; i < 100000; i++) {
        (void)td_buf_new(cpu, NULL, 4096, &x);
        td_buf_unref(x);
    }
    printf("t_dev: a kept block taken and given back in %.3f us\n", (now_us() - from) / 1e5);
}

int
main(void)
{
    test_devices();
    test_reuse();
    test_split();
    test_trim();
    test_oom();
    test_wrap();
    test_copies();
    test_host();
    test_streams();
    test_launch();
    test_shared();
    test_threads();
    test_libraries();
    test_formatted_names();
    test_blas();
    show_speed();
    return check_failures != 0;
}
