/* face.c - faces: NumPy's functions and ufuncs as unchanged programs call them.
 *
 * A face looks at its arguments and calls NumPy's function.  If an argument is treadle's, or the
 * result would be big, treadle.unchanged._far decides.  For everything else (attributes, text)
 * NumPy's function answers.
 */
#include "python/unchanged/unchanged.h"

#include <stddef.h>
#include <string.h>
#include <structmember.h>

#define HAVE_VECTORCALL (1UL << 11)

/* Exported by CPython since 3.11 at least, part of the limited API from 3.12 on. */
extern PyObject *PyVectorcall_Call(PyObject *f, PyObject *tuple, PyObject *kw);
extern PyObject *PyObject_Vectorcall(PyObject *f, PyObject *const *args, size_t nargsf,
                                     PyObject *kwnames);

enum { ARGS = 32, DEPTH = 8 };

/* How a function's arguments tell the size of its result, where that is not an operand's: numbers and shapes give it
 * (linspace; zeros, which NumPy makes without work), arrays' sizes multiply (outer), a number or a tuple multiplies the first array's (tile). */
enum { BY_NUMBERS = 1, BY_PRODUCT, BY_FACTOR, BY_NUMBERS_PLAIN };

typedef PyObject *(*vector)(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *names);

typedef struct face {
    PyObject_HEAD vector call;
    PyObject *target; /* NumPy's function */
    PyObject *name;   /* "numpy.linalg.norm" */
    int nin;          /* operands of a ufunc; else 0 */
    int sized;        /* what its result's size depends on besides its operands' */
    PyObject *
        quick; /* treadle's ufunc for calls with operands alone; None: there is none; NULL: not asked yet */
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
    if (Py_IS_TYPE(o, px.face) || Py_IS_TYPE(o, px.uface))
        return ((face *)o)->target;
    real = PyModule_Check(o) ? PyDict_GetItemString(PyModule_GetDict(o), "_td_real") : NULL;
    return real ? real : o;
}

/* ---- arguments ---- */

/* Does o contain arrays that are treadle's? */
static bool
is_far(PyObject *o, int depth)
{
    bool list = PyList_CheckExact(o);
    Py_ssize_t n;

    if (px_is_np(o))
        return px_is_far(o);
    if ((!list && !PyTuple_CheckExact(o)) || !depth)
        return false;
    n = list ? PyList_Size(o) : PyTuple_Size(o);
    for (Py_ssize_t i = 0; i < n; i++)
        if (is_far(list ? PyList_GetItem(o, i) : PyTuple_GetItem(o, i), depth - 1))
            return true;
    return false;
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

/* The product of a number or of a tuple of numbers; 0: o is something else. */
static double
product_of(PyObject *o)
{
    bool tuple = PyTuple_CheckExact(o);
    Py_ssize_t items = tuple ? PyTuple_Size(o) : 1;
    double size = 1;

    for (Py_ssize_t k = 0; k < items; k++) {
        PyObject *x = tuple ? PyTuple_GetItem(o, k) : o;

        size *= PyLong_Check(x) || PyFloat_Check(x) ? PyFloat_AsDouble(x) : PyBool_Check(x) ? 1 : 0;
    }
    if (PyErr_Occurred())
        PyErr_Clear();
    return size;
}

/* The least size of an array that treadle creates.  On a CPU NumPy makes zeros where treadle's would be, and treadle's
 * only pay if other work fuses with them. */
static double
least_created(void)
{
    enum { FACTOR = 16 };
    td_dev *d;
    bool host = px.crossover >= PX_TINY && !td_dev_default(&d) && td_dev_info(d)->host;

    return (double)px.crossover * (host ? FACTOR : 1);
}

/* Will a function whose arguments tell its result's size so make a big array? */
static bool
makes_big(int sized, PyObject *const *args, Py_ssize_t n)
{
    double size = 1;

    switch (sized) {
    case BY_PRODUCT:
        for (Py_ssize_t i = 0; i < n; i++)
            size *= px_is_np(args[i]) ? (double)px_size(args[i]) : 1;
        return size >= (double)px.crossover;
    case BY_FACTOR:
        return n > 1 && px_is_np(args[0]) &&
               (double)px_size(args[0]) * product_of(args[1]) >= (double)px.crossover;
    case BY_NUMBERS:
    case BY_NUMBERS_PLAIN:
        for (Py_ssize_t i = 0; i < n; i++) {
            size = product_of(args[i]);
            if (size >= (double)px.crossover && (sized == BY_NUMBERS || size >= least_created()))
                return true;
        }
        return false;
    default: return false;
    }
}

/* The array of arguments and result that is reported for the call (px_telling); the result if there is none. */
static PyObject *
telling_array(PyObject *const *args, Py_ssize_t n, PyObject *r)
{
    PyObject *most = r;

    for (Py_ssize_t i = 0; i < n; i++)
        most = px_telling(most, args[i]);
    return most;
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

/* Applies a ufunc or a reduction to choices.  NULL without an exception: their elements must
 * be taken out. */
static PyObject *
on_choices(face *f, PyObject *const *args, Py_ssize_t n)
{
    const char *name;
    bool any = false;

    for (Py_ssize_t i = 0; i < n && n <= 3; i++)
        any |= px_choice_of(args[i]) != NULL;
    if (any && f->nin == n)
        return px_choice_shown(px_choice_apply(call_whole, f, args, f->nin));
    if (!any || n != 1 || f->nin)
        return NULL;
    name = PyUnicode_AsUTF8AndSize(f->name, NULL);
    return name ? px_choice_reduce(args[0], strrchr(name, '.') + 1) : NULL;
}

/* A ufunc's operands alone go to treadle's ufunc without a look by treadle.unchanged._far.  NULL without an exception:
 * it declined. */
static PyObject *
call_quick(face *f, PyObject *const *args)
{
    PyObject *lifted[3] = {NULL}, *r = NULL;
    int n = 0;

    if (!f->quick && !(f->quick = PyObject_CallMethod(px.far, "quick", "O", f->name)))
        return NULL;
    if (f->quick == Py_None)
        return NULL;
    while (n < f->nin && px_may_lift(args[n]) && (lifted[n] = px_lift(args[n])) != NULL)
        n++;
    px_busy++;
    if (n == f->nin)
        r = PyObject_Vectorcall(f->quick, lifted, (size_t)n, NULL);
    px_busy--;
    while (n)
        Py_DECREF(lifted[--n]);
    if (!r && PyErr_Occurred())
        (void)px_declined();
    if (r == Py_NotImplemented)
        Py_CLEAR(r);
    return px_shown(r);
}

/* Are the arguments one or two small arrays or numbers, of which NumPy makes nothing big? */
static bool
are_small(const face *f, PyObject *const *args, Py_ssize_t n, PyObject *kwnames)
{
    if (kwnames || f->sized || n > 2 || !n || px.watch)
        return false;
    return n == 2 ? px_are_small(args[0], args[1]) : px_small(args[0]) != 0;
}

static PyObject *
face_call(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *kwnames)
{
    face *f = (face *)self;
    Py_ssize_t nargs = (Py_ssize_t)(nargsf & ~((size_t)1 << (8 * sizeof(size_t) - 1))),
               n = nargs + (kwnames ? PyTuple_Size(kwnames) : 0);
    bool far;
    int64_t since;
    PyObject *r;

    if (are_small(f, args, n, kwnames))
        return PyObject_Vectorcall(f->target, args, (size_t)nargs, NULL);
    far = n > ARGS || (f->sized && !px_busy && makes_big(f->sized, args, n));
    if (!kwnames && n && !px_busy && (r = on_choices(f, args, n), r || PyErr_Occurred()))
        return r;
    for (Py_ssize_t i = 0; i < n && !far; i++)
        far = is_far(args[i], DEPTH);
    if (far || (f->nin && nargs >= f->nin && px_grows(args, f->nin))) {
        r = f->nin && f->nin <= 3 && n == f->nin && !kwnames ? call_quick(f, args) : NULL;
        return r || PyErr_Occurred() ? r : call_far(f, args, nargs, kwnames);
    }
    since = px_clock();
    r = PyObject_Vectorcall(f->target, args, (size_t)nargs, kwnames);
    return since && r ? px_seen(r, PyUnicode_AsUTF8AndSize(f->name, NULL),
                                telling_array(args, n, r), since)
                      : r;
}

/* ---- the types ---- */

static PyObject *
face_make(PyTypeObject *type, PyObject *args, PyObject *kw)
{
    static char *names[] = {"target", "name", "nin", "sized", NULL};
    PyObject *target, *name;
    int nin = 0, sized = 0;
    face *f;

    if (!PyArg_ParseTupleAndKeywords(args, kw, "OU|ii:face", names, &target, &name, &nin, &sized))
        return NULL;
    f = PyObject_GC_New(face, type);
    if (!f)
        return NULL;
    f->call = face_call;
    f->target = Py_NewRef(target);
    f->name = Py_NewRef(name);
    f->nin = nin;
    f->sized = sized;
    f->quick = f->weak = NULL;
    PyObject_GC_Track((PyObject *)f);
    return (PyObject *)f;
}

static int
face_clear(PyObject *self)
{
    Py_CLEAR(((face *)self)->target);
    Py_CLEAR(((face *)self)->quick);
    return 0;
}

static int
face_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(((face *)self)->target);
    Py_VISIT(((face *)self)->quick);
    return 0;
}

static void
face_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);

    PyObject_GC_UnTrack(self);
    if (((face *)self)->weak)
        PyObject_ClearWeakRefs(self);
    face_clear(self);
    Py_XDECREF(((face *)self)->name);
    PyObject_GC_Del(self);
    Py_DECREF(type);
}

static PyObject *
face_repr(PyObject *self)
{
    return PyObject_Repr(((face *)self)->target);
}

/* A ufunc's methods are faces too; all other attributes are NumPy's, the class among them: isinstance asks for it. */
static PyObject *
getattro(PyObject *self, PyObject *name)
{
    enum { OUTER = 2 };
    static const char *const methods[] = {"reduce", "accumulate", [OUTER] = "outer", "at",
                                          "reduceat"};
    face *f = (face *)self;
    PyObject *r, *full, *bound;

    if (PyUnicode_CompareWithASCIIString(name, "_target") == 0 ||
        PyUnicode_CompareWithASCIIString(name, "_name") == 0 ||
        PyUnicode_CompareWithASCIIString(name, "__reduce__") == 0 ||
        PyUnicode_CompareWithASCIIString(name, "__reduce_ex__") == 0)
        return PyObject_GenericGetAttr(self, name);
    r = PyObject_GetAttr(f->target, name);
    if (!r && PyUnicode_CompareWithASCIIString(name, "__wrapped__") == 0) {
        PyErr_Clear();
        return Py_NewRef(f->target); /* inspect finds the signature there */
    }
    for (size_t i = 0; r && Py_IS_TYPE(self, px.uface) && i < sizeof methods / sizeof *methods; i++)
        if (PyUnicode_CompareWithASCIIString(name, methods[i]) == 0) {
            full = PyUnicode_FromFormat("%U.%U", f->name, name);
            bound = full ? PyObject_CallFunction((PyObject *)px.face, "OOii", r, full, 0,
                                                 i == OUTER ? BY_PRODUCT : 0)
                         : NULL;
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
face_reduce(PyObject *self, PyObject *unused)
{
    (void)unused;
    return PyObject_CallMethod(px.far, "pickled", "(O)", self);
}

static Py_hash_t
face_hash(PyObject *self)
{
    return PyObject_Hash(((face *)self)->target);
}

/* A face equals NumPy's function. */
static PyObject *
face_compare(PyObject *x, PyObject *y, int how)
{
    PyObject *other = Py_IS_TYPE(y, Py_TYPE(x)) ? ((face *)y)->target : y;

    return PyObject_RichCompare(((face *)x)->target, other, how);
}

/* As an attribute of a class NumPy's function is a method, or is not, as its own type says. */
static PyObject *
face_descr_get(PyObject *self, PyObject *o, PyObject *type)
{
    PyObject *types = NULL, *r;

    (void)type;
    if (!o || o == Py_None || !PyType_GetSlot(Py_TYPE(((face *)self)->target), Py_tp_descr_get))
        return Py_NewRef(self);
    types = PyImport_ImportModule("types");
    r = types ? PyObject_CallMethod(types, "MethodType", "OO", self, o) : NULL;
    Py_XDECREF(types);
    return r;
}

static PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(face, call), READONLY, NULL},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(face, weak), READONLY, NULL},
    {"_target", T_OBJECT, offsetof(face, target), READONLY, "NumPy's function."},
    {"_name", T_OBJECT, offsetof(face, name), READONLY, "Its name, as numpy.linalg.norm."},
    {0},
};

static PyMethodDef methods[] = {
    {"__reduce__", face_reduce, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyTypeObject *
make_type(PyObject *m, const char *name, const char *attribute, bool binds)
{
    PyType_Slot slots[] = {
        PY_SLOT(Py_tp_new, face_make),
        PY_SLOT(Py_tp_dealloc, face_dealloc),
        PY_SLOT(Py_tp_clear, face_clear),
        PY_SLOT(Py_tp_traverse, face_traverse),
        PY_SLOT(Py_tp_call, PyVectorcall_Call),
        PY_SLOT(Py_tp_repr, face_repr),
        PY_SLOT(Py_tp_getattro, getattro),
        PY_SLOT(Py_tp_setattro, setattro),
        PY_SLOT(Py_tp_hash, face_hash),
        PY_SLOT(Py_tp_richcompare, face_compare),
        {Py_tp_members, members},
        {Py_tp_methods, methods},
        {binds ? Py_tp_descr_get : 0, (void *)(uintptr_t)face_descr_get},
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

bool
px_face_init(PyObject *m)
{
    px.face = make_type(m, "builtins.function", "face", true);
    px.uface = px.face ? make_type(m, "numpy.ufunc", "uface", false) : NULL;
    return px.uface;
}
