// cuComplex.h - complex numbers as float2 and double2.
#ifndef TD_CU_COMPLEX_H
#define TD_CU_COMPLEX_H
#pragma GCC system_header
#include "treadle_cuda.h"

typedef float2 cuFloatComplex;
typedef double2 cuDoubleComplex;
typedef cuFloatComplex cuComplex;

// Division scales by the divisor's magnitude, and absolute values are computed without intermediate overflow.
#define TD_CU_COMPLEX(C, T, make, f)                                                                                   \
    TD_CU_INLINE T cuCreal##f(C z) { return z.x; }                                                                     \
    TD_CU_INLINE T cuCimag##f(C z) { return z.y; }                                                                     \
    TD_CU_INLINE C make(T re, T im) { return {re, im}; }                                                               \
    TD_CU_INLINE C cuConj##f(C z) { return {z.x, -z.y}; }                                                              \
    TD_CU_INLINE C cuCadd##f(C a, C b) { return {a.x + b.x, a.y + b.y}; }                                              \
    TD_CU_INLINE C cuCsub##f(C a, C b) { return {a.x - b.x, a.y - b.y}; }                                              \
    TD_CU_INLINE C cuCmul##f(C a, C b) { return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x}; }                      \
    TD_CU_INLINE C cuCdiv##f(C a, C b)                                                                                 \
    {                                                                                                                  \
        T s = T(1) / (T(fabs(b.x)) + T(fabs(b.y))), ax = a.x * s, ay = a.y * s, bx = b.x * s, by = b.y * s;            \
        T n = T(1) / (bx * bx + by * by);                                                                              \
                                                                                                                       \
        return {(ax * bx + ay * by) * n, (ay * bx - ax * by) * n};                                                     \
    }                                                                                                                  \
    TD_CU_INLINE T cuCabs##f(C z) { return hypot(z.x, z.y); }                                                          \
    TD_CU_INLINE C cuCfma##f(C a, C b, C c) { return cuCadd##f(cuCmul##f(a, b), c); }
TD_CU_COMPLEX(cuFloatComplex, float, make_cuFloatComplex, f)
TD_CU_COMPLEX(cuDoubleComplex, double, make_cuDoubleComplex, )
#undef TD_CU_COMPLEX

TD_CU_INLINE cuComplex make_cuComplex(float re, float im) { return {re, im}; }
TD_CU_INLINE cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex z) { return {double(z.x), double(z.y)}; }
TD_CU_INLINE cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex z) { return {float(z.x), float(z.y)}; }

#endif
