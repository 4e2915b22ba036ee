/* sort.c - sorting on a CUDA device (hostsort.c does it on the CPU): the library, its temporary
 * memory, its refusals.
 *
 * libtreadle_cub.so is compiled for some architectures and holds PTX for the others, with CUDA's
 * runtime inside.  If the driver is too old for either, the first launch says so; then that
 * device's arrays are sorted on the host.
 */
#include "dev/core/sort.h"

#include "dev/core/played.h"
#include "dev/core/site.h"
#include "dev/core/work.h"
#include "dev/cuda/cuda.h"
#include "dev/foreign/library.h"
#include "dev/lib/cub.h"
#include "dev/lib/hostsort.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static struct {
    pthread_once_t once;
    const td_cub *found;         /* set by a test */
    _Atomic(const td_cub *) use; /* a test's */
    char why[512];
} lib = {.once = PTHREAD_ONCE_INIT};

/* The runtime's errors if neither code nor PTX fits driver and device; numbers from driver_types.h. */
static const int misfits[] = {
    35,  /* cudaErrorInsufficientDriver */
    36,  /* cudaErrorCallRequiresNewerDriver */
    98,  /* cudaErrorInvalidDeviceFunction */
    209, /* cudaErrorNoKernelImageForDevice */
    218, /* cudaErrorInvalidPtx */
    221, /* cudaErrorJitCompilerNotFound */
    222, /* cudaErrorUnsupportedPtxVersion */
    223, /* cudaErrorJitCompilationDisabled */
};

enum { OUT_OF_MEMORY = 2 /* cudaErrorMemoryAllocation */ };

/* ---- the library ---- */

static void
sort_start(void)
{
    td_cub_open_fn *open_fn;
    void *handle = td_lib_beside("libtreadle_cub.so", lib.why, sizeof lib.why);

    if (!handle)
        return;
    *(void **)&open_fn = dlsym(handle, "td_cub_open");
    if (open_fn)
        lib.found = open_fn();
    else
        snprintf(lib.why, sizeof lib.why, "libtreadle_cub.so has no td_cub_open");
}

/* The device's library, or NULL. */
static const td_cub *
cub_library(const td_dev *d)
{
    const td_cub *use = atomic_load(&lib.use);

    if (use)
        return use;
    if (d->info.kind == TD_DEV_NULL)
        return td_player_found()->cub;
    (void)pthread_once(&lib.once, sort_start);
    return lib.found;
}

void
td_sort_use(const td_cub *table)
{
    atomic_store(&lib.use, table);
}

/* ---- one sort ---- */

/* Bits of a float's fraction. */
static int
fraction_of(td_dtype dt)
{
    switch (td_dtype_size(dt)) {
    case 2: return dt == TD_BF16 ? 7 : 10;
    case 4: return 23;
    }
    return 52;
}

static td_status
cub_status(td_cuda *c, const td_cub *cub, int code)
{
    if (!code)
        return TD_OK;
    for (size_t i = 0; i < sizeof misfits / sizeof *misfits; i++)
        if (code == misfits[i]) {
            atomic_store(&c->unsorted, code);
            return TD_SKIP;
        }
    return td_cuda_fail(c, code == OUT_OF_MEMORY ? TD_ERR_OOM : TD_ERR_DEVICE, code, "sort",
                        cub->text(code));
}

static td_status
sort_in_context(td_cuda *c, const td_cub *cub, td_stream *s, const td_cub_job *job)
{
    size_t nbytes = 0;
    td_buf *temp = NULL;
    td_status st = cub_status(c, cub, cub->sort(job, NULL, &nbytes, s->handle));

    if (!st)
        st = td_buf_new(s->dev, s, nbytes, &temp);
    if (!st) {
        (void)td_cuda_launched(c, s, "CUB", "sort");
        st = cub_status(c, cub, cub->sort(job, (void *)temp->ptr, &nbytes, s->handle));
    }
    if (!st && c->dev.sync)
        st = td_cuda_sync(c, s);
    td_buf_unref(temp);
    return st;
}

td_status
td_sort_can(td_dev *d, td_dtype dt, int64_t count, bool values)
{
    if (td_dtype_is_complex(dt))
        return TD_SKIP;
    if (d->info.kind == TD_DEV_CPU)
        return values ? TD_SKIP : TD_OK;
    if (count > UINT32_MAX)
        return TD_SKIP;
    return cub_library(d) && !atomic_load(&td_cuda_of(d)->unsorted) ? TD_OK : TD_SKIP;
}

td_status
td_sort_run(td_stream *s, const td_sort *j)
{
    int64_t count;

    if (__builtin_mul_overflow(j->rows, j->n, &count))
        return TD_SKIP;
    TD_TRY(td_sort_can(s->dev, j->dt, count, j->out != 0));
    if (!count || (!j->out && !j->index))
        return TD_OK;
    return td_work_do(
        s, &(td_work){.kind = TD_TRACE_sort,
                      .sort = j,
                      .nbytes = (size_t)count * ((j->out ? 2 : 1) * td_dtype_size(j->dt) +
                                                 (j->index ? sizeof(int64_t) : 0))});
}

td_status
td_sort_do(td_stream *s, const td_sort *j)
{
    td_cuda *c;
    bool pushed;
    td_status st;

    if (s->dev->info.kind == TD_DEV_CPU)
        return td_hostsort_run(s, j);
    c = td_cuda_of(s->dev);
    TD_TRY(td_cuda_enter(c, &pushed));
    st = sort_in_context(c, cub_library(s->dev), s,
                         &(td_cub_job){.kind = td_dtype_kind(j->dt),
                                       .size = (int)td_dtype_size(j->dt),
                                       .fraction = fraction_of(j->dt),
                                       .rows = j->rows,
                                       .n = j->n,
                                       .in = (const void *)j->in,
                                       .out = (void *)j->out,
                                       .index = (int64_t *)j->index});
    td_cuda_leave(c, pushed);
    return st;
}

/* ---- can the device sort? ---- */

const char *
td_sort_missing(td_dev *d)
{
    const td_cub *cub;
    int code;

    if (d->info.kind == TD_DEV_CPU)
        return "";
    cub = cub_library(d);
    if (!cub)
        return lib.why;
    code = atomic_load(&td_cuda_of(d)->unsorted);
    return code ? cub->text(code) : "";
}

const char *
td_sort_info(td_dev *d)
{
    const char *why = td_sort_missing(d);

    if (d->info.kind == TD_DEV_CPU)
        return "NumPy; orders by this library";
    if (*why)
        return td_name_format("NumPy, by way of the host: %s", why);
    return d->info.kind == TD_DEV_NULL ? "played by the host" : "CUB, in libtreadle_cub.so";
}
