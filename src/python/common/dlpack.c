/* dlpack.c - DLPack both ways: __dlpack__, __dlpack_device__, from_dlpack.
 *
 * An exported structure holds a td_buf and no Python object: any thread may call its deleter,
 * without the GIL, even after the interpreter has ended.  Events order the streams; nobody waits.
 */
#include "python/common/dlpack.h"

#include "python/common/py.h"

#include <stdlib.h>

#define LEGACY    "dltensor"
#define VERSIONED "dltensor_versioned"

/* ---- devices and dtypes ---- */

static dl_device
dlpack_device_of(const td_dev *d)
{
    static const dl_kind kinds[] = {
        [TD_DEV_CPU] = DL_CPU, [TD_DEV_CUDA] = DL_CUDA, [TD_DEV_NULL] = DL_EXTENSION};

    return (dl_device){kinds[td_dev_info(d)->kind], td_dev_info(d)->index};
}

/* The device.  1: found; 0: one that we cannot access; -1: exception. */
static int
find_device(dl_device at, td_dev **out)
{
    char name[24];

    switch (at.kind) {
    case DL_CPU:
    case DL_CUDA_HOST: return py_ok(td_dev_get("cpu", out)) ? 1 : -1;
    case DL_EXTENSION:
    case DL_CUDA:
    case DL_CUDA_MANAGED:
        PyOS_snprintf(name, sizeof name, "%s:%d", at.kind == DL_EXTENSION ? "null" : "cuda",
                      at.index);
        return py_ok(td_dev_get(name, out)) ? 1 : -1;
    default: break;
    }
    return 0;
}

static bool
device_tuple(PyObject *o, dl_device *out)
{
    PyObject *pair = PySequence_Tuple(o);
    bool ok = pair && PyTuple_Size(pair) == 2;

    if (ok) {
        long kind = PyLong_AsLong(PyTuple_GetItem(pair, 0)),
             index = PyErr_Occurred() ? 0 : PyLong_AsLong(PyTuple_GetItem(pair, 1));

        *out = (dl_device){(int32_t)kind, (int32_t)index};
        ok = kind == out->kind && index == out->index;
    }
    Py_XDECREF(pair);
    if (!ok && !PyErr_Occurred())
        PyErr_SetString(PyExc_ValueError, "DLPack: a device is a tuple (type, number)");
    return !PyErr_Occurred();
}

static uint8_t
dlpack_code(td_dtype dt)
{
    switch (td_dtype_kind(dt)) {
    case 'b': return DL_BOOL;
    case 'i': return DL_INT;
    case 'u': return DL_UINT;
    case 'c': return DL_COMPLEX;
    default:  return dt == TD_BF16 ? DL_BFLOAT : DL_FLOAT;
    }
}

static bool
find_dtype(const dl_tensor *t, td_dtype *out)
{
    for (int i = 0; i < TD_DTYPE_COUNT; i++)
        if (t->dtype.lanes == 1 && t->dtype.code == dlpack_code((td_dtype)i) &&
            t->dtype.bits == 8 * td_dtype_size((td_dtype)i)) {
            *out = (td_dtype)i;
            return true;
        }
    PyErr_Format(PyExc_BufferError, "DLPack: elements of type code %d, %d bits, %d lanes",
                 (int)t->dtype.code, (int)t->dtype.bits, (int)t->dtype.lanes);
    return false;
}

/* ---- export ---- */

/* export - the structure in a capsule.  Owned by the capsule, then by its consumer. */
typedef struct export
{
    union {
        dl_legacy legacy;
        dl_managed managed;
    };
    td_buf *buf;
    int64_t shape[TD_MAXDIM], strides[TD_MAXDIM];
}
export;

static void
end_export(export *e)
{
    td_buf_unref(e->buf);
    free(e);
}

static void
end_legacy(dl_legacy *m)
{
    end_export(m->ctx);
}

static void
end_managed(dl_managed *m)
{
    end_export(m->ctx);
}

/* Frees a capsule that nobody has consumed; consumers rename it. */
static void
drop_capsule(PyObject *capsule)
{
    if (PyCapsule_IsValid(capsule, VERSIONED))
        end_export(PyCapsule_GetPointer(capsule, VERSIONED));
    else if (PyCapsule_IsValid(capsule, LEGACY))
        end_export(PyCapsule_GetPointer(capsule, LEGACY));
}

static void
fill_tensor(dl_tensor *t, export *e, const td_array *a, const td_view *v)
{
    td_dtype dt = td_array_dtype(a);
    uintptr_t at = e->buf->ptr + (uintptr_t)(v->offset * (int64_t)td_dtype_size(dt));

    *t = (dl_tensor){
        .data = td_array_size(a) ? (void *)at : NULL, // NOLINT(performance-no-int-to-ptr)
        .device = dlpack_device_of(td_array_dev(a)),
        .ndim = v->shape.ndim,
        .dtype = {dlpack_code(dt), (uint8_t)(8 * td_dtype_size(dt)), 1},
        .shape = e->shape,
        .strides = e->strides,
    };
    for (int i = 0; i < v->shape.ndim; i++) {
        e->shape[i] = v->shape.dim[i];
        e->strides[i] = v->stride[i];
    }
}

static PyObject *
capsule_of(const td_array *a, bool versioned, uint64_t flags)
{
    export *e;
    td_buf *buf;
    td_view v;
    PyObject *r;

    if (!py_ok(td_array_memory(a, true, &buf, &v)))
        return NULL;
    e = calloc(1, sizeof *e);
    if (!e)
        return PyErr_NoMemory();
    e->buf = td_buf_ref(buf);
    if (versioned) {
        e->managed.version.major = DL_MAJOR;
        e->managed.version.minor = DL_MINOR;
        e->managed.ctx = e;
        e->managed.deleter = end_managed;
        e->managed.flags = flags;
        fill_tensor(&e->managed.tensor, e, a, &v);
    } else {
        e->legacy.ctx = e;
        e->legacy.deleter = end_legacy;
        fill_tensor(&e->legacy.tensor, e, a, &v);
    }
    r = PyCapsule_New(e, versioned ? VERSIONED : LEGACY, drop_capsule);
    if (!r)
        end_export(e);
    return r;
}

/* Makes the consumer's stream wait for the work given to ours. */
static bool
order_after_us(PyObject *stream, td_dev *d)
{
    long long n = py_is_none(stream) ? 1 : PyLong_AsLongLong(stream);

    if (n == -1)
        return !PyErr_Occurred();
    if (!td_dev_info(d)->queued) {
        if (!py_is_none(stream))
            PyErr_SetString(PyExc_ValueError, "__dlpack__: on the CPU stream is None");
        return py_is_none(stream);
    }
    if (n < 1) {
        PyErr_Format(PyExc_ValueError,
                     "__dlpack__: stream %lld: 1 is the default stream, 2 the thread's, -1 says "
                     "that no order is needed, more are a stream's handle",
                     n);
        return false;
    }
    return py_ok(td_stream_order(d, td_stream_handle(td_dev_stream(d)),
                                 (void *)(uintptr_t)n)); // NOLINT(performance-no-int-to-ptr)
}

/* The array to export: self, or a copy if one is asked for or it is for another device. */
static bool
export_source(PyObject *self, PyObject *dl_device_arg, PyObject *copy, td_array *out, bool *copied)
{
    const td_array *a = py_array_of(self);
    td_dev *to = td_array_dev(a);
    dl_device want;
    int r = 1;

    if (!py_is_none(dl_device_arg))
        r = device_tuple(dl_device_arg, &want) ? find_device(want, &to) : -1;
    if (r < 0)
        return false;
    *copied = copy == Py_True || to != td_array_dev(a);
    if (r == 0 || (copy == Py_False && *copied)) {
        PyErr_Format(PyExc_BufferError,
                     r ? "__dlpack__: from %s to another device by copying only"
                       : "__dlpack__: from %s to a device of another kind",
                     td_dev_info(td_array_dev(a))->name);
        return false;
    }
    if (to != td_array_dev(a))
        return py_to_device(a, -1, to, out);
    if (*copied)
        return py_ok(td_array_copy(a, out));
    *out = td_array_ref(a);
    return true;
}

static PyObject *
dlpack(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    static const char *const names[] = {"stream", "max_version", "dl_device", "copy", NULL};
    bool copied, readonly, versioned = false;
    PyObject *arg[4], *major, *r = NULL;
    uint64_t flags;
    td_array a;

    if (!py_parse("__dlpack__", names, 0, 1, args, nargs, kwnames, arg))
        return NULL;
    if (!py_is_none(arg[1])) {
        major = PySequence_GetItem(arg[1], 0);
        versioned = major && PyLong_AsLong(major) >= 1;
        Py_XDECREF(major);
        if (PyErr_Occurred())
            return NULL;
    }
    if (!export_source(self, arg[2], arg[3], &a, &copied))
        return NULL;
    readonly = !copied && (((py_ndarray *)self)->readonly || a.store->readonly);
    flags = (readonly ? DL_READ_ONLY : 0) | (copied ? DL_IS_COPIED : 0);
    if (readonly && !versioned)
        PyErr_SetString(PyExc_BufferError, "__dlpack__: the array is read-only, which DLPack says "
                                           "from version 1.0 on only; export a .copy()");
    else
        r = capsule_of(&a, versioned, flags);
    if (r && !order_after_us(arg[0], td_array_dev(&a)))
        Py_CLEAR(r);
    td_array_unref(&a);
    return r && !py_warn() ? (Py_DECREF(r), NULL) : r;
}

static PyObject *
dlpack_device(PyObject *self, PyObject *unused)
{
    dl_device d = dlpack_device_of(td_array_dev(py_array_of(self)));

    (void)unused;
    return Py_BuildValue("ii", d.kind, d.index);
}

PyMethodDef py_dlpack_methods[] = {
    {"__dlpack__", PY_FAST(dlpack), METH_FASTCALL | METH_KEYWORDS,
     "__dlpack__($self, /, *, stream=None, max_version=None, dl_device=None, copy=None)\n--\n\n"
     "A capsule of the memory itself, for from_dlpack of other libraries. Work given to stream "
     "later waits for the "
     "values. Raises BufferError where a copy would be needed with copy=False, and for read-only "
     "arrays when max_version is below 1."},
    {"__dlpack_device__", dlpack_device, METH_NOARGS,
     "__dlpack_device__(): DLPack's device type (1 CPU, 2 CUDA) and number."},
    {NULL, NULL, 0, NULL},
};

/* ---- import ---- */

typedef struct tenant {
    py_owner head;
    dl_legacy *legacy; /* exactly one of them is set */
    dl_managed *managed;
} tenant;

static void
end_tenant(py_owner *o)
{
    tenant *t = (tenant *)o;

    if (t->legacy && t->legacy->deleter)
        t->legacy->deleter(t->legacy);
    if (t->managed && t->managed->deleter)
        t->managed->deleter(t->managed);
    free(t);
}

static bool
tensor_view(const dl_tensor *t, td_view *v)
{
    int64_t n;
    td_shape s;

    if (t->ndim < 0 || (t->ndim && !t->shape)) {
        PyErr_Format(PyExc_BufferError, "a DLPack tensor of %d axes has %s", (int)t->ndim,
                     t->shape ? "a shape" : "no shape (NULL)");
        return false;
    }
    if (!py_ok(td_shape_make(t->ndim, t->shape, &s)))
        return false;
    *v = td_view_contiguous(&s);
    for (int i = 0; t->strides && i < s.ndim; i++)
        v->stride[i] = t->strides[i];
    n = td_shape_size(&s);
    if (n && !t->data) {
        PyErr_Format(PyExc_BufferError, "a DLPack tensor of %lld elements has no data (NULL)",
                     (long long)n);
        return false;
    }
    return true;
}

/* A capsule of our own came back: takes its buffer. */
static bool
own_export(const export *e, const dl_tensor *t, td_dtype dt, td_view *v, bool readonly,
           td_array *out)
{
    if (td_shape_size(&v->shape))
        v->offset = (int64_t)(((uintptr_t)t->data - e->buf->ptr) / td_dtype_size(dt));
    return py_ok(td_array_wrap(e->buf, dt, v, readonly, out));
}

static bool
share_tensor(tenant *o, const dl_tensor *t, bool readonly, td_array *out)
{
    const export *e = o->managed ? (o->managed->deleter == end_managed ? o->managed->ctx : NULL)
                      : o->legacy->deleter == end_legacy ? o->legacy->ctx
                                                         : NULL;
    td_dtype dt;
    td_dev *dev;
    td_view v;
    int r = find_device(t->device, &dev);
    bool ok = r > 0 && find_dtype(t, &dt) && tensor_view(t, &v);

    if (!r || (ok && t->device.kind == DL_EXTENSION && !e)) {
        PyErr_Format(PyExc_BufferError, "DLPack: memory on a device of type %d",
                     (int)t->device.kind);
        ok = false;
    }
    if (ok && !e)
        return py_adopt(dev, (char *)t->data + t->byte_offset, dt, &v, readonly, &o->head, out);
    ok = ok && own_export(e, t, dt, &v, readonly, out);
    py_owner_end(&o->head);
    return ok;
}

/* Takes over the capsule's structure. */
static bool
consume(PyObject *capsule, td_array *out)
{
    tenant *o = calloc(1, sizeof *o);
    bool versioned = PyCapsule_IsValid(capsule, VERSIONED);

    if (!o)
        return PyErr_NoMemory(), false;
    o->head.end = end_tenant;
    if (versioned)
        o->managed = PyCapsule_GetPointer(capsule, VERSIONED);
    else
        o->legacy = PyCapsule_GetPointer(capsule, LEGACY);
    if (versioned && o->managed && o->managed->version.major != DL_MAJOR)
        PyErr_Format(PyExc_BufferError, "DLPack: version %d.%d; versions 0 and 1 are understood",
                     (int)o->managed->version.major, (int)o->managed->version.minor);
    if (PyErr_Occurred() ||
        PyCapsule_SetName(capsule, versioned ? "used_" VERSIONED : "used_" LEGACY)) {
        free(o); /* failed: the capsule still owns the structure */
        return false;
    }
    if (versioned)
        return share_tensor(o, &o->managed->tensor, o->managed->flags & DL_READ_ONLY, out);
    return share_tensor(o, &o->legacy->tensor, false, out);
}

/* Calls obj.__dlpack__(…).  Producers before version 1 do not know max_version. */
static PyObject *
ask_producer(PyObject *obj, bool streams, const char *dl_device_name, dl_device want)
{
    PyObject *method = PyObject_GetAttrString(obj, "__dlpack__"), *none = PyTuple_New(0),
             *kw = PyDict_New(), *v, *r = NULL;
    bool ok = method && none && kw;

    if (ok && streams) {
        v = PyLong_FromLong(1); /* our arrays work on the legacy default stream */
        ok = v && PyDict_SetItemString(kw, "stream", v) == 0;
        Py_XDECREF(v);
    }
    if (ok && dl_device_name) {
        v = Py_BuildValue("(ii)", want.kind, want.index);
        ok = v && PyDict_SetItemString(kw, dl_device_name, v) == 0;
        Py_XDECREF(v);
    }
    v = ok ? Py_BuildValue("(ii)", DL_MAJOR, DL_MINOR) : NULL;
    if (v && PyDict_SetItemString(kw, "max_version", v) == 0) {
        r = PyObject_Call(method, none, kw);
        if (!r && PyErr_ExceptionMatches(PyExc_TypeError)) {
            PyErr_Clear();
            if (PyDict_DelItemString(kw, "max_version") == 0)
                r = PyObject_Call(method, none, kw);
        }
    }
    Py_XDECREF(v);
    Py_XDECREF(kw);
    Py_XDECREF(none);
    Py_XDECREF(method);
    return r;
}

/* Asks obj where its memory is.  True: the producer can be asked for it. */
static bool
locate(PyObject *obj, dl_device *at)
{
    PyObject *pair = PyObject_CallMethod(obj, "__dlpack_device__", NULL);
    bool ok = pair && device_tuple(pair, at);

    Py_XDECREF(pair);
    return ok;
}

int
py_share_dlpack(PyObject *obj, const td_dev *to, td_array *out)
{
    bool host = to && td_dev_info(to)->host;
    const char *move = NULL;
    PyObject *capsule;
    dl_device at;
    td_dev *dev;
    int known;
    bool ok;

    if (PyCapsule_CheckExact(obj)) {
        if (PyCapsule_IsValid(obj, VERSIONED) || PyCapsule_IsValid(obj, LEGACY))
            return consume(obj, out) ? 1 : -1;
        PyErr_SetString(PyExc_RuntimeError,
                        "from_dlpack received an invalid capsule: one can be consumed only once");
        return -1;
    }
    if (!locate(obj, &at))
        return -1;
    known = find_device(at, &dev);
    if (known < 0)
        return -1;
    if (!known && !host)
        return 0;
    if (!known) /* not a device of ours: the producer may be able to copy it */
        move = "dl_device";
    capsule = ask_producer(obj, known && !td_dev_info(dev)->host, move, (dl_device){DL_CPU, 0});
    ok = capsule && consume(capsule, out);
    Py_XDECREF(capsule);
    return ok ? 1 : -1;
}

static PyObject *
from_dlpack(PyObject *module, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    static const char *const names[] = {"x", "device", "copy", NULL};
    td_dev *to = NULL;
    PyObject *arg[3];
    td_array raw;
    py_ndarray *r;
    py_copy policy;
    int got;

    (void)module;
    py_owners_release();
    if (!py_parse("from_dlpack", names, 1, 1, args, nargs, kwnames, arg) ||
        (!py_is_none(arg[1]) && !py_device(arg[1], &to)))
        return NULL;
    policy = arg[2] == Py_True    ? PY_COPY_ALWAYS
             : arg[2] == Py_False ? PY_COPY_NEVER
                                  : PY_COPY_IF_NEEDED;
    got = py_share_dlpack(arg[0], policy == PY_COPY_NEVER ? NULL : to, &raw);
    if (got == 0)
        PyErr_SetString(PyExc_BufferError,
                        "from_dlpack: the memory lies on a device of a kind that is not supported; "
                        "device=\"cpu\" asks the producer for a copy");
    if (got <= 0)
        return NULL;
    r = py_new();
    if (r && !py_settle(&raw, -1, to, policy, &r->a)) {
        r->a.store = NULL;
        Py_CLEAR(r);
    }
    td_array_unref(&raw);
    return (PyObject *)r;
}

PyMethodDef py_dlpack_functions[] = {
    {"from_dlpack", PY_FAST(from_dlpack), METH_FASTCALL | METH_KEYWORDS,
     "from_dlpack($module, x, /, *, device=None, copy=None)\n--\n\n"
     "Another library's memory as an array, without a copy.\n\n"
     "Parameters\n"
     "----------\n"
     "x : object with __dlpack__, or a capsule that it gave\n"
     "    An array on the CPU or a CUDA device; it stays alive as long as the\n"
     "    result.\n"
     "device : device or str, optional\n"
     "    Where the array has to lie; x is copied where it lies elsewhere.\n"
     "copy : bool, optional\n"
     "    True: always copy; False: never.\n\n"
     "Returns\n"
     "-------\n"
     "ndarray\n"
     "    Read-only where x's memory is.\n\n"
     "Raises\n"
     "------\n"
     "AttributeError\n"
     "    x has no __dlpack__.\n"
     "BufferError\n"
     "    treadle does not have x's dtype or device.\n"
     "ValueError\n"
     "    copy=False and x lies on another device than the one that is named.\n\n"
     "Examples\n"
     "--------\n"
     ">>> np.from_dlpack(numpy.arange(3))\n"
     "array([0, 1, 2])"},
    {NULL, NULL, 0, NULL},
};
