// rounding.h - arithmetic and conversions with a given rounding: _rn nearest, _rz to zero, _ru up, _rd down.
#ifndef TD_CU_ROUNDING_H
#define TD_CU_ROUNDING_H

#include <fenv.h>

namespace td_cu {

enum rounding { rn, rz, ru, rd };

TD_CU_INLINE int fe_mode(rounding how) { return how == rz ? FE_TOWARDZERO : how == ru ? FE_UPWARD : FE_DOWNWARD; }

// Keeps x from being merged with another instruction: __fmul_rn and its kin never become part of an fma.
template <class T> TD_CU_INLINE T alone(T x)
{
#if defined(__x86_64__)
    __asm__("" : "+x"(x));
#elif defined(__aarch64__)
    __asm__("" : "+w"(x));
#endif
    return x;
}

// Computes f under another rounding mode; volatile keeps the computation between the switches.
template <class T, class F> inline T directed(rounding how, F f, T a, T b, T c)
{
    int was = fegetround();
    volatile T x = a, y = b, z = c, r;

    fesetround(fe_mode(how));
    r = f(x, y, z);
    fesetround(was);
    return r;
}

template <class T, class F> TD_CU_INLINE T rounded(rounding how, F f, T a, T b = 0, T c = 0)
{
    return how == rn ? alone(f(alone(a), alone(b), alone(c))) : directed(how, f, a, b, c);
}

// Rounds v, which a long double holds exactly, to an R.
template <class R> TD_CU_INLINE R narrow(rounding how, long double v)
{
    R r = R(v);

    if (how == rn || (long double)r == v || isnan(r))
        return r;
    bool above = (long double)r > v, up = how == ru || (how == rz && v < 0);

    return above == up ? r : nextafter(r, R(up ? INFINITY : -INFINITY));
}

template <class F> TD_CU_INLINE F to_whole(rounding how, F x)
{
    return how == rn ? F(nearbyint(x)) : how == rz ? F(trunc(x)) : how == ru ? F(ceil(x)) : F(floor(x));
}

// Converts as a GPU does: values out of range saturate; NaN gives 0, or only the highest bit where either type has 64
// bits.
template <class I, class F> TD_CU_INLINE I to_int(rounding how, F x)
{
    constexpr bool is_signed = I(-1) < I(0);
    constexpr int bits = 8 * int(sizeof(I)) - is_signed;
    constexpr I high = I(~0ull >> (64 - bits)), low = is_signed ? I(-high - 1) : I(0);
    constexpr F limit = F(1ull << (bits - 1)) * 2;

    if (isnan(x))
        return sizeof(I) == 8 || sizeof(F) == 8 ? I(1ull << (8 * sizeof(I) - 1)) : I(0);
    x = to_whole(how, x);
    return x >= limit ? high : x < F(low) ? low : I(x);
}

} // namespace td_cu

#define TD_CU_EACH_ROUNDING(M, ...) M(rn, __VA_ARGS__) M(rz, __VA_ARGS__) M(ru, __VA_ARGS__) M(rd, __VA_ARGS__)

#define TD_CU_ARITH(mode, T, p)                                                                                        \
    TD_CU_INLINE T p##add_##mode(T a, T b) { return td_cu::rounded(td_cu::mode, [](T x, T y, T) { return x + y; }, a, b); } \
    TD_CU_INLINE T p##sub_##mode(T a, T b) { return td_cu::rounded(td_cu::mode, [](T x, T y, T) { return x - y; }, a, b); } \
    TD_CU_INLINE T p##mul_##mode(T a, T b) { return td_cu::rounded(td_cu::mode, [](T x, T y, T) { return x * y; }, a, b); } \
    TD_CU_INLINE T p##div_##mode(T a, T b) { return td_cu::rounded(td_cu::mode, [](T x, T y, T) { return x / y; }, a, b); } \
    TD_CU_INLINE T p##rcp_##mode(T a) { return td_cu::rounded(td_cu::mode, [](T x, T, T) { return 1 / x; }, a); }      \
    TD_CU_INLINE T p##sqrt_##mode(T a) { return td_cu::rounded(td_cu::mode, [](T x, T, T) { return T(sqrt(x)); }, a); }
TD_CU_EACH_ROUNDING(TD_CU_ARITH, float, __f)
TD_CU_EACH_ROUNDING(TD_CU_ARITH, double, __d)
#undef TD_CU_ARITH

#define TD_CU_FMA(mode, T, name)                                                                                       \
    TD_CU_INLINE T name##_##mode(T a, T b, T c)                                                                        \
    {                                                                                                                  \
        return td_cu::mode == td_cu::rn ? T(fma(a, b, c))                                                              \
                                        : td_cu::directed(td_cu::mode, [](T x, T y, T z) { return T(fma(x, y, z)); }, a, b, c); \
    }
TD_CU_EACH_ROUNDING(TD_CU_FMA, float, __fmaf)
TD_CU_EACH_ROUNDING(TD_CU_FMA, float, __fmaf_ieee)
TD_CU_EACH_ROUNDING(TD_CU_FMA, double, __fma)
#undef TD_CU_FMA

#define TD_CU_TO_INT(mode, F, name, I)                                                                                 \
    TD_CU_INLINE I name##_##mode(F x) { return td_cu::to_int<I>(td_cu::mode, x); }
TD_CU_EACH_ROUNDING(TD_CU_TO_INT, float, __float2int, int)
TD_CU_EACH_ROUNDING(TD_CU_TO_INT, float, __float2uint, unsigned)
TD_CU_EACH_ROUNDING(TD_CU_TO_INT, float, __float2ll, long long)
TD_CU_EACH_ROUNDING(TD_CU_TO_INT, float, __float2ull, unsigned long long)
TD_CU_EACH_ROUNDING(TD_CU_TO_INT, double, __double2int, int)
TD_CU_EACH_ROUNDING(TD_CU_TO_INT, double, __double2uint, unsigned)
TD_CU_EACH_ROUNDING(TD_CU_TO_INT, double, __double2ll, long long)
TD_CU_EACH_ROUNDING(TD_CU_TO_INT, double, __double2ull, unsigned long long)
#undef TD_CU_TO_INT

#define TD_CU_NARROW(mode, T, name, R)                                                                                 \
    TD_CU_INLINE R name##_##mode(T x) { return td_cu::mode == td_cu::rn ? R(x) : td_cu::narrow<R>(td_cu::mode, (long double)x); }
TD_CU_EACH_ROUNDING(TD_CU_NARROW, int, __int2float, float)
TD_CU_EACH_ROUNDING(TD_CU_NARROW, unsigned, __uint2float, float)
TD_CU_EACH_ROUNDING(TD_CU_NARROW, long long, __ll2float, float)
TD_CU_EACH_ROUNDING(TD_CU_NARROW, unsigned long long, __ull2float, float)
TD_CU_EACH_ROUNDING(TD_CU_NARROW, long long, __ll2double, double)
TD_CU_EACH_ROUNDING(TD_CU_NARROW, unsigned long long, __ull2double, double)
TD_CU_EACH_ROUNDING(TD_CU_NARROW, double, __double2float, float)
#undef TD_CU_NARROW
#undef TD_CU_EACH_ROUNDING
TD_CU_INLINE double __int2double_rn(int x) { return x; }
TD_CU_INLINE double __uint2double_rn(unsigned x) { return x; }

#endif
