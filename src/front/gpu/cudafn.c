/* cudafn.c - indices of the grid, and shared and local arrays. */
#include "front/infer/intrin.h"

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

/* ---- arrays of the block and of the thread ---- */

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

/* The next multiple of `align` bytes from base on; the caller has reserved room for it. */
static td_val
aligned(walk *w, td_val base, uint32_t align, td_dtype dt)
{
    td_val over = TD_E2(w->f, subtract, td_const_int(w->f, TD_U64, 0), td_address(w->f, base));

    over = TD_E2(w->f, bitwise_and, over, td_const_int(w->f, TD_U64, align - 1));
    return td_at_byte(w->f, base, td_cast(w->f, over, TD_I64), dt);
}

enum { ALIGNED = 16 }; /* the alignment that engines and targets give every array */

/* The keywords alignment and layout. */
static td_status
array_options(walk *w, const call *c, uint32_t *align, char *layout)
{
    const thing *a = arg_or_kw(c, 2, "alignment"), *l = arg_or_kw(c, 3, "layout");
    td_objinfo info = {0};
    int64_t n = 1;

    if (a && !is_none(a) && (!known_int(a, &n) || n < 1 || n > 1024 || (n & (n - 1))))
        return bad(w, c->node, TD_ERR_VALUE,
                   "alignment is a power of two from 1 to 1024 that is known when compiling");
    *align = (uint32_t)n;
    *layout = 'C';
    if (!l)
        return TD_OK;
    if (l->type->kind == TD_T_OBJECT)
        TD_TRY(w->host->describe(w->host->ctx, l->type->object, &info));
    if (info.kind != TD_OBJ_STR || (strcmp(info.text, "C") != 0 && strcmp(info.text, "F") != 0))
        return bad(w, c->node, TD_ERR_VALUE, "layout is 'C' or 'F'");
    *layout = *info.text;
    return TD_OK;
}

/* An array at base, in C or F order. */
static td_status
array_at(walk *w, const call *c, const td_type *e, uint32_t ndim, const dim *shape, char layout,
         td_val base, int space, thing *out)
{
    *out = array_thing(w, e, ndim, shape, base, space, NULL);
    if (layout == 'F' && e->kind == TD_T_RECORD)
        return bad(w, c->node, TD_ERR_TYPE, "arrays of records are in C order in kernels");
    if (layout == 'F')
        out->type = td_type_array(e, ndim, 'F', false);
    return built(w, c->node);
}

/* All of the launch's dynamic shared memory, as elements of type e. */
static td_status
whole_dynamic(walk *w, const call *c, const td_type *e, td_dtype dt, thing *out)
{
    td_val bytes = td_cast(w->f, hidden_address(w, TD_HIDDEN_SHARED), TD_I64), n;
    dim shape;

    if (w->made->dynamic < td_type_size(e))
        w->made->dynamic = td_type_size(e);
    w->made->sized = false;
    n = TD_E2(w->f, floor_divide, bytes, td_const_int(w->f, TD_I64, td_type_size(e)));
    shape = dim_of(n);
    return array_at(w, c, e, 1, &shape, 'C', td_dynamic(w->f, dt), SPACE_SHARED, out);
}

td_status
fn_array(walk *w, const call *c, int number, thing *out)
{
    int space = td_intrinsics[number].row;
    const thing *shape_arg = arg_or_kw(c, 0, "shape"), *dtype = arg_or_kw(c, 1, "dtype");
    const td_type *e = NULL;
    dim shape[TD_MAXDIM_KERNEL];
    uint32_t ndim = 0, align = 1;
    uint64_t count = 0;
    char layout = 'C';
    td_dtype dt;
    td_val base;

    TD_TRY(as_dtype(w, dtype, c->node, &e));
    TD_TRY(array_shape(w, c, shape_arg, shape, &ndim, &count));
    TD_TRY(array_options(w, c, &align, &layout));
    dt = e->kind == TD_T_RECORD ? TD_U8 : td_dtype_real_of(e->dt);
    if (space == SPACE_SHARED && count == 0 && ndim == 1)
        return whole_dynamic(w, c, e, dt, out);
    count *= td_type_size(e) / td_dtype_size(dt);
    if (align > ALIGNED)
        count += align / td_dtype_size(dt);
    count = count ? count : 1;
    base = space == SPACE_SHARED ? td_shared(w->f, dt, count) : td_local(w->f, dt, count);
    if (space == SPACE_SHARED)
        w->made->shared += (uint32_t)(count * td_dtype_size(dt));
    if (align > ALIGNED)
        base = aligned(w, base, align, dt);
    return array_at(w, c, e, ndim, shape, layout, base, space, out);
}

/* ---- dynamic shared memory in parts ---- */

/* Is the region that computed v still open, so that v can be used? */
static bool
visible(const walk *w, td_val v)
{
    int depth = 0;

    for (uint32_t i = v.i + 1; i < w->f->n; i++) {
        unsigned op = w->f->ins[i].op;

        depth += op == OP_end || op == OP_else ? -1 : 0;
        if (depth < 0)
            return false;
        depth += op == OP_else || td_op_opens(op) ? 1 : 0;
    }
    return true;
}

/* Reads a shape whose extents may be unknown until the program runs; *count: their product. */
static td_status
dynamic_shape(walk *w, const call *c, const thing *x, dim *shape, uint32_t *ndim, dim *count)
{
    const thing *item = x && x->type->kind == TD_T_TUPLE ? x->item : x;
    int64_t k;

    *ndim = x && x->type->kind == TD_T_TUPLE ? x->type->n : 1;
    *count = dim_known(1);
    if (!x || *ndim > TD_MAXDIM_KERNEL)
        return bad(w, c->node, TD_ERR_TYPE,
                   "the array needs a shape: an integer or a tuple of them");
    for (uint32_t i = 0; i < *ndim; i++) {
        if (!is_int(&item[i]))
            return bad(w, c->node, TD_ERR_TYPE, "a shape has integers, not %s", item[i].type->name);
        shape[i] = dim_of_thing(w, &item[i]);
        if (known_int(&item[i], &k) && (k < 0 || k > INT32_MAX))
            return bad(w, c->node, TD_ERR_VALUE, "shared memory has no room for an extent of %lld",
                       (long long)k);
        if (shape[i].known >= 0 && count->known >= 0 && count->known <= INT32_MAX)
            count->known *= shape[i].known;
        else
            *count = dim_of(TD_E2(w->f, multiply, dim_val(w, count), dim_val(w, &shape[i])));
    }
    return TD_OK;
}

/* Checks that the launch has `end` bytes of dynamic shared memory.  Each thread checks, since the size is known too
 * late to refuse the launch. */
static td_status
check_dynamic(walk *w, const call *c, const char *name, const dim *shape, uint32_t ndim, td_val end)
{
    td_val given = td_cast(w->f, hidden_address(w, TD_HIDDEN_SHARED), TD_I64);
    uint32_t site = site_new(w, TD_REPORT_INDEX, c->node, name);
    thing value[TD_REPORT_VALUES] = {num_int(0), num_index(end, true)};
    uint32_t n = 2;

    for (uint32_t i = 0; i < ndim && n < TD_REPORT_VALUES; i++)
        value[n++] = dim_thing(&shape[i]);
    td_if(w->f, TD_E2(w->f, greater, end, given));
    TD_TRY(report_fail(w, site, value, n));
    thread_end(w);
    td_end(w->f);
    return built(w, c->node);
}

/* The end, in bytes, of a part of `count` elements after the part `up`; -1: only a launch knows it. */
static int64_t
part_end(const dynpart *up, const dim *count, const td_type *e)
{
    int64_t start = up ? up->bytes : 0;

    if (start < 0 || count->known < 0)
        return -1;
    return (start + ALIGNED - 1) / ALIGNED * ALIGNED + count->known * (int64_t)td_type_size(e);
}

/* shared.dynamic(name, shape, dtype): a separate part of the launch's dynamic shared memory, after the parts requested
 * before.  The same name gives the same part again. */
td_status
fn_dynamic(walk *w, const call *c, int number, thing *out)
{
    const thing *name = arg_or_kw(c, 0, "name"), *dtype = arg_or_kw(c, 2, "dtype");
    const td_type *e = NULL;
    td_objinfo info = {0};
    dim shape[TD_MAXDIM_KERNEL];
    td_val start, end;
    dim count;
    uint32_t ndim;
    int64_t bytes;
    dynpart *p, *last = w->parts;
    td_dtype dt;

    (void)number;
    if (name && name->type->kind == TD_T_OBJECT)
        TD_TRY(w->host->describe(w->host->ctx, name->type->object, &info));
    if (info.kind != TD_OBJ_STR)
        return bad(w, c->node, TD_ERR_TYPE,
                   "shared.dynamic takes a name, a constant string: "
                   "shared.dynamic(\"tile\", (n, m), float32)");
    TD_TRY(as_dtype(w, dtype, c->node, &e));
    TD_TRY(dynamic_shape(w, c, arg_or_kw(c, 1, "shape"), shape, &ndim, &count));
    for (p = w->parts; p && strcmp(p->name, info.text) != 0; p = p->up)
        ;
    if ((p && !visible(w, p->start)) || (!p && last && !visible(w, last->end)))
        return bad(w, c->node, TD_ERR_TYPE,
                   "shared.dynamic(\"%s\", …) follows one that stands under a condition or in a "
                   "loop: ask for all parts at the beginning of the kernel",
                   info.text);
    dt = e->kind == TD_T_RECORD ? TD_U8 : td_dtype_real_of(e->dt);
    start = p ? p->start : last ? last->end : td_const_int(w->f, TD_I64, 0);
    end = TD_E2(w->f, multiply, dim_val(w, &count), td_const_int(w->f, TD_I64, td_type_size(e)));
    end = TD_E2(w->f, add, start, end);
    bytes = part_end(p ? p->up : last, &count, e);
    if (bytes < 0 || w->how->debug)
        TD_TRY(check_dynamic(w, c, info.text, shape, ndim, end));
    if (bytes < 0)
        w->made->sized = false;
    else if (w->made->dynamic < (uint64_t)bytes)
        w->made->dynamic = (uint64_t)bytes;
    if (!p) { /* the next part begins at a multiple of 16 bytes */
        end = TD_E2(w->f, add, end, td_const_int(w->f, TD_I64, ALIGNED - 1));
        end = TD_E2(w->f, bitwise_and, end, td_const_int(w->f, TD_I64, -ALIGNED));
        p = td_alloc(w->mem, sizeof *p);
        *p = (dynpart){last, info.text, start, end, bytes};
        w->parts = p;
    }
    return array_at(w, c, e, ndim, shape, 'C', td_at_byte(w->f, td_dynamic(w->f, dt), start, dt),
                    SPACE_SHARED, out);
}

/* const.array_like(a): a, an array of the program, which launches pass as a hidden argument. */
td_status
fn_const_like(walk *w, const call *c, int number, thing *out)
{
    (void)number;
    TD_TRY(want_args(w, c, "const.array_like", 1, 1));
    *out = c->arg[0];
    if (out->type->kind != TD_T_ARRAY)
        return bad(w, c->node, TD_ERR_TYPE,
                   "const.array_like takes a NumPy array of the program, not %s", out->type->name);
    return TD_OK;
}

/* ---- the grid as a whole ---- */

td_status
fn_this_grid(walk *w, const call *c, int number, thing *out)
{
    (void)number;
    TD_TRY(want_args(w, c, "this_grid", 0, 0));
    *out = (thing){.type = td_type_iter(ITER_GRID, NULL, 0)};
    return TD_OK;
}

td_status
group_method(walk *w, const thing *group, const char *name, const call *c, thing *out)
{
    (void)group;
    if (strcmp(name, "sync") != 0)
        return bad(w, c->node, TD_ERR_VALUE, "the grid has no method %s, only sync()", name);
    TD_TRY(want_args(w, c, "sync", 0, 0));
    td_grid_barrier(w->f, td_pointer(w->f, hidden_address(w, TD_HIDDEN_GRID), TD_U32));
    w->made->cooperative = true;
    *out = (thing){.type = td_type_none()};
    return built(w, c->node);
}
