/* t_dev_gpu.c - a real GPU: memory, copies, streams, code, products; prints what it measures.
 *
 * Exits with 77 where there is no GPU.  Arguments: folders to look for cuBLAS in, separated by colons.
 */
#include "dev/core/blas.h"
#include "dev/core/dev.h"
#include "dev/foreign/library.h"

#include "check.h"
#include "copies.h"

#include <complex.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static const char ptx[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry scale(.param .u64 p0, .param .f32 p1, .param .u32 p2)\n{\n"
    " .reg .b64 %rd<4>; .reg .b32 %r<6>; .reg .f32 %f<4>; .reg .pred %p;\n"
    " ld.param.u64 %rd0, [p0]; ld.param.f32 %f0, [p1]; ld.param.u32 %r0, [p2];\n"
    " mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.u32 %r4, %r1, %r2, "
    "%r3;\n"
    " setp.ge.u32 %p, %r4, %r0; @%p bra done;\n"
    " cvta.to.global.u64 %rd1, %rd0; mul.wide.u32 %rd2, %r4, 4; add.u64 %rd1, %rd1, %rd2;\n"
    " ld.global.f32 %f1, [%rd1]; mul.f32 %f1, %f1, %f0; st.global.f32 [%rd1], %f1;\n"
    "done:\n ret;\n}\n"
    ".visible .entry idle()\n{\n ret;\n}\n"
    ".visible .entry wild()\n{\n .reg .b64 %rd; mov.u64 %rd, 16; st.global.u32 [%rd], 1; ret;\n}\n";

static td_dev *gpu;

static void
test_device(double start)
{
    const td_devinfo *i = td_dev_info(gpu);
    size_t free_bytes = 0, total = 0;
    td_dev *d;

    printf("t_dev_gpu: %s, %s, %s, %d units, driver %d, opened in %.0f ms\n", i->name, i->model,
           i->arch, i->units, i->driver, (now_us() - start) / 1e3);
    CHECK(i->kind == TD_DEV_CUDA && i->warp == 32 && i->max_threads == 1024 &&
          i->max_shared >= 48 << 10);
    CHECK_OK(td_dev_memory(gpu, &free_bytes, &total));
    CHECK(free_bytes > 0 && free_bytes <= total && total <= i->memory);
    CHECK_OK(td_dev_get("cuda", &d));
    CHECK(d == gpu && td_dev_cuda_missing()[0] == 0);
    CHECK_FAILS(td_dev_get("cuda:63", &d), TD_ERR_DEVICE, "cuda:63");
}

static void
test_copies(void)
{
    static const size_t sizes[] = {
        1, 1000, 1 << 20, (3 << 20) + 5, (40 << 20) + 1, (5 << 20) + 77, 200 << 20};
    td_stream *s;

    CHECK_OK(td_stream_new(gpu, &s));
    for (int r = 0; r < 3; r++)
        for (int i = 0; i < 7; i++) {
            (void)copies_return(gpu, s, sizes[i]);
            (void)copies_return(gpu, td_dev_stream(gpu), sizes[i]);
        }
    td_stream_free(s);
}

static void
test_oom(void)
{
    td_buf *b = NULL;

    CHECK_FAILS(td_buf_new(gpu, NULL, td_dev_info(gpu)->memory * 2, &b), TD_ERR_OOM, "asked for");
    CHECK(copies_return(gpu, td_dev_stream(gpu), 1000));
}

/* Work on a stream, staged copies and the default stream see each other's results. */
static void
test_order(td_func *scale)
{
    enum { N = 4 << 20 };
    td_dims dims = {.grid = {N / 256, 1, 1}, .block = {256, 1, 1}};
    uint64_t args[3] = {0, 0, N};
    float *x = malloc(N * sizeof *x), two = 2;
    td_stream *s;
    td_event *e, *f;
    td_buf *b;
    double ms = -1;
    bool done = false;
    int wrong = 0;

    CHECK_OK(td_stream_new(gpu, &s));
    CHECK_OK(td_event_new(gpu, true, &e));
    CHECK_OK(td_event_new(gpu, true, &f));
    CHECK_OK(td_buf_new(gpu, s, N * sizeof *x, &b));
    args[0] = b->ptr;
    memcpy(&args[1], &two, sizeof two);
    for (int r = 0; r < 5; r++) {
        for (int i = 0; i < N; i++)
            x[i] = (float)(i + r);
        CHECK_OK(td_event_record(e, s));
        CHECK_OK(td_copy_in(s, b->ptr, x, N * sizeof *x));
        for (int k = 0; k < 8; k++)
            CHECK_OK(td_launch(scale, s, &dims, args, 3));
        CHECK_OK(td_event_record(f, s));
        CHECK_OK(td_stream_wait(td_dev_stream(gpu), f));
        CHECK_OK(td_copy_out(td_dev_stream(gpu), x, b->ptr, N * sizeof *x));
        for (int i = 0; i < N; i++)
            wrong += x[i] != 256 * (float)(i + r);
    }
    CHECK(wrong == 0);
    CHECK_OK(td_event_sync(f));
    CHECK_OK(td_event_done(f, &done));
    CHECK_OK(td_event_elapsed(e, f, &ms));
    CHECK(done && ms > 0 && ms < 10000);
    td_buf_unref(b);
    td_event_free(e);
    td_event_free(f);
    td_stream_free(s);
    free(x);
}

static void
show_launch(td_func *f, int narg, const uint64_t *args, const char *what)
{
    td_dims dims = {.grid = {1, 1, 1}, .block = {32, 1, 1}};
    double best = 1e9;

    for (int r = 0; r < 20; r++) {
        double t = now_us();

        for (int i = 0; i < 500; i++)
            (void)td_launch(f, NULL, &dims, args, narg);
        t = (now_us() - t) / 500;
        best = t < best ? t : best;
        CHECK_OK(td_dev_sync(gpu));
    }
    printf("t_dev_gpu: a launch of %s takes %.2f us\n", what, best);
}

static void
test_code(void)
{
    td_module *m, *direct;
    td_func *scale, *idle;
    td_buf *b;
    uint64_t args[3] = {0, 0, 1};
    void *cubin = NULL;
    size_t n = 0;
    double t = now_us();

    CHECK_OK(td_dev_assemble(gpu, ptx, &cubin, &n));
    printf("t_dev_gpu: PTX to a cubin of %zu bytes in %.1f ms", n, (now_us() - t) / 1e3);
    t = now_us();
    CHECK_OK(td_module_load(gpu, cubin, &m));
    printf(", loaded in %.2f ms\n", (now_us() - t) / 1e3);
    free(cubin);
    CHECK_OK(td_module_load(gpu, ptx, &direct));
    td_module_free(direct);
    CHECK_OK(td_module_func(m, "scale", &scale));
    CHECK_OK(td_module_func(m, "idle", &idle));
    test_order(scale);
    CHECK_OK(td_buf_new(gpu, NULL, 1024, &b));
    args[0] = b->ptr;
    show_launch(idle, 0, NULL, "no arguments");
    show_launch(scale, 3, args, "three arguments");
    td_buf_unref(b);
    CHECK_FAILS(td_launch(scale, NULL, &(td_dims){.grid = {1, 1, 1}, .block = {1, 1, 1}}, args, 2),
                TD_ERR_VALUE, "2 arguments for 3 parameters");
    CHECK_FAILS(
        td_launch(idle, NULL, &(td_dims){.grid = {1, 1, 1}, .block = {2048, 1, 1}}, NULL, 0),
        TD_ERR_DEVICE, "launch of idle: grid (1, 1, 1), block (2048, 1, 1)");
    CHECK_OK(td_launch(idle, NULL,
                       &(td_dims){.grid = {1, 1, 1}, .block = {32, 1, 1}, .shared = 100 << 10},
                       NULL, 0));
    CHECK_OK(td_dev_sync(gpu));
    CHECK_FAILS(
        td_dev_assemble(gpu, ".version 7.0\n.target sm_70\n.address_size 64\nnonsense", &cubin, &n),
        TD_ERR_DEVICE, "nonsense");
    CHECK_FAILS(td_module_func(m, "none", &idle), TD_ERR_DEVICE, "no kernel \"none\"");
    td_module_free(m);
}

static void
show_bandwidth(void)
{
    size_t n = (size_t)1 << 30;
    char *host = td_host_alloc(n), *fresh;
    td_stream *s = td_dev_stream(gpu);
    double best_in = 1e12, best_out = 1e12, t;
    td_buf *b;

    CHECK_OK(td_buf_new(gpu, s, n, &b));
    memset(host, 1, n);
    for (int r = 0; r < 4; r++) {
        t = now_us();
        CHECK_OK(td_copy_in(s, b->ptr, host, n));
        CHECK_OK(td_stream_sync(s));
        t = now_us() - t;
        best_in = t < best_in ? t : best_in;
        t = now_us();
        CHECK_OK(td_copy_out(s, host, b->ptr, n));
        t = now_us() - t;
        best_out = t < best_out ? t : best_out;
    }
    fresh = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    t = now_us();
    CHECK_OK(td_copy_out(s, fresh, b->ptr, n));
    t = now_us() - t;
    CHECK(fresh[n - 1] == 1);
    munmap(fresh, n);
    printf("t_dev_gpu: 1 GiB in %.1f GB/s, out %.1f, out to new memory %.1f",
           (double)n / best_in / 1e3, (double)n / best_out / 1e3, (double)n / t / 1e3);
    fresh = td_host_alloc(n / 2);
    t = now_us();
    CHECK_OK(td_copy_out(s, fresh, b->ptr, n / 2));
    t = now_us() - t;
    printf(", to td_host_alloc's %.1f\n", (double)n / 2 / t / 1e3);
    td_host_free(fresh, n / 2);
    for (size_t k = (size_t)1 << 20; k <= (size_t)16 << 20; k *= 2) {
        best_in = best_out = 1e12;
        for (int r = 0; r < 10; r++) {
            t = now_us();
            (void)td_copy_in(s, b->ptr, host, k);
            (void)td_stream_sync(s);
            t = now_us() - t;
            best_in = t < best_in ? t : best_in;
            t = now_us();
            (void)td_copy_out(s, host, b->ptr, k);
            t = now_us() - t;
            best_out = t < best_out ? t : best_out;
        }
        printf("t_dev_gpu: %2zu MiB in %.0f us, out %.0f us\n", k >> 20, best_in, best_out);
    }
    td_host_free(host, n);
    td_buf_unref(b);
    CHECK_OK(td_mem_trim(gpu));
}

/* ---- products ---- */

static double _Complex element(const void *p, td_dtype dt, int64_t i)
{
    td_scalar s = td_scalar_load(dt, (const char *)p + (size_t)i * td_dtype_size(dt));

    return s.f[0] + (td_dtype_is_complex(dt) ? s.f[1] * I : 0);
}

static void
set_element(void *p, td_dtype dt, int64_t i, double re, double im)
{
    td_scalar s = {.dt = TD_C128, .f = {re, im}};
    uint64_t bits[2];

    td_scalar_bits(s, dt, bits);
    memcpy((char *)p + (size_t)i * td_dtype_size(dt), bits, td_dtype_size(dt));
}

/* One product of each kind against sums on the host; operands are padded and stored as told. */
static void
test_gemm(td_dtype dt, bool ta, bool tb, int64_t batch)
{
    enum { M = 37, NN = 29, K = 53, LDA = 64, LDB = 60, LDC = 31 };
    int64_t rows_a = ta ? K : M, rows_b = tb ? NN : K;
    int64_t na = rows_a * LDA, nb = rows_b * LDB, nc = M * LDC, size = (int64_t)td_dtype_size(dt);
    double tol = dt == TD_BF16 ? 3e-2 : td_dtype_real_of(dt) == TD_F64 ? 1e-13 : 1e-5;
    size_t bytes[3] = {(size_t)(na * batch * size), (size_t)(nb * batch * size),
                       (size_t)(nc * batch * size)};
    void *a = calloc(1, bytes[0]), *b = calloc(1, bytes[1]), *c = calloc(1, bytes[2]);
    td_stream *s = td_dev_stream(gpu);
    td_buf *da, *db, *dc;
    double worst = 0;

    for (int64_t i = 0; i < na * batch; i++)
        set_element(a, dt, i, (double)(i % 17) / 16 - 0.5, (double)(i % 7) / 8);
    for (int64_t i = 0; i < nb * batch; i++)
        set_element(b, dt, i, (double)(i % 13) / 16 - 0.25, (double)(i % 5) / 8);
    CHECK_OK(td_buf_new(gpu, s, bytes[0], &da));
    CHECK_OK(td_buf_new(gpu, s, bytes[1], &db));
    CHECK_OK(td_buf_new(gpu, s, bytes[2], &dc));
    CHECK_OK(td_copy_in(s, da->ptr, a, bytes[0]));
    CHECK_OK(td_copy_in(s, db->ptr, b, bytes[1]));
    CHECK_OK(td_fill(s, dc->ptr, 0, bytes[2]));
    td_gemm g = {dt, ta, tb, M, NN, K, da->ptr, db->ptr, dc->ptr, LDA, LDB, LDC, batch, na, nb, nc};
    CHECK_OK(td_blas_gemm(s, &g));
    CHECK_OK(td_copy_out(s, c, dc->ptr, bytes[2]));
    for (int64_t z = 0; z < batch; z++)
        for (int64_t i = 0; i < M; i++)
            for (int64_t j = 0; j < NN; j++) {
                double _Complex sum = 0;

                for (int64_t k = 0; k < K; k++)
                    sum += element(a, dt, z * na + (ta ? k * LDA + i : i * LDA + k)) *
                           element(b, dt, z * nb + (tb ? j * LDB + k : k * LDB + j));
                worst = fmax(worst, cabs(sum - element(c, dt, z * nc + i * LDC + j)));
            }
    if (!CHECK(worst < tol))
        printf("gemm of %s, ta %d tb %d batch %d: error %g\n", td_dtype_name(dt), ta, tb,
               (int)batch, worst);
    td_buf_unref(da);
    td_buf_unref(db);
    td_buf_unref(dc);
    free(a);
    free(b);
    free(c);
}

static void
test_products(void)
{
    static const td_dtype dts[] = {TD_BF16, TD_F32, TD_F64, TD_C64, TD_C128};
    td_gemm g = {.dt = TD_F32, .m = 1, .n = 1, .k = 1, .batch = 1, .lda = 1, .ldb = 1, .ldc = 1};
    td_stream *s = td_dev_stream(gpu);
    td_buf *b;
    float x = 7;
    double t;

    printf("t_dev_gpu: %s\n", td_blas_info(gpu));
    if (td_blas_gemm(
            s,
            &(td_gemm){
                .dt = TD_F32, .m = 1, .n = 1, .k = 1, .lda = 0, .ldb = 1, .ldc = 1, .batch = 1}) !=
        TD_ERR_VALUE)
        CHECK(!"a row stride of 0 was taken");
    if (strncmp(td_blas_info(gpu), "cuBLAS", 6) != 0)
        return;
    for (size_t i = 0; i < sizeof dts / sizeof *dts; i++)
        for (int k = 0; k < 8; k++)
            test_gemm(dts[i], k & 1, k & 2, k & 4 ? 3 : 1);
    CHECK_OK(td_buf_new(gpu, s, (size_t)3 << 28, &b));
    CHECK_OK(td_copy_in(s, b->ptr, &x, 4));
    g.k = 0;
    g.a = g.b = g.c = b->ptr;
    CHECK_OK(td_blas_gemm(s, &g)); /* over nothing: zero */
    CHECK_OK(td_copy_out(s, &x, b->ptr, 4));
    CHECK(x == 0);
    for (int half = 1; half >= 0; half--) {
        g = (td_gemm){
            half ? TD_F16 : TD_F32, false, false, 8192, 8192, 8192, b->ptr, b->ptr + (1u << 28),
            b->ptr + (2u << 28),    8192,  8192,  8192, 1,    0,    0,      0};
        CHECK_OK(td_fill(s, b->ptr, 0x3c, (size_t)3 << 28));
        CHECK_OK(td_blas_gemm(s, &g));
        CHECK_OK(td_stream_sync(s));
        t = now_us();
        for (int r = 0; r < 3; r++)
            CHECK_OK(td_blas_gemm(s, &g));
        CHECK_OK(td_stream_sync(s));
        t = (now_us() - t) / 3;
        printf("t_dev_gpu: 8192 cubed of %s: %.1f TFLOP/s\n", td_dtype_name(g.dt),
               2.0 * 8192 * 8192 * 8192 / t / 1e6);
    }
    td_buf_unref(b);
}

static void
show_pool(void)
{
    double t = now_us();
    td_buf *b;

    for (int i = 0; i < 100000; i++) {
        (void)td_buf_new(gpu, NULL, 4096, &b);
        td_buf_unref(b);
    }
    printf("t_dev_gpu: a kept block taken and given back in %.3f us\n", (now_us() - t) / 100000);
}

static void
test_fork(void)
{
    pid_t p = fork();
    int st;

    if (p == 0)
        _exit(CHECK_FAILS(td_dev_sync(gpu), TD_ERR_DEVICE, "spawn") ? 0 : 1);
    CHECK(waitpid(p, &st, 0) == p && WIFEXITED(st) && WEXITSTATUS(st) == 0);
}

/* Last: an error that the context does not survive is an error from then on, not a crash. */
static void
test_wild(void)
{
    td_module *m;
    td_func *f;
    td_buf *b = NULL;

    CHECK_OK(td_module_load(gpu, ptx, &m));
    CHECK_OK(td_module_func(m, "wild", &f));
    CHECK_OK(td_launch(f, NULL, &(td_dims){.grid = {1, 1, 1}, .block = {1, 1, 1}}, NULL, 0));
    CHECK_FAILS(td_dev_sync(gpu), TD_ERR_DEVICE, "CUDA_ERROR_ILLEGAL_ADDRESS");
    CHECK(td_buf_new(gpu, NULL, 3u << 30, &b) == TD_ERR_DEVICE);
    td_module_free(m);
}

int
main(int argc, char **argv)
{
    double start = now_us();

    if (td_dev_count(TD_DEV_CUDA) == 0) {
        printf("t_dev_gpu: skipped: %s\n", td_dev_cuda_missing());
        return 77;
    }
    if (argc > 1)
        td_lib_search(argv[1]);
    if (!CHECK_OK(td_dev_default(&gpu)) || !CHECK_OK(td_dev_get("cuda:0", &gpu)))
        return 1;
    test_device(start);
    test_copies();
    test_oom();
    test_code();
    show_bandwidth();
    test_products();
    show_pool();
    test_fork();
    test_wild();
    return check_failures != 0;
}
