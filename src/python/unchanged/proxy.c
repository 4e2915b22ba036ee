/* proxy.c - the type numpy.ndarray of unchanged programs: its text, its memory for others. */
#include "python/unchanged/proxy.h"

#include <stddef.h>
#include <structmember.h>

/* ---- the class of the type ---- */

static PyTypeObject *method_type, *slot_type, *new_type; /* of what a class's attribute is */

/* NumPy looks for __array_…__ in the class with every operation: no Python code may run for that.  Methods got from the
 * class serve subclasses of NumPy's array too, and the class itself tells which. */
static PyObject *
class_getattro(PyObject *self, PyObject *name)
{
    static getattrofunc of_type;
    PyObject *r, *own;

    if (!of_type)
        of_type = (getattrofunc)(uintptr_t)PyType_GetSlot(&PyType_Type, Py_tp_getattro);
    r = of_type(self, name);
    if (!r || !px.ndarray ||
        !(Py_IS_TYPE(r, method_type) || Py_IS_TYPE(r, slot_type) || Py_IS_TYPE(r, new_type)) ||
        PyUnicode_Tailmatch(name, px.array_prefix, 0, PY_SSIZE_T_MAX, -1))
        return r;
    own = PyObject_CallMethod(self, "_unbound", "OO", name, r);
    Py_DECREF(r);
    return own;
}

static bool
make_class(PyObject *m)
{
    static PyType_Slot slots_of_class[] = {
        PY_SLOT(Py_tp_getattro, class_getattro),
        {0, NULL},
    };
    static PyType_Spec spec = {
        .name = "treadle._core.proxy_class",
        .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
        .slots = slots_of_class,
    };
    PyObject *bases = PyTuple_Pack(1, (PyObject *)&PyType_Type), *type = NULL, *method, *slot, *new;

    method = PyObject_GetAttrString((PyObject *)px.proxy, "sum");
    slot = PyObject_GetAttrString((PyObject *)px.proxy, "__add__");
    new = PyObject_GetAttrString((PyObject *)px.proxy, "__new__");
    px.array_prefix = PyUnicode_FromString("__array_");
    if (bases && method && slot && new && px.array_prefix) {
        method_type = Py_TYPE(method);
        slot_type = Py_TYPE(slot);
        new_type = Py_TYPE(new);
        type = PyType_FromSpecWithBases(&spec, bases);
    }
    Py_XDECREF(bases);
    Py_XDECREF(method);
    Py_XDECREF(slot);
    Py_XDECREF(new);
    if (!type || PyModule_AddObjectRef(m, "proxy_class", type) < 0)
        return false;
    Py_DECREF(type);
    return true;
}

/* ---- the type ---- */

static PyObject *
text(PyObject *self, PyObject *(*how)(PyObject *))
{
    PyObject *host = px_host(self), *r = host ? how(host) : NULL;

    Py_XDECREF(host);
    return r;
}

static PyObject *
repr(PyObject *self)
{
    return text(self, PyObject_Repr);
}

static PyObject *
str(PyObject *self)
{
    return text(self, PyObject_Str);
}

/* What neither the type nor NumPy's table has: NumPy answers, or says that there is none. */
static PyObject *
getattro(PyObject *self, PyObject *name)
{
    PyObject *r = PyObject_GenericGetAttr(self, name), *host;

    if (r || !PyErr_ExceptionMatches(PyExc_AttributeError))
        return r;
    PyErr_Clear();
    host = px_host(self);
    r = host ? PyObject_GetAttr(host, name) : NULL;
    Py_XDECREF(host);
    return px_result(r, self);
}

static int
getbuffer(PyObject *self, Py_buffer *b, int flags)
{
    PyObject *host = px_hand_out(self);
    bool simple = (flags & PyBUF_STRIDES) != PyBUF_STRIDES;
    td_buf *buf;
    td_view v;
    int r;

    if (host && simple && px_is_far(self) &&
        !py_ok(td_array_memory(py_array_of(px_held(self)), true, &buf, &v)))
        Py_CLEAR(
            host); /* shared for good: who asks so may give the buffer back and keep the memory, as numpy.frombuffer */
    r = host ? PyObject_GetBuffer(host, b, flags) : -1;

    if (!host)
        b->obj = NULL;
    Py_XDECREF(host);
    return r;
}

static PyMemberDef members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(py_proxy, weak), READONLY, NULL},
    {0},
};

/* numpy.ndarray(shape, dtype, …) */
static PyObject *
proxy_make(PyTypeObject *type, PyObject *args, PyObject *kw)
{
    PyObject *plain = px_plain(args), *r = NULL;

    (void)type;
    if (px.ndarray && plain)
        r = PyObject_Call((PyObject *)px.ndarray, plain, kw);
    Py_XDECREF(plain);
    if (!r && !PyErr_Occurred())
        PyErr_SetString(PyExc_TypeError, "numpy.ndarray: treadle.install() comes first");
    return px_result(r, NULL);
}

static const PyType_Slot own_slots[] = {
    PY_SLOT(Py_tp_dealloc, px_dealloc),
    PY_SLOT(Py_tp_new, proxy_make),
    PY_SLOT(Py_tp_repr, repr),
    PY_SLOT(Py_tp_str, str),
    PY_SLOT(Py_tp_getattro, getattro),
    PY_SLOT(Py_tp_hash, PyObject_HashNotImplemented),
    PY_SLOT(Py_bf_getbuffer, getbuffer),
    {Py_tp_getset, px_getset},
    {Py_tp_methods, px_methods},
    {Py_tp_members, members},
    {0, NULL},
};

static PyType_Slot slots[96];

static bool
make_type(PyObject *m)
{
    static PyType_Spec spec = {
        .name = "numpy.ndarray",
        .basicsize = sizeof(py_proxy),
        .flags = Py_TPFLAGS_DEFAULT,
        .slots = slots,
    };
    const PyType_Slot *const rows[] = {own_slots, px_number_slots, px_index_slots};
    size_t n = 0;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (const PyType_Slot *s = rows[i]; s->slot; s++) {
            TD_ASSERT(n + 1 < sizeof slots / sizeof *slots);
            slots[n++] = *s;
        }
    px.proxy = (PyTypeObject *)PyType_FromSpec(&spec);
    return px.proxy && PyModule_AddObjectRef(m, "proxy", (PyObject *)px.proxy) == 0;
}

bool
px_init(PyObject *m)
{
    px.crossover = INT64_MAX;
    return make_type(m) && make_class(m) && px_face_init(m) && px_module_init(m);
}
