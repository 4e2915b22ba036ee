/* tensorcompose.c - the differentiable operations from which Python composes functions:
 * _core._grad_*.
 */
#include "python/tensor/tensor.h"

#include "grad/layout.h"

#include <stdlib.h>

static bool
check_count(const char *fn, Py_ssize_t nargs, Py_ssize_t n)
{
    if (nargs != n)
        PyErr_Format(PyExc_TypeError, "%s: expected %zd arguments, not %zd", fn, n, nargs);
    return nargs == n;
}

/* _grad_apply(row, *operands) */
static PyObject *
compose_apply(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    const char *name = nargs ? PyUnicode_AsUTF8AndSize(args[0], NULL) : "";
    td_varop x[3];
    td_var *r = NULL;
    td_op op;
    bool any = false;

    (void)module;
    if (!name || !pt_ok(td_op_find(name, &op)))
        return NULL;
    if (op >= TD_OPS || nargs - 1 != td_optab[op].arity) {
        PyErr_Format(PyExc_TypeError, "%s: no row of %zd operands", name, nargs - 1);
        return NULL;
    }
    for (int i = 0; i < nargs - 1; i++) {
        int ours = pt_operand(args[i + 1], &x[i]);

        if (ours <= 0) {
            if (!ours)
                PyErr_Format(PyExc_TypeError, "%s(): operand %d must be Tensor or Number, not %R",
                             name, i, (PyObject *)Py_TYPE(args[i + 1]));
            return NULL;
        }
        any |= x[i].v != NULL;
    }
    if (!any) {
        PyErr_Format(PyExc_TypeError, "%s(): one operand at least must be a Tensor", name);
        return NULL;
    }
    return pt_apply(op, x, (int)nargs - 1, &r) ? pt_object(r) : NULL;
}

static bool
reduction(PyObject *o, td_red *out)
{
    static const char *const names[] = {
#define RED(name, ...) #name,
#include "array/graph/reduce.def"
    };

    for (size_t i = 0; PyUnicode_Check(o) && i < sizeof names / sizeof *names; i++)
        if (PyUnicode_CompareWithASCIIString(o, names[i]) == 0) {
            *out = (td_red)i;
            return true;
        }
    PyErr_Format(PyExc_ValueError, "no reduction is called %R", o);
    return false;
}

/* _grad_reduce(row, t, axes, keepdim, dtype, ddof); axes None: all, (): none is an error */
static PyObject *
compose_reduce(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    td_redargs g = {.dtype = -1};
    td_var *v, *r = NULL;
    td_status st;
    td_red red;

    (void)module;
    if (!check_count("_grad_reduce", nargs, 6) || !reduction(args[0], &red) ||
        !pt_tensor_arg("_grad_reduce", args[1], &v) ||
        !pt_axes(args[2], v->value.view.shape.ndim, &g.axes) ||
        !py_flag(args[3], false, &g.keepdims) || !pt_dtype_or(args[4], -1, &g.dtype))
        return NULL;
    g.ddof = PyFloat_AsDouble(args[5]);
    if (PyErr_Occurred())
        return NULL;
    if ((red == TD_RED_max || red == TD_RED_min) &&
        !pt_has_order(red == TD_RED_max ? "max" : "min", PyExc_NotImplementedError,
                      td_array_dtype(&v->value)))
        return NULL;
    st = td_var_reduce(red, v, &g, &r);
    return pt_done(st, r);
}

/* _grad_cumulate(row, t, dim) */
static PyObject *
cumulate(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    td_var *v, *r = NULL;
    td_status st;
    td_red red;
    int axis;

    (void)module;
    if (!check_count("_grad_cumulate", nargs, 3) || !reduction(args[0], &red) ||
        !pt_tensor_arg("_grad_cumulate", args[1], &v) ||
        !pt_axis(args[2], v->value.view.shape.ndim, &axis))
        return NULL;
    st = td_var_cumulate(red, v, axis, &r);
    return pt_done(st, r);
}

static PyObject *
held(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    td_dtype dt;

    (void)module;
    if (!check_count("_grad_held", nargs, 2) || !pt_dtype(args[1], &dt))
        return NULL;
    return pt_held_object(args[0], dt);
}

static PyObject *
matmul(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    td_var *x, *y;

    (void)module;
    if (!check_count("_grad_matmul", nargs, 2) || !pt_tensor_arg("matmul", args[0], &x) ||
        !pt_tensor_arg("matmul", args[1], &y))
        return NULL;
    return pt_matmul(x, y);
}

/* _grad_cat(tensors, dim) */
static PyObject *
cat(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    PyObject *keep = NULL, *r = NULL;
    td_var **v = NULL, *joined = NULL;
    int n, axis;
    bool ok;

    (void)module;
    if (!check_count("_grad_cat", nargs, 2))
        return NULL;
    ok = pt_variables("cat", args[0], false, &keep, &v, &n);
    if (ok && !n)
        PyErr_SetString(PyExc_RuntimeError, "torch.cat(): expected a non-empty list of Tensors");
    else if (ok && !v[0]->value.view.shape.ndim)
        PyErr_SetString(PyExc_RuntimeError,
                        "zero-dimensional tensor (at position 0) cannot be concatenated");
    else if (ok && pt_axis(args[1], v[0]->value.view.shape.ndim, &axis)) {
        td_status st = td_var_join(v, n, axis, &joined);

        r = pt_done(st, joined);
    }
    free(v);
    Py_XDECREF(keep);
    return r;
}

/* ---- along an axis ---- */

/* _grad_gather(t, dim, index, trusted=False) */
static PyObject *
tensorcompose_gather(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    td_var *v, *index, *r = NULL;
    td_status st;
    int axis;

    (void)module;
    if (!check_count("_grad_gather", nargs - (nargs == 4), 3) ||
        !pt_tensor_arg("gather", args[0], &v) ||
        !pt_axis(args[1], v->value.view.shape.ndim, &axis) ||
        !pt_tensor_arg("gather", args[2], &index))
        return NULL;
    st = td_var_gather(v, axis, index, nargs == 4 && PyObject_IsTrue(args[3]) > 0, &r);
    return pt_done(st, r);
}

/* A Tensor, or a number as one of v's dtype; a new reference. */
static bool
compose_value(PyObject *o, td_var *v, td_var **out)
{
    td_varop x;
    td_array a;
    int ours = pt_operand(o, &x);

    if (ours <= 0) {
        if (!ours)
            PyErr_Format(PyExc_TypeError, "expected a Tensor or a number, not %R",
                         (PyObject *)Py_TYPE(o));
        return false;
    }
    if (x.v) {
        *out = td_var_ref(x.v);
        return true;
    }
    return pt_ok(td_array_full(td_array_dev(&v->value), td_array_dtype(&v->value),
                               &(td_shape){.ndim = 0}, x.scalar, &a)) &&
           pt_ok(td_var_new(&a, out));
}

/* Expands value to index's shape, if it came from a number. */
static td_status
as_many(td_var **value, const td_shape *s)
{
    td_var *wide;

    if ((*value)->value.view.shape.ndim || !s->ndim)
        return TD_OK;
    TD_TRY(td_var_expand(*value, s, &wide));
    td_var_unref(*value);
    *value = wide;
    return TD_OK;
}

/* _grad_scatter(t, dim, index, value, accumulate) */
static PyObject *
compose_scatter(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    td_var *v, *index, *value, *r = NULL;
    td_status st;
    int axis;

    (void)module;
    if (!check_count("_grad_scatter", nargs, 5) || !pt_tensor_arg("scatter", args[0], &v) ||
        !pt_axis(args[1], v->value.view.shape.ndim, &axis) ||
        !pt_tensor_arg("scatter", args[2], &index) || !compose_value(args[3], v, &value))
        return NULL;
    st = as_many(&value, &index->value.view.shape);
    if (!st)
        st = td_var_scatter(v, axis, index, value, PyObject_IsTrue(args[4]) > 0, &r);
    td_var_unref(value);
    return pt_done(st, r);
}

/* _grad_flip(t, dims) */
static PyObject *
flip(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    td_var *v, *r = NULL;
    uint32_t axes = 0;
    td_status st;

    (void)module;
    if (!check_count("_grad_flip", nargs, 2) || !pt_tensor_arg("flip", args[0], &v) ||
        (!(PyTuple_Check(args[1]) && PyTuple_Size(args[1]) == 0) &&
         !pt_axes(args[1], v->value.view.shape.ndim, &axes)))
        return NULL;
    st = td_var_flip(v, axes, &r);
    return pt_done(st, r);
}

/* ---- index arrays ---- */

typedef struct picked {
    td_var *v, **index;
    PyObject *keep;
    td_pick p;
} picked;

static void
picked_free(picked *k)
{
    free(k->index);
    Py_XDECREF(k->keep);
}

/* t, axes, indices, place, flags (treadle._select._indexing.Pick's) */
static bool
picked_from(PyObject *const *args, picked *k)
{
    Py_ssize_t count = PyTuple_Check(args[1]) ? PyTuple_Size(args[1]) : -1;
    long flags = PyLong_AsLong(args[4]), place = PyLong_AsLong(args[3]);
    int n;

    *k = (picked){.v = NULL};
    if (PyErr_Occurred() || !pt_tensor_arg("_grad_pick", args[0], &k->v) ||
        !pt_variables("_grad_pick", args[2], false, &k->keep, &k->index, &n))
        return false;
    if (n != count || n < 1 || place < 0 || place > k->v->value.view.shape.ndim - n) {
        PyErr_SetString(PyExc_ValueError, "_grad_pick: no such axes or place");
        return false;
    }
    k->p = (td_pick){.n = n, .place = (int)place, .distinct = flags & 1, .trusted = flags & 2};
    for (int i = 0; i < n; i++) {
        long axis = PyLong_AsLong(PyTuple_GetItem(args[1], i));

        if (PyErr_Occurred())
            return false;
        if (axis < (i ? k->p.axis[i - 1] + 1 : 0) || axis >= k->v->value.view.shape.ndim ||
            td_array_dtype(&k->index[i]->value) != TD_I64) {
            PyErr_SetString(PyExc_ValueError, "_grad_pick: axes ascend, and indices are int64");
            return false;
        }
        k->p.axis[i] = k->p.shown[i] = (int)axis;
        k->p.index[i] = &k->index[i]->value;
    }
    return true;
}

static PyObject *
compose_pick(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    PyObject *r = NULL;
    td_var *v = NULL;
    picked k;

    (void)module;
    if (!check_count("_grad_pick", nargs, 5))
        return NULL;
    if (picked_from(args, &k)) {
        td_status st = td_var_pick(k.v, &k.p, k.index, &v);

        r = pt_done(st, v);
    }
    picked_free(&k);
    return r;
}

/* A put's result: as a new Tensor, or written to t. */
static PyObject *
put_result(PyObject *t, td_status st, td_var *r, bool into)
{
    if (st || !into)
        return pt_done(st, r);
    st = td_var_store(pt_var(t), &(td_varop){.v = r});
    td_var_unref(r);
    return pt_ok(st) ? Py_NewRef(t) : NULL;
}

static PyObject *
put_with(PyObject *const *args, Py_ssize_t nargs, bool into)
{
    PyObject *r = NULL;
    td_var *v = NULL, *value = NULL;
    picked k;

    if (!check_count("_grad_put", nargs, 7))
        return NULL;
    if (picked_from(args, &k) && compose_value(args[5], k.v, &value)) {
        bool add = PyObject_IsTrue(args[6]) > 0;
        td_status st = into ? td_var_put_into(k.v, &k.p, k.index, value, add) : TD_SKIP;

        if (st == TD_SKIP) {
            st = td_var_put(k.v, &k.p, k.index, value, add, &v);
            r = put_result(args[0], st, v, into);
        } else
            r = pt_ok(st) ? Py_NewRef(args[0]) : NULL;
    }
    td_var_unref(value);
    picked_free(&k);
    return r;
}

static PyObject *
compose_put(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    (void)module;
    return put_with(args, nargs, false);
}

static PyObject *
put_(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    (void)module;
    return put_with(args, nargs, true);
}

/* ---- windows and devices ---- */

static PyObject *
window(td_var *v, const td_view *w)
{
    td_var *r = NULL;
    td_status st = td_var_strided(v, w, &r);

    return pt_done(st, r);
}

/* _grad_strided(t, shape, strides, offset) */
static PyObject *
strided(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    int64_t lo, hi, size;
    td_shape steps;
    td_var *v;
    td_view w;

    (void)module;
    if (!check_count("_grad_strided", nargs, 4) || !pt_tensor_arg("as_strided", args[0], &v) ||
        !py_shape(args[1], &w.shape) ||
        !py_ok(td_shape_make(w.shape.ndim, w.shape.dim, &w.shape)) || !py_shape(args[2], &steps))
        return NULL;
    w.offset = PyLong_AsLongLong(args[3]);
    if (PyErr_Occurred())
        return NULL;
    for (int i = 0; i < w.shape.ndim && i < steps.ndim; i++)
        w.stride[i] = steps.dim[i];
    size = td_shape_size(&v->value.store->node->view.shape);
    td_view_extent(&w, &lo, &hi);
    if (steps.ndim != w.shape.ndim || lo < 0 || hi > size) {
        PyErr_Format(
            PyExc_RuntimeError,
            "as_strided: elements %lld to %lld of a storage of %lld, with %d strides for %d "
            "dimensions",
            (long long)lo, (long long)hi, (long long)size, steps.ndim, w.shape.ndim);
        return NULL;
    }
    return window(v, &w);
}

/* _grad_laid(t, *like) */
static PyObject *
laid(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    td_var *v, *like[TD_LAYOUT_SOURCES], *r = NULL;
    td_status st;

    (void)module;
    if (nargs < 2 || nargs > 1 + TD_LAYOUT_SOURCES) {
        PyErr_SetString(PyExc_TypeError, "_grad_laid: a tensor, and one to four others");
        return NULL;
    }
    if (!pt_tensor_arg("_grad_laid", args[0], &v))
        return NULL;
    for (Py_ssize_t i = 1; i < nargs; i++)
        if (!pt_tensor_arg("_grad_laid", args[i], &like[i - 1]))
            return NULL;
    st = td_var_laid(v, like, (int)nargs - 1, &r);
    return pt_done(st, r);
}

/* _grad_channels_last(t) */
static PyObject *
lies_last(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    td_var *v;

    (void)module;
    if (!check_count("_grad_channels_last", nargs, 1) ||
        !pt_tensor_arg("_grad_channels_last", args[0], &v))
        return NULL;
    return PyBool_FromLong(td_layout_channels_last(&v->value.view));
}

/* _grad_become(t, view) */
static PyObject *
compose_become(PyObject *self, PyObject *const *args, Py_ssize_t nargs)
{
    td_var *v, *view;

    (void)self;
    if (!check_count("_grad_become", nargs, 2) || !pt_tensor_arg("_grad_become", args[0], &v) ||
        !pt_tensor_arg("_grad_become", args[1], &view))
        return NULL;
    td_var_become(v, view);
    return Py_NewRef(args[0]);
}

/* _grad_view(t, ndarray): ndarray is a view on t's storage */
static PyObject *
compose_view(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    td_var *v;

    (void)module;
    if (!check_count("_grad_view", nargs, 2) || !pt_tensor_arg("_grad_view", args[0], &v))
        return NULL;
    if (py_is_array(args[1]) && py_array_of(args[1])->store == v->value.store &&
        td_array_dtype(py_array_of(args[1])) == td_array_dtype(&v->value))
        return window(v, &py_array_of(args[1])->view);
    PyErr_SetString(PyExc_ValueError, "_grad_view: no view on the tensor's storage");
    return NULL;
}

/* _grad_to_device(t, device) */
static PyObject *
to_device(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    td_var *v, *r = NULL;
    td_status st;
    td_dev *d;

    (void)module;
    if (!check_count("_grad_to_device", nargs, 2) || !pt_tensor_arg("to", args[0], &v) ||
        !py_device(args[1], &d))
        return NULL;
    st = td_var_to_device(v, d, &r);
    return pt_done(st, r);
}

PyMethodDef pt_compose_functions[] = {
    {"_grad_apply", PY_FAST(compose_apply), METH_FASTCALL, NULL},
    {"_grad_reduce", PY_FAST(compose_reduce), METH_FASTCALL, NULL},
    {"_grad_cumulate", PY_FAST(cumulate), METH_FASTCALL, NULL},
    {"_grad_held", PY_FAST(held), METH_FASTCALL, NULL},
    {"_grad_matmul", PY_FAST(matmul), METH_FASTCALL, NULL},
    {"_grad_cat", PY_FAST(cat), METH_FASTCALL, NULL},
    {"_grad_gather", PY_FAST(tensorcompose_gather), METH_FASTCALL, NULL},
    {"_grad_scatter", PY_FAST(compose_scatter), METH_FASTCALL, NULL},
    {"_grad_flip", PY_FAST(flip), METH_FASTCALL, NULL},
    {"_grad_pick", PY_FAST(compose_pick), METH_FASTCALL, NULL},
    {"_grad_put", PY_FAST(compose_put), METH_FASTCALL, NULL},
    {"_grad_put_", PY_FAST(put_), METH_FASTCALL, NULL},
    {"_grad_strided", PY_FAST(strided), METH_FASTCALL, NULL},
    {"_grad_laid", PY_FAST(laid), METH_FASTCALL, NULL},
    {"_grad_channels_last", PY_FAST(lies_last), METH_FASTCALL, NULL},
    {"_grad_become", PY_FAST(compose_become), METH_FASTCALL, NULL},
    {"_grad_view", PY_FAST(compose_view), METH_FASTCALL, NULL},
    {"_grad_to_device", PY_FAST(to_device), METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL},
};
