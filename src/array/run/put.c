/* put.c - evaluation into memory that is there already: assignments, scatters, fills. */
#include "array/form/map.h"
#include "array/run/settle.h"

static td_status
add_putting(td_plan *p, const td_putting *w, uint16_t *step)
{
    TD_TRY(td_plan_add(p, w->value, step));
    if (!w->at)
        return TD_OK;
    p->put = (uint8_t)w->how;
    p->put_op = (uint16_t)w->op;
    p->put_guard = TD_PLAN_NOSTEP;
    TD_TRY(td_plan_add(p, w->at, &p->put_at));
    return w->guard ? td_plan_add(p, w->guard, &p->put_guard) : TD_OK;
}

/* One kernel for the write.  With `all` its value, positions and guard are in memory.  TD_SKIP: they do not fit one kernel. */
static td_status
put_once(td_need *need, const td_putting *w, td_dtype dt, td_buf *buf, const td_view *view,
         bool all)
{
    uint16_t step;
    td_status st;
    td_plan p;

    TD_TRY(td_settle_putting(need, w, td_shape_size(&view->shape), all));
    td_plan_begin(&p, buf->dev, &view->shape);
    st = add_putting(&p, w, &step);
    if (!st)
        st = td_plan_store(&p, step, dt, buf, view, NULL);
    if (!st && !w->at) {
        st = td_plan_keep(&p, w->value);
        if (st == TD_ERR_OOM) /* what finds no memory is computed again when it is needed */
            st = TD_OK;
    }
    if (!st) {
        td_settle_beside(&p, NULL, true);
        st = td_eval_map(&p);
        if (!st)
            td_plan_settle(&p);
        td_settle_beside(&p, NULL, false);
    }
    td_plan_end(&p);
    return st;
}

td_status
td_eval_put(const td_putting *w, td_dtype dt, td_buf *buf, const td_view *view)
{
    td_need need;
    td_status st;

    td_need_begin(&need);
    st = put_once(&need, w, dt, buf, view, false);
    if (st == TD_SKIP || (st == TD_ERR_OOM && td_spill_on(buf->dev)))
        st = put_once(&need, w, dt, buf, view, true);
    td_need_end(&need);
    td_eval_count_kernel();
    return st;
}

td_status
td_eval_into(td_node *n, td_dtype dt, td_buf *buf, const td_view *view)
{
    return td_eval_put(&(td_putting){.value = n}, dt, buf, view);
}

td_status
td_eval_fill(td_buf *out, td_scalar value, int64_t count)
{
    td_shape shape = {.ndim = 1, .dim = {count}};
    td_view v = td_view_contiguous(&shape);
    td_node *n;
    td_status st;

    TD_TRY(td_node_scalar(out->dev, value, &n));
    st = td_eval_into(n, value.dt, out, &v);
    td_node_unref(n);
    return st;
}
