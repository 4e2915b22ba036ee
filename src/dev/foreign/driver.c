/* driver.c - opens libcuda.so.1.  Once: what was found, or why nothing was, stays for the process. */
#include "dev/foreign/driver.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static td_driver table;
static char missing[512];

enum { MAY, MUST };

static const struct row {
    const char *symbol;
    size_t slot; /* where in td_driver */
    int need;
} rows[] = {
#define CU(name, symbol, need, params) {#symbol, offsetof(td_driver, name), need},
#include "dev/foreign/driver.def"
};

static void
open_once(void)
{
    void *lib = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    const char *name = "unknown error";
    int r;

    if (!lib) {
        snprintf(missing, sizeof missing,
                 "no CUDA device: no NVIDIA driver (%s); use the device \"cpu\"", dlerror());
        return;
    }
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        void *f = dlsym(lib, rows[i].symbol);

        if (!f && rows[i].need == MUST) {
            snprintf(missing, sizeof missing,
                     "the NVIDIA driver is too old: libcuda.so.1 has no %s", rows[i].symbol);
            return;
        }
        memcpy((char *)&table + rows[i].slot, &f, sizeof f);
    }
    r = table.cuInit(0);
    if (r) {
        table.cuGetErrorName(r, &name);
        snprintf(missing, sizeof missing, "cuInit: %s", name);
    }
}

const td_driver *
td_driver_open(const char **why)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, open_once);
    *why = missing;
    return missing[0] ? NULL : &table;
}
