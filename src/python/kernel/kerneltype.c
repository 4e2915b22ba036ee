/* kerneltype.c - the front's types for Python's types: dtypes, classes of numbers, treadle.types.
 *
 * The types of numbers and of arrays of them are kept in tables, since every argument of every
 * call needs one.
 */
#include "base/box.h"
#include "python/kernel/kernel.h"

#include <string.h>

static const td_type *nums[TD_DTYPE_COUNT];
static const td_type
    /* [dtype][axes][layout C, F, A][read-only] */
    *arrays[TD_DTYPE_COUNT][TD_MAXDIM_KERNEL + 1][3][2];
static PyObject *dtypes;   /* dict: numpy.dtype -> address of its type */
static PyObject *of_types; /* dict: address of a record's type -> numpy.dtype */

const td_type *
py_num_type(td_dtype dt)
{
    if (!nums[dt])
        nums[dt] = td_type_num(dt);
    return nums[dt];
}

/* ---- arrays ---- */

static bool
is_fortran(const td_view *v)
{
    int64_t step = 1;

    for (int i = 0; i < v->shape.ndim; i++) {
        if (v->shape.dim[i] != 1 && v->stride[i] != step)
            return false;
        step *= v->shape.dim[i];
    }
    return true;
}

const td_type *
py_array_type(const td_type *item, const td_view *v, bool readonly)
{
    static const char letters[] = "CFA";
    int n = v->shape.ndim, layout = td_view_is_contiguous(v) ? 0 : is_fortran(v) ? 1 : 2;
    const td_type **place;

    if (n > TD_MAXDIM_KERNEL) {
        PyErr_Format(PyExc_ValueError, "an array of %d dimensions: kernels take at most %d", n,
                     TD_MAXDIM_KERNEL);
        return NULL;
    }
    if (item->kind != TD_T_NUM)
        return td_type_array(item, (uint32_t)n, letters[layout], readonly);
    place = &arrays[item->dt][n][layout][readonly];
    if (!*place)
        *place = td_type_array(item, (uint32_t)n, letters[layout], readonly);
    return *place;
}

/* ---- structured dtypes ---- */

static bool
get_size(PyObject *o, const char *attr, uint32_t *out)
{
    PyObject *v = PyObject_GetAttrString(o, attr);
    unsigned long n = v ? PyLong_AsUnsignedLong(v) : 0;

    Py_XDECREF(v);
    *out = (uint32_t)n;
    return !PyErr_Occurred();
}

/* Keeps the dtype of a record's type, the first one that has it. */
static bool
note_dtype(const td_type *t, PyObject *dtype)
{
    PyObject *key = PyLong_FromVoidPtr((void *)(uintptr_t)t);
    bool ok = key && (of_types || (of_types = PyDict_New())) &&
              (PyDict_GetItemWithError(of_types, key) ||
               (!PyErr_Occurred() && PyDict_SetItem(of_types, key, dtype) == 0));

    Py_XDECREF(key);
    return ok;
}

/* The type of a field that kernels do not read: a record of bytes whose only field is named as the dtype is. */
static const td_type *
opaque_type(PyObject *dtype)
{
    PyObject *text = PyObject_GetAttrString(dtype, "str");
    const char *name = text ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL;
    td_field bytes = {.name = name, .type = td_type_num(TD_U8), .ndim = 1};
    const td_type *t;
    uint32_t size;
    bool ok = name && get_size(dtype, "itemsize", &size);

    if (ok)
        bytes.shape[0] = size;
    t = ok && bytes.type ? td_type_record(&bytes, 1, size, 1) : NULL;
    return t && note_dtype(t, dtype) ? t : NULL;
}

/* The type of a field's elements; strings, dates and numbers in another byte order are opaque, references refused. */
static const td_type *
field_type(PyObject *dtype)
{
    const td_type *t = py_dtype_type(dtype);
    PyObject *objects;

    if (t || !PyErr_ExceptionMatches(PyExc_TypeError))
        return t;
    PyErr_Clear();
    objects = PyObject_GetAttrString(dtype, "hasobject");
    Py_XDECREF(objects);
    if (objects == Py_False)
        return opaque_type(dtype);
    if (objects)
        PyErr_SetString(PyExc_TypeError, "kernels take no fields of Python objects");
    return NULL;
}

/* A field of a numpy.dtype: (dtype, offset, …); a sub-array's shape becomes part of the field. */
static bool
read_field(PyObject *entry, td_field *out)
{
    PyObject *dt = PyTuple_GetItem(entry, 0), *at = dt ? PyTuple_GetItem(entry, 1) : NULL,
             *sub = at ? PyObject_GetAttrString(dt, "subdtype") : NULL;
    td_shape shape = {0};
    bool ok = sub != NULL;

    if (ok)
        out->offset = (uint32_t)PyLong_AsUnsignedLong(at);
    if (ok && sub != Py_None) {
        ok = py_shape(PyTuple_GetItem(sub, 1), &shape);
        dt = PyTuple_GetItem(sub, 0);
    }
    if (ok && shape.ndim > 4) {
        PyErr_Format(PyExc_TypeError, "a field of %d dimensions: kernels take at most 4",
                     (int)shape.ndim);
        ok = false;
    }
    if (ok)
        out->type = field_type(dt);
    ok = ok && out->type && !PyErr_Occurred();
    if (ok && shape.ndim) {
        out->ndim = (uint32_t)shape.ndim;
        memcpy(out->shape, shape.dim, sizeof out->shape);
    }
    Py_XDECREF(sub);
    return ok;
}

static const td_type *
record_type(PyObject *dtype, PyObject *names)
{
    PyObject *fields = PyObject_GetAttrString(dtype, "fields");
    Py_ssize_t n = fields ? PyTuple_Size(names) : 0;
    uint32_t size, align;
    td_field field[64];
    bool ok = fields && get_size(dtype, "itemsize", &size) && get_size(dtype, "alignment", &align);

    if (ok && n > 64) {
        PyErr_Format(PyExc_TypeError, "a structured dtype of %zd fields: kernels take at most 64",
                     n);
        ok = false;
    }
    for (Py_ssize_t i = 0; ok && i < n; i++) {
        PyObject *name = PyTuple_GetItem(names, i), *entry = PyObject_GetItem(fields, name);

        field[i] = (td_field){.name = PyUnicode_AsUTF8AndSize(name, NULL)};
        ok = entry && field[i].name && read_field(entry, &field[i]);
        Py_XDECREF(entry);
    }
    Py_XDECREF(fields);
    return ok ? td_type_record(field, (uint32_t)n, size, align) : NULL;
}

static const td_type *
make_dtype_type(PyObject *dtype)
{
    PyObject *names = PyObject_GetAttrString(dtype, "names");
    const td_type *t = NULL;
    td_dtype dt;

    if (names && names != Py_None)
        t = record_type(dtype, names);
    else if (names && py_dtype(dtype, &dt))
        t = py_num_type(dt);
    Py_XDECREF(names);
    if (!t && !PyErr_Occurred())
        PyErr_NoMemory();
    return t;
}

PyObject *
py_type_dtype(const td_type *t)
{
    PyObject *key = PyLong_FromVoidPtr((void *)(uintptr_t)t),
             *dtype = key && of_types ? PyDict_GetItemWithError(of_types, key) : NULL;

    Py_XDECREF(key);
    if (!dtype && !PyErr_Occurred())
        PyErr_Format(PyExc_TypeError, "%s has no dtype", t->name);
    return Py_XNewRef(dtype);
}

const td_type *
py_dtype_type(PyObject *dtype)
{
    PyObject *at;
    const td_type *t;

    if (!dtypes && !(dtypes = PyDict_New()))
        return NULL;
    at = PyDict_GetItemWithError(dtypes, dtype);
    if (at)
        return PyLong_AsVoidPtr(at);
    t = PyErr_Occurred() ? NULL : make_dtype_type(dtype);
    at = t ? PyLong_FromVoidPtr((void *)(uintptr_t)t) : NULL;
    if (at && (PyDict_SetItem(dtypes, dtype, at) < 0 ||
               (t->kind == TD_T_RECORD && !note_dtype(t, dtype))))
        t = NULL;
    Py_XDECREF(at);
    return t;
}

/* ---- treadle.types ---- */

/* The first letter of an attribute that is a non-empty string; 0: it is not. */
static char
letter(PyObject *o, const char *attr)
{
    PyObject *v = py_attr(o, attr);
    const char *text = v && PyUnicode_Check(v) ? PyUnicode_AsUTF8AndSize(v, NULL) : NULL;
    char c = text ? *text : 0;

    Py_XDECREF(v);
    return c;
}

static bool
is_kind(PyObject *kind, const char *name)
{
    return py_is_text(kind, name);
}

static const td_type *
array_of_types(PyObject *o, const td_type *item)
{
    PyObject *mutable = py_attr(o, "mutable");
    uint32_t ndim;
    bool fixed = mutable && !PyObject_IsTrue(mutable);

    Py_XDECREF(mutable);
    if (!get_size(o, "ndim", &ndim))
        return NULL;
    if (ndim > TD_MAXDIM_KERNEL) {
        PyErr_Format(PyExc_ValueError, "an array of %u dimensions: kernels take at most %d", ndim,
                     TD_MAXDIM_KERNEL);
        return NULL;
    }
    return td_type_array(item, ndim, letter(o, "layout"), fixed);
}

bool
py_named_type(PyObject *keep, PyObject *class, const td_type **type)
{
    PyObject *name = py_is_named(class) ? PyType_GetName((PyTypeObject *)class) : NULL;
    const char *text = name ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
    uint32_t h = text ? py_handle(keep, class) : 0;

    if (h)
        *type = td_type_named(h, text, (*type)->item, (*type)->n);
    Py_XDECREF(name);
    return h || !PyErr_Occurred();
}

/* types.NamedTuple: its class.  False: an exception. */
static bool
named_of_types(PyObject *o, const td_type **type)
{
    static PyObject *keep; /* types live as long as the process */
    PyObject *class = py_attr(o, "instance_class");
    bool ok;

    if (!class)
        return !PyErr_Occurred();
    if (!keep)
        keep = PyDict_New();
    ok = keep && py_named_type(keep, class, type);
    Py_DECREF(class);
    return ok;
}

/* Lists, sets and dicts, by their kind: 1, 0, -1. */
static int
box_of_types(PyObject *kind, const td_type **t, uint32_t n, const td_type **out)
{
    static const struct {
        const char *kind;
        td_boxkind which;
        uint32_t n;
        bool typed;
    } rows[] = {
        {"list", TD_BOX_LIST, 1, false},
        {"set", TD_BOX_SET, 1, false},
        {"typedlist", TD_BOX_LIST, 1, true},
        {"typeddict", TD_BOX_DICT, 2, true},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (is_kind(kind, rows[i].kind) && n == rows[i].n) {
            *out = td_type_box(rows[i].which, t, n, rows[i].typed);
            return 1;
        }
    return 0;
}

static bool
is_box_kind(PyObject *kind)
{
    return is_kind(kind, "list") || is_kind(kind, "set") || is_kind(kind, "typedlist") ||
           is_kind(kind, "typeddict");
}

/* Types composed of others, by their kind: 1, 0, -1. */
static int
compound(PyObject *o, PyObject *kind, PyObject *items, const td_type **out)
{
    Py_ssize_t n = PyTuple_Check(items) ? PyTuple_Size(items) : 0;
    const td_type *t[PY_LEAVES];
    bool array = is_kind(kind, "array");

    if (!array && !is_kind(kind, "tuple") && !is_box_kind(kind))
        return 0;
    if (n > PY_LEAVES) {
        PyErr_Format(PyExc_ValueError, "a tuple of %zd items: kernels take at most %d", n,
                     PY_LEAVES);
        return -1;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        int r = py_type_of(PyTuple_GetItem(items, i), &t[i]);

        if (r <= 0)
            return r;
    }
    if (is_box_kind(kind))
        return box_of_types(kind, t, (uint32_t)n, out);
    *out = array ? array_of_types(o, t[0]) : td_type_tuple(t, (uint32_t)n);
    if (*out && !array && !named_of_types(o, out))
        return -1;
    return *out ? 1 : -1;
}

static int
type_of_types(PyObject *o, PyObject *kind, const td_type **out)
{
    PyObject *items, *dtype;
    int r;

    if (is_kind(kind, "none")) {
        *out = td_type_none();
        return 1;
    }
    if (is_kind(kind, "instance")) {
        items = py_attr(o, "instance_class");
        r = items ? py_class_type(items, out) : -1;
        Py_XDECREF(items);
        return r;
    }
    if (is_kind(kind, "deferred")) {
        items = PyObject_CallMethod(o, "get", NULL);
        r = items ? py_type_of(items, out) : -1;
        Py_XDECREF(items);
        return r;
    }
    if (is_kind(kind, "optional")) { /* references to instances may be None */
        items = PyObject_GetAttrString(o, "items");
        r = items && PyTuple_Check(items) ? py_type_of(PyTuple_GetItem(items, 0), out) : -1;
        Py_XDECREF(items);
        return r > 0 && (*out)->kind == TD_T_BOX && (*out)->ndim == TD_BOX_OBJECT ? 1
               : r < 0                                                            ? -1
                                                                                  : 0;
    }
    if (is_kind(kind, "string")) {
        *out = td_type_box(TD_BOX_STR, NULL, 0, false);
        return 1;
    }
    items = py_attr(o, "items");
    if (!items)
        return PyErr_Occurred() ? -1 : 0;
    r = compound(o, kind, items, out);
    Py_DECREF(items);
    if (r)
        return r;
    dtype = py_attr(o, "dtype");
    if (py_is_none(dtype)) {
        Py_XDECREF(dtype);
        if (PyErr_Occurred())
            return -1;
        dtype = py_attr(o, "name"); /* bfloat16 has no numpy.dtype */
        r = dtype && PyUnicode_CompareWithASCIIString(dtype, "bfloat16") == 0;
        *out = r ? py_num_type(TD_BF16) : NULL;
        Py_XDECREF(dtype);
        return r;
    }
    *out = py_dtype_type(dtype);
    Py_DECREF(dtype);
    return *out ? 1 : -1;
}

/* Is o an instance of a class in a module that the program has imported?  Does not import the
 * module. */
static bool
is_instance_of(PyObject *o, const char *module, const char *class)
{
    PyObject *m = PyDict_GetItemString(PyImport_GetModuleDict(), module),
             *c = m ? py_attr(m, class) : NULL;
    bool r = c && PyObject_IsInstance(o, c) == 1;

    Py_XDECREF(c);
    PyErr_Clear();
    return r;
}

/* Classes: Python's numbers, NumPy's scalars. */
static int
type_of_class(PyObject *o, const td_type **out)
{
    td_dtype dt;
    int r;

    if (o == (PyObject *)&PyLong_Type || o == (PyObject *)&PyFloat_Type ||
        o == (PyObject *)&PyComplex_Type) {
        *out = td_type_weak(o == (PyObject *)&PyLong_Type    ? 'i'
                            : o == (PyObject *)&PyFloat_Type ? 'f'
                                                             : 'c');
        return 1;
    }
    if ((r = py_class_type(o, out)))
        return r;
    if (o == (PyObject *)&PyBool_Type) {
        *out = py_num_type(TD_BOOL);
        return 1;
    }
    PyObject *np = PyDict_GetItemString(PyImport_GetModuleDict(), "numpy"),
             *generic = np ? py_attr(np, "generic") : NULL;

    r = generic ? PyObject_IsSubclass(o, generic) : 0;

    Py_XDECREF(generic);
    if (r <= 0)
        return r;
    if (!py_dtype(o, &dt)) { /* an abstract class, or a date: kernels have no such type */
        PyErr_Clear();
        return 0;
    }
    *out = py_num_type(dt);
    return 1;
}

int
py_type_of(PyObject *o, const td_type **out)
{
    PyObject *kind;
    int r;

    if (PyType_Check(o))
        return type_of_class(o, out);
    if (is_instance_of(o, "numpy", "dtype")) {
        *out = py_dtype_type(o);
        return *out ? 1 : -1;
    }
    if (!is_instance_of(o, "treadle._compile._types._base", "Type"))
        return 0;
    kind = PyObject_GetAttrString(o, "kind");
    r = kind ? type_of_types(o, kind, out) : -1;
    Py_XDECREF(kind);
    return r;
}
