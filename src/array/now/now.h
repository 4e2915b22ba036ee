/* now.h - work on few elements, without a compiler.
 *
 * A td_steps computes one row of ops.def, or one cast: the row as the kernel IR spells it, a step for each instruction,
 * and a step is the interpreter's function for it (ir/interp/interp_ops.h).  So results are those of compiled kernels to
 * the bit, but for functions of libm, whose vector forms may differ in the last place.  Elements are brought into words,
 * TILE at a time.
 */
#ifndef TD_ARRAY_NOW_H
#define TD_ARRAY_NOW_H
#include "type/dtype.h"
#include "type/shape.h"
#include "ir/core/ir.h"

typedef struct td_steps td_steps;

/* f computes out[0..n) from its parameters; owned, for the process's life.  NULL: not by few instructions without loops. */
const td_steps *td_steps_make(const td_fn *f, const td_val *out, int n);

/* Borrowed, made once; NULL: the row is longer than it is worth, or has loops.  Callers hold one lock. */
const td_steps *td_steps_op(td_op op, td_dtype dt); /* dt: of the operands (select's first is bool) */
const td_steps *td_steps_cast(td_dtype from, td_dtype to);

/* How many instructions an element takes, at least 1. */
int td_steps_count(const td_steps *p);

/* Elements in memory; 0-d: one element. */
typedef struct td_few {
    char          *at; /* of the buffer, from which view counts elements; a result is written there */
    const td_view *view;
    td_dtype       dt;
} td_few;

/* Each element of out, whose at is written to, is computed from those of src[0..n), which broadcast to it.  out and src
 * may share memory where they are one view of it. */
void td_steps_run(const td_steps *p, const td_few *src, int n, const td_few *out);

/* The same of numbers, each of the dtype that the steps are of; the result is a `result`. */
td_scalar td_steps_number(const td_steps *p, const td_scalar *x, int n, td_dtype result);

/* td_fold_steps - a reduction: an element and its place (int64) to accumulators, two sets of accumulators to one; the
 * accumulators, how many elements (int64) and ddof (float64) to the result. */
typedef struct td_fold_steps {
    const td_steps *lift, *merge, *finish;
} td_fold_steps;

/* Each element of out, C-contiguous, is what f makes of the elements of x along `axes` (a bit mask), of which there is one
 * at least. */
void td_fold_run(const td_fold_steps *f, const td_few *x, uint32_t axes, double ddof, const td_few *out);

/* Products of matrices, m by k and k by n (views of two axes), of one dtype, float32 or float64 (sums in float64), int32 or int64; out in any layout. */
bool td_few_multiplies(td_dtype dt);
void td_few_product(const td_few *a, const td_few *b, const td_few *out);

#endif
