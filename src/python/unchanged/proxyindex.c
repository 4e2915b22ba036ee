/* proxyindex.c - subscripts, length and iteration of proxies.
 *
 * An array of NumPy's answers for itself.  Of an array of treadle's, parts that are big are views or kernels of
 * treadle's; elements and small parts on the CPU are NumPy's, on the same memory.
 */
#include "python/unchanged/proxy.h"

#include <string.h>

/* ---- subscripts ---- */

static bool
is_sequence(PyObject *o)
{
    return PyList_Check(o) || PyTuple_Check(o);
}

static bool
has_proxies(PyObject *key)
{
    Py_ssize_t n = PyTuple_Size(key);

    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *o = PyTuple_GetItem(key, i);

        if (px_is(o) || PyList_CheckExact(o))
            return true;
    }
    return false;
}

/* A list with proxies in it as one with NumPy's arrays; others as they are. */
static PyObject *
plain_list(PyObject *list)
{
    Py_ssize_t n = PyList_Size(list), i;
    PyObject *r;

    for (i = 0; i < n && !px_is(PyList_GetItem(list, i)); i++)
        ;
    if (i == n)
        return Py_NewRef(list);
    r = PyList_New(n);
    for (i = 0; r && i < n; i++) {
        PyObject *o = px_host(PyList_GetItem(list, i));

        if (!o || PyList_SetItem(r, i, o) < 0)
            Py_CLEAR(r);
    }
    return r;
}

/* How items of a key are wanted: as treadle takes them, or as NumPy does. */
static PyObject *
plain_item(PyObject *o, bool far)
{
    if (PyList_CheckExact(o))
        return plain_list(o);
    if (!px_is(o))
        return Py_NewRef(o);
    return far ? Py_XNewRef(px_array(o)) : px_host(o);
}

static PyObject *
plain_key(PyObject *key, bool far)
{
    Py_ssize_t n;
    PyObject *r;

    if (!PyTuple_CheckExact(key))
        return plain_item(key, far);
    if (!has_proxies(key))
        return Py_NewRef(key);
    n = PyTuple_Size(key);
    r = PyTuple_New(n);
    for (Py_ssize_t i = 0; r && i < n; i++) {
        PyObject *o = plain_item(PyTuple_GetItem(key, i), far);

        if (!o || PyTuple_SetItem(r, i, o) < 0)
            Py_CLEAR(r);
    }
    return r;
}

typedef enum key_kind { ELEMENT, BASIC, FANCY } key_kind;

static key_kind
item_kind(PyObject *o)
{
    if (PyLong_CheckExact(o))
        return ELEMENT;
    if (PySlice_Check(o) || o == Py_None || o == Py_Ellipsis)
        return BASIC;
    if (PyBool_Check(o) || PyList_Check(o) || PyTuple_Check(o) || px_is(o) || px_is_np(o))
        return FANCY;
    return PyIndex_Check(o) ? ELEMENT : FANCY;
}

static key_kind
kind_of(PyObject *key, int ndim)
{
    Py_ssize_t n;
    key_kind worst = ELEMENT;

    if (!PyTuple_CheckExact(key))
        return item_kind(key) == ELEMENT && ndim > 1 ? BASIC : item_kind(key);
    n = PyTuple_Size(key);
    for (Py_ssize_t i = 0; i < n; i++) {
        key_kind k = item_kind(PyTuple_GetItem(key, i));

        if (k > worst)
            worst = k;
    }
    return worst == ELEMENT && n < ndim ? BASIC : worst;
}

static PyObject *
host_item(PyObject *self, PyObject *key)
{
    PyObject *host = px_host(self), *k = host ? plain_key(key, false) : NULL,
             *r = k ? PyObject_GetItem(host, k) : NULL;

    Py_XDECREF(host);
    Py_XDECREF(k);
    return px_result(r, self);
}

static td_status
read_bits(const td_array *one, uint64_t bits[2])
{
    size_t size = td_dtype_size(td_array_dtype(one));
    td_buf *buf;
    td_view v;

    if (td_dev_info(td_array_dev(one))->kind != TD_DEV_CPU)
        return td_array_get(one, bits);
    TD_TRY(td_array_memory(one, false, &buf,
                           &v)); /* the lock stays: a thousand times quicker than a copy */
    memcpy(bits,
           (const char *)buf->ptr + (size_t)v.offset * size, // NOLINT(performance-no-int-to-ptr)
           size);
    return TD_OK;
}

/* An element, without an array of it; NULL without an exception: not that simple. */
static PyObject *
read_element(const td_array *a, PyObject *key)
{
    bool tuple = PyTuple_CheckExact(key);
    int n = tuple ? (int)PyTuple_Size(key) : 1;
    td_view v = a->view;
    td_array one;
    uint64_t bits[2] = {0, 0};
    PyObject *number, *r;
    td_dtype dt = td_array_dtype(a);
    td_status st;

    if (n != v.shape.ndim)
        return NULL;
    for (int k = 0; k < n; k++) {
        Py_ssize_t i = PyNumber_AsSsize_t(tuple ? PyTuple_GetItem(key, k) : key, NULL);
        int64_t at = i < 0 ? i + v.shape.dim[k] : i;

        if (at < 0 || at >= v.shape.dim[k])
            return NULL; /* NumPy says it */
        v.offset += at * v.stride[k];
    }
    v.shape.ndim = 0;
    one = td_array_view(a, &v);
    st = read_bits(&one, bits);
    td_array_unref(&one);
    if (!py_ok(st))
        return NULL;
    number = py_scalar_object(td_scalar_load(dt, bits));
    r = number ? PyObject_CallFunctionObjArgs(px.scalar[dt], number, NULL) : NULL;
    Py_XDECREF(number);
    return r;
}

/* A small part of what has been evaluated or will be now is NumPy's view of the memory. */
/* A small part by NumPy's view of the whole memory, where there is one; NULL without an exception: there is none, or the
 * part is big. */
static PyObject *
near_view(const py_proxy *p, PyObject *key)
{
    PyObject *k, *r;

    if (!p->host)
        return NULL;
    k = plain_key(key, false);
    r = k ? PyObject_GetItem(p->host, k) : NULL;
    Py_XDECREF(k);
    if (r && px_is_big(r))
        Py_CLEAR(r);
    return r;
}

static PyObject *
far_view(PyObject *self, PyObject *key, key_kind kind)
{
    py_proxy *p = (py_proxy *)self;
    PyObject *k, *r = near_view(p, key);

    if (r || PyErr_Occurred())
        return px_result(r, self);
    k = plain_key(key, true);
    r = k ? py_subscript(p->held, k) : NULL;
    Py_XDECREF(k);
    if (!r) {
        if (!px_declined())
            return NULL;
        return host_item(self, key);
    }
    if (py_is_array(r) && px_on_cpu(p->held) &&
        (td_array_size(py_array_of(r)) < px.crossover || !py_array_of(r)->view.shape.ndim)) {
        Py_DECREF(r);
        return host_item(self, key);
    }
    if (py_is_array(r) && td_array_size(py_array_of(r)) < px.crossover) {
        Py_DECREF(r); /* it holds the storage, so that nothing could come down */
        if (!px_wear(self))
            return NULL;
        if (!py_is_array(p->held))
            return host_item(self, key);
        k = plain_key(key, true);
        r = k ? py_subscript(p->held, k) : NULL;
        Py_XDECREF(k);
        if (!r)
            return NULL;
    }
    if (kind == BASIC && py_is_array(r) && !py_array_of(r)->view.shape.ndim) /* a[0, ...]: a view */
        return px_new(r, p->owner ? p->owner : self);
    return px_result(r, self);
}

/* With an Ellipsis one element is an array too. */
static bool
has_dots(PyObject *key)
{
    Py_ssize_t n = PyTuple_CheckExact(key) ? PyTuple_Size(key) : 0;

    for (Py_ssize_t i = 0; i < n; i++)
        if (PyTuple_GetItem(key, i) == Py_Ellipsis)
            return true;
    return false;
}

static PyObject *
far_pick(PyObject *self, PyObject *key)
{
    py_proxy *p = (py_proxy *)self;
    PyObject *k, *r;

    px_settle(self);
    k = plain_key(key, true);
    if (k && py_is_array(k)) {
        px_settle(key);
        r = py_choose(p->held, k);
        if (r != Py_None) {
            Py_DECREF(k);
            return r ? px_new(r, NULL) : NULL;
        }
        Py_DECREF(r);
    }
    r = k ? PyObject_GetItem(p->held, k) : NULL;
    Py_XDECREF(k);
    if (r && py_is_array(r) && py_array_of(r)->store == py_array_of(p->held)->store) {
        PyObject *copied =
            PyObject_CallMethod(r, "copy", NULL); /* an array that holds one integer */

        Py_DECREF(r);
        r = copied;
    }
    if (r && py_is_array(r) && !py_array_of(r)->view.shape.ndim && has_dots(key))
        return px_new(r, NULL);
    if (r)
        return px_result(r, NULL);
    if (!px_declined())
        return NULL;
    r = host_item(self, key);
    if (r && !px_note("getitem", self))
        Py_CLEAR(r);
    return r;
}

static PyObject *
subscript(PyObject *self, PyObject *key)
{
    py_proxy *p = (py_proxy *)self;
    int64_t since;
    key_kind kind;
    PyObject *r;

    if (!px_take(self))
        return NULL;
    if (!py_is_array(p->held)) {
        PyObject *k;

        if (PyLong_CheckExact(key) || PySlice_Check(key))
            return px_result(PyObject_GetItem(p->held, key), self);
        k = plain_key(key, false);
        r = k ? PyObject_GetItem(p->held, k) : NULL;
        Py_XDECREF(k);
        return px_result(r, self);
    }
    kind = kind_of(key, py_array_of(p->held)->view.shape.ndim);
    if (kind == ELEMENT && (!px_wear(self) || !py_is_array(p->held)))
        return py_is_array(p->held) ? NULL : px_result(PyObject_GetItem(p->held, key), self);
    if (kind == FANCY)
        return far_pick(self, key);
    if (kind == BASIC)
        return far_view(self, key, kind);
    since = px_clock();
    r = NULL;
    if (!p->host)
        r = read_element(py_array_of(p->held), key);
    if (!r && !PyErr_Occurred())
        r = px_on_cpu(p->held) ? host_item(self, key) : far_view(self, key, kind);
    return px_seen(r, "element", self, since);
}

static int
host_assign(PyObject *self, PyObject *key, PyObject *value)
{
    PyObject *host = px_host(self), *k = host ? plain_key(key, false) : NULL,
             *v = k && value ? px_host(value) : NULL;
    int r = -1;

    if (k && (v || !value))
        r = value ? PyObject_SetItem(host, k, v) : PyObject_DelItem(host, k);
    if (r == 0 && !px_back(self, host))
        r = -1;
    Py_XDECREF(host);
    Py_XDECREF(k);
    Py_XDECREF(v);
    return r;
}

/* Is what key names small?  1, 0; -1: an exception that treadle does not decide about. */
static int
is_small(PyObject *self, PyObject *key, key_kind kind)
{
    py_proxy *p = (py_proxy *)self;
    PyObject *k, *r;
    int small = 1;

    if (kind == ELEMENT)
        return 1;
    if (kind == FANCY) {
        PyObject *index =
            PyTuple_CheckExact(key) && PyTuple_Size(key) ? PyTuple_GetItem(key, 0) : key;

        switch (px_kind_of(index)) {
        case PX_NUMPYS:   return px_size(px_held(index)) < px.crossover;
        case PX_TREADLES: return 0;
        case PX_CHOICE:   return px_take(index) ? 0 : -1; /* treadle has its elements now */
        case PX_OTHER:    return is_sequence(index);
        }
    }
    r = near_view(p, key);
    if (r || PyErr_Occurred()) {
        Py_XDECREF(r);
        return r ? 1 : -1;
    }
    k = plain_key(key, true);
    r = k ? py_subscript(p->held, k) : NULL;
    Py_XDECREF(k);
    if (r)
        small = py_is_array(r) && td_array_size(py_array_of(r)) < px.crossover;
    else if (!px_declined())
        small = -1;
    Py_XDECREF(r);
    return small;
}

static int
far_assign(PyObject *self, PyObject *key, PyObject *value)
{
    py_proxy *p = (py_proxy *)self;
    PyObject *k = NULL, *v = NULL, *operand;
    int r;

    if (px_is_chosen(value) && px_is(key) && py_is_array(px_held(key))) {
        px_settle(self);
        px_settle(key);
        r = py_chosen_put(p->held, px_held(key), px_held(value));
        if (r)
            return r > 0 ? 0 : -1;
    }
    if (!px_take(value))
        return -1;
    px_settle(self);
    px_settle(value);
    operand = px_array(value);
    if (px_may_lift(operand)) {
        k = plain_key(key, true);
        v = k ? px_lift(operand) : NULL;
        r = v ? py_ass_subscript(p->held, k, v) : -1;
        Py_XDECREF(k);
        Py_XDECREF(v);
        if (r == 0 || !px_declined())
            return r;
    }
    r = host_assign(self, key, value);
    return r == 0 && !px_note("setitem", self) ? -1 : r;
}

static bool
is_number(PyObject *value)
{
    px_kind kind = px_kind_of(value);

    return kind == PX_OTHER
               ? !is_sequence(value)
               : kind != PX_CHOICE && !px_ndim(px_held(value)); /* a choice has an axis */
}

static int
assign(PyObject *self, PyObject *key, PyObject *value)
{
    py_proxy *p = (py_proxy *)self;
    key_kind kind;
    int small;

    if (!px_take(self) || !px_take(key))
        return -1;
    if (!py_is_array(p->held) || !value)
        return host_assign(self, key, value);
    kind = kind_of(key, py_array_of(p->held)->view.shape.ndim);
    if (kind == ELEMENT && !is_number(value)) /* NumPy refuses, or takes the only element */
        return host_assign(self, key, value);
    small = is_small(self, key, kind);
    if (small > 0 && !px_on_cpu(p->held)) {
        if (!px_wear(self))
            return -1;
        small = !py_is_array(p->held);
    }
    return small < 0 ? -1 : small ? host_assign(self, key, value) : far_assign(self, key, value);
}

/* ---- the container protocol ---- */

static Py_ssize_t
length(PyObject *self)
{
    PyObject *held = px_array(self);

    return !held                                 ? -1
           : px_is_np(held) && px_np(held)->ndim ? px_np(held)->dim[0]
                                                 : PyObject_Size(held);
}

static PyObject *
item(PyObject *self, Py_ssize_t i)
{
    PyObject *held = px_array(self), *n, *r;

    if (!held)
        return NULL;
    if (px_is_np(held) && px_np(held)->ndim == 1)
        return px_result(PySequence_GetItem(held, i), self);
    n = PyLong_FromSsize_t(i);
    r = n ? subscript(self, n) : NULL;
    Py_XDECREF(n);
    return r;
}

/* Elements of one axis come from NumPy's array: on a GPU from a copy. */
static PyObject *
iterate(PyObject *self)
{
    PyObject *held = px_array(self), *host, *r;

    if (!held)
        return NULL;
    if (px_ndim(held) > 1)
        return PySeqIter_New(self);
    host = px_host(self);
    r = host ? PyObject_GetIter(host) : NULL;
    Py_XDECREF(host);
    return r;
}

static int
contains(PyObject *self, PyObject *value)
{
    PyObject *host, *v;
    int r = -1;

    host = px_host(self);
    v = host ? px_host(value) : NULL;
    if (v)
        r = PySequence_Contains(host, v);
    Py_XDECREF(host);
    Py_XDECREF(v);
    return r;
}

const PyType_Slot px_index_slots[] = {
    PY_SLOT(Py_mp_length, length),
    PY_SLOT(Py_mp_subscript, subscript),
    PY_SLOT(Py_mp_ass_subscript, assign),
    PY_SLOT(Py_sq_length, length),
    PY_SLOT(Py_sq_item, item),
    PY_SLOT(Py_sq_contains, contains),
    PY_SLOT(Py_tp_iter, iterate),
    {0, NULL},
};
