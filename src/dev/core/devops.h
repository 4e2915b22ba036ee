/* devops.h - what a device consists of; internal to dev/.
 *
 * A device is its data and one const table of functions.  dev.c checks arguments, finds devices and dispatches;
 * pool.c keeps the memory of every kind; cpu.c and cuda.c hold the tables.  The null device uses cuda.c's table
 * over null.c's driver.
 */
#ifndef TD_DEV_DEVOPS_H
#define TD_DEV_DEVOPS_H
#include "cuhost/abi.h"
#include "dev/core/dev.h"

#include <pthread.h>

typedef struct td_block td_block;
typedef struct td_region td_region;

enum {
    TD_BINS = 448, /* size classes: heap.c; a multiple of 64 */
    TD_HEAPS = 5,  /* heap.h: td_heapkind */
    TD_USES = 4,   /* other streams that a block can name before it counts as shared */
};

/* td_heap - a stream's free blocks of one kind. */
typedef struct td_heap {
    size_t    held;              /* bytes of its regions */
    uint64_t  map[TD_BINS / 64]; /* one bit per bin: it is not empty */
    td_block *bin[TD_BINS];
} td_heap;

/* td_stream - the device's default stream (a member of td_dev), or one owned by whoever made it.  It
 * outlives td_stream_free until the last buffer that was allocated on it is gone. */
struct td_stream {
    td_dev    *dev;
    void      *handle; /* CUstream; NULL: legacy, or a CPU stream */
    /* under the pool's lock: */
    td_stream *next;          /* the device's other streams */
    size_t     live;           /* blocks handed out that name this stream */
    bool       dead;           /* its owner has freed it */
    bool       foreign;        /* another library's: never freed */
    bool       apart;          /* does not wait for the default stream, and the default stream does not wait for it */
    td_heap    heap[TD_HEAPS]; /* free blocks */
};

/* td_pool - a device's memory (pool.c).  Lists of blocks are linked by `next`. */
typedef struct td_pool {
    pthread_mutex_t mu;       /* never held while the driver or the system is called */
    /* held while events are recorded, so that no stream is freed meanwhile; taken before mu */
    pthread_mutex_t marks;
    td_stream      *streams;  /* all, the default one too */
    td_region      *regions;
    td_block       *shared;   /* freed blocks that unknown work may still use: see poolwait.c */
    td_block       *unmarked; /* freed blocks that other streams used, before events were recorded */
    td_block       *waiting;  /* freed blocks whose events have not passed yet */
    atomic_bool     mark;     /* `unmarked` is not empty */
    size_t          held;     /* bytes taken from the driver or the system */
    size_t          used;     /* bytes of these in live buffers */
    size_t          idle;     /* bytes of these in regions without live blocks */
    size_t          peak;
    size_t          grain;    /* granularity at which parts of a piece can be returned; 0: the device cannot do that */
    size_t          full;     /* bytes held when memory last ran out; SIZE_MAX: it never did */
    size_t          keep;     /* most bytes to keep unused */
    size_t          most;     /* most bytes to hold: the device's own bound */
    size_t          limit;    /* the user's limit; SIZE_MAX: none */
    uint64_t        allocs, driver_allocs;
} td_pool;

/* td_piece - memory from the driver or the system.  Belongs to its holder from mem_get to mem_put. */
typedef struct td_piece {
    uintptr_t ptr;
    size_t    nbytes;
    size_t    grain; /* mem_cut returns multiples of it, counted from ptr; 0: it cannot */
    void     *parts; /* the device's own record */
} td_piece;

/* td_part - a position in a piece. */
typedef struct td_part {
    const td_piece *piece; /* NULL: none */
    size_t          at;
} td_part;

/* td_shared - a piece that another process can open. */
typedef struct td_shared {
    uintptr_t     base;
    size_t        nbytes;
    unsigned char bytes[64]; /* what it opens it by */
} td_shared;

typedef struct td_devops td_devops;
struct td_rawops;

/* td_dev - lives as long as the process. */
struct td_dev {
    const td_devops *ops;
    td_devinfo       info;
    td_stream        def; /* the default stream */
    td_pool          pool;
    bool             sync; /* TREADLE_SYNC: wait after every launch */
    _Atomic(char *)  broken; /* why work under way was ended, for the next wait to report; owned; NULL: nothing */
    atomic_bool      apart; /* it has or had streams that do not wait for the default one */
    void (*live)(uintptr_t ptr, size_t nbytes, bool on); /* optional: is told of every buffer */
};

struct td_event {
    td_dev *dev;
    void   *handle; /* CUevent */
    int64_t ns;     /* the CPU's: when it was recorded */
    const td_stream *on; /* the stream it was last recorded on; only compared */
    uint64_t launches;   /* number of the device's last launch when it was recorded */
    bool    timing;
};

/* td_func - owned by its module, or by the caller of td_func_of_entry. */
struct td_func {
    td_dev       *dev;
    const char   *name;   /* a module's function: for the process's life */
    td_func      *next;   /* the module's other functions */
    td_module    *module; /* NULL: owned by the caller */
    void         *handle; /* CUfunction */
    td_cpu_entry *entry;  /* the CPU's */
    bool          blocks; /* set by td_func_blocks */
    int           nparam; /* -1: the driver does not tell */
    uint32_t      shared; /* the most dynamic shared memory requested so far */
};

struct td_module {
    td_dev         *dev;
    void           *handle; /* CUmodule */
    pthread_mutex_t mu;     /* guards funcs */
    td_func        *funcs;
};

/* Callers guarantee: sizes are checked and not 0, streams belong to the device, events and streams have `dev`
 * set. */
struct td_devops {
    size_t align; /* of every block */
    bool   entries; /* takes compiled entries (td_func_of_entry) */
    const struct td_rawops *raw; /* rawops.h */

    /* memory from the driver or the system: nbytes and grain are set; TD_ERR_OOM needs no text */
    td_status (*mem_get)(td_dev *d, td_piece *m);
    td_status (*mem_put)(td_dev *d, td_piece *m);
    /* optional (NULL if the pool's grain is 0): returns the memory of [at, at + nbytes), whole grains that are
     * idle; the addresses stay reserved until mem_put */
    td_status (*mem_cut)(td_dev *d, td_piece *m, size_t at, size_t nbytes);
    /* optional: maps m->nbytes of new memory between the last grain of which a[0] is a part and the first of
     * which a[1] is, as one range of addresses; entries without a piece are left out */
    td_status (*mem_join)(td_dev *d, td_piece *m, const td_part a[2]);
    td_status (*memory)(td_dev *d, size_t *free_bytes, size_t *total_bytes);
    void (*trim)(void); /* optional: frees what the device keeps besides the pool */

    /* memory for other processes (share.c); all or none.  share: the piece that b lies in; with out NULL it only
     * tells whether there is one.  share_open: fills in base from bytes and nbytes. */
    td_status (*share_new)(td_dev *d, size_t nbytes, td_buf **out);
    td_status (*share)(td_dev *d, const td_buf *b, td_shared *out);
    td_status (*share_open)(td_dev *d, td_shared *m);
    td_status (*share_close)(td_dev *d, const td_shared *m);

    /* host memory that the device reaches (cudahost.c); all or none.  NULL: it is ordinary memory */
    td_status (*host_get)(td_dev *d, td_hostmem *m);
    td_status (*host_put)(td_dev *d, const td_hostmem *m);
    /* as copy_in and copy_out, but does not wait; TD_SKIP: the host memory is not pinned, and nothing was done */
    td_status (*copy_later)(td_stream *s, bool out, void *host, uintptr_t dev, size_t nbytes);

    td_status (*attribute)(td_dev *d, int number, int *out);      /* optional; NULL: none */
    td_status (*uuid)(td_dev *d, unsigned char out[16]);          /* optional; NULL: none */
    td_status (*profiler)(td_dev *d, bool on);                    /* optional; NULL: no profiler can be told */

    td_status (*sync)(td_dev *d);
    td_status (*copy_in)(td_stream *s, uintptr_t dst, const void *src, size_t nbytes);
    td_status (*copy_fill)(td_stream *s, uintptr_t dst, size_t nbytes, td_filler *fill, void *ctx);
    td_status (*copy_out)(td_stream *s, void *dst, uintptr_t src, size_t nbytes);
    td_status (*copy)(td_stream *s, uintptr_t dst, uintptr_t src, size_t nbytes);
    td_status (*fill)(td_stream *s, uintptr_t dst, int byte, size_t nbytes);

    /* streams and events; all or none.  NULL: work ends before its call returns */
    td_status (*stream_new)(td_stream *s);
    void (*stream_free)(td_stream *s); /* also orders later work of the default stream after all work of s */
    td_status (*stream_sync)(td_stream *s);
    td_status (*stream_wait)(td_stream *s, td_event *e);
    td_status (*order)(td_dev *d, void *before, void *after); /* takes stream handles, also of other libraries */
    td_status (*event_new)(td_event *e);
    void (*event_free)(td_event *e);
    td_status (*event_record)(td_event *e, td_stream *s);
    td_status (*event_sync)(td_event *e);
    td_status (*event_done)(td_event *e, bool *out);
    td_status (*event_elapsed)(td_event *from, td_event *to, double *ms);

    /* code from images */
    td_status (*module_load)(td_module *m, const void *image);
    void (*module_free)(td_module *m);
    td_status (*module_func)(td_func *f); /* f->module, f->name are set */
    td_status (*module_global)(td_module *m, const char *name, uintptr_t *ptr, size_t *nbytes);
    td_status (*func_param)(const td_func *f, int i, td_cu_param *out, size_t *offset); /* as td_func_param */
    td_status (*assemble)(td_dev *d, const char *ptx, void **out, size_t *nbytes); /* optional; NULL: there is no PTX */

    /* optional; NULL: nothing is known of functions */
    td_status (*func_attribute)(td_func *f, int number, int *out);
    td_status (*func_resident)(td_func *f, int threads, size_t shared, int *nblock);

    td_status (*launch)(td_func *f, td_stream *s, const td_dims *dims, const uint64_t *args, int narg);

    /* work launched as one graph; all or none.  NULL: it is done piece by piece */
    td_status (*graph_begin)(td_stream *tmp); /* tmp->dev is set; collects the work given to tmp from now on */
    td_status (*graph_end)(td_stream *tmp, void **exec); /* ends tmp; *exec NULL: the work could not be kept */
    td_status (*graph_launch)(td_stream *s, void *exec);
    void (*graph_free)(td_dev *d, void *exec);
};

/* ---- dev.c ---- */
void td_dev_init(td_dev *d, const td_devops *ops); /* initialises pool and default stream; the caller sets info */

/* ---- peer.c ---- */
/* the device's work is being ended: the next wait fails with TD_ERR_PEER and this text */
void td_dev_break(td_dev *d, const char *why);
/* the failure has been reported: waits for what is under way, after which the device is sound again */
void td_dev_mend(td_dev *d);
td_status td_dev_tell(td_dev *d); /* reports it; TD_OK if there is nothing to report any more */

/* ---- func.c ---- */
/* Bytes from ptr to the end of the module variable that it lies in, if td_module_global has returned that
 * variable; 0: none. */
size_t td_module_extent(uintptr_t ptr);
/* "launch of k: grid (4, 1, 1), block (128, 1, 1), 0 bytes of shared memory", for messages. */
const char *td_launch_text(const td_func *f, const td_dims *dims, char *buf, size_t n); /* returns buf */

/* ---- pool.c ---- */
/* td_buf_new, without records for a profile or tape */
td_status td_pool_new(td_dev *d, td_stream *s, size_t nbytes, td_buf **out);
void td_pool_init(td_dev *d);
void td_pool_stream(td_stream *s);      /* makes s known to the pool */
td_stream *td_pool_stream_find(td_dev *d, const void *handle); /* borrowed; NULL: none that lives */
void td_pool_stream_gone(td_stream *s); /* its owner frees it: the pool frees s now, or with its last buffer */
void td_pool_lock(td_dev *d, bool lock);      /* around fork() */

typedef enum td_found { TD_FOUND_NOT, TD_FOUND_FREE, TD_FOUND_LIVE } td_found;
/* Does ptr lie in the pool's memory, and in a live buffer?  *nbytes: that buffer's bytes from ptr on; *before
 * (may be NULL): those before it.  Walks the blocks of a region. */
td_found td_pool_find(td_dev *d, uintptr_t ptr, size_t *nbytes, size_t *before);
/* As td_buf_new, in memory without a grain. */
td_status td_pool_plain(td_dev *d, size_t nbytes, td_buf **out);
/* The piece that b's memory was cut from.  NULL: it is not the pool's. */
const td_piece *td_pool_piece(const td_buf *b);

/* ---- oom.c ---- */
td_status td_pool_oom(td_dev *d, size_t nbytes); /* TD_ERR_OOM, with the numbers and the largest holders */
bool      td_pool_pressed(td_dev *d, size_t nbytes); /* calls the hook of td_mem_on_pressure: did it free anything? */
bool      td_pool_waited(td_dev *d, size_t nbytes);  /* calls the hook of td_mem_on_wait: is it worth trying again? */
char     *td_pool_site(void);                    /* the program's current line; owned; NULL: not known */

/* ---- host.c ---- */
void *td_host_map(size_t nbytes); /* zeroed pages; huge ones when large; NULL when there are none */
void  td_host_unmap(void *p, size_t nbytes);
void  td_host_drop(void *p, size_t nbytes); /* returns whole pages to the system; the addresses stay */
void  td_host_trim(void);          /* returns to the system what td_host_alloc keeps */
void  td_host_lock(bool lock);     /* around fork() */

/* ---- cpumodule.c: the CPU's modules ---- */
td_status td_cpu_module_load(td_module *m, const void *image);
void      td_cpu_module_free(td_module *m);
td_status td_cpu_module_func(td_func *f);
td_status td_cpu_module_global(td_module *m, const char *name, uintptr_t *ptr, size_t *nbytes);
td_status td_cpu_func_param(const td_func *f, int i, td_cu_param *out, size_t *offset);
td_status td_cpu_func_attribute(td_func *f, int number, int *out);
td_status td_cpu_module_launch(td_func *f, const td_dims *d, const uint64_t *args, int narg);

/* ---- cpushare.c: the CPU's share_new, share, share_open, share_close ---- */
td_status td_cpu_share_new(td_dev *d, size_t nbytes, td_buf **out);
td_status td_cpu_share(td_dev *d, const td_buf *b, td_shared *out);
td_status td_cpu_share_open(td_dev *d, td_shared *m);
td_status td_cpu_share_close(td_dev *d, const td_shared *m);

/* ---- cpu.c, cuda.c ---- */
td_dev   *td_cpu_dev(void); /* made at the first call; NULL never */
int       td_cuda_count(void);
const char *td_cuda_missing(void); /* "" when there is a device */
/* the number of the device that the memory belongs to; TD_ERR_VALUE: none */
td_status td_cuda_where(uintptr_t ptr, int *index);
td_status td_cuda_open(int index, td_dev **out); /* makes the device; called once per index */

#endif
