/* spawn.c - runs compilers, in temporary folders. */
#include "dev/compile/spawn.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static bool
runs(const char *path)
{
    struct stat s;

    return stat(path, &s) == 0 && S_ISREG(s.st_mode) && access(path, X_OK) == 0;
}

const char *
td_spawn_find(const char *name, char *buf, size_t n)
{
    const char *path = getenv("PATH");

    if (strchr(name, '/'))
        return snprintf(buf, n, "%s", name) < (int)n && runs(buf) ? buf : NULL;
    for (const char *p = path ? path : "/usr/bin:/bin"; *p; p += strspn(p, ":")) {
        size_t len = strcspn(p, ":");

        if (len && snprintf(buf, n, "%.*s/%s", (int)len, p, name) < (int)n && runs(buf))
            return buf;
        p += len;
    }
    return NULL;
}

/* ---- running a program ---- */

static void
read_output(int fd, td_text *said)
{
    char buf[4096];
    ssize_t got;

    while ((got = read(fd, buf, sizeof buf)) > 0 || (got < 0 && errno == EINTR))
        if (got > 0)
            td_text_add(said, buf, (size_t)got);
}

/* Gives the child the default behaviour of all signals: the program may ignore or block some. */
static void
plain_signals(posix_spawnattr_t *attr)
{
    sigset_t none, all;

    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(attr, &none);
    posix_spawnattr_setsigdefault(attr, &all);
    posix_spawnattr_setflags(attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
}

static int
spawn_start(const char *const *argv, int out, pid_t *pid)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attr;
    int r;

    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attr);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, out, 1);
    posix_spawn_file_actions_adddup2(&files, out, 2);
    plain_signals(&attr);
    r = posix_spawn(pid, argv[0], &files, &attr, (char *const *)(uintptr_t)argv, environ);
    posix_spawnattr_destroy(&attr);
    posix_spawn_file_actions_destroy(&files);
    return r;
}

td_status
td_spawn_run(const char *const *argv, td_text *said, int *code)
{
    int pipe_fd[2], r, status = 0;
    pid_t pid;

    if (pipe2(pipe_fd, O_CLOEXEC))
        return td_fail(TD_ERR_IO, "%s: no pipe: %s", argv[0], strerror(errno));
    r = spawn_start(argv, pipe_fd[1], &pid);
    close(pipe_fd[1]);
    if (!r)
        read_output(pipe_fd[0], said);
    close(pipe_fd[0]);
    if (r)
        return td_fail(TD_ERR_IO, "%s: cannot be started: %s", argv[0], strerror(r));
    while (waitpid(pid, &status, 0) < 0)
        /* somebody else waited for the child: its output has to tell whether it failed */
        if (errno != EINTR) {
            status = 0;
            break;
        }
    *code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    return said->failed ? td_fail(TD_ERR_NOMEM, "%s: no memory for what it says", argv[0]) : TD_OK;
}

/* ---- folders ---- */

td_status
td_temp_begin(td_temp *t, const char *keep)
{
    const char *base = getenv("TMPDIR");

    t->kept = keep != NULL;
    base = keep ? keep : base && *base ? base : "/tmp";
    if (snprintf(t->dir, sizeof t->dir, "%s%s", base, keep ? "" : "/treadle-XXXXXX") >=
        (int)sizeof t->dir)
        return td_fail(TD_ERR_IO, "the name of the folder %s is too long", base);
    if (keep ? mkdir(t->dir, 0777) && errno != EEXIST : !mkdtemp(t->dir))
        return td_fail(TD_ERR_IO, "%s: no folder for a compilation: %s", t->dir, strerror(errno));
    return TD_OK;
}

void
td_temp_end(td_temp *t)
{
    DIR *d = t->kept || !t->dir[0] ? NULL : opendir(t->dir);
    char path[PATH_MAX];

    for (struct dirent *e; d && (e = readdir(d));)
        if (e->d_name[0] != '.')
            unlink(td_temp_path(t, e->d_name, path, sizeof path));
    if (d) {
        closedir(d);
        rmdir(t->dir);
    }
    t->dir[0] = 0;
}

const char *
td_temp_path(const td_temp *t, const char *name, char *buf, size_t n)
{
    snprintf(buf, n, "%s/%s", t->dir, name);
    return buf;
}

td_status
td_temp_write(const td_temp *t, const char *name, const void *bytes, size_t n)
{
    char path[PATH_MAX];
    FILE *f = fopen(td_temp_path(t, name, path, sizeof path), "we");
    bool ok = f && fwrite(bytes, 1, n, f) == n;

    if (f)
        ok = fclose(f) == 0 && ok;
    return ok ? TD_OK : td_fail(TD_ERR_IO, "%s: %s", path, strerror(errno));
}

td_status
td_temp_read(const td_temp *t, const char *name, void **out, size_t *nbytes)
{
    char path[PATH_MAX], *p = NULL;
    FILE *f = fopen(td_temp_path(t, name, path, sizeof path), "re");
    struct stat s;
    size_t n = 0;

    if (!f || fstat(fileno(f), &s)) {
        if (f)
            fclose(f);
        return td_fail(TD_ERR_IO, "%s: %s", path, strerror(errno));
    }
    n = (size_t)s.st_size;
    p = malloc(n + 1);
    if (!p || fread(p, 1, n, f) != n) {
        fclose(f);
        free(p);
        return td_fail(TD_ERR_IO, "%s: its %zu bytes cannot be read", path, n);
    }
    fclose(f);
    p[n] = 0;
    *out = p;
    *nbytes = n;
    return TD_OK;
}
