/* members.c - members of ndarray that NumPy's have beside numbers and shapes: what they are views of, whether they
 * can be written, their bytes, their pickles.  Most are functions of treadle._numpy._members. */
#include "python/common/py.h"

static PyObject *
forward(const char *name, PyObject *self, PyObject *const *args, Py_ssize_t nargs,
        PyObject *kwnames)
{
    PyObject *f = py_package("treadle._numpy._members", name),
             *r = f ? py_call_with(f, self, args, nargs, kwnames) : NULL;

    Py_XDECREF(f);
    return r;
}

#define FORWARD(name)                                                                              \
    static PyObject *name(PyObject *self, PyObject *const *args, Py_ssize_t nargs,                 \
                          PyObject *kwnames)                                                       \
    {                                                                                              \
        return forward(#name, self, args, nargs, kwnames);                                         \
    }
FORWARD(byteswap)
FORWARD(dump)
FORWARD(dumps)
FORWARD(getfield)
FORWARD(repr_html)
FORWARD(resize)
FORWARD(set)
FORWARD(setfield)
FORWARD(setstate)
FORWARD(toDlpack)
FORWARD(tofile)

/* Elements that several subscripts name, or memory that is not ours to write. */
static bool
stays_readonly(const td_array *a)
{
    return a->store->readonly || td_view_has_overlap(&a->view);
}

static PyObject *
setflags(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    static const char *const names[] = {"write", "align", "uic", NULL};
    py_ndarray *nd = (py_ndarray *)self;
    PyObject *arg[3];
    bool write, align, copy;

    if (!py_parse("setflags", names, 0, 3, args, nargs, kwnames, arg) ||
        !py_flag(arg[0], true, &write) || !py_flag(arg[1], true, &align) ||
        !py_flag(arg[2], false, &copy))
        return NULL;
    if (copy) {
        PyErr_SetString(PyExc_ValueError, "cannot set WRITEBACKIFCOPY flag to True");
        return NULL;
    }
    if (!py_is_none(arg[0]) && write && stays_readonly(&nd->a)) {
        PyErr_SetString(PyExc_ValueError, "cannot set WRITEABLE flag to True of this array");
        return NULL;
    }
    if (!py_is_none(arg[0]))
        nd->readonly = !write;
    return Py_NewRef(Py_None);
}

/* self becomes another view on what `other`, an array, is a view of. */
static PyObject *
become(PyObject *self, PyObject *other)
{
    td_array *a = py_array_of(self), r;

    if (!py_is_array(other)) {
        PyErr_SetString(PyExc_TypeError, "_become: not a treadle array");
        return NULL;
    }
    r = td_array_ref(py_array_of(other));
    if (a->store->shown == self)
        a->store->shown = NULL;
    td_array_unref(a);
    *a = r;
    ((py_ndarray *)self)->view = false;
    return Py_NewRef(Py_None);
}

/* The view of those extents and strides, from self's first element on; ValueError: it leaves the memory. */
static bool
strided_view(const td_array *a, const td_shape *strides, td_view *v)
{
    int64_t size = (int64_t)td_dtype_size(td_array_dtype(a)), lo, hi,
            count = td_shape_size(&a->store->node->view.shape) *
                    (int64_t)td_dtype_size((td_dtype)a->store->dt) / size;

    if (strides->ndim != v->shape.ndim) {
        PyErr_Format(PyExc_ValueError, "as_strided: %d extents and %d strides", v->shape.ndim,
                     strides->ndim);
        return false;
    }
    for (int i = 0; i < v->shape.ndim; i++) {
        if (strides->dim[i] % size) {
            PyErr_Format(PyExc_ValueError,
                         "as_strided: a stride of %lld bytes between elements of %lld",
                         (long long)strides->dim[i], (long long)size);
            return false;
        }
        v->stride[i] = strides->dim[i] / size;
    }
    td_view_extent(v, &lo, &hi);
    if (lo < hi && (lo < 0 || hi > count))
        PyErr_Format(PyExc_ValueError,
                     "as_strided: elements %lld to %lld of memory that holds %lld", (long long)lo,
                     (long long)hi - 1, (long long)count);
    return !PyErr_Occurred();
}

/* _strided(shape, strides in bytes) */
static PyObject *
strided(PyObject *self, PyObject *const *args, Py_ssize_t nargs)
{
    const td_array *a = py_array_of(self);
    td_view v = {.offset = a->view.offset};
    td_shape shape, strides;
    py_ndarray *r;

    if (nargs != 2) {
        PyErr_SetString(PyExc_TypeError, "_strided(shape, strides)");
        return NULL;
    }
    if (!py_shape(args[0], &shape) || !py_ok(td_shape_make(shape.ndim, shape.dim, &v.shape)) ||
        !py_shape(args[1], &strides) || !strided_view(a, &strides, &v))
        return NULL;
    r = py_new();
    if (r) {
        r->a = td_array_view(a, &v);
        if (py_view_done(self, r, TD_OK))
            r->readonly |= stays_readonly(&r->a);
    }
    return (PyObject *)r;
}

PyMethodDef py_member_methods[] = {
    {"byteswap", PY_FAST(byteswap), METH_FASTCALL | METH_KEYWORDS,
     "byteswap($self, /, inplace=False)\n--\n\n"
     "The elements with their bytes in reverse order."},
    {"dump", PY_FAST(dump), METH_FASTCALL | METH_KEYWORDS,
     "dump($self, /, file)\n--\n\n"
     "A pickle into a file."},
    {"dumps", PY_FAST(dumps), METH_FASTCALL | METH_KEYWORDS,
     "dumps($self, /)\n--\n\n"
     "A pickle as bytes."},
    {"getfield", PY_FAST(getfield), METH_FASTCALL | METH_KEYWORDS,
     "getfield($self, /, dtype, offset=0)\n--\n\n"
     "A view of the bytes from offset on of every element."},
    {"resize", PY_FAST(resize), METH_FASTCALL | METH_KEYWORDS,
     "resize($self, /, new_shape, refcheck=True)\n--\n\n"
     "The array itself gets another shape, cut or filled up with zeros. ValueError for a "
     "view."},
    {"set", PY_FAST(set), METH_FASTCALL | METH_KEYWORDS,
     "set($self, /, arr, stream=None)\n--\n\n"
     "Takes the values of arr, a numpy.ndarray of this shape and dtype."},
    {"setfield", PY_FAST(setfield), METH_FASTCALL | METH_KEYWORDS,
     "setfield($self, /, val, dtype, offset=0)\n--\n\n"
     "Writes what getfield reads."},
    {"setflags", PY_FAST(setflags), METH_FASTCALL | METH_KEYWORDS,
     "setflags($self, /, write=None, align=None, uic=None)\n--\n\n"
     "Whether the array can be written through this view."},
    {"toDlpack", PY_FAST(toDlpack), METH_FASTCALL | METH_KEYWORDS,
     "toDlpack($self, /)\n--\n\n"
     "A DLPack capsule of the memory, for another library to take once."},
    {"tofile", PY_FAST(tofile), METH_FASTCALL | METH_KEYWORDS,
     "tofile($self, /, fid, sep='', format='%s')\n--\n\n"
     "The elements in C order into a file, as bytes or as text."},
    {"_repr_html_", PY_FAST(repr_html), METH_FASTCALL | METH_KEYWORDS,
     "_repr_html_($self, /)\n--\n\n"
     "A table for notebooks: shape, dtype, device and the values as repr cuts them."},
    {"__setstate__", PY_FAST(setstate), METH_FASTCALL | METH_KEYWORDS, NULL},
    {"__class_getitem__", Py_GenericAlias, METH_O | METH_CLASS, "ndarray[shape, dtype], a type."},
    {"_become", become, METH_O, NULL},
    {"_strided", PY_FAST(strided), METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL},
};

/* ---- attributes ---- */

static PyObject *
get(PyObject *self, void *name)
{
    return forward(name, self, NULL, 0, NULL);
}

static int
set_flat(PyObject *self, PyObject *value, void *unused)
{
    PyObject *r = NULL;

    (void)unused;
    if (!value)
        PyErr_SetString(PyExc_AttributeError, "Cannot delete flat iterator");
    else
        r = forward("set_flat", self, &value, 1, NULL);
    Py_XDECREF(r);
    return r ? 0 : -1;
}

/* The array whose memory a view is of, while the program has it; then an array of the whole memory.  No view keeps the
 * array that it was made from: that would keep its value from being given up. */
static PyObject *
get_base(PyObject *self, void *unused)
{
    const td_array *a = py_array_of(self);
    py_ndarray *r;

    (void)unused;
    if (!((py_ndarray *)self)->view)
        return Py_NewRef(Py_None);
    if (a->store->shown)
        return Py_NewRef((PyObject *)a->store->shown);
    r = py_new();
    if (!r)
        return NULL;
    r->a = td_array_view(a, &a->store->node->view);
    r->a.dt = a->store->dt;
    r->a.whole = true;
    r->readonly = a->store->readonly;
    a->store->shown = r;
    return (PyObject *)r;
}

PyGetSetDef py_member_attributes[] = {
    {"base", get_base, NULL, "None, or, of a view, the array whose memory it is of.", NULL},
    {"ctypes", get, NULL, "What ctypes needs of an array on the CPU: data, shape, strides, …",
     "ctypes"},
    {"flat", get, set_flat, "The elements in C order, to be read, written and gone through.",
     "flat"},
    {"mT", get, NULL, "The view with its last two axes exchanged.", "matrix_transposed"},
    {"__array_struct__", get, NULL, "NumPy's array interface in C (CPU arrays only).",
     "array_struct"},
    {NULL, NULL, NULL, NULL, NULL},
};
