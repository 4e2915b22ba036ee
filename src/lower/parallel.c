/* parallel.c - the body of a parallel region becomes a function, which the core's thread pool
 * calls for each piece.
 *
 *     piece(env, first, end, number)
 *
 * Values from before the region that it uses are copied into `env`, slots by their contents;
 * inside the function these values are loads from env.
 */
#include "lower/emit.h"

enum { ENV, FIRST, END, NUMBER, NPARAM };

typedef struct low_piece {
    LLVMValueRef fn; /* the kernel's function, while the region is open */
    LLVMBasicBlockRef entry, exit, at;
    LLVMValueRef budget;
    uint32_t *used; /* the values from before the region that it uses */
    LLVMValueRef *outer;
    LLVMTypeRef *type;
    LLVMTypeRef env;
    uint32_t n;
} low_piece;

static bool
is_slot(const lowering *L, uint32_t v)
{
    return L->f->ins[v].op == OP_slot;
}

static void
collect_one(const lowering *L, uint32_t v, uint32_t i, low_piece *p, bool *seen)
{
    if (v >= i || seen[v] || LLVMIsConstant(L->val[v]))
        return;
    seen[v] = true;
    p->type[p->n] = is_slot(L, v) ? low_type(L, (td_dtype)L->f->ins[v].dt, L->f->ins[v].lanes)
                                  : LLVMTypeOf(L->val[v]);
    p->outer[p->n] = L->val[v];
    p->used[p->n++] = v;
}

/* Collects the values from before instruction i that [i, end) uses.  Constants need no copy. */
static void
collect_piece_values(const lowering *L, uint32_t i, uint32_t end, low_piece *p, bool *seen)
{
    for (uint32_t k = i + 1; k < end; k++) {
        const td_inst *s = &L->f->ins[k];
        uint32_t n = 0;
        const uint32_t *more = s->op == OP_call ? low_func_uses(L, s->imm, &n) : NULL;

        for (int a = 0; a < TD_MAXARG; a++)
            collect_one(L, s->arg[a].i, i, p, seen);
        for (uint32_t a = 0; a < n; a++)
            collect_one(L, more[a], i, p, seen);
    }
    p->env = LLVMStructTypeInContext(L->cx, p->type, p->n, 0);
}

static low_piece *
new_piece(lowering *L, uint32_t i, uint32_t end)
{
    td_arena *mem = L->f->mem;
    low_piece *p = td_alloc_big(mem, sizeof *p);
    bool *seen = td_alloc_big(mem, i + 1);

    if (p) {
        p->used = td_alloc_big(mem, (i + 1) * sizeof *p->used);
        p->outer = td_alloc_big(mem, (i + 1) * sizeof(LLVMValueRef));
        p->type = td_alloc_big(mem, (i + 1) * sizeof(LLVMTypeRef));
    }
    if (!p || !seen || !p->used || !p->outer || !p->type) {
        L->st = td_fail(TD_ERR_NOMEM, "kernel %s: lowering", L->f->name);
        return NULL;
    }
    collect_piece_values(L, i, end, p, seen);
    return p;
}

static LLVMValueRef
declare_piece(lowering *L)
{
    LLVMTypeRef i64 = low_int(L, 64, 1), par[NPARAM] = {low_ptr(L, 0), i64, i64, i64};
    LLVMValueRef fn = LLVMAddFunction(
        L->mod, "piece", LLVMFunctionType(LLVMVoidTypeInContext(L->cx), par, NPARAM, 0));

    LLVMSetLinkage(fn, LLVMInternalLinkage);
    low_host_attrs(L, fn);
    return fn;
}

/* In the kernel: fills env and calls the thread pool. */
static void
call_pieces(lowering *L, const td_inst *s, const low_piece *p, LLVMValueRef fn)
{
    LLVMTypeRef i64 = low_int(L, 64, 1);
    LLVMValueRef env = low_at_entry(L, p->env, false), v;

    for (uint32_t k = 0; k < p->n; k++) {
        v = is_slot(L, p->used[k]) ? LLVMBuildLoad2(L->b, p->type[k], p->outer[k], "")
                                   : p->outer[k];
        LLVMBuildStore(L->b, v, LLVMBuildStructGEP2(L->b, p->env, env, k, ""));
    }
    v = low_runtime(L, "td_run_pieces", i64,
                    (LLVMValueRef[]){fn, env, LLVMBuildSExt(L->b, L->val[s->arg[0].i], i64, ""),
                                     LLVMBuildSExt(L->b, L->val[s->arg[1].i], i64, ""),
                                     low_cint(L, 64, 1, s->imm)},
                    5);
    low_leave_if(L, v);
}

/* In the piece: loads the values from env. */
static void
unpack_env(lowering *L, const low_piece *p)
{
    LLVMValueRef v, slot;

    LLVMPositionBuilderAtEnd(L->b, L->entry);
    for (uint32_t k = 0; k < p->n; k++) {
        v = LLVMBuildLoad2(L->b, p->type[k],
                           LLVMBuildStructGEP2(L->b, p->env, LLVMGetParam(L->fn, ENV), k, ""), "");
        if (is_slot(L, p->used[k])) {
            slot = LLVMBuildAlloca(L->b, p->type[k], "");
            LLVMBuildStore(L->b, v, slot);
            v = slot;
        }
        L->val[p->used[k]] = v;
    }
}

LLVMValueRef
low_parallel(lowering *L, const td_inst *s)
{
    LLVMValueRef fn;
    low_region *r;
    low_piece *p;

    if (L->target == TD_TARGET_GPU)
        return low_refuse(L, s, "a GPU's kernel has no such regions: its threads are many already");
    p = new_piece(L, (uint32_t)(s - L->f->ins), s->jump);
    if (!p)
        return LLVMGetPoison(low_type(L, (td_dtype)s->dt, 1));
    fn = declare_piece(L);
    call_pieces(L, s, p, fn);
    p->fn = L->fn;
    p->entry = L->entry;
    p->exit = L->exit;
    p->budget = L->budget;
    p->at = LLVMGetInsertBlock(L->b);
    L->fn = fn;
    L->exit = NULL;
    L->budget = NULL;
    L->entry = low_block(L, "entry");
    r = low_open(L, OP_parallel);
    r->body = low_block(L, "body");
    r->piece = p;
    unpack_env(L, p);
    LLVMPositionBuilderAtEnd(L->b, r->body);
    return LLVMBuildTrunc(L->b, LLVMGetParam(L->fn, FIRST), low_type(L, (td_dtype)s->dt, 1), "");
}

void
low_end_parallel(lowering *L, const low_region *r)
{
    const low_piece *p = r->piece;

    low_place_exit(L);
    LLVMBuildRetVoid(L->b);
    LLVMPositionBuilderAtEnd(L->b, L->entry);
    LLVMBuildBr(L->b, r->body);
    L->fn = p->fn;
    L->entry = p->entry;
    L->exit = p->exit;
    L->budget = p->budget;
    for (uint32_t k = 0; k < p->n; k++)
        L->val[p->used[k]] = p->outer[k];
    LLVMPositionBuilderAtEnd(L->b, p->at);
}

LLVMValueRef
low_piece_end(lowering *L, const td_inst *s)
{
    return LLVMBuildTrunc(L->b, LLVMGetParam(L->fn, END), low_type(L, (td_dtype)s->dt, 1), "");
}

LLVMValueRef
low_piece_number(lowering *L, const td_inst *s)
{
    (void)s;
    return LLVMGetParam(L->fn, NUMBER);
}
