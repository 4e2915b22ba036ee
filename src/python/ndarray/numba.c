/* numba.c - methods of ndarray that programs written for numba.cuda's device arrays call. */
#include "python/common/py.h"

static PyObject *
numba_forward(const char *name, PyObject *self, PyObject *const *args, Py_ssize_t nargs,
              PyObject *kwnames)
{
    PyObject *f = py_package("treadle.cuda._arrays", name),
             *r = f ? py_call_with(f, self, args, nargs, kwnames) : NULL;

    Py_XDECREF(f);
    return r;
}

#define FORWARD(name)                                                                              \
    static PyObject *numba_##name(PyObject *self, PyObject *const *args, Py_ssize_t nargs,         \
                                  PyObject *kwnames)                                               \
    {                                                                                              \
        return numba_forward(#name, self, args, nargs, kwnames);                                   \
    }
FORWARD(copy_to_host)
FORWARD(copy_to_device)
FORWARD(split)
FORWARD(getitem)
FORWARD(setitem)
FORWARD(bind)
FORWARD(get_ipc_handle)

static PyObject *
contiguous(PyObject *self, bool fortran)
{
    const td_view *v = &py_array_of(self)->view;
    int order[TD_MAXDIM];
    td_view t = *v;

    for (int i = 0; i < v->shape.ndim; i++)
        order[i] = v->shape.ndim - 1 - i;
    if (fortran && !py_ok(td_view_transpose(v, order, &t)))
        return NULL;
    return PyBool_FromLong(td_view_is_contiguous(&t));
}

static PyObject *
is_c(PyObject *self, PyObject *unused)
{
    (void)unused;
    return contiguous(self, false);
}

static PyObject *
is_f(PyObject *self, PyObject *unused)
{
    (void)unused;
    return contiguous(self, true);
}

/* The address of the first element.  Other code may use the memory from now on. */
static PyObject *
numba_address(PyObject *self, PyObject *unused)
{
    td_array *a = py_array_of(self);
    td_buf *buf;
    td_view v;

    (void)unused;
    if (!py_ok(td_array_memory(a, true, &buf, &v)))
        return NULL;
    return PyLong_FromSize_t(buf->ptr +
                             (uintptr_t)(v.offset * (int64_t)td_dtype_size(td_array_dtype(a))));
}

static PyObject *
with_scalars(PyObject *self, PyObject *unused)
{
    (void)unused;
    ((py_ndarray *)self)->scalars = true;
    return Py_NewRef(self);
}

#define FAST_KW (METH_FASTCALL | METH_KEYWORDS)

PyMethodDef py_numba_methods[] = {
    {"copy_to_host", PY_FAST(numba_copy_to_host), FAST_KW,
     "copy_to_host($self, /, ary=None, stream=0)\n--\n\n"
     "The values on the host; on a stream with pinned memory the copy runs while the program goes "
     "on.\n\n"
     "Parameters\n"
     "----------\n"
     "ary : numpy.ndarray, optional\n"
     "    Takes the values and is returned: of the same shape and dtype.\n"
     "stream : Stream, default 0\n"
     "    The stream that copies; 0 means the default one.\n\n"
     "Returns\n"
     "-------\n"
     "numpy.ndarray\n"
     "    Of the array's shape and dtype.\n\n"
     "Raises\n"
     "------\n"
     "ValueError\n"
     "    ary has another shape or dtype.\n\n"
     "Examples\n"
     "--------\n"
     ">>> type(np.ones(2).copy_to_host()).__module__\n"
     "'numpy'"},
    {"copy_to_device", PY_FAST(numba_copy_to_device), FAST_KW,
     "copy_to_device($self, /, ary, stream=0)\n--\n\n"
     "Take the values of an array on the host or the device.\n\n"
     "Parameters\n"
     "----------\n"
     "ary : array_like\n"
     "    Of the same shape and dtype.\n"
     "stream : Stream, default 0\n"
     "    The stream that copies; 0 means the default one.\n\n"
     "Raises\n"
     "------\n"
     "ValueError\n"
     "    ary has another shape.\n\n"
     "Examples\n"
     "--------\n"
     ">>> a = np.zeros(2)\n"
     ">>> a.copy_to_device(numpy.ones(2))\n"
     ">>> a\n"
     "array([1., 1.])"},
    {"split", PY_FAST(numba_split), FAST_KW,
     "split($self, /, section, stream=0)\n--\n\n"
     "Views of equal length; the last one has the rest.\n\n"
     "Parameters\n"
     "----------\n"
     "section : int\n"
     "    Elements of a view.\n"
     "stream : Stream, default 0\n"
     "    Accepted for Numba's signature.\n\n"
     "Yields\n"
     "------\n"
     "ndarray\n"
     "    Views of an array of one axis, one after another.\n\n"
     "Examples\n"
     "--------\n"
     ">>> [part.shape for part in np.arange(5).split(2)]\n"
     "[(2,), (2,), (1,)]"},
    {"getitem", PY_FAST(numba_getitem), FAST_KW,
     "getitem($self, /, item, stream=0)\n--\n\n"
     "An element or a view, as a[item]; an element is copied on the stream.\n\n"
     "Parameters\n"
     "----------\n"
     "item : subscript\n"
     "    An index, a slice, a tuple of them or an array.\n"
     "stream : Stream, default 0\n"
     "    The stream that copies; 0 means the default one.\n\n"
     "Returns\n"
     "-------\n"
     "number or ndarray\n"
     "    An element is on the host.\n\n"
     "Raises\n"
     "------\n"
     "IndexError\n"
     "    An index lies outside.\n\n"
     "Examples\n"
     "--------\n"
     ">>> float(np.ones(2).getitem(0))\n"
     "1.0"},
    {"setitem", PY_FAST(numba_setitem), FAST_KW,
     "setitem($self, /, key, value, stream=0)\n--\n\n"
     "Write an element or a part, as a[key] = value.\n\n"
     "Parameters\n"
     "----------\n"
     "key : subscript\n"
     "    An index, a slice, a tuple of them or an array.\n"
     "value : array_like\n"
     "    Broadcasts to the part's shape.\n"
     "stream : Stream, default 0\n"
     "    The stream that writes; 0 means the default one.\n\n"
     "Raises\n"
     "------\n"
     "IndexError\n"
     "    An index lies outside.\n\n"
     "Examples\n"
     "--------\n"
     ">>> a = np.zeros(2)\n"
     ">>> a.setitem(0, 5)\n"
     ">>> a\n"
     "array([5., 0.])"},
    {"bind", PY_FAST(numba_bind), FAST_KW,
     "bind($self, /, stream=0)\n--\n\n"
     "The array itself: Numba's way to name a stream.\n\n"
     "Parameters\n"
     "----------\n"
     "stream : Stream, default 0\n"
     "    Accepted for Numba's signature.\n\n"
     "Returns\n"
     "-------\n"
     "ndarray\n"
     "    The array.\n\n"
     "Examples\n"
     "--------\n"
     ">>> np.ones(2).bind().shape\n"
     "(2,)"},
    {"get_ipc_handle", PY_FAST(numba_get_ipc_handle), FAST_KW,
     "get_ipc_handle($self, /)\n--\n\n"
     "What another process opens the array's memory by.\n\n"
     "Returns\n"
     "-------\n"
     "IpcArrayHandle\n"
     "    It can be pickled.\n\n"
     "Examples\n"
     "--------\n"
     ">>> hasattr(np.ndarray, \"get_ipc_handle\")\n"
     "True"},
    {"is_c_contiguous", is_c, METH_NOARGS,
     "is_c_contiguous($self, /)\n--\n\n"
     "Whether the elements lie in C order, without gaps.\n\n"
     "Returns\n"
     "-------\n"
     "bool\n"
     "    As flags.c_contiguous.\n\n"
     "Examples\n"
     "--------\n"
     ">>> np.ones((2, 3)).T.is_c_contiguous()\n"
     "False"},
    {"is_f_contiguous", is_f, METH_NOARGS,
     "is_f_contiguous($self, /)\n--\n\n"
     "Whether the elements lie in Fortran's order, without gaps.\n\n"
     "Returns\n"
     "-------\n"
     "bool\n"
     "    As flags.f_contiguous.\n\n"
     "Examples\n"
     "--------\n"
     ">>> np.ones((2, 3)).T.is_f_contiguous()\n"
     "True"},
    {"_address", numba_address, METH_NOARGS,
     "_address(): where the first element lies; operations on the array run at once from now on."},
    {"_with_scalars", with_scalars, METH_NOARGS,
     "_with_scalars(): the array itself, whose elements and whose views' are NumPy's scalars from "
     "now on."},
    {NULL, NULL, 0, NULL},
};
