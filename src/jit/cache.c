/* cache.c - the disk cache: one file per entry, checked when read, renamed into place when
 * written.
 *
 * Each call opens the directory anew.  Calls are rare, and meanwhile the process may have closed
 * its descriptors or somebody may have removed the directory.
 */
#include "jit/cache.h"

#include "base/files.h"
#include "base/opts.h"
#include "jit/evict.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    NAME_MAX_ = 64,
    LOCK_POLL_US = 500,
    LOCK_WAIT_US =
        /* longer than any kernel takes to compile: the process that makes the entry may hang */
    5000000,
};

/* What precedes the code in a file. */
typedef struct header {
    char magic[8];
    td_hash key, sum;
    uint64_t nbytes;
} header;

static const char magic[8] = "treadle";

/* ---- the warning ---- */

static struct {
    pthread_mutex_t mu;
    char text[PATH_MAX + 256];
    bool given, taken;
} warning = {.mu = PTHREAD_MUTEX_INITIALIZER};

static void TD_PRINTF(1, 2) warn(const char *fmt, ...)
{
    va_list ap;

    pthread_mutex_lock(&warning.mu);
    if (!warning.given) {
        va_start(ap, fmt);
        vsnprintf(warning.text, sizeof warning.text, fmt, ap);
        va_end(ap);
        warning.given = true;
    }
    pthread_mutex_unlock(&warning.mu);
}

const char *
td_cache_warning(void)
{
    const char *text;

    pthread_mutex_lock(&warning.mu);
    text = warning.given && !warning.taken ? warning.text : NULL;
    warning.taken = warning.taken || text;
    pthread_mutex_unlock(&warning.mu);
    return text;
}

/* ---- the directory ---- */

static _Thread_local const char *used; /* td_cache_use */

void
td_cache_use(const char *dir)
{
    used = dir;
}

/* Finds the directory's path.  False: no disk cache is wanted, or there is no home folder to
 * put it in. */
static bool
directory(char path[PATH_MAX])
{
    const char *given = used ? used : td_options()->cache_dir, *home = getenv("HOME");
    int n;

    if (given) {
        n = snprintf(path, PATH_MAX, "%s", given);
        return n > 0 && n < PATH_MAX;
    }
    if (!home || !*home) {
        struct passwd entry, *found = NULL;
        char text[1024];

        if (getpwuid_r(geteuid(), &entry, text, sizeof text, &found) || !found)
            return false;
        n = snprintf(path, PATH_MAX, "%s/.cache/treadle", entry.pw_dir);
    } else {
        n = snprintf(path, PATH_MAX, "%s/.cache/treadle", home);
    }
    return n < PATH_MAX;
}

/* Makes path and its missing parents; only the owner may enter what it makes. */
static bool
make_directory(char *path)
{
    for (char *p = strchr(path + 1, '/'); p; p = strchr(p + 1, '/')) {
        *p = 0;
        mkdir(path, 0700); /* only the last mkdir's result counts */
        *p = '/';
    }
    return mkdir(path, 0700) == 0 || errno == EEXIST;
}

static bool
only_mine(const struct stat *s)
{
    return s->st_uid == geteuid() && !(s->st_mode & (S_IWGRP | S_IWOTH));
}

/* Opens the directory, and makes it first if `make`.  Returns a descriptor; -1: there is none
 * that may be used. */
static int
open_directory(bool make)
{
    char path[PATH_MAX];
    struct stat s;
    int fd;

    if (!directory(path))
        return -1;
    fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT && make && make_directory(path))
        fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) {
        if (make || errno != ENOENT)
            warn("compiled kernels are not kept: %s: %s", path, strerror(errno));
        return -1;
    }
    if (fstat(fd, &s) || !only_mine(&s)) {
        warn(
            "compiled kernels are not kept: %s belongs to another user or can be written by others",
            path);
        close(fd);
        return -1;
    }
    return fd;
}

static void
entry_name(td_hash key, const char *suffix, char name[NAME_MAX_])
{
    char hex[33];

    td_hash_hex(key, hex);
    snprintf(name, NAME_MAX_, "%s.%s", hex, suffix);
}

/* ---- entries ---- */

static bool
read_all(int fd, void *out, size_t n)
{
    char *p = out;

    while (n) {
        ssize_t got = read(fd, p, n);

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        p += got;
        n -= (size_t)got;
    }
    return true;
}

/* Reads the code if the header fits it.  NULL: it does not. */
static void *
read_entry(int fd, size_t file_size, td_hash key, size_t *nbytes)
{
    char *code;
    td_hash sum;
    header h;

    if (file_size < sizeof h || !read_all(fd, &h, sizeof h))
        return NULL;
    if (memcmp(h.magic, magic, sizeof magic) != 0 || h.key.a != key.a || h.key.b != key.b ||
        h.nbytes != file_size - sizeof h)
        return NULL;
    code = malloc(h.nbytes + 1);
    if (!code || !read_all(fd, code, h.nbytes)) {
        free(code);
        return NULL;
    }
    sum = td_hash_add(TD_HASH_INIT, code, h.nbytes);
    if (sum.a != h.sum.a || sum.b != h.sum.b) {
        free(code);
        return NULL;
    }
    code[h.nbytes] = 0;
    *nbytes = h.nbytes;
    return code;
}

td_status
td_cache_get(td_hash key, const char *suffix, void **code, size_t *nbytes)
{
    char name[NAME_MAX_];
    struct stat s;
    int dir = open_directory(false), fd = -1;
    td_status st = TD_SKIP;

    if (dir < 0)
        return TD_SKIP;
    entry_name(key, suffix, name);
    fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd >= 0 && fstat(fd, &s) == 0 && S_ISREG(s.st_mode) && only_mine(&s)) {
        *code = read_entry(fd, (size_t)s.st_size, key, nbytes);
        if (*code) {
            td_cache_used(fd, &s);
            st = TD_OK;
        } else {
            unlinkat(dir, name, 0);
        }
    }
    if (fd >= 0)
        close(fd);
    close(dir);
    return st;
}

void
td_cache_put(td_hash key, const char *suffix, const void *code, size_t nbytes)
{
    static atomic_uint serial;
    header h = {.key = key, .sum = td_hash_add(TD_HASH_INIT, code, nbytes), .nbytes = nbytes};
    char name[NAME_MAX_], tmp[NAME_MAX_];
    int dir = open_directory(true), fd;
    bool ok;

    if (dir < 0)
        return;
    memcpy(h.magic, magic, sizeof magic);
    entry_name(key, suffix, name);
    snprintf(tmp, sizeof tmp, ".new-%ld-%u", (long)getpid(), atomic_fetch_add(&serial, 1));
    unlinkat(dir, tmp, 0); /* left by a process of the same id that died */
    fd = openat(dir, tmp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    ok = fd >= 0 && td_write_all(fd, &h, sizeof h) && td_write_all(fd, code, nbytes);
    if (fd >= 0)
        ok = close(fd) == 0 && ok;
    ok = ok && renameat(dir, tmp, dir, name) == 0;
    if (!ok) {
        warn("compiled kernels are not kept: %s: %s", name, strerror(errno));
        if (fd >= 0)
            unlinkat(dir, tmp, 0);
    } else {
        td_cache_written(dir, nbytes + sizeof h);
    }
    close(dir);
}

/* ---- one maker an entry ---- */

/* Record locks, one byte per key: a forked child does not inherit them, and the system
 * releases them when their process ends.  It also releases them when another thread of the
 * process closes the file; then two processes may make the same entry, which does no harm. */
int
td_cache_lock(td_hash key)
{
    struct flock range = {.l_type = F_WRLCK,
                          .l_whence = SEEK_SET,
                          .l_start = (off_t)(key.a & INT64_MAX) - 1,
                          .l_len = 1};
    int dir = open_directory(true), fd;

    if (dir < 0)
        return -1;
    if (range.l_start < 0)
        range.l_start = 0;
    fd = openat(dir, ".lock", O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    close(dir);
    for (int64_t us = 0; fd >= 0 && fcntl(fd, F_SETLK, &range); us += LOCK_POLL_US) {
        struct timespec poll = {.tv_nsec = LOCK_POLL_US * 1000};

        if ((errno != EACCES && errno != EAGAIN && errno != EINTR) || us > LOCK_WAIT_US) {
            close(fd);
            return -1;
        }
        nanosleep(&poll, NULL);
    }
    return fd;
}

void
td_cache_unlock(int lock)
{
    if (lock >= 0)
        close(lock);
}

void
td_cache_drop(td_hash key, const char *suffix)
{
    char name[NAME_MAX_];
    int dir = open_directory(false);

    if (dir < 0)
        return;
    entry_name(key, suffix, name);
    unlinkat(dir, name, 0);
    close(dir);
}
