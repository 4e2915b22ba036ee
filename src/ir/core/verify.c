/* verify.c - checks a finished kernel before any engine sees it.
 *
 * One walk over the instructions with the stack of open regions.  A value may be used from its instruction to the end
 * of the region that contains it.  region[i] is the id of that region.
 */
#include "ir/core/ir.h"

#include <string.h>

typedef struct check {
    const td_fn *f;
    uint32_t *region; /* of each instruction: the id of the innermost region that holds it */
    uint32_t open[TD_DEPTH + 1], opener[TD_DEPTH + 1], depth, next;
    uint32_t func;     /* the innermost open function; UINT32_MAX: there is none */
    uint32_t parallel; /* the open parallel region's instruction; UINT32_MAX: there is none */
} check;

static td_status
bad(const check *c, uint32_t i, const char *why)
{
    return td_fail(TD_ERR_JIT, "kernel %s: %%%u (%s, line %u): %s", c->f->name, i,
                   td_optab[c->f->ins[i].op].name, c->f->ins[i].line, why);
}

static bool
visible(const check *c, uint32_t v)
{
    for (uint32_t d = 0; d <= c->depth; d++)
        if (c->open[d] == c->region[v])
            return true;
    return false;
}

static td_status
check_operand(const check *c, uint32_t i, td_val v)
{
    if (v.i >= i)
        return bad(c, i, "uses a value before it is defined");
    if (!td_optab[c->f->ins[v.i].op].value)
        return bad(c, i, "uses an instruction that defines no value");
    if (!visible(c, v.i))
        return bad(c, i, "uses a value outside the region that defines it");
    if (c->func != UINT32_MAX && v.i < c->func && c->f->ins[v.i].op != OP_param &&
        c->f->ins[v.i].op != OP_const)
        return bad(c, i, "uses a value from outside its function");
    return TD_OK;
}

static td_status
check_elementwise(const check *c, uint32_t i)
{
    const td_inst *s = &c->f->ins[i];
    const td_opinfo *o = &td_optab[s->op];
    td_dtype dt = (td_dtype)td_at(c->f, s->arg[o->arity - 1])->dt;

    if (!td_op_admits((td_op)s->op, dt))
        return bad(c, i, "dtype is not admitted");
    if (s->dt != td_op_result((td_op)s->op, dt))
        return bad(c, i, "result dtype does not follow from its operands");
    for (int a = 0; a < o->arity; a++) {
        const td_inst *v = td_at(c->f, s->arg[a]);

        if (v->dt != (s->op == OP_select && a == 0 ? TD_BOOL : dt) || v->op == OP_slot)
            return bad(c, i, "operand dtypes differ");
        if (v->lanes != s->lanes || (v->flags & TD_INST_PTR))
            return bad(c, i, "operand lanes differ, or an operand is a pointer");
    }
    return TD_OK;
}

/* Checks what engines assume of every instruction: which values are pointers, which have one lane. */
static td_status
check_form(const check *c, uint32_t i)
{
    const td_inst *s = &c->f->ins[i];
    bool ptr = (s->flags & TD_INST_PTR) != 0;

    if (td_optab[s->op].value == 2 ? !ptr : ptr && s->op != OP_param)
        return bad(c, i, "is a pointer and must not be, or the reverse");
    if (td_inst_cache(s) &&
        ((s->op != OP_load && s->op != OP_store) || !td_cache_name(td_inst_cache(s))))
        return bad(c, i, "wishes something of caches that it cannot");
    if (s->op == OP_param && s->imm >= c->f->nparam)
        return bad(c, i, "no such parameter");
    if (s->op >= TD_OPS && td_optab[s->op].type < TD_TYPE_ANY && s->dt != td_optab[s->op].type)
        return bad(c, i, "has not the dtype of its values");
    if (s->lanes == 1 || s->op < TD_OPS || td_optab[s->op].lanes == TD_LANES_MANY)
        return TD_OK;
    return bad(c, i, "has one lane");
}

/* Checks for what the pieces of a parallel region, each on its own CPU thread, cannot do. */
static td_status
check_parallel(const check *c, uint32_t i)
{
    const td_inst *s = &c->f->ins[i];

    switch (s->op) {
    case OP_param:
    case OP_exit_if:
    case OP_parallel: return bad(c, i, "must not stand in a parallel region");
    case OP_set:
        return s->arg[0].i > c->parallel
                   ? TD_OK
                   : bad(c, i, "sets a slot from outside the parallel region");
    }
    return td_optab[s->op].threads == TD_THREADS_ALONE || td_op_is_atomic(s->op)
               ? TD_OK
               : bad(c, i, "must not stand in a parallel region");
}

/* Checks calls of functions, and for what functions cannot do. */
static td_status
check_func(const check *c, uint32_t i)
{
    const td_inst *s = &c->f->ins[i];

    for (uint32_t k = 0; k < i; k++)
        if (c->f->ins[k].op == OP_func && c->f->ins[k].imm == s->imm)
            return s->op == OP_call ? TD_OK : bad(c, i, "has the number of another function");
    if (s->op == OP_call)
        return bad(c, i, "calls a function that does not stand before it");
    return s->imm < TD_FUNCS && s->dt == TD_U64 ? TD_OK
                                                : bad(c, i, "is no uint64, or numbered too high");
}

/* Checks an operand by its letter in core.def's args column. */
static td_status
check_letter(const check *c, uint32_t i, char letter, td_val v)
{
    const td_inst *s = &c->f->ins[i], *a;
    bool ptr;

    if (letter == '?' && v.i == UINT32_MAX)
        return TD_OK;
    TD_TRY(check_operand(c, i, v));
    a = td_at(c->f, v);
    ptr = (a->flags & TD_INST_PTR) != 0;
    if (letter == 'p' ? !ptr : ptr)
        return bad(c, i, "a pointer stands where none may, or the reverse");
    if ((letter == 's') != (a->op == OP_slot))
        return bad(c, i, "a slot stands where none may, or the reverse");
    if (letter == 'o' && a->lanes != 1)
        return bad(c, i, "operand has not one lane");
    if (letter == 'i' && a->dt != TD_I64 && a->dt != TD_I32)
        return bad(c, i, "index is not int32 or int64");
    if (letter == 'n' && ((a->dt != TD_I64 && a->dt != TD_I32) || a->lanes != 1))
        return bad(c, i, "operand is not one int32 or int64");
    if (letter == 'c' && (a->dt != TD_BOOL || a->lanes != 1))
        return bad(c, i, "condition is not one bool");
    if (letter == 'a' && (a->dt != TD_U64 || a->lanes != 1))
        return bad(c, i, "address is not one uint64");
    if (letter == 'm' && (a->dt != TD_U32 || a->lanes != 1))
        return bad(c, i, "member mask is not one uint32");
    if (letter == '?' && (a->dt != TD_BOOL || a->lanes != s->lanes))
        return bad(c, i, "mask does not fit");
    return TD_OK;
}

static bool
has_atomic(unsigned op, td_dtype dt)
{
    bool wide = td_dtype_size(dt) >= 4 && !td_dtype_is_complex(dt);

    switch (op) {
    case OP_atomic_add:  return wide || td_dtype_is_half(dt);
    case OP_atomic_max:
    case OP_atomic_min:
    case OP_atomic_exch:
    case OP_atomic_cas:  return wide;
    case OP_atomic_inc:
    case OP_atomic_dec:  return dt == TD_U32 || dt == TD_U64;
    }
    return wide && td_dtype_is_int(dt);
}

static td_status
check_memory(const check *c, uint32_t i)
{
    const td_inst *s = &c->f->ins[i], *idx = td_at(c->f, s->arg[1]);
    const char *letters = td_optab[s->op].kinds;

    if (idx->lanes != 1 && idx->lanes != s->lanes)
        return bad(c, i, "index lanes do not fit");
    if (td_at(c->f, s->arg[0])->dt != s->dt)
        return bad(c, i, "dtype is not the pointer's");
    for (int a = 2; letters[a] == 'v'; a++)
        if (td_at(c->f, s->arg[a])->dt != s->dt || td_at(c->f, s->arg[a])->lanes != s->lanes)
            return bad(c, i, "stored value does not fit");
    if (td_op_is_atomic(s->op) && !has_atomic(s->op, (td_dtype)s->dt))
        return bad(c, i, "no such atomic operation");
    if (s->imm & (s->imm - 1))
        return bad(c, i, "alignment is not a power of two");
    return TD_OK;
}

static td_status
check_move(const check *c, uint32_t i)
{
    const td_inst *s = &c->f->ins[i], *a = s->arg[0].i < i ? td_at(c->f, s->arg[0]) : s;
    bool same = a->dt == s->dt && a->lanes == s->lanes;

    switch (s->op) {
    case OP_cast:
        return a->lanes == s->lanes && !td_dtype_is_complex((td_dtype)s->dt) &&
                       !td_dtype_is_complex((td_dtype)a->dt)
                   ? TD_OK
                   : bad(c, i, "lanes differ, or the dtype is complex");
    case OP_bitcast:
        return a->lanes == s->lanes &&
                       td_dtype_size((td_dtype)a->dt) == td_dtype_size((td_dtype)s->dt)
                   ? TD_OK
                   : bad(c, i, "sizes differ");
    case OP_splat:
        return a->lanes == 1 && a->dt == s->dt ? TD_OK : bad(c, i, "operand is not one lane");
    case OP_zip: {
        const td_inst *b = td_at(c->f, s->arg[1]);

        return a->dt == s->dt && b->dt == s->dt && a->lanes == b->lanes && s->lanes == 2 * a->lanes
                   ? TD_OK
                   : bad(c, i, "operands are not half of the lanes each");
    }
    case OP_unzip:
        return a->dt == s->dt && a->lanes == 2 * s->lanes && s->imm < 2
                   ? TD_OK
                   : bad(c, i, "operand has not twice the lanes, or the first is neither 0 nor 1");
    case OP_extract: return s->imm < a->lanes && a->dt == s->dt ? TD_OK : bad(c, i, "no such lane");
    case OP_set:
        return same && td_at(c->f, s->arg[1])->dt == s->dt &&
                       td_at(c->f, s->arg[1])->lanes == s->lanes
                   ? TD_OK
                   : bad(c, i, "value does not fit the slot");
    case OP_piece_end:
    case OP_piece:
        return a->op == OP_parallel && s->dt == (s->op == OP_piece ? TD_I64 : a->dt)
                   ? TD_OK
                   : bad(c, i, "operand is no parallel region's value, or the dtype differs");
    case OP_permute:
        return same && td_at(c->f, s->arg[1])->lanes == s->lanes && !(s->lanes & (s->lanes - 1))
                   ? TD_OK
                   : bad(c, i, "dtype or lanes differ, or are no power of two");
    case OP_any:
    case OP_all:
        return a->dt == TD_BOOL && s->dt == TD_BOOL ? TD_OK : bad(c, i, "bool of bool lanes");
    case OP_bits:
        return a->dt == TD_BOOL && s->dt == TD_U64 ? TD_OK : bad(c, i, "uint64 of bool lanes");
    case OP_unbits:
        return a->dt == TD_U64 && a->lanes == 1 && s->dt == TD_BOOL
                   ? TD_OK
                   : bad(c, i, "bool lanes of one uint64");
    case OP_get:
    case OP_rotate: return same ? TD_OK : bad(c, i, "dtype or lanes differ");
    }
    return TD_OK;
}

/* Does it identify threads of a warp by the bits of a uint32? */
static bool
has_mask(const td_inst *s)
{
    return strchr(td_optab[s->op].kinds, 'm') || td_optab[s->op].threads == TD_THREADS_HERE;
}

static td_status
check_core(const check *c, uint32_t i)
{
    const td_inst *s = &c->f->ins[i];
    const char *letters = td_optab[s->op].kinds;

    for (int a = 0; letters[a]; a++)
        TD_TRY(check_letter(c, i, letters[a], s->arg[a]));
    if (td_op_is_atomic(s->op))
        return check_memory(c, i);
    if (td_optab[s->op].type == TD_TYPE_FIRST && s->dt != td_at(c->f, s->arg[0])->dt)
        return bad(c, i, "has not the dtype of its operand");
    if (td_optab[s->op].imm == TD_IMM_AXIS && s->imm > 2)
        return bad(c, i, "no such axis");
    if (td_optab[s->op].imm == TD_IMM_LANE && s->imm >= c->f->warp)
        return bad(c, i, "a warp has no such lane");
    if (c->f->warp > TD_WARP && has_mask(s))
        return bad(c, i, "a mask has 32 bits, and the kernel's warps have more threads");
    switch (s->op) {
    case OP_load:
    case OP_store: return check_memory(c, i);
    case OP_iota:  return td_dtype_is_int((td_dtype)s->dt) ? TD_OK : bad(c, i, "not an integer");
    case OP_for:
        for (int a = 0; a < 3; a++)
            if (td_at(c->f, s->arg[a])->dt != s->dt || td_at(c->f, s->arg[a])->lanes != 1)
                return bad(c, i, "bounds are not one integer type");
        if ((s->flags & TD_INST_EACH) &&
            (td_at(c->f, s->arg[2])->op != OP_const || td_at(c->f, s->arg[2])->imm != 1))
            return bad(c, i, "iterations that do not depend on each other are counted by ones");
        return TD_OK;
    case OP_func:
    case OP_call: return check_func(c, i);
    case OP_parallel:
        for (int a = 0; a < 2; a++)
            if (td_at(c->f, s->arg[a])->dt != s->dt || td_at(c->f, s->arg[a])->lanes != 1)
                return bad(c, i, "bounds are not one integer type");
        return s->imm && s->imm <= 1 << 20 ? TD_OK : bad(c, i, "pieces are 1 to 2^20");
    case OP_grid_barrier:
        return td_at(c->f, s->arg[0])->dt == TD_U32 ? TD_OK
                                                    : bad(c, i, "the counter is not uint32");
    case OP_fence: return s->imm < 3 ? TD_OK : bad(c, i, "no such scope");
    }
    return letters[0] == 'v' || letters[0] == 's' ? check_move(c, i) : TD_OK;
}

static td_status
check_break(const check *c, uint32_t i)
{
    uint64_t left = c->f->ins[i].imm;

    for (uint32_t d = c->depth; d > 0; d--) {
        if (td_op_is_breakable(c->f->ins[c->opener[d]].op) && left-- == 0)
            return TD_OK;
        if (c->f->ins[c->opener[d]].op == OP_parallel || c->f->ins[c->opener[d]].op == OP_func)
            return bad(c, i, "leaves a parallel region or a function");
    }
    return bad(c, i, c->f->ins[i].imm ? "stands in fewer loops and blocks" : "stands in no loop");
}

static void
verify_enter(check *c, uint32_t i)
{
    c->depth++;
    TD_ASSERT(c->depth <= TD_DEPTH); /* match_regions has refused deeper ones */
    c->open[c->depth] = ++c->next;
    c->opener[c->depth] = i;
}

/* The innermost open function. */
static uint32_t
open_func(const check *c)
{
    for (uint32_t d = c->depth; d > 0; d--)
        if (c->f->ins[c->opener[d]].op == OP_func)
            return c->opener[d];
    return UINT32_MAX;
}

static td_status
check_one(check *c, uint32_t i)
{
    const td_inst *s = &c->f->ins[i];

    if (s->op >= OP_COUNT || s->dt >= TD_DTYPE_COUNT || !s->lanes || s->lanes > 64 ||
        s->from > c->f->norigin)
        return td_fail(TD_ERR_JIT, "kernel %s: %%%u is malformed", c->f->name, i);
    if (s->op == OP_else && c->f->ins[c->opener[c->depth]].op != OP_if)
        return bad(c, i, "belongs to no if");
    if (s->op == OP_else || s->op == OP_end)
        c->depth--;
    c->region[i] = c->open[c->depth];
    if (s->op == OP_end)
        c->func = open_func(c);
    if (c->func != UINT32_MAX && (s->op == OP_param || s->op == OP_exit_if || s->op == OP_parallel))
        return bad(c, i, "must not stand in a function");
    if (s->op == OP_end && s->jump == c->parallel)
        c->parallel = UINT32_MAX;
    TD_TRY(check_form(c, i));
    if (s->op < TD_OPS) {
        for (int a = 0; a < td_optab[s->op].arity; a++)
            TD_TRY(check_operand(c, i, s->arg[a]));
        return check_elementwise(c, i);
    }
    TD_TRY(check_core(c, i));
    if (c->parallel != UINT32_MAX)
        TD_TRY(check_parallel(c, i));
    if (s->op == OP_parallel)
        c->parallel = i;
    if (s->op == OP_break_if)
        return check_break(c, i);
    if (s->op == OP_else || td_op_opens(s->op))
        verify_enter(c, i);
    if (s->op == OP_func)
        c->func = i;
    if (s->op == OP_for || s->op == OP_parallel || s->op == OP_func)
        c->region[i] = c->open[c->depth]; /* the counter belongs to the body */
    return TD_OK;
}

td_status
td_fn_verify(const td_fn *f)
{
    check c = {.f = f, .parallel = UINT32_MAX, .func = UINT32_MAX};

    if (f->st)
        return f->st;
    if (!f->warp || f->warp > TD_WARP_MOST || (f->warp & (f->warp - 1)))
        return td_fail(TD_ERR_JIT, "kernel %s: warps of %u threads: a power of two up to %d",
                       f->name, f->warp, TD_WARP_MOST);
    c.region = td_alloc_big(f->mem, (f->n + 1) * sizeof *c.region);
    if (!c.region)
        return td_fail(TD_ERR_NOMEM, "kernel %s: verifier", f->name);
    for (uint32_t i = 0; i < f->n; i++)
        TD_TRY(check_one(&c, i));
    return TD_OK;
}
