/* cache.h - machine code kept on disk between processes.
 *
 * The cache is a directory (TREADLE_CACHE_DIR, else ~/.cache/treadle) with one file per entry.  Its code is run, so
 * an entry counts only if the directory and the file belong to this user, nobody else may write them, and the
 * checksum is right.
 *
 * Processes share the directory.  An entry appears whole, by rename.  The process that makes an entry holds a lock
 * and the others wait, so that each entry is made once.  When the directory grows too large, the entries used
 * longest ago are removed (evict.c).
 *
 * Failures never reach the caller: a cache that cannot be used is an empty one.  td_cache_warning tells the first
 * reason.
 */
#ifndef TD_JIT_CACHE_H
#define TD_JIT_CACHE_H
#include "base/err.h"
#include "base/hash.h"

#include <stddef.h>

/* suffix: "o", "cubin".  TD_SKIP: no such entry, or none that may be used.  *code is owned (free); a NUL follows
 * its nbytes. */
td_status td_cache_get(td_hash key, const char *suffix, void **code, size_t *nbytes);
void      td_cache_put(td_hash key, const char *suffix, const void *code, size_t nbytes);
void      td_cache_drop(td_hash key, const char *suffix);

/* Locks the key, for the process that is about to make its entry.  Returns a lock for td_cache_unlock; -1: there
 * is no cache, or another process took too long.  The holder looks the entry up once more, since another process
 * may have made it meanwhile.  The system releases the locks of a process that dies. */
int  td_cache_lock(td_hash key);
void td_cache_unlock(int lock); /* ok on -1 */

/* From now on the calling thread uses the cache in that folder; NULL: the usual one; "": no cache.  Borrowed
 * until the next call. */
void td_cache_use(const char *dir);

const char *td_cache_warning(void); /* the first reason why nothing is cached, told once; NULL: none; borrowed */

#endif
