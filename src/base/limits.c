/* limits.c - how much of the machine this process may use.
 *
 * A container or a batch system limits a process by a control group rather than by hiding
 * processors: version 2 names the group in /proc/self/cgroup, and every group up to the root may set
 * a limit.  Version 1 is read at the place where containers mount their own group.
 */
#include "base/limits.h"

#include <inttypes.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The first line of a file; false when it cannot be read. */
static bool
line_of(const char *path, char *line, int n)
{
    FILE *f = fopen(path, "re");
    bool ok = f && fgets(line, n, f);

    if (f)
        fclose(f);
    return ok;
}

/* The name of the process's version 2 group; "" for the root. */
static void
group_of_self(char *group, size_t n)
{
    char line[512];
    FILE *f = fopen("/proc/self/cgroup", "re");

    group[0] = 0;
    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, "0::", 3) == 0) {
            line[strcspn(line, "\n")] = 0;
            snprintf(group, n, "%s", strcmp(line + 3, "/") == 0 ? "" : line + 3);
        }
    if (f)
        fclose(f);
}

/* Calls see(line) with the first line of `file` in the process's group and in each group above
 * it. */
static void
each_group(const char *file, void (*see)(const char *line, void *ctx), void *ctx)
{
    char group[512], path[640], line[128];

    group_of_self(group, sizeof group);
    for (;;) {
        snprintf(path, sizeof path, "/sys/fs/cgroup%s/%s", group, file);
        if (line_of(path, line, sizeof line))
            see(line, ctx);
        if (!group[0])
            return;
        *strrchr(group, '/') = 0;
    }
}

static void
see_cpu_max(const char *line, void *ctx)
{
    int64_t quota, period;
    int *cpus = ctx, n;

    if (sscanf(line, "%" SCNd64 " %" SCNd64, &quota, &period) != 2 || quota <= 0 || period <= 0)
        return; /* "max 100000" */
    n = (int)((quota + period - 1) / period);
    if (n < *cpus)
        *cpus = n;
}

int
td_limit_cpus(void)
{
    char quota[64], period[64], both[160];
    cpu_set_t set;
    int cpus;

    if (sched_getaffinity(0, sizeof set, &set) == 0)
        cpus = CPU_COUNT(&set);
    else
        /* there are more processors than a cpu_set_t holds */
        cpus = (int)sysconf(_SC_NPROCESSORS_ONLN);
    each_group("cpu.max", see_cpu_max, &cpus);
    if (line_of("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", quota, sizeof quota) &&
        line_of("/sys/fs/cgroup/cpu/cpu.cfs_period_us", period, sizeof period)) {
        snprintf(both, sizeof both, "%s %s", quota, period);
        see_cpu_max(both, &cpus);
    }
    return cpus < 1 ? 1 : cpus;
}

static void
see_memory_max(const char *line, void *ctx)
{
    uint64_t n;
    size_t *bytes = ctx;

    if (sscanf(line, "%" SCNu64, &n) == 1 && n > 0 && n < *bytes)
        *bytes = n;
}

size_t
td_limit_group(void)
{
    size_t bytes = SIZE_MAX;
    char line[64];

    each_group("memory.max", see_memory_max, &bytes);
    if (line_of("/sys/fs/cgroup/memory/memory.limit_in_bytes", line, sizeof line))
        see_memory_max(line, &bytes);
    return bytes;
}

size_t
td_limit_memory(void)
{
    size_t bytes = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE),
           group = td_limit_group();

    return group < bytes ? group : bytes;
}

size_t
td_limit_cache(void)
{
    static _Atomic size_t known; /* bytes + 1; 0: not read yet */
    size_t n = known, kilobytes = 0;
    char line[64], file[64];

    if (n)
        return n - 1;
    for (int level = 0; level < 5;
         /* sysconf gives the size of a whole processor's cache; here it is one cache's */
         level++) {
        snprintf(file, sizeof file, "/sys/devices/system/cpu/cpu0/cache/index%d/size", level);
        if (line_of(file, line, sizeof line))
            kilobytes = strtoull(line, NULL, 10);
    }
    known = kilobytes * 1024 + 1;
    return kilobytes * 1024;
}
