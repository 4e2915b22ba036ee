/* view.c - views: slices, single places, shapes, permutations, broadcasts. */
#include "api/api.h"

/* Python's slice.indices: *start and *stop become places, the result is their number. */
static int64_t
slice_count(int64_t extent, int64_t *start, int64_t *stop, int64_t step)
{
    int64_t *bound[2] = {start, stop};

    for (int i = 0; i < 2; i++) {
        int64_t *b = bound[i];

        if (*b < 0)
            *b = *b < -extent ? (step < 0 ? -1 : 0) : *b + extent;
        else if (*b >= extent)
            *b = step < 0 ? extent - 1 : extent;
    }
    if (step > 0)
        return *start < *stop ? (*stop - *start - 1) / step + 1 : 0;
    return *stop < *start ? (int64_t)((uint64_t)(*start - *stop - 1) / -(uint64_t)step) + 1 : 0;
}

static td_status
slice(const td_array *a, int axis, int64_t start, int64_t stop, int64_t step, td_array *out)
{
    td_view v;
    int64_t count;

    TD_TRY(td_axis_normalize("slice", axis, a->view.shape.ndim, &axis));
    if (!step)
        return td_fail(TD_ERR_VALUE, "slice: a step of 0");
    count = slice_count(a->view.shape.dim[axis], &start, &stop, step);
    v = td_view_slice(&a->view, axis, start, step, count);
    *out = td_array_view(a, &v);
    return TD_OK;
}

treadle_status
treadle_slice(const treadle_array *a, int axis, int64_t start, int64_t stop, int64_t step,
              treadle_array **out)
{
    bool held = td_api_enter();
    td_array r;
    td_status st = a && out ? slice(&a->a, axis, start, stop, step, &r) : td_api_null("slice");

    return td_api_done(held, st, &r, a, out);
}

static td_status
view_place(const td_array *a, int axis, int64_t i, td_array *out)
{
    td_view v = a->view;
    int64_t extent, at;

    TD_TRY(td_axis_normalize("at", axis, v.shape.ndim, &axis));
    extent = v.shape.dim[axis];
    at = i < 0 ? i + extent : i;
    if (at < 0 || at >= extent)
        return td_fail(TD_ERR_INDEX, "at: index %lld is out of bounds for axis %d with size %lld",
                       (long long)i, axis, (long long)extent);
    v.offset += at * v.stride[axis];
    for (v.shape.ndim--; axis < v.shape.ndim; axis++) {
        v.shape.dim[axis] = v.shape.dim[axis + 1];
        v.stride[axis] = v.stride[axis + 1];
    }
    *out = td_array_view(a, &v);
    return TD_OK;
}

treadle_status
treadle_at(const treadle_array *a, int axis, int64_t i, treadle_array **out)
{
    bool held = td_api_enter();
    td_array r;
    td_status st = a && out ? view_place(&a->a, axis, i, &r) : td_api_null("at");

    return td_api_done(held, st, &r, a, out);
}

/* A shape that may hold one -1. */
static td_status
api_reshape(const td_array *a, int ndim, const int64_t *dims, td_array *out)
{
    td_shape want = {.ndim = ndim}, s;

    if (ndim < 0 || ndim > TD_MAXDIM)
        return td_fail(TD_ERR_VALUE, "reshape: %d axes; at most %d are supported", ndim, TD_MAXDIM);
    for (int i = 0; i < ndim; i++) {
        if (dims[i] < -1)
            return td_fail(TD_ERR_VALUE, "reshape: axis %d has %lld elements", i,
                           (long long)dims[i]);
        want.dim[i] = dims[i];
    }
    TD_TRY(td_shape_infer(&a->view.shape, &want, &s));
    return td_array_reshape(a, &s, out);
}

treadle_status
treadle_reshape(const treadle_array *a, int ndim, const int64_t *dims, treadle_array **out)
{
    bool held = td_api_enter();
    td_array r;
    td_status st = a && out && (dims || ndim <= 0) ? api_reshape(&a->a, ndim, dims, &r)
                                                   : td_api_null("reshape");

    return td_api_done(held, st, &r, a, out);
}

static td_status
api_transpose(const td_array *a, const int *axes, td_array *out)
{
    int order[TD_MAXDIM], ndim = a->view.shape.ndim;

    for (int i = 0; i < ndim; i++)
        TD_TRY(td_axis_normalize("transpose", axes ? axes[i] : ndim - 1 - i, ndim, &order[i]));
    return td_array_transpose(a, order, out);
}

treadle_status
treadle_transpose(const treadle_array *a, const int *axes, treadle_array **out)
{
    bool held = td_api_enter();
    td_array r;
    td_status st = a && out ? api_transpose(&a->a, axes, &r) : td_api_null("transpose");

    return td_api_done(held, st, &r, a, out);
}

treadle_status
treadle_broadcast(const treadle_array *a, int ndim, const int64_t *dims, treadle_array **out)
{
    bool held = td_api_enter();
    td_array r;
    td_shape s;
    treadle_status done;
    td_status st = a && out ? td_api_shape("broadcast", ndim, dims, &s) : td_api_null("broadcast");

    if (!st)
        st = td_array_broadcast(&a->a, &s, &r);
    done = td_api_done(td_api_enter(), st, &r, a, out);
    if (!done)
        (*out)->fixed = true;
    return td_api_leave(held, (td_status)done);
}
