/* source.c - arrays whose elements stay in NumPy's memory or with a reader until they are needed.
 *
 * Threads of the core call a reader, with the GIL.  Its exception is kept (py_keep) until the
 * failure reaches a call from Python.
 */
#include "python/common/py.h"

#include "array/outofcore/chunk.h"

#include <stdlib.h>

typedef struct lender {
    py_owner head;
    Py_buffer view;
} lender;

static void
end_lender(py_owner *o)
{
    PyBuffer_Release(&((lender *)o)->view);
    free(o);
}

/* A reader of boxes; also a writer, borrowed for the time of one call. */
typedef struct reader {
    py_owner head;
    PyObject *read;
    Py_ssize_t item; /* bytes of an element */
} reader;

static void
end_reader(py_owner *o)
{
    Py_DECREF(((reader *)o)->read);
    free(o);
}

/* A reader that calls `read`; NULL, with an exception: out of memory. */
static reader *
new_reader(PyObject *read)
{
    reader *o = calloc(1, sizeof *o);

    if (!o) {
        PyErr_NoMemory();
        return NULL;
    }
    o->head.end = end_reader;
    o->read = Py_NewRef(read);
    return o;
}

static PyObject *
numbers(const int64_t *x, int n)
{
    PyObject *t = PyTuple_New(n);

    for (int i = 0; t && i < n; i++)
        if (PyTuple_SetItem(t, i, PyLong_FromLongLong(x[i])) < 0)
            Py_CLEAR(t);
    return t;
}

/* read(start, step, count, memory) */
static td_status
read_box(void *owner, const td_box *box, void *out)
{
    const reader *o = owner;
    PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *start = numbers(box->start, box->ndim), *step = numbers(box->step, box->ndim),
             *count = numbers(box->count, box->ndim), *memory = NULL, *r = NULL;
    td_status st = TD_OK;
    Py_ssize_t nbytes = o->item;

    for (int i = 0; i < box->ndim; i++)
        nbytes *= (Py_ssize_t)box->count[i];
    if (start && step && count)
        memory = PyMemoryView_FromMemory(out, nbytes, PyBUF_WRITE);
    if (memory)
        r = PyObject_CallFunctionObjArgs(o->read, start, step, count, memory, NULL);
    if (!r)
        st = py_keep();
    Py_XDECREF(start);
    Py_XDECREF(step);
    Py_XDECREF(count);
    Py_XDECREF(memory);
    Py_XDECREF(r);
    PyGILState_Release(gil);
    return st;
}

/* An array over a source made like `like`, owned by o; takes o, also on failure. */
static PyObject *
array_over(const td_source *like, td_dev *d, py_owner *o)
{
    td_source *s;
    py_ndarray *r = NULL;
    td_node *n = NULL;
    td_dev *cpu;
    td_status st = td_dev_get("cpu", &cpu);

    o->dev = cpu; /* the core has finished reading when it releases the owner */
    if (!st)
        st = td_source_new(like, &s);
    if (st) {
        py_owner_end(o);
        return py_raise(st);
    }
    st = td_host_node(d, s, &like->view, &n);
    td_source_unref(s);
    r = st ? NULL : py_new();
    if (!st && !r)
        td_node_unref(n);
    if (st)
        return py_raise(st);
    return r ? py_done(r, td_array_of_node(n, &r->a)) : NULL;
}

/* _from_host(obj, device): an array over the memory of obj's buffer; None: obj has no buffer that the core can read. */
static PyObject *
from_host(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    lender *o;
    td_source like = {.release = py_owner_retire};
    int64_t size;
    td_dev *d;
    bool ours;

    (void)module;
    py_owners_release();
    if (nargs != 2 || !py_device(args[1], &d) || !PyObject_CheckBuffer(args[0]))
        return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
    o = calloc(1, sizeof *o);
    if (!o)
        return PyErr_NoMemory();
    if (PyObject_GetBuffer(args[0], &o->view, PyBUF_RECORDS_RO) < 0) {
        PyErr_Clear();
        free(o);
        return Py_NewRef(Py_None);
    }
    o->head.end = end_lender;
    ours = py_buffer_shape(&o->view, &like.dt, &like.view.shape);
    size = ours ? (int64_t)td_dtype_size(like.dt) : 1;
    for (int i = 0; ours && i < o->view.ndim; i++) {
        ours = o->view.strides[i] % size == 0 || o->view.shape[i] <= 1;
        like.view.stride[i] = o->view.shape[i] > 1 ? o->view.strides[i] / size : 0;
    }
    if (!ours) {
        end_lender(&o->head);
        return Py_NewRef(Py_None);
    }
    like.mem = o->view.buf;
    like.owner = o;
    return array_over(&like, d, &o->head);
}

/* The extents of a reader's or a writer's own chunks; None: it has none. */
static bool
own_chunks(PyObject *t, int ndim, int64_t grain[])
{
    for (int i = 0; i < ndim && t != Py_None; i++) {
        PyObject *n = PyTuple_GetItem(t, i);

        grain[i] = n ? PyLong_AsLongLong(n) : 0;
    }
    return !PyErr_Occurred();
}

/* _from_reader(read, shape, dtype, device, chunks): read(start, step, count, memory) writes a box in C order. */
static PyObject *
from_reader(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    td_source like = {.release = py_owner_retire, .read = read_box};
    td_shape s, checked;
    reader *o;
    td_dev *d;

    (void)module;
    py_owners_release();
    if (nargs != 5 || !py_shape(args[1], &s) || !py_ok(td_shape_make(s.ndim, s.dim, &checked)) ||
        !py_dtype(args[2], &like.dt) || !py_device(args[3], &d) ||
        !own_chunks(args[4], checked.ndim, like.grain))
        return NULL;
    o = new_reader(args[0]);
    if (!o)
        return NULL;
    o->item = (Py_ssize_t)td_dtype_size(like.dt);
    like.view = td_view_contiguous(&checked);
    like.owner = o;
    return array_over(&like, d, &o->head);
}

/* ---- functions of rows ---- */

/* The failure that the pending OutOfMemoryError tells of: the pass tries again with fewer rows. */
static td_status
too_little_memory(void)
{
    PyObject *type, *value, *trace, *text, *bytes;
    td_status st;

    PyErr_Fetch(&type, &value, &trace);
    text = value ? PyObject_Str(value) : NULL;
    bytes = text ? PyUnicode_AsUTF8String(text) : NULL;
    PyErr_Clear();
    st = td_fail(TD_ERR_OOM, "%s", bytes ? PyBytes_AsString(bytes) : "out of memory");
    Py_XDECREF(bytes);
    Py_XDECREF(text);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
    return st;
}

/* f(*rows of the sources) */
static td_status
call_rows(void *owner, const td_array *in, int n, td_array *out)
{
    const reader *o = owner;
    PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *args = PyTuple_New(n), *r = NULL;
    td_status st;

    for (int i = 0; args && i < n; i++) {
        py_ndarray *x = py_new();

        if (x)
            x->a = td_array_ref(&in[i]);
        if (!x || PyTuple_SetItem(args, i, (PyObject *)x) < 0)
            Py_CLEAR(args);
    }
    if (args)
        r = PyObject_Call(o->read, args, NULL);
    if (r && !py_is_array(r))
        PyErr_Format(PyExc_TypeError, "stream: a function of rows gave %R, not treadle.ndarray",
                     (PyObject *)Py_TYPE(r));
    if (r && py_is_array(r))
        *out = td_array_ref(py_array_of(r));
    st = !PyErr_Occurred()                ? TD_OK
         : PyErr_ExceptionMatches(py.oom) ? too_little_memory()
                                          : py_keep();
    Py_XDECREF(args);
    Py_XDECREF(r);
    PyGILState_Release(gil);
    return st;
}

/* The axis of the sources that each axis of the result is; -1: it may not be cut. */
static bool
axes_from(PyObject *t, int ndim, int8_t from[])
{
    for (int i = 0; i < ndim; i++) {
        PyObject *k = PyTuple_Check(t) ? PyTuple_GetItem(t, i) : NULL;

        if (!k)
            return false;
        from[i] = (int8_t)PyLong_AsLong(k);
    }
    return !PyErr_Occurred();
}

/* _by_rows(f, a, from, shape, dtype): a value of that shape and dtype, whose rows f computes from those of a. */
static PyObject *
by_rows(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    td_rowfn like = {.run = call_rows, .release = py_owner_retire}, *e = NULL;
    td_shape s, checked;
    td_dtype dt;
    py_ndarray *r;
    reader *o;
    td_dev *cpu;
    td_status st;

    (void)module;
    py_owners_release();
    if (nargs != 5 || !py_is_array(args[1]) || !py_shape(args[3], &s) ||
        !py_ok(td_shape_make(s.ndim, s.dim, &checked)) || !py_dtype(args[4], &dt) ||
        !axes_from(args[2], checked.ndim, like.from))
        return NULL;
    o = new_reader(args[0]);
    if (!o)
        return NULL;
    like.owner = o;
    st = td_dev_get("cpu", &cpu);
    o->head.dev = cpu; /* the work that the function began holds its own arrays */
    if (!st)
        st = td_rowfn_new(&like, &e);
    if (st) {
        py_owner_end(&o->head);
        return py_raise(st);
    }
    r = py_new();
    if (r)
        r = (py_ndarray *)py_done(r, td_rowfn_record(e, (const td_array *[]){py_array_of(args[1])},
                                                     1, dt, &checked, &r->a));
    td_rowfn_unref(e);
    return (PyObject *)r;
}

/* _streams(a, nbytes): is a on the host, or computed of what is there, and larger than the device may hold, while work on
 * rows of so many bytes fits it?  A sort needs up to ten times its input. */
static PyObject *
streams(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    const td_array *a;
    size_t nbytes;
    td_node *n;
    bool r;

    (void)module;
    if (nargs != 2 || !py_is_array(args[0]) || !td_array_hosted(py_array_of(args[0])))
        return Py_NewRef(Py_False);
    a = py_array_of(args[0]);
    nbytes = PyLong_AsSize_t(args[1]);
    if (PyErr_Occurred() || !py_ok(td_array_node(a, &n)))
        return NULL;
    r = td_node_pending(n) && !td_chunk_fits(n) && nbytes <= td_chunk_room(n->dev) / 8;
    td_node_unref(n);
    return PyBool_FromLong(r);
}

/* _memory_left(device): bytes that can still be held there. */
static PyObject *
memory_left(PyObject *module, PyObject *device)
{
    td_dev *d;

    (void)module;
    return py_device(device, &d) ? PyLong_FromSize_t(td_chunk_room(d)) : NULL;
}

/* ---- streaming ---- */

/* write(start, count, memory) */
static td_status
write_box(void *owner, const td_box *box, const void *in)
{
    const reader *o = owner;
    PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *start = numbers(box->start, box->ndim), *count = numbers(box->count, box->ndim),
             *memory = NULL, *r = NULL;
    td_status st = TD_OK;
    Py_ssize_t nbytes = o->item;

    for (int i = 0; i < box->ndim; i++)
        nbytes *= (Py_ssize_t)box->count[i];
    if (start && count)
        memory = PyMemoryView_FromMemory((char *)(uintptr_t)in, nbytes, PyBUF_READ);
    if (memory)
        r = PyObject_CallFunctionObjArgs(o->read, start, count, memory, NULL);
    if (!r)
        st = py_keep();
    Py_XDECREF(start);
    Py_XDECREF(count);
    Py_XDECREF(memory);
    Py_XDECREF(r);
    PyGILState_Release(gil);
    return st;
}

static bool
stream_args(PyObject *const *args, Py_ssize_t nargs, Py_ssize_t want, int64_t *rows)
{
    if (nargs != want || !py_is_array(args[0])) {
        PyErr_SetString(PyExc_TypeError, "stream: expected treadle.ndarray");
        return false;
    }
    *rows = PyLong_AsLongLong(args[1]);
    return !PyErr_Occurred();
}

/* _stream(a, rows): evaluates a, in chunks of that many rows if it depends on host data; 0: the core chooses. */
static PyObject *
stream(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    int64_t rows;

    (void)module;
    if (!stream_args(args, nargs, 2, &rows) ||
        !py_ok(td_chunk_stream(py_array_of(args[0]), rows)) || !py_warn())
        return NULL;
    return Py_NewRef(args[0]);
}

/* _stream_into(a, rows, out): evaluates into a writable buffer of numbers; None: the buffer is of another kind. */
static PyObject *
stream_into(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    td_sink to = {.mem = NULL};
    td_status st = TD_SKIP;
    int64_t rows, size;
    Py_buffer b;
    bool ours;

    (void)module;
    if (!stream_args(args, nargs, 3, &rows))
        return NULL;
    if (PyObject_GetBuffer(args[2], &b, PyBUF_RECORDS) < 0)
        return NULL;
    ours = py_buffer_shape(&b, &to.dt, &to.view.shape);
    size = ours ? (int64_t)td_dtype_size(to.dt) : 1;
    for (int i = 0; ours && i < b.ndim; i++) {
        ours = b.strides[i] % size == 0;
        to.view.stride[i] = b.strides[i] / size;
    }
    to.mem = b.buf;
    if (ours)
        st = td_chunk_store(py_array_of(args[0]), &to, rows);
    PyBuffer_Release(&b);
    if (st == TD_SKIP)
        return Py_NewRef(Py_None);
    return py_ok(st) && py_warn() ? Py_NewRef(Py_True) : NULL;
}

/* _stream_through(a, rows, write, shape, dtype, chunks): passes the value to write(start, count, memory), box by box in C
 * order. */
static PyObject *
stream_through(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    reader o = {.item = 0};
    td_sink to = {.write = write_box, .owner = &o};
    td_shape s, checked;
    int64_t rows;

    (void)module;
    if (!stream_args(args, nargs, 6, &rows) || !py_shape(args[3], &s) ||
        !py_ok(td_shape_make(s.ndim, s.dim, &checked)) || !py_dtype(args[4], &to.dt) ||
        !own_chunks(args[5], checked.ndim, to.grain))
        return NULL;
    o.read = args[2];
    o.item = (Py_ssize_t)td_dtype_size(to.dt);
    to.view = td_view_contiguous(&checked);
    return py_ok(td_chunk_store(py_array_of(args[0]), &to, rows)) && py_warn() ? Py_NewRef(Py_None)
                                                                               : NULL;
}

PyMethodDef py_source_functions[] = {
    {"_by_rows", PY_FAST(by_rows), METH_FASTCALL, NULL},
    {"_memory_left", memory_left, METH_O, NULL},
    {"_streams", PY_FAST(streams), METH_FASTCALL, NULL},
    {"_stream", PY_FAST(stream), METH_FASTCALL, NULL},
    {"_stream_into", PY_FAST(stream_into), METH_FASTCALL, NULL},
    {"_stream_through", PY_FAST(stream_through), METH_FASTCALL, NULL},
    {"_from_host", PY_FAST(from_host), METH_FASTCALL, NULL},
    {"_from_reader", PY_FAST(from_reader), METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL},
};
