/* source.h - compilers of CUDA C++ text: NVRTC, nvcc, and the system's C++ compiler for the CPU.
 *
 * Nothing here caches or rewrites; jit/program.h does both.
 */
#ifndef TD_DEV_SOURCE_H
#define TD_DEV_SOURCE_H
#include "cuhost/abi.h"
#include "dev/core/dev.h"

/* td_source_job - one text to compile.  Borrowed. */
typedef struct td_source_job {
    const char        *text, *file;  /* file: the name in errors and #line */
    const char *const *option;       /* as nvcc takes them: "-DN=4", "-I/x", "--use_fast_math", "-std=c++17" */
    int                noption;
    const char *const *name;         /* kernels and instances whose symbols are wanted: "add", "f<float, 4>" */
    int                nname;
    const char        *arch;         /* "sm_90", "compute_90" (PTX); "host": for this CPU */
    bool               debug, checked; /* with information for a debugger; accesses are checked */
    const char        *keep;         /* a folder that keeps the intermediate files; NULL: they are removed */
} td_source_job;

/* td_image - compiled code.  td_image_free. */
typedef struct td_image {
    void   *data;    /* cubin, PTX with its NUL, or a shared object: what td_module_load takes */
    size_t  nbytes;
    char  **symbol;  /* of each name of the job, in its order */
    int     nsymbol;
    char   *log;     /* warnings; NULL: none */
} td_image;

void td_image_free(td_image *i); /* its members; ok on zeroes */

/* The compiler for a job with that `arch`, and its version: "nvrtc 13.0", "nvcc 12.4 /usr/bin/nvcc", "clang++
 * 14.0.6 …". Part of the cache key.  TD_ERR_LIBRARY: there is none; the text names the package to install. */
td_status td_source_compiler(const char *arch, char *out, size_t n);
/* TD_ERR_JIT: the compiler's own text, with the user's line numbers. */
td_status td_source_compile(const td_source_job *job, td_image *out);

#endif
