/* shape.h - extents, strides, broadcasting, views.  All sizes are 64-bit. */
#ifndef TD_TYPE_SHAPE_H
#define TD_TYPE_SHAPE_H
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TD_MAXDIM = 16 };

typedef struct td_shape {
    int32_t ndim;
    int64_t dim[TD_MAXDIM];
} td_shape;

/* A strided view: element (i0, i1, …) lies at offset + sum(i_k * stride_k), in elements. */
typedef struct td_view {
    td_shape shape;
    int64_t  offset;
    int64_t  stride[TD_MAXDIM];
} td_view;

td_status td_shape_make(int ndim, const int64_t *dim, td_shape *out); /* checks rank, signs, overflow */
int64_t   td_shape_size(const td_shape *s);                         /* product of extents; 1 for 0-d */
bool      td_shape_eq(const td_shape *a, const td_shape *b);
/* "(3, 4)" as Python prints it, into buf (truncated to n); returns buf. */
const char *td_shape_text(const td_shape *s, char *buf, size_t n);

/* "[3, 4]", as PyTorch prints a shape. */
const char *td_shape_list(const td_shape *s, char *buf, size_t n);

/* NumPy's broadcasting of a and b; TD_ERR_VALUE gives both shapes, prefixed with op. */
td_status td_broadcast(const char *op, const td_shape *a, const td_shape *b, td_shape *out);

td_view   td_view_contiguous(const td_shape *s);
/* Sets *out to *v, or to the contiguous view of s.  Copies only the axes that exist: arrays are made by the
 * million. */
void      td_view_set(td_view *out, const td_view *v);
void      td_view_set_contiguous(td_view *out, const td_shape *s);
/* a view without gaps; `axes` lists the axes from the longest stride to the shortest */
td_view   td_view_laid(const td_shape *s, const int *axes);
bool      td_view_is_contiguous(const td_view *v); /* C order, without gaps; extents of 1 are ignored */
/* v seen with `shape`: extents of 1 get stride 0.  TD_ERR_VALUE when it does not broadcast. */
td_status td_view_broadcast(const td_view *v, const td_shape *shape, td_view *out);
td_status td_view_transpose(const td_view *v, const int *axes, td_view *out); /* axes: a permutation */
/* The view with another shape, without copying; TD_SKIP if that takes a copy; TD_ERR_VALUE if sizes differ.  One
 * extent may be -1. */
td_status td_view_reshape(const td_view *v, const td_shape *shape, td_view *out);
/* Replaces a -1 in `want` so that it holds `have` elements; TD_ERR_VALUE as NumPy. */
td_status td_shape_infer(const td_shape *have, const td_shape *want, td_shape *out);
/* v with axis k cut to start, start+step, … (count elements). */
td_view   td_view_slice(const td_view *v, int axis, int64_t start, int64_t step, int64_t count);
/* Bounds [lo, hi) of the elements that v covers, in elements of its buffer; lo == hi for an empty view.
 * INT64_MIN and INT64_MAX: a number of that size does not count so far. */
void      td_view_extent(const td_view *v, int64_t *lo, int64_t *hi);
bool      td_view_has_overlap(const td_view *v); /* may two indices name the same element?  May say true wrongly */
bool      td_view_eq(const td_view *a, const td_view *b);

/* "axis 3 is out of bounds for array of dimension 2" as TD_ERR_INDEX; negative axes count back. */
td_status td_axis_normalize(const char *op, int64_t axis, int ndim, int *out);

#endif
