/* kfiber.c - blocks whose threads are fibers: their memory, their threads, and messages about
 * threads that wait for ever.
 */
#include "ir/interp/kfiber.h"

#include "base/fiber.h"
#include "base/scratch.h"
#include "ir/interp/interp_run.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGN = 64 };

/* ---- a launch ---- */

void
td_kfiber_launch_init(td_kfiber_launch *t, const char *kernel, size_t shared)
{
    *t = (td_kfiber_launch){.kernel = kernel, .shared = shared};
    pthread_mutex_init(&t->mu, NULL);
}

td_status
td_kfiber_launch_status(td_kfiber_launch *t)
{
    pthread_mutex_destroy(&t->mu);
    return t->st ? td_fail(t->st, "%s", t->text) : TD_OK;
}

static uint64_t
kfiber_number(const td_kfiber_block *b)
{
    return (uint64_t)b->bid[0] +
           (uint64_t)b->gdim[0] *
               ((uint64_t)b->bid[1] + (uint64_t)b->gdim[1] * (uint64_t)b->bid[2]);
}

/* Makes the thread's error the launch's, unless an earlier block has one. */
static void
record_failure(td_kfiber_launch *t, td_status st, uint64_t block)
{
    pthread_mutex_lock(&t->mu);
    if (!t->st || block < t->block) {
        t->st = st;
        t->block = block;
        snprintf(t->text, sizeof t->text, "%s", td_error());
    }
    pthread_mutex_unlock(&t->mu);
}

/* ---- failures ---- */

uint64_t
td_kfiber_fail(td_kfiber *self, const td_kfiber_site *site, const char *what, ...)
{
    const td_kfiber_block *b = self->block;
    td_kfiber_run *r = b->run;
    char text[400];
    va_list ap;

    if (r->failed)
        return 0;
    r->failed = true;
    va_start(ap, what);
    vsnprintf(text, sizeof text, what, ap);
    va_end(ap);
    record_failure(r->launch,
                   td_thread_fail(TD_ERR_THREADS, r->launch->kernel, (const uint32_t *)b->bid,
                                  (const uint32_t *)self->tid,
                                  (td_place){(td_op)site->op, site->at, site->line}, text),
                   kfiber_number(b));
    for (uint64_t i = 0; i < r->nblock * (uint64_t)r->n; i++)
        r->th[i].stop = 1;
    return 0;
}

uint64_t
td_kfiber_divergent(td_kfiber *self, const td_kfiber *other)
{
    const td_kfiber_site *site = self->site;
    char where[40] = "it has ended";
    const int32_t *bid = other->block->bid;

    if (other->ended && site->op == OP_grid_barrier)
        return td_kfiber_fail(self, site, TD_GRID_ENDED, (unsigned)bid[0], (unsigned)bid[1],
                              (unsigned)bid[2]);
    if (other->site)
        snprintf(where, sizeof where, "it waits at line %u", other->site->line);
    return td_kfiber_fail(self, site, "divergent %s: thread (%d, %d, %d) does not reach it: %s",
                          td_optab[site->op].name, other->tid[0], other->tid[1], other->tid[2],
                          where);
}

static bool
exchanges(const td_kfiber *t)
{
    return t->site && td_optab[t->site->op].threads == TD_THREADS_WARP;
}

/* Explains why thread l waits for ever: names the member of its warp that does not come. */
static void
stuck_in_warp(td_kfiber *w, int n)
{
    for (int l = 0; l < n; l++)
        for (int k = 0; exchanges(&w[l]) && k < n; k++)
            if ((w[l].members >> k & 1) && !w[k].ended &&
                (w[k].site != w[l].site || w[k].members != w[l].members)) {
                (void)td_kfiber_divergent(&w[l], &w[k]);
                return;
            }
}

/* Names two of n threads that wait at different barriers, or one that has returned. */
static void
stuck_at_barriers(td_kfiber *th, uint64_t n)
{
    td_kfiber *first = NULL;

    for (uint64_t i = 0; i < n; i++) {
        td_kfiber *t = &th[i];

        if (t->ended)
            continue;
        if (first && t->site != first->site) {
            (void)(first->site ? td_kfiber_divergent(first, t) : td_kfiber_divergent(t, first));
            return;
        }
        first = first ? first : t;
    }
}

/* Nobody can continue: looks for the reason in the same order as the interpreter. */
static void
explain(td_kfiber_run *r)
{
    for (uint64_t b = 0; b < r->nblock && !r->failed; b++) {
        td_kfiber *th = r->th + b * (uint64_t)r->n;

        for (int w = 0; w < r->n && !r->failed; w += TD_WARP)
            stuck_in_warp(th + w, r->n - w < TD_WARP ? r->n - w : TD_WARP);
        if (!r->failed)
            stuck_at_barriers(th, (uint64_t)r->n);
    }
    if (!r->failed)
        stuck_at_barriers(r->th, r->nblock * (uint64_t)r->n);
}

/* ---- blocks ---- */

static size_t
align_up(size_t n)
{
    return (n + ALIGN - 1) / ALIGN * ALIGN;
}

static void
start_block(td_kfiber_run *r, uint64_t k, const int32_t bid[3], char *shared, char *local)
{
    const uint64_t *words = r->args + r->info->nparam + 1;
    td_kfiber_block *b = &r->block[k];
    td_kfiber *th = r->th + k * (uint64_t)r->n;

    b->run = r;
    b->shared = shared;
    b->dynamic = r->info->meets ? shared + align_up(r->info->shared) : td_scratch();
    for (int d = 0; d < 3; d++) {
        b->bid[d] = bid[d];
        b->bdim[d] = (int32_t)words[d];
        b->gdim[d] = (int32_t)words[3 + d];
    }
    for (int i = 0; i < r->n; i++) {
        th[i].tid[0] = i % b->bdim[0];
        th[i].tid[1] = i / b->bdim[0] % b->bdim[1];
        th[i].tid[2] = i / b->bdim[0] / b->bdim[1];
        th[i].lane = i % TD_WARP;
        th[i].block = b;
        th[i].local = local + ((size_t)k * (size_t)r->n + (size_t)i) * align_up(r->info->local);
    }
}

static void
thread(void *ctx, int i)
{
    td_kfiber_run *r = ctx;
    td_kfiber *t = &r->th[i];

    r->fn(r->args, t);
    t->gone = true;
    t[-t->lane].moves++;
}

/* Allocates the memory of all blocks in one piece; NULL: there is none. */
static char *
lay(td_kfiber_run *r, char **shared, char **local, size_t *step)
{
    size_t all = r->nblock * (size_t)r->n,
           records = align_up(r->nblock * sizeof *r->block) + align_up(all * sizeof *r->th);
    char *p;

    *step = align_up(r->info->shared) + (r->info->meets ? align_up(r->launch->shared) : 0);
    p = malloc(records + r->nblock * *step + all * align_up(r->info->local) + ALIGN);
    if (!p)
        return NULL;
    *shared = p + (ALIGN - (uintptr_t)p % ALIGN) % ALIGN;
    *local = *shared + r->nblock * *step;
    r->block = (td_kfiber_block *)(void *)(*local + all * align_up(r->info->local));
    r->th = (td_kfiber *)(void *)((char *)r->block + align_up(r->nblock * sizeof *r->block));
    memset(r->block, 0, records);
    return p;
}

static void
kfiber_run(td_kfiber_run *r, const int32_t from[3], const int32_t to[3])
{
    char *shared, *local, *memory;
    size_t step;
    uint64_t k = 0;
    int32_t at[3];
    td_status st;

    memory = lay(r, &shared, &local, &step);
    if (!memory) {
        record_failure(r->launch,
                       td_fail(TD_ERR_NOMEM,
                               "kernel %s: no memory for %" PRIu64 " blocks of %d threads",
                               r->launch->kernel, r->nblock, r->n),
                       0);
        return;
    }
    for (at[2] = from[2]; at[2] < to[2]; at[2]++)
        for (at[1] = from[1]; at[1] < to[1]; at[1]++)
            for (at[0] = from[0]; at[0] < to[0]; at[0]++, k++)
                start_block(r, k, at, shared + k * step, local);
    st = td_fibers_run((int)(r->nblock * (uint64_t)r->n), thread, r);
    if (st == TD_ERR_THREADS && !r->failed)
        explain(r);
    if (st && !r->failed)
        record_failure(r->launch, st, kfiber_number(r->block));
    free(memory);
}

void
td_kfiber_do_block(td_kfiber_fn *fn, const td_kfiber_info *info, const uint64_t *args, int64_t bid,
                   int64_t nblock)
{
    const uint64_t *words = args + info->nparam + 1;
    int32_t from[3] = {(int32_t)bid, (int32_t)(nblock & UINT16_MAX), (int32_t)(nblock >> 16)},
            to[3] = {from[0] + 1, from[1] + 1, from[2] + 1};
    td_kfiber_run r = {.launch = (td_kfiber_launch *)(uintptr_t)args[info->nparam],
                       .fn = fn,
                       .info = info,
                       .args = args,
                       .nblock = 1,
                       .n = (int)(words[0] * words[1] * words[2])};

    if (info->meets) {
        if (bid || nblock)
            return;
        for (int d = 0; d < 3; d++)
            to[d] = (int32_t)words[3 + d];
        r.nblock = words[3] * words[4] * words[5];
    }
    if (r.nblock > (uint64_t)(INT32_MAX / r.n)) {
        record_failure(r.launch,
                       td_fail(TD_ERR_VALUE, "kernel %s: %" PRIu64 " blocks of %d threads at once",
                               r.launch->kernel, r.nblock, r.n),
                       0);
        return;
    }
    kfiber_run(&r, from, to);
}
