/* programargs.c - arguments of CUDA C++ kernels: converted by the signature, refused where it says something else.
 *
 * A pointer parameter takes arrays, addresses, and objects that have one; a number what its type can hold.  What
 * Python cannot tell (a number without a size where the signature is not known) is refused: nothing is guessed.
 */
#include "python/program.h"

#include "python/driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct what what;

static bool add_pointer(what *w, PyObject *o, int depth);

/* what - the parameter that is being filled. */
struct what {
    py_cuargs *g;
    uint32_t i;
    const td_cxx_param *p; /* NULL: nothing is known */
    unsigned char *to;
};

/* ---- signatures and errors ---- */

PyObject *
py_cukernel_signature(const py_cukernel *k)
{
    PyObject *s = PyUnicode_FromFormat("%U(", k->name);

    for (uint32_t i = 0; s && i < k->nparam && k->param; i++) {
        const td_cxx_param *p = &k->param[i];
        size_t n = strlen(p->type);
        bool glued = !n || p->type[n - 1] == '*' || p->type[n - 1] == '&' || !*p->name;
        PyObject *more = n ? PyUnicode_FromFormat("%U%s%s%s%s", s, i ? ", " : "", p->type,
                                                  glued ? "" : " ", p->name)
                           : PyUnicode_FromFormat("%U%s%u bytes", s, i ? ", " : "", p->size);

        Py_DECREF(s);
        s = more;
    }
    if (s) {
        PyObject *all = PyUnicode_FromFormat("%U%s)", s, k->param ? "" : "...");

        Py_DECREF(s);
        s = all;
    }
    return s;
}

/* "add: argument 2 ('n', int)": what the text of an error begins with. */
static PyObject *
place(const what *w)
{
    if (!w->p || !*w->p->type)
        return PyUnicode_FromFormat("%U: argument %u", w->g->k->name, w->i);
    if (!*w->p->name)
        return PyUnicode_FromFormat("%U: argument %u (%s)", w->g->k->name, w->i, w->p->type);
    return PyUnicode_FromFormat("%U: argument %u ('%s', %s)", w->g->k->name, w->i, w->p->name,
                                w->p->type);
}

static bool
refuse(const what *w, PyObject *error, const char *text)
{
    PyObject *at = PyErr_Occurred() ? NULL : place(w);

    if (at)
        PyErr_Format(error, "%U: %s", at, text);
    Py_XDECREF(at);
    return false;
}

/* %R: what came. */
static bool
refuse_object(const what *w, PyObject *o, const char *advice)
{
    PyObject *at = PyErr_Occurred() ? NULL : place(w);

    if (at)
        PyErr_Format(PyExc_TypeError, "%U: %R is not for it: %s", at, (PyObject *)Py_TYPE(o),
                     advice);
    Py_XDECREF(at);
    return false;
}

/* The NumPy scalar class for the parameter, as advice: "numpy.int32"; "" where there is none. */
static const char *
scalar_class(const td_cxx_param *p)
{
    static const char *const ints[] = {"numpy.int8", "numpy.int16", "numpy.int32", "numpy.int64"},
                             *const uints[] = {"numpy.uint8", "numpy.uint16", "numpy.uint32",
                                               "numpy.uint64"};
    int i = p->size == 1 ? 0 : p->size == 2 ? 1 : p->size == 4 ? 2 : p->size == 8 ? 3 : -1;

    if (i < 0)
        return "";
    switch (p->kind) {
    case 'i': return ints[i];
    case 'u': return uints[i];
    case 'b': return "bool";
    case 'f': return i == 1 ? "numpy.float16" : i == 2 ? "numpy.float32" : "numpy.float64";
    default:  return "";
    }
}

/* ---- where an argument goes ---- */

/* The place for n bytes; with a signature it is there and n is the parameter's size.  NULL: exception. */
static unsigned char *
room(what *w, uint32_t n)
{
    py_cuargs *g = w->g;
    uint32_t align = n >= 16 ? 16 : n >= 8 ? 8 : n >= 4 ? 4 : n >= 2 ? 2 : 1, at;

    if (w->to)
        return w->to;
    at = (g->nbytes + align - 1) / align * align;
    if (at + n > PY_CU_BYTES) {
        refuse(w, PyExc_ValueError, "more than 4096 bytes of arguments");
        return NULL;
    }
    g->offset[w->i] = at;
    g->nbytes = at + n;
    return g->bytes + at;
}

static bool
put(what *w, const void *bytes, uint32_t n)
{
    unsigned char *to = room(w, n);

    if (to)
        memcpy(to, bytes, n);
    return to != NULL;
}

/* ---- pointers ---- */

/* Do elements of that kind and size fit what the parameter points to? */
static bool
item_fits(const td_cxx_param *p, char kind, size_t size)
{
    switch (p ? p->item : '?') {
    case 'b': return kind == 'b' || size == 1;
    case 'i':
    case 'u': return p->item_size == 1 || ((kind == 'i' || kind == 'u') && size == p->item_size);
    case 'f':
        return (kind == 'f' && size == p->item_size) || (kind == 'c' && size == 2 * p->item_size);
    default: return true; /* void, a class, a pointer, or nobody knows */
    }
}

static bool
wrong_item(const what *w, const char *dtype)
{
    PyObject *at = place(w);

    if (at)
        PyErr_Format(PyExc_TypeError,
                     "%U: an array of %s: convert it with astype, or reinterpret its bytes with "
                     "x.view(dtype)",
                     at, dtype);
    Py_XDECREF(at);
    return false;
}

static bool
takes_pointer(const what *w)
{
    return !w->p || w->p->kind == 'p' || (w->p->kind == '?' && (!w->p->size || w->p->size == 8));
}

static bool
elsewhere(const what *w, const td_dev *d)
{
    PyObject *at = place(w);

    if (at)
        PyErr_Format(PyExc_ValueError, "%U: its memory lies on %s, the kernel on %s", at,
                     td_dev_info(d)->name, td_dev_info(w->g->k->dev)->name);
    Py_XDECREF(at);
    return false;
}

/* Room for an address that is known once all arrays have been evaluated, or that a buffer has. */
static bool
put_memory(what *w, const td_array *a, td_buf *b, bool written)
{
    py_cuargs *g = w->g;
    uint64_t at = b ? b->ptr : 0;

    if (!put(w, &at, 8))
        return false;
    g->array[g->narray++] =
        (struct py_cuarray){.a = a,
                            .buf = b,
                            .at = w->to ? (uint32_t)(w->to - g->bytes) : g->offset[w->i],
                            .written = written};
    return true;
}

static bool
add_array(what *w, const py_ndarray *nd)
{
    td_dtype dt = td_array_dtype(&nd->a);
    bool written = !w->p || !w->p->readonly;

    if (!takes_pointer(w))
        return refuse(w, PyExc_TypeError, "an array is not for it: it is no pointer");
    if (td_array_dev(&nd->a) != w->g->k->dev)
        return elsewhere(w, td_array_dev(&nd->a));
    if (!item_fits(w->p, td_dtype_kind(dt), td_dtype_size(dt)))
        return wrong_item(w, td_dtype_name(dt));
    if (written && w->p && w->p->kind == 'p' && (nd->readonly || nd->a.store->readonly))
        return refuse(w, PyExc_ValueError,
                      "the array is read-only, and the pointer is not to const: give it a copy");
    return put_memory(w, &nd->a, NULL, written);
}

/* driver.mem_alloc's. */
static bool
add_allocation(what *w, PyObject *o)
{
    td_buf *b = py_allocation_buf(o);

    if (!b)
        return py_raise(td_raw_refuse(1, w->g->k->label, "the memory was freed")), false;
    if (b->dev != w->g->k->dev)
        return elsewhere(w, b->dev);
    return put_memory(w, NULL, b, true);
}

/* A number is looked up where the kernel would end the process; a GPU tells of a wrong one itself, and later. */
static bool
put_address(what *w, PyObject *number)
{
    PyObject *n = PyNumber_Index(number);
    void *at = n ? PyLong_AsVoidPtr(n) : NULL;
    uint64_t word = (uint64_t)(uintptr_t)at;
    td_dev *d = w->g->k->dev;

    Py_XDECREF(n);
    if (PyErr_Occurred())
        return false;
    if (at && td_dev_info(d)->kind != TD_DEV_CUDA &&
        !py_ok(td_raw_check(d, (uintptr_t)at, 1, w->g->k->label)))
        return false;
    return put(w, &word, 8);
}

static bool
add_interface(what *w, PyObject *d)
{
    PyObject *data = PyDict_Check(d) ? PyDict_GetItemString(d, "data") : NULL,
             *type = data ? PyDict_GetItemString(d, "typestr") : NULL;
    const char *t = type && PyUnicode_Check(type) ? PyUnicode_AsUTF8AndSize(type, NULL) : NULL;

    if (!t || strlen(t) < 3 || !PyTuple_Check(data) || PyTuple_Size(data) != 2)
        return refuse(w, PyExc_ValueError,
                      "its __cuda_array_interface__ has no data or no typestr");
    if (!item_fits(w->p, t[1], (size_t)strtoul(t + 2, NULL, 10)))
        return wrong_item(w, t);
    if (w->p && w->p->kind == 'p' && !w->p->readonly &&
        PyObject_IsTrue(PyTuple_GetItem(data, 1)) == 1)
        return refuse(w, PyExc_ValueError,
                      "the array is read-only, and the pointer is not to const: give it a copy");
    return put_address(w, PyTuple_GetItem(data, 0));
}

/* Is o memory of the host?  Scalars of NumPy are too, but may be addresses. */
static bool
host_memory(PyObject *o)
{
    Py_buffer b;
    bool yes;

    if (!PyObject_CheckBuffer(o))
        return false;
    if (PyObject_GetBuffer(o, &b, PyBUF_STRIDES) < 0) {
        PyErr_Clear();
        return true;
    }
    yes = b.ndim != 0;
    PyBuffer_Release(&b);
    return yes;
}

/* Who has the memory of a NumPy array that the device shares (driver.managed_empty); NULL without exception: nobody. */
static PyObject *
manager_of(PyObject *o)
{
    PyObject *base = Py_NewRef(o), *next, *shared;

    while (base && (shared = py_attr(base, "_managed")) == NULL && !PyErr_Occurred()) {
        next = py_attr(base, "base");
        Py_DECREF(base);
        base = next == Py_None ? NULL : next;
        if (next == Py_None)
            Py_DECREF(next);
    }
    if (base && !PyErr_Occurred())
        Py_DECREF(shared);
    return base;
}

/* Such an array: its elements have to be the pointer's, and writable where it may write. */
static bool
add_managed(what *w, PyObject *o, PyObject *manager)
{
    bool writes = !w->p || (w->p->kind == 'p' && !w->p->readonly), ok = false;
    PyObject *at = PyObject_CallMethod(manager, "get_device_pointer", NULL),
             *host = at ? PyObject_GetAttrString(manager, "ptr") : NULL;
    uint64_t word = 0;
    td_dtype dt = TD_U8;
    Py_buffer b;

    if (host && PyObject_GetBuffer(o, &b, PyBUF_FORMAT | PyBUF_STRIDES) == 0) {
        word = (uint64_t)(uintptr_t)PyLong_AsVoidPtr(at) + (uint64_t)(uintptr_t)b.buf -
               (uint64_t)(uintptr_t)PyLong_AsVoidPtr(host);
        if (!PyBuffer_IsContiguous(&b, 'A'))
            (void)refuse(w, PyExc_ValueError,
                         "the array is not contiguous: a kernel sees its memory as it lies");
        else if (writes && b.readonly)
            (void)refuse(w, PyExc_ValueError,
                         "the array is read-only, and the pointer is not to const: give it a copy");
        else if (py_format_dtype(b.format, b.itemsize, &dt) &&
                 !item_fits(w->p, td_dtype_kind(dt), td_dtype_size(dt)))
            (void)wrong_item(w, td_dtype_name(dt));
        else
            ok = !PyErr_Occurred() && put(w, &word, 8);
        PyBuffer_Release(&b);
    }
    Py_XDECREF(at);
    Py_XDECREF(host);
    return ok;
}

/* Attributes by which objects tell their memory, the best first: an array of ours, a description, an address. */
static const char *const ways[] = {"_held",   "_array", "__cuda_array_interface__",
                                   "gpudata", "ptr",    "handle"};
enum { WAYS = sizeof ways / sizeof *ways, KNOWN = 32 };

/* Which of them objects of a class have, so that nobody looks for what is not there at every launch: WAYS none.  Classes are
 * kept, so that none takes the place of another. */
static int
way_of(PyObject *o)
{
    static struct {
        PyTypeObject *type;
        int way;
    } known[KNOWN];
    PyTypeObject *type = Py_TYPE(o);
    size_t slot = ((uintptr_t)type >> 4) % KNOWN;
    int way = 0;

    if (known[slot].type == type)
        return known[slot].way;
    for (; way < WAYS; way++) {
        PyObject *v = py_attr(o, ways[way]);

        PyErr_Clear();
        Py_XDECREF(v);
        if (v)
            break;
    }
    Py_XDECREF((PyObject *)known[slot].type);
    known[slot].type = (PyTypeObject *)Py_NewRef((PyObject *)type);
    known[slot].way = way;
    return way;
}

/* Anything else that has an address: GPUArrays, other libraries' arrays, pointers. */
static bool
add_pointer_object(what *w, PyObject *o, int depth)
{
    int way = way_of(o);
    PyObject *v = way < WAYS ? PyObject_GetAttrString(o, ways[way]) : NULL;
    bool ok;

    if (way == WAYS && PyObject_CheckBuffer(o) && (v = manager_of(o)) != NULL) {
        ok = add_managed(w, o, v);
        Py_DECREF(v);
        return ok;
    }
    if (way == WAYS) {
        if (PyErr_Occurred())
            return false;
        if (!host_memory(o) && PyIndex_Check(o))
            return put_address(w, o);
        return refuse_object(w, o,
                             PyObject_CheckBuffer(o)
                                 ? "it is host memory: copy it to the device, as an array "
                                   "(treadle.asarray) or with memcpy_htod"
                                 : "a pointer takes an array of the device, an address or None");
    }
    if (!v)
        return false;
    if (py_is_array(v))
        ok = add_array(w, (const py_ndarray *)v);
    else if (PyDict_Check(v))
        ok = add_interface(w, v);
    else if (v == Py_None)
        ok = refuse(w, PyExc_ValueError, "its memory was freed");
    else if (PyLong_CheckExact(v))
        ok = put_address(w, v);
    else if (depth < 4)
        ok = add_pointer(w, v, depth + 1);
    else
        ok = refuse_object(w, o, "it leads to no address");
    Py_DECREF(v);
    return ok;
}

static bool
add_pointer(what *w, PyObject *o, int depth)
{
    if (py_is_array(o))
        return add_array(w, (const py_ndarray *)o);
    if (o == Py_None)
        return put(w, &(uint64_t){0}, 8);
    if (PyLong_CheckExact(o))
        return put_address(w, o);
    if (py_is_allocation(o))
        return add_allocation(w, o);
    return add_pointer_object(w, o, depth);
}

/* ---- numbers ---- */

static bool
out_of_range(const what *w, PyObject *o)
{
    PyObject *at = PyErr_ExceptionMatches(PyExc_OverflowError) || !PyErr_Occurred()
                       ? (PyErr_Clear(), place(w))
                       : NULL;

    if (at)
        PyErr_Format(PyExc_OverflowError, "%U: %S does not fit its %u bytes", at, o, w->p->size);
    Py_XDECREF(at);
    return false;
}

/* A Python int, or NumPy's of the right size, to the parameter's integer. */
static bool
put_int(what *w, PyObject *o, bool is_signed)
{
    uint32_t n = w->p->size;
    PyObject *index = PyNumber_Index(o);
    uint64_t bits = 0;
    bool ok = index != NULL;

    if (ok && is_signed) {
        long long v = PyLong_AsLongLong(index);

        bits = (uint64_t)v;
        ok =
            !PyErr_Occurred() && (n >= 8 || (v >= -(1LL << (8 * n - 1)) && v < 1LL << (8 * n - 1)));
    } else if (ok) {
        bits = PyLong_AsUnsignedLongLong(index);
        ok = !PyErr_Occurred() && (n >= 8 || bits < 1ULL << (8 * n));
    }
    Py_XDECREF(index);
    if (!ok)
        return out_of_range(w, o);
    return put(w, &bits, n); /* little-endian */
}

static bool
put_float(what *w, double v, bool bfloat)
{
    float f = (float)v;
    uint16_t half = bfloat ? td_double_to_bfloat(v) : td_double_to_half(v);

    switch (w->p->size) {
    case 2:  return put(w, &half, 2);
    case 4:  return put(w, &f, 4);
    case 8:  return put(w, &v, 8);
    default: return refuse(w, PyExc_TypeError, "a floating type of this size has no Python number");
    }
}

static bool
is_bfloat(const td_cxx_param *p)
{
    return strstr(p->type, "bfloat") != NULL;
}

/* A number of Python, which has no size of its own. */
static bool
add_python_number(what *w, PyObject *o)
{
    bool number = PyLong_Check(o), real = PyFloat_Check(o);

    switch (w->p->kind) {
    case 'i':
    case 'u':
        if (number)
            return put_int(w, o, w->p->kind == 'i');
        return refuse_object(w, o, "an integer is wanted: int(x), if that is meant");
    case 'b': {
        int t = number || real ? PyObject_IsTrue(o) : -1;
        uint8_t byte = t > 0;

        return t < 0 ? refuse_object(w, o, "a bool is wanted") : put(w, &byte, 1);
    }
    case 'f': {
        double v = number || real ? PyFloat_AsDouble(o) : -1;

        if (number || real)
            return (v != -1 || !PyErr_Occurred()) && put_float(w, v, is_bfloat(w->p));
        return refuse_object(w, o, "a real number is wanted");
    }
    default:
        if (number && !*w->p->type && (w->p->size == 4 || w->p->size == 8)) /* no text says more */
            return put_int(w, o, PyLong_AsDouble(o) < 0);
        return refuse_object(w, o, "the parameter's type is not known: give a NumPy scalar of it");
    }
}

/* A NumPy scalar must be what the parameter is. */
static bool
wrong_scalar(const what *w, const char *dtype)
{
    const char *class = scalar_class(w->p);
    PyObject *at = place(w);

    if (at && *class)
        PyErr_Format(PyExc_TypeError, "%U: a scalar of %s: write %s(x), or give a Python number",
                     at, dtype, class);
    else if (at)
        PyErr_Format(PyExc_TypeError, "%U: a scalar of %s is not of its %u bytes", at, dtype,
                     w->p->size);
    Py_XDECREF(at);
    return false;
}

/* The bytes of a scalar, of a structure, of bytes: whatever lies in memory in one piece. */
static bool
add_bytes(what *w, const Py_buffer *b)
{
    td_dtype dt;
    bool known = b->ndim == 0 && b->format && py_format_dtype(b->format, b->itemsize, &dt);
    char text[120], kind = known ? td_dtype_kind(dt) : 's', want = w->p ? w->p->kind : '?';

    if (b->len > PY_CU_BYTES)
        return refuse(w, PyExc_ValueError, "more than 4096 bytes of arguments");
    if (!w->p)
        return put(w, b->buf, (uint32_t)b->len);
    if (known && (want == 'i' || want == 'u') && (kind == 'i' || kind == 'u') &&
        (size_t)b->len == w->p->size) {
        uint64_t top = (uint64_t)((const unsigned char *)b->buf)[b->len - 1] >> 7;

        if (kind != want && top)
            return refuse(w, PyExc_OverflowError, "the NumPy scalar does not fit its type's sign");
        return put(w, b->buf, w->p->size);
    }
    if ((want == '?' || kind == 's' || kind == want || (want == 's' && kind == 'c')) &&
        ((size_t)b->len == w->p->size || (want == '?' && !w->p->size)))
        return put(w, b->buf, (uint32_t)b->len);
    if (known)
        return wrong_scalar(w, td_dtype_name(dt));
    snprintf(text, sizeof text,
             "%zd bytes came for its %u (numpy.dtype(..., align=True) lays fields out as C does)",
             b->len, w->p->size);
    return refuse(w, PyExc_TypeError, text);
}

/* 1: done, 0: o is no such thing, -1. */
static int
add_buffer(what *w, PyObject *o)
{
    Py_buffer b;
    int r = 0;

    if (!PyObject_CheckBuffer(o))
        return 0;
    if (PyObject_GetBuffer(o, &b, PyBUF_FORMAT | PyBUF_C_CONTIGUOUS) < 0)
        return -1;
    if (b.ndim == 0 || PyBytes_Check(o) || (w->p && w->p->kind == 's'))
        r = add_bytes(w, &b) ? 1 : -1;
    PyBuffer_Release(&b);
    return r;
}

static bool
add_complex(what *w, PyObject *o)
{
    double v[2] = {PyComplex_RealAsDouble(o), PyComplex_ImagAsDouble(o)};
    float f[2] = {(float)v[0], (float)v[1]};

    if (w->p && w->p->kind == 's' && strstr(w->p->type, "omplex") && w->p->size == 16)
        return put(w, v, 16);
    if (w->p && w->p->kind == 's' && strstr(w->p->type, "omplex") && w->p->size == 8)
        return put(w, f, 8);
    return refuse_object(w, o, "no complex number is wanted");
}

static bool
add_number(what *w, PyObject *o)
{
    int r;

    if (PyLong_CheckExact(o) || PyBool_Check(o) || PyFloat_CheckExact(o)) {
        if (w->p && w->p->kind != 's')
            return add_python_number(w, o);
        return refuse_object(w, o,
                             w->p ? "its bytes are wanted: a numpy.void, a scalar of a structured "
                                    "dtype, or bytes"
                                  : "nothing is known of the kernel's parameters: give a NumPy "
                                    "scalar, numpy.int32(x)");
    }
    r = add_buffer(w, o);
    if (r)
        return r > 0;
    if (PyComplex_Check(o))
        return add_complex(w, o);
    if (w->p && (w->p->kind == 'u' || w->p->kind == 'i') && w->p->size == 8 && !PyIndex_Check(o))
        return add_pointer_object(w, o, 0); /* a texture's or a surface's number */
    if (w->p && (PyIndex_Check(o) || PyFloat_Check(o)) && w->p->kind != 's')
        return add_python_number(w, o);
    return refuse_object(w, o, "a number is wanted");
}

static bool
add(what *w, PyObject *o)
{
    if (py_is_array(o))
        return add_array(w, (const py_ndarray *)o);
    if (w->p && w->p->kind == 'p')
        return add_pointer(w, o, 0);
    if (takes_pointer(w) && !PyLong_Check(o) && !PyFloat_Check(o) && !PyComplex_Check(o) &&
        !PyObject_CheckBuffer(o))
        return add_pointer(w, o, 0);
    return add_number(w, o);
}

/* ---- all of them ---- */

static bool
wrong_count(const py_cukernel *k, Py_ssize_t nargs)
{
    PyObject *s = py_cukernel_signature(k);

    if (s)
        PyErr_Format(PyExc_TypeError, "%U takes %u argument%s: %zd given", s, k->nparam,
                     k->nparam == 1 ? "" : "s", nargs);
    Py_XDECREF(s);
    return false;
}

bool
py_cuargs_read(py_cuargs *g, const py_cukernel *k, PyObject *const *args, Py_ssize_t nargs)
{
    g->k = k;
    g->narray = 0;
    g->n = (uint32_t)nargs;
    g->own = !k->param;
    g->nbytes = k->param ? k->nbytes : 0;
    if (k->param ? nargs != (Py_ssize_t)k->nparam : nargs > PY_CU_ARGS)
        return wrong_count(k, nargs);
    for (Py_ssize_t i = 0; i < nargs; i++) {
        what w = {.g = g, .i = (uint32_t)i};

        if (k->param) {
            w.p = &k->param[i];
            w.to = g->bytes + k->offset[i];
        }
        if (!add(&w, args[i]))
            return false;
    }
    return true;
}

bool
py_cuargs_settle(py_cuargs *g)
{
    for (uint32_t i = 0; i < g->narray; i++)
        if (g->array[i].a && !py_ok(td_array_use(g->array[i].a, false, &g->array[i].buf)))
            return false;
    for (uint32_t i = 0; i < g->narray; i++)
        if (g->array[i].a && g->array[i].written &&
            !py_ok(td_array_use(g->array[i].a, true, &g->array[i].buf)))
            return false;
    for (uint32_t i = 0; i < g->narray; i++) {
        const td_array *a = g->array[i].a;
        uint64_t at = g->array[i].buf->ptr;

        if (a)
            at += (uint64_t)(a->view.offset * (int64_t)td_dtype_size(td_array_dtype(a)));
        memcpy(g->bytes + g->array[i].at, &at, sizeof at);
    }
    return true;
}
