/* hostsmall.c - solves and factorises many small matrices on the CPU.
 *
 * A matrix is a lane: eight matrices are interleaved element by element, so every step works on
 * vectors whatever their size.  All arithmetic is float64, and pivots are LAPACK's: the first of
 * the largest.  The body is compiled for three vector widths.  Products and sums are rounded
 * separately, so all widths give the same values.
 */
#include "dev/lib/hostsmall.h"

#include "base/parallel.h"
#include "base/scratch.h"

#include <math.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

enum { LANES = 8, GRAIN = 1 << 15 /* multiplications that pay for a thread */ };

typedef double lanes __attribute__((vector_size(LANES * sizeof(double))));
typedef int64_t bits __attribute__((vector_size(LANES * sizeof(int64_t))));

#define INLINE static inline __attribute__((always_inline))

/* group - matrices first … first + count - 1 of a job: n x n, with k columns of right-hand
 * sides after each row. */
typedef struct group {
    const td_solver *j;
    int64_t first, count;
    int n, k;
    lanes at[TD_SMALL_ROWS][2 * TD_SMALL_ROWS +
                            1];  /* rows that lie a power of two apart share places in the cache */
    int info[LANES], odd[LANES]; /* odd: rows were swapped an odd number of times */
} group;

/* ---- memory to lanes and back ---- */

INLINE double *
lane_of(lanes *v, int lane)
{
    return (double *)v + lane;
}

/* Loads columns of an array into the group's; unused lanes repeat the last matrix. */
static void
hostsmall_load(group *g, int array, int column, int width)
{
    int64_t size = (int64_t)g->n * width;

    for (int l = 0; l < LANES; l++) {
        int64_t base = (g->first + (l < g->count ? l : g->count - 1)) * size;
        const float *f = (const float *)g->j->at[array] + base;
        const double *d = (const double *)g->j->at[array] + base;

        for (int i = 0; i < g->n; i++)
            if (g->j->dt == TD_F32)
                for (int c = 0; c < width; c++)
                    *lane_of(&g->at[i][column + c], l) = *f++;
            else
                for (int c = 0; c < width; c++)
                    *lane_of(&g->at[i][column + c], l) = *d++;
    }
}

static void
hostsmall_store(group *g, int array, int column, int width)
{
    int64_t size = (int64_t)g->n * width;

    for (int l = 0; l < g->count; l++) {
        float *f = (float *)g->j->at[array] + (g->first + l) * size;
        double *d = (double *)g->j->at[array] + (g->first + l) * size;

        for (int i = 0; i < g->n; i++)
            if (g->j->dt == TD_F32)
                for (int c = 0; c < width; c++)
                    *f++ = (float)*lane_of(&g->at[i][column + c], l);
            else
                for (int c = 0; c < width; c++)
                    *d++ = *lane_of(&g->at[i][column + c], l);
    }
}

/* ---- linear systems ---- */

/* In each lane: swaps the row with the largest element of column c, from row c on, into row c. */
INLINE void
pivot(group *g, int c)
{
    const bits magnitude = (bits){0} + INT64_MAX;
    bits best = (bits)g->at[c][c] & magnitude, row = (bits){0} + c;

    for (int i = c + 1; i < g->n; i++) {
        bits x = (bits)g->at[i][c] & magnitude, more = (bits)((lanes)x > (lanes)best);

        best = (x & more) | (best & ~more);
        row = (((bits){0} + i) & more) | (row & ~more);
    }
    for (int l = 0; l < LANES; l++) {
        int p = (int)row[l];

        g->odd[l] ^= p != c;
        for (int i = c; p != c && i < g->n + g->k; i++) {
            double *a = lane_of(&g->at[c][i], l), *b = lane_of(&g->at[p][i], l), t = *a;

            *a = *b;
            *b = t;
        }
        if (*lane_of(&g->at[c][c], l) == 0 && !g->info[l])
            g->info[l] = c + 1;
    }
}

INLINE void
eliminate(group *g)
{
    for (int c = 0; c < g->n; c++) {
        pivot(g, c);
        for (int i = c + 1; i < g->n; i++) {
            lanes f = g->at[i][c] / g->at[c][c];

            for (int k = c + 1; k < g->n + g->k; k++)
                g->at[i][k] -= f * g->at[c][k];
        }
    }
}

INLINE void
substitute(group *g)
{
    for (int i = g->n - 1; i >= 0; i--)
        for (int c = g->n; c < g->n + g->k; c++) {
            lanes x = g->at[i][c];

            for (int k = i + 1; k < g->n; k++)
                x -= g->at[i][k] * g->at[k][c];
            g->at[i][c] = x / g->at[i][i];
        }
}

/* ---- Cholesky factors ---- */

/* Factorises the lower triangle in place; info: the first row whose diagonal is not positive. */
INLINE void
factor(group *g)
{
    for (int c = 0; c < g->n; c++) {
        for (int k = 0; k < c; k++)
            g->at[c][c] -= g->at[c][k] * g->at[c][k];
        for (int l = 0; l < LANES; l++) {
            double *d = lane_of(&g->at[c][c], l);

            if (!(*d > 0) && !g->info[l])
                g->info[l] = c + 1;
            *d = sqrt(*d);
        }
        for (int i = c + 1; i < g->n; i++) {
            lanes x = g->at[i][c];

            for (int k = 0; k < c; k++)
                x -= g->at[i][k] * g->at[c][k];
            g->at[i][c] = x / g->at[c][c];
            g->at[c][i] = (lanes){0};
        }
    }
}

/* up: moves the lower triangle, transposed, into the upper one and leaves zeros.  Else copies the
 * upper triangle, transposed, into the lower one. */
static void
mirror(group *g, bool up)
{
    for (int i = 0; i < g->n; i++)
        for (int k = 0; k < i; k++) {
            g->at[up ? k : i][up ? i : k] = g->at[up ? i : k][up ? k : i];
            if (up)
                g->at[i][k] = (lanes){0};
        }
}

/* ---- one group, compiled for each vector width ---- */

INLINE void
compute(group *g)
{
    if (g->j->op == TD_SOLVE_potrf_rows) {
        factor(g);
    } else {
        eliminate(g);
        if (g->j->op == TD_SOLVE_gesv_rows)
            substitute(g);
    }
}

static void
compute_any(group *g)
{
    compute(g);
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) static void
compute_avx2(group *g)
{
    compute(g);
}

__attribute__((target("avx512f"))) static void
compute_avx512(group *g)
{
    compute(g);
}
#endif

static void
compute_here(group *g)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f")) {
        compute_avx512(g);
        return;
    }
    if (__builtin_cpu_supports("avx2")) {
        compute_avx2(g);
        return;
    }
#endif
    compute_any(g);
}

/* ---- all groups ---- */

typedef struct pieces {
    const td_solver *j;
    int64_t n;
    atomic_bool failed; /* a thread has found no memory */
} pieces;

/* The diagonals, and whether the rows' order is odd. */
static void
store_diagonals(group *g)
{
    int32_t *odd = (int32_t *)g->j->at[2] + g->first;

    for (int l = 0; l < g->count; l++)
        odd[l] = g->odd[l];
    for (int i = 0; i < g->n; i++)
        g->at[0][i] = g->at[i][i];
    for (int l = 0; l < g->count; l++)
        for (int i = 0; i < g->n; i++) {
            int64_t to = (g->first + l) * g->n + i;

            if (g->j->dt == TD_F32)
                ((float *)g->j->at[1])[to] = (float)*lane_of(&g->at[0][i], l);
            else
                ((double *)g->j->at[1])[to] = *lane_of(&g->at[0][i], l);
        }
}

static void
run_cholesky(group *g)
{
    bool upper = g->j->flag[0] == 'U';

    if (upper)
        mirror(g, false);
    compute_here(g);
    if (upper)
        mirror(g, true);
    hostsmall_store(g, 0, 0, g->n);
}

static void
run_group(const td_solver *j, int64_t first, int64_t count, group *g)
{
    int32_t *info = (int32_t *)j->at[j->op == TD_SOLVE_potrf_rows  ? 1
                                     : j->op == TD_SOLVE_gesv_rows ? 2
                                                                   : 3];

    g->j = j;
    g->first = first;
    g->count = count;
    g->n = (int)j->n;
    g->k = j->op == TD_SOLVE_gesv_rows ? (int)j->k : 0;
    memset(g->info, 0, sizeof g->info);
    memset(g->odd, 0, sizeof g->odd);
    hostsmall_load(g, 0, 0, g->n);
    if (j->op == TD_SOLVE_potrf_rows) {
        run_cholesky(g);
    } else if (j->op == TD_SOLVE_gesv_rows) {
        hostsmall_load(g, 1, g->n, g->k);
        compute_here(g);
        hostsmall_store(g, 1, g->n, g->k);
    } else {
        compute_here(g);
        store_diagonals(g);
    }
    for (int l = 0; l < g->count; l++)
        info[first + l] = g->info[l];
}

static void
run_piece(void *ctx, int64_t p)
{
    pieces *a = ctx;
    int64_t lo, hi;

    if (!td_scratch_grow(sizeof(group))) {
        atomic_store(&a->failed, true);
        return;
    }
    td_parallel_piece(0, a->j->batch, a->n, p, &lo, &hi);
    for (; lo < hi; lo += LANES)
        run_group(a->j, lo, hi - lo < LANES ? hi - lo : LANES, td_scratch());
}

td_status
td_hostsmall_can(td_solver_op op)
{
    return op == TD_SOLVE_gesv_rows || op == TD_SOLVE_potrf_rows || op == TD_SOLVE_getrf_rows
               ? TD_OK
               : TD_SKIP;
}

td_status
td_hostsmall_run(const td_solver *j)
{
    int64_t each = j->n * j->n * (j->n + j->k + 1) / LANES + 1,
            most = (j->batch + LANES - 1) / LANES;
    pieces a = {.j = j, .n = j->batch / (GRAIN / each + 1) + 1};

    if ((j->dt != TD_F32 && j->dt != TD_F64) || j->n > TD_SMALL_ROWS || j->k > TD_SMALL_ROWS)
        return td_fail(TD_ERR_VALUE, "solver: matrices of %d rows at most of float32 or float64",
                       TD_SMALL_ROWS);
    if (a.n > most)
        a.n = most;
    td_parallel(a.n, run_piece, &a);
    return atomic_load(&a.failed) ? td_fail(TD_ERR_NOMEM, "solver: out of host memory") : TD_OK;
}
