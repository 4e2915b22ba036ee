/* guard.c - the diagnostic and the fatal-error handler. */
#include "lower/guard.h"

#include <llvm-c/ErrorHandling.h>

#include <setjmp.h>
#include <stdio.h>

static _Thread_local jmp_buf *way_out; /* jumps out of the guarded call that this thread is in */
static _Thread_local char reason[512];

static void
on_fatal(const char *why)
{
    if (!way_out)
        return; /* the failure is outside a guarded call: LLVM ends the process */
    snprintf(reason, sizeof reason, "%s", why);
    longjmp(*way_out, 1);
}

void
low_guard_install(void)
{
    LLVMInstallFatalErrorHandler(on_fatal);
}

td_status
low_guard(low_guarded *fn, void *ctx, bool *dead)
{
    jmp_buf here;
    td_status st;

    *dead = false;
    if (setjmp(here)) {
        way_out = NULL;
        *dead = true;
        return td_fail(TD_ERR_JIT, "llvm: %s", reason);
    }
    way_out = &here;
    st = fn(ctx);
    way_out = NULL;
    return st;
}

static void
on_diagnostic(LLVMDiagnosticInfoRef d, void *st)
{
    char *text;

    if (LLVMGetDiagInfoSeverity(d) != LLVMDSError)
        return;
    text = LLVMGetDiagInfoDescription(d);
    *(td_status *)st = td_fail(TD_ERR_JIT, "llvm: %s", text);
    LLVMDisposeMessage(text);
}

void
low_watch(LLVMContextRef cx, td_status *st)
{
    LLVMContextSetDiagnosticHandler(cx, on_diagnostic, st);
}

td_status
low_llvm_error(LLVMErrorRef e)
{
    char *text;
    td_status st;

    if (!e)
        return TD_OK;
    text = LLVMGetErrorMessage(e);
    st = td_fail(TD_ERR_JIT, "llvm: %s", text);
    LLVMDisposeErrorMessage(text);
    return st;
}
