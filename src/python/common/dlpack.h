/* dlpack.h - DLPack's structures, version 1.1, as its specification lays them out. */
#ifndef TD_PYTHON_DLPACK_H
#define TD_PYTHON_DLPACK_H
#include <stdint.h>

enum { DL_MAJOR = 1, DL_MINOR = 1 };

typedef enum dl_kind { /* of devices */
    DL_CPU = 1,
    DL_CUDA = 2,
    DL_CUDA_HOST = 3, /* pinned host memory */
    DL_EXTENSION = 12, /* a device that others do not have: the null device */
    DL_CUDA_MANAGED = 13,
} dl_kind;

typedef enum dl_code { /* of dtypes */
    DL_INT = 0,
    DL_UINT = 1,
    DL_FLOAT = 2,
    DL_BFLOAT = 4,
    DL_COMPLEX = 5,
    DL_BOOL = 6,
} dl_code;

enum { DL_READ_ONLY = 1, DL_IS_COPIED = 2 };

typedef struct dl_device {
    int32_t kind, index;
} dl_device;

typedef struct dl_tensor {
    void     *data;
    dl_device device;
    int32_t   ndim;
    struct {
        uint8_t  code, bits;
        uint16_t lanes;
    } dtype;
    int64_t *shape, *strides; /* in elements; strides NULL: C order */
    uint64_t byte_offset;
} dl_tensor;

typedef struct dl_legacy { /* capsules named "dltensor" */
    dl_tensor tensor;
    void     *ctx;
    void (*deleter)(struct dl_legacy *self);
} dl_legacy;

typedef struct dl_managed { /* capsules named "dltensor_versioned" */
    struct {
        uint32_t major, minor;
    } version;
    void *ctx;
    void (*deleter)(struct dl_managed *self);
    uint64_t  flags;
    dl_tensor tensor;
} dl_managed;

#endif
