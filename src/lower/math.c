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
    snprintf(name, sizeof name, "%s%s", stem, suffix);
    return low_call_lanes(L, name, arity, dt, lanes, x);
}
