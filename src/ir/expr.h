/* expr.h - the composite operations: one function per EXPR row of ops.def. */
#ifndef TD_IR_EXPR_H
#define TD_IR_EXPR_H
#include "ir/ir.h"

/* Emits the spelling of an operation over x, whose dtypes and lanes already agree. */
typedef td_val td_expr(td_fn *f, const td_val *x);

extern td_expr *const td_exprtab[OP_COUNT]; /* NULL: a primitive */

#endif
