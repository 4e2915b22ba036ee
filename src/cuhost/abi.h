/* abi.h - what a CUDA C++ text that was compiled for a CPU and treadle know of each other.
 *
 * C11 and C++17.  The shared object exports one symbol, td_cu_module; the core reads it, calls `init` once, and
 * runs a kernel by calling `block` once a block, from any thread of its pool.  All pointers live as long as
 * the object is loaded.
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
    char     item;        /* kind of what a pointer points to; 'v' void, '-' no pointer */
    uint32_t item_size;   /* bytes; 0: no pointer, or to void */
} td_cu_param;

/* td_cu_block - one block that is to run.  The caller's; `shared` is this block's alone while it runs. */
typedef struct td_cu_block {
    void *const *param; /* the address of each argument, as cuLaunchKernel takes them */
    uint32_t     grid[3], block[3], index[3];
    uint32_t     nshared;     /* bytes of dynamic shared memory */
    void        *shared;      /* static (the module's `nstatic` bytes), then dynamic; 64-byte aligned, not cleared */
    uint32_t     cooperative; /* 1: a cooperative launch.  One call runs all blocks of the grid at once, their threads in turns;
                               * index and shared are not read */
} td_cu_block;

/* td_cu_host - what treadle does for a module.  Any thread. */
typedef struct td_cu_host {
    int abi;
    /* Runs fn(ctx, 0) … fn(ctx, n - 1) in turns, each on a stack of its own, until all have returned
     * (base/fiber.h).  0: no memory for the stacks, or all wait for each other; the module then fails. */
    int  (*run)(int n, void (*fn)(void *ctx, int i), void *ctx);
    void (*yield)(void);                 /* the next one's turn; nothing outside of `run` */
    /* A barrier among `run`'s own: waits until `of` have come, or all of its members that have not returned.
     * state is a zeroed word of the members' own. */
    void (*barrier)(uint64_t *state, int first, int n);
    void (*meet)(uint64_t *state, int first, uint64_t mask); /* the same of those whose bit is set: first + k, bit k */
    /* The launch fails with this text: said by the next wait, and by this launch where it can.  The thread ends, or its
     * block where its threads are a loop; the first text counts. */
    void (*fail)(const char *text);
    void (*print)(const char *text, size_t nbytes); /* printf's output, in order within a thread */
    /* From p on, how many bytes belong to its live allocation, and in *before how many lie before it; 0: none known. */
    size_t (*extent)(const void *p, size_t *before);
} td_cu_host;

enum { TD_CU_SWITCHES = 1 }; /* flags: its threads are switched: slower than a loop over them */

typedef struct td_cu_kernel {
    const char        *name;  /* as it was asked for: "add", "f<float, 4>", "ns::g" */
    void             (*block)(const td_cu_block *b);
    uint32_t           flags;
    uint32_t           nparam;
    const td_cu_param *param;
    uint32_t           max_threads; /* of __launch_bounds__; 0: none were said */
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

/* td_cu_texture - what a cudaTextureObject_t or cudaSurfaceObject_t is the address of on a CPU. */
typedef struct td_cu_texture {
    void    *data;
    uint32_t extent[3];    /* elements: width, height, depth; 0: the axis is not there */
    uint32_t layered;      /* extent[2] counts layers */
    size_t   pitch, slice; /* bytes from row to row, from layer to layer */
    uint8_t  channels;     /* 1, 2 or 4 */
    char     kind;         /* of a channel: 'i', 'u', 'f' */
    uint8_t  size;         /* of a channel, bytes */
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
