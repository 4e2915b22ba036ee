/* build_thread.c - builds instructions about threads, warps, blocks and grids. */
#include "ir/core/ir.h"

/* Emits a one-lane instruction with up to three operands. */
static td_val
emit(td_fn *f, td_op op, td_dtype dt, uint64_t imm, td_val a, td_val b, td_val c)
{
    td_inst s = td_inst_new(op, dt, 1);

    s.arg[0] = a;
    s.arg[1] = b;
    s.arg[2] = c;
    s.imm = imm;
    return td_push(f, s);
}

static td_val
none(td_fn *f, td_op op, td_dtype dt, uint64_t imm)
{
    return emit(f, op, dt, imm, TD_NONE, TD_NONE, TD_NONE);
}

static td_dtype
dt_of(const td_fn *f, td_val v)
{
    return f->st ? TD_BOOL : (td_dtype)td_at(f, v)->dt;
}

td_val
td_index(td_fn *f, td_op which, int axis)
{
    TD_ASSERT(td_optab[which].imm == TD_IMM_AXIS);
    return none(f, which, TD_I32, (uint64_t)axis);
}

td_val
td_lane(td_fn *f)
{
    return none(f, OP_lane, TD_I32, 0);
}

td_val
td_shared(td_fn *f, td_dtype dt, uint64_t count)
{
    return none(f, OP_shared, dt, count);
}

td_val
td_local(td_fn *f, td_dtype dt, uint64_t count)
{
    return none(f, OP_local, dt, count);
}

td_val
td_dynamic(td_fn *f, td_dtype dt)
{
    return none(f, OP_dynamic, dt, 0);
}

void
td_fence(td_fn *f, int scope)
{
    none(f, OP_fence, TD_BOOL, (uint64_t)scope);
}

void
td_barrier(td_fn *f)
{
    none(f, OP_barrier, TD_BOOL, 0);
}

td_val
td_barrier_count(td_fn *f, td_val cond)
{
    return emit(f, OP_barrier_count, TD_I32, 0, cond, TD_NONE, TD_NONE);
}

void
td_grid_barrier(td_fn *f, td_val counter)
{
    emit(f, OP_grid_barrier, TD_BOOL, 0, counter, TD_NONE, TD_NONE);
}

td_val
td_shuffle_xor(td_fn *f, td_val v, int mask)
{
    return emit(f, OP_shuffle_xor, dt_of(f, v), (uint64_t)mask, v, TD_NONE, TD_NONE);
}

td_val
td_shuffle(td_fn *f, td_val v, td_val lane, td_val members)
{
    return emit(f, OP_shuffle, dt_of(f, v), 0, v, lane, members);
}

td_val
td_ballot(td_fn *f, td_val cond, td_val members)
{
    return emit(f, OP_ballot, TD_U32, 0, cond, members, TD_NONE);
}

td_val
td_match_any(td_fn *f, td_val v, td_val members)
{
    return emit(f, OP_match_any, TD_U32, 0, v, members, TD_NONE);
}

void
td_syncwarp(td_fn *f, td_val members)
{
    emit(f, OP_syncwarp, TD_BOOL, 0, members, TD_NONE, TD_NONE);
}

td_val
td_take(td_fn *f, td_val heap, td_val nbytes)
{
    return emit(f, OP_take, TD_U64, 0, heap, nbytes, TD_NONE);
}

td_val
td_ask(td_fn *f, td_val heap, td_val words, td_val which)
{
    return emit(f, OP_ask, TD_U64, 0, heap, words, which);
}

void
td_release(td_fn *f, td_val heap, td_val words, td_val n)
{
    emit(f, OP_release, TD_BOOL, 0, heap, words, n);
}

td_val
td_core(td_fn *f, td_op op, const td_val *x)
{
    const td_opinfo *o = &td_optab[op];
    td_val arg[3] = {TD_NONE, TD_NONE, TD_NONE};

    TD_ASSERT(o->arity <= 3 && (o->type != TD_TYPE_ANY || !o->value));
    for (int i = 0; i < o->arity; i++)
        arg[i] = x[i];
    return emit(f, op, o->value ? (td_dtype)o->type : TD_BOOL, 0, arg[0], arg[1], arg[2]);
}
