/* eval.h - evaluation, as the rooms run/ and outofcore/ see it; lower rooms see array/graph/values.h. */
#ifndef TD_ARRAY_EVAL_H
#define TD_ARRAY_EVAL_H
#include "array/graph/values.h"
#include "array/plan/plan.h"

/* td_putting - a write of `value` through a view.  Nodes broadcast to the view's shape; borrowed. */
typedef struct td_putting {
    td_node  *value;
    td_node  *at;    /* int64: elements behind the view's own element that value is written to; NULL: 0, and no guard or op */
    td_node  *guard; /* bool: where to write; NULL: everywhere */
    td_puthow how;
    td_op     op;    /* memory becomes op(memory, value); TD_OPS: it becomes value */
} td_putting;

/* Writes elements of dt into buf through `view`. */
td_status td_eval_put(const td_putting *w, td_dtype dt, td_buf *buf, const td_view *view);

/* Does evaluating n read buf? */
bool td_eval_reads(td_node *n, const td_buf *buf);

/* Does evaluating n read buf in another way than element by element of dt through `view`? */
bool td_eval_conflicts(td_node *n, td_dtype dt, const td_buf *buf, const td_view *view);

/* Counts a kernel for td_eval_stats. */
void td_eval_count_kernel(void);

#endif
