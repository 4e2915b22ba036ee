/* host.c - host memory: pages from the system, and memory for results, kept for reuse.
 *
 * The first touch of a fresh page costs a fault and a zeroing, which takes longer than a copy
 * into it.  Huge pages and reuse avoid most of that.
 */
#include "base/limits.h"
#include "dev/core/devops.h"

#include <stdlib.h>
#include <sys/mman.h>

#define HUGE ((size_t)2 << 20)

enum { KEPT_MAX = 32 }; /* mappings kept for reuse, newest first */

static struct {
    pthread_mutex_t mu;
    size_t n, nbytes;
    struct kept {
        void *p;
        size_t nbytes;
    } kept[KEPT_MAX];
} host = {.mu = PTHREAD_MUTEX_INITIALIZER};

static size_t
round_up(size_t n, size_t to)
{
    return (n + to - 1) / to * to;
}

static size_t
map_size(size_t nbytes)
{
    return round_up(nbytes, nbytes >= HUGE ? HUGE : TD_PAGE);
}

static void *
map_pages(size_t n)
{
    void *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return p == MAP_FAILED ? NULL : p;
}

/* n bytes at a huge page's boundary: maps more and unmaps the ends. */
static void *
map_huge(size_t n)
{
    char *p = map_pages(n + HUGE), *at;
    size_t before;

    if (!p)
        return NULL;
    before = round_up((uintptr_t)p, HUGE) - (uintptr_t)p;
    at = p + before;
    if (before)
        munmap(p, before);
    munmap(at + n, HUGE - before);
    madvise(at, n, MADV_HUGEPAGE); /* without huge pages in the kernel, the pages are small */
    return at;
}

void *
td_host_map(size_t nbytes)
{
    if (nbytes > (size_t)PTRDIFF_MAX)
        return NULL;
    return nbytes >= HUGE ? map_huge(map_size(nbytes)) : map_pages(map_size(nbytes ? nbytes : 1));
}

void
td_host_unmap(void *p, size_t nbytes)
{
    if (p)
        munmap(p, map_size(nbytes ? nbytes : 1));
}

void
td_host_drop(void *p, size_t nbytes)
{
    madvise(p, nbytes, MADV_DONTNEED); /* fails only for locked pages, which then stay */
}

/* ---- results ---- */

static bool
is_small_host(size_t nbytes)
{
    return nbytes < HUGE / 16; /* the C library keeps small ones for reuse itself */
}

/* A kept mapping of exactly this size.  NULL: there is none. */
static void *
take_kept(size_t size)
{
    void *p = NULL;

    pthread_mutex_lock(&host.mu);
    for (size_t i = host.n; i-- > 0 && !p;)
        if (host.kept[i].nbytes == size) {
            p = host.kept[i].p;
            host.nbytes -= size;
            host.n--;
            for (; i < host.n; i++)
                host.kept[i] = host.kept[i + 1];
            break;
        }
    pthread_mutex_unlock(&host.mu);
    return p;
}

void *
td_host_alloc(size_t nbytes)
{
    void *p;

    if (is_small_host(nbytes))
        return aligned_alloc(64, round_up(nbytes ? nbytes : 1, 64));
    if (nbytes > (size_t)PTRDIFF_MAX)
        return NULL;
    p = take_kept(map_size(nbytes));
    return p ? p : td_host_map(nbytes);
}

static size_t
keep_most(void)
{
    static _Atomic size_t most;
    size_t n = atomic_load_explicit(&most, memory_order_relaxed);

    if (!n) {
        n = td_limit_memory() / 8;
        atomic_store_explicit(&most, n, memory_order_relaxed);
    }
    return n;
}

void
td_host_free(void *p, size_t nbytes)
{
    size_t size, most = keep_most(), n = 0;
    struct kept drop[KEPT_MAX + 1];

    if (is_small_host(nbytes)) {
        free(p);
        return;
    }
    if (!p)
        return;
    size = map_size(nbytes);
    pthread_mutex_lock(&host.mu);
    while (host.n && (host.n == KEPT_MAX || host.nbytes + size > most)) { /* frees the oldest */
        drop[n++] = host.kept[0];
        host.nbytes -= host.kept[0].nbytes;
        host.n--;
        for (size_t i = 0; i < host.n; i++)
            host.kept[i] = host.kept[i + 1];
    }
    if (size <= most) {
        host.kept[host.n++] = (struct kept){p, size};
        host.nbytes += size;
    } else {
        drop[n++] = (struct kept){p, size};
    }
    pthread_mutex_unlock(&host.mu);
    while (n-- > 0)
        munmap(drop[n].p, drop[n].nbytes);
}

void
td_host_trim(void)
{
    struct kept drop[KEPT_MAX];
    size_t n;

    pthread_mutex_lock(&host.mu);
    n = host.n;
    for (size_t i = 0; i < n; i++)
        drop[i] = host.kept[i];
    host.n = host.nbytes = 0;
    pthread_mutex_unlock(&host.mu);
    while (n-- > 0)
        munmap(drop[n].p, drop[n].nbytes);
}

void
td_host_lock(bool lock)
{
    if (lock)
        pthread_mutex_lock(&host.mu);
    else
        pthread_mutex_unlock(&host.mu);
}
