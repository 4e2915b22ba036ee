/* hostgemm.c - cuts matrix products into tiles; the process's thread pool gives them to the
 * library one by one.
 *
 * A tile is a piece of c's rows times a piece of its columns.  If c is small and k is long, k is
 * cut as well, and the parts are added in order.  For a matrix times its own transpose only the
 * tiles on and below the diagonal are computed, and then mirrored, so that the result is symmetric to
 * the bit, as NumPy's is.  Tiles depend only on extents
 * and the number of threads, so results are the same from run to run.
 */
#include "base/parallel.h"
#include "dev/lib/hostblas.h"
#include "dev/lib/hosttiny.h"

#include <stdlib.h>

enum {
    ALONE = 1 << 18, /* with fewer multiplications one thread is faster */
    /* the library copies one element of an operand in the time of this many multiplications */
    PACK = 24,
    UNIT = 16,       /* tiles begin at multiples of this, as the library's blocks do */
    WAVES = 16,      /* most tiles per thread */
    SMALL = 1000000, /* up to this many multiplications, OpenBLAS does not copy operands */
    CALL = 1 << 14,  /* starting a tile takes the time of this many multiplications */
    PART = 2048,     /* least length of a part of k */
    PARTS = 16,
    LITTLE = 1 << 18, /* most elements of c for which memory for the parts pays */
    LONG = 32,        /* k is cut if it is at least this many times as long as c's longer side */
    MIRROR = 144,     /* least rows of a tile that is mirrored, and */
    SIDES = 16,       /* most tiles along a side */
};

/* tiling - rows x columns tiles of each product of the batch. */
typedef struct tiling {
    const td_gemm *g;
    int64_t rows, columns;
} tiling;

static int64_t
units(int64_t n)
{
    return (n + UNIT - 1) / UNIT;
}

/* The size of the largest of that many pieces of n. */
static int64_t
largest_piece(int64_t n, int64_t pieces)
{
    int64_t each = (units(n) + pieces - 1) / pieces * UNIT;

    return each < n ? each : n;
}

/* Piece i of that many pieces of n: [*first, *end). */
static void
piece(int64_t n, int64_t pieces, int64_t i, int64_t *first, int64_t *end)
{
    td_parallel_piece(0, units(n), pieces, i, first, end);
    *first *= UNIT;
    *end = *end * UNIT < n ? *end * UNIT : n;
}

/* Estimated time with these tiles, in multiplications. */
static double
tiling_cost(const td_gemm *g, int64_t rows, int64_t columns, int threads)
{
    int64_t m = largest_piece(g->m, rows), n = largest_piece(g->n, columns);
    int64_t waves = (g->batch * rows * columns + threads - 1) / threads;
    double own = (double)g->k * (double)m * (double)n;
    double copies = own > SMALL ? PACK * (double)g->k * (double)(m + n) : 0;

    return (double)waves * (own + copies + CALL);
}

static tiling
best_tiling(const td_gemm *g)
{
    tiling best = {g, 1, 1};
    int threads = td_parallel_cut();
    double least = tiling_cost(g, 1, 1, threads);

    for (int64_t waves = 1; waves <= WAVES; waves *= 2)
        for (int64_t rows = 1; rows <= waves * threads; rows++) {
            int64_t columns = waves * threads / rows;
            double own;

            if (rows * columns != waves * threads || rows > units(g->m) || columns > units(g->n))
                continue;
            own = tiling_cost(g, rows, columns, threads);
            if (own < least) {
                least = own;
                best.rows = rows;
                best.columns = columns;
            }
        }
    return best;
}

/* The product that computes one tile. */
static td_gemm
tile_of(const tiling *t, int64_t product, int64_t row, int64_t column)
{
    const td_gemm *g = t->g;
    int64_t first, end, left, right, size = (int64_t)td_dtype_size(g->dt);
    td_gemm own = *g;

    piece(g->m, t->rows, row, &first, &end);
    piece(g->n, t->columns, column, &left, &right);
    own.m = end - first;
    own.n = right - left;
    own.a += (uintptr_t)((product * g->stride_a + (g->ta ? first : first * g->lda)) * size);
    own.b += (uintptr_t)((product * g->stride_b + (g->tb ? left * g->ldb : left)) * size);
    own.c += (uintptr_t)((product * g->stride_c + first * g->ldc + left) * size);
    return own;
}

/* Computes tile i of all. */
static void
gemm_compute_tile(void *ctx, int64_t i)
{
    const tiling *t = ctx;
    int64_t tiles = t->rows * t->columns;
    td_gemm own = tile_of(t, i / tiles, i % tiles / t->columns, i % t->columns);

    td_hostblas_product(&own);
}

/* ---- a matrix times its transpose ---- */

static bool
is_symmetric(const td_gemm *g)
{
    return g->batch == 1 && g->a == g->b && g->ta != g->tb && g->lda == g->ldb && g->m == g->n &&
           (g->dt == TD_F32 || g->dt == TD_F64);
}

/* Copies n columns of m rows at `from`, transposed, to `to`. */
static void
mirror(const td_gemm *own, uintptr_t to)
{
    for (int64_t i = 0; i < own->m; i++)
        for (int64_t j = 0; j < own->n; j++)
            if (own->dt == TD_F32)
                ((float *)to)[j * own->ldc + i] = ((const float *)own->c)[i * own->ldc + j];
            else
                ((double *)to)[j * own->ldc + i] = ((const double *)own->c)[i * own->ldc + j];
}

/* Copies what is below g's diagonal to above it: the library's sums may differ by where they stand. */
static void
mirror_own(const td_gemm *g)
{
    for (int64_t i = 1; i < g->m; i++)
        for (int64_t j = 0; j < i; j++)
            if (g->dt == TD_F32)
                ((float *)g->c)[j * g->ldc + i] = ((const float *)g->c)[i * g->ldc + j];
            else
                ((double *)g->c)[j * g->ldc + i] = ((const double *)g->c)[i * g->ldc + j];
}

/* Computes tile i of those on and below the diagonal, counted row by row. */
static void
compute_lower(void *ctx, int64_t i)
{
    const tiling *t = ctx;
    int64_t row = 0;
    td_gemm own;

    while (i > row)
        i -= ++row;
    own = tile_of(t, 0, row, i);
    td_hostblas_product(&own);
    if (i < row)
        mirror(&own, tile_of(t, 0, i, row).c);
    else
        mirror_own(&own);
}

static void
by_lower(const td_gemm *g)
{
    int64_t sides = g->m / MIRROR < SIDES ? g->m / MIRROR : SIDES;
    tiling t = {g, sides, sides};

    td_parallel(sides * (sides + 1) / 2, compute_lower, &t);
}

/* Multiplies all products of the batch, on all threads if that pays. */
static void
multiply_batch(const td_gemm *g)
{
    tiling t = {g, 1, 1};

    if ((double)g->m * (double)g->n * (double)g->k * (double)g->batch >= ALONE) {
        t = best_tiling(g);
        td_parallel(g->batch * t.rows * t.columns, gemm_compute_tile, &t);
    } else
        for (int64_t i = 0; i < g->batch; i++)
            gemm_compute_tile(&t, i);
}

/* ---- products with a long k ---- */

/* parts - a product cut along k: parts of `each` (the last has the rest), whose results lie
 * side by side at part.c. */
typedef struct parts {
    td_gemm part, rest;
    const td_gemm *g;
    int64_t n;
} parts;

/* Sums the parts' row i into c. */
static void
add_row(void *ctx, int64_t i)
{
    const parts *p = ctx;
    const td_gemm *g = p->g;
    int64_t size = g->m * g->n;

    for (int64_t j = 0; j < g->n; j++)
        if (g->dt == TD_F32) {
            const float *from = (const float *)p->part.c + i * g->n + j;
            float sum = from[0];

            for (int64_t k = 1; k < p->n; k++)
                sum += from[k * size];
            ((float *)g->c)[i * g->ldc + j] = sum;
        } else {
            const double *from = (const double *)p->part.c + i * g->n + j;
            double sum = from[0];

            for (int64_t k = 1; k < p->n; k++)
                sum += from[k * size];
            ((double *)g->c)[i * g->ldc + j] = sum;
        }
}

/* The product over [first, first + k). */
static td_gemm
part_along_k(const td_gemm *g, int64_t first, int64_t k, uintptr_t c)
{
    int64_t size = (int64_t)td_dtype_size(g->dt);
    td_gemm own = *g;

    own.k = k;
    own.a += (uintptr_t)((g->ta ? first * g->lda : first) * size);
    own.b += (uintptr_t)((g->tb ? first : first * g->ldb) * size);
    own.c = c;
    own.ldc = g->n;
    return own;
}

/* Computes g in parts of k.  False: g is not a single product with long k, or there is no
 * memory. */
static bool
multiply_in_parts(const td_gemm *g)
{
    int64_t side = g->m > g->n ? g->m : g->n, n = g->k / PART < PARTS ? g->k / PART : PARTS, each;
    size_t size = td_dtype_size(g->dt), all;
    parts p = {.g = g};
    void *mem;

    if (g->batch != 1 || n < 2 || g->k < LONG * side || g->m * g->n > LITTLE ||
        td_dtype_is_complex(g->dt) || g->m == 1 || g->n == 1)
        return false;
    each = g->k / n;
    all = (size_t)(g->m * g->n) * size;
    mem = malloc(all * (size_t)n);
    if (!mem)
        return false;
    p.n = n;
    p.part = part_along_k(g, 0, each, (uintptr_t)mem);
    p.part.batch = n - 1;
    p.part.stride_a = g->ta ? each * g->lda : each;
    p.part.stride_b = g->tb ? each : each * g->ldb;
    p.part.stride_c = g->m * g->n;
    p.rest = part_along_k(g, each * (n - 1), g->k - each * (n - 1),
                          (uintptr_t)mem + all * (size_t)(n - 1));
    if (p.rest.k == each)
        p.part.batch = n;
    multiply_batch(&p.part);
    if (p.rest.k != each)
        multiply_batch(&p.rest);
    if (g->m * g->n * n >= ALONE / 8)
        td_parallel(g->m, add_row, &p);
    else
        for (int64_t i = 0; i < g->m; i++)
            add_row(&p, i);
    free(mem);
    return true;
}

td_status
td_hostblas_gemm(const td_gemm *g)
{
    if (td_hosttiny_can(g)) {
        td_hosttiny_run(g);
        return TD_OK;
    }
    TD_TRY(td_hostblas_open(g));
    if (!td_hostblas_begin()) {
        tiling whole = {g, 1, 1};

        for (int64_t i = 0; i < g->batch; i++)
            gemm_compute_tile(&whole, i);
        return TD_OK;
    }
    if (is_symmetric(g) && g->m >= 2 * MIRROR) {
        by_lower(g);
    } else {
        if (!multiply_in_parts(g))
            multiply_batch(g);
        if (is_symmetric(g))
            mirror_own(g);
    }
    td_hostblas_end();
    return TD_OK;
}
