/* kernelresult.c - converts a compiled function's result from memory to Python objects. */
#include "python/kernel/boxvalue.h"

#include <stdio.h>
#include <string.h>

static PyObject *
result_number(const td_type *t, const unsigned char *at)
{
    size_t half = td_dtype_size((td_dtype)t->dt) / 2;
    unsigned char bits[16];

    memcpy(bits, at, 8);
    if (td_dtype_is_complex((td_dtype)t->dt)) /* one word for each part */
        memcpy(bits + half, at + 8, half);
    return py_scalar_object(td_scalar_load((td_dtype)t->dt, bits));
}

/* ---- arrays: NumPy's, over memory that the function took or that an argument has ---- */

static void
drop_block(PyObject *capsule)
{
    td_callmem_drop(PyCapsule_GetPointer(capsule, NULL));
}

/* A new reference. */
PyObject *
py_block_owner(td_callblock *b)
{
    if (b->owner)
        return Py_NewRef((PyObject *)b->owner);
    return b->owner = PyCapsule_New(b, NULL, drop_block);
}

/* The array from the function's globals or closure that has the address. A new reference; NULL: none. */
static PyObject *
outside_at(uint64_t address, const py_spec *s)
{
    td_buf *b;

    for (uint32_t i = 0; s->hidden && i < s->made.nhidden; i++)
        if (s->hidden[i] && !td_array_use(&s->hidden[i]->a, false, &b) &&
            address - b->ptr < b->nbytes)
            return Py_NewRef((PyObject *)s->hidden[i]);
    return NULL;
}

/* Is the address one of the buffer's, or its end? The memory of an axis that runs backwards lies before `buf`. */
static bool
covers(const Py_buffer *b, uint64_t address)
{
    uint64_t low = (uint64_t)(uintptr_t)b->buf, size = (uint64_t)b->itemsize;

    if (!b->strides)
        return address - low <= (uint64_t)b->len;
    for (int i = 0; i < b->ndim && b->len; i++) {
        int64_t reach = (int64_t)b->strides[i] * ((int64_t)b->shape[i] - 1);

        low += reach < 0 ? (uint64_t)reach : 0;
        size += (uint64_t)(reach < 0 ? -reach : reach);
    }
    return address - low <= size;
}

/* The owner of the memory at an address: a capsule for a block of the heap, the argument, or the array from outside.
 * A new reference; NULL: none. */
PyObject *
py_owner_of(uint64_t address, py_call *c, td_callmem *heap)
{
    td_callblock *b = td_callmem_find(heap, address);
    PyObject *found;

    if (b)
        return py_block_owner(b);
    for (uint32_t i = 0; i < c->nleaf; i++) {
        const py_leaf *l = &c->leaf[i];

        if (l->kind == PY_LEAF_HOST && l->host.obj && covers(&l->host, address))
            return Py_NewRef(l->host.obj);
    }
    for (uint32_t i = 0; i < c->nleaf; i++)
        if (c->leaf[i].held && py_is_boxobject(c->leaf[i].held) &&
            (found = py_boxobject_owner(c->leaf[i].held, address)))
            return found;
    if (c->boxes && (found = py_held_at(c->boxes->held, address)))
        return found;
    return outside_at(address, c->ran);
}

static PyObject *
keeper_of(uint64_t address, py_call *c, td_callmem *heap)
{
    PyObject *found = py_owner_of(address, c, heap);

    if (found)
        return found;
    PyErr_Format(PyExc_TypeError,
                 "%U returned a part of an array that is no NumPy array: return "
                 "a copy",
                 c->d->name);
    return NULL;
}

static PyObject *
numbers_tuple(const int64_t *v, int n)
{
    PyObject *t = PyTuple_New(n);

    for (int i = 0; t && i < n; i++) {
        PyObject *k = PyLong_FromLongLong(v[i]);

        if (!k || PyTuple_SetItem(t, i, k) < 0)
            Py_CLEAR(t);
    }
    return t;
}

/* An object with __array_interface__ that keeps `keeper` alive. */
static PyObject *
exporter(const td_type *t, const uint64_t *word, PyObject *keeper)
{
    int64_t shape[TD_MAXDIM_KERNEL], stride[TD_MAXDIM_KERNEL];
    int n = t->ndim;
    bool record = t->item[0]->kind == TD_T_RECORD;
    int64_t size = record ? 1 : td_type_size(t->item[0]), step = size;
    char kind[24];
    PyObject *face = NULL, *class = py_package("types", "SimpleNamespace"), *none, *kw, *o = NULL;

    for (int i = 0; i < n; i++) {
        int axis = t->layout == 'F' ? i : n - 1 - i;

        shape[axis] = (int64_t)word[1 + axis];
        stride[axis] = t->layout == 'A' || record ? (int64_t)word[1 + n + axis] * size : step;
        step *= shape[axis];
    }
    snprintf(kind, sizeof kind, "|V%u", td_type_size(t->item[0]));
    face = Py_BuildValue("{s:(KO),s:N,s:N,s:s,s:i}", "data", (unsigned long long)word[0],
                         t->readonly ? Py_True : Py_False, "shape", numbers_tuple(shape, n),
                         "strides", numbers_tuple(stride, n), "typestr",
                         record ? kind : td_dtab[t->item[0]->dt].typestr, "version", 3);
    kw = face ? Py_BuildValue("{s:O,s:O}", "__array_interface__", face, "keeper", keeper) : NULL;
    none = PyTuple_New(0);
    if (class && kw && none)
        o = PyObject_Call(class, none, kw);
    Py_XDECREF(face);
    Py_XDECREF(class);
    Py_XDECREF(kw);
    Py_XDECREF(none);
    return o;
}

PyObject *
py_array_over(const td_type *t, const uint64_t *word, PyObject *keeper)
{
    PyObject *np = py_numpy(), *o = np ? exporter(t, word, keeper) : NULL,
             *a = o ? PyObject_CallMethod(np, "asarray", "O", o) : NULL, *dtype, *records;

    Py_XDECREF(o);
    if (!a || t->item[0]->kind != TD_T_RECORD)
        return a;
    dtype = py_type_dtype(t->item[0]);
    records = dtype ? PyObject_CallMethod(a, "view", "O", dtype) : NULL;
    Py_XDECREF(dtype);
    Py_DECREF(a);
    return records;
}

static PyObject *
result_array(const td_type *t, const unsigned char *at, py_call *c, td_callmem *heap)
{
    uint64_t word[1 + 2 * TD_MAXDIM_KERNEL];
    PyObject *keeper, *array = NULL;
    bool empty = false;

    if (t->item[0]->dt == TD_BF16) {
        PyErr_Format(PyExc_TypeError,
                     "%U returned an array of bfloat16, which NumPy has not: "
                     "store into an argument",
                     c->d->name);
        return NULL;
    }
    memcpy(word, at, 8 * td_type_words(t));
    for (uint32_t i = 0; i < t->ndim; i++)
        empty = empty || !word[1 + i];
    /* an array without elements needs no memory */
    keeper = empty ? Py_NewRef(Py_None) : keeper_of(word[0], c, heap);
    if (keeper)
        array = py_array_over(t, word, keeper);
    Py_XDECREF(keeper);
    return px_shown(array);
}

/* A view of an array of records, whose elements are of numpy.record's class; takes the reference to a. */
static PyObject *
as_records(PyObject *a)
{
    PyObject *np = py_numpy(), *class = np ? PyObject_GetAttrString(np, "record") : NULL,
             *own = PyObject_GetAttrString(a, "dtype"),
             *pair = class && own ? PyTuple_Pack(2, class, own) : NULL,
             *dtype = pair ? PyObject_CallMethod(np, "dtype", "(O)", pair) : NULL,
             *records = dtype ? PyObject_CallMethod(a, "view", "O", dtype) : NULL;

    Py_XDECREF(class);
    Py_XDECREF(own);
    Py_XDECREF(pair);
    Py_XDECREF(dtype);
    Py_DECREF(a);
    return records;
}

/* A copy of the record; of a field that kernels do not read, its value. */
static PyObject *
result_record(const td_type *t, const unsigned char *at)
{
    uint64_t word;
    PyObject *dtype = py_type_dtype(t), *names = dtype ? py_attr(dtype, "names") : NULL,
             *none = PyTuple_New(0), *a = NULL, *one, *copy = NULL;

    memcpy(&word, at, sizeof word);
    if (dtype && none)
        a = py_array_over(td_type_array(t, 0, 'C', false), &word, Py_None);
    if (a && names && names != Py_None)
        a = as_records(a);
    one = a ? PyObject_GetItem(a, none) : NULL;
    copy = one ? PyObject_CallMethod(one, "copy", NULL) : NULL;
    Py_XDECREF(dtype);
    Py_XDECREF(names);
    Py_XDECREF(none);
    Py_XDECREF(a);
    Py_XDECREF(one);
    return copy;
}

/* Makes an object of the type's class from the tuple, whose reference is taken. */
PyObject *
py_of_class(const td_type *t, PyObject *tuple)
{
    PyObject *named;

    if (!tuple || (!t->object && t->kind != TD_T_SLICE))
        return tuple;
    if (t->kind == TD_T_SLICE)
        named = PySlice_New(PyTuple_GetItem(tuple, 0), PyTuple_GetItem(tuple, 1),
                            PyTuple_GetItem(tuple, 2));
    else if (py_is_member_class(py_handle_object(t->object)))
        named = PyObject_Call(py_handle_object(t->object), tuple, NULL);
    else
        named = PyObject_CallMethod(py_handle_object(t->object), "_make", "(O)", tuple);
    Py_DECREF(tuple);
    return named;
}

PyObject *
py_shown(const td_type *t, const uint64_t *word)
{
    PyObject *o = NULL, *np, *tuple;

    switch ((td_tkind)t->kind) {
    case TD_T_NUM:    return result_number(t, (const unsigned char *)word);
    case TD_T_OBJECT: return Py_NewRef(py_handle_object(t->object));
    case TD_T_ARRAY:
        np = py_numpy();
        o = np ? exporter(t, word, Py_None) : NULL;
        tuple = o ? PyObject_CallMethod(np, "asarray", "O", o) : NULL;
        Py_XDECREF(o);
        return tuple;
    case TD_T_SLICE:
    case TD_T_TUPLE: break;
    default:         return Py_NewRef(Py_None);
    }
    tuple = PyTuple_New((Py_ssize_t)t->n);
    for (uint32_t i = 0; tuple && i < t->n; i++) {
        PyObject *item = py_shown(t->item[i], word);

        if (!item || PyTuple_SetItem(tuple, (Py_ssize_t)i, item) < 0)
            Py_CLEAR(tuple);
        word += td_type_words(t->item[i]);
    }
    return py_of_class(t, tuple);
}

/* The argument whose box the function returns: a new reference; NULL: it is none of them. */
static PyObject *
argument_of(uint64_t box, const py_call *c)
{
    for (uint32_t i = 0; c->boxes && i < c->boxes->n; i++)
        if ((uint64_t)(uintptr_t)c->boxes->arg[i].b == box)
            return Py_NewRef(c->boxes->arg[i].o);
    for (uint32_t i = 0; i < c->nleaf; i++)
        if (c->leaf[i].held && py_is_boxobject(c->leaf[i].held) && c->leaf[i].word[0] == box)
            return py_generator_shown(Py_NewRef(c->leaf[i].held));
    return NULL;
}

PyObject *
py_result(const td_type *t, const unsigned char *at, py_call *c, td_callmem *heap)
{
    PyObject *tuple;

    switch ((td_tkind)t->kind) {
    case TD_T_NONE:   return Py_NewRef(Py_None);
    case TD_T_OBJECT: return Py_NewRef(py_handle_object(t->object));
    case TD_T_NUM:    return result_number(t, at);
    case TD_T_ARRAY:  return result_array(t, at, c, heap);
    case TD_T_RECORD: return result_record(t, at);
    case TD_T_BOX:    {
        uint64_t word;

        memcpy(&word, at, sizeof word);
        if ((tuple = argument_of(word, c)))
            return tuple;
        tuple = py_value_get(t, &word, NULL);
        if (tuple && py_is_boxobject(tuple))
            py_boxobject_keep(tuple, c, heap);
        return tuple;
    }
    case TD_T_SLICE:
    case TD_T_TUPLE: break;
    case TD_T_ITER:
        if (td_type_optional_of(t)) {
            uint64_t has;

            memcpy(&has, at, sizeof has);
            return has & 1 ? py_result(t->item[1], at + 8, c, heap) : Py_NewRef(Py_None);
        }
        /* fallthrough */
    default:
        PyErr_Format(PyExc_TypeError, "%U returned %s, which has no form in Python", c->d->name,
                     t->name);
        return NULL;
    }
    tuple = PyTuple_New((Py_ssize_t)t->n);
    for (uint32_t i = 0; tuple && i < t->n; i++) {
        PyObject *item = py_result(t->item[i], at, c, heap);

        if (!item || PyTuple_SetItem(tuple, (Py_ssize_t)i, item) < 0)
            Py_CLEAR(tuple);
        at += 8 * (size_t)td_type_words(t->item[i]);
    }
    return py_of_class(t, tuple);
}
