/* operator.c - Python's operators on numbers: computes known operands at once, others by rows of ops.def. */
#include "front/infer/box.h"
#include "front/infer/exact.h"
#include "front/infer/intrin.h"

#include <math.h>

/* ---- folding: Python's numbers whose values are known ---- */

static bool
floor_div(int64_t a, int64_t b, int64_t *q, int64_t *r)
{
    if (b == 0 || (a == INT64_MIN && b == -1))
        return false;
    *q = a / b;
    *r = a % b;
    if (*r && (*r < 0) != (b < 0)) {
        *q -= 1;
        *r += b;
    }
    return true;
}

static bool
power_int(int64_t a, int64_t b, int64_t *out)
{
    if (b < 0)
        return false;
    for (*out = 1; b; b--) {
        if (__builtin_mul_overflow(*out, a, out))
            return false;
        if (b > 64 && (a == 0 || a == 1))
            return true;
    }
    return true;
}

static bool
fold_int(td_syn op, int64_t a, int64_t b, int64_t *out)
{
    int64_t q, r;

    switch (op) {
    case TD_SYN_Add:    return !__builtin_add_overflow(a, b, out);
    case TD_SYN_Sub:    return !__builtin_sub_overflow(a, b, out);
    case TD_SYN_Mult:   return !__builtin_mul_overflow(a, b, out);
    case TD_SYN_BitAnd: return *out = a & b, true;
    case TD_SYN_BitOr:  return *out = a | b, true;
    case TD_SYN_BitXor: return *out = a ^ b, true;
    case TD_SYN_Pow:    return power_int(a, b, out);
    case TD_SYN_LShift:
        return b >= 0 && b < 63 && a >= 0 && a < INT64_C(1) << (62 - b) && (*out = a << b, true);
    case TD_SYN_RShift:   return b >= 0 && (*out = a >> (b < 63 ? b : 63), true);
    case TD_SYN_FloorDiv: return floor_div(a, b, &q, &r) && (*out = q, true);
    case TD_SYN_Mod:      return floor_div(a, b, &q, &r) && (*out = r, true);
    default:              return false;
    }
}

static bool
fold_float(td_syn op, double a, double b, double *out)
{
    switch (op) {
    case TD_SYN_Add:  return *out = a + b, true;
    case TD_SYN_Sub:  return *out = a - b, true;
    case TD_SYN_Mult: return *out = a * b, true;
    case TD_SYN_Div:  return b != 0 && (*out = a / b, true);
    case TD_SYN_Pow:  return (a > 0 || b == nearbyint(b)) && a != 0 && (*out = pow(a, b), true);
    default:          return false;
    }
}

double
as_double(const thing *x)
{
    char k = td_dtype_kind(x->lit.dt);

    return k == 'f' ? x->lit.f[0] : k == 'u' ? (double)x->lit.u : (double)x->lit.i;
}

static bool
fold(td_syn op, const thing *a, const thing *b, thing *out)
{
    bool python =
        (a->type->weak || a->type->dt == TD_BOOL) && (b->type->weak || b->type->dt == TD_BOOL);
    int64_t i;
    double d;

    if (!a->known || !b->known || !python || td_dtype_is_complex(a->type->dt) ||
        td_dtype_is_complex(b->type->dt))
        return false;
    if (is_int(a) && is_int(b) && op != TD_SYN_Div && !(op == TD_SYN_Pow && b->lit.i < 0)) {
        if (!fold_int(op, a->lit.i, b->lit.i, &i))
            return false;
        *out = num_int(i);
        if (a->type->dt == TD_BOOL && b->type->dt == TD_BOOL &&
            (op == TD_SYN_BitAnd || op == TD_SYN_BitOr || op == TD_SYN_BitXor))
            *out = num_bool(i);
        return true;
    }
    if (!fold_float(op, as_double(a), as_double(b), &d) || !isfinite(d))
        return false;
    *out = num_float(d);
    return true;
}

/* ---- Python's operators ---- */

static const struct sign {
    td_syn syn;
    td_op row;
    const char *sign;
} signs[] = {
    {TD_SYN_Add, OP_add, "+"},
    {TD_SYN_Sub, OP_subtract, "-"},
    {TD_SYN_Mult, OP_multiply, "*"},
    {TD_SYN_Div, OP_divide, "/"},
    {TD_SYN_FloorDiv, OP_floor_divide, "//"},
    {TD_SYN_Mod, OP_remainder, "%"},
    {TD_SYN_Pow, OP_power, "**"},
    {TD_SYN_LShift, OP_left_shift, "<<"},
    {TD_SYN_RShift, OP_right_shift, ">>"},
    {TD_SYN_BitAnd, OP_bitwise_and, "&"},
    {TD_SYN_BitOr, OP_bitwise_or, "|"},
    {TD_SYN_BitXor, OP_bitwise_xor, "^"},
    {TD_SYN_Eq, OP_equal, "=="},
    {TD_SYN_NotEq, OP_not_equal, "!="},
    {TD_SYN_Lt, OP_less, "<"},
    {TD_SYN_LtE, OP_less_equal, "<="},
    {TD_SYN_Gt, OP_greater, ">"},
    {TD_SYN_GtE, OP_greater_equal, ">="},
};

static const struct sign *
sign_of(td_syn syn)
{
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (signs[i].syn == syn)
            return &signs[i];
    return NULL;
}

/* x ** n for a small integer n, by squaring. */
static td_status
power_known(walk *w, const thing *x, int64_t n, thing *out)
{
    thing have = *x, got = {0};
    bool any = false;

    for (; n; n >>= 1) {
        if (n & 1) {
            if (any)
                TD_TRY(num_op(w, OP_multiply, (thing[]){got, have}, 2, &got));
            else
                got = have;
            any = true;
        }
        if (n > 1)
            TD_TRY(num_op(w, OP_multiply, (thing[]){have, have}, 2, &have));
    }
    *out = got;
    return TD_OK;
}

/* Raises if b is 0 (and, unless `power` is NULL, *power is negative), in functions that raise for that. */
static td_status
check_zero(walk *w, const thing *b, const thing *power, const char *sign)
{
    thing zero = num_int(0), raises, below;
    uint32_t site;

    if (!w->checked || w->ufunc || (b->known && as_double(b) != 0))
        return TD_OK;
    TD_TRY(num_op(w, OP_equal, (thing[]){*b, zero}, 2, &raises));
    if (power) {
        TD_TRY(num_op(w, OP_less, (thing[]){*power, zero}, 2, &below));
        TD_TRY(num_op(w, OP_logical_and, (thing[]){raises, below}, 2, &raises));
    }
    site = site_new(w, TD_REPORT_ZERO, w->node, sign);
    td_if(w->f, raises.num.re);
    TD_TRY(report_fail(w, site, NULL, 0));
    thread_end(w);
    td_end(w->f);
    return TD_OK;
}

static td_status
power(walk *w, const thing *a, const thing *b, thing *out)
{
    bool whole = is_int(b) || (b->known && td_dtype_is_float(b->type->dt) && b->type->weak &&
                               b->lit.f[0] == (double)td_f64_to_i64(b->lit.f[0]));

    if (is_int(a) && is_int(b) && b->known && b->lit.i < 0) {
        thing x = num_convert(w, a, a->type->weak ? td_type_weak('f') : td_type_num(TD_F64));

        return power(w, &x, b, out);
    }
    if (b->known && whole && !(is_int(a) && !is_int(b))) {
        int64_t n = is_int(b) ? b->lit.i : (int64_t)b->lit.f[0];

        if (n >= 1 && n <= 16)
            return power_known(w, a, n, out);
        if (n < 0 && n >= -16) {
            thing one = num_float(1), y;

            TD_TRY(power_known(w, a, -n, &y));
            return num_op(w, OP_divide, (thing[]){one, y}, 2, out);
        }
    }
    if (b->known && !is_int(b) && !is_int(a) && b->lit.f[0] == 0.5 && b->type->weak)
        return num_op(w, OP_sqrt, a, 1, out);
    return num_op(w, OP_power, (thing[]){*a, *b}, 2, out);
}

/* What a op b of integers is never below; -1: perhaps below 0.  Sums stay below 2**32. */
int64_t
num_least_of(td_syn op, const thing *a, const thing *b)
{
    int64_t x = num_least(a), y = num_least(b), k;

    if (op == TD_SYN_Add)
        return x >= 0 && y >= 0 ? x + y : known_int(b, &k) && k < 0 && x + k >= 0 ? x + k : -1;
    if (op == TD_SYN_Sub)
        return known_int(b, &k) && k >= 0 && x >= k ? x - k : -1;
    return -1;
}

/* Is a op b of integers never below 0? */
static bool
stays_up(td_syn op, const thing *a, const thing *b)
{
    switch (op) {
    case TD_SYN_Add:
    case TD_SYN_Sub:      return num_least_of(op, a, b) >= 0;
    case TD_SYN_Mult:
    case TD_SYN_FloorDiv:
    case TD_SYN_BitOr:
    case TD_SYN_BitXor:   return a->nonneg && b->nonneg;
    case TD_SYN_Mod:      return b->nonneg;
    case TD_SYN_BitAnd:   return a->nonneg || b->nonneg;
    case TD_SYN_RShift:   return a->nonneg;
    default:              return false;
    }
}

/* The operands of an operator of scalars in the types that Numba computes it in.  A float's power by an integer and
 * two bools' bits stay what they are, and a shift has the sign of what it moves. */
static void
numba_operands(walk *w, td_syn op, const thing *a, const thing *b, thing *out)
{
    bool bits = op == TD_SYN_BitAnd || op == TD_SYN_BitOr || op == TD_SYN_BitXor;
    bool shift = op == TD_SYN_LShift || op == TD_SYN_RShift;
    const td_type *t = num_operator_type(a, shift ? a : b);

    out[0] = *a;
    out[1] = *b;
    if ((shift && !(is_int(a) && is_int(b))) || (op == TD_SYN_Div && is_int(a) && is_int(b)) ||
        (op == TD_SYN_Pow && !is_int(a) && is_int(b)) ||
        (bits && a->type->dt == TD_BOOL && b->type->dt == TD_BOOL))
        return;
    out[0] = num_convert(w, a, t);
    out[1] = num_convert(w, b, t);
}

static td_status
loaded_binary(walk *w, td_syn op, const thing *a, const thing *b, thing *out)
{
    const struct sign *o = sign_of(op);
    const lin *at;
    const flatix *own, *bound;
    thing wide[2];
    bool nonneg;
    int64_t least;

    if (op == TD_SYN_MatMult && (is_array(a) || is_array(b)))
        return array_product(w, a, b, out);
    if (!o)
        return bad(w, w->node, TD_ERR_TYPE, "%s is not defined between %s and %s",
                   td_syntab[op].name, a->type->name, b->type->name);
    if (is_array(a) || is_array(b))
        return array_operator(w, fn_binary, op, (thing[]){*a, *b}, 2, out);
    if (!is_num(a) || !is_num(b))
        return bad(w, w->node, TD_ERR_TYPE, "%s is not defined between %s and %s in a kernel",
                   o->sign, a->type->name, b->type->name);
    if (fold(op, a, b, out))
        return TD_OK;
    if (w->exact)
        return exact_binary(w, op, a, b, out);
    if (w->numba && w->ufunc && op == TD_SYN_Pow && is_int(a) && is_int(b)) {
        wide[0] = num_convert(w, a, num_common(w, a, b));
        a = &wide[0];
    }
    if (w->numba && !w->ufunc && !(a->type->weak && b->type->weak)) {
        numba_operands(w, op, a, b, wide);
        a = &wide[0];
        b = &wide[1];
    }
    if (op == TD_SYN_Pow) {
        if (is_int(b) && td_dtab[b->type->dt].kind == 'i' && !(b->known && b->lit.i >= 0))
            TD_TRY(check_zero(w, a, b, o->sign));
        return power(w, a, b, out);
    }
    if (op == TD_SYN_Div || op == TD_SYN_FloorDiv || op == TD_SYN_Mod)
        TD_TRY(check_zero(w, b, NULL, o->sign));
    if (op == TD_SYN_Div && is_int(a) && is_int(b)) {
        const td_type *t = num_common(w, a, b);
        bool narrow = w->numba && w->ufunc && td_dtype_size(a->type->dt) < 4 &&
                      td_dtype_size(b->type->dt) < 4;
        thing x =
            num_convert(w, a, t->weak ? td_type_weak('f') : td_type_num(narrow ? TD_F32 : TD_F64));
        thing y = num_convert(w, b, x.type);

        return num_op(w, OP_divide, (thing[]){x, y}, 2, out);
    }
    at = lin_binary(w, op, a, b);
    flat_binary(w, op, a, b, &own, &bound);
    nonneg = stays_up(op, a, b) || flat_is_whole(own) || flat_is_whole(bound);
    least = num_least_of(op, a, b);
    TD_TRY(num_op(w, o->row, (thing[]){*a, *b}, 2, out)); /* out may be a or b */
    if (is_num(out) && out->type->dt == TD_I64) {         /* narrower ones wrap round */
        out->lin = at;
        out->own = own;
        out->bound = bound;
        out->nonneg = nonneg;
        out->least = least > 0 ? (uint32_t)least : 0;
    }
    return TD_OK;
}

td_status
num_binary(walk *w, td_syn op, const thing *a, const thing *b, thing *out)
{
    thing x = *a, y = *b;

    TD_TRY(loaded(w, &x));
    TD_TRY(loaded(w, &y));
    return loaded_binary(w, op, &x, &y, out);
}

td_status
num_ufunc(walk *w, td_syn op, const thing *a, const thing *b, thing *out)
{
    bool before = w->ufunc;
    td_status st;

    w->ufunc = true;
    st = num_binary(w, op, a, b, out);
    w->ufunc = before;
    return st;
}

td_status
num_unary(walk *w, td_syn op, const thing *a, thing *out)
{
    thing own = *a, x;

    TD_TRY(loaded(w, &own));
    a = &own;
    x = own;
    if (op == TD_SYN_Not) {
        TD_TRY(truth(w, a, &x));
        if (x.known)
            *out = num_bool(!x.lit.i);
        else
            TD_TRY(num_op(w, OP_logical_not, &x, 1, out));
        return TD_OK;
    }
    if (is_array(a))
        return array_operator(w, fn_unary, op, a, 1, out);
    if (!is_num(a))
        return bad(w, w->node, TD_ERR_TYPE, "unary %s is not defined for %s in a kernel",
                   op == TD_SYN_USub   ? "-"
                   : op == TD_SYN_UAdd ? "+"
                                       : "~",
                   a->type->name);
    if (w->exact && !x.known)
        return exact_unary(w, op, a, out);
    if (x.type->dt == TD_BOOL && (op != TD_SYN_Invert || w->exact))
        x = num_convert(w, &x, td_type_weak('i'));
    if (x.known && x.type->weak && op == TD_SYN_USub && !td_dtype_is_complex(x.type->dt)) {
        *out = is_int(&x) ? num_int((int64_t)(0 - (uint64_t)x.lit.i)) : num_float(-x.lit.f[0]);
        return TD_OK;
    }
    if (x.known && x.type->weak && op == TD_SYN_Invert && is_int(&x)) {
        *out = num_int(~x.lit.i);
        return TD_OK;
    }
    if (op == TD_SYN_UAdd) {
        *out = x;
    } else {
        TD_TRY(num_op(w, op == TD_SYN_USub ? OP_negative : OP_invert, &x, 1, out));
    }
    if (w->numba && !w->ufunc && is_int(out) && !out->type->weak && out->type->dt != TD_BOOL)
        *out =
            num_convert(/* Numba computes it in the operand's own bits */
                        w, out, td_type_num(td_dtype_kind(out->type->dt) == 'u' ? TD_U64 : TD_I64));
    return TD_OK;
}

/* Can float64 not represent the integer? */
static bool
is_wide(const thing *x)
{
    int64_t v = x->lit.i, most = INT64_C(1) << 53;

    return is_int(x) && (v > most || v < (x->type->dt == TD_U64 ? 0 : -most));
}

/* Compares two integers known when compiling: -1, 0 or 1. */
static int
order_known(const thing *a, const thing *b)
{
    bool x = a->type->dt != TD_U64 && a->lit.i < 0, y = b->type->dt != TD_U64 && b->lit.i < 0;

    if (x != y)
        return x ? -1 : 1;
    return x ? (a->lit.i > b->lit.i) - (a->lit.i < b->lit.i)
             : (a->lit.u > b->lit.u) - (a->lit.u < b->lit.u);
}

static bool
fold_compare(td_syn op, const thing *a, const thing *b, bool *out)
{
    double x, y;

    if (!a->known || !b->known || td_dtype_is_complex(a->type->dt) ||
        td_dtype_is_complex(b->type->dt))
        return false;
    x = as_double(a);
    y = as_double(b);
    if (is_int(a) && is_int(b)) {
        x = order_known(a, b);
        y = 0;
    } else if (is_wide(a) || is_wide(b)) {
        return false;
    }
    switch (op) {
    case TD_SYN_Eq:    return *out = x == y, true;
    case TD_SYN_NotEq: return *out = x != y, true;
    case TD_SYN_Lt:    return *out = x < y, true;
    case TD_SYN_LtE:   return *out = x <= y, true;
    case TD_SYN_Gt:    return *out = x > y, true;
    case TD_SYN_GtE:   return *out = x >= y, true;
    default:           return false;
    }
}

/* Are a and b uint64 and a signed type?  These have no common integer type: a negative number is told by its sign. */
static bool
signs_differ(const thing *a, const thing *b)
{
    return is_int(a) && is_int(b) && (a->type->dt == TD_U64) != (b->type->dt == TD_U64) &&
           td_dtab[a->type->dt == TD_U64 ? b->type->dt : a->type->dt].kind == 'i';
}

static td_status
compare_signs(walk *w, td_syn op, td_op row, const thing *a, const thing *b, thing *out)
{
    bool first = a->type->dt != TD_U64; /* a has the sign */
    const thing *s = first ? a : b;
    td_val below = TD_E2(w->f, less, val_as(w, s, TD_I64), td_const_int(w->f, TD_I64, 0));
    bool yes = op == TD_SYN_NotEq ||
               (first ? op == TD_SYN_Lt || op == TD_SYN_LtE : op == TD_SYN_Gt || op == TD_SYN_GtE);
    thing x = num_val(TD_U64, val_as(w, a, TD_U64)), y = num_val(TD_U64, val_as(w, b, TD_U64));

    TD_TRY(num_op(w, row, (thing[]){x, y}, 2, out));
    *out = num_val(TD_BOOL, TD_E3(w->f, select, below, td_const_int(w->f, TD_BOOL, yes),
                                  val_as(w, out, TD_BOOL)));
    return built(w, w->node);
}

td_status
num_compare(walk *w, td_syn op, const thing *a, const thing *b, thing *out)
{
    const struct sign *o = sign_of(op);
    thing x = *a, y = *b;
    bool yes;

    TD_TRY(loaded(w, &x));
    TD_TRY(loaded(w, &y));
    a = &x;
    b = &y;
    if (o && (is_array(a) || is_array(b)) && (is_array(a) || is_num(a)) &&
        (is_array(b) || is_num(b)))
        return array_operator(w, fn_compare, op, (thing[]){*a, *b}, 2, out);
    if (!o || !is_num(a) || !is_num(b))
        return bad(w, w->node, TD_ERR_TYPE, "%s is not defined between %s and %s in a kernel",
                   o ? o->sign : td_syntab[op].name, a->type->name, b->type->name);
    if ((td_dtype_is_complex(a->type->dt) || td_dtype_is_complex(b->type->dt)) && op != TD_SYN_Eq &&
        op != TD_SYN_NotEq)
        return bad(w, w->node, TD_ERR_TYPE, "complex numbers have no order: %s between %s and %s",
                   o->sign, a->type->name, b->type->name);
    if (fold_compare(op, a, b, &yes)) {
        *out = num_bool(yes);
        return TD_OK;
    }
    if (w->exact)
        return exact_compare(w, op, a, b, out);
    if (signs_differ(a, b))
        return compare_signs(w, op, o->row, a, b, out);
    return num_op(w, o->row, (thing[]){*a, *b}, 2, out);
}

static bool
is_empty_text(walk *w, const thing *x)
{
    td_objinfo info = {0};

    return !w->host->describe(w->host->ctx, x->type->object, &info) && info.kind == TD_OBJ_STR &&
           !*info.text;
}

td_status
truth(walk *w, const thing *x, thing *out)
{
    if (is_box(x))
        return box_truth(w, x, out);
    if (is_optional(x))
        return optional_truth(w, x, out);
    if (is_list(x)) {
        thing n, zero = num_int(0);

        TD_TRY(exact_list_length(w, x, &n));
        return num_compare(w, TD_SYN_NotEq, &n, &zero, out);
    }
    if (x->type->kind == TD_T_ARRAY && !x->type->ndim) {
        thing one = *x;

        TD_TRY(loaded(w, &one));
        return truth(w, &one, out);
    }
    if (x->type->kind == TD_T_ARRAY && box_may(w)) {
        const call none = {.node = w->node};
        td_status st = call_stand_in(w, "bool(array)", x, &none, out);

        if (st != TD_SKIP)
            return st;
    }
    switch ((td_tkind)x->type->kind) {
    case TD_T_NONE:   *out = num_bool(false); return TD_OK;
    case TD_T_TUPLE:  *out = num_bool(x->type->n > 0); return TD_OK;
    case TD_T_OBJECT: *out = num_bool(!is_empty_text(w, x)); return TD_OK;
    case TD_T_NUM:    {
        thing zero = num_int(0);

        if (x->type->dt == TD_BOOL && !is_mixed(x)) {
            *out = *x;
            return TD_OK;
        }
        if (is_mixed(x)) { /* None is false */
            thing raw = num_of(td_type_num((td_dtype)x->type->dt), x->num);

            return raw.type->dt == TD_BOOL ? (*out = raw, TD_OK)
                                           : num_op(w, OP_not_equal, (thing[]){raw, zero}, 2, out);
        }
        return num_compare(w, TD_SYN_NotEq, x, &zero, out);
    }
    default:
        return bad(w, w->node, TD_ERR_TYPE, "%s has no truth value: compare it, or use its size",
                   x->type->name);
    }
}
