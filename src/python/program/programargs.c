/* programargs.c - arguments of CUDA C++ kernels: converted by the signature, refused if the
 * signature says something else.
 *
 * A pointer parameter takes arrays, addresses, and objects that have an address.  A number
 * parameter takes what its type can hold.  Nothing is guessed: a number without a size is refused
 * if the signature is not known.
 */
#include "python/program/program.h"

#include "python/driver/driver.h"

#include <stdlib.h>
#include <string.h>

static bool add_pointer(py_cuarg *w, PyObject *o, int depth);

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

/* "add: argument 2 ('n', int)", the beginning of an error's text. */
PyObject *
py_cuarg_place(const py_cuarg *w)
{
    if (!w->p || !*w->p->type)
        return PyUnicode_FromFormat("%U: argument %u", w->g->k->name, w->i);
    if (!*w->p->name)
        return PyUnicode_FromFormat("%U: argument %u (%s)", w->g->k->name, w->i, w->p->type);
    return PyUnicode_FromFormat("%U: argument %u ('%s', %s)", w->g->k->name, w->i, w->p->name,
                                w->p->type);
}

bool
py_cuarg_refuse(const py_cuarg *w, PyObject *error, const char *text)
{
    PyObject *at = PyErr_Occurred() ? NULL : py_cuarg_place(w);

    if (at)
        PyErr_Format(error, "%U: %s", at, text);
    Py_XDECREF(at);
    return false;
}

/* Raises TypeError for o, with %R in `advice`. */
bool
py_cuarg_refuse_object(const py_cuarg *w, PyObject *o, const char *advice)
{
    PyObject *at = PyErr_Occurred() ? NULL : py_cuarg_place(w);

    if (at)
        PyErr_Format(PyExc_TypeError, "%U: %R is not for it: %s", at, (PyObject *)Py_TYPE(o),
                     advice);
    Py_XDECREF(at);
    return false;
}

/* ---- an argument's destination ---- */

/* The destination for n bytes; with a signature, n is the parameter's size.  NULL: exception. */
static unsigned char *
room(py_cuarg *w, uint32_t n)
{
    py_cuargs *g = w->g;
    uint32_t align = n >= 16 ? 16 : n >= 8 ? 8 : n >= 4 ? 4 : n >= 2 ? 2 : 1, at;

    if (w->to)
        return w->to;
    at = (g->nbytes + align - 1) / align * align;
    if (at + n > PY_CU_BYTES) {
        py_cuarg_refuse(w, PyExc_ValueError, "more than 4096 bytes of arguments");
        return NULL;
    }
    g->offset[w->i] = at;
    g->nbytes = at + n;
    return g->bytes + at;
}

bool
py_cuarg_put(py_cuarg *w, const void *bytes, uint32_t n)
{
    unsigned char *to = room(w, n);

    if (to)
        memcpy(to, bytes, n);
    return to != NULL;
}

/* ---- pointers ---- */

/* Does the parameter point to elements of that kind and size? */
static bool
item_fits(const td_cxx_param *p, char kind, size_t size)
{
    switch (p ? p->item : '?') {
    case 'b': return kind == 'b' || size == 1;
    case 'i':
    case 'u': return p->item_size == 1 || ((kind == 'i' || kind == 'u') && size == p->item_size);
    case 'f':
        return (kind == 'f' && size == p->item_size) || (kind == 'c' && size == 2 * p->item_size);
    default: return true; /* void, a class, a pointer, or not known */
    }
}

static bool
wrong_item(const py_cuarg *w, const char *dtype)
{
    PyObject *at = py_cuarg_place(w);

    if (at)
        PyErr_Format(PyExc_TypeError,
                     "%U: an array of %s: convert it with astype, or reinterpret its bytes with "
                     "x.view(dtype)",
                     at, dtype);
    Py_XDECREF(at);
    return false;
}

static bool
takes_pointer(const py_cuarg *w)
{
    return !w->p || w->p->kind == 'p' || (w->p->kind == '?' && (!w->p->size || w->p->size == 8));
}

static bool
elsewhere(const py_cuarg *w, const td_dev *d)
{
    PyObject *at = py_cuarg_place(w);

    if (at)
        PyErr_Format(PyExc_ValueError, "%U: its memory lies on %s, the kernel on %s", at,
                     td_dev_info(d)->name, td_dev_info(w->g->k->dev)->name);
    Py_XDECREF(at);
    return false;
}

/* Reserves a word for an address that is known once all arrays are evaluated, or for a
 * buffer's. */
static bool
put_memory(py_cuarg *w, const td_array *a, td_buf *b, bool written)
{
    py_cuargs *g = w->g;
    uint64_t at = b ? b->ptr : 0;

    if (!py_cuarg_put(w, &at, 8))
        return false;
    g->array[g->narray++] =
        (struct py_cuarray){.a = a,
                            .buf = b,
                            .at = w->to ? (uint32_t)(w->to - g->bytes) : g->offset[w->i],
                            .written = written};
    return true;
}

static bool
cuarg_add_array(py_cuarg *w, const py_ndarray *nd)
{
    td_dtype dt = td_array_dtype(&nd->a);
    bool written = !w->p || !w->p->readonly;

    if (!takes_pointer(w))
        return py_cuarg_refuse(w, PyExc_TypeError, "an array is not for it: it is no pointer");
    if (td_array_dev(&nd->a) != w->g->k->dev)
        return elsewhere(w, td_array_dev(&nd->a));
    if (!item_fits(w->p, td_dtype_kind(dt), td_dtype_size(dt)))
        return wrong_item(w, td_dtype_name(dt));
    if (written && w->p && w->p->kind == 'p' && (nd->readonly || nd->a.store->readonly))
        return py_cuarg_refuse(
            w, PyExc_ValueError,
            "the array is read-only, and the pointer is not to const: give it a copy");
    return put_memory(w, &nd->a, NULL, written);
}

/* An allocation of driver.mem_alloc. */
static bool
add_allocation(py_cuarg *w, PyObject *o)
{
    td_buf *b = py_allocation_buf(o);

    if (!b)
        return py_raise(td_raw_refuse(1, w->g->k->label, "the memory was freed")), false;
    if (b->dev != w->g->k->dev)
        return elsewhere(w, b->dev);
    return put_memory(w, NULL, b, true);
}

/* On the CPU, a wrong address would end the process, so it is looked up first.  A GPU reports
 * it later by itself. */
static bool
put_address(py_cuarg *w, PyObject *number)
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
    return py_cuarg_put(w, &word, 8);
}

static bool
add_interface(py_cuarg *w, PyObject *d)
{
    PyObject *data = PyDict_Check(d) ? PyDict_GetItemString(d, "data") : NULL,
             *type = data ? PyDict_GetItemString(d, "typestr") : NULL;
    const char *t = type && PyUnicode_Check(type) ? PyUnicode_AsUTF8AndSize(type, NULL) : NULL;

    if (!t || strlen(t) < 3 || !PyTuple_Check(data) || PyTuple_Size(data) != 2)
        return py_cuarg_refuse(w, PyExc_ValueError,
                               "its __cuda_array_interface__ has no data or no typestr");
    if (!item_fits(w->p, t[1], (size_t)strtoul(t + 2, NULL, 10)))
        return wrong_item(w, t);
    if (w->p && w->p->kind == 'p' && !w->p->readonly &&
        PyObject_IsTrue(PyTuple_GetItem(data, 1)) == 1)
        return py_cuarg_refuse(
            w, PyExc_ValueError,
            "the array is read-only, and the pointer is not to const: give it a copy");
    return put_address(w, PyTuple_GetItem(data, 0));
}

/* Is o host memory?  NumPy scalars are too, but they may be addresses. */
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

/* The manager of a NumPy array in memory that the device shares (driver.managed_empty).  NULL
 * without exception: none. */
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

/* Adds such an array: its elements must fit the pointer, and be writable if the kernel may
 * write. */
static bool
add_managed(py_cuarg *w, PyObject *o, PyObject *manager)
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
            (void)py_cuarg_refuse(
                w, PyExc_ValueError,
                "the array is not contiguous: a kernel sees its memory as it lies");
        else if (writes && b.readonly)
            (void)py_cuarg_refuse(
                w, PyExc_ValueError,
                "the array is read-only, and the pointer is not to const: give it a copy");
        else if (py_format_dtype(b.format, b.itemsize, &dt) &&
                 !item_fits(w->p, td_dtype_kind(dt), td_dtype_size(dt)))
            (void)wrong_item(w, td_dtype_name(dt));
        else
            ok = !PyErr_Occurred() && py_cuarg_put(w, &word, 8);
        PyBuffer_Release(&b);
    }
    Py_XDECREF(at);
    Py_XDECREF(host);
    return ok;
}

/* Attributes by which objects tell their memory, in order of preference: an array of ours, a
 * description, an address. */
static const char *const ways[] = {"_held",   "_array", "__cuda_array_interface__",
                                   "gpudata", "ptr",    "handle"};
enum { WAYS = sizeof ways / sizeof *ways, KNOWN = 32 };

/* Which of these a class has, so that launches do not search each time; WAYS: none.  The
 * classes are kept, so that no other class gets the same address. */
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

/* Any other object with an address: a GPUArray, another library's array, a pointer. */
static bool
add_pointer_object(py_cuarg *w, PyObject *o, int depth)
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
        return py_cuarg_refuse_object(
            w, o,
            PyObject_CheckBuffer(o) ? "it is host memory: copy it to the device, as an array "
                                      "(treadle.asarray) or with memcpy_htod"
                                    : "a pointer takes an array of the device, an address or None");
    }
    if (!v)
        return false;
    if (py_is_array(v))
        ok = cuarg_add_array(w, (const py_ndarray *)v);
    else if (PyDict_Check(v))
        ok = add_interface(w, v);
    else if (v == Py_None)
        ok = py_cuarg_refuse(w, PyExc_ValueError, "its memory was freed");
    else if (PyLong_CheckExact(v))
        ok = put_address(w, v);
    else if (depth < 4)
        ok = add_pointer(w, v, depth + 1);
    else
        ok = py_cuarg_refuse_object(w, o, "it leads to no address");
    Py_DECREF(v);
    return ok;
}

static bool
add_pointer(py_cuarg *w, PyObject *o, int depth)
{
    if (py_is_array(o))
        return cuarg_add_array(w, (const py_ndarray *)o);
    if (o == Py_None)
        return py_cuarg_put(w, &(uint64_t){0}, 8);
    if (PyLong_CheckExact(o))
        return put_address(w, o);
    if (py_is_allocation(o))
        return add_allocation(w, o);
    return add_pointer_object(w, o, depth);
}

bool
py_cuarg_object(py_cuarg *w, PyObject *o)
{
    return add_pointer_object(w, o, 0);
}

/* ---- all arguments ---- */

static bool
cuarg_add(py_cuarg *w, PyObject *o)
{
    if (py_is_array(o))
        return cuarg_add_array(w, (const py_ndarray *)o);
    if (w->p && w->p->kind == 'p')
        return add_pointer(w, o, 0);
    if (takes_pointer(w) && !PyLong_Check(o) && !PyFloat_Check(o) && !PyComplex_Check(o) &&
        !PyObject_CheckBuffer(o))
        return add_pointer(w, o, 0);
    return py_cuarg_number(w, o);
}

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
        py_cuarg w = {.g = g, .i = (uint32_t)i};

        if (k->param) {
            w.p = &k->param[i];
            w.to = g->bytes + k->offset[i];
        }
        if (!cuarg_add(&w, args[i]))
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
