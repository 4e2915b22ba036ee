/* number.c - the number protocol of ndarray: operators, comparisons, conversion to Python numbers.
 *
 * The slots are generated from ops.def's `slot` column.
 */
#include "python/common/py.h"

#include "array/run/now.h"

#include <math.h>
#include <string.h>

/* The ** of NumPy's arrays squares if the exponent is the Python number 2, and the squares of bools are int8. */
static bool
squares_bools(td_op op, PyObject *x, PyObject *y)
{
    return op == OP_power && PyLong_CheckExact(y) && py_is_array(x) &&
           !py_is_number((py_ndarray *)x) && td_array_dtype(py_array_of(x)) == TD_BOOL &&
           PyLong_AsDouble(y) == 2;
}

/* Is it n * [x]: a sequence that Python repeats, for NumPy's scalars too? */
static bool
repeats(td_op op, PyObject *x, PyObject *n)
{
    return op == OP_multiply && (PyList_CheckExact(x) || PyTuple_CheckExact(x)) && py_is_array(n) &&
           py_is_number((py_ndarray *)n);
}

/* What NumPy's arrays and scalars give beside an operand that holds no numbers (objects, dates, text), of which arrays
 * here know nothing, by the function `how` of treadle._numpy._members; NotImplemented: NumPy leaves the operation to that
 * operand's class.  Another failure than the refusal of such an operand stays. */
static PyObject *
by_numpy(const char *how, td_op op, PyObject *x, PyObject *y)
{
    PyObject *f, *r;

    if (PyErr_Occurred() && (!py_asks_numpy() || !PyErr_ExceptionMatches(py.no_numbers)))
        return NULL;
    if (!py_asks_numpy())
        return Py_NewRef(Py_NotImplemented);
    PyErr_Clear();
    f = py_package("treadle._numpy._members", how);
    r = f ? PyObject_CallFunction(f, "sOO", td_optab[op].name, x, y) : NULL;
    Py_XDECREF(f);
    return r;
}

static PyObject *
beside_object(td_op op, PyObject *x, PyObject *y)
{
    return by_numpy("beside_object", op, x, y);
}

/* ---- two numbers, the most frequent work of loops over elements ---- */

/* A number whose value a kernel has written to the CPU's memory (a random number, the sum of a big array) becomes the
 * number itself: an operation on memory takes five times as long. */
static const td_node *
take_out(PyObject *o)
{
    td_array *a = py_array_of(o), number;
    const td_node *n = a->store->node;
    td_scalar value;

    if (!py_is_number((py_ndarray *)o) || td_now_watched() || !td_node_on_host(n))
        return n;
    if (!py_read_scalar(a, &value) || value.dt != (td_dtype)n->dt ||
        td_array_number(n->dev, value, &number) != TD_OK) {
        PyErr_Clear();
        return n;
    }
    if (a->store->shown == o)
        a->store->shown = NULL;
    td_array_unref(a);
    *a = number;
    return number.store->node;
}

/* The value of a number of ours, of at most 64 bits; NULL: o is none. */
static const td_node *
number_node(PyObject *o)
{
    const td_array *a = py_is_array(o) ? py_array_of(o) : NULL;
    const td_node *n = a ? a->store->node : NULL;

    if (n && n->kind == TD_N_LEAF)
        n = take_out(o);
    return n && n->kind == TD_N_SCALAR && a->whole && n->dt == a->dt &&
                   !td_dtype_is_complex((td_dtype)n->dt) && !td_dtype_is_half((td_dtype)n->dt)
               ? n
               : NULL;
}

/* A number of Python's as a number of dt, which it must fit exactly as NumPy's promotion has it. */
static bool
weak_number(PyObject *o, td_dtype dt, td_scalar *out)
{
    bool real = td_dtype_is_float(dt);
    int64_t most = dt == TD_F32 ? 1 << 24 : INT64_C(1) << 53;
    uint64_t bits[2];
    td_scalar wide;
    int over = 0;

    if (PyFloat_CheckExact(o) && real) {
        wide = (td_scalar){.dt = TD_F64, .f = {PyFloat_AsDouble(o)}};
    } else if (PyLong_CheckExact(o) && dt != TD_BOOL) {
        wide = (td_scalar){.dt = TD_I64, .i = PyLong_AsLongLongAndOverflow(o, &over)};
        if (over || (real && (wide.i > most || wide.i < -most)))
            return false;
    } else
        return false;
    td_scalar_bits(wide, dt, bits);
    *out = td_scalar_load(dt, bits);
    if (wide.dt == TD_F64)
        return isinf(out->f[0]) == isinf(wide.f[0]);
    return real || (out->i == wide.i && (td_dtype_kind(dt) == 'i' || wide.i >= 0));
}

/* *r = x op y of one dtype; false: this operation is for the general path. */
static bool
compute_number(td_op op, td_scalar x, td_scalar y, td_scalar *r)
{
    bool real = td_dtype_is_float(x.dt), truth = x.dt == TD_BOOL, less, same;

    if (real) {
        less = x.f[0] < y.f[0];
        same = x.f[0] == y.f[0];
    } else {
        less = td_dtype_kind(x.dt) == 'i' ? x.i < y.i : x.u < y.u;
        same = x.u == y.u;
    }
    *r = (td_scalar){.dt = x.dt};
    if (truth && op != OP_bitwise_and && op != OP_bitwise_or && op != OP_bitwise_xor &&
        op != OP_equal && op != OP_not_equal)
        return false;
    switch ((int)op) {
    case OP_add:
        if (real)
            r->f[0] = x.f[0] + y.f[0];
        else
            r->u = x.u + y.u;
        break;
    case OP_subtract:
        if (real)
            r->f[0] = x.f[0] - y.f[0];
        else
            r->u = x.u - y.u;
        break;
    case OP_multiply:
        if (real)
            r->f[0] = x.f[0] * y.f[0];
        else
            r->u = x.u * y.u;
        break;
    case OP_divide:
        if (!real || y.f[0] == 0)
            return false;
        r->f[0] = x.f[0] / y.f[0];
        break;
    case OP_bitwise_and:
    case OP_bitwise_or:
    case OP_bitwise_xor:
        if (real)
            return false;
        r->u = op == OP_bitwise_and ? x.u & y.u : op == OP_bitwise_or ? x.u | y.u : x.u ^ y.u;
        break;
    case OP_left_shift:
    case OP_right_shift:
        if (real || y.u >= 8 * td_dtype_size(x.dt))
            return false;
        if (op == OP_left_shift)
            r->u = x.u << y.u;
        else if (td_dtype_kind(x.dt) == 'i')
            r->i = x.i >> y.u;
        else
            r->u = x.u >> y.u;
        break;
    case OP_less: *r = (td_scalar){.dt = TD_BOOL, .i = less}; break;
    case OP_greater_equal:
        *r = (td_scalar){.dt = TD_BOOL, .i = real ? x.f[0] >= y.f[0] : !less};
        break;
    case OP_greater:
        *r = (td_scalar){.dt = TD_BOOL, .i = real ? x.f[0] > y.f[0] : !less && !same};
        break;
    case OP_less_equal: *r = (td_scalar){.dt = TD_BOOL, .i = less || same}; break;
    case OP_equal:      *r = (td_scalar){.dt = TD_BOOL, .i = same}; break;
    case OP_not_equal:  *r = (td_scalar){.dt = TD_BOOL, .i = !same}; break;
    default:            return false;
    }
    return true;
}

/* True or False as a number on d, which nobody can write to: one object for each. */
static PyObject *
truth_on(td_dev *d, bool value)
{
    static struct {
        td_dev *d;
        PyObject *number[2];
    } last;

    if (last.d != d) {
        Py_CLEAR(last.number[0]);
        Py_CLEAR(last.number[1]);
        last.d = d;
    }
    if (!last.number[value]) {
        py_ndarray *r = py_new();

        if (!r)
            return NULL;
        last.number[value] =
            py_done(r, td_array_number(d, (td_scalar){.dt = TD_BOOL, .i = value}, &r->a));
        if (!last.number[value])
            return NULL;
        r->readonly = true;
    }
    return Py_NewRef(last.number[value]);
}

/* x op y of two numbers of one dtype, or of one and a number of Python's; None: not such, or not for here. */
static PyObject *
two_numbers(td_op op, PyObject *x, PyObject *y)
{
    const td_node *m = number_node(x), *n = number_node(y), *one = m ? m : n;
    td_scalar a, b, r;
    uint64_t bits[2];
    py_ndarray *out;

    if (!one || (m && n && (m->dt != n->dt || m->dev != n->dev)) || td_now_watched() ||
        !td_now_few(1))
        return Py_None;
    if (m)
        a = m->par[0];
    if (n)
        b = n->par[0];
    if ((!m && !weak_number(x, (td_dtype)one->dt, &a)) ||
        (!n && !weak_number(y, (td_dtype)one->dt, &b)) || !compute_number(op, a, b, &r))
        return Py_None;
    if (r.dt == TD_BOOL)
        return truth_on(one->dev, r.i);
    td_scalar_bits(r, r.dt, bits); /* as the dtype holds it */
    out = py_new();
    return out ? py_done(out, td_array_number(one->dev, td_scalar_load(r.dt, bits), &out->a))
               : NULL;
}

/* Two operands, one of them an ndarray; NotImplemented if the other is neither array nor number. */
static PyObject *
number_binary(td_op op, PyObject *x, PyObject *y)
{
    PyObject *const o[2] = {x, y};
    py_ndarray *r;
    td_status st;
    py_args g;
    PyObject *quick = two_numbers(op, x, y);
    int other, ours;

    if (quick != Py_None)
        return quick;
    other = py_foreign_operand(x);
    if (!other)
        other = py_foreign_operand(y);
    if (other > 0 && py_numpy_has_class(x)) /* its class has left the operation to us */
        return PyErr_Occurred() ? NULL : beside_object(op, x, y);
    if (other)
        return other < 0 ? NULL : Py_NewRef(Py_NotImplemented);
    if (repeats(op, x, y) || repeats(op, y, x))
        return Py_NewRef(Py_NotImplemented);
    ours = py_args_fill(&g, op, o, 2);
    if (ours <= 0)
        return beside_object(op, x, y);
    r = py_new();
    if (!r) {
        py_args_free(&g);
        return NULL;
    }
    if (squares_bools(op, x, y))
        st = td_array_cast(g.x[0].array, TD_I8, &r->a);
    else
        st = td_array_apply(op, g.x, 2, &r->a);
    py_args_free(&g);
    return py_done(r, st);
}

/* x op= y, y being of a foreign class or no number: as NumPy does it, who writes into x. */
static PyObject *
inplace_object(td_op op, PyObject *x, PyObject *y)
{
    return by_numpy("inplace_object", op, x, y);
}

/* A number does not change, as NumPy's scalars do not: `x += y` then is `x = x + y`. */
static PyObject *
number_inplace(td_op op, PyObject *self, PyObject *y)
{
    PyObject *const o[2] = {self, y};
    td_status st;
    py_args g;
    int other;

    if (py_is_number((py_ndarray *)self))
        return Py_NewRef(Py_NotImplemented);
    if (!py_writable((py_ndarray *)self))
        return NULL;
    other = py_foreign_operand(y);
    if (other < 0)
        return NULL;
    if (other || py_args_fill(&g, op, o, 2) <= 0)
        return inplace_object(op, self, y);
    st = td_array_apply_into(op, g.x, 2, py_array_of(self));
    py_args_free(&g);
    return st ? py_raise(st) : Py_NewRef(self);
}

/* -x or abs(x) of a float number; None: another operation or operand. */
static PyObject *
one_number(td_op op, PyObject *x)
{
    const td_node *n = op == OP_negative || op == OP_absolute ? number_node(x) : NULL;
    td_scalar v;
    py_ndarray *r;

    if (!n || !td_dtype_is_float((td_dtype)n->dt) || td_now_watched() || !td_now_few(1))
        return Py_None;
    v = n->par[0];
    v.f[0] = op == OP_negative ? -v.f[0] : fabs(v.f[0]);
    r = py_new();
    return r ? py_done(r, td_array_number(n->dev, v, &r->a)) : NULL;
}

PyObject *
py_floats_apply(td_op op, PyObject *const *x, int n)
{
    td_dev *dev = NULL;
    const td_steps *p;
    td_scalar v[TD_MAXARG];
    py_ndarray *r;

    for (int i = 0; i < n; i++) {
        const td_node *node = number_node(x[i]);

        if (node && node->dt == TD_F64 && (!dev || dev == node->dev)) {
            v[i] = node->par[0];
            dev = node->dev;
        } else if (!node && PyFloat_CheckExact(x[i]))
            v[i] = (td_scalar){.dt = TD_F64, .f = {PyFloat_AsDouble(x[i])}};
        else
            return Py_None;
    }
    if (!dev && !py_device(NULL, &dev))
        return NULL;
    /* powers by numbers of Python's are roots and squares, elsewhere */
    if (op == OP_power || !strchr(td_optab[op].kinds, 'f') || py_takes_truth(op) ||
        !td_dev_info(dev)->host || td_now_watched() || !td_now_few(1) ||
        !(p = td_steps_op(op, TD_F64)))
        return Py_None;
    r = py_new();
    return r ? py_done(r, td_array_number(dev, td_steps_number(p, v, n, td_op_result(op, TD_F64)),
                                          &r->a))
             : NULL;
}

static PyObject *
number_unary(td_op op, PyObject *x)
{
    td_operand o = {.array = py_array_of(x)};
    PyObject *quick = one_number(op, x);
    py_ndarray *r;

    if (quick != Py_None)
        return quick;
    r = py_new();
    return r ? py_done(r, td_array_apply(op, &o, 1, &r->a)) : NULL;
}

#include "python/ndarray/numberslots.h" /* after the functions that it calls */

/* x == y for a y without numbers (None, a str, a list that contains None): NumPy's answer, element by element, from
 * treadle._numpy._members.  If there is no such answer, a pending exception stays. */
static PyObject *
compare_objects(PyObject *x, PyObject *y, int how)
{
    static const char *const names[] = {"<", "<=", "==", "!=", ">", ">="}; /* by Py_LT, … */
    PyObject *type, *value, *trace, *f, *r;

    PyErr_Fetch(&type, &value, &trace);
    f = py_package("treadle._numpy._members", "compare_objects");
    r = f ? PyObject_CallFunction(f, "OOs", x, y, names[how]) : NULL;
    Py_XDECREF(f);
    if (type && r == Py_NotImplemented) {
        Py_DECREF(r);
        PyErr_Restore(type, value, trace);
        return NULL;
    }
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
    return r;
}

static PyObject *
compare_any(PyObject *x, PyObject *y, int how)
{
    PyObject *r = slot_compare(x, y, how);
    bool open = r ? r == Py_NotImplemented && py_foreign_operand(y) == 0
                  : !py_is_array(y) && PyErr_ExceptionMatches(PyExc_TypeError);

    if (!open)
        return r;
    Py_XDECREF(r);
    return compare_objects(x, y, how);
}

static PyObject *
nb_divmod(PyObject *x, PyObject *y)
{
    PyObject *q = number_binary(OP_floor_divide, x, y), *m, *pair;

    if (!q || q == Py_NotImplemented)
        return q;
    m = number_binary(OP_remainder, x, y);
    pair = m ? PyTuple_Pack(2, q, m) : NULL;
    Py_DECREF(q);
    Py_XDECREF(m);
    return pair;
}

/* ---- matrix product: CPU arrays go to NumPy on the same memory ---- */

static bool
matrix_operand(PyObject *x)
{
    return py_is_array(x) || PyList_Check(x) || PyTuple_Check(x) || PyObject_CheckBuffer(x);
}

static PyObject *
nb_matmul(PyObject *x, PyObject *y)
{
    PyObject *f, *r;

    if (!matrix_operand(x) || !matrix_operand(y) || py_numpy_has_class(x) || py_numpy_has_class(y))
        return PyErr_Occurred() ? NULL : Py_NewRef(Py_NotImplemented);
    r = py_fused_product(x, y);
    if (r != Py_None)
        return r;
    Py_DECREF(r);
    f = py_package("treadle.linalg._products", "matmul");
    r = f ? PyObject_CallFunctionObjArgs(f, x, y, NULL) : NULL;
    Py_XDECREF(f);
    return r;
}

static PyObject *
nb_inplace_matmul(PyObject *x, PyObject *y)
{
    PyObject *r = nb_matmul(x, y);
    td_dtype from, to;
    td_operand value;
    td_status st;

    if (!r || r == Py_NotImplemented || !py_writable((py_ndarray *)x)) {
        if (r != Py_NotImplemented)
            Py_CLEAR(r);
        return r;
    }
    if (!td_shape_eq(&py_array_of(r)->view.shape, &py_array_of(x)->view.shape)) {
        char want[256], have[256];

        PyErr_Format(PyExc_ValueError, "x @= y: the product has shape %s, x has %s",
                     td_shape_text(&py_array_of(r)->view.shape, want, sizeof want),
                     td_shape_text(&py_array_of(x)->view.shape, have, sizeof have));
        Py_DECREF(r);
        return NULL;
    }
    from = td_array_dtype(py_array_of(r));
    to = td_array_dtype(py_array_of(x));
    if (!td_can_cast(from, to, 'k')) {
        PyErr_Format(PyExc_TypeError, "x @= y: the product is %s, x %s: write x = x @ y",
                     td_dtype_name(from), td_dtype_name(to));
        Py_DECREF(r);
        return NULL;
    }
    value = (td_operand){.array = py_array_of(r)};
    st = td_array_assign(py_array_of(x), &value);
    Py_DECREF(r);
    return st ? py_raise(st) : Py_NewRef(x);
}

/* ---- Python numbers ---- */

static int
nb_bool(PyObject *self)
{
    int64_t n = td_array_size(py_array_of(self));
    td_scalar s;
    uint64_t bits[2];

    if (n == 1) {
        if (!py_read_scalar(py_array_of(self), &s))
            return -1;
        td_scalar_bits(s, TD_BOOL, bits);
        return bits[0] != 0;
    }
    PyErr_SetString(PyExc_ValueError,
                    n ? "The truth value of an array with more than one element is ambiguous. Use "
                        "a.any() or a.all()"
                      : "The truth value of an empty array is ambiguous. Use `array.size > 0` to "
                        "check that an array is not empty.");
    return -1;
}

static PyObject *
ndarray_number(PyObject *self)
{
    td_scalar s;

    if (td_array_size(py_array_of(self)) != 1) {
        PyErr_SetString(PyExc_TypeError, "only length-1 arrays can be converted to Python scalars");
        return NULL;
    }
    return py_read_scalar(py_array_of(self), &s) ? py_scalar_object(s) : NULL;
}

static PyObject *
number_converted(PyObject *self, PyObject *(*how)(PyObject *))
{
    PyObject *n = ndarray_number(self), *r = n ? how(n) : NULL;

    Py_XDECREF(n);
    return r;
}

/* A number by how, PyNumber_Long or PyNumber_Float. Of a complex scalar of NumPy's both take the real part, with a
 * warning; of an array of one complex number neither does. */
static PyObject *
real_number(PyObject *self, PyObject *(*how)(PyObject *))
{
    PyObject *real, *r;
    td_scalar s;

    if (!td_dtype_is_complex(td_array_dtype(py_array_of(self))) ||
        !py_is_number((py_ndarray *)self))
        return number_converted(self, how);
    if (!py_cast_warning(TD_C128, TD_F64) || !py_read_scalar(py_array_of(self), &s))
        return NULL;
    real = PyFloat_FromDouble(s.f[0]);
    r = real ? how(real) : NULL;
    Py_XDECREF(real);
    return r;
}

static PyObject *
nb_int(PyObject *self)
{
    return real_number(self, PyNumber_Long);
}

static PyObject *
nb_float(PyObject *self)
{
    return real_number(self, PyNumber_Float);
}

static PyObject *
nb_index(PyObject *self)
{
    const td_array *a = py_array_of(self);

    if (a->view.shape.ndim == 0 && td_dtype_is_int(td_array_dtype(a)))
        return ndarray_number(self);
    PyErr_SetString(PyExc_TypeError,
                    "only integer scalar arrays can be converted to a scalar index");
    return NULL;
}

/* Of a number the hash of Python's number, so that it is a key beside that; of NaN the object's, as for NumPy's. */
static Py_hash_t
number_hash(PyObject *self)
{
    PyObject *n;
    Py_hash_t h;

    if (!py_is_number((py_ndarray *)self))
        return PyObject_HashNotImplemented(self);
    n = ndarray_number(self);
    if (n && PyFloat_CheckExact(n) && isnan(PyFloat_AsDouble(n)))
        h = (Py_hash_t)((uintptr_t)self >> 4);
    else
        h = n ? PyObject_Hash(n) : -1;
    Py_XDECREF(n);
    return h;
}

const PyType_Slot py_number_slots[] = {
#define BINARY(op, nb) PY_SLOT(Py_nb_##nb, nb_##nb), PY_SLOT(Py_nb_inplace_##nb, nb_inplace_##nb),
#define UNARY(op, nb)  PY_SLOT(Py_nb_##nb, nb_##nb),
#define POWER(op)      PY_SLOT(Py_nb_power, nb_power), PY_SLOT(Py_nb_inplace_power, nb_inplace_power),
#define COMPARE(op, py)
#define OP(name, arity, kinds, result, flags, meaning, lowering, slot, ...) NB_##slot(name)
#include "ir/core/ops.def"
    PY_SLOT(Py_tp_richcompare, compare_any),
    PY_SLOT(Py_tp_hash, number_hash),
    PY_SLOT(Py_nb_divmod, nb_divmod),
    PY_SLOT(Py_nb_matrix_multiply, nb_matmul),
    PY_SLOT(Py_nb_inplace_matrix_multiply, nb_inplace_matmul),
    PY_SLOT(Py_nb_bool, nb_bool),
    PY_SLOT(Py_nb_int, nb_int),
    PY_SLOT(Py_nb_float, nb_float),
    PY_SLOT(Py_nb_index, nb_index),
    {0, NULL},
};
