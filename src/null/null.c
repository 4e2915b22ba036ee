/* null.c - the CUDA driver played by the host: handles, contexts and failures.
 *
 * Every function checks what the driver would check: that a context is current, that handles are
 * live, that copies stay within allocations.  td_null_fail makes any call fail.  nullmem.c has
 * the memory, nullqueue.c the order of work, nullcode.c modules and launches, nullapi.c the other
 * functions.
 */
#include "null/nulldrv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CTX_MAX = 16 };

static struct {
    pthread_mutex_t mu; /* guards everything here */
    null_object *objects;
    uint64_t serial; /* serial of the newest object */
    td_null_counts live;
    struct fault {
        int in, code; /* the in-th call from now fails; 0: none */
    } fault[NULL_CALLS];
} drv = {.mu = PTHREAD_MUTEX_INITIALIZER, .serial = TD_NULL_MAX}; /* below it: default streams */

static _Thread_local struct {
    cu_ctx at[CTX_MAX];
    int n;
} stack; /* the thread's contexts */

static const char *const call_name[NULL_CALLS] = {
#define CU(name, symbol, need, params) [NULL_##name] = #name,
#include "dev/foreign/driver.def"
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

/* As td_null_due; also checks that there is a current context. */
int
td_null_due_ctx(null_call call)
{
    int code = td_null_due(call);

    return code ? code : stack.n ? 0 : CU_INVALID_CONTEXT;
}

/* ---- objects: streams, events, modules, links, pinned memory ---- */

static size_t *
counter_of(null_kind kind)
{
    switch (kind) {
    case NULL_STREAM:   return &drv.live.streams;
    case NULL_EVENT:    return &drv.live.events;
    case NULL_MODULE:   return &drv.live.modules;
    case NULL_LINK:     return &drv.live.links;
    case NULL_PINNED:   return &drv.live.pinned;
    case NULL_PHYSICAL: return &drv.live.physical;
    case NULL_GRAPH:
    case NULL_EXEC:     return &drv.live.graphs;
    case NULL_ARRAY:    return &drv.live.arrays;
    case NULL_TEXTURE:  return &drv.live.textures;
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
    o->device = stack.n ? td_null_device() : 0;
    pthread_mutex_lock(&drv.mu);
    o->serial = ++drv.serial;
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

void
td_null_object_record(const void *handle, uint64_t ns)
{
    null_object *o;

    pthread_mutex_lock(&drv.mu);
    for (o = drv.objects; o && o != handle;)
        o = o->next;
    if (o && o->kind == NULL_EVENT)
        o->ns = ns;
    pthread_mutex_unlock(&drv.mu);
}

null_object *
td_null_object_with(const void *data, null_kind kind)
{
    null_object *o;

    pthread_mutex_lock(&drv.mu);
    for (o = drv.objects; o && (o->kind != kind || o->data != data);)
        o = o->next;
    pthread_mutex_unlock(&drv.mu);
    return o;
}

bool
td_null_pinned(uintptr_t ptr, size_t nbytes, null_object **out)
{
    null_object *o;

    pthread_mutex_lock(&drv.mu);
    for (o = drv.objects; o; o = o->next)
        if (o->kind == NULL_PINNED && ptr >= o->at && ptr - o->at < o->nbytes &&
            nbytes <= o->nbytes - (ptr - o->at))
            break;
    pthread_mutex_unlock(&drv.mu);
    if (out)
        *out = o;
    return o != NULL;
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
    td_null_mem_count(&n.memory, &n.bytes);
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

/* One per device; only the addresses matter. */
static char contexts[TD_NULL_MAX];

cu_ctx
td_null_context(int device)
{
    return (cu_ctx)&contexts[device];
}

int
td_null_device_of(cu_ctx ctx)
{
    const char *c = (const char *)ctx;

    return c >= contexts && c < contexts + TD_NULL_MAX ? (int)(c - contexts) : -1;
}

int
td_null_device(void)
{
    return td_null_device_of(td_null_current());
}
