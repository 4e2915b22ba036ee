/* loopmem.c - frees arrays that a loop's iterations allocate and drop, at the end of each
 * iteration.
 *
 * What a loop allocates can be reached afterwards only through the variables that it assigns,
 * whose values are in places at the end of an iteration.  Blocks that are younger than the loop
 * and contain none of these addresses are garbage.
 */
#include "base/callmem.h"
#include "front/infer/lazy.h"

#include <stddef.h>

static td_hash
loopmem_key(const loop *l)
{
    return loop_key(l, UINT32_MAX - 1);
}

td_val
call_heap(walk *w)
{
    return w->heap.i == UINT32_MAX ? hidden_address(w, TD_HIDDEN_CALLMEM) : w->heap;
}

static bool
is_swept(const walk *w)
{
    return (!w->parallel || w->heap.i != UINT32_MAX) && w->how->mode != TD_MODE_KERNEL &&
           !w->how->alone;
}

static td_status
note_arrays(walk *w, const loop *l)
{
    const thing none = {.type = td_type_none()};

    return join_add(w, loopmem_key(l), &none, l->node, "the loop");
}

/* Whether the loop makes arrays is known from the walk before. */
td_status
loop_mark(walk *w, loop *l)
{
    td_val taken;

    l->arrays = w->arrays;
    l->sweeps = is_swept(w) && join_get(w, loopmem_key(l));
    if (!l->sweeps)
        return TD_OK;
    taken = td_at_byte(w->f, td_pointer(w->f, call_heap(w), TD_U64),
                       td_const_int(w->f, TD_I64, offsetof(td_callmem, taken)), TD_U64);
    l->mark = td_load(w->f, taken, td_const_int(w->f, TD_I64, 0), TD_NONE, 1, 0);
    return built(w, l->node);
}

static uint32_t
count_arrays(const td_type *t)
{
    uint32_t n = t->kind == TD_T_ARRAY;

    for (uint32_t i = 0; t->kind != TD_T_ARRAY && t->item && i < t->n; i++)
        n += count_arrays(t->item[i]);
    return n;
}

/* The addresses of the arrays in x, from word *at on. */
static void
put_addresses(walk *w, const thing *x, td_val words, uint32_t *at)
{
    if (x->type->kind == TD_T_ARRAY)
        td_store(w->f, words, td_const_int(w->f, TD_I64, (*at)++), td_address(w->f, x->view->base),
                 TD_NONE, 0);
    else
        for (uint32_t i = 0; x->item && i < x->type->n; i++)
            put_addresses(w, &x->item[i], words, at);
}

td_status
loop_sweep(walk *w, loop *l)
{
    uint32_t n = 1, at = 1;
    td_val words;

    if (w->arrays == l->arrays || w->holds || l->yields)
        return TD_OK;
    if (!l->sweeps)
        return is_swept(w) ? note_arrays(w, l) : TD_OK;
    for (uint32_t i = 0; i < l->nvar; i++)
        n += l->has[i] ? count_arrays(l->where[i].slots.type) : 0;
    words = td_local(w->f, TD_U64, n);
    td_store(w->f, words, td_const_int(w->f, TD_I64, 0), l->mark, TD_NONE, 0);
    for (uint32_t i = 0; i < l->nvar; i++)
        if (l->has[i] && count_arrays(l->where[i].slots.type)) {
            thing x = place_get(w, &l->where[i]);

            put_addresses(w, &x, words, &at);
        }
    td_release(w->f, call_heap(w), td_address(w->f, words), td_const_int(w->f, TD_I64, n));
    return built(w, l->node);
}

/* ---- a part of a parallel loop ---- */

/* What an iteration takes is gone with its variables.  The part has memory of its own, so threads do not meet. */
void
piece_heap_begin(walk *w, const loop *l)
{
    td_val words;

    if (w->how->alone || !join_get(w, loopmem_key(l)))
        return;
    words = td_local(w->f, TD_U64, sizeof(td_callmem) / sizeof(uint64_t));
    for (uint32_t i = 0; i < sizeof(td_callmem) / sizeof(uint64_t); i++) {
        bool alone = i == offsetof(td_callmem, alone) / sizeof(uint64_t);

        td_store(w->f, words, td_const_int(w->f, TD_I64, i), td_const_int(w->f, TD_U64, alone),
                 TD_NONE, 0);
    }
    w->heap = td_address(w->f, words);
}

/* Releases what is younger than block number 0; with a count of 0 the blocks' memory, too. */
static void
release_all(walk *w, int64_t count)
{
    td_val word = td_local(w->f, TD_U64, 1);

    td_store(w->f, word, td_const_int(w->f, TD_I64, 0), td_const_int(w->f, TD_U64, 0), TD_NONE, 0);
    td_release(w->f, w->heap, td_address(w->f, word), td_const_int(w->f, TD_I64, count));
}

td_status
piece_heap_sweep(walk *w, const loop *l, uint32_t arrays)
{
    if (w->arrays == arrays || w->how->alone)
        return TD_OK;
    if (w->heap.i == UINT32_MAX)
        return note_arrays(w, l);
    release_all(w, 1);
    return built(w, l->node);
}

void
piece_heap_end(walk *w)
{
    if (w->heap.i != UINT32_MAX)
        release_all(w, 0);
    w->heap = TD_NONE;
}
