/* matmul.c - a matrix product: cuBLAS on a GPU; on the CPU a BLAS where there is one, else a
 * generated kernel.  Some elements are checked against sums of the host's.
 *
 * Usage: matmul [size [device]]
 */
#include <treadle.h>

#include <stdio.h>
#include <stdlib.h>

static void
must(treadle_status st, const char *what)
{
    if (st) {
        fprintf(stderr, "%s: %s: %s\n", what, treadle_status_name(st), treadle_error());
        exit(1);
    }
}

static double *
on_host(const treadle_array *a)
{
    size_t nbytes = treadle_array_nbytes(a);
    double *p = malloc(nbytes);

    if (!p)
        must(TREADLE_ERR_NOMEM, "host memory");
    must(treadle_array_get(a, p, nbytes), "get");
    return p;
}

/* The largest difference among n elements spread over c = a b. */
static double
error_of(const double *a, const double *b, const double *c, int64_t n)
{
    double worst = 0;

    for (int64_t i = 0; i < n; i++) {
        int64_t j = i * 7919 % n;
        double sum = 0, off;

        for (int64_t k = 0; k < n; k++)
            sum += a[i * n + k] * b[k * n + j];
        off = c[i * n + j] - sum;
        off = off < 0 ? -off : off;
        worst = off > worst ? off : worst;
    }
    return worst;
}

int
main(int argc, char **argv)
{
    int64_t n = argc > 1 ? atoll(argv[1]) : 1000;
    const int64_t dims[2] = {n, n};
    treadle_rng rng = treadle_rng_seed(1);
    treadle_event *start, *end;
    treadle_array *a, *b, *c;
    treadle_device *dev;
    double *ha, *hb, *hc, ms, off;

    must(treadle_device_open(argc > 2 ? argv[2] : NULL, &dev), "device");
    treadle_device_use(dev);
    must(treadle_event_new(dev, true, &start), "event");
    must(treadle_event_new(dev, true, &end), "event");
    must(treadle_random_uniform(dev, &rng, TREADLE_FLOAT64, 2, dims, &a), "a");
    must(treadle_random_uniform(dev, &rng, TREADLE_FLOAT64, 2, dims, &b), "b");
    must(treadle_matmul(a, b, &c), "first product"); /* opens the library */
    treadle_array_unref(c);

    must(treadle_event_record(start, NULL), "event");
    must(treadle_matmul(a, b, &c), "product");
    must(treadle_event_record(end, NULL), "event");
    must(treadle_event_sync(end), "event");
    must(treadle_event_elapsed(start, end, &ms), "event");

    ha = on_host(a);
    hb = on_host(b);
    hc = on_host(c);
    off = error_of(ha, hb, hc, n);
    printf("%lld x %lld: %.2f ms, %.1f GFLOP/s, largest error %.2g\n", (long long)n, (long long)n,
           ms, 2e-6 * (double)n * (double)n * (double)n / ms, off);
    free(ha);
    free(hb);
    free(hc);
    treadle_array_unref(a);
    treadle_array_unref(b);
    treadle_array_unref(c);
    treadle_event_free(start);
    treadle_event_free(end);
    return !(off <= 1e-12 * (double)n);
}
