/* atomic.c - atomic instructions and fences.
 *
 * Lanes are handled one after another, each behind a branch where there is a mask.  Operations
 * without an instruction (sums of half types, CUDA's counters) become a compare-and-swap loop.  A
 * block on a CPU is one thread, so ordinary instructions serve its shared memory.
 */
#include "lower/emit.h"

/* The LLVM operation for s; false: there is none. */
static bool
atomicrmw_op(const td_inst *s, LLVMAtomicRMWBinOp *out)
{
    char kind = td_dtype_kind((td_dtype)s->dt);

    switch (s->op) {
    case OP_atomic_add:
        *out = kind == 'f' ? LLVMAtomicRMWBinOpFAdd : LLVMAtomicRMWBinOpAdd;
        return !td_dtype_is_half((td_dtype)s->dt);
    case OP_atomic_max:
        *out = kind == 'f'   ? LLVMAtomicRMWBinOpFMax
               : kind == 'i' ? LLVMAtomicRMWBinOpMax
                             : LLVMAtomicRMWBinOpUMax;
        return true;
    case OP_atomic_min:
        *out = kind == 'f'   ? LLVMAtomicRMWBinOpFMin
               : kind == 'i' ? LLVMAtomicRMWBinOpMin
                             : LLVMAtomicRMWBinOpUMin;
        return true;
    case OP_atomic_and:  *out = LLVMAtomicRMWBinOpAnd; return true;
    case OP_atomic_or:   *out = LLVMAtomicRMWBinOpOr; return true;
    case OP_atomic_xor:  *out = LLVMAtomicRMWBinOpXor; return true;
    case OP_atomic_exch: *out = LLVMAtomicRMWBinOpXchg; return true;
    }
    return false;
}

/* The new value for operations that LLVM lacks. */
static LLVMValueRef
combined_value(lowering *L, const td_inst *s, LLVMValueRef old, LLVMValueRef v)
{
    td_dtype dt = (td_dtype)s->dt;
    unsigned bits = 8 * (unsigned)td_dtype_size(dt);
    LLVMValueRef zero = low_zero(LLVMTypeOf(old)), one = low_cint(L, bits, 1, 1), wraps;

    switch (s->op) {
    case OP_atomic_inc:
        return low_select(L, low_icmp(L, LLVMIntUGE, old, v), zero,
                          LLVMBuildAdd(L->b, old, one, ""));
    case OP_atomic_dec:
        wraps = LLVMBuildOr(L->b, low_icmp(L, LLVMIntEQ, old, zero),
                            low_icmp(L, LLVMIntUGT, old, v), "");
        return low_select(L, wraps, v, LLVMBuildSub(L->b, old, one, ""));
    }
    TD_ASSERT(s->op == OP_atomic_add && td_dtype_is_half(dt));
    v = LLVMBuildFAdd(L->b, low_cast(L, old, dt, TD_F32, 1), low_cast(L, v, dt, TD_F32, 1), "");
    return low_cast(L, v, TD_F32, dt, 1);
}

/* *ok: did memory hold `expected`? */
static LLVMValueRef
swap(lowering *L, LLVMValueRef p, LLVMValueRef expected, LLVMValueRef new, LLVMValueRef *ok)
{
    LLVMValueRef pair = LLVMBuildAtomicCmpXchg(L->b, p, expected, new, LLVMAtomicOrderingMonotonic,
                                               LLVMAtomicOrderingMonotonic, false);

    *ok = LLVMBuildExtractValue(L->b, pair, 1, "");
    return LLVMBuildExtractValue(L->b, pair, 0, "");
}

static LLVMValueRef
swap_loop(lowering *L, const td_inst *s, LLVMValueRef p, LLVMValueRef v)
{
    LLVMBasicBlockRef again = low_block(L, "again"), done = low_block(L, "swapped"), from[2];
    LLVMValueRef first = LLVMBuildLoad2(L->b, LLVMTypeOf(v), p, ""), old, seen, ok;

    LLVMSetAlignment(first, (unsigned)td_dtype_size((td_dtype)s->dt));
    LLVMSetOrdering(first, LLVMAtomicOrderingMonotonic);
    from[0] = LLVMGetInsertBlock(L->b);
    LLVMBuildBr(L->b, again);
    LLVMPositionBuilderAtEnd(L->b, again);
    old = LLVMBuildPhi(L->b, LLVMTypeOf(v), "");
    seen = swap(L, p, old, combined_value(L, s, old, v), &ok);
    from[1] = LLVMGetInsertBlock(L->b);
    LLVMBuildCondBr(L->b, ok, done, again);
    LLVMAddIncoming(old, (LLVMValueRef[]){first, seen}, from, 2);
    LLVMPositionBuilderAtEnd(L->b, done);
    return old;
}

/* Compares bits: floats are passed as integers. */
static LLVMValueRef
cas(lowering *L, const td_inst *s, LLVMValueRef p, LLVMValueRef expected, LLVMValueRef new)
{
    LLVMTypeRef own = LLVMTypeOf(new),
                t = low_int(L, 8 * (unsigned)td_dtype_size((td_dtype)s->dt), 1);
    LLVMValueRef old, ok;

    old = swap(L, p, LLVMBuildBitCast(L->b, expected, t, ""), LLVMBuildBitCast(L->b, new, t, ""),
               &ok);
    low_kfiber_unless(L, ok);
    return LLVMBuildBitCast(L->b, old, own, "");
}

/* Operations that a GPU has and LLVM's atomicrmw lacks: sums of halves (LLVM makes a loop
 * where the GPU is too old), 32-bit counters.  NULL: s is neither. */
static LLVMValueRef
gpu_own(lowering *L, const td_inst *s, LLVMValueRef p, LLVMValueRef v)
{
    LLVMTypeRef half =
                    s->dt == TD_F16 ? LLVMHalfTypeInContext(L->cx) : LLVMBFloatTypeInContext(L->cx),
                space = LLVMTypeOf(p);
    const char *counter =
        s->op == OP_atomic_inc ? "llvm.nvvm.atomic.load.inc.32" : "llvm.nvvm.atomic.load.dec.32";

    if (L->target != TD_TARGET_GPU)
        return NULL;
    if (s->op == OP_atomic_add) {
        v = LLVMBuildAtomicRMW(L->b, LLVMAtomicRMWBinOpFAdd, p, LLVMBuildBitCast(L->b, v, half, ""),
                               LLVMAtomicOrderingMonotonic, false);
        return LLVMBuildBitCast(L->b, v, low_int(L, 16, 1), "");
    }
    return s->dt == TD_U32 ? low_intrin(L, counter, &space, 1, (LLVMValueRef[]){p, v}, 2) : NULL;
}

/* Is p a block's own memory on a CPU, which no other thread sees? */
static bool
is_own_memory(const lowering *L, td_val p)
{
    const td_inst *s = &L->f->ins[p.i];

    while (s->op == OP_at)
        s = &L->f->ins[s->arg[0].i];
    return L->target == TD_TARGET_CPU &&
           (s->op == OP_shared || s->op == OP_dynamic || s->op == OP_local);
}

/* The new value: `how` applied to old and v. */
static LLVMValueRef
applied(lowering *L, LLVMAtomicRMWBinOp how, LLVMValueRef old, LLVMValueRef v)
{
    LLVMTypeRef t = LLVMTypeOf(v);

    switch (how) {
    case LLVMAtomicRMWBinOpAdd:  return LLVMBuildAdd(L->b, old, v, "");
    case LLVMAtomicRMWBinOpFAdd: return LLVMBuildFAdd(L->b, old, v, "");
    case LLVMAtomicRMWBinOpAnd:  return LLVMBuildAnd(L->b, old, v, "");
    case LLVMAtomicRMWBinOpOr:   return LLVMBuildOr(L->b, old, v, "");
    case LLVMAtomicRMWBinOpXor:  return LLVMBuildXor(L->b, old, v, "");
    case LLVMAtomicRMWBinOpMax:  return low_select(L, low_icmp(L, LLVMIntSGT, old, v), old, v);
    case LLVMAtomicRMWBinOpMin:  return low_select(L, low_icmp(L, LLVMIntSLT, old, v), old, v);
    case LLVMAtomicRMWBinOpUMax: return low_select(L, low_icmp(L, LLVMIntUGT, old, v), old, v);
    case LLVMAtomicRMWBinOpUMin: return low_select(L, low_icmp(L, LLVMIntULT, old, v), old, v);
    case LLVMAtomicRMWBinOpFMax:
        return low_intrin(L, "llvm.maxnum", &t, 1, (LLVMValueRef[]){old, v}, 2);
    case LLVMAtomicRMWBinOpFMin:
        return low_intrin(L, "llvm.minnum", &t, 1, (LLVMValueRef[]){old, v}, 2);
    default: return v; /* an exchange */
    }
}

static LLVMValueRef
alone(lowering *L, const td_inst *s, LLVMValueRef p, LLVMValueRef v)
{
    unsigned size = (unsigned)td_dtype_size((td_dtype)s->dt);
    LLVMValueRef old = LLVMBuildLoad2(L->b, LLVMTypeOf(v), p, ""), new;
    LLVMAtomicRMWBinOp op;

    LLVMSetAlignment(old, size);
    new = atomicrmw_op(s, &op) ? applied(L, op, old, v) : combined_value(L, s, old, v);
    LLVMSetAlignment(LLVMBuildStore(L->b, new, p), size);
    return old;
}

/* fork - an if with a value: `yes` where cond holds, else `no`.  The builder continues after
 * both. */
typedef struct fork {
    LLVMBasicBlockRef yes, no, join;
} fork;

static fork
fork_at(lowering *L, LLVMValueRef cond)
{
    fork f = {low_block(L, "yes"), low_block(L, "no"), low_block(L, "join")};

    LLVMBuildCondBr(L->b, cond, f.yes, f.no);
    LLVMPositionBuilderAtEnd(L->b, f.yes);
    return f;
}

static LLVMValueRef
fork_join(lowering *L, const fork *f, LLVMValueRef yes, LLVMBasicBlockRef from_yes, LLVMValueRef no)
{
    LLVMBasicBlockRef from[2] = {from_yes, LLVMGetInsertBlock(L->b)};
    LLVMValueRef v[2] = {yes, no}, phi;

    LLVMBuildBr(L->b, f->join);
    LLVMPositionBuilderAtEnd(L->b, f->join);
    phi = LLVMBuildPhi(L->b, LLVMTypeOf(yes), "");
    LLVMAddIncoming(phi, v, from, 2);
    return phi;
}

/* Maximum or minimum of floats on a GPU, by integer instructions.  As signed integers,
 * non-negative floats are in order; as unsigned integers, negative floats are in reverse
 * order, and above all others.  So the sign of v selects the instruction.  A NaN v is replaced
 * by bits that change nothing. */
static LLVMValueRef
by_bits(lowering *L, bool max, LLVMValueRef p, LLVMValueRef v)
{
    unsigned bits = LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMFloatTypeKind ? 32 : 64;
    LLVMTypeRef t = low_int(L, bits, 1);
    LLVMValueRef nothing = max ? LLVMConstAllOnes(t) : low_zero(t), b, yes, no, below;
    LLVMBasicBlockRef from;
    fork f;

    b = low_select(L, low_fcmp(L, LLVMRealUNO, v, v), nothing, LLVMBuildBitCast(L->b, v, t, ""));
    below = LLVMBuildOr(L->b, low_icmp(L, LLVMIntSLT, b, low_zero(t)),
                        low_fcmp(L, LLVMRealUNO, v, v), "");
    f = fork_at(L, below);
    yes = LLVMBuildAtomicRMW(L->b, max ? LLVMAtomicRMWBinOpUMin : LLVMAtomicRMWBinOpUMax, p, b,
                             LLVMAtomicOrderingMonotonic, false);
    from = LLVMGetInsertBlock(L->b);
    LLVMBuildBr(L->b, f.join);
    LLVMPositionBuilderAtEnd(L->b, f.no);
    no = LLVMBuildAtomicRMW(L->b, max ? LLVMAtomicRMWBinOpMax : LLVMAtomicRMWBinOpMin, p, b,
                            LLVMAtomicOrderingMonotonic, false);
    return LLVMBuildBitCast(L->b, fork_join(L, &f, yes, from, no), LLVMTypeOf(v), "");
}

/* The same where memory may hold NaN, which a number replaces: a compare-and-swap loop then. */
static LLVMValueRef
float_extreme(lowering *L, LLVMAtomicRMWBinOp op, LLVMValueRef p, LLVMValueRef v)
{
    unsigned size = LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMFloatTypeKind ? 4 : 8;
    LLVMValueRef seen = LLVMBuildLoad2(L->b, LLVMTypeOf(v), p, ""), slow;
    LLVMBasicBlockRef from;
    fork f;

    LLVMSetAlignment(seen, size);
    LLVMSetOrdering(seen, LLVMAtomicOrderingMonotonic);
    f = fork_at(L, low_fcmp(L, LLVMRealUNO, seen, seen));
    slow = LLVMBuildAtomicRMW(L->b, op, p, v, LLVMAtomicOrderingMonotonic, false);
    from = LLVMGetInsertBlock(L->b);
    LLVMBuildBr(L->b, f.join);
    LLVMPositionBuilderAtEnd(L->b, f.no);
    return fork_join(L, &f, slow, from, by_bits(L, op == LLVMAtomicRMWBinOpFMax, p, v));
}

static LLVMValueRef
one_lane(lowering *L, const low_access *a, int lane)
{
    const td_inst *s = a->s;
    LLVMValueRef p = low_lane_address(L, a, lane),
                 v = low_lane(L, L->val[s->arg[2].i], a->lanes, lane);
    LLVMAtomicRMWBinOp op;
    LLVMValueRef r;

    if (s->op == OP_atomic_cas)
        return cas(L, s, p, v, low_lane(L, L->val[s->arg[3].i], a->lanes, lane));
    if (is_own_memory(L, s->arg[0]))
        return alone(L, s, p, v);
    if (L->target == TD_TARGET_GPU && atomicrmw_op(s, &op) &&
        (op == LLVMAtomicRMWBinOpFMax || op == LLVMAtomicRMWBinOpFMin))
        return float_extreme(L, op, p, v);
    if (atomicrmw_op(s, &op))
        return LLVMBuildAtomicRMW(L->b, op, p, v, LLVMAtomicOrderingMonotonic, false);
    r = gpu_own(L, s, p, v);
    return r ? r : swap_loop(L, s, p, v);
}

static LLVMValueRef
guarded_lane(lowering *L, const low_access *a, int lane)
{
    LLVMBasicBlockRef from[2] = {LLVMGetInsertBlock(L->b)}, join;
    LLVMValueRef v[2] = {low_zero(a->elem)}, phi;

    low_open_guard(L, low_lane(L, a->mask, a->lanes, lane), &join);
    v[1] = one_lane(L, a, lane);
    from[1] = LLVMGetInsertBlock(L->b);
    LLVMBuildBr(L->b, join);
    LLVMPositionBuilderAtEnd(L->b, join);
    phi = LLVMBuildPhi(L->b, a->elem, "");
    LLVMAddIncoming(phi, v, from, 2);
    return phi;
}

LLVMValueRef
low_atomic(lowering *L, const td_inst *s)
{
    low_access a = low_access_of(L, s, s->arg[td_optab[s->op].arity - 1]);
    LLVMValueRef v = LLVMGetPoison(a.all);

    for (int i = 0; i < a.lanes; i++)
        v = low_with_lane(L, v, a.mask ? guarded_lane(L, &a, i) : one_lane(L, &a, i), a.lanes, i);
    return v;
}

/* A block on a CPU is one thread, so its shared memory needs no fence. */
LLVMValueRef
low_fence(lowering *L, const td_inst *s)
{
    static const char *const scopes[] = {"llvm.nvvm.membar.cta", "llvm.nvvm.membar.gl",
                                         "llvm.nvvm.membar.sys"};

    if (L->target == TD_TARGET_GPU)
        low_intrin(L, scopes[s->imm], NULL, 0, NULL, 0);
    else if (s->imm != TD_FENCE_BLOCK)
        LLVMBuildFence(L->b, LLVMAtomicOrderingSequentiallyConsistent, false, "");
    return NULL;
}
