/* tensorindex.c - subscripts of Tensor: views by integers and slices; arrays go to treadle/_select/_tensor_index.py. */
#include "python/tensor/tensor.h"

#include <stdio.h>
#include <string.h>

static bool
names_array(PyObject *o)
{
    const td_array *a;

    if (!pt_is(o))
        return PyBool_Check(o);
    a = &pt_var(o)->value;
    return a->view.shape.ndim != 0 || td_array_dtype(a) == TD_BOOL || td_array_dtype(a) == TD_U8;
}

/* Does the subscript hold arrays? */
static bool
has_arrays(PyObject *key)
{
    if (!PyTuple_Check(key))
        return names_array(key);
    for (Py_ssize_t i = 0; i < PyTuple_Size(key); i++)
        if (names_array(PyTuple_GetItem(key, i)))
            return true;
    return false;
}

/* Does the item read backwards? PyTorch refuses to. */
static bool
steps_back(PyObject *item)
{
    Py_ssize_t from, to, step;

    if (!PySlice_Check(item))
        return false;
    if (PySlice_Unpack(item, &from, &to, &step) < 0)
        return true;
    if (step < 0)
        PyErr_SetString(PyExc_ValueError, "step must be greater than zero");
    return step < 0;
}

static bool
any_steps_back(PyObject *key)
{
    if (!PyTuple_Check(key))
        return steps_back(key);
    for (Py_ssize_t i = 0; i < PyTuple_Size(key); i++)
        if (steps_back(PyTuple_GetItem(key, i)))
            return true;
    return false;
}

/* A new dimension has the stride that unsqueeze() gives it. */
static void
stride_new_dims(td_view *w)
{
    for (int i = w->shape.ndim - 1; i >= 0; i--)
        if (w->shape.dim[i] == 1 && w->stride[i] == 0)
            w->stride[i] = i + 1 < w->shape.ndim ? w->shape.dim[i + 1] * w->stride[i + 1] : 1;
}

/* The view that key selects, and the same if v were contiguous.  1: done; 0: key has arrays;
 * -1: exception. */
static int
windows(td_var *v, PyObject *key, td_view *w, td_view *dense)
{
    td_view flat = td_view_contiguous(&v->value.view.shape);
    bool single;
    int r;

    if (any_steps_back(key))
        return -1;
    r = has_arrays(key) ? 0 : py_view_of(key, &v->value.view, w, &single);
    if (r > 0)
        stride_new_dims(w);
    return r > 0 ? py_view_of(key, &flat, dense, &single) : r;
}

static PyObject *
tensor_through_package(const char *name, PyObject *self, PyObject *key, PyObject *value)
{
    PyObject *f = py_package("treadle._select._tensor_index", name);
    PyObject *r = f ? PyObject_CallFunctionObjArgs(f, self, key, value, NULL) : NULL;

    Py_XDECREF(f);
    return r;
}

/* A single index array that selects rows, as embeddings and batches do. */
static bool
names_rows(td_var *v, PyObject *key)
{
    return pt_is(key) && v->value.view.shape.ndim && pt_var(key)->value.view.shape.ndim &&
           td_array_dtype(&pt_var(key)->value) == TD_I64 &&
           td_array_dev(&pt_var(key)->value) == td_array_dev(&v->value);
}

static PyObject *
rows(td_var *v, td_var *index)
{
    td_pick p = {.n = 1, .index = {&index->value}};
    td_var *r = NULL;
    td_status st = td_var_pick(v, &p, &index, &r);

    return pt_done(st, r);
}

/* Says an IndexError that was set for a subscript in NumPy's words in PyTorch's. */
static PyObject *
in_pytorchs_words(PyObject *key)
{
    PyObject *type, *value, *trace, *str;
    long long at, size, own;
    const char *text;
    int axis;

    if (!PyErr_ExceptionMatches(PyExc_IndexError))
        return NULL;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    str = PyObject_Str(value);
    text = str ? PyUnicode_AsUTF8AndSize(str, NULL) : NULL;
    if (!text)
        text = "";
    if (!strncmp(text, "only integers, slices", 21))
        PyErr_Format(PyExc_IndexError,
                     "only integers, slices (`:`), ellipsis (`...`), None and long or byte "
                     "Variables are valid indices (got %R)",
                     (PyObject *)Py_TYPE(key));
    else if (sscanf(text, "too many indices for array: array is %d-", &axis) == 1)
        PyErr_Format(PyExc_IndexError,
                     axis ? "too many indices for tensor of dimension %d"
                          : "invalid index of a %d-dim tensor. Use `tensor.item()` to convert a "
                            "0-dim tensor to a number",
                     axis);
    else if (sscanf(text, "index %lld is out of bounds for axis %d with size %lld", &at, &axis,
                    &size) == 3)
        PyErr_Format(PyExc_IndexError,
                     "index %lld is out of bounds for dimension %d with size %lld", at, axis, size);
    else if (sscanf(text,
                    "boolean index did not match indexed array along axis %d; size of axis is %lld "
                    "but size of corresponding boolean axis is %lld",
                    &axis, &size, &own) == 3)
        PyErr_Format(PyExc_IndexError,
                     "The shape of the mask [%lld] at index %d does not match the shape of the "
                     "indexed tensor [%lld] at index %d",
                     own, axis, size, axis);
    else {
        Py_XDECREF(str);
        PyErr_Restore(type, value, trace);
        return NULL;
    }
    Py_XDECREF(str);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
    return NULL;
}

PyObject *
pt_subscript(PyObject *self, PyObject *key)
{
    td_view w, dense;
    td_var *r = NULL;
    td_status st;
    int plain;

    if (names_rows(pt_var(self), key))
        return rows(pt_var(self), pt_var(key));
    plain = windows(pt_var(self), key, &w, &dense);

    if (plain <= 0) {
        PyObject *done = plain ? NULL : tensor_through_package("getitem", self, key, NULL);

        return done ? done : in_pytorchs_words(key);
    }
    st = td_var_slice(pt_var(self), &w, &dense, &r);
    return pt_done(st, r);
}

int
pt_ass_subscript(PyObject *self, PyObject *key, PyObject *value)
{
    td_view w, dense;
    td_varop x;
    td_var *part;
    td_status st;
    int r;

    if (!value) {
        PyErr_SetString(PyExc_TypeError, "Tensor does not support deleting items");
        return -1;
    }
    r = windows(pt_var(self), key, &w, &dense);
    if (r > 0)
        r = pt_operand(value, &x);
    if (r <= 0) {
        PyObject *held = r ? NULL : pt_held_object(value, td_array_dtype(&pt_var(self)->value));
        PyObject *done = held ? tensor_through_package("setitem", self, key, held) : NULL;

        Py_XDECREF(held);
        Py_XDECREF(done);
        if (!done)
            in_pytorchs_words(key);
        return done ? 0 : -1;
    }
    if (!pt_held(&x, td_array_dtype(&pt_var(self)->value)))
        return -1;
    st = td_var_slice(pt_var(self), &w, &dense, &part);
    if (!st) {
        st = td_var_store(part, &x);
        td_var_unref(part);
    }
    return pt_ok(st) ? 0 : -1;
}

PyObject *
pt_inplace(td_op op, PyObject *self, const td_varop *x, int n)
{
    if (op == OP_absolute && td_dtype_is_complex(td_array_dtype(&pt_var(self)->value))) {
        PyErr_SetString(PyExc_RuntimeError, "In-place abs is not supported for complex tensors.");
        return NULL;
    }
    return pt_operands_fit(op, x, n) && pt_applied(td_var_apply_into(op, x, n, pt_var(self)))
               ? Py_NewRef(self)
               : NULL;
}
