/* module.c - treadle._core: its exceptions, types and functions. */
#include "base/stop.h"
#include "python/kernel/kernel.h"
#include "python/ndarray/chosen.h"
#include "python/program/program.h"
#include "treadle.h"

#include <string.h>

static void *
unlock(void)
{
    return PyEval_SaveThread();
}

static void
lock(void *token)
{
    PyEval_RestoreThread(token);
}

static bool
add_exception(PyObject *m, const char *name, PyObject *base, const char *doc, PyObject **out)
{
    char full[64] = "treadle.";

    strncat(full, name, sizeof full - strlen(full) - 1);
    *out = PyErr_NewExceptionWithDoc(full, doc, base, NULL);
    return *out && PyModule_AddObjectRef(m, name, *out) == 0;
}

/* Adds an exception class that derives from `base` and from a builtin class, which comes first: its __new__ is then the
 * one that copies of exceptions call (tblib, by which Dask brings them to another process). */
static bool
add_both(PyObject *m, const char *name, PyObject *base, PyObject *builtin, const char *doc,
         PyObject **out)
{
    PyObject *bases = PyTuple_Pack(2, builtin, base);
    bool ok = bases && add_exception(m, name, bases, doc, out);

    Py_XDECREF(bases);
    return ok;
}

static bool
add_error(PyObject *m, const char *name, PyObject *builtin, const char *doc, PyObject **out)
{
    return add_both(m, name, py.error, builtin, doc, out);
}

static bool
add_exceptions(PyObject *m)
{
    return add_exception(m, "Error", PyExc_Exception, "What treadle's own errors have in common.",
                         &py.error) &&
           add_error(m, "OutOfMemoryError", PyExc_MemoryError,
                     "Device memory is out; the text says how much was asked, held and free.",
                     &py.oom) &&
           add_error(m, "CompileError", PyExc_RuntimeError, "A kernel could not be compiled.",
                     &py.compile) &&
           add_error(m, "DeviceError", PyExc_RuntimeError,
                     "The driver refused, or a kernel failed.", &py.device_error) &&
           add_exception(m, "LogicError", py.device_error,
                         "The driver was asked for what cannot be: an invalid value, handle or "
                         "context.",
                         &py.logic_error) &&
           add_both(m, "LimitError", py.logic_error, PyExc_ValueError,
                    "A launch asks for more than the device or the kernel has.", &py.limit_error) &&
           add_exception(m, "LaunchError", py.device_error,
                         "A kernel could not be started, or failed while it ran.",
                         &py.launch_error) &&
           add_error(m, "MissingLibraryError", PyExc_ImportError,
                     "An optional library is missing; the text names the package to install.",
                     &py.missing) &&
           add_error(m, "DistributedError", PyExc_RuntimeError,
                     "Processes did not do the same thing, or cannot find each other.",
                     &py.distributed) &&
           add_both(m, "PeerError", py.distributed, PyExc_ConnectionError,
                    "A process of the group has gone, or does not answer: the group is broken and "
                    "takes no more calls.",
                    &py.peer) &&
           add_exception(m, "PerformanceWarning", PyExc_UserWarning,
                         "Something works, but slower than the program could be.", &py.slow);
}

/* The functions of the module, by the files that have them. */
static PyMethodDef *const functions[] = {
    py_raw_functions,    py_profile_functions, py_create_functions, py_fill_functions,
    py_basic_functions,  py_scan_functions,    py_source_functions, py_errstate_functions,
    py_reduce_functions, py_pick_functions,    py_few_functions,    py_door_functions,
    py_device_functions, py_stream_functions,  py_dlpack_functions, py_foreign_functions,
    py_memory_functions, py_share_functions,   py_solver_functions, py_nccl_functions,
    py_debug_functions,  py_text_functions,    py_table_functions,  py_items_functions,
    py_stop_functions,
};

static bool
add_functions(PyObject *m)
{
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (PyModule_AddFunctions(m, functions[i]) < 0)
            return false;
    return true;
}

static int
core_exec(PyObject *m)
{
    if (py.interp) {
        PyErr_SetString(PyExc_ImportError,
                        py.interp == PyInterpreterState_Get()
                            ? "treadle: the module cannot be loaded twice"
                            : "treadle: only one interpreter of a process can use it");
        return -1;
    }
    if (!add_exceptions(m) || !py_door_init(m) || !py_memory_init(m) || !py_ndarray_init(m) ||
        !py_ufunc_init(m) || !py_device_init(m) || !py_stream_init(m) || !py_event_init(m) ||
        !py_current_init(m) || !py_rawcall_init(m) || !py_numpyloops_init(m) ||
        !py_hostmem_init(m) || !px_init(m) || !py_random_init(m) || !py_graph_init(m) ||
        !py_site_init() || !py_tensor_init(m) || !py_raw_init(m) || !py_chosen_init(m) ||
        !add_functions(m) || PyModule_AddStringConstant(m, "__version__", TREADLE_VERSION) < 0 ||
        !py_kernel_init(m) || !py_program_init(m))
        return -1;
    py.interp = PyInterpreterState_Get();
    td_graph_hooks(unlock, lock);
    td_graph_on_poll(py_poll);
    td_stop_on_signals(py_handle_signals);
    td_dev_on_open(td_jit_warm);
    py_memory_hooks();
    py_errstate_hooks();
    return py_numpy_meet() ? 0 : -1;
}

static PyModuleDef_Slot core_slots[] = {PY_SLOT(Py_mod_exec, core_exec), {0, NULL}};

static PyModuleDef core_module = {
    PyModuleDef_HEAD_INIT,
    .m_name = "treadle._core",
    .m_doc = "The core of treadle: arrays, operations, devices.",
    .m_slots = core_slots,
};

PyMODINIT_FUNC
PyInit__core(void)
{
    return PyModuleDef_Init(&core_module);
}
