/* x86.c - the host: what its CPU can do, and objects for it. */
#include "lower/finish.h"
#include "lower/host.h"

#include <llvm-c/Target.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static low_cpu host;

static bool
has(const char *features, const char *want)
{
    size_t n = strlen(want);

    for (const char *p = features; (p = strstr(p, want)); p += n)
        if (p > features && p[-1] == '+' && (p[n] == ',' || p[n] == 0))
            return true;
    return false;
}

static void
look(void)
{
    char *features = LLVMGetHostCPUFeatures(); /* the three strings live as long as the process */
    bool wide = has(features, "avx512f") && has(features, "avx512bw") && has(features, "avx512dq") &&
                has(features, "avx512vl");

    host.triple = low_x86.triple;
    host.name = LLVMGetHostCPUName();
    host.features = features;
    host.vector_bytes = wide ? 64 : has(features, "avx2") ? 32 : 16;
    host.isa = wide ? 'e' : has(features, "avx2") ? 'd' : 'b';
    host.f16c = has(features, "f16c");
    host.fma = has(features, "fma");
}

const low_cpu *
low_host(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, look);
    return &host;
}

static td_status
machine(const char *arch, LLVMTargetMachineRef *out)
{
    const low_cpu *h = low_host();
    LLVMTargetRef t;
    char *why = NULL;
    td_status st;

    (void)arch;
    if (LLVMGetTargetFromTriple(h->triple, &t, &why)) {
        st = td_fail(TD_ERR_JIT, "llvm: %s", why);
        LLVMDisposeMessage(why);
        return st;
    }
    *out = LLVMCreateTargetMachine(t, h->triple, h->name, h->features, LLVMCodeGenLevelDefault, LLVMRelocPIC,
                                   LLVMCodeModelDefault);
    return *out ? TD_OK : td_fail(TD_ERR_JIT, "llvm: no machine for %s", h->name);
}

const low_target low_x86 = {
    .triple = "x86_64-pc-linux-gnu",
    .machine = machine,
    .passes = "function(sroa,early-cse,instcombine<no-verify-fixpoint>,simplifycfg)",
    .id = TD_TARGET_CPU,
};
