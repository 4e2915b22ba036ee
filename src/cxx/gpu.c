/* gpu.c - td_cxx_for_gpu: texture references, which CUDA has no longer, as objects. */
#include "cxx/cpu.h"
#include "cxx/types.h"

#include <string.h>

static const cx_var *
reference(const cx_unit *u, const tok *t)
{
    for (uint32_t i = 0; i < u->ntexref; i++)
        if (td_tok_named(t, u->texref[i].name))
            return &u->texref[i];
    return NULL;
}

/* The result of reading the reference: its element type, or floats of as many components. */
static const char *
returned(const cx_unit *u, edits *e, const td_cxx_texref *t)
{
    uint32_t size;
    int n = td_types_vector(t->type, &size);

    (void)u;
    if (!t->as_float)
        return t->type;
    return n ? td_edit_format(e, "float%d", n) : "float";
}

/* tex2D(NAME, x, y) → tex2D<T>(NAME, x, y) */
static void
reads(const cx_unit *u, edits *e, const td_cxx *c)
{
    for (uint32_t i = 2; i < u->k.n; i++) {
        const cx_var *v = reference(u, &u->k.t[i]);
        const tok *f = &u->k.t[i - 2];

        if (v && td_tok_is(&u->k.t[i - 1], "(") && f->kind == TOK_WORD && f->n > 3 &&
            memcmp(f->s, "tex", 3) == 0)
            td_edit_behind(e, f,
                           td_edit_format(e, "<%s>", returned(u, e, &c->texref[v - u->texref])));
    }
}

void
td_cpu_textures(const cx_unit *u, edits *e, const td_cxx *c)
{
    for (uint32_t i = 0; i < u->ntexref; i++) {
        const cx_var *v = &u->texref[i];
        const char *all = "";

        if (i && u->texref[i - 1].head_at == v->head_at)
            continue;
        for (uint32_t k = i; k < u->ntexref && u->texref[k].head_at == v->head_at; k++)
            all = td_edit_format(e, "%s%s__constant__ cudaTextureObject_t %s;", all,
                                 *all ? " " : "", u->texref[k].name);
        td_edit_replace(e, &u->k.t[v->head_at], &u->k.t[v->end_at], all);
    }
    reads(u, e, c);
}

td_status
td_cxx_for_gpu(td_arena *a, const td_cxx *c, const char **out)
{
    edits e = {.a = a, .text = c->text};
    td_text text = {0};
    cx_unit u;

    *out = c->text;
    if (!c->ntexref)
        return TD_OK;
    TD_TRY(td_unit_read(a, c->text, c->file, &u));
    td_cpu_textures(&u, &e, c);
    td_edit_apply(&e, &text);
    *out = td_cxx_dup(a, text.n ? text.s : "", text.n);
    if (text.failed || a->failed) {
        td_text_free(&text);
        return td_fail(TD_ERR_NOMEM, "%s: no memory for the rewritten text", c->file);
    }
    td_text_free(&text);
    return TD_OK;
}
