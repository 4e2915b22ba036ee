/* tables.c - the core's tables as Python lists, its counters, and settings for measurements. */
#include "python/common/py.h"

#include "array/graph/reduce.h"
#include "array/plan/tune.h"
#include "front/infer/front.h"
#include "jit/jit.h"

#include <string.h>

static PyObject *
append_row(PyObject *list, PyObject *row)
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

        list = append_row(list, Py_BuildValue("(siss)", o->name, o->arity, o->kinds, o->meaning));
    }
    return list;
}

/* The columns that C does not use. */
static PyObject *
columns(PyObject *module, PyObject *unused)
{
    PyObject *all = PyDict_New();

    (void)module, (void)unused;
    for (int i = 0; all && i < TD_OPS; i++) {
        const td_opinfo *o = &td_optab[i];
        PyObject *row = Py_BuildValue("(ss)", o->exactness, o->domain);

        if (!row || PyDict_SetItemString(all, o->name, row) < 0)
            Py_CLEAR(all);
        Py_XDECREF(row);
    }
    return all;
}

/* Records a row's names that begin with face and a dot. */
static bool
note_names(PyObject *all, const td_opinfo *o, const char *face)
{
    PyObject *row = PyUnicode_FromString(o->name);
    size_t n = strlen(face);
    bool ok = row != NULL;

    for (const char *at = o->names; ok && *at; at += strspn(at, " ")) {
        size_t length = strcspn(at, " ");

        if (length > n && strncmp(at, face, n) == 0 && at[n] == '.') {
            PyObject *name = PyUnicode_FromStringAndSize(at + n + 1, (Py_ssize_t)(length - n - 1));

            ok = name && PyDict_SetItem(all, name, row) == 0;
            Py_XDECREF(name);
        }
        at += length;
    }
    Py_XDECREF(row);
    return ok;
}

static PyObject *
op_names(PyObject *module, PyObject *face)
{
    PyObject *all = PyDict_New();
    const char *text = PyUnicode_AsUTF8AndSize(face, NULL);

    (void)module;
    for (int i = 0; all && i < TD_OPS; i++)
        if (!text || !note_names(all, &td_optab[i], text))
            Py_CLEAR(all);
    return all;
}

/* Rows of core.def that are functions of treadle.cuda, as their column says. */
static PyObject *
instructions(PyObject *module, PyObject *unused)
{
    PyObject *list = PyList_New(0);

    (void)module, (void)unused;
    for (int i = TD_OPS; list && i < OP_COUNT; i++)
        if (*td_optab[i].python)
            list = append_row(list, PyUnicode_FromString(td_optab[i].python));
    return list;
}

/* The functions that kernels know. */
static PyObject *
intrinsics(PyObject *module, PyObject *unused)
{
    PyObject *list = PyList_New(0);
    const char *names, *how, *signature;

    (void)module, (void)unused;
    for (int i = 0; list && (names = td_intrinsic(i)); i++) {
        how = td_intrinsic_how(i, &signature);
        list = append_row(list, Py_BuildValue("(ssz)", names, how, signature));
    }
    return list;
}

static PyObject *
reductions(PyObject *module, PyObject *unused)
{
    PyObject *list = PyList_New(0);

    (void)module, (void)unused;
#define RED(name, nacc, npair, identity, meaning, derivative)                                      \
    list = append_row(list, Py_BuildValue("(sis)", #name, identity, meaning));
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
        list = append_row(list, Py_BuildValue("(sCsi)", td_dtab[i].name, td_dtab[i].kind,
                                              td_dtab[i].typestr, (int)td_dtab[i].size));
    return list;
}

/* {name: number of values that the form has computed} */
static PyObject *
form_counts(void)
{
    PyObject *dict = PyDict_New();
    uint64_t count;
    const char *name;

    for (size_t i = 0; dict && (name = td_eval_form(i, &count)); i++) {
        PyObject *n = PyLong_FromUnsignedLongLong(count);

        if (!n || PyDict_SetItemString(dict, name, n))
            Py_CLEAR(dict);
        Py_XDECREF(n);
    }
    return dict;
}

static PyObject *
jit_stats(PyObject *module, PyObject *unused)
{
    td_jitstat s = td_jit_stats();
    td_evalstat e = td_eval_stats();
    uint64_t kernels = s.compiled + s.loaded;

    (void)module, (void)unused;
    return Py_BuildValue(
        "{s:K,s:K,s:K,s:K,s:d,s:K,s:K,s:K,s:N}", "compiled", (unsigned long long)s.compiled,
        "loaded", (unsigned long long)s.loaded, "unloaded", (unsigned long long)s.unloaded,
        "launches", (unsigned long long)s.launches, "compile_ms", (double)s.compile_ns / 1e6,
        "recorded", (unsigned long long)e.recorded, "kernels", (unsigned long long)kernels, "evals",
        (unsigned long long)e.evals, "forms", form_counts());
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
    {"op_columns", columns, METH_NOARGS,
     "op_columns(): {row: (exactness, domain)} of ops.def, the columns' texts."},
    {"op_names", op_names, METH_O,
     "op_names(face): {name: row}, the names that ops.def says under a face."},
    {"instructions", instructions, METH_NOARGS,
     "instructions(): ['name(parameters) -> result | meaning'], rows of core.def in treadle.cuda."},
    {"intrinsics", intrinsics, METH_NOARGS,
     "intrinsics(): (names, how, signature) of what kernels know: how is 'function', 'value', "
     "'pure' or 'elementwise', signature None but where a name fixes types."},
    {"reductions", reductions, METH_NOARGS,
     "reductions(): (name, has an identity, meaning) of the rows of reduce.def."},
    {"dtypes", dtypes, METH_NOARGS,
     "dtypes(): (name, kind, typestr, bytes) of the rows of dtypes.def."},
    {"jit_stats", jit_stats, METH_NOARGS,
     "jit_stats(): counts of recording, compiling and launching in this process."},
    {NULL, NULL, 0, NULL},
};
