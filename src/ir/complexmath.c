/* complexmath.c - the rows whose kinds hold 'c', spelled on pairs of floats.
 *
 * Special values follow NumPy's loops where NumPy has its own (arithmetic, comparisons, sign) and C99's
 * annex G, which NumPy takes from libc, for the rest.  Nothing overflows on the way to a result that
 * does not.  The inverse functions are Kahan's (Branch cuts for complex elementary functions, 1987).
 */
#include "ir/complex.h"

#define E1(op, a)       TD_E1(f, op, a)
#define E2(op, a, b)    TD_E2(f, op, a, b)
#define E3(op, a, b, c) TD_E3(f, op, a, b, c)
#define PART            (f->st ? TD_F64 : (td_dtype)td_at(f, x[0].re)->dt)
#define K(v)            td_const(f, PART, (v))
#define BY_PART(a, b)   K(PART == TD_F32 ? (a) : (b)) /* float32's, float64's */
#define LN2             0.693147180559945309417232121458
#define HALF_PI         1.57079632679489661923132169164

/* Beyond EDGE, exp overflows or is close to it; EDGE_EXP is exp(EDGE). */
#define EDGE     BY_PART(88, 709)
#define EDGE_EXP BY_PART(1.6516362549940018555e38, 8.2184074615549721892e307)
/* A square or a sum of squares of less does not overflow. */
#define LARGE BY_PART(0x1p60, 0x1p500)

static td_num
pair(td_val re, td_val im)
{
    return (td_num){re, im};
}

static td_val
infinite(td_fn *f, td_val v)
{
    return E1(isinf, v);
}

static td_val
not_finite(td_fn *f, td_val v)
{
    return E1(logical_not, E1(isfinite, v));
}

static td_val
is_nan(td_fn *f, td_num z)
{
    return E2(logical_or, E1(isnan, z.re), E1(isnan, z.im));
}

/* -i z and i z: functions of the circle from those of the hyperbola. */
static td_num
turned(td_fn *f, td_num z)
{
    return pair(E1(negative, z.im), z.re);
}

static td_num
turned_back(td_fn *f, td_num z)
{
    return pair(z.im, E1(negative, z.re));
}

/* ---- arithmetic ---- */

static td_num
cx_add(td_fn *f, const td_num *x)
{
    return pair(E2(add, x[0].re, x[1].re), E2(add, x[0].im, x[1].im));
}

static td_num
cx_subtract(td_fn *f, const td_num *x)
{
    return pair(E2(subtract, x[0].re, x[1].re), E2(subtract, x[0].im, x[1].im));
}

static td_num
cx_multiply(td_fn *f, const td_num *x)
{
    return pair(E2(subtract, E2(multiply, x[0].re, x[1].re), E2(multiply, x[0].im, x[1].im)),
                E2(add, E2(multiply, x[0].re, x[1].im), E2(multiply, x[0].im, x[1].re)));
}

/* Smith's: divides by the larger part first.  A zero divisor divides both parts by it. */
static td_num
cx_divide(td_fn *f, const td_num *x)
{
    td_val ar = E1(fabs, x[1].re), ai = E1(fabs, x[1].im), first = E2(greater_equal, ar, ai);
    td_val big = E3(select, first, x[1].re, x[1].im), little = E3(select, first, x[1].im, x[1].re);
    td_val zero = E2(logical_and, E2(equal, ar, K(0)), E2(equal, ai, K(0)));
    td_val ratio = E2(divide, little, big),
           scale = E2(divide, K(1), E2(add, big, E2(multiply, little, ratio)));
    td_val a = E3(select, first, x[0].re, x[0].im), b = E3(select, first, x[0].im, x[0].re);
    td_val re = E2(multiply, E2(add, a, E2(multiply, b, ratio)), scale);
    td_val p = E2(multiply, E3(select, first, x[0].re, x[0].im), ratio), im;

    im = E3(select, first, E2(subtract, x[0].im, p),
            E2(subtract, E2(multiply, x[0].im, ratio), x[0].re));
    im = E2(multiply, im, scale);
    return pair(E3(select, zero, E2(divide, x[0].re, ar), re),
                E3(select, zero, E2(divide, x[0].im, ar), im));
}

static td_num
cx_reciprocal(td_fn *f, const td_num *x)
{
    td_val first = E2(less_equal, E1(fabs, x[0].im), E1(fabs, x[0].re));
    td_val big = E3(select, first, x[0].re, x[0].im), little = E3(select, first, x[0].im, x[0].re);
    td_val ratio = E2(divide, little, big), d = E2(add, big, E2(multiply, little, ratio));

    return pair(E2(divide, E3(select, first, K(1), ratio), d),
                E2(divide, E3(select, first, E1(negative, ratio), K(-1)), d));
}

static td_num
cx_negative(td_fn *f, const td_num *x)
{
    return pair(E1(negative, x[0].re), E1(negative, x[0].im));
}

static td_num
cx_positive(td_fn *f, const td_num *x)
{
    (void)f;
    return x[0];
}

static td_num
cx_conjugate(td_fn *f, const td_num *x)
{
    return pair(x[0].re, E1(negative, x[0].im));
}

static td_num
cx_real(td_fn *f, const td_num *x)
{
    (void)f;
    return td_num_of(x[0].re);
}

static td_num
cx_imag(td_fn *f, const td_num *x)
{
    (void)f;
    return td_num_of(x[0].im);
}

static td_num
cx_absolute(td_fn *f, const td_num *x)
{
    return td_num_of(E2(hypot, x[0].re, x[0].im));
}

static td_num
cx_angle(td_fn *f, const td_num *x)
{
    return td_num_of(E2(arctan2, x[0].im, x[0].re));
}

static td_num
cx_square(td_fn *f, const td_num *x)
{
    td_val cross = E2(multiply, x[0].re, x[0].im);

    return pair(E2(subtract, E2(multiply, x[0].re, x[0].re), E2(multiply, x[0].im, x[0].im)),
                E2(add, cross, cross));
}

/* x / |x|; an infinite part points, two of them do not. */
static td_num
cx_sign(td_fn *f, const td_num *x)
{
    td_val ir = infinite(f, x[0].re), ii = infinite(f, x[0].im), one = K(1), zero = K(0);
    td_val large = BY_PART(0x1p124, 0x1p1020), nan = K(__builtin_nan("")), s, re, im, size, lost;

    s = E2(logical_or, E2(greater, E1(fabs, x[0].re), large),
           E2(greater, E1(fabs, x[0].im), large));
    s = E3(select, s, K(0.25), one);
    re = E3(select, ir, E2(copysign, one, x[0].re), E3(select, ii, zero, E2(multiply, s, x[0].re)));
    im = E3(select, ii, E2(copysign, one, x[0].im), E3(select, ir, zero, E2(multiply, s, x[0].im)));
    size = E2(hypot, re, im);
    lost = E2(logical_and, ir, ii);
    size = E3(select, lost, nan, E3(select, E2(equal, size, zero), one, size));
    return pair(E2(divide, re, size), E2(divide, im, size));
}

static td_num
cx_rint(td_fn *f, const td_num *x)
{
    return pair(E1(rint, x[0].re), E1(rint, x[0].im));
}

/* ---- comparison: by real part, then by imaginary part ---- */

/* NumPy's order; a NaN beside a decisive real part makes it false. */
static td_val
ordered(td_fn *f, td_op real, td_op imag, td_num a, td_num b)
{
    td_val known = E1(logical_not, E2(logical_or, E1(isnan, a.im), E1(isnan, b.im)));
    td_val by_real = E2(logical_and, td_emit(f, real, (td_val[]){a.re, b.re}), known);
    td_val by_imag =
        E2(logical_and, E2(equal, a.re, b.re), td_emit(f, imag, (td_val[]){a.im, b.im}));

    return E2(logical_or, by_real, by_imag);
}

static td_num
cx_less(td_fn *f, const td_num *x)
{
    return td_num_of(ordered(f, OP_less, OP_less, x[0], x[1]));
}

static td_num
cx_less_equal(td_fn *f, const td_num *x)
{
    return td_num_of(ordered(f, OP_less, OP_less_equal, x[0], x[1]));
}

static td_num
cx_greater(td_fn *f, const td_num *x)
{
    return td_num_of(ordered(f, OP_greater, OP_greater, x[0], x[1]));
}

static td_num
cx_greater_equal(td_fn *f, const td_num *x)
{
    return td_num_of(ordered(f, OP_greater, OP_greater_equal, x[0], x[1]));
}

static td_num
cx_equal(td_fn *f, const td_num *x)
{
    return td_num_of(E2(logical_and, E2(equal, x[0].re, x[1].re), E2(equal, x[0].im, x[1].im)));
}

static td_num
cx_not_equal(td_fn *f, const td_num *x)
{
    return td_num_of(
        E2(logical_or, E2(not_equal, x[0].re, x[1].re), E2(not_equal, x[0].im, x[1].im)));
}

static td_num
cx_isnan(td_fn *f, const td_num *x)
{
    return td_num_of(is_nan(f, x[0]));
}

static td_num
cx_isinf(td_fn *f, const td_num *x)
{
    return td_num_of(E2(logical_or, infinite(f, x[0].re), infinite(f, x[0].im)));
}

static td_num
cx_isfinite(td_fn *f, const td_num *x)
{
    return td_num_of(E2(logical_and, E1(isfinite, x[0].re), E1(isfinite, x[0].im)));
}

/* The first unless the second is beyond it; nan: the operand that wins when it holds a NaN. */
static td_num
extreme(td_fn *f, const td_num *x, td_op real, td_op imag, int nan)
{
    td_val first = E2(logical_or, ordered(f, real, imag, x[0], x[1]), is_nan(f, x[nan]));

    return td_num_select(f, first, x[0], x[1]);
}

static td_num
cx_maximum(td_fn *f, const td_num *x)
{
    return extreme(f, x, OP_greater, OP_greater_equal, 0);
}

static td_num
cx_minimum(td_fn *f, const td_num *x)
{
    return extreme(f, x, OP_less, OP_less_equal, 0);
}

static td_num
cx_fmax(td_fn *f, const td_num *x)
{
    return extreme(f, x, OP_greater, OP_greater_equal, 1);
}

static td_num
cx_fmin(td_fn *f, const td_num *x)
{
    return extreme(f, x, OP_less, OP_less_equal, 1);
}

static td_num
cx_select(td_fn *f, const td_num *x)
{
    return td_num_select(f, x[0].re, x[1], x[2]);
}

/* ---- roots, exponentials, logarithms ---- */

/* Parts are scaled by a power of 4 where their squares would leave the range. */
static td_num
cx_sqrt(td_fn *f, const td_num *x)
{
    td_val a = E1(fabs, x[0].re), b = E1(fabs, x[0].im), big, little, in, out, t, u, right;
    td_val zero = K(0), inf = K(__builtin_inf());

    big = BY_PART(0x1p124, 0x1p1020);
    big = E2(logical_or, E2(greater, a, big), E2(greater, b, big));
    little = BY_PART(0x1p-60, 0x1p-900);
    little = E2(logical_and, E2(less, a, little), E2(less, b, little));
    in = E3(select, big, K(0.0625), E3(select, little, BY_PART(0x1p60, 0x1p108), K(1)));
    out = E3(select, big, K(4), E3(select, little, BY_PART(0x1p-30, 0x1p-54), K(1)));
    a = E2(multiply, a, in);
    b = E2(multiply, b, in);
    t = E1(sqrt, E2(multiply, E2(add, a, E2(hypot, a, b)), K(0.5)));
    u = E3(select, E2(equal, t, zero), b, E2(divide, b, E2(add, t, t)));
    t = E2(multiply, t, out);
    u = E2(multiply, u, out);
    right = E2(logical_or, E2(greater_equal, x[0].re, zero), E2(not_equal, x[0].re, x[0].re));
    big = infinite(f, x[0].im);
    return pair(E3(select, big, inf, E3(select, right, t, u)),
                E3(select, big, x[0].im, E2(copysign, E3(select, right, u, t), x[0].im)));
}

static td_num
cx_exp(td_fn *f, const td_num *x)
{
    td_val re = x[0].re, im = x[0].im, zero = K(0), odd = not_finite(f, im);
    td_val big = E2(greater, re, EDGE), scale = E3(select, big, EDGE_EXP, K(1));
    td_val e = E1(exp, E3(select, big, E2(subtract, re, EDGE), re)), r, i, up, down;

    r = E2(multiply, E2(multiply, scale, E1(cos, im)), e);
    i = E2(multiply, E2(multiply, scale, E1(sin, im)), e);
    i = E3(select, E2(equal, im, zero), im, i);
    up = E2(logical_and, odd, E2(equal, re, K(__builtin_inf())));
    down = E2(logical_and, odd, E2(equal, re, K(-__builtin_inf())));
    r = E3(select, up, re, E3(select, down, zero, r));
    return pair(r, E3(select, down, E2(copysign, zero, im), i));
}

static td_num
cx_exp2(td_fn *f, const td_num *x)
{
    td_num z = pair(E2(multiply, x[0].re, K(LN2)), E2(multiply, x[0].im, K(LN2)));

    return cx_exp(f, &z);
}

static td_num
cx_expm1(td_fn *f, const td_num *x)
{
    td_val half = E1(sin, E2(multiply, x[0].im, K(0.5)));
    td_val re = E2(multiply, E1(expm1, x[0].re), E1(cos, x[0].im));

    return pair(E2(subtract, re, E2(multiply, E2(multiply, K(2), half), half)),
                E2(multiply, E1(exp, x[0].re), E1(sin, x[0].im)));
}

/* log |z|, where |z|^2 - 1 is known too for |z| between 1/2 and 2. */
static td_val
log_size(td_fn *f, const td_num *x, td_val above)
{
    td_val large = BY_PART(0x1p124, 0x1p1020), big, s, size, near;

    big = E2(logical_or, E2(greater, E1(fabs, x[0].re), large),
             E2(greater, E1(fabs, x[0].im), large));
    s = E3(select, big, K(0.0625), K(1));
    size = E2(hypot, E2(multiply, x[0].re, s), E2(multiply, x[0].im, s));
    near = E2(logical_and, E2(greater, size, K(0.5)), E2(less, size, K(2)));
    near = E2(logical_and, near, E1(logical_not, big));
    return E3(select, near, E2(multiply, K(0.5), E1(log1p, above)),
              E2(add, E1(log, size), E3(select, big, K(4 * LN2), K(0))));
}

static td_num
cx_log(td_fn *f, const td_num *x)
{
    td_val a = E1(fabs, x[0].re), b = E1(fabs, x[0].im), more = E2(maximum, a, b),
           less = E2(minimum, a, b);
    td_val above = E2(add, E2(multiply, E2(subtract, more, K(1)), E2(add, more, K(1))),
                      E2(multiply, less, less));

    return pair(log_size(f, x, above), E2(arctan2, x[0].im, x[0].re));
}

static td_num
scaled_log(td_fn *f, const td_num *x, double by)
{
    td_num r = cx_log(f, x);

    return pair(E2(multiply, r.re, K(by)), E2(multiply, r.im, K(by)));
}

static td_num
cx_log2(td_fn *f, const td_num *x)
{
    return scaled_log(f, x, 1.44269504088896340736);
}

static td_num
cx_log10(td_fn *f, const td_num *x)
{
    return scaled_log(f, x, 0.43429448190325182765);
}

static td_num
cx_log1p(td_fn *f, const td_num *x)
{
    td_val above =
        E2(add, E2(multiply, x[0].re, E2(add, x[0].re, K(2))), E2(multiply, x[0].im, x[0].im));
    td_num z = pair(E2(add, x[0].re, K(1)), x[0].im);

    return pair(log_size(f, &z, above), E2(arctan2, z.im, z.re));
}

/* ---- powers ---- */

enum { POWER_BITS = 7 }; /* whole exponents below 100 are multiplied out, as NumPy does */

/* z to the power n, a whole number from 0 to 99 as int32, by squaring; n 0 gives z. */
static td_num
whole_power(td_fn *f, td_num z, td_val n, td_dtype dt, int lanes)
{
    td_num acc = td_num_slot(f, dt, lanes), base = td_num_slot(f, dt, lanes), product[2], next;
    td_val left = td_slot(f, TD_I32, lanes), some = td_slot(f, TD_BOOL, lanes), bit;
    td_val one = td_const_int(f, TD_I32, 1);

    td_num_set(f, acc, z);
    td_num_set(f, base, z);
    td_set(f, left, n);
    td_set(f, some, td_const_int(f, TD_BOOL, 0));
    td_for(f, td_const_int(f, TD_I32, 0), td_const_int(f, TD_I32, POWER_BITS), one);
    bit = E2(not_equal, E2(bitwise_and, td_get(f, left), one), td_const_int(f, TD_I32, 0));
    product[0] = td_num_get(f, acc);
    product[1] = td_num_get(f, base);
    next = td_num_select(f, td_get(f, some), cx_multiply(f, product), product[1]);
    td_num_set(f, acc, td_num_select(f, bit, next, product[0]));
    td_set(f, some, E2(logical_or, td_get(f, some), bit));
    td_num_set(f, base, cx_multiply(f, (td_num[]){product[1], product[1]}));
    td_set(f, left, E2(right_shift, td_get(f, left), one));
    td_end(f);
    return td_num_get(f, acc);
}

/* 0 to a power: 0 where its real part is positive, else NaN; anything to the power 0 is 1. */
static td_num
cx_power(td_fn *f, const td_num *x)
{
    td_val zero = K(0), br = x[1].re, size = E1(fabs, br), n, real, whole, none, nothing, nan;
    td_dtype dt = td_dtype_complex_of(PART);
    td_num z[2], r, w;
    int lanes;

    real = E2(equal, x[1].im, zero);
    n = td_cast(f, E3(select, E2(less, size, K(100)), size, zero), TD_I32);
    whole = E2(logical_and, real, E2(equal, td_cast(f, n, PART), size));
    z[1] = cx_log(f, x);
    z[0] = x[1];
    r = cx_multiply(f, z);
    r = cx_exp(f, &r);
    lanes = f->st ? 1 : td_at(f, r.re)->lanes;
    w = whole_power(f, x[0], td_splat(f, n, lanes), dt, lanes);
    w = td_num_select(f, E2(less, br, zero), cx_reciprocal(f, &w), w);
    r = td_num_select(f, whole, w, r);
    none = E2(logical_and, real, E2(equal, br, zero));
    nothing = E2(logical_and, E2(equal, x[0].re, zero), E2(equal, x[0].im, zero));
    nan = E3(select, E2(greater, br, zero), zero, K(__builtin_nan("")));
    r = td_num_select(f, nothing, pair(nan, nan), r);
    return td_num_select(f, none, pair(K(1), zero), r);
}

/* ---- hyperbolic and circular functions ---- */

typedef struct parts {
    td_val s, c, sh, ch; /* sin and cos of im; sinh and cosh of re, beyond EDGE to be scaled: */
    td_val scale, big;   /* of s and c beyond EDGE */
} parts;

/* sinh and cosh of re grow beyond the range before their products with sin and cos do. */
static parts
parts_of(td_fn *f, const td_num *x)
{
    td_val size = E1(fabs, x[0].re), e, one = K(1);
    parts p = {.big = E2(greater, size, EDGE)};

    e = E1(exp, E2(subtract, E3(select, p.big, size, EDGE), EDGE));
    p.scale = E3(select, p.big, E2(multiply, EDGE_EXP, K(0.5)), one);
    p.s = E2(multiply, E1(sin, x[0].im), p.scale);
    p.c = E2(multiply, E1(cos, x[0].im), p.scale);
    p.sh = E3(select, p.big, E2(copysign, e, x[0].re), E1(sinh, x[0].re));
    p.ch = E3(select, p.big, e, E1(cosh, x[0].re));
    return p;
}

static td_num
cx_sinh(td_fn *f, const td_num *x)
{
    parts p = parts_of(f, x);
    td_val re = E2(multiply, p.sh, p.c), im = E2(multiply, p.ch, p.s);
    td_val keep = E2(logical_and, not_finite(f, x[0].im),
                     E2(logical_or, infinite(f, x[0].re), E2(equal, x[0].re, K(0))));

    return pair(E3(select, keep, x[0].re, re), E3(select, E2(equal, x[0].im, K(0)), x[0].im, im));
}

static td_num
cx_cosh(td_fn *f, const td_num *x)
{
    parts p = parts_of(f, x);
    td_val re = E2(multiply, p.ch, p.c), im = E2(multiply, p.sh, p.s), odd = not_finite(f, x[0].im);

    re = E3(select, E2(logical_and, odd, infinite(f, x[0].re)), E1(fabs, x[0].re), re);
    im = E3(select, E2(logical_and, odd, E2(equal, x[0].re, K(0))), x[0].re, im);
    im = E3(select, E2(equal, x[0].im, K(0)), E2(multiply, x[0].im, E2(copysign, K(1), x[0].re)),
            im);
    return pair(re, im);
}

/* Far out: 1 and 4 sin cos exp(-2 |re|). */
static td_num
cx_tanh(td_fn *f, const td_num *x)
{
    td_val size = E1(fabs, x[0].re), far = E2(greater, size, BY_PART(11, 22)), zero = K(0);
    td_val near = E3(select, far, zero, x[0].re), sh = E1(sinh, near), ch = E1(cosh, near);
    td_val s = E1(sin, x[0].im), c = E1(cos, x[0].im), sc = E2(multiply, s, c), re, im, odd;
    td_val d = E2(add, E2(multiply, sh, sh), E2(multiply, c, c));

    re = E3(select, far, E2(copysign, K(1), x[0].re), E2(divide, E2(multiply, sh, ch), d));
    im = E2(multiply, E2(multiply, K(4), sc), E1(exp, E2(multiply, K(-2), size)));
    im = E3(select, far, im, E2(divide, sc, d));
    odd = not_finite(f, x[0].im);
    re = E3(select, E2(logical_and, odd, E1(isfinite, x[0].re)),
            E3(select, E2(equal, x[0].re, zero), x[0].re, s), re);
    im = E3(select, E2(logical_and, odd, infinite(f, x[0].re)), E2(copysign, zero, x[0].im), im);
    return pair(re, E3(select, E2(equal, x[0].im, zero), x[0].im, im));
}

#define CIRCULAR(name, hyperbolic)                                                                 \
    static td_num cx_##name(td_fn *f, const td_num *x)                                             \
    {                                                                                              \
        td_num z = turned(f, x[0]);                                                                \
                                                                                                   \
        z = cx_##hyperbolic(f, &z);                                                                \
        return turned_back(f, z);                                                                  \
    }
CIRCULAR(sin, sinh)
CIRCULAR(tan, tanh)

static td_num
cx_cos(td_fn *f, const td_num *x)
{
    td_num z = turned(f, x[0]);

    return cx_cosh(f, &z);
}

/* ---- their inverses ---- */

/* log(2 |z|) for parts beyond LARGE. */
static td_val
log_twice(td_fn *f, const td_num *x)
{
    td_val quarter = K(0.25);

    return E2(add,
              E1(log, E2(hypot, E2(multiply, x[0].re, quarter), E2(multiply, x[0].im, quarter))),
              K(3 * LN2));
}

static td_val
is_large(td_fn *f, const td_num *x)
{
    return E2(logical_or, E2(greater, E1(fabs, x[0].re), LARGE),
              E2(greater, E1(fabs, x[0].im), LARGE));
}

static td_num
root(td_fn *f, td_val re, td_val im)
{
    td_num z = pair(re, im);

    return cx_sqrt(f, &z);
}

static td_num
cx_arcsinh(td_fn *f, const td_num *x)
{
    td_val re = x[0].re, im = x[0].im, one = K(1), large = is_large(f, x), r, i;
    td_num a = root(f, E2(add, one, im), E1(negative, re)), b = root(f, E2(subtract, one, im), re);

    r = E1(arcsinh, E2(subtract, E2(multiply, a.re, b.im), E2(multiply, b.re, a.im)));
    i = E2(arctan2, im, E2(subtract, E2(multiply, a.re, b.re), E2(multiply, a.im, b.im)));
    r = E3(select, large, E2(copysign, log_twice(f, x), re), r);
    i = E3(select, large, E2(arctan2, im, E1(fabs, re)), i);
    return pair(r, E3(select, E2(equal, im, K(0)), im, i));
}

static td_num
cx_arccosh(td_fn *f, const td_num *x)
{
    td_val re = x[0].re, im = x[0].im, one = K(1), large = is_large(f, x), r, i;
    td_num a = root(f, E2(subtract, re, one), im), b = root(f, E2(add, re, one), im);

    r = E1(arcsinh, E2(add, E2(multiply, a.re, b.re), E2(multiply, a.im, b.im)));
    i = E2(multiply, K(2), E2(arctan2, a.im, b.re));
    i = E3(select, E2(logical_and, E2(equal, re, K(0)), E1(isnan, im)), K(HALF_PI), i);
    return pair(E3(select, large, log_twice(f, x), r), E3(select, large, E2(arctan2, im, re), i));
}

static td_num
cx_arccos(td_fn *f, const td_num *x)
{
    td_val re = x[0].re, im = x[0].im, one = K(1), large = is_large(f, x), r, i;
    td_num a = root(f, E2(subtract, one, re), E1(negative, im)), b = root(f, E2(add, one, re), im);

    r = E2(multiply, K(2), E2(arctan2, a.re, b.re));
    i = E1(arcsinh, E2(subtract, E2(multiply, b.re, a.im), E2(multiply, b.im, a.re)));
    r = E3(select, large, E2(arctan2, E1(fabs, im), re), r);
    i = E3(select, large, E2(copysign, log_twice(f, x), E1(negative, im)), i);
    r = E3(select, E2(logical_and, E2(equal, re, K(0)), E1(isnan, im)), K(HALF_PI), r);
    return pair(r, i);
}

/* For re >= 0; the function is odd. */
static td_num
cx_arctanh(td_fn *f, const td_num *x)
{
    td_val zero = K(0), one = K(1), re = E1(fabs, x[0].re), im, ay = E1(fabs, x[0].im), large, edge;
    td_val h, r, i, below, d, far;

    im = E2(multiply, x[0].im, E2(copysign, one, x[0].re));
    large = is_large(f, x);
    h = E2(hypot, E2(multiply, re, K(0.5)), E2(multiply, ay, K(0.5)));
    r = E2(divide, E2(divide, E2(multiply, re, K(0.25)), h), h);
    r = E3(select, infinite(f, h), zero, r);
    below = E2(subtract, one, re);
    d = E2(add, E2(multiply, below, below), E2(multiply, ay, ay));
    r = E3(select, large, r,
           E2(multiply, K(0.25), E1(log1p, E2(divide, E2(multiply, K(4), re), d))));
    edge = E2(logical_and, E2(equal, re, one), E2(less, ay, BY_PART(0x1p-63, 0x1p-511)));
    d = E2(multiply, K(0.5), E2(subtract, K(LN2), E1(log, ay))); /* -log(sqrt(ay) / sqrt(2)) */
    r = E3(select, edge, d, r);
    i = E2(arctan2, E2(multiply, K(2), im),
           E2(subtract, E2(multiply, below, E2(add, one, re)), E2(multiply, ay, ay)));
    i = E2(multiply, K(0.5), i);
    far = E3(select, E1(isnan, im), im, E2(copysign, K(HALF_PI), im));
    i = E3(select, large, E3(select, E1(isnan, h), h, far), i);
    r = E3(select, E2(logical_and, E2(equal, re, zero), E1(isnan, im)), zero, r);
    i = E2(multiply, i, E2(copysign, one, x[0].re));
    return pair(E2(copysign, r, x[0].re),
                E3(select, E2(logical_and, edge, E2(equal, ay, zero)), x[0].im, i));
}

CIRCULAR(arcsin, arcsinh)
CIRCULAR(arctan, arctanh)

/* clang-format off */
td_cx *const td_cxtab[TD_OPS] = {
#define ROW(name) [OP_##name] = cx_##name
    ROW(add), ROW(subtract), ROW(multiply), ROW(divide), ROW(power), ROW(negative), ROW(positive),
    ROW(absolute), ROW(real), ROW(imag), ROW(conjugate), ROW(angle), ROW(sign), ROW(square),
    ROW(reciprocal), ROW(sqrt), ROW(exp), ROW(exp2), ROW(expm1), ROW(log), ROW(log2), ROW(log10),
    ROW(log1p), ROW(sin), ROW(cos), ROW(tan), ROW(arcsin), ROW(arccos), ROW(arctan), ROW(sinh),
    ROW(cosh), ROW(tanh), ROW(arcsinh), ROW(arccosh), ROW(arctanh), ROW(rint), ROW(maximum),
    ROW(minimum), ROW(fmax), ROW(fmin), ROW(less), ROW(less_equal), ROW(greater),
    ROW(greater_equal), ROW(equal), ROW(not_equal), ROW(isnan), ROW(isinf), ROW(isfinite),
    ROW(select),
};
/* clang-format on */
