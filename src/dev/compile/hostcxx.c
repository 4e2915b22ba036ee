/* hostcxx.c - CUDA C++ for the CPU: the system's C++ compiler turns the rewritten text into a
 * shared object.
 *
 * clang++ comes before g++, since it vectorises loops over threads that g++ 12 leaves scalar.
 * TREADLE_CXX names another.
 */
#include "dev/compile/compiler.h"

#include "base/hash.h"
#include "base/opts.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

enum { CLANG_NEWEST = 30, CLANG_OLDEST = 10 };

/* ---- finding the compiler ---- */

static struct {
    pthread_mutex_t mu;
    char *path; /* the value of PATH when the compiler was looked for */
    char found[PATH_MAX];
} cxx = {.mu = PTHREAD_MUTEX_INITIALIZER};

static bool
find_hostcxx(char *buf, size_t n)
{
    static const char *const plain[] = {"g++", "c++"};
    const char *given = td_options()->cxx;
    char name[32];

    if (given)
        return td_spawn_find(given, buf, n) != NULL;
    if (td_spawn_find("clang++", buf, n))
        return true;
    for (int v = CLANG_NEWEST; v >= CLANG_OLDEST; v--) {
        snprintf(name, sizeof name, "clang++-%d", v);
        if (td_spawn_find(name, buf, n))
            return true;
    }
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (td_spawn_find(plain[i], buf, n))
            return true;
    return false;
}

static td_status
find_compiler(char *buf, size_t n)
{
    const char *path = getenv("PATH");
    bool ok;

    pthread_mutex_lock(&cxx.mu);
    if (!cxx.found[0] || !cxx.path || strcmp(cxx.path, path ? path : "") != 0) {
        free(cxx.path);
        cxx.path = strdup(path ? path : "");
        if (!find_hostcxx(cxx.found, sizeof cxx.found))
            cxx.found[0] = 0;
    }
    ok = snprintf(buf, n, "%s", cxx.found) > 0;
    pthread_mutex_unlock(&cxx.mu);
    if (ok)
        return TD_OK;
    return td_fail(TD_ERR_LIBRARY,
                   td_options()->cxx
                       ? "CUDA C++ on the CPU: TREADLE_CXX names %s, which cannot be run"
                       : "CUDA C++ on the CPU needs a C++ compiler on PATH: clang++ (better) or "
                         "g++, of the system's package clang or g++%s",
                   td_options()->cxx ? td_options()->cxx : "");
}

/* What -march=native depends on. */
static td_hash
this_cpu(void)
{
    td_hash h = TD_HASH_INIT;

#if defined(__x86_64__)
    static const unsigned leaves[][2] = {{1, 0}, {7, 0}, {7, 1}, {0xd, 1}, {0x80000001u, 0}};

    for (size_t i = 0; i < sizeof leaves / sizeof *leaves; i++) {
        unsigned a = 0, b = 0, c = 0, d = 0;

        if (__get_cpuid_count(leaves[i][0], leaves[i][1], &a, &b, &c, &d)) {
            if (leaves[i][0] == 1)
                b = 0; /* the core's own number, which does not count */
            h = td_hash_u64(h, (uint64_t)a << 32 | b);
            h = td_hash_u64(h, (uint64_t)c << 32 | d);
        }
    }
#else
    h = td_hash_u64(h, getauxval(AT_HWCAP));
    h = td_hash_u64(h, getauxval(AT_HWCAP2));
#endif
    return h;
}

static const char *
march(void)
{
    return td_options()->cpu ? td_options()->cpu : "native";
}

/* Identifies the compiler by its file: starting it would take longer than everything else a
 * cached program needs. */
static td_status
hostcxx_version(char *out, size_t n)
{
    char path[PATH_MAX], hex[33];
    struct stat s;

    TD_TRY(find_compiler(path, sizeof path));
    if (stat(path, &s))
        memset(&s, 0, sizeof s);
    td_hash_hex(this_cpu(), hex);
    snprintf(out, n, "%s %lld.%09ld %lld for %s %s", path, (long long)s.st_mtim.tv_sec,
             s.st_mtim.tv_nsec, (long long)s.st_size, march(), td_options()->cpu ? "" : hex);
    return TD_OK;
}

/* ---- text and command line ---- */

static bool
is_clang(const char *path)
{
    const char *name = strrchr(path, '/');

    return strstr(name ? name : path, "clang") != NULL;
}

static void
add_options(td_args *a, const td_source_job *job)
{
    td_args all = {0};

    td_args_options(&all, job, TD_DIALECT_HOST);
    for (int i = 0; i < all.n; i++)
        if (strncmp(all.v[i], "-D", 2) != 0 && strncmp(all.v[i], "-U", 2) != 0)
            td_args_add(a, "%s", all.v[i]);
    a->failed = a->failed || all.failed;
    td_args_free(&all);
}

/* The options keep errno out of loops, which would not be vectorised with it, and unique
 * symbols out of modules: those would keep a module from being unloaded and merge it with
 * others. */
static void
add_command(td_args *a, const char *path, const td_source_job *job, const td_temp *t)
{
    static const char *const flags[] = {
        "-x",
        "c++",
        "-std=c++17",
        "-shared",
        "-fPIC",
        "-fvisibility=hidden",
        "-fsigned-char", /* as on a GPU; Arm's compilers have it unsigned */
        "-fno-math-errno",
        "-fno-trapping-math",
        "-fno-strict-aliasing",
        "-Wl,--as-needed",
        "-Wno-attributes",
        "-Wno-unknown-pragmas",
    };
    char dir[PATH_MAX];

    td_args_add(a, "%s", path);
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        td_args_add(a, "%s", flags[i]);
    td_args_add(a, job->debug ? "-O1" : "-O3");
    if (job->debug)
        td_args_add(a, "-g");
    td_args_add(a, "-march=%s", march());
    /* warnings about the loops of regions.h are not the user's */
    td_args_add(a, is_clang(path) ? "-Wno-pass-failed" : "-Wno-aggressive-loop-optimizations");
    if (!is_clang(path))
        td_args_add(a, "-fno-gnu-unique");
#if defined(__x86_64__) && defined(__GLIBC__)
    /* exp and its like in loops become vector functions of the C library, as in compiled
     * Python kernels */
    else {
        td_args_add(a, "-fveclib=libmvec");
        td_args_add(a, "-lmvec");
    }
#endif
    td_args_add(a, "-I%s", td_source_include(dir, sizeof dir));
    add_options(a, job);
    td_args_add(a, "-o");
    td_args_add(a, "%s", td_temp_path(t, "kernel.so", dir, sizeof dir));
    td_args_add(a, "%s", td_temp_path(t, "kernel.cpp", dir, sizeof dir));
}

/* In a shared object, symbols are the names that the job asked for. */
static td_status
same_symbols(const td_source_job *job, td_image *out)
{
    out->symbol = calloc((size_t)job->nname + 1, sizeof *out->symbol);
    for (int i = 0; out->symbol && i < job->nname; i++) {
        out->symbol[i] = strdup(job->name[i]);
        if (!out->symbol[i])
            break;
        out->nsymbol++;
    }
    return out->nsymbol == job->nname ? TD_OK : td_fail(TD_ERR_NOMEM, "no memory for names");
}

/* Turns "-DN=4" and "-UN" into lines of the text, after the #include of our header: on the
 * command line they would change names in the headers that it includes. */
static void
add_macros(td_text *text, const td_source_job *job)
{
    td_args a = {0};

    td_args_options(&a, job, TD_DIALECT_HOST);
    for (int i = 0; i < a.n; i++) {
        const char *name = a.v[i] + 2, *value = strchr(name, '=');

        if (strncmp(a.v[i], "-U", 2) == 0)
            td_text_addf(text, "#undef %s\n", name);
        else if (strncmp(a.v[i], "-D", 2) == 0 && value)
            td_text_addf(text, "#define %.*s %s\n", (int)(value - name), name, value + 1);
        else if (strncmp(a.v[i], "-D", 2) == 0)
            td_text_addf(text, "#define %s 1\n", name);
    }
    text->failed = text->failed || a.failed;
    td_args_free(&a);
}

/* Does the text contain a line "typedef … name;"? */
static bool
defines(const char *text, const char *name)
{
    size_t n = strlen(name);

    for (const char *at = strstr(text, name); at; at = strstr(at + n, name)) {
        const char *begin = at, *end = at + n + strspn(at + n, " \t");

        while (begin > text && !strchr(";{}\n", begin[-1]))
            begin--;
        begin += strspn(begin, " \t");
        if (*end == ';' && begin < at && strchr(" \t", at[-1]) && strncmp(begin, "typedef", 7) == 0)
            return true;
    }
    return false;
}

/* NVRTC has no <stdint.h> unless it is included, so texts may define its types.  Ours are
 * defined already, so the text's types get other names. */
static void
add_own_types(td_text *text, const char *rest)
{
    static const char *const names[] = {"int8_t",  "int16_t",  "int32_t",  "int64_t",
                                        "uint8_t", "uint16_t", "uint32_t", "uint64_t"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (defines(rest, names[i]) && !strstr(rest, "stdint"))
            td_text_addf(text, "#define %s td_own_%s\n", names[i], names[i]);
}

static td_status
write_text(const td_source_job *job, const td_temp *t)
{
    const char *rest = strstr(job->text, "treadle_cuda.h");
    td_text text = {0};
    td_status st;

    rest = rest ? strchr(rest, '\n') : NULL;
    rest = rest ? rest + 1 : job->text;
    td_text_add(&text, job->text, (size_t)(rest - job->text));
    add_macros(&text, job);
    add_own_types(&text, rest);
    td_text_addf(&text, "%s", rest);
    st = text.failed ? td_fail(TD_ERR_NOMEM, "no memory for the text of %s", job->file)
                     : td_temp_write(t, "kernel.cpp", text.s, text.n);
    td_text_free(&text);
    return st;
}

static td_status
hostcxx_run(const td_source_job *job, const td_temp *t, td_image *out)
{
    td_text said = {0};
    td_args args = {0};
    char path[PATH_MAX];
    int code = 0;
    td_status st;

    TD_TRY(find_compiler(path, sizeof path));
    TD_TRY(write_text(job, t));
    add_command(&args, path, job, t);
    st = td_args_check(&args);
    if (!st)
        st = td_spawn_run(args.v, &said, &code);
    if (!st && code)
        st = td_compile_failed(job, said.s);
    td_args_free(&args);
    if (!st)
        st = td_temp_read(t, "kernel.so", &out->data, &out->nbytes);
    if (!st && said.n)
        out->log = td_text_take(&said);
    td_text_free(&said);
    return st ? st : same_symbols(job, out);
}

static td_status
hostcxx_compile(const td_source_job *job, td_image *out)
{
    td_temp t;
    td_status st;

    TD_TRY(td_temp_begin(&t, job->keep));
    st = hostcxx_run(job, &t, out);
    td_temp_end(&t);
    return st;
}

const td_compiler td_compiler_host = {hostcxx_version, hostcxx_compile};
