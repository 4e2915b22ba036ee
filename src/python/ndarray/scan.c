/* scan.c - cumulative operations, selection and sorting, for python/treadle/_select/_sorting.py and _indexing.py. */
#include "python/common/py.h"

#include "dev/core/sort.h"

/* As td_array_cumulate; the result is laid out like a. */
static td_status
cumulate_laid(td_red red, const td_array *a, int axis, int dtype, td_array *out)
{
    int axes[TD_MAXDIM], at = 0;
    td_array lies, r;
    td_status st;

    if (!py_as_it_lies(a, axes, &lies))
        return td_array_cumulate(red, a, axis, dtype, out);
    while (axes[at] != axis)
        at++;
    st = td_array_cumulate(red, &lies, at, dtype, &r);
    td_array_unref(&lies);
    TD_TRY(st);
    st = py_as_it_was(&r, axes, a->view.shape.ndim, 0, out);
    td_array_unref(&r);
    return st;
}

/* a, axis, dtype */
static PyObject *
cumulate(td_red red, const char *fn, PyObject *const *args, Py_ssize_t nargs)
{
    py_ndarray *r;
    int64_t axis;
    int dtype, k;

    if (nargs != 3 || !py_want_array(fn, args[0]) || !py_dtype_or(args[2], -1, &dtype))
        return NULL;
    axis = PyLong_AsLongLong(args[1]);
    if (PyErr_Occurred() ||
        (dtype >= 0 && !py_cast_warning(td_array_dtype(py_array_of(args[0])), (td_dtype)dtype)) ||
        !py_axis(fn, axis, py_array_of(args[0])->view.shape.ndim, &k))
        return NULL;
    r = py_new();
    return r ? py_done(r, cumulate_laid(red, py_array_of(args[0]), k, dtype, &r->a)) : NULL;
}

static PyObject *
cumsum(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    (void)module;
    return cumulate(TD_RED_sum, "cumsum", args, nargs);
}

static PyObject *
cumprod(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    (void)module;
    return cumulate(TD_RED_prod, "cumprod", args, nargs);
}

static PyObject *
cummax(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    (void)module;
    return cumulate(TD_RED_max, "maximum.accumulate", args, nargs);
}

static PyObject *
cummin(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    (void)module;
    return cumulate(TD_RED_min, "minimum.accumulate", args, nargs);
}

/* a -> its least and its greatest element, as one complex number */
static PyObject *
ends(PyObject *module, PyObject *a)
{
    td_redargs all = {.dtype = -1};
    py_ndarray *r;

    (void)module;
    if (!py_want_array("ends", a))
        return NULL;
    all.axes = (1u << py_array_of(a)->view.shape.ndim) - 1;
    r = py_new();
    return r ? py_done(r, td_array_reduce(TD_RED_ends, py_array_of(a), &all, &r->a)) : NULL;
}

/* a or None, mask of its shape */
static PyObject *
scan_choose(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    const td_array *a = nargs == 2 && py_is_array(args[0]) ? py_array_of(args[0]) : NULL;
    py_ndarray *r;

    (void)module;
    if (nargs != 2 || !py_want_array("select", args[1]))
        return NULL;
    if (td_array_dtype(py_array_of(args[1])) != TD_BOOL ||
        (a && (!td_shape_eq(&a->view.shape, &py_array_of(args[1])->view.shape) ||
               td_array_dev(a) != td_array_dev(py_array_of(args[1]))))) {
        PyErr_SetString(PyExc_ValueError,
                        "select: the mask is bool, of the array's shape, on its device");
        return NULL;
    }
    r = py_new();
    return r ? py_done(r, td_array_select(a, py_array_of(args[1]), &r->a)) : NULL;
}

/* a, values wanted, index wanted -> (values, index) sorted along the last axis; None: sort on the host */
static PyObject *
scan_sort(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    bool values, index;
    py_ndarray *v = NULL, *i = NULL;
    PyObject *pair = NULL;
    td_status st;

    (void)module;
    if (nargs != 3 || !py_want_array("sort", args[0]) || !py_flag(args[1], false, &values) ||
        !py_flag(args[2], false, &index))
        return NULL;
    if ((values && !(v = py_new())) || (index && !(i = py_new()))) {
        Py_XDECREF((PyObject *)v);
        return NULL;
    }
    st = td_array_sort(py_array_of(args[0]), v ? &v->a : NULL, i ? &i->a : NULL);
    if (st == TD_SKIP)
        pair = Py_NewRef(Py_None);
    else if (py_ok(st))
        pair = PyTuple_Pack(2, v ? (PyObject *)v : Py_None, i ? (PyObject *)i : Py_None);
    Py_XDECREF((PyObject *)v);
    Py_XDECREF((PyObject *)i);
    return pair;
}

/* device -> what sorts its arrays, and why the host does it ("" if the device can) */
static PyObject *
sort_info(PyObject *module, PyObject *device)
{
    td_dev *d;

    (void)module;
    if (!py_device(device, &d))
        return NULL;
    return Py_BuildValue("(ss)", td_sort_info(d), td_sort_missing(d));
}

/* a (integers), number of bins */
static PyObject *
scan_count(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    py_ndarray *r;
    int64_t bins;

    (void)module;
    if (nargs != 2 || !py_want_array("count", args[0]))
        return NULL;
    bins = PyLong_AsLongLong(args[1]);
    if (PyErr_Occurred())
        return NULL;
    if (!td_dtype_is_int(td_array_dtype(py_array_of(args[0])))) {
        PyErr_SetString(PyExc_TypeError, "count: the array holds no integers");
        return NULL;
    }
    r = py_new();
    return r ? py_done(r, td_array_count(py_array_of(args[0]), bins, &r->a)) : NULL;
}

/* a, edges, first edge, last edge */
static PyObject *
histogram(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    double first, last;
    py_ndarray *r;

    (void)module;
    if (nargs != 4 || !py_want_array("histogram", args[0]) || !py_want_array("histogram", args[1]))
        return NULL;
    first = PyFloat_AsDouble(args[2]);
    last = PyErr_Occurred() ? 0 : PyFloat_AsDouble(args[3]);
    if (PyErr_Occurred())
        return NULL;
    if (td_array_dtype(py_array_of(args[0])) != TD_F32 &&
        td_array_dtype(py_array_of(args[0])) != TD_F64) {
        PyErr_SetString(PyExc_TypeError, "histogram: float32 and float64 are counted");
        return NULL;
    }
    r = py_new();
    return r ? py_done(r, td_array_histogram(py_array_of(args[0]), py_array_of(args[1]), first,
                                             last, &r->a))
             : NULL;
}

/* a (sorted), values of its dtype, right */
static PyObject *
search(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    py_ndarray *r;
    bool right;

    (void)module;
    if (nargs != 3 || !py_want_array("search", args[0]) || !py_want_array("search", args[1]) ||
        !py_flag(args[2], false, &right))
        return NULL;
    if (py_array_of(args[0])->view.shape.ndim != 1 ||
        td_array_dtype(py_array_of(args[0])) != td_array_dtype(py_array_of(args[1]))) {
        PyErr_SetString(PyExc_ValueError,
                        "search: the sorted array has one axis and the values' dtype");
        return NULL;
    }
    r = py_new();
    return r ? py_done(r, td_array_search(py_array_of(args[0]), py_array_of(args[1]), right, &r->a))
             : NULL;
}

static PyObject *
check_bounds(PyObject *module, PyObject *on)
{
    int yes = PyObject_IsTrue(on);

    (void)module;
    if (yes < 0)
        return NULL;
    td_take_checks(yes);
    return Py_NewRef(Py_None);
}

static PyObject *
set_eager(PyObject *module, PyObject *n)
{
    Py_ssize_t most = PyNumber_AsSsize_t(n, PyExc_OverflowError);

    (void)module;
    if (most < 0) {
        if (!PyErr_Occurred())
            PyErr_Format(PyExc_ValueError, "eager is a number of elements, 0 for none, not %zd",
                         most);
        return NULL;
    }
    return PyLong_FromLongLong(td_now_limit(most));
}

PyMethodDef py_scan_functions[] = {
    {"_cumsum", PY_FAST(cumsum), METH_FASTCALL, NULL},
    {"_cumprod", PY_FAST(cumprod), METH_FASTCALL, NULL},
    {"_cummax", PY_FAST(cummax), METH_FASTCALL, NULL},
    {"_cummin", PY_FAST(cummin), METH_FASTCALL, NULL},
    {"_ends", ends, METH_O, NULL},
    {"_select", PY_FAST(scan_choose), METH_FASTCALL, NULL},
    {"_sort", PY_FAST(scan_sort), METH_FASTCALL, NULL},
    {"_sort_info", sort_info, METH_O, NULL},
    {"_count", PY_FAST(scan_count), METH_FASTCALL, NULL},
    {"_histogram", PY_FAST(histogram), METH_FASTCALL, NULL},
    {"_search", PY_FAST(search), METH_FASTCALL, NULL},
    {"_check_bounds", check_bounds, METH_O, NULL},
    {"_set_eager", set_eager, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};
