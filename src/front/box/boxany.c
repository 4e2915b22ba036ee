/* boxany.c - operations on any box, passed on by its kind: to a list, a dict or set, a string, an instance. */
#include "front/infer/box.h"
#include "front/infer/intrin.h"
#include "front/infer/lazy.h"

static td_val
sequence_count(walk *w, const thing *x)
{
    return box_head(w, x, offsetof(td_box, n));
}

td_status
box_truth(walk *w, const thing *x, thing *out)
{
    box_note(w);
    if (box_is(x, TD_BOX_OBJECT))
        return object_truth(w, x, out);
    *out = num_val(TD_BOOL,
                   TD_E2(w->f, not_equal, sequence_count(w, x), td_const_int(w->f, TD_I64, 0)));
    return built(w, w->node);
}

td_status
box_length(walk *w, const thing *x, thing *out)
{
    box_note(w);
    if (box_is(x, TD_BOX_OBJECT))
        return object_length(w, x, out);
    *out = num_index(sequence_count(w, x), true);
    return built(w, w->node);
}

td_status
box_item(walk *w, const thing *x, td_val k, uint32_t node, thing *out)
{
    box_note(w);
    w->node = node;
    if (box_is(x, TD_BOX_STR))
        return text_item(w, x, k, out);
    td_break_if(w->f, TD_E2(w->f, greater_equal, k, sequence_count(w, x)));
    return box_get(w, x, BOX_ELEM, box_element(w, x, k), 0, out);
}

td_status
box_index(walk *w, const thing *x, const thing *key, thing *out)
{
    switch ((td_boxkind)x->type->ndim) {
    case TD_BOX_LIST:   return list_index(w, x, key, out);
    case TD_BOX_STR:    return text_index(w, x, key, out);
    case TD_BOX_OBJECT: return object_index(w, x, key, out);
    default:            return map_index(w, x, key, out);
    }
}

td_status
box_assign(walk *w, const thing *x, const thing *key, const thing *value)
{
    switch ((td_boxkind)x->type->ndim) {
    case TD_BOX_LIST:   return list_assign(w, x, key, value);
    case TD_BOX_OBJECT: return object_set_item(w, x, key, value);
    case TD_BOX_STR:
        return bad(w, w->node, TD_ERR_TYPE, "a string's characters cannot be assigned");
    default: return map_assign(w, x, key, value);
    }
}

td_status
box_delete(walk *w, const thing *x, const thing *key)
{
    switch ((td_boxkind)x->type->ndim) {
    case TD_BOX_LIST: return list_delete(w, x, key);
    case TD_BOX_DICT: return map_delete(w, x, key);
    default:
        return bad(w, w->node, TD_ERR_TYPE, "elements of a %s cannot be deleted", x->type->name);
    }
}

/* The kind of the operand that decides the operation: an instance, a string, a dict, set or list. */
static td_boxkind
leading_operand(walk *w, const thing *a, const thing *b)
{
    if (box_is(a, TD_BOX_OBJECT) || box_is(b, TD_BOX_OBJECT))
        return TD_BOX_OBJECT;
    if (is_text(w, a) && (is_text(w, b) || is_num(b)))
        return TD_BOX_STR;
    if (is_text(w, b) && is_num(a))
        return TD_BOX_STR;
    if (is_box(a) && !box_is(a, TD_BOX_STR))
        return (td_boxkind)a->type->ndim;
    if (is_box(b) && !box_is(b, TD_BOX_STR))
        return (td_boxkind)b->type->ndim;
    return TD_BOX_STR;
}

td_status
box_binary(walk *w, td_syn op, const thing *a, const thing *b, bool in_place, thing *out)
{
    switch (leading_operand(w, a, b)) {
    case TD_BOX_OBJECT: return object_binary(w, op, a, b, in_place, out);
    case TD_BOX_LIST:   return list_binary(w, op, a, b, in_place, out);
    case TD_BOX_STR:    return text_binary(w, op, a, b, out);
    default:            return map_binary(w, op, a, b, in_place, out);
    }
}

td_status
box_compare(walk *w, td_syn op, const thing *a, const thing *b, thing *out)
{
    switch (leading_operand(w, a, b)) {
    case TD_BOX_OBJECT: return object_compare(w, op, a, b, out);
    case TD_BOX_LIST:   return list_compare(w, op, a, b, out);
    case TD_BOX_STR:    return text_compare(w, op, a, b, out);
    default:            return map_compare(w, op, a, b, out);
    }
}

td_status
box_has(walk *w, const thing *b, const thing *x, thing *out)
{
    switch ((td_boxkind)b->type->ndim) {
    case TD_BOX_OBJECT: return object_has(w, b, x, out);
    case TD_BOX_LIST:   return list_has(w, b, x, out);
    case TD_BOX_STR:    return text_has(w, b, x, out);
    default:            return map_has(w, b, x, out);
    }
}

td_status
box_method(walk *w, const thing *self, const char *name, const call *c, thing *out)
{
    box_note(w);
    switch ((td_boxkind)self->type->ndim) {
    case TD_BOX_OBJECT: return object_method(w, self, name, c, out);
    case TD_BOX_LIST:   return list_method(w, self, name, c, out);
    case TD_BOX_STR:    return text_method(w, self, name, c, out);
    default:            return map_method(w, self, name, c, out);
    }
}

/* ---- converting values to boxes ---- */

static td_status
list_of_tuple(walk *w, thing *x)
{
    thing list;

    TD_TRY(box_new(w, TD_BOX_LIST, x->listed, 0, td_const_int(w->f, TD_I64, x->type->n), &list));
    for (uint32_t i = 0; i < x->type->n; i++)
        TD_TRY(box_put(w, &list, BOX_ELEM, box_element(w, &list, td_const_int(w->f, TD_I64, i)), 0,
                       &x->item[i]));
    box_set_n(w, &list, td_const_int(w->f, TD_I64, x->type->n));
    *x = list;
    return built(w, w->node);
}

bool
is_text(walk *w, const thing *x)
{
    td_objinfo info = {0};

    if (box_is(x, TD_BOX_STR) || is_pieces(x))
        return true;
    return x->type->kind == TD_T_OBJECT &&
           !w->host->describe(w->host->ctx, x->type->object, &info) && info.kind == TD_OBJ_STR;
}

td_status
boxed(walk *w, thing *x)
{
    td_objinfo info = {0};
    const td_type **type;

    if (x->type->kind == TD_T_TUPLE && x->listed)
        return list_of_tuple(w, x);
    if (is_optional(x))
        return optional_boxed(w, x);
    if (x->type->kind == TD_T_OBJECT) {
        TD_TRY(w->host->describe(w->host->ctx, x->type->object, &info));
        return info.kind == TD_OBJ_STR ? text_constant(w, info.text, x) : TD_OK;
    }
    if (x->type->kind == TD_T_ITER && x->type->object == ITER_TEXT) {
        thing text = *x;

        return text_of(w, &text, x);
    }
    if (x->type->kind != TD_T_TUPLE)
        return TD_OK;
    type = td_alloc(w->mem, (x->type->n + 1) * sizeof *type);
    for (uint32_t i = 0; i < x->type->n; i++) {
        TD_TRY(boxed(w, &x->item[i]));
        type[i] = x->item[i].type;
    }
    x->type = td_type_tuple_like(x->type, type);
    return TD_OK;
}

td_status
value_equal(walk *w, const thing *a, const thing *b, td_val *same)
{
    thing out, all = num_bool(true);

    if (a->type->kind == TD_T_TUPLE && b->type->kind == TD_T_TUPLE) {
        td_val one;

        *same = td_const_int(w->f, TD_BOOL, a->type->n == b->type->n);
        for (uint32_t i = 0; a->type->n == b->type->n && i < a->type->n; i++) {
            TD_TRY(value_equal(w, &a->item[i], &b->item[i], &one));
            *same = TD_E2(w->f, logical_and, *same, one);
        }
        return TD_OK;
    }
    if (is_num(a) && is_num(b))
        TD_TRY(num_compare(w, TD_SYN_Eq, a, b, &out));
    else if (is_box(a) || is_box(b))
        TD_TRY(box_compare(w, TD_SYN_Eq, a, b, &out));
    else if (is_none(a) && is_none(b))
        out = all;
    else
        return bad(w, w->node, TD_ERR_TYPE, "%s and %s are not compared here", a->type->name,
                   b->type->name);
    *same = val_as(w, &out, TD_BOOL);
    return built(w, w->node);
}
