// Random numbers and complex ones: Philox's published answers, streams that can be entered anywhere, moments.
#include "treadle_cuda.h"
#include <cuComplex.h>
#include <cuda_runtime.h>
#include <curand_kernel.h>
#include <device_launch_parameters.h>
#include <math_constants.h>

#define WRONG(c) ((c) ? (void)atomicAdd(bad, 1) : (void)0)

// Known answers of the generator's authors (Random123, kat_vectors: philox4x32 10).
__global__ void philox(int *bad, int *)
{
    curandStatePhilox4_32_10_t s;

    curand_init(0, 0, 0, &s);
    uint4 r = curand4(&s);
    WRONG(r.x != 0x6627e8d5 || r.y != 0xe169c58d || r.z != 0xbc57ac4c || r.w != 0x9b00dbd8);
    curand_init(0xffffffffffffffffull, 0xffffffffffffffffull, 0, &s);
    s.low = 0xffffffffffffffffull;
    s.fill();
    r = curand4(&s);
    WRONG(r.x != 0x408f276d || r.y != 0x41c83b0e || r.z != 0xa20bc7c6 || r.w != 0x6d5451fd);
}

template <class S> __global__ void streams(int *bad, int *)
{
    S a, b, other;

    curand_init(7, 3, 0, &a);
    for (int i = 0; i < 50; i++) {
        curand_init(7, 3, i, &b);
        WRONG(curand(&b) != curand(&a));
    }
    skipahead(13, &a);
    curand_init(7, 3, 63, &b);
    curand_init(7, 4, 63, &other);
    unsigned x = curand(&a);
    WRONG(x != curand(&b) || x == curand(&other));
}

template <class F> static void moments(int *bad, F draw, double mean, double variance, double low, double high)
{
    const int n = 40000;
    double sum = 0, squares = 0;

    for (int i = 0; i < n; i++) {
        double v = draw();

        WRONG(!(v >= low && v <= high));
        sum += v;
        squares += (v - mean) * (v - mean);
    }
    WRONG(fabs(sum / n - mean) > 6 * sqrt(variance / n));
    WRONG(fabs(squares / n - variance) > 0.1 * variance);
}

template <class S> __global__ void distributions(int *bad, int *)
{
    S s;

    curand_init(11, 0, 0, &s);
    moments(bad, [&] { return curand_uniform(&s); }, 0.5, 1.0 / 12, 1e-11, 1);
    moments(bad, [&] { return curand_uniform_double(&s); }, 0.5, 1.0 / 12, 1e-18, 1);
    moments(bad, [&] { return curand_normal(&s); }, 0, 1, -9, 9);
    moments(bad, [&] { return curand_normal_double(&s); }, 0, 1, -9, 9);
    moments(bad, [&] { return curand_normal2(&s).y; }, 0, 1, -9, 9);
    moments(bad, [&] { return curand_normal4(&s).z; }, 0, 1, -9, 9);
    moments(bad, [&] { return curand_uniform4(&s).w; }, 0.5, 1.0 / 12, 1e-11, 1);
    moments(bad, [&] { return logf(curand_log_normal(&s, 1, 2)); }, 1, 4, -20, 20);
    moments(bad, [&] { return curand_poisson(&s, 3.5); }, 3.5, 3.5, 0, 40);
    moments(bad, [&] { return curand_poisson(&s, 250); }, 250, 250, 100, 400);
    WRONG(curand_poisson(&s, 0) != 0);
}

__global__ void complex_numbers(int *bad, int *)
{
    cuFloatComplex a = make_cuFloatComplex(3, -4), b = make_cuComplex(1, 2);
    cuDoubleComplex d = cuComplexFloatToDouble(a), q = cuCdiv(d, make_cuDoubleComplex(1, 2));

    WRONG(cuCabsf(a) != 5 || cuCabs(d) != 5 || cuCrealf(a) != 3 || cuCimag(d) != -4);
    WRONG(cuCaddf(a, b).y != -2 || cuCsubf(a, b).x != 2 || cuConjf(a).y != 4);
    WRONG(cuCmulf(a, b).x != 11 || cuCmulf(a, b).y != 2 || cuCfmaf(a, b, b).y != 4);
    WRONG(fabs(q.x + 1) > 1e-15 || fabs(q.y + 2) > 1e-15);
    WRONG(fabs(cuCabs(make_cuDoubleComplex(3e200, 4e200)) / 5e200 - 1) > 1e-15 || fabs(cuCdiv(make_cuDoubleComplex(1e200, 0), make_cuDoubleComplex(1e200, 0)).x - 1) > 1e-15);
    WRONG(cuComplexDoubleToFloat(q).x != float(q.x));
    WRONG(CUDART_PI_F != float(CUDART_PI) || cos(CUDART_PI) != -1 || !isnan(CUDART_NAN_F) || CUDART_INF_F != INFINITY);
}

// Vector types: sizes, alignments, what makes them.
#define TD_SIZES(name, T, two, four)                                                                                                     \
    static_assert(sizeof(name##1) == sizeof(T) && sizeof(name##2) == 2 * sizeof(T) && sizeof(name##3) == 3 * sizeof(T), #name);          \
    static_assert(sizeof(name##4) == 4 * sizeof(T) && alignof(name##1) == alignof(T) && alignof(name##3) == alignof(T), #name);           \
    static_assert(alignof(name##2) == (2 * sizeof(T) > 16 ? 16 : 2 * sizeof(T)) && alignof(name##4) == (4 * sizeof(T) > 16 ? 16 : 4 * sizeof(T)), #name);
TD_CU_VECTORS(TD_SIZES)
static_assert(sizeof(double4_32a) == 32 && alignof(double4_32a) == 32 && alignof(longlong4_16a) == 16, "CUDA 13's names");
static_assert(sizeof(dim3) == 12 && warpSize == 32, "dim3");

__global__ void vectors(int *bad, int *)
{
#define TD_MAKES(name, T, two, four)                                                                            \
    {                                                                                                           \
        T a = 1, b = 2, c = 3, d = 4;                                                                           \
        WRONG(make_##name##1(a).x != a || make_##name##2(a, b).y != b || make_##name##3(a, b, c).z != c);       \
        WRONG(make_##name##4(a, b, c, d).w != d || make_##name##4(a, b, c, d).x != a);                          \
    }
    TD_CU_VECTORS(TD_MAKES)
    dim3 d(2, 3), e = make_uint3(4, 5, 6);
    uint3 u = e;

    WRONG(d.x != 2 || d.y != 3 || d.z != 1 || u.z != 6 || dim3().x != 1);
    float4 f = {1, 2, 3, 4};
    WRONG(f.w != 4 || make_double4_32a(1, 2, 3, 4).z != 3);
}

TD_CU_TABLE_BEGIN
TD_CU_KERNEL(TD_CU_PLAIN, "philox|1|1", (philox), 0)
TD_CU_KERNEL(TD_CU_PLAIN, "streams of Philox|1|1", (streams<curandStatePhilox4_32_10_t>), 0)
TD_CU_KERNEL(TD_CU_PLAIN, "streams of XORWOW|1|1", (streams<curandState>), 0)
TD_CU_KERNEL(TD_CU_PLAIN, "distributions of Philox|1|1", (distributions<curandStatePhilox4_32_10_t>), 0)
TD_CU_KERNEL(TD_CU_PLAIN, "distributions of XORWOW|1|1", (distributions<curandState>), 0)
TD_CU_KERNEL(TD_CU_PLAIN, "complex numbers|1|1", (complex_numbers), 0)
TD_CU_KERNEL(TD_CU_PLAIN, "vectors|1|1", (vectors), 0)
TD_CU_GLOBALS
TD_CU_TABLE_END
