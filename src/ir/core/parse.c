/* parse.c - reads the text that td_fn_print writes, and text written by hand: values may have any names (%sum as well
 * as %7), `;` begins a comment, indentation and empty lines are free.
 */
#include "base/map.h"
#include "ir/core/ir.h"

#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

/* kind: 'w' a word or number, '%' a value's name (s: after the sign), '\n', 0 the end, else the character */
typedef struct token {
    const char *s;
    int n;
    char kind;
} token;

typedef struct parser {
    const char *p;
    token tok; /* the next token, not yet taken */
    uint32_t line, depth;
    td_fn *f;
    td_map names; /* a value's name to 1 + its instruction */
    bool closed;
} parser;

static bool
is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c && strchr("_.+-", c));
}

static void
advance(parser *ps)
{
    token *t = &ps->tok;

    if (t->kind == '\n')
        ps->line++;
    while (*ps->p == ' ' || *ps->p == '\t' || *ps->p == '\r')
        ps->p++;
    if (*ps->p == ';')
        ps->p += strcspn(ps->p, "\n");
    *t = (token){.s = ps->p, .n = 1, .kind = *ps->p};
    if (t->kind == '%')
        t->s++;
    if (t->kind == '%' || is_word(t->kind)) {
        t->kind = t->kind == '%' ? '%' : 'w';
        for (t->n = 0; is_word(t->s[t->n]); t->n++)
            continue;
    }
    ps->p = t->s + (t->kind ? t->n : 0);
}

static td_status
wanted(const parser *ps, const char *what)
{
    const token *t = &ps->tok;

    if (t->kind == 0 || t->kind == '\n')
        return td_fail(TD_ERR_VALUE, "kernel text, line %u: %s expected, found the end of the %s",
                       ps->line, what, t->kind ? "line" : "text");
    return td_fail(TD_ERR_VALUE, "kernel text, line %u: %s expected, found '%s%.*s'", ps->line,
                   what, t->kind == '%' ? "%" : "", t->n < 80 ? t->n : 80, t->s);
}

static bool
at_word(const parser *ps, const char *word)
{
    return ps->tok.kind == 'w' && strlen(word) == (size_t)ps->tok.n &&
           memcmp(ps->tok.s, word, (size_t)ps->tok.n) == 0;
}

static bool
parse_take(parser *ps, char kind)
{
    if (ps->tok.kind != kind)
        return false;
    advance(ps);
    return true;
}

static bool
take_word(parser *ps, const char *word)
{
    if (!at_word(ps, word))
        return false;
    advance(ps);
    return true;
}

static td_status
expect(parser *ps, char kind, const char *what)
{
    return parse_take(ps, kind) ? TD_OK : wanted(ps, what);
}

/* Copies the word; one that is too long names nothing. */
static td_status
word(parser *ps, const char *what, char out[64])
{
    if (ps->tok.kind != 'w' || ps->tok.n >= 64)
        return wanted(ps, what);
    memcpy(out, ps->tok.s, (size_t)ps->tok.n);
    out[ps->tok.n] = 0;
    return TD_OK;
}

/* Reads a decimal number with an optional sign, in the range of int64 or uint64. */
static td_status
parse_number(parser *ps, const char *what, uint64_t *out)
{
    char s[64], *end;

    TD_TRY(word(ps, what, s));
    errno = 0;
    *out = s[0] == '-' ? (uint64_t)strtoll(s, &end, 10) : strtoull(s, &end, 10);
    if (errno || *end || end == s)
        return wanted(ps, what);
    advance(ps);
    return TD_OK;
}

static td_hash
name_hash(const token *t)
{
    return td_hash_add(TD_HASH_INIT, t->s, (size_t)t->n);
}

static td_status
operand(parser *ps, td_val *out)
{
    void *known;

    if (ps->tok.kind != '%')
        return wanted(ps, "a value");
    known = td_map_get(&ps->names, name_hash(&ps->tok));
    if (!known)
        return wanted(ps, "a value defined above");
    out->i = (uint32_t)((uintptr_t)known - 1);
    advance(ps);
    return TD_OK;
}

static td_status
operands(parser *ps, td_inst *s)
{
    const td_opinfo *o = &td_optab[s->op];
    bool memory = s->op == OP_load || s->op == OP_store || td_op_is_atomic(s->op);

    for (int a = 0; a < o->arity; a++) {
        if (s->op >= TD_OPS && o->kinds[a] == '?') {
            if (take_word(ps, "mask"))
                TD_TRY(operand(ps, &s->arg[a]));
            continue;
        }
        if (memory && a == 1) {
            TD_TRY(expect(ps, '[', "'['"));
            TD_TRY(operand(ps, &s->arg[a]));
            TD_TRY(expect(ps, ']', "']'"));
            continue;
        }
        if (a)
            TD_TRY(expect(ps, ',', "','"));
        TD_TRY(operand(ps, &s->arg[a]));
    }
    return TD_OK;
}

static td_status
cache(parser *ps, td_inst *s)
{
    for (uint32_t k = 1; k < TD_CACHES; k++)
        if (take_word(ps, td_cache_name((int)k))) {
            s->flags |= k << 8;
            return TD_OK;
        }
    return wanted(ps, "ca, cg, cs, lu, cv, wb or wt");
}

/* Reads the immediate operand.  The text of a constant is kept until its dtype has been read. */
static td_status
immediate(parser *ps, td_inst *s, token *literal)
{
    if (s->op == OP_for && take_word(ps, "each"))
        s->flags |= TD_INST_EACH;
    if ((s->op == OP_load || s->op == OP_store) && take_word(ps, "cache"))
        TD_TRY(cache(ps, s));
    switch (td_optab[s->op].imm) {
    case TD_IMM_NUMBER:
    case TD_IMM_LANE:
        if (td_optab[s->op].arity)
            TD_TRY(expect(ps, ',', "','"));
        return parse_number(ps, "a number", &s->imm);
    case TD_IMM_BITS: *literal = ps->tok; return expect(ps, 'w', "a constant");
    case TD_IMM_AXIS:
        for (s->imm = 0; s->imm < 3; s->imm++)
            if (take_word(ps, (const char *[]){"x", "y", "z"}[s->imm]))
                return TD_OK;
        return wanted(ps, "x, y or z");
    case TD_IMM_ALIGN:
        return take_word(ps, "align") ? parse_number(ps, "an alignment", &s->imm) : TD_OK;
    case TD_IMM_LEVEL: return take_word(ps, "level") ? parse_number(ps, "a level", &s->imm) : TD_OK;
    }
    return TD_OK;
}

static td_status
type(parser *ps, td_inst *s)
{
    char name[64];
    td_dtype dt;

    s->lanes = 1;
    /* the text says whether it is one, and the verifier checks it */
    s->flags &= ~(uint32_t)TD_INST_PTR;
    if (!parse_take(ps, ':'))
        return td_optab[s->op].value ? wanted(ps, "':' and a dtype") : TD_OK;
    if (take_word(ps, "ptr"))
        s->flags |= TD_INST_PTR;
    TD_TRY(word(ps, "a dtype", name));
    if (td_dtype_parse(name, &dt))
        return wanted(ps, "a dtype");
    s->dt = (uint8_t)dt;
    advance(ps);
    if (ps->tok.kind == 'w' && ps->tok.s[0] == 'x') {
        int n = ps->tok.n > 1 && ps->tok.n < 5 ? atoi(ps->tok.s + 1) : 0;

        if (n < 1 || n > 64)
            return wanted(ps, "x1 to x64");
        s->lanes = (uint8_t)n;
        advance(ps);
    }
    return TD_OK;
}

static td_status
constant(parser *ps, td_inst *s, token literal)
{
    parser at = *ps; /* reads the literal again */
    char text[64], *end;
    double v;

    at.tok = literal;
    at.p = literal.s + literal.n;
    if (!td_dtype_is_float((td_dtype)s->dt))
        return parse_number(&at, "an integer", &s->imm);
    TD_TRY(word(&at, "a number", text));
    v = strtod(text, &end);
    if (*end || end == text)
        return wanted(&at, "a number");
    memcpy(&s->imm, &v, sizeof v);
    return TD_OK;
}

static td_status
source_line(parser *ps, td_inst *s)
{
    uint64_t line = 0;

    if (parse_take(ps, '@'))
        TD_TRY(parse_number(ps, "a source line", &line));
    s->line = (uint32_t)line;
    return TD_OK;
}

static td_status
define(parser *ps, const token *name)
{
    td_hash h = name_hash(name);

    if (!name->n || td_map_get(&ps->names, h))
        return td_fail(TD_ERR_VALUE, "kernel text, line %u: %%%.*s is %s", ps->line,
                       name->n < 80 ? name->n : 80, name->s, name->n ? "defined twice" : "no name");
    return td_map_set(&ps->names, h, (void *)((uintptr_t)ps->f->n + 1));
}

/* Reads the source line, then the brace that opens a region. */
static td_status
finish_line(parser *ps, td_inst *s)
{
    TD_TRY(source_line(ps, s));
    if (s->op == OP_else || td_op_opens(s->op)) {
        TD_TRY(expect(ps, '{', "'{'"));
        ps->depth++;
    }
    ps->f->line = s->line;
    td_push(ps->f, *s);
    return ps->f->st;
}

static td_status
closer(parser *ps)
{
    td_inst s;

    if (!ps->depth) {
        ps->closed = true;
        return TD_OK;
    }
    ps->depth--;
    s = td_inst_new(take_word(ps, "else") ? OP_else : OP_end, TD_BOOL, 1);
    return finish_line(ps, &s);
}

/* Checks that parameters are numbered in their order. */
static td_status
check_param(parser *ps, const td_inst *s)
{
    if (s->imm != ps->f->nparam)
        return td_fail(TD_ERR_VALUE, "kernel text, line %u: param %u expected, found param %llu",
                       ps->line, ps->f->nparam, (unsigned long long)s->imm);
    ps->f->nparam++;
    return TD_OK;
}

static td_status
instruction(parser *ps)
{
    token name = ps->tok, literal = {0};
    bool named = parse_take(ps, '%');
    char op_name[64];
    td_inst s;
    td_op op;

    if (named)
        TD_TRY(expect(ps, '=', "'='"));
    TD_TRY(word(ps, "an operation", op_name));
    if (td_op_find(op_name, &op) || op == OP_else || op == OP_end)
        return wanted(ps, "an operation");
    if (named != (bool)td_optab[op].value)
        return td_fail(TD_ERR_VALUE, "kernel text, line %u: %s defines %s value", ps->line, op_name,
                       named ? "no" : "a");
    advance(ps);
    s = td_inst_new(op, TD_BOOL, 1);
    TD_TRY(operands(ps, &s));
    TD_TRY(immediate(ps, &s, &literal));
    TD_TRY(type(ps, &s));
    if (literal.kind)
        TD_TRY(constant(ps, &s, literal));
    if (op == OP_param)
        TD_TRY(check_param(ps, &s));
    if (named)
        TD_TRY(define(ps, &name));
    return finish_line(ps, &s);
}

static td_status
end_of_line(parser *ps)
{
    return ps->tok.kind ? expect(ps, '\n', "the end of the line") : TD_OK;
}

static td_status
body(parser *ps)
{
    while (!ps->closed) {
        if (parse_take(ps, '\n'))
            continue;
        TD_TRY(parse_take(ps, '}') ? closer(ps) : instruction(ps));
        TD_TRY(end_of_line(ps));
    }
    while (parse_take(ps, '\n'))
        continue;
    return ps->tok.kind ? wanted(ps, "nothing more") : TD_OK;
}

/* Reads "threads 256 resident 2 registers 32 warp 64 simt fast libm optimise 3", all optional. */
static td_status
bounds(parser *ps)
{
    uint64_t n = 0;

    if (take_word(ps, "threads")) {
        TD_TRY(parse_number(ps, "a number of threads", &n));
        ps->f->threads = n <= UINT32_MAX ? (uint32_t)n : UINT32_MAX;
    }
    if (take_word(ps, "resident")) {
        TD_TRY(parse_number(ps, "a number of blocks", &n));
        ps->f->resident = n <= UINT32_MAX ? (uint32_t)n : UINT32_MAX;
    }
    if (take_word(ps, "registers")) {
        TD_TRY(parse_number(ps, "a number of registers", &n));
        ps->f->registers = n <= UINT32_MAX ? (uint32_t)n : UINT32_MAX;
    }
    if (take_word(ps, "warp")) {
        TD_TRY(parse_number(ps, "the threads of a warp", &n));
        ps->f->warp = n <= UINT32_MAX ? (uint32_t)n : UINT32_MAX;
    }
    ps->f->simt = take_word(ps, "simt");
    ps->f->fast = take_word(ps, "fast");
    ps->f->libm = take_word(ps, "libm");
    if (take_word(ps, "optimise")) {
        TD_TRY(parse_number(ps, "a level of optimisation", &n));
        ps->f->optimise = n ? 3 : 0;
    }
    return TD_OK;
}

static td_status
header(parser *ps, td_arena *mem)
{
    char *name;

    while (parse_take(ps, '\n'))
        continue;
    if (!take_word(ps, "kernel"))
        return wanted(ps, "'kernel'");
    if (ps->tok.kind != 'w')
        return wanted(ps, "a kernel's name");
    name = td_alloc_big(mem, (size_t)ps->tok.n + 1);
    if (!name)
        return td_fail(TD_ERR_NOMEM, "kernel text: %d bytes of name", ps->tok.n);
    memcpy(name, ps->tok.s, (size_t)ps->tok.n);
    *ps->f = td_fn_new(mem, name);
    advance(ps);
    TD_TRY(bounds(ps));
    TD_TRY(expect(ps, '{', "'{'"));
    return end_of_line(ps);
}

td_status
td_fn_parse(const char *text, td_arena *mem, td_fn *out)
{
    /* no decimal comma */
    locale_t c = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0), old = c ? uselocale(c) : c;
    parser ps = {.p = text, .line = 1, .f = out};
    td_status st;

    *out = td_fn_new(mem, "");
    advance(&ps);
    st = header(&ps, mem);
    if (!st)
        st = body(&ps);
    if (!st)
        st = td_fn_finish(out);
    out->st = st;
    td_map_free(&ps.names);
    if (c) {
        uselocale(old);
        freelocale(c);
    }
    return st;
}
