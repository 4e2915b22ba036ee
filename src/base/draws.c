/* draws.c - each thread's random state. */
#include "base/draws.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>

static struct {
    pthread_once_t once;
    pthread_key_t key;
    int failed;
} draws = {.once = PTHREAD_ONCE_INIT};

static void
make_key(void)
{
    draws.failed = pthread_key_create(&draws.key, free);
}

/* Seeds from the system's entropy, or from the clock if the system has none. */
static void
seed_row(uint32_t *row)
{
    struct timespec now;

    if (getrandom(row, TD_DRAWS_NEXT * sizeof *row, 0) != TD_DRAWS_NEXT * sizeof *row) {
        clock_gettime(CLOCK_REALTIME, &now);
        row[0] = (uint32_t)now.tv_nsec ^ (uint32_t)now.tv_sec;
        for (uint32_t i = 1; i < TD_DRAWS_NEXT; i++)
            row[i] = row[i - 1] * 1664525u + 1013904223u;
    }
    row[0] |= 0x80000000u; /* a state of zeros would never change */
    row[TD_DRAWS_NEXT] = TD_DRAWS_NEXT;
}

uint32_t *
td_draws_here(void)
{
    uint32_t *words;

    pthread_once(&draws.once, make_key);
    if (draws.failed)
        return NULL;
    words = pthread_getspecific(draws.key);
    if (words)
        return words;
    words = calloc((size_t)TD_DRAWS_ROWS * TD_DRAWS_WORDS, sizeof *words);
    if (!words || pthread_setspecific(draws.key, words)) {
        free(words);
        return NULL;
    }
    seed_row(words);
    seed_row(words + TD_DRAWS_WORDS);
    return words;
}
