/* current.c - the calling thread's current stream, and the stream that it captures; Stream.null
 * and Stream.ptds.
 *
 * A thread has at most one current stream, which counts for its own device.  The dict of the
 * thread's Python state holds the stream's object, so the pointers here are valid only while the
 * thread has that state: a thread of another library gets a new state each time it calls Python.
 */
#include "python/common/py.h"

static _Thread_local td_stream *current, *captured; /* borrowed: the dict holds their objects */
/* id of the Python state in which they were set */
static _Thread_local uint64_t owner;

static td_stream *
held(td_stream *s)
{
    return s && owner == PyThreadState_GetID(PyThreadState_Get()) ? s : NULL;
}

td_stream *
py_current_stream(td_dev *d)
{
    td_stream *s = held(current);

    return s && td_stream_dev(s) == d ? s : td_dev_stream(d);
}

td_stream *
py_captured_stream(td_stream *s)
{
    return captured && s == held(captured) ? td_dev_stream(td_stream_dev(s)) : s;
}

/* Stores o, a Stream or None, for the thread under `key`; *out: its stream, or NULL. */
static PyObject *
current_keep(PyObject *o, const char *key, td_stream **out)
{
    PyObject *dict = PyThreadState_GetDict(), *where;
    td_stream *s = NULL;
    td_dev *d;

    current = held(current);
    captured = held(captured);
    owner = PyThreadState_GetID(PyThreadState_Get());
    if (o != Py_None) {
        where = PyObject_GetAttrString(o, "device");
        if (!where || !py_device(where, &d) || !py_stream(o, d, &s)) {
            Py_XDECREF(where);
            return NULL;
        }
        Py_DECREF(where);
    }
    if (!dict) {
        PyErr_SetString(PyExc_RuntimeError, "the thread cannot keep a stream");
        return NULL;
    }
    if (PyDict_SetItemString(dict, key, o) < 0)
        return NULL;
    *out = s;
    return Py_NewRef(Py_None);
}

static PyObject *
use_stream(PyObject *module, PyObject *o)
{
    (void)module;
    return current_keep(o, "treadle.stream", &current);
}

static PyObject *
capture_stream(PyObject *module, PyObject *o)
{
    td_stream *s = NULL;
    PyObject *r;

    (void)module;
    captured = NULL; /* otherwise py_stream would replace it by the default one */
    r = current_keep(o, "treadle.captured", &s);
    captured = s;
    return r;
}

/* The object given to use_stream; None: there is none, or it is on another device. */
static PyObject *
current_stream(PyObject *module, PyObject *where)
{
    PyObject *dict = PyThreadState_GetDict(), *o;
    td_dev *d;

    (void)module;
    if (!py_device(where, &d))
        return NULL;
    o = dict ? PyDict_GetItemString(dict, "treadle.stream") : NULL;
    return Py_NewRef(o && held(current) && td_stream_dev(current) == d ? o : Py_None);
}

PyMethodDef py_current_functions[] = {
    {"_use_stream", use_stream, METH_O,
     "_use_stream(stream): where work goes from now on in this thread; None: the default one."},
    {"_capture_stream", capture_stream, METH_O,
     "_capture_stream(stream): counts as the default one in this thread; None: none does."},
    {"_current_stream", current_stream, METH_O,
     "_current_stream(device): what _use_stream has set for it, or None."},
    {NULL, NULL, 0, NULL},
};

/* ---- class attributes whose value is the current device's ---- */

typedef struct standing {
    PyObject_HEAD uintptr_t number; /* CUstream: 0 or 2 */
} standing;

static PyObject *
standing_get(PyObject *self, PyObject *obj, PyObject *type)
{
    td_stream *s;
    td_dev *d;

    (void)obj, (void)type;
    if (!py_device(NULL, &d) || !py_ok(td_stream_of(d, (void *)((standing *)self)->number, &s)))
        return NULL;
    return py_stream_wrap(s);
}

static void
standing_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);

    PyObject_Free(self);
    Py_DECREF(type);
}

static bool
add_standing(PyTypeObject *type, const char *name, uintptr_t number)
{
    standing *o = PyObject_New(standing, type);
    bool ok;

    if (!o)
        return false;
    o->number = number;
    ok = PyObject_SetAttrString((PyObject *)py.stream, name, (PyObject *)o) == 0;
    Py_DECREF((PyObject *)o);
    return ok;
}

bool
py_current_init(PyObject *m)
{
    static PyType_Slot slots[] = {
        {Py_tp_doc, "A default stream of the device that is current when it is asked for."},
        PY_SLOT(Py_tp_dealloc, standing_dealloc),
        PY_SLOT(Py_tp_descr_get, standing_get),
        {0, NULL},
    };
    static PyType_Spec spec = {
        .name = "treadle._core.StandingStream",
        .basicsize = sizeof(standing),
        .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
        .slots = slots,
    };
    PyTypeObject *type = (PyTypeObject *)PyType_FromSpec(&spec);
    bool ok = type && add_standing(type, "null", 0) && add_standing(type, "ptds", 2) &&
              PyModule_AddFunctions(m, py_current_functions) == 0;

    Py_XDECREF((PyObject *)type);
    return ok;
}
