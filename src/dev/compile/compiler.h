/* compiler.h - the interface of the compilers that source.c chooses from; internal to dev/. */
#ifndef TD_DEV_COMPILER_H
#define TD_DEV_COMPILER_H
#include "dev/compile/source.h"
#include "dev/compile/spawn.h"

/* td_compiler - NVRTC, nvcc, or the system's C++ compiler. */
typedef struct td_compiler {
    /* Names the compiler and its version without starting it, for td_source_compiler.  TD_ERR_LIBRARY: it is not
     * there. */
    td_status (*version)(char *out, size_t n);
    td_status (*compile)(const td_source_job *job, td_image *out);
} td_compiler;

extern const td_compiler td_compiler_nvrtc, td_compiler_nvcc, td_compiler_host;

/* td_args - a command line that grows.  Remembers its first failure. */
typedef struct td_args {
    const char **v; /* NULL-terminated once anything was added; the strings are owned */
    int          n, cap;
    bool         failed;
} td_args;

void td_args_add(td_args *a, const char *fmt, ...) TD_PRINTF(2, 3);
void td_args_free(td_args *a);
td_status td_args_check(const td_args *a); /* TD_ERR_NOMEM */

/* Translates the job's options, which are nvcc's, for another compiler (sourceopt.c).  NVCC: keeps them, without those
 * that the job sets. */
typedef enum td_dialect { TD_DIALECT_NVRTC, TD_DIALECT_HOST, TD_DIALECT_NVCC } td_dialect;
void td_args_options(td_args *a, const td_source_job *job, td_dialect to);

/* TD_ERR_JIT, with what the failed compiler has said. */
td_status td_compile_failed(const td_source_job *job, const char *said);
/* The folder of the package's headers, "…/treadle/include". */
const char *td_source_include(char *buf, size_t n);

#endif
