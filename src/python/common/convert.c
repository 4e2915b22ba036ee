/* convert.c - converts foreign data to arrays and operands: numbers, buffers, lists, memory on
 * devices.
 *
 * NumPy arrays and scalars come through the buffer protocol, so NumPy's C interface is not
 * needed.  What only NumPy understands (byte order, ragged lists, __array__) goes through NumPy.
 */
#include "python/common/py.h"

#include <stdlib.h>
#include <string.h>

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

    if (PyObject_GetBuffer(o, &b, PyBUF_RECORDS_RO) < 0) {
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
    if (t == (PyTypeObject *)py.scalar[TD_F64]) { /* numpy.float64, which is a float */
        *out = (td_scalar){.dt = TD_F64, .f = {PyFloat_AsDouble(o)}};
        return 1;
    }
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

/* Fails: o cannot be converted.  n: what NumPy makes of o, or NULL. */
static bool
unsupported(PyObject *o, PyObject *n)
{
    PyObject *d = n ? PyObject_GetAttrString(n, "dtype") : NULL,
             *kind = d ? PyObject_GetAttrString(d, "kind") : NULL;

    if (kind && (PyUnicode_CompareWithASCIIString(kind, "U") == 0 ||
                 PyUnicode_CompareWithASCIIString(kind, "S") == 0))
        PyErr_Format(
            py.no_numbers,
            "treadle arrays hold numbers: cannot convert %R of dtype %R, text; keep it in NumPy's "
            "array, compute with codes (numpy.unique(x, return_inverse=True)), or give dtype= "
            "where its elements spell numbers",
            (PyObject *)Py_TYPE(o), d);
    else if (d)
        PyErr_Format(
            py.no_numbers,
            "treadle arrays hold numbers: cannot convert %R of dtype %R; give dtype= where "
            "its elements stand for numbers, or keep it in NumPy's array",
            (PyObject *)Py_TYPE(o), d);
    else
        PyErr_Format(py.no_numbers, "treadle arrays hold numbers: cannot convert %R",
                     (PyObject *)Py_TYPE(o));
    Py_XDECREF(d);
    Py_XDECREF(kind);
    return false;
}

static bool
cast_into(td_status st, td_array *raw, int dt, td_array *out)
{
    bool ok = true;

    if (!st && dt >= 0 && (td_dtype)dt != td_array_dtype(raw)) {
        ok = py_cast_warning(td_array_dtype(raw), (td_dtype)dt);
        if (ok)
            st = td_array_cast(raw, (td_dtype)dt, out);
        td_array_unref(raw);
    } else if (!st)
        *out = *raw;
    return ok && py_ok(st);
}

/* Do the elements lie without gaps in C order of the axes axes[0], axes[1], …? */
static bool
is_permuted(const Py_buffer *b, int axes[])
{
    Py_ssize_t step = b->itemsize;

    for (int i = 0; i < b->ndim; i++) {
        int k = i;

        for (; k && b->strides[axes[k - 1]] < b->strides[i]; k--)
            axes[k] = axes[k - 1];
        axes[k] = i;
    }
    for (int i = b->ndim - 1; i >= 0; i--) {
        if (b->shape[axes[i]] != 1 && b->strides[axes[i]] != step)
            return false;
        step *= b->shape[axes[i]];
    }
    return true;
}

int
py_copy_numpy(PyObject *o, int dt, td_dev *dev, td_array *out)
{
    py_numpy_parts p;
    td_view layout;
    td_array raw;
    td_shape s;

    if (!py_numpy_look(o, &p) || !p.contiguous)
        return 0;
    s = (td_shape){.ndim = p.ndim};
    for (int i = 0; i < p.ndim; i++)
        s.dim[i] = p.dim[i];
    layout = td_view_contiguous(&s);
    return cast_into(td_array_from_host_as(dev, p.dt, &layout, p.data, &raw), &raw, dt, out) ? 1
                                                                                             : -1;
}

/* Copies a buffer's elements.  1: done; 0: elements that we do not have; -1: exception. */
static int
copy_buffer(PyObject *o, int dt, td_dev *dev, td_array *out)
{
    void *packed = NULL;
    int axes[TD_MAXDIM];
    td_view layout;
    td_shape s;
    td_array raw;
    td_dtype own;
    td_status st;
    Py_buffer b;
    int r = py_copy_numpy(o, dt, dev, out);

    if (r)
        return r;
    r = -1;
    if (PyObject_GetBuffer(o, &b, PyBUF_RECORDS_RO) < 0) {
        PyErr_Clear();
        return 0;
    }
    /* in a buffer, NumPy shows a date as its bytes */
    if (!py_buffer_shape(&b, &own, &s) || (s.ndim && !PySequence_Check(o))) {
        PyBuffer_Release(&b);
        return 0;
    }
    layout = td_view_contiguous(&s);
    if (!PyBuffer_IsContiguous(&b, 'C') && is_permuted(&b, axes)) {
        layout = td_view_laid(&s, axes);
    } else if (!PyBuffer_IsContiguous(&b, 'C')) {
        packed = malloc((size_t)b.len + 1);
        if (!packed)
            PyErr_NoMemory();
        if (!packed || PyBuffer_ToContiguous(packed, &b, b.len, 'C') < 0)
            goto out;
    }
    st = td_array_from_host_as(dev, own, &layout, packed ? packed : b.buf, &raw);
    r = cast_into(st, &raw, dt, out) ? 1 : -1;
out:
    free(packed);
    PyBuffer_Release(&b);
    return r;
}

bool
py_is_word(PyObject *o)
{
    return PyUnicode_Check(o) || PyBytes_Check(o) || o == Py_None;
}

/* numpy.asarray(o) in native byte order.  Integers of a list are checked against the dtype asked for. */
static PyObject *
numpy_of(PyObject *o, int dt)
{
    bool typed = PyList_Check(o) || PyTuple_Check(o) || py_is_word(o);
    PyObject *np = py_numpy(), *n = NULL, *d = NULL, *native = NULL, *r = NULL;

    if (np && typed && dt >= 0 && dt != TD_BF16)
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

/* Copies the bits of an ml_dtypes.bfloat16 array, whose dtype a buffer cannot tell.  1: done;
 * 0: another array; -1: exception. */
static int
copy_bfloat16(PyObject *n, int dt, td_dev *dev, td_array *out)
{
    PyObject *d = PyObject_GetAttrString(n, "dtype"),
             *name = d ? PyObject_GetAttrString(d, "name") : NULL, *bits;
    bool ours = name && PyUnicode_CompareWithASCIIString(name, "bfloat16") == 0;
    td_array raw, seen;
    td_status st;
    int r;

    Py_XDECREF(d);
    Py_XDECREF(name);
    if (!ours)
        return PyErr_Occurred() ? -1 : 0;
    bits = PyObject_CallMethod(n, "view", "s", "u2");
    r = bits ? copy_buffer(bits, -1, dev, &raw) : -1;
    Py_XDECREF(bits);
    if (r <= 0)
        return r;
    st = td_array_retype(&raw, TD_BF16, &seen);
    td_array_unref(&raw);
    return cast_into(st, &seen, dt, out) ? 1 : -1;
}

/* Converts o through NumPy; refuses what is not numeric for NumPy either. */
static bool
through_numpy(PyObject *o, int dt, td_dev *dev, td_array *out)
{
    PyObject *n = numpy_of(o, dt);
    int r = n ? copy_buffer(n, dt, dev, out) : -1;

    if (r == 0)
        r = copy_bfloat16(n, dt, dev, out);

    if (r == 0)
        unsupported(o, n);
    Py_XDECREF(n);
    return r > 0;
}

bool
py_to_device(const td_array *a, int dt, td_dev *dev, td_array *out)
{
    size_t nbytes = (size_t)td_array_size(a) * td_dtype_size(td_array_dtype(a));
    td_array raw;
    void *host;
    bool ok;
    td_status st;

    if (dev && dev != td_array_dev(a)) {
        st = td_array_to_device(a, dev, &raw);
        if (st != TD_SKIP)
            return cast_into(st, &raw, dt, out);
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
    return py_cast_warning(td_array_dtype(a), (td_dtype)dt) &&
           py_ok(td_array_cast(a, (td_dtype)dt, out));
}

static bool
one_number(td_scalar s, char weak, int dt, td_dev *dev, td_array *out)
{
    td_dtype want = dt < 0 ? s.dt : (td_dtype)dt;

    if (weak == 'i' && dt < 0 && s.dt == TD_F64) {
        PyErr_SetString(PyExc_OverflowError, "Python integer too large for 64 bits");
        return false;
    }
    if (!py_real_fits(s, weak, want))
        return false;
    return (weak != 'i' || py_int_fits(s, want)) &&
           py_ok(td_array_full(dev, want, &(td_shape){0}, s, out));
}

/* Raises: copy=False cannot be obeyed; says why. */
static bool
no_copy(const char *what, const char *have, const char *want)
{
    PyErr_Format(PyExc_ValueError,
                 "copy=False, but %s %s and %s is wanted, which needs a copy; leave copy=False out",
                 what, have, want);
    return false;
}

bool
py_settle(const td_array *a, int dt, td_dev *dev, py_copy copy, td_array *out)
{
    td_dev *home = td_array_dev(a);
    bool moves = dev && dev != home, casts = dt >= 0 && (td_dtype)dt != td_array_dtype(a);
    PyThreadState *gil;
    td_status st;

    if (copy == PY_COPY_NEVER && moves)
        return no_copy("the memory lies on", td_dev_info(home)->name, td_dev_info(dev)->name);
    if (copy == PY_COPY_NEVER && casts)
        return no_copy("the elements are", td_dtype_name(td_array_dtype(a)),
                       td_dtype_name((td_dtype)dt));
    if (moves)
        return py_to_device(a, dt, dev, out);
    if (!casts && copy != PY_COPY_ALWAYS) {
        *out = td_array_ref(a);
        return true;
    }
    if (!py_ok(casts ? td_array_cast(a, (td_dtype)dt, out) : td_array_copy(a, out)))
        return false;
    if (!td_dev_info(home)->queued)
        return true;
    gil = PyEval_SaveThread(); /* the memory must have been read when we return */
    st = td_stream_sync(td_dev_stream(home));
    PyEval_RestoreThread(gil);
    if (st)
        td_array_unref(out);
    return py_ok(st);
}

/* As py_asarray, for objects that lend memory by DLPack or the CUDA array interface.  1: done;
 * 0: o is none; -1: exception. */
static int
copy_foreign(PyObject *o, int dt, td_dev *dev, td_array *out)
{
    td_array raw;
    int r = py_share_foreign(o, &raw);

    if (r <= 0)
        return r;
    if (!dev && td_dev_info(td_array_dev(&raw))->host && !py_device(NULL, &dev))
        r = -1;
    else
        r = py_settle(&raw, dt, dev, PY_COPY_ALWAYS, out) ? 1 : -1;
    td_array_unref(&raw);
    return r;
}

/* Raises TypeError where o lies on several devices. */
static bool
on_one_device(PyObject *o)
{
    PyObject *attr = py_attr(o, "__treadle_ufunc__");

    if (!attr)
        return !PyErr_Occurred();
    Py_DECREF(attr);
    PyErr_SetString(PyExc_TypeError,
                    "the array lies on several devices, and arrays of one are wanted here: "
                    "x.to_device(device) gives one. Functions that a program has stored before it "
                    "made its first mesh do not know of meshes");
    return false;
}

/* Converts through NumPy, or what o's __array__ gives where that is one of our arrays, which NumPy refuses there. */
static bool
through_protocol(PyObject *o, int dt, td_dev *dev, td_array *out)
{
    PyObject *f = PyType_Check(o) ? NULL : py_attr(o, "__array__"),
             *made = f                  ? PyObject_CallNoArgs(f)
                     : PyErr_Occurred() ? NULL
                                        : Py_NewRef(o);
    bool ok = made && (py_is_array(made)
                           ? py_asarray(made, dt, dev, out)
                           : through_numpy(PyObject_CheckBuffer(made) ? made : o, dt, dev, out));

    Py_XDECREF(f);
    Py_XDECREF(made);
    return ok;
}

bool
py_asarray(PyObject *o, int dt, td_dev *dev, td_array *out)
{
    td_dev *host = dev; /* the device that host data goes to */
    td_scalar s;
    char weak;
    int r;

    if (py_is_array(o))
        return py_to_device(py_array_of(o), dt, dev, out);
    if (!host && !py_device(NULL, &host))
        return false;
    r = py_number(o, &s, &weak);
    if (r)
        return r > 0 && one_number(s, weak, dt, host, out);
    if (py_is_word(o) && dt >= 0 && dt != TD_BF16)
        return through_numpy(o, dt, host, out);
    if (py_is_word(o) || PyDict_Check(o))
        return unsupported(o, NULL);
    if (PyObject_CheckBuffer(o)) {
        r = py_within_door() ? py_numpy_has_class(o) : 0; /* NumPy's function keeps the class */
        if (r)
            return r > 0 && unsupported(o, NULL);
        r = copy_buffer(o, dt, host, out);
    } else if (!(r = py_list(o, dt, host, out)))
        r = copy_foreign(o, dt, dev, out);
    return r ? r > 0 : on_one_device(o) && through_protocol(o, dt, host, out);
}

PyObject *
py_array_object(PyObject *obj)
{
    td_array a;

    if (py_is_array(obj))
        return Py_NewRef(obj);
    return py_asarray(obj, -1, NULL, &a) ? py_wrap(&a) : NULL;
}

/* Shares memory that only NumPy's array interface shows.  1: done; 0: o has none; -1:
 * exception. */
static int
share_interface(PyObject *o, td_array *out)
{
    PyObject *d = py_attr(o, "__array_interface__"), *np = d ? py_numpy() : NULL,
             *n = np ? PyObject_CallMethod(np, "asarray", "(O)", o) : NULL;
    int r = n ? py_share_buffer(n, out) : PyErr_Occurred() ? -1 : 0;

    Py_XDECREF(d);
    Py_XDECREF(n);
    return r;
}

bool
py_share(PyObject *o, int dt, td_dev *dev, td_array *out)
{
    td_array raw;
    bool ok;
    int r = PyObject_CheckBuffer(o) ? py_share_buffer(o, &raw) : py_share_foreign(o, &raw);

    if (!r && !PyObject_CheckBuffer(o))
        r = share_interface(o, &raw);
    if (!r)
        PyErr_Format(PyExc_ValueError,
                     "copy=False, but %R has no memory of numbers that could be shared; leave "
                     "copy=False out",
                     (PyObject *)Py_TYPE(o));
    if (r <= 0)
        return false;
    ok = dev || !td_dev_info(td_array_dev(&raw))->host || py_device(NULL, &dev);
    ok = ok && py_settle(&raw, dt, dev, PY_COPY_NEVER, out);
    td_array_unref(&raw);
    return ok;
}
