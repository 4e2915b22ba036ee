/* count.c - how often each of the numbers 0, 1, … occurs, by atomic additions on a GPU.
 *
 * Few bins have counters in the block's shared memory, which are added to the result at the end.
 */
#include "array/array.h"
#include "array/eval.h"
#include "array/internal.h"
#include "jit/jit.h"

enum {
    BLOCK = 256,
    FILL = 8,          /* blocks a multiprocessor */
    SHARED_MAX = 4096, /* counters of 4 bytes: two blocks a multiprocessor on old ones */
};

typedef struct form {
    td_dtype in;
    int bins; /* counters in shared memory; 0: global memory alone */
} form;

/* Numbers outside of the bins are not counted.  step: elements that a thread steps over. */
static td_status
build(void *ctx, td_fn *f)
{
    const form *d = ctx;
    td_val in = td_param_ptr(f, d->in), out = td_param_ptr(f, TD_I64), n = td_param(f, TD_I64);
    td_val bins = td_param(f, TD_I64), step = td_param(f, TD_I64);
    td_val tid = td_cast(f, td_index(f, OP_tid, 0), TD_I64), block = td_const_int(f, TD_I64, BLOCK);
    td_val zero = td_const_int(f, TD_I64, 0), mine = TD_NONE, i, v, ok;

    if (d->bins) {
        mine = td_shared(f, TD_I32, (uint64_t)d->bins);
        i = td_for(f, tid, bins, block);
        td_store(f, mine, i, td_const_int(f, TD_I32, 0), TD_NONE, 0);
        td_end(f);
        td_barrier(f);
    }
    i = td_cast(f, td_index(f, OP_bid, 0), TD_I64);
    i = td_for(f, TD_E2(f, add, TD_E2(f, multiply, i, block), tid), n, step);
    v = td_cast(f, td_load(f, in, i, TD_NONE, 1, 0), TD_I64);
    ok = TD_E2(f, logical_and, TD_E2(f, greater_equal, v, zero), TD_E2(f, less, v, bins));
    if (d->bins)
        td_atomic_add(f, mine, v, td_const_int(f, TD_I32, 1), ok);
    else
        td_atomic_add(f, out, v, td_const_int(f, TD_I64, 1), ok);
    td_end(f);
    if (d->bins) {
        td_barrier(f);
        i = td_for(f, tid, bins, block);
        v = td_cast(f, td_load(f, mine, i, TD_NONE, 1, 0), TD_I64);
        td_atomic_add(f, out, i, v, TD_E2(f, greater, v, zero));
        td_end(f);
    }
    return f->st;
}

static td_status
launch(const td_node *values, int64_t bins, td_buf *out)
{
    td_dev *dev = values->dev;
    int64_t n = td_shape_size(&values->view.shape), most = (int64_t)td_dev_info(dev)->units * FILL;
    int64_t want = (n + BLOCK - 1) / BLOCK, blocks = want < most ? want : most;
    form d = {.in = (td_dtype)values->dt};
    uint64_t words[5] = {values->buf->ptr +
                             (uintptr_t)values->view.offset * td_dtype_size((td_dtype)values->dt),
                         out->ptr, (uint64_t)n, (uint64_t)bins, (uint64_t)(blocks * BLOCK)};
    td_dims dims = {.grid = {(uint32_t)blocks, 1, 1},
                    .block = {BLOCK, 1, 1},
                    .first = 2,
                    .what = "count",
                    .nbytes = (size_t)n * td_dtype_size((td_dtype)values->dt) +
                              (size_t)bins * sizeof(int64_t)};
    td_hash key = td_hash_add(TD_HASH_INIT, "count", 5);
    void *token;
    td_kernel *k;
    td_status st;

    for (d.bins = bins <= SHARED_MAX ? 256 : 0; d.bins && d.bins < bins;)
        d.bins *= 2;
    key = td_hash_u64(key, (uint64_t)d.in << 32 | (uint64_t)d.bins);
    token = td_graph_unlock();
    st = td_jit_get(dev, key, build, &d, &k);
    if (!st)
        st = td_jit_launch(k, td_dev_stream(dev), &dims, words, 5);
    td_graph_lock(token);
    return st;
}

td_status
td_array_count(const td_array *a, int64_t bins, td_array *out)
{
    td_shape s = {.ndim = 1, .dim = {bins}};
    td_node *n = NULL;
    td_array flat;
    td_status st;

    TD_ASSERT(td_dtype_is_int(td_array_dtype(a)));
    TD_TRY(td_shape_make(1, &bins, &s));
    TD_TRY(td_array_full(td_array_dev(a), TD_I64, &s, (td_scalar){.dt = TD_I64}, out));
    st = td_storage_eval(out->store);
    if (st || !bins || !td_array_size(a))
        return st;
    s.dim[0] = td_array_size(a);
    st = td_array_reshape(a, &s, &flat);
    if (!st) {
        st = td_node_dense(&flat, &n);
        td_array_unref(&flat);
    }
    if (!st)
        st = launch(n, bins, out->store->node->buf);
    td_node_unref(n);
    if (st)
        td_array_unref(out);
    return st;
}
