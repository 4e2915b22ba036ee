/* try.c - try, except, else and finally.
 *
 * A failure in a try's body leaves the block that contains the body, instead of the function
 * (thread_end).  The variables that the body assigns go through places at each such point, as at
 * a break.  An except clause takes the report out of the mailbox; after a finally without one the
 * function goes on failing.
 */
#include "front/infer/box.h"

#include <string.h>

struct trying {
    trying *up;
    frame *fr;
    uint64_t path;        /* the joins' */
    uint32_t node, depth; /* regions open around the body's block */
    bool parallel;
    uint32_t n, *name;
    place *where;
    bool *has;
    const carry **carried; /* on any path on which the body failed */
    td_status st;          /* of what a failing place could not do */
};

static td_hash
raised_key(const trying *t, uint32_t i)
{
    return td_hash_u64(join_key_at(t->path, t->node, t->name[i]), TD_SYN_Try);
}

bool
try_leave(walk *w)
{
    trying *t = w->tries;
    frame *fr = w->fr;
    uint32_t node = w->node;
    td_status st = TD_OK;

    if (!t || t->parallel != w->parallel)
        return false;
    w->fr = t->fr;
    w->node = t->node; /* of that function's tree */
    generating_recall(w, t->fr);
    for (uint32_t i = 0; !st && i < t->n; i++) {
        const thing *x = &w->fr->var[t->name[i]];

        if (!x->type && !x->clash) {
            join_unbound(w, raised_key(t, i));
            continue;
        }
        t->carried[i] = carry_join(w, x->carry, t->carried[i]);
        st = join_meet(w, raised_key(t, i), x, w->fr->s->root, name_of(w, t->name[i]));
        if (!st && t->has[i] && x->type)
            st = place_set(w, &t->where[i], x);
    }
    w->fr = fr;
    w->node = node;
    t->st = t->st ? t->st : st;
    leave(w, t->depth);
    return true;
}

/* The body under t; key: a place of the tree that its joins are known by. */
static td_status protected(walk *w, uint32_t node, uint32_t key, trying *t,
                           td_status body(walk *w, uint32_t node))
{
    td_status st;

    *t = (trying){
        .up = w->tries, .fr = w->fr, .path = w->fr->path, .node = key, .parallel = w->parallel};
    t->name = assigned_by(w, node, &t->n);
    t->where = td_alloc(w->mem, (t->n + 1) * sizeof *t->where);
    t->has = td_alloc(w->mem, t->n + 1);
    t->carried = td_alloc(w->mem, (t->n + 1) * sizeof *t->carried);
    memset(t->carried, 0, (t->n + 1) * sizeof *t->carried);
    for (uint32_t i = 0; i < t->n; i++) {
        join *j = join_variable(w, raised_key(t, i), t->name[i]);

        t->has[i] = j != NULL;
        if (j)
            t->where[i] = place_empty(w, j);
    }
    t->depth = w->depth;
    open_block(w);
    w->tries = t;
    st = body(w, node);
    w->tries = t->up;
    return st ? st : t->st;
}

/* The variables as they are where the body failed. */
static void
recall(walk *w, const trying *t)
{
    for (uint32_t i = 0; i < t->n; i++) {
        thing *x = &w->fr->var[t->name[i]];
        join *j = join_get(w, raised_key(t, i));

        if (t->has[i])
            *x = place_get(w, &t->where[i]);
        else if (j)
            *x = join_stand_in(w, j);
        x->carry = t->carried[i];
    }
}

static td_status
check_handlers(walk *w, uint32_t node)
{
    uint32_t list = F(node, Try_handlers), h = item_of(w, list, 0),
             class = F(h, ExceptHandler_type);
    td_objinfo info = {0};
    thing x;

    if (count_of(w, list) > 1)
        return bad(
            w, item_of(w, list, 1), TD_ERR_TYPE,
            "a try has one except clause here, for all exceptions: test before which one it is");
    if (F(h, ExceptHandler_name))
        return bad(w, h, TD_ERR_TYPE, "the exception has no name here: leave `as %s` out",
                   name_of(w, F(h, ExceptHandler_name)));
    if (!class)
        return TD_OK;
    TD_TRY(expr(w, class, &x));
    if (x.type->kind == TD_T_OBJECT)
        TD_TRY(w->host->describe(w->host->ctx, x.type->object, &info));
    if (info.kind != TD_OBJ_EXCEPTION || !info.text || strcmp(info.text, "Exception") != 0)
        return bad(w, class, TD_ERR_TYPE,
                   "except clauses are for all exceptions here: write `except Exception:`");
    return TD_OK;
}

static td_status
body_of(walk *w, uint32_t node)
{
    return stmts(w, F(node, Try_body));
}

static td_status
try_except(walk *w, uint32_t node)
{
    meeting m = {0};
    trying t;
    uint32_t out = w->depth;
    bool dead;

    if (!count_of(w, F(node, Try_handlers)))
        return stmts(w, F(node, Try_body));
    TD_TRY(check_handlers(w, node));
    m.name = assigned_by(w, node, &m.n);
    meet_begin(w, node, &m);
    open_block(w);
    TD_TRY(protected(w, node, node, &t, body_of));
    if (!w->dead)
        TD_TRY(stmts(w, F(node, Try_orelse)));
    dead = w->dead;
    if (!dead) {
        TD_TRY(meet_path(w, node, &m));
        leave(w, out);
    }
    close_region(w);
    meet_again(w, &m);
    recall(w, &t);
    w->dead = false;
    report_clear(w);
    TD_TRY(stmts(w, F(item_of(w, F(node, Try_handlers), 0), ExceptHandler_body)));
    if (!w->dead)
        TD_TRY(meet_path(w, node, &m));
    w->dead = w->dead && dead;
    close_region(w);
    if (!w->dead)
        meet_end(w, node, &m);
    return built(w, node);
}

/* ---- finally ---- */

struct finally { /* a try whose finally has not run yet */
    finally *up;
    frame *fr;
    loop *loop; /* the innermost one around it in that function */
    uint32_t body;
    trying *tries; /* what protects the finally's own statements */
};

thing *
finally_begin(walk *w)
{
    uint32_t n = w->fr->s->nnames + 1;
    thing *before = w->finals ? td_alloc(w->mem, n * sizeof *before) : NULL;

    if (before)
        copy_things(before, w->fr->var, n);
    return before;
}

void
finally_end(walk *w, const thing *before)
{
    if (before)
        copy_things(w->fr->var, before, w->fr->s->nnames + 1);
}

td_status
leave_finally(walk *w, const loop *l)
{
    finally *had = w->finals;
    trying *tries = w->tries;
    td_status st = TD_OK;

    for (finally *f = had; !st && !w->dead && f && f->fr == w->fr && (!l || f->loop == l);
         f = f->up) {
        w->finals = f->up;
        w->tries = f->tries;
        st = stmts(w, f->body);
    }
    w->finals = had;
    w->tries = tries;
    return st;
}

static void
enter_finally(walk *w, finally *f, uint32_t body)
{
    *f = (finally){
        .up = w->finals, .fr = w->fr, .loop = w->fr->loop, .body = body, .tries = w->tries};
    w->finals = f;
}

static td_status
try_finally(walk *w, uint32_t node)
{
    uint32_t final = F(node, Try_finalbody), out = w->depth;
    finally own;
    meeting m = {0};
    trying t;
    bool dead;

    m.name = assigned_by(w, node, &m.n);
    meet_begin(w, final, &m);
    open_block(w);
    enter_finally(w, &own, final);
    TD_TRY(protected(w, node, F(node, Try_finalbody), &t, try_except));
    w->finals = own.up;
    dead = w->dead;
    if (!dead) {
        TD_TRY(meet_path(w, final, &m));
        leave(w, out);
    }
    close_region(w);
    meet_again(w, &m);
    recall(w, &t);
    w->dead = false;
    TD_TRY(stmts(w, final)); /* on the way out */
    if (!w->dead)
        thread_end(w);
    w->dead = dead;
    close_region(w);
    if (dead)
        return built(w, node);
    meet_end(w, final, &m);
    return stmts(w, final);
}

td_status
stmt_try(walk *w, uint32_t node)
{
    if (!box_may(w))
        return refuse(w, node);
    iterations_left(w, NULL, "it has a try");
    recursive_touch(w);
    return count_of(w, F(node, Try_finalbody)) ? try_finally(w, node) : try_except(w, node);
}
