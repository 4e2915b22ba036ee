/* join.c - several arrays written into one, one after another along an axis.
 *
 * Each array is an assignment to its part of the result.  On a GPU that is a launch for each, so many arrays of one shape that
 * are in memory are copied by one kernel, which finds them in a table of addresses.
 */
#include "array/form/launch.h"
#include "array/graph/array.h"
#include "array/graph/capture.h"
#include "array/graph/internal.h"
#include "array/run/eval.h"
#include "array/run/spill.h"

#include <stdlib.h>

enum { BLOCK = 256, MANY = 4, VECTOR = 16 /* bytes */ };

/* One copy: pieces of `len` vectors (or elements) of dtype dt. */
typedef struct copying {
    td_dtype dt;
    int lanes;
    bool narrow; /* numbers of vectors fit 31 bits */
} copying;

/* q = e / n, and the remainder */
static td_val
quotient(td_fn *f, const copying *c, td_val e, td_val n, td_val *rest)
{
    td_dtype dt = c->narrow ? TD_U32 : TD_I64;
    td_val q;

    e = td_cast(f, e, dt);
    n = td_cast(f, n, dt);
    q = TD_E2(f, truncate_divide, e, n);
    *rest = td_cast(f, TD_E2(f, subtract, e, TD_E2(f, multiply, q, n)), TD_I64);
    return td_cast(f, q, TD_I64);
}

/* Parameters: the table, the result; vectors in all, of all pieces of a row, of a piece. */
static td_status
build(void *ctx, td_fn *f)
{
    const copying *c = ctx;
    td_val table = td_param_ptr(f, TD_U64), out = td_param_ptr(f, c->dt), n[3], e, row, k, rest,
           from, v;
    td_val block = td_cast(f, td_index(f, OP_bdim, 0), TD_I64),
           lanes = td_const_int(f, TD_I64, c->lanes);

    for (int i = 0; i < 3; i++)
        n[i] = td_param(f, TD_I64);
    e = TD_E2(f, add, TD_E2(f, multiply, td_cast(f, td_index(f, OP_bid, 0), TD_I64), block),
              td_cast(f, td_index(f, OP_tid, 0), TD_I64));
    td_if(f, TD_E2(f, less, e, n[0]));
    row = quotient(f, c, e, n[1], &rest);
    k = quotient(f, c, rest, n[2], &rest);
    from = td_pointer(f, td_load(f, table, k, TD_NONE, 1, 0), c->dt);
    rest = TD_E2(f, add, TD_E2(f, multiply, row, n[2]), rest);
    v = td_load(f, from, TD_E2(f, multiply, rest, lanes), TD_NONE, c->lanes,
                c->lanes > 1 ? VECTOR : 0);
    td_store(f, out, TD_E2(f, multiply, e, lanes), v, TD_NONE, c->lanes > 1 ? VECTOR : 0);
    td_end(f);
    return f->st;
}

/* Are they so many arrays of out's dtype and of one shape, in memory and dense, that a table is worth its copy? */
static bool
suits_table(const td_array *const *a, int n, const td_array *out)
{
    if (!td_dev_info(td_array_dev(out))->simt || n < MANY || td_capture_now() ||
        !td_view_is_contiguous(&out->view) || !td_array_size(out))
        return false;
    for (int i = 0; i < n; i++)
        if (a[i]->store == out->store || td_array_dtype(a[i]) != td_array_dtype(out) ||
            td_array_dev(a[i]) != td_array_dev(out) ||
            !td_shape_eq(&a[i]->view.shape, &a[0]->view.shape) || !a[i]->store->node->buf ||
            !td_view_is_contiguous(&a[i]->view))
            return false;
    return true;
}

static uintptr_t
address(const td_array *a)
{
    return a->store->node->buf->ptr + (uintptr_t)a->view.offset * td_dtype_size(td_array_dtype(a));
}

/* The arrays are dense and in memory; `piece`: elements of one that follow each other in the result. */
static td_status
by_table(const td_array *const *a, int n, int64_t piece, const td_array *out)
{
    static const td_dtype bits[] = {[1] = TD_U8, [2] = TD_U16, [4] = TD_U32, [8] = TD_U64};
    size_t size = td_dtype_size(td_array_dtype(out)), word = size < 8 ? size : 8;
    copying c = {.dt = bits[word], .lanes = (int)(VECTOR / word)};
    int64_t len = piece * (int64_t)(size / word),
            total = td_array_size(out) * (int64_t)(size / word);
    uintptr_t all = address(out) | (uintptr_t)((size_t)len * word);
    uint64_t *table = malloc((size_t)n * sizeof *table), words[5];
    td_nest nest = {.simt = true, .block = BLOCK, .team = 1};
    td_dims dims = {.first = 2, .what = "join", .nbytes = 2 * (size_t)total * word};
    td_hash key = td_hash_add(TD_HASH_INIT, "join", 4);
    td_stream *s = td_dev_stream(td_array_dev(out));
    td_buf *buf = NULL;
    td_status st;

    if (!table)
        return td_fail(TD_ERR_NOMEM, "concatenate: out of host memory for %d addresses", n);
    for (int i = 0; i < n; i++)
        all |= table[i] = address(a[i]);
    while (c.lanes > 1 && all % ((size_t)c.lanes * word))
        c.lanes /= 2;
    if (c.lanes > 1 && (size_t)c.lanes * word < VECTOR)
        c.lanes = 1;
    words[1] = address(out);
    words[2] = (uint64_t)(total / c.lanes);
    words[3] = (uint64_t)(len / c.lanes * n);
    words[4] = (uint64_t)(len / c.lanes);
    c.narrow = words[2] < INT32_MAX;
    key = td_hash_u64(key, (uint64_t)c.dt << 16 | (uint64_t)c.lanes << 8 | c.narrow);
    td_nest_deal(&nest, (int64_t)words[2], 1);
    st = td_buf_new(td_array_dev(out), s, (size_t)n * sizeof *table, &buf);
    if (!st)
        st = td_copy_in(s, buf->ptr, table, (size_t)n * sizeof *table);
    if (!st) {
        words[0] = buf->ptr;
        st = td_form_launch(s, &(td_code){key, build, &c}, &nest, &dims, words, 5);
    }
    td_buf_unref(buf);
    free(table);
    return st;
}

/* One after another: a's part of the result is `count` wide.  An array that lacks the axis is one wide. */
static td_status
by_parts(const td_array *const *a, int n, int axis, const td_array *out)
{
    int64_t at = 0;

    for (int i = 0; i < n; i++) {
        bool lacks = a[i]->view.shape.ndim < out->view.shape.ndim;
        int64_t count = lacks ? 1 : a[i]->view.shape.dim[axis];
        td_view v = td_view_slice(&out->view, axis, at, 1, count);
        td_array part;
        td_status st;

        if (lacks) { /* the part lacks it too */
            for (int k = axis; k + 1 < v.shape.ndim; k++) {
                v.shape.dim[k] = v.shape.dim[k + 1];
                v.stride[k] = v.stride[k + 1];
            }
            v.shape.ndim--;
        }
        part = td_array_view(out, &v);
        st = count ? td_array_assign(&part, &(td_operand){.array = a[i]}) : TD_OK;
        td_array_unref(&part);
        TD_TRY(st);
        at += count;
    }
    return TD_OK;
}

td_status
td_array_join(const td_array *const *a, int n, int axis, const td_array *out)
{
    int64_t piece = 1;
    td_status st;
    td_hold h;

    if (!suits_table(a, n, out))
        return by_parts(a, n, axis, out);
    for (int i = axis; i < a[0]->view.shape.ndim; i++)
        piece *= a[0]->view.shape.dim[i];
    out->store->version++;
    TD_TRY(td_storage_own(out->store, NULL));
    td_hold_begin(&h);
    td_hold_add(out->store->node);
    for (int i = 0; i < n; i++)
        td_hold_add(a[i]->store->node);
    st = by_table(a, n, piece, out);
    td_hold_end(&h);
    return st;
}
