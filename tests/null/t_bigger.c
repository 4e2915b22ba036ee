/* t_bigger.c - chunks of what is on the host: in every order that streams and events allow, and with every call of the
 * driver failing once.  Values are right or there is an error, and nothing is left behind.
 */
#include "array/outofcore/chunk.h"
#include "dev/core/trace.h"
#include "null/null.h"

#include "check.h"
#include "lanes.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    ROWS = 61,
    COLUMNS = 5,
    CHUNK = 8,
    SEEDS = 12,
    CALLS_MAX = 40,
    FAILED = 719,
    OUT_OF_MEMORY = 2
};

static td_dev *null;
static int32_t host[ROWS][COLUMNS];
static int64_t sums[COLUMNS];

/* Rows of the host's memory, as a reader gives them. */
static td_status
read_rows(void *owner, const td_box *box, void *out)
{
    int32_t *to = out;

    (void)owner;
    for (int64_t i = 0; i < box->count[0]; i++)
        for (int64_t j = 0; j < box->count[1]; j++)
            *to++ = host[box->start[0] + i * box->step[0]][box->start[1] + j * box->step[1]];
    return TD_OK;
}

static td_status
refuse(void *owner, const td_box *box, void *out)
{
    return box->start[0] >= 4 * CHUNK ? td_fail(TD_ERR_IO, "no disk") : read_rows(owner, box, out);
}

static td_status
source(bool memory, td_status (*read)(void *, const td_box *, void *), td_array *out)
{
    td_shape s = {.ndim = 2, .dim = {ROWS, COLUMNS}};
    td_source like = {.dt = TD_I32, .view = td_view_contiguous(&s)}, *made;
    td_node *n;
    td_status st;

    if (memory)
        like.mem = (char *)host;
    else
        like.read = read;
    TD_TRY(td_source_new(&like, &made));
    st = td_host_node(null, made, &like.view, &n);
    td_source_unref(made);
    return st ? st : td_array_of_node(n, out);
}

/* x + x, its sums along axis 0, and their values. */
static td_status
compute(const td_array *x, int64_t got[COLUMNS], int32_t rows[ROWS][COLUMNS])
{
    td_sink to = {.dt = TD_I32, .mem = (char *)rows};
    td_array twice, sum;
    td_status st = td_array_apply(OP_add, (td_operand[]){{.array = x}, {.array = x}}, 2, &twice);

    TD_TRY(st);
    st = td_array_reduce(TD_RED_sum, &twice, &(td_redargs){.axes = 1, .dtype = -1}, &sum);
    if (!st) {
        st = td_chunk_stream(&sum, CHUNK);
        if (!st)
            st = td_array_get(&sum, got);
        td_array_unref(&sum);
    }
    to.view = td_view_contiguous(&twice.view.shape);
    if (!st)
        st = td_chunk_store(&twice, &to, CHUNK);
    td_array_unref(&twice);
    return st;
}

static void
check_values(const td_array *x)
{
    static int32_t rows[ROWS][COLUMNS];
    int64_t got[COLUMNS];
    bool same = true;

    memset(rows, 0, sizeof rows);
    CHECK_OK(compute(x, got, rows));
    for (int j = 0; j < COLUMNS; j++)
        CHECK(got[j] == sums[j]);
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++)
            same &= rows[i][j] == 2 * host[i][j];
    CHECK(same);
}

static void
test_orders(void)
{
    td_array x;

    for (int memory = 0; memory < 2; memory++) {
        CHECK_OK(source(memory, read_rows, &x));
        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            td_null_delay(seed);
            check_values(&x);
        }
        td_null_delay(0);
        td_array_unref(&x);
    }
}

static void
test_failures(const char *call, int code)
{
    static int32_t rows[ROWS][COLUMNS];
    int64_t got[COLUMNS];
    td_array x;
    int failed = 0;

    CHECK_OK(source(false, read_rows, &x));
    for (int k = 1; k <= CALLS_MAX; k++) {
        size_t before = td_mem_stats(null).used;
        td_status st;

        CHECK_OK(td_mem_trim(null)); /* so that memory is asked for again */
        td_null_fail(call, k, code);
        st = compute(&x, got, rows);
        td_null_fail(call, 0, 0);
        failed += st != TD_OK;
        CHECK(td_mem_stats(null).used == before);
        if (st)
            check_values(&x);
    }
    CHECK(failed > 0 || code == OUT_OF_MEMORY); /* fewer rows may do */
    td_array_unref(&x);
}

/* ---- copies out go on beside what comes up ---- */

enum { AHEAD = 3, WAIT_S = 60 };

static struct {
    pthread_mutex_t mu;
    pthread_cond_t bell;
    int64_t read; /* rows that the reader was asked for */
    bool missed;
} seen = {.mu = PTHREAD_MUTEX_INITIALIZER, .bell = PTHREAD_COND_INITIALIZER};

static td_status
read_and_tell(void *owner, const td_box *box, void *out)
{
    pthread_mutex_lock(&seen.mu);
    seen.read = box->start[0] + box->count[0];
    pthread_cond_broadcast(&seen.bell);
    pthread_mutex_unlock(&seen.mu);
    return read_rows(owner, box, out);
}

/* Does not return from the first chunk before the fourth is read, whose buffers are those of the first: its kernels
 * have been launched by then, and others since. */
static td_status
write_late(void *owner, const td_box *box, const void *in)
{
    int32_t(*rows)[COLUMNS] = owner;
    struct timespec end;

    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += WAIT_S;
    pthread_mutex_lock(&seen.mu);
    while (box->start[0] == 0 && seen.read <= AHEAD * CHUNK && !seen.missed)
        seen.missed = pthread_cond_timedwait(&seen.bell, &seen.mu, &end) != 0;
    pthread_mutex_unlock(&seen.mu);
    memcpy(rows[box->start[0]], in, (size_t)box->count[0] * sizeof *rows);
    return TD_OK;
}

static void
test_overlap(void)
{
    static int32_t rows[ROWS][COLUMNS];
    td_sink to = {.dt = TD_I32, .write = write_late, .owner = rows};
    td_array x, twice;
    unsigned in, kernels, out;
    size_t from, end;
    bool same = true;

    CHECK_OK(source(false, read_and_tell, &x));
    CHECK_OK(td_array_apply(OP_add, (td_operand[]){{.array = &x}, {.array = &x}}, 2, &twice));
    to.view = td_view_contiguous(&twice.view.shape);
    td_trace_start(&from);
    CHECK_OK(td_chunk_store(&twice, &to, CHUNK));
    end = td_trace_stop();
    CHECK(!seen.missed);
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++)
            same &= rows[i][j] == 2 * host[i][j];
    CHECK(same);
    in = lanes_of(null, from, end, TD_TRACE_copy_in);
    kernels = lanes_of(null, from, end, TD_TRACE_kernel);
    out = lanes_of(null, from, end, TD_TRACE_copy_out);
    CHECK(in && kernels && out && !(in & kernels) && !(in & out) && !(kernels & out));
    td_array_unref(&twice);
    td_array_unref(&x);
}

static void
test_reader(void)
{
    size_t before = td_mem_stats(null).used;
    static int32_t rows[ROWS][COLUMNS];
    int64_t got[COLUMNS];
    td_array x;

    CHECK_OK(source(false, refuse, &x));
    CHECK_FAILS(compute(&x, got, rows), TD_ERR_IO, "no disk");
    td_array_unref(&x);
    CHECK(td_mem_stats(null).used == before);
}

int
main(void)
{
    static const char *const calls[] = {"cuMemcpyHtoDAsync", "cuMemcpyDtoHAsync",
                                        "cuStreamWaitEvent", "cuEventRecord",
                                        "cuLaunchKernel",    "cuEventCreate"};

    CHECK_OK(td_dev_get("null", &null));
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++) {
            host[i][j] = (i * 7919 + j * 104729) % 1000;
            sums[j] += 2 * host[i][j];
        }
    test_orders();
    test_overlap();
    test_reader();
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        test_failures(calls[i], FAILED);
    test_failures("cuMemAlloc", OUT_OF_MEMORY);
    test_failures("cuMemCreate", OUT_OF_MEMORY);
    return check_failures != 0;
}
