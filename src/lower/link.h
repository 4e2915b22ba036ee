/* link.h - linking objects into the process: td_lower's `link` and `unlink`. */
#ifndef TD_LOWER_LINK_H
#define TD_LOWER_LINK_H
#include "base/err.h"

#include <stddef.h>

td_status low_link(const void *object, size_t nbytes, const char *name, void **entry, void **code);
void      low_unlink(void *code);

#endif
