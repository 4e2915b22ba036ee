/* sort.h - sorting on a CUDA device by libtreadle_cub.so, opened at first use; orders on the CPU by hostsort.c.
 *
 * Rows of keys lie side by side in `in`; each is sorted by itself, ascending, NaN last.  The same keys
 * give the same result at every run.
 */
#ifndef TD_DEV_SORT_H
#define TD_DEV_SORT_H
#include "dev/core/dev.h"
#include "type/dtype.h"

typedef struct td_sort {
    td_dtype  dt;
    int64_t   rows, n;
    uintptr_t in;
    uintptr_t out;   /* the sorted keys, apart from in; 0: not wanted */
    uintptr_t index; /* int64: their places in the row before, equal ones in order; 0: not wanted */
} td_sort;

/* TD_SKIP: not here - complex dtypes, on a GPU 2^32 elements or more, a device for which the library has no
 * code, a build without it; values on the CPU, where NumPy's sort is as quick.  The caller sorts on the host. */
td_status td_sort_can(td_dev *d, td_dtype dt, int64_t count, bool values);
/* Asynchronous.  TD_SKIP also where only the first launch tells that the device has no code;
 * TD_ERR_OOM: no room for what the sort needs besides, 4 to 40 bytes an element. */
td_status td_sort_run(td_stream *s, const td_sort *job);

/* Text for `python -m treadle info`: what sorts on d, or why it is the host; borrowed. */
const char *td_sort_info(td_dev *d);
/* Why this GPU's arrays are sorted on the host; "" while nothing speaks against it; borrowed. */
const char *td_sort_missing(td_dev *d);

#endif
