/* module.c - treadle._core: set-up, exceptions, argument parsing. */
#include "python/ndarray/chosen.h"
#include "python/kernel/kernel.h"
#include "python/program/program.h"

#include <string.h>

py_state py;

/* The class for a failure of the driver's, as PyCUDA sorts them; a failure without a number is no one's fault. */
static PyObject *
device_class(int code)
{
    switch (code) {
    case 0:
    case 100: /* NO_DEVICE */
    case 200: /* INVALID_IMAGE */
    case 209: /* NO_BINARY_FOR_GPU */
    case 214: /* ECC_UNCORRECTABLE */
    case 301: /* FILE_NOT_FOUND */
    case 999: /* UNKNOWN */ return py.device_error;
    case 700: /* ILLEGAL_ADDRESS */
    case 701: /* LAUNCH_OUT_OF_RESOURCES */
    case 702: /* LAUNCH_TIMEOUT */
    case 710: /* ASSERT */
    case 714: /* HARDWARE_STACK_ERROR */
    case 715: /* ILLEGAL_INSTRUCTION */
    case 716: /* MISALIGNED_ADDRESS */
    case 717: /* INVALID_ADDRESS_SPACE */
    case 718: /* INVALID_PC */
    case 719: /* LAUNCH_FAILED */ return py.launch_error;
    default:  break;
    }
    return py.logic_error;
}

PyObject *
py_raise(td_status st)
{
    PyObject *type = PyExc_SystemError;

    switch (st) {
    case TD_OK:
    case TD_SKIP:         break;
    case TD_ERR_NOMEM:    type = PyExc_MemoryError; break;
    case TD_ERR_OOM:      type = py.oom; break;
    case TD_ERR_TYPE:     type = PyExc_TypeError; break;
    case TD_ERR_VALUE:    type = PyExc_ValueError; break;
    case TD_ERR_OVERFLOW: type = PyExc_OverflowError; break;
    case TD_ERR_FLOAT:    type = PyExc_FloatingPointError; break;
    case TD_ERR_INDEX:    type = PyExc_IndexError; break;
    case TD_ERR_DEVICE:   type = device_class(td_error_code()); break;
    case TD_ERR_JIT:      type = py.compile; break;
    case TD_ERR_LIBRARY:  type = py.missing; break;
    case TD_ERR_IO:       type = PyExc_OSError; break;
    case TD_ERR_PEER:     type = py.peer; break;
    case TD_ERR_STATE:
    case TD_ERR_THREADS:  type = PyExc_RuntimeError; break;
    case TD_ERR_KERNEL:   return py_report_raise();
    case TD_ERR_CALLER:   return py_kept_raise();
    }
    PyErr_SetString(type, td_error());
    return NULL;
}

bool
py_ok(td_status st)
{
    if (st)
        py_raise(st);
    return !st;
}

bool
py_warn(void)
{
    const char *w = td_jit_warning();

    return !w || PyErr_WarnEx(PyExc_RuntimeWarning, w, 1) == 0;
}

bool
py_is_none(PyObject *o)
{
    return !o || o == Py_None;
}

bool
py_flag(PyObject *o, bool dflt, bool *out)
{
    int t = o ? PyObject_IsTrue(o) : dflt;

    *out = t > 0;
    return t >= 0;
}

static bool
parse_keyword(const char *fn, const char *const *names, PyObject *name, PyObject *value,
              PyObject **out)
{
    for (int i = 0; names[i]; i++)
        if (PyUnicode_CompareWithASCIIString(name, names[i]) == 0) {
            if (out[i])
                PyErr_Format(PyExc_TypeError, "%s() got multiple values for argument '%U'", fn,
                             name);
            else
                out[i] = value;
            return !PyErr_Occurred();
        }
    PyErr_Format(PyExc_TypeError, "%s() got an unexpected keyword argument '%U'", fn, name);
    return false;
}

bool
py_parse(const char *fn, const char *const *names, int nmin, int npos, PyObject *const *args,
         Py_ssize_t nargs, PyObject *kwnames, PyObject **out)
{
    Py_ssize_t nkw = kwnames ? PyTuple_Size(kwnames) : 0;

    for (int i = 0; names[i]; i++)
        out[i] = i < nargs ? args[i] : NULL;
    if (nargs > npos) {
        PyErr_Format(PyExc_TypeError, "%s() takes at most %d positional arguments (%zd given)", fn,
                     npos, nargs);
        return false;
    }
    for (Py_ssize_t i = 0; i < nkw; i++)
        if (!parse_keyword(fn, names, PyTuple_GetItem(kwnames, i), args[nargs + i], out))
            return false;
    for (int i = 0; i < nmin; i++)
        if (!out[i]) {
            PyErr_Format(PyExc_TypeError, "%s() missing required argument '%s'", fn, names[i]);
            return false;
        }
    return true;
}

PyObject *
py_package(const char *module, const char *name)
{
    PyObject *m = PyImport_ImportModule(module), *f = m ? PyObject_GetAttrString(m, name) : NULL;

    Py_XDECREF(m);
    return f;
}

PyObject *
py_call_with(PyObject *fn, PyObject *head, PyObject *const *args, Py_ssize_t nargs,
             PyObject *kwnames)
{
    Py_ssize_t nkw = kwnames ? PyTuple_Size(kwnames) : 0;
    PyObject *tuple = PyTuple_New(nargs + 1), *kw = nkw ? PyDict_New() : NULL, *r = NULL;

    if (!tuple || (nkw && !kw))
        goto out;
    PyTuple_SetItem(tuple, 0, Py_NewRef(head));
    for (Py_ssize_t i = 0; i < nargs; i++)
        PyTuple_SetItem(tuple, i + 1, Py_NewRef(args[i]));
    for (Py_ssize_t i = 0; i < nkw; i++)
        if (PyDict_SetItem(kw, PyTuple_GetItem(kwnames, i), args[nargs + i]) < 0)
            goto out;
    r = PyObject_Call(fn, tuple, kw);
out:
    Py_XDECREF(tuple);
    Py_XDECREF(kw);
    return r;
}

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

/* A class of ours, `base` or one of its kind, that is a builtin one too. */
static bool
add_both(PyObject *m, const char *name, PyObject *base, PyObject *builtin, const char *doc,
         PyObject **out)
{
    PyObject *bases = PyTuple_Pack(2, base, builtin);
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
    if (!add_exceptions(m) || !py_memory_init(m) || !py_ndarray_init(m) || !py_ufunc_init(m) ||
        !py_device_init(m) || !py_stream_init(m) || !py_current_init(m) || !py_rawcall_init(m) ||
        !py_hostmem_init(m) || !px_init(m) || !py_random_init(m) || !py_graph_init(m) ||
        !py_site_init() || !py_tensor_init(m) || !py_raw_init(m) || !py_chosen_init(m) ||
        PyModule_AddFunctions(m, py_raw_functions) < 0 ||
        PyModule_AddFunctions(m, py_profile_functions) < 0 ||
        PyModule_AddFunctions(m, py_create_functions) < 0 ||
        PyModule_AddFunctions(m, py_scan_functions) < 0 ||
        PyModule_AddFunctions(m, py_source_functions) < 0 ||
        PyModule_AddFunctions(m, py_errstate_functions) < 0 ||
        PyModule_AddFunctions(m, py_reduce_functions) < 0 ||
        PyModule_AddFunctions(m, py_pick_functions) < 0 ||
        PyModule_AddFunctions(m, py_device_functions) < 0 ||
        PyModule_AddFunctions(m, py_stream_functions) < 0 ||
        PyModule_AddFunctions(m, py_dlpack_functions) < 0 ||
        PyModule_AddFunctions(m, py_foreign_functions) < 0 ||
        PyModule_AddFunctions(m, py_memory_functions) < 0 ||
        PyModule_AddFunctions(m, py_share_functions) < 0 ||
        PyModule_AddFunctions(m, py_solver_functions) < 0 ||
        PyModule_AddFunctions(m, py_nccl_functions) < 0 ||
        PyModule_AddFunctions(m, py_debug_functions) < 0 ||
        PyModule_AddFunctions(m, py_table_functions) < 0 ||
        PyModule_AddFunctions(m, py_items_functions) < 0 || !py_kernel_init(m) ||
        !py_program_init(m))
        return -1;
    py.interp = PyInterpreterState_Get();
    td_graph_hooks(unlock, lock);
    td_graph_on_poll(py_poll);
    td_dev_on_open(td_jit_warm);
    py_memory_hooks();
    py_errstate_hooks();
    return 0;
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
