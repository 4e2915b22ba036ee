/* complexrows.h - what complexarith.c and complexmath.c share: the functions of rows for pairs. */
#ifndef TD_IR_COMPLEXROWS_H
#define TD_IR_COMPLEXROWS_H
#include "ir/core/complex.h"

#include "op_lists.h"

/* Every row whose kinds hold 'c' has a function td_cx_NAME. */
#define TD_CX_DECLARE(name) td_cx td_cx_##name;
TD_CX_ROWS(TD_CX_DECLARE)

/* Shorthand for functions with the parameters f and x. */
#define E1(op, a)       TD_E1(f, op, a)
#define E2(op, a, b)    TD_E2(f, op, a, b)
#define E3(op, a, b, c) TD_E3(f, op, a, b, c)
#define PART            (f->st ? TD_F64 : (td_dtype)td_at(f, x[0].re)->dt)
#define K(v)            td_const(f, PART, (v))
#define BY_PART(a, b)   K(PART == TD_F32 ? (a) : (b)) /* float32's, float64's */

static inline td_num td_pair(td_val re, td_val im) { return (td_num){re, im}; }

#endif
