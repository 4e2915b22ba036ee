/* scan.c - cumulative operations and selection, for python/treadle/_sorting.py and _indexing.py. */
#include "python/py.h"

static bool
want_array(const char *fn, PyObject *o)
{
    if (!py_is_array(o))
        PyErr_Format(PyExc_TypeError, "%s: expected treadle.ndarray, not %R", fn,
                     (PyObject *)Py_TYPE(o));
    return py_is_array(o);
}

/* a, axis, dtype */
static PyObject *
cumulate(td_red red, const char *fn, PyObject *const *args, Py_ssize_t nargs)
{
    py_ndarray *r;
    int64_t axis;
    int dtype, k;

    if (nargs != 3 || !want_array(fn, args[0]) || !py_dtype_or(args[2], -1, &dtype))
        return NULL;
    axis = PyLong_AsLongLong(args[1]);
    if (PyErr_Occurred() ||
        (dtype >= 0 && !py_cast_warning(td_array_dtype(py_array_of(args[0])), (td_dtype)dtype)) ||
        !py_ok(td_axis_normalize(fn, axis, py_array_of(args[0])->view.shape.ndim, &k)))
        return NULL;
    r = py_new();
    return r ? py_done(r, td_array_cumulate(red, py_array_of(args[0]), k, dtype, &r->a)) : NULL;
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

/* a or None, mask of its shape */
static PyObject *
choose(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    const td_array *a = nargs == 2 && py_is_array(args[0]) ? py_array_of(args[0]) : NULL;
    py_ndarray *r;

    (void)module;
    if (nargs != 2 || !want_array("select", args[1]))
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

/* a of integers, bins */
static PyObject *
count(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    py_ndarray *r;
    int64_t bins;

    (void)module;
    if (nargs != 2 || !want_array("count", args[0]))
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

PyMethodDef py_scan_functions[] = {
    {"_cumsum", PY_FAST(cumsum), METH_FASTCALL, NULL},
    {"_cumprod", PY_FAST(cumprod), METH_FASTCALL, NULL},
    {"_select", PY_FAST(choose), METH_FASTCALL, NULL},
    {"_count", PY_FAST(count), METH_FASTCALL, NULL},
    {"_check_bounds", check_bounds, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};
