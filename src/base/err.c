/* err.c - the thread's error record. */
#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Thread_local char message[16384];
static _Thread_local int number;

/* Formats first, since the arguments may point into the record itself. */
static void
write_message(const char *fmt, va_list ap, int code)
{
    char text[sizeof message];

    vsnprintf(text, sizeof text, fmt, ap);
    if (code < 0)
        code = message[0] && strstr(text, message) ? number : 0;
    snprintf(message, sizeof message, "%s", text);
    number = code;
}

td_status
td_fail(td_status st, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    write_message(fmt, ap, -1);
    va_end(ap);
    return st;
}

td_status
td_fail_code(td_status st, int code, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    write_message(fmt, ap, code);
    va_end(ap);
    return st;
}

const char *
td_error(void)
{
    return message;
}

int
td_error_code(void)
{
    return number;
}

void
td_bug(const char *file, int line, const char *what)
{
    fprintf(stderr, "treadle: bug: %s:%d: %s\n", file, line, what);
    abort();
}
