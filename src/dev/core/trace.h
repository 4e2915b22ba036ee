/* trace.h - a profile: what was done, when, for which line of the program.
 *
 * A device's work is timed by events that are recorded round it and read later in batches, so nothing
 * waits for the device while the program runs.  Times are the host's CLOCK_MONOTONIC in nanoseconds;
 * a device's are mapped to it by an event that is waited for when the device is first seen.  Work that
 * starts while the one before it on the stream has not ended begins where that ends.
 * Any thread may call; while no profile is open, all this costs one look at td_watchers.
 */
#ifndef TD_DEV_TRACE_H
#define TD_DEV_TRACE_H
#include "dev/core/dev.h"
#include "dev/core/site.h"

extern atomic_int td_watchers; /* profiles and tapes (tape.h) that are open */

static inline bool
td_watched(void)
{
    return __builtin_expect(atomic_load_explicit(&td_watchers, memory_order_relaxed) != 0, 0);
}

/* What is recorded.  Up to `graph` a device does it, in a stream's order. */
#define TD_TRACE_KINDS(KIND)                                                                       \
    KIND(kernel)                                                                                   \
    KIND(copy_in)  /* from the host */                                                             \
    KIND(copy_out) /* to the host */                                                               \
    KIND(copy)     /* within the device */                                                         \
    KIND(fill)                                                                                     \
    KIND(gemm)     /* a library's matrix product */                                                \
    KIND(sort)     /* a library's sort */                                                          \
    KIND(solve)    /* a library's factorisation or solver */                                       \
    KIND(fourier)  /* a library's Fourier transform */                                             \
    KIND(collective) /* a library's, with other devices */                                         \
    KIND(graph)    /* several kernels launched as one: tape.h */                                   \
    KIND(alloc)                                                                                    \
    KIND(free)                                                                                     \
    KIND(compile)                                                                                  \
    KIND(load)     /* of a kernel from the disk */                                                 \
    KIND(wait)     /* of the host for a device */                                                  \
    KIND(widen)    /* no work: an operation of float32 gives float64; bytes of its result */       \
    KIND(stride)   /* no work: an operand lies across memory; its bytes */                         \
    KIND(read)     /* no work: the program takes one element of an array in its memory */

typedef enum td_trace_kind {
#define TD_KIND(name) TD_TRACE_##name,
    TD_TRACE_KINDS(TD_KIND)
#undef TD_KIND
    TD_TRACE_COUNT
} td_trace_kind;

typedef struct td_tracerec {
    uint8_t  kind;   /* td_trace_kind */
    bool     failed;
    uint16_t lane;   /* the stream's number among those that the profile saw, from 0 */
    uint32_t thread; /* the calling thread's number, from 1 */
    uint32_t name; /* names (site.h), 0: not known: what ran */
    uint32_t site; /* the line of the program that recorded what was computed, else the one that asked */
    uint32_t asked; /* the line that asked for it to be done */
    td_dev  *dev;    /* NULL: the host alone */
    size_t   nbytes; /* read and written, or allocated, or freed */
    int64_t  begin, end; /* the call */
    int64_t  on, off;    /* the device's work; both 0: there is none or its time is not known */
} td_tracerec;

enum { TD_TRACE_MAX = 1 << 20 }; /* records that are kept; more are only counted */

const char *td_trace_kind_name(td_trace_kind k); /* borrowed */

/* Opens a profile; *from is the number of its first record.  Profiles may overlap: they share records. */
void   td_trace_start(size_t *from);
/* Closes it: waits for what was recorded.  Records stay until the first start after the last stop. */
size_t td_trace_stop(void); /* how many records there are */
bool   td_trace_get(size_t i, td_tracerec *out);
size_t td_trace_dropped(void); /* records beyond TD_TRACE_MAX */

/* td_span - one thing being recorded.  On the stack between open and close, which are cheap and
 * never fail; a span that is not open was not wanted. */
typedef struct td_span {
    bool            open;
    uint8_t         kind;
    uint32_t        site;  /* the line that asks */
    uint32_t        made;  /* the line that recorded what is done, to be set by the caller; 0: that one */
    td_dev         *dev;
    td_stream      *stream; /* NULL: the host's own doing */
    struct td_mark *from;
    int64_t         begin;
} td_span;

bool td_tracing(void);
void td_span_open(td_span *p, td_trace_kind kind, td_dev *d, td_stream *s);
void td_span_close(td_span *p, td_status st, const char *name, size_t nbytes); /* keeps td_error of a failure */
void td_trace_instant(td_trace_kind kind, td_dev *d, const char *name, size_t nbytes);
void td_trace_forked(void);              /* in a child: no profile is open */
void td_trace_cut(const td_stream *s); /* s was made to wait for something: its next work is timed anew */

#endif
