/* link.c - links objects into the process.
 *
 * There is one LLJIT for the process and one dylib per object, so that kernels of one name do not clash.  The dylib of
 * an object that was unlinked is reused for the next object.  An object's undefined symbols are looked up by name when
 * it is linked: in the core, libmvec, libm, the process.
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
#include <stdlib.h>
#include <string.h>

static struct {
    pthread_once_t libs_once, jit_once;
    void *lib[3]; /* libmvec (may be missing), libm, and the process with all it has loaded */
    LLVMOrcLLJITRef jit;
    td_status st;
    char why[256];
    atomic_uint linked; /* objects linked so far, for the buffers' names */
    pthread_mutex_t mu;
    struct linked *empty; /* guarded by mu */
    size_t dylibs;
} G = {
    .libs_once = PTHREAD_ONCE_INIT, .jit_once = PTHREAD_ONCE_INIT, .mu = PTHREAD_MUTEX_INITIALIZER};

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
before_fork(void)
{
    pthread_mutex_lock(&G.mu);
}

static void
after_fork(void)
{
    pthread_mutex_unlock(&G.mu);
}

static void
link_start(void)
{
    LLVMOrcLLJITBuilderRef b = LLVMOrcCreateLLJITBuilder();

    /* no child begins with an object half linked */
    pthread_atfork(before_fork, after_fork, after_fork);
    G.st = low_llvm_error(LLVMOrcCreateLLJIT(&G.jit, b));
    snprintf(G.why, sizeof G.why, "%s", G.st ? td_error() : "");
}

static td_status
started(void)
{
    pthread_once(&G.jit_once, link_start);
    return G.st ? td_fail(G.st, "%s", G.why) : TD_OK;
}

/* ORC calls this for the names that an object lacks.  It reports those that stay undefined. */
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

/* lookup - the entry's address within one dylib.  LLVMOrcLLJITLookup would search the main
 * one. */
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

static td_status
new_dylib(LLVMOrcJITDylibRef *out)
{
    char name[32];

    snprintf(name, sizeof name, "kernel.%zu", G.dylibs++);
    TD_TRY(low_llvm_error(
        LLVMOrcExecutionSessionCreateJITDylib(LLVMOrcLLJITGetExecutionSession(G.jit), out, name)));
    LLVMOrcJITDylibAddGenerator(*out,
                                LLVMOrcCreateCustomCAPIDefinitionGenerator(link_find, NULL, NULL));
    return TD_OK;
}

/* linked - an object in its dylib.  The addresses of its undefined names stay in the dylib, for the next object. */
typedef struct linked {
    struct linked *next; /* G.empty's list */
    LLVMOrcJITDylibRef dylib;
    LLVMOrcResourceTrackerRef tracker; /* of the object's memory and symbols */
} linked;

/* Needs G.mu. */
static td_status
take_dylib(linked **out)
{
    linked *l = G.empty;

    if (l) {
        G.empty = l->next;
    } else {
        l = calloc(1, sizeof *l);
        if (!l)
            return td_fail(TD_ERR_NOMEM, "link: a kernel's record");
        if (new_dylib(&l->dylib)) {
            free(l);
            return TD_ERR_JIT;
        }
    }
    l->tracker = LLVMOrcJITDylibCreateResourceTracker(l->dylib);
    *out = l;
    return TD_OK;
}

/* Needs G.mu.  A dylib that cannot be emptied is given up. */
static void
put_dylib(linked *l)
{
    td_status st = low_llvm_error(LLVMOrcResourceTrackerRemove(l->tracker));

    LLVMOrcReleaseResourceTracker(l->tracker);
    if (st) {
        free(l);
        return;
    }
    l->next = G.empty;
    G.empty = l;
}

void
low_unlink(void *code)
{
    pthread_mutex_lock(&G.mu);
    put_dylib(code);
    pthread_mutex_unlock(&G.mu);
}

/* Needs G.mu: ORC lets a thread finish another thread's object, and a symbol is found before its object is finished. */
static td_status
link_one(LLVMMemoryBufferRef object, const char *name, void **entry, linked **out)
{
    td_status st = take_dylib(out);

    if (st) {
        LLVMDisposeMemoryBuffer(object);
        return st;
    }
    st = low_llvm_error(LLVMOrcLLJITAddObjectFileWithRT(G.jit, (*out)->tracker, object));
    if (!st)
        st = look_up((*out)->dylib, name, entry);
    if (st) {
        put_dylib(*out);
        *out = NULL;
    }
    return st;
}

td_status
low_link(const void *object, size_t nbytes, const char *name, void **entry, void **code)
{
    char unique[96];
    td_status st;

    TD_TRY(started());
    snprintf(unique, sizeof unique, "%.64s.%u", name, atomic_fetch_add(&G.linked, 1));
    pthread_mutex_lock(&G.mu);
    st = link_one(LLVMCreateMemoryBufferWithMemoryRangeCopy(object, nbytes, unique), name, entry,
                  (linked **)code);
    pthread_mutex_unlock(&G.mu);
    return st;
}
