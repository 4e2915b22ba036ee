/* lower_cases.h - kernels that together hold every row of the IR, and their comparison with the
 * interpreter.  Shared by the tests of the CPU and of the GPU code.
 */
#ifndef TD_TESTS_LOWER_CASES_H
#define TD_TESTS_LOWER_CASES_H
#include "again.h"
#include "check.h"
#include "ir/core/complex.h"
#include "ir/interp/interp.h"
#include "lower/lower.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    MAX_ARGS = 128,
    N_ROWS = 1024, /* elements of a row's test; a multiple of every lane count */
    N_CASTS = 1 << 16,
};
enum { TEST_RUNS = -1 };

/* A kernel, its arguments and what is known of its outputs. */
typedef struct test_case {
    char name[64];
    td_arena mem;
    td_fn f;
    uint64_t args[MAX_ARGS];
    size_t nbytes[MAX_ARGS]; /* of what an input points to; 0: a number or an output */
    int narg;
    uint32_t grid, block;
    size_t shared; /* bytes of dynamic shared memory */
    struct {
        int arg; /* its position */
        td_dtype dt;
        int64_t n;
        const char *what;
        int ulp; /* tolerance; 0: equal bits, but NaN equals NaN; TEST_RUNS: not compared */
    } out[MAX_ARGS];
    int nout;
} test_case;

/* ---- numbers ---- */

static uint64_t test_seed = 1;

static inline uint64_t
test_random(void)
{
    test_seed = test_seed * 6364136223846793005u + 1442695040888963407u;
    return td_mix64(test_seed);
}

static const double test_floats[] = {0.0,
                                     -0.0,
                                     1.0,
                                     -1.0,
                                     0.5,
                                     -0.5,
                                     1.5,
                                     2.5,
                                     -2.5,
                                     3.0,
                                     -3.0,
                                     3.14159265358979,
                                     0.1,
                                     1e10,
                                     -1e10,
                                     1e-10,
                                     127.5,
                                     255.0,
                                     256.0,
                                     -128.5,
                                     -129.0,
                                     65504.0,
                                     65519.9,
                                     65520.0,
                                     2147483647.0,
                                     2147483648.0,
                                     -2147483648.0,
                                     -2147483648.5,
                                     -2147483649.0,
                                     4294967296.0,
                                     9.2233720368547748e18,
                                     9.3e18,
                                     -9.3e18,
                                     1.9e19,
                                     -0.75,
                                     88.8,
                                     710.0,
                                     -745.0,
                                     1e30,
                                     3.4e38,
                                     1.5e-45,
                                     1e-40,
                                     6.1e-5,
                                     5.9e-8,
                                     2.9e-8,
                                     1.7e308,
                                     4.9e-324,
                                     1e22,
                                     INFINITY,
                                     -INFINITY,
                                     NAN};
enum { N_FLOATS = sizeof test_floats / sizeof *test_floats };

static const uint64_t test_ints[] = {0,
                                     1,
                                     2,
                                     3,
                                     5,
                                     7,
                                     8,
                                     10,
                                     15,
                                     16,
                                     31,
                                     32,
                                     33,
                                     63,
                                     64,
                                     65,
                                     100,
                                     127,
                                     128,
                                     255,
                                     256,
                                     0x7fff,
                                     0x8000,
                                     0xffff,
                                     0x7fffffff,
                                     0x80000000,
                                     0xffffffff,
                                     0x7fffffffffffffff,
                                     0x8000000000000000,
                                     0x8000000000000001,
                                     0xffffffffffffffff,
                                     0xfffffffffffffffe,
                                     0xfffffffffffffffd,
                                     0xffffffffffffff80,
                                     0xffffffffffff8000,
                                     0xffffffff80000000,
                                     0xaaaaaaaa55555555,
                                     0x8080808080808080,
                                     0x0080008000800080,
                                     0x4080000040800001};
enum { N_INTS = sizeof test_ints / sizeof *test_ints };

/* The k-th special value of dt into p. */
static inline void
test_special(td_dtype dt, int k, void *p)
{
    td_scalar s = {.dt = TD_F64, .f = {test_floats[k % N_FLOATS]}};
    uint64_t bits[2] = {test_ints[k % N_INTS]};

    if (dt == TD_BOOL)
        bits[0] = k & 1;
    else if (td_dtype_is_float(dt))
        td_scalar_bits(s, dt, bits);
    memcpy(p, bits, td_dtype_size(dt));
}

static inline int
test_nspecial(td_dtype dt)
{
    return dt == TD_BOOL ? 2 : td_dtype_is_float(dt) ? N_FLOATS : N_INTS;
}

static inline void
test_noise(td_dtype dt, void *p)
{
    uint64_t bits = test_random();

    if (dt == TD_BOOL)
        bits &= 1;
    memcpy(p, &bits, td_dtype_size(dt));
}

/* ---- building ---- */

static inline void
test_begin(test_case *c, const char *name)
{
    memset(c, 0, sizeof *c);
    snprintf(c->name, sizeof c->name, "%s", name);
    c->f = td_fn_new(&c->mem, c->name);
    c->grid = c->block = 1;
}

static inline void *
test_buffer(size_t nbytes)
{
    void *p = aligned_alloc(64, (nbytes + 127) / 64 * 64);

    if (!p) {
        printf("out of memory\n");
        exit(1);
    }
    memset(p, 0x5a, (nbytes + 127) / 64 * 64);
    return p;
}

static inline td_val
test_word(test_case *c, td_dtype dt, uint64_t bits)
{
    c->args[c->narg++] = bits;
    return td_param(&c->f, dt);
}

static inline td_val
test_in(test_case *c, td_dtype dt, const void *data, int64_t n)
{
    c->nbytes[c->narg] = (size_t)n * td_dtype_size(dt);
    c->args[c->narg++] = (uintptr_t)data;
    return td_param_ptr(&c->f, dt);
}

/* An output of n elements; both engines get memory of their own. */
static inline td_val
test_out(test_case *c, td_dtype dt, int64_t n, const char *what, int ulp)
{
    TD_ASSERT(c->nout < MAX_ARGS && c->narg < MAX_ARGS);
    c->out[c->nout].arg = c->narg;
    c->out[c->nout].dt = dt;
    c->out[c->nout].n = n;
    c->out[c->nout].what = what;
    c->out[c->nout++].ulp = ulp;
    c->args[c->narg++] = 0;
    return td_param_ptr(&c->f, dt);
}

/* Opens the region in which the returned index steps over n elements, `lanes` at a time; one
 * td_end closes it.  On a GPU a thread has `lanes` elements; else one thread loops. */
static inline td_val
test_each(test_case *c, int64_t n, int lanes, bool gpu)
{
    td_fn *f = &c->f;
    td_val i, count = test_word(c, TD_I64, (uint64_t)n);

    if (!gpu)
        return td_for(f, td_const_int(f, TD_I64, 0), count, td_const_int(f, TD_I64, lanes));
    c->block = 64;
    c->grid = (uint32_t)((n / lanes + 63) / 64);
    i = TD_E2(f, multiply, td_index(f, OP_bid, 0), td_index(f, OP_bdim, 0));
    i = td_cast(f, TD_E2(f, add, i, td_index(f, OP_tid, 0)), TD_I64);
    i = TD_E2(f, multiply, i, td_const_int(f, TD_I64, lanes));
    td_if(f, TD_E2(f, less, i, count));
    return i;
}

/* 1 MATH, 2 EXPR, 0 the rest. */
static const uint8_t test_how[TD_OPS] = {
#define BIN(s, u, f)                       0
#define CMP(s, u, f)                       0
#define INTRIN(n)                          0
#define MATH(n)                            1
#define SPECIAL(n)                         0
#define EXPR(n)                            2
#define OP(n, ar, k, r, fl, mean, low, ...) [OP_##n] = low,
#include "ir/core/ops.def"
#undef BIN
#undef CMP
#undef INTRIN
#undef MATH
#undef SPECIAL
#undef EXPR
};

/* Is a math function, whose last places differ between engines, among the instructions from `from` on? */
static inline bool
test_holds_math(const td_fn *f, uint32_t from)
{
    for (uint32_t k = from; k < f->n; k++)
        if (f->ins[k].op < TD_OPS && test_how[f->ins[k].op] == 1)
            return true;
    return false;
}

/* Of a row that was emitted from instruction `first` on: what engines may differ by. */
static inline int
test_ulp(const td_fn *f, uint32_t first, int op)
{
    if (op == OP_gamma)
        return 16;
    /* these cross zero, lgamma between its poles, where the difference of larger numbers is left */
    if (op == OP_lgamma || op == OP_logaddexp || op == OP_logaddexp2)
        return 64;
    if (strtod(td_optab[op].exactness, NULL) == 0)
        return 0;
    return test_how[op] == 1 ? 8 : test_holds_math(f, first) ? 16 : 0;
}

/* All rows that admit dt in one kernel, over pairs of special values and noise. */
static inline void
test_rows(test_case *c, td_dtype dt, int lanes, bool gpu)
{
    size_t size = td_dtype_size(dt);
    int n = N_ROWS, m = test_nspecial(dt), at[TD_OPS];
    char *in[3], *cond = test_buffer(N_ROWS);
    td_val x[3], out[TD_OPS], v[3], cv, i;
    td_fn *f = &c->f;

    snprintf(c->name, sizeof c->name, "rows_%s_%d", td_dtype_name(dt), lanes);
    for (int a = 0; a < 3; a++) {
        in[a] = test_buffer(N_ROWS * size);
        for (int k = 0; k < n; k++) {
            /* every pair that fits, then noise */
            if (k < 900)
                test_special(dt,
                             a == 0   ? k % m
                             : a == 1 ? k / m + k % m
                                      : k * 7 + 3,
                             in[a] + k * size);
            else
                test_noise(dt, in[a] + k * size);
        }
        x[a] = test_in(c, dt, in[a], N_ROWS);
    }
    for (int k = 0; k < n; k++)
        cond[k] = (char)(test_random() & 1);
    cv = test_in(c, TD_BOOL, cond, N_ROWS);
    for (int op = 0; op < TD_OPS; op++)
        if (td_op_admits((td_op)op, dt)) {
            at[op] = c->nout;
            out[op] = test_out(c, td_optab[op].result == TD_RES_BOOL ? TD_BOOL : dt, n,
                               td_optab[op].name, 0);
        }
    i = test_each(c, n, lanes, gpu);
    for (int a = 0; a < 3; a++)
        v[a] = td_load(f, x[a], i, TD_NONE, lanes, (int)size * (gpu ? lanes : 1));
    cv = td_load(f, cv, i, TD_NONE, lanes, 0);
    for (int op = 0; op < TD_OPS; op++)
        if (td_op_admits((td_op)op, dt)) {
            uint32_t first = f->n;
            td_val r = td_emit(f, (td_op)op, op == OP_select ? (td_val[]){cv, v[0], v[1]} : v);

            c->out[at[op]].ulp = test_ulp(f, first, op);
            td_store(f, out[op], i, r, TD_NONE,
                     gpu ? (int)td_dtype_size((td_dtype)td_at(f, r)->dt) * lanes : 0);
        }
    td_end(f);
}

/* All rows of complex dtype dt in one kernel, over all pairs of parts that fit.  Values of rows that call
 * math functions are compared with NumPy's elsewhere; here they must lower. */
static inline void
test_complex_rows(test_case *c, td_dtype dt, int lanes, bool gpu)
{
    td_dtype part = td_dtype_real_of(dt);
    size_t size = td_dtype_size(part);
    int m = test_nspecial(part), align = gpu ? (int)td_dtype_size(dt) * lanes : 0, at[TD_OPS];
    td_val p[2], cv, i, out[TD_OPS];
    td_num v[3];
    td_fn *f = &c->f;
    char *in, *cond = test_buffer(N_ROWS);

    snprintf(c->name, sizeof c->name, "rows_%s_%d", td_dtype_name(dt), lanes);
    for (int a = 0; a < 2; a++) {
        in = test_buffer(2 * N_ROWS * size);
        for (int k = 0; k < N_ROWS; k++) {
            test_special(part, a ? k * 7 + k / 5 : k % m, in + (size_t)(2 * k) * size);
            test_special(part, a ? k * 3 + k / m : k / m, in + (size_t)(2 * k + 1) * size);
        }
        p[a] = test_in(c, part, in, 2 * N_ROWS);
    }
    for (int k = 0; k < N_ROWS; k++)
        cond[k] = (char)(test_random() & 1);
    cv = test_in(c, TD_BOOL, cond, N_ROWS);
    for (int op = 0; op < TD_OPS; op++)
        if (td_num_admits((td_op)op)) {
            td_dtype r = td_op_result((td_op)op, dt);

            at[op] = c->nout;
            out[op] = test_out(c, td_dtype_real_of(r), td_dtype_is_complex(r) ? 2 * N_ROWS : N_ROWS,
                               td_optab[op].name, 0);
        }
    i = test_each(c, N_ROWS, lanes, gpu);
    for (int a = 0; a < 2; a++)
        v[a] = td_num_load(f, p[a], dt, i, TD_NONE, lanes, align);
    cv = td_load(f, cv, i, TD_NONE, lanes, 0);
    for (int op = 0; op < TD_OPS; op++)
        if (td_num_admits((td_op)op)) {
            td_num s[3] = {td_num_of(cv), v[0], v[1]}, r;
            uint32_t from = f->n;

            r = td_num_emit(f, (td_op)op, op == OP_select ? s : v);
            if (test_holds_math(f, from))
                c->out[at[op]].ulp = TEST_RUNS;
            td_num_store(f, out[op], td_op_result((td_op)op, dt), i, r, TD_NONE, 0);
        }
    td_end(f);
}

/* float32's and the halves' range and ties, which noise of 64 bits would not meet. */
static inline double
test_near_float(int k)
{
    uint32_t bits = (uint32_t)test_random() & (k & 1 ? 0xffffffff : 0xfffff000);
    float s;

    memcpy(&s, &bits, sizeof s);
    if (k & 8)
        return (int32_t)bits % 70000 / 16.0;
    if (k & 2)
        return s;
    return k & 4 ? nextafter(s, 1) : nextafter(s, -1);
}

/* Casts of `from` to every dtype; half sources go through all their values. */
static inline void
test_casts(test_case *c, td_dtype from, int lanes, bool gpu)
{
    size_t size = td_dtype_size(from);
    int64_t n = size == 2 ? N_CASTS : 4096;
    char *in = test_buffer((size_t)n * size);
    td_val x, out[TD_DTYPE_COUNT], v, i;
    td_fn *f = &c->f;

    snprintf(c->name, sizeof c->name, "casts_%s_%d", td_dtype_name(from), lanes);
    for (int64_t k = 0; k < n; k++)
        if (size == 2)
            memcpy(in + k * 2, &(uint16_t){(uint16_t)k}, 2);
        else if (k < 256)
            test_special(from, (int)k, in + (size_t)k * size);
        else
            test_noise(from, in + (size_t)k * size);
    if (size >= 4 &&
        td_dtype_is_int(from)) /* half a unit of a float, and a little on either side */
        for (int64_t k = 1024; k < n; k++) {
            int shift = (int)(test_random() % (8 * size));
            uint64_t w = (((test_random() & 0x1ff) | 1) << shift) + (uint64_t)(k % 3) - 1;

            w = k & 4 ? 0 - w : w;
            memcpy(in + (size_t)k * size, &w, size);
        }
    if (from == TD_F64)
        for (int64_t k = 1024; k < n; k++) {
            double d = test_near_float((int)k);

            memcpy(in + (size_t)k * size, &d, size);
        }
    x = test_in(c, from, in, n);
    for (int to = 0; to < TD_DTYPE_COUNT; to++)
        if (!td_dtype_is_complex((td_dtype)to))
            out[to] = test_out(c, (td_dtype)to, n, td_dtype_name((td_dtype)to), 0);
    i = test_each(c, n, lanes, gpu);
    v = td_load(f, x, i, TD_NONE, lanes, 0);
    for (int to = 0; to < TD_DTYPE_COUNT; to++)
        if (!td_dtype_is_complex((td_dtype)to))
            td_store(f, out[to], i, td_cast(f, v, (td_dtype)to), TD_NONE, 0);
    td_end(f);
}

/* ---- comparing ---- */

static inline int64_t
test_order(td_dtype dt, const void *p)
{
    int64_t v = 0;

    if (dt == TD_F32) {
        int32_t w;

        memcpy(&w, p, 4);
        return w < 0 ? INT32_MIN - (int64_t)w : w;
    }
    memcpy(&v, p, 8);
    return v < 0 ? INT64_MIN - v : v;
}

static inline double
test_number(td_dtype dt, const void *p)
{
    td_scalar s = td_scalar_load(dt, p);

    return td_dtype_is_float(dt) ? s.f[0] : td_dtype_kind(dt) == 'u' ? (double)s.u : (double)s.i;
}

#define TEST_TINY(dt) ((dt) == TD_F64 ? DBL_MIN : (double)FLT_MIN) /* the least normal number */

static inline bool
test_same(td_dtype dt, int ulp, const void *a, const void *b)
{
    double x, y;

    if (memcmp(a, b, td_dtype_size(dt)) == 0)
        return true;
    if (!td_dtype_is_float(dt))
        return false;
    x = test_number(dt, a);
    y = test_number(dt, b);
    if (isnan(x) && isnan(y))
        return true;
    if (!ulp || isnan(x) || isnan(y) || td_dtype_is_half(dt))
        return false;
    /* x times a subnormal exponential, of which libdevice loses the last bit, is still subnormal */
    if (ulp >= 16 && fabs(x) < TEST_TINY(dt) && fabs(y) < TEST_TINY(dt))
        return true;
    return llabs((long long)(test_order(dt, a) - test_order(dt, b))) <= ulp;
}

/* Compares output k of two runs; prints the first difference with the inputs that led to it. */
static inline void
test_compare(const test_case *c, const char *engine, int k, const char *want, const char *have)
{
    td_dtype dt = c->out[k].dt;
    size_t size = td_dtype_size(dt);
    int bad = 0;

    for (int64_t i = 0; i < c->out[k].n && c->out[k].ulp != TEST_RUNS; i++) {
        if (test_same(dt, c->out[k].ulp, want + (size_t)i * size, have + (size_t)i * size))
            continue;
        if (bad++)
            continue;
        printf("%s %s: %s[%lld] = %.17g, not %.17g; from", engine, c->name, c->out[k].what,
               (long long)i, test_number(dt, have + (size_t)i * size),
               test_number(dt, want + (size_t)i * size));
        for (int a = 0; a < c->narg && a < 3; a++) /* inputs come first */
            if (a != c->out[0].arg && (c->f.ins[a].flags & TD_INST_PTR) && a < c->out[0].arg) {
                td_dtype in = (td_dtype)c->f.ins[a].dt;

                printf(" %.17g", test_number(in, (const char *)(uintptr_t)c->args[a] +
                                                     (size_t)i * td_dtype_size(in)));
            }
        printf("\n");
    }
    if (bad) {
        check_failures++;
        printf("    (%d of %lld elements)\n", bad, (long long)c->out[k].n);
    }
}

/* The case's arguments with outputs of their own, for test_outputs_free. */
static inline void
test_outputs(const test_case *c, uint64_t args[MAX_ARGS])
{
    memcpy(args, c->args, MAX_ARGS * sizeof *args);
    for (int k = 0; k < c->nout; k++)
        args[c->out[k].arg] = (uintptr_t)test_buffer((size_t)c->out[k].n * td_dtype_size(c->out[k].dt));
}

static inline void
test_outputs_free(const test_case *c, const uint64_t args[MAX_ARGS])
{
    for (int k = 0; k < c->nout; k++)
        free((void *)(uintptr_t)args[c->out[k].arg]);
}

static inline void
test_compare_outputs(const test_case *c, const char *engine, const uint64_t *want, const uint64_t *have)
{
    for (int k = 0; k < c->nout; k++)
        test_compare(c, engine, k, (const char *)(uintptr_t)want[c->out[k].arg],
                     (const char *)(uintptr_t)have[c->out[k].arg]);
}

/* Runs the interpreter, and `run` with outputs of its own, and compares. */
typedef td_status test_engine(const test_case *c, const td_lower *lw, const uint64_t *args);

static inline void
test_against_interp(test_case *c, const td_lower *lw, const char *engine, test_engine *run)
{
    uint64_t want[MAX_ARGS], have[MAX_ARGS];
    bool ok;

    test_outputs(c, want);
    test_outputs(c, have);
    ok = CHECK_OK(td_fn_finish(&c->f));
    ok = ok && CHECK_OK(td_interp(&c->f, (uint32_t[]){c->grid, 1, 1}, (uint32_t[]){c->block, 1, 1},
                                  want, c->shared, NULL));
    ok = ok && CHECK_OK(run(c, lw, have));
    if (!ok)
        printf("    in %s\n", c->name);
    else
        test_compare_outputs(c, engine, want, have);
    test_outputs_free(c, want);
    test_outputs_free(c, have);
}

/* Frees the case with the inputs made by test_rows and test_casts (all pointer arguments). */
static inline void
test_end(test_case *c)
{
    for (uint32_t i = 0; i < c->f.n; i++) {
        const td_inst *s = &c->f.ins[i];

        if (s->op == OP_param && (s->flags & TD_INST_PTR) && s->imm < (uint64_t)c->narg)
            free((void *)(uintptr_t)c->args[s->imm]);
    }
    td_arena_free(&c->mem);
}

/* Runs the program again as on older CPUs: the option is read once, so it takes a process for each. */
static inline void
test_older(const char *program)
{
#if defined(__x86_64__)
    static const char *const levels[] = {"x86-64-v2", "x86-64-v3"};
#else
    static const char *const levels[] = {"armv8-a"};
#endif

    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        int status = 1;
        pid_t pid = fork();

        if (pid == 0) {
            setenv("TREADLE_CPU", levels[i], 1);
            test_again((const char *[]){program, NULL});
        }
        printf("%s:\n", levels[i]);
        CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && status == 0);
    }
}

#endif
