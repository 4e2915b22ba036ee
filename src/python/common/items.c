/* items.c - converts lists of Python numbers to words and back, for functions mapped over them
 * (treadle.executor).
 *
 * A word is 8 bytes: an int64, a float64, or a bool as an int64.  Kinds are bits: those of
 * front/infer/exact.h and two more.  An int beyond int64 fits no word.
 */
#include "python/common/py.h"

#include <string.h>

enum { BOOL = 1, INT = 2, FLOAT = 4, NONE = 8, COMPLEX = 16, OTHER = 32 };

static uint8_t
read_item(PyObject *o, uint64_t *word)
{
    *word = 0;
    if (Py_IS_TYPE(o, &PyLong_Type)) {
        int over;
        long long v = PyLong_AsLongLongAndOverflow(o, &over);

        memcpy(word, &v, sizeof v);
        return over ? OTHER : INT;
    }
    if (Py_IS_TYPE(o, &PyFloat_Type)) {
        double v = PyFloat_AsDouble(o);

        memcpy(word, &v, sizeof v);
        return FLOAT;
    }
    if (Py_IS_TYPE(o, &PyBool_Type)) {
        *word = o == Py_True;
        return BOOL;
    }
    return Py_IS_TYPE(o, &PyComplex_Type) ? COMPLEX : OTHER;
}

/* _items_in(items, first, words, kinds): fills the buffers from items[first:]; returns all
 * kinds that occurred. */
static PyObject *
items_in(PyObject *self, PyObject *args)
{
    PyObject *items, *item;
    Py_ssize_t first, n;
    Py_buffer words = {0}, kinds = {0};
    uint8_t seen = 0;

    (void)self;
    if (!PyArg_ParseTuple(args, "Onw*w*:_items_in", &items, &first, &words, &kinds))
        return NULL;
    n = kinds.len;
    for (Py_ssize_t i = 0; i < n && words.len == 8 * n && first >= 0; i++) {
        item = PyList_CheckExact(items) ? PyList_GetItem(items, first + i)
                                        : PyTuple_GetItem(items, first + i);
        if (!item)
            break;
        seen |= ((uint8_t *)kinds.buf)[i] = read_item(item, (uint64_t *)words.buf + i);
    }
    if (!PyErr_Occurred() && (words.len != 8 * n || first < 0))
        PyErr_Format(PyExc_ValueError, "_items_in: %zd bytes of words for %zd items from %zd on",
                     words.len, n, first);
    PyBuffer_Release(&words);
    PyBuffer_Release(&kinds);
    return PyErr_Occurred() ? NULL : PyLong_FromLong(seen);
}

static PyObject *
make_item(uint64_t word, uint8_t have, uint8_t kind)
{
    long long whole;
    double real;

    memcpy(&whole, &word, sizeof whole);
    memcpy(&real, &word, sizeof real);
    switch (kind) {
    case BOOL:  return PyBool_FromLong(have == FLOAT ? real != 0 : whole != 0);
    case INT:   return have == FLOAT ? PyLong_FromDouble(real) : PyLong_FromLongLong(whole);
    case FLOAT: return PyFloat_FromDouble(have == FLOAT ? real : (double)whole);
    default:    return Py_NewRef(Py_None);
    }
}

/* _items_out(words, kind, kinds=None): a list.  kind: the words' kind; kinds: one byte per word, the kind that it
 * represents. With kind 1 (bools) a word is one byte. */
static PyObject *
items_out(PyObject *self, PyObject *args)
{
    Py_buffer words = {0}, kinds = {0};
    PyObject *list = NULL, *of = Py_None;
    int have;

    (void)self;
    if (!PyArg_ParseTuple(args, "y*i|O:_items_out", &words, &have, &of))
        return NULL;
    if (of == Py_None || PyObject_GetBuffer(of, &kinds, PyBUF_SIMPLE) == 0) {
        Py_ssize_t n = have == BOOL ? words.len : words.len / 8;

        if (of == Py_None || kinds.len == n)
            list = PyList_New(n);
        else
            PyErr_Format(PyExc_ValueError, "_items_out: %zd kinds of %zd items", kinds.len, n);
        for (Py_ssize_t i = 0; list && i < n; i++) {
            uint64_t word = have == BOOL ? ((uint8_t *)words.buf)[i] : ((uint64_t *)words.buf)[i];
            uint8_t kind = of == Py_None ? (uint8_t)have : ((uint8_t *)kinds.buf)[i];
            PyObject *o = make_item(word, (uint8_t)have, kind);

            if (!o || PyList_SetItem(list, i, o) < 0)
                Py_CLEAR(list);
        }
    }
    if (kinds.obj)
        PyBuffer_Release(&kinds);
    PyBuffer_Release(&words);
    return list;
}

PyMethodDef py_items_functions[] = {
    {"_items_in", items_in, METH_VARARGS,
     "_items_in(items, first, words, kinds): numbers of a list or tuple as words, from "
     "items[first] on."},
    {"_items_out", items_out, METH_VARARGS,
     "_items_out(words, kind, kinds=None): a list of Python's numbers."},
    {NULL, NULL, 0, NULL},
};
