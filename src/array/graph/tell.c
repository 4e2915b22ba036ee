/* tell.c - see tell.h.  It runs only while somebody watches, so it need not be fast. */
#include "array/graph/tell.h"

#include <stdlib.h>

enum {
    LEAST = 1024,    /* elements: smaller arrays cost nothing worth a remark */
    LINE_BYTES = 64, /* a cache line: with a wider step, each element reads a line of its own */
};

static td_dtype
operand_dtype(const td_operand *x)
{
    return x->array ? td_array_dtype(x->array) : x->scalar.dt;
}

/* Does an operand of float32 give float64 because another operand is float64? */
static bool
is_widened(const td_operand *x, int n, td_dtype dt)
{
    bool narrow = false, wide = false;

    for (int i = 0; i < n; i++) {
        td_dtype own = operand_dtype(&x[i]);

        narrow |= x[i].array && td_array_size(x[i].array) >= LEAST && own == TD_F32;
        wide |= (x[i].array || !x[i].weak) && own == TD_F64;
    }
    return n > 1 && narrow && wide && dt == TD_F64;
}

/* The axis with more than one element and the shortest stride; -1: none. */
static int
inner_axis(const td_view *v)
{
    int best = -1;

    for (int i = v->shape.ndim; i-- > 0;)
        if (v->shape.dim[i] > 1 && v->stride[i] &&
            (best < 0 || llabs(v->stride[i]) < llabs(v->stride[best])))
            best = i;
    return best;
}

static bool
is_plane(const td_view *v)
{
    int axes = 0;

    for (int i = 0; i < v->shape.ndim; i++)
        axes += v->shape.dim[i] > 1 && v->stride[i];
    return axes > 1;
}

/* Axes count from the last one, since operands broadcast.  0: not an array, or one element
 * repeated. */
static int
inner_of(const td_operand *x)
{
    int axis = x->array ? inner_axis(&x->array->view) : -1;

    return axis < 0 ? 0 : x->array->view.shape.ndim - axis;
}

static size_t
nbytes_of(const td_array *a)
{
    return (size_t)td_array_size(a) * td_dtype_size(td_array_dtype(a));
}

static bool
is_apart(const td_array *a)
{
    int axis = inner_axis(&a->view);

    return axis >= 0 &&
           llabs(a->view.stride[axis]) * (int64_t)td_dtype_size(td_array_dtype(a)) >= LINE_BYTES;
}

/* Reports an operand whose neighbours lie far apart, or two whose neighbours lie along
 * different axes. */
static void
tell_strides(const td_operand *x, int n)
{
    int first = 0;

    for (int i = 0; i < n; i++) {
        int inner = inner_of(&x[i]);

        if (!inner || td_array_size(x[i].array) < LEAST)
            continue;
        if (is_apart(x[i].array))
            td_trace_instant(TD_TRACE_stride, td_array_dev(x[i].array), "column",
                             nbytes_of(x[i].array));
        else if (first && is_plane(&x[i].array->view) && inner != first)
            td_trace_instant(TD_TRACE_stride, td_array_dev(x[i].array), "transpose",
                             nbytes_of(x[i].array));
        first = first || !is_plane(&x[i].array->view) ? first : inner;
    }
}

void
td_tell_operands(const char *name, const td_operand *x, int n, td_dtype dt, const td_shape *s)
{
    if (!td_tracing())
        return;
    tell_strides(x, n);
    if (is_widened(x, n, dt))
        td_trace_instant(TD_TRACE_widen, NULL, name, (size_t)td_shape_size(s) * td_dtype_size(dt));
}
