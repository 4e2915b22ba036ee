/* null.h - what the null device's driver holds; for tests. */
#ifndef TD_DEV_NULL_H
#define TD_DEV_NULL_H
#include "dev/lib/cub.h"

#include <stddef.h>

typedef struct td_null_counts {
    size_t memory, bytes; /* allocations, and their sum */
    size_t pinned, physical, streams, events, modules, links, graphs, arrays, textures;
    size_t contexts; /* on the calling thread's stack */
} td_null_counts;

td_null_counts td_null_live(void);

/* libtreadle_cub.so, played: sorts what lies in the device's memory (nullsort.c). */
extern const td_cub td_null_cub;

#endif
