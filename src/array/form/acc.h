/* acc.h - accumulators inside a kernel: made, added to, brought together over lanes, warps and blocks.
 *
 * slot[], acc[] and dt[] have td_red_nacc(red, pair) entries; pair: accumulators of a complex number.
 */
#ifndef TD_ARRAY_ACC_H
#define TD_ARRAY_ACC_H
#include "array/form/nest.h"
#include "array/graph/reduce.h"

/* New slots that hold the reduction's value over nothing. */
void td_acc_start(td_fn *f, td_red red, bool pair, const td_dtype dt[], int lanes, td_val slot[]);
void td_acc_get(td_fn *f, td_red red, bool pair, const td_val slot[], td_val out[]);
/* slot = merge(slot, x), which lies behind what slot has seen, in the lanes of `mask` (TD_NONE: all; one lane stands for all). */
void td_acc_add(td_fn *f, td_red red, bool pair, const td_val slot[], const td_val x[], td_val mask);

/* acc of `lanes` lanes becomes one lane. */
void td_acc_lanes(td_fn *f, td_red red, bool pair, int lanes, td_val acc[]);
/* acc of `width` neighbouring threads of a warp, a power of two; all of them get the result. */
void td_acc_warp(td_fn *f, td_red red, bool pair, int width, td_val acc[]);
/* For teams of several warps: acc of each warp (td_acc_warp over all of it) goes to shared memory and, after the caller's
 * barrier, comes back merged to all threads of the team, which is the block.  tid: int64. */
void td_acc_put(td_fn *f, td_red red, bool pair, const td_dtype dt[], const td_val acc[], const td_nest *n, td_val tid,
                td_val mem[]);
void td_acc_take(td_fn *f, td_red red, bool pair, const td_dtype dt[], const td_val mem[], const td_nest *n, td_val tid,
                 td_val acc[]);

/* What reductions that td_red_shifts subtract from their elements: x, wide enough; an element without it
 * (TD_NONE: as it is). */
td_num td_acc_shift(td_fn *f, bool pair, td_num x);
td_num td_acc_shifted(td_fn *f, bool pair, td_num x, td_num shift);

#endif
