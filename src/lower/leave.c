/* leave.c - lets loops of CPU code ask from time to time whether their work is still wanted
 * (base/stop.h).
 *
 * The loops of a function share a budget of iterations.  A loop that may not end, or that has
 * loops inside, takes from the budget at each iteration, and asks when nothing is left.
 * Innermost loops, which LLVM vectorises, stay as they are.  One inside another loop takes all
 * its iterations from the budget before it begins.  One that stands alone is cut into pieces of
 * PIECE iterations and asks between them.
 */
#include "lower/emit.h"

enum {
    BUDGET = 1 << 16,
    MOST = 64 /* most that one iteration takes from the budget */,
    PIECE = 1 << 16
};

static bool
asks(const lowering *L)
{
    return L->target == TD_TARGET_CPU && !L->fiber;
}

static LLVMBasicBlockRef
exit_of(lowering *L)
{
    if (!L->exit)
        L->exit = low_block(L, "exit");
    return L->exit;
}

void
low_leave_if(lowering *L, LLVMValueRef word)
{
    LLVMBasicBlockRef go = low_block(L, "go");

    LLVMBuildCondBr(L->b, low_icmp(L, LLVMIntNE, word, low_zero(LLVMTypeOf(word))), exit_of(L), go);
    LLVMPositionBuilderAtEnd(L->b, go);
}

void
low_place_exit(lowering *L)
{
    if (L->exit) {
        LLVMBuildBr(L->b, L->exit);
        LLVMPositionBuilderAtEnd(L->b, L->exit);
    }
}

static void
ask_stop(lowering *L)
{
    low_leave_if(L, low_runtime(L, "td_stop_look", low_int(L, 64, 1), NULL, 0));
}

/* ---- the budget ---- */

static LLVMValueRef
budget(lowering *L)
{
    LLVMBasicBlockRef here = LLVMGetInsertBlock(L->b);

    if (!L->budget) {
        L->budget = low_at_entry(L, low_int(L, 64, 1), false);
        LLVMPositionBuilderAtEnd(L->b, L->entry);
        LLVMBuildStore(L->b, low_cint(L, 64, 1, BUDGET), L->budget);
        LLVMPositionBuilderAtEnd(L->b, here);
    }
    return L->budget;
}

static LLVMValueRef
left(lowering *L)
{
    return LLVMBuildLoad2(L->b, low_int(L, 64, 1), budget(L), "");
}

static void
mark_rare(lowering *L, LLVMValueRef branch)
{
    static const char kind[] = "prof", what[] = "branch_weights";
    LLVMMetadataRef md[3] = {LLVMMDStringInContext2(L->cx, what, sizeof what - 1),
                             LLVMValueAsMetadata(low_cint(L, 32, 1, 1)),
                             LLVMValueAsMetadata(low_cint(L, 32, 1, 4000))};

    LLVMSetMetadata(branch, LLVMGetMDKindIDInContext(L->cx, kind, sizeof kind - 1),
                    LLVMMetadataAsValue(L->cx, LLVMMDNodeInContext2(L->cx, md, 3)));
}

/* ---- how a loop can be left ---- */

/* Does the loop at s contain a loop, or can it be left before its last iteration? */
static bool
is_open_ended(const lowering *L, const td_inst *s)
{
    bool inner[TD_DEPTH + 1];
    uint32_t depth = 0, breakable = 0;

    for (const td_inst *k = s + 1; k < L->f->ins + s->jump; k++) {
        if (k->op == OP_for || k->op == OP_loop || k->op == OP_parallel || k->op == OP_call ||
            (k->op == OP_break_if && k->imm >= breakable))
            return true;
        if (td_op_opens(k->op))
            breakable += inner[depth++] = td_op_is_breakable(k->op);
        else if (k->op == OP_end)
            breakable -= inner[--depth];
    }
    return false;
}

static bool
is_in_loop(const lowering *L)
{
    for (uint32_t d = L->depth; d-- && L->open[d].op != OP_parallel && L->open[d].op != OP_func;)
        if (L->open[d].op == OP_for || L->open[d].op == OP_loop)
            return true;
    return false;
}

low_leave
low_leave_of(const lowering *L, const td_inst *s)
{
    const td_inst *step;

    if (!asks(L) || (s->op == OP_for && !L->f->optimise))
        return LOW_LEAVE_NEVER;
    if (s->op == OP_loop || is_open_ended(L, s))
        return LOW_LEAVE_ASK;
    if (is_in_loop(L))
        return LOW_LEAVE_TAKE;
    step = td_at(L->f, s->arg[2]);
    return step->op == OP_const && step->imm <= MOST ? LOW_LEAVE_CUT : LOW_LEAVE_NEVER;
}

bool
low_funcs_leave(const lowering *L)
{
    for (const td_inst *s = L->f->ins; asks(L) && s < L->f->ins + L->f->n; s++)
        for (const td_inst *k = s; s->op == OP_func && k < L->f->ins + s->jump; k++)
            if (k->op == OP_loop || (k->op == OP_for && L->f->optimise))
                return true;
    return false;
}

/* ---- the code for it ---- */

void
low_leave_take(lowering *L, LLVMValueRef lo, LLVMValueRef hi)
{
    LLVMTypeRef i64 = low_int(L, 64, 1);
    LLVMValueRef n = LLVMBuildZExt(L->b, LLVMBuildSub(L->b, hi, lo, ""), i64, ""),
                 x[] = {left(L), n};

    LLVMBuildStore(L->b, low_intrin(L, "llvm.usub.sat", &i64, 1, x, 2), budget(L));
}

/* Opens the block where iterations begin, at first and after each look.  It is a loop around
 * the loop, so that the call to look keeps no registers of the inner loop busy. */
void
low_leave_begin(lowering *L, low_region *r, LLVMValueRef lo)
{
    LLVMBasicBlockRef before = LLVMGetInsertBlock(L->b);

    r->piece_at = low_block(L, "piece");
    LLVMBuildBr(L->b, r->piece_at);
    LLVMPositionBuilderAtEnd(L->b, r->piece_at);
    if (!lo)
        return;
    r->first = LLVMBuildPhi(L->b, LLVMTypeOf(lo), "first");
    LLVMAddIncoming(r->first, &lo, &before, 1);
}

/* After a look: continues with the iteration whose counter is `next`; NULL: the loop has no
 * counter. */
static void
go_on(lowering *L, low_region *r, LLVMValueRef next)
{
    LLVMBasicBlockRef here;

    ask_stop(L);
    here = LLVMGetInsertBlock(L->b);
    if (next)
        LLVMAddIncoming(r->first, &next, &here, 1);
    LLVMBuildBr(L->b, r->piece_at);
}

void
low_leave_ask(lowering *L, low_region *r, const td_inst *end, LLVMValueRef next)
{
    uint64_t size = (uint64_t)(end - L->f->ins) - end->jump;
    LLVMValueRef n = low_cint(L, 64, 1, size < MOST ? size : MOST), before = left(L);
    LLVMBasicBlockRef look = low_block(L, "look");

    LLVMBuildStore(L->b, LLVMBuildSub(L->b, before, n, ""), budget(L));
    mark_rare(L, LLVMBuildCondBr(L->b, low_icmp(L, LLVMIntULT, before, n), look, r->body));
    LLVMPositionBuilderAtEnd(L->b, look);
    LLVMBuildStore(L->b, low_cint(L, 64, 1, BUDGET), budget(L));
    go_on(L, r, next);
}

/* Begins the piece at the region's current counter; r->hi becomes the piece's end. */
void
low_leave_cut(lowering *L, low_region *r, LLVMValueRef lo)
{
    LLVMValueRef span = low_cint(L, LLVMGetIntTypeWidth(LLVMTypeOf(lo)), 1,
                                 PIECE * LLVMConstIntGetZExtValue(r->step));

    low_leave_begin(L, r, lo);
    r->more = low_icmp(L, LLVMIntUGT, LLVMBuildSub(L->b, r->hi, r->first, ""), span);
    r->after = LLVMBuildAdd(L->b, r->first, span, "");
    r->hi = low_select(L, r->more, r->after, r->hi);
    r->all = r->next;
    r->next = low_block(L, "cut");
}

/* After a piece: starts the next one, unless it was the last. */
void
low_leave_again(lowering *L, low_region *r)
{
    LLVMBasicBlockRef look = low_block(L, "look");

    LLVMBuildCondBr(L->b, r->more, look, r->all);
    LLVMPositionBuilderAtEnd(L->b, look);
    go_on(L, r, r->after);
    LLVMPositionBuilderAtEnd(L->b, r->all);
}
