/* reduce.c - the rows of reduce.def in IR. */
#include "array/reduce.h"

#include <math.h>

const td_redinfo td_redtab[TD_RED_COUNT] = {
#define RED(n, na, id, mean)                                                                       \
    [TD_RED_##n] = {.name = #n, .meaning = mean, .nacc = na, .identity = id},
#include "array/reduce.def"
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

    if (td_dtype_is_complex(in) || (want >= 0 && td_dtype_is_complex((td_dtype)want)))
        return td_fail(TD_ERR_TYPE, "%s: not available for %s yet", td_redtab[red].name,
                       td_dtype_name(td_dtype_is_complex(in) ? in : (td_dtype)want));
    switch (red) {
    case TD_RED_sum:
    case TD_RED_prod:
        *out = want >= 0 ? (td_dtype)want : integral ? wide_int(in) : in;
        return TD_OK;
    case TD_RED_mean:
    case TD_RED_var:
    case TD_RED_std:           *out = want >= 0 ? (td_dtype)want : integral ? TD_F64 : in; return TD_OK;
    case TD_RED_any:
    case TD_RED_all:           *out = TD_BOOL; return TD_OK;
    case TD_RED_argmin:
    case TD_RED_argmax:
    case TD_RED_count_nonzero: *out = TD_I64; return TD_OK;
    case TD_RED_min:
    case TD_RED_max:           *out = in; return TD_OK;
    case TD_RED_COUNT:         break;
    }
    td_bug(__FILE__, __LINE__, "reduction");
}

td_dtype
td_red_acc(td_red red, int i, td_dtype in, td_dtype out)
{
    td_dtype value = td_dtype_is_half(in) ? TD_F32 : in;

    switch (red) {
    case TD_RED_sum:
        return td_dtype_is_float(out) ? TD_F64 : out == TD_BOOL ? TD_BOOL : wide_int(out);
    case TD_RED_prod:          return td_dtype_is_half(out) ? TD_F32 : out;
    case TD_RED_mean:
    case TD_RED_var:
    case TD_RED_std:           return TD_F64;
    case TD_RED_any:
    case TD_RED_all:           return TD_BOOL;
    case TD_RED_count_nonzero: return TD_I64;
    case TD_RED_min:
    case TD_RED_max:           return value;
    case TD_RED_argmin:
    case TD_RED_argmax:        return i ? TD_I64 : value;
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

void
td_red_init(td_fn *f, td_red red, const td_dtype acc[], td_val out[])
{
    switch (red) {
    case TD_RED_prod:
    case TD_RED_all:  out[0] = td_const_int(f, acc[0], 1); return;
    case TD_RED_min:  out[0] = highest(f, acc[0]); return;
    case TD_RED_max:  out[0] = lowest(f, acc[0]); return;
    case TD_RED_argmin:
        out[0] = highest(f, acc[0]);
        out[1] = td_const_int(f, TD_I64, INT64_MAX);
        return;
    case TD_RED_argmax:
        out[0] = lowest(f, acc[0]);
        out[1] = td_const_int(f, TD_I64, INT64_MAX);
        return;
    default:
        for (int i = 0; i < td_redtab[red].nacc; i++)
            out[i] = td_const_int(f, acc[i], 0);
    }
}

void
td_red_lift(td_fn *f, td_red red, const td_dtype acc[], td_val x, td_val index, td_val out[])
{
    switch (red) {
    case TD_RED_argmin:
    case TD_RED_argmax:
        out[0] = x;
        out[1] = index;
        return;
    case TD_RED_var:
    case TD_RED_std:
        out[0] = td_cast(f, x, TD_F64);
        out[1] = TD_E2(f, multiply, out[0], out[0]);
        return;
    case TD_RED_count_nonzero: out[0] = td_cast(f, td_cast(f, x, TD_BOOL), TD_I64); return;
    default:                   out[0] = td_cast(f, x, acc[0]);
    }
}

bool
td_red_shifts(td_red red)
{
    return red == TD_RED_var ||
           red == TD_RED_std; /* their squares would swallow small deviations */
}

/* NaN beats all, then the value, then the smaller index. */
static void
merge_arg(td_fn *f, td_op better, const td_val a[], const td_val b[], td_val out[])
{
    td_val take = td_emit(f, better, (td_val[]){b[0], a[0]}), tie = TD_E2(f, equal, b[0], a[0]);
    bool is_float = !f->st && td_dtype_is_float((td_dtype)td_at(f, a[0])->dt);

    if (is_float) {
        td_val na = TD_E1(f, isnan, a[0]), nb = TD_E1(f, isnan, b[0]);

        take = TD_E2(f, logical_or, take, TD_E2(f, logical_and, nb, TD_E1(f, logical_not, na)));
        tie = TD_E2(f, logical_or, tie, TD_E2(f, logical_and, na, nb));
    }
    take = TD_E2(f, logical_or, take, TD_E2(f, logical_and, tie, TD_E2(f, less, b[1], a[1])));
    out[0] = TD_E3(f, select, take, b[0], a[0]);
    out[1] = TD_E3(f, select, take, b[1], a[1]);
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

void
td_red_merge(td_fn *f, td_red red, const td_val a[], const td_val b[], td_val out[])
{
    if (red == TD_RED_argmin || red == TD_RED_argmax) {
        merge_arg(f, red == TD_RED_argmin ? OP_less : OP_greater, a, b, out);
        return;
    }
    for (int i = 0; i < td_redtab[red].nacc; i++)
        out[i] = merge_one(f, red, a[i], b[i]);
}

td_val
td_red_finish(td_fn *f, td_red red, const td_val acc[], td_val count, td_val ddof, td_dtype out)
{
    td_val n, v;

    switch (red) {
    case TD_RED_mean: return td_cast(f, TD_E2(f, divide, acc[0], td_cast(f, count, TD_F64)), out);
    case TD_RED_var:
    case TD_RED_std: /* (sum of squares - sum^2 / n) / (n - ddof), not below 0 */
        n = td_cast(f, count, TD_F64);
        v = TD_E2(f, subtract, acc[1], TD_E2(f, divide, TD_E2(f, multiply, acc[0], acc[0]), n));
        v = TD_E2(f, maximum, v, td_const(f, TD_F64, 0));
        n = TD_E2(f, maximum, TD_E2(f, subtract, n, ddof), td_const(f, TD_F64, 0));
        v = TD_E2(f, divide, v, n);
        return td_cast(f, red == TD_RED_std ? TD_E1(f, sqrt, v) : v, out);
    case TD_RED_argmin:
    case TD_RED_argmax: return acc[1];
    default:            return td_cast(f, acc[0], out);
    }
}

td_scalar
td_red_empty(td_red red, td_dtype out)
{
    bool one = red == TD_RED_prod || red == TD_RED_all;
    bool nan = red == TD_RED_mean || red == TD_RED_var || red == TD_RED_std;

    if (td_dtype_is_float(out))
        return (td_scalar){.dt = out, .f = {nan ? (double)NAN : one}};
    return (td_scalar){.dt = out, .i = one};
}
