/* complexmath.c - roots, exponentials, logarithms, powers, hyperbolic and circular functions of complex numbers, and
 * their inverses.
 *
 * Special values follow C99's annex G, which NumPy takes from libc, and the array API standard where it says more.  No
 * intermediate result overflows if the result does not.  The inverse functions are Kahan's (Branch cuts for complex
 * elementary functions, 1987).
 */
#include "ir/core/complexrows.h"

#define LN2     0.693147180559945309417232121458
#define HALF_PI 1.57079632679489661923132169164

/* Beyond EDGE, exp overflows or is close to it; EDGE_EXP is exp(EDGE). */
#define EDGE     BY_PART(88, 709)
#define EDGE_EXP BY_PART(1.6516362549940018555e38, 8.2184074615549721892e307)
/* Squares of smaller numbers, and sums of two, do not overflow. */
#define LARGE BY_PART(0x1p60, 0x1p500)

static td_val
not_finite(td_fn *f, td_val v)
{
    return E1(logical_not, E1(isfinite, v));
}

/* -i z and i z: they give circular functions from hyperbolic ones. */
static td_num
turned(td_fn *f, td_num z)
{
    return td_pair(E1(negative, z.im), z.re);
}

static td_num
turned_back(td_fn *f, td_num z)
{
    return td_pair(z.im, E1(negative, z.re));
}

/* ---- roots, exponentials, logarithms ---- */

/* Scales the parts by a power of 4 where their squares would overflow or underflow. */
td_num
td_cx_sqrt(td_fn *f, const td_num *x)
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
    big = E1(isinf, x[0].im);
    return td_pair(E3(select, big, inf, E3(select, right, t, u)),
                   E3(select, big, x[0].im, E2(copysign, E3(select, right, u, t), x[0].im)));
}

td_num
td_cx_exp(td_fn *f, const td_num *x)
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
    return td_pair(r, E3(select, down, E2(copysign, zero, im), i));
}

td_num
td_cx_exp2(td_fn *f, const td_num *x)
{
    td_num z = td_pair(E2(multiply, x[0].re, K(LN2)), E2(multiply, x[0].im, K(LN2)));

    return td_cx_exp(f, &z);
}

td_num
td_cx_expm1(td_fn *f, const td_num *x)
{
    td_val half = E1(sin, E2(multiply, x[0].im, K(0.5)));
    td_val re = E1(expm1, x[0].re), odd = not_finite(f, x[0].im), far, r;
    td_num e = td_cx_exp(f, x);

    r = E2(subtract, E2(multiply, re, E1(cos, x[0].im)),
           E2(multiply, E2(multiply, K(2), half), half));
    r = E3(select, E2(equal, x[0].im, K(0)), E2(add, re, K(0)), r);
    far = E2(logical_or, E2(greater, x[0].re, EDGE), E2(logical_and, odd, E1(isinf, x[0].re)));
    return td_pair(E3(select, far, E2(subtract, e.re, K(1)), r), e.im);
}

/* log |z|; above: |z|^2 - 1, used for |z| between 1/2 and 2. */
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

td_num
td_cx_log(td_fn *f, const td_num *x)
{
    td_val a = E1(fabs, x[0].re), b = E1(fabs, x[0].im), more = E2(maximum, a, b),
           less = E2(minimum, a, b);
    td_val above = E2(add, E2(multiply, E2(subtract, more, K(1)), E2(add, more, K(1))),
                      E2(multiply, less, less));

    return td_pair(log_size(f, x, above), E2(arctan2, x[0].im, x[0].re));
}

static td_num
scaled_log(td_fn *f, const td_num *x, double by)
{
    td_num r = td_cx_log(f, x);

    return td_pair(E2(multiply, r.re, K(by)), E2(multiply, r.im, K(by)));
}

td_num
td_cx_log2(td_fn *f, const td_num *x)
{
    return scaled_log(f, x, 1.44269504088896340736);
}

td_num
td_cx_log10(td_fn *f, const td_num *x)
{
    return scaled_log(f, x, 0.43429448190325182765);
}

td_num
td_cx_log1p(td_fn *f, const td_num *x)
{
    td_val above =
        E2(add, E2(multiply, x[0].re, E2(add, x[0].re, K(2))), E2(multiply, x[0].im, x[0].im));
    td_num z = td_pair(E2(add, x[0].re, K(1)), x[0].im);

    return td_pair(log_size(f, &z, above), E2(arctan2, z.im, z.re));
}

/* ---- powers ---- */

enum { POWER_BITS = 7 }; /* integer exponents below 100 are multiplied out, as in NumPy */

/* z to the power n, an int32 from 0 to 99, by squaring; n 0 gives z. */
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
    next = td_num_select(f, td_get(f, some), td_cx_multiply(f, product), product[1]);
    td_num_set(f, acc, td_num_select(f, bit, next, product[0]));
    td_set(f, some, E2(logical_or, td_get(f, some), bit));
    td_num_set(f, base, td_cx_multiply(f, (td_num[]){product[1], product[1]}));
    td_set(f, left, E2(right_shift, td_get(f, left), one));
    td_end(f);
    return td_num_get(f, acc);
}

/* 0 to a power is 0 if the power's real part is positive, else NaN.  Anything to the power 0 is 1. */
td_num
td_cx_power(td_fn *f, const td_num *x)
{
    td_val zero = K(0), br = x[1].re, size = E1(fabs, br), n, real, whole, none, nothing, nan;
    td_dtype dt = td_dtype_complex_of(PART);
    td_num z[2], r, w;
    int lanes;

    real = E2(equal, x[1].im, zero);
    n = td_cast(f, E3(select, E2(less, size, K(100)), size, zero), TD_I32);
    whole = E2(logical_and, real, E2(equal, td_cast(f, n, PART), size));
    z[1] = td_cx_log(f, x);
    z[0] = x[1];
    r = td_cx_multiply(f, z);
    r = td_cx_exp(f, &r);
    lanes = f->st ? 1 : td_at(f, r.re)->lanes;
    w = whole_power(f, x[0], td_splat(f, n, lanes), dt, lanes);
    w = td_num_select(f, E2(less, br, zero), td_cx_reciprocal(f, &w), w);
    r = td_num_select(f, whole, w, r);
    none = E2(logical_and, real, E2(equal, br, zero));
    nothing = E2(logical_and, E2(equal, x[0].re, zero), E2(equal, x[0].im, zero));
    nan = E3(select, E2(greater, br, zero), zero, K(__builtin_nan("")));
    r = td_num_select(f, nothing, td_pair(nan, nan), r);
    return td_num_select(f, none, td_pair(K(1), zero), r);
}

/* ---- hyperbolic and circular functions ---- */

typedef struct parts {
    td_val s, c, sh, ch; /* sin and cos of im; sinh and cosh of re, to be scaled beyond EDGE: */
    td_val scale, big;   /* scale: the factor of s and c beyond EDGE; big: is re beyond EDGE? */
} parts;

/* sinh and cosh of re overflow earlier than their products with sin and cos. */
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

td_num
td_cx_sinh(td_fn *f, const td_num *x)
{
    parts p = parts_of(f, x);
    td_val re = E2(multiply, p.sh, p.c), im = E2(multiply, p.ch, p.s);
    td_val keep = E2(logical_and, not_finite(f, x[0].im),
                     E2(logical_or, E1(isinf, x[0].re), E2(equal, x[0].re, K(0))));

    return td_pair(E3(select, keep, x[0].re, re),
                   E3(select, E2(equal, x[0].im, K(0)), x[0].im, im));
}

td_num
td_cx_cosh(td_fn *f, const td_num *x)
{
    parts p = parts_of(f, x);
    td_val re = E2(multiply, p.ch, p.c), im = E2(multiply, p.sh, p.s), odd = not_finite(f, x[0].im);

    re = E3(select, E2(logical_and, odd, E1(isinf, x[0].re)), E1(fabs, x[0].re), re);
    im = E3(select, E2(logical_and, odd, E2(equal, x[0].re, K(0))), x[0].re, im);
    im = E3(select, E2(equal, x[0].im, K(0)), E2(multiply, x[0].im, E2(copysign, K(1), x[0].re)),
            im);
    return td_pair(re, im);
}

/* For large |re| the parts are 1 and 4 sin cos exp(-2 |re|). */
td_num
td_cx_tanh(td_fn *f, const td_num *x)
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
    im = E3(select, E1(isinf, x[0].re), E2(copysign, zero, x[0].im), im);
    return td_pair(re, E3(select, E2(equal, x[0].im, zero), x[0].im, im));
}

#define CIRCULAR(name, hyperbolic)                                                                 \
    td_num td_cx_##name(td_fn *f, const td_num *x)                                                 \
    {                                                                                              \
        td_num z = turned(f, x[0]);                                                                \
                                                                                                   \
        z = td_cx_##hyperbolic(f, &z);                                                             \
        return turned_back(f, z);                                                                  \
    }
CIRCULAR(sin, sinh)
CIRCULAR(tan, tanh)

td_num
td_cx_cos(td_fn *f, const td_num *x)
{
    td_num z = turned(f, x[0]);

    return td_cx_cosh(f, &z);
}

/* ---- inverse functions ---- */

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
    td_num z = td_pair(re, im);

    return td_cx_sqrt(f, &z);
}

td_num
td_cx_arcsinh(td_fn *f, const td_num *x)
{
    td_val re = x[0].re, im = x[0].im, one = K(1), large = is_large(f, x), r, i;
    td_num a = root(f, E2(add, one, im), E1(negative, re)), b = root(f, E2(subtract, one, im), re);

    r = E1(arcsinh, E2(subtract, E2(multiply, a.re, b.im), E2(multiply, b.re, a.im)));
    i = E2(arctan2, im, E2(subtract, E2(multiply, a.re, b.re), E2(multiply, a.im, b.im)));
    r = E3(select, large, E2(copysign, log_twice(f, x), re), r);
    i = E3(select, large, E2(arctan2, im, E1(fabs, re)), i);
    return td_pair(r, E3(select, E2(equal, im, K(0)), im, i));
}

td_num
td_cx_arccosh(td_fn *f, const td_num *x)
{
    td_val re = x[0].re, im = x[0].im, one = K(1), large = is_large(f, x), r, i;
    td_num a = root(f, E2(subtract, re, one), im), b = root(f, E2(add, re, one), im);

    r = E1(arcsinh, E2(add, E2(multiply, a.re, b.re), E2(multiply, a.im, b.im)));
    i = E2(multiply, K(2), E2(arctan2, a.im, b.re));
    i = E3(select, E2(logical_and, E2(equal, re, K(0)), E1(isnan, im)), K(HALF_PI), i);
    return td_pair(E3(select, large, log_twice(f, x), r),
                   E3(select, large, E2(arctan2, im, re), i));
}

td_num
td_cx_arccos(td_fn *f, const td_num *x)
{
    td_val re = x[0].re, im = x[0].im, one = K(1), large = is_large(f, x), r, i;
    td_num a = root(f, E2(subtract, one, re), E1(negative, im)), b = root(f, E2(add, one, re), im);

    r = E2(multiply, K(2), E2(arctan2, a.re, b.re));
    i = E1(arcsinh, E2(subtract, E2(multiply, b.re, a.im), E2(multiply, b.im, a.re)));
    r = E3(select, large, E2(arctan2, E1(fabs, im), re), r);
    i = E3(select, large, E2(copysign, log_twice(f, x), E1(negative, im)), i);
    r = E3(select, E2(logical_and, E2(equal, re, K(0)), E1(isnan, im)), K(HALF_PI), r);
    return td_pair(r, i);
}

/* Computes for re >= 0; the function is odd. */
td_num
td_cx_arctanh(td_fn *f, const td_num *x)
{
    td_val zero = K(0), one = K(1), re = E1(fabs, x[0].re), im, ay = E1(fabs, x[0].im), large, edge;
    td_val h, r, i, below, d, far;

    im = E2(multiply, x[0].im, E2(copysign, one, x[0].re));
    large = is_large(f, x);
    h = E2(hypot, E2(multiply, re, K(0.5)), E2(multiply, ay, K(0.5)));
    r = E2(divide, E2(divide, E2(multiply, re, K(0.25)), h), h);
    r = E3(select, E1(isinf, h), zero, r);
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
    return td_pair(E2(copysign, r, x[0].re),
                   E3(select, E2(logical_and, edge, E2(equal, ay, zero)), x[0].im, i));
}

CIRCULAR(arcsin, arcsinh)
CIRCULAR(arctan, arctanh)
