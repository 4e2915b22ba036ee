/* proxymodule.c - the functions of _core by which treadle.unchanged sets proxies up and looks behind them. */
#include "python/unchanged/proxy.h"

/* Does NumPy lay its arrays out as np_array says? */
static bool
layout_holds(PyObject *np)
{
    PyObject *a = PyObject_CallMethod(np, "zeros", "((ii)s)", 2, 3, "float32"),
             *at = a ? PyObject_GetAttrString(a, "ctypes") : NULL,
             *data = at ? PyObject_GetAttrString(at, "data") : NULL,
             *dtype = a ? PyObject_GetAttrString(a, "dtype") : NULL;
    const np_array *n = (const np_array *)a; /* px.ndarray is not known yet */
    bool ok = data && dtype && PyLong_AsVoidPtr(data) == n->data && n->ndim == 2 &&
              n->dim[0] == 2 && n->dim[1] == 3 && n->stride[0] == 12 && n->stride[1] == 4 &&
              !n->base && n->dtype == dtype &&
              (n->flags & (NP_C | NP_F | NP_OWN | NP_ALIGNED | NP_WRITE)) ==
                  (NP_C | NP_OWN | NP_ALIGNED | NP_WRITE);

    Py_XDECREF(a);
    Py_XDECREF(at);
    Py_XDECREF(data);
    Py_XDECREF(dtype);
    if (!ok && !PyErr_Occurred())
        PyErr_SetString(PyExc_ImportError,
                        "unchanged programs: this NumPy lays out its arrays in a "
                        "way that treadle does not know");
    return ok;
}

static bool
numpy_types(PyObject *np)
{
    for (int i = 0; i < TD_DTYPE_COUNT; i++) {
        if (i == TD_BF16)
            continue;
        px.dtype[i] = py_dtype_object((td_dtype)i);
        px.scalar[i] = px.dtype[i] ? PyObject_GetAttrString(px.dtype[i], "type") : NULL;
        if (!px.scalar[i])
            return false;
    }
    px.generic = (PyTypeObject *)PyObject_GetAttrString(np, "generic");
    px.ndarray = (PyTypeObject *)PyObject_GetAttrString(np, "ndarray");
    return px.generic && px.ndarray;
}

/* None: NULL. */
static void
exchange(PyObject **place, PyObject *o)
{
    PyObject *old = *place;

    *place = o == Py_None ? NULL : Py_NewRef(o);
    Py_XDECREF(old);
}

static PyObject *
setup(PyObject *module, PyObject *args)
{
    PyObject *np = py_numpy(), *far, *ufuncs;

    (void)module;
    if (!PyArg_ParseTuple(args, "OO!", &far, &PyDict_Type, &ufuncs) || !np || !layout_holds(np) ||
        !numpy_types(np))
        return NULL;
    exchange(&px.far, far);
    exchange(&px.ufuncs, ufuncs);
    return px_number_init() && px_methods_init() ? Py_NewRef(Py_None) : NULL;
}

static PyObject *
set(PyObject *module, PyObject *args)
{
    long long crossover;
    PyObject *note, *watch;

    (void)module;
    if (!PyArg_ParseTuple(args, "LOO", &crossover, &note, &watch))
        return NULL;
    px.crossover = crossover;
    exchange(&px.note, note);
    exchange(&px.watch, watch);
    return Py_NewRef(Py_None);
}

static PyObject *
wrap(PyObject *module, PyObject *o)
{
    (void)module;
    return px_result(Py_NewRef(o), NULL);
}

static PyObject *
wrap_array(PyObject *module, PyObject *o)
{
    (void)module;
    return px_is_np(o) || py_is_array(o) ? px_new(Py_NewRef(o), NULL) : Py_NewRef(o);
}

static PyObject *
held(PyObject *module, PyObject *o)
{
    (void)module;
    return Py_XNewRef(px_array(o));
}

static PyObject *
host(PyObject *module, PyObject *o)
{
    (void)module;
    return px_host(o);
}

static PyObject *
ready(PyObject *module, PyObject *o)
{
    PyObject *r = px_ready(o);

    (void)module;
    return r || PyErr_Occurred() ? r : Py_NewRef(Py_None);
}

static PyObject *
down(PyObject *module, PyObject *o)
{
    (void)module;
    return px_come_down(o) ? Py_NewRef(Py_None) : NULL;
}

static PyObject *
settle(PyObject *module, PyObject *o)
{
    (void)module;
    px_settle(o);
    return Py_NewRef(Py_None);
}

static PyObject *
lift(PyObject *module, PyObject *o)
{
    PyObject *operand = px_array(o);

    (void)module;
    if (!operand)
        return NULL;
    return px_may_lift(operand) ? px_lift(operand) : Py_NewRef(operand);
}

/* The limited API of 3.11 cannot make a type of a class of its own; a class without slots more than `type` fits. */
static PyObject *
set_class(PyObject *module, PyObject *meta)
{
    (void)module;
    Py_SET_TYPE((PyObject *)px.proxy, (PyTypeObject *)Py_NewRef(meta));
    return Py_NewRef(Py_None);
}

/* _proxy_take(a, host): a's array is host now, the copy that somebody has seen, unless something is a view of a. */
static PyObject *
proxymodule_take(PyObject *module, PyObject *args)
{
    PyObject *o, *host;
    py_proxy *p;

    (void)module;
    if (!PyArg_ParseTuple(args, "OO", &o, &host))
        return NULL;
    p = (py_proxy *)o;
    if (px_is_far(o) && px_is_np(host) && !p->owner && !p->host &&
        py_array_of(p->held)->store->refs == 1) {
        Py_DECREF(p->held);
        p->held = Py_NewRef(host);
    }
    return Py_NewRef(Py_None);
}

static PyMethodDef functions[] = {
    {"_proxy_ready", ready, METH_O,
     "_proxy_ready(a): NumPy's array over memory of the CPU's that is there, to read; or None."},
    {"_proxy_down", down, METH_O,
     "_proxy_down(a): a's array becomes NumPy's, unless something is a view of it."},
    {"_proxy_take", proxymodule_take, METH_VARARGS,
     "_proxy_take(a, host): a's array is host now, unless something is a view of a."},
    {"_proxy_class", set_class, METH_O,
     "_proxy_class(meta): the class of the type, a subclass of type."},
    {"_proxy_setup", setup, METH_VARARGS,
     "_proxy_setup(far, ufuncs): looks NumPy's types up, before the first proxy."},
    {"_proxy_set", set, METH_VARARGS,
     "_proxy_set(crossover, note, watch): what decides, and who is told."},
    {"_proxy_wrap", wrap, METH_O,
     "_proxy_wrap(r): a result of NumPy's or treadle's as unchanged programs see it."},
    {"_proxy_array", wrap_array, METH_O, "_proxy_array(a): a proxy of the very array a."},
    {"_proxy_held", held, METH_O, "_proxy_held(o): what a proxy holds; other objects as they are."},
    {"_proxy_host", host, METH_O,
     "_proxy_host(o): NumPy's array over the memory of a proxy, or a copy from a GPU."},
    {"_proxy_settle", settle, METH_O,
     "_proxy_settle(o): gives up the host's view of o, if nobody uses it."},
    {"_proxy_lift", lift, METH_O,
     "_proxy_lift(o): what treadle's functions take in the place of o."},
    {NULL, NULL, 0, NULL},
};

bool
px_module_init(PyObject *m)
{
    return PyModule_AddFunctions(m, functions) == 0;
}
