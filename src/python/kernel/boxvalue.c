/* boxvalue.c - converts lists, dicts, sets and strings between Python and compiled functions.
 *
 * A Python list or set that is an argument is copied to a box of the call; afterwards the box's
 * contents are copied back.
 */
#include "python/kernel/boxvalue.h"

#include <stdlib.h>
#include <string.h>

/* ---- types of Python's values ---- */

bool
py_value_has_parts(const td_type *t)
{
    if (t->kind == TD_T_BOX || t->kind == TD_T_ARRAY || t->kind == TD_T_RECORD)
        return true;
    for (uint32_t i = 0; t->kind == TD_T_TUPLE && i < t->n; i++)
        if (py_value_has_parts(t->item[i]))
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
    PyObject *instance = NULL;
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
        return py_boxobject_type(o);
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
    if (!t && py_generator_instance(o, &instance) != 0)
        t = instance ? py_boxobject_type(instance) : NULL;
    Py_XDECREF(instance); /* its type lives on */
    if (!t && !PyErr_Occurred())
        PyErr_Format(PyExc_TypeError, "%R is nothing that a list, dict or set can hold",
                     (PyObject *)Py_TYPE(o));
    return t;
}

/* ---- Python values to words ---- */

uint32_t
py_value_words(const td_type *t)
{
    uint32_t n = 0;

    switch ((td_tkind)t->kind) {
    case TD_T_NUM:   return td_dtype_is_complex((td_dtype)t->dt) ? 2 : 1;
    case TD_T_BOX:   return 1;
    case TD_T_ARRAY: return 3 + 2 * t->ndim;
    case TD_T_TUPLE:
        for (uint32_t i = 0; i < t->n; i++)
            n += py_value_words(t->item[i]);
        return n;
    default: return 0;
    }
}

static uint64_t
describe_element(const td_type *t, uint32_t *at)
{
    uint64_t d = 0, what = TD_WORD_OTHER;
    td_dtype dt = (td_dtype)t->dt;

    if (t->kind == TD_T_TUPLE) {
        for (uint32_t i = 0; i < t->n; i++)
            d |= describe_element(t->item[i], at);
        return d;
    }
    if (t->kind == TD_T_NUM)
        what = td_dtype_is_float(dt) || td_dtype_is_complex(dt) ? TD_WORD_FLOAT
               : dt == TD_U64                                   ? TD_WORD_UINT
                                                                : TD_WORD_INT;
    else if (t->kind == TD_T_BOX && t->ndim == TD_BOX_STR)
        what = TD_WORD_STR;
    for (uint32_t i = 0; i < py_value_words(t); i++, ++*at)
        if (*at < TD_WORD_MAX)
            d |= what << (TD_WORD_BITS * *at);
    return d;
}

td_box *
py_value_box(const td_type *t, td_callmem *h)
{
    uint32_t at = 0, words = 0;
    uint64_t desc = 0;

    for (uint32_t i = 0; t->ndim == TD_BOX_OBJECT && i < t->size; i++)
        words += py_value_words(t->field[i].type);
    if (t->ndim == TD_BOX_OBJECT)
        return td_box_new(h, TD_BOX_OBJECT, words, 0, 0);
    for (uint32_t i = 0; i < t->n; i++)
        desc |= describe_element(t->item[i], &at);
    return td_box_new(h, (td_boxkind)t->ndim, t->n ? py_value_words(t->item[0]) : 0,
                      t->n > 1 ? py_value_words(t->item[1]) : 0, desc);
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
        uint64_t bits[2]; /* both are written, of real numbers too */

        td_scalar_bits(s, td_dtype_is_complex((td_dtype)t->dt) ? TD_C128 : TD_F64, bits);
        memcpy(w, bits, 8 * (size_t)py_value_words(t));
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

    if (PyObject_GetBuffer(o, &b, PyBUF_RECORDS) < 0)
        return false;
    ok = py_hold(held, (uint64_t)(uintptr_t)b.buf, o);
    ok = ok && py_format_dtype(b.format, b.itemsize, &dt) && b.ndim == t->ndim &&
         dt == t->item[0]->dt;
    if (!ok && !PyErr_Occurred())
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
fill_box(const td_type *t, td_box *b, PyObject *o, td_callmem *h, PyObject *held)
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
            ok = py_value_words(t->item[0]) <= 64 && py_value_put(t->item[0], x, key, h, held) &&
                 (td_box_enter(b, key, &fresh) >= 0 || (PyErr_NoMemory(), false));
        }
        Py_DECREF(x);
    }
    Py_XDECREF(it);
    return ok && !PyErr_Occurred();
}

/* A generator as the instance that stands for it, which `held` keeps alive. */
static bool
put_generator(const td_type *t, PyObject *instance, uint64_t *w, td_callmem *h, PyObject *held)
{
    bool ok = py_value_put(t, instance, w, h, held) && (!held || py_hold(held, *w, instance));

    Py_DECREF(instance);
    return ok;
}

bool
py_value_put(const td_type *t, PyObject *o, uint64_t *w, td_callmem *h, PyObject *held)
{
    PyObject *instance;
    td_box *b;

    switch ((td_tkind)t->kind) {
    case TD_T_NUM:   return put_number(t, o, w);
    case TD_T_ARRAY: return put_array(t, o, w, held);
    case TD_T_TUPLE:
        if (!PyTuple_Check(o) || PyTuple_Size(o) != (Py_ssize_t)t->n) {
            PyErr_Format(PyExc_TypeError, "%R is no %s", o, t->name);
            return false;
        }
        for (uint32_t i = 0; i < t->n; w += py_value_words(t->item[i++]))
            if (!py_value_put(t->item[i], PyTuple_GetItem(o, i), w, h, held))
                return false;
        return true;
    case TD_T_BOX: break;
    default:       return true;
    }
    if (py_is_boxobject(o)) {
        if (py_boxobject_type(o) != t) {
            PyErr_Format(PyExc_TypeError, "a %s is no %s", py_boxobject_type(o)->name, t->name);
            return false;
        }
        b = py_boxobject_box(o);
        b->shared |= 1u << 31; /* from here on another box may reach it */
    } else if (t->ndim == TD_BOX_OBJECT) {
        *w = 0;
        switch (py_generator_instance(o, &instance)) {
        case 1:  return put_generator(t, instance, w, h, held);
        case -1: return false;
        default: break;
        }
        return o == Py_None || (PyErr_Format(PyExc_TypeError, "%R is no %s", o, t->name), false);
    } else if (t->ndim == TD_BOX_STR) {
        b = text_box(o, h);
    } else {
        b = py_value_box(t, h);
        if (!b)
            PyErr_NoMemory();
        else if (!fill_box(t, b, o, h, py_boxes_live(h) ? py_box_held(b) : held))
            b = NULL;
    }
    *w = (uint64_t)(uintptr_t)b;
    return b != NULL;
}

/* ---- words to Python values ---- */

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

/* A NumPy array over the memory that the words describe.  A copy if nobody keeps the memory,
 * or the array has none. */
static PyObject *
get_array(const td_type *t, const uint64_t *w, PyObject *held)
{
    uint64_t flat[1 + 2 * TD_MAXDIM_KERNEL];
    PyObject *a, *own;

    flat[0] = w[0] + w[1] * td_type_size(t->item[0]);
    for (uint32_t i = 0; i < t->ndim; i++) {
        flat[1 + i] = w[3 + 2 * i];
        flat[1 + t->ndim + i] = w[4 + 2 * i];
    }
    a = py_array_over(td_type_array(t->item[0], t->ndim, 'A', t->readonly), flat,
                      held ? held : Py_None);
    if (!a || held)
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

PyObject *
py_value_list(const td_type *t, td_box *b)
{
    PyObject *o = PyList_New(b->n);

    for (int64_t i = 0; o && i < b->n; i++) {
        PyObject *x = py_value_get(t->item[0], td_box_at(b, i), b->held);

        if (!x || PyList_SetItem(o, i, x) < 0)
            Py_CLEAR(o);
    }
    return o;
}

PyObject *
py_value_map(const td_type *t, td_box *b)
{
    bool dict = b->kind == TD_BOX_DICT;
    PyObject *o = dict ? PyDict_New() : PySet_New(NULL);

    for (int64_t i = 0; o && i < b->fill; i++) {
        const uint64_t *e = td_box_at(b, i);
        PyObject *k, *v;
        bool ok;

        if (!e[0])
            continue;
        k = py_value_get(t->item[0], e + 1, b->held);
        v = k && dict ? py_value_get(t->item[1], e + 1 + b->key, b->held) : NULL;
        ok = k && (dict ? v && PyDict_SetItem(o, k, v) == 0 : PySet_Add(o, k) == 0);
        Py_XDECREF(k);
        Py_XDECREF(v);
        if (!ok)
            Py_CLEAR(o);
    }
    return o;
}

PyObject *
py_value_get(const td_type *t, const uint64_t *w, PyObject *held)
{
    PyObject *o;
    td_box *b;

    switch ((td_tkind)t->kind) {
    case TD_T_NUM:    return get_number(t, w);
    case TD_T_ARRAY:  return get_array(t, w, held);
    case TD_T_OBJECT: return Py_NewRef(py_handle_object(t->object));
    case TD_T_TUPLE:
        o = PyTuple_New((Py_ssize_t)t->n);
        for (uint32_t i = 0; o && i < t->n; w += py_value_words(t->item[i++])) {
            PyObject *x = py_value_get(t->item[i], w, held);

            if (!x || PyTuple_SetItem(o, (Py_ssize_t)i, x) < 0)
                Py_CLEAR(o);
        }
        return o ? py_of_class(t, o) : NULL;
    case TD_T_BOX: break;
    default:       return Py_NewRef(Py_None);
    }
    b = td_box_of(w[0]);
    if (!b) /* None, or a field that was never set */
        return Py_NewRef(Py_None);
    if (t->ndim == TD_BOX_STR)
        return get_text(b);
    if (t->layout == 'T')
        return py_generator_shown(py_boxobject_new(t, b));
    return t->ndim == TD_BOX_LIST ? py_value_list(t, b) : py_value_map(t, b);
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

    if (!list || (!list->held && !(list->held = PyDict_New())))
        return PyErr_NoMemory(), NULL;
    for (uint32_t i = 0; i < list->n; i++) /* the same list twice is one box */
        if (list->arg[i].o == o && list->arg[i].type == t)
            return list->arg[i].b;
    if (list->n == PY_LEAVES)
        return PyErr_SetString(PyExc_TypeError, "too many lists among the arguments"), NULL;
    b = py_value_box(t, &list->mem);
    if (!b)
        return PyErr_NoMemory(), NULL;
    if (!fill_box(t, b, o, &list->mem, list->held))
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
        !py_value_has_parts(a->type->item[0]))
        return true;
    now = a->type->ndim == TD_BOX_LIST ? py_value_list(a->type, a->b) : py_value_map(a->type, a->b);
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
    PyErr_Fetch(&type, &value, &trace); /* a function that raised has changed them too */
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
