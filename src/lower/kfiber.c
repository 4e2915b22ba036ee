/* kfiber.c - compiles the program of one thread for fibers on a CPU (ir/interp/kfiber.h).
 *
 *     thread(args, self)         the kernel's instructions
 *     name(args, bid, nblock)    the entry: td_kfiber_do_block(thread, info, args, bid, nblock)
 *
 * A thread loads what it knows of itself and its block where it begins.
 */
#include "ir/interp/kfiber.h"

#include "lower/emit.h"

#include <stddef.h>

enum { ARGS, SELF, ON_STACK = 4096 /* bytes of a thread's arrays that may lie on its stack */ };

static LLVMTypeRef
void_type(const lowering *L)
{
    return LLVMVoidTypeInContext(L->cx);
}

void
low_kfiber_declare(lowering *L)
{
    LLVMTypeRef par[2] = {low_ptr(L, 0), low_ptr(L, 0)};

    L->fn = LLVMAddFunction(L->mod, "thread", LLVMFunctionType(void_type(L), par, 2, 0));
    LLVMSetLinkage(L->fn, LLVMInternalLinkage);
    low_host_attrs(L, L->fn);
}

/* ---- indices and memory of a thread ---- */

static LLVMValueRef
at_byte(lowering *L, LLVMValueRef p, uint64_t offset)
{
    LLVMValueRef i = low_cint(L, 64, 1, offset);

    return LLVMBuildGEP2(L->b, low_int(L, 8, 1), p, &i, 1, "");
}

/* Loads a field of self, or of its block. */
static LLVMValueRef
field(lowering *L, LLVMTypeRef t, bool block, size_t offset)
{
    LLVMBasicBlockRef here = LLVMGetInsertBlock(L->b);
    LLVMValueRef p = LLVMGetParam(L->fn, SELF), v;

    LLVMPositionBuilderAtEnd(L->b, L->entry);
    if (block)
        p = LLVMBuildLoad2(L->b, low_ptr(L, 0), at_byte(L, p, offsetof(td_kfiber, block)), "");
    v = LLVMBuildLoad2(L->b, t, at_byte(L, p, offset), "");
    LLVMPositionBuilderAtEnd(L->b, here);
    return v;
}

LLVMValueRef
low_kfiber_index(lowering *L, const td_inst *s)
{
    LLVMTypeRef i32 = low_int(L, 32, 1);
    size_t k = sizeof(int32_t) * (size_t)s->imm;

    switch ((int)s->op) {
    case OP_bid:  return field(L, i32, true, offsetof(td_kfiber_block, bid) + k);
    case OP_bdim: return field(L, i32, true, offsetof(td_kfiber_block, bdim) + k);
    case OP_gdim: return field(L, i32, true, offsetof(td_kfiber_block, gdim) + k);
    case OP_tid:  return field(L, i32, false, offsetof(td_kfiber, tid) + k);
    }
    return field(L, i32, false, offsetof(td_kfiber, lane));
}

static LLVMValueRef
kfiber_array(lowering *L, const td_inst *s, uint64_t *used, bool block, size_t offset)
{
    uint64_t at = (*used + 63) / 64 * 64;

    *used = at + s->imm * td_dtype_size((td_dtype)s->dt);
    return at_byte(L, field(L, low_ptr(L, 0), block, offset), at);
}

LLVMValueRef
low_kfiber_shared(lowering *L, const td_inst *s)
{
    return kfiber_array(L, s, &L->nshared, true, offsetof(td_kfiber_block, shared));
}

LLVMValueRef
low_kfiber_dynamic(lowering *L)
{
    return field(L, low_ptr(L, 0), true, offsetof(td_kfiber_block, dynamic));
}

LLVMValueRef
low_kfiber_local(lowering *L, const td_inst *s)
{
    uint64_t nbytes = s->imm * td_dtype_size((td_dtype)s->dt);

    if (L->nstack + nbytes <= ON_STACK) {
        L->nstack += nbytes;
        return NULL;
    }
    return kfiber_array(L, s, &L->nlocal, false, offsetof(td_kfiber, local));
}

/* ---- waiting ---- */

static LLVMValueRef
kfiber_constant(lowering *L, const char *name, LLVMValueRef *field_of, unsigned n)
{
    LLVMValueRef v = LLVMConstStructInContext(L->cx, field_of, n, 0),
                 g = LLVMAddGlobal(L->mod, LLVMTypeOf(v), name);

    LLVMSetInitializer(g, v);
    LLVMSetGlobalConstant(g, 1);
    LLVMSetLinkage(g, LLVMPrivateLinkage);
    return g;
}

static LLVMValueRef
site_of(lowering *L, const td_inst *s)
{
    td_dtype dt = td_optab[s->op].arity ? (td_dtype)td_at(L->f, s->arg[0])->dt : TD_BOOL;
    uint64_t word[] = {s->op, (uint64_t)(s - L->f->ins), s->line, td_dtype_size(dt)};
    LLVMValueRef v[4];

    for (int i = 0; i < 4; i++)
        v[i] = low_cint(L, 32, 1, word[i]);
    return kfiber_constant(L, "site", v, 4);
}

static LLVMBasicBlockRef
exit_of(lowering *L)
{
    if (!L->exit)
        L->exit = low_block(L, "exit");
    return L->exit;
}

static void
leave_if(lowering *L, LLVMValueRef c, LLVMBasicBlockRef to)
{
    LLVMBasicBlockRef go = low_block(L, "go");

    LLVMBuildCondBr(L->b, c, to, go);
    LLVMPositionBuilderAtEnd(L->b, go);
}

static void
leave_if_stopped(lowering *L)
{
    LLVMTypeRef i32 = low_int(L, 32, 1);
    LLVMValueRef stop = LLVMBuildLoad2(
        L->b, i32, at_byte(L, LLVMGetParam(L->fn, SELF), offsetof(td_kfiber, stop)), "");

    leave_if(L, low_icmp(L, LLVMIntNE, stop, low_zero(i32)), exit_of(L));
}

LLVMValueRef
low_kfiber_meet(lowering *L, const td_inst *s, LLVMValueRef value, LLVMValueRef which,
                LLVMValueRef members)
{
    LLVMTypeRef i64 = low_int(L, 64, 1);
    LLVMValueRef none = low_zero(i64),
                 arg[5] = {LLVMGetParam(L->fn, SELF), site_of(L, s), value ? value : none,
                           which ? which : none, members ? members : none},
                 got;

    for (int i = 2; i < 5; i++)
        arg[i] = LLVMBuildIntCast2(L->b, arg[i], i64, 0, "");
    got = low_runtime(L, "td_kfiber_meet", i64, arg, 5);
    leave_if_stopped(L);
    return got;
}

/* Does the loop that s ends read memory that other threads may write? */
static bool
looks(const lowering *L, const td_inst *s)
{
    for (uint32_t i = s->jump + 1; i < (uint32_t)(s - L->f->ins); i++)
        if (L->f->ins[i].op == OP_load || td_op_is_atomic(L->f->ins[i].op))
            return true;
    return false;
}

static void
pass(lowering *L)
{
    LLVMValueRef self = LLVMGetParam(L->fn, SELF);

    low_runtime(L, "td_kfiber_pass", void_type(L), &self, 1);
    leave_if_stopped(L);
}

void
low_kfiber_again(lowering *L, const td_inst *s)
{
    if (L->fiber && looks(L, s))
        pass(L);
}

void
low_kfiber_unless(lowering *L, LLVMValueRef ok)
{
    LLVMBasicBlockRef join;

    if (!L->fiber)
        return;
    low_open_guard(L, LLVMBuildNot(L->b, ok, ""), &join);
    pass(L);
    LLVMBuildBr(L->b, join);
    LLVMPositionBuilderAtEnd(L->b, join);
}

void
low_kfiber_exit_if(lowering *L, const td_inst *s)
{
    LLVMBasicBlockRef ends = low_block(L, "ends"), here;

    leave_if(L, L->val[s->arg[0].i], ends);
    here = LLVMGetInsertBlock(L->b);
    LLVMPositionBuilderAtEnd(L->b, ends);
    LLVMBuildStore(L->b, low_cint(L, 32, 1, 1),
                   at_byte(L, LLVMGetParam(L->fn, SELF), offsetof(td_kfiber, ended)));
    LLVMBuildBr(L->b, exit_of(L));
    LLVMPositionBuilderAtEnd(L->b, here);
}

/* ---- the entry ---- */

void
low_kfiber_entry(lowering *L)
{
    LLVMTypeRef word = low_int(L, 64, 1), par[3] = {low_ptr(L, 0), word, word};
    LLVMValueRef thread = L->fn, arg[5], info[4];
    bool meets = false;

    for (uint32_t i = 0; i < L->f->n; i++)
        meets |= L->f->ins[i].op == OP_grid_barrier;
    info[0] = low_cint(L, 64, 1, L->nshared);
    info[1] = low_cint(L, 64, 1, L->nlocal);
    info[2] = low_cint(L, 32, 1, L->f->nparam);
    info[3] = low_cint(L, 32, 1, meets);
    L->fn = LLVMAddFunction(L->mod, L->f->name, LLVMFunctionType(void_type(L), par, 3, 0));
    low_host_attrs(L, L->fn);
    LLVMPositionBuilderAtEnd(L->b, low_block(L, "entry"));
    arg[0] = thread;
    arg[1] = kfiber_constant(L, "info", info, 4);
    for (unsigned i = 0; i < 3; i++)
        arg[2 + i] = LLVMGetParam(L->fn, i);
    low_runtime(L, "td_kfiber_do_block", void_type(L), arg, 5);
    LLVMBuildRetVoid(L->b);
}
