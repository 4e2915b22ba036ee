/* t_races.c - threads over one graph on the null device, taking turns in an order drawn by a seed. */
#include "dev/null.h"

#include "stress_arrays.h"

static void
test_turns(int cols, uint64_t seeds, uint64_t delay)
{
    sa.cols = cols;
    td_null_delay(delay);
    for (uint64_t seed = 1; seed <= seeds; seed++)
        CHECK(sa_try(seed));
    td_null_delay(0);
}

int
main(int argc, char **argv)
{
    double until;

    CHECK_OK(td_dev_get("null", &sa.dev));
    CHECK_OK(td_dev_get("null:1", &sa.other));
    td_mem_on_pressure(td_spill);
    td_mem_on_oom(td_spill_note);
    sa.steps = 60;
    if (argc > 1) { /* one seed again */
        sa.cols = argc > 2 ? atoi(argv[2]) : 8;
        sa.unruly = argc > 3;
        return !sa_try((uint64_t)atoll(argv[1]));
    }
    test_turns(8, 20, 0);
    sa.unruly = true;
    test_turns(8, 20, 0);
    until = stress_now() + stress_seconds();
    for (uint64_t seed = 1000; stress_now() < until; seed++)
        CHECK(sa_try(seed));
    printf("%d looks\n", sa.looked);
    return check_failures != 0;
}
