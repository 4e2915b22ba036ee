/* library.c - opens libtreadle_jit.so, which lies beside this library.
 *
 * It is opened with RTLD_LOCAL, since other LLVMs may live in the process, and never closed,
 * since kernels that it linked run until the end.
 */
#include "jit/library.h"

#include "dev/foreign/library.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>

static struct {
    pthread_once_t once;
    const td_lower *lower; /* NULL: `why` says the reason */
    char why[PATH_MAX + 64];
} lib = {.once = PTHREAD_ONCE_INIT};

static void
library_start(void)
{
    td_lower_open_fn *open_fn;
    void *handle = td_lib_beside("libtreadle_jit.so", lib.why, sizeof lib.why);

    if (!handle)
        return;
    *(void **)&open_fn = dlsym(handle, "td_lower_open");
    if (open_fn)
        lib.lower = open_fn();
    else
        snprintf(lib.why, sizeof lib.why, "libtreadle_jit.so: td_lower_open is missing");
}

td_status
td_jit_library(const td_lower **out)
{
    pthread_once(&lib.once, library_start);
    if (!lib.lower)
        return td_fail(TD_ERR_LIBRARY,
                       "the compiler does not load: %s; it is part of the package treadle",
                       lib.why);
    *out = lib.lower;
    return TD_OK;
}
