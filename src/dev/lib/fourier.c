/* fourier.c - Fourier transforms by cuFFT: the library, and the plans that a device keeps.
 *
 * A plan holds tables in device memory, so a device keeps at most PLANS_MAX of them and drops the
 * one used longest ago. Work in flight may read a plan's tables, so the device is waited for
 * before a plan is dropped.
 */
#include "dev/core/fourier.h"
#include "dev/core/played.h"

#include "dev/core/site.h"
#include "dev/core/work.h"
#include "dev/cuda/cuda.h"
#include "dev/foreign/library.h"
#include "dev/lib/fourierlib.h"

#include <stdlib.h>
#include <string.h>

enum { PLANS_MAX = 64, KEY = 4 + 3 * TD_FOURIER_RANK + 4 };

/* ---- the library ---- */

static const td_lib_entry symbols[] = {
#define FN(slot, symbol, params) {#symbol, offsetof(td_fourierlib, slot)},
    TD_FOURIER_FUNCTIONS(FN)
#undef FN
};

static struct {
    td_lib_state state;
    td_fourierlib call;
    char path[512];
} found = {.state = TD_LIB_STATE};

static td_status
fourier_load(void)
{
    static const td_lib_name names[] = {
        {"libcufft.so.12", 13, "nvidia-cufft"}, {"libcufft.so.11", 12, "nvidia-cufft-cu12"}, {0}};
    void *lib;

    return td_lib_table(names, symbols, sizeof symbols / sizeof *symbols, &found.call, found.path,
                        sizeof found.path, &lib);
}

static td_status
cufft_library(const td_dev *d, const td_fourierlib **out)
{
    *out = d->info.kind == TD_DEV_NULL ? td_player_found()->fourier : &found.call;
    return d->info.kind == TD_DEV_NULL ? TD_OK : td_lib_once(&found.state, fourier_load);
}

static td_status
cufft_status(const td_cuda *c, int code, const char *call)
{
    enum { ALLOC_FAILED = 2 };
    static const char *const names[] = {
        /* cufft.h gives the numbers */
        [1] = "CUFFT_INVALID_PLAN",   [2] = "CUFFT_ALLOC_FAILED",
        [3] = "CUFFT_INVALID_TYPE",   [4] = "CUFFT_INVALID_VALUE",
        [5] = "CUFFT_INTERNAL_ERROR", [6] = "CUFFT_EXEC_FAILED",
        [7] = "CUFFT_SETUP_FAILED",   [8] = "CUFFT_INVALID_SIZE",
        [9] = "CUFFT_UNALIGNED_DATA", [11] = "CUFFT_INVALID_DEVICE",
        [13] = "CUFFT_NO_WORKSPACE",  [14] = "CUFFT_NOT_IMPLEMENTED",
        [16] = "CUFFT_NOT_SUPPORTED", [17] = "CUFFT_MISSING_DEPENDENCY",
        [18] = "CUFFT_NVRTC_FAILURE", [19] = "CUFFT_NVJITLINK_FAILURE"};
    bool known = code > 0 && code < (int)(sizeof names / sizeof *names) && names[code];

    if (!code)
        return TD_OK;
    return td_cuda_fail(c, code == ALLOC_FAILED ? TD_ERR_OOM : TD_ERR_DEVICE, 0, call,
                        known ? names[code] : "a status that is not known");
}

/* ---- plans ---- */

typedef struct plan {
    int64_t key[KEY];
    int handle;
    bool kept;
    uint64_t used; /* number of the last use */
    size_t work;
} plan;

/* td_plans - a device's plans.  Lives as long as the device; under plans_mu. */
struct td_plans {
    plan *at;
    size_t n, cap;
    uint64_t uses;
};

/* Everything in j that the plan depends on. */
static void
plan_key(const td_fourier *j, int64_t key[KEY])
{
    const td_fourier_side *side[] = {&j->in, &j->out};
    int at = 0;

    key[at++] = j->kind;
    key[at++] = j->wide;
    key[at++] = j->rank;
    key[at++] = j->batch;
    for (int i = 0; i < TD_FOURIER_RANK; i++)
        key[at++] = i < j->rank ? j->n[i] : 0;
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < TD_FOURIER_RANK; i++)
            key[at++] = i < j->rank ? side[k]->embed[i] : 0;
        key[at++] = side[k]->stride;
        key[at++] = side[k]->dist;
    }
    TD_ASSERT(at == KEY);
}

static td_status
make_room(td_cuda *c, const td_fourierlib *lib, struct td_plans *p)
{
    plan *oldest = NULL, *more;
    size_t kept = 0;

    for (size_t i = 0; i < p->n; i++) {
        kept += p->at[i].kept;
        if (!p->at[i].kept && (!oldest || p->at[i].used < oldest->used))
            oldest = &p->at[i];
    }
    if (oldest && p->n - kept >= PLANS_MAX) {
        TD_TRY(td_cuda_status(c, c->drv->cuCtxSynchronize(), "cuCtxSynchronize"));
        (void)lib->destroy(oldest->handle);
        *oldest = p->at[--p->n];
    }
    if (p->n < p->cap)
        return TD_OK;
    more = realloc(p->at, (p->cap + PLANS_MAX) * sizeof *more);
    if (!more)
        return td_fail(TD_ERR_NOMEM, "fft: no memory for a plan");
    p->at = more;
    p->cap += PLANS_MAX;
    return TD_OK;
}

static td_status
make_plan(td_cuda *c, const td_fourierlib *lib, const td_fourier *k, plan *made)
{
    int complex = k->wide ? CUFFT_C64 : CUFFT_C32, real = k->wide ? CUFFT_R64 : CUFFT_R32;
    long long n[TD_FOURIER_RANK], ie[TD_FOURIER_RANK], oe[TD_FOURIER_RANK];
    td_status st;

    for (int i = 0; i < TD_FOURIER_RANK; i++) {
        n[i] = k->n[i];
        ie[i] = k->in.embed[i];
        oe[i] = k->out.embed[i];
    }
    TD_TRY(cufft_status(c, lib->create(&made->handle), "cufftCreate"));
    st = cufft_status(c, lib->automatic(made->handle, 0), "cufftSetAutoAllocation");
    if (!st)
        st = cufft_status(c,
                          lib->make(made->handle, k->rank, n, ie, k->in.stride, k->in.dist,
                                    k->kind == TD_FOURIER_R2C ? real : complex, oe, k->out.stride,
                                    k->out.dist, k->kind == TD_FOURIER_C2R ? real : complex,
                                    k->batch, &made->work, complex),
                          "cufftXtMakePlanMany");
    if (st)
        (void)lib->destroy(made->handle);
    return st;
}

/* Needs the context and plans_mu.  *out is borrowed, and valid until the lock is released. */
static td_status
find_plan(td_cuda *c, const td_fourierlib *lib, const td_fourier *j, plan **out)
{
    struct td_plans *p = c->plans;
    plan made = {.handle = 0};

    if (!p && !(p = calloc(1, sizeof *p)))
        return td_fail(TD_ERR_NOMEM, "fft: no memory for plans");
    c->plans = p;
    plan_key(j, made.key);
    *out = NULL;
    for (size_t i = 0; i < p->n && !*out; i++)
        if (!memcmp(p->at[i].key, made.key, sizeof made.key))
            *out = &p->at[i];
    if (!*out) {
        TD_TRY(make_room(c, lib, p));
        TD_TRY(make_plan(c, lib, j, &made));
        *out = &p->at[p->n++];
        **out = made;
    }
    (*out)->used = ++p->uses;
    return TD_OK;
}

/* ---- transforms ---- */

static td_status
fourier_in_context(td_cuda *c, td_stream *s, const td_fourierlib *lib, const td_fourier *j)
{
    plan *p = NULL;
    td_status st;

    TD_TRY(find_plan(c, lib, j, &p));
    TD_TRY(cufft_status(c, lib->set_stream(p->handle, s->handle), "cufftSetStream"));
    if (p->work)
        TD_TRY(cufft_status(c, lib->set_work(p->handle, (void *)j->work), "cufftSetWorkArea"));
    (void)td_cuda_launched(c, s, "cuFFT", "fft");
    st = cufft_status(
        c,
        lib->exec(p->handle, (void *)j->in.at, (void *)j->out.at,
                  j->kind == TD_FOURIER_C2R || j->inverse ? CUFFT_INVERSE : CUFFT_FORWARD),
        "cufftXtExec");
    return !st && c->dev.sync ? td_cuda_sync(c, s) : st;
}

td_status
td_fourier_can(td_dev *d)
{
    const td_fourierlib *lib;

    return d->info.kind == TD_DEV_CPU ? TD_SKIP : cufft_library(d, &lib);
}

td_status
td_fourier_plan(td_stream *s, const td_fourier *j, bool keep, size_t *work)
{
    td_cuda *c = td_cuda_of(s->dev);
    const td_fourierlib *lib;
    plan *p = NULL;
    bool pushed;
    td_status st;

    TD_TRY(cufft_library(s->dev, &lib));
    TD_TRY(td_cuda_enter(c, &pushed));
    pthread_mutex_lock(&c->plans_mu);
    st = find_plan(c, lib, j, &p);
    if (!st) {
        p->kept |= keep;
        *work = p->work;
    }
    pthread_mutex_unlock(&c->plans_mu);
    td_cuda_leave(c, pushed);
    return st;
}

static size_t
fourier_bytes(const td_fourier *j)
{
    size_t count = (size_t)j->batch;

    for (int i = 0; i < j->rank; i++)
        count *= (size_t)j->n[i];
    return count * (j->wide ? 16 : 8) * (j->kind == TD_FOURIER_C2C ? 2 : 1);
}

td_status
td_fourier_run(td_stream *s, const td_fourier *j)
{
    return td_work_do(
        s, &(td_work){.kind = TD_TRACE_fourier, .fourier = j, .nbytes = fourier_bytes(j)});
}

td_status
td_fourier_do(td_stream *s, const td_fourier *j)
{
    td_cuda *c = td_cuda_of(s->dev);
    const td_fourierlib *lib;
    bool pushed;
    td_status st;

    TD_TRY(cufft_library(s->dev, &lib));
    TD_TRY(td_cuda_enter(c, &pushed));
    pthread_mutex_lock(&c->plans_mu);
    st = fourier_in_context(c, s, lib, j);
    pthread_mutex_unlock(&c->plans_mu);
    td_cuda_leave(c, pushed);
    return st;
}

int
td_fourier_plans(td_dev *d, int *most)
{
    td_cuda *c = td_cuda_of(d);
    int n;

    *most = PLANS_MAX;
    if (d->info.kind == TD_DEV_CPU)
        return 0;
    pthread_mutex_lock(&c->plans_mu);
    n = c->plans ? (int)c->plans->n : 0;
    pthread_mutex_unlock(&c->plans_mu);
    return n;
}

const char *
td_fourier_info(td_dev *d)
{
    const td_fourierlib *lib;
    int v = 0;

    if (d->info.kind == TD_DEV_CPU)
        return "ducc0";
    if (cufft_library(d, &lib))
        return td_name_format("NumPy, by way of the host: %s", td_error());
    if (lib != &found.call)
        return "played by the host";
    (void)lib->version(&v); /* 12103 for 12.1.3 */
    return td_name_format("cuFFT %d.%d.%d, %s", v / 1000, v / 100 % 10, v % 100, found.path);
}
