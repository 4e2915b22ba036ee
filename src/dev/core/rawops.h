/* rawops.h - a device's part of raw.h; internal to dev/.
 *
 * Arguments have been checked.  If a slot is NULL the device cannot do it, and raw.c reports
 * CUDA_ERROR_NOT_SUPPORTED unless the slot's comment says otherwise.
 */
#ifndef TD_DEV_RAWOPS_H
#define TD_DEV_RAWOPS_H
#include "dev/core/devops.h"
#include "dev/core/raw.h"

typedef struct td_rawops {
    /* Can work of the device use the whole range, although it is not the pool's? */
    bool (*holds)(td_dev *d, uintptr_t ptr, size_t nbytes);
    td_status (*fill)(td_stream *s, uintptr_t dst, size_t pitch, int size, uint32_t value, size_t width, size_t height);
    td_status (*copy)(td_stream *s, const td_brick *b); /* may return before the copy is done */
    td_status (*peer)(td_stream *s, td_dev *dst_dev, uintptr_t dst, td_dev *src_dev, uintptr_t src, size_t nbytes);
    td_status (*array_new)(td_texarray *a);
    void (*array_free)(td_texarray *a);
    td_status (*texture_new)(td_dev *d, const td_texview *v, bool surface, uint64_t *out);
    td_status (*texture_free)(td_dev *d, uint64_t handle, bool surface);
    td_status (*stream_new)(td_stream *s, int priority); /* s->apart is set; NULL: made like any other stream */
    td_status (*stream_done)(td_stream *s, bool *out);   /* NULL: work is always done */
    td_status (*priorities)(td_dev *d, int *least, int *greatest); /* NULL: there is only one priority */
    td_status (*event_new)(td_event *e, unsigned flags); /* NULL: made like any other event */
    td_status (*event_send)(td_event *e, unsigned char out[64]);
    td_status (*event_receive)(td_event *e, const unsigned char in[64]);
    td_status (*limit)(td_dev *d, int limit, bool set, size_t *value);
    td_status (*config)(td_dev *d, int which, bool set, int *value);
    td_status (*func_set)(td_func *f, int attribute, int value);
    td_status (*func_config)(td_func *f, int which, int value);
    td_status (*peer_do)(td_dev *d, td_dev *peer, td_peerdo what, bool *can);
    td_status (*bus)(td_dev *d, char *out, size_t n); /* NULL: TD_SKIP */
    td_status (*attach)(td_stream *s, uintptr_t ptr, unsigned flags);
} td_rawops;

extern const td_rawops td_cpu_raw, td_cuda_raw;

/* ---- hostraw.c: what the host does as a CPU device, and when it plays the driver ---- */
/* td_hostbrick - a copy between two places of the host's memory.  Plain data. */
typedef struct td_hostbrick {
    char       *dst;
    const char *src;
    size_t      dst_pitch, dst_slice, src_pitch, src_slice; /* bytes */
    size_t      width, height, depth;
} td_hostbrick;

void td_hostbrick_run(const td_hostbrick *b);
/* The bytes that such a block spans, from its first byte to its last. */
size_t td_brick_span(size_t pitch, size_t slice, size_t width, size_t height, size_t depth);
void td_hostfill(char *dst, size_t pitch, int size, uint32_t value, size_t width, size_t height);
/* td_hostsettings - limits and preferences that are stored but have no effect. */
enum { TD_LIMITS = 7 };
typedef struct td_hostsettings {
    atomic_size_t limit[TD_LIMITS];
    atomic_int    config[2];
} td_hostsettings;
#define TD_HOSTSETTINGS {.limit = {1024, 1 << 20, 8 << 20, 2, 2048, 64, 0}, .config = {0, 1}}

int td_hostsettings_limit(td_hostsettings *h, int limit, bool set, size_t *value); /* 0 or the driver's code */
int td_hostsettings_config(td_hostsettings *h, int which, bool set, int *value);
struct td_cu_texture;
/* Makes the object that a texture handle points to, for code compiled for a CPU; owned (free). */
td_status td_hosttexture_new(const td_texview *v, struct td_cu_texture **out);

#endif
