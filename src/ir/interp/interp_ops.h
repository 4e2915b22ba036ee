/* interp_ops.h - the interpreter's elementwise functions, one per (operation, dtype).
 *
 * A value has one td_word per lane, whatever its dtype: integers are sign- or zero-extended, bool is 0 or 1, half
 * types are their 16 bits, float32 is in the low four bytes (the rest is unspecified).  Every function computes one
 * IEEE operation per lane and stores the result, so no compiler flag can contract two of them.
 */
#ifndef TD_IR_INTERP_OPS_H
#define TD_IR_INTERP_OPS_H
#include "ir/core/op.h"

typedef union td_word {
    int64_t  i;
    uint64_t u;
    float    f;
    double   d;
} td_word;

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "an element's bytes are its word's first");

/* Computes n lanes; ignores operands that the operation does not have. */
typedef void td_elt(td_word *out, const td_word *a, const td_word *b, const td_word *c, int n);

td_elt *td_interp_elt(td_op op, td_dtype dt);         /* NULL: not admitted, or a composite */
td_elt *td_interp_core(td_op op);                     /* of instructions whose value is their operands'; NULL: others */
td_elt *td_interp_atomic(td_op op, td_dtype dt);      /* of memory and a value; NULL: not admitted */
td_elt *td_interp_cast(td_dtype from, td_dtype to);   /* NULL: complex */
td_word td_interp_word(td_dtype dt, const void *element); /* of an element in memory; not for complex */

#define BIN(s, u, f)
#define CMP(s, u, f)
#define INTRIN(name)
#define MATH(name)
#define SPECIAL(name) extern td_elt *const td_special_##name[TD_DTYPE_COUNT];
#define EXPR(name)
#define OP(n, ar, k, r, fl, mean, low, ...) low
#include "ir/core/ops.def"
#undef BIN
#undef CMP
#undef INTRIN
#undef MATH
#undef SPECIAL
#undef EXPR

/* X(dtype, C type, the word's member, …) for each dtype of a kind. */
#define TD_EACH_B(X, ...) X(BOOL, uint8_t, u, __VA_ARGS__)
#define TD_EACH_I(X, ...)                                                                          \
    X(I8, int8_t, i, __VA_ARGS__) X(I16, int16_t, i, __VA_ARGS__)                                  \
    X(I32, int32_t, i, __VA_ARGS__) X(I64, int64_t, i, __VA_ARGS__)
#define TD_EACH_U(X, ...)                                                                          \
    X(U8, uint8_t, u, __VA_ARGS__) X(U16, uint16_t, u, __VA_ARGS__)                                \
    X(U32, uint32_t, u, __VA_ARGS__) X(U64, uint64_t, u, __VA_ARGS__)
#define TD_EACH_F(X, ...)   X(F32, float, f, __VA_ARGS__) X(F64, double, d, __VA_ARGS__)
#define TD_EACH_IU(X, ...)  TD_EACH_I(X, __VA_ARGS__) TD_EACH_U(X, __VA_ARGS__)
#define TD_EACH_BU(X, ...)  TD_EACH_B(X, __VA_ARGS__) TD_EACH_U(X, __VA_ARGS__)
#define TD_EACH_BIU(X, ...) TD_EACH_B(X, __VA_ARGS__) TD_EACH_IU(X, __VA_ARGS__)

/* A function over lanes.  `expr` reads x and y.  Its value is converted to R and widened into member rm; +
 * promotes it first, so that a signed char is not taken for a character. */
#define TD_LANES(fname, T, m, R, rm, expr)                                                         \
    static void fname(td_word *out, const td_word *a, const td_word *b, const td_word *c, int n)   \
    {                                                                                              \
        (void)b, (void)c;                                                                          \
        for (int l = 0; l < n; l++) {                                                              \
            const T x = (T)a[l].m, y = (T)b[l].m;                                                  \
                                                                                                   \
            (void)y;                                                                               \
            out[l].rm = +(R)(expr);                                                                \
        }                                                                                          \
    }
#define TD_DEFINE(e, T, m, stem, expr)      TD_LANES(stem##_##e, T, m, T, m, expr)
#define TD_DEFINE_BOOL(e, T, m, stem, expr) TD_LANES(stem##_##e, T, m, uint8_t, u, expr)
#define TD_ENTRY(e, T, m, stem, unused)     [TD_##e] = stem##_##e,

#endif
