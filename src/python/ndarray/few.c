/* few.c - NumPy's own functions on few elements that lie in the CPU's memory: array/run/now.h for what is no row.
 *
 * A function that is composed of others costs a microsecond for each; NumPy's costs one.  Its arguments are views of
 * the arrays' memory, its result is copied.
 */
#include "python/common/py.h"

#include "array/run/now.h"

enum { VIEWS = 16, DEPTH = 2, LARGE = 1 << 16 /* bytes */ };

/* borrowed - what one call takes from treadle's arrays. */
typedef struct borrowed {
    PyObject *view[VIEWS]; /* borrowed references: the converted arguments own them */
    td_dev *dev;
    int64_t elements, times; /* how many there are; there may be so many times config.eager */
    bool keys;               /* NumPy's arrays are passed on, too: nothing is written to them */
    int n;
} borrowed;

/* All of these return a new reference; NULL without an exception: the function is not for NumPy. */

static PyObject *
view_of(borrowed *b, PyObject *o)
{
    td_array *a = py_array_of(o);
    td_dev *d = td_array_dev(a);
    td_node *n = a->store->node;
    PyObject *r;

    b->elements += td_shape_size(&a->view.shape);
    if (b->n == VIEWS || !td_now_few(b->elements / b->times) || (b->dev && b->dev != d) ||
        n->hosted || a->dt != a->store->dt || a->dt == TD_BF16 || !td_node_on_host(n))
        return NULL;
    b->dev = d;
    r = py_host_peek(a);
    b->view[b->n] = r;
    b->n += r != NULL;
    return r;
}

static PyObject *converted(borrowed *b, PyObject *o, int depth);

static PyObject *
converted_items(borrowed *b, PyObject *o, int depth)
{
    bool list = PyList_CheckExact(o);
    Py_ssize_t n = list ? PyList_Size(o) : PyTuple_Size(o);
    PyObject *r;

    b->elements += list ? n : 0;
    if (!td_now_few(b->elements / b->times))
        return NULL;
    r = list ? PyList_New(n) : PyTuple_New(n);
    for (Py_ssize_t i = 0; r && i < n; i++) {
        PyObject *item = converted(b, list ? PyList_GetItem(o, i) : PyTuple_GetItem(o, i), depth);

        if (!item)
            Py_CLEAR(r);
        else if (list)
            PyList_SetItem(r, i, item);
        else
            PyTuple_SetItem(r, i, item);
    }
    return r;
}

static PyObject *
converted(borrowed *b, PyObject *o, int depth)
{
    py_numpy_parts p;

    if (py_is_array(o))
        return view_of(b, o);
    if (b->keys && py_numpy_look(o, &p)) {
        int64_t size = 1;

        for (int i = 0; i < p.ndim; i++)
            size *= p.dim[i];
        b->elements += size;
        return td_now_few(b->elements / b->times) ? Py_NewRef(o) : NULL;
    }
    if (PyLong_CheckExact(o) || PyFloat_CheckExact(o) || o == Py_None || PyUnicode_CheckExact(o) ||
        PyBool_Check(o) || PyComplex_CheckExact(o) || PySlice_Check(o) || o == Py_Ellipsis)
        return Py_NewRef(o);
    if (depth && (PyTuple_CheckExact(o) || PyList_CheckExact(o)))
        return converted_items(b, o, depth - 1);
    return NULL;
}

static PyObject *
converted_keywords(borrowed *b, PyObject *kw)
{
    PyObject *r = PyDict_New(), *key, *value;
    Py_ssize_t at = 0;

    while (r && PyDict_Next(kw, &at, &key, &value)) {
        bool out = PyUnicode_CompareWithASCIIString(key, "out") == 0 && value != Py_None;
        PyObject *own = out ? NULL : converted(b, value, DEPTH);

        if (!own || PyDict_SetItem(r, key, own) < 0)
            Py_CLEAR(r);
        Py_XDECREF(own);
    }
    return r;
}

/* ---- results ---- */

static PyObject *array_type, *scalar_type; /* NumPy's ndarray and generic */

static PyObject *result_of(const borrowed *b, PyObject *o);

/* A tuple, or a named one of the same type. */
static PyObject *
result_items(const borrowed *b, PyObject *o)
{
    PyObject *r = PyTuple_New(PyTuple_Size(o)), *named;

    for (Py_ssize_t i = 0; r && i < PyTuple_Size(o); i++) {
        PyObject *item = result_of(b, PyTuple_GetItem(o, i));

        if (!item)
            Py_CLEAR(r);
        else
            PyTuple_SetItem(r, i, item);
    }
    if (!r || PyTuple_CheckExact(o))
        return r;
    named = PyObject_CallObject((PyObject *)Py_TYPE(o), r);
    Py_DECREF(r);
    return named;
}

/* Is it a large array that only our caller holds, in memory of its own or of an array that nobody else holds?  Then the memory
 * becomes ours: a function of few elements may give many. */
static bool
is_given(PyObject *o)
{
    Py_ssize_t nbytes = 0;
    PyObject *base = NULL, *size = NULL;
    bool given;

    if (Py_REFCNT(o) > 1 || !Py_IS_TYPE(o, (PyTypeObject *)array_type))
        return false;
    size = PyObject_GetAttrString(o, "nbytes");
    base = size ? PyObject_GetAttrString(o, "base") : NULL;
    nbytes = size ? PyLong_AsSsize_t(size) : 0;
    given = nbytes >= LARGE &&
            (base == Py_None ||
             (base && Py_IS_TYPE(base, (PyTypeObject *)array_type) && Py_REFCNT(base) == 2));
    Py_XDECREF(size);
    Py_XDECREF(base);
    PyErr_Clear();
    return given;
}

static PyObject *
result_of(const borrowed *b, PyObject *o)
{
    py_numpy_parts p;
    td_array a;

    if (PyTuple_Check(o))
        return result_items(b, o);
    if (!Py_IS_TYPE(o, (PyTypeObject *)array_type) &&
        !PyType_IsSubtype(Py_TYPE(o), (PyTypeObject *)scalar_type))
        return NULL;
    if (py_numpy_look(o, &p) && p.ndim && p.contiguous && !is_given(o))
        return py_copy_numpy(o, -1, b->dev, &a) > 0 ? py_wrap(&a) : NULL;
    if (is_given(o)) {
        if (py_share(o, -1, b->dev, &a))
            return py_wrap(&a);
        PyErr_Clear(); /* its elements are none of ours, as they lie: they are copied */
    }
    return py_asarray(o, -1, b->dev, &a) ? py_wrap(&a) : NULL;
}

/* Does somebody else hold one of the views: a result that is a view of an argument? */
static bool
is_kept(const borrowed *b)
{
    for (int i = 0; i < b->n; i++)
        if (Py_REFCNT(b->view[i]) > 1)
            return true;
    return false;
}

static bool
find_types(void)
{
    PyObject *np = py_numpy();

    array_type = np ? PyObject_GetAttrString(np, "ndarray") : NULL;
    scalar_type = array_type ? PyObject_GetAttrString(np, "generic") : NULL;
    return scalar_type;
}

static PyObject *
few(PyObject *module, PyObject *const *arg, Py_ssize_t nargs)
{
    borrowed b = {.times = nargs == 4 ? PyLong_AsLong(arg[3]) : 0};
    PyObject *args, *kw = NULL, *r = NULL, *result = NULL;

    (void)module;
    if (b.times < 1 || !PyTuple_CheckExact(arg[1]) || !PyDict_CheckExact(arg[2])) {
        PyErr_SetString(PyExc_TypeError, "_few(function, arguments, keywords, times)");
        return NULL;
    }
    if (!scalar_type && !find_types())
        return NULL;
    if (td_now_watched() || !td_now_few(1))
        return Py_NewRef(Py_NotImplemented);
    args = converted_items(&b, arg[1], DEPTH);
    if (args)
        kw = converted_keywords(&b, arg[2]);
    if (kw && b.n)
        r = PyObject_Call(arg[0], args, kw);
    if (r && !is_kept(&b))
        result = result_of(&b, r);
    Py_XDECREF(r);
    Py_XDECREF(args);
    Py_XDECREF(kw);
    if (result || (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_Exception)))
        return result;
    PyErr_Clear(); /* treadle's function raises its own error */
    return Py_NewRef(Py_NotImplemented);
}

/* ---- elements chosen by arrays ---- */

/* How many places an index of one axis names; -1: it is none of numbers. */
static int64_t
places(PyObject *o)
{
    py_numpy_parts p;
    PyObject *first;

    if (py_is_array(o)) {
        const td_array *a = py_array_of(o);

        return td_dtype_is_int(td_array_dtype(a)) && a->view.shape.ndim < 2 ? td_array_size(a) : -1;
    }
    if (py_numpy_look(o, &p))
        return td_dtype_is_int(p.dt) && p.ndim < 2 ? (p.ndim ? (int64_t)p.dim[0] : 1) : -1;
    if (PyList_CheckExact(o)) {
        first = PyList_Size(o) ? PyList_GetItem(o, 0) : NULL;
        return first && PyLong_CheckExact(first) ? PyList_Size(o) : -1;
    }
    return PyLong_CheckExact(o) ? 1 : -1;
}

/* How many elements a[key] touches beyond the places that it names: of indices of at most one axis, what lies at each
 * place; of masks and others, all that they look at. */
static int64_t
touched(const td_array *a, PyObject *key)
{
    int64_t rest = td_array_size(a), most = 1, named = 0;
    int n = PyTuple_CheckExact(key) ? (int)PyTuple_Size(key) : 1;

    if (n > a->view.shape.ndim || !rest)
        return rest;
    for (int i = 0; i < n; i++) {
        PyObject *item = PyTuple_CheckExact(key) ? PyTuple_GetItem(key, i) : key;
        int64_t count = PySlice_Check(item) ? 0 : places(item);

        if (count < 0)
            return td_array_size(a);
        if (!PySlice_Check(item)) {
            rest /= a->view.shape.dim[i];
            most = count > most ? count : most;
            named += count;
        }
    }
    if (most > TD_NOW_MOST)
        return td_array_size(a);
    return rest * most > named ? rest * most - named : 0;
}

/* Can a be NumPy's for a moment, to look a key up? */
static bool
begin_item(borrowed *b, const td_array *a, PyObject *key)
{
    b->keys = true;
    b->dev = td_array_dev(a);
    b->elements = touched(a, key);
    return (scalar_type || find_types()) && !td_now_watched() && td_now_few(b->elements + 1);
}

PyObject *
py_few_item(PyObject *self, PyObject *key)
{
    borrowed b = {.times = 1};
    bool few = begin_item(&b, py_array_of(self), key);
    PyObject *view, *own, *r, *result = NULL;

    b.elements -= td_shape_size(&py_array_of(self)->view.shape); /* view_of counts them */
    view = few ? view_of(&b, self) : NULL;
    own = view ? converted(&b, key, DEPTH) : NULL;
    r = own ? PyObject_GetItem(view, own) : NULL;
    if (r && !is_kept(&b))
        result = result_of(&b, r);
    Py_XDECREF(r);
    Py_XDECREF(own);
    Py_XDECREF(view);
    PyErr_Clear(); /* the general path raises its own error */
    return result ? result : Py_NewRef(Py_NotImplemented);
}

bool
py_few_assign(PyObject *self, PyObject *key, PyObject *value)
{
    const td_array *a = py_array_of(self);
    borrowed b = {.times = 1};
    bool few = begin_item(&b, a, key) && td_array_dtype(a) != TD_BF16;
    PyObject *own = few ? converted(&b, key, DEPTH) : NULL;
    PyObject *from = own ? converted(&b, value, DEPTH) : NULL;
    PyObject *to = from && td_now_open(a) ? py_host_view(a, false) : NULL;
    bool done = to && PyObject_SetItem(to, own, from) == 0;

    Py_XDECREF(to);
    Py_XDECREF(from);
    Py_XDECREF(own);
    PyErr_Clear(); /* the general path raises its own error */
    return done;
}

PyMethodDef py_few_functions[] = {
    {"_few", PY_FAST(few), METH_FASTCALL,
     "_few(f, args, kwargs, times): NumPy's f of treadle's arrays, where they have at most so many "
     "times config.eager elements in the CPU's memory; NotImplemented elsewhere, or if f fails."},
    {NULL, NULL, 0, NULL},
};
