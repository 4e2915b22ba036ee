/* stream.c - treadle.Stream and treadle.Event: order and time of a device's work. */
#include "python/py.h"

typedef struct stream {
    PyObject_HEAD td_stream *s;
    bool owned; /* false: the device's default stream */
} stream;

typedef struct event {
    PyObject_HEAD td_event *e;
    td_dev *dev;
} event;

td_stream *
py_stream_of(PyObject *o)
{
    return Py_IS_TYPE(o, py.stream) ? ((stream *)o)->s : NULL;
}

static PyObject *
stream_new(PyTypeObject *type, PyObject *args, PyObject *kw)
{
    static char *names[] = {"device", "null", NULL};
    PyObject *where = NULL;
    td_stream *s = NULL;
    stream *r;
    td_dev *d;
    int null = 0;

    (void)type;
    if (!PyArg_ParseTupleAndKeywords(args, kw, "|Op:Stream", names, &where, &null) ||
        !py_device(where, &d))
        return NULL;
    if (!null && !py_ok(td_stream_new(d, &s)))
        return NULL;
    r = PyObject_New(stream, py.stream);
    if (!r) {
        td_stream_free(s);
        return NULL;
    }
    r->s = null ? td_dev_stream(d) : s;
    r->owned = !null;
    return (PyObject *)r;
}

static void
stream_dealloc(PyObject *self)
{
    stream *s = (stream *)self;
    PyTypeObject *type = Py_TYPE(self);

    if (s->owned)
        td_stream_free(s->s);
    PyObject_Free(self);
    Py_DECREF(type);
}

static PyObject *
stream_sync(PyObject *self, PyObject *unused)
{
    td_stream *s = ((stream *)self)->s;
    PyThreadState *gil;
    td_status st;

    (void)unused;
    gil = PyEval_SaveThread();
    st = td_stream_sync(s);
    PyEval_RestoreThread(gil);
    return st ? py_raise(st) : Py_NewRef(Py_None);
}

static PyObject *
stream_wait(PyObject *self, PyObject *e)
{
    if (!Py_IS_TYPE(e, py.event)) {
        PyErr_SetString(PyExc_TypeError, "wait_event(event) takes a treadle.Event");
        return NULL;
    }
    return py_ok(td_stream_wait(((stream *)self)->s, ((event *)e)->e)) ? Py_NewRef(Py_None) : NULL;
}

static PyObject *
stream_ptr(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromVoidPtr(td_stream_handle(((stream *)self)->s));
}

static PyObject *
event_new(PyTypeObject *type, PyObject *args, PyObject *kw)
{
    static char *names[] = {"device", "timing", NULL};
    PyObject *where = NULL;
    int timing = 1;
    td_event *e;
    td_dev *d;
    event *r;

    (void)type;
    if (!PyArg_ParseTupleAndKeywords(args, kw, "|Op:Event", names, &where, &timing) ||
        !py_device(where, &d) || !py_ok(td_event_new(d, timing, &e)))
        return NULL;
    r = PyObject_New(event, py.event);
    if (!r) {
        td_event_free(e);
        return NULL;
    }
    r->e = e;
    r->dev = d;
    return (PyObject *)r;
}

static void
event_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);

    td_event_free(((event *)self)->e);
    PyObject_Free(self);
    Py_DECREF(type);
}

/* What has been recorded so far is launched first, so that the event stands behind it. */
static PyObject *
event_record(PyObject *self, PyObject *const *args, Py_ssize_t nargs)
{
    event *e = (event *)self;
    td_stream *s = td_dev_stream(e->dev);

    if (nargs && Py_IS_TYPE(args[0], py.stream))
        s = ((stream *)args[0])->s;
    if (!py_ok(td_eval_all()) || !py_ok(td_event_record(e->e, s)))
        return NULL;
    return Py_NewRef(self);
}

static PyObject *
event_sync(PyObject *self, PyObject *unused)
{
    td_event *e = ((event *)self)->e;
    PyThreadState *gil;
    td_status st;

    (void)unused;
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

static PyObject *
event_elapsed(PyObject *self, PyObject *end)
{
    double ms;

    if (!Py_IS_TYPE(end, py.event)) {
        PyErr_SetString(PyExc_TypeError, "elapsed(event) takes a treadle.Event");
        return NULL;
    }
    return py_ok(td_event_elapsed(((event *)self)->e, ((event *)end)->e, &ms))
               ? PyFloat_FromDouble(ms)
               : NULL;
}

/* What lies beside an array in a copy on a stream: an array, or host memory by the buffer protocol. */
static bool
host_memory(PyObject *o, bool write, Py_buffer *b)
{
    return PyObject_GetBuffer(o, b, PyBUF_C_CONTIGUOUS | (write ? PyBUF_WRITABLE : 0)) == 0;
}

static PyObject *
copy_on(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    Py_buffer host;
    td_stream *s;
    td_status st;

    (void)module;
    if (nargs != 3 || !Py_IS_TYPE(args[2], py.stream) ||
        !(py_is_array(args[0]) || py_is_array(args[1]))) {
        PyErr_SetString(PyExc_TypeError, "copyto: on a stream one side is a treadle array");
        return NULL;
    }
    s = ((stream *)args[2])->s;
    if (py_is_array(args[0]) && !py_writable((py_ndarray *)args[0]))
        return NULL;
    if (py_is_array(args[0]) && py_is_array(args[1])) {
        st = td_array_move(py_array_of(args[0]), py_array_of(args[1]), s);
    } else if (py_is_array(args[0])) {
        if (!host_memory(args[1], false, &host))
            return NULL;
        st = td_array_load(py_array_of(args[0]), s, host.buf, (size_t)host.len);
        PyBuffer_Release(&host);
    } else {
        if (!host_memory(args[0], true, &host))
            return NULL;
        st = td_array_store(py_array_of(args[1]), s, host.buf, (size_t)host.len);
        PyBuffer_Release(&host);
    }
    return py_ok(st) ? Py_NewRef(Py_None) : NULL;
}

PyMethodDef py_stream_functions[] = {
    {"_copy_on", PY_FAST(copy_on), METH_FASTCALL,
     "_copy_on(dst, src, stream): for copyto; same shape, same dtype."},
    {NULL, NULL, 0, NULL},
};

static bool
add_type(PyObject *m, const char *name, PyType_Spec *spec, PyTypeObject **out)
{
    *out = (PyTypeObject *)PyType_FromSpec(spec);
    return *out && PyModule_AddObjectRef(m, name, (PyObject *)*out) == 0;
}

bool
py_stream_init(PyObject *m)
{
    static PyMethodDef stream_methods[] = {
        {"synchronize", stream_sync, METH_NOARGS, "synchronize(): waits for the stream's work."},
        {"wait_event", stream_wait, METH_O,
         "wait_event(event): work given to the stream later waits for it."},
        {NULL, NULL, 0, NULL},
    };
    static PyGetSetDef stream_getset[] = {
        {"ptr", stream_ptr, NULL,
         "The CUstream as an int; 0 for the default stream and on the CPU.", NULL},
        {NULL, NULL, NULL, NULL, NULL},
    };
    static PyType_Slot stream_slots[] = {
        {Py_tp_doc,
         "Stream(device=None, null=False): a queue of work; null: the device's default stream."},
        PY_SLOT(Py_tp_new, stream_new),
        PY_SLOT(Py_tp_dealloc, stream_dealloc),
        {Py_tp_methods, stream_methods},
        {Py_tp_getset, stream_getset},
        {0, NULL},
    };
    static PyType_Spec stream_spec = {
        .name = "treadle.Stream",
        .basicsize = sizeof(stream),
        .flags = Py_TPFLAGS_DEFAULT,
        .slots = stream_slots,
    };
    static PyMethodDef event_methods[] = {
        {"record", PY_FAST(event_record), METH_FASTCALL,
         "record(stream=None): marks the stream's work so far."},
        {"synchronize", event_sync, METH_NOARGS, "synchronize(): waits for the event."},
        {"elapsed", event_elapsed, METH_O, "elapsed(end): milliseconds from this event to end."},
        {NULL, NULL, 0, NULL},
    };
    static PyGetSetDef event_getset[] = {
        {"done", event_done, NULL, "Has the event passed?", NULL},
        {NULL, NULL, NULL, NULL, NULL},
    };
    static PyType_Slot event_slots[] = {
        {Py_tp_doc, "Event(device=None, timing=True): a mark in a stream."},
        PY_SLOT(Py_tp_new, event_new),
        PY_SLOT(Py_tp_dealloc, event_dealloc),
        {Py_tp_methods, event_methods},
        {Py_tp_getset, event_getset},
        {0, NULL},
    };
    static PyType_Spec event_spec = {
        .name = "treadle.Event",
        .basicsize = sizeof(event),
        .flags = Py_TPFLAGS_DEFAULT,
        .slots = event_slots,
    };

    return add_type(m, "Stream", &stream_spec, &py.stream) &&
           add_type(m, "Event", &event_spec, &py.event);
}
