/* site.c - the Python line that asks for something, for errors and profiles.
 *
 * A profile asks at every launch: which lines belong to the package and what a line is called is
 * remembered by code object.
 */
#include "python/py.h"

#include "dev/site.h"

#include <string.h>

enum { CODES = 1024, LINES = 4096 }; /* powers of two */

/* What is known of code objects and lines; a place is taken over by the next that falls on it.  Each
 * holds its code object, so that no other has its address.  Under the GIL. */
static struct {
    PyObject *code;
    bool ours;
} codes[CODES];

static struct {
    PyObject *code;
    int line;
    uint32_t id;
} lines[LINES];

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

static size_t
place_of(const PyObject *code, int line, size_t size)
{
    return (((uintptr_t)code >> 4) + (size_t)line * 31) & (size - 1);
}

static bool
is_ours_cached(PyObject *frame)
{
    PyObject *code = (PyObject *)PyFrame_GetCode((PyFrameObject *)frame), *old;
    size_t at = place_of(code, 0, CODES);

    if (codes[at].code != code) {
        old = codes[at].code;
        codes[at].ours = is_ours(frame);
        codes[at].code = code;
        code = old;
    }
    Py_XDECREF(code);
    return codes[at].ours;
}

/* The innermost frame that is not the package's; NULL: there is none. */
static PyObject *
users_frame(void)
{
    PyObject *frame = Py_XNewRef((PyObject *)PyEval_GetFrame()), *outer;

    while (frame && frame != Py_None && is_ours_cached(frame)) {
        outer = PyObject_GetAttrString(frame, "f_back");
        Py_DECREF(frame);
        frame = outer;
    }
    if (frame == Py_None)
        Py_CLEAR(frame);
    return frame;
}

static uint32_t
line_id(PyObject *frame)
{
    PyObject *code = (PyObject *)PyFrame_GetCode((PyFrameObject *)frame), *old;
    int line = PyFrame_GetLineNumber((PyFrameObject *)frame);
    size_t at = place_of(code, line, LINES);
    char text[256] = "";

    if (lines[at].code != code || lines[at].line != line) {
        write_line((PyFrameObject *)frame, text, sizeof text);
        old = lines[at].code;
        lines[at].code = code;
        lines[at].line = line;
        lines[at].id = td_name_id(text);
        code = old;
    }
    Py_XDECREF(code);
    return lines[at].id;
}

static uint32_t
trace_line(void)
{
    PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *type, *value, *trace, *frame;
    uint32_t id;

    PyErr_Fetch(&type, &value, &trace);
    frame = users_frame();
    id = frame ? line_id(frame) : 0;
    Py_XDECREF(frame);
    PyErr_Restore(type, value, trace);
    PyGILState_Release(gil);
    return id;
}

static void
note_line(char *text, size_t n)
{
    PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *type, *value, *trace, *frame;

    PyErr_Fetch(&type, &value, &trace);
    frame = users_frame();
    if (frame)
        write_line((PyFrameObject *)frame, text, n);
    Py_XDECREF(frame);
    PyErr_Restore(type, value, trace);
    PyGILState_Release(gil);
}

void
py_site_init(void)
{
    td_mem_on_large(note_line);
    td_site_on_ask(trace_line);
}
