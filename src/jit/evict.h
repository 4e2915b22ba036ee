/* evict.h - the bound of the cache's folder (TREADLE_CACHE_SIZE); internal to jit/. */
#ifndef TD_JIT_EVICT_H
#define TD_JIT_EVICT_H
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

/* Call after writing an entry of nbytes to the folder; from time to time it removes the oldest entries. */
void td_cache_written(int dir, size_t nbytes);
/* Call after reading the entry open as fd: marks it as used now. */
void td_cache_used(int fd, const struct stat *s);

#endif
