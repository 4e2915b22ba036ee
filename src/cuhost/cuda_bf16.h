// cuda_bf16.h - bfloat16 under CUDA's names.
#ifndef TD_CU_BF16_H
#define TD_CU_BF16_H
#pragma GCC system_header
#include "treadle_cuda.h"

namespace td_cu {

struct bfloat16 {
    static constexpr uint16_t infinity = 0x7f80, nan = 0x7fff, one = 0x3f80;

    static float widen(uint16_t h) { return from_bits<float>(uint64_t(h) << 16); }

    static uint16_t narrow(float f)
    {
        uint32_t u = from_bits<uint32_t>(to_bits(f));

        return uint16_t((u & 0x7fffffff) > 0x7f800000 ? nan : (u + 0x7fff + (u >> 16 & 1)) >> 16);
    }
};

} // namespace td_cu

#define TD_CU_FORMAT td_cu::bfloat16
#define TD_CU_H __nv_bfloat16
#define TD_CU_H2 __nv_bfloat162
#define TD_CU_RAW __nv_bfloat16_raw
#define TD_CU_RAW2 __nv_bfloat162_raw
#define TD_CU_JOIN(a, b, c) a##b##c
#define TD_CU_TO(from, rest) TD_CU_JOIN(__##from##2, bfloat16, rest)
#define TD_CU_FROM(to) TD_CU_JOIN(__, bfloat16, 2##to)
#define TD_CU_NAME(before, after) TD_CU_JOIN(__##before, bfloat16, after)
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

TD_CU_INLINE __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 a) { return {a, a}; }
TD_CU_INLINE __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) { return {a, b}; }
TD_CU_INLINE __nv_bfloat162 make_bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) { return {a, b}; }

typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;
namespace td_cu {
TD_CU_KIND(__nv_bfloat16, 'f')
}

#endif
