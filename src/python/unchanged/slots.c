/* slots.c - operators of numpy.ndarray: treadle's for big operands, NumPy's own for others. */
#include "python/unchanged/unchanged.h"

typedef enum px_op {
#define OP(id)      PX_##id,
#define INPLACE(id) PX_inplace_##id,
#define UNARY(id)   PX_##id,
#include "python/unchanged/slots.def"
    PX_OPS
} px_op;

/* near: NumPy's function; far: that of treadle's arrays; ours: our replacement in NumPy's
 * type. */
typedef struct row {
    const char *name;
    int slot;
    void *near, *far, *ours;
} row;

static row rows[PX_OPS];
static richcmpfunc near_compare, far_compare;

/* ---- addresses of slots ---- */

/* A type in CPython's layout: indices of words from ob_refcnt on, and in its tables. */
enum { DEALLOC = 6, AS_NUMBER = 12, AS_SEQUENCE, AS_MAPPING, AS_BUFFER = 20, RICHCOMPARE = 25 };

/* Index of a slot's word in its table; the tables are in the order of CPython's headers. */
static const struct place {
    uint8_t slot, table, word;
} places[] = {
#define NUMBER(id, word) {Py_nb_##id, AS_NUMBER, word}
    NUMBER(add, 0),
    NUMBER(subtract, 1),
    NUMBER(multiply, 2),
    NUMBER(remainder, 3),
    NUMBER(divmod, 4),
    NUMBER(power, 5),
    NUMBER(negative, 6),
    NUMBER(positive, 7),
    NUMBER(absolute, 8),
    NUMBER(invert, 10),
    NUMBER(lshift, 11),
    NUMBER(rshift, 12),
    NUMBER(and, 13),
    NUMBER(xor, 14),
    NUMBER(or, 15),
    NUMBER(inplace_add, 19),
    NUMBER(inplace_subtract, 20),
    NUMBER(inplace_multiply, 21),
    NUMBER(inplace_remainder, 22),
    NUMBER(inplace_power, 23),
    NUMBER(inplace_lshift, 24),
    NUMBER(inplace_rshift, 25),
    NUMBER(inplace_and, 26),
    NUMBER(inplace_xor, 27),
    NUMBER(inplace_or, 28),
    NUMBER(floor_divide, 29),
    NUMBER(true_divide, 30),
    NUMBER(inplace_floor_divide, 31),
    NUMBER(inplace_true_divide, 32),
    NUMBER(matrix_multiply, 34),
    NUMBER(inplace_matrix_multiply, 35),
    {Py_mp_subscript, AS_MAPPING, 1},
    {Py_mp_ass_subscript, AS_MAPPING, 2},
    {Py_bf_getbuffer, AS_BUFFER, 0},
    {Py_tp_dealloc, 0, DEALLOC},
    {Py_tp_richcompare, 0, RICHCOMPARE},
#undef NUMBER
};

void **
px_slot_at(PyTypeObject *t, int slot)
{
    void **words = (void **)(uintptr_t)t, **at = NULL;

    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (places[i].slot == slot)
            at = places[i].table ? (void **)words[places[i].table] + places[i].word
                                 : words + places[i].word;
    if (!at || *at != PyType_GetSlot(t, slot)) {
        PyErr_SetString(PyExc_ImportError, "unchanged programs: this Python lays out its types in "
                                           "a way that treadle does not know");
        return NULL;
    }
    return at;
}

/* ---- NumPy's own ---- */

/* Is o an object that NumPy asks whether it wants to handle the operation itself? */
static bool
is_odd(PyObject *o)
{
    return !px_is_np(o) && !px_may_lift(o) && !PyList_CheckExact(o) && !PyTuple_CheckExact(o);
}

static PyObject *
call_near(const row *r, PyObject *x, PyObject *y)
{
    if (r->slot == Py_nb_power || r->slot == Py_nb_inplace_power)
        return ((ternaryfunc)(uintptr_t)r->near)(x, y, Py_None);
    return ((binaryfunc)(uintptr_t)r->near)(x, y);
}

/* Before NumPy leaves the operation to another class, it checks that the type's slot is
 * NumPy's own: so it is during the call. */
static PyObject *
call_odd(const row *r, PyObject *x, PyObject *y)
{
    PyTypeObject *types[] = {px.ndarray, Py_TYPE(x), Py_TYPE(y)};
    void **at[3] = {NULL}, *own[3] = {NULL};
    PyObject *out;

    for (int i = 0; i < 3; i++) {
        if (!PyType_IsSubtype(types[i], px.ndarray) || PyType_GetSlot(types[i], r->slot) != r->ours)
            continue;
        at[i] = px_slot_at(types[i], r->slot);
        if (!at[i]) {
            PyErr_Clear();
            continue;
        }
        own[i] = *at[i];
        *at[i] = r->near;
    }
    out = call_near(r, x, y);
    for (int i = 3; i-- > 0;)
        if (at[i])
            *at[i] = own[i];
    return out;
}

static PyObject *
near_binary(const row *r, PyObject *x, PyObject *y)
{
    int64_t since = px_clock();
    PyObject *out;

    if (is_odd(x) || is_odd(y))
        return call_odd(r, x, y);
    out = call_near(r, x, y);
    return since && (px_is_np(x) || px_is_np(y)) ? px_seen(out, r->name, px_telling(x, y), since)
                                                 : out;
}

/* ---- two operands ---- */

static bool
is_far_pair(PyObject *x, PyObject *y)
{
    PyObject *const both[] = {x, y};

    return px_is_far(x) || px_is_far(y) || (px_is_np(x) && px_is_np(y) && px_grows(both, 2));
}

/* On the CPU, NumPy's library multiplies values that are there, on the same memory.  Values that treadle has computed
 * elsewhere stay there: bringing them costs more than a few of treadle's products whose results are small. */
static bool
is_there(PyObject *o, bool small_result)
{
    px_block *b = px_is_np(o) ? px_block_of(px_np(o)->data) : NULL;

    if (px_is_pending(b))
        return false;
    return !b || b->state != PX_AHEAD || (small_result ? px_block_wears(b) : !px_stays_ahead(o));
}

/* Is the result small, and the work so little that a fault for the result would count? */
static bool
has_small_product(PyObject *x, PyObject *y)
{
    enum { MOST = 1 << 18 }; /* elements: some 40 us */
    int64_t k =
        px_is_np(x) && px_is_np(y) && px_np(x)->ndim ? px_np(x)->dim[px_np(x)->ndim - 1] : 0;

    return k && px_size(x) < MOST && px_size(y) < MOST &&
           (double)px_size(x) / (double)k * ((double)px_size(y) / (double)k) < (double)px.crossover;
}

static bool
is_library(px_op op, PyObject *x, PyObject *y)
{
    td_dev *d;
    bool small;

    if (op != PX_matrix_multiply || td_dev_default(&d) || !td_dev_info(d)->host)
        return false;
    small = has_small_product(x, y);
    return is_there(x, small) && is_there(y, small);
}

/* Calls treadle's operator; NULL without an exception: it declined. */
static PyObject *
far_binary(const row *r, int how, PyObject *x, PyObject *y)
{
    PyObject *a, *b, *out = NULL;

    if (!px_may_lift(x) || !px_may_lift(y))
        return NULL;
    a = px_lift(x);
    b = a ? px_lift(y) : NULL;
    px_busy++;
    if (b && !r)
        out = far_compare(a, b, how);
    else if (b && r->slot == Py_nb_power)
        out = ((ternaryfunc)(uintptr_t)r->far)(a, b, Py_None);
    else if (b)
        out = ((binaryfunc)(uintptr_t)r->far)(a, b);
    px_busy--;
    Py_XDECREF(a);
    Py_XDECREF(b);
    if (out == Py_NotImplemented)
        Py_CLEAR(out);
    if (!out && PyErr_Occurred())
        (void)px_declined();
    return px_shown(out);
}

/* whole_op - the same for choices. */
typedef struct whole_op {
    const row *row; /* NULL: a comparison */
    int how;
} whole_op;

static PyObject *
on_whole(const void *how, PyObject *const *o)
{
    const whole_op *w = how;

    if (!w->row)
        return far_compare(o[0], o[1], w->how);
    if (w->row->slot == Py_nb_power)
        return ((ternaryfunc)(uintptr_t)w->row->far)(o[0], o[1], Py_None);
    return ((binaryfunc)(uintptr_t)w->row->far)(o[0], o[1]);
}

/* The result as chosen.h keeps it, or NULL. */
static PyObject *
on_choices(const row *r, int how, PyObject *x, PyObject *y)
{
    PyObject *const o[] = {x, y};
    whole_op w = {r, how};

    return px_arena && !px_busy && (px_choice_of(x) || px_choice_of(y))
               ? px_choice_apply(on_whole, &w, o, 2)
               : NULL;
}

static PyObject *
px_slot_binary(px_op op, PyObject *x, PyObject *y)
{
    PyObject *r;

    if (px_are_small(x, y))
        return call_near(&rows[op], x, y);
    r = op == PX_matrix_multiply || op == PX_divmod ? NULL : on_choices(&rows[op], 0, x, y);
    if (r || PyErr_Occurred())
        return px_choice_shown(r);
    if (!is_far_pair(x, y))
        return near_binary(&rows[op], x, y);
    if (is_library(op, x, y))
        return px_present(x) && px_present(y) ? near_binary(&rows[op], x, y) : NULL;
    r = far_binary(&rows[op], 0, x, y);
    if (r || PyErr_Occurred())
        return r;
    r = near_binary(&rows[op], x, y);
    if (r && r != Py_NotImplemented && !is_odd(x) && !is_odd(y) &&
        !px_note(rows[op].name, px_is_np(x) ? x : y))
        Py_CLEAR(r);
    return r;
}

static PyObject *
px_slot_compare(PyObject *x, PyObject *y, int how)
{
    PyObject *r;
    int64_t since;

    if (px_are_small(x, y))
        return near_compare(x, y, how);
    r = on_choices(NULL, how, x, y);
    if (r || PyErr_Occurred())
        return px_choice_shown(r);
    if (is_far_pair(x, y)) {
        r = far_binary(NULL, how, x, y);
        if (r || PyErr_Occurred())
            return r;
    }
    since = px_clock();
    r = near_compare(x, y, how);
    return since && px_is_np(x) ? px_seen(r, "comparison", px_telling(x, y), since) : r;
}

/* ---- in place ---- */

/* The plain operator of each in-place operator. */
static const uint8_t plain_op[PX_OPS] = {
#define OP(id)
#define INPLACE(id) [PX_inplace_##id] = PX_##id,
#define UNARY(id)
#include "python/unchanged/slots.def"
};

static PyObject *
px_slot_inplace(px_op op, PyObject *self, PyObject *y)
{
    PyObject *a, *b, *r = NULL;
    bool done;

    if (px_are_small(self, y))
        return call_near(&rows[op], self, y);
    /* an operator comes before its form in place, which has no whole array to change */
    if (px_choice_of(self) && op != PX_inplace_matrix_multiply)
        r = on_choices(&rows[plain_op[op]], 0, self, y);
    done = r && px_choice_replace(self, r);
    Py_XDECREF(r);
    if (done)
        return Py_NewRef(self);
    r = NULL;
    if (!px_is_far(self) || !px_may_lift(y))
        return near_binary(&rows[op], self, y);
    b = px_lift(y); /* before self's memory becomes treadle's, since y may be a view of it */
    a = b ? px_target(self) : NULL;
    px_busy++;
    if (a && a != Py_None)
        r = op == PX_inplace_power ? ((ternaryfunc)(uintptr_t)rows[op].far)(a, b, Py_None)
                                   : ((binaryfunc)(uintptr_t)rows[op].far)(a, b);
    px_busy--;
    px_written(self, a);
    Py_XDECREF(b);
    if (r && r != Py_NotImplemented) {
        Py_DECREF(r);
        return Py_NewRef(self);
    }
    Py_XDECREF(r);
    if (PyErr_Occurred() && !px_declined())
        return NULL;
    r = near_binary(&rows[op], self, y);
    if (r && !px_note(rows[op].name, self))
        Py_CLEAR(r);
    return r;
}

/* ---- one operand ---- */

static PyObject *
one_whole(const void *how, PyObject *const *o)
{
    return ((unaryfunc)(uintptr_t)((const row *)how)->far)(o[0]);
}

static PyObject *
px_slot_unary(px_op op, PyObject *x)
{
    PyObject *a, *r;

    if (px_small(x))
        return ((unaryfunc)(uintptr_t)rows[op].near)(x);
    r = px_choice_of(x) && !px_busy ? px_choice_apply(one_whole, &rows[op], &x, 1) : NULL;
    if (r || PyErr_Occurred())
        return px_choice_shown(r);
    if (px_is_far(x)) {
        a = px_lift(x);
        px_busy++;
        r = a ? ((unaryfunc)(uintptr_t)rows[op].far)(a) : NULL;
        px_busy--;
        Py_XDECREF(a);
        if (r)
            return px_shown(r);
        if (PyErr_Occurred() && !px_declined())
            return NULL;
    }
    return ((unaryfunc)(uintptr_t)rows[op].near)(x);
}

#define OP(id)                                                                                     \
    static PyObject *nb_##id(PyObject *x, PyObject *y)                                             \
    {                                                                                              \
        return px_slot_binary(PX_##id, x, y);                                                      \
    }
#define INPLACE(id)                                                                                \
    static PyObject *nb_inplace_##id(PyObject *x, PyObject *y)                                     \
    {                                                                                              \
        return px_slot_inplace(PX_inplace_##id, x, y);                                             \
    }
#define UNARY(id)                                                                                  \
    static PyObject *nb_##id(PyObject *x)                                                          \
    {                                                                                              \
        return px_slot_unary(PX_##id, x);                                                          \
    }
#define NO_POWER
#include "python/unchanged/slots.def"

static PyObject *
nb_power(PyObject *x, PyObject *y, PyObject *mod)
{
    return mod == Py_None ? px_slot_binary(PX_power, x, y)
                          : ((ternaryfunc)(uintptr_t)rows[PX_power].near)(x, y, mod);
}

static PyObject *
nb_divmod(PyObject *x, PyObject *y)
{
    return px_slot_binary(PX_divmod, x, y);
}

static PyObject *
nb_inplace_power(PyObject *x, PyObject *y, PyObject *mod)
{
    return mod == Py_None ? px_slot_inplace(PX_inplace_power, x, y)
                          : ((ternaryfunc)(uintptr_t)rows[PX_inplace_power].near)(x, y, mod);
}

static row rows[PX_OPS] = {
#define OP(id) [PX_##id] = {.name = #id, .slot = Py_nb_##id, .ours = (void *)(uintptr_t)nb_##id},
#define INPLACE(id)                                                                                \
    [PX_inplace_##id] = {                                                                          \
        .name = #id, .slot = Py_nb_inplace_##id, .ours = (void *)(uintptr_t)nb_inplace_##id},
#define UNARY(id) [PX_##id] = {.name = #id, .slot = Py_nb_##id, .ours = (void *)(uintptr_t)nb_##id},
#include "python/unchanged/slots.def"
};

bool
px_slots_init(void)
{
    void **at;

    for (int i = 0; i < PX_OPS; i++) {
        at = px_slot_at(px.ndarray, rows[i].slot);
        if (!at)
            return false;
        if (*at == rows[i].ours)
            continue; /* done before */
        rows[i].far = PyType_GetSlot(py.ndarray, rows[i].slot);
        rows[i].near = *at;
        if (rows[i].far && rows[i].near)
            *at = rows[i].ours;
    }
    at = px_slot_at(px.ndarray, Py_tp_richcompare);
    if (!at)
        return false;
    if (*at != (void *)(uintptr_t)px_slot_compare) {
        near_compare = (richcmpfunc)(uintptr_t)*at;
        far_compare = (richcmpfunc)(uintptr_t)PyType_GetSlot(py.ndarray, Py_tp_richcompare);
        *at = (void *)(uintptr_t)px_slot_compare;
    }
    PyType_Modified(px.ndarray);
    return true;
}
