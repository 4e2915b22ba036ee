/* evict.h - the bound of the cache's folder (TREADLE_CACHE_SIZE); internal to jit/. */
#ifndef TD_JIT_EVICT_H
#define TD_JIT_EVICT_H
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

/* An entry of nbytes was written to the folder: now and then the oldest go. */
void td_cache_written(int dir, size_t nbytes);
/* The entry that fd is was used. */
void td_cache_used(int fd, const struct stat *s);

#endif
