/* library.h - libraries that are opened when they are first needed: foreign ones, and our own. */
#ifndef TD_DEV_LIBRARY_H
#define TD_DEV_LIBRARY_H
#include "base/err.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

/* Folders to look into, separated by colons: those of the nvidia-* wheels, which Python knows.
 * Replaces what was set before. */
void td_lib_search(const char *colon_separated_dirs);
/* `fn` is called once, without locks, before the first library is looked for; it may call td_lib_search. */
void td_lib_on_search(void (*fn)(void));
/* Changes with every td_lib_search: what was missing before may be there now. */
unsigned td_lib_changes(void);

/* A library by the names that it has had.  Lists are newest first and end with {0}. */
typedef struct td_lib_name {
    const char *so;      /* "libx.so.2" */
    int         cuda;    /* the CUDA, 13, that the driver has to be for; 0: any, or none */
    const char *package; /* which pip installs */
} td_lib_name;

extern const td_lib_name td_cublas_names[]; /* which two of dev/lib open */

/* The first of all[] that is in the process already, in the folders of td_lib_search, on the loader's path or in a
 * CUDA toolkit, and that the driver can serve.  Stays open.  TD_ERR_LIBRARY names the package for this driver. */
td_status td_lib_open(const td_lib_name all[], void **out);
/* As td_lib_open, but where it would be opened from, without opening it if its folder can be known: for libraries that are slow to
 * open. */
td_status td_lib_locate(const td_lib_name all[], char *path, size_t n);
/* The folder of the CUDA toolkit that CUDA_HOME or CUDA_PATH names: no other is looked into then.  NULL: neither is set. */
const char *td_lib_toolkit(void);
/* Calls fn(ctx, dir) for the folders of td_lib_search, then for those of CUDA toolkits, until it returns true. */
bool td_lib_each_folder(bool (*fn)(void *ctx, const char *dir), void *ctx);
/* td_lib_state - whether a library and its symbols have been loaded.  Static, of whoever uses them. */
typedef struct td_lib_state {
    pthread_mutex_t mu;
    bool     there, missing; /* missing: looked for in vain */
    unsigned looked;         /* td_lib_changes then */
    char     why[512];       /* it is missing */
} td_lib_state;

#define TD_LIB_STATE {.mu = PTHREAD_MUTEX_INITIALIZER}

/* Calls load until it succeeds once, and after a failure only when there are other folders to look into; else the
 * failure is said again. */
td_status td_lib_once(td_lib_state *s, td_status (*load)(void));
/* TD_ERR_LIBRARY when it has no such symbol. */
td_status td_lib_symbol(void *lib, const char *name, void **out);
/* A function of a library, and where in a table its address goes. */
typedef struct td_lib_entry {
    const char *name;
    size_t      slot; /* bytes from the table's begin */
} td_lib_entry;

/* Opens the library and finds the n entries; path (path_size bytes): where it is. */
td_status td_lib_table(const td_lib_name names[], const td_lib_entry *entry, size_t n, void *table, char *path,
                       size_t path_size, void **out);
/* One of ours: it lies beside the library that this code is in.  For itself (RTLD_LOCAL), and stays open.
 * NULL: the loader's reason is in why. */
void *td_lib_beside(const char *name, char *why, size_t n);
/* Where it was loaded from, into buf; returns buf. */
const char *td_lib_path(void *lib, char *buf, size_t n);

#endif
