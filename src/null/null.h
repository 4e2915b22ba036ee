/* null.h - the null device, as tests see it: its failures, its order of work, what its driver holds. */
#ifndef TD_NULL_NULL_H
#define TD_NULL_NULL_H
#include <stddef.h>
#include <stdint.h>

/* The n-th call from now of the named driver function fails with `code`; n = 0 clears. */
void td_null_fail(const char *call, int n, int code);

/* From now on the null device's work is done late and in an order drawn by chance that the streams and
 * events allow; 0: at once again. */
void td_null_delay(uint64_t seed);

typedef struct td_null_counts {
    size_t memory, bytes; /* allocations, and their sum */
    size_t pinned, physical, streams, events, modules, links, graphs, arrays, textures;
    size_t contexts; /* on the calling thread's stack */
} td_null_counts;

td_null_counts td_null_live(void);

#endif
