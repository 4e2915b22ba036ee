/* widen.h - from the program of one thread to the program of a block on a CPU.
 *
 * A kernel marked `simt` is run by grid x block threads.  td_fn_widen turns it into a kernel that runs
 * one block: neighbouring threads (x fastest) become lanes, a thread's branches masks, what lies between
 * two barriers a loop over the groups of lanes.
 *
 * The result is called as a CPU kernel with bid.x in place of bid and bid.y + (bid.z << 16) in place of
 * nblock; behind the kernel's own arguments stand TD_WIDE_WORDS words: the block's extents x, y, z and
 * the grid's (td_func_blocks in dev/core/dev.h).  A block has at most TD_WIDE_THREADS threads.
 *
 * It is assumed that a thread's index arithmetic does not wrap round within a group of lanes.  Lanes go in step: a
 * thread cannot wait in a loop for what another of its group does later.
 */
#ifndef TD_IR_WIDEN_H
#define TD_IR_WIDEN_H
#include "ir/core/ir.h"

enum { TD_WIDE_WORDS = 6, TD_WIDE_THREADS = 1024 };

/* in has been finished; out, made by td_fn_new in any arena, is filled and finished.  vector_bytes: of
 * the CPU's registers.  TD_SKIP: lanes cannot do what it asks (*why says what; static), so threads
 * must take turns (kfiber.h); out is then unusable. */
td_status td_fn_widen(const td_fn *in, int vector_bytes, td_fn *out, const char **why);

/* A function that runs once: its loops whose turns do not depend on each other (td_each) run as many at a
 * time as there are lanes; of nested ones the inner.  TD_SKIP: it has none that can be. */
td_status td_fn_widen_loops(const td_fn *in, int vector_bytes, td_fn *out);

#endif
