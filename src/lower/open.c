/* open.c - the table that this library exports, and initialising LLVM. */
#include "lower/lower.h"

#include "base/opts.h"
#include "lower/finish.h"
#include "lower/guard.h"
#include "lower/host.h"
#include "lower/link.h"

#include <llvm-c/Support.h>
#include <llvm-c/Target.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static td_lower table;

static td_status
object(const td_fn *f, void **out, size_t *nbytes)
{
    char *text = NULL, *code = NULL;
    size_t n;

    if (td_dump_wants("asm")) {
        TD_TRY(low_finish(f, &low_native, NULL, "asm", &text, &n));
        td_dump("asm", text);
        free(text);
    }
    TD_TRY(low_finish(f, &low_native, NULL, "object", &code, nbytes));
    *out = code;
    return TD_OK;
}

static td_status
ptx(const td_fn *f, const char *arch, char **out)
{
    size_t n;

    TD_TRY(low_finish(f, &low_nvptx, arch, "ptx", out, &n));
    td_dump("ptx", *out);
    return TD_OK;
}

static td_status
lower_text(const td_fn *f, const char *stage, const char *arch, char **out)
{
    bool gpu = strcmp(stage, "ptx") == 0 || (strcmp(stage, "llvm") == 0 && arch);
    size_t n;

    if (!gpu && strcmp(stage, "llvm") != 0 && strcmp(stage, "asm") != 0)
        return td_fail(TD_ERR_VALUE, "stage '%s': not llvm, asm or ptx", stage);
    return low_finish(f, gpu ? &low_nvptx : &low_native, arch ? arch : "sm_90", stage, out, &n);
}

/* A kernel's code depends on which vector functions exist.  Each mark represents a glibc that added some. */
static td_hash
cpu_key(void)
{
    static const char *const marks[] = {"exp", "tanh", "log10", "cbrt", "erf"};
    const low_cpu *h = low_host();
    td_hash k = TD_HASH_INIT;
    char name[48];

    k = td_hash_add(k, table.llvm_version, strlen(table.llvm_version));
    k = td_hash_add(k, h->name, strlen(h->name));
    k = td_hash_add(k, h->features, strlen(h->features));
    k = td_hash_add(k, h->tune ? h->tune : "", h->tune ? strlen(h->tune) : 0);
    k = td_hash_u64(k, (uint64_t)h->sve_bytes);
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        snprintf(name, sizeof name, "_ZGV%cN%dv_%s", h->isa, h->math_bytes / 8, marks[i]);
        k = td_hash_u64(k, low_symbol(name) != NULL);
    }
    return k;
}

/* Disables what a code generator does for little gain.  Strength reduction of loops: indices are one lea, and ptxas
 * does its own; without it kernels take fewer registers there.  A second scheduling after register allocation.
 * Together they take a quarter of the generator's time for a small kernel. */
static void
tune(void)
{
    const char *words[8] = {"treadle", "-disable-lsr", "-disable-post-ra"};
    int n = 3;

    for (const char *const *own = low_host_options; *own; own++)
        words[n++] = *own;
    LLVMParseCommandLineOptions(n, words, NULL);
}

static void
open_start(void)
{
    static char version[32];
    unsigned a, b, c;

    low_guard_install();
    tune();
    low_host_targets();
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    LLVMGetVersion(&a, &b, &c);
    snprintf(version, sizeof version, "%u.%u.%u", a, b, c);
    table = (td_lower){.object = object,
                       .ptx = ptx,
                       .link = low_link,
                       .unlink = low_unlink,
                       .text = lower_text,
                       .cpu_key = cpu_key,
                       .vector_bytes = low_host()->vector_bytes,
                       .llvm_version = version};
}

__attribute__((visibility("default"))) const td_lower *
td_lower_open(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, open_start);
    return &table;
}
