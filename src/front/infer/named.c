/* named.c - named tuples: tuples whose type says the class that they are of.
 *
 * The class is an object of the program: its fields' names are asked of the host where they are needed.
 */
#include "front/infer/walk.h"

#include <string.h>

/* Of t's class, with the tuple's items. */
static thing
named_of(const td_type *t, const thing *tuple)
{
    thing x = *tuple;

    x.type = td_type_named(t->object, t->name, tuple->type->item, tuple->type->n);
    return x;
}

/* The place of a field; -1: it has none of that name. */
static td_status
field_place(walk *w, const td_objinfo *class, const char *name, int *out)
{
    *out = -1;
    for (uint32_t i = 0; i < class->n && *out < 0; i++) {
        td_objinfo field = {0};

        TD_TRY(w->host->describe(w->host->ctx, class->item[i], &field));
        if (field.kind == TD_OBJ_STR && strcmp(field.text, name) == 0)
            *out = (int)i;
    }
    return TD_OK;
}

/* Arguments by place and by name into item[]; what nobody gives keeps type NULL. */
static td_status
named_fill(walk *w, const td_objinfo *class, const call *c, thing *item)
{
    int at;

    if (c->n > class->n)
        return bad(w, c->node, TD_ERR_TYPE, "%s has %u fields, %u values are given", class->text,
                   class->n, c->n);
    for (uint32_t i = 0; i < c->n; i++)
        item[i] = c->arg[i];
    for (uint32_t i = 0; i < c->nkw; i++) {
        TD_TRY(field_place(w, class, c->kw[i], &at));
        if (at < 0)
            return bad(w, c->node, TD_ERR_TYPE, "%s has no field %s", class->text, c->kw[i]);
        if ((uint32_t)at < c->n)
            return bad(w, c->node, TD_ERR_TYPE, "%s: field %s is given twice", class->text,
                       c->kw[i]);
        item[at] = c->kwarg[i];
    }
    return TD_OK;
}

/* The class's default of field i of n: what __new__ has at its end. */
static td_status
default_of(walk *w, const td_objinfo *class, uint32_t object_, uint32_t i, uint32_t node,
           thing *out)
{
    td_objinfo all = {0}, field = {0};
    uint32_t new, defaults;

    TD_TRY(w->host->attr(w->host->ctx, object_, "__new__", &new));
    TD_TRY(w->host->attr(w->host->ctx, new, "__defaults__", &defaults));
    TD_TRY(w->host->describe(w->host->ctx, defaults, &all));
    if (all.kind == TD_OBJ_TUPLE && i + all.n >= class->n)
        return object(w, all.item[i + all.n - class->n], node, out);
    TD_TRY(w->host->describe(w->host->ctx, class->item[i], &field));
    return bad(w, node, TD_ERR_TYPE, "%s: field %s is missing", class->text, field.text);
}

td_status
call_named(walk *w, const td_objinfo *class, uint32_t object_, const call *c, thing *out)
{
    thing *item = td_alloc(w->mem, (class->n + 1) * sizeof *item), tuple;

    if (class->member)
        return bad(w, c->node, TD_ERR_TYPE,
                   "%s: a member is not found by its value here: name it, or compare .value",
                   class->text);
    memset(item, 0, (class->n + 1) * sizeof *item);
    TD_TRY(named_fill(w, class, c, item));
    for (uint32_t i = 0; i < class->n; i++)
        if (!item[i].type)
            TD_TRY(default_of(w, class, object_, i, c->node, &item[i]));
    tuple = tuple_of(w, item, class->n);
    *out = tuple;
    out->type = td_type_named(object_, class->text, tuple.type->item, class->n);
    return TD_OK;
}

bool
is_member(walk *w, const thing *x)
{
    td_objinfo class = {0};

    return x->type->kind == TD_T_TUPLE && x->type->object &&
           !w->host->describe(w->host->ctx, x->type->object, &class) && class.member;
}

/* t._replace(x=1) */
td_status
named_replace(walk *w, const thing *self, const call *c, thing *out)
{
    thing *item = td_alloc(w->mem, (self->type->n + 1) * sizeof *item), tuple;
    td_objinfo class = {0};

    TD_TRY(w->host->describe(w->host->ctx, self->type->object, &class));
    if (c->n)
        return bad(w, c->node, TD_ERR_TYPE, "_replace takes fields by their names");
    copy_things(item, self->item, self->type->n);
    TD_TRY(named_fill(w, &class, c, item));
    tuple = tuple_of(w, item, self->type->n);
    *out = named_of(self->type, &tuple);
    return TD_OK;
}

td_status
named_attribute(walk *w, const thing *self, const char *name, uint32_t node, thing *out)
{
    td_objinfo class = {0};
    uint32_t fields;
    int at;

    if (strcmp(name, "_fields") == 0) {
        TD_TRY(w->host->attr(w->host->ctx, self->type->object, name, &fields));
        return object(w, fields, node, out);
    }
    TD_TRY(w->host->describe(w->host->ctx, self->type->object, &class));
    TD_TRY(field_place(w, &class, name, &at));
    if (at < 0)
        return bad(w, node, TD_ERR_VALUE, "%s has no %s %s", self->type->name,
                   class.member ? "attribute here but value, not" : "field", name);
    *out = self->item[at];
    return TD_OK;
}
