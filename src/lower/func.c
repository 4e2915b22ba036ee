/* func.c - functions inside a kernel: each becomes an LLVM function.
 *
 *     func(frame, v0, v1, …)
 *
 * It returns 1 if one of its loops was left early (leave.c); then the caller returns as well.
 * v0, v1, … are the outside values that it uses, and every call passes them on.  So a function
 * can be called where the kernel's own parameters are not in reach: from another function, or
 * from a piece of a parallel region.
 */
#include "lower/emit.h"

#include <stdio.h>

typedef struct low_func {
    LLVMValueRef fn;
    LLVMTypeRef type;
    uint32_t *used, n;
    LLVMValueRef *outer;               /* the outside values that they replace */
    LLVMValueRef back;                 /* while the region is open: the function around it, */
    LLVMBasicBlockRef entry, exit, at; /* its blocks, and where the builder was */
    LLVMValueRef budget;
} low_func;

/* Collects the outside values that [i, end) uses.  A function inside this region whose code is
 * not made yet is searched too. */
static void
collect_outer(const lowering *L, uint32_t i, uint32_t end, low_func *f, bool *seen)
{
    for (uint32_t k = i + 1; k < end; k++) {
        const td_inst *s = &L->f->ins[k];
        uint32_t n = 0;
        const uint32_t *more = s->op == OP_call ? low_func_uses(L, s->imm, &n) : NULL;

        for (uint32_t a = 0; a < TD_MAXARG + n; a++) {
            uint32_t v = a < TD_MAXARG ? s->arg[a].i : more[a - TD_MAXARG];

            if (v >= i || seen[v] || LLVMIsConstant(L->val[v]))
                continue;
            seen[v] = true;
            f->used[f->n++] = v;
        }
    }
}

const uint32_t *
low_func_uses(const lowering *L, uint64_t number, uint32_t *n)
{
    const low_func *f = L->func[number];

    *n = f ? f->n : 0;
    return f ? f->used : NULL;
}

static low_func *
new_func(lowering *L, const td_inst *s)
{
    uint32_t i = (uint32_t)(s - L->f->ins);
    td_arena *mem = L->f->mem;
    low_func *f = td_alloc_big(mem, sizeof *f);
    bool *seen = td_alloc_big(mem, i + 1);

    if (f) {
        f->used = td_alloc_big(mem, (i + 1) * sizeof *f->used);
        f->outer = td_alloc_big(mem, (i + 1) * sizeof(LLVMValueRef));
    }
    if (!f || !seen || !f->used || !f->outer) {
        L->st = td_fail(TD_ERR_NOMEM, "kernel %s: lowering", L->f->name);
        return NULL;
    }
    collect_outer(L, i, s->jump, f, seen);
    return f;
}

static td_status
declare_func(lowering *L, low_func *f, uint64_t number)
{
    LLVMTypeRef *par = td_alloc_big(L->f->mem, (f->n + 1) * sizeof(LLVMTypeRef));
    char name[80];

    if (!par)
        return td_fail(TD_ERR_NOMEM, "kernel %s: lowering", L->f->name);
    par[0] = low_int(L, 64, 1);
    for (uint32_t k = 0; k < f->n; k++)
        par[k + 1] = LLVMTypeOf(L->val[f->used[k]]);
    snprintf(name, sizeof name, "func%u", (unsigned)number);
    f->type = LLVMFunctionType(low_int(L, 64, 1), par, f->n + 1, 0);
    f->fn = LLVMAddFunction(L->mod, name, f->type);
    LLVMSetLinkage(f->fn, LLVMInternalLinkage);
    if (L->target == TD_TARGET_CPU)
        low_host_attrs(L, f->fn);
    else
        low_attr(L, f->fn, "nounwind", 0);
    if (L->target == TD_TARGET_GPU && L->f->fast)
        low_attr_text(L, f->fn, "denormal-fp-math-f32", "preserve-sign,preserve-sign");
    return TD_OK;
}

LLVMValueRef
low_func_region(lowering *L, const td_inst *s)
{
    low_func *f = new_func(L, s);
    low_region *r;

    if (f && !L->st)
        L->st = declare_func(L, f, s->imm);
    if (L->st)
        return LLVMGetPoison(low_int(L, 64, 1));
    L->func[s->imm] = f;
    f->back = L->fn;
    f->entry = L->entry;
    f->exit = L->exit;
    f->budget = L->budget;
    f->at = LLVMGetInsertBlock(L->b);
    L->fn = f->fn;
    L->exit = NULL;
    L->budget = NULL;
    L->entry = low_block(L, "entry");
    r = low_open(L, OP_func);
    r->body = low_block(L, "body");
    r->func = f;
    for (uint32_t k = 0; k < f->n; k++) {
        f->outer[k] = L->val[f->used[k]];
        L->val[f->used[k]] = LLVMGetParam(f->fn, k + 1);
    }
    LLVMPositionBuilderAtEnd(L->b, r->body);
    return LLVMGetParam(f->fn, 0);
}

void
low_end_func(lowering *L, const low_region *r)
{
    const low_func *f = r->func;

    LLVMBuildRet(L->b, low_cint(L, 64, 1, 0));
    if (L->exit) {
        LLVMPositionBuilderAtEnd(L->b, L->exit);
        LLVMBuildRet(L->b, low_cint(L, 64, 1, 1));
    }
    LLVMPositionBuilderAtEnd(L->b, L->entry);
    LLVMBuildBr(L->b, r->body);
    L->fn = f->back;
    L->entry = f->entry;
    L->exit = f->exit;
    L->budget = f->budget;
    for (uint32_t k = 0; k < f->n; k++)
        L->val[f->used[k]] = f->outer[k];
    LLVMPositionBuilderAtEnd(L->b, f->at);
}

LLVMValueRef
low_call(lowering *L, const td_inst *s)
{
    const low_func *f = L->func[s->imm];
    LLVMValueRef *arg = td_alloc_big(L->f->mem, (f->n + 1) * sizeof(LLVMValueRef)), left;

    if (!arg) {
        L->st = td_fail(TD_ERR_NOMEM, "kernel %s: lowering", L->f->name);
        return NULL;
    }
    arg[0] = L->val[s->arg[0].i];
    for (uint32_t k = 0; k < f->n; k++)
        arg[k + 1] = L->val[f->used[k]];
    left = LLVMBuildCall2(L->b, f->type, f->fn, arg, f->n + 1, "");
    if (L->leaves)
        low_leave_if(L, left);
    return NULL;
}
