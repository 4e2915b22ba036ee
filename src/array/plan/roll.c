/* roll.c - a plan whose kernel runs the rounds of a program's loop.
 *
 * Steps stand in this order: what precedes the rounds, with all that rounds read unchanged; the carries; one round; what
 * follows.  Numbers that change from round to round (a time, a random generator's counter) are columns of a table in the
 * device's memory.
 */
#include "array/plan/roll.h"

#include <stdlib.h>
#include <string.h>

enum { WORDS = 2 * TD_NPAR }; /* of the numbers of a node */

typedef struct rolling {
    td_plan *p;
    const td_repeat *r;
    uint16_t *step;
    int end; /* the first node behind the rounds */
} rolling;

/* The step of source k of node i, which is in memory, a number, or a node that has a step. */
static td_status
source(rolling *g, int i, int k, uint16_t *out)
{
    td_node *s = g->r->node[i]->src[k];
    int at = td_repeat_place(g->r, s), c = at < 0 ? -1 : td_repeat_carried(g->r, i, k);

    if (at < 0)
        return td_plan_add(g->p, s, out);
    *out = c >= 0 ? g->p->rounds.carry[c].carry : g->step[at];
    return TD_OK;
}

static td_status
add_plain(rolling *g, int from, int to)
{
    uint16_t src[TD_MAXSRC];

    for (int i = from; i < to; i++) {
        for (int k = 0; k < g->r->node[i]->nsrc; k++)
            TD_TRY(source(g, i, k, &src[k]));
        TD_TRY(td_plan_step(g->p, g->r->node[i], src, &g->step[i]));
    }
    return TD_OK;
}

/* ---- numbers ---- */

/* The numbers of a node itself, as words of kernel arguments; returns how many. */
static int
own_words(const td_node *n, uint64_t word[WORDS])
{
    int used = n->kind == TD_N_SCALAR   ? 1
               : n->kind == TD_N_IOTA   ? 2
               : n->kind == TD_N_RANDOM ? TD_NPAR
                                        : 0;
    int count = 0;

    for (int i = 0; i < used; i++)
        count += td_plan_scalar_words(
            n->par[i], n->kind == TD_N_SCALAR ? (td_dtype)n->dt : n->par[i].dt, word + count);
    return count;
}

/* Node i of the first round (k < 0), or its source k, as the round number `round` has it. */
static const td_node *
in_round(const td_repeat *r, int i, int k, int round)
{
    const td_node *n = r->node[i + round * r->period];

    return k < 0 ? n : n->src[k];
}

/* Do its numbers change? */
static bool
changes(const td_repeat *r, int i, int k)
{
    uint64_t first[WORDS], word[WORDS];
    size_t n = (size_t)own_words(in_round(r, i, k, 0), first);

    for (int round = 1; round < r->rounds && n; round++) {
        own_words(in_round(r, i, k, round), word);
        if (memcmp(first, word, n * sizeof *word) != 0)
            return true;
    }
    return false;
}

static bool
is_number(const td_repeat *r, int i, int k)
{
    return r->node[i]->src[k]->kind == TD_N_SCALAR;
}

/* ---- the rounds ---- */

/* What all rounds read unchanged stands before them. */
static td_status
add_unchanging(rolling *g)
{
    const td_repeat *r = g->r;
    uint16_t at;

    for (int i = r->from; i < r->from + r->period; i++)
        for (int k = 0; k < r->node[i]->nsrc; k++)
            if (td_repeat_place(r, r->node[i]->src[k]) < 0 && !td_repeat_moves(r, i, k) &&
                !(is_number(r, i, k) && changes(r, i, k)))
                TD_TRY(source(g, i, k, &at));
    return TD_OK;
}

static td_status
add_carries(rolling *g)
{
    td_rounds *l = &g->p->rounds;
    const td_repeat *r = g->r;

    for (int c = 0; c < r->ncarried; c++) {
        int first = r->from + r->carried[c].at, before = first - r->carried[c].lag * r->period;
        td_step s = {.kind = TD_STEP_CARRY, .dt = r->node[first]->dt, .varies = 1};

        l->carry[c].init = TD_PLAN_NOSTEP;
        if (before >= 0 && r->node[before]->dt == s.dt)
            l->carry[c].init = g->step[before];
        TD_TRY(td_plan_append(g->p, r->node[first], &s, &l->carry[c].carry));
        l->ncarry++;
    }
    return TD_OK;
}

/* After the round's steps: what each carry is in the next round. */
static void
hand_on(rolling *g)
{
    td_rounds *l = &g->p->rounds;
    const td_carried *all = g->r->carried;

    for (int c = 0; c < g->r->ncarried; c++) {
        l->carry[c].next = g->step[g->r->from + all[c].at];
        for (int b = 0; b < g->r->ncarried;
             b++) /* what is two rounds old in the next one is one round old in this */
            if (all[b].at == all[c].at && all[b].lag + 1 == all[c].lag)
                l->carry[c].next = l->carry[b].carry;
    }
}

/* The scalars from number `from` on belong to node i, or to its source k: they vary. */
static void
vary(rolling *g, uint16_t from, int i, int k, int column[][2])
{
    td_rounds *l = &g->p->rounds;

    for (uint16_t at = from; at < g->p->nscalar; at++) {
        column[l->nvary][0] = i;
        column[l->nvary][1] = k;
        l->vary[l->nvary++] = (td_vary){.at = at};
    }
}

/* Source k of node i is a number that changes. */
static td_status
add_number(rolling *g, int i, int k, int column[][2], uint16_t *out)
{
    td_node *n = g->r->node[i]->src[k];
    td_step s = {.kind = TD_N_SCALAR, .dt = n->dt, .varies = 1};
    uint16_t from = g->p->nscalar;

    TD_TRY(td_plan_scalar(g->p, n->par[0], (td_dtype)n->dt, &s.scalar));
    vary(g, from, i, k, column);
    return td_plan_append(g->p, n, &s, out);
}

/* Source k of node i is a window that moves: it has an operand that nothing else reads. */
static td_status
add_moving(rolling *g, int i, int k, int column[][2], uint16_t *out)
{
    td_node *n = g->r->node[i]->src[k];
    td_step s = {.kind = TD_N_LEAF, .dt = n->dt, .varies = 1};
    td_rounds *l = &g->p->rounds;

    if (l->nvary == TD_PLAN_SCALARS)
        return TD_SKIP;
    TD_TRY(td_plan_load(g->p, n, &s.opnd));
    column[l->nvary][0] = i;
    column[l->nvary][1] = k;
    l->vary[l->nvary++] = (td_vary){.at = s.opnd, .moves = 1};
    return td_plan_append(g->p, n, &s, out);
}

static td_status
add_round(rolling *g, int column[][2])
{
    const td_repeat *r = g->r;
    td_plan *p = g->p;

    for (int i = r->from; i < r->from + r->period; i++) {
        uint16_t src[TD_MAXSRC], from;

        for (int k = 0; k < r->node[i]->nsrc; k++) {
            if (td_repeat_moves(r, i, k))
                TD_TRY(add_moving(g, i, k, column, &src[k]));
            else if (is_number(r, i, k) && changes(r, i, k))
                TD_TRY(add_number(g, i, k, column, &src[k]));
            else
                TD_TRY(source(g, i, k, &src[k]));
        }
        from = p->nscalar;
        TD_TRY(td_plan_step(p, r->node[i], src, &g->step[i]));
        if (changes(r, i, -1)) {
            p->step[g->step[i]].varies = 1;
            vary(g, from, i, -1, column);
        }
    }
    return TD_OK;
}

/* The varying numbers of all rounds go to the device. */
static td_status
add_table(rolling *g, int column[][2])
{
    td_rounds *l = &g->p->rounds;
    size_t nbytes = (size_t)g->r->rounds * l->nvary * sizeof(uint64_t);
    uint64_t *table = malloc(nbytes);
    td_buf *buf;
    td_status st;

    if (!table)
        return td_fail(TD_ERR_NOMEM, "array: out of host memory for the numbers of a loop");
    for (int round = 0; round < g->r->rounds; round++)
        for (int v = 0; v < l->nvary;) {
            const td_node *now = in_round(g->r, column[v][0], column[v][1], round);
            uint64_t word[WORDS];
            int n = 1;

            if (l->vary[v].moves) {
                int64_t by =
                    now->view.offset - in_round(g->r, column[v][0], column[v][1], 0)->view.offset;

                word[0] = (uint64_t)by;
                l->vary[v].by |= by;
            } else {
                n = own_words(now, word);
            }
            memcpy(table + (size_t)round * l->nvary + v, word, (size_t)n * sizeof *word);
            v += n;
        }
    st = td_buf_new(g->p->dev, g->p->stream, nbytes, &buf);
    if (!st) {
        st = td_copy_in(g->p->stream, buf->ptr, table, nbytes);
        if (!st)
            st = td_plan_table(g->p, buf, &l->table);
        td_buf_unref(buf);
    }
    free(table);
    return st;
}

td_status
td_plan_roll(td_plan *p, const td_repeat *r, uint16_t step[])
{
    rolling g = {.p = p, .r = r, .step = step, .end = r->from + r->rounds * r->period};
    int column[TD_PLAN_SCALARS][2];
    td_rounds *l = &p->rounds;

    TD_TRY(add_plain(&g, 0, r->from));
    TD_TRY(add_unchanging(&g));
    TD_TRY(td_plan_scalar(p, (td_scalar){.dt = TD_I64, .i = r->rounds}, TD_I64, &l->count));
    l->from = p->nstep;
    TD_TRY(add_carries(&g));
    TD_TRY(add_round(&g, column));
    l->to = p->nstep;
    hand_on(&g);
    TD_TRY(add_plain(&g, g.end, r->n));
    return l->nvary ? add_table(&g, column) : TD_OK;
}
