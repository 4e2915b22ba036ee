/* numba.c - methods of ndarray that programs written for numba.cuda's device arrays call. */
#include "python/common/py.h"

static PyObject *
forward(const char *name, PyObject *self, PyObject *const *args, Py_ssize_t nargs,
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
        return forward(#name, self, args, nargs, kwnames);                                         \
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

/* The address of the first element, which others may use from now on. */
static PyObject *
address(PyObject *self, PyObject *unused)
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
     "The values as a NumPy array, or into ary, of the same shape and dtype; returns it. "
     "On a stream with pinned memory the copy runs while the program goes on."},
    {"copy_to_device", PY_FAST(numba_copy_to_device), FAST_KW,
     "copy_to_device($self, /, ary, stream=0)\n--\n\n"
     "a[...] = ary, of the same shape and dtype, from the host or the device."},
    {"split", PY_FAST(numba_split), FAST_KW,
     "split($self, /, section, stream=0)\n--\n\n"
     "Views of `section` elements each, the last one of the rest; one axis."},
    {"getitem", PY_FAST(numba_getitem), FAST_KW,
     "getitem($self, /, item, stream=0)\n--\n\n"
     "a[item]; an element is copied on the stream."},
    {"setitem", PY_FAST(numba_setitem), FAST_KW,
     "setitem($self, /, key, value, stream=0)\n--\n\n"
     "a[key] = value."},
    {"bind", PY_FAST(numba_bind), FAST_KW,
     "bind($self, /, stream=0)\n--\n\n"
     "The array itself."},
    {"get_ipc_handle", PY_FAST(numba_get_ipc_handle), FAST_KW,
     "get_ipc_handle($self, /)\n--\n\n"
     "What another process opens the array's memory by; it can be pickled."},
    {"is_c_contiguous", is_c, METH_NOARGS,
     "is_c_contiguous($self, /)\n--\n\n"
     "Do the elements lie in C order, without gaps?"},
    {"is_f_contiguous", is_f, METH_NOARGS,
     "is_f_contiguous($self, /)\n--\n\n"
     "Do the elements lie in Fortran's order, without gaps?"},
    {"_address", address, METH_NOARGS,
     "_address(): where the first element lies; operations on the array run at once from now on."},
    {"_with_scalars", with_scalars, METH_NOARGS,
     "_with_scalars(): the array itself, whose elements and whose views' are NumPy's scalars from "
     "now on."},
    {NULL, NULL, 0, NULL},
};
