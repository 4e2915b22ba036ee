/* t_speed.c - what a buffer of mixed size costs once the pool is warm: nothing is asked of the system. */
#include "dev/core/dev.h"

#include "check.h"

#include <string.h>

enum { N = 100000, LIVE = 256 };

static td_dev *dev;

/* One byte to 4 MB, in random order; at most LIVE at a time. */
static double
walk(void)
{
    static td_buf *b[LIVE];
    double t = now_us();
    unsigned seed = 1;
    int bad = 0;

    for (int i = 0; i < N; i++) {
        td_buf **at;

        seed = seed * 1664525u + 1013904223u;
        at = &b[(seed >> 24) % LIVE];
        td_buf_unref(*at);
        *at = NULL;
        bad += td_buf_new(dev, NULL, ((size_t)1 << (seed >> 10) % 22) + (seed >> 8) % 1000, at) !=
               TD_OK;
    }
    for (int i = 0; i < LIVE; i++) {
        td_buf_unref(b[i]);
        b[i] = NULL;
    }
    CHECK(bad == 0);
    return (now_us() - t) / N;
}

int
main(void)
{
    uint64_t before;

    CHECK_OK(td_dev_get("cpu", &dev));
    (void)walk();
    before = td_mem_stats(dev).driver_allocs;
    printf("t_speed: %d buffers of mixed size: %.3f us each\n", N, walk());
    CHECK(td_mem_stats(dev).driver_allocs - before < N / 1000);
    CHECK_OK(td_mem_trim(dev));
    CHECK(td_mem_stats(dev).cached == 0);
    return check_failures != 0;
}
