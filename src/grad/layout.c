/* layout.c - where the elements of a result lie in memory, by PyTorch's rules. */
#include "grad/layout.h"

void
td_layout_strides(const td_view *v, td_shape *out)
{
    bool empty = td_shape_size(&v->shape) == 0;
    int64_t next = 1;

    out->ndim = v->shape.ndim;
    for (int k = v->shape.ndim - 1; k >= 0; k--) {
        int64_t n = v->shape.dim[k], own = v->stride[k];

        out->dim[k] = own || (n > 1 && !empty) ? own : next;
        next = (n > 1 ? n : 1) * out->dim[k];
    }
}

bool
td_layout_plain(const td_view *v)
{
    int64_t step = 1;

    for (int k = v->shape.ndim - 1; k >= 0; k--) {
        if (v->stride[k] != step)
            return false;
        step *= v->shape.dim[k];
    }
    return step != 0;
}

/* ---- layouts that operands may have ---- */

/* Do the elements fill their memory, each place once? */
static bool
is_dense(const td_shape *s, const td_shape *stride)
{
    int order[TD_MAXDIM], n = 0;
    int64_t step = 1;

    for (int i = 0; i < s->ndim; i++) {
        int at = n;

        if (s->dim[i] < 2)
            continue;
        for (; at > 0 && stride->dim[order[at - 1]] > stride->dim[i]; at--)
            order[at] = order[at - 1];
        order[at] = i;
        n++;
    }
    for (int k = 0; k < n; k++) {
        if (stride->dim[order[k]] != step)
            return false;
        step *= s->dim[order[k]];
    }
    return true;
}

/* The strides of a batch of images, or of volumes, whose channels lie last. */
static void
channels_last(const td_shape *s, td_shape *out)
{
    int64_t step = s->dim[1];

    out->ndim = s->ndim;
    out->dim[1] = 1;
    for (int k = s->ndim - 1; k > 1; k--) {
        out->dim[k] = step;
        step *= s->dim[k];
    }
    out->dim[0] = step;
}

/* Are these the strides, where there is more than one element to step to? */
static bool
steps_so(const td_shape *s, const td_shape *stride, const td_shape *want)
{
    for (int k = 0; k < s->ndim; k++)
        if (s->dim[k] > 1 && stride->dim[k] != want->dim[k])
            return false;
    return true;
}

bool
td_layout_channels_last(const td_view *v)
{
    td_shape s = v->shape, stride;
    int64_t least = 0;

    if (s.ndim != 4 && s.ndim != 5)
        return false;
    td_layout_strides(v, &stride);
    for (int k = 0; k < s.ndim; k++) { /* from the channels, by the last dim, to the batch */
        int dim = k == 0 ? 1 : k == s.ndim - 1 ? 0 : s.ndim - k;

        if (s.dim[dim] == 0 || stride.dim[dim] == 0 || stride.dim[dim] < least ||
            (dim == 0 && least == stride.dim[1]))
            return false;
        least = stride.dim[dim] * (s.dim[dim] > 1 ? s.dim[dim] : 1);
    }
    return true;
}

/* ---- the order of dims ---- */

/* Below 0: dim `inner` belongs inside of dim `outer`; above 0: outside of it; 0: the operands do not say. */
static int
compare(const td_shape *s, const td_shape *stride, int n, int inner, int outer)
{
    for (int k = 0; k < n; k++) {
        int64_t a = stride[k].dim[inner], b = stride[k].dim[outer];

        if (a == 0 || b == 0)
            continue;
        if (a != b)
            return a < b ? -1 : 1;
        if (s->dim[inner] > s->dim[outer])
            return 1;
    }
    return 0;
}

/* Strides without gaps, the dims in the order of the first operand that has one for them. */
static void
lay_in_order(const td_shape *s, const td_shape *stride, int n, td_view *out)
{
    int order[TD_MAXDIM] = {0}; /* the innermost dim first */
    int64_t step = 1;

    for (int i = 0; i < s->ndim; i++)
        order[i] = s->ndim - 1 - i;
    for (int i = 1; i < s->ndim; i++)
        for (int at = i, k = i - 1; k >= 0; k--) {
            int found = compare(s, stride, n, order[k], order[at]), dim = order[at];

            if (found < 0)
                break;
            if (found > 0) {
                order[at] = order[k];
                order[k] = dim;
                at = k;
            }
        }
    for (int i = 0; i < s->ndim; i++) {
        out->stride[order[i]] = step;
        step *= s->dim[order[i]] > 1 ? s->dim[order[i]] : 1;
    }
}

static void
set_strides(const td_shape *stride, td_view *out)
{
    for (int k = 0; k < stride->ndim; k++)
        out->stride[k] = stride->dim[k];
}

void
td_layout_like(const td_view *v, td_view *out)
{
    td_shape stride;

    td_layout_strides(v, &stride);
    td_view_set_contiguous(out, &v->shape);
    if (is_dense(&v->shape, &stride))
        set_strides(&stride, out);
    else
        lay_in_order(&v->shape, &stride, 1, out);
}

/* Have all operands, of the result's shape, one layout without gaps? */
static bool
have_one_layout(const td_shape *s, const td_shape *stride, int n, td_view *out)
{
    bool plain = true, last = s->ndim == 4 || s->ndim == 5, same = true;
    td_shape c = {0}, cl = {0};

    td_layout_strides(out, &c);
    if (last)
        channels_last(s, &cl);
    for (int k = 0; k < n; k++) {
        plain = plain && (steps_so(s, &stride[k], &c) || td_shape_size(s) == 0);
        last = last && steps_so(s, &stride[k], &cl);
        same = same && is_dense(s, &stride[k]) && td_shape_eq(&stride[k], &stride[0]);
    }
    if (!plain && (last || same))
        set_strides(last ? &cl : &stride[0], out);
    return plain || last || same;
}

void
td_layout_order(const td_shape *s, const td_view *const *src, int n, td_view *out)
{
    td_shape stride[TD_LAYOUT_SOURCES];

    td_view_set_contiguous(out, s);
    for (int k = 0; k < n; k++)
        for (int i = 0; i < s->ndim; i++)
            stride[k].dim[i] = src[k]->stride[i];
    lay_in_order(s, stride, n, out);
}

void
td_layout_follow(const td_shape *s, const td_view *const *src, int n, td_view *out)
{
    td_shape stride[TD_LAYOUT_SOURCES];
    bool alike = true;

    td_view_set_contiguous(out, s);
    for (int k = 0; k < n; k++) {
        int extra = s->ndim - src[k]->shape.ndim;
        td_shape own;

        td_layout_strides(src[k], &own);
        stride[k].ndim = s->ndim;
        for (int i = 0; i < s->ndim; i++) {
            bool repeats = i < extra || (src[k]->shape.dim[i - extra] == 1 && s->dim[i] != 1);

            stride[k].dim[i] = repeats ? 0 : own.dim[i - extra];
        }
        alike = alike && td_shape_eq(&src[k]->shape, s);
    }
    if (!alike || !have_one_layout(s, stride, n, out))
        lay_in_order(s, stride, n, out);
}

td_status
td_layout_settle(td_array *a, const td_view *layout)
{
    td_array moved;

    if (td_view_eq(&a->view, layout) || td_array_size(a) == 0) {
        for (int k = 0; k < layout->shape.ndim; k++)
            a->view.stride[k] = layout->stride[k];
        return TD_OK;
    }
    TD_TRY(td_array_cast_as(a, td_array_dtype(a), layout, &moved));
    td_array_unref(a);
    *a = moved;
    return TD_OK;
}
