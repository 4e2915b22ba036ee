/* arena.c - addresses and pages for the program's arrays: reserved once, cut into blocks, kept
 * for reuse.
 */
#include "python/unchanged/arena.h"

#include "base/limits.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define HUGE ((size_t)2 << 20)

enum {
    CLASSES = 256,
    LIVE_MAX = 16000, /* most blocks: each may take one or two of the system's 65,530 mappings */
};

char *px_arena;
size_t px_arena_size;

/* range - unused addresses of one size class. */
typedef struct range {
    char *at;
    struct range *next;
} range;

static struct {
    pthread_mutex_t mu;
    size_t used;          /* bytes of the arena cut off so far */
    px_block **owner;     /* the block of each page */
    range *bare[CLASSES]; /* without pages */
    range *warm[CLASSES]; /* with pages, readable and writable */
    size_t nwarm;         /* bytes of these */
    _Atomic size_t live;  /* blocks */
    size_t limit;         /* bytes of memory */
} arena = {.mu = PTHREAD_MUTEX_INITIALIZER};

px_block *
px_block_find(const void *p)
{
    return __atomic_load_n(&arena.owner[(size_t)((const char *)p - px_arena) / TD_PAGE],
                           __ATOMIC_ACQUIRE);
}

/* ---- sizes: whole pages, from 8 pages on in eighths of powers of two, so that memory fits what comes later ---- */

static size_t
class_room(size_t nbytes, int *class)
{
    size_t pages = nbytes ? (nbytes + TD_PAGE - 1) / TD_PAGE : 1, step;
    int log;

    if (pages <= 8) {
        *class = (int)pages;
        return pages * TD_PAGE;
    }
    log = 63 - __builtin_clzl(pages - 1); /* 2^log < pages <= 2^(log + 1) */
    step = (size_t)1 << (log - 3);
    pages = (pages + step - 1) / step * step;
    *class = 8 * (log - 2) + (int)((pages - ((size_t)1 << log)) / step);
    return pages * TD_PAGE;
}

/* ---- ranges ---- */

static char *
take_range(range **list)
{
    range *r = *list;
    char *at = r ? r->at : NULL;

    if (r) {
        *list = r->next;
        free(r);
    }
    return at;
}

static bool
keep(range **list, char *at) // NOLINT(readability-non-const-parameter): the range gives it out
{
    range *r = malloc(sizeof *r);

    if (!r)
        return false; /* these addresses are never used again */
    *r = (range){at, *list};
    *list = r;
    return true;
}

static char *
cut_arena(size_t room)
{
    size_t at = arena.used;

    if (room >= HUGE)
        at = (at + HUGE - 1) / HUGE * HUGE;
    if (room > px_arena_size || at > px_arena_size - room)
        return NULL;
    arena.used = at + room;
    return px_arena + at;
}

/* Addresses of a size class; *warm: they have pages. */
static char *
range_new(size_t room, int class, bool want_warm, bool *warm)
{
    char *at = NULL;

    pthread_mutex_lock(&arena.mu);
    *warm = want_warm && arena.warm[class];
    if (*warm) {
        at = take_range(&arena.warm[class]);
        arena.nwarm -= room;
    }
    if (!at)
        at = take_range(&arena.bare[class]);
    if (!at)
        at = cut_arena(room);
    pthread_mutex_unlock(&arena.mu);
    return at;
}

static void
range_keep(char *at, int class)
{
    pthread_mutex_lock(&arena.mu);
    (void)keep(&arena.bare[class], at);
    pthread_mutex_unlock(&arena.mu);
}

void
px_pages_drop(char *at, size_t room)
{
    madvise(at, room, MADV_DONTNEED);
    (void)px_protect(at, room, PX_AHEAD);
}

/* warm: with pages, readable and writable. */
static void
range_free(char *at, size_t room, int class, bool warm)
{
    pthread_mutex_lock(&arena.mu);
    warm = warm && arena.nwarm + room <= arena.limit / 8 && keep(&arena.warm[class], at);
    if (warm)
        arena.nwarm += room;
    pthread_mutex_unlock(&arena.mu);
    if (warm)
        return;
    px_pages_drop(at, room);
    range_keep(at, class);
}

bool
px_protect(char *at, size_t room, px_access state)
{
    static const int how[] = {
        [PX_OPEN] = PROT_READ | PROT_WRITE, [PX_CLEAN] = PROT_READ, [PX_AHEAD] = PROT_NONE};

    return mprotect(at, room, how[state]) == 0;
}

/* ---- pages ---- */

size_t
px_room(size_t nbytes)
{
    int class;

    return class_room(nbytes, &class);
}

static char *
pages(size_t nbytes, size_t *room, bool zeroed)
{
    int class;
    bool warm;
    char *at;

    *room = class_room(nbytes, &class);
    at = range_new(*room, class, !zeroed || *room < HUGE / 4, &warm);
    if (!at || warm) {
        if (at && zeroed)
            memset(at, 0, *room);
        return at;
    }
    if (!px_protect(at, *room, PX_OPEN)) {
        range_free(at, *room, class, false);
        return NULL;
    }
    if (*room >= HUGE)
        /* without huge pages in the kernel, the pages are small */
        madvise(at, *room, MADV_HUGEPAGE);
    return at;
}

char *
px_pages_new(size_t room)
{
    size_t same;

    return pages(room, &same, false);
}

void
px_pages_free(char *at, size_t room, bool there)
{
    int class;

    (void)class_room(room, &class);
    range_free(at, room, class, there && px_protect(at, room, PX_OPEN));
}

static bool
move_copy(const char *from, char *to, size_t room, px_access state)
{
    void *copy = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (copy == MAP_FAILED)
        return false;
    memcpy(copy, from, room);
    if (px_protect(copy, room, state) &&
        mremap(copy, room, room, MREMAP_MAYMOVE | MREMAP_FIXED, to) != MAP_FAILED)
        return true;
    munmap(copy, room);
    return false;
}

bool
px_pages_move(char *from, char *to, size_t room, px_access state)
{
    if (!px_protect(from, room, state))
        return false;
    /* The addresses stay reserved. */
    if (mremap(from, room, room, MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP, to) !=
        MAP_FAILED)
        return true;
    (void)px_protect(from, room, PX_OPEN);
    return move_copy(from, to, room, state); /* kernels before 5.7 cannot do it */
}

/* ---- blocks ---- */

static void
own(const px_block *b, px_block *owner)
{
    size_t first = (size_t)(b->at - px_arena) / TD_PAGE;

    for (size_t i = 0; i < b->room / TD_PAGE; i++)
        __atomic_store_n(&arena.owner[first + i], owner, __ATOMIC_RELEASE);
}

px_block *
px_block_new(size_t nbytes, px_access state, bool zeroed)
{
    /* Reserved addresses promise no memory, so a request that is too large is refused here, as
     * the system would. */
    px_block *b =
        px_arena && arena.live < LIVE_MAX && nbytes <= arena.limit ? calloc(1, sizeof *b) : NULL;
    int class;
    bool warm;

    if (!b)
        return NULL;
    if (state == PX_OPEN) {
        b->at = pages(nbytes, &b->room, zeroed);
    } else {
        b->room = class_room(nbytes, &class);
        b->at = range_new(b->room, class, false, &warm);
    }
    if (!b->at) {
        free(b);
        return NULL;
    }
    b->nbytes = nbytes;
    b->state = state;
    arena.live++;
    own(b, b);
    return b;
}

void
px_block_leave(px_block *b)
{
    arena.live--;
    own(b, NULL);
    free(b);
}

void
px_block_free(px_block *b)
{
    char *at = b->at;
    size_t room = b->room;
    bool there = b->state != PX_AHEAD;
    int class;

    px_block_leave(b);
    if (there)
        px_pages_free(at, room, true);
    else { /* no pages, and not accessible: nothing to tell the system */
        (void)class_room(room, &class);
        range_keep(at, class);
    }
}

bool
px_blocks_each(bool (*f)(px_block *b))
{
    for (size_t i = 0; i < arena.used / TD_PAGE; i++) {
        px_block *b = arena.owner[i];

        if (!b)
            continue;
        i += b->room / TD_PAGE - 1;
        if (!f(b))
            return false;
    }
    return true;
}

bool
px_arena_init(void)
{
    void *p = MAP_FAILED, *map;

    if (px_arena)
        return true;
    for (size_t size = (size_t)1 << 40; p == MAP_FAILED && size >= (size_t)1 << 32; size /= 2) {
        p = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (p == MAP_FAILED)
            continue;
        map = mmap(NULL, size / TD_PAGE * sizeof *arena.owner, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (map == MAP_FAILED) {
            munmap(p, size);
            return false;
        }
        arena.owner = map;
        arena.limit = td_limit_memory();
        px_arena_size = size - HUGE;
        /* the first boundary of a huge page */
        px_arena = (char *)p + (HUGE - (uintptr_t)p % HUGE) % HUGE;
    }
    return px_arena != NULL;
}
