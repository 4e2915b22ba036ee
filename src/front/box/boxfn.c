/* boxfn.c - list(), dict(), set(), str(), sorted() and their like; treadle.typed's constructors. */
#include "front/infer/box.h"
#include "front/infer/lazy.h"

#include <string.h>

static td_status
refused(walk *w, const call *c, const char *what)
{
    return bad(w, c->node, TD_ERR_TYPE, "%s", what);
}

td_status
fn_list(walk *w, const call *c, int number, thing *out)
{
    (void)number;
    if (!box_may(w))
        return refused(w, c, "kernels have no lists, dicts, sets or files: use tuples and arrays");
    TD_TRY(want_args(w, c, "list", 0, 1));
    return box_from(w, TD_BOX_LIST, c->n ? &c->arg[0] : NULL, c->node, out);
}

td_status
fn_set(walk *w, const call *c, int number, thing *out)
{
    (void)number;
    if (!box_may(w))
        return refused(w, c, "kernels have no lists, dicts, sets or files: use tuples and arrays");
    TD_TRY(want_args(w, c, "set", 0, 1));
    return box_from(w, TD_BOX_SET, c->n ? &c->arg[0] : NULL, c->node, out);
}

/* Adds an iterable's pairs of a key and a value to a dict. */
static td_status
add_pairs(walk *w, const thing *dict, const thing *from, uint32_t node)
{
    thing it, n, x;
    td_val k;
    td_status st = TD_OK;

    TD_TRY(iter_of(w, from, node, &it));
    for (uint32_t i = 0; it.type->kind == TD_T_TUPLE && i < it.type->n; i++) {
        x = it.item[i];
        if (x.type->kind != TD_T_TUPLE || x.type->n != 2)
            return bad(w, node, TD_ERR_TYPE, "dict takes pairs, not %s", x.type->name);
        TD_TRY(map_assign(w, dict, &x.item[0], &x.item[1]));
    }
    if (it.type->kind == TD_T_TUPLE)
        return TD_OK;
    TD_TRY(iter_limit(w, &it, node, &n));
    k = td_for(w->f, td_const_int(w->f, TD_I64, 0), val_as(w, &n, TD_I64),
               td_const_int(w->f, TD_I64, 1));
    w->depth++;
    st = iter_item(w, &it, k, node, &x);
    if (!st && (x.type->kind != TD_T_TUPLE || x.type->n != 2))
        st = bad(w, node, TD_ERR_TYPE, "dict takes pairs, not %s", x.type->name);
    if (!st)
        st = map_assign(w, dict, &x.item[0], &x.item[1]);
    td_end(w->f);
    w->depth--;
    return st;
}

td_status
fn_dict(walk *w, const call *c, int number, thing *out)
{
    td_val words;

    (void)number;
    if (!box_may(w))
        return refused(w, c, "kernels have no lists, dicts, sets or files: use tuples and arrays");
    TD_TRY(want_args(w, c, "dict", 0, 1));
    if (c->n && box_is(&c->arg[0], TD_BOX_DICT)) {
        TD_TRY(box_ask(w, TD_ASK_COPY, (td_val[]){c->arg[0].num.re}, 1, &words));
        *out = box_thing(w, c->arg[0].type, box_word(w, words, 0, TD_U64));
        return TD_OK;
    }
    TD_TRY(box_new(w, TD_BOX_DICT, c->node, 3, td_const_int(w->f, TD_I64, 0), out));
    if (c->n)
        TD_TRY(add_pairs(w, out, &c->arg[0], c->node));
    if (c->asked)
        *c->asked = UINT64_MAX;
    for (uint32_t i = 0; i < c->nkw; i++) {
        thing key;

        TD_TRY(text_constant(w, c->kw[i], &key));
        TD_TRY(map_assign(w, out, &key, &c->kwarg[i]));
    }
    return TD_OK;
}

td_status
fn_sorted(walk *w, const call *c, int number, thing *out)
{
    call own = *c;
    thing none;

    (void)number;
    if (!box_may(w))
        return refused(
            w, c, "sorted makes a list, which kernels have not: sort the array before the call");
    TD_TRY(want_args(w, c, "sorted", 1, 1));
    TD_TRY(box_from(w, TD_BOX_LIST, &c->arg[0], c->node, out));
    own.n = 0;
    if (c->asked) /* sort checks all keywords itself */
        *c->asked = UINT64_MAX;
    return list_method(w, out, "sort", &own, &none);
}

td_status
fn_text(walk *w, const call *c, int number, thing *out)
{
    (void)number;
    if (!box_may(w))
        return refused(w, c,
                       "kernels make no strings: print(…) takes numbers and constant strings");
    TD_TRY(want_args(w, c, "str", 0, 1));
    return c->n ? text_of(w, &c->arg[0], out) : text_constant(w, "", out);
}

td_status
fn_chr(walk *w, const call *c, int number, thing *out)
{
    (void)number;
    if (!box_may(w))
        return refused(w, c,
                       "kernels make no strings: print(…) takes numbers and constant strings");
    TD_TRY(want_args(w, c, "chr", 1, 1));
    return text_char(w, &c->arg[0], out);
}

/* ---- treadle.typed ---- */

/* The element type that an argument names, in Numba's notation. */
static td_status
named_type(walk *w, const thing *x, uint32_t node, const td_type **out)
{
    td_objinfo info = {0};

    if (x->type->kind == TD_T_ITER && x->type->object == ITER_TYPE) {
        *out = x->type->item[0];
        return TD_OK;
    }
    if (x->type->kind == TD_T_OBJECT)
        TD_TRY(w->host->describe(w->host->ctx, x->type->object, &info));
    if (info.kind != TD_OBJ_TYPE)
        return bad(w, node, TD_ERR_TYPE, "%s is no type of elements", x->type->name);
    *out = info.type;
    return TD_OK;
}

/* float64[:, ::1]: one slice per axis; the first or the last may have the step 1. */
td_status
box_array_type(walk *w, const thing *x, const thing *key, uint32_t node, thing *out)
{
    uint32_t n = key->type->kind == TD_T_TUPLE ? key->type->n : 1;
    const thing *axis = key->type->kind == TD_T_TUPLE ? key->item : key;
    char layout = 'A';
    const td_type *t;

    TD_TRY(named_type(w, x, node, &t));
    for (uint32_t i = 0; i < n; i++) {
        int64_t step;

        if (axis[i].type->kind != TD_T_SLICE || t->kind != TD_T_NUM || n > TD_MAXDIM_KERNEL)
            return bad(w, node, TD_ERR_TYPE, "%s cannot be indexed in a kernel", x->type->name);
        if (known_int(&axis[i].item[2], &step) && step == 1)
            layout = i + 1 == n ? 'C' : i == 0 ? 'F' : layout;
    }
    t = td_type_array(t, n, layout, false);
    *out = (thing){.type = td_type_iter(ITER_TYPE, &t, 1)};
    return TD_OK;
}

/* List.empty_list(t), Dict.empty(k, v); List(), Dict(), whose element types are inferred; List(iterable). */
td_status
fn_typed_box(walk *w, const call *c, int number, thing *out)
{
    static const struct {
        td_boxkind which;
        uint32_t n; /* types */
        const char *name[2];
    } rows[] = {
        {TD_BOX_LIST, 0, {NULL, NULL}},
        {TD_BOX_DICT, 0, {NULL, NULL}},
        {TD_BOX_LIST, 1, {"item_type", NULL}},
        {TD_BOX_DICT, 2, {"key_type", "value_type"}},
    };
    int row = td_intrinsics[number].row;
    const td_type *item[2] = {NULL, NULL}, *t;
    td_val zero = td_const_int(w->f, TD_I64, 0);

    TD_TRY(box_here(w, c->node, rows[row].which == TD_BOX_LIST ? "typed.List" : "typed.Dict"));
    for (uint32_t i = 0; i < rows[row].n; i++) {
        const thing *x = arg_or_kw(c, i, rows[row].name[i]);

        if (!x)
            return bad(w, c->node, TD_ERR_TYPE, "%s is missing", rows[row].name[i]);
        TD_TRY(named_type(w, x, c->node, &item[i]));
    }
    if (rows[row].n) {
        t = td_type_box(rows[row].which, item, rows[row].n, true);
        return box_typed(w, t, out);
    }
    TD_TRY(want_args(w, c, "typed", 0, 1));
    TD_TRY(box_new(w, rows[row].which, c->node, 4, zero, out));
    box_site(w, out)->typed = true;
    if (!c->n)
        return TD_OK;
    return rows[row].which == TD_BOX_DICT ? add_pairs(w, out, &c->arg[0], c->node)
                                          : list_extend(w, out, &c->arg[0], c->node);
}
