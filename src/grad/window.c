/* window.c - strided views of variables: subscripts, as_strided, and their adjoints.
 *
 * The adjoint of reading a view adds the gradient into zeros through that view, several times
 * where elements repeat.  The adjoint of that is to read the view again.
 */
#include "grad/internal.h"

#include <stdlib.h>

enum {
    PARTS_MAX = 64
    /* most non-overlapping views that an overlapping one is cut into; with more, elements are
 * summed by index */
};

typedef struct window {
    td_shape from; /* the operand's */
    td_view at;    /* on the operand's elements in C order, or on flat memory of `span` elements */
    td_view whole; /* strided: the operand's place in that memory */
    int64_t span;
} window;

/* ---- placing ---- */

/* The axes without which the view names no element twice, shortest first; *count: the product
 * of their extents. */
static uint32_t
overlapping(const td_view *w, int64_t *count)
{
    uint32_t axes = 0;
    td_view rest = *w;

    *count = 1;
    while (td_view_has_overlap(&rest)) {
        int best = -1;

        for (int i = 0; i < rest.shape.ndim; i++)
            if (rest.shape.dim[i] > 1 && (best < 0 || rest.shape.dim[i] < rest.shape.dim[best]))
                best = i;
        if (best < 0)
            break; /* only axes of extent 1 are left: nothing overlaps */
        axes |= 1u << best;
        *count *= rest.shape.dim[best];
        rest.shape.dim[best] = 1;
    }
    return axes;
}

/* The n-th of the views that these axes cut v into; their extents become 1. */
static td_view
nth_part(const td_view *v, uint32_t axes, int64_t n)
{
    td_view r = *v;

    for (int i = 0; i < v->shape.ndim; i++)
        if (axes >> i & 1) {
            r.offset += n % v->shape.dim[i] * v->stride[i];
            n /= v->shape.dim[i];
            r.shape.dim[i] = 1;
        }
    return r;
}

static td_status
add_parts(const td_array *to, const td_view *w, uint32_t axes, int64_t count, const td_array *g)
{
    td_status st = TD_OK;

    for (int64_t n = 0; n < count && !st; n++) {
        td_view part = nth_part(w, axes, n), own = nth_part(&g->view, axes, n);
        td_array sum = td_array_view(to, &part), more = td_array_view(g, &own);

        st =
            td_array_apply_into(OP_add, (td_operand[]){{.array = &sum}, {.array = &more}}, 2, &sum);
        td_array_unref(&sum);
        td_array_unref(&more);
    }
    return st;
}

/* Adds each element at its index; `to` is contiguous from 0. */
static td_status
add_by_places(const td_array *to, const td_view *w, const td_array *g)
{
    td_scalar zero = {.dt = TD_I64}, one = {.dt = TD_I64, .i = 1};
    td_shape line = {.ndim = 1, .dim = {td_array_size(to)}};
    td_pick p = {.n = 1, .trusted = true};
    td_array places, at, flat;
    td_status st;

    TD_TRY(td_array_iota(td_array_dev(to), TD_I64, line.dim[0], zero, one, &places));
    at = td_array_view(&places, w);
    td_array_unref(&places);
    p.index[0] = &at;
    st = td_array_reshape(to, &line, &flat);
    if (!st) {
        st = td_array_put_sum(&flat, &p, g);
        td_array_unref(&flat);
    }
    td_array_unref(&at);
    return st;
}

/* Zeros of shape s with g added through the view w. */
static td_status
into_zeros(const td_array *g, const td_shape *s, const td_view *w, td_array *out)
{
    td_scalar zero = {.dt = TD_I64};
    int64_t count;
    uint32_t axes;
    td_status st;

    TD_TRY(td_array_full(td_array_dev(g), td_array_dtype(g), s, zero, out));
    axes = overlapping(w, &count);
    if (!axes) {
        td_array part = td_array_view(out, w);

        st = td_array_assign(&part, &(td_operand){.array = g});
        td_array_unref(&part);
    } else if (count <= PARTS_MAX)
        st = add_parts(out, w, axes, count, g);
    else
        st = add_by_places(out, w, g);
    if (st)
        td_array_unref(out);
    return st;
}

/* ---- rules ---- */

td_status
td_var_window(td_var *g, const td_view *w, td_var **out)
{
    td_view moved = *w;
    td_var *packed;
    td_status st;

    if (td_view_is_contiguous(&g->value.view)) {
        moved.offset += g->value.view.offset;
        return td_var_slice(g, &moved, w, out);
    }
    TD_TRY(td_var_copy(g, &packed));
    st = td_view_is_contiguous(&packed->value.view)
             ? td_var_slice(packed, w, w, out)
             : td_fail(TD_ERR_STATE, "window: a copy is not contiguous");
    td_var_unref(packed);
    return st;
}

static td_status
placed_back(const td_back *b)
{
    return td_var_window(b->g[0], &((const window *)b->fn->par)->at, &b->in[0]);
}

static const td_rule placed_rule = {"SliceBackward", placed_back, NULL, NULL};

td_status
td_var_place(td_var *g, const td_shape *s, const td_view *w, td_var **out)
{
    td_gradfn *f = NULL;
    td_array a;

    TD_TRY(into_zeros(&g->value, s, w, &a));
    if (td_grad_wanted(&g, 1)) {
        td_status st = td_gradfn_new(&placed_rule, &g, 1, 1, 0, sizeof(window), &f);

        if (st) {
            td_array_unref(&a);
            return st;
        }
        *(window *)f->par = (window){.from = *s, .at = *w};
    }
    return td_gradfn_result(f, &a, 0, out);
}

static td_status
slice_back(const td_back *b)
{
    const window *p = b->fn->par;

    return td_var_place(b->g[0], &p->from, &p->at, &b->in[0]);
}

static td_status
strided_back(const td_back *b)
{
    const window *p = b->fn->par;
    td_shape line = {.ndim = 1, .dim = {p->span}};
    td_var *flat;
    td_status st;

    TD_TRY(td_var_place(b->g[0], &line, &p->at, &flat));
    st = td_var_window(flat, &p->whole, &b->in[0]);
    td_var_unref(flat);
    return st;
}

static const td_rule slice_rule = {"Slice", slice_back, NULL, NULL},
                     strided_rule = {"AsStrided", strided_back, NULL, NULL};

/* ---- reading ---- */

/* The view w of v, as the result of a function with that rule; p keeps the view. */
static td_status
recorded(const td_rule *rule, td_var *v, const td_view *w, const window *p, td_var **out)
{
    td_array a = td_array_view(&v->value, w);
    td_gradfn *f = NULL;

    if (td_grad_wanted(&v, 1)) {
        td_status st = td_gradfn_new(rule, &v, 1, 1, 0, sizeof *p, &f);

        if (st) {
            td_array_unref(&a);
            return st;
        }
        *(window *)f->par = *p;
    }
    return td_var_view(v, f, &a, out);
}

td_status
td_var_slice(td_var *v, const td_view *w, const td_view *dense, td_var **out)
{
    return recorded(&slice_rule, v, w, &(window){.from = v->value.view.shape, .at = *dense}, out);
}

void
td_window_span(const td_view *whole, const td_view *part, int64_t *lo, int64_t *hi)
{
    int64_t from, to;

    td_view_extent(whole, lo, hi);
    td_view_extent(part, &from, &to);
    if (to > from) {
        *lo = from < *lo ? from : *lo;
        *hi = to > *hi ? to : *hi;
    }
}

td_status
td_var_strided(td_var *v, const td_view *w, td_var **out)
{
    const td_view *whole = &v->value.view;
    window p = {.from = whole->shape, .at = *w, .whole = *whole};
    int64_t lo, hi;

    td_window_span(whole, w, &lo, &hi);
    p.at.offset -= lo;
    p.whole.offset -= lo;
    p.span = hi - lo;
    if (td_view_is_contiguous(whole) && p.span == td_shape_size(&whole->shape))
        return recorded(&slice_rule, v, w, &p, out);
    if (td_grad_wanted(&v, 1) && td_view_has_overlap(whole))
        return td_fail(TD_ERR_STATE, "as_strided: elements that share memory have no gradient");
    return recorded(&strided_rule, v, w, &p, out);
}
