/* ranges.h - which checks of a kernel hold whatever memory holds, for one launch. */
#ifndef TD_IR_PASSES_RANGES_H
#define TD_IR_PASSES_RANGES_H
#include "ir/core/ir.h"

/* Of a finished f, verdict[i] for each check i (TD_INST_CHECK) < n: TD_CHECK_…, if the parameters are these words and the
 * launch has these extents; NULL: they are not known.  Words beyond nword may be anything. */
void td_fn_ranges(const td_fn *f, const uint64_t *word, uint32_t nword, const uint32_t *grid,
                  const uint32_t *block, uint8_t *verdict, uint32_t n);

#endif
