/* subscript.c - subscripts of numpy.ndarray, and its buffers.
 *
 * Views are NumPy's own, since they access no memory.  Subscripts that copy or write many
 * elements, or that write into values not computed yet, go to treadle.
 */
#include "python/unchanged/unchanged.h"

#include <string.h>

static binaryfunc near_get;
static objobjargproc near_set;
typedef int (*bufferproc)(PyObject *, Py_buffer *, int);

static bufferproc near_buffer;

/* ---- keys ---- */

typedef enum key_kind { ELEMENT, BASIC, FANCY } key_kind;

static key_kind
item_kind(PyObject *o)
{
    if (PyLong_CheckExact(o))
        return ELEMENT;
    if (PySlice_Check(o) || o == Py_None || o == Py_Ellipsis)
        return BASIC;
    if (PyBool_Check(o) || PyList_Check(o) || PyTuple_Check(o) || PyObject_TypeCheck(o, px.ndarray))
        return FANCY;
    return PyIndex_Check(o) ? ELEMENT : FANCY;
}

static key_kind
subscript_kind(PyObject *key, int ndim)
{
    Py_ssize_t n;
    key_kind worst = ELEMENT;

    if (!PyTuple_CheckExact(key))
        return item_kind(key) == ELEMENT && ndim > 1 ? BASIC : item_kind(key);
    n = PyTuple_Size(key);
    for (Py_ssize_t i = 0; i < n; i++) {
        key_kind k = item_kind(PyTuple_GetItem(key, i));

        if (k > worst)
            worst = k;
    }
    return worst == ELEMENT && n < ndim ? BASIC : worst;
}

static int64_t
item_size(PyObject *o)
{
    return px_is_np(o) ? px_size(o) : PyList_CheckExact(o) ? PyList_Size(o) : 1;
}

/* Elements of the largest index array. */
static int64_t
key_size(PyObject *key)
{
    int64_t most = 0, n;

    if (!PyTuple_CheckExact(key))
        return item_size(key);
    for (Py_ssize_t i = 0; i < PyTuple_Size(key); i++) {
        n = item_size(PyTuple_GetItem(key, i));
        most = n > most ? n : most;
    }
    return most;
}

/* An upper bound on the elements that a key of numbers and slices chooses. */
static int64_t
part_most(const np_array *a, PyObject *key)
{
    bool tuple = PyTuple_CheckExact(key);
    Py_ssize_t n = tuple ? PyTuple_Size(key) : 1, start, stop, step;
    int64_t most = 1;
    int axis = 0;

    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *o = tuple ? PyTuple_GetItem(key, i) : key;

        if (o == Py_None)
            continue;
        if (o == Py_Ellipsis || axis == a->ndim)
            return INT64_MAX;
        if (PySlice_Check(o)) {
            if (PySlice_Unpack(o, &start, &stop, &step) < 0) {
                PyErr_Clear();
                return INT64_MAX;
            }
            most *= PySlice_AdjustIndices(a->dim[axis], &start, &stop, step);
        }
        axis++;
    }
    for (; axis < a->ndim; axis++)
        most *= a->dim[axis];
    return most;
}

/* ---- elements one by one ---- */

/* Should treadle access a single element of an array, where the value is? */
static bool
stays_ahead(PyObject *self)
{
    px_block *b = px_block_of(px_np(self)->data);

    return b && b->state == PX_AHEAD && !px_block_wears(b);
}

/* ---- reading ---- */

static PyObject *
far_get(PyObject *self, PyObject *key)
{
    PyObject *a = px_lift(self), *k = a ? px_lifted(key) : NULL, *r;

    px_busy++;
    r = k ? PyObject_GetItem(a, k) : NULL;
    px_busy--;
    Py_XDECREF(a);
    Py_XDECREF(k);
    if (!r && PyErr_Occurred())
        (void)px_declined();
    return px_shown(r);
}

/* With an Ellipsis one element is an array too. */
static bool
has_dots(PyObject *key)
{
    Py_ssize_t n = PyTuple_CheckExact(key) ? PyTuple_Size(key) : 0;

    for (Py_ssize_t i = 0; i < n; i++)
        if (PyTuple_GetItem(key, i) == Py_Ellipsis)
            return true;
    return false;
}

/* Is it an array ahead, from which few elements at a time have not been taken too often? */
static bool
is_ahead(PyObject *self, PyObject *key)
{
    px_block *b = px_block_of(px_np(self)->data);

    return b && b->state == PX_AHEAD && !px_busy &&
           (px_is_pending(b) || key_size(key) >= px.crossover || !px_block_wears(b));
}

/* NumPy takes a tuple of another class for a tuple. */
static bool
is_odd_tuple(PyObject *key)
{
    return PyTuple_Check(key) && !PyTuple_CheckExact(key);
}

/* Reports that one element of an array was read or written. */
static PyObject *
told_element(PyObject *r, const char *what, PyObject *self, int64_t since)
{
    return since ? px_seen_of(r, what, 1, self, since) : r;
}

static PyObject *
subscript(PyObject *self, PyObject *key)
{
    int64_t since;
    const px_block *b;
    key_kind kind;
    PyObject *r;

    if (!px_is_np(self) || PySlice_Check(key))
        return near_get(self, key);
    b = px_block_of(px_np(self)->data);
    if (!px.watch && !b)
        return near_get(self, key);
    kind = subscript_kind(key, px_np(self)->ndim);
    if (kind == BASIC || (kind == ELEMENT && !px.watch && b->state != PX_AHEAD) || px_busy ||
        is_odd_tuple(key) || px_dtype(self) < 0 || (kind == FANCY && !b))
        return near_get(self, key);
    (void)px_size(self); /* settles a choice */
    since = px_clock();
    if (kind == ELEMENT) {
        r = stays_ahead(self) ? far_get(self, key) : NULL;
        if (!r && !PyErr_Occurred())
            r = near_get(self, key);
        return told_element(r, "element", self, since);
    }
    r = px_choice_get(self, key);
    if (r || PyErr_Occurred())
        return r;
    if (has_dots(key) ||
        !(is_ahead(self, key) || (px_is_far(self) && key_size(key) >= px.crossover)))
        return near_get(self, key);
    r = far_get(self, key);
    if (r || PyErr_Occurred())
        return r;
    r = near_get(self, key);
    if (r && !px_note("getitem", self))
        Py_CLEAR(r);
    return r;
}

/* ---- writing ---- */

/* treadle's self[key] = value.  1: done; 0: it declined; -1: exception. */
static int
far_set(PyObject *self, PyObject *key, PyObject *value)
{
    PyObject *v, *k, *a;
    int r = 0;

    if (!px_may_lift(value))
        return 0;
    /* before self's memory becomes treadle's, since value may be a view of it */
    v = px_lift(value);
    k = v ? px_lifted(key) : NULL;
    a = k ? px_target(self) : NULL;
    px_busy++;
    if (a && a != Py_None)
        r = py_ass_subscript(a, k, v) == 0 ? 1 : -1;
    px_busy--;
    if (!a)
        r = -1;
    Py_XDECREF(v);
    Py_XDECREF(k);
    px_written(self, a);
    return r < 0 && px_declined() ? 0 : r;
}

/* Must the block's value come to the program's memory before NumPy can write there? */
static bool
must_fetch(PyObject *self)
{
    const px_block *b = px_block_of(px_np(self)->data);

    return b && (b->state == PX_AHEAD ||
                 (b->state == PX_CLEAN && !td_dev_info(td_array_dev(&b->whole))->host));
}

static bool
is_number(PyObject *value)
{
    return px_is_np(value) ? px_np(value)->ndim == 0 : px_may_lift(value);
}

static int
set_part(PyObject *self, PyObject *key, PyObject *value)
{
    PyObject *part = near_get(self, key);
    px_block *b = px_block_of(px_np(self)->data);
    bool big;
    int r = 0;

    if (!part) {
        PyErr_Clear();
        return 0; /* NumPy reports what is wrong */
    }
    big = px_is_np(part) && (px_size(part) >= px.crossover || px_is_far(value));
    if (big)
        b->worn = 0;
    /* many small parts in a row, without a big one between: fetch the array */
    if (big || (px_is_np(part) && px_size(part) && must_fetch(self) && !px_block_wears(b)))
        r = far_set(part, Py_Ellipsis, value);
    Py_DECREF(part);
    return r;
}

static int
set_element(PyObject *self, PyObject *key, PyObject *value)
{
    int64_t since = px_clock();
    PyObject *told;
    int r;

    (void)px_size(self); /* settles a choice */
    r = is_number(value) && stays_ahead(self) ? far_set(self, key, value) : 0;
    if (r < 0 || (!r && near_set(self, key, value) < 0))
        return -1;
    told = told_element(Py_NewRef(Py_None), "element written", self, since);
    Py_XDECREF(told);
    return told ? 0 : -1;
}

/* Is it a write of an element or of a small part into memory that is the value, of something that is there? */
static bool
is_plain_write(const px_block *b, PyObject *self, PyObject *key, key_kind kind, PyObject *value)
{
    if (!b || b->state != PX_OPEN || px.watch || kind == FANCY)
        return false;
    return kind == ELEMENT || (px_small(value) && part_most(px_np(self), key) < px.crossover);
}

static int
assign(PyObject *self, PyObject *key, PyObject *value)
{
    const px_block *b;
    key_kind kind;
    int r = 0;

    if (!px_is_np(self))
        return near_set(self, key, value);
    b = px_block_of(px_np(self)->data);
    if ((!px.watch && !b) || !value)
        return near_set(self, key, value);
    kind = subscript_kind(key, px_np(self)->ndim);
    if (is_plain_write(b, self, key, kind, value) || px_busy || is_odd_tuple(key) ||
        px_dtype(self) < 0)
        return near_set(self, key, value);
    if (kind == ELEMENT)
        return set_element(self, key, value);
    if (!b)
        return near_set(self, key, value);
    (void)px_size(self); /* settles a choice */
    if (kind == BASIC)
        r = set_part(self, key, value);
    else if ((r = px_choice_put(self, key, value)) != 0)
        ;
    else if (is_ahead(self, key) || key_size(key) >= px.crossover || px_is_far(value))
        r = far_set(self, key, value);
    return r > 0 ? 0 : r < 0 ? -1 : near_set(self, key, value);
}

/* ---- the buffer protocol ---- */

#define INDIRECT 0x100 /* PyBUF_INDIRECT, without the bits of strides: asked for by memoryview() */

/* System calls do not fault, so a buffer gets its values first, and is writable.  Memory that
 * a memoryview may write stays open: later operations take copies. */
static int
buffer(PyObject *self, Py_buffer *out, int flags)
{
    px_block *b =
        PyObject_TypeCheck(self, px.ndarray) ? px_block_of(((const np_array *)self)->data) : NULL;
    bool write = b && ((const np_array *)self)->flags & NP_WRITE &&
                 (flags & PyBUF_WRITABLE || flags & INDIRECT),
         keep = write && (flags & INDIRECT || (flags & PyBUF_STRIDES) != PyBUF_STRIDES);

    if (b && !py_ok(write ? px_block_open(b) : px_block_fetch(b))) {
        out->obj = NULL;
        return -1;
    }
    if (keep)
        b->exported = true;
    return near_buffer(self, out, flags);
}

static bool
replace(int slot, void *ours, void **near)
{
    void **at = px_slot_at(px.ndarray, slot);

    if (at && *at != ours) {
        *near = *at;
        *at = ours;
    }
    return at;
}

bool
px_subscript_init(void)
{
    void *near[3] = {(void *)(uintptr_t)near_get, (void *)(uintptr_t)near_set,
                     (void *)(uintptr_t)near_buffer};

    if (!replace(Py_mp_subscript, (void *)(uintptr_t)subscript, &near[0]) ||
        !replace(Py_mp_ass_subscript, (void *)(uintptr_t)assign, &near[1]) ||
        !replace(Py_bf_getbuffer, (void *)(uintptr_t)buffer, &near[2]))
        return false;
    near_get = (binaryfunc)(uintptr_t)near[0];
    near_set = (objobjargproc)(uintptr_t)near[1];
    near_buffer = (bufferproc)(uintptr_t)near[2];
    return true;
}
