/* now.h - work on few elements, without a compiler.
 *
 * A td_steps computes one row of ops.def, or one cast.  It follows the row's kernel IR: each instruction is a step,
 * which calls the interpreter's function (ir/interp/interp_ops.h).  So results equal those of compiled kernels bit
 * for bit, except for functions of libm, whose vector forms may differ in the last place.  Elements are converted
 * to words, TILE at a time.
 */
#ifndef TD_ARRAY_NOW_H
#define TD_ARRAY_NOW_H
#include "type/dtype.h"
#include "type/shape.h"
#include "base/ufunc.h"
#include "ir/core/ir.h"

typedef struct td_steps td_steps;

/* The steps by which f computes out[0..n) from its parameters; owned, for the process's life.  NULL: f has too
 * many instructions, or loops. */
const td_steps *td_steps_make(const td_fn *f, const td_val *out, int n);

/* Borrowed, made once; NULL: the row has too many instructions, or loops.  Callers hold one lock. */
const td_steps *td_steps_op(td_op op, td_dtype dt); /* dt: of the operands (select's first is bool) */
const td_steps *td_steps_cast(td_dtype from, td_dtype to);

/* From now on td_steps_run computes the row by this loop over its elements, which gives what the steps give.  Callers hold the
 * lock of td_steps_op. */
void td_steps_loop(td_op op, td_dtype dt, td_ufunc_loop *loop, void *data);

/* Instructions per element, at least 1; a row's loop is one. */
int td_steps_count(const td_steps *p);

/* td_few - elements in memory; a 0-d view is one element. */
typedef struct td_few {
    char          *at; /* start of the buffer whose elements view counts; results are written there */
    const td_view *view;
    td_dtype       dt;
} td_few;

/* Computes each element of out from the elements of src[0..n), which broadcast to it.  out and src may share
 * memory if they are the same view of it. */
void td_steps_run(const td_steps *p, const td_few *src, int n, const td_few *out);

/* The same for numbers, whose dtypes are those of the steps; returns a `result`. */
td_scalar td_steps_number(const td_steps *p, const td_scalar *x, int n, td_dtype result);

/* td_fold_steps - a reduction's steps: lift an element and its index (int64) to accumulators; merge two sets of
 * accumulators; compute the result from accumulators, number of elements (int64) and ddof (float64). */
typedef struct td_fold_steps {
    const td_steps *lift, *merge, *finish;
} td_fold_steps;

/* Reduces x along `axes` (a bit mask), over at least one element each, into out, which is C-contiguous. */
void td_fold_run(const td_fold_steps *f, const td_few *x, uint32_t axes, double ddof, const td_few *out);

/* Products of an m by k and a k by n matrix (two-axis views) of one dtype: float32 or float64 (summed in
 * float64), int32 or int64.  out may have any layout. */
bool td_few_multiplies(td_dtype dt);
void td_few_product(const td_few *a, const td_few *b, const td_few *out);

#endif
