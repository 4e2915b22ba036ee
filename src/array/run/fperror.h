/* fperror.h - floating-point errors, looked for in values where a thread asks for it.
 *
 * Kernels set no flags that a host could read: what was computed is compared with what it was computed from.  An
 * operation that is recorded while the thread watches is evaluated and checked at once; one over sources on the
 * host keeps the wish (td_node's watch) until it is evaluated.  In a capture nothing is checked.
 */
#ifndef TD_ARRAY_FPERROR_H
#define TD_ARRAY_FPERROR_H
#include "array/graph/values.h"

typedef enum td_fperr {
    TD_FP_DIVIDE = 1,  /* infinity of finite numbers, at a pole; an integer divided by zero */
    TD_FP_OVER = 2,    /* infinity of finite numbers otherwise */
    TD_FP_UNDER = 4,   /* less than the least normal number */
    TD_FP_INVALID = 8, /* NaN of numbers; an integer of what is none, or out of its range */
} td_fperr;

enum { TD_FP_ALL = 15, TD_FP_RAISE = 4 }; /* bits to shift a kind by: to be told as an error in any case */

void td_fp_watch(uint8_t kinds); /* of the thread, from now on */

/* Told of what was found in an operation; what it returns the operation ends with.  With the graph's lock. */
typedef td_status td_fp_found(td_fperr kind, const char *op, bool raises);
void td_fp_on_found(td_fp_found *fn); /* NULL: TD_ERR_FLOAT */

/* All pending nodes under n and n itself that have a watch: they are checked, and have none any more.  For those who are
 * about to evaluate n, or a part of it. */
td_status td_fp_check(td_node *n);
/* The result of an operation that is no node, as `out`, of `in`. */
td_status td_fp_check_result(const char *op, const td_array *const *in, int nin, const td_array *out);

#endif
