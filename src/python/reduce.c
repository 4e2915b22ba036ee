/* reduce.c - the reductions as methods: a reading of reduce.def. */
#include "python/py.h"

#include <string.h>

bool
py_axes(const char *fn, PyObject *axis, int ndim, uint32_t *out)
{
    Py_ssize_t n = 1;

    *out = ndim ? (uint32_t)((1ull << ndim) - 1) : 0;
    if (py_is_none(axis))
        return true;
    *out = 0;
    if (PyTuple_Check(axis) || PyList_Check(axis))
        n = PySequence_Size(axis);
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *o = PyTuple_Check(axis) || PyList_Check(axis) ? PySequence_GetItem(axis, i)
                                                                : Py_NewRef(axis);
        PyObject *number = o ? PyNumber_Index(o) : NULL;
        int64_t value = number ? PyLong_AsLongLong(number) : -1;
        int k;

        Py_XDECREF(o);
        Py_XDECREF(number);
        if (ndim == 0 && !PyErr_Occurred() && (value == 0 || value == -1))
            continue; /* NumPy lets 0-d arrays have it */
        if (PyErr_Occurred() || !py_ok(td_axis_normalize(fn, value, ndim, &k)))
            return false;
        if (*out >> k & 1) {
            PyErr_SetString(PyExc_ValueError, "duplicate value in 'axis'");
            return false;
        }
        *out |= 1u << k;
    }
    return true;
}

static const char *const red_names[] = {
#define RED(name, ...) #name,
#include "array/reduce.def"
};

/* Over no axes: every element is reduced alone, along an axis of extent 1 that is added for it. */
static td_status
each_alone(td_red red, const td_array *a, td_redargs g, td_array *out)
{
    td_shape s = a->view.shape;
    td_array tall;
    td_status st;

    if (s.ndim == TD_MAXDIM)
        return td_fail(TD_ERR_VALUE, "%s: axis=() of an array of %d dimensions", red_names[red],
                       s.ndim);
    g.axes = 1u << s.ndim;
    g.keepdims = false;
    s.dim[s.ndim++] = 1;
    TD_TRY(td_array_reshape(a, &s, &tall));
    st = td_array_reduce(red, &tall, &g, out);
    td_array_unref(&tall);
    return st;
}

static PyObject *
reduce_into(td_red red, PyObject *self, const td_redargs *g, PyObject *out)
{
    py_ndarray *r = py_new();
    td_operand value;
    td_status st;

    if (!r)
        return NULL;
    if (g->axes || py_array_of(self)->view.shape.ndim == 0)
        st = td_array_reduce(red, py_array_of(self), g, &r->a);
    else
        st = each_alone(red, py_array_of(self), *g, &r->a);
    if (st || py_is_none(out))
        return py_done(r, st);
    if (!py_is_array(out) || !py_writable((py_ndarray *)out) ||
        !td_shape_eq(&py_array_of(out)->view.shape, &r->a.view.shape)) {
        if (!PyErr_Occurred())
            PyErr_Format(PyExc_ValueError, "%s: out must be a treadle array of the result's shape",
                         red_names[red]);
        Py_DECREF((PyObject *)r);
        return NULL;
    }
    value = (td_operand){.array = &r->a};
    st = td_array_assign(py_array_of(out), &value);
    Py_DECREF((PyObject *)r);
    return st ? py_raise(st) : Py_NewRef(out);
}

static PyObject *
reduce_with(td_red red, PyObject *self, PyObject *const arg[5])
{
    td_redargs g = {.dtype = -1};
    const td_shape *s = &py_array_of(self)->view.shape;

    if (!py_axes(red_names[red], arg[0], s->ndim, &g.axes) || !py_dtype_or(arg[1], -1, &g.dtype) ||
        !py_flag(arg[3], false, &g.keepdims) ||
        (g.dtype >= 0 && !py_cast_warning(td_array_dtype(py_array_of(self)), (td_dtype)g.dtype)))
        return NULL;
    if (arg[4]) {
        g.ddof = PyFloat_AsDouble(arg[4]);
        if (PyErr_Occurred())
            return NULL;
    }
    return reduce_into(red, self, &g, arg[2]);
}

PyObject *
py_reduce(td_red red, PyObject *self, PyObject *axis, PyObject *dtype, PyObject *out,
          PyObject *keepdims)
{
    PyObject *const arg[5] = {axis, dtype, out, keepdims, NULL};

    return reduce_with(red, self, arg);
}

/* NumPy's positional orders: each letter names the next parameter: a axis, t dtype, o out, k keepdims, d ddof. */
static const char *
order_of(td_red red)
{
    switch (red) {
    case TD_RED_sum:
    case TD_RED_prod:
    case TD_RED_mean:          return "atok";
    case TD_RED_var:
    case TD_RED_std:           return "atodk";
    case TD_RED_count_nonzero: return "ak";
    default:                   return "aok";
    }
}

static PyObject *
reduce_method(td_red red, PyObject *self, PyObject *const *args, Py_ssize_t nargs,
              PyObject *kwnames)
{
    static const char letters[] = "atokd";
    static const char *const words[] = {"axis", "dtype", "out", "keepdims", "ddof"};
    const char *order = order_of(red), *names[6] = {NULL};
    PyObject *given[6], *arg[5] = {NULL};
    int n = (int)strlen(order);

    for (int i = 0; i < n; i++)
        names[i] = words[strchr(letters, order[i]) - letters];
    if (!py_parse(red_names[red], names, 0, n, args, nargs, kwnames, given))
        return NULL;
    for (int i = 0; i < n; i++)
        arg[strchr(letters, order[i]) - letters] = given[i];
    return reduce_with(red, self, arg);
}

#define RED(name, ...)                                                                             \
    static PyObject *red_##name(PyObject *self, PyObject *const *args, Py_ssize_t nargs,           \
                                PyObject *kwnames)                                                 \
    {                                                                                              \
        return reduce_method(TD_RED_##name, self, args, nargs, kwnames);                           \
    }
#include "array/reduce.def"

PyMethodDef py_reduce_methods[] = {
#define RED(name, nacc, npair, identity, meaning)                                                  \
    {#name, PY_FAST(red_##name), METH_FASTCALL | METH_KEYWORDS, meaning},
#include "array/reduce.def"
    {NULL, NULL, 0, NULL},
};
