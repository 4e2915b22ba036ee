/* expr.h - the composite operations: one function per EXPR row of ops.def. */
#ifndef TD_IR_EXPR_H
#define TD_IR_EXPR_H
#include "ir/core/ir.h"

/* Emits the composition of an operation over x, whose dtypes and lanes already agree. */
typedef td_val td_expr(td_fn *f, const td_val *x);

/* Shorthand in a td_expr: rows, and a constant of the operands' dtype. */
#define E1(op, a)       TD_E1(f, op, a)
#define E2(op, a, b)    TD_E2(f, op, a, b)
#define E3(op, a, b, c) TD_E3(f, op, a, b, c)
#define K(v)            td_const(f, (td_dtype)td_at(f, x[0])->dt, (v))

/* One function for each row, in expr.c or expr_special.c. */
#define BIN(s, u, fl)
#define CMP(s, u, fl)
#define INTRIN(name)
#define MATH(name)
#define SPECIAL(name)
#define EXPR(name)                               td_expr expr_##name;
#define OP(n, ar, k, r, fl, mean, lowering, ...) lowering
#include "ir/core/ops.def"
#undef BIN
#undef CMP
#undef INTRIN
#undef MATH
#undef SPECIAL
#undef EXPR

extern td_expr *const td_exprtab[OP_COUNT]; /* NULL: a primitive */

#endif
