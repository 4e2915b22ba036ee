/* t_spill.c - arrays that wait on the host: long programs over more arrays than the device holds.
 *
 * The device's work is done late and in an order drawn by chance; every driver call fails once.  No value is lost.
 */
#include "array/graph/array.h"
#include "array/run/spill.h"
#include "dev/core/trace.h"
#include "dev/pool/spilled.h"
#include "null/null.h"

#include "check.h"
#include "lanes.h"

#include <stdlib.h>
#include <string.h>

enum {
    MB = 1 << 20,
    N = MB / 4,
    ARRAYS = 12,
    ROOM = 8 * MB,
    STEPS = 120,
    CALLS_MAX = 60,
    FAILED = 719
};

static td_dev *null;
static td_array arr[ARRAYS];
static int32_t first[ARRAYS], last[ARRAYS]; /* what arr[i] holds in its first half, in its last */
static int32_t host[N];
static uint64_t seed = 1;

static unsigned
draw(unsigned n)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(seed >> 33) % n;
}

static td_status
make(int i, int32_t value)
{
    td_shape s = {.ndim = 1, .dim = {N}};

    if (arr[i].store)
        td_array_unref(&arr[i]);
    for (int k = 0; k < N; k++)
        host[k] = value;
    TD_TRY(td_array_from_host(null, TD_I32, &s, host, &arr[i]));
    td_array_offer(&arr[i]);
    first[i] = last[i] = value;
    return TD_OK;
}

static td_array
half(int i, bool upper)
{
    td_view v = arr[i].view;

    v.shape.dim[0] = N / 2;
    v.offset = upper ? N / 2 : 0;
    return td_array_view(&arr[i], &v);
}

/* arr[k] = arr[i] + 3 * arr[j] */
static td_status
combine(int i, int j, int k)
{
    td_operand three = {.scalar = {.dt = TD_I64, .i = 3}, .weak = 'i'};
    td_array t = {0}, r = {0};
    td_status st = td_array_apply(OP_multiply, (td_operand[]){{.array = &arr[j]}, three}, 2, &t);

    if (!st)
        st = td_array_apply(OP_add, (td_operand[]){{.array = &arr[i]}, {.array = &t}}, 2, &r);
    if (!st && draw(2))
        st = td_array_eval((const td_array *[]){&r}, 1);
    if (t.store)
        td_array_unref(&t);
    if (st) {
        if (r.store)
            td_array_unref(&r);
        return st;
    }
    first[k] = (int32_t)((uint32_t)first[i] + 3 * (uint32_t)first[j]);
    last[k] = (int32_t)((uint32_t)last[i] + 3 * (uint32_t)last[j]);
    td_array_unref(&arr[k]);
    arr[k] = r;
    return TD_OK;
}

/* One half of arr[i] becomes a number. */
static td_status
write_half(int i, bool upper, int32_t value)
{
    td_array h = half(i, upper);
    td_operand x = {.scalar = {.dt = TD_I64, .i = value}, .weak = 'i'};
    td_status st = td_array_assign(&h, &x);

    *(upper ? &last[i] : &first[i]) = st ? *(upper ? &last[i] : &first[i]) : value;
    td_array_unref(&h);
    return st;
}

/* By a copy on a stream of its own, which the host does not wait for. */
static td_status
load_on(td_stream *s, int i, int32_t value)
{
    static int32_t from[N];
    bool later;

    for (int k = 0; k < N; k++)
        from[k] = value;
    TD_TRY(td_array_load(&arr[i], s, from, sizeof from, &later));
    first[i] = last[i] = value;
    return later ? td_stream_sync(s) : TD_OK;
}

static td_status
look(int i)
{
    TD_TRY(td_array_get(&arr[i], host));
    for (int k = 0; k < N; k++)
        if (host[k] != (k < N / 2 ? first[i] : last[i]))
            return td_fail(TD_ERR_VALUE, "array %d holds %d at %d, not %d", i, host[k], k,
                           k < N / 2 ? first[i] : last[i]);
    return TD_OK;
}

static void
drop(void)
{
    for (int i = 0; i < ARRAYS; i++)
        if (arr[i].store)
            td_array_unref(&arr[i]);
}

static td_status
fill_all(void)
{
    for (int i = 0; i < ARRAYS; i++)
        TD_TRY(make(i, i));
    return TD_OK;
}

static void
test_long_program(uint64_t delay)
{
    td_stream *s;

    td_null_delay(delay);
    CHECK_OK(td_stream_new(null, &s));
    CHECK_OK(fill_all());
    for (int n = 0; n < STEPS; n++) {
        int i = (int)draw(ARRAYS), j = (int)draw(ARRAYS), k = (int)draw(ARRAYS);

        switch (draw(6)) {
        case 0:  CHECK_OK(write_half(i, j & 1, k)); break;
        case 1:  CHECK_OK(load_on(s, i, j)); break;
        case 2:  CHECK_OK(look(i)); break;
        case 3:  CHECK_OK(make(i, n)); break;
        default: CHECK_OK(combine(i, j, k)); break;
        }
    }
    for (int i = 0; i < ARRAYS; i++)
        CHECK_OK(look(i));
    CHECK(td_spill_stats(null).spilled > 20 && td_spill_stats(null).returned > 20);
    drop();
    td_stream_free(s);
    td_null_delay(0);
    CHECK(td_spill_stats(null).on_host == 0);
}

/* ---- failing calls ---- */

static const char *const calls[] = {
#define CU(name, symbol, need, params) #name,
#include "dev/foreign/driver.def"
};

/* Everything once round: goes, comes back, is computed with and written to. */
static td_status
run_program(void)
{
    TD_TRY(fill_all());
    TD_TRY(combine(0, 1, 2));
    TD_TRY(write_half(3, true, 9));
    for (int i = 0; i < ARRAYS; i += 3)
        TD_TRY(look(i));
    return TD_OK;
}

static bool
with_fault(const char *call, int k)
{
    size_t used = td_mem_stats(null).used;
    td_status st;

    td_null_fail(call, k, FAILED);
    st = run_program();
    td_null_fail(call, 0, 0);
    if (st && !strstr(td_error(), call)) {
        printf("%s number %d: %s\n", call, k, td_error());
        check_failures++;
    }
    for (int i = 0; i < ARRAYS; i++)
        if (arr[i].store)
            CHECK_OK(look(i)); /* what was there is still right */
    drop();
    CHECK(td_mem_stats(null).used == used && td_spill_stats(null).on_host == 0);
    CHECK_OK(td_spilled_trim(null)); /* so that host memory is asked for again */
    return st != TD_OK;
}

static void
test_faults(void)
{
    int failed = 0;

    for (size_t c = 0; c < sizeof calls / sizeof *calls; c++) {
        if (!strstr(calls[c], "Mem")) /* t_faults tries the others */
            continue;
        for (int k = 1, quiet = 0; k < CALLS_MAX && quiet < 2; k++) {
            bool harm = with_fault(calls[c], k);

            failed += harm;
            quiet = harm ? 0 : quiet + 1;
        }
    }
    CHECK(failed > 4);
    CHECK_OK(run_program());
    drop();
}

/* ---- the rules ---- */

static void
test_rules(void)
{
    td_spillstat before;
    td_buf *b;
    td_view v;
    td_hold h;

    CHECK_OK(fill_all());
    CHECK_OK(td_array_lend(&arr[0], &b, &v)); /* others look at it */
    td_hold_begin(&h);
    CHECK_OK(td_array_use(&arr[1], false, &(td_buf *){NULL}));
    before = td_spill_stats(null);
    for (int i = 2; i < ARRAYS; i++)
        CHECK_OK(make(i, i));
    CHECK(td_spill_stats(null).spilled > before.spilled);
    CHECK(arr[0].store->node->buf == b && arr[1].store->node->buf);
    td_hold_end(&h);
    td_array_return(b);
    for (int i = 2; i < ARRAYS; i++)
        CHECK_OK(make(i, i));
    CHECK(!arr[0].store->node->buf && !arr[1].store->node->buf);
    CHECK_OK(look(0));
    CHECK_OK(look(1));

    td_spill_set(null, false);
    CHECK_FAILS(fill_all(), TD_ERR_OOM, "memory.spill(True) would move");
    td_spill_set(null, true);
    drop();
}

/* Asking the driver for its free memory takes as long as a small step: what is on the device does without. */
static void
test_unasked(void)
{
    td_shape square = {.ndim = 2, .dim = {16, 16}};
    td_scalar one = {.dt = TD_F32, .f = {1}};
    size_t left, total;
    td_array a, b;

    CHECK_OK(td_array_full(null, TD_F32, &square, one, &a));
    CHECK_OK(td_array_eval(&(const td_array *){&a}, 1));
    td_null_fail("cuMemGetInfo", 1, FAILED);
    CHECK_OK(td_array_matmul(&a, &a, &b));
    CHECK_OK(td_array_eval(&(const td_array *){&b}, 1));
    CHECK(td_dev_memory(null, &left, &total)); /* the first one that asks */
    td_null_fail("cuMemGetInfo", 0, 0);
    td_array_unref(&b);
    td_array_unref(&a);
}

/* A program that walks over all its arrays again and again: what goes does so on a stream that nothing which comes back waits
 * for. */
static void
test_walk(uint64_t delay)
{
    unsigned in, out;
    size_t from, end;

    td_null_delay(0);
    for (int i = 0; i < ARRAYS; i++)
        CHECK_OK(make(i, 1000 + i));
    td_null_delay(delay);
    td_trace_start(&from);
    for (int k = 0; k < 4 * ARRAYS; k++) {
        const td_array *a = &arr[k % ARRAYS];

        CHECK_OK(td_array_eval(&a, 1));
        td_array_offer(a);
        if (k % 5 == 0) /* written while its copy may be under way */
            CHECK_OK(write_half(k % ARRAYS, k % 2, -k));
    }
    end = td_trace_stop();
    in = lanes_of(null, from, end, TD_TRACE_copy_in);
    out = lanes_of(null, from, end, TD_TRACE_copy_out);
    CHECK(in && out & ~in);
    for (int i = 0; i < ARRAYS; i++)
        CHECK_OK(look(i));
    drop();
    td_null_delay(0);
}

int
main(void)
{
    CHECK_OK(td_dev_get("null", &null));
    td_mem_on_pressure(td_spill);
    td_mem_on_oom(td_spill_note);
    CHECK(td_spill_on(null));
    test_unasked();
    CHECK_OK(td_mem_limit(null, ROOM));
    for (uint64_t d = 0; d < 4; d++)
        test_long_program(d);
    for (uint64_t d = 0; d < 4; d++)
        test_walk(d);
    test_rules();
    test_faults();
    return check_failures != 0;
}
