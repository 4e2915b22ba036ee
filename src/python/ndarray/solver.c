/* solver.c - the device's solver library and its Fourier transforms, for python/treadle/linalg.py and fft.py. */
#include "array/run/factor.h"
#include "python/common/py.h"

#include <string.h>

static bool
solver_arrays(PyObject *tuple, const td_array *a[TD_SOLVER_ARRAYS], int *n)
{
    Py_ssize_t count = PyTuple_Check(tuple) ? PyTuple_Size(tuple) : 0;

    if (count < 1 || count > TD_SOLVER_ARRAYS) {
        PyErr_Format(PyExc_TypeError, "solver: a tuple of at most %d arrays", TD_SOLVER_ARRAYS);
        return false;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *o = PyTuple_GetItem(tuple, i);

        if (!py_is_array(o)) {
            PyErr_SetString(PyExc_TypeError, "solver: a tuple of arrays");
            return false;
        }
        a[i] = py_array_of(o);
    }
    *n = (int)count;
    return true;
}

/* True: done; False: the device has no library for it, so the host must do it. */
static PyObject *
solver_answer(td_status st)
{
    if (st == TD_SKIP)
        Py_RETURN_FALSE;
    if (st)
        return py_raise(st);
    Py_RETURN_TRUE;
}

/* row name, flags, m, n, k, batch, the row's arrays -> the possible error of the singular values
 * (td_solver.disturbed); None: the device has no library for it, so the host must do it */
static PyObject *
solver(PyObject *module, PyObject *args)
{
    const char *name, *flags;
    long long m, n, k, batch;
    const td_array *a[TD_SOLVER_ARRAYS];
    PyObject *tuple;
    double disturbed = 0;
    td_solver j = {.disturbed = &disturbed};
    td_status st;
    int op, count;

    (void)module;
    if (!PyArg_ParseTuple(args, "ssLLLLO", &name, &flags, &m, &n, &k, &batch, &tuple) ||
        !solver_arrays(tuple, a, &count))
        return NULL;
    op = td_solver_find(name);
    if (op < 0 || strlen(flags) >= sizeof j.flag)
        return PyErr_Format(PyExc_ValueError, "solver: no row %s with flags %s", name, flags);
    j.op = (td_solver_op)op;
    j.dt = td_array_dtype(a[0]);
    j.m = m;
    j.n = n;
    j.k = k;
    j.batch = batch;
    memcpy(j.flag, flags, strlen(flags));
    st = td_array_factor(&j, a, count);
    if (st == TD_SKIP)
        Py_RETURN_NONE;
    return st ? py_raise(st) : PyFloat_FromDouble(disturbed);
}

/* device, row name -> does the device's library have it?  MissingLibraryError names what to install. */
static PyObject *
solver_can(PyObject *module, PyObject *args)
{
    const char *name;
    PyObject *device;
    td_dev *d;
    int op;

    (void)module;
    if (!PyArg_ParseTuple(args, "Os", &device, &name) || !py_device(device, &d))
        return NULL;
    op = td_solver_find(name);
    if (op < 0)
        return PyErr_Format(PyExc_ValueError, "solver: no row %s", name);
    return solver_answer(td_solver_can(d, (td_solver_op)op));
}

/* in, out, kind (0: complex to complex, 1: real to complex, 2: complex to real), inverse, number of axes, counted from
 * the last */
static PyObject *
fourier(PyObject *module, PyObject *args)
{
    PyObject *in, *out;
    int kind, inverse, rank;

    (void)module;
    if (!PyArg_ParseTuple(args, "OOipi", &in, &out, &kind, &inverse, &rank))
        return NULL;
    if (!py_is_array(in) || !py_is_array(out) || rank < 1 || rank > TD_FOURIER_RANK ||
        py_array_of(in)->view.shape.ndim < rank ||
        py_array_of(in)->view.shape.ndim != py_array_of(out)->view.shape.ndim)
        return PyErr_Format(PyExc_ValueError, "fourier: two arrays of as many axes, %d or more",
                            rank);
    return solver_answer(td_array_fourier(py_array_of(in), py_array_of(out), (td_fourier_kind)kind,
                                          inverse != 0, rank));
}

/* The axes of a tuple, at most TD_MAXDIM. */
static bool
fourier_axes(PyObject *tuple, int ndim, int *axes, int *n)
{
    Py_ssize_t count = PyTuple_Check(tuple) ? PyTuple_Size(tuple) : 0;

    *n = (int)count;
    for (Py_ssize_t i = 0; i < count && count <= ndim; i++) {
        axes[i] = (int)PyLong_AsLong(PyTuple_GetItem(tuple, i));
        if (axes[i] < 0 || axes[i] >= ndim)
            break;
        if (i + 1 == count)
            return true;
    }
    if (!PyErr_Occurred())
        PyErr_SetString(PyExc_ValueError, "fourier: a tuple of axes from 0 on");
    return false;
}

/* in, out, kind (td_ducc_kind), inverse, tuple of axes, factor: a transform in the CPU's memory */
static PyObject *
fourier_host(PyObject *module, PyObject *args)
{
    PyObject *in, *out, *tuple;
    int kind, inverse, naxes, axes[TD_MAXDIM];
    double factor;
    td_status st;

    (void)module;
    if (!PyArg_ParseTuple(args, "OOipOd", &in, &out, &kind, &inverse, &tuple, &factor))
        return NULL;
    if (!py_is_array(in) || !py_is_array(out) ||
        py_array_of(in)->view.shape.ndim != py_array_of(out)->view.shape.ndim)
        return PyErr_Format(PyExc_ValueError, "fourier: two arrays of as many axes");
    if (!fourier_axes(tuple, py_array_of(in)->view.shape.ndim, axes, &naxes))
        return NULL;
    st = td_array_fourier_host(py_array_of(in), py_array_of(out), (td_ducc_kind)kind, inverse != 0,
                               axes, naxes, factor);
    if (st)
        return py_raise(st);
    Py_RETURN_NONE;
}

/* device -> does a library transform its arrays?  MissingLibraryError names what to install. */
static PyObject *
fourier_can(PyObject *module, PyObject *device)
{
    td_dev *d;

    (void)module;
    return py_device(device, &d) ? solver_answer(td_fourier_can(d)) : NULL;
}

/* device -> what factorises its arrays, what transforms them */
static PyObject *
solver_info(PyObject *module, PyObject *device)
{
    td_dev *d;

    (void)module;
    if (!py_device(device, &d))
        return NULL;
    return Py_BuildValue("(ss)", td_solver_info(d), td_fourier_info(d));
}

/* device -> number of plans that it keeps, and the most */
static PyObject *
fourier_plans(PyObject *module, PyObject *device)
{
    td_dev *d;
    int n, most;

    (void)module;
    if (!py_device(device, &d))
        return NULL;
    n = td_fourier_plans(d, &most);
    return Py_BuildValue("(ii)", n, most);
}

PyMethodDef py_solver_functions[] = {
    {"_solver", solver, METH_VARARGS, NULL},
    {"_solver_can", solver_can, METH_VARARGS, NULL},
    {"_solver_info", solver_info, METH_O, NULL},
    {"_fourier", fourier, METH_VARARGS, NULL},
    {"_fourier_host", fourier_host, METH_VARARGS, NULL},
    {"_fourier_can", fourier_can, METH_O, NULL},
    {"_fourier_plans", fourier_plans, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};
