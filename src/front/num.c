/* num.c - numbers: which type operands meet in, folding of what is known, and the rows of ops.def.
 *
 * Python's numbers (literals, counters, lengths, thread indices, Python arguments) are weak: beside a float they
 * take its dtype, as in NumPy 2; a literal that fits takes an integer's dtype too.  A Python int that is known only
 * at run time is int64 among integers, so that indices do not wrap where Python's would not.
 */
#include "front/exact.h"
#include "front/intrin.h"

#include <math.h>
#include <string.h>

thing
num_known(td_scalar s, const td_type *t)
{
    return (thing){.type = t,
                   .known = true,
                   .lit = s,
                   .num = td_num_of(TD_NONE),
                   .nonneg = td_dtype_is_int(t->dt) && (td_dtype_kind(s.dt) == 'u' || s.i >= 0),
                   .small = td_dtype_is_int(t->dt) && s.i <= 1 << 20 && s.i >= -(1 << 20)};
}

thing
num_int(int64_t v)
{
    return num_known((td_scalar){.dt = TD_I64, .i = v}, td_type_weak('i'));
}

thing
num_float(double v)
{
    return num_known((td_scalar){.dt = TD_F64, .f = {v, 0}}, td_type_weak('f'));
}

thing
num_bool(bool v)
{
    return num_known((td_scalar){.dt = TD_BOOL, .i = v}, td_type_num(TD_BOOL));
}

thing
num_of(const td_type *t, td_num v)
{
    return (thing){.type = t, .num = v, .nonneg = td_dtype_kind(t->dt) == 'u'};
}

thing
num_val(td_dtype dt, td_val v)
{
    return num_of(td_type_num(dt), td_num_of(v));
}

thing
num_index(td_val v, bool nonneg)
{
    thing x = num_of(td_type_weak('i'), td_num_of(v));

    x.nonneg = nonneg;
    return x;
}

bool
is_int(const thing *x)
{
    return is_num(x) && (td_dtype_is_int(x->type->dt) || x->type->dt == TD_BOOL);
}

bool
known_int(const thing *x, int64_t *out)
{
    if (!is_int(x) || !x->known)
        return false;
    *out = x->lit.i;
    return true;
}

static td_val
constant(walk *w, td_scalar s, td_dtype dt, int part)
{
    td_dtype real = td_dtype_real_of(dt);

    if (td_dtype_is_float(real)) {
        char k = td_dtype_kind(s.dt);
        double v = k == 'f' || k == 'c' ? s.f[part]
                   : part               ? 0
                   : k == 'u'           ? (double)s.u
                                        : (double)s.i;

        return td_dtype_is_half(real) ? td_cast(w->f, td_const(w->f, TD_F32, v), real)
                                      : td_const(w->f, real, v);
    } else {
        uint64_t bits[2];

        td_scalar_bits(s, real, bits);
        return td_const_int(w->f, real, (int64_t)bits[0]);
    }
}

td_num
num_as(walk *w, const thing *x, td_dtype dt)
{
    if (x->known) {
        td_num n = td_num_of(constant(w, x->lit, dt, 0));

        if (td_dtype_is_complex(dt))
            n.im = constant(w, x->lit, dt, 1);
        return n;
    }
    if (is_mixed(x)) {
        thing own = *x;

        exact_pure(w, &own, 0);
        return num_as(w, &own, dt);
    }
    if (x->type->dt == dt)
        return x->num;
    return td_num_cast(w->f, x->num, dt);
}

td_val
val_as(walk *w, const thing *x, td_dtype dt)
{
    return num_as(w, x, dt).re;
}

thing
num_convert(walk *w, const thing *x, const td_type *to)
{
    thing y;

    if (x->known) {
        uint64_t bits[2];

        td_scalar_bits(x->lit, to->dt, bits);
        return num_known(td_scalar_load(to->dt, bits), to);
    }
    y = num_of(to, num_as(w, x, to->dt));
    y.small = (x->small && td_dtype_is_int(to->dt)) || x->type->dt == TD_BOOL;
    y.nonneg = y.nonneg ||
               (x->nonneg && td_dtype_is_int(to->dt) &&
                td_dtype_size(to->dt) >= td_dtype_size(x->type->dt) && to->dt != x->type->dt) ||
               (x->nonneg && to->dt == x->type->dt);
    return y;
}

/* ---- which type ---- */

static char
weak_kind(const td_type *t)
{
    char k = td_dtype_kind(t->dt);

    return k == 'b' || k == 'u' ? 'i' : k;
}

static bool
fits(const thing *x, td_dtype dt)
{
    uint64_t bits[2];
    td_scalar s;

    if (!x->known)
        return false;
    td_scalar_bits(x->lit, dt, bits);
    s = td_scalar_load(dt, bits);
    return s.i == x->lit.i && (td_dtype_kind(dt) != 'u' || x->lit.i >= 0);
}

/* weak: a Python number; a: of a dtype. */
static const td_type *
meet_weak(const thing *weak, const thing *a)
{
    char k = weak_kind(weak->type);
    td_dtype dt = a->type->dt;

    if (k != 'i' || !td_dtype_is_int(dt))
        return td_type_num(td_promote_weak(dt, k));
    if (dt == TD_U64 || fits(weak, dt))
        return a->type;
    return td_type_num(TD_I64);
}

const td_type *
num_common(const thing *a, const thing *b)
{
    const td_type *s = a->type, *t = b->type;
    bool wa = s->weak || s->dt == TD_BOOL, wb = t->weak || t->dt == TD_BOOL;

    if (wa && wb) {
        char k = weak_kind(s), m = weak_kind(t);

        return td_type_weak(k == 'c' || m == 'c' ? 'c' : k == 'f' || m == 'f' ? 'f' : 'i');
    }
    if (s->dt == TD_BOOL)
        return t;
    if (t->dt == TD_BOOL)
        return s;
    return wa ? meet_weak(a, b) : wb ? meet_weak(b, a) : td_type_num(td_promote(s->dt, t->dt));
}

/* ---- rows ---- */

/* The type that row `op` computes in for operands that meet in t; NULL: not defined. */
static const td_type *
row_type(td_op op, const td_type *t)
{
    td_dtype dt = td_dtype_is_half(t->dt) ? TD_F32 : t->dt;
    const char *kinds = td_optab[op].kinds;

    if (strchr(kinds, td_dtype_kind(dt)))
        return t;
    if (t->dt == TD_BOOL && strchr(kinds, 'i'))
        return td_type_weak('i');
    if (td_dtype_is_complex(t->dt) || !strchr(kinds, 'f'))
        return NULL;
    return t->weak || t->dt == TD_BOOL ? td_type_weak('f') : td_type_num(td_dtype_float_of(dt));
}

static td_num
emit_row(walk *w, td_op op, const td_type *t, const thing *x, int n)
{
    td_dtype dt = td_dtype_is_half(t->dt) ? TD_F32 : t->dt;
    td_num v[TD_MAXARG];

    for (int i = 0; i < n; i++)
        v[i] = num_as(w, &x[i], op == OP_select && i == 0 ? TD_BOOL : dt);
    return td_num_emit(w->f, op, v);
}

td_status
num_op(walk *w, td_op op, const thing *x, int n, thing *out)
{
    int first = op == OP_select;
    const td_type *t = x[first].type, *in;
    td_dtype dt;
    td_num v;

    for (int i = first; i < n; i++)
        if (!is_num(&x[i]))
            return bad(w, w->node, TD_ERR_TYPE, "%s takes numbers, not %s", td_optab[op].name,
                       x[i].type->name);
    for (int i = first + 1; i < n; i++) {
        thing so_far = {.type = t};

        if (i == first + 1)
            so_far = x[first];
        t = t->dt == TD_BOOL && x[i].type->dt == TD_BOOL ? t : num_common(&so_far, &x[i]);
    }
    in = row_type(op, t);
    if (!in)
        return bad(w, w->node, TD_ERR_TYPE, "%s is not defined for %s", td_optab[op].name, t->name);
    v = emit_row(w, op, in, x, n);
    if (w->f->st)
        return built(w, w->node);
    dt = td_op_result(op, td_dtype_is_half(in->dt) ? TD_F32 : in->dt);
    if (td_dtype_is_half(in->dt) && dt == TD_F32) {
        v = td_num_cast(w->f, v, in->dt);
        dt = in->dt;
    }
    *out = num_of(dt == in->dt               ? in
                  : in->weak && dt == TD_F64 ? td_type_weak('f')
                                             : td_type_num(dt),
                  v);
    return TD_OK;
}

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

/* x ** n for a small whole n, by squaring. */
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

static td_status
power(walk *w, const thing *a, const thing *b, thing *out)
{
    bool whole = is_int(b) || (b->known && td_dtype_is_float(b->type->dt) && b->type->weak &&
                               b->lit.f[0] == (int64_t)b->lit.f[0]);

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

static td_status
check_zero(walk *w, const thing *b, const char *sign)
{
    thing zero = num_int(0), is_zero;
    uint32_t site;

    if (!w->how->checked || (b->known && as_double(b) != 0))
        return TD_OK;
    TD_TRY(num_op(w, OP_equal, (thing[]){*b, zero}, 2, &is_zero));
    site = site_new(w, TD_REPORT_ZERO, w->node, sign);
    td_if(w->f, is_zero.num.re);
    TD_TRY(report_fail(w, site, NULL, 0));
    thread_end(w);
    td_end(w->f);
    return TD_OK;
}

/* Is a op b of integers never below 0? */
static bool
stays_up(td_syn op, const thing *a, const thing *b)
{
    switch (op) {
    case TD_SYN_Add:
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

td_status
num_binary(walk *w, td_syn op, const thing *a, const thing *b, thing *out)
{
    const struct sign *o = sign_of(op);
    const lin *at;
    const flatix *own, *bound;
    bool nonneg;

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
    if (op == TD_SYN_Pow)
        return power(w, a, b, out);
    if (op == TD_SYN_Div || op == TD_SYN_FloorDiv || op == TD_SYN_Mod)
        TD_TRY(check_zero(w, b, o->sign));
    if (op == TD_SYN_Div && is_int(a) && is_int(b)) {
        const td_type *t = num_common(a, b);
        thing x = num_convert(w, a, t->weak ? td_type_weak('f') : td_type_num(TD_F64));
        thing y = num_convert(w, b, x.type);

        return num_op(w, OP_divide, (thing[]){x, y}, 2, out);
    }
    at = lin_binary(w, op, a, b);
    flat_binary(w, op, a, b, &own, &bound);
    nonneg = stays_up(op, a, b) || flat_is_whole(own) || flat_is_whole(bound);
    TD_TRY(num_op(w, o->row, (thing[]){*a, *b}, 2, out)); /* out may be a or b */
    if (is_num(out) && out->type->dt == TD_I64) {         /* narrower ones wrap round */
        out->lin = at;
        out->own = own;
        out->bound = bound;
        out->nonneg = nonneg;
    }
    return TD_OK;
}

td_status
num_unary(walk *w, td_syn op, const thing *a, thing *out)
{
    thing x = *a;

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
        return TD_OK;
    }
    return num_op(w, op == TD_SYN_USub ? OP_negative : OP_invert, &x, 1, out);
}

/* Do float64s not hold it? */
static bool
is_wide(int64_t v)
{
    return v > INT64_C(1) << 53 || v < -(INT64_C(1) << 53);
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
    if ((is_int(a) && is_wide(a->lit.i)) || (is_int(b) && is_wide(b->lit.i)))
        return false;
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

td_status
num_compare(walk *w, td_syn op, const thing *a, const thing *b, thing *out)
{
    const struct sign *o = sign_of(op);
    bool yes;

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
    return num_op(w, o->row, (thing[]){*a, *b}, 2, out);
}

td_status
truth(walk *w, const thing *x, thing *out)
{
    if (is_list(x)) {
        thing n, zero = num_int(0);

        TD_TRY(exact_list_length(w, x, &n));
        return num_compare(w, TD_SYN_NotEq, &n, &zero, out);
    }
    switch ((td_tkind)x->type->kind) {
    case TD_T_NONE:   *out = num_bool(false); return TD_OK;
    case TD_T_TUPLE:  *out = num_bool(x->type->n > 0); return TD_OK;
    case TD_T_OBJECT: *out = num_bool(true); return TD_OK;
    case TD_T_NUM:    {
        thing zero = num_int(0);

        if (x->type->dt == TD_BOOL && !is_mixed(x)) {
            *out = *x;
            return TD_OK;
        }
        if (is_mixed(x)) { /* None is 0 */
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

/* ---- extents ---- */

td_val
dim_val(walk *w, const dim *d)
{
    return d->v.i == UINT32_MAX ? td_const_int(w->f, TD_I64, d->known) : d->v;
}

bool
same_val(const walk *w, td_val a, td_val b, int depth)
{
    const td_inst *x, *y;

    if (a.i == b.i)
        return true;
    if (a.i == UINT32_MAX || b.i == UINT32_MAX || depth == 0)
        return false;
    x = td_at(w->f, a);
    y = td_at(w->f, b);
    if (x->op != y->op || x->dt != y->dt || x->imm != y->imm || x->op == OP_load ||
        x->op == OP_for || x->op == OP_get || td_op_is_atomic(x->op) || x->op == OP_param ||
        x->op == OP_local || x->op == OP_slot || x->op == OP_shared)
        return false;
    for (int i = 0; i < TD_MAXARG; i++)
        if (!same_val(w, x->arg[i], y->arg[i], depth - 1))
            return false;
    return true;
}

bool
same_dim(const walk *w, const dim *a, const dim *b)
{
    bool known = a->v.i == UINT32_MAX, both = known && b->v.i == UINT32_MAX;

    return both ? a->known == b->known : !known && same_val(w, a->v, b->v, 6);
}

dim
dim_of_thing(walk *w, const thing *x)
{
    int64_t v;

    return known_int(x, &v) ? dim_known(v) : dim_of(val_as(w, x, TD_I64));
}

thing
dim_thing(const dim *d)
{
    return d->v.i == UINT32_MAX ? num_int(d->known) : num_index(d->v, true);
}
