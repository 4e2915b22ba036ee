/* body.c - statements, declarations and uses of variables in a kernel's body. */
#include "cxx/body.h"
#include "cxx/types.h"

#include <string.h>

static const char *const storage[] = {"const",      "constexpr", "static", "register", "volatile",
                                      "typename",   "struct",    "extern", "unsigned", "signed",
                                      "__shared__", "inline",    NULL};
static const char *const not_followed[] = {
    "goto",     "asm",      "__asm__",      "__asm",  "try",   "catch",
    "co_await", "static",   "thread_local", "class",  "union", "operator",
    "template", "volatile", "alloca",       "setjmp", "this",  NULL};
static const char *const keyword[] = {"return", "else",   "case", "do", "sizeof", "throw",
                                      "new",    "delete", "and",  "or", "not",    NULL};
static const char *const assigning[] = {
    "=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", "++", "--", NULL};

static uint32_t statement(cx_body *b, uint32_t i, uint32_t end, uint32_t scope_end);

static const tok *
at(const cx_body *b, uint32_t i)
{
    return &b->j->u.k.t[i];
}

bool
td_body_assigns(const tok *t)
{
    return t->kind == TOK_MARK && td_tok_among(t, assigning);
}

/* Does a value end with token i? */
static bool
value_ends(const cx_body *b, uint32_t i)
{
    const tok *t = at(b, i);

    return t->kind == TOK_NUMBER || t->kind == TOK_STRING || t->kind == TOK_CHAR ||
           (t->kind == TOK_WORD && !td_tok_among(t, keyword)) || td_tok_is(t, ")") ||
           td_tok_is(t, "]");
}

bool
td_body_unary(const cx_body *b, uint32_t i)
{
    static const char *const heads[] = {"if", "while", "for", "switch", NULL};

    if (is(b->j, i - 1, ")") && td_tok_among(at(b, at(b, i - 1)->match - 1), heads))
        return true;
    return !value_ends(b, i - 1);
}

uint32_t
td_body_find(const cx_body *b, const tok *word, uint32_t where)
{
    if (word->kind == TOK_WORD)
        for (uint32_t v = b->nlocal; v-- > 0;) {
            const cx_local *l = &b->local[v];

            if (l->at <= where && where < l->scope_end && l->name->n == word->n &&
                memcmp(l->name->s, word->s, word->n) == 0)
                return v;
        }
    return UINT32_MAX;
}

static uint32_t
new_stmt(cx_body *b, stmt_kind kind, uint32_t first)
{
    b->stmt = td_cxx_grow(b->j->u.a, b->stmt, b->nstmt, sizeof *b->stmt);
    if (!b->stmt) {
        b->doubt = true;
        b->nstmt = 0;
        return 0;
    }
    b->stmt[b->nstmt] = (cx_stmt){.kind = (uint8_t)kind, .first = first};
    return b->nstmt++;
}

static void
new_local(cx_body *b, cx_local l)
{
    b->local = td_cxx_grow(b->j->u.a, b->local, b->nlocal, sizeof *b->local);
    if (b->local)
        b->local[b->nlocal++] = l;
    else {
        b->doubt = true;
        b->nlocal = 0;
    }
}

/* ---- declarations ---- */

/* The token after a type's name at i; 0: there is none. */
static uint32_t
type_name(const cx_body *b, uint32_t i, uint32_t end)
{
    bool any = false;

    for (; i < end; i++) {
        const tok *t = at(b, i);

        if (td_types_builtin(t) || td_tok_is(t, "unsigned") || td_tok_is(t, "signed"))
            any = true;
        else if (td_tok_among(t, storage))
            continue;
        else if ((td_tok_is(t, "__align__") || td_tok_is(t, "alignas") ||
                  td_tok_is(t, "__attribute__")) &&
                 is(b->j, i + 1, "("))
            i = at(b, i + 1)->match;
        else
            break;
    }
    if (any)
        return i;
    for (; i < end && at(b, i)->kind == TOK_WORD; i++) {
        if (is(b->j, i, "::"))
            i++;
        i++;
        if (is(b->j, i, "<")) {
            i = td_tok_angles(&b->j->u.k, i, end);
            if (!i)
                return 0;
        }
        if (!is(b->j, i, "::"))
            return i;
    }
    return 0;
}

/* The name of the first declarator if [i, end) declares variables; 0: it does not. */
static uint32_t
declares(const cx_body *b, uint32_t i, uint32_t end, uint32_t *base_end)
{
    uint32_t j = type_name(b, i, end), name;
    bool certain = td_types_builtin(at(b, i)) || td_tok_among(at(b, i), storage);

    if (!j || td_tok_among(at(b, i), keyword))
        return 0;
    *base_end = j;
    for (name = j;
         name < end && (is(b->j, name, "*") || is(b->j, name, "&") || is(b->j, name, "const") ||
                        is(b->j, name, "__restrict__") || is(b->j, name, "__restrict"));)
        name++;
    if (name >= end || at(b, name)->kind != TOK_WORD || td_tok_among(at(b, name), storage))
        return 0;
    if (name > j && !certain && td_body_find(b, at(b, i), i) != UINT32_MAX)
        return 0; /* a * b */
    return is(b->j, name + 1, "=") || is(b->j, name + 1, ";") || is(b->j, name + 1, ",") ||
                   is(b->j, name + 1, "[") || is(b->j, name + 1, "(") || is(b->j, name + 1, "{")
               ? name
               : 0;
}

static void
declarator(cx_body *b, cx_local l, uint32_t i, uint32_t end)
{
    l.from = i;
    l.end = end;
    for (; i < end && at(b, i)->kind == TOK_MARK; i++) {
        l.is_pointer |= is(b->j, i, "*");
        l.is_reference |= is(b->j, i, "&") || is(b->j, i, "&&");
        if (is(b->j, i, "(") || is(b->j, i, "[")) {
            b->doubt = true;
            return;
        }
        if (is(b->j, i, "*"))
            l.is_const = false;
        while (is(b->j, i + 1, "const") || is(b->j, i + 1, "__restrict__") ||
               is(b->j, i + 1, "__restrict"))
            l.is_const |= is(b->j, ++i, "const");
    }
    l.at = i;
    l.name = at(b, i);
    if (i >= end || l.name->kind != TOK_WORD) {
        b->doubt = true;
        return;
    }
    for (i++; i < end && is(b->j, i, "["); i = at(b, i)->match + 1)
        l.is_array = true;
    if (i < end)
        l.init = i;
    if (i < end && !is(b->j, i, "=") && !is(b->j, i, "(") && !is(b->j, i, "{"))
        b->doubt = true;
    new_local(b, l);
}

/* Variables of the statement s: [i, end) without the ; */
static void
declare_locals(cx_body *b, uint32_t s, uint32_t i, uint32_t end, uint32_t base_end,
               uint32_t scope_end)
{
    cx_local like = {.stmt = s, .base = i, .base_end = base_end, .scope_end = scope_end};

    for (uint32_t k = i; k < base_end; k++) {
        like.is_const |= is(b->j, k, "const") || is(b->j, k, "constexpr");
        like.is_auto |= is(b->j, k, "auto");
        like.is_shared |= is(b->j, k, "__shared__");
    }
    for (i = base_end; i < end && !b->doubt;) {
        uint32_t stop = td_types_piece(&b->j->u, i, end);

        declarator(b, like, i, stop);
        i = stop + 1;
    }
}

/* ---- statements ---- */

static uint32_t
past_semicolon(cx_body *b, uint32_t i, uint32_t end)
{
    for (; i < end; i++)
        if (is(b->j, i, ";"))
            return i + 1;
        else if (is(b->j, i, "(") || is(b->j, i, "[") || is(b->j, i, "{"))
            i = at(b, i)->match;
    b->doubt = true;
    return end;
}

static void
sequence(cx_body *b, uint32_t s, uint32_t i, uint32_t end)
{
    uint32_t last = 0;

    while (i < end && !b->doubt) {
        uint32_t n = statement(b, i, end, end);

        if (!n)
            return;
        *(last ? &b->stmt[last].next : &b->stmt[s].child) = n;
        last = n;
        i = b->stmt[n].end;
    }
}

static uint32_t
header(cx_body *b, uint32_t s, uint32_t i)
{
    if (is(b->j, i, "constexpr"))
        i++;
    if (!is(b->j, i, "(")) {
        b->doubt = true;
        return i;
    }
    b->stmt[s].open = i;
    b->stmt[s].close = at(b, i)->match;
    return b->stmt[s].close + 1;
}

/* Reads the statement at i as s's child, or as its else. */
static uint32_t
inner(cx_body *b, uint32_t s, uint32_t i, uint32_t end, bool other)
{
    uint32_t n = i < end ? statement(b, i, end, 0) : 0;

    if (!n) {
        b->doubt = true;
        return end;
    }
    *(other ? &b->stmt[s].other : &b->stmt[s].child) = n;
    return b->stmt[n].end;
}

static uint32_t
control(cx_body *b, uint32_t s, uint32_t i, uint32_t end)
{
    uint32_t local = b->nlocal;

    if (is(b->j, i, "do")) {
        b->stmt[s].kind = STMT_DO;
        i = inner(b, s, i + 1, end, false);
        if (b->doubt || !is(b->j, i, "while")) {
            b->doubt = true;
            return end;
        }
        return past_semicolon(b, header(b, s, i + 1), end);
    }
    b->stmt[s].kind = is(b->j, i, "if")      ? STMT_IF
                      : is(b->j, i, "for")   ? STMT_FOR
                      : is(b->j, i, "while") ? STMT_WHILE
                                             : STMT_SWITCH;
    i = header(b, s, i + 1);
    if (b->doubt)
        return end;
    if (b->stmt[s].kind == STMT_FOR || b->stmt[s].kind == STMT_IF) {
        uint32_t first = b->stmt[s].open + 1, semi = first, base;

        while (semi < b->stmt[s].close && !is(b->j, semi, ";"))
            semi = is(b->j, semi, "(") || is(b->j, semi, "[") || is(b->j, semi, "{")
                       ? at(b, semi)->match + 1
                       : semi + 1;
        if (semi < b->stmt[s].close && declares(b, first, semi + 1, &base))
            declare_locals(b, s, first, semi, base, end);
        else if (b->stmt[s].kind == STMT_FOR && semi >= b->stmt[s].close)
            b->doubt = true; /* for (x : y) */
        else if (b->stmt[s].kind == STMT_IF && declares(b, first, b->stmt[s].close, &base))
            b->doubt = true; /* if (int x = …) */
    }
    i = inner(b, s, i, end, false);
    if (b->stmt[s].kind == STMT_IF && !b->doubt && is(b->j, i, "else"))
        i = inner(b, s, i + 1, end, true);
    for (; local < b->nlocal; local++) /* a variable of its header lives as long as the statement */
        if (b->local[local].stmt == s)
            b->local[local].scope_end = i;
    return i;
}

static bool
is_barrier_call(const cx_body *b, uint32_t i)
{
    const cx_macro *m = td_unit_macro(&b->j->u, at(b, i));
    uint32_t behind = i + 1;

    if (m) {
        if (m->body.n < 3 || m->body.n > 4 || !td_tok_is(&m->body.t[0], "__syncthreads") ||
            !td_tok_is(&m->body.t[1], "("))
            return false;
        if (!m->takes)
            return is(b->j, behind, ";");
    } else if (!is(b->j, i, "__syncthreads"))
        return false;
    return is(b->j, behind, "(") && is(b->j, behind + 1, ")") && is(b->j, behind + 2, ";");
}

/* Does an expression begin here?  Its value's name must be known; else it may be a
 * declaration. */
static bool
expression(const cx_body *b, uint32_t i)
{
    const tok *t = at(b, i), *next = t + 1;

    if (t->kind != TOK_WORD)
        return t->kind == TOK_MARK || t->kind == TOK_NUMBER;
    if (td_body_find(b, t, i) != UINT32_MAX)
        return true;
    return next->kind == TOK_MARK && !td_tok_is(next, "*") && !td_tok_is(next, "&") &&
           !td_tok_is(next, ":") && !td_tok_is(next, "{");
}

static void
simple_statement(cx_body *b, uint32_t s, uint32_t i, uint32_t end, uint32_t scope_end)
{
    uint32_t base, stop = past_semicolon(b, i, end);

    b->stmt[s].end = stop;
    if (b->doubt)
        return;
    if (is(b->j, i, "return") || is(b->j, i, "break") || is(b->j, i, "continue")) {
        b->stmt[s].kind = STMT_JUMP;
        b->doubt |= is(b->j, i, "return") && stop != i + 2;
    } else if (is(b->j, i, "typedef") || is(b->j, i, "using") || is(b->j, i, "static_assert") ||
               is(b->j, i, "enum")) {
        b->stmt[s].kind = STMT_NAME;
    } else if (is_barrier_call(b, i)) {
        b->stmt[s].kind = STMT_BARRIER;
    } else if (declares(b, i, stop, &base)) {
        b->stmt[s].kind = STMT_DECLARE;
        declare_locals(b, s, i, stop - 1, base, scope_end);
        if (b->nlocal && b->local[b->nlocal - 1].is_shared)
            b->stmt[s].kind = STMT_SHARED;
        b->doubt |= !scope_end; /* the body of an if without brackets */
    } else {
        b->stmt[s].kind = STMT_EXPR;
        b->doubt |= !expression(b, i);
    }
}

/* The statement at i, with the pragmas before it. */
static uint32_t
statement(cx_body *b, uint32_t i, uint32_t end, uint32_t scope_end)
{
    enum { MOST = 20000 };
    uint32_t s = new_stmt(b, STMT_EMPTY, i), stop;

    while (i < end && at(b, i)->kind == TOK_LINE)
        i++;
    if (i >= end || b->nstmt > MOST || !s) {
        b->doubt = true;
        return 0;
    }
    if (is(b->j, i, ";")) {
        stop = i + 1;
    } else if (is(b->j, i, "{")) {
        b->stmt[s].kind = STMT_BLOCK;
        stop = at(b, i)->match + 1;
        sequence(b, s, i + 1, stop - 1);
    } else if (is(b->j, i, "if") || is(b->j, i, "for") || is(b->j, i, "while") ||
               is(b->j, i, "do") || is(b->j, i, "switch")) {
        stop = control(b, s, i, end);
    } else if (is(b->j, i, "case") ||
               is(b->j, i, "default")) { /* of a switch: a piece of its body */
        while (i < end && !is(b->j, i, ":"))
            i++;
        stop = i + 1;
    } else {
        simple_statement(b, s, i, end, scope_end);
        stop = b->stmt[s].end;
    }
    b->stmt[s].end = stop;
    b->stmt[s].waits =
        (td_reach_range(&b->j->r, b->stmt[s].first, stop) & (CX_BARRIER | CX_WARP)) != 0;
    return s;
}

/* ---- uses ---- */

static void
note_ref(cx_body *b, cx_ref **list, uint32_t *n, uint32_t where, uint32_t local)
{
    *list = td_cxx_grow(b->j->u.a, *list, *n, sizeof **list);
    if (*list)
        (*list)[(*n)++] = (cx_ref){where, local};
    else {
        b->doubt = true;
        *n = 0;
    }
}

static bool
member(const tok *t)
{
    return td_tok_is(t, ".") || td_tok_is(t, "->") || td_tok_is(t, "::");
}

static void
macro_uses(cx_body *b, const cx_macro *m, uint32_t where, int depth)
{
    for (uint32_t i = 0; i < m->body.n && depth < 8; i++) {
        const tok *t = &m->body.t[i];
        const cx_macro *in = td_unit_macro(&b->j->u, t);
        uint32_t v = i && member(t - 1) ? UINT32_MAX : td_body_find(b, t, where);

        b->doubt |= td_body_assigns(t) || td_tok_is(t, ";") || td_tok_is(t, "{") ||
                    td_tok_is(t, "##") || td_tok_among(t, not_followed) ||
                    (t->kind == TOK_WORD && td_tok_among(t, keyword) && !td_tok_is(t, "sizeof"));
        if (v != UINT32_MAX)
            note_ref(b, &b->ref, &b->nref, where, v);
        if (in && in != m)
            macro_uses(b, in, where, depth + 1);
    }
}

static void
odd_inside(cx_body *b, uint32_t i, uint32_t end, bool arrays_alone)
{
    for (; i < end; i++) {
        uint32_t v = td_body_find(b, at(b, i), i);

        if (v != UINT32_MAX && (!arrays_alone || b->local[v].is_array) && !b->local[v].is_shared)
            b->local[v].odd = true;
    }
}

/* Notes the variable that the operator at i changes; where that is unclear, all that may be
 * meant. */
static void
changes(cx_body *b, uint32_t i)
{
    bool subscript = false,
         prefix = (is(b->j, i, "++") || is(b->j, i, "--")) && !value_ends(b, i - 1);
    uint32_t k = prefix ? i + 1 : i - 1, v;

    if (prefix) {
        if (at(b, k)->kind != TOK_WORD) {
            odd_inside(b, k, td_types_piece(&b->j->u, k, b->f->end_at), false);
            return;
        }
        subscript = is(b->j, k + 1, "[");
        if (is(b->j, k + 1, "->"))
            return;
    } else {
        for (;; k -= 2) {
            while (is(b->j, k, "]")) {
                k = at(b, k)->match - 1;
                subscript = true;
            }
            if (is(b->j, k, ")")) { /* *(p + i) = is memory; (x) = and f(x) = may be anything */
                uint32_t open = at(b, k)->match;

                if (!(is(b->j, open - 1, "*") && td_body_unary(b, open - 1)))
                    odd_inside(b, open, k, subscript);
                return;
            }
            if (!is(b->j, k - 1, "."))
                break;
        }
        if (is(b->j, k - 1, "->") || (is(b->j, k - 1, "*") && td_body_unary(b, k - 1)))
            return; /* memory */
    }
    v = td_body_find(b, at(b, k), k);
    if (v == UINT32_MAX || (subscript && (b->local[v].is_pointer || b->local[v].is_shared)))
        return;
    if (b->local[v].at == k && b->local[v].init == i)
        return; /* its declaration */
    note_ref(b, &b->mod, &b->nmod, i, v);
}

/* Does f( … ) leave the variables that are passed to it unchanged? */
static bool
by_value(const cx_body *b, uint32_t f)
{
    static const char *const control_words[] = {"if",     "while",  "for", "switch",
                                                "return", "sizeof", NULL};

    return at(b, f)->kind != TOK_WORD || td_tok_among(at(b, f), control_words) ||
           td_types_builtin(at(b, f)) || td_body_pure(b, at(b, f)) ||
           td_unit_macro(&b->j->u, at(b, f));
}

static void
uses(cx_body *b)
{
    uint32_t bracket = 0; /* the innermost open ( */

    for (uint32_t i = b->f->body_at + 1; i < b->f->end_at && !b->doubt; i++) {
        const tok *t = at(b, i);
        const cx_macro *m = td_unit_macro(&b->j->u, t);
        uint32_t v;

        if (is(b->j, i, "(")) {
            bracket = i;
        } else if (bracket && i > at(b, bracket)->match) {
            for (bracket--;
                 bracket > b->f->body_at && !(is(b->j, bracket, "(") && at(b, bracket)->match > i);)
                bracket--;
            if (bracket <= b->f->body_at)
                bracket = 0;
        }
        b->doubt |= (t->kind == TOK_WORD && td_tok_among(t, not_followed)) ||
                    (t->kind == TOK_LINE &&
                     (t->n < 8 || !strstr(td_cxx_dup(b->j->u.a, t->s, t->n), "pragma"))) ||
                    td_cpu_lambda(b->j, i);
        if (td_body_assigns(t))
            changes(b, i);
        if (m)
            macro_uses(b, m, i, 0);
        if (t->kind != TOK_WORD || member(t - 1))
            continue;
        v = td_body_find(b, t, i);
        if (v == UINT32_MAX)
            continue;
        note_ref(b, &b->ref, &b->nref, i, v);
        if (is(b->j, i - 1, "&") && td_body_unary(b, i - 1) && !is(b->j, i + 1, "["))
            b->local[v].odd = true;
        if (bracket && !b->local[v].is_pointer && !b->local[v].is_shared &&
            (is(b->j, i - 1, "(") || is(b->j, i - 1, ",")) &&
            (is(b->j, i + 1, ")") || is(b->j, i + 1, ",")) && !by_value(b, bracket - 1))
            b->local[v].odd = true;
    }
}

static void
parameters(cx_body *b)
{
    for (uint32_t i = b->f->open_at + 1, stop; i < b->f->close_at; i = stop + 1) {
        cx_local l = {.base = i, .from = i, .scope_end = b->f->end_at};

        stop = td_types_piece(&b->j->u, i, b->f->close_at);
        l.at = td_types_name(&b->j->u, i, stop);
        if (!l.at)
            continue;
        l.base_end = l.at;
        l.end = stop;
        l.name = at(b, l.at);
        for (uint32_t k = i; k < stop; k++) {
            l.is_pointer |= is(b->j, k, "*") || is(b->j, k, "[");
            l.is_const = is(b->j, k, "*") ? false : l.is_const || is(b->j, k, "const");
            l.is_reference |= is(b->j, k, "&");
        }
        new_local(b, l);
    }
}

bool
td_body_read(cx_job *j, const cx_fn *f, cx_body *b)
{
    *b = (cx_body){.j = j, .f = f};
    new_stmt(b, STMT_EMPTY, 0);
    parameters(b);
    statement(b, f->body_at, f->end_at + 1, 0);
    if (!b->doubt)
        uses(b);
    return !b->doubt && !j->u.a->failed;
}

bool
td_body_jumps(const cx_body *b, uint32_t n)
{
    const cx_stmt *s = &b->stmt[n];

    if (s->kind == STMT_JUMP)
        return true;
    for (uint32_t c = s->child; c; c = s->kind == STMT_BLOCK ? b->stmt[c].next : 0)
        if (td_body_jumps(b, c))
            return true;
    return s->other && td_body_jumps(b, s->other);
}

bool
td_body_each(cx_job *j, uint32_t f, cx_body *b)
{
    const cx_fn *fn = &j->u.fn[f];

    if (!fn->body_at || !(fn->kernel || fn->device))
        return false;
    (void)td_body_read(j, fn, b);
    return true;
}
