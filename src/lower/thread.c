/* thread.c - thread and block indices, barriers, time.
 *
 * Without fibers, a block on the CPU is one thread and the grid has one axis, so a barrier is
 * nothing.  With fibers (kfiber.c) a block has all its threads.
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

/* Function parameter `which` for the CPU's only axis, the constant `other` for the rest. */
static LLVMValueRef
host_axis(lowering *L, unsigned which, uint64_t axis, uint64_t other)
{
    return axis == 0 ? LLVMBuildTrunc(L->b, LLVMGetParam(L->fn, which), low_int(L, 32, 1), "")
                     : low_cint(L, 32, 1, other);
}

LLVMValueRef
low_tid(lowering *L, const td_inst *s)
{
    if (L->fiber)
        return low_kfiber_index(L, s);
    return L->target == TD_TARGET_CPU ? low_cint(L, 32, 1, 0) : sreg(L, "tid", s->imm);
}

LLVMValueRef
low_bdim(lowering *L, const td_inst *s)
{
    if (L->fiber)
        return low_kfiber_index(L, s);
    return L->target == TD_TARGET_CPU ? low_cint(L, 32, 1, 1) : sreg(L, "ntid", s->imm);
}

LLVMValueRef
low_bid(lowering *L, const td_inst *s)
{
    if (L->fiber)
        return low_kfiber_index(L, s);
    return L->target == TD_TARGET_CPU ? host_axis(L, 1, s->imm, 0) : sreg(L, "ctaid", s->imm);
}

LLVMValueRef
low_gdim(lowering *L, const td_inst *s)
{
    if (L->fiber)
        return low_kfiber_index(L, s);
    return L->target == TD_TARGET_CPU ? host_axis(L, 2, s->imm, 1) : sreg(L, "nctaid", s->imm);
}

LLVMValueRef
low_lane_index(lowering *L, const td_inst *s)
{
    if (L->fiber)
        return low_kfiber_index(L, s);
    return L->target == TD_TARGET_CPU
               ? low_cint(L, 32, 1, 0)
               : low_intrin(L, "llvm.nvvm.read.ptx.sreg.laneid", NULL, 0, NULL, 0);
}

LLVMValueRef
low_barrier(lowering *L, const td_inst *s)
{
    if (L->fiber)
        low_kfiber_meet(L, s, NULL, NULL, NULL);
    if (L->target == TD_TARGET_GPU)
        low_intrin(L, "llvm.nvvm.barrier0", NULL, 0, NULL, 0);
    return NULL;
}

LLVMValueRef
low_barrier_count(lowering *L, const td_inst *s)
{
    LLVMValueRef c = LLVMBuildZExt(L->b, L->val[s->arg[0].i], low_int(L, 32, 1), "");

    if (L->fiber)
        return LLVMBuildTrunc(L->b, low_kfiber_meet(L, s, c, NULL, NULL), low_int(L, 32, 1), "");
    return L->target == TD_TARGET_CPU ? c
                                      : low_intrin(L, "llvm.nvvm.barrier0.popc", NULL, 0, &c, 1);
}

static LLVMValueRef
counter_load(lowering *L, LLVMValueRef p)
{
    LLVMValueRef v = LLVMBuildLoad2(L->b, low_int(L, 32, 1), p, "");

    LLVMSetAlignment(v, 4);
    LLVMSetVolatile(v, 1);
    return v;
}

/* A grid barrier on a GPU.  The first thread of each block adds to the counter and waits until
 * the counter's highest bit changes.  The first block adds so much more that all additions
 * together make 2^31, which leaves the counter ready for the next barrier. */
static void
ptx_grid_barrier(lowering *L, LLVMValueRef p)
{
    LLVMTypeRef i32 = low_int(L, 32, 1);
    LLVMBasicBlockRef wait = low_block(L, "wait"), done = low_block(L, "met");
    LLVMValueRef one = low_cint(L, 32, 1, 1), nblock = one, linear = low_zero(i32), add, old, seen;

    for (uint64_t k = 3; k-- > 0;) {
        LLVMValueRef n = sreg(L, "nctaid", k);

        linear = LLVMBuildAdd(L->b, LLVMBuildMul(L->b, linear, n, ""), sreg(L, "ctaid", k), "");
        nblock = LLVMBuildMul(L->b, nblock, n, "");
    }
    add = LLVMBuildSub(L->b, low_cint(L, 32, 1, 0x80000001), nblock, "");
    add = low_select(L, low_icmp(L, LLVMIntEQ, linear, low_zero(i32)), add, one);
    low_intrin(L, "llvm.nvvm.membar.gl", NULL, 0, NULL, 0);
    old =
        LLVMBuildAtomicRMW(L->b, LLVMAtomicRMWBinOpAdd, p, add, LLVMAtomicOrderingMonotonic, false);
    LLVMBuildBr(L->b, wait);
    LLVMPositionBuilderAtEnd(L->b, wait);
    seen = LLVMBuildXor(L->b, counter_load(L, p), old, "");
    LLVMBuildCondBr(L->b, low_icmp(L, LLVMIntSLT, seen, low_zero(i32)), done, wait);
    LLVMPositionBuilderAtEnd(L->b, done);
    low_intrin(L, "llvm.nvvm.membar.gl", NULL, 0, NULL, 0);
}

LLVMValueRef
low_grid_barrier(lowering *L, const td_inst *s)
{
    LLVMBasicBlockRef join;
    LLVMValueRef tid;

    if (L->fiber) {
        low_kfiber_meet(L, s, NULL, NULL, NULL);
        return NULL;
    }
    if (L->target == TD_TARGET_CPU)
        return low_refuse(L, s, "the blocks of a CPU do not run at once");
    low_barrier(L, s);
    tid = LLVMBuildOr(L->b, sreg(L, "tid", 0),
                      LLVMBuildOr(L->b, sreg(L, "tid", 1), sreg(L, "tid", 2), ""), "");
    low_open_guard(L, low_icmp(L, LLVMIntEQ, tid, low_zero(low_int(L, 32, 1))), &join);
    ptx_grid_barrier(L, L->val[s->arg[0].i]);
    LLVMBuildBr(L->b, join);
    LLVMPositionBuilderAtEnd(L->b, join);
    return low_barrier(L, s);
}

LLVMValueRef
low_clock(lowering *L, const td_inst *s)
{
    (void)s;
    return L->target == TD_TARGET_CPU
               ? low_runtime(L, "td_run_clock", low_int(L, 64, 1), NULL, 0)
               : low_intrin(L, "llvm.nvvm.read.ptx.sreg.clock64", NULL, 0, NULL, 0);
}

LLVMValueRef
low_take(lowering *L, const td_inst *s)
{
    LLVMValueRef arg[2] = {L->val[s->arg[0].i], L->val[s->arg[1].i]};

    return low_runtime(L, "td_callmem_take", low_int(L, 64, 1), arg, 2);
}

LLVMValueRef
low_ask(lowering *L, const td_inst *s)
{
    LLVMValueRef arg[3] = {L->val[s->arg[0].i], L->val[s->arg[1].i], L->val[s->arg[2].i]};

    arg[2] = LLVMBuildSExt(L->b, arg[2], low_int(L, 64, 1), "");
    return low_runtime(L, "td_box_ask", low_int(L, 64, 1), arg, 3);
}

LLVMValueRef
low_release(lowering *L, const td_inst *s)
{
    LLVMValueRef arg[3] = {L->val[s->arg[0].i], L->val[s->arg[1].i], L->val[s->arg[2].i]};

    arg[2] = LLVMBuildSExt(L->b, arg[2], low_int(L, 64, 1), "");
    low_runtime(L, "td_callmem_release", LLVMVoidTypeInContext(L->cx), arg, 3);
    return NULL;
}

LLVMValueRef
low_nanosleep(lowering *L, const td_inst *s)
{
    LLVMValueRef ns = L->val[s->arg[0].i];

    if (L->target == TD_TARGET_CPU) {
        ns = LLVMBuildSExt(L->b, ns, low_int(L, 64, 1), "");
        low_runtime(L, "td_run_nanosleep", LLVMVoidTypeInContext(L->cx), &ns, 1);
    } else {
        ns = LLVMBuildIntCast2(L->b, ns, low_int(L, 32, 1), 0, "");
        low_intrin(L, "llvm.nvvm.nanosleep", NULL, 0, &ns, 1);
    }
    return NULL;
}
