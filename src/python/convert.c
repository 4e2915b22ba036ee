/* convert.c - host data to arrays and operands.
 *
 * NumPy arrays and scalars come through the buffer protocol, so that NumPy's C interface is not
 * needed; what only NumPy understands (byte order, ragged lists, __array__) goes through NumPy.
 */
#include "python/py.h"

#include <stdlib.h>
#include <string.h>

/* ---- foreign owners: released with the GIL held, whoever dropped the last buffer ---- */

typedef struct owner {
    struct owner *next;
    Py_buffer view;
} owner;

static _Atomic(owner *) dead;

static void
release(void *p)
{
    owner *o = p;

    o->next = atomic_load(&dead);
    while (!atomic_compare_exchange_weak(&dead, &o->next, o))
        ;
}

void
py_drain(void)
{
    owner *o, *next;

    td_share_poll();
    if (!atomic_load_explicit(&dead, memory_order_relaxed))
        return;
    for (o = atomic_exchange(&dead, NULL); o; o = next) {
        next = o->next;
        PyBuffer_Release(&o->view);
        free(o);
    }
}

/* ---- numbers ---- */

static int
python_int(PyObject *o, td_scalar *out)
{
    int over = 0;

    out->dt = TD_I64;
    out->i = PyLong_AsLongLongAndOverflow(o, &over);
    if (over > 0) {
        out->dt = TD_U64;
        out->u = PyLong_AsUnsignedLongLong(o);
    }
    if (over < 0 || (over && PyErr_Occurred())) { /* beyond 64 bits: fits a float only */
        PyErr_Clear();
        out->dt = TD_F64;
        out->f[0] = PyLong_AsDouble(o);
    }
    return PyErr_Occurred() ? -1 : 1;
}

/* An element seen through the buffer protocol: NumPy's scalars and 0-d arrays. */
static int
buffer_scalar(PyObject *o, td_scalar *out)
{
    Py_buffer b;
    td_dtype dt;
    int r = 0;

    if (PyObject_GetBuffer(o, &b, PyBUF_FULL_RO) < 0) {
        PyErr_Clear();
        return 0;
    }
    if (b.ndim == 0 && py_format_dtype(b.format, b.itemsize, &dt)) {
        *out = td_scalar_load(dt, b.buf);
        r = 1;
    }
    PyBuffer_Release(&b);
    return r;
}

int
py_number(PyObject *o, td_scalar *out, char *weak)
{
    PyTypeObject *t = Py_TYPE(o);

    if (t == &PyFloat_Type) {
        *out = (td_scalar){.dt = TD_F64, .f = {PyFloat_AsDouble(o)}};
        *weak = 'f';
        return 1;
    }
    if (t == &PyLong_Type) {
        *weak = 'i';
        return python_int(o, out);
    }
    if (t == &PyBool_Type) {
        *out = (td_scalar){.dt = TD_BOOL, .i = o == Py_True};
        *weak = 'b';
        return 1;
    }
    if (t == &PyComplex_Type) {
        *out =
            (td_scalar){.dt = TD_C128, .f = {PyComplex_RealAsDouble(o), PyComplex_ImagAsDouble(o)}};
        *weak = 'c';
        return 1;
    }
    *weak = 0;
    if (PyObject_CheckBuffer(o) && !PyBytes_Check(o) && !PyByteArray_Check(o))
        return buffer_scalar(o, out);
    if (PyFloat_Check(o)) {
        *out = (td_scalar){.dt = TD_F64, .f = {PyFloat_AsDouble(o)}};
        *weak = 'f';
        return 1;
    }
    *weak = 'i';
    return PyLong_Check(o) ? python_int(o, out) : 0;
}

/* ---- arrays ---- */

static bool
unsupported(PyObject *o)
{
    PyErr_Format(PyExc_TypeError, "treadle arrays hold numbers: cannot convert %R",
                 (PyObject *)Py_TYPE(o));
    return false;
}

static bool
buffer_view(const Py_buffer *b, td_dtype *dt, td_shape *s)
{
    s->ndim = b->ndim;
    if (b->ndim > TD_MAXDIM || !py_format_dtype(b->format, b->itemsize, dt))
        return false;
    for (int i = 0; i < b->ndim; i++)
        s->dim[i] = b->shape[i];
    return true;
}

static bool
cast_into(td_status st, td_array *raw, int dt, td_array *out)
{
    if (!st && dt >= 0 && (td_dtype)dt != td_array_dtype(raw)) {
        st = td_array_cast(raw, (td_dtype)dt, out);
        td_array_unref(raw);
    } else if (!st)
        *out = *raw;
    return py_ok(st);
}

/* Copies what the buffer protocol shows: 1; elements that are not ours: 0; exception: -1. */
static int
copy_buffer(PyObject *o, int dt, td_dev *dev, td_array *out)
{
    void *packed = NULL;
    td_shape s;
    td_array raw;
    td_dtype own;
    td_status st;
    Py_buffer b;
    int r = -1;

    if (PyObject_GetBuffer(o, &b, PyBUF_FULL_RO) < 0) {
        PyErr_Clear();
        return 0;
    }
    if (!buffer_view(&b, &own, &s)) {
        PyBuffer_Release(&b);
        return 0;
    }
    if (!PyBuffer_IsContiguous(&b, 'C')) {
        packed = malloc((size_t)b.len + 1);
        if (!packed)
            PyErr_NoMemory();
        if (!packed || PyBuffer_ToContiguous(packed, &b, b.len, 'C') < 0)
            goto out;
    }
    st = td_array_from_host(dev, own, &s, packed ? packed : b.buf, &raw);
    r = cast_into(st, &raw, dt, out) ? 1 : -1;
out:
    free(packed);
    PyBuffer_Release(&b);
    return r;
}

/* numpy.asarray(o) in native byte order.  Integers of a list are checked against the dtype asked for. */
static PyObject *
numpy_of(PyObject *o, int dt)
{
    bool list = PyList_Check(o) || PyTuple_Check(o);
    PyObject *np = py_numpy(), *n = NULL, *d = NULL, *native = NULL, *r = NULL;

    if (np && list && dt >= 0 && dt != TD_BF16)
        n = PyObject_CallMethod(np, "asarray", "Os", o, td_dtab[dt].typestr);
    else if (np)
        n = PyObject_CallMethod(np, "asarray", "(O)", o);
    d = n ? PyObject_GetAttrString(n, "dtype") : NULL;
    native = d ? PyObject_CallMethod(d, "newbyteorder", "s", "=") : NULL;
    r = native ? PyObject_CallMethod(n, "astype", "(O)", native) : NULL;
    Py_XDECREF(n);
    Py_XDECREF(d);
    Py_XDECREF(native);
    return r;
}

/* What is not numeric in NumPy's eyes either is refused. */
static bool
through_numpy(PyObject *o, int dt, td_dev *dev, td_array *out)
{
    PyObject *n = numpy_of(o, dt);
    int r = n ? copy_buffer(n, dt, dev, out) : -1;

    if (r == 0)
        unsupported(o);
    Py_XDECREF(n);
    return r > 0;
}

static bool
to_device(const td_array *a, int dt, td_dev *dev, td_array *out)
{
    size_t nbytes = (size_t)td_array_size(a) * td_dtype_size(td_array_dtype(a));
    td_array raw;
    void *host;
    bool ok;

    if (dev && dev != td_array_dev(a)) {
        host = td_host_alloc(nbytes);
        if (!host && nbytes) {
            PyErr_NoMemory();
            return false;
        }
        ok = py_ok(td_array_get(a, host)) &&
             cast_into(td_array_from_host(dev, td_array_dtype(a), &a->view.shape, host, &raw), &raw,
                       dt, out);
        td_host_free(host, nbytes);
        return ok;
    }
    if (dt < 0 || (td_dtype)dt == td_array_dtype(a)) {
        *out = td_array_ref(a);
        return true;
    }
    return py_ok(td_array_cast(a, (td_dtype)dt, out));
}

static bool
one_number(td_scalar s, char weak, int dt, td_dev *dev, td_array *out)
{
    td_dtype want = dt < 0 ? s.dt : (td_dtype)dt;

    if (weak == 'i' && dt < 0 && s.dt == TD_F64) {
        PyErr_SetString(PyExc_OverflowError, "Python integer too large for 64 bits");
        return false;
    }
    if (td_dtype_is_complex(want)) { /* no kernel fills with complex numbers */
        uint64_t bits[2];

        td_scalar_bits(s, want, bits);
        return py_ok(td_array_from_host(dev, want, &(td_shape){0}, bits, out));
    }
    return (weak != 'i' || py_int_fits(s, want)) &&
           py_ok(td_array_full(dev, want, &(td_shape){0}, s, out));
}

bool
py_asarray(PyObject *o, int dt, td_dev *dev, td_array *out)
{
    td_scalar s;
    char weak;
    int r;

    if (py_is_array(o))
        return to_device(py_array_of(o), dt, dev, out);
    if (!dev && !py_device(NULL, &dev))
        return false;
    r = py_number(o, &s, &weak);
    if (r)
        return r > 0 && one_number(s, weak, dt, dev, out);
    if (PyUnicode_Check(o) || PyBytes_Check(o) || PyByteArray_Check(o) || o == Py_None ||
        PyDict_Check(o))
        return unsupported(o);
    r = PyObject_CheckBuffer(o) ? copy_buffer(o, dt, dev, out) : py_list(o, dt, dev, out);
    return r ? r > 0 : through_numpy(o, dt, dev, out);
}

/* A view in elements over the buffer's bytes; false: strides that are not whole elements. */
static bool
element_view(const Py_buffer *b, td_view *v, uintptr_t *lo, size_t *nbytes)
{
    int64_t first, last;

    v->offset = 0;
    for (int i = 0; i < b->ndim; i++) {
        if (b->strides[i] % b->itemsize)
            return false;
        v->stride[i] = b->strides[i] / b->itemsize;
    }
    td_view_extent(v, &first, &last);
    *lo = (uintptr_t)b->buf + (uintptr_t)(first * b->itemsize);
    *nbytes = (size_t)((last - first) * b->itemsize);
    v->offset = -first;
    return *lo % (uintptr_t)b->itemsize == 0;
}

bool
py_share(PyObject *obj, td_dev *dev, td_array *out)
{
    owner *o = calloc(1, sizeof *o);
    td_buf *buf = NULL;
    uintptr_t lo;
    size_t nbytes;
    td_status st;
    td_dtype dt;
    td_view v;
    bool ok;

    if (!o)
        return PyErr_NoMemory(), false;
    if (PyObject_GetBuffer(obj, &o->view, PyBUF_FULL_RO) < 0) {
        free(o);
        return false;
    }
    ok = td_dev_info(dev)->kind == TD_DEV_CPU && buffer_view(&o->view, &dt, &v.shape) &&
         element_view(&o->view, &v, &lo, &nbytes);
    if (!ok)
        PyErr_SetString(
            PyExc_ValueError,
            "asarray: this memory cannot be shared with the device; leave copy=False out");
    else {
        st = td_buf_wrap(dev, (void *)lo, nbytes, release, o, &buf);
        ok = py_ok(st);
        if (ok) {
            bool readonly = o->view.readonly;

            o = NULL; /* moved into buf */
            ok = py_ok(td_array_wrap(buf, dt, &v, readonly, out));
            td_buf_unref(buf);
        }
    }
    if (o)
        PyBuffer_Release(&o->view);
    free(o);
    return ok;
}
