/* host.h - the CPU that code is compiled for: found once, constant afterwards. */
#ifndef TD_LOWER_HOST_H
#define TD_LOWER_HOST_H
#include <stdbool.h>

typedef struct low_cpu {
    const char *triple, *name, *features; /* as LLVM names them */
    const char *tune;                     /* the processor whose timings LLVM goes by; NULL: name's */
    int         vector_bytes;             /* x86: 64: AVX-512 F, BW, DQ, VL; 32: AVX2; 16. Arm: SVE's, at most 64; 16: NEON */
    int         sve_bytes;                /* length of SVE's registers; 0: without SVE */
    char        isa;                      /* libmvec's letter for the registers that its functions take: e, d, b, n */
    int         math_bytes;               /* width of those */
    bool        half;                     /* instructions that convert float16 */
    bool        fma;
    bool        slow_gather; /* AMD: gathered lanes cost five cycles each, loads of single lanes one or two.  NEON: there are none */
} low_cpu;

const low_cpu *low_host(void); /* host.c; borrowed */
void low_host_targets(void);   /* host.c: initialises LLVM's code generator for this CPU */
/* Options of that generator, for tune() in open.c; ends with NULL. */
extern const char *const low_host_options[];

/* link.c: the address of a C function that compiled code may call: from the core, libmvec, libm, or the process.
 * NULL: there is none. */
void *low_symbol(const char *name);
void *low_runtime_symbol(const char *name); /* runtime.c: the same from the core alone */

#endif
