// small.h - a type of 16-bit floats and its pair.  cuda_fp16.h and cuda_bf16.h each include it.
//
// float sums, products, quotients and roots are wide enough to be rounded a second time without harm.  What is computed
// in double is rounded to odd first.

#ifndef TD_CU_SMALL_ONCE
#define TD_CU_SMALL_ONCE
namespace td_cu {

// v as a float whose last bit is set if digits were lost: rounding that once more gives the same as rounding v.
template <class T> inline float sticky(T v)
{
    float f = float(v);
    uint32_t bits;

    if (T(f) == v || !(fabsf(f) < INFINITY))
        return f;
    bits = from_bits<uint32_t>(to_bits(f)) - (fabs(T(f)) > fabs(v) ? 1 : 0); // towards zero
    return from_bits<float>(to_bits(bits | 1));
}

// a * b + c, where double holds the product exactly; the last bit is set if digits were lost.
inline double sticky_fma(double a, double b, double c)
{
    double p = a * b, s = p + c, t = s - p, rest = (p - (s - t)) + (c - t);
    uint64_t bits = to_bits(s);

    if (rest == 0 || !(fabs(s) < INFINITY) || (bits & 1))
        return s;
    return from_bits<double>((rest > 0) == (s > 0) ? bits + 1 : bits - 1);
}

template <class Format> inline uint16_t small_of(rounding how, float f)
{
    uint16_t h = Format::narrow(f);
    float back = Format::widen(h);

    if (how == rn || back == f || f != f)
        return h;
    bool up = how == ru || (how == rz && f < 0), above = back > f;

    if (above == up)
        return h;
    if ((h & 0x7fff) == 0)
        return uint16_t(up ? 0x0001 : 0x8001);
    return uint16_t((h & 0x8000 ? !up : up) ? h + 1 : h - 1);
}

} // namespace td_cu
#endif

struct TD_CU_RAW {
    unsigned short x;
};
struct alignas(4) TD_CU_RAW2 {
    unsigned short x, y;
};

struct alignas(2) TD_CU_H {
    unsigned short __x;

    TD_CU_H() = default;
    constexpr TD_CU_H(const TD_CU_RAW &r) : __x(r.x) {}
    TD_CU_H(float f) : __x(TD_CU_FORMAT::narrow(f)) {}
    TD_CU_H(double d) : __x(TD_CU_FORMAT::narrow(td_cu::sticky(d))) {}
#define TD_CU_CONVERT(T)                                                                                               \
    TD_CU_H(T v) : __x(TD_CU_FORMAT::narrow(td_cu::sticky((long double)v))) {}                                         \
    operator T() const { return td_cu::to_int<T>(td_cu::rz, TD_CU_FORMAT::widen(__x)); }
    TD_CU_CONVERT(short)
    TD_CU_CONVERT(unsigned short)
    TD_CU_CONVERT(int)
    TD_CU_CONVERT(unsigned int)
    TD_CU_CONVERT(long)
    TD_CU_CONVERT(unsigned long)
    TD_CU_CONVERT(long long)
    TD_CU_CONVERT(unsigned long long)
#undef TD_CU_CONVERT
    operator float() const { return TD_CU_FORMAT::widen(__x); }
    operator signed char() const { return td_cu::to_int<signed char>(td_cu::rz, TD_CU_FORMAT::widen(__x)); }
    operator unsigned char() const { return td_cu::to_int<unsigned char>(td_cu::rz, TD_CU_FORMAT::widen(__x)); }
    constexpr operator bool() const { return (__x & 0x7fff) != 0; }
    constexpr operator TD_CU_RAW() const { return {__x}; }
};

struct alignas(4) TD_CU_H2 {
    TD_CU_H x, y;

    TD_CU_H2() = default;
    constexpr TD_CU_H2(const TD_CU_H &a, const TD_CU_H &b) : x(a), y(b) {}
    constexpr TD_CU_H2(const TD_CU_RAW2 &r) : x(TD_CU_RAW{r.x}), y(TD_CU_RAW{r.y}) {}
    constexpr operator TD_CU_RAW2() const { return {x.__x, y.__x}; }
};

// ---- conversions ----

TD_CU_INLINE TD_CU_H TD_CU_TO(float, )(float f) { return TD_CU_H(f); }
TD_CU_INLINE TD_CU_H TD_CU_TO(double, )(double d) { return TD_CU_H(d); }
TD_CU_INLINE float TD_CU_FROM(float)(TD_CU_H h) { return float(h); }
#define TD_CU_EACH_ROUNDING(M, ...) M(rn, __VA_ARGS__) M(rz, __VA_ARGS__) M(ru, __VA_ARGS__) M(rd, __VA_ARGS__)
#define TD_CU_FLOAT(mode, ...)                                                                                         \
    TD_CU_INLINE TD_CU_H TD_CU_TO(float, _##mode)(float f)                                                             \
    {                                                                                                                  \
        return TD_CU_RAW{td_cu::small_of<TD_CU_FORMAT>(td_cu::mode, f)};                                               \
    }
#define TD_CU_WHOLE(mode, T, name)                                                                                     \
    TD_CU_INLINE TD_CU_H TD_CU_TO(name, _##mode)(T v)                                                                  \
    {                                                                                                                  \
        return TD_CU_RAW{td_cu::small_of<TD_CU_FORMAT>(td_cu::mode, td_cu::sticky((long double)v))};                   \
    }                                                                                                                  \
    TD_CU_INLINE T TD_CU_FROM(name##_##mode)(TD_CU_H h) { return td_cu::to_int<T>(td_cu::mode, float(h)); }
TD_CU_EACH_ROUNDING(TD_CU_FLOAT, )
TD_CU_EACH_ROUNDING(TD_CU_WHOLE, short, short)
TD_CU_EACH_ROUNDING(TD_CU_WHOLE, unsigned short, ushort)
TD_CU_EACH_ROUNDING(TD_CU_WHOLE, int, int)
TD_CU_EACH_ROUNDING(TD_CU_WHOLE, unsigned int, uint)
TD_CU_EACH_ROUNDING(TD_CU_WHOLE, long long, ll)
TD_CU_EACH_ROUNDING(TD_CU_WHOLE, unsigned long long, ull)
#undef TD_CU_FLOAT
#undef TD_CU_WHOLE
#undef TD_CU_EACH_ROUNDING
TD_CU_INLINE signed char TD_CU_FROM(char_rz)(TD_CU_H h) { return h; }
TD_CU_INLINE unsigned char TD_CU_FROM(uchar_rz)(TD_CU_H h) { return h; }
TD_CU_INLINE short TD_CU_NAME(, _as_short)(TD_CU_H h) { return short(h.__x); }
TD_CU_INLINE unsigned short TD_CU_NAME(, _as_ushort)(TD_CU_H h) { return h.__x; }
TD_CU_INLINE TD_CU_H TD_CU_NAME(short_as_, )(short x) { return TD_CU_RAW{(unsigned short)x}; }
TD_CU_INLINE TD_CU_H TD_CU_NAME(ushort_as_, )(unsigned short x) { return TD_CU_RAW{x}; }

TD_CU_INLINE TD_CU_H2 TD_CU_TO(float, 2_rn)(float f) { return {TD_CU_H(f), TD_CU_H(f)}; }
TD_CU_INLINE TD_CU_H2 TD_CU_TO(floats, 2_rn)(float a, float b) { return {TD_CU_H(a), TD_CU_H(b)}; }
TD_CU_INLINE TD_CU_H2 TD_CU_TO(float2, 2_rn)(float2 f) { return {TD_CU_H(f.x), TD_CU_H(f.y)}; }
TD_CU_INLINE float2 TD_CU_NAME(, 22float2)(TD_CU_H2 h) { return {float(h.x), float(h.y)}; }
TD_CU_INLINE float __low2float(TD_CU_H2 h) { return float(h.x); }
TD_CU_INLINE float __high2float(TD_CU_H2 h) { return float(h.y); }
TD_CU_INLINE TD_CU_H TD_CU_TO(low, )(TD_CU_H2 h) { return h.x; }
TD_CU_INLINE TD_CU_H TD_CU_TO(high, )(TD_CU_H2 h) { return h.y; }
TD_CU_INLINE TD_CU_H2 TD_CU_TO(low, 2)(TD_CU_H2 h) { return {h.x, h.x}; }
TD_CU_INLINE TD_CU_H2 TD_CU_TO(high, 2)(TD_CU_H2 h) { return {h.y, h.y}; }
TD_CU_INLINE TD_CU_H2 TD_CU_TO(lows, 2)(TD_CU_H2 a, TD_CU_H2 b) { return {a.x, b.x}; }
TD_CU_INLINE TD_CU_H2 TD_CU_TO(highs, 2)(TD_CU_H2 a, TD_CU_H2 b) { return {a.y, b.y}; }
TD_CU_INLINE TD_CU_H2 __lowhigh2highlow(TD_CU_H2 h) { return {h.y, h.x}; }

// ---- numbers ----

#define TD_CU_BINARY(op, name)                                                                                         \
    TD_CU_INLINE TD_CU_H name(TD_CU_H a, TD_CU_H b) { return TD_CU_H(td_cu::alone(float(a) op float(b))); }            \
    TD_CU_INLINE TD_CU_H name##_rn(TD_CU_H a, TD_CU_H b) { return name(a, b); }                                        \
    TD_CU_INLINE TD_CU_H name##_sat(TD_CU_H a, TD_CU_H b) { return TD_CU_H(__saturatef(float(name(a, b)))); }          \
    TD_CU_INLINE TD_CU_H2 name##2(TD_CU_H2 a, TD_CU_H2 b) { return {name(a.x, b.x), name(a.y, b.y)}; }                 \
    TD_CU_INLINE TD_CU_H2 name##2_rn(TD_CU_H2 a, TD_CU_H2 b) { return name##2(a, b); }                                 \
    TD_CU_INLINE TD_CU_H2 name##2_sat(TD_CU_H2 a, TD_CU_H2 b) { return {name##_sat(a.x, b.x), name##_sat(a.y, b.y)}; } \
    TD_CU_INLINE TD_CU_H operator op(const TD_CU_H &a, const TD_CU_H &b) { return name(a, b); }                        \
    TD_CU_INLINE TD_CU_H2 operator op(const TD_CU_H2 &a, const TD_CU_H2 &b) { return name##2(a, b); }                  \
    TD_CU_INLINE TD_CU_H &operator op##=(TD_CU_H & a, const TD_CU_H &b) { return a = name(a, b); }                     \
    TD_CU_INLINE TD_CU_H2 &operator op##=(TD_CU_H2 & a, const TD_CU_H2 &b) { return a = name##2(a, b); }
TD_CU_BINARY(+, __hadd)
TD_CU_BINARY(-, __hsub)
TD_CU_BINARY(*, __hmul)
TD_CU_BINARY(/, __hdiv)
#undef TD_CU_BINARY
TD_CU_INLINE TD_CU_H2 __h2div(TD_CU_H2 a, TD_CU_H2 b) { return __hdiv2(a, b); }

TD_CU_INLINE TD_CU_H __hneg(TD_CU_H a) { return TD_CU_RAW{(unsigned short)(a.__x ^ 0x8000)}; }
TD_CU_INLINE TD_CU_H __habs(TD_CU_H a) { return TD_CU_RAW{(unsigned short)(a.__x & 0x7fff)}; }
TD_CU_INLINE TD_CU_H2 __hneg2(TD_CU_H2 a) { return {__hneg(a.x), __hneg(a.y)}; }
TD_CU_INLINE TD_CU_H2 __habs2(TD_CU_H2 a) { return {__habs(a.x), __habs(a.y)}; }
TD_CU_INLINE TD_CU_H operator+(const TD_CU_H &a) { return a; }
TD_CU_INLINE TD_CU_H operator-(const TD_CU_H &a) { return __hneg(a); }
TD_CU_INLINE TD_CU_H2 operator+(const TD_CU_H2 &a) { return a; }
TD_CU_INLINE TD_CU_H2 operator-(const TD_CU_H2 &a) { return __hneg2(a); }
TD_CU_INLINE TD_CU_H &operator++(TD_CU_H &a) { return a = __hadd(a, TD_CU_RAW{TD_CU_FORMAT::one}); }
TD_CU_INLINE TD_CU_H &operator--(TD_CU_H &a) { return a = __hsub(a, TD_CU_RAW{TD_CU_FORMAT::one}); }
TD_CU_INLINE TD_CU_H operator++(TD_CU_H &a, int)
{
    TD_CU_H was = a;

    ++a;
    return was;
}
TD_CU_INLINE TD_CU_H operator--(TD_CU_H &a, int)
{
    TD_CU_H was = a;

    --a;
    return was;
}

TD_CU_INLINE TD_CU_H __hfma(TD_CU_H a, TD_CU_H b, TD_CU_H c)
{
    return TD_CU_H(td_cu::sticky_fma(double(float(a)), double(float(b)), double(float(c))));
}
TD_CU_INLINE TD_CU_H __hfma_sat(TD_CU_H a, TD_CU_H b, TD_CU_H c) { return TD_CU_H(__saturatef(float(__hfma(a, b, c)))); }
TD_CU_INLINE TD_CU_H __hfma_relu(TD_CU_H a, TD_CU_H b, TD_CU_H c)
{
    TD_CU_H r = __hfma(a, b, c);

    return float(r) < 0 ? TD_CU_H(0.0f) : r;
}
TD_CU_INLINE TD_CU_H2 __hfma2(TD_CU_H2 a, TD_CU_H2 b, TD_CU_H2 c) { return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)}; }
TD_CU_INLINE TD_CU_H2 __hfma2_sat(TD_CU_H2 a, TD_CU_H2 b, TD_CU_H2 c) { return {__hfma_sat(a.x, b.x, c.x), __hfma_sat(a.y, b.y, c.y)}; }
TD_CU_INLINE TD_CU_H2 __hfma2_relu(TD_CU_H2 a, TD_CU_H2 b, TD_CU_H2 c) { return {__hfma_relu(a.x, b.x, c.x), __hfma_relu(a.y, b.y, c.y)}; }
// Complex a * b + c, with the fused operations in CUDA's order.
TD_CU_INLINE TD_CU_H2 __hcmadd(TD_CU_H2 a, TD_CU_H2 b, TD_CU_H2 c)
{
    TD_CU_H re = __hfma(a.x, b.x, c.x), im = __hfma(a.x, b.y, c.y);

    return {__hfma(__hneg(a.y), b.y, re), __hfma(a.y, b.x, im)};
}

// ---- comparisons: ordered ones are false if either operand is NaN, those with u true ----

TD_CU_INLINE bool __hisnan(TD_CU_H a) { return (a.__x & 0x7fff) > TD_CU_FORMAT::infinity; }
TD_CU_INLINE int __hisinf(TD_CU_H a) { return (a.__x & 0x7fff) != TD_CU_FORMAT::infinity ? 0 : a.__x >> 15 ? -1 : 1; }
TD_CU_INLINE TD_CU_H2 __hisnan2(TD_CU_H2 a) { return {TD_CU_H(float(__hisnan(a.x))), TD_CU_H(float(__hisnan(a.y)))}; }
#define TD_CU_COMPARE(op, name)                                                                                        \
    TD_CU_INLINE bool __h##name(TD_CU_H a, TD_CU_H b) { return float(a) op float(b) && !__hisnan(a) && !__hisnan(b); } \
    TD_CU_INLINE bool __h##name##u(TD_CU_H a, TD_CU_H b) { return float(a) op float(b) || __hisnan(a) || __hisnan(b); } \
    TD_CU_INLINE TD_CU_H2 __h##name##2(TD_CU_H2 a, TD_CU_H2 b)                                                         \
    {                                                                                                                  \
        return {TD_CU_H(float(__h##name(a.x, b.x))), TD_CU_H(float(__h##name(a.y, b.y)))};                             \
    }                                                                                                                  \
    TD_CU_INLINE TD_CU_H2 __h##name##u2(TD_CU_H2 a, TD_CU_H2 b)                                                        \
    {                                                                                                                  \
        return {TD_CU_H(float(__h##name##u(a.x, b.x))), TD_CU_H(float(__h##name##u(a.y, b.y)))};                       \
    }                                                                                                                  \
    TD_CU_INLINE bool __hb##name##2(TD_CU_H2 a, TD_CU_H2 b) { return __h##name(a.x, b.x) && __h##name(a.y, b.y); }     \
    TD_CU_INLINE bool __hb##name##u2(TD_CU_H2 a, TD_CU_H2 b) { return __h##name##u(a.x, b.x) && __h##name##u(a.y, b.y); } \
    TD_CU_INLINE unsigned __h##name##2_mask(TD_CU_H2 a, TD_CU_H2 b)                                                    \
    {                                                                                                                  \
        return (__h##name(a.x, b.x) ? 0xffffu : 0) | (__h##name(a.y, b.y) ? 0xffff0000u : 0);                          \
    }                                                                                                                  \
    TD_CU_INLINE bool operator op(const TD_CU_H &a, const TD_CU_H &b) { return float(a) op float(b); }                 \
    TD_CU_INLINE bool operator op(const TD_CU_H2 &a, const TD_CU_H2 &b) { return a.x op b.x && a.y op b.y; }
TD_CU_COMPARE(==, eq)
TD_CU_COMPARE(!=, ne)
TD_CU_COMPARE(<, lt)
TD_CU_COMPARE(<=, le)
TD_CU_COMPARE(>, gt)
TD_CU_COMPARE(>=, ge)
#undef TD_CU_COMPARE

// If one operand is NaN, the other; -0 counts as less than 0.
TD_CU_INLINE TD_CU_H __hmax(TD_CU_H a, TD_CU_H b)
{
    if (__hisnan(a) || __hisnan(b))
        return !__hisnan(a) ? a : !__hisnan(b) ? b : TD_CU_H(TD_CU_RAW{TD_CU_FORMAT::nan});
    return float(a) > float(b) || (float(a) == float(b) && b.__x >> 15) ? a : b;
}
TD_CU_INLINE TD_CU_H __hmin(TD_CU_H a, TD_CU_H b)
{
    if (__hisnan(a) || __hisnan(b))
        return !__hisnan(a) ? a : !__hisnan(b) ? b : TD_CU_H(TD_CU_RAW{TD_CU_FORMAT::nan});
    return float(a) < float(b) || (float(a) == float(b) && a.__x >> 15) ? a : b;
}
#define TD_CU_EXTREME(name)                                                                                            \
    TD_CU_INLINE TD_CU_H name##_nan(TD_CU_H a, TD_CU_H b)                                                              \
    {                                                                                                                  \
        return __hisnan(a) || __hisnan(b) ? TD_CU_H(TD_CU_RAW{TD_CU_FORMAT::nan}) : name(a, b);                        \
    }                                                                                                                  \
    TD_CU_INLINE TD_CU_H2 name##2(TD_CU_H2 a, TD_CU_H2 b) { return {name(a.x, b.x), name(a.y, b.y)}; }                 \
    TD_CU_INLINE TD_CU_H2 name##2_nan(TD_CU_H2 a, TD_CU_H2 b) { return {name##_nan(a.x, b.x), name##_nan(a.y, b.y)}; }
TD_CU_EXTREME(__hmax)
TD_CU_EXTREME(__hmin)
#undef TD_CU_EXTREME

// ---- functions ----

#define TD_CU_UNARY(name, expression)                                                                                  \
    TD_CU_INLINE TD_CU_H h##name(TD_CU_H h)                                                                            \
    {                                                                                                                  \
        double x = double(float(h));                                                                                   \
        return TD_CU_H(double(expression));                                                                            \
    }                                                                                                                  \
    TD_CU_INLINE TD_CU_H2 h2##name(TD_CU_H2 h) { return {h##name(h.x), h##name(h.y)}; }
TD_CU_UNARY(sqrt, sqrt(x))
TD_CU_UNARY(rsqrt, 1 / sqrt(x))
TD_CU_UNARY(rcp, 1 / x)
TD_CU_UNARY(exp, exp(x))
TD_CU_UNARY(exp2, exp2(x))
TD_CU_UNARY(exp10, exp10(x))
TD_CU_UNARY(log, log(x))
TD_CU_UNARY(log2, log2(x))
TD_CU_UNARY(log10, log10(x))
TD_CU_UNARY(sin, sin(x))
TD_CU_UNARY(cos, cos(x))
TD_CU_UNARY(tanh, tanh(x))
TD_CU_UNARY(floor, floor(x))
TD_CU_UNARY(ceil, ceil(x))
TD_CU_UNARY(trunc, trunc(x))
TD_CU_UNARY(rint, nearbyint(x))
#undef TD_CU_UNARY

// ---- atomic ----

TD_CU_INLINE TD_CU_H atomicAdd(TD_CU_H *p, TD_CU_H v)
{
    return td_cu::update(p, [=](TD_CU_H old) { return __hadd(old, v); });
}
TD_CU_INLINE TD_CU_H2 atomicAdd(TD_CU_H2 *p, TD_CU_H2 v)
{
    return td_cu::update(p, [=](TD_CU_H2 old) { return __hadd2(old, v); });
}
