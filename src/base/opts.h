/* opts.h - the options, read from the environment once, at the first call. */
#ifndef TD_BASE_OPTS_H
#define TD_BASE_OPTS_H
#include <stdbool.h>
#include <stddef.h>

typedef enum td_kernels {
    TD_KERNELS_WIDEN,     /* as lanes of vectors; a kernel that cannot be widened as fibers */
    TD_KERNELS_SWITCH,    /* "switch": every kernel as fibers */
    TD_KERNELS_INTERPRET, /* "interpret": every kernel by the interpreter */
} td_kernels;

typedef struct td_opts {
    const char *device;    /* TREADLE_DEVICE: "cpu", "cuda:1", "null"; NULL: the best there is */
    /* TREADLE_DUMP: comma-separated stages of ir, wide, llvm, ptx, asm, cxx, printed to stderr; NULL: none */
    const char *dump;
    const char *cache_dir; /* TREADLE_CACHE_DIR; NULL: ~/.cache/treadle; "" : no disk cache */
    size_t      cache_size; /* TREADLE_CACHE_SIZE, "512M": most bytes in the disk cache; 0: no bound; default 1 GiB */
    /* TREADLE_CPU: compile for that level at most: "x86-64-v2", "-v3", "-v4"; Arm: "armv8-a" or "armv8.1-a", without SVE.
     * NULL: for the host */
    const char *cpu;
    const char *cxx;       /* TREADLE_CXX: the C++ compiler for CUDA C++ on the CPU; NULL: clang++, else g++ */
    const char *include;   /* TREADLE_INCLUDE: the folder of its headers; NULL: beside the library */
    const char *profile;   /* TREADLE_PROFILE: the file that the program's profile is written to; NULL: no profile */
    int         kept;      /* TREADLE_KERNELS_KEPT: compiled kernels that may stay in memory; default 4096; 0: all */
    int         threads;   /* TREADLE_THREADS; 0: as many as the process may use */
    /* TREADLE_EAGER: on a CPU, operations of at most this many elements run when recorded; default 2048; 0: none */
    int         eager;
    bool        sync;      /* TREADLE_SYNC: wait after every launch */
    bool        debug;     /* TREADLE_DEBUG: compile and run kernels as under treadle.debug() */
    const char *checks;    /* TREADLE_CHECKS: what treadle.config.checks is at the start; NULL: "none" */
    td_kernels  kernels;   /* TREADLE_KERNELS: how kernels of threads run on the CPU */
} td_opts;

const td_opts *td_options(void);            /* borrowed; constant after the first call */
bool           td_dump_wants(const char *stage); /* does TREADLE_DUMP name the stage? */
/* Writes the text and a newline to stderr if TREADLE_DUMP names the stage.  The one place below Python that prints, but
 * for td_bug. */
void           td_dump(const char *stage, const char *text);

#endif
