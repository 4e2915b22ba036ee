/* create.c - arrays of the numbers of other objects: array, asarray, arange. */
#include "python/common/py.h"

#define FAST_KW (METH_FASTCALL | METH_KEYWORDS)

/* obj itself if nothing has to change, else converted. */
static PyObject *
create_convert(PyObject *obj, PyObject *dtype, PyObject *device)
{
    td_dev *dev = NULL;
    py_ndarray *r;
    int dt;

    if (!py_dtype_or(dtype, -1, &dt) || (!py_is_none(device) && !py_device(device, &dev)))
        return NULL;
    if (py_is_array(obj) && (dt < 0 || (td_dtype)dt == td_array_dtype(py_array_of(obj))) &&
        (!dev || dev == td_array_dev(py_array_of(obj))))
        return Py_NewRef(obj);
    r = py_new();
    if (r && !py_asarray(obj, dt, dev, &r->a)) {
        r->a.store = NULL;
        Py_CLEAR(r);
    }
    if (r)
        r->made = true;
    return (PyObject *)r;
}

static PyObject *
create_share(PyObject *obj, PyObject *dtype, PyObject *device)
{
    td_dev *dev = NULL;
    py_ndarray *r;
    bool ok;
    int dt;

    py_owners_release();
    if (!py_dtype_or(dtype, -1, &dt) || (!py_is_none(device) && !py_device(device, &dev)))
        return NULL;
    if (py_is_array(obj) && (dt < 0 || (td_dtype)dt == td_array_dtype(py_array_of(obj))) &&
        (!dev || dev == td_array_dev(py_array_of(obj))))
        return Py_NewRef(obj);
    r = py_new();
    if (!r)
        return NULL;
    ok = py_is_array(obj) ? py_settle(py_array_of(obj), dt, dev, PY_COPY_NEVER, &r->a)
                          : py_share(obj, dt, dev, &r->a);
    if (!ok) {
        r->a.store = NULL;
        Py_CLEAR(r);
    }
    return (PyObject *)r;
}

/* Refuses a str for copy=: it is a mistake, and would count as true. */
static bool
check_copy(PyObject *copy)
{
    if (copy && PyUnicode_Check(copy))
        PyErr_SetString(PyExc_ValueError,
                        "strings are not allowed for 'copy' keyword. Use True/False/None instead.");
    return !PyErr_Occurred();
}

/* Returns r (consumed), which shares memory, if it is in that order; ValueError: it is not. */
static PyObject *
shared_in_order(PyObject *r, char order)
{
    if (!r || py_is_laid(&py_array_of(r)->view, order))
        return r;
    PyErr_Format(PyExc_ValueError,
                 "copy=False, but the elements do not lie in order '%c'; leave copy=False out",
                 order);
    Py_DECREF(r);
    return NULL;
}

/* Returns r (consumed) in the requested order, copied if needed.  given: what it was made from; copied: it must have
 * its own memory. */
static PyObject *
create_in_order(PyObject *r, PyObject *given, char order, bool copied)
{
    const td_array *a = r ? py_array_of(r) : NULL;
    td_view layout;
    py_ndarray *n;
    PyObject *laid;

    if (!r || !order || ((r != given || !copied) && py_is_laid(&a->view, order))) {
        if (!order)
            Py_CLEAR(r);
        return r;
    }
    layout = py_layout(&a->view, &a->view.shape, order);
    n = py_new();
    if (n)
        n->made = true;
    laid = n ? py_done(n, td_array_cast_as(a, td_array_dtype(a), &layout, &n->a)) : NULL;
    Py_DECREF(r);
    return laid;
}

static PyObject *
asarray(PyObject *module, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    static const char *const names[] = {"a", "dtype", "order", "copy", "device", "like", NULL};
    PyObject *arg[6];
    char order;

    (void)module;
    if (!py_parse("asarray", names, 1, 3, args, nargs, kwnames, arg) || !check_copy(arg[3]))
        return NULL;
    order = py_order(arg[2], 'K');
    if (!order)
        return NULL;
    if (arg[3] == Py_False)
        return shared_in_order(create_share(arg[0], arg[1], arg[4]), order);
    return create_in_order(create_convert(arg[0], arg[1], arg[4]), arg[0], order,
                           arg[3] == Py_True);
}

static PyObject *
pad_axes(PyObject *a, long ndmin)
{
    td_shape s = py_array_of(a)->view.shape, wide = {.ndim = (int32_t)ndmin};
    py_ndarray *r;
    td_status st;

    for (int i = 0; i < wide.ndim; i++)
        wide.dim[i] = i < wide.ndim - s.ndim ? 1 : s.dim[i - (wide.ndim - s.ndim)];
    r = py_new();
    st = r ? td_array_reshape(py_array_of(a), &wide, &r->a) : TD_OK;
    Py_DECREF(a);
    return r ? py_done(r, st) : NULL;
}

static PyObject *
create_array(PyObject *module, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    static const char *const names[] = {"object", "dtype",  "copy", "order", "subok",
                                        "ndmin",  "device", "like", NULL};
    PyObject *arg[8], *r;
    long ndmin;
    char order;

    (void)module;
    if (!py_parse("array", names, 1, 2, args, nargs, kwnames, arg) || !check_copy(arg[2]))
        return NULL;
    order = py_order(arg[3], 'K');
    if (!order)
        return NULL;
    if (arg[2] == Py_False)
        r = shared_in_order(create_share(arg[0], arg[1], arg[6]), order);
    else
        r = create_in_order(create_convert(arg[0], arg[1], arg[6]), arg[0], order,
                            arg[2] != Py_None);
    ndmin = arg[5] ? PyLong_AsLong(arg[5]) : 0;
    if (r && (PyErr_Occurred() || ndmin > TD_MAXDIM)) {
        if (!PyErr_Occurred())
            PyErr_Format(PyExc_ValueError, "array: ndmin is at most %d", TD_MAXDIM);
        Py_CLEAR(r);
    }
    return r && ndmin > py_array_of(r)->view.shape.ndim ? pad_axes(r, ndmin) : r;
}

PY_ON_MESH(array, create_array)
PY_ON_MESH(asarray, asarray)
PY_ON_MESH(arange, py_arange)

PyMethodDef py_create_functions[] = {
    {"array", PY_FAST(array_anywhere), FAST_KW,
     "array($module, /, object, dtype=None, *, copy=True, order='K', subok=False, ndmin=0, "
     "device=None, like=None)\n--\n\n"
     "A new array of an object's numbers.\n\n"
     "Parameters\n"
     "----------\n"
     "object : array_like\n"
     "    Numbers, nested sequences of them, or an array of any library.\n"
     "dtype : dtype, optional\n"
     "    Dtype of the result; None means what the numbers have.\n"
     "copy : bool, default True\n"
     "    False: no copy where none is needed.\n"
     "order : {'C', 'F', 'A', 'K'}, default 'K'\n"
     "    Order of the elements in memory.\n"
     "subok : bool, default False\n"
     "    Accepted for NumPy's signature; treadle has no subclasses of its array.\n"
     "ndmin : int, default 0\n"
     "    Axes at least; new ones of extent 1 come first.\n"
     "device : device or str, optional\n"
     "    Where the array lies, as ``\"cpu\"`` or ``\"cuda:0\"``; None means the current\n"
     "    device.\n"
     "like : object, optional\n"
     "    Accepted for NumPy's signature; it changes nothing.\n\n"
     "Returns\n"
     "-------\n"
     "ndarray\n"
     "    Evaluated in memory of its own.\n\n"
     "Raises\n"
     "------\n"
     "TypeError\n"
     "    The object holds text or other objects than numbers.\n\n"
     "Examples\n"
     "--------\n"
     ">>> np.array([[1, 2], [3, 4]], dtype=np.float32)\n"
     "array([[1., 2.],\n"
     "       [3., 4.]], dtype=float32)"},
    {"asarray", PY_FAST(asarray_anywhere), FAST_KW,
     "asarray($module, /, a, dtype=None, order=None, *, copy=None, device=None, like=None)\n--\n\n"
     "An object's numbers as an array: a treadle array of that dtype and device itself, else a "
     "copy.\n\n"
     "Parameters\n"
     "----------\n"
     "a : array_like\n"
     "    Numbers, nested sequences of them, or an array of any library.\n"
     "dtype : dtype, optional\n"
     "    Dtype of the result; None means what the numbers have.\n"
     "order : {'C', 'F', 'A', 'K'}, optional\n"
     "    Order of the elements in memory.\n"
     "copy : bool, optional\n"
     "    True: always copy; False: share NumPy's memory on the CPU, or raise; None:\n"
     "    where it is needed.\n"
     "device : device or str, optional\n"
     "    Where the array lies, as ``\"cpu\"`` or ``\"cuda:0\"``; None means the current\n"
     "    device.\n"
     "like : object, optional\n"
     "    Accepted for NumPy's signature; it changes nothing.\n\n"
     "Returns\n"
     "-------\n"
     "ndarray\n"
     "    Of a's shape.\n\n"
     "Raises\n"
     "------\n"
     "ValueError\n"
     "    copy=False and a copy is needed.\n"
     "TypeError\n"
     "    The object holds text or other objects than numbers.\n\n"
     "Examples\n"
     "--------\n"
     ">>> np.asarray([1, 2.5])\n"
     "array([1. , 2.5])"},
    {"arange", PY_FAST(arange_anywhere), FAST_KW,
     "arange($module, /, start=None, stop=None, step=1, dtype=None, *, device=None, "
     "like=None)\n--\n\n"
     "Numbers at equal steps.\n\n"
     "Parameters\n"
     "----------\n"
     "start : number, optional\n"
     "    The first number; with one argument the bound, and 0 is the first.\n"
     "stop : number, optional\n"
     "    The bound, which is left out.\n"
     "step : number, default 1\n"
     "    Distance of neighbours.\n"
     "dtype : dtype, optional\n"
     "    Dtype; None means what the numbers give.\n"
     "device : device or str, optional\n"
     "    Where the array lies, as ``\"cpu\"`` or ``\"cuda:0\"``; None means the current\n"
     "    device.\n"
     "like : object, optional\n"
     "    Accepted for NumPy's signature; it changes nothing.\n\n"
     "Returns\n"
     "-------\n"
     "ndarray, shape (ceil((stop - start) / step),)\n"
     "    Takes no memory before it is needed.\n\n"
     "Raises\n"
     "------\n"
     "ZeroDivisionError\n"
     "    step is 0.\n\n"
     "Examples\n"
     "--------\n"
     ">>> np.arange(2, 8, 2)\n"
     "array([2, 4, 6])"},
    {NULL, NULL, 0, NULL},
};
