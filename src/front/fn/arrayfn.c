/* arrayfn.c - attributes of arrays, and the functions that return a view of an array with another shape. */
#include "front/infer/exact.h"
#include "front/infer/lazy.h"

#include <string.h>

/* ---- dtypes as values ---- */

/* NumPy's other names of dtypes: codes, and names without a width. */
static const struct spelling {
    const char *text;
    td_dtype dt;
} spellings[] = {
    {"?", TD_BOOL},       {"b", TD_I8},       {"h", TD_I16},       {"i", TD_I32},
    {"l", TD_I64},        {"q", TD_I64},      {"B", TD_U8},        {"H", TD_U16},
    {"I", TD_U32},        {"L", TD_U64},      {"Q", TD_U64},       {"e", TD_F16},
    {"f", TD_F32},        {"d", TD_F64},      {"F", TD_C64},       {"D", TD_C128},
    {"int", TD_I64},      {"intp", TD_I64},   {"uint", TD_U64},    {"uintp", TD_U64},
    {"byte", TD_I8},      {"ubyte", TD_U8},   {"short", TD_I16},   {"ushort", TD_U16},
    {"intc", TD_I32},     {"uintc", TD_U32},  {"half", TD_F16},    {"single", TD_F32},
    {"float", TD_F64},    {"double", TD_F64}, {"csingle", TD_C64}, {"cdouble", TD_C128},
    {"complex", TD_C128},
};

/* The dtype that a string names: float32, f4, <f4, f. */
static bool
dtype_named(const char *text, td_dtype *out)
{
    char own[8] = "<";

    for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++)
        if (strcmp(text, spellings[i].text) == 0) {
            *out = spellings[i].dt;
            return true;
        }
    if (!td_dtype_parse(text, out))
        return true;
    if (strlen(text) > 4 || strchr("<>|=V", text[0]))
        return false;
    strcpy(own + 1, text);
    if (!td_dtype_parse(own, out))
        return true;
    own[0] = '|';
    return !td_dtype_parse(own, out);
}

td_status
as_dtype(walk *w, const thing *x, uint32_t node, const td_type **out)
{
    td_objinfo info = {0};
    td_dtype dt;

    if (x && x->type->kind == TD_T_OBJECT)
        TD_TRY(w->host->describe(w->host->ctx, x->type->object, &info));
    if (info.kind == TD_OBJ_STR && dtype_named(info.text, &dt)) {
        *out = td_type_num(dt);
        return TD_OK;
    }
    if (info.kind != TD_OBJ_TYPE || (info.type->kind != TD_T_NUM && info.type->kind != TD_T_RECORD))
        return bad(w, node, TD_ERR_TYPE, "a dtype that is known when compiling is needed here%s%s",
                   x ? ", not " : "", x ? x->type->name : "");
    *out = info.type->weak ? td_type_num(info.type->dt) : info.type;
    return TD_OK;
}

static td_status
dtype_thing(walk *w, const td_type *t, uint32_t node, thing *out)
{
    uint32_t obj;

    if (!w->host->dtype || w->host->dtype(w->host->ctx, t, &obj))
        return bad(w, node, TD_ERR_TYPE, "the dtype of %s has no value in a kernel", t->name);
    return object(w, obj, node, out);
}

/* numpy.dtype(x), for an x that is known when compiling. */
td_status
fn_dtype(walk *w, const call *c, int number, thing *out)
{
    const td_type *t;

    (void)number;
    TD_TRY(want_args(w, c, "dtype", 1, 1));
    TD_TRY(as_dtype(w, &c->arg[0], c->node, &t));
    if (t->kind == TD_T_NUM)
        return dtype_thing(w, t, c->node, out);
    *out = c->arg[0];
    return TD_OK;
}

/* ---- attributes ---- */

typedef td_status attribute_fn(walk *w, const thing *a, uint32_t node, thing *out);

static td_status
at_shape(walk *w, const thing *a, uint32_t node, thing *out)
{
    thing item[TD_MAXDIM_KERNEL];

    (void)node;
    for (uint32_t i = 0; i < a->type->ndim; i++)
        item[i] = dim_thing(&a->view->shape[i]);
    *out = tuple_of(w, item, a->type->ndim);
    return TD_OK;
}

static td_status
at_ndim(walk *w, const thing *a, uint32_t node, thing *out)
{
    (void)w;
    (void)node;
    *out = num_int(a->type->ndim);
    return TD_OK;
}

static td_status
at_size(walk *w, const thing *a, uint32_t node, thing *out)
{
    (void)node;
    *out = num_int(1);
    for (uint32_t i = 0; i < a->type->ndim; i++) {
        thing n = dim_thing(&a->view->shape[i]);

        TD_TRY(num_binary(w, TD_SYN_Mult, out, &n, out));
    }
    return TD_OK;
}

static td_status
at_itemsize(walk *w, const thing *a, uint32_t node, thing *out)
{
    (void)w;
    (void)node;
    *out = num_int(td_type_size(a->type->item[0]));
    return TD_OK;
}

static td_status
at_nbytes(walk *w, const thing *a, uint32_t node, thing *out)
{
    thing size;

    TD_TRY(at_itemsize(w, a, node, &size));
    TD_TRY(at_size(w, a, node, out));
    return num_binary(w, TD_SYN_Mult, out, &size, out);
}

static td_status
at_strides(walk *w, const thing *a, uint32_t node, thing *out)
{
    thing item[TD_MAXDIM_KERNEL],
        unit = num_int(a->type->item[0]->kind == TD_T_RECORD ? 1 : td_type_size(a->type->item[0]));

    (void)node;
    for (uint32_t i = 0; i < a->type->ndim; i++) {
        dim s = stride_of(w, a, i);
        thing t = dim_thing(&s);

        t.nonneg = t.nonneg && t.known;
        TD_TRY(num_binary(w, TD_SYN_Mult, &t, &unit, &item[i]));
    }
    *out = tuple_of(w, item, a->type->ndim);
    return TD_OK;
}

static td_status
at_dtype(walk *w, const thing *a, uint32_t node, thing *out)
{
    return dtype_thing(w, a->type->item[0], node, out);
}

/* Returns a view of a with n other axes: axis i is a's axis[i], or a new axis of extent 1 where axis[i] is
 * TD_MAXDIM_KERNEL. */
static thing
with_axes(walk *w, const thing *a, const uint32_t *axis, uint32_t n, char layout)
{
    thing t = {.type = td_type_array(a->type->item[0], n, layout, a->type->readonly),
               .view = td_alloc(w->mem, sizeof(view))};

    *t.view = *a->view;
    for (uint32_t i = 0; i < n; i++) {
        bool made = axis[i] == TD_MAXDIM_KERNEL;

        t.view->shape[i] = made ? dim_known(1) : a->view->shape[axis[i]];
        t.view->stride[i] = made ? dim_known(0) : stride_of(w, a, axis[i]);
        t.view->axis[i] = made ? -1 : a->view->axis[axis[i]];
    }
    return t;
}

static td_status
at_transposed(walk *w, const thing *a, uint32_t node, thing *out)
{
    uint32_t n = a->type->ndim, axis[TD_MAXDIM_KERNEL];
    thing x = *a;

    TD_TRY(settle(w, &x));
    for (uint32_t i = 0; i < n; i++)
        axis[i] = n - 1 - i;
    *out = with_axes(w, &x, axis, n,
                     x.type->layout == 'C'   ? 'F'
                     : x.type->layout == 'F' ? 'C'
                                             : 'A');
    return built(w, node);
}

/* The real (0) or imaginary (1) parts of complex elements: every second float. */
static td_status
real_or_imag(walk *w, const thing *a, int which, uint32_t node, thing *out)
{
    const td_type *e = a->type->item[0];
    td_val two = td_const_int(w->f, TD_I64, 2), at;
    thing x = *a, t;

    if (e->kind != TD_T_NUM || !td_dtype_is_complex(e->dt) || a->lazy) {
        if (e->kind == TD_T_NUM && (is_array(a) || which) && (which || a->lazy))
            return call_row(w, fn_row, which ? OP_imag : OP_real, &x, 1, out);
        *out = *a;
        return TD_OK;
    }
    t = (thing){.type = td_type_array(td_type_num(td_dtype_real_of(e->dt)), a->type->ndim, 'A',
                                      a->type->readonly),
                .view = td_alloc(w->mem, sizeof(view))};
    *t.view = *a->view;
    at = td_const_int(w->f, TD_I64, which);
    if (a->view->offset.i != UINT32_MAX)
        at = TD_E2(w->f, add, TD_E2(w->f, multiply, a->view->offset, two), at);
    t.view->offset = at;
    for (uint32_t i = 0; i < a->type->ndim; i++) {
        dim s = stride_of(w, a, i);

        t.view->stride[i] = dim_of(TD_E2(w->f, multiply, dim_val(w, &s), two));
    }
    *out = t;
    return built(w, node);
}

static td_status
at_real(walk *w, const thing *a, uint32_t node, thing *out)
{
    return real_or_imag(w, a, 0, node, out);
}

static td_status
at_imag(walk *w, const thing *a, uint32_t node, thing *out)
{
    return real_or_imag(w, a, 1, node, out);
}

/* Makes `to` a view of the memory of `from` with n other axes. */
static void
same_memory(walk *w, view *to, const view *from, uint32_t n)
{
    to->mask = from->mask;
    to->arg = from->arg;
    to->fresh = from->fresh;
    view_of(w, to, from, n);
}

static td_status
reshaped(walk *w, const thing *a, const dim *shape, uint32_t n, uint32_t node, thing *out)
{
    thing x = *a;

    TD_TRY(settle(w, &x));
    if (x.type->layout != 'C')
        return bad(
            w, node, TD_ERR_TYPE,
            "%s is not in C order, so another shape would need a copy: loop over its indices",
            x.type->name);
    *out = array_thing(w, x.type->item[0], n, shape, x.view->base, x.view->space, x.view->name);
    out->type = td_type_array(x.type->item[0], n, 'C', x.type->readonly);
    out->view->offset = x.view->offset;
    same_memory(w, out->view, x.view, n);
    return built(w, node);
}

static td_status
at_flat(walk *w, const thing *a, uint32_t node, thing *out)
{
    dim n = dim_of(dims_product(w, a->view->shape, a->type->ndim));

    if (a->type->ndim == 1) /* the same, whatever its stride */
        return *out = *a, TD_OK;
    return reshaped(w, a, &n, 1, node, out);
}

static const struct {
    const char *name;
    attribute_fn *fn;
} attributes[] = {
    {"shape", at_shape},   {"ndim", at_ndim},       {"size", at_size},   {"itemsize", at_itemsize},
    {"nbytes", at_nbytes}, {"strides", at_strides}, {"dtype", at_dtype}, {"T", at_transposed},
    {"real", at_real},     {"imag", at_imag},       {"flat", at_flat},
};

td_status
array_attribute(walk *w, const thing *a, const char *name, uint32_t node, thing *out)
{
    for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++)
        if (strcmp(attributes[i].name, name) == 0)
            return attributes[i].fn(w, a, node, out);
    if (a->type->item[0]->kind == TD_T_RECORD)
        return record_field(w, a, name, node, out);
    return bad(w, node, TD_ERR_VALUE,
               "%s has no attribute %s in a kernel; it has shape, ndim, size, itemsize, nbytes, "
               "strides, dtype, T, real, imag and flat",
               a->type->name, name);
}

td_status
number_attribute(walk *w, const thing *x, const char *name, uint32_t node, thing *out)
{
    static const char *const known[] = {"shape", "ndim", "size", "itemsize", "nbytes", "strides"};

    if (w->exact && strcmp(name, "real") != 0 && strcmp(name, "imag") != 0)
        return bad(w, node, TD_ERR_VALUE, "compiled numbers have no attribute %s", name);
    if (w->exact)
        return complex_part(w, x, *name == 'i', out);
    if (strcmp(name, "real") == 0 || strcmp(name, "imag") == 0)
        return num_op(w, *name == 'r' ? OP_real : OP_imag, x, 1, out);
    if (strcmp(name, "dtype") == 0)
        return dtype_thing(w, td_type_num(x->type->dt), node, out);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i], name) == 0) {
            thing a = {.type = td_type_array(td_type_num(x->type->dt), 0, 'C', true)};

            return array_attribute(w, &a, name, node, out);
        }
    return bad(w, node, TD_ERR_VALUE, "%s has no attribute %s in a kernel", x->type->name, name);
}

/* ---- functions: the first argument is the array ---- */

static td_status
require_array(walk *w, const call *c, const char *what)
{
    if (c->n && c->arg[0].type->kind == TD_T_ARRAY)
        return TD_OK;
    return bad(w, c->node, TD_ERR_TYPE, "%s takes an array, not %s", what,
               c->n ? c->arg[0].type->name : "nothing");
}

/* numpy.shape, ndim, size: row is the index into `attributes`. */
td_status
fn_attribute(walk *w, const call *c, int number, thing *out)
{
    int row = td_intrinsics[number].row;

    TD_TRY(want_args(w, c, attributes[row].name, 1, 1));
    if (is_num(c->arg))
        return number_attribute(w, c->arg, attributes[row].name, c->node, out);
    TD_TRY(require_array(w, c, attributes[row].name));
    return attributes[row].fn(w, c->arg, c->node, out);
}

/* Reads a shape: an integer, a tuple of integers, or, if `many`, the arguments from `first` on. */
td_status
shape_from(walk *w, const call *c, uint32_t first, const thing *given, bool many, dim *shape,
           uint32_t *n)
{
    const thing *item = given;

    *n = 1;
    if (many && c->n > first + 1) {
        item = &c->arg[first];
        *n = c->n - first;
    } else if (given && given->type->kind == TD_T_TUPLE) {
        item = given->item;
        *n = given->type->n;
    }
    if (!given || *n > TD_MAXDIM_KERNEL)
        return bad(w, c->node, TD_ERR_TYPE, "a shape of at most %d extents is needed here",
                   TD_MAXDIM_KERNEL);
    for (uint32_t i = 0; i < *n; i++) {
        if (!is_int(&item[i]))
            return bad(w, c->node, TD_ERR_TYPE, "a shape holds integers, not %s",
                       item[i].type->name);
        shape[i] = dim_of_thing(w, &item[i]);
    }
    return TD_OK;
}

/* extents - the shape that reshape was given.  On the caller's stack. */
typedef struct extents {
    dim shape[TD_MAXDIM_KERNEL];
    td_val below[TD_MAXDIM_KERNEL]; /* is it negative?  TD_NONE: it is not */
    td_val rest;                    /* the product of the others */
    td_val open;                    /* how many are negative; TD_NONE: none */
    uint32_t n;
} extents;

static td_val
times(td_fn *f, td_val a, td_val b)
{
    return a.i == UINT32_MAX ? b : TD_E2(f, multiply, a, b);
}

/* Finds the negative extents: at once where they are known, else by instructions that the program runs. */
static void
find_open(walk *w, extents *e)
{
    td_val zero = td_const_int(w->f, TD_I64, 0), one = td_const_int(w->f, TD_I64, 1);

    e->rest = e->open = TD_NONE;
    for (uint32_t i = 0; i < e->n; i++) {
        bool known = e->shape[i].v.i == UINT32_MAX;
        td_val v = dim_val(w, &e->shape[i]), count = one;

        e->below[i] = TD_NONE;
        if (known && e->shape[i].known >= 0) {
            e->rest = times(w->f, e->rest, v);
            continue;
        }
        e->below[i] = TD_E2(w->f, less, v, zero);
        if (!known) {
            count = TD_E3(w->f, select, e->below[i], one, zero);
            e->rest = times(w->f, e->rest, TD_E3(w->f, select, e->below[i], one, v));
        }
        e->open = e->open.i == UINT32_MAX ? count : TD_E2(w->f, add, e->open, count);
    }
    if (e->rest.i == UINT32_MAX)
        e->rest = one;
}

/* One extent may be negative: it is computed from the others. */
td_status
fn_reshape(walk *w, const call *c, int number, thing *out)
{
    const thing *given = arg_or_kw(c, 1, "shape");
    td_val all, size, ok, part, one = td_const_int(w->f, TD_I64, 1);
    thing both[2];
    extents e;

    (void)number;
    TD_TRY(require_array(w, c, "reshape"));
    TD_TRY(shape_from(w, c, 1, given, true, e.shape, &e.n));
    find_open(w, &e);
    size = dims_product(w, c->arg[0].view->shape, c->arg[0].type->ndim);
    part = TD_E2(w->f, truncate_divide, size, TD_E2(w->f, maximum, e.rest, one));
    for (uint32_t i = 0; i < e.n; i++)
        if (e.below[i].i != UINT32_MAX)
            e.shape[i] = dim_of(e.shape[i].v.i == UINT32_MAX
                                    ? part
                                    : TD_E3(w->f, select, e.below[i], part, e.shape[i].v));
    all = dims_product(w, e.shape, e.n);
    both[0] = num_index(size, true);
    both[1] = num_index(all, true);
    ok = TD_E2(w->f, equal, all, size);
    if (e.open.i != UINT32_MAX)
        ok = TD_E2(w->f, bitwise_and, ok, TD_E2(w->f, less_equal, e.open, one));
    if (w->how->mode != TD_MODE_KERNEL || w->how->debug)
        TD_TRY(must(w, ok, TD_REPORT_SHAPE, "reshape", both, 2));
    return reshaped(w, &c->arg[0], e.shape, e.n, c->node, out);
}

/* The elements as a vector, in the order that an argument gives. */
td_status
in_order(walk *w, const call *c, thing *out)
{
    call rest = *c;

    rest.arg = c->arg + 1;
    rest.n = c->n - 1;
    if (c->asked)
        *c->asked = UINT64_MAX;
    return call_stand_in(w, "ravel(order)", &c->arg[0], &rest, out);
}

td_status
fn_ravel(walk *w, const call *c, int number, thing *out)
{
    (void)number;
    TD_TRY(require_array(w, c, "ravel"));
    if (c->n + c->nkw > 1)
        return in_order(w, c, out);
    return at_flat(w, &c->arg[0], c->node, out);
}

static td_status
axis_of(walk *w, const call *c, const thing *x, uint32_t n, uint32_t *out)
{
    int64_t k;

    if (!x || !known_int(x, &k) || k < -(int64_t)n || k >= (int64_t)n)
        return bad(w, c->node, TD_ERR_VALUE,
                   "an axis is a number known when compiling, from %d to %d", -(int)n, (int)n - 1);
    *out = (uint32_t)(k < 0 ? k + n : k);
    return TD_OK;
}

td_status
fn_transpose(walk *w, const call *c, int number, thing *out)
{
    const thing *axes = arg_or_kw(c, 1, "axes");
    uint32_t n, axis[TD_MAXDIM_KERNEL];
    thing x, none = {.type = td_type_tuple(NULL, 0)};

    (void)number;
    TD_TRY(require_array(w, c, "transpose"));
    n = c->arg[0].type->ndim;
    if (!axes || is_none(axes))
        return at_transposed(w, &c->arg[0], c->node, out);
    if (axes->type->kind != TD_T_TUPLE)
        axes = &none;
    if (c->n != n + 1 && axes->type->n != n)
        return bad(w, c->node, TD_ERR_VALUE, "transpose takes all %u axes", n);
    for (uint32_t i = 0; i < n; i++)
        TD_TRY(axis_of(w, c, axes->type->n ? &axes->item[i] : &c->arg[1 + i], n, &axis[i]));
    x = c->arg[0];
    TD_TRY(settle(w, &x));
    *out = with_axes(w, &x, axis, n, 'A');
    return built(w, c->node);
}

td_status
fn_swapaxes(walk *w, const call *c, int number, thing *out)
{
    uint32_t n, axis[TD_MAXDIM_KERNEL], a, b;
    thing x;

    (void)number;
    TD_TRY(want_args(w, c, "swapaxes", 3, 3));
    TD_TRY(require_array(w, c, "swapaxes"));
    n = c->arg[0].type->ndim;
    TD_TRY(axis_of(w, c, &c->arg[1], n, &a));
    TD_TRY(axis_of(w, c, &c->arg[2], n, &b));
    for (uint32_t i = 0; i < n; i++)
        axis[i] = i == a ? b : i == b ? a : i;
    x = c->arg[0];
    TD_TRY(settle(w, &x));
    *out = with_axes(w, &x, axis, n, a == b ? x.type->layout : 'A');
    return built(w, c->node);
}

/* The array's axes and those in front of them, as the shape has them: an axis of extent 1 is repeated in place. */
td_status
fn_broadcast_to(walk *w, const call *c, int number, thing *out)
{
    const thing *given = arg_or_kw(c, 1, "shape");
    td_val one = td_const_int(w->f, TD_I64, 1), zero = td_const_int(w->f, TD_I64, 0);
    dim shape[TD_MAXDIM_KERNEL], stride;
    uint32_t n, had, more;
    thing x;
    view *v;

    (void)number;
    TD_TRY(require_array(w, c, "broadcast_to"));
    TD_TRY(shape_from(w, c, 1, given, false, shape, &n));
    x = c->arg[0];
    TD_TRY(settle(w, &x));
    had = x.type->ndim;
    if (n < had)
        return bad(w, c->node, TD_ERR_VALUE,
                   "%s has more axes than the shape of %u extents that it is broadcast to",
                   x.type->name, n);
    more = n - had;
    v = td_alloc(w->mem, sizeof *v);
    *v = *x.view;
    for (uint32_t i = 0; i < n; i++) {
        const dim *d = i < more ? NULL : &x.view->shape[i - more];
        td_val is_one;

        v->shape[i] = shape[i];
        v->axis[i] = -1;
        v->stride[i] = dim_known(0);
        if (!d || d->known == 1)
            continue;
        stride = stride_of(w, &x, i - more);
        is_one = TD_E2(w->f, equal, dim_val(w, d), one);
        v->stride[i] = dim_of(TD_E3(w->f, select, is_one, zero, dim_val(w, &stride)));
        TD_TRY(must(w,
                    TD_E2(w->f, logical_or, is_one,
                          TD_E2(w->f, equal, dim_val(w, d), dim_val(w, &shape[i]))),
                    TD_REPORT_SHAPE, "broadcast", (thing[]){dim_thing(d), dim_thing(&shape[i])},
                    2));
    }
    *out = (thing){.type = td_type_array(x.type->item[0], n, 'A', true), .view = v};
    return built(w, c->node);
}

/* row 0: squeeze, which drops axes of extent 1; 1: expand_dims */
td_status
fn_one_axis(walk *w, const call *c, int number, thing *out)
{
    bool more = td_intrinsics[number].row;
    const thing *given = arg_or_kw(c, 1, "axis");
    uint32_t n, axis[TD_MAXDIM_KERNEL + 1], m = 0, at = UINT32_MAX;
    thing x;

    TD_TRY(require_array(w, c, more ? "expand_dims" : "squeeze"));
    x = c->arg[0];
    n = x.type->ndim;
    TD_TRY(settle(w, &x));
    if (given || more)
        TD_TRY(axis_of(w, c, given, n + more, &at));
    for (uint32_t i = 0; i < n + more; i++) {
        const dim *d = more ? NULL : &x.view->shape[i];

        if (more)
            axis[m++] = i == at ? TD_MAXDIM_KERNEL : i > at ? i - 1 : i;
        else if (at == UINT32_MAX && d->v.i != UINT32_MAX)
            return bad(w, c->node, TD_ERR_TYPE,
                       "squeeze needs axis=: which extents are 1 is known only at run time");
        else if (i != at && (at != UINT32_MAX || d->known != 1))
            axis[m++] = i;
    }
    if (m > TD_MAXDIM_KERNEL)
        return bad(w, c->node, TD_ERR_TYPE, "an array has at most %d dims", TD_MAXDIM_KERNEL);
    *out = with_axes(w, &x, axis, m, x.type->layout == 'C' && !more ? 'C' : 'A');
    return built(w, c->node);
}

/* a.view(dtype): the last axis's bytes as another dtype's elements. */
td_status
fn_view(walk *w, const call *c, int number, thing *out)
{
    const td_type *t, *e;
    td_val p, zero = td_const_int(w->f, TD_I64, 0);
    dim shape[TD_MAXDIM_KERNEL];
    uint32_t n;
    thing x;

    (void)number;
    TD_TRY(require_array(w, c, "view"));
    TD_TRY(as_dtype(w, arg_or_kw(c, 1, "dtype"), c->node, &t));
    x = c->arg[0];
    TD_TRY(settle(w, &x));
    e = x.type->item[0];
    n = x.type->ndim;
    if (x.type->layout != 'C' || e->kind != TD_T_NUM || t->kind != TD_T_NUM || n == 0)
        return bad(w, c->node, TD_ERR_TYPE, "%s cannot be seen as %s: only numbers in C order can",
                   x.type->name, t->name);
    memcpy(shape, x.view->shape, sizeof shape);
    if (td_type_size(e) != td_type_size(t)) {
        td_val bytes = TD_E2(w->f, multiply, dim_val(w, &shape[n - 1]),
                             td_const_int(w->f, TD_I64, td_type_size(e)));

        shape[n - 1] = dim_of(
            TD_E2(w->f, truncate_divide, bytes, td_const_int(w->f, TD_I64, td_type_size(t))));
    }
    p = x.view->offset.i == UINT32_MAX
            ? zero
            : TD_E2(w->f, multiply, x.view->offset, td_const_int(w->f, TD_I64, td_type_size(e)));
    *out = array_thing(w, t, n, shape, td_at_byte(w->f, x.view->base, p, td_dtype_real_of(t->dt)),
                       x.view->space, x.view->name);
    out->type = td_type_array(t, n, 'C', x.type->readonly);
    same_memory(w, out->view, x.view, n);
    return built(w, c->node);
}

/* ---- stores ---- */

/* row 0: a.fill(v); 1: numpy.copyto(a, b) */
td_status
fn_fill(walk *w, const call *c, int number, thing *out)
{
    TD_TRY(want_args(w, c, td_intrinsics[number].row ? "copyto" : "fill", 2, 2));
    TD_TRY(require_array(w, c, "this function"));
    *out = (thing){.type = td_type_none()};
    return call_fill(w, &c->arg[0], &c->arg[1], c->node);
}

td_status
fn_array_item(walk *w, const call *c, int number, thing *out)
{
    thing key;

    TD_TRY(require_array(w, c, "item"));
    key = tuple_of(w, c->arg + 1, c->n - 1);
    TD_TRY(array_index(w, &c->arg[0], &key, c->node, out));
    return fn_item(w, &(call){.node = c->node, .n = 1, .arg = out}, number, out);
}
