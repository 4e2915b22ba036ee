/* source.c - chooses a text's compiler; images. */
#include "dev/compile/compiler.h"

#include "base/opts.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- command lines ---- */

/* Makes room for one more argument and the NULL after it. */
static bool
args_reserve(td_args *a)
{
    int cap = a->n + 2 > a->cap ? 2 * a->cap + 16 : a->cap;
    const char **v = cap == a->cap ? a->v : realloc((void *)a->v, (size_t)cap * sizeof *v);

    if (!v)
        return false;
    a->v = v;
    a->cap = cap;
    return true;
}

void
td_args_add(td_args *a, const char *fmt, ...)
{
    va_list ap;
    char *s;
    int n;

    va_start(ap, fmt);
    n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    s = n < 0 || a->failed || !args_reserve(a) ? NULL : malloc((size_t)n + 1);
    if (!s) {
        a->failed = true;
        return;
    }
    va_start(ap, fmt);
    vsnprintf(s, (size_t)n + 1, fmt, ap);
    va_end(ap);
    a->v[a->n++] = s;
    a->v[a->n] = NULL;
}

void
td_args_free(td_args *a)
{
    for (int i = 0; i < a->n; i++)
        free((void *)(uintptr_t)a->v[i]);
    free((void *)a->v);
    *a = (td_args){0};
}

td_status
td_args_check(const td_args *a)
{
    return a->failed ? td_fail(TD_ERR_NOMEM, "no memory for a compiler's command line") : TD_OK;
}

/* ---- shared by the compilers ---- */

td_status
td_compile_failed(const td_source_job *job, const char *said)
{
    return td_fail(TD_ERR_JIT, "%s does not compile:\n%s", job->file,
                   said && *said ? said : "the compiler says nothing");
}

const char *
td_source_include(char *buf, size_t n)
{
    static const char here[] = "";
    const char *given = td_options()->include, *slash;
    Dl_info self;

    if (given)
        snprintf(buf, n, "%s", given);
    else if (dladdr(here, &self) && (slash = strrchr(self.dli_fname, '/')))
        snprintf(buf, n, "%.*s/include", (int)(slash - self.dli_fname), self.dli_fname);
    else
        snprintf(buf, n, "include");
    return buf;
}

void
td_image_free(td_image *i)
{
    for (int k = 0; k < i->nsymbol; k++)
        free(i->symbol[k]);
    free(i->symbol);
    free(i->data);
    free(i->log);
    *i = (td_image){0};
}

/* ---- the choice ---- */

/* NVRTC if it is there, else nvcc.  If both are missing the error is NVRTC's, since a package
 * provides it. */
static td_status
compiler_for(const char *arch, const td_compiler **out, char *version, size_t n)
{
    char why[512];

    *out = &td_compiler_host;
    if (strcmp(arch, "host") == 0)
        return td_compiler_host.version(version, n);
    *out = &td_compiler_nvrtc;
    if (td_compiler_nvrtc.version(version, n) == TD_OK)
        return TD_OK;
    snprintf(why, sizeof why, "%s", td_error());
    *out = &td_compiler_nvcc;
    if (td_compiler_nvcc.version(version, n) == TD_OK)
        return TD_OK;
    return td_fail(TD_ERR_LIBRARY, "CUDA C++ needs a compiler: %s; nor is there an nvcc on PATH",
                   why);
}

td_status
td_source_compiler(const char *arch, char *out, size_t n)
{
    const td_compiler *c;

    return compiler_for(arch, &c, out, n);
}

td_status
td_source_compile(const td_source_job *job, td_image *out)
{
    const td_compiler *c;
    char version[PATH_MAX + 128];
    td_status st;

    *out = (td_image){0};
    TD_TRY(compiler_for(job->arch, &c, version, sizeof version));
    st = c->compile(job, out);
    if (st)
        td_image_free(out);
    return st;
}
