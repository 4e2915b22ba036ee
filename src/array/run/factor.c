/* factor.c - arrays for the device's solver library: memory of the right size, dtype and layout. */
#include "array/run/factor.h"
#include "array/graph/array.h"
#include "array/run/spill.h"

static td_status
check(const td_array *a, const td_solver_array *want, const td_solver *j, int i)
{
    if (td_array_dtype(a) != want->dt || td_array_size(a) != want->count * j->batch ||
        !td_view_is_contiguous(&a->view))
        return td_fail(TD_ERR_VALUE, "solver: array %d is not %lld elements of %s in C order", i,
                       (long long)(want->count * j->batch), td_dtype_name(want->dt));
    return TD_OK;
}

/* Finds the arrays' memory.  Written arrays come first, because making their memory their own may run kernels. */
static td_status
hold(td_solver *j, const td_array *const *a, const td_solver_array *want, int n, td_buf **buf)
{
    for (int i = 0; i < n; i++)
        if (want[i].written)
            TD_TRY(td_array_use(a[i], true, &buf[i]));
    for (int i = 0; i < n; i++) {
        TD_TRY(td_array_use(a[i], want[i].written, &buf[i]));
        j->at[i] = buf[i]->ptr + (uintptr_t)a[i]->view.offset * td_dtype_size(want[i].dt);
    }
    return TD_OK;
}

/* Makes tables of the addresses of a batch's matrices, for the arrays that the library wants so; out: {0} for others. */
static td_status
list_addresses(td_solver *j, td_dev *dev, const td_solver_array *want, int n, td_array *out)
{
    for (int i = 0; i < n; i++) {
        td_scalar from = {.dt = TD_I64, .i = (int64_t)j->at[i]};
        td_scalar step = {.dt = TD_I64, .i = want[i].count * (int64_t)td_dtype_size(want[i].dt)};
        td_buf *buf;

        if (!want[i].listed)
            continue;
        TD_TRY(td_array_iota(dev, TD_I64, j->batch, from, step, &out[i]));
        TD_TRY(td_array_use(&out[i], false, &buf));
        j->addresses[i] = buf->ptr;
    }
    return TD_OK;
}

/* Runs the job with the graph's lock given up.  Its buffers are held. */
static td_status
factor_run(td_solver *j, td_dev *dev, td_buf *const *buf, int n)
{
    void *token;
    td_status st;

    for (int i = 0; i < n; i++)
        (void)td_buf_ref(buf[i]);
    token = td_graph_unlock();
    st = td_solver_run(td_dev_stream(dev), j);
    td_graph_lock(token);
    for (int i = 0; i < n; i++)
        td_buf_unref(buf[i]);
    return st;
}

td_status
td_array_factor(td_solver *j, const td_array *const *a, int n)
{
    td_solver_array want[TD_SOLVER_ARRAYS];
    td_buf *buf[TD_SOLVER_ARRAYS] = {NULL};
    td_array addresses[TD_SOLVER_ARRAYS] = {{0}};
    td_dev *dev = td_array_dev(a[0]);
    td_status st;
    td_hold h;

    TD_TRY(td_solver_check(j));
    TD_TRY(td_solver_can(dev, j->op));
    if (td_solver_arrays(j, want) != n)
        return td_fail(TD_ERR_VALUE, "solver: %d arrays, not %d", n, td_solver_arrays(j, want));
    for (int i = 0; i < n; i++) {
        TD_TRY(check(a[i], &want[i], j, i));
        TD_TRY(td_one_device("solver", dev, td_array_dev(a[i])));
    }
    if (!j->batch || !want[0].count)
        return TD_OK;
    td_hold_begin(&h);
    st = hold(j, a, want, n, buf);
    if (!st)
        st = list_addresses(j, dev, want, n, addresses);
    if (!st)
        st = factor_run(j, dev, buf, n);
    td_hold_end(&h);
    for (int i = 0; i < n; i++)
        td_array_unref(&addresses[i]);
    return st;
}
