/* list.c - lists of functions on the CPU: indexing, methods, operators.
 *
 * The function's own instructions read and write length, capacity and elements; the runtime (base/box.h) does what
 * moves many elements.
 */
#include "front/infer/box.h"
#include "front/infer/lazy.h"

#include <string.h>

td_status
box_place(walk *w, const thing *x, const thing *key, const char *text, td_val *out)
{
    thing k = *key;
    td_val i, n = box_count(w, x);

    TD_TRY(loaded(w, &k));
    if (!is_int(&k))
        return bad(w, w->node, TD_ERR_TYPE, "a %s is indexed by integers, not by %s", x->type->name,
                   k.type->name);
    i = val_as(w, &k, TD_I64);
    if (!k.nonneg)
        i = TD_E3(w->f, select, TD_E2(w->f, less, i, box_whole(w, 0)), TD_E2(w->f, add, i, n), i);
    TD_TRY(must(w, TD_E2(w->f, less, td_cast(w->f, i, TD_U64), td_cast(w->f, n, TD_U64)),
                TD_REPORT_LOOKUP, text, NULL, 0));
    *out = i;
    return TD_OK;
}

td_status
box_slice(walk *w, int which, const thing *x, const thing *key, const td_val *more, uint32_t nmore,
          td_val *words)
{
    td_val in[8] = {x->num.re};
    int64_t step;

    in[4] = box_whole(w, 0);
    for (int i = 0; i < 3; i++) {
        thing part = key->item[i];
        td_val bit = box_whole(w, 1 << i), given;

        in[1 + i] = box_whole(w, i == 2);
        if (is_none(&part))
            continue;
        given = optional_given(w, &part);
        if (given.i != UINT32_MAX) {
            in[1 + i] = TD_E3(w->f, select, given, val_as(w, &part, TD_I64), in[1 + i]);
            bit = TD_E3(w->f, select, given, bit, box_whole(w, 0));
        } else {
            in[1 + i] = val_as(w, &part, TD_I64);
        }
        in[4] = TD_E2(w->f, bitwise_or, in[4], bit);
    }
    if (known_int(&key->item[2], &step) && step == 0)
        return bad(w, w->node, TD_ERR_VALUE, "slice step cannot be zero");
    if (!is_none(&key->item[2]) && !known_int(&key->item[2], &step))
        TD_TRY(must(w, TD_E2(w->f, not_equal, in[3], box_whole(w, 0)), TD_REPORT_VALUE,
                    "slice step cannot be zero", NULL, 0));
    for (uint32_t i = 0; i < nmore; i++)
        in[5 + i] = more[i];
    return box_ask(w, which, in, 5 + nmore, words);
}

td_status
list_index(walk *w, const thing *x, const thing *key, thing *out)
{
    td_val i, words;

    box_note(w);
    if (key->type->kind == TD_T_SLICE) {
        TD_TRY(box_slice(w, TD_ASK_SLICE, x, key, NULL, 0, &words));
        *out = box_thing(w, x->type, box_word(w, words, 0, TD_U64));
        return TD_OK;
    }
    TD_TRY(box_place(w, x, key, "list index out of range", &i));
    return box_get(w, x, BOX_ELEM, box_element(w, x, i), 0, out);
}

td_status
list_assign(walk *w, const thing *x, const thing *key, const thing *value)
{
    td_val i, words;
    thing from;

    box_note(w);
    if (key->type->kind != TD_T_SLICE) {
        TD_TRY(box_place(w, x, key, "list assignment index out of range", &i));
        return box_put(w, x, BOX_ELEM, box_element(w, x, i), 0, value);
    }
    TD_TRY(box_new(w, TD_BOX_LIST, w->node, 1, box_whole(w, 0), &from));
    TD_TRY(list_extend(w, &from, value, w->node));
    if (!box_unify(w, x->type, from.type)) {
        /* its elements would have to be converted one by one */
        return bad(w, w->node, TD_ERR_TYPE, "a slice of this list cannot become a list of others");
    }
    return box_slice(w, TD_ASK_PUT_SLICE, x, key, (td_val[]){from.num.re}, 1, &words);
}

td_status
list_delete(walk *w, const thing *x, const thing *key)
{
    td_val i, words;

    box_note(w);
    if (key->type->kind == TD_T_SLICE)
        return box_slice(w, TD_ASK_CUT, x, key, NULL, 0, &words);
    TD_TRY(box_place(w, x, key, "list assignment index out of range", &i));
    return box_ask(w, TD_ASK_CLOSE, (td_val[]){x->num.re, i}, 2, &words);
}

td_status
list_item(walk *w, const thing *x, td_val k, thing *out)
{
    const thing *list = &x->item[0];
    td_val had = x->item[1].num.re;

    TD_TRY(must(w, TD_E2(w->f, equal, box_count(w, list), had), TD_REPORT_CHANGED,
                "list was mutated during iteration", NULL, 0));
    td_break_if(w->f, TD_E2(w->f, greater_equal, k, had));
    return box_get(w, list, BOX_ELEM, box_element(w, list, k), 0, out);
}

/* ---- growing ---- */

td_status
list_append(walk *w, const thing *list, const thing *x)
{
    td_val n, room, words;
    thing own;

    box_note(w);
    TD_TRY(box_fit(w, list, BOX_ELEM, x, &own));
    n = box_count(w, list);
    room = box_head(w, list, offsetof(td_box, room));
    td_if(w->f, TD_E2(w->f, greater_equal, n, room));
    TD_TRY(box_ask(w, TD_ASK_ROOM, (td_val[]){list->num.re, TD_E2(w->f, add, n, box_whole(w, 1))},
                   2, &words));
    td_end(w->f);
    TD_TRY(box_put(w, list, BOX_ELEM, box_element(w, list, n), 0, &own));
    box_set_n(w, list, TD_E2(w->f, add, n, box_whole(w, 1)));
    return built(w, w->node);
}

/* Passes each item of an iterable to `add`, in a loop of its own. */
static td_status
for_each_item(walk *w, const thing *from, uint32_t node,
              td_status (*add)(walk *, const thing *, const thing *), const thing *to)
{
    thing it, n, x;
    td_val k;
    td_status st;

    if (is_generator(from))
        return for_each_generated(w, from, node, add, to);
    TD_TRY(iter_of(w, from, node, &it));
    if (it.type->kind == TD_T_TUPLE) {
        for (uint32_t i = 0; i < it.type->n; i++)
            TD_TRY(add(w, to, &it.item[i]));
        return TD_OK;
    }
    TD_TRY(iter_limit(w, &it, node, &n));
    k = td_for(w->f, box_whole(w, 0), val_as(w, &n, TD_I64), box_whole(w, 1));
    w->depth++;
    st = iter_item(w, &it, k, node, &x);
    if (!st)
        st = add(w, to, &x);
    td_end(w->f);
    w->depth--;
    return st ? st : built(w, node);
}

td_status
box_from(walk *w, td_boxkind which, const thing *it, uint32_t node, thing *out)
{
    TD_TRY(box_new(w, which, node, 2, box_whole(w, 0), out));
    return it ? for_each_item(w, it, node, which == TD_BOX_SET ? map_add : list_append, out)
              : TD_OK;
}

td_status
list_extend(walk *w, const thing *list, const thing *from, uint32_t node)
{
    td_val words;
    thing own = *from;

    box_note(w);
    if (own.type->kind == TD_T_TUPLE && own.listed)
        TD_TRY(boxed(w, &own));
    if (box_is(&own, TD_BOX_LIST) && (box_site(w, &own) == box_site(w, list) ||
                                      (!box_site(w, &own)->fixed && !box_site(w, list)->fixed &&
                                       box_unify(w, list->type, own.type))))
        return box_ask(w, TD_ASK_EXTEND, (td_val[]){list->num.re, own.num.re}, 2, &words);
    return for_each_item(w, &own, node, list_append, list);
}

/* ---- operators ---- */

static td_status
list_repeat(walk *w, const thing *list, const thing *times, bool in_place, thing *out)
{
    td_val words;

    if (!is_int(times) || in_place)
        return bad(w, w->node, TD_ERR_TYPE,
                   in_place ? "a list cannot be repeated in its place: "
                              "write x = x * n"
                            : "a list is repeated a whole number of times");
    TD_TRY(
        box_ask(w, TD_ASK_REPEAT, (td_val[]){list->num.re, val_as(w, times, TD_I64)}, 2, &words));
    *out = box_thing(w, list->type, box_word(w, words, 0, TD_U64));
    return TD_OK;
}

td_status
list_binary(walk *w, td_syn op, const thing *a, const thing *b, bool in_place, thing *out)
{
    thing x = *a, y = *b;
    td_val words;

    if (op == TD_SYN_Mult && box_is(&x, TD_BOX_LIST) && is_num(&y))
        return list_repeat(w, &x, &y, in_place, out);
    if (op == TD_SYN_Mult && box_is(&y, TD_BOX_LIST) && is_num(&x))
        return list_repeat(w, &y, &x, in_place, out);
    if (op == TD_SYN_Add && in_place && box_is(&x, TD_BOX_LIST)) {
        *out = x;
        return list_extend(w, &x, &y, w->node);
    }
    TD_TRY(boxed(w, &x));
    TD_TRY(boxed(w, &y));
    if (op != TD_SYN_Add || !box_is(&x, TD_BOX_LIST) || !box_is(&y, TD_BOX_LIST))
        return bad(w, w->node, TD_ERR_TYPE, "%s and %s: this operation is not defined for lists",
                   a->type->name, b->type->name);
    TD_TRY(box_ask(w, TD_ASK_COPY, (td_val[]){x.num.re}, 1, &words));
    *out = box_thing(w, x.type, box_word(w, words, 0, TD_U64));
    return list_extend(w, out, &y, w->node);
}

/* ---- comparing ---- */

/* The elements at k of a and b, as things. */
static td_status
elements_at(walk *w, const thing *a, const thing *b, td_val k, thing *x, thing *y)
{
    TD_TRY(box_get(w, a, BOX_ELEM, box_element(w, a, k), 0, x));
    return box_get(w, b, BOX_ELEM, box_element(w, b, k), 0, y);
}

/* The first index where a and b differ, or the length of the shorter one. */
static td_status
first_other(walk *w, const thing *a, const thing *b, td_val *at)
{
    td_val found = td_slot(w->f, TD_I64, 1), n = box_count(w, a), m = box_count(w, b), k, same;
    thing x, y;
    td_status st;

    td_set(w->f, found, TD_E2(w->f, minimum, n, m));
    k = td_for(w->f, box_whole(w, 0), TD_E2(w->f, minimum, n, m), box_whole(w, 1));
    w->depth++;
    st = elements_at(w, a, b, k, &x, &y);
    if (!st)
        st = value_equal(w, &x, &y, &same);
    if (!st) {
        td_if(w->f, TD_E1(w->f, logical_not, same));
        td_set(w->f, found, k);
        td_end(w->f);
        td_break_if(w->f, TD_E1(w->f, logical_not, same));
    }
    td_end(w->f);
    w->depth--;
    *at = td_get(w->f, found);
    return st;
}

td_status
list_compare(walk *w, td_syn op, const thing *a, const thing *b, thing *out)
{
    thing x = *a, y = *b, one, two;
    td_val at, n, m, both, r;

    TD_TRY(boxed(w, &x));
    TD_TRY(boxed(w, &y));
    if (!box_is(&x, TD_BOX_LIST) || !box_is(&y, TD_BOX_LIST)) {
        if (op != TD_SYN_Eq && op != TD_SYN_NotEq)
            return bad(w, w->node, TD_ERR_TYPE, "%s and %s have no order", a->type->name,
                       b->type->name);
        *out = num_bool(op == TD_SYN_NotEq);
        return TD_OK;
    }
    box_note(w);
    TD_TRY(first_other(w, &x, &y, &at));
    n = box_count(w, &x);
    m = box_count(w, &y);
    both = TD_E2(w->f, less, at, TD_E2(w->f, minimum, n, m));
    if (op == TD_SYN_Eq || op == TD_SYN_NotEq) {
        r = TD_E2(w->f, logical_and, TD_E2(w->f, equal, n, m), TD_E1(w->f, logical_not, both));
        *out = num_val(TD_BOOL, op == TD_SYN_Eq ? r : TD_E1(w->f, logical_not, r));
        return built(w, w->node);
    }
    r = td_slot(w->f, TD_BOOL, 1);
    one = num_val(TD_I64, n);
    two = num_val(TD_I64, m);
    TD_TRY(num_compare(w, op, &one, &two, out));
    td_set(w->f, r, val_as(w, out, TD_BOOL));
    td_if(w->f, both);
    TD_TRY(elements_at(w, &x, &y, at, &one, &two));
    if (!is_num(&one) && !is_text(w, &one))
        return bad(w, w->node, TD_ERR_TYPE, "lists of %s have no order here", one.type->name);
    TD_TRY(is_num(&one) ? num_compare(w, op, &one, &two, out)
                        : text_compare(w, op, &one, &two, out));
    td_set(w->f, r, val_as(w, out, TD_BOOL));
    td_end(w->f);
    *out = num_val(TD_BOOL, td_get(w->f, r));
    return built(w, w->node);
}

/* The index of the first element in [from, to) that equals x, else -1; counts: the number of such elements. */
static td_status
list_find(walk *w, const thing *list, const thing *x, td_val from, td_val to, bool counts,
          td_val *out)
{
    td_val found = td_slot(w->f, TD_I64, 1), k, same;
    thing e;
    td_status st;

    box_note(w);
    td_set(w->f, found, box_whole(w, counts ? 0 : -1));
    k = td_for(w->f, from, to, box_whole(w, 1));
    w->depth++;
    st = box_get(w, list, BOX_ELEM, box_element(w, list, k), 0, &e);
    if (!st)
        st = value_equal(w, &e, x, &same);
    if (!st) {
        td_if(w->f, same);
        td_set(w->f, found, counts ? TD_E2(w->f, add, td_get(w->f, found), box_whole(w, 1)) : k);
        td_end(w->f);
        if (!counts)
            td_break_if(w->f, same);
    }
    td_end(w->f);
    w->depth--;
    *out = td_get(w->f, found);
    return st;
}

td_status
list_has(walk *w, const thing *b, const thing *x, thing *out)
{
    td_val at;
    thing own = *x;

    TD_TRY(boxed(w, &own));
    TD_TRY(list_find(w, b, &own, box_whole(w, 0), box_count(w, b), false, &at));
    *out = num_val(TD_BOOL, TD_E2(w->f, greater_equal, at, box_whole(w, 0)));
    return built(w, w->node);
}

/* ---- methods ---- */

static td_status
emit_list_append(walk *w, const thing *list, const call *c, int how, thing *out)
{
    (void)how;
    TD_TRY(list_append(w, list, &c->arg[0]));
    return box_none(out);
}

static td_status
extend(walk *w, const thing *list, const call *c, int how, thing *out)
{
    (void)how;
    TD_TRY(list_extend(w, list, &c->arg[0], c->node));
    return box_none(out);
}

static td_status
insert(walk *w, const thing *list, const call *c, int how, thing *out)
{
    td_val i, n = box_count(w, list), words;
    thing own;

    (void)how;
    if (!is_int(&c->arg[0]))
        return bad(w, c->node, TD_ERR_TYPE, "insert takes an integer as its place, not %s",
                   c->arg[0].type->name);
    TD_TRY(box_fit(w, list, BOX_ELEM, &c->arg[1], &own));
    i = val_as(w, &c->arg[0], TD_I64);
    i = TD_E3(w->f, select, TD_E2(w->f, less, i, box_whole(w, 0)), TD_E2(w->f, add, i, n), i);
    i = TD_E2(w->f, minimum, TD_E2(w->f, maximum, i, box_whole(w, 0)), n);
    TD_TRY(box_ask(w, TD_ASK_OPEN, (td_val[]){list->num.re, i}, 2, &words));
    TD_TRY(box_put(w, list, BOX_ELEM, box_element(w, list, i), 0, &own));
    return box_none(out);
}

static td_status
pop(walk *w, const thing *list, const call *c, int how, thing *out)
{
    thing last = num_int(-1);
    td_val i, words;

    (void)how;
    box_note(w);
    TD_TRY(must(w, TD_E2(w->f, greater, box_count(w, list), box_whole(w, 0)), TD_REPORT_LOOKUP,
                "pop from empty list", NULL, 0));
    TD_TRY(box_place(w, list, c->n ? &c->arg[0] : &last, "pop index out of range", &i));
    TD_TRY(box_get(w, list, BOX_ELEM, box_element(w, list, i), 0, out));
    if (c->n)
        return box_ask(w, TD_ASK_CLOSE, (td_val[]){list->num.re, i}, 2, &words);
    box_set_n(w, list, i);
    return built(w, w->node);
}

static td_status
remove_first(walk *w, const thing *list, const call *c, int how, thing *out)
{
    td_val at, words;

    (void)how;
    TD_TRY(boxed(w, &c->arg[0]));
    TD_TRY(list_find(w, list, &c->arg[0], box_whole(w, 0), box_count(w, list), false, &at));
    TD_TRY(must(w, TD_E2(w->f, greater_equal, at, box_whole(w, 0)), TD_REPORT_VALUE,
                "list.remove(x): x not in list", NULL, 0));
    TD_TRY(box_ask(w, TD_ASK_CLOSE, (td_val[]){list->num.re, at}, 2, &words));
    return box_none(out);
}

/* list.index(x, start, stop), and count. */
static td_status
emit_list_index(walk *w, const thing *list, const call *c, int counts, thing *out)
{
    td_val n = box_count(w, list), part[2] = {box_whole(w, 0), n}, at;

    TD_TRY(boxed(w, &c->arg[0]));
    for (uint32_t i = 1; i < c->n; i++) {
        td_val v;

        if (!is_int(&c->arg[i]))
            return bad(w, c->node, TD_ERR_TYPE, "index takes integers as bounds");
        v = val_as(w, &c->arg[i], TD_I64);
        v = TD_E3(w->f, select, TD_E2(w->f, less, v, box_whole(w, 0)), TD_E2(w->f, add, v, n), v);
        part[i - 1] = TD_E2(w->f, minimum, TD_E2(w->f, maximum, v, box_whole(w, 0)), n);
    }
    TD_TRY(list_find(w, list, &c->arg[0], part[0], part[1], counts, &at));
    if (!counts)
        TD_TRY(must(w, TD_E2(w->f, greater_equal, at, box_whole(w, 0)), TD_REPORT_VALUE,
                    is_num(&c->arg[0]) ? "\1 is not in list" : "value not in list", &c->arg[0],
                    is_num(&c->arg[0])));
    *out = num_index(at, true);
    return TD_OK;
}

/* Methods with at most one word of result: 0 reverse, 1 clear, 2 copy. */
static td_status
list_simple(walk *w, const thing *list, const call *c, int how, thing *out)
{
    static const int asks[] = {TD_ASK_REVERSE, TD_ASK_CLEAR, TD_ASK_COPY};
    td_val words;

    (void)c;
    TD_TRY(box_ask(w, asks[how], (td_val[]){list->num.re}, 1, &words));
    if (how < 2)
        return box_none(out);
    *out = box_thing(w, list->type, box_word(w, words, 0, TD_U64));
    return TD_OK;
}

/* Numbers, strings, and tuples of them have an order. */
static bool
is_ordered(const td_type *t)
{
    bool all = t->kind == TD_T_TUPLE && t->n <= TD_WORD_MAX;

    for (uint32_t i = 0; all && i < t->n; i++)
        all = is_ordered(t->item[i]);
    return all || (t->kind == TD_T_NUM && !td_dtype_is_complex(t->dt)) ||
           (t->kind == TD_T_BOX && t->ndim == TD_BOX_STR);
}

/* Sorts by a key function: sorts pairs of a key and the element's index, then reorders the elements. */
static td_status
sort_by(walk *w, const thing *list, const thing *f, const thing *down, const call *c)
{
    td_val k, words;
    thing e, key, number, pairs, old;
    call one = {.node = c->node, .n = 1, .arg = &e};
    uint32_t node = c->node;
    td_status st;

    TD_TRY(box_ask(w, TD_ASK_COPY, (td_val[]){list->num.re}, 1, &words));
    old = box_thing(w, list->type, box_word(w, words, 0, TD_U64));
    TD_TRY(box_new(w, TD_BOX_LIST, node, 5, box_count(w, list), &pairs));
    k = td_for(w->f, box_whole(w, 0), box_count(w, list), box_whole(w, 1));
    w->depth++;
    st = box_get(w, list, BOX_ELEM, box_element(w, list, k), 0, &e);
    if (!st)
        st = call_object(w, f, &one, &key);
    if (!st)
        st = boxed(w, &key);
    if (!st && !is_ordered(key.type))
        st = bad(w, node, TD_ERR_TYPE, "sort: keys of type %s have no order", key.type->name);
    number = num_val(TD_I64, k); /* equal elements keep their order in descending sorts too */
    if (!st && down) {
        thing s, d = num_int(-2), p = num_int(1);

        st = truth(w, down, &s);
        if (!st)
            st = num_binary(w, TD_SYN_Mult, &s, &d, &s);
        if (!st)
            st = num_binary(w, TD_SYN_Add, &s, &p, &s);
        if (!st)
            st = num_binary(w, TD_SYN_Mult, &s, &number, &number);
    }
    if (!st) {
        e = tuple_of(w, (thing[]){key, number}, 2);
        st = list_append(w, &pairs, &e);
    }
    td_end(w->f);
    w->depth--;
    TD_TRY(st);
    TD_TRY(list_method(w, &pairs, "sort",
                       &(call){.node = node,
                               .nkw = down ? 1 : 0,
                               .kw = (const char *[]){"reverse"},
                               .kwarg = (thing *)down},
                       &e));
    k = td_for(w->f, box_whole(w, 0), box_count(w, list), box_whole(w, 1));
    w->depth++;
    st = box_get(w, &pairs, BOX_ELEM, box_element(w, &pairs, k), 0, &e);
    if (!st) {
        td_val from = TD_E1(w->f, absolute, val_as(w, &e.item[1], TD_I64));

        st = box_get(w, &old, BOX_ELEM, box_element(w, &old, from), 0, &key);
        if (!st)
            st = box_put(w, list, BOX_ELEM, box_element(w, list, k), 0, &key);
    }
    td_end(w->f);
    w->depth--;
    return st;
}

static td_status
list_sort(walk *w, const thing *list, const call *c, int how, thing *out)
{
    const thing *down = NULL, *key = NULL;
    const td_type *t = box_elem(w, list, BOX_ELEM);
    thing descending = num_bool(false);
    td_val words;

    (void)how;
    for (uint32_t i = 0; i < c->nkw; i++)
        if (strcmp(c->kw[i], "reverse") == 0)
            down = &c->kwarg[i];
        else if (strcmp(c->kw[i], "key") == 0)
            key = is_none(&c->kwarg[i]) ? NULL : &c->kwarg[i];
        else
            return bad(w, c->node, TD_ERR_TYPE, "sort has no argument %s", c->kw[i]);
    TD_TRY(box_none(out));
    if (!t)
        return box_wait(w, list);
    if (key)
        return sort_by(w, list, key, down, c);
    if (!is_ordered(t))
        return bad(w, c->node, TD_ERR_TYPE, "a list of %s has no order", t->name);
    if (down)
        TD_TRY(truth(w, down, &descending));
    return box_ask(w, TD_ASK_SORT, (td_val[]){list->num.re, val_as(w, &descending, TD_I64)}, 2,
                   &words);
}

static const struct {
    const char *name;
    uint32_t least, most; /* arguments */
    td_status (*fn)(walk *w, const thing *list, const call *c, int how, thing *out);
    int how;
} methods[] = {
    {"append", 1, 1, emit_list_append, 0}, {"extend", 1, 1, extend, 0},
    {"insert", 2, 2, insert, 0},           {"pop", 0, 1, pop, 0},
    {"remove", 1, 1, remove_first, 0},     {"index", 1, 3, emit_list_index, 0},
    {"count", 1, 1, emit_list_index, 1},   {"reverse", 0, 0, list_simple, 0},
    {"clear", 0, 0, list_simple, 1},       {"copy", 0, 0, list_simple, 2},
    {"sort", 0, 0, list_sort, 0},
};

td_status
list_method(walk *w, const thing *self, const char *name, const call *c, thing *out)
{
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        if (strcmp(methods[i].name, name) == 0 && (!c->nkw || methods[i].fn == list_sort)) {
            TD_TRY(want_args(w, c, name, methods[i].least, methods[i].most));
            return methods[i].fn(w, self, c, methods[i].how, out);
        }
    return bad(w, c->node, TD_ERR_VALUE, "lists have no method %s here", name);
}

static bool
holds_many(const td_type *t)
{
    return t->kind == TD_T_TUPLE || t->kind == TD_T_ARRAY ||
           (t->kind == TD_T_BOX && t->ndim == TD_BOX_LIST);
}

/* Of elements that hold many: are these no numbers, but hold many themselves? */
static bool
is_deep(walk *w, const td_type *t)
{
    const td_type *of = t->kind == TD_T_BOX             ? box_elem(w, &(thing){.type = t}, BOX_ELEM)
                        : t->kind == TD_T_TUPLE && t->n ? t->item[0]
                                                        : NULL;

    return of && holds_many(of);
}

td_status
box_array(walk *w, const thing *list, thing *out)
{
    const td_type *t = box_elem(w, list, BOX_ELEM);
    td_dtype dt;
    dim n;

    box_note(w);
    if (!t)
        return box_wait(w, list);
    if (holds_many(t))
        return call_stand_in(w, is_deep(w, t) ? "array(blocks)" : "array(rows)", list,
                             &(call){.node = w->node}, out);
    if (t->kind == TD_T_NUM && td_dtype_is_complex(t->dt))
        return call_stand_in(w, "array(complex)", list, &(call){.node = w->node}, out);
    if (t->kind != TD_T_NUM)
        return bad(w, w->node, TD_ERR_TYPE, "a list of %s is no array of numbers", t->name);
    dt = td_dtype_is_float(t->dt) ? TD_F64 : t->dt == TD_U64 ? TD_U64 : TD_I64;
    n = dim_of(box_count(w, list));
    *out = array_thing(
        w, td_type_num(dt), 1, &n,
        td_pointer(w->f, td_cast(w->f, box_head(w, list, offsetof(td_box, data)), TD_U64), dt),
        SPACE_LOCAL, "a list");
    if (t->dt == dt || t->weak)
        return built(w, w->node);
    return array_copy(w, out, td_type_num((td_dtype)t->dt), w->node, out);
}
