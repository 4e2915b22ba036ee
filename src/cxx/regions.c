/* regions.c - writes a kernel that has been cut: loops over threads around its regions, variables
 * where they live.
 */
#include "cxx/regions.h"
#include "cxx/types.h"

#include <string.h>

static const char *const of_storage[] = {"const",      "constexpr", "static", "register",
                                         "__shared__", "extern",    NULL};

static const tok *
at(const cx_plan *p, uint32_t i)
{
    return &p->b.j->u.k.t[i];
}

static const char *
local_name(cx_plan *p, const cx_local *l)
{
    return td_edit_format(&p->b.j->e, "%.*s", (int)l->name->n, l->name->s);
}

/* Tokens [i, end) without static and its like, and without const where it is the variable that does not change. */
static const char *
bare(cx_plan *p, uint32_t i, uint32_t end, bool keep_const)
{
    const char *all = "";

    for (; i < end; i++)
        if (!td_tok_among(at(p, i), of_storage) || (keep_const && td_tok_is(at(p, i), "const")))
            all = td_edit_format(&p->b.j->e, "%s%s%.*s", all, *all ? " " : "", (int)at(p, i)->n,
                                 at(p, i)->s);
    return all;
}

/* [ (N) ][ (M) ] behind the name. */
static const char *
dimensions(cx_plan *p, const cx_local *l)
{
    const char *all = "";

    for (uint32_t i = l->at + 1; i < l->end && td_tok_is(at(p, i), "["); i = at(p, i)->match + 1)
        all = td_edit_format(&p->b.j->e, "%s[(%s)]", all,
                             td_edit_spell(&p->b.j->e, &p->b.j->u.k, i + 1, at(p, i)->match));
    return all;
}

static const char *
type_of(cx_plan *p, const cx_local *l)
{
    uint32_t star = l->at;

    while (star > l->from && !td_tok_is(at(p, star - 1), "*"))
        star--;
    return td_edit_format(&p->b.j->e, "%s %s", bare(p, l->base, l->base_end, l->is_pointer),
                          bare(p, l->from, star, true));
}

static const char *
spell_declaration(cx_plan *p, const cx_local *l)
{
    return td_edit_format(&p->b.j->e, "%s %s;",
                          td_edit_spell(&p->b.j->e, &p->b.j->u.k, l->base, l->base_end),
                          td_edit_spell(&p->b.j->e, &p->b.j->u.k, l->from, l->end));
}

/* ---- declarations inside of a region ---- */

/* The text that replaces the declarator up to its initialiser. */
static const char *
begun(cx_plan *p, const cx_local *l)
{
    edits *e = &p->b.j->e;
    const char *name = local_name(p, l);
    const char *bound =
        td_edit_format(e, "%sauto &%s = td_of_%s[td_n]", l->is_const ? "const " : "", name, name);

    if (!l->init)
        return bound;
    if (l->is_array)
        return td_edit_format(e, "%s; %s td_from_%s%s", bound, type_of(p, l), name,
                              dimensions(p, l));
    return td_tok_is(at(p, l->init), "=") ? bound
                                          : td_edit_format(e, "%s = %s", bound, type_of(p, l));
}

static void
write_declaration(cx_plan *p, uint32_t n)
{
    edits *e = &p->b.j->e;
    bool some = false;
    const cx_local *before = NULL;

    for (uint32_t v = 0; v < p->b.nlocal; v++)
        some |= p->b.local[v].stmt == n &&
                (p->b.local[v].keep == KEEP_EACH || p->b.local[v].keep == KEEP_ONCE);
    for (uint32_t v = 0; some && v < p->b.nlocal; v++) {
        const cx_local *l = &p->b.local[v];
        const tok *first, *last;

        if (l->stmt != n)
            continue;
        first = before ? at(p, l->from - 1) : at(p, l->base); /* the comma; the type */
        if (l->keep == KEEP_ONCE) {
            td_edit_replace(e, first, at(p, l->end - 1), before ? ";" : "");
        } else if (l->keep == KEEP_EACH) {
            last = l->init ? at(p, l->init - 1) : at(p, l->end - 1);
            td_edit_replace(e, first, last,
                            td_edit_format(e, "%s%s", before ? "; " : "", begun(p, l)));
            if (l->is_array && l->init)
                td_edit_behind(e, at(p, l->end - 1),
                               td_edit_format(e, "; td_cu::set(%s, td_from_%s)", local_name(p, l),
                                              local_name(p, l)));
        } else if (before)
            td_edit_replace(
                e, first, first,
                td_edit_format(e, "; %s ", td_edit_spell(e, &p->b.j->u.k, l->base, l->base_end)));
        before = l;
    }
}

/* ---- regions ---- */

/* A word before [, after a type: an array is declared in [i, end). */
static bool
arrays(const cx_plan *p, uint32_t i, uint32_t end)
{
    for (i += 2; i < end; i++)
        if (td_tok_is(at(p, i), "[") && at(p, i - 1)->kind == TOK_WORD &&
            ((at(p, i - 2)->kind == TOK_WORD && !td_tok_is(at(p, i - 2), "return") &&
              !td_tok_is(at(p, i - 2), "else")) ||
             td_tok_is(at(p, i - 2), ">") ||
             (td_tok_is(at(p, i - 2), "*") && at(p, i - 3)->kind == TOK_WORD)))
            return true;
    return false;
}

/* Do tokens [i, end) give threads no memory of their own: no arrays, no addresses of
 * variables, no objects of the text's classes? */
static bool
no_memory(const cx_plan *p, uint32_t i, uint32_t end, int depth)
{
    const cx_unit *u = &p->b.j->u;

    if (u->nclass || depth > 4 || (depth && arrays(p, i, end)))
        return false;
    for (uint32_t v = 0; v < p->b.nlocal; v++) /* the kernel's own are known */
        if (p->b.local[v].is_array && !p->b.local[v].is_shared && p->b.local[v].at >= i &&
            p->b.local[v].at < end)
            return false;
    for (; i < end; i++) {
        const tok *t = at(p, i);

        if (td_tok_is(t, "&") && t[1].kind == TOK_WORD && !td_tok_is(t + 2, "[") &&
            t[-1].kind == TOK_MARK && !td_tok_is(t - 1, ")") && !td_tok_is(t - 1, "]"))
            return false;
        for (uint32_t f = 0; t->kind == TOK_WORD && f < u->nfn; f++)
            if (td_tok_named(t, u->fn[f].name) && u->fn[f].body_at && !u->fn[f].kernel &&
                !no_memory(p, u->fn[f].open_at, u->fn[f].end_at, depth + 1))
                return false;
    }
    return true;
}

static bool
is_free(const cx_plan *p, const cx_region *r)
{
    return !p->b.j->checked && no_memory(p, r->from, r->end, 0);
}

/* The first child of the kernel's body in which a thread may return. */
static uint32_t
first_return(const cx_plan *p)
{
    uint32_t first = UINT32_MAX;

    for (uint32_t r = 1; r <= p->nregion; r++)
        if (p->region[r].returns && p->region[r].from < first)
            first = p->region[r].from;
    for (uint32_t c = p->b.stmt[1].child; c; c = p->b.stmt[c].next)
        if (p->b.stmt[c].first <= first && first < p->b.stmt[c].end)
            return p->b.stmt[c].first;
    return UINT32_MAX;
}

/* The thread's variable of a strided loop in this iteration, followed by `behind`. */
static const char *
round_of(cx_plan *p, uint32_t loop, const char *behind)
{
    edits *e = &p->b.j->e;
    const toks *k = &p->b.j->u.k;
    const cx_stmt *s = &p->b.stmt[loop];
    const cx_local *l;
    cx_stride at;

    if (!td_plan_strided(&p->b, loop, &at))
        return "";
    l = &p->b.local[at.local];
    return td_edit_format(e, "%s %s += decltype(%s)(td_round) * (%s); %s(%s)",
                          spell_declaration(p, l), local_name(p, l), local_name(p, l),
                          td_edit_spell(e, k, at.step, s->close), behind,
                          td_edit_spell(e, k, at.bound, at.step - 3));
}

/* Binds the variables of other regions that this one names. */
static const char *
bindings(cx_plan *p, uint32_t n, bool again_alone)
{
    edits *e = &p->b.j->e;
    const char *all = "";

    for (uint32_t v = 0; v < p->b.nlocal; v++) {
        const cx_local *l = &p->b.local[v];

        if (!td_plan_used(p, v, n) || (l->stmt && td_plan_home(p, l) == n))
            continue;
        if (l->keep == KEEP_EACH && !again_alone)
            all = td_edit_format(e, "%s%sauto &%s = td_of_%s[td_n]; ", all,
                                 l->is_const ? "const " : "", local_name(p, l), local_name(p, l));
        else if (l->keep == KEEP_AGAIN)
            all = td_edit_format(e, "%s%s ", all, spell_declaration(p, l));
    }
    return all;
}

/* for (…) becomes for (iteration number; while any thread is not done) */
static void
rounds(cx_plan *p, uint32_t loop, uint32_t region)
{
    const cx_stmt *s = &p->b.stmt[loop];
    edits *e = &p->b.j->e;

    td_edit_replace(
        e, at(p, s->open + 1), at(p, s->close - 1),
        td_edit_format(
            e, "size_t td_round = 0; td_cu::any(blockDim, TD_CU_LAMBDA { %s%s; }); td_round++",
            bindings(p, region, true), round_of(p, loop, "return ")));
}

/* The variables that tests of the kernel's indices read. */
static const char *
spell_reads(cx_plan *p)
{
    const toks *k = &p->b.j->u.k;
    edits *e = &p->b.j->e;
    const char *all = "";

    for (uint32_t v = 0; v < p->b.nlocal; v++) {
        const cx_local *l = &p->b.local[v];

        if (p->guards.reads[v])
            all = td_edit_format(e, "%sauto %s = td_cu::as<%s>(%s); ", all, local_name(p, l),
                                 td_edit_spell(e, k, l->base, l->base_end),
                                 td_edit_spell(e, k, l->init + 1, l->end));
    }
    return all;
}

/* The tests of the kernel's indices as one value. */
static const char *
spell_guards(cx_plan *p)
{
    edits *e = &p->b.j->e;
    const char *all = "true";

    for (uint32_t i = 0; i < p->guards.n; i++) {
        const cx_guard *g = &p->guards.guard[i];

        all = td_edit_format(e, "%s && %s(%s)", all, g->negated ? "!" : "",
                             td_edit_spell(e, &p->b.j->u.k, g->from, g->end));
    }
    return td_edit_format(e, "%sreturn %s;", spell_reads(p), all);
}

/* Does a strided loop go on in this iteration? */
static const char *
spell_round(cx_plan *p, uint32_t loop)
{
    const toks *k = &p->b.j->u.k;
    edits *e = &p->b.j->e;
    const char *type, *name;
    const cx_local *l;
    cx_stride at;

    if (!td_plan_strided(&p->b, loop, &at))
        return "return true;";
    l = &p->b.local[at.local];
    type = td_edit_spell(e, k, l->base, l->base_end);
    name = local_name(p, l);
    return td_edit_format(e,
                          "%sauto %s = td_cu::as<%s>((%s) + td_cu::as<%s>(td_round) * (%s)); "
                          "return %s;",
                          spell_reads(p), name, type, td_edit_spell(e, k, l->init + 1, l->end),
                          type, td_edit_spell(e, k, at.step, p->b.stmt[loop].close),
                          td_edit_spell(e, k, at.bound, at.step - 3));
}

/* What the region begins with. */
static const char *
manner(cx_plan *p, uint32_t n)
{
    const cx_region *r = &p->region[n];
    const char *test;

    if (r->in_turns)
        return "TD_CU_EACH_IN_TURNS";
    if (r->strided && td_plan_guard_round(&p->b, r->strided, &p->guards))
        test = spell_round(p, r->strided);
    else if (!r->strided && td_plan_guards(&p->b, r->first, r->last, &p->guards))
        test = spell_guards(p);
    else
        return is_free(p, r) ? "TD_CU_EACH_FREE" : "TD_CU_EACH";
    return td_edit_format(&p->b.j->e,
                          "td_cu::each_within<%s>(blockDim, TD_CU_TEST { %s }, TD_CU_LAMBDA {",
                          is_free(p, r) ? "true" : "false", test);
}

static void
write_region_begin(cx_plan *p, uint32_t n)
{
    const cx_region *r = &p->region[n];
    edits *e = &p->b.j->e;
    const char *all = "";

    for (uint32_t v = 0; v < p->b.nlocal; v++) {
        const cx_local *l = &p->b.local[v];

        if (td_plan_home(p, l) != n || !l->stmt || p->b.stmt[l->stmt].kind != STMT_DECLARE)
            continue;
        if (l->keep == KEEP_EACH)
            all = td_edit_format(e, "%std_cu::local<%s%s> td_of_%s(blockDim); ", all, type_of(p, l),
                                 dimensions(p, l), local_name(p, l));
        else if (l->keep == KEEP_ONCE)
            all = td_edit_format(e, "%s%s ", all, spell_declaration(p, l));
    }
    all = td_edit_format(e, " %s%s ", all, manner(p, n));
    if (p->alive && (r->from > first_return(p) || (r->from == first_return(p) && r->in_loop)))
        all = td_edit_format(e, "%sTD_CU_ALIVE; ", all);
    all = td_edit_format(e, "%s%s", all, bindings(p, n, false));
    if (r->strided)
        all = td_edit_format(e, "%s%s) return; ", all, round_of(p, r->strided, "if (!"));
    td_edit_behind(e, at(p, r->from - 1), td_edit_format(e, "%s{", all));
}

static void
close_region(cx_plan *p, uint32_t n)
{
    const cx_region *r = &p->region[n];
    bool stop = p->alive && r->returns;

    td_edit_behind(&p->b.j->e, at(p, r->end - 1),
                   stop ? " } TD_CU_END; if (td_alive.none()) return;" : " } TD_CU_END;");
    for (uint32_t i = r->from; p->alive && i < r->end; i++)
        if (td_tok_named(at(p, i), "return"))
            td_edit_replace(&p->b.j->e, at(p, i), at(p, i), "TD_CU_RETURN");
}

static void
statements(cx_plan *p, uint32_t n, bool bracket)
{
    const cx_stmt *s = &p->b.stmt[n];
    edits *e = &p->b.j->e;

    if (s->strided) {
        rounds(p, n, p->b.stmt[s->child].region);
        statements(p, s->child, true);
        return;
    }
    bracket &= s->kind != STMT_BLOCK || s->region;
    if (bracket)
        td_edit_behind(e, at(p, s->first - 1), " {");
    if (s->region) {
        if (p->region[s->region].first == n)
            write_region_begin(p, s->region);
        if (s->kind == STMT_DECLARE)
            write_declaration(p, n);
        if (p->region[s->region].last == n)
            close_region(p, s->region);
    } else if (s->kind == STMT_BARRIER) {
        uint32_t i = s->first;

        while (at(p, i)->kind == TOK_LINE)
            i++;
        td_edit_replace(e, at(p, i), at(p, s->end - 1), ";");
    } else if (s->waits && s->cut) {
        for (uint32_t c = s->child; c; c = s->kind == STMT_BLOCK ? p->b.stmt[c].next : 0)
            statements(p, c, s->kind != STMT_BLOCK);
        if (s->other)
            statements(p, s->other, true);
    }
    if (bracket)
        td_edit_behind(e, at(p, s->end - 1), " }");
}

void
td_plan_write(cx_plan *p)
{
    edits *e = &p->b.j->e;
    const tok *open = at(p, p->b.f->body_at);

    td_edit_behind(e, open, " [[maybe_unused]] static const char *const td_function = __func__;");
    if (p->alive)
        td_edit_behind(e, open, " td_cu::alive td_alive(blockDim);");
    for (uint32_t v = 0; v < p->b.nlocal; v++)
        if (!p->b.local[v].stmt && p->b.local[v].keep == KEEP_EACH)
            td_edit_behind(
                e, open,
                td_edit_format(e, " td_cu::local_of<decltype(%s)> td_of_%s(blockDim, %s);",
                               local_name(p, &p->b.local[v]), local_name(p, &p->b.local[v]),
                               local_name(p, &p->b.local[v])));
    statements(p, 1, false);
}
