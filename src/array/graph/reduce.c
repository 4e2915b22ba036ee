/* reduce.c - the rows of reduce.def in IR. */
#include "array/graph/reduce.h"

#include <math.h>

const td_redinfo td_redtab[TD_RED_COUNT] = {
#define RED(n, na, np, id, mean, de)                                                               \
    [TD_RED_##n] = {                                                                               \
        .name = #n, .meaning = mean, .derivative = de, .nacc = na, .npair = np, .identity = id},
#define INNER RED
#include "array/graph/reduce.def"
};

static td_dtype
wide_int(td_dtype in)
{
    return td_dtype_kind(in) == 'u' ? TD_U64 : TD_I64;
}

td_status
td_red_result(td_red red, td_dtype in, int want, td_dtype *out)
{
    bool integral = td_dtype_is_int(in) || in == TD_BOOL;

    switch (red) {
    case TD_RED_sum:
    case TD_RED_prod:
        *out = want >= 0 ? (td_dtype)want : integral ? wide_int(in) : in;
        return TD_OK;
    case TD_RED_mean: *out = want >= 0 ? (td_dtype)want : integral ? TD_F64 : in; return TD_OK;
    case TD_RED_var:
    case TD_RED_std:
        *out = td_dtype_real_of(want >= 0 ? (td_dtype)want : integral ? TD_F64 : in);
        return TD_OK;
    case TD_RED_any:
    case TD_RED_all:           *out = TD_BOOL; return TD_OK;
    case TD_RED_argmin:
    case TD_RED_argmax:
    case TD_RED_count_nonzero: *out = TD_I64; return TD_OK;
    case TD_RED_min:
    case TD_RED_max:           *out = in; return TD_OK;
    case TD_RED_ends:
        if (td_dtype_is_complex(in))
            return td_fail(TD_ERR_TYPE, "ends: not defined for %s", td_dtype_name(in));
        *out = td_dtype_is_half(in) || in == TD_F32 ? TD_C64 : TD_C128;
        return TD_OK;
    case TD_RED_COUNT: break;
    }
    td_bug(__FILE__, __LINE__, "reduction");
}

bool
td_red_pair(td_red red, td_dtype in, td_dtype out)
{
    bool own = red == TD_RED_sum || red == TD_RED_prod || red == TD_RED_mean;

    return td_dtype_is_complex(own ? out : in);
}

int
td_red_nacc(td_red red, bool pair)
{
    return pair ? td_redtab[red].npair : td_redtab[red].nacc;
}

td_dtype
td_red_acc(td_red red, int i, td_dtype in, td_dtype out)
{
    td_dtype value = td_dtype_is_half(in) ? TD_F32 : td_dtype_real_of(in);
    bool last = i == td_red_nacc(red, td_red_pair(red, in, out)) - 1;

    switch (red) {
    case TD_RED_sum:
        if (td_dtype_is_float(out) || td_dtype_is_complex(out))
            return TD_F64;
        return out == TD_BOOL ? TD_BOOL : wide_int(out);
    case TD_RED_prod:          return td_dtype_is_half(out) ? TD_F32 : td_dtype_real_of(out);
    case TD_RED_mean:
    case TD_RED_var:
    case TD_RED_std:           return TD_F64;
    case TD_RED_any:
    case TD_RED_all:           return TD_BOOL;
    case TD_RED_count_nonzero: return TD_I64;
    case TD_RED_min:
    case TD_RED_max:
    case TD_RED_ends:          return value;
    case TD_RED_argmin:
    case TD_RED_argmax:        return last ? TD_I64 : value;
    case TD_RED_COUNT:         break;
    }
    td_bug(__FILE__, __LINE__, "reduction");
}

static td_val
lowest(td_fn *f, td_dtype dt)
{
    int bits = 8 * (int)td_dtype_size(dt);

    switch (td_dtype_kind(dt)) {
    case 'f': return td_const(f, dt, -INFINITY);
    case 'i': return td_const_int(f, dt, -((int64_t)1 << (bits - 2)) * 2);
    }
    return td_const_int(f, dt, 0);
}

static td_val
highest(td_fn *f, td_dtype dt)
{
    int bits = 8 * (int)td_dtype_size(dt);

    switch (td_dtype_kind(dt)) {
    case 'f': return td_const(f, dt, INFINITY);
    case 'i': return td_const_int(f, dt, (int64_t)((uint64_t)INT64_MAX >> (64 - bits)));
    case 'u': return td_const_int(f, dt, (int64_t)(UINT64_MAX >> (64 - bits)));
    }
    return td_const_int(f, dt, 1);
}

/* The value that every element beats, or ties only with itself. */
static td_val
worst(td_fn *f, td_red red, td_dtype dt)
{
    return red == TD_RED_min || red == TD_RED_argmin ? highest(f, dt) : lowest(f, dt);
}

void
td_red_init(td_fn *f, td_red red, bool pair, const td_dtype acc[], td_val out[])
{
    int n = td_red_nacc(red, pair), parts = pair ? 2 : 1;

    for (int i = 0; i < n; i++)
        out[i] = td_const_int(f, acc[i], 0);
    switch (red) {
    case TD_RED_prod:
    case TD_RED_all:  out[0] = td_const_int(f, acc[0], 1); return;
    case TD_RED_ends:
        out[0] = highest(f, acc[0]);
        out[1] = lowest(f, acc[1]);
        return;
    case TD_RED_min:
    case TD_RED_max:
    case TD_RED_argmin:
    case TD_RED_argmax:
        for (int i = 0; i < parts; i++)
            out[i] = worst(f, red, acc[i]);
        if (n > parts)
            out[n - 1] = td_const_int(f, acc[n - 1], 0); /* right if all elements are that bad */
        return;
    default: return;
    }
}

void
td_red_lift(td_fn *f, td_red red, bool pair, const td_dtype acc[], td_num x, td_val index,
            td_val out[])
{
    int n = td_red_nacc(red, pair);

    switch (red) {
    case TD_RED_any:
    case TD_RED_all:           out[0] = td_num_cast(f, x, TD_BOOL).re; return;
    case TD_RED_count_nonzero: out[0] = td_cast(f, td_num_cast(f, x, TD_BOOL).re, TD_I64); return;
    default:                   break;
    }
    x = td_num_cast(f, x, pair ? td_dtype_complex_of(acc[0]) : acc[0]);
    out[0] = x.re;
    if (pair || red == TD_RED_ends)
        out[1] = pair ? x.im : x.re;
    if (red == TD_RED_argmin || red == TD_RED_argmax)
        out[n - 1] = td_cast(f, index, acc[n - 1]);
    if (red != TD_RED_var && red != TD_RED_std)
        return;
    out[n - 1] = TD_E2(f, multiply, x.re, x.re);
    if (pair)
        out[n - 1] = TD_E2(f, add, out[n - 1], TD_E2(f, multiply, x.im, x.im));
}

bool
td_red_shifts(td_red red)
{
    return red == TD_RED_var || red == TD_RED_std; /* squares would swallow small deviations */
}

static td_num
reduce_number(const td_val acc[], bool pair)
{
    return (td_num){acc[0], pair ? acc[1] : TD_NONE};
}

static td_val
emit_compare(td_fn *f, td_op op, td_num a, td_num b)
{
    return td_num_emit(f, op, (td_num[]){a, b}).re;
}

/* NaN beats everything, then the value decides, then the smaller index. */
static void
merge_arg(td_fn *f, td_op better, bool pair, const td_val a[], const td_val b[], td_val out[])
{
    td_num x = reduce_number(a, pair), y = reduce_number(b, pair);
    td_val take = emit_compare(f, better, y, x), tie = emit_compare(f, OP_equal, y, x);
    bool is_float = !f->st && td_dtype_is_float((td_dtype)td_at(f, a[0])->dt);
    int n = pair ? 3 : 2;

    if (is_float) {
        td_val na = td_num_emit(f, OP_isnan, &x).re, nb = td_num_emit(f, OP_isnan, &y).re;

        take = TD_E2(f, logical_or, take, nb);
        take = TD_E2(f, logical_and, take, TD_E1(f, logical_not, na));
        tie = TD_E2(f, logical_or, tie, TD_E2(f, logical_and, na, nb));
    }
    take =
        TD_E2(f, logical_or, take, TD_E2(f, logical_and, tie, TD_E2(f, less, b[n - 1], a[n - 1])));
    for (int i = 0; i < n; i++)
        out[i] = TD_E3(f, select, take, b[i], a[i]);
}

static td_val
merge_one(td_fn *f, td_red red, td_val a, td_val b)
{
    td_dtype dt = f->st ? TD_I64 : (td_dtype)td_at(f, a)->dt;

    switch (red) {
    case TD_RED_prod: return dt == TD_BOOL ? TD_E2(f, logical_and, a, b) : TD_E2(f, multiply, a, b);
    case TD_RED_min:  return dt == TD_BOOL ? TD_E2(f, logical_and, a, b) : TD_E2(f, minimum, a, b);
    case TD_RED_max:  return dt == TD_BOOL ? TD_E2(f, logical_or, a, b) : TD_E2(f, maximum, a, b);
    case TD_RED_any:  return TD_E2(f, logical_or, a, b);
    case TD_RED_all:  return TD_E2(f, logical_and, a, b);
    default:          return dt == TD_BOOL ? TD_E2(f, logical_or, a, b) : TD_E2(f, add, a, b);
    }
}

/* For complex numbers, products and extremes cannot be merged part by part. */
static void
merge_pair(td_fn *f, td_op op, const td_val a[], const td_val b[], td_val out[])
{
    td_num r = td_num_emit(f, op, (td_num[]){reduce_number(a, true), reduce_number(b, true)});

    out[0] = r.re;
    out[1] = r.im;
}

void
td_red_merge(td_fn *f, td_red red, bool pair, const td_val a[], const td_val b[], td_val out[])
{
    if (red == TD_RED_argmin || red == TD_RED_argmax) {
        merge_arg(f, red == TD_RED_argmin ? OP_less : OP_greater, pair, a, b, out);
        return;
    }
    if (pair && (red == TD_RED_prod || red == TD_RED_min || red == TD_RED_max)) {
        merge_pair(f,
                   red == TD_RED_prod  ? OP_multiply
                   : red == TD_RED_min ? OP_minimum
                                       : OP_maximum,
                   a, b, out);
        return;
    }
    if (red == TD_RED_ends) {
        out[0] = merge_one(f, TD_RED_min, a[0], b[0]);
        out[1] = merge_one(f, TD_RED_max, a[1], b[1]);
        return;
    }
    for (int i = 0; i < td_red_nacc(red, pair); i++)
        out[i] = merge_one(f, red, a[i], b[i]);
}

/* (sum of |x|^2 - |sum|^2 / n) / (n - ddof), not below 0 */
static td_val
variance(td_fn *f, bool pair, const td_val acc[], td_val n, td_val ddof)
{
    td_val zero = td_const(f, TD_F64, 0), square = TD_E2(f, multiply, acc[0], acc[0]), v;

    if (pair)
        square = TD_E2(f, add, square, TD_E2(f, multiply, acc[1], acc[1]));
    v = TD_E2(f, subtract, acc[pair ? 2 : 1], TD_E2(f, divide, square, n));
    v = TD_E2(f, maximum, v, zero);
    return TD_E2(f, divide, v, TD_E2(f, maximum, TD_E2(f, subtract, n, ddof), zero));
}

/* Adds 0 to a sum, as NumPy's sums begin with it: a sum of -0.0 alone gives 0. */
static td_val
from_zero(td_fn *f, td_val sum)
{
    td_dtype dt = f->st ? TD_I64 : (td_dtype)td_at(f, sum)->dt;

    return td_dtype_is_float(dt) ? TD_E2(f, add, sum, td_const(f, dt, 0)) : sum;
}

void
td_red_add(td_fn *f, td_red red, bool pair, const td_val acc[], const td_val x[], td_val out[])
{
    bool is_float = !f->st && td_dtype_is_float((td_dtype)td_at(f, acc[0])->dt);
    td_val take;

    if (pair || (red != TD_RED_argmin && red != TD_RED_argmax)) {
        td_red_merge(f, red, pair, acc, x, out);
        return;
    }
    if (is_float) { /* x is better or NaN, and acc is not NaN */
        take = td_emit(f, red == TD_RED_argmin ? OP_greater_equal : OP_less_equal,
                       (td_val[]){x[0], acc[0]});
        take = TD_E2(f, logical_and, TD_E1(f, logical_not, take), TD_E2(f, equal, acc[0], acc[0]));
    } else {
        take = td_emit(f, red == TD_RED_argmin ? OP_less : OP_greater, (td_val[]){x[0], acc[0]});
    }
    for (int i = 0; i < 2; i++)
        out[i] = TD_E3(f, select, take, x[i], acc[i]);
}

td_num
td_red_finish(td_fn *f, td_red red, bool pair, const td_val acc[], td_val count, td_val ddof,
              td_dtype out)
{
    td_val n, v;
    td_num r;

    switch (red) {
    case TD_RED_sum:
        r = td_num_of(from_zero(f, acc[0]));
        if (pair)
            r.im = from_zero(f, acc[1]);
        return td_num_cast(f, r, out);
    case TD_RED_mean:
        n = td_cast(f, count, TD_F64);
        r = td_num_of(TD_E2(f, divide, from_zero(f, acc[0]), n));
        if (pair)
            r.im = TD_E2(f, divide, from_zero(f, acc[1]), n);
        return td_num_cast(f, r, out);
    case TD_RED_var:
    case TD_RED_std:
        v = variance(f, pair, acc, td_cast(f, count, TD_F64), ddof);
        return td_num_of(td_cast(f, red == TD_RED_std ? TD_E1(f, sqrt, v) : v, out));
    case TD_RED_argmin:
    case TD_RED_argmax:        return td_num_of(td_cast(f, acc[pair ? 2 : 1], out));
    case TD_RED_ends:          return td_num_cast(f, reduce_number(acc, true), out);
    case TD_RED_any:
    case TD_RED_all:
    case TD_RED_count_nonzero: return td_num_of(td_cast(f, acc[0], out));
    default:                   return td_num_cast(f, reduce_number(acc, pair), out);
    }
}

td_scalar
td_red_empty(td_red red, td_dtype out)
{
    bool one = red == TD_RED_prod || red == TD_RED_all;
    bool nan = red == TD_RED_mean || red == TD_RED_var || red == TD_RED_std;

    if (td_dtype_is_float(out) || td_dtype_is_complex(out))
        return (td_scalar){.dt = out, .f = {nan ? (double)NAN : one, nan ? (double)NAN : 0}};
    return (td_scalar){.dt = out, .i = one};
}
