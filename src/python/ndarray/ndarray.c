/* ndarray.c - treadle.ndarray: creation, destruction, attributes. */
#include "python/common/py.h"

#include <stddef.h>
#include <string.h>
#include <structmember.h>

static void
ndarray_dealloc(PyObject *self)
{
    py_ndarray *nd = (py_ndarray *)self;
    PyTypeObject *type = Py_TYPE(self);

    if (nd->weak)
        PyObject_ClearWeakRefs(self);
    if (nd->a.store) {
        if (nd->a.store->shown == self)
            nd->a.store->shown = NULL;
        td_array_unref(&nd->a);
    }
    PyObject_Free(self);
    Py_DECREF(type);
    py_owners_release();
}

/* ---- attributes ---- */

static PyObject *
get_shape(PyObject *self, void *unused)
{
    (void)unused;
    return py_shape_tuple(&py_array_of(self)->view.shape);
}

/* May an attribute be set to value? NULL: the program deletes it. */
static bool
may_set(PyObject *value, const char *name)
{
    if (!value)
        PyErr_Format(PyExc_AttributeError, "Cannot delete array %s", name);
    return value != NULL;
}

static int
set_shape(PyObject *self, PyObject *value, void *unused)
{
    td_array *a = py_array_of(self), r;
    td_shape s;

    (void)unused;
    if (!may_set(value, "shape") || !py_shape(value, &s) || !py_ok(td_array_reshape(a, &s, &r)))
        return -1;
    if (r.store != a->store) {
        td_array_unref(&r);
        PyErr_SetString(PyExc_AttributeError,
                        "Incompatible shape for in-place modification. Use `.reshape()` to "
                        "make a copy with the desired shape.");
        return -1;
    }
    td_array_unref(a);
    *a = r;
    return 0;
}

static PyObject *
get_dtype(PyObject *self, void *unused)
{
    (void)unused;
    return py_dtype_object(td_array_dtype(py_array_of(self)));
}

/* What isinstance asks beside the type. A number says the class of NumPy's scalar, so that it is a numbers.Real, a
 * numpy.integer or a float where that is one. */
static PyObject *
get_class(PyObject *self, void *unused)
{
    td_dtype dt = td_array_dtype(py_array_of(self));
    PyObject *dtype;

    (void)unused;
    if (!py_is_number((py_ndarray *)self) || dt == TD_BF16)
        return Py_NewRef((PyObject *)Py_TYPE(self));
    dtype = py_dtype_object(dt); /* now py.scalar has the type */
    Py_XDECREF(dtype);
    return dtype ? Py_XNewRef(py.scalar[dt]) : NULL;
}

/* The same memory seen as another dtype, as by view(dtype); other views of it keep theirs. */
static int
set_dtype(PyObject *self, PyObject *value, void *unused)
{
    td_array *a = py_array_of(self), r;
    td_dtype dt;

    (void)unused;
    if (!may_set(value, "dtype") || !py_dtype(value, &dt) || !py_ok(td_array_retype(a, dt, &r)))
        return -1;
    if (a->store->shown == self)
        a->store->shown = NULL;
    td_array_unref(a);
    *a = r;
    return 0;
}

static PyObject *
get_ndim(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromLong(py_array_of(self)->view.shape.ndim);
}

static PyObject *
get_size(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromLongLong(td_array_size(py_array_of(self)));
}

static PyObject *
get_itemsize(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromSize_t(td_dtype_size(td_array_dtype(py_array_of(self))));
}

static PyObject *
get_nbytes(PyObject *self, void *unused)
{
    td_array *a = py_array_of(self);

    (void)unused;
    return PyLong_FromLongLong(td_array_size(a) * (int64_t)td_dtype_size(td_array_dtype(a)));
}

static PyObject *
get_strides(PyObject *self, void *unused)
{
    td_array *a = py_array_of(self);
    td_shape bytes = a->view.shape;

    (void)unused;
    for (int i = 0; i < bytes.ndim; i++)
        bytes.dim[i] = a->view.stride[i] * (int64_t)td_dtype_size(td_array_dtype(a));
    return py_shape_tuple(&bytes);
}

static PyObject *
get_flags(PyObject *self, void *unused)
{
    py_ndarray *nd = (py_ndarray *)self;
    int order[TD_MAXDIM], ndim = nd->a.view.shape.ndim;
    PyObject *make = py_package("treadle._exchange._interop", "Flags"), *r = NULL;
    td_view t;

    (void)unused;
    for (int i = 0; i < ndim; i++)
        order[i] = ndim - 1 - i;
    if (make && py_ok(td_view_transpose(&nd->a.view, order, &t)))
        r = PyObject_CallFunction(make, "Oiiii", self, td_view_is_contiguous(&nd->a.view),
                                  td_view_is_contiguous(&t), !nd->view,
                                  !nd->readonly && !nd->a.store->readonly);
    Py_XDECREF(make);
    return r;
}

static PyObject *
ndarray_get_device(PyObject *self, void *unused)
{
    (void)unused;
    return py_device_object(td_array_dev(py_array_of(self)));
}

static PyObject *
get_transposed(PyObject *self, void *unused)
{
    (void)unused;
    return py_transposed(self);
}

/* imag NULL: the real part.  The real part of a real array is the array itself, its imaginary part read-only zeros. */
static PyObject *
get_part(PyObject *self, void *imag)
{
    const td_array *a = py_array_of(self);
    py_ndarray *r;

    if (!td_dtype_is_complex(td_array_dtype(a)) && !imag)
        return Py_NewRef(self);
    r = py_new();
    if (!r)
        return NULL;
    if (td_dtype_is_complex(td_array_dtype(a))) {
        r->a = td_array_part(a, imag != NULL);
        return py_view_done(self, r, TD_OK);
    }
    r->readonly = true;
    return py_done(r, td_array_full(td_array_dev(a), td_array_dtype(a), &a->view.shape,
                                    (td_scalar){.dt = TD_I64}, &r->a));
}

/* Converts a value that is assigned to a part: cast as an array, as in NumPy, not number by number. */
static PyObject *
array_beside(PyObject *self, PyObject *value)
{
    py_ndarray *r;

    if (py_is_array(value))
        return Py_NewRef(value);
    r = py_new();
    if (r && py_asarray(value, -1, td_array_dev(py_array_of(self)), &r->a))
        r->made = true;
    else if (r) {
        r->a.store = NULL;
        Py_CLEAR(r);
    }
    return (PyObject *)r;
}

static int
set_part(PyObject *self, PyObject *value, void *imag)
{
    PyObject *part, *items;
    int r;

    if (!value) {
        PyErr_SetString(PyExc_AttributeError, "cannot delete a part of an array");
        return -1;
    }
    if (imag && !td_dtype_is_complex(td_array_dtype(py_array_of(self)))) {
        PyErr_SetString(PyExc_TypeError, "array does not have imaginary part to set");
        return -1;
    }
    items = py_package("treadle._old_numpy", "parts_are_items");
    value = items == Py_True ? Py_NewRef(value) : items ? array_beside(self, value) : NULL;
    Py_XDECREF(items);
    part = value ? get_part(self, imag) : NULL;
    r = part ? PyObject_SetItem(part, Py_Ellipsis, value) : -1;
    Py_XDECREF(value);
    Py_XDECREF(part);
    return r;
}

/* An attribute for programs of numba.cuda, from treadle.cuda. */
static PyObject *
get_numba(PyObject *self, void *name)
{
    PyObject *f = py_package("treadle.cuda._arrays", name),
             *r = f ? PyObject_CallFunctionObjArgs(f, self, NULL) : NULL;

    Py_XDECREF(f);
    return r;
}

static PyObject *
get_data(PyObject *self, void *unused)
{
    static char pointer[] = "gpu_data";

    (void)unused;
    if (!td_dev_info(td_array_dev(py_array_of(self)))->host)
        return get_numba(self, pointer);
    return PyMemoryView_FromObject(self);
}

static PyObject *
get_interface(PyObject *self, void *cuda)
{
    return py_array_interface(self, cuda != NULL);
}

static const PyGetSetDef own_attributes[] = {
    {"gpu_data", get_numba, NULL, "The memory under the array, a treadle.cuda.MemoryPointer.",
     "gpu_data"},
    {"device_ctypes_pointer", get_numba, NULL, "The first element's address, a ctypes.c_void_p.",
     "device_ctypes_pointer"},
    {"alloc_size", get_numba, NULL, "Bytes from the first element to behind the last.",
     "alloc_size"},
    {"shape", get_shape, set_shape, "Extents, a tuple of ints.", NULL},
    {"dtype", get_dtype, set_dtype, "The element type, a numpy.dtype.", NULL},
    {"__class__", get_class, NULL,
     "treadle.ndarray; of a number (an element, a sum) the class of NumPy's scalar.", NULL},
    {"ndim", get_ndim, NULL, "Number of axes.", NULL},
    {"size", get_size, NULL, "Number of elements.", NULL},
    {"itemsize", get_itemsize, NULL, "Bytes of one element.", NULL},
    {"nbytes", get_nbytes, NULL, "Bytes of all elements.", NULL},
    {"strides", get_strides, NULL, "Bytes from one element to the next along each axis.", NULL},
    {"flags", get_flags, NULL, "c_contiguous, f_contiguous, owndata, writeable.", NULL},
    {"device", ndarray_get_device, NULL, "Where the elements live, a treadle.Device.", NULL},
    {"T", get_transposed, NULL, "The view with its axes reversed.", NULL},
    {"real", get_part, set_part, "The real parts, a view; of a real array the array itself.", NULL},
    {"imag", get_part, set_part,
     "The imaginary parts, a view; of a real array zeros that cannot be written.", &py},
    {"data", get_data, NULL,
     "A memoryview of the elements; on a GPU a treadle.cuda.MemoryPointer, as in CuPy.", NULL},
    {"__array_interface__", get_interface, NULL,
     "NumPy's array interface (CPU arrays only); shares memory.", NULL},
    {"__cuda_array_interface__", get_interface, NULL,
     "Numba's CUDA array interface, version 3 (CUDA arrays only); shares memory.", &py},
    {NULL, NULL, NULL, NULL, NULL},
};

/* ---- the container protocol ---- */

static Py_ssize_t
ndarray_length(PyObject *self)
{
    const td_shape *s = &py_array_of(self)->view.shape;

    if (s->ndim == 0)
        PyErr_SetString(PyExc_TypeError, "len() of unsized object");
    return s->ndim ? (Py_ssize_t)s->dim[0] : -1;
}

static PyObject *
iterate(PyObject *self)
{
    if (py_array_of(self)->view.shape.ndim)
        return PySeqIter_New(self);
    PyErr_SetString(PyExc_TypeError, "iteration over a 0-d array");
    return NULL;
}

static int
contains(PyObject *self, PyObject *value)
{
    PyObject *eq = PyObject_RichCompare(self, value, Py_EQ), *any = NULL;
    int r = -1;

    if (eq && !py_is_array(eq))
        r = PyObject_IsTrue(eq);
    else if (eq) {
        any = py_reduce(TD_RED_any, eq, (PyObject *const[6]){NULL});
        r = any ? PyObject_IsTrue(any) : -1;
    }
    Py_XDECREF(eq);
    Py_XDECREF(any);
    return r;
}

/* NumPy's text for the same elements. */
static PyObject *
ndarray_text(PyObject *self, const char *function)
{
    PyObject *np = py_numpy(), *host = np ? py_get_as(self, TD_F32) : NULL;
    PyObject *r = host ? PyObject_CallMethod(np, function, "(O)", host) : NULL;

    Py_XDECREF(host);
    if (r && td_array_dtype(py_array_of(self)) == TD_BF16) {
        PyObject *named =
            PyObject_CallMethod(r, "replace", "ss", "dtype=float32", "dtype=bfloat16");

        Py_DECREF(r);
        r = named;
    }
    return r;
}

/* A number's is that of NumPy's scalar. */
static PyObject *
ndarray_repr(PyObject *self)
{
    PyObject *f, *one, *r;

    if (!py_is_number((py_ndarray *)self) || td_array_dtype(py_array_of(self)) == TD_BF16)
        return ndarray_text(self, "array_repr");
    f = py_package("treadle._numpy._members", "scalar");
    one = f ? PyObject_CallFunctionObjArgs(f, self, NULL) : NULL;
    r = one ? PyObject_Repr(one) : NULL;
    Py_XDECREF(one);
    Py_XDECREF(f);
    return r;
}

static PyObject *
str(PyObject *self)
{
    return ndarray_text(self, "array_str");
}

static PyObject *
over_buffer(PyObject *shape, PyObject *dtype, PyObject *buffer, PyObject *offset, PyObject *strides,
            PyObject *order)
{
    PyObject *f = py_package("treadle._numpy._members", "over_buffer"),
             *from = offset ? Py_NewRef(offset) : PyLong_FromLong(0),
             *r = f && from ? PyObject_CallFunctionObjArgs(f, shape, dtype ? dtype : Py_None,
                                                           buffer, from, strides, order, NULL)
                            : NULL;

    Py_XDECREF(from);
    Py_XDECREF(f);
    return r;
}

/* ndarray(Fraction(1, 2)): the number, as float64(Fraction(1, 2)) gives it. No shape is meant: a fraction is no index.
 * So statistics.mean and its kin, which end with type(x)(result), have a mean of numbers. NULL without an exception:
 * it is something else. */
static PyObject *
number_of_fraction(PyObject *shape)
{
    py_ndarray *r;
    PyObject *f;
    td_dev *dev;
    td_scalar s = {.dt = TD_F64};

    if (PyIndex_Check(shape) || PyFloat_Check(shape) ||
        !PyObject_HasAttrString(shape, "denominator"))
        return NULL;
    f = PyNumber_Float(shape);
    if (!f)
        return NULL;
    s.f[0] = PyFloat_AsDouble(f);
    Py_DECREF(f);
    r = py_device(NULL, &dev) ? py_new() : NULL;
    return r ? py_done(r, td_array_full(dev, TD_F64, &(td_shape){0}, s, &r->a)) : NULL;
}

static PyObject *
make_own(PyTypeObject *type, PyObject *args, PyObject *kw)
{
    static char *names[] = {"shape",   "dtype", "buffer", "offset",
                            "strides", "order", "memptr", NULL};
    PyObject *shape, *dtype = NULL, *buffer = Py_None, *offset = NULL, *strides = Py_None,
                     *order = Py_None, *memptr = NULL;
    py_ndarray *r;
    td_dev *dev;
    td_shape s, checked;
    td_view layout;
    char letter;
    int dt;

    (void)type;
    if (!PyArg_ParseTupleAndKeywords(args, kw, "O|OOOOO$O:ndarray", names, &shape, &dtype, &buffer,
                                     &offset, &strides, &order, &memptr))
        return NULL;
    if (!dtype && buffer == Py_None && !memptr) {
        PyObject *number = number_of_fraction(shape);

        if (number || PyErr_Occurred())
            return number;
    }
    if (memptr)
        buffer = memptr;
    if (buffer != Py_None || strides != Py_None)
        return over_buffer(shape, dtype, buffer, offset, strides, order);
    if (!py_shape(shape, &s) || !py_ok(td_shape_make(s.ndim, s.dim, &checked)) ||
        !py_dtype_or(dtype, TD_F64, &dt) || !py_device(NULL, &dev) ||
        !(letter = py_order(order, 'C')))
        return NULL;
    layout = py_layout(NULL, &checked, letter);
    r = py_new();
    return r ? py_done(r, py_empty_as(dev, (td_dtype)dt, &layout, &r->a)) : NULL;
}

/* An array of NumPy's where the dtype is none of numbers. */
static PyObject *
ndarray_make(PyTypeObject *type, PyObject *args, PyObject *kw)
{
    PyObject *r = make_own(type, args, kw), *name, *f;

    if (r || !PyErr_ExceptionMatches(py.no_numbers))
        return r;
    name = PyUnicode_FromString("ndarray");
    f = name ? py_instead("function", name) : NULL;
    r = f ? PyObject_Call(f, args, kw) : NULL;
    Py_XDECREF(f);
    Py_XDECREF(name);
    return r;
}

static PyMemberDef members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(py_ndarray, weak), READONLY, NULL},
    {0},
};

static PyGetSetDef attributes[48]; /* gathered below */

static PyObject *
ndarray_await(PyObject *self)
{
    return py_await(self, "array");
}

static const char ndarray_doc[] =
    "ndarray(shape, dtype=None, buffer=None, offset=0, strides=None, order=None, *, "
    "memptr=None)\n--\n\n"
    "An array of numbers of one dtype on one device, with NumPy's attributes, methods and "
    "operators.\n\n"
    "Operations are recorded and run, fused into few kernels, when a value is\n"
    "looked at. Arrays are made by treadle.asarray, zeros, arange and their like,\n"
    "and x.get() gives the values as a numpy.ndarray. The dtypes are bool, int8 to\n"
    "int64, uint8 to uint64, float16, bfloat16, float32, float64, complex64 and\n"
    "complex128.\n\n"
    "Parameters\n"
    "----------\n"
    "shape : int or tuple of ints\n"
    "    Extents; the values are not set.\n"
    "dtype : dtype, optional\n"
    "    Dtype; None means float64.\n"
    "buffer : object with the buffer protocol, optional\n"
    "    Memory of the host that the array lies over, on the CPU; or a\n"
    "    treadle.cuda.MemoryPointer, into memory of any device.\n"
    "offset : int, default 0\n"
    "    Where in the buffer it begins, in bytes.\n"
    "strides : tuple of ints, optional\n"
    "    Bytes from one element to the next along each axis.\n"
    "order : {\"C\", \"F\"}, optional\n"
    "    Order of the elements.\n"
    "memptr : MemoryPointer, optional\n"
    "    CuPy's name for buffer.\n\n"
    "Raises\n"
    "------\n"
    "ValueError\n"
    "    An extent is negative, or there are too many axes.\n"
    "TypeError\n"
    "    There is no such dtype.\n"
    "OutOfMemoryError\n"
    "    The device has no such memory.\n\n"
    "Examples\n"
    "--------\n"
    ">>> np.ndarray((2, 3), dtype=np.float32).shape\n"
    "(2, 3)";

static const PyType_Slot own_slots[] = {
    PY_SLOT(Py_tp_dealloc, ndarray_dealloc),
    PY_SLOT(Py_tp_new, ndarray_make),
    {Py_tp_doc, (void *)(uintptr_t)ndarray_doc},
    PY_SLOT(Py_tp_repr, ndarray_repr),
    PY_SLOT(Py_tp_str, str),
    PY_SLOT(Py_am_await, ndarray_await),
    {Py_tp_getset, attributes},
    {Py_tp_members, members},
    PY_SLOT(Py_mp_subscript, py_subscript),
    PY_SLOT(Py_mp_ass_subscript, py_ass_subscript),
    PY_SLOT(Py_bf_getbuffer, py_getbuffer),
    PY_SLOT(Py_bf_releasebuffer, py_releasebuffer),
    {0, NULL},
};

/* What arrays have beside it, and NumPy's scalars lack: they are containers. */
static PyMethodDef container_methods[] = {
    {"__new__", PY_FAST(py_new_array), METH_VARARGS | METH_KEYWORDS | METH_STATIC | METH_COEXIST,
     NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot container_slots[] = {
    PY_SLOT(Py_tp_dealloc, ndarray_dealloc),
    PY_SLOT(Py_tp_new, ndarray_make),
    {Py_tp_doc, (void *)(uintptr_t)ndarray_doc},
    PY_SLOT(Py_tp_iter, iterate),
    PY_SLOT(Py_mp_length, ndarray_length),
    PY_SLOT(Py_sq_length, ndarray_length),
    PY_SLOT(Py_sq_item, py_item),
    PY_SLOT(Py_mp_subscript, py_subscript), /* else __getitem__ would be sq_item's */
    PY_SLOT(Py_sq_contains, contains),
    {Py_tp_methods, container_methods},
    {0, NULL},
};

/* ---- collecting the type's parts ---- */

static PyMethodDef methods[160];
static PyType_Slot slots[96];

void
py_gather(const py_table *t, PyMethodDef *const *parts, size_t nparts,
          const PyGetSetDef *const *fields, size_t nfields, const PyType_Slot *const *rows,
          size_t nrows)
{
    size_t n = 0;

    for (size_t i = 0; i < nparts; i++)
        for (const PyMethodDef *m = parts[i]; m->ml_name; m++) {
            TD_ASSERT(n + 1 < t->nmethods);
            t->methods[n++] = *m;
        }
    n = 0;
    for (size_t i = 0; i < nfields; i++)
        for (const PyGetSetDef *g = fields[i]; g->name; g++) {
            TD_ASSERT(n + 1 < t->nattributes);
            t->attributes[n++] = *g;
        }
    n = 0;
    for (size_t i = 0; i < nrows; i++)
        for (const PyType_Slot *s = rows[i]; s->slot; s++) {
            TD_ASSERT(n + 2 < t->nslots);
            t->slots[n++] = *s;
        }
    t->slots[n] = (PyType_Slot){Py_tp_methods, t->methods};
}

static void
ndarray_gather(void)
{
    PyMethodDef *const parts[] = {py_value_methods,   py_shape_methods,  py_reduce_methods,
                                  py_interop_methods, py_dlpack_methods, py_numba_methods,
                                  py_member_methods};
    const PyGetSetDef *const fields[] = {own_attributes, py_member_attributes};
    const PyType_Slot *const rows[] = {own_slots, py_number_slots};

    py_gather(&(py_table){methods, sizeof methods / sizeof *methods, attributes,
                          sizeof attributes / sizeof *attributes, slots,
                          sizeof slots / sizeof *slots},
              parts, sizeof parts / sizeof *parts, fields, sizeof fields / sizeof *fields, rows,
              sizeof rows / sizeof *rows);
}

/* Two types: a number is no ndarray for isinstance, as NumPy's scalars are none, but has all that arrays have but the
 * container's methods. The package's own code knows the base as ndarray. */
bool
py_ndarray_init(PyObject *m)
{
    static PyType_Spec base = {
        .name = "treadle.ndarray",
        .basicsize = sizeof(py_ndarray),
        .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
        .slots = slots,
    };
    static PyType_Spec spec = {
        .name = "treadle.ndarray",
        .basicsize = sizeof(py_ndarray),
        .flags = Py_TPFLAGS_DEFAULT,
        .slots = container_slots,
    };

    PyObject *priority = PyFloat_FromDouble(100);
    bool ok;

    ndarray_gather();
    py.base = (PyTypeObject *)PyType_FromSpec(&base);
    py.ndarray =
        py.base ? (PyTypeObject *)PyType_FromSpecWithBases(&spec, (PyObject *)py.base) : NULL;
    ok = priority && py.ndarray && py_class_of_arrays(py.ndarray) &&
         PyObject_SetAttrString((PyObject *)py.base, "__array_priority__", priority) == 0 &&
         PyObject_SetAttrString((PyObject *)py.ndarray, "__hash__", Py_None) == 0;
    Py_XDECREF(priority);
    return ok && PyModule_AddObjectRef(m, "ndarray", (PyObject *)py.base) == 0 &&
           PyModule_AddObjectRef(m, "ndarray_of_programs", (PyObject *)py.ndarray) == 0;
}
