/* complexrows.h - what the spellings of rows on pairs share: complexarith.c and complexmath.c. */
#ifndef TD_IR_COMPLEXROWS_H
#define TD_IR_COMPLEXROWS_H
#include "ir/core/complex.h"

/* Every row whose kinds hold 'c' has a function td_cx_NAME here. */
#define TD_CX_ROWS(X)                                                                              \
    X(add) X(subtract) X(multiply) X(divide) X(power) X(negative) X(positive) X(absolute)          \
    X(real) X(imag) X(conjugate) X(angle) X(sign) X(square) X(reciprocal) X(sqrt) X(exp)           \
    X(exp2) X(expm1) X(log) X(log2) X(log10) X(log1p) X(sin) X(cos) X(tan) X(arcsin)               \
    X(arccos) X(arctan) X(sinh) X(cosh) X(tanh) X(arcsinh) X(arccosh) X(arctanh) X(rint)           \
    X(maximum) X(minimum) X(fmax) X(fmin) X(less) X(less_equal) X(greater) X(greater_equal)        \
    X(equal) X(not_equal) X(isnan) X(isinf) X(isfinite) X(select)

#define TD_CX_DECLARE(name) td_cx td_cx_##name;
TD_CX_ROWS(TD_CX_DECLARE)

/* Over operands x of a function of f. */
#define E1(op, a)       TD_E1(f, op, a)
#define E2(op, a, b)    TD_E2(f, op, a, b)
#define E3(op, a, b, c) TD_E3(f, op, a, b, c)
#define PART            (f->st ? TD_F64 : (td_dtype)td_at(f, x[0].re)->dt)
#define K(v)            td_const(f, PART, (v))
#define BY_PART(a, b)   K(PART == TD_F32 ? (a) : (b)) /* float32's, float64's */

static inline td_num td_pair(td_val re, td_val im) { return (td_num){re, im}; }

#endif
