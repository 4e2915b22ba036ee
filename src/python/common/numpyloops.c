/* numpyloops.c - takes NumPy's own loops out of its ufuncs, for compiled code to call: base/ufunc.h. */
#include "array/now/now.h"
#include "base/ufunc.h"
#include "dev/lib/hostblas.h"
#include "front/infer/front.h"
#include "python/common/py.h"

typedef struct ufunc { /* NumPy's PyUFuncObject, as far as it is looked at: so since NumPy 1.0 */
    PyObject_HEAD int nin, nout, nargs, identity;
    td_ufunc_loop *const *loops;
    void *const *data;
    int ntypes, reserved;
    const char *name, *types;
} ufunc;

enum {
    NPY_LONG = 7,
    NPY_LONGLONG = 9,
    NPY_FLOAT = 11,
    NPY_DOUBLE = 12,
    NPY_CFLOAT = 14,
    NPY_CDOUBLE = 15
};

/* NumPy's numbers of the dtypes for which small arrays take its loops. */
static const int numbers[TD_DTYPE_COUNT] = {
    [TD_BOOL] = 0,  [TD_I8] = 1,          [TD_I16] = 3,          [TD_I32] = 5,  [TD_I64] = NPY_LONG,
    [TD_U8] = 2,    [TD_U16] = 4,         [TD_U32] = 6,          [TD_U64] = 8,  [TD_F16] = -1,
    [TD_BF16] = -1, [TD_F32] = NPY_FLOAT, [TD_F64] = NPY_DOUBLE, [TD_C64] = -1, [TD_C128] = -1};

/* Rows that have NumPy's names and one exact result. */
// clang-format off
#define EXACT(X)                                                                                   \
    X(add) X(subtract) X(multiply) X(divide) X(negative) X(absolute) X(square) X(sqrt) X(maximum)  \
    X(minimum) X(less) X(less_equal) X(greater) X(greater_equal) X(equal) X(not_equal)             \
    X(isnan) X(isinf) X(isfinite) X(signbit) X(floor) X(ceil) X(trunc) X(rint) X(copysign)         \
    X(logical_and) X(logical_or) X(logical_xor) X(logical_not)                                     \
    X(bitwise_and) X(bitwise_or) X(bitwise_xor) X(invert)
// clang-format on

/* Of two zeros, and of two NaNs, NumPy's loops may give the one and compiled kernels the other. */
static bool
is_ambiguous(td_op op, td_dtype dt)
{
    return (op == OP_maximum || op == OP_minimum) && td_dtype_is_float(dt);
}

static const struct {
    const char *name;
    td_op op;
} exact[] = {
#define ROW(name) {#name, OP_##name},
    EXACT(ROW)
#undef ROW
};

/* NULL: the structure is not the one that is known. */
static const ufunc *
as_ufunc(PyObject *o)
{
    const ufunc *u = (const ufunc *)o;
    PyObject *nin = PyObject_GetAttrString(o, "nin"), *ntypes = PyObject_GetAttrString(o, "ntypes");
    bool known =
        nin && ntypes && PyLong_AsLong(nin) == u->nin && PyLong_AsLong(ntypes) == u->ntypes;

    Py_XDECREF(nin);
    Py_XDECREF(ntypes);
    PyErr_Clear();
    return known ? u : NULL;
}

/* The index of u's loop of which the first n arguments (inputs, then results) are of that type; -1: it has none. */
static int
loop_of(const ufunc *u, int type, int n)
{
    for (int i = 0; i < u->ntypes; i++) {
        int k = 0;

        while (k < n && u->types[i * u->nargs + k] == type)
            k++;
        if (k == n)
            return i;
    }
    return -1;
}

/* Gives small arrays' operations u's loops for the dtypes that have one. */
static void
take_loops(const ufunc *u, td_op op)
{
    for (int dt = 0; dt < TD_DTYPE_COUNT; dt++) {
        bool there = td_op_admits(op, (td_dtype)dt);
        int result = there ? (int)td_op_result(op, (td_dtype)dt) : -1, i;

        if (!there || numbers[dt] < 0 || numbers[result] < 0 || is_ambiguous(op, (td_dtype)dt))
            continue;
        i = loop_of(u, numbers[dt], u->nin);
        if (i >= 0 && u->types[i * u->nargs + u->nin] == numbers[result])
            td_steps_loop(op, (td_dtype)dt, u->loops[i], u->data ? u->data[i] : NULL);
    }
}

bool
py_numpyloops_take(void)
{
    PyObject *np = py_numpy();

    for (size_t k = 0; np && k < sizeof exact / sizeof *exact; k++) {
        PyObject *o = PyObject_GetAttrString(np, exact[k].name);
        const ufunc *u = o ? as_ufunc(o) : NULL;

        if (!o)
            return false;
        if (u && u->nout == 1 && u->nin <= 2)
            take_loops(u, exact[k].op);
        Py_DECREF(o);
    }
    return np;
}

static PyObject *
take_ufunc(PyObject *module, PyObject *o)
{
    const ufunc *u = as_ufunc(o);
    int op = u ? td_intrinsic_op(u->name) : -1, i;

    (void)module;
    if (op < 0 || u->nout != 1 || u->nin > 2)
        return PyBool_FromLong(0);
    i = loop_of(u, NPY_DOUBLE, u->nargs);
    td_ufunc_set(op, u->nin, i < 0 ? NULL : u->loops[i], i < 0 || !u->data ? NULL : u->data[i],
                 loop_of(u, NPY_LONG, u->nin) < 0 && loop_of(u, NPY_LONGLONG, u->nin) < 0);
    return PyBool_FromLong(i >= 0);
}

static PyObject *
take_linear(PyObject *module, PyObject *args)
{
    static const int types[] = {NPY_FLOAT, NPY_DOUBLE, NPY_CFLOAT, NPY_CDOUBLE};
    const ufunc *u;
    PyObject *o;
    int number;

    (void)module;
    if (!PyArg_ParseTuple(args, "Oi:_take_linear", &o, &number))
        return NULL;
    u = as_ufunc(o);
    for (int i = 0; u && i < u->ntypes; i++)
        for (int t = 0; t < 4; t++)
            if (u->types[i * u->nargs] == types[t])
                td_linear_set(number + t, u->nin, u->loops[i], u->data ? u->data[i] : NULL);
    td_hostblas_find();
    return PyBool_FromLong(u != NULL);
}

static PyMethodDef functions[] = {
    {"_take_ufunc", take_ufunc, METH_O,
     "_take_ufunc(f): loops call NumPy's ufunc f for single float64s. False: they cannot."},
    {"_take_linear", take_linear, METH_VARARGS,
     "_take_linear(f, number): compiled functions call the loops of f, of numpy.linalg, by that "
     "number and the next three: for float32, float64, complex64, complex128. False: they cannot."},
    {NULL, NULL, 0, NULL},
};

bool
py_numpyloops_init(PyObject *m)
{
    td_linear_around(td_hostblas_begin, td_hostblas_end);
    return PyModule_AddFunctions(m, functions) == 0;
}
