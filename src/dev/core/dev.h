/* dev.h - devices: memory, streams, events, modules, launches.  Knows nothing of IR or arrays.
 *
 * A device is found by name: "cpu", "cuda" or "cuda:N", "null" or "null:N" (cuda.c over a driver that
 * the host plays).  Devices live as long as the process.  Any thread may call; each function leaves the
 * calling thread's current CUDA context as it found it.  Device addresses are uintptr_t: on the CPU
 * they are pointers.  The CPU's streams run everything before they return.
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
    char       arch[16];   /* "sm_90"; on the CPU "x86-64" */
    int        units;      /* multiprocessors; cores */
    int        warp;       /* lanes of a warp; 1 on the CPU */
    int        max_threads; /* of a block */
    size_t     max_shared; /* bytes of static shared memory in a block */
    size_t     memory;     /* bytes, in all */
    double     bandwidth;  /* bytes a second that its memory moves, by its data sheet; 0: not known */
    int        driver;     /* CUDA driver version, 13000 for 13.0; 0 on the CPU */
} td_devinfo;

/* ---- devices ---- */
td_status td_dev_get(const char *name, td_dev **out); /* borrowed.  TD_ERR_VALUE: unknown name; TD_ERR_DEVICE: not there, says why */
int       td_dev_count(td_devkind kind);              /* never fails: 0 without a driver or a device */
td_status td_dev_default(td_dev **out);               /* the thread's (td_dev_use), else TREADLE_DEVICE, else cuda:0 where there is one, else cpu */
void      td_dev_use(td_dev *d);                      /* the calling thread's default; NULL: back to the process's */
td_dev   *td_dev_used(void);                          /* what the thread has said so; NULL: nothing */
/* The calling thread has no device from now on, until its next td_dev_use: for programs of the driver's kind, which
 * have left their last context.  Arrays do not mind. */
void      td_dev_leave(void);
/* As td_dev_default, for calls that such a program makes.  TD_ERR_DEVICE (201): the thread has left its last context. */
td_status td_dev_current(td_dev **out);
/* The default of threads that have chosen none, before TREADLE_DEVICE; NULL: none. */
void      td_dev_choose(td_dev *d);
const td_devinfo *td_dev_info(const td_dev *d);       /* borrowed */
td_status td_dev_sync(td_dev *d);                     /* waits for all work on d */
td_status td_dev_memory(td_dev *d, size_t *free_bytes, size_t *total_bytes);
/* Bytes a second that the device's memory can move: by its data sheet, for the CPU as its copies are
 * measured at the first call.  0: not known. */
double td_dev_bandwidth(td_dev *d);
/* Called when a device has been made, by its first user; NULL: nobody. */
void td_dev_on_open(void (*fn)(td_dev *d));
/* Called when the host has waited for work on d, or has got results from it: what fn returns is what the wait
 * comes to.  In any thread, without locks; NULL: nobody. */
void td_dev_on_wait(td_status (*fn)(td_dev *d));
td_status td_dev_hear(td_dev *d); /* calls it: the work was waited for by looks at an event */
td_status td_dev_of(uintptr_t ptr, td_dev **out);              /* borrowed: the GPU whose memory it is; TD_ERR_VALUE: none's */
const char *td_dev_cuda_missing(void);                /* why there is no CUDA device; "" when there is one; borrowed */

/* CU_DEVICE_ATTRIBUTE_… by number.  TD_SKIP: the device has no such thing. */
td_status td_dev_attribute(td_dev *d, int number, int *out);
td_status td_dev_uuid(td_dev *d, unsigned char out[16]); /* TD_SKIP: it has none */
td_status td_dev_profiler(td_dev *d, bool on);           /* a profiler outside of the process collects, or not */

/* ---- memory ---- */
enum {
    TD_BUF_SHARED = 1,  /* others can write or read it: exported or imported without a copy */
    TD_BUF_GUARDED = 2, /* wrapped memory that nobody may write to */
};

/* td_buf - bytes on one device.  Refcounted; the last unref returns it to the device's pool (or calls
 * `release` for a wrapped one).  Memory freed on a stream is handed out again on that stream, and
 * after the work of the others that td_buf_use named. */
typedef struct td_buf {
    atomic_int refs;
    atomic_int flags;
    atomic_int lent;   /* views of the host's that are alive: as good as shared while there are any */
    td_dev    *dev;    /* borrowed */
    td_stream *stream; /* borrowed: the stream that allocated it */
    uintptr_t  ptr;
    size_t     nbytes;   /* as asked */
    size_t     capacity; /* as the pool gave */
    void     (*release)(void *owner); /* wrapped memory only */
    void      *owner;
    void      *holder; /* for whoever moves buffers' bytes to the host (array/run/spill.c), not of wrapped memory: whose */
    uint64_t   used;   /* value it is (NULL: may not be moved) and when it was used last (0: is being used) */
} td_buf;

/* Uninitialised; 512-byte aligned on a GPU, 64 on the CPU.  TD_ERR_OOM says asked, held and free. */
td_status td_buf_new(td_dev *d, td_stream *s, size_t nbytes, td_buf **out); /* owned; s NULL: default stream */
/* Memory of others; release(owner) is called at the last unref.  On failure release is not called. */
td_status td_buf_wrap(td_dev *d, void *ptr, size_t nbytes, void (*release)(void *), void *owner, td_buf **out);
td_buf   *td_buf_ref(td_buf *b);   /* returns b */
void      td_buf_unref(td_buf *b); /* ok on NULL */
/* s, not b's own stream, has been given work that uses b: once b is freed its memory waits for s. */
void      td_buf_use(td_buf *b, td_stream *s);

typedef struct td_memstat {
    size_t   used;     /* bytes in live buffers */
    size_t   cached;   /* bytes that the pool keeps */
    size_t   peak;     /* most that `used` has been */
    size_t   limit;    /* most that `used` and `cached` may be together; SIZE_MAX: no limit was set */
    size_t   largest;  /* bytes of the largest block that the pool keeps */
    uint64_t allocs;   /* buffers handed out */
    uint64_t driver_allocs; /* pieces taken from the driver or the system */
} td_memstat;

td_memstat td_mem_stats(td_dev *d);
td_status  td_mem_trim(td_dev *d); /* gives cached memory back */
td_status  td_mem_limit(td_dev *d, size_t nbytes); /* SIZE_MAX: none; gives cached memory back where that is needed */

size_t     td_mem_bound(td_dev *d); /* most that can be held: the limit, or the device's memory */

/* Called when memory on d is out though all cached memory was given back, in the thread that asked for nbytes
 * and without locks: true when it freed something, and the request is tried again, until it frees nothing.  Not
 * called again while it runs in that thread. */
typedef bool td_mem_pressure(td_dev *d, size_t nbytes);
void td_mem_on_pressure(td_mem_pressure *fn); /* NULL: none */
void td_mem_on_pressure_first(td_mem_pressure *fn); /* unless there is one */
/* Called where that frees nothing: waits for what other threads of the program use for a while.  True: try again. */
void td_mem_on_wait(td_mem_pressure *fn); /* NULL: none */
/* Adds to the text of the error what else there is to say about d's memory; text is "" before. */
typedef void td_mem_note(td_dev *d, char *text, size_t n);
void td_mem_on_oom(td_mem_note *fn); /* NULL: none */

/* Writes where the program stands, "file.py:12", for the text of errors; called when a buffer of
 * TD_MEM_LARGE bytes or more is made.  text stays "" when that is not known. */
enum { TD_MEM_LARGE = 16 << 20 };
typedef void td_mem_site(char *text, size_t n);
void td_mem_on_large(td_mem_site *fn); /* NULL: none */

/* ---- copies; each returns when the host memory may be used again ---- */
td_status td_copy_in(td_stream *s, uintptr_t dst, const void *src, size_t nbytes);
td_status td_copy_out(td_stream *s, void *dst, uintptr_t src, size_t nbytes); /* dst is filled on return */
td_status td_copy(td_stream *s, uintptr_t dst, uintptr_t src, size_t nbytes); /* within the device; asynchronous; ranges do not overlap */
td_status td_fill(td_stream *s, uintptr_t dst, int byte, size_t nbytes);      /* asynchronous */
/* Can td_copy_peer copy between them?  Else by the host. */
bool      td_dev_peers(const td_dev *a, const td_dev *b);
/* Between two devices, asynchronous: behind what both default streams were given, and both come behind it.  Direct where
 * the devices can reach each other, by the driver's way over the host otherwise. */
td_status td_copy_peer(td_dev *to, uintptr_t dst, td_dev *from, uintptr_t src, size_t nbytes);

/* Writes bytes [at, at + nbytes) of a copy to `to`; called by several threads at once. */
typedef td_status td_filler(void *ctx, size_t at, size_t nbytes, void *to);
/* As td_copy_in, of what `fill` writes instead of memory: the device's staging is filled by it. */
td_status td_copy_fill(td_stream *s, uintptr_t dst, size_t nbytes, td_filler *fill, void *ctx);

/* As td_copy_in, or with `out` as td_copy_out, but where the host memory is pinned they return at once
 * with *later set: it must stay until the work of s has passed. */
td_status td_copy_later(td_stream *s, bool out, void *host, uintptr_t dev, size_t nbytes, bool *later);

/* ---- host memory that a device reaches ---- */
typedef enum td_hostkind {
    TD_HOST_PINNED,     /* copies need no staging, and run while the host goes on */
    TD_HOST_MAPPED,     /* kernels read and write it over the bus besides */
    TD_HOST_MANAGED,    /* pages move to where they are used */
    TD_HOST_REGISTERED, /* memory of others, pinned and mapped while they lend it */
} td_hostkind;

typedef struct td_hostmem {
    td_hostkind kind;
    bool        combined; /* past the host's caches: quick to write in order, slow to read */
    void       *host;
    uintptr_t   dev;      /* where kernels find it; 0: they do not */
    size_t      nbytes;
} td_hostmem;

/* kind, combined and nbytes are set, of registered memory also host; the rest is filled in.  On the CPU
 * it is ordinary memory.  TD_ERR_OOM, TD_ERR_DEVICE. */
td_status td_hostmem_get(td_dev *d, td_hostmem *m);
td_status td_hostmem_put(td_dev *d, td_hostmem *m); /* the device's work on it has passed */

/* Host memory for results: page-aligned, huge pages asked for when large, kept for reuse. */
void *td_host_alloc(size_t nbytes); /* NULL when memory is out; td_host_free */
void  td_host_free(void *p, size_t nbytes);

/* ---- streams and events ---- */
td_stream *td_dev_stream(td_dev *d);              /* borrowed: the default (legacy) stream */
td_dev    *td_stream_dev(const td_stream *s);     /* borrowed */
void      *td_stream_handle(const td_stream *s);  /* CUstream; NULL for the legacy stream and on the CPU */
td_status  td_stream_new(td_dev *d, td_stream **out); /* owned */
void       td_stream_free(td_stream *s);          /* ok on NULL and on default streams */
/* Borrowed, for the process's life: the stream with that CUstream, NULL or 1 the default one.  A stream of
 * another library must live until what was given to it has passed. */
td_status  td_stream_of(td_dev *d, void *handle, td_stream **out);
/* The same of streams, also of different devices. */
td_status  td_stream_follow(td_stream *later, td_stream *earlier);
/* Round work on s with memory of the default stream's: for another library's streams, which need not wait for
 * that stream nor it for them; nothing to do for others. */
td_status  td_stream_enter(td_stream *s); /* later work of s comes after the default stream's so far */
td_status  td_stream_leave(td_stream *s); /* later work of the default stream comes after that of s so far */
td_status  td_stream_sync(td_stream *s);
td_status  td_stream_wait(td_stream *s, td_event *e); /* work given to s later waits for e */
/* Work that `after` is given from now on comes after what `before` has been given: handles of streams
 * (NULL or 1: the default one, 2: the calling thread's), those of other libraries too. */
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
    uint16_t first, last; /* arguments that are addresses: the first and the last so many; both 0: any
                             of them may be */
    bool     cooperative; /* all blocks are on the device at once */
    const uint32_t *offset; /* where argument i begins in args, bytes, for those wider than a word; NULL: at 8 i */
    uint32_t packed;        /* with offset: bytes of args in all; args are whole words nonetheless */
    size_t   nbytes; /* of memory that are read and written, for profiles; 0: not known */
    uint32_t site; /* the line that recorded what is computed (site.h); 0: the one that asks now */
    const char *what; /* in place of the kernel's name in profiles, for the process's life; NULL: the name */
} td_dims;

/* A CPU kernel: runs block `bid` of `nblock`, of one thread each.  One for blocks of many threads
 * (td_func_blocks): bid is the block's x, nblock its y and, from bit 16 on, z. */
typedef void td_cpu_entry(const uint64_t *args, int64_t bid, int64_t nblock);

/* GPU: a cubin or NUL-terminated PTX.  TD_ERR_DEVICE carries the driver's log. */
td_status td_module_load(td_dev *d, const void *image, td_module **out); /* owned */
void      td_module_free(td_module *m);                                  /* ok on NULL */
/* PTX to a cubin by the driver's compiler; *out is owned (free). */
td_status td_dev_assemble(td_dev *d, const char *ptx, void **out, size_t *nbytes);
td_status td_module_func(td_module *m, const char *name, td_func **out); /* owned by m; td_func_free not needed */
/* CPU: a compiled entry; `name` is borrowed for the function's life. */
td_status td_func_of_entry(td_dev *d, const char *name, td_cpu_entry *entry, td_func **out); /* owned; td_func_free */
/* f runs a block of any extents: behind the arguments it finds six words, the block's extents and the grid's,
 * and its dynamic shared memory at td_scratch (base/scratch.h). */
void      td_func_blocks(td_func *f);
/* What the driver knows of f, by CU_FUNC_ATTRIBUTE number, and how many blocks of so many threads and bytes of
 * dynamic shared memory a multiprocessor holds at once.  TD_SKIP: the device has no such thing. */
td_status td_func_attribute(td_func *f, int number, int *out);
td_status td_func_resident(td_func *f, int threads, size_t shared, int *nblock);
td_dev   *td_func_dev(const td_func *f);                                 /* borrowed */
void      td_func_free(td_func *f);                                      /* ok on NULL */

/* A module's variable.  TD_ERR_VALUE: it has none of that name. */
td_status td_module_global(td_module *m, const char *name, uintptr_t *ptr, size_t *nbytes);
/* Parameters of f as its compiler tells, and where each stands among arguments that lie side by side; TD_SKIP: the device does
 * not know them.  On GPUs sizes only (kind '?', align 0). */
td_status td_func_param(const td_func *f, int i, td_cu_param *out, size_t *offset); /* TD_ERR_INDEX: it has fewer */

/* args: one 8-byte word an argument, low bytes first, or as dims->offset says.  Errors name the kernel and the dims. */
td_status td_launch(td_func *f, td_stream *s, const td_dims *dims, const uint64_t *args, int narg);

/* ---- the null device (played.h) ---- */

/* Runs a launch on the null device: set by jit/, which interprets the kernel of that name. */
typedef td_status td_null_launch(const char *name, const td_dims *dims, const uint64_t *args, int narg);
void td_null_on_launch(td_null_launch *hook);

/* How many bytes from `ptr` on belong to its live allocation; 0 when it lies in none. */
size_t td_null_extent(uintptr_t ptr);

#endif
