/* hostfile.c - the file behind mapped memory.
 *
 * Reading a mapped file through memory that nobody has touched yet takes a fault per page.
 * read(2) copies from the same page cache without faults, and reports a file that has become too
 * short, where touching memory would end the process.  Which is faster depends on the system and
 * on what was touched.  So both are timed, and from time to time the slower one again.
 */
#include "array/source/host.h"
#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum {
    TRIES = 16,   /* pieces before a choice is made */
    AGAIN = 128,  /* one piece in so many goes the other way */
    SHORT = 65536 /* bytes of a piece that is worth timing */
};

/* mapping - a line of /proc/self/maps.  Only shared mappings show the file as it is. */
typedef struct mapping {
    uintptr_t lo, hi;
    int64_t at;
    unsigned major, minor;
    uint64_t inode;
    char path[4096];
} mapping;

static bool
parse_mapping(const char *line, mapping *m)
{
    char flags[8];
    int n = 0;

    if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %7s %" SCNx64 " %x:%x %" SCNu64 " %n", &m->lo,
               &m->hi, flags, (uint64_t *)&m->at, &m->major, &m->minor, &m->inode, &n) < 7 ||
        flags[3] != 's' || !m->inode || line[n] != '/')
        return false;
    snprintf(m->path, sizeof m->path, "%s", line + n);
    m->path[strcspn(m->path, "\n")] = 0;
    return true;
}

static int
open_mapping(const mapping *m, bool write)
{
    int fd = open(m->path, (write ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    struct stat s;

    if (fd >= 0 && (fstat(fd, &s) < 0 || !S_ISREG(s.st_mode) || s.st_ino != m->inode ||
                    major(s.st_dev) != m->major || minor(s.st_dev) != m->minor)) {
        close(fd); /* the path now names another file */
        fd = -1;
    }
    return fd;
}

void
td_hostfile_find(td_hostfile *f, const void *lo, const void *hi, bool write)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    char line[4352];
    mapping m;

    f->fd = -1;
    atomic_init(&f->tries, 0);
    for (int i = 0; i < 2; i++)
        atomic_init(&f->pace[i], 0);
    while (maps && f->fd < 0 && fgets(line, sizeof line, maps))
        if (parse_mapping(line, &m) && m.lo <= (uintptr_t)lo && (uintptr_t)hi <= m.hi) {
            f->fd = open_mapping(&m, write);
            f->lo = (int64_t)m.lo;
            f->hi = (int64_t)m.hi;
            f->at = m.at;
            break;
        }
    if (maps)
        fclose(maps);
}

void
td_hostfile_close(td_hostfile *f)
{
    if (f->fd >= 0)
        close(f->fd);
    f->fd = -1;
}

static td_status
read_file(const td_hostfile *f, const char *from, size_t n, char *to)
{
    off_t at = (off_t)((int64_t)(uintptr_t)from - f->lo + f->at);

    while (n) {
        ssize_t got = pread(f->fd, to, n, at);

        if (got < 0)
            return td_fail(TD_ERR_IO, "reading the source's file: %s", strerror(errno));
        if (!got)
            return td_fail(TD_ERR_IO, "reading the source's file: it ends %zu bytes too early", n);
        to += got;
        at += got;
        n -= (size_t)got;
    }
    return TD_OK;
}

/* 1: the file is read; 0: memory. */
static int
hostfile_choose(td_hostfile *f)
{
    unsigned n = atomic_fetch_add_explicit(&f->tries, 1, memory_order_relaxed),
             memory = atomic_load_explicit(&f->pace[0], memory_order_relaxed),
             file = atomic_load_explicit(&f->pace[1], memory_order_relaxed);

    if (n < TRIES || !memory || !file)
        return !(n & 1);
    return (file < memory) ^ (n % AGAIN == 0);
}

td_status
td_hostfile_read(td_hostfile *f, const char *from, size_t n, void *to)
{
    int64_t begun;
    unsigned pace, before;
    int way;

    if (f->fd < 0 || n < SHORT) {
        memcpy(to, from, n);
        return TD_OK;
    }
    way = hostfile_choose(f);
    begun = td_now_ns();
    if (way)
        TD_TRY(read_file(f, from, n, to));
    else
        memcpy(to, from, n);
    pace = (unsigned)((td_now_ns() - begun) * 1000 / (int64_t)n) + 1;
    before = atomic_load_explicit(&f->pace[way], memory_order_relaxed);
    atomic_store_explicit(&f->pace[way], before ? before - before / 4 + pace / 4 : pace,
                          /* losing another thread's measurement does no harm */
                          memory_order_relaxed);
    return TD_OK;
}
