/* product.c - products of small matrices, for which calling a library would take longer. */
#include "array/now/now.h"

enum { SUMS = 4 }; /* sums kept at once along k */

/* T: of elements, S: of sums. */
#define PRODUCT(name, T, S)                                                                        \
    static S dot_##name(const T *a, int64_t as, const T *b, int64_t bs, int64_t k)                 \
    {                                                                                              \
        S sum[SUMS] = {0};                                                                         \
        int64_t i = 0;                                                                             \
                                                                                                   \
        for (; i + SUMS <= k; i += SUMS)                                                           \
            for (int l = 0; l < SUMS; l++)                                                         \
                sum[l] += (S)a[(i + l) * as] * (S)b[(i + l) * bs];                                 \
        for (; i < k; i++)                                                                         \
            sum[0] += (S)a[i * as] * (S)b[i * bs];                                                 \
        return (sum[0] + sum[1]) + (sum[2] + sum[3]);                                              \
    }                                                                                              \
                                                                                                   \
    static void product_##name(const td_few *a, const td_few *b, const td_few *out)                \
    {                                                                                              \
        const td_view *va = a->view, *vb = b->view, *v = out->view;                                \
        const T *x = (const T *)(const void *)a->at + va->offset,                                  \
                *y = (const T *)(const void *)b->at + vb->offset;                                  \
        T *r = (T *)(void *)out->at + v->offset;                                                   \
                                                                                                   \
        for (int64_t i = 0; i < v->shape.dim[0]; i++)                                              \
            for (int64_t j = 0; j < v->shape.dim[1]; j++)                                          \
                r[i * v->stride[0] + j * v->stride[1]] =                                           \
                    (T)dot_##name(x + i * va->stride[0], va->stride[1], y + j * vb->stride[1],     \
                                  vb->stride[0], va->shape.dim[1]);                                \
    }

PRODUCT(f32, float, double)
PRODUCT(f64, double, double)
PRODUCT(u32, uint32_t, uint32_t)
PRODUCT(u64, uint64_t, uint64_t)

typedef void few_product(const td_few *a, const td_few *b, const td_few *out);

/* Integers wrap; signed ones are computed as unsigned. */
static few_product *const products[TD_DTYPE_COUNT] = {
    [TD_F32] = product_f32, [TD_F64] = product_f64, [TD_I32] = product_u32,
    [TD_U32] = product_u32, [TD_I64] = product_u64, [TD_U64] = product_u64,
};

bool
td_few_multiplies(td_dtype dt)
{
    return products[dt] != NULL;
}

void
td_few_product(const td_few *a, const td_few *b, const td_few *out)
{
    products[out->dt](a, b, out);
}
