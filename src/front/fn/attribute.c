/* attribute.c - attributes of values, by a name that is known when compiling. */
#include "front/infer/box.h"
#include "front/infer/intrin.h"
#include "front/infer/lazy.h"

#include <string.h>

/* The number that Numba has for a part of a slice that is None: the ends depend on the step's sign. */
static thing
numbas_part(walk *w, const thing *slice, int part)
{
    const int64_t up = part ? INT64_MAX : 0, down = part ? INT64_MIN : INT64_MAX;
    const thing *by = &slice->item[2];
    int64_t step = 1;
    td_val falls;

    if (part == 2)
        return num_int(1);
    if (is_none(by) || known_int(by, &step))
        return num_int(step < 0 ? down : up);
    if (!is_int(by))
        return slice->item[part];
    falls = TD_E2(w->f, less, val_as(w, by, TD_I64), td_const_int(w->f, TD_I64, 0));
    return num_index(TD_E3(w->f, select, falls, td_const_int(w->f, TD_I64, down),
                           td_const_int(w->f, TD_I64, up)),
                     false);
}

td_status
attribute(walk *w, const thing *self, const char *name, uint32_t node, thing *out)
{
    static const char *const parts[] = {"start", "stop", "step"};

    if (self->type->kind == TD_T_ARRAY && !is_record(self))
        return array_attribute(w, self, name, node, out);
    if (is_record(self)) {
        TD_TRY(record_field(w, self, name, node, out));
        return loaded(w, out);
    }
    if (self->type->kind == TD_T_TUPLE && self->type->object)
        return named_attribute(w, self, name, node, out);
    if (box_is(self, TD_BOX_OBJECT))
        return object_attribute(w, self, name, node, out);
    if (is_num(self))
        return number_attribute(w, self, name, node, out);
    for (int i = 0;
         (self->type->kind == TD_T_RANGE || self->type->kind == TD_T_SLICE) && !w->exact && i < 3;
         i++)
        if (strcmp(name, parts[i]) == 0) {
            *out = self->item[i];
            if (w->numba && is_none(out))
                *out = numbas_part(w, self, i);
            return TD_OK;
        }
    return bad(w, node, TD_ERR_VALUE, "%s has no attribute %s in a kernel", self->type->name, name);
}

/* ---- getattr and hasattr, with a name that is known when compiling ---- */

/* Does x have the attribute?  Of other kinds of things not all attributes are known here. */
static td_status
has_attribute(walk *w, const thing *x, const char *name, uint32_t node, bool *has)
{
    uint32_t found;

    if (x->type->kind != TD_T_OBJECT && !(x->type->kind == TD_T_TUPLE && x->type->object))
        return bad(w, node, TD_ERR_TYPE,
                   "whether %s has an attribute is not asked here: constants and named tuples are "
                   "asked",
                   x->type->name);
    *has = !w->host->attr(w->host->ctx, x->type->object, name, &found);
    return TD_OK;
}

td_status
fn_getattr(walk *w, const call *c, int number, thing *out)
{
    bool asks = td_intrinsics[number].row, has = true;
    const thing *x = &c->arg[0];
    td_objinfo info = {0};
    uint32_t found;

    TD_TRY(want_args(w, c, asks ? "hasattr" : "getattr", 2, asks ? 2 : 3));
    if (c->arg[1].type->kind == TD_T_OBJECT)
        TD_TRY(w->host->describe(w->host->ctx, c->arg[1].type->object, &info));
    if (info.kind != TD_OBJ_STR)
        return bad(w, c->node, TD_ERR_TYPE, "the name of an attribute is a constant here");
    if (asks || c->n == 3)
        TD_TRY(has_attribute(w, x, info.text, c->node, &has));
    if (asks || !has) {
        *out = asks ? num_bool(has) : c->arg[2];
        return TD_OK;
    }
    if (x->type->kind != TD_T_OBJECT)
        return attribute(w, x, info.text, c->node, out);
    if (w->host->attr(w->host->ctx, x->type->object, info.text, &found))
        return bad(w, c->node, TD_ERR_VALUE, "%s has no attribute %s", x->type->name, info.text);
    return object(w, found, c->node, out);
}
