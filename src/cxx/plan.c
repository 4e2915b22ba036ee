/* plan.c - decides which statements of a kernel form a region, and where its variables live.
 *
 * Code that runs once for the block splits a region, so only what must runs once: variables in
 * conditions around barriers, and uniform variables that several regions need and that cannot be
 * computed again in each.
 */
#include "cxx/regions.h"
#include "cxx/types.h"

#include <string.h>

static bool
need_range(cx_body *b, uint32_t i, uint32_t end)
{
    bool more = false;

    for (uint32_t r = 0; r < b->nref; r++) {
        cx_local *l = &b->local[b->ref[r].local];

        if (b->ref[r].at < i || b->ref[r].at >= end || l->is_shared || l->needed)
            continue;
        if (!l->uniform)
            b->doubt = true;
        l->needed = more = true;
    }
    return more;
}

static bool
changes_needed(const cx_body *b, const cx_stmt *s, bool *all)
{
    bool any = false;

    *all = true;
    for (uint32_t i = 0; i < b->nmod; i++)
        if (b->mod[i].at >= s->first && b->mod[i].at < s->end) {
            any |= b->local[b->mod[i].local].needed;
            *all &= b->local[b->mod[i].local].needed;
        }
    for (uint32_t v = 0; v < b->nlocal; v++)
        if (b->local[v].at >= s->first && b->local[v].at < s->end && b->local[v].stmt) {
            any |= b->local[v].needed;
            *all &= b->local[v].needed;
        }
    return any;
}

/* Marks the uniform statement to run once for the block. */
static bool
runs_once(const cx_body *b, uint32_t n)
{
    const cx_stmt *s = &b->stmt[n];
    bool all;

    if (!s->cut || s->waits)
        return false;
    return s->kind == STMT_NAME || s->kind == STMT_SHARED || td_body_jumps(b, n) ||
           (changes_needed(b, s, &all) && all);
}

/* Marks as needed what statements that run once read; what sets a needed variable runs once
 * too. */
static bool
need(cx_body *b, uint32_t n)
{
    const cx_stmt *s = &b->stmt[n];
    bool more = false, all;

    if (s->waits && s->cut) {
        if (s->open)
            more |= need_range(b, s->open, s->close);
        for (uint32_t c = s->child; c; c = s->kind == STMT_BLOCK ? b->stmt[c].next : 0)
            more |= need(b, c);
        return s->other ? need(b, s->other) || more : more;
    }
    if ((!s->cut && s->kind != STMT_DECLARE) || s->strided)
        return false;
    if (s->kind == STMT_DECLARE) {
        for (uint32_t v = 0; v < b->nlocal; v++)
            if (b->local[v].stmt == n && b->local[v].needed)
                more |= need_range(b, b->local[v].from, b->local[v].end);
        return more;
    }
    if (s->kind == STMT_NAME || s->kind == STMT_SHARED || td_body_jumps(b, n) ||
        changes_needed(b, s, &all))
        more |= need_range(b, s->first, s->end);
    return more;
}

/* ---- regions ---- */

typedef struct cutter {
    cx_plan *p;
    uint32_t open; /* the region that the next statement may join; 0 */
} cutter;

static bool
mixed(const cx_body *b, uint32_t n)
{
    for (uint32_t v = 0; v < b->nlocal && b->stmt[n].kind == STMT_DECLARE; v++)
        if (b->local[v].stmt == n && b->local[v].needed)
            return true;
    return false;
}

static void
plan_mark(cx_body *b, uint32_t n, uint32_t region)
{
    cx_stmt *s = &b->stmt[n];

    s->region = region;
    for (uint32_t c = s->child; c; c = s->kind == STMT_BLOCK ? b->stmt[c].next : 0)
        plan_mark(b, c, region);
    if (s->other)
        plan_mark(b, s->other, region);
}

static void cut_statements(cutter *c, uint32_t n, bool in_loop);

static void
join_region(cutter *c, uint32_t n, bool in_loop)
{
    cx_plan *p = c->p;
    const cx_stmt *s = &p->b.stmt[n];
    cx_region *r;

    if (s->waits && s->cut) {
        c->open = 0;
        cut_statements(c, n, in_loop);
        c->open = 0;
        return;
    }
    if (s->strided) {
        c->open = 0;
        join_region(c, s->child, true);
        p->region[p->nregion].strided = n;
        c->open = 0;
        return;
    }
    if (runs_once(&p->b, n)) {
        plan_mark(&p->b, n, 0);
        c->open = 0;
        return;
    }
    if (s->kind == STMT_EMPTY && !c->open)
        return;
    if (!c->open || p->region[c->open].in_turns != s->waits || mixed(&p->b, n)) {
        p->region = td_cxx_grow(p->b.j->u.a, p->region, p->nregion + 1, sizeof *p->region);
        if (!p->region) {
            p->b.doubt = true;
            return;
        }
        c->open = ++p->nregion;
        p->region[c->open] =
            (cx_region){.first = n, .from = s->first, .in_turns = s->waits, .in_loop = in_loop};
    }
    r = &p->region[c->open];
    r->last = n;
    r->end = s->end;
    for (uint32_t i = s->first; i < s->end; i++)
        r->returns |= td_tok_named(&p->b.j->u.k.t[i], "return");
    plan_mark(&p->b, n, c->open);
}

/* Cuts the statements inside one that waits. */
static void
cut_statements(cutter *c, uint32_t n, bool in_loop)
{
    const cx_stmt *s = &c->p->b.stmt[n];
    bool loop = s->kind == STMT_FOR || s->kind == STMT_WHILE || s->kind == STMT_DO;

    for (uint32_t i = s->child; i && !c->p->b.doubt;
         i = s->kind == STMT_BLOCK ? c->p->b.stmt[i].next : 0)
        join_region(c, i, in_loop || loop);
    c->open = 0;
    if (s->other && !c->p->b.doubt)
        join_region(c, s->other, in_loop);
}

uint32_t
td_plan_home(const cx_plan *p, const cx_local *l)
{
    return l->stmt ? p->b.stmt[l->stmt].region : 0;
}

/* The region of token `at`; a strided loop's header belongs to its body's region. */
static uint32_t
region_at(const cx_plan *p, uint32_t at)
{
    for (uint32_t r = 1; r <= p->nregion; r++) {
        uint32_t from =
            p->region[r].strided ? p->b.stmt[p->region[r].strided].first : p->region[r].from;

        if (at >= from && at < p->region[r].end)
            return r;
    }
    return 0;
}

/* Finds where each variable's name must be visible: where it is written, and where a variable
 * that is computed again reads it. */
static bool
find_uses(cx_plan *p)
{
    cx_body *b = &p->b;
    size_t width = p->nregion + 1;
    bool more = true;

    p->used = td_alloc_big(b->j->u.a, (b->nlocal + 1) * width);
    if (!p->used)
        return false;
    for (uint32_t i = 0; i < b->nref; i++)
        p->used[b->ref[i].local * width + region_at(p, b->ref[i].at)] = 1;
    while (more) {
        more = false;
        for (uint32_t i = 0; i < b->nref; i++)
            for (uint32_t v = 0; v < b->nlocal; v++) {
                const cx_local *l = &b->local[v];

                if (l->keep != KEEP_AGAIN || b->ref[i].at <= l->at || b->ref[i].at >= l->end)
                    continue;
                for (uint32_t r = 1; r < width; r++)
                    if (p->used[v * width + r] && r != td_plan_home(p, l) &&
                        !p->used[b->ref[i].local * width + r])
                        p->used[b->ref[i].local * width + r] = more = 1;
            }
    }
    return true;
}

static bool
is_changed(const cx_body *b, uint32_t v)
{
    for (uint32_t i = 0; i < b->nmod; i++)
        if (b->mod[i].local == v)
            return true;
    return b->local[v].odd;
}

static void
find_again(cx_body *b)
{
    bool more = true;

    while (more) {
        more = false;
        for (uint32_t v = 0; v < b->nlocal; v++) {
            cx_local *l = &b->local[v];

            if (l->keep != KEEP_INSIDE || !l->stmt || b->stmt[l->stmt].kind != STMT_DECLARE ||
                l->needed || !l->init || !td_tok_is(&b->j->u.k.t[l->init], "=") || l->is_array ||
                l->is_reference || l->is_shared || is_changed(b, v) ||
                !td_body_again(b, l->init + 1, l->end, l->at, l->scope_end))
                continue;
            l->keep = KEEP_AGAIN;
            more = true;
        }
    }
}

/* Whether memory for one per thread can be declared from its declaration. */
static bool
storable(const cx_local *l)
{
    return !l->is_reference && !l->is_auto && !l->is_shared;
}

/* Chooses where variables live; true: one more is needed once, so the regions must be cut
 * again. */
static bool
plan_choose(cx_plan *p)
{
    cx_body *b = &p->b;
    bool more = false;

    for (uint32_t v = 0; v < b->nlocal; v++) {
        cx_local *l = &b->local[v];
        uint32_t home = td_plan_home(p, l);
        bool crosses = false;

        if (l->is_shared || l->keep == KEEP_ROUND)
            continue;
        if (l->needed) {
            l->keep = KEEP_ONCE;
            continue;
        }
        for (uint32_t r = 0; r <= p->nregion; r++)
            crosses |= r != home && td_plan_used(p, v, r);
        if (!l->stmt) { /* a parameter */
            if (is_changed(b, v) && l->uniform)
                l->needed = more = true;
            else if (is_changed(b, v))
                l->keep = KEEP_EACH;
        } else if (crosses && l->keep != KEEP_AGAIN) {
            if (l->uniform)
                l->needed = more = true;
            else if (!storable(l))
                b->doubt = true;
            else
                l->keep = KEEP_EACH;
        } else if (crosses && td_plan_used(p, v, 0) && home)
            b->doubt = true;
    }
    return more;
}

/* Loops with strides among the statements of the kernel's body. */
static bool
find_strided(cx_body *b)
{
    bool any = false;

    find_again(b);
    for (uint32_t c = b->stmt[1].child; c; c = b->stmt[c].next) {
        cx_stride s;

        b->stmt[c].strided = td_plan_strided(b, c, &s);
        if (b->stmt[c].strided)
            b->local[s.local].keep = KEEP_ROUND;
        any |= b->stmt[c].strided;
    }
    return any;
}

bool
td_plan_make(cx_job *j, const cx_fn *f, cx_plan *p)
{
    bool loops = false, waits;

    *p = (cx_plan){0};
    if (!td_body_read(j, f, &p->b))
        return false;
    waits = p->b.stmt[1].waits;
    p->b.stmt[1].waits = true;
    td_body_uniform(&p->b);
    if (!find_strided(&p->b) && !waits &&
        !(p->b.stmt[1].child && td_plan_guards(&p->b, p->b.stmt[1].child, 0, &p->guards)))
        return false;
    do {
        while (need(&p->b, 1) && !p->b.doubt)
            ;
        p->nregion = 0;
        p->region = td_cxx_grow(j->u.a, NULL, 0, sizeof *p->region);
        for (uint32_t v = 0; v < p->b.nlocal; v++)
            if (p->b.local[v].keep != KEEP_ROUND)
                p->b.local[v].keep = KEEP_INSIDE;
        if (p->b.doubt || !p->region)
            return false;
        cut_statements(&(cutter){p, 0}, 1, false);
        find_again(&p->b);
        if (p->b.doubt || !find_uses(p))
            return false;
    } while (plan_choose(p) && !p->b.doubt);
    for (uint32_t r = 1; r <= p->nregion; r++) {
        loops |= !p->region[r].in_turns;
        p->alive |= p->region[r].returns && (p->region[r].in_loop || r < p->nregion);
    }
    return loops && !p->b.doubt && p->b.stmt[1].cut;
}
