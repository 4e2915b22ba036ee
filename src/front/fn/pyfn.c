/* pyfn.c - Python's builtin functions, and iteration. */
#include "front/infer/box.h"
#include "front/infer/exact.h"
#include "front/infer/intrin.h"
#include "front/infer/lazy.h"

#include <string.h>

/* ---- range ---- */

td_status
fn_range(walk *w, const call *c, int number, thing *out)
{
    thing part[3] = {num_int(0), num_int(0), num_int(1)};
    const td_type *type[3];

    TD_TRY(want_args(w, c, "range", 1, 3));
    for (uint32_t i = 0; i < c->n; i++) {
        thing x = c->arg[i];

        if (w->numba && is_num(&x) && td_dtype_is_float(x.type->dt)) /* Numba cuts floats */
            x = num_convert(w, &x, td_type_num(TD_I64));
        if (!is_int(&x))
            return bad(w, c->node, TD_ERR_TYPE, "range takes integers, not %s: write int(…)",
                       x.type->name);
        part[c->n == 1 ? 1 : i] = x;
    }
    if (part[2].known && part[2].lit.i == 0)
        return bad(w, c->node, TD_ERR_VALUE, "range() arg 3 must not be zero");
    if (!part[2].known && !w->exact && w->how->mode != TD_MODE_KERNEL && num_least(&part[2]) <= 0)
        TD_TRY(must(
            w, TD_E2(w->f, not_equal, val_as(w, &part[2], TD_I64), td_const_int(w->f, TD_I64, 0)),
            TD_REPORT_VALUE, "range() arg 3 must not be zero", NULL, 0));
    *out = (thing){.item = td_alloc(w->mem, sizeof part)};
    for (int i = 0; i < 3; i++) {
        out->item[i] = part[i];
        type[i] = part[i].type;
    }
    out->type = td_type_range(type);
    out->prange = td_intrinsics[number].row;
    return TD_OK;
}

/* How many numbers range(from, to, step) has, step not 0; more than an int64 counts are as many as it does. */
static int64_t
range_count(int64_t from, int64_t to, int64_t step)
{
    uint64_t lo = (uint64_t)(step > 0 ? from : to), hi = (uint64_t)(step > 0 ? to : from),
             by = step > 0 ? (uint64_t)step : 0 - (uint64_t)step, n;

    if ((int64_t)lo >= (int64_t)hi)
        return 0;
    n = (hi - lo - 1) / by;
    return n < INT64_MAX ? (int64_t)n + 1 : INT64_MAX;
}

/* The length of range(lo, hi, step); 0 if the step is 0, which kernels do not look for. */
static td_status
range_length(walk *w, const thing *r, thing *n)
{
    const thing *lo = &r->item[0], *hi = &r->item[1], *step = &r->item[2];
    td_val a = val_as(w, lo, TD_I64), b = val_as(w, hi, TD_I64),
           zero = td_const_int(w->f, TD_I64, 0);
    int64_t from, to, k;
    td_val s, up, span, one;

    if (known_int(step, &k) && known_int(lo, &from) && known_int(hi, &to)) {
        *n = num_int(range_count(from, to, k));
        return TD_OK;
    }
    if (known_int(step, &k) && k == 1) {
        *n = num_index(known_int(lo, &from) && from == 0 ? b : TD_E2(w->f, subtract, b, a), false);
        return TD_OK;
    }
    s = val_as(w, step, TD_I64);
    span = TD_E2(w->f, subtract, b, a);
    if (!step->nonneg) {
        up = TD_E2(w->f, greater, s, zero);
        span = TD_E3(w->f, select, up, span, TD_E2(w->f, subtract, a, b));
        s = TD_E1(w->f, absolute, s);
    }
    one = td_const_int(w->f, TD_I64, 1);
    span = TD_E2(w->f, add, TD_E2(w->f, subtract, span, one), s);
    *n = num_index(TD_E3(w->f, select, TD_E2(w->f, less, span, zero), zero,
                         TD_E2(w->f, truncate_divide, span, s)),
                   false);
    return built(w, w->node);
}

static const lin *
range_lin(walk *w, const thing *r)
{
    thing at = num_index(td_const_int(w->f, TD_I64, 0), true), lo = r->item[0], by;
    int64_t step = 1; /* an unknown positive step counts as 1: lin then counts multiples of it */

    if (!w->item || (!known_int(&r->item[2], &step) && !r->item[2].nonneg))
        return NULL;
    by = num_int(step);
    at.lin = w->item;
    at.lin = lin_binary(w, TD_SYN_Mult, &at, &by);
    return lin_binary(w, TD_SYN_Add, &at, &lo);
}

void
range_facts(walk *w, const thing *r, thing *x)
{
    dim end;

    x->lin = range_lin(w, r);
    if (!x->nonneg || !range_goes_up(r))
        return;
    if (w->item && w->item->mul > 0)
        x->own = flat_variable(w, w->item->loop);
    end = dim_of_thing(w, &r->item[1]);
    x->bound = flat_below(w, &end);
}

bool
range_is_short(const thing *x)
{
    int64_t lo, hi, step;

    return x->type->kind == TD_T_RANGE && known_int(&x->item[0], &lo) &&
           known_int(&x->item[1], &hi) && known_int(&x->item[2], &step) &&
           (hi - lo) / (step ? step : 1) < 16;
}

bool
iter_runs(const thing *it)
{
    int64_t lo, hi, step;

    if (it->type->kind == TD_T_ARRAY)
        return it->view && it->type->ndim && it->view->shape[0].known > 0;
    return it->type->kind == TD_T_RANGE && known_int(&it->item[0], &lo) &&
           known_int(&it->item[1], &hi) && known_int(&it->item[2], &step) &&
           (step > 0 ? lo < hi : hi < lo);
}

static void
range_item(walk *w, const thing *r, td_val k, thing *out)
{
    int64_t from, to, step = 0;
    bool whole = known_int(&r->item[2], &step) && step == 1;
    td_val v = k;

    if (!whole)
        v = TD_E2(w->f, multiply, v, val_as(w, &r->item[2], TD_I64));
    if (!known_int(&r->item[0], &from) || from)
        v = TD_E2(w->f, add, v, val_as(w, &r->item[0], TD_I64));
    *out = num_index(v, step < 0 ? r->item[1].nonneg || (known_int(&r->item[1], &to) && to >= -1)
                                 : r->item[0].nonneg && (step > 0 || r->item[2].nonneg));
    range_facts(w, r, out);
}

bool
range_goes_up(const thing *x)
{
    int64_t step;

    return x->type->kind == TD_T_RANGE &&
           (known_int(&x->item[2], &step) ? step > 0 : x->item[2].nonneg);
}

td_val
range_for(walk *w, const thing *r)
{
    td_val step = val_as(w, &r->item[2], TD_I64);

    if (!r->item[2].known) /* a step of 0 raises in Python; here it would loop forever */
        step = TD_E2(w->f, maximum, step, td_const_int(w->f, TD_I64, 1));
    return td_for(w->f, val_as(w, &r->item[0], TD_I64), val_as(w, &r->item[1], TD_I64), step);
}

/* ---- iteration ---- */

/* Prepares to iterate over a typed list, dict or set: the runtime removes the gaps between the elements of a dict or
 * set, and their number is kept to notice a change. */
static td_status
iter_of_counted(walk *w, const thing *x, thing *out)
{
    thing own = is_counted(x) ? x->item[0] : *x;
    bool list = box_is(&own, TD_BOX_LIST);
    uint32_t which = is_counted(x) ? x->type->object : list ? ITER_MEMBERS : ITER_KEYS;
    const td_type *type[2] = {own.type, td_type_num(TD_I64)};
    td_val words;

    box_note(w);
    if (!list)
        TD_TRY(box_ask(w, TD_ASK_PACK, (td_val[]){own.num.re}, 1, &words));
    *out = (thing){.type = td_type_iter(which, type, 2),
                   .item = td_alloc(w->mem, 2 * sizeof *out->item)};
    out->item[0] = own;
    out->item[1] = num_val(TD_I64, box_head(w, &own, offsetof(td_box, n)));
    return built(w, w->node);
}

td_status
iter_of(walk *w, const thing *x, uint32_t node, thing *out)
{
    thing text;

    if (is_generator(x))
        return generator_misplaced(w, x);
    if (box_is(x, TD_BOX_DICT) || box_is(x, TD_BOX_SET) || is_counted(x) ||
        (box_is(x, TD_BOX_LIST) && box_site(w, x)->typed))
        return iter_of_counted(w, x, out);
    if (is_box(x)) {
        box_note(w);
        *out = *x;
        return TD_OK;
    }
    if (box_may(w) && is_text(w, x)) {
        text = *x;
        TD_TRY(boxed(w, &text));
        *out = text;
        return TD_OK;
    }
    switch ((td_tkind)x->type->kind) {
    case TD_T_RANGE:
    case TD_T_TUPLE:
    case TD_T_ITER:
        if (x->type->kind == TD_T_TUPLE || x->type->object < ITER_GRID || is_list(x))
            break; /* a named tuple's object is its class */
        /* fallthrough */
    case TD_T_ARRAY:
        if (x->type->ndim)
            break;
        /* fallthrough */
    default:
        return bad(w, node, TD_ERR_TYPE, "%s cannot be iterated over in a kernel", x->type->name);
    }
    *out = *x;
    TD_TRY(settle(w, out));
    if (x->type->kind == TD_T_ITER) { /* an iterator over tuples alone becomes a tuple */
        const thing *it = x->item;
        uint32_t n = UINT32_MAX;
        thing *item;

        for (uint32_t i = 0; i < x->type->n; i++) {
            if (it[i].type->kind != TD_T_TUPLE && !(x->type->object == ITER_ENUMERATE && i == 1))
                return TD_OK;
            if (it[i].type->kind == TD_T_TUPLE && it[i].type->n < n)
                n = it[i].type->n;
        }
        item = td_alloc(w->mem, (n + 1) * sizeof *item);
        for (uint32_t k = 0; k < n; k++)
            TD_TRY(iter_item(w, x, td_const_int(w->f, TD_I64, k), node, &item[k]));
        *out = tuple_of(w, item, n);
    }
    return TD_OK;
}

/* ---- numpy.ndindex, numpy.ndenumerate ---- */

static td_status
count_indices(walk *w, const thing *it, thing *n)
{
    *n = it->item[0];
    for (uint32_t i = 1; i < it->type->n; i++)
        TD_TRY(num_binary(w, TD_SYN_Mult, n, &it->item[i], n));
    n->nonneg = true;
    return TD_OK;
}

/* The index number k, in C order, of an array of the extents it->item. */
static td_status
index_number(walk *w, const thing *it, td_val k, thing *out)
{
    uint32_t n = it->type->n;
    thing *part = td_alloc(w->mem, n * sizeof *part);

    for (uint32_t i = n; i-- > 1;) {
        td_val extent = val_as(w, &it->item[i], TD_I64);

        part[i] = num_index(TD_E2(w->f, remainder, k, extent), true);
        k = TD_E2(w->f, truncate_divide, k, extent);
    }
    part[0] = num_index(k, true);
    *out = tuple_of(w, part, n);
    return TD_OK;
}

td_status
iter_length(walk *w, const thing *it, uint32_t node, thing *n)
{
    thing m;

    if (is_list(it))
        return exact_list_length(w, it, n);
    if (is_box(it) || is_counted(it))
        return box_length(w, is_box(it) ? it : &it->item[0], n);
    switch ((td_tkind)it->type->kind) {
    case TD_T_RANGE: return range_length(w, it, n);
    case TD_T_TUPLE: *n = num_int(it->type->n); return TD_OK;
    case TD_T_ARRAY: *n = dim_thing(&it->view->shape[0]); return TD_OK;
    case TD_T_ITER:  {
        uint32_t parts = it->type->object == ITER_ZIP ? it->type->n : 1;

        if (it->type->object == ITER_INDICES)
            return count_indices(w, it, n);
        if (it->type->object >= ITER_GRID) /* what len is asked of without iter_of */
            return bad(w, node, TD_ERR_TYPE, "%s has no length in a kernel", it->type->name);
        TD_TRY(iter_length(w, &it->item[0], node, n));
        for (uint32_t i = 1; i < parts; i++) {
            TD_TRY(iter_length(w, &it->item[i], node, &m));
            TD_TRY(num_op(w, OP_minimum, (thing[]){*n, m}, 2, n));
        }
        return TD_OK;
    }
    default:
        return bad(w, node, TD_ERR_TYPE, "%s cannot be iterated over in a kernel", it->type->name);
    }
}

/* The most iterations of a loop over `it`.  A list may change during the loop, so each iteration asks for its length. */
td_status
iter_limit(walk *w, const thing *it, uint32_t node, thing *n)
{
    uint32_t parts = it->type->object == ITER_ZIP ? it->type->n : 1;
    thing m;

    if (is_list(it)) {
        *n = num_int(exact_heap_words(w));
        return TD_OK;
    }
    if (is_box(it)) {
        *n = num_int(INT64_MAX);
        return TD_OK;
    }
    if (is_counted(it)) { /* one more iteration, to check that the box has not changed */
        *n = num_int(1);
        return num_binary(w, TD_SYN_Add, &it->item[1], n, n);
    }
    if (it->type->kind != TD_T_ITER || it->type->object == ITER_REVERSED ||
        it->type->object == ITER_INDICES)
        return iter_length(w, it, node, n);
    TD_TRY(iter_limit(w, &it->item[0], node, n));
    for (uint32_t i = 1; i < parts; i++) {
        TD_TRY(iter_limit(w, &it->item[i], node, &m));
        TD_TRY(num_op(w, OP_minimum, (thing[]){*n, m}, 2, n));
    }
    return TD_OK;
}

td_status
iter_item(walk *w, const thing *it, td_val k, uint32_t node, thing *out)
{
    thing key = num_index(k, true), n;
    const lin *item = w->item;
    td_status st;
    thing *pair;

    if (is_list(it))
        return exact_list_item(w, it, k, out);
    if (is_box(it))
        return box_item(w, it, k, node, out);
    if (is_counted(it))
        return box_is(&it->item[0], TD_BOX_LIST)
                   ? list_item(w, it, k, out)
                   : map_item(w, it, (int)(it->type->object - ITER_KEYS), k, out);
    key.lin = w->item;
    if (td_at(w->f, k)->op == OP_const)
        key = num_int((int64_t)td_at(w->f, k)->imm);
    switch ((td_tkind)it->type->kind) {
    case TD_T_RANGE: range_item(w, it, k, out); return built(w, node);
    case TD_T_TUPLE: return tuple_index(w, it, &key, node, out);
    case TD_T_ARRAY: return array_index(w, it, &key, node, out);
    case TD_T_ITER:  break;
    default:
        return bad(w, node, TD_ERR_TYPE, "%s cannot be iterated over in a kernel", it->type->name);
    }
    pair = td_alloc(w->mem, (it->type->n + 2) * sizeof *pair);
    switch (it->type->object) {
    case ITER_INDICES: return index_number(w, it, k, out);
    case ITER_PLACES:
        TD_TRY(iter_item(w, &it->item[0], k, node, &pair[0]));
        TD_TRY(array_index(w, &it->item[1], &pair[0], node, &pair[1]));
        *out = tuple_of(w, pair, 2);
        return TD_OK;
    case ITER_ENUMERATE:
        TD_TRY(num_binary(w, TD_SYN_Add, &it->item[1], &key, &pair[0]));
        TD_TRY(iter_item(w, &it->item[0], k, node, &pair[1]));
        *out = tuple_of(w, pair, 2);
        return TD_OK;
    case ITER_REVERSED:
        TD_TRY(iter_length(w, &it->item[0], node, &n));
        TD_TRY(num_binary(w, TD_SYN_Sub, &n, &key, &n));
        key = num_int(1);
        TD_TRY(num_binary(w, TD_SYN_Sub, &n, &key, &n));
        if (item)
            w->item = lin_reversed(w, item, TD_E2(w->f, add, val_as(w, &n, TD_I64), k));
        st = iter_item(w, &it->item[0], val_as(w, &n, TD_I64), node, out);
        w->item = item;
        return st;
    default:
        for (uint32_t i = 0; i < it->type->n; i++)
            TD_TRY(iter_item(w, &it->item[i], k, node, &pair[i]));
        *out = tuple_of(w, pair, it->type->n);
        return TD_OK;
    }
}

static td_status
make_iter(walk *w, uint32_t which, const thing *item, uint32_t n, thing *out)
{
    const td_type **type = td_alloc(w->mem, (n + 1) * sizeof *type);

    *out = (thing){.item = td_alloc(w->mem, (n + 1) * sizeof *out->item)};
    for (uint32_t i = 0; i < n; i++) {
        out->item[i] = item[i];
        type[i] = item[i].type;
    }
    out->type = td_type_iter(which, type, n);
    return TD_OK;
}

td_status
fn_enumerate(walk *w, const call *c, int number, thing *out)
{
    const thing *start = arg_or_kw(c, 1, "start");
    thing item[2] = {{0}, num_int(0)};

    (void)number;
    TD_TRY(want_args(w, c, "enumerate", 1, 2));
    TD_TRY(iter_of(w, &c->arg[0], c->node, &item[0]));
    if (start)
        item[1] = *start;
    return make_iter(w, ITER_ENUMERATE, item, 2, out);
}

td_status
fn_zip(walk *w, const call *c, int number, thing *out)
{
    thing *item = td_alloc(w->mem, (c->n + 1) * sizeof *item);

    (void)number;
    TD_TRY(want_args(w, c, "zip", 1, 16));
    for (uint32_t i = 0; i < c->n; i++)
        TD_TRY(iter_of(w, &c->arg[i], c->node, &item[i]));
    return make_iter(w, ITER_ZIP, item, c->n, out);
}

td_status
fn_reversed(walk *w, const call *c, int number, thing *out)
{
    thing item;

    (void)number;
    TD_TRY(want_args(w, c, "reversed", 1, 1));
    if (is_list(c->arg))
        return bad(w, c->node, TD_ERR_TYPE, "a list that is gone through from its end is Python's");
    TD_TRY(iter_of(w, &c->arg[0], c->node, &item));
    return make_iter(w, ITER_REVERSED, &item, 1, out);
}

static td_status
indices_of(walk *w, const dim *shape, uint32_t n, thing *out)
{
    thing extent[TD_MAXDIM_KERNEL], nothing = tuple_of(w, NULL, 0);

    if (!n) { /* one index, of no numbers */
        *out = tuple_of(w, &nothing, 1);
        return TD_OK;
    }
    for (uint32_t i = 0; i < n; i++)
        extent[i] = dim_thing(&shape[i]);
    return make_iter(w, ITER_INDICES, extent, n, out);
}

td_status
fn_ndindex(walk *w, const call *c, int number, thing *out)
{
    dim shape[TD_MAXDIM_KERNEL];
    uint32_t n = 0;

    (void)number;
    if (c->n)
        TD_TRY(shape_from(w, c, 0, &c->arg[0], true, shape, &n));
    return indices_of(w, shape, n, out);
}

/* Indices and elements. */
td_status
fn_ndenumerate(walk *w, const call *c, int number, thing *out)
{
    thing item[2];

    (void)number;
    TD_TRY(want_args(w, c, "ndenumerate", 1, 1));
    if (!is_array(c->arg))
        return bad(w, c->node, TD_ERR_TYPE, "ndenumerate takes an array with axes, not %s",
                   c->arg->type->name);
    item[1] = c->arg[0];
    TD_TRY(settle(w, &item[1]));
    TD_TRY(indices_of(w, item[1].view->shape, item[1].type->ndim, &item[0]));
    return make_iter(w, ITER_PLACES, item, 2, out);
}

/* ---- functions of values ---- */

/* What a program calls to ask for a constant or for a loop over a tuple's items: its argument as it is. */
td_status
fn_itself(walk *w, const call *c, int number, thing *out)
{
    (void)number;
    TD_TRY(want_args(w, c, "literal_unroll", 1, 1));
    *out = c->arg[0];
    return TD_OK;
}

/* slice(stop), slice(start, stop), slice(start, stop, step) */
td_status
fn_slice(walk *w, const call *c, int number, thing *out)
{
    thing none = {.type = td_type_none()};

    (void)number;
    TD_TRY(want_args(w, c, "slice", 1, 3));
    for (uint32_t i = 0; i < c->n; i++)
        TD_TRY(loaded(w, &c->arg[i]));
    return new_slice(
        w, (thing[]){c->n > 1 ? c->arg[0] : none, c->arg[c->n > 1], c->n > 2 ? c->arg[2] : none},
        c->node, out);
}

td_status
fn_len(walk *w, const call *c, int number, thing *out)
{
    const thing *x = c->arg;

    (void)number;
    TD_TRY(want_args(w, c, "len", 1, 1));
    if (x->type->kind == TD_T_OBJECT) {
        td_objinfo info = {0};
        int64_t n = 0;

        TD_TRY(w->host->describe(w->host->ctx, x->type->object, &info));
        if (info.kind != TD_OBJ_STR)
            return bad(w, c->node, TD_ERR_TYPE, "%s has no len in a kernel", x->type->name);
        for (const char *p = info.text; *p; p++)
            n += ((unsigned char)*p & 0xc0) != 0x80; /* characters, not bytes */
        *out = num_int(n);
        return TD_OK;
    }
    if (x->type->kind == TD_T_ARRAY && x->type->ndim == 0)
        return bad(w, c->node, TD_ERR_TYPE, "len of a 0-d array");
    TD_TRY(iter_length(w, x, c->node, out));
    /* range_length may be negative, which loops take for 0 */
    if (x->type->kind == TD_T_RANGE && !out->known) {
        *out = num_index(
            TD_E2(w->f, maximum, val_as(w, out, TD_I64), td_const_int(w->f, TD_I64, 0)), true);
        return built(w, c->node);
    }
    return TD_OK;
}

/* The numbers in the type that a variable has which may hold any of them: what Numba compares them in. */
static td_status
numba_alike(walk *w, const thing *x, uint32_t n, const thing **out)
{
    thing *own = td_alloc(w->mem, (n + 1) * sizeof *own);
    const td_type *t = x[0].type;

    *out = own;
    for (uint32_t i = 0; i < n; i++) {
        own[i] = x[i];
        TD_TRY(loaded(w, &own[i]));
        if (!is_num(&own[i]))
            return *out = x, TD_OK;
        t = i ? join_types(w, t, own[i].type) : own[i].type;
    }
    for (uint32_t i = 0; i < n; i++)
        if (own[i].type != t)
            own[i] = num_convert(w, &own[i], t);
    return TD_OK;
}

/* min or max of what one argument holds: Python's comparisons one after another, as treadle._compile._stand_ins spells
 * them. */
static td_status
extreme_of_items(walk *w, const call *c, bool is_min, thing *out)
{
    static const char *const names[2][2] = {{"max.items", "max.array"}, {"min.items", "min.array"}};
    const thing *x = c->arg;
    bool is_array = x->type->kind == TD_T_ARRAY;

    if (is_array && x->type->ndim != 1)
        return bad(w, c->node, TD_ERR_TYPE, "%s of an array of %u axes: Python compares its rows",
                   is_min ? "min" : "max", x->type->ndim);
    if (is_num(x))
        return bad(w, c->node, TD_ERR_TYPE, "'%s' object is not iterable", x->type->name);
    return call_stand_in(w, names[is_min][is_array], x, &(call){.node = c->node}, out);
}

/* min, max of the arguments or of one tuple.  As in Python, the first of equal values wins, and no NaN is less than
 * anything. */
td_status
fn_minmax(walk *w, const call *c, int number, thing *out)
{
    static const char *const names[2][2] = {{"max.key", "max.default"}, {"min.key", "min.default"}};
    bool is_min = td_intrinsics[number].row == OP_minimum;
    const thing *x = c->arg, *key = arg_or_kw(c, UINT32_MAX, "key"),
                *other = arg_or_kw(c, UINT32_MAX, "default");
    uint32_t n = c->n;

    TD_TRY(want_args(w, c, is_min ? "min" : "max", 1, UINT32_MAX));
    key = key && is_none(key) ? NULL : key;
    if (key && other)
        return bad(w, c->node, TD_ERR_TYPE, "%s takes key= or default= here, not both",
                   is_min ? "min" : "max");
    if ((key || other) && !w->exact) {
        thing all = n > 1 ? tuple_of(w, x, n) : *x;

        return call_stand_in(
            w, names[is_min][other != NULL], &all,
            &(call){.node = c->node, .n = 1, .arg = (thing[]){key ? *key : *other}}, out);
    }
    if (n == 1 && x->type->kind == TD_T_TUPLE) {
        n = x->type->n;
        x = x->item;
    } else if (n == 1) {
        return extreme_of_items(w, c, is_min, out);
    }
    if (n == 0)
        return bad(w, c->node, TD_ERR_VALUE, "%s() iterable argument is empty",
                   is_min ? "min" : "max");
    for (uint32_t i = 0; i < n; i++)
        if (x[i].type->kind == TD_T_BOX || x[i].type->kind == TD_T_OBJECT ||
            (x[i].type->kind == TD_T_TUPLE && box_may(w) && !w->exact)) { /* strings, tuples */
            thing all = tuple_of(w, x, n);

            return extreme_of_items(w, &(call){.node = c->node, .n = 1, .arg = &all}, is_min, out);
        }
    if (w->numba)
        TD_TRY(numba_alike(w, x, n, &x));
    *out = x[0];
    for (uint32_t i = 1; i < n; i++) {
        bool nonneg = is_min ? out->nonneg && x[i].nonneg : out->nonneg || x[i].nonneg;
        thing less;

        /* num_compare looks at the signs */
        bool apart = (out->type->dt == TD_U64) != (x[i].type->dt == TD_U64);

        if (is_int(out) && is_int(&x[i]) && !(out->known && x[i].known) && (is_min || !apart)) {
            TD_TRY(num_op(w, is_min ? OP_minimum : OP_maximum, (thing[]){*out, x[i]}, 2, out));
        } else {
            TD_TRY(num_compare(w, is_min ? TD_SYN_Lt : TD_SYN_Gt, &x[i], out, &less));
            if (less.known)
                *out = less.lit.i ? x[i] : *out;
            else
                TD_TRY(num_op(w, OP_select, (thing[]){less, x[i], *out}, 3, out));
        }
        out->nonneg = out->nonneg || (nonneg && is_int(out));
    }
    return TD_OK;
}

td_status
fn_abs(walk *w, const call *c, int number, thing *out)
{
    (void)number;
    TD_TRY(want_args(w, c, "abs", 1, 1));
    if (c->arg[0].known && c->arg[0].type->weak && !td_dtype_is_complex(c->arg[0].type->dt)) {
        *out = is_int(c->arg)
                   ? num_int(c->arg[0].lit.i < 0 ? -c->arg[0].lit.i : c->arg[0].lit.i)
                   : num_float(c->arg[0].lit.f[0] < 0 ? -c->arg[0].lit.f[0] : c->arg[0].lit.f[0]);
        return TD_OK;
    }
    return num_op(w, OP_absolute, c->arg, 1, out);
}

td_status
fn_pow(walk *w, const call *c, int number, thing *out)
{
    (void)number;
    TD_TRY(want_args(w, c, "pow", 2, 2));
    return num_binary(w, TD_SYN_Pow, &c->arg[0], &c->arg[1], out);
}

td_status
fn_divmod(walk *w, const call *c, int number, thing *out)
{
    td_status (*binary)(walk *, td_syn, const thing *, const thing *, thing *) =
        td_intrinsics[number].row ? num_ufunc : num_binary;
    thing x[2];

    TD_TRY(want_args(w, c, "divmod", 2, 2));
    TD_TRY(binary(w, TD_SYN_FloorDiv, &c->arg[0], &c->arg[1], &x[0]));
    TD_TRY(binary(w, TD_SYN_Mod, &c->arg[0], &c->arg[1], &x[1]));
    *out = tuple_of(w, x, 2);
    return TD_OK;
}

td_status
fn_print(walk *w, const call *c, int number, thing *out)
{
    (void)number;
    *out = (thing){.type = td_type_none()};
    return emit_print(w, c);
}
