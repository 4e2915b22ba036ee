/* methods.c - methods of ndarray about its values: copies, conversions, single numbers. */
#include "python/common/py.h"

#include <string.h>

/* Copies of numbers are numbers, copies of arrays without axes are arrays. */
static py_ndarray *
new_like(PyObject *self)
{
    py_ndarray *r = py_new();

    if (r)
        r->made = !py_is_number((py_ndarray *)self);
    return r;
}

/* The method of NumPy's array after a refusal of ours. */
static PyObject *
method_of_numpy(const char *name, PyObject *self, PyObject *const *args, Py_ssize_t nargs,
                PyObject *kwnames)
{
    PyObject *text = PyErr_ExceptionMatches(py.no_numbers) ? PyUnicode_FromString(name) : NULL,
             *f = text ? py_instead("method", text) : NULL,
             *r = f ? py_call_with(f, self, args, nargs, kwnames) : NULL;

    Py_XDECREF(f);
    Py_XDECREF(text);
    return r;
}

static PyObject *
astype(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    static const char *const names[] = {"dtype", "order", "casting", "subok", "copy", NULL};
    PyObject *arg[5];
    td_array *a = py_array_of(self);
    const char *casting = "unsafe";
    py_ndarray *r;
    td_dtype dt;
    td_view layout;
    bool copy;
    char order;

    if (!py_parse("astype", names, 1, 5, args, nargs, kwnames, arg))
        return NULL;
    if (!py_dtype(arg[0], &dt))
        return method_of_numpy("astype", self, args, nargs, kwnames);
    if (!py_flag(arg[4], true, &copy) || !(order = py_order(arg[1], 'K')))
        return NULL;
    if (arg[2] && !(casting = PyUnicode_AsUTF8AndSize(arg[2], NULL)))
        return NULL;
    if (!td_can_cast(td_array_dtype(a), dt,
                     strcmp(casting, "same_kind") == 0 ? 'k'
                     : casting[0] == 's'               ? 's'
                                                       : 'u')) {
        PyErr_Format(PyExc_TypeError,
                     "Cannot cast array data from %s to %s according to the rule '%s'",
                     td_dtype_name(td_array_dtype(a)), td_dtype_name(dt), casting);
        return NULL;
    }
    if (!copy && dt == td_array_dtype(a) && py_is_laid(&a->view, order))
        return Py_NewRef(self);
    if (!py_cast_warning(td_array_dtype(a), dt))
        return NULL;
    layout = py_layout(&a->view, &a->view.shape, order);
    r = new_like(self);
    return r ? py_done(r, td_array_cast_as(a, dt, &layout, &r->a)) : NULL;
}

static PyObject *
ndarray_view(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    static const char *const names[] = {"dtype", "type", NULL};
    PyObject *arg[2];
    py_ndarray *r;
    int dt;

    if (!py_parse("view", names, 0, 2, args, nargs, kwnames, arg))
        return NULL;
    if (arg[0] == (PyObject *)py.ndarray)
        arg[0] = NULL;
    if (arg[1] && arg[1] != (PyObject *)py.ndarray && arg[1] != Py_None) {
        PyErr_SetString(py.no_numbers, "view: type is no class of treadle's");
        return method_of_numpy("view", self, args, nargs, kwnames);
    }
    if (!py_dtype_or(arg[0], (int)td_array_dtype(py_array_of(self)), &dt))
        return method_of_numpy("view", self, args, nargs, kwnames);
    r = py_new();
    return r ? py_view_done(self, r, td_array_retype(py_array_of(self), (td_dtype)dt, &r->a))
             : NULL;
}

static PyObject *
ndarray_copy(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    static const char *const names[] = {"order", NULL};
    const td_array *a = py_array_of(self);
    td_view layout;
    PyObject *arg[1];
    py_ndarray *r;
    char order;

    if (!py_parse("copy", names, 0, 1, args, nargs, kwnames, arg) ||
        !(order = py_order(arg[0], 'C')))
        return NULL;
    r = new_like(self);
    if (!r)
        return NULL;
    if (order == 'C' || (order != 'F' && td_view_is_contiguous(&a->view)))
        return py_done(r, td_array_copy(a, &r->a));
    layout = py_layout(&a->view, &a->view.shape, order);
    return py_done(r, td_array_cast_as(a, td_array_dtype(a), &layout, &r->a));
}

static PyObject *
deepcopy(PyObject *self, PyObject *memo)
{
    (void)memo;
    return ndarray_copy(self, NULL, 0, NULL);
}

/* get() with CuPy's parameters: calls treadle._exchange._transfer. */
static PyObject *
get_into(PyObject *self, PyObject *const *arg, bool blocking)
{
    PyObject *f = py_package("treadle._exchange._transfer", "get_into"), *r = NULL;

    if (f)
        r = PyObject_CallFunction(f, "OOOOO", self, py_is_none(arg[0]) ? Py_None : arg[0],
                                  py_is_none(arg[1]) ? Py_None : arg[1],
                                  py_is_none(arg[2]) ? Py_None : arg[2],
                                  blocking ? Py_True : Py_False);
    Py_XDECREF(f);
    return r;
}

static PyObject *
ndarray_get(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    static const char *const names[] = {"stream", "order", "out", "blocking", NULL};
    PyObject *arg[4];
    bool blocking;

    if (nargs == 0 && !kwnames)
        return py_get(self);
    if (!py_parse("get", names, 0, 3, args, nargs, kwnames, arg) ||
        !py_flag(arg[3], true, &blocking))
        return NULL;
    if (py_is_none(arg[0]) && py_is_none(arg[1]) && py_is_none(arg[2]))
        return blocking ? py_get(self) : py_get_later(self);
    return get_into(self, arg, blocking);
}

static PyObject *
to_device(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    static const char *const names[] = {"device", "stream", NULL};
    PyObject *arg[2];
    py_ndarray *r;
    td_dev *dev;

    if (!py_parse("to_device", names, 1, 1, args, nargs, kwnames, arg) || !py_device(arg[0], &dev))
        return NULL;
    if (!py_is_none(arg[1])) {
        PyErr_SetString(PyExc_ValueError, "to_device: arrays are copied on the default stream");
        return NULL;
    }
    if (dev == td_array_dev(py_array_of(self)))
        return Py_NewRef(self);
    r = py_new();
    if (r && !py_to_device(py_array_of(self), -1, dev, &r->a)) {
        r->a.store = NULL;
        Py_CLEAR(r);
    }
    return (PyObject *)r;
}

static bool
not_one_number(PyObject *error, PyObject *value)
{
    PyErr_Format(error, "fill: setting an array element with a sequence, %R",
                 (PyObject *)Py_TYPE(value));
    return false;
}

static PyObject *
ndarray_fill(PyObject *self, PyObject *value)
{
    td_array *a = py_array_of(self), own;
    td_operand x;
    bool ok;

    if (!py_writable((py_ndarray *)self))
        return NULL;
    if (PyList_Check(value) || PyTuple_Check(value)) {
        not_one_number(td_dtype_is_int(td_array_dtype(a)) ? PyExc_TypeError : PyExc_ValueError,
                       value);
        return NULL;
    }
    if (!py_stored(value, td_array_dtype(a), td_array_dev(a), &x, &own))
        return NULL;
    ok = !x.array || x.array->view.shape.ndim == 0 || not_one_number(PyExc_ValueError, value);
    ok = ok && py_ok(td_array_assign(a, &x));
    if (own.store)
        td_array_unref(&own);
    return ok ? Py_NewRef(Py_None) : NULL;
}

static PyObject *
only_element(PyObject *self)
{
    td_scalar s;

    if (td_array_size(py_array_of(self)) != 1) {
        PyErr_SetString(PyExc_ValueError, "can only convert an array of size 1 to a Python scalar");
        return NULL;
    }
    return py_read_scalar(py_array_of(self), &s) ? py_scalar_object(s) : NULL;
}

static PyObject *
as_complex(PyObject *self, PyObject *unused)
{
    PyObject *n = only_element(self), *r;

    (void)unused;
    if (!n && PyErr_ExceptionMatches(PyExc_ValueError))
        PyErr_SetString(PyExc_TypeError,
                        "only 0-dimensional arrays can be converted to Python scalars");
    r = n ? PyObject_CallFunctionObjArgs((PyObject *)&PyComplex_Type, n, NULL) : NULL;
    Py_XDECREF(n);
    return r;
}

static PyObject *
ndarray_item(PyObject *self, PyObject *const *args, Py_ssize_t nargs)
{
    PyObject *key, *flat = NULL, *one, *r = NULL;

    if (nargs == 0)
        return only_element(self);
    key = nargs == 1 ? Py_NewRef(args[0]) : PyTuple_New(nargs);
    for (Py_ssize_t i = 0; nargs > 1 && key && i < nargs; i++)
        PyTuple_SetItem(key, i, Py_NewRef(args[i]));
    if (key && !PyTuple_Check(key)) /* a single index counts elements in C order */
        flat = PyObject_CallMethod(self, "reshape", "i", -1);
    else
        flat = Py_NewRef(self);
    one = key && flat ? PyObject_GetItem(flat, key) : NULL;
    if (one)
        r = py_is_array(one) ? only_element(one) : NULL;
    Py_XDECREF(one);
    Py_XDECREF(flat);
    Py_XDECREF(key);
    return r;
}

static PyObject *
tolist(PyObject *self, PyObject *unused)
{
    PyObject *host = py_get_as(self, TD_F32), /* NumPy itself has no bfloat16 */
        *r = host ? PyObject_CallMethod(host, "tolist", NULL) : NULL;

    (void)unused;
    Py_XDECREF(host);
    return r;
}

static PyObject *
tobytes(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    static const char *const names[] = {"order", NULL};
    PyObject *arg[1], *host, *r;

    if (!py_parse("tobytes", names, 0, 1, args, nargs, kwnames, arg))
        return NULL;
    host = py_get_as(self, TD_U16);
    r = host ? PyObject_CallMethod(host, "tobytes", "O", arg[0] ? arg[0] : Py_None) : NULL;
    Py_XDECREF(host);
    return r;
}

static PyObject *
array_namespace(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    static const char *const names[] = {"api_version", NULL};
    static const char *const versions[] = {"2021.12", "2022.12", "2023.12", "2024.12"};
    PyObject *arg[1];

    (void)self;
    if (!py_parse("__array_namespace__", names, 0, 0, args, nargs, kwnames, arg))
        return NULL;
    for (size_t i = 0; !py_is_none(arg[0]) && i <= sizeof versions / sizeof *versions; i++) {
        if (i == sizeof versions / sizeof *versions) {
            PyErr_Format(PyExc_ValueError,
                         "Version \"%S\" of the Array API Standard is not supported.", arg[0]);
            return NULL;
        }
        if (py_is_text(arg[0], versions[i]))
            break;
    }
    return PyImport_ImportModule("treadle");
}

static PyObject *
format(PyObject *self, PyObject *spec)
{
    PyObject *n, *r;

    if (py_array_of(self)->view.shape.ndim) {
        if (py_is_text(spec, ""))
            return PyObject_Str(self);
        PyErr_SetString(PyExc_TypeError,
                        "unsupported format string passed to treadle.ndarray.__format__");
        return NULL;
    }
    n = only_element(self);
    r = n ? PyObject_Format(n, spec) : NULL;
    Py_XDECREF(n);
    return r;
}

/* Pickles by the package's function of that name. */
static PyObject *
ndarray_reduce(PyObject *self, PyObject *protocol)
{
    PyObject *f = py_package("treadle._exchange._pickle", "reduce"),
             *r = f ? PyObject_CallFunctionObjArgs(f, self, protocol, NULL) : NULL;

    Py_XDECREF(f);
    return r;
}

/* round(x), round(x, digits): what NumPy's real scalars can, bools and arrays cannot. */
static PyObject *
rounded(PyObject *self, PyObject *const *args, Py_ssize_t nargs)
{
    bool digits = nargs && args[0] != Py_None;
    td_dtype dt = td_array_dtype(py_array_of(self));
    PyObject *n, *r;

    if (!py_is_number((py_ndarray *)self) || nargs > 1 || dt == TD_BOOL || td_dtype_is_complex(dt))
        return PyErr_Format(PyExc_TypeError, "type %s doesn't define __round__ method",
                            "treadle.ndarray");
    if (digits)
        return PyObject_CallMethod(self, "round", "O", args[0]);
    n = only_element(self);
    r = n ? PyObject_CallMethod(n, "__round__", NULL) : NULL;
    Py_XDECREF(n);
    return r;
}

/* math.trunc(x): of numbers, as round. */
static PyObject *
truncated(PyObject *self, PyObject *unused)
{
    PyObject *n, *r;

    (void)unused;
    if (!py_is_number((py_ndarray *)self))
        return PyErr_Format(PyExc_TypeError, "type %s doesn't define __trunc__ method",
                            "treadle.ndarray");
    n = only_element(self);
    r = n ? PyObject_CallMethod(n, "__trunc__", NULL) : NULL;
    Py_XDECREF(n);
    return r;
}

/* What sqlite3 stores: of numbers Python's number, of arrays (None) the bytes. */
static PyObject *
conform(PyObject *self, PyObject *protocol)
{
    (void)protocol;
    return py_is_number((py_ndarray *)self) ? only_element(self) : Py_NewRef(Py_None);
}

PyMethodDef py_value_methods[] = {
    {"astype", PY_FAST(astype), METH_FASTCALL | METH_KEYWORDS,
     "astype($self, /, dtype, order='K', casting='unsafe', subok=True, copy=True)\n--\n\n"
     "A copy in another dtype.\n\n"
     "Parameters\n"
     "----------\n"
     "dtype : dtype\n"
     "    The dtype.\n"
     "order : {'C', 'F', 'A', 'K'}, default 'K'\n"
     "    Order of the elements in memory.\n"
     "casting : str, default 'unsafe'\n"
     "    Which casts are allowed, by numpy.can_cast's names.\n"
     "subok : bool, default True\n"
     "    Accepted for NumPy's signature; treadle has no subclasses of its array.\n"
     "copy : bool, default True\n"
     "    False returns the array itself where nothing changes.\n\n"
     "Returns\n"
     "-------\n"
     "ndarray\n"
     "    Of the array's shape.\n\n"
     "Raises\n"
     "------\n"
     "TypeError\n"
     "    The rule does not allow the cast.\n\n"
     "Examples\n"
     "--------\n"
     ">>> np.asarray([1.7]).astype(int)\n"
     "array([1])"},
    {"view", PY_FAST(ndarray_view), METH_FASTCALL | METH_KEYWORDS,
     "view($self, /, dtype=None)\n--\n\n"
     "The same memory as elements of another dtype.\n\n"
     "Parameters\n"
     "----------\n"
     "dtype : dtype, optional\n"
     "    Dtype of the view; None keeps it.\n\n"
     "Returns\n"
     "-------\n"
     "ndarray\n"
     "    Its last axis changes where the size of an element does.\n\n"
     "Raises\n"
     "------\n"
     "ValueError\n"
     "    The size changes and the last axis' elements do not lie side by side, or\n"
     "    do not fill whole ones.\n\n"
     "Examples\n"
     "--------\n"
     ">>> np.ones(2, np.int32).view(np.int16).shape\n"
     "(4,)"},
    {"copy", PY_FAST(ndarray_copy), METH_FASTCALL | METH_KEYWORDS,
     "copy($self, /, order='C')\n--\n\n"
     "A copy with memory of its own.\n\n"
     "Parameters\n"
     "----------\n"
     "order : {'C', 'F', 'A', 'K'}, default 'C'\n"
     "    Order of the elements in memory.\n\n"
     "Returns\n"
     "-------\n"
     "ndarray\n"
     "    Of the array's shape and dtype.\n\n"
     "Examples\n"
     "--------\n"
     ">>> np.ones(2).copy()\n"
     "array([1., 1.])"},
    {"__copy__", PY_FAST(ndarray_copy), METH_FASTCALL | METH_KEYWORDS, NULL},
    {"__deepcopy__", deepcopy, METH_O, NULL},
    {"get", PY_FAST(ndarray_get), METH_FASTCALL | METH_KEYWORDS,
     "get($self, /, stream=None, order='C', out=None, blocking=True)\n--\n\n"
     "The values on the host.\n\n"
     "Parameters\n"
     "----------\n"
     "stream : Stream, optional\n"
     "    The stream that copies; None means the default one.\n"
     "order : {\"C\", \"F\", \"A\"}, default 'C'\n"
     "    Order of the elements in a new array.\n"
     "out : numpy.ndarray, optional\n"
     "    Takes the values and is returned: C- or Fortran-contiguous, of this shape\n"
     "    and dtype.\n"
     "blocking : bool, default True\n"
     "    False returns a concurrent.futures.Future at once, whose result() is the\n"
     "    array of the values as they are now.\n\n"
     "Returns\n"
     "-------\n"
     "numpy.ndarray or Future\n"
     "    Memory of its own, or out.\n\n"
     "Raises\n"
     "------\n"
     "ValueError\n"
     "    out has another shape or dtype.\n\n"
     "Examples\n"
     "--------\n"
     ">>> type(np.ones(2).get()).__module__\n"
     "'numpy'"},
    {"to_device", PY_FAST(to_device), METH_FASTCALL | METH_KEYWORDS,
     "to_device($self, device, /, *, stream=None)\n--\n\n"
     "The array itself if it lies on the device, else a copy there.\n\n"
     "Parameters\n"
     "----------\n"
     "device : device or str\n"
     "    The device.\n"
     "stream : None, optional\n"
     "    Copies are made on the default stream.\n\n"
     "Returns\n"
     "-------\n"
     "ndarray\n"
     "    Of the array's shape and dtype.\n\n"
     "Raises\n"
     "------\n"
     "ValueError\n"
     "    A stream is given.\n\n"
     "Examples\n"
     "--------\n"
     ">>> np.ones(2).to_device(\"cpu\").shape\n"
     "(2,)"},
    {"fill", ndarray_fill, METH_O,
     "fill($self, value, /)\n--\n\n"
     "Set every element to a value.\n\n"
     "Parameters\n"
     "----------\n"
     "value : number or array of size 1\n"
     "    The value, cast to the array's dtype.\n\n"
     "Raises\n"
     "------\n"
     "ValueError\n"
     "    The value is a sequence of several.\n\n"
     "Examples\n"
     "--------\n"
     ">>> a = np.zeros(2)\n"
     ">>> a.fill(3)\n"
     ">>> a\n"
     "array([3., 3.])"},
    {"item", PY_FAST(ndarray_item), METH_FASTCALL,
     "item($self, /, *index)\n--\n\n"
     "One element as a Python number.\n\n"
     "Parameters\n"
     "----------\n"
     "*index : int or tuple of ints\n"
     "    Its place, in the flattened array where there is one int; none where the\n"
     "    array has one element.\n\n"
     "Returns\n"
     "-------\n"
     "bool, int, float or complex\n"
     "    On the host.\n\n"
     "Raises\n"
     "------\n"
     "ValueError\n"
     "    There is no index, and not one element.\n"
     "IndexError\n"
     "    An index lies outside.\n\n"
     "Examples\n"
     "--------\n"
     ">>> np.asarray([1, 2]).item(1)\n"
     "2"},
    {"tolist", tolist, METH_NOARGS,
     "tolist($self, /)\n--\n\n"
     "Nested lists of Python numbers.\n\n"
     "Returns\n"
     "-------\n"
     "list or number\n"
     "    As deeply nested as the array has axes.\n\n"
     "Examples\n"
     "--------\n"
     ">>> np.asarray([[1, 2], [3, 4]]).tolist()\n"
     "[[1, 2], [3, 4]]"},
    {"tobytes", PY_FAST(tobytes), METH_FASTCALL | METH_KEYWORDS,
     "tobytes($self, /, order='C')\n--\n\n"
     "The elements as bytes.\n\n"
     "Parameters\n"
     "----------\n"
     "order : {\"C\", \"F\", \"A\"}, default 'C'\n"
     "    The order in which elements are read; None means C.\n\n"
     "Returns\n"
     "-------\n"
     "bytes\n"
     "    On the host.\n\n"
     "Examples\n"
     "--------\n"
     ">>> np.asarray([1], dtype=np.uint8).tobytes()\n"
     "b'\\x01'"},
    {"__array_namespace__", PY_FAST(array_namespace), METH_FASTCALL | METH_KEYWORDS,
     "__array_namespace__($self, /, *, api_version=None)\n--\n\n"
     "The module treadle, for programs of the array API standard."},
    {"__complex__", as_complex, METH_NOARGS, NULL},
    {"__format__", format, METH_O, NULL},
    {"__round__", PY_FAST(rounded), METH_FASTCALL, NULL},
    {"__trunc__", truncated, METH_NOARGS, NULL},
    {"__conform__", conform, METH_O, NULL},
    {"__reduce_ex__", ndarray_reduce, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};
