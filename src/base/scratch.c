/* scratch.c - one growing block of memory for each thread. */
#include "base/scratch.h"

#include <pthread.h>
#include <stdlib.h>

enum {
    ALIGN = 64,
    LEAST = 256
            /* more than a launch may ask for, so an index that is out of bounds hits no other
         * memory */
            << 10,
};

static _Thread_local struct {
    void *p;
    size_t nbytes;
} own;
static pthread_key_t key; /* frees a thread's block when it ends */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void
scratch_start(void)
{
    (void)pthread_key_create(&key, free); /* without a key the thread's block is leaked */
}

bool
td_scratch_grow(size_t nbytes)
{
    void *p;

    if (own.p && nbytes <= own.nbytes)
        return true;
    if (nbytes < LEAST)
        nbytes = LEAST; /* untouched pages take no memory */
    nbytes = (nbytes / ALIGN + 1) * ALIGN;
    if (!nbytes || !(p = aligned_alloc(ALIGN, nbytes)))
        return false;
    pthread_once(&once, scratch_start);
    free(own.p);
    own.p = p;
    own.nbytes = nbytes;
    (void)pthread_setspecific(key, p);
    return true;
}

void *
td_scratch(void)
{
    return own.p;
}
