/* view.c - strided windows on a buffer. */
#include "type/shape.h"

#include <inttypes.h>

td_view
td_view_contiguous(const td_shape *s)
{
    td_view v = {.shape = *s};
    int64_t step = 1;

    for (int i = s->ndim - 1; i >= 0; i--) {
        v.stride[i] = step;
        step *= s->dim[i];
    }
    return v;
}

void
td_view_set(td_view *out, const td_view *v)
{
    out->shape.ndim = v->shape.ndim;
    out->offset = v->offset;
    for (int i = 0; i < v->shape.ndim; i++) {
        out->shape.dim[i] = v->shape.dim[i];
        out->stride[i] = v->stride[i];
    }
}

void
td_view_set_contiguous(td_view *out, const td_shape *s)
{
    int64_t step = 1;

    out->shape.ndim = s->ndim;
    out->offset = 0;
    for (int i = s->ndim - 1; i >= 0; i--) {
        out->shape.dim[i] = s->dim[i];
        out->stride[i] = step;
        step *= s->dim[i];
    }
}

td_view
td_view_laid(const td_shape *s, const int *axes)
{
    td_view v = {.shape = *s};
    int64_t step = 1;

    for (int i = s->ndim - 1; i >= 0; i--) {
        v.stride[axes[i]] = step;
        step *= s->dim[axes[i]];
    }
    return v;
}

bool
td_view_is_contiguous(const td_view *v)
{
    int64_t step = 1;

    if (td_shape_size(&v->shape) <= 1)
        return true;
    for (int i = v->shape.ndim - 1; i >= 0; i--) {
        if (v->shape.dim[i] != 1 && v->stride[i] != step)
            return false;
        step *= v->shape.dim[i];
    }
    return true;
}

td_status
td_view_broadcast(const td_view *v, const td_shape *shape, td_view *out)
{
    int extra = shape->ndim - v->shape.ndim;
    char a[256], b[256];
    bool fits = extra >= 0;

    out->shape = *shape;
    out->offset = v->offset;
    for (int i = 0; i < shape->ndim && fits; i++) {
        int64_t d = i < extra ? 1 : v->shape.dim[i - extra];

        fits = d == shape->dim[i] || d == 1;
        out->stride[i] = d == 1 ? 0 : v->stride[i - extra];
    }
    if (!fits)
        return td_fail(TD_ERR_VALUE, "could not broadcast input array from shape %s into shape %s",
                       td_shape_text(&v->shape, a, sizeof a), td_shape_text(shape, b, sizeof b));
    return TD_OK;
}

td_status
td_view_transpose(const td_view *v, const int *axes, td_view *out)
{
    uint32_t seen = 0;
    td_view r = *v;

    for (int i = 0; i < v->shape.ndim; i++) {
        if (axes[i] < 0 || axes[i] >= v->shape.ndim || seen >> axes[i] & 1)
            return td_fail(TD_ERR_VALUE, "transpose: axes are not a permutation of %d axes",
                           v->shape.ndim);
        seen |= 1u << axes[i];
        r.shape.dim[i] = v->shape.dim[axes[i]];
        r.stride[i] = v->stride[axes[i]];
    }
    *out = r;
    return TD_OK;
}

/* Matches groups of old axes with groups of new axes of the same size.  A group can be
 * reshaped only if its old axes lie without gaps inside one another. */
td_status
td_view_reshape(const td_view *v, const td_shape *shape, td_view *out)
{
    int64_t od[TD_MAXDIM], os[TD_MAXDIM];
    int no = 0, oi = 0, ni = 0;
    td_shape want;

    TD_TRY(td_shape_infer(&v->shape, shape, &want));
    *out = td_view_contiguous(&want);
    out->offset = v->offset;
    if (td_shape_size(&want) == 0)
        return TD_OK;
    for (int i = 0; i < v->shape.ndim; i++)
        if (v->shape.dim[i] != 1) {
            od[no] = v->shape.dim[i];
            os[no++] = v->stride[i];
        }
    while (oi < no && ni < want.ndim) {
        int oj = oi + 1, nj = ni + 1;
        int64_t a = od[oi], b = want.dim[ni], step;

        while (a != b) {
            if (a < b)
                a *= od[oj++];
            else
                b *= want.dim[nj++];
        }
        for (int k = oi; k + 1 < oj; k++)
            if (os[k] != od[k + 1] * os[k + 1])
                return TD_SKIP;
        step = os[oj - 1];
        for (int k = nj - 1; k >= ni; k--) {
            out->stride[k] = step;
            step *= want.dim[k];
        }
        oi = oj;
        ni = nj;
    }
    return TD_OK;
}

td_view
td_view_slice(const td_view *v, int axis, int64_t start, int64_t step, int64_t count)
{
    td_view r = *v;

    r.offset += count ? start * v->stride[axis] : 0;
    r.shape.dim[axis] = count;
    r.stride[axis] = step * v->stride[axis];
    return r;
}

void
td_view_extent(const td_view *v, int64_t *lo, int64_t *hi)
{
    *lo = *hi = v->offset;
    if (td_shape_size(&v->shape) == 0)
        return;
    for (int i = 0; i < v->shape.ndim; i++) {
        bool down = v->stride[i] < 0;
        int64_t *end = down ? lo : hi, span;

        if (__builtin_mul_overflow(v->shape.dim[i] - 1, v->stride[i], &span) ||
            __builtin_add_overflow(*end, span, end))
            *end = down ? INT64_MIN : INT64_MAX;
    }
    *hi += *hi < INT64_MAX;
}

/* A sufficient test for no overlap: sorted by stride, each axis steps over everything that the
 * smaller ones reach. */
bool
td_view_has_overlap(const td_view *v)
{
    bool used[TD_MAXDIM] = {false};
    int64_t reach = 0;

    for (int n = 0; n < v->shape.ndim; n++) {
        int best = -1;

        for (int i = 0; i < v->shape.ndim; i++) {
            int64_t si = v->stride[i] < 0 ? -v->stride[i] : v->stride[i];
            int64_t sb = best < 0 ? 0 : v->stride[best] < 0 ? -v->stride[best] : v->stride[best];

            if (!used[i] && (best < 0 || si < sb))
                best = i;
        }
        used[best] = true;
        if (v->shape.dim[best] > 1) {
            int64_t s = v->stride[best] < 0 ? -v->stride[best] : v->stride[best];

            if (s <= reach)
                return true;
            reach += s * (v->shape.dim[best] - 1);
        }
    }
    return false;
}

bool
td_view_eq(const td_view *a, const td_view *b)
{
    if (!td_shape_eq(&a->shape, &b->shape) || a->offset != b->offset)
        return false;
    for (int i = 0; i < a->shape.ndim; i++)
        if (a->shape.dim[i] > 1 && a->stride[i] != b->stride[i])
            return false;
    return true;
}
