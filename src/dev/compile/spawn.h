/* spawn.h - runs another program to its end, without a shell, and keeps its output. */
#ifndef TD_DEV_SPAWN_H
#define TD_DEV_SPAWN_H
#include "base/text.h"

/* Finds a program on PATH; a name with a slash is the path itself.  Returns buf; NULL: there is none. */
const char *td_spawn_find(const char *name, char *buf, size_t n);

/* Runs argv[0] (a path) with the arguments after it (NULL-terminated) and empty standard input.  Adds its
 * standard output and error to `said`.  *code: the exit status, or 128 + n if signal n ended it.  TD_ERR_IO: it
 * could not be started. */
td_status td_spawn_run(const char *const *argv, td_text *said, int *code);

/* td_temp - the files of one compilation.  On the caller's stack; td_temp_end removes them. */
typedef struct td_temp {
    char dir[256];
    bool kept; /* the folder is the user's: nothing is removed */
} td_temp;

/* keep: the user's folder, made if needed; NULL: a new temporary one */
td_status   td_temp_begin(td_temp *t, const char *keep);
void        td_temp_end(td_temp *t);
const char *td_temp_path(const td_temp *t, const char *name, char *buf, size_t n); /* returns buf */
td_status   td_temp_write(const td_temp *t, const char *name, const void *bytes, size_t n);
td_status   td_temp_read(const td_temp *t, const char *name, void **out, size_t *nbytes); /* owned; a NUL follows */

#endif
