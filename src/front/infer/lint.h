/* lint.h - what makes a compiled kernel slower than it could be. */
#ifndef TD_FRONT_LINT_H
#define TD_FRONT_LINT_H
#include "front/infer/front.h"

/* Appends a line for each thing found in the kernel that td_front made of s for these argument types: float64 arithmetic
 * beside float32 arrays; threads of a warp that do not reach neighbouring elements; bank conflicts in shared memory; local
 * arrays that cannot stay in registers; 64-bit divisions; atomic operations that a GPU serialises.  "file:line: text". */
td_status td_lint(const td_made *made, const td_source *s, const td_type *const *arg, uint32_t narg,
                  td_text *out);

#endif
