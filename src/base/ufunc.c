/* ufunc.c - the loops of ufunc.h. */
#include "base/ufunc.h"

#include "base/parallel.h"

#include <fenv.h>
#include <stdatomic.h>

static struct {
    td_ufunc_loop *loop;
    void *data;
    int nin;
    bool floats;
} loops[TD_UFUNCS];

void
td_ufunc_set(int number, int nin, td_ufunc_loop *loop, void *data, bool floats)
{
    if (number < 0 || number >= TD_UFUNCS)
        return;
    loops[number].loop = loop;
    loops[number].data = data;
    loops[number].nin = nin;
    loops[number].floats = floats;
}

bool
td_ufunc_is_set(int number, int nin)
{
    return number >= 0 && number < TD_UFUNCS && loops[number].loop && loops[number].nin == nin;
}

bool
td_ufunc_floats(int number)
{
    return number >= 0 && number < TD_UFUNCS && loops[number].floats;
}

double
td_ufunc_call(int number, const double *x)
{
    static const intptr_t one = 1, steps[3] = {sizeof(double), sizeof(double), sizeof(double)};
    double in[2] = {x[0], loops[number].nin > 1 ? x[1] : 0}, out = 0;
    char *args[3] = {(char *)&in[0], (char *)&in[1], (char *)&out};

    if (loops[number].nin == 1)
        args[1] = (char *)&out;
    loops[number].loop(args, &one, steps, loops[number].data);
    return out;
}

/* ---- numpy.linalg's ---- */

static struct {
    td_ufunc_loop *loop;
    void *data;
    int nin;
} linears[TD_LINEARS];

int
td_linear_nin(int number)
{
    return number < 0 || number >= TD_LINEARS ? 0 : linears[number].nin;
}

void
td_linear_set(int number, int nin, td_ufunc_loop *loop, void *data)
{
    if (number < 0 || number >= TD_LINEARS)
        return;
    linears[number].data = data;
    linears[number].nin = nin;
    linears[number].loop = loop;
}

static struct {
    bool (*begin)(void);
    void (*end)(void);
    atomic_bool begun;
} around;

static void
pool_ends(void)
{
    if (atomic_load_explicit(&around.begun, memory_order_relaxed) &&
        atomic_exchange(&around.begun, false))
        around.end();
}

static void
inside_pool(void)
{
    if (!atomic_load_explicit(&around.begun, memory_order_relaxed) && around.begin() &&
        atomic_exchange(&around.begun, true))
        around.end(); /* another thread was faster */
}

void
td_linear_around(bool (*begin)(void), void (*end)(void))
{
    around.begin = begin;
    around.end = end;
    td_parallel_after(pool_ends);
}

uint64_t
td_linear_call(const uint64_t *w)
{
    enum { SIZES = 8, STRIDES = 3 * TD_LINEAR_ARGS };

    char *args[TD_LINEAR_ARGS];
    intptr_t sizes[1 + SIZES] = {1}, steps[TD_LINEAR_ARGS + STRIDES] = {0};
    uint64_t number = w[0], nargs = w[1], nsizes = w[2], nstrides = w[3];
    const uint64_t *rest = w + 4;
    bool failed;

    if (number >= TD_LINEARS || !linears[number].loop || nargs > TD_LINEAR_ARGS || nsizes > SIZES ||
        nstrides > STRIDES)
        return 1;
    for (uint64_t i = 0; i < nargs; i++)
        args[i] = (char *)(uintptr_t)*rest++;
    for (uint64_t i = 0; i < nsizes; i++)
        sizes[1 + i] = (intptr_t)*rest++;
    for (uint64_t i = 0; i < nstrides; i++)
        steps[nargs + i] = (intptr_t)*rest++;
    if (around.begin && td_parallel_inside())
        inside_pool();
    feclearexcept(FE_INVALID); /* the loop raises it where LAPACK fails */
    linears[number].loop(args, sizes, steps, linears[number].data);
    failed = fetestexcept(FE_INVALID) != 0;
    feclearexcept(FE_INVALID);
    return failed;
}
