/* numberslots.h - the functions of number slots, one for each row of ops.def that fills a slot.
 *
 * The including file must have defined these static functions, which return a new reference, or NULL with an
 * exception:
 *   number_binary(op, x, y)    x op y; NotImplemented if the type does not handle an operand
 *   number_inplace(op, x, y)   x, changed in place
 *   number_unary(op, x)
 * It gets nb_<slot>, nb_inplace_<slot> and slot_compare(x, y, how).  It also gets NB_<slot>(row), by which its own table
 * of slots reads a row: BINARY, UNARY, POWER or COMPARE, which it must define for that.
 */
#ifndef TD_PYTHON_NUMBERSLOTS_H
#define TD_PYTHON_NUMBERSLOTS_H
#include "python/common/py.h"

#define NB_NONE(op)
#define NB_add(op)           BINARY(op, add)
#define NB_subtract(op)      BINARY(op, subtract)
#define NB_multiply(op)      BINARY(op, multiply)
#define NB_true_divide(op)   BINARY(op, true_divide)
#define NB_floor_divide(op)  BINARY(op, floor_divide)
#define NB_remainder(op)     BINARY(op, remainder)
#define NB_and(op)           BINARY(op, and)
#define NB_or(op)            BINARY(op, or)
#define NB_xor(op)           BINARY(op, xor)
#define NB_lshift(op)        BINARY(op, lshift)
#define NB_rshift(op)        BINARY(op, rshift)
#define NB_power(op)         POWER(op)
#define NB_negative(op)      UNARY(op, negative)
#define NB_positive(op)      UNARY(op, positive)
#define NB_absolute(op)      UNARY(op, absolute)
#define NB_invert(op)        UNARY(op, invert)
#define NB_less(op)          COMPARE(op, LT)
#define NB_less_equal(op)    COMPARE(op, LE)
#define NB_greater(op)       COMPARE(op, GT)
#define NB_greater_equal(op) COMPARE(op, GE)
#define NB_equal(op)         COMPARE(op, EQ)
#define NB_not_equal(op)     COMPARE(op, NE)

#define BINARY(op, nb)                                                                             \
    static PyObject *nb_##nb(PyObject *x, PyObject *y)                                             \
    {                                                                                              \
        return number_binary(OP_##op, x, y);                                                              \
    }                                                                                              \
    static PyObject *nb_inplace_##nb(PyObject *x, PyObject *y)                                     \
    {                                                                                              \
        return number_inplace(OP_##op, x, y);                                                             \
    }
#define UNARY(op, nb)                                                                              \
    static PyObject *nb_##nb(PyObject *x)                                                          \
    {                                                                                              \
        return number_unary(OP_##op, x);                                                                  \
    }
#define POWER(op)                                                                                  \
    static PyObject *nb_power(PyObject *x, PyObject *y, PyObject *mod)                             \
    {                                                                                              \
        return mod == Py_None ? number_binary(OP_##op, x, y) : Py_NewRef(Py_NotImplemented);              \
    }                                                                                              \
    static PyObject *nb_inplace_power(PyObject *x, PyObject *y, PyObject *mod)                     \
    {                                                                                              \
        return mod == Py_None ? number_inplace(OP_##op, x, y) : Py_NewRef(Py_NotImplemented);             \
    }
#define COMPARE(op, py)
#define OP(name, arity, kinds, result, flags, meaning, lowering, slot, ...) NB_##slot(name)
#include "ir/core/ops.def"
#undef BINARY
#undef UNARY
#undef POWER
#undef COMPARE

static PyObject *
slot_compare(PyObject *x, PyObject *y, int how)
{
    static const td_op ops[] = {
#define BINARY(op, nb)
#define UNARY(op, nb)
#define POWER(op)
#define COMPARE(op, py)                                                            [Py_##py] = OP_##op,
#define OP(name, arity, kinds, result, flags, meaning, lowering, slot, ...) NB_##slot(name)
#include "ir/core/ops.def"
#undef BINARY
#undef UNARY
#undef POWER
#undef COMPARE
    };

    return number_binary(ops[how], x, y);
}

#endif
