/* reduce.c - reductions of all elements of an array, or along one axis.
 *
 * Sums of floats are compensated: the rounding error of each addition is kept and added at the end, so they are at
 * least as accurate as NumPy's pairwise sums.
 */
#include "front/infer/lazy.h"

#include <math.h>
#include <string.h>

/* fold - a reduction in progress; slots hold its state. */
typedef struct fold {
    walk *w;
    int how;
    const td_type *item;    /* the type in which elements are accumulated */
    td_num acc, lost;       /* slots; lost: the rounding error of sums of floats */
    td_val at, count, have; /* slots of argmin and argmax */
} fold;

static const char *const names[] = {
#define RED(name) #name,
    RED_KINDS
#undef RED
};

/* The type that elements are converted to before they are accumulated. */
static const td_type *
taken_as(int how, const td_type *item)
{
    td_dtype dt = item->dt;
    char k = td_dtype_kind(dt);

    switch (how) {
    case RED_any:
    case RED_all:
    case RED_count_nonzero: return td_type_num(TD_BOOL);
    case RED_sum:
    case RED_prod:
        return td_type_num(k == 'b' || k == 'i'   ? TD_I64
                           : k == 'u'             ? TD_U64
                           : td_dtype_is_half(dt) ? TD_F32
                                                  : dt);
    case RED_mean:
        return td_type_num(k == 'b' || k == 'i' || k == 'u' ? TD_F64
                           : td_dtype_is_half(dt)           ? TD_F32
                                                            : dt);
    default: return td_dtype_is_half(dt) ? td_type_num(TD_F32) : item;
    }
}

/* The type of the result for elements of `item`. */
static const td_type *
result_of(int how, const td_type *item)
{
    switch (how) {
    case RED_argmin:
    case RED_argmax:
    case RED_count_nonzero: return td_type_num(TD_I64);
    case RED_any:
    case RED_all:           return td_type_num(TD_BOOL);
    default:                return td_dtype_is_half(item->dt) ? item : taken_as(how, item);
    }
}

const char *
reduction_name(int how)
{
    return names[how];
}

bool
reduction_is_sum(int how)
{
    return how == RED_sum || how == RED_mean;
}

/* The initial value: for a minimum the dtype's largest number, else its least. */
static td_val
initial_extreme(td_fn *f, td_dtype dt, bool most)
{
    uint32_t bits = 8 * (uint32_t)td_dtype_size(dt);
    char k = td_dtype_kind(dt);

    if (k == 'f')
        return td_const(f, dt, most ? INFINITY : -INFINITY);
    if (k == 'b')
        return td_const_int(f, dt, most);
    if (k == 'u')
        return td_const_int(f, dt, most ? -1 : 0);
    return td_const_int(
        f, dt,
        (int64_t)(most ? (UINT64_C(1) << (bits - 1)) - 1 : ~((UINT64_C(1) << (bits - 1)) - 1)));
}

static td_val
slot_with(td_fn *f, td_val v)
{
    td_val s = td_slot(f, (td_dtype)td_at(f, v)->dt, 1);

    td_set(f, s, v);
    return s;
}

static void
fold_begin(fold *r)
{
    td_fn *f = r->w->f;
    td_dtype dt = r->item->dt;
    td_num start = td_num_zero(f, dt);

    if (r->how == RED_prod)
        start.re = td_const(f, td_dtype_real_of(dt), 1);
    if (r->how == RED_all)
        start.re = td_const_int(f, TD_BOOL, 1);
    if (r->how == RED_count_nonzero)
        start.re = td_const_int(f, TD_I64, 0);
    if (r->how == RED_min || r->how == RED_max)
        start.re = initial_extreme(f, dt, r->how == RED_min);
    r->acc = r->how == RED_count_nonzero ? td_num_of(td_slot(f, TD_I64, 1)) : td_num_slot(f, dt, 1);
    td_num_set(f, r->acc, start);
    r->lost = td_num_slot(f, dt, 1);
    td_num_set(f, r->lost, td_num_zero(f, dt));
    if (r->how == RED_argmin || r->how == RED_argmax) {
        r->at = slot_with(f, td_const_int(f, TD_I64, 0));
        r->count = slot_with(f, td_const_int(f, TD_I64, 0));
        r->have = slot_with(f, td_const_int(f, TD_BOOL, 0));
    }
}

/* Adds x to the sum in `slot`, and the rounding error to the one in `lost`.  Knuth's two-sum: exact for any two
 * floats. */
static void
add_compensated(td_fn *f, td_val slot, td_val lost, td_val x)
{
    td_val s = td_get(f, slot), t = TD_E2(f, add, s, x), b = TD_E2(f, subtract, t, s);
    td_val e =
        TD_E2(f, add, TD_E2(f, subtract, s, TD_E2(f, subtract, t, b)), TD_E2(f, subtract, x, b));

    td_set(f, lost, TD_E2(f, add, td_get(f, lost), e));
    td_set(f, slot, t);
}

static void
take_place(fold *r, td_val x)
{
    td_fn *f = r->w->f;
    td_val best = td_get(f, r->acc.re), k = td_get(f, r->count), better;

    better = r->how == RED_argmin ? TD_E2(f, less, x, best) : TD_E2(f, greater, x, best);
    if (td_dtype_is_float(r->item->dt)) { /* the first NaN wins */
        td_val first =
            TD_E2(f, logical_and, TD_E1(f, isnan, x), TD_E1(f, logical_not, TD_E1(f, isnan, best)));

        better = TD_E2(f, logical_or, better, first);
    }
    better = TD_E2(f, logical_or, better, TD_E1(f, logical_not, td_get(f, r->have)));
    td_set(f, r->acc.re, TD_E3(f, select, better, x, best));
    td_set(f, r->at, TD_E3(f, select, better, k, td_get(f, r->at)));
    td_set(f, r->have, td_const_int(f, TD_BOOL, 1));
    td_set(f, r->count, TD_E2(f, add, k, td_const_int(f, TD_I64, 1)));
}

static td_status
fold_take(fold *r, const thing *e)
{
    walk *w = r->w;
    td_fn *f = w->f;
    td_dtype dt = r->item->dt;
    td_num x, acc;
    thing yes;

    if (dt == TD_BOOL) {
        TD_TRY(truth(w, e, &yes));
        x = num_as(w, &yes, TD_BOOL);
    } else {
        x = num_as(w, e, dt);
    }
    acc = td_num_get(f, r->acc);
    switch (r->how) {
    case RED_sum:
    case RED_mean:
        if (td_dtype_is_int(dt)) {
            td_num_set(f, r->acc, td_num_emit(f, OP_add, (td_num[]){acc, x}));
            break;
        }
        add_compensated(f, r->acc.re, r->lost.re, x.re);
        if (td_num_is_pair(x))
            add_compensated(f, r->acc.im, r->lost.im, x.im);
        break;
    case RED_prod: td_num_set(f, r->acc, td_num_emit(f, OP_multiply, (td_num[]){acc, x})); break;
    case RED_min:
    case RED_max:
        if (dt == TD_BOOL)
            td_set(f, r->acc.re,
                   r->how == RED_min ? TD_E2(f, logical_and, acc.re, x.re)
                                     : TD_E2(f, logical_or, acc.re, x.re));
        else
            td_set(f, r->acc.re,
                   r->how == RED_min ? TD_E2(f, minimum, acc.re, x.re)
                                     : TD_E2(f, maximum, acc.re, x.re));
        break;
    case RED_any: td_set(f, r->acc.re, TD_E2(f, logical_or, acc.re, x.re)); break;
    case RED_all: td_set(f, r->acc.re, TD_E2(f, logical_and, acc.re, x.re)); break;
    case RED_count_nonzero:
        td_set(f, r->acc.re, TD_E2(f, add, acc.re, td_cast(f, x.re, TD_I64)));
        break;
    default: take_place(r, x.re); break;
    }
    return built(w, w->node);
}

static td_val
compensated(td_fn *f, td_val slot, td_val lost)
{
    td_val s = td_get(f, slot), c = td_get(f, lost);

    return TD_E3(f, select, TD_E1(f, isfinite, c), TD_E2(f, add, s, c), s);
}

/* count: the number of elements, an int64. */
static td_status
fold_end(fold *r, td_val count, const td_type *result, thing *out)
{
    td_fn *f = r->w->f;
    td_num v = td_num_get(f, r->acc);

    if (r->how == RED_argmin || r->how == RED_argmax) {
        *out = num_val(TD_I64, td_get(f, r->at));
        out->nonneg = true;
        return built(r->w, r->w->node);
    }
    if (reduction_is_sum(r->how) && !td_dtype_is_int(r->item->dt)) {
        v.re = compensated(f, r->acc.re, r->lost.re);
        if (td_num_is_pair(v))
            v.im = compensated(f, r->acc.im, r->lost.im);
    }
    *out = num_of(r->how == RED_count_nonzero ? td_type_num(TD_I64) : r->item, v);
    if (r->how == RED_mean) {
        thing n = num_val(TD_I64, count);

        n = num_convert(r->w, &n, td_type_num(td_dtype_real_of(r->item->dt)));
        TD_TRY(num_op(r->w, OP_divide, (thing[]){*out, n}, 2, out));
    }
    *out = num_convert(r->w, out, result);
    return built(r->w, r->w->node);
}

static td_status
check_elements(walk *w, int how, const td_type *item)
{
    if (item->kind != TD_T_NUM ||
        (td_dtype_is_complex(item->dt) &&
         (how == RED_min || how == RED_max || how == RED_argmin || how == RED_argmax)))
        return bad(w, w->node, TD_ERR_TYPE, "%s is not defined for arrays of %s", names[how],
                   item->name);
    return TD_OK;
}

static td_status
must_have(walk *w, int how, td_val count)
{
    if (how != RED_min && how != RED_max && how != RED_argmin && how != RED_argmax)
        return TD_OK;
    if (w->how->mode == TD_MODE_KERNEL && !w->how->debug)
        return TD_OK;
    return must(w, TD_E2(w->f, not_equal, count, td_const_int(w->f, TD_I64, 0)), TD_REPORT_EMPTY,
                names[how], NULL, 0);
}

/* ---- over all, over one axis ---- */

static td_status
reduce_all(walk *w, int how, const thing *x, thing *out)
{
    const td_type *item = x->type->item[0];
    td_val count = dims_product(w, x->view->shape, x->type->ndim);
    fold r = {.w = w, .how = how};
    nest s;
    thing e;

    TD_TRY(check_elements(w, how, item));
    TD_TRY(must_have(w, how, count));
    r.item = taken_as(how, item);
    fold_begin(&r);
    nest_open(w, &s, x->type->ndim, x->view->shape, flat_alone(w, x));
    TD_TRY(element_at(w, x, &s, &e));
    TD_TRY(fold_take(&r, &e));
    nest_close(w, &s);
    return fold_end(&r, count, result_of(how, item), out);
}

/* operand: the array; lazy->number: which reduction */
static td_status
axis_element(walk *w, const thing *self, const nest *at, thing *out)
{
    const thing *x = &self->lazy->c.arg[0];
    uint32_t axis = self->lazy->axis, n = x->type->ndim;
    td_val zero = td_const_int(w->f, TD_I64, 0), one = td_const_int(w->f, TD_I64, 1), k;
    td_val count = dim_val(w, &x->view->shape[axis]);
    fold r = {.w = w, .how = self->lazy->number};
    nest s = {.n = n};
    thing e;

    r.item = taken_as(r.how, x->type->item[0]);
    fold_begin(&r);
    k = td_for(w->f, zero, count, one);
    w->depth++;
    memcpy(s.shape, x->view->shape, sizeof s.shape);
    for (uint32_t i = 0; i < n; i++)
        s.at[i] = i == axis ? k : at->at[i - (i > axis)];
    TD_TRY(element_at(w, x, &s, &e));
    TD_TRY(fold_take(&r, &e));
    close_region(w);
    return fold_end(&r, count, self->type->item[0], out);
}

static td_status
reduce_axis(walk *w, int how, const thing *x, uint32_t axis, thing *out)
{
    call c = {.node = w->node, .n = 1, .arg = td_alloc(w->mem, sizeof *c.arg)};
    dim shape[TD_MAXDIM_KERNEL];
    uint32_t n = 0;

    TD_TRY(check_elements(w, how, x->type->item[0]));
    TD_TRY(must_have(w, how, dim_val(w, &x->view->shape[axis])));
    c.arg[0] = *x;
    for (uint32_t i = 0; i < x->type->ndim; i++)
        if (i != axis)
            shape[n++] = x->view->shape[i];
    TD_TRY(lazy_new(w, axis_element, &c, result_of(how, x->type->item[0]), n, shape, out));
    out->lazy->own = true;
    out->lazy->number = how;
    out->lazy->axis = axis;
    return TD_OK;
}

td_status
reduce(walk *w, int how, const thing *x, const thing *axis, uint32_t node, thing *out)
{
    int64_t k;
    uint32_t n = x->type->ndim;

    if (!axis || is_none(axis))
        return reduce_all(w, how, x, out);
    if (!known_int(axis, &k) || k < -(int64_t)n || k >= (int64_t)n)
        return bad(w, node, TD_ERR_VALUE,
                   "axis= is one number known when compiling, from %d to %d, or None", -(int)n,
                   (int)n - 1);
    if (n == 1)
        return reduce_all(w, how, x, out);
    return reduce_axis(w, how, x, (uint32_t)(k < 0 ? k + n : k), out);
}
