/* interp_special.c - one table of functions for each SPECIAL row of ops.def, and functions of rows of core.def.
 *
 * What C leaves undefined has a value here: division by zero gives 0, MIN / -1 is MIN, and a shift
 * by a negative count or by the width or more shifts every bit out.
 */
#include "base/box.h"
#include "base/callmem.h"
#include "base/clock.h"
#include "ir/interp/interp_ops.h"

#include <math.h>

__extension__ typedef unsigned __int128 u128;

enum { BITS_OF_BYTE = 8 };

#define WIDTH (BITS_OF_BYTE * sizeof x)

TD_EACH_I(TD_DEFINE, fmod, y == 0 || y == -1 ? 0 : x % y)
TD_EACH_U(TD_DEFINE, fmod, y == 0 ? 0 : x % y)
TD_LANES(fmod_F32, float, f, float, f, fmodf(x, y))
TD_LANES(fmod_F64, double, d, double, d, fmod(x, y))
td_elt *const td_special_fmod[TD_DTYPE_COUNT] = {TD_EACH_IU(TD_ENTRY, fmod, 0)
                                                     TD_EACH_F(TD_ENTRY, fmod, 0)};

TD_EACH_I(TD_DEFINE, truncate_divide, y == 0 ? 0 : y == -1 ? 0 - (uint64_t)x : (uint64_t)(x / y))
TD_EACH_U(TD_DEFINE, truncate_divide, y == 0 ? 0 : x / y)
td_elt *const td_special_truncate_divide[TD_DTYPE_COUNT] = {
    TD_EACH_IU(TD_ENTRY, truncate_divide, 0)};

/* As unsigned numbers, negative counts exceed every width. */
TD_EACH_IU(TD_DEFINE, left_shift, (uint64_t)y >= WIDTH ? 0 : (uint64_t)x << y)
td_elt *const td_special_left_shift[TD_DTYPE_COUNT] = {TD_EACH_IU(TD_ENTRY, left_shift, 0)};

TD_EACH_I(TD_DEFINE, right_shift, x >> ((uint64_t)y >= WIDTH ? WIDTH - 1 : (uint64_t)y))
TD_EACH_U(TD_DEFINE, right_shift, y >= WIDTH ? 0 : x >> y)
td_elt *const td_special_right_shift[TD_DTYPE_COUNT] = {TD_EACH_IU(TD_ENTRY, right_shift, 0)};

/* A bit set after the last one ends the count. */
TD_EACH_IU(TD_DEFINE, leading_zeros,
           WIDTH == 64 && x == 0 ? 64
                                 : __builtin_clzll((uint64_t)x << (64 - WIDTH) |
                                                   (uint64_t)(WIDTH < 64) << (63 - WIDTH % 64)))
td_elt *const td_special_leading_zeros[TD_DTYPE_COUNT] = {TD_EACH_IU(TD_ENTRY, leading_zeros, 0)};

TD_EACH_U(TD_DEFINE, mulhi, (u128)x *y >> WIDTH)
td_elt *const td_special_mulhi[TD_DTYPE_COUNT] = {TD_EACH_U(TD_ENTRY, mulhi, 0)};

TD_EACH_F(TD_DEFINE_BOOL, signbit, signbit(x) != 0)
td_elt *const td_special_signbit[TD_DTYPE_COUNT] = {TD_EACH_F(TD_ENTRY, signbit, 0)};

/* The new value of memory x for an atomic instruction with y. */
TD_EACH_IU(TD_DEFINE, atomic_max, x > y ? x : y)
TD_EACH_IU(TD_DEFINE, atomic_min, x < y ? x : y)
TD_LANES(atomic_max_F32, float, f, float, f, fmaxf(x, y))
TD_LANES(atomic_max_F64, double, d, double, d, fmax(x, y))
TD_LANES(atomic_min_F32, float, f, float, f, fminf(x, y))
TD_LANES(atomic_min_F64, double, d, double, d, fmin(x, y))
static td_elt *const atomic_max[TD_DTYPE_COUNT] = {TD_EACH_IU(TD_ENTRY, atomic_max, 0)
                                                       TD_EACH_F(TD_ENTRY, atomic_max, 0)};
static td_elt *const atomic_min[TD_DTYPE_COUNT] = {TD_EACH_IU(TD_ENTRY, atomic_min, 0)
                                                       TD_EACH_F(TD_ENTRY, atomic_min, 0)};

TD_EACH_U(TD_DEFINE, atomic_inc, x >= y ? 0 : x + 1)
TD_EACH_U(TD_DEFINE, atomic_dec, x == 0 || x > y ? y : x - 1)
static td_elt *const atomic_inc[TD_DTYPE_COUNT] = {TD_EACH_U(TD_ENTRY, atomic_inc, 0)};
static td_elt *const atomic_dec[TD_DTYPE_COUNT] = {TD_EACH_U(TD_ENTRY, atomic_dec, 0)};

/* float32 holds the sum of two halves with bits to spare: rounding twice is rounding once. */
TD_LANES(add_F16, uint16_t, u, uint16_t, u,
         td_double_to_half((double)(td_half_to_float(x) + td_half_to_float(y))))
TD_LANES(add_BF16, uint16_t, u, uint16_t, u,
         td_double_to_bfloat((double)(td_bfloat_to_float(x) + td_bfloat_to_float(y))))

static void
take_value(td_word *out, const td_word *a, const td_word *b, const td_word *c, int n)
{
    (void)a, (void)c;
    for (int l = 0; l < n; l++)
        out[l] = b[l];
}

td_elt *
td_interp_atomic(td_op op, td_dtype dt)
{
    switch ((int)op) {
    case OP_atomic_add:
        return dt == TD_F16 ? add_F16 : dt == TD_BF16 ? add_BF16 : td_interp_elt(OP_add, dt);
    case OP_atomic_exch: return take_value;
    case OP_atomic_inc:  return atomic_inc[dt];
    case OP_atomic_dec:  return atomic_dec[dt];
    case OP_atomic_and:  return td_interp_elt(OP_bitwise_and, dt);
    case OP_atomic_or:   return td_interp_elt(OP_bitwise_or, dt);
    case OP_atomic_xor:  return td_interp_elt(OP_bitwise_xor, dt);
    case OP_atomic_max:  return atomic_max[dt];
    case OP_atomic_min:  return atomic_min[dt];
    }
    return NULL;
}

static void
interp_special_choose(td_word *out, const td_word *a, const td_word *b, const td_word *c, int n)
{
    for (int l = 0; l < n; l++)
        out[l] = a[l].u ? b[l] : c[l];
}

#define CHOOSE(e, T, m, stem, unused) [TD_##e] = interp_special_choose,
td_elt *const td_special_select[TD_DTYPE_COUNT] = {TD_EACH_BIU(CHOOSE, 0, 0)
                                                       TD_EACH_F(CHOOSE, 0, 0)};

/* ---- instructions of core.def ---- */

static void
interp_clock(td_word *out, const td_word *a, const td_word *b, const td_word *c, int n)
{
    (void)a, (void)b, (void)c, (void)n;
    out->i = td_now_ns();
}

static void
interp_ask(td_word *out, const td_word *a, const td_word *b, const td_word *c, int n)
{
    (void)n;
    out->u = td_box_ask(a->u, b->u, c->i);
}

static void
interp_take(td_word *out, const td_word *a, const td_word *b, const td_word *c, int n)
{
    (void)c, (void)n;
    out->u = td_callmem_take(a->u, b->i);
}

td_elt *
td_interp_core(td_op op)
{
    static td_elt *const table[OP_COUNT] = {
        [OP_clock] = interp_clock,
        [OP_ask] = interp_ask,
        [OP_take] = interp_take,
    };

    return table[op];
}
