/* spawn.h - another program, run to its end: without a shell, what it says kept. */
#ifndef TD_DEV_SPAWN_H
#define TD_DEV_SPAWN_H
#include "base/text.h"

/* The program of that name on PATH, or the path itself where it holds a slash; NULL: there is none.  Into buf. */
const char *td_spawn_find(const char *name, char *buf, size_t n);

/* Runs argv[0] (a path) with the rest of argv (NULL-terminated) behind it, standard input empty.  What it writes to standard
 * output and error is added to `said`; *code is its exit status, 128 + n where signal n ended it.  TD_ERR_IO: it
 * could not be started. */
td_status td_spawn_run(const char *const *argv, td_text *said, int *code);

/* Files of one compilation.  On the caller's stack; td_temp_end removes what stands there. */
typedef struct td_temp {
    char dir[256];
    bool kept; /* the user's folder: nothing is removed */
} td_temp;

td_status   td_temp_begin(td_temp *t, const char *keep); /* keep: a folder of the user's, made if needed; NULL: a new one */
void        td_temp_end(td_temp *t);
const char *td_temp_path(const td_temp *t, const char *name, char *buf, size_t n); /* returns buf */
td_status   td_temp_write(const td_temp *t, const char *name, const void *bytes, size_t n);
td_status   td_temp_read(const td_temp *t, const char *name, void **out, size_t *nbytes); /* owned, a NUL behind it */

#endif
