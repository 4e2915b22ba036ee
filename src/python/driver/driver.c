/* driver.c - treadle._core.Allocation, and treadle.pycuda.driver's operations on addresses.
 *
 * The calling thread's device is td_dev_current's; after a program has popped its last context
 * all of this fails.  An address is an Allocation, an int, or an object that has one.  The memory
 * is looked up before it is used.
 */
#include "python/driver/driver.h"

#include "dev/pool/share.h"

#include <string.h>

typedef struct allocation {
    PyObject_HEAD td_buf *buf; /* NULL: freed */
} allocation;

/* ---- arguments ---- */

bool
py_raw_dev(td_dev **out)
{
    return py_ok(td_dev_current(out));
}

bool
py_raw_stream(PyObject *o, td_dev *d, td_stream **out)
{
    td_dev *now;

    return py_raw_dev(&now) && py_stream(o, d, out);
}

bool
py_is_allocation(PyObject *o)
{
    return PyObject_TypeCheck(o, py.allocation);
}

td_buf *
py_allocation_buf(PyObject *o)
{
    return ((allocation *)o)->buf;
}

static bool
of_allocation(PyObject *o, const char *call, py_address *out)
{
    const td_buf *b = ((allocation *)o)->buf;

    *out = (py_address){0};
    if (!b) {
        py_raise(td_raw_refuse(1, call, "the memory was freed"));
        return false;
    }
    *out = (py_address){b->ptr, b->dev, b->nbytes};
    return true;
}

/* The address of an object that has one, as an int, under one of several names. */
static PyObject *
address_number(PyObject *o)
{
    static const char *const names[] = {"gpudata", "get_pointer", "_address", NULL};
    PyObject *x = NULL, *r;

    if (PyIndex_Check(o) && !py_is_array(o)) /* for an array, its memory is meant, not its value */
        return PyNumber_Index(o);
    for (int i = 0; names[i] && !x && !PyErr_Occurred(); i++)
        x = py_attr(o, names[i]);
    if (!x) {
        if (!PyErr_Occurred())
            PyErr_Format(PyExc_TypeError,
                         "%R is no device address: a DeviceAllocation, an int, or an object with "
                         "gpudata or get_pointer() is one",
                         (PyObject *)Py_TYPE(o));
        return NULL;
    }
    r = PyCallable_Check(x) ? PyObject_CallFunction(x, NULL) : Py_NewRef(x);
    Py_DECREF(x);
    return r;
}

bool
py_raw_address(PyObject *o, const char *call, py_address *out)
{
    PyObject *n;
    bool ok;

    if (py_is_allocation(o))
        return of_allocation(o, call, out);
    *out = (py_address){0};
    if (!py_raw_dev(&out->dev))
        return false;
    n = address_number(o);
    if (!n)
        return false;
    if (PyLong_Check(n)) {
        out->at = (uintptr_t)PyLong_AsVoidPtr(n);
        ok = !PyErr_Occurred();
    } else {
        ok = py_raw_address(n, call, out);
    }
    Py_DECREF(n);
    return ok;
}

/* LogicError: the range is not all there. */
static bool
in_range(const py_address *a, size_t nbytes, const char *call)
{
    return nbytes <= a->known || py_ok(td_raw_check(a->dev, a->at, nbytes, call));
}

/* Checks that a count is not negative. */
bool
py_raw_size(Py_ssize_t n, const char *call)
{
    return n >= 0 || py_ok(td_raw_refuse(1, call, "a negative size"));
}

/* ---- DeviceAllocation ---- */

PyObject *
py_raw_wrap(PyTypeObject *type, td_buf *b)
{
    allocation *r = py_allocate(type);

    if (r)
        r->buf = b;
    else
        td_buf_unref(b);
    return (PyObject *)r;
}

static PyObject *
allocation_new(PyTypeObject *type, PyObject *args, PyObject *kw)
{
    static char *names[] = {"nbytes", NULL};
    Py_ssize_t nbytes;
    td_buf *b;
    td_dev *d;

    if (!PyArg_ParseTupleAndKeywords(args, kw, "n:mem_alloc", names, &nbytes) ||
        !py_raw_size(nbytes, "cuMemAlloc") || !py_raw_dev(&d))
        return NULL;
    py_owners_release();
    return py_ok(td_raw_new(d, (size_t)nbytes, &b)) ? py_raw_wrap(type, b) : NULL;
}

static void
allocation_dealloc(PyObject *self)
{
    td_buf_unref(((allocation *)self)->buf);
    py_free(self);
}

static PyObject *
allocation_free(PyObject *self, PyObject *unused)
{
    allocation *a = (allocation *)self;

    (void)unused;
    if (!a->buf)
        return py_raise(td_raw_refuse(1, "cuMemFree", "the memory was freed before"));
    td_buf_unref(a->buf);
    a->buf = NULL;
    return Py_NewRef(Py_None);
}

static PyObject *
allocation_int(PyObject *self)
{
    py_address a;

    return of_allocation(self, "address of a DeviceAllocation", &a) ? PyLong_FromSize_t(a.at)
                                                                    : NULL;
}

/* Memory that the host can access, as bytes: the CPU's, and the null device's, which the host
 * plays. */
static PyObject *
allocation_view(const py_address *a, Py_ssize_t size, Py_ssize_t offset)
{
    char call[64];

    PyOS_snprintf(call, sizeof call, "as_buffer(%zd, %zd)", size, offset);
    if (!py_raw_size(size, call) || !py_raw_size(offset, call) ||
        !in_range(a, (size_t)size + (size_t)offset, call))
        return NULL;
    if (td_dev_info(a->dev)->kind == TD_DEV_CUDA)
        return PyErr_Format(PyExc_TypeError,
                            "as_buffer: the host cannot read memory of %s; use managed_empty",
                            td_dev_info(a->dev)->name);
    return PyMemoryView_FromMemory((char *)a->at + offset, size, PyBUF_WRITE); // NOLINT
}

static PyObject *
driver_view(PyObject *module, PyObject *args)
{
    PyObject *address;
    Py_ssize_t size;
    py_address a;

    (void)module;
    return PyArg_ParseTuple(args, "On:_raw_view", &address, &size) &&
                   py_raw_address(address, "as_buffer", &a)
               ? allocation_view(&a, size, 0)
               : NULL;
}

static PyObject *
allocation_buffer(PyObject *self, PyObject *args, PyObject *kw)
{
    static char *names[] = {"size", "offset", NULL};
    Py_ssize_t size, offset = 0;
    py_address a;

    if (!PyArg_ParseTupleAndKeywords(args, kw, "n|n:as_buffer", names, &size, &offset) ||
        !of_allocation(self, "as_buffer", &a))
        return NULL;
    return allocation_view(&a, size, offset);
}

/* The bytes by which another process opens the memory. */
static PyObject *
allocation_send(PyObject *self, PyObject *unused)
{
    td_buf *b = ((allocation *)self)->buf;
    PyThreadState *gil;
    td_status st;
    td_handle h;

    (void)unused;
    if (!b || !td_share_can(b))
        return py_raise(td_raw_refuse(b ? 801 : 1, "cuIpcGetMemHandle",
                                      b ? "this memory cannot be opened by other processes"
                                        : "the memory was freed"));
    gil = PyEval_SaveThread();
    st = td_share_send(b, &h);
    PyEval_RestoreThread(gil);
    return py_ok(st) ? PyBytes_FromStringAndSize((const char *)&h, sizeof h) : NULL;
}

static PyObject *
allocation_get(PyObject *self, void *field)
{
    py_address a;

    if (!of_allocation(self, "a DeviceAllocation", &a))
        return NULL;
    return *(const char *)field == 'n' ? PyLong_FromSize_t(a.known) : py_device_object(a.dev);
}

/* ---- copies ---- */

/* A buffer of the caller's.  It must be contiguous, and writable if it is written; the
 * exceptions say which. */
static bool
host_buffer(PyObject *o, bool write, Py_buffer *b)
{
    return PyObject_GetBuffer(o, b, PyBUF_ANY_CONTIGUOUS | (write ? PyBUF_WRITABLE : 0)) == 0;
}

/* out, address, host, stream, wait */
static PyObject *
driver_copy_host(PyObject *module, PyObject *args)
{
    PyObject *address, *host, *where;
    bool later = false;
    char call[96];
    PyThreadState *gil;
    py_address a;
    Py_buffer b;
    td_stream *s;
    td_status st;
    int out, wait;

    (void)module;
    if (!PyArg_ParseTuple(args, "pOOOp:_raw_copy_host", &out, &address, &host, &where, &wait) ||
        !py_raw_address(address, out ? "cuMemcpyDtoH" : "cuMemcpyHtoD", &a) ||
        !py_raw_stream(where, a.dev, &s) || !host_buffer(host, out, &b))
        return NULL;
    PyOS_snprintf(call, sizeof call, "%s(%p, %zd bytes)", out ? "cuMemcpyDtoH" : "cuMemcpyHtoD",
                  (void *)a.at, b.len); // NOLINT(performance-no-int-to-ptr)
    if (!in_range(&a, (size_t)b.len, call)) {
        PyBuffer_Release(&b);
        return NULL;
    }
    gil = PyEval_SaveThread();
    if (!wait)
        st = td_copy_later(s, out, b.buf, a.at, (size_t)b.len, &later);
    else
        st = out ? td_copy_out(s, b.buf, a.at, (size_t)b.len)
                 : td_copy_in(s, a.at, b.buf, (size_t)b.len);
    st = td_raw_said(st, "%s", call);
    PyEval_RestoreThread(gil);
    if (!later || !py_lend(&b, s)) {
        if (later) /* the copy still runs: nobody else keeps the memory */
            st = td_stream_sync(s);
        PyBuffer_Release(&b);
    }
    return py_ok(st) ? Py_NewRef(Py_None) : NULL;
}

PyObject *
py_raw_move(const py_address *dst, const py_address *src, size_t nbytes, td_stream *s, bool wait)
{
    PyThreadState *gil = PyEval_SaveThread();
    td_status st = td_raw_peer(s, dst->dev, dst->at, src->dev, src->at, nbytes);

    if (!st && wait)
        st = td_stream_sync(s);
    PyEval_RestoreThread(gil);
    return py_ok(st) ? Py_NewRef(Py_None) : NULL;
}

/* dst, src, nbytes, stream, wait */
static PyObject *
copy_device(PyObject *module, PyObject *args)
{
    PyObject *to, *from, *where;
    py_address dst, src;
    char call[128];
    Py_ssize_t n;
    td_stream *s;
    int wait;

    (void)module;
    if (!PyArg_ParseTuple(args, "OOnOp:_raw_copy", &to, &from, &n, &where, &wait) ||
        !py_raw_size(n, "cuMemcpyDtoD") || !py_raw_address(to, "cuMemcpyDtoD", &dst) ||
        !py_raw_address(from, "cuMemcpyDtoD", &src) || !py_raw_stream(where, dst.dev, &s))
        return NULL;
    PyOS_snprintf(call, sizeof call, "cuMemcpyDtoD(%p, %p, %zd bytes)", (void *)dst.at, // NOLINT
                  (void *)src.at, n);                                                   // NOLINT
    if (!in_range(&dst, (size_t)n, call) || !in_range(&src, (size_t)n, call))
        return NULL;
    if (dst.at < src.at + (size_t)n && src.at < dst.at + (size_t)n && n)
        return py_raise(td_raw_refuse(1, call, "source and destination overlap"));
    return py_raw_move(&dst, &src, (size_t)n, s, wait);
}

/* dst, pitch, bytes of an element, value, width, height, stream, wait */
static PyObject *
driver_fill(PyObject *module, PyObject *args)
{
    PyObject *address, *where;
    Py_ssize_t pitch, width, height;
    unsigned long long value;
    PyThreadState *gil;
    py_address dst;
    int size, wait;
    td_stream *s;
    td_status st;

    (void)module;
    if (!PyArg_ParseTuple(args, "OniKnnOp:_raw_fill", &address, &pitch, &size, &value, &width,
                          &height, &where, &wait) ||
        !py_raw_size(pitch, "cuMemset") || !py_raw_size(width, "cuMemset") ||
        !py_raw_size(height, "cuMemset") || !py_raw_address(address, "cuMemset", &dst) ||
        !py_raw_stream(where, dst.dev, &s))
        return NULL;
    gil = PyEval_SaveThread();
    st =
        td_raw_fill(s, dst.at, (size_t)pitch, size, (uint32_t)value, (size_t)width, (size_t)height);
    if (!st && wait)
        st = td_stream_sync(s);
    PyEval_RestoreThread(gil);
    return py_ok(st) ? Py_NewRef(Py_None) : NULL;
}

/* ---- contexts ---- */

static PyObject *
current(PyObject *module, PyObject *unused)
{
    td_dev *d;

    (void)module, (void)unused;
    return py_raw_dev(&d) ? py_device_object(d) : NULL;
}

static PyObject *
driver_leave(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    td_dev_leave();
    return Py_NewRef(Py_None);
}

static PyObject *
driver_choose(PyObject *module, PyObject *where)
{
    td_dev *d = NULL;

    (void)module;
    if (where != Py_None && !py_device(where, &d))
        return NULL;
    td_dev_choose(d);
    return Py_NewRef(Py_None);
}

PyMethodDef py_raw_functions[] = {
    {"_raw_copy_host", driver_copy_host, METH_VARARGS,
     "_raw_copy_host(out, address, host, stream, wait): between the host and the device."},
    {"_raw_copy", copy_device, METH_VARARGS,
     "_raw_copy(dst, src, nbytes, stream, wait): within the device, or between two."},
    {"_raw_fill", driver_fill, METH_VARARGS,
     "_raw_fill(dst, pitch, size, value, width, height, stream, wait): height rows of width "
     "elements of 1, 2 or 4 bytes."},
    {"_raw_view", driver_view, METH_VARARGS,
     "_raw_view(address, nbytes): a memoryview of memory that the host reaches."},
    {"_raw_current", current, METH_NOARGS,
     "_raw_current(): the thread's device; LogicError: it has left its last context."},
    {"_raw_leave", driver_leave, METH_NOARGS,
     "_raw_leave(): the thread has no context until it uses a device again."},
    {"_raw_choose", driver_choose, METH_O,
     "_raw_choose(device): the default of threads that have chosen none; None: TREADLE_DEVICE's."},
    {NULL, NULL, 0, NULL},
};

bool
py_raw_init(PyObject *m)
{
    static PyMethodDef methods[] = {
        {"free", allocation_free, METH_NOARGS,
         "free(): the memory goes back; LogicError: it was freed before."},
        {"as_buffer", PY_FAST(allocation_buffer), METH_VARARGS | METH_KEYWORDS,
         "as_buffer(size, offset=0): a memoryview, where the host reaches the memory; it does not "
         "keep it."},
        {"_send", allocation_send, METH_NOARGS, "_send(): bytes for _raw_receive."},
        {NULL, NULL, 0, NULL},
    };
    static PyGetSetDef getset[] = {
        {"nbytes", allocation_get, NULL, "Bytes, as asked.", "n"},
        {"device", allocation_get, NULL, "The treadle.device that has it.", "d"},
        {NULL, NULL, NULL, NULL, NULL},
    };
    static PyType_Slot slots[] = {
        {Py_tp_doc, "DeviceAllocation(nbytes): memory of the current device; int() of it is its "
                    "address."},
        PY_SLOT(Py_tp_new, allocation_new),
        PY_SLOT(Py_tp_dealloc, allocation_dealloc),
        PY_SLOT(Py_nb_int, allocation_int),
        PY_SLOT(Py_nb_index, allocation_int),
        {Py_tp_methods, methods},
        {Py_tp_getset, getset},
        {0, NULL},
    };
    static PyType_Spec spec = {
        .name = "treadle.pycuda.driver.DeviceAllocation",
        .basicsize = sizeof(allocation),
        .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
        .slots = slots,
    };

    return py_add_type(m, "DeviceAllocation", &spec, &py.allocation) && py_rawset_init(m);
}
