/* edit.c - edits of a text, collected in any order and applied at once. */
#include "cxx/edit.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void
add_edit(edits *e, const char *at, size_t gone, const char *put)
{
    e->e = td_cxx_grow(e->a, e->e, e->n, sizeof *e->e);
    if (e->e)
        e->e[e->n++] = (cx_edit){(uint32_t)(at - e->text), (uint32_t)gone, put};
    else
        e->n = 0;
}

void
td_edit_before(edits *e, const tok *t, const char *put)
{
    add_edit(e, t->s, 0, put);
}

void
td_edit_behind(edits *e, const tok *t, const char *put)
{
    add_edit(e, t->s + t->n, 0, put);
}

void
td_edit_replace(edits *e, const tok *first, const tok *last, const char *put)
{
    add_edit(e, first->s, (size_t)(last->s + last->n - first->s), put);
}

const char *
td_edit_format(edits *e, const char *fmt, ...)
{
    va_list ap;
    char *s;
    int n;

    va_start(ap, fmt);
    n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    s = n < 0 ? NULL : td_alloc_big(e->a, (size_t)n + 1);
    if (!s)
        return "";
    va_start(ap, fmt);
    vsnprintf(s, (size_t)n + 1, fmt, ap);
    va_end(ap);
    return s;
}

const char *
td_edit_spell(edits *e, const toks *k, uint32_t i, uint32_t end)
{
    td_text t = {0};
    const char *s;

    for (bool first = true; i < end; i++)
        if (k->t[i].kind != TOK_LINE) {
            td_text_addf(&t, first ? "" : " ");
            td_text_add(&t, k->t[i].s, k->t[i].n);
            first = false;
        }
    s = td_cxx_dup(e->a, t.n ? t.s : "", t.n);
    td_text_free(&t);
    return s;
}

/* Ascending by position; insertions first; then in the order of collection, which their
 * addresses in the array tell. */
static int
compare_edits(const void *pa, const void *pb)
{
    const cx_edit *a = *(cx_edit *const *)pa, *b = *(cx_edit *const *)pb;

    if (a->at != b->at)
        return a->at < b->at ? -1 : 1;
    if (!a->gone != !b->gone)
        return a->gone ? 1 : -1;
    return a < b ? -1 : a > b;
}

void
td_edit_apply(edits *e, td_text *out)
{
    cx_edit **list = td_alloc_big(e->a, (e->n + 1) * sizeof *list);
    size_t at = 0;

    for (uint32_t i = 0; list && i < e->n; i++)
        list[i] = &e->e[i];
    if (!list)
        return;
    qsort(list, e->n, sizeof *list, compare_edits);
    for (uint32_t i = 0; i < e->n; i++) {
        const cx_edit *c = list[i];

        if (c->at < at) /* inside a piece that is removed */
            continue;
        td_text_add(out, e->text + at, c->at - at);
        td_text_add(out, c->put, strlen(c->put));
        for (at = c->at; at < (size_t)c->at + c->gone; at++)
            if (e->text[at] == '\n')
                td_text_add(out, "\n", 1);
    }
    td_text_add(out, e->text + at, strlen(e->text + at));
}
