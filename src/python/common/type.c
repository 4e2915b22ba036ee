/* type.c - the extension's types, and objects of types that a program may derive from.
 *
 * treadle.ndarray has a type of its own.  A program that imports treadle in NumPy's place derives classes from
 * numpy.ndarray by that name, and asks isinstance of arrays that are NumPy's because they hold no numbers.
 */
#include "python/common/py.h"

void *
py_allocate(PyTypeObject *type)
{
    return ((allocfunc)(uintptr_t)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
}

void
py_free(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);

    ((freefunc)(uintptr_t)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

bool
py_add_type(PyObject *module, const char *name, PyType_Spec *spec, PyTypeObject **out)
{
    *out = (PyTypeObject *)PyType_FromSpec(spec);
    return *out && PyModule_AddObjectRef(module, name, (PyObject *)*out) == 0;
}

/* Is type numpy.ndarray or derived from it? */
static bool
is_numpys(PyObject *type)
{
    PyObject *numpys =
        py.numpy && PyType_Check(type) ? PyObject_GetAttrString(py.numpy, "ndarray") : NULL;
    bool r = numpys && PyType_IsSubtype((PyTypeObject *)type, (PyTypeObject *)numpys);

    Py_XDECREF(numpys);
    PyErr_Clear();
    return r;
}

/* Python's own check of treadle.ndarray, but for objects and classes of NumPy's, of which the function `how` decides. */
static PyObject *
checked(PyObject *cls, PyObject *x, PyObject *type, const char *check, const char *how)
{
    PyObject *f, *r;

    if (cls != (PyObject *)py.ndarray || !is_numpys(type))
        return PyObject_CallMethod((PyObject *)&PyType_Type, check, "OO", cls, x);
    f = py_package("treadle._exchange._foreign", how);
    r = f ? PyObject_CallFunctionObjArgs(f, x, NULL) : NULL;
    Py_XDECREF(f);
    return r;
}

static PyObject *
is_instance(PyObject *cls, PyObject *x)
{
    return checked(cls, x, (PyObject *)Py_TYPE(x), "__instancecheck__", "is_instance");
}

/* A class that derive has made is one of treadle.ndarray's. */
static PyObject *
is_subclass(PyObject *cls, PyObject *x)
{
    return checked(cls, x, x, "__subclasscheck__", "is_subclass");
}

/* treadle.ndarray.<name>: a method takes objects of derived classes, too, which are NumPy's. */
static PyObject *
get_attribute(PyObject *cls, PyObject *name)
{
    PyObject *own =
                 ((getattrofunc)(uintptr_t)PyType_GetSlot(&PyType_Type, Py_tp_getattro))(cls, name),
             *r = own, *f;

    if (cls == (PyObject *)py.ndarray && py.numpy &&
        (own ? Py_IS_TYPE(own, &PyMethodDescr_Type) || Py_IS_TYPE(own, &PyWrapperDescr_Type)
             : PyUnicode_CompareWithASCIIString(name, "__array_finalize__") == 0)) {
        PyErr_Clear();
        f = py_package("treadle._exchange._foreign", "unbound");
        r = f ? PyObject_CallFunctionObjArgs(f, name, own ? own : Py_None, NULL) : NULL;
        Py_XDECREF(f);
        Py_XDECREF(own);
    }
    return r;
}

/* class C(treadle.ndarray) */
static PyObject *
derive(PyTypeObject *kind, PyObject *args, PyObject *kw)
{
    PyObject *f = py_package("treadle._exchange._foreign", "subclass"),
             *r = f ? PyObject_Call(f, args, kw) : NULL;

    (void)kind;
    Py_XDECREF(f);
    return r;
}

/* treadle.ndarray.__new__(cls, ...), of a class that derive has made, too. */
PyObject *
py_new_array(PyObject *unused, PyObject *args, PyObject *kw)
{
    PyObject *cls = PyTuple_Size(args) > 0 ? PyTuple_GetItem(args, 0) : NULL, *rest, *f, *r;

    (void)unused;
    if (cls && is_numpys(cls)) {
        f = py_package("treadle._exchange._foreign", "new");
        r = f ? PyObject_Call(f, args, kw) : NULL;
        Py_XDECREF(f);
        return r;
    }
    if (!cls || !PyType_Check(cls) || !PyType_IsSubtype((PyTypeObject *)cls, py.ndarray)) {
        PyErr_SetString(PyExc_TypeError,
                        "ndarray.__new__(cls): cls is no class of treadle's or NumPy's arrays");
        return NULL;
    }
    rest = PyTuple_GetSlice(args, 1, PyTuple_Size(args));
    r = rest ? ((newfunc)(uintptr_t)PyType_GetSlot(py.ndarray, Py_tp_new))((PyTypeObject *)cls,
                                                                           rest, kw)
             : NULL;
    Py_XDECREF(rest);
    return r;
}

bool
py_class_of_arrays(PyTypeObject *type)
{
    static PyMethodDef checks[] = {{"__instancecheck__", is_instance, METH_O, NULL},
                                   {"__subclasscheck__", is_subclass, METH_O, NULL},
                                   {NULL, NULL, 0, NULL}};
    static PyType_Slot slots[] = {PY_SLOT(Py_tp_new, derive),
                                  PY_SLOT(Py_tp_getattro, get_attribute),
                                  {Py_tp_methods, checks},
                                  {0, NULL}};
    static PyType_Spec spec = {
        .name = "treadle._core.array_type",
        .flags = Py_TPFLAGS_DEFAULT,
        .slots = slots,
    };
    PyObject *kind = PyType_FromSpecWithBases(&spec, (PyObject *)&PyType_Type);

    if (kind)
        Py_SET_TYPE((PyObject *)type, (PyTypeObject *)kind); /* as make_number_type does */
    return kind != NULL;
}
