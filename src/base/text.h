/* text.h - a growing string.  It remembers its first failure: appends need no checks, and `failed` is read once at
 * the end.  {0} is an empty text; td_text_free releases it.
 */
#ifndef TD_BASE_TEXT_H
#define TD_BASE_TEXT_H
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct td_text {
    char  *s; /* NUL-terminated once anything was added */
    size_t n, cap;
    bool   failed;
} td_text;

void  td_text_addf(td_text *t, const char *fmt, ...) TD_PRINTF(2, 3);
void  td_text_add(td_text *t, const char *bytes, size_t n);
char *td_text_take(td_text *t); /* owned by the caller (free); NULL if anything failed; *t becomes {0} */
void  td_text_free(td_text *t); /* ok on {0} */

#endif
