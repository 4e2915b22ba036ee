// integer.h - intrinsics of integers and bits; CUDA's loads, stores and hints.
#ifndef TD_CU_INTEGER_H
#define TD_CU_INTEGER_H

TD_CU_INLINE int __popc(unsigned x) { return __builtin_popcount(x); }
TD_CU_INLINE int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
TD_CU_INLINE int __clz(int x) { return x ? __builtin_clz(unsigned(x)) : 32; }
TD_CU_INLINE int __clzll(long long x) { return x ? __builtin_clzll((unsigned long long)x) : 64; }
TD_CU_INLINE int __ffs(int x) { return __builtin_ffs(x); }
TD_CU_INLINE int __ffsll(long long x) { return __builtin_ffsll(x); }

TD_CU_INLINE unsigned __brev(unsigned x)
{
    x = (x >> 1 & 0x55555555) | (x & 0x55555555) << 1;
    x = (x >> 2 & 0x33333333) | (x & 0x33333333) << 2;
    x = (x >> 4 & 0x0f0f0f0f) | (x & 0x0f0f0f0f) << 4;
    return __builtin_bswap32(x);
}
TD_CU_INLINE unsigned long long __brevll(unsigned long long x)
{
    return (unsigned long long)__brev(unsigned(x)) << 32 | __brev(unsigned(x >> 32));
}

// Selectors 0 to 3 choose a byte of x, 4 to 7 of y; a selector's bit 3 replicates the byte's sign.
TD_CU_INLINE unsigned __byte_perm(unsigned x, unsigned y, unsigned s)
{
    unsigned long long both = (unsigned long long)y << 32 | x;
    unsigned r = 0;

    for (int i = 0; i < 4; i++) {
        unsigned pick = s >> 4 * i, byte = unsigned(both >> 8 * (pick & 7)) & 0xff;

        r |= (pick & 8 ? (byte & 0x80 ? 0xff : 0) : byte) << 8 * i;
    }
    return r;
}

TD_CU_INLINE unsigned __funnelshift_l(unsigned lo, unsigned hi, unsigned n)
{
    return unsigned(((unsigned long long)hi << 32 | lo) << (n & 31) >> 32);
}
TD_CU_INLINE unsigned __funnelshift_lc(unsigned lo, unsigned hi, unsigned n)
{
    return n >= 32 ? lo : __funnelshift_l(lo, hi, n);
}
TD_CU_INLINE unsigned __funnelshift_r(unsigned lo, unsigned hi, unsigned n)
{
    return unsigned(((unsigned long long)hi << 32 | lo) >> (n & 31));
}
TD_CU_INLINE unsigned __funnelshift_rc(unsigned lo, unsigned hi, unsigned n)
{
    return n >= 32 ? hi : __funnelshift_r(lo, hi, n);
}

TD_CU_INLINE int __mulhi(int x, int y) { return int((long long)x * y >> 32); }
TD_CU_INLINE unsigned __umulhi(unsigned x, unsigned y) { return unsigned((unsigned long long)x * y >> 32); }
TD_CU_INLINE long long __mul64hi(long long x, long long y) { return (long long)(__extension__(__int128) x * y >> 64); }
TD_CU_INLINE unsigned long long __umul64hi(unsigned long long x, unsigned long long y)
{
    return (unsigned long long)(__extension__(unsigned __int128) x * y >> 64);
}
TD_CU_INLINE unsigned __umul24(unsigned x, unsigned y) { return (x & 0xffffff) * (y & 0xffffff); }
TD_CU_INLINE int __mul24(int x, int y) { return int(unsigned(int(unsigned(x) << 8) >> 8) * unsigned(int(unsigned(y) << 8) >> 8)); }

TD_CU_INLINE unsigned __usad(unsigned x, unsigned y, unsigned z) { return (x > y ? x - y : y - x) + z; }
TD_CU_INLINE unsigned __sad(int x, int y, unsigned z) { return (x > y ? unsigned(x) - unsigned(y) : unsigned(y) - unsigned(x)) + z; }
TD_CU_INLINE int __hadd(int x, int y) { return int(((long long)x + y) >> 1); }
TD_CU_INLINE int __rhadd(int x, int y) { return int(((long long)x + y + 1) >> 1); }
TD_CU_INLINE unsigned __uhadd(unsigned x, unsigned y) { return unsigned(((unsigned long long)x + y) >> 1); }
TD_CU_INLINE unsigned __urhadd(unsigned x, unsigned y) { return unsigned(((unsigned long long)x + y + 1) >> 1); }

// The index of the n-th set bit from `base` upwards (n < 0: downwards); 0xffffffff: there is none.
TD_CU_INLINE unsigned __fns(unsigned mask, unsigned base, int n)
{
    int step = n < 0 ? -1 : 1, left = n < 0 ? -n : n;

    if (!n)
        return mask >> (base & 31) & 1 ? base : 0xffffffff;
    for (int i = int(base); i >= 0 && i < 32; i += step)
        if ((mask >> i & 1) && !--left)
            return unsigned(i);
    return 0xffffffff;
}

// ---- bytes and halves of a word ----

namespace td_cu {

template <class T, class R, class F> TD_CU_INLINE unsigned by_parts(unsigned a, unsigned b, F f)
{
    unsigned r = 0;

    for (unsigned i = 0; i < 4 / sizeof(T); i++) {
        unsigned at = 8 * sizeof(T) * i;

        r |= unsigned(R(f(long(T(a >> at)), long(T(b >> at))))) << at;
    }
    return r;
}

template <class A, class B> TD_CU_INLINE int dot4(unsigned a, unsigned b, int c)
{
    unsigned sum = unsigned(c);

    for (int i = 0; i < 4; i++)
        sum += unsigned(int(A(a >> 8 * i)) * int(B(b >> 8 * i)));
    return int(sum);
}

template <class A, class B> TD_CU_INLINE int dot2(unsigned a, unsigned b, int at, int c)
{
    return int(unsigned(c) + unsigned(int(A(a)) * int(B(b >> at))) + unsigned(int(A(a >> 16)) * int(B(b >> (at + 8)))));
}

TD_CU_INLINE long clip(long v, long low, long high) { return v < low ? low : v > high ? high : v; }

} // namespace td_cu

TD_CU_INLINE int __dp4a(int a, int b, int c) { return td_cu::dot4<signed char, signed char>(unsigned(a), unsigned(b), c); }
TD_CU_INLINE unsigned __dp4a(unsigned a, unsigned b, unsigned c) { return unsigned(td_cu::dot4<unsigned char, unsigned char>(a, b, int(c))); }
TD_CU_INLINE int __dp2a_lo(int a, int b, int c) { return td_cu::dot2<short, signed char>(unsigned(a), unsigned(b), 0, c); }
TD_CU_INLINE int __dp2a_hi(int a, int b, int c) { return td_cu::dot2<short, signed char>(unsigned(a), unsigned(b), 16, c); }
TD_CU_INLINE unsigned __dp2a_lo(unsigned a, unsigned b, unsigned c) { return unsigned(td_cu::dot2<unsigned short, unsigned char>(a, b, 0, int(c))); }
TD_CU_INLINE unsigned __dp2a_hi(unsigned a, unsigned b, unsigned c) { return unsigned(td_cu::dot2<unsigned short, unsigned char>(a, b, 16, int(c))); }

#define TD_CU_SIMD(name, expression)                                                                                   \
    TD_CU_INLINE unsigned name##4(unsigned a, unsigned b)                                                              \
    {                                                                                                                  \
        typedef TD_CU_BYTE T;                                                                                          \
        return td_cu::by_parts<T, unsigned char>(a, b, [](long x, long y) { (void)y; return long(expression); });      \
    }                                                                                                                  \
    TD_CU_INLINE unsigned name##2(unsigned a, unsigned b)                                                              \
    {                                                                                                                  \
        typedef TD_CU_HALF T;                                                                                          \
        return td_cu::by_parts<T, unsigned short>(a, b, [](long x, long y) { (void)y; return long(expression); });     \
    }
#define TD_CU_LOW (sizeof(T) == 1 ? -128 : -32768)
#define TD_CU_HIGH (sizeof(T) == 1 ? 127 : 32767)
#define TD_CU_UHIGH (sizeof(T) == 1 ? 255 : 65535)

#define TD_CU_BYTE signed char
#define TD_CU_HALF short
TD_CU_SIMD(__vadd, x + y)
TD_CU_SIMD(__vsub, x - y)
TD_CU_SIMD(__vaddss, td_cu::clip(x + y, TD_CU_LOW, TD_CU_HIGH))
TD_CU_SIMD(__vsubss, td_cu::clip(x - y, TD_CU_LOW, TD_CU_HIGH))
TD_CU_SIMD(__vabsdiffs, x > y ? x - y : y - x)
TD_CU_SIMD(__vmaxs, x > y ? x : y)
TD_CU_SIMD(__vmins, x < y ? x : y)
TD_CU_SIMD(__vcmpeq, x == y ? -1 : 0)
TD_CU_SIMD(__vcmpne, x != y ? -1 : 0)
TD_CU_SIMD(__vcmpges, x >= y ? -1 : 0)
TD_CU_SIMD(__vcmpgts, x > y ? -1 : 0)
TD_CU_SIMD(__vcmples, x <= y ? -1 : 0)
TD_CU_SIMD(__vcmplts, x < y ? -1 : 0)
TD_CU_SIMD(__vseteq, x == y)
TD_CU_SIMD(__vsetne, x != y)
TD_CU_SIMD(__vsetges, x >= y)
TD_CU_SIMD(__vsetgts, x > y)
TD_CU_SIMD(__vsetles, x <= y)
TD_CU_SIMD(__vsetlts, x < y)
#undef TD_CU_BYTE
#undef TD_CU_HALF
#define TD_CU_BYTE unsigned char
#define TD_CU_HALF unsigned short
TD_CU_SIMD(__vaddus, td_cu::clip(x + y, 0, TD_CU_UHIGH))
TD_CU_SIMD(__vsubus, td_cu::clip(x - y, 0, TD_CU_UHIGH))
TD_CU_SIMD(__vabsdiffu, x > y ? x - y : y - x)
TD_CU_SIMD(__vavgu, (x + y + 1) >> 1)
TD_CU_SIMD(__vhaddu, (x + y) >> 1)
TD_CU_SIMD(__vmaxu, x > y ? x : y)
TD_CU_SIMD(__vminu, x < y ? x : y)
TD_CU_SIMD(__vcmpgeu, x >= y ? -1 : 0)
TD_CU_SIMD(__vcmpgtu, x > y ? -1 : 0)
TD_CU_SIMD(__vcmpleu, x <= y ? -1 : 0)
TD_CU_SIMD(__vcmpltu, x < y ? -1 : 0)
TD_CU_SIMD(__vsetgeu, x >= y)
TD_CU_SIMD(__vsetgtu, x > y)
TD_CU_SIMD(__vsetleu, x <= y)
TD_CU_SIMD(__vsetltu, x < y)
#undef TD_CU_BYTE
#undef TD_CU_HALF
#undef TD_CU_SIMD
#undef TD_CU_LOW
#undef TD_CU_HIGH
#undef TD_CU_UHIGH

// Sums of absolute differences.
#define TD_CU_SAD(name, A)                                                                                             \
    TD_CU_INLINE unsigned name(unsigned a, unsigned b)                                                                 \
    {                                                                                                                  \
        unsigned sum = 0;                                                                                              \
                                                                                                                       \
        td_cu::by_parts<A, unsigned char>(a, b, [&](long x, long y) { sum += unsigned(x > y ? x - y : y - x); return 0L; }); \
        return sum;                                                                                                    \
    }
TD_CU_SAD(__vsads4, signed char)
TD_CU_SAD(__vsads2, short)
TD_CU_SAD(__vsadu4, unsigned char)
TD_CU_SAD(__vsadu2, unsigned short)
#undef TD_CU_SAD

// Functions of one operand: absolute values and negatives, wrapping or saturating.
#define TD_CU_SIMD(name, T, R, expression)                                                                             \
    TD_CU_INLINE unsigned name(unsigned a)                                                                             \
    {                                                                                                                  \
        return td_cu::by_parts<T, R>(a, 0, [](long x, long) { return long(expression); });                             \
    }
TD_CU_SIMD(__vabs4, signed char, unsigned char, x < 0 ? -x : x)
TD_CU_SIMD(__vabs2, short, unsigned short, x < 0 ? -x : x)
TD_CU_SIMD(__vabsss4, signed char, unsigned char, td_cu::clip(x < 0 ? -x : x, 0, 127))
TD_CU_SIMD(__vabsss2, short, unsigned short, td_cu::clip(x < 0 ? -x : x, 0, 32767))
TD_CU_SIMD(__vneg4, signed char, unsigned char, -x)
TD_CU_SIMD(__vneg2, short, unsigned short, -x)
TD_CU_SIMD(__vnegss4, signed char, unsigned char, td_cu::clip(-x, -128, 127))
TD_CU_SIMD(__vnegss2, short, unsigned short, td_cu::clip(-x, -32768, 32767))
#undef TD_CU_SIMD

// ---- loads and stores with hints, address spaces ----

#define TD_CU_LOAD(name)                                                                                               \
    template <class T> TD_CU_INLINE T name(const T *p) { return *p; }
TD_CU_LOAD(__ldg)
TD_CU_LOAD(__ldcg)
TD_CU_LOAD(__ldca)
TD_CU_LOAD(__ldcs)
TD_CU_LOAD(__ldlu)
TD_CU_LOAD(__ldcv)
#undef TD_CU_LOAD
#define TD_CU_STORE(name)                                                                                              \
    template <class T> TD_CU_INLINE void name(T *p, td_cu::same<T> v) { *p = v; }
TD_CU_STORE(__stwb)
TD_CU_STORE(__stcg)
TD_CU_STORE(__stcs)
TD_CU_STORE(__stwt)
#undef TD_CU_STORE

TD_CU_INLINE unsigned __isShared(const void *p) { return td_cu::of_block(p); }
TD_CU_INLINE unsigned __isGlobal(const void *p) { return !td_cu::of_block(p); }
TD_CU_INLINE unsigned __isLocal(const void *) { return 0; }
TD_CU_INLINE unsigned __isConstant(const void *) { return 0; }
TD_CU_INLINE size_t __cvta_generic_to_shared(const void *p) { return size_t(p); }
TD_CU_INLINE size_t __cvta_generic_to_global(const void *p) { return size_t(p); }
TD_CU_INLINE void *__cvta_shared_to_generic(size_t p) { return reinterpret_cast<void *>(p); }
TD_CU_INLINE void *__cvta_global_to_generic(size_t p) { return reinterpret_cast<void *>(p); }

#if !defined(__clang__)
#define __builtin_assume(c) ((c) ? (void)0 : __builtin_unreachable())
#endif
#define __assume(c) __builtin_assume(c)
#define __nv_associate_access_property(p, property) (p)
TD_CU_INLINE void __prof_trigger(int) {}
#define __brkpt() ((void)0)

// Ticks of the CPU's counter.
TD_CU_INLINE long long clock64()
{
#if defined(__x86_64__)
    return (long long)__builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    long long t;

    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(t));
    return t;
#else
    return __builtin_readcyclecounter();
#endif
}

#endif
