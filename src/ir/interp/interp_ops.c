/* interp_ops.c - the lowering column of ops.def, read as C. */
#include "ir/interp/interp_ops.h"

#include <math.h>
#include <string.h>

/* BIN: LLVM's instructions.  Integers are computed modulo 2^64 and cut to their dtype. */
#define INSTR(name, EACH, expr)                                                                    \
    EACH(TD_DEFINE, bin_##name, expr)                                                              \
    static td_elt *const bin_##name[TD_DTYPE_COUNT] = {EACH(TD_ENTRY, bin_##name, 0)};

INSTR(Add, TD_EACH_IU, (uint64_t)x + (uint64_t)y)
INSTR(Sub, TD_EACH_IU, (uint64_t)x - (uint64_t)y)
INSTR(Mul, TD_EACH_IU, (uint64_t)x *(uint64_t)y)
INSTR(And, TD_EACH_BIU, x &y)
INSTR(Or, TD_EACH_BIU, x | y)
INSTR(Xor, TD_EACH_BIU, x ^ y)
INSTR(FAdd, TD_EACH_F, x + y)
INSTR(FSub, TD_EACH_F, x - y)
INSTR(FMul, TD_EACH_F, x *y)
INSTR(FDiv, TD_EACH_F, x / y)

/* CMP: LLVM's predicates. */
#define PREDICATE(name, EACH, expr)                                                                \
    EACH(TD_DEFINE_BOOL, cmp_##name, expr)                                                         \
    static td_elt *const cmp_##name[TD_DTYPE_COUNT] = {EACH(TD_ENTRY, cmp_##name, 0)};

PREDICATE(SLT, TD_EACH_I, x < y)
PREDICATE(SLE, TD_EACH_I, x <= y)
PREDICATE(SGT, TD_EACH_I, x > y)
PREDICATE(SGE, TD_EACH_I, x >= y)
PREDICATE(ULT, TD_EACH_BU, x < y)
PREDICATE(ULE, TD_EACH_BU, x <= y)
PREDICATE(UGT, TD_EACH_BU, x > y)
PREDICATE(UGE, TD_EACH_BU, x >= y)
PREDICATE(EQ, TD_EACH_BIU, x == y)
PREDICATE(NE, TD_EACH_BIU, x != y)
PREDICATE(OLT, TD_EACH_F, x < y)
PREDICATE(OLE, TD_EACH_F, x <= y)
PREDICATE(OGT, TD_EACH_F, x > y)
PREDICATE(OGE, TD_EACH_F, x >= y)
PREDICATE(OEQ, TD_EACH_F, x == y)
PREDICATE(UNE, TD_EACH_F, x != y)

static uint64_t
reversed(uint64_t x)
{
    uint64_t out = 0;

    for (int k = 0; k < 64; k++)
        out |= (x >> k & 1) << (63 - k);
    return out;
}

/* MATH and INTRIN: libm by stem and number of operands. */
#define CALL1(fn, m) fn(a[l].m)
#define CALL2(fn, m) fn(a[l].m, b[l].m)
#define CALL3(fn, m) fn(a[l].m, b[l].m, c[l].m)
#define LIBM_LANES(fname, m, call)                                                                 \
    static void fname(td_word *out, const td_word *a, const td_word *b, const td_word *c, int n)   \
    {                                                                                              \
        (void)b, (void)c;                                                                          \
        for (int l = 0; l < n; l++)                                                                \
            out[l].m = call;                                                                       \
    }
#define LIBM(arity, stem)                                                                          \
    LIBM_LANES(libm_##stem##_F32, f, CALL##arity(stem##f, f))                                      \
    LIBM_LANES(libm_##stem##_F64, d, CALL##arity(stem, d))                                         \
    static td_elt *const libm_##stem[TD_DTYPE_COUNT] = {                                           \
        [TD_F32] = libm_##stem##_F32, [TD_F64] = libm_##stem##_F64};

#define BIN(s, u, f)  other, 0
#define CMP(s, u, f)  other, 0
#define INTRIN(name)  other, 0
#define MATH(name)    math, name
#define SPECIAL(name) other, 0
#define EXPR(name)    other, 0
#define MAKE_other(ar, name)
#define MAKE_math(ar, name)                 LIBM(ar, name)
#define MAKE_(ar, what, name)               MAKE_##what(ar, name)
#define MAKE(ar, ...)                       MAKE_(ar, __VA_ARGS__)
#define OP(n, ar, k, r, fl, mean, low, ...) MAKE(ar, low)
#include "ir/core/ops.def"
#undef BIN
#undef CMP
#undef INTRIN
#undef MATH
#undef SPECIAL
#undef EXPR

LIBM(1, fabs)
LIBM(1, sqrt)
LIBM(1, rint)
LIBM(1, floor)
LIBM(1, ceil)
LIBM(1, trunc)
LIBM(2, copysign)
LIBM(3, fma)

INSTR(ctpop, TD_EACH_IU, __builtin_popcountll((uint64_t)x << (64 - 8 * sizeof x)))
INSTR(bitreverse, TD_EACH_IU, reversed((uint64_t)x << (64 - 8 * sizeof x)))

static const struct {
    const char *name;
    td_elt *const *fn;
} intrinsics[] = {
    {"llvm.ctpop", bin_ctpop},        {"llvm.bitreverse", bin_bitreverse},
    {"llvm.fabs", libm_fabs},         {"llvm.sqrt", libm_sqrt},
    {"llvm.rint", libm_rint},         {"llvm.floor", libm_floor},
    {"llvm.ceil", libm_ceil},         {"llvm.trunc", libm_trunc},
    {"llvm.copysign", libm_copysign}, {"llvm.fma", libm_fma},
};

typedef struct row {
    td_elt *const *i, *const *u, *const *f; /* by dtype, for each kind; bool goes with unsigned */
    const char *intrin;
} row;

#define BIN(s, u, f)  {bin_##s, bin_##u, bin_##f, NULL}
#define CMP(s, u, f)  {cmp_##s, cmp_##u, cmp_##f, NULL}
#define INTRIN(name)  {NULL, NULL, NULL, name}
#define MATH(name)    {NULL, NULL, libm_##name, NULL}
#define SPECIAL(name) {td_special_##name, td_special_##name, td_special_##name, NULL}
#define EXPR(name)    {NULL, NULL, NULL, NULL}

static const row rows[TD_OPS] = {
#define OP(n, ar, k, r, fl, mean, low, ...) [OP_##n] = low,
#include "ir/core/ops.def"
};

td_elt *
td_interp_elt(td_op op, td_dtype dt)
{
    td_elt *const *fn = NULL;

    if (!td_op_admits(op, dt))
        return NULL;
    switch (td_dtype_kind(dt)) {
    case 'b':
    case 'u': fn = rows[op].u; break;
    case 'i': fn = rows[op].i; break;
    case 'f': fn = rows[op].f; break;
    }
    if (rows[op].intrin)
        for (size_t k = 0; k < sizeof intrinsics / sizeof *intrinsics; k++)
            if (strcmp(rows[op].intrin, intrinsics[k].name) == 0)
                fn = intrinsics[k].fn;
    return fn ? fn[dt] : NULL;
}

td_word
td_interp_word(td_dtype dt, const void *element)
{
    td_word w = {0};
    size_t size = td_dtype_size(dt);
    unsigned up = 64 - 8 * (unsigned)size;

    memcpy(&w, element, size);
    if (dt == TD_BOOL)
        w.u = w.u != 0;
    else if (td_dtype_kind(dt) == 'i')
        w.u = (uint64_t)((int64_t)(w.u << up) >> up);
    return w;
}
