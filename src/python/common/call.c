/* call.c - arguments of calls, calls of Python functions, and the state that the extension's
 * files share.
 */
#include "python/common/py.h"

#include <string.h>

py_state py;

bool
py_is_none(PyObject *o)
{
    return !o || o == Py_None;
}

bool
py_is_text(PyObject *o, const char *text)
{
    return PyUnicode_Check(o) && PyUnicode_CompareWithASCIIString(o, text) == 0;
}

bool
py_flag(PyObject *o, bool dflt, bool *out)
{
    int t = o ? PyObject_IsTrue(o) : dflt;

    *out = t > 0;
    return t >= 0;
}

static bool parse_keyword(const char *fn, const char *const *names, PyObject *name, PyObject *value,
                          PyObject **out);

/* The methods of tensors take NumPy's names of their parameters, too. */
static bool
numpys_keyword(const char *fn, const char *const *names, PyObject *name, PyObject *value,
               PyObject **out)
{
    static const char *const numpys[] = {"axis", "keepdims", "axis0", "axis1", "x2", NULL};
    static const char *const torchs[] = {"dim", "keepdim", "dim0", "dim1", "other"};

    for (int k = 0; numpys[k]; k++)
        for (int i = 0; names[i] && PyUnicode_CompareWithASCIIString(name, numpys[k]) == 0; i++)
            if (strcmp(names[i], torchs[k]) == 0) {
                PyObject *own = PyUnicode_FromString(torchs[k]);
                bool ok = own && parse_keyword(fn, names, own, value, out);

                Py_XDECREF(own);
                return ok;
            }
    PyErr_Format(PyExc_TypeError, "%s() got an unexpected keyword argument '%U'", fn, name);
    return false;
}

static bool
parse_keyword(const char *fn, const char *const *names, PyObject *name, PyObject *value,
              PyObject **out)
{
    for (int i = 0; names[i]; i++)
        if (PyUnicode_CompareWithASCIIString(name, names[i]) == 0) {
            if (out[i])
                PyErr_Format(PyExc_TypeError, "%s() got multiple values for argument '%U'", fn,
                             name);
            else
                out[i] = value;
            return !PyErr_Occurred();
        }
    return numpys_keyword(fn, names, name, value, out);
}

bool
py_parse(const char *fn, const char *const *names, int nmin, int npos, PyObject *const *args,
         Py_ssize_t nargs, PyObject *kwnames, PyObject **out)
{
    Py_ssize_t nkw = kwnames ? PyTuple_Size(kwnames) : 0;

    for (int i = 0; names[i]; i++)
        out[i] = i < nargs ? args[i] : NULL;
    if (nargs > npos) {
        PyErr_Format(PyExc_TypeError, "%s() takes at most %d positional arguments (%zd given)", fn,
                     npos, nargs);
        return false;
    }
    for (Py_ssize_t i = 0; i < nkw; i++)
        if (!parse_keyword(fn, names, PyTuple_GetItem(kwnames, i), args[nargs + i], out))
            return false;
    for (int i = 0; i < nmin; i++)
        if (!out[i]) {
            PyErr_Format(PyExc_TypeError, "%s() missing required argument '%s'", fn, names[i]);
            return false;
        }
    return true;
}

PyObject *
py_package(const char *module, const char *name)
{
    PyObject *m = PyImport_ImportModule(module), *f = m ? PyObject_GetAttrString(m, name) : NULL;

    Py_XDECREF(m);
    return f;
}

PyObject *
py_await(PyObject *o, const char *kind)
{
    PyObject *f = py_package("treadle._exchange._awaiting", kind),
             *r = f ? PyObject_CallFunctionObjArgs(f, o, NULL) : NULL;

    Py_XDECREF(f);
    return r;
}

PyObject *
py_call_with(PyObject *fn, PyObject *head, PyObject *const *args, Py_ssize_t nargs,
             PyObject *kwnames)
{
    Py_ssize_t nkw = kwnames ? PyTuple_Size(kwnames) : 0;
    PyObject *tuple = PyTuple_New(nargs + 1), *kw = nkw ? PyDict_New() : NULL, *r = NULL;

    if (!tuple || (nkw && !kw))
        goto out;
    PyTuple_SetItem(tuple, 0, Py_NewRef(head));
    for (Py_ssize_t i = 0; i < nargs; i++)
        PyTuple_SetItem(tuple, i + 1, Py_NewRef(args[i]));
    for (Py_ssize_t i = 0; i < nkw; i++)
        if (PyDict_SetItem(kw, PyTuple_GetItem(kwnames, i), args[nargs + i]) < 0)
            goto out;
    r = PyObject_Call(fn, tuple, kw);
out:
    Py_XDECREF(tuple);
    Py_XDECREF(kw);
    return r;
}
