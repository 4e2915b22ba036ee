/* driver.h - the CUDA driver as a table of functions; either the real one or the one that the host plays. */
#ifndef TD_DEV_DRIVER_H
#define TD_DEV_DRIVER_H
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint64_t cu_ptr;
typedef struct cu_ctx_ *cu_ctx;
typedef struct cu_stream_ *cu_stream;
typedef struct cu_event_ *cu_event;
typedef struct cu_module_ *cu_module;
typedef struct cu_func_ *cu_func;
typedef struct cu_link_ *cu_link;
typedef struct cu_graph_ *cu_graph;
typedef struct cu_exec_ *cu_exec;
typedef unsigned long long cu_mem; /* an allocation without an address */

/* Structures of cuda.h, laid out as the driver has them. */
typedef struct cu_memprop {
    int   type, handles, where, device;
    void *unused;
    unsigned char flags[8];
} cu_memprop;

typedef struct cu_memaccess {
    int where, device, flags;
} cu_memaccess;

typedef struct cu_ipcmem {
    unsigned char bytes[64];
} cu_ipcmem;

typedef struct cu_uuid {
    unsigned char bytes[16];
} cu_uuid;

_Static_assert(sizeof(cu_memprop) == 32 && sizeof(cu_memaccess) == 12, "the driver's layout");

typedef struct cu_array_ *cu_array;

typedef struct cu_side { /* a half of CUDA_MEMCPY3D */
    size_t      x, y, z, lod;
    int         type; /* CUmemorytype */
    const void *host;
    cu_ptr      dev;
    cu_array    array;
    void       *reserved;
    size_t      pitch, height;
} cu_side;

typedef struct cu_copy3 {
    cu_side src, dst;
    size_t  width, height, depth;
} cu_copy3;

typedef struct cu_arraydesc { /* CUDA_ARRAY3D_DESCRIPTOR */
    size_t   width, height, depth;
    int      format;
    unsigned channels, flags;
} cu_arraydesc;

typedef struct cu_resource { /* CUDA_RESOURCE_DESC */
    int type;
    union {
        cu_array array;
        struct {
            cu_ptr   ptr;
            int      format;
            unsigned channels;
            size_t   width, height, pitch; /* of linear memory width is its size in bytes */
        } mem;
        int reserved[32];
    } of;
    unsigned flags;
} cu_resource;

typedef struct cu_texdesc { /* CUDA_TEXTURE_DESC */
    int      address[3], filter;
    unsigned flags, anisotropy;
    int      mip_filter;
    float    mip[3], border[4];
    int      reserved[12];
} cu_texdesc;

_Static_assert(sizeof(cu_side) == 88 && sizeof(cu_copy3) == 200 && sizeof(cu_arraydesc) == 40 &&
                   sizeof(cu_resource) == 144 && sizeof(cu_texdesc) == 104,
               "the driver's layout");

typedef struct td_driver {
#define CU(name, symbol, need, params) int(*name) params;
#include "dev/foreign/driver.def"
} td_driver;

/* Constants of cuda.h that we use; the numbers are the driver's interface. */
enum {
    CU_OUT_OF_MEMORY = 2,
    CU_INVALID_VALUE = 1,
    CU_NO_DEVICE = 100,
    CU_INVALID_DEVICE = 101,
    CU_INVALID_IMAGE = 200,
    CU_INVALID_CONTEXT = 201,
    CU_INVALID_PTX = 218,
    CU_INVALID_HANDLE = 400,
    CU_NOT_FOUND = 500,
    CU_NOT_READY = 600,
    CU_ILLEGAL_ADDRESS = 700,
    CU_LAUNCH_FAILED = 719,
    CU_ALREADY_PINNED = 712,
    CU_NOT_SUPPORTED = 801,

    CU_ATTR_MAX_THREADS = 1,
    CU_ATTR_MAX_SHARED = 8,
    CU_ATTR_WARP = 10,
    CU_ATTR_UNITS = 16,
    CU_ATTR_MEMORY_KHZ = 36,
    CU_ATTR_MEMORY_BITS = 37,
    CU_ATTR_MAJOR = 75,
    CU_ATTR_MINOR = 76,
    CU_ATTR_VIRTUAL_MEMORY = 102,
    CU_MEM_PINNED = 1,
    CU_MEM_DEVICE = 1,
    CU_MEM_READ_WRITE = 3,
    CU_MEM_MINIMUM = 0,
    CU_IPC_LAZY_PEER = 1,
    CU_POINTER_MEMORY_TYPE = 2,
    CU_POINTER_ORDINAL = 9,
    CU_MEMORY_HOST = 1,
    CU_HOST_PORTABLE = 1, /* of cuMemHostAlloc and cuMemHostRegister: pinned for every context, */
    CU_HOST_MAPPED = 2,   /* seen by kernels, */
    CU_HOST_COMBINED = 4, /* not through the host's caches */
    CU_ATTACH_GLOBAL = 1,
    CU_FUNC_MAX_THREADS = 0,
    CU_FUNC_STATIC_SHARED = 1,
    CU_FUNC_MAX_DYNAMIC_SHARED = 8,
    CU_FUNC_CARVEOUT = 9,

    CU_STREAM_NON_BLOCKING = 1,
    CU_STREAM_LEGACY = 1, /* handles that name streams: the default one, */
    CU_STREAM_PER_THREAD = 2, /* and the calling thread's */
    CU_EVENT_NO_TIMING = 2,
    CU_POINTER_RANGE_START = 11,
    CU_POINTER_RANGE_SIZE = 12,
    CU_MEMORY_DEVICE = 2,
    CU_MEMORY_ARRAY = 3,
    CU_RESOURCE_ARRAY = 0,
    CU_RESOURCE_LINEAR = 2,
    CU_RESOURCE_PITCH2D = 3,
    CU_IPC_EVENT_BYTES = 64,
    CU_PEER_ALREADY = 704,
    CU_CAPTURE_THREAD_LOCAL = 1,
    CU_JIT_ERROR_LOG = 5,
    CU_JIT_ERROR_LOG_BYTES = 6,
    CU_INPUT_PTX = 1,
};

/* Opens libcuda.so.1 and calls cuInit, at the first call.  NULL: *why says why not.  Both live as long as the
 * process. */
const td_driver *td_driver_open(const char **why);
/* The CUDA version that the driver supports, 13000 for 13.0; 0: no driver. */
int td_driver_version(void);

#endif
