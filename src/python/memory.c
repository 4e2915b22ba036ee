/* memory.c - what Python can do for the core's memory and libraries: a collection when memory is out, and
 * the folders of NVIDIA's wheels.
 *
 * The core calls these from any thread, with or without the GIL; they may cost some microseconds.
 */
#include "python/py.h"

#include "dev/library.h"

/* ---- memory is out ---- */

/* What only cycles of objects or queued owners still hold goes.  Recorded work is not run here: this
 * may be called from the middle of an evaluation. */
static bool
collect(td_dev *d)
{
    PyGILState_STATE gil = PyGILState_Ensure();
    size_t before = td_mem_stats(d).used;
    PyObject *type, *value, *trace, *gc, *n;

    PyErr_Fetch(&type, &value, &trace);
    gc = py_package("gc", "collect"); /* which works where automatic collection is off too */
    n = gc ? PyObject_CallFunction(gc, NULL) : NULL;
    if (!n)
        PyErr_WriteUnraisable(gc);
    Py_XDECREF(n);
    Py_XDECREF(gc);
    py_drain();
    PyErr_Restore(type, value, trace);
    PyGILState_Release(gil);
    return td_mem_stats(d).used < before;
}

/* ---- libraries ---- */

static void
find_folders(void)
{
    PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *type, *value, *trace, *f, *dirs;
    const char *text;

    PyErr_Fetch(&type, &value, &trace);
    f = py_package("treadle._libraries", "folders");
    dirs = f ? PyObject_CallFunction(f, NULL) : NULL;
    text = dirs ? PyUnicode_AsUTF8AndSize(dirs, NULL) : NULL;
    if (text)
        td_lib_search(text);
    else
        PyErr_WriteUnraisable(f);
    Py_XDECREF(dirs);
    Py_XDECREF(f);
    PyErr_Restore(type, value, trace);
    PyGILState_Release(gil);
}

/* name, package -> the path it was loaded from */
static PyObject *
open_library(PyObject *module, PyObject *args)
{
    const char *names[2] = {NULL, NULL}, *package;
    char path[4096];
    void *lib;

    (void)module;
    if (!PyArg_ParseTuple(args, "ss:_open_library", &names[0], &package) ||
        !py_ok(td_lib_open(names, package, &lib)))
        return NULL;
    return PyUnicode_DecodeFSDefault(td_lib_path(lib, path, sizeof path));
}

PyMethodDef py_memory_functions[] = {
    {"_host_bytes", py_host_bytes, METH_O,
     "_host_bytes(n): a numpy.ndarray of n uninitialised bytes; large memory is kept for reuse."},
    {"_open_library", open_library, METH_VARARGS,
     "_open_library(name, package): opens a foreign library; where it was found."},
    {NULL, NULL, 0, NULL},
};

void
py_memory_hooks(void)
{
    td_mem_on_pressure(collect);
    td_lib_on_search(find_folders);
}
