/* check.c - debug mode: x[i], *x and x->y of parameters and variables go through td_cu's checks
 * (src/cuhost/td_cu/checked.h).
 *
 * It goes by names: everything declared in a function that is understood.  Types are not changed,
 * so calls resolve as they do without checks.
 */
#include "cxx/body.h"

#include <string.h>

static const char *
site(cx_body *b, const char *how, const tok *name)
{
    return td_edit_format(&b->j->e,
                          "td_cu::%s(\"%s\", \"%.*s\", __FILE__, __LINE__, threadIdx, blockIdx, ",
                          how, b->f->name, (int)name->n, name->s);
}

/* Does the & before token i take an address, f(…, &x[i]), outside of atomic operations? */
static bool
address_alone(const cx_body *b, uint32_t i)
{
    uint32_t open = i - 1;

    if (!is(b->j, i - 1, "&") || !td_body_unary(b, i - 1))
        return false;
    while (open > b->f->body_at && !is(b->j, open, "(") && !is(b->j, open, ";"))
        open = is(b->j, open, ")") ? b->j->u.k.t[open].match - 1 : open - 1;
    return !(is(b->j, open, "(") && b->j->u.k.t[open - 1].n > 6 &&
             memcmp(b->j->u.k.t[open - 1].s, "atomic", 6) == 0);
}

static void
subscript(cx_body *b, uint32_t i)
{
    edits *e = &b->j->e;
    const tok *t = &b->j->u.k.t[i];

    td_edit_before(e, t, site(b, address_alone(b, i) ? "near" : "at", t));
    td_edit_replace(e, t + 1, t + 1, ", ");
    td_edit_replace(e, &b->j->u.k.t[t[1].match], &b->j->u.k.t[t[1].match], ")");
}

/* *x, *x++: the operand begins at i.  *(x + i) is x[i]. */
static void
indirect(cx_body *b, uint32_t i)
{
    edits *e = &b->j->e;
    const tok *t = &b->j->u.k.t[i], *last = t;

    if (is(b->j, i, "(")) {
        td_edit_replace(e, t - 1, t + 2,
                        td_edit_format(e, "%s%.*s, ", site(b, "at", t + 1), (int)t[1].n, t[1].s));
        return;
    }
    if (is(b->j, i + 1, "++") || is(b->j, i + 1, "--"))
        last++;
    if (td_tok_is(last + 1, "[") || td_tok_is(last + 1, "(") || td_tok_is(last + 1, ".") ||
        td_tok_is(last + 1, "->"))
        return;
    td_edit_before(e, t, site(b, "one", t));
    td_edit_behind(e, last, ")");
}

static bool
checkable(const cx_body *b, uint32_t i)
{
    const tok *t = &b->j->u.k.t[i];
    uint32_t v;

    if (t->kind != TOK_WORD || is(b->j, i - 1, ".") || is(b->j, i - 1, "->") ||
        is(b->j, i - 1, "::"))
        return false;
    v = td_body_find(b, t, i);
    if (v != UINT32_MAX)
        return b->local[v].at != i;
    for (uint32_t g = 0; g < b->j->u.nvar; g++)
        if (b->j->u.var[g].global && td_tok_named(t, b->j->u.var[g].name))
            return true;
    return false;
}

static bool
pointer(const cx_body *b, uint32_t i)
{
    uint32_t v = checkable(b, i) ? td_body_find(b, &b->j->u.k.t[i], i) : UINT32_MAX;

    return v != UINT32_MAX && b->local[v].is_pointer;
}

void
td_cpu_check(cx_job *j)
{
    for (uint32_t f = 0; f < j->u.nfn; f++) {
        cx_body b;

        if (!td_body_each(j, f, &b))
            continue;
        for (uint32_t i = j->u.fn[f].body_at + 1; i < j->u.fn[f].end_at; i++) {
            const tok *t = &j->u.k.t[i];

            if (is(j, i, "sizeof") && is(j, i + 1, "("))
                i = t[1].match;
            else if (is(j, i + 1, "[") && checkable(&b, i))
                subscript(&b, i);
            else if (is(j, i + 1, "->") && pointer(&b, i))
                td_edit_behind(&j->e, (td_edit_before(&j->e, t, site(&b, "one", t)), t), ")");
            else if (is(j, i, "*") && td_body_unary(&b, i) && !is(j, i - 1, "*") &&
                     (pointer(&b, i + 1) ||
                      (is(j, i + 1, "(") && pointer(&b, i + 2) && is(j, i + 3, "+"))))
                indirect(&b, i + 1);
        }
    }
    j->globals = true;
}
