/* hosttinyof.h - the products of hosttiny.c for elements of type T.  Included once for each type, with NAME(x) for the
 * names and LANES for the elements of 64 bytes. */

#define VECTOR(bytes) __attribute__((vector_size(bytes), aligned(sizeof(T)), may_alias))

typedef T NAME(v16) VECTOR(16);
typedef T NAME(v32) VECTOR(32);
typedef T NAME(v64) VECTOR(64);

/* One product: element (i, p) of a is a[i * ai + p * ap]; rows of b lie bp apart, those of c, cs. */
typedef struct NAME(one) {
    const T *a, *b;
    T *c;
    int64_t ai, ap, bp, cs;
    int m, n, k;
} NAME(one);

/* Some rows of a times V's width of b's columns. */
#define ROWS(V, count)                                                                             \
    INLINE void NAME(rows_##V##_##count)(const NAME(one) * o, int row, int column)                 \
    {                                                                                              \
        const T *a = o->a + row * o->ai, *b = o->b + column;                                       \
        T *c = o->c + row * o->cs + column;                                                        \
        NAME(V) sum[count] = {0};                                                                  \
                                                                                                   \
        for (int p = 0; p < o->k; p++) {                                                           \
            NAME(V) x = *(const NAME(V) *)(b + p * o->bp);                                         \
                                                                                                   \
            for (int r = 0; r < count; r++)                                                        \
                sum[r] += a[r * o->ai + p * o->ap] * x;                                            \
        }                                                                                          \
        for (int r = 0; r < count; r++)                                                            \
            *(NAME(V) *)(c + r * o->cs) = sum[r];                                                  \
    }

#define COLUMNS(V)                                                                                 \
    ROWS(V, 4)                                                                                     \
    ROWS(V, 1)                                                                                     \
    INLINE void NAME(columns_##V)(const NAME(one) * o, int column)                                 \
    {                                                                                              \
        int row = 0;                                                                               \
                                                                                                   \
        for (; row + 4 <= o->m; row += 4)                                                          \
            NAME(rows_##V##_4)(o, row, column);                                                    \
        for (; row < o->m; row++)                                                                  \
            NAME(rows_##V##_1)(o, row, column);                                                    \
    }

COLUMNS(v16)
COLUMNS(v32)
COLUMNS(v64)

/* The least of the three widths that has n columns, else the largest. */
INLINE int
NAME(width)(int n)
{
    return n <= LANES / 4 ? LANES / 4 : n <= LANES / 2 ? LANES / 2 : LANES;
}

/* The product where n is a multiple of its width. */
INLINE void
NAME(whole)(const NAME(one) * o)
{
    int w = NAME(width)(o->n);

    if (w == LANES / 4)
        NAME(columns_v16)(o, 0);
    else if (w == LANES / 2)
        NAME(columns_v32)(o, 0);
    else
        for (int c = 0; c < o->n; c += LANES)
            NAME(columns_v64)(o, c);
}

/* a times a vector of o->k terms, which lie side by side as a's rows do: lanes add up, then the lanes of a row. */
INLINE void
NAME(dots)(const NAME(one) * o)
{
    enum { W = LANES / 2 };
    int most = o->k / W * W;

    for (int i = 0; i < o->m; i++) {
        const T *a = o->a + i * o->ai;
        NAME(v32) sum = {0};
        T lane[W], rest = 0;

        for (int p = 0; p < most; p += W)
            sum += *(const NAME(v32) *)(a + p) * *(const NAME(v32) *)(o->b + p);
        for (int p = most; p < o->k; p++)
            rest += a[p] * o->b[p];
        memcpy(lane, &sum, sizeof lane);
#pragma GCC unroll 4
        for (int step = W / 2; step; step /= 2)
#pragma GCC unroll 4
            for (int l = 0; l < step; l++)
                lane[l] += lane[l + step];
        o->c[i * o->cs] = lane[0] + rest;
    }
}

/* Product number `at` of the job. */
INLINE void
NAME(product)(const td_gemm *g, int64_t at)
{
    T b[TD_TINY_SIDE * TD_TINY_SIDE], c[TD_TINY_SIDE * TD_TINY_SIDE];
    const T *from = (const T *)g->b + at * g->stride_b;
    T *to = (T *)g->c + at * g->stride_c;
    NAME(one) o = {.a = (const T *)g->a + at * g->stride_a, .m = (int)g->m, .n = (int)g->n, .k = (int)g->k};
    int w = NAME(width)(o.n), wide = (o.n + w - 1) / w * w;

    o.ai = g->ta ? 1 : g->lda;
    o.ap = g->ta ? g->lda : 1;
    o.b = from;
    o.bp = g->ldb;
    o.c = to;
    o.cs = g->ldc;
    if (o.n == 1 && o.ap == 1 && (g->tb || g->ldb == 1) && o.k >= LANES / 4) {
        NAME(dots)(&o);
        return;
    }
    if (wide != o.n || g->tb) {
        int64_t row = g->tb ? 1 : g->ldb, column = g->tb ? g->ldb : 1;

        for (int p = 0; p < o.k; p++)
            for (int j = 0; j < wide; j++)
                b[p * wide + j] = j < o.n ? from[p * row + j * column] : 0;
        o.b = b;
        o.bp = wide;
    }
    if (wide != o.n) {
        o.c = c;
        o.cs = wide;
    }
    o.n = wide;
    NAME(whole)(&o);
    if (o.c == c)
        for (int i = 0; i < o.m; i++)
            for (int j = 0; j < g->n; j++)
                to[i * g->ldc + j] = c[i * wide + j];
}

#undef VECTOR
#undef ROWS
#undef COLUMNS
