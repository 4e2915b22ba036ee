/* guard.c - kernels that consist of one test of their indices: if (i < n && j < m) …; or if (i >=
 * n) return; …
 *
 * A test that grows linearly with threadIdx.x holds for a whole row if it holds at both ends.
 * Such rows, nearly all of them, run without the test.  Vector code under masks is several times
 * slower on some CPUs.
 */
#include "cxx/regions.h"

static bool straight(const cx_body *b, uint32_t i, uint32_t end, int depth);

/* Is the factor next to a * uniform: a number, blockDim.x, a uniform variable? */
static bool
factor(const cx_body *b, uint32_t i)
{
    const tok *t = &b->j->u.k.t[i];

    if (t->kind == TOK_NUMBER)
        return true;
    if (t->kind == TOK_WORD && is(b->j, i - 1, "."))
        return factor(b, i - 2);
    return t->kind == TOK_WORD && td_body_alike(b, i, i + 1, false);
}

static bool
is_uniform_word(const cx_body *b, uint32_t i, int depth)
{
    const tok *t = &b->j->u.k.t[i];
    const cx_macro *m = td_unit_macro(&b->j->u, t);
    uint32_t v = td_body_find(b, t, i);
    const cx_local *l;

    if (is(b->j, i - 1, "."))
        return true;
    if (m)
        return !m->takes && m->body.n == 1 && m->body.t[0].kind == TOK_NUMBER;
    if (v == UINT32_MAX || depth > 4)
        return v == UINT32_MAX && !is(b->j, i + 1, "(");
    l = &b->local[v];
    return l->keep == KEEP_AGAIN ? straight(b, l->init + 1, l->end, depth + 1) : l->uniform;
}

/* Are tokens [i, end) sums of thread indices times uniform values? */
static bool
straight(const cx_body *b, uint32_t i, uint32_t end, int depth)
{
    for (; i < end; i++) {
        const tok *t = &b->j->u.k.t[i];
        bool ok;

        if (t->kind == TOK_WORD)
            ok = is_uniform_word(b, i, depth);
        else if (td_tok_is(t, "*"))
            ok = factor(b, i - 1) || (factor(b, i + 1) && !is(b->j, i + 2, "."));
        else
            ok = t->kind == TOK_NUMBER || td_tok_is(t, "+") || td_tok_is(t, "-") ||
                 td_tok_is(t, ".") || td_tok_is(t, "(") || td_tok_is(t, ")");
        if (!ok)
            return false;
    }
    return true;
}

static bool
is_index_comparison(const cx_body *b, uint32_t i)
{
    return is(b->j, i, "<") || is(b->j, i, "<=") || is(b->j, i, ">") || is(b->j, i, ">=");
}

/* Are they comparisons joined by `by`? */
static bool
tests(const cx_body *b, uint32_t i, uint32_t end, const char *by)
{
    while (i < end) {
        uint32_t middle = i, stop;

        while (middle < end && !is_index_comparison(b, middle))
            middle++;
        for (stop = middle; stop < end && !is(b->j, stop, by);)
            stop++;
        if (middle >= end || middle == i || !straight(b, i, middle, 0) ||
            !straight(b, middle + 1, stop, 0))
            return false;
        i = stop + 1;
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

bool
td_plan_guard(const cx_body *b, cx_guard *out)
{
    uint32_t c = b->stmt[1].child;
    const cx_stmt *s;

    for (; c && b->stmt[c].kind == STMT_DECLARE; c = b->stmt[c].next)
        for (uint32_t v = 0; v < b->nlocal; v++)
            if (b->local[v].stmt == c && b->local[v].keep != KEEP_AGAIN)
                return false;
    s = &b->stmt[c];
    if (!c || s->kind != STMT_IF || s->other || s->waits ||
        !td_body_again(b, s->open + 1, s->close, s->open, s->close))
        return false;
    *out = (cx_guard){.from = s->open + 1, .end = s->close, .negated = returns(b, s->child)};
    return (out->negated || !s->next) && tests(b, out->from, out->end, out->negated ? "||" : "&&");
}
