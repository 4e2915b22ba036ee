/* parse.c - td_cxx_parse: what a text declares, for those who launch its kernels. */
#include "cxx/types.h"

#include <string.h>

static const char *
qualified(td_arena *a, const char *space, const char *name)
{
    size_t n = strlen(space), m = strlen(name);
    char *s = td_alloc_big(a, n + m + 1);

    if (!s)
        return "";
    memcpy(s, space, n);
    memcpy(s + n, name, m);
    return s;
}

/* template <class T, int N = 4>: T, N. */
static void
template_names(const cx_unit *u, const cx_fn *f, td_cxx_kernel *k)
{
    uint32_t at = f->head_at, last;

    while (at < f->name_at && !td_tok_is(&u->k.t[at], "template"))
        at++;
    last = at < f->name_at ? td_tok_angles(&u->k, at + 1, f->name_at) : 0;
    if (!last)
        return;
    k->tname = td_alloc_big(u->a, (last - at + 1) * sizeof *k->tname);
    for (uint32_t i = at + 2, comma; k->tname && i < last; i = comma + 1) {
        uint32_t end = i;

        comma = td_types_piece(u, i, last - 1);
        while (end < comma && !td_tok_is(&u->k.t[end], "="))
            end++;
        k->tname[k->ntname++] =
            end > i + 1 && u->k.t[end - 1].kind == TOK_WORD ? td_types_spell(u, end - 1, end) : "";
    }
}

static void
kernels(const cx_unit *u, td_cxx *c)
{
    c->kernel = td_alloc_big(u->a, (u->nfn + 1) * sizeof *c->kernel);
    for (uint32_t i = 0; c->kernel && i < u->nfn; i++) {
        const cx_fn *f = &u->fn[i];
        td_cxx_kernel *k = &c->kernel[c->nkernel];

        if (!f->kernel || !f->body_at || f->instance)
            continue;
        k->name = qualified(u->a, f->space, f->name);
        k->line = u->k.t[f->name_at].line;
        k->is_template = f->is_template;
        k->external_c = f->external_c;
        td_types_params(u, f->open_at, f->close_at, &k->param, &k->nparam);
        if (f->is_template)
            template_names(u, f, k);
        c->nkernel++;
    }
}

static void
list_globals(const cx_unit *u, td_cxx *c)
{
    c->global = td_alloc_big(u->a, (u->nvar + 1) * sizeof *c->global);
    for (uint32_t i = 0; c->global && i < u->nvar; i++)
        if (u->var[i].global && !u->var[i].external)
            c->global[c->nglobal++] = (td_cxx_global){
                qualified(u->a, u->var[i].space, u->var[i].name), u->k.t[u->var[i].name_at].line};
}

static void
textures(const cx_unit *u, td_cxx *c)
{
    c->texref = td_alloc_big(u->a, (u->ntexref + 1) * sizeof *c->texref);
    for (uint32_t i = 0; c->texref && i < u->ntexref; i++) {
        const cx_var *v = &u->texref[i];
        uint32_t last = td_tok_angles(&u->k, v->head_at + 1, v->end_at) - 1, from = v->head_at + 2;
        uint32_t comma = td_types_piece(u, from, last), second = td_types_piece(u, comma + 1, last);
        td_cxx_texref *t = &c->texref[c->ntexref++];

        *t = (td_cxx_texref){.name = v->name, .dims = 1, .line = u->k.t[v->name_at].line};
        t->type = td_types_spell(u, from, comma);
        for (uint32_t j = comma + 1; j < second; j++) {
            const tok *k = &u->k.t[j];

            t->dims =
                k->kind == TOK_NUMBER ? *k->s - '0'
                : td_tok_is(k, "cudaTextureType2D") || td_tok_is(k, "cudaTextureType1DLayered") ? 2
                : td_tok_is(k, "cudaTextureType3D") || td_tok_is(k, "cudaTextureType2DLayered") ? 3
                                                                                                : 1;
        }
        for (uint32_t j = second; j < last; j++)
            t->as_float |= td_tok_is(&u->k.t[j], "cudaReadModeNormalizedFloat");
    }
}

td_status
td_cxx_parse(td_arena *a, const char *text, const char *file, td_cxx **out)
{
    cx_unit u;
    td_cxx *c = td_alloc(a, sizeof *c);

    TD_TRY(td_unit_read(a, text, file, &u));
    *c = (td_cxx){.text = text, .file = file};
    kernels(&u, c);
    list_globals(&u, c);
    textures(&u, c);
    if (a->failed)
        return td_fail(TD_ERR_NOMEM, "%s: no memory for its declarations", file);
    *out = c;
    return TD_OK;
}
