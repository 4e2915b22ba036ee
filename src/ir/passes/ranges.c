/* ranges.c - which checks of a kernel hold for every thread of one launch.
 *
 * A launch knows the shapes of its arrays, its numbers and its grid.  From them follow the least and the greatest
 * value of each integer, along the kernel's conditions and loops, so `0 < i < h - 1` is known to keep a[i - 1] inside.
 * What comes out of memory may be anything of its dtype.  A loop is walked until its slots do not grow any more: what
 * grows twice grows without bound.  In doubt a check does not hold.
 */
#include "ir/passes/ranges.h"
#include "ir/passes/look.h"

#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 3 }; /* of a loop, before what grows may be anything */

/* ---- regions ---- */

static void walk_through(look *k, uint32_t i, uint32_t end);

/* A copy of what the slots hold, freed by state_free. */
static range *
state_copy(look *k)
{
    range *copy = malloc((k->nslot + 1) * sizeof *copy);

    if (copy)
        memcpy(copy, k->now, k->nslot * sizeof *copy);
    else
        k->failed = true;
    return copy;
}

/* Takes a state over and frees it. */
static void
state_take(look *k, range *from)
{
    if (from)
        memcpy(k->now, from, k->nslot * sizeof *from);
    free(from);
}

static void
state_join(look *k, range *into, const range *from)
{
    for (uint32_t i = 0; into && from && i < k->nslot; i++)
        into[i] = range_join(into[i], from[i]);
}

/* `a and b` is spelled: if a { set s, b } else { set s, a }. */
static void
note_meaning(look *k, uint32_t i)
{
    const td_inst *x = k->f->ins, *then, *other;
    uint32_t mid = x[i].jump, n;

    if (x[mid].op != OP_else)
        return;
    then = &x[mid - 1];
    other = &x[x[mid].jump - 1];
    if (then->op != OP_set || other->op != OP_set || then->arg[0].i != other->arg[0].i)
        return;
    n = k->slot[then->arg[0].i];
    if (n != UINT32_MAX && other->arg[1].i == x[i].arg[0].i)
        k->means[n] = (meant){k->last[n], x[i].arg[0], then->arg[1], true};
    else if (n != UINT32_MAX && then->arg[1].i == x[i].arg[0].i)
        k->means[n] = (meant){k->last[n], x[i].arg[0], other->arg[1], false};
}

static void
walk_if(look *k, uint32_t i)
{
    uint32_t mid = k->f->ins[i].jump, mark = k->ntrail;
    bool has_else = k->f->ins[mid].op == OP_else, never[2];
    td_val c = k->f->ins[i].arg[0];
    range *before = state_copy(k), *then;

    k->dead = !assume(k, c, true, TD_LOOK_DEPTH);
    walk_through(k, i + 1, mid);
    never[0] = k->dead;
    then = state_copy(k);
    go_back(k, mark);
    state_take(k, before);
    k->dead = !assume(k, c, false, TD_LOOK_DEPTH);
    if (has_else)
        walk_through(k, mid + 1, k->f->ins[mid].jump);
    never[1] = k->dead;
    if (never[0]) { /* what the other branch knows goes on */
        free(then);
        note_meaning(k, i);
        return;
    }
    k->dead = false;
    if (!never[1]) {
        state_join(k, then, k->now);
        go_back(k, mark);
        state_take(k, then);
        note_meaning(k, i);
        return;
    }
    go_back(k, mark);
    state_take(k, then);
    note_meaning(k, i);
    (void)assume(k, c, true, TD_LOOK_DEPTH);
}

static void
open_region(look *k, enclosing *a)
{
    *a = (enclosing){.up = k->in, .exit = state_copy(k)};
    k->in = a;
}

/* Slots that an iteration leaves with more values than it found: all that may come. */
static bool
grow(look *k, range *head, const range *tail, int round)
{
    bool grown = false;

    for (uint32_t i = 0; head && tail && i < k->nslot; i++) {
        range was = head[i], all = range_join(was, tail[i]);

        if (is_within(tail[i], was))
            continue;
        grown = true;
        if (round && all.lo < was.lo)
            all.lo = all.lo >= 0 ? 0 : INT64_MIN;
        if (round && all.hi > was.hi)
            all.hi = INT64_MAX;
        head[i] = round > ROUNDS ? (range){INT64_MIN, INT64_MAX} : all;
    }
    return grown;
}

/* One round of a loop's body, from the slots at its head.  Gives the slots at its end; NULL: it is not reached. */
static range *
walk_round(look *k, uint32_t i, const range *head)
{
    const td_inst *s = &k->f->ins[i];
    uint32_t mark = k->ntrail;
    range *tail = NULL;

    if (head)
        memcpy(k->now, head, k->nslot * sizeof *head);
    for (uint32_t n = 0; n < k->nslot; n++)
        k->last[n] = ++k->sets;
    k->in->left = false;
    k->dead = false;
    if (s->op == OP_for) {
        range lo = look_at(k, s->arg[0], TD_LOOK_DEPTH), hi = look_at(k, s->arg[1], TD_LOOK_DEPTH);

        k->dead = lo.lo >= hi.hi;
        k->v[i] = (range){lo.lo, hi.hi - !k->dead};
    }
    walk_through(k, i + 1, s->jump);
    if (!k->dead)
        tail = state_copy(k);
    go_back(k, mark);
    return tail;
}

static void
walk_loop(look *k, uint32_t i)
{
    bool quiet = k->quiet, last = false;
    range *head, *tail;
    enclosing a;

    open_region(k, &a);
    head = state_copy(k);
    for (int round = 0; !k->failed; round++) {
        k->quiet = quiet || !last;
        tail = walk_round(k, i, head);
        if (last || (quiet && !grow(k, head, tail, round))) {
            free(tail);
            break;
        }
        last = !quiet && !grow(k, head, tail, round);
        free(tail);
    }
    k->quiet = quiet;
    k->in = a.up;
    k->dead = k->f->ins[i].op == OP_loop && !a.left;
    if (k->f->ins[i].op == OP_for && a.left)
        state_join(k, head, a.exit);
    state_take(k, k->f->ins[i].op == OP_for ? head : a.exit);
    free(k->f->ins[i].op == OP_for ? a.exit : head);
}

static void
walk_block(look *k, uint32_t i)
{
    uint32_t mark = k->ntrail;
    enclosing a;

    open_region(k, &a);
    walk_through(k, i + 1, k->f->ins[i].jump);
    k->in = a.up;
    if (!a.left) {
        free(a.exit);
        return;
    }
    if (!k->dead)
        state_join(k, a.exit, k->now);
    k->dead = false;
    go_back(k, mark);
    state_take(k, a.exit);
}

/* Pieces and functions: their own slots are 0 at first, and those around them stay. */
static void
walk_apart(look *k, uint32_t i)
{
    const td_inst *s = &k->f->ins[i];
    uint32_t mark = k->ntrail;
    enclosing *in = k->in;
    range *before = state_copy(k);

    k->in = NULL; /* nothing breaks out of it */
    for (uint32_t j = i + 1; j < s->jump; j++)
        if (k->f->ins[j].op == OP_slot && k->slot[j] != UINT32_MAX)
            k->now[k->slot[j]] = (range){0, 0};
    if (s->op == OP_parallel) {
        range lo = look_at(k, s->arg[0], TD_LOOK_DEPTH), hi = look_at(k, s->arg[1], TD_LOOK_DEPTH);

        k->dead = lo.lo >= hi.hi;
        k->v[i] = (range){lo.lo, hi.hi - !k->dead};
    }
    walk_through(k, i + 1, s->jump);
    k->dead = false;
    k->in = in;
    go_back(k, mark);
    state_take(k, before);
}

/* Leaves the region that a break of so many levels leaves. */
static void
walk_break(look *k, const td_inst *s)
{
    uint32_t mark = k->ntrail;
    enclosing *a = k->in;

    for (uint64_t n = s->imm; a && n; n--)
        a = a->up;
    if (!a)
        k->failed = true;
    if (k->failed)
        return;
    if (assume(k, s->arg[0], true, TD_LOOK_DEPTH)) {
        if (a->left)
            state_join(k, a->exit, k->now);
        else
            memcpy(a->exit, k->now, k->nslot * sizeof *k->now);
        a->left = true;
    }
    go_back(k, mark);
    k->dead = !assume(k, s->arg[0], false, TD_LOOK_DEPTH);
}

/* ---- the walk ---- */

static void
walk_slot(look *k, uint32_t i)
{
    const td_inst *s = &k->f->ins[i];
    uint32_t n = k->slot[s->op == OP_slot ? i : s->arg[0].i];

    if (n == UINT32_MAX)
        return;
    if (s->op == OP_get) {
        k->v[i] = is_any((td_dtype)s->dt, k->now[n])
                      ? range_any((td_dtype)s->dt)
                      : range_meet(k->now[n], range_any((td_dtype)s->dt));
        k->seen[i] = k->last[n];
        return;
    }
    k->last[n] = ++k->sets;
    k->now[n] = s->op == OP_slot ? range_join(k->now[n], (range){0, 0})
                                 : look_at(k, s->arg[1], TD_LOOK_DEPTH);
}

static void
walk_value(look *k, uint32_t i)
{
    const td_inst *s = &k->f->ins[i];
    const td_inst *p = s->op == OP_piece_end || s->op == OP_piece ? td_at(k->f, s->arg[0]) : NULL;

    if (s->op == OP_piece_end)
        k->v[i] = (range){k->v[s->arg[0].i].lo + 1, look_at(k, p->arg[1], TD_LOOK_DEPTH).hi};
    else if (s->op == OP_piece)
        k->v[i] = (range){0, (int64_t)p->imm - 1};
    else if (is_number(s))
        k->v[i] = evaluate(k, s, s->flags & TD_INST_CHECK ? TD_LOOK_DEPTH : 2);
    if ((s->flags & TD_INST_CHECK) && !k->quiet && !k->v[i].lo)
        k->verdict[s->imm] = k->same[i] == i ? TD_CHECK_OPEN : TD_CHECK_TOLD;
}

/* Walks instructions i to end - 1. */
static void
walk_through(look *k, uint32_t i, uint32_t end)
{
    for (; i < end && !k->failed && !k->dead; i++) {
        const td_inst *s = &k->f->ins[i];

        k->failed = ++k->steps > TD_LOOK_STEPS;
        switch (s->op) {
        case OP_if:       walk_if(k, i); break;
        case OP_for:
        case OP_loop:     walk_loop(k, i); break;
        case OP_block:    walk_block(k, i); break;
        case OP_parallel:
        case OP_func:     walk_apart(k, i); break;
        case OP_break_if: walk_break(k, s); break;
        case OP_exit_if:  k->dead = !assume(k, s->arg[0], false, TD_LOOK_DEPTH); break;
        case OP_slot:
        case OP_get:
        case OP_set:      walk_slot(k, i); break;
        default:
            if (td_optab[s->op].value)
                walk_value(k, i);
        }
        if (td_op_opens(s->op)) {
            i = s->jump;
            if (k->f->ins[i].op == OP_else)
                i = k->f->ins[i].jump;
        }
    }
}

/* ---- equal computations ---- */

static bool
is_same(const look *k, const td_inst *a, const td_inst *b)
{
    if (a->op != b->op || a->dt != b->dt || a->lanes != b->lanes ||
        (a->imm != b->imm && !(a->flags & TD_INST_CHECK) && !(b->flags & TD_INST_CHECK)))
        return false;
    for (uint32_t i = 0; i < td_optab[a->op].arity; i++)
        if (k->class[a->arg[i].i] != k->class[b->arg[i].i])
            return false;
    return true;
}

/* Finds them by a table of the last instruction of each key.  `open`: of instruction i, the region that it is in. */
static void
find_same(look *k, uint32_t *open)
{
    enum { KEYS = 1024 };
    uint32_t key[KEYS], in = UINT32_MAX;

    memset(key, -1, sizeof key);
    for (uint32_t i = 0; i < k->f->n; i++) {
        const td_inst *s = &k->f->ins[i];
        uint32_t h = s->op * 31u + s->dt, *at, around;

        k->class[i] = k->same[i] = i;
        if (s->op == OP_end || s->op == OP_else)
            in = open[in];
        open[i] = in;
        if (td_op_opens(s->op) || s->op == OP_else)
            in = i;
        if (!is_pure(s) && s->op != OP_const && td_optab[s->op].threads != TD_THREADS_PLACE)
            continue;
        for (uint32_t a = 0; a < td_optab[s->op].arity; a++)
            h = (h ^ k->class[s->arg[a].i]) * 0x9e3779b1u;
        if (!(s->flags & TD_INST_CHECK))
            h ^= (uint32_t)(s->imm ^ s->imm >> 32) * 0x85ebca6bu;
        at = &key[(h ^ h >> 15) % KEYS];
        if (*at != UINT32_MAX && is_same(k, s, &k->f->ins[*at])) {
            k->class[i] = k->class[*at];
            for (around = open[i]; around != UINT32_MAX && around != open[*at];
                 around = open[around])
                continue;
            if (around == open[*at]) {
                k->same[i] = k->same[*at];
                continue;
            }
        }
        *at = i;
    }
}

void
td_fn_ranges(const td_fn *f, const uint64_t *word, uint32_t nword, const uint32_t *grid,
             const uint32_t *block, uint8_t *verdict, uint32_t n)
{
    look k = {
        .f = f, .word = word, .nword = nword, .grid = grid, .block = block, .verdict = verdict};
    td_arena mem = {0};

    k.v = td_alloc_big(&mem, (f->n + 1) * sizeof *k.v);
    k.now = td_alloc_big(&mem, (f->n + 1) * sizeof *k.now);
    k.slot = td_alloc_big(&mem, (f->n + 1) * sizeof *k.slot);
    k.seen = td_alloc_big(&mem, (f->n + 1) * sizeof *k.seen);
    k.last = td_alloc_big(&mem, (f->n + 1) * sizeof *k.last);
    k.same = td_alloc_big(&mem, (f->n + 1) * sizeof *k.same);
    k.class = td_alloc_big(&mem, (f->n + 1) * sizeof *k.class);
    k.told = td_alloc_big(&mem, (f->n + 1) * sizeof *k.told);
    k.means = td_alloc_big(&mem, (f->n + 1) * sizeof *k.means);
    k.failed = !k.v || !k.now || !k.slot || !k.seen || !k.last || !k.same || !k.means || !k.class ||
               !k.told;
    for (uint32_t i = 0; !k.failed && i < f->n; i++) {
        const td_inst *s = &f->ins[i];

        k.v[i] = k.told[i] = range_any((td_dtype)s->dt);
        k.slot[i] = UINT32_MAX;
        if (s->op == OP_slot && is_number(s)) {
            k.now[k.nslot] = (range){0, 0};
            k.slot[i] = k.nslot++;
        }
    }
    if (!k.failed)
        find_same(&k, k.seen);
    memset(verdict, TD_CHECK_HOLDS, n);
    if (!k.failed)
        walk_through(&k, 0, f->n);
    if (k.failed)
        memset(verdict, TD_CHECK_OPEN, n);
    free(k.trail);
    td_arena_free(&mem);
}
