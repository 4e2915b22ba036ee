/* door.c - doors: the package's functions of NumPy's names as programs call them.
 *
 * A door calls the package's own function.  Where that refuses an argument or a dtype because
 * treadle's arrays hold numbers (py.no_numbers), NumPy's function of the same name computes the
 * call (treadle._exchange._foreign).  The package's own code calls the functions themselves, so a
 * refusal reaches the call that the program wrote, and NumPy computes all of it.  For everything
 * else (attributes, text, the class that isinstance asks for) the function answers.
 */
#include "python/common/py.h"

#include <stddef.h>
#include <structmember.h>

/* Exported by CPython since 3.11 at least, part of the limited API from 3.12 on. */
extern PyObject *PyVectorcall_Call(PyObject *f, PyObject *tuple, PyObject *kw);
extern PyObject *PyObject_Vectorcall(PyObject *f, PyObject *const *args, size_t nargsf,
                                     PyObject *kwnames);

typedef struct door {
    PyObject_HEAD PyObject *(*call)(PyObject *self, PyObject *const *args, size_t nargsf,
                                    PyObject *kwnames);
    PyObject *behind; /* the package's function */
    PyObject *name;   /* below treadle and below numpy: "linalg.norm" */
    PyObject *weak;
} door;

static PyTypeObject *door_type;
static _Thread_local int depth; /* calls of doors that this thread is within */

bool
py_within_door(void)
{
    return depth > 0;
}

bool
py_asks_numpy(void)
{
    return !px_works();
}

PyObject *
py_instead(const char *how, PyObject *name)
{
    PyObject *type, *value, *trace, *f, *r;

    if (!py_asks_numpy() || !PyErr_ExceptionMatches(py.no_numbers))
        return NULL;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    f = py_package("treadle._exchange._foreign", how);
    r = f ? PyObject_CallFunctionObjArgs(f, name, value, NULL) : NULL;
    Py_XDECREF(f);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
    return r;
}

/* Does NumPy give a call with o as its k-th argument to o's class?  Arguments behind the first, and arrays in a list,
 * are asked for by __array_function__ alone. */
static bool
decides(PyObject *o, size_t k)
{
    PyObject *f;
    bool r;

    if (PyList_Check(o) || PyTuple_Check(o)) { /* the first and the last element speak for all */
        Py_ssize_t n = PySequence_Size(o);

        r = false;
        for (Py_ssize_t i = 0; !r && i < n; i += n > 1 ? n - 1 : 1) {
            PyObject *item = PySequence_GetItem(o, i);

            r = item && decides(item, 1);
            Py_XDECREF(item);
        }
        PyErr_Clear();
        return r;
    }
    if (!py_is_librarys(o))
        return false;
    f = k ? py_attr((PyObject *)Py_TYPE(o), "__array_function__") : NULL;
    Py_XDECREF(f);
    PyErr_Clear();
    return f || !k;
}

/* NumPy's function for a call with an object that NumPy gives the call to (a pandas.Series keeps its index so, a quantity
 * its unit); NULL: the call is ours. */
static PyObject *
librarys(PyObject *name, PyObject *const *args, Py_ssize_t nargs)
{
    PyObject *f = NULL, *r;

    for (size_t k = 0; !f && k < (size_t)nargs && k < 3; k++)
        if (decides(args[k], k))
            f = py_package("treadle._exchange._foreign", "dispatched");
    r = f ? PyObject_CallFunctionObjArgs(f, name, NULL) : NULL;
    Py_XDECREF(f);
    if (r == Py_None)
        Py_CLEAR(r);
    PyErr_Clear();
    return r;
}

static PyObject *
door_call(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *kwnames)
{
    Py_ssize_t nargs = (Py_ssize_t)(nargsf & ~((size_t)1 << (8 * sizeof(size_t) - 1)));
    PyObject *r, *instead = librarys(((door *)self)->name, args, nargs);

    if (instead) {
        r = PyObject_Vectorcall(instead, args, (size_t)nargs, kwnames);
        Py_DECREF(instead);
        return r;
    }
    depth++;
    r = PyObject_Vectorcall(((door *)self)->behind, args, (size_t)nargs, kwnames);
    depth--;
    instead = r ? NULL : py_instead("function", ((door *)self)->name);
    if (instead)
        r = PyObject_Vectorcall(instead, args, (size_t)nargs, kwnames);
    Py_XDECREF(instead);
    return r;
}

/* ---- the type ---- */

static PyObject *
door_make(PyTypeObject *type, PyObject *args, PyObject *kw)
{
    static char *names[] = {"name", "behind", NULL};
    PyObject *behind, *name;
    door *d;

    if (!PyArg_ParseTupleAndKeywords(args, kw, "UO:door", names, &name, &behind))
        return NULL;
    d = PyObject_GC_New(door, type);
    if (!d)
        return NULL;
    d->call = door_call;
    d->behind = Py_NewRef(behind);
    d->name = Py_NewRef(name);
    d->weak = NULL;
    PyObject_GC_Track((PyObject *)d);
    return (PyObject *)d;
}

static int
door_clear(PyObject *self)
{
    Py_CLEAR(((door *)self)->behind);
    return 0;
}

static int
door_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(((door *)self)->behind);
    return 0;
}

static void
door_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);

    PyObject_GC_UnTrack(self);
    if (((door *)self)->weak)
        PyObject_ClearWeakRefs(self);
    door_clear(self);
    Py_XDECREF(((door *)self)->name);
    PyObject_GC_Del(self);
    Py_DECREF(type);
}

static PyObject *
door_repr(PyObject *self)
{
    return PyObject_Repr(((door *)self)->behind);
}

static bool
is_own(PyObject *name)
{
    return PyUnicode_CompareWithASCIIString(name, "__reduce__") == 0 ||
           PyUnicode_CompareWithASCIIString(name, "__reduce_ex__") == 0;
}

static PyObject *
door_getattr(PyObject *self, PyObject *name)
{
    return is_own(name) ? PyObject_GenericGetAttr(self, name)
                        : PyObject_GetAttr(((door *)self)->behind, name);
}

static int
door_setattr(PyObject *self, PyObject *name, PyObject *value)
{
    return PyObject_SetAttr(((door *)self)->behind, name, value);
}

/* As an attribute of a class it is a method where its function would be one. */
static PyObject *
door_descr_get(PyObject *self, PyObject *o, PyObject *type)
{
    PyObject *types, *r;

    (void)type;
    if (!o || o == Py_None || !PyType_GetSlot(Py_TYPE(((door *)self)->behind), Py_tp_descr_get))
        return Py_NewRef(self);
    types = PyImport_ImportModule("types");
    r = types ? PyObject_CallMethod(types, "MethodType", "OO", self, o) : NULL;
    Py_XDECREF(types);
    return r;
}

/* Pickled by its name in the package. */
static PyObject *
door_reduce(PyObject *self, PyObject *unused)
{
    PyObject *f = py_package("pkgutil", "resolve_name"),
             *full = f ? PyUnicode_FromFormat("treadle:%U", ((door *)self)->name) : NULL,
             *r = full ? Py_BuildValue("O(O)", f, full) : NULL;

    (void)unused;
    Py_XDECREF(full);
    Py_XDECREF(f);
    return r;
}

static PyObject *
behind(PyObject *module, PyObject *o)
{
    (void)module;
    return Py_NewRef(py_behind(o));
}

PyObject *
py_behind(PyObject *o)
{
    return Py_IS_TYPE(o, door_type) ? ((door *)o)->behind : o;
}

PyMethodDef py_door_functions[] = {
    {"_behind", behind, METH_O, "_behind(f): the function behind a door; anything else itself."},
    {NULL, NULL, 0, NULL},
};

bool
py_door_init(PyObject *m)
{
    static PyMemberDef members[] = {
        {"__vectorcalloffset__", T_PYSSIZET, offsetof(door, call), READONLY, NULL},
        {"__weaklistoffset__", T_PYSSIZET, offsetof(door, weak), READONLY, NULL},
        {NULL, 0, 0, 0, NULL},
    };
    static PyMethodDef methods[] = {
        {"__reduce__", door_reduce, METH_NOARGS, NULL},
        {NULL, NULL, 0, NULL},
    };
    static PyType_Slot slots[] = {
        PY_SLOT(Py_tp_new, door_make),
        PY_SLOT(Py_tp_dealloc, door_dealloc),
        PY_SLOT(Py_tp_clear, door_clear),
        PY_SLOT(Py_tp_traverse, door_traverse),
        PY_SLOT(Py_tp_call, PyVectorcall_Call),
        PY_SLOT(Py_tp_repr, door_repr),
        PY_SLOT(Py_tp_getattro, door_getattr),
        PY_SLOT(Py_tp_setattro, door_setattr),
        PY_SLOT(Py_tp_descr_get, door_descr_get),
        {Py_tp_members, members},
        {Py_tp_methods, methods},
        {0, NULL},
    };
    static PyType_Spec spec = {
        .name = "treadle._core.door",
        .basicsize = sizeof(door),
        .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | (1UL << 11), /* …HAVE_VECTORCALL */
        .slots = slots,
    };

    py.no_numbers = PyErr_NewExceptionWithDoc("treadle._core.NoNumbersError",
                                              "A TypeError: treadle's arrays hold numbers, and an "
                                              "argument or a dtype stands for something else.",
                                              PyExc_TypeError, NULL);
    return py.no_numbers && PyModule_AddObjectRef(m, "NoNumbersError", py.no_numbers) == 0 &&
           py_add_type(m, "door", &spec, &door_type);
}
