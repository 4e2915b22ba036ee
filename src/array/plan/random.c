/* random.c - random draws inside a kernel.
 *
 * Philox4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3, 2011), the
 * counter being a draw's offset plus the element's place: an element's number depends on neither the
 * device, the kernel nor the order.  One counter gives four words: four elements of a 4-byte uniform,
 * two of all others.  Normals by Box and Muller, a pair of words to a pair of elements.
 */
#include "array/plan/gen.h"

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

/* A draw under construction: the four words of its counter, and the element's number.  Only the low bits of the number
 * matter, which say which of the counter's words the element takes. */
typedef struct draw {
    td_gen *g;
    const td_step *s;
    td_dtype dt; /* the dtype that floats are computed in: float32 or float64 */
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

/* ---- normals ----
 *
 * Float64 through libm or libdevice.  Float32 with logarithm, sine and cosine of its own: their
 * arguments are multiples of 2^-24 within one full turn of the circle, so they need no special cases and no reduction. */

/* c[0] + x (c[1] + …) */
static td_val
polynomial(td_fn *f, td_val x, const double *c, int n)
{
    td_val y = td_const(f, TD_F32, c[n - 1]);

    for (int i = n - 2; i >= 0; i--)
        y = TD_E3(f, fma, y, x, td_const(f, TD_F32, c[i]));
    return y;
}

/* -2 log(n / 2^24) for a whole n in [1, 2^24]: n = m 2^e with m within [sqrt(1/2), sqrt(2)), log m = g (1 + g P(g))
 * with g = m - 1.  The coefficients are a minimax fit, times -2; relative error 3e-8 before rounding. */
static td_val
minus_two_log(td_fn *f, td_val n)
{
    static const double c[] = {-2,
                               0.9999996620566055,
                               -0.6666786666951978,
                               0.5000516635953988,
                               -0.39926949753588793,
                               0.33103601524215335,
                               -0.29767440578561689,
                               0.28853591000453744,
                               -0.17958629962394219};
    td_val root = U32(0x3f3504f3), bits, e, g, m;

    bits = TD_E2(f, subtract, td_bitcast(f, td_cast(f, n, TD_F32), TD_U32), root);
    e = TD_E2(f, subtract, td_cast(f, TD_E2(f, right_shift, bits, U32(23)), TD_I32),
              td_const_int(f, TD_I32, 24));
    m = TD_E2(f, add, TD_E2(f, bitwise_and, bits, U32(0x7fffff)), root);
    g = TD_E2(f, subtract, td_bitcast(f, m, TD_F32), td_const(f, TD_F32, 1));
    return TD_E3(f, fma, td_cast(f, e, TD_F32), td_const(f, TD_F32, -1.3862943611198906),
                 TD_E2(f, multiply, polynomial(f, g, c, 9), g));
}

/* The sine or cosine of n / 2^24 turns, n in [0, 2^24): of the angle to the nearest quarter, by minimax fits with
 * errors of 4e-9 and 1e-9 before rounding, exchanged and signed by the quarter. */
static td_val
turned(td_fn *f, td_val n, bool sine)
{
    static const double sin_of[] = {-0.16666654943232007, 0.008332178124062815,
                                    -0.00019517296571193294};
    static const double cos_of[] = {1, -0.49999999725095107, 0.04166662332322785,
                                    -0.0013886763765850905, 2.439044844341827e-05};
    td_val ahead = TD_E2(f, add, n, U32(1 << 21)), quarter, rest, x, xx, s, c, swap, flip, y;

    quarter = TD_E2(f, right_shift, ahead, U32(22));
    rest = td_cast(f, TD_E2(f, bitwise_and, ahead, U32((1 << 22) - 1)), TD_I32);
    rest = TD_E2(f, subtract, rest, td_const_int(f, TD_I32, 1 << 21));
    x = TD_E2(f, multiply, td_cast(f, rest, TD_F32), td_const(f, TD_F32, 0x1.921fb54442d18p-22));
    xx = TD_E2(f, multiply, x, x);
    s = TD_E3(f, fma, TD_E2(f, multiply, polynomial(f, xx, sin_of, 3), xx), x, x);
    c = polynomial(f, xx, cos_of, 5);
    swap = TD_E2(f, not_equal, TD_E2(f, bitwise_and, quarter, U32(1)), U32(0));
    if (!sine) /* cos x = sin(x + a quarter turn) */
        quarter = TD_E2(f, add, quarter, U32(1));
    flip = TD_E2(f, left_shift, TD_E2(f, bitwise_and, quarter, U32(2)), U32(30));
    y = sine ? TD_E3(f, select, swap, c, s) : TD_E3(f, select, swap, s, c);
    return td_bitcast(f, TD_E2(f, bitwise_xor, td_bitcast(f, y, TD_U32), flip), TD_F32);
}

/* A normal number by Box and Muller.  odd: the sine's number of the pair or the cosine's; NULL: as each lane's number says. */
static td_val
standard32(const draw *d, const bool *odd)
{
    td_fn *f = d->g->f;
    td_val a = TD_E3(f, select, bit(d, 2), d->w[2], d->w[0]);
    td_val b = TD_E3(f, select, bit(d, 2), d->w[3], d->w[1]), z;

    a = TD_E2(f, add, TD_E2(f, right_shift, a, U32(8)), U32(1));
    b = TD_E2(f, right_shift, b, U32(8));
    if (odd)
        z = turned(f, b, *odd);
    else
        z = TD_E3(f, select, bit(d, 1), turned(f, b, true), turned(f, b, false));
    return TD_E2(f, multiply, TD_E1(f, sqrt, minus_two_log(f, a)), z);
}

static td_val
standard64(const draw *d, const bool *odd)
{
    td_fn *f = d->g->f;
    td_val one = td_const(f, TD_F64, 1), unit = td_const(f, TD_F64, 0x1p-53), r, u, angle, z;

    u = TD_E2(f, add, whole53(f, pair(f, d->w[0], d->w[1])), one);
    r = TD_E1(f, log, TD_E2(f, multiply, u, unit));
    r = TD_E1(f, sqrt, TD_E2(f, multiply, r, td_const(f, TD_F64, -2)));
    angle = TD_E2(f, multiply, whole53(f, pair(f, d->w[2], d->w[3])), unit);
    angle = TD_E2(f, multiply, angle, td_const(f, TD_F64, 6.28318530717958647692));
    if (odd)
        z = *odd ? TD_E1(f, sin, angle) : TD_E1(f, cos, angle);
    else
        z = TD_E3(f, select, bit(d, 1), TD_E1(f, sin, angle), TD_E1(f, cos, angle));
    return TD_E2(f, multiply, r, z);
}

static td_val
normal(const draw *d, const bool *odd)
{
    td_fn *f = d->g->f;
    td_val z = d->dt == TD_F64 ? standard64(d, odd) : standard32(d, odd);

    return TD_E3(f, fma, z, td_cast(f, d->g->scalar[d->s->scalar + 3], d->dt),
                 td_cast(f, d->g->scalar[d->s->scalar + 2], d->dt));
}

/* low plus the high half of bits times range; range 0 stands for 2^64. */
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

/* Draws for a GPU's thread whose lane 0 is a counter's first element: each counter is computed once, and each lane by itself,
 * since its place within the counter is known while the code is made. */
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

/* v's lanes, each 2^shift times. */
static td_val
repeated(td_fn *f, td_val v, int shift)
{
    for (int k = 0; k < shift; k++)
        v = td_zip(f, v, v);
    return v;
}

/* The same in vector registers: one lane for each counter, then each result is copied to the lanes that share the counter. */
static td_val
spread(draw *d, td_val first, int lanes, int shift)
{
    td_fn *f = d->g->f;

    set_words(
        d,
        TD_E2(f, add, first, TD_E2(f, left_shift, td_iota(f, TD_U64, lanes >> shift), U64(shift))),
        shift);
    for (int k = 0; k < 4; k++)
        d->w[k] = repeated(f, td_splat(f, d->w[k], lanes >> shift), shift);
    d->place = td_iota(f, TD_U64, lanes);
    return value(d, NULL);
}

int
td_gen_draws(const td_plan *p)
{
    int most = 0;

    for (uint16_t i = 0; i < p->nstep; i++) {
        const td_step *s = &p->step[i];
        const td_opnd *o = &p->opnd[s->opnd];
        int n = 1 << share(s, s->dt == TD_F64 ? TD_F64 : TD_F32);

        if (s->kind != TD_N_RANDOM)
            continue;
        if (o->inner != 1)
            return 1;
        for (int d = 0; d + 1 < p->nd && !p->flat; d++)
            if (o->stride[d] % n)
                return 1;
        most = n > most ? n : most;
    }
    return most ? most : 1;
}

td_val
td_gen_random(td_gen *g, const td_step *s, td_val i)
{
    td_dtype work = s->dt == TD_F64 ? TD_F64 : TD_F32;
    draw d = {.g = g, .s = s, .dt = work, .place = i};
    int shift = share(s, work);

    if (g->draws && g->lanes % (1 << shift) == 0)
        return spread(&d, td_cast(g->f, td_gen_index(g, s->opnd), TD_U64), g->lanes, shift);

    /* threads of a GPU begin at multiples of their lanes */
    if (g->aligned && g->p->nd == 1 && g->p->opnd[s->opnd].inner == 1 && g->lanes > 1 &&
        g->lanes % (1 << shift) == 0)
        return grouped(&d, td_cast(g->f, g->j, TD_U64), g->lanes, shift);
    set_words(&d, i, shift);
    return value(&d, NULL);
}
