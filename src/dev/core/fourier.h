/* fourier.h - discrete Fourier transforms through a vendor's library (cuFFT), opened at first use.
 *
 * Transforms are not scaled.  A plan is made at the first transform of its kind and kept; each device keeps a
 * bounded number of them.  The caller provides the workspace.
 */
#ifndef TD_DEV_FOURIER_H
#define TD_DEV_FOURIER_H
#include "dev/core/dev.h"

enum { TD_FOURIER_RANK = 3 };

typedef enum td_fourier_kind { TD_FOURIER_C2C, TD_FOURIER_R2C, TD_FOURIER_C2R } td_fourier_kind;

/* One side of a transform: element (b, i, j, k) lies b * dist + stride * ((i * embed[1] + j) * embed[2] + k)
 * elements after `at`.  With fewer axes, the leading indices are left out. */
typedef struct td_fourier_side {
    int64_t   embed[TD_FOURIER_RANK], stride, dist;
    uintptr_t at; /* aligned to a complex number */
} td_fourier_side;

/* td_fourier - one job.  R2C writes and C2R reads n / 2 + 1 complex numbers along the last axis. */
typedef struct td_fourier {
    td_fourier_kind kind;
    bool            wide;    /* float64, complex128; else float32, complex64 */
    bool            inverse; /* C2C: the exponent's sign is plus */
    int             rank;
    int64_t         n[TD_FOURIER_RANK]; /* real numbers along each axis; for C2C complex ones */
    int64_t         batch;
    td_fourier_side in, out; /* C2R overwrites its input */
    uintptr_t       work;    /* as large as td_fourier_plan says; 0 where that is 0 */
} td_fourier;

/* TD_SKIP: the device (the CPU) has no such library.  TD_ERR_LIBRARY names what to install. */
td_status td_fourier_can(td_dev *d);
/* Makes the plan unless it exists, and tells the bytes of workspace that j needs.  Ignores addresses.  keep: the
 * plan stays for the process's life. */
td_status td_fourier_plan(td_stream *s, const td_fourier *j, bool keep, size_t *work);
/* Starts the transform and returns.  No extent of j may be 0. */
td_status td_fourier_run(td_stream *s, const td_fourier *j);

/* Text for `python -m treadle info`: path and version of cuFFT, or what is missing.  Borrowed, for the process's life. */
const char *td_fourier_info(td_dev *d);

/* How many plans d keeps; *most: the bound.  For tests. */
int td_fourier_plans(td_dev *d, int *most);

#endif
