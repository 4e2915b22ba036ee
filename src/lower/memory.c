/* memory.c - loads, stores, pointers, slots, arrays of threads and blocks.
 *
 * A one-lane index names consecutive elements: one vector access.  An index with lanes is a
 * gather or scatter.  A CPU has masked instructions for both; a GPU does masked and scattered
 * accesses lane by lane, each behind a branch.
 */
#include "lower/emit.h"
#include "lower/host.h"

#include <stdio.h>
#include <string.h>

enum { AHEAD = 4 }; /* iterations between the prefetch of an element and its use */

low_access
low_access_of(const lowering *L, const td_inst *s, td_val mask)
{
    int size = (int)td_dtype_size((td_dtype)s->dt);
    low_access a = {.s = s, .lanes = s->lanes};

    a.elem = low_mem(L, (td_dtype)s->dt, 1);
    a.all = low_mem(L, (td_dtype)s->dt, s->lanes);
    a.base = L->val[s->arg[0].i];
    a.index = L->val[s->arg[1].i];
    a.mask = mask.i == UINT32_MAX ? NULL : L->val[mask.i];
    a.scattered = td_at(L->f, s->arg[1])->lanes > 1;
    a.align = s->imm ? (int)s->imm : size;
    if (a.scattered && a.align > size)
        a.align = size;
    return a;
}

static LLVMValueRef
element_address(lowering *L, const low_access *a, LLVMValueRef index)
{
    return LLVMBuildGEP2(L->b, a->elem, a->base, &index, 1, "");
}

/* PTX's names for an access to one element of type t: its type, and the register constraint's
 * letter.  False: it has none. */
static bool
ptx_type(LLVMTypeRef t, const char **type, char *letter)
{
    static const struct {
        const char *type;
        char letter;
    } ints[] = {{"u8", 'h'}, {"u16", 'h'}, {"u32", 'r'}, {"u64", 'l'}};
    int k;

    switch (LLVMGetTypeKind(t)) {
    case LLVMFloatTypeKind:  *type = "f32", *letter = 'f'; return true;
    case LLVMDoubleTypeKind: *type = "f64", *letter = 'd'; return true;
    case LLVMIntegerTypeKind:
        k = __builtin_ctz(LLVMGetIntTypeWidth(t) / 8);
        *type = ints[k].type, *letter = ints[k].letter;
        return true;
    default: return false;
    }
}

/* An access with a cache operator, as inline assembly: LLVM 19 has no instruction for it.  x:
 * the value to store; NULL: a load.  Returns NULL if this access can only be made without. */
static LLVMValueRef
with_cache(lowering *L, LLVMTypeRef t, LLVMValueRef p, LLVMValueRef x)
{
    unsigned space = LLVMGetPointerAddressSpace(LLVMTypeOf(p));
    LLVMTypeRef i64 = low_int(L, 64, 1), narrow = low_int(L, 16, 1), reg = t, fn;
    LLVMValueRef arg[2], asm_;
    const char *type;
    char letter, text[64], regs[32];
    bool byte = LLVMGetTypeKind(t) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(t) == 8;

    if (!L->cache || L->target != TD_TARGET_GPU || space > 1 || !ptx_type(t, &type, &letter))
        return NULL;
    reg = byte ? narrow : t;
    arg[0] = LLVMBuildPtrToInt(L->b, p, i64, "");
    arg[1] = x && byte ? LLVMBuildZExt(L->b, x, narrow, "") : x;
    snprintf(text, sizeof text, x ? "st%s.%s.%s [$0], $1;" : "ld%s.%s.%s $0, [$1];",
             space ? ".global" : "", td_cache_name(L->cache), type);
    if (x)
        snprintf(regs, sizeof regs, "l,%c,~{memory}", letter);
    else
        snprintf(regs, sizeof regs, "=%c,l,~{memory}", letter);
    fn = LLVMFunctionType(x ? LLVMVoidTypeInContext(L->cx) : reg, (LLVMTypeRef[]){i64, reg},
                          x ? 2 : 1, 0);
    asm_ = LLVMGetInlineAsm(fn, text, strlen(text), regs, strlen(regs), 1, 0,
                            LLVMInlineAsmDialectATT, 0);
    x = LLVMBuildCall2(L->b, fn, asm_, arg, x ? 2 : 1, "");
    return byte && LLVMTypeOf(x) == narrow ? LLVMBuildTrunc(L->b, x, t, "") : x;
}

static LLVMValueRef
load_at(lowering *L, LLVMTypeRef t, LLVMValueRef p, int align)
{
    LLVMValueRef v = with_cache(L, t, p, NULL);

    if (v)
        return v;
    v = LLVMBuildLoad2(L->b, t, p, "");
    LLVMSetAlignment(v, (unsigned)align);
    return v;
}

/* On a CPU "cs" stores past the caches, but only whole aligned vectors: LLVM would split
 * others. */
static void
store_at(lowering *L, LLVMValueRef v, LLVMValueRef p, int align)
{
    static const char name[] = "nontemporal";
    LLVMTypeRef t = LLVMTypeOf(v);
    LLVMMetadataRef one;
    LLVMValueRef st;

    if (with_cache(L, t, p, v))
        return;
    st = LLVMBuildStore(L->b, v, p);
    LLVMSetAlignment(st, (unsigned)align);
    if (L->cache != TD_CACHE_CS || L->target != TD_TARGET_CPU || align < 16 ||
        LLVMGetTypeKind(t) != LLVMVectorTypeKind)
        return;
    one = LLVMValueAsMetadata(low_cint(L, 32, 1, 1));
    LLVMSetMetadata(st, LLVMGetMDKindIDInContext(L->cx, name, sizeof name - 1),
                    LLVMMetadataAsValue(L->cx, LLVMMDNodeInContext2(L->cx, &one, 1)));
}

/* The address of one lane: from its own index, or `lane` elements after the first. */
LLVMValueRef
low_lane_address(lowering *L, const low_access *a, int lane)
{
    LLVMValueRef i;

    if (a->scattered)
        return element_address(L, a, low_lane(L, a->index, a->lanes, lane));
    i = low_cint(L, 64, 1, (unsigned)lane);
    return LLVMBuildGEP2(L->b, a->elem, element_address(L, a, a->index), &i, 1, "");
}

static int
lane_align(const low_access *a)
{
    int size = (int)td_dtype_size((td_dtype)a->s->dt);

    return a->align < size ? a->align : size;
}

void
low_open_guard(lowering *L, LLVMValueRef cond, LLVMBasicBlockRef *join)
{
    LLVMBasicBlockRef then = low_block(L, "lane");

    *join = low_block(L, "next");
    LLVMBuildCondBr(L->b, cond, then, *join);
    LLVMPositionBuilderAtEnd(L->b, then);
}

static LLVMValueRef
load_guarded(lowering *L, const low_access *a, int lane, LLVMValueRef cond)
{
    LLVMBasicBlockRef from[2], join;
    LLVMValueRef v[2], phi;

    from[0] = LLVMGetInsertBlock(L->b);
    v[0] = low_zero(a->elem);
    low_open_guard(L, cond, &join);
    v[1] = load_at(L, a->elem, low_lane_address(L, a, lane), lane_align(a));
    from[1] = LLVMGetInsertBlock(L->b);
    LLVMBuildBr(L->b, join);
    LLVMPositionBuilderAtEnd(L->b, join);
    phi = LLVMBuildPhi(L->b, a->elem, "");
    LLVMAddIncoming(phi, v, from, 2);
    return phi;
}

static LLVMValueRef
load_lanes(lowering *L, const low_access *a)
{
    LLVMValueRef v = LLVMGetPoison(a->all), x;

    for (int i = 0; i < a->lanes; i++) {
        x = a->mask ? load_guarded(L, a, i, low_lane(L, a->mask, a->lanes, i))
                    : load_at(L, a->elem, low_lane_address(L, a, i), lane_align(a));
        v = low_with_lane(L, v, x, a->lanes, i);
    }
    return v;
}

static void
store_lanes(lowering *L, const low_access *a, LLVMValueRef v)
{
    LLVMBasicBlockRef join = NULL;

    for (int i = 0; i < a->lanes; i++) {
        LLVMValueRef x = low_lane(L, v, a->lanes, i);

        if (a->mask)
            low_open_guard(L, low_lane(L, a->mask, a->lanes, i), &join);
        store_at(L, x, low_lane_address(L, a, i), lane_align(a));
        if (a->mask) {
            LLVMBuildBr(L->b, join);
            LLVMPositionBuilderAtEnd(L->b, join);
        }
    }
}

/* Usually all lanes of a GPU thread are on: it then takes the vector access. */
static LLVMValueRef
load_gpu(lowering *L, const low_access *a)
{
    LLVMBasicBlockRef whole = low_block(L, "whole"), part = low_block(L, "part"),
                      join = low_block(L, "join");
    LLVMTypeRef m = low_int(L, 1, a->lanes);
    LLVMBasicBlockRef from[2];
    LLVMValueRef v[2], phi, mask = a->mask;

    LLVMBuildCondBr(L->b, low_intrin(L, "llvm.vector.reduce.and", &m, 1, &mask, 1), whole, part);
    LLVMPositionBuilderAtEnd(L->b, whole);
    v[0] = load_at(L, a->all, element_address(L, a, a->index), a->align);
    from[0] = whole;
    LLVMBuildBr(L->b, join);
    LLVMPositionBuilderAtEnd(L->b, part);
    v[1] = load_lanes(L, a);
    from[1] = LLVMGetInsertBlock(L->b);
    LLVMBuildBr(L->b, join);
    LLVMPositionBuilderAtEnd(L->b, join);
    phi = LLVMBuildPhi(L->b, a->all, "");
    LLVMAddIncoming(phi, v, from, 2);
    return phi;
}

static void
store_gpu(lowering *L, const low_access *a, LLVMValueRef v)
{
    LLVMBasicBlockRef whole = low_block(L, "whole"), part = low_block(L, "part"),
                      join = low_block(L, "join");
    LLVMTypeRef m = low_int(L, 1, a->lanes);
    LLVMValueRef mask = a->mask;

    LLVMBuildCondBr(L->b, low_intrin(L, "llvm.vector.reduce.and", &m, 1, &mask, 1), whole, part);
    LLVMPositionBuilderAtEnd(L->b, whole);
    store_at(L, v, element_address(L, a, a->index), a->align);
    LLVMBuildBr(L->b, join);
    LLVMPositionBuilderAtEnd(L->b, part);
    store_lanes(L, a, v);
    LLVMBuildBr(L->b, join);
    LLVMPositionBuilderAtEnd(L->b, join);
}

static LLVMValueRef
all_on(lowering *L, const low_access *a)
{
    return a->mask ? a->mask : low_cint(L, 1, a->lanes, 1);
}

static LLVMValueRef
load_cpu(lowering *L, const low_access *a)
{
    LLVMValueRef p = element_address(L, a, a->index),
                 align = low_cint(L, 32, 1, (unsigned)a->align);
    LLVMTypeRef over[2] = {a->all, LLVMTypeOf(p)};

    return low_intrin(L, a->scattered ? "llvm.masked.gather" : "llvm.masked.load", over, 2,
                      (LLVMValueRef[]){p, align, all_on(L, a), low_zero(a->all)}, 4);
}

static void
store_cpu(lowering *L, const low_access *a, LLVMValueRef v)
{
    LLVMValueRef p = element_address(L, a, a->index),
                 align = low_cint(L, 32, 1, (unsigned)a->align);
    LLVMTypeRef over[2] = {a->all, LLVMTypeOf(p)};

    low_intrin(L, a->scattered ? "llvm.masked.scatter" : "llvm.masked.store", over, 2,
               (LLVMValueRef[]){v, p, align, all_on(L, a)}, 4);
}

/* ---- lanes whose elements lie near each other ---- */

enum {
    NEAR =
        8, /* vectors that the lanes' stretch of memory may have; beyond it single lanes are as fast */
    NEAR_NARROW =
        4, /* the same without AVX-512: a shuffle of two registers is then several instructions */
    LANES_MOST = 64,
    DEPTH = 10 /* of an index's expression */
};

/* offsets - where the lanes of an index are: known, or beyond a number that all lanes share. */
typedef struct offsets {
    bool known;
    int64_t at[LANES_MOST];
} offsets;

static bool
is_even(const offsets *o, int n)
{
    for (int i = 1; i < n; i++)
        if (o->at[i] != o->at[0])
            return false;
    return true;
}

/* a op b, lane by lane, into a.  False: the operation is none of these, or depends on what lanes share. */
static bool
join_offsets(td_op op, offsets *a, offsets *b, int n)
{
    bool known = a->known && b->known;
    int64_t *x = a->at, *y = b->at;

    if (op == OP_multiply &&
        !known) { /* what lanes share can only be multiplied with what they share, too */
        if ((b->known || !a->known) && !is_even(b, n))
            return false;
        if ((a->known || !b->known) && !is_even(a, n))
            return false;
        if (!a->known && !b->known)
            memset(x, 0, (size_t)n * sizeof *x);
    } else if ((op == OP_right_shift || op == OP_bitwise_and) && !known) {
        return false;
    }
    for (int i = 0; i < n; i++)
        switch (op) {
        case OP_add:         x[i] += y[i]; break;
        case OP_subtract:    x[i] -= y[i]; break;
        case OP_multiply:    x[i] *= y[i]; break;
        case OP_right_shift: x[i] >>= y[i]; break;
        case OP_bitwise_and: x[i] &= y[i]; break;
        default:             return false;
        }
    a->known = known;
    return true;
}

static bool
offsets_of(const td_fn *f, td_val index, int n, int depth, offsets *o)
{
    const td_inst *s = td_at(f, index);
    offsets b;

    if (s->op == OP_splat)
        s = td_at(f, s->arg[0]);
    o->known = s->op == OP_const || s->op == OP_iota;
    for (int i = 0; i < n; i++)
        o->at[i] = s->op == OP_const ? (int64_t)s->imm : s->op == OP_iota && s->lanes > 1 ? i : 0;
    if (s->lanes == 1 || s->op == OP_iota)
        return true;
    return depth && s->dt == TD_I64 && td_optab[s->op].arity == 2 &&
           offsets_of(f, s->arg[0], n, depth - 1, o) &&
           offsets_of(f, s->arg[1], n, depth - 1, &b) && join_offsets((td_op)s->op, o, &b, n);
}

/* Loads `span` elements from `first` on, and nothing beyond them, by vectors of at most n, and picks lane i from place[i]. */
static LLVMValueRef
load_span(lowering *L, const low_access *a, LLVMValueRef first, int span, const int *place)
{
    int n = a->lanes, width = span < n ? span : n, pieces = (span + n - 1) / n, lane[LANES_MOST];
    LLVMTypeRef t = low_mem(L, (td_dtype)a->s->dt, width);
    LLVMValueRef v = NULL, piece;

    for (int k = 0; k < pieces; k++) {
        int from = k * n < span - width ? k * n : span - width;
        LLVMValueRef at = LLVMBuildAdd(L->b, first, low_cint(L, 64, 1, (uint64_t)from), "");

        piece = load_at(L, t, element_address(L, a, at), a->align);
        if (width == 1)
            return low_splat(L, piece, n);
        for (int i = 0; i < n; i++)
            lane[i] = place[i] / n != k ? i : place[i] - from + (k ? n : 0);
        v = k ? low_pick(L, v, piece, lane, n)
              : low_pick(L, piece, LLVMGetPoison(LLVMTypeOf(piece)), lane, n);
    }
    return v;
}

/* On a CPU: a load whose lanes lie near each other, at distances that are known here.  NULL: this one is none. */
static LLVMValueRef
load_near(lowering *L, const low_access *a)
{
    int n = a->lanes, most = low_host()->vector_bytes == 64 ? NEAR : NEAR_NARROW, place[LANES_MOST];
    int64_t least = 0, last = 0;
    LLVMValueRef first;
    offsets o;

    if (L->target != TD_TARGET_CPU || !a->scattered || a->mask || n < 4 || n > LANES_MOST ||
        !offsets_of(L->f, a->s->arg[1], n, DEPTH, &o))
        return NULL;
    for (int i = 0; i < n; i++) {
        int64_t at = o.at[i] - o.at[0];

        least = at < least ? at : least;
        last = at > last ? at : last;
    }
    if (last - least >= (int64_t)most * n)
        return NULL;
    for (int i = 0; i < n; i++)
        place[i] = (int)(o.at[i] - o.at[0] - least);
    first =
        LLVMBuildAdd(L->b, low_lane(L, a->index, n, 0), low_cint(L, 64, 1, (uint64_t)least), "");
    return load_span(L, a, first, (int)(last - least) + 1, place);
}

/* Prefetches for a loop over the grid's stride: it jumps from page to page, which a CPU's
 * prefetcher does not follow. */
static void
look_ahead(lowering *L, const low_access *a)
{
    const low_region *r = NULL;
    LLVMTypeRef t = low_ptr(L, 0);
    LLVMValueRef far, arg[4];

    for (uint32_t d = L->depth; d-- > 0 && !r;)
        r = L->open[d].op == OP_for ? &L->open[d] : NULL;
    if (L->target != TD_TARGET_CPU || !L->f->optimise || !r || r->counter != a->index ||
        LLVMIsConstant(r->step))
        return;
    far = LLVMBuildMul(L->b, r->step, LLVMConstInt(LLVMTypeOf(r->step), AHEAD, 0), "");
    arg[0] = element_address(L, a, LLVMBuildAdd(L->b, a->index, far, ""));
    arg[1] = low_cint(L, 32, 1, 0);
    arg[2] = low_cint(L, 32, 1, 3);
    arg[3] = low_cint(L, 32, 1, 1);
    low_intrin(L, "llvm.prefetch", &t, 1, arg, 4);
}

LLVMValueRef
low_load(lowering *L, const td_inst *s)
{
    low_access a = low_access_of(L, s, s->arg[2]);
    LLVMValueRef v;

    L->cache = td_inst_cache(s);
    look_ahead(L, &a);
    if (!a.scattered && !a.mask)
        v = load_at(L, a.all, element_address(L, &a, a.index), a.align);
    else if (a.lanes == 1)
        v = load_lanes(L, &a);
    else if ((v = load_near(L, &a)))
        ;
    else if (L->target == TD_TARGET_CPU && !(a.scattered && !a.mask && low_host()->slow_gather))
        v = load_cpu(L, &a);
    else
        v = a.scattered ? load_lanes(L, &a) : load_gpu(L, &a);
    return s->dt == TD_BOOL ? low_icmp(L, LLVMIntNE, v, low_zero(a.all)) : v;
}

LLVMValueRef
low_store(lowering *L, const td_inst *s)
{
    low_access a = low_access_of(L, s, s->arg[3]);
    LLVMValueRef v = L->val[s->arg[2].i];

    L->cache = td_inst_cache(s);
    if (s->dt == TD_BOOL)
        v = LLVMBuildZExt(L->b, v, a.all, "");
    if (!a.scattered && !a.mask)
        store_at(L, v, element_address(L, &a, a.index), a.align);
    else if (a.lanes == 1)
        store_lanes(L, &a, v);
    else if (L->target == TD_TARGET_CPU)
        store_cpu(L, &a, v);
    else if (a.scattered)
        store_lanes(L, &a, v);
    else
        store_gpu(L, &a, v);
    return NULL;
}

LLVMValueRef
low_at_entry(lowering *L, LLVMTypeRef t, bool zeroed)
{
    LLVMBasicBlockRef here = LLVMGetInsertBlock(L->b);
    LLVMValueRef p;

    LLVMPositionBuilderAtEnd(L->b, L->entry);
    p = LLVMBuildAlloca(L->b, t, "");
    if (zeroed)
        LLVMBuildStore(L->b, low_zero(t), p);
    LLVMPositionBuilderAtEnd(L->b, here);
    return p;
}

LLVMValueRef
low_slot(lowering *L, const td_inst *s)
{
    return low_at_entry(L, low_type(L, (td_dtype)s->dt, s->lanes), true);
}

LLVMValueRef
low_get(lowering *L, const td_inst *s)
{
    return LLVMBuildLoad2(L->b, low_type(L, (td_dtype)s->dt, s->lanes), L->val[s->arg[0].i], "");
}

LLVMValueRef
low_set(lowering *L, const td_inst *s)
{
    LLVMBuildStore(L->b, L->val[s->arg[1].i], L->val[s->arg[0].i]);
    return NULL;
}

LLVMValueRef
low_shared(lowering *L, const td_inst *s)
{
    LLVMTypeRef t = LLVMArrayType2(low_mem(L, (td_dtype)s->dt, 1), s->imm);
    LLVMValueRef g;

    if (L->fiber)
        return low_kfiber_shared(L, s);
    if (L->target == TD_TARGET_CPU) {
        g = low_at_entry(L, t, false);
        LLVMSetAlignment(g, 64);
        return g;
    }
    g = LLVMAddGlobalInAddressSpace(L->mod, t, "shared", 3);
    LLVMSetLinkage(g, LLVMInternalLinkage);
    LLVMSetInitializer(g, LLVMGetUndef(t));
    LLVMSetAlignment(g, 16);
    return g;
}

LLVMValueRef
low_local(lowering *L, const td_inst *s)
{
    LLVMValueRef p = L->fiber ? low_kfiber_local(L, s) : NULL;

    if (p)
        return p;
    p = low_at_entry(L, LLVMArrayType2(low_mem(L, (td_dtype)s->dt, 1), s->imm), false);
    LLVMSetAlignment(p, 16);
    return p;
}

LLVMValueRef
low_dynamic(lowering *L, const td_inst *s)
{
    static const char name[] = "dynamic";
    LLVMTypeRef t = LLVMArrayType2(low_int(L, 8, 1), 0);
    LLVMValueRef g = LLVMGetNamedGlobal(L->mod, name);

    (void)s;
    if (L->fiber)
        return low_kfiber_dynamic(L);
    if (L->target == TD_TARGET_CPU)
        return low_runtime(L, "td_scratch", low_ptr(L, 0), NULL, 0);
    if (!g) {
        g = LLVMAddGlobalInAddressSpace(L->mod, t, name, 3);
        LLVMSetLinkage(g, LLVMExternalLinkage);
        LLVMSetAlignment(g, 16);
    }
    return g;
}

LLVMValueRef
low_at(lowering *L, const td_inst *s)
{
    LLVMValueRef i = L->val[s->arg[1].i];

    return LLVMBuildGEP2(L->b, low_int(L, 8, 1), L->val[s->arg[0].i], &i, 1, "");
}

LLVMValueRef
low_address(lowering *L, const td_inst *s)
{
    LLVMValueRef p = L->val[s->arg[0].i];

    if (LLVMGetPointerAddressSpace(LLVMTypeOf(p)))
        p = LLVMBuildAddrSpaceCast(L->b, p, low_ptr(L, 0), "");
    return LLVMBuildPtrToInt(L->b, p, low_int(L, 64, 1), "");
}

LLVMValueRef
low_pointer(lowering *L, const td_inst *s)
{
    return LLVMBuildIntToPtr(L->b, L->val[s->arg[0].i], low_ptr(L, 0), "");
}
