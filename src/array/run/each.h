/* each.h - one elementwise function of several arrays and numbers, over many rows of arrays, in place.
 *
 * What the function computes is recorded once, with placeholders, and becomes a plan whose kernel every call launches for
 * each row: nothing is recorded, collected or hashed again.  The values are those that recording would give; an
 * optimizer's step over all parameters is one call.
 *
 * td_eachfn - owned by who made it; holds no arrays.  All under the graph's lock.
 */
#ifndef TD_ARRAY_EACH_H
#define TD_ARRAY_EACH_H
#include "array/graph/array.h"

typedef struct td_eachfn td_eachfn;

enum { TD_EACH_ARRAYS = 16, TD_EACH_NUMBERS = 32 };

/* in: nin arrays of one axis, or of none: the same for all elements of a row, and nnum numbers, 0-d, which nothing but the recording of out has used; out: nout results, of
 * which the k-th is written over in[to[k]], of its dtype.  TD_ERR_VALUE where they are not elementwise. */
td_status td_each_new(const td_array *in, int nin, const td_array *num, int nnum, const td_array *out, const int *to,
                      int nout, td_eachfn **result);
void      td_each_free(td_eachfn *e); /* ok on NULL */
int       td_each_inputs(const td_eachfn *e);
int       td_each_numbers(const td_eachfn *e);

/* May row, td_each_inputs(e) arrays, be computed by td_each_run?  They are whole, of one layout and of the placeholders'
 * dtypes and device, what is written is nobody else's at the same time, and nothing that would fuse with it is recorded. */
bool      td_each_fits(const td_eachfn *e, const td_array *const *row);
/* Writes nrow rows that fit, one behind the other in row. */
td_status td_each_run(const td_eachfn *e, const td_array *const *row, int nrow, const double *num);

#endif
