/* grown.c - finds the names whose lists change, by a function's text; such lists cannot stay tuples. */
#include "front/infer/box.h"

#include <string.h>

static bool
changes(const char *name)
{
    static const char *const methods[] = {
        "append",  "extend", "insert",  "remove",   "pop",     "clear",       "sort",
        "reverse", "copy",   "heapify", "heappush", "heappop", "heapreplace", "heappushpop"};

    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        if (strcmp(name, methods[i]) == 0)
            return true;
    return false;
}

static void
mark(walk *w, uint32_t node, bool alias)
{
    uint32_t list = kind_of(w, node) == TD_SYN_Tuple  ? F(node, Tuple_elts)
                    : kind_of(w, node) == TD_SYN_List ? F(node, List_elts)
                                                      : 0;

    if (kind_of(w, node) == TD_SYN_Name)
        w->fr->grown[F(node, Name_id)] = 2;
    if (kind_of(w, node) == TD_SYN_Subscript && !alias)
        mark(w, F(node, Subscript_value), false);
    for (uint32_t i = 0; i < count_of(w, list); i++)
        mark(w, item_of(w, list, i), alias);
}

/* A name that several statements assign may hold lists of several lengths. */
static void
count_assigned(walk *w, uint32_t target)
{
    uint8_t *g = kind_of(w, target) == TD_SYN_Name ? &w->fr->grown[F(target, Name_id)] : NULL;

    if (g && *g < 2)
        ++*g;
}

/* Is it module.f, or module.part.f, of a function of the program's own? */
static bool
is_programs(walk *w, uint32_t node, uint32_t *obj)
{
    td_objinfo info = {0};

    if (kind_of(w, node) == TD_SYN_Name)
        return !w->fr->local[F(node, Name_id)] && !w->fr->var[F(node, Name_id)].type &&
               !w->host->name(w->host->ctx, w->fr->s, F(node, Name_id) - 1, obj);
    return kind_of(w, node) == TD_SYN_Attribute && is_programs(w, F(node, Attribute_value), obj) &&
           !w->host->attr(w->host->ctx, *obj, name_of(w, F(node, Attribute_attr)), obj) &&
           !w->host->describe(w->host->ctx, *obj, &info) &&
           (info.kind == TD_OBJ_OTHER || (info.kind == TD_OBJ_FUNCTION && !info.stand_in));
}

/* Does the call pass its arguments to code that may change them?  The functions of heapq and of the program may; NumPy's
 * and most of Python's own do not. */
static bool
hands_on(walk *w, uint32_t func)
{
    uint32_t obj;

    static const char *const reads[] = {
        "len",       "sum",      "min",    "max", "range", "print", "any", "all", "zip",
        "enumerate", "reversed", "sorted", "abs", "list",  "tuple", "set", "str", "isinstance"};

    if (kind_of(w, func) == TD_SYN_Attribute)
        return changes(name_of(w, F(func, Attribute_attr))) || is_programs(w, func, &obj);
    if (kind_of(w, func) != TD_SYN_Name)
        return false;
    for (size_t i = 0; i < sizeof reads / sizeof *reads; i++)
        if (strcmp(name_of(w, F(func, Name_id)), reads[i]) == 0)
            return false;
    return true;
}

static void
find_grown(walk *w, uint32_t node)
{
    switch (kind_of(w, node)) {
    case TD_SYN_Assign:
        mark(w, F(node, Assign_value), true);
        for (uint32_t i = 0; i < count_of(w, F(node, Assign_targets)); i++) {
            uint32_t target = item_of(w, F(node, Assign_targets), i);

            if (kind_of(w, target) == TD_SYN_Subscript)
                mark(w, target, false);
            count_assigned(w, target);
        }
        break;
    case TD_SYN_AnnAssign: count_assigned(w, F(node, AnnAssign_target)); break;
    case TD_SYN_AugAssign: mark(w, F(node, AugAssign_target), false); break;
    case TD_SYN_Delete:
        for (uint32_t i = 0; i < count_of(w, F(node, Delete_targets)); i++)
            mark(w, item_of(w, F(node, Delete_targets), i), false);
        break;
    case TD_SYN_Subscript: /* a list of lists whose index is computed */
        if (kind_of(w, F(node, Subscript_value)) == TD_SYN_Subscript &&
            kind_of(w, F(F(node, Subscript_value), Subscript_slice)) != TD_SYN_Constant)
            mark(w, F(node, Subscript_value), false);
        break;
    case TD_SYN_Return: mark(w, F(node, Return_value), true); break;
    case TD_SYN_Attribute:
        if (changes(name_of(w, F(node, Attribute_attr))))
            mark(w, F(node, Attribute_value), false);
        break;
    case TD_SYN_Call:
        for (uint32_t i = 0; hands_on(w, F(node, Call_func)) && i < count_of(w, F(node, Call_args));
             i++)
            mark(w, item_of(w, F(node, Call_args), i), true);
        break;
    default: break;
    }
}

static void
look_below(walk *w, uint32_t node)
{
    const char *p = td_syntab[kind_of(w, node)].fields;

    find_grown(w, node);
    for (uint32_t at = node + TD_SYN_HEAD; *p; at++) {
        const char *what = strchr(p, ':') + 1;
        uint32_t v = field_of(w, at, 0);

        if (*what == 'n' && v)
            look_below(w, v);
        for (uint32_t i = 0; *what == 'l' && i < count_of(w, v); i++)
            if (item_of(w, v, i))
                look_below(w, item_of(w, v, i));
        p = what[1] ? what + 2 : what + 1;
    }
}

void
box_grow_names(walk *w)
{
    if (w->fr->grown)
        return;
    w->fr->grown = td_alloc(w->mem, w->fr->s->nnames + 1);
    memset(w->fr->grown, 0, w->fr->s->nnames + 1);
    look_below(w, w->fr->s->root);
}

static bool
has_listed(const thing *x)
{
    for (uint32_t i = 0; x->type->kind == TD_T_TUPLE && i < x->type->n; i++)
        if (x->item[i].listed || has_listed(&x->item[i]))
            return true;
    return false;
}

td_status
box_named(walk *w, uint32_t name, thing *x)
{
    if (!box_may(w))
        return TD_OK;
    if (x->type->kind == TD_T_TUPLE && (x->listed || has_listed(x))) {
        box_grow_names(w);
        return (x->listed && x->type->n == 0) || w->fr->grown[name] == 2 ? boxed(w, x) : TD_OK;
    }
    return is_pieces(x) ? boxed(w, x) : TD_OK;
}
