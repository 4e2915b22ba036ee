/* tune.h - numbers that measuring has found (tune.def), which tools/tune.py varies.
 *
 * They choose forms of kernels and are part of kernels' keys by what they lead to; results do not depend on them but
 * in the last place of sums.
 */
#ifndef TD_ARRAY_TUNE_H
#define TD_ARRAY_TUNE_H
#include "base/err.h"

typedef enum td_knob {
#define TUNE(name, ...) TD_TUNE_##name,
#include "array/plan/tune.def"
    TD_TUNE_COUNT
} td_knob;

extern int td_tune[TD_TUNE_COUNT]; /* guarded by the graph's lock */

/* TD_ERR_VALUE: no knob of that name, or value is not positive. */
td_status td_tune_set(const char *name, int value);

#endif
