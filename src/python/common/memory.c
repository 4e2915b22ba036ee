/* memory.c - Python's hooks for the core: garbage collection when memory is out, and the folders
 * of NVIDIA's wheels.
 *
 * The core calls them from any thread, with or without the GIL; they may take some microseconds.
 */
#include "python/common/py.h"

#include "array/graph/memwait.h"
#include "array/run/spill.h"
#include "dev/foreign/library.h"
#include "dev/pool/spilled.h"

/* ---- memory is out ---- */

/* Frees what only reference cycles or queued owners keep.  Does not run recorded work: it may
 * be called in the middle of an evaluation. */
static bool
collect_garbage(td_dev *d)
{
    size_t before = td_mem_stats(d).used;
    PyObject *type, *value, *trace, *gc, *n;

    PyErr_Fetch(&type, &value, &trace);
    gc = py_package("gc", "collect"); /* works even where automatic collection is disabled */
    n = gc ? PyObject_CallFunction(gc, NULL) : NULL;
    if (!n)
        PyErr_WriteUnraisable(gc);
    Py_XDECREF(n);
    Py_XDECREF(gc);
    py_owners_release();
    PyErr_Restore(type, value, trace);
    return td_mem_stats(d).used < before;
}

/* Moving unused values to the host takes less time than a collection, and happens more often. */
static bool
relieve(td_dev *d, size_t nbytes)
{
    PyGILState_STATE gil = PyGILState_Ensure();
    bool freed = td_spill(d, nbytes) || collect_garbage(d);

    PyGILState_Release(gil);
    return freed;
}

static bool
wait_for_others(td_dev *d, size_t nbytes)
{
    PyGILState_STATE gil = PyGILState_Ensure();
    bool more = td_memwait_wait(d, nbytes);

    PyGILState_Release(gil);
    return more;
}

/* device, on or None -> are arrays moved to the host from now on? */
static PyObject *
spill(PyObject *module, PyObject *args)
{
    PyObject *name, *on;
    td_dev *d;
    int want;

    (void)module;
    if (!PyArg_ParseTuple(args, "OO:_spill", &name, &on) || !py_device(name, &d))
        return NULL;
    if (on != Py_None) {
        want = PyObject_IsTrue(on);
        if (want < 0)
            return NULL;
        td_spill_set(d, want);
    }
    return PyBool_FromLong(td_spill_on(d));
}

static PyObject *
spill_stats(PyObject *module, PyObject *name)
{
    td_spillstat s;
    td_dev *d;

    (void)module;
    if (!py_device(name, &d))
        return NULL;
    s = td_spill_stats(d);
    return Py_BuildValue("{s:K,s:K,s:n,s:n}", "spilled", (unsigned long long)s.spilled, "returned",
                         (unsigned long long)s.returned, "away", (Py_ssize_t)s.on_host, "pinned",
                         (Py_ssize_t)td_spilled_kept(d));
}

static PyObject *
spill_trim(PyObject *module, PyObject *name)
{
    td_dev *d;

    (void)module;
    if (!py_device(name, &d))
        return NULL;
    td_spill_settle(d);
    return py_ok(td_spilled_trim(d)) ? Py_NewRef(Py_None) : NULL;
}

/* ---- libraries ---- */

static void
find_folders(void)
{
    PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *type, *value, *trace, *f, *dirs;
    const char *text;

    PyErr_Fetch(&type, &value, &trace);
    f = py_package("treadle._exchange._libraries", "folders");
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

/* name, package -> the path of the loaded library */
static PyObject *
open_library(PyObject *module, PyObject *args)
{
    td_lib_name names[2] = {{0}};
    char path[4096];
    void *lib;

    (void)module;
    if (!PyArg_ParseTuple(args, "ss:_open_library", &names[0].so, &names[0].package) ||
        !py_ok(td_lib_open(names, &lib)))
        return NULL;
    return PyUnicode_DecodeFSDefault(td_lib_path(lib, path, sizeof path));
}

PyMethodDef py_memory_functions[] = {
    {"_host_bytes", py_host_bytes, METH_O,
     "_host_bytes(n): a numpy.ndarray of n uninitialised bytes; large memory is kept for reuse."},
    {"_spill", spill, METH_VARARGS,
     "_spill(device, on): are arrays moved to the host when memory is out? None: as before."},
    {"_spill_stats", spill_stats, METH_O, "_spill_stats(device): a dict for memory.stats."},
    {"_spill_trim", spill_trim, METH_O,
     "_spill_trim(device): gives the host memory back that no array is in."},
    {"_open_library", open_library, METH_VARARGS,
     "_open_library(name, package): opens a foreign library; where it was found."},
    {NULL, NULL, 0, NULL},
};

void
py_memory_hooks(void)
{
    td_mem_on_pressure(relieve);
    td_mem_on_wait(wait_for_others);
    td_mem_on_oom(td_spill_note);
    td_lib_on_search(find_folders);
}
