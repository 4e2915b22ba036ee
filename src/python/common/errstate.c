/* errstate.c - the C part of treadle._numpy._errstate: watches for floating-point errors and
 * reports them.
 */
#include "python/common/py.h"

#include "array/run/fperror.h"

/* Calls treadle._numpy._errstate.found(kind, operation, raises), which reacts as the program
 * asked.  What it raises becomes the operation's failure. */
static td_status
found(td_fperr kind, const char *op, bool raises)
{
    PyObject *f = py_package("treadle._numpy._errstate", "found"), *r;

    r = f ? PyObject_CallFunction(f, "isO", (int)kind, op, raises ? Py_True : Py_False) : NULL;
    Py_XDECREF(f);
    if (!r)
        return py_keep();
    Py_DECREF(r);
    return TD_OK;
}

static PyObject *
look_for(PyObject *module, PyObject *kinds)
{
    long k = PyLong_AsLong(kinds);

    (void)module;
    if (k == -1 && PyErr_Occurred())
        return NULL;
    if (k < 0 || k > UINT8_MAX)
        return PyErr_Format(PyExc_ValueError, "_look_for: %ld", k);
    td_fp_watch((uint8_t)k);
    return Py_NewRef(Py_None);
}

static PyObject *
looks(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    return PyBool_FromLong(td_fp_asked());
}

/* name, operands, result */
static PyObject *
look_at(PyObject *module, PyObject *args)
{
    PyObject *a, *b, *r;
    const char *op;

    (void)module;
    if (!PyArg_ParseTuple(args, "sO!O!O!:_look_at", &op, py.base, &a, py.base, &b, py.base, &r) ||
        !py_ok(td_fp_check_result(op, (const td_array *[]){py_array_of(a), py_array_of(b)}, 2,
                                  py_array_of(r))))
        return NULL;
    return Py_NewRef(Py_None);
}

PyMethodDef py_errstate_functions[] = {
    {"_looks", looks, METH_NOARGS, "_looks(): does this thread look for floating-point errors?"},
    {"_look_at", look_at, METH_VARARGS,
     "_look_at(name, a, b, r): looks for them in r, an operation's result of arrays a and b."},
    {"_look_for", look_for, METH_O,
     "_look_for(kinds): the floating-point errors that this thread looks for: a sum of divide 1, "
     "over 2, under 4, "
     "invalid 8; 16 times those that are to be raised in any case."},
    {NULL, NULL, 0, NULL},
};

void
py_errstate_hooks(void)
{
    td_fp_on_found(found);
}
