/* arange.c - evenly spaced numbers, counted and rounded as in NumPy. */
#include "python/common/py.h"

#include <math.h>

static td_scalar
in_dtype(td_scalar s, td_dtype dt)
{
    uint64_t bits[2];

    td_scalar_bits(s, dt, bits);
    return td_scalar_load(dt, bits);
}

/* Reads a number of arange, integers as int64 or uint64; *dt is promoted to hold it. */
static bool
bound(PyObject *o, td_scalar *s, int *dt)
{
    char weak = 0;
    int r = 1;

    if (py_is_array(o)) {
        if (py_array_of(o)->view.shape.ndim || !py_read_scalar(py_array_of(o), s))
            r = PyErr_Occurred() ? -1 : 0;
    } else
        r = py_number(o, s, &weak);
    if (r == 0)
        PyErr_Format(py.no_numbers, "arange: start, stop and step are numbers, not %R",
                     (PyObject *)Py_TYPE(o));
    if (r > 0 && td_dtype_is_complex(s->dt)) {
        PyErr_SetString(PyExc_TypeError, "arange: complex numbers have no order");
        r = -1;
    }
    if (r > 0) {
        *dt = (int)td_promote((td_dtype)*dt, s->dt);
        if (!td_dtype_is_float(s->dt) && s->dt != TD_U64)
            *s = in_dtype(*s, TD_I64);
    }
    return r > 0;
}

static double
as_double(td_scalar s)
{
    return td_dtype_is_float(s.dt)      ? s.f[0]
           : td_dtype_kind(s.dt) == 'u' ? (double)s.u
                                        : (double)s.i;
}

/* Exact for all 64-bit integers if long double has 64 bits of fraction. */
static long double
as_long(td_scalar s)
{
    return td_dtype_is_float(s.dt) ? (long double)s.f[0]
           : s.dt == TD_U64        ? (long double)s.u
                                   : (long double)s.i;
}

static bool
count_steps(const td_scalar s[3], int64_t *n)
{
    bool floats =
        td_dtype_is_float(s[0].dt) || td_dtype_is_float(s[1].dt) || td_dtype_is_float(s[2].dt);
    long double steps;
    double way, ratio;

    *n = 0;
    if (as_double(s[2]) == 0) {
        PyErr_SetString(PyExc_ZeroDivisionError, "division by zero");
        return false;
    }
    way = as_double(s[1]) - as_double(s[0]);
    ratio = way / as_double(s[2]);
    /* the quotient underflows: one number in the step's direction */
    if (floats && ratio == 0 && way != 0) {
        *n = !signbit(ratio);
        return true;
    }
    steps =
        floats ? (long double)ceil(ratio) : ceill((as_long(s[1]) - as_long(s[0])) / as_long(s[2]));
    if (isnan(steps) || fabsl(steps) > 0x1p62L) {
        PyErr_SetString(PyExc_ValueError, isnan(steps) ? "arange: cannot compute length"
                                                       : "Maximum allowed size exceeded");
        return false;
    }
    *n = steps > 0 ? (int64_t)steps : 0;
    return true;
}

/* The second number, by Python's addition; false: int64 cannot hold it. */
static bool
second_of(const td_scalar s[3], td_scalar *next)
{
    *next = (td_scalar){.dt = s[0].dt};
    if (td_dtype_is_float(s[0].dt) || td_dtype_is_float(s[2].dt)) {
        *next = (td_scalar){.dt = TD_F64, .f = {as_double(s[0]) + as_double(s[2])}};
        return true;
    }
    if (s[0].dt == TD_U64 || s[2].dt == TD_U64) {
        next->dt = TD_U64;
        next->u = s[0].u + s[2].u;
        return true;
    }
    next->dt = TD_I64;
    return !__builtin_add_overflow(s[0].i, s[2].i, &next->i);
}

static bool
fits_range(td_scalar s, td_dtype dt)
{
    return td_dtype_is_float(s.dt) ? py_real_fits(s, 'f', dt) : py_int_fits(s, dt);
}

/* Rounds as NumPy does: it writes the first two numbers as elements, and continues by the difference of these. */
static bool
align(td_scalar s[3], int64_t n, td_dtype dt)
{
    td_dtype real = dt == TD_C64 ? TD_F32 : dt == TD_C128 ? TD_F64 : dt;
    td_scalar next;
    bool exact = second_of(s, &next);

    if (td_dtype_is_int(dt) &&
        ((n > 0 && !fits_range(s[0], dt)) || (n > 1 && exact && !fits_range(next, dt))))
        return false;
    if (dt == TD_BOOL && n > 2) {
        PyErr_SetString(PyExc_TypeError, "arange() is only supported for booleans when the result "
                                         "has at most length 2.");
        return false;
    }
    if (td_dtype_is_int(dt) || dt == TD_BOOL) {
        s[0] = in_dtype(in_dtype(s[0], dt), TD_I64);
        s[2] = exact ? in_dtype(in_dtype(next, dt), TD_I64) : in_dtype(s[2], TD_I64);
        if (exact)
            s[2].i = (int64_t)((uint64_t)s[2].i - (uint64_t)s[0].i);
        return true;
    }
    s[2] = n < 2   ? (td_scalar){.dt = TD_F64} /* no step is made, so it may be infinite */
           : exact ? in_dtype(in_dtype(next, real), TD_F64)
                   : in_dtype(s[2], TD_F64);
    s[0] = in_dtype(in_dtype(s[0], real), TD_F64);
    if (exact)
        s[2].f[0] -= s[0].f[0];
    return true;
}

PyObject *
py_arange(PyObject *module, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    static const char *const names[] = {"start", "stop", "step", "dtype", "device", "like", NULL};
    td_scalar s[3] = {{.dt = TD_I64}, {.dt = TD_I64}, {.dt = TD_I64, .i = 1}};
    PyObject *arg[6];
    py_ndarray *r;
    td_dev *dev;
    int64_t n;
    int own = TD_I64, dt; /* as in NumPy, at least int64 */

    (void)module;
    if (!py_parse("arange", names, 0, 4, args, nargs, kwnames, arg))
        return NULL;
    if (py_is_none(arg[1]) && nargs > 0) {
        arg[1] = arg[0];
        arg[0] = NULL;
    }
    if (arg[0] == Py_None) {
        PyErr_SetString(PyExc_TypeError, "arange: start is None");
        return NULL;
    }
    if (py_is_none(arg[1])) {
        PyErr_SetString(PyExc_TypeError, "arange() requires stop to be specified.");
        return NULL;
    }
    for (int i = 0; i < 3; i++)
        if (!py_is_none(arg[i]) && !bound(arg[i], &s[i], &own))
            return NULL;
    if (!count_steps(s, &n) || !py_dtype_or(arg[3], own, &dt) || !py_device(arg[4], &dev))
        return NULL;
    if (!align(s, n, (td_dtype)dt))
        return NULL;
    r = py_new();
    return r ? py_done(r, td_array_iota(dev, (td_dtype)dt, n, s[0], s[2], &r->a)) : NULL;
}
