/* dev.h - devices: memory, streams, events, modules, launches.  Knows nothing of IR or arrays.
 *
 * A device is found by name: "cpu", "cuda" or "cuda:N", "null" or "null:N" (cuda.c over a driver that the host
 * plays). Devices live as long as the process.  Any thread may call; each function leaves the calling thread's
 * current CUDA context as it found it.  Device addresses are uintptr_t; on the CPU they are pointers.  The CPU's
 * streams finish their work before a call returns.
 */
#ifndef TD_DEV_DEV_H
#define TD_DEV_DEV_H
#include "base/err.h"
#include "cuhost/abi.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct td_dev td_dev;
typedef struct td_stream td_stream;
typedef struct td_event td_event;
typedef struct td_module td_module;
typedef struct td_func td_func;

typedef enum td_devkind { TD_DEV_CPU, TD_DEV_CUDA, TD_DEV_NULL } td_devkind;

typedef struct td_devinfo {
    td_devkind kind;
    int        index;
    char       name[16];   /* "cpu", "cuda:0", "null" */
    char       model[128]; /* "NVIDIA H200", "AMD EPYC …" */
    char       arch[16];   /* "sm_90"; on the CPU "x86-64" or "aarch64" */
    int        units;      /* multiprocessors; cores */
    bool       host;       /* its memory is the host's: the host may read and write it by address */
    bool       simt;       /* its blocks consist of threads, which run as warps; false: a block is one thread, with vectors */
    bool       queued;     /* its streams work while the host goes on; false: work is done when it has been asked for */
    int        warp;       /* threads of a warp; 1 without simt */
    int        max_threads; /* of a block */
    size_t     max_shared; /* bytes of static shared memory in a block */
    size_t     memory;     /* bytes in all */
    double     bandwidth;  /* bytes per second of its memory, by its data sheet; 0: not known */
    int        driver;     /* CUDA driver version, 13000 for 13.0; 0 on the CPU */
} td_devinfo;

/* ---- devices ---- */
td_status td_dev_get(const char *name, td_dev **out); /* borrowed.  TD_ERR_VALUE: unknown name; TD_ERR_DEVICE: not there, says why */
int       td_dev_count(td_devkind kind);              /* never fails: 0 without a driver or a device */
/* the calling thread's device (td_dev_use), else TREADLE_DEVICE, else cuda:0 if there is one, else cpu */
td_status td_dev_default(td_dev **out);
void      td_dev_use(td_dev *d);                      /* sets the calling thread's default; NULL: the process's again */
td_dev   *td_dev_used(void);                          /* what the calling thread has set; NULL: nothing */
/* The calling thread has no device until its next td_dev_use: for programs that use the driver's interface and
 * have popped their last context.  Arrays work as before. */
void      td_dev_leave(void);
/* As td_dev_default, for calls of such programs.  TD_ERR_DEVICE (201): the thread has popped its last context. */
td_status td_dev_current(td_dev **out);
/* Sets the default of threads that have chosen none; it comes before TREADLE_DEVICE.  NULL: none. */
void      td_dev_choose(td_dev *d);
const td_devinfo *td_dev_info(const td_dev *d);       /* borrowed */
td_status td_dev_sync(td_dev *d);                     /* waits for all work given to d */
td_status td_dev_memory(td_dev *d, size_t *free_bytes, size_t *total_bytes);
/* Bytes per second that the device's memory can move: a GPU's data sheet, or for the CPU copies measured at the
 * first call.  0: not known. */
double td_dev_bandwidth(td_dev *d);
/* fn is called once for each new device, by its first user.  NULL: no hook. */
void td_dev_on_open(void (*fn)(td_dev *d));
/* Lists the devices that have been made so far, at most `most` of them; returns how many. */
int td_dev_made(td_dev *out[], int most);
/* fn is called after the host has waited for work on d or has received results from it, in any thread, without
 * locks. What fn returns becomes the result of the wait.  NULL: no hook. */
void td_dev_on_wait(td_status (*fn)(td_dev *d));
td_status td_dev_hear(td_dev *d); /* calls the hook after a wait that only polled an event */
/* the GPU that the memory belongs to; borrowed; TD_ERR_VALUE: it belongs to none */
td_status td_dev_of(uintptr_t ptr, td_dev **out);
const char *td_dev_cuda_missing(void);                /* why there is no CUDA device; "" if there is one; borrowed */

/* The attribute CU_DEVICE_ATTRIBUTE_… by number.  TD_SKIP: the device has no such attribute. */
td_status td_dev_attribute(td_dev *d, int number, int *out);
td_status td_dev_uuid(td_dev *d, unsigned char out[16]); /* TD_SKIP: it has none */
td_status td_dev_profiler(td_dev *d, bool on);           /* starts or stops collection by an external profiler */

/* ---- memory ---- */
enum {
    TD_BUF_SHARED = 1,  /* others may write or read it: it was exported or imported without a copy */
    TD_BUF_GUARDED = 2, /* wrapped memory that must not be written */
    TD_BUF_GIVEN = 4,   /* by td_buf_on_new's hook: wrapped memory that only the buffer's holders use */
};

/* td_buf - bytes on one device.  Refcounted; the last unref returns it to the device's pool, or calls `release`
 * for wrapped memory.  Memory freed on a stream is handed out again on that stream, after the work of the other
 * streams that td_buf_use has named. */
typedef struct td_buf {
    atomic_int refs;
    atomic_int flags;
    atomic_int lent;   /* live host views; while there are any, the buffer counts as shared */
    td_dev    *dev;    /* borrowed */
    td_stream *stream; /* borrowed: the stream that allocated it */
    uintptr_t  ptr;
    size_t     nbytes;   /* as requested */
    size_t     capacity; /* as the pool gave it */
    void     (*release)(void *owner); /* wrapped memory only */
    void      *owner;
    /* for the code that moves buffers to the host (array/run/spill.c); not for wrapped memory: the node whose value
     * the buffer holds; NULL: do not move it */
    void      *holder;
    uint64_t   used;   /* the time of its last use; 0: in use */
} td_buf;

/* Uninitialised memory, aligned to 512 bytes on a GPU, 64 on the CPU.  TD_ERR_OOM tells the bytes asked, held
 * and free. */
td_status td_buf_new(td_dev *d, td_stream *s, size_t nbytes, td_buf **out); /* owned; s NULL: default stream */
/* Wraps memory of others; the last unref calls release(owner).  After a failure release is not called. */
td_status td_buf_wrap(td_dev *d, void *ptr, size_t nbytes, void (*release)(void *), void *owner, td_buf **out);
/* fn gives new buffers of the CPU their memory, TD_BUF_GIVEN, while the pool has no limit; TD_SKIP: the pool does. */
typedef td_status td_buf_source(td_dev *d, size_t nbytes, td_buf **out);
void td_buf_on_new(td_buf_source *fn);
td_buf   *td_buf_ref(td_buf *b);   /* returns b */
void      td_buf_unref(td_buf *b); /* ok on NULL */
/* Work given to s, which is not b's own stream, uses b: once b is freed, its memory waits for that work. */
void      td_buf_use(td_buf *b, td_stream *s);

typedef struct td_memstat {
    size_t   used;     /* bytes in live buffers */
    size_t   cached;   /* bytes that the pool keeps for reuse */
    size_t   peak;     /* the highest that `used` has been */
    size_t   limit;    /* the bound on `used` and `cached` together; SIZE_MAX: none was set */
    size_t   largest;  /* bytes of the pool's largest free block */
    uint64_t allocs;   /* buffers handed out */
    uint64_t driver_allocs; /* allocations from the driver or the system */
} td_memstat;

td_memstat td_mem_stats(td_dev *d);
td_status  td_mem_trim(td_dev *d); /* returns cached memory to the driver */
td_status  td_mem_limit(td_dev *d, size_t nbytes); /* SIZE_MAX: none; returns cached memory if that is needed */

size_t     td_mem_bound(td_dev *d); /* most bytes that can be held: the limit, or the device's memory */

/* Called when memory on d is out, after all cached memory was returned: in the thread that asked for nbytes,
 * without locks.  It returns true if it freed something; then the request is tried again.  It is not called
 * again while it runs in that thread. */
typedef bool td_mem_pressure(td_dev *d, size_t nbytes);
void td_mem_on_pressure(td_mem_pressure *fn); /* NULL: none */
void td_mem_on_pressure_first(td_mem_pressure *fn); /* the same, unless a hook is set already */
/* Called when that freed nothing: waits for memory that other threads use for a while.  True: try again. */
void td_mem_on_wait(td_mem_pressure *fn); /* NULL: none */
/* Adds to the out-of-memory text what else there is to say about d's memory; text is "" before. */
typedef void td_mem_note(td_dev *d, char *text, size_t n);
void td_mem_on_oom(td_mem_note *fn); /* NULL: none */

/* Writes the program's current line, "file.py:12", for errors; called when a buffer of TD_MEM_LARGE bytes or
 * more is made. text stays "" if the line is not known. */
enum { TD_MEM_LARGE = 16 << 20 };
typedef void td_mem_site(char *text, size_t n);
void td_mem_on_large(td_mem_site *fn); /* NULL: none */

/* ---- copies; each returns when the host memory may be used again ---- */
td_status td_copy_in(td_stream *s, uintptr_t dst, const void *src, size_t nbytes);
td_status td_copy_out(td_stream *s, void *dst, uintptr_t src, size_t nbytes); /* dst is filled on return */
td_status td_copy(td_stream *s, uintptr_t dst, uintptr_t src, size_t nbytes); /* within the device; asynchronous; ranges do not overlap */
td_status td_fill(td_stream *s, uintptr_t dst, int byte, size_t nbytes);      /* asynchronous */
/* can td_copy_peer copy directly between them?  If not, copy through the host */
bool      td_dev_peers(const td_dev *a, const td_dev *b);
/* Copies between two devices, asynchronously: after what both default streams were given, and before what they
 * are given next.  The copy is direct if the devices can reach each other; else the driver goes through the
 * host. */
td_status td_copy_peer(td_dev *to, uintptr_t dst, td_dev *from, uintptr_t src, size_t nbytes);
/* Several such copies at the same time: none waits for another. */
typedef struct td_peercopy {
    td_dev   *to, *from;
    uintptr_t dst, src;
    size_t    nbytes;
} td_peercopy;
td_status td_copy_peers(const td_peercopy *c, int n);

/* Writes bytes [at, at + nbytes) of a copy to `to`; several threads call it at once. */
typedef td_status td_filler(void *ctx, size_t at, size_t nbytes, void *to);
/* As td_copy_in, of bytes that `fill` writes: it fills the device's staging memory directly. */
td_status td_copy_fill(td_stream *s, uintptr_t dst, size_t nbytes, td_filler *fill, void *ctx);

/* As td_copy_in, or with `out` as td_copy_out.  If the host memory is pinned, the call returns at once and sets
 * *later: the memory must then stay until the work of s has passed. */
td_status td_copy_later(td_stream *s, bool out, void *host, uintptr_t dev, size_t nbytes, bool *later);

/* ---- host memory that a device reaches ---- */
typedef enum td_hostkind {
    TD_HOST_PINNED,     /* copies need no staging and overlap with the host's work */
    TD_HOST_MAPPED,     /* also read and written by kernels, over the bus */
    TD_HOST_MANAGED,    /* pages migrate to where they are used */
    TD_HOST_REGISTERED, /* memory of others, pinned and mapped for a while */
} td_hostkind;

typedef struct td_hostmem {
    td_hostkind kind;
    bool        combined; /* write-combined: fast to write in order, slow to read */
    void       *host;
    uintptr_t   dev;      /* its address for kernels; 0: kernels cannot reach it */
    size_t      nbytes;
} td_hostmem;

/* The caller sets kind, combined and nbytes, and host for registered memory; the rest is filled in.  On the CPU
 * it is ordinary memory.  TD_ERR_OOM, TD_ERR_DEVICE. */
td_status td_hostmem_get(td_dev *d, td_hostmem *m);
td_status td_hostmem_put(td_dev *d, td_hostmem *m); /* the device's work on it must have passed */

/* Host memory for results: page-aligned, with huge pages if large, kept for reuse after td_host_free. */
void *td_host_alloc(size_t nbytes); /* NULL when memory is out; td_host_free */
void  td_host_free(void *p, size_t nbytes);

/* ---- streams and events ---- */
td_stream *td_dev_stream(td_dev *d);              /* borrowed: the default (legacy) stream */
td_dev    *td_stream_dev(const td_stream *s);     /* borrowed */
void      *td_stream_handle(const td_stream *s);  /* CUstream; NULL for the legacy stream and on the CPU */
td_status  td_stream_new(td_dev *d, td_stream **out); /* owned */
void       td_stream_free(td_stream *s);          /* ok on NULL and on default streams */
/* The stream with that CUstream; NULL or 1: the default one.  Borrowed, for the process's life.  A stream of
 * another library must live until what was given to it has passed. */
td_status  td_stream_of(td_dev *d, void *handle, td_stream **out);
/* Later work of `later` waits for the work of `earlier` so far; the streams may belong to different devices. */
td_status  td_stream_follow(td_stream *later, td_stream *earlier);
/* Around work on s that uses memory of the default stream.  Streams of other libraries may not wait for the
 * default stream, nor it for them; for other streams these do nothing. */
td_status  td_stream_enter(td_stream *s); /* later work of s comes after the default stream's so far */
td_status  td_stream_leave(td_stream *s); /* later work of the default stream comes after that of s so far */
td_status  td_stream_sync(td_stream *s);
td_status  td_stream_wait(td_stream *s, td_event *e); /* later work of s waits for e */
/* Later work of `after` waits for what `before` has been given.  Both are stream handles, also of other
 * libraries: NULL or 1: the default stream, 2: the calling thread's. */
td_status  td_stream_order(td_dev *d, void *before, void *after);
td_status  td_event_new(td_dev *d, bool timing, td_event **out); /* owned */
void       td_event_free(td_event *e);            /* ok on NULL */
td_status  td_event_record(td_event *e, td_stream *s);
td_status  td_event_sync(td_event *e);
td_status  td_event_done(td_event *e, bool *out);
td_status  td_event_elapsed(td_event *from, td_event *to, double *ms);

/* ---- code ---- */
typedef struct td_dims {
    uint32_t grid[3], block[3];
    uint32_t shared; /* dynamic shared memory, bytes */
    /* the first and last argument that may be an address; both 0: any may be */
    uint16_t first, last;
    bool     cooperative; /* all blocks run on the device at once */
    const uint32_t *offset; /* byte offset of argument i in args, if arguments may be wider than a word; NULL: 8 i */
    uint32_t packed;        /* with offset: bytes of args in all; args is still whole words */
    size_t   nbytes; /* bytes read and written, for profiles; 0: not known */
    uint32_t site; /* the program's line that recorded the work (site.h); 0: the current one */
    /* shown in profiles in place of the kernel's name, lives as long as the process; NULL: the name */
    const char *what;
} td_dims;

/* A CPU kernel: runs block `bid` of `nblock`, of one thread each.  If the function has blocks of many threads
 * (td_func_blocks), bid is the block's x, and nblock its y and, from bit 16 on, its z. */
typedef void td_cpu_entry(const uint64_t *args, int64_t bid, int64_t nblock);

/* GPU: a cubin or NUL-terminated PTX.  TD_ERR_DEVICE carries the driver's log. */
td_status td_module_load(td_dev *d, const void *image, td_module **out); /* owned */
void      td_module_free(td_module *m);                                  /* ok on NULL */
/* PTX to a cubin by the driver's compiler; *out is owned (free). */
td_status td_dev_assemble(td_dev *d, const char *ptx, void **out, size_t *nbytes);
td_status td_module_func(td_module *m, const char *name, td_func **out); /* owned by m; td_func_free not needed */
/* CPU: a compiled entry; `name` is borrowed for the function's life. */
td_status td_func_of_entry(td_dev *d, const char *name, td_cpu_entry *entry, td_func **out); /* owned; td_func_free */
/* f runs a block of any extents.  It finds six words after the arguments, the block's extents and the grid's,
 * and its dynamic shared memory at td_scratch (base/scratch.h). */
void      td_func_blocks(td_func *f);
/* A CU_FUNC_ATTRIBUTE of f, by number; and how many blocks, of that many threads and bytes of dynamic shared memory, a
 * multiprocessor holds at once.  TD_SKIP: the device does not know. */
td_status td_func_attribute(td_func *f, int number, int *out);
td_status td_func_resident(td_func *f, int threads, size_t shared, int *nblock);
td_dev   *td_func_dev(const td_func *f);                                 /* borrowed */
void      td_func_free(td_func *f);                                      /* ok on NULL */

/* The address of a module's variable.  TD_ERR_VALUE: there is none of that name. */
td_status td_module_global(td_module *m, const char *name, uintptr_t *ptr, size_t *nbytes);
/* Parameter i of f as its compiler tells, and its offset among packed arguments.  TD_SKIP: the device does not
 * know parameters.  On GPUs only the size is known (kind '?', align 0). */
td_status td_func_param(const td_func *f, int i, td_cu_param *out, size_t *offset); /* TD_ERR_INDEX: it has fewer */

/* args: one 8-byte word per argument, low bytes first, or packed as dims->offset says.  Errors name the kernel
 * and the dims. */
td_status td_launch(td_func *f, td_stream *s, const td_dims *dims, const uint64_t *args, int narg);

/* ---- the null device (played.h) ---- */

/* Runs a launch of the null device; jit/ sets it, and interprets the kernel of that name. */
typedef td_status td_null_launch(const char *name, const td_dims *dims, const uint64_t *args, int narg);
void td_null_on_launch(td_null_launch *hook);

/* Bytes from `ptr` to the end of its live allocation; 0: it lies in none. */
size_t td_null_extent(uintptr_t ptr);

#endif
