/* proxy.c - the type numpy.ndarray of unchanged programs: its life, what it holds, how results are wrapped. */
#include "python/proxy.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <structmember.h>
#include <time.h>

px_state px;

/* ---- life ---- */

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

static void
dealloc(PyObject *self)
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

/* ---- dtypes ---- */

int
px_dtype(PyObject *np)
{
    const PyObject *d = ((const np_array *)np)->dtype;

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

/* ---- what is held, as NumPy's or as treadle's ---- */

static bool
on_cpu(PyObject *td)
{
    return td_dev_info(td_array_dev(py_array_of(td)))->kind == TD_DEV_CPU;
}

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
    PyObject *taken;

    if (!px_is_chosen(o))
        return true;
    taken = py_chosen_taken(p->held);
    if (!taken)
        return false;
    Py_DECREF(p->held);
    p->held = taken;
    return true;
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
    if (on_cpu(p->held))
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
        return on_cpu(o) ? py_host_view(py_array_of(o), true) : py_get(o);
    if (!px_is(o))
        return Py_NewRef(o);
    if (!px_take(o))
        return NULL;
    if (!py_is_array(p->held))
        return Py_NewRef(p->held);
    return on_cpu(p->held) ? Py_XNewRef(host_view(p)) : py_get(p->held);
}

PyObject *
px_lift(PyObject *o)
{
    bool big;
    td_array a;

    if (!px_is_np(o))
        return Py_NewRef(o);
    if (((np_array *)o)->ndim == 0) {
        PyObject *none = PyTuple_New(0), *r = none ? PyObject_GetItem(o, none) : NULL;

        Py_XDECREF(none);
        return r;
    }
    big = px_np_size(o) >= px.crossover && ((np_array *)o)->flags & NP_ALIGNED;
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

    if (!px_is(o) || !py_is_array(p->held) || on_cpu(p->held))
        return true;
    value = px_lift(host);
    ok = value && PyObject_SetItem(p->held, Py_Ellipsis, value) == 0;
    Py_XDECREF(value);
    return ok;
}

/* ---- results ---- */

/* Is nobody but the caller able to reach the memory of r? */
static bool
is_fresh(PyObject *r)
{
    const np_array *a = (const np_array *)r;

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
    const np_array *a = (const np_array *)r;
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

/* A big array that nobody else has goes to treadle: NULL without an exception where it stays. */
static PyObject *
move_up(PyObject *r)
{
    const np_array *a = (const np_array *)r;
    int dt = px_dtype(r);
    td_dev *dev;
    td_array own;
    bool ok;

    if (dt < 0 || a->ndim > TD_MAXDIM || !(a->flags & NP_WRITE) || td_dev_default(&dev))
        return NULL;
    if (td_dev_info(dev)->kind == TD_DEV_CPU && a->flags & (NP_C | NP_F) && a->flags & NP_ALIGNED)
        ok = adopt(r, (td_dtype)dt, dev, &own);
    else {
        ok = py_asarray(r, -1, dev, &own);
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
        ((py_ndarray *)p->held)->readonly = !(((np_array *)p->host)->flags & NP_WRITE);
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
    const np_array *a = (const np_array *)r;
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
    if (of && px_is(of) && py_is_array(((py_proxy *)of)->held) &&
        py_array_of(((py_proxy *)of)->held)->store == py_array_of(r)->store)
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

/* ---- the type ---- */

static PyObject *
text(PyObject *self, PyObject *(*how)(PyObject *))
{
    PyObject *host = px_host(self), *r = host ? how(host) : NULL;

    Py_XDECREF(host);
    return r;
}

static PyObject *
repr(PyObject *self)
{
    return text(self, PyObject_Repr);
}

static PyObject *
str(PyObject *self)
{
    return text(self, PyObject_Str);
}

/* What neither the type nor NumPy's table has: NumPy answers, or says that there is none. */
static PyObject *
getattro(PyObject *self, PyObject *name)
{
    PyObject *r = PyObject_GenericGetAttr(self, name), *host;

    if (r || !PyErr_ExceptionMatches(PyExc_AttributeError))
        return r;
    PyErr_Clear();
    host = px_host(self);
    r = host ? PyObject_GetAttr(host, name) : NULL;
    Py_XDECREF(host);
    return px_result(r, self);
}

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

    px_settle(self);
    if (!py_is_array(p->held) || p->owner || p->host || py_array_of(p->held)->store->refs != 1 ||
        Py_REFCNT(p->held) != 1)
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

    if (!px_is_far(o) || on_cpu(p->held))
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
    bool gpu = px_is_far(o) && !on_cpu(((py_proxy *)o)->held);

    return gpu && !px_come_down(o) ? NULL : px_host(o);
}

static int
getbuffer(PyObject *self, Py_buffer *b, int flags)
{
    PyObject *host = px_hand_out(self);
    int r = host ? PyObject_GetBuffer(host, b, flags) : -1;

    if (!host)
        b->obj = NULL;
    Py_XDECREF(host);
    return r;
}

static PyMemberDef members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(py_proxy, weak), READONLY, NULL},
    {0},
};

/* numpy.ndarray(shape, dtype, …) */
static PyObject *
make(PyTypeObject *type, PyObject *args, PyObject *kw)
{
    PyObject *plain = px_plain(args), *r = NULL;

    (void)type;
    if (px.ndarray && plain)
        r = PyObject_Call((PyObject *)px.ndarray, plain, kw);
    Py_XDECREF(plain);
    if (!r && !PyErr_Occurred())
        PyErr_SetString(PyExc_TypeError, "numpy.ndarray: treadle.install() comes first");
    return px_result(r, NULL);
}

static const PyType_Slot own_slots[] = {
    PY_SLOT(Py_tp_dealloc, dealloc),
    PY_SLOT(Py_tp_new, make),
    PY_SLOT(Py_tp_repr, repr),
    PY_SLOT(Py_tp_str, str),
    PY_SLOT(Py_tp_getattro, getattro),
    PY_SLOT(Py_tp_hash, PyObject_HashNotImplemented),
    PY_SLOT(Py_bf_getbuffer, getbuffer),
    {Py_tp_getset, px_getset},
    {Py_tp_methods, px_methods},
    {Py_tp_members, members},
    {0, NULL},
};

static PyType_Slot slots[96];

static bool
make_type(PyObject *m)
{
    static PyType_Spec spec = {
        .name = "numpy.ndarray",
        .basicsize = sizeof(py_proxy),
        .flags = Py_TPFLAGS_DEFAULT,
        .slots = slots,
    };
    const PyType_Slot *const rows[] = {own_slots, px_number_slots, px_index_slots};
    size_t n = 0;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (const PyType_Slot *s = rows[i]; s->slot; s++) {
            TD_ASSERT(n + 1 < sizeof slots / sizeof *slots);
            slots[n++] = *s;
        }
    px.proxy = (PyTypeObject *)PyType_FromSpec(&spec);
    return px.proxy && PyModule_AddObjectRef(m, "proxy", (PyObject *)px.proxy) == 0;
}

/* ---- functions of _core ---- */

/* Does NumPy lay its arrays out as np_array says? */
static bool
layout_holds(PyObject *np)
{
    PyObject *a = PyObject_CallMethod(np, "zeros", "((ii)s)", 2, 3, "float32"),
             *at = a ? PyObject_GetAttrString(a, "ctypes") : NULL,
             *data = at ? PyObject_GetAttrString(at, "data") : NULL,
             *dtype = a ? PyObject_GetAttrString(a, "dtype") : NULL;
    const np_array *n = (const np_array *)a;
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
    return px_take(o) ? Py_NewRef(px_held(o)) : NULL;
}

static PyObject *
host(PyObject *module, PyObject *o)
{
    (void)module;
    return px_host(o);
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
    PyObject *operand = px_take(o) ? px_held(o) : NULL;

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
take(PyObject *module, PyObject *args)
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
    {"_proxy_take", take, METH_VARARGS,
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
px_init(PyObject *m)
{
    px.crossover = INT64_MAX;
    return make_type(m) && px_face_init(m) && PyModule_AddFunctions(m, functions) == 0;
}
