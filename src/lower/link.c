/* link.c - objects into the process.
 *
 * One LLJIT for the process, one dylib for each object, so that kernels of one name do not meet.
 * An object's undefined symbols are looked up by name when it is linked: the core, libmvec,
 * libm, the process.
 */
#include "lower/link.h"

#include "lower/guard.h"
#include "lower/host.h"

#include <llvm-c/LLJIT.h>
#include <llvm-c/Orc.h>

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static struct {
    pthread_once_t libs_once, jit_once;
    void *lib[3]; /* libmvec may be missing; the process stands for all that it has loaded */
    LLVMOrcLLJITRef jit;
    td_status st;
    char why[256];
    atomic_uint linked; /* objects, for the dylibs' names */
} G = {.libs_once = PTHREAD_ONCE_INIT, .jit_once = PTHREAD_ONCE_INIT};

static void
open_libs(void)
{
    G.lib[0] = dlopen("libmvec.so.1", RTLD_NOW | RTLD_LOCAL);
    G.lib[1] = dlopen("libm.so.6", RTLD_NOW | RTLD_LOCAL);
    G.lib[2] = dlopen(NULL, RTLD_NOW);
}

void *
low_symbol(const char *name)
{
    void *p = low_runtime_symbol(name);

    pthread_once(&G.libs_once, open_libs);
    for (int i = 0; !p && i < 3; i++)
        if (G.lib[i])
            p = dlsym(G.lib[i], name);
    return p;
}

static void
link_start(void)
{
    LLVMOrcLLJITBuilderRef b = LLVMOrcCreateLLJITBuilder();

    G.st = low_llvm_error(LLVMOrcCreateLLJIT(&G.jit, b));
    snprintf(G.why, sizeof G.why, "%s", G.st ? td_error() : "");
}

static td_status
started(void)
{
    pthread_once(&G.jit_once, link_start);
    return G.st ? td_fail(G.st, "%s", G.why) : TD_OK;
}

/* Asked for the names that an object lacks; what is not found, ORC reports by name. */
static LLVMErrorRef
link_find(LLVMOrcDefinitionGeneratorRef self, void *ctx, LLVMOrcLookupStateRef *state,
          LLVMOrcLookupKind kind, LLVMOrcJITDylibRef dylib, LLVMOrcJITDylibLookupFlags flags,
          LLVMOrcCLookupSet set, size_t n)
{
    (void)self, (void)ctx, (void)state, (void)kind, (void)flags;
    for (size_t i = 0; i < n; i++) {
        LLVMOrcCSymbolMapPair pair = {.Name = set[i].Name};
        LLVMErrorRef e;

        pair.Sym.Address = (LLVMOrcExecutorAddress)(uintptr_t)low_symbol(
            LLVMOrcSymbolStringPoolEntryStr(pair.Name));
        pair.Sym.Flags.GenericFlags =
            LLVMJITSymbolGenericFlagsExported | LLVMJITSymbolGenericFlagsCallable;
        if (!pair.Sym.Address)
            continue;
        LLVMOrcRetainSymbolStringPoolEntry(pair.Name); /* the map takes a reference */
        if ((e = LLVMOrcJITDylibDefine(dylib, LLVMOrcAbsoluteSymbols(&pair, 1))))
            return e;
    }
    return LLVMErrorSuccess;
}

/* The entry's address within one dylib: LLVMOrcLLJITLookup would search the main one. */
typedef struct lookup {
    void *at;
    LLVMErrorRef err;
} lookup;

static void
on_found(LLVMErrorRef err, LLVMOrcCSymbolMapPairs result, size_t n, void *ctx)
{
    lookup *l = ctx;

    l->err = err;
    if (!err && n)
        l->at = (void *)(uintptr_t)result[0].Sym.Address;
}

static td_status
look_up(LLVMOrcJITDylibRef dylib, const char *name, void **entry)
{
    LLVMOrcExecutionSessionRef es = LLVMOrcLLJITGetExecutionSession(G.jit);
    LLVMOrcCJITDylibSearchOrderElement order = {dylib,
                                                LLVMOrcJITDylibLookupFlagsMatchExportedSymbolsOnly};
    LLVMOrcCLookupSetElement want = {LLVMOrcLLJITMangleAndIntern(G.jit, name),
                                     LLVMOrcSymbolLookupFlagsRequiredSymbol};
    lookup l = {0};

    LLVMOrcExecutionSessionLookup(es, LLVMOrcLookupKindStatic, &order, 1, &want, 1, on_found, &l);
    TD_TRY(low_llvm_error(l.err));
    *entry = l.at;
    return l.at ? TD_OK : td_fail(TD_ERR_JIT, "link: %s is not in its object", name);
}

td_status
low_link(const void *object, size_t nbytes, const char *name, void **entry)
{
    LLVMOrcDefinitionGeneratorRef gen;
    LLVMOrcJITDylibRef dylib;
    LLVMMemoryBufferRef buf;
    char unique[96];

    TD_TRY(started());
    snprintf(unique, sizeof unique, "%.64s.%u", name, atomic_fetch_add(&G.linked, 1));
    TD_TRY(low_llvm_error(LLVMOrcExecutionSessionCreateJITDylib(
        LLVMOrcLLJITGetExecutionSession(G.jit), &dylib, unique)));
    gen = LLVMOrcCreateCustomCAPIDefinitionGenerator(link_find, NULL, NULL);
    LLVMOrcJITDylibAddGenerator(dylib, gen);
    buf = LLVMCreateMemoryBufferWithMemoryRangeCopy(object, nbytes, unique);
    TD_TRY(low_llvm_error(LLVMOrcLLJITAddObjectFile(G.jit, dylib, buf)));
    return look_up(dylib, name, entry);
}
