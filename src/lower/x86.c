/* x86.c - the host: what its CPU supports, and compiling objects for it. */
#include "base/opts.h"
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

/* The levels of the x86-64 ABI. */
static const low_cpu levels[] = {
    {.name = "x86-64-v2", .vector_bytes = 16, .isa = 'b'},
    {.name = "x86-64-v3", .vector_bytes = 32, .isa = 'd', .f16c = true, .fma = true},
    {.name = "x86-64-v4", .vector_bytes = 64, .isa = 'e', .f16c = true, .fma = true},
};

static void
find_host(void)
{
    char *name = LLVMGetHostCPUName(), *features = LLVMGetHostCPUFeatures();
    const char *want = td_options()->cpu;
    bool wide = has(features, "avx512f") && has(features, "avx512bw") &&
                has(features, "avx512dq") && has(features, "avx512vl");

    host.name = name; /* both live as long as the process */
    host.features = features;
    host.vector_bytes = wide ? 64 : has(features, "avx2") ? 32 : 16;
    host.isa = wide ? 'e' : has(features, "avx2") ? 'd' : 'b';
    host.f16c = has(features, "f16c");
    host.fma = has(features, "fma");
    host.slow_gather = strncmp(name, "znver", 5) == 0;
    for (size_t i = 0; want && i < sizeof levels / sizeof *levels; i++)
        if (strcmp(want, levels[i].name) == 0 && levels[i].vector_bytes < host.vector_bytes) {
            host = levels[i];
            host.features = "";
        }
    if (host.features != features) {
        LLVMDisposeMessage(name);
        LLVMDisposeMessage(features);
    }
    host.triple = low_x86.triple;
}

const low_cpu *
low_host(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, find_host);
    return &host;
}

static td_status
machine(const char *arch, bool plain, LLVMTargetMachineRef *out)
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
    *out = LLVMCreateTargetMachine(t, h->triple, h->name, h->features,
                                   plain ? LLVMCodeGenLevelNone : LLVMCodeGenLevelDefault,
                                   LLVMRelocPIC, LLVMCodeModelDefault);
    return *out ? TD_OK : td_fail(TD_ERR_JIT, "llvm: no machine for %s", h->name);
}

const low_target low_x86 = {
    .triple = "x86_64-pc-linux-gnu",
    .machine = machine,
    .usual = "function(sroa,early-cse,instcombine<no-verify-fixpoint>,simplifycfg)",
    .optimise = "function(sroa,early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg,"
                "loop-mssa(licm),loop-vectorize,loop-unroll<O3;no-runtime>,early-cse,"
                "instcombine<no-verify-fixpoint>,simplifycfg)",
    .is_long = "function(early-cse)",
    .id = TD_TARGET_CPU,
};
