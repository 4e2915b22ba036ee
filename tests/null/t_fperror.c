/* t_fperror.c - tapes and profiles over the driver that the host plays, with every call of theirs failing.
 *
 * A tape whose graph cannot be made is replayed piece by piece; a profile whose events fail lacks times.
 * Neither changes what the work does, and nothing is lost.
 */
#include "dev/core/tape.h"
#include "null/null.h"

#include "check.h"

#include <string.h>

enum { N = 256, FAILED = 719 };

static const char ptx[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry scale(\n\t.param .u64 .ptr .global .align 4 scale_param_0,\n"
    "\t.param .f32 scale_param_1,\n\t.param .u32 scale_param_2\n)\n{\n\tret;\n}\n";

static td_dev *null;
static td_func *scale;

/* scale(x, factor, n): x[i] *= factor. */
static td_status
play(const char *name, const td_dims *dims, const uint64_t *args, int narg)
{
    float *x = (float *)args[0], factor;

    (void)name, (void)dims, (void)narg;
    memcpy(&factor, &args[1], sizeof factor);
    if (td_null_extent((uintptr_t)x) < args[2] * sizeof *x)
        return td_fail(TD_ERR_INDEX, "scale: beyond its buffer");
    for (uint64_t i = 0; i < args[2]; i++)
        x[i] *= factor;
    return TD_OK;
}

static td_status
times(td_buf *b, float factor)
{
    td_dims dims = {
        .grid = {1, 1, 1}, .block = {128, 1, 1}, .first = 1, .nbytes = 2 * N * sizeof(float)};
    uint64_t args[3] = {b->ptr, 0, N};

    memcpy(&args[1], &factor, sizeof factor);
    return td_launch(scale, NULL, &dims, args, 3);
}

/* out = 30 * in, through memory of the tape's. */
static td_status
program(td_buf *in, td_buf *out)
{
    td_stream *s = td_dev_stream(null);
    td_buf *t = NULL, *u = NULL;
    td_status st = td_buf_new(null, NULL, N * sizeof(float), &t);

    st = st ? st : td_buf_new(null, NULL, N * sizeof(float), &u);
    st = st ? st : td_copy(s, t->ptr, in->ptr, N * sizeof(float));
    st = st ? st : td_fill(s, u->ptr, 255, N * sizeof(float));
    st = st ? st : times(t, 2);
    st = st ? st : times(t, 3);
    st = st ? st : td_copy(s, u->ptr, t->ptr, N * sizeof(float));
    st = st ? st : times(u, 5);
    st = st ? st : td_copy(s, out->ptr, u->ptr, N * sizeof(float));
    td_buf_unref(t);
    td_buf_unref(u);
    return st;
}

static td_status
record(td_tape **out)
{
    td_buf *in = NULL, *result = NULL;
    td_tape *t = NULL;
    td_status st = td_buf_new(null, NULL, N * sizeof(float), &in);

    st = st ? st : td_buf_new(null, NULL, N * sizeof(float), &result);
    st = st ? st : td_tape_new(null, &t);
    st = st ? st : program(in, result);
    if (t)
        td_tape_stop(t);
    st = st ? st : td_tape_slot(t, in, TD_SLOT_IN);
    st = st ? st : td_tape_slot(t, result, TD_SLOT_OUT);
    st = st ? st : td_tape_finish(t);
    td_buf_unref(in);
    td_buf_unref(result);
    if (st)
        td_tape_free(t);
    *out = st ? NULL : t;
    return st;
}

/* Replays on memory of its own; are the values right? */
static td_status
replay(td_tape *t, bool *right)
{
    float x[N], y[N];
    td_buf *in = NULL, *out = NULL;
    uintptr_t slot[2];
    td_status st = td_buf_new(null, NULL, sizeof x, &in);

    for (int i = 0; i < N; i++)
        x[i] = (float)i + 1;
    st = st ? st : td_buf_new(null, NULL, sizeof x, &out);
    st = st ? st : td_copy_in(td_dev_stream(null), in->ptr, x, sizeof x);
    if (!st) {
        slot[0] = in->ptr;
        slot[1] = out->ptr;
        st = td_tape_play(t, td_dev_stream(null), &(td_tapeplay){.slot = slot});
    }
    st = st ? st : td_copy_out(td_dev_stream(null), y, out->ptr, sizeof y);
    *right = true;
    for (int i = 0; i < N && !st; i++)
        *right &= y[i] == 30 * x[i];
    td_buf_unref(in);
    td_buf_unref(out);
    return st;
}

static void
test_tape(void)
{
    td_tape *t = NULL, *other;
    td_null_counts before = td_null_live();
    size_t used = td_mem_stats(null).used;
    bool right = false;

    CHECK_OK(record(&t));
    CHECK(td_tape_info(t).kernels == 7 && td_tape_info(t).runs == 1 &&
          td_tape_info(t).patched == 2);
    CHECK(td_null_live().graphs == before.graphs + 1);
    for (int i = 0; i < 3; i++)
        CHECK(!replay(t, &right) && right);
    td_tape_free(t);
    CHECK(td_null_live().graphs == before.graphs && td_mem_stats(null).used == used);

    CHECK_OK(td_tape_new(null, &t));
    CHECK_FAILS(td_tape_new(null, &other), TD_ERR_VALUE, "another graph");
    CHECK_FAILS(td_dev_sync(null), TD_ERR_VALUE, "waiting");
    CHECK_FAILS(td_stream_sync(td_dev_stream(null)), TD_ERR_VALUE, "waiting");
    td_tape_free(t);
    CHECK_OK(td_dev_sync(null));
}

/* harm: the call's failure is told; else another way is found. */
static const struct trial {
    const char *call;
    bool recording, harm;
} trials[] = {
    {"cuStreamCreate", true, false},     {"cuStreamBeginCapture", true, false},
    {"cuStreamEndCapture", true, false}, {"cuGraphInstantiate", true, false},
    {"cuLaunchKernel", true, false}, /* while the graph is made */
    {"cuMemcpyDtoDAsync", true, false},  {"cuMemsetD8Async", true, false},
    {"cuGraphLaunch", false, true},      {"cuMemcpyDtoDAsync", false, true},
};

static void
try_one(const struct trial *x)
{
    td_null_counts before = td_null_live();
    size_t used = td_mem_stats(null).used;
    int failed = 0;

    for (int k = 1; k < 10; k++) {
        td_tape *t = NULL;
        bool right = false;
        td_status st;

        if (x->recording)
            td_null_fail(x->call, k, FAILED);
        st = record(&t);
        td_null_fail(x->call, 0, 0);
        CHECK(st == TD_OK);
        if (!x->recording)
            td_null_fail(x->call, k, FAILED);
        st = replay(t, &right);
        td_null_fail(x->call, 0, 0);
        failed += st != TD_OK;
        if (!(st ? strstr(td_error(), "CUDA_ERROR_LAUNCH_FAILED") != NULL : right))
            printf("failing %s number %d: status %d, \"%s\"\n", x->call, k, st, td_error()),
                check_failures++;
        if (CHECK(t) && !CHECK(!replay(t, &right) && right))
            printf("after failing %s number %d\n", x->call, k);
        td_tape_free(t);
        if (td_null_live().graphs != before.graphs || td_null_live().streams != before.streams ||
            td_null_live().contexts != before.contexts || td_mem_stats(null).used != used)
            printf("failing %s number %d: something leaked\n", x->call, k), check_failures++;
    }
    CHECK(!failed == !x->harm);
}

/* ---- profiles ---- */

static size_t
count(size_t from, size_t to, td_trace_kind kind, bool timed)
{
    td_tracerec r;
    size_t n = 0;

    for (size_t i = from; i < to; i++)
        n += td_trace_get(i, &r) && r.kind == kind && (r.off != 0) == timed;
    return n;
}

static td_status
some_work(td_buf *b)
{
    for (int i = 0; i < 8; i++)
        TD_TRY(times(b, 1));
    return td_fill(td_dev_stream(null), b->ptr, 0, b->nbytes);
}

static void
test_profile(void)
{
    td_buf *b;
    td_tracerec r;
    size_t from, to;

    CHECK(atomic_load(&td_watchers) == 0);
    CHECK_OK(td_buf_new(null, NULL, N * sizeof(float), &b));
    td_trace_start(&from);
    CHECK_OK(some_work(b));
    CHECK_OK(td_dev_sync(null));
    to = td_trace_stop();
    CHECK(atomic_load(&td_watchers) == 0);
    CHECK(count(from, to, TD_TRACE_kernel, true) == 8 && count(from, to, TD_TRACE_fill, true) == 1);
    CHECK(count(from, to, TD_TRACE_wait, false) == 1);
    for (size_t i = from; i < to; i++)
        CHECK(td_trace_get(i, &r) && r.begin <= r.end && r.on <= r.off);
    CHECK(!td_trace_get(to, &r));
    CHECK(strcmp(td_name_text((CHECK(td_trace_get(from, &r)), r.name)), "scale") == 0);
    CHECK(r.nbytes == 2 * N * sizeof(float) && r.dev == null && !r.failed);
    CHECK(td_dev_bandwidth(null) == 64e9);
    td_buf_unref(b);
}

/* A failed event costs its record the time and nothing else. */
static void
test_failing_events(void)
{
    static const char *const call[] = {"cuEventCreate", "cuEventRecord", "cuEventQuery",
                                       "cuEventSynchronize", "cuEventElapsedTime"};
    td_buf *b;
    size_t from, to;

    CHECK_OK(td_buf_new(null, NULL, N * sizeof(float), &b));
    for (size_t i = 0; i < sizeof call / sizeof *call; i++)
        for (int k = 1; k < 24; k++) {
            td_trace_start(&from);
            td_null_fail(call[i], k, FAILED);
            CHECK_OK(some_work(b));
            to = td_trace_stop();
            td_null_fail(call[i], 0, 0);
            CHECK(count(from, to, TD_TRACE_kernel, true) +
                      count(from, to, TD_TRACE_kernel, false) ==
                  8);
            CHECK(count(from, to, TD_TRACE_kernel, true) >= 6);
        }
    td_buf_unref(b);
    CHECK(td_null_live().contexts == 0);
}

/* The work's own failure is recorded, and told in its own words. */
static void
test_failing_work(void)
{
    td_tracerec r;
    td_buf *b;
    size_t from, to;

    CHECK_OK(td_buf_new(null, NULL, N * sizeof(float), &b));
    td_trace_start(&from);
    td_null_fail("cuLaunchKernel", 1, FAILED);
    CHECK_FAILS(times(b, 1), TD_ERR_DEVICE, "launch of scale");
    to = td_trace_stop();
    CHECK(to == from + 1 && td_trace_get(from, &r) && r.failed && !r.off);
    td_buf_unref(b);
}

int
main(void)
{
    td_module *m = NULL;

    if (!CHECK_OK(td_dev_get("null", &null)))
        return 1;
    td_null_on_launch(play);
    CHECK_OK(td_module_load(null, ptx, &m));
    CHECK_OK(td_module_func(m, "scale", &scale));
    test_tape();
    for (size_t i = 0; i < sizeof trials / sizeof *trials; i++)
        try_one(&trials[i]);
    test_profile();
    test_failing_events();
    test_failing_work();
    td_module_free(m);
    CHECK_OK(td_mem_trim(null));
    return check_failures != 0;
}
