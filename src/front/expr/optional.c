/* optional.c - values that may be None: what a variable holds where None and another value meet.
 *
 * Such a thing has two items, whether there is a value and the value.  Comparing it with None, and its truth, look at
 * the first; every other use takes the value, and raises TypeError where there is none.
 */
#include "front/infer/box.h"
#include "front/infer/lazy.h"

enum { HAS_VALUE, VALUE };

bool
is_optional(const thing *x)
{
    return td_type_optional_of(x->type) != NULL;
}

const td_type *
join_optional(const walk *w, const td_type *a, const td_type *b)
{
    const td_type *of_a = td_type_optional_of(a), *of_b = td_type_optional_of(b), *both;

    if (w->exact)
        return NULL;
    if (a->kind == TD_T_NONE)
        return of_b ? b : td_type_optional(b);
    if (b->kind == TD_T_NONE)
        return of_a ? a : td_type_optional(a);
    both = join_types(w, of_a ? of_a : a, of_b ? of_b : b);
    return both ? td_type_optional(both) : NULL;
}

/* Of the items given. */
static thing
optional_thing(walk *w, const td_type *t, thing has, thing value)
{
    thing x = {.type = t, .item = td_alloc(w->mem, 2 * sizeof *x.item)};

    x.item[HAS_VALUE] = has;
    x.item[VALUE] = value;
    return x;
}

thing
optional_as(walk *w, const thing *x, const td_type *t)
{
    join j = {.type = t->item[VALUE]};
    place nothing;

    if (is_optional(x))
        return *x;
    if (!is_none(x))
        return optional_thing(w, t, num_bool(true), *x);
    nothing = place_empty(w, &j);
    return optional_thing(w, t, num_bool(false), place_get(w, &nothing));
}

td_status
optional_new(walk *w, td_val has, const thing *value, thing *out)
{
    *out = optional_thing(w, td_type_optional(value->type), num_val(TD_BOOL, has), *value);
    return built(w, w->node);
}

td_status
optional_boxed(walk *w, thing *x)
{
    thing value = x->item[VALUE];

    TD_TRY(boxed(w, &value));
    *x = optional_thing(w, td_type_optional(value.type), x->item[HAS_VALUE], value);
    return TD_OK;
}

td_val
optional_given(walk *w, thing *x)
{
    td_val given = TD_NONE;

    if (is_optional(x)) {
        given = val_as(w, &x->item[HAS_VALUE], TD_BOOL);
        *x = x->item[VALUE];
    }
    return given;
}

td_status
optional_value(walk *w, thing *x)
{
    if (!is_optional(x))
        return TD_OK;
    TD_TRY(must(w, val_as(w, &x->item[HAS_VALUE], TD_BOOL), TD_REPORT_NONE,
                x->item[VALUE].type->name, NULL, 0));
    *x = x->item[VALUE];
    return TD_OK;
}

/* False where there is no value, else what `of` tells of the value. */
static td_status
if_value(walk *w, const thing *x,
         td_status of(walk *w, const thing *value, const thing *other, thing *out),
         const thing *other, thing *out)
{
    join j = {.type = td_type_num(TD_BOOL)};
    place p = place_empty(w, &j);
    thing r;

    td_if(w->f, val_as(w, &x->item[HAS_VALUE], TD_BOOL));
    TD_TRY(of(w, &x->item[VALUE], other, &r));
    TD_TRY(place_set(w, &p, &r));
    td_end(w->f);
    *out = place_get(w, &p);
    return built(w, w->node);
}

static td_status
value_truth(walk *w, const thing *value, const thing *other, thing *out)
{
    (void)other;
    return truth(w, value, out);
}

td_status
optional_truth(walk *w, const thing *x, thing *out)
{
    return if_value(w, x, value_truth, NULL, out);
}

static td_status
value_equals(walk *w, const thing *value, const thing *other, thing *out)
{
    return compare_things(w, TD_SYN_Eq, value, other, out);
}

td_status
optional_compare(walk *w, td_syn op, const thing *a, const thing *b, thing *out)
{
    bool negated = op == TD_SYN_IsNot || op == TD_SYN_NotEq;
    thing none = {.type = td_type_none()}, is, neither;

    if (op != TD_SYN_Is && op != TD_SYN_IsNot && op != TD_SYN_Eq && op != TD_SYN_NotEq) {
        thing x = *a, y = *b;

        TD_TRY(optional_value(w, &x));
        TD_TRY(optional_value(w, &y));
        return compare_things(w, op, &x, &y, out);
    }
    if (!is_optional(a))
        return optional_compare(w, op, b, a, out);
    if (is_none(b)) {
        TD_TRY(num_op(w, OP_logical_not, &a->item[HAS_VALUE], 1, &is));
    } else if (is_optional(b)) { /* equal values, or none twice */
        TD_TRY(if_value(w, a, value_equals, b, &is));
        TD_TRY(optional_compare(w, TD_SYN_Is, a, &none, &neither));
        TD_TRY(num_op(w, OP_logical_not, &b->item[HAS_VALUE], 1, &none));
        TD_TRY(num_op(w, OP_logical_and, (thing[]){neither, none}, 2, &neither));
        TD_TRY(num_op(w, OP_logical_or, (thing[]){is, neither}, 2, &is));
    } else {
        TD_TRY(if_value(w, a, value_equals, b, &is));
    }
    return negated ? num_op(w, OP_logical_not, &is, 1, out) : (*out = is, TD_OK);
}
