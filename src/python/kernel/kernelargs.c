/* kernelargs.c - a call's arguments: their types, and where their values are.
 *
 * Treadle's arrays and Python's numbers come first, since every launch has them; rarer ones
 * (NumPy arrays and scalars, tuples, wrappers, other libraries' arrays) follow.  An object that
 * is not a value (a function, a dtype, a string) is a constant: the object itself is its type.
 */
#include "python/kernel/boxvalue.h"

#include <stdlib.h>
#include <string.h>

static bool add_argument(py_call *c, PyObject *o, const td_type **type);

/* The name of the parameter that argument i goes to, for errors. */
static PyObject *
param_name(const py_call *c, uint32_t i)
{
    return i < c->d->nparam ? Py_NewRef(PyTuple_GetItem(c->d->params, i))
                            : PyUnicode_FromFormat("argument %u", i);
}

static bool
refuse(const py_call *c, PyObject *error, const char *what)
{
    PyObject *name = param_name(c, c->narg);

    if (name)
        PyErr_Format(error, "%U: argument '%U': %s", c->d->name, name, what);
    Py_XDECREF(name);
    return false;
}

static py_leaf *
next_leaf(py_call *c, py_leafkind kind)
{
    py_leaf *l;

    if (c->nleaf == PY_LEAVES) {
        PyErr_Format(PyExc_TypeError, "%U: more than %d values in its arguments", c->d->name,
                     PY_LEAVES);
        return NULL;
    }
    l = &c->leaf[c->nleaf++];
    l->kind = (uint8_t)kind;
    l->nword = 0;
    l->arg = (uint8_t)c->narg;
    l->readonly = l->said = false;
    l->way = PY_INOUT;
    l->buf = NULL;
    l->held = NULL;
    return l;
}

/* ---- numbers ---- */

static const td_type *
number_type(td_scalar s, char weak)
{
    static const td_type *weaks[3];
    int i = weak == 'i' ? 0 : weak == 'f' ? 1 : 2;

    if (!weak || weak == 'b' || s.dt == TD_U64)
        return py_num_type(s.dt);
    if (!weaks[i])
        weaks[i] = td_type_weak(weak);
    return weaks[i];
}

void
py_leaf_number(py_leaf *l, td_scalar s, td_dtype dt)
{
    uint64_t bits[2];

    td_scalar_bits(s, dt, bits);
    l->nword = td_dtype_is_complex(dt) ? 2 : 1;
    l->word[0] = dt == TD_C64 ? bits[0] & UINT32_MAX : bits[0];
    l->word[1] = dt == TD_C64 ? bits[0] >> 32 : bits[1];
}

td_scalar
py_leaf_scalar(const py_leaf *l, td_dtype dt)
{
    uint64_t bits[2] = {l->word[0], l->word[1]};

    if (dt == TD_C64)
        bits[0] |= bits[1] << 32;
    return td_scalar_load(dt, bits);
}

static bool
add_number(py_call *c, td_scalar s, char weak, const td_type **type)
{
    py_leaf *l = next_leaf(c, PY_LEAF_WORD);

    if (!l)
        return false;
    if (weak == 'i' && s.dt == TD_F64) {
        c->nleaf--;
        return refuse(c, PyExc_OverflowError, "an int beyond 64 bits");
    }
    py_leaf_number(l, s, s.dt);
    *type = l->type = number_type(s, weak);
    return true;
}

/* ---- arrays ---- */

static bool
add_array_argument(py_call *c, PyObject *o, const td_type **type)
{
    const py_ndarray *nd = (const py_ndarray *)o;
    py_leaf *l = next_leaf(c, PY_LEAF_ARRAY);

    if (!l)
        return false;
    l->array = &nd->a;
    l->readonly = nd->readonly || nd->a.store->readonly;
    if (td_array_dev(&nd->a) != c->dev) {
        PyErr_Format(PyExc_ValueError,
                     "%U: its arguments live on %s and on %s; move them to one device", c->d->name,
                     td_dev_info(c->dev)->name, td_dev_info(td_array_dev(&nd->a))->name);
        return false;
    }
    *type = l->type = py_array_type(py_num_type(td_array_dtype(&nd->a)), &nd->a.view, l->readonly);
    return *type != NULL;
}

uint32_t
py_array_words(const td_type *t, uintptr_t at, const td_view *v, uint64_t *out)
{
    uint32_t n = 0;

    out[n++] = at;
    for (int i = 0; i < t->ndim; i++)
        out[n++] = (uint64_t)v->shape.dim[i];
    if (t->layout == 'A' || t->item[0]->kind == TD_T_RECORD)
        for (int i = 0; i < t->ndim; i++)
            out[n++] = (uint64_t)v->stride[i];
    return n;
}

/* ---- host memory: NumPy ---- */

static PyTypeObject *
numpy_type(const char *name)
{
    PyObject *np = PyDict_GetItemString(PyImport_GetModuleDict(), "numpy"),
             *type = np ? PyObject_GetAttrString(np, name) : NULL;

    PyErr_Clear();
    return (PyTypeObject *)type; /* for the process's life */
}

/* Remembers the type once NumPy has been imported. */
static bool
is_of(PyObject *o, PyTypeObject **type, const char *name)
{
    if (!*type)
        *type = numpy_type(name);
    return *type && PyObject_TypeCheck(o, *type);
}

static PyTypeObject *numpy_array; /* NULL: NumPy was not imported yet */

static bool
is_numpy_array(PyObject *o)
{
    return is_of(o, &numpy_array, "ndarray");
}

static bool
is_numpy_scalar(PyObject *o)
{
    static PyTypeObject *type;

    return is_of(o, &type, "generic");
}

/* The type of a buffer's elements; for records the object's dtype tells it. */
static const td_type *
element_type(py_call *c, PyObject *o, const Py_buffer *b)
{
    const td_type *t;
    PyObject *dtype;
    td_dtype dt;

    if (py_format_dtype(b->format, b->itemsize, &dt))
        return py_num_type(dt);
    dtype = PyObject_GetAttrString(o, "dtype");
    t = dtype ? py_dtype_type(dtype) : NULL;
    Py_XDECREF(dtype);
    if (t && t->kind == TD_T_RECORD)
        return t;
    PyErr_Clear();
    refuse(
        c, PyExc_TypeError,
        "kernels take elements that are numbers in the machine's byte order, or records of them");
    return NULL;
}

void
py_host_view_of(const py_leaf *l, td_view *v)
{
    const Py_buffer *b = &l->host;
    Py_ssize_t unit = l->type->item[0]->kind == TD_T_RECORD ? 1 : b->itemsize;
    Py_ssize_t step = b->itemsize / unit;

    v->shape.ndim = b->ndim;
    v->offset = 0;
    for (int i = b->ndim - 1; i >= 0; i--) { /* a copy on a GPU is in C order */
        v->shape.dim[i] = b->shape[i];
        v->stride[i] = l->buf ? step : b->strides[i] / unit;
        step *= b->shape[i];
    }
}

/* The buffer as a td_view; with `packed` as its copy in C order. */
static bool
buffer_view(py_call *c, const Py_buffer *b, bool packed, td_view *v)
{
    int64_t step = 1;

    v->shape.ndim = b->ndim;
    v->offset = 0;
    if (b->ndim > TD_MAXDIM_KERNEL) {
        PyErr_Format(PyExc_ValueError, "%U: an array of %d dimensions: kernels take at most %d",
                     c->d->name, b->ndim, TD_MAXDIM_KERNEL);
        return false;
    }
    for (int i = b->ndim - 1; i >= 0; i--) {
        v->shape.dim[i] = b->shape[i];
        if (!packed && b->strides[i] % b->itemsize && b->shape[i] > 1)
            return refuse(c, PyExc_ValueError,
                          "its strides are not whole elements; copy it before");
        v->stride[i] = packed ? step : b->strides[i] / b->itemsize;
        step *= b->shape[i];
    }
    return true;
}

static bool
host_type(py_call *c, PyObject *o, py_leaf *l, const td_type **type)
{
    bool gpu = !td_dev_info(c->dev)->host;
    const td_type *item = element_type(c, o, &l->host);
    td_view v;

    if (!item)
        return false;
    if (item->kind == TD_T_NUM && (uintptr_t)l->host.buf % td_dtype_size((td_dtype)item->dt) &&
        !td_dtype_is_complex((td_dtype)item->dt) && !gpu)
        return refuse(c, PyExc_ValueError, "its memory is not aligned; copy it before");
    if (item->kind == TD_T_RECORD && !gpu) {
        for (int i = 0; i < l->host.ndim; i++) /* kernels take strides of whole records, as bytes */
            if (l->host.strides[i] % l->host.itemsize && l->host.shape[i] > 1)
                return refuse(c, PyExc_ValueError,
                              "its strides are not whole records; copy it before");
        *type = l->type = td_type_array(item, (uint32_t)l->host.ndim, 'A', l->readonly);
        return *type != NULL;
    }
    if (!buffer_view(c, &l->host, gpu, &v))
        return false;
    *type = l->type = py_array_type(item, &v, l->readonly);
    return *type != NULL;
}

/* Memory that a kernel may write to, if o allows it. */
static int
get_memory(PyObject *o, Py_buffer *b)
{
    if (PyObject_GetBuffer(o, b, PyBUF_RECORDS) == 0)
        return 0;
    PyErr_Clear();
    return PyObject_GetBuffer(o, b, PyBUF_RECORDS_RO);
}

/* Memory of records that NumPy gives no buffer of, for they hold dates: that of the same bytes without names. */
static int
get_bytes(PyObject *o, Py_buffer *b)
{
    PyObject *dtype = PyObject_GetAttrString(o, "dtype"),
             *names = dtype ? PyObject_GetAttrString(dtype, "names") : NULL,
             *size = py_is_none(names) || !names ? NULL : PyObject_GetAttrString(dtype, "itemsize"),
             *text = size ? PyUnicode_FromFormat("V%S", size) : NULL,
             *bytes = text ? PyObject_CallMethod(o, "view", "O", text) : NULL;
    int r = bytes ? get_memory(bytes, b) : -1;

    Py_XDECREF(dtype);
    Py_XDECREF(names);
    Py_XDECREF(size);
    Py_XDECREF(text);
    Py_XDECREF(bytes);
    return r;
}

static bool
add_host(py_call *c, PyObject *o, const td_type **type)
{
    py_leaf *l = next_leaf(c, PY_LEAF_HOST);

    if (!l)
        return false;
    if (get_memory(o, &l->host) < 0 && (PyErr_Clear(), get_bytes(o, &l->host) < 0)) {
        c->nleaf--;
        PyErr_Clear();
        return refuse(c, PyExc_TypeError, "elements of its dtype have no type in kernels");
    }
    c->hosts = true;
    c->plain = false;
    l->readonly = l->host.readonly;
    return host_type(c, o, l, type);
}

/* Truth of an attribute: 1, 0; -1: missing, or an exception. */
static int
flag_of(PyObject *o, const char *name)
{
    PyObject *v = py_attr(o, name);
    int r = v ? PyObject_IsTrue(v) : -1;

    Py_XDECREF(v);
    return r;
}

/* Is the record read-only?  NumPy's records belong to arrays whose flags tell; as buffers all
 * are read-only. */
static bool
is_fixed(PyObject *record)
{
    PyObject *flags = PyObject_GetAttrString(record, "flags");
    int writeable = flags ? flag_of(flags, "writeable") : -1;

    Py_XDECREF(flags);
    PyErr_Clear();
    return writeable != 1;
}

static bool
add_record(py_call *c, PyObject *o, const td_type **type)
{
    PyObject *dtype = PyObject_GetAttrString(o, "dtype");
    const td_type *t = dtype ? py_dtype_type(dtype) : NULL;
    py_leaf *l;

    Py_XDECREF(dtype);
    if (!t || t->kind != TD_T_RECORD) {
        PyErr_Clear();
        return refuse(c, PyExc_TypeError, "values of its dtype have no type in kernels");
    }
    l = next_leaf(c, PY_LEAF_RECORD);
    if (!l)
        return false;
    if (get_memory(o, &l->host) < 0) {
        c->nleaf--;
        return false;
    }
    c->hosts = true;
    c->plain = false;
    l->readonly = l->host.readonly && is_fixed(o);
    l->nword = 1;
    *type = l->type = t;
    return true;
}

static bool
add_scalar(py_call *c, PyObject *o, const td_type **type)
{
    td_scalar s;
    char weak;
    int r = py_number(o, &s, &weak);

    if (r > 0)
        return add_number(c, s, 0, type);
    PyErr_Clear();
    if (PyObject_HasAttrString(o, "dtype") && PyObject_CheckBuffer(o))
        return add_record(c, o, type);
    return refuse(c, PyExc_TypeError, "values of its dtype have no type in kernels");
}

/* ---- other arguments ---- */

static bool
add_tuple(py_call *c, PyObject *o, const td_type **type)
{
    const td_type *item[PY_LEAVES];
    Py_ssize_t n = PyTuple_Size(o);

    if (n > PY_LEAVES)
        return refuse(c, PyExc_TypeError, "a tuple of too many items");
    for (Py_ssize_t i = 0; i < n; i++)
        if (!add_argument(c, PyTuple_GetItem(o, i), &item[i]))
            return false;
    *type = td_type_tuple(item, (uint32_t)n);
    return Py_TYPE(o) == &PyTuple_Type || py_named_type(c->d->keep, (PyObject *)Py_TYPE(o), type);
}

static bool
add_slice(py_call *c, PyObject *o, const td_type **type)
{
    static const char *const parts[] = {"start", "stop", "step"};
    const td_type *item[3];

    for (int i = 0; i < 3; i++) {
        PyObject *part = PyObject_GetAttrString(o, parts[i]);
        bool ok = part && add_argument(c, part, &item[i]);

        Py_XDECREF(part);
        if (!ok)
            return false;
        if (item[i]->kind != TD_T_NONE &&
            (item[i]->kind != TD_T_NUM || !td_dtype_is_int(item[i]->dt)))
            return refuse(c, PyExc_TypeError, "a slice is of integers and None here");
    }
    *type = td_type_slice(item);
    return true;
}

/* A member of an enum; 0: it is none. */
static int
add_member(py_call *c, PyObject *o, const td_type **type)
{
    PyObject *class = (PyObject *)Py_TYPE(o), *value;
    const td_type *item;
    td_scalar s;
    char weak;
    int r = 1;

    if (!(value = py_attr(o, "value")))
        return PyErr_Occurred() ? -1 : 0;
    if (py_is_member_class(class)) {
        if (!add_argument(c, value, &item))
            r = -1;
        else
            *type = td_type_tuple(&item, 1);
        if (r > 0 && !py_named_type(c->d->keep, class, type))
            r = -1;
    } else if (py_number(value, &s, &weak) <= 0 || !add_number(c, s, weak, type)) {
        r = 0;
    }
    Py_DECREF(value);
    return r;
}

/* cuda.In, Out and InOut: an array, and which copies of it to make. */
static int
add_wrapper(py_call *c, PyObject *o, const td_type **type)
{
    int in = flag_of(o, "_td_in"), out = in >= 0 ? flag_of(o, "_td_out") : -1;
    PyObject *value = out >= 0 ? PyObject_GetAttrString(o, "value") : NULL;
    uint32_t first = c->nleaf;
    bool ok;

    if (!value)
        return PyErr_Occurred() ? -1 : 0;
    ok = add_argument(c, value, type);
    for (uint32_t i = first; ok && i < c->nleaf; i++) {
        c->leaf[i].said = true;
        c->leaf[i].way = in && out ? PY_INOUT : out ? PY_OUT : PY_IN;
    }
    Py_DECREF(value); /* the wrapper, which is an argument, holds it */
    return ok ? 1 : -1;
}

/* Adds memory of another library. */
static int
add_foreign(py_call *c, PyObject *o, const td_type **type)
{
    td_array a;
    PyObject *nd;
    int r = py_share_foreign(o, &a);

    if (r <= 0)
        return r;
    nd = py_wrap(&a);
    if (!nd)
        return -1;
    if (add_array_argument(c, nd, type)) {
        c->leaf[c->nleaf - 1].held = nd;
        c->plain = false;
        return 1;
    }
    Py_DECREF(nd);
    return -1;
}

/* Adds the array nd (a new reference) in place of the argument; records are given as their
 * bytes, with one more axis. */
static bool
add_held(py_call *c, PyObject *nd, PyObject *record, const td_type **type)
{
    const td_type *item = record ? py_dtype_type(record) : NULL;
    py_leaf *l;

    if (!py_is_array(nd) || (record && !item) || !add_array_argument(c, nd, type)) {
        Py_DECREF(nd);
        return false;
    }
    l = &c->leaf[c->nleaf - 1];
    l->held = nd;
    c->plain = false;
    if (record) /* any strides: kernels of records take them as bytes */
        *type = l->type =
            td_type_array(item, (uint32_t)l->array->view.shape.ndim - 1, 'A', l->readonly);
    return *type != NULL;
}

/* Objects of treadle.cuda over an array: mapped memory has it in _td_array; records have
 * theirs and the dtype in _td_records.  1: done; 0: neither; -1: exception. */
static int
add_shown(py_call *c, PyObject *o, const td_type **type)
{
    PyObject *nd = py_attr(o, "_td_array"),
             *pair = nd || PyErr_Occurred() ? NULL : py_attr(o, "_td_records");
    int r = 0;

    if (nd)
        r = add_held(c, nd, NULL, type) ? 1 : -1;
    else if (pair && PyTuple_Check(pair) && PyTuple_Size(pair) == 2)
        r = add_held(c, Py_NewRef(PyTuple_GetItem(pair, 0)), PyTuple_GetItem(pair, 1), type) ? 1
                                                                                             : -1;
    else if (PyErr_Occurred())
        r = -1;
    Py_XDECREF(pair);
    return r;
}

/* Adds a value known at compile time.  1: done; 0: it is not; -1: exception. */
static int
add_constant(py_call *c, PyObject *o, const td_type **type)
{
    const td_type *unused;
    int r = PyUnicode_Check(o) || PyCFunction_Check(o) || py_is_dispatcher(o) ||
            PyObject_HasAttrString(o, "__code__") || PyExceptionClass_Check(o);
    uint32_t h;

    if (!r && (r = py_type_of(o, &unused)) <= 0)
        return r;
    h = py_handle(c->d->keep, o);
    if (!h)
        return -1;
    *type = td_type_object(h, "object");
    return 1;
}

/* Adds lists, sets, and treadle.typed's, for functions on the CPU.  1: done; 0: another
 * object; -1: exception. */
static int
add_box(py_call *c, PyObject *o, const td_type **type)
{
    bool typed = py_is_boxobject(o);
    py_leaf *l;
    td_box *b;

    if (!typed && !PyList_Check(o) && !PySet_Check(o))
        return 0;
    if (c->d->how.mode != TD_MODE_FUNCTION || !td_dev_info(c->dev)->host) {
        refuse(c, PyExc_TypeError,
               "lists, dicts and sets are arguments of treadle.jit's functions on the CPU only");
        return -1;
    }
    if (typed && !py_boxobject_type(o)) {
        refuse(c, PyExc_TypeError,
               "the type of its elements is not known yet: put something in, or "
               "make it by empty_list or empty");
        return -1;
    }
    *type = typed ? py_boxobject_type(o) : py_value_type(o);
    b = !*type ? NULL : typed ? py_boxobject_box(o) : py_boxes_add(&c->boxes, o, *type);
    l = b ? next_leaf(c, PY_LEAF_WORD) : NULL;
    if (!l)
        return -1;
    c->plain = false;
    c->typed += typed;
    l->type = *type;
    l->nword = 1;
    l->word[0] = (uint64_t)(uintptr_t)b;
    l->held = typed ? Py_NewRef(o) : NULL;
    return 1;
}

static int
add_generator(py_call *c, PyObject *o, const td_type **type)
{
    PyObject *instance;
    int r = py_generator_instance(o, &instance);

    if (r > 0)
        r = add_box(c, instance, type);
    Py_XDECREF(instance);
    return r;
}

/* The first few strings that a function gets are compile-time constants; after many it takes
 * them as values. */
static int
add_text(py_call *c, PyObject *o, const td_type **type)
{
    enum { CONSTANTS = 4 };
    py_dispatcher *d = c->d;
    py_leaf *l;
    int known;

    if (!PyUnicode_Check(o) || d->how.mode != TD_MODE_FUNCTION || !td_dev_info(c->dev)->host)
        return 0;
    if (!d->texts && !(d->texts = PySet_New(NULL)))
        return -1;
    known = PySet_Contains(d->texts, o);
    if (known)
        return known < 0 ? -1 : 0;
    if (PySet_Size(d->texts) < CONSTANTS)
        return PySet_Add(d->texts, o) < 0 ? -1 : 0;
    if (!c->boxes && !(c->boxes = calloc(1, sizeof *c->boxes)))
        return PyErr_NoMemory(), -1;
    l = next_leaf(c, PY_LEAF_WORD);
    c->plain = false;
    *type = td_type_box(TD_BOX_STR, NULL, 0, false);
    if (!l || !py_value_put(*type, o, l->word, &c->boxes->mem, NULL))
        return -1;
    l->type = *type;
    l->nword = 1;
    return 1;
}

static bool
add_rare(py_call *c, PyObject *o, const td_type **type)
{
    PyObject *value;
    td_scalar s;
    char weak;
    int r = add_box(c, o, type);

    if (!r)
        r = add_generator(c, o, type);
    if (!r)
        r = add_text(c, o, type);
    if (!r)
        r = add_constant(c, o, type);

    if (!r)
        r = add_wrapper(c, o, type);
    if (!r)
        r = add_shown(c, o, type);
    if (!r)
        r = add_foreign(c, o, type);
    if (r)
        return r > 0;
    value = PyObject_HasAttrString(o, "__array_interface__") && py_numpy()
                ? PyObject_CallMethod(py_numpy(), "asarray", "O", o)
                : NULL;
    if (value) {
        bool ok = add_host(c, value, type);

        Py_DECREF(value); /* the buffer holds it */
        return ok;
    }
    if (PyErr_Occurred())
        return false;
    if ((r = add_member(c, o, type)))
        return r > 0;
    r = py_number(o, &s, &weak);
    PyErr_Clear();
    if (r > 0)
        return add_number(c, s, weak, type);
    PyErr_Format(PyExc_TypeError,
                 "%U: kernels take numbers, arrays, records, None and tuples of them, not %R",
                 c->d->name, (PyObject *)Py_TYPE(o));
    return false;
}

/* NumPy's arrays and scalars.  Subclasses may be memory that the device can access. */
static bool
add_numpy(py_call *c, PyObject *o, const td_type **type)
{
    bool gpu = !td_dev_info(c->dev)->host;
    int r = gpu && Py_TYPE(o) != numpy_array ? add_shown(c, o, type) : 0;

    return r ? r > 0 : add_host(c, o, type);
}

static bool
add_argument(py_call *c, PyObject *o, const td_type **type)
{
    PyTypeObject *t = Py_TYPE(o);
    td_scalar s;
    char weak;

    if (py_is_array(o))
        return add_array_argument(c, o, type);
    if (t == &PyLong_Type || t == &PyFloat_Type || t == &PyBool_Type || t == &PyComplex_Type)
        return py_number(o, &s, &weak) > 0 && add_number(c, s, weak, type);
    if (is_numpy_array(o))
        return add_numpy(c, o, type);
    if (o == Py_None) {
        static const td_type *none;

        *type = none ? none : (none = td_type_none());
        return true;
    }
    if (is_numpy_scalar(o))
        return add_scalar(c, o, type);
    if (PyTuple_Check(o))
        return add_tuple(c, o, type);
    if (PySlice_Check(o))
        return add_slice(c, o, type);
    if (px_bare(o) != o)
        return add_argument(c, px_bare(o), type);
    return add_rare(c, o, type);
}

bool
py_call_add(py_call *c, PyObject *o)
{
    if (!add_argument(c, o, &c->type[c->narg]))
        return false;
    c->narg++;
    return true;
}

void
py_call_end(py_call *c)
{
    for (uint32_t i = 0; i < c->nleaf && !c->plain; i++) {
        py_leaf *l = &c->leaf[i];

        if (l->kind == PY_LEAF_HOST || l->kind == PY_LEAF_RECORD) {
            PyBuffer_Release(&l->host);
            td_buf_unref(l->buf);
        }
        Py_XDECREF(l->held);
    }
    py_boxes_free(c->boxes);
}

/* The device of the first array; NULL: there is none. */
static td_dev *
array_device(PyObject *const *args, Py_ssize_t n)
{
    td_dev *d = NULL;

    for (Py_ssize_t i = 0; i < n && !d; i++)
        if (py_is_array(args[i]))
            d = td_array_dev(py_array_of(args[i]));
        else if (PyTuple_Check(args[i])) {
            for (Py_ssize_t k = 0; k < PyTuple_Size(args[i]) && !d; k++) {
                PyObject *item = PyTuple_GetItem(args[i], k);

                d = array_device(&item, 1);
            }
        }
    return d;
}

bool
py_call_begin(py_call *c, py_dispatcher *d, td_stream *stream, PyObject *const *args, Py_ssize_t n)
{
    c->d = d;
    c->narg = c->nleaf = 0;
    c->boxes = NULL;
    c->typed = 0;
    c->hosts = false;
    c->plain = true;
    c->dev = array_device(args, n);
    if (!c->dev)
        c->dev = d->how.mode != TD_MODE_KERNEL ? py_cpu() : stream ? td_stream_dev(stream) : NULL;
    return c->dev || py_device(NULL, &c->dev);
}
