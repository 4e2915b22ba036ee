/* items.c - t[key] of tuples: items, chosen when compiling or by the running program, and slices. */
#include "front/infer/box.h"
#include "front/infer/exact.h"
#include "front/infer/lazy.h"
#include "front/infer/walk.h"

/* A tuple's items. Constant strings, where all are such, become values of one type. */
static td_status
items_to_choose(walk *w, const thing *t, thing **out)
{
    thing *item = td_alloc(w->mem, t->type->n * sizeof *item);
    bool texts = box_may(w);

    for (uint32_t i = 0; i < t->type->n; i++) {
        item[i] = t->item[i];
        texts = texts && is_text(w, &item[i]);
    }
    for (uint32_t i = 0; texts && i < t->type->n; i++)
        TD_TRY(boxed(w, &item[i]));
    *out = item;
    return TD_OK;
}

/* t[at] of arrays and the like: they meet in one type, and the chosen one goes through a place. */
static td_status
tuple_choose_any(walk *w, const thing *t, const thing *at, uint32_t node, thing *out)
{
    thing *item;
    join j = {0};
    place p;

    TD_TRY(items_to_choose(w, t, &item));
    j.type = item[0].type;
    for (uint32_t i = 1; i < t->type->n; i++) {
        const td_type *both = join_types(w, j.type, item[i].type);

        if (!both)
            return bad(w, node, TD_ERR_TYPE,
                       "an index that is known only at run time chooses among values of one type; "
                       "%s holds %s and %s",
                       t->type->name, j.type->name, item[i].type->name);
        j.type = both;
    }
    p = place_new(w, &j);
    TD_TRY(place_set(w, &p, &item[t->type->n - 1]));
    for (uint32_t i = 0; i + 1 < t->type->n; i++) {
        thing k = num_int(i), is;

        TD_TRY(num_compare(w, TD_SYN_Eq, at, &k, &is));
        td_if(w->f, val_as(w, &is, TD_BOOL));
        TD_TRY(place_set(w, &p, &item[i]));
        td_end(w->f);
    }
    *out = place_get(w, &p);
    return built(w, node);
}

static td_status
tuple_choose(walk *w, const thing *t, const thing *key, uint32_t node, thing *out)
{
    thing at = *key, got = t->item[t->type->n - 1];
    dim all = {TD_NONE, t->type->n};
    bool numbers = true;
    td_val ok;

    for (uint32_t i = 0; i < t->type->n; i++)
        numbers = numbers && is_num(&t->item[i]);
    if (w->exact && !numbers)
        return bad(w, node, TD_ERR_TYPE,
                   "an index that is known only at run time chooses among numbers; %s holds others",
                   t->type->name);
    if (w->exact) {
        td_val k;

        exact_pure(w, &at, EXACT_BOOL);
        k = val_as(w, &at, TD_I64);
        exact_flag(w, TD_E2(w->f, less, k, td_const_int(w->f, TD_I64, -(int64_t)t->type->n)));
        exact_flag(w, TD_E2(w->f, greater_equal, k, td_const_int(w->f, TD_I64, t->type->n)));
    }
    if (!at.nonneg)
        at = num_index(position(w, key, &all), true);
    if (w->how->debug)
        TD_TRY(check_range(w, "", &all, 1, 0, val_as(w, &at, TD_I64), key, node, &ok));
    if (!numbers)
        return tuple_choose_any(w, t, &at, node, out);
    for (uint32_t i = t->type->n - 1; i-- > 0;) {
        thing k = num_int(i), is;

        TD_TRY(num_compare(w, TD_SYN_Eq, &at, &k, &is));
        TD_TRY(w->exact ? exact_select(w, &is, &t->item[i], &got, &got)
                        : num_op(w, OP_select, (thing[]){is, t->item[i], got}, 3, &got));
    }
    *out = got;
    return TD_OK;
}

static td_status
tuple_slice(walk *w, const thing *t, const thing *key, uint32_t node, thing *out)
{
    int64_t i, n = t->type->n, lim[3];
    thing *item = td_alloc(w->mem, (t->type->n + 1) * sizeof *item);
    uint32_t m = 0;

    for (int k = 0; k < 3; k++)
        if (is_none(&key->item[k]))
            lim[k] = INT64_MIN;
        else if (!known_int(&key->item[k], &lim[k]))
            return bad(w, node, TD_ERR_TYPE, "a tuple is sliced by numbers known when compiling");
    if (lim[2] == INT64_MIN)
        lim[2] = 1;
    if (lim[2] == 0)
        return bad(w, node, TD_ERR_VALUE, "slice step cannot be zero");
    for (int k = 0; k < 2; k++) {
        bool up = lim[2] > 0;
        int64_t least = up ? 0 : -1, most = up ? n : n - 1;

        if (lim[k] == INT64_MIN)
            lim[k] = (k == 0) == up ? least : most;
        else
            lim[k] = lim[k] < 0 ? lim[k] + n : lim[k];
        lim[k] = lim[k] < least ? least : lim[k] > most ? most : lim[k];
    }
    for (i = lim[0]; lim[2] > 0 ? i < lim[1] : i > lim[1]; i += lim[2])
        item[m++] = t->item[i];
    *out = tuple_of(w, item, m);
    return TD_OK;
}

td_status
tuple_index(walk *w, const thing *t, const thing *key, uint32_t node, thing *out)
{
    int64_t i, n = t->type->n;

    if (key->type->kind == TD_T_SLICE)
        return tuple_slice(w, t, key, node, out);
    if (!is_int(key))
        return bad(w, node, TD_ERR_TYPE, "a tuple is indexed by an integer, not %s",
                   key->type->name);
    if (n == 0)
        return bad(w, node, TD_ERR_INDEX, "index of an empty tuple");
    if (!known_int(key, &i))
        return tuple_choose(w, t, key, node, out);
    if (i < -n || i >= n)
        return bad(w, node, TD_ERR_INDEX, "index %lld of a tuple of %lld", (long long)i,
                   (long long)n);
    *out = t->item[i < 0 ? i + n : i];
    return TD_OK;
}
