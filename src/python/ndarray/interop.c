/* interop.c - methods of ndarray that NumPy's functions call, and those that functions of the package implement. */
#include "python/common/py.h"

/* Obeys td.config.implicit_host: counts, warns or refuses. */
static bool
note_implicit(PyObject *self)
{
    PyObject *f = py_package("treadle._exchange._implicit", "note"),
             *r = f ? PyObject_CallFunctionObjArgs(f, self, NULL) : NULL;

    Py_XDECREF(f);
    Py_XDECREF(r);
    return r != NULL;
}

static PyObject *
array_protocol(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    static const char *const names[] = {"dtype", "copy", NULL};
    PyObject *arg[2], *host, *view, *r;
    bool cpu = td_dev_info(td_array_dev(py_array_of(self)))->host;

    if (!py_parse("__array__", names, 0, 2, args, nargs, kwnames, arg))
        return NULL;
    if (arg[1] == Py_False && !cpu) {
        PyErr_SetString(PyExc_ValueError,
                        "__array__: an array on a GPU becomes a NumPy array by copying only");
        return NULL;
    }
    if (!cpu && !note_implicit(self))
        return NULL;
    if (cpu && arg[1] != Py_True && py_dtype_format(td_array_dtype(py_array_of(self)))) {
        view = PyMemoryView_FromObject(self);
        host = view && py_numpy() ? PyObject_CallMethod(py.numpy, "asarray", "(O)", view) : NULL;
        Py_XDECREF(view);
        if (!host && arg[1] != Py_False && PyErr_ExceptionMatches(PyExc_MemoryError)) {
            PyErr_Clear(); /* values in host memory beyond what the limit allows */
            host = py_get(self);
        }
    } else
        host = py_get(self);
    if (!host || py_is_none(arg[0]))
        return host;
    r = PyObject_CallMethod(py.numpy, "asarray", "OO", host, arg[0]);
    if (r && r != host && arg[1] == Py_False) {
        PyErr_SetString(PyExc_ValueError, "__array__: another dtype needs a copy");
        Py_CLEAR(r);
    }
    Py_DECREF(host);
    return r;
}

static PyObject *
method_forward(const char *module, const char *name, PyObject *self, PyObject *const *args,
               Py_ssize_t nargs, PyObject *kwnames)
{
    PyObject *f = py_package(module, name),
             *r = f ? py_call_with(f, self, args, nargs, kwnames) : NULL;

    Py_XDECREF(f);
    return r;
}

/* Methods that a function of the same name in the package implements. */
#define FORWARD(module, name)                                                                      \
    static PyObject *forward_##name(PyObject *self, PyObject *const *args, Py_ssize_t nargs,       \
                                    PyObject *kwnames)                                             \
    {                                                                                              \
        return method_forward(module, #name, self, args, nargs, kwnames);                          \
    }
FORWARD("treadle._exchange._interop", array_function)
FORWARD("treadle._exchange._interop", array_wrap)
FORWARD("treadle", dot)
FORWARD("treadle", round)
FORWARD("treadle._numpy._members", clip)
FORWARD("treadle", take)
FORWARD("treadle", repeat)
FORWARD("treadle", nonzero)
FORWARD("treadle", trace)
FORWARD("treadle", diagonal)
FORWARD("treadle", ptp)
FORWARD("treadle._numpy._members", conj)
FORWARD("treadle", cumsum)
FORWARD("treadle", cumprod)
FORWARD("treadle", argsort)
FORWARD("treadle", searchsorted)
FORWARD("treadle", argpartition)
FORWARD("treadle", put)
FORWARD("treadle", choose)
FORWARD("treadle._select._indexing", compress_of)
FORWARD("treadle._select._sorting", sort_in_place)
FORWARD("treadle._select._sorting", partition_in_place)

FORWARD("treadle._exchange._interop", array_ufunc)

/* Our counterpart of NumPy's ufunc, borrowed; NULL: there is none, or an exception. */
static PyObject *
counterpart(PyObject *ufunc)
{
    static PyObject *known;
    PyObject *f, *ours;

    if (!known && !(known = PyDict_New()))
        return NULL;
    ours = PyDict_GetItemWithError(known, ufunc);
    if (!ours && !PyErr_Occurred()) {
        f = py_package("treadle._exchange._interop", "_ours_for");
        ours = f ? PyObject_CallFunctionObjArgs(f, ufunc, NULL) : NULL;
        Py_XDECREF(f);
        if (!ours || PyDict_SetItem(known, ufunc, ours) < 0)
            return NULL;
        Py_DECREF(ours); /* the dict has it */
    }
    return ours == Py_None ? NULL : ours;
}

/* Is o an array of ours, or a number of Python's or NumPy's?  NumPy's scalars compare as arrays without axes. */
static bool
is_plain(PyObject *o)
{
    PyTypeObject *t = Py_TYPE(o);
    py_numpy_parts p;

    if (py_is_array(o) || t == &PyFloat_Type || t == &PyLong_Type ||
        (py_numpy_look(o, &p) && p.ndim == 0))
        return true;
    for (int dt = 0; dt < TD_DTYPE_COUNT; dt++)
        if (t == (PyTypeObject *)py.scalar[dt])
            return true;
    return false;
}

/* A call of NumPy's ufunc without more: numpy.float64(2) * x, numpy.sqrt(x). */
static PyObject *
array_ufunc(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    bool plain = !kwnames && (nargs == 3 || nargs == 4) && PyUnicode_Check(args[1]) &&
                 PyUnicode_CompareWithASCIIString(args[1], "__call__") == 0;
    PyObject *f;

    for (Py_ssize_t i = 2; plain && i < nargs; i++)
        plain = is_plain(args[i]);
    f = plain ? counterpart(args[0]) : NULL;
    if (f && Py_IS_TYPE(f, py.ufunc))
        return PyObject_CallFunctionObjArgs(f, args[2], nargs == 4 ? args[3] : NULL, NULL);
    return PyErr_Occurred() ? NULL : forward_array_ufunc(self, args, nargs, kwnames);
}

#define FAST_KW (METH_FASTCALL | METH_KEYWORDS)

PyMethodDef py_interop_methods[] = {
    {"__array__", PY_FAST(array_protocol), FAST_KW, "__array__(dtype=None, copy=None)"},
    {"__array_ufunc__", PY_FAST(array_ufunc), FAST_KW, NULL},
    {"__array_function__", PY_FAST(forward_array_function), FAST_KW, NULL},
    {"__array_wrap__", PY_FAST(forward_array_wrap), FAST_KW, NULL},
    {"dot", PY_FAST(forward_dot), FAST_KW,
     "dot($self, /, b, out=None)\n--\n\n"
     "As treadle.dot."},
    {"round", PY_FAST(forward_round), FAST_KW,
     "round($self, /, decimals=0, out=None)\n--\n\n"
     "As treadle.round."},
    {"clip", PY_FAST(forward_clip), FAST_KW,
     "clip($self, /, min=None, max=None, out=None, **kwargs)\n--\n\n"
     "As treadle.clip."},
    {"take", PY_FAST(forward_take), FAST_KW,
     "take($self, /, indices, axis=None, out=None, mode='raise')\n--\n\n"
     "As treadle.take."},
    {"put", PY_FAST(forward_put), FAST_KW,
     "put($self, /, ind, v, mode='raise')\n--\n\n"
     "As treadle.put."},
    {"choose", PY_FAST(forward_choose), FAST_KW,
     "choose($self, /, choices, out=None, mode='raise')\n--\n\n"
     "As treadle.choose."},
    {"compress", PY_FAST(forward_compress_of), FAST_KW,
     "compress($self, /, condition, axis=None, out=None)\n--\n\n"
     "As treadle.compress."},
    {"repeat", PY_FAST(forward_repeat), FAST_KW,
     "repeat($self, /, repeats, axis=None)\n--\n\n"
     "As treadle.repeat."},
    {"nonzero", PY_FAST(forward_nonzero), FAST_KW,
     "nonzero($self, /)\n--\n\n"
     "As treadle.nonzero."},
    {"trace", PY_FAST(forward_trace), FAST_KW,
     "trace($self, /, offset=0, axis1=0, axis2=1, dtype=None, out=None)\n--\n\n"
     "As treadle.trace."},
    {"diagonal", PY_FAST(forward_diagonal), FAST_KW,
     "diagonal($self, /, offset=0, axis1=0, axis2=1)\n--\n\n"
     "As treadle.diagonal."},
    {"ptp", PY_FAST(forward_ptp), FAST_KW,
     "ptp($self, /, axis=None, out=None, keepdims=False)\n--\n\n"
     "As treadle.ptp."},
    {"conj", PY_FAST(forward_conj), FAST_KW,
     "conj($self, /)\n--\n\n"
     "As treadle.conj."},
    {"cumsum", PY_FAST(forward_cumsum), FAST_KW,
     "cumsum($self, /, axis=None, dtype=None, out=None)\n--\n\n"
     "As treadle.cumsum."},
    {"cumprod", PY_FAST(forward_cumprod), FAST_KW,
     "cumprod($self, /, axis=None, dtype=None, out=None)\n--\n\n"
     "As treadle.cumprod."},
    {"argsort", PY_FAST(forward_argsort), FAST_KW,
     "argsort($self, /, axis=-1, kind=None, order=None, *, stable=None, descending=False)\n--\n\n"
     "As treadle.argsort."},
    {"searchsorted", PY_FAST(forward_searchsorted), FAST_KW,
     "searchsorted($self, /, v, side='left', sorter=None)\n--\n\n"
     "As treadle.searchsorted."},
    {"argpartition", PY_FAST(forward_argpartition), FAST_KW,
     "argpartition($self, /, kth, axis=-1, kind='introselect', order=None)\n--\n\n"
     "As treadle.argpartition."},
    {"partition", PY_FAST(forward_partition_in_place), FAST_KW,
     "partition($self, /, kth, axis=-1, kind='introselect', order=None)\n--\n\n"
     "Put the array's own elements where partition would.\n\n"
     "Parameters\n"
     "----------\n"
     "kth : int or sequence of ints\n"
     "    The places that hold what sorting would put there.\n"
     "axis : int, default -1\n"
     "    Axis to work along.\n"
     "kind : {\"introselect\"}, default 'introselect'\n"
     "    Accepted for NumPy's signature.\n"
     "order : None, optional\n"
     "    Accepted for NumPy's signature; treadle's arrays have no fields.\n\n"
     "Raises\n"
     "------\n"
     "ValueError\n"
     "    kth lies outside of the axis, or the array cannot be written.\n\n"
     "Examples\n"
     "--------\n"
     ">>> a = np.asarray([3, 1, 2])\n"
     ">>> a.partition(1)\n"
     ">>> int(a[1])\n"
     "2"},
    {"sort", PY_FAST(forward_sort_in_place), FAST_KW,
     "sort($self, /, axis=-1, kind=None, order=None, *, stable=None, descending=False)\n--\n\n"
     "Sort the array itself along an axis.\n\n"
     "Parameters\n"
     "----------\n"
     "axis : int, default -1\n"
     "    Axis to work along.\n"
     "kind : str, optional\n"
     "    NumPy's name of an algorithm; \"stable\" keeps equal elements in their\n"
     "    order.\n"
     "order : None, optional\n"
     "    Accepted for NumPy's signature; treadle's arrays have no fields.\n"
     "stable : bool, optional\n"
     "    Accepted; equal elements cannot be told apart.\n"
     "descending : bool, default False\n"
     "    The largest first, and NaN last.\n\n"
     "Raises\n"
     "------\n"
     "ValueError\n"
     "    kind is an unknown word, or the array cannot be written.\n"
     "AxisError\n"
     "    There is no such axis.\n\n"
     "Examples\n"
     "--------\n"
     ">>> a = np.asarray([3, 1, 2])\n"
     ">>> a.sort()\n"
     ">>> a\n"
     "array([1, 2, 3])"},
    {"conjugate", PY_FAST(forward_conj), FAST_KW,
     "conjugate($self, /)\n--\n\n"
     "As treadle.conj."},
    {NULL, NULL, 0, NULL},
};
