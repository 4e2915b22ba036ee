/* opts.h - the options, read from the environment once, at the first call. */
#ifndef TD_BASE_OPTS_H
#define TD_BASE_OPTS_H
#include <stdbool.h>
#include <stddef.h>

typedef enum td_kernels {
    TD_KERNELS_WIDEN,     /* in lanes, those that cannot in turns */
    TD_KERNELS_SWITCH,    /* "switch": all in turns */
    TD_KERNELS_INTERPRET, /* "interpret" */
} td_kernels;

typedef struct td_opts {
    const char *device;    /* TREADLE_DEVICE: "cpu", "cuda:1", "null"; NULL: the best there is */
    const char *dump;      /* TREADLE_DUMP: comma-separated stages of ir, wide, llvm, ptx, asm, cxx; NULL: none */
    const char *cache_dir; /* TREADLE_CACHE_DIR; NULL: ~/.cache/treadle; "" : no disk cache */
    size_t      cache_size; /* TREADLE_CACHE_SIZE: most bytes of it, "512M"; 0: no bound; 1 GiB */
    const char *cpu;       /* TREADLE_CPU: "x86-64-v2", "-v3" or "-v4": code for no more than that; NULL: the host */
    const char *cxx;       /* TREADLE_CXX: the C++ compiler for CUDA C++ on the CPU; NULL: clang++, else g++ */
    const char *include;   /* TREADLE_INCLUDE: the folder of its headers; NULL: beside the library */
    const char *profile;   /* TREADLE_PROFILE: the program's profile goes to this file; NULL: none */
    int         threads;   /* TREADLE_THREADS; 0: all the process may use */
    int         eager;     /* TREADLE_EAGER: operations on a CPU of at most so many elements run at once; 2048; 0: none */
    bool        sync;      /* TREADLE_SYNC: wait after every launch */
    bool        debug;     /* TREADLE_DEBUG: kernels are compiled and run as under treadle.debug() */
    td_kernels  kernels;   /* TREADLE_KERNELS: how kernels of threads run on the CPU */
} td_opts;

const td_opts *td_options(void);            /* borrowed; constant after the first call */
bool           td_dump_wants(const char *stage);

#endif
