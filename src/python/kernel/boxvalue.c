/* boxvalue.c - lists, dicts, sets and strings between Python and compiled functions.
 *
 * A list or set of Python's that is an argument is copied to a box of the call's, and what the function left in it is
 * copied back.  treadle.typed's are boxes that Python objects hold: such an object pins its box, and boxes that can be
 * reached from pinned ones live on.  What else there is of them is freed once there are twice as many as lived
 * after the last time.  All of it is under the GIL.
 */
#include "python/kernel/boxvalue.h"

#include <stdlib.h>
#include <string.h>

/* py_boxobject - a Python object that holds a box. */
typedef struct py_boxobject {
    PyObject_HEAD const td_type *type;
    td_box *b;
    PyObject *held;                     /* list: who keeps memory of arrays in the box; or NULL */
    struct py_boxobject *next, **place; /* of all */
} py_boxobject;

static struct {
    PyTypeObject *type;
    PyObject *classes[5]; /* by kind: treadle.typed's */
    py_boxobject *first;
    td_callmem kept; /* boxes of all of them */
    int64_t n, live; /* boxes made in it, about; after the last look */
    int running;     /* calls that may hold boxes in their variables alone */
} all;

/* ---- types of Python's values ---- */

static bool
has_parts(const td_type *t)
{
    if (t->kind == TD_T_BOX || t->kind == TD_T_ARRAY || t->kind == TD_T_RECORD)
        return true;
    for (uint32_t i = 0; t->kind == TD_T_TUPLE && i < t->n; i++)
        if (has_parts(t->item[i]))
            return true;
    return false;
}

static const td_type *
type_of_list(PyObject *o, td_boxkind which)
{
    PyObject *it = PyObject_GetIter(o), *x;
    const td_type *item = NULL, *t;

    while (it && (x = PyIter_Next(it))) {
        t = py_value_type(x);
        Py_DECREF(x);
        if (t && item && t != item)
            PyErr_Format(PyExc_TypeError,
                         "a list or set of %s and %s: its elements must be of one type", item->name,
                         t->name);
        if (!t || PyErr_Occurred())
            break;
        item = t;
    }
    Py_XDECREF(it);
    if (PyErr_Occurred())
        return NULL;
    if (!item) {
        PyErr_SetString(PyExc_ValueError,
                        "an empty list or set tells no type of its elements: pass a typed.List, "
                        "or make it inside of the function");
        return NULL;
    }
    return td_type_box(which, &item, 1, false);
}

static const td_type *
type_of_tuple(PyObject *o)
{
    const td_type *item[32];
    Py_ssize_t n = PyTuple_Size(o);

    if (n > 32)
        return PyErr_SetString(PyExc_TypeError, "a tuple of more than 32 items in a list"), NULL;
    for (Py_ssize_t i = 0; i < n; i++)
        if (!(item[i] = py_value_type(PyTuple_GetItem(o, i))))
            return NULL;
    return td_type_tuple(item, (uint32_t)n);
}

static const td_type *
type_of_array(PyObject *o)
{
    Py_buffer b;
    td_dtype dt;
    const td_type *t = NULL;

    if (PyObject_GetBuffer(o, &b, PyBUF_RECORDS_RO) == 0) {
        if (py_format_dtype(b.format, b.itemsize, &dt) && b.ndim <= TD_MAXDIM_KERNEL)
            t = td_type_array(py_num_type(dt), (uint32_t)b.ndim, 'A', false);
        PyBuffer_Release(&b);
    }
    return t;
}

const td_type *
py_value_type(PyObject *o)
{
    const td_type *t = NULL;
    td_scalar s;
    char weak;

    if (PyUnicode_Check(o))
        return td_type_box(TD_BOX_STR, NULL, 0, false);
    if (PyBool_Check(o))
        return py_num_type(TD_BOOL);
    if (PyLong_Check(o))
        return td_type_weak('i');
    if (PyFloat_CheckExact(o))
        return td_type_weak('f');
    if (PyComplex_CheckExact(o))
        return td_type_weak('c');
    if (py_is_boxobject(o))
        return ((py_boxobject *)o)->type;
    if (PyTuple_Check(o))
        return type_of_tuple(o);
    if (PyList_Check(o))
        return type_of_list(o, TD_BOX_LIST);
    if (PyAnySet_Check(o))
        return type_of_list(o, TD_BOX_SET);
    if (PyObject_CheckBuffer(o) && PyObject_HasAttrString(o, "__array_interface__") &&
        (py_number(o, &s, &weak) <= 0)) {
        PyErr_Clear();
        t = type_of_array(o);
    } else if (py_number(o, &s, &weak) > 0) {
        t = py_num_type(s.dt);
    }
    PyErr_Clear();
    if (!t)
        PyErr_Format(PyExc_TypeError, "%R is nothing that a list, dict or set can hold",
                     (PyObject *)Py_TYPE(o));
    return t;
}

/* ---- words ---- */

static uint32_t
words_of(const td_type *t)
{
    uint32_t n = 0;

    switch ((td_tkind)t->kind) {
    case TD_T_NUM:   return td_dtype_is_complex((td_dtype)t->dt) ? 2 : 1;
    case TD_T_BOX:   return 1;
    case TD_T_ARRAY: return 3 + 2 * t->ndim;
    case TD_T_TUPLE:
        for (uint32_t i = 0; i < t->n; i++)
            n += words_of(t->item[i]);
        return n;
    default: return 0;
    }
}

static uint64_t
describe(const td_type *t, uint32_t *at)
{
    uint64_t d = 0, what = TD_WORD_OTHER;
    td_dtype dt = (td_dtype)t->dt;

    if (t->kind == TD_T_TUPLE) {
        for (uint32_t i = 0; i < t->n; i++)
            d |= describe(t->item[i], at);
        return d;
    }
    if (t->kind == TD_T_NUM)
        what = td_dtype_is_float(dt) || td_dtype_is_complex(dt) ? TD_WORD_FLOAT
               : dt == TD_U64                                   ? TD_WORD_UINT
                                                                : TD_WORD_INT;
    else if (t->kind == TD_T_BOX && t->ndim == TD_BOX_STR)
        what = TD_WORD_STR;
    for (uint32_t i = 0; i < words_of(t); i++, ++*at)
        if (*at < TD_WORD_MAX)
            d |= what << (TD_WORD_BITS * *at);
    return d;
}

static td_box *
box_for(const td_type *t, td_callmem *h)
{
    uint32_t at = 0;
    uint64_t desc = 0;

    for (uint32_t i = 0; i < t->n; i++)
        desc |= describe(t->item[i], &at);
    return td_box_new(h, (td_boxkind)t->ndim, t->n ? words_of(t->item[0]) : 0,
                      t->n > 1 ? words_of(t->item[1]) : 0, desc);
}

static bool
put_number(const td_type *t, PyObject *o, uint64_t *w)
{
    td_scalar s;
    char weak;
    bool real;

    if (py_number(o, &s, &weak) <= 0) {
        if (!PyErr_Occurred())
            PyErr_Format(PyExc_TypeError, "%R is no number of type %s", o, t->name);
        return false;
    }
    real = !td_dtype_is_complex(s.dt) || td_dtype_is_complex((td_dtype)t->dt);
    if (!real || (!td_can_cast(s.dt, (td_dtype)t->dt, 'k') && !weak)) {
        PyErr_Format(PyExc_TypeError, "%R does not become %s without loss", o, t->name);
        return false;
    }
    if (weak && td_dtype_is_int((td_dtype)t->dt) && td_dtype_is_float(s.dt)) {
        PyErr_Format(PyExc_TypeError, "%R does not become %s", o, t->name);
        return false;
    }
    if (td_dtype_is_float((td_dtype)t->dt) || td_dtype_is_complex((td_dtype)t->dt)) {
        td_scalar_bits(s, td_dtype_is_complex((td_dtype)t->dt) ? TD_C128 : TD_F64, w);
    } else {
        uint64_t bits[2];
        td_scalar narrow;

        td_scalar_bits(s, (td_dtype)t->dt, bits);
        narrow = td_scalar_load((td_dtype)t->dt, bits);
        *w = t->dt == TD_U64 ? narrow.u : (uint64_t)narrow.i;
    }
    return true;
}

static td_box *
text_box(PyObject *o, td_callmem *h)
{
    Py_UCS4 *c = PyUnicode_Check(o) ? PyUnicode_AsUCS4Copy(o) : NULL;
    td_box *b = c ? td_box_text(h, c, PyUnicode_GetLength(o)) : NULL;

    if (!PyUnicode_Check(o))
        PyErr_Format(PyExc_TypeError, "%R is no string", o);
    else if (c && !b)
        PyErr_NoMemory();
    PyMem_Free(c);
    return b;
}

static bool
put_array(const td_type *t, PyObject *o, uint64_t *w, PyObject *held)
{
    Py_buffer b;
    td_dtype dt;
    bool ok;

    if (PyObject_GetBuffer(o, &b, PyBUF_RECORDS) < 0 || PyList_Append(held, o) < 0)
        return false;
    ok = py_format_dtype(b.format, b.itemsize, &dt) && b.ndim == t->ndim && dt == t->item[0]->dt;
    if (!ok)
        PyErr_Format(PyExc_TypeError, "%R is no %s", (PyObject *)Py_TYPE(o), t->name);
    w[0] = (uint64_t)(uintptr_t)b.buf;
    w[1] = 0;
    w[2] = 1;
    for (int i = 0; ok && i < b.ndim; i++) {
        w[3 + 2 * i] = (uint64_t)b.shape[i];
        w[4 + 2 * i] = (uint64_t)(b.strides[i] / b.itemsize);
        ok = b.strides[i] % b.itemsize == 0;
    }
    PyBuffer_Release(&b);
    return ok || (PyErr_Occurred() ? false
                                   : (PyErr_SetString(PyExc_TypeError, "strides of an array in a "
                                                                       "list are no elements"),
                                      false));
}

static bool
fill(const td_type *t, td_box *b, PyObject *o, td_callmem *h, PyObject *held)
{
    PyObject *it = PyObject_GetIter(o), *x;
    uint64_t key[64];
    bool fresh, ok = it != NULL;

    while (ok && (x = PyIter_Next(it))) {
        if (t->ndim == TD_BOX_LIST) {
            ok = td_box_room(b, b->n + 1) || (PyErr_NoMemory(), false);
            ok = ok && py_value_put(t->item[0], x, td_box_at(b, b->n), h, held);
            b->n += ok;
        } else {
            ok = words_of(t->item[0]) <= 64 && py_value_put(t->item[0], x, key, h, held) &&
                 (td_box_enter(b, key, &fresh) >= 0 || (PyErr_NoMemory(), false));
        }
        Py_DECREF(x);
    }
    Py_XDECREF(it);
    return ok && !PyErr_Occurred();
}

bool
py_value_put(const td_type *t, PyObject *o, uint64_t *w, td_callmem *h, PyObject *held)
{
    td_box *b;

    switch ((td_tkind)t->kind) {
    case TD_T_NUM:   return put_number(t, o, w);
    case TD_T_ARRAY: return put_array(t, o, w, held);
    case TD_T_TUPLE:
        if (!PyTuple_Check(o) || PyTuple_Size(o) != (Py_ssize_t)t->n) {
            PyErr_Format(PyExc_TypeError, "%R is no %s", o, t->name);
            return false;
        }
        for (uint32_t i = 0; i < t->n; w += words_of(t->item[i++]))
            if (!py_value_put(t->item[i], PyTuple_GetItem(o, i), w, h, held))
                return false;
        return true;
    case TD_T_BOX: break;
    default:       return true;
    }
    if (py_is_boxobject(o)) {
        if (((py_boxobject *)o)->type != t) {
            PyErr_Format(PyExc_TypeError, "a %s is no %s", ((py_boxobject *)o)->type->name,
                         t->name);
            return false;
        }
        b = ((py_boxobject *)o)->b;
        b->shared |= 1u << 31; /* it may be reached from another one from here on */
    } else if (t->ndim == TD_BOX_STR) {
        b = text_box(o, h);
    } else {
        b = box_for(t, h);
        if (!b)
            PyErr_NoMemory();
        else if (!fill(t, b, o, h, held))
            b = NULL;
    }
    *w = (uint64_t)(uintptr_t)b;
    return b != NULL;
}

/* ---- and back ---- */

static PyObject *
get_number(const td_type *t, const uint64_t *w)
{
    double x, y;

    if (t->dt == TD_BOOL)
        return PyBool_FromLong(w[0] != 0);
    if (t->dt == TD_U64)
        return PyLong_FromUnsignedLongLong(w[0]);
    if (td_dtype_is_int((td_dtype)t->dt))
        return PyLong_FromLongLong((long long)w[0]);
    memcpy(&x, w, sizeof x);
    if (!td_dtype_is_complex((td_dtype)t->dt))
        return PyFloat_FromDouble(x);
    memcpy(&y, w + 1, sizeof y);
    return PyComplex_FromDoubles(x, y);
}

/* NumPy's array over the memory that the words tell; a copy where nobody keeps that. */
static PyObject *
get_array(const td_type *t, const uint64_t *w, PyObject *keeper)
{
    uint64_t flat[1 + 2 * TD_MAXDIM_KERNEL];
    PyObject *a, *own;

    flat[0] = w[0] + w[1] * td_type_size(t->item[0]);
    for (uint32_t i = 0; i < t->ndim; i++) {
        flat[1 + i] = w[3 + 2 * i];
        flat[1 + t->ndim + i] = w[4 + 2 * i];
    }
    a = py_array_over(td_type_array(t->item[0], t->ndim, 'A', t->readonly), flat,
                      keeper ? keeper : Py_None);
    if (!a || keeper)
        return a;
    own = PyObject_CallMethod(a, "copy", NULL);
    Py_DECREF(a);
    return own;
}

static PyObject *
get_text(const td_box *b)
{
    const uint32_t one = 1;
    int order = *(const char *)&one ? -1 : 1; /* little-endian, big-endian */

    /* NOLINTNEXTLINE(performance-no-int-to-ptr) */
    return PyUnicode_DecodeUTF32((const char *)(uintptr_t)b->data, (Py_ssize_t)(4 * b->n),
                                 "surrogatepass", &order);
}

static PyObject *
get_list(const td_type *t, td_box *b, PyObject *keeper)
{
    PyObject *o = PyList_New(b->n);

    for (int64_t i = 0; o && i < b->n; i++) {
        PyObject *x = py_value_get(t->item[0], td_box_at(b, i), keeper);

        if (!x || PyList_SetItem(o, i, x) < 0)
            Py_CLEAR(o);
    }
    return o;
}

static PyObject *
get_map(const td_type *t, td_box *b, PyObject *keeper)
{
    bool dict = b->kind == TD_BOX_DICT;
    PyObject *o = dict ? PyDict_New() : PySet_New(NULL);

    for (int64_t i = 0; o && i < b->fill; i++) {
        const uint64_t *e = td_box_at(b, i);
        PyObject *k, *v;
        bool ok;

        if (!e[0])
            continue;
        k = py_value_get(t->item[0], e + 1, keeper);
        v = k && dict ? py_value_get(t->item[1], e + 1 + b->key, keeper) : NULL;
        ok = k && (dict ? v && PyDict_SetItem(o, k, v) == 0 : PySet_Add(o, k) == 0);
        Py_XDECREF(k);
        Py_XDECREF(v);
        if (!ok)
            Py_CLEAR(o);
    }
    return o;
}

PyObject *
py_value_get(const td_type *t, const uint64_t *w, PyObject *keeper)
{
    PyObject *o;
    td_box *b;

    switch ((td_tkind)t->kind) {
    case TD_T_NUM:    return get_number(t, w);
    case TD_T_ARRAY:  return get_array(t, w, keeper);
    case TD_T_OBJECT: return Py_NewRef(py_handle_object(t->object));
    case TD_T_TUPLE:
        o = PyTuple_New((Py_ssize_t)t->n);
        for (uint32_t i = 0; o && i < t->n; w += words_of(t->item[i++])) {
            PyObject *x = py_value_get(t->item[i], w, keeper);

            if (!x || PyTuple_SetItem(o, (Py_ssize_t)i, x) < 0)
                Py_CLEAR(o);
        }
        return o ? py_of_class(t, o) : NULL;
    case TD_T_BOX: break;
    default:       return Py_NewRef(Py_None);
    }
    b = td_box_of(w[0]);
    if (t->ndim == TD_BOX_STR)
        return get_text(b);
    if (t->layout == 'T')
        return py_boxobject_new(t, b);
    return t->ndim == TD_BOX_LIST ? get_list(t, b, keeper) : get_map(t, b, keeper);
}

/* ---- arguments ---- */

static td_hash
sum_of(const td_type *t, const td_box *b)
{
    size_t nbytes = 8 * (size_t)b->width * (size_t)(t->ndim == TD_BOX_LIST ? b->n : b->fill);

    /* NOLINTNEXTLINE(performance-no-int-to-ptr) */
    return nbytes ? td_hash_add(TD_HASH_INIT, (const void *)(uintptr_t)b->data, nbytes)
                  : TD_HASH_INIT;
}

td_box *
py_boxes_add(py_boxes **all_of, PyObject *o, const td_type *t)
{
    py_boxes *list = *all_of ? *all_of : (*all_of = calloc(1, sizeof **all_of));
    py_boxarg *a;
    td_box *b;

    if (!list || (!list->held && !(list->held = PyList_New(0))))
        return PyErr_NoMemory(), NULL;
    for (uint32_t i = 0; i < list->n; i++) /* the same list twice is one box */
        if (list->arg[i].o == o && list->arg[i].type == t)
            return list->arg[i].b;
    if (list->n == PY_LEAVES)
        return PyErr_SetString(PyExc_TypeError, "too many lists among the arguments"), NULL;
    b = box_for(t, &list->mem);
    if (!b)
        return PyErr_NoMemory(), NULL;
    if (!fill(t, b, o, &list->mem, list->held))
        return NULL;
    a = &list->arg[list->n++];
    *a = (py_boxarg){.o = Py_NewRef(o), .b = b, .type = t, .before = sum_of(t, b), .had = b->n};
    return b;
}

static bool
reflect(const py_boxarg *a)
{
    PyObject *now, *r;
    bool ok;
    td_hash hash = sum_of(a->type, a->b);

    if (a->b->n == a->had && memcmp(&hash, &a->before, sizeof hash) == 0 &&
        !has_parts(a->type->item[0]))
        return true;
    now =
        a->type->ndim == TD_BOX_LIST ? get_list(a->type, a->b, NULL) : get_map(a->type, a->b, NULL);
    if (!now)
        return false;
    if (a->type->ndim == TD_BOX_LIST) {
        ok = PyList_SetSlice(a->o, 0, PyList_Size(a->o), now) == 0;
    } else {
        r = PyObject_CallMethod(a->o, "clear", NULL);
        Py_XDECREF(r);
        r = r ? PyObject_CallMethod(a->o, "update", "O", now) : NULL;
        Py_XDECREF(r);
        ok = r != NULL;
    }
    Py_DECREF(now);
    return ok;
}

bool
py_boxes_reflect(py_boxes *list)
{
    PyObject *type, *value, *trace;
    bool ok = true;

    if (!list)
        return true;
    PyErr_Fetch(&type, &value, &trace); /* a function that raised has changed them, too */
    for (uint32_t i = 0; ok && i < list->n; i++)
        ok = reflect(&list->arg[i]);
    if (type)
        PyErr_Restore(type, value, trace);
    return ok;
}

void
py_boxes_free(py_boxes *list)
{
    if (!list)
        return;
    for (uint32_t i = 0; i < list->n; i++)
        Py_DECREF(list->arg[i].o);
    Py_XDECREF(list->held);
    td_box_free_all(&list->mem);
    free(list);
}

/* ---- Python objects with boxes ---- */

bool
py_is_boxobject(PyObject *o)
{
    return all.type && PyObject_TypeCheck(o, all.type);
}

const td_type *
py_boxobject_type(PyObject *o)
{
    return ((py_boxobject *)o)->type;
}

td_box *
py_boxobject_box(PyObject *o)
{
    return ((py_boxobject *)o)->b;
}

PyObject *
py_boxobject_held(PyObject *o)
{
    return ((py_boxobject *)o)->held;
}

PyObject *
py_held_at(PyObject *held, uint64_t address)
{
    for (Py_ssize_t i = 0; held && i < PyList_Size(held); i++) {
        PyObject *o = PyList_GetItem(held, i);
        Py_buffer b;
        bool here;

        if (PyCapsule_CheckExact(o) || PyObject_GetBuffer(o, &b, PyBUF_FULL_RO) < 0) {
            PyErr_Clear();
            continue;
        }
        here =
            b.ndim && b.strides[0] >= 0 && address - (uint64_t)(uintptr_t)b.buf <= (uint64_t)b.len;
        PyBuffer_Release(&b);
        if (here)
            return Py_NewRef(o);
    }
    return NULL;
}

static void keep(const td_type *t, td_box *b, td_callmem *heap, PyObject *held);

/* What the words hold that is the call's stays. */
static void
keep_words(const td_type *t, const uint64_t *w, td_callmem *heap, PyObject *held)
{
    td_callblock *block;

    if (t->kind == TD_T_BOX) {
        keep(t, td_box_of(w[0]), heap, held);
    } else if (t->kind == TD_T_ARRAY && held && (block = td_callmem_find(heap, w[0]))) {
        PyObject *owner = py_block_owner(block);

        if (owner)
            (void)PyList_Append(held, owner);
        Py_XDECREF(owner);
    }
    for (uint32_t i = 0; t->kind == TD_T_TUPLE && i < t->n; w += words_of(t->item[i++]))
        keep_words(t->item[i], w, heap, held);
}

static void
to_kept(td_box *b)
{
    td_box_own(b);
    b->next = all.kept.boxes;
    b->place = &all.kept.boxes;
    if (b->next)
        b->next->place = &b->next;
    all.kept.boxes = b;
    all.n++;
    b->shared |= 1u << 30;
}

enum { KEPT = 1 << 30, REACHED = 1 << 29, PINS = (1 << 29) - 1 };

/* A box that is the call's moves to those that live on, and so does what can be reached from it. */
static void
keep(const td_type *t, td_box *b, td_callmem *heap, PyObject *held)
{
    bool fresh = !(b->shared & KEPT);
    int64_t n = b->kind == TD_BOX_LIST ? b->n : b->fill;

    if (fresh)
        to_kept(b);
    b->shared |= 1u << 31;
    for (uint32_t part = 0; part < t->n; part++)
        for (int64_t i = 0; has_parts(t->item[part]) && i < n; i++) {
            const uint64_t *e = td_box_at(b, i);

            if (b->kind == TD_BOX_LIST)
                keep_words(t->item[0], e, heap, held);
            else if (e[0])
                keep_words(t->item[part], e + 1 + (part ? b->key : 0), heap, held);
        }
}

static void reach(const td_type *t, td_box *b);

static void
reach_words(const td_type *t, const uint64_t *w)
{
    if (t->kind == TD_T_BOX)
        reach(t, td_box_of(w[0]));
    for (uint32_t i = 0; t->kind == TD_T_TUPLE && i < t->n; w += words_of(t->item[i++]))
        reach_words(t->item[i], w);
}

static void
reach(const td_type *t, td_box *b)
{
    int64_t n = b->kind == TD_BOX_LIST ? b->n : b->fill;

    if (b->shared & REACHED)
        return;
    b->shared |= REACHED;
    for (uint32_t part = 0; part < t->n; part++)
        for (int64_t i = 0; has_parts(t->item[part]) && i < n; i++) {
            const uint64_t *e = td_box_at(b, i);

            if (b->kind == TD_BOX_LIST)
                reach_words(t->item[0], e);
            else if (e[0])
                reach_words(t->item[part], e + 1 + (part ? b->key : 0));
        }
}

/* Boxes that nobody can reach are freed, where enough have been made since the last time. */
static void
sweep(void)
{
    if (all.running || all.n <= 2 * all.live + 1000)
        return;
    all.n = 0;
    for (py_boxobject *o = all.first; o; o = o->next)
        reach(o->type, o->b);
    for (td_box *b = all.kept.boxes, *next; b; b = next) {
        next = b->next;
        if (b->shared & REACHED) {
            b->shared &= ~(uint32_t)REACHED;
            all.n++;
        } else {
            td_box_drop(b);
        }
    }
    all.live = all.n;
}

static void
hold(py_boxobject *o, const td_type *t, td_box *b)
{
    o->type = t;
    o->b = b;
    if (!(b->shared & KEPT))
        to_kept(b);
    b->shared++;
    o->next = all.first;
    o->place = &all.first;
    if (o->next)
        o->next->place = &o->next;
    all.first = o;
}

PyObject *
py_boxobject_new(const td_type *t, td_box *b)
{
    PyTypeObject *class = (PyTypeObject *)all.classes[t->ndim];
    py_boxobject *o;

    if (!class) {
        PyObject *m = PyImport_ImportModule("treadle.typed"); /* it tells its classes */

        Py_XDECREF(m);
        class = (PyTypeObject *)all.classes[t->ndim];
    }
    if (!class)
        return PyErr_Occurred() ? NULL : (PyErr_SetString(PyExc_TypeError, t->name), NULL);
    o = (py_boxobject *)PyType_GenericAlloc(class, 0);
    if (o)
        hold(o, t, b);
    return (PyObject *)o;
}

/* After a call: what its treadle.typed arguments hold lives on. */
bool
py_boxobject_keep(PyObject *self, td_callmem *heap)
{
    py_boxobject *o = (py_boxobject *)self;
    bool parts = false;

    for (uint32_t i = 0; i < o->type->n; i++)
        parts = parts || has_parts(o->type->item[i]);
    if (!parts)
        return true;
    if (!o->held && !(o->held = PyList_New(0)))
        return false;
    keep(o->type, o->b, heap, o->held);
    return true;
}

static void
boxobject_free(PyObject *self)
{
    py_boxobject *o = (py_boxobject *)self;
    PyTypeObject *class = Py_TYPE(self);

    if (o->b) {
        *o->place = o->next;
        if (o->next)
            o->next->place = o->place;
        o->b->shared--;
        if (!(o->b->shared & (PINS | 1u << 31))) { /* nobody else can have it */
            td_box_drop(o->b);
            all.n--;
        } else {
            sweep();
        }
    }
    Py_XDECREF(o->held);
    ((freefunc)(uintptr_t)PyType_GetSlot(class, Py_tp_free))(self);
    Py_DECREF(class);
}

/* ---- methods, of which treadle.typed makes Python's ---- */

/* The box of an object that has none yet, of kind `kind` with such elements. */
static PyObject *
begin(py_boxobject *o, int kind, const td_type *const *item, Py_ssize_t n)
{
    const td_type *t = td_type_box((uint32_t)kind, item, (uint32_t)n, true);
    td_box *b;

    if (o->b)
        return PyErr_SetString(PyExc_ValueError, "its type is known already"), NULL;
    b = box_for(t, &all.kept);
    if (!b)
        return PyErr_NoMemory();
    all.n++;
    b->shared = KEPT;
    hold(o, t, b);
    return Py_NewRef(Py_None);
}

/* _make(kind, types): its elements' types are treadle.types'. */
static PyObject *
box_make(PyObject *self, PyObject *args)
{
    PyObject *items;
    const td_type *item[2];
    int kind;

    if (!PyArg_ParseTuple(args, "iO!:_make", &kind, &PyTuple_Type, &items))
        return NULL;
    for (Py_ssize_t i = 0; i < PyTuple_Size(items) && i < 2; i++) {
        int r = py_type_of(PyTuple_GetItem(items, i), &item[i]);

        if (r <= 0)
            return r < 0 ? NULL
                         : PyErr_Format(PyExc_TypeError, "%R is no type of elements",
                                        PyTuple_GetItem(items, i));
    }
    return begin((py_boxobject *)self, kind, item, PyTuple_Size(items));
}

/* _like(kind, values): its elements' types are those of the values. */
static PyObject *
box_like(PyObject *self, PyObject *args)
{
    PyObject *values;
    const td_type *item[2];
    int kind;

    if (!PyArg_ParseTuple(args, "iO!:_like", &kind, &PyTuple_Type, &values))
        return NULL;
    for (Py_ssize_t i = 0; i < PyTuple_Size(values) && i < 2; i++)
        if (!(item[i] = py_value_type(PyTuple_GetItem(values, i))))
            return NULL;
    return begin((py_boxobject *)self, kind, item, PyTuple_Size(values));
}

static bool
is_known(const py_boxobject *o)
{
    if (!o->b)
        PyErr_SetString(PyExc_TypeError, "the type of its elements is not known yet");
    return o->b != NULL;
}

static PyObject *
held_of(py_boxobject *o)
{
    if (!o->held)
        o->held = PyList_New(0);
    return o->held;
}

static Py_ssize_t
box_len(PyObject *self)
{
    if (!((py_boxobject *)self)->b)
        return 0;
    return (Py_ssize_t)((py_boxobject *)self)->b->n;
}

static bool
place_of(py_boxobject *o, PyObject *key, int64_t *at)
{
    int64_t i = PyNumber_AsSsize_t(key, PyExc_IndexError);

    if (i == -1 && PyErr_Occurred())
        return false;
    i += i < 0 ? o->b->n : 0;
    *at = i;
    if (i >= 0 && i < o->b->n)
        return true;
    PyErr_SetString(PyExc_IndexError, "list index out of range");
    return false;
}

/* The element's number of a key; -1: it is not there; -2: exception. */
static int64_t
find(py_boxobject *o, PyObject *key)
{
    uint64_t w[64];

    td_callmem mem = {0};
    int64_t at = -2;

    if (words_of(o->type->item[0]) <= 64 && held_of(o) &&
        py_value_put(o->type->item[0], key, w, &mem, o->held))
        at = td_box_find(o->b, w);
    td_box_free_all(&mem);
    return at;
}

static PyObject *
box_get(PyObject *self, PyObject *key)
{
    py_boxobject *o = (py_boxobject *)self;
    int64_t at;

    if (!is_known(o))
        return NULL;
    if (o->b->kind == TD_BOX_LIST)
        return place_of(o, key, &at) ? py_value_get(o->type->item[0], td_box_at(o->b, at), self)
                                     : NULL;
    at = find(o, key);
    if (at == -1)
        PyErr_SetObject(PyExc_KeyError, key);
    return at < 0 ? NULL
                  : py_value_get(o->type->item[1], td_box_at(o->b, at) + 1 + o->b->key, self);
}

static int
box_set(PyObject *self, PyObject *key, PyObject *value)
{
    py_boxobject *o = (py_boxobject *)self;
    uint64_t w[64], v[64];
    uint64_t words[2] = {(uint64_t)(uintptr_t)o->b};
    bool list = o->b && o->b->kind == TD_BOX_LIST, fresh;
    int64_t at;

    if (!is_known(o) || !held_of(o) || words_of(o->type->item[0]) > 64 ||
        words_of(o->type->item[!list]) > 64)
        return -1;
    if (list && !place_of(o, key, &at))
        return -1;
    if (!value) {
        if (list) {
            words[1] = (uint64_t)at;
            (void)td_box_ask(0, (uint64_t)(uintptr_t)words, TD_ASK_CLOSE);
            return 0;
        }
        at = find(o, key);
        if (at == -1)
            PyErr_SetObject(PyExc_KeyError, key);
        if (at >= 0)
            td_box_delete(o->b, at);
        return at < 0 ? -1 : 0;
    }
    if (!py_value_put(o->type->item[!list], value, v, &all.kept, o->held))
        return -1;
    if (!list) {
        if (!py_value_put(o->type->item[0], key, w, &all.kept, o->held))
            return -1;
        at = td_box_enter(o->b, w, &fresh);
        if (at < 0)
            return PyErr_NoMemory(), -1;
    }
    memcpy(td_box_at(o->b, at) + (list ? 0 : 1 + o->b->key), v,
           8 * (size_t)words_of(o->type->item[!list]));
    all.n += !list && has_parts(o->type->item[0]);
    sweep();
    return 0;
}

static int
box_has(PyObject *self, PyObject *key)
{
    int64_t at = ((py_boxobject *)self)->b ? find((py_boxobject *)self, key) : -1;

    if (at != -2)
        return at >= 0;
    PyErr_Clear(); /* what cannot be a key is none */
    return 0;
}

/* list: inserts before a place, which is in range. */
static PyObject *
box_insert(PyObject *self, PyObject *args)
{
    py_boxobject *o = (py_boxobject *)self;
    uint64_t words[2], v[64];
    Py_ssize_t at;
    PyObject *x;

    if (!PyArg_ParseTuple(args, "nO:_insert", &at, &x) || !is_known(o) || !held_of(o) ||
        words_of(o->type->item[0]) > 64 ||
        !py_value_put(o->type->item[0], x, v, &all.kept, o->held))
        return NULL;
    words[0] = (uint64_t)(uintptr_t)o->b;
    words[1] = (uint64_t)(at < 0 ? 0 : at > o->b->n ? o->b->n : at);
    if (td_box_ask(0, (uint64_t)(uintptr_t)words, TD_ASK_OPEN) != TD_ASK_OK)
        return PyErr_NoMemory();
    memcpy(td_box_at(o->b, (int64_t)words[1]), v, 8 * (size_t)o->b->width);
    return Py_NewRef(Py_None);
}

/* A list, dict or set of Python's with the same elements. */
static PyObject *
box_shown(PyObject *self, PyObject *unused)
{
    py_boxobject *o = (py_boxobject *)self;

    (void)unused;
    if (!is_known(o))
        return NULL;
    return o->b->kind == TD_BOX_LIST ? get_list(o->type, o->b, self) : get_map(o->type, o->b, self);
}

static PyObject *
box_clear(PyObject *self, PyObject *unused)
{
    uint64_t words[1] = {(uint64_t)(uintptr_t)((py_boxobject *)self)->b};

    (void)unused;
    if (!words[0])
        return Py_NewRef(Py_None);
    if (td_box_ask(0, (uint64_t)(uintptr_t)words, TD_ASK_CLEAR) != TD_ASK_OK)
        return PyErr_NoMemory();
    return Py_NewRef(Py_None);
}

static PyObject *
box_type_name(PyObject *self, PyObject *unused)
{
    (void)unused;
    if (!is_known((py_boxobject *)self))
        return NULL;
    return PyUnicode_FromString(((py_boxobject *)self)->type->name);
}

static PyObject *
box_register(PyObject *type, PyObject *args)
{
    PyObject *class;
    int kind;

    (void)type;
    if (!PyArg_ParseTuple(args, "iO:_register", &kind, &class) || kind < 0 || kind > 4)
        return NULL;
    Py_XDECREF(all.classes[kind]);
    all.classes[kind] = Py_NewRef(class);
    return Py_NewRef(Py_None);
}

static PyMethodDef methods[] = {
    {"_make", box_make, METH_VARARGS, NULL},
    {"_like", box_like, METH_VARARGS, NULL},
    {"_register", box_register, METH_VARARGS | METH_CLASS, NULL},
    {"_insert", box_insert, METH_VARARGS, NULL},
    {"_shown", box_shown, METH_NOARGS, NULL},
    {"_typename", box_type_name, METH_NOARGS, NULL},
    {"clear", box_clear, METH_NOARGS, "Takes all elements out."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    PY_SLOT(Py_tp_dealloc, boxobject_free),
    {Py_tp_methods, methods},
    PY_SLOT(Py_mp_length, box_len),
    PY_SLOT(Py_mp_subscript, box_get),
    PY_SLOT(Py_mp_ass_subscript, box_set),
    PY_SLOT(Py_sq_contains, box_has),
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "treadle._core.Box",
    .basicsize = sizeof(py_boxobject),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .slots = slots,
};

void
py_boxes_run(int by)
{
    all.running += by;
    if (!all.running)
        sweep();
}

bool
py_boxes_init(PyObject *module)
{
    all.type = (PyTypeObject *)PyType_FromSpec(&spec);
    return all.type && PyModule_AddObjectRef(module, "Box", (PyObject *)all.type) == 0;
}
