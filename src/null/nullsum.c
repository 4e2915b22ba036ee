/* nullsum.c - reductions as NCCL's kernels would do them, for the null device. */
#include "dev/lib/nccllib.h"
#include "type/dtype.h"

#include <string.h>

const size_t td_nccl_size[NCCL_TYPES] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2};

static bool
is_float(int type)
{
    return type >= NCCL_FLOAT16;
}

static double
float_at(const char *p, int type)
{
    uint16_t half;
    uint32_t bits;
    float f;
    double d;

    memcpy(&half, p, 2);
    if (type == NCCL_FLOAT16)
        return (double)td_half_to_float(half);
    if (type == NCCL_FLOAT64) {
        memcpy(&d, p, 8);
        return d;
    }
    bits = (uint32_t)half << 16;
    memcpy(&f, type == NCCL_BFLOAT16 ? (const char *)&bits : p, 4);
    return (double)f;
}

static void
put_float(char *p, int type, double d)
{
    float f = (float)d;
    uint32_t bits;
    uint16_t half;

    memcpy(&bits, &f, 4);
    half = type == NCCL_FLOAT16 ? td_float_to_half(f)
                                : (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
    if (td_nccl_size[type] == 2)
        memcpy(p, &half, 2);
    else
        memcpy(p, type == NCCL_FLOAT64 ? (const char *)&d : (const char *)&f, td_nccl_size[type]);
}

/* Sign-extended where the type has a sign. */
static uint64_t
int_at(const char *p, int type)
{
    uint64_t u = 0;

    memcpy(&u, p, td_nccl_size[type]);
    if (type == NCCL_INT8)
        u = (uint64_t)(int64_t)(int8_t)u;
    if (type == NCCL_INT32)
        u = (uint64_t)(int64_t)(int32_t)u;
    return u;
}

static double
combine_floats(int op, double x, double y)
{
    switch (op) {
    case NCCL_PROD: return x * y;
    case NCCL_MAX:  return x > y ? x : y;
    case NCCL_MIN:  return x < y ? x : y;
    default:        return x + y;
    }
}

static uint64_t
combine_ints(int op, bool sign, uint64_t x, uint64_t y)
{
    bool less = sign ? (int64_t)x < (int64_t)y : x < y;

    switch (op) {
    case NCCL_PROD: return x * y;
    case NCCL_MAX:  return less ? y : x;
    case NCCL_MIN:  return less ? x : y;
    default:        return x + y;
    }
}

void
td_null_combine(int type, int op, const char *const *from, int n, size_t count, char *dst)
{
    bool sign = type == NCCL_INT8 || type == NCCL_INT32 || type == NCCL_INT64;
    size_t size = td_nccl_size[type];

    for (size_t i = 0; i < count; i++) {
        double x = is_float(type) ? float_at(from[0] + i * size, type) : 0;
        uint64_t u = is_float(type) ? 0 : int_at(from[0] + i * size, type);

        for (int r = 1; r < n; r++) {
            const char *p = from[r] + i * size;

            if (is_float(type))
                x = combine_floats(op, x, float_at(p, type));
            else
                u = combine_ints(op, sign, u, int_at(p, type));
        }
        if (is_float(type))
            put_float(dst + i * size, type, op == NCCL_AVG ? x / n : x);
        else
            memcpy(dst + i * size, &u, size);
    }
}
