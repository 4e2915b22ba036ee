/* compare.c - comparisons: numbers, tuples, members of enums, ranges, strings and boxes, and what is in them. */
#include "front/infer/box.h"
#include "front/infer/exact.h"
#include "front/infer/intrin.h"

#include <string.h>

static td_status
same_object(const thing *a, const thing *b, bool *same)
{
    if (is_none(a) || is_none(b))
        *same = is_none(a) && is_none(b);
    else if (a->type->kind == TD_T_OBJECT && b->type->kind == TD_T_OBJECT)
        *same = a->type->object == b->type->object;
    else
        return TD_SKIP;
    return TD_OK;
}

/* Compares strings by their text; numpy.dtype("float32") and numpy.float32 are one dtype. */
static bool
equal_objects(walk *w, const thing *a, const thing *b)
{
    td_objinfo x = {0}, y = {0};

    if (a->type->object == b->type->object)
        return true;
    if (w->host->describe(w->host->ctx, a->type->object, &x) ||
        w->host->describe(w->host->ctx, b->type->object, &y) || x.kind != y.kind)
        return false;
    if (x.kind == TD_OBJ_STR)
        return strcmp(x.text, y.text) == 0;
    return x.kind == TD_OBJ_TYPE && x.type && y.type && x.type->kind == TD_T_NUM &&
           y.type->kind == TD_T_NUM && x.type->dt == y.type->dt;
}

/* a < b and its like: the first items that are not equal decide; without such, the lengths. */
static td_status
order_tuples(walk *w, td_syn op, const thing *a, const thing *b, thing *out)
{
    uint32_t na = a->type->n, nb = b->type->n;
    bool less = op == TD_SYN_Lt || op == TD_SYN_LtE;

    *out = num_bool(na == nb ? op == TD_SYN_LtE || op == TD_SYN_GtE : less == (na < nb));
    for (uint32_t i = na < nb ? na : nb; i-- > 0;) {
        thing same, one;

        TD_TRY(compare_things(w, TD_SYN_Eq, &a->item[i], &b->item[i], &same));
        TD_TRY(compare_things(w, op, &a->item[i], &b->item[i], &one));
        if (same.known)
            *out = same.lit.i ? *out : one;
        else
            TD_TRY(num_op(w, OP_select, (thing[]){same, *out, one}, 3, out));
    }
    return TD_OK;
}

/* Members of an enum, of which one or both may be something else. */
static td_status
compare_members(walk *w, td_syn op, const thing *a, const thing *b, thing *out)
{
    bool equal = op == TD_SYN_Eq || op == TD_SYN_Is;

    if (!equal && op != TD_SYN_NotEq && op != TD_SYN_IsNot)
        return bad(w, w->node, TD_ERR_TYPE,
                   "members of an enum have no order: compare their values");
    if (a->type->kind != TD_T_TUPLE || a->type->object != b->type->object)
        return *out = num_bool(!equal), TD_OK;
    return compare_things(w, equal ? TD_SYN_Eq : TD_SYN_NotEq, &a->item[0], &b->item[0], out);
}

static td_status
compare_tuples(walk *w, td_syn op, const thing *a, const thing *b, thing *out)
{
    thing all = num_bool(a->type->n == b->type->n), one;

    if (w->exact && op != TD_SYN_Eq && op != TD_SYN_NotEq)
        return bad(w, w->node, TD_ERR_TYPE, "tuples are compared by == and != only in kernels");
    if (op != TD_SYN_Eq && op != TD_SYN_NotEq)
        return order_tuples(w, op, a, b, out);
    for (uint32_t i = 0; a->type->n == b->type->n && i < a->type->n; i++) {
        TD_TRY(compare_things(w, TD_SYN_Eq, &a->item[i], &b->item[i], &one));
        TD_TRY(num_op(w, OP_logical_and, (thing[]){all, one}, 2, &all));
    }
    return op == TD_SYN_Eq ? (*out = all, TD_OK) : num_unary(w, TD_SYN_Not, &all, out);
}

/* x in range(lo, hi, step): between the ends, and whole steps from lo. */
static td_status
range_has(walk *w, const thing *r, const thing *x, thing *out)
{
    const thing *lo = &r->item[0], *hi = &r->item[1], *step = &r->item[2];
    thing zero = num_int(0), part[5], up;

    if (!is_num(x) || td_dtype_is_complex(x->type->dt))
        return bad(w, w->node, TD_ERR_TYPE, "%s is looked for in a range: numbers can be",
                   x->type->name);
    TD_TRY(num_compare(w, TD_SYN_Gt, step, &zero, &up));
    TD_TRY(num_compare(w, TD_SYN_GtE, x, lo, &part[0]));
    TD_TRY(num_compare(w, TD_SYN_Lt, x, hi, &part[1]));
    TD_TRY(num_compare(w, TD_SYN_LtE, x, lo, &part[2]));
    TD_TRY(num_compare(w, TD_SYN_Gt, x, hi, &part[3]));
    for (int i = 0; i < 4; i += 2)
        TD_TRY(num_op(w, OP_logical_and, (thing[]){part[i], part[i + 1]}, 2, &part[i]));
    TD_TRY(num_op(w, OP_select, (thing[]){up, part[0], part[2]}, 3, &part[0]));
    TD_TRY(num_binary(w, TD_SYN_Sub, x, lo, &part[4]));
    TD_TRY(num_op(w, OP_remainder, (thing[]){part[4], *step}, 2, &part[4]));
    TD_TRY(num_compare(w, TD_SYN_Eq, &part[4], &zero, &part[4]));
    return num_op(w, OP_logical_and, (thing[]){part[0], part[4]}, 2, out);
}

static td_status
compare_in(walk *w, const thing *a, const thing *b, thing *out)
{
    thing any = num_bool(false), one;

    if (is_list(b))
        return exact_list_has(w, b, a, out);
    if (is_box(b))
        return box_has(w, b, a, out);
    if (is_text(w, a) && is_text(w, b) && box_may(w))
        return text_has(w, b, a, out);
    if (b->type->kind == TD_T_ITER && b->type->object == ITER_KEYS)
        return map_has(w, &b->item[0], a, out);
    if (is_array(b)) {
        TD_TRY(num_compare(w, TD_SYN_Eq, b, a, &one));
        return call_row(w, fn_reduce, RED_any, &one, 1, out);
    }
    if (b->type->kind == TD_T_RANGE && !w->exact)
        return range_has(w, b, a, out);
    if (b->type->kind != TD_T_TUPLE)
        return bad(w, w->node, TD_ERR_TYPE,
                   "`in` looks into tuples and arrays only in kernels, not into %s", b->type->name);
    if (w->exact && is_num(a) && a->type->dt == TD_F64) /* by identity, `in` finds a NaN */
        exact_flag(w, TD_E1(w->f, isnan, exact_raw(w, a, TD_F64, false)));
    for (uint32_t i = 0; i < b->type->n; i++) {
        TD_TRY(compare_things(w, TD_SYN_Eq, a, &b->item[i], &one));
        if (one.known && one.lit.i) {
            any = num_bool(true);
            break;
        }
        if (!one.known)
            TD_TRY(num_op(w, OP_logical_or, (thing[]){any, one}, 2, &any));
    }
    *out = any;
    return TD_OK;
}

static bool
is_constant_text(walk *w, const thing *x)
{
    td_objinfo info = {0};

    return x->type->kind == TD_T_OBJECT &&
           !w->host->describe(w->host->ctx, x->type->object, &info) && info.kind == TD_OBJ_STR;
}

static bool
is_listed(const thing *x)
{
    return x->listed || box_is(x, TD_BOX_LIST);
}

/* A list never equals a tuple. */
static bool
list_and_tuple(const thing *a, const thing *b)
{
    return is_listed(a) && b->type->kind == TD_T_TUPLE && !b->listed;
}

/* Of two numbers at least one is a bool.  True and False are one object each, apart from all ints. */
static td_status
bool_is(walk *w, td_syn op, const thing *a, const thing *b, thing *out)
{
    if (a->type->dt == b->type->dt)
        return num_compare(w, op == TD_SYN_Is ? TD_SYN_Eq : TD_SYN_NotEq, a, b, out);
    *out = num_bool(op == TD_SYN_IsNot);
    return TD_OK;
}

td_status
compare_things(walk *w, td_syn op, const thing *a, const thing *b, thing *out)
{
    bool same;

    if (is_optional(a) || is_optional(b))
        return optional_compare(w, op, a, b, out);
    if (w->exact && (is_none(a) || is_none(b)) && (is_mixed(a) || is_mixed(b)) &&
        (op == TD_SYN_Is || op == TD_SYN_IsNot || op == TD_SYN_Eq || op == TD_SYN_NotEq)) {
        thing none = num_known((td_scalar){.dt = TD_U8, .u = EXACT_NONE}, td_type_num(TD_U8)),
              tag = num_val(TD_U8, exact_tag(w, is_mixed(a) ? a : b));

        return num_op(w, op == TD_SYN_Is || op == TD_SYN_Eq ? OP_equal : OP_not_equal,
                      (thing[]){tag, none}, 2, out);
    }
    if (op != TD_SYN_In && op != TD_SYN_NotIn && (is_member(w, a) || is_member(w, b)))
        return compare_members(w, op, a, b, out);
    if ((op == TD_SYN_Eq || op == TD_SYN_NotEq) && (list_and_tuple(a, b) || list_and_tuple(b, a)))
        return *out = num_bool(op == TD_SYN_NotEq), TD_OK;
    switch (op) {
    case TD_SYN_Is:
    case TD_SYN_IsNot:
        if ((is_box(a) && is_box(b) && !box_is(a, TD_BOX_STR) && !box_is(b, TD_BOX_STR)) ||
            (box_is(a, TD_BOX_OBJECT) && is_none(b)) || (is_none(a) && box_is(b, TD_BOX_OBJECT)))
            return object_is(w, a, b, op == TD_SYN_IsNot, out);
        if (is_num(a) && is_num(b) && !is_mixed(a) && !is_mixed(b) &&
            (a->type->dt == TD_BOOL || b->type->dt == TD_BOOL))
            return bool_is(w, op, a, b, out);
        if (same_object(a, b, &same))
            return bad(w, w->node, TD_ERR_TYPE,
                       "`is` between %s and %s: kernels compare identity with None, bools and "
                       "functions only; use ==",
                       a->type->name, b->type->name);
        *out = num_bool(same == (op == TD_SYN_Is));
        return TD_OK;
    case TD_SYN_In:    return compare_in(w, a, b, out);
    case TD_SYN_NotIn: TD_TRY(compare_in(w, a, b, out)); return num_unary(w, TD_SYN_Not, out, out);
    default:           break;
    }
    if ((is_box(a) || is_box(b) || (box_may(w) && (is_pieces(a) || is_pieces(b)))) && !is_none(a) &&
        !is_none(b))
        return box_compare(w, op, a, b, out);
    if (a->type->kind == TD_T_OBJECT && b->type->kind == TD_T_OBJECT &&
        (op == TD_SYN_Eq || op == TD_SYN_NotEq)) {
        *out = num_bool(equal_objects(w, a, b) == (op == TD_SYN_Eq));
        return TD_OK;
    }
    if (a->listed && b->listed && op != TD_SYN_Eq && op != TD_SYN_NotEq)
        return list_compare(w, op, a, b, out);
    if (box_may(w) && is_text(w, a) && is_text(w, b))
        return text_compare(w, op, a, b, out);
    if ((is_none(a) || is_none(b)) && (op == TD_SYN_Eq || op == TD_SYN_NotEq)) {
        *out = num_bool((is_none(a) && is_none(b)) == (op == TD_SYN_Eq));
        return TD_OK;
    }
    if ((op == TD_SYN_Eq || op == TD_SYN_NotEq) &&
        ((is_num(a) && is_constant_text(w, b)) || (is_num(b) && is_constant_text(w, a)))) {
        *out = num_bool(op == TD_SYN_NotEq);
        return TD_OK;
    }
    if (a->type->kind == TD_T_TUPLE && b->type->kind == TD_T_TUPLE)
        return compare_tuples(w, op, a, b, out);
    return num_compare(w, op, a, b, out);
}

td_status
expr_compare(walk *w, uint32_t node, thing *out)
{
    uint32_t ops = F(node, Compare_ops), right = F(node, Compare_comparators);
    thing a, b, all = {0}, one;

    TD_TRY(expr_optional(w, F(node, Compare_left), &a));
    for (uint32_t i = 0; i < count_of(w, ops); i++, a = b) {
        w->walked = kind_of(w, item_of(w, ops, i)) == TD_SYN_In ||
                    kind_of(w, item_of(w, ops, i)) == TD_SYN_NotIn;
        TD_TRY(expr_optional(w, item_of(w, right, i), &b));
        w->node = node;
        TD_TRY(compare_things(w, kind_of(w, item_of(w, ops, i)), &a, &b, &one));
        if (i == 0)
            all = one;
        else if (all.known || one.known)
            all = (all.known ? all.lit.i : one.lit.i) ? (all.known ? one : all) : num_bool(false);
        else
            TD_TRY(num_op(w, OP_logical_and, (thing[]){all, one}, 2, &all));
    }
    *out = all;
    return TD_OK;
}
