/* scatter.c - writing by integer arrays.
 *
 * A place that several indices name gets the last value, as in NumPy.  A CPU writes in order, on one thread.  A GPU first
 * finds the last element for each place, by atomic maxima of element numbers into a map with one counter for each possible
 * place (only counters of named places are touched), and then writes those elements alone.
 */
#include "array/graph/array.h"

#include "array/graph/internal.h"
#include "array/run/eval.h"
#include "array/run/now.h"
#include "array/run/spill.h"
#include "base/parallel.h"

typedef struct target {
    const td_array *a;
    const td_pick *p;
    td_shape result, spread;
    td_view view; /* of the result's shape, with stride 0 along the indices' axes */
    bool gpu;
} target;

static td_status
aim(target *t, const td_array *a, const td_pick *p)
{
    int before = p->place, k = 0, rank;

    *t = (target){.a = a, .p = p, .gpu = td_dev_info(td_array_dev(a))->simt};
    if (a->store->readonly)
        return td_fail(TD_ERR_VALUE, "assignment destination is read-only");
    TD_TRY(td_pick_shapes(a, p, &t->result, &t->spread));
    t->view = (td_view){.shape = t->result, .offset = a->view.offset};
    rank = t->result.ndim - (a->view.shape.ndim - p->n);
    for (int i = 0, own = 0; i < a->view.shape.ndim; i++) {
        if (k < p->n && p->axis[k] == i) {
            k++;
            continue;
        }
        t->view.stride[own < before ? own : own + rank] = a->view.stride[i];
        own++;
    }
    return td_pick_check(a, p);
}

/* The value, copied if it reads memory that is about to be written. */
static td_status
detach(td_node **n, const td_buf *buf)
{
    td_node *copy;

    if (!td_eval_reads(*n, buf))
        return TD_OK;
    if (td_node_pending(*n))
        return td_eval_node(*n);
    TD_TRY(td_node_copy(*n, (td_dtype)(*n)->dt, NULL, &copy));
    td_node_unref(*n);
    *n = copy;
    return td_eval_node(copy);
}

/* Writes, and takes over the references in w, also on failure. */
static td_status
write_to(const target *t, td_putting *w)
{
    td_storage *s = t->a->store;
    td_status st = td_storage_eval(s);
    td_writing under;
    td_hold h;

    s->version++;
    td_hold_begin(&h);
    if (!st)
        td_hold_add(s->node);
    if (!st)
        st = detach(&w->value, s->node->buf);
    if (!st)
        st = detach(&w->at, s->node->buf);
    if (!st && w->guard)
        st = detach(&w->guard, s->node->buf);
    if (!st)
        st = td_storage_own(s, NULL);
    if (!st) {
        td_writing_begin(&under, s);
        td_hold_add(s->node);
        st = td_eval_put(w, td_array_dtype(t->a), s->node->buf, &t->view);
        td_writing_end(&under);
    }
    td_hold_end(&h);
    td_node_unref(w->value);
    td_node_unref(w->at);
    td_node_unref(w->guard);
    return st;
}

static td_status
offsets(const target *t, td_node **out)
{
    int64_t step[TD_MAXDIM];
    td_array at;
    td_status st;

    for (int k = 0; k < t->p->n; k++)
        step[k] = t->a->view.stride[t->p->axis[k]];
    TD_TRY(td_pick_sum(t->a, t->p, &t->spread, step, &at));
    st = td_array_node(&at, out);
    td_array_unref(&at);
    return st;
}

/* ---- the last of several ---- */

/* The number of each element's place, and the number of places. */
static td_status
places(const target *t, td_array *out, int64_t *count)
{
    int64_t step[TD_MAXDIM];

    *count = 1;
    for (int k = t->p->n - 1; k >= 0; k--) {
        step[k] = *count;
        *count *= t->a->view.shape.dim[t->p->axis[k]];
    }
    return td_pick_sum(t->a, t->p, &t->spread, step, out);
}

static td_status
number_elements(const target *t, td_dtype dt, td_array *out)
{
    td_scalar zero = {.dt = TD_I64}, one = {.dt = TD_I64, .i = 1};
    td_array flat;
    td_status st;

    TD_TRY(td_array_iota(td_array_dev(t->a), dt, td_shape_size(&t->spread), zero, one, &flat));
    st = td_array_reshape(&flat, &t->spread, out);
    td_array_unref(&flat);
    return st;
}

/* map[place] = op(map[place], value), one element for each of t's indices. */
static td_status
scatter_mark(const target *t, const td_array *map, const td_array *place, td_op op,
             const td_operand *value)
{
    target m = {.a = map, .p = t->p, .view = {.shape = t->spread}, .gpu = true};
    td_putting w = {.how = TD_PUT_FREE, .op = op};
    td_status st = td_operand_node(value, td_array_dev(map), td_array_dtype(map), &w.value);

    if (!st)
        st = td_array_node(place, &w.at);
    if (!st)
        return write_to(&m, &w);
    td_node_unref(w.value);
    return st;
}

/* Is an element the last that names its place? */
static td_status
find_last(const target *t, td_node **guard)
{
    td_operand none = {.scalar = {.dt = TD_I64, .i = -1}};
    td_array place = {0}, map = {0}, number = {0}, last = {0}, is = {0};
    td_pick flat = {.n = 1, .index = {&place}, .trusted = true};
    td_shape s = {.ndim = 1};
    td_dtype dt = td_shape_size(&t->spread) >> 31 ? TD_I64 : TD_I32;
    td_status st;

    TD_TRY(places(t, &place, &s.dim[0]));
    st = td_array_empty(td_array_dev(t->a), dt, &s, &map);
    if (!st)
        st = number_elements(t, dt, &number);
    if (!st)
        st = scatter_mark(t, &map, &place, TD_OPS, &none);
    if (!st)
        st = scatter_mark(t, &map, &place, OP_maximum, &(td_operand){.array = &number});
    if (!st)
        st = td_array_pick(&map, &flat, &last);
    if (!st)
        st = td_array_apply(OP_equal, (td_operand[]){{.array = &last}, {.array = &number}}, 2, &is);
    if (!st)
        st = td_array_node(&is, guard);
    td_array_unref(&place);
    td_array_unref(&map);
    td_array_unref(&number);
    td_array_unref(&last);
    td_array_unref(&is);
    return st;
}

/* ---- the two ways of writing ---- */

static td_status
fits_result(const td_node *value, const target *t)
{
    char have[256], want[256];
    td_view unused;

    if (!td_view_broadcast(&value->view, &t->result, &unused))
        return TD_OK;
    return td_fail(TD_ERR_VALUE,
                   "shape mismatch: value array of shape %s could not be broadcast to indexing "
                   "result of shape %s",
                   td_shape_text(&value->view.shape, have, sizeof have),
                   td_shape_text(&t->result, want, sizeof want));
}

static td_status
put_held(const td_array *a, const td_pick *p, const td_operand *value)
{
    td_putting w = {.op = TD_OPS};
    td_node *n;
    target t;
    td_status st;

    if (!value->array && value->weak == 'i')
        TD_TRY(td_operand_fits(value, td_array_dtype(a)));
    TD_TRY(aim(&t, a, p));
    TD_TRY(td_operand_node(value, td_array_dev(a), td_array_dtype(a), &n));
    st = td_node_fit(n, &t.result, &w.value);
    td_node_unref(n);
    TD_TRY(st);
    st = fits_result(w.value, &t);
    if (st || !td_shape_size(&t.result)) {
        td_node_unref(w.value);
        return st;
    }
    w.how = p->distinct || (t.gpu && td_shape_size(&t.spread) > 1) ? TD_PUT_FREE : TD_PUT_ORDERED;
    if (t.gpu && !p->distinct && td_shape_size(&t.spread) > 1 &&
        td_shape_size(&w.value->view.shape) > 1) /* one value is the last one, too */
        st = find_last(&t, &w.guard);
    if (!st)
        st = offsets(&t, &w.at);
    if (!st)
        return write_to(&t, &w);
    td_node_unref(w.value);
    td_node_unref(w.guard);
    return st;
}

td_status
td_array_put(const td_array *a, const td_pick *p, const td_operand *value)
{
    td_picked k;
    td_status st = td_now_put(a, p, value);

    if (st != TD_SKIP)
        return st;
    TD_TRY(td_picked_begin(p, &k));
    st = put_held(a, &k.p, value);
    td_picked_end(&k);
    return st;
}

/* Do atomic instructions give the operation's result?  Sums of floats depend on the order, which they do not keep. */
static bool
is_atomic(td_op op, td_dtype dt)
{
    bool extreme = op == OP_maximum || op == OP_minimum;

    if (td_dtype_size(dt) < 4 || td_dtype_is_complex(dt))
        return false;
    if (td_dtype_is_float(dt))
        return extreme || (op == OP_add && !td_parallel_fixed());
    return op == OP_add || extreme || op == OP_bitwise_and || op == OP_bitwise_or ||
           op == OP_bitwise_xor;
}

td_status
td_put_loop(const td_array *a, td_op *op, const td_operand *value, td_dtype *dt)
{
    td_operand x[2] = {{.array = a}, *value};

    TD_ASSERT(td_optab[*op].arity <= 2);
    TD_TRY(td_op_dtype(*op, x, 0, td_optab[*op].arity, dt));
    return td_op_loop(op, dt);
}

static td_status
put_op_held(const td_array *a, const td_pick *p, td_op op, const td_operand *value)
{
    td_putting w = {0};
    td_node *n;
    td_dtype dt;
    target t;
    td_status st;

    TD_TRY(td_put_loop(a, &op, value, &dt));
    TD_TRY(aim(&t, a, p));
    if (t.gpu && !p->distinct && (!is_atomic(op, dt) || dt != td_array_dtype(a)))
        return TD_SKIP;
    w.op = op;
    w.how = t.gpu && !p->distinct ? TD_PUT_FREE : TD_PUT_ORDERED;
    TD_TRY(td_operand_node(value, td_array_dev(a), dt, &n)); /* of a unary operation: not read */
    st = td_node_copy(n, dt, NULL, &w.value);
    td_node_unref(n);
    TD_TRY(st);
    st = fits_result(w.value, &t);
    if (!st && td_shape_size(&t.result))
        st = offsets(&t, &w.at);
    if (!st && td_shape_size(&t.result))
        return write_to(&t, &w);
    td_node_unref(w.value);
    return st;
}

td_status
td_array_put_op(const td_array *a, const td_pick *p, td_op op, const td_operand *value)
{
    td_picked k;
    td_status st;

    TD_TRY(td_picked_begin(p, &k));
    st = put_op_held(a, &k.p, op, value);
    td_picked_end(&k);
    return st;
}
