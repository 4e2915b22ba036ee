/* guard.c - tests of indices that a kernel makes before it reads and writes: if (i < n && j < m) …;
 * if (i >= n) return; if (i > 0 && i < n - 1) … else …
 *
 * In nearly all rows of threads they come out alike for the whole row. Such rows run without them
 * (src/cuhost/td_cu/regions.h, each_within). Vector code under masks is several times slower on
 * some CPUs, and compilers do not see that what two branches store lies side by side.
 */
#include "cxx/regions.h"
#include <string.h>

static bool reads(const cx_body *b, cx_guards *g, uint32_t i, uint32_t end);

/* Has the lambda of the tests another variable of that name? */
static bool
is_shadowed(const cx_body *b, const cx_guards *g, uint32_t v)
{
    const tok *name = b->local[v].name;

    for (uint32_t w = 0; w < b->nlocal; w++)
        if (g->reads[w] && b->local[w].name->n == name->n &&
            !memcmp(b->local[w].name->s, name->s, name->n))
            return true;
    return false;
}

/* The test reads variable v: is it a parameter, or can it be computed ahead of the region? */
static bool
reads_variable(const cx_body *b, cx_guards *g, uint32_t v)
{
    static const char *const storage[] = {"static", "register", "volatile", "constexpr", NULL};
    const cx_local *l = &b->local[v];

    if (g->reads[v] || (!l->stmt && !l->is_shared) || (l->keep == KEEP_ONCE && l->at < g->from))
        return true;
    for (uint32_t i = l->base; i < l->base_end; i++)
        if (td_tok_among(&b->j->u.k.t[i], storage))
            return false;
    if (l->keep != KEEP_AGAIN || l->is_auto || l->is_pointer || is_shadowed(b, g, v) ||
        !reads(b, g, l->init + 1, l->end))
        return false;
    g->reads[v] = true;
    return true;
}

static bool
reads_word(const cx_body *b, cx_guards *g, uint32_t i)
{
    const tok *t = &b->j->u.k.t[i];
    const cx_macro *m = td_unit_macro(&b->j->u, t);
    uint32_t v;

    if (is(b->j, i - 1, "."))
        return true;
    if (td_tok_is(t, "threadIdx"))
        return is(b->j, i + 1, ".");
    if (m)
        return !m->takes && m->body.n == 1 && m->body.t[0].kind == TOK_NUMBER;
    v = td_body_find(b, t, i);
    if (v != UINT32_MAX)
        return reads_variable(b, g, v);
    return t[1].kind != TOK_WORD && !is(b->j, i + 1, "(") && /* no call, no cast */
           !(is(b->j, i - 1, "(") && is(b->j, i + 1, ")"));
}

/* Are tokens [i, end) made of what td_cu/line.h knows? Marks the variables that they read. */
static bool
reads(const cx_body *b, cx_guards *g, uint32_t i, uint32_t end)
{
    static const char *const known[] = {
        "+", "-", "*", ".", "(", ")", "<", "<=", ">", ">=", "==", "!=", "&&", "||", "!", NULL};

    if (!td_body_again(b, i, end, g->from < i ? g->from : i, end))
        return false;
    for (; i < end; i++) {
        const tok *t = &b->j->u.k.t[i];

        if (t->kind == TOK_WORD ? !reads_word(b, g, i)
                                : t->kind != TOK_NUMBER && !td_tok_among(t, known))
            return false;
    }
    return true;
}

static bool
returns(const cx_body *b, uint32_t n)
{
    const cx_stmt *s = &b->stmt[n];

    if (s->kind == STMT_BLOCK)
        return s->child && !b->stmt[s->child].next && returns(b, s->child);
    return s->kind == STMT_JUMP && is(b->j, s->first, "return");
}

/* Does the test rather fail: alternatives, as of the places at an edge? */
static bool
is_negated(const cx_body *b, const cx_stmt *s)
{
    bool either = false;

    for (uint32_t i = s->open + 1; i < s->close; i++) {
        if (is(b->j, i, "&&"))
            return returns(b, s->child);
        either |= is(b->j, i, "||");
    }
    return either || returns(b, s->child);
}

static bool
add(const cx_body *b, cx_guards *g, const cx_stmt *s)
{
    if (s->waits || g->n == CX_GUARDS || !reads(b, g, s->open + 1, s->close))
        return false;
    g->guard[g->n++] =
        (cx_guard){.from = s->open + 1, .end = s->close, .negated = is_negated(b, s)};
    return true;
}

static bool
begin(const cx_body *b, cx_guards *g, uint32_t from)
{
    g->n = 0;
    g->from = from;
    g->reads = td_alloc_big(b->j->u.a, b->nlocal + 1);
    if (g->reads)
        memset(g->reads, 0, b->nlocal + 1);
    return g->reads;
}

bool
td_plan_guards(const cx_body *b, uint32_t first, uint32_t last, cx_guards *g)
{
    if (!begin(b, g, b->stmt[first].first))
        return false;
    for (uint32_t c = first; c;) {
        const cx_stmt *s = &b->stmt[c];
        bool is_test = s->kind == STMT_IF && add(b, g, s);
        bool is_last = !s->next || c == last;
        bool inside = s->kind == STMT_BLOCK || (is_test && !g->guard[g->n - 1].negated);

        c = !is_last ? s->next : inside ? s->child : 0;
    }
    return g->n;
}

bool
td_plan_guard_round(const cx_body *b, uint32_t loop, cx_guards *g)
{
    const cx_stmt *s = &b->stmt[loop];
    cx_stride at;

    return begin(b, g, s->first) && td_plan_strided(b, loop, &at) &&
           reads(b, g, b->local[at.local].init + 1, b->local[at.local].end) &&
           reads(b, g, at.bound + 1, at.step - 3) && reads(b, g, at.step, s->close);
}
