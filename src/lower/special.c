/* special.c - the SPECIAL rows: operations whose total meaning takes more than one instruction.
 *
 * LLVM leaves a division by zero, MIN / -1 and oversize shifts undefined or poison, so operands are
 * made harmless first; a `select` drops the poison of the side it does not take.
 */
#include "lower/emit.h"
#include "lower/host.h"

static unsigned
width(td_dtype dt)
{
    return 8 * (unsigned)td_dtype_size(dt);
}

static bool
is_signed(td_dtype dt)
{
    return td_dtype_kind(dt) == 'i';
}

/* ---- integer division ---- */

/* The divisor, or 1 where it is 0 or, for signed numbers, -1.  Then the remainder is 0 in both
 * cases, as it should be; the caller corrects the quotient. */
static LLVMValueRef
harmless(lowering *L, td_dtype dt, int lanes, LLVMValueRef y)
{
    LLVMValueRef one = low_cint(L, width(dt), lanes, 1), bad;

    if (!is_signed(dt))
        return low_select(L, low_icmp(L, LLVMIntEQ, y, low_zero(LLVMTypeOf(y))), one, y);
    bad = low_icmp(L, LLVMIntULT, LLVMBuildAdd(L->b, y, one, ""), low_cint(L, width(dt), lanes, 2));
    return low_select(L, bad, one, y);
}

/* No CPU divides integer vectors.  Exact quotients that are not integers differ from the next
 * integer by at least 1 / (x + y) relative, so the rounded float quotient truncates correctly
 * if the float has two bits more than the integers: float32 for 8 and 16 bits, float64 for 32. */
static bool
divides_in_float(const lowering *L, td_dtype dt, int lanes)
{
    return L->target == TD_TARGET_CPU && lanes > 1 && width(dt) <= 32;
}

static LLVMValueRef
int_quotient(lowering *L, td_dtype dt, int lanes, LLVMValueRef x, LLVMValueRef d)
{
    td_dtype via = width(dt) < 32 ? TD_F32 : TD_F64;
    LLVMTypeRef own = LLVMTypeOf(x);

    if (divides_in_float(L, dt, lanes)) {
        x = LLVMBuildFDiv(L->b, low_cast(L, x, dt, via, lanes), low_cast(L, d, dt, via, lanes), "");
        return is_signed(dt) ? LLVMBuildFPToSI(L->b, x, own, "")
                             : LLVMBuildFPToUI(L->b, x, own, "");
    }
    return is_signed(dt) ? LLVMBuildSDiv(L->b, x, d, "") : LLVMBuildUDiv(L->b, x, d, "");
}

LLVMValueRef
low_special_truncate_divide(lowering *L, td_dtype dt, int lanes, const LLVMValueRef *x)
{
    LLVMValueRef zero = low_zero(LLVMTypeOf(x[0])), q, d = harmless(L, dt, lanes, x[1]);

    q = int_quotient(L, dt, lanes, x[0], d);
    if (is_signed(dt)) {
        LLVMValueRef minus = low_cint(L, width(dt), lanes, UINT64_MAX);

        q = low_select(L, low_icmp(L, LLVMIntEQ, x[1], minus), LLVMBuildNeg(L->b, x[0], ""), q);
    }
    return low_select(L, low_icmp(L, LLVMIntEQ, x[1], zero), zero, q);
}

static LLVMValueRef
int_fmod(lowering *L, td_dtype dt, int lanes, const LLVMValueRef *x)
{
    LLVMValueRef d = harmless(L, dt, lanes, x[1]);

    if (divides_in_float(L, dt, lanes))
        return LLVMBuildSub(L->b, x[0],
                            LLVMBuildMul(L->b, int_quotient(L, dt, lanes, x[0], d), d, ""), "");
    return is_signed(dt) ? LLVMBuildSRem(L->b, x[0], d, "") : LLVMBuildURem(L->b, x[0], d, "");
}

/* ---- fmod ---- */

static LLVMValueRef
float_fn(lowering *L, const char *name, td_dtype dt, int lanes, LLVMValueRef *x, unsigned n)
{
    LLVMTypeRef t = low_type(L, dt, lanes);

    return low_intrin(L, name, &t, 1, x, n);
}

/* q = trunc(x / y) is the true quotient n, or n + 1 if the division rounded up to an integer.
 * x - q y is a multiple of y's last bit and no larger than y, so the fused operation gives it
 * exactly; so is the sum with y that corrects n + 1. *ok: where that holds. */
static LLVMValueRef
quick_fmod(lowering *L, td_dtype dt, int lanes, LLVMValueRef x, LLVMValueRef y, LLVMValueRef *ok)
{
    LLVMValueRef ax = float_fn(L, "llvm.fabs", dt, lanes, &x, 1),
                 ay = float_fn(L, "llvm.fabs", dt, lanes, &y, 1);
    LLVMValueRef q = LLVMBuildFDiv(L->b, ax, ay, ""), zero = low_zero(LLVMTypeOf(x)), r;

    /* Holds up to half the range in which n + 1 is exact.  An infinite y, a zero y and NaN
     * take the slow way. */
    *ok = LLVMBuildAnd(
        L->b, low_fcmp(L, LLVMRealOLT, q, low_cfp(L, dt, lanes, dt == TD_F32 ? 0x1p23 : 0x1p52)),
        low_fcmp(L, LLVMRealOLT, ay, low_cfp(L, dt, lanes, dt == TD_F32 ? 0x1p127 : 0x1p1023)), "");
    q = float_fn(L, "llvm.trunc", dt, lanes, &q, 1);
    r = float_fn(L, "llvm.fma", dt, lanes, (LLVMValueRef[]){LLVMBuildFNeg(L->b, q, ""), ay, ax}, 3);
    r = low_select(L, low_fcmp(L, LLVMRealOLT, r, zero), LLVMBuildFAdd(L->b, r, ay, ""), r);
    return float_fn(L, "llvm.copysign", dt, lanes, (LLVMValueRef[]){r, x}, 2);
}

static LLVMValueRef
host_fmod(lowering *L, td_dtype dt, int lanes, const LLVMValueRef *x)
{
    const char *name = dt == TD_F32 ? "fmodf" : "fmod";
    LLVMBasicBlockRef slow, join, from[2];
    LLVMTypeRef m = low_int(L, 1, lanes);
    LLVMValueRef v[2], ok, phi;

    if (lanes == 1 || !low_host()->fma)
        return low_call_lanes(L, name, 2, dt, lanes, x);
    v[0] = quick_fmod(L, dt, lanes, x[0], x[1], &ok);
    slow = low_block(L, "fmod");
    join = low_block(L, "join");
    from[0] = LLVMGetInsertBlock(L->b);
    LLVMBuildCondBr(L->b, low_intrin(L, "llvm.vector.reduce.and", &m, 1, &ok, 1), join, slow);
    LLVMPositionBuilderAtEnd(L->b, slow);
    v[1] = low_call_lanes(L, name, 2, dt, lanes, x);
    from[1] = LLVMGetInsertBlock(L->b);
    LLVMBuildBr(L->b, join);
    LLVMPositionBuilderAtEnd(L->b, join);
    phi = LLVMBuildPhi(L->b, LLVMTypeOf(x[0]), "");
    LLVMAddIncoming(phi, v, from, 2);
    return phi;
}

LLVMValueRef
low_special_fmod(lowering *L, td_dtype dt, int lanes, const LLVMValueRef *x)
{
    if (!td_dtype_is_float(dt))
        return int_fmod(L, dt, lanes, x);
    return L->target == TD_TARGET_CPU
               ? host_fmod(L, dt, lanes, x)
               : low_call_lanes(L, dt == TD_F32 ? "__nv_fmodf" : "__nv_fmod", 2, dt, lanes, x);
}

/* ---- bits ---- */

LLVMValueRef
low_special_signbit(lowering *L, td_dtype dt, int lanes, const LLVMValueRef *x)
{
    LLVMTypeRef t = low_int(L, width(dt), lanes);

    return low_icmp(L, LLVMIntSLT, LLVMBuildBitCast(L->b, x[0], t, ""), low_zero(t));
}

LLVMValueRef
low_special_left_shift(lowering *L, td_dtype dt, int lanes, const LLVMValueRef *x)
{
    LLVMValueRef fits = low_icmp(L, LLVMIntULT, x[1], low_cint(L, width(dt), lanes, width(dt)));

    return low_select(L, fits, LLVMBuildShl(L->b, x[0], x[1], ""), low_zero(LLVMTypeOf(x[0])));
}

LLVMValueRef
low_special_right_shift(lowering *L, td_dtype dt, int lanes, const LLVMValueRef *x)
{
    LLVMValueRef fits = low_icmp(L, LLVMIntULT, x[1], low_cint(L, width(dt), lanes, width(dt)));

    if (!is_signed(dt))
        return low_select(L, fits, LLVMBuildLShr(L->b, x[0], x[1], ""), low_zero(LLVMTypeOf(x[0])));
    return LLVMBuildAShr(
        L->b, x[0], low_select(L, fits, x[1], low_cint(L, width(dt), lanes, width(dt) - 1)), "");
}

LLVMValueRef
low_special_leading_zeros(lowering *L, td_dtype dt, int lanes, const LLVMValueRef *x)
{
    LLVMTypeRef t = low_type(L, dt, lanes);

    return low_intrin(L, "llvm.ctlz", &t, 1, (LLVMValueRef[]){x[0], low_cint(L, 1, 1, 0)}, 2);
}

LLVMValueRef
low_special_mulhi(lowering *L, td_dtype dt, int lanes, const LLVMValueRef *x)
{
    unsigned w = width(dt);
    LLVMTypeRef wide = low_int(L, 2 * w, lanes);
    LLVMValueRef p = LLVMBuildMul(L->b, LLVMBuildZExt(L->b, x[0], wide, ""),
                                  LLVMBuildZExt(L->b, x[1], wide, ""), "");

    return LLVMBuildTrunc(L->b, LLVMBuildLShr(L->b, p, low_cint(L, 2 * w, lanes, w), ""),
                          LLVMTypeOf(x[0]), "");
}

/* ---- extremes ---- */

#if defined(__x86_64__)

/* x86's instruction for a > b ? a : b (or a < b ? a : b) on that many lanes; NULL: there is none. */
static const char *
extreme_name(bool most, td_dtype dt, int lanes)
{
    static const char *const names[2][2][3] = {
        {{"llvm.x86.sse.min.ps", "llvm.x86.avx.min.ps.256", "llvm.x86.avx512.min.ps.512"},
         {"llvm.x86.sse2.min.pd", "llvm.x86.avx.min.pd.256", "llvm.x86.avx512.min.pd.512"}},
        {{"llvm.x86.sse.max.ps", "llvm.x86.avx.max.ps.256", "llvm.x86.avx512.max.ps.512"},
         {"llvm.x86.sse2.max.pd", "llvm.x86.avx.max.pd.256", "llvm.x86.avx512.max.pd.512"}}};
    int bytes = lanes * (int)td_dtype_size(dt);

    return bytes == 16   ? names[most][dt == TD_F64][0]
           : bytes == 32 ? names[most][dt == TD_F64][1]
           : bytes == 64 ? names[most][dt == TD_F64][2]
                         : NULL;
}

/* a > b ? a : b, or a < b ? a : b, by the processor's instruction.  LLVM takes it only for scalars: it joins the choice between
 * vectors with the one round it, for NaN, and compares twice. */
static LLVMValueRef
extreme(lowering *L, bool most, td_dtype dt, int lanes, LLVMValueRef a, LLVMValueRef b)
{
    int all = low_host()->vector_bytes / (int)td_dtype_size(dt), w = lanes < all ? lanes : all;
    const char *name = extreme_name(most, dt, w);
    LLVMValueRef v = LLVMGetPoison(LLVMTypeOf(a)), part, x[3];
    int lane[64];

    if (!name || lanes % w || (lanes > w && w == 1))
        return NULL;
    x[2] = low_cint(L, 32, 1, 4); /* AVX-512: rounding as usual */
    for (int i = 0; i < lanes; i += w) {
        x[0] = lanes == w ? a : low_part(L, a, lanes, i, w);
        x[1] = lanes == w ? b : low_part(L, b, lanes, i, w);
        part = low_intrin(L, name, NULL, 0, x, w * (int)td_dtype_size(dt) == 64 ? 3 : 2);
        if (lanes == w)
            return part;
        for (int k = 0; k < lanes; k++)
            lane[k] = k < i || k >= i + w ? k : lanes + k - i;
        v = low_pick(L, v, low_part(L, part, w, 0, lanes), lane, lanes);
    }
    return v;
}

/* Does the select choose between what its condition compares? */
static LLVMValueRef
as_extreme(lowering *L, td_dtype dt, int lanes, const LLVMValueRef *x)
{
    LLVMRealPredicate p;

    if (L->target != TD_TARGET_CPU || lanes == 1 || (dt != TD_F32 && dt != TD_F64) ||
        !LLVMIsAFCmpInst(x[0]) || LLVMGetOperand(x[0], 0) != x[1] ||
        LLVMGetOperand(x[0], 1) != x[2])
        return NULL;
    p = LLVMGetFCmpPredicate(x[0]);
    if (p != LLVMRealOGT && p != LLVMRealOLT)
        return NULL;
    return extreme(L, p == LLVMRealOGT, dt, lanes, x[1], x[2]);
}

#else

static LLVMValueRef
as_extreme(lowering *L, td_dtype dt, int lanes, const LLVMValueRef *x)
{
    (void)L, (void)dt, (void)lanes, (void)x;
    return NULL;
}

#endif

LLVMValueRef
low_special_select(lowering *L, td_dtype dt, int lanes, const LLVMValueRef *x)
{
    LLVMValueRef v = as_extreme(L, dt, lanes, x);

    return v ? v : low_select(L, x[0], x[1], x[2]);
}
