// math.h - mathematical functions that CUDA has and the C++ library lacks.
//
// float functions without a C counterpart are computed in double and rounded.
#ifndef TD_CU_MATH_H
#define TD_CU_MATH_H

namespace td_cu {

constexpr double PI = 3.14159265358979323846;

// sin(pi * x) and cos(pi * x).  Removes quarter turns exactly.
inline void turn_sincos(double x, double *s, double *c)
{
    double q = nearbyint(2 * x), r = (x - 0.5 * q) * PI, sr, cr;
    long k;

    if (!(fabs(x) < 1e300)) {
        *s = *c = x - x;
        return;
    }
    k = long(fmod(q, 4.0));
    sr = sin(r);
    cr = cos(r);
    if (k & 1) {
        double t = sr;

        sr = cr;
        cr = -t;
    }
    *s = k & 2 ? -sr : sr; // k may be negative: its last two bits are still right
    *c = k & 2 ? -cr : cr;
}

inline double turn_sin(double x)
{
    double s, c;

    if (x == nearbyint(x)) // integers give 0 with x's sign
        return fabs(x) < 1e300 ? copysign(0.0, x) : x - x;
    turn_sincos(x, &s, &c);
    return s;
}

inline double turn_cos(double x)
{
    double s, c;

    turn_sincos(x, &s, &c);
    return x - nearbyint(x) == 0 || fabs(x - nearbyint(x)) != 0.5 ? c : 0.0;
}

// Halley's iteration from a rational approximation (Abramowitz and Stegun 26.2.23), for 0 < y <= 0.5.
inline double erfc_inverse_tail(double y)
{
    double t = sqrt(-2 * log(y / 2)), x;

    x = 0.70711 * (t - (2.30753 + t * 0.27061) / (1 + t * (0.99229 + t * 0.04481)));
    for (int i = 0; i < 3; i++) {
        double e = erfc(x) - y;

        x += e / (1.12837916709551257390 * exp(-x * x) - x * e);
    }
    return x;
}

inline double erf_inverse_middle(double p) // |p| <= 0.5
{
    double x = p * (0.88622692545275801365 + p * p * 0.23201366653465449);

    for (int i = 0; i < 3; i++) {
        double e = p - erf(x);

        x += e / (1.12837916709551257390 * exp(-x * x) + x * e);
    }
    return x;
}

inline double erf_inverse(double p)
{
    double a = fabs(p);

    if (a <= 0.5)
        return p == 0 ? p : erf_inverse_middle(p);
    if (!(a <= 1))
        return NAN;
    return copysign(a == 1 ? INFINITY : erfc_inverse_tail(1 - a), p);
}

inline double erfc_inverse(double y)
{
    if (y >= 0.5 && y <= 1.5)
        return erf_inverse_middle(1 - y);
    if (!(y >= 0 && y <= 2))
        return NAN;
    if (y == 0 || y == 2)
        return y == 0 ? INFINITY : -INFINITY;
    return y < 1 ? erfc_inverse_tail(y) : -erfc_inverse_tail(2 - y);
}

// exp(x * x) * erfc(x).  Corrects the rounding of the square; for large x it uses the asymptotic series.
inline double erfc_scaled(double x)
{
    if (x > 20) {
        double z = 1 / (2 * x * x), term = 1, sum = 1;

        for (int k = 1; k < 12; k++) {
            term *= -(2 * k - 1) * z;
            sum += term;
        }
        return sum * 0.56418958354775628695 / x;
    }
    double square = x * x, rest = fma(x, x, -square);

    return x < -27 ? INFINITY : exp(square) * erfc(x) * (1 + rest);
}

// I0 and I1: the power series, whose terms have one sign; for large x the asymptotic series.
inline double bessel_i(int n, double x)
{
    double a = fabs(x), sum = 1, term = 1;

    if (a < 30) {
        double q = a * a / 4;

        for (int k = 1; term > 1e-18 * sum; k++)
            sum += term *= q / (double(k) * (k + n));
        return n ? x / 2 * sum : sum;
    }
    if (!(a < 800))
        return isnan(x) ? x : n ? copysign(INFINITY, x) : INFINITY;
    for (int k = 1; k < 40; k++) {
        double odd = 2 * k - 1, next = -term * (4.0 * n * n - odd * odd) / (8 * a * k);

        if (fabs(next) < 1e-18 || fabs(next) > fabs(term))
            break;
        sum += term = next;
    }
    sum *= exp(a / 2) / sqrt(2 * PI * a) * exp(a / 2);
    return n && x < 0 ? -sum : sum;
}

template <class T> double length(int n, const T *p)
{
    long double sum = 0; // has enough exponent range for the squares

    for (int i = 0; i < n; i++) {
        if (isinf(p[i]))
            return INFINITY;
        sum += (long double)p[i] * p[i];
    }
    return double(sqrtl(sum));
}

inline double length3(double a, double b, double c)
{
    double v[] = {a, b, c};

    return length(3, v);
}

inline double length4(double a, double b, double c, double d)
{
    double v[] = {a, b, c, d};

    return length(4, v);
}

} // namespace td_cu

// Newer C libraries declare some of these names, with other linkage.
#define sinpi td_cu_sinpi
#define cospi td_cu_cospi
#define sinpif td_cu_sinpif
#define cospif td_cu_cospif
#define rsqrt td_cu_rsqrt
#define rsqrtf td_cu_rsqrtf

// Functions of one and of two arguments: double, float with the suffix f, and the overload for float.
#define TD_CU_MATH1(name, expression)                                                                                  \
    TD_CU_INLINE double name(double x) { return expression; }                                                          \
    TD_CU_INLINE float name(float x_) { double x = double(x_); return float(expression); }
#define TD_CU_MATH1F(name, namef, expression)                                                                          \
    TD_CU_MATH1(name, expression)                                                                                      \
    TD_CU_INLINE float namef(float x) { return name(x); }
TD_CU_MATH1F(sinpi, sinpif, td_cu::turn_sin(x))
TD_CU_MATH1F(cospi, cospif, td_cu::turn_cos(x))
TD_CU_MATH1F(rcbrt, rcbrtf, 1 / cbrt(x))
TD_CU_MATH1F(erfinv, erfinvf, td_cu::erf_inverse(x))
TD_CU_MATH1F(erfcinv, erfcinvf, td_cu::erfc_inverse(x))
TD_CU_MATH1F(erfcx, erfcxf, td_cu::erfc_scaled(x))
TD_CU_MATH1F(normcdf, normcdff, 0.5 * erfc(-0.70710678118654752440 * x))
TD_CU_MATH1F(normcdfinv, normcdfinvf, -1.41421356237309504880 * td_cu::erfc_inverse(2 * x))
TD_CU_MATH1F(cyl_bessel_i0, cyl_bessel_i0f, td_cu::bessel_i(0, x))
TD_CU_MATH1F(cyl_bessel_i1, cyl_bessel_i1f, td_cu::bessel_i(1, x))
#undef TD_CU_MATH1F
#undef TD_CU_MATH1

TD_CU_INLINE double rsqrt(double x) { return 1 / sqrt(x); }
TD_CU_INLINE float rsqrt(float x) { return 1 / sqrtf(x); }
TD_CU_INLINE float rsqrtf(float x) { return 1 / sqrtf(x); }
TD_CU_INLINE float exp10(float x) { return exp10f(x); }
TD_CU_INLINE void sincospi(double x, double *s, double *c)
{
    *s = td_cu::turn_sin(x);
    *c = td_cu::turn_cos(x);
}
TD_CU_INLINE void sincospif(float x, float *s, float *c)
{
    *s = float(td_cu::turn_sin(x));
    *c = float(td_cu::turn_cos(x));
}
TD_CU_INLINE void sincospi(float x, float *s, float *c) { sincospif(x, s, c); }
TD_CU_INLINE void sincos(float x, float *s, float *c) { sincosf(x, s, c); }
TD_CU_INLINE float j0(float x) { return j0f(x); }
TD_CU_INLINE float j1(float x) { return j1f(x); }
TD_CU_INLINE float jn(int n, float x) { return jnf(n, x); }
TD_CU_INLINE float y0(float x) { return y0f(x); }
TD_CU_INLINE float y1(float x) { return y1f(x); }
TD_CU_INLINE float yn(int n, float x) { return ynf(n, x); }

TD_CU_INLINE double fdivide(double x, double y) { return x / y; }
TD_CU_INLINE float fdivide(float x, float y) { return x / y; }
TD_CU_INLINE float fdividef(float x, float y) { return x / y; }
TD_CU_INLINE double norm(int n, const double *p) { return td_cu::length(n, p); }
TD_CU_INLINE float normf(int n, const float *p) { return float(td_cu::length(n, p)); }
TD_CU_INLINE float norm(int n, const float *p) { return normf(n, p); }
TD_CU_INLINE double rnorm(int n, const double *p) { return 1 / td_cu::length(n, p); }
TD_CU_INLINE float rnormf(int n, const float *p) { return float(1 / td_cu::length(n, p)); }
TD_CU_INLINE float rnorm(int n, const float *p) { return rnormf(n, p); }
TD_CU_INLINE double norm3d(double a, double b, double c) { return td_cu::length3(a, b, c); }
TD_CU_INLINE float norm3df(float a, float b, float c) { return float(td_cu::length3(a, b, c)); }
TD_CU_INLINE float norm3d(float a, float b, float c) { return norm3df(a, b, c); }
TD_CU_INLINE double rnorm3d(double a, double b, double c) { return 1 / td_cu::length3(a, b, c); }
TD_CU_INLINE float rnorm3df(float a, float b, float c) { return float(1 / td_cu::length3(a, b, c)); }
TD_CU_INLINE float rnorm3d(float a, float b, float c) { return rnorm3df(a, b, c); }
TD_CU_INLINE double norm4d(double a, double b, double c, double d) { return td_cu::length4(a, b, c, d); }
TD_CU_INLINE float norm4df(float a, float b, float c, float d) { return float(td_cu::length4(a, b, c, d)); }
TD_CU_INLINE float norm4d(float a, float b, float c, float d) { return norm4df(a, b, c, d); }
TD_CU_INLINE double rnorm4d(double a, double b, double c, double d) { return 1 / td_cu::length4(a, b, c, d); }
TD_CU_INLINE float rnorm4df(float a, float b, float c, float d) { return float(1 / td_cu::length4(a, b, c, d)); }
TD_CU_INLINE float rnorm4d(float a, float b, float c, float d) { return rnorm4df(a, b, c, d); }
TD_CU_INLINE double rhypot(double x, double y) { return 1 / hypot(x, y); }
TD_CU_INLINE float rhypotf(float x, float y) { return float(1 / hypot(double(x), double(y))); }
TD_CU_INLINE float rhypot(float x, float y) { return rhypotf(x, y); }

// ---- min and max, of every pair that CUDA has ----

#define TD_CU_MINMAX(A, B, R)                                                                                          \
    TD_CU_INLINE R min(A a, B b) { return (R)a < (R)b ? (R)a : (R)b; }                                                \
    TD_CU_INLINE R max(A a, B b) { return (R)a > (R)b ? (R)a : (R)b; }
#define TD_CU_MINMAXES(S, U)                                                                                           \
    TD_CU_MINMAX(S, S, S) TD_CU_MINMAX(U, U, U) TD_CU_MINMAX(S, U, U) TD_CU_MINMAX(U, S, U)
TD_CU_MINMAXES(int, unsigned int)
TD_CU_MINMAXES(long, unsigned long)
TD_CU_MINMAXES(long long, unsigned long long)
#undef TD_CU_MINMAXES
#undef TD_CU_MINMAX
TD_CU_INLINE float min(float a, float b) { return fminf(a, b); }
TD_CU_INLINE float max(float a, float b) { return fmaxf(a, b); }
#define TD_CU_MINMAX(A, B)                                                                                             \
    TD_CU_INLINE double min(A a, B b) { return fmin(double(a), double(b)); }                                           \
    TD_CU_INLINE double max(A a, B b) { return fmax(double(a), double(b)); }
TD_CU_MINMAX(double, double)
TD_CU_MINMAX(float, double)
TD_CU_MINMAX(double, float)
#undef TD_CU_MINMAX
TD_CU_INLINE unsigned umin(unsigned a, unsigned b) { return min(a, b); }
TD_CU_INLINE unsigned umax(unsigned a, unsigned b) { return max(a, b); }
TD_CU_INLINE long long llmin(long long a, long long b) { return min(a, b); }
TD_CU_INLINE long long llmax(long long a, long long b) { return max(a, b); }
TD_CU_INLINE unsigned long long ullmin(unsigned long long a, unsigned long long b) { return min(a, b); }
TD_CU_INLINE unsigned long long ullmax(unsigned long long a, unsigned long long b) { return max(a, b); }

// ---- bits of floating numbers ----

TD_CU_INLINE int __float_as_int(float x) { return td_cu::from_bits<int>(td_cu::to_bits(x)); }
TD_CU_INLINE unsigned __float_as_uint(float x) { return td_cu::from_bits<unsigned>(td_cu::to_bits(x)); }
TD_CU_INLINE float __int_as_float(int x) { return td_cu::from_bits<float>(td_cu::to_bits(x)); }
TD_CU_INLINE float __uint_as_float(unsigned x) { return td_cu::from_bits<float>(td_cu::to_bits(x)); }
TD_CU_INLINE long long __double_as_longlong(double x) { return td_cu::from_bits<long long>(td_cu::to_bits(x)); }
TD_CU_INLINE double __longlong_as_double(long long x) { return td_cu::from_bits<double>(td_cu::to_bits(x)); }
TD_CU_INLINE int __double2hiint(double x) { return int(__double_as_longlong(x) >> 32); }
TD_CU_INLINE int __double2loint(double x) { return int(__double_as_longlong(x)); }
TD_CU_INLINE double __hiloint2double(int hi, int lo)
{
    return __longlong_as_double((long long)((unsigned long long)unsigned(hi) << 32 | unsigned(lo)));
}

// ---- single instructions of a GPU: here as right as the library's functions ----

// The C library reserves these names.
#define __sinf td_cu_sinf
#define __cosf td_cu_cosf
#define __tanf td_cu_tanf
#define __tanhf td_cu_tanhf
#define __sincosf td_cu_sincosf
#define __expf td_cu_expf
#define __exp10f td_cu_exp10f
#define __logf td_cu_logf
#define __log2f td_cu_log2f
#define __log10f td_cu_log10f
#define __powf td_cu_powf
TD_CU_INLINE float __sinf(float x) { return sinf(x); }
TD_CU_INLINE float __cosf(float x) { return cosf(x); }
TD_CU_INLINE float __tanf(float x) { return tanf(x); }
TD_CU_INLINE float __tanhf(float x) { return tanhf(x); }
TD_CU_INLINE void __sincosf(float x, float *s, float *c) { sincosf(x, s, c); }
TD_CU_INLINE float __expf(float x) { return expf(x); }
TD_CU_INLINE float __exp10f(float x) { return exp10f(x); }
TD_CU_INLINE float __logf(float x) { return logf(x); }
TD_CU_INLINE float __log2f(float x) { return log2f(x); }
TD_CU_INLINE float __log10f(float x) { return log10f(x); }
TD_CU_INLINE float __powf(float x, float y) { return powf(x, y); }
TD_CU_INLINE float __fdividef(float x, float y) { return x / y; }
TD_CU_INLINE float __frsqrt_rn(float x) { return float(1 / sqrt(double(x))); }
TD_CU_INLINE float __saturatef(float x) { return x > 0 ? x < 1 ? x : 1 : 0; }

#include "rounding.h"

#endif
