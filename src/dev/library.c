/* library.c - finds and opens foreign libraries. */
#include "dev/library.h"

#include <dlfcn.h>
#include <glob.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
    pthread_mutex_t mu;
    char *dirs; /* NULL: none */
    unsigned changes;
} search = {.mu = PTHREAD_MUTEX_INITIALIZER};

void
td_lib_search(const char *colon_separated_dirs)
{
    char *copy = colon_separated_dirs ? strdup(colon_separated_dirs) : NULL;

    pthread_mutex_lock(&search.mu);
    free(search.dirs);
    search.dirs = copy;
    search.changes++;
    pthread_mutex_unlock(&search.mu);
}

static _Atomic(void (*)(void)) hook;

void
td_lib_on_search(void (*fn)(void))
{
    atomic_store(&hook, fn);
}

/* The hook stays until it has returned, so that a second thread does not look too early. */
void
td_lib_prepare(void)
{
    void (*fn)(void) = atomic_load(&hook);

    if (fn)
        fn();
    atomic_store(&hook, NULL);
}

unsigned
td_lib_changes(void)
{
    unsigned n;

    pthread_mutex_lock(&search.mu);
    n = search.changes;
    pthread_mutex_unlock(&search.mu);
    return n;
}

static void *
open_in(const char *dir, size_t len, const char *name)
{
    char path[4096];

    if (!len || snprintf(path, sizeof path, "%.*s/%s", (int)len, dir, name) >= (int)sizeof path)
        return NULL;
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

static void *
open_in_dirs(const char *name)
{
    void *lib = NULL;
    char *dirs;

    pthread_mutex_lock(&search.mu);
    dirs = search.dirs ? strdup(search.dirs) : NULL;
    pthread_mutex_unlock(&search.mu);
    for (const char *p = dirs; p && *p && !lib; p += strspn(p, ":")) {
        size_t len = strcspn(p, ":");

        lib = open_in(p, len, name);
        p += len;
    }
    free(dirs);
    return lib;
}

static void *
open_in_toolkit(const char *name)
{
    void *lib = NULL;
    glob_t g = {0};

    if (glob("/usr/local/cuda/lib64", 0, NULL, &g) == 0 || g.gl_pathc == 0)
        (void)glob("/usr/local/cuda-*/lib64", GLOB_APPEND, NULL, &g);
    for (size_t i = 0; i < g.gl_pathc && !lib; i++)
        lib = open_in(g.gl_pathv[i], strlen(g.gl_pathv[i]), name);
    globfree(&g);
    return lib;
}

td_status
td_lib_open(const char *const names[], const char *package, void **out)
{
    void *lib = NULL;

    td_lib_prepare();
    for (const char *const *n = names; *n && !lib; n++)
        lib =
            dlopen(*n, RTLD_NOW | RTLD_NOLOAD); /* another package's: two copies would not agree */
    for (const char *const *n = names; *n && !lib; n++)
        lib = open_in_dirs(*n);
    for (const char *const *n = names; *n && !lib; n++)
        lib = dlopen(*n, RTLD_NOW | RTLD_LOCAL);
    for (const char *const *n = names; *n && !lib; n++)
        lib = open_in_toolkit(*n);
    if (!lib)
        return td_fail(TD_ERR_LIBRARY,
                       "%s was not found: pip install %s, or put it on the loader's path", names[0],
                       package);
    *out = lib;
    return TD_OK;
}

td_status
td_lib_symbol(void *lib, const char *name, void **out)
{
    char path[512];

    *out = dlsym(lib, name);
    if (!*out)
        return td_fail(TD_ERR_LIBRARY, "%s has no %s: it is too old",
                       td_lib_path(lib, path, sizeof path), name);
    return TD_OK;
}

const char *
td_lib_path(void *lib, char *buf, size_t n)
{
    struct link_map *map = NULL;

    if (dlinfo(lib, RTLD_DI_LINKMAP, &map) == 0 && map)
        snprintf(buf, n, "%s", map->l_name);
    else
        snprintf(buf, n, "a library");
    return buf;
}

void *
td_lib_beside(const char *name, char *why, size_t n)
{
    char path[PATH_MAX];
    Dl_info self;
    const char *slash;
    void *handle;

    if (!dladdr(&search, &self) || !(slash = strrchr(self.dli_fname, '/')))
        slash = self.dli_fname = ""; /* the loader's path is searched */
    snprintf(path, sizeof path, "%.*s%s%s", (int)(slash - self.dli_fname), self.dli_fname,
             *slash ? "/" : "", name);
    handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        snprintf(why, n, "%s", dlerror());
    return handle;
}

td_status
td_lib_once(td_lib_state *s, td_status (*load)(void))
{
    td_status st = TD_OK;

    td_lib_prepare();
    pthread_mutex_lock(&s->mu);
    if (!s->there && s->missing && s->looked == td_lib_changes())
        st = td_fail(TD_ERR_LIBRARY, "%s", s->why);
    else if (!s->there) {
        s->looked = td_lib_changes();
        st = load();
        s->there = st == TD_OK;
        s->missing = st != TD_OK;
        snprintf(s->why, sizeof s->why, "%s", st ? td_error() : "");
    }
    pthread_mutex_unlock(&s->mu);
    return st;
}
