/* ufunc.c - the loops of ufunc.h. */
#include "base/ufunc.h"

static struct {
    td_ufunc_loop *loop;
    void *data;
    int nin;
} loops[TD_UFUNCS];

void
td_ufunc_set(int number, int nin, td_ufunc_loop *loop, void *data)
{
    if (number < 0 || number >= TD_UFUNCS)
        return;
    loops[number].loop = loop;
    loops[number].data = data;
    loops[number].nin = nin;
}

bool
td_ufunc_is_set(int number, int nin)
{
    return number >= 0 && number < TD_UFUNCS && loops[number].loop && loops[number].nin == nin;
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
