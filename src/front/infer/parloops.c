/* parloops.c - the iteration counts of a GPU's parallel loops, as arithmetic on arguments. */
#include "front/infer/parloops.h"
#include "type/dtype.h"

#include <string.h>

enum { DEPTH = 12, MOST = 256 };

static bool
is_known_op(unsigned op)
{
    switch (op) {
    case OP_add:
    case OP_subtract:
    case OP_multiply:
    case OP_minimum:
    case OP_maximum:
    case OP_truncate_divide:
    case OP_floor_divide:
    case OP_less:
    case OP_greater:
    case OP_select:
    case OP_const:
    case OP_param:
    case OP_cast:            return true;
    default:                 return false;
    }
}

static uint32_t
add_term(td_parloops *x, td_arena *mem, const td_fn *f, td_val v, int depth)
{
    const td_inst *s = &f->ins[v.i];
    td_term t = {.op = s->op, .dt = s->dt, .imm = (int64_t)s->imm};
    bool leaf = s->op == OP_const || s->op == OP_param;
    bool whole = s->dt == TD_BOOL || td_dtype_is_int((td_dtype)s->dt);

    if (depth == 0 || s->lanes != 1 || !whole || !is_known_op(s->op) || x->nterm >= MOST ||
        (!leaf && s->dt != TD_I64 && s->dt != TD_BOOL)) /* narrower ones wrap round */
        return 0;
    for (; t.narg < 3 && s->arg[t.narg].i != UINT32_MAX; t.narg++)
        if (!(t.arg[t.narg] = add_term(x, mem, f, s->arg[t.narg], depth - 1)))
            return 0;
    if (x->nterm == x->cap) {
        td_term *more = td_alloc(mem, (x->cap = 2 * x->cap + 16) * sizeof *more);

        if (x->nterm)
            memcpy(more, x->term, x->nterm * sizeof *more);
        x->term = more;
    }
    x->term[x->nterm++] = t;
    return x->nterm;
}

uint32_t
td_parloop_add(td_parloops *x, td_arena *mem, const td_fn *f, td_val v)
{
    return f->st || mem->failed ? 0 : add_term(x, mem, f, v, DEPTH);
}

/* The bits of a word as an integer of dt. */
static bool
from_word(td_dtype dt, uint64_t word, int64_t *out)
{
    td_scalar s = td_scalar_load(dt, &word);

    *out = s.i;
    return s.dt != TD_U64 || s.i >= 0;
}

static bool
compute_term(const td_term *t, const int64_t *v, const uint64_t *word, uint32_t n, int64_t *out)
{
    switch (t->op) {
    case OP_const:    *out = t->imm; return true;
    case OP_param:    return (uint64_t)t->imm < n && from_word((td_dtype)t->dt, word[t->imm], out);
    case OP_cast:     *out = v[0]; return true;
    case OP_add:      return !__builtin_add_overflow(v[0], v[1], out);
    case OP_subtract: return !__builtin_sub_overflow(v[0], v[1], out);
    case OP_multiply: return !__builtin_mul_overflow(v[0], v[1], out);
    case OP_minimum:  *out = v[0] < v[1] ? v[0] : v[1]; return true;
    case OP_maximum:  *out = v[0] > v[1] ? v[0] : v[1]; return true;
    case OP_less:     *out = v[0] < v[1]; return true;
    case OP_greater:  *out = v[0] > v[1]; return true;
    case OP_select:   *out = v[0] ? v[1] : v[2]; return true;
    default:          break;
    }
    if (v[1] <= 0) /* steps are positive where it matters */
        return false;
    *out = v[0] / v[1] - (t->op == OP_floor_divide && v[0] % v[1] < 0);
    return true;
}

bool
td_parloop_value(const td_parloops *x, uint32_t term, const uint64_t *word, uint32_t n,
                 int64_t *out)
{
    const td_term *t = term && term <= x->nterm ? &x->term[term - 1] : NULL;
    int64_t v[3] = {0};

    if (!t)
        return false;
    for (int k = 0; k < t->narg; k++) /* as deep as add went */
        if (!td_parloop_value(x, t->arg[k], word, n, &v[k]))
            return false;
    return compute_term(t, v, word, n, out);
}
