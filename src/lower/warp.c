/* warp.c - exchanges between the threads of a warp, on a GPU.
 *
 * On a CPU a pass has turned a warp's threads into lanes before (lanes.c), or the threads are
 * fibers (kfiber.c).
 */
#include "lower/emit.h"

static LLVMValueRef
only_gpu(lowering *L, const td_inst *s)
{
    return low_refuse(L, s, "a block on the CPU has one thread");
}

/* mover - one shuffle instruction of 32 bits. */
typedef struct mover {
    const char *name;
    LLVMValueRef members, which, clamp;
} mover;

static LLVMValueRef
move32(lowering *L, const mover *m, LLVMValueRef v)
{
    return low_intrin(L, m->name, NULL, 0, (LLVMValueRef[]){m->members, v, m->which, m->clamp}, 4);
}

static unsigned
shuffled_bits(const td_inst *s)
{
    return s->dt == TD_BOOL ? 1 : 8 * (unsigned)td_dtype_size((td_dtype)s->dt);
}

/* Shuffles any value: smaller types are widened to 32 bits, 64-bit types go in two halves. */
static LLVMValueRef
shuffle_value(lowering *L, const mover *m, const td_inst *s)
{
    unsigned bits = shuffled_bits(s);
    LLVMTypeRef own = low_type(L, (td_dtype)s->dt, 1), i32 = low_int(L, 32, 1),
                i64 = low_int(L, 64, 1);
    LLVMValueRef v = LLVMBuildBitCast(L->b, L->val[s->arg[0].i], low_int(L, bits, 1), ""), lo, hi;

    if (bits == 64) {
        lo = move32(L, m, LLVMBuildTrunc(L->b, v, i32, ""));
        hi = LLVMBuildLShr(L->b, v, low_cint(L, 64, 1, 32), "");
        hi = LLVMBuildZExt(L->b, move32(L, m, LLVMBuildTrunc(L->b, hi, i32, "")), i64, "");
        v = LLVMBuildOr(L->b, LLVMBuildShl(L->b, hi, low_cint(L, 64, 1, 32), ""),
                        LLVMBuildZExt(L->b, lo, i64, ""), "");
    } else if (bits == 32) {
        v = move32(L, m, v);
    } else {
        v = move32(L, m, LLVMBuildZExt(L->b, v, i32, ""));
        v = LLVMBuildTrunc(L->b, v, low_int(L, bits, 1), "");
    }
    return LLVMBuildBitCast(L->b, v, own, "");
}

/* Converts a value to a word of its bits, and back. */
static LLVMValueRef
to_word(lowering *L, td_val v)
{
    const td_inst *s = td_at(L->f, v);

    return LLVMBuildZExt(L->b,
                         LLVMBuildBitCast(L->b, L->val[v.i], low_int(L, shuffled_bits(s), 1), ""),
                         low_int(L, 64, 1), "");
}

static LLVMValueRef
of_word(lowering *L, LLVMValueRef word, const td_inst *s)
{
    return LLVMBuildBitCast(L->b, LLVMBuildTrunc(L->b, word, low_int(L, shuffled_bits(s), 1), ""),
                            low_type(L, (td_dtype)s->dt, 1), "");
}

/* An exchange between fibers. */
static LLVMValueRef
kfiber_exchange(lowering *L, const td_inst *s, LLVMValueRef which, LLVMValueRef members)
{
    LLVMValueRef value = s->arg[0].i == UINT32_MAX ? NULL : to_word(L, s->arg[0]);

    return of_word(L, low_kfiber_meet(L, s, value, which, members), s);
}

LLVMValueRef
low_shuffle_xor(lowering *L, const td_inst *s)
{
    mover m = {.name = "llvm.nvvm.shfl.sync.bfly.i32",
               .members = low_cint(L, 32, 1, UINT32_MAX),
               .which = low_cint(L, 32, 1, s->imm),
               .clamp = low_cint(L, 32, 1, 31)};

    if (L->fiber)
        return kfiber_exchange(L, s, m.which, m.members);
    return L->target == TD_TARGET_CPU ? only_gpu(L, s) : shuffle_value(L, &m, s);
}

LLVMValueRef
low_shuffle(lowering *L, const td_inst *s)
{
    mover m = {.name = "llvm.nvvm.shfl.sync.idx.i32",
               .members = L->val[s->arg[2].i],
               .which = LLVMBuildIntCast2(L->b, L->val[s->arg[1].i], low_int(L, 32, 1), 1, ""),
               .clamp = low_cint(L, 32, 1, 31)};

    if (L->fiber)
        return kfiber_exchange(L, s, m.which, m.members);
    return L->target == TD_TARGET_CPU ? only_gpu(L, s) : shuffle_value(L, &m, s);
}

LLVMValueRef
low_ballot(lowering *L, const td_inst *s)
{
    LLVMValueRef arg[2] = {L->val[s->arg[1].i], L->val[s->arg[0].i]};

    if (L->fiber)
        return kfiber_exchange(L, s, NULL, arg[0]);
    return L->target == TD_TARGET_CPU
               ? only_gpu(L, s)
               : low_intrin(L, "llvm.nvvm.vote.ballot.sync", NULL, 0, arg, 2);
}

LLVMValueRef
low_match_any(lowering *L, const td_inst *s)
{
    const td_inst *a = td_at(L->f, s->arg[0]);
    bool wide = shuffled_bits(a) == 64;
    LLVMValueRef arg[2] = {L->val[s->arg[1].i], NULL};

    if (L->fiber)
        return kfiber_exchange(L, s, NULL, arg[0]);
    if (L->target == TD_TARGET_CPU)
        return only_gpu(L, s);
    arg[1] = LLVMBuildBitCast(L->b, L->val[s->arg[0].i], low_int(L, shuffled_bits(a), 1), "");
    arg[1] = LLVMBuildIntCast2(L->b, arg[1], low_int(L, wide ? 64 : 32, 1), 0, "");
    return low_intrin(L, wide ? "llvm.nvvm.match.any.sync.i64" : "llvm.nvvm.match.any.sync.i32",
                      NULL, 0, arg, 2);
}

LLVMValueRef
low_activemask(lowering *L, const td_inst *s)
{
    if (L->fiber)
        return kfiber_exchange(L, s, NULL, NULL);
    return L->target == TD_TARGET_CPU ? only_gpu(L, s)
                                      : low_intrin(L, "llvm.nvvm.activemask", NULL, 0, NULL, 0);
}

LLVMValueRef
low_syncwarp(lowering *L, const td_inst *s)
{
    LLVMValueRef members = L->val[s->arg[0].i];

    if (L->fiber) {
        low_kfiber_meet(L, s, NULL, NULL, members);
        return NULL;
    }
    if (L->target == TD_TARGET_CPU)
        return only_gpu(L, s);
    low_intrin(L, "llvm.nvvm.bar.warp.sync", NULL, 0, &members, 1);
    return NULL;
}
