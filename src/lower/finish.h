/* finish.h - from an LLVM module to text or an object, alike for both targets. */
#ifndef TD_LOWER_FINISH_H
#define TD_LOWER_FINISH_H
#include "lower/emit.h"

#include <llvm-c/TargetMachine.h>

/* What a target adds to a module on its way. */
typedef struct low_target {
    const char *triple;
    td_status (*machine)(const char *arch, LLVMTargetMachineRef *out); /* owned by the caller */
    td_status (*link)(lowering *L);                                    /* NULL: links nothing */
    const char *passes[2]; /* for LLVMRunPasses: as it stands, and td_fn.optimise */
    int         id;                                                    /* TD_TARGET_CPU, _GPU */
} low_target;

extern const low_target low_x86;   /* x86.c */
extern const low_target low_nvptx; /* ptx.c */

/* Lowers f and gives the result of `stage`: "llvm" (after the passes), "asm" or "ptx" (the
 * target's text) or "object".  arch: GPU only.  *out is owned (free) and NUL-terminated behind
 * its *nbytes. */
td_status low_finish(const td_fn *f, const low_target *t, const char *arch, const char *stage,
                     char **out, size_t *nbytes);

#endif
