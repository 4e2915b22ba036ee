/* nullhost.c - pinned host memory of the played driver. */
#include "null/nulldrv.h"

#include <stdlib.h>

static bool profiled; /* between cuProfilerStart and cuProfilerStop */

static int
pin(void *ptr, size_t nbytes, void *own)
{
    null_object *o = td_null_object_new(NULL_PINNED);

    if (!o)
        return CU_OUT_OF_MEMORY;
    o->at = (uintptr_t)ptr;
    o->nbytes = nbytes;
    o->data = own;
    return 0;
}

int
td_null_cuMemHostAlloc(void **ptr, size_t nbytes, unsigned flags)
{
    int r = td_null_due_ctx(NULL_cuMemHostAlloc);
    void *own;

    (void)flags;
    if (r)
        return r;
    own = malloc(nbytes);
    r = own ? pin(own, nbytes, own) : CU_OUT_OF_MEMORY;
    if (r)
        free(own);
    else
        *ptr = own;
    return r;
}

/* Unpins memory that begins at ptr and is (or is not) the driver's own; waits for work that
 * may use it, as the driver does. */
static int
unpin(void *ptr, bool own)
{
    null_object *o;
    int late = td_null_finish_all();

    if (!td_null_pinned((uintptr_t)ptr, 1, &o) || o->at != (uintptr_t)ptr ||
        (o->data != NULL) != own)
        return CU_INVALID_VALUE;
    (void)td_null_object_free(o, NULL_PINNED);
    return late;
}

int
td_null_cuMemFreeHost(void *ptr)
{
    int r = td_null_due_ctx(NULL_cuMemFreeHost);

    return r ? r : unpin(ptr, true);
}

int
td_null_cuMemHostRegister(void *ptr, size_t nbytes, unsigned flags)
{
    int r = td_null_due_ctx(NULL_cuMemHostRegister);

    (void)flags;
    if (r || nbytes == 0)
        return r ? r : CU_INVALID_VALUE;
    return td_null_pinned((uintptr_t)ptr, 1, NULL) ? CU_ALREADY_PINNED : pin(ptr, nbytes, NULL);
}

int
td_null_cuMemHostUnregister(void *ptr)
{
    int r = td_null_due_ctx(NULL_cuMemHostUnregister);

    return r ? r : unpin(ptr, false);
}

int
td_null_cuMemHostGetDevicePointer(cu_ptr *ptr, void *host, unsigned flags)
{
    int r = td_null_due_ctx(NULL_cuMemHostGetDevicePointer);

    (void)flags;
    *ptr = (uintptr_t)host;
    return r || td_null_pinned((uintptr_t)host, 1, NULL) ? r : CU_INVALID_VALUE;
}

int
td_null_cuProfilerStart(void)
{
    profiled = true;
    return td_null_due_ctx(NULL_cuProfilerStart);
}

int
td_null_cuProfilerStop(void)
{
    int r = td_null_due_ctx(NULL_cuProfilerStop);

    r = r || profiled ? r : CU_INVALID_VALUE;
    profiled = false;
    return r;
}
