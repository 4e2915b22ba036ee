/* stride.c - loops that each thread runs with a stride: for (int i = first of the thread; i < n;
 * i += stride).
 *
 * Run thread by thread, such a loop steps through memory in strides as wide as the grid.  Instead
 * all threads do an iteration together, as on a GPU: neighbours read neighbouring elements, and
 * an iteration is vector code.
 */
#include "cxx/regions.h"

static bool
changes_once(const cx_body *b, uint32_t local, uint32_t at)
{
    for (uint32_t i = 0; i < b->nmod; i++)
        if (b->mod[i].local == local && b->mod[i].at != at)
            return false;
    return !b->local[local].odd;
}

/* Where the ; or the end of the header's part at i is. */
static uint32_t
part(const cx_body *b, uint32_t i, uint32_t end)
{
    while (i < end && !is(b->j, i, ";"))
        i = is(b->j, i, "(") || is(b->j, i, "[") ? b->j->u.k.t[i].match + 1 : i + 1;
    return i;
}

bool
td_plan_strided(const cx_body *b, uint32_t stmt, cx_stride *out)
{
    const cx_stmt *s = &b->stmt[stmt];
    uint32_t v = UINT32_MAX, first, second, step;
    const cx_local *l;

    if (s->kind != STMT_FOR || s->waits || s->cut || td_body_jumps(b, s->child))
        return false;
    for (uint32_t k = 0; k < b->nlocal; k++)
        if (b->local[k].stmt == stmt) {
            if (v != UINT32_MAX)
                return false;
            v = k;
        }
    if (v == UINT32_MAX)
        return false;
    l = &b->local[v];
    first = part(b, s->open + 1, s->close);
    second = part(b, first + 1, s->close);
    step = second + 2; /* i += */
    if (second >= s->close || !l->init || !is(b->j, l->init, "=") || l->is_pointer ||
        l->is_reference || l->is_const || l->is_auto)
        return false;
    if (td_body_find(b, &b->j->u.k.t[second + 1], second + 1) != v || !is(b->j, step, "+="))
        return false;
    if (td_body_find(b, &b->j->u.k.t[first + 1], first + 1) != v ||
        !(is(b->j, first + 2, "<") || is(b->j, first + 2, "<=")))
        return false;
    *out = (cx_stride){.local = v, .bound = first + 1, .step = step + 1};
    return changes_once(b, v, step) && td_body_again(b, l->init + 1, l->end, l->at, s->end) &&
           !td_body_alike(b, l->init + 1, l->end, false) &&
           td_body_alike(b, first + 3, second, false) &&
           td_body_again(b, first + 3, second, l->at, s->end) &&
           td_body_alike(b, step + 1, s->close, false) &&
           td_body_again(b, step + 1, s->close, l->at, s->end);
}
