/* types.c - LLVM types of IR values, constants, and the builder calls that every file needs. */
#include "lower/emit.h"
#include "lower/host.h"

#include <string.h>

LLVMTypeRef
low_elem(const lowering *L, td_dtype dt)
{
    switch (dt) { /* no default: -Wswitch must see a new dtype */
    case TD_BOOL:        return LLVMInt1TypeInContext(L->cx);
    case TD_I8:
    case TD_U8:          return LLVMInt8TypeInContext(L->cx);
    case TD_I16:
    case TD_U16:
    case TD_F16:
    case TD_BF16:        return LLVMInt16TypeInContext(L->cx);
    case TD_I32:
    case TD_U32:         return LLVMInt32TypeInContext(L->cx);
    case TD_I64:
    case TD_U64:         return LLVMInt64TypeInContext(L->cx);
    case TD_F32:         return LLVMFloatTypeInContext(L->cx);
    case TD_F64:         return LLVMDoubleTypeInContext(L->cx);
    case TD_C64:         /* the IR handles components */
    case TD_C128:
    case TD_DTYPE_COUNT: break;
    }
    td_bug(__FILE__, __LINE__, "dtype");
}

static LLVMTypeRef
widen(LLVMTypeRef t, int lanes)
{
    return lanes == 1 ? t : LLVMVectorType(t, (unsigned)lanes);
}

LLVMTypeRef
low_type(const lowering *L, td_dtype dt, int lanes)
{
    return widen(low_elem(L, dt), lanes);
}

LLVMTypeRef
low_mem(const lowering *L, td_dtype dt, int lanes)
{
    return dt == TD_BOOL ? low_int(L, 8, lanes) : low_type(L, dt, lanes);
}

LLVMTypeRef
low_int(const lowering *L, unsigned bits, int lanes)
{
    return widen(LLVMIntTypeInContext(L->cx, bits), lanes);
}

LLVMTypeRef
low_ptr(const lowering *L, unsigned space)
{
    return LLVMPointerTypeInContext(L->cx, space);
}

static LLVMValueRef
repeat_constant(LLVMValueRef c, int lanes)
{
    LLVMValueRef all[64];

    if (lanes == 1)
        return c;
    for (int i = 0; i < lanes; i++)
        all[i] = c;
    return LLVMConstVector(all, (unsigned)lanes);
}

LLVMValueRef
low_cint(const lowering *L, unsigned bits, int lanes, uint64_t v)
{
    return repeat_constant(LLVMConstInt(LLVMIntTypeInContext(L->cx, bits), v, 0), lanes);
}

LLVMValueRef
low_cfp(const lowering *L, td_dtype dt, int lanes, double v)
{
    return LLVMConstReal(low_type(L, dt, lanes), v);
}

LLVMValueRef
low_zero(LLVMTypeRef t)
{
    return LLVMConstNull(t);
}

LLVMValueRef
low_pick(lowering *L, LLVMValueRef a, LLVMValueRef b, const int *lane, int n)
{
    LLVMValueRef mask[64];

    for (int i = 0; i < n; i++)
        mask[i] = low_cint(L, 32, 1, (unsigned)lane[i]);
    return LLVMBuildShuffleVector(L->b, a, b, LLVMConstVector(mask, (unsigned)n), "");
}

static LLVMValueRef
shuffle(lowering *L, LLVMValueRef v, const int *lane, int n)
{
    return low_pick(L, v, LLVMGetPoison(LLVMTypeOf(v)), lane, n);
}

LLVMValueRef
low_splat(lowering *L, LLVMValueRef v, int lanes)
{
    static const int zero[64];
    LLVMTypeRef t = widen(LLVMTypeOf(v), lanes);

    if (lanes == 1)
        return v;
    if (LLVMIsConstant(v))
        return repeat_constant(v, lanes);
    v = LLVMBuildInsertElement(L->b, LLVMGetPoison(t), v, low_cint(L, 32, 1, 0), "");
    return shuffle(L, v, zero, lanes);
}

LLVMValueRef
low_part(lowering *L, LLVMValueRef v, int lanes, int first, int count)
{
    int lane[64];

    if (count == 1)
        return low_lane(L, v, lanes, first);
    if (lanes == 1)
        return low_splat(L, v, count);
    for (int i = 0; i < count; i++)
        lane[i] = first + i < lanes ? first + i : lanes - 1;
    return shuffle(L, v, lane, count);
}

LLVMValueRef
low_lane(lowering *L, LLVMValueRef v, int lanes, int lane)
{
    return lanes == 1 ? v
                      : LLVMBuildExtractElement(L->b, v, low_cint(L, 32, 1, (unsigned)lane), "");
}

LLVMValueRef
low_with_lane(lowering *L, LLVMValueRef v, LLVMValueRef x, int lanes, int lane)
{
    return lanes == 1 ? x
                      : LLVMBuildInsertElement(L->b, v, x, low_cint(L, 32, 1, (unsigned)lane), "");
}

LLVMValueRef
low_intrin(lowering *L, const char *name, LLVMTypeRef *over, unsigned nover, LLVMValueRef *arg,
           unsigned narg)
{
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    LLVMValueRef fn;

    TD_ASSERT(id);
    fn = LLVMGetIntrinsicDeclaration(L->mod, id, over, nover);
    return LLVMBuildCall2(L->b, LLVMGlobalGetValueType(fn), fn, arg, narg, "");
}

LLVMValueRef
low_icmp(lowering *L, LLVMIntPredicate p, LLVMValueRef a, LLVMValueRef b)
{
    return LLVMBuildICmp(L->b, p, a, b, "");
}

LLVMValueRef
low_fcmp(lowering *L, LLVMRealPredicate p, LLVMValueRef a, LLVMValueRef b)
{
    return LLVMBuildFCmp(L->b, p, a, b, "");
}

LLVMValueRef
low_select(lowering *L, LLVMValueRef c, LLVMValueRef a, LLVMValueRef b)
{
    return LLVMBuildSelect(L->b, c, a, b, "");
}

LLVMValueRef
low_refuse(lowering *L, const td_inst *s, const char *why)
{
    L->st = td_fail(TD_ERR_JIT, "kernel %s: line %u: %s: %s", L->f->name, s->line,
                    td_optab[s->op].name, why);
    return td_optab[s->op].value ? LLVMGetPoison(low_type(L, (td_dtype)s->dt, s->lanes)) : NULL;
}

LLVMBasicBlockRef
low_block(lowering *L, const char *name)
{
    return LLVMAppendBasicBlockInContext(L->cx, L->fn, name);
}

void
low_attr(const lowering *L, LLVMValueRef fn, const char *name, uint64_t v)
{
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));

    TD_ASSERT(kind);
    LLVMAddAttributeAtIndex(fn, LLVMAttributeFunctionIndex,
                            LLVMCreateEnumAttribute(L->cx, kind, v));
}

void
low_attr_text(const lowering *L, LLVMValueRef fn, const char *name, const char *v)
{
    LLVMAddAttributeAtIndex(
        fn, LLVMAttributeFunctionIndex,
        LLVMCreateStringAttribute(L->cx, name, (unsigned)strlen(name), v, (unsigned)strlen(v)));
}

/* SVE's registers may have any multiple of 16 bytes; LLVM wants a power of two. */
static int
power_above(int n)
{
    int p = 1;

    while (p < n)
        p *= 2;
    return p;
}

void
low_host_attrs(const lowering *L, LLVMValueRef fn)
{
    const low_cpu *h = low_host();
    uint64_t blocks = (uint64_t)h->vector_bytes / 16; /* LLVM counts SVE's registers in these */

    low_attr(L, fn, "nounwind", 0);
    if (h->sve_bytes) /* from as many to as many; vectors of a fixed length up to the first are SVE's, too */
        low_attr(L, fn, "vscale_range", blocks << 32 | (uint64_t)power_above(h->sve_bytes) / 16);
    else if (h->vector_bytes == 64)
        low_attr_text(L, fn, "prefer-vector-width", "512");
    if (h->tune)
        low_attr_text(L, fn, "tune-cpu", h->tune);
}
