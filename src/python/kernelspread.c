/* kernelspread.c - functions whose loops are spread over cores or a GPU's threads: when, and over how many.
 *
 * The front proves that the turns of a loop do not touch what others do, taking arguments to be apart
 * (td_made.apart).  Here it is seen whether they are.
 */
#include "python/kernel.h"

/* Threads of a block, blocks for each multiprocessor; of a grid with two axes, blocks along x. */
enum { BLOCK = 256, BLOCKS = 8, COLUMNS = 8 };

typedef struct range {
    uintptr_t lo, hi;
} range;

/* The bytes that a leaf's array touches; empty for what is no array. */
static range
range_of(const py_leaf *l)
{
    td_view v;
    int64_t lo, hi, size;
    uintptr_t at;

    if (l->kind == PY_LEAF_ARRAY) {
        size = (int64_t)td_dtype_size(td_array_dtype(l->array));
        td_view_extent(&l->array->view, &lo, &hi);
        at = l->buf->ptr;
    } else if (l->kind == PY_LEAF_RECORD && !l->buf) {
        at = (uintptr_t)l->host.buf;
        return (range){at, at + (uintptr_t)l->host.len};
    } else if (l->kind == PY_LEAF_HOST && !l->buf) {
        py_host_view_of(l, &v);
        td_view_extent(&v, &lo, &hi);
        size = l->type->item[0]->kind == TD_T_RECORD ? 1 : (int64_t)l->host.itemsize;
        hi += size == 1 && hi > lo ? (int64_t)l->host.itemsize - 1 : 0;
        at = (uintptr_t)l->host.buf;
    } else {
        return (range){0, 0};
    }
    return (range){at + (uintptr_t)(lo * size), at + (uintptr_t)(hi * size)};
}

/* May two indices of a view lead to one element?  Its axes by strides: each must step over all of the shorter ones. */
static bool
folds(const td_view *v, int64_t unit)
{
    bool used[TD_MAXDIM_KERNEL] = {false};
    int64_t span = unit;

    for (int n = 0; n < v->shape.ndim; n++) {
        int least = -1;
        int64_t s = 0;

        for (int i = 0; i < v->shape.ndim; i++) {
            int64_t step = v->stride[i] < 0 ? -v->stride[i] : v->stride[i];

            if (!used[i] && (least < 0 || step < s)) {
                least = i;
                s = step;
            }
        }
        used[least] = true;
        if (v->shape.dim[least] <= 1)
            continue;
        if (s < span)
            return true;
        span += s * (v->shape.dim[least] - 1);
    }
    return false;
}

static bool
leaf_folds(const py_leaf *l)
{
    td_view v;

    if (l->kind == PY_LEAF_ARRAY)
        return folds(&l->array->view, 1);
    if (l->kind != PY_LEAF_HOST || l->type->layout != 'A')
        return false;
    py_host_view_of(l, &v);
    return folds(&v, l->type->item[0]->kind == TD_T_RECORD ? (int64_t)l->host.itemsize : 1);
}

bool
py_call_overlaps(const py_call *c, uint64_t written)
{
    for (uint32_t i = 0; i < c->nleaf; i++) {
        range w = range_of(&c->leaf[i]);

        if (!(written >> c->leaf[i].arg & 1))
            continue;
        if (leaf_folds(&c->leaf[i]))
            return true;
        for (uint32_t k = 0; k < c->nleaf; k++) {
            range r = range_of(&c->leaf[k]);

            if (k != i && r.lo < w.hi && w.lo < r.hi)
                return true;
        }
    }
    return false;
}

void
py_spread_dims(const py_spec *s, td_dims *dims)
{
    int64_t most;

    if (td_dev_info(s->dev)->kind == TD_DEV_CPU || !s->made.spread)
        return;
    dims->block[0] = BLOCK;
    dims->grid[0] = (uint32_t)td_dev_info(s->dev)->units * BLOCKS;
    if (s->made.spread == 2) { /* a warp along x, as many blocks */
        dims->block[0] = 32;
        dims->block[1] = BLOCK / 32;
        dims->grid[1] = (dims->grid[0] + COLUMNS - 1) / COLUMNS;
        dims->grid[0] = COLUMNS;
    }
    if (!s->made.cooperative || py_blocks_most(s, dims, &most) != TD_OK)
        return;
    if (most < (int64_t)dims->grid[0])
        dims->grid[0] = most > 0 ? (uint32_t)most : 1;
    most /= dims->grid[0];
    if (most < (int64_t)dims->grid[1])
        dims->grid[1] = most > 0 ? (uint32_t)most : 1;
}
