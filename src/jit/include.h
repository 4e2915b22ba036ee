/* include.h - the files that a CUDA C++ text includes, for the key of what is compiled of it. */
#ifndef TD_JIT_INCLUDE_H
#define TD_JIT_INCLUDE_H
#include "base/err.h"
#include "base/hash.h"

/* Adds the contents of the files that text includes, and those that they include, to *key: as far as they lie in the
 * folders that options (nvcc's: "-I/x", "-I", "/x") name; others are the compiler's own.  More files than the compiler
 * reads may count (in comments, behind #if), never fewer: TD_SKIP where the text does not say which it includes. */
td_status td_include_hash(const char *text, const char *const *option, int noption, td_hash *key);

#endif
