/* programnumber.c - numbers and structures as arguments of CUDA C++ kernels.
 *
 * A Python number has no size: it becomes the parameter's type if it fits.  A NumPy scalar must
 * have that type.
 */
#include "python/program/program.h"

#include <stdio.h>
#include <string.h>

/* The NumPy scalar class for the parameter, for advice: "numpy.int32"; "": there is none. */
static const char *
scalar_class(const td_cxx_param *p)
{
    static const char *const ints[] = {"numpy.int8", "numpy.int16", "numpy.int32", "numpy.int64"},
                             *const uints[] = {"numpy.uint8", "numpy.uint16", "numpy.uint32",
                                               "numpy.uint64"};
    int i = p->size == 1 ? 0 : p->size == 2 ? 1 : p->size == 4 ? 2 : p->size == 8 ? 3 : -1;

    if (i < 0)
        return "";
    switch (p->kind) {
    case 'i': return ints[i];
    case 'u': return uints[i];
    case 'b': return "bool";
    case 'f': return i == 1 ? "numpy.float16" : i == 2 ? "numpy.float32" : "numpy.float64";
    default:  return "";
    }
}

/* ---- numbers of Python ---- */

static bool
out_of_range(const py_cuarg *w, PyObject *o)
{
    PyObject *at = PyErr_ExceptionMatches(PyExc_OverflowError) || !PyErr_Occurred()
                       ? (PyErr_Clear(), py_cuarg_place(w))
                       : NULL;

    if (at)
        PyErr_Format(PyExc_OverflowError, "%U: %S does not fit its %u bytes", at, o, w->p->size);
    Py_XDECREF(at);
    return false;
}

/* Converts a Python int, or a NumPy integer of the right size, to the parameter's integer. */
static bool
put_int(py_cuarg *w, PyObject *o, bool is_signed)
{
    uint32_t n = w->p->size;
    PyObject *index = PyNumber_Index(o);
    uint64_t bits = 0;
    bool ok = index != NULL;

    if (ok && is_signed) {
        long long v = PyLong_AsLongLong(index);

        bits = (uint64_t)v;
        ok =
            !PyErr_Occurred() && (n >= 8 || (v >= -(1LL << (8 * n - 1)) && v < 1LL << (8 * n - 1)));
    } else if (ok) {
        bits = PyLong_AsUnsignedLongLong(index);
        ok = !PyErr_Occurred() && (n >= 8 || bits < 1ULL << (8 * n));
    }
    Py_XDECREF(index);
    if (!ok)
        return out_of_range(w, o);
    return py_cuarg_put(w, &bits, n); /* little-endian */
}

static bool
put_float(py_cuarg *w, double v, bool bfloat)
{
    float f = (float)v;
    uint16_t half = bfloat ? td_double_to_bfloat(v) : td_double_to_half(v);

    switch (w->p->size) {
    case 2: return py_cuarg_put(w, &half, 2);
    case 4: return py_cuarg_put(w, &f, 4);
    case 8: return py_cuarg_put(w, &v, 8);
    default:
        return py_cuarg_refuse(w, PyExc_TypeError,
                               "a floating type of this size has no Python number");
    }
}

static bool
is_bfloat(const td_cxx_param *p)
{
    return strstr(p->type, "bfloat") != NULL;
}

/* Adds a Python number, which has no size of its own. */
static bool
add_python_number(py_cuarg *w, PyObject *o)
{
    bool number = PyLong_Check(o), real = PyFloat_Check(o);

    switch (w->p->kind) {
    case 'i':
    case 'u':
        if (number || PyIndex_Check(o)) /* texture handles are integers too */
            return put_int(w, o, w->p->kind == 'i');
        return py_cuarg_refuse_object(w, o, "an integer is wanted: int(x), if that is meant");
    case 'b': {
        int t = number || real ? PyObject_IsTrue(o) : -1;
        uint8_t byte = t > 0;

        return t < 0 ? py_cuarg_refuse_object(w, o, "a bool is wanted") : py_cuarg_put(w, &byte, 1);
    }
    case 'f': {
        double v = number || real ? PyFloat_AsDouble(o) : -1;

        if (number || real)
            return (v != -1 || !PyErr_Occurred()) && put_float(w, v, is_bfloat(w->p));
        return py_cuarg_refuse_object(w, o, "a real number is wanted");
    }
    default:
        /* the format tells no more than the size */
        if (number && !*w->p->type && (w->p->size == 4 || w->p->size == 8))
            return put_int(w, o, PyLong_AsDouble(o) < 0);
        return py_cuarg_refuse_object(
            w, o, "the parameter's type is not known: give a NumPy scalar of it");
    }
}

/* Raises: a NumPy scalar must have the parameter's type. */
static bool
wrong_scalar(const py_cuarg *w, const char *dtype)
{
    const char *class = scalar_class(w->p);
    PyObject *at = py_cuarg_place(w);

    if (at && *class)
        PyErr_Format(PyExc_TypeError, "%U: a scalar of %s: write %s(x), or give a Python number",
                     at, dtype, class);
    else if (at)
        PyErr_Format(PyExc_TypeError, "%U: a scalar of %s is not of its %u bytes", at, dtype,
                     w->p->size);
    Py_XDECREF(at);
    return false;
}

/* Adds the bytes of a scalar, a structure or a bytes object: anything contiguous. */
static bool
add_bytes(py_cuarg *w, const Py_buffer *b)
{
    td_dtype dt;
    bool known = b->ndim == 0 && b->format && py_format_dtype(b->format, b->itemsize, &dt);
    char text[120], kind = known ? td_dtype_kind(dt) : 's', want = w->p ? w->p->kind : '?';

    if (b->len > PY_CU_BYTES)
        return py_cuarg_refuse(w, PyExc_ValueError, "more than 4096 bytes of arguments");
    if (!w->p)
        return py_cuarg_put(w, b->buf, (uint32_t)b->len);
    if (known && (want == 'i' || want == 'u') && (kind == 'i' || kind == 'u') &&
        (size_t)b->len == w->p->size) {
        uint64_t top = (uint64_t)((const unsigned char *)b->buf)[b->len - 1] >> 7;

        if (kind != want && top)
            return py_cuarg_refuse(w, PyExc_OverflowError,
                                   "the NumPy scalar does not fit its type's sign");
        return py_cuarg_put(w, b->buf, w->p->size);
    }
    if ((want == '?' || kind == 's' || kind == want || (want == 's' && kind == 'c')) &&
        ((size_t)b->len == w->p->size || (want == '?' && !w->p->size)))
        return py_cuarg_put(w, b->buf, (uint32_t)b->len);
    if (known)
        return wrong_scalar(w, td_dtype_name(dt));
    snprintf(text, sizeof text,
             "%zd bytes came for its %u (numpy.dtype(..., align=True) lays fields out as C does)",
             b->len, w->p->size);
    return py_cuarg_refuse(w, PyExc_TypeError, text);
}

/* 1: done; 0: o has no such buffer; -1: exception. */
static int
add_buffer(py_cuarg *w, PyObject *o)
{
    Py_buffer b;
    bool one;
    int r = 0;

    if (!PyObject_CheckBuffer(o))
        return 0;
    if (PyObject_GetBuffer(o, &b, PyBUF_FORMAT | PyBUF_C_CONTIGUOUS) < 0)
        return -1;
    /* an array of one structure, for a type of which only the size is known */
    one = b.len == b.itemsize;
    if (b.ndim == 0 || PyBytes_Check(o) ||
        (w->p && (w->p->kind == 's' || (w->p->kind == '?' && one))))
        r = add_bytes(w, &b) ? 1 : -1;
    PyBuffer_Release(&b);
    return r;
}

static bool
add_complex(py_cuarg *w, PyObject *o)
{
    double v[2] = {PyComplex_RealAsDouble(o), PyComplex_ImagAsDouble(o)};
    float f[2] = {(float)v[0], (float)v[1]};

    if (w->p && w->p->kind == 's' && strstr(w->p->type, "omplex") && w->p->size == 16)
        return py_cuarg_put(w, v, 16);
    if (w->p && w->p->kind == 's' && strstr(w->p->type, "omplex") && w->p->size == 8)
        return py_cuarg_put(w, f, 8);
    return py_cuarg_refuse_object(w, o, "no complex number is wanted");
}

bool
py_cuarg_number(py_cuarg *w, PyObject *o)
{
    int r;

    if (PyLong_CheckExact(o) || PyBool_Check(o) || PyFloat_CheckExact(o)) {
        if (w->p && w->p->kind != 's')
            return add_python_number(w, o);
        return py_cuarg_refuse_object(
            w, o,
            w->p ? "its bytes are wanted: a numpy.void, a scalar of a structured "
                   "dtype, or bytes"
                 : "nothing is known of the kernel's parameters: give a NumPy "
                   "scalar, numpy.int32(x)");
    }
    r = add_buffer(w, o);
    if (r)
        return r > 0;
    if (PyComplex_Check(o))
        return add_complex(w, o);
    if (w->p && (w->p->kind == 'u' || w->p->kind == 'i') && w->p->size == 8 && !PyIndex_Check(o))
        return py_cuarg_object(w, o); /* a texture or surface object, which has a number */
    if (w->p && (PyIndex_Check(o) || PyFloat_Check(o)) && w->p->kind != 's')
        return add_python_number(w, o);
    return py_cuarg_refuse_object(w, o, "a number is wanted");
}
