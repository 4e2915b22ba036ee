/* foreign.c - memory of other libraries: makes arrays of it, and releases its owners.
 *
 * An owner's last buffer may be freed on any thread, without the GIL.  So the owner is queued,
 * and released at a later call from Python.  On a GPU it also waits until our work on its memory
 * has passed.
 */
#include "python/common/py.h"

#include "dev/pool/share.h"

#include <stdlib.h>

/* ---- owners ---- */

static _Atomic(py_owner *) dead; /* owners whose last buffer is gone */
/* guarded by the GIL: owners with an event recorded after our work on their memory */
static py_owner *waiting;

void
py_owner_end(py_owner *o)
{
    PyObject *type, *value, *trace;

    PyErr_Fetch(&type, &value, &trace); /* foreign code must not see our pending exception */
    o->end(o);
    PyErr_Restore(type, value, trace);
}

void
py_owner_retire(void *owner)
{
    py_owner *o = owner;

    o->next = atomic_load(&dead);
    while (!atomic_compare_exchange_weak(&dead, &o->next, o))
        ;
}

/* May the device still use o's memory?  If so, records an event after that work. */
static bool
foreign_mark(py_owner *o)
{
    bool done;

    if (!td_dev_info(o->dev)->queued || td_event_new(o->dev, false, &o->done))
        return false;
    if (td_event_record(o->done, td_dev_stream(o->dev)) || td_event_done(o->done, &done) || done) {
        td_event_free(o->done);
        o->done = NULL;
    }
    return o->done != NULL;
}

static void
push_owner(py_owner **list, py_owner *o)
{
    o->next = *list;
    *list = o;
}

/* Moves owners whose event has passed to `gone`. */
static void
poll_waiting(py_owner **gone)
{
    py_owner *list = waiting;

    waiting = NULL;
    for (py_owner *o; (o = list);) {
        bool done = true;

        list = o->next;
        if (td_event_done(o->done, &done)) /* after a failure the device does no more work */
            done = true;
        if (done)
            td_event_free(o->done);
        push_owner(done ? gone : &waiting, o);
    }
}

void
py_owners_release(void)
{
    py_owner *list, *gone = NULL;

    td_share_poll();
    if (!atomic_load_explicit(&dead, memory_order_relaxed) && !waiting)
        return;
    poll_waiting(&gone);
    list = atomic_exchange(&dead, NULL);
    for (py_owner *o; (o = list);) {
        list = o->next;
        push_owner(foreign_mark(o) ? &waiting : &gone, o);
    }
    for (py_owner *o; (o = gone);) { /* runs foreign code, which may call back into this function */
        gone = o->next;
        py_owner_end(o);
    }
}

/* Do the elements' byte offsets fit into an address?  A stride of -1 is allowed. */
static bool
reaches(const td_view *v, int64_t size)
{
    const int64_t most = INT64_MAX / 4;
    int64_t sum = 0, step;

    for (int i = 0; i < v->shape.ndim && td_shape_size(&v->shape); i++) {
        if (__builtin_mul_overflow(v->stride[i], v->shape.dim[i] - 1, &step) ||
            __builtin_mul_overflow(step, size, &step) || step > most || step < -most ||
            __builtin_add_overflow(sum, step < 0 ? -step : step, &sum) || sum > most) {
            PyErr_Format(PyExc_BufferError,
                         "memory whose axis %d has %lld elements with a stride of %lld leaves the "
                         "memory that there can be",
                         i, (long long)v->shape.dim[i], (long long)v->stride[i]);
            return false;
        }
    }
    return true;
}

bool
py_adopt(td_dev *d, const void *at, td_dtype dt, const td_view *v, bool readonly, py_owner *o,
         td_array *out)
{
    size_t size = td_dtype_size(dt), align = td_dtype_is_complex(dt) ? size / 2 : size;
    td_view own = *v;
    int64_t first, last;
    uintptr_t lo;
    td_buf *buf;
    bool ok;

    own.offset = 0;
    td_view_extent(&own, &first, &last);
    o->dev = d;
    if (!reaches(v, (int64_t)size)) {
        py_owner_end(o);
        return false;
    }
    own.offset = -first;
    lo = (uintptr_t)at + (uintptr_t)(first * (int64_t)size);
    ok = lo % align == 0;
    if (!ok)
        PyErr_Format(PyExc_ValueError,
                     "the memory at %p is not aligned to elements of %s: copy it before", at,
                     td_dtype_name(dt));
    ok = ok && py_ok(td_buf_wrap(d, (void *)lo, (size_t)(last - first) * size, py_owner_retire, o,
                                 &buf)); // NOLINT(performance-no-int-to-ptr)
    if (!ok) {
        py_owner_end(o);
        return false;
    }
    ok = py_ok(td_array_wrap(buf, dt, &own, readonly, out));
    td_buf_unref(buf);
    return ok;
}

/* ---- the buffer protocol ---- */

typedef struct lender {
    py_owner head;
    Py_buffer view;
} lender;

static void
end_buffer(py_owner *o)
{
    PyBuffer_Release(&((lender *)o)->view);
    free(o);
}

bool
py_buffer_shape(const Py_buffer *b, td_dtype *dt, td_shape *s)
{
    s->ndim = b->ndim;
    if (b->ndim > TD_MAXDIM || !py_format_dtype(b->format, b->itemsize, dt))
        return false;
    for (int i = 0; i < b->ndim; i++)
        s->dim[i] = b->shape[i];
    return true;
}

/* Converts strides in bytes to strides in elements; false: they are not multiples of the
 * element size. */
static bool
element_strides(td_view *v, const int64_t *bytes, size_t size)
{
    v->offset = 0;
    for (int i = 0; i < v->shape.ndim; i++) {
        if (bytes[i] % (int64_t)size)
            return false;
        v->stride[i] = bytes[i] / (int64_t)size;
    }
    return true;
}

int
py_share_buffer(PyObject *obj, td_array *out)
{
    lender *o = calloc(1, sizeof *o);
    int64_t bytes[TD_MAXDIM];
    td_dtype dt;
    td_dev *cpu;
    td_view v;
    int r = -1;

    if (!o)
        return PyErr_NoMemory(), -1;
    if (PyObject_GetBuffer(obj, &o->view, PyBUF_RECORDS_RO) < 0) {
        free(o);
        return -1;
    }
    o->head.end = end_buffer;
    if (py_buffer_shape(&o->view, &dt, &v.shape)) {
        for (int i = 0; i < o->view.ndim; i++)
            bytes[i] = o->view.strides[i];
        if (element_strides(&v, bytes, td_dtype_size(dt)) && py_ok(td_dev_get("cpu", &cpu)))
            return py_adopt(cpu, o->view.buf, dt, &v, o->view.readonly, &o->head, out) ? 1 : -1;
    }
    if (!PyErr_Occurred())
        r = 0;
    end_buffer(&o->head);
    return r;
}

bool
py_lend(Py_buffer *b, td_stream *s)
{
    lender *o = calloc(1, sizeof *o);
    td_dev *d = td_stream_dev(s);

    if (o && td_event_new(d, false, &o->head.done) == TD_OK &&
        td_event_record(o->head.done, s) == TD_OK) {
        o->head.end = end_buffer;
        o->head.dev = d;
        o->view = *b;
        push_owner(&waiting, &o->head);
        return true;
    }
    if (o)
        td_event_free(o->head.done);
    free(o);
    return false;
}

/* ---- objects that own device memory ---- */

typedef struct keeper {
    py_owner head;
    PyObject *obj;
} keeper;

static void
end_object(py_owner *o)
{
    PyObject *obj = ((keeper *)o)->obj;

    free(o);
    Py_DECREF(obj);
}

bool
py_adopt_of(PyObject *obj, td_dev *d, const void *at, td_dtype dt, const td_view *v, bool readonly,
            td_array *out)
{
    keeper *o = calloc(1, sizeof *o);

    if (!o)
        return PyErr_NoMemory(), false;
    o->head.end = end_object;
    o->obj = Py_NewRef(obj);
    return py_adopt(d, at, dt, v, readonly, &o->head, out);
}

/* ---- __cuda_array_interface__ ---- */

static bool
bad_interface(const char *what)
{
    PyErr_Format(PyExc_ValueError, "__cuda_array_interface__: %s", what);
    return false;
}

static bool
interface_dtype(PyObject *d, td_dtype *dt)
{
    PyObject *typestr = PyDict_GetItemString(d, "typestr"), *text;
    bool ok = typestr && PyUnicode_Check(typestr);

    if (!ok)
        return bad_interface("typestr is missing");
    text = PyUnicode_AsUTF8String(typestr);
    ok = text && td_dtype_parse(PyBytes_AsString(text), dt) == TD_OK;
    Py_XDECREF(text);
    if (!ok && !PyErr_Occurred())
        PyErr_Format(PyExc_TypeError, "__cuda_array_interface__: elements of type %R", typestr);
    return ok;
}

static bool
interface_view(PyObject *d, td_dtype dt, td_view *v)
{
    PyObject *shape = PyDict_GetItemString(d, "shape"),
             *strides = PyDict_GetItemString(d, "strides"), *mask = PyDict_GetItemString(d, "mask");
    td_shape s, bytes;

    if (!shape)
        return bad_interface("shape is missing");
    if (!py_is_none(mask))
        return bad_interface("masked arrays are not supported");
    if (!py_shape(shape, &s) || !py_ok(td_shape_make(s.ndim, s.dim, &s)))
        return false;
    *v = td_view_contiguous(&s);
    if (py_is_none(strides))
        return true;
    if (!py_shape(strides, &bytes))
        return false;
    if (bytes.ndim != s.ndim)
        return bad_interface("shape and strides differ in length");
    return element_strides(v, bytes.dim, td_dtype_size(dt)) ||
           bad_interface("strides are not whole elements");
}

static bool
interface_memory(PyObject *d, const td_view *v, td_dev **dev, void **at, bool *readonly)
{
    PyObject *data = PyDict_GetItemString(d, "data");
    int flag;

    if (!data || !PyTuple_Check(data) || PyTuple_Size(data) != 2)
        return bad_interface("data is not a tuple (address, read-only)");
    *at = PyLong_AsVoidPtr(PyTuple_GetItem(data, 0));
    flag = PyErr_Occurred() ? -1 : PyObject_IsTrue(PyTuple_GetItem(data, 1));
    if (flag < 0)
        return false;
    *readonly = flag;
    return py_ok(td_shape_size(&v->shape) ? td_dev_of((uintptr_t)*at, dev) : td_dev_default(dev));
}

/* Makes our stream wait for the producer's. */
static bool
interface_stream(PyObject *d, td_dev *dev)
{
    PyObject *stream = PyDict_GetItemString(d, "stream");
    void *handle;

    if (py_is_none(stream))
        return true;
    handle = PyLong_AsVoidPtr(stream);
    if (!handle)
        return PyErr_Occurred() ? false : bad_interface("stream 0 is ambiguous: 1 or 2 is meant");
    return py_ok(td_stream_order(dev, handle, td_stream_handle(td_dev_stream(dev))));
}

static bool
share_interface(PyObject *obj, PyObject *d, td_array *out)
{
    bool readonly;
    td_dtype dt;
    td_dev *dev;
    td_view v;
    void *at;

    if (!PyDict_Check(d))
        return bad_interface("it is not a dict");
    if (!interface_dtype(d, &dt) || !interface_view(d, dt, &v) ||
        !interface_memory(d, &v, &dev, &at, &readonly) || !interface_stream(d, dev))
        return false;
    return py_adopt_of(obj, dev, at, dt, &v, readonly, out);
}

/* ---- any protocol ---- */

PyObject *
py_attr(PyObject *o, const char *name)
{
    PyObject *attr = PyObject_GetAttrString(o, name);

    if (!attr && PyErr_ExceptionMatches(PyExc_AttributeError))
        PyErr_Clear();
    return attr;
}

int
py_share_foreign(PyObject *o, td_array *out)
{
    PyObject *d;
    int r = 0;

    if (PyType_Check(o))
        return 0;
    d = py_attr(o, "__dlpack__");
    if (d) {
        Py_DECREF(d);
        r = py_share_dlpack(o, NULL, out);
    }
    if (r || PyErr_Occurred())
        return r ? r : -1;
    d = py_attr(o, "__cuda_array_interface__");
    if (!d)
        return PyErr_Occurred() ? -1 : 0;
    r = share_interface(o, d, out) ? 1 : -1;
    Py_DECREF(d);
    return r;
}

/* ---- memory that a program knows by its address ---- */

static PyObject *
at_address(PyObject *module, PyObject *args)
{
    PyObject *owner, *where, *shape, *name, *strides = NULL, *device = NULL;
    td_shape s, bytes;
    td_array a;
    td_dtype dt;
    td_dev *dev;
    td_view v;
    void *at;

    (void)module;
    if (!PyArg_ParseTuple(args, "OOOO|OO:_at", &owner, &where, &shape, &name, &strides, &device) ||
        !py_shape(shape, &s) || !py_ok(td_shape_make(s.ndim, s.dim, &s)) || !py_dtype(name, &dt) ||
        !py_device(device, &dev))
        return NULL;
    at = PyLong_AsVoidPtr(where);
    if (PyErr_Occurred())
        return NULL;
    v = td_view_contiguous(&s);
    if (!py_is_none(strides)) {
        if (!py_shape(strides, &bytes))
            return NULL;
        if (bytes.ndim != s.ndim || !element_strides(&v, bytes.dim, td_dtype_size(dt))) {
            PyErr_Format(PyExc_ValueError,
                         "strides %R do not count whole elements of %s along %d axes", strides,
                         td_dtype_name(dt), s.ndim);
            return NULL;
        }
    }
    return py_adopt_of(owner, dev, at, dt, &v, false, &a) ? py_wrap(&a) : NULL;
}

PyMethodDef py_foreign_functions[] = {
    {"_at", at_address, METH_VARARGS,
     "_at(owner, address, shape, dtype, strides=None, device=None): an array of the memory at "
     "address, "
     "strides in bytes; keeps owner, and is never lazy."},
    {NULL, NULL, 0, NULL},
};
