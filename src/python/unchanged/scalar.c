/* scalar.c - operators of NumPy's scalars beside big arrays.
 *
 * For `dt * u`, where dt is a numpy.float64, Python asks the scalar first, and NumPy's scalars multiply arrays without
 * asking the array's own operator.  So the scalar types have operators of ours, too: beside a big array they call the
 * array's, and else what was there.
 */
#include "python/unchanged/unchanged.h"

typedef enum scalar_op {
#define OP(id) SCALAR_##id,
#define INPLACE(id)
#define UNARY(id)
#define NO_POWER
#include "python/unchanged/slots.def"
    SCALAR_power,
    SCALAR_OPS
} scalar_op;

/* scalar_type - one of NumPy's scalar types and the operators that it had. */
typedef struct scalar_type {
    PyTypeObject *type;
    void *near[SCALAR_OPS];
} scalar_type;

typedef struct place {
    int slot;
    void *ours;
} place;

static const place places[SCALAR_OPS];

static scalar_type types[TD_DTYPE_COUNT];
static int ntypes;
static void *of_array[SCALAR_OPS]; /* numpy.ndarray's operators, which are ours */

/* The type of o, or that it is a subclass of; NULL: o is no scalar of NumPy's. */
static const scalar_type *
scalar_type_of(PyObject *o)
{
    for (int i = 0; i < ntypes; i++)
        if (Py_IS_TYPE(o, types[i].type))
            return &types[i];
    for (int i = 0; PyObject_TypeCheck(o, px.generic) && i < ntypes; i++)
        if (PyObject_TypeCheck(o, types[i].type))
            return &types[i];
    return NULL;
}

static PyObject *
call_operator(scalar_op op, void *f, PyObject *x, PyObject *y, PyObject *mod)
{
    return op == SCALAR_power ? ((ternaryfunc)(uintptr_t)f)(x, y, mod)
                              : ((binaryfunc)(uintptr_t)f)(x, y);
}

/* The function that Python would ask after the left operand's has declined, were it not ours as well: Python asks the
 * right operand's type only if its function is another one. */
static void *
right_function(scalar_op op, const scalar_type *left, PyObject *y)
{
    const scalar_type *t = scalar_type_of(y);

    if (!t || (left && left->near[op] == t->near[op]) ||
        PyType_GetSlot(Py_TYPE(y), places[op].slot) != places[op].ours)
        return NULL;
    return t->near[op];
}

static PyObject *
scalar_operate(scalar_op op, PyObject *x, PyObject *y, PyObject *mod)
{
    const scalar_type *t = scalar_type_of(x);
    PyObject *r;
    void *f;

    if (t && px_is_np(y) && px_is_far(y))
        return call_operator(op, of_array[op], x, y, mod);
    r = t && t->near[op] ? call_operator(op, t->near[op], x, y, mod) : Py_NewRef(Py_NotImplemented);
    if (r != Py_NotImplemented || !(f = right_function(op, t, y)))
        return r;
    Py_DECREF(r);
    return call_operator(op, f, x, y, mod);
}

#define OP(id)                                                                                     \
    static PyObject *scalar_##id(PyObject *x, PyObject *y)                                         \
    {                                                                                              \
        return scalar_operate(SCALAR_##id, x, y, NULL);                                            \
    }
#define INPLACE(id)
#define UNARY(id)
#define NO_POWER
#include "python/unchanged/slots.def"

static PyObject *
scalar_power(PyObject *x, PyObject *y, PyObject *mod)
{
    return scalar_operate(SCALAR_power, x, y, mod);
}

static const place places[SCALAR_OPS] = {
#define OP(id) [SCALAR_##id] = {Py_nb_##id, (void *)(uintptr_t)scalar_##id},
#define INPLACE(id)
#define UNARY(id)
#define NO_POWER
#include "python/unchanged/slots.def"
    [SCALAR_power] = {Py_nb_power, (void *)(uintptr_t)scalar_power},
};

static bool
replace_operators(PyTypeObject *type)
{
    scalar_type *t = &types[ntypes];
    void **at;

    *t = (scalar_type){.type = type};
    for (int op = 0; op < SCALAR_OPS; op++) {
        if (!PyType_GetSlot(type, places[op].slot) || !of_array[op])
            continue;
        at = px_slot_at(type, places[op].slot);
        if (!at)
            return false;
        t->near[op] = *at;
        *at = places[op].ours;
    }
    PyType_Modified(type);
    ntypes++;
    return true;
}

bool
px_scalars_init(void)
{
    if (ntypes)
        return true; /* done before */
    for (int op = 0; op < SCALAR_OPS; op++)
        of_array[op] = PyType_GetSlot(px.ndarray, places[op].slot);
    if (px.scalar[TD_F64] && !replace_operators((PyTypeObject *)px.scalar[TD_F64]))
        return false; /* first, since it is the one that programs use most */
    for (int i = 0; i < TD_DTYPE_COUNT; i++)
        if (px.scalar[i] && i != TD_F64 && !replace_operators((PyTypeObject *)px.scalar[i]))
            return false;
    return true;
}
