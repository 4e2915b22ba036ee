/* indices.c - makes threadIdx, blockIdx, blockDim and gridDim parameters of those names.
 *
 * The parameters hide the header's variables, so bodies need no change.  TD_CU_ARGS passes
 * whatever has these names at the call: in a function without the parameters it passes the
 * variables.
 */
#include "cxx/cpu.h"

static void
parameters(cx_job *j, const cx_fn *f)
{
    const tok *open = &j->u.k.t[f->open_at];
    bool none = f->close_at == f->open_at + 1;

    if (f->close_at == f->open_at + 2 && is(j, f->open_at + 1, "void")) {
        td_edit_replace(&j->e, open + 1, open + 1, "TD_CU_PARAMS");
        return;
    }
    td_edit_behind(&j->e, open, none ? "TD_CU_PARAMS" : "TD_CU_PARAMS, ");
}

static void
calls(cx_job *j, uint32_t i, uint32_t end)
{
    for (; i < end; i++) {
        uint32_t open = i + 1;

        if (!td_reach_index_call(&j->r, &j->u.k.t[i]))
            continue;
        if (is(j, open, "<"))
            open = td_tok_angles(&j->u.k, open, end);
        td_edit_behind(&j->e, &j->u.k.t[open],
                       j->u.k.t[open].match == open + 1 ? "TD_CU_ARGS" : "TD_CU_ARGS, ");
    }
}

/* A [ that begins a lambda has no value before it. */
bool
td_cpu_lambda(const cx_job *j, uint32_t i)
{
    const tok *before = &j->u.k.t[i - 1];

    return is(j, i, "[") && !is(j, i + 1, "[") && !is(j, i - 1, "[") &&
           (before->kind == TOK_MARK ? !is(j, i - 1, ")") && !is(j, i - 1, "]") &&
                                           !is(j, i - 1, "}") && !is(j, i - 1, ">")
                                     : td_tok_named(before, "return"));
}

/* Makes lambdas of a function with the parameters capture them by name. */
static void
lambdas(cx_job *j, const cx_fn *f)
{
    for (uint32_t i = f->body_at + 1; i < f->end_at; i++) {
        uint32_t close, body;

        if (!td_cpu_lambda(j, i))
            continue;
        close = body = j->u.k.t[i].match;
        while (body < f->end_at && !is(j, body, "{"))
            body = is(j, body, "(") ? j->u.k.t[body].match : body + 1;
        if (body >= f->end_at || is(j, i + 1, "=") ||
            (is(j, i + 1, "&") && (is(j, i + 2, "]") || is(j, i + 2, ","))) ||
            !(td_reach_range(&j->r, body, j->u.k.t[body].match) & CX_INDEX))
            continue;
        td_edit_before(&j->e, &j->u.k.t[close], close == i + 1 ? "TD_CU_ARGS" : ", TD_CU_ARGS");
    }
}

void
td_cpu_indices(cx_job *j)
{
    for (uint32_t i = 0; i < j->u.nfn; i++) {
        const cx_fn *f = &j->u.fn[i];
        bool takes = td_reach_takes(&j->r, f);

        if (takes)
            parameters(j, f);
        if (!f->body_at)
            continue;
        calls(j, f->body_at, f->end_at);
        if (takes)
            lambdas(j, f);
        else
            j->globals |= (td_reach_range(&j->r, f->body_at, f->end_at) & CX_INDEX) != 0;
    }
}
