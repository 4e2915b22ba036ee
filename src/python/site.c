/* site.c - the Python line that asks for memory, for the text of OutOfMemoryError.
 *
 * Asked for by the pool when a large buffer is made, so it may cost some microseconds.
 */
#include "python/py.h"

#include <string.h>

/* Is the frame one of the package's own? */
static bool
is_ours(PyObject *frame)
{
    PyObject *globals = PyObject_GetAttrString(frame, "f_globals"),
             *name = globals ? PyDict_GetItemString(globals, "__name__") : NULL;
    const char *text = name && PyUnicode_Check(name) ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
    bool ours = text && strncmp(text, "treadle", 7) == 0 && (text[7] == 0 || text[7] == '.');

    Py_XDECREF(globals);
    return ours;
}

static void
write_line(PyFrameObject *frame, char *text, size_t n)
{
    PyObject *code = (PyObject *)PyFrame_GetCode(frame),
             *file = PyObject_GetAttrString(code, "co_filename");
    const char *path = file ? PyUnicode_AsUTF8AndSize(file, NULL) : NULL;
    size_t len = path ? strlen(path) : 0;

    if (path) /* the end of a long path says more */
        PyOS_snprintf(text, n, "%s:%d", len + 16 > n ? path + (len + 16 - n) : path,
                      PyFrame_GetLineNumber(frame));
    Py_XDECREF(file);
    Py_DECREF(code);
}

static void
note_line(char *text, size_t n)
{
    PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *type, *value, *trace, *frame, *outer;

    PyErr_Fetch(&type, &value, &trace);
    frame = Py_XNewRef((PyObject *)PyEval_GetFrame());
    while (frame && frame != Py_None && is_ours(frame)) {
        outer = PyObject_GetAttrString(frame, "f_back");
        Py_DECREF(frame);
        frame = outer;
    }
    if (frame && frame != Py_None)
        write_line((PyFrameObject *)frame, text, n);
    Py_XDECREF(frame);
    PyErr_Restore(type, value, trace);
    PyGILState_Release(gil);
}

void
py_site_init(void)
{
    td_mem_on_large(note_line);
}
