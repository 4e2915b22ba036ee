/* t_races_cpu.c - threads over one graph on the CPU, whose kernels read and write the memory while others plan. */
#include "stress_arrays.h"

int
main(int argc, char **argv)
{
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1, last = argc > 1 ? seed : 3;
    double until = stress_now() + (argc > 1 ? 0 : stress_seconds());

    CHECK_OK(td_dev_get("cpu", &sa.dev));
    sa.cols = 8;
    sa.steps = 30;
    for (; seed <= last || stress_now() < until; seed++) {
        sa.unruly = seed % 3 == 2;
        stress.at_large = seed % 3 == 0;
        CHECK(sa_try(seed));
    }
    CHECK(sa.looked > 20);
    return check_failures != 0;
}
