/* proxycall.c - faces: NumPy's functions and ufuncs as unchanged programs call them.
 *
 * A face unwraps its arguments and calls NumPy; where an argument is treadle's or the result would be big,
 * treadle.unchanged._far decides.  Anything that a face is asked for besides, NumPy's function answers.
 */
#include "python/unchanged/proxy.h"

#include <stddef.h>
#include <string.h>
#include <structmember.h>

#define HAVE_VECTORCALL (1UL << 11)

/* Exported by CPython since 3.11 at least, part of the limited API from 3.12 on. */
extern PyObject *PyVectorcall_Call(PyObject *f, PyObject *tuple, PyObject *kw);
extern PyObject *PyObject_Vectorcall(PyObject *f, PyObject *const *args, size_t nargsf,
                                     PyObject *kwnames);

enum { ARGS = 32 };

typedef PyObject *(*vector)(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *names);

typedef struct face {
    PyObject_HEAD vector call;
    PyObject *target; /* NumPy's function */
    PyObject *name;   /* "numpy.linalg.norm" */
    int nin;          /* operands of a ufunc; else 0 */
    bool sized;       /* makes an array of a size that its numbers say */
    PyObject *weak;
} face;

PyObject *
px_vectorcall(PyObject *f, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    return PyObject_Vectorcall(f, args, (size_t)nargs, kwnames);
}

PyObject *
px_bare(PyObject *o)
{
    PyObject *real;

    if (!px.ndarray)
        return o;
    if (px_is(o)) {
        PyObject *array = px_array(o);

        if (!array)
            PyErr_Clear(); /* what is done with it says more */
        return array ? array : o;
    }
    if (Py_IS_TYPE(o, px.face) || Py_IS_TYPE(o, px.uface))
        return ((face *)o)->target;
    real = PyModule_Check(o) ? PyDict_GetItemString(PyModule_GetDict(o), "_td_real") : NULL;
    return real ? real : o;
}

PyObject *
px_shown(PyObject *r)
{
    return r && px.ndarray && px_is_np(r) ? px_result(r, NULL) : r;
}

/* ---- arguments ---- */

static bool
is_sequence(PyObject *o)
{
    return PyList_CheckExact(o) || PyTuple_CheckExact(o);
}

/* Are there proxies in a list or tuple? */
static bool
holds_proxies(PyObject *o, int depth)
{
    bool list = PyList_CheckExact(o);
    Py_ssize_t n = list ? PyList_Size(o) : PyTuple_Size(o);

    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *item = list ? PyList_GetItem(o, i) : PyTuple_GetItem(o, i);

        if (px_is(item) || (depth && is_sequence(item) && holds_proxies(item, depth - 1)))
            return true;
    }
    return false;
}

static PyObject *
map_items(PyObject *o, PyObject *(*how)(PyObject *))
{
    bool list = PyList_CheckExact(o);
    Py_ssize_t n = list ? PyList_Size(o) : PyTuple_Size(o);
    PyObject *r = list ? PyList_New(n) : PyTuple_New(n);

    for (Py_ssize_t i = 0; r && i < n; i++) {
        PyObject *item = how(list ? PyList_GetItem(o, i) : PyTuple_GetItem(o, i));

        if (!item)
            Py_CLEAR(r);
        else if (list)
            PyList_SetItem(r, i, item);
        else
            PyTuple_SetItem(r, i, item);
    }
    return r;
}

enum { DEPTH = 8 };

PyObject *
px_plain(PyObject *o)
{
    if (px_is(o))
        return px_host(o);
    if (o == (PyObject *)px.proxy)
        return Py_NewRef((PyObject *)px.ndarray);
    return is_sequence(o) && holds_proxies(o, DEPTH) ? map_items(o, px_plain) : Py_NewRef(o);
}

PyObject *
px_lifted(PyObject *o)
{
    if (px_is(o) || px_is_np(o)) {
        PyObject *held;

        if (!px_take(o))
            return NULL;
        px_settle(o);
        held = px_array(o);
        return px_may_lift(held) ? px_lift(held) : Py_NewRef(held);
    }
    return is_sequence(o) && holds_proxies(o, DEPTH) ? map_items(o, px_lifted) : Py_NewRef(o);
}

/* Does o hold treadle's arrays that stay with treadle? */
static bool
is_far(PyObject *o)
{
    bool list;
    Py_ssize_t n;

    if (px_is(o)) {
        PyObject *held;

        if (px_is_big(px_held(o)))
            px_settle(o);
        held = px_operand(o); /* takes the elements of a choice out */

        return held && py_is_array(held);
    }
    if (!is_sequence(o))
        return false;
    list = PyList_CheckExact(o);
    n = list ? PyList_Size(o) : PyTuple_Size(o);
    for (Py_ssize_t i = 0; i < n; i++)
        if (is_far(list ? PyList_GetItem(o, i) : PyTuple_GetItem(o, i)))
            return true;
    return false;
}

/* ---- how big a result would be ---- */

static int64_t
broadcast(const np_array *const *a, int n)
{
    int64_t size = 1;
    int ndim = 0;

    for (int i = 0; i < n; i++)
        ndim = a[i]->ndim > ndim ? a[i]->ndim : ndim;
    for (int k = 1; k <= ndim; k++) {
        Py_ssize_t dim = 1;

        for (int i = 0; i < n; i++)
            if (k <= a[i]->ndim && a[i]->dim[a[i]->ndim - k] != 1) {
                Py_ssize_t d = a[i]->dim[a[i]->ndim - k];

                if (dim != 1 && dim != d)
                    return -1;
                dim = d;
            }
        if (__builtin_mul_overflow(size, (int64_t)dim, &size))
            return -1;
    }
    return size;
}

int64_t
px_reach(PyObject *const *o, int n)
{
    const np_array *a[3];
    int count = 0;

    if (n > 3)
        return -1;
    for (int i = 0; i < n; i++)
        if (px_is_np(o[i])) {
            if (px_dtype(o[i]) < 0)
                return -1;
            if (px_np(o[i])->ndim)
                a[count++] = px_np(o[i]);
        } else if (!px_may_lift(o[i]) || is_sequence(o[i]))
            return -1;
    return count ? broadcast(a, count) : 1;
}

static bool
grows(PyObject *const *plain, int nin)
{
    int64_t product = 1;
    int arrays = 0;

    for (int i = 0; i < nin; i++)
        if (px_is_np(plain[i]) && px_np(plain[i])->ndim) {
            if (__builtin_mul_overflow(product, px_np_size(plain[i]), &product))
                product = INT64_MAX;
            arrays++;
        }
    return arrays && product >= px.crossover && px_reach(plain, nin) >= px.crossover;
}

/* ---- calls ---- */

static PyObject *
call_far(face *f, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    PyObject *fn = PyObject_GetAttrString(px.far, "call"),
             *r = fn ? py_call_with(fn, (PyObject *)f, args, nargs, kwnames) : NULL;

    Py_XDECREF(fn);
    return r;
}

/* NumPy's result: an argument of the caller's comes back as the caller's object. */
static PyObject *
own_result(PyObject *r, PyObject *const *args, PyObject *const *plain, Py_ssize_t n)
{
    PyObject *of = NULL;

    if (!r || !(px_is_np(r) || PyTuple_Check(r) || PyList_CheckExact(r)))
        return r;
    for (Py_ssize_t i = 0; i < n; i++)
        if (px_is(args[i])) {
            if (plain[i] == r) {
                Py_DECREF(r);
                return Py_NewRef(args[i]);
            }
            of = of ? of : args[i];
        }
    return px_result(r, of);
}

static PyObject *
near_call(face *f, PyObject *const *args, PyObject *const *plain, Py_ssize_t nargs,
          PyObject *kwnames)
{
    int64_t since = px_clock();
    PyObject *r = own_result(PyObject_Vectorcall(f->target, plain, (size_t)nargs, kwnames), args,
                             plain, nargs + (kwnames ? PyTuple_Size(kwnames) : 0));

    return since ? px_seen(r, PyUnicode_AsUTF8AndSize(f->name, NULL), r ? r : Py_None, since) : r;
}

/* Is there a number among the arguments, or a shape, of as many elements as make an array big? */
static bool
says_big(PyObject *const *args, Py_ssize_t n)
{
    for (Py_ssize_t i = 0; i < n; i++) {
        bool tuple = PyTuple_CheckExact(args[i]);
        Py_ssize_t items = tuple ? PyTuple_Size(args[i]) : 1;
        double size = 1;

        for (Py_ssize_t k = 0; k < items; k++) {
            PyObject *o = tuple ? PyTuple_GetItem(args[i], k) : args[i];

            size *= PyLong_Check(o) || PyFloat_Check(o) ? PyFloat_AsDouble(o)
                    : PyBool_Check(o)                   ? 1
                                                        : 0;
        }
        if (PyErr_Occurred())
            PyErr_Clear();
        if (size >= (double)px.crossover)
            return true;
    }
    return false;
}

static PyObject *
call_whole(const void *how, PyObject *const *whole)
{
    const face *f = how;
    PyObject *native = PyObject_CallMethod(px.far, "native", "O", f->name), *r = NULL;

    if (native && native != Py_None)
        r = PyObject_Vectorcall(native, whole, (size_t)f->nin, NULL);
    Py_XDECREF(native);
    return r;
}

/* A ufunc of chosen elements, or a sum of them; NULL without an exception: they have been taken out. */
static PyObject *
on_chosen(face *f, PyObject *const *args, Py_ssize_t n)
{
    bool any = false;

    for (Py_ssize_t i = 0; i < n && n <= 3; i++)
        any |= px_is_chosen(args[i]);
    if (!any)
        return NULL;
    if (f->nin == n)
        return px_on_chosen(call_whole, f, args, f->nin);
    if (n == 1 && !f->nin) {
        const char *name = PyUnicode_AsUTF8AndSize(f->name, NULL);

        return name ? px_reduce_chosen(args[0], strrchr(name, '.') + 1) : NULL;
    }
    return NULL;
}

static PyObject *
call(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *kwnames)
{
    face *f = (face *)self;
    Py_ssize_t nargs = (Py_ssize_t)(nargsf & ~((size_t)1 << (8 * sizeof(size_t) - 1))),
               n = nargs + (kwnames ? PyTuple_Size(kwnames) : 0), i;
    PyObject *plain[ARGS], *r = NULL;
    bool far = n > ARGS || (f->sized && says_big(args, n));

    if (!kwnames && n && (r = on_chosen(f, args, n)))
        return r;
    if (PyErr_Occurred())
        return NULL;
    for (i = 0; i < n && !far; i++)
        far = is_far(args[i]);
    if (far)
        return PyErr_Occurred() ? NULL : call_far(f, args, nargs, kwnames);
    for (i = 0; i < n && (plain[i] = px_plain(args[i])); i++)
        ;
    if (i == n) {
        if (f->nin && nargs >= f->nin && grows(plain, f->nin))
            r = call_far(f, args, nargs, kwnames);
        else
            r = near_call(f, args, plain, nargs, kwnames);
    }
    while (i > 0)
        Py_DECREF(plain[--i]);
    return r;
}

/* ---- the types ---- */

static PyObject *
proxycall_make(PyTypeObject *type, PyObject *args, PyObject *kw)
{
    static char *names[] = {"target", "name", "nin", "sized", NULL};
    PyObject *target, *name;
    int nin = 0, sized = 0;
    face *f;

    if (!PyArg_ParseTupleAndKeywords(args, kw, "OU|ip:face", names, &target, &name, &nin, &sized))
        return NULL;
    f = PyObject_GC_New(face, type);
    if (!f)
        return NULL;
    f->call = call;
    f->target = Py_NewRef(target);
    f->name = Py_NewRef(name);
    f->nin = nin;
    f->sized = sized;
    f->weak = NULL;
    PyObject_GC_Track((PyObject *)f);
    return (PyObject *)f;
}

static int
clear(PyObject *self)
{
    Py_CLEAR(((face *)self)->target);
    return 0;
}

static int
traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(((face *)self)->target);
    return 0;
}

static void
dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);

    PyObject_GC_UnTrack(self);
    if (((face *)self)->weak)
        PyObject_ClearWeakRefs(self);
    clear(self);
    Py_XDECREF(((face *)self)->name);
    PyObject_GC_Del(self);
    Py_DECREF(type);
}

static PyObject *
repr(PyObject *self)
{
    return PyObject_Repr(((face *)self)->target);
}

/* A method of a ufunc is a face too; all else is NumPy's answer. */
static PyObject *
getattro(PyObject *self, PyObject *name)
{
    static const char *const methods[] = {"reduce", "accumulate", "outer", "at", "reduceat"};
    face *f = (face *)self;
    PyObject *r, *full, *bound;

    if (PyUnicode_CompareWithASCIIString(name, "__class__") == 0 ||
        PyUnicode_CompareWithASCIIString(name, "_target") == 0 ||
        PyUnicode_CompareWithASCIIString(name, "_name") == 0)
        return PyObject_GenericGetAttr(self, name);
    r = PyObject_GetAttr(f->target, name);
    for (size_t i = 0; r && Py_IS_TYPE(self, px.uface) && i < sizeof methods / sizeof *methods; i++)
        if (PyUnicode_CompareWithASCIIString(name, methods[i]) == 0) {
            full = PyUnicode_FromFormat("%U.%U", f->name, name);
            bound = full ? PyObject_CallFunction((PyObject *)px.face, "OO", r, full) : NULL;
            Py_DECREF(r);
            Py_XDECREF(full);
            return bound;
        }
    return r;
}

static int
setattro(PyObject *self, PyObject *name, PyObject *value)
{
    return PyObject_SetAttr(((face *)self)->target, name, value);
}

/* Pickles as NumPy's function does. */
static PyObject *
reduce(PyObject *self, PyObject *unused)
{
    (void)unused;
    return PyObject_CallMethod(((face *)self)->target, "__reduce_ex__", "i", 2);
}

static Py_hash_t
hash(PyObject *self)
{
    return PyObject_Hash(((face *)self)->target);
}

/* A face equals NumPy's function. */
static PyObject *
compare(PyObject *x, PyObject *y, int how)
{
    PyObject *other = Py_IS_TYPE(y, Py_TYPE(x)) ? ((face *)y)->target : y;

    return PyObject_RichCompare(((face *)x)->target, other, how);
}

static PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(face, call), READONLY, NULL},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(face, weak), READONLY, NULL},
    {"_target", T_OBJECT, offsetof(face, target), READONLY, "NumPy's function."},
    {"_name", T_OBJECT, offsetof(face, name), READONLY, "Its name, as numpy.linalg.norm."},
    {0},
};

static PyMethodDef methods[] = {
    {"__reduce__", reduce, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyTypeObject *
make_type(PyObject *m, const char *name, const char *attribute)
{
    PyType_Slot slots[] = {
        PY_SLOT(Py_tp_new, proxycall_make),
        PY_SLOT(Py_tp_dealloc, dealloc),
        PY_SLOT(Py_tp_clear, clear),
        PY_SLOT(Py_tp_traverse, traverse),
        PY_SLOT(Py_tp_call, PyVectorcall_Call),
        PY_SLOT(Py_tp_repr, repr),
        PY_SLOT(Py_tp_getattro, getattro),
        PY_SLOT(Py_tp_setattro, setattro),
        PY_SLOT(Py_tp_hash, hash),
        PY_SLOT(Py_tp_richcompare, compare),
        {Py_tp_members, members},
        {Py_tp_methods, methods},
        {0, NULL},
    };
    PyType_Spec spec = {
        .name = name,
        .basicsize = sizeof(face),
        .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | HAVE_VECTORCALL,
        .slots = slots,
    };
    PyTypeObject *t = (PyTypeObject *)PyType_FromSpec(&spec);

    return t && PyModule_AddObjectRef(m, attribute, (PyObject *)t) == 0 ? t : NULL;
}

/* _proxy_plain(o): o with NumPy's arrays for proxies, in lists and tuples too.  _proxy_lifted: with treadle's. */
static PyObject *
plain(PyObject *module, PyObject *o)
{
    (void)module;
    return px_plain(o);
}

static PyObject *
lifted(PyObject *module, PyObject *o)
{
    (void)module;
    return px_lifted(o);
}

/* _proxy_call(f, args, kwargs, of): NumPy's f; an array that nobody else has is moved to treadle. */
static PyObject *
call_and_wrap(PyObject *module, PyObject *args)
{
    PyObject *f, *own, *kw, *of;

    (void)module;
    if (!PyArg_ParseTuple(args, "OO!O!O", &f, &PyTuple_Type, &own, &PyDict_Type, &kw, &of))
        return NULL;
    return px_result(PyObject_Call(f, own, kw), of);
}

static PyMethodDef functions[] = {
    {"_proxy_call", call_and_wrap, METH_VARARGS,
     "_proxy_call(f, args, kwargs, of): f's result as unchanged programs see it; of: what it may "
     "be a view of."},
    {"_proxy_plain", plain, METH_O,
     "_proxy_plain(o): o with NumPy's arrays for proxies, in lists and tuples too."},
    {"_proxy_lifted", lifted, METH_O,
     "_proxy_lifted(o): o with treadle's arrays for proxies, in lists and tuples too."},
    {NULL, NULL, 0, NULL},
};

bool
px_face_init(PyObject *m)
{
    px.face = make_type(m, "builtins.function", "face");
    px.uface = px.face ? make_type(m, "numpy.ufunc", "uface") : NULL;
    return px.uface && PyModule_AddFunctions(m, functions) == 0;
}
