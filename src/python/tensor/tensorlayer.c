/* tensorlayer.c - whole layers for treadle.torch.nn, unrecorded: _core._grad_recur, _grad_recur_back, _grad_conv. */
#include "python/tensor/tensor.h"

#include "array/run/conv.h"
#include "array/run/recur.h"

#include <string.h>

static bool
cell_of(PyObject *o, td_cell *out)
{
    static const char *const names[TD_CELLS] = {"RNN_TANH", "RNN_RELU", "LSTM", "GRU"};

    for (int i = 0; PyUnicode_Check(o) && i < TD_CELLS; i++)
        if (PyUnicode_CompareWithASCIIString(o, names[i]) == 0) {
            *out = (td_cell)i;
            return true;
        }
    PyErr_Format(PyExc_ValueError, "no recurrent cell is called %R", o);
    return false;
}

/* o's value: NULL for None. */
static bool
value_or_none(PyObject *o, const td_array **out)
{
    td_var *v;

    *out = NULL;
    if (o == Py_None)
        return true;
    if (!pt_tensor_arg("recurrence", o, &v))
        return false;
    *out = &v->value;
    return true;
}

static bool
values(PyObject *const *args, const td_array ***to, int n)
{
    for (int i = 0; i < n; i++)
        if (!value_or_none(args[i], to[i]))
            return false;
    return true;
}

/* Makes a Tensor of a, and takes a; None: a has no store. */
static PyObject *
tensor_or_none(td_array *a)
{
    td_var *v = NULL;
    td_status st;

    if (!a->store)
        return Py_NewRef(Py_None);
    st = td_var_new(a, &v);
    return pt_done(st, v);
}

/* A tuple of n Tensors; NotImplemented for TD_SKIP. */
static PyObject *
tensors(td_status st, td_array *const *a, int n)
{
    PyObject *r;

    if (st == TD_SKIP)
        return Py_NewRef(Py_NotImplemented);
    if (st)
        return pt_raise(st);
    r = PyTuple_New(n);
    for (int i = 0; i < n; i++) {
        PyObject *o = tensor_or_none(a[i]);

        if (!r || !o || PyTuple_SetItem(r, i, o)) {
            if (!r)
                Py_XDECREF(o);
            Py_CLEAR(r);
        }
    }
    return r;
}

/* _grad_recur(cell, reverse, gates, weight, bias, h, c): (h, c, gates) as in td_recur_kept */
static PyObject *
recur(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    td_recur r = {0};
    td_recur_kept kept = {0};
    td_array *made[3] = {&kept.h, &kept.c, &kept.gate};

    (void)module;
    if (nargs != 7)
        return PyErr_Format(PyExc_TypeError, "_grad_recur: expected 7 arguments, not %zd", nargs);
    if (!cell_of(args[0], &r.cell) || !py_flag(args[1], false, &r.reverse) ||
        !values(args + 2, (const td_array **[]){&r.gates, &r.weight, &r.bias, &r.h, &r.c}, 5))
        return NULL;
    return tensors(td_recur_run(&r, &kept), made, 3);
}

/* _grad_recur_back(cell, reverse, weight, h, c, gates, out, dh, dc): gradients of the gates, of the product with the
 * state (GRU), and of the first states */
static PyObject *
recur_back(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    td_recur r = {0};
    td_recur_kept kept = {0};
    td_recur_given given = {0};
    td_recur_grad back = {0};
    td_array *made[4] = {&back.gates, &back.state, &back.h, &back.c};
    const td_array *h, *c, *gate;

    (void)module;
    if (nargs != 9)
        return PyErr_Format(PyExc_TypeError, "_grad_recur_back: expected 9 arguments, not %zd",
                            nargs);
    if (!cell_of(args[0], &r.cell) || !py_flag(args[1], false, &r.reverse) ||
        !values(args + 2,
                (const td_array **[]){&r.weight, &h, &c, &gate, &given.out, &given.h, &given.c}, 7))
        return NULL;
    kept.h = *h;
    if (c)
        kept.c = *c;
    if (gate)
        kept.gate = *gate;
    return tensors(td_recur_back(&r, &kept, &given, &back), made, 4);
}

/* Three integers of a tuple. */
static bool
three(PyObject *o, int64_t out[TD_CONV_RANK])
{
    td_shape s;

    if (!py_shape(o, &s))
        return false;
    if (s.ndim != TD_CONV_RANK) {
        PyErr_Format(PyExc_ValueError, "_grad_conv: expected 3 numbers, not %d", s.ndim);
        return false;
    }
    memcpy(out, s.dim, sizeof *out * TD_CONV_RANK);
    return true;
}

/* _grad_conv(kind, first, second, shape, (batch, channels of a group, outputs of a group), groups, in, out, kernel,
 * stride, before, dilation): td_array_conv's result as a new Tensor; NotImplemented for TD_SKIP */
static PyObject *
conv(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    td_conv c = {0};
    int64_t counts[TD_CONV_RANK];
    const td_array *first, *second;
    td_array r = {0};
    td_shape shape;
    td_status st;
    long kind;

    (void)module;
    if (nargs != 12)
        return PyErr_Format(PyExc_TypeError, "_grad_conv: expected 12 arguments, not %zd", nargs);
    kind = PyLong_AsLong(args[0]);
    c.groups = PyLong_AsLongLong(args[5]);
    if (PyErr_Occurred() || !values(args + 1, (const td_array **[]){&first, &second}, 2) ||
        !py_shape(args[3], &shape) || !three(args[4], counts) || !three(args[6], c.in) ||
        !three(args[7], c.out) || !three(args[8], c.kernel) || !three(args[9], c.stride) ||
        !three(args[10], c.before) || !three(args[11], c.dilation))
        return NULL;
    if (kind < TD_CONV_FORWARD || kind > TD_CONV_WEIGHT || !first || !second)
        return PyErr_Format(PyExc_ValueError, "_grad_conv: no such job: %ld", kind);
    c.kind = (td_conv_kind)kind;
    c.batch = counts[0];
    c.channels = counts[1];
    c.outputs = counts[2];
    st = td_array_conv(&c, first, second, &shape, &r);
    if (st == TD_SKIP)
        return Py_NewRef(Py_NotImplemented);
    return st ? pt_raise(st) : tensor_or_none(&r);
}

PyMethodDef pt_layer_functions[] = {
    {"_grad_conv", PY_FAST(conv), METH_FASTCALL, NULL},
    {"_grad_recur", PY_FAST(recur), METH_FASTCALL, NULL},
    {"_grad_recur_back", PY_FAST(recur_back), METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL},
};
