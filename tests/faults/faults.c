/* faults.c - requests of treadle's C code for memory, threads and files, of which one fails when it was asked to.
 *
 * Loaded before Python.  faults_arm(kinds, n, count) lets the n-th request of these kinds from now on fail, and those
 * that follow until `count` have; faults_requests() counts them. 
 */
#define _GNU_SOURCE
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MEMORY = 1, THREADS = 2, FILES = 4 };

static struct {
    atomic_int kinds;
    atomic_llong requests;
    long long first, last; /* the requests that fail; none if first is 0 */
    atomic_llong failed;
    void *where[32]; /* the stack of the first request that failed */
    int depth;
} faults;

void
faults_arm(int kinds, long long n, long long count)
{
    faults.first = n;
    faults.last = n + count - 1;
    faults.depth = 0;
    atomic_store(&faults.requests, 0);
    atomic_store(&faults.failed, 0);
    atomic_store(&faults.kinds, kinds);
}

long long
faults_requests(void)
{
    return atomic_load(&faults.requests);
}

/* The stack of the first request that failed, a line a function, to the file of descriptor fd. */
void
faults_show(int fd)
{
    backtrace_symbols_fd(faults.where, faults.depth, fd);
}

static int
fails(int kind)
{
    long long n;

    if (!(atomic_load(&faults.kinds) & kind))
        return 0;
    n = atomic_fetch_add(&faults.requests, 1) + 1;
    if (!faults.first || n < faults.first || n > faults.last)
        return 0;
    if (atomic_fetch_add(&faults.failed, 1) == 0)
        faults.depth = backtrace(faults.where, 32);
    return 1;
}

static int
without(int e)
{
    errno = e;
    return -1;
}

void *
faults_malloc(size_t size)
{
    return fails(MEMORY) ? NULL : malloc(size);
}

void *
faults_calloc(size_t n, size_t size)
{
    return fails(MEMORY) ? NULL : calloc(n, size);
}

void *
faults_realloc(void *p, size_t size)
{
    return fails(MEMORY) ? NULL : realloc(p, size);
}

void *
faults_aligned_alloc(size_t align, size_t size)
{
    return fails(MEMORY) ? NULL : aligned_alloc(align, size);
}

char *
faults_strdup(const char *s)
{
    return fails(MEMORY) ? NULL : strdup(s);
}

void *
faults_mmap(void *p, size_t size, int prot, int flags, int fd, off_t at)
{
    if (fails(MEMORY)) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    return mmap(p, size, prot, flags, fd, at);
}

int
faults_mprotect(void *p, size_t size, int prot)
{
    return fails(MEMORY) ? without(ENOMEM) : mprotect(p, size, prot);
}

int
faults_memfd_create(const char *name, unsigned flags)
{
    return fails(FILES) ? without(EMFILE) : memfd_create(name, flags);
}

int
faults_pthread_create(pthread_t *t, const pthread_attr_t *attr, void *(*run)(void *), void *arg)
{
    return fails(THREADS) ? EAGAIN : pthread_create(t, attr, run, arg);
}

/* The mode is given where a file may be made; elsewhere nobody reads it. */
int
faults_openat(int dir, const char *path, int flags, mode_t mode)
{
    return fails(FILES) ? without(EMFILE) : openat(dir, path, flags, mode);
}

int
faults_open(const char *path, int flags, mode_t mode)
{
    return faults_openat(AT_FDCWD, path, flags, mode);
}

FILE *
faults_fopen(const char *path, const char *mode)
{
    if (fails(FILES)) {
        errno = EMFILE;
        return NULL;
    }
    return fopen(path, mode);
}

ssize_t
faults_read(int fd, void *p, size_t n)
{
    return fails(FILES) ? without(EIO) : read(fd, p, n);
}

ssize_t
faults_write(int fd, const void *p, size_t n)
{
    return fails(FILES) ? without(ENOSPC) : write(fd, p, n);
}

ssize_t
faults_pread(int fd, void *p, size_t n, off_t at)
{
    return fails(FILES) ? without(EIO) : pread(fd, p, n, at);
}

ssize_t
faults_pwrite(int fd, const void *p, size_t n, off_t at)
{
    return fails(FILES) ? without(ENOSPC) : pwrite(fd, p, n, at);
}

int
faults_ftruncate(int fd, off_t size)
{
    return fails(FILES) ? without(ENOSPC) : ftruncate(fd, size);
}

int
faults_renameat(int a, const char *from, int b, const char *to)
{
    return fails(FILES) ? without(ENOSPC) : renameat(a, from, b, to);
}
