/* exactnumpy.c - NumPy scalars in exact functions that work on arrays: their types, operators, stores, ufuncs.
 *
 * A bool, int64 or float64 of NumPy's has the value that Python's number has: it is a number with a tag (exact.h), so
 * that paths on which a variable is now Python's, now NumPy's meet, and what comes out has the type that NumPy gives.
 * Scalars of other dtypes are numbers of these.  What NumPy warns of, divisions by zero and ints that wrap, is flagged.
 */
#include "base/box.h"
#include "base/ufunc.h"
#include "front/infer/exact.h"
#include "front/infer/intrin.h"

static td_val
byte(walk *w, uint32_t v)
{
    return td_const_int(w->f, TD_U8, (int64_t)v);
}

/* ---- whose number it is ---- */

thing
numpy_scalar(walk *w, const thing *x)
{
    td_dtype dt = (td_dtype)x->type->dt;
    uint32_t kinds = dt == TD_BOOL  ? EXACT_NPBOOL
                     : dt == TD_I64 ? EXACT_NPINT
                     : dt == TD_F64 ? EXACT_NPFLOAT
                                    : 0;

    if (!w->exact->numpy || !is_num(x) || x->type->weak || !kinds)
        return *x;
    return exact_of_kinds(val_as(w, x, dt), kinds, byte(w, kinds));
}

static uint32_t
plain_kinds(uint32_t kinds)
{
    return (kinds & ~(uint32_t)EXACT_ALL_NUMPY) | (kinds & EXACT_ALL_NUMPY) >> EXACT_NUMPY;
}

thing
numpy_plain(walk *w, const thing *x)
{
    uint32_t kinds;
    td_val up, own;

    if (!is_mixed(x) || !(x->type->object & EXACT_ALL_NUMPY))
        return *x;
    kinds = plain_kinds(x->type->object);
    up = TD_E2(w->f, right_shift, x->tag, byte(w, EXACT_NUMPY));
    own = TD_E2(w->f, bitwise_or, up, TD_E2(w->f, bitwise_and, x->tag, byte(w, 31)));
    return exact_of_kinds(x->num.re, kinds, own);
}

/* Is one of them NumPy's?  *known says so where that is known when compiling. */
static td_val
one_is_numpy(walk *w, const thing *const *from, uint32_t n, bool *known, bool *is)
{
    td_val any = TD_NONE;

    *known = true;
    *is = false;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t kinds = is_mixed(from[i]) ? from[i]->type->object : 0,
                 of = kinds & EXACT_ALL_NUMPY;
        td_val one;

        *is = *is || (of && of == kinds) || (is_num(from[i]) && !exact_kinds(from[i]->type));
        if (!of || of == kinds)
            continue;
        *known = false;
        one = TD_E2(w->f, greater_equal, from[i]->tag, byte(w, 1 << EXACT_NUMPY));
        any = any.i == UINT32_MAX ? one : TD_E2(w->f, logical_or, any, one);
    }
    *known = *known || *is;
    return any;
}

thing
numpy_like(walk *w, const thing *x, const thing *const *from, uint32_t n)
{
    uint32_t kinds = exact_kinds(x->type), up = kinds << EXACT_NUMPY;
    bool known, is;
    td_val any = one_is_numpy(w, from, n, &known, &is), tag, over, value;

    if (known && !is)
        return *x;
    tag = exact_tag(w, x);
    over = TD_E2(w->f, left_shift, tag, byte(w, EXACT_NUMPY));
    value = exact_raw(w, x, (td_dtype)x->type->dt, false);
    if (known)
        return exact_of_kinds(value, up, over);
    return exact_of_kinds(value, kinds | up, TD_E3(w->f, select, any, over, tag));
}

/* ---- dtypes that have no kind ---- */

static bool
has_dtype(const thing *x)
{
    return is_num(x) && !exact_kinds(x->type);
}

static td_status
left_to_numpy(walk *w, const char *what, const thing *x)
{
    return bad(w, w->node, TD_ERR_TYPE, "%s of %s is left to NumPy", what, x->type->name);
}

/* What NumPy does with numbers of these kinds is left to it: such an x is refused, or flagged as it comes. */
static td_status
no_kinds(walk *w, const char *what, const thing *x, uint32_t kinds)
{
    uint32_t of = exact_kinds(x->type);

    if (!(of & kinds))
        return TD_OK;
    if (!(of & ~kinds))
        return left_to_numpy(w, what, x);
    exact_flag(
        w, TD_E2(w->f, not_equal, TD_E2(w->f, bitwise_and, x->tag, byte(w, kinds)), byte(w, 0)));
    return TD_OK;
}

/* Flags where all n numbers are bools.  NumPy's bools have a logic of their own, but beside other numbers. */
static td_status
no_bools(walk *w, const thing *const *x, uint32_t n)
{
    uint32_t bools = EXACT_BOOL | EXACT_NPBOOL;
    td_val tags = byte(w, 0);

    for (uint32_t i = 0; i < n; i++)
        if (!(exact_kinds(x[i]->type) & bools))
            return TD_OK;
    if (n == 1)
        return no_kinds(w, "arithmetic", x[0], bools);
    for (uint32_t i = 0; i < n; i++)
        tags = TD_E2(w->f, bitwise_or, tags, exact_tag(w, x[i]));
    exact_flag(w, TD_E2(w->f, equal, TD_E2(w->f, bitwise_and, tags, byte(w, (uint8_t)~bools)),
                        byte(w, 0)));
    return TD_OK;
}

/* The dtype that NumPy computes in. */
static td_status
numpy_dtype_of(walk *w, const thing *a, const thing *b, td_dtype *out)
{
    const thing *x[2] = {a, b};
    td_dtype dt[2];
    char weak[2] = {0, 0};

    for (int i = 0; i < 2; i++) {
        uint32_t kinds = exact_kinds(x[i]->type), np = kinds & EXACT_ALL_NUMPY;

        dt[i] = (td_dtype)x[i]->type->dt;
        if (dt[i] == TD_U64 || td_dtype_is_half(dt[i]) || td_dtype_is_complex(dt[i]) ||
            td_dtype_kind(dt[i]) == 'V')
            return left_to_numpy(w, "arithmetic", x[i]);
        if (!kinds)
            continue;
        if ((kinds & (kinds - 1)) || (kinds & EXACT_NONE))
            return left_to_numpy(w, "arithmetic", x[i]);
        weak[i] = np ? 0 : td_dtype_kind(dt[i]);
    }
    *out = weak[0]   ? td_promote_weak(dt[1], weak[0])
           : weak[1] ? td_promote_weak(dt[0], weak[1])
                     : td_promote(dt[0], dt[1]);
    return td_dtype_is_half(*out) ? left_to_numpy(w, "arithmetic", a) : TD_OK;
}

thing
numpy_number(walk *w, const thing *x)
{
    if (has_dtype(x) && x->type->dt != TD_U64 && !td_dtype_is_complex((td_dtype)x->type->dt))
        return num_convert(w, x, td_type_weak(td_dtype_is_int((td_dtype)x->type->dt) ? 'i' : 'f'));
    return numpy_plain(w, x);
}

/* x with the same value as an int or a float of Python's. */
static thing
as_kind(walk *w, const thing *x, bool is_float)
{
    thing own = numpy_plain(w, x);

    if (is_mixed(&own))
        exact_pure(w, &own, EXACT_REAL);
    return num_convert(w, &own, td_type_weak(is_float ? 'f' : 'i'));
}

/* Where int64 v is no value of dt. */
static void
flag_range(walk *w, td_val v, td_dtype dt)
{
    td_val back = td_cast(w->f, td_cast(w->f, v, dt), TD_I64);

    if (dt != TD_I64)
        exact_flag(w, TD_E2(w->f, not_equal, back, v));
    if (dt == TD_U64)
        exact_flag(w, TD_E2(w->f, less, v, td_const_int(w->f, TD_I64, 0)));
}

static td_status
single_floats(walk *w, td_syn op, const thing *a, const thing *b, thing *out)
{
    td_op how = op == TD_SYN_Add    ? OP_add
                : op == TD_SYN_Sub  ? OP_subtract
                : op == TD_SYN_Mult ? OP_multiply
                                    : OP_divide;
    thing x = as_kind(w, a, true), y = as_kind(w, b, true);
    td_val v[2] = {val_as(w, &x, TD_F32), val_as(w, &y, TD_F32)};

    if (op == TD_SYN_Pow && b->known && is_int(b) && b->lit.i == 2) {
        how = OP_multiply;
        v[1] = v[0];
    } else if (how == OP_divide && op != TD_SYN_Div) {
        return left_to_numpy(w, td_syntab[op].name, a);
    }
    if (how == OP_divide)
        exact_flag(w, TD_E2(w->f, equal, v[1], td_const(w->f, TD_F32, 0)));
    *out = num_val(TD_F32, td_emit(w->f, how, v));
    return built(w, w->node);
}

static td_status
binary_dtypes(walk *w, td_syn op, const thing *a, const thing *b, thing *out)
{
    const thing *from[] = {a, b};
    td_dtype dt;
    thing x, y, r;

    TD_TRY(numpy_dtype_of(w, a, b, &dt));
    if (dt == TD_F32)
        return single_floats(w, op, a, b, out);
    x = as_kind(w, a, dt == TD_F64);
    y = as_kind(w, b, dt == TD_F64);
    if (dt != TD_F64) { /* a Python int that the dtype does not hold raises */
        if (!has_dtype(a))
            flag_range(w, val_as(w, &x, TD_I64), dt);
        if (!has_dtype(b))
            flag_range(w, val_as(w, &y, TD_I64), dt);
    }
    if (op == TD_SYN_Pow && dt != TD_F64)
        return left_to_numpy(w, "a power", a);
    TD_TRY(exact_binary(w, op, &x, &y, &r));
    if (r.type->dt != TD_I64 || dt == TD_I64) {
        *out = numpy_like(w, &r, from, 2);
        return TD_OK;
    }
    flag_range(w, val_as(w, &r, TD_I64), dt);
    *out = num_val(dt, val_as(w, &r, dt));
    return built(w, w->node);
}

/* ---- operators ---- */

static bool
is_bool(const thing *x)
{
    return x->type->dt == TD_BOOL;
}

td_status
numpy_binary(walk *w, td_syn op, const thing *a, const thing *b, thing *out)
{
    const thing *from[] = {a, b};
    bool bits = op == TD_SYN_BitAnd || op == TD_SYN_BitOr || op == TD_SYN_BitXor;
    thing x, y, r;

    if (is_complex(a) || is_complex(b))
        return left_to_numpy(w, "arithmetic beside complex numbers", is_complex(a) ? b : a);
    if (has_dtype(a) || has_dtype(b))
        return binary_dtypes(w, op, a, b, out);
    if (is_bool(a) && is_bool(b) && !bits)
        return left_to_numpy(w, "arithmetic", a);
    if (!bits)
        TD_TRY(no_bools(w, from, 2));
    if (op == TD_SYN_Pow && a->type->dt != TD_F64 && b->known && b->lit.i < 0)
        return left_to_numpy(w, "a negative power", a);
    if (op == TD_SYN_MatMult)
        return left_to_numpy(w, "@", a);
    x = numpy_plain(w, a);
    y = numpy_plain(w, b);
    TD_TRY(exact_binary(w, op, &x, &y, &r));
    *out = numpy_like(w, &r, from, 2);
    return built(w, w->node);
}

td_status
numpy_unary(walk *w, td_syn op, const thing *a, thing *out)
{
    const thing *from[] = {a};
    td_dtype dt = (td_dtype)a->type->dt;
    thing x, r;

    if (is_bool(a)) {
        if (op != TD_SYN_Invert || exact_kinds(a->type) != EXACT_NPBOOL)
            return left_to_numpy(w, "arithmetic", a);
        x = numpy_plain(w, a);
        r = num_val(TD_BOOL, TD_E1(w->f, logical_not, x.num.re));
        *out = numpy_like(w, &r, from, 1);
        return built(w, w->node);
    }
    if (has_dtype(a) && op == TD_SYN_UAdd) {
        *out = *a;
        return TD_OK;
    }
    if (has_dtype(a) && dt == TD_F32 && op == TD_SYN_USub) {
        *out = num_val(dt, TD_E1(w->f, negative, a->num.re));
        return built(w, w->node);
    }
    if (has_dtype(a) && (!td_dtype_is_int(dt) || dt == TD_U64 || op == TD_SYN_Invert))
        return left_to_numpy(w, td_syntab[op].name, a);
    TD_TRY(no_bools(w, from, 1));
    x = has_dtype(a) ? as_kind(w, a, false) : numpy_plain(w, a);
    TD_TRY(exact_unary(w, op, &x, &r));
    if (has_dtype(a)) {
        flag_range(w, val_as(w, &r, TD_I64), dt);
        *out = num_val(dt, val_as(w, &r, dt));
    } else {
        *out = numpy_like(w, &r, from, 1);
    }
    return built(w, w->node);
}

td_status
numpy_compare(walk *w, td_syn op, const thing *a, const thing *b, thing *out)
{
    const thing *from[] = {a, b};
    thing x, y, r;
    td_dtype dt;

    if (is_complex(a) || is_complex(b))
        return left_to_numpy(w, "comparison with complex numbers", is_complex(a) ? b : a);
    x = numpy_plain(w, a);
    y = numpy_plain(w, b);
    if (has_dtype(a) || has_dtype(b)) {
        TD_TRY(numpy_dtype_of(w, a, b, &dt));
        x = as_kind(w, a, dt == TD_F32 || dt == TD_F64);
        y = as_kind(w, b, dt == TD_F32 || dt == TD_F64);
        if (dt == TD_F32)
            for (int i = 0; i < 2; i++) {
                thing *v = i ? &y : &x;
                td_val rounded = td_cast(w->f, val_as(w, v, TD_F32), TD_F64);

                *v = num_of(td_type_weak('f'), td_num_of(rounded));
            }
    }
    TD_TRY(num_compare(w, op, &x, &y, &r));
    *out = numpy_like(w, &r, from, 2);
    return built(w, w->node);
}

/* ---- stores ---- */

/* A float of x's becomes an int of dt, as in C, where it has one. */
static thing
truncated(walk *w, const thing *x, td_dtype dt)
{
    td_val v = exact_raw(w, x, TD_F64, false), size = TD_E1(w->f, fabs, v), whole;

    exact_flag(w,
               TD_E1(w->f, logical_not, TD_E2(w->f, less, size, td_const(w->f, TD_F64, 0x1p62))));
    whole = td_cast(w->f, v, TD_I64);
    flag_range(w, whole, dt);
    return num_val(dt, td_cast(w->f, whole, dt));
}

td_status
numpy_store(walk *w, const thing *to, const thing *x, uint32_t node)
{
    const td_type *e = to->type->item[0];
    td_dtype dt = e->kind == TD_T_NUM ? (td_dtype)e->dt : TD_BOOL;
    thing own = *x;

    if (to->type->ndim || e->kind != TD_T_NUM || td_dtype_is_complex(dt) || td_dtype_is_half(dt) ||
        dt == TD_U64)
        return bad(w, node, TD_ERR_TYPE, "a store to %s is left to NumPy", to->type->name);
    if (!is_num(x) || td_dtype_is_complex((td_dtype)x->type->dt) ||
        td_dtype_is_half((td_dtype)x->type->dt) || (is_mixed(x) && (x->type->object & EXACT_NONE)))
        return bad(w, node, TD_ERR_TYPE, "a store of %s is left to NumPy", x->type->name);
    if (dt == TD_BOOL)
        TD_TRY(truth(w, x, &own));
    else if (td_dtype_is_int(dt) && td_dtype_is_float((td_dtype)x->type->dt))
        own = truncated(w, x, dt);
    else if (is_mixed(x))
        own = num_of(td_type_num((td_dtype)x->type->dt), x->num);
    if (td_dtype_is_int(dt) && is_int(&own) && own.type->dt != TD_BOOL)
        flag_range(w, val_as(w, &own, TD_I64), dt);
    own = num_val(dt, exact_raw(w, &own, dt, false));
    return array_store(w, to, &own, node);
}

/* ---- ufuncs ---- */

/* Functions of which NumPy's value for a float is IEEE's, and so ours. */
static bool
is_settled(td_op op)
{
    return op == OP_sqrt || op == OP_floor || op == OP_ceil || op == OP_trunc || op == OP_rint ||
           op == OP_fabs || op == OP_square || op == OP_isnan || op == OP_isinf ||
           op == OP_isfinite;
}

/* NumPy's own loop over n floats. */
static td_val
ask_numpy(walk *w, td_op op, const td_val *x, uint32_t n)
{
    td_val words = td_local(w->f, TD_U64, 3), zero = td_const_int(w->f, TD_U64, 0);

    for (uint32_t i = 0; i < 2; i++)
        td_store(w->f, words, td_const_int(w->f, TD_I64, i),
                 i < n ? td_bitcast(w->f, x[i], TD_U64) : zero, TD_NONE, 0);
    td_store(w->f, words, td_const_int(w->f, TD_I64, 2), td_const_int(w->f, TD_U64, op), TD_NONE,
             0);
    td_ask(w->f, zero, td_address(w->f, words), td_const_int(w->f, TD_I64, TD_ASK_UFUNC));
    return td_bitcast(w->f, td_load(w->f, words, td_const_int(w->f, TD_I64, 0), TD_NONE, 1, 0),
                      TD_F64);
}

/* A Python number as the NumPy scalar of its value. */
static thing
as_numpy(walk *w, const thing *x)
{
    return exact_of_kinds(exact_raw(w, x, (td_dtype)x->type->dt, false),
                          exact_kinds(x->type) << EXACT_NUMPY,
                          TD_E2(w->f, left_shift, exact_tag(w, x), byte(w, EXACT_NUMPY)));
}

/* Ints alone are left to NumPy where it has a loop for them. */
static td_status
some_float(walk *w, td_op op, const call *c)
{
    uint32_t floats = EXACT_FLOAT | EXACT_NPFLOAT;
    td_val tags = byte(w, 0);
    bool any = false;

    if (td_ufunc_floats(op) || td_op_result(op, TD_F64) == TD_BOOL)
        return TD_OK;
    for (uint32_t i = 0; i < c->n; i++) {
        uint32_t of = exact_kinds(c->arg[i].type);

        if (of & floats && !(of & ~floats))
            return TD_OK;
        any = any || of & floats;
        tags = TD_E2(w->f, bitwise_or, tags, exact_tag(w, &c->arg[i]));
    }
    if (!any)
        return left_to_numpy(w, "this ufunc", &c->arg[0]);
    exact_flag(w, TD_E2(w->f, equal, TD_E2(w->f, bitwise_and, tags, byte(w, floats)), byte(w, 0)));
    return TD_OK;
}

/* A row of ops.def over floats. */
static td_status
ufunc_row(walk *w, td_op op, const call *c, thing *out)
{
    td_val v[2], r;
    thing x;

    if (c->n != (uint32_t)td_optab[op].arity || c->n > 2 ||
        !(td_ufunc_is_set(op, (int)c->n) || is_settled(op)))
        return bad(w, c->node, TD_ERR_TYPE, "this ufunc is left to NumPy");
    TD_TRY(some_float(w, op, c));
    for (uint32_t i = 0; i < c->n; i++) {
        x = numpy_plain(w, &c->arg[i]);
        exact_float(w, &x);
        v[i] = val_as(w, &x, TD_F64);
    }
    r = is_settled(op) ? td_emit(w->f, op, v) : ask_numpy(w, op, v, c->n);
    if (td_op_result(op, TD_F64) == TD_BOOL) {
        x = num_val(TD_BOOL, r);
    } else {
        exact_domain(w, r, v, c->n);
        x = num_of(td_type_weak('f'), td_num_of(r));
    }
    *out = as_numpy(w, &x);
    return built(w, c->node);
}

td_status
numpy_ufunc(walk *w, int number, const call *c, thing *out)
{
    const td_intrinsic_row *row = &td_intrinsics[number];
    thing x, r;

    for (uint32_t i = 0; i < c->n; i++) {
        if (!is_num(&c->arg[i]) || !exact_kinds(c->arg[i].type) || is_complex(&c->arg[i]) ||
            (exact_kinds(c->arg[i].type) & EXACT_NONE))
            return left_to_numpy(w, "this ufunc", &c->arg[i]);
        TD_TRY(no_kinds(w, "this ufunc", &c->arg[i], EXACT_BOOL | EXACT_NPBOOL));
    }
    if (row->fn == fn_row && !c->nkw)
        return ufunc_row(w, (td_op)row->row, c, out);
    if (row->fn != fn_abs || c->n != 1 || c->nkw)
        return bad(w, c->node, TD_ERR_TYPE, "this ufunc is left to NumPy");
    x = numpy_plain(w, &c->arg[0]);
    TD_TRY(exact_call(w, number, &(call){.node = c->node, .n = 1, .arg = &x}, &r));
    *out = as_numpy(w, &r);
    return built(w, c->node);
}
