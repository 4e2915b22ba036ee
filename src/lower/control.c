/* control.c - structured regions to basic blocks.
 *
 * Loops are emitted with their test at the end, so that no pass has to rotate them.
 */
#include "lower/emit.h"

#include <llvm-c/DebugInfo.h>

enum { SMALL = 32, FEW = 32, UNROLLED = 4 };

low_region *
low_open(lowering *L, td_op op)
{
    low_region *r;

    TD_ASSERT(L->depth < TD_DEPTH);
    r = &L->open[L->depth++];
    *r = (low_region){.op = op};
    return r;
}

static void
move_to(lowering *L, LLVMBasicBlockRef b)
{
    LLVMPositionBuilderAtEnd(L->b, b);
}

LLVMValueRef
low_if(lowering *L, const td_inst *s)
{
    low_region *r = low_open(L, OP_if);

    r->body = low_block(L, "then");
    r->next = low_block(L, "else");
    LLVMBuildCondBr(L->b, L->val[s->arg[0].i], r->body, r->next);
    move_to(L, r->body);
    return NULL;
}

LLVMValueRef
low_else(lowering *L, const td_inst *s)
{
    low_region *r = &L->open[L->depth - 1];
    LLVMBasicBlockRef join = low_block(L, "join");

    (void)s;
    LLVMBuildBr(L->b, join);
    move_to(L, r->next);
    r->next = join;
    return NULL;
}

/* The least counter that is at most `step` below hi, within its type. */
static LLVMValueRef
last_start(lowering *L, LLVMValueRef hi, LLVMValueRef step)
{
    LLVMTypeRef t = LLVMTypeOf(hi);
    unsigned bits = LLVMGetIntTypeWidth(t);
    LLVMValueRef least =
        LLVMBuildAdd(L->b, low_cint(L, bits, 1, UINT64_C(1) << (bits - 1)), step, "");

    return LLVMBuildSub(L->b, low_intrin(L, "llvm.smax", &t, 1, (LLVMValueRef[]){hi, least}, 2),
                        step, "");
}

LLVMValueRef
low_for(lowering *L, const td_inst *s)
{
    low_leave leave = low_leave_of(L, s);
    low_region *r = low_open(L, OP_for);
    LLVMValueRef lo = L->val[s->arg[0].i];
    LLVMBasicBlockRef before = LLVMGetInsertBlock(L->b), begin = low_block(L, "begin");

    r->leave = leave;
    r->hi = L->val[s->arg[1].i];
    r->step = L->val[s->arg[2].i];
    r->body = low_block(L, "for");
    r->next = low_block(L, "done");
    LLVMBuildCondBr(L->b, low_icmp(L, LLVMIntSLT, lo, r->hi), begin, r->next);
    move_to(L, begin);
    if (leave == LOW_LEAVE_TAKE)
        low_leave_take(L, lo, r->hi);
    if (leave == LOW_LEAVE_CUT)
        low_leave_cut(L, r, lo);
    if (leave == LOW_LEAVE_ASK)
        low_leave_begin(L, r, lo);
    if (r->first)
        lo = r->first;
    r->limit = last_start(L, r->hi, r->step);
    before = LLVMGetInsertBlock(L->b);
    LLVMBuildBr(L->b, r->body);
    move_to(L, r->body);
    r->counter = LLVMBuildPhi(L->b, LLVMTypeOf(lo), "i");
    LLVMAddIncoming(r->counter, &lo, &before, 1);
    return r->counter;
}

LLVMValueRef
low_loop(lowering *L, const td_inst *s)
{
    low_leave leave = low_leave_of(L, s);
    low_region *r = low_open(L, OP_loop);

    r->leave = leave;
    r->body = low_block(L, "loop");
    r->next = low_block(L, "done");
    if (leave == LOW_LEAVE_ASK)
        low_leave_begin(L, r, NULL);
    LLVMBuildBr(L->b, r->body);
    move_to(L, r->body);
    return NULL;
}

LLVMValueRef
low_block_region(lowering *L, const td_inst *s)
{
    low_region *r = low_open(L, OP_block);

    (void)s;
    r->next = low_block(L, "done");
    return NULL;
}

static void
leave_if(lowering *L, const td_inst *s, LLVMBasicBlockRef to)
{
    LLVMBasicBlockRef go = low_block(L, "go");

    LLVMBuildCondBr(L->b, L->val[s->arg[0].i], to, go);
    move_to(L, go);
}

LLVMValueRef
low_break_if(lowering *L, const td_inst *s)
{
    uint32_t d = L->depth;

    for (uint64_t left = s->imm + 1; left; d--) {
        TD_ASSERT(d > 0); /* the verifier has checked this */
        left -= td_op_is_breakable(L->open[d - 1].op);
    }
    leave_if(L, s, L->open[d].next);
    return NULL;
}

LLVMValueRef
low_exit_if(lowering *L, const td_inst *s)
{
    if (L->fiber) {
        low_kfiber_exit_if(L, s);
        return NULL;
    }
    if (!L->exit)
        L->exit = low_block(L, "exit");
    leave_if(L, s, L->exit);
    return NULL;
}

/* Is the loop that s ends straight code of so few instructions that its counter costs as much
 * as its work? */
static bool
is_small_loop(const lowering *L, const td_inst *s)
{
    for (uint32_t i = s->jump + 1; i < (uint32_t)(s - L->f->ins); i++)
        if (td_op_opens(L->f->ins[i].op) || L->f->ins[i].op == OP_break_if)
            return false;
    return s - L->f->ins - s->jump <= SMALL;
}

/* Has LLVM unroll the loop: four iterations at a time, or completely if there are few. */
static void
unroll(lowering *L, const td_inst *s, LLVMValueRef branch)
{
    static const char id[] = "llvm.loop", all[] = "llvm.loop.unroll.full",
                      some[] = "llvm.loop.unroll.count";
    const td_inst *loop = &L->f->ins[s->jump], *lo = td_at(L->f, loop->arg[0]),
                  *hi = td_at(L->f, loop->arg[1]);
    bool whole = lo->op == OP_const && hi->op == OP_const && hi->imm - lo->imm <= FEW;
    LLVMMetadataRef own = LLVMTemporaryMDNode(L->cx, NULL, 0), hint[2], node[2] = {own, NULL};

    hint[0] = whole ? LLVMMDStringInContext2(L->cx, all, sizeof all - 1)
                    : LLVMMDStringInContext2(L->cx, some, sizeof some - 1);
    hint[1] = LLVMValueAsMetadata(low_cint(L, 32, 1, UNROLLED));
    node[1] = LLVMMDNodeInContext2(L->cx, hint, whole ? 1 : 2);
    node[0] = LLVMMDNodeInContext2(L->cx, node, 2);
    LLVMMetadataReplaceAllUsesWith(own, node[0]);
    LLVMSetMetadata(branch, LLVMGetMDKindIDInContext(L->cx, id, sizeof id - 1),
                    LLVMMetadataAsValue(L->cx, node[0]));
}

/* Tests counter + step < hi without overflow.  With a step of 1 the sum is at most hi.  Else
 * compares counter with hi - step, or with the least number if that would be smaller.  The sum
 * may overflow in the last iteration, where nobody reads it; so it carries no overflow flag. */
static void
end_for(lowering *L, const td_inst *s, low_region *r)
{
    LLVMBasicBlockRef latch = LLVMGetInsertBlock(L->b);
    LLVMValueRef next = LLVMBuildNSWAdd(L->b, r->counter, r->step, ""), more;

    if (LLVMIsAConstantInt(r->step) && LLVMConstIntGetZExtValue(r->step) == 1)
        more = low_icmp(L, LLVMIntSLT, next, r->hi);
    else
        more = low_icmp(L, LLVMIntSLT, r->counter, r->limit);
    if (r->leave == LOW_LEAVE_ASK) {
        latch = low_block(L, "again");
        LLVMBuildCondBr(L->b, more, latch, r->next);
        move_to(L, latch);
        LLVMAddIncoming(r->counter, &next, &latch, 1);
        low_leave_ask(L, r, s, next);
        return;
    }
    LLVMAddIncoming(r->counter, &next, &latch, 1);
    more = LLVMBuildCondBr(L->b, more, r->body, r->next);
    if (L->f->optimise && L->target == TD_TARGET_CPU && is_small_loop(L, s))
        unroll(L, s, more);
}

LLVMValueRef
low_end(lowering *L, const td_inst *s)
{
    low_region *r = &L->open[--L->depth];

    if (r->op == OP_parallel) {
        low_end_parallel(L, r);
        return NULL;
    }
    if (r->op == OP_loop)
        low_kfiber_again(L, s);
    if (r->op == OP_func) {
        low_end_func(L, r);
        return NULL;
    }
    if (r->op == OP_for)
        end_for(L, s, r);
    else if (r->leave == LOW_LEAVE_ASK)
        low_leave_ask(L, r, s, NULL);
    else
        LLVMBuildBr(L->b, r->op == OP_loop ? r->body : r->next);
    move_to(L, r->next);
    if (r->leave == LOW_LEAVE_CUT)
        low_leave_again(L, r);
    return NULL;
}
