/* hostfourier.h - Fourier transforms on the CPU, by libtreadle_fft.so, which is opened at the first one. */
#ifndef TD_DEV_HOSTFOURIER_H
#define TD_DEV_HOSTFOURIER_H
#include "base/err.h"
#include "dev/lib/ducc.h"

/* Runs the job on the process's threads, which it sets.  TD_ERR_LIBRARY: libtreadle_fft.so cannot be opened. */
td_status td_hostfourier_run(td_ducc_job *j);

#endif
