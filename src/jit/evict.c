/* evict.c - keeps the cache below its bound by removing the entries used longest ago.
 *
 * A file's modification time is the entry's last use: a reader updates it when it is more than an
 * hour old.  The file `.written` counts the bytes that all processes have written since the folder
 * was scanned; the process that takes it past 1/32 of the bound scans again.  So the cache exceeds
 * its bound only a little, and a process that writes an entry into a folder of 100,000 does not pay
 * a quarter of a second for it.  Processes need no lock: a count that two of them write at once
 * misses one entry, it does no harm to remove a file that is being read or already gone, and two
 * processes that clean up at once remove the same files.
 */
#include "jit/evict.h"

#include "base/opts.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { HOUR = 3600, DAY = 24 * HOUR };

typedef struct file {
    char name[64];
    int64_t ns; /* last use */
    size_t nbytes;
} file;

typedef struct files {
    file *at;
    size_t n, cap, nbytes;
} files;

static int64_t
ns_of(struct timespec t)
{
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Does the name look like an entry's: 32 hexadecimal digits, a dot, a suffix? */
static bool
is_entry(const char *name)
{
    size_t n = 0;

    while (isxdigit((unsigned char)name[n]))
        n++;
    return n == 32 && name[n] == '.' && name[n + 1] && strlen(name) < sizeof(((file *)0)->name);
}

/* Is this the temporary file of a process that died before the rename? */
static bool
is_left_over(const char *name, const struct stat *s, time_t now)
{
    return strncmp(name, ".new-", 5) == 0 && now - s->st_mtim.tv_sec > DAY;
}

static bool
add_cache_file(files *f, const char *name, const struct stat *s)
{
    if (f->n == f->cap) {
        size_t cap = f->cap ? 2 * f->cap : 256;
        file *at = realloc(f->at, cap * sizeof *at);

        if (!at)
            return false;
        f->at = at;
        f->cap = cap;
    }
    memcpy(f->at[f->n].name, name, strlen(name) + 1); /* it fits: is_entry has checked the length */
    f->at[f->n].ns = ns_of(s->st_mtim);
    f->at[f->n++].nbytes = (size_t)s->st_size;
    f->nbytes += (size_t)s->st_size;
    return true;
}

static bool
read_folder(int dir, files *f)
{
    int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    time_t now = time(NULL);
    const struct dirent *e;
    struct stat s;
    bool ok = d != NULL;

    if (!d && fd >= 0)
        close(fd);
    while (ok && (e = readdir(d)))
        if (fstatat(dir, e->d_name, &s, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(s.st_mode)) {
            if (is_entry(e->d_name))
                ok = add_cache_file(f, e->d_name, &s);
            else if (is_left_over(e->d_name, &s, now))
                unlinkat(dir, e->d_name, 0);
        }
    if (d)
        closedir(d);
    return ok;
}

static int
by_age(const void *a, const void *b)
{
    int64_t x = ((const file *)a)->ns, y = ((const file *)b)->ns;

    return (x > y) - (x < y);
}

static void
clean(int dir, size_t most)
{
    files f = {0};

    if (read_folder(dir, &f) && f.nbytes > most) {
        qsort(f.at, f.n, sizeof *f.at, by_age);
        for (size_t i = 0; i < f.n && f.nbytes > most / 8 * 7; i++) {
            unlinkat(dir, f.at[i].name, 0); /* another process may have removed it already */
            f.nbytes -= f.at[i].nbytes;
        }
    }
    free(f.at);
}

/* Adds nbytes to the folder's count of bytes written since its last scan.  Is a scan due?  A folder without a count
 * has never been scanned. */
static bool
scan_is_due(int dir, uint64_t nbytes, uint64_t most)
{
    int fd = openat(dir, ".written", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    uint64_t n;
    bool due;

    if (fd < 0)
        return false;
    due = pread(fd, &n, sizeof n, 0) != sizeof n || n >= most || n + nbytes >= most;
    n = due ? 0 : n + nbytes;
    (void)!pwrite(fd, &n, sizeof n, 0); /* if it fails, the next entry counts from the old number */
    close(fd);
    return due;
}

void
td_cache_written(int dir, size_t nbytes)
{
    size_t most = td_options()->cache_size;

    if (most && scan_is_due(dir, nbytes, most / 32))
        clean(dir, most);
}

void
td_cache_used(int fd, const struct stat *s)
{
    if (time(NULL) - s->st_mtim.tv_sec > HOUR)
        (void)futimens(fd, NULL); /* fails if the folder is read-only, which does no harm */
}
