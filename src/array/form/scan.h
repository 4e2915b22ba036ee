/* scan.h - kernels that accumulate along an axis: their form and their code.
 *
 * The source is dense, in C order: [rows, n, inner].  Two forms:
 *   along: inner is 1; a team (GPU: a block or a warp) walks over a segment of a row, tile after tile.
 *   across: a thread owns a strip of neighbouring columns and walks over a segment of the rows.
 * Long axes are cut into segments: one kernel writes their totals, another accumulates these, and the last carries them into
 * the segments, so memory is read twice and written once.  Segment bounds depend on sizes and the device only, so
 * results are the same from run to run.
 */
#ifndef TD_ARRAY_SCAN_H
#define TD_ARRAY_SCAN_H
#include "array/form/nest.h"
#include "array/graph/node.h"
#include "ir/core/complex.h"

typedef enum td_scanput {
    TD_SCAN_TOTALS,    /* each segment's total */
    TD_SCAN_ALL,       /* the accumulated values */
    TD_SCAN_SELECT,    /* in is a mask: the values that it marks, side by side */
    TD_SCAN_POSITIONS, /* in is a mask: the positions that it marks, side by side */
} td_scanput;

/* Words after the pointers: in, values (SELECT), carry (carried), out. */
enum {
    TD_SCAN_N,
    TD_SCAN_INNER,
    TD_SCAN_UNITS,
    TD_SCAN_SEGS,
    TD_SCAN_SEGLEN,
    TD_SCAN_STRIPS, /* across: strips a row */
    TD_SCAN_PER,    /* CPU: units a block */
    TD_SCAN_INTS
};

typedef struct td_scan {
    td_red     red; /* sum, prod, min or max */
    td_dtype   in, acc, out;
    td_scanput put;
    bool       across, carried; /* carried: starts from the totals of the segments before */
    bool       masked;          /* across: the last strip of a row is not full */
    bool       logical;         /* results are bool: or, and */
    int        lanes, unroll;
    td_nest    nest;        /* a unit is a segment of a row, or of a strip of columns */
    int        resident;    /* GPU: blocks that a multiprocessor must have room for */
} td_scan;

td_status td_scan_build(void *ctx, td_fn *f);

#endif
