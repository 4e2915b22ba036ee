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

/* A draw in the making: the words of its counter, and the element's place, of which only the bits below
 * the counter's share matter. */
typedef struct draw {
    td_gen *g;
    const td_step *s;
    td_dtype dt; /* float32 or float64: what floats are computed in */
    td_val w[4], place;
} draw;

/* Elements that share a counter, as a power of two. */
static int
share(const td_step *s, td_dtype dt)
{
    return s->op != TD_DIST_INTEGERS && dt == TD_F32 ? 2 : 1;
}

/* The words of counter number i >> shift, i being an element's number. */
static void
set_words(draw *d, td_val i, int shift)
{
    td_fn *f = d->g->f;
    td_val key = d->g->scalar[d->s->scalar], c;

    c = TD_E2(f, add, TD_E2(f, right_shift, i, U64(shift)), d->g->scalar[d->s->scalar + 1]);
    d->w[0] = td_cast(f, c, TD_U32);
    d->w[1] = td_cast(f, TD_E2(f, right_shift, c, U64(32)), TD_U32);
    d->w[2] = d->w[3] = U32(0);
    philox(f, d->w, td_cast(f, key, TD_U32),
           td_cast(f, TD_E2(f, right_shift, key, U64(32)), TD_U32));
}

static td_val
bit(const draw *d, int64_t mask)
{
    td_fn *f = d->g->f;

    return TD_E2(f, not_equal, TD_E2(f, bitwise_and, d->place, U64(mask)), U64(0));
}

/* Two words as one uint64, low word first. */
static td_val
pair(td_fn *f, td_val lo, td_val hi)
{
    return TD_E2(f, bitwise_or, td_cast(f, lo, TD_U64),
                 TD_E2(f, left_shift, td_cast(f, hi, TD_U64), U64(32)));
}

/* 64 random bits: words 0 and 1, or 2 and 3. */
static td_val
bits64(const draw *d)
{
    td_fn *f = d->g->f;

    return TD_E3(f, select, bit(d, 1), pair(f, d->w[2], d->w[3]), pair(f, d->w[0], d->w[1]));
}

/* The upper 53 or 24 bits as a float. */
static td_val
whole53(td_fn *f, td_val bits)
{
    return td_cast(f, TD_E2(f, right_shift, bits, U64(11)), TD_F64);
}

static td_val
whole24(td_fn *f, td_val bits)
{
    return td_cast(f, TD_E2(f, right_shift, bits, U32(8)), TD_F32);
}

/* [0, 1): 24 or 53 bits. */
static td_val
uniform(const draw *d)
{
    td_fn *f = d->g->f;
    td_val lo, hi;

    if (d->dt == TD_F64)
        return TD_E2(f, multiply, whole53(f, bits64(d)), td_const(f, TD_F64, 0x1p-53));
    lo = TD_E3(f, select, bit(d, 1), d->w[1], d->w[0]);
    hi = TD_E3(f, select, bit(d, 1), d->w[3], d->w[2]);
    return TD_E2(f, multiply, whole24(f, TD_E3(f, select, bit(d, 2), hi, lo)),
                 td_const(f, TD_F32, 0x1p-24));
}

/* (0, 1] and [0, 1) for a pair of elements. */
static void
uniform_pair(const draw *d, td_val u[2])
{
    td_fn *f = d->g->f;
    td_val a, b, one = td_const(f, d->dt, 1), unit;

    if (d->dt == TD_F64) {
        unit = td_const(f, d->dt, 0x1p-53);
        a = whole53(f, pair(f, d->w[0], d->w[1]));
        b = whole53(f, pair(f, d->w[2], d->w[3]));
    } else {
        unit = td_const(f, d->dt, 0x1p-24);
        a = whole24(f, TD_E3(f, select, bit(d, 2), d->w[2], d->w[0]));
        b = whole24(f, TD_E3(f, select, bit(d, 2), d->w[3], d->w[1]));
    }
    u[0] = TD_E2(f, multiply, TD_E2(f, add, a, one), unit);
    u[1] = TD_E2(f, multiply, b, unit);
}

/* odd: the sine's half of the pair; NULL: by the place of every lane. */
static td_val
normal(const draw *d, const bool *odd)
{
    td_fn *f = d->g->f;
    td_val u[2], r, angle, z;

    uniform_pair(d, u);
    r = TD_E1(f, sqrt, TD_E2(f, multiply, TD_E1(f, log, u[0]), td_const(f, d->dt, -2)));
    angle = TD_E2(f, multiply, u[1], td_const(f, d->dt, 6.28318530717958647692));
    if (odd)
        z = *odd ? TD_E1(f, sin, angle) : TD_E1(f, cos, angle);
    else
        z = TD_E3(f, select, bit(d, 1), TD_E1(f, sin, angle), TD_E1(f, cos, angle));
    z = TD_E2(f, multiply, TD_E2(f, multiply, r, z),
              td_cast(f, d->g->scalar[d->s->scalar + 3], d->dt));
    return TD_E2(f, add, z, td_cast(f, d->g->scalar[d->s->scalar + 2], d->dt));
}

/* The high half of bits times range, on top of low; range 0: all 2^64. */
static td_val
integer(const draw *d)
{
    td_fn *f = d->g->f;
    td_val bits = bits64(d), range = d->g->scalar[d->s->scalar + 3];

    bits = TD_E3(f, select, TD_E2(f, equal, range, U64(0)), bits, TD_E2(f, mulhi, bits, range));
    return td_cast(f, TD_E2(f, add, bits, d->g->scalar[d->s->scalar + 2]), (td_dtype)d->s->dt);
}

static td_val
value(const draw *d, const bool *odd)
{
    switch ((td_dist)d->s->op) {
    case TD_DIST_UNIFORM:  return uniform(d);
    case TD_DIST_NORMAL:   return normal(d, odd);
    case TD_DIST_INTEGERS: return integer(d);
    }
    td_bug(__FILE__, __LINE__, "distribution");
}

/* Lanes that begin where a counter's share begins: every counter is computed once, and every lane by
 * itself, with its place known. */
static td_val
grouped(draw *d, td_val first, int lanes, int shift)
{
    td_fn *f = d->g->f;
    td_val out = {0}, iota = td_iota(f, TD_I32, lanes);

    for (int k = 0; k < lanes; k++) {
        bool odd = k & 1;
        td_val v;

        if (k % (1 << shift) == 0)
            set_words(d, TD_E2(f, add, first, U64(k)), shift);
        d->place = U64(k);
        v = td_splat(f, value(d, &odd), lanes);
        out = k ? TD_E3(f, select, TD_E2(f, equal, iota, td_const_int(f, TD_I32, k)), v, out) : v;
    }
    return out;
}

td_val
td_gen_random(td_gen *g, const td_step *s, td_val i)
{
    td_dtype work = s->dt == TD_F64 ? TD_F64 : TD_F32;
    draw d = {.g = g, .s = s, .dt = work, .place = i};
    int shift = share(s, work);

    /* threads of a GPU begin at multiples of their lanes; registers of a CPU are better full */
    if (g->aligned && g->p->nd == 1 && g->p->opnd[s->opnd].inner == 1 && g->lanes > 1 &&
        g->lanes % (1 << shift) == 0)
        return grouped(&d, td_cast(g->f, g->j, TD_U64), g->lanes, shift);
    set_words(&d, i, shift);
    return value(&d, NULL);
}
