/* spellint.c - functions of typed.def: integers and bits. */
#include "front/expr/typed.h"

td_status
spell_bits(walk *w, const thing *x, int n, int how, td_dtype to, thing *out)
{
    (void)n;
    (void)to;
    *out = num_val(typed_dt(x), td_emit(w->f, (td_op)how, (td_val[]){val(x)}));
    return built(w, w->node);
}

/* 1 + the number of the lowest bit that is set, by the leading zeros of x & -x; 0 for 0. */
td_status
spell_ffs(walk *w, const thing *x, int n, int how, td_dtype to, thing *out)
{
    td_dtype dt = typed_dt(x);
    td_val v = val(x), lowest;

    (void)n;
    (void)how;
    (void)to;
    lowest = TD_E2(w->f, bitwise_and, v, TD_E2(w->f, subtract, typed_whole(w, dt, 0), v));
    *out = num_val(dt, TD_E2(w->f, subtract, typed_whole(w, dt, (int64_t)(8 * td_dtype_size(dt))),
                             TD_E1(w->f, leading_zeros, lowest))); /* for 0: all bits */
    return built(w, w->node);
}

static td_val
as(walk *w, const thing *x, td_dtype dt)
{
    return td_cast(w->f, val(x), dt);
}

/* how: an operation on unsigned integers */
td_status
spell_unsigned(walk *w, const thing *x, int n, int how, td_dtype to, thing *out)
{
    td_dtype dt = unsigned_of(to);
    td_val v[TD_MAXARG];

    for (int i = 0; i < n; i++)
        v[i] = as(w, &x[i], dt);
    *out = num_val(dt, td_emit(w->f, (td_op)(how & HOW_OP), v));
    return built(w, w->node);
}

/* x as int64, of the bits of an unsigned integer where the row says so */
static td_val
wide(walk *w, const thing *x, int how)
{
    return td_cast(w->f, how & UNSIGNED ? as(w, x, TD_U32) : val(x), TD_I64);
}

/* (x + y + how's lowest bit) / 2, rounded down. */
td_status
spell_average(walk *w, const thing *x, int n, int how, td_dtype to, thing *out)
{
    td_val sum = TD_E2(w->f, add, wide(w, &x[0], how), wide(w, &x[1], how));

    (void)n;
    (void)to;
    sum = TD_E2(w->f, add, sum, typed_whole(w, TD_I64, how & 1));
    *out = num_val(TD_I64, TD_E2(w->f, right_shift, sum, typed_whole(w, TD_I64, 1)));
    return built(w, w->node);
}

/* The product of the numbers in the lower 24 bits. */
td_status
spell_mul24(walk *w, const thing *x, int n, int how, td_dtype to, thing *out)
{
    td_dtype dt = how & UNSIGNED ? TD_U32 : TD_I32;
    td_val v[2], by = typed_whole(w, dt, 8);

    (void)n;
    (void)to;
    for (int i = 0; i < 2; i++)
        v[i] = TD_E2(w->f, right_shift, TD_E2(w->f, left_shift, as(w, &x[i], dt), by), by);
    *out = num_val(dt, TD_E2(w->f, multiply, v[0], v[1]));
    return built(w, w->node);
}

td_status
spell_mulhi(walk *w, const thing *x, int n, int how, td_dtype to, thing *out)
{
    td_dtype dt = how & UNSIGNED ? TD_U64 : TD_I64; /* of uint32 the product may need all 64 bits */
    td_val product = TD_E2(w->f, multiply, td_cast(w->f, wide(w, &x[0], how), dt),
                           td_cast(w->f, wide(w, &x[1], how), dt));

    (void)n;
    (void)to;
    *out = num_val(dt, TD_E2(w->f, right_shift, product, typed_whole(w, dt, 32)));
    return built(w, w->node);
}

/* The upper half of a signed product: a negative factor is 2**64 less than its bits. */
td_status
spell_mul64hi(walk *w, const thing *x, int n, int how, td_dtype to, thing *out)
{
    td_val v[2], zero = typed_whole(w, TD_I64, 0), none = typed_whole(w, TD_U64, 0), high;

    (void)n;
    (void)how;
    (void)to;
    for (int i = 0; i < 2; i++)
        v[i] = as(w, &x[i], TD_U64);
    high = TD_E2(w->f, mulhi, v[0], v[1]);
    for (int i = 0; i < 2; i++)
        high = TD_E2(w->f, subtract, high,
                     TD_E3(w->f, select, TD_E2(w->f, less, val(&x[i]), zero), v[1 - i], none));
    *out = num_val(TD_U64, high);
    return built(w, w->node);
}

/* Byte k of the result is one of the 8 bytes of (x, y): bits 0 to 2 of the k-th half byte of z choose it, bit 3 asks
 * for its sign in all bits. */
td_status
spell_byte_perm(walk *w, const thing *x, int n, int how, td_dtype to, thing *out)
{
    td_val all = TD_E2(w->f, bitwise_or, td_cast(w->f, as(w, &x[0], TD_U32), TD_U64),
                       TD_E2(w->f, left_shift, td_cast(w->f, as(w, &x[1], TD_U32), TD_U64),
                             typed_whole(w, TD_U64, 32)));
    td_val which = td_cast(w->f, as(w, &x[2], TD_U32), TD_U64), sum = typed_whole(w, TD_U64, 0);

    (void)n;
    (void)how;
    (void)to;
    for (int k = 0; k < 4; k++) {
        td_val nibble = TD_E2(w->f, right_shift, which, typed_whole(w, TD_U64, 4 * k)), byte, sign;
        td_val bits =
            TD_E2(w->f, left_shift, TD_E2(w->f, bitwise_and, nibble, typed_whole(w, TD_U64, 7)),
                  typed_whole(w, TD_U64, 3));

        byte = TD_E2(w->f, bitwise_and, TD_E2(w->f, right_shift, all, bits),
                     typed_whole(w, TD_U64, 255));
        sign = TD_E3(w->f, select, TD_E2(w->f, greater, byte, typed_whole(w, TD_U64, 127)),
                     typed_whole(w, TD_U64, 255), typed_whole(w, TD_U64, 0));
        nibble = TD_E2(w->f, bitwise_and, nibble, typed_whole(w, TD_U64, 8));
        byte =
            TD_E3(w->f, select, TD_E2(w->f, equal, nibble, typed_whole(w, TD_U64, 0)), byte, sign);
        sum = TD_E2(w->f, bitwise_or, sum,
                    TD_E2(w->f, left_shift, byte, typed_whole(w, TD_U64, 8 * k)));
    }
    *out = num_val(TD_U64, sum);
    return built(w, w->node);
}

/* |x - y| + z */
td_status
spell_sad(walk *w, const thing *x, int n, int how, td_dtype to, thing *out)
{
    td_val d = TD_E2(w->f, subtract, wide(w, &x[0], how), wide(w, &x[1], how));

    (void)n;
    (void)to;
    *out = num_val(TD_I64, TD_E2(w->f, add, TD_E1(w->f, absolute, d), wide(w, &x[2], how)));
    return built(w, w->node);
}

/* ---- bits of floats ---- */

td_status
spell_bits_as(walk *w, const thing *x, int n, int how, td_dtype to, thing *out)
{
    (void)n;
    (void)how;
    *out = num_val(to, td_bitcast(w->f, val(x), to));
    return built(w, w->node);
}

/* how: the number of the lowest bit of the wanted half of a float64 */
td_status
spell_half_of(walk *w, const thing *x, int n, int how, td_dtype to, thing *out)
{
    td_val bits = td_bitcast(w->f, val(x), TD_U64);

    (void)n;
    (void)to;
    *out = num_val(TD_U64, TD_E2(w->f, right_shift, bits, typed_whole(w, TD_U64, how)));
    return built(w, w->node);
}

td_status
spell_hilo(walk *w, const thing *x, int n, int how, td_dtype to, thing *out)
{
    td_val high = td_cast(w->f, as(w, &x[0], TD_U32), TD_U64),
           low = td_cast(w->f, as(w, &x[1], TD_U32), TD_U64);

    (void)n;
    (void)how;
    high = TD_E2(w->f, left_shift, high, typed_whole(w, TD_U64, 32));
    *out = num_val(to, td_bitcast(w->f, TD_E2(w->f, bitwise_or, high, low), to));
    return built(w, w->node);
}

td_status
spell_to_half(walk *w, const thing *x, int n, int how, td_dtype to, thing *out)
{
    (void)n;
    (void)how;
    *out = num_val(to, td_bitcast(w->f, as(w, x, TD_F16), to));
    return built(w, w->node);
}

td_status
spell_from_half(walk *w, const thing *x, int n, int how, td_dtype to, thing *out)
{
    (void)n;
    (void)how;
    *out = num_val(to, td_cast(w->f, td_bitcast(w->f, val(x), TD_F16), to));
    return built(w, w->node);
}
