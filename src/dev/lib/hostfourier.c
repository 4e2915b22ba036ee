/* hostfourier.c - opens the library of Fourier transforms on the CPU, and picks its code for this CPU. */
#include "dev/lib/hostfourier.h"

#include "base/parallel.h"
#include "dev/foreign/library.h"

static struct {
    td_lib_state state;
    td_ducc_fn *run;
} found = {.state = TD_LIB_STATE};

static const char *
symbol(void)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return TD_DUCC_AVX2;
#endif
    return TD_DUCC_BASE;
}

static td_status
fourier_open(void)
{
    char why[512];
    void *lib = td_lib_beside("libtreadle_fft.so", why, sizeof why);

    if (!lib)
        return td_fail(TD_ERR_LIBRARY, "fft: %s", why);
    return td_lib_symbol(lib, symbol(), (void **)&found.run);
}

td_status
td_hostfourier_run(td_ducc_job *j)
{
    char why[256] = "";

    TD_TRY(td_lib_once(&found.state, fourier_open));
    j->threads = td_parallel_inside() ? 1 : td_parallel_width();
    j->parallel = td_parallel;
    switch (found.run(j, why, sizeof why)) {
    case 0: return TD_OK;
    case 1: return td_fail(TD_ERR_OOM, "fft: no memory for the plan or its workspace");
    }
    return td_fail(TD_ERR_DEVICE, "fft: %s", why);
}
