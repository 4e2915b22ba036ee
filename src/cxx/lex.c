/* lex.c - CUDA C++ text to tokens. */
#include "cxx/lex.h"

#include <ctype.h>
#include <string.h>

enum { NEST = 64 }; /* #ifs in each other that are told apart */

typedef struct lexer {
    td_arena *a;
    const char *p, *end;
    toks *out;
    uint32_t line;
    bool fresh;      /* nothing but white space on this line so far */
    bool first_only; /* of unknown conditions the first branch alone */
    bool piece;
    int depth;
    struct {
        bool known, dead, taken; /* condition 0 or 1; this branch is skipped; a branch was taken */
    } nest[NEST];
} lexer;

static const char *const marks[] = {
    "<<<", ">>>", "...", "->*", "<<=", ">>=", "::", "->", "++", "--", "<<", ">>", "<=", ">=", "==",
    "!=",  "&&",  "||",  "+=",  "-=",  "*=",  "/=", "%=", "&=", "|=", "^=", "##", ".*", NULL};

void *
td_cxx_grow(td_arena *a, void *array, uint32_t n, size_t size)
{
    void *p;

    if (n >= 8 ? (n & (n - 1)) != 0 : n != 0)
        return array;
    p = td_alloc_big(a, (n < 8 ? 8 : 2 * (size_t)n) * size);
    if (p && n)
        memcpy(p, array, n * size);
    return p;
}

char *
td_cxx_dup(td_arena *a, const char *s, size_t n)
{
    static char none[1];
    char *p = td_alloc_big(a, n + 1);

    if (!p)
        return none;
    memcpy(p, s, n);
    return p;
}

bool
td_tok_is(const tok *t, const char *s)
{
    return strlen(s) == t->n && memcmp(t->s, s, t->n) == 0;
}

bool
td_tok_among(const tok *t, const char *const *words)
{
    for (; *words; words++)
        if (td_tok_is(t, *words))
            return true;
    return false;
}

uint32_t
td_tok_angles(const toks *k, uint32_t i, uint32_t end)
{
    uint32_t open = 0;

    for (; i < end; i++) {
        const tok *t = &k->t[i];

        if (t->kind == TOK_MARK && *t->s == '<' && t->n == 1)
            open++;
        else if (td_tok_is(t, ">") || td_tok_is(t, ">>") || td_tok_is(t, ">>>")) {
            if (t->n >= open)
                return i + 1;
            open -= t->n;
        } else if (td_tok_is(t, "(") || td_tok_is(t, "[") || td_tok_is(t, "{"))
            i = t->match;
        else if (td_tok_is(t, ";") || td_tok_is(t, ")") || td_tok_is(t, "}"))
            return 0;
    }
    return 0;
}

static td_status
complain(const lexer *x, uint32_t line, const char *what)
{
    return td_fail(TD_ERR_JIT, "%s:%u: %s", x->out->file, line, what);
}

static void
push_token(lexer *x, tok_kind kind, const char *s, uint32_t line)
{
    toks *o = x->out;

    o->t = td_cxx_grow(x->a, o->t, o->n, sizeof *o->t);
    if (!o->t) {
        o->n = 0;
        return;
    }
    o->t[o->n] = (tok){.s = s, .n = (uint32_t)(x->p - s), .line = line, .kind = (uint8_t)kind};
    for (int i = 0; i < x->depth && i < NEST; i++)
        o->t[o->n].doubtful |= !x->nest[i].known;
    o->n++;
}

/* Length of a backslash with the line end behind it; 0: there is none. */
static int
splice(const lexer *x, const char *p)
{
    if (p + 1 < x->end && *p == '\\')
        return p[1] == '\n' ? 2 : p + 2 < x->end && p[1] == '\r' && p[2] == '\n' ? 3 : 0;
    return 0;
}

/* Over white space and comments, up to the end of the line when `inside` one. */
static td_status
blanks(lexer *x, bool inside)
{
    while (x->p < x->end) {
        int n = splice(x, x->p);
        uint32_t line = x->line;

        if (n) {
            x->p += n;
            x->line++;
        } else if (*x->p == '\n') {
            if (inside)
                return TD_OK;
            x->line++;
            x->p++;
            x->fresh = true;
        } else if (isspace((unsigned char)*x->p) || !*x->p) {
            x->p++;
        } else if (x->p + 1 < x->end && x->p[0] == '/' && x->p[1] == '/') {
            while (x->p < x->end && *x->p != '\n') {
                n = splice(x, x->p);
                x->line += n != 0;
                x->p += n ? n : 1;
            }
        } else if (x->p + 1 < x->end && x->p[0] == '/' && x->p[1] == '*') {
            for (x->p += 2; x->p + 1 < x->end && !(x->p[0] == '*' && x->p[1] == '/'); x->p++)
                x->line += *x->p == '\n';
            if (x->p + 1 >= x->end)
                return complain(x, line, "the comment that begins here does not end");
            x->p += 2;
        } else
            return TD_OK;
    }
    return TD_OK;
}

/* From the quote at x->p; s: where the token begins. */
static td_status
quoted(lexer *x, const char *s)
{
    char q = *x->p++;
    uint32_t line = x->line;

    while (x->p < x->end && *x->p != q && *x->p != '\n') {
        int n = splice(x, x->p);

        x->line += n != 0;
        x->p += n ? n : *x->p == '\\' && x->p + 1 < x->end && x->p[1] != '\n' ? 2 : 1;
    }
    if (x->p >= x->end || *x->p != q)
        return complain(x, line,
                        q == '"' ? "the string that begins here does not end"
                                 : "the character that begins here does not end");
    x->p++;
    push_token(x, q == '"' ? TOK_STRING : TOK_CHAR, s, line);
    return TD_OK;
}

/* R"mark( … )mark" from the quote at x->p. */
static td_status
raw(lexer *x, const char *s)
{
    const char *mark = x->p + 1, *p = mark;
    uint32_t line = x->line;
    size_t n;

    while (p < x->end && p - mark <= 16 && *p != '(' && *p != '\n')
        p++;
    n = (size_t)(p - mark);
    if (p < x->end && *p == '(')
        for (; p < x->end; p++) {
            x->line += *p == '\n';
            if (*p == ')' && (size_t)(x->end - p) > n + 1 && memcmp(p + 1, mark, n) == 0 &&
                p[n + 1] == '"') {
                x->p = p + n + 2;
                push_token(x, TOK_STRING, s, line);
                return TD_OK;
            }
        }
    return complain(x, line, "the raw string that begins here does not end");
}

static bool
word_char(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

static void
lex_number(lexer *x)
{
    const char *s = x->p++;

    while (x->p < x->end && (word_char(*x->p) || *x->p == '.' ||
                             (*x->p == '\'' && x->p + 1 < x->end && word_char(x->p[1])) ||
                             ((*x->p == '+' || *x->p == '-') && strchr("eEpP", x->p[-1]) &&
                              !(s[0] == '0' && (s[1] | 32) == 'x' && (x->p[-1] | 32) == 'e'))))
        x->p++;
    push_token(x, TOK_NUMBER, s, x->line);
}

static void
lex_mark(lexer *x)
{
    const char *s = x->p;

    for (int i = 0; marks[i]; i++) {
        size_t n = strlen(marks[i]);

        if ((size_t)(x->end - s) >= n && memcmp(s, marks[i], n) == 0) {
            x->p += n;
            push_token(x, TOK_MARK, s, x->line);
            return;
        }
    }
    x->p++;
    push_token(x, TOK_MARK, s, x->line);
}

static td_status
token(lexer *x)
{
    const char *s = x->p;

    if (*s == '"' || *s == '\'')
        return quoted(x, s);
    if (isdigit((unsigned char)*s) ||
        (*s == '.' && s + 1 < x->end && isdigit((unsigned char)s[1]))) {
        lex_number(x);
    } else if (word_char(*s)) {
        while (x->p < x->end && word_char(*x->p))
            x->p++;
        if (x->p < x->end && (*x->p == '"' || *x->p == '\'') && x->p - s <= 3) {
            char last = x->p[-1];

            if (*x->p == '"' && last == 'R')
                return raw(x, s);
            if ((last == 'L' || last == 'u' || last == 'U' || last == '8'))
                return quoted(x, s);
        }
        push_token(x, TOK_WORD, s, x->line);
    } else
        lex_mark(x);
    return TD_OK;
}

static bool
dead(const lexer *x)
{
    for (int i = 0; i < x->depth && i < NEST; i++)
        if (x->nest[i].dead)
            return true;
    return false;
}

/* What a line's condition says: 0, 1, or -1 for not known here. */
static int
condition(const char *p, const char *end)
{
    while (p < end && isspace((unsigned char)*p))
        p++;
    if (p < end && (*p == '0' || *p == '1')) {
        int v = *p++ - '0';

        while (p < end && isspace((unsigned char)*p))
            p++;
        if (p == end || (end - p > 1 && *p == '/'))
            return v;
    }
    return -1;
}

/* #if and its kin; s: behind the #. */
static void
lex_conditional(lexer *x, const char *s, const char *end)
{
    const char *word;
    size_t n;
    int k = x->depth - 1;

    while (s < end && (*s == ' ' || *s == '\t'))
        s++;
    for (word = s; s < end && word_char(*s); s++)
        ;
    n = (size_t)(s - word);
    if ((n == 2 && !memcmp(word, "if", 2)) || (n == 5 && !memcmp(word, "ifdef", 5)) ||
        (n == 6 && !memcmp(word, "ifndef", 6))) {
        int c = n == 2 ? condition(s, end) : -1;

        if (x->depth < NEST) {
            x->nest[x->depth].known = c >= 0;
            x->nest[x->depth].dead = c == 0;
            x->nest[x->depth].taken = c == 1 || (c < 0 && x->first_only);
        }
        x->depth++;
    } else if (n == 4 && (!memcmp(word, "else", 4) || !memcmp(word, "elif", 4))) {
        if (k >= 0 && k < NEST) {
            x->nest[k].dead = x->nest[k].taken;
            if (word[2] == 'i') { /* elif: the condition is not known from here on */
                x->nest[k].known = x->nest[k].taken;
                x->nest[k].taken |= x->first_only;
            }
        }
    } else if (n == 5 && !memcmp(word, "endif", 5) && k >= 0)
        x->depth--;
}

static td_status
line(lexer *x)
{
    const char *s = x->p++;
    uint32_t first = x->line;

    while (x->p < x->end && *x->p != '\n') {
        int n = splice(x, x->p);
        const char *before = x->p;

        if (n) {
            x->p += n;
            x->line++;
            continue;
        }
        if (*x->p == '/') /* a comment may run over the line's end */
            TD_TRY(blanks(x, true));
        if (x->p == before)
            x->p++;
    }
    lex_conditional(x, s + 1, x->p);
    if (!dead(x))
        push_token(x, TOK_LINE, s, first);
    return TD_OK;
}

static void
skip_line(lexer *x)
{
    while (x->p < x->end && *x->p != '\n') {
        int n = splice(x, x->p);

        x->line += n != 0;
        x->p += n ? n : 1;
    }
}

static td_status
lex_run(lexer *x)
{
    for (;;) {
        if (dead(x)) { /* only lines count */
            while (x->p < x->end && (*x->p == ' ' || *x->p == '\t'))
                x->p++;
            if (x->p < x->end && *x->p != '#')
                skip_line(x);
            if (x->p < x->end && *x->p == '\n') {
                x->p++;
                x->line++;
                x->fresh = true;
                continue;
            }
        } else
            TD_TRY(blanks(x, false));
        if (x->p >= x->end)
            return TD_OK;
        if (*x->p == '#' && x->fresh && !x->piece) {
            TD_TRY(line(x));
            continue;
        }
        x->fresh = false;
        TD_TRY(token(x));
    }
}

static td_status
pair_brackets(lexer *x)
{
    static const char *const other[] = {"()", "[]", "{}", NULL};
    toks *o = x->out;
    uint32_t top = UINT32_MAX; /* open brackets: each one's match is the one around it */

    for (uint32_t i = 0; i < o->n; i++) {
        tok *t = &o->t[i];
        int b = 0;

        if (t->kind != TOK_MARK || t->n != 1)
            continue;
        while (other[b] && other[b][0] != *t->s && other[b][1] != *t->s)
            b++;
        if (!other[b])
            continue;
        if (*t->s == other[b][0]) {
            t->match = top;
            top = i;
        } else if (top == UINT32_MAX || *o->t[top].s != other[b][0]) {
            return td_fail(TD_ERR_JIT, "%s:%u: %c closes no bracket", o->file, t->line, *t->s);
        } else {
            uint32_t open = top;

            top = o->t[open].match;
            o->t[open].match = i;
            t->match = open;
        }
    }
    if (top != UINT32_MAX)
        return td_fail(TD_ERR_JIT, "%s:%u: the bracket %c that stands here is not closed", o->file,
                       o->t[top].line, *o->t[top].s);
    return TD_OK;
}

static td_status
lex(td_arena *a, const char *text, size_t n, uint32_t line_no, int mode, toks *out)
{
    lexer x = {.a = a,
               .p = text,
               .end = text + n,
               .out = out,
               .line = line_no,
               .fresh = true,
               .first_only = mode == 1,
               .piece = mode == 2};
    td_status st;

    out->t = NULL;
    out->n = 0;
    st = lex_run(&x);
    push_token(&x, TOK_END, x.p, x.line);
    if (a->failed)
        return td_fail(TD_ERR_NOMEM, "%s: no memory for its tokens", out->file);
    out->n--;
    return st || mode == 2 ? st : pair_brackets(&x);
}

td_status
td_lex(td_arena *a, const char *text, const char *file, toks *out)
{
    size_t n = strlen(text);
    td_status st;

    *out = (toks){.text = text, .file = file};
    if (n > UINT32_MAX / 64)
        return td_fail(TD_ERR_VALUE, "%s: a text of %zu bytes is too long", file, n);
    st = lex(a, text, n, 1, 0, out);
    return st == TD_ERR_JIT ? lex(a, text, n, 1, 1, out) : st;
}

td_status
td_lex_piece(td_arena *a, const char *text, uint32_t n, uint32_t line_no, toks *out)
{
    *out = (toks){.text = text, .file = ""};
    return lex(a, text, n, line_no, 2, out);
}
