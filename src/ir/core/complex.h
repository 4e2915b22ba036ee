/* complex.h - complex numbers in kernels: pairs of float values.
 *
 * The IR computes with real numbers only.  A td_num is what a program calls a number: one value, or
 * for complex64 and complex128 a pair of float32 or float64 values.  The functions here do to numbers
 * what the builder does to values; for real ones they are the builder's.  In memory a complex number
 * is two floats side by side, so a pointer to complex elements is one to floats.
 */
#ifndef TD_IR_COMPLEX_H
#define TD_IR_COMPLEX_H
#include "ir/core/ir.h"

typedef struct td_num {
    td_val re, im; /* im is TD_NONE: a real number, of any dtype */
} td_num;

static inline bool   td_num_is_pair(td_num x) { return x.im.i != UINT32_MAX; }
static inline td_num td_num_of(td_val v) { return (td_num){v, TD_NONE}; }
td_num td_num_zero(td_fn *f, td_dtype dt); /* one lane */

/* Has the row a spelling on pairs?  Those whose kinds hold 'c'. */
bool   td_num_admits(td_op op);
/* An elementwise row over operands of one dtype (select's first is bool); rows without a spelling on
 * pairs fail with TD_ERR_TYPE.  Special values are NumPy's. */
td_num td_num_emit(td_fn *f, td_op op, const td_num *x);
td_num td_num_cast(td_fn *f, td_num x, td_dtype dt); /* NumPy's: the imaginary part is dropped; true unless both are 0 */

/* Kernel parameters for numbers and elements of dt: two words for a complex number, real part first. */
td_num td_num_param(td_fn *f, td_dtype dt);
td_val td_num_param_ptr(td_fn *f, td_dtype dt);
td_val td_num_shared(td_fn *f, td_dtype dt, uint64_t count);

/* td_load and td_store; index and mask count elements of dt.  align: of the first element, 0: of a
 * component; a GPU makes one access of a complex element when it is told the element's size. */
td_num td_num_load(td_fn *f, td_val ptr, td_dtype dt, td_val index, td_val mask, int lanes, int align);
void   td_num_store(td_fn *f, td_val ptr, td_dtype dt, td_val index, td_num x, td_val mask, int align);

/* The same of one element by two accesses, of which loops whose turns become lanes make vectors. */
td_num td_num_load_parts(td_fn *f, td_val ptr, td_dtype dt, td_val index, td_val mask);
void   td_num_store_parts(td_fn *f, td_val ptr, td_dtype dt, td_val index, td_num x, td_val mask);

td_num td_num_splat(td_fn *f, td_num x, int lanes);
td_num td_num_select(td_fn *f, td_val mask, td_num a, td_num b);
td_num td_num_rotate(td_fn *f, td_num x, int k);
td_num td_num_extract(td_fn *f, td_num x, int lane);
td_num td_num_shuffle_xor(td_fn *f, td_num x, int mask);
td_num td_num_slot(td_fn *f, td_dtype dt, int lanes);
td_num td_num_get(td_fn *f, td_num slot);
void   td_num_set(td_fn *f, td_num slot, td_num x);

/* The rows' functions, in complexarith.c and complexmath.c. */
typedef td_num td_cx(td_fn *f, const td_num *x);
extern td_cx *const td_cxtab[TD_OPS]; /* NULL: not defined for complex numbers */

#endif
