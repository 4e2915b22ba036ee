/* type.c - the extension's types, and objects of types that a program may derive from. */
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
