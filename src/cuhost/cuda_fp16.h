// cuda_fp16.h - half and half2 under CUDA's names.  Each operation is computed in float or double, exactly enough that
// rounding to half rounds once.
#ifndef TD_CU_FP16_H
#define TD_CU_FP16_H
#pragma GCC system_header
#include "treadle_cuda.h"

namespace td_cu {

struct binary16 {
    static constexpr uint16_t infinity = 0x7c00, nan = 0x7fff, one = 0x3c00;

    static float widen(uint16_t h)
    {
        uint32_t rest = h & 0x7fffu;
        float f = from_bits<float>(to_bits(rest << 13)) * 0x1p112f; // subnormal numbers too
        uint32_t bits = rest >= infinity ? 0x7f800000 | rest << 13 : from_bits<uint32_t>(to_bits(f));

        return from_bits<float>(to_bits(bits | uint32_t(h & 0x8000) << 16));
    }

    static uint16_t narrow(float f)
    {
        uint32_t u = from_bits<uint32_t>(to_bits(f)), a = u & 0x7fffffff, sign = u >> 16 & 0x8000;
        // For a below 2^-14, the last place of the sum with 0.5 is that of a subnormal half.
        uint32_t small = from_bits<uint32_t>(to_bits(from_bits<float>(to_bits(a)) + 0.5f)) - 0x3f000000;
        uint32_t normal = (a + 0xfff + (a >> 13 & 1) - (112u << 23)) >> 13;

        return uint16_t(a > 0x7f800000    ? nan
                        : a >= 0x477ff000 ? sign | infinity
                        : a < 0x38800000  ? sign | small
                                          : sign | normal);
    }
};

} // namespace td_cu

#define TD_CU_FORMAT td_cu::binary16
#define TD_CU_H __half
#define TD_CU_H2 __half2
#define TD_CU_RAW __half_raw
#define TD_CU_RAW2 __half2_raw
#define TD_CU_JOIN(a, b, c) a##b##c
#define TD_CU_TO(from, rest) TD_CU_JOIN(__##from##2, half, rest)     // __float2half_rn
#define TD_CU_FROM(to) TD_CU_JOIN(__, half, 2##to)                   // __half2float
#define TD_CU_NAME(before, after) TD_CU_JOIN(__##before, half, after)
#include "td_cu/small.h"
#undef TD_CU_FORMAT
#undef TD_CU_H
#undef TD_CU_H2
#undef TD_CU_RAW
#undef TD_CU_RAW2
#undef TD_CU_TO
#undef TD_CU_FROM
#undef TD_CU_NAME
#undef TD_CU_JOIN

TD_CU_INLINE __half2 __half2half2(__half a) { return {a, a}; }
TD_CU_INLINE __half2 __halves2half2(__half a, __half b) { return {a, b}; }
TD_CU_INLINE __half2 make_half2(__half a, __half b) { return {a, b}; }

typedef __half half;
typedef __half2 half2;
typedef __half nv_half;
typedef __half2 nv_half2;
namespace td_cu {
TD_CU_KIND(__half, 'f')
}


#endif
