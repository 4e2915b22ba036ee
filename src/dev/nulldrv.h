/* nulldrv.h - the host-played driver's parts: null.c (state), nullapi.c (functions), nullcode.c (code). */
#ifndef TD_DEV_NULLDRV_H
#define TD_DEV_NULLDRV_H
#include "dev/cuda.h"
#include "dev/null.h"

typedef enum null_call {
#define CU(name, symbol, need, params) NULL_##name,
#include "dev/driver.def"
    NULL_CALLS
} null_call;

#define NULL_MEMORY ((size_t)8 << 30) /* what the device claims to have; no page of it exists before it is touched */

/* A handle of the driver's.  Owned by the driver's list from _new to _free. */
typedef enum null_kind {
    NULL_STREAM, NULL_EVENT, NULL_MODULE, NULL_LINK, NULL_PINNED, NULL_GRAPH, NULL_EXEC
} null_kind;

typedef struct null_object {
    struct null_object *next;
    null_kind           kind;
    int64_t             ns;   /* an event's time */
    void               *data; /* freed with the object */
    size_t              nbytes;
} null_object;

typedef struct null_range {
    uintptr_t ptr;
    size_t    nbytes;
} null_range;

typedef struct null_ranges {
    null_range *at;
    size_t      n, cap;
} null_ranges;

/* ---- null.c ---- */
int  td_null_due(null_call call);     /* the code that td_null_fail wants, or 0 */
int  td_null_due_ctx(null_call call); /* the same; without a current context the code for that */
int  td_null_push(cu_ctx ctx);
int  td_null_pop(cu_ctx *ctx);
cu_ctx td_null_current(void);
int  td_null_mem_get(cu_ptr *out, size_t nbytes);
int  td_null_mem_put(cu_ptr ptr);
int  td_null_mem_check(cu_ptr ptr, size_t nbytes); /* 0 when it lies in one allocation */
null_object *td_null_object_new(null_kind kind);   /* NULL: no memory */
bool td_null_object_is(const void *handle, null_kind kind);
bool td_null_object_free(void *handle, null_kind kind); /* false: there is no such thing */

/* ---- nullcode.c ---- */
const char *td_null_hook_error(void); /* what the launch hook said last on this thread; borrowed */

/* ---- nullgraph.c ---- */

/* Work as a graph keeps it: a launch has func, a copy src, a fill neither.  Owned by its list. */
typedef struct null_work {
    struct null_work *next;
    cu_func   func;
    unsigned  dims[7]; /* grid, block, shared */
    void    **param;   /* into words */
    uint64_t *words;
    cu_ptr    dst, src;
    unsigned char byte;
    size_t    nbytes;
} null_work;

/* False: the stream is not being captured and the work is to be done.  True: it was kept, or *code says
 * why not. */
bool td_null_keep(cu_stream stream, const null_work *w, int nparam, int *code);

/* ---- the driver's functions ---- */
#define CU(name, symbol, need, params) int td_null_##name params;
#include "dev/driver.def"

#endif
