/* opts.c - the options, read from the environment once. */
#include "base/opts.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EAGER = 2048, KEPT = 4096 };

static td_opts opts;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static const char *
text_of(const char *name)
{
    const char *v = getenv(name);

    return v ? strdup(v) : NULL; /* lives as long as the process */
}

/* Bytes of a number that may end in K, M or G.  Returns dflt if text is NULL or not such a
 * number. */
static size_t
parse_bytes(const char *text, size_t dflt)
{
    static const char units[] = "KMG";
    char *end;
    double n = text ? strtod(text, &end) : -1;
    const char *unit;

    if (n < 0 || end == text || n > 1e15)
        return dflt;
    unit = *end ? strchr(units, *end & ~32) : NULL;
    if (*end && (!unit || end[1]))
        return dflt;
    return (size_t)(n * (double)((size_t)1 << (unit ? 10 * (unit - units + 1) : 0)));
}

static void
read_env(void)
{
    const char *threads = getenv("TREADLE_THREADS");
    const char *eager = getenv("TREADLE_EAGER");
    const char *kept = getenv("TREADLE_KERNELS_KEPT");
    const char *sync = getenv("TREADLE_SYNC");
    const char *kernels = getenv("TREADLE_KERNELS");
    const char *debug = getenv("TREADLE_DEBUG");

    opts.device = text_of("TREADLE_DEVICE");
    opts.dump = text_of("TREADLE_DUMP");
    opts.cache_dir = text_of("TREADLE_CACHE_DIR");
    opts.debug = debug && *debug && strcmp(debug, "0") != 0;
    if (kernels && strcmp(kernels, "interpret") == 0)
        opts.kernels = TD_KERNELS_INTERPRET;
    if (kernels && strcmp(kernels, "switch") == 0)
        opts.kernels = TD_KERNELS_SWITCH;
    opts.cache_size = parse_bytes(getenv("TREADLE_CACHE_SIZE"), (size_t)1 << 30);
    opts.cpu = text_of("TREADLE_CPU");
    opts.cxx = text_of("TREADLE_CXX");
    opts.include = text_of("TREADLE_INCLUDE");
    opts.profile = text_of("TREADLE_PROFILE");
    opts.checks = text_of("TREADLE_CHECKS");
    opts.threads = threads ? atoi(threads) : 0;
    opts.eager = eager && *eager ? atoi(eager) : EAGER;
    opts.kept = kept && *kept ? atoi(kept) : KEPT;
    opts.sync = sync && strcmp(sync, "0") != 0;
}

const td_opts *
td_options(void)
{
    pthread_once(&once, read_env);
    return &opts;
}

bool
td_dump_wants(const char *stage)
{
    size_t n = strlen(stage);

    for (const char *p = td_options()->dump; p && *p;
         p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL)
        if (strncmp(p, stage, n) == 0 && (p[n] == ',' || p[n] == 0))
            return true;
    return false;
}

void
td_dump(const char *stage, const char *text)
{
    if (td_dump_wants(stage))
        fprintf(stderr, "%s\n", text);
}
