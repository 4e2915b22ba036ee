/* tell.h - remarks for a profile about an operation's operands, made when it is recorded. */
#ifndef TD_ARRAY_TELL_H
#define TD_ARRAY_TELL_H
#include "array/graph/array.h"
#include "dev/core/trace.h"

/* Records that float32 becomes float64 because of another operand (widen), and operands that lie across memory (stride).
 * `dt` is the result's dtype, `s` its shape; for a reduction, its operand's. */
void td_tell_operands(const char *name, const td_operand *x, int n, td_dtype dt, const td_shape *s);

#endif
