/* shared.c - shared variables of blocks.
 *
 *   __shared__ float t[16][17], n;      auto &t = td_cu::shared<float[(16)][(17)], 0>(); auto &n = td_cu::shared<float, 1>();
 *   extern __shared__ float s[];        auto *s = td_cu::dynamic_shared<float>();
 *
 * One that stands outside of functions is declared at the start of each function that names it.  What has another form
 * stays: the header makes it a variable of the thread that runs the block.
 */
#include "cxx/cpu.h"
#include "cxx/types.h"

#include <string.h>

static const char *const dropped[] = {"__shared__", "extern", "static", NULL};
static const char *const aligned[] = {"__align__", "alignas", "__attribute__", "__builtin_align__",
                                      NULL};

/* Type words of [i, end), without storage and alignment. */
static const char *
base_type(cx_job *j, uint32_t i, uint32_t end)
{
    td_text t = {0};
    const char *s;

    for (; i < end; i++) {
        const tok *k = &j->u.k.t[i];

        if (td_tok_among(k, dropped) || k->kind == TOK_LINE)
            continue;
        if (td_tok_among(k, aligned) && is(j, i + 1, "(")) {
            i = j->u.k.t[i + 1].match;
            continue;
        }
        td_text_addf(&t, "%s%.*s", t.n ? " " : "", (int)k->n, k->s);
    }
    s = td_cxx_dup(j->u.a, t.n ? t.s : "", t.n);
    td_text_free(&t);
    return s;
}

/* One declarator [i, end): its text, or NULL where its form is another. */
static const char *
declarator(cx_job *j, const char *base, uint32_t i, uint32_t end, bool dynamic)
{
    td_text dims = {0};
    uint32_t name = i;
    const char *stars, *s;

    while (name < end && (is(j, name, "*") || is(j, name, "const") || is(j, name, "__restrict__")))
        name++;
    if (name >= end || j->u.k.t[name].kind != TOK_WORD)
        return NULL;
    stars = td_edit_spell(&j->e, &j->u.k, i, name);
    for (uint32_t d = name + 1; d < end; d++) {
        uint32_t close = j->u.k.t[d].match;

        if (!is(j, d, "[")) {
            td_text_free(&dims);
            return NULL;
        }
        if (!dynamic || d > name + 1)
            td_text_addf(&dims, "[(%s)]", td_edit_spell(&j->e, &j->u.k, d + 1, close));
        d = close;
    }
    if (dynamic)
        s = td_edit_format(&j->e, "auto *%.*s = td_cu::dynamic_shared<%s %s%s>();",
                           (int)j->u.k.t[name].n, j->u.k.t[name].s, base, stars,
                           dims.n ? dims.s : "");
    else
        s = td_edit_format(&j->e, "auto &%.*s = td_cu::shared<%s %s%s, %u>();",
                           (int)j->u.k.t[name].n, j->u.k.t[name].s, base, stars,
                           dims.n ? dims.s : "", j->nshared++);
    td_text_free(&dims);
    return s;
}

/* The declaration [i, end) without its ;: what stands for it, or NULL. */
static const char *
shared_declaration(cx_job *j, uint32_t i, uint32_t end)
{
    bool dynamic = false;
    uint32_t first = i, name = 0;
    const char *base, *all = "";

    for (uint32_t k = i; k < end; k++) {
        uint32_t past = is(j, k, "<") ? td_tok_angles(&j->u.k, k, end) : 0;

        dynamic |= is(j, k, "extern");
        if (past) {
            k = past - 1;
        } else if (is(j, k, "(") && k > i && td_tok_among(&j->u.k.t[k - 1], aligned)) {
            k = j->u.k.t[k].match;
        } else if (is(j, k, "[") || is(j, k, ",")) {
            break;
        } else if (is(j, k, "=") || is(j, k, "(") || is(j, k, "{")) {
            return NULL;
        } else if (j->u.k.t[k].kind == TOK_WORD)
            name = k;
    }
    if (!name)
        return NULL;
    for (first = name; first > i && (is(j, first - 1, "*") ||
                                     (is(j, first - 1, "const") && is(j, first - 2, "*")));)
        first--;
    base = base_type(j, i, first);
    if (!*base)
        return NULL;
    while (first < end) {
        uint32_t stop = td_types_piece(&j->u, first, end);
        const char *one = declarator(j, base, first, stop, dynamic);

        if (!one)
            return NULL;
        all = td_edit_format(&j->e, "%s%s%s", all, *all ? " " : "", one);
        first = stop + 1;
    }
    return all;
}

/* The declaration that holds token i, inside of [from, end): its first token and its ;. */
static bool
around(const cx_job *j, uint32_t i, uint32_t from, uint32_t end, uint32_t *first,
       uint32_t *semicolon)
{
    uint32_t s = i, e = i;

    while (s > from + 1 && !is(j, s - 1, ";") && !is(j, s - 1, "{") && !is(j, s - 1, "}") &&
           !is(j, s - 1, ":") && j->u.k.t[s - 1].kind != TOK_LINE)
        s = is(j, s - 1, ")") ? j->u.k.t[s - 1].match : s - 1;
    while (e < end && !is(j, e, ";"))
        e = is(j, e, "(") || is(j, e, "[") || is(j, e, "{") ? j->u.k.t[e].match + 1 : e + 1;
    *first = s;
    *semicolon = e;
    return e < end;
}

static bool
names(const cx_job *j, const cx_fn *f, const char *name)
{
    for (uint32_t i = f->body_at; i < f->end_at; i++) {
        const cx_macro *m = td_unit_macro(&j->u, &j->u.k.t[i]);

        if (td_tok_named(&j->u.k.t[i], name))
            return true;
        for (uint32_t b = 0; m && b < m->body.n; b++)
            if (td_tok_named(&m->body.t[b], name))
                return true;
    }
    return false;
}

static void
outside(cx_job *j)
{
    for (uint32_t v = 0; v < j->u.nvar; v++) {
        const cx_var *x = &j->u.var[v];
        const char *put;

        if (!x->shared || (v && j->u.var[v - 1].head_at == x->head_at))
            continue;
        put = shared_declaration(j, x->head_at, x->end_at);
        if (!put)
            continue;
        td_edit_replace(&j->e, &j->u.k.t[x->head_at], &j->u.k.t[x->end_at], "");
        for (uint32_t i = 0; i < j->u.nfn; i++) {
            const cx_fn *f = &j->u.fn[i];
            bool wanted = false;

            for (uint32_t w = v; w < j->u.nvar && j->u.var[w].head_at == x->head_at; w++)
                wanted |= f->body_at && names(j, f, j->u.var[w].name);
            if (wanted)
                td_edit_behind(&j->e, &j->u.k.t[f->body_at], put);
        }
    }
}

void
td_cpu_shared(cx_job *j)
{
    outside(j);
    for (uint32_t f = 0; f < j->u.nfn; f++)
        for (uint32_t i = j->u.fn[f].body_at; i < j->u.fn[f].end_at; i++) {
            uint32_t first, end;
            const char *put;

            if (!td_tok_named(&j->u.k.t[i], "__shared__") ||
                !around(j, i, j->u.fn[f].body_at, j->u.fn[f].end_at, &first, &end))
                continue;
            put = shared_declaration(j, first, end);
            if (put)
                td_edit_replace(&j->e, &j->u.k.t[first], &j->u.k.t[end], put);
            i = end;
        }
}
