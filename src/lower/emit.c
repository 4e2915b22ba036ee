/* emit.c - one walk over a finished kernel; each instruction becomes one LLVM value.
 *
 * Every row of ops.def and core.def has an entry below; a missing entry is a compile error.
 */
#include "lower/emit.h"
#include "lower/host.h"

#include <string.h>

/* ---- elementwise rows ---- */

typedef enum row_how { ROW_SPELLED, ROW_BIN, ROW_CMP, ROW_INTRIN, ROW_MATH, ROW_SPECIAL } row_how;

static const struct row {
    row_how how;
    int s, u, f;      /* LLVM's opcode or predicate for signed, for unsigned and bool, for float */
    const char *name; /* intrinsic, or stem of a math function */
    low_row *fn;
} rowtab[TD_OPS] = {
#define BIN(si, ui, fl)                     .how = ROW_BIN, .s = LLVM##si, .u = LLVM##ui, .f = LLVM##fl
#define CMP(si, ui, fl)                     .how = ROW_CMP, .s = LLVMInt##si, .u = LLVMInt##ui, .f = LLVMReal##fl
#define INTRIN(n)                           .how = ROW_INTRIN, .name = n
#define MATH(n)                             .how = ROW_MATH, .name = #n
#define SPECIAL(n)                          .how = ROW_SPECIAL, .fn = low_special_##n
#define EXPR(n)                             .how = ROW_SPELLED
#define OP(n, ar, k, r, fl, mean, low, ...) [OP_##n] = {low},
#include "ir/core/ops.def"
};

static int
emit_choose(const struct row *r, td_dtype dt)
{
    return td_dtype_is_float(dt) ? r->f : td_dtype_kind(dt) == 'i' ? r->s : r->u;
}

/* Gives v LLVM's fast-math flags if the kernel asks for fast arithmetic.  Spelled-out rows
 * never get them: they keep their exact steps. */
static LLVMValueRef
relaxed(const lowering *L, LLVMValueRef v)
{
    if (L->f->fast && LLVMIsAInstruction(v) && LLVMCanValueUseFastMathFlags(v))
        LLVMSetFastMathFlags(v, LLVMFastMathAll);
    return v;
}

static LLVMValueRef
lower_row(lowering *L, const td_inst *s)
{
    const struct row *r = &rowtab[s->op];
    int arity = td_optab[s->op].arity;
    td_dtype dt = (td_dtype)td_at(L->f, s->arg[arity - 1])->dt;
    LLVMTypeRef t = low_type(L, dt, s->lanes);
    LLVMValueRef x[TD_MAXARG] = {NULL}, v;

    for (int i = 0; i < arity; i++)
        x[i] = L->val[s->arg[i].i];
    if ((v = low_approx(L, s, x)))
        return v;
    switch (r->how) {
    case ROW_BIN:
        return relaxed(L, LLVMBuildBinOp(L->b, (LLVMOpcode)emit_choose(r, dt), x[0], x[1], ""));
    case ROW_CMP:
        return td_dtype_is_float(dt)
                   ? low_fcmp(L, (LLVMRealPredicate)r->f, x[0], x[1])
                   : low_icmp(L, (LLVMIntPredicate)emit_choose(r, dt), x[0], x[1]);
    case ROW_INTRIN:  return relaxed(L, low_intrin(L, r->name, &t, 1, x, (unsigned)arity));
    case ROW_MATH:    return low_math(L, r->name, arity, dt, s->lanes, x);
    case ROW_SPECIAL: return r->fn(L, dt, s->lanes, x);
    case ROW_SPELLED: break;
    }
    L->st = td_fail(TD_ERR_JIT, "kernel %s: line %u: %s has not been expanded", L->f->name, s->line,
                    td_optab[s->op].name);
    return LLVMGetPoison(low_type(L, (td_dtype)s->dt, s->lanes));
}

/* ---- structural rows that concern neither memory, control nor threads ---- */

static LLVMValueRef
row_operand(const lowering *L, const td_inst *s)
{
    return L->val[s->arg[0].i];
}

LLVMValueRef
lower_const(lowering *L, const td_inst *s)
{
    td_dtype dt = (td_dtype)s->dt;
    LLVMValueRef v;
    double x;

    if (td_dtype_is_float(dt)) {
        memcpy(&x, &s->imm, sizeof x);
        v = td_dtype_is_half(dt) ? low_cast(L, low_cfp(L, TD_F64, 1, x), TD_F64, dt, 1)
                                 : low_cfp(L, dt, 1, x);
    } else {
        v = LLVMConstInt(low_elem(L, dt), dt == TD_BOOL ? s->imm != 0 : s->imm, 0);
    }
    return low_splat(L, v, s->lanes);
}

LLVMValueRef
lower_cast(lowering *L, const td_inst *s)
{
    return low_cast(L, row_operand(L, s), (td_dtype)td_at(L->f, s->arg[0])->dt, (td_dtype)s->dt,
                    s->lanes);
}

/* A bool is 0 or 1 as a byte, and any other byte is true. */
LLVMValueRef
lower_bitcast(lowering *L, const td_inst *s)
{
    td_dtype from = (td_dtype)td_at(L->f, s->arg[0])->dt, to = (td_dtype)s->dt;

    if (from == TD_BOOL || to == TD_BOOL)
        return low_cast(L, row_operand(L, s), from, to, s->lanes);
    return LLVMBuildBitCast(L->b, row_operand(L, s), low_type(L, to, s->lanes), "");
}

LLVMValueRef
lower_splat(lowering *L, const td_inst *s)
{
    return low_splat(L, row_operand(L, s), s->lanes);
}

LLVMValueRef
lower_extract(lowering *L, const td_inst *s)
{
    return low_lane(L, row_operand(L, s), td_at(L->f, s->arg[0])->lanes, (int)s->imm);
}

LLVMValueRef
lower_iota(lowering *L, const td_inst *s)
{
    LLVMTypeRef t = low_elem(L, (td_dtype)s->dt);
    LLVMValueRef lane[64];

    for (int i = 0; i < s->lanes; i++)
        lane[i] = LLVMConstInt(t, (unsigned)i, 0);
    return s->lanes == 1 ? lane[0] : LLVMConstVector(lane, s->lanes);
}

LLVMValueRef
lower_rotate(lowering *L, const td_inst *s)
{
    int n = s->lanes, k = (int)((int64_t)s->imm % n);
    LLVMValueRef v = row_operand(L, s);
    int lane[64];

    if (n == 1)
        return v;
    for (int i = 0; i < n; i++)
        lane[i] = (i + k + n) % n;
    return low_pick(L, v, LLVMGetPoison(LLVMTypeOf(v)), lane, n);
}

LLVMValueRef
lower_zip(lowering *L, const td_inst *s)
{
    LLVMValueRef a = L->val[s->arg[0].i], b = L->val[s->arg[1].i];
    int lane[64], half = s->lanes / 2;

    if (half == 1)
        return low_with_lane(L, low_splat(L, a, 2), b, 2, 1);
    for (int i = 0; i < s->lanes; i++)
        lane[i] = i / 2 + (i & 1) * half;
    return low_pick(L, a, b, lane, s->lanes);
}

LLVMValueRef
lower_unzip(lowering *L, const td_inst *s)
{
    LLVMValueRef v = row_operand(L, s);
    int lane[64];

    if (s->lanes == 1)
        return low_lane(L, v, 2, (int)s->imm);
    for (int i = 0; i < s->lanes; i++)
        lane[i] = 2 * i + (int)s->imm;
    return low_pick(L, v, LLVMGetPoison(LLVMTypeOf(v)), lane, s->lanes);
}

/* On the CPU an argument word; on a GPU the kernel's own parameter. */
LLVMValueRef
lower_param(lowering *L, const td_inst *s)
{
    bool ptr = (s->flags & TD_INST_PTR) != 0;
    LLVMTypeRef word = low_int(L, 64, 1), t = ptr ? low_ptr(L, 0) : low_mem(L, (td_dtype)s->dt, 1);
    LLVMBasicBlockRef here = LLVMGetInsertBlock(L->b);
    LLVMValueRef v, i = LLVMConstInt(word, s->imm, 0);

    LLVMPositionBuilderAtEnd(L->b, L->entry);
    if (L->target == TD_TARGET_GPU) {
        v = LLVMGetParam(L->fn, (unsigned)s->imm);
    } else {
        v = LLVMBuildLoad2(L->b, t, LLVMBuildGEP2(L->b, word, LLVMGetParam(L->fn, 0), &i, 1, ""),
                           "");
        LLVMSetAlignment(v, 8);
    }
    if (s->dt == TD_BOOL && !ptr)
        v = low_icmp(L, LLVMIntNE, v, low_zero(t));
    LLVMPositionBuilderAtEnd(L->b, here);
    return v;
}

static low_inst *const coretab[OP_COUNT] = {
#define CORE(n, args, val, im, ty, la, th, wi, lower, py) [OP_##n] = lower,
#include "ir/core/core.def"
};

/* ---- the function ---- */

static td_status
declare_host(lowering *L)
{
    LLVMTypeRef word = low_int(L, 64, 1), par[3] = {low_ptr(L, 0), word, word};

    L->fiber = L->f->simt;
    if (L->fiber) {
        low_kfiber_declare(L);
        return TD_OK;
    }
    L->fn = LLVMAddFunction(L->mod, L->f->name,
                            LLVMFunctionType(LLVMVoidTypeInContext(L->cx), par, 3, 0));
    low_host_attrs(L, L->fn);
    return TD_OK;
}

static void
annotate(lowering *L, const char *name, uint32_t v)
{
    LLVMMetadataRef md[3] = {LLVMValueAsMetadata(L->fn),
                             LLVMMDStringInContext2(L->cx, name, strlen(name)),
                             LLVMValueAsMetadata(low_cint(L, 32, 1, v))};

    if (v)
        LLVMAddNamedMetadataOperand(L->mod, "nvvm.annotations",
                                    LLVMMetadataAsValue(L->cx, LLVMMDNodeInContext2(L->cx, md, 3)));
}

static td_status
declare_gpu(lowering *L)
{
    LLVMTypeRef *par = td_alloc_big(L->f->mem, (L->f->nparam + 1) * sizeof *par);

    if (!par)
        return td_fail(TD_ERR_NOMEM, "kernel %s: lowering", L->f->name);
    for (uint32_t i = 0; i < L->f->n; i++) {
        const td_inst *s = &L->f->ins[i];

        if (s->op == OP_param)
            par[s->imm] = s->flags & TD_INST_PTR ? low_ptr(L, 1) : low_mem(L, (td_dtype)s->dt, 1);
    }
    L->fn = LLVMAddFunction(L->mod, L->f->name,
                            LLVMFunctionType(LLVMVoidTypeInContext(L->cx), par, L->f->nparam, 0));
    low_attr(L, L->fn, "nounwind", 0);
    LLVMSetFunctionCallConv(L->fn, 71); /* ptx_kernel, the calling convention of entries */
    annotate(L, "maxntidx", L->f->threads);
    annotate(L, "minctasm", L->f->resident);
    annotate(L, "maxnreg", L->f->registers);
    if (L->f->fast)
        low_attr_text(L, L->fn, "denormal-fp-math-f32", "preserve-sign,preserve-sign");
    return TD_OK;
}

static td_status
lower_body(lowering *L)
{
    LLVMBasicBlockRef first;

    L->leaves = low_funcs_leave(L);
    L->entry = low_block(L, "entry");
    first = low_block(L, "body");
    LLVMPositionBuilderAtEnd(L->b, first);
    low_lines_begin(L);
    for (uint32_t i = 0; i < L->f->n && !L->st; i++) {
        const td_inst *s = &L->f->ins[i];

        low_lines_at(L, s);
        L->val[i] = s->op < TD_OPS ? lower_row(L, s) : coretab[s->op](L, s);
    }
    low_lines_end(L);
    low_place_exit(L);
    LLVMBuildRetVoid(L->b);
    LLVMPositionBuilderAtEnd(L->b, L->entry);
    LLVMBuildBr(L->b, first);
    if (L->fiber)
        low_kfiber_entry(L);
    return L->st;
}

td_status
low_module(lowering *L)
{
    if (L->f->st)
        return L->f->st;
    L->val = td_alloc_big(L->f->mem, (L->f->n + 1) * sizeof *L->val);
    if (!L->val)
        return td_fail(TD_ERR_NOMEM, "kernel %s: lowering", L->f->name);
    L->mod = LLVMModuleCreateWithNameInContext(L->f->name, L->cx);
    L->b = LLVMCreateBuilderInContext(L->cx);
    TD_TRY(L->target == TD_TARGET_CPU ? declare_host(L) : declare_gpu(L));
    return lower_body(L);
}

void
low_free(lowering *L)
{
    if (L->b)
        LLVMDisposeBuilder(L->b);
    if (L->mod)
        LLVMDisposeModule(L->mod);
    if (L->cx)
        LLVMContextDispose(L->cx);
}
