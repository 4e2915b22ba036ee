/* share.c - arrays for other processes: handles as bytes (dev/pool/share.h). */
#include "python/common/py.h"

#include "dev/pool/share.h"

#include <string.h>

/* array -> handle, dtype, shape, strides, offset in elements, read-only */
static PyObject *
send_array(PyObject *module, PyObject *o)
{
    PyObject *shape, *strides, *r = NULL;
    td_handle h;
    td_view v;
    td_shape steps;

    (void)module;
    if (!py_is_array(o)) {
        PyErr_SetString(PyExc_TypeError, "_send takes a treadle array");
        return NULL;
    }
    if (!py_ok(td_array_send(py_array_of(o), &h, &v)))
        return NULL;
    steps = v.shape;
    memcpy(steps.dim, v.stride, sizeof steps.dim);
    shape = py_shape_tuple(&v.shape);
    strides = py_shape_tuple(&steps);
    if (shape && strides)
        r = Py_BuildValue(
            "y#sOOLO", (const char *)&h, (Py_ssize_t)sizeof h,
            td_dtype_name(td_array_dtype(py_array_of(o))), shape, strides, (long long)v.offset,
            ((py_ndarray *)o)->readonly || py_array_of(o)->store->readonly ? Py_True : Py_False);
    Py_XDECREF(shape);
    Py_XDECREF(strides);
    return r;
}

static bool
get_dims(PyObject *tuple, int64_t *out, int32_t *n)
{
    Py_ssize_t len = PyTuple_Size(tuple);

    if (len < 0 || len > TD_MAXDIM) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_ValueError, "shared array: too many dimensions");
        return false;
    }
    for (Py_ssize_t i = 0; i < len; i++)
        out[i] = PyLong_AsLongLong(PyTuple_GetItem(tuple, i));
    *n = (int32_t)len;
    return !PyErr_Occurred();
}

/* Refuses a view that reaches outside the buffer: handles come from other programs. */
static bool
share_fits(const td_view *v, td_dtype dt, const td_buf *b)
{
    int64_t lo, hi;

    td_view_extent(v, &lo, &hi);
    return lo >= 0 && hi <= (int64_t)(b->nbytes / td_dtype_size(dt));
}

static PyObject *
receive_array(PyObject *module, PyObject *args)
{
    PyObject *shape, *strides, *result = NULL, *name;
    const char *bytes;
    Py_ssize_t n;
    long long offset;
    int readonly, nstride;
    td_buf *b = NULL;
    td_array a;
    td_handle h;
    td_dtype dt;
    td_view v = {.offset = 0};

    (void)module;
    if (!PyArg_ParseTuple(args, "y#OO!O!Lp:_receive", &bytes, &n, &name, &PyTuple_Type, &shape,
                          &PyTuple_Type, &strides, &offset, &readonly) ||
        !py_dtype(name, &dt) || !get_dims(shape, v.shape.dim, &v.shape.ndim) ||
        !get_dims(strides, v.stride, &nstride))
        return NULL;
    if (n != sizeof h || nstride != v.shape.ndim) {
        PyErr_SetString(PyExc_ValueError, "shared array: this is not a handle");
        return NULL;
    }
    memcpy(&h, bytes, sizeof h);
    if (!py_ok(td_shape_make(v.shape.ndim, v.shape.dim, &v.shape)))
        return NULL;
    v.offset = offset;
    if (!py_ok(td_share_receive(&h, &b)))
        return NULL;
    if (!share_fits(&v, dt, b))
        PyErr_SetString(PyExc_ValueError, "shared array: the view lies outside its memory");
    else if (py_ok(td_array_wrap(b, dt, &v, readonly, &a)))
        result = py_wrap(&a);
    td_buf_unref(b);
    return result;
}

static PyObject *
waiting(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    td_share_poll();
    return PyLong_FromLong(td_share_waiting());
}

enum { TOGETHER = 64 };

/* _to_devices(arrays, devices): the arrays, each on its device, copied at the same time.  None: one cannot be copied
 * directly. */
static PyObject *
to_devices(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    const td_array *a[TOGETHER];
    td_dev *d[TOGETHER];
    td_array out[TOGETHER];
    Py_ssize_t n =
        nargs == 2 && PyList_Check(args[0]) && PyList_Check(args[1]) ? PyList_Size(args[0]) : -1;
    PyObject *r;
    td_status st;

    (void)module;
    if (n < 0 || n > TOGETHER || PyList_Size(args[1]) != n)
        return PyErr_Format(PyExc_TypeError, "_to_devices: two lists of at most %d items",
                            TOGETHER);
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *o = PyList_GetItem(args[0], i);

        if (!py_is_array(o))
            return PyErr_Format(PyExc_TypeError, "_to_devices: an item is no array");
        a[i] = py_array_of(o);
        if (!py_device(PyList_GetItem(args[1], i), &d[i]))
            return NULL;
    }
    st = td_arrays_to_devices(a, d, (int)n, out);
    if (st == TD_SKIP)
        return Py_NewRef(Py_None);
    if (!py_ok(st))
        return NULL;
    r = PyList_New(n);
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *o = r ? py_wrap(&out[i]) : NULL;

        if (o)
            PyList_SetItem(r, i, o);
        else
            Py_CLEAR(r);
    }
    return r;
}

PyMethodDef py_share_functions[] = {
    {"_to_devices", PY_FAST(to_devices), METH_FASTCALL, NULL},
    {"_send", send_array, METH_O, "_send(array): the arguments of _receive in another process."},
    {"_receive", receive_array, METH_VARARGS, "_receive(...): the array, of the same memory."},
    {"_sent", waiting, METH_NOARGS, "_sent(): how many handles nobody has received yet."},
    {NULL, NULL, 0, NULL},
};
