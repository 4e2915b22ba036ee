/* proxynumber.c - the number protocol of proxies: operators, comparisons, conversion to Python's numbers.
 *
 * Small operands go to NumPy's own operators; where an operand is treadle's or the result would be big, treadle's
 * slots take them.  What treadle declines is NumPy's on the host, and so is the wording of errors.
 */
#include "python/unchanged/proxy.h"

typedef enum px_op {
#define OP(id, call)      PX_##id,
#define INPLACE(id, call) PX_inplace_##id,
#define UNARY(id, call)   PX_##id,
#include "python/unchanged/proxynumber.def"
    PX_OPS
} px_op;

static PyObject *
power(PyObject *x, PyObject *y)
{
    return PyNumber_Power(x, y, Py_None);
}

static PyObject *
inplace_power(PyObject *x, PyObject *y)
{
    return PyNumber_InPlacePower(x, y, Py_None);
}

/* generic: Python's own dispatch; far: the slot of treadle's arrays. */
static struct row {
    const char *name;
    int slot;
    binaryfunc generic;
    unaryfunc one;
    void *far;
} rows[] = {
#define OP(id, call)      [PX_##id] = {#id, Py_nb_##id, call, NULL, NULL},
#define INPLACE(id, call) [PX_inplace_##id] = {#id, Py_nb_inplace_##id, call, NULL, NULL},
#define UNARY(id, call)   [PX_##id] = {#id, Py_nb_##id, NULL, call, NULL},
#include "python/unchanged/proxynumber.def"
};

static richcmpfunc far_compare;

/* ---- two operands ---- */

/* NumPy's operator on the host. */
static PyObject *
on_host(binaryfunc f, int how, PyObject *x, PyObject *y)
{
    PyObject *a = px_host(x), *b = a ? px_host(y) : NULL, *r = NULL;

    if (b)
        r = f ? f(a, b) : PyObject_RichCompare(a, b, how);
    Py_XDECREF(a);
    Py_XDECREF(b);
    return px_result(r, NULL);
}

static PyObject *
call_far(const struct row *row, int how, PyObject *a, PyObject *b)
{
    if (!row)
        return far_compare(a, b, how);
    if (row->slot == Py_nb_power)
        return ((ternaryfunc)(uintptr_t)row->far)(a, b, Py_None);
    return ((binaryfunc)(uintptr_t)row->far)(a, b);
}

/* Treadle's operator, then NumPy's. */
static PyObject *
far_binary(const struct row *row, int how, PyObject *x, PyObject *y)
{
    PyObject *a, *b, *la = NULL, *lb = NULL, *r = NULL;
    const char *name = row ? row->name : "comparison";

    px_settle(x);
    px_settle(y);
    a = px_array(x);
    b = px_array(y);
    if (px_may_lift(a) && px_may_lift(b)) {
        la = px_lift(a);
        lb = la ? px_lift(b) : NULL;
        if (lb && (py_is_array(la) || py_is_array(lb)))
            r = call_far(row, how, la, lb);
        Py_XDECREF(la);
        Py_XDECREF(lb);
        if (r == Py_NotImplemented)
            Py_CLEAR(r);
        if (r)
            return px_result(r, NULL);
        if (PyErr_Occurred() && !px_declined())
            return NULL;
    }
    r = on_host(row ? row->generic : NULL, how, x, y);
    if (r && !px_note(name, px_is_far(x) ? x : y))
        Py_CLEAR(r);
    return r;
}

/* Would the result of a and b, arrays of NumPy's and others, be big? */
static bool
grows(PyObject *a, PyObject *b)
{
    int64_t n = px_is_np(a) ? px_np_size(a) : 1, m = px_is_np(b) ? px_np_size(b) : 1;
    PyObject *const both[] = {a, b};

    if (n < px.crossover && m < px.crossover && (n <= 1 || m <= 1 || n * m < px.crossover))
        return false;
    return px_reach(both, 2) >= px.crossover;
}

/* An operator on whole arrays. */
typedef struct whole_op {
    const struct row *row; /* NULL: a comparison */
    int how;
} whole_op;

static PyObject *
on_whole(const void *how, PyObject *const *o)
{
    const whole_op *w = how;

    return call_far(w->row, w->how, o[0], o[1]);
}

/* NULL without an exception: no operand is chosen any more. */
static PyObject *
on_chosen(const struct row *row, int how, PyObject *x, PyObject *y)
{
    PyObject *const o[] = {x, y};
    whole_op w = {row, how};

    return px_is_chosen(x) || px_is_chosen(y) ? px_on_chosen(on_whole, &w, o, 2) : NULL;
}

/* On the CPU products of what is there are NumPy's library's, on the same memory; NULL without an exception: not so. */
static PyObject *
proxynumber_product(PyObject *x, PyObject *y)
{
    PyObject *a = px_ready(x), *b = a ? px_ready(y) : NULL, *r = NULL;
    int64_t since = px_clock();

    if (b)
        r = px_seen(px_result(PyNumber_MatrixMultiply(a, b), NULL), "matmul", x, since);
    Py_XDECREF(a);
    Py_XDECREF(b);
    return r;
}

static PyObject *
binary(px_op op, PyObject *x, PyObject *y)
{
    PyObject *a, *b, *r = op == PX_matrix_multiply ? NULL : on_chosen(&rows[op], 0, x, y);
    int64_t since;

    if (r || PyErr_Occurred())
        return r;
    a = px_operand(x);
    b = px_operand(y);
    if (!a || !b)
        return NULL;
    if (op == PX_matrix_multiply && (r = proxynumber_product(x, y), r || PyErr_Occurred()))
        return r;
    if (py_is_array(a) || py_is_array(b) || grows(a, b))
        return far_binary(&rows[op], 0, x, y);
    since = px_clock();
    return px_seen(px_result(rows[op].generic(a, b), NULL), rows[op].name, px_is(x) ? x : y, since);
}

static PyObject *
compare(PyObject *x, PyObject *y, int how)
{
    PyObject *a, *b, *r = on_chosen(NULL, how, x, y);
    int64_t since;

    if (r || PyErr_Occurred())
        return r;
    a = px_operand(x);
    b = px_operand(y);
    if (!a || !b)
        return NULL;
    if (py_is_array(a) || py_is_array(b) || grows(a, b))
        return far_binary(NULL, how, x, y);
    since = px_clock();
    return px_seen(px_result(PyObject_RichCompare(a, b, how), NULL), "comparison", x, since);
}

/* ---- in place ---- */

/* self's memory stays where it is: NumPy's operator for NumPy's array. */
static PyObject *
inplace_host(px_op op, PyObject *self, PyObject *y)
{
    PyObject *a = px_host(self), *b = a ? px_host(y) : NULL, *r = b ? rows[op].generic(a, b) : NULL,
             *out = NULL;

    if (r && r == a)
        out = px_back(self, a) ? Py_NewRef(self) : NULL;
    else if (r)
        out = px_result(Py_NewRef(r), NULL); /* another type's operator answered */
    Py_XDECREF(a);
    Py_XDECREF(b);
    Py_XDECREF(r);
    return out;
}

static PyObject *
inplace(px_op op, PyObject *self, PyObject *y)
{
    PyObject *held, *b, *lb, *r = NULL;

    if (!px_is(self))
        return Py_NewRef(Py_NotImplemented);
    if (!px_take(self))
        return NULL;
    if (px_is_big(px_held(self)))
        px_settle(self);
    held = px_operand(self);
    if (!held || !px_take(y))
        return NULL;
    if (!py_is_array(held)) {
        int64_t since = px_clock();

        return px_seen(inplace_host(op, self, y), rows[op].name, self, since);
    }
    px_settle(y);
    px_settle(self);
    held = px_array(self);
    b = px_array(y);
    if (px_may_lift(b)) {
        lb = px_lift(b);
        if (lb)
            r = op == PX_inplace_power ? ((ternaryfunc)(uintptr_t)rows[op].far)(held, lb, Py_None)
                                       : ((binaryfunc)(uintptr_t)rows[op].far)(held, lb);
        Py_XDECREF(lb);
        if (r && r != Py_NotImplemented) {
            Py_DECREF(r);
            return Py_NewRef(self);
        }
        Py_XDECREF(r);
        if (PyErr_Occurred() && !px_declined())
            return NULL;
    }
    r = inplace_host(op, self, y);
    if (r && !px_note(rows[op].name, self))
        Py_CLEAR(r);
    return r;
}

static PyObject *
one_whole(const void *how, PyObject *const *o)
{
    return ((unaryfunc)(uintptr_t)((const struct row *)how)->far)(o[0]);
}

static PyObject *
unary(px_op op, PyObject *x)
{
    PyObject *a, *la, *r = px_is_chosen(x) ? px_on_chosen(one_whole, &rows[op], &x, 1) : NULL;
    unaryfunc far = (unaryfunc)(uintptr_t)rows[op].far;

    if (r || PyErr_Occurred())
        return r;
    a = px_operand(x);
    if (!a)
        return NULL;
    if (!py_is_array(a) && (px_np_size(a) < px.crossover || px_dtype(a) < 0))
        return px_result(rows[op].one(a), NULL);
    px_settle(x);
    la = px_lift(px_array(x));
    r = la && py_is_array(la) ? far(la) : NULL;
    Py_XDECREF(la);
    if (r)
        return px_result(r, NULL);
    if (PyErr_Occurred() && !px_declined())
        return NULL;
    a = px_host(x);
    r = a ? rows[op].one(a) : NULL;
    Py_XDECREF(a);
    if (r && !px_note(rows[op].name, x))
        Py_CLEAR(r);
    return px_result(r, NULL);
}

#define OP(id, call)                                                                               \
    static PyObject *nb_##id(PyObject *x, PyObject *y)                                             \
    {                                                                                              \
        return binary(PX_##id, x, y);                                                              \
    }
#define INPLACE(id, call)                                                                          \
    static PyObject *nb_inplace_##id(PyObject *x, PyObject *y)                                     \
    {                                                                                              \
        return inplace(PX_inplace_##id, x, y);                                                     \
    }
#define UNARY(id, call)                                                                            \
    static PyObject *nb_##id(PyObject *x)                                                          \
    {                                                                                              \
        return unary(PX_##id, x);                                                                  \
    }
#define NO_POWER
#include "python/unchanged/proxynumber.def"

static PyObject *
nb_power(PyObject *x, PyObject *y, PyObject *mod)
{
    return mod == Py_None ? binary(PX_power, x, y) : Py_NewRef(Py_NotImplemented);
}

static PyObject *
nb_inplace_power(PyObject *x, PyObject *y, PyObject *mod)
{
    return mod == Py_None ? inplace(PX_inplace_power, x, y) : Py_NewRef(Py_NotImplemented);
}

static PyObject *
nb_divmod(PyObject *x, PyObject *y)
{
    return px_result(binary(PX_divmod, x, y), NULL);
}

/* ---- Python's numbers ---- */

static PyObject *
converted(PyObject *self, PyObject *(*how)(PyObject *))
{
    PyObject *host = px_host(self), *r = host ? how(host) : NULL;

    Py_XDECREF(host);
    return r;
}

static int
nb_bool(PyObject *self)
{
    PyObject *host = px_host(self);
    int r = host ? PyObject_IsTrue(host) : -1;

    Py_XDECREF(host);
    return r;
}

static PyObject *
nb_int(PyObject *self)
{
    return converted(self, PyNumber_Long);
}

static PyObject *
nb_float(PyObject *self)
{
    return converted(self, PyNumber_Float);
}

static PyObject *
nb_index(PyObject *self)
{
    return converted(self, PyNumber_Index);
}

bool
px_number_init(void)
{
    for (int i = 0; i < PX_OPS; i++)
        rows[i].far = PyType_GetSlot(py.ndarray, rows[i].slot);
    far_compare = (richcmpfunc)(uintptr_t)PyType_GetSlot(py.ndarray, Py_tp_richcompare);
    return true;
}

const PyType_Slot px_number_slots[] = {
#define OP(id, call)      PY_SLOT(Py_nb_##id, nb_##id),
#define INPLACE(id, call) PY_SLOT(Py_nb_inplace_##id, nb_inplace_##id),
#define UNARY(id, call)   PY_SLOT(Py_nb_##id, nb_##id),
#include "python/unchanged/proxynumber.def"
    PY_SLOT(Py_tp_richcompare, compare), PY_SLOT(Py_nb_bool, nb_bool),   PY_SLOT(Py_nb_int, nb_int),
    PY_SLOT(Py_nb_float, nb_float),      PY_SLOT(Py_nb_index, nb_index), {0, NULL},
};
