/* ptx.c - NVIDIA GPUs: links libdevice's functions and writes PTX. */
#include "lower/blobs.h"
#include "lower/finish.h"
#include "lower/guard.h"

#include <llvm-c/BitReader.h>
#include <llvm-c/Linker.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The architectures that LLVM 19 knows and the oldest PTX version that has each.  PTX runs on newer
 * architectures than it was written for, and older drivers take older PTX. */
static const struct {
    int sm;
    const char *ptx;
} archs[] = {{50, "+ptx63"}, {52, "+ptx63"}, {53, "+ptx63"}, {60, "+ptx63"}, {61, "+ptx63"},
             {62, "+ptx63"}, {70, "+ptx63"}, {72, "+ptx63"}, {75, "+ptx63"}, {80, "+ptx70"},
             {86, "+ptx71"}, {87, "+ptx74"}, {89, "+ptx78"}, {90, "+ptx78"}};

static td_status
machine(const char *arch, bool plain, LLVMTargetMachineRef *out)
{
    int sm = arch && strncmp(arch, "sm_", 3) == 0 ? atoi(arch + 3) : 0;
    size_t best = sizeof archs / sizeof *archs;
    LLVMTargetRef t;
    char *why = NULL, name[16];
    td_status st;

    (void)plain; /* the driver's compiler works on the text once more */
    for (size_t i = 0; i < sizeof archs / sizeof *archs && archs[i].sm <= sm; i++)
        best = i;
    if (best == sizeof archs / sizeof *archs)
        return td_fail(TD_ERR_JIT, "ptx: architecture '%s' is older than sm_%d or none",
                       arch ? arch : "", archs[0].sm);
    snprintf(name, sizeof name, "sm_%d", archs[best].sm);
    if (LLVMGetTargetFromTriple(low_nvptx.triple, &t, &why)) {
        st = td_fail(TD_ERR_JIT, "llvm: %s", why);
        LLVMDisposeMessage(why);
        return st;
    }
    *out = LLVMCreateTargetMachine(t, low_nvptx.triple, name, archs[best].ptx,
                                   LLVMCodeGenLevelDefault, LLVMRelocDefault, LLVMCodeModelDefault);
    return *out ? TD_OK : td_fail(TD_ERR_JIT, "llvm: no machine for %s", name);
}

static int
compare_blob(const void *name, const void *blob)
{
    return strcmp(name, ((const low_blob *)blob)->name);
}

/* Bytes of bitcode: overhead of a blob besides its function, and how much of a function's
 * copies may be inlined, which takes about 20 ms of compilation.  Four lanes of float32 `sin`
 * are 7 KB. */
enum { BLOB_FRAME = 2300, INLINE_MAX = 24000 };

static void
ptx_place(lowering *L, LLVMValueRef fn, size_t nbytes)
{
    static const char always[] = "alwaysinline"; /* libdevice's own mark */
    size_t calls = 0;

    LLVMSetLinkage(fn, LLVMInternalLinkage);
    LLVMRemoveEnumAttributeAtIndex(fn, LLVMAttributeFunctionIndex,
                                   LLVMGetEnumAttributeKindForName(always, sizeof always - 1));
    for (LLVMUseRef u = LLVMGetFirstUse(fn); u; u = LLVMGetNextUse(u))
        calls++;
    low_attr(L, fn, calls * (nbytes - BLOB_FRAME) > INLINE_MAX ? "noinline" : always, 0);
}

static td_status
link_blob(lowering *L, const char *name)
{
    const low_blob *b = bsearch(name, low_blobs, low_nblob, sizeof *low_blobs, compare_blob);
    LLVMMemoryBufferRef buf;
    LLVMModuleRef m;

    if (!b)
        return td_fail(
            TD_ERR_JIT, "kernel %s: %s is missing: %s", L->f->name, name,
            low_nblob ? "libdevice has no such function"
                      : "this treadle was built without libdevice (CUDA toolkit or nvidia-nvvm)");
    buf = LLVMCreateMemoryBufferWithMemoryRange((const char *)b->bytes, b->nbytes, name, 0);
    if (LLVMParseBitcodeInContext2(L->cx, buf, &m)) {
        LLVMDisposeMemoryBuffer(buf);
        return td_fail(TD_ERR_JIT, "kernel %s: %s: broken bitcode", L->f->name, name);
    }
    LLVMDisposeMemoryBuffer(buf);
    LLVMSetTarget(m, LLVMGetTarget(L->mod));
    LLVMSetDataLayout(m, LLVMGetDataLayoutStr(L->mod));
    if (LLVMLinkModules2(L->mod, m)) /* takes over m */
        return td_fail(TD_ERR_JIT, "kernel %s: %s does not link", L->f->name, name);
    ptx_place(L, LLVMGetNamedFunction(L->mod, name), b->nbytes);
    return TD_OK;
}

/* Links the libdevice functions that the kernel calls.  A blob contains all that it calls
 * itself, so one walk over the kernel's declarations finds everything. */
static td_status
link_libdevice(lowering *L)
{
    LLVMValueRef fn, next;

    for (fn = LLVMGetFirstFunction(L->mod); fn; fn = next) {
        char name[48];

        snprintf(name, sizeof name, "%s", LLVMGetValueName(fn));
        next = LLVMGetNextFunction(fn);
        if (strncmp(name, "__nv_", 5) == 0 && LLVMIsDeclaration(fn))
            TD_TRY(link_blob(L, name));
    }
    return TD_OK;
}

const low_target low_nvptx = {
    .triple = "nvptx64-nvidia-cuda",
    .machine = machine,
    .link = link_libdevice,
    .usual = "always-inline,globaldce,function(sroa,early-cse,instcombine<no-verify-fixpoint>,"
             "simplifycfg,loop(loop-deletion))",
    .optimise = "always-inline,globaldce,default<O3>",
    .is_long = "always-inline,globaldce,function(sroa,early-cse,simplifycfg,loop(loop-deletion))",
    .id = TD_TARGET_GPU,
};
