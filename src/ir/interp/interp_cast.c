/* interp_cast.c - conversions between dtypes, with NumPy's values on x86-64.
 *
 * A source is read as int64, uint64 or double, each of them exactly, and rounded once.
 */
#include "ir/interp/interp_ops.h"

/* to_DTYPE_i, _u, _f: from int64, uint64, double. */
#define TO(e, T, m, from_f)                                                                        \
    static td_word to_##e##_i(int64_t x)                                                           \
    {                                                                                              \
        return (td_word){.m = (T)x};                                                               \
    }                                                                                              \
    static td_word to_##e##_u(uint64_t x)                                                          \
    {                                                                                              \
        return (td_word){.m = (T)x};                                                               \
    }                                                                                              \
    static td_word to_##e##_f(double x)                                                            \
    {                                                                                              \
        return (td_word){.m = (T)(from_f)};                                                        \
    }

TO(BOOL, _Bool, u, x != 0)
TO(I8, int8_t, i, td_f64_to_i32(x))
TO(I16, int16_t, i, td_f64_to_i32(x))
TO(I32, int32_t, i, td_f64_to_i32(x))
TO(I64, int64_t, i, td_f64_to_i64(x))
TO(U8, uint8_t, u, td_f64_to_i32(x))
TO(U16, uint16_t, u, td_f64_to_i32(x))
TO(U32, uint32_t, u, td_f64_to_i64(x))
TO(U64, uint64_t, u, td_f64_to_u64(x))
TO(F32, float, f, x)
TO(F64, double, d, x)

/* Integers that double cannot hold exceed float16.  For bfloat16, their rounding to double is
 * made sticky, so that rounding once more gives the same as rounding once. */
static double
sticky(uint64_t magnitude, bool negative)
{
    uint64_t kept = magnitude >> 53
                        ? (magnitude & ~(uint64_t)0xfff) | ((magnitude & 0xfff) != 0) << 12
                        : magnitude;

    return negative ? -(double)kept : (double)kept;
}

#define TO_HALF(e, from_f)                                                                         \
    static td_word to_##e##_f(double x)                                                            \
    {                                                                                              \
        return (td_word){.u = from_f(x)};                                                          \
    }                                                                                              \
    static td_word to_##e##_u(uint64_t x)                                                          \
    {                                                                                              \
        return to_##e##_f(sticky(x, false));                                                       \
    }                                                                                              \
    static td_word to_##e##_i(int64_t x)                                                           \
    {                                                                                              \
        return to_##e##_f(sticky(x < 0 ? 0 - (uint64_t)x : (uint64_t)x, x < 0));                   \
    }

TO_HALF(F16, td_double_to_half)
TO_HALF(BF16, td_double_to_bfloat)

#define CAST(from, read, cls, to)                                                                  \
    static void from##_to_##to(td_word *out, const td_word *a, const td_word *b, const td_word *c, \
                               int n)                                                              \
    {                                                                                              \
        (void)b, (void)c;                                                                          \
        for (int l = 0; l < n; l++)                                                                \
            out[l] = to_##to##_##cls(read);                                                        \
    }
/* clang-format off */
#define EACH_TO(X, from, read, cls)                                                                 \
    X(from, read, cls, BOOL) X(from, read, cls, I8) X(from, read, cls, I16) X(from, read, cls, I32) \
    X(from, read, cls, I64) X(from, read, cls, U8) X(from, read, cls, U16) X(from, read, cls, U32)  \
    X(from, read, cls, U64) X(from, read, cls, F16) X(from, read, cls, BF16) X(from, read, cls, F32) \
    X(from, read, cls, F64)
/* clang-format on */
#define ENTRY(from, read, cls, to) [TD_##to] = from##_to_##to,
#define SOURCE(from, read, cls)                                                                    \
    EACH_TO(CAST, from, read, cls)                                                                 \
    static td_elt *const from_##from[TD_DTYPE_COUNT] = {EACH_TO(ENTRY, from, read, cls)};

SOURCE(int, a[l].i, i)
SOURCE(u64, a[l].u, u)
SOURCE(f16, (double)td_half_to_float((uint16_t)a[l].u), f)
SOURCE(bf16, (double)td_bfloat_to_float((uint16_t)a[l].u), f)
SOURCE(f32, (double)a[l].f, f)
SOURCE(f64, a[l].d, f)

/* Integers are extended to their words, so all but uint64 are read as int64. */
static td_elt *const *const sources[TD_DTYPE_COUNT] = {
    [TD_BOOL] = from_int, [TD_I8] = from_int,  [TD_I16] = from_int,   [TD_I32] = from_int,
    [TD_I64] = from_int,  [TD_U8] = from_int,  [TD_U16] = from_int,   [TD_U32] = from_int,
    [TD_U64] = from_u64,  [TD_F16] = from_f16, [TD_BF16] = from_bf16, [TD_F32] = from_f32,
    [TD_F64] = from_f64,
};

td_elt *
td_interp_cast(td_dtype from, td_dtype to)
{
    return sources[from] ? sources[from][to] : NULL;
}
