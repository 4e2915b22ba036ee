/* lanes.c - operations across lanes: many lanes to one, and lanes picked by indices known only at
 * run time.
 */
#include "lower/emit.h"
#include "lower/host.h"

static int
operand_lanes(const lowering *L, const td_inst *s)
{
    return td_at(L->f, s->arg[0])->lanes;
}

/* The lanes as bits of an integer: lane j is bit j. */
static LLVMValueRef
packed(lowering *L, const td_inst *s)
{
    return LLVMBuildBitCast(L->b, L->val[s->arg[0].i], low_int(L, (unsigned)operand_lanes(L, s), 1),
                            "");
}

LLVMValueRef
low_any(lowering *L, const td_inst *s)
{
    LLVMValueRef v = packed(L, s);

    return low_icmp(L, LLVMIntNE, v, low_zero(LLVMTypeOf(v)));
}

LLVMValueRef
low_all(lowering *L, const td_inst *s)
{
    LLVMValueRef v = packed(L, s);

    return low_icmp(L, LLVMIntEQ, v, LLVMConstAllOnes(LLVMTypeOf(v)));
}

LLVMValueRef
low_bits(lowering *L, const td_inst *s)
{
    return LLVMBuildZExt(L->b, packed(L, s), low_int(L, 64, 1), "");
}

LLVMValueRef
low_unbits(lowering *L, const td_inst *s)
{
    LLVMValueRef v = LLVMBuildTrunc(L->b, L->val[s->arg[0].i], low_int(L, s->lanes, 1), "");

    return LLVMBuildBitCast(L->b, v, low_type(L, TD_BOOL, s->lanes), "");
}

/* ---- permute ---- */

#if defined(__x86_64__)

/* The instruction that permutes one register by another: for 32-bit lanes, and 64-bit ones
 * with AVX-512. */
static const char *
instruction(unsigned bits)
{
    int bytes = low_host()->vector_bytes;

    if (bytes == 64)
        return bits == 64 ? "llvm.x86.avx512.permvar.di.512" : "llvm.x86.avx512.permvar.si.512";
    return bytes == 32 && bits == 32 ? "llvm.x86.avx2.permd" : NULL;
}

/* Picks lanes index[j] out of `count` registers.  Indices out of range give lanes that nobody
 * reads. */
static LLVMValueRef
registers(lowering *L, unsigned bits, int w, const LLVMValueRef *reg, int count, LLVMValueRef index)
{
    LLVMValueRef lo, hi, bit;

    if (count == 1)
        return low_intrin(L, instruction(bits), NULL, 0, (LLVMValueRef[]){reg[0], index}, 2);
    lo = registers(L, bits, w, reg, count / 2, index);
    hi = registers(L, bits, w, reg + count / 2, count / 2, index);
    bit = LLVMBuildAnd(L->b, index, low_cint(L, bits, w, (uint64_t)(w * count / 2)), "");
    return low_select(L, low_icmp(L, LLVMIntNE, bit, low_zero(LLVMTypeOf(bit))), hi, lo);
}

static bool
has_instruction(unsigned bits, int lanes)
{
    (void)lanes;
    return instruction(bits) != NULL;
}

/* v and index: lanes of `bits`, which `instruction` has.  Whole registers. */
static LLVMValueRef
by_register(lowering *L, unsigned bits, int lanes, LLVMValueRef v, LLVMValueRef index)
{
    int w = low_host()->vector_bytes * 8 / (int)bits, count = lanes > w ? lanes / w : 1;
    LLVMValueRef reg[64], out = LLVMGetPoison(LLVMTypeOf(v)), r;

    for (int k = 0; k < count; k++)
        reg[k] = low_part(L, v, lanes, k * w, w);
    if (count == 1)
        return low_part(L, registers(L, bits, w, reg, 1, low_part(L, index, lanes, 0, w)), w, 0,
                        lanes);
    for (int k = 0; k < count; k++) {
        r = registers(L, bits, w, reg, count, low_part(L, index, lanes, k * w, w));
        for (int i = 0; i < w; i++)
            out = low_with_lane(L, out, low_lane(L, r, w, i), lanes, k * w + i);
    }
    return out;
}

#else

enum { TABLE = 64 /* bytes among which TBL picks one: four registers */ };

static bool
has_instruction(unsigned bits, int lanes)
{
    return lanes * (int)bits / 8 <= TABLE;
}

/* TBL picks bytes: byte k of lane j is byte k of lane index[j].  Whole registers of 16 bytes. */
static LLVMValueRef
by_register(lowering *L, unsigned bits, int lanes, LLVMValueRef v, LLVMValueRef index)
{
    static const char *const name[] = {"llvm.aarch64.neon.tbl1", "llvm.aarch64.neon.tbl2",
                                       "llvm.aarch64.neon.tbl3", "llvm.aarch64.neon.tbl4"};
    int nbytes = lanes * (int)bits / 8, count = (nbytes + 15) / 16;
    uint64_t size = bits / 8, spread = UINT64_C(0x0101010101010101) * size;
    LLVMTypeRef reg = low_int(L, 8, 16);
    LLVMValueRef arg[5], out = LLVMGetPoison(low_int(L, 8, nbytes)), r;

    index = LLVMBuildMul(L->b, index, low_cint(L, bits, lanes, spread), "");
    index = LLVMBuildAdd(L->b, index, low_cint(L, bits, lanes, UINT64_C(0x0706050403020100)), "");
    index = LLVMBuildBitCast(L->b, index, low_int(L, 8, nbytes), "");
    r = LLVMBuildBitCast(L->b, v, low_int(L, 8, nbytes), "");
    for (int k = 0; k < count; k++)
        arg[k] = low_part(L, r, nbytes, 16 * k, 16);
    for (int k = 0; k < count; k++) {
        arg[count] = low_part(L, index, nbytes, 16 * k, 16);
        r = low_intrin(L, name[count - 1], &reg, 1, arg, (unsigned)count + 1);
        for (int i = 0; i < 16 && 16 * k + i < nbytes; i++)
            out = low_with_lane(L, out, low_lane(L, r, 16, i), nbytes, 16 * k + i);
    }
    return LLVMBuildBitCast(L->b, out, LLVMTypeOf(v), "");
}

#endif

/* Picks one lane after another through the stack. */
static LLVMValueRef
by_memory(lowering *L, int lanes, LLVMValueRef v, LLVMValueRef index)
{
    LLVMTypeRef t = LLVMTypeOf(v), elem = LLVMGetElementType(t);
    LLVMValueRef p = low_at_entry(L, t, false), out = LLVMGetPoison(t), i;

    LLVMBuildStore(L->b, v, p);
    for (int k = 0; k < lanes; k++) {
        i = low_lane(L, index, lanes, k);
        i = LLVMBuildLoad2(L->b, elem, LLVMBuildGEP2(L->b, elem, p, &i, 1, ""), "");
        out = low_with_lane(L, out, i, lanes, k);
    }
    return out;
}

LLVMValueRef
low_permute(lowering *L, const td_inst *s)
{
    td_dtype dt = (td_dtype)s->dt;
    unsigned own = dt == TD_BOOL ? 1 : 8 * (unsigned)td_dtype_size(dt), bits = own == 64 ? 64 : 32;
    LLVMTypeRef t = low_type(L, dt, s->lanes), wide = low_int(L, bits, s->lanes);
    LLVMValueRef v = L->val[s->arg[0].i], index = L->val[s->arg[1].i];

    if (s->lanes == 1)
        return v;
    v = LLVMBuildBitCast(L->b, v, low_int(L, own, s->lanes), "");
    v = LLVMBuildIntCast2(L->b, v, wide, 0, "");
    index = LLVMBuildIntCast2(L->b, index, wide, 0, "");
    index = LLVMBuildAnd(L->b, index, low_cint(L, bits, s->lanes, s->lanes - 1u), "");
    v = L->target == TD_TARGET_CPU && has_instruction(bits, s->lanes)
            ? by_register(L, bits, s->lanes, v, index)
            : by_memory(L, s->lanes, v, index);
    v = LLVMBuildIntCast2(L->b, v, low_int(L, own, s->lanes), 0, "");
    return LLVMBuildBitCast(L->b, v, t, "");
}
