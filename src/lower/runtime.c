/* runtime.c - functions of the core that CPU code calls by name, for what takes more than
 * instructions.
 */
#include "base/box.h"
#include "base/clock.h"
#include "base/parallel.h"
#include "base/scratch.h"
#include "base/stop.h"
#include "ir/interp/kfiber.h"
#include "lower/emit.h"
#include "lower/host.h"

#include <string.h>
#include <time.h>

static int64_t
run_clock(void)
{
    return td_now_ns();
}

static void
run_nanosleep(int64_t ns)
{
    struct timespec t = {.tv_sec = ns > 0 ? ns / 1000000000 : 0,
                         .tv_nsec = ns > 0 ? ns % 1000000000 : 0};

    nanosleep(&t, NULL);
}

typedef void run_piece(void *env, int64_t first, int64_t end, int64_t number);

typedef struct pieces {
    run_piece *fn;
    void *env;
    int64_t lo, hi, n;
} pieces;

static void
run_one(void *ctx, int64_t k)
{
    const pieces *p = ctx;
    int64_t first, end;

    if (td_stop_left())
        return;
    td_parallel_piece(p->lo, p->hi, p->n, k, &first, &end);
    p->fn(p->env, first, end, k);
}

/* 1: the loop was left early (base/stop.h). */
static int64_t
run_pieces(run_piece *fn, void *env, int64_t lo, int64_t hi, int64_t most)
{
    uint64_t all = (uint64_t)hi - (uint64_t)lo;
    pieces p = {fn, env, lo, hi, all < (uint64_t)most ? (int64_t)all : most};

    if (lo < hi)
        td_parallel(p.n, run_one, &p);
    return td_stop_left();
}

static const struct {
    const char *name;
    void (*fn)(void);
} functions[] = {
    {"td_scratch", (void (*)(void))td_scratch},
    {"td_box_ask", (void (*)(void))td_box_ask},
    {"td_callmem_release", (void (*)(void))td_callmem_release},
    {"td_callmem_take", (void (*)(void))td_callmem_take},
    {"td_kfiber_do_block", (void (*)(void))td_kfiber_do_block},
    {"td_kfiber_meet", (void (*)(void))td_kfiber_meet},
    {"td_kfiber_pass", (void (*)(void))td_kfiber_pass},
    {"td_stop_look", (void (*)(void))td_stop_look},
    {"td_run_clock", (void (*)(void))run_clock},
    {"td_run_pieces", (void (*)(void))run_pieces},
    {"td_run_nanosleep", (void (*)(void))run_nanosleep},
};

void *
low_runtime_symbol(const char *name)
{
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (strcmp(functions[i].name, name) == 0)
            return (void *)(uintptr_t)functions[i].fn;
    return NULL;
}

LLVMValueRef
low_runtime(lowering *L, const char *name, LLVMTypeRef result, LLVMValueRef *arg, unsigned n)
{
    LLVMTypeRef par[5];
    LLVMValueRef fn = LLVMGetNamedFunction(L->mod, name);

    TD_ASSERT(n <= 5 && low_runtime_symbol(name));
    for (unsigned i = 0; i < n; i++)
        par[i] = LLVMTypeOf(arg[i]);
    if (!fn) {
        fn = LLVMAddFunction(L->mod, name, LLVMFunctionType(result, par, n, 0));
        low_attr(L, fn, "nounwind", 0);
    }
    return LLVMBuildCall2(L->b, LLVMGlobalGetValueType(fn), fn, arg, n, "");
}
