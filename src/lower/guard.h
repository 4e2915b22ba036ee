/* guard.h - LLVM's failures as td_status.
 *
 * Left alone, LLVM ends the process with exit(1) on an error diagnostic and with abort() on a fatal error ("cannot
 * select").  A handler on the context catches the first.  The second never returns, so the guarded call is left by
 * longjmp; what LLVM held then is leaked, which happens once per bug.
 */
#ifndef TD_LOWER_GUARD_H
#define TD_LOWER_GUARD_H
#include "base/err.h"

#include <llvm-c/Core.h>
#include <llvm-c/Error.h>

#include <stdbool.h>

typedef td_status low_guarded(void *ctx);

void      low_guard_install(void); /* once per process */
/* Runs fn(ctx).  A fatal error of LLVM gives TD_ERR_JIT with LLVM's text and sets *dead: then ctx's LLVM objects
 * must not be touched again. */
td_status low_guard(low_guarded *fn, void *ctx, bool *dead);
void      low_watch(LLVMContextRef cx, td_status *st); /* from now on an error diagnostic of cx sets *st */
td_status low_llvm_error(LLVMErrorRef e);              /* TD_OK when e is NULL; consumes e */

#endif
