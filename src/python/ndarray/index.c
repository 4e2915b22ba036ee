/* index.c - subscripts: integers, slices, Ellipsis and None make views; index arrays go to
 * td_array_take or to treadle/_select/_indexing.py.
 */
#include "python/common/py.h"

#include "array/graph/capture.h"

#include <string.h>

typedef struct cursor {
    const td_view *from;
    td_view to;
    int axis;    /* the next of from's axes */
    int skipped; /* number of axes that Ellipsis replaces */
    bool ints;   /* nothing but integers so far */
} cursor;

static bool
bad_index(void)
{
    PyErr_SetString(PyExc_IndexError,
                    "only integers, slices (`:`), ellipsis (`...`), treadle.newaxis (`None`) and "
                    "integer or boolean arrays are valid indices");
    return false;
}

static void
keep_axis(cursor *c)
{
    int k = c->to.shape.ndim++;

    c->to.shape.dim[k] = c->from->shape.dim[c->axis];
    c->to.stride[k] = c->from->stride[c->axis++];
}

static bool
take_int(cursor *c, Py_ssize_t i)
{
    int64_t extent = c->from->shape.dim[c->axis], at = i < 0 ? i + extent : i;

    if (at < 0 || at >= extent) {
        PyErr_Format(PyExc_IndexError, "index %zd is out of bounds for axis %d with size %lld", i,
                     c->axis, (long long)extent);
        return false;
    }
    c->to.offset += at * c->from->stride[c->axis++];
    return true;
}

static bool
take_slice(cursor *c, PyObject *item)
{
    Py_ssize_t start, stop, step, count;
    td_view cut;

    if (PySlice_Unpack(item, &start, &stop, &step) < 0)
        return false;
    count = PySlice_AdjustIndices((Py_ssize_t)c->from->shape.dim[c->axis], &start, &stop, step);
    cut = td_view_slice(c->from, c->axis, start, step, count);
    c->to.offset += cut.offset - c->from->offset;
    c->to.shape.dim[c->to.shape.ndim] = count;
    c->to.stride[c->to.shape.ndim++] = cut.stride[c->axis++];
    return true;
}

/* The kind of a subscript's item; INT fills *i. */
typedef enum item_kind { BAD, INT, SLICE, NEW, DOTS, ARRAY } item_kind;

static item_kind
classify(PyObject *o, Py_ssize_t *i)
{
    PyObject *n;

    if (PyLong_CheckExact(o)) {
        *i = PyNumber_AsSsize_t(o, PyExc_IndexError);
        return *i == -1 && PyErr_Occurred() ? BAD : INT;
    }
    if (PySlice_Check(o))
        return SLICE;
    if (o == Py_None)
        return NEW;
    if (o == Py_Ellipsis)
        return DOTS;
    if (PyBool_Check(o) || PyList_Check(o) || PyTuple_Check(o))
        return ARRAY;
    if (py_is_array(o) &&
        (py_array_of(o)->view.shape.ndim || !td_dtype_is_int(td_array_dtype(py_array_of(o)))))
        return ARRAY;
    n = PyIndex_Check(o) ? PyNumber_Index(o) : NULL;
    if (n) {
        *i = PyNumber_AsSsize_t(n, PyExc_IndexError);
        Py_DECREF(n);
        return *i == -1 && PyErr_Occurred() ? BAD : INT;
    }
    PyErr_Clear();
    if (PyUnicode_Check(o) || PyBytes_Check(o)) {
        bad_index();
        return BAD;
    }
    if (PyObject_CheckBuffer(o) || PySequence_Check(o) || py_foreign_operand(o) > 0)
        return ARRAY;
    if (!PyErr_Occurred())
        bad_index();
    return BAD;
}

static bool
too_many(const td_view *v, int used)
{
    PyErr_Format(PyExc_IndexError,
                 "too many indices for array: array is %d-dimensional, but %d were indexed",
                 v->shape.ndim, used);
    return false;
}

/* Finds the kinds of all items.  1: a view; 0: some are arrays; -1: exception. */
static int
survey(PyObject *const *item, Py_ssize_t n, const td_view *v, item_kind *kind, Py_ssize_t *at,
       int *skipped)
{
    int used = 0, dots = 0, fresh = 0;
    bool arrays = false;

    for (Py_ssize_t k = 0; k < n; k++) {
        kind[k] = classify(item[k], &at[k]);
        switch (kind[k]) {
        case BAD:   return -1;
        case ARRAY: arrays = true; break;
        case NEW:   fresh++; break;
        case DOTS:  dots++; break;
        case INT:
        case SLICE: used++; break;
        }
    }
    if (arrays)
        return 0;
    if (dots > 1) {
        PyErr_SetString(PyExc_IndexError, "an index can only have a single ellipsis ('...')");
        return -1;
    }
    if (used > v->shape.ndim)
        return too_many(v, used) - 1;
    *skipped = v->shape.ndim - used;
    if (fresh + v->shape.ndim > TD_MAXDIM) {
        PyErr_Format(PyExc_IndexError, "more than %d dimensions", TD_MAXDIM);
        return -1;
    }
    return 1;
}

int
py_view_of(PyObject *key, const td_view *from, td_view *out, bool *single)
{
    enum { ITEMS = 2 * TD_MAXDIM + 1 };
    bool tuple = PyTuple_Check(key);
    Py_ssize_t n = tuple ? PyTuple_Size(key) : 1, at[ITEMS];
    PyObject *item[ITEMS];
    item_kind kind[ITEMS];
    cursor c = {.from = from, .ints = true};
    bool ok = true;
    int r;

    if (n > ITEMS)
        return too_many(from, (int)n) - 1;
    for (Py_ssize_t k = 0; k < n; k++)
        item[k] = tuple ? PyTuple_GetItem(key, k) : key;
    r = survey(item, n, from, kind, at, &c.skipped);
    if (r <= 0)
        return r;
    c.to.offset = from->offset;
    c.to.shape.ndim = 0;
    for (Py_ssize_t k = 0; k < n && ok; k++) {
        c.ints &= kind[k] == INT;
        switch (kind[k]) {
        case INT:   ok = take_int(&c, at[k]); break;
        case SLICE: ok = take_slice(&c, item[k]); break;
        case NEW:
            c.to.shape.dim[c.to.shape.ndim] = 1;
            c.to.stride[c.to.shape.ndim++] = 0;
            break;
        case DOTS:
            for (int j = 0; j < c.skipped; j++)
                keep_axis(&c);
            break;
        case BAD:
        case ARRAY: break;
        }
    }
    while (ok && c.axis < from->shape.ndim)
        keep_axis(&c);
    *out = c.to;
    *single = c.ints && c.to.shape.ndim == 0;
    return ok ? 1 : -1;
}

/* ---- reading ---- */

static PyObject *
index_through_package(const char *name, PyObject *self, PyObject *key, PyObject *value)
{
    PyObject *f = py_package("treadle._select._indexing", name);
    PyObject *r = f ? PyObject_CallFunctionObjArgs(f, self, key, value, NULL) : NULL;

    Py_XDECREF(f);
    return r;
}

/* Reads one element now, as a NumPy scalar. */
static PyObject *
scalar(td_array *one)
{
    PyObject *o = py_wrap(one), *host = o ? PyObject_CallMethod(o, "get", NULL) : NULL,
             *key = host ? PyTuple_New(0) : NULL, *r = key ? PyObject_GetItem(host, key) : NULL;

    Py_XDECREF(key);
    Py_XDECREF(host);
    Py_XDECREF(o);
    return r;
}

/* NumPy gives a scalar here, which later writes do not change: so this is a copy, not a view. */
static PyObject *
element(PyObject *self, const td_view *v)
{
    const td_array *a = py_array_of(self);
    td_array one = td_array_view(a, v);
    py_ndarray *r;
    td_scalar s;
    td_status st = TD_OK;

    if (((py_ndarray *)self)->scalars && !td_capture_now())
        return scalar(&one);
    r = py_new();
    if (r && td_dev_info(td_array_dev(a))->host && !td_capture_now()) {
        if (py_read_scalar(&one, &s))
            st = td_array_number(td_array_dev(a), s, &r->a);
        else
            Py_CLEAR(r);
    } else if (r)
        st = td_array_copy(&one, &r->a);
    td_array_unref(&one);
    return r ? py_done(r, st) : NULL;
}

static PyObject *
view_object(PyObject *self, const td_view *v)
{
    py_ndarray *r = py_new();

    if (!r)
        return NULL;
    r->a = td_array_view(py_array_of(self), v);
    return py_view_done(self, r, TD_OK);
}

/* Is an integer of the key a 0-d array, for NumPy too?  A computed one (an element, a sum, argmax) is a number for
 * NumPy. NumPy's scalars have a buffer as well, but are not sequences. */
static bool
has_array_integer(PyObject *key)
{
    bool tuple = PyTuple_Check(key);
    Py_ssize_t n = tuple ? PyTuple_Size(key) : 1;

    for (Py_ssize_t k = 0; k < n; k++) {
        PyObject *o = tuple ? PyTuple_GetItem(key, k) : key;

        if (PyLong_CheckExact(o) || PySlice_Check(o))
            continue;
        if (py_is_array(o) ? ((py_ndarray *)o)->made
                           : PyObject_CheckBuffer(o) && PySequence_Check(o))
            return true;
    }
    return false;
}

/* An index array gives a copy, as in NumPy, even if it holds one integer. */
static PyObject *
copy_object(PyObject *self, const td_view *v)
{
    td_array part = td_array_view(py_array_of(self), v);
    py_ndarray *r = py_new();
    td_status st = r ? td_array_copy(&part, &r->a) : TD_OK;

    td_array_unref(&part);
    return r ? py_done(r, st) : NULL;
}

static PyObject *
take_rows(PyObject *self, const td_array *index)
{
    py_ndarray *r = py_new();
    td_array wide = {.store = NULL};
    td_status st = TD_OK;

    if (!r)
        return NULL;
    if (td_array_dtype(index) != TD_I64)
        st = td_array_cast(index, TD_I64, &wide);
    if (!st)
        st = td_array_take(py_array_of(self), wide.store ? &wide : index, 0, &r->a);
    if (wide.store)
        td_array_unref(&wide);
    return py_done(r, st);
}

/* The offset of the element selected by a key of as many Python ints as a has axes; false: the key is of another kind,
 * or out of range. */
static bool
element_at(const td_array *a, PyObject *key, int64_t *offset)
{
    bool tuple = PyTuple_CheckExact(key);

    if (a->view.shape.ndim != (tuple ? PyTuple_Size(key) : 1))
        return false;
    *offset = a->view.offset;
    for (int k = 0; k < a->view.shape.ndim; k++) {
        PyObject *o = tuple ? PyTuple_GetItem(key, k) : key;
        Py_ssize_t i = PyLong_CheckExact(o) ? PyLong_AsSsize_t(o) : -1;
        int64_t extent = a->view.shape.dim[k];

        if (i == -1 && (!PyLong_CheckExact(o) || PyErr_Occurred())) {
            PyErr_Clear();
            return false;
        }
        i += i < 0 ? extent : 0;
        if (i < 0 || i >= extent)
            return false;
        *offset += i * a->view.stride[k];
    }
    return true;
}

/* Reads an element that is available now, as a number. */
static PyObject *
number_at(const td_array *a, int64_t at)
{
    td_scalar s;
    py_ndarray *r;

    if (!td_now_element(a, at, &s))
        return Py_NewRef(Py_None);
    r = py_new();
    return r ? py_done(r, td_array_number(td_array_dev(a), s, &r->a)) : NULL;
}

PyObject *
py_subscript(PyObject *self, PyObject *key)
{
    const td_array *a = py_array_of(self);
    bool single;
    PyObject *one;
    int64_t at;
    td_view v;
    int r;

    if (!((py_ndarray *)self)->scalars && element_at(a, key, &at)) {
        if ((one = number_at(a, at)) != Py_None)
            return one;
        Py_DECREF(one);
    }
    if (py_is_array(key) && py_array_of(key)->view.shape.ndim && a->view.shape.ndim &&
        td_dtype_is_int(td_array_dtype(py_array_of(key)))) {
        one = py_few_item(self, key);
        return one == Py_NotImplemented ? (Py_DECREF(one), take_rows(self, py_array_of(key))) : one;
    }
    r = py_view_of(key, &a->view, &v, &single);
    if (r < 0)
        return NULL;
    if (r == 0) {
        one = py_few_item(self, key);
        return one == Py_NotImplemented
                   ? (Py_DECREF(one), index_through_package("getitem", self, key, NULL))
                   : one;
    }
    if (single)
        return element(self, &v);
    return has_array_integer(key) ? copy_object(self, &v) : view_object(self, &v);
}

PyObject *
py_item(PyObject *self, Py_ssize_t i)
{
    const td_array *a = py_array_of(self);
    cursor c = {.from = &a->view, .to = {.offset = a->view.offset}};

    if (a->view.shape.ndim == 0) {
        too_many(&a->view, 1);
        return NULL;
    }
    if (!take_int(&c, i))
        return NULL;
    if (a->view.shape.ndim == 1 && !((py_ndarray *)self)->scalars) {
        PyObject *one = number_at(a, c.to.offset);

        if (one != Py_None)
            return one;
        Py_DECREF(one);
    }
    while (c.axis < a->view.shape.ndim)
        keep_axis(&c);
    return c.to.shape.ndim ? view_object(self, &c.to) : element(self, &c.to);
}

/* ---- writing ---- */

static int
assign_view(PyObject *self, const td_view *v, bool single, PyObject *value)
{
    td_array *a = py_array_of(self), to, own;
    td_operand x;
    td_status st;

    if (!py_stored(value, td_array_dtype(a), td_array_dev(a), &x, &own))
        return -1;
    if (x.array && x.array->view.shape.ndim &&
        (single || (!v->shape.ndim && !py_is_array(value) && !PyObject_CheckBuffer(value)))) {
        PyErr_Format(PyExc_ValueError, "setting an array element with a sequence: %R",
                     (PyObject *)Py_TYPE(value));
        st = TD_OK;
    } else {
        to = td_array_view(a, v);
        st = td_array_assign(&to, &x);
        td_array_unref(&to);
    }
    if (own.store)
        td_array_unref(&own);
    return py_ok(st) && !PyErr_Occurred() ? 0 : -1;
}

/* Assigns a number to an element now.  1: done; 0: the general path must do it; -1: exception. */
static int
assign_element(td_array *a, int64_t at, PyObject *value)
{
    td_array own;
    td_operand x;
    td_status st;

    if (!py_is_array(value) && !PyFloat_CheckExact(value) && !PyLong_CheckExact(value))
        return 0;
    if (!py_stored(value, td_array_dtype(a), td_array_dev(a), &x, &own))
        return -1;
    st = td_now_set_element(a, at, &x);
    if (own.store)
        td_array_unref(&own);
    return st == TD_SKIP ? 0 : py_ok(st) ? 1 : -1;
}

/* 1: done; 0: the general path must do it; -1: exception. */
static int
assign_mask(PyObject *self, const td_array *mask, PyObject *value)
{
    td_array *a = py_array_of(self), own;
    td_operand x;
    td_status st;

    if (!td_shape_eq(&a->view.shape, &mask->view.shape) || td_array_dev(mask) != td_array_dev(a))
        return 0;
    if (py_is_array(value) ? py_array_of(value)->view.shape.ndim != 0
                           : PyList_Check(value) || PyTuple_Check(value))
        return 0;
    if (!py_value(value, td_array_dtype(a), td_array_dev(a), &x, &own))
        return -1;
    if (x.array && x.array->view.shape.ndim) {
        td_array_unref(&own);
        return 0;
    }
    st = td_array_assign_where(a, mask, &x);
    if (own.store)
        td_array_unref(&own);
    return py_ok(st) ? 1 : -1;
}

int
py_ass_subscript(PyObject *self, PyObject *key, PyObject *value)
{
    PyObject *done;
    bool single;
    int64_t at;
    td_view v;
    int r;

    if (!value) {
        PyErr_SetString(PyExc_ValueError, "cannot delete array elements");
        return -1;
    }
    if (!py_writable((py_ndarray *)self))
        return -1;
    if (element_at(py_array_of(self), key, &at) &&
        (r = assign_element(py_array_of(self), at, value)))
        return r > 0 ? 0 : -1;
    if (py_is_array(key) && td_array_dtype(py_array_of(key)) == TD_BOOL) {
        r = assign_mask(self, py_array_of(key), value);
        if (r)
            return r > 0 ? 0 : -1;
    }
    r = py_view_of(key, &py_array_of(self)->view, &v, &single);
    if (r)
        return r < 0 ? -1 : assign_view(self, &v, single, value);
    if (py_few_assign(self, key, value))
        return 0;
    done = index_through_package("setitem", self, key, value);
    Py_XDECREF(done);
    return done ? 0 : -1;
}
