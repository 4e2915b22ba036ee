/* create.c - functions that make arrays. */
#include "python/common/py.h"

#include <string.h>

#define FAST_KW (METH_FASTCALL | METH_KEYWORDS)

static bool
create_want_array(const char *fn, PyObject *o)
{
    if (!py_is_array(o))
        PyErr_Format(PyExc_TypeError, "%s: expected treadle.ndarray, not %R", fn,
                     (PyObject *)Py_TYPE(o));
    return py_is_array(o);
}

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
    if (nargs != 6 || !create_want_array("_like", args[0]))
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
    if (nargs != 2 || !create_want_array("_fill_cast", args[0]))
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

/* ---- the core's functions that the package builds on ---- */

static PyObject *
broadcast_to(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    py_ndarray *r;
    PyObject *made;
    td_shape s, checked;

    (void)module;
    if (nargs != 2 || !create_want_array("broadcast_to", args[0]) || !py_shape(args[1], &s) ||
        !py_ok(td_shape_make(s.ndim, s.dim, &checked)))
        return NULL;
    r = py_new();
    made = r ? py_view_done(args[0], r, td_array_broadcast(py_array_of(args[0]), &checked, &r->a))
             : NULL;
    if (made)
        ((py_ndarray *)made)->readonly = true;
    return made;
}

static PyObject *
create_take(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    td_array index;
    py_ndarray *r;
    td_status st;
    int axis;

    (void)module;
    if (nargs != 3 || !create_want_array("take", args[0]))
        return NULL;
    axis = (int)PyLong_AsLong(args[2]);
    if (PyErr_Occurred())
        return NULL;
    if (py_is_array(args[1]) && !py_ok(td_one_device("take", td_array_dev(py_array_of(args[0])),
                                                     td_array_dev(py_array_of(args[1])))))
        return NULL;
    if (!py_asarray(args[1], TD_I64, td_array_dev(py_array_of(args[0])), &index))
        return NULL;
    r = py_new();
    st = r ? td_array_take(py_array_of(args[0]), &index, axis, &r->a) : TD_OK;
    td_array_unref(&index);
    return r ? py_done(r, st) : NULL;
}

static PyObject *
product(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    py_ndarray *r;

    (void)module;
    if (nargs != 2 || !create_want_array("matmul", args[0]) ||
        !create_want_array("matmul", args[1]))
        return NULL;
    r = py_new();
    return r ? py_done(r, td_array_matmul(py_array_of(args[0]), py_array_of(args[1]), &r->a))
             : NULL;
}

PyObject *
py_fused_product(PyObject *x, PyObject *y)
{
    py_ndarray *r;

    if (!py_is_array(x) || !py_is_array(y) ||
        td_array_dev(py_array_of(x)) != td_array_dev(py_array_of(y)) ||
        !td_matmul_fuses(py_array_of(x), py_array_of(y)))
        return Py_NewRef(Py_None);
    r = py_new();
    return r ? py_done(r, td_array_matmul(py_array_of(x), py_array_of(y), &r->a)) : NULL;
}

/* a @ b if the graph computes it; None: a library is better at it, or the operands are not arrays */
static PyObject *
fused_product(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    (void)module;
    if (nargs == 2)
        return py_fused_product(args[0], args[1]);
    PyErr_SetString(PyExc_TypeError, "_fused_product: expected two operands");
    return NULL;
}

/* _on_host(a): are a's elements still on the host, or does a depend on such elements? */
static PyObject *
on_host(PyObject *module, PyObject *o)
{
    (void)module;
    return create_want_array("on_host", o) ? PyBool_FromLong(td_array_hosted(py_array_of(o)))
                                           : NULL;
}

static PyObject *
host_view(PyObject *module, PyObject *o)
{
    (void)module;
    return create_want_array("host_view", o) ? py_host_view(py_array_of(o), false) : NULL;
}

/* Are both views of one storage?  Nothing is computed. */
static PyObject *
same_storage(PyObject *module, PyObject *args)
{
    PyObject *a, *b;

    (void)module;
    if (!PyArg_ParseTuple(args, "OO:_same_storage", &a, &b) ||
        !create_want_array("same_storage", a) || !create_want_array("same_storage", b))
        return NULL;
    return PyBool_FromLong(py_array_of(a)->store == py_array_of(b)->store);
}

/* May code outside write to o's memory?  Not while recorded operations still read it. */
static PyObject *
is_exclusive(PyObject *module, PyObject *o)
{
    td_buf *buf;
    td_view v;
    td_node *n;

    (void)module;
    if (!create_want_array("is_exclusive", o) ||
        !py_ok(td_array_memory(py_array_of(o), false, &buf, &v)))
        return NULL;
    n = py_array_of(o)->store->node;
    return PyBool_FromLong((atomic_load(&buf->flags) & TD_BUF_SHARED) ||
                           (n && n->refs == 1 && n->buf == buf && atomic_load(&buf->refs) == 1));
}

static PyObject *
assign_where(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    td_array *a, own;
    td_operand x;
    td_status st;

    (void)module;
    if (nargs != 3 || !create_want_array("assign_where", args[0]) ||
        !create_want_array("assign_where", args[1]))
        return NULL;
    a = py_array_of(args[0]);
    if (!py_writable((py_ndarray *)args[0]) ||
        !py_value(args[2], td_array_dtype(a), td_array_dev(a), &x, &own))
        return NULL;
    st = td_array_assign_where(a, py_array_of(args[1]), &x);
    if (own.store)
        td_array_unref(&own);
    return st ? py_raise(st) : Py_NewRef(Py_None);
}

static PyObject *
evaluate(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    enum { BATCH = 32 };
    const td_array *a[BATCH];

    (void)module;
    if (nargs == 0)
        return py_ok(td_eval_all()) && py_warn() ? Py_NewRef(Py_None) : NULL;
    for (Py_ssize_t i = 0; i < nargs; i += BATCH) {
        int n = 0;

        for (; n < BATCH && i + n < nargs; n++) {
            if (!create_want_array("evaluate", args[i + n]))
                return NULL;
            a[n] = py_array_of(args[i + n]);
        }
        if (!py_ok(td_array_eval(a, n)))
            return NULL;
    }
    return py_warn() ? Py_NewRef(Py_None) : NULL;
}

static PyObject *
asnumpy(PyObject *module, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    static const char *const names[] = {"a", "stream", "order", "out", NULL};
    PyObject *arg[4], *host, *r;
    char order[2] = {0};

    (void)module;
    if (!py_parse("asnumpy", names, 1, 4, args, nargs, kwnames, arg))
        return NULL;
    if (!py_order(arg[2], 'C') || !py_numpy())
        return NULL;
    if (!py_is_none(arg[3])) {
        r = PyObject_CallMethod(arg[3], "__setitem__", "OO", Py_Ellipsis, arg[0]);
        Py_XDECREF(r);
        return r ? Py_NewRef(arg[3]) : NULL;
    }
    host = py_is_array(arg[0]) ? py_get(arg[0]) : Py_NewRef(arg[0]);
    order[0] = py_is_array(arg[0]) ? py_order(arg[2], 'C') : py_order(arg[2], 'K');
    r = host ? PyObject_CallMethod(py.numpy, "asarray", "OOs", host, Py_None, order) : NULL;
    Py_XDECREF(host);
    return r;
}

static PyObject *
bfloat16(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    return py_dtype_object(TD_BF16);
}

PyMethodDef py_create_functions[] = {
    {"_bfloat16", bfloat16, METH_NOARGS, NULL},
    {"array", PY_FAST(create_array), FAST_KW,
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
    {"asarray", PY_FAST(asarray), FAST_KW,
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
    {"empty", PY_FAST(empty), FAST_KW,
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
    {"zeros", PY_FAST(zeros), FAST_KW,
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
    {"ones", PY_FAST(ones), FAST_KW,
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
    {"full", PY_FAST(full), FAST_KW,
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
    {"arange", PY_FAST(py_arange), FAST_KW,
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
    {"asnumpy", PY_FAST(asnumpy), FAST_KW,
     "asnumpy($module, /, a, stream=None, order='C', out=None)\n--\n\n"
     "The values on the host.\n\n"
     "Parameters\n"
     "----------\n"
     "a : array_like\n"
     "    The array.\n"
     "stream : Stream, optional\n"
     "    The stream that copies; None means the default one.\n"
     "order : {\"C\", \"F\", \"A\", \"K\"}, default 'C'\n"
     "    Order of the elements in the result.\n"
     "out : ndarray, optional\n"
     "    Takes the result and is returned: an array of treadle's or NumPy's with\n"
     "    the result's shape.\n\n"
     "Returns\n"
     "-------\n"
     "numpy.ndarray\n"
     "    Of a's shape and dtype, with memory of its own.\n\n"
     "Examples\n"
     "--------\n"
     ">>> type(np.asnumpy(np.ones(2))).__module__\n"
     "'numpy'"},
    {"evaluate", PY_FAST(evaluate), METH_FASTCALL,
     "evaluate($module, /, *arrays)\n--\n\n"
     "Launch recorded work, and do not wait for it.\n\n"
     "Parameters\n"
     "----------\n"
     "*arrays : ndarray\n"
     "    The arrays whose values are wanted; none means all pending ones.\n\n"
     "Raises\n"
     "------\n"
     "TypeError\n"
     "    An argument is no treadle array.\n\n"
     "Examples\n"
     "--------\n"
     ">>> x = np.ones(3) + 1\n"
     ">>> np.evaluate(x)"},
    {"_fill_cast", PY_FAST(fill_like), METH_FASTCALL, NULL},
    {"_like", PY_FAST(filled_like), METH_FASTCALL, NULL},
    {"_broadcast_to", PY_FAST(broadcast_to), METH_FASTCALL, NULL},
    {"_take", PY_FAST(create_take), METH_FASTCALL, NULL},
    {"_beside", PY_FAST(py_beside), METH_FASTCALL, NULL},
    {"_matmul", PY_FAST(product), METH_FASTCALL, NULL},
    {"_fused_product", PY_FAST(fused_product), METH_FASTCALL, NULL},
    {"_host_view", host_view, METH_O, NULL},
    {"_on_host", on_host, METH_O, NULL},
    {"_is_exclusive", is_exclusive, METH_O, NULL},
    {"_same_storage", same_storage, METH_VARARGS, NULL},
    {"_assign_where", PY_FAST(assign_where), METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL},
};
