/* range.c - arithmetic of the least and the greatest value.  An operation that may leave its dtype gives any value. */
#include "ir/passes/look.h"

range
range_any(td_dtype dt)
{
    switch (dt) {
    case TD_BOOL: return (range){0, 1};
    case TD_I8:   return (range){INT8_MIN, INT8_MAX};
    case TD_I16:  return (range){INT16_MIN, INT16_MAX};
    case TD_I32:  return (range){INT32_MIN, INT32_MAX};
    case TD_U8:   return (range){0, UINT8_MAX};
    case TD_U16:  return (range){0, UINT16_MAX};
    case TD_U32:  return (range){0, UINT32_MAX};
    default:      return (range){INT64_MIN, INT64_MAX};
    }
}

bool
is_any(td_dtype dt, range r)
{
    return dt == TD_U64 && r.lo < 0;
}

/* What arithmetic gives that may leave the dtype. */
range
range_fit(td_dtype dt, range r, bool overflow)
{
    range all = range_any(dt);

    return overflow || r.lo < all.lo || r.hi > all.hi || (dt == TD_U64 && r.lo < 0) ? all : r;
}

range
range_join(range a, range b)
{
    if (a.lo > a.hi)
        return b;
    if (b.lo > b.hi)
        return a;
    return (range){a.lo < b.lo ? a.lo : b.lo, a.hi > b.hi ? a.hi : b.hi};
}

range
range_meet(range a, range b)
{
    return (range){a.lo > b.lo ? a.lo : b.lo, a.hi < b.hi ? a.hi : b.hi};
}

static range
known(bool yes, bool no)
{
    return (range){yes, !no};
}

static range
range_multiply(td_dtype dt, range a, range b)
{
    int64_t p[4];
    bool over =
        __builtin_mul_overflow(a.lo, b.lo, &p[0]) | __builtin_mul_overflow(a.lo, b.hi, &p[1]) |
        __builtin_mul_overflow(a.hi, b.lo, &p[2]) | __builtin_mul_overflow(a.hi, b.hi, &p[3]);
    range r = {p[0], p[0]};

    for (int i = 1; i < 4; i++)
        r = range_join(r, (range){p[i], p[i]});
    return range_fit(dt, r, over);
}

range
range_compare(unsigned op, range a, range b)
{
    switch (op) {
    case OP_less:          return known(a.hi < b.lo, a.lo >= b.hi);
    case OP_less_equal:    return known(a.hi <= b.lo, a.lo > b.hi);
    case OP_greater:       return known(a.lo > b.hi, a.hi <= b.lo);
    case OP_greater_equal: return known(a.lo >= b.hi, a.hi < b.lo);
    case OP_equal:
        return known(a.lo == a.hi && b.lo == b.hi && a.lo == b.lo, a.hi < b.lo || b.hi < a.lo);
    default: return known(a.hi < b.lo || b.hi < a.lo, a.lo == a.hi && b.lo == b.hi && a.lo == b.lo);
    }
}

/* The greatest number of as many bits. */
static int64_t
below_power(int64_t x)
{
    return x ? (int64_t)(UINT64_MAX >> __builtin_clzll((uint64_t)x)) : 0;
}

/* Rows whose operands are not negative, or one of them a positive number. */
static range
range_of_natural(unsigned op, td_dtype dt, range a, range b)
{
    bool whole = a.lo >= 0 && b.lo >= 0;

    switch (op) {
    case OP_truncate_divide:
    case OP_floor_divide:
        return whole && b.lo > 0 ? (range){a.lo / b.hi, a.hi / b.lo} : range_any(dt);
    case OP_remainder: /* has the divisor's sign */
        if (b.lo > 0)
            return a.lo >= 0 && a.hi < b.lo ? a : (range){0, b.hi - 1};
        return range_any(dt);
    case OP_fmod:
        return whole && b.lo > 0 ? (range){0, a.hi < b.hi ? a.hi : b.hi - 1} : range_any(dt);
    case OP_right_shift:
        return whole && b.hi < 63 ? (range){a.lo >> b.hi, a.hi >> b.lo} : range_any(dt);
    case OP_left_shift:
        return whole && b.hi < 62 ? range_multiply(dt, a, (range){1ll << b.lo, 1ll << b.hi})
                                  : range_any(dt);
    case OP_bitwise_and:
        if (a.lo >= 0 || b.lo >= 0) {
            int64_t most = a.lo < 0 ? b.hi : b.lo < 0 ? a.hi : a.hi < b.hi ? a.hi : b.hi;

            return is_any(dt, a) && is_any(dt, b) ? range_any(dt) : (range){0, most};
        }
        return range_any(dt);
    case OP_bitwise_or:
    case OP_bitwise_xor: return whole ? (range){0, below_power(a.hi | b.hi)} : range_any(dt);
    default:             return range_any(dt);
    }
}

range
range_of_bools(unsigned op, range a, range b)
{
    switch (op) {
    case OP_logical_and:
    case OP_bitwise_and: return (range){a.lo & b.lo, a.hi & b.hi};
    case OP_logical_or:
    case OP_bitwise_or:  return (range){a.lo | b.lo, a.hi | b.hi};
    case OP_logical_xor:
    case OP_bitwise_xor:
        return a.lo == a.hi && b.lo == b.hi ? (range){a.lo ^ b.lo, a.lo ^ b.lo} : (range){0, 1};
    default: return (range){0, 1};
    }
}

range
range_of_two(unsigned op, td_dtype dt, range a, range b)
{
    range r;
    bool over;

    switch (op) {
    case OP_add:
        over =
            __builtin_add_overflow(a.lo, b.lo, &r.lo) | __builtin_add_overflow(a.hi, b.hi, &r.hi);
        return range_fit(dt, r, over || is_any(dt, a) || is_any(dt, b));
    case OP_subtract:
        over =
            __builtin_sub_overflow(a.lo, b.hi, &r.lo) | __builtin_sub_overflow(a.hi, b.lo, &r.hi);
        return range_fit(dt, r, over || is_any(dt, a) || is_any(dt, b));
    case OP_multiply:
        return is_any(dt, a) || is_any(dt, b) ? range_any(dt) : range_multiply(dt, a, b);
    case OP_minimum:
    case OP_maximum:
        if (is_any(dt, a) || is_any(dt, b))
            return range_any(dt);
        return op == OP_minimum ? (range){a.lo < b.lo ? a.lo : b.lo, a.hi < b.hi ? a.hi : b.hi}
                                : (range){a.lo > b.lo ? a.lo : b.lo, a.hi > b.hi ? a.hi : b.hi};
    default: return range_of_natural(op, dt, a, b);
    }
}

bool
is_within(range a, range b)
{
    return a.lo >= b.lo && a.hi <= b.hi;
}
