/* stream.c - treadle.Stream: a queue of a device's work, and copies that are ordered by one. */
#include "python/common/py.h"

#include "dev/core/raw.h"

typedef struct stream {
    PyObject_HEAD td_stream *s;
    bool owned; /* false: the device's default stream */
    bool apart; /* made as a stream that does not wait for the default one */
    int priority;
} stream;

static PyObject *
stream_wrap(PyTypeObject *type, td_stream *s, bool owned)
{
    stream *r = py_allocate(type);

    if (!r) {
        if (owned)
            td_stream_free(s);
        return NULL;
    }
    r->s = s;
    r->owned = owned;
    return (PyObject *)r;
}

PyObject *
py_stream_wrap(td_stream *s)
{
    return stream_wrap(py.stream, s, false);
}

/* Finds the CUstream that o represents.  1: found; 0: o represents none; -1: exception. */
static int
stream_number(PyObject *o, void **out)
{
    PyObject *f = PyLong_Check(o) ? NULL : py_attr(o, "__cuda_stream__"), *pair, *n;

    if (!f && !PyLong_Check(o))
        return PyErr_Occurred() ? -1 : 0;
    pair = f ? PyObject_CallFunction(f, NULL) : NULL;
    n = f ? pair && PyTuple_Check(pair) ? PyTuple_GetItem(pair, 1) : NULL : o;
    *out = n ? PyLong_AsVoidPtr(n) : NULL;
    if (f && pair && !n && !PyErr_Occurred())
        PyErr_SetString(PyExc_TypeError, "stream: __cuda_stream__ gives a tuple (version, handle)");
    Py_XDECREF(pair);
    Py_XDECREF(f);
    return PyErr_Occurred() ? -1 : 1;
}

bool
py_stream(PyObject *o, td_dev *d, td_stream **out)
{
    void *handle;
    int r;

    *out = py_captured_stream(py_current_stream(d));
    if (py_is_none(o))
        return true;
    if (PyObject_TypeCheck(o, py.stream)) {
        *out = py_captured_stream(((stream *)o)->s);
        if (td_stream_dev(*out) == d)
            return true;
        PyErr_Format(PyExc_ValueError, "the stream belongs to %s, the work to %s",
                     td_dev_info(td_stream_dev(*out))->name, td_dev_info(d)->name);
        return false;
    }
    r = stream_number(o, &handle);
    if (r == 0)
        PyErr_Format(PyExc_TypeError, "a stream is a Stream, None or the number of one, not %R",
                     (PyObject *)Py_TYPE(o));
    return r > 0 && py_ok(td_stream_of(d, handle, out));
}

static PyObject *
make_stream(PyObject *module, PyObject *args)
{
    PyObject *where, *number;
    td_stream *s;
    td_dev *d;

    (void)module;
    if (!PyArg_ParseTuple(args, "OO:_stream_of", &where, &number) || !py_device(where, &d) ||
        !py_stream(number, d, &s))
        return NULL;
    return stream_wrap(py.stream, s, false);
}

/* CuPy's first parameter is `null`, a bool, ours is the device. */
static PyObject *
pystream_new(PyTypeObject *type, PyObject *args, PyObject *kw)
{
    static char *names[] = {"device", "null", "non_blocking", "priority", "ptds", NULL};
    PyObject *where = NULL, *urgent = NULL;
    td_stream *s = NULL;
    int null = 0, apart = 0, priority = 0;
    stream *made;
    td_dev *d;
    int ptds = 0;

    if (!PyArg_ParseTupleAndKeywords(args, kw, "|OppOp:Stream", names, &where, &null, &apart,
                                     &urgent, &ptds))
        return NULL;
    if (where && PyBool_Check(where)) {
        null = where == Py_True;
        where = NULL;
    }
    if (!py_is_none(urgent))
        priority = (int)PyLong_AsLong(urgent);
    if (PyErr_Occurred() || !py_device(where, &d))
        return NULL;
    if (null || ptds)
        return py_ok(td_stream_of(d, (void *)(uintptr_t)(null ? 0 : 2), &s))
                   ? stream_wrap(type, s, false)
                   : NULL;
    if (!py_ok(apart || priority ? td_stream_make(d, apart, priority, &s) : td_stream_new(d, &s)))
        return NULL;
    made = (stream *)stream_wrap(type, s, true);
    if (made) {
        made->apart = apart;
        made->priority = priority;
    }
    return (PyObject *)made;
}

static void
stream_dealloc(PyObject *self)
{
    stream *s = (stream *)self;

    if (s->owned)
        td_stream_free(s->s);
    py_free(self);
}

static PyObject *
stream_sync(PyObject *self, PyObject *unused)
{
    td_stream *s = ((stream *)self)->s;
    PyThreadState *gil;
    td_status st;

    (void)unused;
    if (!py_ok(td_graph_await_stream(s)))
        return NULL;
    gil = PyEval_SaveThread();
    st = td_stream_sync(s);
    PyEval_RestoreThread(gil);
    return st ? py_raise(st) : Py_NewRef(Py_None);
}

static PyObject *
stream_wait(PyObject *self, PyObject *e)
{
    if (!PyObject_TypeCheck(e, py.event)) {
        PyErr_SetString(PyExc_TypeError, "wait_event(event) takes a treadle.Event");
        return NULL;
    }
    return py_ok(td_stream_wait(((stream *)self)->s, py_event_of(e))) ? Py_NewRef(Py_None) : NULL;
}

static PyObject *
stream_ptr(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromVoidPtr(td_stream_handle(((stream *)self)->s));
}

static PyObject *
stream_done(PyObject *self, void *unused)
{
    bool done;

    (void)unused;
    return py_ok(td_stream_done(((stream *)self)->s, &done)) ? PyBool_FromLong(done) : NULL;
}

static PyObject *
stream_device(PyObject *self, void *unused)
{
    (void)unused;
    return py_device_object(td_stream_dev(((stream *)self)->s));
}

/* Is the stream another library's, or a default one?  Then this object did not make it. */
static PyObject *
stream_external(PyObject *self, void *unused)
{
    (void)unused;
    return PyBool_FromLong(!((stream *)self)->owned);
}

static PyObject *
stream_apart(PyObject *self, void *unused)
{
    (void)unused;
    return PyBool_FromLong(((stream *)self)->apart);
}

static PyObject *
stream_priority(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromLong(((stream *)self)->priority);
}

static PyObject *
stream_int(PyObject *self)
{
    return stream_ptr(self, NULL);
}

static int
stream_true(PyObject *self)
{
    (void)self;
    return 1;
}

static PyObject *
stream_protocol(PyObject *self, PyObject *unused)
{
    PyObject *n = stream_ptr(self, unused);

    return n ? Py_BuildValue("(iN)", 0, n) : NULL;
}

static PyObject *
stream_await(PyObject *self)
{
    return py_await(self, "stream");
}

/* A method that a function of treadle.cuda implements. */
static PyObject *
stream_forward(PyObject *self, const char *name, PyObject *const *args, Py_ssize_t nargs,
               PyObject *kwnames)
{
    PyObject *f = py_package("treadle.cuda._streams", name),
             *r = f ? py_call_with(f, self, args, nargs, kwnames) : NULL;

    Py_XDECREF(f);
    return r;
}

#define STREAM_FORWARD(name)                                                                       \
    static PyObject *stream_##name(PyObject *self, PyObject *const *args, Py_ssize_t nargs,        \
                                   PyObject *kwnames)                                              \
    {                                                                                              \
        return stream_forward(self, #name, args, nargs, kwnames);                                  \
    }
STREAM_FORWARD(add_callback)
STREAM_FORWARD(async_done)
STREAM_FORWARD(auto_synchronize)
STREAM_FORWARD(use)
STREAM_FORWARD(begin_capture)
STREAM_FORWARD(end_capture)
STREAM_FORWARD(is_capturing)
STREAM_FORWARD(launch_host_func)
STREAM_FORWARD(record)
STREAM_FORWARD(enter)
STREAM_FORWARD(leave)

/* Handles on the same stream are equal. */
static PyObject *
stream_compare(PyObject *x, PyObject *y, int how)
{
    if ((how != Py_EQ && how != Py_NE) || !PyObject_TypeCheck(y, py.stream))
        return Py_NewRef(Py_NotImplemented);
    return PyBool_FromLong((((stream *)x)->s == ((stream *)y)->s) == (how == Py_EQ));
}

static Py_hash_t
stream_hash(PyObject *self)
{
    return (Py_hash_t)((uintptr_t)((stream *)self)->s >> 4);
}

static PyObject *
stream_handle(PyObject *self, void *unused)
{
    (void)unused;
    return stream_forward(self, "handle", NULL, 0, NULL);
}

/* Host memory through the buffer protocol, for a copy between an array and the host. */
static bool
host_memory(PyObject *o, bool write, Py_buffer *b)
{
    return PyObject_GetBuffer(o, b, PyBUF_C_CONTIGUOUS | (write ? PyBUF_WRITABLE : 0)) == 0;
}

static PyObject *
copy_on(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    Py_buffer host;
    const td_array *a;
    bool in, later = false;
    td_stream *s;
    td_status st;

    (void)module;
    if (nargs != 3 || !(py_is_array(args[0]) || py_is_array(args[1]))) {
        PyErr_SetString(PyExc_TypeError, "copyto: on a stream one side is a treadle array");
        return NULL;
    }
    in = py_is_array(args[0]);
    a = py_array_of(args[in ? 0 : 1]);
    if (!py_stream(args[2], td_array_dev(a), &s) || (in && !py_writable((py_ndarray *)args[0])))
        return NULL;
    if (in && py_is_array(args[1]))
        return py_ok(td_array_move(a, py_array_of(args[1]), s)) ? Py_NewRef(Py_None) : NULL;
    if (!host_memory(args[in ? 1 : 0], !in, &host))
        return NULL;
    st = in ? td_array_load(a, s, host.buf, (size_t)host.len, &later)
            : td_array_store(a, s, host.buf, (size_t)host.len, &later);
    if (!later || !py_lend(&host, s)) {
        if (later) /* the copy still runs: nobody else keeps the memory */
            st = td_stream_sync(s);
        PyBuffer_Release(&host);
    }
    return py_ok(st) ? Py_NewRef(Py_None) : NULL;
}

PyMethodDef py_stream_functions[] = {
    {"_copy_on", PY_FAST(copy_on), METH_FASTCALL,
     "_copy_on(dst, src, stream): for copyto; same shape, same dtype."},
    {"_stream_of", make_stream, METH_VARARGS,
     "_stream_of(device, stream): the Stream that a stream= argument means there."},
    {NULL, NULL, 0, NULL},
};

static PyMethodDef stream_methods[] = {
    {"synchronize", stream_sync, METH_NOARGS,
     "synchronize($self, /)\n--\n\n"
     "Wait for the stream's work.\n\n"
     "Raises\n"
     "------\n"
     "DeviceError\n"
     "    Work of the stream failed.\n\n"
     "Examples\n"
     "--------\n"
     ">>> np.Stream(\"cpu\").synchronize()"},
    {"wait_event", stream_wait, METH_O,
     "wait_event($self, event, /)\n--\n\n"
     "Let work that is given to the stream later wait for an event.\n\n"
     "Parameters\n"
     "----------\n"
     "event : Event\n"
     "    The event.\n\n"
     "Raises\n"
     "------\n"
     "TypeError\n"
     "    It is no Event.\n\n"
     "Examples\n"
     "--------\n"
     ">>> np.Stream(\"cpu\").wait_event(np.Event(\"cpu\"))"},
    {"add_callback", PY_FAST(stream_add_callback), METH_FASTCALL | METH_KEYWORDS,
     "add_callback($self, /, callback, arg=None)\n--\n\n"
     "Call a function on a thread of its own once the stream's work so far is done.\n\n"
     "Calls of one stream come in order; later work does not wait for them.\n\n"
     "Parameters\n"
     "----------\n"
     "callback : callable\n"
     "    callback(stream, status, arg); status 0 means that all went well.\n"
     "arg : object, optional\n"
     "    Passed on.\n\n"
     "Examples\n"
     "--------\n"
     ">>> stream = np.Stream(\"cpu\")\n"
     ">>> stream.add_callback(lambda stream, status, arg: None)"},
    {"async_done", PY_FAST(stream_async_done), METH_FASTCALL | METH_KEYWORDS,
     "async_done($self, /)\n--\n\n"
     "An awaitable that is done when the stream's work so far is.\n\n"
     "Returns\n"
     "-------\n"
     "asyncio.Future\n"
     "    Of the running event loop.\n\n"
     "Raises\n"
     "------\n"
     "RuntimeError\n"
     "    No event loop is running.\n\n"
     "Examples\n"
     "--------\n"
     ">>> callable(np.Stream.async_done)\n"
     "True"},
    {"auto_synchronize", PY_FAST(stream_auto_synchronize), METH_FASTCALL | METH_KEYWORDS,
     "auto_synchronize($self, /)\n--\n\n"
     "A context manager at whose end the stream is waited for.\n\n"
     "Returns\n"
     "-------\n"
     "context manager\n"
     "    Its value is the stream.\n\n"
     "Examples\n"
     "--------\n"
     ">>> with np.Stream(\"cpu\").auto_synchronize():\n"
     "...     x = np.ones(3) + 1"},
    {"use", PY_FAST(stream_use), METH_FASTCALL | METH_KEYWORDS,
     "use($self, /)\n--\n\n"
     "Make the stream the thread's current one from now on; ``with stream:`` does it for a "
     "block.\n\n"
     "Returns\n"
     "-------\n"
     "Stream\n"
     "    The stream itself.\n\n"
     "Examples\n"
     "--------\n"
     ">>> callable(np.Stream.use)\n"
     "True"},
    {"__enter__", PY_FAST(stream_enter), METH_FASTCALL | METH_KEYWORDS, NULL},
    {"__exit__", PY_FAST(stream_leave), METH_FASTCALL | METH_KEYWORDS, NULL},
    {"record", PY_FAST(stream_record), METH_FASTCALL | METH_KEYWORDS,
     "record($self, /, event=None)\n--\n\n"
     "Mark the stream's work so far.\n\n"
     "Parameters\n"
     "----------\n"
     "event : Event, optional\n"
     "    The event; None makes a new one.\n\n"
     "Returns\n"
     "-------\n"
     "Event\n"
     "    The event.\n\n"
     "Examples\n"
     "--------\n"
     ">>> np.Stream(\"cpu\").record().done\n"
     "True"},
    {"launch_host_func", PY_FAST(stream_launch_host_func), METH_FASTCALL | METH_KEYWORDS,
     "launch_host_func($self, /, callback, arg=None)\n--\n\n"
     "Call a function of one argument once the stream's work so far is done, as add_callback "
     "does.\n\n"
     "Parameters\n"
     "----------\n"
     "callback : callable\n"
     "    callback(arg).\n"
     "arg : object, optional\n"
     "    Passed on.\n\n"
     "Examples\n"
     "--------\n"
     ">>> np.Stream(\"cpu\").launch_host_func(lambda arg: None)"},
    {"begin_capture", PY_FAST(stream_begin_capture), METH_FASTCALL | METH_KEYWORDS,
     "begin_capture($self, /, mode=None)\n--\n\n"
     "Record the thread's work from now on, in place of doing it.\n\n"
     "Parameters\n"
     "----------\n"
     "mode : int, optional\n"
     "    Accepted for CuPy's signature.\n\n"
     "Examples\n"
     "--------\n"
     ">>> callable(np.Stream.begin_capture)\n"
     "True"},
    {"end_capture", PY_FAST(stream_end_capture), METH_FASTCALL | METH_KEYWORDS,
     "end_capture($self, /)\n--\n\n"
     "End begin_capture.\n\n"
     "Returns\n"
     "-------\n"
     "treadle.cuda.Graph\n"
     "    What was recorded.\n\n"
     "Examples\n"
     "--------\n"
     ">>> callable(np.Stream.end_capture)\n"
     "True"},
    {"is_capturing", PY_FAST(stream_is_capturing), METH_FASTCALL | METH_KEYWORDS,
     "is_capturing($self, /)\n--\n\n"
     "Whether the thread records the stream's work.\n\n"
     "Returns\n"
     "-------\n"
     "bool\n"
     "    True between begin_capture and end_capture.\n\n"
     "Examples\n"
     "--------\n"
     ">>> np.Stream(\"cpu\").is_capturing()\n"
     "False"},
    {"__cuda_stream__", stream_protocol, METH_NOARGS,
     "__cuda_stream__(): (0, handle), the protocol of CUDA's Python libraries."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef stream_getset[] = {
    {"ptr", stream_ptr, NULL, "The CUstream as an int; 0 for the default stream and on the CPU.",
     NULL},
    {"handle", stream_handle, NULL, "The CUstream as a ctypes.c_void_p.", NULL},
    {"device", stream_device, NULL, "The device whose work it orders.", NULL},
    {"done", stream_done, NULL, "Has the stream's work so far passed?", NULL},
    {"external", stream_external, NULL, "Was it made elsewhere? True of default streams too.",
     NULL},
    {"is_non_blocking", stream_apart, NULL, "Was it made with non_blocking?", NULL},
    {"priority", stream_priority, NULL, "The number it was made with, 0 for others.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot stream_slots[] = {
    PY_SLOT(Py_am_await, stream_await),
    {Py_tp_doc, "Stream(device=None, null=False, non_blocking=False, priority=None, "
                "ptds=False)\n--\n\n"
                "A queue of work on a device: what is given to it runs in order.\n\n"
                "``with stream:`` makes it the thread's current stream. A stream lives until\n"
                "its last reference has gone and the work given to it is done.\n\n"
                "Parameters\n"
                "----------\n"
                "device : device or str, optional\n"
                "    The device; None means the thread's default.\n"
                "null : bool, default False\n"
                "    The device's default stream.\n"
                "non_blocking : bool, default False\n"
                "    Do not wait for the default stream.\n"
                "priority : int, optional\n"
                "    A lower number comes first.\n"
                "ptds : bool, default False\n"
                "    The calling thread's default stream.\n\n"
                "Examples\n"
                "--------\n"
                ">>> np.Stream(\"cpu\").done\n"
                "True"},
    PY_SLOT(Py_tp_new, pystream_new),
    PY_SLOT(Py_tp_dealloc, stream_dealloc),
    PY_SLOT(Py_nb_int, stream_int),
    PY_SLOT(Py_nb_bool, stream_true),
    PY_SLOT(Py_tp_richcompare, stream_compare),
    PY_SLOT(Py_tp_hash, stream_hash),
    {Py_tp_methods, stream_methods},
    {Py_tp_getset, stream_getset},
    {0, NULL},
};

static PyType_Spec stream_spec = {
    .name = "treadle.Stream",
    .basicsize = sizeof(stream),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .slots = stream_slots,
};
bool
py_stream_init(PyObject *m)
{
    return py_add_type(m, "Stream", &stream_spec, &py.stream);
}
