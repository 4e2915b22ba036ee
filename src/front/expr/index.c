/* index.c - positions, slices and views: a[key] of arrays, and elements that arrays choose. */
#include "front/infer/box.h"
#include "front/infer/exact.h"
#include "front/infer/lazy.h"
#include "front/infer/walk.h"

#include <string.h>

/* ---- one index ---- */

static td_val
zero(walk *w)
{
    return td_const_int(w->f, TD_I64, 0);
}

td_val
position(walk *w, const thing *i, const dim *n)
{
    td_val v;
    int64_t k;

    if (known_int(i, &k))
        return k >= 0 ? td_const_int(w->f, TD_I64, k)
                      : TD_E2(w->f, add, dim_val(w, n), td_const_int(w->f, TD_I64, k));
    v = val_as(w, i, TD_I64);
    if (i->nonneg)
        return v;
    return TD_E3(w->f, select, TD_E2(w->f, less, v, zero(w)), TD_E2(w->f, add, v, dim_val(w, n)),
                 v);
}

/* Debug mode: *ok tells whether 0 <= v < shape[axis]; if not, the program reports it to the host.  TD_NONE: it is known
 * to be.  name: "" for an unnamed array. */
td_status
check_range(walk *w, const char *name, const dim *shape, uint32_t ndim, uint32_t axis, td_val v,
            const thing *given, uint32_t node, td_val *ok)
{
    thing value[TD_REPORT_VALUES];
    bool numbered = w->how->numbered || w->exact;
    uint32_t n = 0, site, number = numbered ? w->made->nindex++ : 0;
    int verdict = numbered && w->how->verdict ? w->how->verdict[number] : TD_CHECK_OPEN;

    *ok = TD_NONE;
    if (verdict == TD_CHECK_HOLDS)
        return TD_OK;
    *ok = TD_E2(w->f, less, td_cast(w->f, v, TD_U64),
                td_cast(w->f, dim_val(w, &shape[axis]), TD_U64));
    if (numbered && w->how->marked && !w->f->st) {
        w->f->ins[ok->i].flags |= TD_INST_CHECK;
        w->f->ins[ok->i].imm = number;
    }
    if (w->exact) {
        exact_flag(w, TD_E1(w->f, logical_not, *ok));
        return built(w, node);
    }
    if (verdict == TD_CHECK_TOLD)
        return built(w, node);
    site = site_new(w, TD_REPORT_INDEX, node, name);
    value[n++] = num_int(axis);
    value[n++] = *given;
    for (uint32_t i = 0; i < ndim && n < TD_REPORT_VALUES; i++)
        value[n++] = dim_thing(&shape[i]);
    td_if(w->f, TD_E1(w->f, logical_not, *ok));
    TD_TRY(report_fail(w, site, value, n));
    td_end(w->f);
    return built(w, node);
}

/* check_range for an axis of an array; the view's mask suppresses accesses whose check failed. */
static td_status
check_index(walk *w, const thing *a, view *r, uint32_t axis, td_val v, const thing *given,
            uint32_t node)
{
    const view *from = a->view;
    td_val ok;

    TD_TRY(check_range(w, from->name ? from->name : "", from->shape, a->type->ndim, axis, v, given,
                       node, &ok));
    if (ok.i != UINT32_MAX)
        r->mask = r->mask.i == UINT32_MAX ? ok : TD_E2(w->f, logical_and, r->mask, ok);
    return TD_OK;
}

/* ---- slices ---- */

static td_val
clamp(walk *w, td_val v, td_val lo, td_val hi)
{
    return TD_E2(w->f, minimum, TD_E2(w->f, maximum, v, lo), hi);
}

/* One end of a slice on an axis of extent n, by Python's rules for a step of that sign. */
static td_val
slice_end(walk *w, const thing *x, const dim *n, bool up, bool is_start)
{
    td_val len = dim_val(w, n), least = up ? zero(w) : td_const_int(w->f, TD_I64, -1);
    td_val most = up ? len : TD_E2(w->f, subtract, len, td_const_int(w->f, TD_I64, 1));
    td_val none = is_start == up ? least : most, given;
    thing value = *x;

    if (is_none(x))
        return none;
    given = optional_given(w, &value);
    value.num.re = clamp(w, position(w, &value, n), least, most);
    return given.i == UINT32_MAX ? value.num.re : TD_E3(w->f, select, given, value.num.re, none);
}

/* A slice whose step only the running program knows: computes the ends for both signs, and selects. */
static td_status
slice_by_any(walk *w, const thing *s, const dim *n, td_val *start, dim *count, dim *step)
{
    td_val zeros = zero(w), one = td_const_int(w->f, TD_I64, 1), end[2], span, size, k, up;
    thing by = s->item[2];
    td_val given = optional_given(w, &by);

    k = val_as(w, &by, TD_I64);
    if (given.i != UINT32_MAX)
        k = TD_E3(w->f, select, given, k, one);
    up = TD_E2(w->f, greater, k, zeros);
    if (w->how->mode != TD_MODE_KERNEL || w->how->debug)
        TD_TRY(must(w, TD_E2(w->f, not_equal, k, zeros), TD_REPORT_VALUE,
                    "slice step cannot be zero", NULL, 0));
    for (int i = 0; i < 2; i++)
        end[i] = TD_E3(w->f, select, up, slice_end(w, &s->item[i], n, true, i == 0),
                       slice_end(w, &s->item[i], n, false, i == 0));
    /* kernels do not check for a step of 0 */
    size = TD_E2(w->f, maximum, TD_E1(w->f, absolute, k), one);
    span = TD_E2(w->f, subtract, end[1], end[0]);
    span = TD_E3(w->f, select, up, span, TD_E2(w->f, subtract, zeros, span));
    span = TD_E2(w->f, add, span, TD_E2(w->f, subtract, size, one));
    *start = end[0];
    *count = dim_of(TD_E2(w->f, maximum, TD_E2(w->f, floor_divide, span, size), zeros));
    *step = dim_of(k);
    return TD_OK;
}

static td_status
slice_axis(walk *w, const thing *s, const dim *n, uint32_t node, td_val *start, dim *count,
           dim *step)
{
    int64_t k = 1;
    td_val lo, hi, span;

    if (!is_none(&s->item[2]) && !known_int(&s->item[2], &k))
        return slice_by_any(w, s, n, start, count, step);
    if (k == 0)
        return bad(w, node, TD_ERR_VALUE, "slice step cannot be zero");
    *step = dim_known(k);
    if (is_none(&s->item[0]) && is_none(&s->item[1]) && k == 1) {
        *start = TD_NONE;
        *count = *n;
        return TD_OK;
    }
    lo = slice_end(w, &s->item[0], n, k > 0, true);
    hi = slice_end(w, &s->item[1], n, k > 0, false);
    *start = lo;
    span = k > 0 ? TD_E2(w->f, subtract, hi, lo) : TD_E2(w->f, subtract, lo, hi);
    if (k != 1 && k != -1) {
        int64_t m = k < 0 ? -k : k;

        span = TD_E2(w->f, floor_divide, TD_E2(w->f, add, span, td_const_int(w->f, TD_I64, m - 1)),
                     td_const_int(w->f, TD_I64, m));
    }
    *count = dim_of(TD_E2(w->f, maximum, span, zero(w)));
    return TD_OK;
}

/* ---- a[key] ---- */

static td_val
add_to(walk *w, td_val sum, td_val v)
{
    return sum.i == UINT32_MAX ? v : TD_E2(w->f, add, sum, v);
}

typedef struct cut { /* a view in progress */
    const thing *a;
    view *r;
    uint32_t axis; /* the next axis of a */
    uint32_t ndim; /* axes of r so far */
    /* an axis was dropped after one that was kept, or sliced: no longer C-contiguous */
    bool strided;
    bool kept;
    /* an axis was dropped or sliced before one that was kept: no longer Fortran-contiguous */
    bool gapped;
    bool ended;
} cut;

static void
shift_view(walk *w, cut *c, td_val by)
{
    dim s = stride_of(w, c->a, c->axis);
    dim step = dim_mul(w, dim_of(by), s);

    c->r->offset = add_to(w, c->r->offset, step.v);
}

static td_status
cut_one(walk *w, cut *c, const thing *k, uint32_t node)
{
    const dim *n = &c->a->view->shape[c->axis];

    if (c->axis >= c->a->type->ndim)
        return bad(w, node, TD_ERR_VALUE, "%s has %u dims: too many indices", c->a->type->name,
                   c->a->type->ndim);
    if (is_int(k)) {
        td_val v = position(w, k, n);

        if (w->how->debug)
            TD_TRY(check_index(w, c->a, c->r, c->axis, v, k, node));
        shift_view(w, c, v);
        if (c->a->view->axis[c->axis] >= 0)
            c->r->at[c->a->view->axis[c->axis]] = lin_index(w, k);
        c->strided = c->strided || c->kept;
        c->ended = true;
    } else if (k->type->kind == TD_T_SLICE) {
        td_val start = TD_NONE;
        dim count, step, s = stride_of(w, c->a, c->axis);
        bool whole;

        TD_TRY(slice_axis(w, k, n, node, &start, &count, &step));
        whole = start.i == UINT32_MAX;
        if (!whole)
            shift_view(w, c, start);
        c->strided = c->strided || (c->kept && !whole) || step.known != 1;
        c->r->axis[c->ndim] = whole ? c->a->view->axis[c->axis] : -1;
        c->r->shape[c->ndim] = count;
        c->r->stride[c->ndim++] = dim_mul(w, s, step);
        c->kept = true;
        c->gapped = c->gapped || c->ended || step.known != 1;
        c->ended = c->ended || !whole;
    } else {
        return bad(w, node, TD_ERR_TYPE,
                   "an array is indexed by integers, slices, ... and None in a kernel, not %s",
                   k->type->name);
    }
    c->axis++;
    return TD_OK;
}

static bool
is_ellipsis(walk *w, const thing *k)
{
    td_objinfo info = {0};

    return k->type->kind == TD_T_OBJECT &&
           !w->host->describe(w->host->ctx, k->type->object, &info) && info.kind == TD_OBJ_ELLIPSIS;
}

thing
slice_of(walk *w, const thing *start, const thing *stop, const thing *step)
{
    const thing *given[3] = {start, stop, step};
    thing r = {.item = td_alloc(w->mem, 3 * sizeof r)};
    const td_type *type[3];

    for (int i = 0; i < 3; i++) {
        r.item[i] = *given[i];
        type[i] = given[i]->type;
    }
    r.type = td_type_slice(type);
    return r;
}

td_status
new_slice(walk *w, const thing part[3], uint32_t node, thing *out)
{
    for (int i = 0; i < 3; i++) {
        thing value = part[i];

        if (is_none(&value))
            continue;
        optional_given(w, &value);
        if (!is_int(&value))
            return bad(w, node, TD_ERR_TYPE, "a slice is of integers and None, not %s",
                       part[i].type->name);
    }
    *out = slice_of(w, &part[0], &part[1], &part[2]);
    return TD_OK;
}

static td_status
cut_rest(walk *w, cut *c, uint32_t until)
{
    thing none = {.type = td_type_none()}, whole = slice_of(w, &none, &none, &none);

    while (c->axis < until)
        TD_TRY(cut_one(w, c, &whole, w->node));
    return TD_OK;
}

static bool
is_listed(const thing *k)
{
    return k->listed || box_is(k, TD_BOX_LIST);
}

static bool
has_list(const thing *key)
{
    for (uint32_t i = 0; key->type->kind == TD_T_TUPLE && i < key->type->n; i++)
        if (is_listed(&key->item[i]))
            return true;
    return is_listed(key);
}

static td_status
list_as_places(walk *w, thing *k)
{
    if (!is_listed(k))
        return TD_OK;
    TD_TRY(box_is(k, TD_BOX_LIST) ? box_array(w, k, k) : tuple_array(w, k, NULL, w->node, k));
    return settle(w, k);
}

/* Is a list written in the index? Where there are no lists, its value is a tuple. */
static bool
writes_list(walk *w, uint32_t node)
{
    uint32_t items = kind_of(w, node) == TD_SYN_Tuple ? F(node, Tuple_elts) : 0;

    for (uint32_t i = 0; items && i < count_of(w, items); i++)
        if (kind_of(w, item_of(w, items, i)) == TD_SYN_List)
            return true;
    return kind_of(w, node) == TD_SYN_List;
}

td_status
lists_as_places(walk *w, const thing *a, uint32_t node, thing *key)
{
    thing own = *key;

    if (a->type->kind != TD_T_ARRAY)
        return TD_OK;
    if (!box_may(w) && writes_list(w, node))
        return bad(w, node, TD_ERR_TYPE, "a list is no index here: make an array of it");
    if (!box_may(w) || w->exact || !has_list(key))
        return TD_OK;
    if (is_listed(key))
        return list_as_places(w, key);
    own.item = td_alloc(w->mem, key->type->n * sizeof *own.item);
    copy_things(own.item, key->item, key->type->n);
    for (uint32_t i = 0; i < key->type->n; i++)
        TD_TRY(list_as_places(w, &own.item[i]));
    *key = tuple_of(w, own.item, key->type->n);
    return TD_OK;
}

/* a[key] as a view; ndim 0 is an element. */
static td_status
cut_view(walk *w, const thing *a, const thing *key, uint32_t node, thing *out)
{
    bool many = key->type->kind == TD_T_TUPLE;
    const thing *k = many ? key->item : key;
    uint32_t n = many ? key->type->n : 1, real = 0;
    cut c = {.a = a, .r = td_alloc(w->mem, sizeof *c.r)};
    char layout;

    if (has_list(key))
        return bad(w, node, TD_ERR_TYPE, "a list is no index here: make an array of it");
    *c.r = *a->view;
    for (uint32_t i = 0; i < n; i++)
        real += !is_none(&k[i]) && !is_ellipsis(w, &k[i]);
    if (real > a->type->ndim)
        return bad(w, node, TD_ERR_VALUE, "%s has %u dims: %u indices are too many", a->type->name,
                   a->type->ndim, real);
    for (uint32_t i = 0; i < n; i++) {
        if (is_ellipsis(w, &k[i])) {
            uint32_t behind = 0;

            for (uint32_t j = i + 1; j < n; j++)
                behind += !is_none(&k[j]);
            TD_TRY(cut_rest(w, &c, a->type->ndim - behind));
        } else if (is_none(&k[i])) {
            c.r->axis[c.ndim] = -1;
            c.r->shape[c.ndim] = dim_known(1);
            c.r->stride[c.ndim++] = dim_known(0);
            c.strided = c.gapped = true;
        } else {
            TD_TRY(cut_one(w, &c, &k[i], node));
        }
    }
    TD_TRY(cut_rest(w, &c, a->type->ndim));
    layout = c.ndim == 0                            ? 'C'
             : a->type->layout == 'C' && !c.strided ? 'C'
             : a->type->layout == 'F' && !c.gapped  ? 'F'
                                                    : 'A';
    *out = (thing){.type = td_type_array(a->type->item[0], c.ndim, layout, a->type->readonly),
                   .view = c.r};
    return built(w, node);
}

td_status
element_view(walk *w, const thing *a, const thing *key, uint32_t node, thing *out)
{
    return cut_view(w, a, key, node, out);
}

/* ---- a[places], a[mask]: elements that arrays choose ---- */

static bool
is_places(const thing *k)
{
    return is_array(k) && k->type->item[0]->kind == TD_T_NUM;
}

bool
chooses(const thing *key)
{
    for (uint32_t i = 0; key->type->kind == TD_T_TUPLE && i < key->type->n; i++)
        if (is_places(&key->item[i]))
            return true;
    return is_places(key);
}

/* The key without its one array: the view in which that array chooses along *axis. */
static td_status
view_for_places(walk *w, const thing *a, const thing *key, uint32_t node, uint32_t *axis,
                thing *out)
{
    thing own = *key, whole, none = {.type = td_type_none()};
    uint32_t at = 0, first = UINT32_MAX, last = 0, chosen = 0;

    own.item = td_alloc(w->mem, key->type->n * sizeof *own.item);
    *axis = 0;
    whole = slice_of(w, &none, &none, &none);
    for (uint32_t i = 0; i < key->type->n; i++) {
        own.item[i] = is_places(&key->item[i]) ? whole : key->item[i];
        if (is_places(&key->item[i]))
            at = *axis;
        if (is_places(&key->item[i]) || is_int(&key->item[i])) {
            first = first == UINT32_MAX ? i : first;
            last = i;
            chosen++;
        }
        if (is_ellipsis(w, &key->item[i]))
            return bad(w, node, TD_ERR_TYPE,
                       "an array of indices does not go with ... here: write the slices");
        *axis += !is_int(&own.item[i]);
    }
    *axis = at;
    own = tuple_of(w, own.item, key->type->n);
    if (last - first + 1 != chosen) /* NumPy puts the axis of the indices first then */
        return bad(w, node, TD_ERR_TYPE,
                   "a slice between an array of indices and a number, for %s: take the part that "
                   "the number names before",
                   a->type->name);
    return cut_view(w, a, &own, node, out);
}

td_status
array_chosen(walk *w, const thing *a, const thing *key, const thing *x, uint32_t node, thing *out)
{
    static const char *const names[][2] = {{"a[places]", "a[places] = x"},
                                           {"a[mask]", "a[mask] = x"},
                                           {"a[:, places]", "a[:, places] = x"},
                                           {"a[rows, columns]", "a[rows, columns] = x"}};
    bool many = key->type->kind == TD_T_TUPLE;
    thing from = *a, arg[TD_MAXDIM_KERNEL + 1];
    call c = {.node = node, .arg = arg};
    uint32_t axis = 0;
    int name;

    TD_TRY(settle(w, &from));
    for (uint32_t i = 0; i < (many ? key->type->n : 1) && c.n < TD_MAXDIM_KERNEL; i++)
        if (!many || is_places(&key->item[i]))
            arg[c.n++] = many ? key->item[i] : *key;
    if (c.n > 1 && (c.n != 2 || key->type->n != 2 || from.type->ndim != 2))
        return bad(w, node, TD_ERR_TYPE,
                   "several arrays of indices choose among the elements of a matrix, one for the "
                   "rows and one for the columns, not in %s",
                   a->type->name);
    if (many && c.n == 1)
        TD_TRY(view_for_places(w, &from, key, node, &axis, &from));
    if (axis > 1)
        return bad(w, node, TD_ERR_TYPE,
                   "an array of indices chooses along the first axis or the second, not in %s",
                   a->type->name);
    name = c.n == 2 ? 3 : axis ? 2 : arg[0].type->item[0]->dt == TD_BOOL ? 1 : 0;
    if (x)
        arg[c.n++] = *x;
    return call_stand_in(w, names[name][x != NULL], &from, &c, out);
}

td_status
array_index(walk *w, const thing *a, const thing *key, uint32_t node, thing *out)
{
    td_objinfo info = {0};

    if (key->type->kind == TD_T_OBJECT && is_records(a->type))
        TD_TRY(w->host->describe(w->host->ctx, key->type->object, &info));
    if (info.kind == TD_OBJ_STR)
        return record_field(w, a, info.text, node, out);
    if (box_may(w) && a->type->ndim && chooses(key))
        return array_chosen(w, a, key, NULL, node, out);
    if (is_packed(a)) {
        TD_TRY(packed_cut(w, a, key, false, node, out));
        return loaded(w, out);
    }
    if (a->lazy) {
        thing own = *a;

        TD_TRY(settle(w, &own));
        TD_TRY(cut_view(w, &own, key, node, out));
        return loaded(w, out);
    }
    TD_TRY(cut_view(w, a, key, node, out));
    return loaded(w, out);
}
