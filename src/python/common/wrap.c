/* wrap.c - wraps arrays of the core in Python objects, and converts shapes to tuples. */
#include "python/common/py.h"

#include <stdio.h>

/* A type of numbers whose own type is treadle._numpy._scalars.Scalars. Before Python 3.12 no type can be made so, only
 * turned into one. Python's own classes would not do, whose objects are tracked by the garbage collector. */
static PyTypeObject *
make_number_type(td_dtype dt)
{
    static char names[TD_DTYPE_COUNT][24];
    PyType_Slot slots[] = {
        {Py_tp_dealloc, PyType_GetSlot(py.base, Py_tp_dealloc)},
        {0, NULL},
    };
    PyType_Spec spec = {
        .name = names[dt],
        .basicsize = sizeof(py_ndarray),
        .flags = Py_TPFLAGS_DEFAULT,
        .slots = slots,
    };
    PyObject *kind = py_package("treadle._numpy._scalars", "Scalars"), *type = NULL,
             *module =
                 kind ? PyObject_GetAttrString(kind, "__module__") : NULL; /* has it by its name */

    snprintf(names[dt], sizeof names[dt], "treadle.%s", td_dtype_name(dt));
    if (module)
        type = PyType_FromSpecWithBases(&spec, (PyObject *)py.base);
    if (type && PyObject_SetAttrString(type, "__module__", module) < 0)
        Py_CLEAR(type);
    if (type) {
        Py_DECREF((PyObject *)Py_TYPE(type));
        Py_SET_TYPE(type, (PyTypeObject *)Py_NewRef(kind));
        py.numbers = (PyTypeObject *)kind;
    }
    Py_XDECREF(kind);
    Py_XDECREF(module);
    return (PyTypeObject *)type;
}

/* The type of numbers of dt; NULL: it cannot be made, since Python is ending. */
static PyTypeObject *
number_type(td_dtype dt)
{
    PyObject *pending[3];
    PyTypeObject *type;

    if (py.number[dt])
        return py.number[dt];
    PyErr_Fetch(&pending[0], &pending[1], &pending[2]);
    type = make_number_type(dt);
    PyErr_Clear();
    PyErr_Restore(pending[0], pending[1], pending[2]);
    if (!py.number[dt]) /* no other thread was faster */
        py.number[dt] = type;
    return py.number[dt];
}

/* r, whose array is known now, becomes a number if NumPy has a scalar there. */
static void
settle(py_ndarray *r)
{
    PyTypeObject *type =
        r->a.view.shape.ndim || r->made || r->view ? NULL : number_type(td_array_dtype(&r->a));

    if (type) {
        Py_INCREF((PyObject *)type);
        Py_SET_TYPE((PyObject *)r, type);
        Py_DECREF((PyObject *)py.ndarray);
    }
}

py_ndarray *
py_new(void)
{
    py_ndarray *r = PyObject_New(py_ndarray, py.ndarray);

    if (!r)
        return NULL;
    r->a.store = NULL;
    r->readonly = false;
    r->scalars = r->made = r->view = false;
    r->weak = NULL;
    return r;
}

PyObject *
py_done(py_ndarray *r, td_status st)
{
    if (!st) {
        settle(r);
        td_array_offer(&r->a);
        return (PyObject *)r;
    }
    r->a.store = NULL;
    Py_DECREF(r);
    return py_raise(st);
}

PyObject *
py_wrap(td_array *a)
{
    py_ndarray *r = py_new();

    if (!r) {
        td_array_unref(a);
        return NULL;
    }
    r->a = *a;
    a->store = NULL;
    settle(r);
    td_array_offer(&r->a);
    return (PyObject *)r;
}

PyObject *
py_view_done(PyObject *self, py_ndarray *r, td_status st)
{
    const td_array *a = py_array_of(self);

    if (r && !st && r->a.store == a->store) {
        r->view = true;
        r->readonly = ((py_ndarray *)self)->readonly;
        r->scalars = ((py_ndarray *)self)->scalars;
        if (!a->store->shown && !((py_ndarray *)self)->view)
            a->store->shown = self;
    }
    return r ? py_done(r, st) : NULL;
}

bool
py_want_array(const char *fn, PyObject *o)
{
    if (!py_is_array(o))
        PyErr_Format(PyExc_TypeError, "%s: expected treadle.ndarray, not %R", fn,
                     (PyObject *)Py_TYPE(o));
    return py_is_array(o);
}

bool
py_writable(const py_ndarray *self)
{
    if (self->readonly || self->a.store->readonly)
        PyErr_SetString(PyExc_ValueError, "assignment destination is read-only");
    return !(self->readonly || self->a.store->readonly);
}

bool
py_is_host_out(PyObject *out)
{
    PyObject *np = PyObject_CheckBuffer(out) ? py_numpy() : NULL,
             *type = np ? PyObject_GetAttrString(np, "ndarray") : NULL;
    int r = type ? PyObject_IsInstance(out, type) : 0;

    Py_XDECREF(type);
    if (r < 0 || PyErr_Occurred())
        PyErr_Clear();
    return r > 0;
}

PyObject *
py_store_host(const char *fn, PyObject *out, PyObject *value, PyObject *where, const char *casting)
{
    PyObject *f = py_package("treadle._exchange._host", "store"),
             *r = f ? PyObject_CallFunction(f, "sOOOs", fn, out, value, where ? where : Py_True,
                                            casting)
                    : NULL;

    Py_XDECREF(f);
    return r;
}

static bool
shape_item(PyObject *o, int64_t *out)
{
    PyObject *n = PyBool_Check(o) ? NULL : PyNumber_Index(o);

    if (!n && !PyErr_Occurred())
        PyErr_Format(PyExc_TypeError, "a shape is of integers, not %R", o);
    *out = n ? PyLong_AsLongLong(n) : -1;
    Py_XDECREF(n);
    return !(*out == -1 && PyErr_Occurred());
}

bool
py_shape(PyObject *o, td_shape *out)
{
    Py_ssize_t n;
    bool ok = true;

    out->ndim = 1;
    if (PyLong_Check(o) || (!PySequence_Check(o) && PyIndex_Check(o)))
        return shape_item(o, &out->dim[0]);
    n = PySequence_Size(o);
    if (n < 0 && PyIndex_Check(o)) { /* a 0-d array */
        PyErr_Clear();
        return shape_item(o, &out->dim[0]);
    }
    if (n < 0)
        return false;
    if (n > TD_MAXDIM) {
        PyErr_Format(PyExc_ValueError, "an array of %zd dimensions: at most %d are supported", n,
                     TD_MAXDIM);
        return false;
    }
    for (Py_ssize_t i = 0; i < n && ok; i++) {
        PyObject *item = PySequence_GetItem(o, i);

        ok = item && shape_item(item, &out->dim[i]);
        Py_XDECREF(item);
    }
    out->ndim = (int32_t)n;
    return ok;
}

PyObject *
py_shape_tuple(const td_shape *s)
{
    PyObject *t = PyTuple_New(s->ndim);

    for (int i = 0; t && i < s->ndim; i++)
        if (PyTuple_SetItem(t, i, PyLong_FromLongLong(s->dim[i])) < 0)
            Py_CLEAR(t);
    return t;
}
