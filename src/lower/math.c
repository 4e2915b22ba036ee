/* math.c - the MATH rows.
 *
 * On a CPU the code calls libmvec's vector functions.  It cuts a vector that is wider than the
 * register, and pads a narrower one by repeating its last lane, so that an element's value does
 * not depend on its position.  For a function that libmvec lacks it calls libm lane by lane.  A
 * float32 function of libmvec that is off by more than two units in the last place is computed in
 * float64.
 * On a GPU the code calls libdevice's functions; ptx.c links their bitcode.
 */
#include "lower/emit.h"
#include "lower/host.h"

#include <stdio.h>
#include <string.h>

static LLVMValueRef
declare_math(lowering *L, const char *name, LLVMTypeRef t, int arity)
{
    LLVMTypeRef arg[2] = {t, t};
    LLVMValueRef fn = LLVMGetNamedFunction(L->mod, name);

    if (fn)
        return fn;
    fn = LLVMAddFunction(L->mod, name, LLVMFunctionType(t, arg, (unsigned)arity, 0));
    low_attr(L, fn, "nounwind", 0);
    if (L->f->libm) /* LLVM would make pow(x, 2.0) a product, which rounds otherwise */
        low_attr(L, fn, "nobuiltin", 0);
    if (L->target == TD_TARGET_CPU) { /* on a GPU, linking its body sets them */
        low_attr(L, fn, "willreturn", 0);
        low_attr(L, fn, "memory", 0);
    }
    return fn;
}

static LLVMValueRef
call_math(lowering *L, const char *name, LLVMTypeRef t, int arity, LLVMValueRef *x)
{
    LLVMValueRef fn = declare_math(L, name, t, arity);

    return LLVMBuildCall2(L->b, LLVMGlobalGetValueType(fn), fn, x, (unsigned)arity, "");
}

LLVMValueRef
low_call_lanes(lowering *L, const char *name, int arity, td_dtype dt, int lanes,
               const LLVMValueRef *x)
{
    LLVMValueRef v = LLVMGetPoison(low_type(L, dt, lanes)), arg[2];

    for (int i = 0; i < lanes; i++) {
        for (int a = 0; a < arity; a++)
            arg[a] = low_lane(L, x[a], lanes, i);
        v = low_with_lane(L, v, call_math(L, name, low_elem(L, dt), arity, arg), lanes, i);
    }
    return v;
}

static LLVMValueRef
call_vector(lowering *L, const char *name, int arity, td_dtype dt, int lanes, const LLVMValueRef *x)
{
    int w = low_host()->math_bytes / (int)td_dtype_size(dt);
    LLVMTypeRef t = low_type(L, dt, w);
    LLVMValueRef v = LLVMGetPoison(low_type(L, dt, lanes)), arg[2], r;

    if (lanes == w)
        return call_math(L, name, t, arity, (LLVMValueRef[]){x[0], x[arity - 1]});
    for (int first = 0; first < lanes; first += w) {
        for (int a = 0; a < arity; a++)
            arg[a] = low_part(L, x[a], lanes, first, w);
        r = call_math(L, name, t, arity, arg);
        for (int i = 0; i < w && first + i < lanes; i++)
            v = low_with_lane(L, v, low_lane(L, r, w, i), lanes, first + i);
    }
    return v;
}

/* The largest errors, in units in the last place, of glibc 2.36 for x86 and 2.41 for Arm over samples of two million
 * arguments each. */
static const char *const coarse[] = {
#if defined(__x86_64__)
    "erf", /* 4, where the result is near 1 */
#else
    "log10",                           /* 3.3 */
    "log",                             /* 3.2 */
    "acosh", "atanh", "tan",           /* 2.8 to 2.7 */
    "tanh",  "log2",  "asinh", "asin", /* 2.5 to 2.4 */
    "cosh",  "sinh",  "atan2",         /* 2.3 to 2.1 */
#endif
};

static bool
is_coarse(const char *stem)
{
    for (size_t i = 0; i < sizeof coarse / sizeof *coarse; i++)
        if (strcmp(coarse[i], stem) == 0)
            return true;
    return false;
}

static LLVMValueRef
in_double(lowering *L, const char *stem, int arity, int lanes, const LLVMValueRef *x)
{
    LLVMValueRef wide[2];

    for (int a = 0; a < arity; a++)
        wide[a] = low_cast(L, x[a], TD_F32, TD_F64, lanes);
    return low_cast(L, low_math(L, stem, arity, TD_F64, lanes, wide), TD_F64, TD_F32, lanes);
}

/* Is v the float64 2 in every lane? */
static bool
is_two(lowering *L, LLVMValueRef v, int lanes)
{
    LLVMBool inexact;

    for (int i = 0; i < lanes; i++) {
        LLVMValueRef one = low_lane(L, v, lanes, i);

        if (!LLVMIsAConstantFP(one) || LLVMConstRealGetDouble(one, &inexact) != 2)
            return false;
    }
    return true;
}

/* Where the C library's pow(x, 2) may not be p, the rounded product: e, the product's error, is within 0.04
 * units of p's last place of the middle between two numbers, beside a power of two, or p is too small, infinite or
 * NaN.  The library's error before it rounds is below 0.04 units: elsewhere it rounds to p, too. */
static LLVMValueRef
may_differ(lowering *L, LLVMValueRef p, LLVMValueRef e, int lanes)
{
    const uint64_t unit = (uint64_t)1 << 52, least = 200 * unit, infinite = 2047 * unit;
    LLVMTypeRef f64 = low_type(L, TD_F64, lanes), i64 = low_int(L, 64, lanes);
    LLVMValueRef bits = LLVMBuildBitCast(L->b, p, i64, ""), near, edge, odd,
                 exponent = LLVMBuildAnd(L->b, bits, low_cint(L, 64, lanes, infinite), ""),
                 digits = LLVMBuildAnd(L->b, bits, low_cint(L, 64, lanes, unit - 1), ""),
                 half = LLVMBuildSub(L->b, exponent, low_cint(L, 64, lanes, 53 * unit), "");

    half = LLVMBuildFMul(L->b, LLVMBuildBitCast(L->b, half, f64, ""),
                         low_cfp(L, TD_F64, lanes, 0.92), "");
    near = low_fcmp(L, LLVMRealUGT, low_intrin(L, "llvm.fabs", &f64, 1, &e, 1), half);
    edge = LLVMBuildAnd(L->b, low_icmp(L, LLVMIntEQ, digits, low_cint(L, 64, lanes, 0)),
                        low_fcmp(L, LLVMRealUNE, e, low_cfp(L, TD_F64, lanes, 0)), "");
    odd = low_icmp(L, LLVMIntUGE, LLVMBuildSub(L->b, exponent, low_cint(L, 64, lanes, least), ""),
                   low_cint(L, 64, lanes, infinite - least));
    return LLVMBuildOr(L->b, LLVMBuildOr(L->b, near, edge, ""), odd, "");
}

/* v, with pow(x, 2) by the C library in lane i if that lane of `asks` is true. */
static LLVMValueRef
ask_lane(lowering *L, LLVMValueRef v, LLVMValueRef asks, const LLVMValueRef *x, int lanes, int i)
{
    LLVMBasicBlockRef here = LLVMGetInsertBlock(L->b), ask = low_block(L, "pow"),
                      done = low_block(L, "squared");
    LLVMValueRef arg[2] = {low_lane(L, x[0], lanes, i), low_lane(L, x[1], lanes, i)}, r;

    LLVMBuildCondBr(L->b, low_lane(L, asks, lanes, i), ask, done);
    LLVMPositionBuilderAtEnd(L->b, ask);
    r = low_with_lane(L, v, call_math(L, "pow", low_elem(L, TD_F64), 2, arg), lanes, i);
    LLVMBuildBr(L->b, done);
    LLVMPositionBuilderAtEnd(L->b, done);
    LLVMValueRef phi = LLVMBuildPhi(L->b, LLVMTypeOf(v), "");

    LLVMAddIncoming(phi, (LLVMValueRef[]){v, r}, (LLVMBasicBlockRef[]){here, ask}, 2);
    return phi;
}

/* The C library's pow(x, 2) to the last bit: the product, but where may_differ says that the library has to be asked. */
static LLVMValueRef
square(lowering *L, int lanes, const LLVMValueRef *x)
{
    LLVMTypeRef f64 = low_type(L, TD_F64, lanes);
    LLVMValueRef p = LLVMBuildFMul(L->b, x[0], x[0], ""), asks, any, r = p,
                 fma[3] = {x[0], x[0], LLVMBuildFNeg(L->b, p, "")};
    LLVMBasicBlockRef here, some, done;

    asks = may_differ(L, p, low_intrin(L, "llvm.fma", &f64, 1, fma, 3), lanes);
    if (lanes == 1)
        return ask_lane(L, p, asks, x, 1, 0);
    any = low_intrin(L, "llvm.vector.reduce.or", (LLVMTypeRef[]){LLVMTypeOf(asks)}, 1, &asks, 1);
    here = LLVMGetInsertBlock(L->b);
    some = low_block(L, "some");
    done = low_block(L, "squares");
    LLVMBuildCondBr(L->b, any, some, done);
    LLVMPositionBuilderAtEnd(L->b, some);
    for (int i = 0; i < lanes; i++)
        r = ask_lane(L, r, asks, x, lanes, i);
    some = LLVMGetInsertBlock(L->b);
    LLVMBuildBr(L->b, done);
    LLVMPositionBuilderAtEnd(L->b, done);
    LLVMValueRef phi = LLVMBuildPhi(L->b, f64, "");

    LLVMAddIncoming(phi, (LLVMValueRef[]){p, r}, (LLVMBasicBlockRef[]){here, some}, 2);
    return phi;
}

LLVMValueRef
low_math(lowering *L, const char *stem, int arity, td_dtype dt, int lanes, const LLVMValueRef *x)
{
    const char *suffix = dt == TD_F32 ? "f" : "";
    const low_cpu *host = low_host();
    char name[48];
    bool vectors; /* libmvec has the function */

    if (L->target == TD_TARGET_GPU) {
        snprintf(name, sizeof name, "__nv_%s%s", stem, suffix);
        return low_call_lanes(L, name, arity, dt, lanes, x);
    }
    snprintf(name, sizeof name, "_ZGV%cN%d%s_%s%s", host->isa,
             host->math_bytes / (int)td_dtype_size(dt), arity == 2 ? "vv" : "v", stem, suffix);
    vectors = low_symbol(name) != NULL;
    if (dt == TD_F32 && vectors && is_coarse(stem))
        return in_double(L, stem, arity, lanes, x);
    if (!L->f->libm && vectors)
        return call_vector(L, name, arity, dt, lanes, x);
    /* isa b and c, processors without fused multiplication */
    if (dt == TD_F64 && strcmp(stem, "pow") == 0 && host->isa != 'b' && host->isa != 'c' &&
        is_two(L, x[1], lanes))
        return square(L, lanes, x);
    snprintf(name, sizeof name, "%s%s", stem, suffix);
    return low_call_lanes(L, name, arity, dt, lanes, x);
}
