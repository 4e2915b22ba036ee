/* expr.h - the composite operations: one function per EXPR row of ops.def. */
#ifndef TD_IR_EXPR_H
#define TD_IR_EXPR_H
#include "ir/core/ir.h"

/* Emits the spelling of an operation over x, whose dtypes and lanes already agree. */
typedef td_val td_expr(td_fn *f, const td_val *x);

/* In a td_expr: rows, and a constant of the operands' dtype. */
#define E1(op, a)       TD_E1(f, op, a)
#define E2(op, a, b)    TD_E2(f, op, a, b)
#define E3(op, a, b, c) TD_E3(f, op, a, b, c)
#define K(v)            td_const(f, (td_dtype)td_at(f, x[0])->dt, (v))

/* Those that stand in expr_special.c; the others are expr.c's own. */
td_expr expr_rsqrt, expr_relu, expr_sigmoid, expr_softplus, expr_silu, expr_gelu, expr_logit,
    expr_xlogy, expr_scale, expr_mantissa, expr_exponent, expr_gcd, expr_lcm;

extern td_expr *const td_exprtab[OP_COUNT]; /* NULL: a primitive */

#endif
