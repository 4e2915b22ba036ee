/* kernelparallel.c - functions whose loops run on several cores or a GPU's threads: when, and on
 * how many.
 *
 * The front has proved that the iterations of a loop are independent, provided that the arguments
 * do not overlap (td_made.apart).  Here that is checked.
 */
#include "python/kernel/kernel.h"

enum {
    BLOCK = 256, /* threads of a block */
    BLOCKS =
        /* blocks per multiprocessor that keep it busy; more of them could not wait for each
         * other */
    8,
    MANY =
        /* most blocks per multiprocessor: iterations of uneven length balance better over more
         * blocks than run at once */
    64,
    COLUMNS = 8,    /* blocks along x if the number of iterations is not known */
    GRID_Y = 65535, /* what a grid's y can be */
};

typedef struct range {
    uintptr_t lo, hi;
} range;

/* The bytes that a leaf's array covers; empty if it is not an array. */
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

/* May two indices of a view name the same element?  Sorted by stride, each axis must step over
 * all shorter ones. */
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

/* The most blocks that a launch can have. */
static int64_t
most_blocks(const py_spec *s)
{
    return (int64_t)td_dev_info(s->dev)->units * (s->made.cooperative ? BLOCKS : MANY);
}

size_t
py_partials_bytes(const py_spec *s)
{
    return 16 * (size_t)s->made.partials * (size_t)(most_blocks(s) + COLUMNS);
}

/* Iterations of a loop as far as the launch knows them; else enough to keep the device busy. */
static int64_t
iterations_of(const py_spec *s, uint32_t term, const uint64_t *word, uint32_t n, int64_t else_)
{
    int64_t iterations;

    if (!td_parloop_value(&s->made.loops, term, word, n, &iterations))
        return else_;
    return iterations < 1 ? 1 : iterations;
}

static int64_t
blocks_for(int64_t iterations, int64_t threads, int64_t most)
{
    int64_t n = iterations / threads + (iterations % threads != 0);

    return n < most ? n : most;
}

/* The largest number of blocks that any loop needs: out[0] along x, out[1] along y. */
static void
grid_for(const py_spec *s, const uint64_t *word, uint32_t n, const uint32_t block[3],
         int64_t out[2])
{
    const td_parloops *x = &s->made.loops;
    int64_t most = most_blocks(s), busy = (int64_t)td_dev_info(s->dev)->units * BLOCKS * BLOCK;
    int64_t threads = (int64_t)block[0] * block[1];
    bool all = x->nloop <= TD_PARLOOPS;

    out[0] = out[1] = 1;
    for (uint32_t i = 0; all && i < x->nloop;
         i++) { /* loops across rows come first: they determine the width of the grid */
        const td_parloop *l = &x->loop[i];
        int64_t wide, high;

        if (!l->nested)
            continue;
        wide = blocks_for(iterations_of(s, l->inner, word, n, block[0] * COLUMNS), block[0], most);
        high = blocks_for(iterations_of(s, l->iterations, word, n, busy), block[1],
                          (most + wide - 1) / wide);
        out[0] = wide > out[0] ? wide : out[0];
        out[1] = high > out[1] ? high : out[1];
    }
    for (uint32_t i = 0; i < x->nloop && i < TD_PARLOOPS; i++) {
        int64_t want =
            blocks_for(iterations_of(s, x->loop[i].iterations, word, n, busy), threads, most);

        if (x->loop[i].nested || want <= out[0] * out[1])
            continue;
        if (s->made.spread == 2)
            out[1] = (want + out[0] - 1) / out[0];
        else
            out[0] = want;
    }
    if (!all)
        out[s->made.spread == 2] = most / (s->made.spread == 2 ? out[0] : 1);
    if (out[1] > GRID_Y)
        out[1] = GRID_Y;
    if (out[0] * out[1] > most + COLUMNS)
        out[1] = (most + COLUMNS) / out[0];
}

void
py_parallel_dims(const py_spec *s, const uint64_t *word, uint32_t n, td_dims *dims)
{
    uint32_t warp = (uint32_t)td_dev_info(s->dev)->warp;
    int64_t most, grid[2];

    if (!td_dev_info(s->dev)->simt || !s->made.spread)
        return;
    dims->block[0] = s->made.spread == 2 ? warp : BLOCK; /* a warp along x */
    dims->block[1] = s->made.spread == 2 ? BLOCK / warp : 1;
    grid_for(s, word, n, dims->block, grid);
    dims->grid[0] = (uint32_t)grid[0];
    dims->grid[1] = (uint32_t)(grid[1] > 0 ? grid[1] : 1);
    if (!s->made.cooperative || py_blocks_most(s, dims, &most) != TD_OK)
        return;
    if (most < (int64_t)dims->grid[0])
        dims->grid[0] = most > 0 ? (uint32_t)most : 1;
    most /= dims->grid[0];
    if (most < (int64_t)dims->grid[1])
        dims->grid[1] = most > 0 ? (uint32_t)most : 1;
}
