/* lower.h - kernel IR to an x86-64 object or to PTX, through LLVM.
 *
 * This folder becomes libtreadle_jit.so, which holds LLVM and exports one symbol, td_lower_open.
 * Nothing else includes llvm-c.  All functions may be called from any thread.
 */
#ifndef TD_LOWER_LOWER_H
#define TD_LOWER_LOWER_H
#include "ir/core/ir.h"

/* A CPU kernel `name` becomes
 *     void name(const uint64_t *args, int64_t bid, int64_t nblock)
 * (td_cpu_entry in dev/core/dev.h): parameter i is args[i]; tid is 0, bdim 1; shared memory lies on
 * the stack. On a GPU parameter i is the kernel's i-th, of its dtype's size. */
typedef struct td_lower {
    /* Symbol f->name in a relocatable ELF object; *out is owned (free). */
    td_status (*object)(const td_fn *f, void **out, size_t *nbytes);
    /* NUL-terminated PTX for arch ("sm_90"); *out is owned (free). */
    td_status (*ptx)(const td_fn *f, const char *arch, char **out);
    /* For reading: "llvm" (arch given: as for that GPU; NULL: as for the CPU), "asm" (CPU) or
     * "ptx" (arch NULL: "sm_90"); *out is owned (free).  TD_ERR_VALUE: no such stage. */
    td_status (*text)(const td_fn *f, const char *stage, const char *arch, char **out);
    /* Links an object into the process.  The code stays until unlink(*code), or for the process's life. */
    td_status (*link)(const void *object, size_t nbytes, const char *name, void **entry, void **code);
    void (*unlink)(void *code); /* nobody runs the code any more */
    /* Everything that CPU code depends on: LLVM's version, CPU features, libmvec's functions. */
    td_hash (*cpu_key)(void);
    /* Widest vector register in bytes: 64, 32 or 16. */
    int vector_bytes;
    const char *llvm_version; /* "19.1.7" */
} td_lower;

typedef const td_lower *td_lower_open_fn(void);
td_lower_open_fn td_lower_open; /* initialises LLVM's targets once; borrowed */

#endif
