/* generators.c - numpy.random's generators, which compiled functions see as instances of
 * treadle._compile._drawing._generators' classes, and which come back as they went. */
#include "python/kernel/boxvalue.h"

int
py_generator_instance(PyObject *o, PyObject **instance)
{
    PyObject *module = PyDict_GetItemString(PyImport_GetModuleDict(), "numpy.random._generator"),
             *cls = module ? PyObject_GetAttrString(module, "Generator") : NULL, *make;
    int r = cls ? PyObject_IsInstance(o, cls) : module ? -1 : 0;

    *instance = NULL;
    if (r > 0) {
        make = py_package("treadle._compile._drawing._generators", "instance");
        *instance = make ? PyObject_CallFunctionObjArgs(make, o, NULL) : NULL;
        r = *instance ? 1 : -1;
        Py_XDECREF(make);
    }
    Py_XDECREF(cls);
    return r;
}

PyObject *
py_generator_shown(PyObject *o)
{
    PyObject *show = o && py_is_boxobject(o) ? py_attr((PyObject *)Py_TYPE(o), "_td_shown") : NULL,
             *shown;

    if (!show)
        return PyErr_Occurred() ? (Py_XDECREF(o), NULL) : o;
    shown = PyObject_CallFunctionObjArgs(show, o, NULL);
    Py_DECREF(show);
    Py_DECREF(o);
    return shown;
}
