/* moduleface.c - the type of the modules that an unchanged program sees for NumPy's.
 *
 * Programs look up a name of the module for each call, so the lookup is one in its dictionary.  A subclass of ModuleType
 * that Python defines, with a __getattr__, takes ten times as long.
 */
#include "python/unchanged/unchanged.h"

static bool
is_special(PyObject *name)
{
    return PyUnicode_GetLength(name) > 1 && PyUnicode_ReadChar(name, 0) == '_' &&
           PyUnicode_ReadChar(name, 1) == '_';
}

/* A name that the dictionary lacks is asked of the subclass's `_missing`, once. */
static PyObject *
getattro(PyObject *self, PyObject *name)
{
    PyObject *value = PyDict_GetItemWithError(PyModule_GetDict(self), name);

    if (value && !is_special(name))
        return Py_NewRef(value);
    if (!value && PyErr_Occurred())
        return NULL;
    value = PyObject_GenericGetAttr(self, name);
    if (value || !PyErr_ExceptionMatches(PyExc_AttributeError))
        return value;
    PyErr_Clear();
    return PyObject_CallMethod(self, "_missing", "O", name);
}

bool
px_module_init(PyObject *m)
{
    PyType_Slot slots[] = {PY_SLOT(Py_tp_getattro, getattro), {0, NULL}};
    PyType_Spec spec = {
        .name = "treadle._core.module_face",
        .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
        .slots = slots,
    };
    PyObject *type = PyType_FromSpecWithBases(&spec, (PyObject *)&PyModule_Type);
    bool ok = type && PyModule_AddObjectRef(m, "module_face", type) == 0;

    Py_XDECREF(type);
    return ok;
}
