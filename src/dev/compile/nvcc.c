/* nvcc.c - CUDA C++ for GPUs by the toolkit's nvcc, if there is no NVRTC: makes a cubin.
 *
 * A template has no code until something uses an instance.  So functions that take the addresses
 * of the wanted instances are added after the text.  Their symbols are found in the cubin by the
 * names that cu++filt prints.
 */
#include "dev/compile/compiler.h"

#include "dev/foreign/elf.h"
#include "dev/foreign/library.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static td_status
find_nvcc(char *buf, size_t n)
{
    static const char *const places[] = {"/usr/local/cuda/bin/nvcc", "/opt/cuda/bin/nvcc"};
    const char *toolkit = td_lib_toolkit();
    char named[PATH_MAX];

    if (td_spawn_find("nvcc", buf, n))
        return TD_OK;
    if (toolkit && snprintf(named, sizeof named, "%s/bin/nvcc", toolkit) < (int)sizeof named &&
        td_spawn_find(named, buf, n))
        return TD_OK;
    for (size_t i = 0; !toolkit && i < sizeof places / sizeof *places; i++)
        if (td_spawn_find(places[i], buf, n))
            return TD_OK;
    return td_fail(TD_ERR_LIBRARY, "there is no nvcc on PATH");
}

static td_status
nvcc_version(char *out, size_t n)
{
    char path[PATH_MAX];
    struct stat s;

    TD_TRY(find_nvcc(path, sizeof path));
    if (stat(path, &s))
        memset(&s, 0, sizeof s);
    snprintf(out, n, "nvcc %s %lld.%09ld %lld", path, (long long)s.st_mtim.tv_sec,
             s.st_mtim.tv_nsec, (long long)s.st_size);
    return TD_OK;
}

/* ---- the text ---- */

static td_status
write_text(const td_source_job *job, const td_temp *t)
{
    td_text text = {0};
    td_status st;

    td_text_addf(&text, "#line 1 \"%s\"\n%s\n", job->file, job->text);
    for (int i = 0; i < job->nname; i++)
        if (strchr(job->name[i], '<'))
            td_text_addf(&text, "void *td_wanted_%d() { return (void *)&%s; }\n", i, job->name[i]);
    st = text.failed ? td_fail(TD_ERR_NOMEM, "no memory for the text of %s", job->file)
                     : td_temp_write(t, "kernel.cu", text.s, text.n);
    td_text_free(&text);
    return st;
}

/* ---- symbols: a cubin's functions are the kernels ---- */

/* Removes from a name the parts that differ between notations: blanks, and casts of numbers, as in "f<float, (int)4>". */
static void
plain_name(const char *name, size_t n, char *out, size_t room)
{
    size_t at = 0;

    for (size_t i = 0; i < n && at + 1 < room; i++) {
        if (name[i] == '(' && i &&
            (name[i - 1] == '<' || name[i - 1] == ',' || name[i - 1] == ' ')) {
            const char *close = memchr(name + i, ')', n - i);

            if (close && close + 1 < name + n &&
                (isdigit((unsigned char)close[1]) || close[1] == '-')) {
                i = (size_t)(close - name);
                continue;
            }
        }
        if (!isspace((unsigned char)name[i]))
            out[at++] = name[i];
    }
    out[at] = 0;
}

/* Is the demangled name, "void ns::f<float, (int)4>(float *, T2)", without its parameters and
 * result, `name`? */
static bool
is_called(const char *demangled, const char *name)
{
    char want[1024], have[1024];
    const char *from = demangled, *end = demangled;
    int depth = 0;

    for (; *end && *end != '\n' && !(*end == '(' && depth == 0 && end[-(end > demangled)] != ' ');
         end++) {
        depth += *end == '<' || *end == '(';
        depth -= *end == '>' || *end == ')';
        if (*end == ' ' && depth == 0)
            from = end + 1;
    }
    plain_name(name, strlen(name), want, sizeof want);
    plain_name(from, (size_t)(end - from), have, sizeof have);
    return strcmp(want, have) == 0;
}

/* Finds cu++filt beside nvcc, else the c++filt of the linker that nvcc needs. */
static td_status
find_filter(const char *nvcc, char *path, size_t n)
{
    const char *slash = strrchr(nvcc, '/');
    char beside[PATH_MAX];

    snprintf(beside, sizeof beside, "%.*s/cu++filt", (int)(slash - nvcc), nvcc);
    if (td_spawn_find(beside, path, n) || td_spawn_find("c++filt", path, n))
        return TD_OK;
    return td_fail(TD_ERR_LIBRARY, "templates need a cu++filt beside nvcc, or a c++filt on PATH");
}

/* Demangles all symbols, one per line. */
static td_status
demangle(const char *nvcc, const td_image *i, td_text *lines)
{
    char path[PATH_MAX];
    td_args a = {0};
    int code = 0;
    td_status st;

    TD_TRY(find_filter(nvcc, path, sizeof path));
    td_args_add(&a, "%s", path);
    for (int k = 0;; k++) {
        const char *symbol = td_elf_function(i->data, i->nbytes, k);

        if (!symbol)
            break;
        td_args_add(&a, "%s", symbol);
    }
    st = td_args_check(&a);
    if (!st)
        st = td_spawn_run(a.v, lines, &code);
    td_args_free(&a);
    return !st && code ? td_fail(TD_ERR_LIBRARY, "%s: %s", path, lines->s ? lines->s : "failed")
                       : st;
}

static td_status
add_symbol(td_image *out, const char *name, const char *lines)
{
    const char *line = lines;

    for (int k = 0; line && *line; k++) {
        const char *symbol = td_elf_function(out->data, out->nbytes, k);

        if (!symbol)
            break;
        if (strcmp(symbol, name) == 0 || is_called(line, name)) {
            out->symbol[out->nsymbol] = strdup(symbol);
            return out->symbol[out->nsymbol] ? (out->nsymbol++, TD_OK)
                                             : td_fail(TD_ERR_NOMEM, "no memory for names");
        }
        line = strchr(line, '\n');
        line = line ? line + 1 : NULL;
    }
    return td_fail(TD_ERR_JIT, "nvcc made no kernel \"%s\"", name);
}

static td_status
find_symbols(const td_source_job *job, const char *nvcc, td_image *out)
{
    td_text lines = {0};
    td_status st = job->nname ? demangle(nvcc, out, &lines) : TD_OK;

    out->symbol = calloc((size_t)job->nname + 1, sizeof *out->symbol);
    if (!st && !out->symbol)
        st = td_fail(TD_ERR_NOMEM, "no memory for names");
    for (int i = 0; !st && i < job->nname; i++)
        st = add_symbol(out, job->name[i], lines.s);
    td_text_free(&lines);
    return st;
}

/* ---- compiling ---- */

static const char ptx_prefix[] = "compute_";

static bool
makes_ptx(const td_source_job *job)
{
    return strncmp(job->arch, ptx_prefix, strlen(ptx_prefix)) == 0;
}

static td_status
nvcc_run(const td_source_job *job, const td_temp *t, td_image *out)
{
    bool ptx = makes_ptx(job);
    const char *result = ptx ? "kernel.ptx" : "kernel.cubin";
    char nvcc[PATH_MAX], path[PATH_MAX];
    td_text said = {0};
    td_args a = {0};
    int code = 0;
    td_status st;

    TD_TRY(find_nvcc(nvcc, sizeof nvcc));
    TD_TRY(write_text(job, t));
    td_args_add(&a, "%s", nvcc);
    td_args_add(&a, ptx ? "-ptx" : "-cubin");
    td_args_add(&a, "-arch=%s", job->arch);
    td_args_options(&a, job, TD_DIALECT_NVCC);
    if (job->debug)
        td_args_add(&a, "-lineinfo");
    td_args_add(&a, "-o");
    td_args_add(&a, "%s", td_temp_path(t, result, path, sizeof path));
    td_args_add(&a, "%s", td_temp_path(t, "kernel.cu", path, sizeof path));
    st = td_args_check(&a);
    if (!st)
        st = td_spawn_run(a.v, &said, &code);
    if (!st && code)
        st = td_compile_failed(job, said.s);
    td_args_free(&a);
    if (!st)
        st = td_temp_read(t, result, &out->data, &out->nbytes);
    if (!st && said.n)
        out->log = td_text_take(&said);
    td_text_free(&said);
    return st;
}

/* PTX has no symbol table, so the symbols come from a cubin of the same text. */
static td_status
symbols_of_ptx(const td_source_job *job, const char *nvcc, const td_temp *t, td_image *out)
{
    td_source_job machine = *job;
    td_image cubin = {0};
    char arch[32];
    td_status st;

    snprintf(arch, sizeof arch, "sm_%s", job->arch + strlen(ptx_prefix));
    machine.arch = arch;
    st = nvcc_run(&machine, t, &cubin);
    if (!st)
        st = find_symbols(job, nvcc, &cubin);
    out->symbol = cubin.symbol;
    out->nsymbol = cubin.nsymbol;
    cubin.symbol = NULL;
    cubin.nsymbol = 0;
    td_image_free(&cubin);
    return st;
}

static td_status
nvcc_compile(const td_source_job *job, td_image *out)
{
    char nvcc[PATH_MAX];
    td_temp t;
    td_status st;

    TD_TRY(find_nvcc(nvcc, sizeof nvcc));
    TD_TRY(td_temp_begin(&t, job->keep));
    st = nvcc_run(job, &t, out);
    if (!st)
        st = makes_ptx(job) ? symbols_of_ptx(job, nvcc, &t, out) : find_symbols(job, nvcc, out);
    td_temp_end(&t);
    return st;
}

const td_compiler td_compiler_nvcc = {nvcc_version, nvcc_compile};
