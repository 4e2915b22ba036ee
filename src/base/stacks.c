/* stacks.c - stacks in slabs of 64, mapped when first needed and unmapped when their thread ends.
 *
 * A guard page lies below each stack.  Linux 6.13 can guard pages inside one mapping.  Elsewhere
 * a guard splits a mapping in two, and a process may have about 65,000 mappings: after GUARDS_MAX
 * guards, further stacks get none.
 */
#include "base/stacks.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102
#endif

enum {
    SLAB = 64,        /* stacks in a slab */
    GUARD = 64 << 10, /* at least a page, on every machine */
    PITCH = GUARD + TD_STACK_BYTES,
    GUARDS_MAX = 12000, /* guards in the whole process */
};

typedef struct slab {
    char *at;
    bool cut; /* its guards are mappings of their own, counted in `guards` */
} slab;

typedef struct stacks {
    slab *slab;
    size_t nslab, room;
} stacks;

static _Thread_local stacks own;
static pthread_key_t key; /* frees a thread's stacks when it ends */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static atomic_int guards; /* guards made with mprotect */

static void
shrink(stacks *s, size_t nslab)
{
    while (s->nslab > nslab) {
        slab *last = &s->slab[--s->nslab];

        (void)munmap(last->at, (size_t)PITCH * SLAB);
        if (last->cut)
            atomic_fetch_sub(&guards, SLAB);
    }
}

static void
free_stacks(void *p)
{
    stacks *s = p;

    shrink(s, 0);
    free(s->slab);
    s->slab = NULL;
    s->room = 0;
}

static void
stacks_start(void)
{
    (void)pthread_key_create(&key, free_stacks); /* without a key the thread's stacks are leaked */
}

static void
lay_guards(slab *s)
{
    static atomic_bool cuts; /* the system can guard a page only by splitting the mapping */

    if (!atomic_load(&cuts)) {
        for (size_t i = 0; i < SLAB && !atomic_load(&cuts); i++)
            if (madvise(s->at + i * PITCH, GUARD, MADV_GUARD_INSTALL))
                atomic_store(&cuts, true);
        if (!atomic_load(&cuts))
            return;
    }
    s->cut = atomic_fetch_add(&guards, SLAB) < GUARDS_MAX;
    if (!s->cut)
        atomic_fetch_sub(&guards, SLAB);
    for (size_t i = 0; i < SLAB && s->cut; i++)
        (void)mprotect(s->at + i * PITCH, GUARD, PROT_NONE);
}

static bool
add_slab(stacks *s)
{
    size_t nbytes = (size_t)PITCH * SLAB;
    char *p;

    if (s->nslab == s->room) {
        size_t room = 2 * s->room + 16;
        slab *more = realloc(s->slab, room * sizeof *more);

        if (!more)
            return false;
        s->slab = more;
        s->room = room;
    }
    p = mmap(NULL, nbytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
             0);
    if (p == MAP_FAILED)
        return false;
#ifdef MADV_NOHUGEPAGE
    (void)madvise(p, nbytes, MADV_NOHUGEPAGE); /* a touched stack should cost one page, not 2 MiB */
#endif
    s->slab[s->nslab] = (slab){.at = p};
    lay_guards(&s->slab[s->nslab++]);
    return true;
}

bool
td_stacks_grow(size_t n)
{
    if (n <= own.nslab * SLAB)
        return true;
    pthread_once(&once, stacks_start);
    (void)pthread_setspecific(key, &own);
    while (own.nslab * SLAB < n)
        if (!add_slab(&own))
            return false;
    return true;
}

void *
td_stack(size_t i)
{
    return own.slab[i / SLAB].at + i % SLAB * PITCH + GUARD;
}

void
td_stacks_shrink(size_t n)
{
    shrink(&own, (n + SLAB - 1) / SLAB);
}
