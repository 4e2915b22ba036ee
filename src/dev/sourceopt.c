/* sourceopt.c - nvcc's options in other compilers' words: one table. */
#include "dev/compiler.h"

#include <stdlib.h>
#include <string.h>

/* row - an option.  nvcc takes a value as "-Dx", "-D x", "-D=x" or "--define-macro=x". */
typedef struct row {
    const char *name, *alias; /* alias "": none */
    char        value;        /* 'v': one follows; 0: none */
    const char *to[2];        /* by td_dialect; %s is the value; NULL: left out; words are parted by spaces */
} row;

static const row rows[] = {
    /* exact ones before those that they begin with */
    {"-fmad=false", "--fmad=false", 0, {"--fmad=false", "-ffp-contract=off"}},
    {"-fmad=true", "--fmad=true", 0, {"--fmad=true", "-ffp-contract=fast"}},
    {"-D", "--define-macro", 'v', {"-D%s", NULL}}, /* td_option_macros */
    {"-U", "--undefine-macro", 'v', {"-U%s", NULL}},
    {"-isystem", "--system-include", 'v', {"-I%s", "-isystem%s"}},
    {"-include", "--pre-include", 'v', {"--pre-include=%s", "--include=%s"}},
    {"-I", "--include-path", 'v', {"-I%s", "-I%s"}},
    {"-std", "--std", 'v', {"--std=%s", NULL}}, /* hostcxx.c: its headers want C++17 */
    {"-arch", "--gpu-architecture", 'v', {NULL, NULL}}, /* td_source_job.arch */
    {"-gencode", "--generate-code", 'v', {NULL, NULL}},
    {"-code", "--gpu-code", 'v', {NULL, NULL}},
    {"-use_fast_math", "--use_fast_math", 0, {"--use_fast_math", "-freciprocal-math -D__USE_FAST_MATH__"}},
    {"-G", "--device-debug", 0, {"-G", "-g -O0"}},
    {"-lineinfo", "--generate-line-info", 0, {"-lineinfo", "-g"}},
    {"-g", "--debug", 0, {NULL, "-g"}},
    {"-maxrregcount", "--maxrregcount", 'v', {"--maxrregcount=%s", NULL}},
    {"-ftz", "--ftz", 'v', {"--ftz=%s", NULL}},
    {"-prec-div", "--prec-div", 'v', {"--prec-div=%s", NULL}},
    {"-prec-sqrt", "--prec-sqrt", 'v', {"--prec-sqrt=%s", NULL}},
    {"-Xptxas", "--ptxas-options", 'v', {"--ptxas-options=%s", NULL}},
    {"-Xcompiler", "--compiler-options", 'v', {NULL, "%s"}},
    {"-Xlinker", "--linker-options", 'v', {NULL, NULL}},
    {"-rdc", "--relocatable-device-code", 'v', {"--relocatable-device-code=%s", NULL}},
    {"-extended-lambda", "--extended-lambda", 0, {"--extended-lambda", NULL}},
    {"-expt-extended-lambda", "--expt-extended-lambda", 0, {"--extended-lambda", NULL}},
    {"-expt-relaxed-constexpr", "--expt-relaxed-constexpr", 0, {NULL, NULL}},
    {"-default-device", "--device-as-default-execution-space", 0, {"-default-device", NULL}},
    {"-w", "--disable-warnings", 0, {"-w", "-w"}},
    {"-ccbin", "--compiler-bindir", 'v', {NULL, NULL}},
    {"-m64", "--machine=64", 0, {NULL, NULL}},
    {"-O", "--optimize", 'v', {NULL, "-O%s"}},
    {"-v", "--verbose", 0, {NULL, NULL}},
    {"-cubin", "--cubin", 0, {NULL, NULL}}, /* what comes out is ours to say */
    {"-ptx", "--ptx", 0, {NULL, NULL}},
};

/* Behind the name in an option, or NULL: it is another one. */
static const char *
behind(const row *r, const char *option, bool *joined)
{
    const char *names[] = {r->name, r->alias};

    for (int i = 0; i < 2; i++) {
        size_t n = strlen(names[i]);
        const char *rest = option + n;

        if (strncmp(option, names[i], n) != 0)
            continue;
        *joined = *rest != 0;
        if (!*rest || (r->value && *rest == '='))
            return *rest ? rest + 1 : rest;
        if (r->value && n == 2) /* "-DX"; a longer name needs its "=" */
            return rest;
    }
    return NULL;
}

static const row *
find(const char *option, const char **value, bool *joined)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if ((*value = behind(&rows[i], option, joined)))
            return &rows[i];
    return NULL;
}

/* The row's words with the value put in. */
static void
add_words(td_args *a, const char *words, const char *value)
{
    const char *at = strstr(words, "%s");

    if (at) {
        td_args_add(a, "%.*s%s", (int)(at - words), words, value);
        return;
    }
    for (size_t n; *words; words += n + (words[n] == ' ')) {
        n = strcspn(words, " ");
        td_args_add(a, "%.*s", (int)n, words);
    }
}

/* The i-th option's row and value; both are behind it then. */
static const row *
take(const td_source_job *job, int *i, const char **value)
{
    bool joined = false;
    const row *r = find(job->option[*i], value, &joined);

    if (r && r->value && !joined && *i + 1 < job->noption)
        *value = job->option[++*i];
    return r;
}

void
td_args_options(td_args *a, const td_source_job *job, td_dialect to)
{
    for (int i = 0; i < job->noption; i++) {
        const char *option = job->option[i], *value = "";
        const row *r = take(job, &i, &value);

        if (!r)
            td_args_add(a, "%s", option); /* the compiler may know it */
        else if (r->to[to])
            add_words(a, r->to[to], value);
    }
}

void
td_option_macros(const td_source_job *job, td_text *out)
{
    for (int i = 0; i < job->noption; i++) {
        const char *value = "";
        const row *r = take(job, &i, &value);
        size_t n = strcspn(value, "=");

        if (r && strcmp(r->name, "-U") == 0)
            td_text_addf(out, "#undef %s\n", value);
        else if (r && strcmp(r->name, "-D") == 0)
            td_text_addf(out, "#define %.*s %s\n", (int)n, value, value[n] ? value + n + 1 : "1");
    }
}

bool
td_option_is(const char *option, const char *name)
{
    const char *value;
    bool joined;
    const row *r = find(option, &value, &joined);

    return r && strcmp(r->name, name) == 0;
}

bool
td_option_given(const td_source_job *job, const char *name)
{
    for (int i = 0; i < job->noption; i++)
        if (td_option_is(job->option[i], name))
            return true;
    return false;
}
