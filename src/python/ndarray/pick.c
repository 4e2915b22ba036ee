/* pick.c - the C part of subscripts with index arrays; treadle/_select/_indexing.py analyses keys. */
#include "python/common/py.h"

#include "ir/core/op.h"

typedef struct pick {
    td_pick p;
    td_array own[TD_MAXDIM];
} pick;

static void
done_with(pick *k)
{
    for (int i = 0; i < k->p.n; i++)
        td_array_unref(&k->own[i]);
}

enum { ARGS = 6, DISTINCT = 1, TRUSTED = 2 };

/* Reads args: a tuple of axes; the axes' numbers for errors; a tuple with an index array for each; place; flags. */
static bool
pick_fill(const td_array *a, PyObject *const args[ARGS - 1], pick *k)
{
    PyObject *axes = args[0], *shown = args[1], *arrays = args[2];
    Py_ssize_t n = PyTuple_Size(axes);
    long flags;

    *k = (pick){.p = {.n = 0}};
    if (n < 1 || n > TD_MAXDIM || PyTuple_Size(arrays) != n || PyTuple_Size(shown) != n) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_ValueError,
                            "pick: axes and index arrays are tuples of one length");
        return false;
    }
    k->p.place = (int)PyLong_AsLong(args[3]);
    flags = PyLong_AsLong(args[4]);
    if (PyErr_Occurred())
        return false;
    k->p.distinct = flags & DISTINCT;
    k->p.trusted = flags & TRUSTED;
    for (Py_ssize_t i = 0; i < n; i++) {
        long axis = PyLong_AsLong(PyTuple_GetItem(axes, i));

        if (!PyErr_Occurred() &&
            (axis < (i ? k->p.axis[i - 1] + 1 : 0) || axis >= a->view.shape.ndim))
            PyErr_SetString(PyExc_ValueError, "pick: axes are ascending and the array's");
        if (PyErr_Occurred() ||
            !py_asarray(PyTuple_GetItem(arrays, i), TD_I64, td_array_dev(a), &k->own[i]))
            break;
        k->p.axis[i] = (int)axis;
        k->p.shown[i] = (int)PyLong_AsLong(PyTuple_GetItem(shown, i));
        k->p.index[i] = &k->own[i];
        k->p.n++;
    }
    if (k->p.n == n && k->p.place >= 0 && k->p.place <= a->view.shape.ndim - n)
        return true;
    if (!PyErr_Occurred())
        PyErr_SetString(PyExc_ValueError, "pick: no such place");
    done_with(k);
    return false;
}

static bool
want(const char *fn, PyObject *const *args, Py_ssize_t nargs, Py_ssize_t n)
{
    if (nargs == n && py_is_array(args[0]))
        return true;
    PyErr_Format(PyExc_TypeError, "%s: expected a treadle.ndarray and %zd more arguments", fn,
                 n - 1);
    return false;
}

/* a, then as pick_fill */
static PyObject *
pick_check(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    pick k;
    td_status st;

    (void)module;
    if (!want("_check", args, nargs, ARGS) || !pick_fill(py_array_of(args[0]), args + 1, &k))
        return NULL;
    st = td_pick_check(py_array_of(args[0]), &k.p);
    done_with(&k);
    return py_ok(st) ? Py_NewRef(Py_None) : NULL;
}

/* a, then as pick_fill */
static PyObject *
pick_from(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    py_ndarray *r;
    pick k;
    td_status st;

    (void)module;
    if (!want("_pick", args, nargs, ARGS) || !pick_fill(py_array_of(args[0]), args + 1, &k))
        return NULL;
    r = py_new();
    st = r ? td_array_pick(py_array_of(args[0]), &k.p, &r->a) : TD_OK;
    done_with(&k);
    return r ? py_done(r, st) : NULL;
}

/* a, as pick_fill, value */
static PyObject *
pick_put(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    td_array *a, own;
    td_operand x;
    pick k;
    td_status st;

    (void)module;
    if (!want("_put", args, nargs, ARGS + 1) || !py_writable((py_ndarray *)args[0]))
        return NULL;
    a = py_array_of(args[0]);
    if (!pick_fill(a, args + 1, &k))
        return NULL;
    if (!py_value(args[ARGS], td_array_dtype(a), td_array_dev(a), &x, &own)) {
        done_with(&k);
        return NULL;
    }
    st = td_array_put(a, &k.p, &x);
    if (own.store)
        td_array_unref(&own);
    done_with(&k);
    return py_ok(st) ? Py_NewRef(Py_None) : NULL;
}

static bool
find_op(PyObject *name, td_op *op)
{
    const char *text = PyUnicode_AsUTF8AndSize(name, NULL);

    return text && py_ok(td_op_find(text, op));
}

/* a, as pick_fill, operation's name, value.  False: it must be done by put_runs. */
static PyObject *
put_op(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    td_array *a;
    py_args g;
    td_op op;
    pick k;
    td_status st;
    int ok;

    (void)module;
    if (!want("_put_op", args, nargs, ARGS + 2) || !py_writable((py_ndarray *)args[0]) ||
        !find_op(args[ARGS], &op))
        return NULL;
    a = py_array_of(args[0]);
    ok = py_args_fill(&g, op, (PyObject *[]){args[0], args[ARGS + 1]}, 2);
    if (ok <= 0) {
        if (!ok)
            PyErr_SetString(PyExc_TypeError, "at: the value is no array and no number");
        return NULL;
    }
    if (!pick_fill(a, args + 1, &k)) {
        py_args_free(&g);
        return NULL;
    }
    st = td_array_put_op(a, &k.p, op, &g.x[1]);
    py_args_free(&g);
    done_with(&k);
    return st == TD_SKIP ? Py_NewRef(Py_False) : py_ok(st) ? Py_NewRef(Py_True) : NULL;
}

/* a, operation's name, sorted offsets, their order, offsets in a row, values: see td_array_put_runs */
static PyObject *
put_runs(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    td_op op;

    (void)module;
    if (!want("_put_runs", args, nargs, 6) || !py_writable((py_ndarray *)args[0]) ||
        !find_op(args[1], &op))
        return NULL;
    for (int i = 2; i < 6; i++)
        if (!py_is_array(args[i])) {
            PyErr_SetString(PyExc_TypeError, "_put_runs: expected treadle arrays");
            return NULL;
        }
    return py_ok(td_array_put_runs(py_array_of(args[0]), op, py_array_of(args[2]),
                                   py_array_of(args[3]), py_array_of(args[4]),
                                   py_array_of(args[5])))
               ? Py_NewRef(Py_None)
               : NULL;
}

/* a, a tuple of shifts, one for each axis */
static PyObject *
roll(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    int64_t by[TD_MAXDIM];
    td_array *a, out;

    (void)module;
    if (!want("_roll", args, nargs, 2))
        return NULL;
    a = py_array_of(args[0]);
    if (PyTuple_Size(args[1]) != a->view.shape.ndim) {
        PyErr_SetString(PyExc_ValueError, "_roll: one shift for each axis");
        return NULL;
    }
    for (int i = 0; i < a->view.shape.ndim; i++)
        by[i] = PyLong_AsLongLong(PyTuple_GetItem(args[1], i));
    if (PyErr_Occurred())
        return NULL;
    return py_ok(td_array_roll(a, by, &out)) ? py_wrap(&out) : NULL;
}

/* out, a list of arrays, an axis */
static PyObject *
join(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    const td_array **a;
    Py_ssize_t n;
    td_status st;
    long axis;

    (void)module;
    if (!want("_join", args, nargs, 3))
        return NULL;
    n = PyList_Size(args[1]);
    axis = PyLong_AsLong(args[2]);
    if (PyErr_Occurred() || n > INT_MAX)
        return NULL;
    a = PyMem_Malloc((size_t)(n ? n : 1) * sizeof *a);
    if (!a)
        return PyErr_NoMemory();
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *one = PyList_GetItem(args[1], i);

        if (!py_is_array(one)) {
            PyMem_Free(a);
            PyErr_SetString(PyExc_TypeError, "_join: expected a list of treadle arrays");
            return NULL;
        }
        a[i] = py_array_of(one);
    }
    st = td_array_join(a, (int)n, (int)axis, py_array_of(args[0]));
    PyMem_Free(a);
    return py_ok(st) ? Py_NewRef(Py_None) : NULL;
}

PyMethodDef py_pick_functions[] = {
    {"_check", PY_FAST(pick_check), METH_FASTCALL, NULL},
    {"_pick", PY_FAST(pick_from), METH_FASTCALL, NULL},
    {"_join", PY_FAST(join), METH_FASTCALL, NULL},
    {"_put", PY_FAST(pick_put), METH_FASTCALL, NULL},
    {"_put_op", PY_FAST(put_op), METH_FASTCALL, NULL},
    {"_put_runs", PY_FAST(put_runs), METH_FASTCALL, NULL},
    {"_roll", PY_FAST(roll), METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL},
};
