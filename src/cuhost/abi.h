/* abi.h - the interface between treadle and a CUDA C++ text that was compiled for a CPU.
 *
 * C11 and C++17.  The shared object exports one symbol, td_cu_module.  The core reads it, calls `init` once, and runs
 * a kernel by calling `block` once per block, from any thread of its pool.  All pointers live as long as the object is
 * loaded.
 */
#ifndef TD_CUHOST_ABI_H
#define TD_CUHOST_ABI_H
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { TD_CU_ABI = 1 };

/* td_cu_param - a kernel's parameter, as the C++ compiler sees it. */
typedef struct td_cu_param {
    uint32_t size, align; /* bytes */
    char     kind;        /* 'p' pointer, 'i' signed, 'u' unsigned, 'b' bool, 'f' floating (half types too), 's' a class */
    char     readonly;    /* a pointer to const */
    char     item;        /* kind of the elements that a pointer points to; 'v' void, '-' no pointer */
    uint32_t item_size;   /* bytes; 0: no pointer, or to void */
} td_cu_param;

/* td_cu_block - one block to run.  The caller's; no other running block has the same `shared`. */
typedef struct td_cu_block {
    void *const *param; /* the address of each argument, as cuLaunchKernel takes them */
    uint32_t     grid[3], block[3], index[3];
    uint32_t     nshared;     /* bytes of dynamic shared memory */
    void        *shared;      /* static (the module's `nstatic` bytes), then dynamic; 64-byte aligned, not cleared */
    uint32_t     cooperative; /* 1: a cooperative launch: one call runs all blocks of the grid at once, as fibers,
                               * and ignores index and shared */
} td_cu_block;

/* td_cu_host - functions of treadle for a module.  Any thread may call them. */
typedef struct td_cu_host {
    int abi;
    /* Runs fn(ctx, 0) … fn(ctx, n - 1) as fibers (base/fiber.h); returns when all have returned.  0: no memory for the
     * stacks, or a deadlock; the module then fails. */
    int  (*run)(int n, void (*fn)(void *ctx, int i), void *ctx);
    void (*yield)(void);                 /* lets the next fiber run; does nothing outside of `run` */
    /* Waits until fibers [first, first + n) wait here or have returned.  state: a zeroed word that belongs to this
     * barrier alone. */
    void (*barrier)(uint64_t *state, int first, int n);
    void (*meet)(uint64_t *state, int first, uint64_t mask); /* the same for the fibers first + k whose bit k is set */
    /* Fails the launch with this text; the first text counts.  The launch reports it if it can, else the next wait
     * does.  The calling thread ends, or its whole block if the block's threads are a loop. */
    void (*fail)(const char *text);
    void (*beyond)(const char *text); /* the same, for an index that is out of bounds */
    void (*print)(const char *text, size_t nbytes); /* printf's output, in order within a thread */
    /* Returns the bytes from p to the end of its live allocation; *before: the bytes from its start to p.  0: p is in
     * no known allocation. */
    size_t (*extent)(const void *p, size_t *before);
} td_cu_host;

enum { TD_CU_SWITCHES = 1 }; /* flags: its threads are fibers, which are slower than a loop */

typedef struct td_cu_kernel {
    const char        *name;  /* as requested: "add", "f<float, 4>", "ns::g" */
    void             (*block)(const td_cu_block *b);
    uint32_t           flags;
    uint32_t           nparam;
    const td_cu_param *param;
    uint32_t           max_threads; /* from __launch_bounds__; 0: it has none */
} td_cu_kernel;

/* td_cu_global - a __device__, __constant__ or __managed__ variable. */
typedef struct td_cu_global {
    const char *name;
    void       *at;
    size_t      nbytes;
} td_cu_global;

typedef struct td_cu_module {
    int                 abi; /* TD_CU_ABI; checked before anything else is read */
    void              (*init)(const td_cu_host *host);
    const td_cu_kernel *kernel;
    uint32_t            nkernel;
    const td_cu_global *global;
    uint32_t            nglobal;
    const size_t       *nstatic; /* bytes of static shared memory that a block needs, a multiple of 64; known once loaded */
} td_cu_module;

/* td_cu_texture - a texture or surface: on a CPU a cudaTextureObject_t or cudaSurfaceObject_t is its address. */
typedef struct td_cu_texture {
    void    *data;
    uint32_t extent[3];    /* elements: width, height, depth; 0: no such axis */
    uint32_t layered;      /* extent[2] counts layers */
    size_t   pitch, slice; /* bytes from row to row, from layer to layer */
    uint8_t  channels;     /* 1, 2 or 4 */
    char     kind;         /* a channel's: 'i', 'u', 'f' */
    uint8_t  size;         /* a channel's, bytes */
    uint8_t  address[3];   /* CUaddress_mode: 0 wrap, 1 clamp, 2 mirror, 3 border */
    uint8_t  linear;       /* filter */
    uint8_t  normalized;   /* coordinates in [0, 1) */
    uint8_t  as_float;     /* integer channels are read as floats in [0, 1] or [-1, 1] */
    float    border[4];
} td_cu_texture;

#ifdef __cplusplus
}
#endif
#endif
