/* folded.c - calls of generator expressions, for which the syntax tree also has loops (treadle._compile._folded). */
#include "front/infer/box.h"
#include "front/infer/exact.h"
#include "front/infer/intrin.h"

#include <string.h>

/* Does the callee, a name or an attribute, mean the known function of that name?  func 0: yes. */
static td_status
is_named_so(walk *w, uint32_t func, bool *out)
{
    bool method = kind_of(w, func) == TD_SYN_Attribute;
    const char *known;
    td_objinfo info = {0};
    thing f;

    *out = !func;
    if (!func)
        return TD_OK;
    TD_TRY(expr(w, func, &f));
    if (f.type->kind == TD_T_OBJECT)
        TD_TRY(w->host->describe(w->host->ctx, f.type->object, &info));
    known = info.kind == TD_OBJ_INTRINSIC ? strchr(td_intrinsics[info.number].names, '.') : NULL;
    *out = known &&
           strcmp(known + 1, name_of(w, method ? F(func, Attribute_attr) : F(func, Name_id))) == 0;
    return TD_OK;
}

/* sum(f(x) for x in xs), where the name means Python's function: walks the loop that replaces the call.  Restores the
 * loop's variables afterwards, since they belong to the generator expression. */
td_status
expr_folded(walk *w, uint32_t node, thing *out)
{
    uint32_t func = F(node, Folded_func), n, *id;
    thing *before;
    bool same;
    td_status st;

    TD_TRY(is_named_so(w, func, &same));
    if (!(w->exact || box_may(w)) || !same)
        return refuse(w, F(node, Folded_source));
    id = assigned(w, F(node, Folded_body), 0, &n);
    before = td_alloc(w->mem, (n + 1) * sizeof *before);
    for (uint32_t i = 0; i < n; i++) {
        before[i] = w->fr->var[id[i]];
        w->fr->local[id[i]] = true;
    }
    w->fr->folds++;
    st = stmts(w, F(node, Folded_body));
    if (!st)
        st = w->dead ? TD_SKIP : expr(w, F(node, Folded_value), out);
    w->fr->folds--;
    for (uint32_t i = 0; i < n; i++)
        w->fr->var[id[i]] = before[i];
    return st;
}
