/* complex.c - numbers in kernels: applies the builder's functions to both parts. */
#include "ir/core/complex.h"

static int
lanes_of(const td_fn *f, td_val v)
{
    return f->st || v.i == UINT32_MAX ? 1 : td_at(f, v)->lanes;
}

static int
widest(const td_fn *f, td_num x)
{
    int re = lanes_of(f, x.re), im = lanes_of(f, x.im);

    return re > im ? re : im;
}

td_num
td_num_zero(td_fn *f, td_dtype dt)
{
    td_val zero = td_const_int(f, td_dtype_real_of(dt), 0);

    return (td_num){zero, td_dtype_is_complex(dt) ? zero : TD_NONE};
}

bool
td_num_admits(td_op op)
{
    return op < TD_OPS && td_cxtab[op];
}

td_num
td_num_emit(td_fn *f, td_op op, const td_num *x)
{
    int arity = td_optab[op].arity, lanes = 1;
    td_val v[TD_MAXARG];
    td_num r;

    if (f->st)
        return (td_num){0};
    if (!td_num_is_pair(x[arity - 1])) {
        for (int i = 0; i < arity; i++)
            v[i] = x[i].re;
        return td_num_of(td_emit(f, op, v));
    }
    if (!td_num_admits(op)) {
        f->st = td_fail(TD_ERR_TYPE, "%s: not defined for complex numbers", td_optab[op].name);
        return (td_num){0};
    }
    for (int i = 0; i < arity; i++)
        lanes = widest(f, x[i]) > lanes ? widest(f, x[i]) : lanes;
    r = td_cxtab[op](f, x);
    return td_num_splat(f, r, lanes);
}

td_num
td_num_cast(td_fn *f, td_num x, td_dtype dt)
{
    td_dtype part = td_dtype_real_of(dt);
    td_val zero;

    if (td_dtype_is_complex(dt)) {
        td_val im = td_num_is_pair(x) ? td_cast(f, x.im, part) : td_const(f, part, 0);

        return td_num_splat(f, (td_num){td_cast(f, x.re, part), im}, widest(f, x));
    }
    if (dt != TD_BOOL || !td_num_is_pair(x) || f->st)
        return td_num_of(td_cast(f, x.re, dt));
    zero = td_const(f, (td_dtype)td_at(f, x.re)->dt, 0);
    return td_num_of(
        TD_E2(f, logical_or, TD_E2(f, not_equal, x.re, zero), TD_E2(f, not_equal, x.im, zero)));
}

td_num
td_num_param(td_fn *f, td_dtype dt)
{
    td_num r = {td_param(f, td_dtype_real_of(dt)), TD_NONE};

    if (td_dtype_is_complex(dt))
        r.im = td_param(f, td_dtype_real_of(dt));
    return r;
}

td_val
td_num_param_ptr(td_fn *f, td_dtype dt)
{
    return td_param_ptr(f, td_dtype_real_of(dt));
}

td_val
td_num_shared(td_fn *f, td_dtype dt, uint64_t count)
{
    return td_shared(f, td_dtype_real_of(dt), td_dtype_is_complex(dt) ? 2 * count : count);
}

/* ---- memory ---- */

/* The index of an element's real part; the imaginary part follows it. */
static td_val
complex_place(td_fn *f, td_val index)
{
    return f->st ? index
                 : TD_E2(f, multiply, index, td_const_int(f, (td_dtype)td_at(f, index)->dt, 2));
}

static td_val
next(td_fn *f, td_val index)
{
    return f->st ? index : TD_E2(f, add, index, td_const_int(f, (td_dtype)td_at(f, index)->dt, 1));
}

static td_val
twice(td_fn *f, td_val mask)
{
    return mask.i == UINT32_MAX ? mask : td_zip(f, mask, mask);
}

td_num
td_num_load_parts(td_fn *f, td_val ptr, td_dtype dt, td_val index, td_val mask)
{
    int lanes = lanes_of(f, index);
    td_val re;

    if (!td_dtype_is_complex(dt))
        return td_num_of(td_load(f, ptr, index, mask, lanes, 0));
    index = complex_place(f, index);
    re = td_load(f, ptr, index, mask, lanes, 0);
    return (td_num){re, td_load(f, ptr, next(f, index), mask, lanes, 0)};
}

void
td_num_store_parts(td_fn *f, td_val ptr, td_dtype dt, td_val index, td_num x, td_val mask)
{
    if (!td_dtype_is_complex(dt)) {
        td_store(f, ptr, index, x.re, mask, 0);
        return;
    }
    index = complex_place(f, index);
    td_store(f, ptr, index, x.re, mask, 0);
    td_store(f, ptr, next(f, index), x.im, mask, 0);
}

td_num
td_num_load(td_fn *f, td_val ptr, td_dtype dt, td_val index, td_val mask, int lanes, int align)
{
    td_val v;

    if (!td_dtype_is_complex(dt))
        return td_num_of(td_load(f, ptr, index, mask, lanes, align));
    if (lanes_of(f, index) > 1)
        return td_num_load_parts(f, ptr, dt, index, mask);
    index = complex_place(f, index);
    v = td_load(f, ptr, index, twice(f, mask), 2 * lanes, align);
    return (td_num){td_unzip(f, v, 0), td_unzip(f, v, 1)};
}

void
td_num_store(td_fn *f, td_val ptr, td_dtype dt, td_val index, td_num x, td_val mask, int align)
{
    if (!td_dtype_is_complex(dt)) {
        td_store(f, ptr, index, x.re, mask, align);
        return;
    }
    if (lanes_of(f, index) > 1) {
        td_num_store_parts(f, ptr, dt, index, x, mask);
        return;
    }
    index = complex_place(f, index);
    td_store(f, ptr, index, td_zip(f, x.re, x.im), twice(f, mask), align);
}

/* ---- lanes and variables ---- */

#define BOTH(x, call_re, call_im)                                                                  \
    (td_num)                                                                                       \
    {                                                                                              \
        call_re, td_num_is_pair(x) ? call_im : TD_NONE                                             \
    }

td_num
td_num_splat(td_fn *f, td_num x, int lanes)
{
    return BOTH(x, td_splat(f, x.re, lanes), td_splat(f, x.im, lanes));
}

td_num
td_num_select(td_fn *f, td_val mask, td_num a, td_num b)
{
    return BOTH(a, TD_E3(f, select, mask, a.re, b.re), TD_E3(f, select, mask, a.im, b.im));
}

td_num
td_num_rotate(td_fn *f, td_num x, int k)
{
    return BOTH(x, td_rotate(f, x.re, k), td_rotate(f, x.im, k));
}

td_num
td_num_extract(td_fn *f, td_num x, int lane)
{
    return BOTH(x, td_extract(f, x.re, lane), td_extract(f, x.im, lane));
}

td_num
td_num_shuffle_xor(td_fn *f, td_num x, int mask)
{
    return BOTH(x, td_shuffle_xor(f, x.re, mask), td_shuffle_xor(f, x.im, mask));
}

td_num
td_num_slot(td_fn *f, td_dtype dt, int lanes)
{
    td_num r = {td_slot(f, td_dtype_real_of(dt), lanes), TD_NONE};

    if (td_dtype_is_complex(dt))
        r.im = td_slot(f, td_dtype_real_of(dt), lanes);
    return r;
}

td_num
td_num_get(td_fn *f, td_num slot)
{
    return BOTH(slot, td_get(f, slot.re), td_get(f, slot.im));
}

void
td_num_set(td_fn *f, td_num slot, td_num x)
{
    td_set(f, slot.re, x.re);
    if (td_num_is_pair(slot))
        td_set(f, slot.im, x.im);
}
