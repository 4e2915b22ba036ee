/* map.c - dicts and sets of functions on the CPU, with elements in order of insertion.
 *
 * The runtime finds keys by their words and returns an element's number; the function's own instructions read and
 * write the value.
 */
#include "front/infer/box.h"
#include "front/infer/lazy.h"

#include <string.h>

enum { KEYS, VALUES, ITEMS }; /* what an iteration gives */

/* ---- keys ---- */

/* Equal floats must have the same words: turns -0.0 into 0.0. */
static void
plain_key(walk *w, thing *x)
{
    if (x->type->kind == TD_T_TUPLE) {
        thing *item = td_alloc(w->mem, (x->type->n + 1) * sizeof *item);

        for (uint32_t i = 0; i < x->type->n; i++) {
            item[i] = x->item[i];
            plain_key(w, &item[i]);
        }
        x->item = item;
    } else if (is_num(x) && td_dtype_is_float(x->type->dt)) {
        td_val v = val_as(w, x, x->type->dt), z = td_const(w->f, x->type->dt, 0);

        *x =
            num_of(x->type, (td_num){TD_E3(w->f, select, TD_E2(w->f, equal, v, z), z, v), TD_NONE});
    }
}

static bool
is_key(const td_type *t)
{
    bool all = t->kind == TD_T_TUPLE;

    for (uint32_t i = 0; all && i < t->n; i++)
        all = is_key(t->item[i]);
    return all || (t->kind == TD_T_NUM && !td_dtype_is_complex(t->dt)) ||
           (t->kind == TD_T_BOX && t->ndim == TD_BOX_STR);
}

/* Stores the words of a key; *at: their address. */
static td_status
key_words(walk *w, const thing *map, const thing *key, thing *own, td_val *at)
{
    td_val words;

    TD_TRY(box_fit(w, map, BOX_ELEM, key, own));
    if (!is_key(own->type) || box_words(own->type) > TD_WORD_MAX)
        return bad(w, w->node, TD_ERR_TYPE,
                   "%s is no key of a dict or set: numbers, strings and tuples of them are",
                   own->type->name);
    plain_key(w, own);
    words = td_local(w->f, TD_U64, box_words(own->type) + 1);
    TD_TRY(box_put(w, map, BOX_ELEM, words, 0, own));
    *at = td_address(w->f, words);
    return TD_OK;
}

static td_status
emit_map_find(walk *w, const thing *map, const thing *key, thing *own, td_val *at)
{
    td_val words;

    TD_TRY(key_words(w, map, key, own, at));
    TD_TRY(box_ask(w, TD_ASK_FIND, (td_val[]){map->num.re, *at}, 2, &words));
    *at = box_word(w, words, 0, TD_I64);
    return TD_OK;
}

/* Finds the key's element, or adds one.  *at: its number; *fresh: was it added? */
static td_status
enter(walk *w, const thing *map, const thing *key, td_val *at, td_val *fresh)
{
    thing own;
    td_val words;

    TD_TRY(key_words(w, map, key, &own, at));
    TD_TRY(box_ask(w, TD_ASK_ENTER, (td_val[]){map->num.re, *at}, 2, &words));
    *at = box_word(w, words, 0, TD_I64);
    if (fresh)
        *fresh = TD_E2(w->f, not_equal, box_word(w, words, 1, TD_I64), box_whole(w, 0));
    return TD_OK;
}

/* Raises KeyError with the key if it was not found. */
static td_status
must_have(walk *w, const thing *key, td_val at)
{
    td_val ok = TD_E2(w->f, greater_equal, at, box_whole(w, 0));

    if (!is_num(key) && !box_is(key, TD_BOX_STR))
        return must(w, ok, TD_REPORT_KEY, "the key is not there", NULL, 0);
    return must(w, ok, TD_REPORT_KEY, NULL, key, 1);
}

static uint32_t
key_size(walk *w, const thing *map)
{
    const td_type *t = box_elem(w, map, BOX_ELEM);

    return t ? box_words(t) : 0;
}

static td_status
value_at(walk *w, const thing *map, td_val at, thing *out)
{
    return box_get(w, map, BOX_VALUE, box_element(w, map, at), 1 + key_size(w, map), out);
}

static td_status
put_value(walk *w, const thing *map, td_val at, const thing *x)
{
    return box_put(w, map, BOX_VALUE, box_element(w, map, at), 1 + key_size(w, map), x);
}

/* ---- subscripts ---- */

td_status
map_index(walk *w, const thing *x, const thing *key, thing *out)
{
    thing own;
    td_val at;

    if (box_is(x, TD_BOX_SET))
        return bad(w, w->node, TD_ERR_TYPE, "a set has no subscripts");
    TD_TRY(emit_map_find(w, x, key, &own, &at));
    TD_TRY(must_have(w, &own, at));
    return value_at(w, x, at, out);
}

td_status
map_assign(walk *w, const thing *x, const thing *key, const thing *value)
{
    thing own;
    td_val at;

    if (box_is(x, TD_BOX_SET))
        return bad(w, w->node, TD_ERR_TYPE, "a set has no subscripts");
    /* may call the runtime, so it comes before the lookup */
    TD_TRY(box_fit(w, x, BOX_VALUE, value, &own));
    TD_TRY(enter(w, x, key, &at, NULL));
    return put_value(w, x, at, &own);
}

static td_status
delete_at(walk *w, const thing *x, td_val at)
{
    td_val words;

    return box_ask(w, TD_ASK_DELETE, (td_val[]){x->num.re, at}, 2, &words);
}

td_status
map_delete(walk *w, const thing *x, const thing *key)
{
    thing own;
    td_val at;

    TD_TRY(emit_map_find(w, x, key, &own, &at));
    TD_TRY(must_have(w, &own, at));
    return delete_at(w, x, at);
}

td_status
map_has(walk *w, const thing *b, const thing *x, thing *out)
{
    thing own;
    td_val at;

    TD_TRY(emit_map_find(w, b, x, &own, &at));
    *out = num_val(TD_BOOL, TD_E2(w->f, greater_equal, at, box_whole(w, 0)));
    return TD_OK;
}

td_status
map_add(walk *w, const thing *set, const thing *x)
{
    td_val at;

    return enter(w, set, x, &at, NULL);
}

/* ---- iteration ---- */

td_status
map_item(walk *w, const thing *x, int part, td_val k, thing *out)
{
    const thing *map = &x->item[0];
    bool set = box_is(map, TD_BOX_SET);
    td_val had = x->item[1].num.re, ptr, live;
    thing pair[2];

    TD_TRY(
        must(w, TD_E2(w->f, equal, box_count(w, map), had), TD_REPORT_CHANGED,
             set ? "Set changed size during iteration" : "dictionary changed size during iteration",
             NULL, 0));
    td_break_if(w->f, TD_E2(w->f, greater_equal, k, had));
    ptr = box_element(w, map, k);
    live = TD_E2(w->f, not_equal, box_word(w, ptr, 0, TD_I64), box_whole(w, 0));
    TD_TRY(must(w, live, TD_REPORT_CHANGED, "dictionary keys changed during iteration", NULL, 0));
    TD_TRY(box_get(w, map, BOX_ELEM, ptr, 1, &pair[0]));
    if (part != KEYS)
        TD_TRY(box_get(w, map, BOX_VALUE, ptr, 1 + key_size(w, map), &pair[1]));
    *out = part == ITEMS ? tuple_of(w, pair, 2) : pair[part];
    return TD_OK;
}

/* ---- whole dicts and sets ---- */

static td_status
emit_map_copy(walk *w, const thing *x, thing *out)
{
    td_val words;

    TD_TRY(box_ask(w, TD_ASK_COPY, (td_val[]){x->num.re}, 1, &words));
    *out = box_thing(w, x->type, box_word(w, words, 0, TD_U64));
    return TD_OK;
}

/* Converts y to a box of x's type, so that their elements have the same layout. */
static td_status
as_same_box(walk *w, const thing *x, thing *y, uint32_t node)
{
    thing made;
    const td_type *t;

    if (!is_box(y) && x->type->ndim == TD_BOX_SET) {
        TD_TRY(box_from(w, TD_BOX_SET, y, node, &made));
        *y = made;
    } else if (is_box(y) && y->type->ndim != x->type->ndim && x->type->ndim == TD_BOX_SET) {
        TD_TRY(box_from(w, TD_BOX_SET, y, node, &made));
        *y = made;
    }
    t = is_box(y) && y->type->ndim == x->type->ndim ? box_unify(w, x->type, y->type) : NULL;
    if (!t)
        return bad(w, node, TD_ERR_TYPE,
                   "%s and %s do not go together here: they hold different "
                   "things",
                   x->type->name, y->type->name);
    return TD_OK;
}

static td_status
map_combine(walk *w, int ask, const thing *a, const thing *b, bool in_place, thing *out)
{
    thing y = *b;
    td_val words;

    TD_TRY(as_same_box(w, a, &y, w->node));
    if (in_place)
        *out = *a;
    else
        TD_TRY(emit_map_copy(w, a, out));
    return box_ask(w, ask, (td_val[]){out->num.re, y.num.re}, 2, &words);
}

td_status
map_binary(walk *w, td_syn op, const thing *a, const thing *b, bool in_place, thing *out)
{
    int ask = op == TD_SYN_BitOr    ? TD_ASK_UNITE
              : op == TD_SYN_BitAnd ? TD_ASK_MEET
              : op == TD_SYN_Sub    ? TD_ASK_SUBTRACT
              : op == TD_SYN_BitXor ? TD_ASK_DIFFER
                                    : -1;

    if (ask < 0 || !is_box(a) || !is_box(b) || a->type->ndim != b->type->ndim ||
        (box_is(a, TD_BOX_DICT) && ask != TD_ASK_UNITE))
        return bad(w, w->node, TD_ERR_TYPE, "%s and %s: this operation is not defined for them",
                   a->type->name, b->type->name);
    return map_combine(w, ask, a, b, in_place, out);
}

/* Is every element of a in b, and (dicts) with the same value? */
static td_status
map_within(walk *w, const thing *a, const thing *b, td_val *out)
{
    td_val words, ok = td_slot(w->f, TD_BOOL, 1), k, same;
    thing it = {0}, pair, other, own;
    td_status st;

    if (box_is(a, TD_BOX_SET)) {
        TD_TRY(box_ask(w, TD_ASK_WITHIN, (td_val[]){a->num.re, b->num.re}, 2, &words));
        *out = TD_E2(w->f, not_equal, box_word(w, words, 0, TD_I64), box_whole(w, 0));
        return TD_OK;
    }
    TD_TRY(box_ask(w, TD_ASK_PACK, (td_val[]){a->num.re}, 1, &words));
    it.item = (thing[]){*a, num_val(TD_I64, box_count(w, a))};
    td_set(w->f, ok, td_const_int(w->f, TD_BOOL, 1));
    k = td_for(w->f, box_whole(w, 0), box_count(w, a), box_whole(w, 1));
    w->depth++;
    st = map_item(w, &it, ITEMS, k, &pair);
    if (!st)
        st = emit_map_find(w, b, &pair.item[0], &own, &words);
    if (!st) {
        td_set(w->f, ok, td_const_int(w->f, TD_BOOL, 0));
        td_break_if(w->f, TD_E2(w->f, less, words, box_whole(w, 0)));
        st = value_at(w, b, words, &other);
    }
    if (!st)
        st = value_equal(w, &pair.item[1], &other, &same);
    if (!st) {
        td_set(w->f, ok, same);
        td_break_if(w->f, TD_E1(w->f, logical_not, same));
    }
    td_end(w->f);
    w->depth--;
    *out = td_get(w->f, ok);
    return st;
}

td_status
map_compare(walk *w, td_syn op, const thing *a, const thing *b, thing *out)
{
    bool swap = op == TD_SYN_Gt || op == TD_SYN_GtE, equal = op == TD_SYN_Eq || op == TD_SYN_NotEq;
    thing x = swap ? *b : *a, y = swap ? *a : *b;
    td_val n, m, r, less;

    if (!is_box(a) || !is_box(b) || a->type->ndim != b->type->ndim) {
        if (!equal)
            return bad(w, w->node, TD_ERR_TYPE, "%s and %s have no order", a->type->name,
                       b->type->name);
        *out = num_bool(op == TD_SYN_NotEq);
        return TD_OK;
    }
    if (!equal && box_is(a, TD_BOX_DICT))
        return bad(w, w->node, TD_ERR_TYPE, "dicts have no order");
    TD_TRY(as_same_box(w, &x, &y, w->node));
    TD_TRY(map_within(w, &x, &y, &r));
    n = box_count(w, &x);
    m = box_count(w, &y);
    less = equal                                ? TD_E2(w->f, equal, n, m)
           : op == TD_SYN_Lt || op == TD_SYN_Gt ? TD_E2(w->f, less, n, m)
                                                : TD_E2(w->f, less_equal, n, m);
    r = TD_E2(w->f, logical_and, r, less);
    *out = num_val(TD_BOOL, op == TD_SYN_NotEq ? TD_E1(w->f, logical_not, r) : r);
    return built(w, w->node);
}

/* ---- methods ---- */

typedef td_status method(walk *w, const thing *map, const call *c, int how, thing *out);

static td_status
map_items_view(walk *w, const thing *map, const call *c, int how, thing *out)
{
    const td_type *type[2] = {map->type, td_type_num(TD_I64)};

    (void)c;
    *out = (thing){.type = td_type_iter((uint32_t)(ITER_KEYS + how), type, 2),
                   .item = td_alloc(w->mem, 2 * sizeof *out->item)};
    out->item[0] = *map;
    out->item[1] = num_val(TD_I64, box_count(w, map));
    return TD_OK;
}

/* The value of element `at`, or `other` if that is negative; take: also deletes the element. */
static td_status
value_or(walk *w, const thing *map, td_val at, const thing *other, bool take, thing *out)
{
    join j = {.type = box_elem(w, map, BOX_VALUE)};
    thing own, found;
    place p;

    TD_TRY(box_fit(w, map, BOX_VALUE, other, &own));
    j.type = box_elem(w, map, BOX_VALUE);
    p = place_new(w, &j);
    td_if(w->f, TD_E2(w->f, less, at, box_whole(w, 0)));
    TD_TRY(place_set(w, &p, &own));
    td_else(w->f);
    TD_TRY(value_at(w, map, at, &found));
    TD_TRY(place_set(w, &p, &found));
    if (take)
        TD_TRY(delete_at(w, map, at));
    td_end(w->f);
    *out = place_get(w, &p);
    return built(w, w->node);
}

/* The value of element `at`, or None if that is negative; take: also deletes the element. */
static td_status
value_or_none(walk *w, const thing *map, td_val at, bool take, thing *out)
{
    td_val has = TD_E2(w->f, greater_equal, at, box_whole(w, 0));
    join j = {.type = box_elem(w, map, BOX_VALUE)};
    thing found;
    place p;

    if (!j.type)
        return box_wait(w, map);
    p = place_empty(w, &j);
    td_if(w->f, has);
    TD_TRY(value_at(w, map, at, &found));
    TD_TRY(place_set(w, &p, &found));
    if (take)
        TD_TRY(delete_at(w, map, at));
    td_end(w->f);
    found = place_get(w, &p);
    return optional_new(w, has, &found, out);
}

static td_status
map_get(walk *w, const thing *map, const call *c, int take, thing *out)
{
    thing own;
    td_val at;

    TD_TRY(emit_map_find(w, map, &c->arg[0], &own, &at));
    if (c->n == 2 && !is_none(&c->arg[1]))
        return value_or(w, map, at, &c->arg[1], take, out);
    if (!take || c->n == 2)
        return value_or_none(w, map, at, take, out);
    TD_TRY(must_have(w, &own, at));
    TD_TRY(value_at(w, map, at, out));
    return delete_at(w, map, at);
}

static td_status
setdefault(walk *w, const thing *map, const call *c, int how, thing *out)
{
    td_val at, fresh;
    thing own;

    (void)how;
    TD_TRY(box_fit(w, map, BOX_VALUE, &c->arg[1], &own));
    TD_TRY(enter(w, map, &c->arg[0], &at, &fresh));
    td_if(w->f, fresh);
    TD_TRY(put_value(w, map, at, &own));
    td_end(w->f);
    return value_at(w, map, at, out);
}

static td_status
popitem(walk *w, const thing *map, const call *c, int pair, thing *out)
{
    td_val last, ptr;
    thing x[2];

    (void)c;
    box_note(w);
    TD_TRY(must(w, TD_E2(w->f, greater, box_count(w, map), box_whole(w, 0)), TD_REPORT_KEY,
                pair ? "popitem(): dictionary is empty" : "pop from an empty set", NULL, 0));
    last = TD_E2(w->f, subtract, box_head(w, map, offsetof(td_box, fill)), box_whole(w, 1));
    ptr = box_element(w, map, last);
    TD_TRY(box_get(w, map, BOX_ELEM, ptr, 1, &x[0]));
    if (pair)
        TD_TRY(box_get(w, map, BOX_VALUE, ptr, 1 + key_size(w, map), &x[1]));
    *out = pair ? tuple_of(w, x, 2) : x[0];
    return delete_at(w, map, last);
}

static td_status
map_copy(walk *w, const thing *map, const call *c, int how, thing *out)
{
    (void)c;
    (void)how;
    return emit_map_copy(w, map, out);
}

static td_status
map_clear(walk *w, const thing *map, const call *c, int how, thing *out)
{
    td_val words;

    (void)c;
    (void)how;
    TD_TRY(box_ask(w, TD_ASK_CLEAR, (td_val[]){map->num.re}, 1, &words));
    return box_none(out);
}

static td_status
emit_set_add(walk *w, const thing *map, const call *c, int how, thing *out)
{
    (void)how;
    TD_TRY(map_add(w, map, &c->arg[0]));
    return box_none(out);
}

/* remove (how: the key must be there) and discard. */
static td_status
map_remove(walk *w, const thing *map, const call *c, int how, thing *out)
{
    thing own;
    td_val at;

    TD_TRY(emit_map_find(w, map, &c->arg[0], &own, &at));
    if (how)
        TD_TRY(must_have(w, &own, at));
    td_if(w->f, TD_E2(w->f, greater_equal, at, box_whole(w, 0)));
    TD_TRY(delete_at(w, map, at));
    td_end(w->f);
    return box_none(out);
}

static td_status
united(walk *w, const thing *map, const call *c, int ask, thing *out)
{
    *out = *map;
    TD_TRY(emit_map_copy(w, map, out));
    for (uint32_t i = 0; i < c->n; i++)
        TD_TRY(map_combine(w, ask, out, &c->arg[i], true, out));
    return TD_OK;
}

static td_status
map_update(walk *w, const thing *map, const call *c, int ask, thing *out)
{
    thing self = *map;

    for (uint32_t i = 0; i < c->n; i++)
        TD_TRY(map_combine(w, ask, &self, &c->arg[i], true, out));
    return box_none(out);
}

static td_status
set_comparison(walk *w, const thing *map, const call *c, int op, thing *out)
{
    thing y = c->arg[0];

    TD_TRY(as_same_box(w, map, &y, c->node));
    return map_compare(w, (td_syn)op, map, &y, out);
}

static td_status
isdisjoint(walk *w, const thing *map, const call *c, int how, thing *out)
{
    thing both;

    (void)how;
    TD_TRY(map_combine(w, TD_ASK_MEET, map, &c->arg[0], false, &both));
    *out = num_val(TD_BOOL, TD_E2(w->f, equal, box_count(w, &both), box_whole(w, 0)));
    return TD_OK;
}

enum { DICT = 1, SET = 2 };

static const struct {
    const char *name;
    uint8_t of, least, most; /* arguments */
    method *fn;
    int how;
} methods[] = {
    {"keys", DICT, 0, 0, map_items_view, KEYS},
    {"values", DICT, 0, 0, map_items_view, VALUES},
    {"items", DICT, 0, 0, map_items_view, ITEMS},
    {"get", DICT, 1, 2, map_get, 0},
    {"pop", DICT, 1, 2, map_get, 1},
    {"setdefault", DICT, 2, 2, setdefault, 0},
    {"popitem", DICT, 0, 0, popitem, 1},
    {"update", DICT | SET, 1, 16, map_update, TD_ASK_UNITE},
    {"copy", DICT | SET, 0, 0, map_copy, 0},
    {"clear", DICT | SET, 0, 0, map_clear, 0},
    {"add", SET, 1, 1, emit_set_add, 0},
    {"discard", SET, 1, 1, map_remove, 0},
    {"remove", SET, 1, 1, map_remove, 1},
    {"pop", SET, 0, 0, popitem, 0},
    {"union", SET, 0, 16, united, TD_ASK_UNITE},
    {"intersection", SET, 0, 16, united, TD_ASK_MEET},
    {"difference", SET, 0, 16, united, TD_ASK_SUBTRACT},
    {"symmetric_difference", SET, 1, 1, united, TD_ASK_DIFFER},
    {"intersection_update", SET, 1, 16, map_update, TD_ASK_MEET},
    {"difference_update", SET, 1, 16, map_update, TD_ASK_SUBTRACT},
    {"symmetric_difference_update", SET, 1, 1, map_update, TD_ASK_DIFFER},
    {"issubset", SET, 1, 1, set_comparison, TD_SYN_LtE},
    {"issuperset", SET, 1, 1, set_comparison, TD_SYN_GtE},
    {"isdisjoint", SET, 1, 1, isdisjoint, 0},
};

td_status
map_method(walk *w, const thing *self, const char *name, const call *c, thing *out)
{
    int of = box_is(self, TD_BOX_DICT) ? DICT : SET;

    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        if (methods[i].of & of && strcmp(methods[i].name, name) == 0 && !c->nkw) {
            TD_TRY(want_args(w, c, name, methods[i].least, methods[i].most));
            return methods[i].fn(w, self, c, methods[i].how, out);
        }
    return bad(w, c->node, TD_ERR_VALUE, "%ss have no method %s here", self->type->name, name);
}

/* ---- literals ---- */

td_status
expr_dict(walk *w, uint32_t node, thing *out)
{
    uint32_t keys = F(node, Dict_keys), values = F(node, Dict_values), n = count_of(w, keys);
    thing k, v;

    TD_TRY(box_here(w, node, "a dict"));
    TD_TRY(box_new(w, TD_BOX_DICT, node, 0, box_whole(w, n), out));
    for (uint32_t i = 0; i < n; i++) {
        if (!item_of(w, keys, i))
            return bad(w, node, TD_ERR_TYPE, "** in a dict is not compiled: use update");
        TD_TRY(expr(w, item_of(w, keys, i), &k));
        TD_TRY(expr(w, item_of(w, values, i), &v));
        w->node = node;
        TD_TRY(map_assign(w, out, &k, &v));
    }
    return TD_OK;
}

td_status
expr_set(walk *w, uint32_t node, thing *out)
{
    uint32_t list = F(node, Set_elts);
    thing x;

    TD_TRY(box_here(w, node, "a set"));
    TD_TRY(box_new(w, TD_BOX_SET, node, 0, box_whole(w, count_of(w, list)), out));
    for (uint32_t i = 0; i < count_of(w, list); i++) {
        TD_TRY(expr(w, item_of(w, list, i), &x));
        w->node = node;
        TD_TRY(map_add(w, out, &x));
    }
    return TD_OK;
}
