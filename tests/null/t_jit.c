/* t_jit.c - kernels through the jit on the CPU and the null device, and the cache between processes.
 *
 * Options are read once a process, so each case is a process of its own: this program, called with the
 * name of a device and how many kernels it should compile and load.
 */
#include "jit/jit.h"

#include "again.h"
#include "check.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N = 100, THREADS = 4, PROCESSES = 8 };

/* ---- what a case's process does ---- */

static bool
good(pid_t p)
{
    int status;

    return p > 0 && waitpid(p, &status, 0) == p && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* out[i] = a[i] + b[i], i < n; *ctx counts the calls. */
static td_status
build_add(void *ctx, td_fn *f)
{
    td_val a = td_param_ptr(f, TD_F32), b = td_param_ptr(f, TD_F32), out = td_param_ptr(f, TD_F32);
    td_val n = td_param(f, TD_I64), bid = td_cast(f, td_index(f, OP_bid, 0), TD_I64);
    td_val bdim = td_cast(f, td_index(f, OP_bdim, 0), TD_I64);
    td_val tid = td_cast(f, td_index(f, OP_tid, 0), TD_I64);
    td_val i = TD_E2(f, add, TD_E2(f, multiply, bid, bdim), tid);

    atomic_fetch_add((atomic_int *)ctx, 1);
    td_if(f, TD_E2(f, less, i, n));
    td_store(f, out, i,
             TD_E2(f, add, td_load(f, a, i, TD_NONE, 1, 0), td_load(f, b, i, TD_NONE, 1, 0)),
             TD_NONE, 0);
    td_end(f);
    return TD_OK;
}

static td_status
build_nothing(void *ctx, td_fn *f)
{
    (void)ctx;
    (void)f;
    return td_fail(TD_ERR_VALUE, "nothing to build");
}

static td_hash
key_of(const char *what)
{
    return td_hash_add(TD_HASH_INIT, what, strlen(what));
}

static void
run_add(td_dev *d, td_kernel *k, int64_t n)
{
    float host[3][N] = {0};
    td_stream *s = td_dev_stream(d);
    td_buf *buf[3] = {0};
    bool cpu = td_dev_info(d)->kind == TD_DEV_CPU;
    td_dims dims = {.grid = {cpu ? N : 2, 1, 1}, .block = {cpu ? 1 : 64, 1, 1}};

    for (int i = 0; i < N; i++) {
        host[0][i] = (float)i;
        host[1][i] = 0.5f;
    }
    for (int i = 0; i < 3; i++) {
        CHECK_OK(td_buf_new(d, s, sizeof host[i], &buf[i]));
        CHECK_OK(td_copy_in(s, buf[i]->ptr, host[i], sizeof host[i]));
    }
    CHECK_OK(td_jit_launch(k, s, &dims,
                           (uint64_t[]){buf[0]->ptr, buf[1]->ptr, buf[2]->ptr, (uint64_t)n}, 4));
    CHECK_OK(td_copy_out(s, host[2], buf[2]->ptr, sizeof host[2]));
    for (int i = 0; i < N; i++)
        CHECK(host[2][i] == (i < n ? (float)i + 0.5f : 0));
    for (int i = 0; i < 3; i++)
        td_buf_unref(buf[i]);
}

static void
check_text(td_dev *d)
{
    static const struct {
        const char *stage, *word;
    } stages[] = {
        {"ir", "store"}, {"llvm", "define"}, {"ptx", ".visible .entry"}, {"asm", "\tret"}};
    td_arena mem = {0};
    td_fn f = td_fn_new(&mem, "k");
    atomic_int calls = 0;
    char *text = NULL;

    CHECK_OK(build_add(&calls, &f));
    CHECK_OK(td_fn_finish(&f));
    for (size_t i = 0; i < sizeof stages / sizeof *stages; i++) {
        CHECK_OK(td_jit_text(&f, stages[i].stage, strcmp(stages[i].stage, "ptx") ? NULL : "sm_90",
                             &text));
        CHECK(text && strstr(text, stages[i].word));
        free(text);
    }
    CHECK(td_jit_text(&f, "smoke", NULL, &text) == TD_ERR_VALUE);
    CHECK(td_jit_lanes(d, 4) >= 4 && td_jit_lanes(d, 4) <= 16 && td_jit_lanes(d, 64) == 1);
    td_arena_free(&mem);
}

/* One kernel, asked for twice. */
static void
one_kernel(td_dev *d)
{
    atomic_int calls = 0;
    td_kernel *k = NULL, *again = NULL;

    CHECK(td_jit_get(d, key_of("add"), build_nothing, NULL, &k) == TD_ERR_VALUE ||
          td_jit_stats().loaded == 1); /* no build from the disk; else a failure is not kept */
    if (!CHECK_OK(td_jit_get(d, key_of("add"), build_add, &calls, &k)))
        return;
    CHECK_OK(td_jit_get(d, key_of("add"), build_add, &calls, &again));
    CHECK(k == again && calls <= 1 && strncmp(td_jit_name(k), "k_", 2) == 0);
    run_add(d, k, N - 7);
    CHECK(td_jit_stats().launches == 1);
}

typedef struct asking {
    td_dev *d;
    const char *key;
    atomic_int *calls;
    td_kernel *k;
} asking;

static void *
ask(void *arg)
{
    asking *a = arg;

    CHECK_OK(td_jit_get(a->d, key_of(a->key), build_add, a->calls, &a->k));
    return NULL;
}

/* Threads that ask for the same kernels at once; each is built once. */
static void
many_threads(td_dev *d)
{
    static const char *const keys[2] = {"one", "other"};
    pthread_t thread[THREADS];
    atomic_int calls = 0;
    asking a[THREADS];

    td_jit_warm(d);
    for (int i = 0; i < THREADS; i++) {
        a[i] = (asking){.d = d, .key = keys[i % 2], .calls = &calls};
        pthread_create(&thread[i], NULL, ask, &a[i]);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    CHECK(calls == 2 && a[0].k == a[2].k && a[1].k == a[3].k && a[0].k != a[1].k);
    CHECK(td_jit_stats().compiled == 2);
    run_add(d, a[0].k, N);
}

static atomic_int entered, may_leave;

static td_status
build_slowly(void *ctx, td_fn *f)
{
    atomic_store(&entered, 1);
    while (!atomic_load(&may_leave))
        usleep(1000);
    return build_add(ctx, f);
}

static void *
ask_slowly(void *arg)
{
    asking *a = arg;

    CHECK_OK(td_jit_get(a->d, key_of("slow"), build_slowly, a->calls, &a->k));
    return NULL;
}

/* A child that is forked while a kernel is being made has not the thread that makes it. */
static void
fork_while_building(td_dev *d)
{
    atomic_int calls = 0;
    asking a = {.d = d, .calls = &calls};
    pthread_t thread;
    pid_t child;

    pthread_create(&thread, NULL, ask_slowly, &a);
    while (!atomic_load(&entered))
        usleep(1000);
    child = fork();
    if (child == 0) {
        alarm(60);
        CHECK_OK(td_jit_get(d, key_of("slow"), build_add, &calls, &a.k));
        run_add(d, a.k, N);
        _exit(check_failures != 0);
    }
    atomic_store(&may_leave, 1);
    pthread_join(thread, NULL);
    CHECK(good(child));
    run_add(d, a.k, N);
}

/* The null device sees what a GPU would not: one element too many. */
static void
out_of_bounds(td_dev *d)
{
    td_dims dims = {.grid = {1, 1, 1}, .block = {8, 1, 1}};
    atomic_int calls = 0;
    td_kernel *k = NULL;
    td_buf *b = NULL;

    if (!CHECK_OK(td_jit_get(d, key_of("add"), build_add, &calls, &k)) ||
        !CHECK_OK(td_buf_new(d, NULL, 7 * sizeof(float), &b)))
        return;
    CHECK(td_jit_launch(k, td_dev_stream(d), &dims, (uint64_t[]){b->ptr, b->ptr, b->ptr, 8}, 4) ||
          td_dev_sync(d));
    CHECK(strstr(td_error(), td_jit_name(k)));
    td_buf_unref(b);
}

static int
case_main(const char *what, const char *device, unsigned compiled, unsigned loaded, bool warned)
{
    td_dev *d = NULL;
    const char *warning;

    if (!CHECK_OK(td_dev_get(device, &d)))
        return 1;
    if (strcmp(what, "one") == 0)
        one_kernel(d);
    else if (strcmp(what, "threads") == 0)
        many_threads(d);
    else if (strcmp(what, "fork") == 0)
        fork_while_building(d);
    else if (strcmp(what, "text") == 0)
        check_text(d);
    else
        out_of_bounds(d);
    warning = td_jit_warning();
    CHECK(!warned == !warning && !td_jit_warning());
    check_that(td_jit_stats().compiled == compiled && td_jit_stats().loaded == loaded, device,
               (int)compiled, what, "compiled or loaded another number of kernels");
    return check_failures != 0;
}

/* ---- the cases ---- */

static char cache[PATH_MAX];

static pid_t
begin(const char *what, const char *device, const char *compiled, const char *loaded,
      const char *warned)
{
    pid_t p = fork();

    if (p == 0)
        test_again((const char *[]){"t_jit", what, device, compiled, loaded, warned, NULL});
    return p;
}

static bool
passes(const char *what, const char *device, const char *compiled, const char *loaded,
       const char *warned)
{
    return good(begin(what, device, compiled, loaded, warned));
}

/* Calls change(path) for each file of the cache but its locks; how many there were. */
static int
each_entry(int (*change)(const char *path))
{
    DIR *dir = opendir(cache);
    char path[PATH_MAX + 300];
    int n = 0;

    for (struct dirent *e; dir && (e = readdir(dir));)
        if (e->d_name[0] != '.' || strncmp(e->d_name, ".new", 4) == 0) {
            snprintf(path, sizeof path, "%s/%s", cache, e->d_name);
            CHECK(change(path) == 0);
            n++;
        }
    if (dir)
        closedir(dir);
    return n;
}

static int
damage_last_byte(const char *path)
{
    int fd = open(path, O_RDWR), bad = 1;
    unsigned char byte;
    struct stat s;

    if (fd >= 0 && fstat(fd, &s) == 0 && pread(fd, &byte, 1, s.st_size - 1) == 1) {
        byte ^= 0x10;
        bad = pwrite(fd, &byte, 1, s.st_size - 1) != 1;
    }
    close(fd);
    return bad;
}

static int
halve(const char *path)
{
    struct stat s;

    return stat(path, &s) || truncate(path, s.st_size / 2);
}

static int
open_to_all(const char *path)
{
    return chmod(path, 0666);
}

static int
is_mine(const char *path)
{
    struct stat s;

    return stat(path, &s) || (s.st_mode & 0777) != 0600 || strstr(path, ".new-");
}

static void
entries_that_may_not_be_used(const char *device)
{
    static int (*const change[])(const char *) = {damage_last_byte, halve, open_to_all};

    CHECK(passes("one", device, "1", "0", "0"));
    CHECK(passes("one", device, "0", "1", "0"));
    for (size_t i = 0; i < sizeof change / sizeof *change; i++) {
        CHECK(each_entry(change[i]) == 1);
        CHECK(passes("one", device, "1", "0", "0"));
        CHECK(each_entry(is_mine) == 1);
        CHECK(passes("one", device, "0", "1", "0"));
    }
    CHECK(each_entry(remove) == 1);
}

static void
directories_that_may_not_be_used(void)
{
    CHECK(chmod(cache, 0777) == 0);
    CHECK(passes("one", "cpu", "1", "0", "1"));
    CHECK(each_entry(is_mine) == 0);
    CHECK(chmod(cache, 0700) == 0);
    setenv("TREADLE_CACHE_DIR", "/dev/null/cache", 1);
    CHECK(passes("one", "cpu", "1", "0", "1"));
    setenv("TREADLE_CACHE_DIR", "", 1);
    CHECK(passes("one", "cpu", "1", "0", "0"));
    unsetenv("TREADLE_CACHE_DIR");
    CHECK(passes("one", "cpu", "1", "0", "0")); /* below HOME, made */
    CHECK(passes("one", "cpu", "0", "1", "0"));
    setenv("TREADLE_CACHE_DIR", cache, 1);
}

static void
processes_at_once(void)
{
    pid_t p[PROCESSES];

    for (int i = 0; i < PROCESSES; i++)
        p[i] = begin("any", "null", "", "", "0");
    for (int i = 0; i < PROCESSES; i++)
        CHECK(good(p[i]));
    CHECK(each_entry(is_mine) == 1);
    CHECK(each_entry(remove) == 1);
}

int
main(int argc, char **argv)
{
    char home[] = "/tmp/t_jit-XXXXXX", command[64];

    if (argc == 6 && strcmp(argv[1], "any") == 0) { /* compiled by itself or by another process */
        td_dev *d;
        td_kernel *k;
        atomic_int calls = 0;

        CHECK_OK(td_dev_get(argv[2], &d));
        CHECK_OK(td_jit_get(d, key_of("add"), build_add, &calls, &k));
        run_add(d, k, N);
        CHECK(!td_jit_warning());
        return check_failures != 0;
    }
    if (argc == 6)
        return case_main(argv[1], argv[2], (unsigned)atoi(argv[3]), (unsigned)atoi(argv[4]),
                         atoi(argv[5]));
    if (!mkdtemp(home))
        return 1;
    setenv("HOME", home, 1);
    snprintf(cache, sizeof cache, "%s/cache", home);
    setenv("TREADLE_CACHE_DIR", cache, 1);
    entries_that_may_not_be_used("cpu");
    entries_that_may_not_be_used("null");
    directories_that_may_not_be_used();
    processes_at_once();
    CHECK(passes("threads", "cpu", "2", "0", "0"));
    CHECK(passes("fork", "cpu", "1", "0", "0"));
    CHECK(passes("text", "cpu", "0", "0", "0"));
    CHECK(passes("bounds", "null", "1", "0", "0"));
    snprintf(command, sizeof command, "rm -rf %s", home);
    CHECK(system(command) == 0);
    return check_failures != 0;
}
