/* exactnum.c - Python's operators on exact numbers: computes what CPython does, and flags where
 * int64 or floats would differ.
 */
#include "front/infer/exact.h"
#include "front/infer/intrin.h"

static td_val
exactnum_whole(walk *w, int64_t v)
{
    return td_const_int(w->f, TD_I64, v);
}

static td_val
exactnum_real(walk *w, double v)
{
    return td_const(w->f, TD_F64, v);
}

static bool
is_float(const thing *x)
{
    return x->type->dt == TD_F64;
}

static void
flag_either(walk *w, td_val a, td_val b)
{
    exact_flag(w, TD_E2(w->f, logical_or, a, b));
}

/* Where v of int64 or float64 is 0. */
static void
flag_zero(walk *w, const thing *x)
{
    td_dtype dt = (td_dtype)x->type->dt;

    if (!x->known || (is_int(x) ? x->lit.i == 0 : x->lit.f[0] == 0))
        exact_flag(w, TD_E2(w->f, equal, val_as(w, x, dt), td_const(w->f, dt, 0)));
}

/* Where the int is not below 2**53: a float would not hold it. */
static void
flag_wide(walk *w, const thing *x)
{
    if (is_int(x) && !x->small)
        exact_raw(w, x, TD_F64, true);
}

void
exact_domain(walk *w, td_val r, const td_val *x, uint32_t n)
{
    td_val finite = TD_E1(w->f, isfinite, x[0]), nan = TD_E1(w->f, isnan, x[0]), odd;

    for (uint32_t i = 1; i < n; i++) {
        finite = TD_E2(w->f, logical_and, finite, TD_E1(w->f, isfinite, x[i]));
        nan = TD_E2(w->f, logical_or, nan, TD_E1(w->f, isnan, x[i]));
    }
    odd = TD_E2(w->f, logical_and, TD_E1(w->f, isnan, r), TD_E1(w->f, logical_not, nan));
    odd = TD_E2(w->f, logical_or, odd, finite);
    exact_flag(w,
               TD_E2(w->f, logical_and, odd, TD_E1(w->f, logical_not, TD_E1(w->f, isfinite, r))));
}

/* ---- ints ---- */

/* Does a + c or a - c of a literal overflow? */
static td_val
passes(walk *w, td_val a, td_val r, bool up)
{
    return up ? TD_E2(w->f, less, r, a) : TD_E2(w->f, greater, r, a);
}

static void
flag_sum(walk *w, td_syn op, const thing *a, const thing *b, thing *r)
{
    td_val x = val_as(w, a, TD_I64), y = val_as(w, b, TD_I64), s = r->num.re, both;
    const thing *k = b->known ? b : op == TD_SYN_Add && a->known ? a : NULL;
    const thing *other = k == b ? a : b;

    if (k && k->small && other->small) {
        r->small = true;
        return;
    }
    if (k && k->lit.i == 0)
        return;
    if (k) {
        exact_flag(w, passes(w, k == b ? x : y, s, (op == TD_SYN_Add) == (k->lit.i > 0)));
        return;
    }
    both = TD_E2(w->f, bitwise_xor, x, op == TD_SYN_Add ? s : y);
    both = TD_E2(w->f, bitwise_and, both, TD_E2(w->f, bitwise_xor, op == TD_SYN_Add ? y : x, s));
    exact_flag(w, TD_E2(w->f, less, both, exactnum_whole(w, 0)));
}

/* Products that may reach 2**63, told by their float64, which is off by 4e-16 of it at most. */
static void
flag_large(walk *w, td_val about)
{
    exact_flag(w, TD_E1(w->f, logical_not,
                        TD_E2(w->f, less, TD_E1(w->f, fabs, about),
                              exactnum_real(w, 9.2233720368547e18))));
}

static void
flag_product(walk *w, const thing *a, const thing *b)
{
    const thing *k = b->known ? b : a->known ? a : NULL;
    td_val x;
    int64_t most;

    if (!k || k->lit.i == INT64_MIN) {
        flag_large(w, TD_E2(w->f, multiply, val_as(w, a, TD_F64), val_as(w, b, TD_F64)));
        return;
    }
    if (k->lit.i == 0 || k->lit.i == 1)
        return;
    x = val_as(w, k == b ? a : b, TD_I64);
    most = INT64_MAX / (k->lit.i < 0 ? -k->lit.i : k->lit.i);
    flag_either(w, TD_E2(w->f, greater, x, exactnum_whole(w, most)),
                TD_E2(w->f, less, x, exactnum_whole(w, -most)));
}

static void
flag_negative(walk *w, const thing *x)
{
    if (x->known ? x->lit.i < 0 : !x->nonneg)
        exact_flag(w, TD_E2(w->f, less, val_as(w, x, TD_I64), exactnum_whole(w, 0)));
}

static td_status
power_ints(walk *w, const thing *a, const thing *b, thing *out)
{
    thing have = *a, x = *a, y = *b;
    bool any = false;

    if (b->known && b->lit.i >= 0 && b->lit.i <= 16) {
        *out = num_int(1);
        for (int64_t n = b->lit.i; n; n >>= 1) {
            if (n & 1)
                TD_TRY(any ? exact_binary(w, TD_SYN_Mult, out, &have, out) : (*out = have, TD_OK));
            any = any || (n & 1);
            if (n > 1)
                TD_TRY(exact_binary(w, TD_SYN_Mult, &have, &have, &have));
        }
        return TD_OK;
    }
    if (b->known && b->lit.i < 0) {
        exact_float(w, &x);
        exact_float(w, &y);
        return exact_binary(w, TD_SYN_Pow, &x, &y, out);
    }
    flag_negative(w, b);
    TD_TRY(num_op(w, OP_power, (thing[]){*a, *b}, 2, out));
    flag_large(w, TD_E2(w->f, pow, val_as(w, a, TD_F64), val_as(w, b, TD_F64)));
    return built(w, w->node);
}

static td_status
shift_left(walk *w, const thing *a, const thing *b, thing *out)
{
    td_val x = val_as(w, a, TD_I64), k = val_as(w, b, TD_I64), r;

    flag_negative(w, b);
    r = TD_E2(w->f, left_shift, x, k);
    exact_flag(w, TD_E2(w->f, not_equal, TD_E2(w->f, right_shift, r, k), x));
    *out = num_index(r, false);
    return built(w, w->node);
}

/* int / int: Python's rounds once, and so does a division of floats that hold them. */
static td_status
divide_ints(walk *w, const thing *a, const thing *b, thing *out)
{
    thing x = *a, y = *b;

    flag_wide(w, a);
    flag_wide(w, b);
    exact_float(w, &x);
    exact_float(w, &y);
    return num_op(w, OP_divide, (thing[]){x, y}, 2, out);
}

/* The least int by -1 is 2**63. */
static void
flag_least(walk *w, const thing *a, const thing *b)
{
    td_val x = TD_E2(w->f, equal, val_as(w, a, TD_I64), exactnum_whole(w, INT64_MIN));

    if (!a->small && !a->nonneg && !(b->known && b->lit.i != -1))
        exact_flag(w, TD_E2(w->f, logical_and, x,
                            TD_E2(w->f, equal, val_as(w, b, TD_I64), exactnum_whole(w, -1))));
}

static td_status
row(walk *w, td_op op, const thing *a, const thing *b, thing *out)
{
    return num_op(w, op, (thing[]){*a, *b}, 2, out);
}

static bool
is_bits(td_syn op)
{
    return op == TD_SYN_BitAnd || op == TD_SYN_BitOr || op == TD_SYN_BitXor;
}

static td_status
binary_ints(walk *w, td_syn op, thing a, thing b, thing *out)
{
    int64_t least = num_least_of(op, &a, &b);
    bool nonneg;

    if (is_bits(op))
        return row(w,
                   op == TD_SYN_BitAnd  ? OP_bitwise_and
                   : op == TD_SYN_BitOr ? OP_bitwise_or
                                        : OP_bitwise_xor,
                   &a, &b, out);
    a = num_convert(w, &a, td_type_weak('i'));
    b = num_convert(w, &b, td_type_weak('i'));
    nonneg = a.nonneg && b.nonneg;
    switch (op) {
    case TD_SYN_Add:
    case TD_SYN_Sub: {
        thing r;

        TD_TRY(row(w, op == TD_SYN_Add ? OP_add : OP_subtract, &a, &b, &r));
        flag_sum(w, op, &a, &b, &r);
        r.nonneg = least >= 0;
        r.least = least > 0 ? (uint32_t)least : 0;
        *out = r;
        return built(w, w->node);
    }
    case TD_SYN_Mult:
        flag_product(w, &a, &b);
        TD_TRY(row(w, OP_multiply, &a, &b, out));
        out->nonneg = nonneg;
        return TD_OK;
    case TD_SYN_Div: flag_zero(w, &b); return divide_ints(w, &a, &b, out);
    case TD_SYN_FloorDiv:
        flag_zero(w, &b);
        flag_least(w, &a, &b);
        return row(w, OP_floor_divide, &a, &b, out);
    case TD_SYN_Mod:    flag_zero(w, &b); return row(w, OP_remainder, &a, &b, out);
    case TD_SYN_Pow:    return power_ints(w, &a, &b, out);
    case TD_SYN_LShift: return shift_left(w, &a, &b, out);
    case TD_SYN_RShift: flag_negative(w, &b); return row(w, OP_right_shift, &a, &b, out);
    default:            break;
    }
    return bad(w, w->node, TD_ERR_TYPE, "%s is not defined between ints", td_syntab[op].name);
}

/* ---- floats ---- */

static td_status
binary_floats(walk *w, td_syn op, thing a, thing b, thing *out)
{
    td_op how = op == TD_SYN_Add        ? OP_add
                : op == TD_SYN_Sub      ? OP_subtract
                : op == TD_SYN_Mult     ? OP_multiply
                : op == TD_SYN_Div      ? OP_divide
                : op == TD_SYN_FloorDiv ? OP_floor_divide
                : op == TD_SYN_Mod      ? OP_remainder
                                        : OP_pow;
    td_val x[2], r;

    if (how == OP_pow && op != TD_SYN_Pow)
        return bad(w, w->node, TD_ERR_TYPE, "%s is not defined between %s and %s",
                   td_syntab[op].name, a.type->name, b.type->name);
    exact_float(w, &a);
    exact_float(w, &b);
    if (how == OP_divide || how == OP_floor_divide || how == OP_remainder)
        flag_zero(w, &b);
    x[0] = val_as(w, &a, TD_F64);
    x[1] = val_as(w, &b, TD_F64);
    r = td_emit(w->f, how, x);
    if (how == OP_pow)
        exact_domain(w, r, x, 2);
    *out = num_of(td_type_weak('f'), td_num_of(r));
    return built(w, w->node);
}

/* ---- mixed numbers ---- */

td_val
exact_is_int(walk *w, const thing *x)
{
    td_val real_kinds = td_const_int(w->f, TD_U8, EXACT_FLOAT | EXACT_NPFLOAT | EXACT_COMPLEX);

    if (!is_mixed(x))
        return td_const_int(w->f, TD_BOOL, is_int(x));
    return TD_E2(w->f, equal, TD_E2(w->f, bitwise_and, x->tag, real_kinds),
                 td_const_int(w->f, TD_U8, 0));
}

td_val
exact_settled(walk *w, td_val r, td_val ints)
{
    td_val far = TD_E2(w->f, greater, TD_E1(w->f, fabs, r), exactnum_real(w, 0x1p53));

    exact_flag(w, TD_E2(w->f, logical_and, ints, far));
    return TD_E3(w->f, select, ints, TD_E2(w->f, add, r, exactnum_real(w, 0)), r);
}

static thing
settled(walk *w, td_val r, td_val ints)
{
    thing out =
        num_of(td_type_mixed(EXACT_INT | EXACT_FLOAT), td_num_of(exact_settled(w, r, ints)));

    out.tag = TD_E3(w->f, select, ints, td_const_int(w->f, TD_U8, EXACT_INT),
                    td_const_int(w->f, TD_U8, EXACT_FLOAT));
    return out;
}

void
exact_none(walk *w, const thing *x)
{
    if (is_mixed(x) && (x->type->object & EXACT_NONE))
        exact_flag(w, TD_E2(w->f, equal, x->tag, td_const_int(w->f, TD_U8, EXACT_NONE)));
}

/* + - * where a kind is known only when running. */
static td_status
binary_mixed(walk *w, td_op op, const thing *a, const thing *b, thing *out)
{
    td_val ints = TD_E2(w->f, logical_and, exact_is_int(w, a), exact_is_int(w, b)), x, y;

    exact_none(w, a);
    exact_none(w, b);
    x = exact_raw(w, a, TD_F64, false);
    y = exact_raw(w, b, TD_F64, false);
    *out = settled(w, td_emit(w->f, op, (td_val[]){x, y}), ints);
    return built(w, w->node);
}

/* Does x hold floats or ints, as it comes? */
static bool
is_open(const thing *x)
{
    return is_mixed(x) && x->type->dt == TD_F64 && (x->type->object & (EXACT_INT | EXACT_BOOL));
}

td_status
exact_binary(walk *w, td_syn op, const thing *a, const thing *b, thing *out)
{
    thing x = *a, y = *b;
    bool open = is_open(a) || is_open(b);

    if (is_numpy(a) || is_numpy(b))
        return numpy_binary(w, op, a, b, out);
    if (is_complex(a) || is_complex(b))
        return complex_binary(w, op, a, b, out);
    if (open && !(is_float(a) && !is_mixed(a)) && !(is_float(b) && !is_mixed(b)))
        switch (op) {
        case TD_SYN_Add:  return binary_mixed(w, OP_add, a, b, out);
        case TD_SYN_Sub:  return binary_mixed(w, OP_subtract, a, b, out);
        case TD_SYN_Mult: return binary_mixed(w, OP_multiply, a, b, out);
        case TD_SYN_Div:
            flag_wide(w, a);
            flag_wide(w, b);
            exact_pure(w, &x, EXACT_REAL);
            exact_pure(w, &y, EXACT_REAL);
            return binary_floats(w, op, x, y, out);
        default: break;
        }
    else if (open) /* the other one is a float: all becomes one */
        for (int i = 0; i < 2; i++)
            exact_pure(w, i ? &y : &x, EXACT_REAL);
    for (int i = 0; i < 2; i++) {
        thing *v = i ? &y : &x;

        exact_pure(w, v, is_bits(op) || is_float(v) ? 0 : EXACT_BOOL);
    }
    return is_float(&x) || is_float(&y) ? binary_floats(w, op, x, y, out)
                                        : binary_ints(w, op, x, y, out);
}

td_status
exact_unary(walk *w, td_syn op, const thing *a, thing *out)
{
    thing x = *a;

    if (is_numpy(a))
        return numpy_unary(w, op, a, out);
    if (is_complex(a))
        return complex_unary(w, op, a, out);
    if (is_open(&x) && op != TD_SYN_Invert) {
        td_val ints = exact_is_int(w, &x), v;

        exact_none(w, &x);
        v = exact_raw(w, &x, TD_F64, false);
        *out = settled(w, op == TD_SYN_USub ? TD_E1(w->f, negative, v) : v, ints);
        return built(w, w->node);
    }
    exact_pure(w, &x, EXACT_BOOL);
    if (x.type->dt == TD_BOOL)
        x = num_convert(w, &x, td_type_weak('i'));
    if (op == TD_SYN_UAdd) {
        *out = x;
        return TD_OK;
    }
    if (op == TD_SYN_Invert)
        return is_int(&x) ? num_op(w, OP_invert, &x, 1, out)
                          : bad(w, w->node, TD_ERR_TYPE, "~ is not defined for %s", x.type->name);
    if (is_int(&x) && !x.small)
        exact_flag(w, TD_E2(w->f, equal, val_as(w, &x, TD_I64), exactnum_whole(w, INT64_MIN)));
    TD_TRY(num_op(w, OP_negative, &x, 1, out));
    out->small = x.small;
    return TD_OK;
}

td_status
exact_compare(walk *w, td_syn op, const thing *a, const thing *b, thing *out)
{
    static const td_op rows[] = {OP_equal,      OP_not_equal, OP_less,
                                 OP_less_equal, OP_greater,   OP_greater_equal};
    static const td_syn syns[] = {TD_SYN_Eq,  TD_SYN_NotEq, TD_SYN_Lt,
                                  TD_SYN_LtE, TD_SYN_Gt,    TD_SYN_GtE};
    thing x = *a, y = *b;
    td_op how = OP_equal;

    if (is_numpy(a) || is_numpy(b))
        return numpy_compare(w, op, a, b, out);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        how = syns[i] == op ? rows[i] : how;
    if (complex_size(w, how, a, b, out))
        return built(w, w->node);
    if (is_complex(&x) || is_complex(&y) || is_float(&x) || is_float(&y)) {
        flag_wide(w, &x);
        flag_wide(w, &y);
    }
    if ((is_complex(a) || is_complex(b)) && (how == OP_equal || how == OP_not_equal))
        return complex_equal(w, how, a, b, out);
    exact_pure(w, &x, EXACT_REAL);
    exact_pure(w, &y, EXACT_REAL);
    return row(w, how, &x, &y, out);
}

td_status
exact_select(walk *w, const thing *cond, const thing *a, const thing *b, thing *out)
{
    const td_type *t = exact_join(a->type, b->type);
    td_val x, y;

    if (a->type == b->type && is_num(a) && !exact_kinds(a->type) && !cond->known)
        return num_op(w, OP_select, (thing[]){*cond, *a, *b}, 3, out);
    if (!t || !is_num(a) || !is_num(b))
        return bad(w, w->node, TD_ERR_TYPE, "%s and %s do not meet", a->type->name, b->type->name);
    if (cond->known) {
        *out = cond->lit.i ? *a : *b;
        return TD_OK;
    }
    if (t->dt == TD_C128) {
        *out = num_of(
            t, td_num_select(w->f, cond->num.re, exact_pair(w, a, true), exact_pair(w, b, true)));
    } else {
        x = exact_raw(w, a, (td_dtype)t->dt, t->dt == TD_F64);
        y = exact_raw(w, b, (td_dtype)t->dt, t->dt == TD_F64);
        *out = num_of(t, td_num_of(TD_E3(w->f, select, cond->num.re, x, y)));
    }
    if (is_mixed(out))
        out->tag = TD_E3(w->f, select, cond->num.re, exact_tag(w, a), exact_tag(w, b));
    out->small = a->small && b->small;
    out->nonneg = a->nonneg && b->nonneg;
    return built(w, w->node);
}
