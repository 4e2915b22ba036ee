/* library.h - opens libtreadle_jit.so, the compiler, when it is first needed. */
#ifndef TD_JIT_LIBRARY_H
#define TD_JIT_LIBRARY_H
#include "lower/lower.h"

/* Borrowed, for the process's life.  TD_ERR_LIBRARY: it is not beside libtreadle.so, or cannot be loaded. */
td_status td_jit_library(const td_lower **out);

#endif
