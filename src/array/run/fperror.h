/* fperror.h - floating-point errors in the values of threads that ask for them (numpy.errstate).
 *
 * Kernels set no flags that the host could read, so results are compared with their operands.  An operation that a watching
 * thread records is evaluated and checked at once; one over sources on the host is checked when it is evaluated (td_node's
 * watch).  In a capture nothing is checked.
 */
#ifndef TD_ARRAY_FPERROR_H
#define TD_ARRAY_FPERROR_H
#include "array/graph/values.h"

typedef enum td_fperr {
    TD_FP_DIVIDE = 1,  /* finite operands give infinity at a pole; an integer is divided by zero */
    TD_FP_OVER = 2,    /* finite operands give infinity elsewhere */
    TD_FP_UNDER = 4,   /* the result is subnormal */
    TD_FP_INVALID = 8, /* numbers give NaN; a cast gives an integer that is out of range */
} td_fperr;

enum { TD_FP_ALL = 15, TD_FP_RAISE = 4 }; /* a kind shifted by so many bits raises an error whoever listens */

void td_fp_watch(uint8_t kinds); /* the calling thread watches these kinds from now on; 0: none */

/* Called with the graph's lock for each kind found in an operation; the operation ends with what it returns. */
typedef td_status td_fp_found(td_fperr kind, const char *op, bool raises);
void td_fp_on_found(td_fp_found *fn); /* NULL: TD_ERR_FLOAT */

/* Evaluates and checks each pending node below n, and n itself, that still has a watch, and clears the watch.  For callers
 * that are about to evaluate n or a part of it. */
td_status td_fp_check(td_node *n);
/* Checks `out`, the result of an operation on `in` that is no node. */
td_status td_fp_check_result(const char *op, const td_array *const *in, int nin, const td_array *out);

#endif
