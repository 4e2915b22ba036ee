/* hostsort.h - the sorting order of elements on the CPU: a radix sort of codes with their positions, on all
 * threads.
 */
#ifndef TD_DEV_HOSTSORT_H
#define TD_DEV_HOSTSORT_H
#include "dev/core/sort.h"

/* As td_sort_run, for any number of elements, not complex; job->index is wanted.  TD_ERR_OOM: no room for
 * another array of codes and positions, 8 bytes per element, or 32 for 8-byte dtypes. */
td_status td_hostsort_run(td_stream *s, const td_sort *job);

#endif
