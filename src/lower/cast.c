/* cast.c - NumPy's conversions between all real dtypes, total and rounding once, to nearest even.
 *
 * Half types are i16 values.  float16 goes through LLVM's `half` where the machine converts it (a
 * GPU, or a CPU with such instructions), else through integer arithmetic: without it LLVM calls compiler-rt.
 */
#include "lower/emit.h"
#include "lower/host.h"

static unsigned
dtype_bits(td_dtype dt)
{
    return dt == TD_BOOL ? 1 : 8 * (unsigned)td_dtype_size(dt);
}

static LLVMValueRef
as_int(lowering *L, LLVMValueRef v, unsigned bits, int lanes)
{
    return LLVMBuildBitCast(L->b, v, low_int(L, bits, lanes), "");
}

static LLVMValueRef
and_bits(lowering *L, LLVMValueRef v, unsigned bits, int lanes, uint64_t mask)
{
    return LLVMBuildAnd(L->b, v, low_cint(L, bits, lanes, mask), "");
}

/* ---- half types ---- */

static bool
has_half(const lowering *L)
{
    return L->target == TD_TARGET_GPU || low_host()->half;
}

/* Adds to the bits to move the exponent; subtracting 2^-14 normalises subnormals. */
static LLVMValueRef
half_to_float_soft(lowering *L, LLVMValueRef h, int n)
{
    LLVMTypeRef i32 = low_int(L, 32, n), f32 = low_type(L, TD_F32, n);
    LLVMValueRef w = LLVMBuildZExt(L->b, h, i32, ""), sign, exp, o, sub;

    sign = LLVMBuildShl(L->b, and_bits(L, w, 32, n, 0x8000), low_cint(L, 32, n, 16), "");
    o = LLVMBuildShl(L->b, and_bits(L, w, 32, n, 0x7fff), low_cint(L, 32, n, 13), "");
    exp = and_bits(L, o, 32, n, 0x0f800000);
    o = LLVMBuildAdd(L->b, o, low_cint(L, 32, n, (127 - 15) << 23), "");
    sub = LLVMBuildAdd(L->b, o, low_cint(L, 32, n, 1 << 23), "");
    sub = LLVMBuildFSub(L->b, LLVMBuildBitCast(L->b, sub, f32, ""), low_cfp(L, TD_F32, n, 0x1p-14),
                        "");
    o = low_select(L, low_icmp(L, LLVMIntEQ, exp, low_cint(L, 32, n, 0x0f800000)),
                   LLVMBuildAdd(L->b, o, low_cint(L, 32, n, (128 - 16) << 23), ""), o);
    o = low_select(L, low_icmp(L, LLVMIntEQ, exp, low_zero(i32)), as_int(L, sub, 32, n), o);
    return LLVMBuildBitCast(L->b, LLVMBuildOr(L->b, o, sign, ""), f32, "");
}

/* Normal numbers are rounded by adding to the bits; subnormals by a float addition whose last
 * bit is the half's. */
static LLVMValueRef
float_to_half_soft(lowering *L, LLVMValueRef v, int n)
{
    LLVMTypeRef f32 = low_type(L, TD_F32, n);
    LLVMValueRef w = as_int(L, v, 32, n), u = and_bits(L, w, 32, n, 0x7fffffff), odd, norm, sub,
                 big, sign;

    odd = and_bits(L, LLVMBuildLShr(L->b, u, low_cint(L, 32, n, 13), ""), 32, n, 1);
    norm = LLVMBuildAdd(L->b, u, low_cint(L, 32, n, ((uint32_t)(15 - 127) << 23) + 0xfff), "");
    norm = LLVMBuildLShr(L->b, LLVMBuildAdd(L->b, norm, odd, ""), low_cint(L, 32, n, 13), "");
    sub = LLVMBuildFAdd(L->b, LLVMBuildBitCast(L->b, u, f32, ""), low_cfp(L, TD_F32, n, 0.5), "");
    sub = LLVMBuildSub(L->b, as_int(L, sub, 32, n), low_cint(L, 32, n, 0x3f000000), "");
    big = low_select(L, low_icmp(L, LLVMIntUGT, u, low_cint(L, 32, n, 0x7f800000)),
                     low_cint(L, 32, n, 0x7e00), low_cint(L, 32, n, 0x7c00));
    norm = low_select(L, low_icmp(L, LLVMIntULT, u, low_cint(L, 32, n, 0x38800000)), sub, norm);
    norm = low_select(L, low_icmp(L, LLVMIntUGE, u, low_cint(L, 32, n, 0x47800000)), big, norm);
    sign = and_bits(L, LLVMBuildLShr(L->b, w, low_cint(L, 32, n, 16), ""), 32, n, 0x8000);
    return LLVMBuildTrunc(L->b, LLVMBuildOr(L->b, norm, sign, ""), low_int(L, 16, n), "");
}

static LLVMTypeRef
half_type(const lowering *L, int n)
{
    LLVMTypeRef t = LLVMHalfTypeInContext(L->cx);

    return n == 1 ? t : LLVMVectorType(t, (unsigned)n);
}

static LLVMValueRef
half_to_float(lowering *L, LLVMValueRef v, td_dtype from, int n)
{
    if (from == TD_BF16) {
        v = LLVMBuildShl(L->b, LLVMBuildZExt(L->b, v, low_int(L, 32, n), ""),
                         low_cint(L, 32, n, 16), "");
        return LLVMBuildBitCast(L->b, v, low_type(L, TD_F32, n), "");
    }
    if (!has_half(L))
        return half_to_float_soft(L, v, n);
    v = LLVMBuildBitCast(L->b, v, half_type(L, n), "");
    return LLVMBuildFPExt(L->b, v, low_type(L, TD_F32, n), "");
}

static LLVMValueRef
float_to_bfloat(lowering *L, LLVMValueRef v, int n)
{
    LLVMValueRef u = as_int(L, v, 32, n), top = LLVMBuildLShr(L->b, u, low_cint(L, 32, n, 16), ""),
                 r;

    r = LLVMBuildAdd(L->b, and_bits(L, top, 32, n, 1), low_cint(L, 32, n, 0x7fff), "");
    r = LLVMBuildLShr(L->b, LLVMBuildAdd(L->b, u, r, ""), low_cint(L, 32, n, 16), "");
    r = low_select(L, low_fcmp(L, LLVMRealUNO, v, v),
                   LLVMBuildOr(L->b, top, low_cint(L, 32, n, 0x40), ""), r);
    return LLVMBuildTrunc(L->b, r, low_int(L, 16, n), "");
}

static LLVMValueRef
float_to_half(lowering *L, LLVMValueRef v, td_dtype to, int n)
{
    if (to == TD_BF16)
        return float_to_bfloat(L, v, n);
    if (!has_half(L))
        return float_to_half_soft(L, v, n);
    return as_int(L, LLVMBuildFPTrunc(L->b, v, half_type(L, n), ""), 16, n);
}

/* Converts float64 to a float32 rounded to odd: truncated, with the last bit set if anything
 * was lost.  A second rounding, to fewer bits, then gives the same result as rounding once. */
static LLVMValueRef
to_odd_float(lowering *L, LLVMValueRef v, int n)
{
    LLVMTypeRef f32 = low_type(L, TD_F32, n), f64 = low_type(L, TD_F64, n), i32 = low_int(L, 32, n);
    LLVMValueRef t = LLVMBuildFPTrunc(L->b, v, f32, ""), back = LLVMBuildFPExt(L->b, t, f64, ""), u,
                 up, lost;
    LLVMValueRef a, b;

    a = low_intrin(L, "llvm.fabs", &f64, 1, &back, 1);
    b = low_intrin(L, "llvm.fabs", &f64, 1, &v, 1);
    up = LLVMBuildZExt(L->b, low_fcmp(L, LLVMRealOGT, a, b), i32, "");
    lost = LLVMBuildZExt(L->b, low_fcmp(L, LLVMRealONE, back, v), i32, "");
    u = LLVMBuildSub(L->b, as_int(L, t, 32, n), up, "");
    return LLVMBuildBitCast(L->b, LLVMBuildOr(L->b, u, lost, ""), f32, "");
}

/* Gathers the low 12 bits of a 64-bit integer into one, so that float64 holds it, rounded to
 * odd.  Needed from 2^53 on; smaller integers fit exactly. */
static LLVMValueRef
to_odd_int(lowering *L, LLVMValueRef v, td_dtype from, int n)
{
    LLVMValueRef low = and_bits(L, v, 64, n, 0xfff), top = and_bits(L, v, 64, n, ~UINT64_C(0xfff));
    LLVMValueRef size = v, odd;

    if (from == TD_I64)
        size = LLVMBuildXor(L->b, v, LLVMBuildAShr(L->b, v, low_cint(L, 64, n, 63), ""), "");
    odd = low_select(L, low_icmp(L, LLVMIntEQ, low, low_zero(LLVMTypeOf(v))), top,
                     LLVMBuildOr(L->b, top, low_cint(L, 64, n, 0x1000), ""));
    return low_select(L, low_icmp(L, LLVMIntULT, size, low_cint(L, 64, n, UINT64_C(1) << 53)), v,
                      odd);
}

/* float32 holds every integer in float16's range, but not all in bfloat16's. */
static LLVMValueRef
to_half(lowering *L, LLVMValueRef v, td_dtype from, td_dtype to, int n)
{
    if (td_dtype_is_int(from) && dtype_bits(from) >= 32 && to == TD_BF16) {
        if (dtype_bits(from) == 64)
            v = to_odd_int(L, v, from, n);
        v = low_cast(L, v, from, TD_F64, n);
        from = TD_F64;
    }
    if (from != TD_F64)
        return float_to_half(L, low_cast(L, v, from, TD_F32, n), to, n);
    if (to == TD_F16 && L->target == TD_TARGET_GPU)
        return as_int(L, LLVMBuildFPTrunc(L->b, v, half_type(L, n), ""), 16, n);
    return float_to_half(L, to_odd_float(L, v, n), to, n);
}

/* ---- float to integer ---- */

/* fptosi where the value fits, else the minimum, like x86's 32-bit and 64-bit instructions. */
static LLVMValueRef
convert_to_int(lowering *L, LLVMValueRef v, td_dtype from, unsigned bits, int n)
{
    double edge = bits == 32 ? 0x1p31 : 0x1p63;
    bool below = bits == 32 && from == TD_F64; /* -2^31 - 0.5 still truncates to -2^31 */
    LLVMValueRef lo = low_cfp(L, from, n, below ? -edge - 1 : -edge),
                 hi = low_cfp(L, from, n, edge), ok;

    ok = LLVMBuildAnd(L->b, low_fcmp(L, below ? LLVMRealOGT : LLVMRealOGE, v, lo),
                      low_fcmp(L, LLVMRealOLT, v, hi), "");
    return low_select(L, ok, LLVMBuildFPToSI(L->b, v, low_int(L, bits, n), ""),
                      low_cint(L, bits, n, UINT64_C(1) << (bits - 1)));
}

static LLVMValueRef
to_u64(lowering *L, LLVMValueRef v, td_dtype from, int n)
{
    LLVMValueRef edge = low_cfp(L, from, n, 0x1p63), big = low_fcmp(L, LLVMRealOGE, v, edge), r;

    v = low_select(L, big, LLVMBuildFSub(L->b, v, edge, ""), v);
    r = convert_to_int(L, v, from, 64, n);
    return LLVMBuildXor(
        L->b, r, low_select(L, big, low_cint(L, 64, n, UINT64_C(1) << 63), low_cint(L, 64, n, 0)),
        "");
}

static LLVMValueRef
float_to_int(lowering *L, LLVMValueRef v, td_dtype from, td_dtype to, int n)
{
    unsigned bits = dtype_bits(to), wide = bits == 64 || to == TD_U32 ? 64 : 32;

    if (to == TD_U64)
        return to_u64(L, v, from, n);
    v = convert_to_int(L, v, from, wide, n);
    return bits < wide ? LLVMBuildTrunc(L->b, v, low_int(L, bits, n), "") : v;
}

/* ---- all casts ---- */

static LLVMValueRef
from_float(lowering *L, LLVMValueRef v, td_dtype from, td_dtype to, int n)
{
    if (to == TD_BOOL)
        return low_fcmp(L, LLVMRealUNE, v, low_zero(LLVMTypeOf(v)));
    if (!td_dtype_is_float(to))
        return float_to_int(L, v, from, to, n);
    return to == TD_F64 ? LLVMBuildFPExt(L->b, v, low_type(L, to, n), "")
                        : LLVMBuildFPTrunc(L->b, v, low_type(L, to, n), "");
}

/* LLVM makes two conversions of one that NEON lacks, from 64-bit integers by way of float64, and rounds twice. */
static bool
rounds_twice(const lowering *L, td_dtype from, td_dtype to, int n)
{
#if defined(__aarch64__)
    return L->target == TD_TARGET_CPU && n > 1 && to == TD_F32 && dtype_bits(from) == 64;
#else
    (void)L, (void)from, (void)to, (void)n;
    return false;
#endif
}

static LLVMValueRef
from_int(lowering *L, LLVMValueRef v, td_dtype from, td_dtype to, int n)
{
    LLVMTypeRef t = low_type(L, to, n);
    bool sign = td_dtype_kind(from) == 'i';

    if (to == TD_BOOL)
        return low_icmp(L, LLVMIntNE, v, low_zero(LLVMTypeOf(v)));
    if (rounds_twice(L, from, to, n)) {
        v = low_cast(L, to_odd_int(L, v, from, n), from, TD_F64, n);
        return LLVMBuildFPTrunc(L->b, v, t, "");
    }
    if (td_dtype_is_float(to))
        return sign ? LLVMBuildSIToFP(L->b, v, t, "") : LLVMBuildUIToFP(L->b, v, t, "");
    if (dtype_bits(to) < dtype_bits(from))
        return LLVMBuildTrunc(L->b, v, t, "");
    if (dtype_bits(to) == dtype_bits(from))
        return v;
    return sign ? LLVMBuildSExt(L->b, v, t, "") : LLVMBuildZExt(L->b, v, t, "");
}

LLVMValueRef
low_cast(lowering *L, LLVMValueRef v, td_dtype from, td_dtype to, int lanes)
{
    if (from == to)
        return v;
    if (td_dtype_is_half(to))
        return to_half(L, v, from, to, lanes);
    if (td_dtype_is_half(from)) {
        v = half_to_float(L, v, from, lanes);
        from = TD_F32;
        if (to == TD_F32)
            return v;
    }
    return td_dtype_is_float(from) ? from_float(L, v, from, to, lanes)
                                   : from_int(L, v, from, to, lanes);
}
