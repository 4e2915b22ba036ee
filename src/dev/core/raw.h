/* raw.h - a device as the CUDA driver's interface shows it: addresses, blocks of bytes, arrays, textures, limits.
 *
 * For programs that handle addresses themselves.  Every range of device memory is looked up before it is used.  A
 * range that lies in no live allocation, or reaches beyond it, is refused the way the driver would (TD_ERR_DEVICE,
 * CUDA_ERROR_INVALID_VALUE), even where the device itself could not tell.  On the CPU everything is done before a
 * call returns.
 */
#ifndef TD_DEV_RAW_H
#define TD_DEV_RAW_H
#include "dev/core/dev.h"

/* ---- refusals ---- */
/* Fails with "cuMemAlloc(0) failed: CUDA_ERROR_INVALID_VALUE: why": the call with its arguments, the driver's
 * name of the code, the reason. */
td_status td_raw_refuse(int code, const char *call, const char *why);
/* Puts the call and its arguments in front of the text of failure st; passes TD_OK on. */
td_status td_raw_said(td_status st, const char *fmt, ...) TD_PRINTF(2, 3);

/* ---- addresses ---- */
/* Memory whose address a program passes round: after it is freed, it is reused only after all work of the
 * device. */
td_status td_raw_new(td_dev *d, size_t nbytes, td_buf **out); /* owned.  nbytes 0 is refused */
/* Checks that [ptr, ptr + nbytes) lies in one live allocation of d, or in host memory that d reaches.  `call`:
 * for the text. */
td_status td_raw_check(td_dev *d, uintptr_t ptr, size_t nbytes, const char *call);

/* ---- fills and copies of blocks ---- */
/* Fills height rows of `width` elements of 1, 2 or 4 bytes; rows lie pitch bytes apart.  Asynchronous. */
td_status td_raw_fill(td_stream *s, uintptr_t dst, size_t pitch, int size, uint32_t value, size_t width, size_t height);

/* td_texarray - memory in the layout of texture units.  Counted. */
typedef struct td_texarray td_texarray;

typedef enum td_place { TD_PLACE_NONE, TD_PLACE_HOST, TD_PLACE_DEVICE, TD_PLACE_ARRAY } td_place;

/* td_side - one side of a copy.  Borrowed. */
typedef struct td_side {
    td_place     place;
    uintptr_t    at;            /* the host's or the device's address */
    size_t       extent;        /* host: bytes from `at` on that may be accessed */
    td_texarray *array;
    size_t       x, y, z;       /* bytes, rows, layers */
    size_t       pitch, height; /* bytes between rows, rows between layers; 0: as in the copy itself */
} td_side;

/* td_brick - what is copied: width bytes, height rows, depth layers. */
typedef struct td_brick {
    td_side dst, src;
    size_t  width, height, depth;
} td_brick;

/* wait: the host's memory may be reused on return; else it must stay until the work of s has passed. */
td_status td_raw_copy(td_stream *s, const td_brick *b, bool wait);
/* Between devices. */
td_status td_raw_peer(td_stream *s, td_dev *dst_dev, uintptr_t dst, td_dev *src_dev, uintptr_t src, size_t nbytes);

/* ---- arrays, textures, surfaces ---- */
/* Formats of channels: CUarray_format. */
enum { TD_TEX_U8 = 1, TD_TEX_U16, TD_TEX_U32, TD_TEX_I8 = 8, TD_TEX_I16, TD_TEX_I32, TD_TEX_F16 = 0x10, TD_TEX_F32 = 0x20 };
enum { TD_TEX_LAYERED = 1, TD_TEX_SURFACE = 2, TD_TEX_CUBE = 4 };               /* of an array: CUDA_ARRAY3D_… */
enum { TD_TEX_INTEGER = 1, TD_TEX_NORMALIZED = 2, TD_TEX_SRGB = 16 };           /* of a texture: CU_TRSF_… */

typedef struct td_texdesc {
    size_t   width, height, depth; /* elements; 0: the axis is not there */
    int      format, channels;     /* channels 1, 2 or 4 */
    unsigned flags;
} td_texdesc;

struct td_texarray {
    atomic_int refs;
    td_dev    *dev;    /* borrowed */
    void      *handle; /* CUarray; on the CPU `at` */
    td_texdesc desc;
    uintptr_t  at;     /* on the CPU: its bytes, */
    size_t     pitch, slice;
};

size_t       td_tex_item(int format, int channels);   /* bytes of an element; 0: there is no such format */
td_status    td_texarray_new(td_dev *d, const td_texdesc *t, td_texarray **out); /* owned */
td_texarray *td_texarray_ref(td_texarray *a);
void         td_texarray_unref(td_texarray *a); /* ok on NULL; waits for the work on it */

/* td_texview - what a texture object shows, and how. */
typedef struct td_texview {
    td_texarray *array;            /* the array; NULL: linear memory */
    uintptr_t    at;               /* device memory of desc's shape: one row, or rows `pitch` bytes apart */
    size_t       pitch;
    td_texdesc   desc;
    int          address[3], filter; /* CUaddress_mode, CUfilter_mode */
    unsigned     flags;
} td_texview;

/* Makes a handle for kernels (cudaTextureObject_t, cudaSurfaceObject_t).  What it shows must outlive it. */
td_status td_texture_new(td_dev *d, const td_texview *v, bool surface, uint64_t *out);
td_status td_texture_free(td_dev *d, uint64_t handle, bool surface);

/* ---- streams and events with options ---- */
td_status td_stream_make(td_dev *d, bool apart, int priority, td_stream **out); /* owned.  apart: does not wait for the default stream */
td_status td_stream_done(td_stream *s, bool *out);                             /* has the work given to it passed? */
td_status td_stream_priorities(td_dev *d, int *least, int *greatest);
enum { TD_EVENT_BLOCKING = 1, TD_EVENT_NO_TIMING = 2, TD_EVENT_SHARED = 4 }; /* CU_EVENT_… */
td_status td_event_make(td_dev *d, unsigned flags, td_event **out); /* owned */
td_status td_event_send(td_event *e, unsigned char out[64]);        /* for another process */
td_status td_event_receive(td_dev *d, const unsigned char in[64], td_event **out);

/* ---- settings and facts ---- */
td_status td_dev_limit(td_dev *d, int limit, bool set, size_t *value);            /* CUlimit */
enum { TD_CONFIG_CACHE, TD_CONFIG_SHARED };                                      /* CUfunc_cache, CUsharedconfig */
td_status td_dev_config(td_dev *d, int which, bool set, int *value);
td_status td_func_set(td_func *f, int attribute, int value);                     /* CUfunction_attribute */
td_status td_func_config(td_func *f, int which, int value);
typedef enum td_peerdo { TD_PEER_CAN, TD_PEER_ENABLE, TD_PEER_DISABLE } td_peerdo;
td_status td_dev_peer(td_dev *d, td_dev *peer, td_peerdo what, bool *can);
td_status td_dev_bus(td_dev *d, char *out, size_t n);          /* "0000:3b:00.0"; TD_SKIP: it has none */
td_status td_dev_driver_version(int *out);                     /* of the NVIDIA driver; 0: there is none */
td_status td_host_attach(td_stream *s, uintptr_t ptr, unsigned flags); /* managed memory: CU_MEM_ATTACH_… */

#endif
