/* unit.c - declarations of a CUDA C++ text. */
#include "cxx/unit.h"

#include <string.h>

typedef struct scope {
    const char *space, *owner;
    bool external_c;
} scope;

static const char *const not_a_name[] = {"__launch_bounds__",
                                         "__attribute__",
                                         "__declspec",
                                         "alignas",
                                         "__align__",
                                         "decltype",
                                         "requires",
                                         "__cluster_dims__",
                                         "__maxnreg__",
                                         "noexcept",
                                         "throw",
                                         "explicit",
                                         "sizeof",
                                         "__block_size__",
                                         "if",
                                         "while",
                                         "for",
                                         "switch",
                                         "return",
                                         "static_assert",
                                         NULL};
static const char *const behind_parameters[] = {
    "const", "noexcept", "override",      "final",   "volatile",     "throw",
    "try",   "requires", "__attribute__", "mutable", "__restrict__", NULL};

bool
td_tok_named(const tok *t, const char *name)
{
    return t->kind == TOK_WORD && td_tok_is(t, name);
}

static bool
is(const cx_unit *u, uint32_t i, const char *s)
{
    const tok *t = &u->k.t[i];

    return (t->kind == TOK_MARK || t->kind == TOK_WORD) && td_tok_is(t, s);
}

static char *
spelled(const cx_unit *u, uint32_t i)
{
    return td_cxx_dup(u->a, u->k.t[i].s, u->k.t[i].n);
}

const cx_macro *
td_unit_macro(const cx_unit *u, const tok *t)
{
    for (uint32_t i = u->nmacro; i-- > 0;)
        if (td_tok_named(t, u->macro[i].name))
            return &u->macro[i];
    return NULL;
}

/* Whether t is the word, or a macro without arguments whose body has it. */
static bool
says(const cx_unit *u, const tok *t, const char *word)
{
    const cx_macro *m;

    if (t->kind != TOK_WORD)
        return false;
    if (td_tok_is(t, word))
        return true;
    m = td_unit_macro(u, t);
    if (m && !m->takes)
        for (uint32_t i = 0; i < m->body.n; i++)
            if (m->body.t[i].kind == TOK_WORD && td_tok_is(&m->body.t[i], word))
                return true;
    return false;
}

#define APPEND(u, list, n, ...)                                                                    \
    do {                                                                                           \
        void *grown_ = td_cxx_grow((u)->a, (u)->list, (u)->n, sizeof *(u)->list);                  \
        (u)->list = grown_;                                                                        \
        if (grown_)                                                                                \
            (u)->list[(u)->n++] = __VA_ARGS__;                                                     \
        else                                                                                       \
            (u)->n = 0;                                                                            \
    } while (0)

/* ---- preprocessor lines ---- */

static td_status
define(cx_unit *u, const toks *l)
{
    cx_macro m = {.line = l->t[0].line};
    const tok *name = &l->t[2];
    uint32_t i = 3;
    const char *behind;

    if (l->n < 3 || name->kind != TOK_WORD)
        return TD_OK;
    m.name = td_cxx_dup(u->a, name->s, name->n);
    m.takes = l->n > 3 && td_tok_is(&l->t[3], "(") && l->t[3].s == name->s + name->n;
    if (m.takes)
        while (i < l->n && !td_tok_is(&l->t[i++], ")"))
            ;
    behind = i < l->n ? l->t[i].s : name->s;
    m.body = (toks){.text = behind, .file = u->k.file, .t = l->t + i, .n = i < l->n ? l->n - i : 0};
    APPEND(u, macro, nmacro, m);
    if (!m.takes && m.body.n)
        APPEND(u, alias, nalias, (cx_alias){m.name, m.body});
    return TD_OK;
}

static td_status
read_line(cx_unit *u, const tok *t)
{
    toks l;
    td_status st = td_lex_piece(u->a, t->s, t->n, t->line, &l);

    if (st == TD_ERR_JIT)
        return TD_OK; /* #error it's */
    TD_TRY(st);
    if (l.n >= 3 && td_tok_is(&l.t[1], "define"))
        return define(u, &l);
    if (l.n >= 3 && td_tok_is(&l.t[1], "include")) {
        const char *s = l.t[2].s + 1, *e = s;

        while (e < t->s + t->n && *e != '>' && *e != '"')
            e++;
        APPEND(u, include, ninclude, td_cxx_dup(u->a, s, (size_t)(e - s)));
    }
    return TD_OK;
}

/* ---- declarations ---- */

/* Behind the ; that ends what begins at i, or `end`. */
static uint32_t
past_semicolon(const cx_unit *u, uint32_t i, uint32_t end)
{
    for (; i < end; i++)
        if (is(u, i, ";"))
            return i + 1;
        else if (is(u, i, "(") || is(u, i, "[") || is(u, i, "{"))
            i = u->k.t[i].match;
    return end;
}

static void
alias(cx_unit *u, uint32_t i, uint32_t end)
{
    uint32_t next = past_semicolon(u, i, end), last = next - 1;
    toks of = u->k;

    if (is(u, i, "using")) { /* using name = type; */
        if (i + 3 < last && is(u, i + 2, "=")) {
            of.t += i + 3;
            of.n = last - i - 3;
            APPEND(u, alias, nalias, (cx_alias){spelled(u, i + 1), of});
        }
    } else if (last > i + 2 && u->k.t[last - 1].kind == TOK_WORD) { /* typedef type name; */
        of.t += i + 1;
        of.n = last - i - 2;
        APPEND(u, alias, nalias, (cx_alias){spelled(u, last - 1), of});
    }
}

static void
read_variables(cx_unit *u, uint32_t head, uint32_t end, const scope *s, cx_var like)
{
    uint32_t last = head;

    for (uint32_t i = head; i <= end; i++) {
        if (is(u, i, "(") || is(u, i, "{")) {
            i = u->k.t[i].match;
        } else if (is(u, i, "<")) {
            uint32_t past = td_tok_angles(&u->k, i, end);

            i = past ? past - 1 : i;
        } else if (is(u, i, ",") || is(u, i, ";") || is(u, i, "=") || is(u, i, "[")) {
            if (last) {
                like.name = spelled(u, last);
                like.name_at = last;
                like.space = s->space;
                APPEND(u, var, nvar, like);
                last = 0;
            }
            if (is(u, i, "["))
                i = u->k.t[i].match;
            for (; i < end && !is(u, i, ",") && !is(u, i, ";"); i++) /* the initialiser */
                if (is(u, i, "(") || is(u, i, "{") || is(u, i, "["))
                    i = u->k.t[i].match;
        } else if (u->k.t[i].kind == TOK_WORD)
            last = i;
    }
}

/* What a declaration's first tokens say of it. */
static void
specifiers(const cx_unit *u, uint32_t head, uint32_t end, cx_fn *f, cx_var *v)
{
    for (uint32_t i = head; i < end; i++) {
        const tok *t = &u->k.t[i];

        f->kernel |= says(u, t, "__global__");
        f->device |= says(u, t, "__device__");
        v->external |= says(u, t, "extern");
        v->shared |= says(u, t, "__shared__");
        v->global |=
            says(u, t, "__device__") || says(u, t, "__constant__") || says(u, t, "__managed__");
        v->constant |= says(u, t, "constexpr") || says(u, t, "const") || says(u, t, "__constant__");
        if (says(u, t, "__launch_bounds__") && i + 1 < end && is(u, i + 1, "("))
            f->bounds_at = i + 1;
        if (is(u, i, "("))
            i = t->match;
    }
}

/* Past const, noexcept(…), -> type, : members(…) behind the parameters: at the body's {, at ; or at what is neither. */
static uint32_t
trailer(const cx_unit *u, uint32_t i, uint32_t end)
{
    while (i < end && (td_tok_among(&u->k.t[i], behind_parameters) || is(u, i, "(")))
        i = is(u, i, "(") ? u->k.t[i].match + 1 : i + 1;
    if (i < end && is(u, i, "->"))
        while (i < end && !is(u, i, "{") && !is(u, i, ";"))
            i = is(u, i, "(") ? u->k.t[i].match + 1 : i + 1;
    if (i < end && is(u, i, ":"))
        for (i++; i < end && !is(u, i, ";"); i++) {
            uint32_t past = is(u, i, "<") ? td_tok_angles(&u->k, i, end) : 0;

            if (past)
                i = past - 1;
            else if (is(u, i, "(") || is(u, i, "{")) {
                i = u->k.t[i].match;
                if (i + 1 < end && !is(u, i + 1, ","))
                    return i + 1;
            }
        }
    return i;
}

/* The name before the ( at i: that token, or 0 for none.  f<int>( names f. */
static uint32_t
name_before(const cx_unit *u, uint32_t head, uint32_t i)
{
    uint32_t n = i;

    if (n <= head)
        return 0;
    if (is(u, n - 1, ">") || is(u, n - 1, ">>")) {
        for (n--; n > head; n--)
            if (is(u, n, "<") && td_tok_angles(&u->k, n, i) == i)
                break;
        if (n <= head)
            return 0;
    }
    n--;
    return u->k.t[n].kind == TOK_WORD && !td_tok_among(&u->k.t[n], not_a_name) ? n : 0;
}

/* A declaration that begins at head: what it declares is noted.  Behind it. */
static uint32_t
read_declaration(cx_unit *u, uint32_t head, uint32_t end, const scope *s, cx_fn f)
{
    cx_var v = {.head_at = head};
    uint32_t i = head, name;

    f.head_at = head;
    f.space = s->space;
    f.owner = s->owner;
    f.external_c |= s->external_c;
    for (; i < end; i++) {
        if (is(u, i, "operator")) {
            for (name = i++;
                 i < end && (!is(u, i, "(") || (is(u, i + 1, ")") && is(u, i + 2, "("))); i++)
                if (is(u, i, "("))
                    i++;
        } else if (is(u, i, "(")) {
            name = name_before(u, head, i);
        } else if (is(u, i, "<")) {
            uint32_t past = td_tok_angles(&u->k, i, end);

            i = past ? past - 1 : i;
            continue;
        } else if (is(u, i, "{") || is(u, i, "[")) {
            i = u->k.t[i].match;
            continue;
        } else if (is(u, i, ";") || is(u, i, "=")) { /* variables */
            i = past_semicolon(u, i, end) - 1;
            specifiers(u, head, i, &f, &v);
            v.end_at = i;
            if (!f.is_template)
                read_variables(u, head, i, s, v);
            return i + 1;
        } else
            continue;
        if (i >= end)
            break;
        if (!name) {
            i = u->k.t[i].match;
            continue;
        }
        f.name = spelled(u, name);
        f.name_at = name;
        f.open_at = i;
        f.close_at = u->k.t[i].match;
        specifiers(u, head, name, &f, &v);
        i = trailer(u, f.close_at + 1, end);
        if (i < end && is(u, i, "{")) {
            f.body_at = i;
            f.end_at = u->k.t[i].match;
            specifiers(u, f.close_at, i, &f, &v);
            APPEND(u, fn, nfn, f);
            return f.end_at + 1;
        }
        if (i < end && u->k.t[i].kind == TOK_WORD)
            return i; /* it was a macro's call; what follows begins anew */
        APPEND(u, fn, nfn, f);
        return past_semicolon(u, i, end);
    }
    return end;
}

/* A texture reference's declaration: texture<float, 2, cudaReadModeElementType> a, b; */
static uint32_t
texture(cx_unit *u, uint32_t i, uint32_t end, const scope *s)
{
    uint32_t next = past_semicolon(u, i, end), past = td_tok_angles(&u->k, i + 1, next);

    for (uint32_t j = past; j && j + 1 < next; j++)
        if (u->k.t[j].kind == TOK_WORD &&
            (is(u, j + 1, ",") || is(u, j + 1, ";") || is(u, j + 1, "=")))
            APPEND(u, texref, ntexref,
                   (cx_var){.name = spelled(u, j),
                            .space = s->space,
                            .name_at = j,
                            .head_at = i,
                            .end_at = next - 1});
    return next;
}

static void read_scope(cx_unit *u, uint32_t i, uint32_t end, scope s, int depth);

/* namespace, class, enum at i: behind it; 0: it is none of these. */
static uint32_t
nested(cx_unit *u, uint32_t i, uint32_t end, const scope *s, int depth)
{
    scope in = *s;
    uint32_t j = i, name = 0;
    bool space = is(u, i, "namespace");

    if (!space && !is(u, i, "struct") && !is(u, i, "class") && !is(u, i, "union") &&
        !is(u, i, "enum"))
        return 0;
    for (j++; j < end && !is(u, j, "{"); j++) {
        uint32_t past = is(u, j, "<") ? td_tok_angles(&u->k, j, end) : 0;

        if (is(u, j, ";"))
            return j + 1;
        if ((is(u, j, "(") && !(j > i && td_tok_among(&u->k.t[j - 1], not_a_name))) ||
            is(u, j, "="))
            return space ? past_semicolon(u, j, end)
                         : 0; /* a function or a variable of that class */
        if (is(u, j, "(") || is(u, j, "["))
            j = u->k.t[j].match;
        else if (past)
            j = past - 1;
        else if (is(u, j, ":") && !space)
            while (j + 1 < end && !is(u, j + 1, "{") && !is(u, j + 1, ";"))
                j++;
        else if (space && u->k.t[j].kind == TOK_WORD && !is(u, j, "inline")) {
            size_t n = strlen(in.space);
            char *longer = td_alloc_big(u->a, n + u->k.t[j].n + 3);

            if (longer) {
                memcpy(longer, in.space, n);
                memcpy(longer + n, u->k.t[j].s, u->k.t[j].n);
                memcpy(longer + n + u->k.t[j].n, "::", 2);
                in.space = longer;
            }
        } else if (u->k.t[j].kind == TOK_WORD && !is(u, j, "final"))
            name = j;
    }
    if (j >= end)
        return end;
    if (space) {
        read_scope(u, j + 1, u->k.t[j].match, in, depth + 1);
        return u->k.t[j].match + 1;
    }
    if (is(u, i, "enum")) {
        for (uint32_t e = j + 1; e < u->k.t[j].match; e++)
            if (u->k.t[e].kind == TOK_WORD && (is(u, e - 1, "{") || is(u, e - 1, ",")))
                APPEND(
                    u, var, nvar,
                    (cx_var){
                        .name = spelled(u, e), .space = s->space, .name_at = e, .constant = true});
    } else {
        in.owner = name ? spelled(u, name) : "?";
        APPEND(u, class_name, nclass, in.owner);
        read_scope(u, j + 1, u->k.t[j].match, in, depth + 1);
    }
    return past_semicolon(u, u->k.t[j].match + 1, end);
}

static void
read_scope(cx_unit *u, uint32_t i, uint32_t end, scope s, int depth)
{
    enum { DEEPEST = 200 };

    if (depth > DEEPEST)
        return;
    while (i < end) {
        cx_fn f = {0};
        uint32_t head = i, next;

        if (u->k.t[i].kind == TOK_LINE || is(u, i, ";") || is(u, i, "}")) {
            i++;
            continue;
        }
        if (is(u, i, "inline") && is(u, i + 1, "namespace"))
            i++;
        if (is(u, i, "extern") && u->k.t[i + 1].kind == TOK_STRING) {
            f.external_c = true;
            if (is(u, i + 2, "{")) {
                scope in = s;

                in.external_c = true;
                read_scope(u, i + 3, u->k.t[i + 2].match, in, depth + 1);
                i = u->k.t[i + 2].match + 1;
                continue;
            }
            i += 2;
        }
        while (is(u, i, "template") && is(u, i + 1, "<")) {
            next = td_tok_angles(&u->k, i + 1, end);
            f.instance = next == i + 3;
            f.is_template |= next > i + 3;
            i = next ? next : i + 2;
        }
        if (is(u, i, "template")) {
            f.instance = true;
            i++;
        }
        if ((is(u, i, "public") || is(u, i, "private") || is(u, i, "protected")) &&
            is(u, i + 1, ":")) {
            i += 2;
            continue;
        }
        if (is(u, i, "typedef") || is(u, i, "using")) {
            alias(u, i, end);
            i = past_semicolon(u, i, end);
            continue;
        }
        if (is(u, i, "static") && is(u, i + 1, "texture"))
            i++;
        if (is(u, i, "texture") && is(u, i + 1, "<")) {
            i = texture(u, i, end, &s);
            continue;
        }
        next = nested(u, i, end, &s, depth);
        if (!next) {
            next = read_declaration(u, i, end, &s, f);
            if (u->nfn && u->fn[u->nfn - 1].head_at == i)
                u->fn[u->nfn - 1].head_at = head;
        }
        i = next > i ? next : i + 1;
    }
}

td_status
td_unit_read(td_arena *a, const char *text, const char *file, cx_unit *u)
{
    *u = (cx_unit){.a = a};
    TD_TRY(td_lex(a, text, file, &u->k));
    for (uint32_t i = 0; i < u->k.n; i++)
        if (u->k.t[i].kind == TOK_LINE)
            TD_TRY(read_line(u, &u->k.t[i]));
    read_scope(u, 0, u->k.n, (scope){"", "", false}, 0);
    return a->failed ? td_fail(TD_ERR_NOMEM, "%s: no memory for its declarations", file) : TD_OK;
}
