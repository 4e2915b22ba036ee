/* createfn.c - arrays that functions make: zeros, arange, copies, arrays of tuples. */
#include "front/infer/box.h"
#include "front/infer/lazy.h"

#include <string.h>

/* The argument dtype, or `usual` if there is none. */
static td_status
dtype_or(walk *w, const call *c, uint32_t i, const td_type *usual, const td_type **out)
{
    const thing *x = arg_or_kw(c, i, "dtype");

    *out = usual;
    return x && !is_none(x) ? as_dtype(w, x, c->node, out) : TD_OK;
}

static td_status
first_operand(walk *w, const thing *self, const nest *at, thing *out)
{
    (void)at;
    *out = num_convert(w, &self->lazy->c.arg[0], self->type->item[0]);
    return TD_OK;
}

/* Records whose bytes are all 0. */
static td_status
zeroed_records(walk *w, const td_type *t, uint32_t n, const dim *shape, thing *out)
{
    thing bytes, zero = num_int(0);
    dim size;

    TD_TRY(new_array(w, t, n, shape, out));
    size = dim_of(TD_E2(w->f, multiply, dims_product(w, shape, n),
                        td_const_int(w->f, TD_I64, td_type_size(t))));
    bytes = array_thing(w, td_type_num(TD_U8), 1, &size, out->view->base, SPACE_GLOBAL, NULL);
    return call_fill(w, &bytes, &zero, w->node);
}

static td_status
filled_array(walk *w, const thing *value, const td_type *t, uint32_t n, const dim *shape,
             thing *out)
{
    call c = {.node = w->node, .n = value ? 1 : 0, .arg = td_alloc(w->mem, sizeof *c.arg)};

    if (value && t->kind == TD_T_RECORD && value->known && value->lit.i == 0)
        return zeroed_records(w, t, n, shape, out);
    if (value) {
        c.arg[0] = *value;
        if (!is_num(value) || t->kind != TD_T_NUM)
            return bad(w, w->node, TD_ERR_TYPE, "an array of %s cannot be filled with %s", t->name,
                       value->type->name);
    }
    TD_TRY(lazy_new(w, value ? first_operand : NULL, &c, t, n, shape, out));
    out->lazy->anywhere = true;
    return TD_OK;
}

enum { NOTHING = 2 }; /* fn_zeros's row for numpy.empty */

/* row: the fill value, 0 or 1, or NOTHING */
td_status
fn_zeros(walk *w, const call *c, int number, thing *out)
{
    int row = td_intrinsics[number].row;
    dim shape[TD_MAXDIM_KERNEL];
    const td_type *t;
    thing value = num_int(row);
    uint32_t n;

    TD_TRY(shape_from(w, c, 0, arg_or_kw(c, 0, "shape"), false, shape, &n));
    TD_TRY(dtype_or(w, c, 1, td_type_num(TD_F64), &t));
    return filled_array(w, row == NOTHING ? NULL : &value, t, n, shape, out);
}

td_status
fn_full(walk *w, const call *c, int number, thing *out)
{
    const thing *value = arg_or_kw(c, 1, "fill_value");
    dim shape[TD_MAXDIM_KERNEL];
    const td_type *t;
    uint32_t n;

    (void)number;
    if (!value || !is_num(value))
        return bad(w, c->node, TD_ERR_TYPE, "full takes a shape and a number");
    TD_TRY(shape_from(w, c, 0, arg_or_kw(c, 0, "shape"), false, shape, &n));
    TD_TRY(dtype_or(w, c, 2, td_type_num(value->type->dt), &t));
    return filled_array(w, value, t, n, shape, out);
}

/* zeros_like, ones_like, empty_like: row as fn_zeros; 3: full_like */
td_status
fn_like(walk *w, const call *c, int number, thing *out)
{
    int row = td_intrinsics[number].row;
    const thing *a = c->arg, *given = arg_or_kw(c, 1, "fill_value");
    thing value = num_int(row);
    const td_type *t;

    if (c->n < 1 || a->type->kind != TD_T_ARRAY || (row == 3 && !given))
        return bad(w, c->node, TD_ERR_TYPE, "this function takes an array%s, not %s",
                   row == 3 ? " and a number" : "", c->n ? a->type->name : "nothing");
    TD_TRY(dtype_or(w, c, row == 3 ? 2 : 1, a->type->item[0], &t));
    return filled_array(w,
                        row == 3         ? given
                        : row == NOTHING ? NULL
                                         : &value,
                        t, a->type->ndim, a->view->shape, out);
}

/* ---- evenly spaced numbers ---- */

static td_val
place_in(walk *w, const nest *at)
{
    (void)w;
    return at->at[0];
}

/* operands: start, step */
static td_status
arange_element(walk *w, const thing *self, const nest *at, thing *out)
{
    thing k = num_index(place_in(w, at), true), x;

    TD_TRY(num_binary(w, TD_SYN_Mult, &k, &self->lazy->c.arg[1], &x));
    TD_TRY(num_binary(w, TD_SYN_Add, &self->lazy->c.arg[0], &x, &x));
    *out = num_convert(w, &x, self->type->item[0]);
    return built(w, w->node);
}

/* Counts the numbers start, start + step, … before stop. */
static td_status
arange_count(walk *w, const thing *part, bool whole, dim *out)
{
    thing d, n, zero = num_int(0);

    TD_TRY(num_binary(w, TD_SYN_Sub, &part[1], &part[0], &d));
    if (whole) { /* -(d // -step) rounds up */
        thing back;

        TD_TRY(num_unary(w, TD_SYN_USub, &part[2], &back));
        TD_TRY(num_binary(w, TD_SYN_FloorDiv, &d, &back, &n));
        TD_TRY(num_unary(w, TD_SYN_USub, &n, &n));
    } else {
        TD_TRY(num_binary(w, TD_SYN_Div, &d, &part[2], &n));
        TD_TRY(num_op(w, OP_ceil, &n, 1, &n));
        n = num_convert(w, &n, td_type_weak('i'));
    }
    if (n.known && n.lit.i < 0)
        n = zero;
    if (!n.known)
        TD_TRY(num_op(w, OP_maximum, (thing[]){n, zero}, 2, &n));
    *out = dim_of_thing(w, &n);
    return TD_OK;
}

td_status
fn_arange(walk *w, const call *c, int number, thing *out)
{
    static const char *const names[] = {"start", "stop", "step"};
    thing *part = td_alloc(w->mem, 3 * sizeof *part);
    const td_type *t, *usual;
    bool whole = true, has[3];
    call own = {.node = c->node, .n = 2};
    dim n;

    (void)number;
    TD_TRY(want_args(w, c, "arange", 0, 4));
    for (uint32_t i = 0; i < 3; i++) {
        const thing *given = arg_or_kw(c, i, names[i]);

        part[i] = given && !is_none(given) ? *given : num_int(i == 2);
        has[i] = given && !is_none(given);
    }
    if (!has[0] && !has[1])
        return bad(w, c->node, TD_ERR_TYPE, "arange() requires stop to be specified.");
    if (!has[1]) {
        part[1] = part[0];
        part[0] = num_int(0);
    }
    for (int i = 0; i < 3; i++) {
        if (!is_num(&part[i]))
            return bad(w, c->node, TD_ERR_TYPE, "arange takes numbers, not %s", part[i].type->name);
        whole = whole && is_int(&part[i]);
    }
    usual = whole ? td_type_num(TD_I64) : num_common(w, &part[0], &part[1]);
    if (!whole && !td_dtype_is_float(usual->dt))
        usual = td_type_num(TD_F64);
    TD_TRY(dtype_or(w, c, 3, td_type_num(usual->dt), &t));
    TD_TRY(arange_count(w, part, whole, &n));
    own.arg = part;
    part[1] = part[2];
    TD_TRY(lazy_new(w, arange_element, &own, t, 1, &n, out));
    out->lazy->own = true;
    return TD_OK;
}

/* operands: start, stop, step, the last index */
static td_status
linspace_element(walk *w, const thing *self, const nest *at, thing *out)
{
    const thing *p = self->lazy->c.arg;
    thing k = num_index(place_in(w, at), true), x, last;

    TD_TRY(num_binary(w, TD_SYN_Mult, &k, &p[2], &x));
    TD_TRY(num_binary(w, TD_SYN_Add, &x, &p[0], &x));
    if (self->lazy->c.n > 3) {
        TD_TRY(num_compare(w, TD_SYN_Eq, &k, &p[3], &last));
        TD_TRY(num_op(w, OP_select, (thing[]){last, p[1], x}, 3, &x));
    }
    *out = num_convert(w, &x, self->type->item[0]);
    return built(w, w->node);
}

td_status
fn_linspace(walk *w, const call *c, int number, thing *out)
{
    const thing *num = arg_or_kw(c, 2, "num"), *endpoint = arg_or_kw(c, 3, "endpoint");
    thing *p = td_alloc(w->mem, 4 * sizeof *p), count = num ? *num : num_int(50), d, parts_, one,
          only;
    bool with_end = !endpoint || (endpoint->known && endpoint->lit.i);
    call own = {.node = c->node, .n = with_end ? 4 : 3, .arg = p};
    const td_type *wide = td_type_num(TD_F64), *t;
    dim n;

    (void)number;
    TD_TRY(want_args(w, c, "linspace", 2, 4));
    if (!is_num(&c->arg[0]) || !is_num(&c->arg[1]) || !is_int(&count))
        return bad(w, c->node, TD_ERR_TYPE, "linspace takes two numbers and a count");
    one = num_int(1);
    parts_ = count;
    if (with_end)
        TD_TRY(num_binary(w, TD_SYN_Sub, &count, &one, &parts_));
    /* the last one is `stop` itself, unless it is the only one: -1 is the number of none */
    TD_TRY(num_compare(w, TD_SYN_Eq, &count, &one, &only));
    only = num_convert(w, &only, td_type_num(TD_I64));
    TD_TRY(num_binary(w, TD_SYN_Sub, &parts_, &only, &p[3]));
    TD_TRY(num_op(w, OP_maximum, (thing[]){parts_, one}, 2, &parts_));
    if (td_dtype_is_complex(c->arg[0].type->dt) || td_dtype_is_complex(c->arg[1].type->dt))
        wide = td_type_num(TD_C128);
    for (int i = 0; i < 2; i++)
        p[i] = num_convert(w, &c->arg[i], wide);
    TD_TRY(num_binary(w, TD_SYN_Sub, &p[1], &p[0], &d));
    TD_TRY(num_binary(w, TD_SYN_Div, &d, &parts_, &p[2]));
    TD_TRY(dtype_or(w, c, UINT32_MAX, wide, &t));
    n = dim_of_thing(w, &count);
    TD_TRY(lazy_new(w, linspace_element, &own, t, 1, &n, out));
    out->lazy->own = true;
    return TD_OK;
}

/* operand: k */
static td_status
eye_element(walk *w, const thing *self, const nest *at, thing *out)
{
    thing i = num_index(at->at[0], true), j = num_index(at->at[1], true), on;

    TD_TRY(num_binary(w, TD_SYN_Add, &i, &self->lazy->c.arg[0], &i));
    TD_TRY(num_compare(w, TD_SYN_Eq, &i, &j, &on));
    *out = num_convert(w, &on, self->type->item[0]);
    return built(w, w->node);
}

td_status
fn_eye(walk *w, const call *c, int number, thing *out)
{
    bool identity = td_intrinsics[number].row;
    const thing *m = identity ? NULL : arg_or_kw(c, 1, "M"),
                *k = identity ? NULL : arg_or_kw(c, 2, "k");
    call own = {.node = c->node, .n = 1, .arg = td_alloc(w->mem, sizeof *own.arg)};
    const td_type *t;
    dim shape[2];

    TD_TRY(want_args(w, c, identity ? "identity" : "eye", 1, 4));
    if (!is_int(&c->arg[0]) || (m && !is_none(m) && !is_int(m)) || (k && !is_int(k)))
        return bad(w, c->node, TD_ERR_TYPE, "eye takes integers");
    TD_TRY(dtype_or(w, c, identity ? 1 : 3, td_type_num(TD_F64), &t));
    shape[0] = dim_of_thing(w, &c->arg[0]);
    shape[1] = m && !is_none(m) ? dim_of_thing(w, m) : shape[0];
    own.arg[0] = k ? *k : num_int(0);
    TD_TRY(lazy_new(w, eye_element, &own, t, 2, shape, out));
    out->lazy->own = true;
    return TD_OK;
}

/* ---- arrays of tuples ---- */

/* operands: the numbers in C order */
static td_status
tuple_element(walk *w, const thing *self, const nest *at, thing *out)
{
    thing all = tuple_of(w, self->lazy->c.arg, self->lazy->c.n), key;
    td_val k = td_const_int(w->f, TD_I64, 0);

    for (uint32_t i = 0; i < at->n; i++)
        k = TD_E2(w->f, add, TD_E2(w->f, multiply, k, dim_val(w, &self->view->shape[i])),
                  at->at[i]);
    key = num_index(k, true);
    TD_TRY(tuple_index(w, &all, &key, w->node, out));
    *out = num_convert(w, out, self->type->item[0]);
    return built(w, w->node);
}

/* Appends the numbers of x, a tuple at depth `axis`, to `to`.  shape[0 … *ndim) holds the lengths found so far: all
 * tuples of one depth must have the same. */
static td_status
flatten_numbers(walk *w, const thing *x, uint32_t axis, dim *shape, uint32_t *ndim, thing *to,
                uint32_t *n, uint32_t cap)
{
    if (x->type->kind != TD_T_TUPLE) {
        if (!is_num(x) || axis != *ndim || *n == cap)
            return bad(w, w->node, TD_ERR_TYPE,
                       "an array is made of at most %u numbers in tuples of one length", cap);
        to[(*n)++] = *x;
        return TD_OK;
    }
    if (axis == *ndim && *n == 0 && axis < TD_MAXDIM_KERNEL)
        shape[(*ndim)++] = dim_known(x->type->n);
    if (axis >= *ndim || shape[axis].known != x->type->n)
        return bad(w, w->node, TD_ERR_VALUE,
                   "the tuples that an array is made of differ in length");
    for (uint32_t i = 0; i < x->type->n; i++)
        TD_TRY(flatten_numbers(w, &x->item[i], axis + 1, shape, ndim, to, n, cap));
    return TD_OK;
}

td_status
tuple_array(walk *w, const thing *x, const td_type *dtype, uint32_t node, thing *out)
{
    enum { MOST = 256 };
    thing *item = td_alloc(w->mem, MOST * sizeof *item), so_far;
    dim shape[TD_MAXDIM_KERNEL];
    call c = {.node = node, .arg = item};
    uint32_t ndim = 0;

    TD_TRY(flatten_numbers(w, x, 0, shape, &ndim, item, &c.n, MOST));
    if (!c.n)
        return bad(w, node, TD_ERR_VALUE, "an array of an empty tuple: use numpy.empty(0)");
    so_far = item[0];
    for (uint32_t i = 1; i < c.n; i++)
        so_far =
            (thing){.type = so_far.type->dt == TD_BOOL && item[i].type->dt == TD_BOOL ? so_far.type
                            : w->numba ? join_types(w, so_far.type, item[i].type)
                                       : num_common(w, &so_far, &item[i])};
    TD_TRY(lazy_new(w, tuple_element, &c, dtype ? dtype : td_type_num(so_far.type->dt), ndim, shape,
                    out));
    out->lazy->own = true;
    return TD_OK;
}

/* Does a tuple hold arrays, or tuples of them? */
static bool
has_arrays(const thing *x)
{
    for (uint32_t i = 0; x->type->kind == TD_T_TUPLE && i < x->type->n; i++)
        if (x->item[i].type->kind == TD_T_ARRAY || has_arrays(&x->item[i]))
            return true;
    return false;
}

/* numpy.asarray of a number, a tuple or an array; row 1: array, which always copies; 2: ascontiguousarray */
td_status
fn_asarray(walk *w, const call *c, int number, thing *out)
{
    int row = td_intrinsics[number].row;
    const td_type *t = NULL;

    TD_TRY(want_args(w, c, "array", 1, 2));
    TD_TRY(dtype_or(w, c, 1, NULL, &t));
    if (box_may(w) && has_arrays(&c->arg[0])) {
        thing list;

        TD_TRY(box_from(w, TD_BOX_LIST, &c->arg[0], c->node, &list));
        TD_TRY(box_array(w, &list, out));
        return t && t != out->type->item[0] ? array_copy(w, out, t, c->node, out) : TD_OK;
    }
    if (c->arg[0].type->kind == TD_T_TUPLE || is_num(&c->arg[0]))
        return tuple_array(w, &c->arg[0], t, c->node, out);
    if (c->arg[0].type->kind != TD_T_ARRAY)
        return bad(w, c->node, TD_ERR_TYPE,
                   "an array is made of numbers and tuples of them, not of %s",
                   c->arg[0].type->name);
    *out = c->arg[0];
    if ((row == 0 || (row == 2 && out->type->layout == 'C')) && (!t || t == out->type->item[0]))
        return TD_OK;
    return array_copy(w, &c->arg[0], t, c->node, out);
}

/* operand: the array */
static td_status
copy_element(walk *w, const thing *self, const nest *at, thing *out)
{
    TD_TRY(element_at(w, &self->lazy->c.arg[0], at, out));
    if (is_num(out))
        *out = num_convert(w, out, self->type->item[0]);
    return TD_OK;
}

/* A new array with a's elements, of dtype t unless that is NULL. */
td_status
array_copy(walk *w, const thing *a, const td_type *t, uint32_t node, thing *out)
{
    call c = {.node = node, .n = 1, .arg = td_alloc(w->mem, sizeof *c.arg)};

    c.arg[0] = *a;
    TD_TRY(lazy_new(w, copy_element, &c, t ? t : a->type->item[0], a->type->ndim, a->view->shape,
                    out));
    return settle(w, out);
}

/* row 0: copy; 1: flatten */
td_status
fn_copy(walk *w, const call *c, int number, thing *out)
{
    if (td_intrinsics[number].row && c->n + c->nkw > 1)
        return in_order(w, c, out);
    TD_TRY(want_args(w, c, "copy", 1, 1));
    if (c->arg[0].type->kind != TD_T_ARRAY)
        return bad(w, c->node, TD_ERR_TYPE, "copy takes an array, not %s", c->arg[0].type->name);
    TD_TRY(array_copy(w, &c->arg[0], NULL, c->node, out));
    return td_intrinsics[number].row
               ? fn_ravel(w, &(call){.node = c->node, .n = 1, .arg = out}, number, out)
               : TD_OK;
}
