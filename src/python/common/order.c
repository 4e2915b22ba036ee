/* order.c - NumPy's order=: how the elements of a new array lie in memory. */
#include "python/common/py.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

char
py_order(PyObject *o, char dflt)
{
    if (py_is_none(o))
        return dflt;
    if (!PyUnicode_Check(o)) {
        PyErr_Format(PyExc_TypeError, "order must be str, not %R", (PyObject *)Py_TYPE(o));
        return 0;
    }
    for (const char *c = "CcFfAaKk"; *c; c++)
        if (PyUnicode_CompareWithASCIIString(o, (char[]){*c, 0}) == 0)
            return (char)toupper(*c);
    PyErr_Format(PyExc_ValueError, "order must be one of 'C', 'F', 'A', or 'K' (got '%U')", o);
    return 0;
}

bool
py_is_fortran(const td_view *v)
{
    int axes[TD_MAXDIM], ndim = v->shape.ndim;
    td_view t;

    for (int i = 0; i < ndim; i++)
        axes[i] = ndim - 1 - i;
    return !td_view_transpose(v, axes, &t) && td_view_is_contiguous(&t);
}

bool
py_lies_in_fortran(const td_view *v)
{
    return !td_view_is_contiguous(v) && py_is_fortran(v);
}

bool
py_is_laid(const td_view *v, char order)
{
    return order == 'C' ? td_view_is_contiguous(v) : order != 'F' || py_is_fortran(v);
}

static int64_t
step_of(const td_view *v, int axis)
{
    return v->shape.dim[axis] == 1 ? 0 : llabs(v->stride[axis]);
}

/* Orders axes from the longest steps to the shortest.  As in NumPy, an axis with step 0 is
 * compared with no other and stays where it is; hence an insertion sort from the last axis on
 * that skips such axes. */
void
py_by_steps(const td_view *v, int axes[])
{
    int n = v->shape.ndim, inner[TD_MAXDIM];

    for (int i = 0; i < n; i++) {
        int axis = n - 1 - i, at = i;
        int64_t step = step_of(v, axis);

        for (int k = i - 1; k >= 0; k--) {
            int64_t other = step_of(v, inner[k]);

            if (step && other && other <= step)
                break;
            if (step && other)
                at = k;
        }
        memmove(inner + at + 1, inner + at, (size_t)(i - at) * sizeof *inner);
        inner[at] = axis;
    }
    for (int i = 0; i < n; i++)
        axes[i] = inner[n - 1 - i];
}

bool
py_as_it_lies(const td_array *a, int axes[], td_array *out)
{
    bool moved = false;

    if (td_view_is_contiguous(&a->view))
        return false;
    py_by_steps(&a->view, axes);
    for (int i = 0; i < a->view.shape.ndim; i++)
        moved |= axes[i] != i;
    return moved && !td_array_transpose(a, axes, out);
}

td_status
py_as_it_was(const td_array *r, const int axes[], int ndim, uint32_t gone, td_array *out)
{
    int back[TD_MAXDIM], at[TD_MAXDIM], n = 0;

    for (int i = 0; i < ndim; i++) /* axis axes[i] of the source is axis n of r */
        if (!(gone >> axes[i] & 1))
            at[axes[i]] = n++;
    n = 0;
    for (int i = 0; i < ndim; i++)
        if (!(gone >> i & 1))
            back[n++] = at[i];
    return td_array_transpose(r, back, out);
}

/* As py_by_steps, for new memory, where NumPy puts axes with step 0 last. */
static void
by_lengths(const td_view *v, int axes[])
{
    for (int i = 0; i < v->shape.ndim; i++) {
        int at = i;

        for (; at > 0 && llabs(v->stride[axes[at - 1]]) < llabs(v->stride[i]); at--)
            axes[at] = axes[at - 1];
        axes[at] = i;
    }
}

td_view
py_layout(const td_view *like, const td_shape *s, char order)
{
    int axes[TD_MAXDIM];
    bool kept = order == 'K' && like && like->shape.ndim == s->ndim && !td_view_is_contiguous(like);

    if (order == 'F' || (order == 'A' && like && py_lies_in_fortran(like)))
        for (int i = 0; i < s->ndim; i++)
            axes[i] = s->ndim - 1 - i;
    else if (kept)
        by_lengths(like, axes);
    else
        return td_view_contiguous(s);
    return td_view_laid(s, axes);
}
