/* runs.c - a[i] = op(a[i], value) for sorted i: a thread takes one element of one run of equal places, in order.
 *
 * For operations without an atomic instruction, and for floats, whose sums depend on the order: runs are added in the order
 * of the indices, as in NumPy, on every device.
 */
#include "array/form/launch.h"
#include "array/graph/array.h"
#include "array/graph/internal.h"
#include "array/run/eval.h"
#include "array/run/spill.h"

enum { BLOCK = 128 };

typedef struct form {
    td_dtype dt, work;
    td_op op;
} form;

static td_val
compute(td_fn *f, td_val v)
{
    td_dtype dt = f->st ? TD_BOOL : (td_dtype)td_at(f, v)->dt;

    return td_dtype_is_half(dt) ? td_cast(f, v, TD_F32) : v;
}

/* Adds one run of equal places to acc.  acc has memory's dtype, so each step rounds as a write to memory would. */
static void
run_of(td_fn *f, const form *d, td_val acc, td_val i, const td_val p[4], td_val s,
       const td_val n[2])
{
    td_val at = p[0], order = p[1], value = p[2], k = td_slot(f, TD_I64, 1), from, v, old, next;
    td_val one = td_const_int(f, TD_I64, 1), own = td_load(f, at, i, TD_NONE, 1, 0);

    td_set(f, k, i);
    td_loop(f);
    from = td_load(f, order, td_get(f, k), TD_NONE, 1, 0);
    v = td_load(f, value, TD_E2(f, add, TD_E2(f, multiply, from, n[1]), s), TD_NONE, 1, 0);
    old = td_cast(f, td_get(f, acc), d->work);
    v = td_emit(f, d->op, (td_val[]){compute(f, old), compute(f, v)});
    td_set(f, acc, td_cast(f, td_cast(f, v, d->work), d->dt));
    next = TD_E2(f, add, td_get(f, k), one);
    td_set(f, k, next);
    td_break_if(f, TD_E2(f, greater_equal, next, n[0]));
    td_break_if(f, TD_E2(f, not_equal, td_load(f, at, next, TD_NONE, 1, 0), own));
    td_end(f);
}

/* Parameters: at, order, value, inner, memory; runs of n elements, elements a row. */
static td_status
build(void *ctx, td_fn *f)
{
    const form *d = ctx;
    td_val p[4], n[2], mem, e, i, s, place, acc, first, total;
    td_val zero, one, block;

    p[0] = td_param_ptr(f, TD_I64);
    p[1] = td_param_ptr(f, TD_I64);
    p[2] = td_param_ptr(f, d->work);
    p[3] = td_param_ptr(f, TD_I64);
    mem = td_param_ptr(f, d->dt);
    n[0] = td_param(f, TD_I64);
    n[1] = td_param(f, TD_I64);
    zero = td_const_int(f, TD_I64, 0);
    one = td_const_int(f, TD_I64, 1);
    block = td_cast(f, td_index(f, OP_bdim, 0), TD_I64);
    acc = td_slot(f, d->dt, 1);
    e = TD_E2(f, add, TD_E2(f, multiply, td_cast(f, td_index(f, OP_bid, 0), TD_I64), block),
              td_cast(f, td_index(f, OP_tid, 0), TD_I64));
    total = TD_E2(f, multiply, n[0], n[1]);
    td_if(f, TD_E2(f, less, e, total));
    i = TD_E2(f, truncate_divide, e, n[1]);
    s = TD_E2(f, subtract, e, TD_E2(f, multiply, i, n[1]));
    place = td_load(f, p[0], i, TD_NONE, 1, 0);
    first = td_load(f, p[0], TD_E2(f, maximum, TD_E2(f, subtract, i, one), zero), TD_NONE, 1, 0);
    td_if(f, TD_E2(f, logical_or, TD_E2(f, equal, i, zero), TD_E2(f, not_equal, first, place)));
    place = TD_E2(f, add, place, td_load(f, p[3], s, TD_NONE, 1, 0));
    td_set(f, acc, td_load(f, mem, place, TD_NONE, 1, 0));
    run_of(f, d, acc, i, p, s, n);
    td_store(f, mem, place, td_get(f, acc), TD_NONE, 0);
    td_end(f);
    td_end(f);
    return f->st;
}

static td_status
runs_launch(const form *d, td_dev *dev, uint64_t words[7])
{
    int64_t total = (int64_t)(words[5] * words[6]);
    td_nest n = {.simt = true, .block = BLOCK, .team = 1};
    td_dims dims = {
        .first = 5, .what = "accumulate runs", .nbytes = (size_t)total * td_dtype_size(d->dt)};
    td_hash key = td_hash_add(TD_HASH_INIT, "runs", 4);
    form own = *d;

    key = td_hash_u64(key, (uint64_t)d->dt << 32 | (uint64_t)d->work << 16 | (uint64_t)d->op);
    td_nest_deal(&n, total, 1);
    return td_form_launch(td_dev_stream(dev), &(td_code){key, build, &own}, &n, &dims, words, 7);
}

td_status
td_array_put_runs(const td_array *a, td_op op, const td_array *at, const td_array *order,
                  const td_array *inner, const td_array *value)
{
    const td_array *part[4] = {at, order, value, inner};
    td_operand x = {.array = value};
    form d = {.dt = td_array_dtype(a), .op = op};
    td_node *n[4] = {NULL};
    td_array cast = {0};
    uint64_t words[7];
    td_status st;
    td_hold h;

    TD_TRY(td_put_loop(a, &d.op, &x, &d.work));
    if (td_dtype_is_complex(d.work) ||
        td_dtype_is_complex(d.dt)) /* a thread's accumulator is one number, not a pair */
        return td_fail(TD_ERR_TYPE, "%s by runs: not defined for an array of %s and values of %s",
                       td_optab[op].name, td_dtype_name(d.dt),
                       td_dtype_name(td_array_dtype(value)));
    TD_TRY(td_array_cast(value, d.work, &cast));
    part[2] = &cast;
    a->store->version++;
    st = td_storage_own(a->store, NULL);
    for (int i = 0; i < 4 && !st; i++) {
        st = td_node_dense(part[i], &n[i]);
        if (!st)
            words[i] =
                n[i]->buf->ptr + (uint64_t)n[i]->view.offset * td_dtype_size((td_dtype)n[i]->dt);
    }
    if (!st)
        st = td_storage_own(a->store, NULL);
    td_hold_begin(&h);
    if (!st) {
        td_hold_add(a->store->node);
        words[4] = a->store->node->buf->ptr + (uint64_t)a->view.offset * td_dtype_size(d.dt);
        words[5] = (uint64_t)td_array_size(at);
        words[6] = (uint64_t)td_array_size(inner);
        st = words[5] && words[6] ? runs_launch(&d, td_array_dev(a), words) : TD_OK;
    }
    td_hold_end(&h);
    for (int i = 0; i < 4; i++)
        td_node_unref(n[i]);
    td_array_unref(&cast);
    return st;
}
