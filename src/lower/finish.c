/* finish.c - the pipeline: emit, link, optimise, generate. */
#include "lower/finish.h"

#include "base/opts.h"
#include "lower/guard.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/Transforms/PassBuilder.h>

#include <stdlib.h>
#include <string.h>

typedef struct job {
    lowering L;
    const low_target *t;
    const char *stage;
    LLVMTargetMachineRef tm;
    char *out;
    size_t nbytes;
    td_status seen; /* set by the diagnostic handler */
    bool is_long;
} job;

static td_status
finish_keep(job *j, const char *bytes, size_t n)
{
    j->out = malloc(n + 1);
    if (!j->out)
        return td_fail(TD_ERR_NOMEM, "kernel %s: %zu bytes of code", j->L.f->name, n);
    memcpy(j->out, bytes, n);
    j->out[n] = 0;
    j->nbytes = n;
    return TD_OK;
}

static td_status
keep_ir(job *j)
{
    char *s = LLVMPrintModuleToString(j->L.mod);
    td_status st = finish_keep(j, s, strlen(s));

    LLVMDisposeMessage(s);
    return st;
}

static td_status
generate(job *j, LLVMCodeGenFileType kind)
{
    LLVMMemoryBufferRef buf = NULL;
    char *why = NULL;
    td_status st;

    if (LLVMTargetMachineEmitToMemoryBuffer(j->tm, j->L.mod, kind, &why, &buf)) {
        st = td_fail(TD_ERR_JIT, "kernel %s: llvm: %s", j->L.f->name, why);
        LLVMDisposeMessage(why);
        return st;
    }
    st = j->seen ? j->seen : finish_keep(j, LLVMGetBufferStart(buf), LLVMGetBufferSize(buf));
    LLVMDisposeMemoryBuffer(buf);
    if (!st && j->L.lines && kind == LLVMAssemblyFile)
        j->nbytes = low_strip_debug(j->out);
    return st;
}

static td_status
optimise(job *j)
{
    LLVMPassBuilderOptionsRef o = LLVMCreatePassBuilderOptions();
    const char *passes = j->is_long         ? j->t->is_long
                         : j->L.f->optimise ? j->t->optimise
                                            : j->t->usual;
    td_status st;

    LLVMPassBuilderOptionsSetLoopVectorization(o, 1); /* read by default<O3> only */
    LLVMPassBuilderOptionsSetSLPVectorization(o, 1);
    LLVMPassBuilderOptionsSetLoopInterleaving(o, 1);
    LLVMPassBuilderOptionsSetLoopUnrolling(o, 1);
    st = low_llvm_error(LLVMRunPasses(j->L.mod, passes, j->tm, o));
    LLVMDisposePassBuilderOptions(o);
    return st ? st : j->seen;
}

#ifndef NDEBUG
static td_status
verify(const job *j)
{
    char *why = NULL;
    td_status st = TD_OK;

    if (LLVMVerifyModule(j->L.mod, LLVMReturnStatusAction, &why))
        st = td_fail(TD_ERR_JIT, "kernel %s: llvm: %s", j->L.f->name, why);
    LLVMDisposeMessage(why);
    return st;
}
#else
static td_status
verify(const job *j)
{
    (void)j;
    return TD_OK;
}
#endif

static void
dump_ir(const job *j)
{
    char *s;

    if (!td_dump_wants("llvm"))
        return;
    s = LLVMPrintModuleToString(j->L.mod);
    td_dump("llvm", s);
    LLVMDisposeMessage(s);
}

static td_status
finish_run(void *ctx)
{
    job *j = ctx;
    LLVMTargetDataRef layout;

    TD_TRY(low_module(&j->L));
    layout = LLVMCreateTargetDataLayout(j->tm);
    LLVMSetTarget(j->L.mod, j->t->triple);
    LLVMSetModuleDataLayout(j->L.mod, layout);
    LLVMDisposeTargetData(layout);
    TD_TRY(verify(j));
    if (j->t->link)
        TD_TRY(j->t->link(&j->L));
    TD_TRY(optimise(j));
    if (strcmp(j->stage, "llvm") == 0)
        return keep_ir(j);
    dump_ir(j);
    return generate(j, strcmp(j->stage, "object") == 0 ? LLVMObjectFile : LLVMAssemblyFile);
}

td_status
low_finish(const td_fn *f, const low_target *t, const char *arch, const char *stage, char **out,
           size_t *nbytes)
{
    job j = {.L = {.f = f, .target = t->id}, .t = t, .stage = stage, .is_long = td_fn_is_long(f)};
    bool dead = false;
    td_status st;

    TD_TRY(t->machine(arch, j.is_long, &j.tm));
    j.L.cx = LLVMContextCreate();
    low_watch(j.L.cx, &j.seen);
    st = low_guard(finish_run, &j, &dead);
    if (!dead) {
        low_free(&j.L);
        LLVMDisposeTargetMachine(j.tm);
    }
    if (st) {
        free(j.out);
        return st;
    }
    *out = j.out;
    *nbytes = j.nbytes;
    return TD_OK;
}
