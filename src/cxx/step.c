/* step.c - code that relies on the threads of a warp running in step.
 *
 * Old reductions write to volatile shared memory and read what their neighbours have written,
 * without a barrier.  Fibers run in step if each gives way after every such read and every such
 * write:
 *
 *     v[i] += v[i + 8];      { auto td_step = (v[i + 8]); td_cu::turn(); v[i] += td_step; td_cu::turn(); }
 */
#include "cxx/body.h"

static bool
is_volatile(const cx_body *b, uint32_t i)
{
    const cx_job *j = b->j;
    uint32_t v = td_body_find(b, &j->u.k.t[i], i), from = 0, end = 0;

    if (is(j, i - 1, ".") || is(j, i - 1, "->"))
        return false;
    if (v != UINT32_MAX) {
        from = b->local[v].base;
        end = b->local[v].at;
    }
    for (uint32_t g = 0; v == UINT32_MAX && g < j->u.nvar; g++)
        if (td_tok_named(&j->u.k.t[i], j->u.var[g].name) && j->u.var[g].head_at) {
            from = j->u.var[g].head_at;
            end = j->u.var[g].name_at;
        }
    for (; from < end; from++)
        if (is(j, from, "volatile"))
            return true;
    return false;
}

static void
statement(cx_body *b, const cx_stmt *s)
{
    edits *e = &b->j->e;
    const tok *t = b->j->u.k.t;
    uint32_t first = s->first, assign = 0;
    bool touched = false;

    while (t[first].kind == TOK_LINE)
        first++;
    for (uint32_t i = first; i < s->end; i++) {
        touched |= t[i].kind == TOK_WORD && is_volatile(b, i);
        if (!assign && td_body_assigns(&t[i]) && !is(b->j, i, "++") && !is(b->j, i, "--"))
            assign = i;
    }
    if (!touched)
        return;
    if (s->kind == STMT_DECLARE) {
        td_edit_behind(e, &t[s->end - 1], " td_cu::turn();");
        return;
    }
    if (assign) {
        const char *left = td_edit_spell(e, &b->j->u.k, first, assign + 1);

        td_edit_replace(e, &t[first], &t[assign], "{ auto td_step = (");
        td_edit_before(e, &t[s->end - 1], td_edit_format(e, "); td_cu::turn(); %s td_step", left));
    } else
        td_edit_before(e, &t[first], "{ ");
    td_edit_behind(e, &t[s->end - 1], " td_cu::turn(); }");
}

void
td_cpu_step(cx_job *j)
{
    for (uint32_t f = 0; f < j->u.nfn; f++) {
        cx_body b;

        if (!td_body_each(j, f, &b))
            continue;
        for (uint32_t s = 1; s < b.nstmt; s++)
            if ((b.stmt[s].kind == STMT_EXPR || b.stmt[s].kind == STMT_DECLARE) &&
                b.stmt[s].end > b.stmt[s].first + 1)
                statement(&b, &b.stmt[s]);
    }
}
