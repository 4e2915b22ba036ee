/* cudafn.c - the grid, shared and local arrays, barriers, atomics. */
#include "front/intrin.h"

#include <string.h>

/* row: 4 * {thread, block, block's size, grid's size} + axis. */
td_status
fn_index(walk *w, const call *c, int number, thing *out)
{
    static const td_op op[] = {OP_tid, OP_bid, OP_bdim, OP_gdim};
    int row = td_intrinsics[number].row;

    (void)c;
    *out = num_index(td_cast(w->f, td_index(w->f, op[row / 4], row % 4), TD_I64), true);
    return TD_OK;
}

static td_val
index64(walk *w, td_op op, int axis)
{
    return td_cast(w->f, td_index(w->f, op, axis), TD_I64);
}

/* grid(n): the thread's place in the grid; gridsize(n): threads of the grid. */
td_status
fn_grid(walk *w, const call *c, int number, thing *out)
{
    bool size = td_intrinsics[number].row;
    int64_t n;
    thing item[3];

    TD_TRY(want_args(w, c, size ? "gridsize" : "grid", 1, 1));
    if (!known_int(c->arg, &n) || n < 1 || n > 3)
        return bad(w, c->node, TD_ERR_VALUE, "%s takes 1, 2 or 3, written out",
                   size ? "gridsize" : "grid");
    for (int axis = 0; axis < n; axis++) {
        td_val v = TD_E2(w->f, multiply, index64(w, size ? OP_gdim : OP_bid, axis),
                         index64(w, OP_bdim, axis));

        if (!size)
            v = TD_E2(w->f, add, v, index64(w, OP_tid, axis));
        item[axis] = num_index(v, true);
    }
    *out = n == 1 ? item[0] : tuple_of(w, item, (uint32_t)n);
    return built(w, c->node);
}

td_status
fn_syncthreads(walk *w, const call *c, int number, thing *out)
{
    (void)number;
    TD_TRY(want_args(w, c, "syncthreads", 0, 0));
    *out = (thing){.type = td_type_none()};
    td_barrier(w->f);
    w->made->barrier = true;
    return built(w, c->node);
}

/* ---- arrays of the block and of the thread ---- */

static td_status
element_type(walk *w, const call *c, const thing *x, const td_type **out)
{
    td_objinfo info = {0};

    if (x && x->type->kind == TD_T_OBJECT)
        TD_TRY(w->host->describe(w->host->ctx, x->type->object, &info));
    if (info.kind != TD_OBJ_TYPE || (info.type->kind != TD_T_NUM && info.type->kind != TD_T_RECORD))
        return bad(w, c->node, TD_ERR_TYPE, "the array needs a dtype that is known when compiling");
    *out = info.type->weak ? td_type_num(info.type->dt) : info.type;
    return TD_OK;
}

static td_status
array_shape(walk *w, const call *c, const thing *x, dim *shape, uint32_t *ndim, uint64_t *count)
{
    const thing *item = x;

    *ndim = 1;
    *count = 1;
    if (x && x->type->kind == TD_T_TUPLE) {
        *ndim = x->type->n;
        item = x->item;
    }
    if (!x || *ndim > TD_MAXDIM_KERNEL)
        return bad(w, c->node, TD_ERR_TYPE,
                   "the array needs a shape: an integer or a tuple of at most %d",
                   TD_MAXDIM_KERNEL);
    for (uint32_t i = 0; i < *ndim; i++) {
        int64_t n;

        if (!known_int(&item[i], &n) || n < 0)
            return bad(
                w, c->node, TD_ERR_TYPE,
                "the array's shape must be known when compiling: use a constant or a global");
        shape[i] = dim_known(n);
        *count *= (uint64_t)n;
    }
    return TD_OK;
}

td_status
fn_array(walk *w, const call *c, int number, thing *out)
{
    int space = td_intrinsics[number].row;
    const thing *shape_arg = arg_or_kw(c, 0, "shape"), *dtype = arg_or_kw(c, 1, "dtype");
    const td_type *e = NULL;
    dim shape[TD_MAXDIM_KERNEL];
    uint32_t ndim;
    uint64_t count;
    td_dtype dt;
    td_val base;

    TD_TRY(element_type(w, c, dtype, &e));
    TD_TRY(array_shape(w, c, shape_arg, shape, &ndim, &count));
    dt = e->kind == TD_T_RECORD ? TD_U8 : td_dtype_real_of(e->dt);
    count *= td_type_size(e) / td_dtype_size(dt);
    if (space == SPACE_SHARED && count == 0)
        base = td_dynamic(w->f, dt);
    else if (space == SPACE_SHARED)
        base = td_shared(w->f, dt, count);
    else
        base = td_local(w->f, dt, count ? count : 1);
    if (space == SPACE_SHARED)
        w->made->shared += (uint32_t)(count * td_dtype_size(dt));
    *out = array_thing(w, e, ndim, shape, base, space, NULL);
    return built(w, c->node);
}

/* ---- atomics ---- */

td_status
fn_atomic(walk *w, const call *c, int number, thing *out)
{
    td_op op = (td_op)td_intrinsics[number].row;
    const td_type *e = NULL;
    td_val old, index;
    thing to;

    TD_TRY(want_args(w, c, "an atomic operation", 3, 3));
    if (c->arg[0].type->kind != TD_T_ARRAY)
        return bad(w, c->node, TD_ERR_TYPE,
                   "atomic operations work on elements of arrays, not on %s", c->arg[0].type->name);
    TD_TRY(element_view(w, &c->arg[0], &c->arg[1], c->node, &to));
    e = to.type->item[0];
    if (to.type->ndim || e->kind != TD_T_NUM || td_dtype_is_complex(e->dt))
        return bad(w, c->node, TD_ERR_TYPE, "atomic operations work on one number, not on %s",
                   to.type->name);
    if (to.type->readonly)
        return bad(w, c->node, TD_ERR_TYPE, "%s is read-only",
                   to.view->name ? to.view->name : "the array");
    note_alias(w, to.view);
    index = to.view->offset.i == UINT32_MAX ? td_const_int(w->f, TD_I64, 0) : to.view->offset;
    old = td_atomic(w->f, op, to.view->base, index, val_as(w, &c->arg[2], e->dt), to.view->mask);
    *out = num_val(e->dt, old);
    return built(w, c->node);
}
