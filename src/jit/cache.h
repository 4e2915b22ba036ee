/* cache.h - machine code kept on disk between processes.
 *
 * A directory (TREADLE_CACHE_DIR, else ~/.cache/treadle) of one file an entry.  The code in it is run, so
 * an entry counts only when directory and file belong to this user and nobody else may write them, and
 * when its checksum is right.  Processes share the directory: an entry appears whole, by rename, who makes
 * one holds a lock that others wait for, so that it is made once, and what was used longest ago goes when
 * there is too much (evict.c).  Failures never reach the caller: a cache that cannot be used is an empty one, and the first
 * reason is kept for td_cache_warning.
 */
#ifndef TD_JIT_CACHE_H
#define TD_JIT_CACHE_H
#include "base/err.h"
#include "base/hash.h"

#include <stddef.h>

/* suffix: "o", "cubin".  TD_SKIP: no such entry, or none that may be used.  *code is owned (free) and has
 * a NUL behind its nbytes. */
td_status td_cache_get(td_hash key, const char *suffix, void **code, size_t *nbytes);
void      td_cache_put(td_hash key, const char *suffix, const void *code, size_t nbytes);
void      td_cache_drop(td_hash key, const char *suffix);

/* The right to make the entry, for td_cache_unlock once it has been put; -1: there is no cache to make it for, or
 * another process has taken too long.  Who has it looks for the entry once more: another may have had the right since
 * the first look.  A process that dies gives its locks up. */
int  td_cache_lock(td_hash key);
void td_cache_unlock(int lock); /* ok on -1 */

/* The calling thread's entries are in that folder from now on; NULL: in the usual one; "": nowhere.  Borrowed until the next call. */
void td_cache_use(const char *dir);

const char *td_cache_warning(void); /* the first reason why nothing is kept; NULL: none, or taken; borrowed */

#endif
