/* library.h - opens libraries when they are first needed: foreign ones, and our own. */
#ifndef TD_DEV_LIBRARY_H
#define TD_DEV_LIBRARY_H
#include "base/err.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

/* Sets the folders to search, separated by colons: those of the nvidia-* wheels, which Python knows.  Replaces
 * the earlier ones. */
void td_lib_search(const char *colon_separated_dirs);
/* fn is called once, without locks, before the first library is searched; it may call td_lib_search. */
void td_lib_on_search(void (*fn)(void));
/* A number that changes with every td_lib_search: what was missing may be found now. */
unsigned td_lib_changes(void);

/* td_lib_name - a name that a library has had.  Lists are newest first and end with {0}. */
typedef struct td_lib_name {
    const char *so;      /* "libx.so.2" */
    int         cuda;    /* the CUDA major version, 13, that the driver must support; 0: any */
    const char *package; /* the package that pip installs */
} td_lib_name;

extern const td_lib_name td_cublas_names[]; /* shared by blas.c and solver.c */

/* Opens the first library of all[] that the driver can serve: one that the process has loaded, or from the
 * folders of td_lib_search, the loader's path, or a CUDA toolkit.  It stays open.  TD_ERR_LIBRARY names the
 * package for this driver. */
td_status td_lib_open(const td_lib_name all[], void **out);
/* The path that td_lib_open would open.  Does not open the library if its folder can be known, since some
 * libraries are slow to open. */
td_status td_lib_locate(const td_lib_name all[], char *path, size_t n);
/* The folder of the CUDA toolkit that CUDA_HOME or CUDA_PATH names; then no other toolkit is searched.  NULL:
 * neither is set. */
const char *td_lib_toolkit(void);
/* Calls fn(ctx, dir) for the folders of td_lib_search, then for those of CUDA toolkits, until it returns true. */
bool td_lib_each_folder(bool (*fn)(void *ctx, const char *dir), void *ctx);
/* td_lib_state - whether a library and its symbols have been loaded.  A static of the code that uses the
 * library. */
typedef struct td_lib_state {
    pthread_mutex_t mu;
    bool     there, missing; /* missing: it was not found */
    unsigned looked;         /* value of td_lib_changes then */
    char     why[512];       /* why it is missing */
} td_lib_state;

#define TD_LIB_STATE {.mu = PTHREAD_MUTEX_INITIALIZER}

/* Calls load until it succeeds once.  After a failure it calls it again only if the folders have changed;
 * otherwise it repeats the failure. */
td_status td_lib_once(td_lib_state *s, td_status (*load)(void));
/* TD_ERR_LIBRARY: the library has no such symbol. */
td_status td_lib_symbol(void *lib, const char *name, void **out);
/* td_lib_entry - a function of a library, and the offset in a table where its address goes. */
typedef struct td_lib_entry {
    const char *name;
    size_t      slot; /* bytes from the table's begin */
} td_lib_entry;

/* Opens the library and puts the addresses of its n entries into the table; path (path_size bytes): where it
 * lies. */
td_status td_lib_table(const td_lib_name names[], const td_lib_entry *entry, size_t n, void *table, char *path,
                       size_t path_size, void **out);
/* Opens one of our own libraries, which lies beside this one, with RTLD_LOCAL.  It stays open.  NULL: why has
 * the loader's reason. */
void *td_lib_beside(const char *name, char *why, size_t n);
/* The path that it was loaded from, in buf; returns buf. */
const char *td_lib_path(void *lib, char *buf, size_t n);

#endif
