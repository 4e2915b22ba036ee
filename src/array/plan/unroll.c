/* unroll.c - reductions over short axes as operations on slices. */
#include "array/plan/unroll.h"

#include "array/graph/reduce.h"
#include "array/plan/plan.h"

enum {
    LONGEST = 16,   /* elements behind a result */
    COSTLIEST = 48, /* operations that take a reduction's place */
    COSTLIEST_ALONG =
        24, /* the same where a thread's elements lie side by side, so that neighbours read apart */
};

/* ---- slices of an expression ---- */

/* td_slicing - takes one index along one axis; on the stack of td_unroll. */
typedef struct slicing {
    int right;  /* the axis, counted from the last one, because shapes broadcast from there */
    int64_t at; /* the index */
    bool keep;  /* the axis stays, with extent 1 */
    td_node *from[TD_WEIGHT_MAX], *to[TD_WEIGHT_MAX]; /* nodes and their slices (references) */
    int n;
} slicing;

static td_view
view_slice(const slicing *s, const td_view *v, int axis)
{
    int64_t at = v->shape.dim[axis] == 1 ? 0 : s->at;
    td_view r = td_view_slice(v, axis, at, 1, 1);

    if (s->keep)
        return r;
    for (int i = axis; i + 1 < r.shape.ndim; i++) {
        r.shape.dim[i] = r.shape.dim[i + 1];
        r.stride[i] = r.stride[i + 1];
    }
    r.shape.ndim--;
    return r;
}

/* An element of a range, rounded as a kernel would. */
static td_status
slice_iota(const slicing *s, const td_node *n, td_node **out)
{
    td_scalar first = n->par[0], step = n->par[1];

    if (n->view.shape.ndim != 1 || s->keep || (td_dtype)n->dt != first.dt)
        return TD_SKIP;
    if (first.dt == TD_I64)
        first.i = (int64_t)((uint64_t)first.i + (uint64_t)s->at * (uint64_t)step.i);
    else if (first.dt == TD_F64)
        first.f[0] += (double)s->at * step.f[0];
    else
        return TD_SKIP;
    return td_node_scalar(n->dev, first, out);
}

static td_status slice(slicing *s, td_node *n, td_node **out);

static td_status
slice_pending(slicing *s, td_node *n, int axis, td_node **out)
{
    td_view v = view_slice(s, &n->view, axis);
    td_node *r, *src;
    td_status st = TD_OK;

    if (n->kind == TD_N_IOTA)
        return slice_iota(s, n, out);
    if ((n->kind != TD_N_OP && n->kind != TD_N_CAST) || n->busy || n->hosted || n->watch)
        return TD_SKIP;
    TD_TRY(td_node_new((td_kind)n->kind, n->dev, (td_dtype)n->dt, &v.shape, &r));
    r->op = n->op;
    r->site = n->site;
    r->in_range = n->in_range;
    for (int i = 0; i < n->nsrc && !st; i++) {
        st = slice(s, n->src[i], &src);
        if (st)
            break;
        td_node_add_src(r, src);
        td_node_unref(src);
    }
    if (st) {
        td_node_unref(r);
        return st;
    }
    td_node_follow(r);
    td_node_seal(r);
    *out = r;
    return TD_OK;
}

/* n at the index, an owned reference; n itself if it has no such axis. */
static td_status
slice(slicing *s, td_node *n, td_node **out)
{
    int axis = n->view.shape.ndim - 1 - s->right;
    td_view v;

    if (axis < 0 || (s->keep && n->view.shape.dim[axis] == 1)) {
        *out = td_node_ref(n);
        return TD_OK;
    }
    for (int i = 0; i < s->n; i++)
        if (s->from[i] == n) {
            *out = td_node_ref(s->to[i]);
            return TD_OK;
        }
    if (n->kind == TD_N_LEAF) {
        v = view_slice(s, &n->view, axis);
        TD_TRY(td_node_leaf(n->buf, (td_dtype)n->dt, &v, out));
    } else {
        TD_TRY(slice_pending(s, n, axis, out));
    }
    if (s->n < TD_WEIGHT_MAX) {
        s->from[s->n] = n;
        s->to[s->n++] = td_node_ref(*out);
    }
    return TD_OK;
}

/* ---- the reduction of slices ---- */

static td_status
cast(td_node *x, td_dtype dt, td_node **out)
{
    if ((td_dtype)x->dt == dt) {
        *out = x;
        return TD_OK;
    }
    return td_node_over(TD_N_CAST, (td_op)0, dt, &x, 1, out);
}

/* May the terms be added in float32?  So few round at most 15 times, as NumPy's do, and threads of a GPU convert to float64 at
 * an eighth of the speed at which they add. */
static bool
adds_narrow(const td_node *r, td_dtype in)
{
    td_dtype out = (td_dtype)r->dt;
    bool sums = (td_red)r->op == TD_RED_sum || (td_red)r->op == TD_RED_mean;

    return sums && td_dev_info(r->dev)->simt && (in == TD_F32 || td_dtype_is_half(in)) &&
           (out == TD_F32 || td_dtype_is_half(out));
}

/* Is it the place of an extreme, of numbers that compare? */
static bool
finds_place(const td_node *r)
{
    td_dtype in = (td_dtype)r->src[0]->dt;

    return ((td_red)r->op == TD_RED_argmin || (td_red)r->op == TD_RED_argmax) && in != TD_BOOL &&
           !td_dtype_is_complex(in);
}

/* What joins two slices, and in which dtype.  OP TD_OPS: the reduction has other accumulators than one number. */
static td_op
join_of(const td_node *r, td_dtype *dt)
{
    td_dtype in = (td_dtype)r->src[0]->dt, out = (td_dtype)r->dt;
    td_red red = (td_red)r->op;

    if (td_red_pair(red, in, out))
        return TD_OPS;
    *dt = adds_narrow(r, in) ? TD_F32 : td_red_acc(red, 0, in, out);
    switch (red) {
    case TD_RED_sum:           return *dt == TD_BOOL ? OP_logical_or : OP_add;
    case TD_RED_mean:          return OP_add;
    case TD_RED_prod:          return *dt == TD_BOOL ? OP_logical_and : OP_multiply;
    case TD_RED_min:           return *dt == TD_BOOL ? OP_logical_and : OP_minimum;
    case TD_RED_max:           return *dt == TD_BOOL ? OP_logical_or : OP_maximum;
    case TD_RED_any:           *dt = TD_BOOL; return OP_logical_or;
    case TD_RED_all:           *dt = TD_BOOL; return OP_logical_and;
    case TD_RED_count_nonzero: *dt = TD_I64; return OP_add;
    case TD_RED_var:
    case TD_RED_std:
    case TD_RED_argmin:
    case TD_RED_argmax:
    case TD_RED_ends:
    case TD_RED_COUNT:         break;
    }
    return TD_OPS;
}

static int64_t
length_of(const td_node *r)
{
    int64_t n = 1;

    for (int i = 0; i < r->src[0]->view.shape.ndim; i++)
        if (r->axes >> i & 1)
            n *= r->src[0]->view.shape.dim[i];
    return n;
}

/* How many operations take the place of r, a pending reduction; 0: it has no slices. */
static int
cost_of(td_node *r)
{
    int64_t n;
    td_dtype dt;
    td_walk w;
    bool place = finds_place(r);

    if (r->kind != TD_N_REDUCE || r->busy || r->hosted || r->watch ||
        (!place && join_of(r, &dt) == TD_OPS))
        return 0;
    n = length_of(r);
    if (n < 2 || n > LONGEST)
        return 0;
    td_walk_under(&w, r->src[0]);
    for (int i = 0; i < w.n; i++) /* a value that is looked at again gets memory of its own */
        if (w.node[i]->named && w.node[i]->computed)
            return 0;
    return (int)n * (w.n + (place ? 5 : 2));
}

/* The elements behind a result as slices, in C order: replaces slices[0], one axis at a time.  Owned references. */
static td_status
slice_all(const td_node *r, td_node *slices[], int *n)
{
    int ndim = r->src[0]->view.shape.ndim, gone = 0;
    bool keep = r->view.shape.ndim == ndim;

    *n = 1;
    slices[0] = td_node_ref(r->src[0]);
    for (int axis = ndim - 1; axis >= 0; axis--) {
        int64_t count = r->src[0]->view.shape.dim[axis];
        int right = ndim - 1 - axis - (keep ? 0 : gone);

        if (!(r->axes >> axis & 1))
            continue;
        gone++;
        for (int i = *n * (int)count - 1; i >= 0;
             i--) { /* slice i reads slice i % n, which is overwritten last */
            slicing s = {.right = right, .at = i / *n, .keep = keep};
            td_node *part = NULL;
            td_status st = slice(&s, slices[i % *n], &part);

            for (int k = 0; k < s.n; k++)
                td_node_unref(s.to[k]);
            if (i < *n)
                td_node_unref(slices[i]);
            slices[i] = part;
            if (st) {
                for (int k = 0; k < i && k < *n; k++)
                    td_node_unref(slices[k]);
                for (int k = i + 1; k < *n * (int)count; k++)
                    td_node_unref(slices[k]);
                return st;
            }
        }
        *n *= (int)count;
    }
    return TD_OK;
}

/* An element as the reduction's accumulators take it; takes over x. */
static td_status
lifted(td_red red, td_node *x, td_dtype dt, td_node **out)
{
    if (red == TD_RED_count_nonzero)
        TD_TRY(cast(x, TD_BOOL, &x));
    return cast(x, dt, out);
}

/* What the reduction makes of the joined elements; takes over sum. */
static td_status
finished(const td_node *r, td_node *sum, int n, td_node **out)
{
    td_red red = (td_red)r->op;
    td_dtype dt = (td_dtype)sum->dt;
    td_scalar zero = {.dt = TD_F64}, count = {.dt = TD_F64, .f = {n}};

    if ((red == TD_RED_sum || red == TD_RED_mean) && td_dtype_is_float(dt))
        TD_TRY(td_node_with(OP_add, dt, sum, zero, &sum)); /* NumPy's sum of -0.0 alone is 0 */
    if (red == TD_RED_mean)
        TD_TRY(td_node_with(OP_divide, dt, sum, count, &sum));
    return cast(sum, (td_dtype)r->dt, out);
}

/* r's value of its slices, whose references it takes over.  n is at least 1. */
static td_status
join_slices(const td_node *r, td_node *slices[], int n, td_node **out)
{
    td_dtype dt = TD_BOOL;
    td_op op = join_of(r, &dt);
    td_node *sum, *x;
    td_status st = lifted((td_red)r->op, slices[0], dt, &sum);

    for (int i = 1; i < n; i++) {
        if (st) {
            td_node_unref(slices[i]);
            continue;
        }
        st = lifted((td_red)r->op, slices[i], dt, &x);
        if (st)
            td_node_unref(sum);
        else
            st = td_node_over(TD_N_OP, op, dt, (td_node *[]){sum, x}, 2, &sum);
    }
    return st ? st : finished(r, sum, n, out);
}

static td_status
joined(td_op op, td_dtype dt, td_node *a, td_node *b, td_node **out)
{
    return td_node_over(TD_N_OP, op, dt, (td_node *[]){a, b}, 2, out);
}

/* Should x, a later element, take the place of best?  It is better, or NaN where best is not. */
static td_status
takes(td_red red, td_node *x, td_node *best, td_node **out)
{
    bool least = red == TD_RED_argmin;
    td_node *number;

    td_node_ref(x);
    td_node_ref(best);
    if (!td_dtype_is_float((td_dtype)x->dt))
        return joined(least ? OP_less : OP_greater, TD_BOOL, x, best, out);
    TD_TRY(joined(least ? OP_greater_equal : OP_less_equal, TD_BOOL, x, best, out));
    TD_TRY(td_node_over(TD_N_OP, OP_logical_not, TD_BOOL, (td_node *[]){*out}, 1, out));
    TD_TRY(joined(OP_equal, TD_BOOL, td_node_ref(best), td_node_ref(best), &number));
    return joined(OP_logical_and, TD_BOOL, *out, number, out);
}

/* The better of best, at `place`, and x, element number i: replaces both; takes over x. */
static td_status
take_better(td_red red, td_node *x, int i, td_node **best, td_node **place)
{
    td_dtype dt = (td_dtype)x->dt;
    td_node *take = NULL, *own = NULL;
    td_status st = takes(red, x, *best, &take);

    if (!st)
        st = td_node_scalar(x->dev, (td_scalar){.dt = TD_I32, .i = i}, &own);
    if (st) {
        td_node_unref(take);
        td_node_unref(x);
        return st;
    }
    td_node_ref(take);
    st = td_node_over(TD_N_OP, OP_select, TD_I32, (td_node *[]){take, own, *place}, 3, place);
    if (!st)
        return td_node_over(TD_N_OP, OP_select, dt, (td_node *[]){take, x, *best}, 3, best);
    td_node_unref(take);
    td_node_unref(x);
    return st;
}

/* The place of the least or the largest slice; takes over their references. */
static td_status
join_places(const td_node *r, td_node *slices[], int n, td_node **out)
{
    td_red red = (td_red)r->op;
    td_dtype dt = td_red_acc(red, 0, (td_dtype)r->src[0]->dt, (td_dtype)r->dt);
    td_node *best = NULL, *place = NULL, *x;
    td_status st = cast(slices[0], dt, &best);

    if (!st)
        st = td_node_scalar(r->dev, (td_scalar){.dt = TD_I32}, &place);
    for (int i = 1; i < n; i++) {
        if (st)
            td_node_unref(slices[i]);
        else if (!(st = cast(slices[i], dt, &x)))
            st = take_better(red, x, i, &best, &place);
    }
    td_node_unref(best);
    if (!st)
        return cast(place, (td_dtype)r->dt, out);
    td_node_unref(place);
    return st;
}

/* TD_SKIP: r's source has no slices. */
static td_status
unroll(td_node *r)
{
    td_node *slices[LONGEST], *value;
    int n;

    TD_TRY(slice_all(r, slices, &n));
    TD_TRY(finds_place(r) ? join_places(r, slices, n, &value) : join_slices(r, slices, n, &value));
    td_node_become(r, value);
    td_node_unref(value);
    return TD_OK;
}

/* Do the elements behind a result of r lie closer together in memory than neighbouring results? */
static bool
lies_along(const td_node *r)
{
    const td_view *v = &r->src[0]->view;
    int64_t least = INT64_MAX;
    bool along = false;

    for (int i = 0; i < v->shape.ndim; i++) {
        int64_t step = v->stride[i] < 0 ? -v->stride[i] : v->stride[i];

        if (v->shape.dim[i] == 1 || !step || step >= least)
            continue;
        least = step;
        along = r->axes >> i & 1;
    }
    return along;
}

/* Do neighbouring results read elements so close together that a CPU's vectors pick them by shuffles? */
static bool
steps_near(const td_node *r)
{
    const td_view *v = &r->src[0]->view;

    for (int i = v->shape.ndim - 1; i >= 0; i--)
        if (!(r->axes >> i & 1) && v->shape.dim[i] > 1)
            return v->stride[i] <= TD_PLAN_NEAR && v->stride[i] >= -TD_PLAN_NEAR;
    return false;
}

/* Is r, a reduction in the kernel of n, better computed as operations?  Not where the kernel would do them four times.  On
 * a CPU kernels of rows read rows of more than a few elements by vectors, and slices of them do not. */
static bool
is_better(const td_node *n, td_node *r)
{
    bool simt = td_dev_info(n->dev)->simt, along = lies_along(r),
         inner = n != r && n->kind == TD_N_REDUCE;
    int64_t total = td_shape_size(inner ? &n->src[0]->view.shape : &n->view.shape);
    int cost = cost_of(r);

    if (!cost || cost > COSTLIEST || td_shape_size(&r->view.shape) * 4 <= total)
        return false;
    if (along && simt)
        return cost <= COSTLIEST_ALONG;
    return !along || inner || steps_near(r);
}

/* The reductions of r's graph that n's kernel may compute, inner ones first. */
static void
find(td_walk *w, td_node *r, const td_node *n, td_node *found[], int *count)
{
    if (!td_node_pending(r) || r->slot || w->n > TD_WALK_MAX)
        return;
    r->slot = 1;
    w->node[w->n++] = r;
    if (r->kind == TD_N_REDUCE && r != n && length_of(r) > LONGEST)
        return;
    for (int i = td_node_looks_up(r); i < r->nsrc; i++)
        find(w, r->src[i], n, found, count);
    if (r->kind == TD_N_REDUCE && length_of(r) <= LONGEST)
        found[(*count)++] = r;
}

td_status
td_unroll_below(td_node *n)
{
    td_node *found[TD_WALK_MAX + 1];
    td_walk w;
    td_status st = TD_OK;
    int count = 0;

    td_walk_begin(&w);
    find(&w, n, n, found, &count);
    td_walk_end(&w);
    for (int i = 0; i < count && (!st || st == TD_SKIP); i++)
        if (is_better(n, found[i]))
            st = unroll(found[i]);
    return st == TD_SKIP ? TD_OK : st;
}
