/* bandwidth.c - what a device's memory could do, the measure of a profile's rates. */
#include "dev/core/devops.h"

#include <time.h>

static int64_t
now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* The best of some copies, larger than what caches hold. */
static double
measure(td_dev *d)
{
    const size_t nbytes = (size_t)64 << 20;
    td_buf *a = NULL, *b = NULL;
    int64_t best = INT64_MAX;
    td_status st = td_pool_new(d, NULL, nbytes, &a);

    if (!st)
        st = td_pool_new(d, NULL, nbytes, &b);
    for (int i = 0; i < 5 && !st; i++) {
        int64_t begin = now_ns(), ns;

        st = d->ops->copy(&d->def, a->ptr, b->ptr, nbytes);
        ns = now_ns() - begin;
        best = ns < best ? ns : best;
    }
    td_buf_unref(a);
    td_buf_unref(b);
    return st ? 0 : 2 * (double)nbytes / ((double)best / 1e9);
}

double
td_dev_bandwidth(td_dev *d)
{
    static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
    static double host; /* 0: not measured */
    double r = d->info.bandwidth;

    if (d->info.kind != TD_DEV_CPU)
        return r;
    pthread_mutex_lock(&mu);
    if (!host)
        host = measure(d);
    r = host;
    pthread_mutex_unlock(&mu);
    return r;
}
