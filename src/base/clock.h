/* clock.h - the clock by which treadle measures. */
#ifndef TD_BASE_CLOCK_H
#define TD_BASE_CLOCK_H
#include <stdint.h>
#include <time.h>

/* Nanoseconds since some moment before the process began; they never go back. */
static inline int64_t
td_now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

#endif
