/* nullmem.c - the memory of the played driver.
 *
 * One file without a name plays the physical memory: an allocation is a part of the file, mapped
 * where the host can access it.  So memory can be mapped piece by piece (cuMemCreate, cuMemMap)
 * and opened by another process (cuIpcGetMemHandle), and touching unmapped memory faults.  Parts
 * of the file are never reused; freed ones are punched out of it.
 */
#include "base/limits.h"
#include "dev/cpu/cpucode.h"
#include "null/nulldrv.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define GRAIN ((size_t)2 << 20)

static struct {
    pthread_mutex_t mu; /* guards everything here */
    int fd;             /* the file; 0: not yet made */
    uint64_t top;       /* where in the file the next allocation begins */
    null_ranges mem;    /* accessible memory */
    null_ranges room;   /* reserved addresses */
    null_ranges bufs;   /* the pool's live buffers */
    size_t count, bytes;
} drv = {.mu = PTHREAD_MUTEX_INITIALIZER};

/* ---- ranges, sorted by address ---- */

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
range_add(null_ranges *r, null_range x)
{
    size_t i = range_above(r, x.ptr);

    if (r->n == r->cap) {
        size_t cap = r->cap ? 2 * r->cap : 64;
        null_range *at = realloc(r->at, cap * sizeof *at);

        if (!at)
            return false;
        r->at = at;
        r->cap = cap;
    }
    memmove(&r->at[i + 1], &r->at[i], (r->n - i) * sizeof *r->at);
    r->at[i] = x;
    r->n++;
    return true;
}

/* The range that begins at ptr; NULL when there is none. */
static null_range *
range_at(const null_ranges *r, uintptr_t ptr)
{
    size_t i = range_above(r, ptr);

    return i && r->at[i - 1].ptr == ptr ? &r->at[i - 1] : NULL;
}

/* Removes the range that begins at ptr; false: there is none. */
static bool
range_drop(null_ranges *r, uintptr_t ptr, null_range *out)
{
    null_range *x = range_at(r, ptr);

    if (!x)
        return false;
    *out = *x;
    r->n--;
    memmove(x, x + 1, (size_t)(&r->at[r->n] - x) * sizeof *x);
    return true;
}

/* Bytes from ptr on that ranges cover; joined: neighbouring ranges count as one. */
static size_t
range_extent(const null_ranges *r, uintptr_t ptr, bool joined)
{
    size_t i = range_above(r, ptr);
    uintptr_t end;

    if (i == 0 || ptr - r->at[i - 1].ptr >= r->at[i - 1].nbytes)
        return 0;
    end = r->at[i - 1].ptr + r->at[i - 1].nbytes;
    for (; joined && i < r->n && r->at[i].ptr == end; i++)
        end += r->at[i].nbytes;
    return end - ptr;
}

size_t
td_null_bytes(uintptr_t ptr)
{
    null_object *o;
    size_t n;

    pthread_mutex_lock(&drv.mu);
    /* delayed work finds its memory although the buffer may be freed or cut by then */
    n = range_extent(td_null_is_late() ? &drv.mem : &drv.bufs, ptr, td_null_is_late());
    pthread_mutex_unlock(&drv.mu);
    if (!n && td_null_pinned(ptr, 1, &o))
        n = o->at + o->nbytes - ptr;
    return n;
}

void
td_null_note_buffer(uintptr_t ptr, size_t nbytes, bool on)
{
    null_range gone;

    pthread_mutex_lock(&drv.mu);
    if (on) /* out of memory: the buffer's extent then reads as 0 */
        (void)range_add(&drv.bufs, (null_range){.ptr = ptr, .nbytes = nbytes});
    else
        (void)range_drop(&drv.bufs, ptr, &gone);
    pthread_mutex_unlock(&drv.mu);
}

int
td_null_mem_check(cu_ptr ptr, size_t nbytes)
{
    size_t n, before;

    pthread_mutex_lock(&drv.mu);
    n = range_extent(&drv.mem, (uintptr_t)ptr, true);
    pthread_mutex_unlock(&drv.mu);
    return n < nbytes && !td_null_pinned((uintptr_t)ptr, nbytes, NULL) &&
                   td_culib_find((uintptr_t)ptr, &before) < nbytes
               ? CU_INVALID_VALUE
               : 0;
}

int
td_null_owner(uintptr_t ptr)
{
    int device = -1;
    size_t i;

    if (!td_null_bytes(ptr))
        return -1;
    pthread_mutex_lock(&drv.mu);
    i = range_above(&drv.mem, ptr);
    if (i && range_extent(&drv.mem, ptr, false))
        device = drv.mem.at[i - 1].device;
    pthread_mutex_unlock(&drv.mu);
    return device < 0 ? 0 : device; /* host memory that devices reach: any may have it */
}

size_t
td_null_buffer(uintptr_t ptr, size_t *before)
{
    size_t n, i;

    pthread_mutex_lock(&drv.mu);
    n = range_extent(&drv.bufs, ptr, false);
    i = range_above(&drv.bufs, ptr);
    *before = n ? ptr - drv.bufs.at[i - 1].ptr : 0;
    pthread_mutex_unlock(&drv.mu);
    return n;
}

bool
td_null_mem_range(cu_ptr ptr, cu_ptr *start, size_t *nbytes)
{
    const null_range *x;
    size_t i;

    pthread_mutex_lock(&drv.mu);
    i = range_above(&drv.mem, (uintptr_t)ptr);
    x = i && range_extent(&drv.mem, (uintptr_t)ptr, false) ? &drv.mem.at[i - 1] : NULL;
    if (x) {
        *start = x->ptr;
        *nbytes = x->nbytes;
    }
    pthread_mutex_unlock(&drv.mu);
    return x != NULL;
}

void
td_null_mem_count(size_t *count, size_t *bytes)
{
    pthread_mutex_lock(&drv.mu);
    *count = drv.count;
    *bytes = drv.bytes;
    pthread_mutex_unlock(&drv.mu);
}

/* ---- the file, under the lock ---- */

static size_t
page_up(size_t n)
{
    return (n + TD_PAGE - 1) / TD_PAGE * TD_PAGE;
}

/* Allocates nbytes of physical memory. */
static int
file_get(size_t nbytes, uint64_t *at)
{
    if (drv.fd <= 0)
        drv.fd = memfd_create("treadle-null", MFD_CLOEXEC);
    if (drv.fd < 0 || drv.bytes + nbytes > NULL_MEMORY ||
        ftruncate(drv.fd, (off_t)(drv.top + page_up(nbytes))))
        return CU_OUT_OF_MEMORY;
    *at = drv.top;
    drv.top += page_up(nbytes);
    drv.bytes += nbytes;
    drv.count++;
    return 0;
}

static void
file_put(uint64_t at, size_t nbytes)
{
    (void)fallocate(drv.fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)at,
                    (off_t)page_up(nbytes));
    drv.bytes -= nbytes;
    drv.count--;
}

static int
null_map(int fd, uint64_t at, size_t nbytes, uintptr_t *ptr)
{
    void *p = mmap(NULL, page_up(nbytes), PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)at);

    *ptr = (uintptr_t)p;
    return p == MAP_FAILED ? CU_OUT_OF_MEMORY : 0;
}

static int
mem_get(cu_ptr *out, size_t nbytes)
{
    null_range x = {.nbytes = nbytes, .device = td_null_device()};
    int r;

    if (nbytes == 0)
        return CU_INVALID_VALUE;
    r = nbytes > NULL_MEMORY ? CU_OUT_OF_MEMORY : file_get(nbytes, &x.at);
    if (r)
        return r;
    r = null_map(drv.fd, x.at, nbytes, &x.ptr);
    if (!r && !range_add(&drv.mem, x)) {
        munmap((void *)x.ptr, page_up(nbytes));
        r = CU_OUT_OF_MEMORY;
    }
    if (r)
        file_put(x.at, nbytes);
    *out = x.ptr;
    return r;
}

int
td_null_cuMemAlloc(cu_ptr *ptr, size_t nbytes)
{
    int r = td_null_due_ctx(NULL_cuMemAlloc);

    pthread_mutex_lock(&drv.mu);
    r = r ? r : mem_get(ptr, nbytes);
    pthread_mutex_unlock(&drv.mu);
    return r;
}

int
td_null_cuMemAllocManaged(cu_ptr *ptr, size_t nbytes, unsigned flags)
{
    int r = td_null_due_ctx(NULL_cuMemAllocManaged);

    r = r || flags == CU_ATTACH_GLOBAL ? r : CU_INVALID_VALUE;
    pthread_mutex_lock(&drv.mu);
    r = r ? r : mem_get(ptr, nbytes);
    pthread_mutex_unlock(&drv.mu);
    return r;
}

int
td_null_cuMemFree(cu_ptr ptr)
{
    int r = td_null_due_ctx(NULL_cuMemFree);
    const null_range *own;
    null_range x;
    int late;

    if (r)
        return r;
    late = td_null_finish_all(); /* as the driver does */
    pthread_mutex_lock(&drv.mu);
    own = range_at(&drv.mem, (uintptr_t)ptr);
    r = own && !own->from && !own->foreign ? 0 : CU_INVALID_VALUE;
    if (!r) {
        (void)range_drop(&drv.mem, (uintptr_t)ptr, &x);
        munmap((void *)x.ptr, page_up(x.nbytes));
        file_put(x.at, x.nbytes);
    }
    pthread_mutex_unlock(&drv.mu);
    return r ? r : late;
}

int
td_null_cuMemGetInfo(size_t *free_bytes, size_t *total_bytes)
{
    size_t count, bytes;

    td_null_mem_count(&count, &bytes);
    *total_bytes = NULL_MEMORY;
    *free_bytes = NULL_MEMORY - bytes;
    return td_null_due_ctx(NULL_cuMemGetInfo);
}

/* ---- addresses and memory apart ---- */

int
td_null_cuMemGetAllocationGranularity(size_t *nbytes, const cu_memprop *prop, int option)
{
    (void)option;
    *nbytes = GRAIN;
    return prop->type == CU_MEM_PINNED ? td_null_due_ctx(NULL_cuMemGetAllocationGranularity)
                                       : CU_INVALID_VALUE;
}

int
td_null_cuMemAddressReserve(cu_ptr *ptr, size_t nbytes, size_t align, cu_ptr addr,
                            unsigned long long flags)
{
    int r = td_null_due_ctx(NULL_cuMemAddressReserve);
    void *p;

    (void)align, (void)addr, (void)flags;
    if (r || nbytes % GRAIN)
        return r ? r : CU_INVALID_VALUE;
    p = mmap(NULL, nbytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        return CU_OUT_OF_MEMORY;
    pthread_mutex_lock(&drv.mu);
    r = range_add(&drv.room, (null_range){.ptr = (uintptr_t)p, .nbytes = nbytes})
            ? 0
            : CU_OUT_OF_MEMORY;
    pthread_mutex_unlock(&drv.mu);
    *ptr = (uintptr_t)p;
    return r;
}

int
td_null_cuMemAddressFree(cu_ptr ptr, size_t nbytes)
{
    int r = td_null_due_ctx(NULL_cuMemAddressFree);
    const null_range *x;
    null_range gone;

    if (r)
        return r;
    pthread_mutex_lock(&drv.mu);
    x = range_at(&drv.room, (uintptr_t)ptr);
    r = x && x->nbytes == nbytes && x->mapped == 0 ? 0 : CU_INVALID_VALUE;
    if (!r) {
        (void)range_drop(&drv.room, (uintptr_t)ptr, &gone);
        munmap((void *)(uintptr_t)ptr, nbytes);
    }
    pthread_mutex_unlock(&drv.mu);
    return r;
}

int
td_null_cuMemCreate(cu_mem *handle, size_t nbytes, const cu_memprop *prop, unsigned long long flags)
{
    int r = td_null_due_ctx(NULL_cuMemCreate);
    null_object *o;

    if (r || nbytes % GRAIN || flags || prop->type != CU_MEM_PINNED || prop->device < 0 ||
        prop->device >= TD_NULL_MAX)
        return r ? r : CU_INVALID_VALUE;
    o = td_null_object_new(NULL_PHYSICAL);
    if (!o)
        return CU_OUT_OF_MEMORY;
    pthread_mutex_lock(&drv.mu);
    r = file_get(nbytes, &o->at);
    pthread_mutex_unlock(&drv.mu);
    if (r) {
        (void)td_null_object_free(o, NULL_PHYSICAL);
        return r;
    }
    o->nbytes = nbytes;
    o->device = prop->device;
    *handle = (uintptr_t)o;
    return 0;
}

/* The driver would keep memory that is still mapped.  The pool unmaps first, so here the
 * caller must. */
int
td_null_cuMemRelease(cu_mem handle)
{
    int r = td_null_due_ctx(NULL_cuMemRelease);
    null_object *o = (null_object *)(uintptr_t)handle;

    if (r || !td_null_object_is(o, NULL_PHYSICAL) || o->mapped)
        return r ? r : CU_INVALID_VALUE;
    pthread_mutex_lock(&drv.mu);
    file_put(o->at, o->nbytes);
    pthread_mutex_unlock(&drv.mu);
    (void)td_null_object_free(o, NULL_PHYSICAL);
    return 0;
}

/* The reserved range that contains [ptr, ptr + nbytes). */
static null_range *
room_of(cu_ptr ptr, size_t nbytes)
{
    size_t i = range_above(&drv.room, (uintptr_t)ptr);

    return i && range_extent(&drv.room, (uintptr_t)ptr, false) >= nbytes ? &drv.room.at[i - 1]
                                                                         : NULL;
}

int
td_null_cuMemMap(cu_ptr ptr, size_t nbytes, size_t offset, cu_mem handle, unsigned long long flags)
{
    int r = td_null_due_ctx(NULL_cuMemMap);
    null_object *o = (null_object *)(uintptr_t)handle;
    null_range *room;

    if (r || offset || flags || !td_null_object_is(o, NULL_PHYSICAL) || o->nbytes != nbytes)
        return r ? r : CU_INVALID_VALUE;
    pthread_mutex_lock(&drv.mu);
    room = room_of(ptr, nbytes);
    r = !room || range_extent(&drv.mem, (uintptr_t)ptr, false) ? CU_INVALID_VALUE : 0;
    if (!r && mmap((void *)(uintptr_t)ptr, nbytes, PROT_NONE, MAP_SHARED | MAP_FIXED, drv.fd,
                   (off_t)o->at) == MAP_FAILED)
        r = CU_OUT_OF_MEMORY;
    if (!r && !range_add(&drv.mem, (null_range){.ptr = (uintptr_t)ptr,
                                                .nbytes = nbytes,
                                                .at = o->at,
                                                .from = o,
                                                .device = o->device}))
        r = CU_OUT_OF_MEMORY;
    if (!r) {
        room->mapped++;
        o->mapped++;
    }
    pthread_mutex_unlock(&drv.mu);
    return r;
}

int
td_null_cuMemUnmap(cu_ptr ptr, size_t nbytes)
{
    int r = td_null_due_ctx(NULL_cuMemUnmap);
    null_range *room, x;

    if (r)
        return r;
    pthread_mutex_lock(&drv.mu);
    room = room_of(ptr, nbytes);
    for (size_t at = 0; room && !r && at < nbytes; at += x.nbytes) {
        const null_range *next = range_at(&drv.mem, (uintptr_t)ptr + at);

        if (!next || !next->from || next->nbytes > nbytes - at) {
            r = CU_INVALID_VALUE; /* a mapping can only be unmapped as a whole */
            break;
        }
        (void)range_drop(&drv.mem, (uintptr_t)ptr + at, &x);
        x.from->mapped--;
        room->mapped--;
        if (mmap((void *)x.ptr, x.nbytes, PROT_NONE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED)
            r = CU_OUT_OF_MEMORY;
    }
    pthread_mutex_unlock(&drv.mu);
    return room ? r : CU_INVALID_VALUE;
}

int
td_null_cuMemSetAccess(cu_ptr ptr, size_t nbytes, const cu_memaccess *access, size_t count)
{
    int r = td_null_due_ctx(NULL_cuMemSetAccess);

    for (size_t i = 0; i < count && !r; i++)
        if (access[i].flags != CU_MEM_READ_WRITE || access[i].device < 0 ||
            access[i].device >= TD_NULL_MAX)
            r = CU_INVALID_VALUE;
    if (r || !count || td_null_mem_check(ptr, nbytes))
        return r ? r : CU_INVALID_VALUE;
    return mprotect((void *)(uintptr_t)ptr, nbytes, PROT_READ | PROT_WRITE) ? CU_INVALID_VALUE : 0;
}

/* ---- other processes ---- */

/* null_ipc - the contents of a 64-byte handle. */
typedef struct null_ipc {
    int64_t pid;
    int64_t fd;
    uint64_t inode, at, nbytes;
} null_ipc;

_Static_assert(sizeof(null_ipc) <= sizeof(cu_ipcmem), "it has to fit");

int
td_null_cuIpcGetMemHandle(cu_ipcmem *handle, cu_ptr ptr)
{
    int r = td_null_due_ctx(NULL_cuIpcGetMemHandle);
    const null_range *x;
    null_ipc h = {.pid = getpid()};
    struct stat s;
    size_t i;

    if (r)
        return r;
    pthread_mutex_lock(&drv.mu);
    i = range_above(&drv.mem, (uintptr_t)ptr);
    x = i && range_extent(&drv.mem, (uintptr_t)ptr, false) ? &drv.mem.at[i - 1] : NULL;
    /* only cuMemAlloc's memory can be shared */
    r = !x || x->from || fstat(drv.fd, &s) ? CU_INVALID_VALUE : 0;
    if (!r) {
        h.fd = drv.fd;
        h.inode = s.st_ino;
        h.at = x->at;
        h.nbytes = x->nbytes;
    }
    pthread_mutex_unlock(&drv.mu);
    memset(handle, 0, sizeof *handle);
    memcpy(handle, &h, sizeof h);
    return r;
}

int
td_null_cuIpcOpenMemHandle(cu_ptr *ptr, cu_ipcmem handle, unsigned flags)
{
    int r = td_null_due_ctx(NULL_cuIpcOpenMemHandle), fd;
    null_range x = {0};
    char path[64];
    struct stat s;
    null_ipc h;

    memcpy(&h, &handle, sizeof h);
    if (r || flags != CU_IPC_LAZY_PEER || h.pid == getpid())
        return r ? r : CU_INVALID_CONTEXT; /* the exporting process must not open its own */
    snprintf(path, sizeof path, "/proc/%lld/fd/%lld", (long long)h.pid, (long long)h.fd);
    fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return CU_INVALID_VALUE;
    r = fstat(fd, &s) || s.st_ino != h.inode ? CU_INVALID_VALUE
                                             : null_map(fd, h.at, h.nbytes, &x.ptr);
    close(fd);
    if (r)
        return r;
    x.nbytes = h.nbytes;
    x.foreign = true;
    x.device = td_null_device();
    pthread_mutex_lock(&drv.mu);
    if (!range_add(&drv.mem, x)) {
        munmap((void *)x.ptr, page_up(x.nbytes));
        r = CU_OUT_OF_MEMORY;
    }
    pthread_mutex_unlock(&drv.mu);
    *ptr = x.ptr;
    return r;
}

int
td_null_cuIpcCloseMemHandle(cu_ptr ptr)
{
    int r = td_null_due_ctx(NULL_cuIpcCloseMemHandle);
    const null_range *x;
    null_range gone;

    if (r)
        return r;
    pthread_mutex_lock(&drv.mu);
    x = range_at(&drv.mem, (uintptr_t)ptr);
    r = x && x->foreign ? 0 : CU_INVALID_VALUE;
    if (!r) {
        (void)range_drop(&drv.mem, (uintptr_t)ptr, &gone);
        munmap((void *)gone.ptr, page_up(gone.nbytes));
    }
    pthread_mutex_unlock(&drv.mu);
    return r;
}
