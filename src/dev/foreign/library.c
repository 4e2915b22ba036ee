/* library.c - finds and opens foreign libraries. */
#include "dev/foreign/library.h"

#include "dev/foreign/driver.h"

#include <dlfcn.h>
#include <glob.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const td_lib_name td_cublas_names[] = {
    {"libcublas.so.13", 13, "nvidia-cublas"}, {"libcublas.so.12", 12, "nvidia-cublas-cu12"}, {0}};

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

/* The hook stays set until it has returned, so that a second thread waits for it. */
static void
run_search_hook(void)
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

/* ---- folders ---- */

typedef bool folder_fn(void *ctx, const char *dir);

/* Calls fn for each part of a colon-separated list, until it returns true. */
static bool
each_part(const char *list, folder_fn *fn, void *ctx)
{
    char dir[PATH_MAX];

    for (const char *p = list; p && *p; p += strspn(p, ":")) {
        size_t n = strcspn(p, ":");

        if (n && snprintf(dir, sizeof dir, "%.*s", (int)n, p) < (int)sizeof dir && fn(ctx, dir))
            return true;
        p += n;
    }
    return false;
}

static bool
each_wheel(folder_fn *fn, void *ctx)
{
    char *dirs;
    bool done;

    pthread_mutex_lock(&search.mu);
    dirs = search.dirs ? strdup(search.dirs) : NULL;
    pthread_mutex_unlock(&search.mu);
    done = each_part(dirs, fn, ctx);
    free(dirs);
    return done;
}

const char *
td_lib_toolkit(void)
{
    const char *home = getenv("CUDA_HOME"), *named = home && *home ? home : getenv("CUDA_PATH");

    return named && *named ? named : NULL;
}

/* The toolkit that the environment names; without one, those of /usr/local. */
static bool
each_toolkit(folder_fn *fn, void *ctx)
{
    const char *named = td_lib_toolkit();
    char dir[PATH_MAX];
    glob_t g = {0};
    bool done = false;

    if (named)
        return snprintf(dir, sizeof dir, "%s/lib64", named) < (int)sizeof dir && fn(ctx, dir);
    if (glob("/usr/local/cuda/lib64", 0, NULL, &g) == 0 || g.gl_pathc == 0)
        (void)glob("/usr/local/cuda-*/lib64", GLOB_APPEND, NULL, &g);
    for (size_t i = 0; i < g.gl_pathc && !done; i++)
        done = fn(ctx, g.gl_pathv[i]);
    globfree(&g);
    return done;
}

bool
td_lib_each_folder(folder_fn *fn, void *ctx)
{
    run_search_hook();
    return each_wheel(fn, ctx) || each_toolkit(fn, ctx);
}

/* ---- opening ---- */

/* wanted - a library being looked for in folders. */
typedef struct wanted {
    const char *name;
    void *lib;  /* the library, opened */
    char *path; /* or only its path, at most n bytes */
    size_t n;
} wanted;

static bool
open_in(void *ctx, const char *dir)
{
    wanted *w = ctx;
    char path[PATH_MAX];

    if (snprintf(path, sizeof path, "%s/%s", dir, w->name) < (int)sizeof path)
        w->lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    return w->lib != NULL;
}

static bool
find_in(void *ctx, const char *dir)
{
    wanted *w = ctx;

    if (snprintf(w->path, w->n, "%s/%s", dir, w->name) < (int)w->n && access(w->path, R_OK) == 0)
        return true;
    w->path[0] = 0;
    return false;
}

/* The list from the first name on that the driver can serve, or only the last name. */
static const td_lib_name *
served(const td_lib_name *n)
{
    int have = n->cuda ? td_driver_version() / 1000 : 0;

    while (have && n->cuda > have && n[1].so)
        n++;
    return n;
}

/* Says what to install for this driver, and what is installed for a newer one. */
static td_status
not_found(const td_lib_name *all, const td_lib_name *names)
{
    char path[PATH_MAX], newer[PATH_MAX + 128] = "", driver[64] = "";
    wanted w = {.path = path, .n = sizeof path};
    int have = names->cuda ? td_driver_version() : 0;

    if (have)
        snprintf(driver, sizeof driver, " (the driver is for CUDA %d.%d)", have / 1000,
                 have % 1000 / 10);
    for (const td_lib_name *m = all; m < names && !newer[0]; m++) {
        w.name = m->so;
        if (strcmp(m->so, names->so) != 0 && (each_wheel(find_in, &w) || each_toolkit(find_in, &w)))
            snprintf(newer, sizeof newer, "; %s needs a driver for CUDA %d", path, m->cuda);
    }
    if (have && names->cuda > have / 1000)
        return td_fail(TD_ERR_LIBRARY,
                       "%s needs a driver for CUDA %d, this one is for %d.%d: update the driver",
                       names->so, names->cuda, have / 1000, have % 1000 / 10);
    return td_fail(TD_ERR_LIBRARY,
                   "%s was not found: pip install %s%s, or put it on the loader's path%s",
                   names->so, names->package, driver, newer);
}

td_status
td_lib_open(const td_lib_name all[], void **out)
{
    wanted w = {0};
    const td_lib_name *names = served(all);

    run_search_hook();
    for (const td_lib_name *n = names; n->so && !w.lib; n++)
        w.lib = dlopen(n->so,
                       /* if another package has loaded it: two copies would not work together */
                       RTLD_NOW | RTLD_NOLOAD);
    for (const td_lib_name *n = names; (w.name = n->so) && !w.lib; n++)
        (void)each_wheel(open_in, &w);
    for (const td_lib_name *n = names; n->so && !w.lib; n++)
        w.lib = dlopen(n->so, RTLD_NOW | RTLD_LOCAL);
    for (const td_lib_name *n = names; (w.name = n->so) && !w.lib; n++)
        (void)each_toolkit(open_in, &w);
    *out = w.lib;
    return w.lib ? TD_OK : not_found(all, names);
}

td_status
td_lib_locate(const td_lib_name all[], char *path, size_t n)
{
    wanted w = {.path = path, .n = n};
    const td_lib_name *names = served(all);
    void *lib;

    run_search_hook();
    path[0] = 0;
    for (const td_lib_name *m = names; m->so; m++)
        if ((lib = dlopen(m->so, RTLD_NOW | RTLD_NOLOAD))) {
            td_lib_path(lib, path, n);
            dlclose(lib); /* the handle belongs to others */
            return TD_OK;
        }
    for (const td_lib_name *m = names; (w.name = m->so); m++)
        if (each_wheel(find_in, &w) || each_part(getenv("LD_LIBRARY_PATH"), find_in, &w))
            return TD_OK;
    for (const td_lib_name *m = names; (w.name = m->so); m++)
        if (each_toolkit(find_in, &w))
            return TD_OK;
    for (const td_lib_name *m = names; m->so; m++)
        if ((lib = dlopen(m->so, RTLD_NOW | RTLD_LOCAL))) {
            td_lib_path(lib, path, n);
            return TD_OK; /* it stays open, so it is found at once next time */
        }
    return not_found(all, names);
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

td_status
td_lib_table(const td_lib_name names[], const td_lib_entry *entry, size_t n, void *table,
             char *path, size_t path_size, void **out)
{
    void *f;

    TD_TRY(td_lib_open(names, out));
    for (size_t i = 0; i < n; i++) {
        TD_TRY(td_lib_symbol(*out, entry[i].name, &f));
        memcpy((char *)table + entry[i].slot, &f, sizeof f);
    }
    td_lib_path(*out, path, path_size);
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
        slash = self.dli_fname = ""; /* an empty folder makes the loader search its path */
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

    run_search_hook();
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
