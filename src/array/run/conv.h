/* conv.h - convolutions of arrays, at once (dev/core/conv.h). */
#ifndef TD_ARRAY_CONV_H
#define TD_ARRAY_CONV_H
#include "array/graph/array.h"
#include "dev/core/conv.h"

/* Runs the convolution c, whose addresses and dtype are not set.  first and second are what its kind reads: x and w, y and w,
 * or x and y; *out, an array of `shape`, is what it writes.  TD_SKIP: as td_conv_run. */
td_status td_array_conv(const td_conv *c, const td_array *first, const td_array *second, const td_shape *shape, td_array *out);

#endif
