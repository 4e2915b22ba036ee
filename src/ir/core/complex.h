/* complex.h - complex numbers in kernels: pairs of float values.
 *
 * The IR computes with real numbers only.  A td_num is a number of the program: one value, or for complex64 and
 * complex128 a pair of float32 or float64 values.  The functions here apply the builder's functions to numbers; for
 * real ones they are the builder's.  In memory a complex number is two adjacent floats, so a pointer to complex
 * elements is a pointer to floats.
 */
#ifndef TD_IR_COMPLEX_H
#define TD_IR_COMPLEX_H
#include "ir/core/ir.h"

typedef struct td_num {
    td_val re, im; /* im is TD_NONE for a real number, of any dtype */
} td_num;

static inline bool   td_num_is_pair(td_num x) { return x.im.i != UINT32_MAX; }
static inline td_num td_num_of(td_val v) { return (td_num){v, TD_NONE}; }
td_num td_num_zero(td_fn *f, td_dtype dt); /* one lane */

/* Is the row defined for pairs, that is, do its kinds contain 'c'? */
bool   td_num_admits(td_op op);
/* Applies an elementwise row to operands of one dtype (select's first is bool); a row that is not defined for pairs
 * fails with TD_ERR_TYPE.  Special values are NumPy's. */
td_num td_num_emit(td_fn *f, td_op op, const td_num *x);
td_num td_num_cast(td_fn *f, td_num x, td_dtype dt); /* drops the imaginary part; bool: false if both are 0 */

/* Kernel parameters for numbers and elements of dt: two words for a complex number, real part first. */
td_num td_num_param(td_fn *f, td_dtype dt);
td_val td_num_param_ptr(td_fn *f, td_dtype dt);
td_val td_num_shared(td_fn *f, td_dtype dt, uint64_t count);

/* td_load and td_store; index and mask count elements of dt.  align: the alignment of the first element; 0: a
 * component's. With the element's size as alignment, a GPU makes one access of a complex element. */
td_num td_num_load(td_fn *f, td_val ptr, td_dtype dt, td_val index, td_val mask, int lanes, int align);
void   td_num_store(td_fn *f, td_val ptr, td_dtype dt, td_val index, td_num x, td_val mask, int align);

/* The same for one element, in two accesses, which become vectors if the loop's iterations become lanes. */
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
