/* operand.c - converts the operands of an operation with arrays. */
#include "python/common/py.h"

#include <math.h>
#include <string.h>

/* The dtype that Python integers must fit; TD_DTYPE_COUNT: all other operands are weak too. */
static td_dtype
strong_dtype(td_op op, const td_operand *x, int n)
{
    td_dtype dt = TD_DTYPE_COUNT;

    for (int i = op == OP_select; i < n; i++) {
        td_dtype own = x[i].array ? td_array_dtype(x[i].array) : x[i].scalar.dt;

        if (!x[i].array && x[i].weak)
            continue;
        dt = dt == TD_DTYPE_COUNT ? own : td_promote(dt, own);
    }
    return dt;
}

static bool
in_range(td_scalar s, td_dtype dt)
{
    int bits = 8 * (int)td_dtype_size(dt);

    if (s.dt == TD_F64)
        return false;
    if (td_dtype_kind(dt) == 'u')
        return s.dt == TD_U64 ? bits == 64 : s.i >= 0 && (bits == 64 || s.i >> bits == 0);
    return s.dt == TD_I64 &&
           (bits == 64 || (s.i >= -((int64_t)1 << (bits - 1)) && s.i >> (bits - 1) <= 0));
}

static void
out_of_bounds(td_scalar s, td_dtype dt)
{
    PyObject *n = s.dt == TD_F64 ? PyLong_FromDouble(s.f[0]) : py_scalar_object(s);

    if (n)
        PyErr_Format(PyExc_OverflowError, "Python integer %S out of bounds for %s", n,
                     td_dtype_name(dt));
    Py_XDECREF(n);
}

bool
py_int_fits(td_scalar s, td_dtype dt)
{
    if (!td_dtype_is_int(dt) || in_range(s, dt))
        return true;
    out_of_bounds(s, dt);
    return false;
}

/* Python truncates a float to an integer, which then must fit. */
static bool
float_fits(double v, td_dtype dt)
{
    int bits = 8 * (int)td_dtype_size(dt) - (td_dtype_kind(dt) == 'i');
    double limit = ldexp(1, bits), cut = trunc(v);
    PyObject *n;

    if (cut < limit && cut >= (td_dtype_kind(dt) == 'i' ? -limit : 0))
        return true;
    n = PyLong_FromDouble(v); /* for nan and inf it raises the same exception as NumPy */
    if (n)
        PyErr_Format(PyExc_OverflowError, "Python integer %S out of bounds for %s", n,
                     td_dtype_name(dt));
    Py_XDECREF(n);
    return false;
}

bool
py_real_fits(td_scalar s, char weak, td_dtype dt)
{
    if (weak == 'f' && td_dtype_is_int(dt))
        return float_fits(s.f[0], dt);
    if (weak != 'c' || td_dtype_is_complex(dt) || dt == TD_BOOL)
        return py_cast_warning(s.dt, dt);
    PyErr_Format(PyExc_TypeError, "%s argument must be a real number, not 'complex'",
                 td_dtype_is_float(dt) ? "float()" : "int()");
    return false;
}

/* Has the operation only loops of floats, and that of float64 for integers of dt? */
static bool
computes_in_floats(td_op op, td_dtype dt)
{
    const char *kinds = td_optab[op].kinds;

    return strchr(kinds, 'f') && !strchr(kinds, 'i') && dt != TD_DTYPE_COUNT &&
           (td_optab[op].flags & TD_OPF_WIDE || dt == TD_BOOL || td_dtype_size(dt) >= 4);
}

/* An integer beyond 64 bits is fine with floats, in divisions and the like, and in comparisons. */
bool
py_args_settle(py_args *g, td_op op)
{
    td_operand *x = g->x;
    td_dtype dt = TD_DTYPE_COUNT;
    bool floats = false, known = false;

    for (int i = 0; i < g->n; i++) {
        if (x[i].array || x[i].weak != 'i' || x[i].scalar.dt != TD_F64)
            continue;
        if (!known) {
            known = true;
            dt = strong_dtype(op, x, g->n);
            floats = computes_in_floats(op, dt) ||
                     (dt != TD_DTYPE_COUNT && (td_dtype_is_float(dt) || td_dtype_is_complex(dt)));
        }
        if (floats)
            x[i].weak = 'f';
        else if (td_optab[op].result == TD_RES_BOOL)
            x[i].weak = 0;
        else {
            out_of_bounds(x[i].scalar, dt == TD_DTYPE_COUNT || dt == TD_BOOL ? TD_I64 : dt);
            return false;
        }
    }
    return true;
}

/* Shares another library's memory.  1: done; 0: it has none; -1: exception.  Memory on a GPU
 * stays there. */
static int
foreign(PyObject *o, td_dev *dev, td_array *out)
{
    td_array raw;
    int r = py_share_foreign(o, &raw);

    if (r <= 0)
        return r;
    if (!td_dev_info(td_array_dev(&raw))->host) {
        *out = raw;
        return 1;
    }
    r = (dev || py_device(NULL, &dev)) && py_to_device(&raw, -1, dev, out) ? 1 : -1;
    td_array_unref(&raw);
    return r;
}

/* 1: converted; 0: we cannot convert it; -1: exception. */
static int
array_like(PyObject *o, td_dev *dev, td_array *out)
{
    PyObject *attr;
    int r;

    if (PyUnicode_Check(o) || PyBytes_Check(o) || o == Py_None)
        return 0;
    r = py_numpy_has_class(o);
    if (r)
        return r < 0 ? -1 : 0;
    if (py_is_librarys(o))
        return 0;
    if (!PyList_Check(o) && !PyTuple_Check(o) && !PyObject_CheckBuffer(o)) {
        r = foreign(o, dev, out);
        if (r)
            return r;
        attr = py_attr(
            o, "__treadle_ufunc__"); /* its __array_ufunc__ is called, though it can be converted */
        if (attr || PyErr_Occurred()) {
            Py_XDECREF(attr);
            return PyErr_Occurred() ? -1 : 0;
        }
        attr = py_attr(o, "__array__");
        if (!attr)
            return PyErr_Occurred() ? -1 : 0;
        Py_DECREF(attr);
    }
    return py_asarray(o, -1, dev, out) ? 1 : -1;
}

int
py_foreign_operand(PyObject *o)
{
    PyObject *attr;

    if (py_is_array(o) || PyFloat_Check(o) || PyLong_Check(o) || PyComplex_Check(o) ||
        PyList_Check(o) || PyTuple_Check(o))
        return 0;
    if (PyObject_CheckBuffer(o))
        return py_numpy_has_class(o);
    /* of the class, as NumPy asks: an object may hand on what its array has */
    attr = py_attr((PyObject *)Py_TYPE(o), "__array_ufunc__");
    if (!attr)
        return PyErr_Occurred() ? -1 : 0;
    Py_DECREF(attr);
    attr = py_attr((PyObject *)Py_TYPE(o),
                   "__dlpack__"); /* another library's array, which is converted */
    Py_XDECREF(attr);
    return PyErr_Occurred() ? -1 : !attr;
}

bool
py_is_librarys(PyObject *o)
{
    PyObject *module;
    const char *name;
    bool ours;

    if (!py_asks_numpy() || py_foreign_operand(o) <= 0 || py_numpy_has_class(o)) {
        PyErr_Clear();
        return false;
    }
    module = PyObject_GetAttrString((PyObject *)Py_TYPE(o), "__module__");
    name = module && PyUnicode_Check(module) ? PyUnicode_AsUTF8AndSize(module, NULL) : NULL;
    ours = name && strncmp(name, "treadle", 7) == 0;
    Py_XDECREF(module);
    PyErr_Clear();
    return !ours;
}

static td_dev *
operands_device(PyObject *const *o, int n)
{
    for (int i = 0; i < n; i++)
        if (py_is_array(o[i]))
            return td_array_dev(py_array_of(o[i]));
    return NULL;
}

int
py_args_read(py_args *g, PyObject *const *o, int n)
{
    int r = 1;

    g->n = 0;
    for (int i = 0; i < n && r > 0; i++) {
        td_operand *x = &g->x[i];
        PyObject *item = o[i];

        g->own[i].store = NULL;
        g->n = i + 1;
        x->array = NULL;
        x->weak = 0;
        if (py_is_array(item)) {
            x->array = py_array_of(item);
            continue;
        }
        r = py_number(item, &x->scalar, &x->weak);
        if (r == 0) {
            r = array_like(item, operands_device(o, n), &g->own[i]);
            x->array = &g->own[i];
            x->weak = 0;
        }
    }
    if (r <= 0)
        py_args_free(g);
    return r;
}

int
py_args_fill(py_args *g, td_op op, PyObject *const *o, int n)
{
    int r = py_args_read(g, o, n);

    if (r > 0 && !py_args_settle(g, op)) {
        py_args_free(g);
        r = -1;
    }
    return r;
}

void
py_args_free(py_args *g)
{
    for (int i = 0; i < g->n; i++)
        if (g->own[i].store)
            td_array_unref(&g->own[i]);
}

bool
py_value(PyObject *o, td_dtype dst, td_dev *dev, td_operand *x, td_array *own)
{
    int r;

    own->store = NULL;
    x->array = NULL;
    x->weak = 0;
    if (py_is_array(o)) {
        x->array = py_array_of(o);
        return py_ok(td_one_device("assignment", dev, td_array_dev(x->array))) &&
               py_cast_warning(td_array_dtype(x->array), dst);
    } else {
        r = py_number(o, &x->scalar, &x->weak);
        if (r < 0)
            return false;
        if (r && x->weak == 'i' && x->scalar.dt == TD_F64 && !td_dtype_is_int(dst))
            x->weak = 'f';
        if (r)
            return py_real_fits(x->scalar, x->weak, dst) &&
                   (x->weak != 'i' || py_int_fits(x->scalar, dst));
    }
    x->weak = 0;
    x->array = own;
    if (!py_asarray(o, PyList_Check(o) || PyTuple_Check(o) || py_is_word(o) ? (int)dst : -1, dev,
                    own)) {
        own->store = NULL;
        return false;
    }
    if (py_cast_warning(td_array_dtype(own), dst))
        return true;
    td_array_unref(own);
    return false;
}

bool
py_read_scalar(const td_array *a, td_scalar *out)
{
    uint64_t bits[2] = {0, 0};

    if (!py_ok(td_array_get(a, bits)) || !py_warn())
        return false;
    *out = td_scalar_load(td_array_dtype(a), bits);
    return true;
}

/* The element that a number of ours or NumPy's would become needs no look at its value: 0; *s is the value: 1; -1:
 * exception.  What a capture records has no value yet. */
static int
scalar_to_judge(PyObject *o, td_dtype dst, const td_operand *x, td_scalar *s)
{
    td_dtype from = x->array ? td_array_dtype(x->array) : x->scalar.dt;

    if (td_can_cast(from, dst, 's') || (!x->array && x->weak))
        return 0;
    *s = x->scalar;
    if (!x->array)
        return !PySequence_Check(
            o); /* of NumPy's arrays, which are cast, and scalars arrays have items */
    if (!py_is_array(o) || !py_is_number((py_ndarray *)o) || x->array->store->lister)
        return 0;
    return py_read_scalar(x->array, s) ? 1 : -1;
}

bool
py_stored(PyObject *o, td_dtype dst, td_dev *dev, td_operand *x, td_array *own)
{
    td_scalar s;
    int judge;
    bool ok;

    if (!py_value(o, dst, dev, x, own))
        return false;
    judge = td_dtype_kind(dst) == 'i' ? scalar_to_judge(o, dst, x, &s) : 0;
    if (judge <= 0)
        ok = judge == 0;
    else if (td_dtype_is_int(s.dt)) {
        s.dt = td_dtype_kind(s.dt) == 'u' && s.i < 0 ? TD_U64 : TD_I64;
        ok = py_int_fits(s, dst);
    } else
        ok = float_fits(s.f[0], dst);
    if (!ok && own->store)
        td_array_unref(own);
    return ok;
}

PyObject *
py_beside(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    const char *what = nargs ? PyUnicode_AsUTF8AndSize(args[0], NULL) : "";
    td_dev *dev = what ? operands_device(args + 1, (int)nargs - 1) : NULL;
    PyObject *r = what ? PyTuple_New(nargs - 1) : NULL;
    bool ok = r != NULL;

    (void)module;
    for (Py_ssize_t i = 1; i < nargs && ok; i++) {
        PyObject *o = args[i], *one = py_is_array(o) ? Py_NewRef(o) : (PyObject *)py_new();

        ok = one != NULL;
        if (ok && py_is_array(o))
            ok = py_ok(td_one_device(what, dev, td_array_dev(py_array_of(one))));
        else if (ok && !py_asarray(o, -1, dev, py_array_of(one))) {
            py_array_of(one)->store = NULL;
            ok = false;
        }
        if (ok)
            PyTuple_SetItem(r, i - 1, Py_NewRef(one));
        Py_XDECREF(one);
    }
    if (!ok)
        Py_CLEAR(r);
    return r;
}
