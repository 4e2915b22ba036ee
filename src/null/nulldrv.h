/* nulldrv.h - the parts of the played driver: null.c (state), nullapi.c (functions), nullcode.c (code). */
#ifndef TD_DEV_NULLDRV_H
#define TD_DEV_NULLDRV_H
#include "dev/core/played.h"
#include "dev/core/rawops.h"
#include "dev/cuda/cuda.h"
#include "dev/lib/cub.h"
#include "dev/lib/fourierlib.h"
#include "dev/lib/nccllib.h"
#include "dev/lib/solverlib.h"
#include "null/null.h"

typedef enum null_call {
#define CU(name, symbol, need, params) NULL_##name,
#include "dev/foreign/driver.def"
    NULL_CALLS
} null_call;

#define NULL_MEMORY ((size_t)8 << 30) /* the memory that the device claims to have; pages exist once they are touched */

/* null_object - a handle of the driver.  In the driver's list from _new to _free. */
typedef enum null_kind {
    NULL_STREAM,
    NULL_EVENT,
    NULL_MODULE,
    NULL_LINK,
    NULL_PINNED,
    NULL_PHYSICAL, /* memory without an address */
    NULL_GRAPH,
    NULL_EXEC,
    NULL_ARRAY,   /* data: a td_texarray and its memory */
    NULL_TEXTURE, /* data: the td_cu_texture that kernels get as its number */
} null_kind;

typedef struct null_object {
    struct null_object *next;
    null_kind           kind;
    int64_t             ns;   /* an event's time */
    void               *data; /* freed with the object */
    size_t              nbytes;
    uint64_t            serial; /* unique among all objects */
    unsigned            flags;  /* a stream's */
    /* physical memory: offset in the file; event: the last work that recorded it; pinned memory: its address */
    uint64_t            at;
    int                 mapped; /* how often it is mapped */
    int                 device; /* the device it was made on */
} null_object;

typedef struct null_range {
    uintptr_t    ptr;
    size_t       nbytes;
    uint64_t     at;      /* offset in the file */
    null_object *from;    /* the physical memory that is mapped here */
    int          mapped;  /* reserved addresses: mappings inside */
    bool         foreign; /* it belongs to another process */
    int          device;  /* whose memory it is */
} null_range;

typedef struct null_ranges {
    null_range *at;
    size_t      n, cap;
} null_ranges;

/* ---- null.c ---- */
int  td_null_due(null_call call);     /* the code that td_null_fail asked for, or 0 */
int  td_null_due_ctx(null_call call); /* the same; without a current context the code for that */
int  td_null_push(cu_ctx ctx);
int  td_null_pop(cu_ctx *ctx);
cu_ctx td_null_current(void);
cu_ctx td_null_context(int device);
int  td_null_device_of(cu_ctx ctx); /* -1: no context */
int  td_null_device(void);          /* the current context's device; there must be one */
null_object *td_null_object_new(null_kind kind);   /* NULL: no memory */
bool td_null_object_is(const void *handle, null_kind kind);
/* Gives the event its time, unless it was destroyed meanwhile. */
void td_null_object_record(const void *handle, uint64_t ns);
bool td_null_object_free(void *handle, null_kind kind); /* false: there is no such thing */

null_object *td_null_object_with(const void *data, null_kind kind); /* NULL: there is none */

/* is the range in pinned host memory?  out: the object, or NULL */
bool td_null_pinned(uintptr_t ptr, size_t nbytes, null_object **out);

/* ---- nullapi.c ---- */
int  td_null_stream_device(cu_stream s); /* for a default stream, the current context's device */
int  td_null_stream_ok(cu_stream s); /* 0: the stream exists, or is a name of a default one */

/* ---- nullmem.c ---- */
size_t td_null_buffer(uintptr_t ptr, size_t *before); /* bytes of a live buffer from ptr on, and before it; 0: in none */
int  td_null_mem_check(cu_ptr ptr, size_t nbytes); /* 0: the whole range is accessible */
bool td_null_mem_range(cu_ptr ptr, cu_ptr *start, size_t *nbytes); /* the allocation that ptr lies in */
void td_null_mem_count(size_t *count, size_t *bytes);
void td_null_note_buffer(uintptr_t ptr, size_t nbytes, bool on); /* the pool calls this for every buffer */

/* ---- nullqueue.c ---- */
typedef enum null_workkind { NULL_COPY, NULL_FILL, NULL_BRICK, NULL_RECORD, NULL_WAIT, NULL_LAUNCH, NULL_CALL } null_workkind;

enum { NULL_PARAMS = 512 }; /* most parameters of a launch: 4096 bytes */

/* null_work - work given to a stream.  Owned by the queue. */
typedef struct null_work {
    struct null_work *next;
    null_workkind     kind;
    /* stream: below TD_NULL_MAX, a device's default one; after: the work that an awaited event stands for */
    uint64_t          id, stream, after;
    int               device;
    bool              blocking;          /* this stream and the legacy one wait for each other */
    bool              dst_dev, src_dev;  /* the address is checked against live memory */
    void             *dst;
    const void       *src;
    size_t            nbytes;            /* of dst; of src too, unless: */
    size_t            src_nbytes;
    uint32_t          value;             /* fill: rows of elements of `size` bytes */
    int               size;
    size_t            pitch, width, height;
    td_hostbrick      brick;             /* with dst and src set, where all of it lies */
    null_object      *event;
    char              name[256]; /* a kernel's */
    td_dims           dims;
    int               narg;
    uint64_t          arg[NULL_PARAMS];
    int (*call)(const uint64_t *arg); /* a library's function that the host plays */
    const struct null_code *code; /* a CPU's kernel, whose arguments are packed in arg; NULL: the hook runs it */
} null_work;

int  td_null_submit(cu_stream s, null_work work); /* does the work now, or queues it */
int  td_null_finish(cu_stream s);                 /* does all work of s; returns the code of work that failed */
int  td_null_finish_all(void);                    /* of the current device; without one, of all */
bool td_null_is_late(void);                       /* is work queued? */
bool td_null_idle(cu_stream s); /* has its work been done? */
bool td_null_passed(const null_object *event, bool wait);

/* ---- nullcode.c ---- */
int td_null_run(const null_work *w); /* a launch, through the hook */
const char *td_null_hook_error(void); /* what the launch hook said last on this thread; borrowed */

/* ---- nullgraph.c ---- */

/* Call before work runs.  False: the stream is not being captured, so run it.  True: the work was captured, or
 * *code says why it cannot be. */
bool td_null_keep(cu_stream stream, const null_work *w, int *code);

/* ---- the driver's functions ---- */
#define CU(name, symbol, need, params) int td_null_##name params;
#include "dev/foreign/driver.def"

/* ---- the vendor's libraries, played ---- */
extern const td_fourierlib td_null_fourier; /* nullfourier.c */
extern const td_nccllib    td_null_nccl;    /* nullnccl.c */
extern const td_solverlib  td_null_solver;  /* nullblas.c */
extern const td_cub        td_null_cub;     /* nullsort.c */

size_t td_null_bytes(uintptr_t ptr); /* bytes from ptr to the end of its live allocation; 0: it lies in none */
int    td_null_owner(uintptr_t ptr); /* the null device that the memory belongs to; -1: none */

/* nullsum.c: bytes of an element; dst[i] = from[0][i] op from[1][i] op …, of n rows. */
extern const size_t td_nccl_size[NCCL_TYPES];
void td_null_combine(int type, int op, const char *const *from, int n, size_t count, char *dst);

#endif
