/* widen.h - from the program of one thread to the program of a block on a CPU.
 *
 * A kernel marked `simt` is run by grid x block threads.  td_fn_widen turns it into a kernel that runs one block:
 * neighbouring threads (x fastest) become lanes, branches become masks, and the code between two barriers becomes a
 * loop over groups of lanes.
 *
 * The result is called like a CPU kernel, with bid.x as bid and bid.y + (bid.z << 16) as nblock.  TD_WIDE_WORDS
 * words follow the kernel's own arguments: the block's extents x, y, z and the grid's (td_func_blocks in
 * dev/core/dev.h).  A block has at most TD_WIDE_THREADS threads.
 *
 * It assumes that a thread's index arithmetic does not wrap within a group of lanes.  Lanes run in step: a thread
 * cannot wait in a loop for what another of its group does later.
 */
#ifndef TD_IR_WIDEN_H
#define TD_IR_WIDEN_H
#include "ir/core/ir.h"

enum { TD_WIDE_WORDS = 6, TD_WIDE_THREADS = 1024 };

/* in has been finished; out, made by td_fn_new in any arena, is filled and finished.  vector_bytes: width of the
 * CPU's registers.  TD_SKIP: lanes cannot run the kernel (*why says why; static), so its threads must be fibers
 * (kfiber.h); then out must not be used. */
td_status td_fn_widen(const td_fn *in, int vector_bytes, td_fn *out, const char **why);

/* For a function that runs once: its loops of independent iterations (td_each) run as many iterations at a time
 * as there are lanes; of nested loops the inner one.  TD_SKIP: it has no loop that can be widened. */
td_status td_fn_widen_loops(const td_fn *in, int vector_bytes, td_fn *out);

#endif
