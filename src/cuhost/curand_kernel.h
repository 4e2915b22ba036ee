// curand_kernel.h - random numbers of a kernel's threads, under cuRAND's names.
//
// Philox4_32_10 is the published generator: the seed is the key, the offset the counter, and subsequences count in its
// upper half.  XORWOW is Marsaglia's; treadle mixes seeds and separates subsequences in its own way, so its values are
// not cuRAND's.  MRG32k3a, MTGP and the quasi-random generators are missing.
#ifndef TD_CU_CURAND_H
#define TD_CU_CURAND_H
#pragma GCC system_header
#include "treadle_cuda.h"

namespace td_cu {

struct spare_normals { // the unused second number of a pair of normal numbers
    float single;
    double wide;
    bool has_single, has_wide;
};

inline uint64_t mixed(uint64_t x)
{
    x += 0x9e3779b97f4a7c15;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
}

} // namespace td_cu

struct curandStatePhilox4_32_10 {
    uint64_t key, low, high;
    unsigned out[4], used;
    td_cu::spare_normals spare;

    void fill()
    {
        uint32_t c[4] = {uint32_t(low), uint32_t(low >> 32), uint32_t(high), uint32_t(high >> 32)}, k[2] = {uint32_t(key), uint32_t(key >> 32)};

        for (int round = 0; round < 10; round++) {
            uint64_t a = 0xd2511f53ull * c[0], b = 0xcd9e8d57ull * c[2];
            uint32_t n[4] = {uint32_t(b >> 32) ^ c[1] ^ k[0], uint32_t(b), uint32_t(a >> 32) ^ c[3] ^ k[1], uint32_t(a)};

            memcpy(c, n, sizeof c);
            k[0] += 0x9e3779b9;
            k[1] += 0xbb67ae85;
        }
        memcpy(out, c, sizeof c);
    }
    void init(uint64_t seed, uint64_t sequence, uint64_t offset)
    {
        *this = {};
        key = seed;
        high = sequence;
        skip(offset);
    }
    void skip(uint64_t n)
    {
        uint64_t at = used + n, was = low;

        low += at / 4;
        high += low < was;
        used = unsigned(at % 4);
        fill();
    }
    unsigned next()
    {
        unsigned r = out[used];

        skip(1);
        return r;
    }
};

struct curandStateXORWOW {
    uint32_t v[5], count;
    td_cu::spare_normals spare;

    void init(uint64_t seed, uint64_t sequence, uint64_t offset)
    {
        uint64_t x = td_cu::mixed(seed ^ td_cu::mixed(sequence + 0x2545f4914f6cdd1d));

        *this = {};
        for (uint32_t &word : v) {
            x = td_cu::mixed(x);
            word = uint32_t(x >> 32) | 1; // the state must not be all zeros
        }
        count = uint32_t(x);
        skip(offset);
    }
    void skip(uint64_t n)
    {
        while (n--)
            next();
    }
    unsigned next()
    {
        uint32_t t = v[0] ^ v[0] >> 2;

        memmove(v, v + 1, sizeof v - sizeof v[0]);
        v[4] = v[4] ^ v[4] << 4 ^ t ^ t << 1;
        return v[4] + (count += 362437);
    }
};

typedef curandStatePhilox4_32_10 curandStatePhilox4_32_10_t;
typedef curandStateXORWOW curandStateXORWOW_t;
typedef curandStateXORWOW curandState;
typedef curandStateXORWOW curandState_t;

template <class S> inline void curand_init(unsigned long long seed, unsigned long long sequence, unsigned long long offset, S *s) { s->init(seed, sequence, offset); }
template <class S> inline void skipahead(unsigned long long n, S *s) { s->skip(n); }
template <class S> inline unsigned curand(S *s) { return s->next(); }

namespace td_cu {
TD_CU_INLINE float unit(unsigned x) { return float(x) * 0x1p-32f + 0x1p-33f; } // (0, 1]
template <class S> inline double wide_unit(S *s)
{
    uint64_t low = s->next(), high = s->next();

    return double((high << 21) ^ low) * 0x1p-53 + 0x1p-54;
}
// A pair of normally distributed numbers, by Box and Muller.
TD_CU_INLINE float2 pair_of(float u, float v)
{
    float r = sqrtf(-2 * logf(u));
    float2 p;

    sincospif(2 * v, &p.x, &p.y);
    return {r * p.x, r * p.y};
}
TD_CU_INLINE double2 pair_of(double u, double v)
{
    double r = sqrt(-2 * log(u));
    double2 p;

    sincospi(2 * v, &p.x, &p.y);
    return {r * p.x, r * p.y};
}
} // namespace td_cu

template <class S> inline float curand_uniform(S *s) { return td_cu::unit(s->next()); }
template <class S> inline double curand_uniform_double(S *s) { return td_cu::wide_unit(s); }
template <class S> inline float2 curand_normal2(S *s)
{
    float u = curand_uniform(s), v = curand_uniform(s);

    return td_cu::pair_of(u, v);
}
template <class S> inline double2 curand_normal2_double(S *s)
{
    double u = td_cu::wide_unit(s), v = td_cu::wide_unit(s);

    return td_cu::pair_of(u, v);
}
template <class S> inline float curand_normal(S *s)
{
    if ((s->spare.has_single = !s->spare.has_single)) {
        float2 p = curand_normal2(s);

        s->spare.single = p.y;
        return p.x;
    }
    return s->spare.single;
}
template <class S> inline double curand_normal_double(S *s)
{
    if ((s->spare.has_wide = !s->spare.has_wide)) {
        double2 p = curand_normal2_double(s);

        s->spare.wide = p.y;
        return p.x;
    }
    return s->spare.wide;
}
template <class S> inline float curand_log_normal(S *s, float mean, float deviation) { return expf(mean + deviation * curand_normal(s)); }
template <class S> inline double curand_log_normal_double(S *s, double mean, double deviation) { return exp(mean + deviation * curand_normal_double(s)); }
template <class S> inline float2 curand_log_normal2(S *s, float mean, float deviation)
{
    float2 p = curand_normal2(s);

    return {expf(mean + deviation * p.x), expf(mean + deviation * p.y)};
}

// Draws four numbers.
template <class S> inline uint4 curand4(S *s)
{
    uint4 r;

    r.x = s->next(), r.y = s->next(), r.z = s->next(), r.w = s->next();
    return r;
}
template <class S> inline float4 curand_uniform4(S *s)
{
    uint4 r = curand4(s);

    return {td_cu::unit(r.x), td_cu::unit(r.y), td_cu::unit(r.z), td_cu::unit(r.w)};
}
template <class S> inline double2 curand_uniform2_double(S *s)
{
    double u = td_cu::wide_unit(s), v = td_cu::wide_unit(s);

    return {u, v};
}
template <class S> inline float4 curand_normal4(S *s)
{
    float2 p = curand_normal2(s), q = curand_normal2(s);

    return {p.x, p.y, q.x, q.y};
}

// For small means, products of uniform numbers (Knuth); for large ones, transformed rejection (Hoermann's PTRS).
template <class S> inline unsigned curand_poisson(S *s, double mean)
{
    if (!(mean > 0))
        return 0;
    if (mean < 30) {
        double limit = exp(-mean), p = td_cu::wide_unit(s);
        unsigned k = 0;

        for (; p > limit; k++)
            p *= td_cu::wide_unit(s);
        return k;
    }
    double root = sqrt(mean), b = 0.931 + 2.53 * root, a = -0.059 + 0.02483 * b, inverse = 1.1239 + 1.1328 / (b - 3.4);
    double accepted = 0.9277 - 3.6224 / (b - 2), ln = log(mean);

    for (;;) {
        double u = td_cu::wide_unit(s) - 0.5, v = td_cu::wide_unit(s), us = 0.5 - fabs(u), k = floor((2 * a / us + b) * u + mean + 0.43);

        if (us >= 0.07 && v <= accepted)
            return unsigned(k);
        if (k >= 0 && !(us < 0.013 && v > us) && log(v) + log(inverse) - log(a / (us * us) + b) <= -mean + k * ln - lgamma(k + 1))
            return unsigned(k);
    }
}

#endif
