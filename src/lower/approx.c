/* approx.c - fast approximations of float32 operations on a GPU: the instructions of nvcc's
 * -use_fast_math, correct to two to four units in the last place over usual ranges.
 */
#include "lower/emit.h"

#include <string.h>

static LLVMValueRef
approx_unary(lowering *L, const char *name, LLVMValueRef x)
{
    return low_intrin(L, name, NULL, 0, &x, 1);
}

static LLVMValueRef
times(lowering *L, LLVMValueRef x, double k)
{
    return LLVMBuildFMul(L->b, x, low_cfp(L, TD_F32, 1, k), "");
}

/* LLVM has an intrinsic for this instruction only since version 20. */
static LLVMValueRef
approx_quotient(lowering *L, LLVMValueRef x, LLVMValueRef y)
{
    static const char text[] = "div.full.ftz.f32 $0, $1, $2;", form[] = "=f,f,f";
    LLVMTypeRef f32 = low_type(L, TD_F32, 1), par[2] = {f32, f32};
    LLVMTypeRef t = LLVMFunctionType(f32, par, 2, 0);
    LLVMValueRef fn = LLVMGetInlineAsm(t, text, sizeof text - 1, form, sizeof form - 1, 0, 0,
                                       LLVMInlineAsmDialectATT, 0);

    return LLVMBuildCall2(L->b, t, fn, (LLVMValueRef[]){x, y}, 2, "");
}

static LLVMValueRef
sine(lowering *L, LLVMValueRef x)
{
    return approx_unary(L, "llvm.nvvm.sin.approx.ftz.f", x);
}

static LLVMValueRef
cosine(lowering *L, LLVMValueRef x)
{
    return approx_unary(L, "llvm.nvvm.cos.approx.ftz.f", x);
}

static LLVMValueRef
power2(lowering *L, LLVMValueRef x)
{
    return approx_unary(L, "llvm.nvvm.ex2.approx.ftz.f", x);
}

static LLVMValueRef
log2_of(lowering *L, LLVMValueRef x)
{
    return approx_unary(L, "llvm.nvvm.lg2.approx.ftz.f", x);
}

/* Approximates one lane.  NULL: the operation has no approximation. */
static LLVMValueRef
approximate(lowering *L, unsigned op, LLVMValueRef x, LLVMValueRef y)
{
    switch (op) {
    case OP_divide: return approx_quotient(L, x, y);
    case OP_sqrt:   return approx_unary(L, "llvm.nvvm.sqrt.approx.ftz.f", x);
    case OP_exp:    return power2(L, times(L, x, 1.4426950408889634));
    case OP_exp2:   return power2(L, x);
    case OP_log:    return times(L, log2_of(L, x), 0.6931471805599453);
    case OP_log2:   return log2_of(L, x);
    case OP_log10:  return times(L, log2_of(L, x), 0.3010299956639812);
    case OP_sin:    return sine(L, x);
    case OP_cos:    return cosine(L, x);
    case OP_tan:    return approx_quotient(L, sine(L, x), cosine(L, x));
    case OP_pow:    return power2(L, LLVMBuildFMul(L->b, y, log2_of(L, x), ""));
    }
    return NULL;
}

static bool
is_constant_one(const lowering *L, td_val v)
{
    const td_inst *s = td_at(L->f, v);
    double x;

    if (s->op == OP_splat)
        s = td_at(L->f, s->arg[0]);
    memcpy(&x, &s->imm, sizeof x);
    return s->op == OP_const && x == 1;
}

LLVMValueRef
low_approx(lowering *L, const td_inst *s, const LLVMValueRef *x)
{
    const td_inst *below = td_optab[s->op].arity > 1 ? td_at(L->f, s->arg[1]) : s;
    LLVMValueRef v = LLVMGetPoison(low_type(L, TD_F32, s->lanes)), r;

    if (!L->f->fast || L->target != TD_TARGET_GPU || s->dt != TD_F32)
        return NULL;
    for (int i = 0; i < s->lanes; i++) {
        if (s->op == OP_divide && below->op == OP_sqrt && is_constant_one(L, s->arg[0]))
            r = approx_unary(L, "llvm.nvvm.rsqrt.approx.ftz.f",
                             low_lane(L, L->val[below->arg[0].i], s->lanes, i));
        else
            r = approximate(L, s->op, low_lane(L, x[0], s->lanes, i),
                            x[1] ? low_lane(L, x[1], s->lanes, i) : NULL);
        if (!r)
            return NULL;
        v = low_with_lane(L, v, r, s->lanes, i);
    }
    return v;
}
