/* tables.c - the core's tables as Python lists, its counters, and its numbers that can be set for measuring. */
#include "python/common/py.h"

#include "array/graph/reduce.h"
#include "array/plan/tune.h"
#include "jit/jit.h"

static PyObject *
append(PyObject *list, PyObject *row)
{
    if (list && (!row || PyList_Append(list, row) < 0))
        Py_CLEAR(list);
    Py_XDECREF(row);
    return list;
}

static PyObject *
ops(PyObject *module, PyObject *unused)
{
    PyObject *list = PyList_New(0);

    (void)module, (void)unused;
    for (int i = 0; list && i < TD_OPS; i++) {
        const td_opinfo *o = &td_optab[i];

        list = append(list, Py_BuildValue("(siss)", o->name, o->arity, o->kinds, o->meaning));
    }
    return list;
}

static PyObject *
reductions(PyObject *module, PyObject *unused)
{
    PyObject *list = PyList_New(0);

    (void)module, (void)unused;
#define RED(name, nacc, npair, identity, meaning, derivative)                                      \
    list = append(list, Py_BuildValue("(sis)", #name, identity, meaning));
#include "array/graph/reduce.def"
    return list;
}

/* Two dicts from a row's name to its derivative: of ops.def and of reduce.def. */
static PyObject *
derivatives(PyObject *module, PyObject *unused)
{
    PyObject *rows = PyDict_New(), *reds = PyDict_New();
    bool ok = rows && reds;

    (void)module, (void)unused;
    for (int i = 0; ok && i < TD_OPS + TD_RED_COUNT; i++) {
        bool row = i < TD_OPS;
        const char *name = row ? td_optab[i].name : td_redtab[i - TD_OPS].name;
        PyObject *text =
            PyUnicode_FromString(row ? td_optab[i].derivative : td_redtab[i - TD_OPS].derivative);

        ok = text && PyDict_SetItemString(row ? rows : reds, name, text) == 0;
        Py_XDECREF(text);
    }
    if (ok)
        return Py_BuildValue("(NN)", rows, reds);
    Py_XDECREF(rows);
    Py_XDECREF(reds);
    return NULL;
}

static PyObject *
dtypes(PyObject *module, PyObject *unused)
{
    PyObject *list = PyList_New(0);

    (void)module, (void)unused;
    for (int i = 0; list && i < TD_DTYPE_COUNT; i++)
        list = append(list, Py_BuildValue("(sCsi)", td_dtab[i].name, td_dtab[i].kind,
                                          td_dtab[i].typestr, (int)td_dtab[i].size));
    return list;
}

static PyObject *
jit_stats(PyObject *module, PyObject *unused)
{
    td_jitstat s = td_jit_stats();
    td_evalstat e = td_eval_stats();
    uint64_t kernels = s.compiled + s.loaded;

    (void)module, (void)unused;
    return Py_BuildValue(
        "{s:K,s:K,s:K,s:d,s:K,s:K,s:K}", "compiled", (unsigned long long)s.compiled, "loaded",
        (unsigned long long)s.loaded, "launches", (unsigned long long)s.launches, "compile_ms",
        (double)s.compile_ns / 1e6, "recorded", (unsigned long long)e.recorded, "kernels",
        (unsigned long long)kernels, "evals", (unsigned long long)e.evals);
}

static PyObject *
tune(PyObject *module, PyObject *args)
{
    const char *name;
    int value;

    (void)module;
    if (!PyArg_ParseTuple(args, "si", &name, &value))
        return NULL;
    return py_ok(td_tune_set(name, value)) ? Py_NewRef(Py_None) : NULL;
}

PyMethodDef py_table_functions[] = {
    {"derivatives", derivatives, METH_NOARGS, NULL},
    {"tune", tune, METH_VARARGS,
     "tune(name, value): sets a number of tune.def, for measuring kernels made later."},
    {"ufuncs", py_ufuncs, METH_NOARGS, "ufuncs(): {name: ufunc} of the rows of ops.def."},
    {"ops", ops, METH_NOARGS, "ops(): (name, arity, kinds, meaning) of the rows of ops.def."},
    {"reductions", reductions, METH_NOARGS,
     "reductions(): (name, has an identity, meaning) of the rows of reduce.def."},
    {"dtypes", dtypes, METH_NOARGS,
     "dtypes(): (name, kind, typestr, bytes) of the rows of dtypes.def."},
    {"jit_stats", jit_stats, METH_NOARGS,
     "jit_stats(): counts of recording, compiling and launching in this process."},
    {NULL, NULL, 0, NULL},
};
