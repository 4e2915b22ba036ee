/* tune.c - constants of kernels that were found by measuring. */
#include "array/plan/tune.h"

#include <string.h>

int td_tune[TD_TUNE_COUNT] = {
#define TUNE(name, value, meaning) [TD_TUNE_##name] = value,
#include "array/plan/tune.def"
};

static const char *const names[TD_TUNE_COUNT] = {
#define TUNE(name, value, meaning) [TD_TUNE_##name] = #name,
#include "array/plan/tune.def"
};

td_status
td_tune_set(const char *name, int value)
{
    for (int i = 0; i < TD_TUNE_COUNT; i++) {
        if (strcmp(names[i], name) != 0)
            continue;
        if (value < 1)
            return td_fail(TD_ERR_VALUE, "tune: %s = %d is not positive", name, value);
        td_tune[i] = value;
        return TD_OK;
    }
    return td_fail(TD_ERR_VALUE, "tune: no number is called '%s'; src/array/plan/tune.def has them",
                   name);
}
