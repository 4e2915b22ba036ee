/* boxprint.c - print of what only Python writes: arrays, lists, dicts, sets, tuples that hold them, constants.
 *
 * A function on the CPU has the host show each print at once, on the thread that called it.  So the words of such a value
 * are addresses of what the function itself uses.
 */
#include "front/infer/box.h"
#include "front/infer/lazy.h"

bool
print_is_plain(walk *w, const thing *x)
{
    td_objinfo info = {0};

    if (x->type->kind == TD_T_TUPLE && !x->type->object) {
        for (uint32_t i = 0; i < x->type->n; i++)
            if (!print_is_plain(w, &x->item[i]))
                return false;
        return true;
    }
    if (x->type->kind == TD_T_OBJECT && !w->host->describe(w->host->ctx, x->type->object, &info))
        return info.kind == TD_OBJ_STR;
    return is_num(x) || is_none(x);
}

/* The text of an optional value. */
static td_status
optional_text(walk *w, const thing *x, thing *out)
{
    thing value = x->item[1], none;
    td_val text = td_slot(w->f, TD_U64, 1);

    TD_TRY(text_constant(w, "None", &none));
    td_set(w->f, text, none.num.re);
    td_if(w->f, val_as(w, &x->item[0], TD_BOOL));
    TD_TRY(text_of(w, &value, out));
    td_set(w->f, text, out->num.re);
    td_end(w->f);
    *out = box_thing(w, none.type, td_get(w->f, text));
    return built(w, w->node);
}

td_status
print_value(walk *w, const thing *x, uint32_t node, thing *out)
{
    const td_type *shown;

    *out = *x;
    if (x->type->kind == TD_T_OBJECT)
        return TD_OK;
    if (!box_may(w) || w->how->alone)
        return bad(w, node, TD_ERR_TYPE, "a kernel prints numbers and constant strings, not %s",
                   x->type->name);
    box_note(w);
    if (is_optional(x))
        return optional_text(w, x, out);
    TD_TRY(settle(w, out));
    TD_TRY(boxed(w, out));
    return print_type(w, out->type, &shown);
}

static td_status
type_of_parts(walk *w, const td_type *t, const td_type *const *part, uint32_t n,
              const td_type **out)
{
    const td_type *item[64];

    if (n > 64)
        return bad(w, w->node, TD_ERR_TYPE, "print of a tuple of more than 64 items");
    for (uint32_t i = 0; i < n; i++) {
        thing box = {.type = t};

        if (!part[i])
            return box_wait(w, &box);
        TD_TRY(print_type(w, part[i], &item[i]));
    }
    *out = t->kind == TD_T_BOX ? td_type_box(t->ndim, item, n, false) : td_type_tuple_like(t, item);
    return TD_OK;
}

td_status
print_type(walk *w, const td_type *t, const td_type **out)
{
    thing box = {.type = t};

    *out = t;
    switch ((td_tkind)t->kind) {
    case TD_T_NUM:
    case TD_T_NONE:
    case TD_T_OBJECT: return TD_OK;
    case TD_T_ARRAY:
        if (t->item[0]->kind == TD_T_NUM && t->item[0]->dt != TD_BF16)
            return TD_OK;
        break;
    case TD_T_TUPLE: return type_of_parts(w, t, t->item, t->n, out);
    case TD_T_BOX:
        if (t->ndim == TD_BOX_STR)
            return TD_OK;
        if (t->ndim != TD_BOX_OBJECT)
            return type_of_parts(w, t, box_site(w, &box)->elem, t->ndim == TD_BOX_DICT ? 2 : 1,
                                 out);
        break;
    default: break;
    }
    return bad(w, w->node, TD_ERR_TYPE, "print shows no %s: print its parts", t->name);
}

void
print_now(walk *w, td_val mailbox)
{
    td_val words = td_local(w->f, TD_U64, 1);

    td_store(w->f, words, box_whole(w, 0), mailbox, TD_NONE, 0);
    td_ask(w->f, hidden_address(w, TD_HIDDEN_CALLMEM), td_address(w->f, words),
           box_whole(w, TD_ASK_PRINT));
}
