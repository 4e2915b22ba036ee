/* proxymethods.c - methods and attributes of proxies: NumPy's for its arrays, treadle's for its own, and what libraries
 * ask an array-like object.
 */
#include "python/unchanged/proxy.h"

#include <string.h>

enum { FAR, TIES, SEES, HOST, WRITES, OWNS };
enum { ARGS = 16 };

typedef enum px_method {
#define METHOD(name, how) M_##name,
#include "python/unchanged/proxymethods.def"
    PX_METHODS
} px_method;

static struct row {
    const char *name;
    int how;
    PyObject *near, *far; /* NumPy's and treadle's descriptors; far may be NULL */
} rows[] = {
#define METHOD(name, how) {#name, how, NULL, NULL},
#include "python/unchanged/proxymethods.def"
};

/* ---- calls ---- */

/* f(head, *args): args come unwrapped by `how`; NULL: exception. */
static PyObject *
call(PyObject *f, PyObject *head, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames,
     PyObject *(*how)(PyObject *))
{
    Py_ssize_t n = nargs + (kwnames ? PyTuple_Size(kwnames) : 0), i;
    PyObject *buf[ARGS + 1], *r = NULL;

    if (n > ARGS) {
        PyErr_SetString(PyExc_TypeError, "too many arguments");
        return NULL;
    }
    buf[0] = head;
    for (i = 0; i < n && (buf[i + 1] = how(args[i])); i++)
        ;
    if (i == n)
        r = px_vectorcall(f, buf, nargs + 1, kwnames);
    while (i > 0)
        Py_DECREF(buf[i--]);
    return r;
}

/* Results that are one of the arguments, as out=, are the caller's own object. */
static PyObject *
own_result(PyObject *r, PyObject *self, PyObject *const *args, Py_ssize_t n)
{
    for (Py_ssize_t i = -1; r && i < n; i++) {
        PyObject *o = i < 0 ? self : args[i];

        if (px_is(o) && (((py_proxy *)o)->held == r || ((py_proxy *)o)->host == r)) {
            Py_DECREF(r);
            return Py_NewRef(o);
        }
    }
    return px_result(r, self);
}

static PyObject *
host_call(const struct row *row, PyObject *self, PyObject *const *args, Py_ssize_t nargs,
          PyObject *kwnames)
{
    Py_ssize_t n = nargs + (kwnames ? PyTuple_Size(kwnames) : 0);
    PyObject *host = px_host(self), *r;

    if (!host)
        return NULL;
    r = call(row->near, host, args, nargs, kwnames, px_plain);
    if (r && row->how == WRITES && !px_back(self, host))
        Py_CLEAR(r);
    r = own_result(r, self, args, n);
    Py_DECREF(host);
    return r;
}

/* Where out= stands among the arguments; 0: the method has none. */
static const uint8_t out_at[PX_METHODS] = {
    [M_all] = 1,    [M_any] = 1, [M_argmax] = 1, [M_argmin] = 1,   [M_choose] = 1,
    [M_clip] = 2,   [M_max] = 1, [M_min] = 1,    [M_compress] = 2, [M_cumprod] = 2,
    [M_cumsum] = 2, [M_dot] = 1, [M_mean] = 2,   [M_prod] = 2,     [M_round] = 1,
    [M_std] = 2,    [M_sum] = 2, [M_take] = 2,   [M_trace] = 4,    [M_var] = 2,
};

static bool
has_out(px_method m, Py_ssize_t nargs, PyObject *kwnames)
{
    if (out_at[m] && nargs > out_at[m])
        return true;
    for (Py_ssize_t i = kwnames ? PyTuple_Size(kwnames) : 0; i-- > 0;)
        if (PyUnicode_CompareWithASCIIString(PyTuple_GetItem(kwnames, i), "out") == 0)
            return true;
    return false;
}

static PyObject *
far_call(const struct row *row, PyObject *self, PyObject *const *args, Py_ssize_t nargs,
         PyObject *kwnames)
{
    Py_ssize_t n = nargs + (kwnames ? PyTuple_Size(kwnames) : 0);
    PyObject *r = NULL;

    bool numpys = row->how == HOST || (row->how == TIES && px_on_cpu(px_held(self)));

    if (row->far && !numpys) {
        px_settle(self);
        r = call(row->far, ((py_proxy *)self)->held, args, nargs, kwnames, px_lifted);
        if (r && row->how == SEES && py_is_array(r) && !py_array_of(r)->view.shape.ndim) {
            PyObject *host = px_host(r);

            Py_DECREF(r);
            return px_new(host, self);
        }
        if (r)
            return own_result(r, self, args, n);
        if (!px_declined())
            return NULL;
    }
    r = host_call(row, self, args, nargs, kwnames);
    if (r && !numpys && !px_note(row->name, self))
        Py_CLEAR(r);
    return r;
}

static bool
any_far(PyObject *held, PyObject *const *args, Py_ssize_t n)
{
    bool far = py_is_array(held);

    for (Py_ssize_t i = 0; i < n; i++)
        far |= px_kind_of(args[i]) == PX_TREADLES || px_kind_of(args[i]) == PX_CHOICE;
    return far;
}

/* The function of the method's name: it knows which arrays a result may be written to. */
static PyObject *
call_with_out(const char *name, PyObject *self, PyObject *const *args, Py_ssize_t nargs,
              PyObject *kwnames)
{
    PyObject *f = PyObject_CallMethod(px.far, "method", "s", name),
             *r = f ? py_call_with(f, self, args, nargs, kwnames) : NULL;

    Py_XDECREF(f);
    return r;
}

static PyObject *
method(px_method m, PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    Py_ssize_t n = nargs + (kwnames ? PyTuple_Size(kwnames) : 0);
    PyObject *held, *r;
    int64_t since = px_clock();

    if (!n && px_is_chosen(self)) {
        r = px_reduce_chosen(self, rows[m].name);
        if (r || PyErr_Occurred())
            return r;
    }
    if (!px_take(self))
        return NULL;
    if (px_is_big(px_held(self)))
        px_settle(self);
    held = px_operand(self);
    if (!held)
        return NULL;
    if (has_out(m, nargs, kwnames) && any_far(held, args, n))
        return call_with_out(rows[m].name, self, args, nargs, kwnames);
    if (rows[m].how == OWNS && py_is_array(((py_proxy *)self)->held)) {
        if (!px_come_down(self))
            return NULL;
        return host_call(&rows[m], self, args, nargs, kwnames);
    }
    if (py_is_array(held))
        return far_call(&rows[m], self, args, nargs, kwnames);
    if (n)
        return px_seen(host_call(&rows[m], self, args, nargs, kwnames), rows[m].name, self, since);
    return px_seen(own_result(px_vectorcall(rows[m].near, &held, 1, NULL), self, args, 0),
                   rows[m].name, self, since);
}

#define METHOD(name, how)                                                                          \
    static PyObject *m_##name(PyObject *self, PyObject *const *args, Py_ssize_t nargs,             \
                              PyObject *kwnames)                                                   \
    {                                                                                              \
        return method(M_##name, self, args, nargs, kwnames);                                       \
    }
#include "python/unchanged/proxymethods.def"

/* ---- what libraries ask ---- */

static PyObject *
array(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    PyObject *host = px_host(self), *f = host ? PyObject_GetAttrString(host, "__array__") : NULL,
             *r = f ? px_vectorcall(f, args, nargs, kwnames) : NULL;

    Py_XDECREF(host);
    Py_XDECREF(f);
    return r;
}

/* Libraries' functions work on NumPy's arrays and get NumPy's results. */
static PyObject *
through_far(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames,
            const char *name)
{
    PyObject *f = PyObject_GetAttrString(px.far, name),
             *r = f ? py_call_with(f, self, args, nargs, kwnames) : NULL;

    Py_XDECREF(f);
    return r;
}

/* A scalar of NumPy's; in comparisons it comes as an array without axes. */
static bool
is_number(PyObject *o)
{
    return PyObject_TypeCheck(o, px.generic) || (px_is_np(o) && px_np(o)->ndim == 0);
}

/* A scalar of NumPy's beside a proxy comes here: the program's own operation, whose result is a proxy. */
static PyObject *
array_ufunc(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    PyObject *face = NULL;

    if (!kwnames && nargs == 4 && PyUnicode_Check(args[1]) &&
        PyUnicode_CompareWithASCIIString(args[1], "__call__") == 0 &&
        (is_number(args[2]) || is_number(args[3])))
        face = PyDict_GetItemWithError(px.ufuncs, args[0]);
    if (face)
        return px_vectorcall(face, args + 2, 2, NULL);
    if (PyErr_Occurred())
        return NULL;
    return through_far(self, args, nargs, kwnames, "array_ufunc");
}

static PyObject *
array_function(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    return through_far(self, args, nargs, kwnames, "array_function");
}

/* The size of the object and of what it holds. */
static PyObject *
size_of(PyObject *self, PyObject *unused)
{
    PyObject *nbytes = px_take(self) ? PyObject_GetAttrString(px_array(self), "nbytes") : NULL;
    Py_ssize_t n = nbytes ? PyLong_AsSsize_t(nbytes) : -1;

    (void)unused;
    Py_XDECREF(nbytes);
    return n < 0 ? NULL : PyLong_FromSsize_t(n + (Py_ssize_t)sizeof(np_array));
}

PyMethodDef px_methods[] = {
#define METHOD(name, how) {#name, PY_FAST(m_##name), METH_FASTCALL | METH_KEYWORDS, NULL},
#include "python/unchanged/proxymethods.def"
    {"__array__", PY_FAST(array), METH_FASTCALL | METH_KEYWORDS, NULL},
    {"__array_ufunc__", PY_FAST(array_ufunc), METH_FASTCALL | METH_KEYWORDS, NULL},
    {"__array_function__", PY_FAST(array_function), METH_FASTCALL | METH_KEYWORDS, NULL},
    {"__sizeof__", size_of, METH_NOARGS, NULL},
    {"__class_getitem__", Py_GenericAlias, METH_O | METH_CLASS, NULL},
    {NULL, NULL, 0, NULL},
};

/* ---- attributes ---- */

static PyObject *
get_shape(PyObject *self, void *unused)
{
    PyObject *held = px_array(self), *t;
    const np_array *a;

    (void)unused;
    if (!held)
        return NULL;
    if (py_is_array(held))
        return py_shape_tuple(&py_array_of(held)->view.shape);
    a = px_np(held);
    t = PyTuple_New(a->ndim);
    for (int i = 0; t && i < a->ndim; i++)
        if (PyTuple_SetItem(t, i, PyLong_FromSsize_t(a->dim[i])) < 0)
            Py_CLEAR(t);
    return t;
}

static PyObject *
get_ndim(PyObject *self, void *unused)
{
    PyObject *held = px_array(self);

    (void)unused;
    if (!held)
        return NULL;
    return PyLong_FromLong(px_ndim(held));
}

static PyObject *
get_size(PyObject *self, void *unused)
{
    PyObject *held = px_array(self);

    (void)unused;
    if (!held)
        return NULL;
    return PyLong_FromLongLong(px_size(held));
}

static PyObject *
get_dtype(PyObject *self, void *unused)
{
    PyObject *held = px_array(self);

    (void)unused;
    if (!held)
        return NULL;
    return py_is_array(held) ? py_dtype_object(td_array_dtype(py_array_of(held)))
                             : Py_NewRef(px_np(held)->dtype);
}

/* An attribute that both kinds of arrays have, with one meaning. */
static PyObject *
get_either(PyObject *self, void *name)
{
    PyObject *held = px_operand(self), *r = held ? PyObject_GetAttrString(held, name) : NULL;

    return r && (r == held) ? (Py_DECREF(r), Py_NewRef(self)) : px_result(r, self);
}

/* What NumPy says of its own array; of treadle's, _far has an object that answers the same. */
static PyObject *
get_flags(PyObject *self, void *unused)
{
    PyObject *held = px_array(self);

    (void)unused;
    if (!held)
        return NULL;
    return py_is_array(held) ? PyObject_CallMethod(px.far, "flags", "(O)", self)
                             : PyObject_GetAttrString(held, "flags");
}

/* One that NumPy's arrays have and that leads to the memory. */
static PyObject *
get_host(PyObject *self, void *name)
{
    PyObject *host = px_hand_out(self), *r = host ? PyObject_GetAttrString(host, name) : NULL;

    Py_XDECREF(host);
    return px_result(r, self);
}

static PyObject *
get_base(PyObject *self, void *unused)
{
    py_proxy *p = (py_proxy *)self;

    (void)unused;
    if (!px_take(self))
        return NULL;
    if (p->owner || py_is_array(p->held))
        return Py_NewRef(p->owner ? p->owner : Py_None);
    return px_result(PyObject_GetAttrString(p->held, "base"), NULL);
}

static PyObject *
get_device(PyObject *self, void *unused)
{
    (void)self, (void)unused;
    return PyUnicode_FromString("cpu");
}

/* NumPy asks this of objects that it does not know; its arrays and scalars give way to ours. */
static PyObject *
get_priority(PyObject *self, void *unused)
{
    (void)self, (void)unused;
    return PyFloat_FromDouble(0);
}

static int
set(PyObject *self, PyObject *value, void *name)
{
    py_proxy *p = (py_proxy *)self;
    PyObject *v, *host;
    int r;

    if (!value) {
        PyErr_Format(PyExc_AttributeError, "Cannot delete array %s", (const char *)name);
        return -1;
    }
    if (!px_take(self))
        return -1;
    if (py_is_array(p->held) && strcmp(name, "shape") == 0) {
        px_settle(self);
        r = PyObject_SetAttrString(p->held, name, value);
        if (r == 0) {
            Py_CLEAR(p->host);
            return 0;
        }
        if (!px_declined())
            return -1;
    }
    host = px_host(self);
    v = host ? px_host(value) : NULL;
    r = v ? PyObject_SetAttrString(host, name, v) : -1;
    if (r == 0 && !px_back(self, host))
        r = -1;
    Py_XDECREF(host);
    Py_XDECREF(v);
    return r;
}

#define EITHER(name, set) {#name, get_either, set, NULL, #name}
#define NUMPY(name, set)  {#name, get_host, set, NULL, #name}

PyGetSetDef px_getset[] = {
    {"shape", get_shape, set, NULL, "shape"},
    {"ndim", get_ndim, NULL, NULL, NULL},
    {"size", get_size, NULL, NULL, NULL},
    {"dtype", get_dtype, set, NULL, "dtype"},
    {"base", get_base, NULL, NULL, NULL},
    {"device", get_device, NULL, NULL, NULL},
    {"__array_priority__", get_priority, NULL, NULL, NULL},
    EITHER(T, NULL),
    EITHER(mT, NULL),
    EITHER(real, set),
    EITHER(imag, set),
    EITHER(itemsize, NULL),
    EITHER(nbytes, NULL),
    EITHER(strides, set),
    {"flags", get_flags, NULL, NULL, NULL},
    NUMPY(data, set),
    NUMPY(flat, set),
    NUMPY(ctypes, NULL),
    NUMPY(__array_interface__, NULL),
    NUMPY(__array_struct__, NULL),
    {NULL, NULL, NULL, NULL, NULL},
};

bool
px_methods_init(void)
{
    for (int i = 0; i < PX_METHODS; i++) {
        rows[i].near = PyObject_GetAttrString((PyObject *)px.ndarray, rows[i].name);
        rows[i].far = py_attr((PyObject *)py.ndarray, rows[i].name);
        if (!rows[i].near && PyErr_ExceptionMatches(PyExc_AttributeError))
            PyErr_Clear(); /* an older NumPy */
        if (PyErr_Occurred())
            return false;
    }
    return true;
}
