/* t_faults.c - whole array programs over a driver whose n-th call of each name fails.
 *
 * Each program is run with the first, second, … call of every driver function failing.  Either it
 * says so, naming the call, or it has found another way and its result is right; in any case its
 * inputs are what they were, nothing is kept, and the same program then succeeds.
 */
#include "check.h"
#include "dev/core/dev.h"
#include "null/null.h"

#include <math.h>
#include <string.h>
#include <treadle.h>

enum { N = 3000, SIDE = 40, CALLS_MAX = 200, FAILED = 719 };

static treadle_device *dev;
static treadle_array *a, *b, *marks; /* float32 [N], float32 [SIDE, SIDE], int64 [N] */
static float host_a[N], host_b[SIDE * SIDE];
static int64_t host_marks[N];

/* The arrays that a program makes; all given up at its end, however it ends. */
typedef struct bag {
    treadle_array *a[16];
    int n;
} bag;

static treadle_array **
put(bag *made)
{
    return &made->a[made->n++];
}

static void
drop(bag *made)
{
    for (int i = 0; i < made->n; i++)
        treadle_array_unref(made->a[i]);
}

static treadle_status
number(bag *made, double *out)
{
    return treadle_array_item(made->a[made->n - 1], out);
}

/* ---- programs: each leaves one number ---- */

static treadle_status
run_chain(bag *made, double *out)
{
    treadle_operand x = treadle_a(a);
    treadle_status st = treadle_binary(TREADLE_OP_multiply, x, x, put(made));

    if (!st)
        st = treadle_binary(TREADLE_OP_add, treadle_a(made->a[0]), treadle_f(1.5), put(made));
    if (!st)
        st = treadle_reduce(TREADLE_RED_sum, made->a[1], NULL, put(made));
    return st ? st : number(made, out);
}

static treadle_status
run_axis(bag *made, double *out)
{
    treadle_reduce_args first = {.naxes = 1, .axes = {0}};
    treadle_status st = treadle_reduce(TREADLE_RED_max, b, &first, put(made));

    if (!st)
        st = treadle_reduce(TREADLE_RED_mean, made->a[0], NULL, put(made));
    return st ? st : number(made, out);
}

static treadle_status
run_transfer(bag *made, double *out)
{
    static float back[N];
    int64_t n = N;
    treadle_status st = treadle_from_host(dev, TREADLE_FLOAT32, 1, &n, host_a, put(made));

    if (!st)
        st = treadle_array_get(made->a[0], back, sizeof back);
    *out = back[N - 1];
    return st;
}

static treadle_status
run_take(bag *made, double *out)
{
    treadle_status st = treadle_take(a, marks, 0, put(made));

    if (!st)
        st = treadle_reduce(TREADLE_RED_sum, made->a[0], NULL, put(made));
    return st ? st : number(made, out);
}

static treadle_status
run_product(bag *made, double *out)
{
    treadle_status st = treadle_matmul(b, b, put(made));

    if (!st)
        st = treadle_reduce(TREADLE_RED_sum, made->a[0], NULL, put(made));
    return st ? st : number(made, out);
}

static treadle_status
run_assign(bag *made, double *out)
{
    treadle_array *half, *mask;
    treadle_status st = treadle_copy(a, put(made));

    if (!st)
        st = treadle_slice(made->a[0], 0, 0, TREADLE_END, 2, put(made));
    half = made->a[1];
    if (!st)
        st = treadle_assign(half, treadle_f(-1));
    if (!st)
        st = treadle_binary(TREADLE_OP_greater, treadle_a(made->a[0]), treadle_f(0.5), put(made));
    mask = made->a[2];
    if (!st)
        st = treadle_assign_where(made->a[0], mask, treadle_f(4));
    if (!st)
        st = treadle_reduce(TREADLE_RED_sum, made->a[0], NULL, put(made));
    return st ? st : number(made, out);
}

static treadle_status
run_random(bag *made, double *out)
{
    treadle_rng g = treadle_rng_seed(7);
    int64_t n = N;
    treadle_status st = treadle_random_normal(dev, &g, TREADLE_FLOAT32, 1, &n, 0, 1, put(made));

    if (!st)
        st = treadle_reduce(TREADLE_RED_var, made->a[0], NULL, put(made));
    return st ? st : number(made, out);
}

static treadle_status
run_stream(bag *made, double *out)
{
    treadle_stream *s = NULL;
    treadle_event *e = NULL;
    treadle_status st = treadle_stream_new(dev, &s);

    if (!st)
        st = treadle_event_new(dev, false, &e);
    if (!st)
        st = treadle_event_record(e, s);
    if (!st)
        st = treadle_stream_wait(s, e);
    if (!st)
        st = treadle_stream_sync(s);
    treadle_event_free(e);
    treadle_stream_free(s);
    (void)made;
    *out = 0;
    return st;
}

/* An expression that no run before has had, so that a kernel is compiled and loaded; *out is 0. */
static treadle_status
run_new(bag *made, double *out)
{
    static unsigned count;
    unsigned bits = ++count;
    double want = host_a[N - 1], got = 0;
    treadle_array *last;
    treadle_status st = treadle_slice(a, 0, N - 1, N, 1, put(made));

    for (; bits && !st; bits >>= 1) {
        treadle_op op = bits & 1 ? TREADLE_OP_add : TREADLE_OP_multiply;

        want = bits & 1 ? want + 1 : want * 0.5;
        last = made->a[made->n - 1];
        st = treadle_binary(op, treadle_a(last), treadle_f(bits & 1 ? 1 : 0.5), put(made));
    }
    last = made->a[made->n - 1];
    if (!st)
        st = treadle_array_item(last, &got);
    *out = fabs(got - want) > 1e-5;
    return st;
}

static const struct program {
    const char *name;
    treadle_status (*run)(bag *made, double *out);
} programs[] = {
    {"chain", run_chain},   {"axis", run_axis},       {"transfer", run_transfer},
    {"take", run_take},     {"product", run_product}, {"assign", run_assign},
    {"random", run_random}, {"stream", run_stream},   {"new kernel", run_new},
};

static const char *const calls[] = {
#define CU(name, symbol, need, params) #name,
#include "dev/foreign/driver.def"
};

/* ---- trying them ---- */

static treadle_status
attempt(const struct program *p, double *out)
{
    bag made = {.n = 0};
    treadle_status st = p->run(&made, out);

    drop(&made);
    return st;
}

static int
same_inputs(void)
{
    static float got_a[N], got_b[SIDE * SIDE];
    static int64_t got_marks[N];

    if (treadle_array_get(a, got_a, sizeof got_a) || treadle_array_get(b, got_b, sizeof got_b) ||
        treadle_array_get(marks, got_marks, sizeof got_marks))
        return 0;
    for (int i = 0; i < N; i++)
        if (got_a[i] != host_a[i] || got_marks[i] != host_marks[i])
            return 0;
    for (int i = 0; i < SIDE * SIDE; i++)
        if (got_b[i] != host_b[i])
            return 0;
    return 1;
}

/* The program with call number k of that name failing: did that make it fail? */
static int
with_fault(const struct program *p, const char *call, int k, double want)
{
    size_t used = td_mem_stats((td_dev *)dev).used;
    double got = NAN;
    treadle_status st;
    int right;

    td_null_fail(call, k, FAILED);
    st = attempt(p, &got);
    td_null_fail(call, 0, 0);
    right = st ? strstr(treadle_error(), call) != NULL : got == want;
    if (!right || !same_inputs() || td_mem_stats((td_dev *)dev).used != used) {
        printf("%s, %s number %d: status %d, %g for %g, \"%s\"; in use %zu, before %zu\n", p->name,
               call, k, st, got, want, st ? treadle_error() : "", td_mem_stats((td_dev *)dev).used,
               used);
        check_failures++;
    }
    return st != TREADLE_OK;
}

static void
try_program(const struct program *p, int *failed)
{
    double want, again;

    CHECK(attempt(p, &want) == TREADLE_OK);
    for (size_t c = 0; c < sizeof calls / sizeof *calls; c++) {
        int quiet = 0;

        /* Some failures are survived (a cache is emptied, a copy made another way): a few in a row
         * mean that the program makes no more such calls. */
        for (int k = 1; k < CALLS_MAX && quiet < 4; k++) {
            int harm = with_fault(p, calls[c], k, want);

            *failed += harm;
            quiet = harm ? 0 : quiet + 1;
        }
        CHECK(attempt(p, &again) == TREADLE_OK);
        CHECK(again == want);
    }
}

static void
make_inputs(void)
{
    int64_t n = N, square[2] = {SIDE, SIDE};

    for (int i = 0; i < N; i++) {
        host_a[i] = (float)((i * 37) % 1000) / 1000;
        host_marks[i] = (i * 13) % N;
    }
    for (int i = 0; i < SIDE * SIDE; i++)
        host_b[i] = (float)((i * 7) % 64) / 8;
    CHECK(treadle_device_open("null", &dev) == TREADLE_OK);
    CHECK(treadle_from_host(dev, TREADLE_FLOAT32, 1, &n, host_a, &a) == TREADLE_OK);
    CHECK(treadle_from_host(dev, TREADLE_FLOAT32, 2, square, host_b, &b) == TREADLE_OK);
    CHECK(treadle_from_host(dev, TREADLE_INT64, 1, &n, host_marks, &marks) == TREADLE_OK);
}

int
main(void)
{
    make_inputs();
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        int failed = 0;

        try_program(&programs[i], &failed);
        if (!failed)
            printf("%s: no call's failure was noticed\n", programs[i].name), check_failures++;
    }
    treadle_array_unref(a);
    treadle_array_unref(b);
    treadle_array_unref(marks);
    return check_failures != 0;
}
