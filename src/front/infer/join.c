/* join.c - where paths meet: the type that values of several paths share, and the slots that carry it. */
#include "front/infer/box.h"
#include "front/infer/exact.h"

#include <string.h>

static const td_type *
join_numbers(const walk *w, const td_type *a, const td_type *b)
{
    thing x = {.type = a}, y = {.type = b};
    const td_type *t = w->numba && !(a->weak && b->weak) ? td_type_num(td_promote(a->dt, b->dt))
                                                         : num_common(w, &x, &y);

    /* a variable that starts as a Python int and takes narrow integers is a counter or a sum:
     * it stays wide */
    if ((a->weak || b->weak) && td_dtype_is_int(t->dt) && !t->weak && t->dt != TD_U64)
        return td_type_num(TD_I64);
    return t;
}

static const td_type *
join_lists(const walk *w, const td_type *a, const td_type *b)
{
    const td_type *item[64];

    if (a->n != b->n || a->n > 64 || a->object != b->object)
        return NULL;
    for (uint32_t i = 0; i < a->n; i++)
        if (!(item[i] = join_types(w, a->item[i], b->item[i])))
            return NULL;
    return a->kind == TD_T_TUPLE   ? td_type_tuple_like(a, item)
           : a->kind == TD_T_SLICE ? td_type_slice(item)
           : a->kind == TD_T_RANGE ? td_type_range(item)
                                   : td_type_iter(a->object, item, a->n);
}

const td_type *
join_types(const walk *w, const td_type *a, const td_type *b)
{
    if (a == b)
        return a;
    if (w->exact && (exact_kinds(a) || exact_kinds(b) || a->kind == TD_T_NUM))
        return exact_join(a, b);
    if (a->kind == TD_T_NONE || b->kind == TD_T_NONE) { /* an instance, or none */
        const td_type *t = a->kind == TD_T_NONE ? b : a;

        if (t->kind == TD_T_BOX && t->ndim == TD_BOX_OBJECT)
            return t;
    }
    if (a->kind == TD_T_NONE || b->kind == TD_T_NONE || td_type_optional_of(a) ||
        td_type_optional_of(b))
        return join_optional(w, a, b);
    if (a->kind != b->kind)
        return NULL;
    switch ((td_tkind)a->kind) {
    case TD_T_NUM: return a->dt == TD_BOOL && b->dt == TD_BOOL ? a : join_numbers(w, a, b);
    case TD_T_ARRAY:
        if (a->item[0] != b->item[0] || a->ndim != b->ndim)
            return NULL;
        return td_type_array(a->item[0], a->ndim, a->layout == b->layout ? a->layout : 'A',
                             a->readonly || b->readonly);
    case TD_T_TUPLE:
    case TD_T_SLICE:
    case TD_T_RANGE:
    case TD_T_ITER:   return join_lists(w, a, b);
    case TD_T_BOX:    return box_unify((walk *)(uintptr_t)w, a, b);
    case TD_T_NONE:
    case TD_T_RECORD:
    case TD_T_OBJECT: return NULL;
    }
    return NULL;
}

td_hash
join_key_at(uint64_t path, uint32_t node, uint32_t name)
{
    return td_hash_u64(td_hash_u64(TD_HASH_INIT, path), (uint64_t)node << 32 | name);
}

td_hash
join_key(const walk *w, uint32_t node, uint32_t name)
{
    return join_key_at(w->fr->path, node, name);
}

join *
join_get(walk *w, td_hash key)
{
    return td_map_get(&w->joins, key);
}

static bool
are_alike(const td_type *a, const td_type *b)
{
    return a->kind == TD_T_TUPLE && b->kind == TD_T_TUPLE && a->n == b->n &&
           a->object == b->object && a->n <= 64;
}

static void
own_items(walk *w, thing *x)
{
    thing *item = td_alloc(w->mem, (x->type->n + 1) * sizeof *item);

    for (uint32_t i = 0; i < x->type->n; i++)
        item[i] = x->item[i];
    x->item = item;
}

/* Where a constant string meets another one or a str, str is the type of both. */
static void
join_texts(walk *w, const td_type **had, const td_type *comes)
{
    thing h = {.type = *had}, x = {.type = comes};

    if (*had != comes && (*had)->kind == TD_T_OBJECT && is_text(w, &h) && is_text(w, &x) &&
        box_may(w))
        *had = td_type_box(TD_BOX_STR, NULL, 0, false);
}

/* A constant string or list that is joined with others becomes a runtime value like them: x, or the values that had
 * type *had before. */
static td_status
like(walk *w, const td_type **had, thing *x)
{
    const td_type *before[64], *now[64];

    if (*had == x->type)
        return TD_OK;
    if (!are_alike(*had, x->type)) {
        join_texts(w, had, x->type);
        return (*had)->kind == TD_T_BOX ? boxed(w, x) : TD_OK;
    }
    own_items(w, x);
    for (uint32_t i = 0; i < x->type->n; i++) {
        before[i] = (*had)->item[i];
        TD_TRY(like(w, &before[i], &x->item[i]));
        now[i] = x->item[i].type;
    }
    *had = td_type_tuple_like(*had, before);
    x->type = td_type_tuple_like(x->type, now);
    return TD_OK;
}

static td_status
like_joined(walk *w, join *j, thing *x)
{
    const td_type *value = td_type_optional_of(j->type), *of_x = td_type_optional_of(x->type),
                  *had = value ? value : j->type, *before = had;

    if (j->type == x->type || w->exact)
        return TD_OK;
    if (value || of_x) {
        join_texts(w, &had, of_x ? of_x : x->type);
        if (had->kind == TD_T_BOX)
            TD_TRY(boxed(w, x));
    } else {
        TD_TRY(like(w, &had, x));
    }
    if (had != before) {
        j->type = value ? td_type_optional(had) : had;
        w->again = true;
    }
    return TD_OK;
}

td_status
join_add(walk *w, td_hash key, const thing *x, uint32_t node, const char *name)
{
    join *j = td_map_get(&w->joins, key);
    thing own = *x;
    const td_type *t;

    if (j)
        TD_TRY(like_joined(w, j, &own));
    x = &own;
    if (!j) {
        j = td_alloc(w->mem, sizeof *j);
        *j = (join){.type = x->type,
                    .nonneg = x->nonneg,
                    .small = x->small && w->exact,
                    .unbound = x->maybe};
        w->again = true;
        return td_map_set(&w->joins, key, j);
    }
    t = join_types(w, j->type, x->type);
    if (!t)
        return bad(w, node, TD_ERR_TYPE,
                   "%s is %s on one path and %s on another; a variable has one type where paths "
                   "meet: use two names",
                   name, j->type->name, x->type->name);
    if (t != j->type || (j->nonneg && !x->nonneg) || (j->small && !x->small) ||
        (x->maybe && !j->unbound))
        w->again = true;
    j->type = t;
    j->nonneg = j->nonneg && x->nonneg;
    j->small = j->small && x->small;
    j->unbound = j->unbound || x->maybe;
    return TD_OK;
}

td_status
join_meet(walk *w, td_hash key, const thing *x, uint32_t node, const char *name)
{
    join *j = join_get(w, key);
    thing own = *x;

    if (j && j->clash)
        return TD_OK;
    if (j && x->type)
        TD_TRY(like_joined(w, j, &own));
    if (x->type && (!j || join_types(w, j->type, own.type)))
        return join_add(w, key, &own, node, name);
    if (!j) {
        j = td_alloc(w->mem, sizeof *j);
        *j = (join){.type = x->clash->type, .clash = x->clash->clash};
        w->again = true;
        return td_map_set(&w->joins, key, j);
    }
    j->clash = x->type ? x->type : x->clash->clash;
    w->again = true;
    return TD_OK;
}

thing
join_stand_in(walk *w, const join *j)
{
    return !j ? (thing){0} : j->clash ? (thing){.clash = j} : stand_in(w, j->type);
}

void
join_unbound(walk *w, td_hash key)
{
    join *j = join_get(w, key);

    if (!tells_unbound(w) || !j || j->unbound)
        return;
    j->unbound = true;
    w->again = true;
}

/* ---- variables that may have no value ---- */

bool
tells_unbound(const walk *w)
{
    return w->exact || w->how->mode != TD_MODE_KERNEL || w->how->checked || w->how->watched;
}

static td_hash
asked_key(const walk *w, uint32_t name)
{
    return td_hash_u64(td_hash_u64(TD_HASH_INIT, (uintptr_t)w->fr->s), name);
}

join *
join_variable(walk *w, td_hash key, uint32_t name)
{
    join *j = join_get(w, key);

    if (j)
        j->asked = w->exact || td_map_get(&w->asked, asked_key(w, name));
    return j && !j->clash ? j : NULL;
}

td_status
want_bound(walk *w, thing *x, uint32_t name, uint32_t node)
{
    bool maybe = x->maybe;
    uint32_t site;

    x->maybe = false;
    if (!maybe)
        return TD_OK;
    if (x->given.i == UINT32_MAX) { /* the next walk keeps it */
        w->again = true;
        return td_map_set(&w->asked, asked_key(w, name), w);
    }
    if (w->exact) {
        exact_flag(w, TD_E1(w->f, logical_not, x->given));
        return TD_OK;
    }
    site = site_new(w, TD_REPORT_UNBOUND, node, name_of(w, name));
    td_if(w->f, TD_E1(w->f, logical_not, x->given));
    TD_TRY(report_fail(w, site, NULL, 0));
    thread_end(w);
    td_end(w->f);
    return built(w, node);
}

/* ---- places: the same shape as the thing, with slots for values ---- */

static td_val
slot(walk *w, td_dtype dt)
{
    return td_slot(w->f, dt, 1);
}

static thing
slots_for(walk *w, const td_type *t)
{
    thing p = {.type = t};

    switch ((td_tkind)t->kind) {
    case TD_T_NUM:
        p.num = td_num_slot(w->f, t->dt, 1);
        if (is_mixed(&p))
            p.tag = slot(w, TD_U8);
        break;
    case TD_T_TUPLE:
    case TD_T_SLICE:
    case TD_T_RANGE:
    case TD_T_ITER:
        p.item = td_alloc(w->mem, (t->n + 1) * sizeof *p.item);
        for (uint32_t i = 0; i < t->n; i++)
            p.item[i] = slots_for(w, t->item[i]);
        break;
    case TD_T_BOX: p.num = (td_num){slot(w, TD_U64), TD_NONE}; break;
    case TD_T_RECORD:
    case TD_T_ARRAY:
        p.view = td_alloc(w->mem, sizeof *p.view);
        *p.view = (view){.base = slot(w, TD_U64), .offset = slot(w, TD_I64), .arg = NO_ARG};
        p.view->mask = w->how->debug ? slot(w, TD_BOOL) : TD_NONE;
        for (uint32_t i = 0; i < t->ndim; i++) {
            p.view->shape[i] = dim_of(slot(w, TD_I64));
            p.view->stride[i] = dim_of(slot(w, TD_I64));
        }
        break;
    case TD_T_NONE:
    case TD_T_OBJECT: break;
    }
    return p;
}

static void
clear_slot(walk *w, td_val s)
{
    if (s.i != UINT32_MAX)
        td_set(w->f, s, td_const_int(w->f, (td_dtype)td_at(w->f, s)->dt, 0));
}

static void
clear_slots(walk *w, const thing *p)
{
    bool many = p->type->kind != TD_T_ARRAY && p->type->kind != TD_T_RECORD && p->item;

    if (is_num(p)) {
        clear_slot(w, p->num.re);
        if (td_num_is_pair(p->num))
            clear_slot(w, p->num.im);
        if (is_mixed(p))
            clear_slot(w, p->tag);
    }
    if (is_box(p))
        clear_slot(w, p->num.re);
    if (p->view) {
        clear_slot(w, p->view->base);
        clear_slot(w, p->view->offset);
        clear_slot(w, p->view->mask);
        for (uint32_t i = 0; i < p->type->ndim; i++) {
            clear_slot(w, p->view->shape[i].v);
            clear_slot(w, p->view->stride[i].v);
        }
    }
    for (uint32_t i = 0; many && i < p->type->n; i++)
        clear_slots(w, &p->item[i]);
}

place
place_new(walk *w, const join *j)
{
    return (place){.slots = slots_for(w, j->type),
                   .nonneg = j->nonneg,
                   .small = j->small,
                   .maybe = j->unbound,
                   .given = j->unbound && j->asked ? slot(w, TD_BOOL) : TD_NONE};
}

place
place_empty(walk *w, const join *j)
{
    place p = place_new(w, j);

    clear_slots(w, &p.slots);
    clear_slot(w, p.given);
    return p;
}

static void
set_view(walk *w, const thing *p, const thing *x)
{
    const view *s = p->view, *v = x->view;

    td_set(w->f, s->base, td_address(w->f, v->base));
    td_set(w->f, s->offset, v->offset.i == UINT32_MAX ? td_const_int(w->f, TD_I64, 0) : v->offset);
    if (s->mask.i != UINT32_MAX) /* what a failed check left out stays left out */
        td_set(w->f, s->mask, v->mask.i == UINT32_MAX ? td_const_int(w->f, TD_BOOL, 1) : v->mask);
    for (uint32_t i = 0; i < p->type->ndim; i++) {
        dim stride = stride_of(w, x, i);

        td_set(w->f, s->shape[i].v, dim_val(w, &v->shape[i]));
        td_set(w->f, s->stride[i].v, dim_val(w, &stride));
    }
    note_alias(w, v); /* what is written through the variable may be written through its source */
}

/* x as a value of type t, which the two were joined to: an object of the runtime, or an optional value. */
static td_status
as_joined(walk *w, const td_type *t, thing *x)
{
    const td_type *value = td_type_optional_of(t);

    if (t->kind == TD_T_BOX) {
        if (is_none(x) && t->ndim == TD_BOX_OBJECT)
            *x = box_thing(w, t, td_const_int(w->f, TD_U64, 0));
        return boxed(w, x);
    }
    if (are_alike(t, x->type) && t != x->type) {
        const td_type *item[64];

        own_items(w, x);
        for (uint32_t i = 0; i < t->n; i++) {
            TD_TRY(as_joined(w, t->item[i], &x->item[i]));
            item[i] = x->item[i].type;
        }
        x->type = td_type_tuple_like(x->type, item);
        return TD_OK;
    }
    if (!value || x->type == t)
        return TD_OK;
    if (value->kind == TD_T_BOX)
        TD_TRY(boxed(w, x));
    *x = optional_as(w, x, t);
    return TD_OK;
}

static td_status
set_slots(walk *w, const thing *p, const thing *from)
{
    thing own = *from, *x = &own;

    TD_TRY(as_joined(w, p->type, x));
    switch ((td_tkind)p->type->kind) {
    case TD_T_NUM:
        if (!is_mixed(p)) {
            td_num_set(w->f, p->num, num_as(w, x, p->type->dt));
            break;
        }
        if (is_complex(p))
            td_num_set(w->f, p->num, exact_pair(w, x, true));
        else
            td_set(w->f, p->num.re, exact_raw(w, x, (td_dtype)p->type->dt, true));
        td_set(w->f, p->tag, exact_tag(w, x));
        break;
    case TD_T_TUPLE:
    case TD_T_SLICE:
    case TD_T_RANGE:
    case TD_T_ITER:
        for (uint32_t i = 0; i < p->type->n; i++)
            TD_TRY(set_slots(w, &p->item[i], &x->item[i]));
        break;
    case TD_T_BOX:    td_set(w->f, p->num.re, x->num.re); break;
    case TD_T_RECORD:
    case TD_T_ARRAY:  set_view(w, p, x); break;
    case TD_T_NONE:
    case TD_T_OBJECT: break;
    }
    return TD_OK;
}

td_status
place_set(walk *w, const place *p, const thing *x)
{
    thing own = *x;

    TD_TRY(as_joined(w, p->slots.type, &own));
    x = &own;
    if (join_types(w, p->slots.type, x->type) != p->slots.type || (x->maybe && !p->maybe)) {
        w->again = true; /* the join has grown meanwhile, so this walk's code is not kept */
        return TD_OK;
    }
    TD_TRY(set_slots(w, &p->slots, x));
    if (p->given.i == UINT32_MAX)
        return built(w, w->node);
    if (x->maybe && x->given.i == UINT32_MAX) /* asked for in this walk only */
        w->again = true;
    else
        td_set(w->f, p->given, x->maybe ? x->given : td_const_int(w->f, TD_BOOL, 1));
    return built(w, w->node);
}

static thing
get_slots(walk *w, const thing *p, bool nonneg)
{
    thing x = {.type = p->type};

    switch ((td_tkind)p->type->kind) {
    case TD_T_NUM:
        x = num_of(p->type, td_num_get(w->f, p->num));
        x.nonneg = nonneg;
        if (is_mixed(p))
            x.tag = td_get(w->f, p->tag);
        break;
    case TD_T_TUPLE:
    case TD_T_SLICE:
    case TD_T_RANGE:
    case TD_T_ITER:
        x.item = td_alloc(w->mem, (p->type->n + 1) * sizeof *x.item);
        for (uint32_t i = 0; i < p->type->n; i++)
            x.item[i] = get_slots(w, &p->item[i], false);
        break;
    case TD_T_BOX: x.num = (td_num){td_get(w->f, p->num.re), TD_NONE}; break;
    case TD_T_RECORD:
    case TD_T_ARRAY:
        x.view = td_alloc(w->mem, sizeof *x.view);
        *x.view = *p->view;
        x.view->base = td_pointer(w->f, td_get(w->f, p->view->base), memory_dtype(p->type));
        x.view->offset = td_get(w->f, p->view->offset);
        if (p->view->mask.i != UINT32_MAX)
            x.view->mask = td_get(w->f, p->view->mask);
        for (uint32_t i = 0; i < p->type->ndim; i++) {
            x.view->shape[i] = dim_of(td_get(w->f, p->view->shape[i].v));
            x.view->stride[i] = dim_of(td_get(w->f, p->view->stride[i].v));
        }
        break;
    case TD_T_NONE:
    case TD_T_OBJECT: break;
    }
    return x;
}

thing
place_get(walk *w, const place *p)
{
    thing x = get_slots(w, &p->slots, p->nonneg);

    x.small = p->small;
    x.maybe = p->maybe;
    x.given = p->given.i == UINT32_MAX ? TD_NONE : td_get(w->f, p->given);
    return x;
}

thing
stand_in(walk *w, const td_type *t)
{
    join j = {.type = t};
    place p = place_new(w, &j);

    return place_get(w, &p);
}
