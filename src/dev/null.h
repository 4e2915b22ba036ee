/* null.h - what the null device's driver holds; for tests. */
#ifndef TD_DEV_NULL_H
#define TD_DEV_NULL_H
#include <stddef.h>

typedef struct td_null_counts {
    size_t memory, bytes; /* allocations, and their sum */
    size_t pinned, physical, streams, events, modules, links;
    size_t contexts; /* on the calling thread's stack */
} td_null_counts;

td_null_counts td_null_live(void);

#endif
