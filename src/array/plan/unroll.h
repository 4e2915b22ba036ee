/* unroll.h - reductions over short axes as operations on slices.
 *
 * A reduction is computed by a kernel of its own, whose result goes to memory.  Over an axis of 3 elements it is two
 * additions: as such it fuses with what reads it.
 */
#ifndef TD_ARRAY_UNROLL_H
#define TD_ARRAY_UNROLL_H
#include "array/graph/internal.h"

/* Makes operations of those reductions in n's kernel, n perhaps among them, that are better computed so.  Where a source
 * has no slices (random draws, looked-up elements) its reduction stays. */
td_status td_unroll_below(td_node *n);

#endif
