/* saxpy.c - the sum of the squares of a x + y: the arithmetic runs inside the sum's kernel.
 *
 * Usage: saxpy [elements [device]]
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

int
main(int argc, char **argv)
{
    int64_t n = argc > 1 ? atoll(argv[1]) : 1 << 20;
    const float a = 2;
    treadle_array *x, *y, *ax, *sum, *square, *total;
    treadle_device_info info;
    treadle_device *dev;
    double got, want;

    must(treadle_device_open(argc > 2 ? argv[2] : NULL, &dev), "device");
    must(treadle_device_get_info(dev, &info), "device");
    must(treadle_arange(dev, TREADLE_FLOAT32, n, treadle_f(0), treadle_f(1.0 / (double)n), &x),
         "x");
    must(treadle_full(dev, TREADLE_FLOAT32, 1, &n, treadle_f(1), &y), "y");

    /* Nothing runs here: three operations and a reduction are recorded ... */
    must(treadle_binary(TREADLE_OP_multiply, treadle_f(a), treadle_a(x), &ax), "a x");
    must(treadle_binary(TREADLE_OP_add, treadle_a(ax), treadle_a(y), &sum), "a x + y");
    must(treadle_unary(TREADLE_OP_square, treadle_a(sum), &square), "square");
    must(treadle_reduce(TREADLE_RED_sum, square, NULL, &total), "sum");
    /* ... which nobody else asks for, so that only the sum is ever in memory. */
    treadle_array_unref(ax);
    treadle_array_unref(sum);
    treadle_array_unref(square);
    must(treadle_array_item(total, &got), "value");

    want = (double)n * 13 / 3 - 4 + 2 / (3.0 * (double)n); /* of (2 i / n + 1)^2 over i < n */
    printf("%s: sum of squares %.6g, exactly %.6g; kernels launched: %llu\n", info.name, got, want,
           (unsigned long long)treadle_get_stats().kernels);
    treadle_array_unref(total);
    treadle_array_unref(x);
    treadle_array_unref(y);
    return !(got > want * (1 - 1e-5) && got < want * (1 + 1e-5));
}
