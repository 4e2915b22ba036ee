/* driver.c - opens libcuda.so.1 once.  The process keeps the driver, or the reason why there is
 * none.
 */
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
    size_t slot; /* offset in td_driver */
    int need;
} rows[] = {
#define CU(name, symbol, need, params) {#symbol, offsetof(td_driver, name), need},
#include "dev/foreign/driver.def"
};

/* What the user can do if the driver is there but does not start. */
static const char *
advice(int code)
{
    static const struct {
        int code;
        const char *text;
    } row[] = {
        {34, ": libcuda.so.1 is a toolkit's stub: take its folder \"stubs\" off LD_LIBRARY_PATH"},
        {CU_NO_DEVICE, ": the driver shows no GPU: see nvidia-smi and CUDA_VISIBLE_DEVICES"},
        {802, ": the machine's GPUs are not ready: start nvidia-fabricmanager"},
        {803, ": libcuda.so.1 is not of the kernel's driver: restart the machine after an update "
              "of the driver; a "
              "container has to show the host's libcuda.so.1"},
        {804, ": libcuda.so.1 is of the package cuda-compat, which this GPU does not support: take "
              "it off "
              "LD_LIBRARY_PATH"},
        {999, ": the driver's module does not answer: modprobe nvidia_uvm, or restart the machine"},
    };

    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        if (row[i].code == code)
            return row[i].text;
    return "";
}

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
                     "the NVIDIA driver is too old: libcuda.so.1 has no %s; update the driver, or "
                     "use the device "
                     "\"cpu\"",
                     rows[i].symbol);
            return;
        }
        memcpy((char *)&table + rows[i].slot, &f, sizeof f);
    }
    r = table.cuInit(0);
    if (r) {
        table.cuGetErrorName(r, &name);
        snprintf(missing, sizeof missing, "cuInit: %s%s", name, advice(r));
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

int
td_driver_version(void)
{
    const char *why;
    const td_driver *d = td_driver_open(&why);
    int version = 0;

    return d && d->cuDriverGetVersion(&version) == 0 ? version : 0;
}
