/* reduce.c - reductions as methods and as functions, generated from reduce.def. */
#include "python/common/py.h"

#include <string.h>

bool
py_axis(const char *fn, int64_t axis, int ndim, int *out)
{
    PyObject *np, *all, *type, *e;

    if (!td_axis_normalize(fn, axis, ndim, out))
        return true;
    np = py_numpy();
    all = np ? PyObject_GetAttrString(np, "exceptions") : NULL;
    type = all ? PyObject_GetAttrString(all, "AxisError") : NULL;
    e = type ? PyObject_CallFunction(type, "Lis", (long long)axis, ndim, fn) : NULL;
    if (e)
        PyErr_SetObject(type, e);
    Py_XDECREF(all);
    Py_XDECREF(type);
    Py_XDECREF(e);
    return false;
}

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
        PyObject *number = o && !PyBool_Check(o) ? PyNumber_Index(o) : NULL;
        int64_t value = number ? PyLong_AsLongLong(number) : -1;
        int k;

        if (o && PyBool_Check(o))
            PyErr_SetString(PyExc_TypeError, "an integer is required");
        Py_XDECREF(o);
        Py_XDECREF(number);
        if (ndim == 0 && !PyErr_Occurred() && (value == 0 || value == -1))
            continue; /* NumPy allows these axes for 0-d arrays */
        if (PyErr_Occurred() || !py_axis(fn, value, ndim, &k))
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
#include "array/graph/reduce.def"
};

/* Over no axes: reduces every element alone, along an added axis of extent 1. */
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

/* As td_array_reduce; the result is laid out like a. */
static td_status
reduce_laid(td_red red, const td_array *a, const td_redargs *g, td_array *out)
{
    bool place = red == TD_RED_argmin || red == TD_RED_argmax;
    int axes[TD_MAXDIM], ndim = a->view.shape.ndim;
    td_redargs moved = *g;
    td_array lies, r;
    td_status st;

    if (place || g->axes == (1u << ndim) - 1 || !py_as_it_lies(a, axes, &lies))
        return td_array_reduce(red, a, g, out);
    moved.axes = 0;
    for (int i = 0; i < ndim; i++)
        moved.axes |= (g->axes >> axes[i] & 1) << i;
    st = td_array_reduce(red, &lies, &moved, &r);
    td_array_unref(&lies);
    TD_TRY(st);
    st = py_as_it_was(&r, axes, ndim, g->keepdims ? 0 : g->axes, out);
    td_array_unref(&r);
    return st;
}

/* Can out, treadle's array or NumPy's, hold a result of shape s? */
static bool
fits_out(td_red red, PyObject *out, const td_shape *s)
{
    bool same = false;
    PyObject *theirs, *ours;

    if (py_is_array(out)) {
        if (!py_writable((py_ndarray *)out))
            return false;
        same = td_shape_eq(&py_array_of(out)->view.shape, s);
    } else if (py_is_host_out(out)) {
        theirs = PyObject_GetAttrString(out, "shape");
        ours = py_shape_tuple(s);
        same = theirs && ours && PyObject_RichCompareBool(theirs, ours, Py_EQ) > 0;
        Py_XDECREF(theirs);
        Py_XDECREF(ours);
    } else {
        PyErr_Format(PyExc_TypeError, "%s: out must be a treadle array, or NumPy's, not %R",
                     red_names[red], (PyObject *)Py_TYPE(out));
        return false;
    }
    if (!same && !PyErr_Occurred())
        PyErr_Format(PyExc_ValueError, "%s: out must have the result's shape", red_names[red]);
    return same;
}

static PyObject *
reduce_into(td_red red, PyObject *self, const td_redargs *g, PyObject *out)
{
    py_ndarray *r = py_new();
    PyObject *stored;
    td_operand value;
    td_status st;

    if (!r)
        return NULL;
    if (g->axes || py_array_of(self)->view.shape.ndim == 0)
        st = reduce_laid(red, py_array_of(self), g, &r->a);
    else
        st = each_alone(red, py_array_of(self), *g, &r->a);
    if (st || py_is_none(out))
        return py_done(r, st);
    if (!fits_out(red, out, &r->a.view.shape)) {
        Py_DECREF((PyObject *)r);
        return NULL;
    }
    if (!py_is_array(out)) {
        stored = py_store_host(red_names[red], out, (PyObject *)r, NULL, "unsafe");
        Py_DECREF((PyObject *)r);
        return stored;
    }
    value = (td_operand){.array = &r->a};
    st = td_array_assign(py_array_of(out), &value);
    Py_DECREF((PyObject *)r);
    return st ? py_raise(st) : Py_NewRef(out);
}

/* Indices of the parameters, whatever their order in a method. */
enum { AXIS, DTYPE, OUT, KEEPDIMS, DDOF, INITIAL, WHERE, MEAN, CORRECTION, NPARAM };

/* where=, initial= and mean= are composed of other reductions, in Python; correction is another name of ddof. */
static PyObject *
reduce_spelled(td_red red, PyObject *self, PyObject *const arg[NPARAM])
{
    PyObject *f = py_package("treadle._numpy._masked", "reduce"), *r = NULL;
    PyObject *given[CORRECTION];

    for (int i = 0; i < CORRECTION; i++)
        given[i] = arg[i] ? arg[i] : i == WHERE ? Py_True : Py_None;
    if (f)
        r = PyObject_CallFunction(f, "sOOOOOOOOO", red_names[red], self, given[0], given[1],
                                  given[2], given[3], given[4], given[5], given[6], given[7]);
    Py_XDECREF(f);
    return r;
}

/* Are there roundings on the way to the result: is a sum or a mean of integers, or are a variance's sums and the deviations
 * from the mean of different dtypes? */
static bool
sums_apart(td_red red, const td_array *a, int dtype)
{
    bool is_float = dtype < 0 || td_dtype_is_float((td_dtype)dtype);

    if (red == TD_RED_mean)
        return !is_float && !td_dtype_is_complex((td_dtype)dtype);
    return (red == TD_RED_var || red == TD_RED_std) && dtype >= 0 &&
           (!is_float || td_dtype_is_complex(td_array_dtype(a)));
}

static bool
takes_means(td_red red)
{
    return red == TD_RED_mean || red == TD_RED_var || red == TD_RED_std;
}

static PyObject *
reduce_with(td_red red, PyObject *self, PyObject *arg[NPARAM])
{
    td_redargs g = {.dtype = -1};
    const td_shape *s = &py_array_of(self)->view.shape;
    int axis;

    if (!py_is_none(arg[CORRECTION])) {
        if (arg[DDOF]) {
            PyErr_SetString(PyExc_ValueError,
                            "ddof and correction can't be provided simultaneously.");
            return NULL;
        }
        arg[DDOF] = arg[CORRECTION];
    }
    if (!py_dtype_or(arg[DTYPE], -1, &g.dtype))
        return NULL;
    if (!py_is_none(arg[INITIAL]) || !py_is_none(arg[MEAN]) ||
        (arg[WHERE] && arg[WHERE] != Py_True) || sums_apart(red, py_array_of(self), g.dtype))
        return reduce_spelled(red, self, arg);
    if ((red == TD_RED_argmin || red == TD_RED_argmax) && !py_is_none(arg[AXIS]) &&
        (PyTuple_Check(arg[AXIS]) || PyList_Check(arg[AXIS]))) {
        PyErr_Format(PyExc_TypeError, "%s: axis is one integer, not %R", red_names[red],
                     (PyObject *)Py_TYPE(arg[AXIS]));
        return NULL;
    }
    if (takes_means(red) && !s->ndim && arg[AXIS] && PyLong_Check(arg[AXIS]) &&
        !py_axis(red_names[red], PyLong_AsLongLong(arg[AXIS]), 0, &axis))
        return NULL; /* as NumPy, which counts along the axis */
    if (!py_axes(red_names[red], arg[AXIS], s->ndim, &g.axes) ||
        !py_flag(arg[KEEPDIMS], false, &g.keepdims) ||
        (g.dtype >= 0 && !py_cast_warning(td_array_dtype(py_array_of(self)), (td_dtype)g.dtype)))
        return NULL;
    if (arg[DDOF]) {
        g.ddof = PyFloat_AsDouble(arg[DDOF]);
        if (PyErr_Occurred())
            return NULL;
    }
    return reduce_into(red, self, &g, arg[OUT]);
}

PyObject *
py_reduce(td_red red, PyObject *self, PyObject *const arg[6])
{
    PyObject *all[NPARAM] = {arg[0], arg[1], arg[2], arg[3], NULL, arg[4], arg[5]};

    return reduce_with(red, self, all);
}

/* A parameter's entry in the docstring of the reductions that take it. */
#define DOC_AXES                                                                                   \
    "axis : int or tuple of ints, optional\n"                                                      \
    "    Axes to reduce; negative ones count from the last, None means all of them.\n"
#define DOC_AXIS                                                                                   \
    "axis : int, optional\n"                                                                       \
    "    Axis to reduce; None works on the flattened array.\n"
#define DOC_DTYPE                                                                                  \
    "dtype : dtype, optional\n"                                                                    \
    "    Dtype of the result and of sums on the way; None means NumPy's choice.\n"
#define DOC_OUT                                                                                    \
    "out : ndarray, optional\n"                                                                    \
    "    Takes the result and is returned: treadle's or NumPy's, of the result's shape.\n"
#define DOC_KEEP                                                                                   \
    "keepdims : bool, default False\n"                                                             \
    "    Keep the reduced axes, with extent 1.\n"
#define DOC_INITIAL                                                                                \
    "initial : number, optional\n"                                                                 \
    "    Joined to each result; an empty array then has one.\n"
#define DOC_WHERE                                                                                  \
    "where : array_like of bool, default True\n"                                                   \
    "    The elements to take; broadcasts to the array's shape.\n"
#define DOC_DDOF                                                                                   \
    "ddof : float, default 0\n"                                                                    \
    "    The sum of squares is divided by the number of elements less ddof.\n"
#define DOC_MEAN                                                                                   \
    "mean : array_like, optional\n"                                                                \
    "    The mean, if it is known already, with the reduced axes kept.\n"                          \
    "correction : float, optional\n"                                                               \
    "    The array API's name of ddof.\n"

/* NumPy's parameters: one letter for each, in order (after | by keyword only); the signature as text; their docstring. */
#define SUM(pick)                                                                                  \
    pick("atokiw", "axis=None, dtype=None, out=None, keepdims=False, initial=None, where=True",    \
         DOC_AXES DOC_DTYPE DOC_OUT DOC_KEEP DOC_INITIAL DOC_WHERE)
#define EXTREME(pick)                                                                              \
    pick("aokiw", "axis=None, out=None, keepdims=False, initial=None, where=True",                 \
         DOC_AXES DOC_OUT DOC_KEEP DOC_INITIAL DOC_WHERE)
#define TRUTH(pick)                                                                                \
    pick("aok|w", "axis=None, out=None, keepdims=False, *, where=True",                            \
         DOC_AXES DOC_OUT DOC_KEEP DOC_WHERE)
#define AVERAGE(pick)                                                                              \
    pick("atok|w", "axis=None, dtype=None, out=None, keepdims=False, *, where=True",               \
         DOC_AXES DOC_DTYPE DOC_OUT DOC_KEEP DOC_WHERE)
#define SPREAD(pick)                                                                               \
    pick("atodk|wmc",                                                                              \
         "axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, "                \
         "mean=None, correction=None",                                                             \
         DOC_AXES DOC_DTYPE DOC_OUT DOC_DDOF DOC_KEEP DOC_WHERE DOC_MEAN)
#define PLACE(pick)                                                                                \
    pick("ao|k", "axis=None, out=None, *, keepdims=False", DOC_AXIS DOC_OUT DOC_KEEP)
#define COUNT(pick) pick("a|k", "axis=None, *, keepdims=False", DOC_AXES DOC_KEEP)

/* The parameters of each reduction, and the result of its docstring's example. */
#define PARAMS_sum(pick)           SUM(pick)
#define PARAMS_prod(pick)          SUM(pick)
#define PARAMS_min(pick)           EXTREME(pick)
#define PARAMS_max(pick)           EXTREME(pick)
#define PARAMS_any(pick)           TRUTH(pick)
#define PARAMS_all(pick)           TRUTH(pick)
#define PARAMS_mean(pick)          AVERAGE(pick)
#define PARAMS_var(pick)           SPREAD(pick)
#define PARAMS_std(pick)           SPREAD(pick)
#define PARAMS_argmin(pick)        PLACE(pick)
#define PARAMS_argmax(pick)        PLACE(pick)
#define PARAMS_count_nonzero(pick) COUNT(pick)
#define SHOWN_sum                  "array([4, 6])"
#define SHOWN_prod                 "array([3, 8])"
#define SHOWN_min                  "array([1, 2])"
#define SHOWN_max                  "array([3, 4])"
#define SHOWN_any                  "array([ True,  True])"
#define SHOWN_all                  "array([ True,  True])"
#define SHOWN_mean                 "array([2., 3.])"
#define SHOWN_var                  "array([1., 1.])"
#define SHOWN_std                  "array([1., 1.])"
#define SHOWN_argmin               "array([0, 0])"
#define SHOWN_argmax               "array([1, 1])"
#define SHOWN_count_nonzero        "array([2, 2])"
#define ORDER(order, text, doc)    order
#define TEXT(order, text, doc)     text
#define DOC(order, text, doc)      doc

static const char *const orders[] = {
#define RED(name, ...) PARAMS_##name(ORDER),
#include "array/graph/reduce.def"
};

/* head "a": a function, whose first parameter is a; NULL: a method of self. */
static PyObject *
reduce_call(td_red red, const char *head, PyObject *self, PyObject *const *args, Py_ssize_t nargs,
            PyObject *kwnames)
{
    static const char letters[] = "atokdiwmc";
    static const char *const words[] = {"axis",    "dtype", "out",  "keepdims",  "ddof",
                                        "initial", "where", "mean", "correction"};
    const char *names[NPARAM + 2] = {head}, *order = orders[red];
    PyObject *given[NPARAM + 1], *arg[NPARAM] = {NULL}, *r;
    int n = head != NULL, npos = 0, first = n;

    for (const char *c = order; *c; c++) {
        if (*c == '|')
            npos = n;
        else
            names[n++] = words[strchr(letters, *c) - letters];
    }
    if (!py_parse(red_names[red], names, first, npos ? npos : n, args, nargs, kwnames, given))
        return NULL;
    n = first;
    for (const char *c = order; *c; c++)
        if (*c != '|')
            arg[strchr(letters, *c) - letters] = given[n++];
    if (!head)
        return reduce_with(red, self, arg);
    self = py_array_object(given[0]);
    r = self ? reduce_with(red, self, arg) : NULL;
    Py_XDECREF(self);
    return r;
}

#define RED(name, ...)                                                                             \
    static PyObject *red_##name(PyObject *self, PyObject *const *args, Py_ssize_t nargs,           \
                                PyObject *kwnames)                                                 \
    {                                                                                              \
        return reduce_call(TD_RED_##name, NULL, self, args, nargs, kwnames);                       \
    }                                                                                              \
    static PyObject *fn_##name(PyObject *module, PyObject *const *args, Py_ssize_t nargs,          \
                               PyObject *kwnames)                                                  \
    {                                                                                              \
        return reduce_call(TD_RED_##name, "a", module, args, nargs, kwnames);                      \
    }
#include "array/graph/reduce.def"

/* A docstring in numpydoc form; head: the array's own entry; shown: an example's expression and its result. */
#define REDUCES(meaning, head, parameters, shown)                                                  \
    meaning ", along axes.\n\nParameters\n----------\n" head parameters                            \
            "\nReturns\n-------\nndarray\n"                                                        \
            "    Of the array's shape without the reduced axes.\n"                                 \
            "\nRaises\n------\nAxisError\n"                                                        \
            "    The array has no such axis; an IndexError and a ValueError.\n"                    \
            "ValueError\n"                                                                         \
            "    out has another shape, or the array is empty and nothing stands for that.\n"      \
            "TypeError\n"                                                                          \
            "    The array's dtype has no such operation, or out's cannot take the result.\n"      \
            "\nExamples\n--------\n>>> " shown

PyMethodDef py_reduce_methods[] = {
#define RED(name, nacc, npair, identity, meaning, derivative)                                      \
    {#name, PY_FAST(red_##name), METH_FASTCALL | METH_KEYWORDS,                                    \
     #name "($self, /, " PARAMS_##name(TEXT) ")\n--\n\n" REDUCES(                                  \
         meaning, "", PARAMS_##name(DOC),                                                          \
         "np.asarray([[1, 2], [3, 4]])." #name "(axis=0)\n" SHOWN_##name)},
#include "array/graph/reduce.def"
    {NULL, NULL, 0, NULL},
};

PyMethodDef py_reduce_functions[] = {
#define RED(name, nacc, npair, identity, meaning, derivative)                                      \
    {#name, PY_FAST(fn_##name), METH_FASTCALL | METH_KEYWORDS,                                     \
     #name "($module, /, a, " PARAMS_##name(TEXT) ")\n--\n\n" REDUCES(                             \
         meaning, "a : array_like\n    The elements.\n", PARAMS_##name(DOC),                       \
         "np." #name "([[1, 2], [3, 4]], axis=0)\n" SHOWN_##name)},
#include "array/graph/reduce.def"
    {NULL, NULL, 0, NULL},
};
