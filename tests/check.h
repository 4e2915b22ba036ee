/* check.h - what the C tests share: a failed check prints one line and is counted. */
#ifndef TD_TESTS_CHECK_H
#define TD_TESTS_CHECK_H
#include "base/err.h"

#include <stdio.h>
#include <time.h>

static int check_failures;

static inline int
check_that(int ok, const char *file, int line, const char *what, const char *why)
{
    if (!ok) {
        printf("%s:%d: %s%s%s\n", file, line, what, *why ? ": " : "", why);
        check_failures++;
    }
    return ok;
}

#define CHECK(c) check_that(!!(c), __FILE__, __LINE__, #c, "")
#define CHECK_OK(call) check_that((call) == TD_OK, __FILE__, __LINE__, #call, td_error())
/* The call fails with `st`, and its text has `word`. */
#define CHECK_FAILS(call, st, word)                                                                \
    check_that((call) == (st) && strstr(td_error(), word), __FILE__, __LINE__, #call " should fail with " #st " and say " #word, \
               td_error())

/* A clock for what tests print and for how long they go on; no check depends on how fast the machine is. */
static inline double
now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

#endif
