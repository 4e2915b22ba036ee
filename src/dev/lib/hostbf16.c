/* hostbf16.c - bfloat16 products on processors with AVX512_BF16.
 *
 * The instruction adds two products of neighbours along k to each of 16 float32 sums, so operands are packed in pairs
 * along k: panels of MR rows of a, and of NR columns of b, cut along k into blocks of KC pairs whose panels stay in the first-level
 * cache.  A tile of the result is a task: it goes through the blocks with its sums in float32, and is rounded at the end.
 */
#include "dev/lib/hostbf16.h"

#include "dev/core/devops.h"

#if defined(__x86_64__)
#include "base/parallel.h"

#include <immintrin.h>
#include <string.h>

enum {
    MR = 12, /* MR * NR / 16 sums in 24 of 32 registers */
    NV = 2,
    NR = 16 * NV,
    KC = 192,         /* pairs */
    TILE_M = 10 * MR, /* rows of a task: 120 x 256 sums are 120 KB */
    TILE_N = 8 * NR,  /* of the second-level cache; columns of a task */
    SIDE_MIN = 4,     /* shorter rows or columns do not pay for packing */
    ALONE = 1 << 21,  /* up to this many multiplications, each product of a batch is one task */
};

#define AVX512 __attribute__((target("avx512f,avx512bw,avx512vl,avx512bf16")))

/* product - one product of a batch, and its packed operands. */
typedef struct product {
    const td_gemm *g;
    const uint16_t *a, *b;
    uint16_t *c;
    int64_t pairs;     /* along k */
    int64_t am, bn;    /* number of panels */
    uint32_t *pa, *pb; /* [block][panel][pair][MR or NR]; the last block is shorter */
} product;

static int64_t
bf16_ceil_div(int64_t n, int64_t by)
{
    return (n + by - 1) / by;
}

/* ---- packing ---- */

/* Pair p of row r; 0 outside the matrix.  Rows are ld apart; across: k runs over rows instead. */
static uint32_t
pair_at(const uint16_t *x, int64_t rows, int64_t k, int64_t ld, bool across, int64_t r, int64_t p)
{
    int64_t step = across ? ld : 1;
    const uint16_t *at = x + r * (across ? 1 : ld) + 2 * p * step;

    if (r >= rows || 2 * p >= k)
        return 0;
    return at[0] | (2 * p + 1 < k ? (uint32_t)at[step] << 16 : 0);
}

/* Packs pairs [lo, hi) of rows [r0, r0 + width) of one operand; across: it is stored
 * transposed. */
static void
pack_any(const uint16_t *x, int64_t rows, int64_t k, int64_t ld, bool across, int64_t r0, int width,
         int64_t lo, int64_t hi, uint32_t *to)
{
    for (int64_t p = lo; p < hi; p++)
        for (int r = 0; r < width; r++)
            *to++ = pair_at(x, rows, k, ld, across, r0 + r, p);
}

/* Packs whole rows of even k: each row's pairs are words. */
static void
pack_rows(const uint16_t *x, int64_t ld, int64_t r0, int width, int64_t lo, int64_t hi,
          uint32_t *to)
{
    for (int r = 0; r < width; r++) {
        const uint16_t *row = x + (r0 + r) * ld;

        for (int64_t p = lo; p < hi; p++)
            memcpy(to + (p - lo) * width + r, row + 2 * p, sizeof *to);
    }
}

/* Packs whole columns of a transposed operand: two rows become one row of pairs. */
AVX512 static void
pack_columns(const uint16_t *x, int64_t ld, int64_t r0, int width, int64_t lo, int64_t hi,
             uint32_t *to)
{
    for (int64_t p = lo; p < hi; p++, to += width) {
        const uint16_t *even = x + 2 * p * ld + r0, *odd = even + ld;

        for (int r = 0; r < width; r += 16) {
            __mmask16 some = (__mmask16)(width - r < 16 ? (1 << (width - r)) - 1 : 0xffff);
            __m512i low = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(some, even + r));
            __m512i high = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(some, odd + r));

            _mm512_mask_storeu_epi32(to + r, some,
                                     _mm512_or_si512(low, _mm512_slli_epi32(high, 16)));
        }
    }
}

/* Packs all blocks of one panel. */
static void
pack_panel(const product *p, const uint16_t *x, int64_t rows, int64_t ld, bool across,
           int64_t panel, int width, int64_t panels, uint32_t *packed)
{
    int64_t k = p->g->k, r0 = panel * width;
    bool whole = r0 + width <= rows;

    for (int64_t lo = 0; lo < p->pairs; lo += KC) {
        int64_t hi = lo + KC < p->pairs ? lo + KC : p->pairs, plain = 2 * hi <= k ? hi : hi - 1;
        uint32_t *to = packed + lo * panels * width + panel * (hi - lo) * width;

        if (!whole) {
            pack_any(x, rows, k, ld, across, r0, width, lo, hi, to);
            continue;
        }
        (across ? pack_columns : pack_rows)(x, ld, r0, width, lo, plain, to);
        pack_any(x, rows, k, ld, across, r0, width, plain, hi, to + (plain - lo) * width);
    }
}

static void
pack(void *ctx, int64_t i)
{
    const product *p = ctx;
    const td_gemm *g = p->g;

    if (i < p->am)
        pack_panel(p, p->a, g->m, g->lda, g->ta, i, MR, p->am, p->pa);
    else
        pack_panel(p, p->b, g->n, g->ldb, !g->tb, i - p->am, NR, p->bn, p->pb);
}

/* ---- multiplying ---- */

/* Adds a panel of a times a panel of b to sums[MR][NR], whose rows are TILE_N apart.  Unrolled
 * MR times, so that the sums stay in registers. */
AVX512 static void
multiply(const uint32_t *a, const uint32_t *b, int64_t pairs, float *sums)
{
    __m512 s[MR][NV];

#pragma GCC unroll 32
    for (int i = 0; i < MR * NV; i++)
        s[i / NV][i % NV] = _mm512_loadu_ps(sums + i / NV * TILE_N + i % NV * 16);
    for (int64_t p = 0; p < pairs; p++, a += MR, b += NR) {
        __m512bh y[NV];

#pragma GCC unroll 4
        for (int v = 0; v < NV; v++)
            y[v] = (__m512bh)_mm512_loadu_si512(b + 16 * v);
#pragma GCC unroll 32
        for (int i = 0; i < MR; i++) {
            __m512bh x = (__m512bh)_mm512_set1_epi32((int)a[i]);

#pragma GCC unroll 4
            for (int v = 0; v < NV; v++)
                s[i][v] = _mm512_dpbf16_ps(s[i][v], x, y[v]);
        }
    }
#pragma GCC unroll 32
    for (int i = 0; i < MR * NV; i++)
        _mm512_storeu_ps(sums + i / NV * TILE_N + i % NV * 16, s[i / NV][i % NV]);
}

/* Rounds a row of sums to nearest, ties to even; NaN stays NaN. */
AVX512 static void
round_row(const float *sums, uint16_t *to, int64_t n)
{
    for (int64_t i = 0; i < n; i += 16) {
        __mmask16 some = (__mmask16)(n - i < 16 ? (1 << (n - i)) - 1 : 0xffff);
        __m512 x = _mm512_loadu_ps(sums + i);
        __m512i u = _mm512_castps_si512(x), top = _mm512_srli_epi32(u, 16);
        __m512i half = _mm512_add_epi32(_mm512_and_si512(top, _mm512_set1_epi32(1)),
                                        _mm512_set1_epi32(0x7fff));
        __m512i r = _mm512_srli_epi32(_mm512_add_epi32(u, half), 16);

        r = _mm512_mask_or_epi32(r, _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q), top,
                                 _mm512_set1_epi32(0x40));
        _mm256_mask_storeu_epi16(to + i, some, _mm512_cvtepi32_epi16(r));
    }
}

static void
bf16_tile(void *ctx, int64_t t)
{
    const product *p = ctx;
    const td_gemm *g = p->g;
    int64_t across = bf16_ceil_div(g->n, TILE_N), i0 = t / across * TILE_M,
            j0 = t % across * TILE_N;
    int64_t rows = g->m - i0 < TILE_M ? g->m - i0 : TILE_M;
    int64_t cols = g->n - j0 < TILE_N ? g->n - j0 : TILE_N;
    _Alignas(64) float sums[TILE_M * TILE_N];

    memset(sums, 0, sizeof *sums * (size_t)(bf16_ceil_div(rows, MR) * MR) * TILE_N);
    for (int64_t lo = 0; lo < p->pairs; lo += KC) {
        int64_t n = lo + KC < p->pairs ? KC : p->pairs - lo;
        const uint32_t *pa = p->pa + lo * p->am * MR, *pb = p->pb + lo * p->bn * NR;

        for (int64_t j = 0; j < cols; j += NR)
            for (int64_t i = 0; i < rows; i += MR)
                multiply(pa + (i0 + i) * n, pb + (j0 + j) * n, n, sums + i * TILE_N + j);
    }
    for (int64_t i = 0; i < rows; i++)
        round_row(sums + i * TILE_N, p->c + (i0 + i) * g->ldc + j0, cols);
}

/* ---- a batch ---- */

/* batch - products, several at a time, each with its own part of `packed`. */
typedef struct batch {
    const td_gemm *g;
    int64_t tasks;
    size_t words; /* words of one product's packed operands */
    uint32_t *packed;
} batch;

static void
products(void *ctx, int64_t task)
{
    const batch *all = ctx;
    const td_gemm *g = all->g;
    product p = {.g = g,
                 .pairs = bf16_ceil_div(g->k, 2),
                 .am = bf16_ceil_div(g->m, MR),
                 .bn = bf16_ceil_div(g->n, NR)};
    int64_t lo, hi;

    td_parallel_piece(0, g->batch, all->tasks, task, &lo, &hi);
    p.pa = all->packed + (size_t)task * all->words;
    p.pb = p.pa + p.pairs * p.am * MR;
    for (; lo < hi; lo++) {
        p.a = (const uint16_t *)g->a + lo * g->stride_a;
        p.b = (const uint16_t *)g->b + lo * g->stride_b;
        p.c = (uint16_t *)g->c + lo * g->stride_c;
        td_parallel(p.am + p.bn, pack, &p);
        td_parallel(bf16_ceil_div(g->m, TILE_M) * bf16_ceil_div(g->n, TILE_N), bf16_tile, &p);
    }
}

td_status
td_hostbf16_gemm(td_stream *s, const td_gemm *g)
{
    batch all = {.g = g, .tasks = 1};
    int64_t panels = bf16_ceil_div(g->m, MR) * MR + bf16_ceil_div(g->n, NR) * NR;
    td_buf *packed;

    if (!__builtin_cpu_supports("avx512bf16") || !__builtin_cpu_supports("avx512bw") ||
        !__builtin_cpu_supports("avx512vl") || g->m < SIDE_MIN || g->n < SIDE_MIN)
        return TD_SKIP;
    if (g->batch > 1 && g->m * g->n <= ALONE / g->k) {
        all.tasks = 2 * (int64_t)td_parallel_cut();
        all.tasks = all.tasks < g->batch ? all.tasks : g->batch;
    }
    all.words = (size_t)panels * (size_t)bf16_ceil_div(g->k, 2); /* at most twice the operands */
    TD_TRY(td_buf_new(s->dev, s, all.words * (size_t)all.tasks * sizeof *all.packed, &packed));
    all.packed = (uint32_t *)packed->ptr;
    td_parallel(all.tasks, products, &all);
    td_buf_unref(packed);
    return TD_OK;
}

#else

td_status
td_hostbf16_gemm(td_stream *s, const td_gemm *g)
{
    (void)s;
    (void)g;
    return TD_SKIP;
}

#endif
