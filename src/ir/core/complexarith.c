/* complexarith.c - arithmetic and comparison of complex numbers.
 *
 * Special values are those of NumPy's loops.
 */
#include "ir/core/complexrows.h"

static td_val
is_nan(td_fn *f, td_num z)
{
    return E2(logical_or, E1(isnan, z.re), E1(isnan, z.im));
}

/* ---- arithmetic ---- */

td_num
td_cx_add(td_fn *f, const td_num *x)
{
    return td_pair(E2(add, x[0].re, x[1].re), E2(add, x[0].im, x[1].im));
}

td_num
td_cx_subtract(td_fn *f, const td_num *x)
{
    return td_pair(E2(subtract, x[0].re, x[1].re), E2(subtract, x[0].im, x[1].im));
}

td_num
td_cx_multiply(td_fn *f, const td_num *x)
{
    return td_pair(E2(subtract, E2(multiply, x[0].re, x[1].re), E2(multiply, x[0].im, x[1].im)),
                   E2(add, E2(multiply, x[0].re, x[1].im), E2(multiply, x[0].im, x[1].re)));
}

/* Smith's method: divides by the larger part first.  If the divisor is zero, divides both parts by it. */
td_num
td_cx_divide(td_fn *f, const td_num *x)
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
    return td_pair(E3(select, zero, E2(divide, x[0].re, ar), re),
                   E3(select, zero, E2(divide, x[0].im, ar), im));
}

td_num
td_cx_reciprocal(td_fn *f, const td_num *x)
{
    td_val first = E2(less_equal, E1(fabs, x[0].im), E1(fabs, x[0].re));
    td_val big = E3(select, first, x[0].re, x[0].im), little = E3(select, first, x[0].im, x[0].re);
    td_val ratio = E2(divide, little, big), d = E2(add, big, E2(multiply, little, ratio));

    return td_pair(E2(divide, E3(select, first, K(1), ratio), d),
                   E2(divide, E3(select, first, E1(negative, ratio), K(-1)), d));
}

td_num
td_cx_negative(td_fn *f, const td_num *x)
{
    return td_pair(E1(negative, x[0].re), E1(negative, x[0].im));
}

td_num
td_cx_positive(td_fn *f, const td_num *x)
{
    (void)f;
    return x[0];
}

td_num
td_cx_conjugate(td_fn *f, const td_num *x)
{
    return td_pair(x[0].re, E1(negative, x[0].im));
}

td_num
td_cx_real(td_fn *f, const td_num *x)
{
    (void)f;
    return td_num_of(x[0].re);
}

td_num
td_cx_imag(td_fn *f, const td_num *x)
{
    (void)f;
    return td_num_of(x[0].im);
}

td_num
td_cx_absolute(td_fn *f, const td_num *x)
{
    return td_num_of(E2(hypot, x[0].re, x[0].im));
}

td_num
td_cx_angle(td_fn *f, const td_num *x)
{
    return td_num_of(E2(arctan2, x[0].im, x[0].re));
}

td_num
td_cx_square(td_fn *f, const td_num *x)
{
    td_val cross = E2(multiply, x[0].re, x[0].im);

    return td_pair(E2(subtract, E2(multiply, x[0].re, x[0].re), E2(multiply, x[0].im, x[0].im)),
                   E2(add, cross, cross));
}

/* x / |x|.  One infinite part gives a direction; two give NaN. */
td_num
td_cx_sign(td_fn *f, const td_num *x)
{
    td_val ir = E1(isinf, x[0].re), ii = E1(isinf, x[0].im), one = K(1), zero = K(0);
    td_val large = BY_PART(0x1p124, 0x1p1020), nan = K(__builtin_nan("")), s, re, im, size, lost,
           none;

    s = E2(logical_or, E2(greater, E1(fabs, x[0].re), large),
           E2(greater, E1(fabs, x[0].im), large));
    s = E3(select, s, K(0.25), one);
    re = E3(select, ir, E2(copysign, one, x[0].re), E3(select, ii, zero, E2(multiply, s, x[0].re)));
    im = E3(select, ii, E2(copysign, one, x[0].im), E3(select, ir, zero, E2(multiply, s, x[0].im)));
    size = E2(hypot, re, im);
    lost = E2(logical_and, ir, ii);
    none = E2(equal, size, zero);
    size = E3(select, lost, nan, size);
    return td_pair(E3(select, none, zero, E2(divide, re, size)),
                   E3(select, none, zero, E2(divide, im, size)));
}

td_num
td_cx_rint(td_fn *f, const td_num *x)
{
    return td_pair(E1(rint, x[0].re), E1(rint, x[0].im));
}

/* ---- comparison: by real part, then by imaginary part ---- */

/* NumPy's order: by the real part, then the imaginary one; false if the deciding real part has a NaN beside it. */
static td_val
ordered(td_fn *f, td_op real, td_op imag, td_num a, td_num b)
{
    td_val known = E1(logical_not, E2(logical_or, E1(isnan, a.im), E1(isnan, b.im)));
    td_val by_real = E2(logical_and, td_emit(f, real, (td_val[]){a.re, b.re}), known);
    td_val by_imag =
        E2(logical_and, E2(equal, a.re, b.re), td_emit(f, imag, (td_val[]){a.im, b.im}));

    return E2(logical_or, by_real, by_imag);
}

td_num
td_cx_less(td_fn *f, const td_num *x)
{
    return td_num_of(ordered(f, OP_less, OP_less, x[0], x[1]));
}

td_num
td_cx_less_equal(td_fn *f, const td_num *x)
{
    return td_num_of(ordered(f, OP_less, OP_less_equal, x[0], x[1]));
}

td_num
td_cx_greater(td_fn *f, const td_num *x)
{
    return td_num_of(ordered(f, OP_greater, OP_greater, x[0], x[1]));
}

td_num
td_cx_greater_equal(td_fn *f, const td_num *x)
{
    return td_num_of(ordered(f, OP_greater, OP_greater_equal, x[0], x[1]));
}

td_num
td_cx_equal(td_fn *f, const td_num *x)
{
    return td_num_of(E2(logical_and, E2(equal, x[0].re, x[1].re), E2(equal, x[0].im, x[1].im)));
}

td_num
td_cx_not_equal(td_fn *f, const td_num *x)
{
    return td_num_of(
        E2(logical_or, E2(not_equal, x[0].re, x[1].re), E2(not_equal, x[0].im, x[1].im)));
}

td_num
td_cx_isnan(td_fn *f, const td_num *x)
{
    return td_num_of(is_nan(f, x[0]));
}

td_num
td_cx_isinf(td_fn *f, const td_num *x)
{
    return td_num_of(E2(logical_or, E1(isinf, x[0].re), E1(isinf, x[0].im)));
}

td_num
td_cx_isfinite(td_fn *f, const td_num *x)
{
    return td_num_of(E2(logical_and, E1(isfinite, x[0].re), E1(isfinite, x[0].im)));
}

/* x[0], unless x[1] is beyond it; nan: the operand that wins if it contains a NaN. */
static td_num
extreme(td_fn *f, const td_num *x, td_op real, td_op imag, int nan)
{
    td_val first = E2(logical_or, ordered(f, real, imag, x[0], x[1]), is_nan(f, x[nan]));

    return td_num_select(f, first, x[0], x[1]);
}

td_num
td_cx_maximum(td_fn *f, const td_num *x)
{
    return extreme(f, x, OP_greater, OP_greater_equal, 0);
}

td_num
td_cx_minimum(td_fn *f, const td_num *x)
{
    return extreme(f, x, OP_less, OP_less_equal, 0);
}

td_num
td_cx_fmax(td_fn *f, const td_num *x)
{
    return extreme(f, x, OP_greater, OP_greater_equal, 1);
}

td_num
td_cx_fmin(td_fn *f, const td_num *x)
{
    return extreme(f, x, OP_less, OP_less_equal, 1);
}

td_num
td_cx_select(td_fn *f, const td_num *x)
{
    return td_num_select(f, x[0].re, x[1], x[2]);
}

td_cx *const td_cxtab[TD_OPS] = {
#define ROW(name) [OP_##name] = td_cx_##name,
    TD_CX_ROWS(ROW)};
