/* thread.c - thread and block indices, barriers, shuffles.
 *
 * A block on the CPU is one thread, and the grid has one axis: it needs no barrier, and a shuffle
 * has nobody to ask.
 */
#include "lower/emit.h"

#include <stdio.h>

static LLVMValueRef
sreg(lowering *L, const char *name, uint64_t axis)
{
    char full[64];

    snprintf(full, sizeof full, "llvm.nvvm.read.ptx.sreg.%s.%c", name, (char)('x' + axis));
    return low_intrin(L, full, NULL, 0, NULL, 0);
}

/* Function parameter `which` on the CPU's only axis, `other` on the rest. */
static LLVMValueRef
host_axis(lowering *L, unsigned which, uint64_t axis, uint64_t other)
{
    return axis == 0 ? LLVMBuildTrunc(L->b, LLVMGetParam(L->fn, which), low_int(L, 32, 1), "")
                     : low_cint(L, 32, 1, other);
}

LLVMValueRef
low_tid(lowering *L, const td_inst *s)
{
    return L->target == TD_TARGET_CPU ? low_cint(L, 32, 1, 0) : sreg(L, "tid", s->imm);
}

LLVMValueRef
low_bdim(lowering *L, const td_inst *s)
{
    return L->target == TD_TARGET_CPU ? low_cint(L, 32, 1, 1) : sreg(L, "ntid", s->imm);
}

LLVMValueRef
low_bid(lowering *L, const td_inst *s)
{
    return L->target == TD_TARGET_CPU ? host_axis(L, 1, s->imm, 0) : sreg(L, "ctaid", s->imm);
}

LLVMValueRef
low_gdim(lowering *L, const td_inst *s)
{
    return L->target == TD_TARGET_CPU ? host_axis(L, 2, s->imm, 1) : sreg(L, "nctaid", s->imm);
}

LLVMValueRef
low_lane_index(lowering *L, const td_inst *s)
{
    (void)s;
    return L->target == TD_TARGET_CPU
               ? low_cint(L, 32, 1, 0)
               : low_intrin(L, "llvm.nvvm.read.ptx.sreg.laneid", NULL, 0, NULL, 0);
}

LLVMValueRef
low_barrier(lowering *L, const td_inst *s)
{
    (void)s;
    if (L->target == TD_TARGET_GPU)
        low_intrin(L, "llvm.nvvm.barrier0", NULL, 0, NULL, 0);
    return NULL;
}

/* The instruction moves 32 bits: smaller types are widened, 64-bit types go in two halves. */
static LLVMValueRef
shuffle32(lowering *L, LLVMValueRef v, uint64_t mask)
{
    return low_intrin(L, "llvm.nvvm.shfl.sync.bfly.i32", NULL, 0,
                      (LLVMValueRef[]){low_cint(L, 32, 1, UINT32_MAX), v, low_cint(L, 32, 1, mask),
                                       low_cint(L, 32, 1, 31)},
                      4);
}

LLVMValueRef
low_shuffle_xor(lowering *L, const td_inst *s)
{
    unsigned bits = s->dt == TD_BOOL ? 1 : 8 * (unsigned)td_dtype_size((td_dtype)s->dt);
    LLVMTypeRef own = low_type(L, (td_dtype)s->dt, 1), i32 = low_int(L, 32, 1),
                i64 = low_int(L, 64, 1);
    LLVMValueRef v = L->val[s->arg[0].i], lo, hi;

    if (L->target == TD_TARGET_CPU) {
        L->st = td_fail(TD_ERR_JIT,
                        "kernel %s: line %u: shuffle_xor: a block on the CPU has one thread",
                        L->f->name, s->line);
        return LLVMGetPoison(own);
    }
    v = LLVMBuildBitCast(L->b, v, low_int(L, bits, 1), "");
    if (bits == 64) {
        lo = shuffle32(L, LLVMBuildTrunc(L->b, v, i32, ""), s->imm);
        hi = LLVMBuildLShr(L->b, v, low_cint(L, 64, 1, 32), "");
        hi = LLVMBuildZExt(L->b, shuffle32(L, LLVMBuildTrunc(L->b, hi, i32, ""), s->imm), i64, "");
        v = LLVMBuildOr(L->b, LLVMBuildShl(L->b, hi, low_cint(L, 64, 1, 32), ""),
                        LLVMBuildZExt(L->b, lo, i64, ""), "");
    } else if (bits == 32) {
        v = shuffle32(L, v, s->imm);
    } else {
        v = shuffle32(L, LLVMBuildZExt(L->b, v, i32, ""), s->imm);
        v = LLVMBuildTrunc(L->b, v, low_int(L, bits, 1), "");
    }
    return LLVMBuildBitCast(L->b, v, own, "");
}
