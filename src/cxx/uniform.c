/* uniform.c - finds what is uniform: the same for all threads of a block.
 *
 * All variables count as uniform until one is found that is not: its value comes from a thread's
 * index or from a call with unknown effects, or it is set where not all threads come.
 */
#include "cxx/body.h"
#include "cxx/types.h"
#include "op_lists.h"

#include <string.h>

/* Functions that compute and nothing else, besides f's float forms sinf, fabsf, … */
static const char *const pure[] = {TD_CUDA_MATH "min",
                                   "max",
                                   "abs",
                                   "labs",
                                   "llabs",
                                   "round",
                                   "exp10",
                                   "__mul24",
                                   "__umul24",
                                   "__mulhi",
                                   "__umulhi",
                                   "__clz",
                                   "__clzll",
                                   "__popc",
                                   "__popcll",
                                   "__ffs",
                                   "__ffsll",
                                   "__brev",
                                   "__sad",
                                   "__fdividef",
                                   "__expf",
                                   "__logf",
                                   "__sinf",
                                   "__cosf",
                                   "__powf",
                                   "__int2float_rn",
                                   "__float2int_rn",
                                   "__float2int_rd",
                                   "__float2int_ru",
                                   "__float2int_rz",
                                   "static_cast",
                                   "reinterpret_cast",
                                   "const_cast",
                                   "sizeof",
                                   "alignof",
                                   "int",
                                   "float",
                                   "double",
                                   "unsigned",
                                   "bool",
                                   "char",
                                   "short",
                                   "long",
                                   "size_t",
                                   "dim3",
                                   NULL};
static const char *const type_words[] = {"const",  "unsigned",     "signed", "typename",
                                         "struct", "true",         "false",  "nullptr",
                                         "NULL",   "__restrict__", NULL};

bool
td_body_pure(const cx_body *b, const tok *f)
{
    char name[32];
    uint32_t size;

    (void)b;
    if (f->kind != TOK_WORD || f->n >= sizeof name)
        return false;
    memcpy(name, f->s, f->n);
    name[f->n] = 0;
    if (td_tok_among(f, pure) || td_types_vector(name, &size) ||
        (strncmp(name, "make_", 5) == 0 && td_types_vector(name + 5, &size)))
        return true;
    if (name[f->n - 1] == 'f') { /* sinf */
        const tok plain = {.s = f->s, .n = f->n - 1, .kind = TOK_WORD};

        return td_tok_among(&plain, pure);
    }
    return false;
}

typedef struct question {
    const cx_body *b;
    uint32_t where;    /* names mean what they mean at this token */
    bool effects;      /* variables may change */
    bool again;        /* else: alike */
    uint32_t from, to; /* of again */
} question;

static bool
may_change(const cx_body *b, uint32_t v, uint32_t from, uint32_t to)
{
    if (b->local[v].odd)
        return true;
    for (uint32_t i = 0; i < b->nmod; i++)
        if (b->mod[i].local == v && b->mod[i].at >= from && b->mod[i].at < to)
            return true;
    return false;
}

static bool
variable_ok(const question *q, uint32_t v)
{
    const cx_local *l = &q->b->local[v];

    if (l->is_shared)
        return true;
    if (l->is_array)
        return false;
    if (q->again)
        return (l->uniform || l->keep == KEEP_AGAIN) && !l->is_reference &&
               !may_change(q->b, v, q->from, q->to);
    return l->uniform;
}

static bool
global_ok(const question *q, const tok *t)
{
    const cx_unit *u = &q->b->j->u;

    for (uint32_t i = 0; i < u->nvar; i++)
        if (td_tok_named(t, u->var[i].name) && !u->var[i].constant)
            return !q->again;
    return true;
}

static bool tokens_uniform(const question *q, const toks *k, uint32_t i, uint32_t end, int depth);

static bool
word_ok(const question *q, const toks *k, uint32_t i, uint32_t end, int depth)
{
    const cx_unit *u = &q->b->j->u;
    const tok *t = &k->t[i];
    uint32_t past = i + 1 < end && td_tok_is(t + 1, "<") ? td_tok_angles(k, i + 1, end) : 0;
    bool call = i + 1 < end && td_tok_is(&k->t[past ? past : i + 1], "(");
    const cx_macro *m = td_unit_macro(u, t);
    uint32_t v;

    if (i && (td_tok_is(t - 1, ".") || td_tok_is(t - 1, "->")))
        return !call; /* a member; methods may do anything */
    v = td_body_find(q->b, t, q->where ? q->where : i);
    if (v != UINT32_MAX)
        return !call && variable_ok(q, v);
    if (m)
        return depth < 8 && tokens_uniform(&(question){q->b, q->where ? q->where : i, false,
                                                       q->again, q->from, q->to},
                                           &m->body, 0, m->body.n, depth + 1);
    if (td_tok_is(t, "threadIdx"))
        return q->again;
    if (td_tok_is(t, "blockIdx") || td_tok_is(t, "blockDim") || td_tok_is(t, "gridDim") ||
        td_tok_is(t, "warpSize") || td_tok_among(t, type_words))
        return true;
    if (call)
        return td_body_pure(q->b, t);
    if (td_reach_of(&q->b->j->r, t))
        return false;
    return global_ok(q, t);
}

/* Does the operator at i change a uniform variable of its own? */
static bool
change_ok(const question *q, uint32_t i)
{
    if (!q->effects)
        return false;
    for (uint32_t n = 0; n < q->b->nmod; n++)
        if (q->b->mod[n].at == i) {
            const cx_local *l = &q->b->local[q->b->mod[n].local];

            return l->uniform && !l->is_array && !l->is_shared;
        }
    for (uint32_t v = 0; v < q->b->nlocal;
         v++) /* or its declaration, whose variable has been asked about */
        if (q->b->local[v].init == i)
            return true;
    return false;
}

/* Do the brackets look like a cast: (float), (T const *)? */
static bool
is_cast(const cx_body *b, uint32_t open, uint32_t close)
{
    for (uint32_t i = open + 1; i < close; i++) {
        const tok *t = &b->j->u.k.t[i];

        if (t->kind == TOK_WORD ? td_body_find(b, t, i) != UINT32_MAX
                                : !td_tok_is(t, "*") && !td_tok_is(t, "::"))
            return false;
    }
    return true;
}

static bool
tokens_uniform(const question *q, const toks *k, uint32_t i, uint32_t end, int depth)
{
    for (; i < end; i++) {
        const tok *t = &k->t[i];
        bool ok = true;

        if (t->kind == TOK_WORD)
            ok = word_ok(q, k, i, end, depth);
        else if (td_body_assigns(t))
            ok = depth == 0 && change_ok(q, i);
        else if (td_tok_is(t, "[") || td_tok_is(t, "->"))
            ok = !q->again;
        else if (td_tok_is(t, "*") && q->again)
            ok = depth > 0 ? i > 0 && (t[-1].kind == TOK_WORD || t[-1].kind == TOK_NUMBER)
                           : !td_body_unary(q->b, i) &&
                                 !(td_tok_is(t - 1, ")") && is_cast(q->b, t[-1].match, i - 1));
        if (!ok)
            return false;
    }
    return true;
}

bool
td_body_alike(const cx_body *b, uint32_t i, uint32_t end, bool effects)
{
    return tokens_uniform(&(question){.b = b, .effects = effects}, &b->j->u.k, i, end, 0);
}

bool
td_body_again(const cx_body *b, uint32_t i, uint32_t end, uint32_t from, uint32_t to)
{
    return tokens_uniform(&(question){.b = b, .again = true, .from = from, .to = to}, &b->j->u.k, i,
                          end, 0);
}

/* ---- statements ---- */

static bool
set_local(cx_local *l)
{
    bool was = l->uniform;

    l->uniform = false;
    return was;
}

/* Marks what the statement changes as not uniform. */
static bool
differs(cx_body *b, const cx_stmt *s)
{
    bool more = false;

    for (uint32_t i = 0; i < b->nmod; i++)
        if (b->mod[i].at >= s->first && b->mod[i].at < s->end)
            more |= set_local(&b->local[b->mod[i].local]);
    for (uint32_t v = 0; v < b->nlocal; v++)
        if (b->local[v].at >= s->first && b->local[v].at < s->end && !b->local[v].is_shared)
            more |= set_local(&b->local[v]);
    return more;
}

/* Does the whole statement do the same for all threads, without changing memory? */
static bool
statement_uniform(const cx_body *b, uint32_t n, bool in_loop)
{
    const cx_stmt *s = &b->stmt[n];
    bool loop = s->kind == STMT_FOR || s->kind == STMT_WHILE || s->kind == STMT_DO;

    if (s->waits)
        return false;
    switch ((stmt_kind)s->kind) {
    case STMT_EMPTY:
    case STMT_NAME:
    case STMT_SHARED:  return true;
    case STMT_JUMP:    return td_tok_is(&b->j->u.k.t[s->first], "return") || in_loop;
    case STMT_EXPR:
    case STMT_DECLARE: {
        bool any = s->kind == STMT_DECLARE;

        for (uint32_t i = 0; i < b->nmod; i++)
            any |= b->mod[i].at >= s->first && b->mod[i].at < s->end;
        for (uint32_t v = 0; v < b->nlocal; v++)
            any &= b->local[v].stmt != n || b->local[v].uniform;
        return any && td_body_alike(b, s->first, s->end, true);
    }
    case STMT_SWITCH:
    case STMT_BARRIER: return false;
    case STMT_BLOCK:
    case STMT_IF:
    case STMT_FOR:
    case STMT_WHILE:
    case STMT_DO:      break;
    }
    if (s->open && !td_body_alike(b, s->open + 1, s->close, true))
        return false;
    for (uint32_t c = s->child; c; c = s->kind == STMT_BLOCK ? b->stmt[c].next : 0)
        if (!statement_uniform(b, c, in_loop || loop))
            return false;
    return !s->other || statement_uniform(b, s->other, in_loop);
}

/* Does break or continue in the statement leave a loop around it? */
static bool
jumps_out(const cx_body *b, uint32_t n, bool in_loop, bool in_switch)
{
    const cx_stmt *s = &b->stmt[n];
    bool loop = s->kind == STMT_FOR || s->kind == STMT_WHILE || s->kind == STMT_DO;

    if (s->kind == STMT_JUMP)
        return (td_tok_is(&b->j->u.k.t[s->first], "break") && !in_loop && !in_switch) ||
               (td_tok_is(&b->j->u.k.t[s->first], "continue") && !in_loop);
    for (uint32_t c = s->child; c; c = s->kind == STMT_BLOCK ? b->stmt[c].next : 0)
        if (jumps_out(b, c, in_loop || loop, in_switch || s->kind == STMT_SWITCH))
            return true;
    return s->other && jumps_out(b, s->other, in_loop, in_switch);
}

/* Do some threads leave the loop whose body this is, while others stay? */
static bool
escapes(const cx_body *b, uint32_t n)
{
    const cx_stmt *s = &b->stmt[n];

    if (!s->cut)
        return jumps_out(b, n, false, false);
    if (!s->waits || s->kind == STMT_FOR || s->kind == STMT_WHILE || s->kind == STMT_DO)
        return false;
    for (uint32_t c = s->child; c; c = s->kind == STMT_BLOCK ? b->stmt[c].next : 0)
        if (escapes(b, c))
            return true;
    return s->other && escapes(b, s->other);
}

static bool walk(cx_body *b, uint32_t n, bool in_loop);

/* A statement that waits is cut if its condition is uniform and its parts can be cut.  Sets
 * *cut. */
static bool
walk_waiting(cx_body *b, uint32_t n, bool in_loop)
{
    cx_stmt *s = &b->stmt[n];
    bool loop = s->kind == STMT_FOR || s->kind == STMT_WHILE || s->kind == STMT_DO, more = false;

    s->cut = s->kind == STMT_BARRIER || s->kind == STMT_BLOCK ||
             ((loop || s->kind == STMT_IF) && td_body_alike(b, s->open + 1, s->close, true));
    if (s->cut && (td_reach_range(&b->j->r, s->open, s->close) & (CX_BARRIER | CX_WARP)))
        s->cut = false;
    if (!s->cut)
        return differs(b, s);
    for (uint32_t c = s->child; c; c = s->kind == STMT_BLOCK ? b->stmt[c].next : 0)
        more |= walk(b, c, in_loop || loop);
    if (s->other)
        more |= walk(b, s->other, in_loop);
    if (loop && escapes(b, s->child)) {
        s->cut = false;
        more |= differs(b, s);
    }
    return more;
}

static bool
walk(cx_body *b, uint32_t n, bool in_loop)
{
    cx_stmt *s = &b->stmt[n];
    bool more = false;

    if (s->waits && s->kind != STMT_EXPR && s->kind != STMT_DECLARE && s->kind != STMT_SWITCH)
        return walk_waiting(b, n, in_loop);
    s->cut = statement_uniform(b, n, in_loop);
    if (s->kind == STMT_DECLARE) { /* its variables one by one */
        for (uint32_t v = 0; v < b->nlocal; v++) {
            const cx_local *l = &b->local[v];

            if (l->stmt == n && l->uniform &&
                (l->is_array || l->is_reference || l->odd || s->waits ||
                 (l->init && !td_body_alike(b, l->init + 1, l->end, false))))
                more |= set_local(&b->local[v]);
        }
        for (uint32_t i = 0; i < b->nmod; i++) /* int a = b = 3 */
            if (b->mod[i].at >= s->first && b->mod[i].at < s->end && !s->cut)
                more |= set_local(&b->local[b->mod[i].local]);
        return more;
    }
    return s->cut ? more : differs(b, s);
}

void
td_body_uniform(cx_body *b)
{
    for (uint32_t v = 0; v < b->nlocal; v++) {
        cx_local *l = &b->local[v];

        l->uniform = !l->is_array && !l->odd && !l->is_reference && !l->is_shared;
    }
    while (walk(b, 1, false))
        ;
}
