/* conv.h - convolutions on a CPU, which gathers windows tile by tile and multiplies them in the cache.
 *
 * Arrays are in C order: x [batch, groups C, in…], w [groups O, C, kernel…], y [batch, groups O, out…], where C and
 * O are channels and outputs per group.  y[n, o, p] = sum of w[o, c, k] x[n, c, stride p + dilation k - before]; x
 * counts as zero outside.
 */
#ifndef TD_DEV_CONV_H
#define TD_DEV_CONV_H
#include "dev/core/dev.h"
#include "type/dtype.h"

typedef enum td_conv_kind {
    TD_CONV_FORWARD, /* x, w to y */
    TD_CONV_INPUT,   /* y, w to x: the adjoint in x */
    TD_CONV_WEIGHT,  /* x, y to w: the adjoint in w */
} td_conv_kind;

enum { TD_CONV_RANK = 3 };

typedef struct td_conv {
    td_conv_kind kind;
    td_dtype     dt; /* float32, float64 */
    int64_t      batch, groups, channels, outputs;
    int64_t      in[TD_CONV_RANK], out[TD_CONV_RANK], kernel[TD_CONV_RANK], stride[TD_CONV_RANK],
        before[TD_CONV_RANK], dilation[TD_CONV_RANK]; /* with fewer dims, the leading axes have extent 1 */
    uintptr_t x, w, y;
} td_conv;

/* No extent is 0, and every window overlaps x as `before` says.  TD_SKIP: the device or dtype is not supported,
 * or no library for products leaves the threads to us. */
td_status td_conv_run(td_stream *s, const td_conv *c);

#endif
