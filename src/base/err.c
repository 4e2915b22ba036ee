/* err.c - the thread's error record. */
#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static _Thread_local char message[16384];

td_status
td_fail(td_status st, const char *fmt, ...)
{
    char text[sizeof message]; /* the arguments may point into the record itself */
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    snprintf(message, sizeof message, "%s", text);
    return st;
}

const char *
td_error(void)
{
    return message;
}

void
td_bug(const char *file, int line, const char *what)
{
    fprintf(stderr, "treadle: bug: %s:%d: %s\n", file, line, what);
    abort();
}
