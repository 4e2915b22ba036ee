/* shape.c - methods of ndarray that return the same elements with another shape. */
#include "python/common/py.h"

static bool
shape_of_args(PyObject *const *args, Py_ssize_t nargs, td_shape *out)
{
    td_shape one;

    if (nargs == 1)
        return py_shape(args[0], out);
    if (nargs > TD_MAXDIM) {
        PyErr_Format(PyExc_ValueError, "at most %d dimensions are supported", TD_MAXDIM);
        return false;
    }
    out->ndim = (int32_t)nargs;
    for (Py_ssize_t i = 0; i < nargs; i++) {
        if (!py_shape(args[i], &one))
            return false;
        out->dim[i] = one.dim[0];
    }
    return true;
}

static void
reverse(td_shape *s)
{
    for (int i = 0, j = s->ndim - 1; i < j; i++, j--) {
        int64_t t = s->dim[i];

        s->dim[i] = s->dim[j];
        s->dim[j] = t;
    }
}

static td_status
transpose_all(const td_array *a, td_array *out)
{
    int axes[TD_MAXDIM];

    for (int i = 0; i < a->view.shape.ndim; i++)
        axes[i] = a->view.shape.ndim - 1 - i;
    return td_array_transpose(a, axes, out);
}

PyObject *
py_transposed(PyObject *self)
{
    py_ndarray *r = py_new();

    return py_view_done(self, r, r ? transpose_all(py_array_of(self), &r->a) : TD_OK);
}

/* Fortran order: a reshape between two reversals of the axes. */
static td_status
reshape_fortran(const td_array *a, td_shape s, td_array *out)
{
    td_array t, u;
    td_status st;

    reverse(&s);
    TD_TRY(transpose_all(a, &t));
    st = td_array_reshape(&t, &s, &u);
    td_array_unref(&t);
    TD_TRY(st);
    st = transpose_all(&u, out);
    td_array_unref(&u);
    return st;
}

/* Takes the elements in the order in which they lie in memory. */
static td_status
reshape_kept(const td_array *a, const td_shape *s, td_array *out)
{
    int axes[TD_MAXDIM];
    td_status st;
    td_array t;

    py_by_steps(&a->view, axes);
    TD_TRY(td_array_transpose(a, axes, &t));
    st = td_array_reshape(&t, s, out);
    td_array_unref(&t);
    return st;
}

static PyObject *
reshape_to(PyObject *self, const td_shape *s, char order)
{
    td_array *a = py_array_of(self);
    py_ndarray *r = order ? py_new() : NULL;

    if (!r)
        return NULL;
    if (order == 'A')
        order = py_lies_in_fortran(&a->view) ? 'F' : 'C';
    return py_view_done(self, r,
                        order == 'F'   ? reshape_fortran(a, *s, &r->a)
                        : order == 'K' ? reshape_kept(a, s, &r->a)
                                       : td_array_reshape(a, s, &r->a));
}

static PyObject *
ndarray_reshape(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    static const char *const names[] = {"order", "copy", "shape", NULL};
    Py_ssize_t nkw = kwnames ? PyTuple_Size(kwnames) : 0;
    PyObject *arg[3] = {NULL, NULL, NULL}, *r, *copied;
    td_shape s;
    char order;

    if (nkw && !py_parse("reshape", names, 0, 0, args + nargs, 0, kwnames, arg))
        return NULL;
    if (!nargs && !arg[2]) {
        PyErr_SetString(PyExc_TypeError, "reshape() takes exactly 1 argument (0 given)");
        return NULL;
    }
    if (nargs == 1 && args[0] == Py_None)
        s = py_array_of(self)->view.shape;
    else if (arg[2] ? !py_shape(arg[2], &s) : !shape_of_args(args, nargs, &s))
        return NULL;
    order = py_order(arg[0], 'C');
    if (order == 'K') {
        PyErr_SetString(PyExc_ValueError, "order 'K' is not permitted for reshaping");
        return NULL;
    }
    r = reshape_to(self, &s, order);
    if (!r || py_is_none(arg[1]))
        return r;
    if (arg[1] == Py_True) {
        copied = PyObject_CallMethod(r, "copy", NULL);
        Py_DECREF(r);
        return copied;
    }
    if (py_array_of(r)->store != py_array_of(self)->store) {
        PyErr_SetString(PyExc_ValueError, "Unable to avoid creating a copy while reshaping.");
        Py_CLEAR(r);
    }
    return r;
}

static PyObject *
ravel(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    /* `stream` is accepted, and has no effect */
    static const char *const names[] = {"order", "stream", NULL};
    static const td_shape flat = {.ndim = 1, .dim = {-1}};
    td_shape s = flat;
    PyObject *arg[2], *r, *packed;

    if (!py_parse("ravel", names, 0, 2, args, nargs, kwnames, arg))
        return NULL;
    s.dim[0] = td_array_size(py_array_of(self));
    r = reshape_to(self, &s, py_order(arg[0], 'C'));
    if (!r || td_view_is_contiguous(&py_array_of(r)->view))
        return r;
    /* like NumPy's, a copy if the elements are not contiguous */
    packed = PyObject_CallMethod(r, "copy", NULL);
    Py_DECREF(r);
    return packed;
}

static PyObject *
ndarray_flatten(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    PyObject *flat = ravel(self, args, nargs, kwnames), *r;

    if (!flat || py_array_of(flat)->store != py_array_of(self)->store)
        return flat;
    r = PyObject_CallMethod(flat, "copy", NULL);
    Py_DECREF(flat);
    return r;
}

static PyObject *
ndarray_transpose(PyObject *self, PyObject *const *args, Py_ssize_t nargs)
{
    td_array *a = py_array_of(self);
    int axes[TD_MAXDIM], ndim = a->view.shape.ndim;
    py_ndarray *r;
    td_shape s;

    if (nargs == 0 || (nargs == 1 && args[0] == Py_None))
        return py_transposed(self);
    if (!shape_of_args(args, nargs, &s))
        return NULL;
    if (s.ndim != ndim) {
        PyErr_SetString(PyExc_ValueError, "axes don't match array");
        return NULL;
    }
    for (int i = 0; i < ndim; i++)
        if (!py_axis("transpose", s.dim[i], ndim, &axes[i]))
            return NULL;
    r = py_new();
    return py_view_done(self, r, r ? td_array_transpose(a, axes, &r->a) : TD_OK);
}

static bool
axis_arg(const char *fn, PyObject *o, int ndim, int *out)
{
    long axis = PyLong_AsLong(o);

    return !(axis == -1 && PyErr_Occurred()) && py_axis(fn, axis, ndim, out);
}

static PyObject *
swapaxes(PyObject *self, PyObject *const *args, Py_ssize_t nargs)
{
    td_array *a = py_array_of(self);
    int axes[TD_MAXDIM], ndim = a->view.shape.ndim, i, j;
    py_ndarray *r;

    if (nargs != 2) {
        PyErr_SetString(PyExc_TypeError, "swapaxes(axis1, axis2) takes two axes");
        return NULL;
    }
    if (!axis_arg("swapaxes", args[0], ndim, &i) || !axis_arg("swapaxes", args[1], ndim, &j))
        return NULL;
    for (int k = 0; k < ndim; k++)
        axes[k] = k == i ? j : k == j ? i : k;
    r = py_new();
    return py_view_done(self, r, r ? td_array_transpose(a, axes, &r->a) : TD_OK);
}

static PyObject *
squeeze(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    static const char *const names[] = {"axis", "stream", NULL};
    const td_view *from = &py_array_of(self)->view;
    td_view v = {.offset = from->offset};
    PyObject *arg[2];
    py_ndarray *r;
    uint32_t axes;

    if (!py_parse("squeeze", names, 0, 2, args, nargs, kwnames, arg) ||
        !py_axes("squeeze", arg[0], from->shape.ndim, &axes))
        return NULL;
    for (int i = 0; i < from->shape.ndim; i++) {
        bool named = axes >> i & 1;

        if (named && !py_is_none(arg[0]) && from->shape.dim[i] != 1) {
            PyErr_SetString(PyExc_ValueError,
                            "cannot select an axis to squeeze out which has size not equal to one");
            return NULL;
        }
        if (named && from->shape.dim[i] == 1)
            continue;
        v.shape.dim[v.shape.ndim] = from->shape.dim[i];
        v.stride[v.shape.ndim++] = from->stride[i];
    }
    r = py_new();
    if (r)
        r->a = td_array_view(py_array_of(self), &v);
    return py_view_done(self, r, TD_OK);
}

PyMethodDef py_shape_methods[] = {
    {"reshape", PY_FAST(ndarray_reshape), METH_FASTCALL | METH_KEYWORDS,
     "reshape($self, /, *shape, order='C', copy=None)\n--\n\n"
     "The same elements in another shape: a view where the layout allows it, else a copy.\n\n"
     "Parameters\n"
     "----------\n"
     "*shape : int or tuple of ints\n"
     "    The new extents; one of them may be -1 and is computed.\n"
     "order : {\"C\", \"F\", \"A\"}, default 'C'\n"
     "    The order in which elements are read and placed.\n"
     "copy : bool, optional\n"
     "    True: always copy; False: never.\n\n"
     "Returns\n"
     "-------\n"
     "ndarray\n"
     "    Of the array's dtype.\n\n"
     "Raises\n"
     "------\n"
     "ValueError\n"
     "    The shape has another number of elements, or copy=False and a view is\n"
     "    impossible.\n\n"
     "Examples\n"
     "--------\n"
     ">>> np.arange(4).reshape(2, -1)\n"
     "array([[0, 1],\n"
     "       [2, 3]])"},
    {"ravel", PY_FAST(ravel), METH_FASTCALL | METH_KEYWORDS,
     "ravel($self, /, order='C', stream=0)\n--\n\n"
     "The elements along one axis, a view where possible.\n\n"
     "Parameters\n"
     "----------\n"
     "order : {\"C\", \"F\", \"A\", \"K\"}, default 'C'\n"
     "    The order in which elements are read.\n"
     "stream : Stream, default 0\n"
     "    Accepted for Numba's signature.\n\n"
     "Returns\n"
     "-------\n"
     "ndarray, shape (size,)\n"
     "    Of the array's dtype.\n\n"
     "Examples\n"
     "--------\n"
     ">>> np.ones((2, 2)).ravel()\n"
     "array([1., 1., 1., 1.])"},
    {"flatten", PY_FAST(ndarray_flatten), METH_FASTCALL | METH_KEYWORDS,
     "flatten($self, /, order='C')\n--\n\n"
     "A copy with one axis.\n\n"
     "Parameters\n"
     "----------\n"
     "order : {\"C\", \"F\", \"A\", \"K\"}, default 'C'\n"
     "    The order in which elements are read.\n\n"
     "Returns\n"
     "-------\n"
     "ndarray, shape (size,)\n"
     "    Of the array's dtype.\n\n"
     "Examples\n"
     "--------\n"
     ">>> np.ones((2, 2)).flatten()\n"
     "array([1., 1., 1., 1.])"},
    {"transpose", PY_FAST(ndarray_transpose), METH_FASTCALL,
     "transpose($self, /, *axes)\n--\n\n"
     "A view with the axes permuted.\n\n"
     "Parameters\n"
     "----------\n"
     "*axes : int or tuple of ints\n"
     "    For each axis of the result an axis of the array; none reverses them.\n\n"
     "Returns\n"
     "-------\n"
     "ndarray\n"
     "    Of the array's dtype.\n\n"
     "Raises\n"
     "------\n"
     "ValueError\n"
     "    An axis is named twice, or left out.\n\n"
     "Examples\n"
     "--------\n"
     ">>> np.ones((2, 3)).transpose().shape\n"
     "(3, 2)"},
    {"swapaxes", PY_FAST(swapaxes), METH_FASTCALL,
     "swapaxes($self, axis1, axis2, /)\n--\n\n"
     "A view with two axes exchanged.\n\n"
     "Parameters\n"
     "----------\n"
     "axis1, axis2 : int\n"
     "    The axes.\n\n"
     "Returns\n"
     "-------\n"
     "ndarray\n"
     "    Of the array's dtype.\n\n"
     "Raises\n"
     "------\n"
     "AxisError\n"
     "    There is no such axis.\n\n"
     "Examples\n"
     "--------\n"
     ">>> np.ones((2, 3)).swapaxes(0, 1).shape\n"
     "(3, 2)"},
    {"squeeze", PY_FAST(squeeze), METH_FASTCALL | METH_KEYWORDS,
     "squeeze($self, /, axis=None, stream=0)\n--\n\n"
     "A view without axes of extent 1.\n\n"
     "Parameters\n"
     "----------\n"
     "axis : int or tuple of ints, optional\n"
     "    The axes to remove; None removes all of extent 1.\n"
     "stream : Stream, default 0\n"
     "    Accepted for Numba's signature.\n\n"
     "Returns\n"
     "-------\n"
     "ndarray\n"
     "    Of the array's dtype.\n\n"
     "Raises\n"
     "------\n"
     "ValueError\n"
     "    An axis that is named has another extent.\n\n"
     "Examples\n"
     "--------\n"
     ">>> np.ones((1, 2)).squeeze().shape\n"
     "(2,)"},
    {NULL, NULL, 0, NULL},
};
