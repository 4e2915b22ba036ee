/* random.c - random draws inside a kernel.
 *
 * Philox4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3, 2011), the
 * counter being a draw's offset plus the element's place: an element's number depends on neither the
 * device, the kernel nor the order.  One counter gives four words: four elements of a 4-byte uniform,
 * two of all others.  Normals by Box and Muller, a pair of words to a pair of elements.
 */
#include "array/gen.h"

enum { ROUNDS = 10 };

#define U32(v) td_const_int(f, TD_U32, (int64_t)(v))
#define U64(v) td_const_int(f, TD_U64, (int64_t)(v))

/* w: four uint32 words in place; k: the key's two. */
static void
philox(td_fn *f, td_val w[4], td_val k0, td_val k1)
{
    td_val m0 = U32(0xD2511F53), m1 = U32(0xCD9E8D57);

    for (int r = 0; r < ROUNDS; r++) {
        td_val h0 = TD_E2(f, mulhi, w[0], m0), l0 = TD_E2(f, multiply, w[0], m0);
        td_val h1 = TD_E2(f, mulhi, w[2], m1), l1 = TD_E2(f, multiply, w[2], m1);

        w[0] = TD_E2(f, bitwise_xor, TD_E2(f, bitwise_xor, h1, w[1]), k0);
        w[1] = l1;
        w[2] = TD_E2(f, bitwise_xor, TD_E2(f, bitwise_xor, h0, w[3]), k1);
        w[3] = l0;
        k0 = TD_E2(f, add, k0, U32(0x9E3779B9));
        k1 = TD_E2(f, add, k1, U32(0xBB67AE85));
    }
}

/* The four words of element i / 2^shift. */
static void
words_of(td_gen *g, const td_step *s, td_val i, int shift, td_val w[4])
{
    td_fn *f = g->f;
    td_val key = g->scalar[s->scalar], c;

    c = TD_E2(f, add, TD_E2(f, right_shift, i, U64(shift)), g->scalar[s->scalar + 1]);
    w[0] = td_cast(f, c, TD_U32);
    w[1] = td_cast(f, TD_E2(f, right_shift, c, U64(32)), TD_U32);
    w[2] = w[3] = U32(0);
    philox(f, w, td_cast(f, key, TD_U32), td_cast(f, TD_E2(f, right_shift, key, U64(32)), TD_U32));
}

static td_val
bit(td_fn *f, td_val i, int64_t mask)
{
    return TD_E2(f, not_equal, TD_E2(f, bitwise_and, i, U64(mask)), U64(0));
}

/* Two words as one uint64, low word first. */
static td_val
pair(td_fn *f, td_val lo, td_val hi)
{
    return TD_E2(f, bitwise_or, td_cast(f, lo, TD_U64),
                 TD_E2(f, left_shift, td_cast(f, hi, TD_U64), U64(32)));
}

/* 64 random bits of element i: words 0 and 1, or 2 and 3. */
static td_val
bits64(td_gen *g, const td_step *s, td_val i)
{
    td_val w[4];
    td_fn *f = g->f;

    words_of(g, s, i, 1, w);
    return TD_E3(f, select, bit(f, i, 1), pair(f, w[2], w[3]), pair(f, w[0], w[1]));
}

/* [0, 1): 24 or 53 bits. */
static td_val
uniform(td_gen *g, const td_step *s, td_val i, td_dtype dt)
{
    td_fn *f = g->f;
    td_val w[4], lo, hi;

    if (dt == TD_F64)
        return TD_E2(f, multiply,
                     td_cast(f, TD_E2(f, right_shift, bits64(g, s, i), U64(11)), TD_F64),
                     td_const(f, TD_F64, 0x1p-53));
    words_of(g, s, i, 2, w);
    lo = TD_E3(f, select, bit(f, i, 1), w[1], w[0]);
    hi = TD_E3(f, select, bit(f, i, 1), w[3], w[2]);
    lo = TD_E3(f, select, bit(f, i, 2), hi, lo);
    return TD_E2(f, multiply, td_cast(f, TD_E2(f, right_shift, lo, U32(8)), TD_F32),
                 td_const(f, TD_F32, 0x1p-24));
}

/* (0, 1] and [0, 1) for a pair of elements. */
static void
uniform_pair(td_gen *g, const td_step *s, td_val i, td_dtype dt, td_val u[2])
{
    td_fn *f = g->f;
    td_val w[4], a, b, one = td_const(f, dt, 1), unit;

    if (dt == TD_F64) {
        words_of(g, s, i, 1, w);
        unit = td_const(f, dt, 0x1p-53);
        a = td_cast(f, TD_E2(f, right_shift, pair(f, w[0], w[1]), U64(11)), dt);
        b = td_cast(f, TD_E2(f, right_shift, pair(f, w[2], w[3]), U64(11)), dt);
    } else {
        words_of(g, s, i, 2, w);
        unit = td_const(f, dt, 0x1p-24);
        a = td_cast(f, TD_E2(f, right_shift, TD_E3(f, select, bit(f, i, 2), w[2], w[0]), U32(8)),
                    dt);
        b = td_cast(f, TD_E2(f, right_shift, TD_E3(f, select, bit(f, i, 2), w[3], w[1]), U32(8)),
                    dt);
    }
    u[0] = TD_E2(f, multiply, TD_E2(f, add, a, one), unit);
    u[1] = TD_E2(f, multiply, b, unit);
}

static td_val
normal(td_gen *g, const td_step *s, td_val i, td_dtype dt)
{
    td_fn *f = g->f;
    td_val u[2], r, angle, z;

    uniform_pair(g, s, i, dt, u);
    r = TD_E1(f, sqrt, TD_E2(f, multiply, TD_E1(f, log, u[0]), td_const(f, dt, -2)));
    angle = TD_E2(f, multiply, u[1], td_const(f, dt, 6.28318530717958647692));
    z = TD_E3(f, select, bit(f, i, 1), TD_E1(f, sin, angle), TD_E1(f, cos, angle));
    z = TD_E2(f, multiply, TD_E2(f, multiply, r, z), td_cast(f, g->scalar[s->scalar + 3], dt));
    return TD_E2(f, add, z, td_cast(f, g->scalar[s->scalar + 2], dt));
}

td_val
td_gen_random(td_gen *g, const td_step *s, td_val i)
{
    td_fn *f = g->f;
    td_dtype dt = (td_dtype)s->dt, work = dt == TD_F64 ? TD_F64 : TD_F32;

    switch ((td_dist)s->op) {
    case TD_DIST_UNIFORM: return uniform(g, s, i, work);
    case TD_DIST_NORMAL:  return normal(g, s, i, work);
    case TD_DIST_INTEGERS: /* the high half of bits times range; range 0: all 2^64 */
        i = bits64(g, s, i);
        i = TD_E3(f, select, TD_E2(f, equal, g->scalar[s->scalar + 3], U64(0)), i,
                  TD_E2(f, mulhi, i, g->scalar[s->scalar + 3]));
        return td_cast(f, TD_E2(f, add, i, g->scalar[s->scalar + 2]), dt);
    }
    td_bug(__FILE__, __LINE__, "distribution");
}
