/* gridsum.c - reductions over a GPU's threads.
 *
 * Each thread has its own value.  A block's values are combined in shared memory, pair by pair at
 * halving distances; the block's result is stored in the hidden partial results.  After a barrier
 * of the grid every block combines all partial results in the same way, so every thread has the
 * total without a second barrier.  The order depends on the grid alone: the same launch gives the
 * same bits.
 */
#include "front/infer/walk.h"

enum { THREADS = 256, ENTRY = 16 }; /* of a block; bytes, complex128's */

static td_val
int64_of(walk *w, int64_t v)
{
    return td_const_int(w->f, TD_I64, v);
}

static td_val
axis(walk *w, td_op which, int n)
{
    return td_cast(w->f, td_index(w->f, which, n), TD_I64);
}

/* y * (extent of x) + x, or the product of both extents */
static td_val
linear(walk *w, td_op at, td_op extent)
{
    return TD_E2(w->f, add, TD_E2(w->f, multiply, axis(w, at, 1), axis(w, extent, 0)),
                 axis(w, at, 0));
}

static td_val
grid_count(walk *w, td_op extent)
{
    return TD_E2(w->f, multiply, axis(w, extent, 0), axis(w, extent, 1));
}

/* Combines x over all threads of the block; every thread gets the result. */
static td_status
block_total(walk *w, const combining *how, const thing *x, thing *out)
{
    const td_type *t = x->type;
    td_val room = td_num_shared(w->f, t->dt, THREADS), n = td_slot(w->f, TD_I64, 1);
    td_val me = linear(w, OP_tid, OP_bdim), v, half, other;
    thing a, b;

    w->made->shared += THREADS * (uint32_t)td_dtype_size(t->dt);
    w->f->threads = THREADS;
    td_num_store(w->f, room, t->dt, me, num_as(w, x, t->dt), TD_NONE, 0);
    td_barrier(w->f);
    td_set(w->f, n, grid_count(w, OP_bdim));
    td_loop(w->f);
    v = td_get(w->f, n);
    td_break_if(w->f, TD_E2(w->f, less_equal, v, int64_of(w, 1)));
    half = TD_E2(w->f, truncate_divide, TD_E2(w->f, add, v, int64_of(w, 1)), int64_of(w, 2));
    other = TD_E2(w->f, add, me, half);
    td_if(w->f, TD_E2(w->f, less, other, v));
    a = num_of(t, td_num_load(w->f, room, t->dt, me, TD_NONE, 1, 0));
    b = num_of(t, td_num_load(w->f, room, t->dt, other, TD_NONE, 1, 0));
    TD_TRY(reduce_combine(w, how, &a, &b, &a));
    td_num_store(w->f, room, t->dt, me, num_as(w, &a, t->dt), TD_NONE, 0);
    td_end(w->f);
    td_barrier(w->f);
    td_set(w->f, n, half);
    td_end(w->f);
    *out = num_of(t, td_num_load(w->f, room, t->dt, int64_of(w, 0), TD_NONE, 1, 0));
    return built(w, w->node);
}

/* Where block `block` has its entry. */
static td_val
entry_at(walk *w, uint32_t entry, td_val block, td_dtype dt)
{
    td_val at = TD_E2(w->f, multiply, int64_of(w, entry), grid_count(w, OP_gdim));
    td_val byte = TD_E2(w->f, multiply, TD_E2(w->f, add, at, block), int64_of(w, ENTRY));
    td_val base = td_pointer(w->f, hidden_address(w, TD_HIDDEN_PARTIALS), TD_U8);

    return td_at_byte(w->f, base, byte, td_dtype_real_of(dt));
}

td_status
grid_part(walk *w, const combining *how, const thing *own, uint32_t *entry)
{
    td_dtype dt = own->type->dt;
    td_val first = TD_E2(w->f, equal, linear(w, OP_tid, OP_bdim), int64_of(w, 0));
    thing x;

    *entry = w->made->partials++;
    TD_TRY(block_total(w, how, own, &x));
    td_if(w->f, first);
    td_num_store(w->f, entry_at(w, *entry, linear(w, OP_bid, OP_gdim), dt), dt, int64_of(w, 0),
                 num_as(w, &x, dt), TD_NONE, 0);
    td_end(w->f);
    return built(w, w->node);
}

td_status
grid_total(walk *w, const combining *how, const thing *neutral, uint32_t entry, thing *out)
{
    const td_type *t = neutral->type;
    place sum = place_new(w, &(join){.type = t});
    td_val k;
    thing a, b;

    TD_TRY(place_set(w, &sum, neutral));
    k = td_for(w->f, linear(w, OP_tid, OP_bdim), grid_count(w, OP_gdim), grid_count(w, OP_bdim));
    a = place_get(w, &sum);
    b = num_of(
        t, td_num_load(w->f, entry_at(w, entry, k, t->dt), t->dt, int64_of(w, 0), TD_NONE, 1, 0));
    TD_TRY(reduce_combine(w, how, &a, &b, &a));
    TD_TRY(place_set(w, &sum, &a));
    td_end(w->f);
    a = place_get(w, &sum);
    return block_total(w, how, &a, out);
}
