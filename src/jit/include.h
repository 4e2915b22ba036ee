/* include.h - finds the files that a CUDA C++ text includes, so that the cache key covers them. */
#ifndef TD_JIT_INCLUDE_H
#define TD_JIT_INCLUDE_H
#include "base/err.h"
#include "base/hash.h"

/* Adds to *key the contents of all files that text includes, directly or not, as far as they lie in folders
 * named by nvcc's options ("-I/x", or "-I" "/x"); other files belong to the compiler.  Files that are only
 * included in comments or behind #if count too.  TD_SKIP: an #include line does not say which file it means. */
td_status td_include_hash(const char *text, const char *const *option, int noption, td_hash *key);

#endif
