/* tensorarg.c - makes Tensors of the core's variables, and reads arguments of their methods. */
#include "python/tensor/tensor.h"

#include "array/graph/capture.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

py_tensors pt;

PyObject *
pt_raise(td_status st)
{
    const char *axis;
    char text[300];

    if (PyErr_Occurred()) /* a function of the program has failed */
        return NULL;
    if (st == TD_ERR_VALUE || st == TD_ERR_TYPE || st == TD_ERR_OVERFLOW) {
        PyErr_SetString(PyExc_RuntimeError, td_error());
        return NULL;
    }
    if (st == TD_ERR_INDEX &&
        (axis = strstr(td_error(), " for axis "))) { /* PyTorch says dimension */
        snprintf(text, sizeof text, "%.*s for dimension %s", (int)(axis - td_error()), td_error(),
                 axis + strlen(" for axis "));
        PyErr_SetString(PyExc_IndexError, text);
        return NULL;
    }
    return py_raise(st);
}

bool
pt_ok(td_status st)
{
    if (st)
        pt_raise(st);
    return !st;
}

bool
pt_has_order(const char *fn, PyObject *error, td_dtype dt)
{
    if (!td_dtype_is_complex(dt))
        return true;
    PyErr_Format(error,
                 "%s(): complex numbers have no order: compare their parts or absolute values", fn);
    return false;
}

/* NumPy orders complex numbers by their parts, PyTorch refuses to order them. */
static bool
orders(td_op op, const td_varop *x, int n)
{
    PyObject *error = PyExc_NotImplementedError;

    switch (op) {
    case OP_maximum:
    case OP_minimum:
    case OP_fmax:
    case OP_fmin:          error = PyExc_TypeError; break;
    case OP_less:
    case OP_less_equal:
    case OP_greater:
    case OP_greater_equal: break;
    default:               return true;
    }
    return pt_has_order(td_optab[op].name, error, td_var_promote(x, n));
}

static bool
is_bool(const td_varop *x)
{
    return x->v ? td_array_dtype(&x->v->value) == TD_BOOL : x->scalar.dt == TD_BOOL;
}

/* PyTorch subtracts no truth values, and has no loop for them in these rows, where NumPy counts with them. */
static bool
counts(td_op op, const td_varop *x, int n)
{
    bool first = is_bool(&x[0]), second = n > 1 && is_bool(&x[1]);

    switch (op) {
    case OP_subtract:
        if (first || second)
            PyErr_Format(PyExc_NotImplementedError,
                         "Subtraction, the `-` operator, with %s is not supported. %s",
                         first && second ? "two bool tensors" : "a bool tensor",
                         first && second ? "Use the `^` or `logical_xor()` operator instead."
                                         : "If you are trying to invert a mask, use the `~` or "
                                           "`logical_not()` operator instead.");
        return !first && !second;
    case OP_negative:
        if (first)
            PyErr_SetString(PyExc_NotImplementedError,
                            "Negation, the `-` operator, on a bool tensor is not supported. If you "
                            "are trying to "
                            "invert a mask, use the `~` or `logical_not()` operator instead.");
        return !first;
    case OP_absolute:
    case OP_positive:
    case OP_floor:
    case OP_ceil:
    case OP_trunc:
    case OP_relu:
    case OP_floor_divide:
    case OP_truncate_divide:
    case OP_remainder:
    case OP_fmod:
    case OP_power:
    case OP_left_shift:
    case OP_right_shift:
    case OP_gcd:
    case OP_lcm:
    case OP_hypot:           break;
    default:                 return true;
    }
    if (!first || (n > 1 && !second))
        return true;
    PyErr_Format(PyExc_NotImplementedError, "\"%s\" not implemented for 'Bool'", td_optab[op].name);
    return false;
}

/* Rows that PyTorch computes for floating-point numbers alone, where NumPy's turn integers into floats. */
static bool
floats(td_op op, const td_varop *x, int n)
{
    td_dtype dt;

    if (op != OP_nextafter && op != OP_hypot && op != OP_logaddexp2)
        return true;
    dt = td_var_promote(x, n);
    if (!strchr("bui", td_dtype_kind(dt)))
        return true;
    PyErr_Format(PyExc_NotImplementedError, "\"%s\" not implemented for %s", td_optab[op].name,
                 td_dtype_name(dt));
    return false;
}

/* Is an element of v zero?  Waits for the values. */
static bool
has_zero(const td_array *a, bool *out)
{
    td_operand x[2] = {{.array = a}, {.scalar = {.dt = TD_I64}, .weak = 'i'}};
    td_redargs all = {.axes = (1u << a->view.shape.ndim) - 1, .dtype = -1};
    td_array zero = {0}, any = {0};
    td_status st = td_array_apply(OP_equal, x, 2, &zero);

    if (!st)
        st = td_array_reduce(TD_RED_any, &zero, &all, &any);
    if (!st)
        st = td_array_get(&any, out);
    td_array_unref(&zero);
    td_array_unref(&any);
    return pt_ok(st);
}

/* PyTorch refuses to divide integers by 0 where it can look at them at once: on the CPU. */
static bool
divides(td_op op, const td_varop *x, int n)
{
    bool zero = false, host = true;

    if ((op != OP_floor_divide && op != OP_remainder && op != OP_fmod &&
         op != OP_truncate_divide) ||
        !strchr("bui", td_dtype_kind(td_var_promote(x, n))))
        return true;
    for (int i = 0; i < n; i++)
        host = host && (!x[i].v || td_dev_info(td_array_dev(&x[i].v->value))->host);
    if (!host || (x[1].v && td_capture_now()))
        return true;
    if (!x[1].v)
        zero = x[1].scalar.i == 0;
    else if (!has_zero(&x[1].v->value, &zero))
        return false;
    if (zero)
        PyErr_SetString(PyExc_RuntimeError, "ZeroDivisionError");
    return !zero;
}

/* Powers of integers to a negative number are fractions; to negative elements of a tensor they are rounded. */
static bool
raises(td_op op, const td_varop *x, int n)
{
    if (op != OP_power || x[1].v || x[1].weak != 'i' || x[1].scalar.i >= 0 ||
        !strchr("bui", td_dtype_kind(td_var_promote(x, n))))
        return true;
    PyErr_SetString(PyExc_RuntimeError, "Integers to negative integer powers are not allowed.");
    return false;
}

bool
pt_operands_fit(td_op op, const td_varop *x, int n)
{
    return orders(op, x, n) && counts(op, x, n) && floats(op, x, n) && divides(op, x, n) &&
           raises(op, x, n);
}

bool
pt_applied(td_status st)
{
    if (st != TD_ERR_TYPE)
        return pt_ok(st);
    PyErr_SetString(PyExc_NotImplementedError, td_error()); /* no loop for the dtype */
    return false;
}

/* Does a float fit into an integer? Only what is between its limits does: 127.5 is none for int8. */
static bool
float_fits(double f, td_dtype dt)
{
    bool is_signed = td_dtype_kind(dt) == 'i';
    int bits = 8 * (int)td_dtype_size(dt) - is_signed;
    double top = ldexp(1, bits);

    return f >= (is_signed ? -top : 0) && (bits > 52 ? f < top : f <= top - 1);
}

static bool
int_fits(td_scalar *s, td_dtype dt)
{
    int bits = 8 * (int)td_dtype_size(dt);

    if (s->dt == TD_BOOL)
        return true;
    if (td_dtype_kind(dt) == 'i')
        return s->dt != TD_U64 && (bits == 64 || (s->i >= -((int64_t)1 << (bits - 1)) &&
                                                  s->i < (int64_t)1 << (bits - 1)));
    if (bits == 64)
        return true;
    if (s->dt != TD_U64 && s->i < 0 && s->i > -((int64_t)1 << bits))
        s->i += (int64_t)1 << bits; /* -1 is 255 */
    return s->u < (uint64_t)1 << bits;
}

bool
pt_held(td_varop *x, td_dtype dt)
{
    td_scalar *s = &x->scalar;
    bool fits = true;

    if (x->v || dt == TD_BOOL || td_dtype_is_complex(dt))
        return true;
    if (td_dtype_is_complex(s->dt)) {
        fits = s->f[1] == 0;
        s->dt = TD_F64;
        x->weak = 'f';
    }
    if (dt == TD_F32 && s->dt == TD_F64)
        fits = fits && (!isfinite(s->f[0]) || fabs(s->f[0]) <= (double)FLT_MAX);
    else if (td_dtype_is_int(dt))
        fits = fits && (s->dt == TD_F64 ? float_fits(s->f[0], dt) : int_fits(s, dt));
    if (!fits)
        PyErr_Format(PyExc_RuntimeError, "value cannot be converted to type %s without overflow",
                     td_dtype_name(dt));
    return fits;
}

PyObject *
pt_held_object(PyObject *value, td_dtype dt)
{
    td_varop x;
    int ours = pt_operand(value, &x);

    if (ours <= 0 || x.v)
        return ours < 0 ? NULL : Py_NewRef(value);
    return pt_held(&x, dt) ? py_scalar_object(x.scalar) : NULL;
}

PyObject *
pt_matmul(td_var *x, td_var *y)
{
    td_var *r = NULL;
    td_status st;

    if (td_array_dtype(&x->value) == TD_BOOL && td_array_dtype(&y->value) == TD_BOOL) {
        PyErr_SetString(PyExc_NotImplementedError, "\"addmm_impl\" not implemented for 'Bool'");
        return NULL;
    }
    st = td_var_matmul(x, y, &r);
    return pt_done(st, r);
}

bool
pt_apply(td_op op, const td_varop *x, int n, td_var **out)
{
    return pt_operands_fit(op, x, n) && pt_applied(td_var_apply(op, x, n, out));
}

PyObject *
pt_object(td_var *v)
{
    py_tensor *t;

    if (v->self) {
        PyObject *known = Py_NewRef((PyObject *)v->self);

        td_var_unref(v);
        return known;
    }
    t = PyObject_GC_New(py_tensor, pt.type);
    if (!t) {
        td_var_unref(v);
        return NULL;
    }
    t->v = v;
    t->dict = t->weak = NULL;
    v->self = t;
    return (PyObject *)t; /* not visited by the collector: it holds no object yet */
}

PyObject *
pt_done(td_status st, td_var *v)
{
    return st ? pt_raise(st) : pt_object(v);
}

bool
pt_tensor_arg(const char *fn, PyObject *o, td_var **out)
{
    if (pt_is(o)) {
        *out = pt_var(o);
        return true;
    }
    PyErr_Format(PyExc_TypeError, "%s(): argument must be Tensor, not %R", fn,
                 (PyObject *)Py_TYPE(o));
    return false;
}

int
pt_operand(PyObject *o, td_varop *out)
{
    int r;

    if (pt_is(o)) {
        out->v = pt_var(o);
        return 1;
    }
    out->v = NULL;
    r = py_number(o, &out->scalar, &out->weak);
    if (r > 0 && !out->weak) { /* NumPy's numbers count as Python numbers here */
        char kind = td_dtype_kind(out->scalar.dt);

        out->weak = kind == 'u' ? 'i' : kind;
    }
    if (r > 0 && out->weak == 'i' && out->scalar.dt == TD_F64)
        out->weak = 'f';
    return r;
}

bool
pt_shape_args(const char *fn, const char *name, PyObject *const *args, Py_ssize_t nargs,
              PyObject *kwnames, td_shape *out)
{
    const char *const names[] = {name, NULL};
    PyObject *named = NULL;

    if (kwnames && !py_parse(fn, names, 1, 1, args, nargs, kwnames, &named))
        return false;
    if (kwnames)
        return py_shape(named, out);
    if (nargs == 1 && !PyLong_Check(args[0]))
        return py_shape(args[0], out);
    if (nargs > TD_MAXDIM) {
        PyErr_Format(PyExc_ValueError, "a tensor of %zd dimensions: at most %d", nargs, TD_MAXDIM);
        return false;
    }
    out->ndim = (int32_t)nargs;
    for (Py_ssize_t i = 0; i < nargs; i++) {
        PyObject *n = PyNumber_Index(args[i]);

        out->dim[i] = n ? PyLong_AsLongLong(n) : -1;
        Py_XDECREF(n);
        if (out->dim[i] == -1 && PyErr_Occurred())
            return false;
    }
    return true;
}

bool
pt_axis(PyObject *o, int ndim, int *out)
{
    PyObject *n = PyNumber_Index(o);
    long k = n ? PyLong_AsLong(n) : -1;
    int wide = ndim ? ndim : 1;

    Py_XDECREF(n);
    if (k == -1 && PyErr_Occurred())
        return false;
    if (k < -wide || k >= wide) {
        PyErr_Format(PyExc_IndexError,
                     "Dimension out of range (expected to be in range of [%d, %d], but got %ld)",
                     -wide, wide - 1, k);
        return false;
    }
    *out = (int)(k < 0 ? k + wide : k);
    return true;
}

bool
pt_axes(PyObject *o, int ndim, uint32_t *out)
{
    Py_ssize_t n;
    int k;

    *out = ndim ? (uint32_t)((1ull << ndim) - 1) : 0;
    if (py_is_none(o))
        return true;
    if (!PyTuple_Check(o) && !PyList_Check(o)) {
        if (!pt_axis(o, ndim, &k))
            return false;
        *out = ndim ? 1u << k : 0;
        return true;
    }
    n = PySequence_Size(o);
    if (n == 0)
        return true;
    *out = 0;
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *item = PySequence_GetItem(o, i);
        bool ok = item && pt_axis(item, ndim, &k);

        Py_XDECREF(item);
        if (!ok)
            return false;
        if (ndim && *out >> k & 1) {
            PyErr_Format(PyExc_RuntimeError, "dim %d appears multiple times in the list of dims",
                         k);
            return false;
        }
        *out |= ndim ? 1u << k : 0;
    }
    return true;
}

void
pt_wrong_type(PyObject *error, const char *format, PyObject *value)
{
    PyObject *name = PyObject_GetAttrString((PyObject *)Py_TYPE(value), "__name__");

    if (name)
        PyErr_Format(error, format, name);
    Py_XDECREF(name);
}

PyObject *
pt_dtype_object(td_dtype dt)
{
    return pt.dtype[dt] ? Py_NewRef(pt.dtype[dt]) : py_dtype_object(dt);
}

bool
pt_dtype(PyObject *o, td_dtype *out)
{
    for (int i = 0; i < TD_DTYPE_COUNT; i++)
        if (pt.dtype[i] == o) {
            *out = (td_dtype)i;
            return true;
        }
    if (o == (PyObject *)&PyFloat_Type) {
        *out = td_grad_default();
        return true;
    }
    return py_dtype(o, out);
}

bool
pt_dtype_or(PyObject *o, int dflt, int *out)
{
    td_dtype dt;

    *out = dflt;
    if (py_is_none(o))
        return true;
    if (!pt_dtype(o, &dt))
        return false;
    *out = (int)dt;
    return true;
}
