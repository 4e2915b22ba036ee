/* null.h - the null device for tests: its failures, its order of work, the objects its driver holds. */
#ifndef TD_NULL_NULL_H
#define TD_NULL_NULL_H
#include <stddef.h>
#include <stdint.h>

/* Makes the n-th call from now of the named driver function fail with `code`; n = 0 cancels that. */
void td_null_fail(const char *call, int n, int code);

/* From now on the null device delays its work and does it in a random order that streams and events allow.  0:
 * runs it at once again. */
void td_null_delay(uint64_t seed);

typedef struct td_null_counts {
    size_t memory, bytes; /* number of allocations, and their bytes */
    size_t pinned, physical, streams, events, modules, links, graphs, arrays, textures;
    size_t contexts; /* on the calling thread's stack */
} td_null_counts;

td_null_counts td_null_live(void);

#endif
