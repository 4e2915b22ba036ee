/* boxkeep.c - keeps alive the memory of arrays in boxes, and the boxes of a call that are still
 * reachable.
 *
 * A box's dict maps the address of each array in the box to the array's owner.
 */
#include "python/kernel/boxvalue.h"

/* ---- owners of arrays' memory ---- */

/* Is the address in the memory of o, which is a block of a call or an array? */
static bool
has_address(PyObject *o, uint64_t address)
{
    Py_buffer b;
    bool here;

    if (PyCapsule_CheckExact(o))
        return td_callblock_has(PyCapsule_GetPointer(o, NULL), address);
    if (PyObject_GetBuffer(o, &b, PyBUF_RECORDS_RO) < 0)
        return PyErr_Clear(), false;
    here = address - (uint64_t)(uintptr_t)b.buf <= (uint64_t)b.len;
    for (int i = 0; here && i < b.ndim; i++)
        here = b.strides[i] >= 0;
    PyBuffer_Release(&b);
    return here;
}

PyObject *
py_held_at(PyObject *held, uint64_t address)
{
    PyObject *key = held ? PyLong_FromUnsignedLongLong(address) : NULL,
             *o = key ? PyDict_GetItemWithError(held, key) : NULL, *k;
    Py_ssize_t at = 0;

    Py_XDECREF(key);
    if (o || !held)
        return Py_XNewRef(o);
    while (PyDict_Next(held, &at, &k, &o))
        if (has_address(o, address))
            return Py_NewRef(o);
    return NULL;
}

bool
py_hold(PyObject *held, uint64_t address, PyObject *owner)
{
    PyObject *key = PyLong_FromUnsignedLongLong(address);
    bool ok = key && PyDict_SetItem(held, key, owner) == 0;

    Py_XDECREF(key);
    return ok;
}

PyObject *
py_box_held(td_box *b)
{
    if (!b->held)
        b->held = PyDict_New();
    return b->held;
}

/* ---- walking a box's elements ---- */

/* Calls fn for every word of b's elements that begins a box or an array. */
static void
each_word(const td_type *t, td_box *b, const uint64_t *w, py_word_fn *fn, void *ctx)
{
    if (t->kind == TD_T_BOX || t->kind == TD_T_ARRAY)
        fn(t, b, w, ctx);
    for (uint32_t i = 0; t->kind == TD_T_TUPLE && i < t->n; w += py_value_words(t->item[i++]))
        each_word(t->item[i], b, w, fn, ctx);
}

void
py_box_each_part(const td_type *t, td_box *b, py_word_fn *fn, void *ctx)
{
    bool flat = b->kind == TD_BOX_LIST;
    int64_t n = flat ? b->n : b->fill;
    const uint64_t *w = td_box_at(b, 0);

    for (uint32_t i = 0; b->kind == TD_BOX_OBJECT && i < t->size; i++) {
        each_word(t->field[i].type, b, w, fn, ctx);
        w += py_value_words(t->field[i].type);
    }
    for (uint32_t part = 0; b->kind != TD_BOX_OBJECT && part < t->n; part++)
        for (int64_t i = 0; py_value_has_parts(t->item[part]) && i < n; i++) {
            const uint64_t *e = td_box_at(b, i);

            if (flat || e[0])
                each_word(t->item[part], b, e + (flat ? 0 : 1 + (part ? b->key : 0)), fn, ctx);
        }
}

/* keeping - after a call: what its arguments and its result can reach must live on. */
typedef struct keeping {
    py_call *c;
    td_callmem *heap;
    uint64_t address; /* the address that find_below looks for */
    PyObject *found;
    int64_t arrays;
    PyObject *fresh;
} keeping;

static void
find_below(const td_type *t, td_box *b, const uint64_t *w, void *ctx)
{
    keeping *k = ctx;
    td_box *in = t->kind == TD_T_BOX ? td_box_of(w[0]) : NULL;

    (void)b;
    if (!in || k->found || t->ndim == TD_BOX_STR || in->shared & SEEN)
        return;
    in->shared |= SEEN;
    k->found = py_held_at(in->held, k->address);
    py_box_each_part(t, in, find_below, k);
    in->shared &= ~(uint32_t)SEEN;
}

static void keep_box(const td_type *t, td_box *b, const uint64_t *w, void *ctx);

/* An array of b that belongs to the call, or to another box, belongs to b too. */
static void
keep_array(td_box *b, uint64_t address, keeping *k)
{
    PyObject *key = PyLong_FromUnsignedLongLong(address), *held = py_box_held(b),
             *had = key && held ? PyDict_GetItemWithError(held, key) : NULL, *owner;

    k->arrays++;
    if (key && held && address && !had) {
        owner = py_owner_of(address, k->c, k->heap);
        if (owner)
            (void)PyDict_SetItem(held, key, owner);
        Py_XDECREF(owner);
    }
    Py_XDECREF(key);
}

static void
keep_held(const td_type *t, td_box *b, const uint64_t *w, void *ctx)
{
    keeping *k = ctx;
    PyObject *key, *owner;

    if (t->kind != TD_T_ARRAY)
        return;
    key = PyLong_FromUnsignedLongLong(w[0]);
    owner = key ? PyDict_GetItemWithError(b->held, key) : NULL;
    if (owner)
        (void)PyDict_SetItem(k->fresh, key, owner);
    Py_XDECREF(key);
}

static void
count_arrays(const td_type *t, td_box *b, const uint64_t *w, void *ctx)
{
    (void)b;
    (void)w;
    ((keeping *)ctx)->arrays += t->kind == TD_T_ARRAY;
}

/* Drops the owners of arrays that have left b, once there are as many of them as of arrays in
 * b. */
static void
prune(const td_type *t, td_box *b, keeping *k)
{
    if (!b->held || PyDict_Size(b->held) <= 2 * k->arrays + 2)
        return;
    k->fresh = PyDict_New();
    if (!k->fresh) {
        PyErr_Clear();
        return;
    }
    py_box_each_part(t, b, keep_held, k);
    Py_DECREF((PyObject *)b->held);
    b->held = k->fresh;
}

/* Moves a box of the call, and all that it can reach, to the boxes that live on. */
static void
keep_box(const td_type *t, td_box *b, const uint64_t *w, void *ctx)
{
    keeping *k = ctx;
    td_box *in;
    int64_t arrays = k->arrays;

    if (t->kind == TD_T_ARRAY) {
        keep_array(b, w[0], k);
        return;
    }
    in = td_box_of(w[0]);
    if (!in || in->shared & SEEN)
        return;
    if (!(in->shared & KEPT))
        py_box_to_kept(in);
    in->shared |= 1u << 31 | SEEN;
    k->arrays = 0;
    py_box_each_part(t, in, keep_box, k);
    prune(t, in, k);
    k->arrays = arrays;
    in->shared &= ~(uint32_t)SEEN;
}

/* From time to time drops owners of arrays that were stored from Python and have left the
 * object's box. */
void
py_box_let_go(const td_type *t, td_box *b)
{
    Py_ssize_t n = b->held ? PyDict_Size(b->held) : 0;
    keeping k = {0};

    if (n < 8 || (n & (n - 1)))
        return;
    py_box_each_part(t, b, count_arrays, &k);
    prune(t, b, &k);
}

PyObject *
py_box_owner(const td_type *t, td_box *b, uint64_t address)
{
    keeping k = {.address = address};
    uint64_t w = (uint64_t)(uintptr_t)b;

    find_below(t, NULL, &w, &k);
    return k.found;
}

void
py_box_keep(const td_type *t, td_box *b, py_call *c, td_callmem *heap)
{
    keeping k = {.c = c, .heap = heap};
    uint64_t w = (uint64_t)(uintptr_t)b;

    keep_box(t, NULL, &w, &k);
}

void
py_box_unhold(void *held)
{
    Py_DECREF((PyObject *)held);
}
