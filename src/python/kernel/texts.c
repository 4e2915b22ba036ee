/* texts.c - passes each text that Python compiles while the process runs to a function of ours.
 *
 * Kernels are compiled from source, and texts given to exec() are in no file.  Python reports
 * each text that it compiles to audit hooks.  A hook in C costs the other audited calls the
 * least, id() among them.  Hooks stay until the process ends.
 */
#include "python/kernel/kernel.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef int audit_hook(const char *event, PyObject *args, void *data);
typedef int add_hook(audit_hook *hook,
                     void *data); /* Python's function, which the limited API does not declare */

static PyObject *keeper;

/* An audit hook.  The program never sees what `keeper` raises. */
static int
on_audit_event(const char *event, PyObject *args, void *data)
{
    PyObject *type, *value, *trace, *r;

    (void)data;
    if (strcmp(event, "compile") != 0 || !Py_IsInitialized() ||
        PyInterpreterState_Get() != py.interp)
        return 0;
    PyErr_Fetch(&type, &value, &trace);
    r = PyObject_Call(keeper, args, NULL);
    Py_XDECREF(r);
    if (!r)
        PyErr_Clear();
    PyErr_Restore(type, value, trace);
    return 0;
}

static PyObject *
keep_texts(PyObject *self, PyObject *keep)
{
    add_hook *add = (add_hook *)(uintptr_t)dlsym(RTLD_DEFAULT, "PySys_AddAuditHook");

    (void)self;
    if (keeper || !add)
        return PyBool_FromLong(0);
    keeper = Py_NewRef(keep);
    if (add(on_audit_event, NULL) < 0) {
        Py_CLEAR(keeper);
        return NULL;
    }
    return PyBool_FromLong(1);
}

/* The contents of C's stdin buffer, read or not: for a program from a pipe, its last part. */
static PyObject *
stdin_buffer(PyObject *self, PyObject *none)
{
    (void)self;
    (void)none;
#ifdef __GLIBC__
    if (stdin->_IO_buf_base)
        return PyBytes_FromStringAndSize(stdin->_IO_buf_base,
                                         stdin->_IO_buf_end - stdin->_IO_buf_base);
#endif
    return PyBytes_FromStringAndSize("", 0);
}

PyMethodDef py_text_functions[] = {
    {"_keep_texts", keep_texts, METH_O,
     "_keep_texts(keep): from now on keep(text, file) is called for what Python compiles, once a "
     "process. False: it "
     "cannot be told, or is told already."},
    {"_stdin_buffer", stdin_buffer, METH_NOARGS,
     "_stdin_buffer(): bytes of C's buffer of stdin, where it has one."},
    {NULL, NULL, 0, NULL},
};
