/* handles.c - numbers by which the front and compiled code name Python objects. */
#include "python/kernel/kernel.h"

#include <stdlib.h>

static struct {
    PyObject **obj; /* by handle; borrowed from a keeper; NULL: nobody keeps it any more */
    uint32_t *keepers;
    uint32_t n, cap;
    PyObject *index; /* dict: address -> handle, for kept objects */
} table;

static bool
grow_handles(void)
{
    uint32_t cap = table.cap ? table.cap * 2 : 256;
    PyObject **obj = realloc(table.obj, cap * sizeof *obj);
    uint32_t *keepers;

    if (!obj)
        return PyErr_NoMemory(), false;
    table.obj = obj;
    keepers = realloc(table.keepers, cap * sizeof *keepers);
    if (!keepers)
        return PyErr_NoMemory(), false;
    table.keepers = keepers;
    table.cap = cap;
    return true;
}

static uint32_t
handle_new(PyObject *at, PyObject *o)
{
    uint32_t h = table.n ? table.n : 1;
    PyObject *number;
    bool ok;

    if ((h >= table.cap && !grow_handles()) || !(number = PyLong_FromUnsignedLong(h)))
        return 0;
    ok = PyDict_SetItem(table.index, at, number) == 0;
    Py_DECREF(number);
    if (!ok)
        return 0;
    table.obj[h] = o;
    table.keepers[h] = 0;
    table.n = h + 1;
    return h;
}

uint32_t
py_handle(PyObject *keep, PyObject *o)
{
    PyObject *at = PyLong_FromVoidPtr(o = px_bare(o)), *number;
    uint32_t h = 0;

    if (at && (table.index || (table.index = PyDict_New()))) {
        number = PyDict_GetItemWithError(table.index, at);
        h = number             ? (uint32_t)PyLong_AsUnsignedLong(number)
            : PyErr_Occurred() ? 0
                               : handle_new(at, o);
    }
    Py_XDECREF(at);
    number = h ? PyLong_FromUnsignedLong(h) : NULL;
    if (!number)
        return 0;
    if (!PyDict_GetItemWithError(keep, number)) {
        if (PyErr_Occurred() || PyDict_SetItem(keep, number, o) < 0)
            h = 0;
        else
            table.keepers[h]++;
    }
    Py_DECREF(number);
    return h;
}

PyObject *
py_handle_object(uint32_t h)
{
    return table.obj[h];
}

void
py_handles_drop(PyObject *keep)
{
    PyObject *number, *o, *type, *value, *trace;
    Py_ssize_t at = 0;

    PyErr_Fetch(&type, &value, &trace); /* often the reason why the keeper goes */
    while (keep && PyDict_Next(keep, &at, &number, &o)) {
        uint32_t h = (uint32_t)PyLong_AsUnsignedLong(number);
        PyObject *place;

        if (--table.keepers[h])
            continue;
        table.obj[h] = NULL;
        place = PyLong_FromVoidPtr(o);
        if (place)
            PyDict_DelItem(table.index, place);
        Py_XDECREF(place);
        PyErr_Clear();
    }
    Py_XDECREF(keep);
    PyErr_Restore(type, value, trace);
}
