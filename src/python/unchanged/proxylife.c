/* proxylife.c - proxies are made, used again, and freed. */
#include "python/unchanged/proxy.h"

px_state px;

enum { FREE = 128 };
static PyObject *spare[FREE]; /* dead proxies that wait to be used again */
static int nspare;

PyObject *
px_new(PyObject *held, PyObject *owner)
{
    py_proxy *p;

    if (!held)
        return NULL;
    if (nspare)
        p = (py_proxy *)PyObject_Init(spare[--nspare], px.proxy);
    else
        p = PyObject_New(py_proxy, px.proxy);
    if (!p) {
        Py_DECREF(held);
        return NULL;
    }
    p->held = held;
    p->host = NULL;
    p->owner = Py_XNewRef(owner);
    p->weak = NULL;
    p->small = 0;
    return (PyObject *)p;
}

void
px_dealloc(PyObject *self)
{
    py_proxy *p = (py_proxy *)self;
    PyTypeObject *type = Py_TYPE(self);

    if (p->weak)
        PyObject_ClearWeakRefs(self);
    Py_XDECREF(p->host);
    Py_XDECREF(p->held);
    Py_XDECREF(p->owner);
    if (nspare < FREE && type == px.proxy)
        spare[nspare++] = self;
    else
        PyObject_Free(self);
    Py_DECREF(type);
}

int
px_dtype(PyObject *np)
{
    const PyObject *d = px_np(np)->dtype;

    for (int i = 0; i < TD_DTYPE_COUNT; i++)
        if (px.dtype[i] == d)
            return i;
    return -1;
}

PyObject *
px_scalar(PyObject *td)
{
    const td_array *a = py_array_of(td);
    PyObject *type = px.scalar[td_array_dtype(a)], *n, *r;
    td_scalar s;

    if (!py_read_scalar(a, &s))
        return NULL;
    n = py_scalar_object(s);
    r = n && type ? PyObject_CallFunctionObjArgs(type, n, NULL) : Py_XNewRef(n);
    Py_XDECREF(n);
    return r;
}
