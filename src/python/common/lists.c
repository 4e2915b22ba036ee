/* lists.c - converts nested lists and tuples of Python numbers to arrays, without NumPy.
 *
 * It declines lists with anything else in them: arrays, ragged rows, numbers that NumPy has to
 * judge.
 */
#include "python/common/py.h"

#include <stdlib.h>
#include <string.h>

/* nest - what a first walk over the list finds out, and the position at which the second walk
 * writes. */
typedef struct nest {
    td_shape shape;
    char kind; /* b, i, f, c: the highest kind so far; 0: no number yet */
    bool leaf; /* numbers were found at depth shape.ndim */
    void *at;
} nest;

static bool
is_list(PyObject *o)
{
    return PyList_CheckExact(o) || PyTuple_CheckExact(o);
}

static Py_ssize_t
size_of(PyObject *o)
{
    return PyList_CheckExact(o) ? PyList_Size(o) : PyTuple_Size(o);
}

static PyObject *
item_of(PyObject *o, Py_ssize_t i) /* borrowed */
{
    return PyList_CheckExact(o) ? PyList_GetItem(o, i) : PyTuple_GetItem(o, i);
}

static char
number_kind(PyObject *o)
{
    return Py_IS_TYPE(o, &PyFloat_Type)     ? 'f'
           : Py_IS_TYPE(o, &PyLong_Type)    ? 'i'
           : Py_IS_TYPE(o, &PyBool_Type)    ? 'b'
           : Py_IS_TYPE(o, &PyComplex_Type) ? 'c'
                                            : 0;
}

/* Ranks b < i < f < c, which is not the order of the letters. */
static int
rank_of(char kind)
{
    return kind == 'c' ? 4 : kind == 'f' ? 3 : kind == 'i' ? 2 : kind == 'b' ? 1 : 0;
}

static bool
measure_list(PyObject *o, int depth, nest *n)
{
    Py_ssize_t size;

    if (!is_list(o)) {
        char kind = number_kind(o);

        if (!kind || n->shape.ndim != depth)
            return false;
        n->leaf = true;
        if (rank_of(kind) > rank_of(n->kind))
            n->kind = kind;
        return true;
    }
    size = size_of(o);
    if (depth == n->shape.ndim) { /* the first list of each depth sets its extent */
        if (n->leaf || depth == TD_MAXDIM)
            return false;
        n->shape.dim[n->shape.ndim++] = size;
    } else if (n->shape.dim[depth] != size)
        return false;
    for (Py_ssize_t i = 0; i < size; i++)
        if (!measure_list(item_of(o, i), depth + 1, n))
            return false;
    return true;
}

static bool
fill_one(PyObject *o, nest *n)
{
    switch (n->kind) {
    case 'b': {
        uint8_t **p = (uint8_t **)&n->at;

        *(*p)++ = o == Py_True;
        return true;
    }
    case 'i': {
        int64_t **p = (int64_t **)&n->at;
        int over = 0;

        *(*p)++ = PyLong_AsLongLongAndOverflow(o, &over);
        return !over; /* uint64 or larger: NumPy decides */
    }
    case 'f': {
        double **p = (double **)&n->at;

        *(*p)++ = PyFloat_AsDouble(o);
        break;
    }
    default: {
        double **p = (double **)&n->at;

        *(*p)++ = PyComplex_RealAsDouble(o);
        *(*p)++ = PyComplex_ImagAsDouble(o);
    }
    }
    return true;
}

static bool
fill_list(PyObject *o, nest *n)
{
    Py_ssize_t size;

    if (!is_list(o))
        return fill_one(o, n);
    size = size_of(o);
    for (Py_ssize_t i = 0; i < size; i++)
        if (!fill_list(item_of(o, i), n))
            return false;
    return true;
}

/* Do all elements fit the integer dtype?  If not, NumPy words the error. */
static bool
list_fits(const nest *n, int dt, const int64_t *v, int64_t count)
{
    int64_t lo, hi;
    int bits;

    if (n->kind != 'i' || dt < 0 || !td_dtype_is_int((td_dtype)dt) || dt == TD_I64)
        return true;
    bits = 8 * (int)td_dtype_size((td_dtype)dt);
    lo = td_dtype_kind((td_dtype)dt) == 'u' ? 0 : -((int64_t)1 << (bits - 1));
    hi = dt == TD_U64 ? INT64_MAX : lo ? -(lo + 1) : ((int64_t)1 << bits) - 1;
    for (int64_t i = 0; i < count; i++)
        if (v[i] < lo || v[i] > hi)
            return false;
    return true;
}

/* Converts the numbers to another dtype on the host, so that a device receives only what it
 * keeps. */
static td_status
convert_list(const td_shape *s, td_dtype from, const char *data, td_dtype to, td_dev *dev,
             td_array *out)
{
    size_t step = td_dtype_size(from), size = td_dtype_size(to);
    int64_t count = td_shape_size(s);
    char *packed = malloc((size_t)count * size + 1);
    td_status st;

    if (!packed)
        return td_fail(TD_ERR_NOMEM, "asarray: no memory for %zu bytes", (size_t)count * size);
    for (int64_t i = 0; i < count; i++) {
        uint64_t bits[2];

        td_scalar_bits(td_scalar_load(from, data + (size_t)i * step), to, bits);
        memcpy(packed + (size_t)i * size, bits, size);
    }
    st = td_array_from_host(dev, to, s, packed, out);
    free(packed);
    return st;
}

int
py_list(PyObject *obj, int dt, td_dev *dev, td_array *out)
{
    static const td_dtype own[] = {TD_F64, TD_BOOL, TD_I64, TD_F64, TD_C128};
    nest n = {.kind = 0};
    int64_t count;
    void *data;
    td_status st;
    td_dtype from;
    int r = 0;

    if (!is_list(obj) || !measure_list(obj, 0, &n))
        return 0;
    if (n.kind == 'c' && dt > TD_BOOL && !td_dtype_is_complex((td_dtype)dt))
        return 0; /* NumPy raises the error */
    if (n.kind == 'f' && dt >= 0 && td_dtype_is_int((td_dtype)dt))
        return 0; /* NumPy judges each number: exact integers, floats that fit */
    from = own[rank_of(n.kind)];
    if (n.kind == 'c' && dt >= 0 && !td_dtype_is_complex((td_dtype)dt))
        return 0; /* NumPy words the error */
    count = td_shape_size(&n.shape);
    data = n.at = malloc((size_t)count * td_dtype_size(from) + 1);
    if (!data) {
        PyErr_NoMemory();
        return -1;
    }
    if (fill_list(obj, &n) && !PyErr_Occurred() && list_fits(&n, dt, data, count)) {
        if (dt < 0 || (td_dtype)dt == from)
            st = td_array_from_host(dev, from, &n.shape, data, out);
        else
            st = convert_list(&n.shape, from, data, (td_dtype)dt, dev, out);
        r = py_ok(st) ? 1 : -1;
    }
    free(data);
    return PyErr_Occurred() ? -1 : r;
}
