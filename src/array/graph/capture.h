/* capture.h - the work of a function of arrays, recorded once and replayed with other inputs.
 *
 * Between begin and end the calling thread's operations are recorded on a tape (dev/core/tape.h), and nothing runs.
 * The function works on placeholders of its inputs.  If it reads an array from outside, each replay reads that
 * array's current value; the capture keeps the array alive.  If it writes to one, each replay writes to it.  Each
 * replay draws the numbers that the generator would give at that time.  Results are new arrays, unless fixed ones
 * were asked for: then all replays fill the same arrays.
 *
 * Everything here needs the graph's lock.
 */
#ifndef TD_ARRAY_CAPTURE_H
#define TD_ARRAY_CAPTURE_H
#include "array/graph/array.h"
#include "dev/core/tape.h"

typedef struct td_capture td_capture;

/* Launches everything recorded before.  *place: n owned read-only arrays, to be used in place of in[]. */
td_status td_capture_begin(td_dev *d, const td_array *const *in, int n, td_capture **out, td_array *place);
/* The function has returned these results.  After a failure, only call td_capture_free. */
td_status td_capture_end(td_capture *c, const td_array *const *out, int n, bool fixed);
void      td_capture_free(td_capture *c); /* ok on NULL; undoes an open capture, as if nothing had happened */

/* out: as many owned arrays as there were results.  TD_SKIP: capture again, since the inputs differ in shape,
 * dtype, strides, alignment or device, or an outer array now has memory that others share. */
td_status td_capture_play(td_capture *c, const td_array *const *in, int n, td_array *out);

typedef struct td_captureinfo {
    td_tapeinfo tape;
    int results, outer; /* outer arrays */
} td_captureinfo;

td_captureinfo td_capture_info(const td_capture *c);
td_tapework    td_capture_work(const td_capture *c, int i); /* i: below the tape's number of kernels */

/* ---- for the files of this folder ---- */
extern _Thread_local td_capture *td_capture_current; /* the one that the thread records; NULL: none */

static inline td_capture *
td_capture_now(void)
{
    return td_capture_current;
}

uint64_t  td_capture_serial(void);         /* of the current capture; 0: none */
/* call before s is read or written: evaluates its node if s is from outside */
td_status td_capture_see(td_storage *s);
void      td_capture_write(td_storage *s);  /* call before s gets another node */
td_status td_capture_draw(td_rng *g);       /* call before g draws */

#endif
