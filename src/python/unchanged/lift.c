/* lift.c - converts NumPy's arrays to treadle's for reading and writing, and treadle's results to
 * NumPy's.
 */
#include "base/clock.h"
#include "python/unchanged/unchanged.h"

px_state px;
_Thread_local int px_busy;

int
px_dtype(PyObject *np)
{
    const PyObject *d = px_np(np)->dtype;

    if (px_np(np)->ndim > TD_MAXDIM)
        return -1;
    for (int i = 0; i < TD_DTYPE_COUNT; i++)
        if (px.dtype[i] == d)
            return i;
    return -1;
}

/* ---- which operands are treadle's ---- */

bool
px_works(void)
{
    return px_busy > 0;
}

int64_t
px_small(PyObject *o)
{
    const np_array *a;
    const px_block *b;
    int64_t n = 1;

    if (!px_is_np(o))
        return PyFloat_CheckExact(o) || PyLong_CheckExact(o) ||
               Py_IS_TYPE(o, (PyTypeObject *)px.scalar[TD_F64]);
    a = px_np(o);
    b = px_block_of(a->data);
    if (b && b->state == PX_AHEAD)
        return 0;
    for (int i = 0; i < a->ndim; i++)
        n *= a->dim[i];
    return n < px.crossover ? n : 0;
}

static bool
same_extents(const np_array *a, const np_array *b)
{
    for (int i = 0; i < a->ndim && a->ndim == b->ndim; i++)
        if (a->dim[i] != b->dim[i])
            return false;
    return a->ndim == b->ndim;
}

bool
px_are_small(PyObject *x, PyObject *y)
{
    int64_t nx = px_small(x), ny = nx ? px_small(y) : 0;

    if (!ny || px.watch)
        return false;
    return nx == 1 || ny == 1 || nx * ny < px.crossover || same_extents(px_np(x), px_np(y));
}

bool
px_is_far(PyObject *o)
{
    int64_t size;

    if (px_busy || !px_is_np(o) || !px_np(o)->ndim)
        return false;
    size = px_size(o);
    if (size < px.crossover && (!size || !px_is_pending(px_block_of(px_np(o)->data))))
        return false;
    return px_dtype(o) >= 0;
}

bool
px_stays_ahead(PyObject *o)
{
    px_block *b = px_is_np(o) ? px_block_of(px_np(o)->data) : NULL;

    return b && b->state == PX_AHEAD && (px_size(o) >= px.crossover || !px_block_wears(b));
}

bool
px_may_lift(PyObject *o)
{
    PyTypeObject *t = Py_TYPE(o);

    return t == &PyFloat_Type || t == &PyLong_Type || t == &PyBool_Type || t == &PyComplex_Type ||
           (px_is_np(o) && px_dtype(o) >= 0) || PyObject_TypeCheck(o, px.generic);
}

static int64_t
broadcast_extents(const np_array *const *a, int n)
{
    int64_t size = 1;
    int ndim = 0;

    for (int i = 0; i < n; i++)
        ndim = a[i]->ndim > ndim ? a[i]->ndim : ndim;
    for (int k = 1; k <= ndim; k++) {
        Py_ssize_t dim = 1;

        for (int i = 0; i < n; i++)
            if (k <= a[i]->ndim && a[i]->dim[a[i]->ndim - k] != 1) {
                Py_ssize_t d = a[i]->dim[a[i]->ndim - k];

                if (dim != 1 && dim != d)
                    return -1;
                dim = d;
            }
        if (__builtin_mul_overflow(size, (int64_t)dim, &size))
            return -1;
    }
    return size;
}

int64_t
px_reach(PyObject *const *o, int n)
{
    const np_array *a[3];
    int count = 0;

    if (n > 3)
        return -1;
    for (int i = 0; i < n; i++)
        if (px_is_np(o[i])) {
            if (px_dtype(o[i]) < 0)
                return -1;
            if (px_np(o[i])->ndim)
                a[count++] = px_np(o[i]);
        } else if (!px_may_lift(o[i]))
            return -1;
    return count ? broadcast_extents(a, count) : 1;
}

bool
px_grows(PyObject *const *o, int n)
{
    int64_t product = 1;
    int arrays = 0;

    if (px_busy)
        return false;
    for (int i = 0; i < n; i++)
        if (px_is_np(o[i]) && px_np(o[i])->ndim) {
            if (__builtin_mul_overflow(product, px_size(o[i]), &product))
                product = INT64_MAX;
            arrays++;
        }
    return arrays > 1 && product >= px.crossover && px_reach(o, n) >= px.crossover;
}

/* ---- NumPy's as treadle's ---- */

/* The array as a view of its block's storage, in elements of dt; false: it has gaps that are
 * not whole elements. */
static bool
layout_in(const np_array *a, td_dtype dt, const char *from, td_view *v)
{
    Py_ssize_t size = (Py_ssize_t)td_dtype_size(dt);

    if (a->ndim > TD_MAXDIM || (a->data - from) % size)
        return false;
    v->shape.ndim = a->ndim;
    v->offset = (a->data - from) / size;
    for (int i = 0; i < a->ndim; i++) {
        v->shape.dim[i] = a->dim[i];
        if (a->dim[i] > 1 && a->stride[i] % size)
            return false;
        v->stride[i] = a->dim[i] > 1 ? a->stride[i] / size : 0;
    }
    return true;
}

/* The shape that a block's value gets when `a` closes it: a's own if it covers the block, so
 * that a write to all of a is a whole value. */
static td_shape
closing_shape(const np_array *a, td_dtype dt, const px_block *b, int64_t size)
{
    size_t item = td_dtype_size(dt);
    td_shape s = {.ndim = 1, .dim = {(int64_t)(b->nbytes / item)}};
    bool fortran = !(a->flags & NP_C);

    if (a->data != b->at || size * (int64_t)item != (int64_t)b->nbytes ||
        !(a->flags & (NP_C | NP_F)))
        return s;
    s.ndim = a->ndim;
    for (int i = 0; i < a->ndim; i++)
        s.dim[i] = a->dim[fortran ? a->ndim - 1 - i : i];
    return s;
}

/* Axes of one element may have any stride: sets C order's, by which whole values are
 * recognised. */
static void
settle_ones(td_view *v, const td_view *whole)
{
    bool same = td_shape_eq(&v->shape, &whole->shape);

    for (int i = 0; i < v->shape.ndim; i++)
        if (v->shape.dim[i] == 1)
            v->stride[i] = same ? whole->stride[i] : 0;
}

/* The array as a view of its block's storage, which is closed.  1: done; 0: no block, or
 * another layout; -1: exception. */
static int
block_view(PyObject *o, td_dtype dt, td_array *out)
{
    const np_array *a = px_np(o);
    px_block *b = px_block_of(a->data);
    td_view v = {.offset = 0};
    td_dev *d;

    if (!b || b->exported || !(a->flags & NP_ALIGNED) || !layout_in(a, dt, b->at, &v))
        return 0;
    if (b->state == PX_OPEN) {
        td_shape s = closing_shape(a, dt, b, px_size(o));

        if (b->nbytes % td_dtype_size(dt) || px_size(o) < px.crossover)
            return 0;
        if (!py_ok(td_dev_default(&d)))
            return -1;
        if (px_block_close(b, d, dt, &s))
            return 0; /* out of memory, or too many mappings: a copy may work */
    }
    settle_ones(&v, &b->whole.store->node->view);
    *out = td_array_view(&b->whole, &v);
    if (dt != b->whole.store->dt) {
        out->dt = (uint8_t)dt;
        out->whole = false;
    } else if (dt != b->whole.dt) {
        out->dt = (uint8_t)dt;
        out->whole = td_view_eq(&v, &b->whole.store->node->view);
    }
    return 1;
}

PyObject *
px_lift(PyObject *o)
{
    int dt, found;
    td_array a;

    if (!px_is_np(o) || (dt = px_dtype(o)) < 0)
        return Py_NewRef(o);
    if (px_np(o)->ndim == 0) {
        PyObject *none = PyTuple_New(0), *r = none ? PyObject_GetItem(o, none) : NULL;

        Py_XDECREF(none);
        return r;
    }
    found = px_size(o) ? block_view(o, (td_dtype)dt, &a) : 0;
    if (found < 0 || (!found && !py_asarray(o, -1, NULL, &a)))
        return NULL;
    return py_wrap(&a);
}

PyObject *
px_target(PyObject *o)
{
    int dt = px_is_np(o) ? px_dtype(o) : -1, found;
    px_block *b;
    td_array a;

    if (dt < 0 || !px_np(o)->ndim || !px_size(o) || !(px_np(o)->flags & NP_WRITE))
        return Py_NewRef(Py_None);
    b = px_block_of(px_np(o)->data);
    if (!b)
        return Py_NewRef(Py_None);
    found = block_view(o, (td_dtype)dt, &a);
    if (found <= 0)
        return found ? NULL : Py_NewRef(Py_None);
    if (!py_ok(px_write_begin(b))) {
        td_array_unref(&a);
        return NULL;
    }
    (void)px_fault_watch();
    return py_wrap(&a);
}

void
px_written(PyObject *o, PyObject *target)
{
    if (target && target != Py_None)
        px_write_end(px_block_of(px_np(o)->data));
    Py_XDECREF(target);
}

/* ---- lists and tuples ---- */

enum { DEPTH = 8 };

static bool
is_sequence(PyObject *o)
{
    return PyList_CheckExact(o) || PyTuple_CheckExact(o);
}

static Py_ssize_t
sequence_length(PyObject *o)
{
    return PyList_CheckExact(o) ? PyList_Size(o) : PyTuple_Size(o);
}

static PyObject *
sequence_item(PyObject *o, Py_ssize_t i)
{
    return PyList_CheckExact(o) ? PyList_GetItem(o, i) : PyTuple_GetItem(o, i);
}

static bool
any_item_is(PyObject *o, bool (*what)(PyObject *), int depth)
{
    for (Py_ssize_t i = 0; i < sequence_length(o); i++)
        if (what(sequence_item(o, i)) || (depth && is_sequence(sequence_item(o, i)) &&
                                          any_item_is(sequence_item(o, i), what, depth - 1)))
            return true;
    return false;
}

static PyObject *
map_items(PyObject *o, PyObject *(*how)(PyObject *))
{
    bool list = PyList_CheckExact(o);
    Py_ssize_t n = sequence_length(o);
    PyObject *r = list ? PyList_New(n) : PyTuple_New(n);

    for (Py_ssize_t i = 0; r && i < n; i++) {
        PyObject *made = how(sequence_item(o, i));

        if (!made)
            Py_CLEAR(r);
        else if (list)
            PyList_SetItem(r, i, made);
        else
            PyTuple_SetItem(r, i, made);
    }
    return r;
}

PyObject *
px_lifted(PyObject *o)
{
    if (px_is_np(o))
        return px_lift(o);
    return is_sequence(o) && any_item_is(o, px_is_np, DEPTH) ? map_items(o, px_lifted)
                                                             : Py_NewRef(o);
}

bool
px_present(PyObject *o)
{
    px_block *b;

    if (px_is_np(o)) {
        b = px_block_of(px_np(o)->data);
        return !b || b->state != PX_AHEAD || py_ok(px_block_fetch(b));
    }
    if (is_sequence(o) && any_item_is(o, px_is_np, DEPTH))
        for (Py_ssize_t i = 0; i < sequence_length(o); i++)
            if (!px_present(sequence_item(o, i)))
                return false;
    return true;
}

bool
px_export(PyObject *a)
{
    px_block *b = px_block_of(px_np(a)->data);

    if (b && !py_ok(px_block_open(b)))
        return false;
    if (b)
        b->exported = true;
    return true;
}

/* ---- treadle's as NumPy's ---- */

/* The element as NumPy's scalar. */
static PyObject *
scalar_of(const td_array *a)
{
    PyObject *type = px.scalar[td_array_dtype(a)], *n, *r;
    td_scalar s;

    if (!py_read_scalar(a, &s))
        return NULL;
    n = py_scalar_object(s);
    r = n && type ? PyObject_CallFunctionObjArgs(type, n, NULL) : Py_XNewRef(n);
    Py_XDECREF(n);
    return r;
}

/* An array over a block whose value comes from a (takes it). */
static PyObject *
array_over(td_array *a)
{
    td_dtype dt = td_array_dtype(a);
    td_view v = a->view;
    px_block *b = px_block_new((size_t)td_array_size(a) * td_dtype_size(dt), PX_AHEAD, false);
    PyObject *r = b ? px_numpy_new(b, dt, &v) : NULL, *own;

    if (!b) { /* no block: the value is computed now, into ordinary memory */
        own = py_wrap(a);
        r = own ? py_get(own) : NULL;
        Py_XDECREF(own);
        return r;
    }
    if (!r) {
        px_block_free(b);
        td_array_unref(a);
        return NULL;
    }
    b->whole = *a;
    td_array_offer(&b->whole);
    return r;
}

/* An array without elements, which owns its memory as NumPy's do. */
static PyObject *
empty_shown(PyObject *r)
{
    PyObject *n = py_get(r), *own = n ? PyObject_CallMethod(n, "copy", "s", "K") : NULL;

    Py_XDECREF(n);
    return own;
}

static PyObject *
array_shown(PyObject *r)
{
    const td_array *a = py_array_of(r);
    td_view layout;
    td_array own;
    PyObject *n;

    if (a->view.shape.ndim == 0)
        n = scalar_of(a);
    else if (!td_array_size(a))
        n = empty_shown(r);
    else if (!px.dtype[td_array_dtype(a)] || !px_arena || !px_fault_watch())
        n = py_get(r);
    else if (Py_REFCNT(r) == 1 && a->whole && a->store->refs == 1 && !a->store->readonly &&
             a->dt == a->store->dt) {
        own = td_array_ref(a);
        n = array_over(&own);
    } else { /* a view of memory that others use: copies it, in the same layout */
        layout = py_layout(&a->view, &a->view.shape, 'K');
        n = py_ok(td_array_cast_as(a, td_array_dtype(a), &layout, &own)) ? array_over(&own) : NULL;
    }
    Py_DECREF(r);
    return n;
}

/* Converts the items of a tuple or list; named tuples keep their type. */
static PyObject *
items_shown(PyObject *r)
{
    bool tuple = PyTuple_Check(r), exact = tuple ? PyTuple_CheckExact(r) : true;
    Py_ssize_t n = PySequence_Size(r);
    PyObject *list = PyList_New(n), *out = NULL;

    for (Py_ssize_t i = 0; list && i < n; i++) {
        PyObject *o = px_shown(PySequence_GetItem(r, i));

        if (!o)
            Py_CLEAR(list);
        else
            PyList_SetItem(list, i, o);
    }
    if (list && tuple && !exact)
        out = PyObject_CallMethod((PyObject *)Py_TYPE(r), "_make", "(O)", list);
    else if (list)
        out = tuple ? PyList_AsTuple(list) : Py_NewRef(list);
    Py_XDECREF(list);
    Py_DECREF(r);
    return out;
}

static bool
has_ours(PyObject *r)
{
    bool tuple = PyTuple_Check(r);
    Py_ssize_t n = tuple ? PyTuple_Size(r) : PyList_Size(r);

    if (tuple && !PyTuple_CheckExact(r) && !PyObject_HasAttrString((PyObject *)Py_TYPE(r), "_make"))
        return false;
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *o = tuple ? PyTuple_GetItem(r, i) : PyList_GetItem(r, i);

        if (py_is_array(o) || ((PyTuple_Check(o) || PyList_CheckExact(o)) && has_ours(o)))
            return true;
    }
    return false;
}

PyObject *
px_shown(PyObject *r)
{
    if (!r || !px.ndarray)
        return r;
    if (py_is_array(r))
        return array_shown(r);
    if ((PyTuple_Check(r) || PyList_CheckExact(r)) && has_ours(r))
        return items_shown(r);
    return r;
}

/* ---- fallbacks and measurements ---- */

bool
px_declined(void)
{
    PyObject *const kinds[] = {PyExc_TypeError,           PyExc_ValueError,    PyExc_IndexError,
                               PyExc_NotImplementedError, PyExc_OverflowError, PyExc_AttributeError,
                               PyExc_LookupError,         PyExc_ImportError};

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (PyErr_ExceptionMatches(kinds[i])) {
            PyErr_Clear();
            return true;
        }
    return false;
}

bool
px_note(const char *name, PyObject *o)
{
    PyObject *r;
    Py_ssize_t nbytes = 0;

    if (!px.note)
        return true;
    if (px_is_np(o) && px_dtype(o) >= 0)
        nbytes = (Py_ssize_t)(px_size(o) * (int64_t)td_dtype_size((td_dtype)px_dtype(o)));
    r = PyObject_CallFunction(px.note, "sn", name, nbytes);
    Py_XDECREF(r);
    return r != NULL;
}

int64_t
px_clock(void)
{
    return px.watch ? td_now_ns() : 0;
}

/* Bytes from an element to its nearest neighbour; 0: there is none. */
static Py_ssize_t
apart(const np_array *a)
{
    Py_ssize_t least = 0;

    for (int i = 0; i < a->ndim; i++) {
        Py_ssize_t step = a->stride[i] < 0 ? -a->stride[i] : a->stride[i];

        if (a->dim[i] > 1 && step && (!least || step < least))
            least = step;
    }
    return least;
}

PyObject *
px_telling(PyObject *a, PyObject *b)
{
    int64_t more;

    if (!px_is_np(a) || !px_is_np(b))
        return px_is_np(b) ? b : a;
    more = px_size(b) - px_size(a);
    return more > 0 || (!more && apart(px_np(b)) > apart(px_np(a))) ? b : a;
}

PyObject *
px_seen_of(PyObject *r, const char *name, int64_t n, PyObject *on, int64_t since)
{
    PyObject *told;

    if (!since || !r || !px.watch)
        return r;
    told = PyObject_CallFunction(px.watch, "sLLO", name, (long long)n,
                                 (long long)(px_clock() - since), on);
    if (!told) {
        Py_DECREF(r);
        return NULL;
    }
    Py_DECREF(told);
    return r;
}

PyObject *
px_seen(PyObject *r, const char *name, PyObject *on, int64_t since)
{
    return since && r ? px_seen_of(r, name, px_is_np(on) ? px_size(on) : 1, on, since) : r;
}
