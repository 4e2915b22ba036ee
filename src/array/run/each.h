/* each.h - one elementwise function of several arrays and numbers, over many rows of arrays, in place.
 *
 * The function is recorded once, with placeholders, and becomes a plan.  Each call launches the plan's kernel for every row
 * and records, plans and hashes nothing again.  The values equal those of recording.  An optimizer's step over all
 * parameters is one call.
 *
 * td_eachfn - owned by its maker; holds no arrays.  All calls are made under the graph's lock.
 */
#ifndef TD_ARRAY_EACH_H
#define TD_ARRAY_EACH_H
#include "array/graph/array.h"

typedef struct td_eachfn td_eachfn;

enum { TD_EACH_ARRAYS = 16, TD_EACH_NUMBERS = 32 };

/* in: nin placeholders, of one axis, or of none (one value for all elements of a row).  num: nnum 0-d numbers.  out: nout
 * results recorded on these; result k is written over in[to[k]] and has its dtype.  TD_ERR_VALUE: a result is not
 * elementwise. */
td_status td_each_new(const td_array *in, int nin, const td_array *num, int nnum, const td_array *out, const int *to,
                      int nout, td_eachfn **result);
void      td_each_free(td_eachfn *e); /* ok on NULL */
int       td_each_inputs(const td_eachfn *e);
int       td_each_numbers(const td_eachfn *e);

/* May td_each_run compute this row of td_each_inputs(e) arrays?  They must be whole arrays of one layout, of the placeholders'
 * dtypes and device; a written array appears once, and no array is pending work that would fuse with the function. */
bool      td_each_fits(const td_eachfn *e, const td_array *const *row);
/* Computes nrow rows that fit; `row` holds their arrays one row after another. */
td_status td_each_run(const td_eachfn *e, const td_array *const *row, int nrow, const double *num);

#endif
