/* expr.c - expressions: each node of the syntax tree gives a thing. */
#include "front/infer/box.h"
#include "front/infer/exact.h"
#include "front/infer/intrin.h"
#include "front/infer/lazy.h"

#include <string.h>

thing
tuple_of(walk *w, const thing *item, uint32_t n)
{
    const td_type **type = td_alloc(w->mem, (n + 1) * sizeof *type);
    thing t = {.item = td_alloc(w->mem, (n + 1) * sizeof *t.item)};

    for (uint32_t i = 0; i < n; i++) {
        t.item[i] = item[i];
        type[i] = item[i].type;
    }
    t.type = td_type_tuple(type, n);
    return t;
}

/* The type of a Python object.  Errors show its name; strings have their quotes. */
static const td_type *
object_type(walk *w, uint32_t obj, const td_objinfo *info)
{
    size_t n = info->text ? strlen(info->text) : 0;
    char *quoted;

    if (info->kind != TD_OBJ_STR || n > 60)
        return td_type_object(obj, info->kind == TD_OBJ_STR ? "a string"
                                   : n                      ? info->text
                                                            : "object");
    quoted = td_alloc(w->mem, n + 3);
    quoted[0] = quoted[n + 1] = '"';
    if (n)
        memcpy(quoted + 1, info->text, n);
    return td_type_object(obj, quoted);
}

td_status
object(walk *w, uint32_t obj, uint32_t node, thing *out)
{
    td_objinfo info = {0};
    bool value = false;

    TD_TRY(w->host->describe(w->host->ctx, obj, &info));
    if (w->exact && (info.kind == TD_OBJ_ARRAY || info.kind == TD_OBJ_NUMBER ||
                     (info.kind == TD_OBJ_INT && info.num.dt == TD_U64)))
        return bad(w, node, TD_ERR_TYPE, "%s",
                   info.kind == TD_OBJ_ARRAY ? "an array is used here"
                   : info.kind == TD_OBJ_INT ? "this int is beyond 64 bits with a sign"
                                             : "this is NumPy's number, not Python's");
    switch (info.kind) {
    case TD_OBJ_NONE: *out = (thing){.type = td_type_none()}; return TD_OK;
    case TD_OBJ_BOOL: *out = num_bool(info.num.i); return TD_OK;
    case TD_OBJ_INT:
        *out =
            info.num.dt == TD_U64 ? num_known(info.num, td_type_num(TD_U64)) : num_int(info.num.i);
        return TD_OK;
    case TD_OBJ_FLOAT:   *out = num_float(info.num.f[0]); return TD_OK;
    case TD_OBJ_COMPLEX: *out = num_known(info.num, td_type_weak('c')); return TD_OK;
    case TD_OBJ_NUMBER:  *out = num_known(info.num, td_type_num(info.num.dt)); return TD_OK;
    case TD_OBJ_ARRAY:
        *out = hidden_array(w, obj, info.type);
        if (kind_of(w, node) == TD_SYN_Name)
            out->view->name = name_of(w, F(node, Name_id));
        return built(w, node);
    case TD_OBJ_TUPLE: {
        thing *item = td_alloc(w->mem, (info.n + 1) * sizeof *item);

        for (uint32_t i = 0; i < info.n; i++)
            TD_TRY(object(w, info.item[i], node, &item[i]));
        *out = tuple_of(w, item, info.n);
        if (info.object)
            out->type = td_type_named(info.object, info.text, out->type->item, info.n);
        return TD_OK;
    }
    case TD_OBJ_SLICE: {
        thing part[3];

        for (int i = 0; i < 3; i++)
            TD_TRY(object(w, info.item[i], node, &part[i]));
        return new_slice(w, part, node, out);
    }
    case TD_OBJ_INTRINSIC:
        TD_TRY(value_intrinsic(w, info.number, node, &value, out));
        if (value)
            return TD_OK;
        break;
    default: break;
    }
    *out = (thing){.type = object_type(w, obj, &info)};
    return TD_OK;
}

static td_status expr_name(walk *w, uint32_t node, thing *out);

/* A free name of a function that another one defines: that one's variable, of the same tree. */
static td_status
expr_outer(walk *w, uint32_t node, thing *out)
{
    frame *own = w->fr;
    td_status st;

    w->fr = nested_home(own->nested);
    generating_recall(w, w->fr);
    st = expr_name(w, node, out);
    w->fr = own;
    return st;
}

static td_status
expr_name(walk *w, uint32_t node, thing *out)
{
    uint32_t id = F(node, Name_id), obj;

    if (w->fr->var[id].type) {
        *out = w->fr->var[id];
        TD_TRY(carry_read(w, out, node));
        return want_bound(w, out, id, node);
    }
    if (w->fr->var[id].clash)
        return bad(w, node, TD_ERR_TYPE,
                   "%s is %s on one path and %s on another; a variable has one type where paths "
                   "meet: use two names",
                   name_of(w, id), w->fr->var[id].clash->type->name,
                   w->fr->var[id].clash->clash->name);
    if (w->fr->nested && !w->fr->local[id])
        return expr_outer(w, node, out);
    if (w->fr->local[id]) {
        /* a later statement of a loop may assign it: the next walk will know */
        if (w->walks == 0 || w->again) {
            w->again = true;
            return TD_SKIP;
        }
        return bad(w, node, TD_ERR_NAME, "%s is used before it is assigned", name_of(w, id));
    }
    if (w->host->name(w->host->ctx, w->fr->s, id - 1, &obj))
        return bad(w, node, TD_ERR_NAME, "%s is not defined", name_of(w, id));
    return object(w, obj, node, out);
}

static td_status
expr_attribute(walk *w, uint32_t node, thing *out)
{
    const char *name = name_of(w, F(node, Attribute_attr));
    uint32_t obj;
    thing x;

    TD_TRY(expr(w, F(node, Attribute_value), &x));
    if (x.type->kind != TD_T_OBJECT)
        return attribute(w, &x, name, node, out);
    if (w->host->attr(w->host->ctx, x.type->object, name, &obj))
        return bad(w, node, TD_ERR_VALUE, "%s has no attribute %s", x.type->name, name);
    return object(w, obj, node, out);
}

enum {
    TUPLE_MAX = 1024
}; /* items of a tuple that is repeated: each is a value of the compiler's */

static bool
both_text(walk *w, const thing *a, const thing *b)
{
    return box_may(w) &&
           ((is_text(w, a) && (is_text(w, b) || is_int(b))) || (is_int(a) && is_text(w, b)));
}

static td_status
joined_boxes(walk *w, td_syn op, const thing *a, const thing *b, thing *out)
{
    thing x = *a, y = *b;

    if (x.listed)
        TD_TRY(boxed(w, &x));
    if (y.listed)
        TD_TRY(boxed(w, &y));
    return box_binary(w, op, &x, &y, false, out);
}

static bool
repeats(const thing *tuple, const thing *times)
{
    int64_t n;

    return tuple->type->kind == TD_T_TUPLE && known_int(times, &n);
}

/* (a, b) * n for a number that is known when compiling. */
static td_status
tuple_repeated(walk *w, const thing *t, const thing *times, thing *out)
{
    int64_t n = 0;
    thing *item;

    known_int(times, &n);
    n = n < 0 || !t->type->n ? 0 : n;
    if (n > TUPLE_MAX / (t->type->n + 1))
        return bad(w, w->node, TD_ERR_TYPE, "a tuple of more than %d items: make an array",
                   TUPLE_MAX);
    item = td_alloc(w->mem, ((size_t)n * t->type->n + 1) * sizeof *item);
    for (int64_t i = 0; i < n; i++)
        copy_things(item + i * t->type->n, t->item, t->type->n);
    *out = tuple_of(w, item, (uint32_t)n * t->type->n);
    return TD_OK;
}

static td_status
expr_binop(walk *w, uint32_t node, thing *out)
{
    td_syn op = kind_of(w, F(node, BinOp_op));
    thing a, b;

    TD_TRY(expr(w, F(node, BinOp_left), &a));
    TD_TRY(expr(w, F(node, BinOp_right), &b));
    w->node = node;
    if (is_list(&a) || is_list(&b))
        return exact_list_binary(w, op, &a, &b, out);
    if (is_box(&a) || is_box(&b) || both_text(w, &a, &b) ||
        (op == TD_SYN_Mult && (a.listed || b.listed) && box_may(w)))
        return joined_boxes(w, op, &a, &b, out);
    if (op == TD_SYN_Add && a.type->kind == TD_T_TUPLE && b.type->kind == TD_T_TUPLE) {
        uint32_t n = a.type->n + b.type->n;
        thing *item = td_alloc(w->mem, (n + 1) * sizeof *item);

        copy_things(item, a.item, a.type->n);
        copy_things(item + a.type->n, b.item, b.type->n);
        *out = tuple_of(w, item, n);
        out->listed = a.listed && b.listed ? node : 0;
        return TD_OK;
    }
    if (op == TD_SYN_Mult && repeats(&a, &b))
        return tuple_repeated(w, &a, &b, out);
    if (op == TD_SYN_Mult && repeats(&b, &a))
        return tuple_repeated(w, &b, &a, out);
    return num_binary(w, op, &a, &b, out);
}

/* A list of the items so far, to which others are added whose number only the running program knows. */
static td_status
grown_from(walk *w, const thing *item, uint32_t n, uint32_t node, thing *out)
{
    TD_TRY(box_new(w, TD_BOX_LIST, node, 3, box_whole(w, 0), out));
    for (uint32_t i = 0; i < n; i++)
        TD_TRY(list_append(w, out, &item[i]));
    return TD_OK;
}

static td_status
expr_list(walk *w, uint32_t list, bool tuple, thing *out)
{
    uint32_t n = count_of(w, list), m = 0, cap = n;
    thing *item = td_alloc(w->mem, (cap + 1) * sizeof *item), x, grown = {0};

    for (uint32_t i = 0; i < n; i++) {
        uint32_t node = item_of(w, list, i);
        bool star = kind_of(w, node) == TD_SYN_Starred;
        uint32_t add = 1;

        w->keeps = tuple && !star;
        TD_TRY(expr(w, star ? F(node, Starred_value) : node, &x));
        if (star && x.type->kind != TD_T_TUPLE && (tuple || !box_may(w) || w->exact))
            return bad(w, node, TD_ERR_TYPE, "only a tuple can be unpacked by *, not %s",
                       x.type->name);
        if (star && x.type->kind != TD_T_TUPLE && !grown.type)
            TD_TRY(grown_from(w, item, m, node, &grown));
        if (grown.type) {
            TD_TRY(star ? list_extend(w, &grown, &x, node) : list_append(w, &grown, &x));
            continue;
        }
        if (star)
            add = x.type->n;
        if (m + add > cap) {
            thing *more = td_alloc(w->mem, (m + add + n + 1) * sizeof *more);

            memcpy(more, item, m * sizeof *item);
            item = more;
            cap = m + add + n;
        }
        copy_things(item + m, star ? x.item : &x, add);
        m += add;
    }
    *out = grown.type ? grown : tuple_of(w, item, m);
    return TD_OK;
}

static td_status
expr_new_list(walk *w, uint32_t list, thing *out)
{
    thing item;

    TD_TRY(expr_list(w, list, false, &item));
    return exact_list(w, item.item, item.type->n, out);
}

static td_status
expr_slice(walk *w, uint32_t node, thing *out)
{
    const uint32_t part[3] = {F(node, Slice_lower), F(node, Slice_upper), F(node, Slice_step)};
    thing value[3];

    for (int i = 0; i < 3; i++) {
        value[i] = (thing){.type = td_type_none()};
        if (part[i])
            TD_TRY(expr_optional(w, part[i], &value[i]));
    }
    return new_slice(w, value, node, out);
}

/* Checks an index into a tuple or a list display, whose length is known. */
static td_status
check_place(walk *w, const thing *t, const thing *key)
{
    td_val n = td_const_int(w->f, TD_I64, t->type->n), i;

    if ((!t->listed && !box_may(w)) || key->known || !is_int(key))
        return TD_OK;
    i = val_as(w, key, TD_I64);
    return box_fail_unless(
        w,
        TD_E2(w->f, logical_and, TD_E2(w->f, less, i, n),
              TD_E2(w->f, greater_equal, i, td_const_int(w->f, TD_I64, -(int64_t)t->type->n))),
        TD_REPORT_LOOKUP, t->listed ? "list index out of range" : "tuple index out of range", NULL,
        0);
}

static bool
is_type(walk *w, const thing *x)
{
    td_objinfo info = {0};

    return !w->host->describe(w->host->ctx, x->type->object, &info) && info.kind == TD_OBJ_TYPE;
}

/* range(lo, hi, step)[k] */
static td_status
range_index(walk *w, const thing *r, const thing *key, uint32_t node, thing *out)
{
    thing n, zero = num_int(0), below;
    td_val at = val_as(w, key, TD_I64), count, ok;

    TD_TRY(iter_length(w, r, node, &n));
    count = val_as(w, &n, TD_I64); /* may be negative, where there are none */
    below = num_val(TD_BOOL, TD_E2(w->f, less, at, val_as(w, &zero, TD_I64)));
    at = TD_E3(w->f, select, below.num.re, TD_E2(w->f, add, at, count), at);
    ok = TD_E2(w->f, logical_and, TD_E2(w->f, less, at, count),
               TD_E2(w->f, greater_equal, at, val_as(w, &zero, TD_I64)));
    TD_TRY(must(w, ok, TD_REPORT_LOOKUP, "range object index out of range", NULL, 0));
    return iter_item(w, r, at, node, out);
}

/* Color["RED"], a member of an enum by its name */
static bool
is_member_name(walk *w, const thing *x, const thing *key, uint32_t *member)
{
    td_objinfo class = {0}, name = {0}, found = {0};

    return key->type->kind == TD_T_OBJECT &&
           !w->host->describe(w->host->ctx, x->type->object, &class) && class.member &&
           !w->host->describe(w->host->ctx, key->type->object, &name) && name.kind == TD_OBJ_STR &&
           !w->host->attr(w->host->ctx, x->type->object, name.text, member) &&
           !w->host->describe(w->host->ctx, *member, &found) && found.kind == TD_OBJ_TUPLE &&
           found.object;
}

static td_status
expr_subscript(walk *w, uint32_t node, thing *out)
{
    thing x, key = {0};
    uint32_t obj;

    TD_TRY(expr(w, F(node, Subscript_value), &x));
    TD_TRY(expr(w, F(node, Subscript_slice), &key));
    w->node = node;
    TD_TRY(lists_as_places(w, &x, F(node, Subscript_slice), &key));
    if (is_list(&x))
        return exact_list_get(w, &x, &key, out);
    if (box_may(w) && !is_box(&x) && (is_text(w, &x) || (x.listed && key.type->kind == TD_T_SLICE)))
        TD_TRY(boxed(w, &x));
    if (is_box(&x))
        return box_index(w, &x, &key, out);
    switch ((td_tkind)x.type->kind) {
    case TD_T_TUPLE: TD_TRY(check_place(w, &x, &key)); return tuple_index(w, &x, &key, node, out);
    case TD_T_ARRAY:
        if (!is_record(&x) || !is_num(&key))
            return array_index(w, &x, &key, node, out);
        TD_TRY(record_part(w, &x, &key, node, out));
        return loaded(w, out);
    case TD_T_RECORD: TD_TRY(record_part(w, &x, &key, node, out)); return loaded(w, out);
    case TD_T_RANGE:
        if (is_int(&key) && !w->exact)
            return range_index(w, &x, &key, node, out);
        return bad(w, node, TD_ERR_TYPE, "a range is indexed by an integer here, not by %s",
                   key.type->name);
    case TD_T_OBJECT:
        if (box_may(w) && is_type(w, &x))
            return box_array_type(w, &x, &key, node, out);
        if (is_member_name(w, &x, &key, &obj))
            return object(w, obj, node, out);
        /* fallthrough */
    default: return bad(w, node, TD_ERR_TYPE, "%s cannot be indexed in a kernel", x.type->name);
    }
}

static td_status
expr_unary(walk *w, uint32_t node, thing *out)
{
    thing x;

    w->keeps = kind_of(w, F(node, UnaryOp_op)) == TD_SYN_Not;
    TD_TRY(expr(w, F(node, UnaryOp_operand), &x));
    w->node = node;
    if (kind_of(w, F(node, UnaryOp_op)) == TD_SYN_USub && x.known &&
        kind_of(w, F(node, UnaryOp_operand)) == TD_SYN_Constant && x.type->dt == TD_U64 &&
        x.lit.i == INT64_MIN) { /* -9223372036854775808 is an int64, 9223372036854775808 is not */
        *out = num_int(INT64_MIN);
        return TD_OK;
    }
    if (box_is(&x, TD_BOX_OBJECT) && kind_of(w, F(node, UnaryOp_op)) != TD_SYN_Not)
        return object_unary(w, kind_of(w, F(node, UnaryOp_op)), &x, out);
    return num_unary(w, kind_of(w, F(node, UnaryOp_op)), &x, out);
}

/* f"…": a tuple of its pieces, which print joins. */
static td_status
expr_text(walk *w, uint32_t node, thing *out)
{
    uint32_t list = F(node, JoinedStr_values), n = count_of(w, list);
    thing *item = td_alloc(w->mem, (n + 1) * sizeof *item);
    const td_type **type = td_alloc(w->mem, (n + 1) * sizeof *type);

    for (uint32_t i = 0; i < n; i++) {
        uint32_t piece = item_of(w, list, i);

        if (kind_of(w, piece) == TD_SYN_FormattedValue) {
            if (F(piece, FormattedValue_format_spec))
                return bad(
                    w, piece, TD_ERR_TYPE,
                    "kernels print numbers as str does: leave out what stands behind the colon");
            piece = F(piece, FormattedValue_value);
        }
        TD_TRY(expr(w, piece, &item[i]));
        type[i] = item[i].type;
    }
    *out = (thing){.type = td_type_iter(ITER_TEXT, type, n), .item = item};
    return TD_OK;
}

static td_status
expr_named(walk *w, uint32_t node, thing *out)
{
    TD_TRY(expr_optional(w, F(node, NamedExpr_value), out));
    return assign(w, F(node, NamedExpr_target), out);
}

td_status
expr(walk *w, uint32_t node, thing *out)
{
    bool walked = w->walked, keeps = w->keeps;
    td_status st;

    w->walked = w->keeps = false;
    w->node = node;
    at_line(w, node);
    switch (kind_of(w, node)) {
    case TD_SYN_Name:      st = expr_name(w, node, out); break;
    case TD_SYN_Constant:  st = object(w, F(node, Constant_value), node, out); break;
    case TD_SYN_Attribute: st = expr_attribute(w, node, out); break;
    case TD_SYN_BinOp:     st = expr_binop(w, node, out); break;
    case TD_SYN_UnaryOp:   st = expr_unary(w, node, out); break;
    case TD_SYN_BoolOp:    st = expr_boolop(w, node, out); break;
    case TD_SYN_Compare:   st = expr_compare(w, node, out); break;
    case TD_SYN_IfExp:     st = expr_ifexp(w, node, out); break;
    case TD_SYN_Call:      st = expr_call(w, node, out); break;
    case TD_SYN_Tuple:     st = expr_list(w, F(node, Tuple_elts), true, out); break;
    case TD_SYN_List:
        st = w->exact && !walked ? expr_new_list(w, F(node, List_elts), out)
                                 : expr_list(w, F(node, List_elts), false, out);
        if (!st && box_may(w) && !is_box(out))
            out->listed = node;
        break;
    case TD_SYN_Dict:      st = expr_dict(w, node, out); break;
    case TD_SYN_Set:       st = expr_set(w, node, out); break;
    case TD_SYN_Subscript: st = expr_subscript(w, node, out); break;
    case TD_SYN_Slice:     st = expr_slice(w, node, out); break;
    case TD_SYN_NamedExpr: st = expr_named(w, node, out); break;
    case TD_SYN_JoinedStr: st = expr_text(w, node, out); break;
    case TD_SYN_Folded:    st = expr_folded(w, node, out); break;
    case TD_SYN_Lambda:    st = expr_lambda(w, node, out); break;
    default:               return refuse(w, node);
    }
    w->node = node;
    return st || keeps ? st : optional_value(w, out);
}

td_status
expr_optional(walk *w, uint32_t node, thing *out)
{
    w->keeps = true;
    return expr(w, node, out);
}
