/* shape.c - extents, strides, broadcasting. */
#include "type/shape.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

td_status
td_shape_make(int ndim, const int64_t *dim, td_shape *out)
{
    int64_t n = 1;
    bool empty = false;

    if (ndim < 0 || ndim > TD_MAXDIM)
        return td_fail(TD_ERR_VALUE, "an array of %d dimensions: at most %d are supported", ndim,
                       TD_MAXDIM);
    out->ndim = ndim;
    for (int i = 0; i < ndim; i++) {
        if (dim[i] < 0)
            return td_fail(TD_ERR_VALUE,
                           "negative dimensions are not allowed: axis %d has %" PRId64, i, dim[i]);
        empty |= dim[i] == 0;
        out->dim[i] = dim[i];
    }
    for (int i = 0; i < ndim && !empty; i++)
        if (__builtin_mul_overflow(n, dim[i], &n) || n > INT64_MAX / 16) {
            char text[256];

            return td_fail(TD_ERR_VALUE, "array is too big: shape %s",
                           td_shape_text(out, text, sizeof text));
        }
    return TD_OK;
}

const char *
td_shape_list(const td_shape *s, char *buf, size_t n)
{
    size_t last;

    td_shape_text(s, buf, n);
    last = strlen(buf) - 1;
    if (last > 1 && buf[last - 1] == ',') /* (3,) */
        buf[last--] = '\0';
    buf[0] = '[';
    buf[last] = ']';
    return buf;
}

int64_t
td_shape_size(const td_shape *s)
{
    int64_t n = 1;

    for (int i = 0; i < s->ndim; i++)
        n *= s->dim[i];
    return n;
}

bool
td_shape_eq(const td_shape *a, const td_shape *b)
{
    if (a->ndim != b->ndim)
        return false;
    for (int i = 0; i < a->ndim; i++)
        if (a->dim[i] != b->dim[i])
            return false;
    return true;
}

const char *
td_shape_text(const td_shape *s, char *buf, size_t n)
{
    size_t at = 0;

    for (int i = 0; i < s->ndim && at < n; i++)
        at += (size_t)snprintf(buf + at, n - at, "%s%" PRId64, i ? ", " : "(", s->dim[i]);
    if (at < n)
        snprintf(buf + at, n - at, "%s", s->ndim == 0 ? "()" : s->ndim == 1 ? ",)" : ")");
    return buf;
}

td_status
td_broadcast(const char *op, const td_shape *a, const td_shape *b, td_shape *out)
{
    const td_shape *wide = a->ndim >= b->ndim ? a : b, *slim = wide == a ? b : a;
    char ta[256], tb[256];
    td_shape r = *wide; /* out may be a or b */

    for (int i = 0; i < slim->ndim; i++) {
        int64_t *d = &r.dim[wide->ndim - slim->ndim + i], e = slim->dim[i];

        if (*d == 1)
            *d = e;
        else if (*d != e && e != 1)
            return td_fail(TD_ERR_VALUE,
                           "%s: operands could not be broadcast together with shapes %s %s", op,
                           td_shape_text(a, ta, sizeof ta), td_shape_text(b, tb, sizeof tb));
    }
    *out = r;
    return TD_OK;
}

td_status
td_axis_normalize(const char *op, int64_t axis, int ndim, int *out)
{
    if (axis < -ndim || axis >= ndim)
        return td_fail(TD_ERR_INDEX,
                       "%s: axis %" PRId64 " is out of bounds for array of dimension %d", op, axis,
                       ndim);
    *out = (int)(axis < 0 ? axis + ndim : axis);
    return TD_OK;
}

td_status
td_shape_infer(const td_shape *have, const td_shape *want, td_shape *out)
{
    int64_t size = td_shape_size(have), known = 1;
    char text[256];
    int hole = -1;

    *out = *want;
    for (int i = 0; i < want->ndim; i++) {
        if (want->dim[i] < 0 && hole >= 0)
            return td_fail(TD_ERR_VALUE, "can only specify one unknown dimension");
        if (want->dim[i] < 0)
            hole = i;
        else if (__builtin_mul_overflow(known, want->dim[i], &known))
            known = -1;
    }
    if (hole >= 0 && known > 0 && size % known == 0)
        out->dim[hole] = size / known;
    else if (hole >= 0 || known != size)
        return td_fail(TD_ERR_VALUE, "cannot reshape array of size %" PRId64 " into shape %s", size,
                       td_shape_text(want, text, sizeof text));
    return TD_OK;
}
