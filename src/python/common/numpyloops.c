/* numpyloops.c - takes NumPy's own loops out of its ufuncs, for compiled code to call: base/ufunc.h. */
#include "base/ufunc.h"
#include "dev/lib/hostblas.h"
#include "front/infer/front.h"
#include "python/common/py.h"

typedef struct ufunc { /* NumPy's PyUFuncObject, as far as it is looked at: so since NumPy 1.0 */
    PyObject_HEAD int nin, nout, nargs, identity;
    td_ufunc_loop *const *loops;
    void *const *data;
    int ntypes, reserved;
    const char *name, *types;
} ufunc;

enum {
    NPY_LONG = 7,
    NPY_LONGLONG = 9,
    NPY_FLOAT = 11,
    NPY_DOUBLE = 12,
    NPY_CFLOAT = 14,
    NPY_CDOUBLE = 15
};

/* NULL: the structure is not the one that is known. */
static const ufunc *
as_ufunc(PyObject *o)
{
    const ufunc *u = (const ufunc *)o;
    PyObject *nin = PyObject_GetAttrString(o, "nin"), *ntypes = PyObject_GetAttrString(o, "ntypes");
    bool known =
        nin && ntypes && PyLong_AsLong(nin) == u->nin && PyLong_AsLong(ntypes) == u->ntypes;

    Py_XDECREF(nin);
    Py_XDECREF(ntypes);
    PyErr_Clear();
    return known ? u : NULL;
}

/* The index of u's loop of which the first n arguments (inputs, then results) are of that type; -1: it has none. */
static int
loop_of(const ufunc *u, int type, int n)
{
    for (int i = 0; i < u->ntypes; i++) {
        int k = 0;

        while (k < n && u->types[i * u->nargs + k] == type)
            k++;
        if (k == n)
            return i;
    }
    return -1;
}

static PyObject *
take_ufunc(PyObject *module, PyObject *o)
{
    const ufunc *u = as_ufunc(o);
    int op = u ? td_intrinsic_op(u->name) : -1, i;

    (void)module;
    if (op < 0 || u->nout != 1 || u->nin > 2)
        return PyBool_FromLong(0);
    i = loop_of(u, NPY_DOUBLE, u->nargs);
    td_ufunc_set(op, u->nin, i < 0 ? NULL : u->loops[i], i < 0 || !u->data ? NULL : u->data[i],
                 loop_of(u, NPY_LONG, u->nin) < 0 && loop_of(u, NPY_LONGLONG, u->nin) < 0);
    return PyBool_FromLong(i >= 0);
}

static PyObject *
take_linear(PyObject *module, PyObject *args)
{
    static const int types[] = {NPY_FLOAT, NPY_DOUBLE, NPY_CFLOAT, NPY_CDOUBLE};
    const ufunc *u;
    PyObject *o;
    int number;

    (void)module;
    if (!PyArg_ParseTuple(args, "Oi:_take_linear", &o, &number))
        return NULL;
    u = as_ufunc(o);
    for (int i = 0; u && i < u->ntypes; i++)
        for (int t = 0; t < 4; t++)
            if (u->types[i * u->nargs] == types[t])
                td_linear_set(number + t, u->nin, u->loops[i], u->data ? u->data[i] : NULL);
    td_hostblas_find();
    return PyBool_FromLong(u != NULL);
}

static PyMethodDef functions[] = {
    {"_take_ufunc", take_ufunc, METH_O,
     "_take_ufunc(f): loops call NumPy's ufunc f for single float64s. False: they cannot."},
    {"_take_linear", take_linear, METH_VARARGS,
     "_take_linear(f, number): compiled functions call the loops of f, of numpy.linalg, by that "
     "number and the next three: for float32, float64, complex64, complex128. False: they cannot."},
    {NULL, NULL, 0, NULL},
};

bool
py_numpyloops_init(PyObject *m)
{
    td_linear_around(td_hostblas_begin, td_hostblas_end);
    return PyModule_AddFunctions(m, functions) == 0;
}
