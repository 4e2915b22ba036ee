/* hosttiny.c - products of many small matrices on the CPU.
 *
 * A call of BLAS costs as much as some thousand multiplications.  Here a product is a few vector
 * operations: four rows of a at a time are multiplied with vectors along b's rows.  The body is
 * compiled for three vector widths.
 */
#include "dev/lib/hosttiny.h"

#include "base/parallel.h"

#include <string.h>

enum { GRAIN = 1 << 15 /* multiplications that pay for a thread */ };

#define INLINE static inline __attribute__((always_inline))

#define T       float
#define NAME(x) f32_##x
#define LANES   16
#include "dev/lib/hosttinyof.h"
#undef T
#undef NAME
#undef LANES

#define T       double
#define NAME(x) f64_##x
#define LANES   8
#include "dev/lib/hosttinyof.h"
#undef T
#undef NAME
#undef LANES

/* ---- compiled for each vector width ---- */

INLINE void
multiply(const td_gemm *g, int64_t lo, int64_t hi)
{
    for (; lo < hi; lo++)
        if (g->dt == TD_F32)
            f32_product(g, lo);
        else
            f64_product(g, lo);
}

static void
multiply_any(const td_gemm *g, int64_t lo, int64_t hi)
{
    multiply(g, lo, hi);
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) static void
multiply_avx2(const td_gemm *g, int64_t lo, int64_t hi)
{
    multiply(g, lo, hi);
}

__attribute__((target("avx512f,avx512vl"))) static void
multiply_avx512(const td_gemm *g, int64_t lo, int64_t hi)
{
    multiply(g, lo, hi);
}
#endif

static void
multiply_here(const td_gemm *g, int64_t lo, int64_t hi)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512vl")) {
        multiply_avx512(g, lo, hi);
        return;
    }
    if (__builtin_cpu_supports("avx2")) {
        multiply_avx2(g, lo, hi);
        return;
    }
#endif
    multiply_any(g, lo, hi);
}

/* ---- the batch ---- */

typedef struct pieces {
    const td_gemm *g;
    int64_t n;
} pieces;

static void
multiply_piece(void *ctx, int64_t p)
{
    const pieces *a = ctx;
    int64_t lo, hi;

    td_parallel_piece(0, a->g->batch, a->n, p, &lo, &hi);
    multiply_here(a->g, lo, hi);
}

bool
td_hosttiny_can(const td_gemm *g)
{
    return (g->dt == TD_F32 || g->dt == TD_F64) && g->batch > 1 && g->m <= TD_TINY_SIDE &&
           g->n <= TD_TINY_SIDE && g->k <= TD_TINY_SIDE;
}

void
td_hosttiny_run(const td_gemm *g)
{
    pieces a = {g, g->batch / (GRAIN / (g->m * g->n * g->k) + 1) + 1};

    if (a.n > g->batch)
        a.n = g->batch;
    td_parallel(a.n, multiply_piece, &a);
}
