/* site.c - finds the program's line that asks for something, for errors and profiles.
 *
 * A GPU's kernels fail late and a profile wants every launch's line, so each launch asks.  Two
 * things are cached by code object: whether the code belongs to the package, and the text of the
 * line that a frame has reached.  What is left is to find frame, code and position: 0.1 µs.
 */
#include "python/common/py.h"

#include "dev/core/site.h"

#include <string.h>

enum { CODES = 1024, LINES = 4096 }; /* powers of two */

/* Caches of code objects and lines; a new entry replaces the one in its place.  Each entry
 * holds its code object, so that no other gets the same address.  Guarded by the GIL. */
static struct {
    PyObject *code;
    bool ours;
} codes[CODES];

static struct {
    PyObject *code;
    int at; /* f_lasti: the position in the code */
    uint32_t id;
} lines[LINES];

static PyObject *f_back, *f_lasti; /* names, interned */

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

    if (path) /* the end of a long path tells more */
        PyOS_snprintf(text, n, "%s:%d", len + 16 > n ? path + (len + 16 - n) : path,
                      PyFrame_GetLineNumber(frame));
    Py_XDECREF(file);
    Py_DECREF(code);
}

static size_t
code_place(const PyObject *code, int at, size_t size)
{
    return (((uintptr_t)code >> 4) + (size_t)at * 31) & (size - 1);
}

static bool
is_ours_cached(PyObject *frame)
{
    PyObject *code = (PyObject *)PyFrame_GetCode((PyFrameObject *)frame), *old;
    size_t at = code_place(code, 0, CODES);

    if (codes[at].code != code) {
        old = codes[at].code;
        codes[at].ours = is_ours(frame);
        codes[at].code = code;
        code = old;
    }
    Py_XDECREF(code);
    return codes[at].ours;
}

/* The innermost frame outside the package; NULL: there is none. */
static PyObject *
users_frame(void)
{
    PyObject *frame = Py_XNewRef((PyObject *)PyEval_GetFrame()), *outer;

    while (frame && frame != Py_None && is_ours_cached(frame)) {
        outer = PyObject_GetAttr(frame, f_back);
        Py_DECREF(frame);
        frame = outer;
    }
    if (frame == Py_None)
        Py_CLEAR(frame);
    return frame;
}

static int
lasti_of(PyObject *frame)
{
    PyObject *o = PyObject_GetAttr(frame, f_lasti);
    int n = o ? (int)PyLong_AsLong(o) : -1;

    Py_XDECREF(o);
    return n;
}

static uint32_t
line_id(PyObject *frame)
{
    PyObject *code = (PyObject *)PyFrame_GetCode((PyFrameObject *)frame), *old;
    int lasti = lasti_of(frame);
    size_t at = code_place(code, lasti, LINES);
    char text[256] = "";

    if (lines[at].code != code || lines[at].at != lasti) {
        write_line((PyFrameObject *)frame, text, sizeof text);
        old = lines[at].code;
        lines[at].code = code;
        lines[at].at = lasti;
        lines[at].id = td_name_id(text);
        code = old;
    }
    Py_XDECREF(code);
    return lines[at].id;
}

static uint32_t
site_line(void)
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

bool
py_site_init(void)
{
    f_back = PyUnicode_InternFromString("f_back");
    f_lasti = PyUnicode_InternFromString("f_lasti");
    if (!f_back || !f_lasti)
        return false;
    td_mem_on_large(note_line);
    td_site_on_ask(site_line);
    return true;
}
