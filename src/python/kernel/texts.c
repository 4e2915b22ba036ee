/* texts.c - what Python compiles while the process runs, told to a function of ours.
 *
 * Kernels are compiled from their source, and texts that exec() gets stand in no file.  Python tells its audit hooks
 * of each text that it compiles; a hook in C costs the other audited calls least, id() among them.  Hooks stay until
 * the process ends.
 */
#include "python/kernel/kernel.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef int audit_hook(const char *event, PyObject *args, void *data);
typedef int add_hook(audit_hook *hook,
                     void *data); /* Python's, which the limited API does not declare */

static PyObject *keeper;

/* An audit hook: what `keeper` raises is nothing to the program. */
static int
told(const char *event, PyObject *args, void *data)
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
    if (add(told, NULL) < 0) {
        Py_CLEAR(keeper);
        return NULL;
    }
    return PyBool_FromLong(1);
}

/* What C's stdin has in its buffer, read or not: of a program that came by a pipe the last part. */
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
