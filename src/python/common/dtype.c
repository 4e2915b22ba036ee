/* dtype.c - element types as Python programs write them. */
#include "python/common/py.h"

#include <string.h>

/* Names of Python and C for dtypes that NumPy names by width. */
static const struct alias {
    const char *name;
    td_dtype dt;
} aliases[] = {
    {"float", TD_F64}, {"int", TD_I64},  {"bool_", TD_BOOL}, {"complex", TD_C128},
    {"f", TD_F32},     {"d", TD_F64},    {"f2", TD_F16},     {"f4", TD_F32},
    {"f8", TD_F64},    {"half", TD_F16}, {"single", TD_F32}, {"double", TD_F64},
    {"?", TD_BOOL},    {"b", TD_I8},     {"B", TD_U8},       {"i", TD_I32},
    {"i1", TD_I8},     {"i2", TD_I16},   {"i4", TD_I32},     {"i8", TD_I64},
    {"u1", TD_U8},     {"u2", TD_U16},   {"u4", TD_U32},     {"u8", TD_U64},
    {"c8", TD_C64},    {"c16", TD_C128}, {"int_", TD_I64},   {"intp", TD_I64},
    {"uint", TD_U64},
};

/* Finds NumPy's dtypes and the types of its scalars. */
static bool
find_dtypes(void)
{
    for (int dt = 0; dt < TD_DTYPE_COUNT; dt++) {
        PyObject *d = dt == TD_BF16 ? NULL : py_dtype_object((td_dtype)dt);

        if (!d && dt != TD_BF16)
            return false;
        Py_XDECREF(d);
    }
    return true;
}

PyObject *
py_numpy(void)
{
    if (!py.numpy) {
        py.numpy = PyImport_ImportModule("numpy");
        if (py.numpy && !(find_dtypes() && py_numpy_table() && py_numpyloops_take()))
            Py_CLEAR(py.numpy);
    }
    return py.numpy;
}

bool
py_numpy_meet(void)
{
    PyObject *name = PyUnicode_FromString("numpy"), *np = name ? PyImport_GetModule(name) : NULL;

    Py_XDECREF(name);
    if (np)
        (void)py_numpy();
    Py_XDECREF(np);
    return !PyErr_Occurred();
}

/* 1 known, 0 not; no exception is left. */
static int
dtype_of_text(PyObject *o, td_dtype *out)
{
    const char *s = PyUnicode_AsUTF8AndSize(o, NULL);

    if (!s) {
        PyErr_Clear();
        return 0;
    }
    for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++)
        if (strcmp(s, aliases[i].name) == 0) {
            *out = aliases[i].dt;
            return 1;
        }
    for (int i = 0; i < TD_DTYPE_COUNT; i++)
        if (strcmp(s, td_dtab[i].name) == 0 || strcmp(s, td_dtab[i].typestr) == 0) {
            *out = (td_dtype)i;
            return 1;
        }
    return 0;
}

static int
dtype_of_attr(PyObject *o, const char *attr, td_dtype *out)
{
    PyObject *s = PyObject_GetAttrString(o, attr);
    int r = s && PyUnicode_Check(s) ? dtype_of_text(s, out) : 0;

    Py_XDECREF(s);
    PyErr_Clear();
    return r;
}

static bool
is_singleton(PyObject *d)
{
    for (int i = 0; i < TD_DTYPE_COUNT; i++)
        if (d == py.dtype[i])
            return true;
    return false;
}

/* Asks numpy.dtype(), whose refusal is the error.  Unchanged programs only get dtypes for
 * which NumPy has one object: a second type of the same size, fields and metadata would be
 * lost. */
static bool
dtype_through_numpy(PyObject *o, td_dtype *out)
{
    PyObject *np = py_numpy(), *d = np ? PyObject_CallMethod(np, "dtype", "(O)", o) : NULL;
    int r;

    if (!d)
        return false;
    r = px_works() && !is_singleton(d) ? 0 : dtype_of_attr(d, "str", out);
    if (!r)
        PyErr_Format(py.no_numbers, "dtype '%S' is not supported", d);
    Py_DECREF(d);
    return r > 0;
}

bool
py_dtype(PyObject *o, td_dtype *out)
{
    for (int i = 0; i < TD_DTYPE_COUNT; i++)
        if (o == py.dtype[i] || o == py.scalar[i]) {
            *out = (td_dtype)i;
            return true;
        }
    if (o == (PyObject *)&PyFloat_Type)
        return *out = TD_F64, true;
    if (o == (PyObject *)&PyLong_Type)
        return *out = TD_I64, true;
    if (o == (PyObject *)&PyBool_Type)
        return *out = TD_BOOL, true;
    if (o == (PyObject *)&PyComplex_Type)
        return *out = TD_C128, true;
    if (py_is_array(o) &&
        !py_is_number((py_ndarray *)o)) { /* NumPy takes dtypes of scalars, and refuses arrays */
        PyErr_SetString(PyExc_TypeError, "Cannot construct a dtype from an array");
        return false;
    }
    if (PyUnicode_Check(o))
        return dtype_of_text(o, out) || dtype_through_numpy(o, out);
    if (PyType_Check(o) && dtype_of_attr(o, "__name__", out)) {
        Py_XDECREF(py_dtype_object(*out)); /* now py.scalar has the type */
        PyErr_Clear();
        return true;
    }
    return dtype_through_numpy(o, out);
}

bool
py_dtype_or(PyObject *o, int dflt, int *out)
{
    td_dtype dt = TD_BOOL;

    *out = dflt;
    if (py_is_none(o))
        return true;
    if (!py_dtype(o, &dt))
        return false;
    *out = (int)dt;
    return true;
}

bool
py_ml_dtypes(void)
{
    static int there = -1;

    if (there < 0) {
        PyObject *m = PyImport_ImportModule("ml_dtypes"),
                 *c = m ? PyObject_GetAttrString(m, "bfloat16") : NULL, *np = c ? py_numpy() : NULL;

        py.dtype[TD_BF16] = np ? PyObject_CallMethod(np, "dtype", "(O)", c) : NULL;
        there = py.dtype[TD_BF16] != NULL;
        Py_XDECREF(m);
        Py_XDECREF(c);
        PyErr_Clear();
    }
    return there;
}

bool
py_cast_warning(td_dtype from, td_dtype to)
{
    PyObject *np, *home, *warning;
    int r;

    if (!td_dtype_is_complex(from) || td_dtype_is_complex(to) || to == TD_BOOL)
        return true;
    np = py_numpy();
    home = np ? PyObject_GetAttrString(np, "exceptions") : NULL;
    if (np && !home) { /* before NumPy 1.25 */
        PyErr_Clear();
        home = Py_NewRef(np);
    }
    warning = home ? PyObject_GetAttrString(home, "ComplexWarning") : NULL;
    r = warning
            ? PyErr_WarnEx(warning, "Casting complex values to real discards the imaginary part", 1)
            : -1;
    Py_XDECREF(home);
    Py_XDECREF(warning);
    return r == 0;
}

PyObject *
py_dtype_object(td_dtype dt)
{
    if (!py.dtype[dt] && !(dt == TD_BF16 && py_ml_dtypes())) {
        PyObject *np = py_numpy();

        py.dtype[dt] = np ? PyObject_CallMethod(np, "dtype", "s", td_dtab[dt].typestr) : NULL;
    }
    if (py.dtype[dt] && !py.scalar[dt])
        py.scalar[dt] = PyObject_GetAttrString(py.dtype[dt], "type");
    return Py_XNewRef(py.dtype[dt]);
}

PyObject *
py_scalar_object(td_scalar s)
{
    switch (td_dtype_kind(s.dt)) {
    case 'b': return PyBool_FromLong(s.i != 0);
    case 'i': return PyLong_FromLongLong(s.i);
    case 'u': return PyLong_FromUnsignedLongLong(s.u);
    case 'f': return PyFloat_FromDouble(s.f[0]);
    }
    return PyComplex_FromDoubles(s.f[0], s.f[1]);
}

const char *
py_dtype_format(td_dtype dt)
{
    switch (dt) {
    case TD_BOOL:        return "?";
    case TD_I8:          return "b";
    case TD_I16:         return "h";
    case TD_I32:         return "i";
    case TD_I64:         return "l";
    case TD_U8:          return "B";
    case TD_U16:         return "H";
    case TD_U32:         return "I";
    case TD_U64:         return "L";
    case TD_F16:         return "e";
    case TD_F32:         return "f";
    case TD_F64:         return "d";
    case TD_C64:         return "Zf";
    case TD_C128:        return "Zd";
    case TD_BF16:
    case TD_DTYPE_COUNT: break;
    }
    return NULL;
}

/* The letters of one kind differ in width between machines, so the item's size decides. */
static bool
by_width(char kind, Py_ssize_t size, td_dtype *out)
{
    for (int i = 0; i < TD_DTYPE_COUNT; i++)
        if (i != TD_BF16 && td_dtab[i].kind == kind && td_dtab[i].size == size) {
            *out = (td_dtype)i;
            return true;
        }
    return false;
}

bool
py_format_dtype(const char *f, Py_ssize_t itemsize, td_dtype *out)
{
    char kind = 0;

    if (!f)
        f = "B";
    if ((*f == '>' || *f == '!') && itemsize > 1)
        return false;
    if (strchr("@=<>!|", *f))
        f++;
    if (*f == 'Z' && f[1] && !f[2])
        kind = 'c';
    else if (*f && f[1])
        return false;
    else if (*f == '?')
        kind = 'b';
    else if (*f && strchr("bhilqn", *f))
        kind = 'i';
    else if (*f && strchr("BHILQN", *f))
        kind = 'u';
    else if (*f && strchr("efd", *f))
        kind = 'f';
    return kind && by_width(kind, itemsize, out);
}
