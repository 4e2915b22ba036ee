/* types.c - parameters and the types that they are written with. */
#include "cxx/types.h"

#include "base/text.h"

#include <ctype.h>
#include <string.h>

static const struct {
    const char *name;
    char kind;
    uint32_t size;
} known[] = {
#define TYPE(name, kind, size) {name, kind, size},
#include "cxx/types.def"
#undef TYPE
};
/* Vector types are these with 1 to 4 behind them. */
static const struct {
    const char *name;
    uint32_t size;
} component[] = {{"char", 1},     {"uchar", 1},     {"short", 2}, {"ushort", 2},
                 {"int", 4},      {"uint", 4},      {"long", 8},  {"ulong", 8},
                 {"longlong", 8}, {"ulonglong", 8}, {"float", 4}, {"double", 8}};
static const char *const builtin[] = {"bool",    "char",     "short", "int",    "long",
                                      "signed",  "unsigned", "float", "double", "void",
                                      "wchar_t", "auto",     NULL};
static const char *const no_meaning[] = {
    "__restrict__", "__restrict", "restrict", "__grid_constant__", "register",
    "struct",       "class",      "typename", "volatile",          NULL};

bool
td_types_builtin(const tok *t)
{
    return t->kind == TOK_WORD && td_tok_among(t, builtin);
}

int
td_types_vector(const char *name, uint32_t *size)
{
    size_t n = strlen(name);

    for (size_t i = 0; n && i < sizeof component / sizeof *component; i++)
        if (strncmp(name, component[i].name, n - 1) == 0 && strlen(component[i].name) == n - 1 &&
            name[n - 1] >= '1' && name[n - 1] <= '4') {
            *size = component[i].size * (uint32_t)(name[n - 1] - '0');
            return name[n - 1] - '0';
        }
    return 0;
}

uint32_t
td_types_piece(const cx_unit *u, uint32_t i, uint32_t end)
{
    for (; i < end; i++) {
        const tok *t = &u->k.t[i];

        if (t->kind != TOK_MARK)
            continue;
        if (*t->s == ',')
            return i;
        if (*t->s == '(' || *t->s == '[' || *t->s == '{')
            i = t->match;
        else if (td_tok_is(t, "<")) {
            uint32_t past = td_tok_angles(&u->k, i, end);

            i = past ? past - 1 : i;
        }
    }
    return end;
}

/* [i, end) without a default value and array brackets. */
static uint32_t
trimmed(const cx_unit *u, uint32_t i, uint32_t end)
{
    for (uint32_t j = i; j < end; j++)
        if (td_tok_is(&u->k.t[j], "=")) {
            end = j;
            break;
        } else if (td_tok_is(&u->k.t[j], "("))
            j = u->k.t[j].match;
    while (end > i && td_tok_is(&u->k.t[end - 1], "]"))
        end = u->k.t[end - 1].match;
    return end;
}

uint32_t
td_types_name(const cx_unit *u, uint32_t i, uint32_t end)
{
    uint32_t words = 0, last;

    end = trimmed(u, i, end);
    if (end <= i + 1)
        return 0;
    last = end - 1;
    if (u->k.t[last].kind != TOK_WORD || td_types_builtin(&u->k.t[last]) ||
        td_tok_among(&u->k.t[last], no_meaning) || td_tok_is(&u->k.t[last], "const") ||
        td_tok_is(&u->k.t[last - 1], "::"))
        return 0;
    for (uint32_t j = i; j < last; j++)
        words += u->k.t[j].kind == TOK_WORD && !td_tok_among(&u->k.t[j], no_meaning) &&
                 !td_tok_is(&u->k.t[j], "const");
    return words ? last : 0;
}

/* The builtin arithmetic type of these words ("unsigned", "long", …) in normal spelling. */
static const char *
arithmetic(int longs, bool has_short, bool has_char, bool has_double, bool is_signed,
           bool is_unsigned, const char *other)
{
    if (other)
        return other;
    if (has_double)
        return "double";
    if (has_char)
        return is_unsigned ? "unsigned char" : is_signed ? "signed char" : "char";
    if (has_short)
        return is_unsigned ? "unsigned short" : "short";
    if (longs)
        return longs > 1     ? (is_unsigned ? "unsigned long long" : "long long")
               : is_unsigned ? "unsigned long"
                             : "long";
    return is_unsigned ? "unsigned int" : "int";
}

typedef struct spelling {
    td_text base, behind; /* the type's name; * const & */
    bool constant;        /* of what is named */
} spelling;

static const cx_alias *
find_alias(const cx_unit *u, const char *name)
{
    for (uint32_t i = u->nalias; i-- > 0;)
        if (strcmp(u->alias[i].name, name) == 0)
            return &u->alias[i];
    return NULL;
}

static void
spell(const tok *t, uint32_t n, spelling *s)
{
    int longs = 0;
    bool has_short = false, has_char = false, has_double = false, is_signed = false,
         is_unsigned = false, any = false;
    const char *other = NULL;

    for (uint32_t i = 0; i < n; i++, t++) {
        if (td_tok_among(t, no_meaning))
            continue;
        if (td_tok_is(t, "const")) {
            if (s->behind.n)
                td_text_addf(&s->behind, "const");
            else
                s->constant = true;
        } else if (td_tok_is(t, "*") || td_tok_is(t, "&") || td_tok_is(t, "&&") ||
                   td_tok_is(t, "...")) {
            td_text_addf(&s->behind, "%s%.*s",
                         s->behind.n && s->behind.s[s->behind.n - 1] == 't' ? " " : "", (int)t->n,
                         t->s);
        } else if (td_types_builtin(t)) {
            any = true;
            longs += td_tok_is(t, "long");
            has_short |= td_tok_is(t, "short");
            has_char |= td_tok_is(t, "char");
            has_double |= td_tok_is(t, "double");
            is_signed |= td_tok_is(t, "signed");
            is_unsigned |= td_tok_is(t, "unsigned");
            for (const char *const *b =
                     (const char *const[]){"bool", "float", "void", "wchar_t", "auto", NULL};
                 *b; b++)
                if (td_tok_is(t, *b))
                    other = *b;
        } else {
            char last = s->base.n ? s->base.s[s->base.n - 1] : 0;
            bool apart = last && ((t->kind == TOK_WORD &&
                                   (last == '_' || last == ',' || isalnum((unsigned char)last))) ||

                                  (t->kind == TOK_NUMBER && last == ','));

            td_text_addf(&s->base, "%s%.*s", apart ? " " : "", (int)t->n, t->s);
        }
    }
    if (any && !s->base.n)
        td_text_addf(
            &s->base, "%s",
            arithmetic(longs, has_short, has_char, has_double, is_signed, is_unsigned, other));
    else if (any) /* vector<int>: the word stood inside of brackets */
        td_text_addf(&s->base, "?");
}

/* Kind ('?' not known) and bytes (0) of a type in normal spelling without qualifiers, not a pointer's. */
static char
types_size(const cx_unit *u, const char *type, uint32_t *size)
{
    const char *plain = type;

    for (const char *p = type; (p = strstr(p, "::")) && !memchr(type, '<', (size_t)(p - type));)
        plain = p += 2;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(plain, known[i].name) == 0) {
            *size = known[i].size;
            return known[i].kind;
        }
    (void)u;
    *size = 0;
    return td_types_vector(plain, size) ? 's' : '?';
}

/* Follows names that the text gives to types, a few deep: kind, bytes and whether it is a pointer. */
static char
resolve(const cx_unit *u, const char *base, int depth, td_cxx_param *p, int *stars, bool *constant)
{
    char kind = types_size(u, base, &p->size);
    const cx_alias *al = kind == '?' && depth < 8 ? find_alias(u, base) : NULL;

    if (al) {
        spelling s = {0};

        spell(al->of.t, al->of.n, &s);
        for (size_t i = 0; i < s.behind.n; i++)
            *stars += s.behind.s[i] == '*';
        *constant |= s.constant;
        if (s.base.n && !(s.behind.n && memchr(s.behind.s, '&', s.behind.n)))
            kind = resolve(u, s.base.s, depth + 1, p, stars, constant);
        td_text_free(&s.base);
        td_text_free(&s.behind);
    }
    return kind;
}

static void
describe_param(const cx_unit *u, spelling *s, int arrays, td_cxx_param *p)
{
    int stars = arrays;
    bool constant = s->constant, reference = false;
    const char *base = s->base.n ? s->base.s : "";
    char kind;

    for (int i = 0; i < arrays; i++)
        td_text_addf(&s->behind, "*");
    while (s->behind.n >= 5 &&
           strcmp(s->behind.s + s->behind.n - 5, "const") == 0) /* of the parameter itself */
        s->behind.s[s->behind.n -= 5] = 0;
    for (size_t i = 0; i < s->behind.n; i++) {
        stars += s->behind.s[i] == '*' && i + (size_t)arrays < s->behind.n;
        reference |= s->behind.s[i] == '&' || s->behind.s[i] == '.';
    }
    p->readonly = stars == 1 && constant;
    kind = strcmp(base, "void") == 0 ? 'v' : resolve(u, base, 0, p, &stars, &constant);
    if (reference) {
        p->kind = '?';
        p->size = 0;
    } else if (stars) {
        p->kind = 'p';
        p->item = stars > 1 ? 'p' : kind;
        p->item_size = stars > 1 ? 8 : kind == 'v' ? 0 : p->size;
        p->size = 8;
        p->readonly = stars == 1 && constant;
    } else {
        p->kind = kind;
        p->item = '-';
    }
}

const char *
td_types_spell(const cx_unit *u, uint32_t i, uint32_t end)
{
    spelling s = {0};
    td_text all = {0};
    const char *type;

    spell(&u->k.t[i], end - i, &s);
    td_text_addf(&all, "%s%s%s%s", s.constant && s.behind.n ? "const " : "",
                 s.base.n ? s.base.s : "", s.behind.n ? " " : "", s.behind.n ? s.behind.s : "");
    type = td_cxx_dup(u->a, all.n ? all.s : "", all.n);
    td_text_free(&s.base);
    td_text_free(&s.behind);
    td_text_free(&all);
    return type;
}

static td_cxx_param
param(const cx_unit *u, uint32_t i, uint32_t end)
{
    td_cxx_param p = {.name = "", .item = '-'};
    uint32_t name = td_types_name(u, i, end), stop = trimmed(u, i, end), full = end;
    spelling s = {0};
    td_text all = {0};

    for (uint32_t j = i; j < full; j++)
        if (td_tok_is(&u->k.t[j], "="))
            full = j;
    for (uint32_t j = i; j < stop; j++)
        if (td_tok_is(&u->k.t[j], "(")) { /* a function's or an array's address: as it is written */
            td_text_add(&all, u->k.t[i].s,
                        (size_t)(u->k.t[full - 1].s + u->k.t[full - 1].n - u->k.t[i].s));
            p.type = td_cxx_dup(u->a, all.n ? all.s : "", all.n);
            p.kind = '?';
            td_text_free(&all);
            return p;
        }
    if (name)
        p.name = td_cxx_dup(u->a, u->k.t[name].s, u->k.t[name].n);
    spell(&u->k.t[i], (name ? name : stop) - i, &s);
    describe_param(u, &s, stop < full ? 1 : 0, &p);
    td_text_addf(&all, "%s%s%s%s", s.constant && s.behind.n ? "const " : "",
                 s.base.n ? s.base.s : "", s.behind.n ? " " : "", s.behind.n ? s.behind.s : "");
    p.type = td_cxx_dup(u->a, all.n ? all.s : "", all.n);
    td_text_free(&s.base);
    td_text_free(&s.behind);
    td_text_free(&all);
    return p;
}

void
td_types_params(const cx_unit *u, uint32_t open, uint32_t close, td_cxx_param **out, uint32_t *n)
{
    *out = NULL;
    *n = 0;
    if (close == open + 2 && td_tok_is(&u->k.t[open + 1], "void"))
        return;
    for (uint32_t i = open + 1; i < close;) {
        uint32_t end = td_types_piece(u, i, close);

        *out = td_cxx_grow(u->a, *out, *n, sizeof **out);
        if (!*out) {
            *n = 0;
            return;
        }
        (*out)[(*n)++] = param(u, i, end);
        i = end + 1;
    }
}
