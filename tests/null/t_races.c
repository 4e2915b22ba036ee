/* t_races.c - threads over one graph on the null device, taking turns in an order drawn by a seed.
 *
 * Memory that is short, work that is late and calls that fail come on top.  TREADLE_STRESS=seconds goes on with further
 * seeds; a seed that found something is tried again with its number as argument and the setting's name.
 */
#include "dev/pool/spilled.h"
#include "null/null.h"

#include "stress_arrays.h"

#define LIMIT ((size_t)6 << 20)

typedef struct setting {
    const char *name;
    int cols, steps;
    bool unruly, faults, late, short_of_memory, at_large;
    uint64_t first, seeds; /* that are tried always */
} setting;

static const setting settings[] = {
    {.name = "plain", .cols = 8, .steps = 60, .first = 8, .seeds = 4},
    {.name = "unruly", .cols = 8, .steps = 60, .unruly = true, .first = 11, .seeds = 4},
    {.name = "late", .cols = 8, .steps = 60, .late = true, .first = 1, .seeds = 2},
    {.name = "faults", .cols = 8, .steps = 40, .faults = true, .first = 1, .seeds = 4},
    {.name = "short", .cols = 4096, .steps = 12, .short_of_memory = true, .first = 1, .seeds = 2},
    {.name = "large", .cols = 8, .steps = 60, .at_large = true, .first = 1, .seeds = 2},
};

enum { SETTINGS = sizeof settings / sizeof *settings, FAILED = 719 };

static const char *const calls[] = {
#define CU(name, symbol, need, params) #name,
#include "dev/foreign/driver.def"
};

static bool
try(const setting *x, uint64_t seed)
{
    uint64_t draw = seed;
    bool ok;

    sa.cols = x->cols;
    sa.steps = x->steps;
    sa.unruly = x->unruly;
    sa.faults = x->faults;
    sa.may_run_out = x->short_of_memory;
    stress.at_large = x->at_large;
    td_null_delay(x->late ? seed : 0);
    CHECK_OK(td_mem_limit(sa.dev, x->short_of_memory ? LIMIT : SIZE_MAX));
    if (x->faults)
        td_null_fail(calls[stress_draw(&draw, sizeof calls / sizeof *calls)],
                     1 + (int)stress_draw(&draw, 40), FAILED);
    ok = sa_try(seed);
    td_null_fail("cuInit", 0, 0);
    td_null_delay(0);
    if (!ok)
        printf("setting %s\n", x->name);
    CHECK(td_spill_stats(sa.dev).on_host == 0);
    return CHECK(ok);
}

int
main(int argc, char **argv)
{
    double until;

    CHECK_OK(td_dev_get("null", &sa.dev));
    CHECK_OK(td_dev_get("null:1", &sa.other));
    td_mem_on_pressure(td_spill);
    td_mem_on_oom(td_spill_note);
    for (int i = 0; i < SETTINGS; i++) {
        const setting *x = &settings[i];

        if (argc > 2 && strcmp(argv[2], x->name) != 0)
            continue;
        for (uint64_t k = 0; k < (argc > 1 ? 1 : x->seeds); k++)
            (void)try(x, argc > 1 ? strtoull(argv[1], NULL, 10) : x->first + k);
    }
    until = stress_now() + (argc > 1 ? 0 : stress_seconds());
    for (uint64_t seed = 1000; stress_now() < until; seed++)
        (void)try(&settings[seed % SETTINGS], seed);
    CHECK(argc > 1 || sa.looked > 100);
    return check_failures != 0;
}
