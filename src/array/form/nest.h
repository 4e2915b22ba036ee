/* nest.h - the loops round a kernel's work, and how many blocks and threads run them.
 *
 * A form cuts its work into units: pieces of rows, rows, tiles, results, segments.  A nest deals the units out along axes,
 * from the outermost to the innermost:
 *
 *   grid    blocks
 *   block   teams of a block's threads
 *   team    neighbouring threads that share a unit: whole warps, or a power of two of a warp's threads
 *   serial  the units that a block takes one after another
 *   lanes   neighbouring elements that a thread handles together, the last ones under a mask
 *
 * A device without threads in blocks (a CPU) has blocks of one thread, so teams of one; there a block takes several units.
 * Elsewhere a team takes one.
 */
#ifndef TD_ARRAY_NEST_H
#define TD_ARRAY_NEST_H
#include "dev/core/dev.h"
#include "ir/core/ir.h"

/* td_nest - plain data.  Code depends on what td_nest_key hashes; the rest are the numbers of a launch. */
typedef struct td_nest {
    bool    simt;  /* blocks consist of threads */
    int     warp;  /* threads of a warp; 1 without simt */
    int     block; /* threads of a block; 0: the launch says how many */
    int     team;  /* threads of a team */
    int64_t units, per, blocks; /* units in all, of a block, blocks: set by td_nest_deal */
} td_nest;

/* td_place - where a thread is.  int64 values of the kernel. */
typedef struct td_place {
    td_val unit; /* with simt perhaps behind the last: the caller compares */
    td_val tid;  /* simt: the thread's number in its block */
    td_val lane; /* simt: the thread's number in its team */
} td_place;

/* ---- before the launch ---- */

/* A nest for d.  Without simt block and team become 1. */
td_nest td_nest_on(const td_dev *d, int block, int team);

td_hash td_nest_key(td_hash h, const td_nest *n);

/* Into how many shares a CPU's work is cut: 1 below `least` operations, else several for each core, so that threads which
 * get on unevenly end together. */
int64_t td_nest_shares(const td_dev *d, int64_t operations, int64_t least);

/* Deals `units` out: without simt to at most `shares` blocks. */
void td_nest_deal(td_nest *n, int64_t units, int64_t shares);

/* ---- in the kernel ---- */

/* Opens the loop over the units of the block, or finds the unit of the thread's team.  units, per: int64 arguments. */
td_place td_nest_open(td_fn *f, const td_nest *n, td_val units, td_val per);
void     td_nest_close(td_fn *f, const td_nest *n);

/* The work on elements from `at` (int64) on.  `last`: fewer may be left than a whole step. */
typedef void td_nest_step(void *ctx, td_val at, bool last);

/* body from lo to hi, `step` elements at a time; then once more from the first of the rest, if there is a rest.  lo <= hi. */
void td_nest_steps(td_fn *f, td_val lo, td_val hi, int64_t step, td_nest_step *body, void *ctx);

/* The work on `lanes` elements from `at` on, of which those under the mask exist (TD_NONE: all). */
typedef void td_nest_lane(void *ctx, td_val at, td_val mask);

/* The same by vectors; lanes is a power of two. */
void td_nest_lanes(td_fn *f, td_val lo, td_val hi, int lanes, td_nest_lane *body, void *ctx);

/* Which of `lanes` elements from `at` on lie below hi. */
td_val td_nest_mask(td_fn *f, int lanes, td_val at, td_val hi);

static inline int64_t
td_ceil_div(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

#endif
