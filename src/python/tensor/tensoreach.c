/* tensoreach.c - one elementwise function over many rows of tensors, in place: _core._grad_each, _grad_each_run. */
#include "python/tensor/tensor.h"

#include "array/run/each.h"

#include <stdlib.h>

enum { LENGTH = 8 }; /* elements of a placeholder: any number other than 1 */

static const char capsule_name[] = "treadle.each";

static void
end_capsule(PyObject *o)
{
    td_each_free(PyCapsule_GetPointer(o, capsule_name));
}

/* ---- making ---- */

typedef struct making {
    td_array in[TD_EACH_ARRAYS], num[TD_EACH_NUMBERS], out[TD_EACH_ARRAYS];
    int nin, nshared, nnum, nout, to[TD_EACH_ARRAYS];
} making;

static td_status
placeholder(td_dev *d, td_dtype dt, bool number, int ndim, int k, td_array *out)
{
    td_scalar value = {.dt = TD_F64, .f = {k + 0.5}};
    uint64_t bits[2];
    td_node *n;

    if (!number)
        return td_array_empty(d, dt, &(td_shape){.ndim = (uint8_t)ndim, .dim = {ndim ? LENGTH : 0}},
                              out);
    td_scalar_bits(value, dt, bits);
    TD_TRY(td_node_scalar(d, td_scalar_load(dt, bits), &n));
    return td_array_of_node(n, out);
}

/* The function's arguments: tensors over the placeholders.  NULL: exception. */
static PyObject *
each_arguments(making *m, td_dev *d, const td_dtype *dt)
{
    PyObject *t = PyTuple_New(m->nin + m->nnum);

    for (int i = 0; i < m->nin + m->nnum && t; i++) {
        bool number = i >= m->nin;
        td_array *a = number ? &m->num[i - m->nin] : &m->in[i], mine;
        td_var *v = NULL;
        int ndim = i < m->nin - m->nshared;
        td_status st = placeholder(d, dt[number ? 0 : i], number, ndim, i, a);
        PyObject *o;

        if (!st) {
            mine = td_array_ref(a);
            st = td_var_new(&mine, &v);
        }
        o = pt_done(st, v);
        if (o)
            PyTuple_SetItem(t, i, o);
        else
            Py_CLEAR(t);
    }
    return t;
}

/* Checks the function's results: as many tensors as places to write. */
static bool
results(making *m, PyObject *got)
{
    if (!got || !PyTuple_Check(got) || PyTuple_Size(got) != m->nout) {
        if (got)
            PyErr_Format(PyExc_TypeError, "_grad_each: the function gave %R, not a tuple of %d",
                         got, m->nout);
        return false;
    }
    for (int k = 0; k < m->nout; k++) {
        td_var *v;

        if (!pt_tensor_arg("_grad_each", PyTuple_GetItem(got, k), &v))
            return false;
        m->out[k] = td_array_ref(&v->value);
    }
    return true;
}

static bool
each_placeholders(PyObject *o, making *m)
{
    m->nout = PyTuple_Check(o) ? (int)PyTuple_Size(o) : 0;
    if (m->nout < 1 || m->nout > m->nin) {
        PyErr_SetString(PyExc_ValueError, "_grad_each: a tuple of places is expected");
        return false;
    }
    for (int k = 0; k < m->nout; k++) {
        long at = PyLong_AsLong(PyTuple_GetItem(o, k));

        if (PyErr_Occurred())
            return false;
        if (at < 0 || at >= m->nin) {
            PyErr_Format(PyExc_ValueError, "_grad_each: no array %ld", at);
            return false;
        }
        m->to[k] = (int)at;
    }
    return true;
}

static void
making_end(making *m)
{
    for (int i = 0; i < TD_EACH_ARRAYS; i++) {
        td_array_unref(&m->in[i]);
        td_array_unref(&m->out[i]);
    }
    for (int i = 0; i < TD_EACH_NUMBERS; i++)
        td_array_unref(&m->num[i]);
}

/* _grad_each(function, row, numbers, places, shared): a capsule.  row: Tensors like those of a row, the last `shared`
 * of them 0-d. */
static PyObject *
each(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    td_dtype dt[TD_EACH_ARRAYS];
    PyObject *keep = NULL, *given = NULL, *got = NULL, *r = NULL;
    making *m = calloc(1, sizeof *m);
    td_eachfn *e = NULL;
    td_var **v = NULL;
    bool mode;

    (void)module;
    if (!m)
        return PyErr_NoMemory();
    if (nargs != 5) {
        PyErr_SetString(PyExc_TypeError, "_grad_each: expected 5 arguments");
        goto out;
    }
    if (!pt_variables("_grad_each", args[1], false, &keep, &v, &m->nin))
        goto out;
    m->nnum = (int)PyLong_AsLong(args[2]);
    m->nshared = PyErr_Occurred() ? 0 : (int)PyLong_AsLong(args[4]);
    if (PyErr_Occurred() || m->nin < 1 || m->nin > TD_EACH_ARRAYS || m->nnum < 0 ||
        m->nnum > TD_EACH_NUMBERS || m->nshared < 0 || m->nshared >= m->nin ||
        !each_placeholders(args[3], m)) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_ValueError, "_grad_each: too many arrays or numbers");
        goto out;
    }
    for (int i = 0; i < m->nin; i++)
        dt[i] = td_array_dtype(&v[i]->value);
    mode = td_grad_set_mode(false);
    td_now_hold(true);
    given = each_arguments(m, td_array_dev(&v[0]->value), dt);
    got = given ? PyObject_Call(args[0], given, NULL) : NULL;
    td_now_hold(false);
    td_grad_set_mode(mode);
    if (results(m, got) &&
        pt_ok(td_each_new(m->in, m->nin, m->num, m->nnum, m->out, m->to, m->nout, &e)))
        r = PyCapsule_New(e, capsule_name, end_capsule);
    if (!r)
        td_each_free(e);
out:
    making_end(m);
    free(m);
    free(v);
    Py_XDECREF(keep);
    Py_XDECREF(given);
    Py_XDECREF(got);
    return r;
}

/* ---- running it over rows ---- */

/* The row's arrays, borrowed from it; false: exception. */
static bool
each_item_arrays(PyObject *row, int n, const td_array **out)
{
    if (!PyTuple_Check(row) || PyTuple_Size(row) != n) {
        PyErr_Format(PyExc_TypeError, "_grad_each_run: a tuple of %d tensors is expected", n);
        return false;
    }
    for (int i = 0; i < n; i++) {
        td_var *v;

        if (!pt_tensor_arg("_grad_each_run", PyTuple_GetItem(row, i), &v))
            return false;
        out[i] = &v->value;
    }
    return true;
}

static bool
numbers_of(PyObject *o, int n, double *out)
{
    if (!PyTuple_Check(o) || PyTuple_Size(o) != n) {
        PyErr_Format(PyExc_TypeError, "_grad_each_run: a tuple of %d numbers is expected", n);
        return false;
    }
    for (int i = 0; i < n; i++)
        out[i] = PyFloat_AsDouble(PyTuple_GetItem(o, i));
    return !PyErr_Occurred();
}

/* Writes the rows that fit; the others go to the list `left`. */
static bool
run_rows(const td_eachfn *e, PyObject *rows, const double *num, PyObject *left)
{
    Py_ssize_t count = PyTuple_Size(rows), fit = 0;
    int n = td_each_inputs(e);
    size_t most = (size_t)count * (size_t)n;
    td_array *own = calloc(most + 1, sizeof *own);
    const td_array **row = calloc(most + 1, sizeof *row);
    bool ok = own && row;

    if (!ok)
        PyErr_NoMemory();
    for (Py_ssize_t i = 0; i < count && ok; i++) {
        PyObject *o = PyTuple_GetItem(rows, i);

        ok = each_item_arrays(o, n, row + fit * n);
        if (ok && td_each_fits(e, row + fit * n))
            fit++;
        else if (ok)
            ok = PyList_Append(left, o) == 0;
    }
    for (Py_ssize_t i = 0; i < fit * n && ok;
         i++) { /* another thread may replace a tensor's value meanwhile */
        own[i] = td_array_ref(row[i]);
        row[i] = &own[i];
    }
    ok = ok && pt_ok(td_each_run(e, row, (int)fit, num));
    for (size_t i = 0; i < most && own; i++)
        td_array_unref(&own[i]);
    free(own);
    free(row);
    return ok;
}

/* _grad_each_run(capsule, numbers, rows): a list of the rows that do not fit, which are left as they are. */
static PyObject *
each_run(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    double num[TD_EACH_NUMBERS];
    PyObject *rows, *left;
    td_eachfn *e;

    (void)module;
    if (nargs != 3) {
        PyErr_SetString(PyExc_TypeError, "_grad_each_run: expected 3 arguments");
        return NULL;
    }
    e = PyCapsule_GetPointer(args[0], capsule_name);
    if (!e || !numbers_of(args[1], td_each_numbers(e), num))
        return NULL;
    rows = PySequence_Tuple(args[2]);
    left = rows ? PyList_New(0) : NULL;
    if (left && !run_rows(e, rows, num, left))
        Py_CLEAR(left);
    Py_XDECREF(rows);
    return left;
}

PyMethodDef pt_each_functions[] = {
    {"_grad_each", PY_FAST(each), METH_FASTCALL, NULL},
    {"_grad_each_run", PY_FAST(each_run), METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL},
};
