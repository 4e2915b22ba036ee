/* work.h - a device's work as data, for profiles and tapes.
 *
 * While nobody watches, dev.c and func.c call the device's table directly; checking that costs one look at a
 * number.  A profile (trace.h) is told of all work, and of memory and compilation.  A tape (tape.h) takes the
 * calling thread's work instead of the device.
 */
#ifndef TD_DEV_WORK_H
#define TD_DEV_WORK_H
#include "dev/core/blas.h"
#include "dev/core/devops.h"
#include "dev/core/fourier.h"
#include "dev/core/nccl.h"
#include "dev/core/solver.h"
#include "dev/core/sort.h"
#include "dev/core/tape.h"

/* td_work - one piece of work on a stream.  Plain data, borrowed. */
struct td_work {
    td_trace_kind   kind; /* kernel … wait */
    td_func        *func; /* kernel */
    const td_dims  *dims;
    const uint64_t *args;
    int             narg;
    uintptr_t       dst, src; /* copies, fill; src of copy_in and dst of copy_out are host addresses */
    int             byte;
    td_dev         *to;       /* copy: the device of dst; NULL: the stream's */
    size_t          nbytes;
    const td_gemm  *gemm;
    const td_sort  *sort;
    const td_solver *solver;
    const td_fourier *fourier;
    const td_comm_set *comm;   /* collective: calls of one comm */
    td_event       *event; /* wait: for this event; NULL: for the stream, or with `all` for the device */
    bool            all;
    td_filler      *fill;  /* copy_in: writes the bytes in place of src; NULL: src has them */
    void           *ctx;
    /* copies to and from the host: may return early and set this (td_copy_later); NULL: they wait */
    bool           *later;
};

td_status td_work_run(td_stream *s, const td_work *w);     /* runs it on the device, unrecorded */
const char *td_work_name(const td_work *w);  /* for people; borrowed, as long as the work's objects */
size_t      td_work_bytes(const td_work *w); /* read and written; 0: not known */
/* puts it on the thread's tape; without one runs it, and records it in the profile */
td_status td_work_watched(td_stream *s, const td_work *w);

static inline td_status
td_work_do(td_stream *s, const td_work *w)
{
    return td_watched() ? td_work_watched(s, w) : td_work_run(s, w);
}

td_status td_blas_run(td_stream *s, const td_gemm *g); /* blas.c: runs the product; g has been checked */
td_status td_sort_do(td_stream *s, const td_sort *j);  /* sort.c: runs the sort, which is possible and not empty */
td_status td_solver_do(td_stream *s, const td_solver *j); /* solver.c: runs the job */
const char *td_solver_name(const td_solver *j);
td_status td_fourier_do(td_stream *s, const td_fourier *j); /* fourier.c: runs the transform */
size_t    td_gemm_bytes(const td_gemm *g);             /* bytes read and written */

#endif
