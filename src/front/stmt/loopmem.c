/* loopmem.c - frees arrays and boxes that a loop's iterations make and drop, at the end of each
 * iteration.
 *
 * What a loop makes can be reached afterwards only through the variables that it assigns, whose
 * values are in places at the end of an iteration, and through boxes.  What is younger than the
 * loop and is reached by neither is garbage.
 */
#include "front/infer/box.h"
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

/* Whether the loop makes any is known from the walk before. */
td_status
loop_mark(walk *w, loop *l)
{
    td_val taken;

    l->arrays = w->arrays;
    l->boxes = w->boxes;
    l->sweeps = is_swept(w) && join_get(w, loopmem_key(l));
    if (!l->sweeps)
        return TD_OK;
    taken = td_at_byte(w->f, td_pointer(w->f, call_heap(w), TD_U64),
                       td_const_int(w->f, TD_I64, offsetof(td_callmem, taken)), TD_U64);
    l->mark = td_load(w->f, taken, td_const_int(w->f, TD_I64, 0), TD_NONE, 1, 0);
    return built(w, l->node);
}

static bool
has_address(const td_type *t)
{
    return t->kind == TD_T_ARRAY || t->kind == TD_T_RECORD || t->kind == TD_T_BOX;
}

static uint32_t
count_addresses(const td_type *t)
{
    uint32_t n = has_address(t);

    for (uint32_t i = 0; !has_address(t) && t->item && i < t->n; i++)
        n += count_addresses(t->item[i]);
    return n;
}

/* The addresses in x, from word *at on. */
static void
put_addresses(walk *w, const thing *x, td_val words, uint32_t *at)
{
    if (has_address(x->type))
        td_store(w->f, words, td_const_int(w->f, TD_I64, (*at)++),
                 is_box(x) ? x->num.re : td_address(w->f, x->view->base), TD_NONE, 0);
    else
        for (uint32_t i = 0; x->item && i < x->type->n; i++)
            put_addresses(w, &x->item[i], words, at);
}

/* What the loop's variables refer to, behind the mark and the word `second`. */
static td_val
reached_words(walk *w, const loop *l, uint32_t *n)
{
    uint32_t at = 2;
    td_val words;

    *n = 2;
    for (uint32_t i = 0; i < l->nvar; i++)
        *n += l->has[i] ? count_addresses(l->where[i].slots.type) : 0;
    words = td_local(w->f, TD_U64, *n);
    td_store(w->f, words, td_const_int(w->f, TD_I64, 0), l->mark, TD_NONE, 0);
    td_store(w->f, words, td_const_int(w->f, TD_I64, 1), td_const_int(w->f, TD_U64, *n - 2),
             TD_NONE, 0);
    for (uint32_t i = 0; i < l->nvar; i++)
        if (l->has[i] && count_addresses(l->where[i].slots.type)) {
            thing x = place_get(w, &l->where[i]);

            put_addresses(w, &x, words, &at);
        }
    return words;
}

/* Where no box has arrays, those that an iteration leaves are known at its end.  Boxes wait for a sweep. */
td_status
loop_sweep(walk *w, loop *l)
{
    bool arrays = w->arrays != l->arrays, boxes = w->boxes != l->boxes;
    bool sweeps = !w->pins && w->heap.i == UINT32_MAX && (boxes || (arrays && w->holds));
    uint32_t n;
    td_val words;

    arrays = arrays && !w->holds;
    if ((!arrays && !sweeps) || l->yields)
        return TD_OK;
    if (!l->sweeps)
        return is_swept(w) ? note_arrays(w, l) : TD_OK;
    words = td_address(w->f, reached_words(w, l, &n));
    if (arrays)
        td_release(w->f, call_heap(w), words, td_const_int(w->f, TD_I64, n));
    if (sweeps)
        td_ask(w->f, call_heap(w), words, td_const_int(w->f, TD_I64, TD_ASK_SWEEP));
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
