/* reduce.h - what each reduction does to its accumulators: the rows of reduce.def in IR.
 *
 * An element is lifted to accumulators, accumulators are merged, and the last ones finished.  Sums of
 * floats run in float64 (half and single precision), so that they do not depend on the order of
 * merging beyond float64's last places.  Accumulators are real: a complex one is two of them, real part
 * first (`pair`).
 */
#ifndef TD_ARRAY_REDUCE_H
#define TD_ARRAY_REDUCE_H
#include "array/graph/node.h"
#include "ir/core/complex.h"

enum { TD_MAXACC = 3 };

typedef struct td_redinfo {
    const char *name, *meaning, *derivative;
    uint8_t     nacc, npair; /* accumulators of real and of complex reductions */
    bool        identity;
} td_redinfo;

extern const td_redinfo td_redtab[TD_RED_COUNT];

/* NumPy's result dtype; want: the dtype that the user asked for, or -1.  TD_ERR_TYPE: not defined for it. */
td_status td_red_result(td_red red, td_dtype in, int want, td_dtype *out);

/* Are the accumulators pairs, for complex numbers? */
bool     td_red_pair(td_red red, td_dtype in, td_dtype out);
int      td_red_nacc(td_red red, bool pair);
/* The dtype of accumulator i; out: the result's dtype. */
td_dtype td_red_acc(td_red red, int i, td_dtype in, td_dtype out);

void   td_red_init(td_fn *f, td_red red, bool pair, const td_dtype acc[], td_val out[]);
void   td_red_lift(td_fn *f, td_red red, bool pair, const td_dtype acc[], td_num x, td_val index, td_val out[]);
/* is it more precise if a value near the elements, the same for a whole result, is subtracted first? */
bool   td_red_shifts(td_red red);
void   td_red_merge(td_fn *f, td_red red, bool pair, const td_val a[], const td_val b[], td_val out[]);
/* The same where x lies behind all that acc has seen, so that of equal elements acc's is the first. */
void   td_red_add(td_fn *f, td_red red, bool pair, const td_val acc[], const td_val x[], td_val out[]);
td_num td_red_finish(td_fn *f, td_red red, bool pair, const td_val acc[], td_val count, td_val ddof, td_dtype out);

/* The value of an empty reduction, for rows with an identity. */
td_scalar td_red_empty(td_red red, td_dtype out);

#endif
