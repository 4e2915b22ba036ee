/* event.c - treadle.Event: a mark in a stream's work, which other work and the host wait for and which measures time. */
#include "python/common/py.h"

#include "dev/core/raw.h"

typedef struct event {
    PyObject_HEAD td_event *e;
    td_dev *dev;
} event;

td_event *
py_event_of(PyObject *o)
{
    return ((event *)o)->e;
}

static PyObject *
event_await(PyObject *self)
{
    return py_await(self, "event");
}

static PyObject *
event_wrap(PyTypeObject *type, td_event *e, td_dev *d)
{
    event *r = py_allocate(type);

    if (!r) {
        td_event_free(e);
        return NULL;
    }
    r->e = e;
    r->dev = d;
    return (PyObject *)r;
}

/* CuPy's first parameter is `block`, a bool, which is our `blocking`; disable_timing its `timing`. */
static PyObject *
pyevent_new(PyTypeObject *type, PyObject *args, PyObject *kw)
{
    static char *names[] = {"device", "timing",         "blocking", "interprocess",
                            "handle", "disable_timing", "block",    NULL};
    int timing = 1, untimed = 0, blocking = 0, sleep = 0, shared = 0;
    const char *handle = NULL;
    PyObject *where = NULL;
    Py_ssize_t nhandle = 0;
    unsigned flags;
    td_event *e;
    td_dev *d;

    if (!PyArg_ParseTupleAndKeywords(args, kw, "|Opppy#pp:Event", names, &where, &timing, &blocking,
                                     &shared, &handle, &nhandle, &untimed, &sleep))
        return NULL;
    if (where && PyBool_Check(where)) {
        sleep = where == Py_True;
        where = NULL;
    }
    timing = timing && !untimed;
    blocking = blocking || sleep;
    if (!py_device(where, &d))
        return NULL;
    flags = (blocking ? TD_EVENT_BLOCKING : 0) | (timing ? 0 : TD_EVENT_NO_TIMING) |
            (shared ? TD_EVENT_SHARED : 0);
    if (handle && nhandle != 64)
        return PyErr_Format(PyExc_ValueError, "Event: a handle has 64 bytes, not %zd", nhandle);
    if (!py_ok(handle ? td_event_receive(d, (const unsigned char *)handle, &e)
                      : td_event_make(d, flags, &e)))
        return NULL;
    return event_wrap(type, e, d);
}

PyObject *
py_event_wrap(td_event *e, td_dev *d)
{
    return event_wrap(py.event, e, d);
}

static void
event_dealloc(PyObject *self)
{
    td_event_free(((event *)self)->e);
    py_free(self);
}

/* The stream that an event's method receives as `stream`. */
static bool
event_stream(const char *method, const event *e, PyObject *const *args, Py_ssize_t nargs,
             PyObject *kwnames, td_stream **out)
{
    static const char *const names[] = {"stream", NULL};
    PyObject *arg[1];

    return py_parse(method, names, 0, 1, args, nargs, kwnames, arg) &&
           py_stream(arg[0], e->dev, out);
}

/* Launches what was recorded first, so that the event comes after it. */
static PyObject *
event_record(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    event *e = (event *)self;
    td_stream *s;

    if (!event_stream("record", e, args, nargs, kwnames, &s) || !py_ok(td_eval_all()) ||
        !py_ok(td_event_record(e->e, s)))
        return NULL;
    return Py_NewRef(self);
}

static PyObject *
event_wait(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    event *e = (event *)self;
    td_stream *s;

    if (!event_stream("wait", e, args, nargs, kwnames, &s))
        return NULL;
    return py_ok(td_stream_wait(s, e->e)) ? Py_NewRef(Py_None) : NULL;
}

static PyObject *
event_sync(PyObject *self, PyObject *unused)
{
    td_event *e = ((event *)self)->e;
    PyThreadState *gil;
    td_status st;

    (void)unused;
    if (!py_ok(td_graph_await(e)))
        return NULL;
    gil = PyEval_SaveThread();
    st = td_event_sync(e);
    PyEval_RestoreThread(gil);
    return st ? py_raise(st) : Py_NewRef(Py_None);
}

static PyObject *
event_done(PyObject *self, void *unused)
{
    bool done;

    (void)unused;
    return py_ok(td_event_done(((event *)self)->e, &done)) ? PyBool_FromLong(done) : NULL;
}

/* The bytes by which another process opens the event. */
static PyObject *
event_handle(PyObject *self, PyObject *unused)
{
    unsigned char bytes[64];

    (void)unused;
    return py_ok(td_event_send(((event *)self)->e, bytes))
               ? PyBytes_FromStringAndSize((const char *)bytes, sizeof bytes)
               : NULL;
}

static PyObject *
event_query(PyObject *self, PyObject *unused)
{
    return event_done(self, unused);
}

static PyObject *
event_elapsed(PyObject *self, PyObject *end)
{
    double ms;

    if (!PyObject_TypeCheck(end, py.event)) {
        PyErr_SetString(PyExc_TypeError, "elapsed(event) takes a treadle.Event");
        return NULL;
    }
    return py_ok(td_event_elapsed(((event *)self)->e, ((event *)end)->e, &ms))
               ? PyFloat_FromDouble(ms)
               : NULL;
}

static PyMethodDef event_methods[] = {
    {"record", PY_FAST(event_record), METH_FASTCALL | METH_KEYWORDS,
     "record($self, /, stream=None)\n--\n\n"
     "Mark a stream's work so far.\n\n"
     "Parameters\n"
     "----------\n"
     "stream : Stream, optional\n"
     "    The stream; None means the device's current one.\n\n"
     "Returns\n"
     "-------\n"
     "Event\n"
     "    The event itself.\n\n"
     "Examples\n"
     "--------\n"
     ">>> np.Event(\"cpu\").record().done\n"
     "True"},
    {"wait", PY_FAST(event_wait), METH_FASTCALL | METH_KEYWORDS,
     "wait($self, /, stream=None)\n--\n\n"
     "Let work that is given to a stream later wait for the event.\n\n"
     "Parameters\n"
     "----------\n"
     "stream : Stream, optional\n"
     "    The stream; None means the device's current one.\n\n"
     "Examples\n"
     "--------\n"
     ">>> np.Event(\"cpu\").wait()"},
    {"query", event_query, METH_NOARGS,
     "query($self, /)\n--\n\n"
     "Whether the event has passed.\n\n"
     "Returns\n"
     "-------\n"
     "bool\n"
     "    Never waits.\n\n"
     "Examples\n"
     "--------\n"
     ">>> np.Event(\"cpu\").query()\n"
     "True"},
    {"synchronize", event_sync, METH_NOARGS,
     "synchronize($self, /)\n--\n\n"
     "Wait for the event.\n\n"
     "Raises\n"
     "------\n"
     "DeviceError\n"
     "    Work before the event failed.\n\n"
     "Examples\n"
     "--------\n"
     ">>> np.Event(\"cpu\").synchronize()"},
    {"ipc_handle", event_handle, METH_NOARGS,
     "ipc_handle($self, /)\n--\n\n"
     "What another process opens the event by.\n\n"
     "Returns\n"
     "-------\n"
     "bytes\n"
     "    64 bytes, of an event that was made with interprocess=True.\n\n"
     "Examples\n"
     "--------\n"
     ">>> callable(np.Event.ipc_handle)\n"
     "True"},
    {"elapsed", event_elapsed, METH_O,
     "elapsed($self, end, /)\n--\n\n"
     "The time from this event to another.\n\n"
     "Parameters\n"
     "----------\n"
     "end : Event\n"
     "    The later event.\n\n"
     "Returns\n"
     "-------\n"
     "float\n"
     "    Milliseconds.\n\n"
     "Raises\n"
     "------\n"
     "ValueError\n"
     "    An event was not recorded, or made without timing.\n\n"
     "Examples\n"
     "--------\n"
     ">>> begin, end = np.Event(\"cpu\").record(), np.Event(\"cpu\").record()\n"
     ">>> begin.elapsed(end) >= 0\n"
     "True"},
    {"elapsed_time", event_elapsed, METH_O,
     "elapsed_time($self, end, /)\n--\n\n"
     "The time from this event to another: PyTorch's name of elapsed.\n\n"
     "Parameters\n"
     "----------\n"
     "end : Event\n"
     "    The later event.\n\n"
     "Returns\n"
     "-------\n"
     "float\n"
     "    Milliseconds.\n\n"
     "Raises\n"
     "------\n"
     "ValueError\n"
     "    An event was not recorded, or made without timing.\n\n"
     "Examples\n"
     "--------\n"
     ">>> begin, end = np.Event(\"cpu\").record(), np.Event(\"cpu\").record()\n"
     ">>> begin.elapsed_time(end) >= 0\n"
     "True"},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef event_getset[] = {
    {"done", event_done, NULL, "Has the event passed?", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot event_slots[] = {
    PY_SLOT(Py_am_await, event_await),
    {Py_tp_doc, "Event(device=None, timing=True, blocking=False, interprocess=False, "
                "handle=None, disable_timing=False, block=False)\n--\n\n"
                "A mark in a stream's work, to wait for and to measure time with.\n\n"
                "Parameters\n"
                "----------\n"
                "device : device or str, optional\n"
                "    The device; None means the thread's default.\n"
                "timing : bool, default True\n"
                "    The event can measure time.\n"
                "blocking, block : bool, default False\n"
                "    Waiting sleeps, in place of asking again and again.\n"
                "interprocess : bool, default False\n"
                "    Another process can open it by its ipc_handle.\n"
                "handle : bytes, optional\n"
                "    Open an event of another process.\n"
                "disable_timing : bool, default False\n"
                "    PyTorch's and CuPy's name of not timing.\n\n"
                "Examples\n"
                "--------\n"
                ">>> event = np.Event(\"cpu\")\n"
                ">>> mark = event.record()\n"
                ">>> event.synchronize()\n"
                ">>> event.done\n"
                "True"},
    PY_SLOT(Py_tp_new, pyevent_new),
    PY_SLOT(Py_tp_dealloc, event_dealloc),
    {Py_tp_methods, event_methods},
    {Py_tp_getset, event_getset},
    {0, NULL},
};

static PyType_Spec event_spec = {
    .name = "treadle.Event",
    .basicsize = sizeof(event),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .slots = event_slots,
};
bool
py_event_init(PyObject *m)
{
    return py_add_type(m, "Event", &event_spec, &py.event);
}
