/* exactcomplex.c - complex numbers in exact functions, and values that may be complex: programs begin with z = 0.
 *
 * A mixed number that may be complex is a pair, whose imaginary part is 0 while it is real.
 */
#include "front/infer/exact.h"
#include "front/infer/intrin.h"

#include <math.h>

static td_val
complex_real(walk *w, double v)
{
    return td_const(w->f, TD_F64, v);
}

static td_val
tag(walk *w, uint32_t kind)
{
    return td_const_int(w->f, TD_U8, (int64_t)kind);
}

static td_num
exactcomplex_product(walk *w, td_num a, td_num b)
{
    return td_num_emit(w->f, OP_multiply, (td_num[]){a, b});
}

/* CPython's, by Smith: through the larger part of the divisor. */
static td_num
complex_quotient(walk *w, td_num a, td_num b)
{
    td_fn *f = w->f;
    td_val first = TD_E2(f, greater_equal, TD_E1(f, fabs, b.re), TD_E1(f, fabs, b.im));
    td_val big = TD_E3(f, select, first, b.re, b.im), little = TD_E3(f, select, first, b.im, b.re);
    td_val ratio = TD_E2(f, divide, little, big);
    td_val denom = TD_E2(f, add, big, TD_E2(f, multiply, little, ratio));
    td_val ar = TD_E2(f, multiply, a.re, ratio), ai = TD_E2(f, multiply, a.im, ratio);
    td_val re = TD_E3(f, select, first, TD_E2(f, add, a.re, ai), TD_E2(f, add, ar, a.im));
    td_val im = TD_E3(f, select, first, TD_E2(f, subtract, a.im, ar), TD_E2(f, subtract, ai, a.re));

    return (td_num){TD_E2(f, divide, re, denom), TD_E2(f, divide, im, denom)};
}

/* z ** n by squaring, as CPython has it, which begins with 1. */
static td_num
power(walk *w, td_num z, int64_t n)
{
    td_num r = {complex_real(w, 1), complex_real(w, 0)};

    for (int64_t bit = 1; n >= bit; bit <<= 1) {
        if (n & bit)
            r = exactcomplex_product(w, r, z);
        if (n >= bit << 1)
            z = exactcomplex_product(w, z, z);
    }
    return r;
}

/* The same of an int that a float64 holds. */
static td_val
power_int(walk *w, td_val x, int64_t n, td_val ints)
{
    td_val r = x;

    for (int64_t i = 1; i < n; i++)
        r = exact_settled(w, TD_E2(w->f, multiply, r, x), ints);
    return r;
}

static td_status
complex_compute(walk *w, td_syn op, td_num x, td_num y, int64_t n, td_num *r)
{
    switch (op) {
    case TD_SYN_Add:  *r = td_num_emit(w->f, OP_add, (td_num[]){x, y}); return TD_OK;
    case TD_SYN_Sub:  *r = td_num_emit(w->f, OP_subtract, (td_num[]){x, y}); return TD_OK;
    case TD_SYN_Mult: *r = exactcomplex_product(w, x, y); return TD_OK;
    case TD_SYN_Div:  *r = complex_quotient(w, x, y); return TD_OK;
    case TD_SYN_Pow:
        if (!n)
            break;
        *r = power(w, x, n);
        return TD_OK;
    default: break;
    }
    return bad(w, w->node, TD_ERR_TYPE, "%s of complex numbers is Python's alone",
               td_syntab[op].name);
}

/* Where r is what CPython may compute in another way, or refuse; real: TD_NONE, or where no complex number is met.
 * Newer Pythons do not make a real operand complex, and put infinities right: signs of zero and NaN may differ. */
static void
flag_odd(walk *w, td_syn op, td_num r, bool mixed, td_val no)
{
    td_val part[2] = {r.re, r.im}, odd;

    for (int i = 0; i < 2; i++) {
        odd = op == TD_SYN_Pow ? TD_E1(w->f, logical_not, TD_E1(w->f, isfinite, part[i]))
                               : TD_E1(w->f, isnan, part[i]);
        if ((mixed || op == TD_SYN_Div) && w->how->by_parts)
            odd = TD_E2(w->f, logical_or, odd, TD_E2(w->f, equal, part[i], complex_real(w, 0)));
        if (no.i != UINT32_MAX)
            odd = TD_E2(w->f, logical_and, odd, TD_E1(w->f, logical_not, no));
        exact_flag(w, odd);
    }
}

static td_val
is_real(walk *w, const thing *x)
{
    if (is_mixed(x) && is_complex(x))
        return TD_E2(w->f, not_equal, x->tag, tag(w, EXACT_COMPLEX));
    return td_const_int(w->f, TD_BOOL, !is_complex(x));
}

/* The value of real operands, as a float64. */
static td_val
of_reals(walk *w, td_syn op, const thing *a, td_num x, td_num y, int64_t n, td_val ints)
{
    td_val v[2] = {x.re, y.re};

    if (op == TD_SYN_Div)
        return td_emit(w->f, OP_divide, v);
    if (op == TD_SYN_Pow) { /* a float's is the C library's, which costs more than all else */
        if (a->type->object & EXACT_FLOAT)
            exact_flag(w, TD_E2(w->f, equal, a->tag, tag(w, EXACT_FLOAT)));
        return power_int(w, x.re, n, ints);
    }
    return exact_settled(w,
                         td_emit(w->f,
                                 op == TD_SYN_Add   ? OP_add
                                 : op == TD_SYN_Sub ? OP_subtract
                                                    : OP_multiply,
                                 v),
                         ints);
}

static thing
mixed(walk *w, td_val no, td_val ints, td_val re, td_num r)
{
    thing out = num_of(td_type_mixed(EXACT_INT | EXACT_FLOAT | EXACT_COMPLEX),
                       (td_num){TD_E3(w->f, select, no, re, r.re),
                                TD_E3(w->f, select, no, complex_real(w, 0), r.im)});

    out.tag = TD_E3(w->f, select, ints, tag(w, EXACT_INT), tag(w, EXACT_FLOAT));
    out.tag = TD_E3(w->f, select, no, out.tag, tag(w, EXACT_COMPLEX));
    return out;
}

td_status
complex_binary(walk *w, td_syn op, const thing *a, const thing *b, thing *out)
{
    bool sure = (is_complex(a) && !is_mixed(a)) || (is_complex(b) && !is_mixed(b));
    bool division = op == TD_SYN_Div;
    td_num x = exact_pair(w, a, division), y = exact_pair(w, b, division), r;
    td_val no, ints;
    int64_t n = 0;

    if (!known_int(b, &n) || n < 1 || n > 16)
        n = 0;
    exact_none(w, a);
    exact_none(w, b);
    TD_TRY(complex_compute(w, op, x, y, n, &r));
    if (division)
        exact_flag(w, TD_E2(w->f, logical_and, TD_E2(w->f, equal, y.re, complex_real(w, 0)),
                            TD_E2(w->f, equal, y.im, complex_real(w, 0))));
    if (sure) {
        flag_odd(w, op, r, !is_complex(a) || !is_complex(b) || is_mixed(a) || is_mixed(b), TD_NONE);
        *out = num_of(td_type_weak('c'), r);
        return built(w, w->node);
    }
    no = TD_E2(w->f, logical_and, is_real(w, a), is_real(w, b));
    ints = TD_E2(w->f, logical_and, exact_is_int(w, a), exact_is_int(w, b));
    flag_odd(w, op, r, true, no);
    *out = mixed(w, no, division ? td_const_int(w->f, TD_BOOL, 0) : ints,
                 of_reals(w, op, a, x, y, n, ints), r);
    return built(w, w->node);
}

td_status
complex_unary(walk *w, td_syn op, const thing *a, thing *out)
{
    td_num x = exact_pair(w, a, false), r = x;
    td_val ints;

    if (op == TD_SYN_Invert)
        return bad(w, w->node, TD_ERR_TYPE, "~ is not defined for %s", a->type->name);
    exact_none(w, a);
    if (op == TD_SYN_USub)
        r = td_num_emit(w->f, OP_negative, &x);
    if (!is_mixed(a)) {
        *out = num_of(td_type_weak('c'), r);
        return built(w, w->node);
    }
    ints = exact_is_int(w, a);
    *out = mixed(w, is_real(w, a), ints, exact_settled(w, r.re, ints), r);
    return built(w, w->node);
}

td_status
complex_equal(walk *w, td_op op, const thing *a, const thing *b, thing *out)
{
    td_num x = exact_pair(w, a, true), y = exact_pair(w, b, true);

    exact_none(w, a);
    exact_none(w, b);
    *out = num_of(td_type_num(TD_BOOL), td_num_emit(w->f, op, (td_num[]){x, y}));
    return built(w, w->node);
}

static void
int_or_float(walk *w, td_val v, td_val ints, thing *out)
{
    *out = num_of(td_type_mixed(EXACT_INT | EXACT_FLOAT), td_num_of(v));
    out->tag = TD_E3(w->f, select, ints, tag(w, EXACT_INT), tag(w, EXACT_FLOAT));
}

td_status
complex_absolute(walk *w, const thing *a, thing *out)
{
    enum { FAR = 300 }; /* beyond 10**300 it may overflow */
    td_num z = exact_pair(w, a, false), *pair = td_alloc(w->mem, sizeof *pair);
    td_val part[2] = {z.re, z.im}, r = td_emit(w->f, OP_hypot, part);

    for (int i = 0; i < 2; i++)
        exact_flag(w,
                   TD_E2(w->f, greater, TD_E1(w->f, fabs, part[i]), complex_real(w, pow(10, FAR))));
    exact_none(w, a);
    if (is_mixed(a))
        int_or_float(w, r, exact_is_int(w, a), out);
    else
        *out = num_of(td_type_weak('f'), td_num_of(r));
    *pair = z;
    out->pair = pair;
    return built(w, w->node);
}

/* |z| beside a constant k: |z|**2 beside k**2 says the same but where they are close. */
bool
complex_size(walk *w, td_op op, const thing *a, const thing *b, thing *out)
{
    const td_num *z = a->pair;
    double k = b->known && is_num(b) ? as_double(b) : 0;
    td_val size, off;

    if (!z || !(k > 1e-100 && k < 1e100))
        return false;
    size =
        TD_E2(w->f, add, TD_E2(w->f, multiply, z->re, z->re), TD_E2(w->f, multiply, z->im, z->im));
    off = TD_E1(w->f, fabs, TD_E2(w->f, subtract, size, complex_real(w, k * k)));
    exact_flag(w, TD_E2(w->f, less_equal, off, complex_real(w, k * k * 1e-14)));
    *out = num_val(TD_BOOL, td_emit(w->f, op, (td_val[]){size, complex_real(w, k * k)}));
    return true;
}

td_status
complex_part(walk *w, const thing *a, bool imag, thing *out)
{
    thing x = *a, zero = num_int(0);
    td_num z;

    exact_none(w, a);
    if (!is_complex(a) && (!is_mixed(a) || a->type->dt != TD_F64)) {
        exact_pure(w, &x, EXACT_BOOL);
        *out = num_convert(w, imag ? &zero : &x, td_type_weak(x.type->dt == TD_F64 ? 'f' : 'i'));
        return built(w, w->node);
    }
    z = exact_pair(w, a, false);
    if (is_mixed(a))
        int_or_float(w, imag ? z.im : z.re, exact_is_int(w, a), out);
    else
        *out = num_of(td_type_weak('f'), td_num_of(imag ? z.im : z.re));
    return built(w, w->node);
}
