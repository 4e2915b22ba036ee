/* cpu.c - the host as a device.  Its one stream runs everything at once; the thread pool runs
 * blocks.
 */
#include "base/failure.h"
#include "base/limits.h"
#include "base/parallel.h"
#include "base/scratch.h"
#include "base/stop.h"
#include "dev/core/rawops.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* granularity in which memory goes back to the system when it is short */
#define GRAIN    ((size_t)64 << 10)
#define PIECE    ((size_t)1 << 20) /* piece of a copy that several threads share */
#define PARALLEL ((size_t)4 << 20) /* a shorter copy is done before a second thread is awake */

enum {
    THREADS = 1024
}; /* threads of a block, as on a GPU; a widened kernel's arrays have as many elements */

static td_dev cpu;

/* ---- memory ---- */

static td_status
mem_get(td_dev *d, td_piece *m)
{
    (void)d;
    m->ptr = (uintptr_t)td_host_map(m->nbytes);
    return m->ptr ? TD_OK : TD_ERR_OOM;
}

static td_status
mem_put(td_dev *d, td_piece *m)
{
    (void)d;
    td_host_unmap((void *)m->ptr, m->nbytes);
    return TD_OK;
}

static td_status
mem_cut(td_dev *d, td_piece *m, size_t at, size_t nbytes)
{
    (void)d;
    td_host_drop((char *)m->ptr + at, nbytes);
    return TD_OK;
}

static td_status
cpu_memory(td_dev *d, size_t *free_bytes, size_t *total_bytes)
{
    char line[128];
    size_t kb;
    FILE *f = fopen("/proc/meminfo", "re");

    *total_bytes = *free_bytes = d->info.memory;
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "MemAvailable: %zu", &kb) == 1 && kb * 1024 < *free_bytes)
            *free_bytes = kb * 1024;
    if (f)
        fclose(f);
    return TD_OK;
}

static td_status
sync_nothing(td_dev *d)
{
    (void)d;
    return TD_OK;
}

/* ---- copies ---- */

typedef struct move {
    char *dst;
    const char *src; /* NULL: fills with byte */
    int byte;
    size_t nbytes;
} move;

static void
move_piece(void *ctx, int64_t i)
{
    const move *m = ctx;
    size_t at = (size_t)i * PIECE, n = m->nbytes - at < PIECE ? m->nbytes - at : PIECE;

    if (m->src)
        memcpy(m->dst + at, m->src + at, n);
    else
        memset(m->dst + at, m->byte, n);
}

static td_status
run_move(move m)
{
    if (m.nbytes >= PARALLEL)
        td_parallel((int64_t)((m.nbytes + PIECE - 1) / PIECE), move_piece, &m);
    else if (m.src)
        memcpy(m.dst, m.src, m.nbytes);
    else
        memset(m.dst, m.byte, m.nbytes);
    return TD_OK;
}

static td_status
copy_in(td_stream *s, uintptr_t dst, const void *src, size_t nbytes)
{
    (void)s;
    return run_move((move){.dst = (char *)dst, .src = src, .nbytes = nbytes});
}

/* filling - a copy whose filler writes it in pieces.  On its caller's stack. */
typedef struct filling {
    char *dst;
    size_t nbytes, piece;
    td_filler *fill;
    void *ctx;
    td_failure failure;
} filling;

static void
fill_piece(void *ctx, int64_t i)
{
    filling *f = ctx;
    size_t at = (size_t)i * f->piece, n = f->nbytes - at < f->piece ? f->nbytes - at : f->piece;

    if (!td_failure_is(&f->failure))
        td_failure_note(&f->failure, f->fill(f->ctx, at, n, f->dst + at));
}

static td_status
copy_fill(td_stream *s, uintptr_t dst, size_t nbytes, td_filler *fill, void *ctx)
{
    filling f = {.dst = (char *)dst, .nbytes = nbytes, .piece = PIECE, .fill = fill, .ctx = ctx};

    (void)s;
    td_failure_init(&f.failure);
    td_parallel((int64_t)((nbytes + PIECE - 1) / PIECE), fill_piece, &f);
    return td_failure_end(&f.failure);
}

static td_status
copy_out(td_stream *s, void *dst, uintptr_t src, size_t nbytes)
{
    (void)s;
    return run_move((move){.dst = dst, .src = (const char *)src, .nbytes = nbytes});
}

static td_status
cpu_copy(td_stream *s, uintptr_t dst, uintptr_t src, size_t nbytes)
{
    (void)s;
    return run_move((move){.dst = (char *)dst, .src = (const char *)src, .nbytes = nbytes});
}

static td_status
cpu_fill(td_stream *s, uintptr_t dst, int byte, size_t nbytes)
{
    (void)s;
    return run_move((move){.dst = (char *)dst, .byte = byte, .nbytes = nbytes});
}

/* ---- launches ---- */

typedef struct run {
    td_cpu_entry *entry;
    const uint64_t *args;
    int64_t nblock;
    const td_dims *dims;
    atomic_bool failed; /* a block found no memory for its dynamic shared memory */
} run;

static void
cpu_run_block(void *ctx, int64_t i)
{
    run *r = ctx;

    if (td_stop_left())
        return;
    if (r->dims->shared && !td_scratch_grow(r->dims->shared))
        atomic_store(&r->failed, true);
    else
        r->entry(r->args, i, r->nblock);
}

static void
run_threads(void *ctx, int64_t i)
{
    run *r = ctx;
    int64_t x = r->dims->grid[0], y = r->dims->grid[1];

    if (td_stop_left())
        return;
    if (r->dims->shared && !td_scratch_grow(r->dims->shared))
        atomic_store(&r->failed, true);
    else
        r->entry(r->args, i % x, i / x % y | i / x / y << 16);
}

/* A kernel with blocks of threads finds the extents after its arguments. */
static td_status
launch_threads(run *r, int narg, const char *text)
{
    const td_dims *d = r->dims;
    uint64_t words[narg + 6];

    if ((uint64_t)d->block[0] * d->block[1] * d->block[2] > THREADS || d->grid[0] > INT32_MAX ||
        d->grid[1] > UINT16_MAX || d->grid[2] > UINT16_MAX)
        return td_fail(
            TD_ERR_VALUE,
            "%s: a block has at most %d threads, a grid 2147483647 x 65535 x 65535 blocks", text,
            THREADS);
    memcpy(words, r->args, (size_t)narg * sizeof *words);
    for (int k = 0; k < 3; k++) {
        words[narg + k] = d->block[k];
        words[narg + 3 + k] = d->grid[k];
    }
    r->args = words;
    td_parallel(r->nblock, run_threads, r);
    return TD_OK;
}

static td_status
cpu_launch(td_func *f, td_stream *s, const td_dims *dims, const uint64_t *args, int narg)
{
    run r = {.entry = f->entry, .args = args, .dims = dims};
    char text[256];
    td_status st = TD_OK, left;
    td_stop stop;

    (void)s;
    if (f->module)
        return td_cpu_module_launch(f, dims, args, narg);
    r.nblock = (int64_t)dims->grid[0] * dims->grid[1];
    if (__builtin_mul_overflow(r.nblock, (int64_t)dims->grid[2], &r.nblock) ||
        (!f->blocks && (uint64_t)dims->block[0] * dims->block[1] * dims->block[2] != 1))
        return td_fail(TD_ERR_VALUE,
                       "%s: a block of this kernel has one thread, a grid fewer than 2^63 blocks",
                       td_launch_text(f, dims, text, sizeof text));
    td_stop_begin(&stop);
    if (f->blocks)
        st = launch_threads(&r, narg, td_launch_text(f, dims, text, sizeof text));
    else
        td_parallel(r.nblock, cpu_run_block, &r);
    left = td_stop_end(&stop);
    if (st || left)
        return st ? st : left;
    return r.failed ? td_fail(TD_ERR_NOMEM, "%s: no memory for a block's shared memory",
                              td_launch_text(f, dims, text, sizeof text))
                    : TD_OK;
}

static const td_devops cpu_ops = {
    .align = 64,
    .entries = true,
    .raw = &td_cpu_raw,
    .mem_get = mem_get,
    .mem_put = mem_put,
    .mem_cut = mem_cut,
    .share_new = td_cpu_share_new,
    .share = td_cpu_share,
    .share_open = td_cpu_share_open,
    .share_close = td_cpu_share_close,
    .memory = cpu_memory,
    .trim = td_host_trim,
    .sync = sync_nothing,
    .copy_in = copy_in,
    .copy_fill = copy_fill,
    .copy_out = copy_out,
    .copy = cpu_copy,
    .fill = cpu_fill,
    .module_load = td_cpu_module_load,
    .module_free = td_cpu_module_free,
    .module_func = td_cpu_module_func,
    .module_global = td_cpu_module_global,
    .func_param = td_cpu_func_param,
    .func_attribute = td_cpu_func_attribute,
    .launch = cpu_launch,
};

/* ---- the device ---- */

/* On Arm the kernel tells numbers in place of a name. */
static const struct {
    unsigned implementer, part;
    const char *name;
} arm_parts[] = {
    {0x41, 0xd08, "Arm Cortex-A72"},   {0x41, 0xd0b, "Arm Cortex-A76"},
    {0x41, 0xd0c, "Arm Neoverse N1"},  {0x41, 0xd40, "Arm Neoverse V1"},
    {0x41, 0xd42, "Arm Cortex-A78AE"}, {0x41, 0xd49, "Arm Neoverse N2"},
    {0x41, 0xd4f, "Arm Neoverse V2"},  {0x41, 0xd83, "Arm Neoverse V3AE"},
    {0x41, 0xd84, "Arm Neoverse V3"},  {0x41, 0xd85, "Arm Cortex-X925"},
    {0x41, 0xd87, "Arm Cortex-A725"},  {0x41, 0xd8e, "Arm Neoverse N3"},
    {0x46, 0x001, "Fujitsu A64FX"},    {0x4e, 0x004, "NVIDIA Carmel"},
    {0xc0, 0xac3, "Ampere-1"},         {0xc0, 0xac4, "Ampere-1A"},
};

/* The name on the line "model name", or of the numbers on those that Arm has. */
static void
model_name(char *out, size_t n)
{
    char line[256], *at;
    unsigned implementer = 0, part = 0;
    FILE *f = fopen("/proc/cpuinfo", "re");

    snprintf(out, n, "CPU");
    while (f && !part && fgets(line, sizeof line, f)) {
        if (!(at = strchr(line, ':')))
            continue;
        at[strcspn(at, "\n")] = 0;
        if (strncmp(line, "model name", 10) == 0) {
            snprintf(out, n, "%s", at + 2);
            break;
        }
        if (strncmp(line, "CPU implementer", 15) == 0)
            implementer = (unsigned)strtoul(at + 1, NULL, 16);
        else if (strncmp(line, "CPU part", 8) == 0)
            part = (unsigned)strtoul(at + 1, NULL, 16);
    }
    if (f)
        fclose(f);
    for (size_t i = 0; part && i < sizeof arm_parts / sizeof *arm_parts; i++)
        if (arm_parts[i].implementer == implementer && arm_parts[i].part == part)
            snprintf(out, n, "%s", arm_parts[i].name);
}

static void
cpu_make(void)
{
    td_devinfo *i = &cpu.info;

    td_dev_init(&cpu, &cpu_ops);
    i->kind = TD_DEV_CPU;
    snprintf(i->name, sizeof i->name, "cpu");
    model_name(i->model, sizeof i->model);
#if defined(__x86_64__)
    snprintf(i->arch, sizeof i->arch, "x86-64");
#elif defined(__aarch64__)
    snprintf(i->arch, sizeof i->arch, "aarch64");
#endif
    i->units = td_parallel_width();
    i->host = true;
    i->warp = 1;
    i->max_threads = THREADS;
    i->max_shared = (size_t)48 << 10; /* it lies on the stack, so it is bounded */
    i->memory = td_limit_memory();
    /* The control group's limit bounds the pool: the system would promise more and end the
     * process when it is touched. Main memory itself is no bound: on a virtual machine it can
     * grow with use. */
    cpu.pool.most = td_limit_group();
    cpu.pool.keep = i->memory / 4;
    cpu.pool.grain = GRAIN;
}

td_dev *
td_cpu_dev(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, cpu_make);
    return &cpu;
}
