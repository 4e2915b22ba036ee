/* kernelresult.c - what a compiled function returned, from memory to Python objects. */
#include "python/kernel.h"

#include <string.h>

static PyObject *
number_of(const td_type *t, const unsigned char *at)
{
    size_t half = td_dtype_size((td_dtype)t->dt) / 2;
    unsigned char bits[16];

    memcpy(bits, at, 8);
    if (td_dtype_is_complex((td_dtype)t->dt)) /* a word each for the two parts */
        memcpy(bits + half, at + 8, half);
    return py_scalar_object(td_scalar_load((td_dtype)t->dt, bits));
}

PyObject *
py_result(const td_type *t, const unsigned char *at, py_call *c)
{
    PyObject *tuple;

    switch ((td_tkind)t->kind) {
    case TD_T_NONE:  return Py_NewRef(Py_None);
    case TD_T_NUM:   return number_of(t, at);
    case TD_T_TUPLE: break;
    default:
        PyErr_Format(PyExc_TypeError, "%U returned %s, which has no form in Python", c->d->name,
                     t->name);
        return NULL;
    }
    tuple = PyTuple_New((Py_ssize_t)t->n);
    for (uint32_t i = 0; tuple && i < t->n; i++) {
        PyObject *item = py_result(t->item[i], at, c);

        if (!item || PyTuple_SetItem(tuple, (Py_ssize_t)i, item) < 0)
            Py_CLEAR(tuple);
        at += 8 * (size_t)td_type_words(t->item[i]);
    }
    return tuple;
}
