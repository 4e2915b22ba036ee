/* t_parallel.c - the thread pool: every index once, nesting, concurrent callers, fork, latency. */
#include "base/limits.h"
#include "base/parallel.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int failures;

static void
check(int ok, const char *what)
{
    if (!ok) {
        printf("t_parallel: %s\n", what);
        failures++;
    }
}

static void
count_up(void *ctx, int64_t i)
{
    atomic_fetch_add(&((atomic_int *)ctx)[i], 1);
}

static int
all_once(const atomic_int *seen, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (seen[i] != 1)
            return 0;
    return 1;
}

static int
runs_each_once(int64_t n)
{
    atomic_int *seen = calloc((size_t)n + 1, sizeof *seen);
    int ok;

    td_parallel(n, count_up, seen);
    ok = seen && all_once(seen, n) && seen[n] == 0;
    free(seen);
    return ok;
}

static void
nested(void *ctx, int64_t i)
{
    atomic_int *seen = ctx;

    td_parallel(10, count_up, seen + 10 * i);
}

static void *
caller(void *arg)
{
    int ok = 1;

    (void)arg;
    for (int r = 0; r < 300; r++)
        ok &= runs_each_once(r % 70);
    return ok ? NULL : (void *)1;
}

static void
test_callers(void)
{
    pthread_t t[4];
    void *bad, *any = NULL;

    for (int i = 0; i < 4; i++)
        pthread_create(&t[i], NULL, caller, NULL);
    for (int i = 0; i < 4; i++) {
        pthread_join(t[i], &bad);
        any = bad ? bad : any;
    }
    check(!any, "concurrent callers: an index was missed or run twice");
}

static atomic_bool stop;

static void *
keep_busy(void *arg)
{
    (void)arg;
    while (!atomic_load(&stop))
        (void)runs_each_once(100);
    return NULL;
}

/* Forked while another thread's job may run: the child, which lacks that thread, starts a pool of its own. */
static void
test_fork(void)
{
    int width = td_parallel_width(), st = 0, bad = 0;
    pthread_t other;

    pthread_create(&other, NULL, keep_busy, NULL);
    for (int i = 0; i < 20; i++) {
        pid_t p = fork();

        if (p == 0)
            _exit(runs_each_once(1000) && runs_each_once(70) && td_parallel_width() == width ? 0
                                                                                             : 1);
        bad += !(waitpid(p, &st, 0) == p && WIFEXITED(st) && WEXITSTATUS(st) == 0);
    }
    atomic_store(&stop, true);
    pthread_join(other, NULL);
    check(!bad, "fork: the child's pool is broken");
    check(runs_each_once(1000), "fork: the parent's pool is broken");
}

static void
nothing(void *ctx, int64_t i)
{
    (void)ctx;
    (void)i;
}

static double
now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static void
show_latency(void)
{
    double best = 1e9;

    for (int r = 0; r < 20; r++) {
        double t = now_us();

        for (int i = 0; i < 500; i++)
            td_parallel(2, nothing, NULL);
        t = (now_us() - t) / 500;
        best = t < best ? t : best;
    }
    printf("t_parallel: %d threads, an empty td_parallel(2) takes %.2f us\n", td_parallel_width(),
           best);
}

int
main(void)
{
    atomic_int seen[200] = {0};

    check(td_limit_cpus() >= 1 && td_parallel_width() >= 1, "width below 1");
    check(td_limit_memory() > 1 << 20, "no memory");
    for (int64_t n = 0; n < 300; n++)
        check(runs_each_once(n), "an index was missed or run twice");
    check(runs_each_once(1000003), "a million indices: one was missed or run twice");
    td_parallel(20, nested, seen);
    check(all_once(seen, 200), "nested calls: an index was missed or run twice");
    usleep(2000); /* the workers sleep now */
    check(runs_each_once(100), "sleeping workers: an index was missed or run twice");
    test_callers();
    test_fork();
    show_latency();
    return failures != 0;
}
