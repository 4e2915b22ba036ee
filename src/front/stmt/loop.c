/* loop.c - loops, and which names statements assign. */
#include "front/infer/exact.h"

#include <string.h>

/* ---- names that are assigned ---- */

typedef struct names {
    uint32_t n, cap, *id;
} names;

static void
add_name(walk *w, names *s, uint32_t id)
{
    for (uint32_t i = 0; i < s->n; i++)
        if (s->id[i] == id)
            return;
    if (s->n == s->cap) {
        uint32_t *more = td_alloc(w->mem, (s->cap = 2 * s->cap + 8) * sizeof *more);

        if (s->n)
            memcpy(more, s->id, s->n * sizeof *more);
        s->id = more;
    }
    s->id[s->n++] = id;
}

static void
targets_of(walk *w, names *s, uint32_t target)
{
    uint32_t list = kind_of(w, target) == TD_SYN_Tuple  ? F(target, Tuple_elts)
                    : kind_of(w, target) == TD_SYN_List ? F(target, List_elts)
                                                        : 0;

    if (kind_of(w, target) == TD_SYN_Name)
        add_name(w, s, F(target, Name_id));
    else if (kind_of(w, target) == TD_SYN_Starred)
        targets_of(w, s, F(target, Starred_value));
    for (uint32_t i = 0; i < count_of(w, list); i++)
        targets_of(w, s, item_of(w, list, i));
}

/* Walks all nodes below: fields are found by the table, so := in an expression counts too. */
static void
names_below(walk *w, names *s, uint32_t node)
{
    td_syn k = kind_of(w, node);
    const char *p = td_syntab[k].fields;
    uint32_t at = node + TD_SYN_HEAD;

    switch (k) {
    case TD_SYN_FunctionDef: add_name(w, s, F(node, FunctionDef_name)); return;
    case TD_SYN_Lambda:      return;
    case TD_SYN_Assign:
        for (uint32_t i = 0; i < count_of(w, F(node, Assign_targets)); i++)
            targets_of(w, s, item_of(w, F(node, Assign_targets), i));
        break;
    case TD_SYN_AugAssign: targets_of(w, s, F(node, AugAssign_target)); break;
    case TD_SYN_AnnAssign: targets_of(w, s, F(node, AnnAssign_target)); break;
    case TD_SYN_NamedExpr: targets_of(w, s, F(node, NamedExpr_target)); break;
    case TD_SYN_For:       targets_of(w, s, F(node, For_target)); break;
    default:               break;
    }
    for (; *p; at++) {
        const char *what = strchr(p, ':') + 1;
        uint32_t v = field_of(w, at, 0);

        if (*what == 'n' && v)
            names_below(w, s, v);
        for (uint32_t i = 0; *what == 'l' && i < count_of(w, v); i++)
            if (item_of(w, v, i))
                names_below(w, s, item_of(w, v, i));
        p = what[1] ? what + 2 : what + 1;
    }
}

static void
names_in(walk *w, names *s, uint32_t list)
{
    for (uint32_t i = 0; i < count_of(w, list); i++)
        names_below(w, s, item_of(w, list, i));
}

uint32_t *
assigned(walk *w, uint32_t list, uint32_t also, uint32_t *n)
{
    names s = {0};

    if (also)
        targets_of(w, &s, also);
    names_in(w, &s, list);
    *n = s.n;
    return s.id;
}

uint32_t *
assigned_by(walk *w, uint32_t node, uint32_t *n)
{
    names s = {0};

    names_below(w, &s, node);
    *n = s.n;
    return s.id;
}

bool
has_loops(const walk *w, uint32_t list)
{
    for (uint32_t i = 0; i < count_of(w, list); i++) {
        uint32_t node = item_of(w, list, i);
        td_syn k = kind_of(w, node);

        if (k == TD_SYN_For || k == TD_SYN_While || k == TD_SYN_Try ||
            (k == TD_SYN_If &&
             (has_loops(w, F(node, If_body)) || has_loops(w, F(node, If_orelse)))))
            return true;
    }
    return false;
}

bool
contains(const walk *w, uint32_t list, td_syn kind)
{
    for (uint32_t i = 0; i < count_of(w, list); i++) {
        uint32_t node = item_of(w, list, i);
        td_syn k = kind_of(w, node);

        if (k == kind)
            return true;
        if (k == TD_SYN_If &&
            (contains(w, F(node, If_body), kind) || contains(w, F(node, If_orelse), kind)))
            return true;
        if (k == TD_SYN_Try &&
            (contains(w, F(node, Try_body), kind) || contains(w, F(node, Try_orelse), kind) ||
             contains(w, F(node, Try_finalbody), kind)))
            return true;
        for (uint32_t h = 0; k == TD_SYN_Try && h < count_of(w, F(node, Try_handlers)); h++)
            if (contains(w, F(item_of(w, F(node, Try_handlers), h), ExceptHandler_body), kind))
                return true;
        if (k == TD_SYN_For && contains(w, F(node, For_orelse), kind))
            return true;
        if (k == TD_SYN_While && contains(w, F(node, While_orelse), kind))
            return true;
    }
    return false;
}

/* ---- regions ---- */

/* Regions are counted: break_if's levels. */
static void
open_loop(walk *w)
{
    td_loop(w->f);
    w->depth++;
}

void
open_block(walk *w)
{
    td_block(w->f);
    w->depth++;
}

void
close_region(walk *w)
{
    td_end(w->f);
    w->depth--;
}

void
leave(walk *w, uint32_t depth)
{
    td_break_out(w->f, td_const_int(w->f, TD_BOOL, 1), w->depth - depth - 1);
}

/* ---- variables of a loop ---- */

td_hash
loop_key(const loop *l, uint32_t name)
{
    return td_hash_u64(td_hash_u64(TD_HASH_INIT, l->path), (uint64_t)l->node << 32 | name);
}

static uint32_t
else_of(const walk *w, uint32_t node)
{
    return kind_of(w, node) == TD_SYN_For ? F(node, For_orelse) : F(node, While_orelse);
}

/* Gives places to what the loop assigns, and to what its else assigns, which break skips;
 * stores their present values. */
static td_status
loop_enter(walk *w, loop *l, uint32_t list, uint32_t target, uint32_t node)
{
    names s = {0};

    if (target)
        targets_of(w, &s, target);
    else if (kind_of(w, node) == TD_SYN_While)
        names_below(w, &s, F(node, While_test));
    names_in(w, &s, list);
    names_in(w, &s, else_of(w, node));
    l->var = s.id;
    l->nvar = s.n;
    l->where = td_alloc(w->mem, (l->nvar + 1) * sizeof *l->where);
    l->has = td_alloc(w->mem, (l->nvar + 1) * sizeof *l->has);
    l->unset = td_alloc(w->mem, l->nvar + 1);
    l->unset_next = td_alloc(w->mem, l->nvar + 1);
    l->unset_left = td_alloc(w->mem, l->nvar + 1);
    l->node = node;
    l->path = w->fr->path;
    l->before = td_alloc(w->mem, (l->nvar + 1) * sizeof *l->before);
    for (uint32_t i = 0; i < l->nvar; i++) {
        thing *x = &w->fr->var[l->var[i]];
        td_hash key = loop_key(l, l->var[i]);

        join *j;

        l->before[i] = x->carry;
        l->unset[i] = !x->type || x->maybe;
        if (x->type || x->clash)
            TD_TRY(join_meet(w, key, x, node, name_of(w, l->var[i])));
        else
            join_unbound(w, key);
        if ((j = join_variable(w, key, l->var[i]))) {
            l->where[i] = x->type ? place_new(w, j) : place_empty(w, j);
            l->has[i] = true;
            if (x->type)
                TD_TRY(place_set(w, &l->where[i], x));
        }
    }
    l->up = w->fr->loop;
    w->fr->loop = l;
    return loop_mark(w, l);
}

/* Under this the verdicts keep which loops within the loop, of iterations in any order, have left the variable, for the
 * next walk. */
static td_hash
gone_key(const loop *l, uint32_t name)
{
    return td_hash_u64(loop_key(l, name), TD_SYN_COUNT);
}

/* Passes the variables' present values to the next iteration, or (left) out of the loop. */
static td_status
loop_keep(walk *w, const loop *l, bool left)
{
    bool *unset = left ? l->unset_left : l->unset_next;

    for (uint32_t i = 0; i < l->nvar; i++) {
        const thing *x = &w->fr->var[l->var[i]];
        const carry *had, *gone;

        if (unset && (!x->type || x->maybe))
            unset[i] = true;
        if (x->type || x->clash)
            TD_TRY(join_meet(w, loop_key(l, l->var[i]), x, l->node, name_of(w, l->var[i])));
        if (!x->type)
            continue;
        if (l->unset && l->unset[i])
            join_unbound(w, loop_key(l, l->var[i]));
        if (l->has[i])
            TD_TRY(place_set(w, &l->where[i], x));
        had = td_map_get(&w->verdicts, gone_key(l, l->var[i]));
        gone = carry_gone(w, x->carry, had);
        if (gone != had) {
            if (td_map_set(&w->verdicts, gone_key(l, l->var[i]), (void *)gone))
                w->mem->failed = true;
            w->again = true;
        }
    }
    return TD_OK;
}

/* Does an iteration of the loop always set the variable? */
static bool
sets_always(walk *w, const loop *l, uint32_t name)
{
    bool counts = kind_of(w, l->node) == TD_SYN_For;
    uint32_t list = counts ? F(l->node, For_body) : F(l->node, While_body), n;
    uint32_t *id = assigned(w, 0, counts ? F(l->node, For_target) : 0, &n);

    for (uint32_t i = 0; i < n; i++)
        if (id[i] == name)
            return true;
    for (uint32_t i = 0; i < count_of(w, list); i++) {
        td_syn k = kind_of(w, item_of(w, list, i));

        id = k == TD_SYN_Assign ? assigned_by(w, item_of(w, list, i), &n) : NULL;
        for (uint32_t j = 0; id && j < n; j++)
            if (id[j] == name)
                return true;
    }
    return false;
}

enum recalled {
    AT_HEAD, /* of an iteration */
    AT_ELSE, /* where the loop's iterations are over */
    BEHIND,  /* where all paths out of it meet */
};

/* Does the loop's variable i have a value there on all paths? */
static bool
is_set(const loop *l, uint32_t i, enum recalled at, bool has_else)
{
    bool over = l->endless || (!l->unset_next[i] && (l->runs || !l->unset[i]));

    return at == AT_ELSE ? over : at == BEHIND && (over || has_else) && !l->unset_left[i];
}

/* The loop's variables as they are there. */
static void
recall(walk *w, const loop *l, enum recalled at)
{
    bool has_else = count_of(w, else_of(w, l->node)) != 0;

    for (uint32_t i = 0; i < l->nvar; i++) {
        thing *x = &w->fr->var[l->var[i]];
        const char *name = x->type && x->view ? x->view->name : NULL;
        join *j = join_get(w, loop_key(l, l->var[i]));

        if (l->has[i])
            *x = place_get(w, &l->where[i]);
        else /* without a join no path comes here with a value */
            *x = join_stand_in(w, j);
        if (x->type && x->view)
            x->view->name = name;
        if (is_set(l, i, at, has_else))
            x->maybe = false;
        x->carry = carry_join(w, td_map_get(&w->verdicts, gone_key(l, l->var[i])), l->before[i]);
        if (at != AT_HEAD && sets_always(w, l, l->var[i]))
            x->carry = carry_weak(w, x->carry);
        if (l->iterations)
            x->carry = carry_new(w, l->iterations, l->var[i], at != AT_HEAD, x->carry);
    }
}

td_status
leave_loop(walk *w, uint32_t node, bool next)
{
    loop *l = w->fr->loop;
    thing *before;

    if (!l)
        return bad(w, node, TD_ERR_VALUE, "%s outside of a loop", next ? "continue" : "break");
    if (!next && l->iterations)
        iterations_left(w, l->iterations, "the loop is left by break");
    before = finally_begin(w);
    TD_TRY(leave_finally(w, l));
    if (!w->dead)
        TD_TRY(loop_keep(w, l, !next));
    finally_end(w, before);
    if (w->dead)
        return TD_OK;
    leave(w, next ? l->depth_next : l->depth_break);
    w->dead = true;
    return built(w, node);
}

/* A loop with an else: the whole lies in a block that break leaves, so that else runs only without a break. */
static void
begin_else(walk *w, uint32_t orelse)
{
    if (count_of(w, orelse))
        open_block(w);
}

static td_status
end_else(walk *w, loop *l, uint32_t orelse)
{
    w->fr->loop = l->up;
    w->dead = false;
    if (!count_of(w, orelse))
        return TD_OK;
    recall(w, l, AT_ELSE);
    TD_TRY(stmts(w, orelse));
    if (!w->dead)
        TD_TRY(loop_keep(w, l, true));
    w->dead = false;
    close_region(w);
    return TD_OK;
}

/* One iteration: the body, in a block if continue needs one; then its variables are kept. */
td_status
emit_iteration(walk *w, loop *l, uint32_t body)
{
    bool block = contains(w, body, TD_SYN_Continue);

    w->dead = false;
    l->depth_next = w->depth;
    if (block)
        open_block(w);
    TD_TRY(stmts(w, body));
    if (!w->dead)
        TD_TRY(loop_keep(w, l, false));
    if (block)
        close_region(w);
    return loop_sweep(w, l);
}

td_status
stmt_while(walk *w, uint32_t node)
{
    loop l = {0};
    thing c;
    uint32_t body = F(node, While_body), checks, named;

    TD_TRY(loop_enter(w, &l, body, 0, node));
    l.depth_break = w->depth;
    begin_else(w, F(node, While_orelse));
    open_loop(w);
    recall(w, &l, AT_HEAD);
    checks = exact_iteration_begin(w, node);
    TD_TRY(expr_optional(w, F(node, While_test), &c));
    TD_TRY(truth(w, &c, &c));
    (void)assigned_by(w, F(node, While_test), &named);
    if (named) /* := in the test: what it leaves goes behind the loop, too */
        TD_TRY(loop_keep(w, &l, false));
    if (!c.known)
        td_break_if(w->f, TD_E1(w->f, logical_not, c.num.re));
    else if (c.lit.i)
        l.endless = true;
    else
        td_break_if(w->f, td_const_int(w->f, TD_BOOL, 1));
    TD_TRY(emit_iteration(w, &l, body));
    exact_iteration_end(w, node, checks);
    close_region(w);
    TD_TRY(end_else(w, &l, F(node, While_orelse)));
    recall(w, &l, BEHIND);
    if (c.known && c.lit.i && !contains(w, body, TD_SYN_Break))
        w->dead = true; /* while True without a break */
    return built(w, node);
}

/* ---- for ---- */

/* for over `n` iterations; iteration k gets element k. */
static td_status
for_count(walk *w, uint32_t node, const thing *it)
{
    iterations *t;
    loop l = {0};
    /* LLVM takes loops apart that count by ones, which a GPU's memory likes; a CPU's lanes are found by the step. */
    bool up = range_goes_up(it) && (it->item[2].known || !w->how->gpu);
    thing x, n;
    td_val k, zero = td_const_int(w->f, TD_I64, 0), one = td_const_int(w->f, TD_I64, 1);
    uint32_t checks;

    t = iterations_begin(w, &l, node, it->prange, range_is_short(it));
    if (!up || iterations_how(t) != RUN_IN_ORDER)
        TD_TRY(iter_limit(w, it, node, &n));
    if (iterations_how(t) != RUN_IN_ORDER)
        return for_parallel(w, node, it, t, &n);
    TD_TRY(loop_enter(w, &l, F(node, For_body), F(node, For_target), node));
    l.runs = iter_runs(it);
    l.depth_break = w->depth;
    begin_else(w, F(node, For_orelse));
    k = up ? range_for(w, it) : td_for(w->f, zero, val_as(w, &n, TD_I64), one);
    w->depth++;
    recall(w, &l, AT_HEAD);
    checks = exact_iteration_begin(w, node);
    w->item = lin_of(w, t);
    if (up) {
        x = num_index(k, it->item[0].nonneg);
        x.least = x.nonneg ? (uint32_t)num_least(&it->item[0]) : 0;
        x.small = it->item[0].small && it->item[2].small;
        range_facts(w, it, &x);
    } else {
        TD_TRY(iter_item(w, it, k, node, &x));
    }
    w->item = NULL;
    TD_TRY(assign(w, F(node, For_target), &x));
    TD_TRY(emit_iteration(w, &l, F(node, For_body)));
    exact_iteration_end(w, node, checks);
    TD_TRY(iterations_end(w, t));
    close_region(w);
    TD_TRY(end_else(w, &l, F(node, For_orelse)));
    recall(w, &l, BEHIND);
    return built(w, node);
}

/* Over the items of a tuple, whose types may differ: the body is walked once for each, its joins apart. */
static td_status
for_tuple(walk *w, uint32_t node, const thing *t)
{
    uint64_t path = w->fr->path;

    for (uint32_t i = 0; i < t->type->n && !w->dead; i++) {
        TD_TRY(assign(w, F(node, For_target), &t->item[i]));
        w->fr->path = td_mix64(path + i + 1);
        TD_TRY(stmts(w, F(node, For_body)));
        w->fr->path = path;
    }
    return w->dead ? TD_OK : stmts(w, F(node, For_orelse));
}

/* One iteration of loop l, with x as its item. */
td_status
loop_with(walk *w, loop *l, const thing *x)
{
    recall(w, l, AT_HEAD);
    TD_TRY(assign(w, F(l->node, For_target), x));
    l->depth_next = w->depth;
    open_block(w);
    TD_TRY(stmts(w, F(l->node, For_body)));
    if (!w->dead)
        TD_TRY(loop_keep(w, l, false));
    close_region(w);
    w->dead = false;
    return TD_OK;
}

void
loop_recall(walk *w, const loop *l)
{
    recall(w, l, AT_HEAD);
}

static td_status
each_of_tuple(walk *w, loop *l, const thing *t)
{
    uint64_t path = w->fr->path;

    for (uint32_t i = 0; i < t->type->n; i++) {
        thing x = t->item[i];

        w->fr->path = td_mix64(path + i + 1);
        TD_TRY(loop_with(w, l, &x));
        w->fr->path = path;
    }
    return TD_OK;
}

/* Over items for each of which the body is walked, where what the body assigns goes through places: those of a tuple
 * whose iterations are left early, those of a generator. */
static td_status
for_walked(walk *w, uint32_t node, const thing *it, td_status each(walk *, loop *, const thing *))
{
    loop l = {0};

    TD_TRY(loop_enter(w, &l, F(node, For_body), F(node, For_target), node));
    l.runs = it->type->kind == TD_T_TUPLE && it->type->n > 0;
    l.depth_break = w->depth;
    open_block(w);
    TD_TRY(each(w, &l, it));
    w->fr->loop = l.up;
    if (count_of(w, F(node, For_orelse))) {
        recall(w, &l, AT_ELSE);
        TD_TRY(stmts(w, F(node, For_orelse)));
        if (!w->dead)
            TD_TRY(loop_keep(w, &l, true));
    }
    w->dead = false;
    close_region(w);
    recall(w, &l, BEHIND);
    return built(w, node);
}

td_status
stmt_for(walk *w, uint32_t node)
{
    thing x, it;

    w->walked = true;
    TD_TRY(expr(w, F(node, For_iter), &x));
    w->node = node;
    if (is_generator(&x))
        return for_walked(w, node, &x, for_generator);
    TD_TRY(iter_of(w, &x, F(node, For_iter), &it));
    if (it.type->kind != TD_T_TUPLE)
        return for_count(w, node, &it);
    return contains(w, F(node, For_body), TD_SYN_Break) ||
                   contains(w, F(node, For_body), TD_SYN_Continue)
               ? for_walked(w, node, &it, each_of_tuple)
               : for_tuple(w, node, &it);
}
