/* tensorview.c - Tensor's methods for shapes, and its reductions. */
#include "python/tensor/tensor.h"

#include "grad/layout.h"

#include <string.h>

static const td_shape *
shape_of(PyObject *self)
{
    return &pt_var(self)->value.view.shape;
}

/* Another number of elements, in PyTorch's words. */
static PyObject *
other_size(PyObject *self, const td_shape *s)
{
    char shape[256];

    PyErr_Format(PyExc_RuntimeError, "shape '%s' is invalid for input of size %lld",
                 td_shape_list(s, shape, sizeof shape), (long long)td_shape_size(shape_of(self)));
    return NULL;
}

static PyObject *
reshape_to(PyObject *self, const td_shape *s)
{
    td_var *r = NULL;
    td_status st = td_var_reshape(pt_var(self), s, &r);

    return st == TD_ERR_VALUE ? other_size(self, s) : pt_done(st, r);
}

static PyObject *
tensor_reshape(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    td_shape s;

    return pt_shape_args("reshape", "shape", args, nargs, kwnames, &s) ? reshape_to(self, &s)
                                                                       : NULL;
}

/* view(*shape): reshape, but RuntimeError where that would copy; view(dtype) */
static PyObject *
tensor_view_method(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    td_view unused;
    td_shape s;
    td_status st;

    if (!pt_shape_args("view", "size", args, nargs, kwnames, &s))
        return NULL;
    st = td_view_reshape(&pt_var(self)->value.view, &s, &unused);
    if (st == TD_SKIP) {
        PyErr_SetString(PyExc_RuntimeError,
                        "view size is not compatible with input tensor's size and stride (at least "
                        "one dimension spans across two contiguous subspaces). Use .reshape(...) "
                        "instead.");
        return NULL;
    }
    if (st == TD_ERR_VALUE)
        return other_size(self, &s);
    return pt_ok(st) ? reshape_to(self, &s) : NULL;
}

static PyObject *
transposed(PyObject *self, const int *axes)
{
    td_var *r = NULL;
    td_status st = td_var_transpose(pt_var(self), axes, &r);

    return pt_done(st, r);
}

static PyObject *
permute(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    int axes[TD_MAXDIM], n = shape_of(self)->ndim;
    uint32_t seen = 0;
    td_shape s;

    if (!pt_shape_args("permute", "dims", args, nargs, kwnames, &s))
        return NULL;
    if (s.ndim != n) {
        PyErr_Format(
            PyExc_RuntimeError,
            "permute(sparse_coo): number of dimensions in the tensor input does not match "
            "the length of the desired ordering of dimensions i.e. input.dim() = %d is not "
            "equal to len(dims) = %d",
            n, s.ndim);
        return NULL;
    }
    for (int i = 0; i < n; i++) {
        int64_t k = s.dim[i] < 0 ? s.dim[i] + n : s.dim[i];

        if (k < 0 || k >= n) {
            PyErr_Format(
                PyExc_IndexError,
                "Dimension out of range (expected to be in range of [%d, %d], but got %lld)", -n,
                n - 1, (long long)s.dim[i]);
            return NULL;
        }
        seen |= 1u << k;
        axes[i] = (int)k;
    }
    if (seen != (1u << n) - 1) {
        PyErr_SetString(PyExc_RuntimeError, "permute(): duplicate dims are not allowed.");
        return NULL;
    }
    return transposed(self, axes);
}

static PyObject *
tensor_transpose(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    static const char *const names[] = {"dim0", "dim1", NULL};
    int axes[TD_MAXDIM], n = shape_of(self)->ndim, i, j;
    PyObject *arg[2];

    if (!py_parse("transpose", names, 2, 2, args, nargs, kwnames, arg) || !pt_axis(arg[0], n, &i) ||
        !pt_axis(arg[1], n, &j))
        return NULL;
    for (int k = 0; k < n; k++)
        axes[k] = k == i ? j : k == j ? i : k;
    return transposed(self, axes);
}

static PyObject *
t(PyObject *self, PyObject *unused)
{
    static const int swap[2] = {1, 0}, same[1] = {0};
    int n = shape_of(self)->ndim;

    (void)unused;
    if (n <= 2)
        return transposed(self, n == 2 ? swap : same);
    PyErr_Format(PyExc_RuntimeError, "t() expects a tensor with <= 2 dimensions, but self is %dD",
                 n);
    return NULL;
}

static PyObject *
get_reversed(PyObject *self, void *matrices)
{
    int axes[TD_MAXDIM], n = shape_of(self)->ndim;

    if (matrices && n == 1) {
        PyErr_Format(
            PyExc_RuntimeError,
            "tensor.mT is only supported on matrices or batches of matrices. Got %d-D tensor.", n);
        return NULL;
    }
    for (int i = 0; i < n; i++)
        axes[i] = matrices ? i < n - 2 ? i : 2 * n - 3 - i : n - 1 - i;
    return transposed(self, axes);
}

/* A shape to which self does not expand, in PyTorch's words. */
static PyObject *
other_extent(PyObject *self, const td_shape *s)
{
    const td_shape *have = shape_of(self);
    int extra = s->ndim - have->ndim, k = s->ndim - 1;
    char target[256], own[256];

    while (k > extra && (have->dim[k - extra] == s->dim[k] || have->dim[k - extra] == 1))
        k--;
    PyErr_Format(PyExc_RuntimeError,
                 "The expanded size of the tensor (%lld) must match the existing size (%lld) at "
                 "non-singleton dimension %d.  Target sizes: %s.  Tensor sizes: %s",
                 (long long)s->dim[k], (long long)have->dim[k - extra], k,
                 td_shape_list(s, target, sizeof target), td_shape_list(have, own, sizeof own));
    return NULL;
}

static PyObject *
expand(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    const td_shape *have = shape_of(self);
    td_var *r = NULL;
    td_shape s;
    td_status st;
    int extra;

    if (!pt_shape_args("expand", "size", args, nargs, kwnames, &s))
        return NULL;
    extra = s.ndim - have->ndim;
    if (extra < 0) {
        PyErr_Format(
            PyExc_RuntimeError,
            "expand: the number of sizes provided (%d) must be greater or equal to the number "
            "of dimensions in the tensor (%d)",
            s.ndim, have->ndim);
        return NULL;
    }
    for (int i = 0; i < s.ndim; i++)
        if (s.dim[i] == -1 && i >= extra)
            s.dim[i] = have->dim[i - extra];
    st = td_var_expand(pt_var(self), &s, &r);
    return st == TD_ERR_VALUE && have->ndim ? other_extent(self, &s) : pt_done(st, r);
}

static PyObject *
unsqueeze(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    static const char *const names[] = {"dim", NULL};
    td_shape s = *shape_of(self);
    PyObject *arg[1];
    int at;

    if (!py_parse("unsqueeze", names, 1, 1, args, nargs, kwnames, arg) ||
        !pt_axis(arg[0], s.ndim + 1, &at))
        return NULL;
    if (s.ndim == TD_MAXDIM) {
        PyErr_Format(PyExc_RuntimeError, "unsqueeze: more than %d dimensions", TD_MAXDIM);
        return NULL;
    }
    memmove(&s.dim[at + 1], &s.dim[at], (size_t)(s.ndim++ - at) * sizeof *s.dim);
    s.dim[at] = 1;
    return reshape_to(self, &s);
}

static PyObject *
squeeze(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    static const char *const names[] = {"dim", NULL};
    const td_shape *have = shape_of(self);
    td_shape s = {.ndim = 0};
    PyObject *arg[1], *several = NULL;
    uint32_t axes;
    bool ok;

    if (nargs > 1 && !kwnames) { /* squeeze(0, 1) */
        if (!(several = PyTuple_New(nargs)))
            return NULL;
        for (Py_ssize_t i = 0; i < nargs; i++)
            PyTuple_SetItem(several, i, Py_NewRef(args[i]));
        arg[0] = several;
    } else if (!py_parse("squeeze", names, 0, 1, args, nargs, kwnames, arg))
        return NULL;
    ok = pt_axes(arg[0], have->ndim, &axes);
    Py_XDECREF(several);
    if (!ok)
        return NULL;
    if (!several && arg[0] && PySequence_Check(arg[0]) && PySequence_Size(arg[0]) == 0)
        axes = 0; /* of no dims none is squeezed; reductions take an empty tuple for all dims */
    for (int i = 0; i < have->ndim; i++)
        if (have->dim[i] != 1 || !(axes >> i & 1))
            s.dim[s.ndim++] = have->dim[i];
    return reshape_to(self, &s);
}

static PyObject *
tensor_flatten(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    static const char *const names[] = {"start_dim", "end_dim", NULL};
    const td_shape *have = shape_of(self);
    td_shape s = {.ndim = 0};
    int from = 0, to = have->ndim ? have->ndim - 1 : 0;
    PyObject *arg[2];

    if (!py_parse("flatten", names, 0, 2, args, nargs, kwnames, arg) ||
        (arg[0] && !pt_axis(arg[0], have->ndim, &from)) ||
        (arg[1] && !pt_axis(arg[1], have->ndim, &to)))
        return NULL;
    if (from > to) {
        PyErr_SetString(PyExc_RuntimeError,
                        "flatten() has invalid args: start_dim cannot come after end_dim");
        return NULL;
    }
    if (!have->ndim)
        s = (td_shape){.ndim = 1, .dim = {1}};
    for (int i = 0; i < have->ndim; i++)
        if (i > from && i <= to)
            s.dim[from] *= have->dim[i];
        else
            s.dim[s.ndim++] = have->dim[i];
    return reshape_to(self, &s);
}

/* The dim whose extent or stride is asked for; an exception if there are no dims. */
static bool
one_dim(PyObject *o, int ndim, int *k)
{
    if (!pt_axis(o, ndim, k))
        return false;
    if (!ndim)
        PyErr_Format(PyExc_IndexError, "Dimension specified as %S but tensor has no dimensions", o);
    return ndim > 0;
}

static PyObject *
tensor_size(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    static const char *const names[] = {"dim", NULL};
    PyObject *arg[1];
    int k;

    if (!py_parse("size", names, 0, 1, args, nargs, kwnames, arg))
        return NULL;
    if (py_is_none(arg[0]))
        return PyObject_GetAttrString(self, "shape");
    return one_dim(arg[0], shape_of(self)->ndim, &k) ? PyLong_FromLongLong(shape_of(self)->dim[k])
                                                     : NULL;
}

static PyObject *
dim(PyObject *self, PyObject *unused)
{
    (void)unused;
    return PyLong_FromLong(shape_of(self)->ndim);
}

static PyObject *
numel(PyObject *self, PyObject *unused)
{
    (void)unused;
    return PyLong_FromLongLong(td_array_size(&pt_var(self)->value));
}

static PyObject *
stride(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    static const char *const names[] = {"dim", NULL};
    PyObject *arg[1];
    td_shape s;
    int k;

    if (!py_parse("stride", names, 0, 1, args, nargs, kwnames, arg))
        return NULL;
    td_layout_strides(&pt_var(self)->value.view, &s);
    if (!py_is_none(arg[0]))
        return one_dim(arg[0], s.ndim, &k) ? PyLong_FromLongLong(s.dim[k]) : NULL;
    return py_shape_tuple(&s);
}

static PyObject *
storage_offset(PyObject *self, PyObject *unused)
{
    (void)unused;
    return PyLong_FromLongLong(pt_var(self)->value.view.offset);
}

/* ---- reductions ---- */

static PyObject *
reduce_by(td_red red, td_var *v, const td_redargs *g)
{
    td_redargs args = *g;
    td_var *r = NULL;
    td_dtype dt;
    td_status st;

    if ((red == TD_RED_sum || red == TD_RED_prod) && args.dtype < 0 &&
        strchr("bui", td_dtype_kind(td_array_dtype(&v->value))))
        args.dtype = TD_I64; /* the array layer adds unsigned integers up as uint64 */
    dt = args.dtype < 0 ? td_array_dtype(&v->value) : (td_dtype)args.dtype;
    if (red == TD_RED_mean && !strchr("fc", td_dtype_kind(dt))) {
        PyErr_Format(PyExc_NotImplementedError,
                     "mean(): could not infer output dtype. %s dtype must be either a floating "
                     "point or complex dtype. Got: %s",
                     args.dtype < 0 ? "Input" : "Optional", td_dtype_name(dt));
        return NULL;
    }
    if ((red == TD_RED_max || red == TD_RED_min) &&
        !pt_has_order(red == TD_RED_max ? "max" : "min", PyExc_NotImplementedError, dt))
        return NULL;
    st = td_var_reduce(red, v, &args, &r);
    return pt_done(st, r);
}

static PyObject *
reduction(td_red red, const char *name, PyObject *self, PyObject *const *args, Py_ssize_t nargs,
          PyObject *kwnames)
{
    static const char *const names[] = {"dim", "keepdim", "dtype", NULL};
    td_redargs g = {.dtype = -1};
    PyObject *arg[3];

    if (!py_parse(name, names, 0, 2, args, nargs, kwnames, arg) ||
        !pt_axes(arg[0], shape_of(self)->ndim, &g.axes) || !py_flag(arg[1], false, &g.keepdims) ||
        !pt_dtype_or(arg[2], -1, &g.dtype))
        return NULL;
    return reduce_by(red, pt_var(self), &g);
}

#define REDUCTION(name, red)                                                                       \
    static PyObject *m_##name(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *kw)   \
    {                                                                                              \
        return reduction(TD_RED_##red, #name, self, args, n, kw);                                  \
    }
#define REDUCTIONS(M)                                                                              \
    M(sum, sum)                                                                                    \
    M(mean, mean)                                                                                  \
    M(prod, prod)                                                                                  \
    M(amax, max)                                                                                   \
    M(amin, min)                                                                                   \
    M(any, any)                                                                                    \
    M(all, all)
REDUCTIONS(REDUCTION)

/* var(dim=None, unbiased=None, keepdim=False, *, correction=1) and std */
static PyObject *
tensor_variance(td_red red, PyObject *self, PyObject *const *args, Py_ssize_t nargs,
                PyObject *kwnames)
{
    static const char *const names[] = {"dim", "unbiased", "keepdim", "correction", NULL};
    td_redargs g = {.dtype = -1, .ddof = 1};
    PyObject *arg[4], *axes;
    bool flag;

    if (!py_parse(red == TD_RED_var ? "var" : "std", names, 0, 3, args, nargs, kwnames, arg))
        return NULL;
    if (!strchr("fc", td_dtype_kind(td_array_dtype(&pt_var(self)->value)))) {
        PyErr_SetString(PyExc_NotImplementedError,
                        "std and var only support floating point and complex dtypes");
        return NULL;
    }
    axes = arg[0];
    if (axes && PyBool_Check(axes)) { /* var(unbiased) */
        arg[1] = axes;
        axes = NULL;
    }
    if (!pt_axes(axes, shape_of(self)->ndim, &g.axes) || !py_flag(arg[2], false, &g.keepdims) ||
        !py_flag(arg[1], true, &flag))
        return NULL;
    g.ddof = flag;
    if (!py_is_none(arg[3])) {
        g.ddof = PyFloat_AsDouble(arg[3]);
        if (PyErr_Occurred())
            return NULL;
    }
    return reduce_by(red, pt_var(self), &g);
}

static PyObject *
m_var(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *kw)
{
    return tensor_variance(TD_RED_var, self, args, n, kw);
}

static PyObject *
m_std(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *kw)
{
    return tensor_variance(TD_RED_std, self, args, n, kw);
}

#define KEYWORDS(name, red)                                                                        \
    {#name, PY_FAST(m_##name), METH_FASTCALL | METH_KEYWORDS,                                      \
     #name "($self, /, dim=None, keepdim=False, *, dtype=None)\n--\n\n" #red                       \
           " over the axes dim; None: over all."},
#define SPREAD(name, meaning)                                                                      \
    {#name, PY_FAST(m_##name), METH_FASTCALL | METH_KEYWORDS,                                      \
     #name "($self, /, dim=None, unbiased=None, keepdim=False, *, correction=1)\n--\n\n" meaning   \
           " over the axes dim; None: over all."},

PyMethodDef pt_view_methods[] = {
    REDUCTIONS(KEYWORDS) SPREAD(var, "The variance") SPREAD(std, "The standard deviation"){
        "reshape", PY_FAST(tensor_reshape), METH_FASTCALL | METH_KEYWORDS,
        "reshape($self, /, *shape)\n--\n\nThe same elements "
        "in another shape; one extent may be -1."},
    {"view", PY_FAST(tensor_view_method), METH_FASTCALL | METH_KEYWORDS,
     "view($self, /, *shape)\n--\n\nThe same memory in another shape, or as elements of another "
     "dtype."},
    {"permute", PY_FAST(permute), METH_FASTCALL | METH_KEYWORDS,
     "permute($self, /, *dims)\n--\n\nA view with its axes in that order."},
    {"transpose", PY_FAST(tensor_transpose), METH_FASTCALL | METH_KEYWORDS,
     "transpose($self, /, dim0, dim1)\n--\n\nA view with two axes exchanged."},
    {"swapaxes", PY_FAST(tensor_transpose), METH_FASTCALL | METH_KEYWORDS,
     "swapaxes($self, /, dim0, dim1)\n--\n\nA view with two axes exchanged."},
    {"t", t, METH_NOARGS, "t($self, /)\n--\n\nA view of a matrix with its axes exchanged."},
    {"expand", PY_FAST(expand), METH_FASTCALL | METH_KEYWORDS,
     "expand($self, /, *size)\n--\n\nA view in which axes of extent 1 are repeated; -1: as it is."},
    {"unsqueeze", PY_FAST(unsqueeze), METH_FASTCALL | METH_KEYWORDS,
     "unsqueeze($self, /, dim)\n--\n\nA view with an axis of extent 1 at dim."},
    {"squeeze", PY_FAST(squeeze), METH_FASTCALL | METH_KEYWORDS,
     "squeeze($self, /, dim=None)\n--\n\nA view without axes of extent 1, or without those of "
     "dim."},
    {"flatten", PY_FAST(tensor_flatten), METH_FASTCALL | METH_KEYWORDS,
     "flatten($self, /, start_dim=0, end_dim=-1)\n--\n\nThe axes from start_dim to end_dim as "
     "one."},
    {"size", PY_FAST(tensor_size), METH_FASTCALL | METH_KEYWORDS,
     "size($self, /, dim=None)\n--\n\nThe shape, or the extent of one axis."},
    {"dim", dim, METH_NOARGS, "dim($self, /)\n--\n\nHow many axes there are."},
    {"ndimension", dim, METH_NOARGS, "ndimension($self, /)\n--\n\nHow many axes there are."},
    {"numel", numel, METH_NOARGS, "numel($self, /)\n--\n\nHow many elements there are."},
    {"nelement", numel, METH_NOARGS, "nelement($self, /)\n--\n\nHow many elements there are."},
    {"stride", PY_FAST(stride), METH_FASTCALL | METH_KEYWORDS,
     "stride($self, /, dim=None)\n--\n\nThe strides in elements, or that of one axis."},
    {"storage_offset", storage_offset, METH_NOARGS,
     "storage_offset($self, /)\n--\n\nWhere the first element lies in the storage, in elements."},
    {NULL, NULL, 0, NULL},
};

PyGetSetDef pt_view_attributes[] = {
    {"T", get_reversed, NULL, "The view with its axes reversed.", NULL},
    {"mT", get_reversed, NULL, "The view with its last two axes exchanged.", &pt},
    {NULL, NULL, NULL, NULL, NULL},
};
