/* fill.c - new arrays of a shape: empty, zeros, ones, full and their kin, and filling of arrays as copyto does. */
#include "python/common/py.h"

#define FAST_KW (METH_FASTCALL | METH_KEYWORDS)

/* order= of a function whose array is made from no other; 0: raised. */
static char
plain_order(PyObject *o)
{
    char order = py_order(o, 'C');

    if (order == 'A' || order == 'K') {
        PyErr_SetString(PyExc_ValueError, "only 'C' or 'F' order is permitted");
        return 0;
    }
    return order;
}

/* A new array with that layout; value NULL: empty. */
static PyObject *
laid(td_dev *dev, td_dtype dt, const td_view *layout, const td_scalar *value)
{
    py_ndarray *r = py_new();

    if (!r)
        return NULL;
    r->made = true;
    return py_done(r, value ? td_array_full_as(dev, dt, layout, *value, &r->a)
                            : py_empty_as(dev, dt, layout, &r->a));
}

/* Arguments of zeros, ones, empty and full; value NULL: empty. */
static PyObject *
create_filled(PyObject *shape, PyObject *dtype, int dflt, PyObject *order, PyObject *device,
              const td_scalar *value)
{
    char letter = plain_order(order);
    td_shape s, checked;
    td_view layout;
    td_dev *dev;
    int dt;

    if (!letter || !py_shape(shape, &s) || !py_ok(td_shape_make(s.ndim, s.dim, &checked)) ||
        !py_dtype_or(dtype, dflt, &dt) || !py_device(device, &dev))
        return NULL;
    layout = py_layout(NULL, &checked, letter);
    return laid(dev, (td_dtype)dt, &layout, value);
}

/* _like(a, dtype, order, shape, device, value): zeros_like and its kin; value None: empty. */
static PyObject *
filled_like(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    td_shape s, checked;
    td_scalar number;
    td_view layout;
    const td_array *a;
    td_dev *dev;
    char order, weak;
    int dt;

    (void)module;
    if (nargs != 6 || !py_want_array("_like", args[0]))
        return NULL;
    a = py_array_of(args[0]);
    dev = td_array_dev(a);
    s = a->view.shape;
    if (!(order = py_order(args[2], 'K')) || (args[3] != Py_None && !py_shape(args[3], &s)) ||
        !py_ok(td_shape_make(s.ndim, s.dim, &checked)) ||
        !py_dtype_or(args[1], (int)td_array_dtype(a), &dt) ||
        (args[4] != Py_None && !py_device(args[4], &dev)) ||
        (args[5] != Py_None && py_number(args[5], &number, &weak) <= 0))
        return NULL;
    layout = py_layout(&a->view, &checked, order);
    return laid(dev, (td_dtype)dt, &layout, args[5] != Py_None ? &number : NULL);
}

static PyObject *
filled_function(const char *fn, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames,
                const td_scalar *value)
{
    static const char *const names[] = {"shape", "dtype", "order", "device", "like", NULL};
    PyObject *arg[5];

    return py_parse(fn, names, 1, 3, args, nargs, kwnames, arg)
               ? create_filled(arg[0], arg[1], TD_F64, arg[2], arg[3], value)
               : NULL;
}

static PyObject *
empty(PyObject *module, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    (void)module;
    return filled_function("empty", args, nargs, kwnames, NULL);
}

static PyObject *
zeros(PyObject *module, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    (void)module;
    return filled_function("zeros", args, nargs, kwnames, &(td_scalar){.dt = TD_I64, .i = 0});
}

static PyObject *
ones(PyObject *module, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    (void)module;
    return filled_function("ones", args, nargs, kwnames, &(td_scalar){.dt = TD_I64, .i = 1});
}

/* Fills `to` as copyto does: a Python integer must fit, everything else is cast. */
static bool
fill_cast(const td_array *to, PyObject *value, bool is_number, const td_operand *number)
{
    td_dtype dt = td_array_dtype(to);
    td_operand x = *number;
    td_array own = {.store = NULL};
    bool ok;

    x.array = NULL;
    if (py_is_array(value))
        ok = py_value(value, dt, td_array_dev(to), &x, &own);
    else if (!is_number) {
        ok = py_asarray(value, py_is_word(value) ? (int)dt : -1, td_array_dev(to), &own) &&
             py_cast_warning(td_array_dtype(&own), dt);
        x.array = &own;
        x.weak = 0;
    } else if (x.weak == 'i')
        ok = py_int_fits(x.scalar, dt);
    else {
        x.weak = 0;
        ok = py_cast_warning(x.scalar.dt, dt);
    }
    ok = ok && py_ok(td_array_assign(to, &x));
    if (own.store)
        td_array_unref(&own);
    return ok;
}

/* _fill_cast(a, value) */
static PyObject *
fill_like(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    int is_number;
    td_operand x = {0};

    (void)module;
    if (nargs != 2 || !py_want_array("_fill_cast", args[0]))
        return NULL;
    is_number = py_is_array(args[1]) ? 0 : py_number(args[1], &x.scalar, &x.weak);
    return is_number >= 0 && fill_cast(py_array_of(args[0]), args[1], is_number > 0, &x)
               ? Py_NewRef(Py_None)
               : NULL;
}

static PyObject *
full(PyObject *module, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    static const char *const names[] = {"shape",  "fill_value", "dtype", "order",
                                        "device", "like",       NULL};
    PyObject *arg[6], *r;
    td_array own;
    td_operand x;
    int dt, is_number;

    (void)module;
    if (!py_parse("full", names, 2, 4, args, nargs, kwnames, arg) || !py_dtype_or(arg[2], -1, &dt))
        return NULL;
    is_number = py_is_array(arg[1]) ? 0 : py_number(arg[1], &x.scalar, &x.weak);
    if (is_number < 0)
        return NULL;
    if (is_number && dt < 0)
        return create_filled(arg[0], NULL, x.scalar.dt, arg[3], arg[4], &x.scalar);
    if (dt < 0) { /* the values' own dtype */
        if (!py_asarray(arg[1], -1, NULL, &own))
            return NULL;
        dt = (int)td_array_dtype(&own);
        td_array_unref(&own);
    }
    r = create_filled(arg[0], NULL, dt, arg[3], arg[4], NULL);
    if (r && !fill_cast(py_array_of(r), arg[1], is_number > 0, &x))
        Py_CLEAR(r);
    return r;
}

PY_ON_MESH(empty, empty)
PY_ON_MESH(zeros, zeros)
PY_ON_MESH(ones, ones)
PY_ON_MESH(full, full)

PyMethodDef py_fill_functions[] = {
    {"empty", PY_FAST(empty_anywhere), FAST_KW,
     "empty($module, /, shape, dtype=None, order='C', *, device=None, like=None)\n--\n\n"
     "An array whose values are not set.\n\n"
     "Parameters\n"
     "----------\n"
     "shape : int or tuple of ints\n"
     "    Extents.\n"
     "dtype : dtype, optional\n"
     "    Dtype; None means float64.\n"
     "order : {'C', 'F', 'A', 'K'}, default 'C'\n"
     "    Order of the elements in memory.\n"
     "device : device or str, optional\n"
     "    Where the array lies, as ``\"cpu\"`` or ``\"cuda:0\"``; None means the current\n"
     "    device.\n"
     "like : object, optional\n"
     "    Accepted for NumPy's signature; it changes nothing.\n\n"
     "Returns\n"
     "-------\n"
     "ndarray, shape shape\n"
     "    The values are what the memory held.\n\n"
     "Raises\n"
     "------\n"
     "ValueError\n"
     "    An extent is negative.\n"
     "OutOfMemoryError\n"
     "    The device has no such memory.\n\n"
     "Examples\n"
     "--------\n"
     ">>> np.empty((2, 3)).shape\n"
     "(2, 3)"},
    {"zeros", PY_FAST(zeros_anywhere), FAST_KW,
     "zeros($module, /, shape, dtype=None, order='C', *, device=None, like=None)\n--\n\n"
     "An array of zeros.\n\n"
     "Parameters\n"
     "----------\n"
     "shape : int or tuple of ints\n"
     "    Extents.\n"
     "dtype : dtype, optional\n"
     "    Dtype; None means float64.\n"
     "order : {'C', 'F', 'A', 'K'}, default 'C'\n"
     "    Order of the elements in memory.\n"
     "device : device or str, optional\n"
     "    Where the array lies, as ``\"cpu\"`` or ``\"cuda:0\"``; None means the current\n"
     "    device.\n"
     "like : object, optional\n"
     "    Accepted for NumPy's signature; it changes nothing.\n\n"
     "Returns\n"
     "-------\n"
     "ndarray, shape shape\n"
     "    Takes no memory before it is needed.\n\n"
     "Raises\n"
     "------\n"
     "ValueError\n"
     "    An extent is negative.\n\n"
     "Examples\n"
     "--------\n"
     ">>> np.zeros(3)\n"
     "array([0., 0., 0.])"},
    {"ones", PY_FAST(ones_anywhere), FAST_KW,
     "ones($module, /, shape, dtype=None, order='C', *, device=None, like=None)\n--\n\n"
     "An array of ones.\n\n"
     "Parameters\n"
     "----------\n"
     "shape : int or tuple of ints\n"
     "    Extents.\n"
     "dtype : dtype, optional\n"
     "    Dtype; None means float64.\n"
     "order : {'C', 'F', 'A', 'K'}, default 'C'\n"
     "    Order of the elements in memory.\n"
     "device : device or str, optional\n"
     "    Where the array lies, as ``\"cpu\"`` or ``\"cuda:0\"``; None means the current\n"
     "    device.\n"
     "like : object, optional\n"
     "    Accepted for NumPy's signature; it changes nothing.\n\n"
     "Returns\n"
     "-------\n"
     "ndarray, shape shape\n"
     "    Takes no memory before it is needed.\n\n"
     "Raises\n"
     "------\n"
     "ValueError\n"
     "    An extent is negative.\n\n"
     "Examples\n"
     "--------\n"
     ">>> np.ones(3, dtype=int)\n"
     "array([1, 1, 1])"},
    {"full", PY_FAST(full_anywhere), FAST_KW,
     "full($module, /, shape, fill_value, dtype=None, order='C', *, device=None, like=None)\n--\n\n"
     "An array of one value.\n\n"
     "Parameters\n"
     "----------\n"
     "shape : int or tuple of ints\n"
     "    Extents.\n"
     "fill_value : array_like\n"
     "    The value; an array broadcasts to the shape.\n"
     "dtype : dtype, optional\n"
     "    Dtype; None means the value's own.\n"
     "order : {'C', 'F', 'A', 'K'}, default 'C'\n"
     "    Order of the elements in memory.\n"
     "device : device or str, optional\n"
     "    Where the array lies, as ``\"cpu\"`` or ``\"cuda:0\"``; None means the current\n"
     "    device.\n"
     "like : object, optional\n"
     "    Accepted for NumPy's signature; it changes nothing.\n\n"
     "Returns\n"
     "-------\n"
     "ndarray, shape shape\n"
     "    Takes no memory before it is needed.\n\n"
     "Raises\n"
     "------\n"
     "ValueError\n"
     "    An extent is negative, or fill_value does not broadcast.\n\n"
     "Examples\n"
     "--------\n"
     ">>> np.full(3, 7)\n"
     "array([7, 7, 7])"},
    {"_fill_cast", PY_FAST(fill_like), METH_FASTCALL, NULL},
    {"_like", PY_FAST(filled_like), METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL},
};
