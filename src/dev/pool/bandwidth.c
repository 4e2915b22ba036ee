/* bandwidth.c - the rate at which a device's memory can be read and written, which profiles
 * compare with.
 */
#include "base/clock.h"
#include "dev/core/devops.h"

/* The best rate of a few copies, larger than the caches. */
static double
measure_copies(td_dev *d)
{
    const size_t nbytes = (size_t)64 << 20;
    td_buf *a = NULL, *b = NULL;
    int64_t best = INT64_MAX;
    td_status st = td_pool_new(d, NULL, nbytes, &a);

    if (!st)
        st = td_pool_new(d, NULL, nbytes, &b);
    for (int i = 0; i < 5 && !st; i++) {
        int64_t begin = td_now_ns(), ns;

        st = d->ops->copy(&d->def, a->ptr, b->ptr, nbytes);
        ns = td_now_ns() - begin;
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
        host = measure_copies(d);
    r = host;
    pthread_mutex_unlock(&mu);
    return r;
}
