/* tensor.c - _core.Tensor: creation, destruction, attributes. */
#include "python/tensor/tensor.h"

#include <stddef.h>
#include <string.h>
#include <structmember.h>

/* ---- creation and destruction ---- */

static int
visit_object(void *o, void *ctx)
{
    void *const *both = ctx;
    visitproc visit;

    memcpy(&visit, both[0], sizeof visit);
    return visit(o, both[1]);
}

static int
tensor_traverse(PyObject *self, visitproc visit, void *arg)
{
    py_tensor *t = (py_tensor *)self;
    void *both[2] = {&visit, arg};
    int r = 0;

    Py_VISIT(Py_TYPE(self));
    Py_VISIT(t->dict);
    if (t->v)
        td_var_visit(t->v, visit_object, both, &r);
    return r;
}

static int
tensor_clear(PyObject *self)
{
    py_tensor *t = (py_tensor *)self;
    td_var *v = t->v;

    Py_CLEAR(t->dict);
    if (v && v->refs == 1)
        td_var_forget(v);
    return 0;
}

static void
tensor_dealloc(PyObject *self)
{
    py_tensor *t = (py_tensor *)self;

    PyObject_GC_UnTrack(self);
    if (t->weak)
        PyObject_ClearWeakRefs(self);
    Py_CLEAR(t->dict);
    if (t->v) {
        t->v->self = NULL;
        td_var_unref(t->v);
    }
    py_free(self);
    py_owners_release();
}

/* An attribute may refer back to the tensor, so from now on the garbage collector visits it. */
static int
set_attribute(PyObject *self, PyObject *name, PyObject *value)
{
    if (!PyObject_GC_IsTracked(self))
        PyObject_GC_Track(self);
    return PyObject_GenericSetAttr(self, name, value);
}

static PyObject *
tensor_make(PyTypeObject *type, PyObject *args, PyObject *kw)
{
    PyObject *all, *r;
    Py_ssize_t n = PyTuple_Size(args);

    if (pt.make) {
        all = PyTuple_New(n + 1);
        if (!all)
            return NULL;
        PyTuple_SetItem(all, 0, Py_NewRef((PyObject *)type));
        for (Py_ssize_t i = 0; i < n; i++)
            PyTuple_SetItem(all, i + 1, Py_NewRef(PyTuple_GetItem(args, i)));
        r = PyObject_Call(pt.make, all, kw);
        Py_DECREF(all);
        return r;
    }
    PyErr_SetString(PyExc_TypeError, "Tensor: import treadle.torch, which makes them");
    return NULL;
}

/* Ignores its arguments: an instance is complete once it is made, attributes of a Parameter included. */
static int
init(PyObject *self, PyObject *args, PyObject *kw)
{
    (void)self;
    (void)args;
    (void)kw;
    return 0;
}

/* _make_subclass(cls, data, require_grad=False): data's storage as an instance of cls */
static PyObject *
make_subclass(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    py_tensor *t;
    td_var *data, *v;

    (void)module;
    if (nargs < 2 || nargs > 3 || !PyType_Check(args[0]) ||
        !PyType_IsSubtype((PyTypeObject *)args[0], pt.type)) {
        PyErr_SetString(PyExc_TypeError,
                        "_make_subclass: expected a subclass of Tensor and a Tensor");
        return NULL;
    }
    if (!pt_tensor_arg("_make_subclass", args[1], &data) || !pt_ok(td_var_detach(data, &v)))
        return NULL;
    if (nargs > 2 && !pt_ok(td_var_require(v, PyObject_IsTrue(args[2]) > 0))) {
        td_var_unref(v);
        return NULL;
    }
    t = py_allocate((PyTypeObject *)args[0]);
    if (!t) {
        td_var_unref(v);
        return NULL;
    }
    t->v = v;
    v->self = t;
    return (PyObject *)t;
}

/* ---- how dtypes, shapes and devices are shown ---- */

/* _tensor_classes(size=None, dtype=None, device=None, make=None): registers size, a subclass of tuple, a dict from names to
 * dtype objects, device(treadle.Device), and make(cls, ...) for Tensor(...) */
static PyObject *
tensor_classes(PyObject *module, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    static const char *const names[] = {"size", "dtype", "device", "make", NULL};
    PyObject *arg[4], *key, *value, **const kept[] = {&pt.size, NULL, &pt.device, &pt.make};
    Py_ssize_t at = 0;

    (void)module;
    if (!py_parse("_tensor_classes", names, 0, 4, args, nargs, kwnames, arg))
        return NULL;
    if (!py_is_none(arg[0]) &&
        !(PyType_Check(arg[0]) && PyType_IsSubtype((PyTypeObject *)arg[0], &PyTuple_Type))) {
        PyErr_SetString(PyExc_TypeError, "_tensor_classes: size is no subclass of tuple");
        return NULL;
    }
    while (!py_is_none(arg[1]) && PyDict_Next(arg[1], &at, &key, &value)) {
        td_dtype dt;

        if (!py_dtype(key, &dt))
            return NULL;
        Py_XDECREF(pt.dtype[dt]);
        pt.dtype[dt] = Py_NewRef(value);
    }
    for (int i = 0; i < 4; i++)
        if (kept[i] && !py_is_none(arg[i])) {
            Py_XDECREF(*kept[i]);
            *kept[i] = Py_NewRef(arg[i]);
        }
    return Py_NewRef(Py_None);
}

/* The Size of a shape. tuple.__new__ makes it, since these are ints: Size.__new__, which converts others, takes ten times
 * as long, and programs ask for shapes in every step. */
static PyObject *
shown_shape(const td_shape *s)
{
    newfunc make = (newfunc)(uintptr_t)PyType_GetSlot(&PyTuple_Type, Py_tp_new);
    PyObject *t = py_shape_tuple(s), *args, *r;

    if (!t || !pt.size)
        return t;
    args = PyTuple_Pack(1, t);
    r = args ? make((PyTypeObject *)pt.size, args, NULL) : NULL;
    Py_XDECREF(args);
    Py_DECREF(t);
    return r;
}

/* ---- attributes ---- */

static const td_view *
tensor_view_of(PyObject *self)
{
    return &pt_var(self)->value.view;
}

static PyObject *
get_shape(PyObject *self, void *unused)
{
    (void)unused;
    return shown_shape(&tensor_view_of(self)->shape);
}

static PyObject *
get_dtype(PyObject *self, void *unused)
{
    (void)unused;
    return pt_dtype_object(td_array_dtype(&pt_var(self)->value));
}

static PyObject *
tensor_get_device(PyObject *self, void *unused)
{
    PyObject *d = py_device_object(td_array_dev(&pt_var(self)->value)), *r;

    (void)unused;
    if (!d || !pt.device)
        return d;
    r = PyObject_CallFunctionObjArgs(pt.device, d, NULL);
    Py_DECREF(d);
    return r;
}

static PyObject *
get_ndim(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromLong(tensor_view_of(self)->shape.ndim);
}

static PyObject *
get_array(PyObject *self, void *unused)
{
    td_array a = td_array_ref(&pt_var(self)->value);

    (void)unused;
    return py_wrap(&a);
}

static PyObject *
get_itemsize(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromSize_t(td_dtype_size(td_array_dtype(&pt_var(self)->value)));
}

static PyObject *
get_nbytes(PyObject *self, void *unused)
{
    const td_array *a = &pt_var(self)->value;

    (void)unused;
    return PyLong_FromLongLong(td_array_size(a) * (int64_t)td_dtype_size(td_array_dtype(a)));
}

static PyGetSetDef own_attributes[] = {
    {"_array", get_array, NULL, "The treadle.ndarray on the same storage.", NULL},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {"shape", get_shape, NULL, "Extents.", NULL},
    {"dtype", get_dtype, NULL, "The elements' dtype.", NULL},
    {"device", tensor_get_device, NULL, "Where the elements live.", NULL},
    {"ndim", get_ndim, NULL, "Number of axes.", NULL},
    {"itemsize", get_itemsize, NULL, "Bytes of an element.", NULL},
    {"nbytes", get_nbytes, NULL, "Bytes of all elements.", NULL},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

/* ---- the container protocol ---- */

static Py_ssize_t
tensor_length(PyObject *self)
{
    const td_shape *s = &tensor_view_of(self)->shape;

    if (s->ndim == 0)
        PyErr_SetString(PyExc_TypeError, "len() of a 0-d tensor");
    return s->ndim ? (Py_ssize_t)s->dim[0] : -1;
}

static PyObject *
item_at(PyObject *self, Py_ssize_t i)
{
    PyObject *key = PyLong_FromSsize_t(i), *r = key ? pt_subscript(self, key) : NULL;

    Py_XDECREF(key);
    return r;
}

static PyObject *
iterate(PyObject *self)
{
    if (tensor_view_of(self)->shape.ndim)
        return PySeqIter_New(self);
    PyErr_SetString(PyExc_TypeError, "iteration over a 0-d tensor");
    return NULL;
}

static Py_hash_t
tensor_hash(PyObject *self)
{
    return (Py_hash_t)((uintptr_t)self >> 4);
}

/* The array's text; treadle.torch replaces it by PyTorch's. */
static PyObject *
tensor_repr(PyObject *self)
{
    PyObject *a = get_array(self, NULL), *text = a ? PyObject_Repr(a) : NULL, *r;

    r = text ? PyUnicode_FromFormat("Tensor(%U)", text) : NULL;
    Py_XDECREF(a);
    Py_XDECREF(text);
    return r;
}

static PyMemberDef members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(py_tensor, weak), READONLY, NULL},
    {"__dictoffset__", T_PYSSIZET, offsetof(py_tensor, dict), READONLY, NULL},
    {0},
};

static PyGetSetDef attributes[32];

static const PyType_Slot own_slots[] = {
    PY_SLOT(Py_tp_dealloc, tensor_dealloc),
    PY_SLOT(Py_tp_traverse, tensor_traverse),
    PY_SLOT(Py_tp_clear, tensor_clear),
    PY_SLOT(Py_tp_new, tensor_make),
    PY_SLOT(Py_tp_init, init),
    PY_SLOT(Py_tp_repr, tensor_repr),
    PY_SLOT(Py_tp_iter, iterate),
    PY_SLOT(Py_tp_hash, tensor_hash),
    PY_SLOT(Py_tp_setattro, set_attribute),
    {Py_tp_getset, attributes},
    {Py_tp_members, members},
    PY_SLOT(Py_mp_length, tensor_length),
    PY_SLOT(Py_mp_subscript, pt_subscript),
    PY_SLOT(Py_mp_ass_subscript, pt_ass_subscript),
    PY_SLOT(Py_sq_length, tensor_length),
    PY_SLOT(Py_sq_item, item_at),
    {0, NULL},
};

/* ---- functions of the module ---- */

/* tensor_wrap(ndarray, requires_grad=False): a Tensor on the same storage */
static PyObject *
tensor_wrap(PyObject *module, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    static const char *const names[] = {"array", "requires_grad", NULL};
    PyObject *arg[2];
    td_array a;
    td_var *v;
    bool on;

    (void)module;
    if (!py_parse("tensor_wrap", names, 1, 2, args, nargs, kwnames, arg) ||
        !py_flag(arg[1], false, &on))
        return NULL;
    if (!py_is_array(arg[0])) {
        PyErr_SetString(PyExc_TypeError, "tensor_wrap: expected a treadle.ndarray");
        return NULL;
    }
    a = td_array_ref(py_array_of(arg[0]));
    if (!pt_ok(td_var_new(&a, &v)))
        return NULL;
    if (on && !pt_ok(td_var_require(v, true))) {
        td_var_unref(v);
        return NULL;
    }
    return pt_object(v);
}

static PyMethodDef functions[] = {
    {"tensor_wrap", PY_FAST(tensor_wrap), METH_FASTCALL | METH_KEYWORDS, NULL},
    {"_tensor_classes", PY_FAST(tensor_classes), METH_FASTCALL | METH_KEYWORDS, NULL},
    {"_make_subclass", PY_FAST(make_subclass), METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL},
};

/* ---- collecting the type's parts ---- */

static PyMethodDef methods[240];
static PyType_Slot slots[96];

static void
tensor_gather(void)
{
    PyMethodDef *const parts[] = {pt_value_methods, pt_view_methods, pt_grad_methods,
                                  pt_hook_methods, pt_apply_methods};
    const PyGetSetDef *const fields[] = {own_attributes, pt_view_attributes, pt_grad_attributes,
                                         pt_leaf_attributes};
    const PyType_Slot *const rows[] = {own_slots, pt_number_slots};

    py_gather(&(py_table){methods, sizeof methods / sizeof *methods, attributes,
                          sizeof attributes / sizeof *attributes, slots,
                          sizeof slots / sizeof *slots},
              parts, sizeof parts / sizeof *parts, fields, sizeof fields / sizeof *fields, rows,
              sizeof rows / sizeof *rows);
}

bool
py_tensor_init(PyObject *m)
{
    static PyType_Spec spec = {
        .name = "treadle.torch.Tensor",
        .basicsize = sizeof(py_tensor),
        .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
        .slots = slots,
    };
    PyObject *priority = PyLong_FromLong(1000);
    bool ok;

    tensor_gather();
    pt.type = (PyTypeObject *)PyType_FromSpec(&spec);
    ok = priority && pt.type &&
         PyObject_SetAttrString((PyObject *)pt.type, "__array_priority__", priority) == 0 &&
         PyModule_AddObjectRef(m, "Tensor", (PyObject *)pt.type) == 0 &&
         PyModule_AddFunctions(m, functions) == 0 &&
         PyModule_AddFunctions(m, pt_grad_functions) == 0 &&
         PyModule_AddFunctions(m, pt_compose_functions) == 0 &&
         PyModule_AddFunctions(m, pt_layer_functions) == 0 &&
         PyModule_AddFunctions(m, pt_each_functions) == 0 && pt_grad_init(m) && pt_hook_init(m) &&
         pt_bucket_init(m) && pt_builtin_init(m);
    Py_XDECREF(priority);
    return ok;
}
