/* tensornumber.c - operators of Tensor and its elementwise methods: readings of ops.def. */
#include "python/tensor/tensor.h"

static PyObject *
apply(td_op op, const td_varop *x, int n)
{
    td_var *r = NULL;
    td_status st = td_var_apply(op, x, n, &r);

    return pt_done(st, r);
}

static PyObject *
binary(td_op op, PyObject *x, PyObject *y)
{
    td_varop o[2];
    int ours = pt_operand(x, &o[0]);

    if (ours > 0)
        ours = pt_operand(y, &o[1]);
    if (ours <= 0 || (!o[0].v && !o[1].v))
        return ours < 0 ? NULL : Py_NewRef(Py_NotImplemented);
    return apply(op, o, 2);
}

static PyObject *
inplace(td_op op, PyObject *self, PyObject *y)
{
    td_varop o[2] = {{.v = pt_var(self)}};
    int ours = pt_operand(y, &o[1]);

    if (ours <= 0)
        return ours ? NULL : Py_NewRef(Py_NotImplemented);
    return pt_inplace(op, self, o, 2);
}

static PyObject *
unary(td_op op, PyObject *x)
{
    return apply(op, &(td_varop){.v = pt_var(x)}, 1);
}

#include "python/ndarray/numberslots.h" /* behind what it calls */

static PyObject *
nb_matmul(PyObject *x, PyObject *y)
{
    td_var *r = NULL;
    td_status st;

    if (!pt_is(x) || !pt_is(y))
        return Py_NewRef(Py_NotImplemented);
    st = td_var_matmul(pt_var(x), pt_var(y), &r);
    return pt_done(st, r);
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
item(PyObject *self, PyObject *unused)
{
    td_scalar s;

    (void)unused;
    return element(self, "Scalar", &s) ? py_scalar_object(s) : NULL;
}

static PyObject *
converted(PyObject *self, PyObject *(*how)(PyObject *))
{
    PyObject *n, *r;

    if (td_array_size(&pt_var(self)->value) != 1) {
        PyErr_SetString(PyExc_ValueError,
                        "only one element tensors can be converted to Python scalars");
        return NULL;
    }
    n = item(self, NULL);
    r = n ? how(n) : NULL;
    Py_XDECREF(n);
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
#define OP(name, arity, kinds, result, flags, meaning, lowering, slot, derivative) NB_##slot(name)
#include "ir/core/ops.def"
    PY_SLOT(Py_tp_richcompare, compare),
    PY_SLOT(Py_nb_matrix_multiply, nb_matmul),
    PY_SLOT(Py_nb_bool, nb_bool),
    PY_SLOT(Py_nb_int, nb_int),
    PY_SLOT(Py_nb_float, nb_float),
    PY_SLOT(Py_nb_index, nb_index),
    {0, NULL},
};

/* ---- methods by name: the hot ones ---- */

#define METHOD1(name, op)                                                                          \
    static PyObject *m_##name(PyObject *self, PyObject *unused)                                    \
    {                                                                                              \
        (void)unused;                                                                              \
        return unary(OP_##op, self);                                                               \
    }                                                                                              \
    static PyObject *i_##name(PyObject *self, PyObject *unused)                                    \
    {                                                                                              \
        (void)unused;                                                                              \
        return pt_inplace(OP_##op, self, &(td_varop){.v = pt_var(self)}, 1);                       \
    }
#define METHOD2(name, op)                                                                          \
    static PyObject *m_##name(PyObject *self, PyObject *other)                                     \
    {                                                                                              \
        return told(#name, binary(OP_##op, self, other), other);                                   \
    }                                                                                              \
    static PyObject *i_##name(PyObject *self, PyObject *other)                                     \
    {                                                                                              \
        return told(#name "_", inplace(OP_##op, self, other), other);                              \
    }

/* A method has nobody to leave an operand to. */
static PyObject *
told(const char *name, PyObject *r, PyObject *other)
{
    if (r != Py_NotImplemented)
        return r;
    Py_DECREF(r);
    PyErr_Format(PyExc_TypeError, "%s(): argument 'other' must be Tensor or Number, not %R", name,
                 (PyObject *)Py_TYPE(other));
    return NULL;
}

/* PyTorch's names of rows, with one operand and with two. */
#define ONE(M)                                                                                     \
    M(neg, negative)                                                                               \
    M(abs, absolute)                                                                               \
    M(exp, exp)                                                                                    \
    M(exp2, exp2)                                                                                  \
    M(expm1, expm1)                                                                                \
    M(log, log)                                                                                    \
    M(log2, log2)                                                                                  \
    M(log10, log10)                                                                                \
    M(log1p, log1p)                                                                                \
    M(sqrt, sqrt)                                                                                  \
    M(rsqrt, rsqrt)                                                                                \
    M(square, square)                                                                              \
    M(reciprocal, reciprocal)                                                                      \
    M(sin, sin)                                                                                    \
    M(cos, cos)                                                                                    \
    M(tan, tan)                                                                                    \
    M(asin, arcsin)                                                                                \
    M(acos, arccos)                                                                                \
    M(atan, arctan)                                                                                \
    M(sinh, sinh)                                                                                  \
    M(cosh, cosh)                                                                                  \
    M(tanh, tanh)                                                                                  \
    M(asinh, arcsinh)                                                                              \
    M(acosh, arccosh)                                                                              \
    M(atanh, arctanh)                                                                              \
    M(erf, erf)                                                                                    \
    M(erfc, erfc)                                                                                  \
    M(lgamma, lgamma)                                                                              \
    M(relu, relu)                                                                                  \
    M(sigmoid, sigmoid)                                                                            \
    M(floor, floor)                                                                                \
    M(ceil, ceil)                                                                                  \
    M(trunc, trunc)                                                                                \
    M(sign, sign)
#define TWO(M)                                                                                     \
    M(mul, multiply)                                                                               \
    M(atan2, arctan2)                                                                              \
    M(pow, power)                                                                                  \
    M(remainder, remainder)                                                                        \
    M(fmod, fmod)                                                                                  \
    M(floor_divide, floor_divide)                                                                  \
    M(eq, equal)                                                                                   \
    M(ne, not_equal)                                                                               \
    M(lt, less)                                                                                    \
    M(le, less_equal)                                                                              \
    M(gt, greater)                                                                                 \
    M(ge, greater_equal)
/* Those without a form that writes in place. */
#define PURE1(M)                                                                                   \
    M(isnan, isnan)                                                                                \
    M(isinf, isinf)                                                                                \
    M(isfinite, isfinite)                                                                          \
    M(angle, angle)
#define PURE2(M)                                                                                   \
    M(maximum, maximum)                                                                            \
    M(minimum, minimum)                                                                            \
    M(fmax, fmax)                                                                                  \
    M(fmin, fmin)                                                                                  \
    M(logaddexp, logaddexp)                                                                        \
    M(hypot, hypot)                                                                                \
    M(copysign, copysign)
ONE(METHOD1)
TWO(METHOD2)

#define PURE_METHOD1(name, op)                                                                     \
    static PyObject *m_##name(PyObject *self, PyObject *unused)                                    \
    {                                                                                              \
        (void)unused;                                                                              \
        return unary(OP_##op, self);                                                               \
    }
#define PURE_METHOD2(name, op)                                                                     \
    static PyObject *m_##name(PyObject *self, PyObject *other)                                     \
    {                                                                                              \
        return told(#name, binary(OP_##op, self, other), other);                                   \
    }
PURE1(PURE_METHOD1)
PURE2(PURE_METHOD2)

/* ---- add, sub, div: with a parameter ---- */

/* self + alpha * other; in place where `into` */
static PyObject *
scaled(td_op op, bool into, PyObject *self, PyObject *const *args, Py_ssize_t nargs,
       PyObject *kwnames)
{
    static const char *const names[] = {"other", "alpha", NULL};
    PyObject *arg[2], *r, *times;

    if (!py_parse(op == OP_add ? "add" : "sub", names, 1, 1, args, nargs, kwnames, arg))
        return NULL;
    if (!arg[1])
        return told("add", into ? inplace(op, self, arg[0]) : binary(op, self, arg[0]), arg[0]);
    times = binary(OP_multiply, arg[0], arg[1]);
    if (times == Py_NotImplemented) { /* both are numbers */
        Py_DECREF(times);
        times = PyNumber_Multiply(arg[0], arg[1]);
    }
    if (!times)
        return NULL;
    r = told("add", into ? inplace(op, self, times) : binary(op, self, times), times);
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
        trunc = PyUnicode_CompareWithASCIIString(arg[1], "trunc") == 0;
        if (!trunc && PyUnicode_CompareWithASCIIString(arg[1], "floor") != 0) {
            PyErr_Format(PyExc_RuntimeError,
                         "div expected rounding_mode to be one of None, 'trunc', or 'floor' but "
                         "found %R",
                         arg[1]);
            return NULL;
        }
        op = trunc ? OP_divide : OP_floor_divide;
    }
    if (trunc && !td_dtype_is_float(td_array_dtype(&pt_var(self)->value)))
        return told("div",
                    into ? inplace(OP_truncate_divide, self, arg[0])
                         : binary(OP_truncate_divide, self, arg[0]),
                    arg[0]);
    r = told("div", into ? inplace(op, self, arg[0]) : binary(op, self, arg[0]), arg[0]);
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
m_matmul(PyObject *self, PyObject *other)
{
    return told("matmul", nb_matmul(self, other), other);
}

#define EACH(name, op) name "($self, /)\n--\n\n" op " of the elements"
#define BOTH(name, op)                                                                             \
    name "($self, other, /)\n--\n\n" op " of the elements of two tensors, or of one and a number"
#define MORE(name, more, meaning) name "($self, /, other, *, " more ")\n--\n\n" meaning
#define WRITTEN                   "; written into the tensor"
#define ROW1(name, op)                                                                             \
    {#name, m_##name, METH_NOARGS, EACH(#name, #op)},                                              \
        {#name "_", i_##name, METH_NOARGS, EACH(#name "_", #op) WRITTEN},
#define ROW2(name, op)                                                                             \
    {#name, m_##name, METH_O, BOTH(#name, #op)},                                                   \
        {#name "_", i_##name, METH_O, BOTH(#name "_", #op) WRITTEN},
#define PURE_ROW1(name, op) {#name, m_##name, METH_NOARGS, EACH(#name, #op)},
#define PURE_ROW2(name, op) {#name, m_##name, METH_O, BOTH(#name, #op)},
#define KEYWORDS(name, more, meaning)                                                              \
    {#name, PY_FAST(m_##name), METH_FASTCALL | METH_KEYWORDS, MORE(#name, more, meaning)},         \
        {#name "_", PY_FAST(i_##name), METH_FASTCALL | METH_KEYWORDS,                              \
         MORE(#name "_", more, meaning) WRITTEN},

PyMethodDef pt_apply_methods[] = {
    ONE(ROW1) TWO(ROW2) PURE1(PURE_ROW1) PURE2(PURE_ROW2) KEYWORDS(
        add, "alpha=1", "self + alpha * other") KEYWORDS(sub, "alpha=1", "self - alpha * other")
        KEYWORDS(div, "rounding_mode=None", "self / other; rounded: None, 'trunc' or 'floor'"){
            "item", item, METH_NOARGS,
            "item($self, /)\n--\n\n"
            "The only element, a Python number."},
    {"matmul", m_matmul, METH_O, "matmul($self, other, /)\n--\n\nThe matrix product."},
    {NULL, NULL, 0, NULL},
};
