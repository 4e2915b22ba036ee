/* guard.h - LLVM's failures as td_status.
 *
 * Left alone, an error diagnostic ends the process with exit(1), and a fatal error ("cannot
 * select") with abort().  The first is caught by a handler on the context.  The second never
 * returns to its caller, so the guarded call is left by a jump: what LLVM held then is leaked,
 * once a bug.
 */
#ifndef TD_LOWER_GUARD_H
#define TD_LOWER_GUARD_H
#include "base/err.h"

#include <llvm-c/Core.h>
#include <llvm-c/Error.h>

#include <stdbool.h>

typedef td_status low_guarded(void *ctx);

void      low_guard_install(void); /* once a process */
/* fn(ctx), or TD_ERR_JIT with LLVM's words, when *dead tells that ctx's LLVM objects must not be
 * touched again. */
td_status low_guard(low_guarded *fn, void *ctx, bool *dead);
void      low_watch(LLVMContextRef cx, td_status *st); /* an error diagnostic sets *st */
td_status low_llvm_error(LLVMErrorRef e);              /* TD_OK when e is NULL; consumes e */

#endif
