/* eval.h - evaluation of nodes, inside the array layer. */
#ifndef TD_ARRAY_EVAL_H
#define TD_ARRAY_EVAL_H
#include "array/graph/values.h"
#include "array/plan/plan.h"

/* n, which waits, is evaluated by the caller from now on: other threads that need it wait.  False: another one is at it. */
bool      td_eval_claim(td_node *n);
void      td_eval_release(td_node *n);
bool      td_eval_is_taken(const td_node *n); /* by a claim, or evaluated */
/* Is another thread's kernel for n under way, which may write over what it reads?  Then n's sources are not for reading. */
bool      td_eval_running(const td_node *n);

/* What td_eval_put writes: op(memory, value), or with op TD_OPS value, `at` elements behind an element of the
 * view (NULL: there itself, value alone), where guard (NULL: everywhere).  The nodes broadcast to the view's shape. */
typedef struct td_putting {
    td_node  *value, *at, *guard;
    td_puthow how;
    td_op     op;
} td_putting;

td_status td_eval_put(const td_putting *w, td_dtype dt, td_buf *buf, const td_view *view);

/* Does evaluating n read buf? */
bool td_eval_reads(td_node *n, const td_buf *buf);

/* Does evaluating n read buf, other than element by element of dt through `view`? */
bool td_eval_conflicts(td_node *n, td_dtype dt, const td_buf *buf, const td_view *view);

#endif
