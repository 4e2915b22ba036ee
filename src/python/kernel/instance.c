/* instance.c - instances of jitclass's classes: Python objects whose fields are words of a box.
 *
 * numpy.random's generators are seen by compiled functions as instances of treadle._compile._drawing._generators'
 * classes, and come back as they went.
 */
#include "python/kernel/boxvalue.h"

static PyObject *
instance_begin(PyObject *self, PyObject *unused)
{
    const td_type *t;
    int r = py_class_type((PyObject *)Py_TYPE(self), &t);

    (void)unused;
    if (!r)
        PyErr_Format(PyExc_TypeError, "%R has no fields, so no instances",
                     (PyObject *)Py_TYPE(self));
    return r > 0 ? py_boxobject_begin(self, t) : NULL;
}

/* The words of field i; NULL: exception. */
static uint64_t *
field_of(PyObject *self, Py_ssize_t i, const td_type **type)
{
    const td_type *t = py_boxobject_type(self);
    td_box *b = py_boxobject_box(self);
    uint64_t *w = b ? td_box_at(b, 0) : NULL;

    if (!b || i < 0 || i >= (Py_ssize_t)t->size) {
        PyErr_SetString(PyExc_TypeError, "an instance without fields");
        return NULL;
    }
    for (Py_ssize_t k = 0; k < i; k++)
        w += py_value_words(t->field[k].type);
    *type = t->field[i].type;
    return w;
}

static PyObject *
instance_get(PyObject *self, PyObject *args)
{
    Py_ssize_t i;
    const td_type *t;
    const uint64_t *w;

    if (!PyArg_ParseTuple(args, "n:_field", &i) || !(w = field_of(self, i, &t)))
        return NULL;
    return py_value_get(t, w, py_boxobject_box(self)->held);
}

static PyObject *
instance_set(PyObject *self, PyObject *args)
{
    Py_ssize_t i;
    PyObject *value;
    const td_type *t;
    uint64_t *w;

    if (!PyArg_ParseTuple(args, "nO:_set_field", &i, &value) || !(w = field_of(self, i, &t)))
        return NULL;
    return py_boxobject_put(self, t, w, value) ? Py_NewRef(Py_None) : NULL;
}

static PyMethodDef methods[] = {
    {"_begin", instance_begin, METH_NOARGS, NULL},
    {"_field", instance_get, METH_VARARGS, NULL},
    {"_set_field", instance_set, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_methods, methods},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "treadle._core.Instance",
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .slots = slots,
};

bool
py_instance_init(PyObject *module)
{
    PyObject *base = PyObject_GetAttrString(module, "Boxed"),
             *bases = base ? PyTuple_Pack(1, base) : NULL,
             *instance = bases ? PyType_FromSpecWithBases(&spec, bases) : NULL;
    bool ok = instance && PyModule_AddObjectRef(module, "Instance", instance) == 0;

    Py_XDECREF(base);
    Py_XDECREF(bases);
    if (ok)
        py_class_base((PyTypeObject *)instance);
    return ok;
}

/* ---- generators ---- */

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
