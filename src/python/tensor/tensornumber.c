/* tensornumber.c - operators of Tensor and its elementwise methods, generated from ops.def. */
#include "python/tensor/tensor.h"

#include <string.h>

#include "op_lists.h"

static PyObject *
tensor_apply(td_op op, const td_varop *x, int n)
{
    td_var *r = NULL;

    return pt_apply(op, x, n, &r) ? pt_object(r) : NULL;
}

/* t == a for an array of NumPy's, which leaves the comparison to us. */
static PyObject *
equal_to_array(PyObject *t, PyObject *a)
{
    PyObject *f = py_package("treadle.torch._tensor._convert", "equal_to_array"),
             *r = f ? PyObject_CallFunctionObjArgs(f, t, a, NULL) : NULL;

    Py_XDECREF(f);
    return r;
}

static PyObject *
number_binary(td_op op, PyObject *x, PyObject *y)
{
    td_varop o[2];
    int ours = pt_operand(x, &o[0]);

    if (ours > 0)
        ours = pt_operand(y, &o[1]);
    if (!ours && op == OP_equal && pt_is(x) && PyObject_HasAttrString(y, "__array_interface__"))
        return equal_to_array(x, y);
    if (ours <= 0 || (!o[0].v && !o[1].v))
        return ours < 0 ? NULL : Py_NewRef(Py_NotImplemented);
    return tensor_apply(op, o, 2);
}

static PyObject *
number_inplace(td_op op, PyObject *self, PyObject *y)
{
    td_varop o[2] = {{.v = pt_var(self)}};
    int ours = pt_operand(y, &o[1]);

    if (ours <= 0)
        return ours ? NULL : Py_NewRef(Py_NotImplemented);
    return pt_inplace(op, self, o, 2);
}

static PyObject *
number_unary(td_op op, PyObject *x)
{
    return tensor_apply(op, &(td_varop){.v = pt_var(x)}, 1);
}

#include "python/ndarray/numberslots.h" /* after the functions that it calls */

static PyObject *
nb_matmul(PyObject *x, PyObject *y)
{
    if (!pt_is(x) || !pt_is(y))
        return Py_NewRef(Py_NotImplemented);
    return pt_matmul(pt_var(x), pt_var(y));
}

/* ---- Python numbers ---- */

static bool
element(PyObject *self, const char *what, td_scalar *out)
{
    const td_array *a = &pt_var(self)->value;

    if (td_array_size(a) == 1)
        return py_read_scalar(a, out);
    PyErr_Format(PyExc_RuntimeError, "a Tensor with %lld elements cannot be converted to %s",
                 (long long)td_array_size(a), what);
    return false;
}

static int
nb_bool(PyObject *self)
{
    const td_array *a = &pt_var(self)->value;
    uint64_t bits[2];
    td_scalar s;

    if (td_array_size(a) != 1) {
        PyErr_Format(PyExc_RuntimeError, "Boolean value of Tensor with %s is ambiguous",
                     td_array_size(a) ? "more than one value" : "no values");
        return -1;
    }
    if (!py_read_scalar(a, &s))
        return -1;
    td_scalar_bits(s, TD_BOOL, bits);
    return bits[0] != 0;
}

static PyObject *
tensor_item(PyObject *self, PyObject *unused)
{
    td_scalar s;

    (void)unused;
    return element(self, "Scalar", &s) ? py_scalar_object(s) : NULL;
}

static PyObject *
tensor_converted(PyObject *self, PyObject *(*how)(PyObject *))
{
    PyObject *n, *r;

    if (td_array_size(&pt_var(self)->value) != 1) {
        PyErr_SetString(PyExc_ValueError,
                        "only one element tensors can be converted to Python scalars");
        return NULL;
    }
    n = tensor_item(self, NULL);
    r = n ? how(n) : NULL;
    Py_XDECREF(n);
    return r;
}

static PyObject *
nb_int(PyObject *self)
{
    return tensor_converted(self, PyNumber_Long);
}

static PyObject *
nb_float(PyObject *self)
{
    return tensor_converted(self, PyNumber_Float);
}

static PyObject *
nb_index(PyObject *self)
{
    const td_array *a = &pt_var(self)->value;

    if (td_array_size(a) == 1 &&
        (td_dtype_is_int(td_array_dtype(a)) || td_array_dtype(a) == TD_BOOL))
        return nb_int(self);
    PyErr_SetString(PyExc_TypeError,
                    "only integer tensors of a single element can be converted to an index");
    return NULL;
}

const PyType_Slot pt_number_slots[] = {
#define BINARY(op, nb) PY_SLOT(Py_nb_##nb, nb_##nb), PY_SLOT(Py_nb_inplace_##nb, nb_inplace_##nb),
#define UNARY(op, nb)  PY_SLOT(Py_nb_##nb, nb_##nb),
#define POWER(op)      PY_SLOT(Py_nb_power, nb_power), PY_SLOT(Py_nb_inplace_power, nb_inplace_power),
#define COMPARE(op, py)
#define OP(name, arity, kinds, result, flags, meaning, lowering, slot, ...) NB_##slot(name)
#include "ir/core/ops.def"
    PY_SLOT(Py_tp_richcompare, slot_compare),
    PY_SLOT(Py_nb_matrix_multiply, nb_matmul),
    PY_SLOT(Py_nb_bool, nb_bool),
    PY_SLOT(Py_nb_int, nb_int),
    PY_SLOT(Py_nb_float, nb_float),
    PY_SLOT(Py_nb_index, nb_index),
    {0, NULL},
};

/* ---- methods by name: PyTorch's names of rows ---- */

/* A method cannot leave the operand to the other object, so NotImplemented becomes TypeError. */
static PyObject *
require_result(const char *name, PyObject *r, PyObject *other)
{
    if (r != Py_NotImplemented)
        return r;
    Py_DECREF(r);
    PyErr_Format(PyExc_TypeError, "%s(): argument 'other' must be Tensor or Number, not %R", name,
                 (PyObject *)Py_TYPE(other));
    return NULL;
}

/* The operand of a method that has one, as the program names it; NULL with an exception. */
static PyObject *
other_of(const char *name, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    bool is_power = !strncmp(name, "pow", 3);
    const char *const names[] = {is_power ? "exponent" : "other", NULL};
    PyObject *other;

    if (nargs == 1 && !kwnames)
        return args[0];
    return py_parse(name, names, 1, 1, args, nargs, kwnames, &other) ? other : NULL;
}

#define METHOD1(name, op)                                                                          \
    static PyObject *m_##name(PyObject *self, PyObject *unused)                                    \
    {                                                                                              \
        (void)unused;                                                                              \
        return number_unary(OP_##op, self);                                                        \
    }
#define METHOD2(name, op)                                                                          \
    static PyObject *m_##name(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *kw)   \
    {                                                                                              \
        PyObject *other = other_of(#name, args, n, kw);                                            \
                                                                                                   \
        return other ? require_result(#name, number_binary(OP_##op, self, other), other) : NULL;   \
    }
#define WRITING1(name, op)                                                                         \
    METHOD1(name, op)                                                                              \
    static PyObject *i_##name(PyObject *self, PyObject *unused)                                    \
    {                                                                                              \
        (void)unused;                                                                              \
        return pt_inplace(OP_##op, self, &(td_varop){.v = pt_var(self)}, 1);                       \
    }
#define WRITING2(name, op)                                                                         \
    METHOD2(name, op)                                                                              \
    static PyObject *i_##name(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *kw)   \
    {                                                                                              \
        PyObject *other = other_of(#name "_", args, n, kw);                                        \
                                                                                                   \
        return other ? require_result(#name "_", number_inplace(OP_##op, self, other), other)      \
                     : NULL;                                                                       \
    }
TD_TENSOR_ONE(WRITING1)
TD_TENSOR_TWO(WRITING2)
TD_TENSOR_PURE_ONE(METHOD1)
TD_TENSOR_PURE_TWO(METHOD2)

/* ---- add, sub, div: with a parameter ---- */

/* May a sum of this dtype have alpha as a factor? If not, the exception is set. Something that is no number of Python's
 * may. */
static bool
alpha_fits(PyObject *alpha, td_dtype dt)
{
    const char *no = NULL;

    if (PyBool_Check(alpha) && dt != TD_BOOL)
        no = "Boolean alpha only supported for Boolean results.";
    else if (PyComplex_Check(alpha) && !td_dtype_is_complex(dt))
        no = "For non-complex input tensors, argument alpha must not be a complex number.";
    else if (PyFloat_Check(alpha) && strchr("bui", td_dtype_kind(dt)))
        no = "For integral input tensors, argument alpha must not be a floating point number.";
    if (no)
        PyErr_SetString(PyExc_RuntimeError, no);
    return !no;
}

/* alpha * other, in the dtype that self and other have in common; Py_NotImplemented: other is no operand */
static PyObject *
alpha_times(td_op op, PyObject *self, PyObject *other, PyObject *alpha)
{
    td_varop o[2] = {{.v = pt_var(self)}};
    int ours = pt_operand(other, &o[1]);
    td_var *cast = NULL;
    PyObject *factor, *r;
    td_dtype dt;

    if (ours <= 0)
        return ours ? NULL : Py_NewRef(Py_NotImplemented);
    dt = td_var_promote(o, 2);
    if (!pt_operands_fit(op, o, 2) || !alpha_fits(alpha, dt))
        return NULL;
    if (!o[1].v && dt != TD_BOOL)
        return PyNumber_Multiply(other, alpha);
    other = o[1].v ? NULL : Py_NewRef(other);
    if (!other && (!pt_ok(td_var_cast(o[1].v, dt, &cast)) || !(other = pt_object(cast))))
        return NULL;
    factor = dt == TD_BOOL ? PyBool_FromLong(PyObject_IsTrue(alpha)) : Py_NewRef(alpha);
    r = o[1].v ? number_binary(OP_multiply, other, factor)
               : PyBool_FromLong(PyObject_IsTrue(other) && factor == Py_True);
    Py_DECREF(other);
    Py_DECREF(factor);
    return r;
}

/* self + alpha * other; into: in place */
static PyObject *
scaled(td_op op, bool into, PyObject *self, PyObject *const *args, Py_ssize_t nargs,
       PyObject *kwnames)
{
    static const char *const names[] = {"other", "alpha", NULL};
    PyObject *arg[2], *r, *times;

    if (nargs == 2 && !kwnames) { /* PyTorch 0.4's order: alpha, other */
        arg[0] = args[1];
        arg[1] = args[0];
    } else if (!py_parse(op == OP_add ? "add" : "sub", names, 1, 1, args, nargs, kwnames, arg)) {
        return NULL;
    }
    if (!arg[1])
        return require_result(
            "add", into ? number_inplace(op, self, arg[0]) : number_binary(op, self, arg[0]),
            arg[0]);
    times = alpha_times(op, self, arg[0], arg[1]);
    if (!times || times == Py_NotImplemented)
        return require_result("add", times, arg[0]);
    r = require_result(
        "add", into ? number_inplace(op, self, times) : number_binary(op, self, times), times);
    Py_DECREF(times);
    return r;
}

#define SCALED(name, op)                                                                           \
    static PyObject *m_##name(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *kw)   \
    {                                                                                              \
        return scaled(OP_##op, false, self, args, n, kw);                                          \
    }                                                                                              \
    static PyObject *i_##name(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *kw)   \
    {                                                                                              \
        return scaled(OP_##op, true, self, args, n, kw);                                           \
    }
SCALED(add, add)
SCALED(sub, subtract)

static PyObject *
divided(bool into, PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    static const char *const names[] = {"other", "rounding_mode", NULL};
    PyObject *arg[2], *r, *rounded;
    td_op op = OP_divide;
    bool trunc = false;

    if (!py_parse("div", names, 1, 1, args, nargs, kwnames, arg))
        return NULL;
    if (!py_is_none(arg[1])) {
        if (!PyUnicode_Check(arg[1])) {
            PyErr_Format(PyExc_TypeError, "div(): argument 'rounding_mode' must be str, not %R",
                         (PyObject *)Py_TYPE(arg[1]));
            return NULL;
        }
        trunc = py_is_text(arg[1], "trunc");
        if (!trunc && !py_is_text(arg[1], "floor")) {
            PyErr_Format(PyExc_RuntimeError,
                         "div expected rounding_mode to be one of None, 'trunc', or 'floor' but "
                         "found %R",
                         arg[1]);
            return NULL;
        }
        op = trunc ? OP_divide : OP_floor_divide;
    }
    if (trunc && !td_dtype_is_float(td_array_dtype(&pt_var(self)->value)))
        return require_result("div",
                              into ? number_inplace(OP_truncate_divide, self, arg[0])
                                   : number_binary(OP_truncate_divide, self, arg[0]),
                              arg[0]);
    r = require_result(
        "div", into ? number_inplace(op, self, arg[0]) : number_binary(op, self, arg[0]), arg[0]);
    if (!r || !trunc)
        return r;
    rounded = into ? i_trunc(r, NULL) : m_trunc(r, NULL);
    Py_DECREF(r);
    return rounded;
}

static PyObject *
m_div(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *kw)
{
    return divided(false, self, args, n, kw);
}

static PyObject *
i_div(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *kw)
{
    return divided(true, self, args, n, kw);
}

static PyObject *
m_matmul(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *kw)
{
    PyObject *other = other_of("matmul", args, n, kw);

    return other ? require_result("matmul", nb_matmul(self, other), other) : NULL;
}

#define EACH(name, op) name "($self, /)\n--\n\n" op " of the elements"
#define BOTH(name, op)                                                                             \
    name "($self, /, other)\n--\n\n" op " of the elements of two tensors, or of one and a number"
#define MORE(name, more, meaning) name "($self, /, other, *, " more ")\n--\n\n" meaning
#define WRITTEN                   "; written into the tensor"
#define PURE_ROW1(name, op)       {#name, m_##name, METH_NOARGS, EACH(#name, #op)},
#define PURE_ROW2(name, op)                                                                        \
    {#name, PY_FAST(m_##name), METH_FASTCALL | METH_KEYWORDS, BOTH(#name, #op)},
#define ROW1(name, op)                                                                             \
    PURE_ROW1(name, op){#name "_", i_##name, METH_NOARGS, EACH(#name "_", #op) WRITTEN},
#define ROW2(name, op)                                                                             \
    PURE_ROW2(name, op){#name "_", PY_FAST(i_##name), METH_FASTCALL | METH_KEYWORDS,               \
                        BOTH(#name "_", #op) WRITTEN},
#define KEYWORDS(name, more, meaning)                                                              \
    {#name, PY_FAST(m_##name), METH_FASTCALL | METH_KEYWORDS, MORE(#name, more, meaning)},         \
        {#name "_", PY_FAST(i_##name), METH_FASTCALL | METH_KEYWORDS,                              \
         MORE(#name "_", more, meaning) WRITTEN},

PyMethodDef pt_apply_methods[] = {
    TD_TENSOR_ONE(ROW1) TD_TENSOR_TWO(ROW2) TD_TENSOR_PURE_ONE(PURE_ROW1)
        TD_TENSOR_PURE_TWO(PURE_ROW2) KEYWORDS(add, "alpha=1", "self + alpha * other")
            KEYWORDS(sub, "alpha=1", "self - alpha * other") KEYWORDS(
                div, "rounding_mode=None", "self / other; rounded: None, 'trunc' or 'floor'"){
                "item", tensor_item, METH_NOARGS,
                "item($self, /)\n--\n\n"
                "The only element, a Python number."},
    {"matmul", PY_FAST(m_matmul), METH_FASTCALL | METH_KEYWORDS,
     "matmul($self, /, other)\n--\n\nThe matrix product."},
    {NULL, NULL, 0, NULL},
};
