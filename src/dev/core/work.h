/* work.h - what a device is asked to do, as data: for those who watch it.
 *
 * While nobody watches, dev.c and func.c call the device's table themselves, for the price of looking
 * at one number.  A profile (trace.h) is told of all work and of memory and compilation besides; a
 * tape (tape.h) takes the calling thread's work instead of the device.
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
    uintptr_t       dst, src; /* copies, fill; copy_in's src and copy_out's dst are the host's */
    int             byte;
    td_dev         *to;       /* copy: whose memory dst is; NULL: the stream's device's */
    size_t          nbytes;
    const td_gemm  *gemm;
    const td_sort  *sort;
    const td_solver *solver;
    const td_fourier *fourier;
    const td_comm_set *comm;   /* collective: calls of one comm */
    td_event       *event; /* wait: for it, else for the stream, or with `all` for the device */
    bool            all;
    td_filler      *fill;  /* copy_in: what writes it, in place of src; NULL: src does */
    void           *ctx;
    bool           *later; /* copies to and from the host: need not wait (td_copy_later); NULL: they do */
};

td_status td_work_run(td_stream *s, const td_work *w);     /* on the device, unseen */
const char *td_work_name(const td_work *w);  /* for people; borrowed, as long as what works */
size_t      td_work_bytes(const td_work *w); /* read and written; 0: not known */
td_status td_work_watched(td_stream *s, const td_work *w); /* to the thread's tape, else on the device and into the profile */

static inline td_status
td_work_do(td_stream *s, const td_work *w)
{
    return td_watched() ? td_work_watched(s, w) : td_work_run(s, w);
}

td_status td_blas_run(td_stream *s, const td_gemm *g); /* blas.c: the product itself; g has been checked */
td_status td_sort_do(td_stream *s, const td_sort *j);  /* sort.c: the sort itself; it can be done and is not empty */
td_status td_solver_do(td_stream *s, const td_solver *j); /* solver.c: the job itself */
const char *td_solver_name(const td_solver *j);
td_status td_fourier_do(td_stream *s, const td_fourier *j); /* fourier.c: the transform itself */
size_t    td_gemm_bytes(const td_gemm *g);             /* that are read and written */

#endif
