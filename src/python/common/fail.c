/* fail.c - raises the core's failures as exceptions, and keeps the program's exceptions while a
 * failure passes through the core.
 */
#include "python/common/py.h"

#include "jit/jit.h"

#include <stdlib.h>
#include <string.h>

/* The exception class for a CUresult, grouped as PyCUDA does; code 0 gets the general class. */
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

/* Texts quote names and sources, whose bytes may be no UTF-8. */
static void
set_text(PyObject *type, const char *text)
{
    PyObject *s = PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "backslashreplace");

    if (s)
        PyErr_SetObject(type, s);
    Py_XDECREF(s);
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
    case TD_ERR_NAME:     type = PyExc_NameError; break;
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
    set_text(type, td_error());
    return NULL;
}

void *
py_calloc(size_t n, size_t size)
{
    void *p = calloc(n, size);

    if (!p)
        PyErr_NoMemory();
    return p;
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

/* ---- exceptions kept while the core returns ---- */

enum { KEPT = 16 };

/* Guarded by the GIL.  The failure's number selects the entry. */
static struct {
    PyObject *type, *value, *trace;
    int code;
} kept[KEPT];
static int kept_last;

td_status
py_keep(void)
{
    int code = ++kept_last, k = code % KEPT;

    Py_XDECREF(kept[k].type); /* of an older failure that nobody asked for */
    Py_XDECREF(kept[k].value);
    Py_XDECREF(kept[k].trace);
    PyErr_Fetch(&kept[k].type, &kept[k].value, &kept[k].trace);
    kept[k].code = code;
    return td_fail_code(TD_ERR_CALLER, code, "the program's own code failed");
}

PyObject *
py_kept_raise(void)
{
    int code = td_error_code(), k = code % KEPT;

    if (code > 0 && kept[k].code == code && kept[k].type) {
        PyErr_Restore(kept[k].type, kept[k].value, kept[k].trace);
        kept[k].type = kept[k].value = kept[k].trace = NULL;
    } else {
        PyErr_SetString(PyExc_RuntimeError, td_error());
    }
    return NULL;
}

/* Has the program been interrupted? */
td_status
py_poll(void)
{
    return PyErr_CheckSignals() < 0 ? py_keep() : TD_OK;
}
