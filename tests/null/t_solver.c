/* t_solver.c - jobs for solvers and Fourier transforms: refusals, memory that is not there, the order of work on a stream.
 * What they compute is tested from Python. */
#include "dev/core/fourier.h"
#include "dev/core/solver.h"
#include "null/null.h"

#include "check.h"

#include <math.h>
#include <string.h>

enum { N = 3, SIZE = 8 };

static td_dev *null;

/* Column-major: det 18 by pivots 4 (row 2), then 3, then 1.5. */
static const double matrix[N * N] = {2, 4, 2, 1, 2, 4, 1.5, 0, 3};

static td_buf *
on_device(const void *data, size_t nbytes)
{
    td_buf *b = NULL;

    CHECK_OK(td_buf_new(null, NULL, nbytes, &b));
    if (data)
        CHECK_OK(td_copy_in(td_dev_stream(null), b->ptr, data, nbytes));
    return b;
}

static td_solver
job_of(const td_buf *a, const td_buf *pivot, const td_buf *info)
{
    return (td_solver){.op = TD_SOLVE_getrf,
                       .dt = TD_F64,
                       .m = N,
                       .n = N,
                       .batch = 1,
                       .at = {a->ptr, pivot->ptr, info->ptr}};
}

static void
test_refusals(void)
{
    td_solver j = {.op = TD_SOLVE_potrf, .dt = TD_F64, .n = N, .batch = 1, .flag = "L"};
    td_dev *cpu;

    CHECK(td_solver_find("getrf") == TD_SOLVE_getrf && td_solver_find("gett") == -1);
    CHECK_OK(td_solver_check(&j));
    j.flag[0] = 'X';
    CHECK_FAILS(td_solver_check(&j), TD_ERR_VALUE, "flag 0 is 'X', not one of LU");
    j.flag[0] = 'L';
    j.dt = TD_I32;
    CHECK_FAILS(td_solver_check(&j), TD_ERR_TYPE, "int32");
    j.dt = TD_C64;
    j.n = -1;
    CHECK_FAILS(td_solver_check(&j), TD_ERR_VALUE, "potrf: 1 matrices of 0 by -1");
    CHECK_OK(td_dev_get("cpu", &cpu));
    CHECK(td_solver_can(cpu, TD_SOLVE_getrf) == TD_SKIP && td_fourier_can(cpu) == TD_SKIP);
    CHECK_OK(td_solver_can(null, TD_SOLVE_geev));
}

static void
test_memory_that_is_not_there(void)
{
    td_buf *a = on_device(matrix, sizeof matrix), *pivot = on_device(NULL, N * 8),
           *info = on_device(NULL, 4);
    td_solver j = job_of(a, pivot, info);

    CHECK_OK(td_solver_run(td_dev_stream(null), &j));
    j.at[1] = j.at[2] + 4; /* behind its buffer */
    CHECK_FAILS(td_solver_run(td_dev_stream(null), &j), TD_ERR_DEVICE,
                "null: getrf: INVALID_VALUE");
    td_buf_unref(a);
    td_buf_unref(pivot);
    td_buf_unref(info);
}

/* Work that is done late: what the library is given has been written before, and what follows sees its results. */
static void
test_order(void)
{
    td_stream *s = td_dev_stream(null);
    double u[N * N], wave[2 * SIZE], found[2 * SIZE];
    td_fourier f = {.wide = true, .rank = 1, .n = {SIZE}, .batch = 1};
    size_t work;

    for (uint64_t seed = 1; seed < 20; seed++) {
        td_buf *a, *pivot, *info, *in, *out, *room;
        td_solver j;

        td_null_delay(seed);
        a = on_device(matrix, sizeof matrix);
        pivot = on_device(NULL, N * 8);
        info = on_device(NULL, 4);
        j = job_of(a, pivot, info);
        CHECK_OK(td_solver_run(s, &j));
        CHECK_OK(td_copy_out(s, u, a->ptr, sizeof u));
        CHECK(u[0] == 4 && u[4] == 3 && u[8] == 1.5);

        for (int i = 0; i < SIZE; i++) { /* one wave: one number that is not 0 */
            wave[2 * i] = cos(2 * 3.141592653589793 * i / SIZE);
            wave[2 * i + 1] = sin(2 * 3.141592653589793 * i / SIZE);
        }
        in = on_device(wave, sizeof wave);
        out = on_device(NULL, sizeof wave);
        f.in = (td_fourier_side){.embed = {SIZE}, .stride = 1, .dist = SIZE, .at = in->ptr};
        f.out = (td_fourier_side){.embed = {SIZE}, .stride = 1, .dist = SIZE, .at = out->ptr};
        CHECK_OK(td_fourier_plan(s, &f, false, &work));
        room = on_device(NULL, work);
        f.work = room->ptr;
        CHECK_OK(td_fourier_run(s, &f));
        CHECK_OK(td_copy_out(s, found, out->ptr, sizeof found));
        for (int i = 0; i < 2 * SIZE; i++)
            CHECK(fabs(found[i] - (i == 2 ? SIZE : 0)) < 1e-12);
        td_buf_unref(a);
        td_buf_unref(pivot);
        td_buf_unref(info);
        td_buf_unref(in);
        td_buf_unref(out);
        td_buf_unref(room);
    }
    td_null_delay(0);
}

static void
test_layouts_that_cannot_be(void)
{
    td_buf *in = on_device(NULL, 256), *out = on_device(NULL, 256), *room;
    td_fourier f = {.wide = true, .rank = 1, .n = {SIZE}, .batch = 1};
    size_t work;

    f.in = (td_fourier_side){.embed = {SIZE},
                             .stride = 1,
                             .dist = SIZE,
                             .at = in->ptr + 8}; /* not a complex number's place */
    f.out = (td_fourier_side){.embed = {SIZE}, .stride = 1, .dist = SIZE, .at = out->ptr};
    CHECK_OK(td_fourier_plan(td_dev_stream(null), &f, false, &work));
    room = on_device(NULL, work);
    f.work = room->ptr;
    CHECK_FAILS(td_fourier_run(td_dev_stream(null), &f), TD_ERR_DEVICE,
                "null: cufftXtExec: CUFFT_INVALID_VALUE");
    f.batch = 0;
    CHECK_FAILS(td_fourier_plan(td_dev_stream(null), &f, false, &work), TD_ERR_DEVICE,
                "cufftXtMakePlanMany");
    td_buf_unref(in);
    td_buf_unref(out);
    td_buf_unref(room);
}

int
main(void)
{
    CHECK_OK(td_dev_get("null", &null));
    test_refusals();
    test_memory_that_is_not_there();
    test_order();
    test_layouts_that_cannot_be();
    return check_failures != 0;
}
