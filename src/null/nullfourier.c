/* nullfourier.c - cuFFT for the null device; FFTW computes, the functions check their arguments.
 */
#include "dev/lib/fourierlib.h"
#include "null/nulldrv.h"

#include <fftw3.h>
#include <pthread.h>
#include <string.h>

enum { INVALID_PLAN = 1, ALLOC_FAILED = 2, INVALID_VALUE = 4, PLANS = 256, RANK = 3, ROOM = 512 };

typedef struct plan {
    bool used, made;
    int rank;
    bool wide, from_real, to_real;
    fftw_iodim64 dims[RANK], batch;
    void *work;
    cu_stream stream;
} plan;

static plan plans[PLANS]; /* guarded by the device's lock for plans; there is one null device */

static int
create(int *handle)
{
    for (int i = 0; i < PLANS; i++)
        if (!plans[i].used) {
            plans[i] = (plan){.used = true};
            *handle = i;
            return 0;
        }
    return ALLOC_FAILED;
}

static int
null_fft_destroy(int handle)
{
    if (handle < 0 || handle >= PLANS || !plans[handle].used)
        return INVALID_PLAN;
    plans[handle].used = false;
    return 0;
}

static int
automatic(int handle, int on)
{
    return plans[handle].used && !on ? 0 : INVALID_PLAN;
}

static int
nullfourier_make(int handle, int rank, const long long *n, const long long *in_embed,
                 long long in_stride, long long in_dist, int in_type, const long long *out_embed,
                 long long out_stride, long long out_dist, int out_type, long long batch,
                 size_t *work, int exec_type)
{
    plan *p = &plans[handle];

    if (rank < 1 || rank > RANK || batch < 1 || p->made || exec_type < CUFFT_C32 ||
        in_type % 4 != exec_type % 4 || out_type % 4 != exec_type % 4)
        return INVALID_VALUE;
    p->rank = rank;
    p->wide = exec_type == CUFFT_C64;
    p->from_real = in_type < CUFFT_C32;
    p->to_real = out_type < CUFFT_C32;
    p->batch = (fftw_iodim64){batch, in_dist, out_dist};
    p->made = true;
    for (int i = rank - 1; i >= 0; i--) {
        p->dims[i] = (fftw_iodim64){n[i], in_stride, out_stride};
        if (n[i] < 1 || (i && in_embed[i] < 1) || (i && out_embed[i] < 1))
            return INVALID_VALUE;
        in_stride *= in_embed[i];
        out_stride *= out_embed[i];
    }
    *work = ROOM;
    return 0;
}

static int
set_stream(int handle, void *stream)
{
    plans[handle].stream = stream;
    return plans[handle].used ? td_null_stream_ok(stream) : INVALID_PLAN;
}

static int
set_work(int handle, void *work)
{
    plans[handle].work = work;
    return work && td_null_bytes((uintptr_t)work) >= ROOM ? 0 : INVALID_VALUE;
}

static int
null_fft_version(int *v)
{
    *v = 0;
    return 0;
}

/* ---- transforms ---- */

/* FFTW makes and frees plans on one thread at a time. */
static pthread_mutex_t planning = PTHREAD_MUTEX_INITIALIZER;

/* FFTW has each function twice, for double precision and for single. */
#define TRANSFORM(name, fftw)                                                                      \
    static int name(const plan *p, void *in, void *out, int sign)                                  \
    {                                                                                              \
        fftw##_plan made;                                                                          \
                                                                                                   \
        pthread_mutex_lock(&planning);                                                             \
        made = p->from_real ? fftw##_plan_guru64_dft_r2c(p->rank, p->dims, 1, &p->batch, in, out,  \
                                                         FFTW_ESTIMATE)                            \
               : p->to_real ? fftw##_plan_guru64_dft_c2r(p->rank, p->dims, 1, &p->batch, in, out,  \
                                                         FFTW_ESTIMATE)                            \
                            : fftw##_plan_guru64_dft(p->rank, p->dims, 1, &p->batch, in, out,      \
                                                     sign, FFTW_ESTIMATE);                         \
        pthread_mutex_unlock(&planning);                                                           \
        if (!made)                                                                                 \
            return INVALID_VALUE;                                                                  \
        fftw##_execute(made);                                                                      \
        pthread_mutex_lock(&planning);                                                             \
        fftw##_destroy_plan(made);                                                                 \
        pthread_mutex_unlock(&planning);                                                           \
        return 0;                                                                                  \
    }

TRANSFORM(in_double, fftw)
TRANSFORM(in_single, fftwf)

/* arg: plan, in, out, direction. */
static int
transform_batch(const uint64_t *arg)
{
    const plan *p = &plans[arg[0]];
    void *in = (void *)(uintptr_t)arg[1], *out = (void *)(uintptr_t)arg[2];
    int code;

    if (!td_null_bytes((uintptr_t)in) || !td_null_bytes((uintptr_t)out))
        return INVALID_VALUE;
    code = (p->wide ? in_double : in_single)(p, in, out, (int)(int64_t)arg[3]);
    if (p->to_real) /* as cuFFT may */
        memset(in, 0xff, p->wide ? 16 : 8);
    return code;
}

static int
exec(int handle, void *in, void *out, int direction)
{
    const plan *p = &plans[handle];
    size_t align = p->wide ? 16 : 8;
    null_work w = {.kind = NULL_CALL, .call = transform_batch};

    if (!p->made || !p->work || (uintptr_t)in % align || (uintptr_t)out % align)
        return INVALID_VALUE;
    w.arg[0] = (uint64_t)handle;
    w.arg[1] = (uintptr_t)in;
    w.arg[2] = (uintptr_t)out;
    w.arg[3] = (uint64_t)(int64_t)direction;
    return td_null_submit(p->stream, w);
}

const td_fourierlib td_null_fourier = {create,     null_fft_destroy, automatic, nullfourier_make,
                                       set_stream, set_work,         exec,      null_fft_version};
