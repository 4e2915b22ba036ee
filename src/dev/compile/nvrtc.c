/* nvrtc.c - CUDA C++ for GPUs by NVRTC, a library that is opened when the first text is compiled.
 *
 * It makes a cubin if NVRTC knows the architecture, else PTX for the newest one below that it
 * knows.
 */
#include "dev/compile/nvrtc.h"

#include "dev/foreign/library.h"

#include <dlfcn.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { ARCHS_MAX = 64 };

static const td_lib_name names[] = {{"libnvrtc.so.13", 13, "nvidia-cuda-nvrtc"},
                                    {"libnvrtc.so.12", 12, "nvidia-cuda-nvrtc-cu12"},
                                    {"libnvrtc.so.11.2", 11, "nvidia-cuda-nvrtc-cu11"},
                                    {0}};

static td_nvrtc rtc;
static char path[PATH_MAX];
static td_lib_state state = TD_LIB_STATE;

/* Opens the library of built-in functions that lies beside NVRTC. NVRTC opens it by its bare name, which the loader
 * finds in no wheel's folder; a library that is open already is found wherever it lies. */
static void
open_builtins(void)
{
    char pattern[PATH_MAX + 32];
    const char *slash = strrchr(path, '/');
    glob_t g = {0};

    if (!slash)
        return;
    snprintf(pattern, sizeof pattern, "%.*s/libnvrtc-builtins.so.*", (int)(slash - path), path);
    if (glob(pattern, 0, NULL, &g) == 0)
        for (size_t i = 0; i < g.gl_pathc; i++)
            (void)dlopen(g.gl_pathv[i], RTLD_NOW | RTLD_LOCAL);
    globfree(&g);
}

static td_status
nvrtc_load(void)
{
    void *lib;

    TD_TRY(td_lib_locate(names, path, sizeof path));
    open_builtins();
    lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!lib)
        return td_fail(TD_ERR_LIBRARY, "NVRTC cannot be opened: %s", dlerror());
#define LOAD(name, params) TD_TRY(td_lib_symbol(lib, "nvrtc" #name, (void **)&rtc.name));
    TD_NVRTC(LOAD)
#undef LOAD
    return td_lib_symbol(lib, "nvrtcGetErrorString", (void **)&rtc.GetErrorString);
}

static td_status
nvrtc_version(char *out, size_t n)
{
    char where[PATH_MAX];
    struct stat s;

    TD_TRY(td_lib_locate(names, where, sizeof where));
    if (stat(where, &s))
        memset(&s, 0, sizeof s);
    snprintf(out, n, "nvrtc %s %lld.%09ld %lld", where, (long long)s.st_mtim.tv_sec,
             s.st_mtim.tv_nsec, (long long)s.st_size);
    return TD_OK;
}

static td_status
rtc_status(int r, const char *call)
{
    return r ? td_fail(TD_ERR_JIT, "nvrtc%s: %s", call, rtc.GetErrorString(r)) : TD_OK;
}
#define RTC_TRY(call, ...) rtc_status(rtc.call(__VA_ARGS__), #call)

/* ---- the architecture ---- */

/* Adds "--gpu-architecture=sm_90"; *cubin: does that give machine code? */
static td_status
add_arch(td_args *a, const char *arch, bool *cubin)
{
    int have[ARCHS_MAX], n = 0, best = 0, want;
    const char *digits = arch + strcspn(arch, "0123456789");
    bool known = false;

    want = atoi(digits);
    TD_TRY(RTC_TRY(GetNumSupportedArchs, &n));
    if (n > ARCHS_MAX)
        return td_fail(TD_ERR_JIT, "NVRTC knows %d architectures", n);
    TD_TRY(RTC_TRY(GetSupportedArchs, have));
    for (int i = 0; i < n; i++) {
        known = known || have[i] == want;
        if (have[i] <= want && have[i] > best)
            best = have[i];
    }
    if (!best)
        return td_fail(TD_ERR_JIT,
                       "NVRTC (%s) makes no code for %s: its oldest is sm_%d; an older "
                       "one is in the package nvidia-cuda-nvrtc-cu12",
                       path, arch, n ? have[0] : 0);
    *cubin = known && strncmp(arch, "sm_", 3) == 0;
    if (known)
        td_args_add(a, "--gpu-architecture=%s", arch);
    else
        td_args_add(a, "--gpu-architecture=compute_%d", best);
    return TD_OK;
}

/* ---- results ---- */

static char *
read_log(nvrtc_program p)
{
    size_t n = 0;
    char *log = rtc.GetProgramLogSize(p, &n) == 0 && n > 1 ? malloc(n + 1) : NULL;

    if (log && rtc.GetProgramLog(p, log)) {
        free(log);
        return NULL;
    }
    if (log)
        log[n] = 0;
    return log;
}

static td_status
read_code(nvrtc_program p, bool cubin, td_image *out)
{
    TD_TRY(cubin ? RTC_TRY(GetCUBINSize, p, &out->nbytes) : RTC_TRY(GetPTXSize, p, &out->nbytes));
    out->data = malloc(out->nbytes + 1);
    if (!out->data)
        return td_fail(TD_ERR_NOMEM, "no host memory for %zu bytes of code", out->nbytes);
    ((char *)out->data)[out->nbytes] = 0;
    return cubin ? RTC_TRY(GetCUBIN, p, out->data) : RTC_TRY(GetPTX, p, out->data);
}

static td_status
read_symbols(nvrtc_program p, const td_source_job *job, td_image *out)
{
    out->symbol = calloc((size_t)job->nname + 1, sizeof *out->symbol);
    for (int i = 0; out->symbol && i < job->nname; i++) {
        const char *symbol;

        TD_TRY(RTC_TRY(GetLoweredName, p, job->name[i], &symbol));
        out->symbol[i] = strdup(symbol);
        if (!out->symbol[i])
            break;
        out->nsymbol++;
    }
    return out->nsymbol == job->nname ? TD_OK : td_fail(TD_ERR_NOMEM, "no memory for names");
}

/* Reports what did not compile, and where headers that were not found can be had. */
static td_status
nvrtc_failed(const td_source_job *job, const char *log)
{
    static const struct {
        const char *header, *package;
    } wheels[] = {{"curand", "nvidia-curand"},
                  {"cuda", "nvidia-cuda-runtime"},
                  {"cooperative_groups", "nvidia-cuda-runtime"}};
    const char *at = log ? strstr(log, "cannot open source file \"") : NULL;

    (void)td_compile_failed(job, log);
    for (size_t i = 0; at && i < sizeof wheels / sizeof *wheels; i++)
        if (strncmp(strchr(at, '"') + 1, wheels[i].header, strlen(wheels[i].header)) == 0)
            return td_fail(TD_ERR_JIT, "%s\n(CUDA's headers come with a toolkit or the package %s)",
                           td_error(), wheels[i].package);
    return TD_ERR_JIT;
}

/* ---- compiling ---- */

static td_status
nvrtc_run(nvrtc_program p, const td_source_job *job, td_image *out)
{
    td_args a = {0};
    bool cubin = false;
    td_status st = add_arch(&a, job->arch, &cubin);
    int r;

    for (int i = 0; !st && i < job->nname; i++)
        st = RTC_TRY(AddNameExpression, p, job->name[i]);
    td_args_options(&a, job, TD_DIALECT_NVRTC);
    if (job->debug)
        td_args_add(&a, "-lineinfo");
    td_cuda_include(&a, path);
    st = st ? st : td_args_check(&a);
    if (!st) {
        r = rtc.CompileProgram(p, a.n, a.v);
        out->log = read_log(p);
        if (r)
            st = out->log ? nvrtc_failed(job, out->log) : rtc_status(r, "CompileProgram");
    }
    td_args_free(&a);
    st = st ? st : read_code(p, cubin, out);
    return st ? st : read_symbols(p, job, out);
}

/* Puts the compiled code into the user's folder. */
static td_status
nvrtc_keep(const td_source_job *job, const td_image *i)
{
    bool cubin = memcmp(i->data, "\177ELF", 4) == 0;
    td_temp t;

    TD_TRY(td_temp_begin(&t, job->keep));
    TD_TRY(td_temp_write(&t, "kernel.cu", job->text, strlen(job->text)));
    return td_temp_write(&t, cubin ? "kernel.cubin" : "kernel.ptx", i->data,
                         cubin ? i->nbytes : strlen(i->data));
}

static td_status
nvrtc_compile(const td_source_job *job, td_image *out)
{
    nvrtc_program p = NULL;
    td_status st;

    TD_TRY(td_lib_once(&state, nvrtc_load));
    TD_TRY(RTC_TRY(CreateProgram, &p, job->text, job->file, td_host_headers, td_host_header,
                   td_host_header_as));
    st = nvrtc_run(p, job, out);
    (void)rtc.DestroyProgram(&p);
    return st || !job->keep ? st : nvrtc_keep(job, out);
}

const td_compiler td_compiler_nvrtc = {nvrtc_version, nvrtc_compile};
