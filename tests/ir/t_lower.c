/* t_lower.c - machine code against the interpreter: every row, dtype and lane count, all casts,
 * control flow and memory, on this CPU; and the same kernels as PTX, which ptxas assembles when it is
 * on PATH.
 */
#include "ir/lower_kernel.h"

#include "base/scratch.h"

static td_status
run_object(const test_case *c, const td_lower *lw, const uint64_t *args)
{
    void *object = NULL, *entry = NULL, *code;
    size_t nbytes;
    td_status st;

    TD_TRY(lw->object(&c->f, &object, &nbytes));
    st = lw->link(object, nbytes, c->name, &entry, &code);
    free(object);
    if (st)
        return st;
    CHECK(td_scratch_grow(c->shared));
    for (uint32_t b = 0; b < c->grid; b++)
        ((void (*)(const uint64_t *, int64_t, int64_t))(uintptr_t)entry)(args, b, c->grid);
    lw->unlink(code); /* the next object takes its dylib */
    return TD_OK;
}

/* ---- PTX ---- */

static struct {
    char dir[64];
    int n;
    bool have; /* ptxas */
} ptxas;

static void
ptxas_start(void)
{
    snprintf(ptxas.dir, sizeof ptxas.dir, "/tmp/t_lower.XXXXXX");
    ptxas.have = system("ptxas --version >/dev/null 2>&1") == 0 && mkdtemp(ptxas.dir);
}

/* Assembles what has been gathered, in one call. */
static void
ptxas_flush(void)
{
    char cmd[256];

    if (ptxas.have && ptxas.n) {
        snprintf(
            cmd, sizeof cmd,
            "cd %s && for f in *.ptx; do ptxas -O1 -arch=sm_90 -o /dev/null $f || exit 1; done",
            ptxas.dir);
        CHECK(system(cmd) == 0);
        snprintf(cmd, sizeof cmd, "rm -r %s", ptxas.dir);
        CHECK(system(cmd) == 0);
    }
    ptxas.n = 0;
}

static void
gather_ptx(const test_case *c, const char *text)
{
    char path[160];
    FILE *f;

    if (!ptxas.have)
        return;
    snprintf(path, sizeof path, "%s/%03d_%s.ptx", ptxas.dir, ptxas.n++, c->name);
    f = fopen(path, "w");
    if (CHECK(f)) {
        fputs(text, f);
        fclose(f);
    }
}

static void
to_ptx(test_case *c, const td_lower *lw)
{
    char *text = NULL;

    if (!CHECK_OK(td_fn_finish(&c->f)) || !CHECK_OK(lw->ptx(&c->f, "sm_90", &text))) {
        printf("    in %s\n", c->name);
        return;
    }
    if (strstr(text, "nvvm_reflect") || strstr(text, "add.rn.ftz") ||
        strstr(text, "\tsqrt.approx") || strstr(text, ".extern .func")) {
        printf("ptx %s: flushes, approximates or lacks something\n", c->name);
        check_failures++;
    }
    gather_ptx(c, text);
    free(text);
}

/* ---- the tests ---- */

typedef void rows_fn(test_case *c, td_dtype dt, int lanes, bool ptx);

/* All rows of a dtype, of which n lanes make a register. */
static void
each_row(const td_lower *lw, td_dtype dt, rows_fn *rows, int n, int gpu_lanes)
{
    int lanes[] = {1, n, n / 2 ? n / 2 : 1, 2 * n > 64 ? 64 : 2 * n}, gpu[] = {1, gpu_lanes};
    test_case c;

    for (size_t k = 0; k < sizeof lanes / sizeof *lanes; k++) {
        test_begin(&c, "rows");
        rows(&c, dt, lanes[k], false);
        test_against_interp(&c, lw, "cpu", run_object);
        test_end(&c);
    }
    for (int k = 0; k < 2; k++) {
        test_begin(&c, "rows");
        rows(&c, dt, gpu[k], true);
        to_ptx(&c, lw);
        test_end(&c);
    }
}

static void
each_real_row(const td_lower *lw, td_dtype dt)
{
    int size = (int)td_dtype_size(dt);

    each_row(lw, dt, test_rows, lw->vector_bytes / size, 16 / size);
}

static void
each_complex_row(const td_lower *lw, td_dtype dt)
{
    int part = (int)td_dtype_size(td_dtype_real_of(dt));

    each_row(lw, dt, test_complex_rows, lw->vector_bytes / part, 8 / part);
}

static void
each_cast(const td_lower *lw, td_dtype dt)
{
    int size = (int)td_dtype_size(dt), lanes[] = {1, 16, 16 / size};
    test_case c;

    for (int k = 0; k < 3; k++) {
        test_begin(&c, "casts");
        test_casts(&c, dt, lanes[k], k == 2);
        if (k == 2)
            to_ptx(&c, lw);
        else
            test_against_interp(&c, lw, "cpu", run_object);
        test_end(&c);
    }
}

static void
flows(const td_lower *lw, const flow_case *table, int n, uint32_t optimise)
{
    test_case c;

    for (int k = 0; k < n; k++)
        for (int gpu = 0; gpu < 2; gpu++) {
            if (table[k].on == (gpu ? CPU_ONLY : GPU_ONLY))
                continue;
            test_begin(&c, table[k].name);
            table[k].make(&c, gpu);
            c.f.optimise = optimise;
            if (gpu)
                to_ptx(&c, lw);
            else
                test_against_interp(&c, lw, "cpu", run_object);
            test_end(&c);
        }
}

/* Fast arithmetic: what each target makes of it, and values near the exact ones on this CPU. */
static void
fast(const td_lower *lw)
{
    static const char *const approximate[] = {
        "div.full.ftz.f32",   "sqrt.approx.ftz.f32", "rsqrt.approx.ftz.f32", "ex2.approx.ftz.f32",
        "lg2.approx.ftz.f32", "sin.approx.ftz.f32",  "cos.approx.ftz.f32",   "fma.rn.ftz.f32"};
    static const td_op rows[] = {OP_divide, OP_sqrt, OP_exp, OP_exp2, OP_log, OP_log2,
                                 OP_log10,  OP_sin,  OP_cos, OP_tan,  OP_pow, OP_rsqrt};
    char *text = NULL;
    test_case c;

    for (int gpu = 0; gpu < 2; gpu++) {
        td_val in, out, i, x, sum;

        test_begin(&c, "fast");
        c.f.fast = true;
        in = flow_noise(&c, TD_F32);
        out = test_out(&c, TD_F32, N_FLOW, "sum", 16);
        i = test_each(&c, N_FLOW, 4, gpu);
        x = td_load(&c.f, in, i, TD_NONE, 4, 0);
        x = TD_E2(&c.f, add, TD_E1(&c.f, fabs, TD_E2(&c.f, divide, x, td_const(&c.f, TD_F32, 64))),
                  td_const(&c.f, TD_F32, 0.25));
        sum = x;
        for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
            td_val y = td_emit(&c.f, rows[k], (td_val[]){x, x});

            sum = TD_E2(&c.f, add, sum, TD_E2(&c.f, multiply, y, TD_E1(&c.f, fabs, y)));
        }
        td_store(&c.f, out, i, TD_E1(&c.f, fabs, sum), TD_NONE, 0);
        td_end(&c.f);
        if (!gpu) {
            test_against_interp(&c, lw, "cpu", run_object);
        } else if (CHECK_OK(td_fn_finish(&c.f)) && CHECK_OK(lw->ptx(&c.f, "sm_90", &text))) {
            for (size_t k = 0; k < sizeof approximate / sizeof *approximate; k++)
                if (!CHECK(strstr(text, approximate[k])))
                    printf("    %s is missing\n", approximate[k]);
            CHECK(!strstr(text, ".func")); /* no call of libdevice's */
            gather_ptx(&c, text);
        }
        test_end(&c);
    }
    free(text);
}

/* Of the leak checker, where there is one: LLVM leaves its memory behind when it refuses. */
void __lsan_disable(void) __attribute__((weak));
void __lsan_enable(void) __attribute__((weak));

static void
refusals(const td_lower *lw)
{
    char *text = NULL;
    void *entry, *code;
    test_case c;

    test_begin(&c, "refused");
    flow_block_sum(&c, true);
    CHECK_OK(td_fn_finish(&c.f));
    if (__lsan_disable)
        __lsan_disable();
    CHECK_FAILS(lw->object(&c.f, (void **)&text, &(size_t){0}), TD_ERR_JIT, "shuffle_xor");
    if (__lsan_enable)
        __lsan_enable();
    CHECK_FAILS(lw->ptx(&c.f, "sm_20", &text), TD_ERR_JIT, "sm_20");
    test_end(&c);
    test_begin(&c, "pieces");
    kernel_pieces(&c, true);
    CHECK_OK(td_fn_finish(&c.f));
    CHECK_FAILS(lw->ptx(&c.f, "sm_90", &text), TD_ERR_JIT, "parallel");
    test_end(&c);
    test_begin(&c, "refused");
    flow_block_sum(&c, true);
    CHECK_OK(td_fn_finish(&c.f));
    CHECK_FAILS(lw->text(&c.f, "cubin", NULL, &text), TD_ERR_VALUE, "cubin");
    CHECK_FAILS(lw->link("no object", 9, "k", &entry, &code), TD_ERR_JIT, "");
    if (CHECK_OK(lw->ptx(&c.f, "sm_120", &text)))
        CHECK(strstr(text, ".target sm_90"));
    free(text);
    text = NULL;
    if (CHECK_OK(lw->text(&c.f, "llvm", "sm_80", &text)))
        CHECK(strstr(text, "define"));
    free(text);
    test_end(&c);
}

int
main(void)
{
    const td_lower *lw = td_lower_open();
    bool again = getenv("TREADLE_CPU") != NULL;
    double t = now_us();

    setvbuf(stdout, NULL, _IOLBF, 0);
    if (!again)
        ptxas_start();
    each_complex_row(lw, TD_C64);
    each_complex_row(lw, TD_C128);
    for (int dt = 0; dt < TD_DTYPE_COUNT; dt++)
        if (!td_dtype_is_complex((td_dtype)dt)) {
            if (!td_dtype_is_half((td_dtype)dt))
                each_real_row(lw, (td_dtype)dt);
            each_cast(lw, (td_dtype)dt);
        }
    for (uint32_t optimise = 0; optimise <= (again ? 0u : 3u); optimise += 3) {
        flows(lw, flow_table, N_FLOWS, optimise);
        flows(lw, kernel_table, N_KERNELS, optimise);
    }
    fast(lw);
    refusals(lw);
    printf("%d-byte vectors: compared in %.1f s\n", lw->vector_bytes, (now_us() - t) / 1e6);
    if (!again) {
        t = now_us();
        ptxas_flush();
        printf(ptxas.have ? "assembled in %.1f s\n" : "ptxas is not on PATH\n",
               (now_us() - t) / 1e6);
        test_older("t_lower");
    }
    return check_failures != 0;
}
