/* capture.h - the work of a function of arrays, recorded once and replayed with other inputs.
 *
 * Between begin and end the calling thread's operations are recorded (dev/core/tape.h): nothing runs.  The
 * function works on placeholders of its inputs.  An array from outside that it reads is used as it
 * is at each replay, whatever was written to it meanwhile, and stays alive; one that it writes to is
 * written to at each replay.  A draw takes at each replay the numbers that its generator would give then.
 * Results are new arrays, unless they were asked for as fixed ones: then all replays fill the same.
 *
 * All under the graph's lock.
 */
#ifndef TD_ARRAY_CAPTURE_H
#define TD_ARRAY_CAPTURE_H
#include "array/graph/array.h"
#include "dev/core/tape.h"

typedef struct td_capture td_capture;

/* Everything recorded before is launched first.  *place: n owned arrays, read-only, in place of in[]. */
td_status td_capture_begin(td_dev *d, const td_array *const *in, int n, td_capture **out, td_array *place);
/* The function has ended with these results.  After a failure only td_capture_free is left to call. */
td_status td_capture_end(td_capture *c, const td_array *const *out, int n, bool fixed);
void      td_capture_free(td_capture *c); /* ok on NULL; an open one is undone: nothing has happened */

/* out: as many owned arrays as there were results.  TD_SKIP: the inputs have other shapes, dtypes,
 * strides, alignment or device, or an outer array was exchanged for memory that others share: capture
 * again. */
td_status td_capture_play(td_capture *c, const td_array *const *in, int n, td_array *out);

typedef struct td_captureinfo {
    td_tapeinfo tape;
    int results, outer; /* outer arrays */
} td_captureinfo;

td_captureinfo td_capture_info(const td_capture *c);
td_tapework    td_capture_work(const td_capture *c, int i); /* of the tape; i: below its kernels */

/* ---- for the files of this folder ---- */
extern _Thread_local td_capture *td_capture_current; /* that the thread records; NULL: none */

static inline td_capture *
td_capture_now(void)
{
    return td_capture_current;
}

uint64_t  td_capture_serial(void);         /* of the current one; 0: none */
td_status td_capture_see(td_storage *s);    /* s, read or about to be written: on return its node is evaluated if it is an outer one's */
void      td_capture_write(td_storage *s);  /* s is about to get another node */
td_status td_capture_draw(td_rng *g);       /* g is about to give numbers */

#endif
