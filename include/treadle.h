/* treadle.h - treadle for C programs: lazy arrays, compiled for NVIDIA GPUs and CPUs.
 *
 * Failure: a function that can fail returns a treadle_status; anything but TREADLE_OK leaves one
 * sentence in the calling thread's error record (treadle_error) and leaves what `out` points to as it
 * was.  No function prints or ends the process on a caller's mistake.  NULL where an array, a place
 * for a result or another object is asked for is TREADLE_ERR_VALUE; where NULL means something it is
 * said.  Every function can also fail with TREADLE_ERR_NOMEM (host memory), so that is not repeated.
 *
 * Ownership: what comes back through `out` belongs to the caller, who gives it up with the function
 * named beside its type; "borrowed" says the opposite.  Arguments are never taken over.
 *
 * Laziness: an operation checks dtypes and shapes, records and returns.  Kernels are compiled and
 * launched when a value is looked at (treadle_array_get, _item, _memory, treadle_eval, a launch, a
 * matrix product) or a graph has grown large; compiling and launching can then fail with
 * TREADLE_ERR_OOM (device memory), TREADLE_ERR_DEVICE (the driver refused), TREADLE_ERR_JIT (the
 * compiler refused) or TREADLE_ERR_LIBRARY (libtreadle_jit.so does not load).  Functions that may
 * evaluate are marked [evaluates].
 *
 * Units: extents, strides and counts are in elements and 64-bit; sizes named nbytes are bytes; times are
 * milliseconds.  Shapes are C order: the last axis is the innermost.  An axis may be negative and counts
 * from the end then.  At most TREADLE_MAXDIM axes.
 *
 * Threads: any thread may call.  The functions on arrays take one lock of the process and give it up while
 * they compile, run and wait.  In a process that has imported the Python package that lock is the
 * interpreter's: callers of this library must hold the GIL there.  After fork() the child may use the CPU,
 * provided that no other thread was inside a call.
 */
#ifndef TREADLE_H
#define TREADLE_H
#include "treadle_tables.h" /* treadle_dtype, treadle_op, treadle_red */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TREADLE_API __attribute__((visibility("default")))

#define TREADLE_VERSION "0.1.0"
#define TREADLE_MAXDIM  16
#define TREADLE_END     INT64_MAX /* a slice's bound: as far as there is something */

/* ---- errors ---- */

typedef enum treadle_status {
    TREADLE_OK = 0,
    TREADLE_ERR_NOMEM = 2, /* host memory is out */
    TREADLE_ERR_OOM,       /* device memory is out; the text says asked, held and free */
    TREADLE_ERR_TYPE,      /* a dtype that the operation does not have */
    TREADLE_ERR_VALUE,     /* shapes, ranges, names, NULL */
    TREADLE_ERR_INDEX,     /* an index or axis out of range */
    TREADLE_ERR_OVERFLOW,  /* a number that the dtype cannot hold */
    TREADLE_ERR_DEVICE,    /* the driver refused, or there is no such device */
    TREADLE_ERR_JIT,       /* the compiler refused */
    TREADLE_ERR_LIBRARY,   /* a library is missing; the text names it */
    TREADLE_ERR_IO,        /* the file system refused */
} treadle_status;

TREADLE_API const char *treadle_error(void);                       /* borrowed; the calling thread's, until its next failure */
TREADLE_API const char *treadle_status_name(treadle_status st);    /* "TREADLE_ERR_VALUE"; borrowed, static */
TREADLE_API const char *treadle_version(void);                     /* the library's, as TREADLE_VERSION is the header's; static */
TREADLE_API const char *treadle_warning(void); /* why compiled kernels are not kept on disk, said once; NULL: nothing to say; borrowed */

/* ---- tables ---- */

TREADLE_API const char    *treadle_dtype_name(treadle_dtype dt);   /* "float32"; "?" for no dtype; static */
TREADLE_API size_t         treadle_dtype_size(treadle_dtype dt);   /* bytes of an element; 0 for no dtype */
TREADLE_API treadle_status treadle_dtype_find(const char *name, treadle_dtype *out); /* "float32" or "<f4"; ERR_TYPE: unknown */
TREADLE_API const char    *treadle_op_name(treadle_op op);         /* "add"; "?" for no operation; static */
TREADLE_API int            treadle_op_arity(treadle_op op);        /* 1 to 3; 0 for no operation */
TREADLE_API treadle_status treadle_op_find(const char *name, treadle_op *out);   /* ERR_VALUE: unknown */
TREADLE_API const char    *treadle_red_name(treadle_red red);      /* "sum"; "?" for no reduction; static */
TREADLE_API treadle_status treadle_red_find(const char *name, treadle_red *out); /* ERR_VALUE: unknown */

/* ---- devices: never freed; where one is asked for, NULL is the default ---- */

typedef struct treadle_device treadle_device;

typedef struct treadle_device_info {
    char   name[16];    /* "cpu", "cuda:0" */
    char   model[128];  /* what the maker calls it */
    char   arch[16];    /* what kernels are compiled for: "sm_90", "x86-64", "aarch64" */
    bool   gpu;
    int    index;       /* its number among its kind */
    int    units;       /* multiprocessors; cores */
    int    driver;      /* CUDA driver's version, 13000 for 13.0; 0 on the CPU */
    size_t memory;      /* bytes, in all */
} treadle_device_info;

/* "cpu", "cuda", "cuda:N"; NULL: the default (treadle_device_use, else TREADLE_DEVICE in the environment, else
 * cuda:0 where there is one, else cpu).  *out is borrowed.  ERR_VALUE: unknown name; ERR_DEVICE: not there, says why. */
TREADLE_API treadle_status treadle_device_open(const char *name, treadle_device **out);
/* All that can be used, GPUs first: the first `room` of them into out (NULL when room is 0), borrowed.  *count: how many there are. */
TREADLE_API treadle_status treadle_device_list(treadle_device **out, size_t room, size_t *count);
TREADLE_API void           treadle_device_use(treadle_device *d);       /* the calling thread's default; NULL: back to the process's */
TREADLE_API treadle_status treadle_device_get_info(treadle_device *d, treadle_device_info *out);
TREADLE_API treadle_status treadle_device_memory(treadle_device *d, size_t *free_nbytes, size_t *total_nbytes);
TREADLE_API treadle_status treadle_device_sync(treadle_device *d);      /* [evaluates] launches all that is recorded and waits for all work on d */
TREADLE_API treadle_status treadle_device_trim(treadle_device *d);      /* gives memory that is kept for reuse back to the system */
TREADLE_API const char    *treadle_cuda_missing(void);                  /* why there is no CUDA device; "" when there is one; borrowed */

/* ---- arrays: reference-counted; views share memory with what they were cut from ---- */

typedef struct treadle_array treadle_array;

TREADLE_API treadle_array *treadle_array_ref(treadle_array *a);         /* one more owner; returns a; NULL gives NULL */
TREADLE_API void           treadle_array_unref(treadle_array *a);       /* one owner less; ok on NULL */

TREADLE_API int             treadle_array_ndim(const treadle_array *a);
TREADLE_API int64_t         treadle_array_dim(const treadle_array *a, int axis); /* extent; -1: no such axis */
TREADLE_API int64_t         treadle_array_size(const treadle_array *a);          /* elements */
TREADLE_API size_t          treadle_array_nbytes(const treadle_array *a);        /* of the elements, without gaps */
TREADLE_API treadle_dtype   treadle_array_dtype(const treadle_array *a);
TREADLE_API treadle_device *treadle_array_device(const treadle_array *a);        /* borrowed */

/* An operand: an array, or a number.  A number has no dtype of its own: beside an array it takes the array's where
 * its kind allows (NumPy 2's weak scalars).  Borrows the array. */
typedef struct treadle_operand {
    const treadle_array *array; /* NULL: a number */
    char    kind;               /* of a number: b bool, i integer, f real, c complex */
    int64_t i;                  /* b, i */
    double  f[2];               /* f: f[0]; c: real and imaginary part */
} treadle_operand;

static inline treadle_operand treadle_a(const treadle_array *a) { treadle_operand x = {a, 0, 0, {0, 0}}; return x; }
static inline treadle_operand treadle_b(bool v) { treadle_operand x = {NULL, 'b', v, {0, 0}}; return x; }
static inline treadle_operand treadle_i(int64_t v) { treadle_operand x = {NULL, 'i', v, {0, 0}}; return x; }
static inline treadle_operand treadle_f(double v) { treadle_operand x = {NULL, 'f', 0, {v, 0}}; return x; }
static inline treadle_operand treadle_c(double re, double im) { treadle_operand x = {NULL, 'c', 0, {re, im}}; return x; }

/* Creation.  dims: ndim extents >= 0 (ERR_VALUE otherwise); ndim 0 makes one element, dims may be NULL then. */
TREADLE_API treadle_status treadle_empty(treadle_device *d, treadle_dtype dt, int ndim, const int64_t *dims, treadle_array **out); /* elements are undefined; ERR_OOM */
TREADLE_API treadle_status treadle_full(treadle_device *d, treadle_dtype dt, int ndim, const int64_t *dims, treadle_operand value, treadle_array **out); /* a number; ERR_OVERFLOW */
/* count elements: start, start + step, …; numbers (both integers: computed in int64, else in float64). */
TREADLE_API treadle_status treadle_arange(treadle_device *d, treadle_dtype dt, int64_t count, treadle_operand start, treadle_operand step, treadle_array **out);
/* A copy of the elements at data, C order, without gaps; data has been read on return.  ERR_OOM. */
TREADLE_API treadle_status treadle_from_host(treadle_device *d, treadle_dtype dt, int ndim, const int64_t *dims, const void *data, treadle_array **out);
/* The caller's memory on d itself, C order, without a copy: data must stay until release(owner) is called, by any
 * thread and with the library's lock held (it must not call the library); release NULL: forever.  On failure it is not called. */
TREADLE_API treadle_status treadle_wrap(treadle_device *d, treadle_dtype dt, int ndim, const int64_t *dims, void *data, void (*release)(void *owner), void *owner, treadle_array **out);
TREADLE_API treadle_status treadle_to_device(const treadle_array *a, treadle_device *d, treadle_array **out); /* [evaluates] a copy through the host; a itself, once more, when it is there already */

/* Random numbers: counter-based (Philox4x32-10); the same numbers on every device and from Python's Generator(seed).
 * A draw takes its numbers when recorded and moves the counter on. */
typedef struct treadle_rng {
    uint64_t key, counter;
} treadle_rng;

TREADLE_API treadle_rng    treadle_rng_seed(uint64_t seed);
TREADLE_API treadle_status treadle_random_uniform(treadle_device *d, treadle_rng *g, treadle_dtype dt, int ndim, const int64_t *dims, treadle_array **out); /* [0, 1); float32 or float64, else ERR_TYPE */
TREADLE_API treadle_status treadle_random_normal(treadle_device *d, treadle_rng *g, treadle_dtype dt, int ndim, const int64_t *dims, double mean, double deviation, treadle_array **out); /* the same dtypes */
TREADLE_API treadle_status treadle_random_integers(treadle_device *d, treadle_rng *g, treadle_dtype dt, int ndim, const int64_t *dims, int64_t low, int64_t high, treadle_array **out); /* [low, high), both in dt's range; ERR_VALUE: low >= high; integer dtypes */

/* ---- operations: new arrays; operands are on one device (ERR_VALUE) ---- */

/* The elementwise operation over n operands, of which one at least is an array: NumPy's promotion and broadcasting.
 * ERR_VALUE: n, shapes; ERR_TYPE: dtypes; ERR_OVERFLOW: an integer that the arrays' dtype cannot hold. */
TREADLE_API treadle_status treadle_apply(treadle_op op, int n, const treadle_operand *x, treadle_array **out);
/* a[...] = op(x...): ERR_TYPE when the result does not cast to a's dtype within its kind; ERR_VALUE: a is a broadcast view. */
TREADLE_API treadle_status treadle_apply_into(treadle_op op, int n, const treadle_operand *x, treadle_array *a);

static inline treadle_status
treadle_unary(treadle_op op, treadle_operand x, treadle_array **out)
{
    return treadle_apply(op, 1, &x, out);
}

static inline treadle_status
treadle_binary(treadle_op op, treadle_operand x, treadle_operand y, treadle_array **out)
{
    treadle_operand both[2];

    both[0] = x;
    both[1] = y;
    return treadle_apply(op, 2, both, out);
}

TREADLE_API treadle_status treadle_cast(const treadle_array *a, treadle_dtype dt, treadle_array **out); /* C's conversion made total, as NumPy's */
TREADLE_API treadle_status treadle_copy(const treadle_array *a, treadle_array **out);                   /* its own memory, later at least */

typedef struct treadle_reduce_args { /* {0}: over all axes, NumPy's dtype */
    int           naxes; /* 0: all */
    int           axes[TREADLE_MAXDIM];
    bool          keepdims;
    treadle_dtype dtype; /* of the result and the accumulation */
    double        ddof;  /* var, std: divided by count - ddof */
} treadle_reduce_args;

/* args NULL: as {0}.  ERR_VALUE: nothing to reduce for a row without a value for that, an axis twice; ERR_INDEX: no such axis;
 * ERR_TYPE. */
TREADLE_API treadle_status treadle_reduce(treadle_red red, const treadle_array *a, const treadle_reduce_args *args, treadle_array **out);
TREADLE_API treadle_status treadle_take(const treadle_array *a, const treadle_array *index, int axis, treadle_array **out); /* [evaluates] int64 indices; ERR_INDEX: out of range */
/* [evaluates] The matrix product of the last two axes, batched over those before; vectors are taken as NumPy does.
 * cuBLAS on a GPU, on the CPU libopenblas.so.0 or libblas.so.3 where there is one, else a generated kernel. */
TREADLE_API treadle_status treadle_matmul(const treadle_array *a, const treadle_array *b, treadle_array **out);

/* ---- views: share memory; what is written through one is seen through all ---- */

/* start, start + step, … before stop; bounds as Python's slices: negative ones count from the end, too large ones are cut, TREADLE_END
 * (-TREADLE_END for a negative step) is the end itself.  ERR_INDEX: axis; ERR_VALUE: step 0. */
TREADLE_API treadle_status treadle_slice(const treadle_array *a, int axis, int64_t start, int64_t stop, int64_t step, treadle_array **out);
TREADLE_API treadle_status treadle_at(const treadle_array *a, int axis, int64_t i, treadle_array **out); /* without that axis; i < 0 counts from the end; ERR_INDEX */
TREADLE_API treadle_status treadle_reshape(const treadle_array *a, int ndim, const int64_t *dims, treadle_array **out); /* one extent may be -1; a copy where the layout needs it [evaluates]; ERR_VALUE */
TREADLE_API treadle_status treadle_transpose(const treadle_array *a, const int *axes, treadle_array **out); /* axes: a permutation, NULL: reversed; ERR_INDEX, ERR_VALUE */
TREADLE_API treadle_status treadle_broadcast(const treadle_array *a, int ndim, const int64_t *dims, treadle_array **out); /* not written through; ERR_VALUE */

/* ---- writing: a keeps its dtype; the value is broadcast and cast ---- */

TREADLE_API treadle_status treadle_assign(treadle_array *a, treadle_operand value);  /* a[...] = value; ERR_VALUE: shape, a broadcast view */
TREADLE_API treadle_status treadle_assign_where(treadle_array *a, const treadle_array *mask, treadle_operand value); /* a[mask] = value; bool mask of a's shape */
TREADLE_API treadle_status treadle_array_set(treadle_array *a, const void *data, size_t nbytes); /* from host memory, as treadle_from_host; ERR_VALUE unless nbytes is treadle_array_nbytes(a) */

/* ---- values ---- */

TREADLE_API treadle_status treadle_eval(treadle_array *const *a, size_t n); /* [evaluates] launches what these need; a GPU goes on by itself */
TREADLE_API treadle_status treadle_eval_all(void);                          /* [evaluates] launches all that is recorded */
TREADLE_API treadle_status treadle_array_get(const treadle_array *a, void *out, size_t nbytes); /* [evaluates] into host memory, C order, waits; ERR_VALUE unless nbytes is treadle_array_nbytes(a) */
TREADLE_API treadle_status treadle_array_item(const treadle_array *a, double *out); /* [evaluates] the only element as a double (a complex one's real part); ERR_VALUE: more or fewer */
/* [evaluates] The address on the device of the first element, and the strides of each axis in elements (strides NULL: not asked).
 * Valid while the array lives; the work that fills it is in the default stream.  From now on the array's memory counts as
 * readable and writable by others: operations on it run at once. */
TREADLE_API treadle_status treadle_array_memory(treadle_array *a, uintptr_t *address, int64_t *strides);

typedef struct treadle_stats { /* of the process, since its start */
    uint64_t recorded; /* operations recorded */
    uint64_t kernels;  /* kernels launched for them */
    uint64_t compiled; /* kernels that the compiler has made */
    uint64_t loaded;   /* kernels taken from disk */
} treadle_stats;

TREADLE_API treadle_stats treadle_get_stats(void);

/* ---- streams and events ----
 * Arrays are computed in the device's default stream (CUDA's legacy stream): work in other streams is ordered with it by events.
 * Where a stream is asked for, NULL is the default stream of the default device.  The CPU's streams run everything at once. */

typedef struct treadle_stream treadle_stream;
typedef struct treadle_event  treadle_event;

TREADLE_API treadle_status treadle_stream_new(treadle_device *d, treadle_stream **out); /* treadle_stream_free */
TREADLE_API treadle_status treadle_stream_default(treadle_device *d, treadle_stream **out); /* borrowed; never freed */
TREADLE_API void           treadle_stream_free(treadle_stream *s);                      /* ok on NULL and on default streams */
TREADLE_API treadle_status treadle_stream_sync(treadle_stream *s);                      /* [evaluates] when s is a default stream; waits for its work */
TREADLE_API treadle_status treadle_stream_wait(treadle_stream *s, treadle_event *e);    /* work given to s later waits for e */
TREADLE_API void          *treadle_stream_handle(const treadle_stream *s);              /* CUstream; NULL for default streams and on the CPU */
TREADLE_API treadle_status treadle_event_new(treadle_device *d, bool timing, treadle_event **out); /* treadle_event_free */
TREADLE_API void           treadle_event_free(treadle_event *e);                        /* ok on NULL */
TREADLE_API treadle_status treadle_event_record(treadle_event *e, treadle_stream *s);   /* [evaluates] all that is recorded stands before it in the default stream */
TREADLE_API treadle_status treadle_event_sync(treadle_event *e);                        /* waits until e has passed */
TREADLE_API treadle_status treadle_event_done(treadle_event *e, bool *out);
TREADLE_API treadle_status treadle_event_elapsed(treadle_event *from, treadle_event *to, double *ms); /* both passed and with timing */

/* ---- raw kernels: a GPU's; the CPU answers ERR_DEVICE ---- */

typedef struct treadle_module   treadle_module;
typedef struct treadle_function treadle_function;

/* image: NUL-terminated PTX, or a cubin; on the CPU a shared object that treadle compiled. It has been read on return.  treadle_module_free.  ERR_DEVICE carries the driver's log. */
TREADLE_API treadle_status treadle_module_load(treadle_device *d, const void *image, treadle_module **out);
TREADLE_API void           treadle_module_free(treadle_module *m); /* its launches have passed; ok on NULL */
TREADLE_API treadle_status treadle_module_function(treadle_module *m, const char *name, treadle_function **out); /* owned by m; ERR_DEVICE: no such function */

/* One argument.  An array stands for the address of its first element; it is evaluated before the launch, must be C-contiguous
 * (ERR_VALUE) and on the function's device (ERR_VALUE), and may be written; it is the caller's duty to keep it until the launch has passed.  Borrows it. */
typedef struct treadle_arg {
    treadle_array *array; /* NULL: word */
    uint64_t       word;  /* the value's bytes, low ones first */
} treadle_arg;

static inline treadle_arg treadle_arg_array(treadle_array *a) { treadle_arg x = {a, 0}; return x; }
static inline treadle_arg treadle_arg_int(int64_t v) { treadle_arg x = {NULL, (uint64_t)v}; return x; } /* integers of any width */
static inline treadle_arg treadle_arg_address(uintptr_t v) { treadle_arg x = {NULL, v}; return x; }
static inline treadle_arg treadle_arg_float(float v) { treadle_arg x = {NULL, 0}; memcpy(&x.word, &v, sizeof v); return x; }
static inline treadle_arg treadle_arg_double(double v) { treadle_arg x = {NULL, 0}; memcpy(&x.word, &v, sizeof v); return x; }

typedef struct treadle_launch_dims {
    uint32_t grid[3], block[3]; /* blocks; threads of a block; each >= 1 */
    uint32_t shared_nbytes;     /* dynamic shared memory of a block */
} treadle_launch_dims;

/* [evaluates] Asynchronous, in stream s (NULL: the function's device's default one).  nargs as the function has parameters.
 * ERR_VALUE, ERR_DEVICE: the text names the function and the dims. */
TREADLE_API treadle_status treadle_launch(treadle_function *f, treadle_stream *s, const treadle_launch_dims *dims, const treadle_arg *args, int nargs);

#ifdef __cplusplus
}
#endif
#endif
