/* host.c - array memory for the host: results for NumPy, the buffer protocol, interfaces.
 *
 * treadle._core.memory holds a device buffer or host memory and exposes it by the buffer
 * protocol.  A numpy.ndarray made from it keeps it alive.
 */
#include "python/common/py.h"

#include "array/outofcore/chunk.h"

#include <stdlib.h>
#include <string.h>

enum { HOST_POOLED = 1 << 20 }; /* bytes from which on results use huge pages that are reused */

typedef struct memory {
    PyObject_HEAD td_buf *buf; /* owned; or */
    td_source *source;         /* owned; or */
    void *host;                /* owned, of nbytes */
    size_t nbytes;
    char *at; /* the first element */
    td_dtype dt;
    int ndim;
    bool readonly, lent; /* lent: td_array_return must be called */
    Py_ssize_t shape[TD_MAXDIM], strides[TD_MAXDIM];
} memory;

static void
memory_dealloc(PyObject *self)
{
    memory *m = (memory *)self;
    PyTypeObject *type = Py_TYPE(self);

    if (m->lent)
        td_array_return(m->buf);
    else
        td_buf_unref(m->buf);
    td_source_unref(m->source);
    if (m->nbytes >= HOST_POOLED)
        td_host_free(m->host, m->nbytes);
    else
        free(m->host);
    PyObject_Free(self);
    Py_DECREF(type);
    py_owners_release();
}

/* Are the elements contiguous in C order (or with `fortran` in Fortran order)? */
static bool
is_packed(const memory *m, bool fortran)
{
    Py_ssize_t step = (Py_ssize_t)td_dtype_size(m->dt);
    bool packed = true, empty = false;

    for (int k = 0; k < m->ndim; k++) {
        int i = fortran ? k : m->ndim - 1 - k;

        packed &= m->shape[i] <= 1 || m->strides[i] == step;
        empty |= m->shape[i] == 0;
        step *= m->shape[i];
    }
    return packed || empty;
}

static bool
has(int flags, int wanted)
{
    return (flags & wanted) == wanted;
}

static int
memory_getbuffer(PyObject *self, Py_buffer *b, int flags)
{
    memory *m = (memory *)self;
    bool strided = (flags & PyBUF_STRIDES) == PyBUF_STRIDES;
    Py_ssize_t count = 1;

    b->obj = NULL;
    if (!py_dtype_format(m->dt)) {
        PyErr_Format(PyExc_BufferError, "%s has no buffer format", td_dtype_name(m->dt));
        return -1;
    }
    if ((flags & PyBUF_WRITABLE) && m->readonly) {
        PyErr_SetString(PyExc_BufferError, "the array is read-only");
        return -1;
    }
    if (((!strided || has(flags, PyBUF_C_CONTIGUOUS)) && !is_packed(m, false)) ||
        (has(flags, PyBUF_F_CONTIGUOUS) && !is_packed(m, true)) ||
        (has(flags, PyBUF_ANY_CONTIGUOUS) && !is_packed(m, false) && !is_packed(m, true))) {
        PyErr_SetString(PyExc_BufferError, "the array's elements do not lie as was asked");
        return -1;
    }
    for (int i = 0; i < m->ndim; i++)
        count *= m->shape[i];
    *b = (Py_buffer){
        .buf = m->at,
        .obj = Py_NewRef(self),
        .len = count * (Py_ssize_t)td_dtype_size(m->dt),
        .itemsize = (Py_ssize_t)td_dtype_size(m->dt),
        .readonly = m->readonly,
        .ndim = flags & PyBUF_ND ? m->ndim : 0, /* as in NumPy: who reads extents asks for them */
        .format = flags & PyBUF_FORMAT ? (char *)(uintptr_t)py_dtype_format(m->dt) : NULL,
        .shape = flags & PyBUF_ND && m->ndim ? m->shape : NULL,
        .strides = strided && m->ndim ? m->strides : NULL,
    };
    return 0;
}

static memory *
memory_new(td_dtype dt, const td_shape *s)
{
    memory *m = PyObject_New(memory, py.memory);
    Py_ssize_t step = (Py_ssize_t)td_dtype_size(dt);

    if (!m)
        return NULL;
    m->buf = NULL;
    m->source = NULL;
    m->host = NULL;
    m->nbytes = 0;
    m->at = NULL;
    m->dt = dt;
    m->ndim = s->ndim;
    m->readonly = m->lent = false;
    for (int i = s->ndim - 1; i >= 0; i--) {
        m->shape[i] = (Py_ssize_t)s->dim[i];
        m->strides[i] = step;
        step *= m->shape[i];
    }
    return m;
}

/* A memory object over a's value in host memory, read-only. */
static memory *
memory_at(td_source *s, const td_view *v)
{
    Py_ssize_t size = (Py_ssize_t)td_dtype_size(s->dt);
    memory *m = memory_new(s->dt, &v->shape);

    if (!m) {
        td_source_unref(s);
        return NULL;
    }
    m->source = s;
    m->at = s->mem + v->offset * size;
    m->readonly = true;
    for (int i = 0; i < v->shape.ndim; i++)
        m->strides[i] = (Py_ssize_t)v->stride[i] * size;
    return m;
}

/* The memory under `a`, evaluated; CPU only. */
static memory *
device_memory(const td_array *a, bool share)
{
    memory *m;
    td_buf *buf;
    td_source *s;
    td_view v;
    Py_ssize_t size = (Py_ssize_t)td_dtype_size(td_array_dtype(a));
    td_status st = td_chunk_host(a, &s, &v);

    if (st != TD_SKIP)
        return py_ok(st) ? memory_at(s, &v) : NULL;
    if (!py_ok(share ? td_array_lend(a, &buf, &v) : td_array_memory(a, false, &buf, &v)))
        return NULL;
    m = memory_new(td_array_dtype(a), &v.shape);
    if (!m) {
        if (share)
            td_array_return(buf);
        return NULL;
    }
    m->lent = share;
    m->buf = share ? buf : td_buf_ref(buf);
    m->at = (char *)buf->ptr + v.offset * size; // NOLINT(performance-no-int-to-ptr)
    m->readonly = a->store->readonly;
    for (int i = 0; i < v.shape.ndim; i++)
        m->strides[i] = (Py_ssize_t)v.stride[i] * size;
    return m;
}

/* Takes m; NULL stays NULL. */
static PyObject *
numpy_over(memory *m)
{
    return m ? py_numpy_over(m->dt, m->ndim, m->shape, m->strides, m->at, !m->readonly,
                             (PyObject *)m)
             : NULL;
}

PyObject *
py_host_view(const td_array *a, bool share)
{
    return numpy_over(device_memory(a, share));
}

PyObject *
py_host_peek(const td_array *a)
{
    memory *m = device_memory(a, false);

    if (m)
        m->readonly = true;
    return numpy_over(m);
}

/* Should a pending value be computed straight into the result's memory?  If only this call
 * holds the array, its value need not be kept.  The reference count can mislead (a bound
 * method, functools.partial; from 3.14 on a local variable), so the array keeps its
 * expression. */
static bool
is_passing(PyObject *self)
{
    const td_array *a = py_array_of(self);
    const td_node *n = a->store->node;

    return Py_Version < 0x030e0000 && Py_REFCNT(self) == 1 && a->whole && a->store->refs == 1 &&
           !a->store->readonly && td_dev_info(td_array_dev(a))->host && td_node_pending(n) &&
           n->kind != TD_N_REDUCE && n->kind != TD_N_GATHER;
}

/* Host memory for a result; large blocks are reused. */
static memory *
memory_own(td_dtype dt, const td_shape *shape, size_t nbytes)
{
    memory *m = memory_new(dt, shape);

    if (!m)
        return NULL;
    m->at = m->host = nbytes >= HOST_POOLED ? td_host_alloc(nbytes) : malloc(nbytes + 1);
    m->nbytes = m->host ? nbytes : 0;
    if (!m->host) {
        PyErr_Format(PyExc_MemoryError, "%zu bytes of host memory", nbytes);
        Py_CLEAR(m);
    }
    return m;
}

/* Computes what is on the host, chunk by chunk, straight into the result.  NULL without an exception: it is not there. */
static memory *
stream_out(const td_array *a)
{
    size_t nbytes = (size_t)td_array_size(a) * td_dtype_size(td_array_dtype(a));
    memory *m = NULL;
    td_node *n;
    td_status st;

    if (!py_ok(td_array_node(a, &n)))
        return NULL;
    m = memory_own(td_array_dtype(a), &a->view.shape, nbytes);
    st = m ? td_chunk_get(n, m->host, true) : TD_OK;
    td_node_unref(n);
    if (m && (st == TD_SKIP || !py_ok(st) || !py_warn()))
        Py_CLEAR(m);
    return m;
}

static memory *
compute_out(const td_array *a)
{
    memory *m = NULL;
    td_array own;

    if (td_array_hosted(a)) {
        m = stream_out(a);
        if (m || PyErr_Occurred())
            return m;
    }
    if (!py_ok(td_array_copy(a, &own)))
        return NULL;
    m = device_memory(&own, false);
    td_array_unref(&own);
    return m;
}

static memory *
copy_out(const td_array *a)
{
    size_t nbytes = (size_t)td_array_size(a) * td_dtype_size(td_array_dtype(a));
    memory *m;

    if (!td_array_hosted(a) &&
        /* launch before asking for host memory: the device's memory is scarcer */
        !py_ok(td_array_eval(&a, 1)))
        return NULL;
    m = memory_own(td_array_dtype(a), &a->view.shape, nbytes);
    if (m && (!py_ok(td_array_get(a, m->host)) || !py_warn()))
        Py_CLEAR(m);
    return m;
}

/* _host_bytes(n): a numpy.ndarray of n uninitialised bytes, whose memory is kept for reuse when large. */
PyObject *
py_host_bytes(PyObject *module, PyObject *n)
{
    long long nbytes = PyLong_AsLongLong(n);
    td_shape shape = {.ndim = 1, .dim = {nbytes}};

    (void)module;
    if (nbytes < 0) {
        if (!PyErr_Occurred())
            PyErr_Format(PyExc_ValueError, "%lld bytes of host memory", nbytes);
        return NULL;
    }
    return numpy_over(memory_own(TD_U8, &shape, (size_t)nbytes));
}

/* The values of an array in Fortran order, laid out in Fortran order. */
static PyObject *
get_fortran(const td_array *a)
{
    int axes[TD_MAXDIM], ndim = a->view.shape.ndim;
    py_ndarray *r = py_new();
    PyObject *t, *host, *back;

    for (int i = 0; i < ndim; i++)
        axes[i] = ndim - 1 - i;
    t = r ? py_done(r, td_array_transpose(a, axes, &r->a)) : NULL;
    host = t ? py_get(t) : NULL;
    back = host ? PyObject_GetAttrString(host, "T") : NULL;
    Py_XDECREF(t);
    Py_XDECREF(host);
    return back;
}

PyObject *
py_get(PyObject *self)
{
    if (py_lies_in_fortran(&py_array_of(self)->view) && !is_passing(self))
        return get_fortran(py_array_of(self));
    if (td_array_dtype(py_array_of(self)) == TD_BF16 && !py_ml_dtypes()) {
        PyErr_SetString(PyExc_TypeError,
                        "get: NumPy has no bfloat16; use .astype('float32'), .view('uint16') for "
                        "the bits, or install ml_dtypes");
        return NULL;
    }
    return numpy_over(is_passing(self) ? compute_out(py_array_of(self))
                                       : copy_out(py_array_of(self)));
}

PyObject *
py_get_as(PyObject *self, td_dtype instead)
{
    td_array *a = py_array_of(self);
    py_ndarray *r;
    PyObject *host;

    if (td_array_dtype(a) != TD_BF16)
        return py_get(self);
    r = py_new();
    if (!r || !py_done(r, instead == TD_U16 ? td_array_retype(a, instead, &r->a)
                                            : td_array_cast(a, instead, &r->a)))
        return NULL;
    host = py_get((PyObject *)r);
    Py_DECREF((PyObject *)r);
    return host;
}

PyObject *
py_get_later(PyObject *self)
{
    py_ndarray *r = py_new();
    PyObject *now = r ? py_done(r, td_array_snapshot(py_array_of(self), &r->a)) : NULL,
             *start = now ? py_package("treadle._exchange._transfer", "start") : NULL,
             *later = start ? PyObject_CallFunctionObjArgs(start, now, NULL) : NULL;

    Py_XDECREF(now);
    Py_XDECREF(start);
    return later;
}

int
py_getbuffer(PyObject *self, Py_buffer *b, int flags)
{
    memory *m;
    td_buf *buf;
    td_view v;
    int r;

    b->obj = NULL;
    if (!td_dev_info(td_array_dev(py_array_of(self)))->host) {
        PyErr_Format(PyExc_BufferError, "the array lives on %s; use .get()",
                     td_dev_info(td_array_dev(py_array_of(self)))->name);
        return -1;
    }
    if (!py_ok(td_array_memory(py_array_of(self), true, &buf, &v)))
        return -1; /* shared for good: numpy.frombuffer releases the buffer but keeps the memory */
    m = device_memory(py_array_of(self), false);
    if (!m)
        return -1;
    m->readonly |= ((py_ndarray *)self)->readonly;
    r = memory_getbuffer((PyObject *)m, b, flags);
    Py_DECREF((PyObject *)m);
    return r;
}

/* Does nothing: the memory object in the view handles it.  This slot makes numpy.frombuffer,
 * which would drop its view and keep the pointer, keep a memoryview. */
void
py_releasebuffer(PyObject *self, Py_buffer *b)
{
    (void)self;
    (void)b;
}

static PyObject *
strides_tuple(const td_view *v, size_t size)
{
    td_shape bytes = v->shape;

    for (int i = 0; i < bytes.ndim; i++)
        bytes.dim[i] = v->stride[i] * (int64_t)size;
    return py_shape_tuple(&bytes);
}

/* The stream that a reader must wait for; 1 is the default one. */
static bool
add_stream(PyObject *d, td_dev *dev)
{
    void *handle = td_stream_handle(td_dev_stream(dev));
    PyObject *n = handle ? PyLong_FromVoidPtr(handle) : PyLong_FromLong(1);
    bool ok = n && PyDict_SetItemString(d, "stream", n) == 0;

    Py_XDECREF(n);
    return ok;
}

PyObject *
py_array_interface(PyObject *self, bool cuda)
{
    const td_array *a = py_array_of(self);
    td_dtype dt = td_array_dtype(a);
    bool readonly = ((py_ndarray *)self)->readonly || a->store->readonly;
    PyObject *shape, *strides, *d = NULL;
    unsigned long long at;
    td_buf *buf;
    td_view v;

    if (dt == TD_BF16 && !cuda) { /* NumPy would read it as raw bytes */
        PyErr_SetString(PyExc_AttributeError, "bfloat16 is not one of the interface's types");
        return NULL;
    }
    if (td_dev_info(td_array_dev(a))->kind != (cuda ? TD_DEV_CUDA : TD_DEV_CPU)) {
        PyErr_Format(PyExc_AttributeError, "the array lives on %s",
                     td_dev_info(td_array_dev(a))->name);
        return NULL;
    }
    if (!py_dtype_format(dt)) {
        PyErr_Format(PyExc_AttributeError, "%s has no type string; use DLPack", td_dtype_name(dt));
        return NULL;
    }
    if (!py_ok(td_array_memory(a, true, &buf, &v))) {
        if (!cuda && PyErr_ExceptionMatches(PyExc_MemoryError)) /* then NumPy asks for a copy */
            PyErr_SetString(PyExc_AttributeError,
                            "the array's values lie in host memory that the limit keeps it from");
        return NULL;
    }
    at = td_array_size(a) ? buf->ptr + (uintptr_t)(v.offset * (int64_t)td_dtype_size(dt)) : 0;
    shape = py_shape_tuple(&v.shape);
    strides = cuda && td_view_is_contiguous(&v) ? Py_NewRef(Py_None)
                                                : strides_tuple(&v, td_dtype_size(dt));
    if (shape && strides)
        d = Py_BuildValue("{s:O,s:s,s:(KO),s:O,s:i}", "shape", shape, "typestr",
                          td_dtab[dt].typestr, "data", at, readonly ? Py_True : Py_False, "strides",
                          strides, "version", 3);
    if (d && cuda && !add_stream(d, td_array_dev(a)))
        Py_CLEAR(d);
    Py_XDECREF(shape);
    Py_XDECREF(strides);
    return d;
}

bool
py_memory_init(PyObject *m)
{
    static PyType_Slot slots[] = {
        PY_SLOT(Py_tp_dealloc, memory_dealloc),
        PY_SLOT(Py_bf_getbuffer, memory_getbuffer),
        {0, NULL},
    };
    static PyType_Spec spec = {
        .name = "treadle._core.memory",
        .basicsize = sizeof(memory),
        .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
        .slots = slots,
    };

    (void)m;
    py.memory = (PyTypeObject *)PyType_FromSpec(&spec);
    return py.memory != NULL;
}
