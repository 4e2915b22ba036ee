/* members.c - members of ndarray that NumPy's arrays have besides numbers and shapes: base,
 * flags, bytes, pickles.
 *
 * Most are functions of treadle._numpy._members.
 */
#include "python/common/py.h"

static PyObject *
member_forward(const char *name, PyObject *self, PyObject *const *args, Py_ssize_t nargs,
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
        return member_forward(#name, self, args, nargs, kwnames);                                  \
    }
FORWARD(byteswap)
FORWARD(dump)
FORWARD(dumps)
FORWARD(getfield)
FORWARD(matvec)
FORWARD(repr_html)
FORWARD(resize)
FORWARD(rmatvec)
FORWARD(set)
FORWARD(setfield)
FORWARD(setstate)
FORWARD(toDlpack)
FORWARD(to_numpy)
FORWARD(tofile)

/* Must the array stay read-only: do several subscripts name one element, or is the memory not
 * ours to write? */
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

/* Makes self another view of the storage that `other`, an array, views. */
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

/* Has NumPy a scalar here? */
static PyObject *
is_number(PyObject *self, PyObject *unused)
{
    (void)unused;
    return PyBool_FromLong(py_is_number((py_ndarray *)self));
}

/* The view with those extents and strides, from self's first element on; ValueError: it reaches beyond the memory. */
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
     "The elements with their bytes in reverse order.\n\n"
     "Parameters\n"
     "----------\n"
     "inplace : bool, default False\n"
     "    Write into the array itself.\n\n"
     "Returns\n"
     "-------\n"
     "ndarray\n"
     "    Of the array's shape and dtype.\n\n"
     "Examples\n"
     "--------\n"
     ">>> np.asarray([1], dtype=np.int16).byteswap()\n"
     "array([256], dtype=int16)"},
    {"dump", PY_FAST(dump), METH_FASTCALL | METH_KEYWORDS,
     "dump($self, /, file)\n--\n\n"
     "Write a pickle into a file.\n\n"
     "Parameters\n"
     "----------\n"
     "file : str, path or file\n"
     "    The file, or its name.\n\n"
     "Raises\n"
     "------\n"
     "FileNotFoundError\n"
     "    There is no such folder.\n\n"
     "Examples\n"
     "--------\n"
     ">>> import io\n"
     ">>> np.ones(2).dump(io.BytesIO())"},
    {"dumps", PY_FAST(dumps), METH_FASTCALL | METH_KEYWORDS,
     "dumps($self, /)\n--\n\n"
     "A pickle as bytes.\n\n"
     "Returns\n"
     "-------\n"
     "bytes\n"
     "    For pickle.loads.\n\n"
     "Examples\n"
     "--------\n"
     ">>> import pickle\n"
     ">>> pickle.loads(np.ones(2).dumps())\n"
     "array([1., 1.])"},
    {"getfield", PY_FAST(getfield), METH_FASTCALL | METH_KEYWORDS,
     "getfield($self, /, dtype, offset=0)\n--\n\n"
     "A view of the bytes from a place on in every element.\n\n"
     "Parameters\n"
     "----------\n"
     "dtype : dtype\n"
     "    Dtype of the view.\n"
     "offset : int, default 0\n"
     "    Where in the element it begins, in bytes.\n\n"
     "Returns\n"
     "-------\n"
     "ndarray\n"
     "    Of the array's shape.\n\n"
     "Raises\n"
     "------\n"
     "ValueError\n"
     "    The dtype does not fit there.\n\n"
     "Examples\n"
     "--------\n"
     ">>> np.asarray([1 + 2j]).getfield(np.float64, 8)\n"
     "array([2.])"},
    {"resize", PY_FAST(resize), METH_FASTCALL | METH_KEYWORDS,
     "resize($self, /, new_shape, refcheck=True)\n--\n\n"
     "Give the array itself another shape; it is cut, or filled up with zeros.\n\n"
     "Parameters\n"
     "----------\n"
     "new_shape : int or tuple of ints\n"
     "    The new extents.\n"
     "refcheck : bool, default True\n"
     "    Accepted for NumPy's signature.\n\n"
     "Raises\n"
     "------\n"
     "ValueError\n"
     "    The array is a view.\n\n"
     "Examples\n"
     "--------\n"
     ">>> a = np.ones(2)\n"
     ">>> a.resize(3)\n"
     ">>> a\n"
     "array([1., 1., 0.])"},
    {"set", PY_FAST(set), METH_FASTCALL | METH_KEYWORDS,
     "set($self, /, arr, stream=None)\n--\n\n"
     "Take the values of an array of NumPy's.\n\n"
     "Parameters\n"
     "----------\n"
     "arr : numpy.ndarray\n"
     "    Of this shape and dtype.\n"
     "stream : Stream, optional\n"
     "    The stream that copies; None means the default one.\n\n"
     "Raises\n"
     "------\n"
     "ValueError\n"
     "    arr has another shape.\n\n"
     "Examples\n"
     "--------\n"
     ">>> a = np.zeros(2)\n"
     ">>> a.set(numpy.ones(2))\n"
     ">>> a\n"
     "array([1., 1.])"},
    {"setfield", PY_FAST(setfield), METH_FASTCALL | METH_KEYWORDS,
     "setfield($self, /, val, dtype, offset=0)\n--\n\n"
     "Write the bytes that getfield reads.\n\n"
     "Parameters\n"
     "----------\n"
     "val : array_like\n"
     "    Broadcasts to the array's shape.\n"
     "dtype : dtype\n"
     "    Dtype of what is written.\n"
     "offset : int, default 0\n"
     "    Where in the element it begins, in bytes.\n\n"
     "Raises\n"
     "------\n"
     "ValueError\n"
     "    The dtype does not fit there.\n\n"
     "Examples\n"
     "--------\n"
     ">>> a = np.asarray([1 + 2j])\n"
     ">>> a.setfield(5.0, np.float64, 8)\n"
     ">>> a\n"
     "array([1.+5.j])"},
    {"setflags", PY_FAST(setflags), METH_FASTCALL | METH_KEYWORDS,
     "setflags($self, /, write=None, align=None, uic=None)\n--\n\n"
     "Say whether the array can be written through this view.\n\n"
     "Parameters\n"
     "----------\n"
     "write : bool, optional\n"
     "    False makes it read-only.\n"
     "align, uic : bool, optional\n"
     "    Accepted for NumPy's signature.\n\n"
     "Raises\n"
     "------\n"
     "ValueError\n"
     "    The memory under the array is read-only.\n\n"
     "Examples\n"
     "--------\n"
     ">>> a = np.ones(2)\n"
     ">>> a.setflags(write=False)\n"
     ">>> a.flags.writeable\n"
     "False"},
    {"toDlpack", PY_FAST(toDlpack), METH_FASTCALL | METH_KEYWORDS,
     "toDlpack($self, /)\n--\n\n"
     "A DLPack capsule of the memory, for another library to take once.\n\n"
     "Returns\n"
     "-------\n"
     "capsule\n"
     "    It shares the array's memory.\n\n"
     "Examples\n"
     "--------\n"
     ">>> np.from_dlpack(np.ones(2)).shape\n"
     "(2,)"},
    {"to_numpy", PY_FAST(to_numpy), METH_FASTCALL | METH_KEYWORDS,
     "to_numpy($self, /)\n--\n\n"
     "The elements as an array of NumPy's: plotting libraries ask for it by this name.\n\n"
     "Returns\n"
     "-------\n"
     "numpy.ndarray\n"
     "    A copy.\n\n"
     "Examples\n"
     "--------\n"
     ">>> type(np.ones(2).to_numpy()).__module__\n"
     "'numpy'"},
    {"matvec", PY_FAST(matvec), METH_FASTCALL | METH_KEYWORDS,
     "matvec($self, x, /)\n--\n\n"
     "The matrix times x: the iterative solvers of scipy.sparse.linalg ask a matrix for it.\n\n"
     "Parameters\n"
     "----------\n"
     "x : array_like\n"
     "    A vector, or a matrix of columns.\n\n"
     "Returns\n"
     "-------\n"
     "ndarray\n"
     "    The product.\n\n"
     "Examples\n"
     "--------\n"
     ">>> np.asarray([[1.0, 2.0], [0.0, 1.0]]).matvec([1.0, 1.0])\n"
     "array([3., 1.])"},
    {"rmatvec", PY_FAST(rmatvec), METH_FASTCALL | METH_KEYWORDS,
     "rmatvec($self, x, /)\n--\n\n"
     "The conjugate transposed matrix times x: see matvec.\n\n"
     "Parameters\n"
     "----------\n"
     "x : array_like\n"
     "    A vector, or a matrix of columns.\n\n"
     "Returns\n"
     "-------\n"
     "ndarray\n"
     "    The product.\n\n"
     "Examples\n"
     "--------\n"
     ">>> np.asarray([[1.0, 2.0], [0.0, 1.0]]).rmatvec([1.0, 1.0])\n"
     "array([1., 3.])"},
    {"tofile", PY_FAST(tofile), METH_FASTCALL | METH_KEYWORDS,
     "tofile($self, /, fid, sep='', format='%s')\n--\n\n"
     "Write the elements in C order into a file.\n\n"
     "Parameters\n"
     "----------\n"
     "fid : str, path or file\n"
     "    The file, or its name.\n"
     "sep : str, default ''\n"
     "    Text between elements; \"\" writes bytes.\n"
     "format : str, default '%s'\n"
     "    How an element becomes text.\n\n"
     "Raises\n"
     "------\n"
     "FileNotFoundError\n"
     "    There is no such folder.\n\n"
     "Examples\n"
     "--------\n"
     ">>> import os\n"
     ">>> np.ones(2).tofile(os.devnull)"},
    {"_repr_html_", PY_FAST(repr_html), METH_FASTCALL | METH_KEYWORDS,
     "_repr_html_($self, /)\n--\n\n"
     "A table for notebooks: shape, dtype, device and the values as repr cuts them."},
    {"__setstate__", PY_FAST(setstate), METH_FASTCALL | METH_KEYWORDS, NULL},
    {"__class_getitem__", Py_GenericAlias, METH_O | METH_CLASS, "ndarray[shape, dtype], a type."},
    {"_become", become, METH_O, NULL},
    {"_is_number", is_number, METH_NOARGS, NULL},
    {"_strided", PY_FAST(strided), METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL},
};

/* ---- attributes ---- */

static PyObject *
member_get(PyObject *self, void *name)
{
    return member_forward(name, self, NULL, 0, NULL);
}

/* What NumPy's scalars have and its arrays have not, of the scalar that the number is. */
static PyObject *
scalar_get(PyObject *self, void *name)
{
    PyObject *scalar, *r;

    if (!py_is_number((py_ndarray *)self))
        return PyErr_Format(PyExc_AttributeError, "'treadle.ndarray' object has no attribute '%s'",
                            (const char *)name);
    scalar = member_forward("scalar", self, NULL, 0, NULL);
    r = scalar ? PyObject_GetAttrString(scalar, name) : NULL;
    Py_XDECREF(scalar);
    return r;
}

static int
set_flat(PyObject *self, PyObject *value, void *unused)
{
    PyObject *r = NULL;

    (void)unused;
    if (!value)
        PyErr_SetString(PyExc_AttributeError, "Cannot delete flat iterator");
    else
        r = member_forward("set_flat", self, &value, 1, NULL);
    Py_XDECREF(r);
    return r ? 0 : -1;
}

/* The array whose memory a view shows, as long as the program has it; then an array over the
 * whole memory.  A view does not keep the array it was made from, which would keep that
 * array's value alive. */
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
    {"ctypes", member_get, NULL,
     "What ctypes needs of an array on the CPU: data, shape, strides, …", "ctypes"},
    {"flat", member_get, set_flat, "The elements in C order, to be read, written and gone through.",
     "flat"},
    {"mT", member_get, NULL, "The view with its last two axes exchanged.", "matrix_transposed"},
    {"__array_struct__", member_get, NULL, "NumPy's array interface in C (CPU arrays only).",
     "array_struct"},
    {"as_integer_ratio", scalar_get, NULL,
     "Of a number (an element, a sum): the method of NumPy's floats. Arrays have none.",
     "as_integer_ratio"},
    {"bit_count", scalar_get, NULL,
     "Of a number (an element, a sum): the method of NumPy's integers. Arrays have none.",
     "bit_count"},
    {"denominator", scalar_get, NULL,
     "Of a number (an element, a sum): 1, as of NumPy's integers. Arrays have none.",
     "denominator"},
    {"hex", scalar_get, NULL,
     "Of a number (an element, a sum) of float64: the method of Python's floats. Arrays have none.",
     "hex"},
    {"is_integer", scalar_get, NULL,
     "Of a number (an element, a sum): the method of NumPy's real numbers. Arrays have none.",
     "is_integer"},
    {"numerator", scalar_get, NULL,
     "Of a number (an element, a sum): the number, as of NumPy's integers. Arrays have none.",
     "numerator"},
    {NULL, NULL, NULL, NULL, NULL},
};
