/* classtype.c - the front's types for jitclass: one per class, with the fields that the class
 * declares.
 */
#include "python/kernel/kernel.h"

static PyTypeObject *instance; /* the base class of such classes' instances */

void
py_class_base(PyTypeObject *base)
{
    instance = base;
}

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
    if (!t->field) /* a class may occur among its own fields' types */
        td_type_set_fields(t, name, type, (uint32_t)n);
    return true;
}

int
py_class_type(PyObject *class, const td_type **out)
{
    static PyObject *keep,
        /* types live as long as the process; this lists classes whose fields are being read */
        *asked;
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
