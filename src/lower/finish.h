/* finish.h - from an LLVM module to text or an object, for both targets. */
#ifndef TD_LOWER_FINISH_H
#define TD_LOWER_FINISH_H
#include "lower/emit.h"

#include <llvm-c/TargetMachine.h>

/* low_target - the steps that differ between targets. */
typedef struct low_target {
    const char *triple;
    /* *out is owned by the caller.  plain: machine code in time linear in the length of a function */
    td_status (*machine)(const char *arch, bool plain, LLVMTargetMachineRef *out);
    td_status (*link)(lowering *L);                                    /* NULL: there is nothing to link */
    /* For LLVMRunPasses: the usual passes, those under td_fn.optimise, and those of a long function. */
    const char *usual, *optimise, *is_long;
    int         id;                                                    /* TD_TARGET_CPU, _GPU */
} low_target;

extern const low_target low_native; /* host.c: the CPU */
extern const low_target low_nvptx; /* ptx.c */

/* Lowers f and returns the result of `stage`: "llvm" (after the passes), "asm" or "ptx" (the target's text) or
 * "object". arch: for a GPU only.  *out is owned (free); a NUL follows its *nbytes. */
td_status low_finish(const td_fn *f, const low_target *t, const char *arch, const char *stage,
                     char **out, size_t *nbytes);

#endif
