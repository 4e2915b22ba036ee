/* sourceopt.c - nvcc's options translated for other compilers, by one table. */
#include "dev/compile/compiler.h"

#include <stdlib.h>
#include <string.h>

/* row - an option.  nvcc takes a value as "-Dx", "-D x", "-D=x" or "--define-macro=x". */
typedef struct row {
    const char *name, *alias; /* alias "": none */
    char value;               /* 'v': a value follows; 0: none */
    char ours;                /* 'o': selects the kind of code, which the job decides */
    const char *to[2]; /* by td_dialect; %s is the value; NULL: left out; spaces separate words */
} row;

static const row rows[] = {
    /* exact spellings come before options that they begin with */
    {"-fmad=false", "--fmad=false", 0, 0, {"--fmad=false", "-ffp-contract=off"}},
    {"-fmad=true", "--fmad=true", 0, 0, {"--fmad=true", "-ffp-contract=fast"}},
    {"-D", "--define-macro", 'v', 0, {"-D%s", "-D%s"}},
    {"-U", "--undefine-macro", 'v', 0, {"-U%s", "-U%s"}},
    {"-isystem", "--system-include", 'v', 0, {"-I%s", "-isystem%s"}},
    {"-include", "--pre-include", 'v', 0, {"--pre-include=%s", "--include=%s"}},
    {"-I", "--include-path", 'v', 0, {"-I%s", "-I%s"}},
    {"-std", "--std", 'v', 0, {"--std=%s", NULL}},           /* hostcxx.c: its headers want C++17 */
    {"-arch", "--gpu-architecture", 'v', 'o', {NULL, NULL}}, /* td_source_job.arch */
    {"-gencode", "--generate-code", 'v', 'o', {NULL, NULL}},
    {"-code", "--gpu-code", 'v', 'o', {NULL, NULL}},
    {"-use_fast_math",
     "--use_fast_math",
     0,
     0,
     {"--use_fast_math", "-freciprocal-math -D__USE_FAST_MATH__"}},
    {"-G", "--device-debug", 0, 0, {"-G", "-g -O0"}},
    {"-lineinfo", "--generate-line-info", 0, 0, {"-lineinfo", "-g"}},
    {"-g", "--debug", 0, 0, {NULL, "-g"}},
    {"-maxrregcount", "--maxrregcount", 'v', 0, {"--maxrregcount=%s", NULL}},
    {"-ftz", "--ftz", 'v', 0, {"--ftz=%s", NULL}},
    {"-prec-div", "--prec-div", 'v', 0, {"--prec-div=%s", NULL}},
    {"-prec-sqrt", "--prec-sqrt", 'v', 0, {"--prec-sqrt=%s", NULL}},
    {"-Xptxas", "--ptxas-options", 'v', 0, {"--ptxas-options=%s", NULL}},
    {"-Xcompiler", "--compiler-options", 'v', 0, {NULL, "%s"}},
    {"-Xlinker", "--linker-options", 'v', 0, {NULL, NULL}},
    {"-rdc", "--relocatable-device-code", 'v', 0, {"--relocatable-device-code=%s", NULL}},
    {"-extended-lambda", "--extended-lambda", 0, 0, {"--extended-lambda", NULL}},
    {"-expt-extended-lambda", "--expt-extended-lambda", 0, 0, {"--extended-lambda", NULL}},
    {"-expt-relaxed-constexpr", "--expt-relaxed-constexpr", 0, 0, {NULL, NULL}},
    {"-default-device", "--device-as-default-execution-space", 0, 0, {"-default-device", NULL}},
    {"-w", "--disable-warnings", 0, 0, {"-w", "-w"}},
    {"-ccbin", "--compiler-bindir", 'v', 0, {NULL, NULL}},
    {"-m64", "--machine=64", 0, 0, {NULL, NULL}},
    {"-O", "--optimize", 'v', 0, {NULL, "-O%s"}},
    {"-v", "--verbose", 0, 0, {NULL, NULL}},
    {"-cubin", "--cubin", 0, 'o', {NULL, NULL}},
    {"-ptx", "--ptx", 0, 'o', {NULL, NULL}},
};

/* The rest of the option after the row's name.  NULL: it is another option. */
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
        if (r->value && n == 2) /* "-DX" joins name and value; a longer name needs "=" */
            return rest;
    }
    return NULL;
}

static const row *
sourceopt_find(const char *option, const char **value, bool *joined)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if ((*value = behind(&rows[i], option, joined)))
            return &rows[i];
    return NULL;
}

/* Adds the row's words with the value inserted. */
static void
add_option_words(td_args *a, const char *words, const char *value)
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

void
td_args_options(td_args *a, const td_source_job *job, td_dialect to)
{
    for (int i = 0; i < job->noption; i++) {
        const char *option = job->option[i], *value;
        bool joined = false;
        const row *r = sourceopt_find(option, &value, &joined);

        if (!r) {
            td_args_add(a, "%s", option); /* not in the table: the compiler may know it */
            continue;
        }
        if (r->value && !joined && i + 1 < job->noption)
            value = job->option[++i];
        if (to == TD_DIALECT_NVCC && !r->ours) {
            td_args_add(a, "%s", option);
            if (job->option[i] != option)
                td_args_add(a, "%s", value);
        } else if (to != TD_DIALECT_NVCC && r->to[to]) {
            add_option_words(a, r->to[to], value);
        }
    }
}
