/* nullfourier.c - cuFFT as the null device has it: sums over all pairs, and a look at the arguments. */
#include "dev/lib/fourierlib.h"
#include "null/nulldrv.h"

#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { INVALID_PLAN = 1, ALLOC_FAILED = 2, INVALID_VALUE = 4, PLANS = 256, RANK = 3, ROOM = 512 };

typedef struct side {
    long long embed[RANK], stride, dist;
} side;

typedef struct plan {
    bool used, made;
    int rank;
    bool wide, from_real, to_real;
    long long n[RANK], batch;
    side in, out;
    void *work;
    cu_stream stream;
} plan;

static plan plans[PLANS]; /* under the device's lock for plans; there is one null device */

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
destroy(int handle)
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
make(int handle, int rank, const long long *n, const long long *in_embed, long long in_stride,
     long long in_dist, int in_type, const long long *out_embed, long long out_stride,
     long long out_dist, int out_type, long long batch, size_t *work, int exec_type)
{
    plan *p = &plans[handle];

    if (rank < 1 || rank > RANK || batch < 1 || p->made || exec_type < CUFFT_C32 ||
        in_type % 4 != exec_type % 4 || out_type % 4 != exec_type % 4)
        return INVALID_VALUE;
    p->rank = rank;
    p->wide = exec_type == CUFFT_C64;
    p->from_real = in_type < CUFFT_C32;
    p->to_real = out_type < CUFFT_C32;
    p->batch = batch;
    p->made = true;
    for (int i = 0; i < rank; i++) {
        p->n[i] = n[i];
        p->in.embed[i] = in_embed[i];
        p->out.embed[i] = out_embed[i];
        if (n[i] < 1 || (i && in_embed[i] < 1) || (i && out_embed[i] < 1))
            return INVALID_VALUE;
    }
    p->in.stride = in_stride;
    p->in.dist = in_dist;
    p->out.stride = out_stride;
    p->out.dist = out_dist;
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
version(int *v)
{
    *v = 0;
    return 0;
}

/* ---- one transform ---- */

static long long
place(const plan *p, const side *s, const long long *at)
{
    long long k = at[0];

    for (int i = 1; i < p->rank; i++)
        k = k * s->embed[i] + at[i];
    return k * s->stride;
}

static double complex
read_at(const void *data, bool wide, bool real, long long i)
{
    if (real)
        return wide ? ((const double *)data)[i] : (double)((const float *)data)[i];
    return wide ? ((const double complex *)data)[i]
                : (double complex)((const float complex *)data)[i];
}

static void
write_at(void *data, bool wide, bool real, long long i, double complex x)
{
    if (real && wide)
        ((double *)data)[i] = creal(x);
    else if (real)
        ((float *)data)[i] = (float)creal(x);
    else if (wide)
        ((double complex *)data)[i] = x;
    else
        ((float complex *)data)[i] = (float complex)x;
}

/* Moves at on in C order; false behind the last element. */
static bool
next(const plan *p, long long *at)
{
    for (int i = p->rank - 1; i >= 0; i--) {
        if (++at[i] < p->n[i])
            return true;
        at[i] = 0;
    }
    return false;
}

/* One axis of x, whose elements lie `step` apart in groups of n * step. */
static void
transform(double complex *x, long long total, long long n, long long step, int sign,
          double complex *row, const double complex *root)
{
    for (long long base = 0; base < total; base++) {
        if (base / step % n)
            continue;
        for (long long k = 0; k < n; k++) {
            row[k] = 0;
            for (long long i = 0; i < n; i++)
                row[k] += x[base + i * step] * (sign < 0 ? conj(root[i * k % n]) : root[i * k % n]);
        }
        for (long long k = 0; k < n; k++)
            x[base + k * step] = row[k];
    }
}

static void
transform_all(const plan *p, double complex *x, long long total, int sign, double complex *row)
{
    long long step = 1;
    double turn = 6.283185307179586;

    for (int a = p->rank - 1; a >= 0; step *= p->n[a--]) {
        double complex *root = row + p->n[a];

        for (long long i = 0; i < p->n[a]; i++)
            root[i] = cos(turn * (double)i / (double)p->n[a]) +
                      I * sin(turn * (double)i / (double)p->n[a]);
        transform(x, total, p->n[a], step, sign, row, root);
    }
}

/* The half that is stored stands for both. */
static double complex
read_half(const plan *p, const void *in, bool wide, const long long *at, long long base)
{
    long long other[RANK], last = p->n[p->rank - 1];

    if (at[p->rank - 1] <= last / 2)
        return read_at(in, wide, false, base + place(p, &p->in, at));
    for (int i = 0; i < p->rank; i++)
        other[i] = at[i] ? p->n[i] - at[i] : 0;
    return conj(read_at(in, wide, false, base + place(p, &p->in, other)));
}

static void
one(const plan *p, const void *in, void *out, long long b, int sign, double complex *x,
    double complex *row)
{
    long long at[RANK] = {0}, total = 0, last = p->n[p->rank - 1], from = b * p->in.dist;

    do
        x[total++] = p->to_real ? read_half(p, in, p->wide, at, from)
                                : read_at(in, p->wide, p->from_real, from + place(p, &p->in, at));
    while (next(p, at));
    transform_all(p, x, total, sign, row);
    total = 0;
    do {
        if (!p->from_real || at[p->rank - 1] <= last / 2)
            write_at(out, p->wide, p->to_real, b * p->out.dist + place(p, &p->out, at), x[total]);
        total++;
    } while (next(p, at));
}

/* arg: plan, in, out, direction. */
static int
transform_batch(const uint64_t *arg)
{
    const plan *p = &plans[arg[0]];
    void *in = (void *)(uintptr_t)arg[1], *out = (void *)(uintptr_t)arg[2];
    long long total = 1, longest = 1;
    double complex *x;

    if (!td_null_bytes((uintptr_t)in) || !td_null_bytes((uintptr_t)out))
        return INVALID_VALUE;
    for (int i = 0; i < p->rank; i++) {
        total *= p->n[i];
        longest = p->n[i] > longest ? p->n[i] : longest;
    }
    x = malloc((size_t)(total + 2 * longest) * sizeof *x);
    if (!x)
        return ALLOC_FAILED;
    for (long long b = 0; b < p->batch; b++)
        one(p, in, out, b, (int)(int64_t)arg[3], x, x + total);
    if (p->to_real) /* as cuFFT may */
        memset(in, 0xff, p->wide ? 16 : 8);
    free(x);
    return 0;
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

const td_fourierlib td_null_fourier = {create,     destroy,  automatic, make,
                                       set_stream, set_work, exec,      version};
