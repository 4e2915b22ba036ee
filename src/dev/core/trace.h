/* trace.h - a profile: what was done, when, for which line of the program.
 *
 * Events recorded around a device's work are read later, in batches, so nothing waits for the device while the
 * program runs.  Times are the host's CLOCK_MONOTONIC in nanoseconds.  A device's times are mapped to it by an
 * event that is waited for when the device is first seen.  Work that starts before the previous work of its stream
 * has ended begins where that ends.
 * Any thread may call.  While no profile is open, all this costs one look at td_watchers.
 */
#ifndef TD_DEV_TRACE_H
#define TD_DEV_TRACE_H
#include "dev/core/dev.h"
#include "dev/core/site.h"

extern atomic_int td_watchers; /* open profiles and recording tapes (tape.h) */

static inline bool
td_watched(void)
{
    return __builtin_expect(atomic_load_explicit(&td_watchers, memory_order_relaxed) != 0, 0);
}

/* Kinds of records.  A device does those up to `graph`, in a stream's order. */
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
    KIND(collective) /* a collective of a library */                                         \
    KIND(graph)    /* several kernels launched as one: tape.h */                                   \
    KIND(alloc)                                                                                    \
    KIND(free)                                                                                     \
    KIND(compile)                                                                                  \
    KIND(load)     /* loading a kernel from disk */                                                 \
    KIND(wait)     /* the host waits for a device */                                                  \
    KIND(widen)    /* a remark: an operation of float32 gives float64; bytes of its result */       \
    KIND(stride)   /* a remark: an operand's elements lie far apart in memory; its bytes */                         \
    KIND(read)     /* a remark: the program reads one element of an array on a device */

typedef enum td_trace_kind {
#define TD_KIND(name) TD_TRACE_##name,
    TD_TRACE_KINDS(TD_KIND)
#undef TD_KIND
    TD_TRACE_COUNT
} td_trace_kind;

typedef struct td_tracerec {
    uint8_t  kind;   /* td_trace_kind */
    bool     failed;
    uint16_t lane;   /* the stream's number in the profile, from 0 */
    uint32_t thread; /* the calling thread's number, from 1 */
    uint32_t name; /* what ran (a number of site.h); 0: not known */
    uint32_t site; /* the program's line that recorded the work, else the one that asked for it */
    uint32_t asked; /* the line that asked for it to be done */
    td_dev  *dev;    /* NULL: the host alone */
    size_t   nbytes; /* bytes read and written, allocated, or freed */
    int64_t  begin, end; /* when the call began and ended */
    int64_t  on, off;    /* when the device's work did; both 0: there is none, or it is not known */
} td_tracerec;

enum { TD_TRACE_MAX = 1 << 20 }; /* most records that are kept; further ones are only counted */

const char *td_trace_kind_name(td_trace_kind k); /* borrowed */

/* Opens a profile; *from: the number of its first record.  Profiles may overlap; they share records. */
void   td_trace_start(size_t *from);
/* Closes a profile: waits for recorded work.  Records stay until the first start after the last stop. */
size_t td_trace_stop(void); /* how many records there are */
bool   td_trace_get(size_t i, td_tracerec *out);
size_t td_trace_dropped(void); /* records beyond TD_TRACE_MAX */

/* td_span - one thing being recorded.  On the stack between td_span_open and td_span_close, which are cheap and
 * never fail.  It stays closed if nobody wants it. */
typedef struct td_span {
    bool            open;
    uint8_t         kind;
    uint32_t        site;  /* the line that asks */
    uint32_t        made;  /* set by the caller: the line that recorded what is done; 0: `site` */
    td_dev         *dev;
    td_stream      *stream; /* NULL: work of the host itself */
    struct td_mark *from;
    int64_t         begin;
} td_span;

bool td_tracing(void);
void td_span_open(td_span *p, td_trace_kind kind, td_dev *d, td_stream *s);
void td_span_close(td_span *p, td_status st, const char *name, size_t nbytes); /* leaves td_error as it was */
void td_trace_instant(td_trace_kind kind, td_dev *d, const char *name, size_t nbytes);
void td_trace_forked(void);              /* in a forked child: no profile is open */
/* s was made to wait for something, so its next work gets a start time of its own */
void td_trace_cut(const td_stream *s);

#endif
