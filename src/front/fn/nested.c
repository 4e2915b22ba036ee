/* nested.c - functions that are defined inside of a compiled one: def in a body, lambdas that get a name.
 *
 * Such a function is walked in place where it is called, as others are.  Its free names are variables of the function
 * that defines it, with the values that they have at the call, as in Python.
 */
#include "front/infer/walk.h"

#include "front/infer/intrin.h"

struct nested {
    td_source s;       /* of the definition: a part of the outer function's tree */
    uint32_t id;       /* its type's, which no other definition has */
    frame *home;       /* the outer function's, in this walk */
    thing *defaults;   /* the last positional parameters', */
    thing *kwdefaults; /* and the keyword-only ones'; type NULL: none */
};

bool
is_nested(const thing *x)
{
    return x->type->kind == TD_T_ITER && x->type->object >= ITER_NESTED && !is_optional(x);
}

static td_hash
id_key(uint32_t id)
{
    return td_hash_u64(TD_HASH_INIT, id);
}

/* The record of a definition is kept from walk to walk. */
static nested *
nested_of(walk *w, uint32_t node, const char *name)
{
    td_hash key = td_hash_u64(td_hash_u64(TD_HASH_INIT, (uintptr_t)w->fr->s->tree), node);
    nested *n = td_map_get(&w->nested, key);

    if (n)
        return n;
    n = td_alloc(w->mem, sizeof *n);
    *n = (nested){.s = *w->fr->s, .id = ITER_NESTED + w->nnested++};
    n->s.root = node;
    n->s.name = name;
    n->s.signature = NULL;
    n->s.nsignature = n->s.ndefault = n->s.nkwdefault = 0;
    if (td_map_set(&w->nested, key, n) || td_map_set(&w->nested_by_id, id_key(n->id), n))
        w->mem->failed = true;
    return n;
}

static td_status
evaluate(walk *w, uint32_t list, thing **out)
{
    *out = td_alloc(w->mem, (count_of(w, list) + 1) * sizeof **out);
    for (uint32_t i = 0; i < count_of(w, list); i++) {
        if (!item_of(w, list, i))
            continue;
        TD_TRY(expr(w, item_of(w, list, i), &(*out)[i]));
        TD_TRY(settle(w, &(*out)[i]));
    }
    return TD_OK;
}

static td_status
define(walk *w, uint32_t node, uint32_t args, const char *name, thing *out)
{
    nested *n = nested_of(w, node, name);

    n->home = w->fr;
    n->s.ndefault = count_of(w, F(args, arguments_defaults));
    n->s.nkwdefault = count_of(w, F(args, arguments_kw_defaults));
    TD_TRY(evaluate(w, F(args, arguments_defaults), &n->defaults));
    TD_TRY(evaluate(w, F(args, arguments_kw_defaults), &n->kwdefaults));
    *out = (thing){.type = td_type_iter(n->id, NULL, 0)};
    return TD_OK;
}

td_status
stmt_define(walk *w, uint32_t node)
{
    thing f;

    if (w->exact)
        return refuse(w, node);
    if (count_of(w, F(node, FunctionDef_decorator_list)))
        return bad(w, node, TD_ERR_TYPE,
                   "a function inside of another has no decorators here: it is compiled with the "
                   "outer one");
    TD_TRY(define(w, node, F(node, FunctionDef_args), name_of(w, F(node, FunctionDef_name)), &f));
    bind(w, F(node, FunctionDef_name), &f);
    return TD_OK;
}

td_status
expr_lambda(walk *w, uint32_t node, thing *out)
{
    if (w->exact)
        return bad(w, node, TD_ERR_TYPE, "a lambda in a variable is Python's");
    return define(w, node, F(node, Lambda_args), "<lambda>", out);
}

td_status
call_nested(walk *w, const thing *f, const call *c, thing *out)
{
    nested *n = td_map_get(&w->nested_by_id, id_key(f->type->object));

    if (generator_new(w, &n->s, n, c, out))
        return TD_OK;
    for (frame *up = w->fr; up; up = up->up)
        if (up->s == &n->s)
            return bad(w, c->node, TD_ERR_TYPE,
                       "%s calls itself, which a function inside of another cannot here: define it "
                       "outside",
                       n->s.name);
    return call_defined(w, &n->s, n, c, out);
}

const thing *
nested_default(const nested *n, uint32_t i, bool keyword)
{
    const thing *x = keyword ? &n->kwdefaults[i] : &n->defaults[i];

    return x->type ? x : NULL;
}

frame *
nested_home(const nested *n)
{
    return n->home;
}
