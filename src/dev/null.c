/* null.c - the CUDA driver played by the host: memory, streams, events, contexts, failures.
 *
 * Work is done when it is given.  Every function checks what the driver would: that a context is
 * current, that handles are live, that copies stay within allocations.  td_null_fail makes any call
 * fail.  Here is the state; nullapi.c holds the driver's functions, nullcode.c modules and launches.
 */
#include "dev/nulldrv.h"

#include <stdlib.h>
#include <string.h>

enum { CTX_MAX = 16 };

static struct {
    pthread_mutex_t mu; /* guards everything here */
    null_ranges mem;    /* what the driver gave */
    null_ranges bufs;   /* the buffers that live in it */
    null_object *objects;
    td_null_counts live;
    struct fault {
        int in, code; /* fails at the in-th call from now; 0: not */
    } fault[NULL_CALLS];
} drv = {.mu = PTHREAD_MUTEX_INITIALIZER};

static _Thread_local struct {
    cu_ctx at[CTX_MAX];
    int n;
} stack; /* the thread's contexts */

static const char *const call_name[NULL_CALLS] = {
#define CU(name, symbol, need, params) [NULL_##name] = #name,
#include "dev/driver.def"
};

/* ---- failures on demand ---- */

void
td_null_fail(const char *call, int n, int code)
{
    pthread_mutex_lock(&drv.mu);
    for (int i = 0; i < NULL_CALLS; i++)
        if (strcmp(call_name[i], call) == 0)
            drv.fault[i] = (struct fault){n, code};
    pthread_mutex_unlock(&drv.mu);
}

int
td_null_due(null_call call)
{
    struct fault *f = &drv.fault[call];
    int code = 0;

    pthread_mutex_lock(&drv.mu);
    if (f->in == 1)
        code = f->code;
    f->in -= f->in > 0;
    pthread_mutex_unlock(&drv.mu);
    return code;
}

/* As td_null_due; besides, the call needs a current context. */
int
td_null_due_ctx(null_call call)
{
    int code = td_null_due(call);

    return code ? code : stack.n ? 0 : CU_INVALID_CONTEXT;
}

/* ---- ranges of memory, sorted by address ---- */

/* Index of the first range that begins above ptr. */
static size_t
range_above(const null_ranges *r, uintptr_t ptr)
{
    size_t lo = 0, hi = r->n;

    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;

        if (r->at[mid].ptr <= ptr)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static bool
range_add(null_ranges *r, uintptr_t ptr, size_t nbytes)
{
    size_t i = range_above(r, ptr);

    if (r->n == r->cap) {
        size_t cap = r->cap ? 2 * r->cap : 64;
        null_range *at = realloc(r->at, cap * sizeof *at);

        if (!at)
            return false;
        r->at = at;
        r->cap = cap;
    }
    memmove(&r->at[i + 1], &r->at[i], (r->n - i) * sizeof *r->at);
    r->at[i] = (null_range){ptr, nbytes};
    r->n++;
    return true;
}

/* Removes the range that begins at ptr; its size, or SIZE_MAX when there is none. */
static size_t
range_drop(null_ranges *r, uintptr_t ptr)
{
    size_t i = range_above(r, ptr), nbytes;

    if (i == 0 || r->at[i - 1].ptr != ptr)
        return SIZE_MAX;
    nbytes = r->at[--i].nbytes;
    r->n--;
    memmove(&r->at[i], &r->at[i + 1], (r->n - i) * sizeof *r->at);
    return nbytes;
}

static size_t
range_extent(const null_ranges *r, uintptr_t ptr)
{
    size_t i = range_above(r, ptr);

    if (i == 0 || ptr - r->at[i - 1].ptr >= r->at[i - 1].nbytes)
        return 0;
    return r->at[i - 1].nbytes - (ptr - r->at[i - 1].ptr);
}

size_t
td_null_extent(uintptr_t ptr)
{
    size_t n;

    pthread_mutex_lock(&drv.mu);
    n = range_extent(&drv.bufs, ptr);
    pthread_mutex_unlock(&drv.mu);
    return n;
}

/* The pool tells of every buffer. */
static void
note_buffer(uintptr_t ptr, size_t nbytes, bool on)
{
    pthread_mutex_lock(&drv.mu);
    if (on)
        (void)range_add(&drv.bufs, ptr, nbytes); /* without it the buffer's extent reads as 0 */
    else
        (void)range_drop(&drv.bufs, ptr);
    pthread_mutex_unlock(&drv.mu);
}

/* ---- memory ---- */

int
td_null_mem_get(cu_ptr *out, size_t nbytes)
{
    void *p =
        nbytes && nbytes <= NULL_MEMORY ? aligned_alloc(512, (nbytes + 511) / 512 * 512) : NULL;
    bool ok;

    if (!p)
        return nbytes ? CU_OUT_OF_MEMORY : CU_INVALID_VALUE;
    pthread_mutex_lock(&drv.mu);
    ok = drv.live.bytes + nbytes <= NULL_MEMORY && range_add(&drv.mem, (uintptr_t)p, nbytes);
    if (ok) {
        drv.live.memory++;
        drv.live.bytes += nbytes;
    }
    pthread_mutex_unlock(&drv.mu);
    if (!ok) {
        free(p);
        return CU_OUT_OF_MEMORY;
    }
    *out = (cu_ptr)(uintptr_t)p;
    return 0;
}

int
td_null_mem_put(cu_ptr ptr)
{
    size_t nbytes;

    pthread_mutex_lock(&drv.mu);
    nbytes = range_drop(&drv.mem, (uintptr_t)ptr);
    if (nbytes != SIZE_MAX) {
        drv.live.memory--;
        drv.live.bytes -= nbytes;
    }
    pthread_mutex_unlock(&drv.mu);
    if (nbytes == SIZE_MAX)
        return CU_INVALID_VALUE;
    free((void *)(uintptr_t)ptr);
    return 0;
}

int
td_null_mem_check(cu_ptr ptr, size_t nbytes)
{
    size_t n;

    pthread_mutex_lock(&drv.mu);
    n = range_extent(&drv.mem, (uintptr_t)ptr);
    pthread_mutex_unlock(&drv.mu);
    return n < nbytes ? CU_INVALID_VALUE : 0;
}

/* ---- objects: streams, events, modules, links, pinned memory ---- */

static size_t *
counter_of(null_kind kind)
{
    switch (kind) {
    case NULL_STREAM: return &drv.live.streams;
    case NULL_EVENT:  return &drv.live.events;
    case NULL_MODULE: return &drv.live.modules;
    case NULL_LINK:   return &drv.live.links;
    case NULL_PINNED: return &drv.live.pinned;
    case NULL_GRAPH:
    case NULL_EXEC:   return &drv.live.graphs;
    }
    return NULL;
}

null_object *
td_null_object_new(null_kind kind)
{
    null_object *o = calloc(1, sizeof *o);

    if (!o)
        return NULL;
    o->kind = kind;
    pthread_mutex_lock(&drv.mu);
    o->next = drv.objects;
    drv.objects = o;
    ++*counter_of(kind);
    pthread_mutex_unlock(&drv.mu);
    return o;
}

bool
td_null_object_is(const void *handle, null_kind kind)
{
    const null_object *o;

    pthread_mutex_lock(&drv.mu);
    for (o = drv.objects; o && o != handle;)
        o = o->next;
    pthread_mutex_unlock(&drv.mu);
    return o && o->kind == kind;
}

bool
td_null_object_free(void *handle, null_kind kind)
{
    null_object *o;

    pthread_mutex_lock(&drv.mu);
    for (null_object **at = &drv.objects; (o = *at); at = &o->next)
        if (o == handle && o->kind == kind) {
            *at = o->next;
            --*counter_of(kind);
            break;
        }
    pthread_mutex_unlock(&drv.mu);
    if (!o)
        return false;
    free(o->data);
    free(o);
    return true;
}

td_null_counts
td_null_live(void)
{
    td_null_counts n;

    pthread_mutex_lock(&drv.mu);
    n = drv.live;
    pthread_mutex_unlock(&drv.mu);
    n.contexts = (size_t)stack.n;
    return n;
}

/* ---- contexts ---- */

int
td_null_push(cu_ctx ctx)
{
    if (!ctx || stack.n == CTX_MAX)
        return CU_INVALID_CONTEXT;
    stack.at[stack.n++] = ctx;
    return 0;
}

int
td_null_pop(cu_ctx *ctx)
{
    if (!stack.n)
        return CU_INVALID_CONTEXT;
    *ctx = stack.at[--stack.n];
    return 0;
}

cu_ctx
td_null_current(void)
{
    return stack.n ? stack.at[stack.n - 1] : NULL;
}

/* ---- the device ---- */

static const td_driver null_driver = {
#define CU(name, symbol, need, params) .name = td_null_##name,
#include "dev/driver.def"
};

td_status
td_null_open(td_dev **out)
{
    td_cuda *c;

    TD_TRY(td_cuda_make(&null_driver, 0, TD_DEV_NULL, "null", &c));
    c->dev.live = note_buffer;
    *out = &c->dev;
    return TD_OK;
}
