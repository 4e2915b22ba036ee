/* instance.c - instances of jitclass's classes: Python objects whose fields stand in a box. */
#include "python/kernel/boxvalue.h"

static PyTypeObject *instance;

/* ---- types ---- */

/* _td_fields: (name, type) of each field. */
static bool
set_fields(const td_type *t, PyObject *fields)
{
    Py_ssize_t n = PyTuple_Size(fields);
    const char *name[128];
    const td_type *type[128];

    if (n > 128)
        return PyErr_Format(PyExc_TypeError, "%s has %zd fields: 128 are the most", t->name, n),
               false;
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *pair = PyTuple_GetItem(fields, i);
        int r;

        if (!PyArg_ParseTuple(pair, "sO", &name[i], &pair))
            return false;
        r = py_type_of(pair, &type[i]);
        if (r <= 0)
            return r < 0 ? false
                         : (PyErr_Format(PyExc_TypeError, "%s.%s: %R is no type of a field",
                                         t->name, name[i], pair),
                            false);
    }
    if (!t->field) /* a class may be among its own fields' types */
        td_type_set_fields(t, name, type, (uint32_t)n);
    return true;
}

int
py_class_type(PyObject *class, const td_type **out)
{
    static PyObject *keep,
        *asked; /* types live as long as the process; classes whose fields are being looked at */
    PyObject *fields, *name;
    const char *text;
    uint32_t h;
    bool ok;

    if (!instance || !PyType_Check(class) || !PyType_IsSubtype((PyTypeObject *)class, instance))
        return 0;
    if ((!keep && !(keep = PyDict_New())) || (!asked && !(asked = PySet_New(NULL))))
        return -1;
    name = PyType_GetName((PyTypeObject *)class);
    text = name ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
    h = text ? py_handle(keep, class) : 0;
    if (h)
        *out = td_type_class(h, text);
    Py_XDECREF(name);
    if (!h)
        return -1;
    if ((*out)->field || PySet_Contains(asked, class))
        return 1;
    fields = PyObject_GetAttrString(class, "_td_fields");
    if (!fields)
        return PyErr_Clear(), 0;
    ok = fields && PySet_Add(asked, class) == 0 && set_fields(*out, fields);
    (void)PySet_Discard(asked, class);
    Py_XDECREF(fields);
    return ok ? 1 : -1;
}

/* ---- instances ---- */

static PyObject *
instance_begin(PyObject *self, PyObject *unused)
{
    const td_type *t;
    int r = py_class_type((PyObject *)Py_TYPE(self), &t);

    (void)unused;
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
py_instance_init(PyObject *module, PyObject *bases)
{
    instance = (PyTypeObject *)PyType_FromSpecWithBases(&spec, bases);
    return instance && PyModule_AddObjectRef(module, "Instance", (PyObject *)instance) == 0;
}
