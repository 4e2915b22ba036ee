/* proxyhold.c - what a proxy holds, as an operation wants it: NumPy's or treadle's, near or far. */
#include "python/unchanged/proxy.h"

#include <time.h>

/* NumPy's view of a CPU array's memory, kept; borrowed. */
static PyObject *
host_view(py_proxy *p)
{
    PyObject *done = NULL;

    if (p->host)
        return p->host;
    p->host = py_host_view(py_array_of(p->held), true);
    if (p->host && ((py_ndarray *)p->held)->readonly) {
        done = PyObject_CallMethod(p->host, "setflags", "i", 0);
        Py_XDECREF(done);
        if (!done)
            Py_CLEAR(p->host);
    }
    return p->host;
}

bool
px_take(PyObject *o)
{
    py_proxy *p = (py_proxy *)o;
    PyObject *chosen, *taken;

    if (!px_is_chosen(o))
        return true;
    chosen =
        Py_NewRef(p->held); /* another thread may take them too while this one waits for them */
    taken = py_chosen_taken(chosen);
    if (taken && p->held == chosen) {
        p->held = taken;
        Py_DECREF(chosen);
    } else
        Py_XDECREF(taken);
    Py_DECREF(chosen);
    return taken != NULL;
}

PyObject *
px_array(PyObject *o)
{
    return px_take(o) ? px_held(o) : NULL;
}

PyObject *
px_on_chosen(PyObject *(*f)(const void *how, PyObject *const *whole), const void *how,
             PyObject *const *o, int n)
{
    PyObject *held[3] = {NULL}, *whole[3], *like, *r = NULL;
    int ok;

    for (int i = 0; i < n; i++)
        held[i] = px_is(o[i]) ? ((py_proxy *)o[i])->held : o[i];
    ok = py_chosen_whole(held, n, whole, &like);
    if (ok > 0) {
        r = f(how, whole);
        for (int i = 0; i < n; i++)
            Py_DECREF(whole[i]);
        if (r == Py_NotImplemented)
            Py_CLEAR(r);
        if (r && py_is_array(r))
            return px_new(py_chosen_like(like, r), NULL);
        Py_XDECREF(r);
        if (PyErr_Occurred() && !px_declined())
            return NULL;
    }
    for (int i = 0; i < n && ok >= 0; i++)
        if (!px_take(o[i]))
            return NULL;
    return NULL;
}

PyObject *
px_reduce_chosen(PyObject *o, const char *name)
{
    PyObject *r = py_chosen_reduce(px_held(o), name);

    if (r == Py_None) {
        Py_DECREF(r);
        (void)px_take(o);
        return NULL;
    }
    return px_result(r, NULL);
}

/* NumPy's array for small work on a small array that has been evaluated: a view on the CPU, what came down from a GPU. */
static PyObject *
small_operand(py_proxy *p)
{
    if (px_on_cpu(p->held))
        return host_view(p);
    return px_wear((PyObject *)p) ? p->held : NULL;
}

PyObject *
px_operand(PyObject *o)
{
    py_proxy *p = (py_proxy *)o;
    const td_array *a;

    if (!px_take(o))
        return NULL;
    if (!px_is(o) || !py_is_array(p->held))
        return px_is(o) ? p->held : o;
    a = py_array_of(p->held);
    if (td_array_size(a) >= px.crossover || td_node_pending(a->store->node))
        return p->held;
    return small_operand(p);
}

PyObject *
px_host(PyObject *o)
{
    py_proxy *p = (py_proxy *)o;

    if (py_is_array(o))
        return px_on_cpu(o) ? py_host_view(py_array_of(o), true) : py_get(o);
    if (!px_is(o))
        return Py_NewRef(o);
    if (!px_take(o))
        return NULL;
    if (!py_is_array(p->held))
        return Py_NewRef(p->held);
    return px_on_cpu(p->held) ? Py_XNewRef(host_view(p)) : py_get(p->held);
}

PyObject *
px_ready(PyObject *o)
{
    py_proxy *p = (py_proxy *)o;
    const td_array *a;

    if (px_is_np(px_held(o)))
        return Py_NewRef(px_held(o));
    if (!px_is_far(o) || !px_on_cpu(p->held))
        return NULL;
    a = py_array_of(p->held);
    if (td_node_pending(a->store->node))
        return NULL;
    return p->host ? Py_NewRef(p->host) : py_host_view(a, false);
}

PyObject *
px_lift(PyObject *o)
{
    bool big;
    td_array a;

    if (!px_is_np(o))
        return Py_NewRef(o);
    if (px_np(o)->ndim == 0) {
        PyObject *none = PyTuple_New(0), *r = none ? PyObject_GetItem(o, none) : NULL;

        Py_XDECREF(none);
        return r;
    }
    big = px_np_size(o) >= px.crossover && px_np(o)->flags & NP_ALIGNED;
    if (big ? !py_share(o, -1, NULL, &a) : !py_asarray(o, -1, NULL, &a)) {
        if (!big)
            return NULL;
        PyErr_Clear(); /* a GPU's array, or strides that are not whole elements */
        if (!py_asarray(o, -1, NULL, &a))
            return NULL;
    }
    return py_wrap(&a);
}

bool
px_may_lift(PyObject *o)
{
    PyTypeObject *t = Py_TYPE(o);

    return py_is_array(o) || t == &PyFloat_Type || t == &PyLong_Type || t == &PyBool_Type ||
           t == &PyComplex_Type || (px_is_np(o) && px_dtype(o) >= 0) || t == &PyList_Type ||
           t == &PyTuple_Type || PyObject_TypeCheck(o, px.generic);
}

bool
px_declined(void)
{
    PyObject *const kinds[] = {PyExc_TypeError,           PyExc_ValueError,    PyExc_IndexError,
                               PyExc_NotImplementedError, PyExc_OverflowError, PyExc_AttributeError,
                               PyExc_LookupError,         PyExc_ImportError};

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (PyErr_ExceptionMatches(kinds[i])) {
            PyErr_Clear();
            return true;
        }
    return false;
}

bool
px_note(const char *name, PyObject *o)
{
    PyObject *held = px_held(o), *r;
    Py_ssize_t nbytes = 0;

    if (!px.note)
        return true;
    if (py_is_array(held)) {
        const td_array *a = py_array_of(held);

        nbytes = (Py_ssize_t)(td_array_size(a) * (int64_t)td_dtype_size(td_array_dtype(a)));
    }
    r = PyObject_CallFunction(px.note, "sn", name, nbytes);
    Py_XDECREF(r);
    return r != NULL;
}

int64_t
px_clock(void)
{
    struct timespec t;

    if (!px.watch)
        return 0;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

PyObject *
px_seen(PyObject *r, const char *name, PyObject *on, int64_t since)
{
    PyObject *held = px_held(on), *told;
    long long n;

    if (!since || !r || !px.watch)
        return r;
    n = px_is_np(held)      ? px_np_size(held)
        : py_is_array(held) ? td_array_size(py_array_of(held))
                            : 1;
    told = PyObject_CallFunction(px.watch, "sLL", name, n, (long long)(px_clock() - since));
    if (!told) {
        Py_DECREF(r);
        return NULL;
    }
    Py_DECREF(told);
    return r;
}

bool
px_back(PyObject *o, PyObject *host)
{
    py_proxy *p = (py_proxy *)o;
    PyObject *value;
    bool ok;

    if (!px_is(o) || !py_is_array(p->held) || px_on_cpu(p->held))
        return true;
    value = px_lift(host);
    ok = value && PyObject_SetItem(p->held, Py_Ellipsis, value) == 0;
    Py_XDECREF(value);
    return ok;
}

/* ---- between the host and a GPU ---- */

/* An array of NumPy's own memory. */
static PyObject *
copied(PyObject *held)
{
    PyObject *host = py_get(held), *r = host ? PyObject_CallMethod(host, "copy", "s", "K") : NULL;

    Py_XDECREF(host);
    return r;
}

bool
px_come_down(PyObject *self)
{
    py_proxy *p = (py_proxy *)self;
    PyObject *host;

    if (!px_take(self))
        return false;
    if (!px_is_far(self))
        return true;
    px_settle(self);
    if (p->owner || p->host || py_array_of(p->held)->store->refs != 1 || Py_REFCNT(p->held) != 1)
        return true;
    host = copied(p->held);
    if (!host)
        return false;
    Py_DECREF(p->held);
    p->held = host;
    return true;
}

/* Bringing an array down and up again costs as much as this many bytes' share of small pieces of work, each of which
 * waits for the device: 10 us against 2 copies at 20 GB/s. */
enum { WEAR_BYTES = 100000, WEAR_LEAST = 3 };

bool
px_wear(PyObject *o)
{
    py_proxy *p = (py_proxy *)o;
    const td_array *a;

    if (!px_is_far(o) || px_on_cpu(p->held))
        return true;
    a = py_array_of(p->held);
    if (++p->small < WEAR_LEAST || (int64_t)p->small * WEAR_BYTES <
                                       td_array_size(a) * (int64_t)td_dtype_size(td_array_dtype(a)))
        return true;
    return px_come_down(o);
}

PyObject *
px_hand_out(PyObject *o)
{
    PyObject *array = px_array(o);

    if (!array || (px_is_far(o) && !px_on_cpu(array) && !px_come_down(o)))
        return NULL;
    return px_host(o);
}
