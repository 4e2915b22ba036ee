/* lazy.c - array expressions: broadcast shapes, elements, and the loops that store them. */
#include "front/infer/lazy.h"
#include "front/infer/exact.h"

#include <string.h>

/* ---- shapes ---- */

static bool
is_known(const dim *d)
{
    return d->v.i == UINT32_MAX;
}

static bool
dim_is_one(const dim *d)
{
    return is_known(d) && d->known == 1;
}

td_val
dims_product(walk *w, const dim *shape, uint32_t n)
{
    td_val r = td_const_int(w->f, TD_I64, 1);

    for (uint32_t i = 0; i < n; i++)
        r = i ? TD_E2(w->f, multiply, r, dim_val(w, &shape[i])) : dim_val(w, &shape[i]);
    return r;
}

td_status
must(walk *w, td_val ok, td_report kind, const char *text, const thing *value, uint32_t n)
{
    uint32_t site = site_new(w, kind, w->node, text);

    td_if(w->f, TD_E1(w->f, logical_not, ok));
    TD_TRY(report_fail(w, site, value, n));
    thread_end(w);
    td_end(w->f);
    return built(w, w->node);
}

/* Checks that two extents are equal, or one of them is 1 (with `into` only b).  Kernels check
 * only when debugging. */
static td_status
check_dims(walk *w, const dim *a, const dim *b, bool into)
{
    thing both[2] = {dim_thing(a), dim_thing(b)};
    td_val one = td_const_int(w->f, TD_I64, 1), ok;

    if (w->how->mode == TD_MODE_KERNEL && !w->how->debug)
        return TD_OK;
    ok = TD_E2(w->f, equal, dim_val(w, a), dim_val(w, b));
    ok = TD_E2(w->f, logical_or, ok, TD_E2(w->f, equal, dim_val(w, b), one));
    if (!into)
        ok = TD_E2(w->f, logical_or, ok, TD_E2(w->f, equal, dim_val(w, a), one));
    return must(w, ok, TD_REPORT_SHAPE, into ? "assignment" : "broadcast", both, 2);
}

static td_status
broadcast_dim(walk *w, dim *a, const dim *b)
{
    td_val one = td_const_int(w->f, TD_I64, 1);

    if (same_dim(w, a, b) || dim_is_one(b))
        return TD_OK;
    if (dim_is_one(a)) {
        *a = *b;
        return TD_OK;
    }
    if (is_known(a) && is_known(b))
        return bad(w, w->node, TD_ERR_VALUE,
                   "arrays cannot be broadcast together: an axis has %lld elements in one and %lld "
                   "in another",
                   (long long)a->known, (long long)b->known);
    TD_TRY(check_dims(w, a, b, false));
    if (is_known(b) && b->known > 1)
        *a = *b;
    else if (!is_known(a) || a->known <= 1)
        *a = dim_of(TD_E3(w->f, select, TD_E2(w->f, equal, dim_val(w, a), one), dim_val(w, b),
                          dim_val(w, a)));
    return TD_OK;
}

static td_status
broadcast_dims(walk *w, const call *c, dim *shape, uint32_t *ndim)
{
    *ndim = 0;
    for (uint32_t k = 0; k < c->n; k++)
        if (is_array(&c->arg[k]) && c->arg[k].type->ndim > *ndim)
            *ndim = c->arg[k].type->ndim;
    for (uint32_t i = 0; i < *ndim; i++)
        shape[i] = dim_known(1);
    for (uint32_t k = 0; k < c->n; k++)
        for (uint32_t i = 0, n = c->arg[k].type->ndim; is_array(&c->arg[k]) && i < n; i++)
            TD_TRY(broadcast_dim(w, &shape[*ndim - n + i], &c->arg[k].view->shape[i]));
    return TD_OK;
}

/* ---- lazy arrays ---- */

td_status
lazy_new(walk *w, element_fn *element, const call *c, const td_type *item, uint32_t ndim,
         const dim *shape, thing *out)
{
    dim own[TD_MAXDIM_KERNEL];
    thing x;

    if (ndim)
        memcpy(own, shape, ndim * sizeof *own);
    x = array_thing(w, item, ndim, own, TD_NONE, SPACE_GLOBAL, NULL);
    x.lazy = td_alloc(w->mem, sizeof *x.lazy);
    x.lazy->element = element;
    if (c)
        x.lazy->c = *c;
    *out = x;
    return built(w, w->node);
}

/* A stand-in for an element of x: only its type matters. */
static thing
dummy(walk *w, const thing *x)
{
    const td_type *t = x->type->item[0];
    td_num v = td_num_zero(w->f, t->dt);

    v.re = td_const(w->f, td_dtype_real_of(t->dt), 1);
    if (td_dtype_is_half(t->dt))
        v.re = td_cast(w->f, td_const(w->f, TD_F32, 1), t->dt);
    return num_of(t, v);
}

/* Computes one element of an array function by NumPy's rules, operators too. */
static td_status
one_element(walk *w, const call *one, int number, thing *out)
{
    bool before = w->ufunc;
    td_status st;

    w->ufunc = true;
    st = td_intrinsics[number].fn(w, one, number, out);
    w->ufunc = before;
    return st;
}

/* Finds the type of the function's result for one element; removes the instructions that this emitted. */
static td_status
try_elements(walk *w, int number, const call *c, const td_type **item)
{
    uint32_t n = w->f->n, nparam = w->f->nparam, nsite = w->made->nsite;
    call one = *c;
    thing r;

    one.arg = td_alloc(w->mem, (c->n + 1) * sizeof *one.arg);
    for (uint32_t i = 0; i < c->n; i++)
        one.arg[i] = is_array(&c->arg[i]) ? dummy(w, &c->arg[i]) : c->arg[i];
    TD_TRY(one_element(w, &one, number, &r));
    if (!is_num(&r))
        return bad(w, c->node, TD_ERR_TYPE, "this function gives %s, which no array holds",
                   r.type->name);
    *item = td_type_num(r.type->dt);
    if (w->f->nparam == nparam) { /* else the walk is repeated anyway */
        w->f->n = n;
        w->made->nsite = nsite;
    }
    return built(w, c->node);
}

static td_status
call_element(walk *w, const thing *self, const nest *at, thing *out)
{
    call one = self->lazy->c;

    one.arg = td_alloc(w->mem, (one.n + 1) * sizeof *one.arg);
    for (uint32_t i = 0; i < one.n; i++) {
        one.arg[i] = self->lazy->c.arg[i];
        if (is_array(&one.arg[i]))
            TD_TRY(element_at(w, &self->lazy->c.arg[i], at, &one.arg[i]));
    }
    TD_TRY(one_element(w, &one, self->lazy->number, out));
    *out = num_convert(w, out, self->type->item[0]);
    return built(w, one.node);
}

/* A Python int beside arrays of integers takes their dtype, whatever its value, as in NumPy. */
static void
weaken(walk *w, call *c)
{
    const td_type *t = NULL;

    for (uint32_t i = 0; i < c->n; i++)
        if (is_array(&c->arg[i]) && c->arg[i].type->item[0]->kind == TD_T_NUM &&
            td_dtype_is_int(c->arg[i].type->item[0]->dt))
            t = c->arg[i].type->item[0];
    for (uint32_t i = 0; t && i < c->n; i++)
        if (is_num(&c->arg[i]) && is_int(&c->arg[i]) && c->arg[i].type->weak && !c->arg[i].known)
            c->arg[i] = num_convert(w, &c->arg[i], t);
}

static bool
all_bools(const call *c)
{
    for (uint32_t i = 0; i < c->n; i++) {
        const td_type *t =
            c->arg[i].type->kind == TD_T_ARRAY ? c->arg[i].type->item[0] : c->arg[i].type;

        if (t->kind != TD_T_NUM || t->dt != TD_BOOL)
            return false;
    }
    return c->n == 2;
}

/* For bools, NumPy's + is `or` and its * is `and`: the operator that stands for the function; 0: itself. */
static td_syn
of_bools(int number)
{
    const td_intrinsic_row *row = &td_intrinsics[number];

    if (row->fn == fn_binary)
        return row->row == TD_SYN_Add    ? TD_SYN_BitOr
               : row->row == TD_SYN_Mult ? TD_SYN_BitAnd
               : row->row == TD_SYN_Sub  ? TD_SYN_Sub
                                         : TD_SYN_NONE;
    if (row->fn == fn_row)
        return row->row == OP_maximum   ? TD_SYN_BitOr
               : row->row == OP_minimum ? TD_SYN_BitAnd
                                        : TD_SYN_NONE;
    return TD_SYN_NONE;
}

td_status
lazy_call(walk *w, int number, const call *c, thing *out)
{
    call own = *c;
    const td_type *item = NULL;
    dim shape[TD_MAXDIM_KERNEL];
    uint32_t ndim;

    own.arg = td_alloc(w->mem, (c->n + 1) * sizeof *own.arg);
    for (uint32_t i = 0; i < c->n; i++) {
        own.arg[i] = c->arg[i];
        TD_TRY(loaded(w, &own.arg[i]));
        if (own.arg[i].type->kind == TD_T_ARRAY && own.arg[i].type->item[0]->kind != TD_T_NUM)
            return bad(w, c->node, TD_ERR_TYPE, "arithmetic is not defined for %s",
                       own.arg[i].type->name);
    }
    if (all_bools(&own)) {
        td_syn bits = of_bools(number);

        if (bits == TD_SYN_Sub)
            return bad(w, c->node, TD_ERR_TYPE,
                       "arrays of bools have no -: write ^ or numpy.logical_xor");
        if (bits)
            return array_operator(w, fn_binary, bits, own.arg, 2, out);
    }
    for (uint32_t i = 0; i < c->nkw; i++)
        if (is_array(&c->kwarg[i]))
            return bad(w, c->node, TD_ERR_TYPE, "%s=: store the result with [...] = instead",
                       c->kw[i]);
    weaken(w, &own);
    TD_TRY(try_elements(w, number, &own, &item));
    TD_TRY(broadcast_dims(w, &own, shape, &ndim));
    TD_TRY(lazy_new(w, call_element, &own, item, ndim, shape, out));
    out->lazy->number = number;
    return TD_OK;
}

td_status
array_operator(walk *w, intrinsic_fn *fn, td_syn op, const thing *x, uint32_t n, thing *out)
{
    if (w->exact)
        return bad(w, w->node, TD_ERR_TYPE,
                   "what is computed of whole arrays here is left to NumPy");
    return call_row(w, fn, (int)op, x, n, out);
}

/* ---- elements ---- */

/* Maps the nest's indices to those of x by broadcasting: an axis of x may have extent 1 where the nest's is longer. */
static void
align(walk *w, const thing *x, const nest *at, td_val *index)
{
    uint32_t n = x->type->ndim, skip = at->n - n;
    td_val zero = td_const_int(w->f, TD_I64, 0), one = td_const_int(w->f, TD_I64, 1);

    for (uint32_t i = 0; i < n; i++) {
        const dim *d = &x->view->shape[i], *whole = &at->shape[skip + i];

        if (same_dim(w, d, whole) || (is_known(d) && d->known > 1))
            index[i] = at->at[skip + i];
        else if (dim_is_one(d))
            index[i] = zero;
        else
            index[i] =
                TD_E3(w->f, select, TD_E2(w->f, equal, dim_val(w, d), one), zero, at->at[skip + i]);
    }
}

td_status
element_place(walk *w, const thing *x, const nest *at, thing *out)
{
    thing e = {.type = td_type_array(x->type->item[0], 0, 'C', x->type->readonly),
               .view = td_alloc(w->mem, sizeof *e.view)};
    td_val index[TD_MAXDIM_KERNEL], sum = x->view->offset;

    *e.view = *x->view;
    if (at->flat) {
        sum = sum.i == UINT32_MAX ? at->flat_at : TD_E2(w->f, add, sum, at->flat_at);
    } else {
        align(w, x, at, index);
        for (uint32_t i = 0; i < x->type->ndim; i++) {
            dim s = stride_of(w, x, i);
            td_val step =
                dim_is_one(&s) ? index[i] : TD_E2(w->f, multiply, index[i], dim_val(w, &s));

            sum = sum.i == UINT32_MAX ? step : TD_E2(w->f, add, sum, step);
        }
    }
    e.view->offset = sum;
    *out = e;
    return TD_OK;
}

td_status
element_at(walk *w, const thing *x, const nest *at, thing *out)
{
    nest inner;

    if (!is_array(x) && !x->lazy) {
        *out = *x;
        return loaded(w, out);
    }
    if (!x->lazy) {
        TD_TRY(element_place(w, x, at, out));
        return array_load(w, out, out);
    }
    if (!x->lazy->element) {
        *out = dummy(w, x);
        return TD_OK;
    }
    inner = *at;
    if (!at->flat) {
        align(w, x, at, inner.at);
        inner.n = x->type->ndim;
        memcpy(inner.shape, x->view->shape, sizeof inner.shape);
    }
    return x->lazy->element(w, x, &inner, out);
}

/* ---- loops ---- */

/* Is x provably of that shape and in C order, so that one flat index reaches its elements? */
static bool
can_be_flat(const thing *x, uint32_t n, const dim *shape)
{
    if (!is_array(x))
        return true;
    if (x->type->ndim != n || x->type->layout != 'C' || x->type->item[0]->kind != TD_T_NUM)
        return x->lazy && x->lazy->anywhere;
    if (!x->lazy)
        return true;
    if (x->lazy->anywhere)
        return true;
    if (x->lazy->own)
        return n == 1;
    for (uint32_t i = 0; i < x->lazy->c.n; i++)
        if (!can_be_flat(&x->lazy->c.arg[i], n, shape))
            return false;
    return true;
}

/* Do all arrays in x have that shape without broadcasting?  *cond: the condition for it when the program runs;
 * TD_NONE: they do.  false: they do not. */
static bool
whole_shape(walk *w, const thing *x, uint32_t n, const dim *shape, td_val *cond)
{
    if (!is_array(x) || (x->lazy && x->lazy->anywhere))
        return true;
    for (uint32_t i = 0; i < n; i++) {
        td_val same;

        if (same_dim(w, &x->view->shape[i], &shape[i]))
            continue;
        if (is_known(&x->view->shape[i]) && is_known(&shape[i]))
            return false;
        same = TD_E2(w->f, equal, dim_val(w, &x->view->shape[i]), dim_val(w, &shape[i]));
        *cond = cond->i == UINT32_MAX ? same : TD_E2(w->f, logical_and, *cond, same);
    }
    for (uint32_t i = 0; x->lazy && !x->lazy->own && i < x->lazy->c.n; i++)
        if (!whole_shape(w, &x->lazy->c.arg[i], n, shape, cond))
            return false;
    return true;
}

bool
flat_alone(walk *w, const thing *x)
{
    td_val cond = TD_NONE;

    return can_be_flat(x, x->type->ndim, x->view->shape) &&
           whole_shape(w, x, x->type->ndim, x->view->shape, &cond) && cond.i == UINT32_MAX;
}

void
nest_open(walk *w, nest *s, uint32_t n, const dim *shape, bool flat)
{
    td_val zero = td_const_int(w->f, TD_I64, 0), one = td_const_int(w->f, TD_I64, 1);

    s->n = n;
    flat = flat && n; /* a 0-d array has one element, and no loop */
    s->flat = flat;
    w->nests++;
    if (n)
        memcpy(s->shape, shape, n * sizeof *shape);
    if (flat) {
        s->flat_at = td_for(w->f, zero, dims_product(w, shape, n), one);
        w->depth++;
        if (n == 1)
            s->at[0] = s->flat_at;
        return;
    }
    for (uint32_t i = 0; i < n; i++) {
        s->at[i] = td_for(w->f, zero, dim_val(w, &shape[i]), one);
        w->depth++;
    }
}

void
nest_close(walk *w, nest *s)
{
    w->nests--;
    for (uint32_t i = s->flat ? 1 : s->n; i-- > 0;)
        close_region(w);
}

static td_status
store_loop(walk *w, const thing *to, const thing *x, bool flat, uint32_t node)
{
    thing at, e;
    nest s;

    nest_open(w, &s, to->type->ndim, to->view->shape, flat);
    TD_TRY(element_at(w, x, &s, &e));
    TD_TRY(is_packed(to) ? packed_place(w, to, &s, &at) : element_place(w, to, &s, &at));
    TD_TRY(array_store(w, &at, &e, node));
    nest_close(w, &s);
    return built(w, node);
}

static td_status
store_all(walk *w, const thing *to, const thing *x, uint32_t node)
{
    uint32_t n = to->type->ndim;
    td_val cond = TD_NONE;
    bool flat = to->type->item[0]->kind == TD_T_NUM && can_be_flat(to, n, to->view->shape) &&
                can_be_flat(x, n, to->view->shape) && whole_shape(w, x, n, to->view->shape, &cond);

    if (!flat || cond.i == UINT32_MAX)
        return store_loop(w, to, x, flat, node);
    td_if(w->f, cond);
    TD_TRY(store_loop(w, to, x, true, node));
    td_else(w->f);
    TD_TRY(store_loop(w, to, x, false, node));
    td_end(w->f);
    return built(w, node);
}

/* ---- memory ---- */

/* Raises where an extent is negative, or the bytes of an array are more than an int64 holds. */
static td_status
must_fit(walk *w, const td_type *item, uint32_t ndim, const dim *shape)
{
    static const char text[] = "array is too big; `arr.size * arr.dtype.itemsize` is larger than "
                               "the maximum possible size.";
    td_val bytes = td_const(w->f, TD_F64, (double)td_type_size(item));

    for (uint32_t i = 0; i < ndim; i++) {
        td_val n = dim_val(w, &shape[i]);

        if (shape[i].known < 0)
            TD_TRY(must(w, TD_E2(w->f, greater_equal, n, td_const_int(w->f, TD_I64, 0)),
                        TD_REPORT_VALUE, "negative dimensions are not allowed", NULL, 0));
        bytes = TD_E2(w->f, multiply, bytes, td_cast(w->f, n, TD_F64));
    }
    return must(w, TD_E2(w->f, less, bytes, td_const(w->f, TD_F64, 0x1p62)), TD_REPORT_VALUE, text,
                NULL, 0);
}

td_status
new_array(walk *w, const td_type *item, uint32_t ndim, const dim *shape, thing *out)
{
    td_val count = dims_product(w, shape, ndim), nbytes, p, ok;
    thing size;

    if (w->how->mode == TD_MODE_KERNEL || w->how->gpu)
        return bad(w, w->node, TD_ERR_TYPE,
                   "a kernel cannot make an array: store into one that it was given, or use "
                   "cuda.local.array");
    w->arrays++;
    TD_TRY(must_fit(w, item, ndim, shape));
    nbytes = TD_E2(w->f, multiply, count, td_const_int(w->f, TD_I64, td_type_size(item)));
    p = td_take(w->f, call_heap(w), nbytes);
    size = num_index(nbytes, false);
    ok = TD_E2(w->f, not_equal, p, td_const_int(w->f, TD_U64, 0));
    TD_TRY(must(w, ok, TD_REPORT_MEMORY, "", &size, 1));
    *out = array_thing(
        w, item, ndim, shape,
        td_pointer(w->f, p, item->kind == TD_T_RECORD ? TD_U8 : td_dtype_real_of(item->dt)),
        SPACE_GLOBAL, NULL);
    out->view->fresh = true;
    return built(w, w->node);
}

td_status
settle(walk *w, thing *x)
{
    thing to;

    if (x->type->kind == TD_T_TUPLE) {
        for (uint32_t i = 0; i < x->type->n; i++)
            TD_TRY(settle(w, &x->item[i]));
        return TD_OK;
    }
    if (is_generator(x))
        return generator_misplaced(w, x);
    if (!x->lazy)
        return TD_OK;
    TD_TRY(new_array(w, x->type->item[0], x->type->ndim, x->view->shape, &to));
    if (x->lazy->element)
        TD_TRY(store_all(w, &to, x, w->node));
    if (is_packed(x)) /* the copy stands for a view: nobody may store to it */
        to.type = td_type_array(to.type->item[0], to.type->ndim, to.type->layout, true);
    *x = to;
    return TD_OK;
}

/* ---- to[...] = x ---- */

static bool
of_unknown_origin(const walk *w, const view *v)
{
    const td_inst *s = v->base.i < w->f->n ? td_at(w->f, v->base) : NULL;

    return s && s->op == OP_pointer && td_at(w->f, s->arg[0])->op == OP_get;
}

/* Arrays of different arguments share no memory in the compilation that calls get first. td_made.apart makes the
 * caller check that, and choose the other compilation (how->overlap) where they do. */
static bool
may_share(walk *w, const view *a, const view *b)
{
    if (a->base.i == b->base.i || (a->arg < NO_ARG && a->arg == b->arg))
        return true;
    if (a->fresh || b->fresh)
        return false;
    if (a->arg < NO_ARG && b->arg < NO_ARG && w->how->mode == TD_MODE_FUNCTION) {
        if (!w->how->overlap)
            w->made->apart = true;
        return w->how->overlap;
    }
    return of_unknown_origin(w, a) || of_unknown_origin(w, b);
}

static bool
same_place(walk *w, const thing *a, const thing *b)
{
    if (a->view == b->view)
        return true;
    if (a->type->ndim != b->type->ndim || a->type->layout != b->type->layout ||
        a->view->base.i != b->view->base.i || !same_val(w, a->view->offset, b->view->offset, 6))
        return false;
    for (uint32_t i = 0; i < a->type->ndim; i++)
        if (!same_dim(w, &a->view->shape[i], &b->view->shape[i]) ||
            (a->type->layout == 'A' && !same_dim(w, &a->view->stride[i], &b->view->stride[i])))
            return false;
    return true;
}

/* Would computing x read memory that storing to `to` may have changed? */
static bool
reads_changed(walk *w, const thing *to, const thing *x)
{
    if (!is_array(x))
        return false;
    if (!x->lazy)
        return may_share(w, to->view, x->view) && !same_place(w, to, x);
    for (uint32_t i = 0; i < x->lazy->c.n; i++) {
        const thing *a = &x->lazy->c.arg[i];

        if (reads_changed(w, to, a) ||
            (x->lazy->own && is_array(a) && !a->lazy && may_share(w, to->view, a->view)))
            return true;
    }
    return false;
}

static td_status
copied_first(walk *w, thing *x, uint32_t node)
{
    thing to;

    if (w->how->mode == TD_MODE_KERNEL || w->how->gpu) {
        if (!x->lazy && !w->how->overlap)
            return TD_OK; /* a row of the same array is copied element by element, in order */
        return bad(w, node, TD_ERR_TYPE,
                   "the expression reads the array that it is stored to, at other places: a kernel "
                   "has no memory for the whole result; write a loop, or store into another array");
    }
    TD_TRY(new_array(w, x->type->item[0], x->type->ndim, x->view->shape, &to));
    TD_TRY(store_all(w, &to, x, node));
    *x = to;
    return TD_OK;
}

td_status
call_fill(walk *w, const thing *to, const thing *x, uint32_t node)
{
    uint32_t n = to->type->ndim;
    thing from = *x;

    if (to->lazy && !is_packed(to))
        return bad(w, node, TD_ERR_TYPE, "the result of an expression is not stored to");
    TD_TRY(loaded(w, &from));
    if (from.type->kind == TD_T_TUPLE)
        TD_TRY(tuple_array(w, &from, NULL, node, &from));
    if (!is_array(&from) && !is_num(&from) && from.type->kind != TD_T_RECORD)
        return bad(w, node, TD_ERR_TYPE, "%s cannot be assigned to %s", x->type->name,
                   to->type->name);
    if (is_array(&from) && from.type->ndim > n)
        return bad(w, node, TD_ERR_TYPE, "%s cannot be assigned to %s: it has more dims",
                   from.type->name, to->type->name);
    for (uint32_t i = 0; is_array(&from) && i < from.type->ndim; i++) {
        const dim *have = &from.view->shape[i], *want = &to->view->shape[n - from.type->ndim + i];

        if (same_dim(w, have, want) || dim_is_one(have))
            continue;
        if (is_known(have) && is_known(want))
            return bad(w, node, TD_ERR_VALUE, "%lld elements cannot be assigned to an axis of %lld",
                       (long long)have->known, (long long)want->known);
        TD_TRY(check_dims(w, want, have, true));
    }
    if (reads_changed(w, is_packed(to) ? to->lazy->c.arg : to, &from))
        TD_TRY(copied_first(w, &from, node));
    return store_all(w, to, &from, node);
}
