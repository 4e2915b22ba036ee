/* host.h - the CPU that code is compiled for: found once, constant afterwards. */
#ifndef TD_LOWER_HOST_H
#define TD_LOWER_HOST_H
#include <stdbool.h>

typedef struct low_cpu {
    const char *triple, *name, *features; /* as LLVM names them */
    int         vector_bytes;             /* 64: AVX-512 F, BW, DQ, VL; 32: AVX2; 16 */
    char        isa;                      /* libmvec's letter for those registers: e, d, b */
    bool        f16c, fma;
    bool        slow_gather; /* AMD: gathered lanes cost five cycles each, loads of single lanes one or two */
} low_cpu;

const low_cpu *low_host(void); /* x86.c; borrowed */

/* link.c: the address of a C function that compiled code may call: from the core, libmvec, libm, or the process.
 * NULL: there is none. */
void *low_symbol(const char *name);
void *low_runtime_symbol(const char *name); /* runtime.c: the same from the core alone */

#endif
