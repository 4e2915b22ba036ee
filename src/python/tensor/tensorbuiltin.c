/* tensorbuiltin.c - _core.Builtin: the functions of torch that are built-in ones in PyTorch.
 *
 * A Builtin calls its target.  Classes do not bind it to their instances, as Python binds a function that is a class's
 * attribute.  The target may be replaced; whoever holds the Builtin calls the new one from then on.  All attributes
 * but the module's name are the target's.
 */
#include "python/tensor/tensor.h"

#include <stddef.h>
#include <structmember.h>

#define HAVE_VECTORCALL (1UL << 11)

/* Exported by CPython since 3.11 at least, part of the limited API from 3.12 on. */
extern PyObject *PyVectorcall_Call(PyObject *f, PyObject *tuple, PyObject *kw);
extern PyObject *PyObject_Vectorcall(PyObject *f, PyObject *const *args, size_t nargsf,
                                     PyObject *kwnames);

typedef PyObject *(*vector)(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *names);

typedef struct builtin {
    PyObject_HEAD vector call;
    PyObject *target;
    PyObject *name, *module; /* under which pickle finds it */
    PyObject *weak;
} builtin;

static PyObject *
builtin_call(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *names)
{
    PyObject *target = Py_NewRef(((builtin *)self)->target), /* the call may replace it */
        *r = PyObject_Vectorcall(target, args, nargsf, names);

    Py_DECREF(target);
    return r;
}

static PyObject *
builtin_new(PyTypeObject *type, PyObject *args, PyObject *kw)
{
    static char *names[] = {"target", "name", "module", NULL};
    PyObject *target, *name, *module;
    builtin *f;

    if (!PyArg_ParseTupleAndKeywords(args, kw, "OUU:Builtin", names, &target, &name, &module))
        return NULL;
    f = PyObject_GC_New(builtin, type);
    if (!f)
        return NULL;
    f->call = builtin_call;
    f->target = Py_NewRef(target);
    f->name = Py_NewRef(name);
    f->module = Py_NewRef(module);
    f->weak = NULL;
    PyObject_GC_Track((PyObject *)f);
    return (PyObject *)f;
}

static int
builtin_clear(PyObject *self)
{
    Py_CLEAR(((builtin *)self)->target);
    return 0;
}

static int
builtin_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(((builtin *)self)->target);
    return 0;
}

static void
builtin_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);

    PyObject_GC_UnTrack(self);
    if (((builtin *)self)->weak)
        PyObject_ClearWeakRefs(self);
    builtin_clear(self);
    Py_DECREF(((builtin *)self)->name);
    Py_DECREF(((builtin *)self)->module);
    PyObject_GC_Del(self);
    Py_DECREF(type);
}

static PyObject *
builtin_repr(PyObject *self)
{
    return PyUnicode_FromFormat("<built-in function %U>", ((builtin *)self)->name);
}

static bool
is_one_of(PyObject *name, const char *const *own)
{
    for (; *own; own++)
        if (PyUnicode_CompareWithASCIIString(name, *own) == 0)
            return true;
    return false;
}

static PyObject *
builtin_getattro(PyObject *self, PyObject *name)
{
    static const char *const own[] = {"_target", "__module__", "__reduce__", "__reduce_ex__", NULL};

    if (PyUnicode_CompareWithASCIIString(name, "__class__") == 0) /* inspect.isbuiltin asks */
        return Py_NewRef((PyObject *)&PyCFunction_Type);
    return is_one_of(name, own) ? PyObject_GenericGetAttr(self, name)
                                : PyObject_GetAttr(((builtin *)self)->target, name);
}

static int
builtin_setattro(PyObject *self, PyObject *name, PyObject *value)
{
    static const char *const own[] = {"_target", NULL};

    return is_one_of(name, own) ? PyObject_GenericSetAttr(self, name, value)
                                : PyObject_SetAttr(((builtin *)self)->target, name, value);
}

/* A function pickles by the name under which its module has it. */
static PyObject *
builtin_reduce(PyObject *self, PyObject *unused)
{
    (void)unused;
    return Py_NewRef(((builtin *)self)->name);
}

bool
pt_builtin_init(PyObject *m)
{
    static PyMemberDef members[] = {
        {"__vectorcalloffset__", T_PYSSIZET, offsetof(builtin, call), READONLY, NULL},
        {"__weaklistoffset__", T_PYSSIZET, offsetof(builtin, weak), READONLY, NULL},
        {"__module__", T_OBJECT, offsetof(builtin, module), READONLY, NULL},
        {"_target", T_OBJECT_EX, offsetof(builtin, target), 0, "The function that is called."},
        {NULL, 0, 0, 0, NULL},
    };
    static PyMethodDef methods[] = {
        {"__reduce__", builtin_reduce, METH_NOARGS, NULL},
        {NULL, NULL, 0, NULL},
    };
    static PyType_Slot slots[] = {
        PY_SLOT(Py_tp_new, builtin_new),
        PY_SLOT(Py_tp_dealloc, builtin_dealloc),
        PY_SLOT(Py_tp_clear, builtin_clear),
        PY_SLOT(Py_tp_traverse, builtin_traverse),
        PY_SLOT(Py_tp_call, PyVectorcall_Call),
        PY_SLOT(Py_tp_repr, builtin_repr),
        PY_SLOT(Py_tp_getattro, builtin_getattro),
        PY_SLOT(Py_tp_setattro, builtin_setattro),
        {Py_tp_members, members},
        {Py_tp_methods, methods},
        {0, NULL},
    };
    static PyType_Spec spec = {
        .name = "builtins.builtin_function_or_method",
        .basicsize = sizeof(builtin),
        .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | HAVE_VECTORCALL,
        .slots = slots,
    };
    PyObject *type = PyType_FromSpec(&spec);

    return type && PyModule_AddObjectRef(m, "Builtin", type) == 0;
}
