/* proxyresult.c - what NumPy and treadle return as the program sees it; big arrays that nobody else has move to treadle. */
#include "python/unchanged/proxy.h"

#include <stdlib.h>

/* Is nobody but the caller able to reach the memory of r? */
static bool
is_fresh(PyObject *r)
{
    const np_array *a = px_np(r);

    if (Py_REFCNT(r) != 1)
        return false;
    if (!a->base)
        return a->flags & NP_OWN;
    return px_is_np(a->base) && is_fresh(a->base);
}

typedef struct keeper {
    py_owner head;
    PyObject *obj;
} keeper;

static void
end_keeper(py_owner *o)
{
    Py_DECREF(((keeper *)o)->obj);
    free(o);
}

/* The memory of r, which nobody else has, as treadle's own on the CPU; takes over r where it succeeds. */
static bool
adopt(PyObject *r, td_dtype dt, td_dev *cpu, td_array *out)
{
    const np_array *a = px_np(r);
    keeper *k = calloc(1, sizeof *k);
    td_shape s = {.ndim = a->ndim};
    td_view v;
    td_buf *buf;
    td_node *n;
    td_status st;

    if (!k)
        return false;
    for (int i = 0; i < a->ndim; i++)
        s.dim[i] = a->dim[i];
    v = td_view_contiguous(&s);
    for (int i = 0; i < a->ndim; i++)
        if (a->dim[i] > 1)
            v.stride[i] = a->stride[i] / (int64_t)td_dtype_size(dt);
    k->head.end = end_keeper;
    k->head.dev = cpu;
    k->obj = r;
    if (td_buf_wrap(cpu, a->data, (size_t)px_np_size(r) * td_dtype_size(dt), py_owner_retire, k,
                    &buf)) {
        free(k);
        return false;
    }
    Py_INCREF(r); /* the keeper has one; the caller's goes where this succeeds */
    st = td_node_leaf(buf, dt, &v, &n);
    td_buf_unref(buf);
    if (!st)
        st = td_array_of_node(n, out);
    if (!st)
        Py_DECREF(r);
    return st == TD_OK;
}

/* r's elements on dev, laid out as r's are. */
static bool
copied_up(PyObject *r, td_dev *dev, td_array *out)
{
    const np_array *a = px_np(r);
    PyObject *t;
    td_array raw;
    int axes[TD_MAXDIM];
    bool ok;

    if (!(a->flags & NP_F) || a->flags & NP_C)
        return py_asarray(r, -1, dev, out);
    t = PyObject_GetAttrString(r, "T");
    ok = t && py_asarray(t, -1, dev, &raw);
    Py_XDECREF(t);
    if (!ok)
        return false;
    for (int i = 0; i < a->ndim; i++)
        axes[i] = a->ndim - 1 - i;
    ok = py_ok(td_array_transpose(&raw, axes, out));
    td_array_unref(&raw);
    return ok;
}

/* A big array that nobody else has goes to treadle: NULL without an exception where it stays. */
static PyObject *
move_up(PyObject *r)
{
    const np_array *a = px_np(r);
    int dt = px_dtype(r);
    td_dev *dev;
    td_array own;
    bool ok;

    if (dt < 0 || a->ndim > TD_MAXDIM || !(a->flags & NP_WRITE) || td_dev_default(&dev))
        return NULL;
    if (td_dev_info(dev)->kind == TD_DEV_CPU && a->flags & (NP_C | NP_F) && a->flags & NP_ALIGNED)
        ok = adopt(r, (td_dtype)dt, dev, &own);
    else {
        ok = copied_up(r, dev, &own);
        if (ok)
            Py_DECREF(r);
    }
    if (!ok) {
        PyErr_Clear();
        return NULL;
    }
    return py_wrap(&own);
}

void
px_settle(PyObject *o)
{
    py_proxy *p = (py_proxy *)o;
    PyObject *up;

    if (!px_is(o))
        return;
    if (p->host && Py_REFCNT(p->host) == 1) {
        ((py_ndarray *)p->held)->readonly = !(px_np(p->host)->flags & NP_WRITE);
        Py_CLEAR(p->host);
    }
    p->small = 0;
    if (p->owner)
        px_settle(p->owner);
    else if (px_is_big(p->held) && is_fresh(p->held) && (up = move_up(p->held)) != NULL)
        p->held = up;
}

static PyObject *
wrap_np(PyObject *r, PyObject *of)
{
    const np_array *a = px_np(r);
    PyObject *owner = NULL, *up;

    if (px_is_big(r) && is_fresh(r)) {
        up = move_up(r);
        if (up)
            return px_new(up, NULL);
    }
    if (of && px_is(of) && a->base)
        owner = ((py_proxy *)of)->owner ? ((py_proxy *)of)->owner : of;
    return px_new(r, owner);
}

static PyObject *
wrap_td(PyObject *r, PyObject *of)
{
    PyObject *owner = NULL, *n;

    if (py_array_of(r)->view.shape.ndim == 0) {
        n = px_scalar(r);
        Py_DECREF(r);
        return n;
    }
    if (of && px_is_far(of) && py_array_of(((py_proxy *)of)->held)->store == py_array_of(r)->store)
        owner = ((py_proxy *)of)->owner ? ((py_proxy *)of)->owner : of;
    return px_new(r, owner);
}

/* A tuple or list with its items wrapped; named tuples keep their type. */
static PyObject *
wrap_items(PyObject *r, PyObject *of)
{
    bool tuple = PyTuple_Check(r), exact = tuple ? PyTuple_CheckExact(r) : PyList_CheckExact(r);
    Py_ssize_t n = PySequence_Size(r);
    PyObject *list = PyList_New(n), *out = NULL;

    for (Py_ssize_t i = 0; list && i < n; i++) {
        PyObject *item = PySequence_GetItem(r, i);

        if (item && Py_REFCNT(item) == 2 && Py_REFCNT(r) == 1 && px_is_np(item) && tuple && exact)
            item = wrap_np(
                item, of); /* the tuple's reference is the other one: not fresh, a view or small */
        else
            item = px_result(item, of);
        if (!item)
            Py_CLEAR(list);
        else
            PyList_SetItem(list, i, item);
    }
    if (list && tuple && !exact)
        out = PyObject_CallMethod((PyObject *)Py_TYPE(r), "_make", "(O)", list);
    else if (list)
        out = tuple ? PyList_AsTuple(list) : Py_NewRef(list);
    Py_XDECREF(list);
    Py_DECREF(r);
    return out;
}

static bool
has_arrays(PyObject *r)
{
    bool tuple = PyTuple_Check(r);
    Py_ssize_t n = tuple ? PyTuple_Size(r) : PyList_Size(r);

    if (tuple && !PyTuple_CheckExact(r) && !PyObject_HasAttrString((PyObject *)Py_TYPE(r), "_make"))
        return false;
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *o = tuple ? PyTuple_GetItem(r, i) : PyList_GetItem(r, i);

        if (px_is_np(o) || py_is_array(o) ||
            ((PyTuple_Check(o) || PyList_CheckExact(o)) && has_arrays(o)))
            return true;
    }
    return false;
}

PyObject *
px_result(PyObject *r, PyObject *of)
{
    if (!r)
        return NULL;
    if (px_is_np(r))
        return wrap_np(r, of);
    if (py_is_array(r))
        return wrap_td(r, of);
    if ((PyTuple_Check(r) || PyList_CheckExact(r)) && has_arrays(r))
        return wrap_items(r, of);
    return r;
}
