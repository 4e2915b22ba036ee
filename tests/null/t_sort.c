/* t_sort.c - the way to libtreadle_cub.so: temporary memory, refusals, failures.  What it sorts is
 * tested from Python, on the null device with the library that the host plays. */
#include "dev/core/sort.h"
#include "dev/foreign/library.h"
#include "dev/lib/cub.h"
#include "null/null.h"

#include "check.h"

#include <dlfcn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROWS = 3, N = 5, FAILED = 719, NO_MEMORY = 2 };

static const int32_t keys[ROWS * N] = {5, -1, 3,         -1, 9,         0, 0, 2,
                                       1, 0,  INT32_MIN, 7,  INT32_MAX, 7, 6};
static const int32_t sorted[ROWS * N] = {-1, -1, 3,         5, 9, 0, 0,        0,
                                         1,  2,  INT32_MIN, 6, 7, 7, INT32_MAX};
static const int64_t places[ROWS * N] = {1, 3, 2, 0, 4, 0, 1, 4, 3, 2, 0, 4, 1, 3, 2};

static td_dev *null;

/* A library that answers as it is told to: for the size, for the sort. */
static int answer[2], calls[2];
static size_t wanted = 4096;

static int
answering(const td_cub_job *job, void *temp, size_t *nbytes, void *stream)
{
    (void)job;
    (void)stream;
    calls[temp != NULL]++;
    if (!temp)
        *nbytes = wanted;
    else
        CHECK(*nbytes == wanted && td_null_extent((uintptr_t)temp) >= wanted);
    return answer[temp != NULL];
}

static const char *
text(int code)
{
    return code == FAILED ? "an unspecified failure" : "a refusal";
}

static const td_cub told = {answering, text};

static td_buf *
on_device(const void *data, size_t nbytes)
{
    td_buf *b = NULL;

    CHECK_OK(td_buf_new(null, NULL, nbytes, &b));
    if (data)
        CHECK_OK(td_copy_in(td_dev_stream(null), b->ptr, data, nbytes));
    return b;
}

static void
test_sorts(void)
{
    td_buf *in = on_device(keys, sizeof keys), *out = on_device(NULL, sizeof keys),
           *index = on_device(NULL, sizeof places);
    td_sort job = {TD_I32, ROWS, N, in->ptr, out->ptr, index->ptr};
    int32_t got[ROWS * N];
    int64_t at[ROWS * N];

    CHECK_OK(td_sort_run(td_dev_stream(null), &job));
    CHECK_OK(td_copy_out(td_dev_stream(null), got, out->ptr, sizeof got));
    CHECK_OK(td_copy_out(td_dev_stream(null), at, index->ptr, sizeof at));
    CHECK(memcmp(got, sorted, sizeof got) == 0 && memcmp(at, places, sizeof at) == 0);
    job.n = 0;
    CHECK_OK(td_sort_run(td_dev_stream(null), &job));
    job.n = N + 1; /* more than the buffers hold */
    CHECK_FAILS(td_sort_run(td_dev_stream(null), &job), TD_ERR_DEVICE, "null: sort: arguments");
    td_buf_unref(in);
    td_buf_unref(out);
    td_buf_unref(index);
}

static void
test_skips(void)
{
    td_sort job = {TD_C64, 1, 4, 8, 16, 0};
    td_dev *cpu;

    CHECK_OK(td_dev_get("cpu", &cpu));
    CHECK(td_sort_can(cpu, TD_F32, 4, true) == TD_SKIP);
    CHECK(td_sort_run(td_dev_stream(null), &job) == TD_SKIP);
    CHECK_OK(td_sort_can(null, TD_F32, UINT32_MAX, true));
    CHECK(td_sort_can(null, TD_F32, (int64_t)UINT32_MAX + 1, true) == TD_SKIP);
    job = (td_sort){TD_F32, 1LL << 33, 1LL << 33, 8, 16, 0};
    CHECK(td_sort_run(td_dev_stream(null), &job) == TD_SKIP);
    CHECK(strncmp(td_sort_info(cpu), "NumPy", 5) == 0 && !*td_sort_missing(cpu));
    CHECK(strcmp(td_sort_info(null), "NumPy") != 0 && !*td_sort_missing(null));
}

static void
test_failures(void)
{
    td_buf *in = on_device(keys, sizeof keys);
    td_sort job = {TD_I32, ROWS, N, in->ptr, in->ptr, 0};
    td_stream *s = td_dev_stream(null);

    td_sort_use(&told);
    for (int call = 0; call < 2; call++) {
        answer[call] = FAILED;
        CHECK_FAILS(td_sort_run(s, &job), TD_ERR_DEVICE, "null: sort: an unspecified failure");
        answer[call] = NO_MEMORY;
        CHECK(td_sort_run(s, &job) == TD_ERR_OOM);
        answer[call] = 0;
    }
    CHECK_OK(td_sort_run(s, &job)); /* a failure is not kept */
    td_null_fail("cuMemAlloc", 1, NO_MEMORY);
    wanted = (size_t)1 << 40;
    calls[1] = 0;
    CHECK(td_sort_run(s, &job) == TD_ERR_OOM && calls[1] == 0);
    td_null_fail("cuMemAlloc", 0, 0);
    wanted = 4096;
    td_null_fail("cuCtxGetCurrent", 1, FAILED);
    td_null_fail("cuCtxPushCurrent", 1, FAILED);
    CHECK_FAILS(td_sort_run(s, &job), TD_ERR_DEVICE, "cuCtxPushCurrent");
    td_null_fail("cuCtxPushCurrent", 0, 0);
    CHECK_OK(td_sort_run(s, &job));
    CHECK(td_null_live().contexts == 0);
    td_sort_use(NULL);
    td_buf_unref(in);
}

/* No code for the device: the host's turn, from then on, with the reason; in a child, since it stays so. */
static void
test_misfit(void)
{
    pid_t p = fork();
    int st;

    if (p == 0) {
        td_sort job = {TD_I32, 1, 4, 4096, 8192, 0};

        CHECK_OK(td_dev_get("null", &null));
        td_sort_use(&told);
        answer[1] = 209;
        CHECK(td_sort_run(td_dev_stream(null), &job) == TD_SKIP);
        answer[1] = calls[0] = 0;
        CHECK(td_sort_run(td_dev_stream(null), &job) == TD_SKIP && calls[0] == 0);
        CHECK(td_sort_can(null, TD_I32, 4, true) == TD_SKIP);
        CHECK(strcmp(td_sort_missing(null), "a refusal") == 0);
        CHECK(strstr(td_sort_info(null), "by way of the host: a refusal"));
        _exit(check_failures != 0);
    }
    CHECK(waitpid(p, &st, 0) == p && WIFEXITED(st) && WEXITSTATUS(st) == 0);
}

/* The library itself, where it was built: says what speaks against this machine instead of failing. */
static void
test_library(void)
{
    char why[512] = "";
    void *lib = td_lib_beside("libtreadle_cub.so", why, sizeof why);
    td_cub_job job = {.kind = 'f', .size = 4, .fraction = 23, .rows = 1, .n = 100};
    td_cub_open_fn *open_fn;
    size_t nbytes = 0;
    int code;

    CHECK(lib ? !*why : strstr(why, "libtreadle_cub.so") != NULL);
    if (!lib)
        return;
    *(void **)&open_fn = dlsym(lib, "td_cub_open");
    if (!CHECK(open_fn))
        return;
    code = open_fn()->sort(&job, NULL, &nbytes, NULL);
    CHECK(code ? open_fn()->text(code)[0] != 0 : nbytes > 0);
    job.size = 3;
    CHECK(open_fn()->sort(&job, NULL, &nbytes, NULL) != 0);
    CHECK(!td_lib_beside("libtreadle_nothing.so", why, sizeof why) && strstr(why, "nothing"));
}

int
main(void)
{
    test_misfit();
    CHECK_OK(td_dev_get("null", &null));
    test_sorts();
    test_skips();
    test_failures();
    test_library();
    return check_failures != 0;
}
