/* cpucode.c - shared objects made from CUDA C++: loads them from memory and runs their kernels on
 * the thread pool.
 */
#include "dev/cpu/cpucode.h"

#include "base/fiber.h"
#include "base/files.h"
#include "base/parallel.h"
#include "base/scratch.h"
#include "base/text.h"
#include "dev/foreign/driver.h"
#include "dev/foreign/elf.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PRINT_MAX = 1 << 20, ERROR_MAX = 512 };

struct td_culib {
    td_culib *next; /* loaded */
    void *handle;
    const td_cu_module *m;
};

/* launch - one that is running.  On the launching thread's stack. */
typedef struct launch {
    const td_cu_kernel *k;
    td_cu_block block; /* all fields but index and shared, which differ by block */
    size_t nshared;    /* bytes, static and dynamic */
    atomic_bool failed;
    pthread_mutex_t mu; /* guards error */
    char error[ERROR_MAX];
    td_status st; /* of the error */
    td_cu_extent *extent;
} launch;

static struct {
    pthread_mutex_t mu;
    td_culib *first;
} loaded = {.mu = PTHREAD_MUTEX_INITIALIZER};

static _Thread_local launch *current; /* the launch whose block this thread runs */

/* ---- functions for modules ---- */

static void
fail_as(td_status st, const char *text)
{
    launch *l = current;

    if (!l)
        return;
    pthread_mutex_lock(&l->mu);
    if (!l->error[0]) {
        snprintf(l->error, sizeof l->error, "%s", text);
        l->st = st;
    }
    pthread_mutex_unlock(&l->mu);
    atomic_store(&l->failed, true);
}

static void
fail(const char *text)
{
    fail_as(TD_ERR_DEVICE, text);
}

static void
fail_index(const char *text)
{
    fail_as(TD_ERR_INDEX, text);
}

static int
run_fibers(int n, void (*fn)(void *ctx, int i), void *ctx)
{
    if (td_fibers_run(n, fn, ctx) == TD_OK)
        return 1;
    fail(td_error());
    return 0;
}

static struct {
    pthread_mutex_t mu;
    td_text text;
    atomic_bool any;
} printed = {.mu = PTHREAD_MUTEX_INITIALIZER};

static void
print(const char *text, size_t nbytes)
{
    pthread_mutex_lock(&printed.mu);
    if (printed.text.n + nbytes > PRINT_MAX)
        td_text_free(&printed.text);
    td_text_add(&printed.text, text, nbytes);
    atomic_store(&printed.any, true);
    pthread_mutex_unlock(&printed.mu);
}

char *
td_culib_printed(size_t *nbytes)
{
    char *text = NULL;

    pthread_mutex_lock(&printed.mu);
    *nbytes = printed.text.n;
    if (printed.text.n)
        text = td_text_take(&printed.text);
    atomic_store(&printed.any, false);
    pthread_mutex_unlock(&printed.mu);
    return text;
}

void
td_culib_lock(bool lock)
{
    if (lock) {
        pthread_mutex_lock(&loaded.mu);
        pthread_mutex_lock(&printed.mu);
    } else {
        pthread_mutex_unlock(&printed.mu);
        pthread_mutex_unlock(&loaded.mu);
    }
}

bool
td_culib_has_printed(void)
{
    return atomic_load_explicit(&printed.any, memory_order_relaxed);
}

static size_t
culib_extent(const void *p, size_t *before)
{
    size_t n = current ? current->extent((uintptr_t)p, before) : 0;

    return n ? n : td_culib_find((uintptr_t)p, before);
}

static const td_cu_host host = {
    .abi = TD_CU_ABI,
    .run = run_fibers,
    .yield = td_fiber_yield,
    .barrier = td_fiber_barrier,
    .meet = td_fiber_meet,
    .fail = fail,
    .beyond = fail_index,
    .print = print,
    .extent = culib_extent,
};

/* ---- loading ---- */

/* A path that the loader has not seen: it takes equal paths for the same library, even after the file was replaced.
 * The number of slashes encodes the serial number; it does not change what the path means. */
static void
fresh_path(int fd, char *buf, size_t n)
{
    static atomic_uint serial;
    unsigned bits = atomic_fetch_add(&serial, 1) + 1;
    size_t at = (size_t)snprintf(buf, n, "/proc/self/");

    for (; bits && at + 2 < n; bits >>= 1)
        at += (size_t)snprintf(buf + at, n - at, bits & 1 ? "./" : "/");
    snprintf(buf + at, n - at, "fd/%d", fd);
}

/* Loads the image through a file in memory; where memory may not hold code, through a file on
 * disk. */
static void *
open_image(const void *image, size_t n)
{
    const char *dir = getenv("TMPDIR");
    int fd = memfd_create("treadle kernel", MFD_CLOEXEC);
    void *handle = NULL;
    char path[256];

    if (fd >= 0 && td_write_all(fd, image, n)) {
        fresh_path(fd, path, sizeof path);
        handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    }
    if (fd >= 0)
        close(fd);
    if (handle)
        return handle;
    snprintf(path, sizeof path, "%s/treadle-XXXXXX", dir && *dir ? dir : "/tmp");
    fd = mkostemp(path, O_CLOEXEC);
    if (fd < 0)
        return NULL;
    if (td_write_all(fd, image, n))
        handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    close(fd);
    unlink(path);
    return handle;
}

td_status
td_culib_open(const void *image, td_culib **out)
{
    size_t n = td_elf_is_ours(image) ? td_elf_extent(image, SIZE_MAX) : 0;
    td_culib *l;

    if (!n)
        return td_fail(
            TD_ERR_DEVICE,
            "the code is no shared object for this machine's CPU: PTX and cubins are GPUs'");
    l = calloc(1, sizeof *l);
    if (!l)
        return td_fail(TD_ERR_NOMEM, "no host memory for a module");
    l->handle = open_image(image, n);
    l->m = l->handle ? dlsym(l->handle, "td_cu_module") : NULL;
    if (!l->m || l->m->abi != TD_CU_ABI) {
        const char *why = dlerror();
        td_status st = td_fail(TD_ERR_DEVICE, "the code cannot be loaded: %s",
                               l->m  ? "it was made for another version of treadle"
                               : why ? why
                                     : "no reason was given");

        td_culib_close(l);
        return st;
    }
    l->m->init(&host);
    pthread_mutex_lock(&loaded.mu);
    l->next = loaded.first;
    loaded.first = l;
    pthread_mutex_unlock(&loaded.mu);
    *out = l;
    return TD_OK;
}

void
td_culib_close(td_culib *l)
{
    if (!l)
        return;
    pthread_mutex_lock(&loaded.mu);
    for (td_culib **at = &loaded.first; *at; at = &(*at)->next)
        if (*at == l) {
            *at = l->next;
            break;
        }
    pthread_mutex_unlock(&loaded.mu);
    if (l->handle)
        dlclose(l->handle);
    free(l);
}

/* ---- a module's contents ---- */

const td_cu_kernel *
td_culib_kernel(const td_culib *l, const char *name)
{
    for (uint32_t i = 0; i < l->m->nkernel; i++)
        if (strcmp(l->m->kernel[i].name, name) == 0)
            return &l->m->kernel[i];
    return NULL;
}

bool
td_culib_global(const td_culib *l, const char *name, uintptr_t *at, size_t *nbytes)
{
    for (uint32_t i = 0; i < l->m->nglobal; i++)
        if (strcmp(l->m->global[i].name, name) == 0) {
            *at = (uintptr_t)l->m->global[i].at;
            *nbytes = l->m->global[i].nbytes;
            return true;
        }
    return false;
}

size_t
td_culib_find(uintptr_t ptr, size_t *before)
{
    size_t n = 0;

    *before = 0;
    pthread_mutex_lock(&loaded.mu);
    for (const td_culib *l = loaded.first; l && !n; l = l->next)
        for (uint32_t i = 0; i < l->m->nglobal && !n; i++) {
            const td_cu_global *g = &l->m->global[i];

            if (ptr >= (uintptr_t)g->at && ptr - (uintptr_t)g->at < g->nbytes) {
                *before = ptr - (uintptr_t)g->at;
                n = g->nbytes - *before;
            }
        }
    pthread_mutex_unlock(&loaded.mu);
    return n;
}

/* Bytes of a block's static shared memory. */
static size_t
shared_of(const td_culib *l)
{
    return *l->m->nstatic;
}

size_t
td_culib_offset(const td_cu_kernel *k, int i)
{
    size_t at = 0;

    for (int j = 0; j <= i; j++) {
        size_t align = k->param[j].align ? k->param[j].align : 1;

        at = (at + align - 1) / align * align + (j < i ? k->param[j].size : 0);
    }
    return at;
}

bool
td_culib_attribute(const td_culib *l, const td_cu_kernel *k, int number, int *out)
{
    switch (number) {
    case CU_FUNC_MAX_THREADS:        *out = (int)(k->max_threads ? k->max_threads : TD_CU_THREADS); break;
    case CU_FUNC_STATIC_SHARED:      *out = (int)shared_of(l); break;
    case CU_FUNC_MAX_DYNAMIC_SHARED: *out = TD_CU_SHARED - (int)shared_of(l); break;
    case CU_FUNC_CARVEOUT:           *out = -1; break; /* left to the driver */
    default:
        *out = 0; /* constant and local memory, registers, versions: a CPU's kernel has none */
        return number >= 0 && number < CU_FUNC_CARVEOUT;
    }
    return true;
}

/* ---- launches ---- */

static void
culib_run_block(void *ctx, int64_t i)
{
    launch *l = ctx, *outer = current;
    td_cu_block b = l->block;
    int64_t x = b.grid[0], y = b.grid[1];

    if (atomic_load_explicit(&l->failed, memory_order_relaxed))
        return;
    current = l;
    if (l->nshared && !td_scratch_grow(l->nshared)) {
        fail("no memory for a block's shared memory");
    } else {
        b.shared = td_scratch();
        b.index[0] = (uint32_t)(i % x);
        b.index[1] = (uint32_t)(i / x % y);
        b.index[2] = (uint32_t)(i / x / y);
        l->k->block(&b);
    }
    current = outer;
}

td_status
td_culib_check(const td_culib *l, const td_cu_kernel *k, const td_dims *d)
{
    size_t nshared = shared_of(l) + d->shared;
    uint64_t threads = (uint64_t)d->block[0] * d->block[1] * d->block[2];
    uint32_t most =
        k->max_threads && k->max_threads < TD_CU_THREADS ? k->max_threads : TD_CU_THREADS;

    if (threads > most)
        return td_fail(
            TD_ERR_VALUE, "a block of %llu threads: %s at most %u", (unsigned long long)threads,
            most == TD_CU_THREADS ? "the device takes" : "its __launch_bounds__ says", most);
    if (d->block[2] > TD_CU_DEPTH)
        return td_fail(TD_ERR_VALUE, "a block of %u threads along z: the device takes at most %d",
                       d->block[2], TD_CU_DEPTH);
    if (d->grid[0] > INT32_MAX || d->grid[1] > UINT16_MAX || d->grid[2] > UINT16_MAX)
        return td_fail(TD_ERR_VALUE,
                       "a grid of %u x %u x %u blocks: the device takes at most %d x %d x %d",
                       d->grid[0], d->grid[1], d->grid[2], INT32_MAX, UINT16_MAX, UINT16_MAX);
    if (nshared > TD_CU_SHARED)
        return td_fail(TD_ERR_VALUE, "%zu bytes of shared memory: the device has %d", nshared,
                       TD_CU_SHARED);
    return TD_OK;
}

td_status
td_culib_run(const td_culib *lib, const td_cu_kernel *k, const td_dims *d, void *const *param,
             td_cu_extent *extent_of)
{
    launch l = {.k = k,
                .block = {.param = param, .nshared = d->shared},
                .nshared = shared_of(lib) + d->shared,
                .extent = extent_of,
                .mu = PTHREAD_MUTEX_INITIALIZER};

    TD_TRY(td_culib_check(lib, k, d));
    memcpy(l.block.grid, d->grid, sizeof l.block.grid);
    memcpy(l.block.block, d->block, sizeof l.block.block);
    l.block.cooperative = d->cooperative; /* cooperative: one call runs all blocks */
    td_parallel(d->cooperative ? 1 : (int64_t)d->grid[0] * d->grid[1] * d->grid[2], culib_run_block,
                &l);
    pthread_mutex_destroy(&l.mu);
    if (l.failed && l.st == TD_ERR_INDEX)
        return td_fail(TD_ERR_INDEX, "%s", l.error);
    return l.failed ? td_fail_code(TD_ERR_DEVICE, CU_LAUNCH_FAILED, "%s", l.error) : TD_OK;
}
