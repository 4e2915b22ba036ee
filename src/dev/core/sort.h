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
    uintptr_t out;   /* the sorted keys, not overlapping `in`; 0: not wanted */
    uintptr_t index; /* int64: where each key was in its row, equal ones in order; 0: not wanted */
} td_sort;

/* TD_SKIP: sort on the host instead: for complex dtypes; on a GPU for 2^32 elements or more, if the library has no
 * code for the device, or in a build without the library; on the CPU for values, which NumPy sorts as fast. */
td_status td_sort_can(td_dev *d, td_dtype dt, int64_t count, bool values);
/* Starts the sort and returns.  TD_SKIP: the first launch found that the library has no code for the device.
 * TD_ERR_OOM: no room for the sort's temporary memory, 4 to 40 bytes per element. */
td_status td_sort_run(td_stream *s, const td_sort *job);

/* Text for `python -m treadle info`: what sorts on d, or why it is the host.  Borrowed, for the process's life. */
const char *td_sort_info(td_dev *d);
/* Why this GPU's arrays are sorted on the host; "" if they are not, as far as is known; borrowed. */
const char *td_sort_missing(td_dev *d);

#endif
