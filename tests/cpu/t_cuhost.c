/* t_cuhost.c - CUDA C++ texts against the headers for a CPU, over base/fiber.h, without the rest of the core.
 *
 * Each tests/cpu/cuhost/NAME.cu is compiled with every compiler there is, or with TREADLE_CXX.  Its kernels take (int *bad, int *memory): what is wrong
 * they count in *bad; memory is 64 KB of zeroes.  A row's name says how it is launched and what it shall fail with:
 * "what|grid|block|dynamic shared bytes|text", grid "c3": three blocks, cooperative.
 */
#include "base/fiber.h"
#include "cuhost/abi.h"

#include "check.h"

#include <dirent.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MEMORY = 64 << 10 };

static char failed[2048], printed[8192];
static size_t nprinted;

static int
host_run(int n, void (*fn)(void *ctx, int i), void *ctx)
{
    td_status st = td_fibers_run(n, fn, ctx);

    if (st && !*failed)
        snprintf(failed, sizeof failed, "%s", td_error());
    return !st;
}

static void
host_fail(const char *text)
{
    if (!*failed)
        snprintf(failed, sizeof failed, "%s", text);
}

static void
host_print(const char *text, size_t nbytes)
{
    if (nbytes > sizeof printed - 1 - nprinted)
        nbytes = sizeof printed - 1 - nprinted;
    memcpy(printed + nprinted, text, nbytes);
    nprinted += nbytes;
    printed[nprinted] = 0;
}

static size_t
host_extent(const void *p, size_t *before)
{
    (void)p;
    *before = 0;
    return 0;
}

static const td_cu_host host = {
    .abi = TD_CU_ABI,
    .run = host_run,
    .yield = td_fiber_yield,
    .barrier = td_fiber_barrier,
    .meet = td_fiber_meet,
    .fail = host_fail,
    .print = host_print,
    .extent = host_extent,
};

static const char *
field(const char *name, int k, char *out, size_t n)
{
    for (; k && *name; name++)
        k -= *name == '|';
    snprintf(out, n, "%.*s", (int)strcspn(name, "|"), name);
    return out;
}

static void
sizes(const char *text, uint32_t out[3])
{
    out[0] = out[1] = out[2] = 1;
    for (int i = 0; i < 3 && *text; i++) {
        char *end;

        out[i] = (uint32_t)strtoul(text, &end, 10);
        text = *end ? end + 1 : end;
    }
}

static void
launch(const td_cu_module *m, const td_cu_kernel *k, td_cu_block b)
{
    size_t nbytes = (*m->nstatic + 63) / 64 * 64 + b.nshared;

    b.shared = aligned_alloc(64, nbytes / 64 * 64 + 64);
    if (b.cooperative)
        k->block(&b);
    else
        for (uint32_t i = 0; i < b.grid[0] * b.grid[1] * b.grid[2]; i++) {
            b.index[0] = i % b.grid[0];
            b.index[1] = i / b.grid[0] % b.grid[1];
            b.index[2] = i / b.grid[0] / b.grid[1];
            memset(b.shared, 0xee, nbytes);
            k->block(&b);
        }
    free(b.shared);
}

static void
run_kernel(const td_cu_module *m, const td_cu_kernel *k, const char *where)
{
    char text[512], expect[256], *grid = text;
    int bad = 0, *pbad = &bad, *memory = calloc(1, MEMORY);
    void *param[] = {&pbad, &memory};
    td_cu_block b = {.param = param};

    *failed = *printed = 0;
    nprinted = 0;
    field(k->name, 1, text, sizeof text);
    if (*grid == 'c') {
        b.cooperative = 1;
        grid++;
    }
    sizes(grid, b.grid);
    sizes(field(k->name, 2, text, sizeof text), b.block);
    b.nshared = (uint32_t)atoi(field(k->name, 3, text, sizeof text));
    field(k->name, 4, expect, sizeof expect);
    launch(m, k, b);
    if (*expect == '=' ? strcmp(printed, expect + 1) != 0
        : *expect      ? !strstr(failed, expect)
                       : *failed)
        check_that(0, where, 0, k->name, *expect == '=' ? printed : failed);
    if (bad) {
        snprintf(text, sizeof text, "%d values are wrong; %.400s", bad, printed);
        check_that(0, where, 0, k->name, text);
    }
    free(memory);
}

static bool
compile(const char *compiler, const char *text, const char *object)
{
    pid_t pid = fork();
    int status = 0;

    if (!pid) {
        execlp(compiler, compiler, "-x", "c++", "-std=c++17", "-O2", "-fPIC", "-shared", "-Wall",
               "-Wextra", "-Werror", "-fvisibility=hidden", "-Isrc/cuhost", text, "-o", object,
               (char *)NULL);
        _exit(127);
    }
    return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) && !WEXITSTATUS(status);
}

static void
run_text(const char *compiler, const char *name)
{
    char path[512], object[] = "/tmp/td_cuhost_XXXXXX", where[600];
    int fd = mkstemp(object);
    const td_cu_module *m;
    void *lib;

    snprintf(path, sizeof path, "tests/cpu/cuhost/%s", name);
    snprintf(where, sizeof where, "%s: %s", compiler, name);
    if (fd >= 0)
        close(fd);
    if (check_that(fd >= 0 && compile(compiler, path, object), where, 0, "does not compile", "")) {
        lib = dlopen(object, RTLD_NOW | RTLD_LOCAL);
        m = lib ? dlsym(lib, "td_cu_module") : NULL;
        if (check_that(m && m->abi == TD_CU_ABI, where, 0, "does not load", lib ? "" : dlerror())) {
            m->init(&host);
            for (uint32_t i = 0; i < m->nkernel; i++)
                run_kernel(m, &m->kernel[i], where);
            printf("%s: %u kernels\n", where, m->nkernel);
        }
        if (lib)
            dlclose(lib);
    }
    unlink(object);
}

static bool
there(const char *compiler)
{
    char command[100];

    snprintf(command, sizeof command, "command -v %s >/dev/null 2>&1", compiler);
    return system(command) == 0; /* NOLINT: a fixed name */
}

int
main(int argc, char **argv)
{
    const char *asked = getenv("TREADLE_CXX"), *compilers[] = {asked ? asked : "clang++", "g++"};
    int found = 0;
    struct dirent *e;

    for (size_t c = 0; c < (asked ? 1 : 2); c++) {
        DIR *d = there(compilers[c]) ? opendir("tests/cpu/cuhost") : NULL;

        if (!d)
            continue;
        found++;
        while ((e = readdir(d))) {
            size_t n = strlen(e->d_name);

            if (n > 3 && !strcmp(e->d_name + n - 3, ".cu") &&
                (argc < 2 || !strcmp(e->d_name, argv[1])))
                run_text(compilers[c], e->d_name);
        }
        closedir(d);
    }
    return !found ? 77 : check_failures != 0;
}
