/* host.c - the host: what its CPU supports, and compiling objects for it. */
#include "lower/host.h"

#include "base/opts.h"
#include "lower/finish.h"

#include <llvm-c/Target.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static low_cpu host;

#if defined(__x86_64__)

#define TRIPLE "x86_64-pc-linux-gnu"

/* Moving integers to mask registers takes time quadratic in a block's length. */
const char *const low_host_options[] = {"-disable-x86-domain-reassignment", NULL};

void
low_host_targets(void)
{
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
}

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
    {.name = "x86-64-v3", .vector_bytes = 32, .isa = 'd', .half = true, .fma = true},
    {.name = "x86-64-v4", .vector_bytes = 64, .isa = 'e', .half = true, .fma = true},
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
    host.half = has(features, "f16c");
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
    host.math_bytes = host.vector_bytes;
    host.triple = TRIPLE;
}

#elif defined(__aarch64__)

#include <stdio.h>
#include <sys/auxv.h>
#include <sys/prctl.h>

#define TRIPLE "aarch64-unknown-linux-gnu"

/* GlobalISel, which this target takes for code without optimisation, is another selector than every other kernel has. */
const char *const low_host_options[] = {"-aarch64-enable-global-isel-at-O=-1", NULL};

void
low_host_targets(void)
{
    LLVMInitializeAArch64TargetInfo();
    LLVMInitializeAArch64Target();
    LLVMInitializeAArch64TargetMC();
    LLVMInitializeAArch64AsmPrinter();
}

enum { SVE_MOST = 64 /* bytes of a vector: as many lanes as the IR has */ };

/* What the kernel says of the CPU and what LLVM calls it.  The kernel is asked, not the CPU's name: it, or a hypervisor,
 * may have switched off what such a CPU has. */
static const struct {
    int word, bit; /* of AT_HWCAP or AT_HWCAP2; their headers lack the later ones */
    const char *feature;
} caps[] = {
    {AT_HWCAP, 7, "+crc"},      {AT_HWCAP, 8, "+lse"},      {AT_HWCAP, 10, "+fullfp16"},
    {AT_HWCAP, 12, "+rdm"},     {AT_HWCAP, 13, "+jsconv"},  {AT_HWCAP, 14, "+complxnum"},
    {AT_HWCAP, 15, "+rcpc"},    {AT_HWCAP, 20, "+dotprod"}, {AT_HWCAP, 22, "+sve"},
    {AT_HWCAP, 23, "+fp16fml"}, {AT_HWCAP, 25, "+lse2"},    {AT_HWCAP, 26, "+rcpc-immo"},
    {AT_HWCAP, 27, "+flagm"},   {AT_HWCAP2, 1, "+sve2"},    {AT_HWCAP2, 4, "+sve2-bitperm"},
    {AT_HWCAP2, 7, "+altnzcv"}, {AT_HWCAP2, 8, "+fptoint"}, {AT_HWCAP2, 13, "+i8mm"},
    {AT_HWCAP2, 14, "+bf16"},
};

/* Levels of the architecture that stand below what is found; all are NEON's. */
static const struct {
    const char *name, *features;
} levels[] = {{"armv8-a", "+neon"}, {"armv8.1-a", "+neon,+crc,+lse,+rdm"}};

/* What the CPU has; `features` holds it as LLVM reads it.  Returns the length of SVE's registers. */
static int
read_caps(char *features, size_t room)
{
    int sve = 0, length = prctl(PR_SVE_GET_VL);
    size_t n = (size_t)snprintf(features, room, "+neon");

    for (size_t i = 0; i < sizeof caps / sizeof *caps; i++) {
        bool is_sve = strncmp(caps[i].feature, "+sve", 4) == 0;

        if (!(getauxval((unsigned long)caps[i].word) >> caps[i].bit & 1) || (is_sve && length < 16))
            continue;
        n += (size_t)snprintf(features + n, room - n, ",%s", caps[i].feature);
        if (is_sve)
            sve = length & PR_SVE_VL_LEN_MASK;
    }
    return sve;
}

static void
find_host(void)
{
    static char features[512];
    const char *want = td_options()->cpu;

    host = (low_cpu){
        .triple = TRIPLE, .name = "generic", .features = features, .half = true, .fma = true};
    host.sve_bytes = read_caps(features, sizeof features);
    host.tune = LLVMGetHostCPUName(); /* lives as long as the process */
    for (size_t i = 0; want && i < sizeof levels / sizeof *levels; i++)
        if (strcmp(want, levels[i].name) == 0) {
            host.features = levels[i].features;
            host.sve_bytes = 0;
        }
    for (host.vector_bytes = 16;
         2 * host.vector_bytes <= host.sve_bytes && host.vector_bytes < SVE_MOST;)
        host.vector_bytes *= 2;
    /* libmvec's functions for SVE take registers of any length, which vectors of a fixed length are not. */
    host.isa = 'n';
    host.slow_gather = !host.sve_bytes; /* NEON gathers nothing */
    host.math_bytes = 16;
}

#endif

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

const low_target low_native = {
    .triple = TRIPLE,
    .machine = machine,
    .usual = "function(sroa,early-cse,instcombine<no-verify-fixpoint>,simplifycfg)",
    .optimise = "function(sroa,early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg,"
                "loop-mssa(licm),loop-vectorize,loop-unroll<O3;no-runtime>,early-cse,"
                "instcombine<no-verify-fixpoint>,simplifycfg)",
    .is_long = "function(early-cse)",
    .id = TD_TARGET_CPU,
};
