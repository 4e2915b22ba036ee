/* text.c - a growing string. */
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool
text_reserve(td_text *t, size_t more)
{
    size_t cap = t->cap;
    char *p;

    if (t->failed)
        return false;
    if (t->n + more + 1 <= cap)
        return true;
    cap = 2 * (t->n + more + 32);
    p = realloc(t->s, cap);
    if (!p) {
        t->failed = true;
        return false;
    }
    t->s = p;
    t->cap = cap;
    return true;
}

void
td_text_add(td_text *t, const char *bytes, size_t n)
{
    if (!text_reserve(t, n))
        return;
    if (n)
        memcpy(t->s + t->n, bytes, n);
    t->n += n;
    t->s[t->n] = 0;
}

void
td_text_addf(td_text *t, const char *fmt, ...)
{
    va_list ap;
    int n;

    va_start(ap, fmt);
    n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    if (n < 0 || !text_reserve(t, (size_t)n)) {
        t->failed = true;
        return;
    }
    va_start(ap, fmt);
    vsnprintf(t->s + t->n, (size_t)n + 1, fmt, ap);
    va_end(ap);
    t->n += (size_t)n;
}

char *
td_text_take(td_text *t)
{
    char *s = NULL;

    td_text_add(t, "", 0);
    if (!t->failed) {
        s = t->s;
        t->s = NULL;
    }
    td_text_free(t);
    return s;
}

void
td_text_free(td_text *t)
{
    free(t->s);
    *t = (td_text){0};
}
