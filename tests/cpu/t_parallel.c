/* t_parallel.c - the thread pool: every index once, nesting, concurrent callers, fork, latency. */
#include "base/limits.h"
#include "base/parallel.h"

#include "check.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

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
    CHECK(!any);
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
    CHECK(!bad);
    CHECK(runs_each_once(1000));
}

static void
nothing(void *ctx, int64_t i)
{
    (void)ctx;
    (void)i;
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

    CHECK(td_limit_cpus() >= 1 && td_parallel_width() >= 1);
    CHECK(td_limit_memory() > 1 << 20);
    for (int64_t n = 0; n < 300; n++)
        CHECK(runs_each_once(n));
    CHECK(runs_each_once(1000003));
    td_parallel(20, nested, seen);
    CHECK(all_once(seen, 200));
    usleep(2000); /* the workers sleep now */
    CHECK(runs_each_once(100));
    test_callers();
    test_fork();
    show_latency();
    return check_failures != 0;
}
