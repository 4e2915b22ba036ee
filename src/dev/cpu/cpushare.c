/* cpushare.c - CPU memory that other processes can map: a file without a name (memfd).
 *
 * Others open it as /proc/PID/fd/N while its sender lives, and keep their mappings after that.
 * No name can be left behind.
 */
#include "dev/core/devops.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* file - shared memory made here.  Belongs to its buffer. */
typedef struct file {
    void *ptr;
    size_t nbytes;
    int fd;
    uint64_t inode;
} file;

/* The contents of td_shared's bytes. */
typedef struct place {
    int64_t pid, fd;
    uint64_t inode;
} place;

static void
cpushare_release(void *owner)
{
    file *f = owner;

    munmap(f->ptr, f->nbytes);
    close(f->fd);
    free(f);
}

static void *
cpushare_map(int fd, size_t nbytes)
{
    void *p = mmap(NULL, nbytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    return p == MAP_FAILED ? NULL : p;
}

td_status
td_cpu_share_new(td_dev *d, size_t nbytes, td_buf **out)
{
    file *f = calloc(1, sizeof *f);
    struct stat s;
    td_status st = TD_ERR_NOMEM;

    if (!f)
        return td_fail(TD_ERR_NOMEM, "shared memory: no host memory for its record");
    f->nbytes = nbytes ? nbytes : 1;
    f->fd = memfd_create("treadle-array", MFD_CLOEXEC);
    if (f->fd >= 0 && ftruncate(f->fd, (off_t)f->nbytes) == 0 && fstat(f->fd, &s) == 0) {
        f->inode = s.st_ino;
        f->ptr = cpushare_map(f->fd, f->nbytes);
    }
    st = f->ptr ? td_buf_wrap(d, f->ptr, nbytes, cpushare_release, f, out)
                : td_fail(TD_ERR_IO, "shared memory: %zu bytes: %s", nbytes, strerror(errno));
    if (st) {
        if (f->ptr)
            munmap(f->ptr, f->nbytes);
        if (f->fd >= 0)
            close(f->fd);
        free(f);
    }
    return st; // NOLINT(clang-analyzer-unix.Malloc): f is the buffer's
}

td_status
td_cpu_share(td_dev *d, const td_buf *b, td_shared *out)
{
    const file *f = b->owner;
    place p;

    if (b->release != cpushare_release)
        return out ? td_fail(TD_ERR_VALUE, "%s: this memory cannot be shared", d->info.name)
                   : TD_SKIP;
    if (!out)
        return TD_OK;
    p = (place){getpid(), f->fd, f->inode};
    out->base = (uintptr_t)f->ptr;
    out->nbytes = f->nbytes;
    memset(out->bytes, 0, sizeof out->bytes);
    memcpy(out->bytes, &p, sizeof p);
    return TD_OK;
}

td_status
td_cpu_share_open(td_dev *d, td_shared *m)
{
    char path[64];
    struct stat s;
    void *ptr = NULL;
    place p;
    int fd;

    memcpy(&p, m->bytes, sizeof p);
    snprintf(path, sizeof path, "/proc/%lld/fd/%lld", (long long)p.pid, (long long)p.fd);
    fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd >= 0 && fstat(fd, &s) == 0 && s.st_ino == p.inode && (size_t)s.st_size >= m->nbytes)
        ptr = cpushare_map(fd, m->nbytes);
    if (fd >= 0)
        close(fd);
    m->base = (uintptr_t)ptr;
    return ptr ? TD_OK
               : td_fail(TD_ERR_VALUE, "%s: shared array: %s does not open: its sender has ended",
                         d->info.name, path);
}

td_status
td_cpu_share_close(td_dev *d, const td_shared *m)
{
    (void)d;
    munmap((void *)m->base, m->nbytes);
    return TD_OK;
}
