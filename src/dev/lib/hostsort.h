/* hostsort.h - the order of elements on the CPU: a radix sort of codes with their places, by all threads. */
#ifndef TD_DEV_HOSTSORT_H
#define TD_DEV_HOSTSORT_H
#include "dev/core/sort.h"

/* As td_sort_run, any number of elements, no complex dtypes; job->index is wanted.  TD_ERR_OOM: no room for one more array of
 * codes and places, 8 bytes an element, or 32 for dtypes of 8 bytes. */
td_status td_hostsort_run(td_stream *s, const td_sort *job);

#endif
